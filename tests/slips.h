// SPDX-License-Identifier: Apache-2.0
// Runs in which something slips.
#ifndef TR_TESTS_SLIPS_H
#define TR_TESTS_SLIPS_H

#include "rolling.h"

// ---- runs ----------------------------------------------------------------------------------

// With strict tolerances. Whatever slips, energy is accounted for, and accelerations are those
// found without reduction. The system is freed.
static inline Sheet *run_slipping(tr_system *system, double end, double every)
{
    tr_summary s = {0};
    Sheet *sheet = run_with(system, end, every, &s);
    if (!is_below(s.energy_error, 1e-8)) fail_msg("energy balance to %.1e only", s.energy_error);
    assert_below(s.kkt_error, 1e-10);
    assert_below(s.velocity_error, 1e-11);
    return sheet;
}

static inline Sheet *run_text(const char *text, double end, double every)
{
    return run_slipping(system_from(text), end, every);
}

#endif
