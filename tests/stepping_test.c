// SPDX-License-Identifier: Apache-2.0
// Runs that are stepped, set, saved and restored from outside, and many runs of one plan.
#include "base/sheet.h"
#include "models.h"
#include "plans.h"
#include "sim/run.h"

#include <malloc.h>
#include <pthread.h>

// ---- helpers -------------------------------------------------------------------------------

typedef struct Stepped {
    tr_system *system;
    tr_plan *plan;
    tr_run *run;
    size_t columns;
} Stepped;

static void insist(const tr_error *err)
{
    if (err->status) fail_msg("%s", err->text);
}

static Stepped step_from(tr_system *system, const char *method)
{
    tr_error err = {0};
    Stepped s = {.system = system};
    s.plan = tr_plan_new(s.system, &err);
    tr_run_options o = tr_run_defaults(s.plan);
    if (method) o.method = method;
    s.run = tr_run_new(s.plan, &o, &err);
    insist(&err);
    s.columns = tr_plan_column_count(s.plan);
    return s;
}

static Stepped step_model(const char *model, const char *case_name, const char *method)
{
    return step_from(system_called(model, case_name), method);
}

static void expect(tr_error *err, tr_status status, const char *words)
{
    assert_int_equal(err->status, status);
    assert_says(err->text, words);
    *err = (tr_error){0};
}

static void let_go(Stepped *s)
{
    tr_run_free(s->run);
    tr_plan_free(s->plan);
    tr_system_free(s->system);
}

static size_t column_called(const Stepped *s, const char *name)
{
    for (size_t i = 0; i < s->columns; i++)
        if (strcmp(tr_plan_column_name(s->plan, i), name) == 0) return i;
    fail_msg("there is no column '%s'", name);
    return 0;
}

static double column_value(const Stepped *s, const char *name)
{
    return tr_run_row(s->run)[column_called(s, name)];
}

static double *copy_row(tr_run *run, size_t columns)
{
    double *row = calloc(columns, sizeof *row);
    assert_non_null(row);
    assert_non_null(tr_run_row(run));
    memcpy(row, tr_run_row(run), columns * sizeof *row);
    return row;
}

static void assert_same_row(const double *row, tr_run *run, size_t columns)
{
    const double *now = tr_run_row(run);
    for (size_t i = 0; i < columns; i++)
        if (!same_bits(row[i], now[i]))
            fail_msg("column %zu at t = %.17g: %.17g is not %.17g", i, now[0], now[i], row[i]);
}

static void advance(tr_run *run, double until)
{
    tr_error err = {0};
    if (!tr_run_advance(run, until, &err)) fail_msg("%s", err.text);
}

// ---- columns -------------------------------------------------------------------------------

static void test_columns(void **state)
{
    (void)state;
    Stepped s = step_model("bicycle", "free", NULL);
    assert_string_equal(tr_plan_column_name(s.plan, 0), "t");
    assert_string_equal(tr_plan_column_unit(s.plan, 0), "s");
    assert_string_equal(tr_plan_column_unit(s.plan, column_called(&s, "frame.x")), "m");
    assert_string_equal(tr_plan_column_unit(s.plan, column_called(&s, "steer_rate")), "rad/s");
    assert_string_equal(tr_plan_column_name(s.plan, s.columns - 3), "energy.work");
    assert_string_equal(tr_plan_column_unit(s.plan, s.columns - 3), "J");
    assert_string_equal(tr_plan_column_name(s.plan, s.columns - 1), "residual.velocity");
    assert_null(tr_plan_column_name(s.plan, s.columns));
    assert_null(tr_plan_column_unit(s.plan, s.columns));
    assert_int_equal(tr_plan_column_count(NULL), 0);
    tr_error err = {0};
    char *none = tr_plan_deviations(s.plan, &err);
    assert_string_equal(none, "");
    assert_null(tr_plan_deviations(NULL, &err));
    tr_text_free(none);
    let_go(&s);
}

// ---- stepping ------------------------------------------------------------------------------

// By calls on the grid as in one call: to the bit
static void test_fixed_steps_by_calls(void **state)
{
    (void)state;
    static const char *const methods[] = {"rk4", "pece", "lie", "euler"};
    for (size_t k = 0; k < 4; k++) {
        Stepped a = step_model("bicycle", "free", methods[k]);
        Stepped b = step_model("bicycle", "free", methods[k]);
        advance(a.run, 0.5);
        for (int i = 1; i <= 500; i++) advance(b.run, i * 1e-3);
        double *row = copy_row(a.run, a.columns);
        assert_same_row(row, b.run, a.columns);
        free(row);
        let_go(&a);
        let_go(&b);
    }
}

