// SPDX-License-Identifier: Apache-2.0
// The biped on wheels with its legs' loops closed: what the thesis counts, the force that closes a
// loop by its own formula, free flight, and a minute of balancing.
//
// [S n] is Macicek (2022). Its equations, with an inverse and transposes that it lacks, are
//   M u' + b + g + s + J^T F = S^T tau                                             [S 3.14]
//   X u + Y u' = 0                                                                 [S 3.15]
//   F = (Y M^-1 J^T)^-1 (X u + Y M^-1 (S^T tau - b - g - s))                       [S 3.16]
// and ours M v' + c = Q + G^T lambda: so c = b + g, Q = S^T tau - s, J = Y = G, lambda = -F.
#include "gauss.h"
#include "plans.h"
#include "runs.h"

#include <time.h>

static const double slowness = SLOW_BUILD ? 5 : 1;

enum { VELOCITIES = 14, MOST_ROWS = 10 };

static double parameter(const tr_system *system, const char *name)
{
    return tr_input_value(system, input_index(system, name));
}

// ---- a leg in its plane --------------------------------------------------------------------

typedef struct Plane {
    double x, z;
} Plane;

typedef struct Leg {
    Plane knee, tail, free, axle, hinge;
} Leg;

static Leg leg_of(const tr_system *s)
{
    const double a = parameter(s, "a_upper"), b = parameter(s, "a_lower");
    const double upper = parameter(s, "l_upper"), lower = parameter(s, "l_lower");
    const double tail = parameter(s, "l_tail");
    Leg leg = {.knee = {-upper * sin(a), -upper * cos(a)},
               .axle = {lower * sin(b), -lower * cos(b)},
               .tail = {-tail * sin(b), tail * cos(b)},
               .hinge = {parameter(s, "hinge_x"), parameter(s, "hinge_z")}};
    leg.free =
        (Plane){leg.hinge.x - leg.knee.x - leg.tail.x, leg.hinge.z - leg.knee.z - leg.tail.z};
    return leg;
}

// Turned about y
static Plane turned(Plane p, double angle)
{
    return (Plane){p.x * cos(angle) + p.z * sin(angle), p.z * cos(angle) - p.x * sin(angle)};
}

// The free leg's end in the base's axes, from its hinge there, when the joints of the leg that come
// one after the other to it are turned so
static Plane gap_of(const Leg *leg, const double joint[3])
{
    const Plane part[3] = {leg->knee, leg->tail, leg->free};
    Plane gap = {-leg->hinge.x, -leg->hinge.z};
    double angle = 0;
    for (int k = 0; k < 3; k++) {
        const Plane p = turned(part[k], angle += joint[k]);
        gap.x += p.x, gap.z += p.z;
    }
    return gap;
}

// d(gap)/d(joint) as two rows of Y, and what X u is: the acceleration of the gap while the joints
// turn evenly. A part that turns at rate w about y moves at w (z, -x), and is drawn in by w^2.
static void close_leg(const Leg *leg, const double joint[3], const double rate[3], Plane Y[3],
                      Plane *Xu)
{
    const Plane part[3] = {leg->knee, leg->tail, leg->free};
    double angle = 0, w = 0;
    *Xu = (Plane){0, 0};
    memset(Y, 0, 3 * sizeof *Y);
    for (int k = 0; k < 3; k++) {
        const Plane p = turned(part[k], angle += joint[k]);
        w += rate[k];
        Xu->x -= w * w * p.x, Xu->z -= w * w * p.z;
        for (int j = 0; j <= k; j++) Y[j].x += p.z, Y[j].z -= p.x;
    }
}

// ---- numbers of a system -------------------------------------------------------------------

