# SPDX-License-Identifier: Apache-2.0
"""What can be found of a model: linear models, steady motions, feedback, poses, fits, functions."""

from __future__ import annotations

import contextlib
import csv
import html
import os
import re
import tempfile

from . import _trundle
from .arrays import array, complex_array, doubles, packed, unpacked
from .errors import Error, UsageError
from .names import Named, Value, callback, equations, listed, missing, positive


class Found:
    """Something with words for people: .text, also in notebooks."""

    text = ""

    def __getstate__(self):
        return {name: packed(value) for name, value in vars(self).items()}

    def __setstate__(self, state):
        vars(self).update((name, unpacked(value)) for name, value in state.items())

    def __repr__(self):
        return self.text

    def _repr_html_(self):
        return f"<pre>{html.escape(self.text)}</pre>"


class Linear(Found):
    """x' = A x + B u, y = C x + D u beside the initial motion; with `step`, from one instant to the next.

    .states, .inputs, .outputs are names; the first .displacements states are displacements.
    .eigenvalues are of the continuous model, the least stable first.
    """

    def __init__(self, model, step=None, reduce=False, closed=False):
        self._options = {"reduce": reduce, "step": positive(step, "step")}
        found = model.system.linearise(self._options, closed)
        self.model, self.step = model, step
        self.states, self.inputs, self.outputs = found["states"], found["inputs"], found["outputs"]
        self.displacements = found["displacements"]
        self.A, self.B, self.C, self.D = (array(found[name]) for name in "ABCD")
        self.eigenvalues = complex_array(found["eigenvalues"])

    @property
    def text(self):
        return self.model.system.linear_text(self._options)

    def __iter__(self):
        return iter((self.A, self.B, self.C, self.D))


class Locus(Found):
    """Eigenvalues (rows by modes) against .values of a parameter; .critical: (value, frequency, onset)."""

    def __init__(self, model, name, start, stop, step, trim=False, free=None, hold=None):
        options = None
        if trim or free is not None or hold is not None:
            options = {"free": listed(free), "hold": equations(hold), "trim": bool(trim)}
        found = model.system.locus(name, start, stop, step, options)
        self.name, self.modes, self.critical = found["name"], found["modes"], found["critical"]
        self.values, self.unsteadiness = array(found["values"]), array(found["unsteadiness"])
        pairs = array(found["eigenvalues"])
        self.eigenvalues = pairs.view(complex) if hasattr(pairs, "view") else [
            [complex(*row[i:i + 2]) for i in range(0, len(row), 2)] for row in pairs.tolist()]

    @property
    def text(self):
        lines = [f"{len(self.modes)} eigenvalues at {len(self.values)} values of {self.name}"]
        for value, frequency, onset in self.critical:
            lines.append(f"{'un' if onset else ''}stable from {self.name} = {value:.5g} on, at "
                         f"{frequency:.4g} rad/s")
        return "\n".join(lines)


class Steady(Found):
    """A steady motion: .state by name, .modes (eigenvalues beside it), .fragment for with_=."""

    def __init__(self, model, options):
        found = model.system.steady(options)
        values = memoryview(found["state"]).tolist()
        self.state = Named(((row[0], Value(value, row[0], row[4], row[3], row[5]))
                            for row, value in zip(model.system.inputs(), values)), "input")
        self.modes = complex_array(found["modes"])
        self.text, self.fragment = found["text"], found["fragment"]

    def __getitem__(self, name):
        return self.state[name]


class Family(Found):
    """Steady motions along what is swept: columns by name, .folds, .reached."""

    def __init__(self, model, options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "family.csv")
            found = model.system.steady_sweep({**options, "output": path})
            self.columns, self._columns = _read_table(path)
        self.folds, self.reached, self.rows = array(found["folds"]), found["reached"], found["rows"]

    def __getitem__(self, name):
        if name not in self._columns:
            raise missing(name, self._columns, "column")
        return self._columns[name]

    def __len__(self):
        return self.rows

    @property
    def text(self):
        return f"{self.rows} steady motions of {len(self.columns)} columns, to {self.reached:.6g}"


