// SPDX-License-Identifier: Apache-2.0
// A driver that begins badly is told of in its own words, and the CPU makes the batch. (That
// kernels run on a GPU, no such driver can show: gpu_batch_test.c does, where there is one.)
#include "gpu/cache.h"
#include "gpu/machine.h"
#include "models.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS "the GPU's driver cannot begin: no CUDA-capable device is detected (error 100)"

static void test_words(void **state)
{
    (void)state;
    tr_error err = {0};
    assert_null(tr_gpu_machine(&err));
    assert_string_equal(err.text, WORDS);
    tr_error again = {0};
    assert_null(tr_gpu_machine(&again));
    assert_string_equal(again.text, err.text);
}

static void test_batch(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("bicycle", NULL);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = 1e-3;
    tr_batch *cpu = tr_batch_new(plan, 2, &o, &err);
    o.on = "gpu";
    tr_batch *gpu = tr_batch_new(plan, 2, &o, &err);
    assert_int_equal(err.status, TR_OK);
    assert_string_equal(tr_batch_on(cpu), "the CPU");
    assert_string_equal(tr_batch_on(gpu), "the CPU: " WORDS);
    assert_true(tr_batch_advance(cpu, 0.1, &err) && tr_batch_advance(gpu, 0.1, &err));
    const size_t bytes = tr_plan_column_count(plan) * sizeof(double);
    for (size_t i = 0; i < 2; i++)
        assert_memory_equal(tr_batch_row(cpu, i), tr_batch_row(gpu, i), bytes);
    double x[100];
    assert_false(tr_gpu_step(gpu, x, NULL, 1, &err));
    assert_string_equal(err.text, WORDS);
    tr_batch_free(cpu);
    tr_batch_free(gpu);
    tr_plan_free(plan);
    tr_system_free(system);
}

static void change_byte(const char *path, long at)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    const int byte = fgetc(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 1, file), byte ^ 1);
    assert_int_equal(fclose(file), 0);
}

static void test_cache(void **state)
{
    (void)state;
    char folder[] = "/tmp/trundle_gpu_XXXXXX", path[3000], other[3000], old[3000];
    const char *kept = getenv("XDG_CACHE_HOME");
    assert_non_null(mkdtemp(folder));
    snprintf(old, sizeof old, "%s", kept ? kept : "");
    setenv("XDG_CACHE_HOME", folder, 1);
    assert_true(tr_gpu_cache_path("a kernel", "9.0 13000", path, sizeof path));
    assert_true(tr_gpu_cache_path("a kernel", "8.0 13000", other, sizeof other));
    assert_string_not_equal(path, other);
    Buffer read = {0};
    assert_false(tr_gpu_cache_read(path, &read));
    tr_gpu_cache_write(path, "an image", 8);
    assert_true(tr_gpu_cache_read(path, &read));
    assert_int_equal(read.length, 8);
    assert_memory_equal(read.at, "an image", 8);
    tr_buffer_free(&read);
    change_byte(path, 3);
    assert_false(tr_gpu_cache_read(path, &read));
    tr_buffer_free(&read);
    struct stat is;
    assert_int_equal(remove(path), 0);
    snprintf(path, sizeof path, "%s/trundle/gpu", folder);
    assert_true(stat(path, &is) == 0 && (is.st_mode & 077) == 0); // the user's own
    rmdir(path);
    snprintf(path, sizeof path, "%s/trundle", folder);
    rmdir(path);
    rmdir(folder);
    setenv("XDG_CACHE_HOME", "/dev/null/nowhere",
           1); // nothing can be kept there: it is done without
    assert_false(tr_gpu_cache_path("a kernel", "9.0 13000", path, sizeof path));
    if (kept)
        setenv("XDG_CACHE_HOME", old, 1);
    else
        unsetenv("XDG_CACHE_HOME");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_batch),
                                       cmocka_unit_test(test_cache)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
