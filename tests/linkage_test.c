// SPDX-License-Identifier: Apache-2.0
// Linkages in models/: against published numbers and closed forms, what is redundant in them, how
// they come together, and torques of driven motions that reproduce these motions.
#include "plans.h"
#include "runs.h"

// ---- torques of a motion, fed back ---------------------------------------------------------

enum { MOST_JOINTS = 6, ROWS = 128, MOST_FORMULA = 16000 };

// A robot whose joints follow periodic motions in one case and torques in another
typedef struct Robot {
    const char *name, *driven, *fed;
    const char *joints[MOST_JOINTS + 1];
    double period; // [s]
} Robot;

// The sum of sines and cosines through all rows of one period but the last, which is the first
// again. The function is smooth, so that it fits in between as well; what the highest of them are
// is returned, against the largest value.
static double as_series(const double *values, double period, char *formula)
{
    double size = 0, tail = 0;
    size_t length = 0;
    for (int i = 0; i < ROWS; i++) size = fmax(size, fabs(values[i]));
    for (int k = 0; k < ROWS / 2; k++) {
        double a = 0, b = 0;
        for (int i = 0; i < ROWS; i++) {
            a += values[i] * cos(2 * M_PI * ((k * i) % ROWS) / ROWS) * (k ? 2 : 1) / ROWS;
            b += values[i] * sin(2 * M_PI * ((k * i) % ROWS) / ROWS) * (k ? 2 : 1) / ROWS;
        }
        if (k >= ROWS / 2 - 4) tail = fmax(tail, hypot(a, b) / size);
        if (hypot(a, b) < 1e-16 * size) continue;
        length +=
            (size_t)snprintf(formula + length, MOST_FORMULA - length,
                             "%s(%.17g)*cos(%d*2*pi*t/(%.17g)) + (%.17g)*sin(%d*2*pi*t/(%.17g))",
                             length ? " + " : "", a, k, period, b, k, period);
        assert_true(length < MOST_FORMULA);
    }
    return tail;
}

static tr_system *fed_with(const Robot *r, const Sheet *driven)
{
    static char formula[MOST_FORMULA];
    tr_model *model = model_called(r->name);
    for (const char *const *joint = r->joints; *joint; joint++) {
        char path[100], name[40];
        snprintf(name, sizeof name, "tau.%s", *joint);
        const double tail = as_series(column(driven, name), r->period, formula);
        assert_below(tail, 1e-13);
        snprintf(path, sizeof path, "cases/%s/roles/%s/torque", r->fed, *joint);
        change(model, path, formula);
        snprintf(name, sizeof name, "%s_rate", *joint);
        snprintf(path, sizeof path, "cases/%s/initial/d(%s)", r->fed, *joint);
        change_number(model, path, at(driven, 0, name));
    }
    return system_of(model, r->fed);
}

