// SPDX-License-Identifier: Apache-2.0
// Linear models against published ones, against what motions beside a motion do, and against closed
// forms; eigenvalues that are followed, critical values, ranks, programs of derivatives.
//
// The oracle of the states is written with poses and coordinates: deviation_of() compares two
// states and knows nothing of how the linear model was made.
#include "run/modes.h"
#include "run/sweep.h"
#include "runs.h"

enum { MOST = 40 };

// ---- models --------------------------------------------------------------------------------

static tr_system *bicycle(const char *settings)
{
    return system_set(model_called("bicycle"), "straight", settings);
}

static tr_linear *linear_of(tr_system *system, bool reduce)
{
    tr_error err = {0};
    const tr_linearise_options options = {.reduce = reduce};
    tr_linear *linear = tr_linearise(system, &options, &err);
    if (!linear) fail_msg("%s", err.text);
    return linear;
}

static uint32_t place_of(const char *const *names, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    fail_msg("there is no '%s'", name);
    return 0;
}

// ---- the bicycle of Meijaard et al. --------------------------------------------------------

// M q'' + v C q' + (g K0 + v^2 K2) q = f with q = (roll, -steer)
static const double meijaard_M[] = {80.81722, 2.31941332208709, 2.31941332208709, 0.29784188199686};
static const double meijaard_C1[] = {0, 33.86641391492494, -0.85035641456978, 1.6854039739756};
static const double meijaard_K0[] = {-80.95, -2.59951685249872, -2.59951685249872,
                                     -0.80329488458618};
static const double meijaard_K2[] = {0, 76.59734589573222, 0, 2.65431523794604};

typedef struct Whipple {
    double M[4], C[4], K[4];
} Whipple;

static void times2(const double *a, const double *b, double *out)
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) out[2 * i + j] = a[2 * i] * b[j] + a[2 * i + 1] * b[2 + j];
}

static void inverse2(const double *a, double *out)
{
    const double det = a[0] * a[3] - a[1] * a[2];
    out[0] = a[3] / det, out[1] = -a[1] / det, out[2] = -a[2] / det, out[3] = a[0] / det;
}

// From roll'' and steer'' by (roll, steer, roll', steer') and by the two torques. The state has
// another velocity in place of roll', which the row of roll gives by it.
static Whipple whipple_at(const char *speed)
{
    char setting[40];
    snprintf(setting, sizeof setting, "speed0=%s", speed);
    tr_system *system = bicycle(setting);
    tr_linear *l = linear_of(system, true);
    const uint32_t n = l->states, m = l->inputs;
    const char *const *s = l->state;
    const uint32_t at[] = {place_of(s, n, "frame.rx"), place_of(s, n, "steer"),
                           place_of(s, n, "frame.inner.wx"), place_of(s, n, "steer_rate")};
    const uint32_t u[] = {place_of(l->input, m, "roll_torque"),
                          place_of(l->input, m, "steer_torque")};
    double A[4][4], B[4][2], R[4][4], push[4];
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) A[i][j] = l->A[at[i] * n + at[j]];
        for (int j = 0; j < 2; j++) B[i][j] = l->B[at[i] * m + u[j]];
    }
    // roll' = A[0] x; wx of roll'
    const double into[4] = {-A[0][0] / A[0][2], -A[0][1] / A[0][2], 1 / A[0][2],
                            -A[0][3] / A[0][2]};
    for (int j = 0; j < 4; j++) { // roll'' = A[0] x'
        R[0][j] = R[1][j] = 0;
        for (int k = 0; k < 4; k++) R[0][j] += A[0][k] * A[k][j];
        R[1][j] = A[3][j];
    }
    for (int j = 0; j < 2; j++) {
        push[j] = 0;
        for (int k = 0; k < 4; k++) push[j] += A[0][k] * B[k][j];
        push[2 + j] = B[3][j];
    }
    for (int i = 0; i < 2; i++) { // by roll' in place of wx
        const double w = R[i][2];
        for (int j = 0; j < 4; j++) R[i][j] = (j == 2 ? 0 : R[i][j]) + w * into[j];
    }
    static const double sign[2] = {1, -1}; // delta = -steer, and so its torque
    double inverse[4], stiffness[4], damping[4], P[4];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            P[2 * i + j] = sign[i] * push[2 * i + j] * sign[j];
            stiffness[2 * i + j] = -sign[i] * R[i][j] * sign[j];
            damping[2 * i + j] = -sign[i] * R[i][2 + j] * sign[j];
        }
    Whipple out;
    inverse2(P, inverse); // q'' = M^-1 f
    memcpy(out.M, inverse, sizeof out.M);
    times2(out.M, stiffness, out.K);
    times2(out.M, damping, out.C);
    tr_linear_free(l);
    tr_system_free(system);
    return out;
}

static void recovers_the_benchmark_matrices(void **state)
{
    (void)state;
    const Whipple rest = whipple_at("0"), fast = whipple_at("5");
    for (int i = 0; i < 4; i++) {
        assert_close(rest.M[i], meijaard_M[i], 1e-10);
        assert_close(fast.M[i], meijaard_M[i], 1e-10);
        assert_close(rest.K[i] / 9.81, meijaard_K0[i], 1e-10);
        assert_close(rest.C[i], 0, 1e-10);
        assert_close(fast.C[i] / 5, meijaard_C1[i], 1e-10);
        assert_close((fast.K[i] - rest.K[i]) / 25, meijaard_K2[i], 1e-10);
    }
}

static bool has_value(double (*values)[2], uint32_t count, double re, double im)
{
    for (uint32_t i = 0; i < count; i++)
        if (fabs(values[i][0] - re) < 1e-10 && fabs(values[i][1] - im) < 1e-10) return true;
    return false;
}

