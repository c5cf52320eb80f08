// SPDX-License-Identifier: Apache-2.0
// Joints in steps, universal and cylindrical: against two joints with a body without mass between,
// against closed forms of Cardan shafts, cut open, crossed backward, and refused.
#include "newton_euler.h"
#include "plans.h"
#include "runs.h"

// ---- against two joints with nothing between -------------------------------------------------

// `@a` stands for a coordinate: B.a, or a of its own
static const char *const coordinates[][2] = {
    {"angle", "C"}, {"travel", "C"}, {"a", "B"}, {"b", "B"}};

static void add_named(Buffer *to, const char *text, bool whole)
{
    for (; *text; text++) {
        if (*text != '@') {
            tr_buffer_print(to, "%c", *text);
            continue;
        }
        for (size_t k = 0; whole && k < 4; k++)
            if (strncmp(text + 1, coordinates[k][0], strlen(coordinates[k][0])) == 0) {
                tr_buffer_print(to, "%s.", coordinates[k][1]);
                break;
            }
    }
}

#define FIRST  "axis: \"1, 2, 0\", at: \"0.1, 0.2, 0.3\""
#define BEHIND "to: \"0, 0.1, 0.5\", turn: \"0.3, 0.2, 0.1\""
#define ALONG  "axis: \"1, 0, 1\""
#define HEAVY \
    "mass: 1, com: \"0.1, 0.2, -0.4\", inertia: {xx: 0.02, yy: 0.03, zz: 0.025, xy: 0.004}"

static const char *const as_whole = "  B: {parent: base, joint: {type: universal, " FIRST
                                    ", second: \"0, 1, 1\", " BEHIND "}, " HEAVY "}\n"
                                    "  C: {parent: B, joint: {type: cylindrical, " ALONG
                                    ", at: \"0, 0.1, 0.2\", " BEHIND "}, " HEAVY "}\n";
static const char *const as_pieces =
    "  X: {parent: base, joint: {type: revolute, " FIRST ", coordinate: a}}\n"
    "  B: {parent: X, joint: {type: revolute, axis: \"0, 1, 1\", " BEHIND ", coordinate: b}, " HEAVY
    "}\n"
    "  Y: {parent: B, joint: {type: prismatic, " ALONG ", at: \"0, 0.1, 0.2\", coordinate: "
    "travel}}\n"
    "  C: {parent: Y, joint: {type: revolute, " ALONG ", " BEHIND ", coordinate: angle}, " HEAVY
    "}\n";

#define START                                                                                      \
    "initial: {@a: 0.3, @b: -0.7, d(@a): 1.2, @b_rate: 2, @travel: 0.2, @angle: 1, @travel_rate: " \
    "0.4, @angle_rate: -1}\n"
#define OUTPUTS \
    "outputs: {acceleration: d(@a_rate), place: C.x + C.y*C.z, turned: C.R12, gone: d(C.y)}\n"

static const struct Rig {
    const char *base, *whole, *pieces, *both; // joint of the base, roles, and what is alike
} rigs[] = {
    {"free", "", "", START},
    {"planar", "", "", START},
    {"fixed", "", "", START},
    {"free", "roles: {B: {torque: {a: 1, b: 2*sin(t)}}, C: {torque: {angle: -0.3}}}\n",
     "roles: {a: {torque: 1}, b: {torque: 2*sin(t)}, travel: {torque: 0}, angle: {torque: -0.3}}\n",
     START},
    {"free", "roles: {B: {motion: {b: sin(2*t), a: 0.3*t}}, C: {motion: {travel: 0.2*cos(3*t)}}}\n",
     "roles: {b: {motion: sin(2*t)}, a: {motion: 0.3*t}, travel: {motion: 0.2*cos(3*t)}, angle: "
     "{motion: 0}}\n",
     ""},
    {"free", "roles: {B: {rate: {a: 1 + sin(t)}}, C: {rate: {angle: B.b}}}\n",
     "roles: {a: {rate: 1 + sin(t)}, angle: {rate: b}}\n", "initial: {@b: -0.7, @travel: 0.2}\n"},
    {"fixed", "", "",
     "contacts: {p: {kind: pin, body: C, at: \"0.2, 0.1, 0\", against: base, to: \"0.3, 0.4, "
     "0.9\"}}\n"
     "guess: {@a: 0.3, @b: -0.7, @travel: 0.2, @angle: 1, @angle_rate: 2}\n"},
    {"free", "roles: {B: {torque: {b: 0.4}}}\n", "roles: {a: {torque: 0}, b: {torque: 0.4}}\n",
     "contacts: {s: {kind: skate, body: C, at: \"0.2, 0.1, 0\", direction: \"0, 1, 0.2\"}}\n"
     "couplings: {g: {coordinate: @b, equals: {@a: 0.5, @travel: 2}}}\n"
     "constraints: {k: {rate: @angle_rate - 0.3*@a_rate}}\n"
     "guess: {@a: 0.3, @angle: 1, @angle_rate: 2, base.vx: 1}\n"},
};

