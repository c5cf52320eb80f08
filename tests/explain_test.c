// SPDX-License-Identifier: Apache-2.0
// How equations were derived, told: word for word but for counts of operations, which change with
// every form, and against what `derive` says of rows, of what is free and of operations.
//
//   explain_test [golden]
#include "base/file.h"
#include "models.h"
#include "plans.h"
#include "runs.h"

static const char *const models[] = {"bicycle", "snakeboard", "four_bar", "floating_arm", "sk8o"};
enum { MODELS = sizeof models / sizeof *models };

static char *explained(const tr_system *system, const char *show, const char *language)
{
    tr_error err = {0};
    tr_equations_options o = tr_equations_defaults();
    o.show = show, o.language = language, o.title = "a model";
    char *text = tr_explain(system, &o, &err);
    if (!text) fail_msg("%s", err.text);
    return text;
}

static char *json_of(const tr_system *system)
{
    tr_error err = {0};
    char *json = tr_derive_text(system, true, &err);
    if (!json) fail_msg("%s", err.text);
    return json;
}

// ---- word for word ---------------------------------------------------------------------------

static void golden(const char *name, bool rewrite)
{
    char path[600];
    tr_system *system = system_called(name, NULL);
    char *text = explained(system, NULL, "text"), *forms = strstr(text, "\nForms\n");
    assert_non_null(forms);
    *forms = 0;
    snprintf(path, sizeof path, "%s/../tests/explained/%s.txt", MODELS_DIR, name);
    if (rewrite) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
    } else {
        char *wanted = read_text(path);
        if (strcmp(text, wanted) != 0)
            fail_msg("%s has changed: make golden, and read the difference", path);
        free(wanted);
    }
    tr_text_free(text);
    tr_system_free(system);
}

static void all_golden(bool rewrite)
{
    for (int i = 0; i < MODELS; i++) golden(models[i], rewrite);
}
static void test_golden(void **state) { (void)state, all_golden(false); }
static void rewrite_golden(void **state) { (void)state, all_golden(true); }

// ---- against derive ----------------------------------------------------------------------------

// How often a line begins with these words
static int lines_with(const char *text, const char *words)
{
    int count = 0;
    char start[200];
    snprintf(start, sizeof start, "\n  %s ", words);
    for (const char *at = text; (at = strstr(at, start)); at++) count++;
    return count;
}

// The line of a row, from its name to its end
static void line_of(const char *text, const char *row, char line[2000])
{
    char start[200];
    snprintf(start, sizeof start, "\n  %s ", row);
    const char *at = strstr(text, start);
    assert_non_null(at);
    snprintf(line, 2000, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
}

static bool is_surplus(const char *line)
{
    return strstr(line, "redundant: ") || strstr(line, "antagonist: ");
}

// Every row once: eliminated, redundant, antagonist or open; as many as derive counts
static void check_rows(const tr_system *system, const char *text, const char *json)
{
    int eliminated = 0, surplus = 0, open = 0, rows = 0;
    for (uint32_t i = 0; i < system->row_count; i++) {
        char line[2000];
        if (system->rows[i].is_speed) continue;
        assert_int_equal(lines_with(text, system->rows[i].name), 1);
        line_of(text, system->rows[i].name, line);
        rows++;
        eliminated += strstr(line, "eliminated: ") != NULL;
        surplus += is_surplus(line);
        open += strstr(line, "open at the start") != NULL;
    }
    assert_int_equal(eliminated + surplus + open, rows);
    if (!system->row_count) return;
    assert_fact(json, "rows", rows - open);
    assert_fact(json, "hyperstatic", surplus);
    for (uint32_t i = 0; i < system->dropped_count; i++)
        assert_says(strstr(text, "Dropped, for they hold"), system->dropped[i].name);
}

static void check_independent(const char *text, const char *json)
{
    char names[600] = "";
    size_t length = 0;
    const char *w = strstr(text, "\n  w = (");
    assert_non_null(w);
    for (const char *c = w + 8; *c != ')' && length < sizeof names - 1; c++)
        if (*c != ',') names[length++] = *c;
    assert_names(json, "independent", names);
}

// The one that is kept is nowhere near the longest, and what is compiled is what derive counts.
static void check_forms(const char *text, const char *json)
{
    const char *forms = strstr(text, "\nForms\n");
    if (!forms) return;
    int kept = 0;
    for (const char *at = forms; (at = strstr(at, ", kept")); at++) kept++;
    assert_int_equal(kept, 1);
    const char *last = strstr(forms, "From the state to the accelerations: ");
    const double stands = number_behind(forms, "From the state to the accelerations: "),
                 merged = number_behind(last, "as they stand, "),
                 shortened = number_behind(last, "always equal merged, "),
                 compiled = number_behind(last, "rearranged; ");
    assert_true(merged <= stands && shortened <= merged);
    assert_int_equal(compiled, number_behind(json, "\"rhs\": "));
}

static void check_model(const char *name)
{
    tr_system *system = system_called(name, NULL);
    char *text = explained(system, NULL, "text"), *json = json_of(system);
    check_rows(system, text, json);
    check_independent(text, json);
    check_forms(text, json);
    tr_text_free(text);
    tr_text_free(json);
    tr_system_free(system);
}

static void test_agrees(void **state)
{
    (void)state;
    static const char *const more[] = {
        "double_pendulum", "cart_pole",     "bricard", "car_ackermann", "hopping_wheel",
        "elastic_joint",   "flexible_mast", "snake3",  "stewart",       "bicycle_one_body"};
    for (int i = 0; i < MODELS; i++) check_model(models[i]);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) check_model(more[i]);
}

