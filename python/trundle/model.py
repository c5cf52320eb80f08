# SPDX-License-Identifier: Apache-2.0
"""Models, and all that can be asked of them."""

from __future__ import annotations

import html
import json
import os
import re
import tempfile
import threading
import warnings
from collections.abc import Mapping

from . import _trundle, study, sweep
from .arrays import optional
from .errors import Error, with_result
from .names import Inputs, Named, Value, callback, equations, listed, options_known
from .result import Result
from .run import Batch, Run

TIME, POSITION, VELOCITY, INPUT, PARAMETER = range(5)  # kinds of inputs of programs
START = 10

# What a page takes of the equations: what is long is left to equations().
PAGE = {"show": "M,c,Q,G,H,J,reduced,energy", "language": "html", "most_entries": 150}
OPTIONS = ("case", "set", "controls", "allowed", "order", "outputs", "with_", "inertias", "digits", "evaluate")
MOST_PAGE_INPUTS, FEW_INPUTS, MOST_PAGE_BYTES = 300, 40, 400000


class Instant:
    """What a controller sees: now.t, now["roll"], now.u["steer_torque"], which it may set."""

    __slots__ = ("_now", "u")

    def __init__(self, now):
        self._now = now
        self.u = Inputs(now, dict.fromkeys(now.input_names))

    t = property(lambda self: self._now.t)
    columns = property(lambda self: self._now.columns)

    def __getitem__(self, name):
        return self._now[name]


