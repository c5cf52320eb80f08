// SPDX-License-Identifier: Apache-2.0
// Rotors of motors against bodies that turn as they do, and torques that have limits against closed
// forms.
#include "latches.h"

// ---- rotors --------------------------------------------------------------------------------

// A rotor that a coupling turns, about a parallel axis of the world, has the same energy as an
// armature: arms of two joints that swing, with a screw and a slider on them.
#define ARM(first, second, third, more)                                                           \
    "trundle: 1\n"                                                                                \
    "parameters: {l: 0.5, m: 1, n: 6, J: 0.03}\n"                                                 \
    "bodies:\n"                                                                                   \
    "  upper: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a" first "}, mass: m,"      \
    " com: \"0.1, 0, -l\", inertia: {xx: 0.1, yy: 0.12, zz: 0.05}}\n"                             \
    "  lower: {parent: upper, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, 0, -l\","       \
    " coordinate: b" second "}, mass: m, com: \"0, 0, -l\"}\n"                                    \
    "  tip: {parent: lower, joint: {type: screw, axis: \"1, 0, 1\", pitch: 0.2, coordinate: "     \
    "c" third "}, mass: 0.3, com: \"0, 0.1, 0\", inertia: {xx: 0.01, yy: 0.01, zz: 0.01}}\n" more \
    "initial: {a: 2, b: 0.5, c: 0, d(a): 1, d(b): -2, d(c): 3}\n"

#define ROTORS                                                                                  \
    "  r1: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: ra}, inertia: {yy: J}}\n"    \
    "  r2: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: rb}, inertia: {yy: J}}\n"    \
    "  r3: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: rc}, inertia: {yy: J/10}}\n" \
    "couplings:\n"                                                                              \
    "  ca: {coordinate: ra, equals: {a: 2}}\n"                                                  \
    "  cb: {coordinate: rb, equals: {b: n}}\n"                                                  \
    "  cc: {coordinate: rc, equals: {c: 1}}\n"

static const char armatures[] =
    ARM(", armature: J, ratio: 2", ", armature: J, ratio: n", ", armature: J/10", ""),
                  rotors[] = ARM("", "", "", ROTORS);

static void compare(const char *one, const char *other, const char *const *names, const How *how,
                    double tolerance)
{
    Ran *a = ran(one, *how), *b = ran(other, *how);
    for (size_t i = 0; i < a->sheet->rows; i++)
        for (size_t k = 0; names[k]; k++)
            assert_close(at(a->sheet, i, names[k]), at(b->sheet, i, names[k]), tolerance);
    assert_close(last(a->sheet, "energy.kinetic"), last(b->sheet, "energy.kinetic"), tolerance);
    forget(a);
    forget(b);
}

static const char *const arm_columns[] = {"a", "b", "c", "a_rate", "b_rate", "c_rate", NULL};

static void test_rotors(void **state)
{
    (void)state;
    compare(armatures, rotors, arm_columns, &(How){.end = 2, .every = 0.1}, 1e-9);
    compare(armatures, rotors, arm_columns,
            &(How){.end = 2, .every = 0.1, .method = "rk4", .step = 0.001, .energy = 1e-8}, 1e-8);
}

// What a motor needs for a motion, and M v' + c of all forms
static void test_driven(void **state)
{
    (void)state;
    static const char one[] = ARM(", armature: J, ratio: 2", ", armature: J, ratio: n", "",
                                  "roles: {a: {motion: sin(3*t)}}\n"),
                      other[] = ARM("", "", "", ROTORS "roles: {a: {motion: sin(3*t)}}\n");
    char text[2][3000];
    static const char *const columns[] = {"b", "c", "b_rate", "c_rate", "tau.a", NULL};
    const char *const from[] = {one, other};
    for (int k = 0; k < 2; k++) { // the start of `a` is the motion's, and the third has no rotor
        const char *at = strstr(from[k], "initial");
        snprintf(text[k], sizeof text[k], "%.*sinitial: {b: 0.5, c: 0, d(b): -2, d(c): 3}\n",
                 (int)(at - from[k]), from[k]);
        char *third = strstr(text[k], "J/10");
        if (third) memcpy(third, "0*J ", 4);
    }
    compare(text[0], text[1], columns, &(How){.end = 2, .every = 0.1}, 1e-8);
}

