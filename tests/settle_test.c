// SPDX-License-Identifier: Apache-2.0
// Poses on the ground: against other programs' numbers, averages against slopes, the least energy
// against a search that knows nothing but heights, forces of contacts against weights, and what
// jumps.
#include "base/file.h"
#include "base/json.h"
#include "settling.h"

static Sheet *reference(const char *name)
{
    char path[600];
    tr_error err = {0};
    snprintf(path, sizeof path, "%s/terrain/%s.csv", REFERENCE_DIR, name);
    Sheet *sheet = tr_sheet_read(path, &err);
    if (!sheet) fail_msg("%s", err.text);
    return sheet;
}

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

// ---- legs that level -----------------------------------------------------------------------

// Four legs with balls for feet, each moved by itself
static const char legs[] =
    "trundle: 1\n"
    "parameters: {a: 0.2, b: -0.35}\n"
    "ground: {height: a*x + b*y}\n"
    "bodies:\n"
    "  body: {joint: {type: free}, mass: 30, inertia: {xx: 1, yy: 1, zz: 1}}\n"
    "  fl: {parent: body, joint: {type: prismatic, axis: \"0, 0, 1\", at: \"0.5, 0.3, -0.2\"}, "
    "mass: 1}\n"
    "  fr: {parent: body, joint: {type: prismatic, axis: \"0, 0, 1\", at: \"0.5, -0.3, -0.2\"}, "
    "mass: 1}\n"
    "  rl: {parent: body, joint: {type: prismatic, axis: \"0, 0, 1\", at: \"-0.4, 0.3, -0.2\"}, "
    "mass: 1}\n"
    "  rr: {parent: body, joint: {type: prismatic, axis: \"0, 0, 1\", at: \"-0.4, -0.3, -0.2\"}, "
    "mass: 1}\n"
    "contacts:\n"
    "  fl: {kind: rolling, shape: ball, body: fl, radius: 0.05}\n"
    "  fr: {kind: rolling, shape: ball, body: fr, radius: 0.05}\n"
    "  rl: {kind: rolling, shape: ball, body: rl, radius: 0.05}\n"
    "  rr: {kind: rolling, shape: ball, body: rr, radius: 0.05}\n"
    "guess: {body.z: 0.3, body.qx: 0.02}\n";

