#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Constants of src/expr/elementary.h: minimax polynomials, split constants, the bits of 2/pi.

    tools/minimax.py                             print the block of constants
    tools/minimax.py --check FILE                compare it with the block in FILE
    tools/minimax.py --write FILE                replace the block in FILE

Every kernel has the form  F(u) = known(u) + weight(u) P(z).  P is the polynomial of n coefficients
that minimises  max |weight(u) (P(z) - g(z)) / F(u)|,  g = (F - known) / weight,  on a grid of
Chebyshev points by the exchange algorithm of Remez. Coefficients become doubles one at a time,
lowest power first; those not yet rounded are fitted again around the ones already fixed.
"""
import sys
from mpmath import mp, mpf

mp.dps = 70
GRID = 800  # Chebyshev points; the error between two of them is within 1e-4 of the grid's
BEGIN = "// ---- begin: printed by tools/minimax.py"
END = "// ---- end: printed by tools/minimax.py"


def extrema(error, count):
    """Indices of `count` points of the grid where the error alternates, the largest kept."""
    peaks = []
    for i, e in enumerate(error):
        if peaks and (error[peaks[-1]] > 0) == (e > 0):
            if abs(e) > abs(error[peaks[-1]]):
                peaks[-1] = i
        else:
            peaks.append(i)
    while len(peaks) > count:
        size = [abs(error[i]) for i in peaks]
        j = size.index(min(size))
        if len(peaks) == count + 1 or j in (0, len(peaks) - 1):
            peaks.pop(0 if size[0] < size[-1] else -1)
        else:  # two neighbours at once, so that the signs still alternate
            j = min(j - 1, j, key=lambda i: size[i] + size[i + 1])
            del peaks[j:j + 2]
    return peaks


def remez(z, g, w, count):
    """The polynomial of `count` coefficients minimising max |w (sum c_j z^j - g)| over the grid."""
    n = len(z)
    peaks = [(2 * i + 1) * n // (2 * count + 2) for i in range(count + 1)]
    for _ in range(40):
        A, b = mp.matrix(count + 1), mp.matrix(count + 1, 1)
        for row, i in enumerate(peaks):
            for j in range(count):
                A[row, j] = w[i] * z[i] ** j
            A[row, count] = (-1) ** row
            b[row] = w[i] * g[i]
        c = list(mp.lu_solve(A, b))
        level = abs(c.pop())
        error = [w[i] * (mp.polyval(c[::-1], z[i]) - g[i]) for i in range(n)]
        if max(map(abs, error)) <= level * (1 + mpf(10) ** -6):
            break
        found = extrema(error, count + 1)
        if len(found) < count + 1:
            break  # the coefficients already rounded leave fewer alternations: good enough
        peaks = found
    return c


def fit(lo, hi, count, argument, exact, known, weight):
    """(doubles, largest relative error) of F(u) = known + weight P(argument(u)) on lo < u <= hi."""
    u = [lo + (hi - lo) * (1 - mp.cos(mp.pi * (2 * i + 1) / (2 * GRID))) / 2 for i in range(GRID)]
    u.append(hi)
    z = [argument(x) for x in u]
    g = [(exact(x) - known(x)) / weight(x) for x in u]
    w = [weight(x) / exact(x) for x in u]
    rounded = []
    for j in range(count):  # what is left of g is z^j times a polynomial of count - j coefficients
        rounded.append(float(remez(z, g, [abs(x) for x in w], count - j)[0]))
        g = [(g[i] - rounded[j]) / z[i] for i in range(len(z))]
        w = [w[i] * z[i] for i in range(len(z))]
    return rounded, max(abs(w[i] * g[i]) for i in range(len(z)))


def square(u):
    return u * u


ZERO = mpf(0)
KERNELS = [
    # name, text, lo, hi, count, argument z(u), exact F, known, weight
    ("SIN", "sin r = r + r z P(z), z = r^2, |r| <= pi/4 + 2^-20",
     ZERO, mp.pi / 4 + mpf(2) ** -20, 7, square, mp.sin, lambda r: r, lambda r: r ** 3),
    ("COS", "cos r = 1 - z/2 + z^2 P(z), z = r^2, |r| <= pi/4 + 2^-20",
     ZERO, mp.pi / 4 + mpf(2) ** -20, 6, square, mp.cos, lambda r: 1 - r * r / 2, lambda r: r ** 4),
    ("ASIN", "asin s = s + s z P(z), z = s^2, 0 <= s <= 1/2",
     ZERO, mpf(1) / 2, 13, square, mp.asin, lambda s: s, lambda s: s ** 3),
    ("ATAN", "atan t = t + t z P(z), z = t^2, |t| <= 1/4",
     ZERO, mpf(1) / 4, 9, square, mp.atan, lambda t: t, lambda t: t ** 3),
    ("EXP", "exp r = 1 + r + r^2 P(r), |r| <= ln 2 / 2 + 2^-20",
     -mp.log(2) / 2 - mpf(2) ** -20, mp.log(2) / 2 + mpf(2) ** -20, 11, lambda r: r, mp.exp,
     lambda r: 1 + r, square),
    ("LOG", "log((1 + s) / (1 - s)) = 2 s + s z P(z), z = s^2, |s| <= 3 - 2 sqrt 2",
     ZERO, 3 - 2 * mp.sqrt(2), 7, square, lambda s: 2 * mp.atanh(s), lambda s: 2 * s,
     lambda s: s ** 3),
]


def parts(value, count, bits=53):
    """value as a sum of doubles, the first of `bits` bits, each the nearest to what is left."""
    mantissa, exponent = mp.frexp(value)
    out = [float(mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), exponent - bits))]
    while len(out) < count:
        out.append(float(value - mp.fsum(out)))
    return out


def array(kind, name, words, text):
    """A C array, as many values to a line as 100 columns take."""
    lines = ["// " + text, "static const %s EL_%s[%d] = {" % (kind, name, len(words))]
    for word in words:
        if len(lines[-1]) + len(word) > 96:
            lines.append("   ")
        lines[-1] += word + "," if lines[-1][-1] == "{" else " " + word + ","
    lines[-1] = lines[-1][:-1] + "};"
    return lines


def doubles(name, values, text):
    return array("double", name, [repr(v) for v in values], text)


def two_over_pi_words(count):
    """32 zero bits, then the binary digits of 2/pi, as 32-bit words."""
    with mp.workprec(32 * count + 64):
        digits = int(mp.floor(mp.ldexp(2 / mp.pi, 32 * (count - 1))))
    return [(digits >> (32 * (count - 1 - i))) & 0xFFFFFFFF for i in range(count)]


def block():
    lines = [BEGIN, "// clang-format off"]
    lines += ["static const double EL_TWO_OVER_PI = %r;" % float(2 / mp.pi),
              "static const double EL_ONE_OVER_LN2 = %r;" % float(1 / mp.log(2))]
    lines += doubles("PI_2", parts(mp.pi / 2, 3), "pi/2 = [0] + [1] + [2]")
    lines += doubles("LN2", parts(mp.log(2), 2, 42), "ln 2 = [0] + [1], [0] of 42 bits")
    lines += doubles("ATAN_HALF", parts(mp.atan(mpf(1) / 2), 2), "atan(1/2) = [0] + [1]")
    for name, text, *how in KERNELS:
        values, error = fit(*how)
        text += "; relative error 2^%s" % mp.nstr(mp.log(error, 2), 4)
        lines += doubles(name, values, text)
    lines += array("uint32_t", "TWO_OVER_PI_BITS", ["0x%08x" % w for w in two_over_pi_words(38)],
                   "32 zero bits, then the binary digits of 2/pi")
    lines += ["// clang-format on", END]
    return "\n".join(lines)


def main(arguments):
    constants = block()
    if not arguments:
        print(constants)
        return 0
    verb, path = arguments
    with open(path) as file:
        text = file.read()
    before, rest = text.split(BEGIN)
    inside, after = rest.split(END)
    same = BEGIN + inside + END == constants
    if verb == "--write" and not same:
        with open(path, "w") as file:
            file.write(before + constants + after)
    elif verb == "--check":
        print("same" if same else "%s differs from the script" % path)
        return 0 if same else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