static tr_system *rig_system(const struct Rig *rig, bool whole)
{
    Buffer text = {0};
    tr_buffer_print(&text,
                    "trundle: 1\ngravity: 1, -2, -9\nbodies:\n"
                    "  base: {joint: {type: %s}, mass: 3, com: \"0.1, 0, 0.2\", inertia: {xx: 0.2, "
                    "yy: 0.3, zz: 0.25}}\n%s",
                    rig->base, whole ? as_whole : as_pieces);
    tr_buffer_print(&text, "%s", whole ? rig->whole : rig->pieces);
    add_named(&text, rig->both, whole);
    add_named(&text, OUTPUTS, whole);
    tr_system *system = system_from(text.at);
    tr_buffer_free(&text);
    return system;
}

static size_t operations(tr_system *system)
{
    tr_error err = {0};
    tr_program *program = compile_reduced(system, "vdot", NULL, &err);
    if (!program) fail_msg("%s", err.text);
    const size_t count = tr_program_sizes(program).operations;
    tr_program_free(program);
    return count;
}

// Columns stand in one order; all of them are alike, torques and reactions too.
static void check_rig(const struct Rig *rig)
{
    tr_system *whole = rig_system(rig, true), *pieces = rig_system(rig, false);
    assert_int_equal(tr_input_count(whole), tr_input_count(pieces));
    const size_t operations_of_whole = operations(whole), operations_of_pieces = operations(pieces);
    assert_true(operations_of_whole <= operations_of_pieces);
    Sheet *a = run_to(whole, 1, 0.1), *b = run_to(pieces, 1, 0.1);
    assert_int_equal(a->columns, b->columns);
    for (size_t k = 0; k < a->columns; k++) {
        const double off = difference(a, a->names[k], b, b->names[k]);
        assert_below(off, 1e-12 * (1 + largest(b, b->names[k])));
    }
    assert_true(largest(a, "B.b") > 0.1 && largest(a, "C.angle_rate") >= 0);
    tr_sheet_free(a);
    tr_sheet_free(b);
}

static void test_in_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rigs / sizeof *rigs; i++) check_rig(&rigs[i]);
}

// ---- crossed backward, and cut ---------------------------------------------------------------

#define TWO                                     \
    "trundle: 1\ngravity: 1, -2, -9\nbodies:\n" \
    "  A: {" HEAVY "}\n  B: {" HEAVY "}\n"

