// SPDX-License-Identifier: Apache-2.0
// Batches whose plain steps are made by kernels: the same numbers as runs of their own, to the bit,
// with charts that change, events and failures on the way. Kernels are executed by an interpreter
// of PTX; where there is a GPU, the same batches are on it, too.
#include "models.h"
#include "ptx.h"
#include "sim/batch.h"
#include "sim/lanes.h"
#include "sim/run.h"

static void insist(const tr_error *err)
{
    if (err->status) fail_msg("%s", err->text);
}

// ---- a machine that interprets -------------------------------------------------------------

static GpuKernel *load(void *self, const char *ptx, const char *entry, uint32_t shared,
                       tr_error *err)
{
    (void)self, (void)err;
    PtxModule *m = ptx_read(ptx);
    m->shared_size = shared;
    assert_string_equal(m->functions[m->function_count - 1].name, entry);
    return (GpuKernel *)(void *)m;
}

static void unload(void *self, GpuKernel *kernel)
{
    (void)self;
    ptx_free((PtxModule *)(void *)kernel);
}

static PtxModule *prepared(GpuKernel *kernel, const GpuWork *w)
{
    PtxModule *m = (PtxModule *)(void *)kernel;
    const uint64_t base = (uint64_t)(uintptr_t)w->block, row = w->count * sizeof(double);
    m->parameters[0].u = base;
    m->parameters[1].u = base + w->state * row, m->parameters[2].u = base + w->inputs * row;
    m->parameters[3].u = w->count, m->parameters[4].u = w->count;
    m->parameters[6].d = w->step;
    return m;
}

static bool interpret(void *self, GpuKernel *kernel, const GpuWork *w, tr_error *err)
{
    (void)self, (void)err;
    PtxModule *m = prepared(kernel, w);
    m->parameters[5].u = 29; // steps of a launch
    for (bool more = true; more;) {
        more = false;
        ptx_launch(m, (uint32_t)(w->count + 3) / 4, 4);
        for (size_t k = 0; k < w->count; k++) more = more || w->block[w->fate * w->count + k] == 0;
        if (more && w->goes_on && !w->goes_on(w->owner)) break;
    }
    return true;
}

static bool break_down(void *self, GpuKernel *kernel, const GpuWork *w, tr_error *err)
{
    (void)self, (void)kernel;
    memset(err->text, 0, sizeof err->text);
    err->status = TR_FAILED;
    snprintf(err->text, sizeof err->text, "it broke with %zu runs", w->count);
    return false;
}

static bool step_there(void *self, GpuKernel *kernel, const GpuWork *w, uint64_t state,
                       uint64_t inputs, uint32_t steps, tr_error *err)
{
    (void)self, (void)err;
    PtxModule *m = prepared(kernel, w);
    m->parameters[1].u = state;
    if (inputs) m->parameters[2].u = inputs;
    m->parameters[5].u = steps;
    if (steps)
        ptx_launch(m, (uint32_t)w->count, 1);
    else
        memcpy(w->block + w->state * w->count, (const void *)(uintptr_t)state,
               w->states * w->count * sizeof(double));
    return true;
}

static const GpuMachine interpreter = {.words = "an interpreter of PTX",
                                       .least = 1,
                                       .many = 1,
                                       .room = 20 << 10,
                                       .load = load,
                                       .unload = unload,
                                       .run = interpret,
                                       .step = step_there};

// ---- batches -------------------------------------------------------------------------------

typedef struct Pair {
    tr_system *system;
    tr_plan *plan;
    tr_batch *batch;
    tr_run **runs;
    size_t count, columns;
} Pair;

static Pair pair_of(tr_system *system, size_t count, const char *method, double step,
                    const GpuMachine *machine)
{
    tr_error err = {0};
    tr_run_options o = tr_run_defaults(NULL);
    Pair p = {.system = system, .count = count};
    o.method = method, o.step = step;
    p.plan = tr_plan_new(p.system, &err);
    p.columns = tr_plan_column_count(p.plan);
    p.batch = tr_batch_new(p.plan, count, &o, &err);
    insist(&err);
    tr_batch_use(p.batch, machine);
    p.runs = calloc(count, sizeof *p.runs);
    for (size_t i = 0; i < count; i++) p.runs[i] = tr_run_new(p.plan, &o, &err);
    insist(&err);
    return p;
}

static void part(Pair *p)
{
    for (size_t i = 0; i < p->count; i++) tr_run_free(p->runs[i]);
    free(p->runs);
    tr_batch_free(p->batch);
    tr_plan_free(p->plan);
    tr_system_free(p->system);
}

