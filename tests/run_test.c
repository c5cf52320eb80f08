// SPDX-License-Identifier: Apache-2.0
// Running: assembly, the methods and their orders, conserved quantities, rows and files, and what
// happens when a run cannot go on.
#include "run/method.h"
#include "runs.h"

#include <matio.h>
#include <sys/stat.h>

#define assert_error(err, wanted_status, words)        \
    do {                                               \
        assert_string_equal((err).text, words);        \
        assert_int_equal((err).status, wanted_status); \
        (err) = (tr_error){0};                         \
    } while (0)

// ---- a state that moves --------------------------------------------------------------------

typedef struct Motion {
    Flow *flow;
    Mover *mover;
    double *y0;
} Motion;

static Motion start(tr_system *system, const char *method, double step)
{
    tr_error err = {0};
    Motion m = {.flow = tr_flow_new(system, &err)};
    if (!m.flow) fail_msg("%s", err.text);
    m.y0 = m.flow->start;
    m.mover = tr_mover_new(tr_method(method, &err), m.flow, m.y0, &err);
    if (!m.mover) fail_msg("%s", err.text);
    m.mover->step = step;
    return m;
}

static void move(Motion *m, double until)
{
    tr_error err = {0};
    if (!m->mover->method->advance(m->mover, until, &err)) fail_msg("%s", err.text);
    assert_true(m->mover->t == until);
}

static void stop(Motion *m)
{
    tr_mover_free(m->mover);
    tr_flow_free(m->flow);
}

static double off_by(Flow *flow, const double *y)
{
    double position, velocity;
    tr_flow_residual(flow, 0, y, &position, &velocity);
    assert_true(velocity == 0);
    return position;
}

// ---- conserved quantities ------------------------------------------------------------------

static const char tumbling[] =
    "trundle: 1\n"
    "gravity: 0, 0, 0\n"
    "bodies:\n"
    "  b: {joint: {type: free}, mass: 2, inertia: {xx: 1, yy: 2, zz: 2.8}}\n"
    "outputs:\n"
    "  Lx: b.R11*b.wx + 2*b.R12*b.wy + 2.8*b.R13*b.wz\n"
    "  Ly: b.R21*b.wx + 2*b.R22*b.wy + 2.8*b.R23*b.wz\n"
    "  Lz: b.R31*b.wx + 2*b.R32*b.wy + 2.8*b.R33*b.wz\n"
    "initial: {b.wx: 0.01, b.wy: 3, b.wz: 0.02, b.vx: 0.3, b.x: 1}\n";

static void test_tumbling(void **state)
{
    (void)state;
    static const char *const L[] = {"Lx", "Ly", "Lz"};
    tr_system *system = system_from(tumbling);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 100, o.every = 0.05;
    tr_summary s;
    Sheet *t = simulated(system, o, &s);
    assert_int_equal(t->rows, 2001);
    double energy = 0, momentum = 0, norm = 0;
    int flips = 0;
    const double E0 = at(t, 0, "energy.kinetic"), L0 = at(t, 0, "Ly");
    for (size_t i = 0; i < t->rows; i++) {
        const double q[] = {at(t, i, "b.qw"), at(t, i, "b.qx"), at(t, i, "b.qy"), at(t, i, "b.qz")};
        energy = fmax(energy, fabs(at(t, i, "energy.kinetic") / E0 - 1));
        for (int k = 0; k < 3; k++)
            momentum = fmax(momentum, fabs(at(t, i, L[k]) - at(t, 0, L[k])) / L0);
        norm = fmax(norm, fabs(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) - 1));
        flips += i && (at(t, i, "b.wy") > 0) != (at(t, i - 1, "b.wy") > 0);
        assert_close(at(t, i, "b.x"), 1 + 0.3 * at(t, i, "t"), 1e-11);
    }
    print_message("tumbling over 100 s: energy %.1e, angular momentum %.1e, quaternion %.1e, "
                  "%d flips\n",
                  energy, momentum, norm, flips);
    assert_true(energy <= 1e-11);
    assert_true(momentum <= 1e-11);
    assert_true(norm <= 1e-13);
    assert_true(flips >= 4);
    assert_true(s.energy_error <= 1e-11 && s.position_error <= 1e-13);
    tr_sheet_free(t);
    tr_system_free(system);
}

// ---- the methods ---------------------------------------------------------------------------

// A heavy lopsided top with a driven spring arm on it: smooth, fast, turning in space.
static const char top[] =
    "trundle: 1\n"
    "bodies:\n"
    "  top: {joint: {type: ball}, mass: 1, com: \"0.1, 0, 0.3\","
    " inertia: {xx: 0.2, yy: 0.3, zz: 0.15, xy: 0.02}}\n"
    "  arm: {parent: top, joint: {type: revolute, axis: \"1, 1, 0\", at: \"0.1, 0.2, 0\","
    " stiffness: 5, damping: 0.1}, mass: 0.3, com: \"0, 0, 0.2\","
    " inertia: {xx: 0.01, yy: 0.01, zz: 0.004}}\n"
    "roles: {arm: {torque: 0.5*sin(3*t)}}\n"
    "initial: {top.wx: 1, top.wy: -0.5, top.wz: 4, top.R13: 0.5, d(arm): 1}\n";

static double states_apart(const Motion *a, const Motion *b)
{
    double worst = 0;
    for (uint32_t i = 0; i < a->flow->size; i++)
        worst = fmax(worst, fabs(a->mover->y[i] - b->mover->y[i]));
    return worst;
}

static Motion reference(tr_system *system, double until)
{
    Motion m = start(system, "erk", 1);
    m.mover->rtol = 1e-14, m.mover->atol = 1e-15;
    move(&m, until);
    return m;
}

static double error_after(tr_system *system, const char *method, double step, const Motion *exact)
{
    Motion m = start(system, method, step);
    move(&m, exact->mover->t);
    const double error = states_apart(&m, exact);
    stop(&m);
    return error;
}

// The order is the slope of the error, between two halvings of the step: of y, quaternion and all,
// after one second. pece is started by three steps of rk4, whose error is of order 5 as well.
static void test_orders(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        double order, step;
    } cases[] = {
        {"euler", 1, 1. / 4096}, {"rk4", 4, 1. / 64}, {"lie", 4, 1. / 64}, {"pece", 5, 1. / 128}};
    tr_system *system = system_from(top);
    Motion exact = reference(system, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double e[3];
        for (int k = 0; k < 3; k++)
            e[k] = error_after(system, cases[i].method, cases[i].step / (1 << k), &exact);
        const double first = log2(e[0] / e[1]), second = log2(e[1] / e[2]);
        print_message("%-5s errors %.2e %.2e %.2e: orders %.2f %.2f\n", cases[i].method, e[0], e[1],
                      e[2], first, second);
        assert_true(fabs(second - cases[i].order) < 0.25);
        assert_true(fabs(first - cases[i].order) < 0.6);
    }
    stop(&exact);
    tr_system_free(system);
}

