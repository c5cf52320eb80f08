// SPDX-License-Identifier: Apache-2.0
// Expressions as programs, and their slopes by differences.
#ifndef TR_TESTS_DIFFERENCES_H
#define TR_TESTS_DIFFERENCES_H

#include "expr/derivative.h"
#include "jungle.h"

// ---- tools ---------------------------------------------------------------------------------

// A compiled list of expressions.
typedef struct Machine {
    tr_program *program;
    tr_workspace *workspace;
} Machine;

static inline Machine machine_new(System *s, const Expr *of, size_t count)
{
    tr_error err = {0};
    char name[32];
    snprintf(name, sizeof name, "machine%u", s->output_count);
    tr_output(s, name, of, count, 1, &err);
    Machine m = {.program = tr_compile(s, name, NULL, &err)};
    m.workspace = tr_workspace_new(m.program, &err);
    if (err.status) fail_msg("%s", err.text);
    return m;
}

static inline void run(const Machine *m, const double *in, double *out)
{
    tr_evaluate(m->program, m->workspace, in, out);
}

static inline void machine_free(Machine *m)
{
    tr_workspace_free(m->workspace);
    tr_program_free(m->program);
}

static inline void values_at(System *s, const Expr *of, size_t count, const double *in, double *out)
{
    Machine m = machine_new(s, of, count);
    run(&m, in, out);
    machine_free(&m);
}

static inline Expr formula(System *s, const char *text)
{
    tr_error err = {0};
    const Expr x = tr_formula(s, text, &err);
    if (err.status) fail_msg("%s: %s", text, err.text);
    return x;
}

enum { LEVELS = 4 };

// Central differences with steps h, h/2, h/4, h/8, extrapolated to h = 0: D_k[i] cancels the error
// of order h^2k. `error` is how much the last extrapolation and the smallest step changed it.
static inline double extrapolated(const double central[LEVELS], double *error)
{
    double d[LEVELS], before = 0;
    for (int i = 0; i < LEVELS; i++) d[i] = central[i];
    for (int k = 1; k < LEVELS; k++) {
        before = d[LEVELS - 1];
        for (int i = LEVELS - 1; i >= k; i--) d[i] += (d[i] - d[i - 1]) / (ldexp(1, 2 * k) - 1);
    }
    if (error) *error = fabs(d[LEVELS - 1] - before) + fabs(d[LEVELS - 1] - d[LEVELS - 2]);
    return d[LEVELS - 1];
}

#endif
