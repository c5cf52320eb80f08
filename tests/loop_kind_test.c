// SPDX-License-Identifier: Apache-2.0
// Every kind of loop against the joint that it is, and frames against the bodies they stand on.
#include "newton_euler.h"
#include "plans.h"
#include "runs.h"

// ---- every kind, against the joint that it is ----------------------------------------------

static const char *const rig_head =
    "trundle: 1\n"
    "gravity: 1, -2, -9\n"
    "bodies:\n"
    "  carrier: {joint: {type: revolute, axis: \"0.3, -0.5, 1\", at: \"0.1, 0.2, 0.3\", "
    "coordinate: "
    "swing, stiffness: 3}, mass: 2, com: \"0.1, 0.3, -0.2\", inertia: {xx: 0.2, yy: 0.3, zz: 0.25, "
    "xy: 0.02}}\n"
    "  probe: {mass: 1.5, com: \"0.05, -0.1, 0.15\", inertia: {xx: 0.1, yy: 0.06, zz: 0.08, yz: "
    "0.01}, %s}\n"
    "%s"
    "frames:\n"
    "  seat: {body: carrier, at: \"0.3, 0.1, -0.2\", turn: \"0.4, -0.3, 0.5\"}\n"
    "  foot: {body: probe, at: \"-0.1, 0.2, 0.15\", turn: \"-0.6, 0.2, 0.9\"}\n"
    "  p: {body: probe}\n"
    "outputs:\n"
    "  x: p.x\n  y: p.y\n  z: p.z\n"
    "  R11: p.R11\n  R12: p.R12\n  R13: p.R13\n  R21: p.R21\n  R22: p.R22\n  R23: p.R23\n"
    "  R31: p.R31\n  R32: p.R32\n  R33: p.R33\n"
    "  vx: p.vx\n  vy: p.vy\n  vz: p.vz\n  wx: p.wx\n  wy: p.wy\n  wz: p.wz\n"
    "  ax: d(p.vx)\n  ay: d(p.vy)\n  az: d(p.vz)\n  bx: d(p.wx)\n  by: d(p.wy)\n  bz: d(p.wz)\n"
    "%s";

static const char *const rig_columns[] = {"swing",
                                          "x",
                                          "y",
                                          "z",
                                          "R11",
                                          "R12",
                                          "R13",
                                          "R21",
                                          "R22",
                                          "R23",
                                          "R31",
                                          "R32",
                                          "R33",
                                          "vx",
                                          "vy",
                                          "vz",
                                          "wx",
                                          "wy",
                                          "wz",
                                          "ax",
                                          "ay",
                                          "az",
                                          "bx",
                                          "by",
                                          "bz",
                                          "energy.kinetic",
                                          "energy.potential"};

static const V3 seat_at = {0.3, 0.1, -0.2}, foot_at = {-0.1, 0.2, 0.15};

static M3 seat_turn(void) { return m3_turn(v3(0.4, -0.3, 0.5)); }
static M3 foot_turn(void) { return m3_turn(v3(-0.6, 0.2, 0.9)); }

// A joint that holds the foot on the seat, in the axes of probe and carrier; `axis` is the seat's.
static void add_joint(Buffer *b, const char *type, V3 axis, V3 second, const char *more)
{
    const bool planar = strcmp(type, "planar") == 0;
    const M3 turn = m3_product(seat_turn(), m3_transposed(foot_turn()));
    tr_buffer_print(b, "parent: carrier, joint: {type: %s", type);
    add_vector(b, "at", seat_at);
    add_vector(b, "turn", m3_angles(planar ? seat_turn() : turn));
    if (!planar) add_vector(b, "to", foot_at);
    if (!planar && v3_dot(axis, axis) > 0) add_vector(b, "axis", m3_times(seat_turn(), axis));
    if (v3_dot(second, second) > 0) add_vector(b, "second", m3_times(seat_turn(), second));
    tr_buffer_print(b, "%s}", more);
}

__attribute__((format(printf, 3, 4))) static char *rig_text(const char *joint, const char *bodies,
                                                            const char *format, ...)
{
    static char rest[3000];
    Buffer b = {0};
    va_list list;
    va_start(list, format);
    vsnprintf(rest, sizeof rest, format, list);
    va_end(list);
    char whole[8000];
    snprintf(whole, sizeof whole, rig_head, joint, bodies, rest);
    tr_buffer_print(&b, "%s", whole);
    return b.at;
}

