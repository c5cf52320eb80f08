// SPDX-License-Identifier: Apache-2.0
// Ranges, units and words of parameters and inputs: what the public calls say of them, that the
// long form makes the same equations as the short one, and that values beyond a range are refused
// wherever they come from: files, cases, settings, runs, batches, controllers, sweeps, what is
// found.
#include "base/json.h"
#include "folder.h"
#include "models.h"
#include "plan/plan.h"
#include "program/program.h"

// A pendulum on a cart; the moment follows from mass and length, and has a range of its own.
#define HEAD "trundle: 1\n"
#define BODIES                                                            \
    "bodies:\n"                                                           \
    "  cart:\n"                                                           \
    "    joint: {type: prismatic, axis: \"1, 0, 0\", base: true}\n"       \
    "    mass: M\n"                                                       \
    "  pole:\n"                                                           \
    "    parent: cart\n"                                                  \
    "    joint: {type: revolute, axis: \"0, 1, 0\", coordinate: angle}\n" \
    "    mass: m\n"                                                       \
    "    com: 0, 0, -l\n"                                                 \
    "    inertia: {yy: I}\n"                                              \
    "roles:\n"                                                            \
    "  cart: {torque: push}\n"                                            \
    "  angle: {torque: twist}\n"                                          \
    "initial: {cart: 0, d(cart): 0, angle: start, d(angle): 0}\n"         \
    "cases:\n"                                                            \
    "  plain: {end: 0.5, every: 0.1}\n"                                   \
    "  long: {set: {l: 3}}\n"                                             \
    "  light: {set: {m: m_ref/4}}\n"                                      \
    "  strong: {set: {push: 11}}\n"

static const char ranged[] =
    HEAD "parameters:\n"
         "  m: {value: 1, min: 0.5, max: 2*m_ref, unit: kg, doc: \"payload, 100 %s\"}\n"
         "  m_ref: 1\n"
         "  l: {value: 0.5, unit: m, min: 0.1, max: 2}\n"
         "  I: {value: m*l^2, unit: kg m^2, max: 0.6}\n"
         "  M: {value: 3}\n"
         "  start: {value: 0.1, max: 1}\n"
         "inputs:\n"
         "  push: {value: 0, min: -10, max: 10, unit: N, doc: on the cart}\n"
         "  twist: {value: 0, min: -2, max: 2, unit: N m}\n" BODIES;

static const char plain[] =
    HEAD "parameters: {m: 1, m_ref: 1, l: 0.5, I: m*l^2, M: 3, start: 0.1}\n"
         "inputs: {push: 0, twist: 0}\n" BODIES;

static size_t input_called(const tr_system *system, const char *name)
{
    for (size_t i = 0; i < tr_input_count(system); i++)
        if (strcmp(tr_input_name(system, i), name) == 0) return i;
    fail_msg("there is no input '%s'", name);
    return 0;
}

// ---- what is said of them ------------------------------------------------------------------

static void check_port(const tr_system *s, const char *name, const char *unit, const char *doc,
                       double min, double max)
{
    const size_t at = input_called(s, name);
    double is_min = 5, is_max = 5;
    assert_string_equal(tr_input_unit(s, at), unit);
    assert_string_equal(tr_input_doc(s, at), doc);
    const bool has = tr_input_range(s, at, &is_min, &is_max);
    assert_true(has == (isfinite(min) || isfinite(max)));
    assert_true(is_min == min && is_max == max);
    assert_true(tr_input_range(s, at, NULL, NULL) == has);
}

