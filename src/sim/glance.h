// SPDX-License-Identifier: Apache-2.0
// What shows at a glance that a step passed without anything that changes a run. Where it does not,
// watch.c looks closer, and lanes leave the step to a run (lanes.h): both ask here.
#ifndef TR_SIM_GLANCE_H
#define TR_SIM_GLANCE_H

#include "num/dense.h"

#include <float.h>

#define GONE       1e-7 // a pivot that is zero
#define SUSPICIOUS 0.05 // one that might be where it is smallest between steps
#define NEAR       1e-3 // one that is so small that what lies ahead is looked at

// Each is true of numbers, and of vectors of them lane by lane: comparisons, joined by & and |.

// Of an alarm: it does not go off, and one that did has not recovered. `deaf`: it was told already,
// or is about nothing that contacts do now.
#define ALARM_IS_QUIET(margin, told, deaf) \
    ((((margin) >= 0) & ((told) == 0)) | (((margin) < 0) & ((deaf) != 0)))

// Of the smallest pivot: after the last step, and at the states before, as far as there are any
// (`count` in all). It neither vanishes, nor was it smallest inside the last two steps, or can have
// been where only one is known; and the product of all has kept its sign.
#define PIVOT_IS_SAFE(now, last, first, sign, last_sign, count)                          \
    (((now) >= GONE) & (((count) < 2) | ((sign) == (last_sign))) &                       \
     (((count) < 3) | ((last) >= SUSPICIOUS) | ((last) >= (first)) | ((last) > (now))) & \
     (((count) != 2) | ((last) >= SUSPICIOUS) | ((now) < (last))) &                      \
     (((count) < 2) | ((now) > NEAR) | ((now) >= (last))))

// Whether it will not vanish within some steps, as it went from `last` to `now`: in h, if it goes
// on so.
#define PIVOT_VANISHES_IN(now, last, step) ((now) * (step) / ((last) - (now)))
#define PIVOT_IS_FAR(now, last, step, h) \
    (((last) <= (now)) | ((h) > DBL_MAX) | (((now) > NEAR) & ((h) > 3 * (step))))

// The least margin of switches at three states, `first`, `was` and `least`, `earlier` and then `h`
// apart: whether it can have vanished in the last step, as it bent.
static inline bool margin_may_dip(double first, double was, double least, double earlier, double h)
{
    const double bend = ((least - was) / h - (was - first) / earlier) / (h + earlier);
    return !(smaller(was, least) > 4 * fabs(bend) * h * h);
}

#endif