def _read_table(path):
    from array import array as plain
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    names = tuple(rows[0])
    return names, {name: array(plain("d", (float(row[i]) for row in rows[1:])))
                   for i, name in enumerate(names)}


class Lqr(Found):
    """u = -K x of inputs, and of joints, whose torques they are: .K .states .inputs .law, .before and .after (eigenvalues), .fragment for with_=."""

    def __init__(self, model, inputs, q, r, step):
        options = {"inputs": listed(inputs) or "", "q": ",".join(equations(q)) or None,
                   "r": ",".join(equations(r)) or None, "step": positive(step, "step")}
        names, known = options["inputs"].split(","), model.inputs
        motors = tuple(name.strip() for name in names if name.strip() not in known)
        found = (model._system(controls=motors) if motors else model.system).lqr(options)
        self.states, self.inputs, self.law = found["states"], found["inputs"], found["law"]
        self.A, self.B, self.Q, self.R, self.N, self.K = (array(found[name]) for name in "ABQRNK")
        self.before, self.after = complex_array(found["before"]), complex_array(found["after"])
        self.residual, self.unsteadiness = found["residual"], found["unsteadiness"]
        self.neutral, self.step = found["neutral"], step
        self.text, self.roles, self.fragment = found["text"], found["roles"], found["fragment"]


# ---- settling ------------------------------------------------------------------------------


class Settler:
    """Poses on the ground for values of what is held, compiled once; for one thread at a time.

    >>> s = m.settler(hold=["rover.x", "rover.y"])
    >>> s.poses([[0, 0], [0.1, 0]])       # poses by s.columns
    """

    def __init__(self, model, hold=(), by=None, gap=None, weights=None):
        self._made = (model, hold, by, gap, weights)
        options = {"by": by, "hold": equations(hold), "gap": gap, "weights": equations(weights)}
        self._settle = _trundle.Settle(model.system, {k: v for k, v in options.items() if v})
        self.hold = tuple(one.split("=")[0] for one in options["hold"])
        listed_columns = self._settle.columns()
        self.columns, self.units = tuple(n for n, _ in listed_columns), dict(listed_columns)

    def __reduce__(self):
        return Settler, self._made

    def __repr__(self):
        return f"<poses of {self._made[0].name!r}, by {', '.join(self.hold) or 'nothing'}>"

    def poses(self, held):
        """An array of poses by columns, for rows of values of what is held (nan: as at the start)."""
        return array(self._settle.poses(_flat(held)))

    def pose(self, *held):
        """One pose, by column; without values, of what is held as it is said."""
        if held and len(held) != len(self.hold):
            raise UsageError(f"pose() takes a number for each of {', '.join(self.hold) or 'nothing'}, not {len(held)}")
        row = memoryview(self._settle.poses(_flat(held or [float("nan")] * len(self.hold)))).tolist()[0]
        return Pose(((name, Value(value, name, self.units[name]))
                     for name, value in zip(self.columns, row)), self._settle)

    def restart(self):
        """The next pose is found from the start again."""
        self._settle.restart()

    def has_jumped(self):
        """Whether the last pose is on another branch than the one before."""
        return self._settle.has_jumped()


class Pose(Named):
    """A pose on the ground, by column; .text is what `trundle settle` prints, .lifted what lifted off."""

    def __init__(self, values, settle):
        super().__init__(values, "column")
        self.text, self.lifted = settle.text(), settle.lifted()

    def __repr__(self):
        return self.text

    def _repr_html_(self):
        return f"<pre>{html.escape(self.text)}</pre>"


def _flat(rows):
    """Numbers row by row."""
    rows = doubles(rows)
    if isinstance(rows, (list, tuple)) and rows and isinstance(rows[0], (list, tuple)):
        return [x for row in rows for x in row]
    return rows


def settle(model, hold=None, by=None, gap=None, weights=None):
    """A single pose."""
    return Settler(model, hold, by, gap, weights).pose()


# ---- fitting -------------------------------------------------------------------------------


def _priors(prior):
    if isinstance(prior, dict):
        return [f"{name}={_mean_and_sd(name, value)}" for name, value in prior.items()]
    return equations(prior)