// Starts, and a parameter each, that differ
static void vary(Pair *p)
{
    for (size_t i = 1; i < p->count; i++) {
        for (size_t k = 0; k < tr_input_count(p->system); k++) {
            const tr_kind kind = tr_input_kind(p->system, k);
            tr_error one = {0}, other = {0};
            if (kind != TR_START && (kind != TR_PARAMETER || k % p->count != i)) continue;
            const double x = tr_input_value(p->system, k) * (1 + 0.02 * (double)i);
            tr_batch_set(p->batch, i, tr_input_name(p->system, k), x, &one);
            tr_run_set(p->runs[i], tr_input_name(p->system, k), x, &other);
            assert_int_equal(one.status, other.status);
        }
        tr_error one = {0}, other = {0};
        tr_batch_reset(p->batch, i, &one);
        tr_run_reset(p->runs[i], &other);
        assert_string_equal(one.text, other.text);
    }
}

static void compare(Pair *p)
{
    for (size_t i = 0; i < p->count; i++) {
        tr_error a = {0}, b = {0};
        tr_batch_status(p->batch, i, &a);
        tr_run_failed(p->runs[i], &b);
        assert_string_equal(a.text, b.text);
        if (a.status) continue;
        const double *one = tr_batch_row(p->batch, i), *other = tr_run_row(p->runs[i]);
        for (size_t k = 0; k < p->columns; k++)
            if (memcmp(&one[k], &other[k], sizeof *one) != 0)
                fail_msg("run %zu: %s is %.17g in the batch, %.17g alone", i,
                         tr_plan_column_name(p->plan, k), one[k], other[k]);
    }
}

static void advance_both(Pair *p, double until)
{
    tr_error err = {0};
    assert_true(tr_batch_advance(p->batch, until, &err));
    for (size_t i = 0; i < p->count; i++) {
        tr_error own = {0};
        if (!tr_run_failed(p->runs[i], NULL)) tr_run_advance(p->runs[i], until, &own);
    }
    compare(p);
}

// In all runs at once, as they are on a GPU or on their way there
static void write_inputs(Pair *p)
{
    for (size_t k = 0; k < tr_input_count(p->system); k++) {
        const double x = tr_input_value(p->system, k);
        if (tr_input_kind(p->system, k) != TR_INPUT || isnan(x)) continue;
        double values[8];
        tr_error err = {0}, own = {0};
        for (size_t i = 0; i < p->count; i++) {
            values[i] = x + 0.01 * (double)(i + 1);
            tr_run_set(p->runs[i], tr_input_name(p->system, k), values[i], &own);
        }
        insist(&own);
        assert_true(tr_batch_write(p->batch, tr_input_name(p->system, k), values, 1, NULL, &err));
    }
}

static void check_system(const GpuMachine *machine, tr_system *system, const char *name,
                         const char *method, double step, size_t count)
{
    Pair p = pair_of(system, count, method, step, machine);
    vary(&p);
    advance_both(&p, 40 * step);
    write_inputs(&p);
    advance_both(&p, 100.3 * step);
    advance_both(&p, 200 * step);
    const BatchCounts counts = tr_batch_counts(p.batch);
    printf("%-20s on %s: %zu steps there, %zu in lanes, %zu alone\n", name, tr_batch_on(p.batch),
           counts.on_gpu, counts.in_lanes, counts.alone);
    assert_true(counts.on_gpu > 0);
    part(&p);
}

static void check_on(const GpuMachine *machine, const char *name, const char *method, double step,
                     size_t count)
{
    check_system(machine, system_called(name, NULL), name, method, step, count);
}

// Along coordinates: each piece of a table is one of the sides of a switch.
static const char curves[] =
    "trundle: 1\n"
    "tables:\n"
    "  spring: {x: '-1, -0.3, 0.2, 0.5, 1.5', value: '2, 0.4, -0.3, -0.5, -4', degree: 1, outside: "
    "hold}\n"
    "  notch: {x: '-1, -0.1, 0.1, 1', value: '0.1, 0.7, -0.2, 0.3', degree: 0, outside: hold}\n"
    "bodies:\n"
    "  cart: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: s}, mass: 2}\n"
    "  pole: {parent: cart, joint: {type: revolute, axis: '0, 1, 0', coordinate: a},"
    " mass: 1, com: '0, 0, -0.5'}\n"
    "initial: {s: 0.9, a: 0.1}\n"
    "roles: {s: {torque: '40*spring(s) + notch(s)'}, a: {torque: 'spring(2*a)'}}\n";

