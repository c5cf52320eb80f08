// SPDX-License-Identifier: Apache-2.0
// Sweeps whose steps a GPU makes, or a driver that interprets (fake_cuda.c): every number is the
// CPU's, to the bit, whatever happens to runs on the way, and to the GPU.
#include "comma.h"
#include "models.h"
#include "sweeps.h"

#include <unistd.h>

typedef struct Case {
    const char *model, *name, *vary, *keep, *stop, *method;
    double step, end, every;
    size_t record;
} Case;

static tr_sweep_options options_of(const Case *c)
{
    tr_sweep_options o = tr_sweep_defaults();
    o.vary = &c->vary, o.vary_count = 1, o.keep = c->keep, o.stop = c->stop, o.method = c->method;
    o.step = c->step, o.end = c->end, o.every = c->every, o.record = c->record;
    o.jobs = 1;
    return o;
}

// How the numbers were found, besides what they are
static Found sweep_on(const Case *c, tr_sweep_options *o, const char *on, tr_sweep_summary *summary)
{
    Found f = {0};
    tr_error err = {0};
    const tr_sweep_sink sink = {begin_found, add_found, &f};
    tr_model *m = model_called(c->model);
    tr_derive_options how = tr_derive_defaults();
    how.case_name = c->name;
    o->on = on, o->sinks = &sink, o->sink_count = 1;
    if (!tr_sweep(m, &how, o, summary, &err)) fail_msg("%s", err.text);
    tr_model_free(m);
    assert_int_equal(f.count, summary->done - summary->before);
    return f;
}

static void compare(const Found *a, const Found *b)
{
    assert_int_equal(a->runs, b->runs);
    for (size_t i = 0; i < a->runs; i++) {
        assert_string_equal(a->words[i], b->words[i]);
        assert_int_equal(a->is_stopped[i], b->is_stopped[i]);
        for (size_t k = 0; k < a->columns; k++)
            if (memcmp(&a->values[i * a->columns + k], &b->values[i * a->columns + k],
                       sizeof(double)) != 0)
                fail_msg("run %zu: %s is %.17g on the CPU, %.17g on a GPU", i, a->names[k],
                         a->values[i * a->columns + k], b->values[i * a->columns + k]);
        assert_int_equal(a->row_count[i], b->row_count[i]);
        if (a->rows[i])
            assert_memory_equal(a->rows[i], b->rows[i],
                                a->row_count[i] * a->row_columns * sizeof(double));
    }
}

static size_t count_stopped(const Found *f)
{
    size_t count = 0;
    for (size_t i = 0; i < f->runs; i++) count += f->is_stopped[i];
    return count;
}

static const Case bicycles = {"bicycle",
                              "free",
                              "roll_rate0=0.1:0.9:0.0025",
                              "final(roll), max(abs(roll)), min(steer), mean(roll), rms(roll), "
                              "time(abs(roll) > 0.02), at(0.04, roll), at(0.055, roll), "
                              "final(lambda.rear.normal), final(roll_rate0*roll)",
                              "abs(roll) > 0.06",
                              "rk4",
                              5e-3,
                              0.2,
                              0.02,
                              0};

// Steps there, and how many runs stopped
static size_t check(const Case *c, const char *where, size_t *stopped)
{
    tr_sweep_summary there, here;
    tr_sweep_options o = options_of(c);
    Found a = sweep_on(c, &o, NULL, &here), b = sweep_on(c, &o, "gpu", &there);
    compare(&a, &b);
    assert_string_equal(here.on, "");
    assert_int_equal(here.steps_on_gpu, 0);
    printf("%s: %zu runs, %zu steps on a GPU, %s\n", c->model, a.runs, there.steps_on_gpu,
           there.on);
    assert_string_equal(there.on, where);
    *stopped = count_stopped(&a);
    free_found(&a);
    free_found(&b);
    return there.steps_on_gpu;
}

#define DEVICES "interpreter 0, interpreter 1"

