// SPDX-License-Identifier: Apache-2.0
// Bodies that bend: the soft snake-board against its reference, random trees against the equations
// of Lagrange, beams against closed forms, and what stays the same while they move.
#include "bending.h"
#include "runs.h"

#include <lapacke.h>

// ---- the soft snake-board ------------------------------------------------------------------

static void test_soft_board_facts(void **state)
{
    (void)state;
    char *json = facts_of(system_called("snakeboard_soft", "ride"));
    assert_fact(json, "n", 3);
    assert_fact(json, "s_p", 2);
    assert_fact(json, "s_a", 3);
    assert_fact(json, "rows", 2);
    assert_fact(json, "m", 2);
    assert_fact(json, "m_locked", 2);
    assert_fact(json, "kernel", 3);
    assert_fact(json, "antagonist", 0);
    tr_text_free(json);
    tr_system *system = system_called("snakeboard_soft", NULL);
    char *words = tr_check_text(system, false, NULL);
    assert_non_null(words);
    assert_non_null(strstr(words, "H != 0, lambda_stat = 0:"));
    tr_text_free(words);
    tr_system_free(system);
}

// Positions to 1e-8, forces to 1e-6 of the largest
static void test_soft_board_ride(void **state)
{
    (void)state;
    static const struct {
        const char *name, *other;
        double tolerance;
        bool is_relative;
    } columns[] = {
        {"x", "x", 1e-8, false},
        {"y", "y", 1e-8, false},
        {"theta", "theta", 1e-8, false},
        {"re3", "re3", 1e-8, false},
        {"re4", "re4", 1e-8, false},
        {"eta_r", "eta_r", 1e-8, false},
        {"beam3.y1_rate", "re3_rate", 1e-8, false},
        {"beam4.y1_rate", "re4_rate", 1e-8, false},
        {"tau.r1", "tau1", 1e-6, true},
        {"tau.r2", "tau2", 1e-6, true},
        {"tau.r3", "tau3", 1e-6, true},
        {"lambda.wheels1.lateral", "lam1", 1e-6, true},
        {"lambda.wheels2.lateral", "lam2", 1e-6, true},
        {"energy.kinetic", "kinetic", 1e-8, false},
        {"energy.potential", "elastic", 1e-8, false},
    };
    Sheet *run = run_of(system_called("snakeboard_soft", "ride"));
    Sheet *reference = read_sheet(REFERENCE_DIR "/snakeboard_soft.csv");
    assert_close(at(run, run->rows - 1, "t"), 10, 1e-15);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        const double size = columns[k].is_relative ? largest(reference, columns[k].other) : 1;
        const double off = difference(run, columns[k].name, reference, columns[k].other) / size;
        print_message("%-22s %.1e\n", columns[k].name, off);
        assert_true(off <= columns[k].tolerance);
    }
    free(run);
    free(reference);
}

// The stiffer, the nearer to the rigid one: the error goes as 1/EI
static void test_soft_board_stiff(void **state)
{
    (void)state;
    Sheet *rigid = read_sheet(REFERENCE_DIR "/snakeboard_rigid.csv");
    static const char *const names[] = {"x", "y", "theta"};
    double before[3] = {0};
    for (int step = 0; step < 3; step++) {
        const Value EI[] = {{"EI", 100 * pow(4, step)}};
        Sheet *run = run_of(system_with("snakeboard_soft", "ride", EI, 1));
        for (int k = 0; k < 3; k++) {
            const double off = difference(run, names[k], rigid, names[k]);
            print_message("EI = %-5g %-6s off by %.3e\n", EI[0].value, names[k], off);
            if (step) assert_true(before[k] / off > 3.8 && before[k] / off < 4.2);
            before[k] = off;
        }
        free(run);
    }
    free(rigid);
}

// ---- random trees --------------------------------------------------------------------------

static void check_numbers(const char *what, const double *a, const double *b, int n,
                          double tolerance)
{
    double size = 1, off = 0;
    for (int k = 0; k < n; k++) size = fmax(size, fabs(b[k]));
    for (int k = 0; k < n; k++)
        if (!(fabs(a[k] - b[k]) <= off)) off = fabs(a[k] - b[k]);
    if (!(off <= tolerance * size)) fail_msg("%s is off by %.3g of %.3g", what, off, size);
}