// What was watched at the end of a step is the first stage of the next one: to the bit as if it
// were evaluated there, also where charts, contacts and switches change, and inputs are set.
static void check_forgetting(const char *model, const char *method)
{
    tr_error err = {0};
    Stepped kept = step_model(model, NULL, method), anew = step_model(model, NULL, method);
    const size_t inputs = tr_input_count(kept.system);
    size_t input = 0;
    while (input < inputs && tr_input_kind(kept.system, input) != TR_INPUT) input++;
    for (int i = 1; i <= 400; i++) {
        if (i % 50 == 0 && input < inputs) {
            const double value = tr_input_value(kept.system, input) + 1e-4 * i;
            tr_run_set_at(kept.run, input, value, &err);
            tr_run_set_at(anew.run, input, value, &err);
            insist(&err);
        }
        tr_flow_forget(anew.run->flow);
        advance(kept.run, i * 5e-3);
        advance(anew.run, i * 5e-3);
    }
    double *row = copy_row(kept.run, kept.columns);
    assert_same_row(row, anew.run, kept.columns);
    assert_int_equal(kept.run->flow->evaluations, anew.run->flow->evaluations);
    assert_true(kept.run->flow->all_evaluations < anew.run->flow->all_evaluations);
    free(row);
    let_go(&kept);
    let_go(&anew);
}