// The free probe's pose and velocities as those of a run at its start
static void add_guess(Buffer *b, const Sheet *run)
{
    static const char *const names[] = {"qw", "qx", "qy", "qz"};
    double R[9], q[4] = {0};
    for (int k = 0; k < 9; k++) {
        char name[8];
        snprintf(name, sizeof name, "R%d%d", k / 3 + 1, k % 3 + 1);
        R[k] = at(run, 0, name);
    }
    const double trace = R[0] + R[4] + R[8];
    if (trace > -0.9) {
        q[0] = 0.5 * sqrt(1 + trace);
        q[1] = (R[7] - R[5]) / (4 * q[0]), q[2] = (R[2] - R[6]) / (4 * q[0]),
        q[3] = (R[3] - R[1]) / (4 * q[0]);
    }
    assert_true(q[0] > 0);
    tr_buffer_print(b, "guess: {");
    for (int k = 0; k < 4; k++) {
        tr_buffer_print(b, "probe.%s: ", names[k]);
        tr_buffer_number(b, q[k]);
        tr_buffer_print(b, ", ");
    }
    static const char *const same[] = {"x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"};
    for (int k = 0; k < 9; k++) {
        tr_buffer_print(b, "probe.%s: ", same[k]);
        tr_buffer_number(b, at(run, 0, same[k]));
        tr_buffer_print(b, ", ");
    }
    tr_buffer_print(b, "swing: ");
    tr_buffer_number(b, at(run, 0, "swing"));
    tr_buffer_print(b, ", swing_rate: ");
    tr_buffer_number(b, at(run, 0, "swing_rate"));
    tr_buffer_print(b, "}\n");
}

static void compare_rigs(const Sheet *a, const Sheet *b, const char *what)
{
    for (size_t k = 0; k < sizeof rig_columns / sizeof *rig_columns; k++) {
        const char *name = rig_columns[k];
        const double off = difference(a, name, b, name), size = 1 + largest(a, name);
        if (!is_below(off, 1e-9 * size))
            fail_msg("%s: %s is off by %.2g of %.2g", what, name, off, size);
    }
    assert_true(largest(a, "x") > 0.1 && largest(a, "swing_rate") > 0.1);
}

typedef struct Kind {
    const char *loop, *joint, *initial; // of the joint's coordinates
    V3 axis;                            // in the seat's axes
    const char *spring;
} Kind;

static const Kind kinds[] = {
    {"pose", "fixed", "", {0, 0, 0}, ""},
    {"axis", "revolute", ", free: 0.4, free_rate: 1.3", {0, 0, 1}, ""},
    {"axis", "revolute", ", free: -0.4, free_rate: 1.3", {0, -1, 0}, ""},
    {"axis",
     "revolute",
     ", free: 0.9, free_rate: -1.3",
     {0.5, -0.7, 0.3},
     ", stiffness: 4, rest: 0.3, damping: 0.2"},
    {"slider", "prismatic", ", free: 0.2, free_rate: 0.5", {1, 0, 0}, ""},
    {"slider",
     "prismatic",
     ", free: -0.2, free_rate: 0.5",
     {0.4, 0.5, -0.8},
     ", stiffness: 90, rest: 0.1, damping: 0.3"},
    {"point", "ball", ", p.wx: 1, p.wy: -0.5, p.wz: 0.7", {0, 0, 0}, ""},
    {"plane",
     "planar",
     ", probe.vx: 0.3, probe.vy: -0.4, probe.wz: 0.8, probe.x: 0.1, probe.theta: 0.5",
     {0, 0, 1},
     ""},
    {"universal",
     "universal",
     ", probe.a: 0.4, probe.b: -0.6, probe.a_rate: 1.3, probe.b_rate: -0.8",
     {0.5, -0.7, 0.3},
     ""},
};

// Of a universal joint, across its axis
static V3 second_of(const Kind *kind)
{
    return strcmp(kind->loop, "universal") == 0 ? v3(0.7, 0.5, 0) : v3(0, 0, 0);
}

static Sheet *run_kind_as_joint(const Kind *kind)
{
    Buffer joint = {0};
    char spring[100];
    const bool single = kind->loop[0] == 'a' || kind->loop[0] == 's';
    snprintf(spring, sizeof spring, "%s%s", single ? ", coordinate: free" : "", kind->spring);
    add_joint(&joint, kind->joint, kind->axis, second_of(kind), spring);
    char *text = rig_text(joint.at, "", "initial: {swing: 0.3, swing_rate: 1%s}\n", kind->initial);
    Sheet *run = run_to(system_from(text), 1, 0.1);
    tr_buffer_free(&joint);
    free(text);
    return run;
}