def _mean_and_sd(name, value):
    if not isinstance(value, (tuple, list)):
        return value
    try:
        mean, sd = (float(x) for x in value)
    except (TypeError, ValueError):
        raise UsageError(f"prior: {name!r} is (value, standard deviation), not {value!r}") from None
    return f"{mean!r}~{sd!r}"


@contextlib.contextmanager
def told_without(folder):
    """What is wrong in a file that was written here is told as of "recording0.csv"."""
    try:
        yield
    except Error as error:
        error.__init__(error.message.replace(folder + os.sep, ""), error.file and error.file.replace(folder + os.sep, ""),
                       error.line, error.column)
        raise


def write_data(one, folder, index):
    """The path of a recording: a file, or columns, which are written into one."""
    if isinstance(one, (str, os.PathLike)):
        return os.fspath(one)
    if not hasattr(one, "keys"):
        raise TypeError(f"a recording is a .csv file, a Result or a dict of columns, not {type(one).__name__}")
    if getattr(getattr(one, "index", None), "name", None) == "t":
        one = one.reset_index()  # of pandas, as Result.to_pandas() gives it
    path = os.path.join(folder, f"recording{index}.csv")
    names = list(one.keys())
    if len({len(one[name]) for name in names}) > 1:
        raise ValueError("the columns of a recording are of different lengths: " +
                         ", ".join(f"{name!r} has {len(one[name])}" for name in names))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for row in zip(*(one[name] for name in names)):
            writer.writerow([repr(float(x)) for x in row])
    return path


class Fit(Found):
    """What recordings say: .values by name (with .sd, .start), .covariance, .chi_square, .freedom,
    .columns, .points (rows t, measured, left, column, recording), .untold, .fragment for with_=."""

    def __init__(self, model, data, free, options):
        options = dict(options)
        progress = callback(options.pop("progress", None), "progress")
        if "from_" in options:
            options["from"] = options.pop("from_")
        for name in ("match", "sd"):
            if name in options:
                options[name] = equations(options[name])
        if "prior" in options:
            options["prior"] = _priors(options["prior"])
        if "columns" in options:
            options["columns"] = listed(options["columns"])
        with tempfile.TemporaryDirectory() as folder, told_without(folder):
            data = list(data) if isinstance(data, (list, tuple)) else [data]
            options["data"] = [write_data(one, folder, i) for i, one in enumerate(data)]
            options["free"] = listed(free)
            found = _trundle.fit(model._source, model._options(), options, progress)
        self.values = Named(((row[0], Fitted(*row)) for row in found["values"]), "fitted value")
        self.columns = [dict(zip(("name", "of", "unit", "count", "sd", "rms", "is_given"), row))
                        for row in found["columns"]]
        self.points, self.covariance = array(found["points"]), array(found["covariance"])
        self.chi_square, self.freedom = found["chi_square"], found["freedom"]
        self.iterations, self.runs, self.untold = found["iterations"], found["runs"], found["untold"]
        self.text, self.fragment = found["text"], found["fragment"]

    def __getitem__(self, name):
        return self.values[name]


class Fitted(Value):
    """A number that was found: .sd, .start, .prior, .prior_sd, .held (-1, 0, 1: at a bound)."""

    __slots__ = ("start", "sd", "prior", "prior_sd", "held")

    def __new__(cls, name, value, start, sd, prior, prior_sd, held):
        self = super().__new__(cls, value, name)
        self.start, self.sd, self.prior, self.prior_sd = start, sd, prior, prior_sd
        self.held = held
        return self

    def __repr__(self):
        return f"{float(self):.6g} +- {self.sd:.2g}"

    def __reduce__(self):
        return type(self), (self.name, float(self), self.start, self.sd, self.prior, self.prior_sd,
                            self.held)


