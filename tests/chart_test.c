// SPDX-License-Identifier: Apache-2.0
// Charts: runs that change them leave no seam, and positions stay on their constraints.
//
// What closes a mechanism is computed here once more, from the coordinates in the file. The
// reference motion is explained in tests/reference/README.md.
#include "charts.h"
#include "plans.h"
#include "sim/method.h"

static const double long_run = BRIEF ? 30 : 1000; // [s]

// ---- runs ----------------------------------------------------------------------------------

static tr_simulate_options strictly_to(const tr_system *system, double end, double every)
{
    tr_simulate_options o = strictly(system);
    o.end = end, o.every = every;
    return o;
}

// ---- the pinned pendulum -------------------------------------------------------------------

static double worst_of(const double *x, int count)
{
    double worst = 0;
    for (int i = 0; i < count; i++) worst = fmax(worst, fabs(x[i]));
    return worst;
}

static void body_at(const Sheet *s, size_t row, const char *body, double *r, double *q)
{
    static const char *const names[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
    for (int k = 0; k < 7; k++) {
        char name[60];
        snprintf(name, sizeof name, "%s.%s", body, names[k]);
        *(k < 3 ? &r[k] : &q[k - 3]) = at(s, row, name);
    }
}

static double off_unit(const double *q)
{
    return fabs(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) - 1);
}

static void third_axis(const double *q, double *z)
{
    z[0] = 2 * (q[1] * q[3] + q[0] * q[2]);
    z[1] = 2 * (q[2] * q[3] - q[0] * q[1]);
    z[2] = 1 - 2 * (q[1] * q[1] + q[2] * q[2]);
}

// How far the pins are open and quaternions are no units; the upper rod ends at -l of its z axis.
static double pendulum_off(const Sheet *s, size_t row)
{
    const double l = 0.5;
    double upper[3], lower[3], q[4], p[4], z[3];
    body_at(s, row, "upper", upper, q);
    body_at(s, row, "lower", lower, p);
    third_axis(q, z);
    double off[8] = {off_unit(q), off_unit(p)};
    for (int k = 0; k < 3; k++) {
        off[2 + k] = upper[k];
        off[5 + k] = lower[k] - upper[k] + l * z[k];
    }
    return worst_of(off, 8);
}

static double worst_pendulum(const Sheet *s)
{
    double worst = 0;
    for (size_t i = 0; i < s->rows; i++) worst = fmax(worst, pendulum_off(s, i));
    return worst;
}

static void test_pinned_for_long(void **state)
{
    (void)state;
    tr_system *system = system_called("pinned_pendulum", "long");
    tr_summary s;
    tr_simulate_options o = tr_simulate_defaults(system);
    o.rtol = 1e-12, o.end = long_run;
    Sheet *run = simulated(system, o, &s);
    const double off = worst_pendulum(run);
    print_message("%g s: positions %.1e, energy %.1e, %.1f s\n", long_run, off, s.energy_error,
                  s.seconds);
    assert_int_equal(run->rows, (size_t)(long_run / 0.1 + 1.5));
    assert_below(off, 1e-13); // 1e-10 would do, but is reached without mending positions, too
    assert_below(largest(run, "residual.position"), 1e-13);
    assert_below(s.energy_error, 1e-8);
    assert_true(largest(run, "upper.wy") > 1); // it swings
    tr_sheet_free(run);
    tr_system_free(system);
}

static void test_pinned_is_jointed(void **state)
{
    (void)state;
    tr_system *pinned = system_called("pinned_pendulum", "swing");
    tr_system *jointed =
        system_edited("double_pendulum", "small", "initial: {upper: 0.5, lower: 0}");
    tr_summary s;
    Sheet *a = simulated(pinned, strictly_to(pinned, 10, 0.01), &s);
    Sheet *b = simulated(jointed, strictly_to(jointed, 10, 0.01), &s);
    const double x = difference(a, "tip_x", b, "tip_x"), z = difference(a, "tip_z", b, "tip_z");
    print_message("tip %.1e %.1e\n", x, z);
    assert_below(x, 1e-7);
    assert_below(z, 1e-7);
    assert_true(largest(b, "tip_x") > 0.5);
    tr_sheet_free(a);
    tr_sheet_free(b);
    tr_system_free(pinned);
    tr_system_free(jointed);
}