static void print_checks(Buffer *t, const Grove *g)
{
    tr_buffer_print(t, "outputs:\n");
    for (int i = 0; i < g->count; i++)
        for (int k = 0; g->body[i].bends && k < 3; k++)
            tr_buffer_print(t,
                            "  off%d%c: d(b%d.end.%c) - b%d.end.R%d1*b%d.end.vx - "
                            "b%d.end.R%d2*b%d.end.vy - b%d.end.R%d3*b%d.end.vz\n",
                            i, 'x' + k, i, 'x' + k, i, k + 1, i, i, k + 1, i, i, k + 1, i);
}

// -Q is what springs take, and dampers: 2 z sqrt(k m) of each mode by itself
static void find_passive(const Grove *g, const GroveEquations *e, const double *v, double *Q)
{
    for (int k = 0; k < g->n; k++) Q[k] = -e->stiff[k];
    for (int i = 0; i < g->count; i++)
        for (int k = 1; k <= grove_modes(&g->body[i]); k++) {
            Grove alone = {.count = 1, .n = 1 + grove_modes(&g->body[i])};
            static GroveEquations own;
            double one[GROVE_V] = {0}, still[GROVE_V] = {0};
            alone.body[0] = g->body[i];
            alone.body[0].parent = -1, alone.body[0].first = 0;
            one[0] = 0.1, one[k] = 1;
            grove_equations(&alone, one, still, &own);
            const int at = g->body[i].first + k;
            Q[at] -= 2 * g->body[i].damping * sqrt(own.stiff[k] * own.M[k][k]) * v[at];
        }
}

// The input of the k-th position
static double *position(Probe *p, int k)
{
    uint32_t i = 0;
    for (; k > 0 || p->system->inputs[i].kind != TR_POSITION; i++)
        k -= p->system->inputs[i].kind == TR_POSITION;
    return &p->in[i];
}

static void check_state(Probe *p, const Grove *g, Random *r)
{
    static GroveEquations e;
    double Q[GROVE_V], M[GROVE_V * GROVE_V];
    probe_random(p, r);
    for (int i = 0; i < g->count; i++)
        for (int k = 0; k < grove_modes(&g->body[i]); k++) // what bends bends a little
            *position(p, g->body[i].first + 1 + k) *= 0.2;
    probe_run(p);
    const double *q = probe_output(p, "q"), *v = probe_output(p, "v");
    grove_equations(g, q, v, &e);
    for (int k = 0; k < g->n; k++) memcpy(M + k * g->n, e.M[k], (size_t)g->n * sizeof *M);
    check_numbers("M", probe_output(p, "M"), M, g->n * g->n, 1e-11);
    check_numbers("c", probe_output(p, "c"), e.c, g->n, 1e-10);
    find_passive(g, &e, v, Q);
    check_numbers("Q", probe_output(p, "Q"), Q, g->n, 1e-10);
    assert_close(probe_get(p, "kinetic"), e.kinetic, 1e-11);
    assert_close(probe_get(p, "potential"), e.potential, 1e-11);
    assert_close(probe_get(p, "energy_rate"), probe_get(p, "power"), 1e-10);
    memcpy(M, probe_output(p, "M"), (size_t)(g->n * g->n) * sizeof *M);
    assert_true(ne_is_positive(g->n, M));
    for (int i = 0; i < g->count; i++)
        for (int k = 0; g->body[i].bends && k < 3; k++) {
            char name[40];
            snprintf(name, sizeof name, "outputs.off%d%c", i, 'x' + k);
            assert_close(probe_get(p, name), 0, 1e-11);
        }
}

static void test_random_trees(void **state)
{
    (void)state;
    Random r = {20131};
    for (int trial = 0; trial < 30; trial++) {
        const Grove g = any_grove(&r);
        Buffer text = {0};
        print_grove(&text, &g);
        print_checks(&text, &g);
        Probe p = probe_of(text.at);
        assert_int_equal(p.velocities, g.n);
        for (int i = 0; i < 2; i++) check_state(&p, &g, &r);
        probe_free(&p);
        tr_buffer_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_soft_board_facts),
        cmocka_unit_test(test_soft_board_ride),
        cmocka_unit_test(test_soft_board_stiff),
        cmocka_unit_test(test_random_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
