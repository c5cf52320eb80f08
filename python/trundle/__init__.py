# SPDX-License-Identifier: Apache-2.0
"""trundle: the equations of motion of things that roll, slide, fold and flex while they move about.

A model file says what there is; trundle derives its equations, once and exactly, and everything else
comes from them:

    >>> import trundle
    >>> m = trundle.load("bicycle.yaml", case="turn", set={"speed0": 5})
    >>> r = m.simulate(end=5)              # a Result: r["roll"] is an array
    >>> r.report("turn.html")              # a page that opens anywhere
    >>> s = m.open()                       # a Run: s.u["steer_torque"] = 1; s.step(0.01); s["roll"]
    >>> b = m.batch(4096)                  # a Batch: many runs side by side, in lanes and threads
    >>> w = m.sweep({"m0": "60:100:5"})    # a Sweep: many runs, in which something varies, on all processors
    >>> m.linearise().A                    # also steady, lqr, settle, fit, equations, function

Models can be made by code: trundle.Model(). trundle.env has environments for learners in Gymnasium's
form, trundle.autograd steps with exact derivatives for PyTorch; both need NumPy.

Arrays are NumPy's where it is installed, memoryviews otherwise; pandas and SymPy are used where they
are there. What is wrong is an exception, trundle.Error, with the file, the line and the column.
All of it can be pickled and copied, and used by several threads; long calls let other threads go on
and stop for Ctrl-C. docs/python.md is a guide, docs/format.md has what may stand in a model file.
"""

from . import _trundle
from .draft import Draft as Model
from .errors import Error, Failed, FileError, InvalidModel, UsageError
from .model import Instant, LoadedModel, load, parse
from .names import Inputs, Named, Value
from .result import Result
from .run import Batch, Run
from .study import Family, Fit, Fitted, Function, Inertias, Linear, Locus, Lqr, Pose, Settler, Steady
from .sweep import Sweep

__version__ = _trundle.version()
__all__ = ["Batch", "Error", "Failed", "Family", "FileError", "Fit", "Fitted", "Function", "Inertias", "Inputs",
           "Instant", "InvalidModel", "Linear", "LoadedModel", "Locus", "Lqr", "Model", "Named", "Pose", "Result",
           "Run", "Settler", "Steady", "Sweep", "UsageError", "Value", "load", "parse", "schema"]
_LATER = ("autograd", "env")


def schema():
    """The JSON Schema of model files, as a dict, for editors and other programs that check YAML."""
    import json
    return json.loads(_trundle.schema())


def __getattr__(name):
    """What needs NumPy is imported when it is first wanted: trundle.env, trundle.autograd."""
    if name in _LATER:
        import importlib
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LATER})
