# SPDX-License-Identifier: Apache-2.0
"""Many runs of a model, in which something varies."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from array import array as plain
from collections.abc import Mapping
from itertools import accumulate

from . import _trundle
from .arrays import array, optional
from .errors import UsageError, with_result
from .names import callback, equations, missing
from .result import Result
from .study import Found, told_without, write_data

FIGURES = 9  # the last columns say how a run went
SUMMARY = ("runs", "before", "done", "failed", "seconds", "interrupted", "on", "steps_on_gpu")
OUTCOMES = ("ok", "stopped", "failed")
MOST_SHOWN, MOST_WIDTH = 8, 110  # runs, and characters of a line


# ---- what is asked -----------------------------------------------------------------------------


def _numbers(name, value):
    """"60.0,80.0" from numbers; texts say what they say."""
    if isinstance(value, str):
        return value
    try:
        return ",".join(repr(float(x)) for x in (value if hasattr(value, "__iter__") else [value]))
    except (TypeError, ValueError):
        raise TypeError(f"{name!r} varies over numbers, or as a text says: '60:110:10', 'uniform(60, 110)', "
                        f"'normal(85, 5)'; not {value!r}") from None


def _varied(vary):
    """["m0=60.0,80.0", "l~uniform(1,2)"] from a dict, texts or None."""
    if not isinstance(vary, Mapping):
        return equations(vary)
    texts = {name: _numbers(name, value) for name, value in vary.items()}
    return [f"{name}{'~' if text.lstrip().startswith(('uniform', 'normal')) else '='}{text}"
            for name, text in texts.items()]


def _shard(shard):
    """(3, 16): the third of sixteen parts; the library counts from 0."""
    try:
        part, parts = shard
        if 1 <= part <= parts:
            return {"shard": part - 1, "shards": parts}
    except (TypeError, ValueError):
        pass
    raise UsageError(f"shard: a part and how many there are, (3, 16), not {shard!r}")


def sweep(model, vary, table, keep, hold, shard, progress, output, **options):
    """What m.sweep() gives."""
    options = {name: value for name, value in options.items() if value is not None}
    for name, value in options.items():
        if isinstance(value, float) and math.isnan(value):  # to the library that is None
            raise UsageError(f"{name}: a number, not {value!r}")
    options.update(vary=_varied(vary), hold=equations(hold), **({} if shard is None else _shard(shard)))
    if not options["vary"] and table is None:
        raise UsageError("what varies? Say it as {'m0': [60, 80], 'speed0': 'uniform(4, 6)'}, or by table=")
    if keep is not None:
        options["keep"] = ", ".join(equations(keep))
    if output is not None:
        options["output"] = os.fspath(output)
    columns = model._stepped if options.get("do", "simulate") == "simulate" else None
    rows = (None, None) if columns is None else (tuple(columns), tuple(columns.values()))
    with tempfile.TemporaryDirectory() as folder, told_without(folder):
        if table is not None:
            options["table"] = write_data(table, folder, 0)
        found, error = _trundle.sweep(model._source, model._options(), options, callback(progress, "progress"), *rows)
        if "values" in found and found["before"]:
            _add_before(found, options["output"], *rows)
        result = Sweep(model, found) if "values" in found else None
        if error is not None:
            raise with_result(error, result)
        return result


# ---- what a database had before ----------------------------------------------------------------


def _number(x):
    return math.nan if x is None else x


def _add_before(found, path, names, units):
    import sqlite3
    values, outcome, seconds = (memoryview(found[name]) for name in ("values", "outcome", "took"))
    with contextlib.closing(sqlite3.connect(path)) as file:
        before = {}
        for run, *numbers, took, status, words in file.execute("SELECT * FROM runs"):
            if not math.isnan(outcome[run]):
                continue
            before[run] = plain("d")
            outcome[run], seconds[run] = OUTCOMES.index(status), took
            for i, x in enumerate(numbers):
                values[run, i] = _number(x)
            if status == "failed":
                found["words"][run] = words
        if names is None:
            return
        for run, _, *numbers in file.execute('SELECT * FROM rows ORDER BY run, "row"'):
            if run in before:
                before[run].extend(_number(x) for x in numbers)
    found["rows"].update((run, _trundle.Rows(names, units, numbers)) for run, numbers in before.items() if numbers)


# ---- what came of it ---------------------------------------------------------------------------


class Sweep(Found):
    """Many runs in which something varies, as m.sweep() makes them.

    >>> w = m.sweep({"m0": [60, 80, 100], "speed0": "uniform(4, 6)"}, keep="lean=max(abs(roll))")
    >>> w["m0"], w["lean"]             # a number for each run
    >>> w.array, w.columns, w.units    # all: what varies, what is kept, how it went
    >>> w.status                       # of each "ok", "stopped", "failed", or "" where it was not made
    >>> w.failures                     # why runs could not go on, by run
    >>> w.recorded                     # Results of those whose rows are kept, by run
    >>> w.summary, w.seconds           # of all, and what each took [s]
    >>> w.to_pandas()                  # a DataFrame over the numbers of runs
    """

    def __init__(self, model, found):
        self.model, self.columns = model, found["columns"]
        self.units = dict(zip(self.columns, found["units"]))
        self.array, self.seconds = array(found["values"]), array(found["took"])
        self.status = tuple("" if math.isnan(x) else OUTCOMES[int(x)] for x in memoryview(found["outcome"]).tolist())
        self.summary = {name: found[name] for name in SUMMARY}
        self.failures = dict(sorted(found["words"].items()))
        self.recorded = {run: self._result(run, rows) for run, rows in sorted(found["rows"].items())}

    def _result(self, run, rows):
        """A run as if it had been made by simulate()."""
        numbers = dict(zip(self.columns, memoryview(self.array).tolist()[run]))
        settings, start = {}, {}
        for name, value in numbers.items():
            if name in self.model.start:
                start.setdefault(name.split(".", 1)[0], {})[name.split(".", 1)[1]] = value
            elif name in self.model.parameters or name in self.model.inputs:
                settings[name] = value
        return Result(self.model.variant(set=settings, with_=[_Start(start)] if start else []), rows,
                      dict(list(numbers.items())[-FIGURES:]))

    def __getitem__(self, name):
        if name not in self.units:
            raise missing(name, self.units, "column")
        at = self.columns.index(name)
        return self.array[:, at] if hasattr(self.array, "T") else plain("d", (row[at] for row in self.array.tolist()))

    def __contains__(self, name):
        return name in self.units

    def __iter__(self):
        return iter(self.columns)

    def keys(self):
        """The names of columns, so that dict(w) is all of them."""
        return self.columns

    def __len__(self):
        return len(self.status)

    def to_pandas(self):
        """A pandas.DataFrame over the numbers of runs, with status and words, too."""
        pandas = optional("pandas")
        if pandas is None:
            raise ImportError("to_pandas() needs pandas (Debian: python3-pandas)")
        table = pandas.DataFrame({**dict(self), "seconds": self.seconds, "status": self.status})
        table["words"] = [self.failures.get(run, "") for run in range(len(self))]
        return table.rename_axis("run")

    @property
    def text(self):
        """What there is, with the first of the runs."""
        s, names = self.summary, self.columns[:-FIGURES]
        lines = [f"{s['done']} of {s['runs']} runs" + (f", {s['before']} of them were there before" if s["before"] else "")]
        if self.failures:
            lines.append(f"{s['failed']} could not go on to the end; {next(iter(self.failures))}: "
                         f"{next(iter(self.failures.values()))}")
        rows = [("run", *names)] + [(str(i), *(f"{x:.6g}" for x in row[:len(names)])) for i, row in
                                    enumerate(memoryview(self.array[:MOST_SHOWN]).tolist())]
        widths = [max(map(len, column)) for column in zip(*rows)]
        fits = sum(total <= MOST_WIDTH for total in accumulate(width + 2 for width in widths))
        lines += ["  ".join(word.rjust(width) for word, width in zip(row[:fits], widths)) +
                  "  ..." * (fits < len(names) + 1) for row in rows]
        return "\n".join(lines + ["..."] * (len(self) > MOST_SHOWN))


class _Start:
    """Numbers of the start as keys of a case."""

    def __init__(self, sections):
        self.fragment = "".join(f"{section}:\n" + "".join(f'  "{name}": {value!r}\n' for name, value in pairs.items())
                                for section, pairs in sections.items())
