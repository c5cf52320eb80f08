# SPDX-License-Identifier: Apache-2.0
"""Recorded runs."""

from __future__ import annotations

import html
import json
import os
import tempfile

from . import _trundle
from .arrays import array, optional
from .names import missing


class Result:
    """A recorded run, as simulate() gives it.

    >>> r = m.simulate(end=5)
    >>> r.t, r["roll"]                # arrays, uncopied
    >>> r["roll", "steer"]            # several: a list of arrays
    >>> r.array                       # all, rows by columns
    >>> r.summary["energy_error"]     # how it went
    >>> r.certificate                 # the same and more, as stands beside recorded files
    >>> r.report("run.html")          # a page that opens anywhere
    >>> r.to_pandas()                 # a DataFrame over t
    """

    def __init__(self, model, rows, summary):
        self.model, self._rows, self.summary = model, rows, summary
        self.columns = rows.names
        self._index = {name: i for i, name in enumerate(rows.names)}

    @property
    def units(self):
        """Units of the columns; '' where one is not known."""
        return dict(zip(self.columns, self._rows.units))

    @property
    def t(self):
        """Times of the rows [s]."""
        return self["t"]

    @property
    def array(self):
        """All numbers, rows by columns."""
        return array(self._rows)

    @property
    def certificate(self):
        """How the run went and what made it, as the JSON beside recorded files says."""
        return json.loads(self._rows.certificate) if self._rows.certificate else None

    def __getitem__(self, name):
        if isinstance(name, (tuple, list)):
            return [self[one] for one in name]
        if name not in self._index:
            raise missing(name, self._index, "column")
        return array(self._rows.column(self._index[name]))

    def __contains__(self, name):
        return name in self._index

    def __iter__(self):
        return iter(self.columns)

    def keys(self):
        """The names of columns, so that dict(r) is all of them."""
        return self.columns

    def __len__(self):
        return len(self._rows)

    def report(self, path, equations=True):
        """Writes one HTML file in which the run can be played, plotted and downloaded."""
        options = {"output": os.fspath(path)}
        if equations:
            options["equations"] = self.model._page_equations()
        self._rows.report(self.model.system, options)

    def to_pandas(self):
        """A pandas.DataFrame whose index is t."""
        pandas = optional("pandas")
        if pandas is None:
            raise ImportError("to_pandas() needs pandas (Debian: python3-pandas)")
        return pandas.DataFrame({name: self[name] for name in self.columns}).set_index("t")

    def to_csv(self, path):
        """The rows as `trundle simulate -o` writes them, with all digits."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(",".join(_quoted(name) for name in self.columns) + "\n")
            for row in memoryview(self._rows).tolist():
                file.write(",".join(f"{x:.17g}" for x in row) + "\n")

    def __reduce__(self):
        return _recorded, (self.model, self._rows.names, self._rows.units, bytes(memoryview(
            self._rows)), self._rows.certificate, self.summary)

    def __repr__(self):
        return (f"<run of {self.model.name!r}: {len(self)} rows of {len(self.columns)} columns to "
                f"t = {self.summary['t']:.9g} s>")

    def _repr_html_(self):
        """In a notebook: the page."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.html")
            try:
                self.report(path)
            except Exception as error:  # a library without its page: words will do
                return f"<pre>{html.escape(f'{self!r}: {error}')}</pre>"
            with open(path, encoding="utf-8") as file:
                page = file.read()
        return (f'<iframe srcdoc="{html.escape(page)}" width="100%" height="600" '
                'style="border:0"></iframe>')


def _quoted(name):
    return '"' + name.replace('"', '""') + '"' if any(c in name for c in '",\n') else name


def _recorded(model, names, units, numbers, certificate, summary):
    rows = _trundle.Rows(names, units, memoryview(numbers).cast("d"), certificate)
    return Result(model, rows, summary)
