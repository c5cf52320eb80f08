// SPDX-License-Identifier: Apache-2.0
// Memory that runs out (failing.h) while poses on the ground are found, by every way.
#include "failing.h"
#include "folder.h"
#include "models.h"

static const char *const ways[] = {"basic", "contact", "residual", "deflection", "energy"};
enum { WAYS = sizeof ways / sizeof *ways };

static tr_system *settled; // derived before memory runs out
static const char *by;

static tr_settle_options options(void)
{
    static const char *const holds[] = {"chassis.x=1",      "chassis.y=0.2",  "chassis.yaw=0.3",
                                        "front_right_lift", "rear_left_lift", "rear_right_lift"};
    tr_settle_options o = tr_settle_defaults();
    o.by = by, o.holds = holds, o.hold_count = 3;
    const bool has_springs = strcmp(by, "deflection") == 0 || strcmp(by, "energy") == 0;
    if (!has_springs && strcmp(by, "basic") != 0) o.hold_count = 6; // what springs would find
    return o;
}

static bool pose_job(tr_error *err)
{
    const tr_settle_options o = options();
    tr_plan *plan = tr_plan_new(settled, err);
    tr_settle *settle = tr_settle_new(plan, &o, err);
    const long before = calls;
    bool good = settle && tr_settle_pose(settle, NULL, NULL, err);
    if (good) assert_int_equal(calls, before); // it allocates nothing
    char *text = good ? tr_settle_text(settle, true, err) : NULL;
    good = good && text;
    tr_text_free(text);
    tr_settle_free(settle);
    tr_plan_free(plan);
    return good;
}

static bool path_job(tr_error *err)
{
    tr_settle_options o = options();
    o.holds += 2, o.hold_count = 1; // the heading: place is the path's
    tr_plan *plan = tr_plan_new(settled, err);
    const bool good = plan && tr_settle_path(plan, &o, "way.csv", "poses.csv", NULL, NULL, err);
    tr_plan_free(plan);
    const bool is_there = unlink("poses.csv") == 0;
    assert_true(is_there == good);
    return good;
}

static void test_ways(void **state)
{
    (void)state;
    write_text("way.csv", "chassis.x,chassis.y\n0.5,0.1\n0.6,0.1\n");
    settled = system_called("car_on_hills", NULL);
    for (size_t i = 0; i < WAYS; i++) {
        by = ways[i];
        print_message("%s: ", by);
        sweep_some(pose_job, MOST_CALLS == LONG_MAX ? LONG_MAX : BRIEF ? 40 : 100);
    }
    print_message("path: ");
    sweep_some(path_job, BRIEF ? 40 : 100);
    tr_system_free(settled);
}

int main(int count, char **arguments)
{
    wanted = count > 1 ? atol(arguments[1]) : 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ways)};
    return cmocka_run_group_tests(tests, enter_folder, NULL);
}
