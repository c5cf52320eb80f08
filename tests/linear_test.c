// SPDX-License-Identifier: Apache-2.0
// Linear models against published ones, against what motions beside a motion do, and against closed
// forms; programs of derivatives.
//
// The oracle of the states is written with poses and coordinates: deviation_of() compares two
// states and knows nothing of how the linear model was made.
#include "linears.h"
#include "plans.h"

// ---- models --------------------------------------------------------------------------------

static uint32_t place_of(const char *const *names, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    fail_msg("there is no '%s'", name);
    return 0;
}

// ---- the bicycle of Meijaard et al. --------------------------------------------------------

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
    close_flow(flow);
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
    close_flow(b->flow);
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
    tr_flow_fill_all(b->flow, 0, y);
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
    const double eps = 1e-4, tau = 1e-4;
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
            if (!is_below(fabs(sum - rate[i]), 3e-5 * most))
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
    if (!(is_below(off[0], 1e-3) && off[0] / off[1] > 70))
        fail_msg("off by %g and %g", off[0], off[1]);
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

// ---- programs of derivatives ---------------------------------------------------------------

typedef struct Slopes {
    tr_system *system;
    tr_program *program;
    tr_workspace *work;
    double *in, out[200];
} Slopes;

// wdot and its derivatives, where the bicycle leans
static Slopes slopes_of_leaning(void)
{
    tr_error err = {0};
    Slopes s = {.system = leaning()};
    const tr_compile_options open = {.size = sizeof open, .parameters = "m0 theta speed0"};
    s.program = compile_reduced(s.system, "wdot wdot_q wdot_w wdot_u wdot_p", &open, &err);
    s.work = tr_workspace_new(s.program, &err);
    if (err.status) fail_msg("%s", err.text);
    s.in = calloc(tr_input_count(s.system), sizeof *s.in);
    tr_system *start = leaning();
    Flow *flow = flow_of(start);
    memcpy(s.in, flow->inputs, tr_input_count(s.system) * sizeof *s.in);
    tr_evaluate(s.program, s.work, s.in, s.out);
    assert_int_equal(tr_program_sizes(s.program).outputs, 3 + 3 * (9 + 3 + 4 + 3));
    close_flow(flow);
    tr_system_free(start);
    return s;
}

static double wdot_of(const Slopes *s, size_t at, double value, uint32_t row)
{
    double out[200];
    const double kept = s->in[at];
    s->in[at] = value;
    tr_evaluate(s->program, s->work, s->in, out);
    s->in[at] = kept;
    return out[row];
}

static void check_slopes_by_name(const Slopes *s)
{
    static const struct {
        const char *name;
        uint32_t place, columns; // of the first row in the outputs
    } by[] = {{"steer", 3 + 6, 9},       {"frame.inner.wx", 3 + 27, 3}, {"steer_rate", 3 + 28, 3},
              {"front_rate", 3 + 29, 3}, {"steer_torque", 3 + 36, 4},   {"roll_torque", 3 + 39, 4},
              {"m0", 3 + 48 + 1, 3},     {"theta", 3 + 48, 3}, // in the order of the model
              {"speed0", 3 + 48 + 2, 3}};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        const size_t at = input_index(s->system, by[i].name);
        for (uint32_t row = 0; row < 3; row++) {
            const double h = 1e-5 * fmax(1, fabs(s->in[at]));
            const double slope =
                (wdot_of(s, at, s->in[at] + h, row) - wdot_of(s, at, s->in[at] - h, row)) / (2 * h);
            const double found = s->out[by[i].place + row * by[i].columns];
            if (!is_close(slope, found, 1e-6))
                fail_msg("d(wdot %u)/d(%s) is %.9g, not %.9g", row, by[i].name, slope, found);
        }
    }
}

// About the frame's x axis: the quaternion moves along q (0, 1/2, 0, 0)
static void check_slopes_about_an_axis(const Slopes *s)
{
    const size_t q = input_index(s->system, "frame.qw"), n = tr_input_count(s->system);
    double way[4], sides[2][200];
    quaternion_product(s->in + q, (const double[]){0, 0.5, 0, 0}, way);
    for (int side = 0; side < 2; side++) {
        double moved[500];
        assert_true(n <= 500);
        memcpy(moved, s->in, n * sizeof *moved);
        for (size_t k = 0; k < 4; k++) moved[q + k] += (side ? -1e-5 : 1e-5) * way[k];
        tr_evaluate(s->program, s->work, moved, sides[side]);
    }
    for (int row = 0; row < 3; row++)
        assert_close((sides[0][row] - sides[1][row]) / 2e-5, s->out[3 + 9 * row + 3], 1e-6);
}

static void differentiates_accelerations(void **state)
{
    (void)state;
    Slopes s = slopes_of_leaning();
    check_slopes_by_name(&s);
    check_slopes_about_an_axis(&s);
    tr_error wrong = {0};
    const tr_compile_options thetta = {.size = sizeof thetta, .parameters = "m0 thetta"};
    assert_null(compile_reduced(s.system, "wdot", &thetta, &wrong));
    assert_int_equal(wrong.status, TR_USAGE);
    assert_non_null(strstr(wrong.text, "'thetta'; did you mean 'theta'?"));
    free(s.in);
    tr_workspace_free(s.work);
    tr_program_free(s.program);
    tr_system_free(s.system);
}

// ---- gains of a model ----------------------------------------------------------------------

// Those of the ballbot put the poles of both directions at -2, -2.2, -5 and -6 1/s, as it says.
static void ballbot_has_its_poles(void **state)
{
    (void)state;
    static const double poles[] = {-2, -2.2, -5, -6};
    tr_error err = {0};
    tr_model *model = model_called("ballbot");
    // upright and at rest an angle from the vertical and the size of a force have no slopes
    change(model, "outputs/lean", "body.R33");
    change(model, "outputs/slip_demand", "0");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recovers_the_benchmark_matrices),
        cmocka_unit_test(has_the_published_eigenvalues),
        cmocka_unit_test(has_the_static_wheel_loads),
        cmocka_unit_test(predicts_to_second_order),
        cmocka_unit_test(is_exact_off_the_equilibrium),
        cmocka_unit_test(discrete_model_follows_the_motion),
        cmocka_unit_test(finds_symmetries),
        cmocka_unit_test(differentiates_accelerations),
        cmocka_unit_test(ballbot_has_its_poles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