static void test_first_stages(void **state)
{
    (void)state;
    static const char *const models[] = {"bicycle",    "four_bar",   "castor", "hopping_wheel",
                                         "motorcycle", "stick_slip", "sk8o"};
    static const char *const methods[] = {"rk4", "pece", "lie", "euler"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        for (size_t k = 0; k < (i ? 1 : 4); k++) check_forgetting(models[i], methods[k]);
}

// A step of four stages without anything due evaluates rates four times, and projects.
static void test_evaluations_of_steps(void **state)
{
    (void)state;
    Stepped s = step_model("bicycle", "free", "rk4");
    advance(s.run, 0.1);
    const size_t evaluations = s.run->flow->evaluations, all = s.run->flow->all_evaluations;
    advance(s.run, 0.2);
    assert_int_equal(s.run->flow->evaluations - evaluations, 400);
    // one for positions, and two more in some steps, as they round; watching twice would be 100
    // more
    assert_true(s.run->flow->all_evaluations - all <= 400 + 160);
    let_go(&s);
}

static void test_adaptive_by_calls(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf"};
    for (size_t k = 0; k < 2; k++) {
        Stepped a = step_model("bicycle", "free", methods[k]);
        Stepped b = step_model("bicycle", "free", methods[k]);
        advance(a.run, 1);
        for (int i = 1; i <= 1000; i++) advance(b.run, i * 1e-3);
        const double *x = tr_run_row(a.run), *y = tr_run_row(b.run);
        for (size_t i = 0; i + 2 < a.columns; i++) assert_close(x[i], y[i], k ? 1e-6 : 1e-8);
        let_go(&a);
        let_go(&b);
    }
}

// As tr_simulate records it, also through contacts that switch
static void check_against_simulate(const char *model, const char *case_name, double end)
{
    tr_error err = {0};
    Stepped s = step_model(model, case_name, "rk4");
    tr_simulate_options o = tr_simulate_defaults(s.system);
    tr_report *rows = tr_report_new(&err);
    o.method = "rk4", o.end = end, o.every = end;
    o.sinks = tr_report_sink(rows), o.sink_count = 1;
    advance(s.run, end);
    o.output = "stepping.csv";
    if (!tr_simulate(s.system, &o, NULL, &err)) fail_msg("%s", err.text);
    Sheet *sheet = tr_sheet_read("stepping.csv", &err);
    insist(&err);
    const double *now = tr_run_row(s.run);
    for (size_t i = 0; i < s.columns; i++)
        assert_true(same_bits(now[i], sheet->values[i * sheet->rows + sheet->rows - 1]));
    tr_sheet_free(sheet);
    remove("stepping.csv"), remove("stepping.json");
    tr_report_free(rows);
    let_go(&s);
}

static void test_as_simulated(void **state)
{
    (void)state;
    check_against_simulate("bicycle", "turn", 0.4);
    check_against_simulate("hopping_wheel", "hop", 1);
}

// ---- stopped by a callback -----------------------------------------------------------------

static bool never(void *owner, double t, double end)
{
    (void)end;
    double *seen = owner;
    *seen = t;
    return false;
}

static Stepped step_told(const char *model, const char *case_name, const char *method, double *seen)
{
    tr_error err = {0};
    Stepped s = step_model(model, case_name, method);
    tr_run_options o = tr_run_defaults(s.plan);
    o.method = method, o.progress = never, o.owner = seen;
    tr_run_free(s.run);
    s.run = tr_run_new(s.plan, &o, &err);
    insist(&err);
    return s;
}

// Told to stop in each of its steps, it is where the step ended, and goes on with the same bits:
// also where a contact opens or closes within the step, or the chart changes behind it.
static void check_told(const char *model, const char *case_name, const char *method, double end)
{
    double seen = 0;
    size_t stops = 0;
    tr_error err = {0};
    Stepped a = step_model(model, case_name, method);
    Stepped b = step_told(model, case_name, method, &seen);
    advance(a.run, end);
    for (double t = 0; tr_run_time(b.run) < end; t = tr_run_time(b.run), stops++) {
        assert_false(tr_run_advance(b.run, end, &err));
        insist(&err);
        assert_true(tr_run_time(b.run) <= seen && tr_run_time(b.run) >= t && stops < 100000);
        assert_true(tr_run_row(b.run)[0] == tr_run_time(b.run));
    }
    assert_true(stops > 5);
    double *row = copy_row(a.run, a.columns);
    assert_same_row(row, b.run, b.columns);
    free(row);
    let_go(&a);
    let_go(&b);
}

static void test_told_to_stop(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie"};
    for (size_t i = 0; i < 5; i++) {
        check_told("bicycle", "free", methods[i], 0.3);
        check_told("hopping_wheel", "hop", methods[i], 1.2);
    }
    check_told("bricard", "turn", "erk", 6);
    check_told("bricard", "turn", "rk4", 6);
}

// ---- snapshots -----------------------------------------------------------------------------

// Saved at `save`, advanced to `end`, restored, advanced again: the same bits by as many
// evaluations, in this run and in another one of the plan
static void check_snapshot(const char *model, const char *case_name, const char *method,
                           double save, double end)
{
    tr_error err = {0};
    Stepped s = step_model(model, case_name, method);
    const size_t bytes = tr_run_save(s.run, NULL, 0, &err);
    void *memory = malloc(bytes);
    assert_true(bytes > 0 && memory);
    advance(s.run, save);
    assert_int_equal(tr_run_save(s.run, memory, bytes, &err), bytes);
    insist(&err);
    advance(s.run, end);
    const size_t evaluations = s.run->flow->all_evaluations;
    double *row = copy_row(s.run, s.columns);
    if (!tr_run_restore(s.run, memory, bytes, &err)) fail_msg("%s", err.text);
    assert_true(tr_run_time(s.run) == save);
    advance(s.run, end);
    assert_int_equal(s.run->flow->all_evaluations, evaluations);
    assert_same_row(row, s.run, s.columns);
    tr_run_options o = tr_run_defaults(s.plan);
    o.method = method;
    tr_run *other = tr_run_new(s.plan, &o, &err);
    if (!tr_run_restore(other, memory, bytes, &err)) fail_msg("%s", err.text);
    advance(other, end);
    assert_int_equal(other->flow->all_evaluations, evaluations);
    assert_same_row(row, other, s.columns);
    tr_run_free(other);
    free(row);
    free(memory);
    let_go(&s);
}

static void test_snapshots(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie"};
    for (size_t i = 0; i < 5; i++) {
        check_snapshot("bicycle", "free", methods[i], 0.3, 0.7);
        check_snapshot("hopping_wheel", "hop", methods[i], 0.4, 1.2); // across impacts
    }
    for (size_t i = 0; i < 5; i++) // of first order: by commands, and by a log
        for (int by_log = 0; by_log < 2; by_log++)
            check_snapshot("robot_swerve", by_log ? "log" : "drive", methods[i], 1.3, 2.9);
    check_snapshot("bricard", "turn", "erk", 1, 6); // across changes of chart
    check_snapshot("bricard", "turn", "rk4", 1, 6);
    check_snapshot("double_pendulum", NULL, "erk", 1, 3);
}

// Bytes of somebody else's where a chart stands: they are refused, and the run stays where it is.
static void test_wild_charts(void **state)
{
    (void)state;
    tr_error err = {0};
    Stepped s = step_model("bicycle", "free", "rk4");
    advance(s.run, 0.1);
    const size_t bytes = tr_run_save(s.run, NULL, 0, &err);
    uint8_t *memory = malloc(bytes), *wild = malloc(bytes);
    assert_true(memory && wild && tr_run_save(s.run, memory, bytes, &err) == bytes);
    double *row = copy_row(s.run, s.columns);
    const Partition *p = &s.run->flow->now->chart->partition;
    const size_t pivots = p->count * sizeof *p->row;
    const uint8_t *rows = memmem(memory, bytes, p->row, pivots);
    assert_true(rows && p->count > 1);
    const size_t at = (size_t)(rows - memory);
    assert_memory_equal(rows + pivots, p->dependent, pivots);
    const uint32_t values[] = {UINT32_MAX, 1u << 31, 5000, p->row[1], s.system->row_count};
    for (size_t place = at - sizeof *p->row; place < at + 2 * pivots; place += sizeof *p->row)
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            if (memcmp(memory + place, &values[k], sizeof *values) == 0) continue;
            memcpy(wild, memory, bytes);
            memcpy(wild + place, &values[k], sizeof *values);
            assert_false(tr_run_restore(s.run, wild, bytes, &err));
            expect(&err, TR_USAGE, "the snapshot is damaged");
            assert_same_row(row, s.run, s.columns);
        }
    free(row);
    free(wild);
    free(memory);
    let_go(&s);
}

