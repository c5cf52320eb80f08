// SPDX-License-Identifier: Apache-2.0
// Doubles to the shortest decimal text and back.
//
// A double is v = c 2^q. All decimals inside its rounding interval [(c - 1/2) 2^q, (c + 1/2) 2^q]
// read back as v (the ends only when c is even, since ties go to even; below a power of two the
// lower half is half as wide).
//
// Printing follows R. Giulietti, "The Schubfach way to render doubles": choose k such that
// 10^k <= width of the interval < 10^(k+1). Then the interval holds at least one multiple of 10^k
// and at most one of 10^(k+1), so four candidates around v decide.
//
// Reading brackets the decimal x = w 10^e between two 128 bit numbers. When both round to the same
// double that is the answer; else they round to neighbours, and x is compared exactly with the
// point halfway between them.
#include "base/number.h"

#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

__extension__ typedef unsigned __int128 Wide;

typedef struct Power {
    uint64_t high, low; // G with 2^127 <= G < 2^128
} Power; // 10^e = (G + d) 2^(floor(log2 10^e) - 127), 0 <= d < 1, d = 0 for 0 <= e <= 55

enum { FIRST_POWER = -342, LAST_POWER = 324, LAST_EXACT_POWER = 55 };

static const Power powers_of_ten[] = {
#include "base/number_powers.inc"
};
_Static_assert(sizeof powers_of_ten / sizeof *powers_of_ten == LAST_POWER - FIRST_POWER + 1,
               "one row per power");

static Power power_of_ten(int e)
{
    assert(FIRST_POWER <= e && e <= LAST_POWER);
    return powers_of_ten[e - FIRST_POWER];
}

// tools/powers_of_ten.py proves these on the exponents of doubles and of the table.
static int floor_log2_pow10(int e) { return (e * 1741647) >> 19; }
static int floor_log10_pow2(int q) { return (q * 1262611) >> 22; }
static int floor_log10_3_4_pow2(int q) { return (q * 1262611 - 524031) >> 22; } // of 3/4 2^q

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

typedef struct Binary {
    uint64_t c;
    int q;
} Binary; // c 2^q

#define HIDDEN_BIT     ((uint64_t)1 << 52)
#define INFINITE_BITS  ((uint64_t)0x7ff << 52)
#define SMALLEST_POWER (-1074) // q of the denormals

// c 2^q of a positive finite double; c >= 2^52 unless it is denormal.
static Binary binary_of(uint64_t bits)
{
    const uint64_t fraction = bits & (HIDDEN_BIT - 1);
    const int exponent = (int)(bits >> 52);
    if (exponent == 0) return (Binary){fraction, SMALLEST_POWER};
    return (Binary){fraction | HIDDEN_BIT, exponent - 1075};
}

// ---- printing ---------------------------------------------------------------------------------

typedef struct Digits {
    uint64_t d;
    int k;
} Digits; // d 10^k

// floor(4 x), with its last bit set when something was dropped, for x = m/4 2^q 10^-k:
// 4 x = m 2^h g 2^-127 with the 126 bit power g of 10^-k, rounded up. The error of g stays below
// the bits looked at, so comparing the results with multiples of 4 is exact (Giulietti, section 9).
static uint64_t times_power(Power g, uint64_t m, int h)
{
    const uint64_t factor = m << h;
    const Wide product = (Wide)factor * g.high + (uint64_t)((Wide)factor * g.low >> 64);
    const uint64_t dropped = (uint64_t)product & (UINT64_MAX >> 1);
    return (uint64_t)(product >> 63) | (dropped != 0);
}

// floor(G / 4) + 1: the 126 bit power, rounded up.
static Power rounded_up(Power G)
{
    const Wide g = (((Wide)G.high << 64 | G.low) >> 2) + 1;
    return (Power){(uint64_t)(g >> 64), (uint64_t)g};
}

