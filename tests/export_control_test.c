// SPDX-License-Identifier: Apache-2.0
// Controllers and sensors as C (T324): closed loops against runs, to the bit, and controllers that
// are called alone with what was measured.
#include "exports.h"

enum { STEPS = 1024 };

// Delay, noise, a filter, two periods that are no multiples of a step, what controllers read of the
// state itself, of t, of a reaction, and of each other; what is felt by the motion at once
static const char loop[] =
    "trundle: 1\n"
    "name: \"loop */ \\\" @name@\"\n"
    "parameters: {k: 8, l: 0.4, T: 0.0237, shaky: {value: 0.01}, seed: 7, from: 0.3}\n"
    "inputs: {push: 0, wanted: 0.1, wind: 0.2*sin(3*t)}\n"
    "bodies:\n"
    "  cart: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x}, mass: 2}\n"
    "  pole: {parent: cart, joint: {type: revolute, axis: '0, 1, 0', coordinate: tilt}, mass: 0.3,"
    " com: '0, 0, l', inertia: {yy: 0.01}}\n"
    "roles: {x: {torque: 'push + wind + 0.1*lean'}}\n"
    "sensors:\n"
    "  lean: {of: tilt, period: T, sd: shaky, seed: seed, delay: 2}\n"
    "  rate: {of: d(tilt), period: 0.0237/2}\n"
    "  name: {of: 'floor(100*x + 0.5)/100', period: 0.03}\n"
    "controllers:\n"
    "  balance:\n"
    "    period: T\n"
    "    states: {sum: from, before: 0}\n"
    "    update: {sum: 'sum + T*(lean - wanted)', before: lean}\n"
    "    outputs: {push: 'k*(lean - wanted) + 2*sum + 0.5*rate + 0.01*seen + 0.3*d(x) + "
    "if(t < 0.5, 0.1, lean - before)'}\n"
    "  where: {period: 0.1, outputs: {wanted: '-0.2*name - 0.1*cos(x)'}}\n"
    "outputs: {seen: lean + wanted}\n"
    "initial: {tilt: 0.1}\n";

static double value_in(const double *row, tr_plan *plan, const char *name)
{
    for (size_t i = 0; i < tr_plan_column_count(plan); i++)
        if (strcmp(tr_plan_column_name(plan, i), name) == 0) return row[i];
    fail_msg("there is no column %s", name);
    return 0;
}

// Of the state, what stands before numbers of samples: all that has a column
static size_t recorded_count(const Exported *e)
{
    size_t k = 0;
    while (!strstr(e->x_name[k].name, ".samples")) assert_true(++k < e->nx);
    return k;
}

// All of the state, of inputs and of outputs that has a column; bits where the bound is 0
static void check_row(const Exported *e, tr_plan *plan, const double *row, int step, double bound)
{
    const struct {
        const struct ExportedName *names;
        const double *values;
        size_t count;
    } lists[] = {{e->x_name, e->x, recorded_count(e)}, {e->y_name, e->y, e->ny}};
    for (size_t l = 0; l < 2; l++)
        for (size_t k = 0; k < lists[l].count; k++) {
            const char *name = lists[l].names[k].name;
            if (strncmp(name, "sensors.", 8) == 0) continue; // what is late
            const double wanted = value_in(row, plan, name);
            if (bound > 0 ? !(relative(lists[l].values[k], wanted) <= bound)
                          : lists[l].values[k] != wanted)
                fail_msg("%s after %d steps: %.17g, not %.17g", name, step, lists[l].values[k],
                         wanted);
        }
}

static tr_run *run_of(tr_plan *plan)
{
    tr_error err = {0};
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = 1.0 / STEPS, o.end = 1;
    tr_run *run = tr_run_new(plan, &o, &err);
    if (!run) fail_msg("%s", err.text);
    return run;
}

static void compare_within(tr_system *system, const char *flags, const char *name, double value,
                           double bound)
{
    tr_error err = {0};
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run *run = run_of(plan);
    const double h = 1.0 / STEPS;
    Exported e = load_exported(in_folder("."), flags);
    for (size_t k = 0; name && k < e.np; k++)
        if (strcmp(e.p_name[k].name, name) == 0) e.p[k] = value;
    if (name) {
        tr_run_set(run, name, value, &err);
        if (!tr_run_reset(run, &err)) fail_msg("%s", err.text);
        assert_int_equal(e.initial(e.p, e.x, e.mode, e.w), 0);
    }
    assert_int_equal(e.sample(0, e.x, e.u, e.p, e.mode, e.w), 0);
    for (int k = 0; k <= STEPS; k++) {
        e.outputs(k * h, e.x, e.u, e.p, e.mode, e.y, e.w);
        check_row(&e, plan, tr_run_row(run), k, bound);
        if (k == STEPS) break;
        assert_int_equal(e.step(k * h, h, e.x, e.u, e.p, e.mode, e.w), 0);
        if (!tr_run_advance(run, (k + 1) * h, &err)) fail_msg("%s", err.text);
    }
    unload_exported(&e);
    tr_run_free(run);
    tr_plan_free(plan);
}