// From A, which hangs from the world, to B, although B is written to hold A
static void test_backward(void **state)
{
    (void)state;
    static const char *const types[][3] = {
        {"universal, second: \"0, 1, 1\"", "revolute", "revolute, axis: \"0, 1, 1\""},
        {"cylindrical", "prismatic", "revolute, axis: \"1, 2, 0\""}};
    static const char *const names[][4] = {{"B.a", "B.b", "a", "b"},
                                           {"B.travel", "B.angle", "a", "b"}};
    for (int i = 0; i < 2; i++) {
        char text[2000];
        snprintf(text, sizeof text,
                 TWO "joints:\n  f: {type: free, body: A}\n"
                     "  h: {type: %s, parent: B, body: A, " FIRST ", " BEHIND "}\n"
                     "initial: {%s: 0.3, %s: -0.7, %s_rate: 1.2, %s_rate: 2, A.wx: 1, A.vy: 2}\n",
                 types[i][0], names[i][0], names[i][1], names[i][0], names[i][1]);
        Sheet *whole = run_to(system_from(text), 1, 0.1);
        snprintf(text, sizeof text,
                 TWO "  X: {mass: 0}\n"
                     "joints:\n  f: {type: free, body: A}\n"
                     "  a: {type: %s, parent: B, body: X, " FIRST "}\n"
                     "  b: {type: %s, parent: X, body: A, " BEHIND "}\n"
                     "initial: {a: 0.3, b: -0.7, a_rate: 1.2, b_rate: 2, A.wx: 1, A.vy: 2}\n",
                 types[i][1], types[i][2]);
        Sheet *pieces = run_to(system_from(text), 1, 0.1);
        static const char *const alike[] = {"A.x", "A.qw", "A.wz", "energy.kinetic",
                                            "energy.potential"};
        for (int k = 0; k < 5; k++)
            assert_below(difference(whole, alike[k], pieces, alike[k]), 1e-12 * 100);
        for (int k = 0; k < 2; k++)
            assert_below(difference(whole, names[i][k], pieces, names[i][2 + k]), 1e-12);
        tr_sheet_free(whole);
        tr_sheet_free(pieces);
    }
}

// Either joint of a loop may be the one that is cut, whatever the angle of the two axes.
static void test_cut(void **state)
{
    (void)state;
    static const char *const types[] = {"universal, axis: \"1, 2, 0\", second: \"0, 1, 1\"",
                                        "universal, axis: \"1, 0, 0\", second: \"0, 0, 2\"",
                                        "cylindrical, axis: \"1, 2, 0\""};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        Sheet *run[2];
        for (int cut = 0; cut < 2; cut++) {
            char text[2000];
            snprintf(text, sizeof text,
                     TWO "joints:\n  f: {type: ball, body: A}\n"
                         "  h: {type: %s, parent: A, body: B, at: \"0.1, 0.2, 0.3\", " BEHIND
                         ", cut: %s}\n"
                         "  p: {type: planar, body: B, at: \"0.2, 0.1, -0.3\", turn: \"0.1, 0.2, "
                         "0\", cut: %s}\n"
                         "frames: {F: {body: B}}\n"
                         "outputs: {x: F.x, R: F.R12, z: F.z, w: F.wz, a: d(F.wy), b: d(A.wx)}\n",
                     types[i], cut ? "true" : "false", cut ? "false" : "true");
            // where and how it starts: where the first run does
            const size_t length = strlen(text);
            if (!cut)
                snprintf(text + length, sizeof text - length,
                         "guess: {A.wx: 1, A.wy: 0.5, A.wz: -0.7}\n");
            else
                snprintf(text + length, sizeof text - length,
                         "guess: {A.qw: %.17g}\ninitial: {A.qx: %.17g, A.qy: %.17g, A.qz: %.17g, "
                         "F.x: %.17g, F.R12: %.17g, A.wx: %.17g, A.wy: %.17g, A.wz: %.17g, F.wz: "
                         "%.17g}\n",
                         at(run[0], 0, "A.qw"), at(run[0], 0, "A.qx"), at(run[0], 0, "A.qy"),
                         at(run[0], 0, "A.qz"), at(run[0], 0, "x"), at(run[0], 0, "R"),
                         at(run[0], 0, "A.wx"), at(run[0], 0, "A.wy"), at(run[0], 0, "A.wz"),
                         at(run[0], 0, "w"));
            run[cut] = run_to(system_from(text), 1, 0.1);
        }
        static const char *const alike[] = {"x", "R", "z", "w", "a", "b", "A.qy", "energy.kinetic"};
        for (size_t k = 0; k < sizeof alike / sizeof *alike; k++)
            assert_below(difference(run[0], alike[k], run[1], alike[k]),
                         1e-9 * (1 + largest(run[0], alike[k])));
        tr_sheet_free(run[0]);
        tr_sheet_free(run[1]);
    }
}

// ---- Cardan shafts ---------------------------------------------------------------------------

#define SHAFT "mass: 1, inertia: {xx: 0.01, yy: 0.02, zz: 0.02}"

