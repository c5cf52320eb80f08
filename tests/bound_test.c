// SPDX-License-Identifier: Apache-2.0
// Bounds of operations hold for whatever their operands may be, values and slopes; and no jump in t
// is missed, however short.
#include "expr/bound.h"
#include "motion.h"
#include "random.h"
#include "sim/event.h"
#include "tables.h"

// ---- operations ----------------------------------------------------------------------------

// Every operation on operands that are straight lines in t: for t in an interval, values are
// within their bounds, and so are differences divided by those of t.
static Interval random_interval(Random *r, double size)
{
    const double a = size * any(r), b = a + size * pow(random_between(r, 0, 1), 4);
    return (Interval){a, b};
}

static double along(Interval line, double s) { return line.low + s * (line.high - line.low); }

// Widths of a step, for slopes of computed values
static void check_operation(Random *r, Op op, int n, const Table *f, double size, size_t *useful)
{
    const double steps = 16;
    const Interval line[3] = {random_interval(r, size), random_interval(r, size),
                              random_interval(r, 1)};
    Bound x[3];
    for (int i = 0; i < 3; i++) {
        const double rate = line[i].high - line[i].low; // t goes from 0 to 1
        x[i] = (Bound){line[i],
                       {nextafter(rate, -(double)INFINITY), nextafter(rate, (double)INFINITY)}};
    }
    const Bound y = tr_op_bound(op, x[0], x[1], x[2], n, f);
    assert_true(y.value.low <= y.value.high && y.slope.low <= y.slope.high);
    *useful += isfinite(y.value.high - y.value.low) ? 1 : 0;
    double last = 0, largest = 0;
    for (int k = 0; k <= steps; k++) {
        double a[3];
        for (int i = 0; i < 3; i++)
            a[i] = fmin(fmax(along(line[i], k / steps), line[i].low), line[i].high);
        const double value = tr_op_value(op, a[0], a[1], a[2], n, f);
        if (isnan(value)) {
            assert_true(isinf(y.value.low) && isinf(y.value.high));
            return;
        }
        if (!(y.value.low <= value && value <= y.value.high))
            fail_msg("%s(%.17g, %.17g) = %.17g is not in %.17g .. %.17g", tr_op[op].name, a[0],
                     a[1], value, y.value.low, y.value.high);
        largest = fmax(largest, fabs(value));
        const double slope = (value - last) * steps, slack = 1e-11 * (largest + size);
        if (k && !(y.slope.low - slack <= slope && slope <= y.slope.high + slack))
            fail_msg("%s: slope %.17g is not in %.17g .. %.17g", tr_op[op].name, slope, y.slope.low,
                     y.slope.high);
        last = value;
    }
}

static void test_operations(void **state)
{
    (void)state;
    enum { TRIES = 4000 };
    static const double sizes[] = {1e-3, 1, 3, 40};
    static const double knots[] = {-2, -1, 0, 0.5, 3}, heights[] = {1, -2, 0.3, 0, 4};
    tr_error err = {0};
    Shelf shelf = {0};
    Random r = {77};
    const Table *tables[] = {
        shelved(&shelf, tr_table_through(knots, 5, NULL, 1, heights, 3, true, &err)),
        shelved(&shelf, tr_table_through(knots, 5, NULL, 1, heights, 1, false, &err)),
        shelved(&shelf, tr_table_through(knots, 5, NULL, 1, heights, 0, false, &err))};
    static const int orders[] = {0, 1, 2, TABLE_PIECE};
    assert_int_equal(err.status, TR_OK);
    for (Op op = OP_SYMBOL + 1; op < OP_COUNT; op++) {
        size_t useful = 0;
        if (op == OP_TABLE2) continue; // anything
        for (int i = 0; i < TRIES; i++) {
            const int n = op == OP_POW ? i / 4 % 13 - 6 : op == OP_TABLE1 ? orders[i / 12 % 4] : 0;
            check_operation(&r, op, n, tables[i / 4 % 3], sizes[i % 4], &useful);
        }
        if (useful < TRIES / 20) fail_msg("%s is bounded %zu times", tr_op[op].name, useful);
    }
    shelf_free(&shelf);
}

