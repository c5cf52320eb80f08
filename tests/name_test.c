// SPDX-License-Identifier: Apache-2.0
// Names that mean nothing, or something that does not belong where they stand: words say what there
// is, and what the name is instead.
#include "models.h"

static const char base[] =
    "trundle: 1\n"
    "parameters: {m: 1, k: 2}\n"
    "inputs: {push: 0}\n"
    "bodies:\n"
    "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: m}\n"
    "  arm: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: angle}, mass: "
    "1, inertia: {yy: 1}}\n"
    "  wheel: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\"}, mass: 1, inertia: {axial: "
    "1}}\n"
    "  block: {mass: 1}\n"
    "outputs: {tip: cart.x}\n";

#define RIM       "contacts: {rim: {kind: rolling, body: wheel, radius: 0.1}}\n"
#define FRAME(at) "frames: {hand: {body: arm, at: \"" at "\"}}\n"

static const struct {
    const char *text, *words;
} rows[] = {
    // bodies, joints, coordinates, elements
    {"forces: {f: {body: elephant}}\n",
     "there is no body 'elephant'; there are 'cart', 'arm', 'wheel', 'block'"},
    {RIM FRAME("0, 0, 0") "forces: {f: {body: rim}}\n",
     "there is no body 'rim': 'rim' is a contact; there are 'cart', 'arm', 'wheel', 'block', "
     "'hand'"},
    {RIM "roles: {rim: {torque: 1}}\n",
     "there is no joint 'rim': 'rim' is a contact; there are 'x', 'angle', 'wheel'"},
    {"roles: {elephant: {torque: 1}}\n",
     "there is no joint 'elephant'; there are 'x', 'angle', 'wheel'"},
    {"couplings: {c: {coordinate: tip, equals: {x: 1}}}\n",
     "there is no coordinate 'tip': 'tip' is an output; there are 'x', 'angle', 'wheel'"},
    {RIM "reactions: {lead: [arm]}\n",
     "there is no element 'arm' with a reaction: 'arm' is a body; there are 'rim.longitudinal', "
     "'rim'"},
    {"noise: {m: 1}\n",
     "'noise' is for inputs: there is no input 'm': 'm' is a parameter; there is 'push'"},
    {RIM "cases: {c: {without: [arm]}}\n",
     "there is no element 'arm' to leave out: 'arm' is a body; there is 'rim'"},
    {"cases: {c: {without: [arm]}}\n", "there is no element 'arm' to leave out: 'arm' is a body"},
    {RIM "cases: {c: {without: [rim, rim]}}\n", "'rim' is left out twice"},
    {"cases: {c: {set: {tip: 1}}}\n",
     "there is no parameter or input 'tip': 'tip' is an output; there are 'm', 'k', 'push'"},
    // kinds
    {"contacts: {rim: {kind: wheel, body: wheel}}\n",
     "there is no kind 'wheel'; there are 'rolling', 'skate', 'slide', 'pin', 'wire'"},
    {"loops: {rod: {kind: spring, body: arm}}\n",
     "there is no kind 'spring'; there are 'point', 'axis', 'pose', 'slider', 'cylinder', 'plane', "
     "'universal', 'distance'"},
    {"contacts: {rim: {body: wheel, radius: 0.1, longitudinal: magic}}\n",
     "there is no law 'magic'; there are 'ideal', 'free', 'viscous', 'coulomb', 'tyre'"},
    {"contacts: {rim: {body: wheel, radius: 0.1, longitudinal: arm}}\n",
     "'arm' is a body; formulas know its place 'arm.x', its velocity 'arm.vx' and the like"},
    // formulas of what moves
    {"constraints: {c: {position: x - elephant}}\n",
     "unknown name 'elephant'; there are 't', 'm', 'k', 'push', 'x', 'x_rate', 'angle', "
     "'angle_rate', 'wheel', 'wheel_rate', 'tip'"},
    {"constraints: {c: {position: x - arm}}\n",
     "'arm' is a body; formulas know its place 'arm.x', its velocity 'arm.vx' and the like"},
    {RIM "constraints: {c: {position: x - rim}}\n", "'rim' is a contact, not a number"},
    // formulas of parameters
    {FRAME("elephant, 0, 0"), "unknown name 'elephant'; there are 'm', 'k'"},
    {FRAME("arm.x, 0, 0"), "'arm.x' is not a parameter: this must be constant"},
    {FRAME("angle_rate, 0, 0"), "'angle_rate' is not a parameter: this must be constant"},
    {FRAME("tip, 0, 0"), "'tip' is not a parameter: this must be constant"},
    {FRAME("arm, 0, 0"),
     "'arm' is a body; formulas know its place 'arm.x', its velocity 'arm.vx' and the like"},
    {RIM "ground: {height: tip}\n", "this is a formula of x and y and of parameters, not of 'tip'"},
    // what cannot be
    {"loops: {rod: {body: block, at: \"1, 0, 0\", length: 3}}\n",
     "'rod.distance' can never hold: its error stays 2, whatever moves"},
};

static void test_names(void **state)
{
    (void)state;
    int failures = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[2000];
        tr_error err = {0};
        snprintf(text, sizeof text, "%s%s", base, rows[i].text);
        tr_model *model = tr_model_parse(text, &err);
        tr_system *system = tr_derive(model, NULL, &err);
        tr_model_free(model);
        if (!system && err.status == TR_INVALID && strcmp(err.text, rows[i].words) == 0) continue;
        print_error("%ssays %s\nnot  %s\n", rows[i].text, err.text, rows[i].words);
        tr_system_free(system);
        failures++;
    }
    assert_int_equal(failures, 0);
}

// What lqr may use
static void test_controls(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"", "elephant",
         "there is no input or joint 'elephant'; there are 'x', 'angle', 'wheel', 'block', 'push'"},
        {"", "m",
         "there is no input or joint 'm': 'm' is a parameter; there are 'x', 'angle', 'wheel', "
         "'block', 'push'"},
        {"", "block",
         "'block' is not a joint with one coordinate: a control is an input, or the torque of such "
         "a joint"},
        {"roles: {x: {motion: t}}\n", "x",
         "'x' is driven by a motion: its torque cannot be a control"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2000];
        tr_error err = {0};
        snprintf(text, sizeof text, "%s%s", base, cases[i][0]);
        tr_model *model = tr_model_parse(text, &err);
        tr_derive_options o = tr_derive_defaults();
        o.controls = &cases[i][1], o.control_count = 1;
        assert_null(tr_derive(model, &o, &err));
        assert_int_equal(err.status, TR_USAGE);
        assert_string_equal(err.text, cases[i][2]);
        tr_model_free(model);
    }
}

static void test_no_cases(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_model *model = tr_model_parse(base, &err);
    tr_derive_options o = tr_derive_defaults();
    o.case_name = "turn";
    assert_null(tr_derive(model, &o, &err));
    assert_string_equal(err.text, "there is no case 'turn': the model has none");
    tr_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_controls),
        cmocka_unit_test(test_no_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
