// SPDX-License-Identifier: Apache-2.0
// The drifts that rows are eliminated with (T120, T124, T125) against derivatives of the rows, at
// any positions and at velocities that the rows allow.
#include "expr/derivative.h"
#include "folder.h"
#include "models.h"
#include "plan/evaluator.h"
#include "random.h"

#include <lapacke.h>
#undef I // of <complex.h>

// ---- states --------------------------------------------------------------------------------

// The rows of a system as numbers at a state
typedef struct Rows {
    System *system;
    uint32_t count, n;
    uint32_t *v; // inputs that are velocities
    Evaluator program;
    double *inputs, *values;
    size_t size; // of a row: slopes, rest, bias, inner bias, mix
} Rows;

enum { REST, BIAS, INNER_BIAS, MIX, PER_ROW = MIX + 3 };

static double *numbers_of(const Rows *r, uint32_t i)
{
    return r->values + r->n + i * r->size + r->n;
}

static Rows open_rows(System *s)
{
    tr_error err = {0};
    Exprs list = {0};
    Rows r = {.system = s, .n = tr_system_inputs(s, TR_VELOCITY, NULL)};
    while (r.count < s->row_count && !s->rows[r.count].is_speed) r.count++;
    r.v = calloc(r.n + 1u, sizeof *r.v);
    assert_non_null(r.v);
    for (uint32_t i = 0, k = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_VELOCITY) r.v[k++] = i, exprs_add(&list, s->inputs[i].symbol);
    for (uint32_t i = 0; i < r.count; i++) {
        const Row *row = &s->rows[i];
        tr_exprs_add(&list, row->slopes, r.n);
        exprs_add(&list, row->rest);
        exprs_add(&list, row->bias);
        exprs_add(&list, row->inner_bias);
        for (int k = 0; k < 3; k++) exprs_add(&list, row->is_mixed ? row->mix[k] : zero(s->graph));
    }
    r.size = r.n + PER_ROW;
    r.inputs = calloc(s->input_count, sizeof *r.inputs);
    r.values = calloc(list.count, sizeof *r.values);
    r.program = tr_evaluator_list(s, &list, OPEN_PARAMETERS, &err);
    assert_true(r.inputs && r.values && !err.status);
    return r;
}

static void close_rows(Rows *r)
{
    tr_evaluator_free(&r->program);
    free(r->v);
    free(r->inputs);
    free(r->values);
    tr_system_free(r->system);
}

static void evaluate_rows(Rows *r) { evaluate_into(&r->program, r->inputs, r->values); }

static double larger_of(double a, double b) { return a >= b ? a : b; } // b if that is no number

static void any_state_of(Rows *r, Random *random)
{
    const System *s = r->system;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        const bool moves = is_placed(input) || input->kind == TR_VELOCITY;
        r->inputs[i] = moves                    ? 0.7 * any(random)
                       : input->kind == TR_TIME ? random_between(random, 0.1, 0.9)
                                                : input->value;
    }
    for (uint32_t i = 0; i < s->input_count; i++) { // quaternions are units
        if (strcmp(s->inputs[i].port.component, "qw") != 0) continue;
        double *q = &r->inputs[i];
        const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (int k = 0; k < 4; k++) q[k] /= size;
    }
}

// |q|^2 - 1
static Expr unit_residual(const System *s, uint32_t first)
{
    Expr sum = number(s->graph, -1);
    for (uint32_t k = first; k < first + 4; k++) sum = add(sum, square(s->inputs[k].symbol));
    return sum;
}

