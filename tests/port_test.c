// SPDX-License-Identifier: Apache-2.0
// What inputs, outputs and columns are: of bundled models, of systems made by hand, and whatever
// names they have. Modes of contacts are nobody's to set.
#include "base/json.h"
#include "folder.h"
#include "models.h"
#include "plan/column.h"
#include "program/program.h"

// ---- ports of models -----------------------------------------------------------------------

typedef struct Wanted {
    const char *name, *quantity, *unit, *owner, *component;
} Wanted;

static size_t input_called(const tr_system *system, const char *name)
{
    for (size_t i = 0; i < tr_input_count(system); i++)
        if (strcmp(tr_input_name(system, i), name) == 0) return i;
    fail_msg("there is no input '%s'", name);
    return 0;
}

static size_t output_called(const tr_system *system, const char *name)
{
    for (size_t i = 0; i < tr_output_count(system); i++)
        if (strcmp(tr_output_name(system, i, NULL, NULL), name) == 0) return i;
    fail_msg("there is no output '%s'", name);
    return 0;
}

static void check_port(const Port *port, const Wanted *wanted)
{
    if (strcmp(port->owner, wanted->owner) != 0) print_error("of %s: ", wanted->name);
    assert_string_equal(port->owner, wanted->owner);
    assert_string_equal(port->component, wanted->component);
}

static void check_inputs(const tr_system *system, const Wanted *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t at = input_called(system, wanted[i].name);
        assert_string_equal(tr_input_quantity(system, at), wanted[i].quantity);
        assert_string_equal(tr_input_unit(system, at), wanted[i].unit);
        check_port(&system->inputs[at].port, &wanted[i]);
    }
}

static void check_outputs(const tr_system *system, const Wanted *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t at = output_called(system, wanted[i].name);
        assert_string_equal(tr_output_quantity(system, at), wanted[i].quantity);
        assert_string_equal(tr_output_unit(system, at), wanted[i].unit);
        check_port(&system->outputs[at].port, &wanted[i]);
    }
}

#define CHECK(what, system, ...)                                      \
    do {                                                              \
        static const Wanted wanted[] = {__VA_ARGS__};                 \
        check_##what(system, wanted, sizeof wanted / sizeof *wanted); \
    } while (0)

// Of a reaction its row, of a velocity the coordinate whose rate it is, of an acceleration that
// velocity
static void check_places(const tr_system *s)
{
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        const uint32_t of = input->port.rate_of, row = input->port.row;
        if (input->kind == TR_POSITION || input->kind == TR_VELOCITY || input->kind == TR_INNER)
            assert_int_not_equal(input->port.quantity, QUANTITY_UNKNOWN);
        if (of != NO_INPUT) {
            const Input *whose = &s->inputs[of];
            assert_int_equal(whose->rate.id, input->symbol.id);
            assert_int_equal(input->port.quantity, tr_quantity_rate(whose->port.quantity));
            assert_true(is_of(&whose->port, input->port.owner, input->port.component));
        }
        if (row != NO_ROW) assert_int_equal(s->rows[row].symbol.id, input->symbol.id);
    }
    for (uint32_t i = 0; i < s->row_count; i++)
        if (!s->rows[i].is_speed) assert_int_equal(s->rows[i].port.row, i);
}

