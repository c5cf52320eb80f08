// SPDX-License-Identifier: Apache-2.0
// Loops: a four-bar linkage cut and closed in every way, against a reference; what joints keep that
// are cut; and what cannot be.
#include "newton_euler.h"
#include "plans.h"
#include "runs.h"

// ---- the four-bar linkage ------------------------------------------------------------------

static const double A = 0.4, B = 0.9, C = 0.7, M_A = 0.6, M_B = 1.1, M_C = 0.8, G = 9.81;

typedef struct Pivot {
    char name;
    const char *parent, *body, *at, *to, *coordinate, *guess;
} Pivot;

// In no order, and the last one from the wrong side
static const Pivot pivots[] = {
    {'C', "coupler", "rocker", "b, 0, 0", "c, 0, 0", "th_c", "0.88"},
    {'A', "world", "crank", "0, 0, 0", "0, 0, 0", "th1", "-0.6"},
    {'D', "rocker", "world", "0, 0, 0", "base, 0, 0", "th_d", "-2.08"},
    {'B', "crank", "coupler", "a, 0, 0", "0, 0, 0", "th_b", "1.8"},
};

static const char *const fourbar_head =
    "trundle: 1\n"
    "parameters: {a: 0.4, b: 0.9, c: 0.7, base: 1, m_a: 0.6, m_b: 1.1, m_c: 0.8}\n"
    "gravity: 0, -9.81, 0\n"
    "bodies:\n"
    "  rocker: {mass: m_c, com: \"c/2, 0, 0\", inertia: {zz: m_c*c^2/12}}\n"
    "  crank: {mass: m_a, com: \"a/2, 0, 0\", inertia: {zz: m_a*a^2/12}}\n"
    "  coupler: {mass: m_b, com: \"b/2, 0, 0\", inertia: {zz: m_b*b^2/12}}\n"
    "outputs:\n"
    "  c1: crank.R11\n  s1: crank.R21\n"
    "  c2: coupler.R11\n  s2: coupler.R21\n"
    "  c3: rocker.R11\n  s3: rocker.R21\n"
    "  w1: crank.wz\n  w2: coupler.wz\n  w3: rocker.wz\n"
    "  rate1: d(crank.wz)\n"
    "initial:\n"
    "  atan2(crank.R21, crank.R11): -0.6\n"
    "  crank.wz: 0.5\n";

typedef enum Closing { CUT, AXIS, POINT, CYLINDER, PIN, FORMULAS, CLOSINGS } Closing;

static bool holds_world(const Pivot *p) { return strcmp(p->body, "world") == 0; }

// A loop has its world in `on`.
static void add_closing(Buffer *t, const Pivot *p, Closing closing)
{
    static const char *const kinds[] = {[AXIS] = "axis, axis: \"0, 0, 1\"",
                                        [POINT] = "point",
                                        [CYLINDER] = "cylinder, axis: \"0, 0, 1\"",
                                        [PIN] = "pin"};
    const bool swapped = holds_world(p);
    const char *body = swapped ? p->parent : p->body, *on = swapped ? p->body : p->parent;
    const char *at = swapped ? p->at : p->to, *to = swapped ? p->to : p->at;
    if (closing == FORMULAS)
        tr_buffer_print(t,
                        "frames: {here: {body: %s, at: \"%s\"}, there: {body: %s, at: \"%s\"}}\n"
                        "constraints:\n  ex: {position: here.x - there.x}\n"
                        "  ey: {position: here.y - there.y}\n",
                        body, at, on, to);
    else
        tr_buffer_print(t, "%s: {E: {kind: %s, body: %s, at: \"%s\", on: %s, to: \"%s\"}}\n",
                        closing == PIN ? "contacts" : "loops", kinds[closing], body, at, on, to);
}

static char *fourbar_text(char where, Closing closing)
{
    Buffer t = {0};
    tr_buffer_print(&t, "%sjoints:\n", fourbar_head);
    for (int i = 0; i < 4; i++) {
        const Pivot *p = &pivots[i];
        if (p->name == where && closing != CUT) continue;
        tr_buffer_print(&t,
                        "  %c: {type: revolute, axis: \"0, 0, 1\", parent: %s, body: %s, at: "
                        "\"%s\", to: \"%s\", coordinate: %s%s}\n",
                        p->name, p->parent, p->body, p->at, p->to, p->coordinate,
                        p->name == where ? ", cut: true" : "");
    }
    tr_buffer_print(&t, "guess:\n");
    for (int i = 0; i < 4; i++)
        if (pivots[i].name != where || closing == CUT)
            tr_buffer_print(&t, "  %s: %s\n", pivots[i].coordinate, pivots[i].guess);
    for (int i = 0; i < 4; i++)
        if (pivots[i].name == where && closing != CUT) add_closing(&t, &pivots[i], closing);
    tr_buffer_print(&t, "cases: {swing: {end: 5, every: 0.05}}\n");
    assert_false(t.failed);
    return t.at;
}

