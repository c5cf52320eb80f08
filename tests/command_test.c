// SPDX-License-Identifier: Apache-2.0
// What is asked of velocities: least squares against normal equations, what nothing determines, and
// what cannot be asked.
#include "runs.h"

#define FIRST "cases: {now: {order: 1, end: 1, every: 0.5}}\n"
#define SLED                                                           \
    "trundle: 1\n"                                                     \
    "bodies: {body: {joint: {type: planar}}}\n"                        \
    "contacts: {edge: {kind: skate, body: body, at: \"0.3, 0, 0\"}}\n" \
    "outputs: {ahead: body.vx + 0.5*body.wz, fast: body.vx^2, far: body.x}\n" FIRST

// ---- least squares -------------------------------------------------------------------------

// vy + 0.3 wz = 0; (vx - 1)^2 + 2 (vx + wz/2 - 2)^2 + 3 (wz + 1)^2 least:
//   3 vx + wz = 1 + 4,   vx + 3.5 wz = 2 - 3
static void test_weights(void **state)
{
    (void)state;
    Sheet *run = run_with(system_from(SLED "commands:\n"
                                           "  body.vx: {value: 1}\n"
                                           "  ahead: {value: 2, weight: 2}\n"
                                           "  body.wz: {value: -1, weight: 3}\n"
                                           "initial: {body.x: 0, body.y: 0, body.theta: 0}\n"),
                          0, 0, NULL);
    const double det = 3 * 3.5 - 1, vx = (5 * 3.5 + 1) / det, wz = (-3 - 5) / det;
    const double r[] = {1 - vx, 2 - vx - wz / 2, -1 - wz};
    assert_close(last(run, "body.vx"), vx, 1e-13);
    assert_close(last(run, "body.wz"), wz, 1e-13);
    assert_close(last(run, "body.vy"), -0.3 * wz, 1e-13);
    assert_close(last(run, "residual.body.vx"), r[0], 1e-13);
    assert_close(last(run, "residual.ahead"), r[1], 1e-13);
    assert_close(last(run, "residual.body.wz"), r[2], 1e-13);
    assert_close(last(run, "residual.commands"),
                 sqrt(r[0] * r[0] + 2 * r[1] * r[1] + 3 * r[2] * r[2]), 1e-13);
    char *json = certificate();
    const char *told = strstr(json, "\"command_error\": ");
    assert_non_null(told);
    assert_close(strtod(told + strlen("\"command_error\": "), NULL), last(run, "residual.commands"),
                 1e-14);
    free(json);
    tr_sheet_free(run);
}

// A row that is asked for is soft: as its weight grows it becomes the one that holds.
static void test_soft_rows(void **state)
{
    (void)state;
    static const char text[] = SLED "parameters: {stiff: 1}\n"
                                    "commands:\n"
                                    "  body.vx: {value: 1}\n"
                                    "  body.vy: {value: 1}\n"
                                    "  body.wz: {value: 1}\n"
                                    "  edge.lateral: {weight: stiff}\n"
                                    "initial: {body.x: 0, body.y: 0, body.theta: 0}\n";
    double weight = 1;
    for (int i = 0; i < 4; i++, weight *= 100) {
        Sheet *run = run_with(system_valued(model_from(text), NULL, &(Number){"stiff", weight}, 1),
                              0, 0, NULL);
        // along (1, 0.3): what is left of 1.3 after a spring of this weight
        const double slip = 1.3 / (1 + weight * 1.09);
        assert_close(last(run, "residual.edge.lateral"), -slip, 1e-12);
        tr_sheet_free(run);
    }
}

// d(...) names a velocity, too. Rows that no wheel has are none.
static void test_names(void **state)
{
    (void)state;
    Sheet *run = run_with(
        system_from("trundle: 1\n"
                    "bodies: {arm: {joint: {type: revolute, axis: \"0, 0, 1\", coordinate: a}}}\n"
                    "commands: {d(a): {value: cos(t)}}\n"
                    "initial: {a: 0}\n" FIRST),
        0, 0, NULL);
    assert_close(last(run, "a"), sin(1.0), 1e-10);
    assert_below(largest(run, "residual.a_rate"), 1e-15);
    tr_sheet_free(run);
}

