# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, with its place."""

from __future__ import annotations

import contextlib
import re


class Error(Exception):
    """What went wrong, in a sentence for whoever wrote the model or the call.

    file, line, column: the place in a model file, or None where it has none; lines and columns count
    from 1. message: the sentence without the place. result: of simulate(), the rows up to there.
    """

    message = ""
    file: str | None = None
    line: int | None = None
    column: int | None = None
    result = None
    setting = None  # which of `set` it is about, from 0; ("with", k): the k-th of `with_`

    def __init__(self, message="", file=None, line=None, column=None):
        self.message, self.file, self.line, self.column = message, file, line, column
        place = ":".join(str(part) for part in (file, line, column) if part is not None)
        super().__init__(f"{place}: {message}" if line is not None and place else message)

    def __reduce__(self):
        return type(self), (self.message, self.file, self.line, self.column), {"result": self.result}


class Failed(Error, RuntimeError):
    """The work could not be done: it does not converge, is singular, a run cannot go on, ..."""


class UsageError(Error, ValueError):
    """Arguments that make no sense: names that are not there, times before now, ..."""


class InvalidModel(Error, ValueError):
    """A model, a formula or recorded data are wrong; file, line and column say where."""


class FileError(Error, OSError):
    """A file could not be read or written."""


def with_result(error, result):
    """What is to be raised, with what was done until then, where its class has room for that."""
    with contextlib.suppress(Exception):
        error.result = result
    return error


KINDS = {1: Failed, 2: UsageError, 3: InvalidModel, 4: FileError}
WITH_LINES = 1 << 24  # settings have lines below 0, and the k-th file `with` lines from k times this on


OTHERWISE = {"allow_files": "allowed", "with": "with_", "from": "from_",
             "no_deviations": "deviations=False"}


def keyword(option):
    """What an option of the program is called here."""
    name = option.replace("-", "_")
    return OTHERWISE.get(name, name)


def make(status, message, file, line, column):
    """An exception from what the library says."""
    if status == 5:
        return MemoryError(message)
    message = re.sub(r"(^|[\s(])--([a-z][a-z-]*)", lambda found: found[1] + keyword(found[2]), message)
    setting = None
    if line < 0:  # settings have no lines: they are no part of a file
        setting, line, file = -line - 1, 0, None
    elif line >= WITH_LINES:
        setting, line = ("with", line // WITH_LINES - 1), line % WITH_LINES
    error = KINDS.get(status, Error)(message, file, line or None, (column or None) if line else None)
    error.setting = setting
    return error