static void add_start(Buffer *b, const char *name, double value, double rate)
{
    tr_buffer_print(b, "initial: {loop.E.%s: ", name);
    tr_buffer_number(b, value);
    tr_buffer_print(b, ", d(loop.E.%s): ", name);
    tr_buffer_number(b, rate);
    tr_buffer_print(b, "}\n");
}

static void check_kind(const Kind *kind)
{
    Sheet *wanted = run_kind_as_joint(kind);
    Buffer rest = {0};
    const bool single = kind->loop[0] == 'a' || kind->loop[0] == 's';
    const char *free_name = kind->loop[0] == 'a' ? "angle" : "travel";
    tr_buffer_print(&rest, "loops: {E: {kind: %s, body: %s, on: seat%s", kind->loop,
                    kind->loop[1] == 'l' && kind->loop[0] == 'p' ? "probe" : "foot", kind->spring);
    if (v3_dot(kind->axis, kind->axis) > 0) add_vector(&rest, "axis", kind->axis);
    const V3 second = second_of(kind);
    if (v3_dot(second, second) > 0) add_vector(&rest, "own_axis", second);
    tr_buffer_print(&rest, "}}\n");
    add_guess(&rest, wanted);
    if (single) add_start(&rest, free_name, at(wanted, 0, "free"), at(wanted, 0, "free_rate"));
    char outputs[100] = "";
    if (single)
        snprintf(outputs, sizeof outputs, "  free: loop.E.%s\n  free_rate: d(loop.E.%s)\n",
                 free_name, free_name);
    char *text = rig_text("joint: {type: free}", "", "%s%s", outputs, rest.at);
    Sheet *run = run_to(system_from(text), 1, 0.1);
    compare_rigs(wanted, run, kind->loop);
    if (single) {
        assert_below(difference(run, "free", wanted, "free"), 1e-9);
        assert_below(difference(run, "free_rate", wanted, "free_rate"), 1e-8);
        assert_true(largest(run, "free") < 3);
    }
    tr_buffer_free(&rest);
    tr_sheet_free(run);
    tr_sheet_free(wanted);
    free(text);
}

static void test_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) check_kind(&kinds[i]);
}

// A sleeve without mass slides along the axis, and the probe turns in it.
static void test_cylinder(void **state)
{
    (void)state;
    const V3 axis = v3(0.5, -0.7, 0.3), along = m3_times(seat_turn(), axis);
    const M3 turn = m3_product(seat_turn(), m3_transposed(foot_turn()));
    Buffer sleeve = {0}, joint = {0}, rest = {0};
    tr_buffer_print(&sleeve, "  sleeve: {parent: carrier, joint: {type: prismatic");
    add_vector(&sleeve, "at", seat_at);
    add_vector(&sleeve, "axis", along);
    tr_buffer_print(&sleeve, "}}\n");
    tr_buffer_print(&joint, "parent: sleeve, joint: {type: revolute, coordinate: round");
    add_vector(&joint, "to", foot_at);
    add_vector(&joint, "turn", m3_angles(turn));
    add_vector(&joint, "axis", along);
    tr_buffer_print(&joint, "}");
    char *text = rig_text(joint.at, sleeve.at,
                          "initial: {swing: 0.3, swing_rate: 1, sleeve: 0.1, sleeve_rate: 0.4, "
                          "round: 0.5, round_rate: 1.5}\n");
    Sheet *wanted = run_to(system_from(text), 1, 0.1);
    free(text);
    tr_buffer_print(&rest, "loops: {E: {kind: cylinder, body: foot, on: seat");
    add_vector(&rest, "axis", axis);
    tr_buffer_print(&rest, "}}\n");
    add_guess(&rest, wanted);
    text = rig_text("joint: {type: free}", "", "%s", rest.at);
    Sheet *run = run_to(system_from(text), 1, 0.1);
    compare_rigs(wanted, run, "cylinder");
    free(text);
    tr_sheet_free(run);
    tr_sheet_free(wanted);
    tr_buffer_free(&sleeve);
    tr_buffer_free(&joint);
    tr_buffer_free(&rest);
}