// Contacts on what is not flat touch: tangency and the gap are zero, by Newton's method along the
// shortest way, and quaternions stay units. False when that does not end.
static bool touch_ground(Rows *r)
{
    System *s = r->system;
    const uint32_t touches = 3 * s->touching_count, m = touches + s->quaternion_count;
    tr_error err = {0};
    Exprs list = {0};
    uint32_t n = 0, *place = calloc(s->input_count, sizeof *place);
    Expr *symbols = calloc(s->input_count, sizeof *symbols),
         *all = calloc((size_t)m * (s->input_count + 1u) + 1, sizeof *all);
    assert_true(place && symbols && all);
    for (uint32_t i = 0; i < s->input_count; i++)
        if (is_placed(&s->inputs[i]) && !s->inputs[i].definition.id)
            symbols[n] = s->inputs[i].symbol, place[n++] = i;
    for (uint32_t i = 0; i < s->touching_count; i++) {
        for (int k = 0; k < 2; k++) all[3 * i + (uint32_t)k] = s->touchings[i].tangency[k];
        all[3 * i + 2] = s->touchings[i].gap;
    }
    for (uint32_t i = 0; i < s->quaternion_count; i++)
        all[touches + i] = unit_residual(s, s->quaternions[i].position);
    assert_true(tr_dense_jacobian(s->graph, all, m, symbols, n, all + m));
    tr_exprs_add(&list, all, m * (n + (size_t)1));
    Evaluator program = tr_evaluator_list(s, &list, OPEN_PARAMETERS, &err);
    double *values = calloc(m * (n + (size_t)1) + n, sizeof *values),
           *x = calloc(n + (size_t)m, sizeof *x), *sigma = calloc(n + (size_t)m, sizeof *sigma);
    assert_true(values && x && sigma && !err.status);
    bool is_there = false;
    for (int step = 0; step < 40 && !is_there; step++) {
        lapack_int rank = 0;
        double off = 0;
        evaluate_into(&program, r->inputs, values);
        for (uint32_t i = 0; i < m; i++) off = larger_of(off, fabs(x[i] = values[i]));
        is_there = off < 1e-13;
        bool is_finite = true;
        for (uint32_t i = 0; i < m * (n + 1); i++) is_finite = is_finite && fabs(values[i]) < 1e6;
        if (!is_finite) break;
        assert_int_equal(LAPACKE_dgelsd(LAPACK_ROW_MAJOR, (lapack_int)m, (lapack_int)n, 1,
                                        values + m, (lapack_int)n, x, 1, sigma, 1e-11, &rank),
                         0);
        double far = 0;
        for (uint32_t k = 0; k < n; k++) far = fmax(far, fabs(x[k]));
        for (uint32_t k = 0; k < n; k++) r->inputs[place[k]] -= x[k] * fmin(1, 0.2 / far);
    }
    tr_evaluator_free(&program);
    free(place);
    free(symbols);
    free(all);
    free(values);
    free(x);
    free(sigma);
    return is_there;
}

// G_p dv = -(G v + g), the shortest
static void settle(Rows *r)
{
    const lapack_int m = (lapack_int)r->count, n = (lapack_int)r->n;
    const size_t rows = r->count, columns = r->n, most = rows > columns ? rows : columns;
    double *A = calloc(rows * columns, sizeof *A), *x = calloc(most, sizeof *x),
           *sigma = calloc(most, sizeof *sigma);
    lapack_int rank = 0;
    assert_true(A && x && sigma);
    evaluate_rows(r);
    for (uint32_t i = 0; i < r->count; i++) {
        const double *G = numbers_of(r, i) - r->n;
        x[i] = -G[r->n + REST];
        for (uint32_t k = 0; k < r->n; k++) {
            const bool is_given = r->system->inputs[r->v[k]].definition.id != 0;
            A[i * columns + k] = is_given ? 0 : G[k];
            x[i] -= G[k] * r->values[k];
        }
    }
    assert_int_equal(LAPACKE_dgelsd(LAPACK_ROW_MAJOR, m, n, 1, A, n, x, 1, sigma, 1e-11, &rank), 0);
    for (uint32_t k = 0; k < r->n; k++) r->inputs[r->v[k]] += x[k];
    free(A);
    free(x);
    free(sigma);
}

// ---- drifts --------------------------------------------------------------------------------

static double residual(const Rows *r, uint32_t i)
{
    const double *G = numbers_of(r, i) - r->n;
    double sum = G[r->n + REST];
    for (uint32_t k = 0; k < r->n; k++) sum += G[k] * r->values[k];
    return fabs(sum);
}

// Of the row itself, by those that are eliminated
static double inner_drift(const Rows *r, uint32_t i)
{
    const Row *row = &r->system->rows[i];
    const double *x = numbers_of(r, i);
    if (!row->is_mixed) return x[INNER_BIAS];
    double sum = 0;
    for (uint32_t k = 0; k < 3; k++)
        sum += x[MIX + k] * numbers_of(r, row->inner_first + k)[INNER_BIAS];
    return sum;
}

// At a state where all rows hold: how far they are off, of the largest drift
static double drifts_off_at(const Rows *r, const char *name)
{
    double most = 1, worst = 0;
    for (uint32_t i = 0; i < r->count; i++) most = fmax(most, fabs(numbers_of(r, i)[BIAS]));
    for (uint32_t i = 0; i < r->count; i++) {
        const double off = fabs(inner_drift(r, i) - numbers_of(r, i)[BIAS]) / most;
        if (!(off < 1e-12))
            print_message("%s: %s is %.1e off\n", name, r->system->rows[i].name, off);
        worst = larger_of(worst, off);
    }
    return worst;
}