// ---- languages, and what is refused -------------------------------------------------------------

static void test_languages(void **state)
{
    (void)state;
    tr_system *system = system_called("snakeboard", NULL);
    static const char *const begins[][3] = {
        {"text", "a model\n", "\nWhat is free\n"},
        {"markdown", "# a model\n", "\n## What is free\n"},
        {"latex", "\\documentclass", "\\subsection*{What is free}"},
        {"html", "<!DOCTYPE html>", "<h2>What is free</h2>"}};
    for (int i = 0; i < 4; i++) {
        char *text = explained(system, NULL, begins[i][0]),
             *both = explained(system, "M,G", begins[i][0]);
        assert_int_equal(strncmp(text, begins[i][1], strlen(begins[i][1])), 0);
        assert_says(text, begins[i][2]);
        assert_null(strstr(text, "the mass matrix, M"));
        // the same, then the equations, and the end once
        const char *end = i == 2 ? "\\end{document}\n" : i == 3 ? "</body></html>\n" : "";
        const size_t body = strlen(text) - strlen(end);
        assert_int_equal(strncmp(text, both, body), 0);
        assert_says(both + body, "M, the mass matrix");
        assert_string_equal(both + strlen(both) - strlen(end), end);
        if (*end) assert_true(strstr(both, end) == both + strlen(both) - strlen(end));
        tr_text_free(text);
        tr_text_free(both);
    }
    tr_error err = {0};
    tr_equations_options o = tr_equations_defaults();
    o.language = "latin";
    assert_null(tr_explain(system, &o, &err));
    assert_string_equal(err.text,
                        "equations are not written in 'latin', but in text, markdown, latex, html");
    err = (tr_error){0};
    o.language = "text", o.show = "M,x";
    assert_null(tr_explain(system, &o, &err));
    assert_says(err.text, "there are no equations 'x'");
    assert_null(tr_explain(NULL, NULL, &(tr_error){0}));
    tr_system_free(system);
    system = system_called("robot_swerve", "drive");
    err = (tr_error){0};
    assert_null(tr_explain(system, NULL, &err));
    assert_string_equal(err.text, "equations are those of second order: --order 2");
    tr_system_free(system);
}

// Joints in steps, motors and what is told how to move are told as that.
static void test_words(void **state)
{
    (void)state;
    tr_system *system = system_from(
        "trundle: 1\nbodies:\n"
        "  mast: {joint: {type: universal, axis: \"1, 0, 0\", second: \"0, 1, 0\"}, mass: 1, com: "
        "\"0, 0, 1\"}\n"
        "  arm: {parent: mast, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: lift, "
        "elastic: "
        "{stiffness: 10, inertia: 0.1}}, mass: 1, com: \"1, 0, 0\"}\n"
        "  hand: {parent: arm, joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}\n"
        "  cap: {parent: hand, mass: 0.1}\n"
        "roles: {lift: {torque: 1}, hand: {motion: 0.1*sin(t)}}\n");
    char *text = explained(system, NULL, "text");
    static const char *const said[] = {
        "mast, on the world, turns about two axes: two joints, one behind the other with nothing "
        "between (T360): mast.a, mast.b; mast.a_rate, mast.b_rate\n",
        "arm, on mast, turns about an axis (T5, T6 [M 1, 2]): lift\n",
        "lift.motor is a motor behind a spring, with a coordinate of its own (T8): lift.motor; "
        "driven by a torque or a force\n",
        "hand, on arm, slides along an axis (T5, T6 [M 1, 2]): hand; it is told how to move, so "
        "its "
        "force is found (T3, T256, T76)\n",
        "cap is fixed to hand\n",
        "There are none: all velocities are free.\n"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) assert_says(text, said[i]);
    assert_null(strstr(text, "mast.a.between"));
    tr_text_free(text);
    tr_system_free(system);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "golden") == 0) {
        const struct CMUnitTest rewriting[] = {cmocka_unit_test(rewrite_golden)};
        return cmocka_run_group_tests(rewriting, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_agrees),
        cmocka_unit_test(test_languages),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