// A rod without mass that turns about two axes at the seat, and holds the foot by a ball
static void test_distance(void **state)
{
    (void)state;
    static const char *const start =
        "initial: {swing: 0.3, swing_rate: 1, probe.vx: 0.5, probe.vy: 0.3, probe.wx: 1, probe.wy: "
        "-0.5, probe.wz: 0.7, probe.x: 0.9, probe.y: 0.6, probe.qx: 0.3, probe.qy: -0.2, probe.qz: "
        "0.4}\n";
    char *text = rig_text("joint: {type: free}", "",
                          "%sloops: {E: {kind: distance, body: foot, on: seat, length: 0.8}}\n"
                          "guess: {probe.z: 0.3}\n",
                          start);
    Sheet *rod = run_to(system_from(text), 1, 0.1);
    free(text);
    text = rig_text(
        "joint: {type: free}",
        "  fork: {parent: carrier, joint: {type: revolute, axis: \"0, 0, 1\", at: \"0.3, 0.1, "
        "-0.2\"}}\n"
        "  rod: {parent: fork, joint: {type: revolute, axis: \"0, 1, 0\"}}\n",
        "%sloops: {E: {kind: point, body: foot, on: rod, to: \"0.8, 0, 0\"}}\n"
        "guess: {probe.z: 0.3, fork: 0.5}\n",
        start);
    Sheet *bodies = run_to(system_from(text), 1, 0.1);
    free(text);
    compare_rigs(rod, bodies, "distance");
    for (size_t i = 0; i < rod->rows; i++) {
        assert_close(at(bodies, i, "lambda.E.x"), at(rod, i, "lambda.E.distance"), 1e-8);
        assert_close(at(bodies, i, "lambda.E.y"), 0, 1e-8);
        assert_close(at(bodies, i, "lambda.E.z"), 0, 1e-8);
    }
    tr_sheet_free(rod);
    tr_sheet_free(bodies);
}

// Where it is closed, what a row keeps zero changes at the row's own rate, however things move.
static void check_rates(const char *kind, Random *r)
{
    char *text = rig_text("joint: {type: free}", "",
                          "loops: {E: {kind: %s, body: foot, on: seat}}\n"
                          "guess: {probe.x: 0.9, probe.y: 0.4, probe.qx: 0.3, swing: 0.4}\n",
                          kind);
    tr_error err = {0};
    tr_system *system = system_from(text);
    double *inputs = calloc(tr_input_count(system), sizeof *inputs), values[12];
    Expr both[12];
    const uint32_t rows = system->row_count;
    for (uint32_t i = 0; i < rows; i++) {
        both[i] = tr_time_derivative(system, system->rows[i].position, &err);
        both[rows + i] = system->rows[i].rate;
    }
    tr_output(system, "both", both, 2 * rows, 1, &err);
    tr_program *program = tr_compile(system, "both", NULL, &err);
    tr_workspace *work = tr_workspace_new(program, &err);
    if (!initial_of(system, inputs, &err)) fail_msg("%s: %s", kind, err.text);
    for (uint32_t i = 0; i < system->input_count; i++) // from here on not as the loop allows
        if (system->inputs[i].kind == TR_VELOCITY) inputs[i] = random_between(r, -1, 1);
    tr_evaluate(program, work, inputs, values);
    double size = 0;
    for (uint32_t i = 0; i < rows; i++) {
        if (!is_close(values[i], values[rows + i], 1e-9))
            fail_msg("%s: '%s' changes by %.9g, not %.9g", kind, system->rows[i].name, values[i],
                     values[rows + i]);
        size = fmax(size, fabs(values[i]));
    }
    if (size < 0.1) fail_msg("%s: nothing moves, %.3g", kind, size);
    tr_workspace_free(work);
    tr_program_free(program);
    free(inputs);
    tr_system_free(system);
    free(text);
}

static void test_rates(void **state)
{
    (void)state;
    Random r = {9};
    static const char *const all[] = {"point",
                                      "pose",
                                      "axis, axis: \"0.3, 0.5, -0.7\"",
                                      "slider, axis: \"0.3, 0.5, -0.7\"",
                                      "cylinder, axis: \"0.3, 0.5, -0.7\"",
                                      "plane, axis: \"0.3, 0.5, -0.7\", own_axis: \"1, 1, 0\"",
                                      "universal, axis: \"0.3, 0.5, -0.7\", own_axis: \"1, 1, 0\"",
                                      "distance, length: 0.8"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) check_rates(all[i], &r);
}

