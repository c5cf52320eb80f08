// SPDX-License-Identifier: Apache-2.0
// Derivatives of accelerations of chains on a free base that have nothing regular about them: how
// many operations, how long they take, and how long it takes to have a linear model's program.
#include "bench/bench.h"

#include "base/text.h"
#include "linear/lineariser.h"
#include "tests/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void add_vector(Buffer *b, Random *r, const char *key, double size)
{
    tr_buffer_print(b, "%s: \"%.17g, %.17g, %.17g\"", key, size * any(r), size * any(r),
                    size * any(r));
}

// Moments that a body can have, and products that are small
static void add_mass(Buffer *b, Random *r)
{
    tr_buffer_print(b, "mass: %.17g, ", random_between(r, 0.5, 2));
    add_vector(b, r, "com", 0.3);
    static const char *const parts[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
    for (int k = 0; k < 6; k++)
        tr_buffer_print(b, "%s%s: %.17g", k ? ", " : ", inertia: {", parts[k],
                        k < 3 ? random_between(r, 0.05, 0.06) : 0.01 * any(r));
    tr_buffer_print(b, "}}\n");
}

static tr_model *chain(int hinges, tr_error *err)
{
    Buffer text = {0};
    Random r = {5};
    tr_buffer_print(&text, "trundle: 1\nbodies:\n  b0: {joint: {type: free}, ");
    add_mass(&text, &r);
    for (int i = 1; i <= hinges; i++) {
        tr_buffer_print(&text, "  b%d: {parent: b%d, joint: {type: revolute, ", i, i - 1);
        add_vector(&text, &r, "axis", 1), tr_buffer_print(&text, ", ");
        add_vector(&text, &r, "turn", 3), tr_buffer_print(&text, ", ");
        add_vector(&text, &r, "at", 0.5), tr_buffer_print(&text, "}, ");
        add_mass(&text, &r);
    }
    tr_model *model = tr_model_parse(text.at, err);
    tr_buffer_free(&text);
    return model;
}

static double time_of(const tr_program *program, double *in, tr_error *err)
{
    const tr_program_size size = tr_program_sizes(program);
    tr_workspace *work = tr_workspace_new(program, err);
    double *out = calloc(size.outputs + 1, sizeof *out), best = (double)INFINITY;
    for (int repeat = 0; repeat < 20 && work && out; repeat++) {
        const double start = bench_now();
        for (int k = 0; k < 20; k++) tr_evaluate(program, work, in, out);
        best = fmin(best, (bench_now() - start) / 20);
    }
    tr_workspace_free(work);
    free(out);
    return best;
}

void bench_slopes(int hinges, size_t aim)
{
    tr_error err = {0};
    tr_model *model = chain(hinges, &err);
    const double start = bench_now();
    tr_system *s = tr_derive(model, NULL, &err);
    Lineariser *l = tr_lineariser_new(s, &err);
    const double set_up = bench_now() - start;
    tr_plan *plan = tr_plan_new(s, &err);
    double *in = calloc(tr_input_count(s) + 1, sizeof *in);
    tr_initial(plan, in, tr_input_count(s), &err);
    const tr_compile_options fixed = {.size = sizeof fixed, .fix_parameters = true};
    tr_program *p = tr_compile_in(plan, "wdot wdot_q wdot_w", &fixed, &err);
    if (err.status) printf("slopes: %s\n", err.text);
    printf("slopes: generic chain of %d: accelerations with derivatives in %zu operations", hinges,
           tr_program_sizes(p).operations);
    if (aim) printf(" (aim %zu)", aim);
    printf(", %.1f us; derived and linearised in %.3f s%s\n", 1e6 * time_of(p, in, &err), set_up,
           hinges >= 100 ? " (aim 2)" : "");
    tr_program_free(p);
    free(in);
    tr_lineariser_free(l);
    tr_plan_free(plan);
    tr_system_free(s);
    tr_model_free(model);
}