// ---- charts change -------------------------------------------------------------------------

// A run that changes its chart, and a preference with which it does so elsewhere or not at all
static const struct Changing {
    const char *model, *case_name, *other;
    double end, every, step; // of the comparison
} changing[] = {
    {"snakeboard_wide", "ride", "independent: [board.vx]", 20, 0.01, 1e-3},
    {"castor", "spin", "independent: [trolley.vx, trolley.wz]", 6, 0.005, 2.5e-4},
    {"four_bar", "turns", "independent: [d(th1)]", 2, 0.002, 1e-4},
    {"bricard", "turn", "independent: [d(q1)]", 10, 0.01, 5e-4},
    {"bricard", "hinge", "independent: [d(q3)]", 10, 0.01, 5e-4},
};
enum { CHANGING = sizeof changing / sizeof *changing };
enum { SOME = BRIEF ? 3 : CHANGING }; // of each kind, one

static void test_chart_changes(void **state)
{
    (void)state;
    for (int i = 0; i < CHANGING; i++) {
        tr_system *system = system_called(changing[i].model, changing[i].case_name);
        tr_summary s;
        Sheet *run = simulated(system, tr_simulate_defaults(system), &s);
        print_message("%-15s %-5s %2zu changes: positions %.1e, velocities %.1e, energy %.1e, "
                      "accelerations %.1e\n",
                      changing[i].model, changing[i].case_name, s.chart_changes, s.position_error,
                      s.velocity_error, s.energy_error, s.kkt_error);
        assert_true(s.chart_changes >= 10);
        assert_true(certified("chart_changes") == (double)s.chart_changes);
        assert_below(largest(run, "residual.position"), 1e-10);
        assert_below(s.velocity_error, 1e-10);
        assert_below(s.kkt_error, 1e-10);
        assert_below(s.energy_error, 1e-8);
        tr_sheet_free(run);
        tr_system_free(system);
    }
}

// The largest difference between two runs, and what it steps and bends by from row to row, of all
// columns but residuals, as parts of the largest value in the column
typedef struct Apart {
    double by, step, bend;
} Apart;

static Apart apart(const Sheet *a, const Sheet *b)
{
    Apart worst = {0};
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->columns, b->columns);
    for (size_t k = 0; k + 2 < a->columns; k++) {
        assert_string_equal(a->names[k], b->names[k]);
        const double size = fmax(1e-3, largest(a, a->names[k]));
        const double *in_a = a->values + k * a->rows, *in_b = b->values + k * b->rows;
        double before = 0, last = 0;
        for (size_t i = 0; i < a->rows; i++) {
            const double d = (in_a[i] - in_b[i]) / size;
            worst.by = fmax(worst.by, fabs(d));
            if (i) worst.step = fmax(worst.step, fabs(d - last));
            if (i > 1) worst.bend = fmax(worst.bend, fabs(d - 2 * last + before));
            before = last, last = d;
        }
    }
    return worst;
}

// Where one run changes its chart the other does not: a seam would be a step in their difference.
static void test_no_seams(void **state)
{
    (void)state;
    for (int i = 0; i < SOME; i++) {
        const struct Changing *c = &changing[i];
        tr_system *system = system_called(c->model, c->case_name);
        tr_system *other = system_edited(c->model, c->case_name, c->other);
        tr_summary s, t;
        Sheet *a = simulated(system, strictly_to(system, c->end, c->every), &s);
        Sheet *b = simulated(other, strictly_to(other, c->end, c->every), &t);
        const Apart off = apart(a, b);
        print_message("%-15s %-5s %2zu and %2zu changes: %.1e, steps %.1e, bends %.1e\n", c->model,
                      c->case_name, s.chart_changes, t.chart_changes, off.by, off.step, off.bend);
        assert_true(s.chart_changes >= 10 && s.chart_changes != t.chart_changes);
        assert_below(off.by, 1e-8);
        assert_below(off.step, 1e-9);
        assert_below(off.bend, 1e-9);
        tr_sheet_free(a);
        tr_sheet_free(b);
        tr_system_free(system);
        tr_system_free(other);
    }
}

// ---- one state in several charts -----------------------------------------------------------

enum { MOST_FLOWS = 6, MOST_COLUMNS = 60 };