// Acceleration of a point at `length` along a bar
static V3 swing(const Sheet *s, size_t row, int bar, double length)
{
    char name[16];
    snprintf(name, sizeof name, "th%d", bar);
    const double angle = at(s, row, name);
    snprintf(name, sizeof name, "th%d_rate", bar);
    const double w = at(s, row, name);
    snprintf(name, sizeof name, "th%d_acc", bar);
    const double acc = at(s, row, name);
    return v3(length * (-acc * sin(angle) - w * w * cos(angle)),
              length * (acc * cos(angle) - w * w * sin(angle)), 0);
}

static V3 weighed(double mass, V3 acceleration)
{
    return v3_times(mass, v3_plus(acceleration, v3(0, G, 0)));
}

// The force in a pivot, on the coupler at C and B, on the crank at A, on the rocker at D, from the
// reference's accelerations and its force in C
static V3 force_in(const Sheet *s, size_t row, char pivot)
{
    const V3 end = v3(at(s, row, "lamx"), at(s, row, "lamy"), 0);
    if (pivot == 'C') return end;
    if (pivot == 'D') return v3_plus(weighed(M_C, swing(s, row, 3, C / 2)), end);
    const V3 coupler = v3_plus(swing(s, row, 1, A), swing(s, row, 2, B / 2));
    const V3 middle = v3_minus(weighed(M_B, coupler), end);
    return pivot == 'B' ? middle : v3_plus(weighed(M_A, swing(s, row, 1, A / 2)), middle);
}

// The closing force in world axes, on the body that force_in has it on
static V3 closing_force(const Sheet *run, size_t row, const Pivot *p, Closing closing)
{
    static const char *const names[CLOSINGS][2] = {
        [CUT] = {"", ""}, // after the joint
        [AXIS] = {"lambda.E.x", "lambda.E.y"},
        [POINT] = {"lambda.E.x", "lambda.E.y"},
        [CYLINDER] = {"lambda.E.x", "lambda.E.y"},
        [PIN] = {"lambda.E.longitudinal", "lambda.E.lateral"},
        [FORMULAS] = {"lambda.ex.position", "lambda.ey.position"}};
    char own[2][20];
    snprintf(own[0], sizeof own[0], "lambda.%c.x", p->name);
    snprintf(own[1], sizeof own[1], "lambda.%c.y", p->name);
    const char *x = closing == CUT ? own[0] : names[closing][0],
               *y = closing == CUT ? own[1] : names[closing][1];
    const bool swapped = holds_world(p) && closing != CUT;
    const char *on = swapped ? p->body : p->parent;
    const char *bars[] = {"crank", "coupler", "rocker"};
    double c = 1, s = 0;
    for (int k = 0; k < 3 && closing != FORMULAS; k++) {
        char name[8];
        if (strcmp(on, bars[k]) != 0) continue;
        snprintf(name, sizeof name, "c%d", k + 1), c = at(run, row, name);
        snprintf(name, sizeof name, "s%d", k + 1), s = at(run, row, name);
    }
    const double fx = at(run, row, x), fy = at(run, row, y);
    const double sign = p->name == 'C' || (p->name == 'D' && closing == CUT) ? -1 : 1;
    return v3(sign * (c * fx - s * fy), sign * (s * fx + c * fy), 0);
}

static void check_fourbar(const Sheet *reference, const Pivot *p, Closing closing)
{
    char *text = fourbar_text(p->name, closing);
    Sheet *run = run_of(system_from(text));
    double motion = 0, force = 0, largest_force = 0;
    assert_int_equal(run->rows, reference->rows);
    for (size_t i = 0; i < run->rows; i++) {
        static const char *const bars[][4] = {
            {"th1", "c1", "s1", "w1"}, {"th2", "c2", "s2", "w2"}, {"th3", "c3", "s3", "w3"}};
        for (int k = 0; k < 3; k++) {
            char rate[16];
            snprintf(rate, sizeof rate, "%s_rate", bars[k][0]);
            const double angle = at(reference, i, bars[k][0]);
            motion = fmax(motion, fabs(at(run, i, bars[k][1]) - cos(angle)));
            motion = fmax(motion, fabs(at(run, i, bars[k][2]) - sin(angle)));
            motion = fmax(motion, fabs(at(run, i, bars[k][3]) - at(reference, i, rate)) / 10);
        }
        motion = fmax(motion, fabs(at(run, i, "rate1") - at(reference, i, "th1_acc")) / 100);
        const V3 wanted = force_in(reference, i, p->name),
                 off = v3_minus(closing_force(run, i, p, closing), wanted);
        force = fmax(force, sqrt(v3_dot(off, off)));
        largest_force = fmax(largest_force, sqrt(v3_dot(wanted, wanted)));
    }
    if (!is_below(motion, 1e-9) || !is_below(force, 1e-7 * largest_force))
        fail_msg("closed at %c by way %d: motion %.2g, force %.2g of %.2g", p->name, closing,
                 motion, force, largest_force);
    tr_sheet_free(run);
    free(text);
}