class Inertias(Found):
    """Masses, first moments and moments of inertia of bodies: .bodies by name, .fragment."""

    def __init__(self, model, logs, bodies="*", prior_weight=0):
        with tempfile.TemporaryDirectory() as folder, told_without(folder):
            logs = list(logs) if isinstance(logs, (list, tuple)) else [logs]
            paths = [write_data(one, folder, i) for i, one in enumerate(logs)]
            system = model._system(inertias=listed(bodies))
            found = _trundle.inverse(system, {"logs": paths, "prior_weight": prior_weight})
        self.bodies = {name: array(numbers) for name, numbers in found["bodies"].items()}
        self.text, self.fragment = found["text"], found["fragment"]


# ---- functions -----------------------------------------------------------------------------


MATRICES = ("M", "G", "H", "J")  # also where they have one column


class Function:
    """Outputs of a model as functions of all its inputs, or their derivatives.

    >>> f = m.function("M c")             # several: a dict of arrays
    >>> f(roll=0.1)["M"]                  # the others as at the start
    >>> f({"frame.x": 1, "roll": 0.1})    # names that are no words of Python
    >>> df = m.function("vdot", by="q")   # rows by .by
    >>> f.many(states)                    # rows of all .inputs give rows of all numbers
    """

    def __init__(self, model, outputs, by=None, fix_parameters=False):
        self.model, self.outputs = model, tuple(outputs.replace(",", " ").split()
                                                if isinstance(outputs, str) else outputs)
        self._made = (model, self.outputs, by, fix_parameters)
        rows = model.system.inputs()
        self.inputs = tuple(row[0] for row in rows)
        self._at = {name: i for i, name in enumerate(self.inputs)}
        words = None if by is None else tuple(re.split(r"[\s,]+", by.strip()) if isinstance(by, str)
                                              else by)
        self.by = None if by is None else tuple(
            name for word in words for name in _inputs_called(word, rows))
        self._program = _trundle.Program(model.system, " ".join(self.outputs),
                                         None if by is None else " ".join(words),
                                         {"fix_parameters": fix_parameters})
        self._start = memoryview(model.system.initial()).tolist()

    def __reduce__(self):
        return Function, self._made

    def __repr__(self):
        by = "" if self.by is None else f", by {', '.join(self.by[:6])}{', ...' if len(self.by) > 6 else ''}"
        return f"<{' '.join(self.outputs)} of {self.model.name!r}{by}>"

    @property
    def start(self):
        """All inputs at the initial state, in the order of .inputs."""
        from array import array as plain
        return array(plain("d", self._start))

    @property
    def sizes(self):
        """How long the program is: inputs, outputs, operations, ..."""
        return self._program.sizes()

    def __call__(self, values=None, /, **named):
        inputs = list(self._start)
        for name, value in {**(values or {}), **named}.items():
            if name not in self._at:
                raise missing(name, self._at, "input")
            inputs[self._at[name]] = value
        numbers = array(self._program.evaluate(inputs))
        return self._shaped(numbers)

    def many(self, inputs, out=None):
        """Rows of all inputs give rows of all numbers, the outputs one after the other, by rows."""
        numbers = self._program.evaluate(doubles(inputs), out)
        return out if out is not None else array(numbers)

    def _shaped(self, numbers):
        flat = numbers[0] if hasattr(numbers, "T") else memoryview(numbers).cast("B").cast("d")
        if self.by is not None:
            return _as_matrix(flat, len(flat) // len(self.by), len(self.by))
        if len(self.outputs) == 1:
            return self._matrix(self.outputs[0], flat)
        found, at = {}, 0
        for name in self.outputs:
            rows, columns = self.model.outputs[name]
            found[name] = self._matrix(name, flat[at:at + rows * columns])
            at += rows * columns
        return found

    def _matrix(self, name, flat):
        rows, columns = self.model.outputs.get(name, (len(flat), 1))
        is_matrix = columns != 1 or name in MATRICES
        return _as_matrix(flat, rows, columns) if is_matrix else flat


def _as_matrix(flat, rows, columns):
    if hasattr(flat, "reshape"):
        return flat.reshape(rows, columns)
    return flat.cast("B").cast("d", (rows, columns)) if rows * columns else flat


def _inputs_called(word, rows):
    if any(word == row[0] for row in rows):
        return [word]
    kind = {"q": 1, "v": 2, "u": 3, "p": 4}.get(word)
    return [row[0] for row in rows if row[1] == kind]
