// SPDX-License-Identifier: Apache-2.0
// The bicycle at random states against Newton and Euler, and where it can start at all.
#include "plan/kkt.h"
#include "plan/start.h"
#include "plans.h"
#include "rolling.h"

static const int random_states = BRIEF ? 500 : 10000;

// ---- the bicycle by Newton and Euler -------------------------------------------------------

// Four bodies, as Meijaard, Papadopoulos, Ruina and Schwab (2007) have them, z up; six forces at
// the lowest points of the wheels, in world axes:
//
//   M v' + c = G^T F,   G v' = -(bias of the velocities of the wheels' points that touch)
enum { BODIES = 4, VELOCITIES = 9, UNKNOWNS = VELOCITIES + 6 };

static M3 symmetric(double xx, double yy, double zz, double xz)
{
    return (M3){{v3(xx, 0, xz), v3(0, yy, 0), v3(xz, 0, zz)}};
}

static void make_bicycle(NeForest *f)
{
    const double w = 1.02, trail = 0.08, tilt = M_PI / 10, h2 = 0.35, h3 = 0.3;
    const double hinge = w + trail - h2 * tan(tilt); // the fork's origin, ahead of the rear hub
    const M3 turned = m3_about(v3_axis(1), -tilt);
    const M3 fork = symmetric(0.05892, 0.06, 0.00708, 0.00756);
    const V3 steering = turned.column[2], axle = v3_axis(1), none = v3(0, 0, 0);
    memset(f, 0, sizeof *f);
    f->count = BODIES, f->gravity = v3(0, 0, -g);
    f->body[0] = (NeBody){-1, NE_FREE, .axis = axle, .mass = 85, .com = v3(0.3, 0, 0.6)};
    f->body[0].inertia = symmetric(9.2, 11, 2.8, -2.4);
    f->body[1] =
        (NeBody){0, NE_REVOLUTE, v3(hinge, 0, h2 - h3), v3(0, -tilt, 0), steering, .mass = 4};
    f->body[1].com = m3_across(turned, v3(0.9 - hinge, 0, 0.7 - h2));
    f->body[1].inertia = m3_product(m3_transposed(turned), m3_product(fork, turned));
    f->body[2] =
        (NeBody){1, NE_REVOLUTE, m3_across(turned, v3(w - hinge, 0, 0)), none, axle, .mass = 3};
    f->body[2].inertia = symmetric(0.1405, 0.28, 0.1405, 0);
    f->body[3] = (NeBody){0, NE_REVOLUTE, none, none, axle, .mass = 2};
    f->body[3].inertia = symmetric(0.0603, 0.12, 0.0603, 0);
    ne_number(f);
}

// Rows 3 k to 3 k + 2 of the constraints: the wheel's point that touches
static void touch_rows(const NeForest *f, int k, double G[6][VELOCITIES], double *bias)
{
    static NeJacobian J;
    const Roller wheel = {.radius = k ? 0.3 : 0.35, .n = v3_axis(2)};
    const NeBody *b = &f->body[k ? 3 : 2];
    const V3 a = b->R.column[1], W = b->spin, r = to_contact(&wheel, a);
    ne_jacobian(f, k ? 3 : 2, &J);
    const V3 turning = v3_cross(W, contact_rate(&wheel, a, W));
    const V3 rest = v3_plus(v3_plus(J.bias_c, v3_cross(J.bias_w, r)), turning);
    for (int i = 0; i < 3; i++) {
        bias[3 * k + i] = v3_at(rest, i);
        for (int v = 0; v < VELOCITIES; v++)
            G[3 * k + i][v] = v3_at(v3_plus(J.Jc[v], v3_cross(J.Jw[v], r)), i);
    }
}

