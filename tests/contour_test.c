// SPDX-License-Identifier: Apache-2.0
// Lines of equal height: each is where the height is that of its level, whole, and found once; and
// the ground below a track, where its model is to be had.
#include "expr/system.h"
#include "folder.h"
#include "models.h"
#include "view/contour.h"
#include "view/land.h"

#include <sys/stat.h>

enum { SIDE = 41 };

// What lines there are of a level, from -1 to 1 either way
typedef struct Found {
    double (*f)(double x, double y);
    double level, worst, length;
    size_t lines, closed;
} Found;

static void look(void *owner, Point *points, size_t count)
{
    Found *found = owner;
    assert_true(count >= 2);
    for (size_t i = 0; i < count; i++)
        found->worst = fmax(found->worst, fabs(found->f(points[i].x, points[i].y) - found->level));
    for (size_t i = 1; i < count; i++)
        found->length += hypot(points[i].x - points[i - 1].x, points[i].y - points[i - 1].y);
    found->lines++;
    found->closed +=
        hypot(points[0].x - points[count - 1].x, points[0].y - points[count - 1].y) == 0;
}

static Found find(double (*f)(double x, double y), double level)
{
    double heights[SIDE * SIDE];
    const double step = 2.0 / (SIDE - 1);
    for (int i = 0; i < SIDE * SIDE; i++)
        heights[i] = f(-1 + step * (i % SIDE), -1 + step * (i / SIDE));
    const Field field = {SIDE, SIDE, {-1, -1}, {step, step}, heights, 1e-9};
    Found found = {.f = f, .level = level};
    assert_true(tr_contour(&field, level, &found, look));
    return found;
}

static double cone(double x, double y) { return hypot(x, y); }
static double plain(double x, double y) { return 0.25 * x + 1e-17 * y; }
static double saddle(double x, double y) { return x * y; }
static double hills(double x, double y) { return sin(5 * x) * sin(5 * y); }
static double pond(double x, double y) { return hypot(x, y) < 0.52 ? (double)NAN : x; }
static double flat(double x, double y) { return 0 * x + 1e-17 * sin(1000 * y); }

static void test_lines(void **state)
{
    (void)state;
    const double pi = acos(-1);
    Found found = find(cone, 0.7); // a circle
    assert_int_equal(found.lines, 1);
    assert_int_equal(found.closed, 1);
    assert_true(fabs(found.length - 1.4 * pi) < 0.01 && found.worst < 1e-3); // not a margin: chords
    found = find(cone, 1.2);                                                 // four corners of one
    assert_int_equal(found.lines, 4);
    assert_int_equal(found.closed, 0);
    assert_true(fabs(found.length - 1.2 * (2 * pi - 8 * acos(1 / 1.2))) < 0.01);
    found = find(plain, 0.1);
    assert_int_equal(found.lines, 1);
    assert_close(found.length, 2, 1e-14);
    assert_close(found.worst, 0, 1e-15);
    assert_int_equal(find(plain, 0.3).lines, 0); // higher than all of it
    assert_int_equal(find(flat, 0).lines, 0);    // rounding is no relief
}

// Between two hills that touch a line goes one way or the other, and none is lost.
static void test_saddles(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        const Found found = find(saddle, sign * 0.2);
        assert_int_equal(found.lines, 2);
        assert_int_equal(found.closed, 0);
        assert_true(found.worst < 1e-3); // not a margin: chords
    }
    // Nodes are not where the saddles are, so cells have four crossings.
    const Found low = find(hills, 0.002), high = find(hills, -0.002);
    assert_int_equal(low.lines, high.lines);
    assert_true(low.worst < 0.02);
}

// One cell with two opposite corners up: what is above the level in the middle is joined.
static void test_saddle_of_a_cell(void **state)
{
    (void)state;
    const double heights[] = {1, 0, 0, 1};
    const Field field = {2, 2, {0, 0}, {1, 1}, heights, 0};
    for (int i = 0; i < 2; i++) { // 0.4 from the lower corners, then from the upper ones
        Found found = {.f = cone, .level = i ? 0.6 : 0.4};
        assert_true(tr_contour(&field, found.level, &found, look));
        assert_int_equal(found.lines, 2);
        assert_close(found.length, 2 * hypot(0.4, 0.4), 1e-14);
    }
}

// Lines end where heights do.
static void test_holes(void **state)
{
    (void)state;
    const Found found = find(pond, 0.01);
    assert_int_equal(found.lines, 2);
    assert_int_equal(found.closed, 0);
    assert_close(found.length, 0.9, 1e-14);     // from the next node outwards
    assert_int_equal(find(pond, 0.7).lines, 1); // past it
}

// ---- the ground of a run -------------------------------------------------------------------

#define MODEL(ground)                                                               \
    "trundle: 1\n" ground "parameters: {c: 0.3}\n"                                  \
    "bodies: {a: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n" \
    "contacts: {foot: {kind: slide, body: a}}\n"                                    \
    "cases: {one: {end: 1}, two: {end: 1, set: {c: 0.5}}}\n"
#define HILL  MODEL("ground: {height: c*sin(x)*cos(y), at: \"1, 0, 2\", turn: \"0, 0, pi/2\"}\n")
#define ASKEW MODEL("ground: {height: 0.1*sin(x), turn: \"0, 0.3, 0\"}\n")

