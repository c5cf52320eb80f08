// SPDX-License-Identifier: Apache-2.0
// What controllers of tests see and set at an instant, by name.
#ifndef TR_TESTS_INSTANT_H
#define TR_TESTS_INSTANT_H

#include "test.h"

#include <trundle/trundle.h>

static inline double seen(const tr_instant *now, const char *name)
{
    const size_t k = tr_find_name(now->column, now->columns, name);
    if (k == now->columns) fail_msg("there is no column %s", name);
    return now->value[k];
}

static inline double *setting(const tr_instant *now, const char *name)
{
    const size_t k = tr_find_name(now->input, now->inputs, name);
    if (k == now->inputs) fail_msg("there is no input %s", name);
    return &now->setting[k];
}

#endif
