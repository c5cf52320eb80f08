// SPDX-License-Identifier: Apache-2.0
// Comparisons, min, max, abs and floor, and pieces of tables, of what depends on the state, in
// runs: each becomes a choice by a number, its side, which runs keep until what it compares crosses
// over (T123):
//
//   0               as the formula says
//   1 or 2          of a comparison false or true; of min, max and abs the first or the second
//   whole + 1/2     of floor, that whole number; of a table, the number of its piece
//
// Sides stand behind the inputs of the system, in programs of charts alone. A model with more than
// 500 of them has them as formulas, as everything but runs has.
#ifndef TR_PLAN_SWITCH_H
#define TR_PLAN_SWITCH_H

#include "plan/chart_programs.h"

typedef struct StateSwitch {
    Op op;
    uint32_t table; // of pieces, and which axis
    int axis;
    uint32_t a, b; // what is compared, with sides in it: expressions of the plan's switching system
    char *words;   // the formula; "" when it is long
} StateSwitch;

// Finds those of a plan that is new.
bool tr_plan_find_switches(Plan *plan, tr_error *err);
void tr_plan_free_switches(Plan *plan);
// How many there are for runs; none with sensitivities, which see kinks as they are.
uint32_t tr_plan_switch_count(const Plan *plan);

// By switch the side that it is on; of those that nothing depends on 0. NULL when that is all of
// them.
tr_program *tr_sides_program(const Plan *plan, System *reduced, ChartPrograms *chart,
                             tr_error *err);
// Adds to a list, by switch, how far it is from leaving the side that it is kept on; of those that
// nothing depends on 1.
void tr_switch_margins(const Plan *plan, System *reduced, const ChartPrograms *chart, Exprs *list,
                       tr_error *err);

#endif