static void test_ports(void **state)
{
    (void)state;
    const double none = (double)INFINITY;
    tr_system *s = derived(model_from(ranged), NULL);
    check_port(s, "m", "kg", "payload, 100 %s", 0.5, 2);
    check_port(s, "m_ref", "", "", -none, none);
    check_port(s, "l", "m", "", 0.1, 2);
    check_port(s, "M", "", "", -none, none);
    check_port(s, "start", "", "", -none, 1);
    check_port(s, "push", "N", "on the cart", -10, 10);
    check_port(s, "angle", "rad", "", -none, none);
    assert_null(tr_input_doc(s, tr_input_count(s)));
    assert_false(tr_input_range(s, tr_input_count(s), NULL, NULL));
    assert_null(tr_input_doc(NULL, 0));
    assert_false(tr_input_range(NULL, 0, NULL, NULL));
    tr_system_free(s);
    // a bound that is a formula has the number that it has with what was set
    const tr_setting two = {"m_ref", "2"};
    tr_derive_options o = tr_derive_defaults();
    o.settings = &two, o.setting_count = 1;
    s = derived(model_from(ranged), &o);
    check_port(s, "m", "kg", "payload, 100 %s", 0.5, 4);
    tr_system_free(s);
}

// Who takes another's value has a range of its own: the other's stays what it is, and both hold.
static void test_follower(void **state)
{
    (void)state;
    static const char text[] =
        HEAD "parameters:\n"
             "  m: {value: 1, min: 0.5, max: 2, unit: kg, doc: its own}\n"
             "  load: {value: m, min: 0, max: 1.5, unit: kg, doc: of another}\n"
             "  plain: 3\n"
             "  third: {value: plain, unit: m, max: 9}\n"
             "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: load}}\n";
    tr_error err = {0};
    const tr_setting much = {"m", "1.8"}, itself = {"load", "0.2"};
    tr_derive_options o = tr_derive_defaults();
    tr_system *s = derived(model_from(text), NULL);
    check_port(s, "m", "kg", "its own", 0.5, 2);
    check_port(s, "plain", "", "", -(double)INFINITY, (double)INFINITY);
    tr_system_free(s);
    tr_model *model = model_from(text);
    o.settings = &much, o.setting_count = 1;
    assert_null(tr_derive(model, &o, &err));
    assert_says(err.text, "the parameter 'load' is 1.8 kg, and its range is 0 to 1.5 kg");
    o.settings = &itself;
    s = derived_from(model, &o);
    check_port(s, "m", "kg", "its own", 0.5, 2);
    check_port(s, "load", "kg", "of another", 0, 1.5);
    tr_system_free(s);
    tr_model_free(model);
}

// The long form changes no operation and no bit.
static void test_same_equations(void **state)
{
    (void)state;
    static const char *const outputs = "M c Q vdot";
    tr_error err = {0};
    tr_system *a = derived(model_from(plain), NULL), *b = derived(model_from(ranged), NULL);
    assert_int_equal(tr_input_count(a), tr_input_count(b));
    tr_program *A = tr_compile(a, outputs, NULL, &err), *B = tr_compile(b, outputs, NULL, &err);
    tr_workspace *in_a = tr_workspace_new(A, &err), *in_b = tr_workspace_new(B, &err);
    if (err.status) fail_msg("%s", err.text);
    assert_int_equal(tr_program_sizes(A).operations, tr_program_sizes(B).operations);
    double x[40], out[2][40] = {{0}};
    for (size_t i = 0; i < tr_input_count(a); i++) {
        assert_string_equal(tr_input_name(a, i), tr_input_name(b, i));
        x[i] = tr_input_value(a, i) + 0.1 * (double)i;
    }
    tr_evaluate(A, in_a, x, out[0]);
    tr_evaluate(B, in_b, x, out[1]);
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    tr_workspace_free(in_a), tr_workspace_free(in_b);
    tr_program_free(A), tr_program_free(B);
    tr_system_free(a), tr_system_free(b);
}

// Text of a certificate that is kept
static bool keep_end(void *owner, const char *certificate, tr_error *err)
{
    (void)err;
    char *kept = owner;
    snprintf(kept, 20000, "%s", certificate);
    return true;
}

