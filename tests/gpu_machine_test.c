// SPDX-License-Identifier: Apache-2.0
// GPUs by their driver, as far as that can be seen without one (fake_cuda.c): several, with memory
// for a part of the runs, with none, lost on the way, too old. Whatever happens the numbers are the
// CPU's, and it is told.
#include "gpu/driver.h"
#include "gpu/machine.h"
#include "models.h"
#include "sim/batch.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 300, STEPS = 6 };

typedef struct Known {
    tr_system *system;
    tr_plan *plan;
    double *rows; // of the CPU
    size_t columns;
} Known;

static Known known;

static tr_batch *batch_on(const char *on)
{
    tr_error err = {0};
    tr_run_options o = tr_run_defaults(known.plan);
    o.method = "rk4", o.step = 1e-3, o.on = on;
    tr_batch *batch = tr_batch_new(known.plan, RUNS, &o, &err);
    if (err.status) fail_msg("%s", err.text);
    for (size_t i = 0; i < RUNS; i++) {
        tr_batch_set(batch, i, "roll_rate0", 0.3 + 1e-4 * (double)i, &err);
        tr_batch_reset(batch, i, &err);
    }
    return batch;
}

static void advance(tr_batch *batch)
{
    tr_error err = {0};
    if (!tr_batch_advance(batch, STEPS * 1e-3, &err)) fail_msg("%s", err.text);
}

static void compare(tr_batch *batch)
{
    for (size_t i = 0; i < RUNS; i++)
        assert_memory_equal(tr_batch_row(batch, i), known.rows + i * known.columns,
                            known.columns * sizeof(double));
}

// Where the batch is afterwards; steps that were made on GPUs
static void check(const char *where, size_t steps)
{
    tr_batch *batch = batch_on("gpu");
    advance(batch);
    compare(batch);
    assert_string_equal(tr_batch_on(batch), where);
    assert_int_equal(tr_batch_counts(batch).on_gpu, steps);
    tr_batch_free(batch);
}

#define DEVICES "interpreter 0, interpreter 1"

static void test_two(void **state)
{
    (void)state;
    check(DEVICES, RUNS * STEPS);
}

// Chunks of a few dozen runs on each
static void test_chunks(void **state)
{
    (void)state;
    setenv("FAKE_CUDA_MEMORY", "200000", 1);
    check(DEVICES, RUNS * STEPS);
    unsetenv("FAKE_CUDA_MEMORY");
}

static void test_no_memory(void **state)
{
    (void)state;
    setenv("FAKE_CUDA_MEMORY", "1000", 1);
    check("the CPU: a GPU has no memory left", 0);
    unsetenv("FAKE_CUDA_MEMORY");
}

// The other one has all runs.
static void test_full(void **state)
{
    (void)state;
    setenv("FAKE_CUDA_FULL", "0", 1);
    check(DEVICES, RUNS * STEPS);
    setenv("FAKE_CUDA_FULL", "1", 1);
    check(DEVICES, RUNS * STEPS);
    unsetenv("FAKE_CUDA_FULL");
}

// There is less memory in one piece than there is.
static void test_pieces(void **state)
{
    (void)state;
    setenv("FAKE_CUDA_PIECE", "60000", 1);
    check(DEVICES, RUNS * STEPS);
    setenv("FAKE_CUDA_PIECE", "10", 1);
    check("the CPU: a GPU has no memory left", 0);
    unsetenv("FAKE_CUDA_PIECE");
}

// What a program finds that begins with these devices
static void check_beginning(const char *name, const char *device, const char *count,
                            const char *where)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        setenv(name, device, 1);
        setenv("FAKE_CUDA_DEVICES", count, 1);
        tr_batch *batch = batch_on("gpu");
        advance(batch);
        compare(batch);
        const bool good = strcmp(tr_batch_on(batch), where) == 0;
        if (!good) fprintf(stderr, "on %s\n", tr_batch_on(batch));
        _exit(!good || (tr_batch_counts(batch).on_gpu > 0) != (where[0] == 'i'));
    }
    int status = 1;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
}

// Before any other test: devices are found once.
static void test_beginnings(void **state)
{
    (void)state;
    check_beginning("FAKE_CUDA_BUSY", "0", "3", "interpreter 1, interpreter 2");
    check_beginning("FAKE_CUDA_WEAK", "1", "2", "interpreter 0");
    check_beginning("FAKE_CUDA_BUSY", "0", "1",
                    "the CPU: the GPU's driver cannot open a device: all CUDA-capable devices are "
                    "busy or unavailable (error 46)");
    check_beginning("FAKE_CUDA_WEAK", "0", "1",
                    "the CPU: no GPU can be used: interpreter 0 has compute capability 6.0, and "
                    "7.5 is the least");
}

static void test_lost(void **state)
{
    (void)state;
    setenv("FAKE_CUDA_LAUNCHES", "1", 1);
    check("the CPU: the GPU's driver cannot launch a kernel: unspecified launch failure (error "
          "719)",
          0);
    unsetenv("FAKE_CUDA_LAUNCHES");
}