static void check_all(const GpuMachine *machine)
{
    check_system(machine, system_from(curves), "tables", "rk4", 5e-3, 4);
    check_on(machine, "chain", "rk4", 1e-3, 3);
    check_on(machine, "bicycle", "rk4", 1e-3, 4);
    check_on(machine, "rolling_disc", "lie", 2e-3, 5);
    check_on(machine, "four_bar", "rk4", 5e-3, 4);      // charts change
    check_on(machine, "hopping_wheel", "rk4", 5e-3, 3); // lifts off and lands
    check_on(machine, "knee_stops", "rk4", 5e-3, 3);    // stops
}

static void test_batches(void **state)
{
    (void)state;
    check_all(&interpreter);
}

static void test_gpu(void **state)
{
    (void)state;
    tr_error err = {0};
    const GpuMachine *machine = tr_gpu_machine(&err);
    if (!machine) {
        printf("skipped: %s\n", err.text);
        skip();
    }
    GpuMachine eager = *machine;
    eager.least = eager.many = 1;
    check_all(&eager);
}

// One that breaks is told of, and the CPU goes on.
static void test_failure(void **state)
{
    (void)state;
    GpuMachine broken = interpreter;
    broken.run = break_down;
    Pair p = pair_of(system_called("bicycle", NULL), 3, "rk4", 1e-3, &broken);
    advance_both(&p, 0.05);
    assert_string_equal(tr_batch_on(p.batch), "the CPU: it broke with 3 runs");
    assert_int_equal(tr_batch_counts(p.batch).on_gpu, 0);
    part(&p);
}

// States that are somebody else's, and inputs from some step on
static void test_states(void **state)
{
    (void)state;
    enum { RUNS = 3, STEPS = 12 };
    tr_error err = {0};
    Pair p = pair_of(system_called("bicycle", NULL), RUNS, "rk4", 1e-3, &interpreter);
    advance_both(&p, 0.003);
    const size_t size = tr_gpu_states(p.batch);
    assert_true(size > 0);
    double *x = calloc(size * RUNS, sizeof *x);
    tr_gpu_state(p.batch, x);
    assert_true(tr_gpu_step(p.batch, x, NULL, STEPS, &err));
    for (int i = 0; i < RUNS; i++) assert_true(tr_gpu_fates(p.batch)[i] == 0);
    double *inputs = calloc(tr_gpu_inputs(p.batch, NULL) * RUNS, sizeof *inputs);
    assert_true(tr_gpu_inputs(p.batch, inputs) >= tr_input_count(p.system));
    for (size_t i = 1; i < tr_input_count(p.system); i++)
        if (tr_input_kind(p.system, i) == TR_PARAMETER)
            assert_true(inputs[i * RUNS] == tr_input_value(p.system, i));
    // now the kernel may know none
    assert_true(tr_gpu_step(p.batch, x, inputs, STEPS, &err));
    free(inputs);
    assert_true(tr_gpu_step(p.batch, x, NULL, 0, &err));
    insist(&err);
    for (size_t i = 0; i < p.count; i++) tr_run_advance(p.runs[i], 0.027, &err);
    compare(&p);
    assert_string_equal(tr_gpu_state_name(p.batch, 0), tr_plan_column_name(p.plan, 1));
    assert_null(tr_gpu_state_name(p.batch, size));
    assert_false(tr_gpu_step(p.batch, NULL, NULL, 3, &err));
    assert_int_equal(err.status, TR_USAGE);
    free(x);
    part(&p);
}

static void set_both(Pair *p, size_t run, const char *name, double value)
{
    tr_error one = {0}, other = {0};
    tr_batch_set(p->batch, run, name, value, &one);
    tr_run_set(p->runs[run], name, value, &other);
    insist(&one);
    insist(&other);
}

