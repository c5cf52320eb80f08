// SPDX-License-Identifier: Apache-2.0
// Models of strangers: each is read, derived or refused in words, in a time that its length bounds,
// and on the stack of a thread.
#include "base/text.h"
#include "test.h"

#include <pthread.h>
#include <time.h>
#include <trundle/trundle.h>

enum {
    STACK = SLOW_BUILD ? 4 << 20 : 384 << 10, // [bytes]: frames of the sanitizers are large
    PATIENCE = SLOW_BUILD ? 20 : 4,           // [s]
};

// ---- deriving in a thread ------------------------------------------------------------------

typedef struct Work {
    const char *path, *text; // one of them
    tr_error err;
    double seconds;
} Work;

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *derive(void *of)
{
    Work *work = of;
    const double start = seconds_now();
    tr_model *model =
        work->path ? tr_model_read(work->path, &work->err) : tr_model_parse(work->text, &work->err);
    tr_system *system = tr_derive(model, NULL, &work->err);
    tr_system_free(system);
    tr_model_free(model);
    work->seconds = seconds_now() - start;
    return NULL;
}

static Work derived(Work work)
{
    pthread_t thread;
    pthread_attr_t small;
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, STACK), 0);
    assert_int_equal(pthread_create(&thread, &small, derive, &work), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&small);
    if (work.seconds > PATIENCE) fail_msg("%g s: %s", work.seconds, work.err.text);
    return work;
}

static const char pendulum[] = "bodies:\n"
                               "  a: {joint: {type: revolute, axis: \"0, 1, 0\"}, mass: 1, "
                               "com: \"0, 0, -1\"}\n";

static void append(Buffer *text, const char *more) { tr_buffer_add(text, more, strlen(more)); }

static void repeat(Buffer *text, const char *what, int times)
{
    for (int i = 0; i < times; i++) append(text, what);
}

static void check_refused(Buffer *text, int line, const char *words)
{
    append(text, pendulum);
    const Work work = derived((Work){.text = text->at});
    assert_int_equal(work.err.status, TR_INVALID);
    if (!strstr(work.err.text, words)) fail_msg("%s", work.err.text);
    assert_int_equal(work.err.line, line);
    tr_buffer_free(text);
}

static void check_derived(Buffer *text)
{
    append(text, pendulum);
    const Work work = derived((Work){.text = text->at});
    if (work.err.status) fail_msg("%d:%d: %s", work.err.line, work.err.column, work.err.text);
    tr_buffer_free(text);
}

// ---- depth ---------------------------------------------------------------------------------

#define TOO_DEEP "the formula is nested more than 200 deep, counted with those that use it"

static void test_reported_depth(void **state)
{
    (void)state;
    const Work work = derived((Work){.path = REPORTED_DIR "/hostile/stk40.yaml"});
    assert_int_equal(work.err.status, TR_INVALID);
    assert_string_equal(work.err.text, TOO_DEEP);
    assert_int_equal(work.err.line, 4); // p1, which p0 uses
}

// Parameters and outputs before those that they use, each in so many parentheses
static Buffer nested_pairs(const char *kind, int count, int parentheses)
{
    Buffer text = {0};
    tr_buffer_print(&text, "trundle: 1\n%s:\n", kind);
    for (int i = 0; i < count; i++) {
        tr_buffer_print(&text, "  p%d: ", i);
        repeat(&text, "(", parentheses);
        tr_buffer_print(&text, i + 1 < count ? "p%d" : "1 + 0*%d", i + 1);
        repeat(&text, ")", parentheses);
        append(&text, "\n");
    }
    return text;
}

static void test_formulas_in_each_other(void **state)
{
    (void)state;
    static const char *const kinds[] = {"parameters", "outputs"};
    for (int i = 0; i < 2; i++) {
        Buffer text = nested_pairs(kinds[i], 100, 1); // 2 levels each: all there is
        check_derived(&text);
        text = nested_pairs(kinds[i], 40, 4);
        check_derived(&text);
        text = nested_pairs(kinds[i], 40, 5); // 6 levels each: the 34th has 2 left
        check_refused(&text, 2 + 34, TOO_DEEP);
        text = nested_pairs(kinds[i], 2, 150);
        check_refused(&text, 2 + 2, TOO_DEEP);
        text = nested_pairs(kinds[i], 101, 0);
        check_refused(&text, 2 + 101, "depend on each other more than 100 deep");
    }
}

// What uses most of the stack for each level
static void test_deepest(void **state)
{
    (void)state;
    static const char *const calls[] = {"min(1, ", "sin(", "(1 || 0 && 1 < 1 + 1*", "1 ? 1 : (",
                                        "f(1, 2, 3, "};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        Buffer text = {0};
        append(&text,
               "trundle: 1\nfunctions:\n  f(a, b, c, e): a + b + c + e\nparameters:\n  p: \"");
        repeat(&text, calls[i], i == 3 ? 99 : 199);
        append(&text, "1");
        repeat(&text, ")", i == 3 ? 99 : 199);
        append(&text, "\"\n");
        check_derived(&text);
    }
    Buffer text = {0};
    append(&text, "trundle: 1\nfunctions:\n  f0(a, b): a\n");
    for (int i = 1; i < 199; i++)
        tr_buffer_print(&text, "  f%d(a, b): 1 + 2*f%d(a, b)\n", i, i - 1);
    append(&text, "parameters:\n  p: f198(1, 2)\n");
    check_derived(&text);
}

// ---- work ----------------------------------------------------------------------------------

#define TOO_MUCH "up to here the formulas of the model have more than 250000 parts"

