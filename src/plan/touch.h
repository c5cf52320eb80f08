// SPDX-License-Identifier: Apache-2.0
// Where wheels and balls touch a surface that is not flat (T189).
#ifndef TR_PLAN_TOUCH_H
#define TR_PLAN_TOUCH_H

#include "plan/evaluator.h"

// What they are found by, for any values of parameters. NULL, with words, when memory runs out, and
// where nothing touches such a surface.
typedef struct TouchPrograms {
    tr_program *at;      // by contact: tangency, its slopes, gap, where the wheel is
    tr_program *heights; // by contact: that of the surface
} TouchPrograms;
bool tr_touch_programs(System *own, const uint8_t *fold, TouchPrograms *out, tr_error *err);
void tr_touch_programs_free(TouchPrograms *programs);

// A place [m] as words say it: what is but rounding is 0.
static inline double told_place(double x) { return x < 1e-12 && x > -1e-12 ? 0 : x; }

// Room to look for them in. The programs must outlive it.
typedef struct TouchSearch TouchSearch;
TouchSearch *tr_touch_search(const System *system, const TouchPrograms *programs, tr_error *err);
void tr_touch_search_free(TouchSearch *search);

// Puts each contact into the state x: at the place round the wheel that is nearest to the surface.
// False where there is none.
bool tr_touch_find(TouchSearch *search, double *x);
// From where they are, for positions that have changed a little; looks everywhere when that fails.
bool tr_touch_follow(TouchSearch *search, double *x);

// How large a wheel or a ball is, and the radius that the surface is curved with below it; across,
// the tube, where that fits less
typedef struct TouchSizes {
    double radius, hollow;
} TouchSizes;
TouchSizes tr_touch_sizes(TouchSearch *search, const double *x, uint32_t contact);

// Another place where the wheel or ball touches, or is inside the surface
typedef struct SecondTouch {
    double at[2]; // in the surface's axes
    double gap;
} SecondTouch;
// Looks round all wheels and balls in the state x;
void tr_touch_look(TouchSearch *search, const double *x);
// then of one of them the place that is deepest but for the one that x has; false where there is no
// other place at all;
bool tr_touch_second(TouchSearch *search, uint32_t contact, SecondTouch *out);
// or the nearest of all where it may touch; false where there is none.
bool tr_touch_nearest(TouchSearch *search, uint32_t contact, SecondTouch *out);
// The one beside a place that is known, which changes.
bool tr_touch_beside(TouchSearch *search, uint32_t contact, SecondTouch *place);

#endif
