#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints src/base/number_powers.inc, the powers of ten that reading and printing numbers multiply by.

Entry e is the 128 bit number G with 10^e = (G + d) 2^(L - 127), 0 <= d < 1, L = floor(log2 10^e),
as {high, low} words. Everything here is exact integer arithmetic. The script also proves the three
logarithm formulas of number.c on the whole range they are used on.

    python3 tools/powers_of_ten.py > src/base/number_powers.inc
"""

FIRST, LAST = -342, 324  # reading needs -342 ... 308, printing -292 ... 324


def floor_log2(num, den):
    """The largest L with 2^L <= num/den."""
    guess = num.bit_length() - den.bit_length()
    fits = num << max(-guess, 0) >= den << max(guess, 0)
    return guess if fits else guess - 1


def floor_log10(num, den):
    """The largest k with 10^k <= num/den."""
    k = 0
    while num >= 10 * den:
        den, k = 10 * den, k + 1
    while num < den:
        num, k = 10 * num, k - 1
    return k


def power(base, e):
    """base^e as numerator and denominator."""
    return (base**e, 1) if e >= 0 else (1, base**-e)


def mantissa(e):
    num, den = power(10, e)
    shift = 127 - floor_log2(num, den)
    return (num << max(shift, 0)) // (den << max(-shift, 0))


def check_logarithms():
    for e in range(FIRST, LAST + 1):
        assert floor_log2(*power(10, e)) == (e * 1741647) >> 19
    for q in range(-1074, 972):
        num, den = power(2, q)
        assert floor_log10(num, den) == (q * 1262611) >> 22
        assert floor_log10(3 * num, 4 * den) == (q * 1262611 - 524031) >> 22


def main():
    check_logarithms()
    print("// Made by tools/powers_of_ten.py; do not edit. {high, low} words of 10^e, two per line,")
    print(f"// e = {FIRST} ... {LAST}.")
    entries = []
    for e in range(FIRST, LAST + 1):
        g = mantissa(e)
        assert 2**127 <= g < 2**128 - 2**118  # reading adds to it without a carry
        if 0 <= e <= 55:
            assert 10**e << 127 == g << floor_log2(10**e, 1)  # these are exact
        entries.append(f"{{0x{g >> 64:016x}, 0x{g & (2**64 - 1):016x}}},")
    for i in range(0, len(entries), 2):
        print(" ".join(entries[i : i + 2]))


main()