static void test_bicycle(void **state)
{
    (void)state;
    tr_system *s = system_called("bicycle", NULL);
    CHECK(inputs, s, {"t", "time", "s", "", ""}, {"frame.x", "length", "m", "frame", "x"},
          {"frame.qz", "part of a quaternion", "", "frame", "qz"},
          {"frame.vy", "speed", "m/s", "frame", "vy"},
          {"frame.wx", "angular speed", "rad/s", "frame", "wx"},
          {"frame.inner.wx", "angular speed", "rad/s", "frame", "wx"},
          {"steer", "angle", "rad", "steer", ""},
          {"steer_rate", "angular speed", "rad/s", "steer", ""},
          {"vdot.steer_rate", "angular acceleration", "rad/s^2", "steer", ""},
          {"vdot.frame.vx", "acceleration", "m/s^2", "frame", "vx"},
          {"lambda.rear.normal", "force", "N", "rear", "normal"}, {"g", "", "m/s^2", "", ""},
          {"m0", "", "kg", "", ""}, {"yaw0", "", "", "", ""}, {"steer_torque", "", "N m", "", ""});
    CHECK(
        outputs, s, {"lambda.front.lateral", "force", "N", "front", "lateral"},
        {"tau.steer", "torque", "N m", "steer", ""}, {"contact.rear.x", "place", "m", "rear", "x"},
        {"contact.rear.Fz", "force", "N", "rear", "Fz"}, {"kinetic", "energy", "J", "", "kinetic"},
        {"power", "power", "W", "", ""}, {"Q", "generalised force", "", "", ""},
        {"M", "", "", "", ""}, {"outputs.roll", "", "", "", "output"});
    const uint32_t rate = (uint32_t)input_called(s, "steer_rate");
    assert_int_equal(s->inputs[rate].port.rate_of, input_called(s, "steer"));
    assert_int_equal(s->inputs[input_called(s, "frame.wx")].port.rate_of, NO_INPUT);
    check_places(s);
    tr_system_free(s);
}

static void test_loops_and_joints(void **state)
{
    (void)state;
    tr_system *s = system_called("sk8o", NULL);
    CHECK(outputs, s, {"lambda.left_hinge.x", "force", "N", "left_hinge", "x"},
          {"tau.phi1", "torque", "N m", "phi1", ""});
    check_places(s);
    tr_system_free(s);
    s = system_called("slider_crank", NULL); // whose joint `swing` is cut
    CHECK(outputs, s, {"outputs.swing", "angle", "rad", "swing", ""},
          {"outputs.swing_rate", "angular speed", "rad/s", "swing", ""});
    CHECK(inputs, s, {"way", "length", "m", "way", ""}, {"way_rate", "speed", "m/s", "way", ""});
    check_places(s);
    tr_system_free(s);
    s = system_called("stewart", NULL);
    check_places(s);
    tr_system_free(s);
}

static void test_what_bends(void **state)
{
    (void)state;
    tr_system *s = system_called("flexible_arm", NULL);
    CHECK(inputs, s, {"upper.z1", "modal coordinate", "", "upper", "z1"},
          {"upper.z2_rate", "rate of a modal coordinate", "", "upper", "z2"},
          {"b_rate", "angular speed", "rad/s", "b", ""});
    check_places(s);
    tr_system_free(s);
    s = system_called("snakeboard_soft", NULL);
    CHECK(inputs, s, {"board.theta", "angle", "rad", "board", "theta"},
          {"board.wz", "angular speed", "rad/s", "board", "wz"},
          {"beam3.y1", "modal coordinate", "", "beam3", "y1"});
    assert_int_equal(s->inputs[input_called(s, "board.wz")].port.rate_of, NO_INPUT);
    check_places(s);
    tr_system_free(s);
    s = system_called("elastic_joint", NULL);
    CHECK(inputs, s, {"angle.motor", "angle", "rad", "angle", "motor"},
          {"angle.motor_rate", "angular speed", "rad/s", "angle", "motor"},
          {"angle", "angle", "rad", "angle", ""}, {"hand", "", "", "", ""});
    CHECK(outputs, s, {"tau.angle", "torque", "N m", "angle", "motor"});
    check_places(s);
    tr_system_free(s);
}