static void compare(tr_system *system, const char *flags, const char *name, double value)
{
    compare_within(system, flags, name, value, 0);
}

#define QUICK "cc -std=c99 -O0 -ffp-contract=off " STRICT

static void test_closed_loop(void **state)
{
    (void)state;
    tr_system *system = system_from(loop);
    export_to(system, NULL, in_folder("."));
    compare(system, QUICK, NULL, 0);
    compare(system, "cc -std=c99 -O1 -fsanitize=undefined -fno-sanitize-recover=all", "T", 0.017);
    compare(system, "g++ -x c++ -std=c++17 -O1 -ffp-contract=off " STRICT, "from", 0.2);
    compare(system, "clang-14 -std=c99 -O1 " STRICT, "seed", 8);
    tr_system_free(system);
}

// ---- with contacts that change ----------------------------------------------------------------

// Against stops, with dry friction that gives way when a controller says so; one of them reads a
// reaction without a sensor
static const char followed[] =
    "trundle: 1\n"
    "name: followed\n"
    "parameters: {k: 40, T: 0.0237, shaky: 0.001}\n"
    "inputs: {F: 0, wanted: 0.15}\n"
    "bodies:\n"
    "  cart: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x, limits: '-0.02, 0.1',"
    " friction: 0.6, stiction: 0.9}, mass: 2}\n"
    "  arm: {parent: cart, joint: {type: revolute, axis: '0, 1, 0', coordinate: phi,"
    " friction: 0.02, stiction: 0.04}, mass: 0.5, com: '0, 0, -0.3', inertia: {yy: 0.01}}\n"
    "roles: {x: {torque: 'F + 0.1*lean'}}\n"
    "sensors:\n"
    "  lean: {of: phi, period: T, sd: shaky, seed: 7, delay: 1}\n"
    "  push: {of: lambda.x.friction, period: 0.03}\n"
    "  acc: {of: d(d(x)), period: 0.05}\n"
    "controllers:\n"
    "  law:\n"
    "    period: 0.01\n"
    "    states: {sum: 0.1}\n"
    "    update: {sum: 'sum + 0.01*(x - wanted)'}\n"
    "    outputs: {F: '-k*(x - wanted) - 8*sum - 2*d(x) + 0.2*push + 0.01*acc'}\n"
    "  where: {period: 0.3, states: {was: 0.15}, update: {was: '-0.8*was + "
    "0.01*lambda.x.friction'}, outputs: {wanted: was}}\n"
    "initial: {x: 0, d(x): 0, phi: 0.5}\n";

static void test_contacts_change(void **state)
{
    (void)state;
    tr_system *system = system_from(followed);
    export_to(system, NULL, in_folder("."));
    compile_by_all();
    Exported e = load_exported(in_folder("."), QUICK);
    assert_true(e.nz > 0); // unreduced by itself
    unload_exported(&e);
    compare_within(system, QUICK, NULL, 0, 1e-9);
    compare_within(system, "cc -std=c99 -O1 -fsanitize=undefined -fno-sanitize-recover=all", "T",
                   0.017, 1e-9);
    tr_system_free(system);
}

// ---- alone ---------------------------------------------------------------------------------

static const char law[] =
    "trundle: 1\nname: law\nparameters: {k: 2, T: 0.1}\ninputs: {f: 0}\n"
    "bodies: {b: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: q}, mass: 1}}\n"
    "roles: {q: {torque: f}}\n"
    "sensors: {seen: {of: q, period: T, sd: 0.1}}\n"
    "controllers: {c: {period: T, states: {sum: 0.5}, update: {sum: sum + T*seen},"
    " outputs: {f: -k*seen - sum - d(q)}}}\n";

