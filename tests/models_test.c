// SPDX-License-Identifier: Apache-2.0
// Every model in models/, and every case of it: it reads, derives, evaluates, and runs with its
// energy accounted for. No model is without this test: the folder is the list.
//
// The folder is the first argument, or MODELS_DIR, or "models".
#include "model/model.h"
#include "plans.h"
#include "sim/method.h"
#include "test.h"

#include <dirent.h>

#ifndef MODELS_DIR
#define MODELS_DIR "models"
#endif

enum { MOST_MODELS = 1000 };

static const char *folder = MODELS_DIR;

static int is_model(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

// ---- one case ------------------------------------------------------------------------------

static void check_reports(tr_system *system)
{
    char *(*const reports[])(const tr_system *, bool, tr_error *) = {tr_check_text, tr_derive_text,
                                                                     tr_eval_text};
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        for (int json = 0; json < 2; json++) {
            if (BRIEF && json != (int)i % 2) continue; // one form of each
            tr_error err = {0};
            char *text = reports[i](system, json, &err);
            if (!text) fail_msg("%s", err.text);
            assert_null(strstr(text, "nan"));
            assert_null(strstr(text, "inf"));
            tr_text_free(text);
        }
}

// Every column of every row is a number.
static size_t check_columns(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *line = NULL;
    size_t capacity = 0, rows = 0, columns = 0;
    while (getline(&line, &capacity, file) > 0) {
        size_t cells = 0;
        line[strcspn(line, "\n")] = 0;
        for (char *rest = line, *cell; (cell = strsep(&rest, ",")); cells++) {
            double value = 0;
            if (rows) assert_true(tr_read_number(cell, &value) && isfinite(value));
            assert_true(cell[0] != 0);
        }
        if (!rows) columns = cells;
        assert_int_equal(cells, columns);
        rows++;
    }
    free(line);
    fclose(file);
    return rows - 1;
}

// Cases that are there to show how a run stops, and the words that it stops with.
static const char *stops(const char *name)
{
    static const char *const cases[][2] = {
        {"euler_disc.yaml fall", "the wheel 'rim' lies flat at t = "},
        {"parallelogram.yaml over", "change their rank"},
        {"parallelogram.yaml flat", "singular: 'closing.longitudinal'"},
        {"sk8o.yaml locked", "singular: 'right_grip.lateral', 'left.lateral'"},
        {"snakeboard_wide.yaml across", "change their rank"},
        {"snakeboard_wide.yaml touch", "change their rank"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(name, cases[i][0]) == 0) return cases[i][1];
    return NULL;
}

static void check_run(tr_system *system, const char *name)
{
    char path[] = "/tmp/trundle_model_XXXXXX.csv", json[] = "/tmp/trundle_model_XXXXXX.json";
    const int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    fclose(fdopen(fd, "w"));
    memcpy(json, path, sizeof path - 5);
    tr_error err = {0};
    tr_summary s = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    const char *stop = stops(name);
    o.end = fmin(o.end, BRIEF && !stop ? 0.2 : 2);
    o.output = path;
    const bool done = tr_simulate(system, &o, &s, &err);
    if (done == (stop != NULL) || (stop && !strstr(err.text, stop)))
        fail_msg("%s: %s", name, done ? "did not stop" : err.text);
    print_message("%-34s %4zu rows, %5zu steps of %-4s energy to %.1e, accelerations to %.1e\n",
                  name, s.rows, s.steps, o.method, s.energy_error, s.kkt_error);
    assert_true(stop || (s.t == o.end && s.rows > 1));
    if (stop && !s.rows) { // not even started
        assert_int_equal(remove(path), 0);
        return;
    }
    assert_below(s.energy_error, 1e-8);
    assert_below(s.position_error, 1e-13);
    assert_below(s.kkt_error, 1e-11); // to accelerations that are found without reduction
    assert_int_equal(check_columns(path), s.rows);
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(json), 0);
}

static void check_case(const tr_model *model, const char *name, const char *case_name)
{
    tr_error err = {0};
    char title[200];
    snprintf(title, sizeof title, "%s %s", name, case_name ? case_name : "");
    const tr_derive_options options = {.size = sizeof options, .case_name = case_name};
    tr_system *system = tr_derive(model, &options, &err);
    if (!system) fail_msg("%s:%d:%d: %s", title, err.line, err.column, err.text);
    if (!stops(title)) check_reports(system);
    check_run(system, title);
    tr_system_free(system);
}

// ---- one model -----------------------------------------------------------------------------

// It says what it is and where its numbers come from, before anything else.
static void check_head(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char head[2000];
    const size_t length = fread(head, 1, sizeof head - 1, file);
    head[length] = 0;
    fclose(file);
    assert_true(head[0] == '#');
    const char *source = strstr(head, "# Where the numbers come from: ");
    const char *version = strstr(head, "\ntrundle: 1\n");
    assert_true(source && version && source < version);
}

static void check_model(void **state)
{
    const char *name = *state;
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    tr_error err = {0};
    tr_model *model = tr_model_read(path, &err);
    if (!model) fail_msg("%s:%d:%d: %s", path, err.line, err.column, err.text);
    check_head(path);
    assert_true(model->fields.name.given);
    assert_true(model->fields.cases.count > 0);
    for (uint32_t i = 0; i < model->fields.bodies.count; i++)
        assert_true(model->fields.bodies.at[i].shapes.count > 0 || // it can be drawn
                    model->fields.bodies.at[i].beam.name.given);
    for (uint32_t i = 0; i < model->fields.cases.count; i++) {
        const Text text = model->fields.cases.at[i].name.text;
        char case_name[100];
        snprintf(case_name, sizeof case_name, "%.*s", (int)text.length, text.at);
        check_case(model, name, case_name);
    }
    if (!BRIEF) check_case(model, name, NULL);
    tr_model_free(model);
}

// ---- what single models promise ------------------------------------------------------------

typedef struct Last {
    tr_system *system;
    double *columns;
    Flow *flow;
    double *y;
} Last;

static Last at_start(const char *name, const char *case_name)
{
    char path[600];
    tr_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    tr_model *model = tr_model_read(path, &err);
    const tr_derive_options options = {.size = sizeof options, .case_name = case_name};
    Last l = {.system = tr_derive(model, &options, &err)};
    tr_model_free(model);
    l.flow = open_flow(l.system, &err);
    if (!l.flow) fail_msg("%s: %s", path, err.text);
    l.y = l.flow->start;
    l.columns = calloc(l.flow->column_count, sizeof *l.columns);
    tr_flow_columns(l.flow, 0, l.y, l.columns);
    return l;
}

static double column(const Last *l, const char *name)
{
    for (uint32_t i = 0; i < l->flow->column_count; i++)
        if (strcmp(l->flow->labels[i], name) == 0) return l->columns[i];
    fail_msg("there is no column %s", name);
    return (double)NAN;
}

static void release(Last *l)
{
    close_flow(l->flow);
    tr_system_free(l->system);
    free(l->columns);
}

// 14 coordinates as in the thesis, and with all angles zero the loops are closed.
static void test_sk8o(void **state)
{
    (void)state;
    Last l = at_start("sk8o_open.yaml", "drop");
    assert_int_equal(l.flow->size, 15 + 14 + 1); // one more for the quaternion, and the work
    assert_close(column(&l, "gap_x"), 0, 1e-15);
    assert_close(column(&l, "gap_z"), 0, 1e-15);
    char *text = tr_derive_text(l.system, true, NULL);
    assert_non_null(strstr(text, "\"bodies\": 9,\n  \"n\": 6,\n  \"s_p\": 8,\n  \"s_a\": 0,"));
    tr_text_free(text);
    release(&l);
}

// The steady top goes round and does not nod.
static void test_steady_top(void **state)
{
    (void)state;
    tr_error err = {0};
    Last l = at_start("spinning_top.yaml", "steady");
    Mover *mover = tr_mover_new(tr_method("erk", &err), l.flow, l.y, &err);
    for (int i = 1; i <= 10; i++) {
        assert_true(mover->method->advance(mover, 0.05 * i, &err));
        tr_flow_columns(l.flow, mover->t, mover->y, l.columns);
        assert_close(column(&l, "tilt"), 0.4, 1e-9);
    }
    assert_close(column(&l, "azimuth"), 0.5 * 3.495, 1e-3);
    tr_mover_free(mover);
    release(&l);
}

int main(int count, char **arguments)
{
    struct dirent **entries = NULL;
    static struct CMUnitTest tests[MOST_MODELS + 2];
    size_t tests_count = 0;
    if (count > 1) folder = arguments[1];
    const int found = scandir(folder, &entries, is_model, alphasort);
    if (found < 1) {
        fprintf(stderr, "there are no models in '%s'\n", folder);
        return 1;
    }
    for (int i = 0; i < found && i < MOST_MODELS; i++)
        tests[tests_count++] =
            (struct CMUnitTest){entries[i]->d_name, check_model, NULL, NULL, entries[i]->d_name};
    tests[tests_count++] = (struct CMUnitTest)cmocka_unit_test(test_sk8o);
    tests[tests_count++] = (struct CMUnitTest)cmocka_unit_test(test_steady_top);
    const int failed = _cmocka_run_group_tests("models", tests, tests_count, NULL, NULL);
    for (int i = 0; i < found; i++) free(entries[i]);
    free(entries);
    return failed;
}
