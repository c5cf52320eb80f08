// SPDX-License-Identifier: Apache-2.0
// Seven rovers: over bumps with slip, along paths without masses, with their wheels on the ground
// as measured round their rims; what locks them; six wheels that stick and slip at once.
#include "rovers.h"

// ---- wheels on the ground ------------------------------------------------------------------

// Hubs and axles as outputs, h0x h0y h0z a0x a0y a0z and so on
static void add_hubs(tr_model *model, const Rover *rover)
{
    for (int k = 0; k < wheels_of(rover); k++) {
        const V3 given = rover->axles[k];
        const V3 axle = v3_dot(given, given) > 0 ? given : v3(0, 1, 0);
        for (int i = 0; i < 3; i++) {
            char path[40], formula[200];
            const char *wheel = rover->wheels[k];
            snprintf(path, sizeof path, "outputs/h%d%c", k, "xyz"[i]);
            snprintf(formula, sizeof formula, "%s.%c", wheel, "xyz"[i]);
            change(model, path, formula);
            snprintf(path, sizeof path, "outputs/a%d%c", k, "xyz"[i]);
            snprintf(formula, sizeof formula, "%s.R%d1*(%.17g) + %s.R%d2*(%.17g) + %s.R%d3*(%.17g)",
                     wheel, i + 1, axle.x, wheel, i + 1, axle.y, wheel, i + 1, axle.z);
            change(model, path, formula);
        }
    }
}

static V3 output_at(const Sheet *run, size_t row, char what, int wheel)
{
    char names[3][20];
    for (int i = 0; i < 3; i++)
        snprintf(names[i], sizeof names[i], "%c%d%c", what, wheel, "xyz"[i]);
    return vector_at(run, row, names[0], names[1], names[2]);
}

typedef struct Hoop {
    const Rover *rover;
    V3 hub, e, f; // its middle, and two directions across its axle
} Hoop;

static double above(const Hoop *hoop, double angle)
{
    const double r = hoop->rover->r;
    const V3 p = v3_plus(
        hoop->hub, v3_plus(v3_times(r * cos(angle), hoop->e), v3_times(r * sin(angle), hoop->f)));
    return p.z - height(hoop->rover, p.x, p.y);
}

// How far the lowest point of a sharp rim is above the ground: by samples, then by halving
static double least_above(const Rover *rover, V3 hub, V3 axle)
{
    enum { SAMPLES = 180 };
    const V3 a = v3_unit(axle);
    const V3 e = v3_unit(v3_cross(a, v3(0, 0, 1)));
    const Hoop hoop = {rover, hub, e, v3_cross(e, a)};
    const double step = 2 * acos(-1) / SAMPLES;
    int lowest = 0;
    for (int i = 1; i < SAMPLES; i++)
        if (above(&hoop, i * step) < above(&hoop, lowest * step)) lowest = i;
    double from = (lowest - 1) * step, to = (lowest + 1) * step;
    for (int i = 0; i < 100; i++) {
        const double third = (to - from) / 3;
        if (above(&hoop, from + third) < above(&hoop, to - third))
            to -= third;
        else
            from += third;
    }
    return above(&hoop, (from + to) / 2);
}

// Of all wheels in all rows: how far one is off the ground, either way
static double off_ground(const Rover *rover, const Sheet *run)
{
    double worst = 0;
    for (size_t row = 0; row < run->rows; row++)
        for (int k = 0; k < wheels_of(rover); k++)
            worst = fmax(worst, fabs(least_above(rover, output_at(run, row, 'h', k),
                                                 output_at(run, row, 'a', k))));
    return worst;
}

static double least_load(const Rover *rover, const Sheet *run)
{
    double N = (double)INFINITY;
    for (int k = 0; k < wheels_of(rover); k++) {
        char name[60];
        snprintf(name, sizeof name, "lambda.%s.normal", rover->wheels[k]);
        N = fmin(N, least(run, name));
    }
    return N;
}

// ---- over bumps ----------------------------------------------------------------------------