// What a flow says about a state: its columns, the rates of positions, and power
typedef struct Account {
    double columns[MOST_COLUMNS], rates[MOST_COLUMNS];
    double least; // pivot it has this from
} Account;

static Account account_of(Flow *flow, double t, const double *y)
{
    Account a;
    assert_true(flow->column_count <= MOST_COLUMNS && flow->size <= MOST_COLUMNS);
    tr_flow_columns(flow, t, y, a.columns);
    tr_flow_rate(flow, t, y, a.rates);
    a.least = tr_flow_quality(flow, t, y).least;
    return a;
}

static double accounts_apart(const Flow *flow, const Account *a, const Account *b)
{
    double worst = 0;
    for (uint32_t k = 0; k < flow->column_count; k++)
        worst = fmax(worst, relative(a->columns[k], b->columns[k]));
    for (uint32_t k = 0; k < flow->positions; k++)
        worst = fmax(worst, relative(a->rates[k], b->rates[k]));
    return fmax(worst, relative(a->rates[flow->size - 1], b->rates[flow->size - 1]));
}

// A flow that is led to states and goes on there in the chart that it would choose
typedef struct Follower {
    tr_system *system;
    Flow *flow;
    double *y;
} Follower;

static Follower follower_of(const char *model, const char *case_name, const char *preference)
{
    Follower f = {.system = system_edited(model, case_name, preference)};
    f.flow = flow_of(f.system);
    f.y = calloc(f.flow->size, sizeof *f.y);
    return f;
}

static void free_follower(Follower *f)
{
    close_flow(f->flow);
    tr_system_free(f->system);
    free(f->y);
}

// The state of the leader, of which `inputs` holds all velocities; the work stays behind.
static void follow(Follower *f, const Flow *leader)
{
    for (uint32_t k = 0; k + 1 < f->flow->size; k++)
        f->y[k] = leader->inputs[f->flow->now->place[k]];
}

typedef struct Tally {
    size_t compared, changed;
    double worst, tilt, least;
} Tally;

// Rounding grows with the inverse square of small pivots: with them, so much less is asked for.
static void compare(Follower *f, double t, Quality q, const Account *wanted, Tally *tally)
{
    const Account told = account_of(f->flow, t, f->y);
    const double part = fmin(1, fmin(wanted->least, q.least) / 0.1);
    tally->worst = fmax(tally->worst, part * part * accounts_apart(f->flow, wanted, &told));
    tally->tilt = fmax(tally->tilt, q.tilt);
    tally->least = fmin(tally->least, q.least);
    tally->compared++;
}

// Before and after it goes on in another chart, the follower says what the leader says.
static void compare_twice(Follower *f, const Flow *leader, double t, const Account *wanted,
                          Tally *tally)
{
    tr_error err = {0};
    const Quality bad = {.tilt = 1e9, .least = 1, .sign = 1};
    bool changed = false;
    follow(f, leader);
    const Quality q = tr_flow_quality(f->flow, t, f->y);
    const bool usable = q.tilt < 20 && q.least > 0.02; // else runs leave it
    if (usable) compare(f, t, q, wanted, tally);
    assert_true(tr_flow_rechart(f->flow, t, f->y, bad, &changed, &err));
    if (!usable) follow(f, leader); // the old chart may have spoilt the state
    Quality now = tr_flow_quality(f->flow, t, f->y);
    if (usable) now.least = fmin(now.least, q.least); // what it lost is lost
    if (changed) compare(f, t, now, wanted, tally);
    tally->changed += changed;
}

static Tally compare_charts(const struct Changing *c, const char *const *preferences, size_t count)
{
    Tally tally = {.least = 1};
    tr_error err = {0};
    Follower all[MOST_FLOWS];
    tr_system *system = system_called(c->model, c->case_name);
    Flow *leader = flow_of(system);
    Mover *mover = tr_mover_new(tr_method("erk", &err), leader, leader->start, &err);
    for (size_t k = 0; k < count; k++) all[k] = follower_of(c->model, c->case_name, preferences[k]);
    for (int i = 1; i <= 100; i++) {
        const double t = c->end * i / 100;
        if (!mover || !mover->method->advance(mover, t, &err)) fail_msg("%s", err.text);
        const Account wanted = account_of(leader, t, mover->y);
        tr_flow_fill_all(leader, t, mover->y);
        for (size_t k = 0; k < count; k++) compare_twice(&all[k], leader, t, &wanted, &tally);
    }
    for (size_t k = 0; k < count; k++) free_follower(&all[k]);
    tr_mover_free(mover);
    close_flow(leader);
    tr_system_free(system);
    return tally;
}