// Whether a loop closes from a guess; if so the axes z of what it holds are parallel, not opposite.
static bool closes(const char *kind, const char *body, const char *on, const double *q)
{
    static const char *const names[] = {"qw", "qx", "qy", "qz"};
    Buffer rest = {0};
    if (strcmp(on, "world") == 0)
        tr_buffer_print(&rest, "  along: %s.R33\n", body);
    else
        tr_buffer_print(&rest, "  along: %s.R13*%s.R13 + %s.R23*%s.R23 + %s.R33*%s.R33\n", on, body,
                        on, body, on, body);
    tr_buffer_print(&rest, "loops: {E: {kind: %s, body: %s, on: %s}}\nguess: {", kind, body, on);
    for (int k = 0; k < 4; k++) {
        tr_buffer_print(&rest, "probe.%s: ", names[k]);
        tr_buffer_number(&rest, q[k]);
        tr_buffer_print(&rest, ", ");
    }
    tr_buffer_print(&rest, "probe.x: 0.3}\n");
    char *text = rig_text("joint: {type: free}", "", "%s", rest.at);
    tr_system *system = system_from(text);
    tr_error err = {0};
    double *inputs = calloc(tr_input_count(system), sizeof *inputs), along = 0;
    const bool closed = initial_of(system, inputs, &err);
    if (!closed) assert_true(err.status == TR_INVALID && strstr(err.text, "E."));
    tr_error none = {0};
    tr_program *program = tr_compile(system, "outputs.along", NULL, &none);
    tr_workspace *work = tr_workspace_new(program, &none);
    tr_evaluate(program, work, inputs, &along);
    if (closed) assert_close(along, 1, 1e-10);
    tr_workspace_free(work);
    tr_program_free(program);
    free(inputs);
    tr_system_free(system);
    tr_buffer_free(&rest);
    free(text);
    return closed;
}

// From any guess, also one that is turned by half a turn: what closes is the right way round.
static void test_way_round(void **state)
{
    (void)state;
    static const char *const loops[] = {"axis, axis: \"0, 0, 1\"", "pose",
                                        "slider, axis: \"1, 0, 0\"", "cylinder, axis: \"0, 0, 1\"",
                                        "plane, axis: \"0, 0, 1\""};
    static const double over[] = {0, 1, 0, 0}, nearly[] = {1e-3, 0.8, -0.6, 0};
    Random r = {5};
    int closed = 0, tries = 0;
    for (int i = 0; i < 5; i++) {
        tries += 10;
        closed += closes(loops[i], "probe", "world", over);
        closed += closes(loops[i], "probe", "world", nearly);
        for (int k = 0; k < 8; k++) {
            double q[4];
            for (int j = 0; j < 4; j++) q[j] = random_between(&r, -1, 1);
            closed += closes(loops[i], "foot", "seat", q);
        }
    }
    print_message("%d of %d guesses close\n", closed, tries);
    assert_true(closed > 0.9 * tries);
}

// ---- frames --------------------------------------------------------------------------------

#define PINNED                                                                                 \
    "initial: {sled.theta: 0.1, arm.qx: 0.2, arm.qz: 0.1, sled.wz: 0.8, arm.wx: 0.4, arm.wz: " \
    "-0.3}\n"

#define TIED                                                                                     \
    "initial: {sled.x: 0, sled.theta: 0, arm.qx: 0, arm.qy: 0, arm.qz: 0, sled.vx: 1, sled.wz: " \
    "0.8, arm.wx: 0.4, arm.wy: -0.3, arm.wz: 1}\n"