// A motor of what slides slides, a screw turns, a tyre is deflected by a length, and what holds a
// coordinate has its unit.
static void test_elements(void **state)
{
    (void)state;
    tr_system *s = system_from(
        "trundle: 1\n"
        "bodies:\n"
        "  a: {joint: {type: prismatic, axis: \"1, 0, 0\", elastic: {stiffness: 9, inertia: 1}}, "
        "mass: 1}\n"
        "  b: {joint: {type: screw, axis: \"1, 0, 0\", pitch: 0.1}, mass: 1, inertia: {xx: 1}}\n"
        "  c: {joint: {type: revolute, axis: \"1, 0, 0\"}, mass: 1, inertia: {xx: 1}}\n"
        "couplings: {gear: {coordinate: b, equals: {c: 2}}, rack: {coordinate: a, equals: {c: "
        "3}}}\n"
        "constraints: {law: {rate: d(a) - d(b)}}\n"
        "roles: {a: {torque: -a}}\n");
    CHECK(inputs, s, {"a.motor", "length", "m", "a", "motor"}, {"b", "angle", "rad", "b", ""});
    CHECK(outputs, s, {"lambda.gear.coupling", "moment", "N m", "gear", "coupling"},
          {"lambda.rack.coupling", "force", "N", "rack", "coupling"},
          {"lambda.law.rate", "reaction to a formula", "", "law", "rate"},
          {"tau.a", "motor force", "N", "a", "motor"});
    check_places(s);
    tr_system_free(s);
    s = system_called("tyre", NULL);
    check_places(s);
    tr_system_free(s);
}

// A torque that became an input, and the law that it replaces
static void test_controls(void **state)
{
    (void)state;
    const char *const controls[] = {"steer"};
    const tr_derive_options options = {
        .size = sizeof options, .controls = controls, .control_count = 1};
    tr_system *s = derived(model_called("bicycle"), &options);
    CHECK(inputs, s, {"torque.steer", "torque", "N m", "steer", "torque"});
    CHECK(outputs, s, {"outputs.law.steer", "torque", "N m", "steer", "law"});
    tr_system_free(s);
}

// A program knows what goes in and comes out when its system is gone.
static void test_ports_of_programs(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = system_called("bicycle", NULL);
    const size_t rate = input_called(s, "steer_rate"), gravity = input_called(s, "g");
    tr_program *p = tr_compile(s, "power c qdot", NULL, &err);
    assert_int_equal(err.status, TR_OK);
    tr_system_free(s);
    assert_string_equal(p->inputs[rate].name, "steer_rate");
    assert_string_equal(tr_quantity_unit(p->inputs[rate].quantity), "rad/s");
    assert_int_equal(p->inputs[gravity].quantity, QUANTITY_UNKNOWN);
    assert_int_equal(p->ports[0].quantity, QUANTITY_POWER);
    assert_int_equal(p->ports[1].quantity, QUANTITY_GENERALISED_FORCE);
    assert_string_equal(p->ports[2].name, "qdot");
    assert_int_equal(p->ports[2].rows, 10);
    assert_int_equal(p->ports[2].quantity, QUANTITY_UNKNOWN); // they differ
    tr_program_free(p);
}

// ---- systems made by hand ------------------------------------------------------------------

static void test_by_hand(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = tr_system_new(&err);
    const tr_expr x = tr_input(s, "x", TR_POSITION, 0, &err),
                  y = tr_input(s, "y", TR_POSITION, 0, &err),
                  v = tr_input(s, "y_rate", TR_VELOCITY, 0, &err),
                  w = tr_input(s, "b.wx", TR_VELOCITY, 0, &err);
    tr_rate_set(s, x, v, &err);
    tr_rate_set(s, y, tr_formula(s, "2*b.wx", &err), &err);
    tr_output(s, "sum", &w, 1, 1, &err);
    assert_int_equal(err.status, TR_OK);
    for (size_t i = 0; i < tr_input_count(s); i++) {
        assert_string_equal(tr_input_quantity(s, i), "");
        assert_string_equal(tr_input_unit(s, i), "");
    }
    assert_string_equal(tr_output_unit(s, 0), "");
    assert_string_equal(tr_system_joint_name(s, 2), "x"); // whatever it is called
    assert_string_equal(tr_system_joint_name(s, 3), "b.wx");
    assert_null(tr_input_unit(s, 4));
    assert_null(tr_input_quantity(s, 4));
    assert_null(tr_output_unit(s, 1));
    assert_null(tr_output_quantity(s, 1));
    tr_system_free(s);
}

