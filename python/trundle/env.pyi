# SPDX-License-Identifier: Apache-2.0
from os import PathLike
from typing import Any, Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import Batch, LoadedModel, Run

Array = NDArray[np.float64]
Bounds = Mapping[str, Sequence[float] | None]
Start = float | Sequence[float] | Callable[[np.random.Generator], float]

class Box:  # or gymnasium.spaces.Box
    low: Array
    high: Array
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    np_random: np.random.Generator
    def __init__(self, low: ArrayLike, high: ArrayLike, shape: Sequence[int] | None = ..., dtype: Any = ...,
                 seed: int | None = ...) -> None: ...
    def seed(self, seed: int | None = ...) -> int | None: ...
    def sample(self, mask: Any = ...) -> Array: ...
    def contains(self, x: ArrayLike) -> bool: ...
    def __contains__(self, x: ArrayLike) -> bool: ...
    def __eq__(self, other: object) -> bool: ...

def box(low: ArrayLike, high: ArrayLike) -> Any: ...

class Task:
    model: LoadedModel
    inputs: list[str]
    low: Array
    high: Array
    every: float
    limit: float
    failure: float
    names: list[str]
    seen: list[str]
    columns: list[str]
    ends: bool
    run_options: dict[str, Any]
    start: Mapping[str, Start]
    neutral: dict[str, float]
    def __init__(self, model: LoadedModel | str | PathLike[str], *, act: Bounds | Sequence[str] | str,
                 observe: Sequence[str] | str, reward: str | float, every: float, until: str | None = ...,
                 limit: float = ..., start: Mapping[str, Start] | None = ..., step: float | None = ...,
                 method: str = ..., failure: float = ..., **options: Any) -> None: ...
    def draw(self, random: np.random.Generator) -> dict[str, float]: ...
    def take(self, actions: ArrayLike, shape: int | tuple[int, ...]) -> Array: ...

def number_from(seed: int | None) -> int: ...

class Env:
    metadata: dict[str, Any]
    render_mode: str | None
    spec: Any
    task: Task
    model: LoadedModel
    run: Run
    action_space: Any
    observation_space: Any
    np_random: np.random.Generator
    @property
    def np_random_seed(self) -> int: ...
    def __init__(self, model: LoadedModel | str | PathLike[str], *, act: Bounds | Sequence[str] | str,
                 observe: Sequence[str] | str, reward: str | float, every: float, until: str | None = ...,
                 limit: float = ..., start: Mapping[str, Start] | None = ..., step: float | None = ...,
                 method: str = ..., failure: float = ..., **options: Any) -> None: ...
    @property
    def unwrapped(self) -> Env: ...
    def reset(self, *, seed: int | None = ...,
              options: Mapping[str, float] | None = ...) -> tuple[Array, dict[str, Any]]: ...
    def step(self, action: ArrayLike) -> tuple[Array, float, bool, bool, dict[str, Any]]: ...
    def close(self) -> None: ...
    def render(self) -> None: ...

class VectorEnv:
    metadata: dict[str, Any]
    render_mode: str | None
    spec: Any
    task: Task
    model: LoadedModel
    num_envs: int
    batch: Batch
    single_action_space: Any
    action_space: Any
    single_observation_space: Any
    observation_space: Any
    def __init__(self, model: LoadedModel | str | PathLike[str], n: int, *, threads: int | None = ...,
                 act: Bounds | Sequence[str] | str, observe: Sequence[str] | str, reward: str | float,
                 every: float, until: str | None = ..., limit: float = ...,
                 start: Mapping[str, Start] | None = ..., step: float | None = ..., method: str = ...,
                 failure: float = ..., **options: Any) -> None: ...
    @property
    def unwrapped(self) -> VectorEnv: ...
    def reset(self, *, seed: int | Sequence[int] | None = ...,
              options: None = ...) -> tuple[Array, dict[str, Any]]: ...
    def step(self, actions: ArrayLike) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_],
                                                dict[str, Any]]: ...
    def close(self, **options: Any) -> None: ...
    def render(self) -> None: ...