static void has_the_bits_of_the_cpu(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"snakeboard", "ride", "mb=0.5:2:0.005", "final(x), max(y), rms(d(x)), mean(x*y)", NULL,
         "rk4", 1e-2, 0.5, 0.1, 0},
        {"rolling_disc", "wobble", "lean0=-0.5:-0.2:0.001", "min(roll), time(roll < -0.3)", NULL,
         "lie", 5e-3, 0.1, 0.02, 0},
        // loops, which change their charts; rows that are no part of the end
        {"four_bar", NULL, "b=0.88:0.92:0.00013", "max(abs(th2)), mean(th3)", NULL, "rk4", 5e-3,
         0.23, 0.05, 0},
        // stops
        {"knee_stops", NULL, "m2=0.7:0.9:0.00066", "final(energy.kinetic)", NULL, "rk4", 5e-3, 0.3,
         0.1, 0},
        // lifts off and lands, so the CPU makes some
        {"hopping_wheel", "hop", "rate0=20:40:0.07", "max(gap), time(gap > 1e-3), final(turn)",
         NULL, "rk4", 5e-3, 0.25, 0.05, 0},
    };
    size_t stopped;
    assert_int_equal(check(&bicycles, DEVICES, &stopped), 9316); // all of them
    assert_true(stopped > 20 && stopped < 300);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(check(&cases[i], DEVICES, &stopped) > 1000);
}

static void keeps_rows_of_some(void **state)
{
    (void)state;
    Case c = bicycles;
    size_t stopped;
    c.record = 40;
    assert_true(check(&c, DEVICES, &stopped) > 0);
}

static void is_the_same_in_chunks(void **state)
{
    (void)state;
    size_t stopped;
    setenv("FAKE_CUDA_MEMORY", "200000", 1);
    assert_true(check(&bicycles, DEVICES, &stopped) > 0);
    unsetenv("FAKE_CUDA_MEMORY");
}

static size_t count_kernels(const char *home)
{
    char path[500];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/trundle/gpu", home);
    DIR *listing = opendir(path);
    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing));) count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

// What the driver that interprets has kept is the text, and a zero; behind it is a digest.
static void assemble_all(const char *home)
{
#ifdef PTXAS
    char command[1000];
    snprintf(command, sizeof command,
             "cd '%s/trundle/gpu' && for k in *; do head -c -64 \"$k\" | tr -d '\\000' >../k.ptx "
             "&& '%s' -O0 "
             "-arch sm_80 ../k.ptx -o /dev/null || exit 1; done",
             home, PTXAS);
    assert_int_equal(system(command), 0);
#else
    (void)home;
#endif
}

// Runs that a thread has at once may share what varies: no kernel is made for that.
static void makes_one_kernel_for_all_values(void **state)
{
    (void)state;
    char home[] = "/tmp/trundle_gpu_XXXXXX", command[100];
    assert_non_null(mkdtemp(home));
    setenv("XDG_CACHE_HOME", home, 1);
    for (int m0 = 80; m0 < 83; m0++) {
        char mass[20];
        tr_sweep_summary summary;
        const char *const vary[] = {mass, bicycles.vary};
        tr_sweep_options o = options_of(&bicycles);
        snprintf(mass, sizeof mass, "m0=%d", m0);
        o.vary = vary, o.vary_count = 2, o.end = 0.02, o.keep = "final(roll)";
        Found f = sweep_on(&bicycles, &o, "gpu", &summary);
        assert_true(summary.steps_on_gpu > 0);
        free_found(&f);
    }
    assert_int_equal(count_kernels(home), 2); // of steps, and of rows
    assemble_all(home);
    setenv("XDG_CACHE_HOME", ".", 1);
    snprintf(command, sizeof command, "rm -r '%s'", home);
    assert_int_equal(system(command), 0);
}

// The same kernels, whose numbers are printed and read on the way
static void is_the_same_with_decimal_commas(void **state)
{
    (void)state;
    char home[] = "/tmp/trundle_gpu_XXXXXX", command[100];
    tr_sweep_summary summary;
    tr_sweep_options o = options_of(&bicycles);
    assert_non_null(mkdtemp(home));
    setenv("XDG_CACHE_HOME", home, 1);
    Found right = sweep_on(&bicycles, &o, "gpu", &summary);
    if (use_commas()) {
        Found found = sweep_on(&bicycles, &o, "gpu", &summary);
        setlocale(LC_ALL, "C");
        compare(&right, &found);
        free_found(&found);
    }
    free_found(&right);
    assert_int_equal(count_kernels(home), 2); // of steps, and of rows
    setenv("XDG_CACHE_HOME", ".", 1);
    snprintf(command, sizeof command, "rm -r '%s'", home);
    assert_int_equal(system(command), 0);
}