static void test_bumps(void **state)
{
    (void)state;
    for (int i = 0; i < ROVERS; i++) {
        const Rover *rover = &rovers[i];
        tr_model *model = model_of(rover);
        add_hubs(model, rover);
        tr_summary s = {0};
        tr_system *system = system_of(model, "bumps");
        Sheet *run = simulated(system, tr_simulate_defaults(system), &s);
        const double off = off_ground(rover, run), load = least_load(rover, run);
        print_message(
            "%-18s energy %.1e, wheels on the ground to %.1e m, at least %.1f N, %zu steps\n",
            rover->name, s.energy_error, off, load, s.steps);
        assert_below(s.energy_error, 1e-9);
        assert_below(off, 1e-10);
        assert_below(s.kkt_error, 1e-9);
        assert_true(load > 0);
        tr_sheet_free(run);
        tr_system_free(system);
    }
}

// ---- slip work -----------------------------------------------------------------------------

// The power of a contact's force at the point that touches: "#" stands for the wheel.
static const char *const powers[] = {"contact.#.Fx*(d(#.x) + (#.R21*#.wx + #.R22*#.wy + "
                                     "#.R23*#.wz)*(contact.#.z - #.z) - (#.R31*#.wx + "
                                     "#.R32*#.wy + #.R33*#.wz)*(contact.#.y - #.y))",
                                     "contact.#.Fy*(d(#.y) + (#.R31*#.wx + #.R32*#.wy + "
                                     "#.R33*#.wz)*(contact.#.x - #.x) - (#.R11*#.wx + "
                                     "#.R12*#.wy + #.R13*#.wz)*(contact.#.z - #.z))",
                                     "contact.#.Fz*(d(#.z) + (#.R11*#.wx + #.R12*#.wy + "
                                     "#.R13*#.wz)*(contact.#.y - #.y) - (#.R21*#.wx + "
                                     "#.R22*#.wy + #.R23*#.wz)*(contact.#.x - #.x))"};

static void write_with(char *out, size_t size, const char *text, const char *wheel)
{
    size_t n = 0;
    for (const char *c = text; *c; c++)
        n += (size_t)snprintf(out + n, size - n, "%.*s", *c == '#' ? 60 : 1, *c == '#' ? wheel : c);
    assert_true(n < size);
}

// By Simpson's rule
static double integral(const Sheet *run, const double *f)
{
    double sum = 0;
    assert_true(run->rows % 2 == 1);
    for (size_t i = 0; i + 2 < run->rows; i += 2)
        sum += (at(run, i + 2, "t") - at(run, i, "t")) / 6 * (f[i] + 4 * f[i + 1] + f[i + 2]);
    return sum;
}

// Motors and bearings as the model has them, and what slip takes
static double power_at(const Rover *rover, const Sheet *run, size_t row, double *slip)
{
    const double torque = 0.08, left = -3, right = 5, drag = 0.02; // of the case `turn`
    double sum = 0;
    *slip = 0;
    for (int k = 0; k < wheels_of(rover); k++) {
        char name[60];
        snprintf(name, sizeof name, "%s_spin_rate", rover->wheels[k]);
        const double rate = at(run, row, name);
        sum += torque * (k % 2 ? right : left) * rate - drag * rate * rate;
        for (int i = 0; i < 3; i++) {
            snprintf(name, sizeof name, "p%d%c", k, "xyz"[i]);
            *slip += at(run, row, name);
        }
    }
    return sum + *slip;
}

// Energy against work that is added up here, while the rocker-bogie turns over bumps
static void test_slip_work(void **state)
{
    (void)state;
    const Rover *rover = &rovers[0];
    tr_model *model = model_of(rover);
    for (int k = 0; k < wheels_of(rover); k++)
        for (int i = 0; i < 3; i++) {
            char path[40], formula[1500];
            snprintf(path, sizeof path, "outputs/p%d%c", k, "xyz"[i]);
            write_with(formula, sizeof formula, powers[i], rover->wheels[k]);
            change(model, path, formula);
        }
    tr_summary s = {0};
    Sheet *run = run_with(system_of(model, "turn"), 4, 0.001, &s);
    double *all = calloc(2 * run->rows, sizeof *all), *slip = all + run->rows;
    for (size_t i = 0; i < run->rows; i++) all[i] = power_at(rover, run, i, &slip[i]);
    const double work = integral(run, all), lost = integral(run, slip);
    const double gained = last(run, "energy.kinetic") + last(run, "energy.potential") -
                          at(run, 0, "energy.kinetic") - at(run, 0, "energy.potential");
    const double size = fmax(fabs(lost), largest(run, "energy.kinetic"));
    print_message("rover_rocker_bogie: slip took %.3f J, balance %.1e, by the run itself %.1e\n",
                  -lost, fabs(work - gained) / size, s.energy_error);
    assert_true(lost < -0.05);
    assert_below(fabs(work - gained) / size, 1e-7);
    assert_below(s.energy_error, 1e-10);
    free(all);
    tr_sheet_free(run);
}

