# SPDX-License-Identifier: Apache-2.0
"""Environments for learners, in Gymnasium's form, of any model and a formula for its reward.

    >>> env = trundle.env.Env("cart_pole.yaml", case="free", act={"push": (-10, 10)},
    ...                       observe=["x", "x_rate", "angle", "angle_rate"],
    ...                       reward="1 - angle^2 - 0.001*push^2", until="abs(angle) > 0.5",
    ...                       every=0.02, limit=10, start={"tilt": (-0.1, 0.1)})
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

VectorEnv(model, n, ...) has n of them side by side, on a batch. Each has the bits of an Env with its
seed: the i-th of reset(seed=s) is that of Env.reset(seed=s + i), episode after episode.

Reward, end and whatever is observed and is no column are formulas of the model's names; the library
evaluates them, as outputs. Gymnasium is not needed: where it is installed, these are its Env and
VectorEnv, with its spaces; else they look the same.
"""

from __future__ import annotations

import copy
import math
import operator
import os
from collections.abc import Mapping

import numpy as np

from .errors import Error, UsageError
from .model import load

try:
    import gymnasium
    import gymnasium.vector
except ImportError:
    gymnasium = None

Base = gymnasium.Env if gymnasium else object
VectorBase = gymnasium.vector.VectorEnv if gymnasium else object
REWARD, ENDED, SEEN = "env_reward", "env_ended", "env_seen"


class Box:
    """Numbers between bounds, as gymnasium.spaces.Box."""

    def __init__(self, low, high, shape=None, dtype=np.float64, seed=None):
        self.dtype = np.dtype(dtype)
        shape = np.broadcast_shapes(np.shape(low), np.shape(high)) if shape is None else tuple(shape)
        self.low, self.high = (np.broadcast_to(np.asarray(x, self.dtype), shape).copy() for x in (low, high))
        self.shape = shape
        self.seed(seed)

    def seed(self, seed=None):
        self.np_random = np.random.default_rng(seed)
        return seed

    def sample(self, mask=None):
        """Evenly where both bounds are there, else normal from the one that is, or from 0."""
        random, low, high = self.np_random, self.low, self.high
        has_low, has_high = np.isfinite(low), np.isfinite(high)
        x = random.normal(size=self.shape)
        x = np.where(has_low & ~has_high, np.where(has_low, low, 0) + abs(x), x)
        x = np.where(has_high & ~has_low, np.where(has_high, high, 0) - abs(x), x)
        both = has_low & has_high
        return np.where(both, random.uniform(np.where(both, low, 0), np.where(both, high, 1)), x).astype(self.dtype)

    def contains(self, x):
        x = np.asarray(x)
        return x.shape == self.shape and bool(np.all(x >= self.low) and np.all(x <= self.high))

    __contains__ = contains

    def __eq__(self, other):
        return isinstance(other, Box) and self.shape == other.shape and bool(
            np.array_equal(self.low, other.low) and np.array_equal(self.high, other.high))

    def __repr__(self):
        return f"Box({self.low}, {self.high}, {self.shape}, {self.dtype})"


def box(low, high):
    kind = gymnasium.spaces.Box if gymnasium else Box
    return kind(np.asarray(low, float), np.asarray(high, float), dtype=np.float64)


# ---- what there is to learn --------------------------------------------------------------------


def _words(given, what):
    """Names, or several things by name."""
    if not hasattr(given, "__iter__"):
        raise TypeError(f"{what}: names were expected, 'a,b' or a list of them, not {given!r}")


