#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Environments for learners: one and many have the same bits, seeds decide everything, episodes end
as they should, and the spaces are as Gymnasium's; what is wrong is refused in words.

    tests/python_env_test.py TRUNDLE ROOT       with PYTHONPATH where the built package is
"""
import copy
import pathlib
import pickle
import subprocess
import sys
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is missing (tools/setup test installs it)")
    sys.exit(0)
import trundle
from trundle import env

MODEL = str(pathlib.Path(sys.argv[2]) / "models/cart_pole.yaml")
HOW = dict(case="free", act={"push": (-10, 10)}, observe=["x", "x_rate", "angle", "angle_rate", "sin(angle)"],
           reward="1 - angle^2 - 0.001*push^2", until="abs(angle) > 0.5 || abs(x) > 2", every=0.02, limit=1.0,
           start={"tilt": (-0.1, 0.1), "m": lambda random: random.normal(0.1, 0.01), "l": 0.4}, step=0.005)
FALLING = """trundle: 1
inputs: {push: {value: 0, min: -2, max: 2}}
bodies:
  point: {joint: {type: prismatic, axis: "0, 0, 1", coordinate: z}, mass: 1}
forces: {pull: {body: point, force: "0, 0, push + sqrt(0.5 - t)"}}
initial: {z: 1}
"""


class Environments(unittest.TestCase):
    def test_same_bits(self):
        """The i-th of many with a seed s is one with the seed s + i, over many episodes."""
        n, random, ends = 5, np.random.default_rng(0), 0
        many = env.VectorEnv(MODEL, n, **HOW)
        ones = [env.Env(MODEL, **HOW) for _ in range(n)]
        seen, _ = many.reset(seed=7)
        np.testing.assert_array_equal(seen, [one.reset(seed=7 + i)[0] for i, one in enumerate(ones)])
        for _ in range(160):
            actions = random.uniform(-10, 10, (n, 1))
            seen, rewards, ended, cut, info = many.step(actions)
            for i, one in enumerate(ones):
                own, reward, its_end, its_cut, its = one.step(actions[i])
                self.assertEqual((reward, its_end, its_cut), (rewards[i], ended[i], cut[i]))
                if its_end or its_cut:
                    ends += 1
                    self.assertTrue(info["_final_obs"][i])
                    np.testing.assert_array_equal(info["final_obs"][i], own)
                    self.assertEqual(info["final_info"]["t"][i], its["t"])
                    own, its = one.reset()
                self.assertEqual(info["t"][i], its["t"])
                np.testing.assert_array_equal(own, seen[i])
        self.assertGreater(ends, 10)

    def test_against_a_run(self):
        """Observations, rewards and the end are what a run has, and formulas of it."""
        one = env.Env(MODEL, **HOW)
        seen, _ = one.reset(seed=3, options={"tilt": 0.05, "m": 0.2})
        run = one.model.open(method="rk4", step=0.005)
        for name, value in (("tilt", 0.05), ("m", 0.2), ("l", 0.4)):
            run.set(name, value)
        run.reset()
        for k in range(50):
            push = 3.0 if k % 2 else -1.0
            run.set("push", push)
            run.advance((k + 1) * 0.02)
            seen, reward, ended, cut, info = one.step([push])
            self.assertEqual(list(seen[:4]), [run[name] for name in ("x", "x_rate", "angle", "angle_rate")])
            self.assertAlmostEqual(seen[4], np.sin(run["angle"]), delta=1e-15)
            self.assertAlmostEqual(reward, 1 - run["angle"]**2 - 0.001*push**2, delta=1e-15)
            self.assertEqual(ended, abs(run["angle"]) > 0.5 or abs(run["x"]) > 2)
            if ended or cut:
                break
        self.assertTrue(ended or cut)
        self.assertEqual(cut, info["t"] >= 1 - 1e-9)

    def test_seeds(self):
        one = env.Env(MODEL, **HOW)
        first, again, other = (one.reset(seed=seed)[0] for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, again)
        self.assertNotEqual(first[2], other[2])
        self.assertNotEqual(one.reset()[0][2], other[2])
        self.assertTrue(all(abs(one.reset()[0][2]) <= 0.1 for _ in range(50)))

    def test_options(self):
        """They are for one episode, also where they are refused: a seed decides the next one."""
        one, fresh = env.Env(MODEL, **{**HOW, "start": {"tilt": (-0.1, 0.1)}}), env.Env(MODEL, **{**HOW, "start": {"tilt": (-0.1, 0.1)}})
        want = fresh.reset(seed=1)[0], fresh.step([3])[0]
        one.reset(seed=1, options={"l": 0.9})
        self.assertNotEqual(list(one.step([3])[0]), list(want[1]))
        for options in {"l": 0.8}, {"m": -1}, {"none": 1}:
            try:
                one.reset(options=options)
            except trundle.Error:
                self.assertNotIn("l", options)
            np.testing.assert_array_equal((one.reset(seed=1)[0], one.step([3])[0]), want)

    def test_actions(self):
        """Actions beyond the bounds are cut off; the last one does not reach into the next episode."""
        one, two = env.Env(MODEL, **HOW), env.Env(MODEL, **HOW)
        one.reset(seed=1), two.reset(seed=1)
        np.testing.assert_array_equal(one.step([1e6])[0], two.step([10])[0])
        np.testing.assert_array_equal(one.reset(seed=1)[0], env.Env(MODEL, **HOW).reset(seed=1)[0])

    def test_failure(self):
        """A run that cannot go on ends its episode; others go on."""
        model = trundle.parse(FALLING)
        how = dict(act="push", observe=["z"], reward="1", every=0.1, step=0.01, failure=-5)
        one, many = env.Env(model, **how), env.VectorEnv(model, 3, **how)
        one.reset(seed=1), many.reset(seed=1)
        self.assertEqual((one.action_space.low[0], one.action_space.high[0]), (-2, 2))
        for _ in range(10):
            seen, reward, ended, cut, info = one.step([0.5])
            rewards, ends, _, infos = many.step(np.full((3, 1), 0.5))[1:]
            self.assertEqual((list(rewards), list(ends)), ([reward] * 3, [ended] * 3))
            if ended:
                break
        self.assertEqual((reward, ended, cut), (-5, True, False))
        self.assertTrue(np.isfinite(seen).all() and info["failure"])
        self.assertEqual(list(infos["final_info"]["failure"]), [info["failure"]] * 3)
        self.assertTrue(infos["final_info"]["_failure"].all() and infos["_final_info"].all())
        self.assertFalse(many.step(np.zeros((3, 1)))[2].any())
        with self.assertRaisesRegex(trundle.UsageError, "reset"):
            one.step([0])

    def test_reward_that_is_none(self):
        """A formula without a value is no failure, in one and in many."""
        how = dict(act="push", observe=["z"], reward="sqrt(z - 0.9)", every=0.1, step=0.01)
        model = trundle.parse(FALLING)
        one, many = env.Env(model, **how), env.VectorEnv(model, 2, **how)
        one.reset(seed=1), many.reset(seed=1)
        for _ in range(4):
            _, reward, ended, _, _ = one.step([-2])
            _, rewards, ends, _, _ = many.step(np.full((2, 1), -2.0))
            np.testing.assert_array_equal(rewards, [reward] * 2)
            self.assertEqual((ended, list(ends)), (False, [False] * 2))
        self.assertTrue(np.isnan(reward))

    def test_spaces(self):
        one, many = env.Env(MODEL, **HOW), env.VectorEnv(MODEL, 4, **HOW)
        self.assertEqual((one.action_space.shape, one.observation_space.shape), ((1,), (5,)))
        self.assertEqual((many.action_space.shape, many.observation_space.shape), ((4, 1), (4, 5)))
        self.assertEqual((many.num_envs, many.single_action_space.shape), (4, (1,)))
        one.action_space.seed(4)
        drawn = [one.action_space.sample() for _ in range(100)]
        self.assertTrue(all(x in one.action_space for x in drawn) and max(drawn) > 8 and min(drawn) < -8)
        self.assertTrue(one.reset(seed=0)[0] in one.observation_space)
        self.assertFalse(np.array([11.0]) in one.action_space)
        for x, low, high in ((env.Box(0, np.inf, (9,)), 0, np.inf), (env.Box(-np.inf, 1, (9,)), -np.inf, 1)):
            self.assertTrue(x.sample() in x and x.low[0] == low and x.high[0] == high)
        self.assertIs(one.unwrapped, one)
        self.assertEqual(env.Env(MODEL, **{**HOW, "observe": "x, angle"}).observation_space.shape, (2,))
        one.close(), many.close()

    def test_refused(self):
        for words, change in (("no input 'pish'", dict(act={"pish": (-1, 1)})),
                              ("bounds, the lower first", dict(act={"push": (1, -1)})),
                              ("names inputs", dict(act={})),
                              ("is two bounds", dict(act={"push": 3})),
                              ("names columns", dict(observe=[])),
                              ("above 0", dict(every=0)),
                              ("above 0", dict(limit=-1)),
                              ("'angel' is set to .* 'angel'", dict(observe=["angel"])),
                              ("^'reward' is set to .* 'angel'", dict(reward="angel")),
                              ("^'until' is set to .* 'angel'", dict(until="angel > 1")),
                              ("tolt", dict(start={"tolt": 1})),
                              ("two bounds", dict(start={"tilt": (1, 2, 3)})),
                              ("magic", dict(method="magic")),
                              ("fre", dict(case="fre"))):
            with self.subTest(words), self.assertRaisesRegex((trundle.Error, KeyError), words):
                env.Env(MODEL, **{**HOW, **change})
        for name in ("observe", "act", "start"):
            with self.assertRaisesRegex(TypeError, f"^{name}: "):
                env.Env(MODEL, **{**HOW, name: 3})
        for name in ("every", "limit", "failure"):
            with self.assertRaisesRegex(TypeError, f"^{name}: a number was expected"):
                env.Env(MODEL, **{**HOW, name: "x"})
        with self.assertRaisesRegex(TypeError, "integer"):
            env.VectorEnv(MODEL, 2.5, **HOW)
        with self.assertRaisesRegex(TypeError, "integer"):
            trundle.autograd.Step(trundle.load(MODEL), 0.1, steps=2.9)
        many = env.VectorEnv(MODEL, 2, **HOW)
        with self.assertRaisesRegex(trundle.UsageError, "reset"):
            many.step(np.zeros((2, 1)))
        many.reset(seed=1)
        with self.assertRaises(ValueError):
            many.step(np.zeros(3))
        with self.assertRaisesRegex(trundle.UsageError, "finite"):
            many.step(np.full((2, 1), np.nan))


# What stands for Gymnasium: of its bases what environments take from them, and what its checks of
# environments look at
GYMNASIUM = """
import copy, sys, types
gymnasium, vector, spaces = (types.ModuleType(name) for name in ("gymnasium", "gymnasium.vector", "gymnasium.spaces"))
class Base:
    _np_random = _np_random_seed = None