static bool begins(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

static void check_feedback(const Robot *r)
{
    double motion = 0, forces = 0;
    const double every = r->period / ROWS;
    Sheet *driven = run_to(system_called(r->name, r->driven), r->period, every);
    Sheet *fed = run_to(fed_with(r, driven), r->period, every);
    assert_int_equal(driven->rows, ROWS + 1);
    for (size_t i = 1; i < fed->columns; i++) {
        const char *name = fed->names[i];
        if (begins(name, "energy.work") || begins(name, "residual.")) continue;
        const double off = difference(fed, name, driven, name);
        if (begins(name, "lambda.") || begins(name, "tau."))
            forces = fmax(forces, off / (1 + largest(driven, name)));
        else
            motion = fmax(motion, off);
    }
    print_message("%-10s motion %.1e, forces %.1e\n", r->name, motion, forces);
    assert_below(motion, 1e-7);
    assert_below(forces, 1e-6);
    tr_sheet_free(driven);
    tr_sheet_free(fed);
}

static void test_torques_reproduce_the_motion(void **state)
{
    (void)state;
    static const Robot robots[] = {
        {"five_bar", "circle", "torques", {"left", "right"}, 1},
        {"stewart", "move", "forces", {"s1", "s2", "s3", "s4", "s5", "s6"}, 1},
        {"delta", "pick", "torques", {"angle1", "angle2", "angle3"}, 1},
    };
    for (size_t i = 0; i < sizeof robots / sizeof *robots; i++) check_feedback(&robots[i]);
}

// ---- a third motor -------------------------------------------------------------------------

typedef struct Bend {
    double by_left, by_right; // how the angle of the left elbow follows those of the motors
} Bend;

// r1 . dP = r1 . dE1, r2 . dP = r2 . dE2, with the forearms r1, r2 from elbows E1, E2 to the tool P
static Bend bend_of(const Sheet *run, size_t row)
{
    const double a = 0.3, b = 0.45, c = 0.12;
    const double left = at(run, row, "left"), right = at(run, row, "right");
    const double x = at(run, row, "x"), z = at(run, row, "z");
    const double r1[2] = {x + c - a * cos(left), z - a * sin(left)};
    const double r2[2] = {x - c - a * cos(right), z - a * sin(right)};
    const double E1[2] = {-a * sin(left), a * cos(left)}, E2[2] = {-a * sin(right), a * cos(right)};
    const double det = r1[0] * r2[1] - r1[1] * r2[0];
    const double f1 = (r1[0] * E1[0] + r1[1] * E1[1]) / det,
                 f2 = (r2[0] * E2[0] + r2[1] * E2[1]) / det;
    assert_close(hypot(r1[0], r1[1]), b, 1e-12);
    assert_close(hypot(r2[0], r2[1]), b, 1e-12);
    const double P1[2] = {r2[1] * f1, -r2[0] * f1}, P2[2] = {-r1[1] * f2, r1[0] * f2};
    return (Bend){(r1[0] * (P1[1] - E1[1]) - r1[1] * (P1[0] - E1[0])) / (b * b) - 1,
                  (r1[0] * P2[1] - r1[1] * P2[0]) / (b * b)};
}

// Work along both motions that are possible is that of two motors.
static double work_apart(const Sheet *two, const Sheet *three, size_t row)
{
    const Bend bend = bend_of(two, row);
    const double elbow = at(three, row, "tau.left_elbow");
    const double left =
        at(three, row, "tau.left") + bend.by_left * elbow - at(two, row, "tau.left");
    const double right =
        at(three, row, "tau.right") + bend.by_right * elbow - at(two, row, "tau.right");
    return fmax(fabs(left), fabs(right));
}

// Torques that do no work along any motion are what the least ones have none of.
static double idle(const Sheet *three, size_t row)
{
    const Bend bend = bend_of(three, row);
    return fabs(at(three, row, "tau.left_elbow") - bend.by_left * at(three, row, "tau.left") -
                bend.by_right * at(three, row, "tau.right"));
}

// Of the force of the right forearm on the tool the part across is what turns that arm; the part
// along it is free, and nothing when reactions are least.
static void test_third_motor(void **state)
{
    (void)state;
    char *facts = facts_of(system_called("five_bar", "third"));
    assert_fact(facts, "m", 2);
    assert_fact(facts, "m_locked", 1);
    assert_fact(facts, "antagonist", 1);
    assert_fact(facts, "redundant", 0);
    tr_text_free(facts);
    Sheet *two = run_of(system_called("five_bar", "circle"));
    Sheet *three = run_of(system_called("five_bar", "third"));
    double work = 0;
    for (size_t row = 0; row < two->rows; row++) work = fmax(work, work_apart(two, three, row));
    print_worst("torques that do the same work", work);
    assert_below(work, 1e-10);
    assert_below(difference(three, "lambda.tool.z", two, "lambda.tool.z"), 1e-10);
    assert_true(largest(two, "lambda.tool.x") > 1);
    assert_below(largest(three, "lambda.tool.x"), 1e-12);
    assert_true(largest(three, "tau.left_elbow") > 1);
    tr_sheet_free(three);
    three = run_of(system_called("five_bar", "third_least"));
    double wasted = 0;
    for (size_t row = 0; row < two->rows; row++) {
        work = fmax(work, work_apart(two, three, row));
        wasted = fmax(wasted, idle(three, row));
    }
    print_worst("of the least torques", fmax(work, wasted));
    assert_true(largest(three, "lambda.tool.x") > 1);
    assert_below(work, 1e-10);
    assert_below(wasted, 1e-10);
    tr_sheet_free(two);
    tr_sheet_free(three);
}

// ---- redundant rows ------------------------------------------------------------------------

// One hinge of five rows, of which four are independent, on five joints
static void test_bricard(void **state)
{
    (void)state;
    char *facts = facts_of(system_called("bricard", "hinge"));
    assert_fact(facts, "rows", 5);
    assert_fact(facts, "m", 4);
    assert_fact(facts, "redundant", 1);
    assert_fact(facts, "kernel", 1);
    assert_names(facts, "hyperstatic_rows", "closing.x closing.y closing.z closing.mx closing.mz");
    tr_text_free(facts);
    tr_summary s = {0};
    Sheet *run = run_with(system_called("bricard", "hinge"), 10, 0.05, &s);
    print_worst("energy of Bricard's linkage", s.energy_error);
    print_worst("its residual", largest(run, "residual.position"));
    assert_true(s.chart_changes > 0);
    assert_below(s.energy_error, 1e-8);
    assert_below(s.kkt_error, 1e-10);
    assert_below(largest(run, "residual.position"), 1e-10);
    assert_true(most(run, "q1") - least(run, "q1") > 2); // it does turn
    tr_sheet_free(run);
}

// ---- closed forms --------------------------------------------------------------------------

// The piston's pin is at l from the crank's, on the line z = offset.
static void check_slider_crank(const char *case_name, double offset)
{
    const double r = 0.04, l = 0.14;
    const Number values[] = {{"offset", offset}};
    double off = 0;
    Sheet *run = run_of(system_with("slider_crank", case_name, values, 1));
    for (size_t i = 0; i < run->rows; i++) {
        const double crank = at(run, i, "crank"), up = r * sin(crank) - offset;
        off = fmax(off, fabs(at(run, i, "way") - r * cos(crank) - sqrt(l * l - up * up)));
        off = fmax(off, fabs(at(run, i, "tilt") - asin(up / l)));
    }
    print_message("slider-crank, %-10s %.1e\n", case_name, off);
    assert_true(most(run, "crank") > 20);
    assert_below(off, 1e-12);
    tr_sheet_free(run);
}

static void test_slider_crank(void **state)
{
    (void)state;
    check_slider_crank("coast", 0);
    check_slider_crank("coast", 0.02);
    check_slider_crank("run", -0.01);
    check_slider_crank("engine", 0);
}

// The plate is where the arms were meant to bring it, and does not turn.
static void test_delta(void **state)
{
    (void)state;
    static const char *const off[] = {"off_x",    "off_y",    "off_z",    "plate.qx", "plate.qy",
                                      "plate.qz", "plate.wx", "plate.wy", "plate.wz"};
    Sheet *run = run_of(system_called("delta", "pick"));
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) assert_below(largest(run, off[i]), 1e-12);
    assert_true(least(run, "plate.x") < -0.19 && most(run, "plate.x") > 0.19);
    tr_sheet_free(run);
}