// At rest, and at 1 ... 10 m/s
static void has_the_published_eigenvalues(void **state)
{
    (void)state;
    tr_error err = {0};
    Sheet *sheet = read_sheet(REFERENCE_DIR "/bike_eigenvalues.csv");
    assert_int_equal(sheet->rows, 10);
    for (int v = 0; v <= 10; v++) {
        char setting[40];
        double values[MOST][2];
        snprintf(setting, sizeof setting, "speed0=%d", v);
        tr_system *system = bicycle(setting);
        tr_linear *l = linear_of(system, true);
        assert_int_equal(l->states, 5);
        assert_true(tr_linear_eigenvalues(l, values, &err));
        assert_true(has_value(values, 5, 0, 0)); // the speed
        if (v == 0) {
            static const double rest[] = {-5.53094371765393, -3.13164324790656, 3.13164324790656,
                                          5.53094371765393};
            for (int i = 0; i < 4; i++) assert_true(has_value(values, 5, rest[i], 0));
        } else {
            const double *row = sheet->values + v - 1;
            const size_t by = sheet->rows;
            assert_true(row[0] == v);
            assert_true(has_value(values, 5, row[by], 0));
            assert_true(has_value(values, 5, row[2 * by], row[3 * by]));
            assert_true(has_value(values, 5, row[2 * by], -row[3 * by]));
            assert_true(has_value(values, 5, row[4 * by], 0));
        }
        tr_linear_free(l);
        tr_system_free(system);
    }
    tr_sheet_free(sheet);
}

// det(M s^2 + v C1 s + g K0 + v^2 K2) = a4 s^4 + ... + a0 of the published matrices
static void published_polynomial(double v, double a[5])
{
    double K[4], C[4];
    const double *M = meijaard_M;
    for (int i = 0; i < 4; i++)
        K[i] = 9.81 * meijaard_K0[i] + v * v * meijaard_K2[i], C[i] = v * meijaard_C1[i];
    a[4] = M[0] * M[3] - M[1] * M[2];
    a[3] = M[0] * C[3] + C[0] * M[3] - M[1] * C[2] - C[1] * M[2];
    a[2] = M[0] * K[3] + C[0] * C[3] + K[0] * M[3] - M[1] * K[2] - C[1] * C[2] - K[1] * M[2];
    a[1] = C[0] * K[3] + K[0] * C[3] - C[1] * K[2] - K[1] * C[2];
    a[0] = K[0] * K[3] - K[1] * K[2];
}

static double hurwitz(double v)
{
    double a[5];
    published_polynomial(v, a);
    return a[1] * a[2] * a[3] - a[1] * a[1] * a[4] - a[0] * a[3] * a[3];
}

static void finds_the_critical_speeds(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = bicycle(NULL);
    tr_sweep *sweep = tr_sweep_new(system, "speed0", 0, 10, 0.05, &err);
    if (!sweep) fail_msg("%s", err.text);
    assert_int_equal(sweep->rows, 201);
    assert_int_equal(sweep->count, 4);
    assert_int_equal(sweep->critical_count, 2);
    const tr_critical *weave = &sweep->critical[0], *capsize = &sweep->critical[1];
    assert_close(weave->value, 4.29238253634111, 1e-11);
    assert_close(weave->frequency, 3.43503384866144, 1e-10);
    assert_false(weave->is_onset);
    assert_close(capsize->value, 6.02426201538837, 1e-11);
    assert_true(capsize->frequency == 0);
    assert_true(capsize->is_onset);
    // where the Hurwitz determinant and the constant coefficient change sign
    double before[5], after[5];
    published_polynomial(capsize->value - 1e-9, before);
    published_polynomial(capsize->value + 1e-9, after);
    assert_true((before[0] > 0) != (after[0] > 0));
    assert_true((hurwitz(weave->value - 1e-9) > 0) != (hurwitz(weave->value + 1e-9) > 0));
    // a coarse sweep that steps over both finds the same
    tr_sweep *coarse = tr_sweep_new(system, "speed0", 3.1, 9.1, 2, &err);
    assert_non_null(coarse);
    assert_int_equal(coarse->critical_count, 2);
    assert_close(coarse->critical[0].value, weave->value, 1e-12);
    assert_close(coarse->critical[1].value, capsize->value, 1e-12);
    tr_sweep_free(coarse);
    tr_sweep_free(sweep);
    tr_system_free(system);
}

// Each column of the sweep is one eigenvalue: it moves a little from row to row, and the rows are
// those of single models.
static void follows_eigenvalues(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = bicycle(NULL);
    tr_sweep *sweep = tr_sweep_new(system, "speed0", 0.1, 10, 0.1, &err);
    if (!sweep) fail_msg("%s", err.text);
    const size_t n = sweep->count;
    int splits = 0;
    for (size_t i = 1; i < sweep->rows; i++)
        for (size_t k = 0; k < n; k++) {
            const double *now = sweep->eigenvalues + 2 * (i * n + k), *was = now - 2 * n;
            const bool meets = (now[1] == 0) != (was[1] == 0);
            splits += meets;
            // where two meet, at 0.684 m/s, they go like a root; else less than 3 1/s to the m/s
            const bool beside = fabs(sweep->values[i] - 0.684) < 0.2;
            assert_true(hypot(now[0] - was[0], now[1] - was[1]) < (beside ? 0.8 : 0.3));
            if (now[1] != 0 && was[1] != 0) assert_true((now[1] > 0) == (was[1] > 0));
        }
    assert_int_equal(splits, 2);
    assert_true(sweep->values[49] == 5);
    double values[MOST][2];
    tr_system *single = bicycle("speed0=5");
    tr_linear *l = linear_of(single, true);
    assert_true(tr_linear_eigenvalues(l, values, &err));
    for (size_t k = 0; k < n; k++) {
        const double *value = sweep->eigenvalues + 2 * (49 * n + k);
        assert_true(has_value(values, l->states, value[0], value[1]));
    }
    tr_linear_free(l);
    tr_system_free(single);
    tr_sweep_free(sweep);
    tr_system_free(system);
}

static void has_the_static_wheel_loads(void **state)
{
    (void)state;
    tr_system *system = bicycle("speed0=0");
    Flow *flow = flow_of(system);
    tr_flow_columns(flow, 0, flow->start, flow->column);
    const uint32_t front = place_of(flow->labels, flow->column_count, "front_normal"),
                   rear = place_of(flow->labels, flow->column_count, "rear_normal");
    assert_close(flow->column[front], 309.303529411765, 1e-9 / 309);
    assert_close(flow->column[rear], 612.836470588236, 1e-9 / 612);
    tr_flow_free(flow);
    tr_system_free(system);
}

// ---- motions beside a motion ---------------------------------------------------------------