// ---- along paths ---------------------------------------------------------------------------

static void test_paths(void **state)
{
    (void)state;
    for (int i = 0; i < ROVERS; i++) {
        const Rover *rover = &rovers[i];
        char x[30], y[30];
        tr_model *model = model_of(rover);
        add_hubs(model, rover);
        tr_summary s = {0};
        tr_system *system = system_of(model, "path");
        Sheet *run = simulated(system, tr_simulate_defaults(system), &s);
        snprintf(x, sizeof x, "%s.x", rover->body), snprintf(y, sizeof y, "%s.y", rover->body);
        double beside = 0;
        for (size_t row = 0; row < run->rows; row++) {
            const double along = rover->speed * at(run, row, "t"),
                         wanted = rover->weave * sin(2 * acos(-1) * along / rover->wave);
            beside = fmax(beside, hypot(at(run, row, x) - along, at(run, row, y) - wanted));
        }
        const double off = off_ground(rover, run);
        print_message("%-18s beside its path by %.1e, wheels on the ground to %.1e m\n",
                      rover->name, beside, off);
        assert_below(beside, 1e-10);
        assert_below(off, 1e-10);
        assert_below(s.kkt_error, 1e-10);
        tr_sheet_free(run);
        tr_system_free(system);
    }
}

// ---- locked --------------------------------------------------------------------------------

// The laws that a rover's wheels have sideways, in its file
static const char *const aside[] = {"lateral: tyre, cornering: C, creep: creep",
                                    "lateral: coulomb, friction: friction, creep: creep"};

static size_t replace_all(char *out, size_t size, const char *text, const char *from,
                          const char *to)
{
    size_t n = 0, count = 0;
    while (*text) {
        const bool here = strncmp(text, from, strlen(from)) == 0;
        n += (size_t)snprintf(out + n, size - n, "%.*s", here ? (int)strlen(to) : 1,
                              here ? to : text);
        text += here ? strlen(from) : 1;
        count += here;
        assert_true(n < size);
    }
    return count;
}

// With other words about how its wheels slip
static tr_model *with_laws(const Rover *rover, const char *words)
{
    static char out[20000];
    char path[600];
    snprintf(path, sizeof path, MODELS_DIR "/%s.yaml", rover->name);
    char *text = read_text(path);
    size_t count = 0;
    for (size_t i = 0; i < sizeof aside / sizeof *aside && !count; i++)
        count = replace_all(out, sizeof out, text, aside[i], words);
    assert_int_equal(count, wheels_of(rover));
    free(text);
    return model_from(out);
}

static char *checked(tr_model *model, const char *case_name)
{
    tr_error err = {0};
    tr_system *system = system_of(model, case_name);
    char *told = tr_check_text(system, false, &err);
    if (!told) fail_msg("%s", err.text);
    tr_system_free(system);
    return told;
}

static void test_locked(void **state)
{
    (void)state;
    for (int i = 0; i < ROVERS; i++) {
        const Rover *rover = &rovers[i];
        char *slips = checked(model_of(rover), "bumps"), words[200];
        assert_null(strstr(slips, "locked on"));
        assert_says(slips, "3 degrees of freedom");
        tr_text_free(slips);
        if (!rover->rank) continue; // rollers hold nothing aside
        tr_model *model = with_laws(rover, "lateral: ideal");
        change(model, "parameters/A", "0");
        char *told = checked(model, "bumps");
        const char *line = strstr(told, "locked on uneven ground: ");
        assert_non_null(line);
        for (int k = 0; k < wheels_of(rover); k++) {
            snprintf(words, sizeof words, "%s.lateral", rover->wheels[k]);
            assert_says(line, words);
        }
        assert_says(line, "leave 0 degrees of freedom instead of 1");
        snprintf(words, sizeof words, " %d independent", rover->rank);
        assert_says(told, words);
        tr_text_free(told);
    }
}

