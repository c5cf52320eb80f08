// SPDX-License-Identifier: Apache-2.0
// Ground from grids of heights, against the formulas that they are samples of.
#include "alike.h"

// ---- grids ---------------------------------------------------------------------------------

static double waves(double x, double y) { return 0.1 * sin(1.2 * x) * cos(0.9 * y); }
static double hill(double x, double y) { return 0.1 - 0.3 * x + 0.2 * y; }

// Samples as a file `grid.csv` of the folder of the test, which calls the origin (x, y)
static void write_grid_at(double (*height)(double x, double y), double step, double x, double y)
{
    const int n = (int)lround(9 / step), m = (int)lround(4 / step);
    FILE *file = fopen(in_folder("grid.csv"), "w");
    assert_non_null(file);
    fprintf(file, "x/y");
    for (int k = 0; k <= m; k++) fprintf(file, ",%.17g", y - 2 + k * step);
    for (int i = 0; i <= n; i++) {
        fprintf(file, "\n%.17g", x - 2 + i * step);
        for (int k = 0; k <= m; k++) fprintf(file, ",%.17g", height(-2 + i * step, -2 + k * step));
    }
    fprintf(file, "\n");
    assert_int_equal(fclose(file), 0);
}

static void write_grid(double (*height)(double x, double y), double step)
{
    write_grid_at(height, step, 0, 0);
}

// A model of the folder of models, or of the test, whose ground is that grid
static tr_system *on_grid(const char *model)
{
    char path[600];
    tr_error err = {0};
    snprintf(path, sizeof path, "%s/%s.yaml", MODELS_DIR, model);
    char *text = read_text(path);
    write_text(in_folder("model.yaml"), text);
    free(text);
    tr_model *read = tr_model_read(in_folder("model.yaml"), &err);
    if (!read) fail_msg("%s", err.text);
    change(read, "tables/grid/file", "grid.csv");
    change(read, "tables/grid/degree", "3");
    change(read, "ground/height", "grid(x, y)");
    return system_of(read, NULL);
}

// ---- as formulas ---------------------------------------------------------------------------

// The finer the grid, the nearer. With the step h of the grid heights are off by h^4, slopes by h^3
// and curvatures by h^2: where it goes follows the slopes, and what the ground bears the curvature.
static void test_waves(void **state)
{
    (void)state;
    static const char *const places[] = {"disc.x", "disc.y", "disc.z", "contact.rim.x",
                                         "contact.rim.y"};
    const double end = 2, every = 0.002;
    Sheet *formula = run_to(system_called("disc_on_waves", NULL), end, every);
    double place_before = 0, force_before = 0;
    for (double step = 0.2; step > 0.02; step /= 2) {
        write_grid(waves, step);
        Sheet *run = run_to(on_grid("disc_on_waves"), end, every);
        double place = 0;
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            place = fmax(place, difference(run, places[i], formula, places[i]));
        const double force = difference(run, "lambda.rim.normal", formula, "lambda.rim.normal");
        print_message("step %.3f: places off by %.2e (%.1f times less), forces by %.2e (%.1f)\n",
                      step, place, place_before / place, force, force_before / force);
        if (step < 0.2) assert_true(place_before / place >= 8 && force_before / force >= 3);
        place_before = place, force_before = force;
        tr_sheet_free(run);
    }
    assert_below(place_before, 1e-8);
    tr_sheet_free(formula);
}

// Splines have planes exactly.
static void test_planes(void **state)
{
    (void)state;
    static const char *const riders[] = {"disc_on_waves", "tyre_on_bump", "ball_in_bowl"};
    write_grid(hill, 0.5);
    for (size_t i = 0; i < 3; i++) {
        tr_model *plain = model_called(riders[i]);
        change(plain, "ground/height", "0.1 - 0.3*x + 0.2*y");
        Sheet *a = run_with(system_of(plain, NULL), 0.6, 0.05, NULL);
        Sheet *b = run_with(on_grid(riders[i]), 0.6, 0.05, NULL);
        assert_below(sheets_off(a, b, i == 2), 1e-10);
        tr_sheet_free(a);
        tr_sheet_free(b);
    }
}

