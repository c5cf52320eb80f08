// SPDX-License-Identifier: Apache-2.0
// Poses on the ground: against other programs' numbers, averages against slopes, the least energy
// against a search that knows nothing but heights, forces of contacts against weights, what jumps,
// and what is refused.
#include "settle/settle.h"

#include "num/nonnegative.h"
#include "runs.h"

// ---- settling ------------------------------------------------------------------------------

typedef struct Bench {
    tr_system *system;
    tr_plan *plan;
    tr_settle *settle;
    double columns[200];
} Bench;

static Bench bench_of(tr_model *model, const tr_settle_options *o)
{
    tr_error err = {0};
    Bench b = {.system = derived(model, NULL)};
    b.plan = tr_plan_new(b.system, &err);
    b.settle = tr_settle_new(b.plan, o, &err);
    if (!b.settle) fail_msg("%s", err.text);
    assert_true(tr_settle_column_count(b.settle) <= 200);
    return b;
}

static void free_bench(Bench *b)
{
    tr_settle_free(b->settle);
    tr_plan_free(b->plan);
    tr_system_free(b->system);
}

static void settle_at(Bench *b, const double *held)
{
    tr_error err = {0};
    if (!tr_settle_pose(b->settle, held, b->columns, &err)) fail_msg("%s", err.text);
}

static double told(const Bench *b, const char *name)
{
    for (size_t i = 0; i < tr_settle_column_count(b->settle); i++)
        if (strcmp(tr_settle_column_name(b->settle, i), name) == 0) return b->columns[i];
    fail_msg("there is no column %s", name);
    return 0;
}

static double told_of(const Bench *b, const char *format, const char *contact)
{
    char name[100];
    snprintf(name, sizeof name, format, contact);
    return told(b, name);
}

static tr_settle_options by(const char *way, const char *const *holds, size_t count)
{
    tr_settle_options o = tr_settle_defaults();
    o.by = way, o.holds = holds, o.hold_count = count;
    return o;
}

static Sheet *reference(const char *name)
{
    char path[600];
    tr_error err = {0};
    snprintf(path, sizeof path, "%s/terrain/%s.csv", REFERENCE_DIR, name);
    Sheet *sheet = tr_sheet_read(path, &err);
    if (!sheet) fail_msg("%s", err.text);
    return sheet;
}

static tr_model *model_beside(const char *name) { return model_in(REFERENCE_DIR "/terrain", name); }

static const char *const at_x[] = {"x"}, *const in_plane[] = {"body.x", "body.y", "body.yaw"};

// ---- other programs' numbers ---------------------------------------------------------------

static void check_rocker_bogie(const char *name, const char *way, double A, double h)
{
    static const char *const wheels[] = {"rear", "front", "middle"};
    const tr_settle_options o = by(way, at_x, 1);
    tr_model *model = model_beside("rocker_bogie");
    change_number(model, "parameters/A", A);
    change_number(model, "parameters/h", h);
    Bench b = bench_of(model, &o);
    Sheet *sheet = reference(name);
    for (size_t i = 0; i < sheet->rows; i++) {
        const double x = at(sheet, i, "x");
        settle_at(&b, &x);
        assert_close(told(&b, "z"), at(sheet, i, "z"), 1e-9);
        assert_close(told(&b, "rocker"), at(sheet, i, "rocker"), 1e-9);
        assert_close(told(&b, "bogie"), at(sheet, i, "bogie"), 1e-9);
        assert_close(told(&b, "energy.potential"), at(sheet, i, "energy"), 1e-9);
        for (int k = 0; k < 3; k++) {
            char column[40];
            snprintf(column, sizeof column, "contact_%s", wheels[k]);
            assert_close(told_of(&b, "contact.%s.x", wheels[k]), at(sheet, i, column), 1e-9);
            snprintf(column, sizeof column, "normal_%s", wheels[k]);
            assert_close(told_of(&b, "lambda.%s.normal", wheels[k]), at(sheet, i, column), 1e-9);
        }
        assert_false(tr_settle_has_jumped(b.settle));
        assert_string_equal(tr_settle_lifted(b.settle), "");
    }
    tr_sheet_free(sheet);
    free_bench(&b);
}

static void test_rocker_bogie(void **state)
{
    (void)state;
    static const char *const ways[] = {"contact", "residual", "energy"};
    for (int k = 0; k < 3; k++) {
        check_rocker_bogie("rocker_bogie_sine", ways[k], 0.08, 0);
        check_rocker_bogie("rocker_bogie_step", ways[k], 0, 0.1);
    }
}

static const char *const corners[] = {"front_left", "front_right", "rear_left", "rear_right"};

