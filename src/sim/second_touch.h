// SPDX-License-Identifier: Apache-2.0
// Wheels and balls on surfaces that are not flat: whether one touches a second time elsewhere, and
// where it is above the surface while it flies (T189).
#ifndef TR_SIM_SECOND_TOUCH_H
#define TR_SIM_SECOND_TOUCH_H

#include "plan/touch.h"
#include "sim/path.h"
#include "sim/warning.h"

typedef struct SecondTouches {
    Flow *flow;
    TouchSearch *search; // NULL where there is nothing to look for
    bool *told;          // by contact, where it is allowed
    uint32_t which;      // that is looked at
    SecondTouch landing; // where that came down
    double *x;           // room for inputs
} SecondTouches;

bool tr_second_open(SecondTouches *s, Flow *flow, tr_error *err);
void tr_second_close(SecondTouches *s);

// At the start, or after a step to the last state of the path, of which (t, y) is where what
// follows is still as it was: no later than where a formula changes its side. False, with words and
// when it was, where a wheel touched a second time before.
bool tr_second_step(SecondTouches *s, Path *path, double t, const double *y, Warnings *warnings,
                    double *end, tr_error *err);
// Likewise, of contacts that fly: when the first of them came down in the last step elsewhere than
// where it was nearest before, with the state there, and which it is; else infinity. Where it is
// nearest it has an alarm.
double tr_second_land(SecondTouches *s, Path *path, double t, const double *y, double *ending,
                      uint32_t *contact);
// That the surface curves more than a wheel, at (t, y): false, with words
bool tr_second_hollow(const SecondTouches *s, double t, const double *y, const Alarm *alarm,
                      tr_error *err);
// Contacts that fly are put where they would land first; true when that is another place by far.
bool tr_second_fly(SecondTouches *s, double t, double *y);

#endif
