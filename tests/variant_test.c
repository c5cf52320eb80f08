// SPDX-License-Identifier: Apache-2.0
// Cases and settings: which value wins, what a case changes, and what cannot be chosen or set.
#include "model_values.h"

// ---- variants ------------------------------------------------------------------------------

static const char cart[] =
    "trundle: 1\n"
    "parameters: {m: 2, half: m/2, k: 1}\n"
    "inputs: {push: 3}\n"
    "bodies:\n"
    "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: m}\n"
    "  arm:\n"
    "    parent: cart\n"
    "    joint: {type: prismatic, axis: \"1, 0, 0\"}\n"
    "    mass: half\n"
    "forces:\n"
    "  a: {body: cart, force: \"push, 0, 0\"}\n"
    "  b: {body: cart, force: \"k, 0, 0\"}\n"
    "roles: {arm: {torque: 1}}\n"
    "initial: {cart: 1, arm: 0.5}\n"
    "guess: {d(cart): 1}\n"
    "outputs: {mass: m, part: half, in: push}\n"
    "cases:\n"
    "  plain: {}\n"
    "  heavy: {set: {m: 10, push: 5}, end: 2, initial: {cart: 7, d(arm): 3}}\n"
    "  light: {without: [b, a], roles: {arm: passive}, hold: [arm]}\n"
    "  worse: {set: {mm: 1}}\n"
    "  worst: {without: c}\n";

static Model *variant_of(const Model *model, const char *case_name, tr_error *err)
{
    return tr_model_variant(model, &(tr_derive_options){.case_name = case_name}, err);
}

// What `eval` says of a name in a group, for a variant of the cart.
static double value_by(const char *group, const char *name, const tr_derive_options *options)
{
    tr_error err = {0};
    char key[64];
    System *system = derived(model_from(cart), options);
    char *json = tr_eval_text(system, true, &err);
    if (!json) fail_msg("%s", err.text);
    snprintf(key, sizeof key, "\"%s\": {", group);
    const char *at = strstr(json, key);
    assert_non_null(at);
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *from = strstr(at, key);
    if (!from || from > strchr(at, '}')) fail_msg("no %s in %s of %s", name, group, json);
    const double value = strtod(from + strlen(key), NULL);
    tr_text_free(json);
    tr_system_free(system);
    return value;
}

static double value_in(const char *group, const char *name, const char *case_name,
                       const tr_setting *settings, size_t count)
{
    return value_by(group, name,
                    &(tr_derive_options){.size = sizeof(tr_derive_options),
                                         .case_name = case_name,
                                         .settings = settings,
                                         .setting_count = count});
}

static void test_precedence(void **state)
{
    (void)state;
    const tr_setting m = {"m", "4 + k"}, half = {"half", "k*m"}, push = {"push", "-1"};
    const tr_setting both[] = {m, half};
    assert_true(value_in("outputs", "mass", NULL, NULL, 0) == 2);
    assert_true(value_in("outputs", "mass", "plain", NULL, 0) == 2);
    assert_true(value_in("outputs", "mass", "heavy", NULL, 0) == 10);
    assert_true(value_in("outputs", "mass", "heavy", &m, 1) == 5);
    assert_true(value_in("outputs", "part", "heavy", NULL, 0) == 5); // derived ones follow
    assert_true(value_in("outputs", "part", "heavy", &m, 1) == 2.5);
    assert_true(value_in("outputs", "part", NULL, &half, 1) == 2); // its formula is replaced
    assert_true(value_in("outputs", "part", "heavy", both, 2) == 5);
    assert_true(value_in("outputs", "in", NULL, NULL, 0) == 3);
    assert_true(value_in("outputs", "in", "heavy", NULL, 0) == 5);
    assert_true(value_in("outputs", "in", "heavy", &push, 1) == -1);
    assert_true(value_in("q", "cart", NULL, NULL, 0) == 1);
    assert_true(value_in("q", "cart", "heavy", NULL, 0) == 7); // in place of the model's
    assert_true(value_in("q", "arm", "heavy", NULL, 0) == 0.5);
    assert_true(value_in("v", "arm_rate", "heavy", NULL, 0) == 3); // and added to it
    assert_true(value_in("v", "cart_rate", "heavy", NULL, 0) == 1);
}