// Any byte of it another: words, or a run that goes on or says why not, and comes back
static void check_wild_bytes(const char *model, const char *case_name, const char *method)
{
    tr_error err = {0};
    Stepped s = step_model(model, case_name, method);
    advance(s.run, 0.1);
    const size_t bytes = tr_run_save(s.run, NULL, 0, &err);
    uint8_t *memory = malloc(bytes), *wild = malloc(bytes);
    assert_true(memory && wild && tr_run_save(s.run, memory, bytes, &err) == bytes);
    double *row = copy_row(s.run, s.columns);
    size_t refused = 0;
    for (size_t i = 0; i < bytes; i += 1 + i / 1000) {
        memcpy(wild, memory, bytes);
        wild[i] ^= 0xff;
        if (tr_run_restore(s.run, wild, bytes, &err)) {
            tr_run_advance(s.run, tr_run_time(s.run) + 0.002, &err);
            assert_true(!tr_run_failed(s.run, NULL) || err.text[0]);
            err = (tr_error){0};
            assert_true(tr_run_restore(s.run, memory, bytes, &err));
        } else
            expect(&err, TR_USAGE, "snapshot"), refused++;
        assert_same_row(row, s.run, s.columns);
    }
    assert_true(refused > 40); // the head alone
    free(row);
    free(wild);
    free(memory);
    let_go(&s);
}

static void test_wild_bytes(void **state)
{
    (void)state;
    check_wild_bytes("bicycle", "free", "rk4");
    check_wild_bytes("hopping_wheel", "hop", "erk");
}

// Fixed steps are not disturbed by a snapshot that nobody uses.
static void test_saving_disturbs_nothing(void **state)
{
    (void)state;
    tr_error err = {0};
    Stepped a = step_model("bicycle", "free", "pece"), b = step_model("bicycle", "free", "pece");
    const size_t bytes = tr_run_save(a.run, NULL, 0, &err);
    void *memory = malloc(bytes);
    for (int i = 1; i <= 40; i++) {
        advance(a.run, i * 0.01);
        assert_int_equal(tr_run_save(a.run, memory, bytes, &err), bytes);
    }
    advance(b.run, 0.4);
    double *row = copy_row(b.run, b.columns);
    assert_same_row(row, a.run, a.columns);
    free(row);
    free(memory);
    let_go(&a);
    let_go(&b);
}

// ---- settings ------------------------------------------------------------------------------

// A parameter that is set in a run, as in a model that was derived with it
static void check_parameter(const char *model, const char *case_name, const char *name,
                            double value)
{
    tr_error err = {0};
    Stepped s = step_model(model, case_name, "rk4");
    char number[40];
    snprintf(number, sizeof number, "%.17g", value);
    const tr_setting setting = {name, number};
    const tr_derive_options with = {
        .size = sizeof with, .case_name = case_name, .settings = &setting, .setting_count = 1};
    Stepped d = {.system = derived(model_called(model), &with)};
    d.plan = tr_plan_new(d.system, &err);
    tr_run_options o = tr_run_defaults(d.plan);
    o.method = "rk4";
    d.run = tr_run_new(d.plan, &o, &err);
    d.columns = tr_plan_column_count(d.plan);
    insist(&err);
    tr_run_set(s.run, name, value, &err);
    if (!tr_run_reset(s.run, &err)) fail_msg("%s: %s", name, err.text);
    for (double t = 0; t < 0.35; t += 0.1) {
        advance(s.run, t);
        advance(d.run, t);
        const double *x = tr_run_row(s.run), *y = tr_run_row(d.run);
        for (size_t i = 0; i < s.columns; i++) assert_close(x[i], y[i], t == 0 ? 1e-12 : 1e-9);
    }
    let_go(&s);
    let_go(&d);
}

static void test_parameters(void **state)
{
    (void)state;
    check_parameter("bicycle", "free", "speed0", 5.5);
    check_parameter("bicycle", "free", "theta", 0.25);
    check_parameter("bicycle", "free", "m0", 70);
    check_parameter("bicycle", "free", "roll_rate0", 0); // structure folds
    check_parameter("sk8o", "balance", "m_base", 4.5);
}

// Numbers of the start are ports as well.
static void test_start_numbers(void **state)
{
    (void)state;
    tr_error err = {0};
    Stepped s = step_model("bicycle", "free", "rk4");
    tr_run_set(s.run, "initial.d(roll)", 0.25, &err);
    insist(&err);
    assert_true(tr_run_reset(s.run, &err));
    Stepped d = step_model("bicycle", "free", "rk4");
    tr_run_set(d.run, "roll_rate0", 0.25, &err);
    assert_true(tr_run_reset(d.run, &err));
    for (size_t i = 0; i < s.columns; i++)
        assert_close(tr_run_row(s.run)[i], tr_run_row(d.run)[i], 1e-12);
    let_go(&s);
    let_go(&d);
}