static void test_legs_that_level(void **state)
{
    (void)state;
    static const char *const holds[] = {"body.x", "body.y", "body.yaw", "fl=0.04"};
    static const double held[] = {0.6, -1.1, 0, 0.04};
    const tr_settle_options o = by("level", holds, 4);
    Bench b = bench_of(model_from(legs), &o);
    settle_at(&b, held);
    assert_close(told(&b, "body.roll"), 0, 1e-12);
    assert_close(told(&b, "body.pitch"), 0, 1e-12);
    // the plane below the middles of the balls rises by a and b
    assert_close(told(&b, "fr") - 0.04, -0.35 * -0.6, 1e-12);
    assert_close(told(&b, "rl") - 0.04, 0.2 * -0.9, 1e-12);
    assert_close(told(&b, "rr") - 0.04, -0.35 * -0.6 + 0.2 * -0.9, 1e-12);
    const double height = 0.2 * 1.1 - 0.35 * -0.8 + 0.05 * sqrt(1 + 0.2 * 0.2 + 0.35 * 0.35);
    assert_close(told(&b, "body.z"), height + 0.2 - 0.04, 1e-12);
    free_bench(&b);
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

// ---- the least energy ----------------------------------------------------------------------

// Ground of three waves in all directions
typedef struct Waves {
    double a[3], kx[3], ky[3], phase[3];
} Waves;

static double height_of(const Waves *w, double x, double y, double slope[2])
{
    double f = slope[0] = slope[1] = 0;
    for (int k = 0; k < 3; k++) {
        const double angle = w->kx[k] * x + w->ky[k] * y + w->phase[k];
        f += w->a[k] * sin(angle);
        slope[0] += w->a[k] * w->kx[k] * cos(angle);
        slope[1] += w->a[k] * w->ky[k] * cos(angle);
    }
    return f;
}

#define BALL 0.2

// How high the middle of a ball is that is let down at (x, y): the ground that it meets first is
// where height and ball together are highest, which is one place where the ball is rounder.
static double lowest_middle(const Waves *w, double x, double y)
{
    double u = 0, v = 0, slope[2];
    for (int k = 0; k < 60; k++) {
        height_of(w, x + u, y + v, slope);
        const double size = sqrt(1 + slope[0] * slope[0] + slope[1] * slope[1]);
        const double far = fabs(BALL * slope[0] / size - u) + fabs(BALL * slope[1] / size - v);
        u = BALL * slope[0] / size, v = BALL * slope[1] / size;
        if (far < 1e-15) break;
    }
    return height_of(w, x + u, y + v, slope) + sqrt(BALL * BALL - u * u - v * v);
}

static const double hubs[4][3] = {
    {0.5, 0.4, -0.1}, {0.5, -0.4, -0.1}, {-0.5, 0.4, -0.1}, {-0.5, -0.4, -0.1}};
static const double mass_centre[3] = {0.03, 0.02, 0.2};

// Of R = Ry(pitch) Rx(roll)
static void turn(double roll, double pitch, const double a[3], double out[3])
{
    const double y = cos(roll) * a[1] - sin(roll) * a[2], z = sin(roll) * a[1] + cos(roll) * a[2];
    out[0] = cos(pitch) * a[0] + sin(pitch) * z;
    out[1] = y;
    out[2] = -sin(pitch) * a[0] + cos(pitch) * z;
}

// How high a body has to be that is turned so, and how high its mass centre is then
static double height_turned(const Waves *w, double roll, double pitch, double *z)
{
    double arm[3];
    *z = -(double)INFINITY;
    for (int k = 0; k < 4; k++) {
        turn(roll, pitch, hubs[k], arm);
        *z = fmax(*z, lowest_middle(w, arm[0], arm[1]) - arm[2]);
    }
    turn(roll, pitch, mass_centre, arm);
    return *z + arm[2];
}

// The least of a function between a and b, by golden sections, to within a share of the two
static double least_between(double (*f)(void *owner, double x), void *owner, double a, double b,
                            double within)
{
    const double share = (sqrt(5) - 1) / 2;
    double x = b - share * (b - a), y = a + share * (b - a), low = f(owner, x), high = f(owner, y);
    for (within *= b - a; b - a > within;) {
        if (low < high) {
            b = y, y = x, high = low;
            x = b - share * (b - a), low = f(owner, x);
        } else {
            a = x, x = y, low = high;
            y = a + share * (b - a), high = f(owner, y);
        }
    }
    return (a + b) / 2;
}

// Angles around a pair of them
typedef struct Turning {
    const Waves *w;
    double roll, pitch, middle, range, within;
} Turning;

static double by_pitch(void *owner, double pitch)
{
    const Turning *t = owner;
    double z;
    return height_turned(t->w, t->roll, pitch, &z);
}

static double by_roll(void *owner, double roll)
{
    Turning *t = owner;
    t->roll = roll;
    t->pitch = least_between(by_pitch, t, t->middle - t->range, t->middle + t->range, t->within);
    return by_pitch(t, t->pitch);
}

// The lowest for angles within a range of these: they change. How high the mass centre is there
static double search(const Waves *w, double range, double within, double angles[2])
{
    Turning t = {.w = w, .middle = angles[1], .range = range, .within = within};
    const double roll = least_between(by_roll, &t, angles[0] - range, angles[0] + range, within);
    const double least = by_roll(&t, roll);
    angles[0] = roll, angles[1] = t.pitch;
    return least;
}

static const char on_waves[] =
    "trundle: 1\n"
    "parameters: {a1: 0, a2: 0, a3: 0, kx1: 0, kx2: 0, kx3: 0, ky1: 0, ky2: 0, ky3: 0,\n"
    "             phase1: 0, phase2: 0, phase3: 0}\n"
    "ground: {height: a1*sin(kx1*x + ky1*y + phase1) + a2*sin(kx2*x + ky2*y + phase2)\n"
    "                 + a3*sin(kx3*x + ky3*y + phase3)}\n"
    "bodies:\n"
    "  body: {joint: {type: free}, mass: 50, com: \"0.03, 0.02, 0.2\",\n"
    "         inertia: {xx: 2, yy: 3, zz: 4}}\n"
    "contacts:\n"
    "  a: {kind: rolling, shape: ball, body: body, at: \"0.5, 0.4, -0.1\", radius: 0.2}\n"
    "  b: {kind: rolling, shape: ball, body: body, at: \"0.5, -0.4, -0.1\", radius: 0.2}\n"
    "  c: {kind: rolling, shape: ball, body: body, at: \"-0.5, 0.4, -0.1\", radius: 0.2}\n"
    "  d: {kind: rolling, shape: ball, body: body, at: \"-0.5, -0.4, -0.1\", radius: 0.2}\n"
    "guess: {body.z: 0.3}\n";

static tr_model *model_on(const Waves *w)
{
    static const char *const names[] = {"a", "kx", "ky", "phase"};
    const double *const numbers[] = {w->a, w->kx, w->ky, w->phase};
    tr_model *model = model_from(on_waves);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            char path[40];
            snprintf(path, sizeof path, "parameters/%s%d", names[i], k + 1);
            change_number(model, path, numbers[i][k]);
        }
    return model;
}