// Two ways to write the same: by frames, and by `at` and the like.
static const char *const by_frame[][2] = {
    {"frames: {f: {body: sled, at: \"0.3, 0.1, 0\", turn: \"0, 0, 0.7\"}}\n"
     "contacts: {E: {kind: skate, body: f}}\n",
     "contacts: {E: {kind: skate, body: sled, at: \"0.3, 0.1, 0\", direction: \"-sin(0.7), "
     "cos(0.7), 0\"}}\n"},
    {"frames: {f: {body: sled, at: \"0.3, 0.1, 0\", turn: \"0, 0, 0.7\"}}\n"
     "contacts: {E: {kind: skate, body: f, at: \"0.1, 0.2, 0\"}}\n",
     "contacts: {E: {kind: skate, body: sled, at: \"0.3 + 0.1*cos(0.7) - 0.2*sin(0.7), 0.1 + "
     "0.1*sin(0.7) + 0.2*cos(0.7), 0\", direction: \"-sin(0.7), cos(0.7), 0\"}}\n"},
    {"frames: {f: {body: arm, at: \"0.3, 0.1, 0.2\", turn: \"0.5, 0, 0.7\"}, home: {at: \"0.4, "
     "0.5, "
     "0.45\", turn: \"0, 0, 1\"}}\n"
     "contacts: {E: {kind: pin, body: f, on: home}}\n" PINNED,
     "contacts: {E: {kind: pin, body: arm, at: \"0.3, 0.1, 0.2\", to: \"0.4, 0.5, "
     "0.45\"}}\n" PINNED},
    {"frames: {f: {body: arm, at: \"0.3, 0.1, 0.2\"}, home: {at: \"0, 0.4, 0\", turn: \"0.5*pi, 0, "
     "0.3\"}}\n"
     "contacts: {E: {kind: slide, body: f, on: home, unilateral: false}}\n" TIED,
     "ground: {at: \"0, 0.4, 0\", turn: \"0.5*pi, 0, 0.3\"}\n"
     "contacts: {E: {kind: slide, body: arm, at: \"0.3, 0.1, 0.2\", on: ground, unilateral: "
     "false}}\n" TIED},
    {"frames: {f: {body: arm, at: \"0.3, 0.1, 0.2\"}, g: {body: ground, at: \"1, 0.2, 0\"}}\n"
     "ground: {at: \"0, 0.4, 0\", turn: \"0, 0, 0.3\"}\n"
     "loops: {E: {kind: distance, body: f, on: g, length: 0.9}}\n" TIED,
     "loops: {E: {kind: distance, body: arm, at: \"0.3, 0.1, 0.2\", to: \"cos(0.3) - 0.2*sin(0.3), "
     "0.4 + sin(0.3) + 0.2*cos(0.3), 0\", length: 0.9}}\n" TIED},
    {"frames: {f: {body: arm, at: \"0.3, 0.1, 0.2\", turn: \"0, 0, 0.7\"}}\n"
     "forces: {E: {body: f, axes: body, force: \"1, 2, 0\", torque: \"0, 1, 0\", reaction: "
     "sled}}\n",
     "forces: {E: {body: arm, axes: body, at: \"0.3, 0.1, 0.2\", force: \"cos(0.7) - 2*sin(0.7), "
     "sin(0.7) + 2*cos(0.7), 0\", torque: \"-sin(0.7), cos(0.7), 0\", reaction: sled}}\n"},
    {"frames: {f: {body: arm, at: \"0.3, 0.1, 0.2\", turn: \"0, 0, 0.7\"}}\n"
     "forces: {E: {body: f, at: \"0.1, 0, 0\", force: \"1, 2, 0\"}}\n",
     "forces: {E: {body: arm, at: \"0.3 + 0.1*cos(0.7), 0.1 + 0.1*sin(0.7), 0.2\", force: \"1, 2, "
     "0\"}}\n"},
};

static Sheet *run_sled(const char *rest)
{
    Buffer t = {0};
    tr_buffer_print(
        &t,
        "trundle: 1\n"
        "gravity: 1, -2, -3\n"
        "bodies:\n"
        "  sled: {joint: {type: planar}, mass: 2, com: \"0.1, 0.2, 0\", inertia: {zz: 0.4}}\n"
        "  arm: {parent: sled, joint: {type: ball, at: \"0.1, 0, 0.3\"}, mass: 1, com: \"0.2, 0, "
        "0.1\", inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}\n"
        "guess: {sled.vx: 1, sled.vy: 0.3, sled.wz: 0.8, arm.wx: 0.4, arm.wy: -0.3, arm.wz: 1}\n"
        "%s",
        rest);
    Sheet *run = run_to(system_from(t.at), 1, 0.1);
    tr_buffer_free(&t);
    return run;
}

static void test_frames(void **state)
{
    (void)state;
    static const char *const same[] = {"sled.x", "sled.y", "sled.theta", "arm.qw",     "arm.qx",
                                       "arm.qy", "arm.qz", "arm.wx",     "energy.work"};
    for (size_t i = 0; i < sizeof by_frame / sizeof *by_frame; i++) {
        Sheet *a = run_sled(by_frame[i][0]), *b = run_sled(by_frame[i][1]);
        for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
            const double off = difference(a, same[k], b, same[k]);
            if (!is_below(off, 1e-9)) fail_msg("frame %zu: %s is off by %.2g", i, same[k], off);
        }
        tr_sheet_free(a);
        tr_sheet_free(b);
    }
}

