// SPDX-License-Identifier: Apache-2.0
// Formulas of a system as numbers: a program and the room that it runs in.
#ifndef TR_RUN_EVALUATOR_H
#define TR_RUN_EVALUATOR_H

#include "expr/system.h"
#include "program/program.h"

#include <math.h>

typedef struct Evaluator {
    tr_program *program; // NULL when there is nothing to evaluate
    tr_workspace *work;
} Evaluator;

// What programs do with parameters: take their values, or have them as inputs like any other.
typedef enum Parameters { FIXED_PARAMETERS, OPEN_PARAMETERS } Parameters;

// Of outputs by their names; of expressions, which become the output `name`.
Evaluator tr_evaluator(System *system, const char *outputs, Parameters parameters, tr_error *err);
Evaluator tr_evaluator_of(System *system, const char *name, const Expr *values, size_t count,
                          Parameters parameters, tr_error *err);
void tr_evaluator_free(Evaluator *evaluator);

static inline void evaluate_into(const Evaluator *e, const double *inputs, double *out)
{
    tr_evaluate(e->program, e->work, inputs, out);
}

// Likewise, for once. False when that failed.
bool tr_evaluate_once(System *system, const char *name, const Expr *values, size_t count,
                      Parameters parameters, const double *inputs, double *out, tr_error *err);

#endif
