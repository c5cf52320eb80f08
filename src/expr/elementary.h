// SPDX-License-Identifier: Apache-2.0
// sin cos tan asin acos atan atan2 hypot exp log in double precision, each one fixed sequence of
// IEEE operations: + - * / sqrt fma, comparisons and bits. The interpreter, machine code, lanes and
// printed C therefore agree to the last bit. Compile with -ffp-contract=off: fma is written where
// it is meant. No libm beyond the correctly rounded fma and sqrt, no errno, no rounding-mode calls.
//
// A value is carried as hi + lo, |lo| of the order of the last bit of hi, until one final addition
// rounds it. "ulp" below is the largest error measured against 113 bit arithmetic, in units in the
// last place of the result (0.5 is perfect), over the arguments of tests/elementary_test.c.
// A NaN result is always the same quiet NaN.
//
// Every function is a body without branches (el_sin_body), which compilers turn into code for
// several arguments at once, and what tells whether it may be used (el_sin_inside). Elsewhere the
// body gives any number, and the function finds the value another way.
//
// Polynomials and constants are printed by tools/minimax.py, which also checks them:
// tools/minimax.py --check src/expr/elementary.h
#ifndef TR_EXPR_ELEMENTARY_H
#define TR_EXPR_ELEMENTARY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

// ---- begin: printed by tools/minimax.py
// clang-format off
static const double EL_TWO_OVER_PI = 0.6366197723675814;
static const double EL_ONE_OVER_LN2 = 1.4426950408889634;
// pi/2 = [0] + [1] + [2]
static const double EL_PI_2[3] = {1.5707963267948966, 6.123233995736766e-17,
    -1.4973849048591698e-33};
// ln 2 = [0] + [1], [0] of 42 bits
static const double EL_LN2[2] = {0.6931471805598903, 5.497923018708371e-14};
// atan(1/2) = [0] + [1]
static const double EL_ATAN_HALF[2] = {0.4636476090008061, 2.2698777452961687e-17};
// sin r = r + r z P(z), z = r^2, |r| <= pi/4 + 2^-20; relative error 2^-63.22
static const double EL_SIN[7] = {-0.16666666666666666, 0.00833333333333304,
    -0.00019841269840959285, 2.755731907187998e-06, -2.5052070283333124e-08,
    1.6054220462083278e-10, -7.384539994558651e-13};
// cos r = 1 - z/2 + z^2 P(z), z = r^2, |r| <= pi/4 + 2^-20; relative error 2^-63.94
static const double EL_COS[6] = {0.041666666666666595, -0.0013888888888873342,
    2.4801587289002072e-05, -2.755731421703415e-07, 2.0875705394991463e-09,
    -1.1358749166472976e-11};
// asin s = s + s z P(z), z = s^2, 0 <= s <= 1/2; relative error 2^-59.86
static const double EL_ASIN[13] = {0.1666666666666676, 0.07499999999970865, 0.04464285717456303,
    0.030381942709740806, 0.02237221493989295, 0.017351612775030768, 0.01398081230358106,
    0.01139897391291808, 0.010779933635743949, 0.0037075296146955286, 0.02170489608948819,
    -0.020995668645685285, 0.03262661995760022};
// atan t = t + t z P(z), z = t^2, |t| <= 1/4; relative error 2^-63.72
static const double EL_ATAN[9] = {-0.3333333333333332, 0.1999999999999155, -0.14285714283825676,
    0.11111110904447341, -0.0909089629092078, 0.07691827796632647, -0.06655528200796694,
    0.057249260676378116, -0.0400019463337748};
// exp r = 1 + r + r^2 P(r), |r| <= ln 2 / 2 + 2^-20; relative error 2^-63.83
static const double EL_EXP[11] = {0.5, 0.1666666666666668, 0.041666666666666415,
    0.008333333333319278, 0.0013888888889032904, 0.00019841269891802068, 2.4801587023853638e-05,
    2.7557238774042806e-06, 2.7557529113792513e-07, 2.511084203330047e-08, 2.083723964106861e-09};