static void evaluate(tr_system *system, const char *outputs, const double *inputs, double *values,
                     size_t count)
{
    tr_error err = {0};
    tr_program *program = tr_compile(system, outputs, NULL, &err);
    tr_workspace *work = tr_workspace_new(program, &err);
    if (err.status) fail_msg("%s: %s", outputs, err.text);
    assert_int_equal(tr_program_sizes(program).outputs, count);
    tr_evaluate(program, work, inputs, values);
    tr_workspace_free(work);
    tr_program_free(program);
}

static double *start_of(tr_system *system)
{
    tr_error err = {0};
    double *inputs = calloc(tr_input_count(system), sizeof *inputs);
    assert_non_null(inputs);
    if (!initial_of(system, inputs, &err)) fail_msg("%s", err.text);
    return inputs;
}

typedef struct Free {
    double M[VELOCITIES * VELOCITIES], c[VELOCITIES], Q[VELOCITIES];
} Free; // M v' + c = Q

// Of the open tree, in the state of the closed robot
static void take_tree(const tr_system *closed, const double *inputs, Free *f)
{
    tr_model *model = model_called("sk8o");
    change(model, "cases/drop/without", "right_hinge, left_hinge, right, right_grip, left");
    tr_system *tree = system_of(model, "drop");
    double *there = start_of(tree);
    for (size_t i = 0; i < tr_input_count(tree); i++) {
        const tr_kind kind = tr_input_kind(tree, i);
        if (kind == TR_POSITION || kind == TR_VELOCITY || kind == TR_INPUT)
            there[i] = inputs[input_index(closed, tr_input_name(tree, i))];
    }
    evaluate(tree, "M c Q", there, f->M, sizeof *f / sizeof *f->M);
    free(there);
    tr_system_free(tree);
}

// ---- the closing force ---------------------------------------------------------------------

static void solve_mass(const Free *f, const double *b, double *x)
{
    double M[VELOCITIES * VELOCITIES];
    memcpy(M, f->M, sizeof M);
    memcpy(x, b, VELOCITIES * sizeof *x);
    gauss(VELOCITIES, VELOCITIES, M, x);
}

// F = (Y M^-1 Y^T)^-1 (X u + Y M^-1 (Q - c))                               [S 3.16], corrected
static void closing_force(const Free *f, int rows, const double *Y, const double *Xu, double *F)
{
    double right[VELOCITIES], unclosed[VELOCITIES], column[VELOCITIES], A[MOST_ROWS * MOST_ROWS];
    for (int k = 0; k < VELOCITIES; k++) right[k] = f->Q[k] - f->c[k];
    solve_mass(f, right, unclosed);
    for (int i = 0; i < rows; i++) {
        F[i] = Xu[i];
        for (int k = 0; k < VELOCITIES; k++) F[i] += Y[i * VELOCITIES + k] * unclosed[k];
    }
    for (int j = 0; j < rows; j++) {
        solve_mass(f, Y + j * VELOCITIES, column); // of M^-1 Y^T
        for (int i = 0; i < rows; i++) {
            A[i * rows + j] = 0;
            for (int k = 0; k < VELOCITIES; k++)
                A[i * rows + j] += Y[i * VELOCITIES + k] * column[k];
        }
    }
    gauss(rows, rows, A, F);
}

// lambda = -F, to 1e-10 of the largest
static void check_force(const double *lambda, const double *F, int rows, double *worst)
{
    double size = 0;
    for (int i = 0; i < rows; i++) size = fmax(size, fabs(F[i]));
    assert_true(size > 0.1);
    for (int i = 0; i < rows; i++) *worst = fmax(*worst, fabs(lambda[i] + F[i]) / size);
    assert_below(*worst, 1e-10);
}

