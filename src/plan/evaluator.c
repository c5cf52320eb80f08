// SPDX-License-Identifier: Apache-2.0
#include "plan/evaluator.h"

Evaluator tr_evaluator_with(const tr_program *program, tr_error *err)
{
    return (Evaluator){.program = program, .work = tr_workspace_new(program, err)};
}

Evaluator tr_evaluator_of(System *system, const Expr *values, size_t count, Parameters parameters,
                          tr_error *err)
{
    const bool fixed = parameters == FIXED_PARAMETERS;
    tr_program *own = tr_compile_values(system, values, count, fixed, err);
    Evaluator e = tr_evaluator_with(own, err);
    e.own = own;
    return e;
}

tr_program *tr_program_list(System *system, Exprs *list, const uint8_t *fold, tr_error *err)
{
    if (list->failed) tr_fail_memory(err);
    tr_program *program = tr_compile_open(system, list->at, list->count, fold, err);
    tr_exprs_free(list);
    return program;
}

Evaluator tr_evaluator_list(System *system, Exprs *list, Parameters parameters, tr_error *err)
{
    if (list->failed) tr_fail_memory(err);
    const Evaluator e = tr_evaluator_of(system, list->at, list->count, parameters, err);
    tr_exprs_free(list);
    return e;
}

void tr_evaluator_prepare(Evaluator *e, const double *inputs)
{
    if (!e->work) return;
    tr_workspace_prepare(e->program, e->work, inputs);
    e->is_prepared = true;
}

void tr_evaluator_free(Evaluator *e)
{
    tr_workspace_free(e->work);
    tr_program_free(e->own);
    *e = (Evaluator){0};
}

bool tr_evaluate_once(System *system, const Expr *values, size_t count, Parameters parameters,
                      const double *inputs, double *out, tr_error *err)
{
    Evaluator e = tr_evaluator_of(system, values, count, parameters, err);
    if (e.work) evaluate_into(&e, inputs, out);
    tr_evaluator_free(&e);
    return !has_failed(err);
}