static void test_fourbar(void **state)
{
    (void)state;
    Sheet *reference = read_sheet(REFERENCE_DIR "/loop_fourbar.csv");
    for (int i = 0; i < 4; i++)
        for (int closing = 0; closing < CLOSINGS; closing++)
            check_fourbar(reference, &pivots[i], (Closing)closing);
    tr_sheet_free(reference);
}

static char *check_of(tr_system *system)
{
    tr_error err = {0};
    char *text = tr_check_text(system, false, &err);
    if (!text || err.status) fail_msg("%s", err.text);
    tr_system_free(system);
    return text;
}

// 5 rows, of which 3 hold anyway: they are named, and so is the cut.
static void test_fourbar_words(void **state)
{
    (void)state;
    static const struct {
        Closing closing;
        const char *dropped;
    } ways[] = {{AXIS, "E.z E.mx E.my"}, {POINT, "E.z"}, {CYLINDER, "E.mx E.my"}, {FORMULAS, ""}};
    for (int i = 0; i < 4; i++) {
        char *text = fourbar_text('C', ways[i].closing), *json = facts_of(system_from(text));
        assert_fact(json, "rows", 2);
        assert_fact(json, "m", 2);
        assert_fact(json, "kernel", 1);
        assert_names(json, "dropped", ways[i].dropped);
        assert_names(json, "cuts", "");
        tr_text_free(json);
        free(text);
    }
    for (int i = 0; i < 4; i++) {
        char *text = fourbar_text(pivots[i].name, CUT), words[100];
        char *said = check_of(system_from(text)), *json = facts_of(system_from(text));
        snprintf(words, sizeof words, "(the motion does not depend on the choice): %c\n",
                 pivots[i].name);
        assert_says(said, words);
        snprintf(words, sizeof words, "that always hold and carry no load: %c.z, %c.mx, %c.my\n",
                 pivots[i].name, pivots[i].name, pivots[i].name);
        assert_says(said, words);
        snprintf(words, sizeof words, "%c", pivots[i].name);
        assert_names(json, "cuts", words);
        tr_text_free(said);
        tr_text_free(json);
        free(text);
    }
}

// Without a wish the joint that nothing drives is cut, and never one that is driven.
static void test_choice(void **state)
{
    (void)state;
    static const char *const coordinates[] = {"th1", "th_b", "th_c", "th_d"};
    for (int i = 0; i < 4; i++) {
        char *text = fourbar_text('X', CUT);
        tr_error err = {0};
        tr_model *model = tr_model_parse(text, &err);
        char path[40], *json;
        for (int k = 0; k < 4; k++) {
            snprintf(path, sizeof path, "roles/%s/torque", coordinates[k]);
            if (k != i) tr_model_set(model, path, "0.1", &err);
        }
        tr_system *system = tr_derive(model, NULL, &err);
        tr_model_free(model);
        if (!system) fail_msg("%s", err.text);
        json = facts_of(system);
        const char name[2] = {"ABCD"[i], 0};
        assert_names(json, "cuts", name);
        tr_text_free(json);
        free(text);
    }
}

// ---- a linkage whose bars' axes are anyhow -------------------------------------------------

// Bars along u, in a plane with the normal n, in the axes of every bar: no row holds by itself.
static char *oblique_text(char where)
{
    static const char *const lengths[][2] = {{"b", "c"}, {"0", "0"}, {"0", "1"}, {"a", "0"}};
    Buffer t = {0};
    const M3 R = m3_turn(v3(0.7, -0.4, 1.1));
    static const char *const names[] = {"u", "w", "n"};
    tr_buffer_print(&t, "trundle: 1\nparameters:\n  a: 0.4\n  b: 0.9\n  c: 0.7\n");
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) {
            tr_buffer_print(&t, "  %s%c: ", names[j], 'x' + k);
            tr_buffer_number(&t, v3_at(R.column[j], k));
            tr_buffer_print(&t, "\n");
        }
    tr_buffer_print(&t, "gravity: -9.81*wx, -9.81*wy, -9.81*wz\nbodies:\n");
    static const char *const bars[][3] = {
        {"crank", "a", "0.6"}, {"coupler", "b", "1.1"}, {"rocker", "c", "0.8"}};
    for (int i = 0; i < 3; i++) {
        const char *l = bars[i][1], *m = bars[i][2];
        tr_buffer_print(&t, "  %s: {mass: %s, com: \"%s*ux/2, %s*uy/2, %s*uz/2\", inertia: {",
                        bars[i][0], m, l, l, l);
        tr_buffer_print(&t, "axial: %s*%s^2/12, radial: %s*%s^2/12, axis: \"nx, ny, nz\"}}\n", m, l,
                        m, l);
    }
    tr_buffer_print(&t, "joints:\n");
    for (int i = 0; i < 4; i++) {
        const Pivot *p = &pivots[i];
        const char *l = lengths[i][0], *k = lengths[i][1];
        tr_buffer_print(&t, "  %c: {type: revolute, axis: \"nx, ny, nz\", parent: %s, body: %s, ",
                        p->name, p->parent, p->body);
        tr_buffer_print(&t, "at: \"%s*ux, %s*uy, %s*uz\", to: \"%s*ux, %s*uy, %s*uz\", ", l, l, l,
                        k, k, k);
        tr_buffer_print(&t, "coordinate: %s%s}\n", p->coordinate,
                        p->name == where ? ", cut: true" : "");
    }
    tr_buffer_print(&t, "initial: {th1: -0.6, th1_rate: 0.5}\n"
                        "guess: {th_c: 0.88, th_d: -2.08, th_b: 1.8}\n"
                        "cases: {swing: {end: 5, every: 0.05}}\n");
    assert_false(t.failed);
    return t.at;
}

