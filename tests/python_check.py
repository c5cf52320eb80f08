#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The Python module, at length: speed beside C, memory over many loads and runs, many processes.

    tests/python_check.py LOOP ROOT       with PYTHONPATH where the built package is
"""

import array
import concurrent.futures
import gc
import multiprocessing
import os
import resource
import subprocess
import sys
import unittest

import trundle

LOOP, ROOT = (os.path.abspath(path) for path in sys.argv[1:3])
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

    def test_setting_and_reading(self):
        """Of an input and a column of many runs: no more than a step of all."""
        b = trundle.load(os.path.join(ROOT, "models/bicycle.yaml"), case="turn").batch(RUNS, step=STEP / 5, threads=1)
        torques, took = [array.array("d", (0.001 * ((k + i) % 7) for i in range(RUNS))) for k in range(7)], []
        for act in (lambda k: b.step(STEP / 5), lambda k: (b.set("steer_torque", torques[k % 7]), b.read(["roll"]))):
            act(0)  # what is made and imported once
            start = seconds()
            for k in range(2000):
                act(k)
            took.append((seconds() - start) / 2000)
        print(f"of {RUNS} bicycles: a step {1e6 * took[0]:.1f} us, setting an input and reading a column {1e6 * took[1]:.1f} us")
        self.assertLess(took[1], took[0])

    def test_inputs_by_name(self):
        """s.u[...] = x makes nothing that stays: it costs less than a step may (above C)."""
        s = trundle.load(CART_POLE, case="free").open(method="rk4", step=STEP)
        start = seconds()
        for _ in range(STEPS // 5):
            s.u["push"] = 1.0
        took = (seconds() - start) / (STEPS // 5)
        print(f"s.u['push'] = 1.0: {1e9 * took:.0f} ns")
        self.assertLess(took, 2e-6)

    def run_alone(self, m):
        s = m.open(method="rk4", step=STEP)
        start = seconds()
        for _ in range(STEPS):
            s.step(STEP)
        return seconds() - start


class Memory(unittest.TestCase):
    def grows(self, call, warm, count):
        """[bytes] a call, in that quarter of them where it is least: what leaks does in all of them, and
        memory that threads have for themselves comes late."""
        for _ in range(warm):
            call()
        found = []
        for _ in range(4):
            gc.collect()
            before = resident()
            for _ in range(count // 4):
                call()
            gc.collect()
            found.append((resident() - before) / (count // 4))
        return min(found)

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
            b.restore(b.save())
            try:
                b.restore([b""] * 8)
            except trundle.Error:
                pass
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
