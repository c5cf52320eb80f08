// SPDX-License-Identifier: Apache-2.0
// Feet that slide on heights and spheres, against beads on wires and each other; what formulas know
// of contacts on such ground; and ground that a foot falls on.
#include "rolling.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

// ---- beads ---------------------------------------------------------------------------------

// A mass without size, on a foot of its own
static tr_system *bead_on(const char *ground, const char *contact, const char *initial,
                          const char *more)
{
    char text[1500];
    const int length = snprintf(
        text, sizeof text,
        "trundle: 1\n"
        "ground: {%s}\n"
        "bodies:\n"
        "  along: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n"
        "  aside: {parent: along, joint: {type: prismatic, axis: \"0, 1, 0\", coordinate: y}}\n"
        "  bead: {parent: aside, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}, mass: "
        "0.5}\n"
        "%s"
        "contacts: {foot: {kind: slide, body: bead%s}}\n"
        "initial: {%s}\n",
        ground, more, contact, initial);
    assert_true(length < (int)sizeof text);
    return system_from(text);
}

// z = a x^2: (1 + 4 a^2 x^2) x'' + 4 a^2 x x'^2 + 2 a g x = 0, by Runge's method in small steps
static void bead_rate(double a, const double y[2], double out[2])
{
    out[0] = y[1];
    out[1] = -(4 * a * a * y[0] * y[1] * y[1] + 2 * a * g * y[0]) / (1 + 4 * a * a * y[0] * y[0]);
}