class Task:
    """A model with what is done, seen and wanted: what Env and VectorEnv share."""

    def __init__(self, model, *, act, observe, reward, every, until=None, limit=math.inf, start=None,
                 step=None, method="rk4", failure=0.0, **options):
        _words(act, "act"), _words(observe, "observe")
        if not isinstance(start or {}, Mapping):
            raise TypeError(f"start: a dict of names and what they are drawn from was expected, not {start!r}")
        model = load(model, **options) if isinstance(model, (str, os.PathLike)) else \
            model.variant(**options) if options else model
        self.inputs, self.low, self.high = self._actions(model, act)
        self.every, self.limit = self._positive(every, "every"), self._positive(limit, "limit")
        self.failure = self._number(failure, "failure")
        self.names = observe.replace(",", " ").split() if isinstance(observe, str) else list(observe)
        if not self.names:
            raise UsageError("'observe' names columns, or is a list of formulas")
        self.run_options = {"method": method} if step is None else {"method": method, "step": step}
        formulas, self.seen = {REWARD: str(reward)}, []
        if until is not None:
            formulas[ENDED] = f"if({until}, 1, 0)"
        for name in self.names:
            self.seen.append(name if name in model._stepped else f"{SEEN}{len(formulas)}")
            if name not in model._stepped:
                formulas[self.seen[-1]] = name
        self.model = model.variant(outputs={**model._how["outputs"], **formulas})
        self.ends = until is not None
        self.columns = self.seen + [REWARD] + ([ENDED] if self.ends else [])
        try:
            self.model.system
        except Error as error:
            words = {REWARD: "reward", ENDED: "until", **dict(zip(self.seen, self.names))}
            name = next((name for name in words if f"{name!r} is set to" in error.message), None)
            if name is None:
                raise
            raise type(error)(error.message.replace(repr(name), repr(words[name]), 1)) from None
        self.start = self._starts(start or {})
        self.neutral = {name: value if math.isfinite(value := float(self.model.inputs[name])) else 0.0
                        for name in self.inputs}

    @staticmethod
    def _number(value, what):
        try:
            return float(value)
        except (TypeError, ValueError):
            raise TypeError(f"{what}: a number was expected, not {value!r}") from None

    @staticmethod
    def _positive(value, what):
        value = Task._number(value, what)
        if not value > 0:
            raise UsageError(f"'{what}' is a time above 0, not {value:g}")
        return value

    @staticmethod
    def _actions(model, act):
        if isinstance(act, str):
            act = act.replace(",", " ").split()
        bounds = {}
        for name in act:
            value = model.inputs[name]  # or a KeyError with what was meant
            given = act[name] if isinstance(act, dict) and act[name] is not None else (value.min, value.max)
            if np.shape(given) != (2,):
                raise UsageError(f"act[{name!r}] is two bounds, not {given!r}")
            low, high = (float(one) for one in given)
            if not low < high:
                raise UsageError(f"act[{name!r}]: ({low:g}, {high:g}) are no bounds, the lower first")
            bounds[name] = (low, high)
        if not bounds:
            raise UsageError("'act' names inputs, and what they may be")
        return list(bounds), np.array([b[0] for b in bounds.values()]), np.array([b[1] for b in bounds.values()])

    def _starts(self, start):
        there = set(self.model.parameters) | set(self.model.inputs) | set(self.model.start)
        for name, what in start.items():
            if name not in there:
                raise UsageError(f"start[{name!r}]: there is no parameter, input or number of the start of "
                                 f"that name; those are {', '.join(sorted(there))}")
            if not callable(what) and np.shape(what) not in ((), (2,)):
                raise UsageError(f"start[{name!r}] is a number, two bounds, or a function of a generator")
        return start

    def draw(self, random):
        """Numbers of one start, by name, always in one order."""
        numbers = dict(self.neutral)
        for name, what in self.start.items():
            if callable(what):
                numbers[name] = float(what(random))
            else:
                numbers[name] = float(random.uniform(*what) if np.shape(what) else what)
        return numbers

    def take(self, actions, shape):
        actions = np.asarray(actions, float).reshape(shape)
        if not np.isfinite(actions).all():
            raise UsageError("an action is not finite")
        return np.clip(actions, self.low, self.high)


def number_from(seed):
    return int(np.random.SeedSequence(seed).generate_state(1)[0]) if seed is None else int(seed)


# ---- one, and many -----------------------------------------------------------------------------