// An input changes at once, and what it does to the energy is work.
static void test_inputs(void **state)
{
    (void)state;
    tr_error err = {0};
    Stepped s = step_model("cart_pole", NULL, "rk4");
    size_t input = 0;
    while (tr_input_kind(s.system, input) != TR_INPUT) input++;
    advance(s.run, 0.1);
    double *row = copy_row(s.run, s.columns);
    tr_run_set_at(s.run, input, 0.5, &err);
    insist(&err);
    assert_true(row[0] == tr_run_row(s.run)[0]);
    advance(s.run, 0.2);
    assert_true(tr_run_time(s.run) == 0.2);
    const double balance = column_value(&s, "energy.kinetic") +
                           column_value(&s, "energy.potential") - column_value(&s, "energy.work");
    assert_true(tr_run_reset(s.run, &err));
    const double before = column_value(&s, "energy.kinetic") + column_value(&s, "energy.potential");
    assert_close(balance, before, 1e-6);
    free(row);
    let_go(&s);
}

// In first order velocities are no states: candidates of commands are set on the way, and the path
// is an arc for each, by the closed form. The front wheel's direction may leap over the pivot.
#define STEERED                                                                                  \
    "trundle: 1\n"                                                                               \
    "inputs: {v: 1, gamma: 0, place: 0}\n"                                                       \
    "bodies:\n"                                                                                  \
    "  body: {joint: {type: planar}}\n"                                                          \
    "  arm: {parent: body, joint: {type: revolute, axis: \"0, 0, 1\", coordinate: a}}\n"         \
    "contacts:\n"                                                                                \
    "  rear: {kind: skate, body: body}\n"                                                        \
    "  front: {kind: skate, body: body, at: \"1, 0, 0\", direction: \"-sin(gamma), cos(gamma), " \
    "0\"}\n"                                                                                     \
    "commands: {ahead: {value: v}}\n"                                                            \
    "outputs: {ahead: body.vx*cos(gamma) + (body.vy + body.wz)*sin(gamma)}\n"                    \
    "roles: {a: {motion: place}}\n"                                                              \
    "initial: {body.x: 0, body.y: 0, body.theta: 0}\n"                                           \
    "cases: {now: {order: 1, end: 4, every: 1}}\n"

// Along an arc of the rear wheel: the front one goes v along gamma
static void go_along(double *x, double v, double gamma, double t)
{
    const double w = v * sin(gamma), u = v * cos(gamma), turn = x[2] + w * t;
    x[0] += w == 0 ? u * t * cos(turn) : u / w * (sin(turn) - sin(x[2]));
    x[1] += w == 0 ? u * t * sin(turn) : u / w * (cos(x[2]) - cos(turn));
    x[2] = turn;
}

static void test_commands(void **state)
{
    (void)state;
    static const double candidates[][2] = {{1, 0}, {1, 1.2}, {2, -1.2}, {0.5, 1.5707963267948966},
                                           {1, 3}, {0, 0.3}, {1, -0.4}};
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece"};
    for (size_t m = 0; m < 4; m++) {
        tr_error err = {0};
        Stepped s = step_from(system_from(STEERED), methods[m]);
        double x[3] = {0};
        for (size_t i = 0; i < 7; i++) {
            const double v = candidates[i][0], gamma = candidates[i][1];
            tr_run_set(s.run, "v", v, &err);
            tr_run_set(s.run, "gamma", gamma, &err);
            insist(&err);
            assert_close(column_value(&s, "body.wz"), v * sin(gamma), 1e-14);
            advance(s.run, 0.5 * (double)(i + 1));
            go_along(x, v, gamma, 0.5);
            assert_close(column_value(&s, "body.x"), x[0], 1e-8);
            assert_close(column_value(&s, "body.y"), x[1], 1e-8);
            assert_close(column_value(&s, "body.theta"), x[2], 1e-8);
        }
        tr_run_set(s.run, "place", 1, &err);
        expect(&err, TR_FAILED,
               "the input 'place' changes 'a' instantaneously at t = 3.5: it may change velocities "
               "only");
        let_go(&s);
    }
}

// Whether programs see the same accelerations: at one state, of the run whose parameter was set and
// of the model derived with it
static void check_accelerations(const char *model, const char *name, double factor)
{
    tr_error err = {0};
    Stepped s = step_model(model, NULL, NULL);
    const double value = factor * tr_input_value(s.system, input_index(s.system, name));
    const Number number = {name, value};
    Stepped d = {.system = system_with(model, NULL, &number, 1)};
    d.plan = tr_plan_new(d.system, &err);
    d.run = tr_run_new(d.plan, NULL, &err);
    insist(&err);
    tr_run_set(s.run, name, value, &err);
    if (!tr_run_reset(s.run, &err)) fail_msg("%s: %s", name, err.text);
    Flow *flows[2] = {s.run->flow, d.run->flow};
    const uint32_t size = flows[0]->size;
    assert_int_equal(size, flows[1]->size);
    double *rates = calloc(2 * (size_t)size, sizeof *rates), largest = 1;
    for (int i = 0; i < 2; i++)
        tr_flow_rate(flows[i], 0, d.run->mover->y, rates + (size_t)i * size);
    for (uint32_t i = 0; i < size; i++) largest = fmax(largest, fabs(rates[i]));
    for (uint32_t i = 0; i < size; i++)
        if (!(fabs(rates[i] - rates[size + i]) <= 1e-13 * largest))
            fail_msg("%s, %s = %g: rate %u is %.17g, not %.17g", model, name, value, i, rates[i],
                     rates[size + i]);
    free(rates);
    let_go(&s);
    let_go(&d);
}

