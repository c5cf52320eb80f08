// SPDX-License-Identifier: Apache-2.0
// Runs of a batch against runs of their own: to the bit, whatever happens to them.
#include "models.h"
#include "program/kernel.h"
#include "sim/batch.h"
#include "sim/run.h"

// ---- helpers -------------------------------------------------------------------------------

// A batch, and each of its runs once more, by itself
typedef struct Pair {
    tr_system *system;
    tr_plan *plan;
    tr_batch *batch;
    tr_run **runs;
    size_t count, columns;
} Pair;

static void insist(const tr_error *err)
{
    if (err->status) fail_msg("%s", err->text);
}

static Pair pair_with(tr_system *system, size_t count, tr_run_options o)
{
    tr_error err = {0};
    Pair p = {.system = system, .count = count};
    p.plan = tr_plan_new(system, &err);
    p.columns = tr_plan_column_count(p.plan);
    p.batch = tr_batch_new(p.plan, count, &o, &err);
    insist(&err);
    p.runs = calloc(count, sizeof *p.runs);
    for (size_t i = 0; i < count; i++) p.runs[i] = tr_run_new(p.plan, &o, &err);
    insist(&err);
    return p;
}

static Pair pair_of(tr_system *system, size_t count, const char *method, double step)
{
    tr_run_options o = tr_run_defaults(NULL);
    o.method = method, o.step = step;
    return pair_with(system, count, o);
}

static void part(Pair *p)
{
    for (size_t i = 0; i < p->count; i++) tr_run_free(p->runs[i]);
    free(p->runs);
    tr_batch_free(p->batch);
    tr_plan_free(p->plan);
    tr_system_free(p->system);
}

static void assert_same_error(const tr_error *a, const tr_error *b)
{
    assert_int_equal(a->status, b->status);
    assert_string_equal(a->text, b->text);
}

static tr_error try_both(Pair *p, size_t i, const char *name, double value)
{
    tr_error one = {0}, other = {0};
    tr_batch_set(p->batch, i, name, value, &one);
    tr_run_set(p->runs[i], name, value, &other);
    assert_same_error(&one, &other);
    return one;
}

static void set_both(Pair *p, size_t i, const char *name, double value)
{
    const tr_error err = try_both(p, i, name, value);
    insist(&err);
}

static void reset_both(Pair *p, size_t i)
{
    tr_error one = {0}, other = {0};
    const bool good = tr_batch_reset(p->batch, i, &one);
    assert_int_equal(good, tr_run_reset(p->runs[i], &other));
    assert_same_error(&one, &other);
}

static bool same_number(double a, double b) { return same_bits(a, b) || (isnan(a) && isnan(b)); }

static void compare_row(Pair *p, size_t i)
{
    tr_error one = {0}, other = {0};
    const double *own = tr_run_row(p->runs[i]), *row = tr_batch_row(p->batch, i);
    assert_int_equal(own == NULL, row == NULL);
    assert_int_equal(tr_batch_status(p->batch, i, &one) != TR_OK,
                     tr_run_failed(p->runs[i], &other));
    assert_same_error(&one, &other);
    for (size_t k = 0; own && k < p->columns; k++)
        if (!same_number(own[k], row[k]))
            fail_msg("run %zu at t = %.17g, '%s': %.17g is not %.17g", i, own[0],
                     tr_plan_column_name(p->plan, k), row[k], own[k]);
}

// All at once, but with the columns turned round
static void compare_reading(Pair *p)
{
    tr_error err = {0};
    const size_t n = p->columns;
    size_t *columns = malloc(n * sizeof *columns);
    double *numbers = malloc(p->count * n * sizeof *numbers);
    for (size_t k = 0; k < n; k++) columns[k] = n - 1 - k;
    assert_true(tr_batch_read(p->batch, columns, n, numbers, &err));
    for (size_t i = 0; i < p->count; i++) {
        const double *row = tr_batch_row(p->batch, i), *read = numbers + i * n;
        for (size_t k = 0; k < n; k++)
            if (!same_number(read[k], row ? row[n - 1 - k] : (double)NAN))
                fail_msg("run %zu, '%s': %.17g", i, tr_plan_column_name(p->plan, n - 1 - k),
                         read[k]);
    }
    free(columns);
    free(numbers);
}

