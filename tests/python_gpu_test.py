#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""States in a GPU's memory, from Python: with a driver whose GPUs are an interpreter (fake_cuda.c), so
that the memory is NumPy's.

    tests/python_gpu_test.py      with PYTHONPATH where the built package is, and LD_LIBRARY_PATH where
                                  that driver is
"""
import sys
import unittest

import trundle

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is missing")
    sys.exit(0)

CART = """
trundle: 1
bodies:
  cart: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: s}, mass: 2}
  pole: {parent: cart, joint: {type: revolute, axis: '0, 1, 0', coordinate: a}, mass: 1, com: '0, 0, -0.5'}
initial: {a: 0.3}
inputs: {push: 0.5}
roles: {s: {torque: push}}
"""
RUNS = 300


class OnDevice:
    """An array that says where it is as CuPy's and PyTorch's do."""

    def __init__(self, numbers, read_only=False):
        self.numbers = numbers
        self.__cuda_array_interface__ = {
            "shape": numbers.shape, "typestr": numbers.dtype.str, "version": 3,
            "data": (numbers.ctypes.data, read_only),
            "strides": None if numbers.flags.c_contiguous else numbers.strides}


class Gpu(unittest.TestCase):
    def setUp(self):
        self.model = trundle.parse(CART)
        self.pushes = np.linspace(-1, 1, RUNS)

    def batch(self, on):
        return self.model.batch(RUNS, set={"push": self.pushes}, step=1e-3, method="rk4", threads=1, on=on)

    def test_steps(self):
        here, there = self.batch(None), self.batch("gpu")
        self.assertIn("interpreter", there.on)
        self.assertIsNone(there.gpu_fates())
        state = there.gpu_state()
        self.assertEqual(state.shape, (len(there.gpu_state_names), RUNS))
        self.assertEqual(there.gpu_state_names[:2], ("s", "a"))
        there.gpu_step(OnDevice(state), steps=5)
        self.assertEqual(there.gpu_fates().tolist(), [0] * RUNS)
        here.advance(5e-3)
        self.assertEqual(state[1].tolist(), here["a"].tolist())
        there.gpu_step(state.ctypes.data, steps=3)      # an address
        there.gpu_step(OnDevice(state), steps=0)        # they are the batch's now
        here.advance(8e-3)
        self.assertEqual(there["a"].tolist(), here["a"].tolist())
        self.assertEqual(there.t.tolist(), here["t"].tolist())

    def test_inputs(self):
        here, there = self.batch(None), self.batch("gpu")
        state, inputs = there.gpu_state(), there.gpu_inputs()
        push = there.gpu_input_names.index("push")
        self.assertEqual(inputs[push].tolist(), self.pushes.tolist())
        inputs[push] = -self.pushes
        there.gpu_step(OnDevice(state), OnDevice(inputs, read_only=True), 4)
        here.set("push", -self.pushes)
        here.advance(4e-3)
        self.assertEqual(state[0].tolist(), here["s"].tolist())

    def test_refusals(self):
        b = self.batch("gpu")
        state = b.gpu_state()
        with self.assertRaisesRegex(TypeError, "float64, not '<f4'"):
            b.gpu_step(OnDevice(state.astype("f4")))
        with self.assertRaisesRegex(ValueError, "contiguous"):
            b.gpu_step(OnDevice(np.asfortranarray(state)))
        with self.assertRaisesRegex(ValueError, "numbers were expected on the GPU"):
            b.gpu_step(OnDevice(state[1:]))
        with self.assertRaisesRegex(ValueError, "cannot be written"):
            b.gpu_step(OnDevice(state, read_only=True))
        with self.assertRaisesRegex(ValueError, "not fewer than none"):
            b.gpu_step(OnDevice(state), steps=-1)
        with self.assertRaises(TypeError):
            b.gpu_step("state")
        with self.assertRaises(trundle.UsageError):
            b.gpu_step(0)
        with self.assertRaisesRegex(ValueError, "threads=1"):
            self.model.batch(RUNS, threads=2).gpu_state()


if __name__ == "__main__":
    unittest.main()
