// SPDX-License-Identifier: Apache-2.0
#include "view/axis.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUS "\xe2\x88\x92" // U+2212

enum {
    MOST_DIGITS = 99999, // a label has five digits at most
    PLAIN_ABOVE = -3,    // powers of ten between which numbers are written out
    PLAIN_BELOW = 5
};

Range tr_range_empty(void) { return (Range){(double)INFINITY, (double)-INFINITY}; }

Range tr_range_with(Range range, double value)
{
    return (Range){fmin(range.low, value), fmax(range.high, value)}; // a NaN changes nothing
}

bool tr_range_is_empty(Range range) { return !(range.low <= range.high); }

// ---- steps ---------------------------------------------------------------------------------

// Something to see around a constant. Differences in the last digits are rounding errors.
static Range widen(Range range)
{
    if (tr_range_is_empty(range)) return (Range){0, 1};
    const double size = fmax(fabs(range.low), fabs(range.high));
    if (range.high - range.low > 1e-13 * size) return range;
    const double around = size > 0 ? size / 10 : 1;
    return (Range){range.low - around, range.high + around};
}

// The smallest 1, 2 or 5 times a power of ten that is not below `least`.
static void choose_step(Axis *axis, double least)
{
    axis->exponent = (int)floor(log10(least));
    double digits = least / pow(10, axis->exponent);
    if (digits > 5 * (1 + 1e-9)) {
        axis->exponent++;
        digits = 1;
    }
    axis->factor = digits <= 1 + 1e-9 ? 1 : digits <= 2 * (1 + 1e-9) ? 2 : 5;
}

// 10^power, dividing by exact powers where that is more exact than multiplying by inexact ones.
static double scaled(double value, int power)
{
    return power < 0 ? value / pow(10, -power) : value * pow(10, power);
}

double tr_axis_tick(const Axis *axis, int64_t k)
{
    return scaled((double)(k * axis->factor), axis->exponent);
}

// How many steps `value` is from zero. A value that is a tick but for rounding counts as one.
static double steps_to(const Axis *axis, double value)
{
    const double steps = scaled(value, -axis->exponent) / axis->factor, whole = round(steps);
    return fabs(steps - whole) < fmax(1e-9, fabs(steps) * 1e-15) ? whole : steps;
}

static int64_t larger(int64_t a, int64_t b) { return llabs(a) > llabs(b) ? llabs(a) : llabs(b); }

// The offset and the power that keep labels short.
static void choose_labels(Axis *axis)
{
    if (larger(axis->first, axis->last) * axis->factor > MOST_DIGITS) axis->offset = axis->first;
    const int64_t most =
        larger(axis->first - axis->offset, axis->last - axis->offset) * axis->factor;
    const int highest = axis->exponent + (int)floor(log10(fmax(1, (double)most)) + 1e-9);
    if (highest > PLAIN_ABOVE && highest < PLAIN_BELOW) return;
    axis->power = 3 * (int)floor(highest / 3.0);
}

static void set_ends(Axis *axis, Range range)
{
    axis->low = range.low;
    axis->high = range.high;
    axis->first = (int64_t)ceil(steps_to(axis, range.low));
    axis->last = (int64_t)floor(steps_to(axis, range.high));
}

Axis tr_axis_of(Range range, double length, double spacing, bool snap)
{
    assert(length > 0 && spacing > 0);
    range = widen(range);
    Axis axis = {0};
    choose_step(&axis, (range.high - range.low) * fmin(1.0 / 3, spacing / length));
    set_ends(&axis, range);
    if (snap) {
        axis.first = (int64_t)floor(steps_to(&axis, range.low));
        axis.last = (int64_t)ceil(steps_to(&axis, range.high));
        axis.low = fmin(range.low, tr_axis_tick(&axis, axis.first));
        axis.high = fmax(range.high, tr_axis_tick(&axis, axis.last));
    }
    choose_labels(&axis);
    return axis;
}