class Env(Base):
    """One environment.

    model       a file, or a Model; case, set, controls, ... are those of load()
    act         inputs, with bounds {"push": (-10, 10)}, or names of some that have a range
    observe     columns of runs, or formulas
    reward      a formula, after each step; until: a formula that is true where an episode ends
    every       time between actions [s]; limit: that of an episode, where it is truncated [s]
    start       what is different each time, by name of a parameter, an input or a number of the start:
                bounds to draw from evenly, a number, or a function of a NumPy generator
    step        of the method [s], rk4 unless `method` says otherwise; else as the case says
    failure     the reward of a step that cannot be made, which ends the episode
    """

    metadata = {"render_modes": []}
    render_mode = spec = None

    def __init__(self, model, **task):
        self.task = Task(model, **task)
        self.model = self.task.model
        self.run = self.model.open(**self.task.run_options)
        self.action_space = box(self.task.low, self.task.high)
        self.observation_space = box(*np.outer([-np.inf, np.inf], np.ones(len(self.task.seen))))
        self._at = [self.run.columns.index(name) for name in self.task.columns]
        self._np_random = self._np_random_seed = None  # Gymnasium's own checks look at them by these names
        self._now, self._over, self._has_options = None, True, False

    @property
    def unwrapped(self):
        return self

    def _seed(self, seed=None):
        self._np_random_seed = number_from(None) if seed is None else seed
        self._np_random = np.random.default_rng(self._np_random_seed)

    @property
    def np_random(self):
        """The generator of its starts."""
        if self._np_random is None:
            self._seed()
        return self._np_random

    @np_random.setter
    def np_random(self, random):
        self._np_random, self._np_random_seed = random, -1

    @property
    def np_random_seed(self):
        """What that was made with; -1 where it was set."""
        if self._np_random is None:
            self._seed()
        return self._np_random_seed

    def _look(self):
        row = self.run.row
        return np.array([row[i] for i in self._at])

    def reset(self, *, seed=None, options=None):
        """Another start: (observation, info). options: numbers of it that are not drawn, this once."""
        if seed is not None:
            self._seed(seed)
        if self._has_options:  # what they set is as the model has it again
            self.run = self.model.open(**self.task.run_options)
        self._has_options = bool(options)
        for name, value in {**self.task.draw(self.np_random), **(options or {})}.items():
            self.run.set(name, value)
        self.run.reset()
        self._count, self._over, self._now = 0, False, self._look()
        return self._now[:len(self.task.seen)].copy(), {"t": 0.0}

    def step(self, action):
        """(observation, reward, terminated, truncated, info)"""
        task = self.task
        if self._over:
            raise UsageError("an episode begins with reset()")
        for name, value in zip(task.inputs, task.take(action, len(task.inputs))):
            self.run.set(name, value)
        self._count += 1
        t, info, failed = self._count * task.every, {}, False
        try:
            self.run.advance(t)
            self._now = self._look()
        except Error as error:
            failed, info["failure"] = True, str(error)
        seen = len(task.seen)
        reward = task.failure if failed else float(self._now[seen])
        terminated = failed or bool(task.ends and self._now[seen + 1] > 0)
        truncated = not failed and t >= task.limit - 1e-9 * task.every
        self._over = terminated or truncated
        return self._now[:seen].copy(), reward, terminated, truncated, {"t": t, **info}

    def close(self):
        pass

    def render(self):
        return None

    def __copy__(self):
        return copy.deepcopy(self)  # which goes on by itself, as a copy of its run does

    def __repr__(self):
        return f"<environment of {self.model.name!r}>"