// The shortest decimal in the rounding interval of v = c 2^q. Lower end, v and upper end are kept
// as four times their multiple of 10^k.
static Digits shortest_decimal(Binary v)
{
    const bool narrow = v.c == HIDDEN_BIT && v.q > SMALLEST_POWER; // the neighbour below is nearer
    const int k = narrow ? floor_log10_3_4_pow2(v.q) : floor_log10_pow2(v.q);
    const int h = v.q + floor_log2_pow10(-k) + 2;
    const Power g = rounded_up(power_of_ten(-k));
    const uint64_t open = v.c & 1; // ends belong to the interval when c is even
    const uint64_t middle = times_power(g, 4 * v.c, h);
    const uint64_t lower = times_power(g, 4 * v.c - (narrow ? 1 : 2), h) + open;
    const uint64_t upper = times_power(g, 4 * v.c + 2, h) - open;

    const uint64_t s = middle / 4; // s 10^k <= v < (s + 1) 10^k
    const uint64_t t = s / 10;     // t 10^(k+1) <= v < (t + 1) 10^(k+1)
    const bool t_inside = lower <= 40 * t, t_next_inside = 40 * t + 40 <= upper;
    if (t_inside != t_next_inside) return (Digits){t_inside ? t : t + 1, k + 1};
    const bool s_inside = lower <= 4 * s, s_next_inside = 4 * s + 4 <= upper;
    if (s_inside != s_next_inside) return (Digits){s_inside ? s : s + 1, k};
    const uint64_t half = 4 * s + 2;
    const bool nearer_above = middle > half || (middle == half && (s & 1));
    return (Digits){s + nearer_above, k};
}

// Writes the digits of `number` so that they end before `end`; returns where they start.
static char *write_backwards(char *end, uint64_t number)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233"
        "34353637383940414243444546474849505152535455565758596061626364656667"
        "6869707172737475767778798081828384858687888990919293949596979899";
    for (; number >= 100; number /= 100) memcpy(end -= 2, pairs + number % 100 * 2, 2);
    if (number >= 10) return memcpy(end - 2, pairs + number * 2, 2);
    *--end = (char)('0' + number);
    return end;
}

static char *put(char *out, const char *text, size_t length)
{
    memcpy(out, text, length);
    return out + length;
}

static char *put_zeros(char *out, int count)
{
    memset(out, '0', (size_t)count);
    return out + count;
}

// 0.000ddd, ddd.ddd or ddd000; the point stands after `point` digits.
static char *put_plain(char *out, const char *digits, int count, int point)
{
    if (point <= 0) {
        out = put_zeros(put(out, "0.", 2), -point);
        return put(out, digits, (size_t)count);
    }
    if (point >= count) return put_zeros(put(out, digits, (size_t)count), point - count);
    out = put(out, digits, (size_t)point);
    *out++ = '.';
    return put(out, digits + point, (size_t)(count - point));
}

// d.ddde-nn
static char *put_with_exponent(char *out, const char *digits, int count, int exponent)
{
    *out++ = digits[0];
    if (count > 1) {
        *out++ = '.';
        out = put(out, digits + 1, (size_t)(count - 1));
    }
    *out++ = 'e';
    if (exponent < 0) *out++ = '-';
    char text[4];
    char *end = text + sizeof text;
    const char *start = write_backwards(end, (uint64_t)(exponent < 0 ? -exponent : exponent));
    return put(out, start, (size_t)(end - start));
}

static char *put_digits(char *out, Digits decimal)
{
    char text[20];
    char *end = text + sizeof text;
    const char *digits = write_backwards(end, decimal.d);
    const int point = (int)(end - digits) + decimal.k; // value = 0.ddd 10^point
    while (end > digits + 1 && end[-1] == '0') end--;
    const int count = (int)(end - digits);
    if (-3 <= point && point <= 16) return put_plain(out, digits, count, point);
    return put_with_exponent(out, digits, count, point - 1);
}

size_t tr_number_print(double value, char out[TR_NUMBER_SIZE])
{
    uint64_t bits = bits_of(value);
    char *end = out;
    const bool negative = bits >> 63;
    bits &= UINT64_MAX >> 1;
    if (negative && bits <= INFINITE_BITS) *end++ = '-';
    if (bits > INFINITE_BITS)
        end = put(end, "nan", 3);
    else if (bits == INFINITE_BITS)
        end = put(end, "inf", 3);
    else if (bits == 0)
        end = put(end, "0", 1);
    else
        end = put_digits(end, shortest_decimal(binary_of(bits)));
    *end = '\0';
    return (size_t)(end - out);
}

// ---- reading ----------------------------------------------------------------------------------