static void quaternion_product(const double *a, const double *b, double *out)
{
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

static double input_of(const Flow *flow, const double *inputs, const char *body, const char *part)
{
    char name[200];
    snprintf(name, sizeof name, "%s.%s", body, part);
    for (uint32_t i = 0; i < flow->system->input_count; i++)
        if (strcmp(flow->system->inputs[i].name, name) == 0) return inputs[i];
    return (double)NAN;
}

// How far a pose is from another, along and about the axes of the other: dx dy dz rx ry rz
static void pose_deviation(const Flow *flow, const char *body, const double *was, const double *is,
                           double out[6])
{
    static const char *const xyz[] = {"x", "y", "z"}, *const quaternion[] = {"qw", "qx", "qy",
                                                                             "qz"};
    double d[4] = {0}, a[4], b[4], turned[4], room[4];
    const bool planar = isnan(input_of(flow, was, body, "qw"));
    for (int k = 0; k < 3; k++) {
        const double x = input_of(flow, is, body, xyz[k]) - input_of(flow, was, body, xyz[k]);
        d[1 + k] = isnan(x) ? 0 : x;
    }
    for (int k = 0; k < 4; k++) {
        const double t[2] = {input_of(flow, was, body, "theta"), input_of(flow, is, body, "theta")};
        a[k] = !planar  ? input_of(flow, was, body, quaternion[k])
               : k == 0 ? cos(t[0] / 2)
               : k == 3 ? sin(t[0] / 2)
                        : 0;
        b[k] = !planar  ? input_of(flow, is, body, quaternion[k])
               : k == 0 ? cos(t[1] / 2)
               : k == 3 ? sin(t[1] / 2)
                        : 0;
    }
    const double conjugate[4] = {a[0], -a[1], -a[2], -a[3]};
    quaternion_product(conjugate, d, room);
    quaternion_product(room, a, turned);
    for (int k = 0; k < 3; k++) out[k] = turned[1 + k];
    quaternion_product(conjugate, b, turned);
    const double sine = sqrt(turned[1] * turned[1] + turned[2] * turned[2] + turned[3] * turned[3]);
    const double angle = 2 * atan2(sine, turned[0]);
    for (int k = 0; k < 3; k++) out[3 + k] = sine > 0 ? turned[1 + k] * angle / sine : 0;
}

// The state of the linear model: how `is` differs from `was`
static void deviation_of(const Flow *flow, const tr_linear *l, const double *was, const double *is,
                         double *x)
{
    static const char *const parts[] = {"dx", "dy", "dz", "rx", "ry", "rz"};
    for (uint32_t i = 0; i < l->states; i++) {
        const char *point = strrchr(l->state[i], '.');
        int part = -1;
        for (int k = 0; point && k < 6; k++)
            if (strcmp(point + 1, parts[k]) == 0) part = k;
        if (part >= 0) {
            char body[100];
            double pose[6];
            snprintf(body, sizeof body, "%.*s", (int)(point - l->state[i]), l->state[i]);
            pose_deviation(flow, body, was, is, pose);
            x[i] = pose[part];
            continue;
        }
        uint32_t at = 0;
        const System *s = flow->system;
        while (at < s->input_count && strcmp(s->inputs[at].name, l->state[i]) != 0) at++;
        for (uint32_t k = 0; at == s->input_count && k < s->row_count; k++) // a speed's formula
            for (uint32_t in = 0; in < s->input_count; in++)
                if (s->rows[k].is_speed && strcmp(s->rows[k].name, l->state[i]) == 0 &&
                    s->rows[k].symbol.id == s->inputs[in].symbol.id)
                    at = in;
        assert_true(at < s->input_count);
        x[i] = is[at] - was[at];
    }
}

typedef struct Beside {
    tr_system *system, *other; // the linear model has a system of its own
    tr_linear *linear;
    Flow *flow;
    double *y, *was, *is; // room
} Beside;

static Beside begin(tr_system *system, tr_system *other)
{
    Beside b = {.system = system, .other = other, .linear = linear_of(other, false)};
    b.flow = flow_of(system);
    assert_true(b.linear->states <= MOST);
    b.y = calloc(8 * (size_t)b.flow->size, sizeof *b.y);
    b.was = calloc(2 * (size_t)system->input_count, sizeof *b.was);
    b.is = b.was + system->input_count;
    return b;
}

static void end(Beside *b)
{
    free(b->y);
    free(b->was);
    tr_flow_free(b->flow);
    tr_linear_free(b->linear);
    tr_system_free(b->system);
    tr_system_free(b->other);
}

// y after a time, by steps of Runge and Kutta's method
static void run_for(const Beside *b, double *y, double time, int steps)
{
    Flow *flow = b->flow;
    const uint32_t n = flow->size;
    double *k = b->y + 3 * (size_t)n, *sum = k + n, *at = sum + n;
    const double h = time / steps;
    for (int i = 0; i < steps; i++) {
        memcpy(sum, y, n * sizeof *sum);
        for (int stage = 0; stage < 4; stage++) {
            static const double c[] = {0, 0.5, 0.5, 1}, w[] = {1 / 6., 1 / 3., 1 / 3., 1 / 6.};
            for (uint32_t j = 0; j < n; j++) at[j] = y[j] + (stage ? h * c[stage] * k[j] : 0);
            tr_flow_rate(flow, 0, at, k);
            for (uint32_t j = 0; j < n; j++) sum[j] += h * w[stage] * k[j];
        }
        memcpy(y, sum, n * sizeof *y);
        tr_flow_project(flow, 0, y);
    }
}

// A consistent state beside the start; the direction is the same for every size.
static void step_aside(const Beside *b, uint64_t seed, double size, double *y)
{
    const Flow *flow = b->flow;
    memcpy(y, flow->start, flow->size * sizeof *y);
    uint64_t random = seed;
    for (uint32_t i = 0; i + 1 < flow->size; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        y[i] += size * ((double)(random >> 11) * 0x1p-52 - 1);
    }
    tr_flow_project(b->flow, 0, y);
}

static void put_all(const Beside *b, const double *y, double *inputs)
{
    tr_flow_put_all(b->flow, 0, y);
    memcpy(inputs, b->flow->inputs, b->system->input_count * sizeof *inputs);
}

// How far the linear model is off after a time, having started from the same deviation
static double misprediction(const Beside *b, uint64_t seed, double size, double time)
{
    const uint32_t n = b->linear->states;
    double x[MOST], later[MOST], Ad[MOST * MOST], Bd[MOST * MOST], worst = 0;
    tr_error err = {0};
    double *y = b->y, *base = b->y + b->flow->size;
    memcpy(base, b->flow->start, b->flow->size * sizeof *base);
    step_aside(b, seed, size, y);
    put_all(b, base, b->was);
    put_all(b, y, b->is);
    deviation_of(b->flow, b->linear, b->was, b->is, x);
    run_for(b, y, time, 400);
    run_for(b, base, time, 400);
    put_all(b, base, b->was);
    put_all(b, y, b->is);
    deviation_of(b->flow, b->linear, b->was, b->is, later);
    assert_true(tr_linear_discretise(b->linear, time, Ad, Bd, &err));
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < n; j++) sum += Ad[i * n + j] * x[j];
        worst = fmax(worst, fabs(sum - later[i]));
    }
    return worst;
}