// tan(out) cos(beta) = tan(in), and so out' = in' cos(beta) / (cos^2(beta) cos^2(in) + sin^2(in))
static void test_cardan(void **state)
{
    (void)state;
    static const double betas[] = {0.1, 0.5, 1.2};
    for (int i = 0; i < 3; i++) {
        char text[2000];
        const double c = cos(betas[i]);
        snprintf(text, sizeof text,
                 "trundle: 1\nparameters: {beta: %.17g}\nbodies:\n"
                 "  inner: {" SHAFT "}\n  outer: {" SHAFT "}\n"
                 "joints:\n"
                 "  in: {type: revolute, body: inner, axis: \"1, 0, 0\"}\n"
                 "  out: {type: revolute, body: outer, axis: \"cos(beta), sin(beta), 0\", turn: "
                 "\"0, 0, beta\"}\n"
                 "  hook: {type: universal, parent: inner, body: outer, axis: \"0, 1, 0\", second: "
                 "\"0, 0, 1\", turn: \"0, 0, beta\"}\n"
                 "roles: {in: {motion: 2*t}}\n",
                 betas[i]);
        Sheet *run = run_to(system_from(text), 4, 0.1);
        for (size_t k = 0; k < run->rows; k++) {
            const double in = 2 * at(run, k, "t"), out = at(run, k, "out");
            assert_close(sin(out) * c * cos(in) - cos(out) * sin(in) + 1, 1, 1e-12);
            const double rate = 2 * c / (c * c * cos(in) * cos(in) + sin(in) * sin(in));
            assert_close(at(run, k, "out_rate"), rate, 1e-10);
            // out goes on turning: it is never half a turn away
            assert_true(fabs(out - in) < 1.6);
        }
        tr_sheet_free(run);
    }
}

// The bundled one: forks in line, and across each other, where the second joint does the same again
// from where the shaft is by then.
static void test_bundled_cardan(void **state)
{
    (void)state;
    static const char *const cases[] = {"even", "crossed"};
    for (int i = 0; i < 2; i++) {
        Sheet *run = run_to(system_called("cardan_shaft", cases[i]), 2, 0.05);
        const double c = cos(0.4), s = sin(0.4);
        double unlike = 0;
        for (size_t k = 0; k < run->rows; k++) {
            const double in = at(run, k, "in_rate"), angle = at(run, k, "turn"),
                         middle = c * in / (1 - s * s * sin(angle) * sin(angle)),
                         turned = atan2(c * sin(angle), cos(angle)),
                         again = c * middle / (1 - s * s * sin(turned) * sin(turned));
            assert_close(at(run, k, "between_rate") + 1, middle + 1, 1e-10);
            assert_close(at(run, k, "out_rate") + 1, (i ? again : in) + 1, 1e-10);
            unlike = fmax(unlike, fabs(at(run, k, "out_rate") - in));
        }
        if (i) assert_true(unlike > 1);
        assert_true(at(run, run->rows - 1, "in_rate") > 20);
        tr_sheet_free(run);
    }
}

// Forks of the shaft between that are in one plane, and both angles alike: what comes out is what
// goes in, driven by a torque against a load.
static void test_double_cardan(void **state)
{
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        char text[2000];
        snprintf(
            text, sizeof text,
            "trundle: 1\nparameters: {beta: 0.5, l: 0.4}\ngravity: 0, 0, 0\nbodies:\n"
            "  inner: {" SHAFT "}\n  shaft: {" SHAFT ", com: \"l/2, 0, 0\"}\n"
            "  outer: {" SHAFT "}\n"
            "joints:\n"
            "  in: {type: revolute, body: inner, axis: \"1, 0, 0\"}\n"
            "  first: {type: universal, parent: inner, body: shaft, axis: \"0, 1, 0\", "
            "second: \"0, 0, 1\"}\n"
            "  out: {type: revolute, body: outer, at: \"l*cos(beta), l*sin(beta), 0\", axis: "
            "\"cos(2*beta), sin(2*beta), 0\", turn: \"0, 0, 2*beta\", cut: %s}\n"
            "  hook: {type: universal, parent: shaft, body: outer, at: \"l, 0, 0\", axis: \"0, "
            "0, 1\", second: \"0, 1, 0\", cut: %s}\n"
            "roles: {in: {torque: 0.02}, out: {torque: -0.01}}\n"
            "guess: {shaft.b: beta%s}\n"
            "initial: {in: 0, in_rate: 3}\n",
            cut ? "true" : "false", cut ? "false" : "true", cut ? ", outer.a: beta" : "");
        Sheet *run = run_to(system_from(text), 3, 0.1);
        double turned = 0;
        for (size_t k = 0; k < run->rows; k++) {
            const double in = at(run, k, "in"), out = at(run, k, "out");
            turned = fmax(turned, in);
            assert_below(fabs(remainder(out - in, 2 * acos(-1))), 1e-9);
            assert_close(at(run, k, "out_rate"), at(run, k, "in_rate"), 1e-9);
        }
        assert_true(turned > 9);
        tr_sheet_free(run);
    }
}