enum { DIGITS_IN_WORD = 19, DIGITS_KEPT = 800 }; // a point halfway between doubles has at most 768

typedef struct Decimal {
    uint64_t w;               // its first significant digits, at most 19
    int64_t e;                // value = w 10^e when nothing was dropped
    int count;                // digits in w
    bool dropped;             // non-zero digits follow those in w: w 10^e < value < (w + 1) 10^e
    const char *first, *last; // all its digits, and perhaps the point: first <= at < last
} Decimal;

// Takes the digits at `at`, which stand before the point or after it; returns where they end.
static const char *scan_digits(Decimal *x, const char *at, const char *end, bool after_point)
{
    for (; at < end && is_digit(*at); at++) {
        const unsigned digit = (unsigned)(*at - '0');
        if (x->count < DIGITS_IN_WORD) {
            x->w = 10 * x->w + digit;
            x->count += x->w != 0;
            x->e -= after_point;
        } else {
            x->dropped |= digit != 0;
            x->e += !after_point;
        }
    }
    return at;
}

// An exponent e-12 at `at`, if one stands there; returns where it ends.
static const char *scan_exponent(Decimal *x, const char *at, const char *end)
{
    const char *digits = at + 1;
    if (at == end || (*at != 'e' && *at != 'E')) return at;
    const bool negative = digits < end && *digits == '-';
    if (digits < end && (*digits == '-' || *digits == '+')) digits++;
    if (digits == end || !is_digit(*digits)) return at;
    int64_t e = 0;
    for (; digits < end && is_digit(*digits); digits++)
        if (e < INT64_MAX / 100) e = 10 * e + (*digits - '0'); // far beyond any length of text
    x->e += negative ? -e : e;
    return digits;
}

// The longest prefix that is a number; returns its end, `text` when there is none.
static const char *scan(Decimal *x, const char *text, const char *end)
{
    *x = (Decimal){.first = text};
    const char *at = scan_digits(x, text, end, false);
    size_t digits = (size_t)(at - text);
    if (at < end && *at == '.') {
        const char *fraction = at + 1;
        at = scan_digits(x, fraction, end, true);
        digits += (size_t)(at - fraction);
    }
    x->last = at;
    return digits ? scan_exponent(x, at, end) : text;
}

// H 2^E to the nearest double, ties to even; H >= 2^126. Returns its bits.
static uint64_t round_to_double(Wide H, int E)
{
    const int top = H >> 127 ? 127 : 126;
    int shift = top - 52; // leaves 53 bits
    if (E + shift < SMALLEST_POWER) shift = SMALLEST_POWER - E;
    const Wide c = shift < 128 ? H >> shift : 0;
    const Wide rest = shift < 128 ? H << (128 - shift) : shift == 128 ? H : 0; // of 2^128
    const Wide half = (Wide)1 << 127;
    const bool up = rest > half || (rest == half && (c & 1));
    // The hidden bit of c, and a carry out of it, go into the exponent.
    const uint64_t bits = ((uint64_t)(E + shift - SMALLEST_POWER) << 52) + (uint64_t)c + up;
    return bits < INFINITE_BITS ? bits : INFINITE_BITS;
}

typedef struct Bracket {
    uint64_t below, above; // bits of doubles
} Bracket;                 // x rounds to one of them

// w 10^e <= x < (w + 1) 10^e as 2^E times a bracket of 128 bit numbers, rounded:
// w = W 2^-z, 10^e = (G + d) 2^(L - 127), W G = H 2^64 + rest, so E = 64 - z + L - 127.
static Bracket bracket(const Decimal *x)
{
    const int e = (int)x->e;
    const int z = __builtin_clzll(x->w);
    const int E = floor_log2_pow10(e) - 63 - z;
    const uint64_t W = x->w << z;
    const Power G = power_of_ten(e);
    const Wide low = (Wide)W * G.low;
    Wide H = (Wide)W * G.high + (uint64_t)(low >> 64);
    if (!x->dropped && 0 <= e && e <= LAST_EXACT_POWER) {
        H |= (uint64_t)low != 0; // exact but for the bits below, which only say that H is not a tie
        const uint64_t bits = round_to_double(H, E);
        return (Bracket){bits, bits};
    }
    // W d < 2^64 and the rest add less than 2 to H; a dropped digit, 2^z (G + 1) with z <= 4.
    const Wide error = x->dropped ? (Wide)17 << 64 : 2;
    return (Bracket){round_to_double(H, E),
                     round_to_double(H + error, E)}; // H < G < (1 - 2^-10) 2^128
}