// Through three points along an axis there is a parabola, and through two a line: they are smooth.
static void test_few_points(void **state)
{
    (void)state;
    static const double x[] = {-2, 1, 4, 8}, y[] = {-2, 0, 1, 4};
    for (int nx = 2; nx <= 4; nx++)
        for (int ny = 2; ny <= 4; ny++) {
            char text[3][400] = {"", "", ""}, height[100];
            for (int i = 0; i < nx; i++)
                snprintf(text[0] + strlen(text[0]), 40, "%s%g", i ? ", " : "", x[i + 4 - nx]);
            for (int k = 0; k < ny; k++)
                snprintf(text[1] + strlen(text[1]), 40, "%s%g", k ? ", " : "", y[k + 4 - ny]);
            for (int i = 0; i < nx; i++)
                for (int k = 0; k < ny; k++) {
                    const double u = x[i + 4 - nx], v = y[k + 4 - ny];
                    snprintf(text[2] + strlen(text[2]), 40, "%s%.17g", i + k ? ", " : "",
                             0.02 * (nx > 2 ? u * u : u) + 0.03 * (ny > 2 ? v * v : v));
                }
            snprintf(height, sizeof height, "0.02*x^%d + 0.03*y^%d", nx > 2 ? 2 : 1,
                     ny > 2 ? 2 : 1);
            tr_model *plain = model_called("disc_on_waves"), *grid = model_called("disc_on_waves");
            change(plain, "ground/height", height);
            change(grid, "tables/grid/x", text[0]);
            change(grid, "tables/grid/y", text[1]);
            change(grid, "tables/grid/value", text[2]);
            change(grid, "tables/grid/degree", "3");
            change(grid, "tables/grid/outside", "extend");
            change(grid, "ground/height", "grid(x, y)");
            Sheet *a = run_with(system_of(plain, NULL), 0.4, 0.1, NULL);
            Sheet *b = run_with(system_of(grid, NULL), 0.4, 0.1, NULL);
            assert_below(sheets_off(a, b, false), 1e-10);
            tr_sheet_free(a);
            tr_sheet_free(b);
        }
}

// A grid need not be about the origin: the same hills elsewhere are the same run there.
static void test_elsewhere(void **state)
{
    (void)state;
    tr_error err = {0};
    write_grid(waves, 0.1);
    Sheet *here = run_to(on_grid("disc_on_waves"), 1, 0.1);
    write_grid_at(waves, 0.1, 32, -16);
    tr_model *model = tr_model_read(in_folder("model.yaml"), &err);
    if (!model) fail_msg("%s", err.text);
    change(model, "tables/grid/file", "grid.csv");
    change(model, "tables/grid/degree", "3");
    change(model, "ground/height", "grid(x, y)");
    change(model, "parameters/x0", "32.2");
    change(model, "parameters/y0", "-15.9");
    Sheet *there = run_to(system_of(model, NULL), 1, 0.1);
    assert_close(last(there, "contact.rim.x") - 32, last(here, "contact.rim.x"), 1e-9);
    assert_close(last(there, "contact.rim.y") + 16, last(here, "contact.rim.y"), 1e-9);
    assert_close(last(there, "contact.rim.z"), last(here, "contact.rim.z"), 1e-9);
    tr_sheet_free(here);
    tr_sheet_free(there);
}

// ---- where it ends -------------------------------------------------------------------------

static void test_border(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_summary s = {0};
    write_grid(waves, 0.1);
    tr_system *system = on_grid("disc_on_waves"); // it runs on to x = 12
    tr_simulate_options o = tr_simulate_defaults(system);
    o.output = in_folder("run.csv");
    assert_false(tr_simulate(system, &o, &s, &err));
    print_message("%s\n", err.text);
    assert_says(err.text, "grid");
    Sheet *run = read_sheet(o.output); // what was recorded stays
    assert_true(last(run, "contact.rim.x") < 7 && last(run, "contact.rim.x") > 6.5);
    tr_sheet_free(run);
    tr_system_free(system);
}

// One that starts beyond the border gets nowhere, and both `check` and a run say where it stands.
static void test_off_grid(void **state)
{
    (void)state;
    write_grid(waves, 0.1);
    tr_system_free(on_grid("disc_on_waves")); // whose file stays
    static const char *const names[] = {"x0", "y0"}, *const values[] = {"7.5", "-2.25"};
    static const char *const words[] = {"the table 'grid' is left by 'rim' at (7.5, 0.1) at t = 0",
                                        "the table 'grid' is left by 'rim' at (0.2, -2.25) at t = "
                                        "0"};
    for (int i = 0; i < 2; i++) {
        tr_error err = {0}, other = {0};
        tr_model *model = tr_model_read(in_folder("model.yaml"), &err);
        char path[40];
        snprintf(path, sizeof path, "parameters/%s", names[i]);
        change(model, "tables/grid/file", "grid.csv");
        change(model, "tables/grid/degree", "3");
        change(model, "ground/height", "grid(x, y)");
        change(model, path, values[i]);
        tr_system *off = system_of(model, NULL);
        tr_simulate_options o = tr_simulate_defaults(off);
        o.output = in_folder("run.csv");
        assert_false(tr_simulate(off, &o, NULL, &err));
        assert_string_equal(err.text, words[i]);
        char *text = tr_check_text(off, false, &other);
        assert_non_null(text);
        assert_int_equal(strncmp(text, "ends at the start: ", 19), 0);
        assert_string_equal(other.text, words[i]);
        tr_text_free(text);
        tr_system_free(off);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waves),      cmocka_unit_test(test_planes),
        cmocka_unit_test(test_few_points), cmocka_unit_test(test_elsewhere),
        cmocka_unit_test(test_border),     cmocka_unit_test(test_off_grid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
