// SPDX-License-Identifier: Apache-2.0
// Formulas of a system as numbers: a program and the room that it runs in.
#ifndef TR_PLAN_EVALUATOR_H
#define TR_PLAN_EVALUATOR_H

#include "expr/list.h"
#include "expr/system.h"
#include "program/compile.h"
#include "program/evaluate.h"

#include <math.h>

typedef struct Evaluator {
    const tr_program *program; // NULL when there is nothing to evaluate
    tr_workspace *work;
    tr_program *own;  // the program, where it was made for this
    bool is_prepared; // what parameters alone decide is there already
} Evaluator;

// What programs do with parameters: take their values, or have them as inputs like any other.
typedef enum Parameters { FIXED_PARAMETERS, OPEN_PARAMETERS } Parameters;

// With a program that is kept elsewhere, and may be NULL.
Evaluator tr_evaluator_with(const tr_program *program, tr_error *err);
// Of expressions; of a list, which is freed.
Evaluator tr_evaluator_of(System *system, const Expr *values, size_t count, Parameters parameters,
                          tr_error *err);
Evaluator tr_evaluator_list(System *system, Exprs *list, Parameters parameters, tr_error *err);
// A program of a list, which is freed; `fold` as of tr_compile_open.
tr_program *tr_program_list(System *system, Exprs *list, const uint8_t *fold, tr_error *err);
void tr_evaluator_free(Evaluator *evaluator);
// Takes the parameters from these inputs for good: what they alone decide is not evaluated again.
void tr_evaluator_prepare(Evaluator *evaluator, const double *inputs);

static inline void evaluate_into(const Evaluator *e, const double *inputs, double *out)
{
    if (e->is_prepared)
        tr_evaluate_prepared(e->program, e->work, inputs, out);
    else
        tr_evaluate(e->program, e->work, inputs, out);
}

// Likewise, for once. False when that failed.
bool tr_evaluate_once(System *system, const Expr *values, size_t count, Parameters parameters,
                      const double *inputs, double *out, tr_error *err);

#endif