static void check_four_wheels(const Sheet *sheet, size_t i)
{
    char text[4][60], column[10];
    const char *weights[4];
    const int kind = (int)at(sheet, i, "kind");
    const double held[] = {at(sheet, i, "x"), at(sheet, i, "y"), at(sheet, i, "yaw")};
    tr_settle_options o = by("residual", in_plane, 3);
    for (int k = 0; k < 4; k++) {
        snprintf(column, sizeof column, "w%d", k + 1);
        snprintf(text[k], sizeof text[k], "%s=%g", corners[k], at(sheet, i, column));
        weights[k] = text[k];
    }
    o.weights = weights, o.weight_count = 4, o.gap = kind == 0 ? "vertical" : "distance";
    Bench b = bench_of(model_beside(kind == 1 ? "four_balls" : "four_wheels"), &o);
    settle_at(&b, held);
    assert_close(told(&b, "body.z"), at(sheet, i, "z"), 1e-9);
    assert_close(told(&b, "body.roll"), at(sheet, i, "roll"), 1e-9);
    assert_close(told(&b, "body.pitch"), at(sheet, i, "pitch"), 1e-9);
    for (int k = 0; k < 4; k++) {
        snprintf(column, sizeof column, "gap%d", k + 1);
        assert_close(told_of(&b, "contact.%s.gap", corners[k]), at(sheet, i, column), 1e-9);
    }
    free_bench(&b);
}

static void test_four_wheels(void **state)
{
    (void)state;
    Sheet *sheet = reference("four_wheels");
    assert_int_equal(sheet->rows, 18);
    for (size_t i = 0; i < sheet->rows; i++) check_four_wheels(sheet, i);
    tr_sheet_free(sheet);
}

static void test_basic(void **state)
{
    (void)state;
    const tr_settle_options o = by("basic", in_plane, 3);
    Sheet *sheet = reference("four_wheels_basic");
    Bench b = bench_of(model_beside("four_wheels"), &o);
    for (size_t i = 0; i < sheet->rows; i++) {
        const double held[] = {at(sheet, i, "x"), at(sheet, i, "y"), at(sheet, i, "yaw")};
        double mean = 0;
        for (int k = 0; k < 4; k++) {
            static const char *const names[] = {"z1", "z2", "z3", "z4"};
            mean += at(sheet, i, names[k]) / 4;
        }
        settle_at(&b, held);
        assert_close(told(&b, "body.pitch"), -at(sheet, i, "slide_theta"), 1e-9);
        assert_close(told(&b, "body.roll"), at(sheet, i, "slide_phi"), 1e-9);
        assert_close(told(&b, "body.z"), mean + 0.2 + 0.1, 1e-9);
    }
    tr_sheet_free(sheet);
    free_bench(&b);
}

static void check_sprung(const Sheet *sheet, Bench *b, size_t i)
{
    const double held[] = {at(sheet, i, "x"), at(sheet, i, "y"), at(sheet, i, "yaw")};
    settle_at(b, held);
    assert_close(told(b, "body.z"), at(sheet, i, "z"), 1e-9);
    assert_close(told(b, "body.roll"), at(sheet, i, "roll"), 1e-9);
    assert_close(told(b, "body.pitch"), at(sheet, i, "pitch"), 1e-9);
    assert_close(told(b, "energy.potential"), at(sheet, i, "energy"), 1e-9);
    for (int k = 1; k <= 4; k++) {
        char own[40], column[10];
        snprintf(own, sizeof own, "s%d", k);
        assert_close(told(b, own), at(sheet, i, own), 1e-9);
        snprintf(own, sizeof own, "lambda.w%d.normal", k);
        snprintf(column, sizeof column, "N%d", k);
        assert_close(told(b, own), at(sheet, i, column), 1e-9);
    }
}

static void test_sprung(void **state)
{
    (void)state;
    Sheet *sheet = reference("sprung");
    tr_settle_options o = by("energy", in_plane, 3);
    Bench b = bench_of(model_beside("sprung"), &o);
    for (size_t i = 0; i < sheet->rows; i++) check_sprung(sheet, &b, i);
    free_bench(&b);
    o.by = "deflection";
    b = bench_of(model_beside("sprung"), &o);
    for (size_t i = 0; i < sheet->rows; i++) {
        const double held[] = {at(sheet, i, "x"), at(sheet, i, "y"), at(sheet, i, "yaw")};
        settle_at(&b, held);
        assert_close(told(&b, "body.z"), at(sheet, i, "slide_z"), 1e-7);
        assert_close(told(&b, "body.roll"), at(sheet, i, "slide_roll"), 1e-7);
        assert_close(told(&b, "body.pitch"), at(sheet, i, "slide_pitch"), 1e-7);
    }
    free_bench(&b);
    tr_sheet_free(sheet);
}