static void advance_both(Pair *p, double until)
{
    tr_error err = {0};
    const bool good = tr_batch_advance(p->batch, until, &err);
    insist(&err);
    assert_true(good);
    for (size_t i = 0; i < p->count; i++) {
        tr_error own = {0};
        if (!tr_run_failed(p->runs[i], NULL)) tr_run_advance(p->runs[i], until, &own);
    }
    for (size_t i = 0; i < p->count; i++) compare_row(p, i);
    compare_reading(p);
}

static void assert_usage(tr_error *err, const char *words)
{
    assert_int_equal(err->status, TR_USAGE);
    if (!strstr(err->text, words)) fail_msg("'%s' does not say '%s'", err->text, words);
    *err = (tr_error){0};
}

// Each becomes what the one before it is, in the batch by a snapshot of the run and the other way.
static void move_on(Pair *p)
{
    tr_error err = {0};
    const size_t n = p->count;
    size_t bytes = 0;
    for (size_t i = 0; i < n && !bytes; i++) bytes = tr_run_save(p->runs[i], NULL, 0, NULL);
    uint8_t *memory = calloc(2 * n * bytes + 1, 1); // zero where one has failed
    for (size_t i = 0; i < n; i++) {
        uint8_t *own = memory + 2 * i * bytes, *of_batch = own + bytes;
        if (tr_run_failed(p->runs[i], NULL)) continue;
        assert_int_equal(tr_run_save(p->runs[i], own, bytes, &err), bytes);
        assert_int_equal(tr_batch_save(p->batch, i, NULL, 0, &err), bytes);
        assert_int_equal(tr_batch_save(p->batch, i, of_batch, bytes, &err), bytes);
        insist(&err);
    }
    for (size_t i = 0, j = 1 % n; i < n; i++, j = (j + 1) % n) {
        const uint8_t *own = memory + 2 * i * bytes, *of_batch = own + bytes;
        if (!own[0]) {
            reset_both(p, j);
            continue;
        }
        const bool good = tr_batch_restore(p->batch, j, own, bytes, &err);
        insist(&err);
        assert_true(good);
        assert_true(tr_run_restore(p->runs[j], of_batch, bytes, &err));
        compare_row(p, j);
    }
    free(memory);
}

// ---- all models ----------------------------------------------------------------------------

// Runs whose numbers of the start and parameters differ by a little, and by a lot
static void vary(Pair *p)
{
    const size_t inputs = tr_input_count(p->system);
    for (size_t i = 1; i < p->count; i++) {
        for (size_t k = 0; k < inputs; k++) {
            const tr_kind kind = tr_input_kind(p->system, k);
            const double value = tr_input_value(p->system, k);
            if (kind == TR_START || (kind == TR_PARAMETER && k % p->count == i))
                set_both(p, i, tr_input_name(p->system, k), value * (1 + 0.02 * (double)i));
        }
        reset_both(p, i);
    }
}

static void change_inputs(Pair *p)
{
    const size_t inputs = tr_input_count(p->system);
    for (size_t i = 0; i < p->count; i += 2)
        for (size_t k = 0; k < inputs; k++)
            if (tr_input_kind(p->system, k) == TR_INPUT)
                try_both(p, i, tr_input_name(p->system, k),
                         tr_input_value(p->system, k) + 1e-3 * (double)i);
}

