#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The Python module, quickly: what it gives is what the program writes, to the bit.

    tests/python_test.py TRUNDLE ROOT       with PYTHONPATH where the built package is
"""

import contextlib
import copy
import csv
import gc
import importlib
import io
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
import weakref

import trundle

TRUNDLE, ROOT = sys.argv[1:3]
PENDULUM = """trundle: 1
parameters: {l: {value: 0.5, min: 0.1, unit: m, doc: length}, m: 1}
inputs: {push: {value: 0, unit: N m}}
bodies:
  rod:
    joint: {type: revolute, axis: "0, 1, 0", coordinate: a}
    mass: m
    com: 0, 0, -l
roles: {a: {torque: push}}
initial: {a: 2}
"""


def model_path(name):
    return os.path.join(ROOT, "models", name + ".yaml")


def bicycle(**options):
    return trundle.load(model_path("bicycle"), case="turn", **options)


def is_there(package):
    try:
        importlib.import_module(package)
    except ImportError:
        return False
    return True


numpy = importlib.import_module("numpy") if is_there("numpy") else None


def plain(numbers):
    return memoryview(numbers).tolist()


class Models(unittest.TestCase):
    def test_what_there_is(self):
        m = bicycle(set={"speed0": 5})
        self.assertEqual(m.parameters["m0"], 85)
        self.assertEqual((m.parameters["m0"].unit, m.parameters["m0"].max), ("kg", 250))
        self.assertEqual(m.parameters["speed0"], 5)
        self.assertEqual(m.parameters["m0"].doc, "frame and rider")
        self.assertIn("steer_torque", m.inputs)
        self.assertEqual(m.columns[0], "t")
        self.assertEqual(m.units["t"], "s")
        uncertain = trundle.load(model_path("robot_satellite"))
        r, s = uncertain.simulate(end=0.1), uncertain.open()
        self.assertEqual(uncertain.columns, r.columns)
        self.assertEqual(uncertain.units, r.units)
        self.assertTrue("sd(" in r.columns[-2] or "cov(" in r.columns[-1])
        self.assertEqual(s.columns, uncertain.columns[:len(s.columns)])
        self.assertEqual(len(s.columns), len(plain(s.row)))
        self.assertIn("3 degrees of freedom", m.check())
        self.assertEqual(m.counts()["bodies"], 4)
        self.assertEqual(m.outputs["vdot"], (9, 1))
        self.assertEqual(m.initial["frame.x"], 0)
        self.assertIn("bicycle", repr(m))
        shown = m._repr_html_()
        self.assertIn("<pre>", shown)
        self.assertIn("<math", shown)
        for word in "<html", "<head", "<style", "<body", "<title":  # would be the notebook's, too
            self.assertNotIn(word, shown)

    def test_variants(self):
        m = trundle.parse(PENDULUM)
        n = m.variant(set={"l": "0.3 + 0.1"})
        self.assertEqual((m.parameters["l"], n.parameters["l"]), (0.5, 0.4))
        self.assertNotEqual(plain(m.simulate(end=1)["a"]), plain(n.simulate(end=1)["a"]))

    def test_schema(self):
        self.assertIn("properties", trundle.schema())

    def test_copies(self):
        m = bicycle(set={"speed0": 5})
        want = plain(m.simulate(end=0.2, warn=False)["roll"])
        for other in copy.copy(m), copy.deepcopy(m), pickle.loads(pickle.dumps(m)):
            self.assertEqual(plain(other.simulate(end=0.2, warn=False)["roll"]), want)

    def test_pickled_without_arrays(self):
        """What studies find, where numbers are memoryviews, too."""
        m = trundle.parse(PENDULUM)
        for found in m.linearise(), m.lqr("push"), m.locus("l", 0.4, 0.6, 0.1), m.sweep("l=0.4:0.5:0.1", end=0.1):
            for other in pickle.loads(pickle.dumps(found)), copy.deepcopy(found):
                self.assertEqual((type(other), other.text), (type(found), found.text))
                for name in ("A", "values", "array"):
                    if hasattr(found, name):
                        self.assertEqual(plain(getattr(other, name)), plain(getattr(found, name)))

    def test_pickled_beside_its_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "f.csv"), "w", encoding="utf-8") as file:
                file.write("a,b\n0,1\n1,3\n")
            with open(os.path.join(folder, "m.yaml"), "w", encoding="utf-8") as file:
                file.write("trundle: 1\ntables: {f: {file: f.csv, x: a, value: b}}\n"
                           "parameters: {k: f(0.5)}\nbodies: {a: {mass: 1}}\n")
            m = trundle.load(os.path.join(folder, "m.yaml"))
            self.assertEqual(pickle.loads(pickle.dumps(m)).parameters["k"], 2)

    def test_tables_from_elsewhere(self):
        """Tables are sought where the model was when it was read; where that is gone it is told."""
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            try:
                os.chdir(folder)
                os.mkdir("old")
                with open("old/f.csv", "w", encoding="utf-8") as file:
                    file.write("a,b\n0,1\n1,3\n")
                with open("old/m.yaml", "w", encoding="utf-8") as file:
                    file.write("trundle: 1\ntables: {f: {file: f.csv, x: a, value: b}}\n"
                               "parameters: {h: 0.5, k: f(0.5)}\nbodies: {a: {mass: h}}\n")
                m = trundle.load("old/m.yaml")
                os.chdir("/")
                self.assertEqual(m.variant(set={"h": 1}).parameters["k"], 2)
                os.rename(os.path.join(folder, "old"), os.path.join(folder, "new"))
                with self.assertRaises(trundle.FileError) as caught:
                    m.variant(set={"h": 2}).parameters
            finally:
                os.chdir(here)
            where = os.path.join(folder, "old", "m.yaml")
            self.assertIn(f"cannot read 'f.csv': it stands beside the model, '{where}', whose folder cannot", str(caught.exception))


class Errors(unittest.TestCase):
    def check(self, kind, words, call, *args, **named):
        with self.assertRaises(kind) as caught:
            call(*args, **named)
        self.assertIn(words, str(caught.exception))
        return caught.exception

    def test_places(self):
        error = self.check(trundle.InvalidModel, "must be a map", trundle.parse,
                           "trundle: 1\nbodies:\n  a: {joint: foo}\n")
        self.assertEqual((error.line, error.column, error.file), (3, 14, None))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bad.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write("trundle: 1\nbodys: 2\n")
            error = self.check(trundle.InvalidModel, "unknown key 'bodys'", trundle.load, path)
            self.assertEqual((error.file, error.line), (path, 2))
            self.assertTrue(str(error).startswith(path + ":2:"))
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((str(again), again.line), (str(error), 2))

    def test_kinds(self):
        self.check(trundle.FileError, "nowhere.yaml", trundle.load, "nowhere.yaml")
        self.check(OSError, "nowhere.yaml", trundle.load, "nowhere.yaml")
        self.check(trundle.UsageError, "did you mean 'turn'", trundle.load, model_path("bicycle"),
                   case="tur")
        self.check(trundle.UsageError, "did you mean 'speed0'", bicycle, set={"sped0": 1})
        self.check(trundle.Error, "0.1", trundle.parse, PENDULUM, set={"l": 0.01})
        error = self.check(trundle.InvalidModel, "'l' is set to", trundle.parse, PENDULUM,
                           set={"m": 1, "l": "80+"})
        self.assertIsNone(error.line)
        self.check(TypeError, "set: a dict", trundle.parse, PENDULUM, set=[1])
        m = trundle.parse(PENDULUM)
        self.check(trundle.UsageError, "method 'leapfrog'", m.simulate, method="leapfrog")
        self.check(TypeError, "there is no option 'stepp'", m.open, stepp=1)
        self.check(TypeError, "step", m.open, step="x")
        self.check(KeyError, "did you mean 'a'", lambda: m.simulate(end=0.1)["aa"])
        self.check(KeyError, "did you mean 'push'", lambda: m.inputs["psh"])
        self.check(ValueError, "zero", trundle.parse, "a\0b")
        self.check(TypeError, "", trundle.load, b"bytes")
        self.check(TypeError, "", trundle.load, 3)

    def test_with(self):
        """What is wrong in a file `with_` is told with its name and its own lines."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("good.yaml", "bad.yaml")]
            for path, key in zip(paths, ("set", "sett")):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"\n{key}: {{l: 1}}\n")
            error = self.check(trundle.InvalidModel, "sett", trundle.parse, PENDULUM, with_=paths)
            self.assertEqual((error.file, error.line, error.column), (paths[1], 2, 1))

    def test_types(self):
        """Values of other types are refused with the name of what they were for, whoever makes them."""
        m = trundle.parse(PENDULUM)

        class Odd(dict):
            def items(self):
                return [["l", 1]]

        self.check(TypeError, "set: a dict of names", trundle._trundle.System, m._source, {"set": Odd(l=1)})
        self.check(ValueError, "set: l: '\\ud800' has characters", trundle.parse, PENDULUM, set={"l": "\ud800"})
        self.check(ValueError, "method: ", m.simulate, method="\udc80")
        self.check(ValueError, "characters that are no", trundle.load, "a\udc80")
        self.check(ValueError, "order: a count", trundle.parse, PENDULUM, order=-1)
        self.check(ValueError, "most_steps: a count", m.simulate, most_steps=10 ** 30)
        self.check(TypeError, "outputs: a dict", trundle.parse, PENDULUM, outputs=["a"])
        self.check(TypeError, "not NoneType", trundle.parse, None)
        self.check(TypeError, "hold", m.steady, hold=[None])
        self.check(TypeError, "match", m.fit, {"t": [0, 1], "a": [0, 1]}, "l", match=[None])
        self.check(TypeError, "a recording is", m.fit, None, "l")
        for prior in (0.1,), (0.1, 0.2, 0.3), ("a", "b"):
            self.check(trundle.UsageError, "prior: 'm' is (value, standard deviation)", m.fit, {"t": [0, 1], "a": [0, 1]}, "m",
                       prior={"m": prior})
        self.check(ValueError, "'a' has 1", m.fit, {"t": [0, 1], "a": [1]}, "l")
        self.check(trundle.UsageError, "no input or joint", m.lqr, None)
        self.check(TypeError, "dict", m.batch, 3, set=[1])
        self.check(TypeError, "integer", m.batch, "3")
        b = m.batch(2)
        for where in 1, True, 0.5, [1]:
            self.check(ValueError, "where: 2 numbers were expected", b.reset, where)
        for values in None, [None, 1], "1":
            self.check(TypeError, "", b.set, "push", values)
        self.check(TypeError, "trundle.load(FILE)", trundle.LoadedModel, model_path("bicycle"))
        self.assertEqual(trundle.parse(PENDULUM, with_=None, allowed="/tmp")._how["allowed"], ["/tmp"])
        s = m.open()
        self.check(TypeError, "a name is a text", s.set, 3, 1)
        self.check(KeyError, "did you mean 'a'", lambda: s["aa"])
        settler = trundle.load(model_path("car_on_hills")).settler(["chassis.x"])
        self.assertIsNone(settler._settle.state())
        self.check(trundle.UsageError, "each of chassis.x, not 2", settler.pose, 1, 2)

    def test_none(self):
        """None for any option that there is: as if it were not given, or it is refused."""
        m, car = trundle.parse(PENDULUM), trundle.load(model_path("car_on_hills"))
        raw, rows, data = trundle._trundle, m.simulate(end=0.1)._rows, {"t": [0, 0.1, 0.2], "a": [2, 1.9, 1.8]}
        system, source, count = m.system, m._source, 0

        def sweep(options):
            error = raw.sweep(source, {}, options, None, None, None)[1]
            if error is not None:
                raise error

        with tempfile.TemporaryDirectory() as folder:
            m.simulate(end=0.1).to_csv(os.path.join(folder, "seen.csv"))
            calls = [(lambda o: raw.System(source, o), {}), (lambda o: source.expand(o), {}),
                     (lambda o: system.equations(o), {}), (lambda o: system.explain(o), {}),
                     (lambda o: system.export(o), {"language": "c", "folder": folder, "name": "a"}),
                     (lambda o: system.simulate(o, None, None, None), {"end": 0.1}),
                     (lambda o: raw.Run(system, o), {}), (lambda o: raw.Batch(system, 2, 1, o), {}),
                     (lambda o: system.linearise(o, False), {}), (lambda o: system.linear_text(o), {}),
                     (lambda o: system.locus("l", 0.4, 0.5, 0.1, o), {}), (lambda o: system.steady(o), {}),
                     (lambda o: system.steady_sweep(o), {"sweep": "l=0.4:0.5:0.1", "output": os.path.join(folder, "f.csv")}),
                     (lambda o: system.lqr(o), {"inputs": "push"}),
                     (lambda o: raw.Settle(car.system, o), {}),
                     (lambda o: raw.fit(source, {}, o, None), {"data": [os.path.join(folder, "seen.csv")], "free": "l"}),
                     (lambda o: raw.inverse(m._system(inertias="*"), o), {"logs": [os.path.join(folder, "seen.csv")]}),
                     (lambda o: raw.Program(system, "M", None, o), {}),
                     (lambda o: rows.report(system, o), {"output": os.path.join(folder, "r.html")}),
                     (sweep, {"vary": ["l=0.4"], "end": 0.1})]
            for call, given in calls:
                there = self.check(TypeError, "there are [", call, {"nope": 1})
                for name in re.findall("'(\\w+)'", str(there).partition("there are ")[2]):
                    count += 1
                    if (name, "sweep" in given) != ("output", True):  # which would be written where this writes
                        with contextlib.suppress(TypeError, ValueError, trundle.Error):
                            call({**given, name: None})
        self.assertGreater(count, 100)
        if "FLINT" not in self.said(lambda: m.equations("M", "text")):
            self.assertEqual(m.equations(None, "text"), m.equations(language="text"))
            self.assertEqual(m.equations("M", "text", style=None), m.equations("M", "text"))
        self.assertEqual(m.explain(language=None), m.explain())

    def said(self, call):
        """What it says, also where that is what is wrong."""
        try:
            return str(call())
        except trundle.Error as error:
            return str(error)

    def test_words(self):
        """What is wrong is told by its name, and every name that is not there is trundle's error, too."""
        m = trundle.parse(PENDULUM)
        self.check(TypeError, "case: a text was expected, not 3", trundle.parse, PENDULUM, case=3)
        self.check(TypeError, "l: a number or a formula was expected, not None", trundle.parse, PENDULUM, set={"l": None})
        self.check(ValueError, "l: a setting is not finite", trundle.parse, PENDULUM, set={"l": float("nan")})
        for call in (lambda: m.simulate(sensitivity=3), lambda: m.equations(3), lambda: m.lqr(3), lambda: m.variant(controls=3)):
            self.check(TypeError, "names were expected", call)
        for call in (lambda: m.simulate(progress=3), lambda: m.sweep("l=1", progress=3)):
            self.check(TypeError, "progress: a function", call)
        self.check(trundle.UsageError, "'a' is to be a number", m.steady, hold={"a": float("inf")})
        self.check(trundle.UsageError, "'nope'", m.equations, "M", style="nope")
        for call in (m.variant, trundle.Model("x").load, lambda **given: trundle.parse(PENDULUM, **given)):
            self.check(TypeError, "no option 'cas': did you mean 'case'?", call, cas="turn")
        self.check(TypeError, "control: a function", m.simulate, control=3)
        for call in (m.linearise, lambda step: m.lqr("push", step=step)):
            self.check(trundle.UsageError, "'step' is to be above 0, not 0", call, step=0)
            self.check(TypeError, "step: a number", call, step="x")
        error = self.check(trundle.UsageError, "unknown name 'b'", m.steady, hold={"b": 1})
        self.assertTrue(str(error).startswith("hold"), str(error))  # not as the command line has it
        self.check(trundle.Failed, "may not take more: most_steps sets", m.simulate, end=9, most_steps=3)
        table = "trundle: 1\ntables: {f: {file: %s, x: a, value: b}}\nbodies: {a: {mass: 1}}\n"
        self.check(trundle.InvalidModel, "folder of the model: allowed DIR", trundle.parse, table % "/etc/passwd")
        self.check(trundle.InvalidModel, "Model(): the model has no bodies", trundle.Model("x").load)
        error = self.check(trundle.InvalidModel, "does not come after", m.fit, {"t": [1, 0], "a": [0, 0]}, "l")
        self.assertTrue(str(error).startswith("recording0.csv:3: "), str(error))
        s, r, b = m.open(), m.simulate(end=0.1), m.batch(2)
        for call in (lambda: s["a", "t"], lambda: s[3], lambda: r["aa"], lambda: b["aa"], lambda: b.read([3]),
                     lambda: m.parameters["ll"], lambda: s.u.update(l=1), lambda: b.u["push"]):
            self.assertIsInstance(self.check(trundle.UsageError, "", call), KeyError)
        self.assertEqual([plain(one) for one in b["a", "t"]], [plain(b["a"]), plain(b["t"])])
        self.assertEqual(m.batch(2, threads=1000).threads, 2)

    def test_run_that_fails(self):
        m = trundle.load(model_path("parallelogram"), case="over")
        with self.assertRaises(trundle.Failed) as caught:
            m.simulate(end=5, warn=False)
        self.assertIn("change their rank", str(caught.exception))
        self.assertGreater(len(caught.exception.result), 1)
        s = m.open(method="erk")
        self.check(trundle.Failed, "rank", s.advance, 5)
        self.assertIsInstance(s.failure, trundle.Failed)
        self.check(trundle.Failed, "rank", lambda: s["t"])
        s.reset()
        self.assertIsNone(s.failure)
        m = trundle.parse(PENDULUM.replace("torque: push", "torque: push + sqrt(0.5 - t)"))
        s, b = m.open(method="rk4"), m.batch(3)
        error = self.check(trundle.Failed, "no longer finite", s.advance, 1)
        b.advance(1)
        for why in error, s.failure, b.failures[2]:  # with its place in the model
            self.assertEqual((str(why), why.line, why.column), (str(error), 9, 21))