class VectorEnv(VectorBase):
    """n environments side by side: VectorEnv(model, n, ...) with all that Env takes.

    Those whose episode is over begin anew in the same step (Gymnasium's autoreset "same_step"): what
    was seen at the end is info["final_obs"], and what Env's info has there info["final_info"], "t" and
    "failure", of those in the mask info["_final_obs"].
    """

    render_mode = spec = None

    def __init__(self, model, n, *, threads=None, **task):
        self.task = Task(model, **task)
        self.model, self.num_envs = self.task.model, operator.index(n)
        self.batch = self.model.batch(self.num_envs, threads=threads, **self.task.run_options)
        low, high, seen = self.task.low, self.task.high, len(self.task.seen)
        self.single_action_space = box(low, high)
        self.action_space = box(np.tile(low, (n, 1)), np.tile(high, (n, 1)))
        self.single_observation_space = box(np.full(seen, -np.inf), np.full(seen, np.inf))
        self.observation_space = box(np.full((n, seen), -np.inf), np.full((n, seen), np.inf))
        mode = "same_step"
        if gymnasium and hasattr(gymnasium.vector, "AutoresetMode"):
            mode = gymnasium.vector.AutoresetMode.SAME_STEP
        self.metadata = {"render_modes": [], "autoreset_mode": mode}
        self._randoms = None

    @property
    def unwrapped(self):
        return self

    def _begin(self, which):
        """New starts of those in a mask."""
        drawn = [self.task.draw(random) if anew else None for random, anew in zip(self._randoms, which)]
        names = next((list(numbers) for numbers in drawn if numbers), [])
        for name in names:
            self.batch.set(name, np.array([numbers[name] if numbers else 0.0 for numbers in drawn]), which)
        self._count[which] = 0
        self.batch.reset(which)
        self._now = np.array(self.batch.read(self.task.columns))

    def reset(self, *, seed=None, options=None):
        """Other starts: (observations, info). seed: that of the first, or one for each."""
        if options:
            raise UsageError("environments side by side take no options: 'start' says what is different")
        if np.ndim(seed) and len(seed) != self.num_envs:
            raise UsageError(f"seed: a number, or one for each of {self.num_envs}, not {len(seed)}")
        if seed is not None or self._randoms is None:
            first = number_from(seed) if np.ndim(seed) == 0 else None
            seeds = [first + i for i in range(self.num_envs)] if first is not None else list(seed)
            self._randoms = [np.random.default_rng(one) for one in seeds]
        self._count = np.zeros(self.num_envs, int)
        self._begin(np.ones(self.num_envs, bool))
        return self._now[:, :len(self.task.seen)].copy(), {"t": np.zeros(self.num_envs)}

    def step(self, actions):
        """(observations, rewards, terminated, truncated, info)"""
        if self._randoms is None:
            raise UsageError("an episode begins with reset()")
        task, seen = self.task, len(self.task.seen)
        actions = task.take(actions, (self.num_envs, len(task.inputs)))
        for k, name in enumerate(task.inputs):
            self.batch.set(name, actions[:, k])
        self._count += 1
        t = self._count * task.every
        self.batch.advance(t)
        now = np.array(self.batch.read(task.columns))
        failed, failures = np.isnan(now[:, seen]), {}
        if failed.any():  # a reward may be nan, too
            failures = self.batch.failures
            failed = np.isin(np.arange(self.num_envs), list(failures))
        now[failed] = self._now[failed]
        rewards = np.where(failed, task.failure, now[:, seen])
        terminated = failed | (now[:, seen + 1] > 0) if task.ends else failed
        truncated = ~failed & (t >= task.limit - 1e-9 * task.every)
        over, info, self._now = terminated | truncated, {"t": t}, now
        if over.any():
            info.update(final_obs=now[:, :seen].copy(), _final_obs=over, _final_info=over,
                        final_info=self._last_words(t, over, failures))
            self._begin(over)
            info["t"] = self._count * task.every
        return self._now[:, :seen].copy(), rewards, terminated, truncated, info

    @staticmethod
    def _last_words(t, over, failures):
        """Infos of those that are over, as Gymnasium has them of many: arrays, with masks of who they are of."""
        info = {"t": np.where(over, t, 0), "_t": over}
        if failures:
            words = np.full(len(t), None)
            for run, error in failures.items():
                words[run] = str(error)
            info.update(failure=words, _failure=np.array([one is not None for one in words]))
        return info

    def close(self, **options):
        pass

    def render(self):
        return None

    def __copy__(self):
        return copy.deepcopy(self)

    def __repr__(self):
        return f"<{self.num_envs} environments of {self.model.name!r}>"
