// SPDX-License-Identifier: Apache-2.0
// Formulas and surfaces that are flat after all: what rolls on them does as on a plane. The planes
// take no part in where a contact is carried along, so this checks all kinds of contacts.
#include "alike.h"

// ---- two models that are one ---------------------------------------------------------------

typedef struct Change {
    const char *path, *value;
} Change;

typedef struct Pair {
    const char *model, *case_name;
    double end;
    Change both[6], first[4], second[6];
} Pair;

static void change_all(tr_model *model, const Change *changes, size_t most)
{
    for (size_t i = 0; i < most && changes[i].path; i++)
        change(model, changes[i].path, changes[i].value);
}

static Sheet *run_pair(const Pair *pair, tr_model *model, const Change *own, size_t most,
                       tr_summary *s)
{
    change_all(model, pair->both, 6);
    change_all(model, own, most);
    return run_with(system_of(model, pair->case_name), pair->end, pair->end / 20, s);
}

static void check_models(const Pair *pair, tr_model *first, tr_model *second, bool is_ball)
{
    tr_summary s[2];
    memset(s, 0, sizeof s);
    Sheet *a = run_pair(pair, first, pair->first, 4, &s[0]);
    Sheet *b = run_pair(pair, second, pair->second, 6, &s[1]);
    const double off = sheets_off(a, b, is_ball);
    print_message("%-18s %-22s %.1e, energy %.1e, kept to %.1e, kkt %.1e\n", pair->model,
                  pair->second[0].value, off, s[1].energy_error, s[1].position_error,
                  s[1].kkt_error);
    assert_below(off, 1e-10);
    assert_below(s[1].energy_error, 1e-10);
    assert_below(s[1].position_error, 1e-12);
    assert_below(s[1].kkt_error, 1e-10);
    tr_sheet_free(a);
    tr_sheet_free(b);
}

static void check_pair(const Pair *pair, bool is_ball)
{
    check_models(pair, model_called(pair->model), model_called(pair->model), is_ball);
}

