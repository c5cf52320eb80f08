// SPDX-License-Identifier: Apache-2.0
// The models of Boyer and Belkhiri (2013), [B n] its equations: against reference motions, their
// classification in Table I, reactions that are not unique, and torques fed back.
//
// The CSV files are explained in tests/reference/README.md.
#include "plans.h"
#include "runs.h"
#include "sim/method.h"

// ---- the mobile pendulum -------------------------------------------------------------------

static Sheet *pendulum_reference(void) { return read_sheet(REFERENCE_DIR "/pendulum_forced.csv"); }

static Sheet *pendulum_run(const char *case_name)
{
    return run_of(system_called("mobile_pendulum", case_name));
}

static void test_pendulum_facts(void **state)
{
    (void)state;
    char *json = facts_of(system_called("mobile_pendulum", "forced"));
    assert_fact(json, "n", 1);
    assert_fact(json, "s_p", 1);
    assert_fact(json, "s_a", 2);
    assert_fact(json, "rows", 2);
    assert_fact(json, "m", 2);
    assert_fact(json, "m_locked", 1);
    assert_fact(json, "redundant", 0);
    assert_fact(json, "antagonist", 1);
    assert_names(json, "hyperstatic_rows", "front.longitudinal rear.longitudinal");
    assert_names(json, "independent", "r3_rate");
    assert_names(json, "dynamic", "r3");
    assert_names(json, "kinematic", "");
    tr_text_free(json);
}

static void check_pendulum_motion(const Sheet *run, const Sheet *reference)
{
    static const char *const names[] = {"x", "r1", "r3", "r3_rate"};
    for (size_t k = 0; k < 4; k++) {
        const double off = difference(run, names[k], reference, names[k]);
        print_message("%-8s %.1e\n", names[k], off);
        assert_below(off, 1e-9);
    }
    assert_below(difference(run, "r2", reference, "r1"), 1e-9);
    assert_below(difference(run, "rail_force", reference, "rail_force"),
                 1e-9 * largest(reference, "rail_force"));
}

static void check_pendulum_torque(const Sheet *run, const char *name, const Sheet *reference,
                                  const char *other)
{
    const double off = difference(run, name, reference, other) / largest(reference, other);
    print_message("%-6s %-10s %.1e\n", name, other, off);
    assert_below(off, 1e-9);
}

// The three choices of T that the paper names below [B 44]
static void test_pendulum_forced(void **state)
{
    (void)state;
    static const char *const cases[][3] = {{"front_leads", "tau1_T0", "tau2_T0"},
                                           {"rear_leads", "tau1_rear", "tau2_rear"},
                                           {"forced", "tau_equal", "tau_equal"}};
    Sheet *reference = pendulum_reference();
    for (size_t i = 0; i < 3; i++) {
        Sheet *run = pendulum_run(cases[i][0]);
        check_pendulum_motion(run, reference);
        check_pendulum_torque(run, "tau.r1", reference, cases[i][1]);
        check_pendulum_torque(run, "tau.r2", reference, cases[i][2]);
        tr_sheet_free(run);
    }
    tr_sheet_free(reference);
}

// tau = that of T = 0, and (+R T, -R T)                                                [B 44]
static void check_tension(const Sheet *reference, const char *T)
{
    const double R = 0.1;
    double tension = (double)NAN;
    assert_true(tr_read_number(T, &tension));
    tr_model *model = model_called("mobile_pendulum");
    change(model, "parameters/T", T);
    Sheet *run = run_of(system_of(model, "tense"));
    assert_int_equal(run->rows, reference->rows);
    for (size_t i = 0; i < run->rows; i++) {
        assert_close(at(run, i, "tau.r1") - at(reference, i, "tau1_T0"), R * tension, 1e-9);
        assert_close(at(run, i, "tau.r2") - at(reference, i, "tau2_T0"), -R * tension, 1e-9);
    }
    check_pendulum_motion(run, reference);
    tr_sheet_free(run);
}

static void test_pendulum_tension(void **state)
{
    (void)state;
    Sheet *reference = pendulum_reference();
    check_tension(reference, "1");
    check_tension(reference, "-2.5");
    tr_sheet_free(reference);
}