// log((1 + s) / (1 - s)) = 2 s + s z P(z), z = s^2, |s| <= 3 - 2 sqrt 2; relative error 2^-59.5
static const double EL_LOG[7] = {0.6666666666666734, 0.3999999999941705, 0.28571428741890353,
    0.22222198621930914, 0.18183561887237368, 0.1531411091815193, 0.1479536334547702};
// 32 zero bits, then the binary digits of 2/pi
static const uint32_t EL_TWO_OVER_PI_BITS[38] = {0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1,
    0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0,
    0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026,
    0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7,
    0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046};
// clang-format on
// ---- end: printed by tools/minimax.py

#define EL_NAN   ((double)NAN)
#define EL_MAGIC 6755399441055744.0 // 1.5 2^52: t = x + EL_MAGIC has nearest(x) in its low bits

typedef struct el_pair {
    double hi, lo;
} el_pair;

static inline el_pair el_pack(double hi, double lo)
{
    el_pair p = {hi, lo};
    return p;
}

static inline uint64_t el_bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double el_double(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline double el_abs(double x) { return el_double(el_bits(x) & 0x7fffffffffffffff); }

// x with its sign changed when the top bit of `sign` is set
static inline double el_flip(double x, uint64_t sign)
{
    return el_double(el_bits(x) ^ (sign & 0x8000000000000000));
}

// a + b = hi + lo exactly, when |a| >= |b| or a = 0
static inline el_pair el_fast_sum(double a, double b)
{
    double hi = a + b;
    return el_pack(hi, (a - hi) + b);
}

// a + b = hi + lo exactly
static inline el_pair el_sum(double a, double b)
{
    double hi = a + b;
    double b_in_hi = hi - a;
    return el_pack(hi, (a - (hi - b_in_hi)) + (b - b_in_hi));
}

// C + (hi + lo) rounded once, when |C.hi| >= |hi| or C.hi = 0
static inline double el_add(el_pair C, double hi, double lo)
{
    el_pair s = el_fast_sum(C.hi, hi);
    return s.hi + (s.lo + (C.lo + lo));
}

// n / (d + e) = hi + lo for |e| <= ulp(d)/2 and one division
static inline el_pair el_quotient(double n, double d, double e)
{
    double inverse = 1.0 / d;
    double q = n * inverse;
    return el_pack(q, fma(-q, e, fma(-q, d, n)) * inverse);
}

// c[0] + c[1] x
static inline double el_poly2(const double *c, double x) { return fma(c[1], x, c[0]); }

// c[0] + c[1] x + c[2] x^2 + c[3] x^3, x2 = x^2
static inline double el_poly4(const double *c, double x, double x2)
{
    return fma(el_poly2(c + 2, x), x2, el_poly2(c, x));
}

// ---- sin cos tan -------------------------------------------------------------------------------

typedef struct el_angle {
    double r, lo;      // x = (r + lo) + quadrant pi/2, |r| <= pi/4 + 2^-20
    uint64_t quadrant; // only its two lowest bits mean something
} el_angle;

// product = x 2/pi mod 4 in units of 2^-190, lowest word first, for |x| >= 2^28 (Payne and Hanek).
// With x = m 2^e, m of 53 bits, the digits of 2/pi above weight 2^(1-e) only give multiples of 4;
// 192 digits from there leave an error of 2^(53-190), and no double comes closer to a multiple of
// pi/2 than about 2^-62.
static inline void el_times_two_over_pi(uint64_t x, uint32_t product[6])
{
    uint64_t m = (x & 0x000fffffffffffff) | 0x0010000000000000;
    uint32_t start = (uint32_t)(x >> 52 & 2047) - 1075 + 30; // digit e - 1; digit 1 is bit 32
    uint64_t low = 0, high = 0;                              // with the halves of m, and carry
    uint32_t previous = 0;
    for (int i = 0; i < 6; i++) {
        const uint32_t *at = EL_TWO_OVER_PI_BITS + (start >> 5) + 5 - i;
        uint32_t digits = (uint32_t)((((uint64_t)at[0] << 32 | at[1]) << (start & 31)) >> 32);
        low += (uint64_t)digits * (uint32_t)m;
        high += (uint64_t)previous * (m >> 32);
        uint64_t sum = (low & 0xffffffff) + (high & 0xffffffff);
        product[i] = (uint32_t)sum;
        low = (low >> 32) + (sum >> 32);
        high >>= 32;
        previous = digits;
    }
}

// quadrant = nearest(x 2/pi) mod 4, r + lo = the rest, in [-1/2, 1/2), times pi/2
static inline el_angle el_reduce_huge(double x)
{
    static const double weight[6] = {0x1p-190, 0x1p-158, 0x1p-126, 0x1p-94, 0x1p-62, 0x1p-30};
    uint32_t product[6];
    el_times_two_over_pi(el_bits(x), product);
    uint32_t quadrant = (product[5] + 0x20000000) >> 30;
    product[5] -= quadrant << 30;
    uint32_t negative = product[5] >> 31;
    uint64_t carry = negative;
    for (int i = 0; i < 6; i++) { // absolute value, by two's complement
        carry += product[i] ^ (0 - negative);
        product[i] = (uint32_t)carry;
        carry >>= 32;
    }
    el_pair f = {0.0, 0.0};
    for (int i = 5; i >= 0; i--) {
        el_pair s = el_fast_sum(f.hi, product[i] * weight[i]);
        f = el_pack(s.hi, f.lo + s.lo);
    }
    double r = f.hi * EL_PI_2[0];
    double lo = fma(f.hi, EL_PI_2[0], -r) + fma(f.hi, EL_PI_2[1], f.lo * EL_PI_2[0]);
    uint64_t sign = el_bits(x) ^ (uint64_t)negative << 63;
    el_angle a = {el_flip(r, sign), el_flip(lo, sign), x < 0.0 ? 4 - quadrant : quadrant};
    return a;
}

// x - k pi/2, k = nearest(x 2/pi). Unless k = 0, x and k PI_2[0] are multiples of 2^-53 and less
// than 1 apart, so that fma is exact; k PI_2[1] is carried as two doubles, k PI_2[2] as one.
static inline el_angle el_reduce(double x)
{
    double t = fma(x, EL_TWO_OVER_PI, EL_MAGIC);
    double k = t - EL_MAGIC;
    double second = k * EL_PI_2[1];
    double second_lo = fma(k, EL_PI_2[1], -second);
    el_pair r = el_sum(fma(-k, EL_PI_2[0], x), -second);
    el_angle a = {r.hi, fma(-k, EL_PI_2[2], r.lo - second_lo), el_bits(t)};
    return a;
}

// sin(r + lo) = r + (r z S(z) + lo (1 - z/2)), z = r^2, S(z) = S[0] + z (S[1] + ...)
static inline el_pair el_sin_kernel(double r, double lo)
{
    double z = r * r, z2 = z * z, z4 = z2 * z2;
    double rest = fma(el_poly2(EL_SIN + 5, z), z4, el_poly4(EL_SIN + 1, z, z2));
    double rz = r * z;
    return el_pack(r, fma(rz, EL_SIN[0], fma(rz * z, rest, fma(-0.5 * z, lo, lo))));
}

// cos(r + lo) = (1 - z/2) + (z^2 C(z) - r lo), z + z_lo = r^2
static inline el_pair el_cos_kernel(double r, double lo)
{
    double z = r * r, z_lo = fma(r, r, -z), z2 = z * z, z4 = z2 * z2;
    double rest = fma(EL_COS[5], z4, el_poly4(EL_COS + 1, z, z2));
    double C = fma(rest, z, EL_COS[0]);
    el_pair c = el_fast_sum(1.0, -0.5 * z);
    return el_pack(c.hi, c.lo + fma(z2, C, -fma(r, lo, 0.5 * z_lo)));
}

// sin(r + lo + quadrant pi/2)
static inline double el_sin_of(el_angle a)
{
    el_pair s = el_sin_kernel(a.r, a.lo), c = el_cos_kernel(a.r, a.lo);
    double y = a.quadrant & 1 ? c.hi + c.lo : s.hi + s.lo;
    return el_flip(y, a.quadrant << 62);
}

// cos(r + lo + quadrant pi/2) = sin(r + lo + (quadrant + 1) pi/2)
static inline double el_cos_of(el_angle a)
{
    a.quadrant++;
    return el_sin_of(a);
}

// tan(r + lo + quadrant pi/2) = s/c in even quadrants, -c/s in odd ones
static inline double el_tan_of(el_angle a)
{
    el_pair s = el_sin_kernel(a.r, a.lo), c = el_cos_kernel(a.r, a.lo);
    s = el_fast_sum(s.hi, s.lo);
    c = el_fast_sum(c.hi, c.lo);
    el_pair n = a.quadrant & 1 ? c : s, d = a.quadrant & 1 ? s : c;
    double inverse = 1.0 / d.hi, q = n.hi * inverse;
    double y = fma(fma(-q, d.hi, n.hi) + fma(-q, d.lo, n.lo), inverse, q);
    return el_flip(y, a.quadrant << 63);
}

// Where el_reduce holds.
static inline int el_angle_inside(double x) { return el_abs(x) < 268435456.0; }

// sin x. 0.66 ulp
static inline double el_sin_body(double x)
{
    double y = el_sin_of(el_reduce(x));
    return x == 0.0 ? x : y; // -0
}
static inline double el_sin(double x)
{
    if (el_angle_inside(x)) return el_sin_body(x);
    return el_abs(x) < HUGE_VAL ? el_sin_of(el_reduce_huge(x)) : EL_NAN;
}

// cos x. 0.66 ulp
static inline double el_cos_body(double x) { return el_cos_of(el_reduce(x)); }
static inline double el_cos(double x)
{
    if (el_angle_inside(x)) return el_cos_body(x);
    return el_abs(x) < HUGE_VAL ? el_cos_of(el_reduce_huge(x)) : EL_NAN;
}

// tan x. 0.77 ulp
static inline double el_tan_body(double x)
{
    double y = el_tan_of(el_reduce(x));
    return x == 0.0 ? x : y; // -0
}
static inline double el_tan(double x)
{
    if (el_angle_inside(x)) return el_tan_body(x);
    return el_abs(x) < HUGE_VAL ? el_tan_of(el_reduce_huge(x)) : EL_NAN;
}

// ---- asin acos ---------------------------------------------------------------------------------

// asin s = hi + lo for s = |x| <= 1/2, else for s = sqrt((1 - |x|)/2), with which
// asin |x| = pi/2 - 2 asin s. The root's low part is (z - s^2)/(2 s); 2^-200 only matters for 0/0.
static inline el_pair el_asin_kernel(double x)
{
    int large = x > 0.5;
    double z = large ? 0.5 * (1.0 - x) : x * x;
    double root = sqrt(z);
    double root_lo = fma(-root, root, z) / (root + root + 0x1p-200);
    double s = large ? root : x, s_lo = large ? root_lo : 0.0;
    double z2 = z * z, z4 = z2 * z2;
    double rest = fma(fma(el_poly4(EL_ASIN + 9, z, z2), z4, el_poly4(EL_ASIN + 5, z, z2)), z4,
                      el_poly4(EL_ASIN + 1, z, z2));
    double zP = z * fma(rest, z, EL_ASIN[0]);
    return el_pack(s, fma(s, zP, fma(s_lo, zP, s_lo)));
}

static inline int el_sine_inside(double x) { return el_abs(x) <= 1.0; }

// asin x = sign(x) asin|x|. 0.61 ulp
static inline double el_asin_body(double x)
{
    el_pair a = el_asin_kernel(el_abs(x));
    int large = el_abs(x) > 0.5;
    double scale = large ? -2.0 : 1.0;
    el_pair C = {large ? EL_PI_2[0] : 0.0, large ? EL_PI_2[1] : 0.0};
    return el_flip(el_add(C, scale * a.hi, scale * a.lo), el_bits(x));
}
static inline double el_asin(double x) { return el_sine_inside(x) ? el_asin_body(x) : EL_NAN; }

// acos x = pi/2 - asin x; = 2 asin s for x > 1/2; = pi - 2 asin s for x < -1/2. 0.59 ulp
static inline double el_acos_body(double x)
{
    el_pair a = el_asin_kernel(el_abs(x));
    int large = el_abs(x) > 0.5;
    double halves = large ? (x > 0.0 ? 0.0 : 2.0) : 1.0; // of pi
    double scale = large ? (x > 0.0 ? 2.0 : -2.0) : (x > 0.0 ? -1.0 : 1.0);
    return el_add(el_pack(halves * EL_PI_2[0], halves * EL_PI_2[1]), scale * a.hi, scale * a.lo);
}
static inline double el_acos(double x) { return el_sine_inside(x) ? el_acos_body(x) : EL_NAN; }

// ---- atan atan2 --------------------------------------------------------------------------------

// C + sign atan(a/b), 2^-60 b <= a <= b < inf. atan(a/b) = atan c + atan t, where c is 0, 1/2 or 1
// and t = (a - c b)/(b + c a); a and c b are within a factor of two, so a - c b is exact.
static inline double el_arc(double a, double b, el_pair C, double sign)
{
    double scale = b > 0x1p800 ? 0x1p-600 : b < 0x1p-800 ? 0x1p600 : 1.0;
    a *= scale;
    b *= scale;
    int low = a < 0.25 * b, high = a >= 0.75 * b;
    double c = low ? 0.0 : high ? 1.0 : 0.5;
    double base = low ? 0.0 : high ? 0.5 * EL_PI_2[0] : EL_ATAN_HALF[0];
    double base_lo = low ? 0.0 : high ? 0.5 * EL_PI_2[1] : EL_ATAN_HALF[1];
    el_pair d = el_fast_sum(b, c * a);
    el_pair t = el_quotient(a - c * b, d.hi, d.lo);

    double z = t.hi * t.hi, z2 = z * z, z4 = z2 * z2;
    double rest = fma(el_poly4(EL_ATAN + 5, z, z2), z4, el_poly4(EL_ATAN + 1, z, z2));
    double P = fma(rest, z, EL_ATAN[0]);
    double low_part = base_lo + fma(t.hi * z, P, fma(-z, t.lo, t.lo));
    el_pair s = el_fast_sum(base, t.hi);
    return el_add(C, sign * s.hi, sign * (s.lo + low_part));
}

// Both are finite: 0 inf and 0 NaN are NaN.
static inline int el_point_inside(double y, double x) { return 0.0 * y == 0.0 * x; }

// atan2(y, x) = the angle of the point (x, y) in (-pi, pi]: with a <= b the smaller and the larger
// of |x|, |y| it is atan(a/b) from the nearest half axis, C = 0, pi/2 or pi. 0.54 ulp
static inline double el_atan2_body(double y, double x)
{
    double ax = el_abs(x), ay = el_abs(y), side = el_flip(1.0, el_bits(x));
    int steep = ay > ax;
    double a = steep ? ax : ay, most = steep ? ay : ax, b = most > 0.0 ? most : 1.0;
    double halves = steep ? 1.0 : side < 0.0 ? 2.0 : 0.0; // of pi
    el_pair C = {halves * EL_PI_2[0], halves * EL_PI_2[1]};
    double sign = steep ? -side : side;
    double q = a / b;
    double along = halves == 0.0 ? q : C.hi + (C.lo + sign * q); // atan(a/b) = a/b
    double arc = el_arc(a, b, C, sign);
    return el_flip(a * 0x1p60 < b ? along : arc, el_bits(y));
}
// Infinite coordinates are as 1 beside 0, or beside 1.
static inline double el_atan2(double y, double x)
{
    if (el_point_inside(y, x)) return el_atan2_body(y, x);
    if (x != x || y != y) return EL_NAN;
    double ax = el_abs(x) < HUGE_VAL ? 0.0 : 1.0, ay = el_abs(y) < HUGE_VAL ? 0.0 : 1.0;
    return el_atan2_body(el_flip(ay, el_bits(y)), el_flip(ax, el_bits(x)));
}

// atan x = atan2(x, 1). 0.54 ulp
static inline double el_atan(double x) { return el_atan2(x, 1.0); }

// ---- hypot -------------------------------------------------------------------------------------

// sqrt(a^2 + b^2), scaled where a square would be huge or tiny. 1.0 ulp
static inline double el_hypot_body(double a, double b)
{
    double x = el_abs(a), y = el_abs(b), most = x > y ? x : y;
    double down = most > 0x1p500 ? 0x1p-600 : most < 0x1p-500 ? 0x1p600 : 1.0;
    double up = most > 0x1p500 ? 0x1p600 : most < 0x1p-500 ? 0x1p-600 : 1.0;
    x *= down, y *= down;
    return sqrt(fma(x, x, y * y)) * up;
}
static inline double el_hypot(double a, double b)
{
    if (el_point_inside(a, b)) return el_hypot_body(a, b);
    return el_abs(a) == HUGE_VAL || el_abs(b) == HUGE_VAL ? HUGE_VAL : EL_NAN;
}

// ---- exp log -----------------------------------------------------------------------------------

static inline int el_exp_inside(double x) { return x > -746.0 && x < 710.0; }

// exp x = 2^k exp(r), r = x - k ln 2, exp(r + lo) = 1 + r + r^2 P(r) + lo (1 + r). 2^k is applied
// as two factors, of which only the second can round. 0.60 ulp, 0.77 if the result is denormal
static inline double el_exp_body(double x)
{
    double t = fma(x, EL_ONE_OVER_LN2, EL_MAGIC);
    double k = t - EL_MAGIC;
    el_pair r = el_fast_sum(fma(-k, EL_LN2[0], x), -k * EL_LN2[1]);

    double r2 = r.hi * r.hi, r4 = r2 * r2;
    double rest = fma(fma(el_poly2(EL_EXP + 9, r.hi), r4, el_poly4(EL_EXP + 5, r.hi, r2)), r4,
                      el_poly4(EL_EXP + 1, r.hi, r2));
    double P = fma(rest, r.hi, EL_EXP[0]);
    el_pair y = el_fast_sum(1.0, r.hi);
    y.hi += y.lo + fma(r2, P, fma(r.lo, r.hi, r.lo));

    uint64_t shifted = el_bits(t) - el_bits(EL_MAGIC) + 2048; // k + 2048
    uint64_t half = shifted >> 1;
    return y.hi * el_double((half - 1) << 52) * el_double((shifted - half - 1) << 52);
}
static inline double el_exp(double x)
{
    if (el_exp_inside(x)) return el_exp_body(x);
    return x != x ? EL_NAN : x > 0.0 ? HUGE_VAL : 0.0;
}

static inline int el_log_inside(double x) { return x > 0.0 && x < HUGE_VAL; }

// log x = k ln 2 + log m, x = 2^k m, sqrt(1/2) <= m < sqrt 2;
// log m = 2 s + s z P(z), s = (m - 1)/(m + 1), z = s^2. 0.53 ulp
static inline double el_log_body(double x)
{
    int denormal = x < 0x1p-1022;
    uint64_t u = el_bits(denormal ? x * 0x1p54 : x);
    uint64_t e = (u + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd)) >> 52; // the last is sqrt(1/2)
    double m = el_double(u - (e << 52) + 0x3ff0000000000000);
    double k = el_double(el_bits(EL_MAGIC) + e - (denormal ? 1077 : 1023)) - EL_MAGIC;

    el_pair d = el_fast_sum(1.0, m);
    el_pair s = el_quotient(m - 1.0, d.hi, d.lo);
    double z = s.hi * s.hi, z2 = z * z, z4 = z2 * z2;
    double rest = fma(el_poly2(EL_LOG + 5, z), z4, el_poly4(EL_LOG + 1, z, z2));
    double P = fma(rest, z, EL_LOG[0]);
    double lo = fma(s.hi * z, P, 2.0 * fma(s.lo, z, s.lo));
    return el_add(el_pack(k * EL_LN2[0], k * EL_LN2[1]), 2.0 * s.hi, lo);
}
static inline double el_log(double x)
{
    if (el_log_inside(x)) return el_log_body(x);
    return x == 0.0 ? -HUGE_VAL : x > 0.0 ? x : EL_NAN;
}

#endif
