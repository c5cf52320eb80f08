# SPDX-License-Identifier: Apache-2.0
"""A bicycle changes lanes: the steering torque that does it, by Gauss and Newton's method on a
whole trajectory, with the exact slopes that generated code has.

    trundle export models/bicycle.yaml --case straight --to casadi -o bicycle
    cc -O2 -fPIC -shared -o bicycle.so bicycle/bicycle.c bicycle/bicycle_casadi.c -lm
    python3 examples/lane_change.py bicycle.so bicycle/bicycle.h
"""
import ctypes
import re
import sys

import numpy as np

from casadi_functions import External

library, header = sys.argv[1], open(sys.argv[2]).read()
index = {name: int(k) for name, k in re.findall(r"bicycle_(\w+) = (\d+)", header)}
size = {name: int(k) for name, k in re.findall(r"BICYCLE_(\w+) = (\d+)", header)}
f, jac = External(library, "bicycle_f"), External(library, "bicycle_jac")

c = ctypes.CDLL(library)
p, u0, x0, w = [np.zeros(size[n] + 1) for n in ("NP", "NU", "NX", "NWORK")]
at = lambda array: array.ctypes.data_as(ctypes.c_void_p)
c.bicycle_parameters(at(p))
p[index["p_speed0"]] = 5.5
c.bicycle_inputs(at(p), at(u0))
assert c.bicycle_initial(at(p), at(x0), None, at(w)) == 0
p, u0, x0 = p[:-1], np.nan_to_num(u0[:-1]), x0[:-1]

STEPS, H, LANE, TORQUE = 60, 0.05, 1.5, index["u_steer_torque"]
lateral, turned = index["q_frame_y"], [index["q_frame_qx"], index["q_frame_qz"]]


def step(t, x, u):
    """The classical method of fourth order, and its slopes by x and by the torque."""
    k, Kx, Ku = np.zeros_like(x), np.zeros((len(x), len(x))), np.zeros(len(x))
    to, Sx, Su = np.zeros_like(x), np.zeros_like(Kx), np.zeros_like(Ku)
    for a, b in ((0, 1), (0.5, 2), (0.5, 2), (1, 1)):
        z, (Jx, Ju) = x + a * H * k, jac(t + a * H, x + a * H * k, u, p)
        k, Kx, Ku = f(t + a * H, z, u, p), Jx + a * H * Jx @ Kx, Ju[:, TORQUE] + a * H * Jx @ Ku
        to, Sx, Su = to + b * k, Sx + b * Kx, Su + b * Ku
    return x + H / 6 * to, np.eye(len(x)) + H / 6 * Sx, H / 6 * Su


def residuals(torque):
    """What should be small, and its slopes: the torque, and lane, lean and heading from half way on."""
    x, S, r, J = x0.copy(), np.zeros((len(x0), STEPS)), [0.3 * torque], [0.3 * np.eye(STEPS)]
    for k in range(STEPS):
        u = u0.copy()
        u[TORQUE] = torque[k]
        x, A, B = step(k * H, x, u)
        S = A @ S
        S[:, k] += B
        late = 1.0 if k >= STEPS // 2 else 0.0
        r.append(late * np.append(x[lateral] - LANE, 3 * x[turned]))
        J.append(late * np.vstack([S[lateral], 3 * S[turned]]))
    return np.concatenate(r), np.vstack(J), x


torque = np.zeros(STEPS)
for iteration in range(50):
    r, J, x = residuals(torque)
    direction, share = np.linalg.lstsq(J, -r, rcond=None)[0], 1.0
    while share > 1e-3 and not np.sum(residuals(torque + share * direction)[0] ** 2) < r @ r:
        share /= 2
    torque = torque + share * direction
    print(f"{iteration}: cost {r @ r:.9g}, at y = {x[lateral]:.4f} m, slope {np.abs(J.T @ r).max():.2e}")
    if np.abs(direction).max() < 1e-8:
        break
converged = np.abs(J.T @ r).max() < 1e-6
print(f"{'found' if converged else 'NOT FOUND'}: torques up to {np.abs(torque).max():.3f} Nm, "
      f"{x[lateral]:.3f} m to the side")
sys.exit(0 if converged else 1)