static void test_oblique(void **state)
{
    (void)state;
    Sheet *reference = read_sheet(REFERENCE_DIR "/loop_fourbar.csv");
    for (int i = 0; i < 4; i++) {
        char *text = oblique_text(pivots[i].name), words[60];
        char *json = facts_of(system_from(text)), *said = check_of(system_from(text));
        assert_fact(json, "m", 2);
        assert_fact(json, "kernel", 1);
        assert_fact(json, "rows", 3);
        assert_fact(json, "redundant", 1);
        snprintf(words, sizeof words, "redundant: '%c.x', '%c.y', '%c.z' depend on each other",
                 pivots[i].name, pivots[i].name, pivots[i].name);
        assert_says(said, words);
        tr_text_free(json);
        tr_text_free(said);
        Sheet *run = run_of(system_from(text));
        double off = 0;
        for (size_t row = 0; row < run->rows; row++) {
            const double th1 = at(reference, row, "th1"), th3 = at(reference, row, "th3");
            off = fmax(off, fabs(sin(0.5 * (at(run, row, "th1") - th1))));
            off = fmax(off, fabs(sin(0.5 * (at(run, row, "th_d") + th3))));
            const V3 wanted = force_in(reference, row, 'C');
            if (pivots[i].name != 'C') continue;
            const V3 found = v3(at(run, row, "lambda.C.x"), at(run, row, "lambda.C.y"),
                                at(run, row, "lambda.C.z"));
            assert_close(v3_dot(found, found), v3_dot(wanted, wanted), 1e-7);
        }
        if (!is_below(off, 1e-9)) fail_msg("cut at %c it is off by %.2g", pivots[i].name, off);
        tr_sheet_free(run);
        free(text);
    }
    tr_sheet_free(reference);
}

// ---- what a cut joint keeps ----------------------------------------------------------------