// ---- names -----------------------------------------------------------------------------------

#define MAST                                                                                    \
    "trundle: 1\ninputs: {p: 0, q: 0}\nbodies:\n"                                               \
    "  mast: {joint: {type: universal, axis: \"1, 0, 0\", second: \"0, 1, 0\", potential: "     \
    "\"2*mast.a^2 + 3*mast.b^2\", dissipation: \"0.05*mast.a_rate^2\"}, mass: 1, com: \"0, 0, " \
    "-0.5\", inertia: {xx: 0.02, yy: 0.03, zz: 0.025}}\n"                                       \
    "  ring: {parent: mast, joint: {type: cylindrical, axis: \"0, 0, 1\", potential: "          \
    "\"20*(ring.travel + 0.3)^2\"}, mass: 0.3, inertia: {xx: 0.02, yy: 0.02, zz: 0.03}}\n"      \
    "roles: {mast: {torque: {a: p, b: q}}}\n"                                                   \
    "initial: {ring.travel: -0.3 - 0.3*9.81/40}\n"

// Of what is linear, of springs by formulas: I q'' + 4 q = torque about each axis
static void test_names(void **state)
{
    (void)state;
    tr_system *system = system_from(MAST);
    tr_error err = {0};
    char *text = tr_linearise_text(system, NULL, &err);
    if (!text) fail_msg("%s", err.text);
    assert_says(text, "mast.a_rate");
    assert_says(text, "change of the coordinate mast.a");
    assert_says(text, "rate of ring.travel");
    assert_null(strstr(text, "between"));
    tr_text_free(text);
    static const struct {
        const char *name;
        Quantity quantity;
    } ports[] = {{"mast.a", QUANTITY_ANGLE},
                 {"mast.b_rate", QUANTITY_ANGULAR_SPEED},
                 {"ring.travel", QUANTITY_LENGTH},
                 {"ring.travel_rate", QUANTITY_SPEED},
                 {"ring.angle_rate", QUANTITY_ANGULAR_SPEED}};
    for (size_t k = 0; k < sizeof ports / sizeof *ports; k++) {
        const Input *input = NULL;
        for (uint32_t i = 0; i < system->input_count; i++)
            if (strcmp(system->inputs[i].name, ports[k].name) == 0) input = &system->inputs[i];
        assert_non_null(input);
        assert_int_equal(input->port.quantity, ports[k].quantity);
        assert_false(input->is_base);
    }
    tr_system_free(system);
}

// ---- refused ---------------------------------------------------------------------------------

#define AT   "trundle: 1\nbodies:\n  w: {mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, joint: "
#define HOOK "{type: universal, axis: \"1, 0, 0\", second: \"0, 1, 0\""