static void test_certificate(void **state)
{
    (void)state;
    static char text[20000];
    tr_error err = {0};
    tr_system *s = derived(model_from(ranged), NULL);
    const tr_sink sink = {.end = keep_end, .owner = text};
    tr_simulate_options o = tr_simulate_defaults(s);
    o.output = NULL, o.sinks = &sink, o.sink_count = 1;
    if (!tr_simulate(s, &o, NULL, &err)) fail_msg("%s", err.text);
    const Text all = text_of(text), m = tr_json_member(tr_json_member(all, "ports"), "m");
    assert_true(text_is(tr_json_member(tr_json_member(all, "parameters"), "m"), "1"));
    assert_says(text, "\"kind\": \"input\"");
    assert_true(text_is(tr_json_member(m, "max"), "2"));
    assert_true(text_is(tr_json_member(m, "min"), "0.5"));
    assert_true(text_is(tr_json_member(m, "unit"), "\"kg\""));
    assert_true(text_is(tr_json_member(m, "doc"), "\"payload, 100 %s\""));
    assert_null(tr_json_member(tr_json_member(all, "ports"), "m_ref").at);
    tr_system_free(s);
    s = derived(model_from(plain), NULL);
    o = tr_simulate_defaults(s);
    o.output = NULL, o.sinks = &sink, o.sink_count = 1;
    if (!tr_simulate(s, &o, NULL, &err)) fail_msg("%s", err.text);
    assert_null(tr_json_member(text_of(text), "ports").at);
    tr_system_free(s);
}

// Words that would break a line, a page or a terminal
static void test_hostile_words(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = derived(
        model_from(HEAD "parameters:\n"
                        "  m: {value: 1, unit: kg, doc: \"a\\nb\\tc </script>\\u202e %n \\\"\"}\n"
                        "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: m}}\n"),
        NULL);
    char *words = tr_derive_text(s, false, &err), *json = tr_derive_text(s, true, &err);
    if (err.status) fail_msg("%s", err.text);
    assert_says(words, "parameter           m = 1 kg: a b c </script>\\u202e %n \"\n");
    assert_null(strstr(json, "\xe2\x80\xae"));
    tr_text_free(words);
    tr_text_free(json);
    tr_system_free(s);
}

// ---- values of files, cases and settings ---------------------------------------------------

typedef struct Refused {
    const char *case_name, *name, *formula; // a setting
    int line, column;
    const char *words;
} Refused;

static void check_refused(const Refused *r)
{
    tr_error err = {0};
    tr_model *model = model_from(ranged);
    const tr_setting setting = {r->name, r->formula};
    tr_derive_options o = tr_derive_defaults();
    o.case_name = r->case_name, o.settings = &setting, o.setting_count = r->name != NULL;
    tr_system *s = tr_derive(model, &o, &err);
    if (s) fail_msg("%s %s is taken", r->name ? r->name : r->case_name, r->formula);
    assert_int_equal(err.status, TR_INVALID);
    assert_string_equal(err.text, r->words);
    assert_int_equal(err.line, r->line);
    assert_int_equal(err.column, r->column);
    tr_model_free(model);
}

