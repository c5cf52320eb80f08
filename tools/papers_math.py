# SPDX-License-Identifier: Apache-2.0
"""What the formulas in docs/papers/*.toml may use besides Python's own arithmetic.

A Series is a column of numbers that adds and multiplies row by row. The bicycle's part turns
what trundle evaluated and linearised into what the benchmark papers print.
"""
import cmath
import math


class Series(list):
    def _with(self, other, operation):
        if isinstance(other, list):
            if len(other) != len(self):
                raise ValueError(f"columns of {len(self)} and {len(other)} rows")
            return Series(operation(a, b) for a, b in zip(self, other))
        return Series(operation(a, other) for a in self)

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._with(other, lambda a, b: a / b)

    def __pow__(self, power):
        return Series(a**power for a in self)

    def __neg__(self):
        return Series(-a for a in self)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other):
        return -self + other


def lifted(function):
    def of(x):
        return Series(map(function, x)) if isinstance(x, list) else function(x)
    return of


sin, cos, tan, atan, sqrt, size = map(
    lifted, (math.sin, math.cos, math.tan, math.atan, math.sqrt, abs))
pi = math.pi


def when(series, times, start, end):
    """The rows of a column from one time to another."""
    return Series(a for a, t in zip(series, times) if start - 1e-9 <= t <= end + 1e-9)


def mean_curvature(run, start, end):
    """Of the rear wheel's track, which points where the bicycle points."""
    x, y, yaw = (when(run[k], run["t"], start, end) for k in ("rear_x", "rear_y", "yaw"))
    length = sum(math.hypot(x[i] - x[i - 1], y[i] - y[i - 1]) for i in range(1, len(x)))
    return (yaw[-1] - yaw[0]) / length


# ---- rotations -----------------------------------------------------------------------------

def product(A, B):
    return [[sum(a * b for a, b in zip(row, column)) for column in zip(*B)] for row in A]


def rotation(w, x, y, z):
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


def cross_matrix(w):
    return [[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]]


def along_frame(run, contact, axis):
    """The contact's force along an axis (0 forward, 1 left, 2 up) of the bicycle's frame."""
    def at(i):
        R = rotation(*(run[f"frame.q{k}"][i] for k in "wxyz"))
        return sum(run[f"contact.{contact}.F{k}"][i] * R[j][axis] for j, k in enumerate("xyz"))
    return Series(at(i) for i in range(len(run["t"])))


# ---- the bicycle's accelerations, as Basu-Mandal et al. print them --------------------------

def angle_motion(sine, cosine):
    """Value, rate and acceleration of atan2(sine, cosine), each given with its two derivatives."""
    (s, s1, s2), (c, c1, c2) = sine, cosine
    n = s * s + c * c
    rate = (s1 * c - s * c1) / n
    return math.atan2(s, c), rate, ((s2 * c - s * c2) - 2 * rate * (s * s1 + c * c1)) / n


def frame_motion(state):
    """Value, rate and acceleration of the frame's position and angles, from an evaluated state."""
    q, v, a = (lambda name, of=of: state[f"{of}.frame.{name}"] for of in ("q", "v", "vdot"))
    R = rotation(*map(q, ("qw", "qx", "qy", "qz")))
    W = cross_matrix([v(k) for k in ("wx", "wy", "wz")])
    R1 = product(R, W)
    R2 = [[x + y for x, y in zip(*rows)] for rows in zip(
        product(R1, W), product(R, cross_matrix([a(k) for k in ("wx", "wy", "wz")])))]
    V = [[v(k)] for k in ("vx", "vy", "vz")]
    A = [[a(k)] for k in ("vx", "vy", "vz")]
    motion = {}
    for i, name in enumerate("xyz"):
        motion[name] = q(name), product(R, V)[i][0], product(R, A)[i][0] + product(R1, V)[i][0]
    entry = lambda i, j, sign=1: tuple(sign * M[i - 1][j - 1] for M in (R, R1, R2))
    motion["yaw"] = angle_motion(entry(1, 2, -1), entry(2, 2))
    motion["pitch"] = angle_motion(entry(3, 1, -1), entry(3, 3))
    s, s1, s2 = entry(3, 2)
    c = math.sqrt(1 - s * s)
    c1 = -s * s1 / c
    motion["roll"] = angle_motion((s, s1, s2), (c, c1, -(s1 * s1 + s * s2 + c1 * c1) / c))
    return motion