// A wheel that is symmetric about its hinge is described without its angle; its rotor stays on it.
static void test_gyrostat(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "parameters: {J: 0.02, I: 0.05}\n"
        "bodies:\n"
        "  arm: {joint: {type: revolute, axis: \"1, 0, 0\", coordinate: a}, mass: 1,"
        " com: \"0, 0, -0.3\"}\n"
        "  wheel: {parent: arm, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: w,"
        " armature: J, ratio: 3}, mass: 1, inertia: {axial: I, radial: 0.03}}\n"
        "roles: {w: {torque: 0.4}}\n"
        "initial: {a: 0.7, d(a): 0, w: 0, d(w): 0}\n";
    Ran *r = ran(text, (How){.end = 1, .every = 0.1});
    for (size_t i = 0; i < r->sheet->rows; i++)
        assert_close(at(r->sheet, i, "w_rate"), 0.4 / (0.05 + 9 * 0.02) * at(r->sheet, i, "t"),
                     1e-10);
    forget(r);
}

// In a closed loop: a parallelogram whose crank has a rotor
static void test_loop(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "parameters: {l: 0.4, w: 1, m: 3, J: 0.1, n: 5, q0: 0.3}\n"
        "bodies:\n"
        "  first: {}\n"
        "  second: {}\n"
        "  coupler: {mass: m, com: \"w/2, 0, 0\"}\n"
        "joints:\n"
        "  q: {type: revolute, body: first, axis: \"0, 1, 0\", armature: J, ratio: n}\n"
        "  r: {type: revolute, body: second, axis: \"0, 1, 0\", at: \"w, 0, 0\", cut: true}\n"
        "  s: {type: revolute, parent: first, body: coupler, axis: \"0, 1, 0\","
        " at: \"0, 0, -l\"}\n"
        "  p: {type: revolute, parent: second, body: coupler, axis: \"0, 1, 0\","
        " at: \"0, 0, -l\", to: \"w, 0, 0\"}\n"
        "initial: {q: q0, d(q): 0}\n"
        "guess: {s: -0.3, p: -0.3}\n";
    const double I = 3 * 0.16 + 0.1 * 25, torque = 3 * g * 0.4;
    const How ways[] = {{.end = 4, .every = 0.1},
                        {.end = 4, .every = 0.1, .method = "rk4", .step = 0.005}};
    for (int k = 0; k < 2; k++) {
        Ran *r = ran(text, ways[k]);
        for (size_t i = 0; i < r->sheet->rows; i++) {
            const double q = at(r->sheet, i, "q"), rate = at(r->sheet, i, "q_rate");
            assert_close(I / 2 * rate * rate, torque * (cos(q) - cos(0.3)), 1e-9);
        }
        forget(r);
    }
}

// ---- torques -------------------------------------------------------------------------------

static Text at_limit(const Ran *r, size_t i)
{
    return tr_json_item(member(text_of(r->certificate), "at_limit"), i);
}

static void check_spell(const Ran *r, double from, double seconds, int times, double tolerance)
{
    const Text item = at_limit(r, 0);
    assert_true(item.at != NULL);
    assert_close(strtod(member(item, "from").at, NULL), from, tolerance);
    assert_close(strtod(member(item, "seconds").at, NULL), seconds, tolerance);
    assert_int_equal(atoi(member(item, "times").at), times);
    assert_true(at_limit(r, 1).at == NULL);
}

// What a controller asks for at its first sample is too much from the start on, and beyond friction
// from the start on: no event, and no time that is a rounding behind it.
static void test_first_sample(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\nname: pushed\ninputs: {f: 0}\n"
        "bodies: {b: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: q%s}, mass: 1}}\n"
        "roles: {q: {torque: f%s}}\ncontrollers: {c: {period: 0.1, outputs: {f: 2}}}\n";
    char model[500];
    snprintf(model, sizeof model, text, "", ", limit: 1");
    Ran *r = ran(model, (How){.end = 0.5, .every = 0.1});
    check_spell(r, 0, 0.5, 1, 1e-15);
    forget(r);
    snprintf(model, sizeof model, text, ", friction: 1", "");
    r = ran(model, (How){.end = 0.5, .every = 0.1});
    assert_int_equal(r->count, 0);
    assert_close(at(r->sheet, 0, "lambda.q.friction"), -1, 1e-15);
    assert_close(at(r->sheet, r->sheet->rows - 1, "q"), 0.125, 1e-12);
    forget(r);
}