static void test_refused(void **state)
{
    (void)state;
    static const Refused rows[] = {
        {"long", NULL, NULL, 28, 19,
         "the parameter 'l' is 3 m, and its range is 0.1 to 2 m (line 5)"},
        {"light", NULL, NULL, 29, 20,
         "the parameter 'm' is 0.25 kg, and its range is 0.5 to 2 kg (line 3)"},
        {"strong", NULL, NULL, 30, 24,
         "the input 'push' is 11 N, and its range is -10 to 10 N (line 10)"},
        {NULL, "m", "2.0000001", -1, 1,
         "the parameter 'm' is 2.0000001 kg, and its range is 0.5 to 2 kg (line 3 of the model)"},
        {NULL, "m", "0.5 - 1e-9", -1, 1,
         "the parameter 'm' is 0.499999999 kg, and its range is 0.5 to 2 kg (line 3 of the model)"},
        {NULL, "m_ref", "0.4", 3, 14, "the parameter 'm' is 1 kg, and its range is 0.5 to 0.8 kg"},
        {NULL, "m_ref", "0.1", 3, 32,
         "the parameter 'm' has a 'max' below its 'min': they are 0.2 and 0.5"},
        {NULL, "l", "0.9", 6, 14,
         "the parameter 'I' is 0.81 kg m^2, and its range is up to 0.6 kg m^2"},
        {NULL, "start", "1.5", -1, 1,
         "the parameter 'start' is 1.5, and its range is up to 1 (line 8 of the model)"},
        {NULL, "push", "-10.5", -1, 1,
         "the input 'push' is -10.5 N, and its range is -10 to 10 N (line 10 of the model)"},
        {NULL, "push", "20*cos(t)", -1, 1,
         "the input 'push' is 20 N, and its range is -10 to 10 N (line 10 of the model)"},
        {NULL, "push", "12*m", -1, 1,
         "the input 'push' is 12 N, and its range is -10 to 10 N (line 10 of the model)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_refused(&rows[i]);
}

// At its bounds a value is within, and beside them by other settings.
static void test_taken(void **state)
{
    (void)state;
    static const tr_setting rows[][2] = {
        {{"m", "2"}, {"l", "0.5"}},          {{"m", "0.5"}, {"l", "0.1"}},
        {{"m", "4"}, {"m_ref", "2"}},        {{"l", "0.9"}, {"I", "0.6"}},
        {{"push", "10"}, {"m", "1"}},        {{"start", "1"}, {"m", "1"}},
        {{"push", "-9*cos(t)"}, {"m", "1"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tr_derive_options o = tr_derive_defaults();
        o.settings = rows[i], o.setting_count = 2;
        tr_model *model = model_from(ranged);
        if (i == 2) change(model, "parameters/I/max", "2");
        tr_system_free(derived(model, &o));
    }
}

static void test_files_beside(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_model *model = model_from(ranged);
    const char *name = "with.yaml", *text = "set: {m: 1.5, l: 2.5}\n";
    tr_derive_options o = tr_derive_defaults();
    o.with = &name, o.with_texts = &text, o.with_count = 1;
    assert_null(tr_derive(model, &o, &err));
    assert_string_equal(
        err.text, "the parameter 'l' is 2.5 m, and its range is 0.1 to 2 m (line 5 of the model)");
    assert_int_equal(err.line % TR_WITH_LINES, 1);
    assert_int_equal(err.line / TR_WITH_LINES, 1);
    assert_int_equal(err.column, 18);
    err = (tr_error){0};
    text = "inputs: {push: {max: -1}}\n"; // what is beyond it stands in the model
    assert_null(tr_derive(model, &o, &err));
    assert_string_equal(err.text,
                        "the input 'push' is 0 N, and its range is -10 to -1 N (line 1 of --with)");
    tr_model_free(model);
}

// A case may add inputs, and say more of those that are there.
static void test_inputs_of_cases(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_model *model = model_from(ranged);
    const char *name = "with.yaml",
               *text = "inputs: {push: 3, twist: {max: 1}, pull: {value: 1, unit: N, min: 0}}\n";
    tr_derive_options o = tr_derive_defaults();
    o.with = &name, o.with_texts = &text, o.with_count = 1;
    tr_system *s = derived_from(model, &o);
    check_port(s, "push", "N", "on the cart", -10, 10);
    assert_true(tr_input_value(s, input_called(s, "push")) == 3);
    check_port(s, "twist", "N m", "", -2, 1);
    assert_true(tr_input_value(s, input_called(s, "twist")) == 0);
    check_port(s, "pull", "N", "", 0, (double)INFINITY);
    tr_system_free(s);
    text = "inputs: {push: 30}\n";
    assert_null(tr_derive(model, &o, &err));
    assert_says(err.text,
                "the input 'push' is 30 N, and its range is -10 to 10 N (line 10 of the model)");
    assert_int_equal(err.column, 16);
    tr_model_free(model);
}

// By calls: a value alone leaves the rest; each part has a path of its own.
static void test_calls(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_model *model = model_from(ranged);
    change(model, "parameters/m", "1.5");
    change(model, "parameters/l/max", "4");
    change(model, "parameters/m_ref/unit", "kg");
    change(model, "inputs/pull/value", "1");
    change(model, "inputs/pull/min", "0");
    tr_system *s = derived_from(model, NULL);
    assert_true(tr_input_value(s, input_called(s, "m")) == 1.5);
    check_port(s, "m", "kg", "payload, 100 %s", 0.5, 2);
    check_port(s, "l", "m", "", 0.1, 4);
    check_port(s, "m_ref", "kg", "", -(double)INFINITY, (double)INFINITY);
    check_port(s, "pull", "", "", 0, (double)INFINITY);
    tr_system_free(s);
    change(model, "parameters/m", "3");
    assert_null(tr_derive(model, NULL, &err));
    assert_says(err.text, "the parameter 'm' is 3 kg, and its range is 0.5 to 2 kg");
    err = (tr_error){0};
    tr_model_set(model, "parameters", "3", &err);
    assert_says(err.text, "parameters/NAME is missing");
    err = (tr_error){0};
    tr_model_set(model, "parameters/m/unti", "3", &err);
    assert_says(err.text, "'parameters' has no 'unti'; did you mean 'unit'?");
    tr_model_free(model);
}

// ---- what is wrong in the file -------------------------------------------------------------

static void check_wrong(const char *parameters, int column, const char *words)
{
    char text[600];
    tr_error err = {0};
    snprintf(text, sizeof text,
             HEAD "%s\nbodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}}\n",
             parameters);
    tr_model *model = tr_model_parse(text, &err);
    tr_system *s = model ? tr_derive(model, NULL, &err) : NULL;
    if (s) fail_msg("this is taken: %s", parameters);
    assert_string_equal(err.text, words);
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, column);
    tr_model_free(model);
}

static void test_wrong(void **state)
{
    (void)state;
    check_wrong("parameters: {m: {}}", 14, "the parameter 'm' has no 'value'");
    check_wrong("parameters: {m: {min: 1}}", 14, "the parameter 'm' has no 'value'");
    check_wrong("inputs: {m: {unit: N}}", 10, "the input 'm' has no 'value'");
    check_wrong("parameters: {m: {value: 1, unti: N}}", 28,
                "unknown key 'unti' in 'm'; did you mean 'unit'?");
    check_wrong("parameters: {m: {value: 1, min: b.x}}", 33,
                "'b.x' is not a parameter: this must be constant");
    check_wrong("parameters: {m: {value: 1, max: nobody}}", 33,
                "unknown name 'nobody'; there is 'm'");
    check_wrong("parameters: {m: {value: 1, max: 1/0}}", 33, "'max' of 'm' is not finite here");
    check_wrong("parameters: {m: {value: 1, max: 2 +}}", 36,
                "the formula ends where a number, a name or '(' is expected");
    check_wrong("parameters: {m: {value: 1, min: 3, max: 2}}", 41,
                "the parameter 'm' has a 'max' below its 'min': they are 2 and 3");
    check_wrong("parameters: {m: {value: 1, min: 2}}", 25,
                "the parameter 'm' is 1, and its range is from 2 on");
    check_wrong("parameters: {m: {value: 1, unit: \"\"}}", 35,
                "'unit' has no value; if it is part of a formula, quote this formula");
    check_wrong(
        "parameters: {m: {value: 1, unit: furlong}}", 34,
        "the unit of 'm': 'furlong' is not a unit; there are 'kg', 'm', 's', 'A', 'K', 'mol', "
        "'rad', 'sr', 'N', 'J', 'W', 'Pa', 'Hz', 'C', 'V', 'ohm', 'S', 'F', 'Wb', 'H', 'T'");
    check_wrong("inputs: {u: {value: t, max: t}}", 29,
                "'t' is not a parameter: this must be constant");
    check_wrong("parameters: {a: {value: 1, max: b}, b: {value: 2, max: a}}", 48,
                "the parameter 'b' is 2, and its range is up to 1");
}

// ---- runs ----------------------------------------------------------------------------------

static void test_runs(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = derived(model_from(ranged), NULL);
    tr_plan *plan = tr_plan_new(s, &err);
    tr_run *run = tr_run_new(plan, NULL, &err);
    if (!run) fail_msg("%s", err.text);
    // an input counts at once, and stays what it was where it is refused
    tr_run_set(run, "push", 10, &err);
    assert_int_equal(err.status, TR_OK);
    tr_run_set(run, "push", 10.5, &err);
    assert_int_equal(err.status, TR_INVALID);
    assert_string_equal(err.text, "the input 'push' is 10.5 N, and its range is -10 to 10 N");
    assert_int_equal(err.line, 10);
    assert_int_equal(err.column, 25);
    err = (tr_error){0};
    const size_t push = input_called(s, "push");
    assert_true(tr_run_advance(run, 0.1, &err));
    tr_run_set_at(run, push, -11, &err);
    assert_int_equal(err.status, TR_INVALID);
    err = (tr_error){0};
    // parameters count from the next start on
    tr_run_set(run, "push", 0, &err);
    tr_run_set(run, "m", 2.5, &err);
    assert_int_equal(err.status, TR_OK);
    assert_false(tr_run_reset(run, &err));
    assert_string_equal(
        err.text, "the parameter 'm' is 2.5 kg, and its range is 0.5 to 2 kg, with 'm' = 2.5");
    err = (tr_error){0};
    tr_run_set(run, "m_ref", 2, &err); // which changes the range
    tr_run_set(run, "m", 2.4, &err);
    assert_true(tr_run_reset(run, &err));
    tr_run_set(run, "l", 0.6, &err);
    assert_false(tr_run_reset(run, &err));
    assert_string_equal(err.text,
                        "the parameter 'I' is 0.864 kg m^2, and its range is up to 0.6 kg "
                        "m^2, with 'm' = 2.4, 'l' = 0.6");
    assert_int_equal(err.line, 6);
    tr_run_free(run);
    tr_plan_free(plan);
    tr_system_free(s);
}

static void test_batch(void **state)
{
    (void)state;
    tr_error err = {0}, own = {0};
    tr_system *s = derived(model_from(ranged), NULL);
    tr_plan *plan = tr_plan_new(s, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = 0.01;
    tr_batch *batch = tr_batch_new(plan, 3, &o, &err);
    if (!batch) fail_msg("%s", err.text);
    tr_batch_set(batch, 1, "m", 5, &err);
    assert_false(err.status == TR_OK && tr_batch_reset(batch, 1, &err));
    assert_says(err.text, "the parameter 'm' is 5 kg, and its range is 0.5 to 2 kg");
    err = (tr_error){0};
    tr_batch_set(batch, 2, "push", 12, &err);
    assert_says(err.text, "the input 'push' is 12 N, and its range is -10 to 10 N");
    err = (tr_error){0};
    tr_batch_set(batch, 0, "m", 1.5, &err);
    assert_true(tr_batch_reset(batch, 0, &err));
    tr_batch_advance(batch, 0.05, &err);
    assert_int_equal(tr_batch_status(batch, 0, &own), TR_OK);
    tr_batch_free(batch);
    tr_plan_free(plan);
    tr_system_free(s);
}

static bool push_more(void *owner, const tr_instant *now)
{
    (void)owner;
    for (size_t i = 0; i < now->inputs; i++)
        if (strcmp(now->input[i], "push") == 0) now->setting[i] = now->t < 0.25 ? 9 : 10.25;
    return true;
}

static void test_controller(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = derived(model_from(ranged), NULL);
    tr_simulate_options o = tr_simulate_defaults(s);
    o.control = push_more, o.sample = 0.1, o.output = NULL;
    assert_false(tr_simulate(s, &o, NULL, &err));
    assert_int_equal(err.status, TR_FAILED);
    assert_string_equal(err.text, "what the controller sets at t = 0.3 is out of a range: the "
                                  "input 'push' is 10.25 N, and its range is -10 to 10 N");
    tr_system_free(s);
}

// A controller of the model: at 0.2 s it asks for 10.5 N
static void test_sampled(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_model *model = model_from(ranged);
    change(model, "controllers/c/period", "0.1");
    change(model, "controllers/c/outputs/push", "8.5 + 10*t");
    tr_system *s = derived(model, NULL);
    tr_simulate_options o = tr_simulate_defaults(s);
    o.output = NULL;
    assert_false(tr_simulate(s, &o, NULL, &err));
    assert_string_equal(err.text, "what the controller sets at t = 0.2 is out of a range: the "
                                  "input 'push' is 10.5 N, and its range is -10 to 10 N");
    tr_system_free(s);
}

// ---- sweeps and what is found --------------------------------------------------------------

static void test_sweeps(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = derived(model_from(ranged), NULL);
    tr_locus *sweep = tr_locus_new(s, "m", 0.5, 2, 0.5, &err);
    if (!sweep) fail_msg("%s", err.text);
    assert_int_equal(sweep->rows, 4);
    tr_locus_free(sweep);
    assert_null(tr_locus_new(s, "m", 0.5, 2.5, 0.5, &err));
    assert_string_equal(
        err.text, "the parameter 'm' is 2.5 kg, and its range is 0.5 to 2 kg, with 'm' = 2.5");
    err = (tr_error){0};
    assert_null(tr_locus_new(s, "m", 0.25, 1, 0.25, &err));
    assert_says(err.text, "the parameter 'm' is 0.25 kg");
    err = (tr_error){0};
    assert_null(tr_locus_new(s, "l", 0.2, 1, 0.1, &err)); // what follows from it
    assert_says(err.text, "the parameter 'I' is 1 kg m^2, and its range is up to 0.6 kg m^2");
    tr_system_free(s);
}

// The torque that holds the pendulum at an angle is m g l sin(angle), 4.905 sin(angle) N m.
static void test_steady(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *s = derived(model_from(ranged), NULL);
    const char *holds[] = {"angle=0.3", "cart_rate=0"};
    tr_steady_options o = tr_steady_defaults();
    o.free = "twist", o.holds = holds, o.hold_count = 2;
    tr_steady *steady = tr_steady_find(s, &o, &err);
    if (!steady) fail_msg("%s", err.text);
    assert_close(tr_steady_state(steady)[input_called(s, "twist")], 4.905 * sin(0.3), 1e-9);
    tr_steady_free(steady);
    holds[0] = "angle=0.6"; // asks for 2.77 N m
    assert_null(tr_steady_find(s, &o, &err));
    assert_says(err.text, "the steady motion is out of a range: the input 'twist' is 2.76");
    assert_says(err.text, ", and its range is -2 to 2 N m");
    assert_int_equal(err.line, 11);
    err = (tr_error){0};
    // along the angle, as far as the torque goes: asin(2/4.905) = 0.4199
    tr_family_summary summary = {0};
    holds[0] = "cart_rate=0", o.hold_count = 1;
    o.sweep = "angle=0.1:0.6:0.05", o.output = in_folder("family.csv");
    assert_false(tr_steady_sweep(s, &o, &summary, &err));
    assert_says(err.text, "the input 'twist' is");
    assert_int_equal(summary.rows, 7);
    assert_close(summary.reached, 0.4, 1e-12);
    err = (tr_error){0};
    o.sweep = "m=1:2.5:0.1", o.free = "twist", o.hold_count = 1; // its end is out of reach
    assert_false(tr_steady_sweep(s, &o, &summary, &err));
    assert_says(err.text, "the parameter 'm' is 2.5 kg, and its range is 0.5 to 2 kg");
    assert_int_equal(summary.rows, 0);
    err = (tr_error){0};
    // a trimmed sweep of the mass at 0.3 rad: m g l sin(0.3) passes 2 N m at m = 1.38
    tr_steady_options trim = tr_steady_defaults();
    holds[0] = "angle=0.3", holds[1] = "cart_rate=0";
    trim.free = "twist", trim.holds = holds, trim.hold_count = 2;
    assert_null(tr_locus_trimmed(s, "m", 1, 2, 0.1, &trim, &err));
    assert_says(err.text,
                "at m = 1.4: the steady motion at m = 1.4 is out of a range: the input 'twist'");
    tr_system_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ports),          cmocka_unit_test(test_follower),
        cmocka_unit_test(test_same_equations), cmocka_unit_test(test_certificate),
        cmocka_unit_test(test_hostile_words),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_taken),          cmocka_unit_test(test_files_beside),
        cmocka_unit_test(test_calls),          cmocka_unit_test(test_inputs_of_cases),
        cmocka_unit_test(test_sampled),        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_runs),           cmocka_unit_test(test_batch),
        cmocka_unit_test(test_controller),     cmocka_unit_test(test_sweeps),
        cmocka_unit_test(test_steady),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