# ---- the bicycle's linear equations, as Meijaard et al. print them --------------------------
# M q'' + v C1 q' + (g K0 + v^2 K2) q = f  with q = (lean to the right, steer to the right)

def inverse(A):
    (a, b), (c, d) = A
    n = a * d - b * c
    return [[d / n, -b / n], [-c / n, a / n]]


def scaled(A, factor):
    return [[factor * a for a in row] for row in A]


def plus(A, B):
    return [[a + b for a, b in zip(*rows)] for rows in zip(A, B)]


def lean_and_steer(linear):
    """q'' = K q + C q' + W f from the linear model that trundle found, whose velocities are others
    than q': q' = P q + T w, w' = X q + Y w + B f. Steering is to the left there."""
    if linear["states"][:2] != ["frame.rx", "steer"]:
        raise ValueError(f"the states are {linear['states']}")
    A, B = linear["A"], linear["B"]
    P, T, X, Y = ([row[j:j + 2] for row in A[i:i + 2]] for i in (0, 2) for j in (0, 2))
    pushed = [linear["inputs"].index(name) for name in ("roll_torque", "steer_torque")]
    C = product(product(T, Y), inverse(T))
    K = plus(product(T, X), scaled(product(C, P), -1))
    W = product(T, [[row[i] for i in pushed] for row in B[2:4]])
    to_the_right = lambda N: [[N[0][0], -N[0][1]], [-N[1][0], N[1][1]]]
    return [to_the_right(N) for N in (K, plus(C, P), W)]


def linear_bicycle(run, g=9.81, v=5.0):
    """M, C1, K0, K2 from the linear models at rest and at one speed."""
    (still, _, W), (rolling, damping, _) = (lean_and_steer(run(speed0=speed)) for speed in (0, v))
    M = inverse(W)
    K2 = scaled(product(M, plus(rolling, scaled(still, -1))), -1 / v**2)
    return {"M": M, "C1": scaled(product(M, damping), -1 / v), "K0": scaled(product(M, still), -1 / g),
            "K2": K2, "g": g}


def quartic(bicycle, v):
    """Coefficients of det(M s^2 + v C1 s + g K0 + v^2 K2), highest power first."""
    M, C1, K0, K2, g = (bicycle[k] for k in ("M", "C1", "K0", "K2", "g"))
    entry = lambda i, j: (M[i][j], v * C1[i][j], g * K0[i][j] + v * v * K2[i][j])
    times = lambda p, q: [sum(p[k] * q[n - k] for k in range(3) if 0 <= n - k < 3) for n in range(5)]
    return [a - b for a, b in zip(times(entry(0, 0), entry(1, 1)), times(entry(0, 1), entry(1, 0)))]


def roots(polynomial):
    """All at once (Durand and Kerner)."""
    monic = [a / polynomial[0] for a in polynomial]
    degree = len(monic) - 1
    found = [8 * cmath.exp(1j * (0.4 + 2 * math.pi * k / degree)) for k in range(degree)]
    for _ in range(500):
        for i, x in enumerate(found):
            value = 0
            for a in monic:
                value = value * x + a
            found[i] = x - value / math.prod(x - y for k, y in enumerate(found) if k != i)
    return sorted(found, key=lambda x: (x.real, x.imag))


def eigenvalues(sweep, v):
    """Castering, weave (real and imaginary part), capsize, for speeds where weave is a pair; all by
    size where there is none."""
    found = sweep["eigenvalues"][sweep["values"].index(v)]
    weave = max(found, key=lambda x: x[1])
    alone = sorted(x[0] for x in found if x[1] == 0)
    if len(alone) == 4:
        return alone
    castering, capsize = alone
    return {"capsize": capsize, "re": weave[0], "im": weave[1], "castering": castering}


def critical(sweep, kind):
    """The one place where stability changes in that way."""
    (found,) = (c for c in sweep["critical"] if c["kind"] == kind)
    return found


def zero_between(function, low, high):
    below = function(low) < 0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if (function(middle) < 0) == below else (low, middle)
    return (low + high) / 2


def meeting_speed(bicycle):
    """Where two real roots meet and become a pair."""
    return zero_between(lambda v: max(x.imag for x in roots(quartic(bicycle, v))) - 1e-4, 0.5, 0.9)