static tr_system *changed(const char *text, const char *const *changes)
{
    tr_error err = {0};
    tr_model *model = tr_model_parse(text, &err);
    for (; changes[0] && changes[1]; changes += 2)
        tr_model_set(model, changes[0], changes[1], &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_model_free(model);
    if (!system) fail_msg("%d:%d: %s", err.line, err.column, err.text);
    return system;
}

// Springs, dampers, potentials, dissipation and torques act on a joint whether it is cut or not.
static void test_kept(void **state)
{
    (void)state;
    static const char *const changes[] = {"joints/A/stiffness",
                                          "3",
                                          "joints/A/rest",
                                          "0.2",
                                          "joints/B/potential",
                                          "2*cos(th_b - 0.3)",
                                          "joints/C/dissipation",
                                          "0.05*d(th_c)^2",
                                          "joints/C/stiffness",
                                          "1.5",
                                          "joints/D/damping",
                                          "0.1",
                                          "joints/D/potential",
                                          "sin(th_d)",
                                          "roles/th_b/torque",
                                          "0.3*sin(5*t)",
                                          "roles/D/torque",
                                          "0.2",
                                          NULL};
    static const char *const same[] = {"c1",         "s2", "w3", "rate1", "energy.potential",
                                       "energy.work"};
    Sheet *first = NULL;
    for (int i = 0; i < 4; i++) {
        char *text = fourbar_text(pivots[i].name, CUT);
        Sheet *run = run_to(changed(text, changes), 2, 0.1);
        for (size_t k = 0; first && k < sizeof same / sizeof *same; k++) {
            const double off = difference(run, same[k], first, same[k]);
            if (!is_below(off, 1e-9 * (1 + largest(first, same[k]))))
                fail_msg("cut at %c %s is off by %.2g", pivots[i].name, same[k], off);
        }
        for (size_t row = 0; row < run->rows; row++) {
            assert_close(at(run, row, "tau.th_b"), 0.3 * sin(5 * at(run, row, "t")), 1e-12);
            assert_close(at(run, row, "tau.th_d"), 0.2, 1e-12);
        }
        if (first)
            tr_sheet_free(run);
        else
            first = run;
        free(text);
    }
    assert_true(largest(first, "energy.work") > 0.01);
    tr_sheet_free(first);
}

// The mechanism at rest on its springs: it swings alike wherever it is cut.
static void test_modes(void **state)
{
    (void)state;
    static const char *const changes[] = {"joints/A/stiffness",
                                          "2",
                                          "joints/A/rest",
                                          "0.3",
                                          "joints/B/damping",
                                          "0.1",
                                          "joints/C/stiffness",
                                          "3",
                                          "joints/C/damping",
                                          "0.2",
                                          "joints/D/stiffness",
                                          "5",
                                          "joints/D/rest",
                                          "-1.5",
                                          "initial/atan2(crank.R21, crank.R11)",
                                          "0.1",
                                          "initial/crank.wz",
                                          "0",
                                          NULL};
    double first[2][2] = {{0}};
    for (int i = 0; i < 4; i++) {
        char *text = fourbar_text(pivots[i].name, CUT);
        tr_error err = {0};
        tr_system *system = changed(text, changes);
        const tr_steady_options o = tr_steady_defaults();
        tr_steady *steady = tr_steady_find(system, &o, &err);
        if (!steady) fail_msg("cut at %c: %s", pivots[i].name, err.text);
        double modes[2][2];
        assert_int_equal(tr_steady_modes(steady, NULL), 2);
        tr_steady_modes(steady, modes);
        if (!i) memcpy(first, modes, sizeof first);
        for (int k = 0; k < 4; k++) assert_close(modes[k / 2][k % 2], first[k / 2][k % 2], 1e-9);
        tr_steady_free(steady);
        tr_system_free(system);
        free(text);
    }
    assert_true(first[0][0] < -0.01 && first[0][1] > 1);
}

// A joint that must have a coordinate is not cut, whatever it is called by.
static void test_not_cut(void **state)
{
    (void)state;
    static const char *const motions[][3] = {{"roles/th_c/motion", "0.88 + 0.1*sin(t)", NULL},
                                             {"roles/C/motion", "0.88 + 0.1*sin(t)", NULL},
                                             {"couplings/gear/coordinate", "th_c", NULL}};
    for (int i = 0; i < 3; i++) {
        tr_error err = {0};
        char *text = fourbar_text('C', CUT);
        tr_model *model = tr_model_parse(text, &err);
        tr_model_set(model, motions[i][0], motions[i][1], &err);
        if (i == 2) tr_model_set(model, "couplings/gear/equals/th_d", "-0.4", &err);
        tr_system *system = tr_derive(model, NULL, &err);
        if (!system) fail_msg("%s", err.text);
        assert_int_equal(system->cut_count, 1);
        assert_string_not_equal(system->cuts[0], "C");
        tr_system_free(system);
        tr_model_free(model);
        free(text);
    }
}

static void check_start(const char *text, const char *const *changes, const char *output,
                        double wanted)
{
    double value;
    tr_system *system = changed(text, changes);
    evaluate_start(system, output, &value, 1);
    assert_close(value, wanted, 1e-6);
    tr_system_free(system);
}

// The guess of a joint that is cut chooses the branch as well, and its angle is meant up to turns.
static void test_guesses(void **state)
{
    (void)state;
    static const char *const up[] = {"guess/th_c", "0.8", "guess/d(th_c)", "1", NULL};
    static const char *const far[] = {"guess/th_c", "0.8 + 2*pi", NULL};
    static const char *const down[] = {"guess/th_c", "-0.8", "guess/th_c_rate", "1", NULL};
    static const char *const turned[] = {"initial/th1", "-0.6 + 2*pi", NULL};
    char *text = fourbar_text('C', CUT), *oblique = oblique_text('A');
    *strstr(text, "guess:") = 0; // of all the others
    check_start(text, up, "outputs.th_c", 0.88261469);
    check_start(text, far, "outputs.th_c", 0.88261469);
    check_start(text, down, "outputs.th_c", -0.88261469);
    check_start(oblique, turned, "outputs.th1", -0.6);
    free(oblique);
    free(text);
}

// ---- what cannot be ------------------------------------------------------------------------

typedef struct Refusal {
    const char *path, *value; // set in the four-bar linkage, which is cut at C
    const char *more, *more_value;
    const char *words;
} Refusal;

static const Refusal refusals[] = {
    {"loops/E/body", "coupler", "loops/E/on", "coupler", "'E' ties 'coupler' to itself"},
    {"loops/E/kind", "point", NULL, NULL, "'E' names no body"},
    {"joints/F/type", "revolute", NULL, NULL, "the joint 'F' holds no body"},
    {"joints/F/body", "crank", "joints/F/parent", "crank", "'F' joins 'crank' to itself"},
    {"joints/F/body", "crnk", NULL, NULL, "'F' holds 'crnk', which is not a body; did you mean"},
    {"joints/F/body", "crank", "joints/F/parent", "wrld", "'F' hangs from 'wrld', which is not"},
    {"joints/F/body", "crank", "joints/F/parent", "ground",
     "'F' hangs from the ground, which is a plane to roll on; joints stand on 'world'"},
    {"joints/F/body", "tool", "frames/tool/body", "crank",
     "'F' holds 'tool', which is a frame; joints stand on bodies: name its body"},
    {"joints/C/axis", "0, 0, 0", NULL, NULL, "the axis is zero: it has no direction"},
    {"joints/C/type", "hinge", NULL, NULL, "unknown joint type 'hinge'"},
    {"joints/C/type", "ball", NULL, NULL, "a ball joint names no coordinate of its own"},
    {"joints/C/pitch", "0.1", NULL, NULL, "a revolute joint has no use for 'pitch'"},
    {"bodies/crank/parent", "coupler", "bodies/coupler/parent", "crank", "hangs from itself"},
    {"joints/D/type", "ball", NULL, NULL, "a ball joint names no coordinate of its own"},
    {"joints/F/type", "ball", "joints/F/axis", "0, 0, 1", "the joint 'F' holds no body"},
    {"joints/C/stiffness", "1/0", NULL, NULL, "'stiffness' is not finite here"},
    {"loops/C/kind", "point", "loops/C/body", "coupler", "'C' stands in 'loops' and in 'joints'"},
    {"contacts/C/kind", "pin", "contacts/C/body", "coupler",
     "'C' stands in 'contacts' and in 'joints'"},
    {"bodies/ghost/mass", "1", "joints/F/body", "ghost", NULL},
    {"bodies/crank/joint/cut", "true", NULL, NULL, "'cut' is for joints that stand in 'joints'"},
    {"bodies/crank/joint/parent", "rocker", NULL, NULL, "'parent' is for joints that stand in"},
    {"roles/th_c/torque", "1", "roles/C/torque", "2", "'th_c' and 'C' are one joint"},
    {"joints/F.G/body", "crank", NULL, NULL, "'F.G' is not a name for a joint"},
    {"roles/C/torque/vx", "1", NULL, NULL,
     "'C' closes a loop and does not have exactly one coordinate"},
};

static tr_error error_of(tr_model *model)
{
    tr_error err = {0};
    tr_system *system = tr_derive(model, NULL, &err);
    if (system) {
        double *inputs = calloc(tr_input_count(system), sizeof *inputs);
        initial_of(system, inputs, &err);
        free(inputs);
    }
    if (!err.status && system) {
        char *text = tr_check_text(system, false, &err);
        tr_text_free(text);
    }
    tr_system_free(system);
    return err;
}

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const Refusal *r = &refusals[i];
        char *text = fourbar_text('C', CUT);
        tr_error err = {0};
        tr_model *model = tr_model_parse(text, &err);
        tr_model_set(model, r->path, r->value, &err);
        if (r->more) tr_model_set(model, r->more, r->more_value, &err);
        if (err.status) fail_msg("%s: %s", r->path, err.text);
        err = error_of(model);
        if (!r->words)
            assert_int_equal(err.status, TR_OK);
        else if (err.status != TR_INVALID || !strstr(err.text, r->words))
            fail_msg("%s: %s gives %d '%s'", r->path, r->value, err.status, err.text);
        tr_model_free(model);
        free(text);
    }
}

