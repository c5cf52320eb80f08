// SPDX-License-Identifier: Apache-2.0
// Options of programs that were compiled with an older header or a newer one: every call that takes
// some. Structures end where such a header's ended, in memory that goes no further.
#include "base/options.h"

#include "folder.h"
#include "models.h"

#include <assert.h>

// ---- the two helpers -----------------------------------------------------------------------

typedef struct Old {
    size_t size;
    double a;
} Old;

typedef struct Known {
    size_t size;
    double a, b;
} Known;

typedef struct New {
    size_t size;
    double a, b, c;
} New;

static void test_take(void **state)
{
    (void)state;
    tr_error err = {0};
    const Known defaults = {.a = 1, .b = 2};
    Known own = defaults;
    assert_true(tr_take_options(&own, sizeof own, NULL, "f", &err));
    assert_true(own.a == 1 && own.b == 2);
    const Old old = {sizeof old, 5};
    assert_true(tr_take_options(&own, sizeof own, &old, "f", &err));
    assert_true(own.size == sizeof own && own.a == 5 && own.b == 2);
    const Known same = {sizeof same, 6, 7};
    assert_true(tr_take_options(&own, sizeof own, &same, "f", &err));
    assert_true(own.size == sizeof own && own.a == 6 && own.b == 7);
    New newer = {sizeof newer, 8, 9, 0};
    assert_true(tr_take_options(&own, sizeof own, &newer, "f", &err));
    assert_true(own.size == sizeof own && own.a == 8 && own.b == 9);
    newer = (New){sizeof newer, 10, 11, 12};
    assert_false(tr_take_options(&own, sizeof own, &newer, "f", NULL));
    assert_false(tr_take_options(&own, sizeof own, &newer, "f", &err));
    assert_int_equal(err.status, TR_USAGE);
    assert_true(own.a == 8 && own.b == 9);                             // as it was
    assert_false(tr_take_options(&own, sizeof own, &same, "f", &err)); // the first error wins
}

static void test_give(void **state)
{
    (void)state;
    const Known defaults = {.a = 1, .b = 2};
    Old old;
    New newer = {.c = 3};
    tr_give_options(&old, sizeof old, &defaults, sizeof defaults);
    assert_true(old.size == sizeof old && old.a == 1);
    tr_give_options(&newer, sizeof newer, &defaults, sizeof defaults);
    assert_true(newer.size == sizeof newer && newer.a == 1 && newer.b == 2 && newer.c == 0);
}

// ---- every call ----------------------------------------------------------------------------

// Members that are added must not fall into what an older program never wrote.
#define ENDS_WITH(type, last)                                                                 \
    static_assert(offsetof(type, last) + sizeof((type){0}.last) == sizeof(type), #type " is " \
                                                                                       "padded")
#define BEGINS_WITH_SIZE(type) static_assert(offsetof(type, size) == 0, #type)
#define IS_SOUND(type, last) \
    ENDS_WITH(type, last);   \
    BEGINS_WITH_SIZE(type)
IS_SOUND(tr_compile_options, evaluate);
IS_SOUND(tr_derive_options, name_gravity);
IS_SOUND(tr_run_options, unused);
IS_SOUND(tr_linearise_options, owner);
IS_SOUND(tr_steady_options, owner);
IS_SOUND(tr_simulate_options, unused);
IS_SOUND(tr_inverse_options, prior_weight);
IS_SOUND(tr_lqr_options, step);
IS_SOUND(tr_settle_options, owner);
IS_SOUND(tr_equations_options, effort);
IS_SOUND(tr_export_options, owner);
IS_SOUND(tr_fit_options, owner);
IS_SOUND(tr_plot_options, model);
IS_SOUND(tr_sweep_options, on);
IS_SOUND(tr_view_options, sweep);
IS_SOUND(tr_fmu_options, unused);

typedef struct World {
    tr_model *model;
    tr_system *system;
    tr_plan *plan;
} World;

static void fill_compile(void *o, size_t size, const World *w)
{
    (void)w;
    tr_compile_fill(o, size);
}

static bool call_compile(const void *o, const World *w, tr_error *err)
{
    tr_program *program = tr_compile(w->system, "M", o, err);
    tr_program_free(program);
    return program;
}

static bool call_compile_in(const void *o, const World *w, tr_error *err)
{
    tr_program *program = tr_compile_in(w->plan, "vdot", o, err);
    tr_program_free(program);
    return program;
}

static void fill_derive(void *o, size_t size, const World *w)
{
    (void)w;
    tr_derive_fill(o, size);
    ((tr_derive_options *)o)->case_name = "pushed";
}

