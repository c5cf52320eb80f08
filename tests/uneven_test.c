// SPDX-License-Identifier: Apache-2.0
// Vehicles that are locked as soon as their wheels stand in no one plane: what the doctor says,
// against ranks of rows that are written by hand, with slopes of the test's own.
#include "base/random.h"
#include "runs.h"

// ---- by hand -------------------------------------------------------------------------------

enum { MOST_STANDS = 6, MOST_ROWS = 3 * MOST_STANDS, MOST_RATES = 6 + MOST_STANDS };

// A wheel with its axle across `heading`, or a foot, at (x, y) of a rigid body
typedef struct Stand {
    double x, y, heading;
    enum { ROLLS, SLIPS, SLIDES } how; // as a wheel, one that slips aside, a foot
} Stand;

typedef struct Vehicle {
    const char *name;
    Stand at[MOST_STANDS];
    int count;
} Vehicle;

static const double r = 0.2;

static void cross_of(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static double dot_of(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Of the speed along d of the point p of the body, with the spin of its own about `axle`
static void put_row(double *row, const double d[3], const double p[3], int spin,
                    const double arm[3], const double axle[3])
{
    double moment[3], run[3];
    cross_of(p, d, moment);
    for (int k = 0; k < 3; k++) row[k] = d[k], row[3 + k] = moment[k];
    if (spin < 0) return;
    cross_of(axle, arm, run);
    row[6 + spin] = dot_of(d, run);
}

// Rows of one, where the ground has the slopes given; how many
static int put_stand(const Stand *s, int spin, const double slope[2], double (*rows)[MOST_RATES])
{
    const double w = sqrt(1 + slope[0] * slope[0] + slope[1] * slope[1]);
    const double n[] = {-slope[0] / w, -slope[1] / w, 1 / w},
                 a[] = {-sin(s->heading), cos(s->heading), 0};
    if (s->how == SLIDES) {
        const double p[] = {s->x, s->y, -r};
        put_row(rows[0], n, p, -1, NULL, NULL);
        return 1;
    }
    const double lean = dot_of(n, a), size = sqrt(1 - lean * lean);
    double arm[3], l[3], m[3], p[3];
    for (int k = 0; k < 3; k++) arm[k] = r * (lean * a[k] - n[k]) / size;
    cross_of(a, n, l);
    for (int k = 0; k < 3; k++) l[k] /= size, p[k] = arm[k] + (k == 0 ? s->x : k == 1 ? s->y : 0);
    cross_of(n, l, m);
    put_row(rows[0], n, p, spin, arm, a);
    put_row(rows[1], l, p, spin, arm, a);
    if (s->how != SLIPS) put_row(rows[2], m, p, spin, arm, a);
    return s->how == SLIPS ? 2 : 3;
}

// By elimination with the largest pivot of all
static int rank_of(double (*A)[MOST_RATES], int rows, int columns)
{
    for (int rank = 0; rank < rows; rank++) {
        int row = rank, column = rank;
        double most = 0;
        for (int i = rank; i < rows; i++)
            for (int k = rank; k < columns; k++)
                if (fabs(A[i][k]) > most) most = fabs(A[i][k]), row = i, column = k;
        if (most < 1e-9) return rank;
        for (int k = 0; k < columns; k++) {
            const double x = A[rank][k];
            A[rank][k] = A[row][k], A[row][k] = x;
        }
        for (int i = 0; i < rows; i++) {
            const double x = A[i][rank];
            A[i][rank] = A[i][column], A[i][column] = x;
        }
        for (int i = rank + 1; i < rows; i++)
            for (int k = columns; k-- > rank;) A[i][k] -= A[i][rank] / A[rank][rank] * A[rank][k];
    }
    return rows;
}

static int wheels_of(const Vehicle *v)
{
    int wheels = 0;
    for (int i = 0; i < v->count; i++) wheels += v->at[i].how != SLIDES;
    return wheels;
}

static int rank_on(const Vehicle *v, double steep)
{
    double A[MOST_ROWS + 1][MOST_RATES] = {{0}};
    int rows = 0, spin = 0;
    uint32_t random = 4711;
    for (int i = 0; i < v->count; i++) {
        double slope[2];
        for (int k = 0; k < 2; k++) slope[k] = steep * next_random(&random);
        rows += put_stand(&v->at[i], v->at[i].how == SLIDES ? -1 : spin++, slope, A + rows);
    }
    return rank_of(A, rows, 6 + wheels_of(v));
}

// ---- by the doctor -------------------------------------------------------------------------

static char *doctor_of(const Vehicle *v, const char *ground, const char *more)
{
    char text[4000];
    size_t n =
        (size_t)snprintf(text, sizeof text,
                         "trundle: 1\nground: {%s}\nbodies:\n"
                         "  car: {joint: {type: free}, mass: 9, inertia: {xx: 1, yy: 1, zz: 1}}\n",
                         ground);
    for (int i = 0; i < v->count; i++)
        if (v->at[i].how != SLIDES)
            n += (size_t)snprintf(
                text + n, sizeof text - n,
                "  w%d: {parent: car, joint: {type: revolute, axis: \"%.17g, %.17g, "
                "0\", at: \"%g, %g, 0\"}, mass: 1, inertia: {axial: 0.02, radial: "
                "0.01}}\n",
                i, -sin(v->at[i].heading), cos(v->at[i].heading), v->at[i].x, v->at[i].y);
    n += (size_t)snprintf(text + n, sizeof text - n, "contacts:\n");
    for (int i = 0; i < v->count; i++)
        n += v->at[i].how == SLIDES
                 ? (size_t)snprintf(text + n, sizeof text - n,
                                    "  c%d: {kind: slide, body: car, at: \"%g, %g, -0.2\"%s}\n", i,
                                    v->at[i].x, v->at[i].y, more)
                 : (size_t)snprintf(text + n, sizeof text - n,
                                    "  c%d: {kind: rolling, body: w%d, radius: 0.2%s%s}\n", i, i,
                                    v->at[i].how == SLIPS ? ", lateral: free" : "", more);
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "initial: {car.x: 0, car.y: 0, car.qz: 0}\nguess: {car.z: 0.2}\n");
    assert_true(n < sizeof text);
    tr_error err = {0};
    tr_system *system = system_from(text);
    char *told = tr_check_text(system, false, &err);
    if (!told) fail_msg("%s: %s", v->name, err.text);
    tr_system_free(system);
    return told;
}

static const Vehicle vehicles[] = {
    {"cart",
     {{1, 0.5, 0, ROLLS}, {1, -0.5, 0, ROLLS}, {-1, 0.5, 0, ROLLS}, {-1, -0.5, 0, ROLLS}},
     4},
    {"cart, front slips",
     {{1, 0.5, 0, SLIPS}, {1, -0.5, 0, SLIPS}, {-1, 0.5, 0, ROLLS}, {-1, -0.5, 0, ROLLS}},
     4},
    {"cart, one of each slips",
     {{1, 0.5, 0, SLIPS}, {1, -0.5, 0, ROLLS}, {-1, 0.5, 0, SLIPS}, {-1, -0.5, 0, ROLLS}},
     4},
    {"cart, all slip",
     {{1, 0.5, 0, SLIPS}, {1, -0.5, 0, SLIPS}, {-1, 0.5, 0, SLIPS}, {-1, -0.5, 0, SLIPS}},
     4},
    {"bicycle", {{1, 0, 0, ROLLS}, {-1, 0, 0, ROLLS}}, 2},
    {"steered bicycle", {{1, 0, 0.3, ROLLS}, {-1, 0, 0, ROLLS}}, 2},
    {"tricycle", {{1, 0, 0.3, ROLLS}, {-1, 0.5, 0, ROLLS}, {-1, -0.5, 0, ROLLS}}, 3},
    {"tricycle, one slips", {{1, 0, 0.3, ROLLS}, {-1, 0.5, 0, ROLLS}, {-1, -0.5, 0, SLIPS}}, 3},
    {"two wheels and a foot", {{0, 0.5, 0, ROLLS}, {0, -0.5, 0, ROLLS}, {-1, 0, 0, SLIDES}}, 3},
    {"two wheels and two feet",
     {{0, 0.5, 0, ROLLS}, {0, -0.5, 0, ROLLS}, {-1, 0, 0, SLIDES}, {1, 0, 0, SLIDES}},
     4},
    {"three feet", {{1, 0, 0, SLIDES}, {-1, 1, 0, SLIDES}, {-1, -1, 0, SLIDES}}, 3},
    {"four feet",
     {{1, 1, 0, SLIDES}, {1, -1, 0, SLIDES}, {-1, 1, 0, SLIDES}, {-1, -1, 0, SLIDES}},
     4},
    {"six feet",
     {{1, 1, 0, SLIDES},
      {1, -1, 0, SLIDES},
      {-1, 1, 0, SLIDES},
      {-1, -1, 0, SLIDES},
      {0, 1.2, 0, SLIDES},
      {0, -1.3, 0, SLIDES}},
     6},
};
enum { VEHICLES = sizeof vehicles / sizeof *vehicles };

static void test_ranks(void **state)
{
    (void)state;
    int locked = 0;
    for (int i = 0; i < VEHICLES; i++) {
        const Vehicle *v = &vehicles[i];
        const int n = 6 + wheels_of(v), here = rank_on(v, 0), there = rank_on(v, 0.1);
        static const char *const grounds[] = {"", "height: 0*x"};
        for (int k = 0; k < 2; k++) {
            char *told = doctor_of(v, grounds[k], ""), words[120];
            const char *line = strstr(told, "locked on uneven ground: ");
            print_message("%s: %d, %d of %d\n", v->name, here, there, n);
            snprintf(words, sizeof words, "leave %d degree%s of freedom instead of %d\n", n - there,
                     n - there == 1 ? "" : "s", n - here);
            if (there > here) assert_non_null(line), assert_says(line, words);
            if (there == here) assert_null(line);
            tr_text_free(told);
        }
        locked += there > here;
    }
    assert_true(locked > 3 && locked < VEHICLES - 3);
}

// What may lift off locks nothing; what cannot leave its plane knows no other.
static void test_silence(void **state)
{
    (void)state;
    for (int i = 0; i < VEHICLES; i++) {
        char *told = doctor_of(&vehicles[i], "", ", unilateral: true");
        assert_null(strstr(told, "locked on uneven"));
        tr_text_free(told);
    }
    static const char *const models[] = {"differential_drive", "bicycle", "sleigh", "snakeboard",
                                         "rolling_disc"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        tr_error err = {0};
        tr_system *system = system_called(models[i], NULL);
        char *told = tr_check_text(system, false, &err);
        assert_non_null(told);
        assert_null(strstr(told, "locked on uneven"));
        tr_text_free(told);
        tr_system_free(system);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks),
                                       cmocka_unit_test(test_silence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