static bool all_hold(const Rows *r)
{
    double most = 0;
    for (uint32_t i = 0; i < r->count; i++) most = larger_of(most, residual(r, i));
    return most < 1e-12;
}

// The worst of some states. `drifts` counts what is no derivative of its row.
static double drifts_off(const char *name, System *s, uint32_t *drifts)
{
    double worst = 0;
    Random random = {11};
    Rows r = open_rows(s);
    uint32_t good = 0;
    for (int state = 0; r.count && state < 6; state++) {
        any_state_of(&r, &random);
        if (s->touching_count && !touch_ground(&r)) continue;
        for (int i = 0; i < 3; i++) settle(&r);
        evaluate_rows(&r);
        if (!all_hold(&r)) continue; // anywhere some loops cannot move
        worst = larger_of(worst, drifts_off_at(&r, name));
        good++;
    }
    if (!good && s->touching_count) fail_msg("%s: nothing touches", name);
    for (uint32_t i = 0; good && i < r.count; i++)
        *drifts += s->rows[i].is_mixed || s->rows[i].inner_bias.id != s->rows[i].bias.id;
    close_rows(&r);
    return worst;
}

static void test_models(void **state)
{
    (void)state;
    uint32_t drifts = 0;
    double worst = 0;
    DIR *listing = opendir(MODELS_DIR);
    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing));) {
        char name[256];
        const char *dot = strstr(entry->d_name, ".yaml");
        if (!dot) continue;
        snprintf(name, sizeof name, "%.*s", (int)(dot - entry->d_name), entry->d_name);
        worst = fmax(worst, drifts_off(name, system_called(name, NULL), &drifts));
    }
    closedir(listing);
    print_message("%u drifts, %.1e\n", drifts, worst);
    assert_true(drifts > 150);
    assert_below(worst, 1e-12);
}

// ---- every kind ----------------------------------------------------------------------------

// What ties two chains of all joints together: on a link that moves, on two bases, or the world
static const char *const bodies =
    "trundle: 1\n"
    "gravity: 1, -2, -9\n"
    "bodies:\n"
    "  carrier: {joint: {type: revolute, axis: \"0.3, -0.5, 1\", at: \"0.1, 0.2, 0.3\"}, mass: 2, "
    "inertia: {xx: 0.2, yy: 0.3, zz: 0.25, xy: 0.02}}\n"
    "  a1: {parent: %s, joint: {type: %s}, mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
    "  a2: {parent: a1, joint: {type: screw, pitch: 0.2, axis: \"1, 2, 3\", to: \"0.1, 0, 0.2\", "
    "at: \"0.3, 0.1, 0\"}, mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
    "  a3: {parent: a2, joint: {type: prismatic, axis: \"0, 1, 1\", at: \"0, 0.1, 0.2\", turn: "
    "\"0.1, 0.2, 0.3\"}, mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
    "  a4: {parent: a3, joint: {type: ball, at: \"0.1, -0.1, 0.2\"}, mass: 1, inertia: {xx: 0.1, "
    "yy: 0.1, zz: 0.1}}\n"
    "  b1: {parent: %s, joint: {type: %s, at: \"-0.2, 0.1, 0\"}, mass: 1, inertia: {xx: 0.1, yy: "
    "0.1, zz: 0.1}}\n"
    "  b2: {parent: b1, joint: {type: revolute, axis: \"1, -1, 0.4\", at: \"0.2, 0.3, 0\", "
    "coordinate: driven}, mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
    "  b3: {parent: b2, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0.2, 0, 0.1\"}, mass: 1, "
    "inertia: {axial: 0.1, radial: 0.08}}\n"
    "  mast: {parent: b2, joint: {type: ball, at: \"0, 0.1, 0.3\"}, mass: 1, inertia: {xx: 0.1, "
    "yy: 0.1, zz: 0.1}, beam: {length: 1, density: 1, stiffness: 50, modes: 2, planes: yz, "
    "stiffening: true}}\n"
    "  bow: {joint: {type: free}, mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}, beam: {length: 1, "
    "density: 1, stiffness: 50, modes: 1, planes: yz}}\n"
    "  rim: {parent: bow.tip, joint: {type: revolute, axis: \"0.2, 1, 0.1\"}, mass: 1, inertia: "
    "{axial: 0.1, radial: 0.06}}\n"
    "  table: {joint: {type: revolute, axis: \"0.1, 0.2, 1\", coordinate: turns}, mass: 1, "
    "inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
    "  belt: {parent: table, joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1, inertia: {xx: "
    "0.1, yy: 0.1, zz: 0.1}}\n"
    "  wheel: {parent: a2, joint: {type: revolute, axis: \"0.2, 1, 0.1\", at: \"0.1, 0.4, 0.2\"}, "
    "mass: 1, inertia: {axial: 0.1, radial: 0.06}}\n"
    "  far: {parent: a4, joint: {type: revolute, axis: \"0.2, 1, 0.1\", at: \"0.1, 0.4, 0.2\"}, "
    "mass: 1, inertia: {axial: 0.1, radial: 0.06}}\n"
    "frames:\n"
    "  seat: {body: %s, at: \"0.1, 0.2, 0.3\", turn: \"0.4, -0.3, 0.5\"}\n"
    "  foot: {body: %s, at: \"-0.1, 0.2, 0.15\", turn: \"-0.6, 0.2, 0.9\"}\n"
    "roles: {driven: {motion: 0.3*sin(2*t)}}\n"
    "%s\n";