static bool stop_early(void *owner, size_t done, size_t failed, size_t all)
{
    (void)owner, (void)failed, (void)all;
    return done == 0;
}

// What a database had is gone on with, on the CPU or there; each run is made once.
static void goes_on_where_it_was_interrupted(void **state)
{
    (void)state;
    static const Case boards = {
        "snakeboard", "ride", "mb=0.5:2:0.0001", "final(x)", NULL, "rk4", 1e-2, 0.03, 0.01, 0};
    char path[400];
    tr_sweep_summary first, second, all;
    tr_sweep_options o = options_of(&boards);
    snprintf(path, sizeof path, "%s", in_folder("boards.db"));
    Found whole = sweep_on(&boards, &o, NULL, &all);
    o.output = path, o.progress = stop_early, o.jobs = 4; // hands of 64 blocks
    Found a = sweep_on(&boards, &o, "gpu", &first);
    assert_true(first.interrupted && first.done > 0 && first.done < first.runs);
    o.progress = NULL;
    Found b = sweep_on(&boards, &o, "gpu", &second);
    assert_int_equal(second.before, first.done);
    assert_int_equal(second.done, whole.runs);
    for (size_t i = 0; i < whole.runs; i++) {
        const Found *part = a.is_there[i] ? &a : &b;
        assert_true(a.is_there[i] != b.is_there[i]);
        assert_memory_equal(part->values + i * whole.columns, whole.values + i * whole.columns,
                            whole.columns * sizeof(double));
    }
    free_found(&whole);
    free_found(&a);
    free_found(&b);
}

static void goes_on_without(void **state)
{
    (void)state;
    size_t stopped;
    setenv("FAKE_CUDA_MEMORY", "1000", 1);
    assert_int_equal(check(&bicycles, "the CPU: a GPU has no memory left", &stopped), 0);
    unsetenv("FAKE_CUDA_MEMORY");
    setenv("FAKE_CUDA_LAUNCHES", "3", 1);
    check(
        &bicycles,
        "the CPU: the GPU's driver cannot launch a kernel: unspecified launch failure (error 719)",
        &stopped);
    unsetenv("FAKE_CUDA_LAUNCHES");
}

static void refuse(const Case *c, const char *what, const char *on, const char *words)
{
    tr_error err = {0};
    tr_sweep_options o = options_of(c);
    tr_model *m = model_called(c->model);
    o.what = what, o.on = on;
    if (what) o.end = o.every = o.step = (double)NAN, o.method = NULL; // of other tasks
    assert_false(tr_sweep(m, NULL, &o, NULL, &err));
    assert_int_equal(err.status, TR_USAGE);
    assert_string_equal(err.text, words);
    tr_model_free(m);
}

static void says_what_has_no_steps_there(void **state)
{
    (void)state;
    Case c = bicycles;
    refuse(&c, "steady", "gpu", "a GPU makes steps of runs, and 'steady' has none");
    refuse(&c, NULL, "tpu", "runs are made on 'cpu' or 'gpu', not on 'tpu'");
    c.method = "bdf";
    refuse(&c, NULL, "gpu", "a GPU makes steps of rk4 and lie; 'bdf' has no such steps");
}

int main(void)
{
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    setenv("XDG_CACHE_HOME", ".", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(has_the_bits_of_the_cpu),
                                       cmocka_unit_test(keeps_rows_of_some),
                                       cmocka_unit_test(is_the_same_in_chunks),
                                       cmocka_unit_test(is_the_same_with_decimal_commas),
                                       cmocka_unit_test(makes_one_kernel_for_all_values),
                                       cmocka_unit_test(goes_on_where_it_was_interrupted),
                                       cmocka_unit_test(goes_on_without),
                                       cmocka_unit_test(says_what_has_no_steps_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
