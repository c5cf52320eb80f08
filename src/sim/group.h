// SPDX-License-Identifier: Apache-2.0
// Unit quaternions as a group: turning them, and how fast they turn.
#ifndef TR_SIM_GROUP_H
#define TR_SIM_GROUP_H

#include "expr/elementary.h"

#include <math.h>

static inline void cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

// q exp(u): turns the quaternion by the rotation vector u, given in the turned axes
static inline void turn(const double *q, const double *u, double *out)
{
    const double angle = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) / 2;
    const double c = el_cos(angle), s = angle > 1e-8 ? el_sin(angle) / (2 * angle) : 0.5;
    const double p[4] = {c, s * u[0], s * u[1], s * u[2]};
    double x[3];
    cross(q + 1, p + 1, x);
    const double w = q[0] * p[0] - q[1] * p[1] - q[2] * p[2] - q[3] * p[3];
    for (int i = 0; i < 3; i++) out[i + 1] = q[0] * p[i + 1] + p[0] * q[i + 1] + x[i];
    out[0] = w;
}

// W = 2 (qw q' - qw' q - q x q'), in the turned axes
static inline void angular_velocity(const double *q, const double *rate, double *W)
{
    cross(q + 1, rate + 1, W);
    for (int i = 0; i < 3; i++) W[i] = 2 * (q[0] * rate[i + 1] - rate[0] * q[i + 1] - W[i]);
}

// The rate of the rotation vector u of q0 exp(u) that turns at W: W + [u, W]/2 + [u, [u, W]]/12
static inline void rotation_rate(const double *u, const double *W, double *rate)
{
    double a[3], b[3];
    cross(u, W, a);
    cross(u, a, b);
    for (int i = 0; i < 3; i++) rate[i] = W[i] + a[i] / 2 + b[i] / 12;
}

#endif
