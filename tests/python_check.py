#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The Python module, at length: speed beside C, memory over many loads and runs, a wheel in an
environment of its own, pandas and SciPy where they are there.

    tests/python_check.py LOOP ROOT BUILD       with PYTHONPATH where the built package is
"""

import concurrent.futures
import gc
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import unittest

import trundle

LOOP, ROOT, BUILD = (os.path.abspath(path) for path in sys.argv[1:4])
CART_POLE = os.path.join(ROOT, "models/cart_pole.yaml")
RUNS, ROUNDS, STEPS, STEP = 64, 15625, 1000000, 0.01


def seconds():
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def resident():
    """[bytes]"""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Speed(unittest.TestCase):
    def test_beside_c(self):
        """User time, for other processes take no part in it."""
        m = trundle.load(CART_POLE, case="free")
        done = subprocess.run([LOOP, CART_POLE, "free", "push"], check=True, capture_output=True)
        c_full, c_bare, c_run = (float(x) for x in done.stdout.split())
        full, bare, run = self.batch(m, True), self.batch(m, False), self.run_alone(m)
        print(f"a million steps in batches of {RUNS}: {full:.2f} s, in C {c_full:.2f} s, "
              f"{full / c_full:.2f} times; without setting and reading {bare:.3f} s, in C "
              f"{c_bare:.3f} s, {bare / c_bare:.2f} times; of one run {1e3 * run:.0f} ns a step, in C "
              f"{1e3 * c_run:.0f} ns")
        self.assertLess(full, 1.5 * c_full)
        self.assertLess(bare, 1.5 * c_bare)
        self.assertLess(run - c_run, 2e-6 * STEPS)

    def batch(self, m, is_full):
        b = m.batch(RUNS, step=STEP, threads=1)
        try:
            import numpy
            push, kinds = numpy.zeros(RUNS), [numpy.array([0.001 * ((k + i) % 7) for i in range(RUNS)])
                                              for k in range(7)]
        except ImportError:
            kinds = [memoryview(bytearray(8 * RUNS)).cast("d") for _ in range(7)]
        column, start = ["x"], seconds()
        for k in range(ROUNDS):
            if is_full:
                b.set("push", kinds[k % 7])
            b.step(STEP)
            if is_full:
                b.read(column)
        return seconds() - start

    def run_alone(self, m):
        s = m.open(method="rk4", step=STEP)
        start = seconds()
        for _ in range(STEPS):
            s.step(STEP)
        return seconds() - start


class Memory(unittest.TestCase):
    def grows(self, call, warm, count):
        """[bytes] a call"""
        for _ in range(warm):
            call()
        gc.collect()
        before = resident()
        for _ in range(count):
            call()
        gc.collect()
        return (resident() - before) / count

    def test_loads(self):
        def load():
            m = trundle.load(CART_POLE, case="free")
            m.simulate(end=0.01)
            try:
                trundle.load(CART_POLE, case="none")
            except trundle.Error:
                pass

        self.assertLess(self.grows(load, 100, 1000), 1000)

    def test_runs(self):
        m = trundle.load(CART_POLE, case="free")

        def run():
            s = m.open(method="rk4", step=STEP)
            s.u["push"] = 1
            s.step(STEP)
            s["x"], s.row
            s.restore(s.save())

        self.assertLess(self.grows(run, 2000, 100000), 10)

    def test_others(self):
        m = trundle.load(CART_POLE, case="free")

        def work():
            b = m.batch(8, step=STEP, threads=2)
            b.set("push", 1)
            b.step(STEP)
            b.read(["x"])
            m.linearise().text
            m.function("vdot", by="q")()
            r = m.simulate(end=0.05)
            r.array, r["x"], r.certificate
            try:
                m.simulate(end=1, control=lambda now: 1 / 0)
            except ZeroDivisionError:
                pass

        self.assertLess(self.grows(work, 100, 1000), 1000)


def end_of(m):
    return memoryview(m.simulate(end=1)["angle"]).tolist()[-1]


class Wheel(unittest.TestCase):
    def test_installed(self):
        """A wheel of this build in an environment of its own, without network."""
        with tempfile.TemporaryDirectory() as folder:
            there = os.path.join(folder, "env")
            environment = {**os.environ, "TRUNDLE_BUILD": BUILD, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
            environment.pop("PYTHONPATH", None)
            python = os.path.join(there, "bin/python")
            made = subprocess.run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", there],
                                  capture_output=True, text=True)
            if made.returncode:
                self.skipTest("python3-venv is missing: " + made.stdout[:200])
            for more in [], ["--no-build-isolation"]:
                subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--force-reinstall",
                                *more, os.path.join(ROOT, "python")], check=True, env=environment)
            code = ("import trundle, sys; print(trundle.__file__);"
                    "print(trundle.load(sys.argv[1]).simulate(end=0.1)['x'][0])")
            out = subprocess.run([python, "-c", code, CART_POLE], check=True, env=environment,
                                 cwd=folder, capture_output=True, text=True).stdout
            self.assertTrue(out.startswith(os.path.realpath(there)) or out.startswith(there), out)


class Processes(unittest.TestCase):
    def test_pools(self):
        """Models and runs go to other processes, by fork and by spawn."""
        m = trundle.load(CART_POLE, case="pushed")
        models = [m.variant(set={"l": 0.3 + 0.1 * i}) for i in range(4)]
        want = [end_of(one) for one in models]
        for kind in "fork", "spawn":
            with concurrent.futures.ProcessPoolExecutor(
                    2, mp_context=multiprocessing.get_context(kind)) as pool:
                self.assertEqual(list(pool.map(end_of, models)), want)


class Others(unittest.TestCase):
    def test_pandas(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("there is no pandas")
        table = trundle.load(CART_POLE).simulate(end=1).to_pandas()
        self.assertEqual(table.index.name, "t")
        self.assertIn("angle", table.columns)

    def test_matplotlib(self):
        try:
            import matplotlib
            matplotlib.use("Agg")
            from matplotlib import pyplot
        except ImportError:
            self.skipTest("there is no matplotlib")
        r = trundle.load(CART_POLE).simulate(end=1)
        pyplot.plot(r.t, r["angle"])

    def test_scipy(self):
        """Its Riccati solver has the gains of ours; its integrator our accelerations."""
        try:
            import numpy
            import scipy.integrate
            import scipy.linalg
        except ImportError:
            self.skipTest("there is no SciPy")
        m = trundle.load(CART_POLE, case="free", set={"tilt": 0})
        k = m.lqr("push", q={"x": 10})
        P = scipy.linalg.solve_continuous_are(k.A, k.B, k.Q, k.R)
        numpy.testing.assert_allclose(numpy.linalg.solve(k.R, k.B.T @ P), k.K, rtol=1e-8, atol=1e-9)
        m = trundle.load(CART_POLE, case="free")
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