class Results(unittest.TestCase):
    def test_bits_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.csv")
            subprocess.run([TRUNDLE, "simulate", model_path("bicycle"), "--case", "turn", "--end",
                            "1", "-o", path, "-q"], check=True,
                           env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file))
            r = bicycle().simulate(end=1, warn=False)
            r.to_csv(os.path.join(folder, "own.csv"))
            with open(os.path.join(folder, "own.csv"), newline="", encoding="utf-8") as file:
                own = list(csv.reader(file))
        self.assertEqual(list(r.columns), rows[0])
        self.assertEqual(own[0], rows[0])
        for name, column in zip(rows[0], zip(*rows[1:])):
            self.assertEqual(plain(r[name]), [float(x) for x in column], name)
        self.assertEqual([[float(x) for x in row] for row in own[1:]],
                         [[float(x) for x in row] for row in rows[1:]])

    def test_how_it_went(self):
        r = bicycle().simulate(end=0.5, warn=False)
        self.assertEqual(len(r), 6)
        self.assertEqual(r.summary["rows"], 6)
        self.assertLess(r.summary["energy_error"], 1e-10)
        self.assertEqual(r.certificate["case"], "turn")
        self.assertEqual(plain(r.t)[-1], 0.5)
        self.assertEqual(r.units["t"], "s")
        self.assertEqual(plain(r["roll", "t"][1]), plain(r.t))
        self.assertIn("roll", r)
        self.assertEqual(list(dict(r)), list(r.columns))
        again = pickle.loads(pickle.dumps(r))
        self.assertEqual(plain(again.array), plain(r.array))
        self.assertEqual(again.certificate, r.certificate)

    def test_report(self):
        r = trundle.parse(PENDULUM).simulate(end=0.5)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.html")
            try:
                r.report(path)
            except trundle.Error as error:
                self.skipTest(str(error))
            with open(path, encoding="utf-8") as file:
                self.assertIn("<html", file.read())
        self.assertTrue(r._repr_html_().startswith("<iframe srcdoc="))

    def test_warnings(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            bicycle(set={"speed0": 5}).simulate(end=1)
        self.assertIn("would lift off", str(caught[0].message))

    def test_control(self):
        m = trundle.parse(PENDULUM)
        seen = []

        def hold(now):
            seen.append(now.t)
            now.u["push"] = -5 * now["a"] - now["a'"] if "a'" in now.columns else -5 * now["a"]
            return None

        r = m.simulate(end=1, control=hold, sample=0.25)
        self.assertEqual(seen, [0, 0.25, 0.5, 0.75, 1])
        self.assertNotEqual(plain(r["a"]), plain(m.simulate(end=1)["a"]))
        r = m.simulate(end=1, control=lambda now: now.t < 0.5, sample=0.25)
        self.assertTrue(r.summary["interrupted"])
        with self.assertRaises(ZeroDivisionError):
            m.simulate(end=1, control=lambda now: 1 / 0)
        with self.assertRaises(KeyError):
            m.simulate(end=1, control=lambda now: now["b"])
        with self.assertRaises(KeyError):
            m.simulate(end=1, control=lambda now: now.u.update(pull=1))
        kept = []
        m.simulate(end=1, control=lambda now: kept.append(now))
        with self.assertRaises(RuntimeError):
            kept[0]["a"]

    def test_instant_that_ends_while_it_is_set(self):
        """Numbers may be anything that has one: what makes it lets other threads go on, until the run is over."""
        m, over, threads, said = trundle.parse(PENDULUM), threading.Event(), [], []

        class Slow:
            def __float__(self):
                over.wait(30)
                return 3.0

        class Name:
            def __repr__(self):
                over.wait(30)
                return "name"

        def late(call, *args):
            try:
                call(*args)
            except (RuntimeError, TypeError) as error:
                said.append(str(error))

        def control(now):
            if not threads:
                now = now._now
                threads.extend(threading.Thread(target=late, args=args) for args in
                               ((now.set, "push", Slow()), (now.set, Name(), 1), (now.get, Name()), (now.__getitem__, Name())))
                for thread in threads:
                    thread.start()

        m.simulate(end=0.2, control=control)
        over.set()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(said), 3 * ["a name is a text, and name is none"] + ["this instant is over"])

    def test_what_is_raised(self):
        """It is raised, whether its class has room for the rows or not."""
        class Closed(Exception):
            __slots__ = ()
            result = property(lambda self: 1)

        def fail(*at):
            raise Closed("mine")

        m = trundle.parse(PENDULUM)
        for call in (lambda: m.simulate(end=1, control=fail),
                     lambda: m.sweep("l~uniform(0.4, 0.6)", samples=10 ** 5, end=10, method="rk4", step=1e-3, progress=fail)):
            with self.assertRaisesRegex(Closed, "mine"):
                call()