static void check_case(const char *name, const char *case_name, const char *method, double step,
                       size_t count)
{
    Pair p = pair_of(system_called(name, case_name), count, method, step);
    vary(&p);
    advance_both(&p, 40 * step);
    advance_both(&p, 100.3 * step);
    change_inputs(&p);
    advance_both(&p, 150.3 * step);
    reset_both(&p, count / 2);
    advance_both(&p, 220 * step);
    move_on(&p);
    advance_both(&p, 300 * step);
    part(&p);
}

static void check_model(const char *name, const char *method, double step, size_t count)
{
    check_case(name, NULL, method, step, count);
}

static const char *const models[] = {"andrews",
                                     "ball_in_bowl",
                                     "ball_on_saddle",
                                     "ball_on_slope",
                                     "ballbot",
                                     "ballbot_wheels",
                                     "bicycle",
                                     "bicycle_actuated",
                                     "bicycle_boyer",
                                     "bicycle_flexible",
                                     "bicycle_on_bump",
                                     "bicycle_one_body",
                                     "bicycle_three_bodies",
                                     "bricard",
                                     "car_ackermann",
                                     "car_linkage",
                                     "car_on_hills",
                                     "car_trapezoid",
                                     "cardan_shaft",
                                     "cart",
                                     "cart_pole",
                                     "castor",
                                     "chain",
                                     "delta",
                                     "differential_drive",
                                     "differential_drive_3d",
                                     "disc_on_waves",
                                     "door",
                                     "double_pendulum",
                                     "elastic_joint",
                                     "euler_disc",
                                     "fish",
                                     "five_bar",
                                     "flapper",
                                     "flexible_arm",
                                     "flexible_mast",
                                     "floating_arm",
                                     "four_bar",
                                     "geared_axle",
                                     "hopping_wheel",
                                     "kick_scooter",
                                     "knee_stops",
                                     "leg",
                                     "mobile_pendulum",
                                     "motorcycle",
                                     "motorcycle_on_bump",
                                     "parallelogram",
                                     "pinned_pendulum",
                                     "rail_cart",
                                     "robot_ackermann",
                                     "robot_differential",
                                     "robot_skid_steer",
                                     "robot_swerve",
                                     "robot_tricycle",
                                     "rolling_disc",
                                     "segway",
                                     "shaker",
                                     "sk8o",
                                     "sk8o_open",
                                     "sleigh",
                                     "slider_crank",
                                     "slider_crank_flexible",
                                     "snake10",
                                     "snake3",
                                     "snakeboard",
                                     "snakeboard_soft",
                                     "snakeboard_wide",
                                     "spherical_robot",
                                     "spinning_beam",
                                     "spinning_top",
                                     "stewart",
                                     "stick_slip",
                                     "stiff_train",
                                     "treadmill",
                                     "tricycle",
                                     "tumbling",
                                     "turntable",
                                     "tyre",
                                     "tyre_on_bump",
                                     "unicycle"};

static void test_models(void **state)
{
    (void)state;
    static const Machine machines[] = {MACHINE_AVX512, MACHINE_AVX2, MACHINE_PLAIN};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        tr_limit_machine(machines[i % 7 % 3]);
        check_model(models[i], i % 3 == 2 ? "lie" : "rk4", 2e-3, 3 + i % 9);
    }
    tr_limit_machine(MACHINE_AVX512);
}

// By commands, by logs, and by wheels that contradict each other
static void test_first_order(void **state)
{
    (void)state;
    static const char *const names[] = {
        "bicycle_one_body", "bicycle_three_bodies", "robot_ackermann", "robot_differential",
        "robot_skid_steer", "robot_swerve",         "robot_tricycle"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        check_case(names[i], "drive", i % 2 ? "lie" : "rk4", 2e-3, 3 + i);
        check_case(names[i], "log", i % 2 ? "rk4" : "lie", 2e-3, 9 - i);
    }
}

// ---- what happens on the way ---------------------------------------------------------------

