// SPDX-License-Identifier: Apache-2.0
#include "run/evaluator.h"

Evaluator tr_evaluator(System *system, const char *outputs, Parameters parameters, tr_error *err)
{
    const tr_compile_options options = {.fix_parameters = parameters == FIXED_PARAMETERS};
    Evaluator e = {.program = tr_compile(system, outputs, &options, err)};
    e.work = tr_workspace_new(e.program, err);
    return e;
}

Evaluator tr_evaluator_of(System *system, const char *name, const Expr *values, size_t count,
                          Parameters parameters, tr_error *err)
{
    if (system->graph->failed) tr_fail_memory(err);
    if (!has_failed(err)) tr_system_put(system, name, values, count, 1, err);
    return tr_evaluator(system, name, parameters, err);
}

void tr_evaluator_free(Evaluator *e)
{
    tr_workspace_free(e->work);
    tr_program_free(e->program);
    *e = (Evaluator){0};
}

bool tr_evaluate_once(System *system, const char *name, const Expr *values, size_t count,
                      Parameters parameters, const double *inputs, double *out, tr_error *err)
{
    Evaluator e = tr_evaluator_of(system, name, values, count, parameters, err);
    if (e.work) evaluate_into(&e, inputs, out);
    tr_evaluator_free(&e);
    return !has_failed(err);
}
