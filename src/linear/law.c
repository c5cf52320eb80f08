// SPDX-License-Identifier: Apache-2.0
// tau = f(state, tau): a law may use reactions or accelerations, which torques change. Newton's
// steps solve it, one where it is linear, as laws of reactions have to be.
#include "linear/law.h"

#include "expr/derivative.h"
#include "num/dense.h"
#include "num/solve.h"

#include <stdlib.h>

enum { MOST_STEPS = 50 };

static const Output *law_of(const System *s, const Input *torque)
{
    for (uint32_t i = 0; i < s->output_count; i++)
        if (is_of(&s->outputs[i].port, torque->port.owner, "law")) return &s->outputs[i];
    return NULL; // it had none: it is 0
}

static Expr symbol_of(const Laws *laws, uint32_t k)
{
    return laws->system->inputs[laws->input[k]].symbol;
}

static bool compile(Laws *laws, tr_error *err)
{
    System *s = laws->system;
    const uint32_t n = laws->count;
    Expr *all = calloc((size_t)n * n + 2 * (size_t)n, sizeof *all);
    if (!all) return tr_fail_memory(err), false;
    Expr *slopes = all + n, *column = slopes + (size_t)n * n;
    const Expr unit = one(s->graph);
    for (uint32_t i = 0; i < n; i++) all[i] = law_of(s, &s->inputs[laws->input[i]])->values[0];
    tr_system_resolve(s, all, n);
    for (uint32_t j = 0; j < n; j++) {
        const Expr torque = symbol_of(laws, j);
        tr_forward(s->graph, all, n, &torque, &unit, 1, column);
        for (uint32_t i = 0; i < n; i++) slopes[i * n + j] = column[i];
    }
    laws->values = tr_evaluator_of(s, all, n + (size_t)n * n, OPEN_PARAMETERS, err);
    free(all);
    return !has_failed(err);
}

bool tr_laws_new(System *s, Laws *laws, tr_error *err)
{
    *laws = (Laws){.system = s, .input = calloc(s->input_count + 1u, sizeof *laws->input)};
    if (!laws->input) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (is_torque(&s->inputs[i].port) && law_of(s, &s->inputs[i]))
            laws->input[laws->count++] = i;
    return !laws->count || compile(laws, err);
}

void tr_laws_free(Laws *laws)
{
    tr_evaluator_free(&laws->values);
    free(laws->input);
    *laws = (Laws){0};
}

// The torque whose law is not finite, or the first
static const char *joint_to_name(const Laws *laws, const double *law)
{
    uint32_t k = 0;
    while (k + 1 < laws->count && isfinite(law[k])) k++;
    return laws->system->inputs[laws->input[isfinite(law[k]) ? 0 : k]].port.owner;
}

// tau += (1 - df/dtau)^-1 (f - tau). Whether that was nothing; `room` has the laws and their slopes
static bool step(const Laws *laws, double *inputs, double *room, bool *failed)
{
    const uint32_t n = laws->count;
    double *f = room, *J = f + n, size = 0;
    evaluate_into(&laws->values, inputs, room);
    for (uint32_t i = 0; i < n; i++) {
        size = larger(size, larger(fabs(f[i]), fabs(inputs[laws->input[i]])));
        f[i] -= inputs[laws->input[i]];
        for (uint32_t j = 0; j < n; j++) J[i * n + j] = (i == j) - J[i * n + j];
    }
    *failed = !all_finite(f, n) || !tr_solve(J, n, f, 1);
    for (uint32_t i = 0; i < n && !*failed; i++) inputs[laws->input[i]] += f[i];
    return !*failed && tr_largest(f, n) <= 1e-12 * size;
}

bool tr_laws_settle(const Laws *laws, double *inputs, tr_error *err)
{
    const uint32_t n = laws->count;
    if (!n || has_failed(err)) return !has_failed(err);
    double *room = calloc(n + (size_t)n * n, sizeof *room);
    if (!room) return tr_fail_memory(err), false;
    bool settled = false, failed = false;
    for (int i = 0; i < MOST_STEPS && !settled && !failed; i++)
        settled = step(laws, inputs, room, &failed);
    if (!settled)
        tr_fail(err, TR_FAILED, (Place){0},
                all_finite(room, n)
                    ? "the torque of '%s' at the start cannot be found: its formula depends on "
                      "forces that it changes"
                    : "the torque of '%s' is not finite at the start",
                joint_to_name(laws, room));
    free(room);
    return settled;
}