// The robot in free flight, somewhere, turning, its legs bent otherwise and moving, motors on
static tr_model *thrown(Random *r)
{
    static const char *const anything[] = {"base.x",  "base.y",  "yaw",     "pitch",   "roll",
                                           "phi1",    "phi3",    "phi5",    "phi7",    "base.vx",
                                           "base.vy", "base.vz", "base.wx", "base.wy", "base.wz"};
    static const char *const rates[] = {"d(phi1)", "d(phi3)", "d(phi5)", "d(phi7)"};
    static const char *const motors[] = {"T1", "T3", "T5", "T7"};
    tr_model *model = model_called("sk8o");
    char path[60];
    for (size_t i = 0; i < sizeof anything / sizeof *anything; i++) {
        snprintf(path, sizeof path, "cases/drop/initial/%s", anything[i]);
        change_number(model, path, random_between(r, -0.5, 0.5));
    }
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "cases/drop/initial/%s", rates[i]);
        change_number(model, path, random_between(r, -8, 8));
        snprintf(path, sizeof path, "inputs/%s", motors[i]);
        change_number(model, path, random_between(r, -5, 5));
    }
    return model;
}

// Y and X u of both loops in the order of our rows: x and z on the right, then on the left
static void close_legs(const tr_system *system, const double *inputs, double *Y, double *Xu)
{
    static const int joint[2][3] = {{1, 2, 4}, {5, 6, 8}}; // those that lead to the hinge
    const Leg leg = leg_of(system);
    memset(Y, 0, 4 * VELOCITIES * sizeof *Y);
    for (int side = 0; side < 2; side++) {
        double q[3], rate[3];
        Plane slope[3], bias;
        for (int k = 0; k < 3; k++) {
            char name[20];
            snprintf(name, sizeof name, "phi%d", joint[side][k]);
            q[k] = inputs[input_index(system, name)];
            snprintf(name, sizeof name, "phi%d_rate", joint[side][k]);
            rate[k] = inputs[input_index(system, name)];
        }
        assert_close(hypot(gap_of(&leg, q).x, gap_of(&leg, q).z), 0, 1e-14);
        close_leg(&leg, q, rate, slope, &bias);
        double *row = Y + 2 * side * VELOCITIES;
        for (int k = 0; k < 3; k++) {
            const int v = 6 + joint[side][k] - 1; // behind those of the base
            row[v] = slope[k].x, row[VELOCITIES + v] = slope[k].z;
        }
        Xu[2 * side] = bias.x, Xu[2 * side + 1] = bias.z;
    }
}

// From the open tree and the geometry of a leg alone
static void test_closing_force(void **state)
{
    (void)state;
    Random r = {20220105};
    double worst = 0;
    for (int i = 0; i < 12; i++) {
        tr_error err = {0};
        tr_model *model = i ? thrown(&r) : model_called("sk8o");
        tr_system *system = system_of(model, "drop");
        double *inputs = start_of(system);
        double Y[4 * VELOCITIES], Xu[4], F[4], lambda[4];
        Free f;
        take_tree(system, inputs, &f);
        close_legs(system, inputs, Y, Xu);
        closing_force(&f, 4, Y, Xu, F);
        tr_system *closed = reduced_system(system, &err);
        if (!closed) fail_msg("%s", err.text);
        evaluate(closed, "lambda", inputs, lambda, 4);
        tr_system_free(closed);
        check_force(lambda, F, 4, &worst);
        free(inputs);
        tr_system_free(system);
    }
    print_message("closing force (3.16), thrown: to %.1e\n", worst);
}