static void step_bead(double a, double h, double y[2])
{
    double k[4][2], at[2];
    for (int i = 0; i < 4; i++) {
        const double share = i == 0 ? 0 : i < 3 ? h / 2 : h;
        for (int j = 0; j < 2; j++) at[j] = y[j] + (i ? share * k[i - 1][j] : 0);
        bead_rate(a, at, k[i]);
    }
    for (int j = 0; j < 2; j++) y[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
}

// Across a channel, and N = m (g + z'') w with z'' = 2 a (x'^2 + x x'')
static void test_bead_in_channel(void **state)
{
    (void)state;
    const double a = 0.7;
    Sheet *run =
        run_to(bead_on("height: 0.7*x^2", "", "x: 0.8, y: 0, d(x): 0, d(y): 0.3", ""), 2, 0.05);
    double y[] = {0.8, 0}, rate[2];
    for (size_t i = 0; i < run->rows; i++) {
        bead_rate(a, y, rate);
        const double w = sqrt(1 + 4 * a * a * y[0] * y[0]),
                     up = 2 * a * (y[1] * y[1] + y[0] * rate[1]);
        assert_close(at(run, i, "x"), y[0], 1e-9);
        assert_close(at(run, i, "y"), 0.3 * at(run, i, "t"), 1e-10);
        assert_close(at(run, i, "z"), a * y[0] * y[0], 1e-9);
        assert_close(at(run, i, "lambda.foot.normal"), 0.5 * (g + up) * w, 1e-7);
        assert_close(at(run, i, "contact.foot.nx"), -2 * a * y[0] / w, 1e-9);
        assert_close(at(run, i, "contact.foot.ny"), 0, 1e-12);
        assert_close(at(run, i, "contact.foot.nz"), 1 / w, 1e-9);
        for (int k = 0; k < 500; k++) step_bead(a, 1e-4, y);
    }
    tr_sheet_free(run);
}

// A bead inside a sphere is a pendulum
static void test_bead_in_sphere(void **state)
{
    (void)state;
    static const char *const pendulum = "trundle: 1\n"
                                        "bodies: {rod: {joint: {type: revolute, axis: \"0, 1, 0\", "
                                        "coordinate: a}, mass: 0.5, com: \"0, "
                                        "0, -1.2\"}}\n"
                                        "initial: {a: -1, d(a): 0}\n";
    static const char *const grounds[] = {"", ", on: ground"};
    Sheet *swing = run_to(system_from(pendulum), 2, 0.05);
    for (size_t k = 0; k < COUNT(grounds); k++) {
        char contact[100], initial[100];
        snprintf(contact, sizeof contact, ", surface: {kind: sphere, radius: -1.2}%s", grounds[k]);
        snprintf(initial, sizeof initial, "x: 1.2*sin(1), y: 0, d(x): 0, d(y): 0}\nguess: {z: -1");
        Sheet *run = run_to(bead_on("", contact, initial, ""), 2, 0.05);
        for (size_t i = 0; i < run->rows; i++) {
            const double a = at(swing, i, "a"), w = at(swing, i, "a_rate");
            assert_close(at(run, i, "x"), -1.2 * sin(a), 1e-9);
            assert_close(at(run, i, "z"), -1.2 * cos(a), 1e-9);
            assert_close(at(run, i, "lambda.foot.normal"), 0.5 * (g * cos(a) + 1.2 * w * w), 1e-8);
        }
        tr_sheet_free(run);
    }
    tr_sheet_free(swing);
}

// Small motions in a bowl: 2 a g and 2 b g are the squares of what it swings with
static void test_modes(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system =
        bead_on("height: 0.5*x^2 + 0.8*y^2", "", "x: 0, y: 0, d(x): 0, d(y): 0", "");
    tr_steady_options o = tr_steady_defaults();
    tr_steady *steady = tr_steady_find(system, &o, &err);
    if (!steady) fail_msg("%s", err.text);
    double modes[10][2];
    const size_t count = tr_steady_modes(steady, modes);
    int slow = 0, fast = 0;
    for (size_t i = 0; i < count; i++) {
        slow += fabs(fabs(modes[i][1]) - sqrt(g)) < 1e-9;
        fast += fabs(fabs(modes[i][1]) - sqrt(1.6 * g)) < 1e-9;
    }
    assert_int_equal(slow, 2);
    assert_int_equal(fast, 2);
    tr_steady_free(steady);
    tr_system_free(system);
}

// ---- all ways to say the same --------------------------------------------------------------

typedef struct Way {
    const char *ground, *contact;
} Way;

static Sheet *body_on(const Way *way, const char *contact)
{
    char text[1500];
    const int length = snprintf(
        text, sizeof text,
        "trundle: 1\n"
        "ground: {%s}\n"
        "bodies:\n"
        "  plate: {joint: {type: fixed}}\n"
        "  b: {joint: {type: free}, mass: 1, inertia: {axial: 0.005, radial: 0.004, axis: \"0, 1, "
        "0\"}}\n"
        "  hub: {parent: b, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: spin}, mass: "
        "0.5, "
        "inertia: {axial: 0.002, radial: 0.001}}\n"
        "contacts: {foot: {%s%s}}\n"
        "initial: {b.x: 0.1, b.y: 0.1, b.qx: 0.05, b.qy: 0, b.qz: 0.1, b.wx: 0.1, b.wy: 3, b.wz: "
        "0.4, spin: 0, d(spin): 2}\n"
        "guess: {b.z: 0.1}\n",
        way->ground, contact, way->contact);
    assert_true(length < (int)sizeof text);
    return run_to(system_from(text), 0.3, 0.02);
}

// A height of the ground, of a surface on it, and of one on a body that stands still
static void test_ways(void **state)
{
    (void)state;
#define SHAPE "height: 0.3*x^2 + 0.1*y"
    static const Way ways[] = {{SHAPE, ""},
                               {SHAPE, ", on: ground"},
                               {"", ", surface: {" SHAPE "}"},
                               {"", ", on: ground, surface: {" SHAPE "}"},
                               {"", ", on: plate, surface: {" SHAPE "}"},
                               {"height: 5 + x", ", on: plate, surface: {" SHAPE "}"}};
    static const char *const contacts[] = {
        "kind: rolling, body: hub, radius: 0.1",
        "kind: rolling, body: hub, radius: 0.1, at: \"0, 0.05, 0\"",
        "kind: rolling, body: hub, radius: 0.1, tube: 0.02",
        "kind: rolling, body: b, radius: 0.1, axis: \"0, 1, 0\"",
        "kind: rolling, body: b, shape: ball, radius: 0.1",
        "kind: rolling, body: b, shape: ball, at: \"0.03, 0, 0.01\", radius: 0.1",
        "kind: slide, body: b, at: \"0, 0, -0.1\"",
        "kind: slide, body: hub, at: \"0, 0, -0.1\""};
    for (size_t c = 0; c < COUNT(contacts); c++) {
        Sheet *first = body_on(&ways[0], contacts[c]);
        for (size_t i = 1; i < COUNT(ways); i++) {
            Sheet *other = body_on(&ways[i], contacts[c]);
            double off = 0;
            static const char *const names[] = {"b.x",  "b.y",  "b.z",
                                                "b.qx", "spin", "lambda.foot.normal"};
            for (size_t k = 0; k < COUNT(names); k++)
                off = fmax(off, difference(first, names[k], other, names[k]));
            print_message("%s%s: %.1e\n", contacts[c], ways[i].contact, off);
            assert_below(off, 1e-9);
            tr_sheet_free(other);
        }
        tr_sheet_free(first);
    }
}

// A sphere likewise, and as a height where it is one
static void test_spheres(void **state)
{
    (void)state;
    static const Way ways[] = {
        {"height: 1.2 - sqrt(1.44 - x^2 - y^2)", ""},
        {"", ", to: \"0, 0, 1.2\", surface: {kind: sphere, radius: -1.2}"},
        {"", ", to: \"0, 0, 1.2\", surface: {kind: sphere, radius: -1.2}, on: ground"},
        {"", ", to: \"0, 0, 1.2\", surface: {kind: sphere, radius: -1.2}, on: plate"}};
    static const char *const contacts[] = {
        "kind: rolling, body: b, radius: 0.1, tube: 0.03, axis: \"0, 1, 0\"",
        "kind: rolling, body: b, shape: ball, radius: 0.1",
        "kind: slide, body: b, at: \"0, 0, -0.1\""};
    for (size_t c = 0; c < COUNT(contacts); c++) {
        Sheet *first = body_on(&ways[0], contacts[c]);
        for (size_t i = 1; i < COUNT(ways); i++) {
            Sheet *other = body_on(&ways[i], contacts[c]);
            static const char *const names[] = {"b.x",
                                                "b.y",
                                                "b.z",
                                                "b.qx",
                                                "lambda.foot.normal",
                                                "contact.foot.nx",
                                                "contact.foot.margin"};
            for (size_t k = 0; k < COUNT(names); k++)
                assert_below(difference(first, names[k], other, names[k]), 1e-9);
            tr_sheet_free(other);
        }
        tr_sheet_free(first);
    }
}

// ---- that fly and land ---------------------------------------------------------------------

// Thrown over waves, a foot lands where the parabola meets them; upright distance has the same root
static void test_landing(void **state)
{
    (void)state;
    double low = 0, high = 0;
    for (double t = 1e-3; high == 0; t += 1e-3) // the first
        if (0.5 + 2 * t - g * t * t / 2 < 0.3 * sin(5 * (0.1 + 3 * t))) high = t, low = t - 1e-3;
    for (int i = 0; i < 60; i++) {
        const double t = (low + high) / 2;
        *(0.5 + 2 * t - g * t * t / 2 < 0.3 * sin(5 * (0.1 + 3 * t)) ? &high : &low) = t;
    }
    tr_summary s = {0};
    tr_sheet_free(run_with(bead_on("height: 0.3*sin(5*x)", ", unilateral: true, open: true",
                                   "x: 0.1, y: 0, z: 0.5, d(x): 3, d(y): 0, d(z): 2", ""),
                           low + 0.05, 0.01, &s));
    char *json = certificate();
    const char *touches = strstr(json, "touches"), *before = NULL;
    assert_non_null(touches);
    for (const char *c = json; (c = strstr(c, "\"t\": ")) && c < touches; c++) before = c;
    assert_non_null(before);
    assert_close(strtod(before + 5, NULL), low, 1e-9);
    free(json);
}

// On a table that is driven up and down, the force is that of the motion.
static void test_moving_table(void **state)
{
    (void)state;
    Sheet *run = run_to(
        bead_on(
            "", ", on: table, surface: {height: 0.4*x^2}", "x: 0, y: 0, d(x): 0, d(y): 0",
            "  table: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: lift}, mass: 1}\n"
            "roles: {lift: {motion: 0.1*sin(3*t)}}\n"),
        2, 0.05);
    for (size_t i = 0; i < run->rows; i++) {
        const double t = at(run, i, "t");
        assert_close(at(run, i, "z"), 0.1 * sin(3 * t), 1e-10);
        assert_close(at(run, i, "lambda.foot.normal"), 0.5 * (g - 0.9 * sin(3 * t)), 1e-9);
    }
    tr_sheet_free(run);
}

// ---- names ---------------------------------------------------------------------------------

// Rates of where it touches, against differences of rows close by; a normal inside a force
static void test_names(void **state)
{
    (void)state;
    tr_model *model = model_called("tyre_on_bump");
    change(model, "outputs/rate_x", "d(contact.tyre.x)");
    change(model, "outputs/rate_y", "d(contact.tyre.y)");
    change(model, "outputs/rate_z", "d(contact.tyre.z)");
    change(model, "outputs/unit", "contact.tyre.nx^2 + contact.tyre.ny^2 + contact.tyre.nz^2");
    const double h = 1e-3;
    Sheet *run = run_with(system_of(model, NULL), 0.5, h, NULL);
    double fastest = 0;
    for (size_t i = 2; i + 2 < run->rows; i++)
        for (int k = 0; k < 3; k++) {
            const char name[] = {'c', 'o', 'n', 't', 'a', 'c',      't', '.',
                                 't', 'y', 'r', 'e', '.', "xyz"[k], 0},
                       rate[] = {'r', 'a', 't', 'e', '_', "xyz"[k], 0};
            const double d = (8 * (at(run, i + 1, name) - at(run, i - 1, name)) -
                              (at(run, i + 2, name) - at(run, i - 2, name))) /
                             (12 * h);
            assert_close(at(run, i, rate), d, 1e-8);
            assert_close(at(run, i, "unit"), 1, 1e-14);
            fastest = fmax(fastest, fabs(d));
        }
    assert_true(fastest > 0.1);
    tr_sheet_free(run);
}

// A spring that pulls by the slope below a wheel does what its closed form does
static void test_names_in_forces(void **state)
{
    (void)state;
    static const char *const format =
        "trundle: 1\n"
        "ground: {height: 0.1*x^2}\n"
        "bodies:\n"
        "  rail: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n"
        "  lift: {parent: rail, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}}\n"
        "  disc: {parent: lift, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: spin}, "
        "mass: 2, "
        "inertia: {axial: 0.09, radial: 0.045}}\n"
        "contacts: {rim: {kind: rolling, body: disc, radius: 0.3, lateral: free}}\n"
        "roles: {spin: {torque: %s}}\n"
        "initial: {contact.rim.x: -1, spin: 0, d(spin): 3}\n"
        "guess: {z: 0.3}\n";
    static const char *const torques[] = {
        "contact.rim.nx + contact.rim.nz*contact.rim.margin",
        "\"-0.2*contact.rim.x/sqrt(1 + (0.2*contact.rim.x)^2) + (1 - 0.3*0.2/(1 + "
        "(0.2*contact.rim.x)^2)^1.5)/sqrt(1 + (0.2*contact.rim.x)^2)\""};
    Sheet *runs[2];
    for (int k = 0; k < 2; k++) {
        char text[1500];
        snprintf(text, sizeof text, format, torques[k]);
        runs[k] = run_to(system_from(text), 1, 0.05);
    }
    assert_below(difference(runs[0], "x", runs[1], "x"), 1e-10);
    assert_below(difference(runs[0], "lambda.rim.normal", runs[1], "lambda.rim.normal"), 1e-9);
    tr_sheet_free(runs[0]);
    tr_sheet_free(runs[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bead_in_channel), cmocka_unit_test(test_bead_in_sphere),
        cmocka_unit_test(test_modes),           cmocka_unit_test(test_ways),
        cmocka_unit_test(test_spheres),         cmocka_unit_test(test_landing),
        cmocka_unit_test(test_moving_table),    cmocka_unit_test(test_names),
        cmocka_unit_test(test_names_in_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
