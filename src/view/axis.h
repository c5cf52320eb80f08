// SPDX-License-Identifier: Apache-2.0
// Axes: which numbers stand at them, how those are written, and where a value is in the picture.
// A step is 1, 2 or 5 times a power of ten, so a tick is an integer times a power of ten, and is
// written from that: no rounding shows. Very large and small numbers share a power of ten, numbers
// that differ only in late digits share an offset.
#ifndef TR_VIEW_AXIS_H
#define TR_VIEW_AXIS_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a number must not exceed to be drawn, or fall below to be told from 0.
#define TR_AXIS_LARGEST  1e290
#define TR_AXIS_SMALLEST 1e-290

typedef struct Range {
    double low, high;
} Range; // empty when low > high

Range tr_range_empty(void);
Range tr_range_with(Range range, double value);
bool tr_range_is_empty(Range range);

typedef struct Axis {
    bool is_log;      // then it is an axis of powers: the value v is at log10(v)
    double low, high; // its ends
    int factor;       // ticks are k * factor * 10^exponent, for k from `first` to `last`
    int exponent;
    int64_t first, last;
    int64_t offset;      // in ticks: labels say how much more than this one
    int power;           // labels are in units of 10^power
    double at_low, span; // where the low end is, and how far from it the high end [px]
} Axis;

// An axis `length` pixels long with ticks about `spacing` apart. With `snap` it begins and ends
// with a tick.
Axis tr_axis_of(Range range, double length, double spacing, bool snap);

// An axis of powers of ten; the range is positive.
Axis tr_axis_of_powers(Range range, double length, double spacing);

// An axis with the ticks of another scale: `step_of` has the same number of units to the pixel.
Axis tr_axis_like(const Axis *step_of, Range range);

double tr_axis_tick(const Axis *axis, int64_t k);    // its value (or power)
double tr_axis_at(const Axis *axis, double value);   // where it is [px]
double tr_axis_place(const Axis *axis, double tick); // where a tick's value (or power) is [px]

enum { TR_LABEL_SIZE = 48 };
void tr_axis_label(const Axis *axis, int64_t k, char out[TR_LABEL_SIZE]);

// What stands beside the axis: the name, less the offset, and in brackets the power and the unit:
// "energy.kinetic − 1042.9 [10⁻⁶ J]". The unit may be NULL.
void tr_axis_title(const Axis *axis, const char *name, const char *unit, Buffer *out);

#endif