// Runs that go on in another way, and fail, while their states are there: what is there is told as
// before, and the next step begins anew.
static void test_elsewhere(void **state)
{
    (void)state;
    enum { RUNS = 3, STEPS = 5 };
    tr_error err = {0};
    Pair p = pair_of(system_called("cart_pole", "pushed"), RUNS, "rk4", 1e-3, &interpreter);
    set_both(&p, 0, "push", 1e308);
    double *x = calloc(tr_gpu_states(p.batch) * RUNS, sizeof *x);
    tr_gpu_state(p.batch, x);
    assert_true(tr_gpu_step(p.batch, x, NULL, STEPS, &err));
    assert_true(tr_gpu_fates(p.batch)[0] == 2 && tr_gpu_fates(p.batch)[1] == 0);
    advance_both(&p, 0.02);
    assert_int_equal(tr_batch_status(p.batch, 0, NULL), TR_FAILED);
    assert_true(tr_gpu_fates(p.batch)[0] == 2 && tr_gpu_fates(p.batch)[1] == 0);
    assert_false(tr_gpu_step(p.batch, x, NULL, STEPS, &err));
    assert_non_null(strstr(err.text, "run 0 cannot go side by side"));
    err = (tr_error){0};
    set_both(&p, 0, "push", 1);
    assert_true(tr_batch_reset(p.batch, 0, &err) && tr_run_reset(p.runs[0], &err));
    tr_gpu_state(p.batch, x);
    assert_true(tr_gpu_step(p.batch, x, NULL, STEPS, &err));
    assert_true(tr_gpu_step(p.batch, x, NULL, 0, &err));
    insist(&err);
    for (size_t i = 0; i < p.count; i++)
        tr_run_advance(p.runs[i], (i ? 0.02 : 0) + STEPS * 1e-3, &err);
    insist(&err);
    compare(&p);
    assert_true(tr_gpu_step(p.batch, x, NULL, STEPS, &err));
    const double push = 2; // at once in all, which are not those there any more
    assert_true(tr_batch_write(p.batch, "push", &push, 0, NULL, &err));
    for (size_t i = 0; i < p.count; i++) tr_run_set(p.runs[i], "push", push, &err);
    assert_true(tr_gpu_step(p.batch, x, NULL, 0, &err));
    insist(&err);
    compare(&p);
    free(x);
    part(&p);
}

// With what runs alone make in between: charts that change. Nearly the numbers of the CPU
static void test_single(void **state)
{
    (void)state;
    enum { RUNS = 3 };
    static const char *const models[] = {"four_bar", "bicycle"};
    for (size_t m = 0; m < 2; m++) {
        tr_error err = {0};
        tr_system *system = system_called(models[m], NULL);
        tr_plan *plan = tr_plan_new(system, &err);
        tr_run_options o = tr_run_defaults(plan);
        o.method = "rk4", o.step = 1e-3, o.single = true, o.on = "gpu";
        tr_batch *single = tr_batch_new(plan, RUNS, &o, &err);
        o.single = false, o.on = NULL;
        tr_batch *batch = tr_batch_new(plan, RUNS, &o, &err);
        insist(&err);
        tr_batch_use(single, &interpreter);
        tr_batch_advance(single, 0.5, &err);
        tr_batch_advance(batch, 0.5, &err);
        insist(&err);
        double off = 0, largest = 1;
        const double *a = tr_batch_row(batch, RUNS - 1), *b = tr_batch_row(single, RUNS - 1);
        for (size_t k = 0; k < tr_plan_column_count(plan); k++) {
            if (isfinite(a[k])) largest = fmax(largest, fabs(a[k]));
            if (isfinite(a[k])) off = fmax(off, fabs(a[k] - b[k]));
        }
        printf("%s in single precision: %.2g off\n", models[m], off / largest);
        assert_true(off > 0 && off / largest < 1e-4);
        assert_true(a[0] == b[0]); // the time
        tr_batch_free(batch);
        tr_batch_free(single);
        tr_plan_free(plan);
        tr_system_free(system);
    }
}

static void test_options(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("chain", NULL);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = 1e-3, o.on = "gpu";
    assert_null(tr_run_new(plan, &o, &err));
    assert_int_equal(err.status, TR_USAGE);
    err = (tr_error){0};
    tr_batch *batch = tr_batch_new(plan, 2, &o, &err);
    insist(&err);
    printf("on %s\n", tr_batch_on(batch));
    assert_true(tr_batch_advance(batch, 0.1, &err));
    tr_batch_free(batch);
    o.on = "tpu";
    assert_null(tr_batch_new(plan, 2, &o, &err));
    assert_string_equal(err.text, "runs are made on 'cpu' or 'gpu', not on 'tpu'");
    err = (tr_error){0};
    o.on = NULL, o.single = true;
    assert_null(tr_batch_new(plan, 2, &o, &err));
    assert_string_equal(err.text, "only GPUs make steps in single precision");
    err = (tr_error){0};
    assert_null(tr_run_new(plan, &o, &err));
    assert_int_equal(err.status, TR_USAGE);
    tr_plan_free(plan);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches),   cmocka_unit_test(test_gpu),
        cmocka_unit_test(test_failure),   cmocka_unit_test(test_states),
        cmocka_unit_test(test_elsewhere), cmocka_unit_test(test_single),
        cmocka_unit_test(test_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