static bool call_derive(const void *o, const World *w, tr_error *err)
{
    tr_system *system = tr_derive(w->model, o, err);
    tr_system_free(system);
    return system;
}

static void fill_run(void *o, size_t size, const World *w)
{
    tr_run_fill(o, size, w->plan);
    ((tr_run_options *)o)->method = "rk4";
}

static bool call_run(const void *o, const World *w, tr_error *err)
{
    tr_run *run = tr_run_new(w->plan, o, err);
    const bool good = tr_run_advance(run, 0.01, err);
    tr_run_free(run);
    return good;
}

static void fill_simulate(void *o, size_t size, const World *w)
{
    tr_simulate_fill(o, size, w->system);
    ((tr_simulate_options *)o)->end = 0.25;
}

static bool call_simulate(const void *o, const World *w, tr_error *err)
{
    tr_summary summary = {0};
    return tr_simulate(w->system, o, &summary, err) && summary.t == 0.25;
}

static void fill_linearise(void *o, size_t size, const World *w)
{
    (void)w;
    tr_linearise_fill(o, size);
    ((tr_linearise_options *)o)->reduce = true;
}

static bool call_linearise(const void *o, const World *w, tr_error *err)
{
    tr_linear *linear = tr_linearise(w->system, o, err);
    const bool good = linear && linear->states == 3; // x changes nothing
    tr_linear_free(linear);
    return good;
}

static bool call_linearise_text(const void *o, const World *w, tr_error *err)
{
    char *text = tr_linearise_text(w->system, o, err);
    tr_text_free(text);
    return text;
}

static bool call_linearise_write(const void *o, const World *w, tr_error *err)
{
    return tr_linearise_write(w->system, o, in_folder("linear.txt"), err);
}

static const char *const no_log[] = {"nothing.csv"};

static void fill_inverse(void *o, size_t size, const World *w)
{
    (void)w;
    tr_inverse_fill(o, size);
    ((tr_inverse_options *)o)->logs = no_log;
    ((tr_inverse_options *)o)->log_count = 1;
}

static bool call_inverse(const void *o, const World *w, tr_error *err)
{
    tr_inverse *inverse = tr_inverse_find(w->system, o, err);
    tr_inverse_free(inverse);
    return inverse;
}

static const char *const holds[] = {"x_rate=0"};

static void fill_steady(void *o, size_t size, const World *w)
{
    (void)w;
    tr_steady_fill(o, size);
    ((tr_steady_options *)o)->holds = holds;
    ((tr_steady_options *)o)->hold_count = 1;
}

static bool call_steady(const void *o, const World *w, tr_error *err)
{
    tr_steady *steady = tr_steady_find(w->system, o, err);
    tr_steady_free(steady);
    return steady;
}

static void fill_family(void *o, size_t size, const World *w)
{
    (void)w;
    tr_steady_fill(o, size);
    ((tr_steady_options *)o)->sweep = "nobody=0:1:0.5"; // so that nothing is printed
}

static bool call_family(const void *o, const World *w, tr_error *err)
{
    return tr_steady_sweep(w->system, o, NULL, err);
}

static void fill_settle(void *o, size_t size, const World *w)
{
    (void)w;
    tr_settle_fill(o, size);
    ((tr_settle_options *)o)->by = "contact";
}

static bool call_settle(const void *o, const World *w, tr_error *err)
{
    tr_settle *settle = tr_settle_new(w->plan, o, err);
    tr_settle_free(settle);
    return settle;
}

static void fill_fmu(void *o, size_t size, const World *w)
{
    (void)w;
    tr_fmu_fill(o, size);
    ((tr_fmu_options *)o)->every = 0.1;
}

static bool call_fmu(const void *o, const World *w, tr_error *err)
{
    (void)w;
    return tr_fmu_simulate(in_folder("nothing.fmu"), o, NULL, err);
}

static void fill_lqr(void *o, size_t size, const World *w)
{
    (void)w;
    tr_lqr_fill(o, size);
    ((tr_lqr_options *)o)->inputs = "push";
}

static bool call_lqr(const void *o, const World *w, tr_error *err)
{
    const tr_lqr *lqr = tr_lqr_design(w->system, o, err);
    const bool good = lqr && lqr->step == 0;
    tr_lqr_free(lqr);
    return good;
}

static const char *run_file, *page_file, *report_file;

static void fill_fit(void *o, size_t size, const World *w)
{
    (void)w;
    tr_fit_fill(o, size);
    ((tr_fit_options *)o)->data = &run_file;
    ((tr_fit_options *)o)->data_count = 1;
    ((tr_fit_options *)o)->free = "tilt";
}

