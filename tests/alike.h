// SPDX-License-Identifier: Apache-2.0
// Runs of two models that are one: all that both record.
#ifndef TR_TESTS_ALIKE_H
#define TR_TESTS_ALIKE_H

#include "runs.h"

// Along what a ball's contact has its reactions is its own matter on uneven ground.
static inline bool is_same_by_nature(const char *name, bool is_ball)
{
    const size_t length = strlen(name);
    const bool is_reaction = strncmp(name, "lambda.", 7) == 0;
    return !(is_ball && is_reaction && (length < 7 || strcmp(name + length - 7, ".normal") != 0));
}

// All columns that both have, as parts of their largest values
static inline double sheets_off(const Sheet *a, const Sheet *b, bool is_ball)
{
    double worst = 0;
    size_t common = 0;
    for (size_t i = 0; i < a->columns; i++) {
        const char *name = a->names[i];
        if (!tr_sheet_column(b, name) || !is_same_by_nature(name, is_ball)) continue;
        const double off = difference(a, name, b, name) / fmax(1, largest(a, name));
        if (!(off < 1e-10)) print_message("%s: %.1e\n", name, off);
        worst = fmax(worst, off);
        common++;
    }
    assert_true(common > a->columns * 2 / 3);
    return worst;
}

#endif