// ---- six wheels that stick and slip --------------------------------------------------------

typedef struct Grip {
    const char *case_name, *torque;
    double mu, end;
} Grip;

static const double creep = 0.004;

static Sheet *run_sticking(const Grip *grip, bool sticks, tr_summary *s)
{
    char words[200];
    snprintf(words, sizeof words,
             "longitudinal: coulomb, lateral: coulomb, friction: %g, creep: %g, stick: %s",
             grip->mu, creep, sticks ? "true" : "false");
    tr_model *model = with_laws(&rovers[0], words);
    change(model, "parameters/torque", grip->torque);
    change(model, "parameters/speed", "0");
    tr_system *system = system_of(model, grip->case_name);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = grip->end, o.every = 0.02, o.method = "bdf";
    Sheet *run = simulated(system, o, s);
    tr_system_free(system);
    return run;
}

static double most_lost(void)
{
    char *json = certificate();
    double lost = 0;
    for (const char *c = json; (c = strstr(c, "\"lost\": "));) lost = fmax(lost, atof(c += 8));
    free(json);
    return lost;
}

// Contacts push, and friction is within its cone.
static double beyond_cones(const Rover *rover, const Sheet *run, double mu)
{
    double beyond = -1;
    for (size_t row = 0; row < run->rows; row++)
        for (int k = 0; k < wheels_of(rover); k++) {
            char name[3][60];
            static const char *const parts[] = {"normal", "longitudinal", "lateral"};
            for (int i = 0; i < 3; i++)
                snprintf(name[i], sizeof name[i], "lambda.%s.%s", rover->wheels[k], parts[i]);
            const double N = at(run, row, name[0]);
            assert_true(N > 0);
            beyond =
                fmax(beyond, hypot(at(run, row, name[1]), at(run, row, name[2])) / (mu * N) - 1);
        }
    return beyond;
}

// What slips and sticks does what slips by the same law without ever sticking, up to its creep.
// What is lost where wheels begin to hold is no more than creeps have: once the last of them
// stopped all.
static void test_sticking(void **state)
{
    (void)state;
    static const Grip grips[] = {{"turn", "0.02", 0.5, 0.5},
                                 {"turn", "0.1", 0.5, 0.5},
                                 {"turn", "0.15", 0.5, 0.5},
                                 {"bumps", "1", 0.7, 0.8},
                                 {"bumps", "0.3", 0.3, 0.8}};
    size_t switches = 0;
    for (size_t i = 0; i < (BRIEF ? 2 : sizeof grips / sizeof *grips); i++) {
        const Grip *grip = &grips[i];
        tr_summary s = {0}, plain = {0};
        Sheet *run = run_sticking(grip, true, &s);
        const double lost = most_lost(), beyond = beyond_cones(&rovers[0], run, grip->mu);
        Sheet *creeping = run_sticking(grip, false, &plain);
        const double apart = difference(run, "rover.x", creeping, "rover.x");
        print_message(
            "%s, torque %s: %zu switches, energy %.1e, lost at once %.1e J, friction %+.1e, "
            "%.1e m from creeping, at %.3f m\n",
            grip->case_name, grip->torque, s.switches, s.energy_error, lost, beyond, apart,
            last(run, "rover.x"));
        assert_below(s.energy_error, 1e-8);
        assert_below(s.position_error, 1e-10);
        assert_below(lost, 1e-3);
        assert_below(beyond, 1e-9);
        assert_below(apart, 2 * creep * grip->end);
        switches += s.switches;
        tr_sheet_free(run);
        tr_sheet_free(creeping);
    }
    assert_true(BRIEF || switches > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bumps),    cmocka_unit_test(test_slip_work),
        cmocka_unit_test(test_paths),    cmocka_unit_test(test_locked),
        cmocka_unit_test(test_sticking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