static void test_same_in_every_chart(void **state)
{
    (void)state;
    static const char *const preferences[CHANGING][MOST_FLOWS] = {
        {"independent: [board.wz]", "independent: [board.vx]", "independent: []"},
        {"independent: []", "independent: [trolley.vx, trolley.wz]",
         "independent: [d(swivel), d(roll)]", "independent: [trolley.vy, trolley.wz, d(swivel)]",
         "independent: [trolley.vx, trolley.vy, d(roll)]"},
        {"independent: [d(th1)]", "independent: [d(th2_rel)]", "independent: [d(th3)]"},
        {"independent: [d(q1)]", "independent: [d(q2)]", "independent: [d(q3)]",
         "independent: [d(q4)]", "independent: [d(q5)]", "independent: []"},
        {"independent: [d(q1)]", "independent: [d(q2)]", "independent: [d(q3)]",
         "independent: [d(q4)]", "independent: [d(q5)]", "independent: []"},
    };
    for (int i = 0; i < SOME; i++) {
        size_t count = 0;
        while (count < MOST_FLOWS && preferences[i][count]) count++;
        const Tally tally = compare_charts(&changing[i], preferences[i], count);
        print_message("%-15s %-5s %3zu states, %3zu changes, tilt %4.1f, pivots %.3f: %.1e\n",
                      changing[i].model, changing[i].case_name, tally.compared, tally.changed,
                      tally.tilt, tally.least, tally.worst);
        assert_true(tally.compared >= 100 && tally.changed >= 10 && tally.tilt > 10);
        // not a margin: of reactions that are not unique, at pivots of 0.02, with any kernels
        assert_below(tally.worst, 1e-12);
    }
}

// Asks for other velocities as independent.
static void prefer(const Follower *f, unsigned which)
{
    for (uint32_t i = 0, k = 0; i < f->system->input_count; i++)
        if (f->system->inputs[i].kind == TR_VELOCITY)
            f->system->inputs[i].preferred = which >> k++ & 1;
}

// A flow keeps some charts and forgets others: it comes to the same in all of them.
static void test_more_charts_than_are_kept(void **state)
{
    (void)state;
    enum { KEPT = sizeof((Flow *)0)->charts / sizeof *((Flow *)0)->charts };
    tr_error err = {0};
    Tally tally = {.least = 1};
    size_t later = 0;
    Follower f = follower_of("bricard", "turn", NULL);
    tr_system *system = system_called("bricard", "turn");
    Flow *leader = flow_of(system);
    Mover *mover = tr_mover_new(tr_method("erk", &err), leader, leader->start, &err);
    for (int i = 1; i <= 40; i++) {
        const double t = 0.25 * i;
        if (!mover || !mover->method->advance(mover, t, &err)) fail_msg("%s", err.text);
        const Account wanted = account_of(leader, t, mover->y);
        tr_flow_fill_all(leader, t, mover->y);
        for (unsigned which = 0; which < 5; which++) {
            prefer(&f, 1u << which);
            const size_t changed = tally.changed;
            compare_twice(&f, leader, t, &wanted, &tally);
            if (f.flow->chart_count == KEPT) later += tally.changed - changed;
        }
    }
    print_message("%zu changes, %zu with all places taken: %.1e\n", tally.changed, later,
                  tally.worst);
    assert_int_equal(f.flow->chart_count, KEPT);
    assert_true(later >= 20);
    assert_below(tally.worst, 1e-11);
    free_follower(&f);
    tr_mover_free(mover);
    close_flow(leader);
    tr_system_free(system);
}

// ---- methods -------------------------------------------------------------------------------

static double error_of(tr_system *system, tr_simulate_options o, const Sheet *exact)
{
    tr_summary s;
    Sheet *run = simulated(system, o, &s);
    const Apart off = apart(exact, run);
    assert_true(s.chart_changes >= 10);
    assert_below(s.position_error, 1e-10);
    tr_sheet_free(run);
    return off.by;
}