static const struct {
    const char *on_a, *a, *on_b, *b;
} chains[] = {{"carrier", "planar", "carrier", "revolute, axis: \"0.2, 0.5, 1\""},
              {"carrier", "free", "world", "planar"},
              {"world", "free", "world", "free"},
              {"world", "free", "carrier", "ball"},
              {"world", "planar", "world", "prismatic, axis: \"0.2, 0.5, 1\""},
              {"carrier", "universal, axis: \"1, 2, 0\", second: \"0, 1, 1\"", "world",
               "cylindrical, axis: \"0.2, 0.5, 1\""}};
enum { CHAINS = sizeof chains / sizeof *chains, ALL = 63, FREE = 4 | 8 };

// In those chains whose bits are set, drifts are no derivatives.
static void check_kind(const char *first, const char *second, const char *element, unsigned own)
{
    static int turn; // where builds are slow, one chain after the other
    const int only = BRIEF ? turn++ % CHAINS : CHAINS;
    for (int i = 0; i < CHAINS; i++) {
        char text[6000];
        uint32_t drifts = 0;
        if (BRIEF && i != only) continue;
        const int length = snprintf(text, sizeof text, bodies, chains[i].on_a, chains[i].a,
                                    chains[i].on_b, chains[i].b, first, second, element);
        assert_true(length < (int)sizeof text);
        assert_below(drifts_off(element, system_from(text), &drifts), 1e-12);
        if (!drifts && own & 1U << i) fail_msg("chain %d: %s", i, element);
    }
}

static void test_loops(void **state)
{
    (void)state;
    static const char *const ends[][2] = {
        {"a4", "b3"}, {"a3", "mast.tip"}, {"mast.tip", "a4"}, {"a4", "world"}};
    static const char *const loops[] = {
        "kind: point, to: \"0.1, 0, 0.2\"",
        "kind: axis, axis: \"1, 2, -1\", own_axis: \"0, 1, 1\"",
        "kind: pose, turn: \"0.1, 0.2, 0.3\"",
        "kind: slider, axis: \"0, 0, 1\"",
        "kind: cylinder, axis: \"1, 2, -1\", own_axis: \"0, 1, 1\"",
        "kind: plane, axis: \"1, 2, -1\"",
        "kind: universal, axis: \"1, 2, -1\", own_axis: \"0, 1, 1\"",
        "kind: distance, length: 1 + 0.1*sin(t)"};
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
            char element[300];
            snprintf(element, sizeof element,
                     "loops: {l: {body: foot, on: seat, at: \"0.1, 0.2, "
                     "0\", %s}}",
                     loops[i]);
            check_kind(ends[k][1], ends[k][0], element, ALL);
        }
}

static void test_contacts(void **state)
{
    (void)state;
    static const char *const own[] = {
        "kind: skate, body: foot, direction: \"1, 2, 0.3\", at: \"0.1, 0, 0.3\"",
        "kind: skate, body: foot, direction: \"cos(3*t), 2 + sin(t), 0.3*t\", at: \"0.1, 0, 0.3\"",
        "kind: slide, body: foot, at: \"0.1, 0, 0.3\"",
        "kind: slide, body: foot, on: seat, at: \"0.1, 0, 0.3\"",
        "kind: pin, body: foot, on: seat, at: \"0.1, 0, 0.3\"",
        "kind: pin, body: foot, at: \"0.1, 0, 0.3\"",
        "kind: wire, body: foot, on: seat, direction: \"1, 2, 0.3\""};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        char element[300];
        snprintf(element, sizeof element, "contacts: {c: {%s}}", own[i]);
        check_kind("b3", "a4", element, ALL);
        check_kind("mast.tip", "a3", element, ALL);
    }
}

