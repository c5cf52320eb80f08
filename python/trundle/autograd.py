# SPDX-License-Identifier: Apache-2.0
"""Steps of a model with exact derivatives, for PyTorch and for whoever has a chain rule of his own.

    >>> step = trundle.autograd.Step(m, 0.01, parameters="m,l")
    >>> x = step.start                           # a tensor: positions, velocities, ... (step.state)
    >>> for k in range(100):
    ...     x = step(x, u[k], p)                 # by the state, inputs and parameters
    >>> x[1].backward()                          # into u and p

A step is one of rk4, or several, on the rates that the model's programs have, and its derivative is
that of the very same numbers, by the chain rule through its four stages with the library's Jacobians:

    k_i = f(t_i, y_i, u, p),  y_1 = x,  y_2 = x + h/2 k_1,  y_3 = x + h/2 k_2,  y_4 = x + h k_3
    D k_i = f_x D y_i + (0, f_u, f_p),  x' = x + h/6 (k_1 + 2 k_2 + 2 k_3 + k_4)

Contacts stay as they are at the start, and positions are not projected onto constraints, from which a
step is off by its error. PyTorch is needed by calls alone: jacobian() gives NumPy's arrays.
"""

from __future__ import annotations

import math
import operator

import numpy as np

from .errors import UsageError
from .names import missing

# Kinds of inputs of programs that have a rate, and the outputs that are these rates, in this order
RATES = (("qdot", (1,)), ("vdot", (2,)), ("sdot", (5, 7)), ("touchdot", (11,)))
INPUT, PARAMETER = 3, 4


def _named(names, there, what):
    if names is None:
        return ()
    names = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    for name in names:
        if name not in there:
            raise missing(name, there, what)
    return tuple(names)


