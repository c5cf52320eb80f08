#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Steps that PyTorch differentiates: values are those of runs, derivatives those of differences.

    tests/python_autograd_test.py TRUNDLE ROOT       with PYTHONPATH where the built package is
"""
import pathlib
import sys
import unittest

try:
    import numpy as np
    import torch
except ImportError as error:
    print(f"skipped: {error.name} is missing (tools/setup check installs it)")
    sys.exit(0)
import trundle
from trundle.autograd import Step

MODELS = pathlib.Path(sys.argv[2]) / "models"
# A model, its case, parameters
STEPS = (("cart_pole", "pushed", "m,l"), ("double_pendulum", None, "l,m"), ("tumbling", None, None),
         ("segway", "fall", None), ("bicycle", "free", "m0,w"), ("ball_in_bowl", None, None), ("four_bar", None, None))


class Steps(unittest.TestCase):
    def test_values(self):
        """As a run by rk4 makes them, of which all columns that are states are compared."""
        for name, case, _ in STEPS:
            model = trundle.load(MODELS / f"{name}.yaml", case=case)
            step, run = Step(model, 0.001, inputs=()), model.open(method="rk4", step=0.001)
            x = step.start
            for k in range(5):
                x = step(x, t=k * 0.001)
            run.advance(0.005)
            seen = [(value, run[column]) for column, value in zip(step.state, x.tolist()) if column in model.columns]
            off = max(abs(a - b) / max(1, abs(b)) for a, b in seen)
            with self.subTest(name):
                print(f"{name}: {len(seen)} of {len(x)} numbers of the state, off by {off:.1e}")
                self.assertLess(off, 1e-11)  # runs project positions
                self.assertGreater(len(seen), 1)

    def test_derivatives(self):
        """By states, inputs and parameters, against differences (torch.autograd.gradcheck)."""
        for name, case, parameters in STEPS:
            model = trundle.load(MODELS / f"{name}.yaml", case=case)
            step = Step(model, 0.01, steps=2, parameters=parameters)
            random = torch.Generator().manual_seed(1)
            x = step.start + 1e-3 * torch.randn(2, len(step.state), generator=random, dtype=torch.float64)
            u = torch.randn(2, len(step.inputs), generator=random, dtype=torch.float64)
            p = torch.tensor([float(model.parameters[one]) for one in step.parameters], dtype=torch.float64)
            given = [one.requires_grad_() for one in (x, u, p) if one.numel()]

            def act(*given):
                rest = list(given[1:])
                return step(given[0], rest.pop(0) if step.inputs else None, rest.pop(0) if step.parameters else None,
                            t=0.3)
            with self.subTest(name):
                self.assertTrue(torch.autograd.gradcheck(act, given, eps=1e-6, atol=1e-6, rtol=1e-5))

    def test_chain(self):
        """Many steps one after the other: the derivative of a whole run, by differences of it."""
        step = Step(trundle.load(MODELS / "cart_pole.yaml", case="free"), 0.02, parameters="l")

        def end(push, length):
            x = step.start
            for k in range(50):
                x = step(x, push[k:k + 1], length)
            return x
        push = torch.sin(torch.arange(50, dtype=torch.float64)).requires_grad_()
        length = torch.tensor([0.6], dtype=torch.float64, requires_grad=True)
        end(push, length)[1].backward()
        h = 1e-6
        for k in (0, 20, 49):
            change = torch.zeros(50, dtype=torch.float64)
            change[k] = h
            slope = (end(push + change, length)[1] - end(push - change, length)[1]) / (2 * h)
            self.assertAlmostEqual(float(slope), float(push.grad[k]), delta=1e-7 * max(1, abs(float(slope))))
        slope = (end(push, length + h)[1] - end(push, length - h)[1]) / (2 * h)
        self.assertAlmostEqual(float(slope), float(length.grad), delta=1e-6 * abs(float(slope)))

    def test_learning(self):
        """A length is found from where the pole was seen."""
        step = Step(trundle.load(MODELS / "cart_pole.yaml", case="free", set={"tilt": 2.5}), 0.02, parameters="l")

        def seen(length):
            x, angles = step.start, []
            for _ in range(40):
                x = step(x, None, length)
                angles.append(x[1])
            return torch.stack(angles)
        wanted = seen(torch.tensor([0.43], dtype=torch.float64))
        length = torch.tensor([0.6], dtype=torch.float64, requires_grad=True)
        search = torch.optim.LBFGS([length], line_search_fn="strong_wolfe", tolerance_grad=1e-12, tolerance_change=1e-14)

        def closure():
            search.zero_grad()
            loss = ((seen(length) - wanted)**2).sum()
            loss.backward()
            return loss
        for _ in range(5):
            search.step(closure)
        self.assertAlmostEqual(float(length), 0.43, delta=1e-7)

    def test_shapes(self):
        step = Step(trundle.load(MODELS / "cart_pole.yaml", case="free"), 0.02, parameters="m,l")
        x, D = step.jacobian(step.start.numpy(), [1.0], [0.1, 0.5])
        self.assertEqual((x.shape, D.shape), ((4,), (4, 7)))
        rows, slopes = step.jacobian(np.tile(step.start.numpy(), (3, 1)), [1.0])
        self.assertEqual((rows.shape, slopes.shape), ((3, 4), (3, 4, 7)))
        np.testing.assert_array_equal(rows[2], x)
        single = step(step.start.to(torch.float32).requires_grad_(), torch.tensor([1.0]))
        self.assertEqual(single.dtype, torch.float32)
        single.sum().backward()
        for words, act in (("x: 4 numbers", lambda: step(torch.zeros(3))),
                           ("u: 1 numbers", lambda: step(step.start, torch.zeros(2))),
                           ("p: 2 numbers", lambda: step(step.start, None, torch.zeros(1))),
                           ("rows of it", lambda: step(torch.zeros(3, 4), torch.zeros(2, 1))),
                           ("above 0", lambda: Step(step.model, 0)),
                           ("at least 1", lambda: Step(step.model, 1, steps=0)),
                           ("no parameter 'mm'", lambda: Step(step.model, 1, parameters="mm")),
                           ("no input 'pish'", lambda: Step(step.model, 1, inputs=["pish"]))):
            with self.subTest(words), self.assertRaisesRegex((trundle.Error, KeyError), words):
                act()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