// Most steps were made in lanes.
static void assert_together(const Pair *p)
{
    const BatchCounts counts = tr_batch_counts(p->batch);
    if (!(counts.in_lanes > 8 * counts.alone))
        fail_msg("%zu steps in lanes, %zu alone", counts.in_lanes, counts.alone);
}

// Commands that change on the way: each follows its own at once.
static void test_commands(void **state)
{
    (void)state;
    Pair p = pair_of(
        system_from("trundle: 1\n"
                    "inputs: {v: 1, gamma: 0}\n"
                    "bodies: {body: {joint: {type: planar}}}\n"
                    "contacts:\n"
                    "  rear: {kind: skate, body: body}\n"
                    "  front: {kind: skate, body: body, at: \"1, 0, 0\", direction: \"-sin(gamma), "
                    "cos(gamma), 0\"}\n"
                    "outputs: {ahead: body.vx*cos(gamma) + (body.vy + body.wz)*sin(gamma)}\n"
                    "commands: {ahead: {value: v}}\n"
                    "initial: {body.x: 0, body.y: 0, body.theta: 0}\n"
                    "cases: {now: {order: 1, end: 4, every: 1}}\n"),
        9, "rk4", 0.01);
    for (size_t k = 1; k < 6; k++) {
        for (size_t i = 0; i < p.count; i++) {
            set_both(&p, i, "gamma", 0.1 * (double)(i * k) - 1);
            set_both(&p, i, "v", 1 + 0.1 * (double)i);
        }
        advance_both(&p, 0.1 * (double)k);
    }
    part(&p);
}

// By the interpreter, too; from one run to more than four blocks; with other masses and speeds
static void test_bicycles(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 37};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        tr_system *system = system_called("bicycle", "free");
        if (k % 2) system->evaluation = EVALUATE_INTERPRETER;
        tr_limit_machine(k % 3 ? MACHINE_AVX512 : MACHINE_AVX2);
        Pair p = pair_of(system, counts[k], "rk4", 1e-3);
        for (size_t i = 0; i < p.count; i++) {
            set_both(&p, i, "m0", 60 + 2.0 * (double)i);
            set_both(&p, i, "speed0", 4 + 0.1 * (double)i);
            reset_both(&p, i);
        }
        advance_both(&p, 0.3);
        advance_both(&p, 0.5);
        assert_together(&p);
        part(&p);
    }
    tr_limit_machine(MACHINE_AVX512);
}

// In which place a run stands does not matter to it.
static void test_order(void **state)
{
    (void)state;
    enum { COUNT = 13 };
    Pair a = pair_of(system_called("four_bar", "turns"), COUNT, "rk4", 1e-3);
    Pair b = pair_of(system_called("four_bar", "turns"), COUNT, "rk4", 1e-3);
    for (size_t i = 0; i < COUNT; i++) {
        set_both(&a, i, "th1_rate_0", 4 + (double)i);
        set_both(&b, COUNT - 1 - i, "th1_rate_0", 4 + (double)i);
        reset_both(&a, i);
        reset_both(&b, COUNT - 1 - i);
    }
    advance_both(&a, 1);
    advance_both(&b, 1);
    for (size_t i = 0; i < COUNT; i++) {
        double *row = malloc(a.columns * sizeof *row);
        memcpy(row, tr_batch_row(a.batch, i), a.columns * sizeof *row);
        assert_memory_equal(row, tr_batch_row(b.batch, COUNT - 1 - i), a.columns * sizeof *row);
        free(row);
    }
    part(&a);
    part(&b);
}

static size_t changed_charts(const Pair *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++) count += p->runs[i]->mover->watch.changes > 0;
    return count;
}