// 3 x'' = push + k with the arm held; both free: m x'' = push + k - 1, m/2 (x'' + y'') = 1
static void test_case_changes(void **state)
{
    (void)state;
    assert_close(value_in("vdot", "cart_rate", NULL, NULL, 0), 1.5, 1e-14);
    assert_close(value_in("vdot", "arm_rate", NULL, NULL, 0), 1 - 1.5, 1e-14);
    assert_close(value_in("vdot", "cart_rate", "light", NULL, 0), 0, 1e-14);
    assert_close(value_in("vdot", "arm_rate", "light", NULL, 0), 0, 1e-14);

    tr_error err = {0};
    Model *model = model_from(cart), *twin = variant_of(model, "light", &err);
    assert_int_equal(err.status, TR_OK);
    assert_int_equal(twin->fields.forces.count, 0);
    assert_int_equal(twin->fields.roles.at[0].torque.count, 0);
    assert_text(twin->fields.cases.at[0].name, "light"); // the chosen one first, the others stay
    assert_text(twin->fields.cases.at[1].name, "plain");
    assert_text(twin->fields.cases.at[2].name, "heavy");
    assert_text(twin->fields.cases.at[3].name, "worse");
    assert_int_equal(model->fields.forces.count, 2); // the first is as it was
    assert_int_equal(model->fields.roles.at[0].torque.count, 1);
    assert_text(model->fields.cases.at[0].name, "plain");
    tr_model_free(twin);
    twin = variant_of(model, "plain", &err);
    Model *again = variant_of(twin, NULL, &err);
    assert_same_kind(tr_kind_model(), &model->fields, &again->fields);
    tr_model_free(again);
    tr_model_free(twin);
    tr_model_free(model);
}

static const struct {
    const char *case_name;
    tr_setting setting;
    tr_status status;
    int line, column;
    const char *words;
} bad_variants[] = {
    {"haevy", {0}, TR_USAGE, 0, 0, "there is no case 'haevy'; did you mean 'heavy'?"},
    {"nothing",
     {0},
     TR_USAGE,
     0,
     0,
     "there is no case 'nothing'; there are 'plain', 'heavy', 'light', 'worse', 'worst'"},
    {"",
     {0},
     TR_USAGE,
     0,
     0,
     "there is no case ''; there are 'plain', 'heavy', 'light', 'worse', 'worst'"},
    {NULL,
     {"hafl", "1"},
     TR_USAGE,
     0,
     0,
     "there is no parameter or input 'hafl'; did you mean 'half'?"},
    {NULL,
     {"pusch", "1"},
     TR_USAGE,
     0,
     0,
     "there is no parameter or input 'pusch'; did you mean 'push'?"},
    {NULL,
     {"cart", "1"},
     TR_USAGE,
     0,
     0,
     "there is no parameter or input 'cart': 'cart' is a body; there are 'm', 'half', 'k', "
     "'push'"},
    {NULL,
     {"", "1"},
     TR_USAGE,
     0,
     0,
     "there is no parameter or input ''; there are 'm', 'half', 'k', 'push'"},
    {"worse", {0}, TR_INVALID, 21, 17, "there is no parameter or input 'mm'; did you mean 'm'?"},
    {"worst", {0}, TR_INVALID, 22, 20, "there is no element 'c' to leave out; there are 'a', 'b'"},
};

static void test_bad_variants(void **state)
{
    (void)state;
    Model *model = model_from(cart);
    for (size_t i = 0; i < sizeof bad_variants / sizeof *bad_variants; i++) {
        tr_error err = {0};
        const bool sets = bad_variants[i].setting.name != NULL;
        const tr_derive_options options = {.case_name = bad_variants[i].case_name,
                                           .settings = &bad_variants[i].setting,
                                           .setting_count = sets};
        assert_null(tr_model_variant(model, &options, &err));
        assert_string_equal(err.text, bad_variants[i].words);
        assert_int_equal(err.status, bad_variants[i].status);
        assert_int_equal(err.line, bad_variants[i].line);
        assert_int_equal(err.column, bad_variants[i].column);
    }
    tr_model_free(model);
}

// The k-th setting is line -k.
static void test_bad_settings(void **state)
{
    (void)state;
    const tr_setting settings[] = {{"k", "2"}, {"m", "1 + nil"}, {"half", "3"}};
    const tr_derive_options options = {
        .size = sizeof options, .settings = settings, .setting_count = 3};
    tr_error err = {0};
    Model *model = model_from(cart);
    assert_null(tr_derive(model, &options, &err));
    assert_int_equal(err.status, TR_INVALID);
    assert_string_equal(err.text, "unknown name 'nil'; there are 'm', 'half', 'k'");
    assert_int_equal(err.line, -2);
    assert_int_equal(err.column, 5);
    tr_model_free(model);
}

// ---- files with keys of a case -------------------------------------------------------------

static double value_with(const char *group, const char *name, const char *case_name,
                         const char *const *texts, size_t count, const tr_setting *setting)
{
    static const char *const files[] = {"one", "two", "three"};
    return value_by(group, name,
                    &(tr_derive_options){.size = sizeof(tr_derive_options),
                                         .case_name = case_name,
                                         .settings = setting,
                                         .setting_count = setting != NULL,
                                         .with = files,
                                         .with_texts = texts,
                                         .with_count = count});
}

