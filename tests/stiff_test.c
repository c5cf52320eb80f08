// SPDX-License-Identifier: Apache-2.0
// Stiff systems: backward differences take far fewer steps, and give the same; and the explicit
// method says when that is so, and only then.
#include "base/file.h"
#include "base/json.h"
#include "runs.h"

typedef struct Ran {
    tr_summary summary;
    Sheet *sheet;
    char *certificate;
    int told; // times that it gave advice
} Ran;

static void count_advice(void *owner, const char *words)
{
    assert_non_null(strstr(words, "--method bdf would need far fewer"));
    ++*(int *)owner;
}

// `end` 0: as the case has it. The system is freed.
static Ran ran(tr_system *system, const char *method, double end, double every, double rtol)
{
    Ran r = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    o.method = method, o.rtol = rtol, o.atol = rtol / 100;
    o.say = count_advice, o.owner = &r.told;
    if (end > 0) o.end = end, o.every = every;
    r.sheet = simulated(system, o, &r.summary);
    r.certificate = certificate();
    tr_system_free(system);
    print_message("%-4s rtol %.0e: %7zu steps, %8zu evaluations, %5zu jacobians\n", method, rtol,
                  r.summary.steps, r.summary.evaluations, r.summary.jacobians);
    return r;
}

static void forget(Ran *r)
{
    tr_sheet_free(r->sheet);
    free(r->certificate);
}

// The worst difference of any column, to the largest of it or to 1
static double apart(const Ran *a, const Ran *b)
{
    double worst = 0;
    assert_int_equal(a->sheet->columns, b->sheet->columns);
    for (uint32_t k = 0; k < a->sheet->columns; k++) {
        const char *name = a->sheet->names[k];
        const double size = fmax(1, largest(a->sheet, name));
        worst = fmax(worst, difference(a->sheet, name, b->sheet, name) / size);
    }
    return worst;
}

static int count_words(const char *text, const char *words)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, words)); at += strlen(words)) count++;
    return count;
}

// ---- what it saves -------------------------------------------------------------------------

static void test_train(void **state)
{
    (void)state;
    Ran exact = ran(system_called("stiff_train", "shunt"), "erk", 2, 0.02, 1e-12);
    Ran erk = ran(system_called("stiff_train", "shunt"), "erk", 2, 0.02, 1e-10);
    Ran bdf = ran(system_called("stiff_train", "shunt"), "bdf", 2, 0.02, 1e-10);
    assert_true(erk.summary.evaluations > 100 * bdf.summary.evaluations);
    assert_below(apart(&exact, &bdf), 1e-9);
    assert_below(bdf.summary.energy_error, 1e-10);
    assert_true(bdf.summary.jacobians > 0 && 10 * bdf.summary.jacobians < bdf.summary.steps);
    assert_int_equal(erk.summary.jacobians, 0);
    // in words, once, and where it is true
    static const char words[] = "--method bdf would need far fewer";
    assert_int_equal(erk.told, 1);
    assert_int_equal(count_words(erk.summary.advice, words), 1);
    assert_int_equal(count_words(erk.certificate, words), 1);
    assert_int_equal(bdf.told, 0);
    assert_string_equal(bdf.summary.advice, "");
    assert_int_equal(count_words(bdf.certificate, words), 0);
    assert_int_equal(count_words(bdf.certificate, "\"method\": \"bdf\""), 1);
    assert_int_equal(count_words(bdf.certificate, "\"jacobians\": "), 1);
    forget(&exact);
    forget(&erk);
    forget(&bdf);
}

// The case's own method
static void test_method_of_a_case(void **state)
{
    (void)state;
    tr_system *system = system_called("stiff_train", "shunt");
    assert_string_equal(tr_simulate_defaults(system).method, "bdf");
    tr_system_free(system);
}

static void test_tolerances(void **state)
{
    (void)state;
    static const double rtol[] = {1e-4, 1e-6, 1e-8, 1e-10};
    Ran exact = ran(system_called("stiff_train", "shunt"), "erk", 1, 0.02, 1e-12);
    double last = 1;
    size_t last_steps = 0;
    for (int i = 0; i < 4; i++) {
        Ran r = ran(system_called("stiff_train", "shunt"), "bdf", 1, 0.02, rtol[i]);
        const double error = apart(&exact, &r);
        assert_true(error < last);
        assert_below(error, 10 * rtol[i]);
        assert_true(r.summary.steps > last_steps);
        last = error, last_steps = r.summary.steps;
        forget(&r);
    }
    forget(&exact);
}

// ---- no advice where it would not help -----------------------------------------------------

