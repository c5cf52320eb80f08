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
    assert_non_null(strstr(words, "(H != 0, lambda_stat = 0)"));
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
        assert_below(off, columns[k].tolerance);
    }
    tr_sheet_free(run);
    tr_sheet_free(reference);
}

static Sheet *soft_board(double EI)
{
    return run_of(system_with("snakeboard_soft", "ride", &(Number){"EI", EI}, 1));
}

static void test_soft_board_stiff(void **state)
{
    (void)state;
    static const char *const names[] = {"x", "y", "theta", NULL};
    Sheet *rigid = read_sheet(REFERENCE_DIR "/snakeboard_rigid.csv");
    check_tends(rigid, soft_board, 100, BRIEF ? 2 : 3, names, 3.8, 4.2);
    tr_sheet_free(rigid);
}

// ---- random trees --------------------------------------------------------------------------

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
    static const int axes[] = {1, 2, 0};
    for (int k = 0; k < g->n; k++) Q[k] = -e->stiff[k];
    for (int i = 0; i < g->count; i++) {
        const GroveBody *b = &g->body[i];
        int at = b->first + 1;
        for (int a = 0; b->bends && a < 3; a++)
            for (int k = 0; k < b->modes[axes[a]]; k++, at++) {
                double stiff = 0, mass = 0;
                for (int node = 0; node < ALONG; node++) {
                    double x, weight;
                    grove_node(node, &x, &weight);
                    const double rho = axes[a] ? b->rho * (1 + b->taper * x) : b->rotary;
                    mass += weight * b->L * rho * pow(grove_shape_at(axes[a], k, 0, node), 2);
                    stiff += weight * b->stiffness[axes[a]] / pow(b->L, axes[a] ? 3 : 1) *
                             pow(grove_shape_at(axes[a], k, axes[a] ? 2 : 1, node), 2);
                }
                Q[at] -= 2 * b->damping * sqrt(stiff * mass) * v[at];
            }
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
    assert_energy_rate(p);
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
    for (int trial = 0; trial < (BRIEF ? 3 : 30); trial++) {
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

// ---- closed forms --------------------------------------------------------------------------

enum { MOST = 12 };
// Squares of the natural frequencies of modes that move against each other: the k-th velocity on,
// n of them; the lowest first. The stiffness is -d(Q - c)/de, of equations linear in e.
static void frequencies(Probe *p, uint32_t first, int n, double *squares)
{
    double K[MOST * MOST], M[MOST * MOST], still[MOST];
    const int all = (int)p->velocities;
    probe_run(p);
    for (int k = 0; k < n; k++) still[k] = probe_output(p, "c")[(int)first + k];
    for (int i = 0; i < n * n; i++)
        M[i] = probe_output(p, "M")[((int)first + i / n) * all + (int)first + i % n];
    for (int j = 0; j < n; j++) {
        *position(p, (int)first + j) = 1;
        probe_run(p);
        for (int k = 0; k < n; k++) {
            const int at = (int)first + k;
            K[k * n + j] = probe_output(p, "c")[at] - still[k] - probe_output(p, "Q")[at];
        }
        *position(p, (int)first + j) = 0;
    }
    for (int i = 0; i < n * n; i++) assert_close(K[i], K[i % n * n + i / n], 1e-12);
    assert_int_equal(LAPACKE_dsygv(LAPACK_ROW_MAJOR, 1, 'N', 'U', n, K, n, M, n, squares), 0);
}

#define BEAM "trundle: 1\ngravity: \"0, 0, 0\"\nbodies:\n  mast:\n    beam: "

// omega = b^2 sqrt(EI / (rho L^4)), and the shapes are orthogonal: to rounding, up to the last mode
static void test_cantilever(void **state)
{
    (void)state;
    for (int n = 1; n <= MOST; n++) {
        double squares[MOST];
        Probe p = probe_formatted(
            BEAM "{length: 1.3, density: 2.5, stiffness: 7, planes: z, modes: %d}\n", n);
        frequencies(&p, 0, n, squares);
        for (int k = 0; k < n && k < 6; k++)
            assert_close(sqrt(squares[k]) * sqrt(2.5 * pow(1.3, 4) / 7) /
                             pow(bending_numbers[k], 2),
                         1, 1e-14);
        const double *M = probe_output(&p, "M");
        for (int i = 0; i < n * n; i++)
            if (i / n == i % n)
                assert_close(M[i], 2.5 * 1.3, 1e-14); // the square's integral is L
            else
                assert_true(M[i] == 0);
        probe_free(&p);
    }
}

static void test_torsion(void **state)
{
    (void)state;
    double squares[6];
    Probe p = probe_of(BEAM "{length: 1.3, density: 2.5, modes: 0, torsion: 3, rotary: 0.2, "
                            "torsion_modes: 6}\n");
    frequencies(&p, 0, 6, squares);
    for (int k = 0; k < 6; k++)
        assert_close(sqrt(squares[k]) / ((k + 0.5) * M_PI / 1.3 * sqrt(3 / 0.2)), 1, 1e-14);
    probe_free(&p);
}

// The tip of a mode stands at 2 and at -2 in turn, and nothing is lost there either
static void test_tip(void **state)
{
    (void)state;
    Probe p = probe_of(BEAM "{length: 0.7, density: 1, stiffness: 1, modes: 12}\noutputs:\n"
                            "  tip: mast.tip.y\n");
    for (int k = 0; k < MOST; k++) {
        *position(&p, k) = 0.1;
        probe_run(&p);
        // not a margin: the numbers b of shapes are doubles, up to 36 +- 3.6e-15
        assert_close(probe_get(&p, "outputs.tip"), k % 2 ? -0.2 : 0.2, 1e-15);
        *position(&p, k) = 0;
    }
    probe_free(&p);
}

// The first root of 1 + cos b cosh b + mu b (cos b sinh b - sin b cosh b) = 0, by bisection
static double tip_mass_number(double mu)
{
    double low = 0.1, high = 1.9;
    for (int i = 0; i < 200; i++) {
        const double b = (low + high) / 2;
        const double f = 1 + cos(b) * cosh(b) + mu * b * (cos(b) * sinh(b) - sin(b) * cosh(b));
        if (f > 0)
            low = b;
        else
            high = b;
    }
    return low;
}

static void test_tip_mass(void **state)
{
    (void)state;
    const double mu = 1.7, exact = pow(tip_mass_number(mu), 4);
    double before = 1;
    for (int n = 1; n <= MOST; n++) {
        double squares[MOST];
        Probe p = probe_formatted(BEAM "{length: 1, density: 2, stiffness: 2, modes: %d}\n"
                                       "  weight: {parent: mast.tip, mass: %.17g}\n",
                                  n, 2 * mu);
        frequencies(&p, 0, n, squares);
        const double off = sqrt(squares[0] / exact) - 1;
        print_message("%2d modes: frequency high by %.2e\n", n, off);
        assert_true(off > 0 && off < before); // from above, the nearer the more modes there are
        before = off;
        probe_free(&p);
    }
    assert_below(before, 1e-5); // not a margin: of so many modes
}

// Two halves, one clamped to the tip of the other, against the whole
static void test_two_halves(void **state)
{
    (void)state;
    double before = 1;
    for (int n = 2; n <= 12; n += 2) {
        double squares[2 * MOST];
        Probe p =
            probe_formatted(BEAM "{length: 0.5, density: 3, stiffness: 3, modes: %d}\n"
                                 "  rest:\n    parent: mast.tip\n"
                                 "    beam: {length: 0.5, density: 3, stiffness: 3, modes: %d}\n",
                            n / 2, n / 2);
        frequencies(&p, 0, n, squares);
        const double off = sqrt(squares[0]) / pow(bending_numbers[0], 2) - 1;
        print_message("%2d modes: frequency high by %.2e\n", n, off);
        assert_true(off > 0 && off < before);
        before = off;
        probe_free(&p);
    }
    assert_below(before, 2e-2); // not a margin: of so many modes
}

// A blade that turns about its root flaps faster: L^2 sqrt(rho A / E I) omega
static void test_spinning_cantilever(void **state)
{
    (void)state;
    static const double spin[] = {0, 1, 2, 4, 6, 12},
                        flap[] = {3.5160, 3.6816, 4.1373, 5.5850, 7.3604, 13.1701};
    for (int n = 3; n <= 6; n++)
        for (int i = 0; i < 6; i++) {
            double squares[MOST];
            Probe p = probe_formatted(
                "trundle: 1\ngravity: \"0, 0, 0\"\nbodies:\n  blade:\n"
                "    joint: {type: revolute, axis: \"0, 0, 1\"}\n"
                "    beam: {length: 2, density: 0.5, stiffness: 8, planes: z, modes: %d, "
                "stiffening: true}\nroles: {blade: {motion: %g*t}}\n",
                n, spin[i]); // of 1 / s: L^4 rho / EI = 1
            frequencies(&p, 1, n, squares);
            if (n == 3) print_message("%g: %.4f, %.4f\n", spin[i], sqrt(squares[0]), flap[i]);
            // not a margin: of so many modes
            assert_close(sqrt(squares[0]) / flap[i], 1, n > 4 ? 1e-3 : 5e-3);
            probe_free(&p);
        }
}

// Euler's column: a load at the tip takes all stiffness away at pi^2 EI / (4 L^2)
static void test_buckling(void **state)
{
    (void)state;
    double squares[MOST];
    Probe p = probe_of(BEAM "{length: 1, density: 1, stiffness: 1, modes: 6, stiffening: true}\n"
                            "parameters: {load: 0}\n"
                            "forces: {load: {body: mast.tip, force: \"-load, 0, 0\"}}\n");
    double low = 0, high = 5;
    for (int i = 0; i < 60; i++) {
        probe_put(&p, "load", (low + high) / 2);
        frequencies(&p, 0, 6, squares);
        if (squares[0] > 0)
            low = (low + high) / 2;
        else
            high = (low + high) / 2;
    }
    print_message("buckles at %.6f, Euler's load is %.6f\n", low, M_PI * M_PI / 4);
    assert_close(low / (M_PI * M_PI / 4), 1, 5e-4); // not a margin: of six modes
    probe_free(&p);
}

// Parameters stay what they are: a point at a formula of them, a section that is written in s
static void test_parameters(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{length: 1.5, density: 2, stiffness: 3, modes: 3, planes: yz, stiffening: true, points: "
        "{there: 0.6}}\n",
        "{length: L, density: rho, stiffness: EI*(L - s + s)/L, modes: n, planes: yz, stiffening: "
        "true, points: {there: L*part}}\n"};
    Probe p[2];
    Random r = {7};
    for (int i = 0; i < 2; i++)
        p[i] = probe_formatted("parameters: {L: 1.5, rho: 2, EI: 3, n: 3, part: 0.4}\n" BEAM
                               "%s  weight: {parent: mast.there, joint: {type: ball}, mass: 2, "
                               "com: \"0.1, 0.2, 0.3\", inertia: {xx: 1, yy: 1, zz: 1}}\n",
                               texts[i]);
    check_same_equations(&p[0], &p[1], &r, BRIEF ? 2 : 5);
    probe_free(&p[0]);
    probe_free(&p[1]);
}

// ---- what stays the same -------------------------------------------------------------------

#define FREE_BODY                                                                               \
    "trundle: 1\ngravity: \"0, 0, 0\"\nbodies:\n  hub:\n    joint: {type: free}\n"              \
    "    mass: 1\n    inertia: {xx: 0.05, yy: 0.06, zz: 0.07}\n"                                \
    "    beam: {length: 1, density: 0.8, stiffness: 6, stiffness_z: 9, planes: yz, modes: 2,\n" \
    "      torsion: 2, rotary: 0.01, torsion_modes: 1, stiffening: %s}\n"                       \
    "  blob:\n    parent: hub.tip\n    joint: {type: fixed, at: \"0.1, 0.05, 0\"}\n"            \
    "    mass: 0.3\n    inertia: {xx: 0.002, yy: 0.003, zz: 0.004}\n"                           \
    "initial: {hub.wx: 0.9, hub.wy: 0.4, hub.wz: 1.3, hub.vx: 0.1, hub.y1: 0.02, hub.z1_rate: " \
    "0.1}\n"

// Linear and angular momentum about the world's origin, from M v of the base
static void find_momentum(Probe *p, double out[6])
{
    double h[6] = {0};
    const int n = (int)p->velocities;
    const double *M = probe_output(p, "M"), *v = probe_output(p, "v"), *q = probe_output(p, "q");
    for (int k = 0; k < 6; k++)
        for (int j = 0; j < n; j++) h[k] += M[k * n + j] * v[j];
    const M3 R = m3_quaternion(q + 3);
    const V3 F = m3_times(R, v3(h[0], h[1], h[2]));
    const V3 N = v3_plus(m3_times(R, v3(h[3], h[4], h[5])), v3_cross(v3(q[0], q[1], q[2]), F));
    for (int k = 0; k < 3; k++) out[k] = v3_at(F, k), out[3 + k] = v3_at(N, k);
}

static void spin_freely(const char *stiffening)
{
    char text[2000];
    snprintf(text, sizeof text, FREE_BODY, stiffening);
    tr_error err = {0};
    tr_model *model = tr_model_parse(text, &err);
    System *system = tr_derive(model, NULL, &err);
    tr_model_free(model);
    if (!system) fail_msg("%d:%d: %s", err.line, err.column, err.text);
    tr_summary summary = {0};
    Sheet *run = run_with(system, BRIEF ? 15 : 100, 1, &summary);
    Probe p = probe_of(text);
    double first[6], now[6], off = 0;
    for (size_t row = 0; row < run->rows; row++) {
        for (uint32_t i = 0; i < p.system->input_count; i++) {
            const tr_kind kind = p.system->inputs[i].kind;
            if (kind == TR_POSITION || kind == TR_VELOCITY)
                p.in[i] = at(run, row, p.system->inputs[i].name);
        }
        probe_run(&p);
        find_momentum(&p, row ? now : first);
        for (int k = 0; row && k < 6; k++) off = fmax(off, fabs(now[k] - first[k]));
    }
    print_message("stiffening %s: energy to %.1e, momentum to %.1e\n", stiffening,
                  summary.energy_error, off);
    assert_true(largest(run, "hub.y1") > 0.02);
    assert_below(summary.energy_error, 1e-8);
    assert_below(off, 1e-10);
    probe_free(&p);
    tr_sheet_free(run);
}

static void test_free_body(void **state)
{
    (void)state;
    spin_freely("false");
    spin_freely("true");
}

// ---- constraints ---------------------------------------------------------------------------

// Skates on tips and bodies, on the ground and on each other, at rest to begin with: reduced as by
// multipliers, and what holds them does no work
static void print_skates(Buffer *t, const Grove *g, Random *r)
{
    tr_buffer_print(t, "contacts:\n");
    const int rows = 1 + (int)random_below(r, 3);
    for (int i = 0; i < rows; i++) {
        const int on = g->count > 2 && random_below(r, 2) ? 0 : -1;
        const int body = 1 + (int)random_below(r, (uint32_t)(g->count - 1));
        const V3 d = grove_vector(r);
        tr_buffer_print(t, "  s%d: {kind: skate, body: b%d%s, direction: \"%.17g, %.17g, %.17g\"",
                        i, body, g->body[body].bends ? ".end" : "", d.x, d.y, d.z);
        tr_buffer_print(t, on < 0 ? "}\n" : ", on: b%d}\n", on);
    }
    tr_buffer_print(t, "roles: {b0: {torque: 1}}\n");
}

static void test_random_constraints(void **state)
{
    (void)state;
    Random r = {1967};
    for (int trial = 0; trial < (BRIEF ? 3 : 25); trial++) {
        Grove g = any_grove(&r);
        while (g.count < 3 || g.n < 8 || g.n > 30) g = any_grove(&r);
        Buffer text = {0};
        print_grove(&text, &g);
        print_skates(&text, &g, &r);
        tr_summary summary = {0};
        Sheet *run = run_with(system_from(text.at), 0.2, 0.1, &summary);
        if (!(is_below(summary.energy_error, 1e-10) && is_below(summary.kkt_error, 1e-9) &&
              is_below(summary.velocity_error, 1e-11)))
            fail_msg("energy %.1e, kkt %.1e, velocity %.1e:\n%s", summary.energy_error,
                     summary.kkt_error, summary.velocity_error, text.at);
        tr_sheet_free(run);
        tr_buffer_free(&text);
    }
}

// A linkage whose coupler bends
static void test_bent_linkage(void **state)
{
    (void)state;
    Sheet *run = run_to(
        system_from(
            "trundle: 1\ngravity: \"0, -9.81, 0\"\nbodies:\n"
            "  crank: {joint: {type: revolute, axis: \"0, 0, 1\", coordinate: a}, mass: 0.5, "
            "com: \"0.1, 0, 0\", inertia: {zz: 0.01}}\n"
            "  rod:\n    parent: crank\n"
            "    joint: {type: revolute, axis: \"0, 0, 1\", at: \"0.2, 0, 0\", coordinate: b}\n"
            "    beam: {length: 0.6, density: 0.5, stiffness: 2, modes: 3, damping: 0.01}\n"
            "  slider: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}\n"
            "contacts:\n  wrist: {kind: pin, body: rod.tip, on: slider}\n"
            "roles: {a: {torque: 0.4}}\ninitial: {a: 0.4, rod.y1: 0, rod.y2: 0, rod.y3: 0}\n"
            "guess: {b: -0.5, x: 0.8}\n"),
        2, 0.05);
    assert_true(largest(run, "rod.y1") > 1e-3);
    for (size_t i = 0; i < run->rows; i++)
        assert_below(fabs(at(run, i, "residual.position")), 1e-9);
    tr_sheet_free(run);
}

// Wheels on beams, one on the tip itself, whose angle is nowhere in the equations
static void test_wheel_on_beam(void **state)
{
    (void)state;
    Sheet *run = run_to(
        system_from(
            "trundle: 1\nbodies:\n"
            "  frame: {joint: {type: free}, mass: 20, com: \"0, 0, 0.2\", inertia: {xx: 1, yy: "
            "2, zz: 2}}\n"
            "  stay:\n    parent: frame\n    joint: {turn: \"0, 0, pi\"}\n"
            "    beam: {length: 0.2, density: 3, stiffness: 500, planes: yz, modes: 1, torsion: "
            "300, rotary: 0.01, torsion_modes: 1}\n"
            "  rear: {parent: stay.tip, joint: {type: revolute, axis: \"0, -1, 0\"}, mass: 2, "
            "inertia: {axial: 0.1, radial: 0.06}}\n"
            "  bar:\n    parent: frame\n    joint: {type: fixed, turn: \"0, 0.2, 0\"}\n"
            "    beam: {length: 1, density: 2, stiffness: 400, planes: yz, modes: 2, torsion: "
            "300, rotary: 0.01, torsion_modes: 1, stiffening: true}\n"
            "  fork: {parent: bar.tip, joint: {type: revolute, axis: \"0.3, 0, 1\", coordinate: "
            "steer}, mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
            "  front: {parent: fork, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0.02, 0, "
            "-0.05\"}, mass: 2, inertia: {axial: 0.1, radial: 0.06}}\n"
            "contacts:\n  rear_tyre: {body: rear, radius: 0.3, unilateral: false}\n"
            "  front_tyre: {body: front, radius: 0.3, unilateral: false}\n"
            "initial: {frame.x: 0, frame.y: 0, stay.y1: 0, stay.z1: 0, stay.t1: 0, bar.y1: 0.001, "
            "bar.z1: 0, bar.y2: 0, bar.z2: 0, "
            "bar.t1: 0, steer: 0.1, frame.vx: 3, frame.wx: 0.2, d(bar.y1): 0.05}\n"
            "guess: {frame.z: 0.3}\n"),
        BRIEF ? 0.1 : 0.4, 0.02);
    assert_true(largest(run, "bar.y1") > 1e-3);
    tr_sheet_free(run);
}

// A joint at the tip of a beam, written from either side
static void test_joint_at_tip(void **state)
{
    (void)state;
    static const char *const joints[] = {
        "parent: mast.tip, body: bob, axis: \"0, 0, 1\", to: \"-0.3, 0, 0\"",
        "parent: bob, body: mast.tip, axis: \"0, 0, -1\", at: \"-0.3, 0, 0\"",
    };
    Sheet *run[2];
    for (int i = 0; i < 2; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "trundle: 1\ngravity: 0, -9.81, 0\nbodies:\n"
                 "  bob: {mass: 1, inertia: {zz: 0.1}}\n"
                 "  mast: {beam: {length: 1, density: 1, stiffness: 10, modes: 2}}\njoints:\n"
                 "  hang: {type: revolute, %s}\n  root: {body: mast}\ninitial: {hang: 0.3}\n",
                 joints[i]);
        run[i] = run_to(system_from(text), 1, 0.1);
    }
    assert_true(largest(run[0], "mast.y1") > 0.1);
    for (size_t i = 0; i < run[0]->rows; i++) {
        assert_close(at(run[0], i, "mast.y1"), at(run[1], i, "mast.y1"), 1e-9);
        assert_close(at(run[0], i, "hang"), at(run[1], i, "hang"), 1e-9);
    }
    for (int i = 0; i < 2; i++) tr_sheet_free(run[i]);
}

// ---- bad input -----------------------------------------------------------------------------

static void test_bad_input(void **state)
{
    (void)state;
    static const struct {
        const char *beam, *words;
    } bad[] = {
        {"{length: 1, density: 1, stiffness: -2}", "'stiffness' of a beam is negative"},
        {"{length: 1, density: 1, stiffness: 0}", "'stiffness' of a beam is zero: it is positive"},
        {"{length: 1, density: 1, stiffness: 1 - 2*s}", "'stiffness' of a beam is negative"},
        {"{length: 1, density: 1, stiffness: 1/0}", "'stiffness' of a beam is not finite"},
        {"{length: 1, density: 1, stiffness: 1, stiffness_z: -1}",
         "'stiffness_z' of a beam is negative"},
        {"{length: 1, density: 1, stiffness: 1, stiffness_z: 1, planes: y}",
         "'stiffness_z' is for a beam that bends along z, and this one does not: see planes"},
        {"{length: 1, density: -1, stiffness: 1}", "'density' of a beam is negative"},
        {"{length: 1, stiffness: 1}", "this beam needs 'density'"},
        {"{length: 1, density: 1}", "this beam needs 'stiffness'"},
        {"{density: 1, stiffness: 1}", "this beam needs 'length'"},
        {"{length: 0, density: 1, stiffness: 1}", "the length of a beam is positive"},
        {"{length: -1, density: 1, stiffness: 1}", "the length of a beam is positive"},
        {"{length: 1, density: 1, stiffness: 1, modes: 13}",
         "'modes' is a whole number from 0 to 12"},
        {"{length: 1, density: 1, stiffness: 1, modes: -1}",
         "'modes' is a whole number from 0 to 12"},
        {"{length: 1, density: 1, stiffness: 1, modes: 1.5}",
         "'modes' is a whole number from 0 to 12"},
        {"{length: 1, density: 1, modes: 0}", "a beam without modes is a rigid body"},
        {"{length: 1, density: 1, stiffness: 1, planes: x}",
         "a beam bends along y, z or yz, not 'x'"},
        {"{length: 1, density: 1, stiffness: 1, torsion_modes: 1}", "this beam needs 'rotary'"},
        {"{length: 1, density: 1, stiffness: 1, torsion_modes: 1, rotary: 1}",
         "this beam needs 'torsion'"},
        {"{length: 1, density: 1, stiffness: 1, damping: -0.1}",
         "the damping ratio of modes is negative"},
        {"{length: 1, density: 1, stiffness: 1, points: {far: 2}}",
         "'mast.far' is at 2, not on the beam, which goes from 0 to 1"},
        {"{length: 1, density: 1, stiffness: 1, points: {a.b: 0.5}}",
         "'a.b' is not a name for a point: ASCII letters, digits and _"},
        {"{length: t, density: 1, stiffness: 1}", "'t' is not a parameter: this must be constant"},
        {"{length: 1, density: t, stiffness: 1}",
         "this is a formula of s and of parameters, not of 't'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[600];
        snprintf(text, sizeof text, BEAM "%s\n", bad[i].beam);
        check_refused(text, 5, bad[i].words);
    }
    check_refused(BEAM
                  "{length: 1, density: 1, stiffness: 1}\n  ball: {parent: mast.top, mass: 1}\n",
                  6, "'ball' hangs from 'mast.top', which is not a body; did you mean 'mast.tip'?");
    check_refused("trundle: 1\nbodies:\n  a: {mass: 1}\n  b: {parent: a.tip, mass: 1}\n", 4,
                  "'b' hangs from 'a.tip', which is not a body; there are 'a', 'b'");
    check_refused(BEAM "{length: 1, density: 1, stiffness: 1}\nroles: {mast.tip: {torque: 1}}\n", 6,
                  "the joint of 'mast.tip' is fixed: it cannot move");
    check_refused(BEAM "{length: 1, density: 1, stiffness: 1}\njoints: {root: {body: mast.tip}}\n",
                  6, "'mast' bends, and would hang by a point of it: it hangs by its origin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_soft_board_facts),
        cmocka_unit_test(test_soft_board_ride),
        cmocka_unit_test(test_soft_board_stiff),
        cmocka_unit_test(test_random_trees),
        cmocka_unit_test(test_cantilever),
        cmocka_unit_test(test_torsion),
        cmocka_unit_test(test_tip),
        cmocka_unit_test(test_tip_mass),
        cmocka_unit_test(test_two_halves),
        cmocka_unit_test(test_spinning_cantilever),
        cmocka_unit_test(test_buckling),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_free_body),
        cmocka_unit_test(test_random_constraints),
        cmocka_unit_test(test_bent_linkage),
        cmocka_unit_test(test_wheel_on_beam),
        cmocka_unit_test(test_joint_at_tip),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
