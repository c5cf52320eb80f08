# SPDX-License-Identifier: Apache-2.0
"""Models by code: trundle.Model(...) begins one, calls add to it, load() derives it.

    >>> m = trundle.Model("cart and pole", gravity=9.81)
    >>> m.parameter("l", 0.5, unit="m", doc="half the length")
    >>> m.body("cart", mass=1, joint=dict(type="prismatic", axis=(1, 0, 0), coordinate="x"))
    >>> m.body("pole", parent="cart", mass=0.1, com="0, 0, l",
    ...        joint=dict(type="revolute", axis=(0, 1, 0), coordinate="angle"))
    >>> m.initial("angle", 0.1)
    >>> m.load().simulate(end=5)["angle"]
    >>> print(m.text())                       # the same as a model file

What may be said, and what it means, is what model files say (docs/format.md): methods and keywords
come from the same table. Values are numbers, formulas as texts, and sequences of these for vectors;
things in things, as a body's joint, are dicts. `m.fields` has all that was said, and may be changed.
"""

from __future__ import annotations

import difflib
import html
import math
import numbers
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .calls import KINDS, Calls
from .errors import Error, UsageError

if TYPE_CHECKING:
    from . import LoadedModel

SIMPLE = re.compile(r"[A-Za-z_][\w./ +*^-]*\Z")  # what YAML takes for a text without quotes ...
WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"}  # ... but these


def refuse(where, words):
    raise UsageError(f"{where}: {words}")


def near(word, words):
    found = difflib.get_close_matches(str(word), list(words), 1)
    return f": is {found[0]!r} meant?" if found else ""


# ---- values ------------------------------------------------------------------------------------


def number(value, where):
    value = value.item() if hasattr(value, "item") else value  # NumPy's
    if isinstance(value, numbers.Integral):
        return int(value)
    if not math.isfinite(value):
        refuse(where, f"{value} is no number that a model may have")
    return float(value)


def scalar(value, where):
    """A number or a text, as a model file has it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, numbers.Real) or (hasattr(value, "item") and getattr(value, "ndim", 1) == 0):
        return number(value, where)
    if isinstance(value, str):
        if not value:
            refuse(where, "an empty text says nothing")
        return value
    refuse(where, f"a number or a text is wanted, not {type(value).__name__}")


def sequence(value):
    return not isinstance(value, (str, Mapping)) and hasattr(value, "__iter__") and \
        getattr(value, "ndim", 1) != 0


def joined(value, where):
    """(1, "l", 0) -> "1, l, 0"; tables of two variables have rows."""
    parts = (joined(one, where) if sequence(one) else scalar(one, where) for one in value)
    return ", ".join(one if isinstance(one, str) else written(one) for one in parts)


def pairs(value, where):
    if not isinstance(value, Mapping):
        refuse(where, f"a dict is wanted, not {type(value).__name__}")
    return {str(name): scalar(one, f"{where}[{name!r}]") for name, one in value.items()}


def field(spec, value, where):
    """What was given for a field, as it is kept: numbers, texts, lists and dicts of these."""
    kind, of, many, words, _ = spec
    if kind == "KIND":
        return thing(of, value, where) if not many else things(of, value, where)
    if kind in ("VECTOR", "NUMBERS", "TEXT") and sequence(value):
        value = list(value)
        if kind == "VECTOR" and len(value) != 3:
            refuse(where, f"three numbers or formulas are wanted, not {len(value)}")
        return joined(value, where)
    if kind == "LIST":
        return [scalar(one, where) for one in value] if sequence(value) else scalar(value, where)
    if kind == "PAIRS" or (kind == "PARTS" and isinstance(value, Mapping)):
        return pairs(value, where)
    if kind == "FLAG" and str(value).lower() not in ("true", "false"):
        refuse(where, f"True or False is wanted, not {value!r}")
    if kind == "CHOICE" and str(scalar(value, where)) not in words.split():
        refuse(where, f"{value!r} is none of {', '.join(words.split())}{near(value, words.split())}")
    return scalar(value, where)


def thing(kind, value, where):
    """A thing of a kind; what is no dict is its short form, which the library judges."""
    if not isinstance(value, Mapping):
        return [scalar(one, where) for one in value] if sequence(value) else scalar(value, where)
    kept = {}
    for key, one in value.items():
        key = "against" if key == "on" else key  # as the files of before say
        if key not in KINDS[kind]:
            refuse(where, f"there is no keyword {key!r}{near(key, KINDS[kind])}")
        if one is not None:
            kept[key] = field(KINDS[kind][key], one, f"{where}, {key}")
    return kept


def things(kind, value, where):
    if not isinstance(value, Mapping):
        refuse(where, f"a dict of things by name is wanted, not {type(value).__name__}")
    return {str(name): thing(kind, one, f"{where}[{name!r}]") for name, one in value.items()}


# ---- texts -------------------------------------------------------------------------------------


def written(value):
    """A scalar of YAML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    if SIMPLE.match(value) and value.lower() not in WORDS and not value.endswith(" "):
        return value
    return '"' + "".join(escaped(one) for one in value) + '"'


def escaped(one):
    if one in '"\\':
        return "\\" + one
    return one if one.isprintable() else f"\\x{ord(one):02x}" if ord(one) < 256 else f"\\u{ord(one):04x}"


