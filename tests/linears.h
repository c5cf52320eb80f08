// SPDX-License-Identifier: Apache-2.0
// Linear models of systems, and the bicycle that is published.
#ifndef TR_TESTS_LINEARS_H
#define TR_TESTS_LINEARS_H

#include "runs.h"

enum { MOST = 40 };

// ---- models --------------------------------------------------------------------------------

static inline tr_system *bicycle(const char *settings)
{
    return system_set(model_called("bicycle"), "straight", settings);
}

static inline tr_linear *linear_of(tr_system *system, bool reduce)
{
    tr_error err = {0};
    const tr_linearise_options options = {.size = sizeof options, .reduce = reduce};
    tr_linear *linear = tr_linearise(system, &options, &err);
    if (!linear) fail_msg("%s", err.text);
    return linear;
}

// ---- the bicycle of Meijaard et al. --------------------------------------------------------

// M q'' + v C q' + (g K0 + v^2 K2) q = f with q = (roll, -steer)
static const double meijaard_M[] = {80.81722, 2.31941332208709, 2.31941332208709, 0.29784188199686};
static const double meijaard_C1[] = {0, 33.86641391492494, -0.85035641456978, 1.6854039739756};
static const double meijaard_K0[] = {-80.95, -2.59951685249872, -2.59951685249872,
                                     -0.80329488458618};
static const double meijaard_K2[] = {0, 76.59734589573222, 0, 2.65431523794604};

static inline bool has_value(double (*values)[2], uint32_t count, double re, double im)
{
    for (uint32_t i = 0; i < count; i++)
        if (fabs(values[i][0] - re) < 1e-10 && fabs(values[i][1] - im) < 1e-10) return true;
    return false;
}

#endif