// Texts with what stands in the last line; the place is where it is pointed at.
static const struct {
    const char *line, *words, *pointed;
} lines[] = {
    {"loops: {E: {kind: axis, body: coupler, on: rocker}}", "the axis loop 'E' needs an axis",
     "E: {kind"},
    {"loops: {E: {kind: slider, body: coupler, on: rocker}}", "the slider loop 'E' needs an axis",
     "E: {kind"},
    {"loops: {E: {kind: axis, body: coupler, on: rocker, axis: \"0, 0, 0\"}}",
     "the axis is zero: it has no direction", "0, 0, 0"},
    {"loops: {E: {kind: axis, body: coupler, on: rocker, axis: \"0, 0, 1\", own_axis: \"0, 0, "
     "0\"}}",
     "the own_axis is zero", "0, 0, 0"},
    {"loops: {E: {kind: point, body: coupler, on: rocker, axis: \"0, 0, 1\"}}",
     "a point loop has no use for 'axis'", "0, 0, 1"},
    {"loops: {E: {kind: axis, body: coupler, on: rocker, axis: \"0, 0, 1\", length: 1}}",
     "an axis loop has no use for 'length'", "1}}"},
    {"loops: {E: {kind: slider, body: coupler, on: rocker, axis: \"0, 0, 1\", own_axis: \"1, 0, "
     "0\"}}",
     "a slider loop has no use for 'own_axis'", "1, 0, 0"},
    {"loops: {E: {kind: pose, body: coupler, on: rocker, damping: 1}}",
     "a pose loop has no use for 'damping'", "1}}"},
    {"loops: {E: {kind: hinge, body: coupler, on: rocker}}", "there is no kind 'hinge'", "hinge"},
    {"loops: {E: {kind: axis, body: coupler, on: rocker, axis: \"0, 0, 1\", stiffness: th1}}",
     "'th1' is not a parameter: this must be constant", "th1}}"},
    {"loops: {E: {kind: point, body: coupler, on: rokcer}}",
     "there is no body 'rokcer'; did you mean 'rocker'?", "rokcer"},
    {"loops: {E: {kind: point, body: couplr, on: rocker}}", "there is no body 'couplr'", "couplr"},
    {"loops: {E: {kind: point, body: world, on: rocker}}", "the world is named in 'against'",
     "world"},
    {"frames: {coupler: {body: rocker}}", "'coupler' is a body already", "coupler: {"},
    {"frames: {tip: {body: couplr}}", "there is no body 'couplr'", "couplr"},
    {"frames: {world: {body: rocker}}", "'world' is a reserved name", "world: {"},
    {"frames: {t: {body: rocker}}", "'t' is a reserved name", "t: {body"},
    {"frames: {a.b: {body: rocker}}", "'a.b' is not a name for a frame", "a.b"},
    {"frames: {tip: {body: rocker, at: \"th1, 0, 0\"}}", "this must be constant", "th1, 0"},
    {"frames: {tip: {body: rocker}, top: {body: tip}}", "'tip' is a frame; here stands a body",
     "tip}}"},
    {"frames: {tip: {body: rocker}, top: {body: rocker}}\nloops: {E: {kind: point, body: tip, on: "
     "top}}",
     "'E' ties 'rocker' to itself", "top}}"},
    {"reactions: {minimise: forces}",
     "what is least are the reactions or the torques, not 'forces'", "forces}"},
    {"roles: {th1: {motion: -0.6}, th_b: {motion: 1.8}, th_c: {motion: 0.9}, th_d: {motion: -2}}",
     "every joint of the loop that", NULL},
    {"cases: {all: {hold: [th1, th_b, th_c, th_d]}}", "every joint of the loop that", NULL},
    {"couplings: {one: {coordinate: th1, equals: {th_b: 1}}, two: {coordinate: th_c, equals: "
     "{th_d: "
     "1}}}",
     "every joint of the loop that", NULL},
};

