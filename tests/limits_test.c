// SPDX-License-Identifier: Apache-2.0
// Limits of runs, which are off until they are set; and a certificate that knows its rows.
#include "folder.h"
#include "models.h"
#include "sim/recorded.h"

static const char *const ball = "trundle: 1\nbodies:\n"
                                "  ball: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: "
                                "z}, mass: 1}\n"
                                "contacts: {foot: {kind: slide, body: ball, unilateral: true, "
                                "open: true, restitution: 1}}\n"
                                "initial: {z: 1}\n";

// Steps with those in vain, also across contacts that open and close
static void steps_are_limited(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie", "euler"};
    tr_system *system = system_from(ball);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        tr_simulate_options o = tr_simulate_defaults(system);
        tr_summary all, part;
        tr_error err = {0};
        assert_int_equal(o.most_steps, 0);
        assert_int_equal(o.most_numbers, 0);
        o.end = 5, o.every = 0.5, o.method = methods[i], o.step = 0.01;
        assert_true(tr_simulate(system, &o, &all, &err));
        const size_t taken = all.steps + all.failed_steps;
        o.most_steps = taken;
        assert_true(tr_simulate(system, &o, &part, &err));
        assert_int_equal(part.steps, all.steps);
        o.most_steps = taken / 2;
        assert_false(tr_simulate(system, &o, &part, &err));
        assert_int_equal(err.status, TR_FAILED);
        assert_non_null(strstr(err.text, "and may not take more: --most-steps sets the limit"));
        assert_true(part.steps + part.failed_steps >= taken / 2 && part.rows > 1 && part.t < 5);
        assert_true(part.steps + part.failed_steps < taken / 2 + 20); // one more, and its attempts
        assert_true(part.switches > 0 && !part.interrupted);
    }
    tr_system_free(system);
}

static void numbers_are_limited(void **state)
{
    (void)state;
    tr_system *system = system_from(ball);
    tr_simulate_options o = tr_simulate_defaults(system);
    tr_error err = {0};
    tr_summary summary;
    tr_plan *plan = tr_plan_new(system, &err);
    const size_t columns = tr_plan_column_count(plan);
    o.end = 1, o.every = 0.1, o.output = in_folder("run.csv");
    o.most_numbers = 11 * columns;
    assert_true(tr_simulate(system, &o, &summary, &err));
    o.most_numbers--;
    assert_false(tr_simulate(system, &o, &summary, &err));
    assert_int_equal(err.status, TR_FAILED);
    assert_int_equal(summary.rows, 10);
    Recorded run;
    err = (tr_error){0};
    assert_true(tr_recorded_read(&run, o.output, &err)); // what there is belongs together
    assert_int_equal(run.doubt.status, TR_OK);
    assert_int_equal(run.rows->rows, 10);
    assert_true(run.certificate.length > 0);
    tr_recorded_free(&run);
    tr_plan_free(plan);
    tr_system_free(system);
}

// Whatever was changed, in the rows or in what the certificate says of them
static void other_rows_are_seen(void **state)
{
    (void)state;
    tr_system *system = system_from(ball);
    tr_simulate_options o = tr_simulate_defaults(system);
    tr_error err = {0};
    o.end = 1, o.output = in_folder("run.csv");
    assert_true(tr_simulate(system, &o, NULL, &err));
    char *rows = read_text("run.csv"), *certificate = read_text("run.json");
    Recorded run;
    for (int i = 0; i < 4; i++) {
        char *at = i == 1 ? rows + strlen(rows) / 2 : strstr(certificate, "rows_sha256") + 15;
        while (i == 1 && !(*at >= '0' && *at <= '9')) at++; // so that they stay numbers
        if (i) *at = *at == '1' ? '2' : '1';
        write_text("run.csv", rows);
        write_text("run.json", i == 3 ? "{\"rows_sha256\": 5}" : certificate);
        assert_true(tr_recorded_read(&run, "run.csv", &err));
        assert_int_equal(run.doubt.status, i ? TR_INVALID : TR_OK);
        tr_recorded_free(&run);
    }
    write_text("run.json", "{\"rows\": 5}"); // of a time when it did not say
    assert_true(tr_recorded_read(&run, "run.csv", &err));
    assert_int_equal(run.doubt.status, TR_OK);
    tr_recorded_free(&run);
    free(rows);
    free(certificate);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_limited),
        cmocka_unit_test(numbers_are_limited),
        cmocka_unit_test(other_rows_are_seen),
    };
    return cmocka_run_group_tests(tests, enter_folder, NULL);
}