# ---- SK8O's loops ---------------------------------------------------------------------------

def solve(A, b):
    """x with A x = b."""
    rows = [[*row, x] for row, x in zip(A, b)]
    for k in range(len(rows)):
        best = max(range(k, len(rows)), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k])]
    return [row[-1] for row in rows]


def closing_force(tree):
    """F = (Y M^-1 J^T)^-1 (X u + Y M^-1 (S^T tau - b - g - s)) from the open tree: without forces in
    its hinges the loops begin to open at what is in the second bracket, and forces of 1 N on the
    free legs, which are -F, change that by the columns of Y M^-1 J^T."""
    forces = ["FRx", "FRz", "FLx", "FLz"]
    opening = lambda run: [run["outputs." + side + "opening_" + axis]
                           for side in ("", "left_") for axis in "xz"]
    alone = opening(tree)
    columns = [[x - y for x, y in zip(opening(tree(**{force: 1.0})), alone)] for force in forces]
    return dict(zip(forces, solve(list(zip(*columns)), alone)))


# ---- Kelly's bicycle of one body ------------------------------------------------------------

def lagrange_bicycle(push, L=1.0, gamma=0.1, speed=1.0):
    """Lines 06 to 11 of algorithm 4.2 at its start, with m = I = 1: accelerations, and the forces of the
    wheels on the body, rear and front."""
    psi = -math.atan(math.tan(gamma) / 2)
    omega = -speed * math.sin(psi) / L
    s, c, s_front, c_front = math.sin(psi), math.cos(psi), math.sin(psi + gamma), math.cos(psi + gamma)
    C = [[-s, c, -L], [-s_front, c_front, L * math.cos(gamma)]]
    F = [push, 0.0, 0.0]  # the velocity is (speed, 0) there
    F_d = [omega * c * speed, omega * c_front * speed]  # -C' x'
    CC = [[sum(a * b for a, b in zip(row, other)) for other in C] for row in C]
    CF = [sum(a * b for a, b in zip(row, F)) for row in C]
    multipliers = solve(CC, [a - b for a, b in zip(CF, F_d)])
    x = [f - sum(row[k] * m for row, m in zip(C, multipliers)) for k, f in enumerate(F)]
    return {"ax": x[0], "ay": x[1], "alpha": x[2], "rear": -multipliers[0], "front": -multipliers[1]}


def wheel_rows(psi, L, gamma):
    return [[-math.sin(psi), math.cos(psi), -L],
            [-math.sin(psi + gamma), math.cos(psi + gamma), L * math.cos(gamma)]]


def projected(C, u):
    """(1 - C^T (C C^T)^-1 C) u"""
    CC = [[sum(a * b for a, b in zip(row, other)) for other in C] for row in C]
    multipliers = solve(CC, [sum(a * b for a, b in zip(row, u)) for row in C])
    return [a - sum(row[k] * m for row, m in zip(C, multipliers)) for k, a in enumerate(u)]


def kelly_steps(algorithm, dt=0.01, L=1.0, gamma=0.1):
    """Algorithm 4.1 or 4.2 as printed, with its own steps, for one lap: places, turn and speed at its end."""
    x = [0.0, 0.0, -math.atan(math.tan(gamma) / 2)]
    v = [1.0, 0.0, -math.sin(x[2]) / L]
    steps = int(2 * math.pi / v[2] / dt)
    for _ in range(steps):
        C = wheel_rows(x[2], L, gamma)
        if algorithm == "4.1":
            length = math.hypot(v[0], v[1])
            v = projected(C, [v[0] / length, v[1] / length, 0.0])
        else:
            F_d = [v[2] * (-row[1] * -v[0] + -row[0] * v[1]) for row in C]  # -C' x'
            CC = [[sum(a * b for a, b in zip(row, other)) for other in C] for row in C]
            multipliers = solve(CC, [-a for a in F_d])
            a = [-sum(row[k] * m for row, m in zip(C, multipliers)) for k in range(3)]
            v = projected(C, [b + dt * c for b, c in zip(v, a)])
        x = [a + dt * b for a, b in zip(x, v)]
    return {"x": x[0], "y": x[1], "psi": x[2], "speed": math.hypot(v[0], v[1]), "t": steps * dt}