class LoadedModel:
    """A model with a case and settings: what load() and parse() give, and all that can be asked of it.

    m.parameters, m.inputs     numbers with units, by name; m.start: those of `initial` and `guess`
    m.columns, m.units         what simulate() records
    m.variant(case, set, ...)  the same model otherwise
    m.check()                  what the doctor says
    m.simulate(...)            a recorded run
    m.open(...), m.batch(n)    runs that are moved step by step
    m.sweep({...}, ...)        many runs, in which something varies
    m.linearise(), m.locus(), m.steady(), m.lqr(), m.settle(), m.settler(), m.fit(), m.inertias()
    m.equations("M"), m.explain(), m.function("vdot", by="q"), m.export("c", folder)

    Equations are derived when they are first needed. A model does not change, and may be used by any
    number of threads; it can be copied and pickled.
    """

    def __init__(self, source, *, case=None, set=None, controls=(), allowed=(), order=0,
                 outputs=None, with_=(), inertias=None, digits=None, evaluate=None):
        if not isinstance(source, _trundle.Source):
            raise TypeError("models are made by trundle.load(FILE), trundle.parse(TEXT) and trundle.Model()")
        self._source = source
        self.path = None
        if not isinstance(set or {}, Mapping):
            raise TypeError("set: a dict of names and numbers or formulas was expected")
        if not isinstance(outputs or {}, Mapping):
            raise TypeError("outputs: a dict of names and formulas was expected")
        self.case, self.settings = case, dict(set or {})
        self._how = {"controls": (listed(controls) or "").replace(",", " ").split(), "allowed": [os.fspath(f) for f in _as_list(allowed)],
                     "order": order, "outputs": dict(outputs or {}), "inertias": listed(inertias),
                     "evaluate": evaluate}
        if digits is not None:
            self._how["digits"] = digits
        self._with = [_fragment(one) for one in _as_list(with_)]
        self._lock, self._derived, self._found = threading.RLock(), {}, {}

    # ---- what it is made of ----------------------------------------------------------------

    def _options(self, **more):
        options = {**self._how, "case": self.case, "set": self.settings}
        if self._with:
            options["with"] = [name for name, _ in self._with]
            options["with_texts"] = [text for _, text in self._with]
        return {**options, **more}

    def _system(self, **more):
        key = tuple(sorted(more.items()))
        with self._lock:
            if key not in self._derived:
                try:
                    self._derived[key] = _trundle.System(self._source, self._options(**more))
                except Error as error:
                    raise self._of_setting(error) from None
            return self._derived[key]

    def _of_setting(self, error):
        """The error, with the name of the setting, or of the file `with_`, that it is about."""
        if isinstance(error.setting, tuple) and error.setting[1] < len(self._with):
            return type(error)(error.message, self._with[error.setting[1]][0], error.line, error.column)
        names = [*self.settings, *self._how["outputs"]]
        if not isinstance(error.setting, int) or error.setting >= len(names):
            return error
        return type(error)(f"{names[error.setting]!r} is set to what is wrong: {error.message}")

    def _once(self, what, find):
        """What is found, and kept: a model does not change."""
        if what not in self._found:
            self._found[what] = find()
        return self._found[what]

    @property
    def system(self):
        """Its equations, as the library has them."""
        return self._system()

    @property
    def name(self):
        """The name of its file, without folder and end."""
        return os.path.basename(self.path).split(".")[0] if self.path else "model"

    def variant(self, **changes):
        """The same model otherwise: case, set (beside what is set already), with_, controls, ...

        >>> m.variant(set={"m0": 90}).simulate()
        """
        options_known(changes, OPTIONS, "variant()")
        changes.setdefault("case", self.case)
        changes["set"] = {**self.settings, **(changes.get("set") or {})}
        keep = {**self._how, **{k: v for k, v in changes.items() if k != "with_"}}
        new = type(self)(self._source, **keep)
        new.path = self.path
        new._with = self._with + [_fragment(one) for one in _as_list(changes.get("with_", ()))]
        return new

    def expand(self):
        """The text of one file with all that the model and the files that it includes say."""
        return self._source.expand({"allowed": self._how["allowed"]})

    def save(self, path):
        """Writes expand() into a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.expand())

    # ---- what there is ---------------------------------------------------------------------

    def _named(self, kind, what):
        return Named(((name, Value(value, name, unit, quantity, doc, least, most))
                      for name, its, value, quantity, unit, doc, least, most in self.system.inputs()
                      if its == kind), what)

    @property
    def parameters(self):
        """Parameters by name: numbers with .unit, .doc, .min, .max."""
        return self._named(PARAMETER, "parameter")

    @property
    def inputs(self):
        """Inputs by name: numbers with .unit, .doc, .min, .max."""
        return self._named(INPUT, "input")

    @property
    def start(self):
        """The numbers of `initial` and `guess`, "initial.roll", which runs may set."""
        return self._named(START, "number of the start")

    @property
    def columns(self):
        """Names of what simulate() records; without sd(...) and cov(...) they are those of open() and batch(), too."""
        return self._once("columns", lambda: tuple(self.units))

    @property
    def units(self):
        """Units of what simulate() records, by column; '' where one is not known."""
        units = self._stepped
        # sd(NAME) is in the unit of NAME
        return {**units, **{name: units.get(name[3:-1], "") for name in self.system.deviations()}}

    @property
    def _stepped(self):
        """Units of what is there step by step, by column."""
        return self._once("stepped", lambda: dict(self.system.columns()))

    @property
    def _input_names(self):
        return self._once("inputs", lambda: dict.fromkeys(self.inputs))

    @property
    def outputs(self):
        """What function() can evaluate: sizes (rows, columns) by name."""
        return {name: (rows, columns) for name, rows, columns, _, _ in self.system.outputs()}

    @property
    def initial(self):
        """The state at the start, solved, with all other inputs of programs, by name."""
        values = memoryview(self.system.initial()).tolist()
        return Named(((row[0], Value(value, row[0], row[4], row[3], row[5], row[6], row[7]))
                      for row, value in zip(self.system.inputs(), values)), "input")

    @property
    def files(self):
        """The files that it was made from."""
        return self.system.files()

    # ---- texts -----------------------------------------------------------------------------

    def check(self):
        """What the doctor says: `trundle check`."""
        return self.system.check()

    def counts(self):
        """What the doctor counts: bodies, degrees of freedom, rows, ..., as a dict."""
        return json.loads(self.system.check(True))

    def evaluate(self):
        """Accelerations, forces and more at the start, as a dict: `trundle eval --json`."""
        return json.loads(self.system.eval(True))

    def explain(self, show=None, language="text"):
        """How the equations were derived, in words and short formulas."""
        return self._system(name_gravity=1).explain({"show": listed(show) or "", "language": language,
                                                    "title": self.name})

    def equations(self, show="M,c,Q,G", language=None, *, style="", most_operations=None, effort=None):
        """The equations in closed form.

        For one of M, c, Q, G and H, and without more words, it is a SymPy matrix, where SymPy is
        there. Else it is a text: language "text", "latex", "markdown" or "html", of any of M c Q G H J
        reduced lambda tau energy. style: "closed" or "staged".
        """
        show = listed(show)
        asked = style or most_operations is not None or effort is not None
        if language is None and not asked and show in ("M", "c", "Q", "G", "H") and optional("sympy"):
            return self._sympy(show)
        options = {"show": show, "language": language or "text", "title": self.name, "style": style}
        if most_operations is not None:
            options["most_operations"] = most_operations
        if effort is not None:
            options["effort"] = effort
        return self._system(name_gravity=1).equations(options)

    def _sympy(self, matrix):
        with tempfile.TemporaryDirectory() as folder:
            self._system(name_gravity=1).export({"language": "sympy", "folder": folder,
                                                 "name": "model", "open": True})
            with open(os.path.join(folder, "model_sympy.py"), encoding="utf-8") as file:
                names = {}
                exec(compile(file.read(), "model_sympy.py", "exec"), names)
        return names[f"model_{matrix}"]()

    def _page_equations(self):
        inputs = len(self.system.inputs())
        if inputs > MOST_PAGE_INPUTS:
            return "There are no equations here: they are long; equations() writes them."
        try:
            text = self._system(name_gravity=1).equations(
                {**PAGE, "most_operations": 24 if inputs > FEW_INPUTS else 60})
        except Exception as error:
            return f"There are no equations here: {error}."
        if len(text.encode()) > MOST_PAGE_BYTES:
            return "There are no equations here: they are long; equations() writes them."
        return text

    def export(self, language, folder, *, name=None, single=False, open=False, fix=None, outputs=None,
               form=None):
        """Writes code to take away: language c, cuda, ptx, octave, matlab, python, sympy, casadi, or fmu, which is one file."""
        given = {"language": language, "folder": os.fspath(folder), "name": name or self.name,
                 "single": single, "open": open, "fix": listed(fix), "outputs": listed(outputs)}
        if form is not None:
            given["form"] = form
        words = self.system.export(given)
        if words:
            warnings.warn(words, stacklevel=2)

    # ---- runs ------------------------------------------------------------------------------

    def simulate(self, end=None, every=None, *, method=None, step=None, rtol=None, atol=None,
                 dense=None, project=True, sensitivity=None, filter=False, deviations=True,
                 control=None, sample=None, output=None, progress=None, warn=True, most_steps=None,
                 most_numbers=None):
        """A recorded run: a Result.

        end, every        the last time and the time between rows [s]; else as the case says
        method            erk, bdf, rk4, pece, lie, rosenbrock, euler; step, or rtol and atol, go with it
        sensitivity       parameters, "m0,theta": also columns d(NAME)/d(m0)
        filter            the model's `fixes` correct the state; deviations=False leaves out noise
        control, sample   control(now) is called every `sample` seconds, else at every row: it sees
                          now.t and now["roll"], sets now.u["steer_torque"], and stops the run by False
        progress          progress(t, end) is called now and then, and stops the run by False
        output            a .csv, .mat or .npy file that the rows also go to
        warn              warnings of the run are Python's, too; they are in r.certificate anyway

        A run that fails raises Failed, whose .result has the rows up to there; so has the
        KeyboardInterrupt of Ctrl-C.
        """
        asked = {"end": end, "every": every, "method": method, "step": step, "rtol": rtol,
                 "atol": atol, "dense": dense, "sensitivity": listed(sensitivity), "sample": sample,
                 "output": None if output is None else os.fspath(output), "most_steps": most_steps,
                 "most_numbers": most_numbers}
        options = {name: value for name, value in asked.items() if value is not None}
        given = [name for name in ("step", "rtol", "atol", "dense") if asked[name] is not None]
        if given:
            options["given"] = ",".join(given)
        options.update(no_project=not project, filter=filter, no_deviations=not deviations)
        said = []
        rows, summary, error = self.system.simulate(
            options, callback(progress, "progress"), (lambda now: control(Instant(now))) if callback(control, "control") else None, said.append)
        result = Result(self, rows, summary) if rows is not None else None
        if error is not None:
            raise with_result(error, result)
        for words in said if warn else ():
            warnings.warn(words, stacklevel=2)
        return result

    def open(self, **options):
        """A Run that is moved step by step: method, step, rtol, atol, dense, project, as of simulate().

        end: the last time that it is known to have [s], by which switches that cross again and again rest.

        >>> s = m.open(method="rk4", step=0.001)
        >>> s.u["steer_torque"] = 1; s.step(0.01); s["roll"]
        """
        return Run(self, options)

    def batch(self, n, set=None, *, threads=None, **options):
        """n runs side by side, by rk4 or lie: a Batch.

        set: parameters, inputs or numbers of the start, one for all or one for each run. threads: None for
        as many as pay. Options: method, step, project, on, single.
        """
        return Batch(self, n, set, threads, options)

    def sweep(self, vary=None, keep=None, *, table=None, samples=None, seed=None, stop=None, record=None,
              do="simulate", free=None, hold=None, by=None, end=None, every=None, method=None, step=None,
              rtol=None, atol=None, most_steps=None, threads=None, on=None, output=None, shard=None,
              progress=None):
        """Many runs in which parameters, inputs and numbers of the start vary: a Sweep.

        vary              {"m0": [60, 80, 100], "speed0": "4:6:0.5", "l": "uniform(1, 1.1)", "initial.roll":
                          "normal(0, 0.05)"}: numbers and ranges form a grid; what is drawn is a Latin
                          hypercube of `samples` (else 100) in each of its cells, decided by `seed`
        table             instead a .csv file, or a dict of columns: a run for each row
        keep              formulas of columns, reduced over the rows of a run by final, max, min, mean, rms,
                          time or at: "lean=max(abs(roll)), final(speed)", or a dict
        stop              "abs(roll) > 1" ends a run at the first row where it holds
        record            all rows of every so-many-th run are kept: w.recorded
        do                "simulate"; or "steady", "linearise", "settle", with free, hold and by
        end, every, ...   how runs go on, as of simulate(); by rk4 and lie many go side by side
        threads           None: one for each processor
        on                "gpu": steps of rk4 and lie are made on GPUs; w.summary["on"] tells where they were
        output            a .db file (SQLite), with which the same call goes on where it was interrupted;
                          or a .csv file
        shard             (3, 16): only the third of sixteen parts
        progress          progress(done, failed, all) is called now and then, and stops it by False

        Numbers are the same, to the bit, with any number of threads and on GPUs, and those of `trundle sweep`. A run that
        fails is told in w.failures. Ctrl-C ends it: the KeyboardInterrupt's .result has what was done.
        """
        return sweep.sweep(self, vary, table, keep, hold, shard, progress, output, samples=samples, seed=seed,
                           stop=stop, record=record, do=do, free=listed(free), by=by, end=end, every=every,
                           method=method, step=step, rtol=rtol, atol=atol, most_steps=most_steps, threads=threads,
                           on=on)

    # ---- studies (study.py) ----------------------------------------------------------------

    def linearise(self, *, step=None, reduce=False, closed=False):
        """The motion beside the initial one to first order: .A .B .C .D .states .eigenvalues ...

        step: of the model from one instant to the next; closed: with the model's controllers.
        reduce: without displacements that change nothing.
        """
        return study.Linear(self, step, reduce, closed)

    def locus(self, name, start, stop, step, *, trim=False, free=None, hold=None):
        """Eigenvalues against a parameter or an input: .values .eigenvalues .modes .critical

        trim, free, hold: beside the steady motion at each value, as of steady().
        """
        return study.Locus(self, name, start, stop, step, trim, free, hold)

    def steady(self, *, free=None, hold=None, trim=False, sweep=None):
        """A steady motion near the initial state, or with `sweep`, "roll=0.01:0.5:0.01", a family."""
        options = {"free": listed(free), "hold": equations(hold), "trim": trim}
        if sweep is not None:
            return study.Family(self, {**options, "sweep": sweep})
        return study.Steady(self, options)

    def lqr(self, inputs, *, q=None, r=None, step=None):
        """The feedback u = -K x that keeps small motions least: .K .states .inputs .after ...

        q, r: weights of states and inputs, {"steer": 10} or "steer=10". step: a controller in steps.
        """
        return study.Lqr(self, inputs, q, r, step)

    def settle(self, hold=None, *, by=None, gap=None, weights=None):
        """A pose on the ground without dynamics, with what is held: {"rover.x": 0.3}."""
        return study.settle(self, hold, by, gap, weights)

    def settler(self, hold=(), *, by=None, gap=None, weights=None):
        """Many poses: compiled once, for values of what is held: s.poses(array)."""
        return study.Settler(self, hold, by, gap, weights)

    def fit(self, data, free, **options):
        """Parameters, inputs and numbers of the start, from recordings: a Fit.

        data: .csv files, Results, or dicts of columns. free: "R,b". Options: columns, match
        ({"gps_x": "body.x + 0.1"}), sd ({"gps_x": 0.02}), prior ({"track": (0.3, 0.01)}), time, from_,
        to, method, step, rtol, atol, most_steps, most_iterations, progress.
        """
        return study.Fit(self, data, free, options)

    def inertias(self, logs, bodies="*", *, prior_weight=0):
        """Masses and moments of bodies, from recorded motions and torques."""
        return study.Inertias(self, logs, bodies, prior_weight)

    def function(self, outputs, by=None, *, fix_parameters=False):
        """Outputs of the equations, "M c" or "vdot", as functions of all inputs; m.outputs has them.

        by: instead their derivatives, by inputs "roll m0", or by all positions, velocities, inputs or
        parameters: q v u p. Models with constraints are reduced at their initial state.
        """
        return study.Function(self, outputs, by, fix_parameters)

    # ---- how it shows itself ---------------------------------------------------------------

    def __repr__(self):
        case = f", case {self.case!r}" if self.case else ""
        set_ = f", {self.settings}" if self.settings else ""
        return f"<trundle model {self.name!r}{case}{set_}>"

    def _repr_html_(self):
        """In a notebook: what the doctor says, and the equations."""
        try:
            words, page = self.check(), self._page_equations()
        except Exception as error:
            words, page = str(error), ""
        # without the head of that page, whose styles would be the notebook's
        body = re.search("<body>(.*)</body>", page, re.DOTALL)
        inner = body[1] if body else html.escape(page)
        return (f"<h3>{html.escape(self.name)}</h3><pre>{html.escape(words)}</pre><details>"
                f"<summary>Equations</summary><div style='overflow-x:auto'>{inner}</div></details>")

    def __copy__(self):
        return self.variant()

    def __deepcopy__(self, memo):
        return self.variant()

    def __reduce__(self):
        return _restore, (type(self), self.expand(), self.path, self.case, self.settings, self._how,
                          self._with)


def _restore(kind, text, path, case, settings, how, with_):
    model = kind(_trundle.Source(path, text), case=case, set=settings, **how)
    model.path, model._with = path, with_
    return model


def _as_list(what):
    """A list of one, of several or, from None, of nothing."""
    return [] if what is None else list(what) if isinstance(what, (list, tuple)) else [what]


def _fragment(one):
    """(name, text) of keys of a case: a file, or what lqr(), steady() and fit() found."""
    if hasattr(one, "fragment"):
        return f"{type(one).__name__.lower()}.yaml", one.fragment
    return os.fspath(one), None


def load(path, case=None, set=None, **options):
    """A model file: a LoadedModel.

    case: one of the model's cases, else the first. set: parameters and inputs that are to be
    otherwise, numbers or formulas, {"speed0": 5, "m0": "80 + 5"}. Options: controls (joints whose
    torques become inputs), with_ (files with keys of a case, or what lqr(), steady() and fit()
    found), outputs ({"name": "formula"}), allowed (folders that the model may read), order, inertias,
    digits, evaluate.
    """
    options_known(options, OPTIONS, "load()")
    model = LoadedModel(_trundle.Source(os.fspath(path)), case=case, set=set, **options)
    model.path = os.fspath(path)
    model.system  # so that what is wrong is told here
    return model


def parse(text, case=None, set=None, **options):
    """As load(), of the text of a model file."""
    if not isinstance(text, str):
        raise TypeError(f"the text of a model file was expected, not {type(text).__name__}")
    options_known(options, OPTIONS, "parse()")
    model = LoadedModel(_trundle.Source(None, text), case=case, set=set, **options)
    model.system
    return model


Model = LoadedModel