class Runs(unittest.TestCase):
    def test_same_bits(self):
        """Step by step as at once, whatever end is known: jumps in t are there at the same times."""
        m = trundle.load(model_path("rover_four_steer"), case="bumps")
        r = m.simulate(end=0.6, every=0.1)
        for options in {}, {"end": 6}, {"end": 123}:
            s = m.open(**options)
            for t, x, swing in zip(plain(r.t), plain(r["rover.x"]), plain(r["swing"])):
                s.advance(t)
                self.assertEqual((s["rover.x"], s["swing"]), (x, swing), options)
        m = trundle.load(model_path("robot_satellite"))
        s = m.open()
        s.advance(0.5)
        self.assertEqual(m.simulate(end=0.5, every=0.5, deviations=False)["body.x"][-1], s["body.x"])

    def test_steps(self):
        m = bicycle()
        s = m.open(method="rk4", step=0.001)
        s.u["steer_torque"] = 1
        self.assertEqual(s.u["steer_torque"], 1)
        for _ in range(100):
            s.step(0.01)
        other = m.open(method="rk4", step=0.001)
        other.set("steer_torque", 1)
        other.advance(1)
        self.assertEqual(s.t, 1)
        self.assertEqual(plain(s.row), plain(other.row))
        self.assertEqual(s["roll"], plain(s.row)[m.columns.index("roll")])

    def test_snapshots(self):
        s = bicycle().open(method="rk4", step=0.001)
        s.step(0.5)
        k, row = s.save(), plain(s.row)
        copies = [copy.copy(s), pickle.loads(pickle.dumps(s))]
        s.step(0.25)
        end = plain(s.row)
        for other in copies:
            self.assertEqual(plain(other.row), row)
            other.step(0.25)
            self.assertEqual(plain(other.row), end)
        s.restore(k)
        self.assertEqual(plain(s.row), row)
        altered = bytearray(k)
        altered[len(k) // 2] ^= 1
        for bad in k[:10], b"", bytes(altered), k[:-1]:
            with self.assertRaises(trundle.UsageError):
                s.restore(bad)
        with self.assertRaises(trundle.UsageError):
            trundle.parse(PENDULUM).open(method="rk4").restore(k)

    def test_setting(self):
        s = trundle.parse(PENDULUM).open()
        s.set("l", 1.0)
        self.assertEqual(s.get("l"), 1)
        s.set("initial.a", 1)
        s.reset()
        self.assertEqual(s["a"], 1)
        with self.assertRaises(trundle.UsageError) as caught:
            s.set("ll", 1)
        self.assertIn("did you mean 'l'", str(caught.exception))
        with self.assertRaises(trundle.UsageError):
            s.u["pusch"] = 1
        with self.assertRaises(KeyError):
            s["b"]
        with self.assertRaises(trundle.UsageError):
            s.advance(-1)

    def test_options(self):
        """None is what is not given, and project=False what the library has as no_project."""
        m = trundle.parse(PENDULUM)
        none = dict.fromkeys(("method", "step", "rtol", "atol", "dense", "project", "no_project", "end"))
        self.assertEqual((m.open(**none).options, m.batch(2, on=None, single=None, **none).options), ({}, {}))
        self.assertEqual(m.open(project=False, end=3).options, {"no_project": True, "end": 3})
        self.assertEqual(m.batch(2, project=True).options, {"no_project": False})
        with self.assertRaisesRegex(TypeError, "did you mean 'project'"):
            m.open(projec=False)

    def test_names_with_zeros(self):
        s, seen = trundle.parse(PENDULUM).open(), []
        for call in (lambda: s.set("push\0x", 7), lambda: s.get("push\0"), lambda: s.model.batch(1).set("push\0x", 7)):
            with self.assertRaises(ValueError):
                call()
        self.assertEqual(s.get("push"), 0)

        def control(now):
            for call in (lambda: now._now.set("push\0x", 7), lambda: now._now.get("push\0x"), lambda: now["a\0x"]):
                try:
                    call()
                except ValueError:
                    seen.append(1)

        s.model.simulate(end=0.1, every=0.1, control=control)
        self.assertEqual(len(seen), 6)

    def test_no_cycles(self):
        """What nobody has any more is gone, without the collector of cycles."""
        m, gone = trundle.parse(PENDULUM), []
        gc.disable()
        try:
            s, b = m.open(), m.batch(3)
            s.u["push"], b.u["push"] = 1, 2
            s.step(0.1), b.step(0.1)
            m.simulate(end=0.1, control=lambda now: gone.append(weakref.ref(now._now)) if hasattr(now._now, "__weakref__") else None)
            gone += [weakref.ref(s), weakref.ref(b)]
            del s, b
            self.assertEqual([one() for one in gone], [None] * len(gone))
        finally:
            gc.enable()

    def test_threads(self):
        """Runs of one model in several threads, and one run in several."""
        m = bicycle()
        alone = m.open(method="rk4", step=0.001)
        alone.advance(0.3)
        want, got = plain(alone.row), []

        def go():
            s = m.open(method="rk4", step=0.001)
            s.advance(0.3)
            got.append(plain(s.row))

        shared = m.open(method="rk4", step=0.001)

        def go_together():
            for _ in range(100):
                shared.step(0.001)
                shared["roll"]

        threads = [threading.Thread(target=f) for f in (go, go, go, go_together, go_together,
                                                        go_together)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(got, [want] * 3)
        self.assertAlmostEqual(shared.t, 0.3, 12)
        self.assertEqual(plain(shared.row), want)


class Batches(unittest.TestCase):
    def test_bits_of_runs(self):
        m = bicycle()
        speeds = [4 + 0.1 * i for i in range(30)]
        b = m.batch(30, set={"speed0": speeds}, step=0.002, threads=3)
        b.u["steer_torque"] = [0.01 * i for i in range(30)]
        b.advance(0.3)
        got = plain(b.read())
        for i in (0, 11, 29):
            s = m.open(method="rk4", step=0.002)
            s.set("speed0", speeds[i])
            s.reset()
            s.u["steer_torque"] = 0.01 * i
            s.advance(0.3)
            self.assertEqual(got[i], plain(s.row))
        self.assertEqual(plain(b["roll"]), [row[m.columns.index("roll")] for row in got])
        b.reset([i == 3 for i in range(30)])
        self.assertEqual(plain(b["t"])[2:4], [0.3, 0])
        b.step(0.1)
        self.assertEqual(plain(b.t)[2:4], [0.4, 0.1])
        self.assertEqual(plain(b["t"])[2:4], [0.4, 0.1])
        b.advance([0.5] * 30)
        self.assertEqual(plain(b.t), [0.5] * 30)
        self.assertEqual(b.failures, {})

    def test_setting(self):
        """As of runs of their own; what is wrong is told with its run, and nothing is set then, in any part."""
        m = trundle.parse(PENDULUM.replace("value: 0,", "value: 0, min: -9, max: 9,"))
        b, where = m.batch(40, step=0.01, threads=4), [i % 3 == 0 for i in range(40)]
        pushes = [0.1 * i - 2 for i in range(40)]
        b.set("push", pushes, where)
        for wrong, words in ((float("nan"), "not finite"), (11, "push"), (-11, "push")):
            for i in (2, 37):
                with self.assertRaisesRegex(trundle.UsageError if wrong != wrong else trundle.Error, f"run {i}: .*{words}"):
                    b.set("push", [wrong if k == i else 5 for k in range(40)])
        with self.assertRaisesRegex(trundle.UsageError, "^there is no input or parameter 'pusch'; did you mean 'push'"):
            b.set("pusch", 1)
        b.set("push", [11] * 40, [0] * 40)
        b.step(0.1)
        with self.assertRaisesRegex(trundle.UsageError, "^run 35 at t = 0.1 cannot"):
            b.advance([0.05 if i == 35 else 1 for i in range(40)])
        for i in (0, 3, 4, 39):
            s = m.open(method="rk4", step=0.01)
            s.u["push"] = pushes[i] if where[i] else 0
            s.step(0.1)
            self.assertEqual(plain(b.read())[i], plain(s.row))
        self.assertEqual(m.batch(300, threads=300).threads, 256)

    def test_times_of_failed_runs(self):
        """They are where they failed until they begin anew."""
        m = trundle.parse(PENDULUM.replace("torque: push", "torque: push + sqrt(m - t)").replace("m: 1", "m: {value: 1, min: 0}"))
        b, s = m.batch(3, set={"m": [0.25, 5, 0.25]}, step=0.01, threads=2), m.open(method="rk4", step=0.01)
        s.set("m", 0.25)
        s.reset()
        with self.assertRaises(trundle.Failed):
            s.advance(1)
        for t in (1, 1.5):
            b.advance(t)
            self.assertEqual((plain(b.t), sorted(b.failures)), ([s.t, t, s.t], [0, 2]))
        self.assertTrue(0.2 < s.t < 0.3)
        b.set("push", 1)
        b.step(0.5)
        self.assertEqual(plain(b.t), [s.t, 2, s.t])
        b.reset([1, 0, 0])
        b.step(0.125)
        self.assertEqual(plain(b.t), [0.125, 2.125, s.t])

    def test_batch_on_gpu(self):
        """Where there is a GPU, and where there is none: words, and the numbers of the CPU."""
        m = trundle.parse(PENDULUM)
        alone, there = m.batch(300, step=0.01), m.batch(300, step=0.01, on="gpu")
        single = m.batch(300, step=0.01, on="gpu", single=True)
        for b in alone, there, single:
            b.step(0.5)
        self.assertEqual((alone.on, there.threads), ("the CPU", 1))
        self.assertTrue(there.on.startswith("the CPU: ") or "CPU" not in there.on, there.on)
        self.assertEqual(list(alone["a"]), list(there["a"]))
        self.assertLess(max(abs(x - y) for x, y in zip(alone["a"], single["a"])), 1e-5)
        with self.assertRaisesRegex(trundle.UsageError, "only GPUs make steps in single precision"):
            m.batch(2, single=True)
        with self.assertRaisesRegex(trundle.UsageError, "on 'cpu' or 'gpu', not on 'tpu'"):
            m.batch(2, on="tpu")

    def test_refusals(self):
        b = trundle.parse(PENDULUM).batch(3)
        for bad in (lambda: b.set("push", [1, 2]), lambda: b.reset([1]), lambda: b.read(["b"]),
                    lambda: trundle.parse(PENDULUM).batch(0),
                    lambda: trundle.parse(PENDULUM).batch(3, method="bdf"),
                    lambda: b.set("pusch", 1), lambda: b.advance(-1)):
            with self.assertRaises((ValueError, KeyError)):
                bad()

    @unittest.skipUnless(numpy, "there is no NumPy")
    def test_arrays(self):
        m = trundle.parse(PENDULUM)
        b = m.batch(8)
        out = numpy.empty((8, 2))
        b.set("push", numpy.arange(8, dtype=numpy.float32))
        b.step(0.1)
        self.assertIs(b.read(["a", "t"], out=out), out)
        self.assertTrue((out[:, 0] == b["a"]).all() and (out[:, 1] == 0.1).all())
        with self.assertRaises(ValueError):
            b.read(["a"], out=out)
        r = m.simulate(end=1)
        odd = numpy.frombuffer(bytearray(8 * 16 + 1), offset=1, dtype=float)  # beside words
        b.set("push", odd[:8])
        with self.assertRaisesRegex(ValueError, "middle of a word"):
            b.read(["a", "t"], out=odd)
        for kind, values in ((TypeError, numpy.array([1 + 1j] * 8)), (TypeError, "1"), (TypeError, [None] * 8),
                             (ValueError, numpy.zeros((2, 4))), (ValueError, numpy.zeros((1, 8)))):
            with self.assertRaises(kind):
                b.set("push", values)
        b.set("push", numpy.arange(16)[::2])
        b.set("push", numpy.zeros((8, 1), dtype=bool))
        for wrong in out.T, numpy.broadcast_to(0.0, (8, 2)):
            with self.assertRaisesRegex(ValueError, "out: an array that can be written"):
                b.read(["a", "t"], out=wrong)
        for wrong in numpy.empty((2, 8)), out.T, numpy.empty((8, 4))[:, ::2], numpy.empty((8, 2), numpy.float32):
            with self.assertRaises(ValueError):
                b.read(["a", "t"], out=wrong)
        f = m.function("vdot")
        with self.assertRaises(ValueError):
            f.many(numpy.zeros((len(f.inputs), 2)))
        f.many(numpy.frombuffer(bytearray(8 * len(f.inputs) + 1), offset=1, dtype=float))
        r = m.simulate(end=1, most_steps=numpy.int64(100000))
        self.assertIsInstance(r["a"], numpy.ndarray)
        self.assertFalse(r["a"].flags.owndata)  # uncopied
        self.assertEqual(r.array.shape, (len(r), len(r.columns)))


    def test_snapshots(self):
        """Of runs of a batch and of runs of their own: each goes on as the other, in copies and elsewhere, too."""
        m = trundle.parse(PENDULUM)
        b, s = m.batch(5, set={"initial.a": [0.1, 0.2, 0.3, 0.4, 0.5]}, step=0.01), m.open(method="rk4", step=0.01)
        b.u["push"] = [0, 1, 0, 2, 0]
        b.step(0.013)
        k = b.save()
        self.assertEqual([type(one) for one in k], 5 * [bytes])
        others = [copy.copy(b), copy.deepcopy(b), pickle.loads(pickle.dumps(b))]
        for _ in range(3):
            b.step(0.013)
        want, times = plain(b.read()), plain(b.t)
        for other in others:
            self.assertEqual((len(other), other.threads), (5, b.threads))
            for _ in range(3):
                other.step(0.013)
            self.assertEqual((plain(other.read()), plain(other.t)), (want, times))
        b.restore(k)
        self.assertEqual(plain(b.t), 5 * [0.013])
        for i in range(5):
            s.restore(k[i])
            for _ in range(3):
                s.step(0.013)
            self.assertEqual(plain(s.row), want[i])
        b.restore(s.save())
        self.assertEqual(plain(b.read()), 5 * [want[4]])
        b.restore(k[1], [0, 0, 1, 0, 1])
        self.assertEqual([round(t, 3) for t in plain(b.t)], [0.052, 0.052, 0.013, 0.052, 0.013])
        self.assertEqual(plain(b["a"])[2], plain(b["a"])[4])

    def test_threads(self):
        """A batch, a function and a model that threads share: each call is whole, whatever others do meanwhile."""
        m = trundle.parse(PENDULUM)
        b, f, wrong = m.batch(130, step=0.01, threads=2), m.function("M"), []
        start, want = b.save(), plain(f(l=2))
        before = plain(b.read())
        b.step(0.01)
        later, after = b.save(), plain(b.read())
        self.assertNotEqual(before, after)

        def work(k):
            try:
                for i in range(40):
                    (lambda: b.restore(start), lambda: b.restore(later[0]), lambda: b.reset())[(i + k) % 3]()
                    wrong.extend([] if plain(b.read()) in (before, after) else ["a read in between"])
                    wrong.extend(plain(f(l=2))[0] if plain(f(l=2)) != want else [])
                    m.variant(set={"l": 0.3 + 0.01 * k}).open().step(0.1)
            except Exception as error:
                wrong.append(error)

        was = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(was)
        self.assertEqual(wrong, [])

    def test_snapshots_refused(self):
        m = trundle.parse(PENDULUM)
        b = m.batch(3, step=0.01)
        k = b.save()
        altered = bytearray(k[1])
        altered[100] ^= 1
        for words, kind, what in (("or it was altered", trundle.UsageError, [k[0], altered, k[2]]), ("or 3", ValueError, k[:2]),
                                  ("", TypeError, None), ("", TypeError, [k[0], k[1], 3]), ("altered", trundle.UsageError, b"snap"),
                                  ("another plan", trundle.UsageError, bicycle().open(method="rk4").save()),
                                  ("a run with erk, not rk4", trundle.UsageError, m.open(method="erk").save())):
            with self.subTest(words), self.assertRaises(kind) as caught:
                b.restore(what)
            self.assertIn(words, str(caught.exception))
        with self.assertRaisesRegex(ValueError, "where: 3 numbers"):
            b.restore(k, [1])
        m = trundle.load(model_path("parallelogram"), case="over")
        b = m.batch(2, step=0.01)
        k = b.save()
        b.advance([5, 0.1])
        if b.failures:
            with self.assertRaisesRegex(trundle.UsageError, "run 0 cannot go on, and has nothing to save"):
                b.save()
            b.restore(k)
        self.assertEqual((b.failures, plain(b.t)), ({}, [0, 0]))


class Sweeps(unittest.TestCase):
    HOW = dict(vary={"m0": [70, 85, 100], "speed0": "uniform(4, 6)"}, samples=5, seed=7, end=1, method="rk4", step=0.005,
               keep={"lean": "max(abs(roll))", "speed_then": "at(0.5, speed)"}, record=6)

    def test_bits_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "runs.csv")
            subprocess.run([TRUNDLE, "sweep", model_path("bicycle"), "--case", "turn", "--vary", "m0=70,85,100", "--vary",
                            "speed0~uniform(4, 6)", "--samples", "5", "--seed", "7", "--end", "1", "--method", "rk4", "--step",
                            "0.005", "--keep", "lean=max(abs(roll)), speed_then=at(0.5, speed)", "-o", path, "-q"], check=True,
                           env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})
            with open(path, newline="", encoding="utf-8") as file:
                names, *rows = csv.reader(file)
        w = bicycle().sweep(**self.HOW)
        self.assertEqual(names, ["run", *w.columns, "seconds", "status", "words"])
        for name, column in zip(names[1:-3], list(zip(*rows))[1:-3]):
            self.assertEqual(plain(w[name]), [float(x) for x in column], name)
        self.assertEqual((w.status, w.failures, len(w)), (("ok",) * 15, {}, 15))
        self.assertEqual((w.units["m0"], w.units["t"], "lean" in w, list(dict(w))), ("kg", "s", True, list(w.columns)))
        self.assertTrue(all(x > 0 for x in plain(w.seconds)))
        self.assertIn("15 of 15 runs", repr(w))
        again = pickle.loads(pickle.dumps(w)) if numpy else w
        self.assertEqual(plain(again.array), plain(w.array))
        with self.assertRaisesRegex(KeyError, "did you mean 'lean'"):
            w["leam"]

    def test_recorded(self):
        """Their rows are those of runs of their own, also from another start."""
        w = bicycle().sweep(**self.HOW)
        self.assertEqual(list(w.recorded), [0, 6, 12])
        r = w.recorded[6]
        self.assertEqual((r.model.settings["m0"], r.summary["t"]), (85, 1))
        own = r.model.simulate(end=1, method="rk4", step=0.005, warn=False)
        self.assertEqual((plain(own.array), own.columns), (plain(r.array), r.columns))
        self.assertEqual(max(abs(x) for x in plain(r["roll"])), plain(w["lean"])[6])
        self.assertTrue(r._repr_html_())
        w = bicycle().sweep({"initial.roll": [0.01, -0.02]}, end=0.5, method="rk4", step=0.005, record=1)
        own = w.recorded[1].model.simulate(end=0.5, method="rk4", step=0.005, warn=False)
        self.assertEqual(plain(own.array), plain(w.recorded[1].array))

    def test_table_and_what_fails(self):
        m = trundle.parse("trundle: 1\nparameters: {b: 1}\nbodies: {a: {mass: b, joint: {type: prismatic, axis: '1, 0, 0', "
                          "coordinate: x}}}\ninitial: {x: sqrt(b)}\n")
        w = m.sweep(table={"b": [4, -1, 9]}, end=1)
        self.assertEqual(w.status, ("ok", "failed", "ok"))
        self.assertEqual([plain(w["final(x)"])[i] for i in (0, 2)], [2, 3])
        self.assertIn("'b' = -1", w.failures[1])
        self.assertIn("'b' = -1", w.text)
        for name in "end", "every", "step", "rtol", "atol":
            with self.assertRaisesRegex(trundle.UsageError, f"{name}: a number, not nan"):
                m.sweep("b=4", **{name: float("nan")})
        w = m.sweep("b=4", "final(x)", stop="t > 0.3", end=1, every=0.1)
        self.assertEqual(w.status, ("stopped",))

    def test_others(self):
        """Steady motions and eigenvalues, in place of runs."""
        w = trundle.load(model_path("bicycle"), case="circle").sweep({"m0": [80, 85]}, do="steady", hold={"roll": -0.1})
        steady = trundle.load(model_path("bicycle"), case="circle", set={"m0": 80}).steady(hold={"roll": -0.1})
        self.assertAlmostEqual(plain(w["steer"])[0], steady["steer"], 12)
        w = trundle.load(model_path("bicycle"), case="straight").sweep("speed0=4:6:1", do="linearise")
        self.assertEqual([x < 0 for x in plain(w["stability"])], [False, True, True])

    def test_databases(self):
        """Parts, and what was interrupted, come to the same as all at once."""
        m, how = bicycle(), {**self.HOW, "samples": 50}
        whole = m.sweep(**how)
        with tempfile.TemporaryDirectory() as folder:
            how["output"] = os.path.join(folder, "runs.db")
            try:
                part = m.sweep(**how, shard=(2, 2))
            except trundle.Error as error:
                self.skipTest(str(error))  # without SQLite
            self.assertEqual(part.status.count(""), 150 - part.summary["done"])
            self.assertTrue(0 < part.summary["done"] < 150)
            for before in part.summary["done"], 150:
                w = m.sweep(**how)
                self.assertEqual((w.summary["before"], w.status), (before, whole.status))
                self.assertEqual(plain(w.array), plain(whole.array))
                self.assertEqual(list(w.recorded), list(whole.recorded))
                for run in w.recorded:
                    self.assertEqual(plain(w.recorded[run].array), plain(whole.recorded[run].array))
            with self.assertRaisesRegex(trundle.UsageError, "begun with another"):
                m.sweep(**{**how, "seed": 8})

    def test_refused(self):
        m = bicycle()
        for words, how in (("what varies", {}), ("nan", {"vary": {"m0": [float("nan")]}}), ("'m00'", {"vary": {"m00": [1]}}),
                           ("'m0' varies over", {"vary": {"m0": None}}), ("'m0' varies over", {"vary": {"m0": [[1], [2]]}}),
                           ("were expected, not 3", {"vary": 3}), ("'rol'", {"vary": "m0=80", "keep": "max(rol)"}),
                           ("(3, 16)", {"vary": "m0=80", "shard": (4, 3)}), ("threads", {"vary": "m0=80", "threads": -1}),
                           ("recording", {"table": 3}), ("of different lengths", {"table": {"m0": [1], "m1": []}}),
                           ("beside it", {"table": {"m0": [80]}, "vary": "m1=3"}), ("'dance'", {"vary": "m0=80", "do": "dance"})):
            with self.subTest(words), self.assertRaises((trundle.Error, TypeError, ValueError)) as caught:
                m.sweep(**{"end": 0.1, **how})
            self.assertIn(words, str(caught.exception))

    def test_gpu(self):
        """Where there is none it is told, and the numbers are the same."""
        m, how = trundle.parse(PENDULUM), dict(vary="l=0.4:0.5:0.05", end=0.1, method="rk4", step=1e-3)
        w, other = m.sweep(**how, on="gpu"), m.sweep(**how)
        self.assertEqual(plain(w["l"]), plain(other["l"]))
        self.assertEqual(bytes(memoryview(w.array)), bytes(memoryview(other.array)))
        self.assertEqual((other.summary["on"], other.summary["steps_on_gpu"]), ("", 0))
        self.assertTrue(w.summary["on"])
        with self.assertRaises(trundle.UsageError):
            m.sweep(**how, on="tpu")

    def test_stopped(self):
        """By a callback, by what it raises, by Ctrl-C: what was done is kept."""
        m, how = trundle.parse(PENDULUM), dict(vary="l~uniform(0.4, 0.6)", samples=10 ** 6, end=10, method="rk4", step=1e-3)
        w = m.sweep(**how, progress=lambda done, failed, all: done < 1)
        self.assertTrue(w.summary["interrupted"] and 0 < w.summary["done"] < w.summary["runs"] == len(w))
        with self.assertRaises(ZeroDivisionError):
            m.sweep(**how, progress=lambda *at: 1 / 0)
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt) as caught:
            m.sweep(**how)
        timer.join()
        w = caught.exception.result
        self.assertEqual(sum(status == "ok" for status in w.status), w.summary["done"])
        self.assertEqual(w.summary["done"], sum(x == x for x in plain(w["l"])))