// file < case < with, the last of them first, < settings
static void test_with(void **state)
{
    (void)state;
    const char *const texts[] = {"set: {m: 20, push: 6}\ninitial: {cart: 8, d(arm): 4}",
                                 "\xef\xbb\xbfset: {m: 30}\nroles: {arm: passive}\nwithout: a\n",
                                 "roles: {arm: {torque: 2}}\nwithout: [b]\nguess: {d(cart): 9}\n"};
    const tr_setting m = {"m", "40"};
    assert_true(value_with("outputs", "mass", NULL, texts, 1, NULL) == 20);
    assert_true(value_with("outputs", "mass", "heavy", texts, 1, NULL) == 20);
    assert_true(value_with("outputs", "mass", "heavy", texts, 2, NULL) == 30);
    assert_true(value_with("outputs", "part", "heavy", texts, 2, NULL) == 15);
    assert_true(value_with("outputs", "mass", "heavy", texts, 3, &m) == 40);
    assert_true(value_with("outputs", "in", "heavy", texts, 3, NULL) == 6);
    assert_true(value_with("q", "cart", "heavy", texts, 2, NULL) == 8);
    assert_true(value_with("q", "arm", "heavy", texts, 2, NULL) == 0.5);
    assert_true(value_with("v", "arm_rate", "heavy", texts, 2, NULL) == 4);
    assert_true(value_with("v", "cart_rate", "heavy", texts, 3, NULL) == 9);
    // 45 x'' + 15 y'' = k and no torque; then nothing but the torque 2 = 15 (x'' + y'')
    assert_close(value_with("vdot", "cart_rate", NULL, texts, 2, NULL), 1.0 / 30, 1e-14);
    assert_close(value_with("vdot", "cart_rate", NULL, texts, 3, NULL), -2.0 / 30, 1e-14);
}

// A model without cases has what the files say, too; run options among it.
static void test_with_without_cases(void **state)
{
    (void)state;
    tr_error err = {0};
    const char *const files[] = {"x"}, *const texts[] = {"set: {m: 3}\nend: 4\nmethod: rk4\n"};
    const tr_derive_options options = {
        .size = sizeof options, .with = files, .with_texts = texts, .with_count = 1};
    System *system =
        derived(model_from("trundle: 1\nparameters: {m: 2}\nbodies:\n"
                           "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: m}\n"),
                &options);
    const tr_simulate_options o = tr_simulate_defaults(system);
    assert_true(o.end == 4 && o.every == 0.01);
    assert_string_equal(o.method, "rk4");
    assert_string_equal(tr_system_file(system, 0), "x");
    assert_null(tr_system_file(system, 1));
    char *text = tr_eval_text(system, true, &err);
    assert_non_null(text);
    tr_text_free(text);
    tr_system_free(system);
}

// Lines of the k-th count from k TR_WITH_LINES on.
static void test_bad_with(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *words;
    } cases[] = {
        {"set:\n  mm: 1", 2, 3, "there is no parameter or input 'mm'; did you mean 'm'?"},
        {"roles: {arm: {torque: 1 + nil}}", 1, 27,
         "unknown name 'nil'; there are 't', 'm', 'half', 'k', 'push', 'cart', 'cart_rate', 'arm', "
         "'arm_rate', 'mass', 'part', 'in'"},
        {"\n\ninital: {cart: 1}", 3, 1, "unknown key 'inital' in 'case'; did you mean 'initial'?"},
        {"set: {m: 1, m: 2}", 1, 13, "'m' stands here twice"},
        {"", 1, 1, "the file is empty"},
        {"set: {m: 1}\n---\nset: {m: 2}\n", 2, 1, "a case file holds one document"},
        {"set: [m, 1]", 1, 6, "'set' must be a map, written as name: value"},
        {"without: c", 1, 10, "there is no element 'c' to leave out; there are 'a', 'b'"},
    };
    Model *model = model_from(cart);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tr_error err = {0};
        const char *const files[] = {"good", "bad"}, *const texts[] = {"set: {m: 3}",
                                                                       cases[i].text};
        const tr_derive_options options = {
            .size = sizeof options, .with = files, .with_texts = texts, .with_count = 2};
        assert_null(tr_derive(model, &options, &err));
        assert_string_equal(err.text, cases[i].words);
        assert_int_equal(err.status, TR_INVALID);
        assert_int_equal(err.line, 2 * TR_WITH_LINES + cases[i].line);
        assert_int_equal(err.column, cases[i].column);
    }
    tr_error err = {0};
    const char *const files[TR_MOST_WITH + 1] = {"missing.yaml"};
    tr_derive_options options = {.size = sizeof options, .with = files, .with_count = 1};
    assert_null(tr_derive(model, &options, &err));
    assert_int_equal(err.status, TR_IO);
    err = (tr_error){0};
    options.with_count = TR_MOST_WITH + 1;
    assert_null(tr_derive(model, &options, &err));
    assert_int_equal(err.status, TR_USAGE);
    tr_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precedence),   cmocka_unit_test(test_case_changes),
        cmocka_unit_test(test_bad_variants), cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_with),         cmocka_unit_test(test_with_without_cases),
        cmocka_unit_test(test_bad_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
