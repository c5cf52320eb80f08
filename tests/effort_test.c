// SPDX-License-Identifier: Apache-2.0
// How long equations may be, and how long making them may take. Counts are those of the golden
// file, which a test compares with the program, and which `make golden` writes: what stands here it
// does not move. Times are of the processor, at twice what is promised: the machine may be shared.
#include "chains.h"
#include "growing.h"
#include "plans.h"

#include <glob.h>
#include <time.h>

#ifdef __OPTIMIZE__
#define MAY_MEASURE !SLOW_BUILD
#else
#define MAY_MEASURE false
#endif

// ---- operations ----------------------------------------------------------------------------

typedef struct Length {
    const char *model;
    int operations, with_reactions; // at most; 0: any number
} Length;

static const Length lengths[] = {
    {"bicycle", 515, 660},  {"kick_scooter", 515, 0}, {"car_ackermann", 600, 0},
    {"motorcycle", 950, 0}, {"sk8o", 2850, 0},        {"car_linkage", 5500, 0},
    {"bricard", 1400, 0},
};

static void check_length(const Length *most)
{
    char line[400], name[100];
    int freedom, operations, with_reactions, found = 0;
    FILE *file = fopen(REFERENCE_DIR "/../operations.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%99s %d %d %d", name, &freedom, &operations, &with_reactions) < 4 ||
            strcmp(name, most->model) != 0)
            continue;
        found++;
        if (operations > most->operations) fail_msg("%s takes %d operations", name, operations);
        if (most->with_reactions && with_reactions > most->with_reactions)
            fail_msg("%s takes %d operations with reactions", name, with_reactions);
    }
    assert_int_equal(found, 1);
    fclose(file);
}

static void test_lengths(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) check_length(&lengths[i]);
}

// ---- times ---------------------------------------------------------------------------------

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check_time(const char *what, double seconds, double promised)
{
    print_message("%s: %.2f s, %g promised\n", what, seconds, promised);
    if (seconds > 2 * promised) fail_msg("%s took %.2f s", what, seconds);
}

// Of a model: derived before, and then reduced in all forms that are compared
static double time_to_choose(const char *path)
{
    tr_error err = {0};
    tr_model *model = tr_model_read(path, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_plan *plan = tr_plan_new(system, &err);
    Flow *flow = tr_flow_new(plan, NULL, &err);
    const double start = now();
    tr_system *reduced = flow ? tr_flow_system(flow, &err) : NULL;
    const double seconds = now() - start;
    if (!reduced) fail_msg("%s: %s", path, err.text);
    tr_system_free(reduced);
    tr_flow_free(flow);
    tr_plan_free(plan);
    tr_system_free(system);
    tr_model_free(model);
    return seconds;
}

static void test_choice(void **state)
{
    (void)state;
    glob_t models;
    double longest = 0;
    if (!MAY_MEASURE) return;
    assert_int_equal(glob(MODELS_DIR "/*.yaml", 0, NULL, &models), 0);
    assert_true(models.gl_pathc > 60);
    for (size_t i = 0; i < models.gl_pathc; i++)
        longest = fmax(longest, time_to_choose(models.gl_pathv[i]));
    check_time("choosing the form of a bundled model, at the most", longest, 0.3);
    globfree(&models);
}

static void check_eval(const char *what, tr_system *make(int count), int count, double promised)
{
    tr_error err = {0};
    const double start = now();
    tr_system *system = make(count);
    char *text = tr_eval_text(system, false, &err);
    if (!text) fail_msg("%s", err.text);
    check_time(what, now() - start, promised);
    tr_text_free(text);
    tr_system_free(system);
}

static void test_growing(void **state)
{
    (void)state;
    if (!MAY_MEASURE) return;
    check_eval("a snake of 100 skates", snake_of, 100, 0.5);
    check_eval("a ladder of 100 four-bars", ladder_of, 100, 1);
    check_eval("a train of 32 wagons", train_of, 32, 1);
    check_eval("a snake of 1,000 skates", snake_of, 1000, 10);
}

static void test_linear(void **state)
{
    (void)state;
    tr_error err = {0};
    Random r = {5};
    if (!MAY_MEASURE) return;
    const double start = now();
    System *system = chain_with(&r, 100, "");
    tr_linear *linear = tr_linearise(system, NULL, &err);
    if (!linear) fail_msg("%s", err.text);
    check_time("a generic chain of 100, linearised", now() - start, 2);
    tr_linear_free(linear);
    tr_system_free(system);
}

// Which is charted again at every step
static void test_run(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_summary summary;
    if (!MAY_MEASURE) return;
    tr_system *system = snake_of(1000);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = o.every = 0.001;
    const double start = now();
    if (!tr_simulate(system, &o, &summary, &err)) fail_msg("%s", err.text);
    check_time("a run of 1,000 skates", now() - start, 10);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths), cmocka_unit_test(test_choice),
        cmocka_unit_test(test_growing), cmocka_unit_test(test_linear),
        cmocka_unit_test(test_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
