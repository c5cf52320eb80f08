// SPDX-License-Identifier: Apache-2.0
// What a run of a sweep can be: each is what the function of the library for one of them gives, on
// a model with these numbers, and the same to the bit whoever makes it.
#include "settling.h"
#include "sweeps.h"

static void file_of(char *path, size_t size, const char *model)
{
    snprintf(path, size, MODELS_DIR "/%s.yaml", model);
}

// By one thread, by three, and in two halves
static Found sweep_alike(const char *model, const char *case_name, tr_sweep_options *o)
{
    char path[600];
    file_of(path, sizeof path, model);
    o->jobs = 1;
    Found one = sweep(path, case_name, o);
    o->jobs = 3;
    Found three = sweep(path, case_name, o);
    assert_memory_equal(one.values, three.values, one.runs * one.columns * sizeof(double));
    free_found(&three);
    o->jobs = 1, o->shards = 2;
    for (o->shard = 0; o->shard < 2; o->shard++) {
        Found part = sweep_part(path, case_name, o);
        assert_true(part.count > 0 && part.count < part.runs);
        for (size_t i = 0; i < part.runs; i++)
            if (part.is_there[i])
                assert_memory_equal(part.values + i * part.columns, one.values + i * one.columns,
                                    one.columns * sizeof(double));
        free_found(&part);
    }
    return one;
}

// The settings of a run, of its first columns
static tr_system *variant(const char *model, const char *case_name, const Found *f, size_t run,
                          size_t count)
{
    Number numbers[MOST_SETTINGS];
    for (size_t i = 0; i < count; i++)
        numbers[i] = (Number){f->names[i], f->values[run * f->columns + i]};
    return system_with(model, case_name, numbers, count);
}

// ---- simulate -------------------------------------------------------------------------------

static void varies_inputs(void **state)
{
    (void)state;
    static const char *const vary[] = {"roll_torque=-1,0,2", "steer_torque~uniform(-0.1,0.1)"};
    tr_error err = {0};
    tr_sweep_options o = tr_sweep_defaults();
    o.vary = vary, o.vary_count = 2, o.samples = 30, o.method = "rk4";
    o.step = 0.01, o.end = 0.5, o.every = 0.25, o.keep = "final(roll), final(steer*steer_torque)";
    Found f = sweep_alike("bicycle", "free", &o);
    assert_int_equal(f.runs, 90);
    for (size_t i = 0; i < f.runs; i += 19) {
        tr_system *system = variant("bicycle", "free", &f, i, 2);
        tr_simulate_options run = tr_simulate_defaults(system);
        run.method = "rk4", run.step = 0.01, run.end = 0.5, run.every = 0.25;
        run.output = in_folder("one.csv");
        if (!tr_simulate(system, &run, NULL, &err)) fail_msg("%s", err.text);
        Sheet *sheet = read_sheet(run.output);
        assert_true(value(&f, i, "final(roll)") == last(sheet, "roll"));
        assert_true(value(&f, i, "final(steer*steer_torque)") ==
                    last(sheet, "steer") * value(&f, i, "steer_torque"));
        tr_sheet_free(sheet);
        tr_system_free(system);
    }
    free_found(&f);
}

// Without relaxation a tyre has no deflection, and other equations: such runs are those that the
// model has with these numbers, and the column that they lack is no number.
static void gives_runs_equations_of_their_own(void **state)
{
    (void)state;
    static const char *const methods[] = {"rk4", "erk"};
    static const char *const vary[] = {"lag=0,0.3", "speed0=1:2:0.03125"};
    tr_error err = {0};
    for (int k = 0; k < 2; k++) {
        tr_sweep_options o = tr_sweep_defaults();
        o.vary = vary, o.vary_count = 2, o.method = methods[k], o.record = 30;
        o.step = 2e-3, o.end = 0.2, o.every = 0.1;
        o.keep = "final(car.y), final(car.theta), max(contact.left.lateral_deflection)";
        Found f = sweep_alike("car_trapezoid", NULL, &o);
        assert_int_equal(f.runs, 66);
        assert_int_equal(f.row_count[0], 3);
        for (size_t i = 0; i < f.runs; i += 9) {
            tr_system *system = variant("car_trapezoid", NULL, &f, i, 2);
            tr_summary summary = {0};
            tr_simulate_options run = tr_simulate_defaults(system);
            run.method = methods[k], run.step = 2e-3, run.end = 0.2, run.every = 0.1;
            run.output = in_folder("own.csv");
            if (!tr_simulate(system, &run, &summary, &err)) fail_msg("%s", err.text);
            Sheet *sheet = read_sheet(run.output);
            assert_true(value(&f, i, "final(car.y)") == last(sheet, "car.y"));
            assert_true(value(&f, i, "final(car.theta)") == last(sheet, "car.theta"));
            assert_true(value(&f, i, "steps") == (double)summary.steps);
            assert_true(value(&f, i, "energy_error") == summary.energy_error);
            assert_int_equal(isnan(value(&f, i, "max(contact.left.lateral_deflection)")), i < 33);
            tr_sheet_free(sheet);
            tr_system_free(system);
        }
        free_found(&f);
    }
}