static void test_places(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *head = fourbar_text('C', CUT);
        *strstr(head, "cases:") = 0;
        int line = 1;
        for (const char *c = head; *c; c++) line += *c == '\n';
        for (const char *c = lines[i].line; *c; c++) line += *c == '\n';
        Buffer text = {0};
        tr_buffer_print(&text, "%s%s\n", head, lines[i].line);
        tr_error err = {0};
        tr_model *model = tr_model_parse(text.at, &err);
        if (!model) fail_msg("%s: %s", lines[i].line, err.text);
        err = error_of(model);
        const char *last = strrchr(lines[i].line, '\n');
        last = last ? last + 1 : lines[i].line;
        const char *pointed = lines[i].pointed ? strstr(last, lines[i].pointed) : NULL;
        if (err.status != TR_INVALID || !strstr(err.text, lines[i].words) || err.line != line ||
            (pointed && err.column != (int)(pointed - last) + 1))
            fail_msg("%s gives %d '%s' at %d:%d of line %d", lines[i].line, err.status, err.text,
                     err.line, err.column, line);
        tr_model_free(model);
        tr_buffer_free(&text);
        free(head);
    }
}

// Joints that lead nowhere, or that cannot be crossed from the other side
static const struct {
    const char *joints, *words;
    int line;
} bad_forests[] = {
    {"joints:\n  J: {type: revolute, axis: \"0, 0, 1\", parent: one, body: two}\n",
     "nothing leads from 'one' to the world: a body that floats has a joint of type free", 3},
    {"joints:\n  J: {type: free, parent: one, body: world}\n  K: {parent: one, body: two}\n",
     "the joint 'J' is free: its parent must be the body that is nearer to the world", 6},
    {"joints:\n  J: {type: planar, parent: one, body: world}\n  K: {parent: one, body: two}\n",
     "the joint 'J' is planar: its parent must be the body that is nearer to the world", 6},
    {"joints:\n  J: {type: free, body: one}\n  K: {type: free, body: two}\n"
     "  L: {type: free, parent: one, body: two, potential: one.x}\n",
     "the free joint 'L' closes a loop and holds nothing: it has no use for 'potential'", 8},
    {"joints:\n  J: {type: free, body: one, to: \"1, 0, 0\"}\n  K: {parent: one, body: two}\n",
     "a free joint has no use for 'to'", 6},
    {"joints:\n  J: {type: planar, body: one}\n  K: {parent: one, body: two}\n"
     "  L: {type: planar, body: two, to: \"1, 0, 0\", cut: true}\n",
     "a planar joint has no use for 'to'", 8},
    {"joints:\n  J: {type: ball, body: one}\n  K: {parent: one, body: two}\n"
     "  L: {type: ball, body: two, to: \"0, 0\", cut: true}\n",
     "'to' is 3 formulas", 8},
    {"joints:\n  J: {type: ball, body: one}\n  K: {parent: one, body: two}\n"
     "  L: {type: ball, body: two, at: \"0, 0\", cut: true}\n",
     "'at' is 3 formulas", 8},
    {"joints:\n  J: {type: ball, body: one}\n  K: {parent: one, body: two}\n"
     "  L: {type: ball, body: two, stiffness: 3, cut: true}\n",
     "'stiffness' needs a joint with one coordinate; use potential here", 8},
    {"joints:\n  J: {type: ball, body: one}\n  K: {parent: one, body: two}\n"
     "  L: {type: ball, body: two, coordinate: x, cut: true}\n",
     "a ball joint names no coordinate of its own", 8},
    {"joints:\n  J: {type: revolute, body: one, axis: \"0, 0, 1\"}\n"
     "  K: {parent: one, body: two}\n"
     "  L: {type: revolute, body: two, axis: \"0, 0, 1\", base: true, cut: true}\n",
     "'L' closes a loop, so it is no base: write cut: true at another joint of the loop", 8},
    {"joints:\n  J: {type: revolute, body: one, axis: \"0, 0, 1\"}\n"
     "  K: {type: revolute, body: two, axis: \"0, 0, 1\", coordinate: J}\n",
     "taken", 7},
    {"joints:\n  J: {type: revolute, body: one, axis: \"0, 0, 1\"}\n"
     "  K: {parent: one, body: two}\n"
     "  L: {type: revolute, body: two, axis: \"0, 0, 1\", coordinate: J, cut: true}\n",
     "taken", 8},
};