// Of the model as it stands in a file
static Land *land_in(const char *where, const char *file, const char *certificate)
{
    char path[400], run[400];
    tr_error err = {0};
    snprintf(path, sizeof path, "%s%s", where, file);
    snprintf(run, sizeof run, "%srun.csv", where);
    tr_model *model = tr_model_read(path, &err);
    if (!model) fail_msg("%s", err.text);
    tr_system *system = tr_derive(model, NULL, &err);
    char hash[100];
    snprintf(hash, sizeof hash, "%s", system->source.sha256);
    tr_system_free(system);
    tr_model_free(model);
    snprintf(path, sizeof path, "%srun.json", where);
    assert_true(tr_write_text(path, certificate, &err));
    Land *land = tr_land_of(run, file, hash, &err);
    assert_int_equal(err.status, TR_OK);
    return land;
}

static void test_land(void **state)
{
    (void)state;
    tr_error err = {0};
    assert_true(tr_write_text("hill.yaml", HILL, &err));
    Land *land = land_in("", "hill.yaml", "{\"case\": \"two\", \"settings\": []}");
    assert_non_null(land);
    Random r = {5};
    for (int i = 0; i < 20; i++) { // the ground's x goes along the world's y
        const double x = random_between(&r, -3, 3), y = random_between(&r, -3, 3);
        assert_close(tr_land_height(land, x, y), 2 + 0.5 * sin(y) * cos(1 - x), 1e-13);
    }
    tr_land_free(land);
    assert_true(tr_write_text("askew.yaml", ASKEW, &err));
    land = land_in("", "askew.yaml", "{}");
    assert_non_null(land);
    for (int i = 0; i < 20; i++) {
        const double u = random_between(&r, -3, 3), v = random_between(&r, -3, 3);
        const double x = cos(0.3) * u + sin(0.3) * 0.1 * sin(u),
                     z = -sin(0.3) * u + cos(0.3) * 0.1 * sin(u);
        assert_close(tr_land_height(land, x, v), z, 1e-11);
    }
    tr_land_free(land);
}

// The other way, as well
static void test_sloping_land(void **state)
{
    (void)state;
    tr_error err = {0};
    assert_true(tr_write_text("slope.yaml",
                              MODEL("ground: {height: 0.1*sin(x), turn: \"0.2, 0, 0\"}\n"), &err));
    Land *land = land_in("", "slope.yaml", "{}");
    assert_non_null(land);
    Random r = {6};
    for (int i = 0; i < 20; i++) {
        const double u = random_between(&r, -3, 3), v = random_between(&r, -3, 3);
        const double f = 0.1 * sin(u);
        assert_close(tr_land_height(land, u, cos(0.2) * v - sin(0.2) * f),
                     sin(0.2) * v + cos(0.2) * f, 1e-11);
    }
    tr_land_free(land);
}

static void test_no_land(void **state)
{
    (void)state;
    tr_error err = {0};
    const char *const none = "0";
    assert_true(tr_write_text("flat.yaml", MODEL(""), &err));
    assert_null(land_in("", "flat.yaml", "{}"));
    assert_true(tr_write_text("broken.yaml", "trundle: 1\nbodies: [", &err));
    assert_null(tr_land_of("run.csv", "broken.yaml", none, &err));
    assert_true(tr_write_text("hill.yaml", HILL, &err));
    assert_null(tr_land_of("run.csv", "hill.yaml", none, &err)); // it has changed
    assert_null(tr_land_of("run.csv", "gone.yaml", none, &err));
    assert_null(tr_land_of("run.csv", "", none, &err));
    tr_land_free(NULL);
    assert_int_equal(err.status, TR_OK);
}

// Beside the run, or in the working folder; a way out of these leads nowhere.
static void test_places_of_models(void **state)
{
    (void)state;
    tr_error err = {0};
    assert_int_equal(mkdir("runs", 0700), 0);
    assert_true(tr_write_text("runs/hill.yaml", HILL, &err));
    remove("hill.yaml");
    Land *land = land_in("runs/", "hill.yaml", "{}");
    assert_non_null(land);
    tr_land_free(land);
    tr_model *model = tr_model_read("runs/hill.yaml", &err);
    tr_system *system = tr_derive(model, NULL, &err);
    assert_null(tr_land_of("run.csv", "hill.yaml", system->source.sha256, &err));
    assert_null(tr_land_of("run.csv", "runs/hill.yaml", system->source.sha256, &err));
    assert_true(tr_write_text("hill.yaml", HILL, &err));
    remove("runs/hill.yaml");
    land = tr_land_of("runs/run.csv", "hill.yaml", system->source.sha256, &err);
    assert_non_null(land);
    tr_land_free(land);
    tr_system_free(system);
    tr_model_free(model);
    remove("runs/run.json");
    assert_int_equal(rmdir("runs"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_saddles),
        cmocka_unit_test(test_saddle_of_a_cell),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_land),
        cmocka_unit_test(test_sloping_land),
        cmocka_unit_test(test_no_land),
        cmocka_unit_test(test_places_of_models),
    };
    return cmocka_run_group_tests(tests, enter_folder, NULL);
}