static void test_methods_change_charts(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "erk", "bdf", "rk4", "pece", "lie"};
    for (int i = 0; i < SOME; i++) {
        const struct Changing *c = &changing[i];
        tr_system *system = system_called(c->model, c->case_name);
        tr_summary s;
        tr_simulate_options o = strictly_to(system, c->end, 20 * c->every);
        o.rtol = 1e-13, o.atol = 1e-15;
        Sheet *exact = simulated(system, o, &s);
        for (int k = 0; k < 6; k++) {
            o = by_steps(system, methods[k], c->step);
            o.dense = k == 1, o.end = c->end, o.every = 20 * c->every;
            const double error = error_of(system, o, exact);
            print_message("%-15s %-5s %-4s %-5s %.1e\n", c->model, c->case_name, methods[k],
                          o.dense ? "dense" : "", error);
            assert_below(error, 1e-7);
        }
        tr_sheet_free(exact);
        tr_system_free(system);
    }
}

// The order of a method does not suffer from starting anew in every chart.
static void check_order(const struct Changing *c, const char *method, double order)
{
    tr_system *system = system_called(c->model, c->case_name);
    tr_summary s;
    tr_simulate_options o = strictly_to(system, c->end, 20 * c->every);
    o.rtol = 1e-13, o.atol = 1e-15;
    Sheet *exact = simulated(system, o, &s);
    double error[2];
    for (int half = 0; half < 2; half++) {
        o = by_steps(system, method, c->step * (half ? 2 : 4));
        o.end = c->end, o.every = 20 * c->every;
        error[half] = error_of(system, o, exact);
    }
    const double found = log2(error[0] / error[1]);
    print_message("%-15s %-4s %.1e %.1e: order %.2f\n", c->model, method, error[0], error[1],
                  found);
    assert_true(fabs(found - order) < 0.5);
    tr_sheet_free(exact);
    tr_system_free(system);
}

static void test_orders_with_changes(void **state)
{
    (void)state;
    for (int i = 1; i < 3; i++) {
        check_order(&changing[i], "rk4", 4);
        check_order(&changing[i], "lie", 4);
        check_order(&changing[i], "pece", 5);
    }
}

// ---- projection ----------------------------------------------------------------------------

static void test_projection_of_the_pendulum(void **state)
{
    (void)state;
    tr_system *system = system_called("pinned_pendulum", "swing");
    tr_simulate_options o = by_steps(system, "rk4", 0.05);
    o.end = 20, o.every = 0.05;
    tr_summary s;
    Sheet *run = simulated(system, o, &s);
    const double off = worst_pendulum(run), drift = certified("drift");
    print_message("positions %.1e, a step drifts by %.1e\n", off, drift);
    assert_below(off, 1e-13);
    assert_true(drift > 1e-7);
    assert_below(drift, 1e-3); // as a step of this length does
    assert_below(largest(run, "residual.position"), 1e-13);
    tr_sheet_free(run);
    o = strictly_to(system, 1, 0.05);
    run = simulated(system, o, &s);
    assert_below(certified("drift"), 1e-12);
    tr_sheet_free(run);
    tr_system_free(system);
}

// The farther a pin is from a body's origin, the more its quaternion has to do with closing it.
static void test_projection_of_a_far_pin(void **state)
{
    (void)state;
    tr_system *system =
        system_from("trundle: 1\n"
                    "bodies: {b: {joint: {type: free}, mass: 2, inertia: {xx: 3, yy: 4, zz: 2}}}\n"
                    "contacts: {nail: {kind: pin, body: b, at: \"0, 0, 5\"}}\n"
                    "initial: {b.x: 5, b.y: 0, b.z: 0, b.R13: -1, b.wz: 1}\n");
    tr_simulate_options o = by_steps(system, "rk4", 0.05);
    o.end = 10, o.every = 0.05;
    tr_summary s;
    Sheet *run = simulated(system, o, &s);
    double worst = 0;
    for (size_t i = 0; i < run->rows; i++) {
        double r[3], q[4], z[3];
        body_at(run, i, "b", r, q);
        third_axis(q, z);
        for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(r[k] + 5 * z[k]));
        worst = fmax(worst, off_unit(q));
    }
    print_message("positions %.1e, a step drifts by %.1e\n", worst, certified("drift"));
    assert_true(certified("drift") > 1e-8);
    assert_below(worst, 1e-13);
    tr_sheet_free(run);
    tr_system_free(system);
}