// What formulas know of a frame: place, axes and velocities in its own axes, also of one that spins
// with a wheel whose angle appears nowhere else.
static void test_frame_formulas(void **state)
{
    (void)state;
    static const char *const text =
        "trundle: 1\n"
        "bodies:\n"
        "  frame: {joint: {type: free}, mass: 2, inertia: {xx: 0.1, yy: 0.2, zz: 0.3}}\n"
        "  wheel: {parent: frame, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0.2, 0, 0\"}, "
        "mass: 1, inertia: {axial: 0.1, radial: 0.06}}\n"
        "frames:\n"
        "  tip: {body: wheel, at: \"0.3, 0.1, 0\", turn: \"0, 0, 0.5*pi\"}\n"
        "  post: {at: \"1, 2, 3\", turn: \"0, 0, 0.5*pi\"}\n"
        "outputs:\n"
        "  x: tip.x - wheel.x - 0.3*wheel.R11 - 0.1*wheel.R12\n"
        "  z: tip.z - wheel.z - 0.3*wheel.R31 - 0.1*wheel.R32\n"
        "  own: wheel.R11 - cos(wheel)*frame.R11 + sin(wheel)*frame.R13\n"
        "  R11: tip.R11 - wheel.R12\n"
        "  R32: tip.R32 + wheel.R31\n"
        "  vx: tip.vx - (wheel.vy + 0.3*wheel.wz)\n"
        "  vy: tip.vy + (wheel.vx - 0.1*wheel.wz)\n"
        "  vz: tip.vz - (wheel.vz + 0.1*wheel.wx - 0.3*wheel.wy)\n"
        "  wx: tip.wx - wheel.wy\n"
        "  drift: d(tip.y) - tip.R21*tip.vx - tip.R22*tip.vy - tip.R23*tip.vz\n"
        "  turning: d(tip.R11) - tip.R12*tip.wz + tip.R13*tip.wy\n"
        "  post: post.x - 1 + post.R11 + post.R12 + 1 + post.vx + post.wz\n"
        "initial: {wheel: 0.4, d(wheel): 5, frame.wx: 1, frame.wz: 2, frame.vx: 1, frame.vy: "
        "0.5}\n";
    Sheet *run = run_to(system_from(text), 0.5, 0.1);
    static const char *const zero[] = {"x",  "z",  "own", "R11",   "R32",     "vx",
                                       "vy", "vz", "wx",  "drift", "turning", "post"};
    for (size_t k = 0; k < sizeof zero / sizeof *zero; k++) {
        if (!is_below(largest(run, zero[k]), 1e-12))
            fail_msg("%s is off by %.2g", zero[k], largest(run, zero[k]));
    }
    assert_true(largest(run, "wheel") > 2);
    tr_sheet_free(run);
}

// ---- springs -------------------------------------------------------------------------------

// A crank with a spring that turns round and round: the joint counts its turns in a tree, and says
// so where it was cut.
static void test_wound_spring(void **state)
{
    (void)state;
    static const char *const cuts[] = {", cut: true", "", "", ", cut: true"};
    for (int i = 0; i < 2; i++) {
        Buffer t = {0};
        tr_buffer_print(&t,
                        "trundle: 1\ngravity: 0, 0, 0\nbodies:\n"
                        "  crank: {mass: 1, inertia: {zz: 0.1}}\n"
                        "  rod: {mass: 1, inertia: {zz: 0.1}}\n"
                        "  block: {mass: 1}\njoints:\n"
                        "  A: {body: crank, type: revolute, axis: \"0, 0, 1\", coordinate: a, "
                        "stiffness: 0.05, rest: 0.5%s}\n"
                        "  B: {parent: crank, body: rod, type: revolute, axis: \"0, 0, 1\", at: "
                        "\"0.2, 0, 0\"}\n"
                        "  C: {parent: block, body: rod, type: revolute, axis: \"0, 0, 1\", to: "
                        "\"0.6, 0, 0\"%s}\n"
                        "  D: {body: block, type: prismatic, axis: \"1, 0, 0\"}\n"
                        "initial: {a: 0.6, d(a): 8}\nguess: {D: 0.7, B: -0.8, C: -0.2}\n",
                        cuts[2 * i], cuts[2 * i + 1]);
        tr_summary summary;
        Sheet *run = run_with(system_from(t.at), 1, 0.1, &summary);
        const bool is_cut = i == 0;
        assert_true(largest(run, "a") > 6 ? !is_cut : is_cut);
        assert_true(is_cut ? summary.warnings > 0 : summary.warnings == 0);
        if (is_cut)
            assert_non_null(strstr(summary.warning, "'A' closes a loop and does not count"));
        tr_sheet_free(run);
        tr_buffer_free(&t);
    }
}