// The least of w_f F_f^2 + w_r F_r^2 with a given sum has w_f F_f = w_r F_r.
static void test_pendulum_weights(void **state)
{
    (void)state;
    tr_model *model = model_called("mobile_pendulum");
    change(model, "cases/forced/reactions/weights/front", "3");
    change(model, "cases/forced/reactions/weights/rear", "0.5");
    Sheet *run = run_of(system_of(model, "forced")), *reference = pendulum_reference();
    check_pendulum_motion(run, reference);
    for (size_t i = 0; i < run->rows; i++) {
        const double sum = at(reference, i, "rail_force");
        assert_close(at(run, i, "lambda.front.longitudinal"), sum * 0.5 / 3.5, 1e-8);
        assert_close(at(run, i, "lambda.rear.longitudinal"), sum * 3 / 3.5, 1e-8);
    }
    tr_sheet_free(run);
    tr_sheet_free(reference);
}

// One motor does the work of both, and the rail turns the other wheel.
static void test_pendulum_one(void **state)
{
    (void)state;
    const double A = 4, W = 3, R = 0.1, Jw = 0.0015;
    char *json = facts_of(system_called("mobile_pendulum", "one"));
    assert_fact(json, "antagonist", 0);
    assert_fact(json, "m_locked", 2);
    assert_names(json, "kinematic", "r2");
    assert_names(json, "dynamic", "r3");
    tr_text_free(json);
    Sheet *run = pendulum_run("one"), *reference = pendulum_reference();
    check_pendulum_motion(run, reference);
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t"), r2_acc = -A * W * W * sin(W * t);
        const double both = at(reference, i, "tau1_T0") + at(reference, i, "tau2_T0");
        assert_close(at(run, i, "tau.r1"), both, 1e-9);
        assert_close(at(run, i, "lambda.rear.longitudinal"), -Jw * r2_acc / R, 1e-12);
    }
    tr_sheet_free(run);
    tr_sheet_free(reference);
}

// Without torques, energy and the momentum along the rail are conserved, wheels' spin included:
// (M + 2 Jw/R^2) x' + m l cos(r3) r3'
static void test_pendulum_free(void **state)
{
    (void)state;
    const double m = 0.5, l = 0.8, M = 3.1, Jw = 0.0015, R = 0.1;
    Sheet *run = pendulum_run("free");
    double energy = 0, momentum = 0, E0 = 0, P0 = 0;
    for (size_t i = 0; i < run->rows; i++) {
        const double E = at(run, i, "energy.kinetic") + at(run, i, "energy.potential");
        const double P = (M + 2 * Jw / (R * R)) * at(run, i, "x_rate") +
                         m * l * cos(at(run, i, "r3")) * at(run, i, "r3_rate");
        if (i == 0) E0 = E, P0 = P;
        energy = fmax(energy, fabs(E - E0)), momentum = fmax(momentum, fabs(P - P0));
        assert_close(R * at(run, i, "r2_rate"), at(run, i, "x_rate"), 1e-12);
    }
    print_message("energy %.1e, momentum %.1e\n", energy, momentum);
    assert_close(P0, (M + 2 * Jw / (R * R)) * 0.4 - m * l * cos(1.2) * 0.5, 1e-14);
    assert_true(largest(run, "energy.kinetic") > 1 && largest(run, "r3_rate") > 1);
    assert_below(energy, 1e-10);
    assert_below(momentum, 1e-10);
    tr_sheet_free(run);
}

// The leading wheel tells the velocity of the cart: J_ext = (R, 0), D = 1              [B 38]
static void test_pendulum_blocks(void **state)
{
    (void)state;
    static const char *const cases[] = {"front_leads", "rear_leads"};
    for (int lead = 0; lead < 2; lead++) {
        tr_system *system = system_called("mobile_pendulum", cases[lead]);
        double x[7] = {0};
        evaluate_start(system, "H D J_ext J_int", x, 7);
        const double wanted[] = {0, 1, 1, lead ? 0 : 0.1, lead ? 0.1 : 0, 0, 0};
        for (size_t k = 0; k < 7; k++) assert_close(x[k], wanted[k], 1e-15);
        tr_system_free(system);
    }
}