// ---- names that mislead --------------------------------------------------------------------

// A cart and a pole, whose coordinates are called like rates of others
static tr_system *misnamed(bool controlled)
{
    const char *const controls[] = {"speed_rate"};
    const tr_derive_options options = {
        .size = sizeof options, .controls = controls, .control_count = controlled};
    return derived(
        model_from("trundle: 1\n"
                   "name: Misnamed\n"
                   "gravity: 0, 0, -9.81\n"
                   "bodies:\n"
                   "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: speed_rate}, "
                   "mass: 2}\n"
                   "  pole: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", "
                   "coordinate: other.vx}, mass: 1,\n"
                   "    com: \"0, 0, 0.5\", inertia: {yy: 0.1}}\n"
                   "initial: {speed_rate: 0.1, other.vx: 0.02}\n"
                   "cases: {run: {end: 0.5, every: 0.01}}\n"),
        &options);
}

static void assert_contains(const char *text, const char *words)
{
    if (!strstr(text, words)) fail_msg("'%s' is not in\n%s", words, text);
}

static void test_texts_of_misnamed(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = misnamed(false);
    CHECK(inputs, s, {"speed_rate", "length", "m", "speed_rate", ""},
          {"other.vx_rate", "angular speed", "rad/s", "other.vx", ""});
    char *text = tr_derive_text(s, true, &err);
    assert_contains(text, "\"speed_rate\",\n    \"other.vx\"");
    free(text);
    text = tr_linearise_text(s, NULL, &err);
    assert_int_equal(err.status, TR_OK);
    assert_contains(text, "change of the coordinate speed_rate\n");
    assert_contains(text, "change of the coordinate other.vx\n");
    assert_contains(text, "rate of speed_rate\n");
    assert_contains(text, "rate of other.vx\n");
    free(text);
    tr_system_free(s);
}

static void test_law_of_misnamed(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = misnamed(true);
    const tr_lqr_options options = {
        .size = sizeof options, .inputs = "speed_rate", .q = "speed_rate=1, other.vx=1"};
    const tr_lqr *lqr = tr_lqr_design(s, &options, &err);
    if (!lqr) fail_msg("%s", err.text);
    assert_contains(lqr->law[0], "*d(speed_rate)");
    assert_contains(lqr->law[0], "*d(other.vx)");
    assert_contains(lqr->law[0], "*(other.vx - 0.02)");
    tr_lqr_free(lqr);
    tr_system_free(s);
}

static void write_run(tr_system *s, const char *output)
{
    tr_error err = {0};
    tr_simulate_options o = tr_simulate_defaults(s);
    o.output = output;
    tr_simulate(s, &o, NULL, &err);
    if (err.status) fail_msg("%s", err.text);
}

static char *drawn(const char *run, const char *panel)
{
    tr_error err = {0};
    tr_plot_options o = tr_plot_defaults();
    o.runs = &run, o.run_count = 1, o.output = in_folder("run.svg");
    if (panel) o.panels = &panel, o.panel_count = 1;
    if (!tr_plot(&o, &err)) fail_msg("%s", err.text);
    return read_text(in_folder("run.svg"));
}

// By the certificate as long as there is one, then by names
static void test_plot_of_misnamed(void **state)
{
    (void)state;
    tr_system *s = misnamed(false);
    char run[600], *svg;
    snprintf(run, sizeof run, "%s", in_folder("run.csv"));
    write_run(s, run);
    svg = drawn(run, "other.vx");
    assert_contains(svg, "other.vx [rad]");
    free(svg);
    svg = drawn(run, NULL); // coordinates, not their rates
    assert_contains(svg, "speed_rate, other.vx against t");
    free(svg);
    assert_int_equal(remove(in_folder("run.json")), 0);
    svg = drawn(run, "other.vx");
    assert_contains(svg, "other.vx [m/s]");
    free(svg);
    tr_system_free(s);
}

