// SPDX-License-Identifier: Apache-2.0
// What the constraints do to a system, where it starts and nearby: is it what its author meant?
#ifndef TR_PLAN_DOCTOR_H
#define TR_PLAN_DOCTOR_H

#include "plan/flow.h"

typedef struct Findings {
    const Chart *chart;   // at the start
    uint32_t m, m_locked; // the most rows that are independent nearby
    bool singular;        // more than at the start
    bool stuck;           // nothing is free, and nothing is driven
    bool *kinematic;      // by input: a passive velocity that the free ones have no part in
    bool *still;          // by input: one that stays zero
    bool *awakening;      // by row: dependent at the start, independent nearby
    bool *frees; // by row, by input: a passive velocity that moves when it alone is relaxed
    bool *holds; // by row and input: whether it takes part in keeping a velocity from moving
} Findings;

// Of a flow with constraints; looks around from its start.
Findings *tr_examine(Flow *flow, tr_error *err);
void tr_findings_free(Findings *findings);

// Whether it can run: false, with words, when it starts in a singular state that the model does not
// allow, or is stuck.
bool tr_findings_allow(const Findings *findings, tr_error *err);

// "is redundant at the start, but not when it moves", of so many rows
const char *tr_awakening_words(uint32_t rows);

// Why a state x with sound positions has no rates in these modes: better words in err when it is
// singular.
void tr_explain_conflict(Plan *plan, const LatchMode *modes, const double *x, tr_error *err);

#endif