static void test_stewart(void **state)
{
    (void)state;
    Sheet *run = run_of(system_called("stewart", "move"));
    assert_below(largest(run, "off_x"), 1e-12);
    assert_below(largest(run, "off_y"), 1e-12);
    assert_true(least(run, "turned") >= 1 - 1e-12);
    assert_below(largest(run, "off_z"), 1e-12);
    assert_true(least(run, "plate.qx") < -0.04 && most(run, "plate.qx") > 0.04);
    tr_sheet_free(run);
}

// ---- the car -------------------------------------------------------------------------------

typedef struct Point {
    double x, y, z;
} Point;

static Point turned(const Sheet *run, size_t row, const char *body, Point p)
{
    static const char *const parts[] = {"qw", "qx", "qy", "qz"};
    double q[4];
    for (int i = 0; i < 4; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s.%s", body, parts[i]);
        q[i] = at(run, row, name);
    }
    // p + 2 w (u x p) + 2 u x (u x p), with the quaternion w, u
    const Point c = {q[2] * p.z - q[3] * p.y, q[3] * p.x - q[1] * p.z, q[1] * p.y - q[2] * p.x};
    return (Point){p.x + 2 * (q[0] * c.x + q[2] * c.z - q[3] * c.y),
                   p.y + 2 * (q[0] * c.y + q[3] * c.x - q[1] * c.z),
                   p.z + 2 * (q[0] * c.z + q[1] * c.y - q[2] * c.x)};
}

static Point hinged(double angle, Point p)
{
    return (Point){p.x, cos(angle) * p.y - sin(angle) * p.z, sin(angle) * p.y + cos(angle) * p.z};
}

static Point sum(Point a, Point b) { return (Point){a.x + b.x, a.y + b.y, a.z + b.z}; }
static double way(Point a, Point b) { return hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z); }

