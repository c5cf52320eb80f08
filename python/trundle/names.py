# SPDX-License-Identifier: Apache-2.0
"""Things that have names: values with units, and mappings of them."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, MutableMapping

from .errors import UsageError


def listed(names):
    """'a,b' from "a,b", ["a", "b"] or None."""
    if names is None or isinstance(names, str):
        return names
    try:
        return ",".join(names)
    except TypeError:
        raise TypeError(f"names were expected, 'a,b' or a list of them, not {names!r}") from None


def equations(values, sign="="):
    """['a=1', 'b'] from {"a": 1}, ["a=1", "b"], "a=1" or None."""
    if values is None:
        return []
    if isinstance(values, str):
        return [values]
    if isinstance(values, Mapping):
        return [f"{name}{sign}{value if isinstance(value, str) else _finite(name, value)}"
                for name, value in values.items()]
    if not hasattr(values, "__iter__"):
        raise TypeError(f"a dict, or texts such as 'name{sign}1', were expected, not {values!r}")
    return list(values)


def _finite(name, value):
    if not math.isfinite(float(value)):
        raise UsageError(f"{name!r} is to be a number, not {float(value)}")
    return repr(float(value))


class MissingName(UsageError, KeyError):
    """A name that is not there."""

    __str__ = Exception.__str__


def missing(name, names, what):
    """An error that offers what was probably meant."""
    near = difflib.get_close_matches(str(name), list(names), 1)
    hint = f": did you mean {near[0]!r}?" if near else ""
    return MissingName(f"there is no {what} {name!r}{hint}")


def positive(number, name):
    """A step, or 0.0 from None."""
    if number is not None and not (isinstance(number, (int, float)) or hasattr(number, "__float__")):
        raise TypeError(f"{name}: a number was expected, not {number!r}")
    if number is not None and not (float(number) > 0 and math.isfinite(number)):
        raise UsageError(f"{name!r} is to be above 0, not {float(number):g}")
    return 0.0 if number is None else float(number)


def options_known(given, known, what):
    """Keywords that are not there are told with what was probably meant."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise TypeError(f"{what}: there is no option {name!r}" + (f": did you mean {near[0]!r}?" if near else
                                                                     f"; there are {', '.join(known)}"))


def callback(what, name):
    """What is called, if it can be."""
    if what is not None and not callable(what):
        raise TypeError(f"{name}: a function was expected, not {what!r}")
    return what


class Value(float):
    """A number with what the model says of it: name, unit, quantity, doc, min, max."""

    __slots__ = ("name", "unit", "quantity", "doc", "min", "max")

    def __new__(cls, value, name="", unit="", quantity="", doc="", minimum=float("-inf"),
                maximum=float("inf")):
        self = super().__new__(cls, value)
        self.name, self.unit, self.quantity, self.doc = name, unit, quantity, doc
        self.min, self.max = minimum, maximum
        return self

    def __repr__(self):
        return f"{float(self)!r} {self.unit}".rstrip()

    def __reduce__(self):
        return type(self), (float(self), self.name, self.unit, self.quantity, self.doc, self.min,
                            self.max)


class Named(Mapping):
    """Values by their names. They are read-only: m.variant(set={...}) has others."""

    def __init__(self, values, what):
        self._values, self._what = dict(values), what

    def __getitem__(self, name):
        try:
            return self._values[name]
        except KeyError:
            raise missing(name, self._values, self._what) from None

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __repr__(self):
        width = max((len(name) for name in self._values), default=0)
        return "\n".join(
            f"{name:{width}}  {value!r}" + (f"  {value.doc}" if getattr(value, "doc", "") else "")
            for name, value in self._values.items()) or f"no {self._what}s"


class Inputs(MutableMapping):
    """Inputs that can be read and set by name: of a run, of an instant of a run, of a batch."""

    __slots__ = ("_of", "_names", "_set")

    def __init__(self, of, names):
        self._of, self._names, self._set = of, names, of.set

    def __setitem__(self, name, value):
        if name not in self._names:
            raise missing(name, self._names, "input")
        self._set(name, value)

    def __getitem__(self, name):
        if name not in self._names:
            raise missing(name, self._names, "input")
        return self._of.get(name)

    def __delitem__(self, name):
        raise TypeError("inputs cannot be taken away")

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __repr__(self):
        found = {}
        for name in self:
            try:
                found[name] = self[name]
            except KeyError:  # of a batch, where it is not recorded
                found[name] = None
        return repr(found)