// It brakes at its limit L, x = x0 - L t^2 / (2 m), until 20 x + 9 v = L.
static void test_bang(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "parameters: {m: 2, L: 4}\n"
        "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: m}}\n"
        "roles: {x: {torque: -20*x - 9*x_rate, limit: L}}\n"
        "initial: {x: 1, d(x): 0}\n";
    const How ways[] = {{.end = 2, .every = 0.1},
                        {.end = 2, .every = 0.1, .method = "rk4", .step = 0.001}};
    const double over = (sqrt(18 * 18 + 4 * 20 * 16) - 18) / 40;
    for (int k = 0; k < 2; k++) {
        Ran *r = attempt(text, ways[k]);
        assert_int_equal(r->err.status, TR_OK);
        assert_below(r->summary.energy_error, 1e-9);
        check_spell(r, 0, over, 1, 1e-10);
        assert_non_null(
            strstr(r->summary.warning, "role x: its torque is at its limit from t = 0"));
        for (size_t i = 0; i < r->sheet->rows; i++) {
            const double t = at(r->sheet, i, "t"), x = at(r->sheet, i, "x"),
                         v = at(r->sheet, i, "x_rate");
            if (t < over) {
                assert_close(x, 1 - t * t, 1e-10);
                assert_close(at(r->sheet, i, "tau.x"), -4, 1e-12);
            } else
                assert_close(at(r->sheet, i, "tau.x"), -20 * x - 9 * v, 1e-10);
        }
        forget(r);
    }
}

// 10 sin(2 pi t) is beyond 5 for two thirds of each turn.
static void test_spells(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 2}}\n"
        "roles: {x: {torque: 10*sin(2*pi*t), limit: 5}}\n"
        "initial: {x: 0, d(x): 0}\n";
    const How ways[] = {{.end = 2, .every = 0.1},
                        {.end = 2, .every = 0.1, .method = "rk4", .step = 0.001}};
    for (int k = 0; k < 2; k++) {
        Ran *r = attempt(text, ways[k]);
        assert_int_equal(r->err.status, TR_OK);
        check_spell(r, 1. / 12, 4. / 3, 4, 1e-9);
        for (size_t i = 0; i < r->sheet->rows; i++)
            assert_true(fabs(at(r->sheet, i, "tau.x")) <= 5);
        // in half a turn: 2 (1 - cos(pi / 6)) / (2 pi) 10 + 5 / 3, by the mass
        const double half = (10 / acos(-1) * (1 - cos(acos(-1) / 6)) + 5. / 3) / 2;
        assert_close(at(r->sheet, 5, "x_rate"), half, 1e-9);
        assert_close(last(r->sheet, "x_rate"), 0, 1e-9);
        forget(r);
    }
}

// A motor whose torque falls with its speed, by a table: x' = 5 (1 - exp(-t / m)), at its limit
// all the time
static void test_speed_map(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\n"
        "parameters: {m: 2}\n"
        "tables: {map: {x: \"-10, 0, 10\", value: \"15, 5, -5\", outside: extend}}\n"
        "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: m}}\n"
        "roles: {x: {torque: 100, limit: \"max(0, map(x_rate))\"}}\n"
        "initial: {x: 0, d(x): 0}\n";
    Ran *r = attempt(text, (How){.end = 3, .every = 0.1});
    assert_int_equal(r->err.status, TR_OK);
    check_spell(r, 0, 3, 1, 1e-12);
    for (size_t i = 0; i < r->sheet->rows; i++)
        assert_close(at(r->sheet, i, "x_rate"), 5 * (1 - exp(-at(r->sheet, i, "t") / 2)), 1e-9);
    forget(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotors),       cmocka_unit_test(test_driven),
        cmocka_unit_test(test_gyrostat),     cmocka_unit_test(test_loop),
        cmocka_unit_test(test_first_sample), cmocka_unit_test(test_bang),
        cmocka_unit_test(test_spells),       cmocka_unit_test(test_speed_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