// ---- the snake-board -----------------------------------------------------------------------

static void test_snakeboard_facts(void **state)
{
    (void)state;
    char *json = facts_of(system_called("snakeboard", "ride"));
    assert_fact(json, "n", 3);
    assert_fact(json, "s_p", 0);
    assert_fact(json, "s_a", 3);
    assert_fact(json, "rows", 2);
    assert_fact(json, "m", 2);
    assert_fact(json, "m_locked", 2);
    assert_names(json, "independent", "eta_r");
    tr_text_free(json);
}

static void test_snakeboard_ride(void **state)
{
    (void)state;
    static const struct {
        const char *name, *other;
        double tolerance;
    } columns[] = {
        {"x", "x", 1e-8},
        {"y", "y", 1e-8},
        {"theta", "theta", 1e-8},
        {"eta_r", "eta_r", 1e-8},
        {"board.vx", "V0X", 1e-8},
        {"board.vy", "V0Y", 1e-8},
        {"board.wz", "Om0Z", 1e-8},
        {"tau.r1", "tau1", 1e-9},
        {"tau.r2", "tau2", 1e-9},
        {"tau.r3", "tau3", 1e-7},
        {"lambda.wheels1.lateral", "lam1", 1e-7},
        {"lambda.wheels2.lateral", "lam2", 1e-7},
        {"energy.kinetic", "kinetic", 1e-8},
    };
    Sheet *run = run_of(system_called("snakeboard", "ride"));
    Sheet *reference = read_sheet(REFERENCE_DIR "/snakeboard_rigid.csv");
    assert_close(at(run, run->rows - 1, "t"), 10, 1e-15);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        const double off = difference(run, columns[k].name, reference, columns[k].other);
        print_message("%-22s %.1e\n", columns[k].name, off);
        assert_below(off, columns[k].tolerance);
    }
    tr_sheet_free(run);
    tr_sheet_free(reference);
}

// ---- Table I -------------------------------------------------------------------------------

// H = 0 or not: a kernel; lambda_stat = 0 or not: m > m_locked, with driven joints that work
// against each other.
static void test_table_one(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        int kernel, m, m_locked, antagonist;
        const char *words;
    } cells[] = {
        {"snake3", 0, 3, 3, 0, "(H = 0, lambda_stat = 0)"},
        {"rail_cart", 0, 2, 1, 1, "(H = 0, lambda_stat != 0)"},
        {"snakeboard", 1, 2, 2, 0, "(H != 0, lambda_stat = 0)"},
        {"mobile_pendulum", 1, 2, 1, 1, "(H != 0, lambda_stat != 0)"},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char *json = facts_of(system_called(cells[i].model, NULL));
        assert_fact(json, "kernel", cells[i].kernel);
        assert_fact(json, "m", cells[i].m);
        assert_fact(json, "m_locked", cells[i].m_locked);
        assert_fact(json, "antagonist", cells[i].antagonist);
        assert_fact(json, "redundant", 0);
        tr_text_free(json);
        tr_system *system = system_called(cells[i].model, NULL);
        char *words = tr_check_text(system, false, NULL);
        assert_non_null(words);
        assert_non_null(strstr(words, cells[i].words));
        tr_text_free(words);
        tr_system_free(system);
    }
}

static void test_snake10(void **state)
{
    (void)state;
    char *json = facts_of(system_called("snake10", NULL));
    assert_fact(json, "n", 3);
    assert_fact(json, "s_p", 7);
    assert_fact(json, "s_a", 2);
    assert_fact(json, "m", 10);
    assert_fact(json, "m_locked", 10);
    assert_fact(json, "kernel", 0);
    assert_names(json, "kinematic", "r3 r4 r5 r6 r7 r8 r9");
    assert_names(json, "dynamic", "");
    tr_text_free(json);
}