// How far the ball joint of the upper wishbone is open, or the tie rod too long, in the axes of the
// chassis; `side` is 1 on the left and -1 on the right.
static double open_at(const Sheet *run, size_t row, const char *left, double side)
{
    char low[20], up[20], knuckle[20];
    snprintf(low, sizeof low, "%s_low", left);
    snprintf(up, sizeof up, "%s_up", left);
    snprintf(knuckle, sizeof knuckle, "%s_knuckle", left);
    const double lower = at(run, row, low), upper = at(run, row, up);
    const Point ball =
        sum((Point){2.5, side * 0.34, 0.2}, hinged(lower, (Point){0, side * 0.36, -0.02}));
    const Point king = turned(run, row, knuckle, (Point){-0.025, side * -0.035, 0.28});
    const Point arm = turned(run, row, knuckle, (Point){-0.13, side * -0.03, 0.055});
    const Point top =
        sum((Point){2.475, side * 0.4, 0.45}, hinged(upper, (Point){0, side * 0.265, 0.01}));
    const Point rack = {2.37, side * 0.352 - at(run, row, "rack"), 0.2475};
    const double rod = hypot(0.34 + 0.36 - 0.03 - 0.352, 0.2 - 0.02 + 0.055 - 0.2475);
    return fmax(way(sum(ball, hinged(lower, king)), top),
                fabs(way(sum(ball, hinged(lower, arm)), rack) - rod));
}

static void test_car(void **state)
{
    (void)state;
    char *facts = facts_of(system_called("car_linkage", "circle"));
    assert_fact(facts, "rows", 16);
    assert_fact(facts, "m", 16);
    assert_fact(facts, "kernel", 7);
    tr_text_free(facts);
    Sheet *run = run_to(system_called("car_linkage", "circle"), 6, 0.05);
    double open = 0;
    for (size_t i = 0; i < run->rows; i++)
        open = fmax(open, fmax(open_at(run, i, "left", 1), open_at(run, i, "right", -1)));
    print_worst("joints of the wishbones [m]", open);
    assert_below(open, 1e-12);
    // To the left: the inner wheel is turned further, the outer wheels bear more, and it rolls out.
    assert_true(last(run, "left_steer") > last(run, "right_steer") + 0.005);
    assert_true(last(run, "right_steer") > 0.15 && last(run, "roll") > 0.02);
    assert_true(last(run, "lambda.fr_road.normal") > last(run, "lambda.fl_road.normal"));
    tr_sheet_free(run);
}

// ---- assembly ------------------------------------------------------------------------------

// A state at the start; false, with words, when there is none. The system is freed.
static bool start_of(tr_system *system, const char *const *names, double *values, tr_error *err)
{
    double *x = calloc(tr_input_count(system), sizeof *x);
    const bool good = initial_of(system, x, err);
    for (size_t k = 0; good && names[k]; k++) {
        values[k] = (double)NAN;
        for (size_t i = 0; i < tr_input_count(system); i++)
            if (strcmp(tr_input_name(system, i), names[k]) == 0) values[k] = x[i];
        assert_true(isfinite(values[k]));
    }
    free(x);
    tr_system_free(system);
    return good;
}

enum { GUESSES = BRIEF ? 60 : 200 };

// The forearms meet on either side of the line between the elbows.
static void test_branches_of_the_five_bar(void **state)
{
    (void)state;
    static const char *const names[] = {"left", "left_elbow", "right", "right_elbow", NULL};
    const double a = 0.3, b = 0.45, c = 0.12;
    Random random = {31};
    int found[2] = {0};
    for (int i = 0; i < GUESSES; i++) {
        double q[4];
        tr_error err = {0};
        tr_model *model = model_called("five_bar");
        change_number(model, "guess/left_elbow", random_between(&random, -M_PI, M_PI));
        change_number(model, "guess/right_elbow", random_between(&random, -M_PI, M_PI));
        if (!start_of(system_of(model, "fall"), names, q, &err)) {
            print_message("%s\n", err.text);
            continue;
        }
        const double E1[2] = {a * cos(q[0]) - c, a * sin(q[0])};
        const double E2[2] = {a * cos(q[2]) + c, a * sin(q[2])};
        const double apart = hypot(E2[0] - E1[0], E2[1] - E1[1]),
                     line = atan2(E2[1] - E1[1], E2[0] - E1[0]);
        const double corner = acos(apart / 2 / b);
        const double off = remainder(q[0] + q[1] - line, 2 * M_PI);
        assert_close(fabs(off), corner, 1e-9);
        assert_close(remainder(q[2] + q[3] - line - M_PI, 2 * M_PI), -off, 1e-9);
        found[off > 0]++;
    }
    print_message("%d and %d of %d guesses\n", found[0], found[1], GUESSES);
    assert_true(found[0] > GUESSES / 4 && found[1] > GUESSES / 4);
    assert_true(found[0] + found[1] >= 0.99 * GUESSES);
}