// On the ground the rows of the wheels are closed with those of the loops.
static void test_closing_force_on_ground(void **state)
{
    (void)state;
    const Number values[][6] = {
        {{"lean0", 0}, {"bend_right", 0}, {"T1", 0}, {"T3", 0}, {"T5", 0}, {"T7", 0}},
        {{"lean0", 0.2}, {"bend_right", 0.3}, {"T1", 2}, {"T3", -0.5}, {"T5", 1}, {"T7", 0.7}},
        {{"lean0", -0.3}, {"bend_right", -0.2}, {"T1", 5}, {"T3", 1.5}, {"T5", 4}, {"T7", 1}},
    };
    enum { ROWS = 9 };
    double worst = 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        tr_error err = {0};
        tr_system *system = system_with("sk8o", "ground", values[i], 6);
        double *inputs = start_of(system), G[ROWS * VELOCITIES], gamma[ROWS], F[ROWS], lambda[ROWS];
        Free f;
        evaluate(system, "M c Q", inputs, f.M, sizeof f / sizeof *f.M);
        evaluate(system, "G", inputs, G, ROWS * VELOCITIES);
        evaluate(system, "gamma", inputs, gamma, ROWS);
        closing_force(&f, ROWS, G, gamma, F);
        tr_system *closed = reduced_system(system, &err);
        if (!closed) fail_msg("%s", err.text);
        evaluate(closed, "lambda", inputs, lambda, ROWS);
        tr_system_free(closed);
        check_force(lambda, F, ROWS, &worst);
        free(inputs);
        tr_system_free(system);
    }
    print_message("closing force (3.16), on the ground: to %.1e\n", worst);
}

// ---- runs ----------------------------------------------------------------------------------

// How far the loops are open, from the recorded angles alone
static double widest_gap(const Sheet *run, const Leg *leg)
{
    double widest = 0;
    for (size_t i = 0; i < run->rows; i++) {
        const double right[] = {at(run, i, "phi1"), at(run, i, "phi2"), at(run, i, "phi4")};
        const double left[] = {at(run, i, "phi5"), at(run, i, "phi6"), at(run, i, "phi8")};
        const Plane a = gap_of(leg, right), b = gap_of(leg, left);
        widest = fmax(widest, fmax(hypot(a.x, a.z), hypot(b.x, b.z)));
    }
    return widest;
}

static Leg leg_of_model(void)
{
    tr_system *system = system_called("sk8o", "drop");
    const Leg leg = leg_of(system);
    tr_system_free(system);
    return leg;
}

// The base does not move, and the legs swing without loss.
static void test_hanging(void **state)
{
    (void)state;
    const Leg leg = leg_of_model();
    Sheet *run = run_to(system_called("sk8o", "hanging"), 2, 0.01);
    assert_below(widest_gap(run, &leg), 1e-13);
    assert_true(most(run, "base.z") == least(run, "base.z"));
    assert_below(largest(run, "base.qy"), 1e-14);
    assert_true(most(run, "leg_right") - least(run, "leg_right") > 0.05);
    assert_below(difference(run, "leg_right", run, "leg_left"), 1e-9);
    const double energy = at(run, 0, "energy.potential");
    for (size_t i = 0; i < run->rows; i++)
        assert_close(at(run, i, "energy.kinetic") + at(run, i, "energy.potential"), energy, 1e-10);
    tr_sheet_free(run);
}

// Whatever the springs do to the legs, the mass centre falls as a stone does, straight down.
static void test_drop(void **state)
{
    (void)state;
    const Leg leg = leg_of_model();
    Sheet *run = run_to(system_called("sk8o", "drop"), 0.3, 0.01);
    double x0 = 0, z0 = 0;
    assert_below(widest_gap(run, &leg), 1e-13);
    assert_true(largest(run, "leg_right") - least(run, "leg_right") > 0.02);
    for (size_t i = 0; i < run->rows; i++) {
        const double a = at(run, i, "phi1"), t = at(run, i, "t"), pitch = at(run, i, "pitch");
        const Plane knee = turned(leg.knee, a), axle = turned(leg.axle, a + at(run, i, "phi2"));
        const Plane centre = {at(run, i, "ahead") + knee.x + axle.x,
                              at(run, i, "above") + knee.z + axle.z};
        const double x = at(run, i, "base.x") + turned(centre, pitch).x;
        const double z = at(run, i, "base.z") + turned(centre, pitch).z;
        if (!i) x0 = x, z0 = z;
        assert_close(x, x0, 1e-12);
        assert_close(z, z0 - 9.81 * t * t / 2, 1e-12);
    }
    tr_sheet_free(run);
}