// A tyre that slips by a law in second order may be asked not to in first.
static void test_laws(void **state)
{
    (void)state;
    Sheet *run = run_with(system_called("robot_skid_steer", "drive"), 0, 0, NULL);
    // each wheel pulls at its place: R (right - left) b/(2 (a^2 + b^2))
    const double w = 0.12 * (6 - 5) * 0.3 / (2 * (0.25 * 0.25 + 0.3 * 0.3));
    assert_close(last(run, "body.wz"), w, 1e-12);
    assert_close(last(run, "body.vx"), 0.12 * 5.5, 1e-12);
    tr_sheet_free(run);
}

// ---- what nothing determines ---------------------------------------------------------------

static void assert_stops(const char *text, const char *words)
{
    tr_error err = {0};
    tr_model *model = tr_model_parse(text, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.output = in_folder("run.csv");
    tr_simulate(system, &o, NULL, &err);
    char told[600];
    snprintf(told, sizeof told, "%d:%d: %s", err.line, err.column, err.text);
    if (!err.status || !strstr(told, words)) fail_msg("%s\n  says %s", text, told);
    tr_model_free(model);
    tr_system_free(system);
}

static void test_open(void **state)
{
    (void)state;
    assert_stops(SLED "commands: {body.vx: {value: 1}}\n", "no role, row or command tells");
    assert_stops(SLED, "no role, row or command tells");
    assert_stops("trundle: 1\nbodies: {body: {joint: {type: planar}}}\n"
                 "commands: {body.vx: {value: 1}, body.vy: {value: 1}}\n" FIRST,
                 "no role, row or command tells");
    assert_stops(SLED "commands: {body.vx: {value: 1}, body.wz: {value: 1, weight: 0}}\n",
                 "no role, row or command tells");
}

// With a place: that of the first command, or of the case; on the way, too
static void test_open_places(void **state)
{
    (void)state;
#define PLANAR "trundle: 1\nbodies: {body: {joint: {type: planar}}}\n"
    assert_stops(PLANAR "commands: {body.vx: {value: 1}, body.vy: {value: 1}}\n" FIRST,
                 "3:12: velocities are not determined at the start: no role, row or command tells "
                 "'body.wz'");
    assert_stops(PLANAR FIRST, "3:9: velocities are not determined at the start: no role, row or "
                               "command tells 'body.vx', 'body.vy', 'body.wz'");
    assert_stops(PLANAR "outputs: {ox: \"if(t < 0.5, 1, 0)*body.vx\"}\n"
                        "commands: {ox: {value: 1}, body.wz: {value: 0.5}, body.vy: {}}\n" FIRST,
                 "4:12: the velocities are not finite at t = 0.5: no role, row or command tells "
                 "'body.vx'");
    assert_stops(PLANAR
                 "commands: {body.vx: {value: 1/t}, body.wz: {value: 0.5}, body.vy: {}}\n" FIRST,
                 "3:29: the velocities are not finite at t = 0: commands.body.vx.value is 1/0");
#undef PLANAR
}

// A row of a wheel on a slope passes most velocities by, but for rounding: these are told by
// others.
static void test_soft_on_slopes(void **state)
{
    (void)state;
    static const char *const soft[] = {"r.lateral: {}", "r.normal: {}, r.lateral: {}, body.wx: {}",
                                       ("r.normal: {weight: 2}, l.normal: {}, f.normal: {}, "
                                        "r.lateral: {}, body.wx: {}")};
    for (size_t i = 0; i < sizeof soft / sizeof *soft; i++) {
        char text[3000];
        snprintf(
            text, sizeof text,
            "trundle: 1\n"
            "ground: {height: \"0.04*sin(1.3*x)*cos(1.1*y + 0.3)\"}\n"
            "bodies:\n"
            "  body: {joint: {type: free}}\n"
            "  fork: {parent: body, joint: {type: revolute, axis: \"0, 0, 1\", at: \"1, 0, 0\", "
            "coordinate: steer}}\n"
            "  front_wheel: {parent: fork, joint: {type: revolute, axis: \"0, 1, 0\", "
            "coordinate: front}}\n"
            "  left_wheel: {parent: body, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, "
            "0.4, 0\", coordinate: left}}\n"
            "  right_wheel: {parent: body, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, "
            "-0.4, 0\", coordinate: right}}\n"
            "contacts:\n"
            "  f: {body: front_wheel, radius: 0.25, unilateral: false}\n"
            "  l: {body: left_wheel, radius: 0.25, unilateral: false}\n"
            "  r: {body: right_wheel, radius: 0.25, unilateral: false}\n"
            "outputs: {yaw: body.yaw}\n"
            "initial: {body.x: 0, body.y: 0, yaw: 0, left: 0, right: 0}\n"
            "guess: {body.z: 0.25}\n"
            "roles: {front: {rate: 4}, steer: {motion: 0.3*sin(t)}}\n"
            "commands: {%s}\n"
            "cases: {now: {order: 1, end: 1, every: 0.5}}\n",
            soft[i]);
        Sheet *run = run_with(system_from(text), 0, 0, NULL);
        assert_close(last(run, "t"), 1, 0);
        assert_close(last(run, "body.x"), 1, 0.02); // 4 times 0.25 along the ground
        tr_sheet_free(run);
    }
}

// What comes to rest has no heading from there on, also where that is a time of its own.
static void test_rest(void **state)
{
    (void)state;
    static const char rest[] =
        "5:14: 'h' has no value at t = 0.5: 'body' stands still, as seen from "
        "above: it has no %s";
    for (int k = 0; k < 4; k++) {
        char text[1000], words[200];
        const char *what = k % 2 ? "curvature" : "heading";
        snprintf(text, sizeof text,
                 "trundle: 1\n"
                 "inputs: {v: \"max(0, 1 - 2*t)\"}\n"
                 "bodies: {body: {joint: {type: planar}}}\n"
                 "contacts: {edge: {kind: skate, body: body}}\n"
                 "outputs: {h: body.%s}\n"
                 "%s\n" FIRST,
                 what,
                 k < 2 ? "roles: {body: {rate: {vx: v, wz: 0.2}}}"
                       : "commands: {body.vx: {value: v}, body.wz: {value: 0.2}}");
        snprintf(words, sizeof words, rest, what);
        assert_stops(text, words);
    }
}

// ---- what cannot be asked ------------------------------------------------------------------

static void test_refusals(void **state)
{
    (void)state;
    assert_invalid(SLED "commands: {body.vx: {value: 1, weight: -1}}\n",
                   "6:40: the weight of 'body.vx' is negative");
    assert_invalid(SLED "commands: {far: {value: 1}}\n", "6:12: 'far' is no velocity");
    assert_invalid(SLED "commands: {body.x: {value: 1}}\n", "6:12: 'body.x' is no velocity");
    assert_invalid(SLED "commands: {fast: {value: 1}}\n",
                   "6:12: 'fast' is not linear in velocities: it cannot be commanded");
    assert_invalid(SLED "commands: {body.vx: {value: body.wz}}\n",
                   "6:29: what is asked of 'body.vx' depends on t, coordinates and inputs, not on "
                   "'body.wz'");
    assert_invalid(SLED "commands: {edge.longitudinal: {value: 1}}\n",
                   "6:12: unknown name 'edge.longitudinal'; there are 't', 'body.x', 'body.y', "
                   "'body.theta', 'body.vx', 'body.vy', 'body.wz', 'ahead', 'fast', 'far'");
    assert_invalid(SLED "commands: {2*body.vx: {value: 1}}\n",
                   "6:12: '2*body.vx' is a formula: make it an output, and command that");
    assert_invalid("trundle: 1\nbodies: {body: {joint: {type: planar}}}\n"
                   "cases: {now: {order: 3}}\n",
                   "3:22: the order is 1 or 2, not '3'");
    assert_invalid(SLED "commands: {body.vx: {value: 1}, body.vx: {value: 2}}\n",
                   "6:33: 'body.vx' stands twice in 'commands'");
    assert_invalid(SLED "commands: {body.vx: {values: 1}}\n",
                   "6:22: unknown key 'values' in 'body.vx'; did you mean 'value'?");
}

// In both orders, though second order does nothing else with commands
static void test_refusals_in_both(void **state)
{
    (void)state;
#define MASSIVE(order)                                                           \
    "trundle: 1\n"                                                               \
    "bodies: {body: {joint: {type: planar}, mass: 1, inertia: {zz: 1}}}\n"       \
    "contacts: {edge: {kind: skate, body: body, at: \"0.3, 0, 0\"}}\n"           \
    "outputs: {fast: body.vx^2, commands: body.vx, pull: lambda.edge.lateral}\n" \
    "cases: {now: {order: " order "}}\n"
#define MASSIVE_NAMES                                                                      \
    "; there are 't', 'body.x', 'body.y', 'body.theta', 'body.vx', 'body.vy', 'body.wz', " \
    "'fast', 'commands', 'pull'"
    static const char *const bad[][2] = {
        {"commands: {nonsense: {value: 1}}\n", "6:12: unknown name 'nonsense'" MASSIVE_NAMES},
        {"commands: {edge.longitudinal: {value: 1}}\n",
         "6:12: unknown name 'edge.longitudinal'" MASSIVE_NAMES},
        {"commands: {body.vx: {value: 1, weight: -1}}\n",
         "6:40: the weight of 'body.vx' is negative"},
        {"commands: {edge.lateral: {weight: -1}}\n",
         "6:35: the weight of 'edge.lateral' is negative"},
        {"commands: {body.x: {value: 1}}\n", "6:12: 'body.x' is no velocity"},
        {"commands: {fast: {value: 1}}\n",
         "6:12: 'fast' is not linear in velocities: it cannot be commanded"},
        {"commands: {body.vx: {value: body.wz}}\n",
         "6:29: what is asked of 'body.vx' depends on t, coordinates and inputs, not on 'body.wz'"},
        {"commands: {body.vx: {value: lambda.edge.lateral}}\n",
         "6:29: what is asked of 'body.vx' depends on t, coordinates and inputs, not on "
         "'lambda.edge.lateral'"},
        {"commands: {body.vx: {value: 1/0}}\n", "6:29: what is asked of 'body.vx' is not finite"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[2][1000];
        snprintf(text[0], sizeof text[0], MASSIVE("1") "%s", bad[i][0]);
        snprintf(text[1], sizeof text[1], MASSIVE("2") "%s", bad[i][0]);
        for (int k = 0; k < 2; k++) assert_invalid(text[k], bad[i][1]);
    }
    tr_system_free(system_from(MASSIVE("2") "commands: {edge.lateral: {weight: 2}}\n"));
    assert_invalid(MASSIVE("1") "commands: {commands: {value: 1}, body.wz: {}}\n",
                   "6:12: 'residual.commands' is a column of every run: call what is asked "
                   "otherwise");
#undef MASSIVE
    assert_invalid("trundle: 1\n"
                   "bodies: {body: {joint: {type: free}}}\n"
                   "contacts: {b: {body: body, radius: 0.3, shape: ball, unilateral: true, open: "
                   "true}}\n" FIRST,
                   "3:78: in first order no force opens or closes 'b': leave it out, or make its "
                   "rows commands");
}

#define TRICYCLE(steer, wheel)                                                                \
    "trundle: 1\n"                                                                            \
    "tables: {held: {x: \"0, 20\", value: \"0.1, 0.2\", degree: 0}}\n"                        \
    "bodies:\n  body: {joint: {type: planar}}\n"                                              \
    "  fork: {parent: body, joint: {type: revolute, axis: \"0, 0, 1\", at: \"1, 0, 0\", "     \
    "coordinate: steer}}\n"                                                                   \
    "  wheel: {parent: fork, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: spin}}\n" \
    "contacts: {tyre: {body: wheel, radius: 0.3}, rear: {kind: skate, body: body}}\n"         \
    "roles: {steer: {motion: " steer "}, spin: {motion: " wheel "}}\n" FIRST
#define INFINITE                                                                             \
    " depends on how fast this moves, and 'held' has degree 0: where it jumps the velocity " \
    "would be infinite"

// A wheel's angle that jumps rolls at once; one that steers does not.
static void test_held_motions(void **state)
{
    (void)state;
    tr_system_free(system_from(TRICYCLE("held(t)", "3*t")));
    assert_invalid(TRICYCLE("0.1", "held(t)"), "8:46: 'tyre.longitudinal'" INFINITE);
    // by soft rows and by commands
    assert_invalid(
        TRICYCLE("0.1", "held(t)") "commands: {tyre.longitudinal: {}, body.vx: {value: 1}}\n",
        "8:46: 'tyre.longitudinal'" INFINITE);
    assert_invalid(TRICYCLE("held(t)", "3*t") "commands: {steer_rate: {value: 1}}\n",
                   "8:25: 'steer_rate'" INFINITE);
    assert_invalid(TRICYCLE("held(t)", "3*t") "outputs: {turn: fork.wz}\n"
                                              "commands: {turn: {value: 1}}\n",
                   "8:25: 'turn'" INFINITE);
}

// What jumps otherwise is found on the way.
static void test_jumping_motions(void **state)
{
    (void)state;
    assert_stops(TRICYCLE("0.1", "0.1*floor(4*t)"),
                 "the motion of 'spin' jumps from 0 to 0.1 at t = 0.25: its rate may jump, but not "
                 "its place, for 'tyre.longitudinal' depends on how fast it moves");
    assert_stops(TRICYCLE("0.1", "\"if(t < 0.7, t, 3)\""),
                 "the motion of 'spin' jumps from 0.7 to 3 at t = 0.7");
    assert_stops(
        TRICYCLE("0.1",
                 "0.1*floor(4*t)") "commands: {tyre.longitudinal: {}, body.vx: {value: 1}}\n",
        "the motion of 'spin' jumps from 0 to 0.1 at t = 0.25");
    Sheet *run =
        run_with(system_from(TRICYCLE("0.1*floor(4*t)",
                                      "3*t") "initial: {body.x: 0, body.y: 0, body.theta: 0}\n"),
                 0, 0, NULL);
    double theta = 0; // 0.9 sin(steer), a quarter of a second each
    for (int i = 0; i < 4; i++) theta += 0.25 * 0.9 * sin(0.1 * i);
    assert_close(last(run, "body.theta"), theta, 1e-12);
    tr_sheet_free(run);
}
#undef TRICYCLE
#undef INFINITE

static void test_jumping_constraints(void **state)
{
    (void)state;
    assert_invalid(
        "trundle: 1\n"
        "tables: {held: {x: \"0, 20\", value: \"0.1, 0.2\", degree: 0}}\n"
        "bodies: {a: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}}\n"
        "constraints: {c: {position: \"x - held(t)\"}}\n" FIRST,
        "4:15: a constraint takes tables of degree 1 or 3, and 'held' has degree 0: where "
        "it jumps the velocity would be infinite");
    assert_stops("trundle: 1\n"
                 "bodies:\n  body: {joint: {type: planar}}\n"
                 "  a: {parent: body, joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}}\n"
                 "contacts: {p: {kind: pin, body: a}}\n"
                 "roles: {s: {motion: \"if(t < 0.5, 0, 1)\"}}\n"
                 "commands: {body.wz: {value: 0}}\n" FIRST,
                 "the motion of 's' jumps from 0 to 1 at t = 0.5");
    assert_stops("trundle: 1\n"
                 "bodies:\n  a: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n"
                 "  b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: y}}\n"
                 "constraints: {c: {position: \"x - if(t < 0.5, 0, 1)\"}}\n"
                 "commands: {d(y): {value: 0}}\n" FIRST,
                 "the constraint 'c.position' jumps by -1 at t = 0.5");
}

// What is about accelerations has nothing to say of velocities that follow.
static void test_verbs(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("robot_differential", "drive");
    static const char words[] = "in first order velocities follow from commands";
    assert_null(tr_linearise(system, NULL, &err));
    assert_says(err.text, words);
    err = (tr_error){0};
    const tr_lqr_options design = tr_lqr_defaults();
    assert_null(tr_lqr_design(system, &design, &err));
    assert_says(err.text, words);
    err = (tr_error){0};
    assert_null(tr_steady_find(system, NULL, &err));
    assert_says(err.text, words);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_soft_rows),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_laws),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_open_places),
        cmocka_unit_test(test_soft_on_slopes),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_refusals_in_both),
        cmocka_unit_test(test_verbs),
        cmocka_unit_test(test_held_motions),
        cmocka_unit_test(test_jumping_motions),
        cmocka_unit_test(test_jumping_constraints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