static void test_accelerations(void **state)
{
    (void)state;
    check_accelerations("bicycle", "m0", 0.7);
    check_accelerations("bicycle", "theta", 1.1);
    check_accelerations("bicycle", "h3", 0.9);
    check_accelerations("bicycle", "g", 0);
    check_accelerations("sk8o", "m_base", 1.3);
    check_accelerations("hopping_wheel", "arm", 0.8);
    check_accelerations("shaker", "r", 1.2);
    check_accelerations("motorcycle", "m", 1.1);
    check_accelerations("double_pendulum", "l", 0.5);
}

// ---- integrators of one's own --------------------------------------------------------------

// x' of all inputs from the outputs of a program
typedef struct Own {
    const tr_system *system;
    tr_program *program;
    tr_workspace *work;
    size_t inputs;
    double *out;
} Own;

static void rates_of(Own *own, double *x, double *rate)
{
    static const tr_kind kinds[] = {TR_POSITION, TR_VELOCITY, TR_SPEED, TR_INNER};
    tr_evaluate(own->program, own->work, x, own->out);
    const double *out = own->out;
    for (size_t k = 0; k < 4; k += k == 2 ? 2 : 1) // the last two in one
        for (size_t i = 0; i < own->inputs; i++) {
            const tr_kind kind = tr_input_kind(own->system, i);
            if (kind == kinds[k] || (k == 2 && kind == kinds[3])) rate[i] = *out++;
        }
}

static void step_on(Own *own, double *x, double h, double *room)
{
    const size_t n = own->inputs;
    double *k[4] = {room, room + n, room + 2 * n, room + 3 * n}, *z = room + 4 * n;
    static const double part[] = {0, 0.5, 0.5, 1};
    for (int stage = 0; stage < 4; stage++) {
        for (size_t i = 0; i < n; i++)
            z[i] = x[i] + (stage ? part[stage] * h * k[stage - 1][i] : 0);
        rates_of(own, z, k[stage]);
        k[stage][0] = 1; // time
    }
    for (size_t i = 0; i < n; i++) x[i] += h / 6 * (k[0][i] + 2 * (k[1][i] + k[2][i]) + k[3][i]);
}

// With the rates of all positions and velocities, whichever of them depend on others; but for those
// that motions drive, which programs know
static void check_own_integrator(const char *model, const char *case_name, const char *outputs)
{
    tr_error err = {0};
    Stepped s = step_model(model, case_name, "rk4");
    Own own = {.system = s.system, .inputs = tr_input_count(s.system)};
    own.program = tr_compile_in(s.plan, outputs, NULL, &err);
    own.work = tr_workspace_new(own.program, &err);
    insist(&err);
    own.out = calloc(tr_program_sizes(own.program).outputs, sizeof *own.out);
    double *x = calloc(6 * own.inputs, sizeof *x), *room = x + own.inputs;
    assert_true(tr_initial(s.plan, x, own.inputs, &err));
    const double h = tr_run_defaults(s.plan).step;
    const int steps = (int)lround(1 / h);
    for (int i = 0; i < steps; i++) step_on(&own, x, h, room);
    advance(s.run, steps * h);
    const double *row = tr_run_row(s.run) + 1;
    for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++)
        for (size_t i = 0; i < own.inputs; i++) {
            if ((int)tr_input_kind(s.system, i) != kind) continue;
            if (!s.system->inputs[i].definition.id) assert_close(x[i], *row, 1e-9);
            row++;
        }
    free(x);
    free(own.out);
    tr_workspace_free(own.work);
    tr_program_free(own.program);
    let_go(&s);
}

static void test_own_integrators(void **state)
{
    (void)state;
    check_own_integrator("bicycle", "free", "qdot vdot sdot");
    check_own_integrator("snakeboard", NULL, "qdot vdot sdot"); // a speed of its own
    check_own_integrator("rolling_disc", NULL, "qdot vdot");
    check_own_integrator("double_pendulum", NULL, "qdot vdot");
}

// ---- many runs -----------------------------------------------------------------------------

static void test_nothing_stays(void **state)
{
    (void)state;
    enum { RUNS = BRIEF ? 500 : 10000 };
    tr_error err = {0};
    Stepped s = step_model("bicycle", "free", "rk4");
    tr_run_set(s.run, "speed0", 5, &err);
    tr_run_reset(s.run, &err);
    const size_t compiled = s.plan->compiled;
    size_t before = 0;
    for (int i = 0; i < RUNS; i++) {
        tr_run *run = tr_run_new(s.plan, NULL, &err);
        if (i % 100 == 0) tr_run_set(run, "speed0", 4 + 1e-4 * i, &err), tr_run_reset(run, &err);
        tr_run_free(run);
        if (i == 100) before = mallinfo2().uordblks;
    }
    insist(&err);
    assert_int_equal(s.plan->compiled, compiled);
    if (!SLOW_BUILD) assert_int_equal(mallinfo2().uordblks, before);
    let_go(&s);
}