// A minute: it rights itself, drives and weaves while it squats, stops, and stands.
static void test_balance(void **state)
{
    (void)state;
    const Leg leg = leg_of_model();
    tr_summary s = {0};
    tr_system *system = system_called("sk8o", "balance");
    tr_simulate_options o = tr_simulate_defaults(system);
    assert_true(o.end == 60);
    o.every = 0.1, o.rtol = 1e-8, o.atol = 1e-10;
    Sheet *run = simulated(system, o, &s);
    const double gap = widest_gap(run, &leg);
    print_message("balance: gap %.1e m, residual %.1e, energy %.1e, %zu steps, %.2f s\n", gap,
                  s.position_error, s.energy_error, s.steps, s.seconds);
    assert_below(gap, 1e-11);
    assert_below(s.position_error, 1e-11);
    assert_below(most(run, "residual.position"), 1e-11);
    assert_below(s.energy_error, 1e-7);
    assert_below(s.kkt_error, 1e-9);
    assert_int_equal(s.warnings, 0);
    assert_true(least(run, "lambda.right.normal") > 20 && least(run, "lambda.left.normal") > 20);
    assert_true(largest(run, "lean") < 0.15 && largest(run, "roll") < 0.15);
    assert_true(most(run, "speed") > 0.9 && largest(run, "turn_rate") > 0.6);
    assert_true(least(run, "leg_right") < 0.2 && most(run, "leg_right") > 0.3);
    const size_t last = run->rows - 1;
    assert_close(at(run, last, "lean"), 0, 1e-3);
    assert_close(at(run, last, "speed"), 0, 1e-3);
    assert_close(at(run, last, "turn_rate"), 0, 1e-3);
    assert_close(at(run, last, "way"), 50, 1e-2); // 1 m/s for 50 s, and what it takes to get going
    tr_sheet_free(run);
    tr_system_free(system);
}

// ---- what the thesis counts, and how long it takes -----------------------------------------

static void check_counts(const char *case_name, int rows, int kernel)
{
    char *json = facts_of(system_called("sk8o", case_name));
    assert_fact(json, "bodies", 9);
    assert_fact(json, "n", 6);
    assert_fact(json, "s_p", 8);
    assert_fact(json, "rows", rows);
    assert_fact(json, "m", rows);
    assert_fact(json, "redundant", 0);
    assert_fact(json, "kernel", kernel);
    tr_text_free(json);
}

static void test_counts(void **state)
{
    (void)state;
    check_counts("drop", 4, 10);
    check_counts("ground", 9, 5);
    check_counts("balance", 9, 5);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_to_numbers(const char *case_name)
{
    tr_error err = {0};
    const double begin = now();
    tr_system *system = system_called("sk8o", case_name);
    char *numbers = tr_eval_text(system, true, &err);
    const double seconds = now() - begin;
    if (!numbers) fail_msg("%s", err.text);
    assert_non_null(strstr(numbers, "\"phi8_rate\""));
    tr_text_free(numbers);
    tr_system_free(system);
    return seconds;
}

// The thesis waits two hours for its equations; this is from the file to the numbers.
static void test_first_numbers(void **state)
{
    (void)state;
    static const char *const cases[] = {"balance", "ground", "hanging", "drop"};
    for (int i = 0; i < 4; i++) {
        const double seconds = seconds_to_numbers(cases[i]);
        print_message("%-8s first numbers after %.3f s\n", cases[i], seconds);
        assert_true(seconds < 0.5 * slowness);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),        cmocka_unit_test(test_first_numbers),
        cmocka_unit_test(test_closing_force), cmocka_unit_test(test_closing_force_on_ground),
        cmocka_unit_test(test_hanging),       cmocka_unit_test(test_drop),
        cmocka_unit_test(test_balance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