static const struct {
    const char *text;
    int line, column;
    const char *words;
} refusals[] = {
    {AT "{type: universal, second: \"0, 1, 0\"}}\n", 3, 55,
     "the universal joint of 'w' needs an axis"},
    {AT "{type: universal, axis: \"0, 1, 0\"}}\n", 3, 55,
     "the universal joint of 'w' needs a 'second' axis"},
    {AT "{type: cylindrical}}\n", 3, 55, "the cylindrical joint of 'w' needs an axis"},
    {AT "{type: universal, axis: \"1, 2, 3\", second: \"-2, -4, -6\"}}\n", 3, 99,
     "the two axes of a universal joint are not parallel: along one line they are one, which is a "
     "revolute joint"},
    {AT "{type: universal, axis: \"1, 2, 3\", second: \"0, 0, 0\"}}\n", 3, 99,
     "the second axis is zero: it has no direction"},
    {AT "{type: cylindrical, axis: \"1, 2, 3\", second: \"0, 0, 1\"}}\n", 3, 101,
     "a cylindrical joint has no use for 'second'"},
    {AT "{type: revolute, axis: \"1, 2, 3\", second: \"0, 0, 1\"}}\n", 3, 98,
     "a revolute joint has no use for 'second'"},
    {AT "{type: free, second: \"0, 0, 1\"}}\n", 3, 77, "a free joint has no use for 'second'"},
    {AT HOOK ", coordinate: q}}\n", 3, 121, "a universal joint names no coordinate of its own"},
    {AT HOOK ", pitch: 0.1}}\n", 3, 116, "a universal joint has no use for 'pitch'"},
    {AT HOOK ", stiffness: 3}}\n", 3, 120,
     "'stiffness' needs a joint with one coordinate; use potential here"},
    {AT HOOK ", damping: 3}}\n", 3, 118,
     "'damping' needs a joint with one coordinate; use dissipation here"},
    {AT "{type: cylindrical, axis: \"1, 0, 0\", rest: 3}}\n", 3, 98,
     "'rest' needs a joint with one coordinate; use potential here"},
    {AT HOOK ", elastic: {stiffness: 3, inertia: 1}}}\n", 3, 118,
     "a universal joint cannot be elastic: only joints with one coordinate can"},
    {AT HOOK "}}\nroles: {w: {torque: 1}}\n", 4, 21,
     "this joint has several velocities: write {torque: {a: ...}}"},
    {AT HOOK "}}\nroles: {w: {motion: 1}}\n", 4, 21,
     "this joint has several coordinates: write {motion: {a: ...}}"},
    {AT HOOK "}}\nroles: {w: {torque: {c: 1}}}\n", 4, 22, "this joint has no velocity 'c'"},
    {AT HOOK "}}\nroles: {w: {motion: {c: 1}}}\n", 4, 22, "this joint has no coordinate 'c'"},
    {AT HOOK "}}\nroles: {w.a: {torque: 1}}\n", 4, 9, "there is no joint 'w.a'; there is 'w'"},
    {AT HOOK "}}\nloops: {E: {kind: universal, body: w, axis: \"1, 0, 0\"}}\n", 4, 9,
     "the universal loop 'E' needs an own_axis: the axis of 'body' that stays across 'axis'"},
    {AT HOOK "}}\nloops: {E: {kind: universal, body: w}}\n", 4, 9,
     "the universal loop 'E' needs an axis"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        tr_error err = {0};
        tr_model *model = tr_model_parse(refusals[i].text, &err);
        if (!model) fail_msg("%s", err.text);
        assert_null(tr_derive(model, NULL, &err));
        tr_model_free(model);
        if (strcmp(err.text, refusals[i].words) != 0 || err.line != refusals[i].line ||
            err.column != refusals[i].column)
            fail_msg("%s%d:%d: %s", refusals[i].text, err.line, err.column, err.text);
    }
}

// Axes that parameters turn into each other: the condition is kept.
static void test_parallel_by_parameter(void **state)
{
    (void)state;
    tr_system *system =
        system_from("trundle: 1\nparameters: {g: 1}\nbodies:\n  w: {mass: 1, inertia: {xx: 1, yy: "
                    "1, zz: 1}, joint: {type: universal, axis: \"1, 0, 0\", second: \"cos(g), "
                    "sin(g), 0\"}}\n");
    tr_error err = {0};
    double values[9]; // of what conditions look at
    for (int k = 0; k < 9; k++) values[k] = 0.5;
    assert_true(tr_system_allows(system, values, NULL, &err));
    for (int k = 0; k < 9; k++) values[k] = -0.5;
    assert_false(tr_system_allows(system, values, NULL, &err));
    assert_says(err.text, "the axes of the universal joint of 'w' are not parallel");
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_pieces),
        cmocka_unit_test(test_backward),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_cardan),
        cmocka_unit_test(test_double_cardan),
        cmocka_unit_test(test_bundled_cardan),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_parallel_by_parameter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