// What is left out of a model is as if it had not been written.
static void test_rail_cart_without_a_wheel(void **state)
{
    (void)state;
    const double A = 4, W = 3, Jw = 0.0015;
    tr_model *model = model_called("rail_cart");
    change(model, "cases/drive/without", "rear");
    Sheet *run = run_of(system_of(model, "drive"));
    for (size_t i = 0; i < run->rows; i++)
        assert_close(at(run, i, "tau.r2"), -Jw * A * W * W * sin(W * at(run, i, "t")), 1e-14);
    tr_sheet_free(run);
}

// ---- torques fed back ----------------------------------------------------------------------

// A leader whose joints follow their motions, and a follower: the same model, whose joints get the
// leader's torques as they come. Both are integrated as one, by rk4.
typedef struct Pair {
    tr_system *leading, *following;
    Flow *leader, *follower;
    size_t joints, size;
    double *columns, *other;       // of leader and follower
    uint32_t torque[4], push[4];   // columns of the leader, inputs of the follower
    double *y, *step, *rate, *sum; // of both
} Pair;

typedef struct Feedback {
    const char *model, *case_name, *other_case; // of the leader, of the follower
    const char *joints[4];
    size_t count;
} Feedback;

static uint32_t column_called(const Flow *flow, const char *prefix, const char *name)
{
    char label[60];
    snprintf(label, sizeof label, "%s%s", prefix, name);
    for (uint32_t i = 0; i < flow->column_count; i++)
        if (strcmp(flow->labels[i], label) == 0) return i;
    fail_msg("there is no column %s", label);
    return 0;
}

static void change_joint(tr_model *model, const char *where, const char *joint, const char *tail,
                         double value)
{
    char path[100], text[40];
    snprintf(path, sizeof path, "%s%s%s", where, joint, tail);
    snprintf(text, sizeof text, "%.17g", value);
    change(model, path, text);
}

// Instead of its motion, a joint has an input for a torque, and starts as the motion does.
static void release_joint(tr_model *model, const Pair *p, const Feedback *f, const char *joint)
{
    char path[100], name[40], rate[40];
    const double q = p->columns[column_called(p->leader, "", joint)];
    snprintf(name, sizeof name, "push_%s", joint);
    snprintf(path, sizeof path, "cases/%s/roles/%s/torque", f->other_case, joint);
    change(model, path, name);
    change_joint(model, "inputs/", name, "", 0);
    change_joint(model, "initial/", joint, "", q);
    snprintf(rate, sizeof rate, "%s_rate", joint);
    change_joint(model, "initial/d(", joint, ")", p->columns[column_called(p->leader, "", rate)]);
}

static double *numbers(size_t count)
{
    double *x = calloc(count, sizeof *x);
    assert_non_null(x);
    return x;
}

static Pair paired(const Feedback *f)
{
    Pair p = {.leading = system_called(f->model, f->case_name), .joints = f->count};
    p.leader = flow_of(p.leading);
    p.columns = numbers(p.leader->column_count);
    tr_flow_columns(p.leader, 0, p.leader->start, p.columns);
    tr_model *model = model_called(f->model);
    for (size_t k = 0; k < f->count; k++) release_joint(model, &p, f, f->joints[k]);
    p.following = system_of(model, f->other_case);
    p.follower = flow_of(p.following);
    p.other = numbers(p.follower->column_count);
    for (size_t k = 0; k < f->count; k++) {
        char name[40];
        snprintf(name, sizeof name, "push_%s", f->joints[k]);
        p.torque[k] = column_called(p.leader, "tau.", f->joints[k]);
        p.push[k] = (uint32_t)input_index(p.following, name);
    }
    p.size = p.leader->size + p.follower->size;
    p.y = numbers(p.size), p.step = numbers(p.size), p.rate = numbers(p.size);
    p.sum = numbers(p.size);
    memcpy(p.y, p.leader->start, p.leader->size * sizeof *p.y);
    memcpy(p.y + p.leader->size, p.follower->start, p.follower->size * sizeof *p.y);
    return p;
}