static bool call_fit(const void *o, const World *w, tr_error *err)
{
    const tr_fit *fit = tr_fit_find(w->model, NULL, o, err);
    tr_fit_free(fit);
    return fit;
}

static const char *const no_number = "nothing=1"; // so that there are no runs

static void fill_sweep(void *o, size_t size, const World *w)
{
    (void)w;
    tr_sweep_fill(o, size);
    ((tr_sweep_options *)o)->vary = &no_number;
    ((tr_sweep_options *)o)->vary_count = 1;
}

static bool call_sweep(const void *o, const World *w, tr_error *err)
{
    return tr_sweep(w->model, NULL, o, NULL, err);
}

static const char *const no_column = "nothing"; // so that no picture is printed

static void fill_plot(void *o, size_t size, const World *w)
{
    (void)w;
    tr_plot_fill(o, size);
    ((tr_plot_options *)o)->runs = &run_file;
    ((tr_plot_options *)o)->run_count = 1;
    ((tr_plot_options *)o)->panels = &no_column;
    ((tr_plot_options *)o)->panel_count = 1;
}

static bool call_plot(const void *o, const World *w, tr_error *err)
{
    (void)w;
    return tr_plot(o, err);
}

static void fill_view(void *o, size_t size, const World *w)
{
    (void)w;
    tr_view_fill(o, size);
    ((tr_view_options *)o)->run = run_file;
    ((tr_view_options *)o)->output = report_file;
    if (size >= offsetof(tr_view_options, others)) ((tr_view_options *)o)->page = page_file;
}

static bool call_view(const void *o, const World *w, tr_error *err)
{
    return tr_view(w->system, o, NULL, err);
}

static bool call_view_check(const void *o, const World *w, tr_error *err)
{
    (void)w;
    return tr_view_check(o, err);
}

static bool call_report(const void *o, const World *w, tr_error *err)
{
    tr_report *report = tr_report_new(err);
    const tr_sink *sink = tr_report_sink(report);
    tr_simulate_options simulate = tr_simulate_defaults(w->system);
    simulate.end = 0.1, simulate.sinks = sink, simulate.sink_count = 1;
    const bool good = tr_simulate(w->system, &simulate, NULL, err) &&
                      tr_report_write(report, w->system, o, NULL, err);
    tr_report_free(report);
    return good;
}

static const struct Row {
    const char *name; // tr_NAME_defaults
    size_t known, old;
    void (*fill)(void *o, size_t size, const World *w);
    bool (*call)(const void *o, const World *w, tr_error *err);
    const char *words; // of the error that is right, too
} rows[] = {
#define ROW(name, until, fill, call, words)                                                   \
    {                                                                                         \
#name, sizeof(tr_##name##_options), offsetof(tr_##name##_options, until), fill, call, \
            words                                                                             \
    }
    ROW(compile, fix_parameters, fill_compile, call_compile, NULL),
    ROW(compile, parameters, fill_compile, call_compile_in, NULL),
    ROW(derive, settings, fill_derive, call_derive, NULL),
    ROW(run, step, fill_run, call_run, NULL),
    ROW(simulate, method, fill_simulate, call_simulate, NULL),
    ROW(linearise, step, fill_linearise, call_linearise, NULL),
    ROW(linearise, step, fill_linearise, call_linearise_text, NULL),
    ROW(linearise, step, fill_linearise, call_linearise_write, NULL),
    ROW(steady, sweep, fill_steady, call_steady, NULL),
    ROW(steady, output, fill_family, call_family, "'nobody'"),
    ROW(settle, gap, fill_settle, call_settle, "nothing settles here"),
    ROW(fmu, method, fill_fmu, call_fmu, "cannot read"),
    ROW(inverse, prior_weight, fill_inverse, call_inverse, "no inertias are open"),
    ROW(lqr, q, fill_lqr, call_lqr, NULL),
    ROW(fit, columns, fill_fit, call_fit, NULL),
    ROW(sweep, keep, fill_sweep, call_sweep, "initial value 'nothing'"),
    ROW(plot, track, fill_plot, call_plot, "has no column 'nothing'"),
    ROW(view, page, fill_view, call_view, "this build has no page"),
    ROW(view, page, fill_view, call_view_check, "this build has no page"),
    ROW(view, page, fill_view, call_report, "this build has no page"),
#undef ROW
};

static World open_world(void)
{
    tr_error err = {0};
    run_file = in_folder("run.csv");
    page_file = in_folder("page.html");
    report_file = in_folder("report.html");
    World w = {.model = tr_model_read(MODELS_DIR "/cart_pole.yaml", &err)};
    w.system = tr_derive(w.model, NULL, &err);
    w.plan = tr_plan_new(w.system, &err);
    tr_simulate_options o = tr_simulate_defaults(w.system);
    o.end = 0.1, o.output = run_file;
    tr_simulate(w.system, &o, NULL, &err);
    tr_write_text(page_file, "<html><!--data--></html>", &err);
    if (err.status) fail_msg("%s", err.text);
    return w;
}

