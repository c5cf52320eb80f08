#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Models by code in Python: every bundled model, said by calls, is the same to the bit; the calls
come from the rows of the file format; what is wrong is told by the call and its keyword.

    tests/python_draft_test.py TRUNDLE ROOT       with PYTHONPATH where the built package is
"""
import inspect
import pathlib
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:
    print("skipped: PyYAML is missing (tools/setup test installs it)")
    sys.exit(0)
BASE, SAFE = getattr(yaml, "CBaseLoader", yaml.BaseLoader), getattr(yaml, "CSafeLoader", yaml.SafeLoader)

import trundle  # noqa: E402
from trundle.calls import KINDS  # noqa: E402
from trundle.draft import Draft  # noqa: E402

ROOT = pathlib.Path(sys.argv[2])


def by_calls(fields):
    """A model of what stands in a file, by calls with keywords as people write them."""
    calls = {section: name for name, section in Draft.SECTIONS.items()}
    m = trundle.Model(**{key: value for key, value in fields.items() if key not in calls})
    for section, said in fields.items():
        if section not in calls:
            continue
        call = getattr(m, calls[section])
        if KINDS["model"][section][0] == "PAIRS":
            for name, value in said.items():
                call(name, value)
        elif not KINDS["model"][section][2]:
            call(**said)
        else:
            for name, thing in said.items():
                if isinstance(thing, dict) and section in ("parameters", "inputs"):
                    call(name, thing["value"], **{key: one for key, one in thing.items() if key != "value"})
                elif isinstance(thing, dict):
                    call(name, **thing)
                else:
                    call(name, thing)
    return m


def told(model):
    """What is recorded, and the bits of accelerations, forces and more at the start."""
    return model.columns, model.system.eval(True)


def parsed(path, loader):
    def plain(value):  # YAML 1.1 takes the key `on` for true
        if isinstance(value, dict):
            return {"on" if key is True else key: plain(one) for key, one in value.items()}
        return [plain(one) for one in value] if isinstance(value, list) else value
    return plain(yaml.load(path.read_text(), loader))


class Drafts(unittest.TestCase):
    def test_every_model(self):
        """As texts and as numbers: the same operations, and the same bits at the start."""
        count = 0
        for path in sorted((ROOT / "models").glob("*.yaml")):
            wanted = told(trundle.load(path))
            with self.subTest(path.name):
                draft = by_calls(parsed(path, SAFE))
                self.assertEqual(told(draft.load(beside=path)), wanted)
                said = yaml.load(draft.text(), BASE)
                again = Draft.of(said)  # all as texts, and by dicts
                self.assertEqual(yaml.load(again.text(), BASE), said)
                self.assertEqual(list(again.fields), list(said))
            count += 1
        self.assertGreaterEqual(count, 90)

    def test_cases(self):
        path = ROOT / "models/bicycle.yaml"
        draft = by_calls(parsed(path, SAFE))
        for case in draft.fields["cases"]:
            self.assertEqual(told(draft.load(case=case)), told(trundle.load(path, case=case)))

    def test_rows(self):
        """Every field of the format is a keyword of its call, with its words."""
        for call, section in Draft.SECTIONS.items():
            kind = KINDS["model"][section]
            method = getattr(Draft, call)
            if kind[0] != "KIND":
                continue
            keywords = set(inspect.signature(method).parameters) - {"self", "name", "fields", "unknown"}
            self.assertEqual(keywords | {"value"}, set(KINDS[kind[1]]) | {"value"}, call)
            for key in KINDS[kind[1]]:
                self.assertIn(f"{key}: ", method.__doc__)
        schema = trundle.schema()
        for kind, fields in schema["definitions"].items():
            self.assertEqual(set(fields["properties"]) - {"on"}, set(KINDS[kind]), kind)

    def pendulum(self):
        m = trundle.Model("pendulum", gravity=9.81)
        m.parameter("l", 0.5, unit="m", doc="its length: \"long\"\n")
        m.body("rod", mass=1, com=(0, 0, "-l"), joint=dict(type="revolute", axis=(0, 1, 0), coordinate="a"))
        return m.initial("a", 0.3).output("tip", "l*sin(a)").case("free", end=1, every=0.1, method="rk4")

    def test_pendulum(self):
        m = self.pendulum()
        self.assertTrue(m._repr_html_().startswith("<pre>") and "its length: &quot;" in m._repr_html_().replace("\\", ""))
        model = m.load(set={"l": 0.7})
        self.assertEqual((model.parameters["l"].unit, model.parameters["l"].doc.strip()), ("m", 'its length: "long"'))
        run = model.simulate()
        with tempfile.TemporaryDirectory() as folder:
            m.save(f"{folder}/pendulum.yaml")
            other = trundle.load(f"{folder}/pendulum.yaml", set={"l": 0.7}).simulate()
        self.assertEqual([float(x) for x in run["tip"]], [float(x) for x in other["tip"]])

    def refuse(self, words, act):
        with self.assertRaises(trundle.Error) as caught:
            act()
        for word in words.split("|"):
            self.assertIn(word, str(caught.exception))

    def test_refused(self):
        m = self.pendulum()
        for words, act in (
                ("body()|'mas'|'mass'", lambda: m.body("x", mas=1)),
                ("body('rod')|already", lambda: m.body("rod", mass=1)),
                ("body('x'), joint, type|revolute", lambda: m.body("x", joint=dict(type="revolut"))),
                ("body('x'), joint|'axsi'|'axis'", lambda: m.body("x", joint=dict(axsi=(1, 0, 0)))),
                ("body('x'), com|three", lambda: m.body("x", com=(1, 2))),
                ("body('x'), mass|nan", lambda: m.body("x", mass=float("nan"))),
                ("body('x'), mass|list", lambda: m.body("x", mass=[1])),
                ("body('x'), shapes['s'], type|box", lambda: m.body("x", shapes=dict(s=dict(type="bax")))),
                ("names are texts", lambda: m.body(3)),
                ("'mass' stands twice", lambda: m.body("x", {"mass": 1}, mass=2)),
                ("loop('x'), kind", lambda: m.loop("x", kind=3)),
                ("joint('x'), cut|True or False", lambda: m.joint("x", cut=2)),
                ("role('x'), torque", lambda: m.role("x", torque=[1, 2])),
                ("coupling('x'), equals|dict", lambda: m.coupling("x", equals=3)),
                ("initial('a')|already", lambda: m.initial("a", 1)),
                ("output('b')|missing", lambda: m.output("b")),
                ("Model()|'gravty'|'gravity'", lambda: trundle.Model(gravty=1)),
                ("parameter('p')|empty", lambda: m.parameter("p", ""))):
            with self.subTest(words):
                self.refuse(words, act)
        self.assertEqual(m.text(), self.pendulum().text(), "what is refused leaves nothing behind")

    def test_told_by_call(self):
        for words, say in (
                ("body('x'), mass: unknown name 'mm'", lambda m: m.body("x", parent="rod", mass="mm")),
                ("body('x'), joint, axis", lambda m: m.body("x", mass=1, joint=dict(type="revolute", axis="1, 0, +"))),
                ("output('o'): |'q'", lambda m: m.output("o", "q + 1")),
                ("initial('z')", lambda m: m.initial("z", 1)),
                ("case('c'), set, k", lambda m: m.case("c", set=dict(k=1)).fields["cases"].pop("free")),
                ("contact('w')", lambda m: m.contact("w", body="rad"))):
            m = self.pendulum()
            say(m)
            with self.subTest(words):
                self.refuse(words, m.load)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
