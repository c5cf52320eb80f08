// SPDX-License-Identifier: Apache-2.0
// Things that roll, on plain numbers: where a wheel or a ball touches a plane, and how that moves.
#ifndef TR_TESTS_ROLLING_H
#define TR_TESTS_ROLLING_H

#include "newton_euler.h"
#include "runs.h"

static const double g = 9.81;

static inline V3 vector_at(const Sheet *s, size_t row, const char *x, const char *y, const char *z)
{
    return v3(at(s, row, x), at(s, row, y), at(s, row, z));
}

// ---- vectors and angles --------------------------------------------------------------------

// A column that was computed last
static inline double column_of(const Flow *flow, const char *name)
{
    for (uint32_t i = 0; i < flow->column_count; i++)
        if (strcmp(flow->labels[i], name) == 0) return flow->column[i];
    fail_msg("there is no column %s", name);
    return (double)NAN;
}

// ---- states with torques -------------------------------------------------------------------

static inline tr_model *bicycle_with_accelerations(void)
{
    static const char *const outputs[][2] = {
        {"outputs/vx_acc", "d(frame.vx)"},           {"outputs/vy_acc", "d(frame.vy)"},
        {"outputs/vz_acc", "d(frame.vz)"},           {"outputs/wx_acc", "d(frame.wx)"},
        {"outputs/wy_acc", "d(frame.wy)"},           {"outputs/wz_acc", "d(frame.wz)"},
        {"outputs/steer_acc", "d(d(steer))"},        {"outputs/front_acc", "d(d(front))"},
        {"outputs/rear_acc", "d(rear_rate)"},        {"outputs/rear_up", "contact.rear.fz"},
        {"outputs/rear_forward", "contact.rear.fx"}, {"outputs/rear_left", "contact.rear.fy"},
        {"outputs/fork_x", "contact.front.fx"},      {"outputs/fork_y", "contact.front.fy"},
        {"outputs/fork_z", "contact.front.fz"},      {"outputs/front_angle", "contact.front.angle"},
        {"outputs/rear_angle", "contact.rear.angle"}};
    tr_model *model = model_called("bicycle");
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        change(model, outputs[i][0], outputs[i][1]);
    return model;
}

// ---- one body that rolls -------------------------------------------------------------------

// A wheel or ball with its mass centre in the middle, on a plane with the normal n
typedef struct Roller {
    const char *body, *contact;
    double m, Ia, Ir; // about the axle, y, and across it
    double radius, tube;
    bool is_ball;
    V3 n;
} Roller;

// From the middle to the point that touches, of a wheel with the axle a
static inline V3 to_contact(const Roller *w, V3 a)
{
    const double radius = w->is_ball ? 0 : w->radius - w->tube,
                 tube = w->is_ball ? w->radius : w->tube;
    const V3 up = v3_minus(w->n, v3_times(v3_dot(w->n, a), a));
    return v3_plus(v3_times(-radius, v3_unit(up)), v3_times(-tube, w->n));
}

// Its rate as the wheel turns with W: with u = n - (n.a) a, a' = W x a and e = u/|u|,
// u' = -(n.a') a - (n.a) a' and e' = (u' - (e.u') e)/|u|
static inline V3 contact_rate(const Roller *w, V3 a, V3 W)
{
    if (w->is_ball) return v3(0, 0, 0);
    const V3 da = v3_cross(W, a), u = v3_minus(w->n, v3_times(v3_dot(w->n, a), a)), e = v3_unit(u);
    const V3 du =
        v3_times(-1, v3_plus(v3_times(v3_dot(w->n, da), a), v3_times(v3_dot(w->n, a), da)));
    const V3 de = v3_minus(du, v3_times(v3_dot(e, du), e));
    return v3_times(-(w->radius - w->tube) / sqrt(v3_dot(u, u)), de);
}

#endif