static Waves random_waves(Random *r)
{
    Waves w;
    for (int k = 0; k < 3; k++) {
        w.a[k] = random_between(r, 0.01, 0.05);
        w.kx[k] = random_between(r, -2.5, 2.5), w.ky[k] = random_between(r, -2.5, 2.5);
        w.phase[k] = random_between(r, 0, 6);
    }
    return w;
}

static const char *const one_place[] = {"body.x=0", "body.y=0", "body.yaw=0"};

// By nothing but how high balls are that are let down: the pose is lowest among all those beside
// it, and nearly always among all of them.
static void test_brute_force(void **state)
{
    (void)state;
    Random r = {2027};
    const int grounds = BRIEF ? 20 : 200;
    int lifted = 0, others = 0, same = 0;
    for (int i = 0; i < grounds; i++) {
        const Waves w = random_waves(&r);
        const tr_settle_options o = by("energy", one_place, 3);
        Bench b = bench_of(model_on(&w), &o);
        settle_at(&b, NULL);
        const double own[] = {told(&b, "body.roll"), told(&b, "body.pitch")};
        double beside[] = {own[0] + 1e-3, own[1] - 2e-3}, all[] = {0, 0}, z;
        const double height = height_turned(&w, own[0], own[1], &z);
        assert_close(z, told(&b, "body.z"), 1e-12); // nothing is in the ground, or above it
        const double least = search(&w, 0.02, 1e-9, beside);
        assert_below(height - least, 1e-9); // it may be lower: golden sections see one hollow
        same += is_close(own[0], beside[0], 1e-7) && is_close(own[1], beside[1], 1e-7);
        others += search(&w, 0.5, 1e-4, all) < height - 1e-6;
        lifted += tr_settle_lifted(b.settle)[0] != 0;
        free_bench(&b);
    }
    print_message("%d of %d poses have a wheel in the air; %d are those that a search beside them "
                  "finds, %d have a lower one further away\n",
                  lifted, grounds, same, others);
    assert_true(same > grounds * 9 / 10);
    assert_true(lifted > grounds / 2);
    assert_true(others <= grounds / 50);
}