#define CRANK                                                         \
    "trundle: 1\nbodies:\n"                                           \
    "  crank: {mass: 0.5, com: \"0.1, 0, 0\", inertia: {yy: 0.01}}\n" \
    "  rod: {mass: 0.4, com: \"0.3, 0, 0\", inertia: {yy: 0.02}}\n"   \
    "  block: {mass: 1}\n"
#define CRANK_JOINTS                                                                          \
    "  B: {parent: crank, body: rod, type: revolute, axis: \"0, 1, 0\", at: \"0.2, 0, 0\"}\n" \
    "  C: {parent: block, body: rod, type: revolute, axis: \"0, 1, 0\", to: \"0.6, 0, 0\"}\n" \
    "  D: {body: block, type: prismatic, axis: \"1, 0, 0\"}\n"                                \
    "guess: {B: -0.5, D: 0.7}\n"

// A motor behind a spring, in a loop and seen from the other side, and the same with a flywheel
static void test_elastic(void **state)
{
    (void)state;
    static const char *const short_way =
        CRANK "joints:\n  a: {parent: crank, body: world, type: revolute, axis: \"0, -1, 0\", "
              "elastic: {stiffness: 20, damping: 0.1, inertia: 0.02}}\n" CRANK_JOINTS
              "roles: {a: {torque: 0.3*sin(t)}}\ninitial: {a: 0.5, a.motor: 0.4}\n";
    static const char *const long_way =
        CRANK "  wheel: {inertia: {yy: 0.02}}\njoints:\n"
              "  a: {body: crank, type: revolute, axis: \"0, 1, 0\", potential: 10*(a - m)^2, "
              "dissipation: 0.05*(d(a) - d(m))^2}\n"
              "  m: {body: wheel, type: revolute, axis: \"0, 1, 0\"}\n" CRANK_JOINTS
              "roles: {m: {torque: 0.3*sin(t)}}\ninitial: {a: 0.5, m: 0.4}\n";
    Sheet *a = run_to(system_from(short_way), 2, 0.1), *b = run_to(system_from(long_way), 2, 0.1);
    assert_true(largest(a, "a") > 1);
    assert_below(difference(a, "a", b, "a"), 1e-9);
    assert_below(difference(a, "a.motor", b, "m"), 1e-9);
    assert_below(difference(a, "D", b, "D"), 1e-9);
    assert_below(difference(a, "energy.potential", b, "energy.potential"), 1e-9);
    assert_below(difference(a, "tau.a", b, "tau.m"), 1e-12);
    tr_sheet_free(a);
    tr_sheet_free(b);
}

// Held, it stays with its motor where they start, and the spring between them pulls at both.
static void test_elastic_hold(void **state)
{
    (void)state;
    Sheet *run = run_to(
        system_from("trundle: 1\ngravity: 0, 0, 0\nbodies:\n"
                    "  arm: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a, elastic: "
                    "{stiffness: 20, inertia: 0.02}}, mass: 1, inertia: {yy: 0.1}}\n"
                    "roles: {a: {torque: 1}}\ninitial: {a: 0.5, a.motor: 0.4}\n"
                    "cases: {still: {hold: [a]}}\n"),
        1, 0.5);
    assert_below(fabs(at(run, run->rows - 1, "a") - 0.5), 1e-12);
    assert_below(fabs(at(run, run->rows - 1, "a.motor") - 0.4), 1e-12);
    assert_below(fabs(at(run, run->rows - 1, "tau.a") - 2), 1e-12);
    assert_below(fabs(at(run, run->rows - 1, "tau.a.motor") + 2), 1e-12);
    tr_sheet_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),          cmocka_unit_test(test_rates),
        cmocka_unit_test(test_cylinder),       cmocka_unit_test(test_distance),
        cmocka_unit_test(test_way_round),      cmocka_unit_test(test_frames),
        cmocka_unit_test(test_frame_formulas), cmocka_unit_test(test_wound_spring),
        cmocka_unit_test(test_elastic),        cmocka_unit_test(test_elastic_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