Axis tr_axis_like(const Axis *step_of, Range range)
{
    Axis axis = {.factor = step_of->factor, .exponent = step_of->exponent};
    set_ends(&axis, range);
    choose_labels(&axis);
    return axis;
}

Axis tr_axis_of_powers(Range range, double length, double spacing)
{
    assert(range.low > 0);
    Axis axis = {.is_log = true};
    const double low = log10(range.low), high = log10(range.high);
    const int bottom = (int)floor(low + 1e-12), top = (int)ceil(high - 1e-12);
    const int decades = top > bottom ? top - bottom : 1;
    choose_step(&axis, fmax(1, decades * fmin(1, spacing / length)));
    set_ends(&axis, (Range){bottom, bottom + decades});
    axis.low = fmin(axis.low, low); // where rounding to a power has left something out
    axis.high = fmax(axis.high, high);
    return axis;
}

// ---- places --------------------------------------------------------------------------------

double tr_axis_place(const Axis *axis, double tick)
{
    return axis->at_low + axis->span * ((tick - axis->low) / (axis->high - axis->low));
}

double tr_axis_at(const Axis *axis, double value)
{
    return tr_axis_place(axis, axis->is_log ? log10(value) : value);
}

// ---- labels --------------------------------------------------------------------------------

// n * 10^exponent, written out.
static void write_decimal(char *out, size_t size, int64_t n, int exponent)
{
    assert(exponent >= -18);
    const char *sign = n < 0 ? MINUS : "";
    int64_t whole = llabs(n), unit = 1;
    for (int i = exponent; i > 0 && whole; i--) whole *= 10;
    for (int i = exponent; i < 0; i++) unit *= 10;
    char decimals[32] = "";
    if (exponent < 0) {
        snprintf(decimals, sizeof decimals, "%019lld", (long long)(whole % unit));
        memmove(decimals, decimals + 19 + exponent, (size_t)(1 - exponent));
    }
    snprintf(out, size, "%s%lld%s%s", sign, (long long)(whole / unit), *decimals ? "." : "",
             decimals);
}

static void append_power(char *out, size_t size, int power)
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char digits[16];
    snprintf(digits, sizeof digits, "%d", abs(power));
    size_t at = strlen(out);
    at += (size_t)snprintf(out + at, size - at, "10%s", power < 0 ? "⁻" : "");
    for (const char *c = digits; *c && at < size; c++)
        at += (size_t)snprintf(out + at, size - at, "%s", raised[*c - '0']);
}

void tr_axis_label(const Axis *axis, int64_t k, char out[TR_LABEL_SIZE])
{
    out[0] = 0;
    if (axis->is_log)
        append_power(out, TR_LABEL_SIZE, (int)tr_axis_tick(axis, k));
    else
        write_decimal(out, TR_LABEL_SIZE, (k - axis->offset) * axis->factor,
                      axis->exponent - axis->power);
}

// What labels leave out, with its sign turned: what they show is the value less this.
static void add_offset(const Axis *axis, Buffer *out)
{
    int64_t n = -axis->offset * axis->factor;
    int exponent = axis->exponent;
    for (; n % 10 == 0; n /= 10) exponent++;
    const bool is_plain = exponent <= 0 && exponent > -16;
    char text[TR_LABEL_SIZE];
    write_decimal(text, sizeof text, llabs(n), is_plain ? exponent : 0);
    if (!is_plain) {
        const size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "×");
        append_power(text, sizeof text, exponent);
    }
    tr_buffer_print(out, n < 0 ? " " MINUS " %s" : " + %s", text);
}

void tr_axis_title(const Axis *axis, const char *name, const char *unit, Buffer *out)
{
    if (!*name && axis->offset) name = "value";
    tr_buffer_add(out, name, strlen(name));
    if (axis->offset) add_offset(axis, out);
    if (!unit && !axis->power) return;
    char power[TR_LABEL_SIZE] = "";
    if (axis->power) append_power(power, sizeof power, axis->power);
    tr_buffer_print(out, "%s[%s%s%s]", out->length ? " " : "", power, unit && *power ? " " : "",
                    unit ? unit : "");
}