// ---- steady motions, and what is beside them ------------------------------------------------

// In any order, which among pairs is that of rounding
static void assert_mode(const Found *f, size_t run, const tr_steady *steady, const char *name)
{
    double modes[40][2];
    double least = (double)INFINITY;
    assert_true(tr_steady_modes(steady, NULL) <= 40);
    const size_t count = tr_steady_modes(steady, modes);
    for (size_t k = 0; k < count; k++) least = fmin(least, fabs(value(f, run, name) - modes[k][0]));
    assert_below(least, 1e-6);
}

static void finds_steady_motions(void **state)
{
    (void)state;
    static const char *const vary[] = {"m0=70:100:5", "speed0=5,6"};
    static const char *const holds[] = {"roll=-0.1"};
    tr_error err = {0};
    tr_sweep_options o = tr_sweep_defaults();
    o.vary = vary, o.vary_count = 2, o.what = "steady", o.holds = holds, o.hold_count = 1;
    Found f = sweep_alike("bicycle", "circle", &o);
    assert_int_equal(f.runs, 14);
    for (size_t i = 0; i < f.runs; i++) {
        tr_system *system = variant("bicycle", "circle", &f, i, 2);
        tr_steady_options how = tr_steady_defaults();
        how.holds = holds, how.hold_count = 1;
        tr_steady *steady = tr_steady_find(system, &how, &err);
        if (!steady) fail_msg("%s", err.text);
        const double *at = tr_steady_state(steady);
        assert_close(value(&f, i, "steer"), at[input_index(system, "steer")], 1e-8);
        assert_close(value(&f, i, "roll"), -0.1, 1e-12);
        assert_mode(&f, i, steady, "stability");
        tr_steady_free(steady);
        tr_system_free(system);
    }
    free_found(&f);
}

static void finds_eigenvalues(void **state)
{
    (void)state;
    static const char *const vary[] = {"speed0=3:7:1", "m0~normal(85,2)", "w~uniform(1,1.1)"};
    tr_error err = {0};
    tr_sweep_options o = tr_sweep_defaults();
    o.vary = vary, o.vary_count = 3, o.samples = 2, o.what = "linearise";
    o.keep = "re1=final(re1), re2=final(re2), re3=final(re3), re4=final(re4), final(stability)";
    Found f = sweep_alike("bicycle", "straight", &o);
    assert_int_equal(f.runs, 10);
    for (size_t i = 0; i < f.runs; i++) {
        tr_system *system = variant("bicycle", "straight", &f, i, 3);
        tr_steady_options how = tr_steady_defaults();
        how.trim = true;
        tr_steady *steady = tr_steady_find(system, &how, &err);
        if (!steady) fail_msg("%s", err.text);
        for (size_t k = 0; k < 5; k++) assert_mode(&f, i, steady, f.names[3 + k]);
        tr_steady_free(steady);
        tr_system_free(system);
    }
    free_found(&f);
}

// ---- poses ----------------------------------------------------------------------------------

static void settles(void **state)
{
    (void)state;
    static const char *const vary[] = {"m~normal(30,2)", "r=0.14,0.15"};
    static const char *const holds[] = {"chassis.x=1", "chassis.y=0", "chassis.yaw=0.2"};
    tr_error err = {0};
    tr_sweep_options o = tr_sweep_defaults();
    o.vary = vary, o.vary_count = 2, o.samples = 3, o.what = "settle";
    o.holds = holds, o.hold_count = 3;
    Found f = sweep_alike("car_on_hills", NULL, &o);
    assert_int_equal(f.runs, 6);
    for (size_t i = 0; i < f.runs; i++) {
        tr_system *system = variant("car_on_hills", NULL, &f, i, 2);
        tr_plan *plan = tr_plan_new(system, &err);
        tr_settle_options how = tr_settle_defaults();
        how.holds = holds, how.hold_count = 3;
        Bench b = {.system = system, .plan = plan, .settle = tr_settle_new(plan, &how, &err)};
        if (!b.settle || !tr_settle_pose(b.settle, NULL, b.columns, &err)) fail_msg("%s", err.text);
        assert_close(value(&f, i, "chassis.z"), told(&b, "chassis.z"), 1e-8);
        assert_close(value(&f, i, "chassis.roll"), told(&b, "chassis.roll"), 1e-7);
        free_bench(&b);
    }
    free_found(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(varies_inputs),
        cmocka_unit_test(gives_runs_equations_of_their_own),
        cmocka_unit_test(finds_steady_motions),
        cmocka_unit_test(finds_eigenvalues),
        cmocka_unit_test(settles),
    };
    make_folder(folder, sizeof folder);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_folder();
    return failed;
}