// Where the direction turns on what moves, or in axes that spin, the row's derivative does.
static void test_turning_skates(void **state)
{
    (void)state;
    static const char *const own[] = {
        "body: foot, on: seat, direction: \"cos(3*t), 2 + sin(t), 0.3*t\"",
        "body: wheel, direction: \"cos(3*t), 2 + sin(t), 0.3*t\", at: \"0.1, 0, 0.3\"",
        "body: rim, direction: \"cos(3*t), sin(3*t), 0\"",
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        char element[300];
        snprintf(element, sizeof element, "contacts: {c: {kind: skate, %s}}", own[i]);
        check_kind("b3", "a4", element, 0);
    }
}

static void test_wheels(void **state)
{
    (void)state;
    static const char *const wheels[] = {"body: wheel",
                                         "body: rim",
                                         "body: far",
                                         "body: a2, axis: \"0, 1, 2\"",
                                         "body: wheel, tube: 0.05",
                                         "shape: ball, body: a4"};
    static const char *const floors[] = {"", ", on: table", ", on: belt", ", on: b1"};
    static const char *const laws[] = {"", ", lateral: viscous, viscosity: 10",
                                       ", longitudinal: viscous, viscosity: 10",
                                       ", longitudinal: viscous, lateral: viscous, viscosity: 10"};
    for (size_t i = 0; i < sizeof wheels / sizeof *wheels; i++)
        for (size_t k = 0; k < sizeof floors / sizeof *floors; k++)
            for (size_t j = 0; j < sizeof laws / sizeof *laws; j++) {
                char element[300];
                snprintf(element, sizeof element,
                         "contacts: {c: {kind: rolling, radius: 0.3, %s%s%s}}", wheels[i],
                         floors[k], laws[j]);
                check_kind("b3", "a4", element, k < 3 ? FREE : 0);
            }
}

// On the ground, on what moves, and on what is driven; as deep in the tree as there are wheels
static void test_terrain(void **state)
{
    (void)state;
    static const char *const wheels[] = {
        "body: wheel",
        "body: rim",
        "body: far",
        "body: a2, axis: \"0, 1, 2\"",
        "body: wheel, tube: 0.05",
        "shape: ball, body: a4",
        "body: wheel, unilateral: true",
        "shape: ball, body: a4, unilateral: true",
    };
    static const struct {
        const char *contact, *ground;
        bool is_ground;
    } floors[] = {
        {"", "ground: {height: 0.1*sin(2*x)*cos(y)}", true},
        {"",
         "ground: {height: 0.1*sin(2*x)*cos(y) + 0.2*x*y, turn: \"0.3, -0.4, 0.5\", at: \"0.1, "
         "0.2, 0.3\"}",
         true},
        {", on: table, to: \"0.1, 0, 0.2\", surface: {height: 0.1*sin(2*x)*cos(y)}", "", false},
        {", on: b1, surface: {height: 0.1*x^2 + 0.05*y}", "", false},
        {", on: table, to: \"0, 0, 4\", surface: {kind: sphere, radius: -4}", "", false},
        {", on: b1, to: \"0, 0, -2\", surface: {kind: sphere, radius: 2}", "", false},
    };
    static const char *const laws[] = {"", ", lateral: viscous, viscosity: 10",
                                       ", longitudinal: viscous, viscosity: 10",
                                       ", longitudinal: viscous, lateral: viscous, viscosity: 10"};
    for (size_t i = 0; i < sizeof wheels / sizeof *wheels; i++)
        for (size_t k = 0; k < sizeof floors / sizeof *floors; k++)
            for (size_t j = 0; j < sizeof laws / sizeof *laws; j++) {
                char element[400];
                // directions of a ball's rows are their own where it slips
                const bool is_own = floors[k].is_ground && !(strstr(wheels[i], "ball") && j);
                snprintf(element, sizeof element,
                         "contacts: {c: {kind: rolling, radius: 0.3, %s%s%s}}\n%s", wheels[i],
                         floors[k].contact, laws[j], floors[k].ground);
                check_kind("b3", "a4", element, is_own ? FREE : 0);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),   cmocka_unit_test(test_loops),
        cmocka_unit_test(test_contacts), cmocka_unit_test(test_turning_skates),
        cmocka_unit_test(test_wheels),   cmocka_unit_test(test_terrain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