// Of the rows that close it, four are projected onto; all six hold.
static void check_bricard_closed(const char *case_name)
{
    static const char *const gaps[] = {"gap_x", "gap_y", "gap_z", "axis_x", "axis_y", "axis_z"};
    tr_system *system = system_edited("bricard", case_name,
                                      "outputs: {gap_x: link5.x + a*link5.R11 + a,"
                                      " gap_y: link5.y + a*link5.R21, gap_z: link5.z + a*link5.R31,"
                                      " axis_x: link5.R12, axis_y: link5.R22 - 1,"
                                      " axis_z: link5.R32}");
    Flow *flow = flow_of(system);
    assert_int_equal(flow->now->projected, 4);
    assert_true(flow->now->chart->rows > 4);
    close_flow(flow);
    tr_simulate_options o = by_steps(system, "rk4", 0.02);
    tr_summary s;
    Sheet *run = simulated(system, o, &s);
    double off = 0;
    for (int k = 0; k < 6; k++) off = fmax(off, largest(run, gaps[k]));
    print_message("bricard, %s: closed to %.1e, a step drifts by %.1e\n", case_name, off,
                  certified("drift"));
    assert_true(certified("drift") > 1e-9);
    assert_below(off, 1e-12);
    tr_sheet_free(run);
    tr_system_free(system);
}

static void test_projection_of_redundant_rows(void **state)
{
    (void)state;
    check_bricard_closed("turn");
    check_bricard_closed("hinge");
}

#define BEAD                                                                   \
    "trundle: 1\n"                                                             \
    "gravity: 0, 0, 0\n"                                                       \
    "bodies:\n"                                                                \
    "  across: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n" \
    "  bead: {parent: across, mass: 2,"                                        \
    " joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}}\n"

static void test_projection_with_time(void **state)
{
    (void)state;
    tr_system *system = system_from(BEAD "loops: {rod: {body: bead, length: 0.5 + 0.3*t}}\n"
                                         "initial: {x: 0.5, z: 0, d(z): 0.75}\n");
    tr_simulate_options o = by_steps(system, "rk4", 0.1);
    o.end = 5, o.every = 0.1;
    tr_summary s;
    Sheet *run = simulated(system, o, &s);
    double off = 0;
    for (size_t i = 0; i < run->rows; i++) {
        const double length = 0.5 + 0.3 * at(run, i, "t");
        off = fmax(off, fabs(hypot(at(run, i, "x"), at(run, i, "z")) - length));
    }
    print_message("length %.1e, a step drifts by %.1e, %zu changes\n", off, certified("drift"),
                  s.chart_changes);
    assert_true(certified("drift") > 1e-8);
    assert_below(off, 1e-13);
    assert_true(s.chart_changes >= 1 && at(run, run->rows - 1, "x") < 0); // it goes round
    tr_sheet_free(run);
    tr_system_free(system);
}

// Steps that are much too long lose the state, but not for want of memory.
static void test_steps_that_are_too_long(void **state)
{
    (void)state;
    static const double steps[] = {0.01, 0.02, 0.05, 0.1};
    tr_system *system = system_from(BEAD "loops: {rod: {body: bead, length: 0.5 + 0.3*sin(2*t)}}\n"
                                         "initial: {x: 0.5, z: 0, d(z): 2}\n");
    for (int i = 0; i < 4; i++) {
        tr_error err = {0};
        tr_simulate_options o = by_steps(system, "rk4", steps[i]);
        o.end = 10, o.every = 0.1;
        if (!tr_simulate(system, &o, NULL, &err)) print_message("%s\n", err.text);
        assert_true(err.status == TR_OK || err.status == TR_FAILED);
    }
    tr_system_free(system);
}