static void check_pairs(const Pair *pairs, size_t count, bool is_ball)
{
    for (size_t i = 0; i < count; i++) check_pair(&pairs[i], is_ball);
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

// ---- ground --------------------------------------------------------------------------------

static void test_level_ground(void **state)
{
    (void)state;
    static const Pair pairs[] = {
        {"rolling_disc", "wobble", 3, .second = {{"ground/height", "0"}}},
        {"rolling_disc", "steady", 3, .second = {{"ground/height", "0*x + 0*y"}}},
        {"tyre", "lean", 3, .second = {{"ground/height", "0"}}},
        {"bicycle", "free", 3, .second = {{"ground/height", "0"}}},
        {"bicycle", "circle", 2, .second = {{"ground/height", "0"}}},
        {"segway", NULL, 2, .second = {{"ground/height", "0"}}},
        {"kick_scooter", NULL, 2, .second = {{"ground/height", "0"}}},
        {"differential_drive_3d", NULL, 2, .second = {{"ground/height", "0"}}},
    };
    static const Pair balls[] = {
        {"ball_on_slope", "roll", 2, .second = {{"ground/height", "0"}}},
        {"ballbot", "stand", 2, .second = {{"ground/height", "0"}}},
    };
    check_pairs(pairs, COUNT(pairs), false);
    check_pairs(balls, COUNT(balls), true);
}

// With laws of slip, which see the load, the lean and how deflected a tyre is
static void test_level_ground_with_slip(void **state)
{
    (void)state;
    static const Pair pairs[] = {
        {"motorcycle", NULL, 2, .second = {{"ground/height", "0"}}},
        {"car_linkage", "lane", 1, .second = {{"ground/height", "0"}}},
        {"tyre", "lean", 2,
         .both = {{"contacts/tyre/lateral", "viscous"}, {"contacts/tyre/viscosity", "30"}},
         .second = {{"ground/height", "0"}}},
        {"tyre", "lean", 2,
         .both = {{"contacts/tyre/longitudinal", "viscous"}, {"contacts/tyre/viscosity", "30"}},
         .second = {{"ground/height", "0"}}},
        {"rolling_disc", "wobble", 2, .both = {{"contacts/rim/lateral", "-3*slip*normal"}},
         .second = {{"ground/height", "0"}}},
        {"rolling_disc", "wobble", 2,
         .both = {{"contacts/rim/lateral", "free"}, {"contacts/rim/longitudinal", "free"}},
         .second = {{"ground/height", "0"}}},
    };
    check_pairs(pairs, COUNT(pairs), false);
}

// n = (-p, -q, 1): the plane turned about x by atan(q cos b), then about y by b = -atan(p)
#define SLOPE "atan(0.2*cos(atan(0.3))), atan(0.3), 0"
#define HILL  "-0.3*x + 0.2*y"

// What `initial` leaves open is chosen along the ground's own axes: so that is given.
static void test_slopes(void **state)
{
    (void)state;
    static const Pair pairs[] = {
        {"rolling_disc", "wobble", 2, .first = {{"ground/turn", SLOPE}},
         .second = {{"ground/height", HILL}}},
        {"tyre", "lean", 0.8,
         .both = {{"initial/wheel.wz", "0"}, {"initial/wheel.qy", "0"}, {"initial/wheel.qz", "0"}},
         .first = {{"ground/turn", SLOPE}}, .second = {{"ground/height", HILL}}},
        {"tyre", "lean", 0.8,
         .both = {{"initial/wheel.wz", "0"},
                  {"initial/wheel.qy", "0"},
                  {"initial/wheel.qz", "0"},
                  {"initial/wheel.vy", "0"},
                  {"contacts/tyre/lateral", "viscous"},
                  {"contacts/tyre/viscosity", "2"}},
         .first = {{"ground/turn", SLOPE}}, .second = {{"ground/height", HILL}}},
        {"bicycle", "free", 2, .first = {{"ground/turn", SLOPE}},
         .second = {{"ground/height", HILL}}},
        {"motorcycle", NULL, 2, .both = {{"initial/frame.wz", "0"}},
         .first = {{"ground/turn", SLOPE}}, .second = {{"ground/height", HILL}}},
    };
    static const Pair balls[] = {
        {"ballbot", "stand", 1, .first = {{"ground/turn", SLOPE}},
         .second = {{"ground/height", HILL}}},
        {"ball_on_slope", "roll", 2, .both = {{"parameters/slope", "-atan(0.3)"}},
         .second = {{"ground/turn", "0, 0, 0"}, {"ground/height", "0.3*x"}}}};
    check_pairs(pairs, COUNT(pairs), false);
    check_pairs(balls, COUNT(balls), true);
}

// The ground's own axes: what they are turned by, its formula turns back.
static void test_turned_ground(void **state)
{
    (void)state;
    static const Pair pairs[] = {
        {"rolling_disc", "wobble", 2,
         .first = {{"ground/turn", SLOPE}, {"ground/at", "0.3, 0.2, 0.1"}},
         .second = {{"ground/height", "0"},
                    {"ground/turn", SLOPE},
                    {"ground/at", "0.3, 0.2, 0.1"}}},
        {"tyre", "lean", 0.8, .both = {{"initial/wheel.wz", "0"}},
         .second = {{"ground/height", "0.3*x"}, {"ground/turn", "0, atan(0.3), 0"}}},
        {"tyre", "lean", 0.8,
         .both = {{"initial/wheel.wz", "0"},
                  {"contacts/tyre/lateral", "viscous"},
                  {"contacts/tyre/viscosity", "30"}},
         .second = {{"ground/height", "0.3*x"}, {"ground/turn", "0, atan(0.3), 0"}}},
        {"bicycle", "free", 2,
         .second = {{"ground/height", "0.3*x - 0.2"},
                    {"ground/turn", "0, atan(0.3), 0.7"},
                    {"ground/at", "0.2*sin(atan(0.3))*cos(0.7), 0.2*sin(atan(0.3))*sin(0.7), "
                                  "0.2*cos(atan(0.3))"}}},
    };
    check_pairs(pairs, COUNT(pairs), false);
}

// ---- on bodies -----------------------------------------------------------------------------

static void test_level_bodies(void **state)
{
    (void)state;
    static const Pair pairs[] = {
        {"treadmill", "surge", 2, .first = {{"contacts/front/surface/kind", "plane"}},
         .second = {{"contacts/front/surface/height", "0"}, {"contacts/rear/surface/height", "0"}}},
        {"treadmill", "free", 2, .second = {{"contacts/front/surface/height", "0"}}},
        {"shaker", "gentle", 0.5,
         .second = {{"contacts/front_left/surface/height", "0"},
                    {"contacts/front_right/surface/height", "0"},
                    {"contacts/rear_left/surface/height", "0"},
                    {"contacts/rear_right/surface/height", "0"}}},
        {"shaker", "hop", 0.5,
         .second = {{"contacts/front_left/surface/height", "0"},
                    {"contacts/front_right/surface/height", "0"},
                    {"contacts/rear_left/surface/height", "0"},
                    {"contacts/rear_right/surface/height", "0"}}},
    };
    static const Pair balls[] = {
        {"turntable", "circle", 3, .second = {{"contacts/foot/surface/height", "0"}}},
        {"turntable", "tilted", 3, .second = {{"contacts/foot/surface/height", "0"}}},
        {"turntable", "coasting", 3, .second = {{"contacts/foot/surface/height", "0"}}},
        {"turntable", "circle", 3, .both = {{"contacts/foot/to", "0.1, 0.2, -0.02"}},
         .second = {{"contacts/foot/surface/height", "0"}}},
    };
    check_pairs(pairs, COUNT(pairs), false);
    check_pairs(balls, COUNT(balls), true);
}

// A plank that rocks and slides, driven or floating, with something rolling on it
static tr_model *plank_with(const char *plank, const char *rider, const char *contact)
{
    char text[1500];
    const int length = snprintf(
        text, sizeof text,
        "trundle: 1\n"
        "bodies:\n"
        "  %s\n"
        "  plank: {parent: lift, joint: {type: revolute, axis: \"1, 2, 0.2\", coordinate: rock}, "
        "mass: 3, inertia: {xx: 0.3, yy: 0.4, zz: 0.6}}\n"
        "  wheel: {joint: {type: free}, mass: 1, inertia: {axial: 0.02, radial: 0.012, axis: \"0, "
        "1, 0\"}}\n"
        "contacts: {foot: {kind: rolling, body: wheel, on: plank, to: \"0.1, 0, 0.05\", %s, "
        "surface: {%s}}}\n"
        "roles: {lift: {motion: 0.1*sin(3*t)}, rock: {motion: 0.15*sin(2*t)}}\n"
        "initial: {wheel.x: 0.1, wheel.y: 0.05, wheel.qx: 0.05, wheel.qy: 0, wheel.qz: 0.1, "
        "wheel.wx: 0.1, wheel.wy: 3, wheel.wz: 0.4}\n"
        "guess: {wheel.z: 0.25, wheel.qw: 1}\n",
        plank, rider, contact);
    assert_true(length < (int)sizeof text);
    return model_from(text);
}

static void test_rocking_planks(void **state)
{
    (void)state;
    static const char *const riders[] = {"radius: 0.2, axis: \"0, 1, 0\"",
                                         "radius: 0.2, tube: 0.05, axis: \"0, 1, 0\"",
                                         ("radius: 0.2, axis: \"0, 1, 0\", lateral: viscous, "
                                          "viscosity: 5"),
                                         "shape: ball, radius: 0.2"};
    static const char *const lift = "lift: {joint: {type: prismatic, axis: \"0.3, 0.1, 1\"}, mass: "
                                    "1, inertia: {xx: 1, yy: 1, zz: 1}}";
    for (size_t i = 0; i < COUNT(riders); i++) {
        const Pair pair = {"plank", NULL, 1.5, .second = {{"name", riders[i]}}};
        check_models(&pair, plank_with(lift, riders[i], "kind: plane"),
                     plank_with(lift, riders[i], "height: 0"), i == 3);
        check_models(&pair, plank_with(lift, riders[i], "kind: plane"),
                     plank_with(lift, riders[i], "kind: height, height: 0*x*y"), i == 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_level_ground), cmocka_unit_test(test_level_ground_with_slip),
        cmocka_unit_test(test_slopes),       cmocka_unit_test(test_turned_ground),
        cmocka_unit_test(test_level_bodies), cmocka_unit_test(test_rocking_planks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