class Step:
    """A step of h seconds of a model, by `steps` steps of rk4, which can be differentiated.

    inputs      names of inputs that are given each time; all when None. The others stay at the
                model's values, and formulas of t are followed
    parameters  names of parameters that are given, "m,l"; none when None
    """

    def __init__(self, model, h, *, steps=1, inputs=None, parameters=None):
        self.h, self.steps = float(h), operator.index(steps)
        if not (self.h > 0 and math.isfinite(self.h) and self.steps >= 1):
            raise UsageError("a step is a time above 0, and 'steps' at least 1")
        rows = model.system.inputs()
        kinds = [(outputs, [row[0] for row in rows if row[1] in which]) for outputs, which in RATES]
        kinds = [(outputs, names) for outputs, names in kinds if names]
        self.model, self.state = model, tuple(name for _, names in kinds for name in names)
        self.inputs = tuple(model.inputs) if inputs is None else _named(inputs, model.inputs, "input")
        self.parameters = _named(parameters, model.parameters, "parameter")
        if not self.state:
            raise UsageError("nothing of this model moves")
        rates = " ".join(outputs for outputs, _ in kinds)
        by = self.state + self.inputs + self.parameters
        self._rates, self._slopes = model.function(rates), model.function(rates, by=by)
        at = {name: i for i, name in enumerate(self._rates.inputs)}
        self._given = np.array([at[name] for name in by])
        self._time = [at[row[0]] for row in rows if row[1] == 0]
        self._values = np.array(self._rates.start)

    @property
    def start(self):
        """The state at the start of the model, as a tensor."""
        import torch
        return torch.tensor(self._values[self._given[:len(self.state)]], dtype=torch.float64)

    # ---- numbers -------------------------------------------------------------------------------

    def _all(self, t, y, up):
        rows = np.tile(self._values, (len(y), 1))
        rows[:, self._given] = np.concatenate([y, up], axis=1)
        for i in self._time:
            rows[:, i] = t
        return rows

    def _stage(self, t, y, up, Dy):
        """k = f(t, y, u, p), and its derivative by x, u and p, where y has Dy."""
        rows, n = self._all(t, y, up), len(self.state)
        k = np.asarray(self._rates.many(rows)).reshape(len(y), n)
        if Dy is None:
            return k, None
        J = np.asarray(self._slopes.many(rows)).reshape(len(y), n, -1)
        Dk = J[:, :, :n] @ Dy
        Dk[:, :, n:] += J[:, :, n:]
        return k, Dk

    def _rk4(self, t, h, x, up, Dx):
        def on(c, k, Dk):
            return x + c * h * k, None if Dx is None else Dx + c * h * Dk
        k1, D1 = self._stage(t, x, up, Dx)
        y2, Dy2 = on(0.5, k1, D1)
        k2, D2 = self._stage(t + 0.5 * h, y2, up, Dy2)
        y3, Dy3 = on(0.5, k2, D2)
        k3, D3 = self._stage(t + 0.5 * h, y3, up, Dy3)
        y4, Dy4 = on(1.0, k3, D3)
        k4, D4 = self._stage(t + h, y4, up, Dy4)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x, None if Dx is None else Dx + h / 6 * (D1 + 2 * D2 + 2 * D3 + D4)

    def _advance(self, x, u, p, t, with_slopes):
        n, up = len(self.state), np.concatenate([u, p], axis=1)
        D = None
        if with_slopes:
            D = np.zeros((len(x), n, n + up.shape[1]))
            D[:, :, :n] = np.eye(n)
        h = self.h / self.steps
        for k in range(self.steps):
            x, D = self._rk4(t + k * h, h, x, up, D)
        return x, D

    def _shape(self, given, names, what, count, make):
        if given is None:
            which = [self._rates.inputs.index(name) for name in names]
            given = make(self._values[which])
        if not names and given.shape[-1:] in ((), (0,)):
            given = make(np.zeros(0))
        if given.ndim not in (1, 2) or given.shape[-1] != len(names):
            raise UsageError(f"{what}: {len(names)} numbers are wanted, or rows of so many "
                             f"({', '.join(names) or 'none'}), not {tuple(given.shape)}")
        if given.ndim == 2 and count is not None and given.shape[0] not in (1, count):
            raise UsageError(f"{what}: there are {given.shape[0]} rows of it, and {count} of the state")
        return given

    def jacobian(self, x, u=None, p=None, t=0.0):
        """(x', D) as NumPy's arrays: the state after the step, and its derivative by the state, the
        inputs and the parameters, one after the other, by rows. x: a state, or rows of some."""
        make = np.asarray
        x = self._shape(np.asarray(x, float), self.state, "x", None, make)
        rows = np.atleast_2d(x)
        u, p = (np.broadcast_to(np.atleast_2d(self._shape(None if one is None else np.asarray(one, float), names,
                                                          what, len(rows), make)), (len(rows), len(names)))
                for one, names, what in ((u, self.inputs, "u"), (p, self.parameters, "p")))
        after, D = self._advance(rows, u, p, float(t), True)
        return (after, D) if x.ndim == 2 else (after[0], D[0])

    # ---- PyTorch -------------------------------------------------------------------------------

    def __call__(self, x, u=None, p=None, t=0.0):
        """The state after the step: tensors of float64, one state or rows of them; u and p one for all
        or rows, too."""
        import torch

        def make(values):
            return torch.as_tensor(np.asarray(values), dtype=torch.float64)
        x = self._shape(x, self.state, "x", None, make)
        rows = x if x.ndim == 2 else x.unsqueeze(0)
        u, p = (self._shape(one, names, what, len(rows), make).expand(len(rows), len(names))
                for one, names, what in ((u, self.inputs, "u"), (p, self.parameters, "p")))
        after = _function().apply(self, float(t), rows, u, p)
        return after if x.ndim == 2 else after[0]

    def __repr__(self):
        return f"<step of {self.model.name!r} by {self.h:g} s>"


_made = []


def _function():
    if not _made:
        _made.append(_make_function())
    return _made[0]


def _make_function():
    import torch

    class Differentiable(torch.autograd.Function):
        @staticmethod
        def forward(ctx, step, t, x, u, p):
            numbers = (one.detach().cpu().to(torch.float64).numpy() for one in (x, u, p))
            after, D = step._advance(*numbers, t, any(ctx.needs_input_grad))
            if D is not None:
                ctx.save_for_backward(torch.from_numpy(D))
            ctx.sizes, ctx.like = (x.shape[1], u.shape[1], p.shape[1]), (x, u, p)
            ctx.like = tuple((one.dtype, one.device) for one in (x, u, p))
            return torch.from_numpy(after).to(dtype=x.dtype, device=x.device)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, given):
            D, = ctx.saved_tensors
            back = (given.detach().cpu().to(D.dtype).unsqueeze(1) @ D).squeeze(1)
            parts = torch.split(back, ctx.sizes, dim=1)
            return (None, None) + tuple(part.to(dtype=dtype, device=device) if wanted else None
                                        for part, (dtype, device), wanted
                                        in zip(parts, ctx.like, ctx.needs_input_grad[2:]))

    return Differentiable