class Studies(unittest.TestCase):
    def test_linear(self):
        m = trundle.parse(PENDULUM, set={"l": 0.5}).variant()
        l = m.linearise()
        self.assertEqual(len(l.states), 2)
        self.assertEqual(memoryview(l.A).shape, (2, 2))
        self.assertIn("A", l.text)
        d = m.linearise(step=0.1)
        self.assertNotEqual(plain(d.A), plain(l.A))
        self.assertEqual(len(l.eigenvalues), 2)

    def test_locus(self):
        m = trundle.load(model_path("bicycle"), case="straight")
        s = m.locus("speed0", 4, 6, 0.5)
        self.assertEqual(len(s.values), 5)
        self.assertIn("weave", " ".join(s.modes))

    def test_steady(self):
        m = trundle.load(model_path("bicycle"), case="circle")
        s = m.steady(hold={"roll": -0.1})
        self.assertIn("initial", s.fragment)
        self.assertLess(s["steer"], 0.5)
        there = m.variant(with_=s)
        self.assertAlmostEqual(there.open()["roll"], -0.1, 12)
        self.assertEqual(there.initial["steer"], s["steer"])
        f = m.steady(sweep="roll=-0.05:-0.2:0.05")
        self.assertEqual(len(f["speed"]), f.rows)

    def test_lqr(self):
        m = trundle.load(model_path("segway"), case="fall", set={"pitch0": 0})
        k = m.lqr(["left", "right"], q={"way": 20})
        self.assertEqual(memoryview(k.K).shape, (2, len(k.states)))
        self.assertLess(max(x.real for x in k.after), 0.0)
        m = trundle.load(model_path("segway"), case="fall", with_=k)
        self.assertLess(abs(plain(m.simulate(warn=False)["pitch"])[-1]), 0.1)

    def test_settle(self):
        m = trundle.load(model_path("car_on_hills"))
        hold = {"chassis.x": 1, "chassis.y": 0.2, "chassis.yaw": 0.3}
        pose = m.settle(hold)
        self.assertAlmostEqual(pose["chassis.x"], 1)
        s = m.settler(list(hold))
        poses = s.poses([[1, 0.2, 0.3], [1.1, 0.2, 0.3]])
        again = plain(pickle.loads(pickle.dumps(s)).poses([[1, 0.2, 0.3]]))
        self.assertEqual(again[0][:10], plain(poses)[0][:10])
        self.assertAlmostEqual(plain(poses)[0][s.columns.index("chassis.z")], pose["chassis.z"], 9)

    def test_fit(self):
        m = trundle.parse(PENDULUM)
        data = m.variant(set={"l": 0.7}).simulate(end=2, every=0.1)
        ticks = []
        f = m.fit({"t": data.t, "a": data["a"]}, "l", progress=lambda *at: ticks.append(at))
        self.assertAlmostEqual(f["l"], 0.7, 6)
        self.assertIn("l", f.fragment)
        self.assertEqual(len(f.points), len(data))

    def test_equations(self):
        m = trundle.load(model_path("cart_pole"))
        try:
            text = m.equations("M", "text")
        except trundle.Failed as error:
            self.skipTest(str(error))
        self.assertIn("M[1,2] = l*m*cos(angle)", text)
        told = subprocess.run([TRUNDLE, "equations", model_path("cart_pole"), "--show", "c"],
                              capture_output=True, text=True, check=True,
                              env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})
        self.assertEqual(m.equations("c", "text"), told.stdout)
        self.assertIn("\\cos", m.equations("M", "latex"))
        self.assertIn("cart", m.explain())

    @unittest.skipUnless(is_there("sympy"), "there is no SymPy")
    def test_sympy(self):
        import sympy
        m = trundle.load(model_path("cart_pole"))
        mass, l, angle = sympy.symbols("m l angle")
        self.assertEqual(m.equations("M")[0, 1], l * mass * sympy.cos(angle))

    def test_functions(self):
        m = trundle.parse(PENDULUM)
        f = m.function("M c")
        self.assertEqual(plain(f(l=2)["M"]), [[4]])
        df = m.function("M", by="l m")
        self.assertEqual(df.by, ("l", "m"))
        self.assertEqual(plain(df(l=3, m=2)), [[12, 9]])
        rows = [list(f.start), list(f.start)]
        rows[1][f.inputs.index("l")] = 2
        flat = [x for row in rows for x in row]
        self.assertEqual([row[0] for row in plain(f.many(flat))], [0.25, 4])
        again = pickle.loads(pickle.dumps(df))
        self.assertEqual(plain(again(l=3, m=2)), [[12, 9]])
        with self.assertRaises(KeyError):
            f(ll=1)
        with self.assertRaises(trundle.UsageError):
            m.function("M", by="ll")
        self.assertEqual((repr(f), repr(df)), ("<M c of 'model'>", "<M of 'model', by l, m>"))

    def test_export(self):
        with tempfile.TemporaryDirectory() as folder:
            trundle.parse(PENDULUM).export("c", folder, name="pendulum")
            self.assertIn("pendulum.c", os.listdir(folder))
            with self.assertWarnsRegex(UserWarning, "other velocities become independent"):
                trundle.load(model_path("four_bar")).export("python", folder)