// A wheel in the air: the others carry the weight, and its moments about the body's origin, where
// what is held gives level forces, and a moment along how the heading changes with turns of the
// body: (tan(pitch), 0, 1).
static void test_balance(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d"};
    Random r = {77};
    const double W = 50 * 9.81;
    for (int i = 0; i < 20; i++) {
        const Waves w = random_waves(&r);
        const tr_settle_options o = by("energy", one_place, 3);
        Bench b = bench_of(model_on(&w), &o);
        settle_at(&b, NULL);
        double up = 0, moment[3] = {0}, arm[3], slope[2];
        for (int k = 0; k < 4; k++) {
            const double N = told_of(&b, "lambda.%s.normal", names[k]),
                         at[] = {told_of(&b, "contact.%s.x", names[k]),
                                 told_of(&b, "contact.%s.y", names[k]),
                                 told_of(&b, "contact.%s.z", names[k]) - told(&b, "body.z")};
            assert_true(N >= 0);
            assert_true(told_of(&b, "contact.%s.gap", names[k]) > -1e-12);
            if (strstr(tr_settle_lifted(b.settle), names[k])) assert_true(N == 0);
            height_of(&w, at[0], at[1], slope);
            const double n = N / sqrt(1 + slope[0] * slope[0] + slope[1] * slope[1]);
            up += n;
            moment[0] += at[1] * n + at[2] * slope[1] * n;
            moment[1] += -at[2] * slope[0] * n - at[0] * n;
            moment[2] += -at[0] * slope[1] * n + at[1] * slope[0] * n;
        }
        turn(told(&b, "body.roll"), told(&b, "body.pitch"), mass_centre, arm);
        assert_close(up / W, 1, 1e-10);
        const double held = moment[2] * tan(told(&b, "body.pitch"));
        assert_close((moment[0] - held) / W, arm[1], 1e-10);
        assert_close(moment[1] / W, -arm[0], 1e-10);
        free_bench(&b);
    }
}