// From plates that are put down somewhere, with all legs upright
static void test_guesses_of_the_stewart_platform(void **state)
{
    (void)state;
    static const char *const names[] = {"plate.x", "plate.y", "plate.z", NULL};
    Random random = {32};
    int found = 0;
    for (int i = 0; i < GUESSES / 4; i++) {
        double place[3];
        tr_error err = {0};
        tr_model *model = model_called("stewart");
        change_number(model, "guess/plate.x", random_between(&random, -0.2, 0.2));
        change_number(model, "guess/plate.y", random_between(&random, -0.2, 0.2));
        change_number(model, "guess/plate.z", random_between(&random, 0.4, 0.9));
        change_number(model, "guess/plate.qx", random_between(&random, -0.15, 0.15));
        change_number(model, "guess/plate.qy", random_between(&random, -0.15, 0.15));
        change_number(model, "guess/plate.qz", random_between(&random, -0.15, 0.15));
        if (!start_of(system_of(model, "forces"), names, place, &err)) fail_msg("%s", err.text);
        found += fabs(place[0]) <= 1e-9 && fabs(place[1] - 0.05) <= 1e-9 &&
                 fabs(place[2] - 0.65) <= 1e-9;
    }
    print_message("%d of %d guesses\n", found, GUESSES / 4);
    assert_true(found >= 0.9 * GUESSES / 4);
}

static void assert_refused(tr_system *system, const char *words, double gap)
{
    static const char *const none[] = {NULL};
    tr_error err = {0};
    assert_false(start_of(system, none, NULL, &err));
    print_message("%s\n", err.text);
    assert_int_equal(err.status, TR_INVALID);
    assert_non_null(strstr(err.text, words));
    const char *open = strstr(err.text, "stays open by ");
    assert_non_null(open);
    const double found = strtod(open + strlen("stays open by "), NULL);
    if (gap > 0)
        assert_close(found / gap, 1, 1e-3);
    else
        assert_true(found > 0.01);
}

// The nearest that it can come is said, whatever the guess.
static void test_out_of_reach(void **state)
{
    (void)state;
    const Number high[] = {{"offset", 0.3}}, low[] = {{"offset", -0.25}};
    const double crank = 0.04 * sin(0.3);
    assert_refused(system_with("slider_crank", "coast", high, 1), "'big_end.", 0.3 - 0.14 - crank);
    assert_refused(system_with("slider_crank", "coast", low, 1), "'big_end.", 0.25 - 0.14 + crank);
    // The rod of four metres pulls the plate as far as the others let it.
    tr_model *model = model_called("stewart");
    change(model, "cases/forces/initial/s1", "4");
    assert_refused(system_of(model, "forces"), "'ball1.", 0);
}

static void put_strut(tr_model *model, const char *name, const char *length)
{
    static const char *const fields[][2] = {{"kind", "distance"},
                                            {"body", "left_upper"},
                                            {"at", "a, 0, 0"},
                                            {"on", "right_upper"},
                                            {"to", "a, 0, 0"}};
    char path[60];
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "loops/%s/%s", name, fields[i][0]);
        change(model, path, fields[i][1]);
    }
    snprintf(path, sizeof path, "loops/%s/length", name);
    change(model, path, length);
}

// Two rods between the same elbows, of different lengths
static void test_contradiction(void **state)
{
    (void)state;
    tr_model *model = model_called("five_bar");
    put_strut(model, "long_rod", "0.6");
    put_strut(model, "short_rod", "0.5");
    assert_refused(system_of(model, "fall"), "'short_rod.distance'", 0);
}

// A joint that closes a loop needs an axis as any other does.
static void test_joints_without_their_axes(void **state)
{
    (void)state;
    tr_error err = {0};
    char *text = read_text(MODELS_DIR "/slider_crank.yaml");
    char *axis = strstr(strstr(text, "big_end:"), ", axis: \"0, -1, 0\"");
    assert_non_null(axis);
    memset(axis, ' ', strlen(", axis: \"0, -1, 0\""));
    tr_model *model = model_from(text);
    assert_null(tr_derive(model, NULL, &err));
    assert_string_equal(err.text, "the revolute joint of 'big_end' needs an axis");
    assert_true(err.line > 1 && err.column == 3);
    tr_model_free(model);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torques_reproduce_the_motion),
        cmocka_unit_test(test_third_motor),
        cmocka_unit_test(test_bricard),
        cmocka_unit_test(test_slider_crank),
        cmocka_unit_test(test_delta),
        cmocka_unit_test(test_stewart),
        cmocka_unit_test(test_car),
        cmocka_unit_test(test_branches_of_the_five_bar),
        cmocka_unit_test(test_guesses_of_the_stewart_platform),
        cmocka_unit_test(test_out_of_reach),
        cmocka_unit_test(test_contradiction),
        cmocka_unit_test(test_joints_without_their_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