// A wheel that hops on and on: nothing is compiled after the first few switches.
static void test_switches_compile_nothing(void **state)
{
    (void)state;
    tr_error err = {0};
    Stepped s = step_model("hopping_wheel", "bouncy", "erk");
    advance(s.run, 3);
    const size_t compiled = s.plan->compiled;
    tr_run_reset(s.run, &err);
    advance(s.run, 3);
    assert_int_equal(s.plan->compiled, compiled);
    insist(&err);
    let_go(&s);
}

// ---- threads -------------------------------------------------------------------------------

typedef struct Work {
    tr_plan *plan;
    const char *method;
    double end;
    const double *expected;
    size_t columns;
    bool good;
} Work;

static void *run_on(void *owner)
{
    Work *w = owner;
    tr_error err = {0};
    tr_run_options o = tr_run_defaults(w->plan);
    o.method = w->method;
    for (int k = 0; k < 2; k++) { // two runs of each
        tr_run *run = tr_run_new(w->plan, &o, &err);
        tr_run_advance(run, w->end, &err);
        const double *row = tr_run_row(run);
        w->good = row && !err.status;
        for (size_t i = 0; w->good && i < w->columns; i++)
            w->good = same_bits(row[i], w->expected[i]);
        tr_run_free(run);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    static const char *const models[2][2] = {{"bicycle", "turn"}, {"hopping_wheel", "hop"}};
    tr_error err = {0};
    tr_system *systems[2];
    tr_plan *plans[2];
    double *rows[2];
    Work work[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < 2; i++) {
        Stepped alone = step_model(models[i][0], models[i][1], "rk4");
        advance(alone.run, 0.5);
        rows[i] = copy_row(alone.run, alone.columns);
        let_go(&alone);
        systems[i] = system_called(models[i][0], models[i][1]);
        plans[i] = tr_plan_new(systems[i], &err); // of which nothing is known yet
    }
    for (int i = 0; i < THREADS; i++) {
        work[i] = (Work){plans[i % 2], "rk4", 0.5, rows[i % 2], tr_plan_column_count(plans[i % 2]),
                         false};
        assert_int_equal(pthread_create(&threads[i], NULL, run_on, &work[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(work[i].good);
    }
    for (int i = 0; i < 2; i++) {
        tr_plan_free(plans[i]);
        tr_system_free(systems[i]);
        free(rows[i]);
    }
}

// ---- bad use -------------------------------------------------------------------------------

static void test_bad_use(void **state)
{
    (void)state;
    tr_error err = {0};
    Stepped s = step_model("bicycle", "free", "rk4"),
            d = step_model("double_pendulum", NULL, "rk4");
    tr_run_set(s.run, "spede0", 1, &err);
    expect(&err, TR_USAGE, "'spede0'; did you mean 'speed0'?");
    tr_run_set(s.run, "frame.x", 1, &err);
    expect(&err, TR_USAGE, "'frame.x' cannot be set: only inputs can, and parameters");
    tr_run_set(s.run, "speed0", (double)NAN, &err);
    expect(&err, TR_USAGE, "not finite");
    tr_run_set_at(s.run, 100000, 1, &err);
    expect(&err, TR_USAGE, "input 100000");
    advance(s.run, 0.1);
    assert_false(tr_run_advance(s.run, 0.05, &err));
    expect(&err, TR_USAGE, "cannot go on to t = 0.05");
    assert_false(tr_run_advance(s.run, (double)INFINITY, &err));
    expect(&err, TR_USAGE, "cannot go on to");
    assert_true(tr_run_time(s.run) == 0.1);
    const size_t bytes = tr_run_save(s.run, NULL, 0, &err);
    void *memory = malloc(bytes);
    assert_int_equal(tr_run_save(s.run, memory, bytes - 1, &err), 0);
    expect(&err, TR_USAGE, "a snapshot takes");
    assert_int_equal(tr_run_save(s.run, memory, bytes, &err), bytes);
    assert_false(tr_run_restore(d.run, memory, bytes, &err));
    expect(&err, TR_USAGE, "another plan");
    assert_false(tr_run_restore(s.run, memory, 10, &err));
    expect(&err, TR_USAGE, "no snapshot");
    memset(memory, 0, 8);
    assert_false(tr_run_restore(s.run, memory, bytes, &err));
    expect(&err, TR_USAGE, "no snapshot");
    advance(s.run, 0.2); // nothing is lost
    free(memory);
    tr_run_options o = tr_run_defaults(s.plan);
    o.method = "leapfrog";
    assert_null(tr_run_new(s.plan, &o, &err));
    expect(&err, TR_USAGE, "there is no method 'leapfrog'");
    let_go(&s);
    let_go(&d);
}

static double value_got(const tr_run *run, const char *name)
{
    tr_error err = {0};
    double value = (double)INFINITY;
    assert_true(tr_run_get(run, name, &value, &err));
    return value;
}

// Inputs are what they are now, the others what they will be; both survive a snapshot.
static void test_getting(void **state)
{
    (void)state;
    tr_error err = {0};
    double value;
    Stepped s = step_model("bicycle", "free", "rk4");
    assert_true(value_got(s.run, "steer_torque") == 0);
    tr_run_set(s.run, "steer_torque", 2, &err);
    tr_run_set(s.run, "m0", 80, &err);
    insist(&err);
    assert_true(value_got(s.run, "steer_torque") == 2 && value_got(s.run, "m0") == 80);
    const size_t bytes = tr_run_save(s.run, NULL, 0, &err);
    void *memory = malloc(bytes);
    tr_run_save(s.run, memory, bytes, &err);
    tr_run_set(s.run, "steer_torque", 3, &err);
    assert_true(tr_run_restore(s.run, memory, bytes, &err));
    assert_true(value_got(s.run, "steer_torque") == 2);
    free(memory);
    assert_false(tr_run_get(s.run, "ster_torque", &value, &err));
    expect(&err, TR_USAGE, "'ster_torque'; did you mean 'steer_torque'?");
    let_go(&s);
    tr_model *model = model_from("trundle: 1\ninputs: {u: sin(t)}\nbodies:\n  a: {joint: {type: "
                                 "prismatic, axis: \"1, 0, 0\"}, mass: 1}\nforces: {f: {body: a, "
                                 "force: \"u, 0, 0\"}}\n");
    s = step_from(tr_derive(model, NULL, &err), "rk4");
    tr_model_free(model);
    assert_true(isnan(value_got(s.run, "u"))); // a formula, until there is a number
    tr_run_set(s.run, "u", 4, &err);
    assert_true(value_got(s.run, "u") == 4);
    let_go(&s);
}

// A snapshot goes on in a run of another plan of the same equations, with the same bits.
static void test_another_plan(void **state)
{
    (void)state;
    tr_error err = {0};
    Stepped a = step_model("bicycle", "turn", "rk4"), b = step_model("bicycle", "turn", "rk4"),
            c = step_model("bicycle", "free", "rk4");
    advance(a.run, 0.5);
    const size_t bytes = tr_run_save(a.run, NULL, 0, &err);
    void *memory = malloc(bytes);
    tr_run_save(a.run, memory, bytes, &err);
    assert_true(tr_run_restore(b.run, memory, bytes, &err));
    advance(a.run, 1);
    advance(b.run, 1);
    assert_memory_equal(tr_run_row(a.run), tr_run_row(b.run), a.columns * sizeof(double));
    assert_false(tr_run_restore(c.run, memory, bytes, &err)); // has other torques
    expect(&err, TR_USAGE, "another plan");
    free(memory);
    let_go(&a);
    let_go(&b);
    let_go(&c);
}

// A run that failed says so, and can start again.
static void test_failure(void **state)
{
    (void)state;
    tr_error err = {0};
    Stepped s = step_model("parallelogram", "over", "erk");
    assert_false(tr_run_advance(s.run, 5, &err));
    expect(&err, TR_FAILED, "change their rank");
    assert_null(tr_run_row(s.run));
    assert_true(tr_run_failed(s.run, &err));
    expect(&err, TR_FAILED, "change their rank");
    assert_false(tr_run_advance(s.run, 5, &err));
    expect(&err, TR_FAILED, "the run cannot go on: ");
    assert_int_equal(tr_run_save(s.run, NULL, 0, &err), 0);
    expect(&err, TR_USAGE, "nothing to save");
    assert_true(tr_run_reset(s.run, &err));
    assert_false(tr_run_failed(s.run, &err));
    advance(s.run, 0.01);
    assert_non_null(tr_run_row(s.run));
    let_go(&s);
}

// A setting that breaks what derive decided is refused, and the run goes on as it was.
static void test_broken_condition(void **state)
{
    (void)state;
    tr_error err = {0};
    Stepped s = step_model("bicycle", "free", "rk4");
    advance(s.run, 0.1);
    tr_run_set(s.run, "m0", -1, &err);
    insist(&err);
    assert_false(tr_run_reset(s.run, &err));
    expect(&err, TR_INVALID, "'m0' = -1");
    advance(s.run, 0.2);
    tr_run_set(s.run, "m0", 60, &err);
    assert_true(tr_run_reset(s.run, &err));
    let_go(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_fixed_steps_by_calls),
        cmocka_unit_test(test_first_stages),
        cmocka_unit_test(test_evaluations_of_steps),
        cmocka_unit_test(test_adaptive_by_calls),
        cmocka_unit_test(test_as_simulated),
        cmocka_unit_test(test_told_to_stop),
        cmocka_unit_test(test_snapshots),
        cmocka_unit_test(test_wild_charts),
        cmocka_unit_test(test_wild_bytes),
        cmocka_unit_test(test_saving_disturbs_nothing),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_accelerations),
        cmocka_unit_test(test_start_numbers),
        cmocka_unit_test(test_own_integrators),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_nothing_stays),
        cmocka_unit_test(test_switches_compile_nothing),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_bad_use),
        cmocka_unit_test(test_getting),
        cmocka_unit_test(test_another_plan),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_broken_condition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
