// SPDX-License-Identifier: Apache-2.0
// Descriptions of FMUs as the schemas of the standard have them, by xmllint. Schemas are in the
// folder that TR_FMI_SCHEMAS names, in fmi2/ and fmi3/; without them this test is skipped, and says
// so.
#include "fmu_solver.h"

static void check_model(const char *name, int version, const char *kind)
{
    tr_system *system = system_called(name, NULL);
    tr_export_options how = tr_export_defaults();
    how.fmi = version, how.kind = kind, how.sources_only = 1;
    export_fmu(system, &how, in_folder("m.fmu"));
    Unit unit = {.version = version,
                 .description = text_in_fmu(in_folder("m.fmu"), "modelDescription.xml", NULL)};
    assert_non_null(unit.description);
    check_description(&unit);
    free(unit.description);
    tr_system_free(system);
}

static void test_descriptions(void **state)
{
    (void)state;
    static const char *const names[] = {"bicycle",      "double_pendulum", "robot_swerve",
                                        "tyre_on_bump", "hopping_wheel",   "stick_slip"};
    static const char *const kinds[] = {NULL, "me", "cs"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int version = 2; version <= 3; version++) check_model(names[k], version, kinds[k % 3]);
}

int main(void)
{
    if (!getenv("TR_FMI_SCHEMAS") || system("xmllint --version >/dev/null 2>&1") != 0) {
        print_message("skipped: TR_FMI_SCHEMAS names no folder with schemas, or there is no "
                      "xmllint: descriptions of FMUs are not validated\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_descriptions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