// ---- pulses --------------------------------------------------------------------------------

static Sheet *pushed(const char *force, const char *method)
{
    char text[600];
    snprintf(text, sizeof text,
             "trundle: 1\n"
             "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}}\n"
             "roles: {x: {torque: '%s'}}\n",
             force);
    tr_system *system = system_from(text);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 10, o.every = 0.5, o.step = 0.01, o.method = method;
    Sheet *sheet = simulated(system, o, NULL);
    tr_system_free(system);
    return sheet;
}

// Forces that last for an instant: the impulse is what the closed form says.
static void test_pulses(void **state)
{
    (void)state;
    const struct {
        const char *force;
        double impulse, tolerance;
    } pulses[] = {
        // twice in 10 s; sin(t) has 16 digits, of which 8 are nines
        {"if(sin(t) > 0.99999999, 1e6, 0)", 2e6 * 2 * acos(0.99999999), 1e-8},
        {"if(sin(t) > 0.9999, 1e3, 0)", 2e3 * 2 * acos(0.9999), 1e-12},
        {"if(exp(-((t - 3.3)/1e-7)^2) > 0.5, 1e6, 0)", 1e6 * 2e-7 * sqrt(log(2)), 1e-8},
        {"if(t > 0.7 && t < 0.70000001, 1e6, 0)", 1e-2, 1e-7},
        {"if(abs(t^2 - 2) < 1e-9, 1e9, 0)", 1e9 * (sqrt(2 + 1e-9) - sqrt(2 - 1e-9)), 1e-6},
        {"if(floor(t/3) < floor((t + 1e-6)/3), 1e6, 0)", 3, 1e-8},
        {"if(max(sin(t), sin(t + 1)) - min(sin(t), sin(t + 1)) < 1e-6, 1e6, 0)",
         3e6 * 2e-6 / (2 * sin(0.5)), 1e-8},
        {"if(t > 0, 1, 0)", 10, 1e-13},
        {"if((t - 3)^3 > 0, 1, 0)", 7, 1e-5}, // of (t - 3)^3 there is nothing left beside 0
        {"max(0, 1e6*(1e-6 - abs(t - 3.1)))*1e6", 1, 1e-6},
        {"if(atan2(sin(t), cos(t)) > 3.14159, 1e6, 0)", 2e6 * (3.141592653589793 - 3.14159), 1e-8},
        {"if(hypot(t - 2, 1e-5) < 2e-5, 1e5, 0)", 1e5 * 2 * sqrt(3) * 1e-5, 1e-9},
    };
    for (size_t i = 0; i < sizeof pulses / sizeof *pulses; i++)
        for (int m = 0; m < 2; m++) {
            Sheet *t = pushed(pulses[i].force, m ? "erk" : "rk4");
            print_message("%-60s %.17g\n", pulses[i].force, last(t, "x_rate"));
            assert_close(last(t, "x_rate"), pulses[i].impulse,
                         pulses[i].tolerance * pulses[i].impulse);
            char *json = certificate();
            assert_null(strstr(json, "could not be proved"));
            free(json);
            tr_sheet_free(t);
        }
}

// ---- any formulas --------------------------------------------------------------------------

static void random_formula(Random *r, int depth, char *out, size_t size)
{
    static const char *const shapes[] = {"(%s + %s)",
                                         "(%s - %s)",
                                         "(%s)*(%s)",
                                         "sin(%s)",
                                         "cos(3*(%s))",
                                         "abs(%s)",
                                         "max(%s, %s)",
                                         "min(%s, %s)",
                                         "exp(-(%s)^2)",
                                         "floor(2*(%s))",
                                         "atan(%s)",
                                         "sqrt(1 + (%s)^2)",
                                         "(%s)/(2 + cos(%s))",
                                         "if(%s < %s, t, 1)",
                                         "(%s)^3",
                                         "log(1.5 + sin(%s))",
                                         "hypot(%s, %s)",
                                         "tan(0.3*sin(%s))",
                                         "atan2(%s, 1 + (%s)^2)"};
    char a[400], b[400];
    if (!depth) {
        snprintf(out, size, chance(r, 0.7) ? "%.3g*t" : "%.3g", random_between(r, -4, 4));
        return;
    }
    random_formula(r, depth - 1, a, sizeof a);
    random_formula(r, (int)random_below(r, (uint32_t)depth), b, sizeof b);
    const char *shape = shapes[random_below(r, sizeof shapes / sizeof *shapes)];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
    snprintf(out, size, shape, a, b);
#pragma GCC diagnostic pop
}