// On level ground weight has no second slopes: what is held is all there is to go by.
static void test_weight_alone(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\nbodies: {cart: {mass: 9, inertia: {xx: 0.2, yy: 0.3, zz: 0.4}, "
        "joint: {type: free}}}\n"
        "contacts:\n"
        "  a: {kind: rolling, shape: ball, body: cart, at: \"0.3, 0, 0\", radius: 0.1}\n"
        "  b: {kind: rolling, shape: ball, body: cart, at: \"-0.3, 0.2, 0\", radius: 0.1}\n"
        "  c: {kind: rolling, shape: ball, body: cart, at: \"-0.3, -0.2, 0\", radius: 0.1}\n"
        "guess: {cart.z: 0.1}\n";
    static const char *const holds[] = {"cart.x=0.1", "cart.y=0", "cart.yaw=0"};
    const tr_settle_options o = by("energy", holds, 3);
    Bench b = bench_of(model_from(text), &o);
    settle_at(&b, NULL);
    assert_close(told(&b, "cart.z"), 0.1, 1e-13);
    assert_close(told_of(&b, "lambda.%s.normal", "a"), 9 * 9.81 / 2, 1e-10);
    assert_close(told_of(&b, "lambda.%s.normal", "b"), 9 * 9.81 / 4, 1e-10);
    free_bench(&b);
}

// Waves are alike wherever they are, however far that is, and at any altitude: from the start, and
// from another pose.
static void test_far(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\nparameters: {up: 0}\n"
        "ground: {height: \"up + 0.05*sin(3*x)*cos(2*y)\"}\n"
        "bodies: {cart: {mass: 9, com: \"0, 0, 0.1\", inertia: {xx: 0.2, yy: 0.3, zz: 0.4}, "
        "joint: {type: free}}}\n"
        "contacts:\n"
        "  a: {kind: rolling, shape: ball, body: cart, at: \"0.3, 0, 0\", radius: 0.1}\n"
        "  b: {kind: rolling, shape: ball, body: cart, at: \"-0.3, 0.2, 0\", radius: 0.1}\n"
        "  c: {kind: rolling, shape: ball, body: cart, at: \"-0.3, -0.2, 0\", radius: 0.1}\n"
        "guess: {cart.z: 0.1}\n";
    static const char *const holds[] = {"cart.x", "cart.y", "cart.yaw"};
    static const char *const ways[] = {"contact", "residual", "energy"};
    for (int k = 0; k < 6; k++) {
        const double up = k < 3 ? 0 : 300, turns = 2 * M_PI / 3, near[] = {0.2, 0.1, 2},
                     far[] = {0.2 + 40 * turns, 0.1 - 50 * M_PI, 2 - 2 * M_PI};
        const tr_settle_options o = by(ways[k % 3], holds, 3);
        tr_model *model = model_from(text);
        change_number(model, "parameters/up", up);
        Bench b = bench_of(model, &o);
        settle_at(&b, near);
        const double z = told(&b, "cart.z") - up, roll = told(&b, "cart.roll");
        for (int again = 0; again < 2; again++) {
            settle_at(&b, far);
            assert_close(told(&b, "cart.z") - up, z, 1e-10);
            assert_close(told(&b, "cart.roll"), roll, 1e-10);
            tr_settle_restart(b.settle);
        }
        free_bench(&b);
    }
}

// A ball rolls down to the bottom of its bowl, however it is turned.
static void test_bowl(void **state)
{
    (void)state;
    const tr_settle_options o = by("energy", NULL, 0);
    Bench b = bench_of(model_called("ball_in_bowl"), &o);
    settle_at(&b, NULL);
    assert_close(told(&b, "ball.x"), 0, 1e-12);
    assert_close(told(&b, "ball.y"), 0, 1e-12);
    assert_close(told(&b, "contact.foot.friction_needed"), 0, 1e-12);
    free_bench(&b);
}

// ---- paths ---------------------------------------------------------------------------------

typedef struct Told {
    size_t count, row;
    char words[400];
} Told;

static void remember(void *owner, size_t row, const char *words)
{
    Told *t = owner;
    t->count++, t->row = row;
    snprintf(t->words, sizeof t->words, "%s", words);
}

// Rows of x from a first to a last one, as a file
static const char *write_path(const char *name, double from, double to, int rows)
{
    Buffer text = {0};
    tr_error err = {0};
    const char *path = in_folder(name);
    tr_buffer_print(&text, "x\n");
    for (int i = 0; i < rows; i++) {
        tr_buffer_number(&text, from + (to - from) * i / (rows - 1));
        tr_buffer_print(&text, "\n");
    }
    if (!tr_write_text(path, text.at, &err)) fail_msg("%s", err.text);
    tr_buffer_free(&text);
    return path;
}

// Over waves each row is the pose that is found there by itself.
static void test_path(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system;
    tr_plan *plan = plan_of(model_beside("rocker_bogie"), &system);
    tr_settle_summary summary;
    Told told = {0};
    tr_settle_options o = by("energy", NULL, 0);
    o.tell = remember, o.owner = &told;
    const char *in = write_path("places.csv", -1, 1, 41);
    const char *out = in_folder("poses.csv");
    assert_true(tr_settle_path(plan, &o, in, out, NULL, &summary, &err));
    assert_int_equal(summary.poses, 41);
    assert_int_equal(summary.failures + summary.jumps + told.count, 0);
    Sheet *rows = tr_sheet_read(out, &err), *sheet = reference("rocker_bogie_sine");
    for (size_t i = 0; i < rows->rows; i++) {
        assert_close(at(rows, i, "z"), at(sheet, i, "z"), 1e-9);
        assert_close(at(rows, i, "bogie"), at(sheet, i, "bogie"), 1e-9);
    }
    tr_sheet_free(rows);
    tr_sheet_free(sheet);
    tr_plan_free(plan);
    tr_system_free(system);
}

// A kerb that is higher than the wheels: the front ones climb it at once.
static void test_jump(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_model *model = model_beside("rocker_bogie");
    change(model, "parameters/A", "0");
    change(model, "parameters/h", "0.2");
    change(model, "parameters/w", "0.02");
    tr_system *system;
    tr_plan *plan = plan_of(model, &system);
    tr_settle_summary summary;
    Told told = {0};
    tr_settle_options o = by("energy", NULL, 0);
    o.tell = remember, o.owner = &told;
    tr_settle_path(plan, &o, write_path("kerb.csv", -0.4, 0.1, 11), in_folder("climbed.csv"), NULL,
                   &summary, &err);
    assert_int_equal(err.status, TR_OK);
    assert_int_equal(summary.jumps, 1);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.row, 5);
    assert_non_null(strstr(told.words, "another branch"));
    tr_plan_free(plan);
    tr_system_free(system);
}

// ---- one after the other -------------------------------------------------------------------

static void test_calls(void **state)
{
    (void)state;
    tr_error err = {0};
    const tr_settle_options o = by(NULL, at_x, 1);
    Bench b = bench_of(model_beside("rocker_bogie"), &o);
    const double there = 0.4, nowhere = (double)NAN;
    assert_null(tr_settle_state(b.settle));
    assert_null(tr_settle_text(b.settle, false, &err));
    assert_int_equal(err.status, TR_USAGE);
    err = (tr_error){0};
    settle_at(&b, &there);
    assert_close(told(&b, "x"), there, 1e-15);
    const double z = told(&b, "z");
    for (size_t i = 0; i < tr_settle_column_count(b.settle); i++) {
        assert_non_null(tr_settle_column_name(b.settle, i));
        assert_non_null(tr_settle_column_unit(b.settle, i));
    }
    assert_null(tr_settle_column_name(b.settle, tr_settle_column_count(b.settle)));
    assert_non_null(tr_settle_state(b.settle));
    settle_at(&b, &nowhere); // as at the start
    assert_close(told(&b, "x"), 0, 1e-15);
    tr_settle_restart(b.settle);
    settle_at(&b, &there);
    assert_close(told(&b, "z"), z, 1e-12);
    char *text = tr_settle_text(b.settle, true, &err);
    assert_true(tr_json_is_valid(text_of(text)));
    tr_text_free(text);
    free_bench(&b);
}

// On grids and on formulas that they sample poses are alike.
static void test_grid(void **state)
{
    (void)state;
    Buffer text = {0};
    tr_error err = {0};
    tr_buffer_print(&text, "x/y,-2,-1,0,1,2");
    for (int i = 0; i <= 120; i++) {
        const double x = -3 + 0.05 * i;
        tr_buffer_print(&text, "\n");
        tr_buffer_number(&text, x);
        for (int k = 0; k < 5; k++) {
            tr_buffer_print(&text, ",");
            tr_buffer_number(&text, 0.08 * sin(3 * x));
        }
    }
    tr_buffer_print(&text, "\n");
    assert_true(tr_write_text(in_folder("waves.csv"), text.at, &err));
    tr_buffer_free(&text);
    // the same model on the grid, in that folder
    char path[600];
    snprintf(path, sizeof path, "%s/terrain/rocker_bogie.yaml", REFERENCE_DIR);
    size_t length;
    char *model = tr_file_read(path, 100000, &length, &err);
    char *ground = strstr(model, "ground:"), *rest = strchr(ground, '\n');
    tr_buffer_add(&text, model, (size_t)(ground - model));
    tr_buffer_print(&text,
                    "tables: {waves: {file: waves.csv, degree: 3, outside: stop}}\n"
                    "ground: {height: \"waves(x, y)\"}%s",
                    rest);
    assert_true(tr_write_text(in_folder("on_grid.yaml"), text.at, &err));
    tr_buffer_free(&text);
    free(model);
    tr_model *on_grid = tr_model_read(in_folder("on_grid.yaml"), &err);
    if (!on_grid) fail_msg("%s", err.text);
    const tr_settle_options o = by("energy", at_x, 1);
    Bench b = bench_of(on_grid, &o);
    Sheet *sheet = reference("rocker_bogie_sine");
    for (size_t i = 0; i < sheet->rows; i++) {
        const double x = at(sheet, i, "x");
        settle_at(&b, &x);
        assert_close(told(&b, "z"), at(sheet, i, "z"), 1e-5);           // not a margin: of the grid
        assert_close(told(&b, "rocker"), at(sheet, i, "rocker"), 1e-4); // not a margin
    }
    const double beyond = 2.7;
    assert_false(tr_settle_pose(b.settle, &beyond, b.columns, &err));
    assert_int_equal(err.status, TR_FAILED);
    if (!strstr(err.text, "waves")) fail_msg("%s", err.text);
    err = (tr_error){0};
    char *still = tr_settle_text(b.settle, true, &err); // of the last pose
    assert_non_null(strstr(still, "\"x\": 1,"));
    tr_text_free(still);
    const double x = 0.5;
    assert_true(tr_settle_pose(b.settle, &x, b.columns, &err)); // it goes on from where it was
    tr_sheet_free(sheet);
    free_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rocker_bogie),
        cmocka_unit_test(test_four_wheels),
        cmocka_unit_test(test_basic),
        cmocka_unit_test(test_sprung),
        cmocka_unit_test(test_legs_that_level),
        cmocka_unit_test(test_level),
        cmocka_unit_test(test_slope),
        cmocka_unit_test(test_brute_force),
        cmocka_unit_test(test_balance),
        cmocka_unit_test(test_weight_alone),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_bowl),
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_jump),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
