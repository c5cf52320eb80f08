// SPDX-License-Identifier: Apache-2.0
// What several runs are called: their files, and what differs in how they were made.
#include "view/label.h"

#include "test.h"

#define ENTRY(name, formula) "{\"name\": \"" name "\", \"formula\": \"" formula "\"}"
#define MADE(case_name, settings)                            \
    "{\"case\": \"" case_name "\", \"settings\": [" settings \
    "], \"method\": \"erk\", \"rtol\": 1e-9, "               \
    "\"parameters\": {\"v0\": 4.6, \"m\": 2}}"

static void assert_labels(const char *const (*runs)[3], size_t count)
{
    Arena arena = {0};
    tr_error err = {0};
    Labelled labels[4];
    for (size_t i = 0; i < count; i++)
        labels[i] = (Labelled){.path = runs[i][0], .certificate = text_of(runs[i][1])};
    tr_label_runs(labels, count, &arena, &err);
    assert_int_equal(err.status, TR_OK);
    for (size_t i = 0; i < count; i++) assert_string_equal(labels[i].label, runs[i][2]);
    tr_arena_free(&arena);
}

static void test_files(void **state)
{
    (void)state;
    static const char *const one[][3] = {{"a/run.csv", MADE("turn", ""), "run"}};
    static const char *const two[][3] = {{"a/slow.csv", "", "slow"}, {"fast", "", "fast"}};
    static const char *const folders[][3] = {
        {"a/run.csv", "", "a/run.csv"}, {"b/run.csv", "", "b/run.csv"}, {"run.csv", "", "run.csv"}};
    static const char *const some[][3] = {
        {"a/run.csv", "", "a/run.csv"}, {"b/run.csv", "", "b/run.csv"}, {"other.csv", "", "other"}};
    assert_labels(one, 1);
    assert_labels(two, 2);
    assert_labels(folders, 3);
    assert_labels(some, 3);
}

static void test_differences(void **state)
{
    (void)state;
    static const char *const settings[][3] = {
        // what one did not set it has from the model
        {"slow.csv", MADE("turn", ""), "slow (v0 = 4.6)"},
        {"fast.csv", MADE("turn", ENTRY("v0", "6")), "fast (v0 = 6)"},
        {"more.csv", MADE("turn", ENTRY("v0", "2*3")), "more (v0 = 2*3)"}};
    static const char *const cases[][3] = {
        {"a/run.csv", MADE("turn", ENTRY("m", "3")), "turn"},
        {"b/run.csv", MADE("straight", ENTRY("m", "3")), "straight"}};
    static const char *const both[][3] = {
        {"a/run.csv", MADE("turn", ENTRY("m", "3")), "turn, m = 3"},
        {"b/run.csv", MADE("straight", ""), "straight, m = 2"}};
    static const char *const alike[][3] = {{"x/a.csv", MADE("turn", ENTRY("m", "3")), "a"},
                                           {"x/b.csv", MADE("turn", ENTRY("m", "3")), "b"}};
    static const char *const methods[][3] = {
        {"a.csv", "{\"method\": \"erk\", \"step\": null}", "a (erk)"},
        {"b.csv", "{\"method\": \"rk4\", \"step\": 0.01}", "b (rk4, step 0.01)"}};
    assert_labels(settings, 3);
    assert_labels(cases, 2);
    assert_labels(both, 2);
    assert_labels(alike, 2);
    assert_labels(methods, 2);
}

// Certificates of strangers: what is no text, and what is without end, is left out.
static void test_odd_certificates(void **state)
{
    (void)state;
    static char longest[400];
    static const char *const odd[][3] = {
        {"a.csv", "{\"case\": {\"x\": 1}, \"settings\": 7}", "a ({\"x\": 1})"},
        {"b.csv", "{\"settings\": [{\"formula\": \"1\"}, 5]}", "b"}};
    memset(longest, 'x', sizeof longest - 1);
    memcpy(longest, "{\"case\": \"", 10);
    memcpy(longest + sizeof longest - 3, "\"}", 2);
    const char *const large[][3] = {{"a.csv", longest, "a"}, {"b.csv", "{}", "b"}};
    static const char *const unknown[][3] = {{"a/run.csv", MADE("turn", ""), "a/run.csv"},
                                             {"run.csv", "", "run.csv"}};
    assert_labels(unknown, 2);
    assert_labels(odd, 2);
    assert_labels(large, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_odd_certificates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