// On a microcontroller: numbers that were measured, no model
static void test_alone(void **state)
{
    (void)state;
    tr_system *system = system_from(law);
    export_to(system, NULL, in_folder("."));
    Exported e = load_exported(in_folder("."), QUICK);
    assert_int_equal(e.ns, 2);
    assert_int_equal(e.nc, 1);
    assert_int_equal(e.nk, 2);
    assert_string_equal(e.s_name[0].name, "seen");
    assert_string_equal(e.s_name[1].name, "q_rate");
    assert_string_equal(e.c_name[0].name, "c.sum");
    double c[2] = {e.c_name[0].value}, s[3], period[3] = {0}, sum = 0.5;
    e.periods(e.p, period, e.w);
    assert_true(period[0] == 0.1 && period[1] == 0.1);
    for (int k = 0; k < 20; k++) {
        s[0] = 0.3 * k, s[1] = 1 - k;
        assert_int_equal(e.control(NULL, 0.1 * k, s, c, e.u, e.p, e.w), 0);
        assert_close(e.u[0], -2 * s[0] - sum - s[1], 1e-13);
        sum += 0.1 * s[0];
        assert_close(c[0], sum, 1e-13);
    }
    const double before = e.u[0];
    const int nobody[2] = {0, 0};
    assert_int_equal(e.control(nobody, 3, s, c, e.u, e.p, e.w), 0);
    assert_true(e.u[0] == before);
    s[0] = (double)NAN;
    assert_int_equal(e.control(NULL, 3, s, c, e.u, e.p, e.w), 1);
    assert_true(e.u[0] == before);
    assert_close(c[0], sum, 1e-13);
    unload_exported(&e);
    tr_system_free(system);
}

// The next of what is known beforehand
static void test_next_time(void **state)
{
    (void)state;
    tr_system *system = system_from(
        "trundle: 1\nname: law\nparameters: {a: 0.25}\ninputs: {f: 0}\n"
        "bodies: {b: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: q}, mass: 1}}\n"
        "roles: {q: {torque: 'if(t < a, f, 0)'}}\n"
        "controllers: {c: {period: 0.2, outputs: {f: 1}}}\n");
    export_to(system, NULL, in_folder("."));
    Exported e = load_exported(in_folder("."), QUICK);
    assert_true(e.next_time(0, 1, e.x, e.u, e.p, e.w) == 0.25); // none was taken yet
    assert_int_equal(e.sample(0, e.x, e.u, e.p, e.mode, e.w), 0);
    assert_true(e.next_time(0, 1, e.x, e.u, e.p, e.w) == 0.2);
    assert_int_equal(e.sample(0.2, e.x, e.u, e.p, e.mode, e.w), 0);
    assert_true(e.next_time(0.2, 1, e.x, e.u, e.p, e.w) == 0.25);
    assert_true(e.next_time(0.25, 1, e.x, e.u, e.p, e.w) == 0.4);
    assert_true(isinf(e.next_time(0.25, 0.3, e.x, e.u, e.p, e.w)));
    e.p[0] = 0.3;
    assert_true(e.next_time(0.25, 1, e.x, e.u, e.p, e.w) == 0.3);
    unload_exported(&e);
    tr_system_free(system);
}

static const char hostile[] =
    "trundle: 1\nname: x\nparameters: {name: 1, for: 0.1}\ninputs: {name2: 0, u: 0}\n"
    "bodies: {b: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: q}, mass: name}}\n"
    "roles: {q: {torque: name2 + u}}\n"
    "sensors: {int: {of: q, period: for, sd: 0.1}, s_int: {of: 2*q, period: for, delay: 1}}\n"
    "controllers: {while: {period: for, states: {goto: 0, el_sin: 1}, update: {goto: goto + "
    "el_sin},"
    " outputs: {name2: -int - s_int - goto}}, due: {period: for, outputs: {u: d(q)}}}\n";

static void test_hostile_names(void **state)
{
    (void)state;
    tr_system *system = system_from(hostile);
    export_to(system, NULL, in_folder("."));
    compare(system, QUICK, NULL, 0);
    tr_export_options how = tr_export_defaults();
    how.single = true;
    export_to(system, &how, in_folder("."));
    char command[600];
    snprintf(command, sizeof command,
             "cd %s && gcc -std=c99 -O0 -Wdouble-promotion " STRICT " -c m.c && "
             "clang-14 -std=c99 " STRICT " -c m.c && g++ -x c++ -std=c++17 " STRICT
             " -c m.c && make -s && ./m_demo > demo.csv",
             in_folder("."));
    if (system_call(command) != 0) fail_msg("%s", command);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_loop),   cmocka_unit_test(test_contacts_change),
        cmocka_unit_test(test_alone),         cmocka_unit_test(test_next_time),
        cmocka_unit_test(test_hostile_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