def lines(value, path=(), indent=""):
    """(line, path of what stands in it) of all that is said."""
    for key, one in value.items():
        here = path + (key,)
        name = f"{indent}{written(key)}:"
        if isinstance(one, Mapping) and one:
            yield name, here
            yield from lines(one, here, indent + "  ")
        elif isinstance(one, Mapping):
            yield f"{name} {{}}", here
        elif isinstance(one, list):
            yield f"{name} [{', '.join(written(each) for each in one)}]", here
        else:
            yield f"{name} {written(one)}", here


# ---- models ------------------------------------------------------------------------------------


class Draft(Calls):
    __doc__ = __doc__

    def _begin(self, given, unknown):
        self.fields = {}
        if isinstance(given["gravity"], numbers.Real):  # downwards
            given["gravity"] = (0, 0, -given["gravity"])
        self._refuse("Model", unknown, [key for key in given])
        for key, value in given.items():
            if value is not None:
                self.fields[key] = field(KINDS["model"][key], value, f"Model({key})")

    @staticmethod
    def _refuse(call, unknown, known):
        for key in unknown:
            refuse(f"{call}()", f"there is no keyword {key!r}{near(key, known)}")

    def _all(self, kind, where, fields, given, unknown):
        """Fields as keywords, as one dict, or in short form."""
        self._refuse(where.split("(")[0], unknown, given)
        given = {key: value for key, value in given.items() if value is not None}
        if fields is None:
            return thing(kind, given, where)
        if isinstance(fields, Mapping):
            for key in given:
                if key in fields:
                    refuse(where, f"{key!r} stands twice")
            return thing(kind, {**fields, **given}, where)
        if not given:
            return thing(kind, fields, where)
        if "value" not in KINDS[kind]:
            refuse(where, "keywords, or something short in place of them, but not both")
        return thing(kind, {"value": fields, **given}, where)

    def _thing(self, section, name, fields, given, unknown):
        where = f"{CALLS[section]}({name!r})"
        if not isinstance(name, str) or not name:
            refuse(where, "names are texts")
        if name in self.fields.get(section, {}):
            refuse(where, f"there is one already; m.fields[{section!r}][{name!r}] has what it is")
        value = self._all(section, where, fields, given, unknown)
        self.fields.setdefault(section, {})[name] = value
        return self

    def _section(self, section, fields, given, unknown):
        if section in self.fields:
            refuse(f"{section}()", f"it was given already; m.fields[{section!r}] has what it is")
        self.fields[section] = self._all(section, f"{section}()", fields, given, unknown)
        return self

    def _pair(self, section, name, value):
        given = name if isinstance(name, Mapping) and value is None else {name: value}
        where = CALLS[section]
        for key, one in given.items():
            if key in self.fields.get(section, {}):
                refuse(f"{where}({key!r})", f"it was given already; m.fields[{section!r}] has it")
            if one is None:
                refuse(f"{where}({key!r})", "a number or a formula is missing")
            self.fields.setdefault(section, {})[str(key)] = scalar(one, f"{where}({key!r})")
        return self

    # ---- what becomes of it --------------------------------------------------------------------

    def text(self) -> str:
        """All of it as the text of a model file."""
        return "".join(line + "\n" for line, _ in lines(self.fields))

    def save(self, path) -> None:
        """Writes text() into a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text())

    def load(self, case=None, set=None, *, beside=None, **options) -> LoadedModel:
        """The model, as trundle.load() gives one: case, set, ... are those of load().

        beside: a folder, or a file in it, where tables, meshes and included files are looked for.
        What is wrong is told with the call that said it.
        """
        from . import _trundle
        from .model import OPTIONS, Model
        from .names import options_known
        options_known(options, OPTIONS, "load()")
        path = None
        if beside is not None:
            path = os.fspath(beside)
            path = os.path.join(path, "model.yaml") if os.path.isdir(path) else path
        try:
            model = Model(_trundle.Source(path, self.text()), case=case, set=set, **options)
            model.path = path
            model.system  # so that what is wrong is told here
            return model
        except Error as error:
            place = self.place(error.line) if not error.file or error.file == path else None
            if place is None:
                raise
            told = type(error)(f"{place}: {error.message}")
            told.line, told.column = error.line, error.column
            raise told from None

    def place(self, line):
        """The call, with its keyword, that said what stands in a line of text()."""
        said = list(lines(self.fields))
        if not line or not 0 < line <= len(said):
            return None
        path = said[line - 1][1]
        section = path[0]
        if section not in CALLS:
            return f"Model({section})" if section != "trundle" else "Model()"
        if len(path) == 1 or not KINDS["model"][section][2] and KINDS["model"][section][0] == "KIND":
            return ", ".join((f"{CALLS[section]}()",) + path[1:])
        return ", ".join((f"{CALLS[section]}({path[1]!r})",) + path[2:])

    @classmethod
    def of(cls, fields):
        """A model of what a file says, read by a YAML reader: a dict of sections."""
        values = {key: one for key, one in fields.items() if key not in CALLS}
        draft = cls(**values)
        for section, said in fields.items():
            call = getattr(draft, CALLS[section]) if section in CALLS else None
            kind, _, many, _, _ = KINDS["model"].get(section, (None,) * 5)
            if call and (kind == "PAIRS" or not many):
                call(said)
            elif call:
                for name, one in said.items():
                    call(name, one)
        return draft

    def _repr_html_(self):
        """In a notebook: the text of a model file."""
        return f"<pre>{html.escape(self.text())}</pre>"

    def __repr__(self):
        name = self.fields.get("name", "")
        return f"<draft of a model {name!r}: {len(self.fields.get('bodies', {}))} bodies>"


# Sections and the calls that add to them
CALLS = {section: call for call, section in Calls.SECTIONS.items()}
