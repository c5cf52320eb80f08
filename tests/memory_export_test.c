// SPDX-License-Identifier: Apache-2.0
// Memory that runs out (failing.h) while code is exported: no language leaves a file behind.
#include "failing.h"
#include "folder.h"
#include "models.h"

static const char into[] = "memory_export"; // a folder of the test's own folder

static const struct {
    const char *language, *form;
    bool single;
} languages[] = {
    {"c", "reduced", false}, {"c", "unreduced", false}, {"c", "reduced", true},
    {"octave", NULL, false}, {"python", NULL, false},   {"sympy", NULL, false},
    {"casadi", NULL, false}, {"fmu", NULL, false},      {"ptx", NULL, false},
    {"cuda", NULL, false},
};
enum { LANGUAGES = sizeof languages / sizeof *languages };

static tr_system *exported; // derived before memory runs out
static size_t language;     // that is at hand

// Files in the folder, which are removed
static int take_away(void)
{
    int count = 0;
    DIR *listing = opendir(into);
    for (const struct dirent *entry; listing && (entry = readdir(listing));)
        count += unlinkat(dirfd(listing), entry->d_name, 0) == 0; // not . and ..
    if (listing) closedir(listing);
    rmdir(into);
    return count;
}

static bool export_job(tr_error *err)
{
    const bool is_archive = strcmp(languages[language].language, "fmu") == 0;
    tr_export_options o = tr_export_defaults();
    o.language = languages[language].language, o.form = languages[language].form;
    o.single = languages[language].single, o.sources_only = is_archive, o.name = "board";
    o.folder = is_archive ? "memory_export.fmu" : into;
    const bool good = tr_export(exported, &o, err);
    const int files = is_archive ? unlink(o.folder) == 0 : take_away();
    assert_true(good ? files > 0 : files == 0); // all or none
    return good;
}

static void sweep_language(size_t k)
{
    language = k;
    print_message("%s: ", languages[k].language);
    sweep_some(export_job, MOST_CALLS == LONG_MAX ? LONG_MAX : BRIEF ? 40 : 150);
}

static void test_languages(void **state)
{
    (void)state;
    exported = system_called("snakeboard", NULL);
    assert_non_null(exported);
    for (size_t k = 0; k < LANGUAGES; k++) sweep_language(k);
    tr_system_free(exported);
}

// Controllers and sensors, and a stop
static void test_samples(void **state)
{
    (void)state;
    exported = system_from(
        "trundle: 1\nname: pushed\ninputs: {F: 0}\n"
        "bodies: {cart: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x, friction: 2,"
        " limits: '-0.1, 0.1'}, mass: 1}}\n"
        "roles: {x: {torque: F}}\n"
        "sensors: {seen: {of: x, period: 0.05, delay: 1, sd: 0.01}}\n"
        "controllers: {c: {period: 0.05, states: {sum: 0}, update: {sum: sum + 0.4},"
        " outputs: {F: 'sum - seen + lambda.x.friction'}}}\n");
    for (size_t k = 0; k < LANGUAGES; k++)
        if (languages[k].form || strcmp(languages[k].language, "fmu") == 0) sweep_language(k);
    tr_system_free(exported);
}

int main(int count, char **arguments)
{
    wanted = count > 1 ? atol(arguments[1]) : 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_languages),
                                       cmocka_unit_test(test_samples)};
    return cmocka_run_group_tests(tests, enter_folder, NULL);
}
