# SPDX-License-Identifier: Apache-2.0
"""Runs that are moved step by step: one, or many side by side."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping

from . import _trundle
from .arrays import array, doubles, on_device
from .names import Inputs, MissingName, missing, options_known

MOST_THREADS = 256
RUN_OPTIONS = ("method", "step", "rtol", "atol", "dense", "project", "no_project", "end")
BATCH_OPTIONS = RUN_OPTIONS + ("on", "single")


def _given(options, known, what):
    """Options as the library has them: those that are None are not given, and project=False is no_project."""
    options_known(options or {}, known, what)
    given = {name: value for name, value in (options or {}).items() if value is not None}
    if "project" in given:
        given["no_project"] = not given.pop("project")
    return given


class Run(_trundle.Run):
    """A run that is moved step by step; m.open() makes one.

    >>> s = m.open(method="rk4", step=0.001)
    >>> s.u["steer_torque"] = 1       # an input, at once
    >>> s.step(0.01)                  # on by 0.01 s
    >>> s["roll"], s.t                # any column, now
    >>> k = s.save()                  # a snapshot: bytes
    >>> s.restore(k)

    step(h) goes on by h seconds, advance(t) to a time. set("m0", 80) is a parameter from the next
    reset() on. Copies and pickles of a run go on where it stands.
    """

    def __new__(cls, model, options=None):
        options = _given(options, RUN_OPTIONS, "open()")
        self = super().__new__(cls, model.system, options)
        self.model, self.options = model, options
        self._inputs = model._input_names
        return self

    u = property(lambda self: Inputs(self, self._inputs), doc="Inputs, which can be read and set by name.")

    columns = property(lambda self: tuple(self.model._stepped), doc="Names of what can be asked for.")
    row = property(lambda self: array(self._row()), doc="All columns now, as an array.")

    def _missing(self, name):
        return missing(name, self.model._stepped, "column")

    def __copy__(self):
        return _reopen(self.model, self.options, self.save(), {})

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce__(self):
        return _reopen, (self.model, self.options, self.save())

    def __repr__(self):
        return f"<run of {self.model.name!r} at t = {self.t:.9g} s>"


def _reopen(model, options, snapshot, _=None):
    run = Run(model, options)
    run.restore(snapshot)
    return run


class Batch(_trundle.Batch):
    """Many runs of one model that go on side by side; m.batch(n) makes one.

    >>> b = m.batch(4096, set={"speed0": speeds})     # one number for all, or one for each
    >>> b.u["steer_torque"] = torques
    >>> b.step(0.01)
    >>> b["roll"]                                     # an array, one number for each run; b["roll", "t"]: a list
    >>> b.read(["roll", "steer"], out=observations)   # runs by columns, into your own array
    >>> b.reset(b["roll"] > 1)                        # those start anew
    >>> k = b.save(); b.restore(k)                    # snapshots, one of each run

    Each run has the bits of a run of its own, and its snapshots: b.restore(s.save()) makes all of them
    go on from where a Run of the same method is. One that fails stays behind until it is reset, and
    has nan for numbers: b.failures says why, by run. A run that was reset begins at t = 0, wherever
    the others are: b.t has the times, of those that failed where they did. `threads`: None is as many as pay. on="gpu": plain steps are made
    on GPUs, with the same bits, or single=True in single precision; b.on tells where they are.
    """

    def __new__(cls, model, n, set=None, threads=None, options=None):
        n = operator.index(n)
        if not isinstance(set or {}, Mapping):
            raise TypeError("set: a dict of names and numbers was expected")
        options = _given(options, BATCH_OPTIONS, "batch()")
        if threads is None and options.get("on") == "gpu":
            threads = 1
        if threads is None:
            threads = max(1, min(len(os.sched_getaffinity(0)), n // 256))
        threads = min(operator.index(threads), max(n, 1), MOST_THREADS)
        self = super().__new__(cls, model.system, n, threads, options)
        self.model, self.options, self.threads = model, options, threads
        self._inputs = model._input_names
        for name, value in (set or {}).items():
            self.set(name, value)
        if set:
            self.reset()
        return self

    u = property(lambda self: Inputs(self, self._inputs), doc="Inputs, which can be read and set by name.")
    columns = property(lambda self: tuple(self.model._stepped), doc="Names of what can be asked for.")
    t = property(lambda self: array(self._t), doc="The times that runs have come to [s].")
    failures = property(lambda self: self._failures(), doc="Why runs cannot go on, by run.")

    def set(self, name, values, where=None):
        """An input, at once; a parameter or a number of the start from the next reset on.

        values: one for all, or one for each run. where: a mask of the runs that it is about.
        """
        self._set(name, doubles(values), None if where is None else doubles(where))

    def get(self, name):
        """An input, where it is recorded."""
        if name not in self.model._stepped:
            raise MissingName(f"the input {name!r} is not recorded, and of a batch nothing else can be read: "
                           f"load(..., outputs={{'its_value': {name!r}}}) records it")
        return self[name]

    def advance(self, until):
        """Runs go on to a time [s], one for all or one for each."""
        self._advance(doubles(until))

    def reset(self, where=None):
        """Runs start anew at t = 0, all, or those of a mask, with all that was set."""
        self._reset(None if where is None else doubles(where))

    def restore(self, snapshots, where=None):
        """Back to what save() gave; or all, or those of a mask, to one snapshot, also of a Run."""
        self._restore(snapshots, None if where is None else doubles(where))

    def read(self, columns=None, out=None):
        """Columns of all runs: an array of runs by columns, or written into yours (float64)."""
        names = self.model._stepped if columns is None else columns
        names = [names] if isinstance(names, str) else list(names)
        try:
            numbers = self._read(names, out)
        except KeyError:
            there = self.model._stepped
            raise missing(next(name for name in names if name not in there), there, "column") from None
        return numbers if out is not None else array(numbers)

    def gpu_step(self, state, inputs=None, steps=1):
        """So many steps of states that are in a GPU's memory, where they stay: docs/gpu.md.

        state: float64, states by runs, as gpu_state() has them: an array of CuPy, PyTorch or others that
        have __cuda_array_interface__, or an address. inputs: likewise, as gpu_inputs(); None: those of
        the batch. Work on them must be done: synchronize other streams before. With steps=0 the runs of
        the batch become what they are there.
        """
        count = len(self) * len(self.gpu_state_names) or None
        self._gpu_step(on_device(state, count, True), on_device(inputs, None, False), operator.index(steps))

    gpu_state_names = property(lambda self: tuple(self._gpu_names), doc="Names of the rows of gpu_state().")

    gpu_input_names = property(lambda self: tuple(row[0] for row in self.model.system.inputs()),
                               doc="Names of the first rows of gpu_inputs(); others are the library's.")

    def gpu_state(self):
        """The states of all runs, to be brought to a GPU: an array of states by runs."""
        return array(self._gpu_state())

    def gpu_inputs(self):
        """All inputs and parameters, those of the model's programs first: an array of inputs by runs."""
        return array(self._gpu_inputs())

    def gpu_fates(self):
        """By run: 0 where it made all steps, 2 where it stands before one that only the CPU makes; None before any."""
        fates = self._gpu_fates()
        return None if fates is None else array(fates)

    def __getitem__(self, name):
        if isinstance(name, (tuple, list)):
            return [self[one] for one in name]
        numbers = self.read([name])
        return numbers[:, 0] if hasattr(numbers, "T") else memoryview(numbers).cast("B").cast("d")

    def __copy__(self):
        return _rebatch(*self.__reduce__()[1])

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce__(self):
        return _rebatch, (self.model, len(self), self.threads, self.options, self.save())

    def __repr__(self):
        return f"<{len(self)} runs of {self.model.name!r}>"


def _rebatch(model, n, threads, options, snapshots):
    batch = Batch(model, n, None, threads, options)
    batch.restore(snapshots)
    return batch