// v', then F of the front wheel and of the rear one
static void bicycle_accelerations(NeForest *f, double *x)
{
    static NeDynamics d;
    double A[UNKNOWNS][UNKNOWNS] = {{0}}, G[6][VELOCITIES], bias[6];
    ne_dynamics(f, &d);
    for (int k = 0; k < 2; k++) touch_rows(f, k, G, bias);
    for (int v = 0; v < VELOCITIES; v++) {
        x[v] = -d.c[v];
        for (int l = 0; l < VELOCITIES; l++) A[v][l] = d.M[v][l];
        for (int i = 0; i < 6; i++) A[v][VELOCITIES + i] = -G[i][v], A[VELOCITIES + i][v] = G[i][v];
    }
    for (int i = 0; i < 6; i++) x[VELOCITIES + i] = -bias[i];
    gauss(UNKNOWNS, UNKNOWNS, &A[0][0], x);
}

static void put_state(NeForest *f, const Flow *flow)
{
    static const char *const q[] = {"frame.x",  "frame.y",  "frame.z", "frame.qw",
                                    "frame.qx", "frame.qy", "frame.qz"};
    static const char *const v[] = {"frame.vx", "frame.vy", "frame.vz",
                                    "frame.wx", "frame.wy", "frame.wz"};
    static const char *const joints[][2] = {
        {"steer", "steer_rate"}, {"front", "front_rate"}, {"rear", "rear_rate"}};
    for (int k = 0; k < 7; k++) f->body[0].q[k] = column_of(flow, q[k]);
    for (int k = 0; k < 6; k++) f->body[0].v[k] = column_of(flow, v[k]);
    for (int k = 0; k < 3; k++) {
        f->body[k + 1].q[0] = column_of(flow, joints[k][0]);
        f->body[k + 1].v[0] = column_of(flow, joints[k][1]);
    }
}

// Accelerations, and forces, at the state whose columns were computed last
static double newton_off(NeForest *f, const Flow *flow)
{
    static const char *const names[] = {"vx_acc",           "vy_acc",           "vz_acc",
                                        "wx_acc",           "wy_acc",           "wz_acc",
                                        "steer_acc",        "front_acc",        "rear_acc",
                                        "contact.front.Fx", "contact.front.Fy", "contact.front.Fz",
                                        "contact.rear.Fx",  "contact.rear.Fy",  "contact.rear.Fz"};
    double x[UNKNOWNS], off[2] = {0}, size[2] = {1, 1};
    put_state(f, flow);
    bicycle_accelerations(f, x);
    for (int k = 0; k < UNKNOWNS; k++) {
        const int kind = k >= VELOCITIES;
        off[kind] = fmax(off[kind], fabs(column_of(flow, names[k]) - x[k]));
        size[kind] = fmax(size[kind], fabs(x[k]));
    }
    return fmax(off[0] / size[0], off[1] / size[1]);
}

// ---- random states -------------------------------------------------------------------------

// How high the lowest points of the wheels are, from the frame's origin, rotation and steering: of
// a wheel with the axle a it is a_z that matters, O_z - h sqrt(1 - a_z^2).
static void wheel_heights(V3 O, M3 R, double steer, double *front, double *rear)
{
    const double w = 1.02, trail = 0.08, tilt = M_PI / 10, h2 = 0.35, h3 = 0.3;
    const double hinge = w + trail - h2 * tan(tilt);
    const M3 turned = m3_about(v3_axis(1), -tilt);
    const M3 fork = m3_product(R, m3_product(turned, m3_about(v3_axis(2), steer)));
    // The hub stands at (w, 0, h2 - h3) when the bicycle is straight.
    const V3 arm = m3_across(turned, v3(w - hinge, 0, 0));
    const V3 joint = v3_plus(O, m3_times(R, v3(hinge, 0, h2 - h3)));
    const V3 hub = v3_plus(joint, m3_times(fork, arm));
    *front = hub.z - h2 * sqrt(1 - fork.column[1].z * fork.column[1].z);
    *rear = O.z - h3 * sqrt(1 - R.column[1].z * R.column[1].z);
}

static void quaternion_of(double yaw, double roll, double *q)
{
    const double cy = cos(yaw / 2), sy = sin(yaw / 2), cr = cos(roll / 2), sr = sin(roll / 2);
    q[0] = cy * cr, q[1] = cy * sr, q[2] = sy * sr, q[3] = sy * cr;
}