// ---- level ground and slopes ---------------------------------------------------------------

// Four wheels, the left ones on one rocker and the right ones on another, which turn against each
// other: as many unknowns as contacts
static const char rockers[] =
    "trundle: 1\n"
    "parameters: {slope: 0}\n"
    "ground: {height: slope*x}\n"
    "bodies:\n"
    "  body: {joint: {type: free}, mass: 30, com: \"0, 0, 0.1\", inertia: {xx: 1, yy: 1, zz: 1}}\n"
    "  left: {parent: body, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, 0.3, 0\"},\n"
    "         mass: 2, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
    "  right: {parent: body, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, -0.3, 0\"},\n"
    "          mass: 2, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
    "couplings:\n"
    "  differential: {coordinate: left, equals: {right: -1}}\n"
    "contacts:\n"
    "  a: {kind: rolling, shape: ball, body: left, at: \"0.4, 0, -0.1\", radius: 0.15}\n"
    "  b: {kind: rolling, shape: ball, body: right, at: \"0.4, 0, -0.1\", radius: 0.15}\n"
    "  c: {kind: rolling, shape: ball, body: left, at: \"-0.4, 0, -0.1\", radius: 0.15}\n"
    "  d: {kind: rolling, shape: ball, body: right, at: \"-0.4, 0, -0.1\", radius: 0.15}\n"
    "guess: {body.z: 0.3, body.qx: 0.05, left: 0.02}\n";

static void test_level(void **state)
{
    (void)state;
    static const char *const ways[] = {"basic", "contact", "residual", "energy"};
    static const double held[] = {0.7, -0.3, 0.4};
    for (int k = 0; k < 4; k++) {
        const tr_settle_options o = by(ways[k], in_plane, 3);
        Bench b = bench_of(model_from(rockers), &o);
        settle_at(&b, held);
        assert_close(told(&b, "body.z"), 0.25, 1e-12);
        assert_close(told(&b, "body.roll"), 0, 1e-12);
        assert_close(told(&b, "body.pitch"), 0, 1e-12);
        if (k) assert_close(told(&b, "left"), 0, 1e-12);
        free_bench(&b);
    }
    static const char *const sprung_ways[] = {"basic", "deflection", "energy"};
    for (int k = 0; k < 3; k++) {
        const tr_settle_options o = by(sprung_ways[k], in_plane, 3);
        tr_model *model = model_beside("sprung");
        change(model, "parameters/c", "0");
        change(model, "parameters/a", "0");
        change(model, "bodies/body/com", "0, 0, 0.15");
        const double sag = 60 * 9.81 / (4 * 4000);
        if (!k) // which knows nothing of springs
            for (int leg = 1; leg <= 4; leg++) {
                char path[20];
                snprintf(path, sizeof path, "guess/s%d", leg);
                change_number(model, path, sag);
            }
        Bench b = bench_of(model, &o);
        settle_at(&b, held);
        assert_close(told(&b, "body.z"), 0.45 - sag, 1e-12);
        assert_close(told(&b, "body.roll"), 0, 1e-12);
        assert_close(told(&b, "body.pitch"), 0, 1e-12);
        assert_close(told(&b, "s1"), sag, 1e-12);
        free_bench(&b);
    }
}

// On a slope s averages are off by s - atan(s) = s^3/3 - s^5/5 + ...
static void test_slope(void **state)
{
    (void)state;
    static const double slopes[] = {0.02, 0.05, 0.1, 0.2}, held[] = {0.7, -0.3, 0};
    for (int k = 0; k < 4; k++) {
        const double s = slopes[k];
        double pitch[2];
        for (int way = 0; way < 2; way++) {
            const tr_settle_options o = by(way ? "energy" : "basic", in_plane, 3);
            tr_model *model = model_from(rockers);
            change_number(model, "parameters/slope", s);
            Bench b = bench_of(model, &o);
            settle_at(&b, held);
            pitch[way] = told(&b, "body.pitch");
            free_bench(&b);
        }
        assert_close(pitch[1], -atan(s), 1e-12);
        assert_close(pitch[0], -s, 1e-12);
        assert_below(fabs(pitch[1] - pitch[0] - s * s * s / 3), pow(s, 5) / 5); // not a margin
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rocker_bogie), cmocka_unit_test(test_four_wheels),
        cmocka_unit_test(test_basic),        cmocka_unit_test(test_sprung),
        cmocka_unit_test(test_level),        cmocka_unit_test(test_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