static void test_methods_agree(void **state)
{
    (void)state;
    static const char *const methods[] = {"rk4", "lie", "pece"};
    tr_system *system = system_from(top);
    Motion exact = reference(system, 1.5);
    for (size_t i = 0; i < 3; i++)
        assert_true(error_after(system, methods[i], 1e-3, &exact) < 2e-9);
    assert_true(error_after(system, "euler", 1e-4, &exact) < 1e-2);
    // what pece tends to is what rk4 tends to
    Motion rk4 = start(system, "rk4", 2e-4), pece = start(system, "pece", 2e-4);
    move(&rk4, 1.5);
    move(&pece, 1.5);
    assert_true(states_apart(&rk4, &pece) < 1e-12);
    stop(&rk4);
    stop(&pece);
    stop(&exact);
    tr_system_free(system);
}

// drift: how far a step leaves the unit sphere, before that is mended
static void test_lie_stays_on_the_group(void **state)
{
    (void)state;
    tr_system *system = system_from(top);
    Motion lie = start(system, "lie", 0.05), rk4 = start(system, "rk4", 0.05);
    move(&lie, 50);
    move(&rk4, 50);
    print_message("drift in a step of 0.05 s: lie %.1e, rk4 %.1e\n", lie.mover->drift,
                  rk4.mover->drift);
    assert_true(lie.mover->drift < 1e-15);
    assert_true(rk4.mover->drift > 1e-9);
    assert_true(off_by(rk4.flow, rk4.mover->y) < 1e-15);
    stop(&lie);
    stop(&rk4);
    tr_system_free(system);
}

