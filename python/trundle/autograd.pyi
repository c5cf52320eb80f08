# SPDX-License-Identifier: Apache-2.0
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import LoadedModel, Names

Array = NDArray[np.float64]
Tensor = Any  # torch.Tensor, of float64

INPUT: int
PARAMETER: int
RATES: tuple[tuple[str, tuple[int, ...]], ...]

class Step:
    h: float
    steps: int
    model: LoadedModel
    state: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]
    def __init__(self, model: LoadedModel, h: float, *, steps: int = ..., inputs: Names = ...,
                 parameters: Names = ...) -> None: ...
    @property
    def start(self) -> Tensor: ...
    def jacobian(self, x: ArrayLike, u: ArrayLike | None = ..., p: ArrayLike | None = ...,
                 t: float = ...) -> tuple[Array, Array]: ...
    def __call__(self, x: Tensor, u: Tensor | None = ..., p: Tensor | None = ..., t: float = ...) -> Tensor: ...