static void close_world(World *w)
{
    tr_plan_free(w->plan);
    tr_system_free(w->system);
    tr_model_free(w->model);
}

// Filled and called with as many bytes as `size`
static void check_size(const struct Row *row, const World *w, size_t size)
{
    tr_error err = {0};
    void *o = malloc(size); // a sanitizer sees what goes beyond it
    row->fill(o, size, w);
    size_t said;
    memcpy(&said, o, sizeof said);
    assert_int_equal(said, size);
    const bool good = row->call(o, w, &err);
    if (!good && !(row->words && strstr(err.text, row->words)))
        fail_msg("tr_%s_options of %zu bytes: %s", row->name, size, err.text);
    free(o);
}

static void check_refusal(const struct Row *row, const World *w, const void *o, const char *words)
{
    tr_error err = {0};
    assert_false(row->call(o, w, NULL));
    assert_false(row->call(o, w, &err));
    assert_int_equal(err.status, TR_USAGE);
    if (!strstr(err.text, words)) fail_msg("tr_%s_options: %s", row->name, err.text);
}

static void test_sizes(void **state)
{
    (void)state;
    World w = open_world();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_size(&rows[i], &w, rows[i].old);
        check_size(&rows[i], &w, rows[i].known);
        check_size(&rows[i], &w, rows[i].known + 16);
    }
    close_world(&w);
}

static void test_refusals(void **state)
{
    (void)state;
    World w = open_world();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct Row *row = &rows[i];
        const size_t newer = row->known + 16;
        char *o = malloc(newer), words[100];
        row->fill(o, newer, &w);
        o[newer - 1] = 1;
        check_refusal(row, &w, o, "does not know");
        const size_t wrong[] = {0, sizeof(size_t) - 1, 100000, SIZE_MAX};
        snprintf(words, sizeof words, "options begin with tr_%s_defaults()", row->name);
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            memcpy(o, &wrong[k], sizeof wrong[k]);
            check_refusal(row, &w, o, words);
        }
        free(o);
    }
    close_world(&w);
}

// What the header defines gives what the library does.
static void test_defaults(void **state)
{
    (void)state;
    World w = open_world();
    assert_int_equal(tr_compile_defaults().size, sizeof(tr_compile_options));
    assert_int_equal(tr_derive_defaults().size, sizeof(tr_derive_options));
    assert_int_equal(tr_linearise_defaults().size, sizeof(tr_linearise_options));
    assert_int_equal(tr_steady_defaults().size, sizeof(tr_steady_options));
    assert_int_equal(tr_inverse_defaults().size, sizeof(tr_inverse_options));
    const tr_run_options run = tr_run_defaults(w.plan);
    const tr_simulate_options simulate = tr_simulate_defaults(w.system);
    assert_true(run.size == sizeof run && simulate.size == sizeof simulate);
    assert_true(run.step == simulate.step && run.rtol == simulate.rtol && simulate.end == 5);
    const tr_lqr_options lqr = tr_lqr_defaults();
    assert_true(lqr.size == sizeof lqr && !lqr.inputs && !lqr.q && !lqr.r && lqr.step == 0);
    const tr_plot_options plot = tr_plot_defaults();
    assert_true(plot.size == sizeof plot && isnan(plot.from) && isnan(plot.to));
    const tr_view_options view = tr_view_defaults();
    assert_true(view.size == sizeof view && !view.run && !view.output && !view.page);
    close_world(&w);
}

// What must be given, and was not
static void test_nothing_given(void **state)
{
    (void)state;
    World w = open_world();
    tr_error err = {0};
    tr_view_options view = tr_view_defaults();
    view.page = page_file, view.output = report_file;
    assert_false(tr_view(w.system, &view, NULL, &err));
    assert_string_equal(err.text, "there is no run to report");
    err = (tr_error){0};
    view.run = run_file, view.output = NULL;
    assert_false(tr_view(w.system, &view, NULL, &err));
    assert_string_equal(err.text, "the report needs a file to go to");
    err = (tr_error){0};
    const tr_lqr_options lqr = tr_lqr_defaults();
    assert_null(tr_lqr_design(w.system, &lqr, &err));
    assert_non_null(strstr(err.text, "which inputs"));
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_take),     cmocka_unit_test(test_give),
        cmocka_unit_test(test_sizes),    cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_nothing_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