// Between two samples that differ there is an event; how many there were
static size_t check_samples(Flow *flow, const Events *events, const char *formula)
{
    enum { SAMPLES = 20000 };
    tr_error err = {0};
    const JumpPrograms *jumps = tr_chart_jumps(flow->plan, flow->now->programs, &err);
    Evaluator e = tr_evaluator_with(jumps->program, &err);
    double *was = calloc(2 * (size_t)jumps->count + 1, sizeof *was), *is = was + jumps->count;
    size_t found = 0, passed = 0;
    for (int i = 0; i <= SAMPLES; i++) {
        const double t = 4.0 * i / SAMPLES, before = 4.0 * (i - 1) / SAMPLES;
        flow->inputs[0] = t;
        evaluate_into(&e, flow->inputs, is);
        while (passed < events->count && events->beyond[passed] < before * (1 - 1e-14)) passed++;
        bool differs = false;
        for (uint32_t k = 0; i && k < jumps->count; k++) differs = differs || is[k] != was[k];
        if (differs && !(passed < events->count && events->at[passed] <= t * (1 + 1e-14)))
            fail_msg("%s: a jump before t = %.17g was missed", formula, t);
        found += differs;
        memcpy(was, is, jumps->count * sizeof *was);
    }
    free(was);
    tr_evaluator_free(&e);
    return found;
}

static void test_random_formulas(void **state)
{
    (void)state;
    Random r = {4711};
    size_t found = 0, doubts = 0;
    for (int i = 0; i < 60; i++) {
        tr_error err = {0};
        char formula[800], text[1200], words[300];
        Events events;
        random_formula(&r, 3, formula, sizeof formula);
        snprintf(
            text, sizeof text,
            "trundle: 1\n"
            "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}}\n"
            "roles: {x: {torque: 'if(%s > %.3g, 1, 0)'}}\n",
            formula, any(&r));
        tr_system *system = system_from(text);
        Flow *flow = flow_of(system);
        if (!tr_events_begin(&events, flow, 0, 4, &err) ||
            !tr_events_extend(&events, flow, 4, &err))
            fail_msg("%s: %s", formula, err.text);
        doubts += tr_events_doubt(&events, words, sizeof words);
        if (events.scan && !words[0]) found += check_samples(flow, &events, formula);
        tr_events_free(&events);
        close_flow(flow);
        tr_system_free(system);
    }
    print_message("%zu jumps of 60 formulas, %zu in doubt\n", found, doubts);
    assert_true(found > 100 && doubts < 4);
}

static void keep_words(void *owner, const char *words) { snprintf(owner, 300, "%s", words); }

// Where it would take too long, formulas are sampled, and the run says so.
static void test_doubt(void **state)
{
    (void)state;
    char said[300] = "";
    tr_system *system = system_from(
        "trundle: 1\n"
        "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}}\n"
        "roles: {x: {torque: 'if(sin(3e6*t) + sin(3e6*t + 3.14159) > 1, 1, if(t > 3, 2, 0))'}}\n");
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 10, o.every = 0.5, o.warn = keep_words, o.owner = said;
    Sheet *t = simulated(system, o, NULL);
    assert_close(last(t, "x_rate"), 14, 1e-12);
    char *json = certificate();
    assert_non_null(strstr(json, "that none was missed could not be proved"));
    assert_non_null(strstr(said, "could not be proved"));
    free(json);
    tr_sheet_free(t);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_pulses),
        cmocka_unit_test(test_random_formulas),
        cmocka_unit_test(test_doubt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