// About half of the lanes leave their chart, each at its own time.
static void check_charts(const char *model, const char *case_name, const char *name, double low,
                         double high, double end)
{
    Pair p = pair_of(system_called(model, case_name), 24, "rk4", 1e-3);
    for (size_t i = 0; i < p.count; i++) {
        set_both(&p, i, name, low + (high - low) * (double)i / (double)(p.count - 1));
        reset_both(&p, i);
    }
    for (int i = 1; i <= 5; i++) advance_both(&p, end * i / 5);
    const size_t changed = changed_charts(&p);
    const BatchCounts counts = tr_batch_counts(p.batch);
    print_message("%s: %zu of %zu change charts; %zu steps in lanes, %zu alone\n", model, changed,
                  p.count, counts.in_lanes, counts.alone);
    assert_true(4 * changed >= p.count && 4 * changed <= 3 * p.count);
    part(&p);
}

static void test_charts(void **state)
{
    (void)state;
    check_charts("four_bar", "turns", "th1_rate_0", 0.5, 12, 0.36);
    check_charts("castor", NULL, "turn0", 0.1, 1.5, 2);
}

static size_t switched(const Pair *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++) count += p->runs[i]->switches > 0;
    return count;
}

static void test_contacts(void **state)
{
    (void)state;
    static const struct {
        const char *model, *case_name, *name;
        double low, high, end;
    } cases[] = {{"hopping_wheel", "hop", "rate0", 10, 28, 1.5},
                 {"shaker", "hop", "rate", 20, 40, 0.6},
                 {"stick_slip", NULL, "k", 20, 60, 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Pair p = pair_of(system_called(cases[c].model, cases[c].case_name), 11, "rk4", 1e-3);
        for (size_t i = 0; i < p.count; i++) {
            const double part_of = (double)i / (double)(p.count - 1);
            set_both(&p, i, cases[c].name, cases[c].low + part_of * (cases[c].high - cases[c].low));
            reset_both(&p, i);
        }
        for (int i = 1; i <= 7; i++) advance_both(&p, cases[c].end * i / 7);
        assert_true(switched(&p) > 0);
        part(&p);
    }
}

// A mass that is pulled by formulas that jump, in t and where it is
static const char jumps[] =
    "trundle: 1\n"
    "parameters: {when: 0.2, where: 0.05, limit: 2}\n"
    "inputs: {push: 1}\n"
    "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}}\n"
    "roles: {x: {torque: 'push + if(t > when && t < 2*when, 10, 0) - if(x > where, 30, 0)"
    " - if(d(x) > 0, 2, -2) + if(floor(10*t) - 2*floor(5*t) == 0, 3, 0) + 0.001*sqrt(limit - "
    "t)'}}\n";

static void test_jumps(void **state)
{
    (void)state;
    static const char *const methods[] = {"rk4", "lie"};
    for (int k = 0; k < 2; k++) {
        Pair p = pair_of(system_from(jumps), 10, methods[k], 2e-3);
        for (size_t i = 0; i < p.count; i++) {
            set_both(&p, i, "when", 0.1 + 0.031 * (double)i);
            set_both(&p, i, "where", 0.01 * (double)i);
            reset_both(&p, i);
        }
        for (int i = 1; i <= 12; i++) {
            advance_both(&p, 0.0931 * i);
            set_both(&p, (size_t)i % p.count, "push", 0.5 * i);
        }
        part(&p);
    }
}

// One that is no longer finite stays behind; it can start anew.
static void test_failure(void **state)
{
    (void)state;
    tr_error err = {0};
    Pair p = pair_of(system_from(jumps), 9, "rk4", 1e-3);
    set_both(&p, 4, "limit", 0.3);
    reset_both(&p, 4);
    advance_both(&p, 0.5);
    assert_int_equal(tr_batch_status(p.batch, 4, &err), TR_FAILED);
    assert_non_null(strstr(err.text, "no longer finite"));
    assert_null(tr_batch_row(p.batch, 4));
    assert_int_equal(tr_batch_status(p.batch, 3, NULL), TR_OK);
    err = (tr_error){0};
    assert_int_equal(tr_batch_save(p.batch, 4, NULL, 0, &err), 0);
    assert_usage(&err, "failed has nothing to save");
    advance_both(&p, 0.6);
    set_both(&p, 4, "push", 2); // whatever it is
    set_both(&p, 4, "limit", 3);
    reset_both(&p, 4);
    advance_both(&p, 1.1);
    set_both(&p, 7, "limit", 0.3);
    reset_both(&p, 7);
    advance_both(&p, 1.5);
    move_on(&p); // the seventh goes on as the sixth
    advance_both(&p, 1.9);
    part(&p);
}

// Not projected; and lines of a run that is saved between look as they did
static void test_options(void **state)
{
    (void)state;
    tr_run_options o = tr_run_defaults(NULL);
    o.method = "rk4", o.step = 1e-3, o.no_project = true;
    Pair p = pair_with(system_called("four_bar", "swing"), 6, o);
    advance_both(&p, 0.3);
    part(&p);
    o.no_project = false, o.end = 0.7, o.method = "lie";
    p = pair_with(system_called("tumbling", NULL), 6, o);
    advance_both(&p, 0.7);
    part(&p);
}

// ---- asking for it -------------------------------------------------------------------------

static void test_usage(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("bicycle", "free");
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "erk";
    assert_null(tr_batch_new(plan, 3, &o, &err));
    assert_usage(&err, "by rk4 or lie");
    o.method = "rk5";
    assert_null(tr_batch_new(plan, 3, &o, &err));
    assert_usage(&err, "there is no method 'rk5'");
    o.method = "rk4";
    assert_null(tr_batch_new(plan, 0, &o, &err));
    assert_usage(&err, "at least one");
    assert_null(tr_batch_new(NULL, 3, &o, &err));
    tr_batch_free(tr_batch_new(plan, 3, NULL, &err)); // by rk4
    insist(&err);
    tr_batch *batch = tr_batch_new(plan, 3, &o, &err);
    insist(&err);
    tr_batch_set(batch, 3, "m0", 1, &err);
    assert_usage(&err, "there is no run 3");
    tr_batch_set(batch, 0, "m_0", 1, &err);
    assert_usage(&err, "'m0'");
    tr_batch_set(batch, 0, "m0", (double)INFINITY, &err);
    assert_usage(&err, "not finite");
    assert_false(tr_batch_reset(batch, 4, &err));
    assert_usage(&err, "there is no run 4");
    assert_null(tr_batch_row(batch, 3));
    assert_int_equal(tr_batch_status(batch, 3, &err), TR_USAGE);
    assert_usage(&err, "there is no run 3");
    assert_true(tr_batch_advance(batch, 0.1, &err));
    assert_false(tr_batch_advance(batch, 0.05, &err));
    assert_usage(&err, "run 0 at t = 0.1");
    assert_false(tr_batch_advance(batch, (double)NAN, &err));
    assert_usage(&err, "cannot go on");
    tr_batch_free(batch);
    tr_batch_free(NULL);
    assert_false(tr_batch_advance(NULL, 1, &err));
    assert_null(tr_batch_row(NULL, 0));
    tr_plan_free(plan);
    tr_system_free(system);
}

static void test_reading_usage(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("bicycle", "free");
    tr_plan *plan = tr_plan_new(system, &err);
    tr_batch *batch = tr_batch_new(plan, 3, NULL, &err);
    insist(&err);
    double numbers[3];
    const size_t none = tr_plan_column_count(plan);
    assert_false(tr_batch_read(batch, &none, 1, numbers, &err));
    assert_usage(&err, "there is no column");
    assert_false(tr_batch_read(NULL, &none, 1, numbers, &err));
    const size_t bytes = tr_batch_save(batch, 2, NULL, 0, &err);
    uint8_t *memory = calloc(bytes, 1);
    assert_int_equal(tr_batch_save(batch, 3, memory, bytes, &err), 0);
    assert_usage(&err, "there is no run 3");
    assert_int_equal(tr_batch_save(batch, 2, memory, bytes - 1, &err), 0);
    assert_usage(&err, "takes");
    assert_false(tr_batch_restore(batch, 2, memory, bytes, &err));
    assert_usage(&err, "no snapshot");
    assert_int_equal(tr_batch_save(batch, 2, memory, bytes, &err), bytes);
    assert_false(tr_batch_restore(batch, 3, memory, bytes, &err));
    assert_usage(&err, "there is no run 3");
    free(memory);
    tr_batch_free(batch);
    tr_plan_free(plan);
    tr_system_free(system);
}

typedef struct Asked {
    int calls, most;
    double last;
} Asked;

static bool count_calls(void *owner, double t, double end)
{
    Asked *asked = owner;
    (void)end;
    assert_true(t >= asked->last);
    asked->last = t;
    return ++asked->calls < asked->most;
}

// Where it was stopped it may go on.
// Each run to a time of its own, some of them anew: as environments of learners go on.
static void test_each(void **state)
{
    (void)state;
    enum { COUNT = 21 };
    tr_error err = {0};
    Pair p = pair_of(system_called("hopping_wheel", NULL), COUNT, "rk4", 1e-3);
    double until[COUNT] = {0};
    for (size_t round = 0; round < 12; round++) {
        for (size_t i = 0; i < COUNT; i++) {
            if ((i * 7 + round) % 5 == 0) reset_both(&p, i), until[i] = 0;
            until[i] += (i + round) % 4 == 0 ? 0 : 0.01 + 0.0037 * (double)(i % 6);
            tr_run_advance(p.runs[i], until[i], &err);
        }
        assert_true(tr_batch_advance_each(p.batch, until, &err));
        insist(&err);
        for (size_t i = 0; i < COUNT; i++) compare_row(&p, i);
    }
    until[COUNT - 1] -= 0.005;
    assert_false(tr_batch_advance_each(p.batch, until, &err));
    assert_int_equal(err.status, TR_USAGE);
    assert_non_null(strstr(err.text, "run 20 at t = "));
    for (size_t i = 0; i < COUNT; i++) compare_row(&p, i);
    part(&p);
}

static void test_stop(void **state)
{
    (void)state;
    tr_error err = {0};
    Asked asked = {.most = 2};
    tr_system *system = system_called("bicycle", "free");
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.progress = count_calls, o.owner = &asked;
    tr_batch *batch = tr_batch_new(plan, 40, &o, &err);
    assert_false(tr_batch_advance(batch, 0.1, &err));
    insist(&err);
    assert_true(asked.calls == 2 && asked.last > 0 && asked.last < 0.1);
    asked.most = 1000, asked.last = 0;
    assert_true(tr_batch_advance(batch, 0.1, &err));
    assert_true(asked.last == 0.1);
    o.progress = NULL;
    tr_run *run = tr_run_new(plan, &o, &err);
    assert_true(tr_run_advance(run, 0.1, &err));
    for (size_t i = 0; i < 40; i++)
        assert_memory_equal(tr_batch_row(batch, i), tr_run_row(run),
                            tr_plan_column_count(plan) * sizeof(double));
    tr_run_free(run);
    tr_batch_free(batch);
    tr_plan_free(plan);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),        cmocka_unit_test(test_first_order),
        cmocka_unit_test(test_bicycles),      cmocka_unit_test(test_order),
        cmocka_unit_test(test_charts),        cmocka_unit_test(test_contacts),
        cmocka_unit_test(test_jumps),         cmocka_unit_test(test_failure),
        cmocka_unit_test(test_options),       cmocka_unit_test(test_usage),
        cmocka_unit_test(test_reading_usage), cmocka_unit_test(test_stop),
        cmocka_unit_test(test_commands),      cmocka_unit_test(test_each)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