static void check_prediction(tr_system *system, tr_system *other, double size, double time)
{
    Beside b = begin(system, other);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        const double large = misprediction(&b, seed, size, time),
                     small = misprediction(&b, seed, size / 10, time);
        if (!(large < size && large > 1e-9 && large / small > 70 && large / small < 2000))
            fail_msg("'%s' is off by %.3g, and by %.3g ten times nearer", b.system->title, large,
                     small);
    }
    end(&b);
}

static tr_system *scooter(void)
{
    return system_set(model_called("kick_scooter"), "push", "roll_rate0=0");
}

static tr_system *segway(void) { return system_set(model_called("segway"), "fall", "pitch0=0"); }

// A snake-board whose joints are free, at rest with its axles turned
static tr_system *resting_board(void)
{
    static const char *const text =
        "trundle: 1\nname: board\nparameters: {l: 0.2}\nbodies:\n"
        "  board: {joint: {type: planar}, mass: 4, inertia: {zz: 0.016}}\n"
        "  axle1: {parent: board, joint: {type: revolute, axis: \"0, 0, 1\", at: \"-l, 0, 0\", "
        "coordinate: r1}, mass: 0.5, inertia: {zz: 0.0013}}\n"
        "  axle2: {parent: board, joint: {type: revolute, axis: \"0, 0, 1\", at: \"l, 0, 0\", "
        "coordinate: r2}, mass: 0.5, inertia: {zz: 0.0013}}\n"
        "  rotor: {parent: board, joint: {type: revolute, axis: \"0, 0, 1\", coordinate: r3}, "
        "mass: 1, inertia: {zz: 0.07}}\n"
        "contacts:\n  one: {kind: skate, body: axle1}\n  two: {kind: skate, body: axle2}\n"
        "initial: {r1: 0.3, r2: -0.3}\n";
    return system_from(text);
}

static tr_system *bicycle_on_tyres(void)
{
    tr_model *model = model_called("bicycle");
    static const char *const wheels[] = {"front", "rear"};
    for (int i = 0; i < 2; i++) {
        char path[100];
        static const char *const fields[][2] = {
            {"lateral", "tyre"}, {"cornering", "6000"}, {"camber", "500"}, {"relaxation", "0.1"}};
        for (int k = 0; k < 4; k++) {
            snprintf(path, sizeof path, "contacts/%s/%s", wheels[i], fields[k][0]);
            change(model, path, fields[k][1]);
        }
    }
    return system_set(model, "straight", "speed0=5");
}

static void predicts_to_second_order(void **state)
{
    (void)state;
    check_prediction(bicycle("speed0=5"), bicycle("speed0=5"), 1e-3, 0.4);
    check_prediction(scooter(), scooter(), 1e-3, 0.3);
    check_prediction(segway(), segway(), 1e-2, 0.3);
    check_prediction(resting_board(), resting_board(), 1e-3, 0.5);
    check_prediction(bicycle_on_tyres(), bicycle_on_tyres(), 1e-3, 0.2);
    check_prediction(system_set(model_called("cart_pole"), "free", "tilt=0"),
                     system_set(model_called("cart_pole"), "free", "tilt=0"), 0.1,
                     0.3); // third order: it is symmetric
}

// x' by differences in time and to either side, at a state that goes anywhere
static void check_slopes(tr_system *system, tr_system *other)
{
    enum { SIDES = 2 };
    const double eps = 1e-4, tau = 2e-4;
    Beside b = begin(system, other);
    const uint32_t n = b.linear->states, size = b.flow->size;
    double *y = b.y, *base = b.y + size;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double x[SIDES][MOST], rate[MOST] = {0}, most = 0;
        for (int side = 0; side < SIDES; side++) {
            const double sign = side ? -1 : 1;
            for (int when = -1; when <= 1; when++) {
                double now[MOST];
                step_aside(&b, seed, sign * eps, y);
                memcpy(base, b.flow->start, size * sizeof *base);
                if (when) run_for(&b, y, when * tau, 1), run_for(&b, base, when * tau, 1);
                put_all(&b, base, b.was);
                put_all(&b, y, b.is);
                deviation_of(b.flow, b.linear, b.was, b.is, now);
                for (uint32_t i = 0; i < n; i++)
                    if (when == 0)
                        x[side][i] = now[i];
                    else
                        rate[i] += sign * when * now[i] / (4 * tau * eps);
            }
        }
        for (uint32_t i = 0; i < n; i++) most = fmax(most, fabs(rate[i]));
        for (uint32_t i = 0; i < n; i++) {
            double sum = 0;
            for (uint32_t j = 0; j < n; j++)
                sum += b.linear->A[i * n + j] * (x[0][j] - x[1][j]) / (2 * eps);
            if (!(fabs(sum - rate[i]) < 3e-5 * most))
                fail_msg("'%s': the rate of %s is %.9g, not %.9g", b.system->title,
                         b.linear->state[i], rate[i], sum);
        }
    }
    end(&b);
}

static tr_system *leaning(void)
{
    return system_set(model_called("bicycle"), "state",
                      "speed0=4 roll0=0.2 steer0=-0.3 roll_rate0=0.4 steer_rate0=-0.6 yaw0=0.8");
}