static void test_forests(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_forests / sizeof *bad_forests; i++) {
        Buffer text = {0};
        tr_buffer_print(&text,
                        "trundle: 1\nbodies:\n"
                        "  one: {mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
                        "  two: {mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n%s",
                        bad_forests[i].joints);
        tr_error err = {0};
        tr_model *model = tr_model_parse(text.at, &err);
        if (!model) fail_msg("%s", err.text);
        err = error_of(model);
        if (err.status != TR_INVALID || !strstr(err.text, bad_forests[i].words) ||
            err.line != bad_forests[i].line)
            fail_msg("%s gives %d '%s' in line %d", bad_forests[i].joints, err.status, err.text,
                     err.line);
        tr_model_free(model);
        tr_buffer_free(&text);
    }
}

// The crank stands still, and coupler and rocker do not reach from its end to the ground: the gap
// that is left at best is told, and what it is in.
static void test_gaps(void **state)
{
    (void)state;
    static const struct {
        const char *path, *value, *element;
        char where;
        Closing closing;
        double base, coupler;
    } linkages[] = {
        {"parameters/base", "2.5", "C", 'C', CUT, 2.5, 0.9},
        {"parameters/base", "2.5", "E", 'C', POINT, 2.5, 0.9},
        {"parameters/base", "2.1234", "E", 'A', AXIS, 2.1234, 0.9},
        {"parameters/b", "2.75", "D", 'D', CUT, 1, 2.75},
        {"parameters/b", "0.001", "B", 'B', CUT, 1, 0.001},
    };
    for (size_t i = 0; i < sizeof linkages / sizeof *linkages; i++) {
        const double reach = hypot(linkages[i].base - A * cos(0.6), A * sin(0.6)),
                     b = linkages[i].coupler;
        const double wanted = fmax(reach - b - C, fabs(b - C) - reach);
        char *text = fourbar_text(linkages[i].where, linkages[i].closing), words[60];
        tr_error err = {0};
        tr_model *model = tr_model_parse(text, &err);
        tr_model_set(model, linkages[i].path, linkages[i].value, &err);
        if (err.status) fail_msg("%s", err.text);
        err = error_of(model);
        snprintf(words, sizeof words, "'%s' stays open by ", linkages[i].element);
        const char *found = strstr(err.text, words);
        const double gap = found ? atof(found + strlen(words)) : (double)NAN;
        if (err.status != TR_INVALID || err.line <= 0 ||
            !is_below(fabs(gap - wanted), 1e-3 * wanted))
            fail_msg("%s: the gap is %.6g, not %.6g: %s", linkages[i].value, gap, wanted, err.text);
        tr_model_free(model);
        free(text);
    }
}

// Two rods that hold one point at two places
static void test_contradiction(void **state)
{
    (void)state;
    static const char *const text =
        "trundle: 1\n"
        "bodies: {bar: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: \"0.5, 0, 0\"}}\n"
        "loops:\n"
        "  one: {kind: point, body: bar, at: \"1, 0, 0\", to: \"0, 1, 0\"}\n"
        "  two: {kind: point, body: bar, at: \"1, 0, 0\", to: \"1, 0, 0\"}\n";
    tr_error err = {0};
    tr_model *model = tr_model_parse(text, &err);
    err = error_of(model);
    tr_model_free(model);
    assert_int_equal(err.status, TR_INVALID);
    assert_true(err.line == 4 || err.line == 5);
    assert_says(err.text, "cannot all hold");
    assert_says(err.text, "one.");
    assert_says(err.text, "two.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fourbar),       cmocka_unit_test(test_fourbar_words),
        cmocka_unit_test(test_choice),        cmocka_unit_test(test_oblique),
        cmocka_unit_test(test_kept),          cmocka_unit_test(test_modes),
        cmocka_unit_test(test_not_cut),       cmocka_unit_test(test_guesses),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_places),
        cmocka_unit_test(test_forests),       cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_contradiction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