static void test_reported_work(void **state)
{
    (void)state;
    const Work work = derived((Work){.path = REPORTED_DIR "/hostile/l14.yaml"});
    assert_int_equal(work.err.status, TR_INVALID);
    assert_non_null(strstr(work.err.text, TOO_MUCH));
    assert_int_equal(work.err.line, 20); // the parameter, not the function
    assert_int_equal(work.err.column, 7);
}

// The doubling of 14 functions, used wherever formulas stand: no place has a budget of its own.
static Buffer doubling(void)
{
    Buffer text = {0};
    append(&text, "trundle: 1\nfunctions:\n  f0(x): x + sin(x)\n");
    for (int i = 1; i <= 14; i++)
        tr_buffer_print(&text, "  f%d(x): f%d(x) + f%d(x + %d)\n", i, i - 1, i - 1, i);
    return text;
}

static void test_work_anywhere(void **state)
{
    (void)state;
    static const char *const places[] = {
        "parameters:\n  p%d: f14(%d)\n",
        "outputs:\n  p%d: f14(a + %d)\n",
        "outputs:\n  p%d: d(f9(a^2*t)) + %d\n",
        "forces:\n  p%d: {body: a, torque: \"0, f14(t + %d), 0\"}\n",
        "inputs:\n  p%d: f14(%d)\n",
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        Buffer text = doubling();
        const char *row = strchr(places[i], '\n') + 1;
        tr_buffer_add(&text, places[i], (size_t)(row - places[i]));
        for (int k = 0; k < 400; k++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            tr_buffer_print(&text, row, k, k);
#pragma GCC diagnostic pop
        }
        append(&text, pendulum);
        const Work work = derived((Work){.text = text.at});
        if (!strstr(work.err.text, TOO_MUCH))
            fail_msg("%s: '%s' in %g s", places[i], work.err.text, work.seconds);
        tr_buffer_free(&text);
    }
}

// ---- size ----------------------------------------------------------------------------------

enum { MANY = BRIEF ? 3000 : 30000 };

// A line for each of many: the first number is its own, the second that of the one before
static void append_many(Buffer *text, int count, const char *line)
{
    for (int i = 0; i < count; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        tr_buffer_print(text, line, i, i ? i - 1 : 0);
#pragma GCC diagnostic pop
    }
}

static void test_many_names(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "parameters:\n", "  p%d: 1\n",
        "inputs:\n",     "  p%d: 1\n",
        "outputs:\n",    "  p%d: a\n",
        "functions:\n",  "  p%d(x): x\n",
        "frames:\n",     "  p%d: {body: a, at: \"0, 0, %d\"}\n",
        "forces:\n",     "  p%d: {body: a, torque: \"0, %d, 0\"}\n",
        "cases:\n",      "  p%d: {end: 1}\n",
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i += 2) {
        Buffer text = {0};
        append(&text, "trundle: 1\n");
        append(&text, lists[i]);
        append_many(&text, MANY, lists[i + 1]);
        check_derived(&text);
    }
    Buffer text = {0};
    append(&text, "trundle: 1\nparameters:\n  q: 1\n  p0: q\n");
    for (int i = 1; i < MANY; i++) tr_buffer_print(&text, "  p%d: 1 + p%d\n", i, i - 1);
    check_derived(&text);
}

static void check_bodies(Buffer *text, tr_status status, const char *words)
{
    const Work work = derived((Work){.text = text->at});
    if (work.err.status != status || !strstr(work.err.text, words)) fail_msg("%s", work.err.text);
    tr_buffer_free(text);
}

#define ROD \
    "joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, 0, -1\"}, mass: 1, com: \"0, 0, -1\"}\n"

static void test_many_bodies(void **state)
{
    (void)state;
    Buffer star = {0}, chain = {0}, coupled = {0}, start = {0};
    append(&star, "trundle: 1\nbodies:\n");
    append_many(&star, MANY, "  b%d: {" ROD);
    tr_buffer_add(&coupled, star.at, star.length);
    append(&coupled, "constraints:\n");
    append_many(&coupled, MANY, "  c%d: {position: b%d}\n");
    tr_buffer_add(&start, star.at, star.length);
    append(&start, "initial:\n");
    append_many(&start, MANY < 4000 ? MANY : 4000, "  b%d: 0.%d\n");
    append(&chain, "trundle: 1\nbodies:\n  b0: {" ROD);
    for (int i = 1; i < 5000; i++) tr_buffer_print(&chain, "  b%d: {parent: b%d, " ROD, i, i - 1);
    check_bodies(&star, TR_OK, "");
    check_bodies(&chain, TR_OK, "");
    if (BRIEF) { // too few of them
        tr_buffer_free(&coupled);
        tr_buffer_free(&start);
        return;
    }
    check_bodies(&coupled, TR_INVALID, "259 rows on 30000 velocities: that is too large");
    check_bodies(&start, TR_INVALID, "4000 conditions on 30000 coordinates: that is too large");
}

// Poses along it are found without recursion.
static void test_loop_on_a_long_chain(void **state)
{
    (void)state;
    Buffer text = {0};
    append(&text, "trundle: 1\nbodies:\n  b0: {" ROD);
    for (int i = 1; i < 1500; i++)
        tr_buffer_print(&text, "  b%d: {parent: b%d, joint: {at: \"0, 0, -1\"}, mass: 1}\n", i,
                        i - 1);
    append(&text, "loops:\n  l: {kind: distance, body: b1499, to: \"2, 0, 0\", length: 1500}\n");
    check_bodies(&text, TR_OK, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reported_depth), cmocka_unit_test(test_formulas_in_each_other),
        cmocka_unit_test(test_deepest),        cmocka_unit_test(test_reported_work),
        cmocka_unit_test(test_work_anywhere),  cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_many_bodies),    cmocka_unit_test(test_loop_on_a_long_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