// Whatever stands beside a run, its names are there to go by.
static void test_plot_beside_nonsense(void **state)
{
    (void)state;
    static const char *const beside[] = {
        "no JSON",
        "[]",
        "{\"columns\": 5}",
        "{\"columns\": {\"name\": \"a.x\"}}",
        "{\"columns\": [1, \"a.x\", {}, {\"name\": 3}, {\"name\": \"a.y\", \"unit\": \"kg\"}]}",
    };
    write_text(in_folder("odd.csv"), "t,a.x\n0,1\n1,2\n");
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        write_text(in_folder("odd.json"), beside[i]);
        char *svg = drawn(in_folder("odd.csv"), "a.x");
        assert_contains(svg, "a.x [m]");
        free(svg);
    }
}

static void test_columns_of_a_run(void **state)
{
    (void)state;
    tr_system *s = misnamed(false);
    static const char *const labels[] = {"t", "speed_rate", "energy.work", "residual.position",
                                         "?"};
    static const char *const units[] = {"s", "m", "J", "", ""};
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        assert_string_equal(tr_quantity_unit(tr_column_port(s, labels[i]).quantity), units[i]);
    assert_int_equal(tr_quantity_called(text_of("angle")), QUANTITY_ANGLE);
    assert_int_equal(tr_quantity_called(text_of("anger")), QUANTITY_UNKNOWN);
    tr_system_free(s);
}

// ---- modes of contacts ---------------------------------------------------------------------

static void test_modes_are_no_settings(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = system_called("hopping_wheel", NULL);
    CHECK(inputs, s, {"contact.rim.closed", "mode of a contact", "", "rim", "closed"},
          {"contact.rim.longitudinal_heading", "mode of a contact", "", "rim",
           "longitudinal_heading"});
    assert_int_equal(tr_input_kind(s, input_called(s, "contact.rim.slipping")), TR_MODE);
    assert_string_equal(tr_system_setting(s, text_of("mu"), "set", NULL)->name, "mu");
    assert_null(tr_system_setting(s, text_of("contact.rim.closed"), "set", &err));
    assert_string_equal(err.text, "'contact.rim.closed' is the mode of a contact: only parameters "
                                  "and inputs can be set");
    err = (tr_error){0};
    assert_null(tr_system_setting(s, text_of("turn"), "set", &err));
    assert_string_equal(err.text,
                        "'turn' is part of the state: only parameters and inputs can be set");
    err = (tr_error){0};
    assert_null(tr_locus_new(s, "contact.rim.closed", 0, 1, 0.1, &err));
    assert_contains(err.text, "is the mode of a contact");
    err = (tr_error){0};
    tr_simulate_options o = tr_simulate_defaults(s);
    o.sensitivity = "contact.rim.closed";
    assert_false(tr_simulate(s, &o, NULL, &err));
    assert_contains(err.text, "is the mode of a contact: only parameters and inputs can be varied");
    tr_system_free(s);
    s = system_from(
        "trundle: 1\n" // formulas still read them
        "gravity: 0, 0, -9.81\n"
        "bodies: {foot: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
        "contacts: {sole: {kind: slide, body: foot, unilateral: true}}\n"
        "outputs: {touches: contact.sole.closed}\n");
    assert_non_null(s);
    tr_system_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bicycle),
        cmocka_unit_test(test_loops_and_joints),
        cmocka_unit_test(test_what_bends),
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_controls),
        cmocka_unit_test(test_ports_of_programs),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_texts_of_misnamed),
        cmocka_unit_test(test_law_of_misnamed),
        cmocka_unit_test(test_plot_of_misnamed),
        cmocka_unit_test(test_plot_beside_nonsense),
        cmocka_unit_test(test_columns_of_a_run),
        cmocka_unit_test(test_modes_are_no_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