static void test_no_advice(void **state)
{
    (void)state;
    static const struct {
        const char *model, *case_name;
        double end, every;
    } rows[] = {{"bicycle", "free", 20, 0.01},  // many steps, but as accuracy wants them
                {"bicycle", "free", 3, 0.0005}, // rows make them short
                {"four_bar", "turns", 10, 0.05},      {"double_pendulum", "damped", 20, 0.05},
                {"spinning_top", "looping", 3, 0.05}, {"turntable", "circle", 10, 0.05}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Ran r = ran(system_called(rows[i].model, rows[i].case_name), "erk", rows[i].end,
                    rows[i].every, 1e-10);
        assert_true(r.summary.steps > 2500);
        assert_int_equal(r.told, 0);
        assert_string_equal(r.summary.advice, "");
        assert_int_equal(count_words(r.certificate, "--method"), 0);
        forget(&r);
    }
}

// ---- fast, and hardly damped ---------------------------------------------------------------

static const char ringing[] =
    "trundle: 1\n"
    "parameters: {w: 1e4, zeta: 0.01, m: 0.01, k: m*w^2, c: 2*zeta*w*m}\n"
    "bodies:\n"
    "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x, stiffness: 20,"
    " damping: 0.5}, mass: 2}\n"
    "  bell: {parent: cart, joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: a,"
    " stiffness: k, damping: c}, mass: m}\n"
    "  pole: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: phi}, mass: 0.3,"
    " com: \"0, 0, -0.5\"}\n"
    "initial: {x: 0.2, phi: 0.5}\n";