class Others(unittest.TestCase):
    @unittest.skipUnless(is_there("pandas"), "there is no pandas")
    def test_pandas(self):
        m = trundle.load(model_path("cart_pole"))
        r = m.simulate(end=1)
        table = r.to_pandas()
        self.assertEqual((table.index.name, list(table.columns)), ("t", [name for name in r.columns if name != "t"]))
        self.assertEqual((list(table.index), list(table["angle"])), (list(r.t), list(r["angle"])))
        w = m.sweep({"m": [0.1, 0.2]}, end=1)
        table = w.to_pandas()
        self.assertEqual((table.index.name, list(table["m"]), list(table["status"])), ("run", [0.1, 0.2], ["ok", "ok"]))
        self.assertEqual(list(m.sweep(table=table[["m"]], end=1)["final(tip)"]), list(w["final(tip)"]))
        self.assertAlmostEqual(m.fit(r.to_pandas()[["angle"]], "l")["l"], m.parameters["l"], 6)

    @unittest.skipUnless(is_there("matplotlib"), "there is no matplotlib")
    def test_matplotlib(self):
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
        r = trundle.load(model_path("cart_pole")).simulate(end=1)
        line, = pyplot.plot(r.t, r["angle"])
        self.assertEqual(list(line.get_ydata()), list(r["angle"]))

    @unittest.skipUnless(is_there("scipy"), "there is no SciPy")
    def test_scipy(self):
        """Its Riccati solver has the gains of ours; its integrator our accelerations."""
        import scipy.integrate
        import scipy.linalg
        m = trundle.load(model_path("cart_pole"), case="free", set={"tilt": 0})
        k = m.lqr("push", q={"x": 10})
        P = scipy.linalg.solve_continuous_are(k.A, k.B, k.Q, k.R)
        numpy.testing.assert_allclose(numpy.linalg.solve(k.R, k.B.T @ P), k.K, rtol=1e-8, atol=1e-9)
        m = trundle.load(model_path("cart_pole"), case="free")
        f = m.function("qdot vdot")
        x = [f.inputs.index(name) for name in ("x", "angle")]
        v = [i for i, row in enumerate(m.system.inputs()) if row[1] == 2]
        start = numpy.array(f.start)

        def rates(t, y):
            inputs = start.copy()
            inputs[x + v] = y
            return f.many(inputs)[0]

        solved = scipy.integrate.solve_ivp(rates, (0, 1), start[x + v], rtol=1e-10, atol=1e-12)
        r = m.simulate(end=1, rtol=1e-10, atol=1e-12)
        self.assertAlmostEqual(solved.y[1, -1], r["angle"][-1], 8)