typedef struct Rolls {
    tr_system *system;
    Conditions *conditions;
    Flow *flow;
    NeForest forest;
    double *x; // all inputs
    int refused, charts;
    double lean, steer; // the most there was
    double kkt, newton, height, position, velocity;
} Rolls;

// Near a lean, a course and a steering angle; false, with words, when there is nothing such
static bool assemble_somewhere(Rolls *r, Random *random)
{
    tr_error err = {0};
    const size_t pose = input_index(r->system, "frame.x"), steer = input_index(r->system, "steer");
    const double lean = random_between(random, -1.396, 1.396);
    r->x[pose] = random_between(random, -5, 5);
    r->x[pose + 1] = random_between(random, -5, 5);
    r->x[pose + 2] = 0.3 * cos(lean);
    quaternion_of(random_between(random, -3, 3), lean, r->x + pose + 3);
    r->x[steer] = random_between(random, -1.5708, 1.5708);
    if (tr_conditions_solve(r->conditions, r->x, false, &err)) return true;
    assert_int_equal(err.status, TR_INVALID);
    assert_non_null(strstr(err.text, "cannot all hold"));
    r->refused++;
    return false;
}

static void check_heights(Rolls *r)
{
    const size_t pose = input_index(r->system, "frame.x"), steer = input_index(r->system, "steer");
    const M3 R = m3_quaternion(r->x + pose + 3);
    double front, rear;
    wheel_heights(v3(r->x[pose], r->x[pose + 1], r->x[pose + 2]), R, r->x[steer], &front, &rear);
    r->height = fmax(r->height, fmax(fabs(front), fabs(rear)));
    r->lean = fmax(r->lean, fabs(asin(R.column[1].z)));
    r->steer = fmax(r->steer, fabs(r->x[steer]));
}

// With any velocities that the chart leaves free
static void check_rates(Rolls *r, Random *random)
{
    double y[40], rate[40], position, velocity;
    tr_error err = {0};
    bool changed;
    Flow *flow = r->flow;
    assert_true(flow->size <= 40);
    for (uint32_t k = 0; k + 1 < flow->size; k++)
        y[k] = k < flow->positions ? r->x[flow->now->place[k]] : random_between(random, -5, 5);
    y[flow->size - 1] = 0;
    if (!tr_flow_rechart(flow, 0, y, tr_flow_quality(flow, 0, y), &changed, &err))
        fail_msg("%s", err.text);
    r->charts += changed;
    for (uint32_t k = flow->positions; changed && k + 1 < flow->size; k++)
        y[k] = random_between(random, -5, 5);
    tr_flow_rate(flow, 0, y, rate);
    for (uint32_t k = 0; k < flow->size; k++) assert_true(isfinite(rate[k]));
    tr_flow_columns(flow, 0, y, flow->column);
    for (uint32_t k = 0; k < flow->column_count; k++) assert_true(isfinite(flow->column[k]));
    tr_flow_residual(flow, 0, y, &position, &velocity);
    r->position = fmax(r->position, position), r->velocity = fmax(r->velocity, velocity);
    const double kkt = tr_kkt_difference(flow->now->kkt, 0, y);
    assert_below(kkt, 1e-8);
    r->kkt = fmax(r->kkt, kkt);
    r->newton = fmax(r->newton, newton_off(&r->forest, flow));
}

