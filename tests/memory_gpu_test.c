// SPDX-License-Identifier: Apache-2.0
// Memory that runs out (failing.h) while runs go to a GPU (fake_cuda.c): they end with that error,
// or go on by the CPU with the same numbers.
#include "failing.h"
#include "folder.h"
#include "models.h"
#include "sim/batch.h"

enum { RUNS = 300, STEPS = 3, MOST_COLUMNS = 200 };

static tr_system *system_at_hand;
static double rows[RUNS][MOST_COLUMNS]; // of the CPU
static const char *on;
static int went; // to a GPU

static bool batch_job(tr_error *err)
{
    tr_plan *plan = tr_plan_new(system_at_hand, err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = 1e-3, o.on = on;
    tr_batch *batch = tr_batch_new(plan, RUNS, &o, err);
    bool good = batch != NULL;
    for (size_t i = 0; good && i < RUNS; i += 100) {
        tr_batch_set(batch, i, "push", 0.1 * (double)i, err);
        good = err->status == TR_OK && tr_batch_reset(batch, i, err);
    }
    good = good && tr_batch_advance(batch, STEPS * 1e-3, err);
    const size_t columns = good ? tr_plan_column_count(plan) : 0;
    assert_true(columns <= MOST_COLUMNS);
    for (size_t i = 0; good && i < RUNS; i++) {
        const double *row = tr_batch_row(batch, i);
        good = row != NULL;
        if (!row) { // it has no words
            tr_fail_memory(err);
            break;
        }
        if (!on) memcpy(rows[i], row, columns * sizeof *row);
        assert_memory_equal(rows[i], row, columns * sizeof *row);
    }
    went += good && tr_batch_counts(batch).on_gpu > 0;
    tr_batch_free(batch);
    tr_plan_free(plan);
    return good;
}

static void test_batch(void **state)
{
    (void)state;
    tr_error err = {0};
    system_at_hand = system_called("cart_pole", "pushed");
    if (!batch_job(&err)) fail_msg("%s", err.text);
    on = "gpu";
    sweep_some(batch_job, MOST_CALLS == LONG_MAX ? LONG_MAX : BRIEF ? 60 : 300);
    assert_true(went > 0);
    went = 0; // what was short once is there again
    if (!batch_job(&err)) fail_msg("%s", err.text);
    assert_int_equal(went, 1);
    tr_system_free(system_at_hand);
}

int main(int count, char **arguments)
{
    wanted = count > 1 ? atol(arguments[1]) : 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_batch)};
    return cmocka_run_group_tests(tests, enter_folder, NULL);
}