class Documents(unittest.TestCase):
    def run_blocks(self, document, least):
        """Each block of a document runs, one after the other, where models are; those of what is not there are left out."""
        with open(os.path.join(ROOT, document), encoding="utf-8") as file:
            text = file.read()
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
        self.assertEqual(len(blocks), least)
        names, was, models = {}, os.getcwd(), os.path.join(os.path.abspath(ROOT), "models")
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in os.listdir(models):
                os.symlink(os.path.join(models, name), os.path.join(folder, name))
            os.symlink(models, os.path.join(folder, "models"))
            os.chdir(folder)
            try:
                for block in blocks:
                    if any(word in block and not is_there(package) for word, package in
                           (("trundle.env", "numpy"), ("torch", "torch"))):
                        continue
                    line = text[:text.index(block)].count("\n")
                    with contextlib.redirect_stdout(io.StringIO()):
                        exec(compile("\n" * line + block, document, "exec"), names)
            finally:
                os.chdir(was)
        return names

    def test_blocks(self):
        self.run_blocks("docs/python.md", 12)

    def test_more_blocks(self):
        names = self.run_blocks("docs/python_models.md", 3)
        if "lengths" in names:
            self.assertTrue(names["lengths"].grad.abs().min() > 0)

    def test_help(self):
        """Everything public is documented."""
        for name in trundle.__all__:
            thing = getattr(trundle, name)
            self.assertTrue(thing.__doc__, name)
            for member in vars(thing) if isinstance(thing, type) else ():
                if not member.startswith("_") and callable(getattr(thing, member)):
                    self.assertTrue(getattr(thing, member).__doc__, f"{name}.{member}")