// A quaternion that is held has no velocity in the state; its place is not that of another thing.
static void test_held_turning(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "bodies:\n"
        "  b: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "  arm: {parent: b, joint: {type: revolute, axis: \"0, 1, 0\"}, mass: 1, com: \"1, 0, 0\","
        " inertia: {yy: 0.1}}\n"
        "roles: {arm: {torque: 3}}\n"
        "initial: {b.R13: 0.3, b.R23: 0.2, b.z: 1}\n"
        "cases: {held: {hold: [b], end: 1}}\n";
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie", "euler"};
    tr_system *system = system_from(text);
    Motion exact = reference(system, 1);
    for (int k = 0; k < 7; k++) assert_close(exact.mover->y[k], exact.y0[k], 1e-15);
    for (size_t i = 0; i < 6; i++) {
        Motion m = start(system, methods[i], 1e-3);
        move(&m, 1);
        for (int k = 0; k < 7; k++) assert_close(m.mover->y[k], m.y0[k], 1e-15);
        assert_true(states_apart(&m, &exact) < (i == 5 ? 0.1 : 1e-9));
        stop(&m);
    }
    stop(&exact);
    tr_system_free(system);
}

static void test_tolerances(void **state)
{
    (void)state;
    static const double rtol[] = {1e-4, 1e-7, 1e-10};
    tr_system *system = system_from(top);
    Motion exact = reference(system, 5);
    double last_error = 1;
    size_t last_steps = 0;
    for (int i = 0; i < 3; i++) {
        Motion m = start(system, "erk", 1);
        m.mover->rtol = rtol[i], m.mover->atol = rtol[i] / 100;
        move(&m, 5);
        const double error = states_apart(&m, &exact);
        print_message("rtol %.0e: error %.1e in %zu steps\n", rtol[i], error, m.mover->steps);
        assert_true(error < 1e3 * rtol[i] && error < last_error);
        assert_true(m.mover->steps > last_steps);
        last_error = error, last_steps = m.mover->steps;
        stop(&m);
    }
    stop(&exact);
    tr_system_free(system);
}

static void test_unknown_method(void **state)
{
    (void)state;
    tr_error err = {0};
    assert_null(tr_method("heun", &err));
    assert_error(err, TR_USAGE,
                 "there is no method 'heun': it is erk, bdf, rk4, pece, lie or euler");
}

// ---- rows ----------------------------------------------------------------------------------

static const char pendulum[] =
    "trundle: 1\n"
    "name: a pendulum\n"
    "parameters: {l: 0.7, k: l/7}\n"
    "bodies:\n"
    "  rod: {joint: {type: revolute, axis: \"0, -1, 0\", coordinate: phi, damping: 0.1*k},"
    " mass: 1, com: \"0, 0, -l\"}\n"
    "outputs: {height: -l*cos(phi)}\n"
    "initial: {phi: 1}\n";

// Exactly: as round as the end where the rows divide it, else whole multiples.
static double row_time(double end, double every, size_t i, size_t last)
{
    if (i == last) return end;
    const bool divides = fabs((double)last * every - end) <= 1e-9 * every;
    return divides ? end * (double)i / (double)last : (double)i * every;
}

static void check_rows(const char *method, double end, double every, double step, size_t rows)
{
    tr_system *system = system_from(pendulum);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = end, o.every = every, o.step = step, o.method = method;
    tr_summary s;
    Sheet *t = simulated(system, o, &s);
    assert_int_equal(t->rows, rows);
    assert_int_equal(s.rows, rows);
    for (size_t i = 0; i < rows; i++)
        assert_true(at(t, i, "t") == row_time(end, every, i, rows - 1));
    assert_true(s.t == end && !s.interrupted);
    Motion exact = start(system, "erk", 1);
    exact.mover->rtol = 1e-13, exact.mover->atol = 1e-14;
    if (end > 0) move(&exact, end);
    assert_close(at(t, rows - 1, "phi"), exact.mover->y[0], 5e-3);
    stop(&exact);
    tr_sheet_free(t);
    tr_system_free(system);
}

static void test_rows(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie"};
    for (size_t i = 0; i < 5; i++) {
        check_rows(methods[i], 1, 0.1, 0.01, 11);
        check_rows(methods[i], 1, 0.1, 0.03, 11);    // steps do not divide the interval
        check_rows(methods[i], 1, 0.1, 7, 11);       // and are longer than it
        check_rows(methods[i], 1, 0.3, 0.01, 5);     // 0 0.3 0.6 0.9 1
        check_rows(methods[i], 0.25, 1, 0.01, 2);    // 0 0.25
        check_rows(methods[i], 1e-12, 1, 0.01, 2);   // however small
        check_rows(methods[i], 0, 0.1, 0.01, 1);     // the start alone
        check_rows(methods[i], 0.7, 0.1, 0.01, 8);   // 0.7/0.1 is not 7
        check_rows(methods[i], 2.1, 0.3, 0.01, 8);   // nor is 2.1/0.3
        check_rows(methods[i], 3, 1. / 3, 0.01, 10); // nor this
    }
}

// The steps are no longer than asked for, and as many as that takes.
static void test_steps(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    Motion m = start(system, "rk4", 0.03);
    move(&m, 0.1); // 4 steps of 0.025
    assert_int_equal(m.mover->steps, 4);
    assert_int_equal(m.flow->evaluations, 16);
    move(&m, 0.4);
    assert_int_equal(m.mover->steps, 14);
    stop(&m);
    tr_system_free(system);
}

static void test_bad_options(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    tr_error err = {0};
    tr_simulate_options o;
#define refused(change, words)                             \
    do {                                                   \
        o = tr_simulate_defaults(system);                  \
        change;                                            \
        assert_false(tr_simulate(system, &o, NULL, &err)); \
        assert_error(err, TR_USAGE, words);                \
    } while (0)
    refused(o.end = -1, "the end must not be negative");
    refused(o.end = NAN, "the end must not be negative");
    refused(o.end = INFINITY, "the end must not be negative");
    refused(o.every = 0, "the time between rows must be positive");
    refused(o.every = NAN, "the time between rows must be positive");
    refused(o.step = 0, "the step must be positive");
    refused(o.rtol = 0, "tolerances must be positive");
    refused(o.rtol = NAN, "tolerances must be positive");
    refused(o.atol = -1, "tolerances must be positive");
    refused((o.end = 1e10, o.every = 1), "more than a billion rows");
    refused(o.method = "gear",
            "there is no method 'gear': it is erk, bdf, rk4, pece, lie or euler");
    refused(o.output = in_folder("x.json"), "results go to a .csv or .mat file: the .json file "
                                            "beside it is the certificate");
    assert_int_equal(access(in_folder("x.json"), F_OK), -1);
    o = tr_simulate_defaults(system);
    o.atol = 0; // phi_rate is 0 at the start: no error is small enough
    assert_false(tr_simulate(system, &o, NULL, &err));
    assert_error(err, TR_FAILED, "the tolerances rtol 1e-10 and atol 0 ask for too much at t = 0");
    tr_system_free(system);
}

static void test_nothing_given(void **state)
{
    (void)state;
    tr_system *system =
        system_from("trundle: 1\nbodies: {b: {joint: {type: prismatic, axis: \"0, 0, 1\"},"
                    " mass: 1}}\ncases: {short: {end: 0.5, every: 0.25, rtol: 1e-6}}\n");
    tr_error failed = {.status = TR_USAGE, .text = "earlier"};
    tr_summary s = {0};
    assert_true(tr_simulate(system, NULL, &s, NULL)); // what the case says
    assert_int_equal(s.rows, 3);
    assert_true(s.t == 0.5);
    assert_true(tr_simulate(system, NULL, NULL, NULL));
    assert_false(tr_simulate(NULL, NULL, NULL, NULL));
    assert_false(tr_simulate(system, NULL, NULL, &failed));
    assert_string_equal(failed.text, "earlier");
    assert_null(tr_eval_text(NULL, true, NULL));
    assert_null(tr_check_text(NULL, false, NULL));
    assert_null(tr_derive_text(NULL, false, NULL));
    tr_system_free(system);
}

// Nothing moves by itself: time and the work are all there is.
static void test_all_driven(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "bodies: {b: {joint: {type: prismatic, axis: \"0, 0, 1\"}, mass: 2}}\n"
        "roles: {b: {motion: sin(t)}}\n";
    tr_system *system = system_from(text);
    tr_simulate_options o = tr_simulate_defaults(system);
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie"};
    for (int k = 0; k < 5; k++) {
        o.end = 3, o.every = 0.1, o.method = methods[k];
        tr_summary s;
        Sheet *t = simulated(system, o, &s);
        for (size_t i = 0; i < t->rows; i++) {
            const double time = at(t, i, "t");
            assert_close(at(t, i, "b"), sin(time), 1e-15);
            assert_close(at(t, i, "b_rate"), cos(time), 1e-15);
            assert_close(at(t, i, "tau.b"), 2 * (9.81 - sin(time)), 1e-14);
        }
        assert_true(s.energy_error < 1e-11);
        tr_sheet_free(t);
    }
    tr_system_free(system);
}

// ---- assembly ------------------------------------------------------------------------------

static const char free_body[] =
    "trundle: 1\n"
    "bodies: {b: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 2, zz: 2.5}}}\n"
    "outputs: {roll: asin(b.R32), yaw: 'atan2(b.R21, b.R11)', far: 'sqrt(b.x^2 + b.y^2)',"
    " pitch: asin(b.R31), lean: acos(b.R33), up: b.R33}\n";

typedef struct Start {
    tr_system *system;
    Flow *flow;
    double *y;
    bool *solved;
} Start;

static Start assembled(const char *model, const char *more, tr_error *err)
{
    char text[3000];
    snprintf(text, sizeof text, "%s%s\n", model, more);
    Start s = {.system = system_from(text)};
    s.flow = tr_flow_new(s.system, err);
    if (s.flow) s.y = s.flow->start, s.solved = s.flow->solved;
    return s;
}

static void free_start(Start *s)
{
    tr_flow_free(s->flow);
    tr_system_free(s->system);
}

// The value of a formula at the start.
static double start_value(Start *s, const char *formula)
{
    tr_error err = {0};
    double *columns = calloc(s->flow->column_count, sizeof *columns), value = NAN;
    tr_flow_columns(s->flow, 0, s->y, columns);
    for (uint32_t i = 0; i < s->flow->column_count; i++)
        if (strcmp(s->flow->labels[i], formula) == 0) value = columns[i];
    if (isnan(value)) { // not a column
        const tr_expr x = tr_formula(s->system, formula, &err);
        char name[32];
        snprintf(name, sizeof name, "value%u", s->system->output_count);
        tr_output(s->system, name, &x, 1, 1, &err);
        tr_program *program = tr_compile(s->system, name, NULL, &err);
        tr_workspace *work = tr_workspace_new(program, &err);
        if (err.status) fail_msg("%s", err.text);
        tr_evaluate(program, work, s->flow->inputs, &value);
        tr_workspace_free(work);
        tr_program_free(program);
    }
    free(columns);
    return value;
}

// Each is a model's `initial` and `guess`, and what must hold then.
static void test_assembly(void **state)
{
    (void)state;
    static const struct {
        const char *more, *formula[4];
        double value[4];
    } cases[] = {
        {"", {"b.qw", "b.x", "b.wz"}, {1, 0, 0}},
        {"initial: {b.x: 3, b.vx: 2}", {"b.x", "b.vx", "b.y"}, {3, 2, 0}},
        {"guess: {b.x: 3, b.wx: 2}", {"b.x", "b.wx", "b.y"}, {3, 2, 0}},
        {"initial: {b.x: 1}\nguess: {b.x: 3}", {"b.x"}, {1}},
        // the least change, shared out
        {"initial: {b.x + b.y: 1}", {"b.x", "b.y", "b.z"}, {0.5, 0.5, 0}},
        {"initial: {b.x + b.y: 1}\nguess: {b.x: 2}", {"b.x", "b.y"}, {1.5, -0.5}},
        {"initial: {b.vx - 2*b.vy: 5}", {"b.vx", "b.vy"}, {1, -2}},
        // straight to the circle, and from far outside it
        {"initial: {far: 1}\nguess: {b.x: 3, b.y: 4}", {"b.x", "b.y"}, {0.6, 0.8}},
        {"initial: {b.x^2 + 4*b.y^2: 4}\nguess: {b.x: 5, b.y: 0.01}", {"b.x^2 + 4*b.y^2"}, {4}},
        {"initial: {b.x: 7.0123456789e6, far: 8e6}\nguess: {b.y: 1}", {"far"}, {8e6}},
        // rotations by formulas
        {"initial: {asin(b.R32): 0.3}", {"roll", "b.qx", "b.qy"}, {0.3, 0.14943813247359922, 0}},
        {"initial: {roll: 1.2}", {"roll", "b.qx", "b.x"}, {1.2, 0.5646424733950354, 0}},
        {"initial: {roll: -1.57}", {"roll", "b.qy"}, {-1.57, 0}},
        {"initial: {roll: 1.2, yaw: 2.5, pitch: 0.3}", {"roll", "yaw", "pitch"}, {1.2, 2.5, 0.3}},
        {"initial: {yaw: 3.1}", {"yaw", "b.qx"}, {3.1, 0}},
        {"initial: {b.qx: 0.6}", {"b.qx", "b.qw"}, {0.6, 0.8}},
        {"guess: {b.qx: 1}", {"b.qx", "b.qw"}, {0.7071067811865475, 0.7071067811865475}},
        {"guess: {b.qw: 0}", {"b.qw"}, {1}},
        {"guess: {b.qw: 0, b.qz: -2}", {"b.qw", "b.qz"}, {0, -1}},
        // rates, of outputs too
        {"initial: {roll: 0.2, d(roll): 0.5}", {"roll", "d(roll)", "b.wx"}, {0.2, 0.5, 0.5}},
        {"initial: {d(b.x): 2, yaw: pi/2}", {"b.vy", "b.vx"}, {-2, 0}},
        {"initial: {b.x: 3, b.y: 4, d(far): 5, b.vz: 1}", {"d(far)", "b.vx", "b.vz"}, {5, 3, 1}},
        // no slope at the guess: a start beside it
        {"initial: {acos(b.R33): 0.4}", {"lean", "b.x"}, {0.4, 0}},
        {"initial: {sqrt(b.vx^2 + b.vy^2): 3}", {"sqrt(b.vx^2 + b.vy^2)", "b.vz"}, {3, 0}},
        {"initial: {log(b.x): 0.5}", {"log(b.x)", "b.y"}, {0.5, 0}},
        {"initial: {b.R33: -1}", {"up", "b.x"}, {-1, 0}},
        {"initial: {far: 2}", {"far", "b.z"}, {2, 0}},
        // the same said twice is no conflict
        {"initial: {b.x: 1, 2*b.x: 2, b.x + b.y: 3}", {"b.x", "b.y"}, {1, 2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tr_error err = {0};
        Start s = assembled(free_body, cases[i].more, &err);
        if (err.status) fail_msg("%s: %s", cases[i].more, err.text);
        for (int k = 0; k < 4 && cases[i].formula[k]; k++) {
            const double value = start_value(&s, cases[i].formula[k]);
            if (!is_close(value, cases[i].value[k], 1e-10))
                fail_msg("%s: %s = %.17g", cases[i].more, cases[i].formula[k], value);
        }
        assert_true(off_by(s.flow, s.y) < 1e-15);
        free_start(&s);
    }
}

// What no condition speaks of keeps its guess to the last bit.
static void test_assembly_leaves_the_rest(void **state)
{
    (void)state;
    tr_error err = {0};
    Start s =
        assembled(free_body, "initial: {roll: 0.9, b.R21: 0.1, b.x: 0.3}\nguess: {b.z: 0.1}", &err);
    assert_int_equal(err.status, TR_OK);
    assert_true(s.y[0] == 0.3 && s.y[1] == 0 && s.y[2] == 0.1);
    static const bool solved[] = {false, false, false, true, true, true, true};
    for (int k = 0; k < 7; k++) assert_int_equal(s.solved[s.flow->now->place[k]], solved[k]);
    for (int k = 7; k < 13; k++) assert_true(s.y[k] == 0 && !s.solved[s.flow->now->place[k]]);
    free_start(&s);
}

// The nearest point of an ellipse: the rest of the way to the guess is along its normal.
static void test_assembly_is_nearest(void **state)
{
    (void)state;
    tr_error err = {0};
    Start s =
        assembled(free_body, "initial: {b.x^2 + 4*b.y^2: 4}\nguess: {b.x: 2, b.y: 1.5}", &err);
    assert_int_equal(err.status, TR_OK);
    const double x = s.y[0], y = s.y[1];
    assert_close(x * x + 4 * y * y, 4, 1e-12);
    assert_close((2 - x) * 8 * y - (1.5 - y) * 2 * x, 0, 1e-6);
    free_start(&s);
}

static void test_conflicts(void **state)
{
    (void)state;
    static const struct {
        const char *more, *words;
    } cases[] = {
        {"initial: {b.y: 1, b.x: 1, 4*b.x: 5, b.z: 2}",
         "the initial positions cannot all hold: 'b.x' is off by 0.235"},
        {"initial: {b.x: 1, 3*b.x: 4}",
         "the initial positions cannot all hold: 'b.x' is off by 0.3"},
        {"initial: {b.R33: 2}", "the initial positions cannot all hold: 'b.R33' is off by 1"},
        {"initial: {roll: 2}", "the initial positions cannot all hold: 'roll' is off by 0.429"},
        {"initial: {far: -1}", "the initial positions cannot all hold: 'far' has no slope"},
        {"initial: {log(-1 - b.x^2): 1}",
         "the initial positions cannot all hold: 'log(-1 - b.x^2)' has no value at the guess"},
        {"initial: {b.x: 1/0}",
         "the initial positions cannot all hold: 'b.x' has no value at the guess"},
        {"initial: {2*b.vx: 2, d(b.x): 1.5}",
         "the initial rates cannot all hold: 'd(b.x)' is off by 0.4"},
        {"initial: {b.vx^2: -1}", "the initial rates cannot all hold: 'b.vx^2' is off by 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tr_error err = {0};
        Start s = assembled(free_body, cases[i].more, &err);
        assert_int_equal(err.status, TR_INVALID);
        if (i != 4)
            assert_string_equal(err.text, cases[i].words); // 'far' ends where the search does
        assert_null(strstr(err.text, "nan"));
        tr_error again = {0};
        assert_null(tr_eval_text(s.system, true, &again));
        assert_null(tr_check_text(s.system, false, &(tr_error){0}));
        assert_false(tr_simulate(s.system, NULL, NULL, &(tr_error){0}));
        assert_int_equal(again.status, TR_INVALID);
        free_start(&s);
    }
}

// Conditions see driven coordinates where their formulas put them at the start.
static void test_assembly_with_motion(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "bodies:\n"
        "  a: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}\n"
        "  b: {parent: a, joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}\n"
        "roles: {a: {motion: 2*cos(t) + 3*t}}\n"
        "initial: {b.x: 5, d(b.x): 7}\n";
    tr_error err = {0};
    Start s = assembled(text, "", &err);
    assert_int_equal(err.status, TR_OK);
    assert_int_equal(s.flow->size, 3);
    assert_close(s.y[0], 3, 1e-14);
    assert_close(s.y[1], 4, 1e-14);
    free_start(&s);
}

// ---- work ----------------------------------------------------------------------------------

static void check_balance(const char *text, double least_work)
{
    tr_system *system = system_from(text);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 5, o.every = 0.05;
    tr_summary s;
    Sheet *t = simulated(system, o, &s);
    double most = 0, largest = 0, worst = 0;
    const double E0 = at(t, 0, "energy.kinetic") + at(t, 0, "energy.potential");
    for (size_t i = 0; i < t->rows; i++) {
        const double T = at(t, i, "energy.kinetic"), U = at(t, i, "energy.potential");
        const double work = at(t, i, "energy.work");
        most = fmax(most, fabs(work));
        largest = fmax(largest, fmax(T, fabs(work)));
        worst = fmax(worst, fabs(T + U - E0 - work));
    }
    print_message("work up to %.3g J of %.3g J, balance to %.1e\n", most, largest, worst / largest);
    assert_true(most > least_work);
    assert_true(worst < 1e-9 * largest);
    assert_true(s.energy_error < 1e-9 && s.energy_error <= 1.01 * worst / largest);
    tr_sheet_free(t);
    tr_system_free(system);
}

static void test_energy_balance(void **state)
{
    (void)state;
    check_balance(top, 0.01);    // a motor and a damper
    check_balance("trundle: 1\n" // two links, one led along a motion
                  "bodies:\n"
                  "  a: {joint: {type: revolute, axis: \"0, 1, 0\"}, mass: 1, com: \"0, 0, -1\"}\n"
                  "  b: {parent: a, joint: {type: revolute, axis: \"0, 1, 0.2\", at: \"0, 0, -1\","
                  " damping: 0.2, stiffness: 3, rest: 1}, mass: 1, com: \"0, 0, -1\"}\n"
                  "roles: {a: {motion: sin(2*t) + t}}\n",
                  1);
    check_balance(
        "trundle: 1\n" // a base that is shaken, and carries a pendulum
        "bodies:\n"
        "  a: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "  b: {parent: a, joint: {type: revolute, axis: \"1, 1, 0\"}, mass: 1,"
        " com: \"0, 0.3, -1\", inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
        "roles: {a: {motion: {x: sin(t), z: cos(2*t), qw: cos(t), qy: sin(t), qx: 0.1*t}}}\n",
        1);
    check_balance(
        "trundle: 1\n" // forces on bodies, in both axes, with a reaction; general laws
        "bodies:\n"
        "  a: {joint: {type: free, dissipation: 0.1*(a.vx^2 + a.wz^2)^2,"
        " potential: 2*a.x^2 + a.z^4 + a.R13^2}, mass: 1,"
        " inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "  b: {parent: a, joint: {type: prismatic, axis: \"1, 1, 0\", stiffness: 5}, mass: 1}\n"
        "forces:\n"
        "  wind: {body: b, at: \"0, 0.1, 0\", force: \"sin(t), -0.1*b.vx, 0\"}\n"
        "  rocket: {body: a, at: \"0, 0.1, 0\", force: \"1, 0, 2\", torque: \"0, 0.1, 0\", axes: "
        "body}\n"
        "  grip: {body: b, reaction: a, force: \"0.3, 0.2*t, 0\", torque: \"0, 0, 0.1\"}\n",
        1);
}

// Height alone is no error, and nothing that rests has one.
static void test_energy_at_rest(void **state)
{
    (void)state;
    tr_system *system =
        system_from("trundle: 1\nbodies: {a: {joint: {type: revolute, axis: \"0, 1, 0\","
                    " at: \"0, 0, 1000\"}, mass: 1, com: \"0, 0, -0.3\"}}\n"
                    "initial: {a: 1e-9}\n");
    tr_summary s;
    Sheet *t = simulated(system, tr_simulate_defaults(system), &s);
    assert_true(s.energy_error < 1e-8);
    tr_sheet_free(t);
    tr_system_free(system);
}

// ---- files ---------------------------------------------------------------------------------

static const char *const pendulum_columns[] = {"t",
                                               "phi",
                                               "phi_rate",
                                               "height",
                                               "energy.kinetic",
                                               "energy.potential",
                                               "energy.work",
                                               "residual.position",
                                               "residual.velocity"};

// Every number reads back as the bits that a run by hand gives.
static void test_csv(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 1, o.every = 1. / 7;
    Sheet *t = simulated(system, o, NULL);
    assert_int_equal(t->columns, 9);
    for (size_t k = 0; k < 9; k++) assert_string_equal(t->names[k], pendulum_columns[k]);
    Motion m = start(system, "erk", 1);
    double columns[5];
    for (size_t i = 0; i < t->rows; i++) {
        double row[9];
        for (size_t k = 0; k < 9; k++) row[k] = t->values[k * t->rows + i];
        if (i) move(&m, row[0]);
        tr_flow_columns(m.flow, row[0], m.mover->y, columns);
        assert_memory_equal(row + 1, columns, sizeof columns);
        assert_true(same_bits(row[6], m.mover->y[2]));
        assert_true(row[7] == 0 && row[8] == 0);
    }
    stop(&m);
    // the same run writes the same file
    Sheet *again = simulated(system, o, NULL);
    assert_memory_equal(again->values, t->values, t->rows * t->columns * sizeof *t->values);
    tr_sheet_free(again);
    tr_sheet_free(t);
    tr_system_free(system);
}

static void test_mat(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 1, o.every = 1. / 7;
    Sheet *t = simulated(system, o, NULL);
    tr_error err = {0};
    o.output = in_folder("run.mat");
    assert_true(tr_simulate(system, &o, NULL, &err));
    mat_t *mat = Mat_Open(o.output, MAT_ACC_RDONLY);
    assert_non_null(mat);
    for (size_t k = 0; k < t->columns; k++) {
        char name[64];
        snprintf(name, sizeof name, "%s", t->names[k]);
        for (char *c = name; *c; c++)
            if (*c == '.') *c = '_';
        matvar_t *variable = Mat_VarRead(mat, name);
        assert_non_null(variable);
        assert_int_equal(variable->class_type, MAT_C_DOUBLE);
        assert_int_equal(variable->dims[0], t->rows);
        assert_int_equal(variable->dims[1], 1);
        const double *values = variable->data;
        for (size_t i = 0; i < t->rows; i++)
            assert_true(same_bits(values[i], t->values[k * t->rows + i]));
        Mat_VarFree(variable);
    }
    Mat_Close(mat);
    tr_sheet_free(t);
    tr_system_free(system);
}

static void test_mat_in_octave(void **state)
{
    (void)state;
    if (system("command -v octave >/dev/null 2>&1") != 0) {
        print_message("octave is not installed\n");
        skip();
    }
    tr_system *pendulum_system = system_from(pendulum);
    tr_simulate_options o = tr_simulate_defaults(pendulum_system);
    o.end = 1, o.output = in_folder("octave.mat");
    assert_true(tr_simulate(pendulum_system, &o, NULL, NULL));
    char command[600];
    snprintf(
        command, sizeof command,
        "octave --no-gui --eval \"r = load('%s'); exit(!(numel(r.t) == 101 && r.t(end) == 1 && "
        "r.phi(1) == 1 && isfield(r, 'energy_kinetic')))\" >/dev/null 2>&1",
        o.output);
    assert_int_equal(system(command), 0);
    tr_system_free(pendulum_system);
}

// The text of a file, and whether it holds some words.
static bool file_holds(const char *path, const char *words)
{
    char *text = read_text(path);
    const bool found = strstr(text, words) != NULL;
    if (!found) print_error("not there: %s\nin %s\n", words, text);
    free(text);
    return found;
}

static void test_certificate(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    tr_error err = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    tr_summary s;
    o.end = 1, o.output = in_folder("good.csv");
    assert_true(tr_simulate(system, &o, &s, &err));
    static const char *const words[] = {
        "{\n  \"model\": \"a pendulum\",\n  \"method\": \"erk\",\n  \"end\": 1,\n  \"reached\": "
        "1,\n",
        "\"every\": 0.01,\n  \"rtol\": 1e-10,\n  \"atol\": 1e-12,\n  \"rows\": 101,\n",
        "\"interrupted\": false,\n  \"failure\": \"\",\n",
        "\"parameters\": {\n    \"l\": 0.7\n  },\n  \"events\": [],\n  \"warnings\": []\n}\n",
    };
    for (int i = 0; i < 4; i++) assert_true(file_holds(in_folder("good.json"), words[i]));
    char line[100];
    snprintf(line, sizeof line, "\"steps\": %zu,", s.steps);
    assert_true(file_holds(in_folder("good.json"), line));
    snprintf(line, sizeof line, "\"evaluations\": %zu,", s.evaluations);
    assert_true(file_holds(in_folder("good.json"), line));
    o.method = "rk4", o.step = 0.005;
    assert_true(tr_simulate(system, &o, &s, &err));
    assert_true(file_holds(in_folder("good.json"), "\"every\": 0.01,\n  \"step\": 0.005,\n"));
    assert_int_equal(s.steps, 200);
    // no record, no certificate
    o.output = NULL;
    assert_true(tr_simulate(system, &o, &s, &err));
    assert_int_equal(s.rows, 101);
    tr_system_free(system);
}

static bool until_half(void *owner, double t, double end)
{
    ++*(int *)owner;
    assert_true(t <= end);
    return t < 0.5;
}

static void test_interruption(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie", "euler"};
    tr_system *system = system_from(pendulum);
    for (size_t i = 0; i < 6; i++)
        for (int long_rows = 0; long_rows < 2; long_rows++) {
            int calls = 0;
            tr_error err = {0};
            tr_summary s;
            tr_simulate_options o = tr_simulate_defaults(system);
            o.end = 100, o.every = long_rows ? 100 : 0.1, o.method = methods[i];
            o.output = in_folder("stopped.csv");
            o.progress = until_half, o.owner = &calls;
            assert_true(tr_simulate(system, &o, &s, &err)); // it did what it was told
            assert_true(s.interrupted && calls > 0 && calls < 1000);
            Sheet *t = read_sheet(o.output);
            assert_int_equal(t->rows, s.rows);
            assert_true(at(t, t->rows - 1, "t") == s.t && s.t <= 0.5);
            assert_true(long_rows ? s.rows == 1 : s.rows >= 5);
            assert_true(file_holds(in_folder("stopped.json"), "\"interrupted\": true"));
            tr_sheet_free(t);
            unlink(in_folder("stopped.csv"));
            unlink(in_folder("stopped.json"));
        }
    tr_system_free(system);
}

// ---- what goes wrong -----------------------------------------------------------------------

static void check_failure(const char *text, const char *method, double step, double last,
                          const char *words)
{
    tr_system *system = system_from(text);
    tr_error err = {0};
    tr_summary s;
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 3, o.every = 0.1, o.method = method, o.step = step;
    o.output = in_folder("failed.csv");
    assert_false(tr_simulate(system, &o, &s, &err));
    if (strncmp(err.text, words, strlen(words)) != 0) fail_msg("%s", err.text);
    assert_int_equal(err.status, TR_FAILED);
    Sheet *t = read_sheet_as_it_is(o.output); // what was reached is there
    assert_int_equal(t->rows, s.rows);
    assert_close(at(t, t->rows - 1, "t"), last, 1e-12);
    for (size_t i = 0; i < t->rows; i++)
        assert_true(isfinite(at(t, i, "x")) && isfinite(at(t, i, "x_rate")));
    assert_true(file_holds(in_folder("failed.json"), words));
    assert_false(s.interrupted);
    tr_sheet_free(t);
    tr_system_free(system);
}

#define SLIDER                                                                                \
    "trundle: 1\ngravity: 0, 0, 0\nbodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", " \
    "coordinate: x%s}, mass: 1}}\n%s\n"

static const char *slider(const char *joint, const char *more)
{
    static char text[1000];
    snprintf(text, sizeof text, SLIDER, joint, more);
    return text;
}

static void test_blow_up(void **state)
{
    (void)state;
    static const char too_fast[] = "the integration cannot go on past t = ";
    static const char not_finite[] = "the state is no longer finite at t = ";
    // falls into the centre at t = 1/sqrt(2)
    check_failure(slider(", potential: -1/x^2", "initial: {x: 1}"), "erk", 1, 0.7, too_fast);
    check_failure(slider(", potential: -1/x^2", "initial: {x: 1}"), "bdf", 1, 0.7, too_fast);
    // x' = 0.9 (1 - 1.62 t)^(-1/2)
    const char *quickening = slider("", "roles: {x: {torque: d(x)^3}}\ninitial: {d(x): 0.9}");
    check_failure(quickening, "erk", 1, 0.6, too_fast);
    check_failure(quickening, "bdf", 1, 0.6, too_fast);
    check_failure(quickening, "rk4", 0.01, 0.6, not_finite);
    check_failure(quickening, "lie", 0.01, 0.6, not_finite);
    check_failure(quickening, "pece", 0.01, 0.6, not_finite);
    check_failure(quickening, "euler", 0.01, 0.7, not_finite);
    // a formula that ends
    const char *ending = slider("", "roles: {x: {torque: sqrt(1.05 - t)}}");
    check_failure(ending, "erk", 1, 1, "a formula is not finite on any way forward");
    check_failure(ending, "bdf", 1, 1, "a formula is not finite on any way forward");
    check_failure(ending, "rk4", 0.1, 1, not_finite);
    for (int k = 0; k < 2; k++)
        check_failure(slider("", "roles: {x: {torque: log(-1 - x^2)}}"), k ? "bdf" : "erk", 1, 0,
                      "the accelerations are not finite at t = 0");
    check_failure(slider("", "roles: {x: {torque: log(-1 - x^2)}}"), "euler", 0.1, 0, not_finite);
}

// Jumps in time: each method lands on the closed form, wherever the jump stands among the rows.
static void test_jumps_in_time(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie"};
    static const double jumps[] = {1, 0.999999, 1.005, 0.3, 1.9999999, 1e-9};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (size_t k = 0; k < sizeof jumps / sizeof *jumps; k++)
            for (int side = 0; side < 2; side++) {
                char text[400];
                snprintf(text, sizeof text, "roles: {x: {torque: 'if(t %s %.17g, 0, 1)'}}",
                         side ? "<" : "<=", jumps[k]);
                tr_system *system = system_from(slider("", text));
                tr_simulate_options o = tr_simulate_defaults(system);
                o.end = 2, o.every = 0.5, o.step = 0.1, o.method = methods[m];
                tr_summary s;
                Sheet *t = simulated(system, o, &s);
                assert_close(at(t, 4, "x_rate"), (2 - jumps[k]) / 1.0, 1e-13);
                tr_sheet_free(t);
                tr_system_free(system);
            }
}

// A narrow pulse, a square wave by floor, a ramp with kinks: work and momentum are exact.
static void test_pulses(void **state)
{
    (void)state;
    static const struct {
        const char *force;
        double impulse;
    } rows[] = {{"if(t > 0.7 && t < 0.70001, 1000, 0)", 0.01},
                {"if(floor(4*t) - 2*floor(2*t) == 0, 1, 0)", 1},
                {"max(0, min(1, 3*t - 1))", 1.5},
                {"abs(t - 0.3)", (0.09 + 2.89) / 2}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[400];
        snprintf(text, sizeof text, "roles: {x: {torque: '%s'}}", rows[k].force);
        tr_system *system = system_from(slider("", text));
        tr_simulate_options o = tr_simulate_defaults(system);
        o.end = 2, o.every = 2;
        tr_summary s;
        Sheet *t = simulated(system, o, &s);
        assert_close(at(t, 1, "x_rate"), rows[k].impulse / 1.0, 1e-12);
        tr_sheet_free(t);
        tr_system_free(system);
    }
}

// Dense output: the same motion from far fewer steps.
static void test_dense_output(void **state)
{
    (void)state;
    tr_system *system = system_from(
        slider(", stiffness: 9", "roles: {x: {torque: 'if(t < 1, 0, 1)'}}\ninitial: {x: 1}"));
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 5, o.every = 0.001;
    tr_summary exact, dense;
    Sheet *a = simulated(system, o, &exact);
    o.dense = true;
    Sheet *b = simulated(system, o, &dense);
    assert_int_equal(a->rows, b->rows);
    for (size_t i = 0; i < a->rows; i++) {
        assert_true(at(a, i, "t") == at(b, i, "t"));
        assert_close(at(b, i, "x"), at(a, i, "x"), 1e-9);
        assert_close(at(b, i, "x_rate"), at(a, i, "x_rate"), 1e-8);
    }
    assert_true(dense.steps < exact.steps / 5);
    tr_sheet_free(a);
    tr_sheet_free(b);
    tr_system_free(system);
}

// Nothing is free to move: what is left to integrate is the work, a function of t alone.
static void test_work_of_a_motion(void **state)
{
    (void)state;
    tr_system *system = system_from(slider("", "roles: {x: {motion: sin(3*t)*exp(-t/5)}}"));
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 20, o.every = 10;
    tr_summary s;
    Sheet *t = simulated(system, o, &s);
    assert_true(s.energy_error <= 1e-10);
    tr_sheet_free(t);
    tr_system_free(system);
}

// The initial state as a C program gets it: accelerations from the outputs agree with the report.
static void test_initial_state_from_c(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(slider(", stiffness: 3", "initial: {x: 0.5, d(x): 2}"));
    tr_program *p = tr_compile(system, "M c Q vdot", NULL, &err);
    tr_workspace *w = tr_workspace_new(p, &err);
    double in[16], out[4];
    assert_true(tr_input_count(system) <= 16);
    assert_true(tr_initial(system, in, &err));
    tr_evaluate(p, w, in, out);
    assert_close(out[2], -1.5, 1e-15);
    assert_close(out[3], (out[2] - out[1]) / out[0], 1e-15);
    for (size_t i = 0; i < tr_input_count(system); i++) {
        if (strcmp(tr_input_name(system, i), "x") == 0) assert_close(in[i], 0.5, 0);
        if (strcmp(tr_input_name(system, i), "x_rate") == 0) assert_close(in[i], 2, 0);
    }
    tr_workspace_free(w);
    tr_program_free(p);
    tr_system_free(system);
}

// A formula that would fail a little off the true path does not end the run.
static void test_trial_steps_off_the_path(void **state)
{
    (void)state;
    tr_system *system =
        system_from(slider("", "roles: {x: {torque: 40*(0.9*slider_reach(t) - asin(x)) - 9*d(x)}}\n"
                               "functions: {slider_reach(t): 1.4*(1 - exp(-3*t))}"));
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 6, o.every = 3;
    tr_summary s;
    Sheet *t = simulated(system, o, &s);
    assert_true(at(t, 2, "x") > 0.9 && at(t, 2, "x") < 1);
    tr_sheet_free(t);
    tr_system_free(system);
}

// Across a pole a run may go on, but not without a word.
static void test_warning(void **state)
{
    (void)state;
    tr_system *system = system_from(slider(", potential: -1/x^2", "initial: {x: 1}"));
    tr_simulate_options o = tr_simulate_defaults(system);
    o.method = "rk4", o.end = 1, o.output = in_folder("pole.csv");
    tr_summary s;
    assert_true(tr_simulate(system, &o, &s, NULL));
    assert_true(s.energy_error > 0.5);
    assert_true(file_holds(in_folder("pole.json"), "the energy balance is off by"));
    tr_system_free(system);
}

static void test_full_device(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    tr_error err = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    o.output = "/dev/full";
    for (int i = 0; i < 2; i++) { // fails while rows are written, or only at the end
        o.end = i ? 0.05 : 100;
        assert_false(tr_simulate(system, &o, NULL, &err));
        assert_error(err, TR_IO, "cannot write '/dev/full': No space left on device");
        assert_int_equal(access("/dev/full.json", F_OK), -1);
    }
    o.output = "/dev/null", o.end = 1; // a device that takes it, and has no certificate
    assert_true(tr_simulate(system, &o, NULL, &err));
    assert_int_equal(access("/dev/null.json", F_OK), -1);
    tr_system_free(system);
}

static void test_no_such_folder(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    static const char *const names[] = {"none/x.csv", "none/x.mat"};
    for (int i = 0; i < 2; i++) {
        tr_error err = {0};
        char words[300];
        tr_simulate_options o = tr_simulate_defaults(system);
        o.end = 0.1, o.output = in_folder(names[i]);
        assert_false(tr_simulate(system, &o, NULL, &err));
        snprintf(words, sizeof words, "cannot write '%s': No such file or directory", o.output);
        assert_error(err, TR_IO, words);
    }
    tr_system_free(system);
}

// ---- reports -------------------------------------------------------------------------------

static void assert_says(char *text, const char *words)
{
    assert_non_null(text);
    if (!strstr(text, words)) fail_msg("not there: %s\nin %s", words, text);
    tr_text_free(text);
}

static void test_reports(void **state)
{
    (void)state;
    tr_system *system = system_from(top);
    tr_error err = {0};
    assert_says(tr_check_text(system, false, &err),
                "ok: 2 bodies, 4 degrees of freedom; the initial state can be assembled\n");
    assert_says(tr_derive_text(system, true, &err),
                "\"bodies\": 2,\n  \"n\": 3,\n  \"s_p\": 1,\n  \"s_a\": 0,\n");
    assert_says(tr_derive_text(system, true, &err),
                "\"kernel\": 4,\n  \"independent\": [\n    \"top.wx\",\n    \"top.wy\",\n    "
                "\"top.wz\",\n    \"arm_rate\"\n  ],\n  \"kinematic\": [],\n  \"dynamic\": [\n    "
                "\"arm\"\n  ],");
    assert_says(tr_derive_text(system, false, &err), "degrees of freedom  4\n");
    assert_says(tr_eval_text(system, true, &err),
                "\"solved\": [\n    \"top.qw\",\n    \"top.qy\"\n  ],");
    assert_says(tr_eval_text(system, true, &err), "\"tau\": {\n    \"arm\": 0\n  },");
    assert_says(tr_eval_text(system, false, &err), "v        top.wz                   4\n");
    assert_int_equal(err.status, TR_OK);
    tr_system_free(system);
    system = system_from(tumbling);
    assert_says(tr_eval_text(system, true, &err),
                "\"outputs\": {\n    \"Lx\": 0.01,\n    \"Ly\": 6,");
    tr_system_free(system);
}

// Reports and runs of one system leave each other alone.
static void test_reports_between_runs(void **state)
{
    (void)state;
    tr_system *system = system_from(top);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 1, o.every = 0.1;
    Sheet *first = simulated(system, o, NULL);
    tr_text_free(tr_eval_text(system, true, NULL));
    tr_text_free(tr_derive_text(system, true, NULL));
    tr_text_free(tr_check_text(system, false, NULL));
    Sheet *second = simulated(system, o, NULL);
    assert_int_equal(first->columns, second->columns);
    assert_memory_equal(first->values, second->values,
                        first->rows * first->columns * sizeof *first->values);
    tr_sheet_free(first);
    tr_sheet_free(second);
    tr_system_free(system);
}

// The words, and not a page full of what is no number
static void test_eval_of_what_is_not_finite(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(slider("", "roles: {x: {torque: log(x - 1)}}"));
    assert_null(tr_eval_text(system, false, &err));
    assert_error(err, TR_FAILED, "the acceleration of 'x_rate' is not finite at the start");
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tumbling),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_methods_agree),
        cmocka_unit_test(test_lie_stays_on_the_group),
        cmocka_unit_test(test_held_turning),
        cmocka_unit_test(test_tolerances),
        cmocka_unit_test(test_unknown_method),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_nothing_given),
        cmocka_unit_test(test_all_driven),
        cmocka_unit_test(test_assembly),
        cmocka_unit_test(test_assembly_leaves_the_rest),
        cmocka_unit_test(test_assembly_is_nearest),
        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_assembly_with_motion),
        cmocka_unit_test(test_energy_balance),
        cmocka_unit_test(test_energy_at_rest),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_mat),
        cmocka_unit_test(test_mat_in_octave),
        cmocka_unit_test(test_certificate),
        cmocka_unit_test(test_interruption),
        cmocka_unit_test(test_blow_up),
        cmocka_unit_test(test_jumps_in_time),
        cmocka_unit_test(test_pulses),
        cmocka_unit_test(test_dense_output),
        cmocka_unit_test(test_work_of_a_motion),
        cmocka_unit_test(test_initial_state_from_c),
        cmocka_unit_test(test_trial_steps_off_the_path),
        cmocka_unit_test(test_warning),
        cmocka_unit_test(test_full_device),
        cmocka_unit_test(test_no_such_folder),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_reports_between_runs),
        cmocka_unit_test(test_eval_of_what_is_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