static void is_exact_off_the_equilibrium(void **state)
{
    (void)state;
    check_slopes(leaning(), leaning());
    static const char *const models[] = {"rolling_disc", "tyre",     "castor",
                                         "four_bar",     "unicycle", "pinned_pendulum",
                                         "floating_arm", "sleigh",   "ball_on_slope"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        check_slopes(system_called(models[i], NULL), system_called(models[i], NULL));
}

// A step of the bicycle with torques held, against the simulation; second order again
static void discrete_model_follows_the_motion(void **state)
{
    (void)state;
    const double step = 0.1;
    Beside b = begin(bicycle("speed0=5"), bicycle("speed0=5"));
    const uint32_t n = b.linear->states, m = b.linear->inputs;
    double Ad[MOST * MOST], Bd[MOST * MOST], off[2] = {0};
    tr_error err = {0};
    assert_true(tr_linear_discretise(b.linear, step, Ad, Bd, &err));
    for (int nearer = 0; nearer < 2; nearer++) {
        const double size = nearer ? 1e-2 : 1e-1;
        double x[MOST], later[MOST], u[MOST];
        double *y = b.y, *base = b.y + b.flow->size;
        memcpy(base, b.flow->start, b.flow->size * sizeof *base);
        step_aside(&b, 7, 1e-2 * size, y);
        put_all(&b, base, b.was);
        put_all(&b, y, b.is);
        deviation_of(b.flow, b.linear, b.was, b.is, x);
        run_for(&b, base, step, 200);
        for (uint32_t i = 0; i < m; i++) {
            u[i] = 0; // torques are pushed through the model's own inputs
            for (uint32_t at = 0; at < b.system->input_count; at++)
                if (strcmp(b.system->inputs[at].name, b.linear->input[i]) == 0)
                    b.flow->inputs[at] = u[i] = size * (1 + 0.5 * i);
        }
        run_for(&b, y, step, 200);
        put_all(&b, base, b.was);
        put_all(&b, y, b.is);
        for (uint32_t i = 0; i < m; i++)
            for (uint32_t at = 0; at < b.system->input_count; at++)
                if (strcmp(b.system->inputs[at].name, b.linear->input[i]) == 0)
                    b.flow->inputs[at] = 0;
        deviation_of(b.flow, b.linear, b.was, b.is, later);
        for (uint32_t i = 0; i < n; i++) {
            double sum = 0;
            for (uint32_t j = 0; j < n; j++) sum += Ad[i * n + j] * x[j];
            for (uint32_t j = 0; j < m; j++) sum += Bd[i * m + j] * u[j];
            off[nearer] = fmax(off[nearer], fabs(sum - later[i]));
        }
    }
    if (!(off[0] < 1e-3 && off[0] / off[1] > 70)) fail_msg("off by %g and %g", off[0], off[1]);
    end(&b);
}

// ---- symmetries ----------------------------------------------------------------------------

static void finds_symmetries(void **state)
{
    (void)state;
    static const struct {
        const char *model, *settings;
        uint32_t symmetries;
    } cases[] = {
        {"bicycle", NULL, 5},            // place, heading, two wheels
        {"kick_scooter", NULL, 5},       // likewise
        {"cart_pole", NULL, 1},          // where the cart is
        {"double_pendulum", NULL, 0},    // gravity has a direction, the pivot a place
        {"sleigh", NULL, 3},             // place and heading
        {"tumbling", NULL, 6},           // nothing acts on it
        {"differential_drive", NULL, 6}, // place, heading, three wheels; not the castor's angle
        {"unicycle", NULL, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tr_system *system = system_set(model_called(cases[i].model), NULL, cases[i].settings);
        tr_linear *all = linear_of(system, false), *reduced = linear_of(system, true);
        if (all->states - reduced->states != cases[i].symmetries)
            fail_msg("%s has %u symmetries", cases[i].model, all->states - reduced->states);
        tr_linear_free(all);
        tr_linear_free(reduced);
        tr_system_free(system);
    }
}

// ---- modes, ranks, exponentials of given matrices ------------------------------------------

static const char *const no_names[MOST] = {"a", "b", "c", "d", "e", "f", "g", "h"};

static Linear given(uint32_t states, uint32_t inputs, uint32_t outputs, double *A, double *B,
                    double *C)
{
    return (Linear){.states = states,
                    .inputs = inputs,
                    .outputs = outputs,
                    .state = (const char **)no_names,
                    .A = A,
                    .B = B,
                    .C = C};
}

static void finds_modes(void **state)
{
    (void)state;
    tr_error err = {0};
    // an oscillator of 3 rad/s with damping 0.2, in units that are far apart, and a cart
    double A[16] = {0, 1e4, 0, 0, -9e-4, -1.2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
    const Linear l = given(4, 0, 0, A, NULL, NULL);
    Modes *m = tr_modes_new(&l, &err);
    assert_non_null(m);
    assert_int_equal(m->zeros, 2);
    for (int k = 0; k < 2; k++) {
        assert_true(m->values[2 * k] == 0 && m->values[2 * k + 1] == 0);
        assert_true(isnan(m->damping[k]));
        assert_close(m->shares[4 * k] + m->shares[4 * k + 1], 0, 1e-12);
    }
    assert_close(m->values[4], -0.6, 1e-13);
    assert_close(m->values[5], 3 * sqrt(1 - 0.04), 1e-13);
    assert_close(m->values[7], -3 * sqrt(1 - 0.04), 1e-13);
    assert_close(m->damping[2], 0.2, 1e-13);
    assert_close(m->frequency[2], 3, 1e-13);
    assert_close(m->shares[8], 0.5, 1e-12); // shares know no units
    assert_close(m->shares[9], 0.5, 1e-12);
    for (int k = 0; k < 4; k++) // A v = l v
        for (int i = 0; i < 4 && m->frequency[k] > 0; i++) {
            const double *v = m->vectors + 8 * k, *value = m->values + 2 * k;
            double re = 0, im = 0;
            for (int j = 0; j < 4; j++)
                re += A[4 * i + j] * v[2 * j], im += A[4 * i + j] * v[2 * j + 1];
            assert_close(re, value[0] * v[2 * i] - value[1] * v[2 * i + 1], 1e-11);
            assert_close(im, value[0] * v[2 * i + 1] + value[1] * v[2 * i], 1e-11);
        }
    tr_modes_free(m);
}

// Zeros in chains of three and one, in a random basis, beside eigenvalues that are not zero
static void splits_off_zeros(void **state)
{
    (void)state;
    enum { N = 6 };
    static const double J[N][N] = {{0, 1, 0, 0, 0, 0},  {0, 0, 1, 0, 0, 0}, {0}, {0},
                                   {0, 0, 0, 0, -2, 0}, {0, 0, 0, 0, 0, 1}};
    double P[N][N], A[N * N];
    Random random = {11};
    // a product of reflections is orthogonal: A = P J P^T
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) P[i][j] = i == j;
    for (int r = 0; r < 3; r++) {
        double v[N], size = 0;
        for (int i = 0; i < N; i++) v[i] = random_between(&random, -1, 1), size += v[i] * v[i];
        for (int i = 0; i < N; i++) {
            double along = 0;
            for (int j = 0; j < N; j++) along += P[i][j] * v[j];
            for (int j = 0; j < N; j++) P[i][j] -= 2 * along * v[j] / size;
        }
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[N * i + j] = 0;
            for (int k = 0; k < N; k++)
                for (int l = 0; l < N; l++) A[N * i + j] += P[i][k] * J[k][l] * P[j][l];
        }
    Deflated d;
    double values[2 * N];
    assert_true(tr_deflate(A, N, NULL, &d, NULL));
    assert_int_equal(d.zeros, 4);
    assert_int_equal(d.pattern[0], 2);
    assert_int_equal(d.pattern[1], 1);
    assert_int_equal(d.pattern[2], 1);
    assert_true(tr_deflated_values(&d, values, NULL));
    const double low = fmin(values[0], values[2]), high = fmax(values[0], values[2]);
    assert_close(low, -2, 1e-12);
    assert_close(high, 1, 1e-12);
    assert_close(tr_deflated_determinant(&d, NULL), -2, 1e-12);
    tr_deflated_free(&d);
}

static void finds_ranks(void **state)
{
    (void)state;
    // a chain of integrators, in units that are far apart
    double chain[16] = {0, 1e3, 0, 0, 0, 0, 1e-4, 0, 0, 0, 0, 1e2, 0, 0, 0, 0};
    double last[4] = {0, 0, 0, 1e-3}, first[4] = {1e5, 0, 0, 0};
    Linear l = given(4, 1, 1, chain, last, first);
    assert_int_equal(tr_controllable(&l), 4);
    assert_int_equal(tr_observable(&l), 4);
    l.B = first, l.C = last; // pushes the end of the chain, sees its beginning
    assert_int_equal(tr_controllable(&l), 1);
    assert_int_equal(tr_observable(&l), 1);
    // two equal oscillators that are pushed alike; two that differ
    double twins[16] = {0, 1, 0, 0, -4, 0, 0, 0, 0, 0, 0, 1, 0, 0, -4, 0};
    double push[4] = {0, 1, 0, 1}, sum[4] = {1, 0, 1, 0};
    l = given(4, 1, 1, twins, push, sum);
    assert_int_equal(tr_controllable(&l), 2);
    assert_int_equal(tr_observable(&l), 2);
    twins[14] = -9;
    assert_int_equal(tr_controllable(&l), 4);
    assert_int_equal(tr_observable(&l), 4);
    // no input, no output, no state
    l = given(4, 0, 0, twins, push, sum);
    assert_int_equal(tr_controllable(&l), 0);
    assert_int_equal(tr_observable(&l), 0);
    l.states = 0;
    assert_int_equal(tr_controllable(&l), 0);
}

// The bicycle: steering alone reaches lean and steer, not the speed.
static void knows_what_steering_reaches(void **state)
{
    (void)state;
    tr_system *system = bicycle("speed0=5");
    tr_linear *l = linear_of(system, true);
    assert_int_equal(tr_controllable(l), 5);
    for (uint32_t i = 0; i < l->states; i++)
        for (uint32_t j = 0; j < l->inputs; j++)
            if (strcmp(l->input[j], "steer_torque") != 0) l->B[i * l->inputs + j] = 0;
    assert_int_equal(tr_controllable(l), 4);
    tr_linear_free(l);
    tr_system_free(system);
}

static void discretises(void **state)
{
    (void)state;
    double A[4] = {0, 1, 0, 0}, B[2] = {0, 2}, Ad[4], Bd[2];
    Linear l = given(2, 1, 0, A, B, NULL);
    assert_true(tr_linear_discretise(&l, 0.25, Ad, Bd, NULL)); // x'' = 2 u
    assert_close(Ad[0], 1, 1e-15);
    assert_close(Ad[1], 0.25, 1e-15);
    assert_close(Ad[2], 0, 1e-15);
    assert_close(Bd[0], 0.25 * 0.25, 1e-15);
    assert_close(Bd[1], 0.5, 1e-15);
    // a fast oscillator over many turns: cos, sin
    double fast[4] = {0, 1, -10000, 0};
    l = given(2, 1, 0, fast, B, NULL);
    assert_true(tr_linear_discretise(&l, 1, Ad, Bd, NULL));
    assert_close(Ad[0], cos(100), 1e-11);
    assert_close(Ad[1], sin(100) / 100, 1e-11);
    assert_close(Ad[2], -100 * sin(100), 1e-11);
    assert_close(Bd[0], 2 * (1 - cos(100)) / 10000, 1e-11);
    double growing[4] = {1e5, 0, 0, 0};
    l = given(2, 1, 0, growing, B, NULL);
    assert_false(tr_linear_discretise(&l, 1, Ad, Bd, NULL)); // not finite
}

// ---- sweeps of closed forms ----------------------------------------------------------------

static void follows_crossings(void **state)
{
    (void)state;
    // two real ones that pass each other, a pair, and a pair that comes from two real ones
    const double was[] = {0, 0, 1, 0, -3, 2, -3, -2, 5, 0, 5.1, 0};
    const double slopes[] = {10, 0, -10, 0, 0, 1, 0, -1, 0, 0, 0, 0};
    const double is[] = {-3, -2.1, 5, -0.1, 0.05, 0, 5, 0.1, 1.02, 0, -3, 2.1};
    static const uint32_t wanted[] = {4, 2, 5, 0, 3, 1};
    uint32_t to[6];
    bool clear = false;
    assert_true(tr_follow(was, slopes, 0.1, is, 6, to, &clear));
    assert_true(clear);
    for (int i = 0; i < 6; i++) assert_int_equal(to[i], wanted[i]);
    // without slopes the same would swap; halfway it is not clear
    const double still[12] = {0}, near[] = {0.5, 0, 0.52, 0};
    assert_true(tr_follow(was, still, 0.1, near, 2, to, &clear));
    assert_false(clear);
}

static double cube_less_two(void *owner, double x)
{
    ++*(int *)owner;
    return x * x * x - 2;
}

static void finds_roots(void **state)
{
    (void)state;
    int calls = 0;
    assert_close(tr_bracketed_root(cube_less_two, &calls, 0, -2, 100, 1e6 - 2), cbrt(2), 4e-16);
    assert_true(calls < 60);
}

static const char pole[] =
    "trundle: 1\nparameters: {k: 1, c: 0.3, m: 2, l: 0.5, half: k/2, other: 3}\n"
    "inputs: {more: 0}\nbodies:\n"
    "  pole: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a, stiffness: k + more, "
    "damping: c - 0.3}, mass: m, com: \"0, 0, l\"}\n";

// An inverted pendulum on a spring stands from k = m g l on; with damping c - 0.3 from c = 0.3 on.
static void finds_closed_forms(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(pole);
    tr_sweep *sweep = tr_sweep_new(system, "k", 1, 20, 0.5, &err);
    if (!sweep) fail_msg("%s", err.text);
    assert_int_equal(sweep->critical_count, 1);
    assert_close(sweep->critical[0].value, 2 * 9.81 * 0.5, 1e-13);
    assert_true(sweep->critical[0].frequency == 0);
    assert_false(sweep->critical[0].is_onset);
    tr_sweep_free(sweep);
    // the same by the input that adds to it, on a row and between rows
    sweep = tr_sweep_new(system, "more", 0, 17.62, 2.2025, &err);
    if (!sweep) fail_msg("%s", err.text);
    assert_int_equal(sweep->critical_count, 1);
    assert_close(sweep->critical[0].value, 8.81, 1e-12);
    tr_sweep_free(sweep);
    tr_system_free(system);
    system = system_set(model_from(pole), NULL, "k=20");
    sweep = tr_sweep_new(system, "c", 0, 1, 0.07, &err);
    if (!sweep) fail_msg("%s", err.text);
    assert_int_equal(sweep->rows, 15);
    assert_int_equal(sweep->critical_count, 1);
    assert_close(sweep->critical[0].value, 0.3, 1e-13);
    assert_close(sweep->critical[0].frequency, sqrt((20 - 9.81) / 0.5), 1e-12);
    assert_false(sweep->critical[0].is_onset);
    tr_sweep_free(sweep);
    // nothing changes where there is no damping: what is left is rounding
    sweep = tr_sweep_new(system, "m", 0.1, 2, 0.1, &err);
    if (!sweep) fail_msg("%s", err.text);
    assert_int_equal(sweep->critical_count, 0);
    tr_sweep_free(sweep);
    tr_system_free(system);
}

// Two pendulums that know nothing of each other: their eigenvalues pass each other.
static void lets_eigenvalues_pass(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(
        "trundle: 1\nparameters: {k: 1}\nbodies:\n"
        "  one: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: a, stiffness: k, damping: "
        "0.2}, mass: 1}\n"
        "  two: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: b, stiffness: 4, damping: "
        "0.4}, mass: 1}\n");
    tr_sweep *sweep = tr_sweep_new(system, "k", 1, 9, 0.37, &err);
    if (!sweep) fail_msg("%s", err.text);
    int still = 0;
    for (size_t b = 0; b < sweep->count; b++) {
        double most = 0;
        for (size_t i = 0; i < sweep->rows; i++) {
            const double *l = sweep->eigenvalues + 2 * (i * sweep->count + b);
            most = fmax(most, fabs(fabs(l[1]) - sqrt(4 - 0.04)));
            // the one is -0.1 +- i sqrt(k - 0.01), the other stays
            const bool is_one = fabs(l[0] + 0.1) < 1e-12;
            assert_close(l[0], is_one ? -0.1 : -0.2, 1e-12);
            assert_close(fabs(l[1]), is_one ? sqrt(sweep->values[i] - 0.01) : sqrt(4 - 0.04),
                         1e-12);
        }
        still += most < 1e-12;
    }
    assert_int_equal(still, 2);
    tr_sweep_free(sweep);
    tr_system_free(system);
}

// ---- programs of derivatives ---------------------------------------------------------------

static double wdot_of(const tr_program *program, tr_workspace *work, double *in, uint32_t at,
                      double value, uint32_t row)
{
    double out[200];
    const double kept = in[at];
    in[at] = value;
    tr_evaluate(program, work, in, out);
    in[at] = kept;
    return out[row];
}

static void differentiates_accelerations(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = leaning();
    assert_true(tr_differentiate_system(system, "m0 theta speed0", &err));
    const tr_compile_options open = {.fix_parameters = false};
    tr_program *program = tr_compile(system, "wdot wdot_q wdot_w wdot_u wdot_p", &open, &err);
    tr_workspace *work = tr_workspace_new(program, &err);
    if (err.status) fail_msg("%s", err.text);
    const size_t n = tr_input_count(system);
    double *in = calloc(n, sizeof *in), out[200];
    tr_system *start = leaning();
    Flow *flow = tr_flow_new(start, &err);
    memcpy(in, flow->inputs, n * sizeof *in);
    tr_evaluate(program, work, in, out);
    assert_int_equal(tr_program_sizes(program).outputs, 3 + 3 * (9 + 3 + 4 + 3));
    static const struct {
        const char *name;
        uint32_t place, columns; // of the first row in the outputs
    } by[] = {{"steer", 3 + 6, 9},       {"frame.inner.wx", 3 + 27, 3}, {"steer_rate", 3 + 28, 3},
              {"front_rate", 3 + 29, 3}, {"steer_torque", 3 + 36, 4},   {"roll_torque", 3 + 39, 4},
              {"m0", 3 + 48 + 1, 3},     {"theta", 3 + 48, 3}, // in the order of the model
              {"speed0", 3 + 48 + 2, 3}};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        uint32_t at = 0;
        while (at < n && strcmp(tr_input_name(system, at), by[i].name) != 0) at++;
        assert_true(at < n);
        for (uint32_t row = 0; row < 3; row++) {
            const double h = 1e-5 * fmax(1, fabs(in[at]));
            const double slope = (wdot_of(program, work, in, at, in[at] + h, row) -
                                  wdot_of(program, work, in, at, in[at] - h, row)) /
                                 (2 * h);
            const double found = out[by[i].place + row * by[i].columns];
            if (!is_close(slope, found, 1e-6))
                fail_msg("d(wdot %u)/d(%s) is %.9g, not %.9g", row, by[i].name, slope, found);
        }
    }
    // about the frame's x axis: the quaternion moves along q (0, 1/2, 0, 0)
    uint32_t q = 0;
    while (strcmp(tr_input_name(system, q), "frame.qw") != 0) q++;
    double way[4], sides[2][200];
    quaternion_product(in + q, (const double[]){0, 0.5, 0, 0}, way);
    for (int side = 0; side < 2; side++) {
        double moved[500];
        memcpy(moved, in, n * sizeof *in);
        for (int k = 0; k < 4; k++) moved[q + (uint32_t)k] += (side ? -1e-5 : 1e-5) * way[k];
        tr_evaluate(program, work, moved, sides[side]);
    }
    for (int row = 0; row < 3; row++)
        assert_close((sides[0][row] - sides[1][row]) / 2e-5, out[3 + 9 * row + 3], 1e-6);
    tr_error wrong = {0};
    assert_false(tr_differentiate_system(system, "m0 thetta", &wrong));
    assert_int_equal(wrong.status, TR_USAGE);
    assert_non_null(strstr(wrong.text, "'thetta'; did you mean 'theta'?"));
    free(in);
    tr_workspace_free(work);
    tr_program_free(program);
    tr_flow_free(flow);
    tr_system_free(start);
    tr_system_free(system);
}

// ---- gains of a model ----------------------------------------------------------------------

// Those of the ballbot put the poles of both directions at -2, -2.2, -5 and -6 1/s, as it says.
static void ballbot_has_its_poles(void **state)
{
    (void)state;
    static const double poles[] = {-2, -2.2, -5, -6};
    tr_error err = {0};
    tr_model *model = model_called("ballbot");
    change(model, "outputs/lean", "body.R33"); // an angle from the vertical has no slope there
    tr_system *system = system_set(model, "stand", "lean_x0=0 lean_y0=0");
    tr_linear *l = linear_of(system, true);
    double values[MOST][2];
    assert_true(l->states <= MOST && tr_linear_eigenvalues(l, values, &err));
    for (int i = 0; i < 4; i++) {
        int found = 0;
        for (uint32_t k = 0; k < l->states; k++)
            found += hypot(values[k][0] - poles[i], values[k][1]) <= 5e-4;
        if (found != 2) fail_msg("%d times %g", found, poles[i]);
    }
    for (uint32_t k = 0; k < l->states; k++) assert_true(values[k][0] <= 0);
    tr_linear_free(l);
    tr_system_free(system);
}

// ---- bad input -----------------------------------------------------------------------------

static void check_refusal(tr_system *system, const char *name, double from, double to, double step,
                          const char *words)
{
    tr_error err = {0};
    assert_null(tr_sweep_new(system, name, from, to, step, &err));
    if (!strstr(err.text, words)) fail_msg("'%s' has no '%s'", err.text, words);
    assert_int_equal(err.status, TR_USAGE);
}

static void refuses(void **state)
{
    (void)state;
    tr_system *system = system_from(pole);
    check_refusal(system, "kk", 0, 1, 0.1, "there is no parameter or input 'kk'");
    check_refusal(system, "othr", 0, 1, 0.1, "did you mean 'other'?");
    check_refusal(system, "a", 0, 1, 0.1, "'a'");
    check_refusal(system, "half", 0, 1, 0.1, "follows from others");
    check_refusal(system, "k", 0, 1, 0, "positive");
    check_refusal(system, "k", 0, 1, -1, "positive");
    check_refusal(system, "k", 1, 0, 0.1, "upwards");
    check_refusal(system, "k", 0, (double)INFINITY, 0.1, "a number");
    check_refusal(system, "k", 0, 1, (double)NAN, "a number");
    check_refusal(system, "k", 0, 1, 1e-9, "at most");
    tr_error err = {0};
    assert_null(tr_sweep_new(system, "m", 0, 1, 0.5, &err)); // no mass, no acceleration
    assert_int_equal(err.status, TR_FAILED);
    assert_non_null(strstr(err.text, "at m = 0: "));
    tr_linear *l = linear_of(system, false);
    double A[4], B[4];
    err = (tr_error){0};
    assert_false(tr_linear_discretise(l, 0, A, B, &err));
    assert_int_equal(err.status, TR_USAGE);
    tr_linear_free(l);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recovers_the_benchmark_matrices),
        cmocka_unit_test(has_the_published_eigenvalues),
        cmocka_unit_test(finds_the_critical_speeds),
        cmocka_unit_test(follows_eigenvalues),
        cmocka_unit_test(has_the_static_wheel_loads),
        cmocka_unit_test(predicts_to_second_order),
        cmocka_unit_test(is_exact_off_the_equilibrium),
        cmocka_unit_test(discrete_model_follows_the_motion),
        cmocka_unit_test(finds_symmetries),
        cmocka_unit_test(finds_modes),
        cmocka_unit_test(splits_off_zeros),
        cmocka_unit_test(finds_ranks),
        cmocka_unit_test(knows_what_steering_reaches),
        cmocka_unit_test(discretises),
        cmocka_unit_test(follows_crossings),
        cmocka_unit_test(finds_roots),
        cmocka_unit_test(finds_closed_forms),
        cmocka_unit_test(lets_eigenvalues_pass),
        cmocka_unit_test(differentiates_accelerations),
        cmocka_unit_test(ballbot_has_its_poles),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