class Interrupts(unittest.TestCase):
    def test_long_calls(self):
        """A signal ends what would take minutes; what was recorded is kept."""
        m = bicycle()
        s = m.open(method="rk4", step=1e-5)
        b = m.batch(8, step=1e-5)
        many = m.batch(300, step=1e-5, threads=2)

        def simulate():
            m.simulate(end=2000, method="rk4", step=1e-5, warn=False)

        settler = trundle.load(model_path("car_on_hills")).settler(["chassis.x"])
        straight, circle = (trundle.load(model_path("bicycle"), case=case) for case in ("straight", "circle"))
        pendulum = trundle.parse(PENDULUM)
        seen = pendulum.simulate(end=2000, every=1)
        for call in (simulate, lambda: pendulum.fit(seen, "l", method="rk4", step=1e-5), lambda: s.advance(3000), lambda: b.advance(3000),
                     lambda: many.advance(3000), lambda: settler.poses([0.1] * 10 ** 6),
                     lambda: straight.locus("speed0", 0, 10, 1e-5), lambda: straight.locus("speed0", 1, 10, 1e-5, trim=True),
                     lambda: circle.steady(sweep="roll=-0.05:-0.3:2e-6")):
            timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            start = time.monotonic()
            with self.assertRaises(KeyboardInterrupt) as caught:
                call()
            self.assertLess(time.monotonic() - start, 30)
            timer.join()
        s.step(0.001)  # goes on
        b.advance(max(plain(b["t"])))
        self.assertIsNone(getattr(caught.exception, "result", None))

    def test_batches_that_are_done_in_part(self):
        """The thread that calls looks at signals when its own runs have arrived, or have failed, too."""
        b = bicycle().batch(512, step=1e-4, threads=2)
        for until in [0.0] * 256 + [8.0] * 256, [8.0] * 256 + [0.0] * 256:
            timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            start = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                b.advance(until)
            self.assertLess(time.monotonic() - start, 2)
            timer.join()
            b.reset()

    def test_numbers_after_a_signal(self):
        """Where it was stopped, a run has the motion of one that nobody stopped, and goes on with it."""
        m = trundle.parse(PENDULUM)
        for method in "erk", "bdf", "rk4":
            s, other = m.open(method=method), m.open(method=method)
            s.advance(0.5)
            timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                s.advance(1e7)
            timer.join()
            self.assertGreater(s.t, 0.5)
            other.advance(0.5)
            other.advance(s.t)
            self.assertAlmostEqual(s["a"], other["a"], delta=1e-6)
            s.step(0.1)
            other.step(0.1)
            self.assertAlmostEqual(s["a"], other["a"], delta=1e-6)

    def test_waiting(self):
        """A signal ends a call that waits for another thread's."""
        s = bicycle().open(method="rk4", step=1e-5)
        other = threading.Thread(target=s.advance, args=(4,))
        other.start()
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            while other.is_alive():
                s.t
                time.sleep(0.01)
        self.assertTrue(other.is_alive())
        other.join()
        self.assertEqual(s.t, 4)

    def test_one_model(self):
        """Sweeps and fits leave their model to others: to callbacks, and to threads."""
        m, found = trundle.parse(PENDULUM), []

        def ask(*at):
            found.append(m.variant(set={"l": 0.3}).simulate(end=0.1)["a"][-1])

        m.sweep({"l": [0.4 + 1e-4 * i for i in range(300)]}, end=3, threads=1, progress=ask)
        m.variant(set={"l": 0.7}).fit(m.simulate(end=5, every=0.05), "l", method="rk4", step=1e-4, progress=ask)
        self.assertGreater(len(found), 1)
        found = found[:1]
        threads = [threading.Thread(target=lambda: found.append(m.sweep({"l": 0.3}, "final(a)", end=0.1)["final(a)"][0]))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, found[:1] * 5)

    def test_others_go_on(self):
        """Another thread of Python counts while a long call is made."""
        m, ticks, over = bicycle(), [], threading.Event()

        def count():
            while not over.wait(0.005):
                ticks.append(time.monotonic())

        thread = threading.Thread(target=count)
        thread.start()
        m.simulate(end=2, method="rk4", step=1e-4, warn=False)
        m.open(method="rk4", step=1e-4).advance(2)
        over.set()
        thread.join()
        self.assertGreater(len(ticks), 5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
