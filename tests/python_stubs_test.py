#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The stubs say what there is: every public name of every object, no others, and calls with their
parameters.

    tests/python_stubs_test.py TRUNDLE ROOT       with PYTHONPATH where the built package is
"""
import ast
import collections.abc
import importlib
import inspect
import pathlib
import re
import sys
import unittest

import trundle

ROOT = pathlib.Path(sys.argv[2]).resolve()
OF_PYTHON = {name for kind in (Exception, OSError, float, collections.abc.MutableMapping) for name in dir(kind)}


def has_numpy():
    try:
        importlib.import_module("numpy")
    except ImportError:
        return False
    return True


MODULES = ["trundle"] + (["trundle.env", "trundle.autograd"] if has_numpy() else [])


def stub_of(module):
    """Its statements."""
    path = pathlib.Path(trundle.__file__).parent / f"{module.partition('.')[2] or '__init__'}.pyi"
    return ast.parse(path.read_text(encoding="utf-8")).body


STUBS = {node.name: (module, node) for module in MODULES for node in stub_of(module) if isinstance(node, ast.ClassDef)}


def members(node):
    """What a class is said to have, also by the classes it is said to come from."""
    found = {}
    for base in node.bases:
        if ast.unparse(base) in STUBS:
            found.update(members(STUBS[ast.unparse(base)][1]))
    for one in node.body:
        if isinstance(one, ast.FunctionDef):
            found[one.name] = one
        elif isinstance(one, ast.AnnAssign):
            found[one.target.id] = None
    return found


def is_public(name):
    return not name.startswith("_")


def parameters_said(stub):
    a = stub.args
    return ([x.arg for x in a.posonlyargs + a.args + a.kwonlyargs], [x.arg for x in (a.vararg, a.kwarg) if x])


# Where calls go on to with what they are given besides, and how many of its parameters they have themselves
def goes_on(call, rest):
    if rest == ["task"]:
        return parameters_of(trundle.env.Task), ("model",)
    if call in (trundle.load, trundle.parse, trundle.LoadedModel.variant):
        return parameters_of(trundle.LoadedModel), ("source",)
    if call in (trundle.LoadedModel.open, trundle.LoadedModel.batch):
        try:
            call(trundle.load(ROOT / "models/cart_pole.yaml"), **({"n": 1} if "n" in parameters_said_by(call) else {}), zzz=1)
        except TypeError as error:  # which lists them
            there = re.search("there are (.*)", str(error))[1].split(", ")
            return (there, []), ("rtol", "atol", "dense") if "n" in parameters_said_by(call) else ()
    return ([], rest), ()


def parameters_said_by(call):
    return inspect.signature(call).parameters


def parameters_of(call):
    """By name; those besides."""
    taken = parameters_said_by(call).values()
    more = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    own, rest = [p.name for p in taken if p.kind not in more], [p.name for p in taken if p.kind in more]
    if rest:
        (theirs, rest), known = goes_on(call, rest)
        own += [name for name in theirs if name not in (*own, *known)]
    return own, rest


def objects():
    """One of each kind that there is."""
    def load(name, case, **options):
        return trundle.load(ROOT / f"models/{name}.yaml", case=case, **options)
    pole, circle = load("cart_pole", "free"), load("bicycle", "circle")
    r, settler = pole.simulate(end=1, every=0.05), load("car_on_hills", None).settler(["chassis.x"])
    fit = pole.fit(r, "l")
    yield from (pole, pole.parameters, pole.parameters["l"], r, pole.open(), pole.open().u, pole.batch(2), fit, fit["l"])
    yield from (pole.sweep({"m": [0.1]}, end=0.1), pole.linearise(), settler, settler.pose(1), pole.function("M"))
    yield from (load("bicycle", "straight").locus("speed0", 4, 5, 0.5), circle.steady(hold={"roll": -0.1}))
    yield circle.steady(sweep="roll=-0.05:-0.1:0.05")
    yield load("segway", "fall", set={"pitch0": 0}).lqr(["left", "right"], q={"way": 20})
    for kind in (trundle.Error, trundle.Failed, trundle.UsageError, trundle.InvalidModel, trundle.FileError):
        yield kind("what is wrong")
    yield Instants(pole).one
    if has_numpy():
        task = dict(act={"push": (-1, 1)}, observe="x", reward="1", every=0.1)
        one = trundle.env.Env(pole, **task)
        yield from (one, one.task, trundle.env.VectorEnv(pole, 2, **task), trundle.env.Box(0, 1))
        yield trundle.autograd.Step(pole, 0.1)


class Instants:
    def __init__(self, model):
        model.simulate(end=0.1, control=lambda now: setattr(self, "one", now))


class Stubs(unittest.TestCase):
    def test_objects(self):
        seen = {"Inertias"}  # needs recorded torques
        for thing in objects():
            kind = type(thing)
            self.assertIn(kind.__name__, STUBS)
            seen.add(kind.__name__)
            said = {name for name in members(STUBS[kind.__name__][1]) if is_public(name)}
            there = {name for name in dir(thing) if is_public(name)}
            with self.subTest(kind.__name__):
                self.assertEqual(there - said - OF_PYTHON, set(), "the stubs do not say")
                self.assertEqual(said - there, set(), "the stubs say what is not there")
        self.assertEqual(seen, set(STUBS), "each kind is looked at")

    def test_calls(self):
        """With their parameters; those that the extension takes in words, too."""
        places = [importlib.import_module(name) for name in
                  [*MODULES, *(f"trundle.{name}" for name in ("model", "names", "run", "result", "study", "sweep", "errors"))]]
        count = 0
        for name, (_, node) in STUBS.items():
            kind = next(getattr(place, name) for place in places if hasattr(place, name))
            for member, stub in members(node).items():
                thing = inspect.getattr_static(kind, member, None)
                if stub is None or not inspect.isroutine(thing) or not hasattr(kind, member):
                    continue
                if member.startswith("__") and member not in ("__init__", "__call__"):
                    continue  # Python says what these take
                count += 1
                with self.subTest(f"{name}.{member}"):
                    self.assertEqual(parameters_of(getattr(kind, member)), parameters_said(stub))
        for module in MODULES:
            for stub in stub_of(module):
                if isinstance(stub, ast.FunctionDef):
                    count += 1
                    self.assertEqual(parameters_of(getattr(sys.modules[module], stub.name)), parameters_said(stub))
        self.assertGreater(count, 45)

    def test_modules(self):
        """All that is public is said, and can be taken from there."""
        for module in MODULES:
            said = {name.id for node in stub_of(module) if isinstance(node, (ast.Assign, ast.AnnAssign))
                    for name in (node.targets if isinstance(node, ast.Assign) else [node.target])}
            said |= {node.name for node in stub_of(module) if hasattr(node, "name")}
            there = getattr(sys.modules[module], "__all__", None) or \
                [name for name, thing in vars(sys.modules[module]).items() if is_public(name) and
                 getattr(thing, "__module__", None) == module]
            self.assertLessEqual(set(there), said, module)
            for node in stub_of(module):  # and what a program that was checked with them names is there
                if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                    self.assertTrue(hasattr(sys.modules[module], node.name), f"{module}.{node.name}")

    def test_what_getitem_takes(self):
        """Several names, too, where columns are kept."""
        columns = {name: [ast.unparse(one.args.args[1].annotation) for one in node.body
                          if isinstance(one, ast.FunctionDef) and one.name == "__getitem__"]
                   for name, (_, node) in STUBS.items()}
        for name in ("Result", "Batch"):
            self.assertEqual(columns[name], ["str", "tuple[str, ...] | list[str]"], name)
        pole = trundle.load(ROOT / "models/cart_pole.yaml")
        for thing in (pole.simulate(end=0.1), pole.batch(2)):
            self.assertEqual([len(thing["x", "t"]), len(thing[["x"]])], [2, 1])

    def test_what_is_wanted_later(self):
        """trundle.env is there without being imported; what there is not is told as of any module."""
        with self.assertRaises(AttributeError):
            trundle.environment
        if has_numpy():
            self.assertIs(trundle.env, sys.modules["trundle.env"])
        self.assertLessEqual({"env", "autograd", "load", "Model"}, set(dir(trundle)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