static void free_pair(Pair *p)
{
    close_flow(p->leader);
    close_flow(p->follower);
    tr_system_free(p->leading);
    tr_system_free(p->following);
    free(p->columns);
    free(p->other);
    free(p->y);
    free(p->step);
    free(p->rate);
    free(p->sum);
}

static void rate_of_both(Pair *p, double t, const double *y)
{
    tr_flow_columns(p->leader, t, y, p->columns);
    for (size_t k = 0; k < p->joints; k++)
        p->follower->inputs[p->push[k]] = p->columns[p->torque[k]];
    tr_flow_rate(p->leader, t, y, p->rate);
    tr_flow_rate(p->follower, t, y + p->leader->size, p->rate + p->leader->size);
}

static void step_both(Pair *p, double t, double h)
{
    static const double ahead[] = {0, 0.5, 0.5, 1}, weight[] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
    memset(p->rate, 0, p->size * sizeof *p->rate);
    memset(p->sum, 0, p->size * sizeof *p->sum);
    for (int stage = 0; stage < 4; stage++) {
        for (size_t i = 0; i < p->size; i++) p->step[i] = p->y[i] + ahead[stage] * h * p->rate[i];
        rate_of_both(p, t + ahead[stage] * h, p->step);
        for (size_t i = 0; i < p->size; i++) p->sum[i] += weight[stage] * h * p->rate[i];
    }
    for (size_t i = 0; i < p->size; i++) p->y[i] += p->sum[i];
}

// Of all coordinates and velocities, which are the first columns
static double apart(Pair *p, double t)
{
    double worst = 0;
    tr_flow_columns(p->leader, t, p->y, p->columns);
    tr_flow_columns(p->follower, t, p->y + p->leader->size, p->other);
    uint32_t count = 0;
    for (size_t i = 0; i < tr_input_count(p->leading); i++) {
        const tr_kind kind = tr_input_kind(p->leading, i);
        count += kind == TR_POSITION || kind == TR_VELOCITY;
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_string_equal(p->leader->labels[i], p->follower->labels[i]);
        assert_true(isfinite(p->other[i]));
        worst = fmax(worst, fabs(p->columns[i] - p->other[i]));
    }
    return worst;
}

static double worst_apart(const Feedback *f, double end, int steps)
{
    Pair p = paired(f);
    double worst = 0;
    for (int i = 0; i < steps; i++) {
        worst = fmax(worst, apart(&p, end * i / steps));
        step_both(&p, end * i / steps, end / steps);
    }
    worst = fmax(worst, apart(&p, end));
    const Chart *follower = p.follower->now->chart, *leader = p.leader->now->chart;
    assert_true(follower->passive - follower->m_locked >
                leader->passive - leader->m_locked); // it could go elsewhere
    free_pair(&p);
    return worst;
}

static void test_torques_fed_back(void **state)
{
    (void)state;
    static const Feedback all[] = {
        {"mobile_pendulum", "forced", "forced", {"r1", "r2"}, 2},
        {"mobile_pendulum", "one", "one", {"r1"}, 1},
        {"snakeboard", "ride", "ride", {"r1", "r2", "r3"}, 3},
        {"rail_cart", "drive", "drive", {"r1", "r2"}, 2},
        {"geared_axle", "turned", "start", {"rotor_angle"}, 1},
        {"snake3", "creep", "creep", {"r1", "r2"}, 2},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const double off = worst_apart(&all[i], 5, 10000);
        print_message("%-16s %-7s %.1e\n", all[i].model, all[i].case_name, off);
        assert_below(off, 1e-8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pendulum_facts),   cmocka_unit_test(test_pendulum_forced),
        cmocka_unit_test(test_pendulum_tension), cmocka_unit_test(test_pendulum_weights),
        cmocka_unit_test(test_pendulum_one),     cmocka_unit_test(test_pendulum_free),
        cmocka_unit_test(test_pendulum_blocks),  cmocka_unit_test(test_snakeboard_facts),
        cmocka_unit_test(test_snakeboard_ride),  cmocka_unit_test(test_table_one),
        cmocka_unit_test(test_snake10),          cmocka_unit_test(test_rail_cart_without_a_wheel),
        cmocka_unit_test(test_torques_fed_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