// Rows between steps
static void test_projection_of_dense_rows(void **state)
{
    (void)state;
    tr_system *system = system_called("four_bar", "swing");
    tr_simulate_options o = tr_simulate_defaults(system);
    o.dense = true, o.rtol = 1e-4, o.atol = 1e-6, o.every = 0.003;
    tr_summary s;
    Sheet *run = simulated(system, o, &s);
    double open = 0;
    for (size_t i = 0; i < run->rows; i++) {
        FourBar f = bars;
        f.th1 = at(run, i, "th1"), f.th2_rel = at(run, i, "th2_rel"), f.th3 = at(run, i, "th3");
        open = fmax(open, gap(&f));
    }
    print_message("%zu rows from %zu steps: gap %.1e\n", run->rows, s.steps, open);
    assert_true(s.steps < run->rows / 2);
    assert_below(open, 1e-13);
    tr_sheet_free(run);
    tr_system_free(system);
}

// From beside the constraints the way back is short, and what it says is how far it was.
static void test_projection_from_beside(void **state)
{
    (void)state;
    tr_system *system = system_called("pinned_pendulum", "swing");
    Flow *flow = flow_of(system);
    Random r = {99};
    double y[64], before[64];
    assert_true(flow->size <= 64);
    for (int i = 0; i < 100; i++) {
        const double size = pow(10, random_between(&r, -9, -3));
        double position, velocity, far = 0, back = 0;
        for (uint32_t k = 0; k < flow->size; k++) {
            before[k] = y[k] = flow->start[k];
            if (k < flow->positions) y[k] += size * random_between(&r, -1, 1);
        }
        tr_flow_residual(flow, 0, y, &position, &velocity);
        for (uint32_t k = 0; k < flow->positions; k++) far = hypot(far, y[k] - before[k]);
        memcpy(before, y, sizeof before);
        const double off = tr_flow_project(flow, 0, y);
        assert_true(off > 0.3 * position && off < 3 * position);
        tr_flow_residual(flow, 0, y, &position, &velocity);
        assert_below(position, 1e-13);
        for (uint32_t k = 0; k < flow->positions; k++) back = hypot(back, y[k] - before[k]);
        assert_true(back <= 1.01 * far); // the start was one way back
        assert_memory_equal(y + flow->positions, before + flow->positions,
                            (flow->size - flow->positions) * sizeof *y);
    }
    close_flow(flow);
    tr_system_free(system);
}

// ---- against reference numbers -------------------------------------------------------------

static void test_fourbar_reference(void **state)
{
    (void)state;
    static const struct {
        const char *name, *other;
        double tolerance;
    } columns[] = {{"th1", "th1", 1e-9},           {"th2", "th2", 1e-9},
                   {"th3", "th3", 1e-9},           {"th1_rate", "th1_rate", 1e-9},
                   {"th3_rate", "th3_rate", 1e-9}, {"force_x", "lamx", 1e-8},
                   {"force_y", "lamy", 1e-8}};
    tr_system *system = system_called("four_bar", "swing");
    tr_summary s;
    Sheet *run = simulated(system, strictly_to(system, 5, 0.05), &s);
    Sheet *reference = read_sheet(REFERENCE_DIR "/loop_fourbar.csv");
    assert_int_equal(run->rows, 101);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        const double off = difference(run, columns[k].name, reference, columns[k].other);
        print_message("%-8s %.1e\n", columns[k].name, off);
        assert_below(off, columns[k].tolerance);
    }
    for (size_t i = 0; i < run->rows; i++)
        assert_close(at(run, i, "th1_rate") + at(run, i, "th2_rel_rate"),
                     at(reference, i, "th2_rate"), 1e-9);
    assert_true(s.chart_changes >= 10);
    tr_sheet_free(run);
    tr_sheet_free(reference);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pinned_for_long),
        cmocka_unit_test(test_pinned_is_jointed),
        cmocka_unit_test(test_chart_changes),
        cmocka_unit_test(test_no_seams),
        cmocka_unit_test(test_same_in_every_chart),
        cmocka_unit_test(test_more_charts_than_are_kept),
        cmocka_unit_test(test_methods_change_charts),
        cmocka_unit_test(test_orders_with_changes),
        cmocka_unit_test(test_projection_of_the_pendulum),
        cmocka_unit_test(test_projection_of_a_far_pin),
        cmocka_unit_test(test_projection_of_redundant_rows),
        cmocka_unit_test(test_projection_with_time),
        cmocka_unit_test(test_steps_that_are_too_long),
        cmocka_unit_test(test_projection_of_dense_rows),
        cmocka_unit_test(test_projection_from_beside),
        cmocka_unit_test(test_fourbar_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