// A natural number, little end first. The largest one compared, 5^1124 (2 c + 1), has 2664 bits.
enum { LIMBS = 96 };
typedef struct Natural {
    int count;
    uint32_t limb[LIMBS];
} Natural;

static Natural natural_of(uint64_t n)
{
    return (Natural){.count = n >> 32 ? 2 : 1, .limb = {(uint32_t)n, (uint32_t)(n >> 32)}};
}

// n = n factor + term
static void multiply_add(Natural *n, uint32_t factor, uint32_t term)
{
    uint64_t carry = term;
    for (int i = 0; i < n->count; i++) {
        carry += (uint64_t)n->limb[i] * factor;
        n->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (!carry) return;
    assert(n->count < LIMBS);
    n->limb[n->count++] = (uint32_t)carry;
}

// n = n base^exponent, where base^step still fits a limb.
static void multiply_power(Natural *n, uint32_t base, int step, int exponent)
{
    uint32_t largest = 1;
    for (int i = 0; i < step; i++) largest *= base;
    for (; exponent >= step; exponent -= step) multiply_add(n, largest, 0);
    for (; exponent > 0; exponent--) multiply_add(n, base, 0);
}

static int compare(const Natural *a, const Natural *b)
{
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (int i = a->count; i-- > 0;)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

// The significant digits of x as one number; returns how many there are. Beyond 800 a last digit 1
// stands for all that follow: no halfway point lies between them and the 800.
static int natural_of_digits(const Decimal *x, Natural *n)
{
    int count = 0;
    bool more = false;
    for (const char *at = x->first; at < x->last; at++) {
        if (*at == '.' || (*at == '0' && count == 0)) continue;
        if (count == DIGITS_KEPT) {
            more |= *at != '0';
            continue;
        }
        multiply_add(n, 10, (uint32_t)(*at - '0'));
        count++;
    }
    if (!more) return count;
    multiply_add(n, 10, 1);
    return DIGITS_KEPT + 1;
}

// The sign of x - (c + 1/2) 2^q: with x = D 10^e, that of D 5^e 2^(e-q+1) - (2 c + 1), where
// negative powers go to the other side.
static int compare_with_halfway(const Decimal *x, Binary v)
{
    Natural D = {0}, N = natural_of(2 * v.c + 1);
    const int point = (int)x->e + x->count;
    const int e = point - natural_of_digits(x, &D);
    const int twos = e - v.q + 1;
    multiply_power(e > 0 ? &D : &N, 5, 13, e > 0 ? e : -e);
    multiply_power(twos > 0 ? &D : &N, 2, 31, twos > 0 ? twos : -twos);
    return compare(&D, &N);
}

static double value_of(const Decimal *x)
{
    const int64_t point = x->e + x->count;            // 10^(point-1) <= x < 10^point
    if (x->w == 0 || point < -323) return 0;          // below half the smallest denormal
    if (point > 309) return double_of(INFINITE_BITS); // above the largest double
    const Bracket at = bracket(x);
    if (at.below == at.above) return double_of(at.below);
    assert(at.above == at.below + 1);
    const int side = compare_with_halfway(x, binary_of(at.below));
    const bool up = side > 0 || (side == 0 && (at.below & 1));
    return double_of(up ? at.above : at.below);
}

bool tr_number_read(const char *text, size_t length, size_t *used, double *value)
{
    Decimal x;
    const char *end = scan(&x, text, text + length);
    if (end == text) return false;
    *used = (size_t)(end - text);
    *value = value_of(&x);
    return true;
}

double tr_number_rounded(double value, int digits)
{
    char text[TR_NUMBER_SIZE];
    size_t used;
    double rounded = 0;
    if (!isfinite(value)) return value;
    snprintf(text, sizeof text, "%.*e", digits - 1, fabs(value));
    if (digits > 1) text[1] = '.'; // whatever the locale has there
    tr_number_read(text, strlen(text), &used, &rounded);
    return copysign(rounded, value);
}
