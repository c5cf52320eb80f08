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

// Of an alarm: it does not go off, and one that did has not recovered. `deaf`: it was told already,
// or is about nothing that contacts do now.
static inline bool alarm_is_quiet(double margin, bool told, bool deaf)
{
    return margin >= 0 ? !told : deaf;
}

// Of the smallest pivot: after the last step, and at the states before, as far as there are any
// (`count` in all, 1 to 3). It neither vanishes, nor was it smallest inside the last two steps.
static inline bool pivot_is_safe(double now, bool turned, double last, double first, int count)
{
    const bool gone = now < GONE, crossed = (count > 1) & turned;
    const bool dip = (count == 3) & (last < SUSPICIOUS) & (last < first) & (last <= now);
    const bool inner = !(now > NEAR) & !(now >= (count > 1 ? last : 0));
    return !(gone | crossed | dip | inner);
}

// Whether it will not vanish within some steps, as it went from `last` to `now`; if it goes on so,
// that takes *h.
static inline bool pivot_is_far(double now, double last, double step, double *h)
{
    *h = now * step / (last - now);
    return !(last > now) | !(fabs(*h) <= DBL_MAX) | ((now > NEAR) & (*h > 3 * step));
}

// The least margin of switches at three states, `first`, `was` and `least`, `earlier` and then `h`
// apart: whether it can have vanished in the last step, as it bent.
static inline bool margin_may_dip(double first, double was, double least, double earlier, double h)
{
    const double bend = ((least - was) / h - (was - first) / earlier) / (h + earlier);
    return !(smaller(was, least) > 4 * fabs(bend) * h * h);
}

#endif