// Orders above 2 are unstable with long steps there, and those below need short ones where much
// accuracy is asked for: what is better is found out, and so is what to advise.
static void test_hardly_damped(void **state)
{
    (void)state;
    static const struct {
        const char *damping;
        double rtol, saves; // at least
        bool advised;
    } rows[] = {{"zeta=0.01", 1e-4, 8, true}, // order 2
                {"zeta=0.01", 1e-6, 4, false},
                {"zeta=0.01", 1e-10, 2, false}, // orders up to 5, with short steps
                {"zeta=0.7", 1e-4, 100, true},
                {"zeta=0.7", 1e-10, 30, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Ran erk = ran(system_set(model_from(ringing), NULL, rows[i].damping), "erk", 2, 0.02,
                      rows[i].rtol);
        Ran bdf = ran(system_set(model_from(ringing), NULL, rows[i].damping), "bdf", 2, 0.02,
                      rows[i].rtol);
        const double saved = (double)erk.summary.evaluations / (double)bdf.summary.evaluations;
        print_message("%s: %.0f times fewer, apart %.1e\n", rows[i].damping, saved,
                      apart(&erk, &bdf));
        assert_true(saved >= rows[i].saves);
        assert_int_equal(erk.told, rows[i].advised);
        assert_below(difference(erk.sheet, "phi", bdf.sheet, "phi"), 30 * rows[i].rtol);
        forget(&erk);
        forget(&bdf);
    }
}

// ---- constraints ---------------------------------------------------------------------------

static void test_constraints(void **state)
{
    (void)state;
    static const struct {
        const char *model, *case_name;
        double end, times;                     // that the tolerance is exceeded at most
    } rows[] = {{"four_bar", "swing", 5, 100}, // from chart to chart
                {"four_bar", "turns", 2, 1000},    {"bicycle", "free", 10, 3},
                {"bicycle", "turn", 5, 3},         {"bricard", "turn", 2, 100},
                {"car_trapezoid", "turn", 8, 30}, // states of tyres, and a loop close to rounding
                {"spinning_top", "looping", 2, 10}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < (BRIEF ? 1 : 2); k++) {
            const double rtol = k ? 1e-10 : 1e-6;
            print_message("%s %s\n", rows[i].model, rows[i].case_name);
            Ran exact = ran(system_called(rows[i].model, rows[i].case_name), "erk", rows[i].end,
                            0.05, 1e-12);
            Ran bdf = ran(system_called(rows[i].model, rows[i].case_name), "bdf", rows[i].end, 0.05,
                          rtol);
            const double off = apart(&exact, &bdf);
            print_message("apart %.1e\n", off);
            assert_below(off, rows[i].times * rtol);
            assert_below(bdf.summary.position_error, 1e-13);
            assert_below(bdf.summary.velocity_error, 1e-12);
            assert_below(bdf.summary.kkt_error, 1e-10);
            assert_int_equal(bdf.summary.chart_changes, exact.summary.chart_changes);
            forget(&exact);
            forget(&bdf);
        }
}

// Without projection positions drift, as they do with every method.
static void test_no_projection(void **state)
{
    (void)state;
    double off[2];
    for (int k = 0; k < 2; k++) {
        tr_system *system = system_called("four_bar", "swing");
        tr_simulate_options o = tr_simulate_defaults(system);
        tr_error err = {0};
        tr_summary s;
        o.method = "bdf", o.rtol = 1e-6, o.atol = 1e-8, o.no_project = k;
        assert_true(tr_simulate(system, &o, &s, &err));
        off[k] = s.position_error;
        tr_system_free(system);
    }
    assert_true(off[1] >= 1e-9);
    assert_below(off[0], 1e-14);
    assert_below(off[1], 1e-4);
}

// ---- events --------------------------------------------------------------------------------

// Times and kinds are the same.
static void compare_events(const Ran *a, const Ran *b, double tolerance)
{
    const Text one = tr_json_member((Text){a->certificate, strlen(a->certificate)}, "events");
    const Text other = tr_json_member((Text){b->certificate, strlen(b->certificate)}, "events");
    uint32_t count = 0;
    for (Text x; (x = tr_json_item(one, count)).at; count++) {
        const Text y = tr_json_item(other, count);
        assert_non_null(y.at);
        const Text kind = tr_json_member(x, "kind"), same = tr_json_member(y, "kind");
        assert_true(text_equal(kind, same));
        assert_close(strtod(tr_json_member(x, "t").at, NULL),
                     strtod(tr_json_member(y, "t").at, NULL), tolerance);
    }
    assert_null(tr_json_item(other, count).at);
    assert_int_equal(count, a->summary.switches);
    assert_true(count > 0);
}

static void test_events(void **state)
{
    (void)state;
    static const struct {
        const char *model, *case_name;
        double end;
    } rows[] = {{"hopping_wheel", "hop", 5},
                {"hopping_wheel", "bouncy", 5},
                {"stick_slip", "creak", 5},
                {"stick_slip", "release", 5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Ran erk =
            ran(system_called(rows[i].model, rows[i].case_name), "erk", rows[i].end, 0.01, 1e-12);
        Ran bdf =
            ran(system_called(rows[i].model, rows[i].case_name), "bdf", rows[i].end, 0.01, 1e-10);
        compare_events(&erk, &bdf, 1e-7); // those of the last, slow impacts; else less
        assert_below(apart(&erk, &bdf), 1e-7);
        assert_below(bdf.summary.position_error, 1e-13);
        forget(&erk);
        forget(&bdf);
    }
}

// A stiff block on a plate that shakes: steps are so long that going over them again by an explicit
// method would explode.
static void test_stiff_events(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "bodies:\n"
        "  plate: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: h}, mass: 1}\n"
        "  block: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}, mass: 6}\n"
        "  filling: {parent: block, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: s,"
        " stiffness: 1e7, damping: 1e5}, mass: 0.02}\n"
        "contacts: {foot: {kind: slide, body: block, on: plate, unilateral: true}}\n"
        "roles: {h: {motion: 0.03*sin(25*t)}}\n";
    Ran erk = ran(system_from(text), "erk", 0.3, 0.01, 1e-9);
    Ran bdf = ran(system_from(text), "bdf", 0.3, 0.01, 1e-9);
    compare_events(&erk, &bdf, 1e-9);
    assert_true(erk.summary.evaluations > 100 * bdf.summary.evaluations);
    assert_below(apart(&erk, &bdf), 1e-6); // of a force that jumps; else less
    assert_below(difference(erk.sheet, "z", bdf.sheet, "z"), 1e-9);
    forget(&erk);
    forget(&bdf);
}

// Where the constraints change their rank, it ends as other methods do, wherever its steps end.
static void test_rank(void **state)
{
    (void)state;
    static const struct {
        const char *model, *case_name;
        double t;
    } rows[] = {{"snakeboard_wide", "touch", 0.785398163}, // pi/4
                {"snakeboard_wide", "across", 0.589203256},
                {"parallelogram", "over", 0.106398981}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (double rtol = 1e-5; rtol > 1e-12; rtol /= 10) {
            tr_error err = {0};
            tr_system *system = system_called(rows[i].model, rows[i].case_name);
            tr_simulate_options o = tr_simulate_defaults(system);
            o.method = "bdf", o.rtol = rtol, o.atol = rtol / 100;
            assert_false(tr_simulate(system, &o, NULL, &err));
            const char *words = strstr(err.text, "the constraints change their rank at t = ");
            assert_non_null(words);
            assert_close(strtod(strstr(words, "t = ") + 4, NULL), rows[i].t, fmax(1e-7, rtol));
            tr_system_free(system);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_train),         cmocka_unit_test(test_method_of_a_case),
        cmocka_unit_test(test_tolerances),    cmocka_unit_test(test_no_advice),
        cmocka_unit_test(test_hardly_damped), cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_no_projection), cmocka_unit_test(test_events),
        cmocka_unit_test(test_stiff_events),  cmocka_unit_test(test_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