static void test_random_states(void **state)
{
    (void)state;
    Random random = {20071983};
    tr_error err = {0};
    static Rolls r;
    r = (Rolls){.system = system_of(bicycle_with_accelerations(), "state")};
    make_bicycle(&r.forest);
    r.flow = flow_of(r.system);
    r.conditions =
        tr_conditions_new(tr_footing_positions(r.flow->plan, r.flow->footing, &err), &err);
    r.x = calloc(tr_input_count(r.system), sizeof *r.x);
    tr_start_values(r.system, r.x);
    for (int i = 0; i < random_states; i++) {
        if (!assemble_somewhere(&r, &random)) continue;
        check_heights(&r);
        check_rates(&r, &random);
    }
    print_message("%d of %d refused, lean to %.2f, steer to %.2f, %d changes of chart\n", r.refused,
                  random_states, r.lean, r.steer, r.charts);
    print_message("kkt %.1e, Newton %.1e, heights %.1e, positions %.1e, velocities %.1e\n", r.kkt,
                  r.newton, r.height, r.position, r.velocity);
    assert_true(r.refused <= random_states / 100);
    assert_true(r.lean > 1.35 && r.steer > 1.5);
    assert_below(r.newton, 1e-9);
    assert_below(r.height, 1e-10);
    assert_below(r.position, 1e-10);
    assert_below(r.velocity, 1e-10);
    free(r.x);
    close_flow(r.flow);
    tr_conditions_free(r.conditions);
    tr_system_free(r.system);
}

// ---- starts --------------------------------------------------------------------------------

// Front wheel above the ground at a pitch, when the rear one stands on it
static double front_height(double roll, double steer, double pitch)
{
    const M3 R = m3_product(m3_about(v3_axis(0), roll), m3_about(v3_axis(1), pitch));
    double front, rear;
    wheel_heights(v3(0, 0, 0), R, steer, &front, &rear);
    return front - rear;
}

// The highest that the front wheel comes above the ground, and the lowest
static void find_reach(double roll, double steer, double *low, double *high)
{
    enum { PIECES = 2000 };
    *low = (double)INFINITY, *high = -(double)INFINITY;
    for (int i = 0; i < PIECES; i++) {
        const double height = front_height(roll, steer, 2 * M_PI * i / PIECES);
        *low = fmin(*low, height), *high = fmax(*high, height);
    }
}

// Whether it starts so; otherwise it says what cannot be.
static bool starts(double roll, double steer, double *off)
{
    const Number values[] = {
        {"roll0", roll}, {"steer0", steer}, {"roll_rate0", 0.3}, {"speed0", 4}};
    tr_error err = {0};
    tr_system *system = system_with("bicycle", "state", values, 4);
    double *x = calloc(tr_input_count(system), sizeof *x), front, rear;
    const bool good = initial_of(system, x, &err);
    const double *q = x + input_index(system, "frame.x");
    const M3 R = m3_quaternion(q + 3);
    wheel_heights(v3(q[0], q[1], q[2]), R, x[input_index(system, "steer")], &front, &rear);
    if (good) *off = fmax(fabs(front), fmax(fabs(rear), fabs(asin(R.column[1].z) - roll)));
    if (!good) assert_int_equal(err.status, TR_INVALID);
    if (!good) assert_non_null(strstr(err.text, "cannot all hold at t = 0: "));
    if (!good) assert_non_null(strstr(err.text, "'front.normal'"));
    free(x);
    tr_system_free(system);
    return good;
}

// There is a start wherever some pitch puts both wheels on the ground, and nowhere else.
static void test_starts(void **state)
{
    (void)state;
    Random random = {1865};
    int refused = 0;
    double worst = 0, low, high;
    for (int i = 0; i < random_states / 50; i++) {
        const double roll = random_between(&random, -1.396, 1.396),
                     steer = random_between(&random, -1.5708, 1.5708);
        double off = 0;
        find_reach(roll, steer, &low, &high);
        if (fabs(low) < 1e-3 || fabs(high) < 1e-3) continue; // just so
        const bool possible = low < 0 && high > 0;
        if (starts(roll, steer, &off) != possible)
            fail_msg("roll %.3f, steer %.3f is %spossible", roll, steer, possible ? "" : "im");
        refused += !possible;
        worst = fmax(worst, off);
    }
    print_message("%d of %d refused, others %.1e off\n", refused, random_states / 50, worst);
    assert_true(refused <= random_states / 250);
    assert_below(worst, 1e-10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_states),
        cmocka_unit_test(test_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
