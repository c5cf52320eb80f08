#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Teaches a cart to balance its pole, whose mass and length it does not know.

    PYTHONPATH=build/python examples/balance.py [MODEL [ROUNDS]]

The policy is a line: the push is a sum of gains times place, angle and their rates. A search by
cross-entropy finds the gains: many are drawn from a normal distribution, each drives some carts, and
the distribution moves to the best. All carts go side by side, in one batch of trundle.
"""
import sys

import numpy as np

from trundle.env import Env, VectorEnv

POLICIES, EACH, BEST = 48, 4, 8  # drawn in a round, carts that each drives, those that the next one is near
TASK = dict(case="free", act={"push": (-10, 10)}, observe=["x", "angle", "x_rate", "angle_rate"],
            reward="1 - angle^2 - 0.1*x^2 - 0.001*push^2", until="abs(angle) > 0.6 || abs(x) > 2.4",
            every=0.02, step=0.01, limit=4,
            start={"tilt": (-0.3, 0.3), "m": (0.05, 0.2), "l": (0.3, 0.7)})


def returns(carts, gains, seed):
    """The mean reward of each policy, until its carts fall or time is over."""
    seen, _ = carts.reset(seed=seed)
    driver = np.repeat(gains, EACH, axis=0)
    total, alive = np.zeros(len(driver)), np.ones(len(driver), bool)
    while alive.any():
        seen, reward, fell, over, _ = carts.step(np.sum(driver * seen, axis=1, keepdims=True))
        total += alive * reward
        alive &= ~(fell | over)
    return total.reshape(-1, EACH).mean(axis=1)


def learn(model, rounds):
    random = np.random.default_rng(1)
    carts = VectorEnv(model, POLICIES * EACH, **TASK)
    mean, spread = np.zeros(4), np.full(4, 20.0)
    for k in range(rounds):
        gains = mean + spread * random.normal(size=(POLICIES, 4))
        value = returns(carts, gains, seed=1000 * k)
        best = gains[np.argsort(value)[-BEST:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 2.0 / (1 + k)
        print(f"round {k + 1:2}: {value.mean():6.1f} of 200 on average, {value.max():6.1f} at best; gains {np.round(mean, 1)}")
    return mean


def ride(model, gains, seed):
    """How long a cart of its own keeps the pole up, of 20 s, and where it is then."""
    cart = Env(model, **{**TASK, "limit": 20})
    seen, info = cart.reset(seed=seed)
    fell = over = False
    while not (fell or over):
        seen, _, fell, over, info = cart.step([gains @ seen])
    return info["t"], seen


def main():
    model = sys.argv[1] if len(sys.argv) > 1 else "models/cart_pole.yaml"
    gains = learn(model, int(sys.argv[2]) if len(sys.argv) > 2 else 12)
    rides = [ride(model, gains, seed) for seed in range(77, 87)]
    stood = sum(t >= 20 - 1e-6 and abs(seen[1]) < 0.05 for t, seen in rides)
    print(f"{stood} of {len(rides)} carts that it never saw balance for 20 s")
    without, _ = ride(model, np.zeros(4), 77)
    print(f"without it, one falls after {without:.2f} s")
    return 0 if stood == len(rides) and without < 5 else 1


if __name__ == "__main__":
    sys.exit(main())