// One that did not know a kernel, which another had kept, would take it from there: a folder anew.
static void test_old(void **state)
{
    (void)state;
    char folder[] = "/tmp/trundle_gpu_XXXXXX", command[200];
    assert_non_null(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("FAKE_CUDA_OLD", "1", 1);
    check("the CPU: the GPU's driver cannot assemble a kernel: the provided PTX was compiled with "
          "an unsupported toolchain (error 222)",
          0);
    unsetenv("FAKE_CUDA_OLD");
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

// An image whose bytes changed on the disk would give other numbers: it is assembled again.
static void test_spoilt(void **state)
{
    (void)state;
    char folder[] = "/tmp/trundle_gpu_XXXXXX", command[300];
    assert_non_null(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    check(DEVICES, RUNS * STEPS);
    snprintf(command, sizeof command,
             "cd '%s/trundle/gpu' && cp * ../../good && sed -i 's/0d3F/0d3E/' *", folder);
    assert_int_equal(system(command), 0);
    check(DEVICES, RUNS * STEPS);
    snprintf(command, sizeof command, "cmp '%s'/trundle/gpu/* '%s/good'", folder, folder);
    assert_int_equal(system(command), 0); // it was written anew
    setenv("XDG_CACHE_HOME", ".", 1);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

// What a caller allocates there is too large, or it is lost: words, and the batch is what it was.
static void test_states(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_batch *batch = batch_on("gpu");
    const size_t size = tr_gpu_states(batch);
    double *x = calloc(size * RUNS + 1, sizeof *x);
    tr_gpu_state(batch, x);
    setenv("FAKE_CUDA_MEMORY", "200000", 1);
    assert_false(tr_gpu_step(batch, x, NULL, STEPS, &err));
    assert_non_null(strstr(err.text, "the GPU has memory for "));
    unsetenv("FAKE_CUDA_MEMORY");
    err = (tr_error){0};
    assert_true(tr_gpu_step(batch, x, NULL, STEPS, &err));
    assert_true(tr_gpu_step(batch, x, NULL, 0, &err));
    compare(batch);
    free(x);
    tr_batch_free(batch);
}

// Steps of states that are there do not take a batch of the CPU to a GPU.
static void test_stays(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_batch *batch = batch_on(NULL);
    double *x = calloc(tr_gpu_states(batch) * RUNS + 1, sizeof *x);
    tr_gpu_state(batch, x);
    assert_true(tr_gpu_step(batch, x, NULL, STEPS / 2, &err));
    assert_true(tr_gpu_step(batch, x, NULL, 0, &err));
    advance(batch);
    compare(batch);
    assert_string_equal(tr_batch_on(batch), "the CPU");
    assert_int_equal(tr_batch_counts(batch).on_gpu, RUNS * (STEPS / 2));
    free(x);
    tr_batch_free(batch);
}

// The context that a thread has is its own afterwards, whatever was done: other libraries go by it.
static void test_context(void **state)
{
    (void)state;
    enum { OWN = 7 };
    tr_error err = {0};
    const GpuDriver *d = tr_gpu_driver(&err);
    void *now = NULL;
    assert_int_equal(d->set_current((void *)(intptr_t)OWN), 0);
    tr_batch *batch = batch_on("gpu");
    double *x = calloc(tr_gpu_states(batch) * RUNS + 1, sizeof *x);
    tr_gpu_state(batch, x);
    assert_true(tr_gpu_step(batch, x, NULL, STEPS, &err));
    assert_true(d->current(&now) == 0 && now == (void *)(intptr_t)OWN);
    assert_true(tr_gpu_step(batch, x, NULL, 0, &err));
    tr_batch_advance(batch, 2 * STEPS * 1e-3, &err);
    assert_true(d->current(&now) == 0 && now == (void *)(intptr_t)OWN);
    setenv("FAKE_CUDA_LAUNCHES", "0", 1);
    tr_batch_advance(batch, 3 * STEPS * 1e-3, &err);
    unsetenv("FAKE_CUDA_LAUNCHES");
    tr_batch_free(batch);
    assert_true(d->current(&now) == 0 && now == (void *)(intptr_t)OWN);
    d->set_current(NULL);
    free(x);
}

static int begin(void **state)
{
    (void)state;
    tr_error err = {0};
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    setenv("XDG_CACHE_HOME", ".", 1);
    known.system = system_called("bicycle", NULL);
    known.plan = tr_plan_new(known.system, &err);
    known.columns = tr_plan_column_count(known.plan);
    known.rows = calloc(RUNS * known.columns, sizeof *known.rows);
    tr_batch *batch = batch_on(NULL);
    advance(batch);
    for (size_t i = 0; i < RUNS; i++)
        memcpy(known.rows + i * known.columns, tr_batch_row(batch, i),
               known.columns * sizeof *known.rows);
    tr_batch_free(batch);
    return err.status != 0;
}

static int end(void **state)
{
    (void)state;
    free(known.rows);
    tr_plan_free(known.plan);
    tr_system_free(known.system);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beginnings), cmocka_unit_test(test_full),
        cmocka_unit_test(test_pieces),     cmocka_unit_test(test_two),
        cmocka_unit_test(test_chunks),     cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_lost),       cmocka_unit_test(test_old),
        cmocka_unit_test(test_states),     cmocka_unit_test(test_spoilt),
        cmocka_unit_test(test_stays),      cmocka_unit_test(test_context)};
    return cmocka_run_group_tests(tests, begin, end);
}
