// SPDX-License-Identifier: Apache-2.0
// Kernels that are written for other people's programs: what the header says is all that one needs
// to make the steps of a run, to the bit.
#include "comma.h"
#include "models.h"
#include "ptx.h"

static char *text_of_file(const char *name)
{
    FILE *file = fopen(in_folder(name), "rb");
    assert_non_null(file);
    char *text = calloc(1 << 22, 1);
    assert_true(fread(text, 1, (1 << 22) - 1, file) > 0);
    fclose(file);
    return text;
}

// The number behind a name
static size_t number_of(const char *header, const char *name)
{
    const char *at = strstr(header, name);
    assert_non_null(at);
    return strtoul(strchr(at, '=') + 1, NULL, 10);
}

static double *record_of(const char *header, size_t count)
{
    double *record = calloc(count, sizeof *record);
    const char *at = strstr(header, "_record[] = {");
    assert_non_null(at);
    at = strchr(at, '{') + 1;
    for (size_t i = 0; i < count; i++) {
        char *end;
        while (*at == ' ' || *at == '\n' || *at == ',') at++;
        record[i] = strtod(at, &end);
        assert_true(end != at);
        const size_t rest = strcspn(end, ",}");
        if (strncmp(end, " / 0.0", 6) == 0) record[i] = (double)NAN;
        if (strncmp(end, " * 10", 5) == 0) record[i] = copysign((double)INFINITY, record[i]);
        at = end + rest;
    }
    return record;
}

enum { STEPS = 25 };
#define STEP 1e-3 // [s]

// What is where in a record
typedef struct Layout {
    size_t numbers, state, states, input, time, fate, threads, shared;
} Layout;

static Layout layout_of(const char *header, const char *upper)
{
    static const char *const keys[] = {"NUMBERS", "STATE", "STATES",  "INPUT",
                                       "TIME",    "FATE",  "THREADS", "SHARED"};
    size_t at[8];
    for (int i = 0; i < 8; i++) {
        char key[200];
        snprintf(key, sizeof key, "%s_%s =", upper, keys[i]);
        at[i] = number_of(header, key);
    }
    return (Layout){at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]};
}

static char *text_called(const char *name, const char *ending)
{
    char file[100];
    snprintf(file, sizeof file, "%s%s", name, ending);
    return text_of_file(file);
}

static void run_exported(const char *name, const Layout *at, double *record)
{
    char *text = text_called(name, ".ptx");
    PtxModule *m = ptx_read(text);
    m->shared_size = (uint32_t)at->shared;
    const uint64_t base = (uint64_t)(uintptr_t)record;
    m->parameters[0].u = base, m->parameters[1].u = base + 8 * at->state;
    m->parameters[2].u = base + 8 * at->input;
    m->parameters[3].u = m->parameters[4].u = 1, m->parameters[5].u = STEPS;
    m->parameters[6].d = STEP;
    ptx_launch(m, 1, 1);
    ptx_free(m);
    free(text);
}

// By name, as the header has them
static void compare_states(const char *header, const tr_plan *plan, const double *row,
                           const double *state, size_t count, double bound)
{
    const char *names = strstr(header, "_state[] = {");
    size_t compared = 0;
    for (size_t i = 0; i < count; i++) {
        char label[100];
        const char *quote = strchr(names, '"'), *end = strchr(quote + 1, '"');
        snprintf(label, sizeof label, "%.*s", (int)(end - quote - 1), quote + 1);
        names = end + 1;
        for (size_t k = 0; k < tr_plan_column_count(plan); k++) {
            if (strcmp(tr_plan_column_name(plan, k), label) != 0) continue;
            if (memcmp(&state[i], &row[k], 8) != 0 && !(relative(state[i], row[k]) < bound))
                fail_msg("%s is %.17g, in a run %.17g", label, state[i], row[k]);
            compared++;
        }
    }
    assert_true(compared > 2);
}

// To the bit, or in single precision within a bound
static void check_export(const char *name, const char *method, const char *upper, double bound)
{
    tr_error err = {0};
    tr_system *system = system_called(name, NULL);
    tr_export_options o = tr_export_defaults();
    o.folder = in_folder("."), o.language = "ptx", o.name = name, o.single = bound > 0;
    if (!tr_export(system, &o, &err)) fail_msg("%s", err.text);
    char *header = text_called(name, "_ptx.h"), *demo = text_called(name, "_demo.py");
    assert_null(strchr(demo, '@'));
    assert_non_null(strstr(header, method));
    assert_true((strstr(header, "single precision") != NULL) == (bound > 0));
    const Layout at = layout_of(header, upper);
    double *record = record_of(header, at.numbers);
    run_exported(name, &at, record);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options how = tr_run_defaults(plan);
    how.method = method, how.step = STEP;
    tr_run *run = tr_run_new(plan, &how, &err);
    tr_run_advance(run, STEPS * STEP, &err);
    if (err.status) fail_msg("%s", err.text);
    const double *row = tr_run_row(run);
    assert_true(record[at.fate] == 0); // all steps
    assert_true(record[at.time] == row[0]);
    compare_states(header, plan, row, record + at.state, at.states, bound);
    free(record);
    free(header);
    free(demo);
    tr_run_free(run);
    tr_plan_free(plan);
    tr_system_free(system);
}

// What finds no register has room in shared memory, as much as any GPU has.
static void test_spill(void **state)
{
    (void)state;
    check_export("chain", "rk4", "CHAIN", 0);
    char *header = text_called("chain", "_ptx.h"), *demo = text_called("chain", "_demo.py");
    const Layout at = layout_of(header, "CHAIN");
    assert_true(at.shared > 0 && at.shared <= 48 << 10);
    assert_int_equal(at.threads, 128);
    assert_non_null(strstr(demo, "shared_mem=SHARED"));
    free(header);
    free(demo);
}

static void test_exports(void **state)
{
    (void)state;
    check_export("snakeboard", "rk4", "SNAKEBOARD", 0);
    check_export("cart_pole", "rk4", "CART_POLE", 0);
    check_export("cart_pole", "rk4", "CART_POLE", 1e-5);
}

static char *exported(const tr_system *system, const char *language, bool single,
                      const char *ending)
{
    tr_error err = {0};
    tr_export_options o = tr_export_defaults();
    o.folder = in_folder("."), o.language = language, o.name = "cart", o.single = single;
    if (!tr_export(system, &o, &err)) fail_msg("%s", err.text);
    return text_called("cart", ending);
}

static void test_locale(void **state)
{
    (void)state;
    static const struct {
        const char *language, *ending;
    } files[] = {{"ptx", ".ptx"}, {"ptx", "_ptx.h"}, {"cuda", ".cuh"}, {"c", ".c"}};
    tr_system *system = system_called("cart_pole", NULL);
    for (int k = 0; k < 8; k++) {
        char *text = exported(system, files[k / 2].language, k % 2, files[k / 2].ending);
        char *other = use_commas()
                          ? exported(system, files[k / 2].language, k % 2, files[k / 2].ending)
                          : calloc(1, 1);
        if (other[0]) assert_string_equal(text, other);
        setlocale(LC_ALL, "C");
        free(text);
        free(other);
    }
    tr_system_free(system);
}

static void test_refusals(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("ball_in_bowl", NULL);
    tr_export_options o = tr_export_defaults();
    o.folder = in_folder("."), o.language = "ptx", o.form = "reduced";
    assert_false(tr_export(system, &o, &err));
    assert_string_equal(err.text, "no GPU looks for a second touch on a surface that is not flat");
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exports), cmocka_unit_test(test_spill),
                                       cmocka_unit_test(test_locale),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
