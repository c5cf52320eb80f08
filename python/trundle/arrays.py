# SPDX-License-Identifier: Apache-2.0
"""Numbers as arrays where NumPy is there, as memoryviews otherwise."""

from __future__ import annotations

import importlib
import operator
from functools import cache


@cache
def optional(name):
    """A module that need not be there, imported when it is first wanted; None without it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def array(numbers):
    """Numbers of the library, uncopied."""
    numpy = optional("numpy")
    return numpy.asarray(numbers) if numpy else memoryview(numbers)


def complex_array(pairs):
    """Real and imaginary parts side by side, as complex numbers."""
    numpy = optional("numpy")
    if numpy:
        return numpy.asarray(pairs).view(complex)[:, 0]
    return [complex(*row) for row in memoryview(pairs).tolist()]


def doubles(values):
    """Something that the extension takes as numbers: float64, contiguous."""
    numpy = optional("numpy")
    if numpy is None or isinstance(values, (int, float, memoryview)):
        return values
    numbers = numpy.asarray(values)
    if numbers.dtype.kind == "O":
        try:
            numbers = numpy.array([float(x) for x in numbers.flat]).reshape(numbers.shape)
        except TypeError:
            pass
    if numbers.dtype.kind not in "biuf":
        raise TypeError(f"numbers were expected, not {values!r:.60}")
    return numpy.ascontiguousarray(numbers, dtype=numpy.float64)


def on_device(numbers, count, is_written):
    """Where numbers are in a GPU's memory: of an array that says so, or of an address itself; None is 0."""
    if numbers is None:
        return 0
    about = getattr(numbers, "__cuda_array_interface__", None)
    if about is None:
        return operator.index(numbers)
    if about["typestr"] != "<f8":
        raise TypeError(f"numbers on a GPU are float64, not {about['typestr']!r}")
    step, strides = 8, []
    for size in reversed(about["shape"]):
        strides.insert(0, step)
        step *= size
    if about.get("strides") not in (None, tuple(strides)):
        raise ValueError("numbers on a GPU must be contiguous")
    if count is not None and step != 8 * count:
        raise ValueError(f"{count} numbers were expected on the GPU, not {step // 8}")
    address, is_read_only = about["data"]
    if is_written and is_read_only:
        raise ValueError("these numbers on the GPU cannot be written")
    return address


class _Packed(tuple):
    """(bytes, shape) of numbers that are not NumPy's, which pickle does not know."""


def packed(value):
    """The same, so that it can be pickled."""
    if isinstance(value, memoryview):
        return _Packed((value.tobytes(), value.shape))
    return {name: packed(one) for name, one in value.items()} if type(value) is dict else value


def unpacked(value):
    """Back from packed()."""
    if isinstance(value, _Packed):
        numbers = memoryview(value[0])
        return numbers.cast("d", value[1]) if numbers.nbytes else numbers.cast("d")
    return {name: unpacked(one) for name, one in value.items()} if type(value) is dict else value