gymnasium.Env, vector.VectorEnv = type("Env", (Base,), {}), type("VectorEnv", (Base,), {"closed": False})
vector.AutoresetMode = types.SimpleNamespace(SAME_STEP="the same step")
gymnasium.vector, gymnasium.spaces = vector, spaces
sys.modules.update({"gymnasium": gymnasium, "gymnasium.vector": vector, "gymnasium.spaces": spaces})
class Box:
    def __init__(self, low, high, dtype):
        self.low, self.high, self.dtype = low, high, dtype
spaces.Box = Box
from trundle import env
task = dict(act={"push": (-1, 1)}, observe="x", reward="1", every=0.1, start={"tilt": (0, 1)})
one, many = env.Env(sys.argv[1], **task), env.VectorEnv(sys.argv[1], 2, **task)
assert isinstance(one, gymnasium.Env) and isinstance(many, vector.VectorEnv)
assert isinstance(one.action_space, Box) and many.metadata["autoreset_mode"] == "the same step"
one.reset(seed=123)
first = copy.deepcopy(one.unwrapped._np_random)
assert one.np_random_seed == one._np_random_seed == 123
one.reset(seed=123)
assert one._np_random.bit_generator.state == first.bit_generator.state
one.reset(seed=456)
assert one._np_random.bit_generator.state != first.bit_generator.state
one.reset(options={})
one.np_random = first
assert one.np_random is first and one.np_random_seed == -1
"""


class Beside(unittest.TestCase):
    def test_gymnasium(self):
        """Where it is installed, these are of its classes, with its spaces, and its checks find the generator."""
        subprocess.run([sys.executable, "-c", GYMNASIUM, MODEL], check=True)

    def test_copies(self):
        """They go on by themselves, with the same numbers, into the next episode."""
        how = {**HOW, "start": {"tilt": (-0.1, 0.1)}}
        for one in env.Env(MODEL, **how), env.VectorEnv(MODEL, 2, **how):
            actions = np.full(one.action_space.shape, 3.0)
            one.reset(seed=3)
            one.step(actions)
            others = [copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))]
            want = [one.step(actions)[0], one.reset()[0]]
            for other in others:
                np.testing.assert_array_equal([other.step(actions)[0], other.reset()[0]], want)


class Batches(unittest.TestCase):
    def test_many_refused(self):
        many = env.VectorEnv(MODEL, 3, **HOW)
        self.assertIn("push", repr(many.batch.u))
        for words, given in (("one for each of 3, not 2", dict(seed=[1, 2])), ("no options", dict(options={"m": 1}))):
            with self.assertRaisesRegex(trundle.UsageError, words):
                many.reset(**given)

    def test_steps_apart(self):
        """Runs that began anew go on from there, and the others from where they are."""
        model = trundle.load(MODEL, case="free")
        batch, runs = model.batch(3, step=0.005), [model.open(method="rk4", step=0.005) for _ in range(3)]
        for k in range(6):
            batch.step(0.05)
            for run in runs:
                run.advance(run.t + 0.05)
            if k == 2:
                batch.reset([False, True, False])
                runs[1].reset()
            self.assertEqual(list(batch["angle"]), [run["angle"] for run in runs])
        batch.advance(1.0)
        self.assertEqual(list(batch["t"]), [1, 1, 1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
