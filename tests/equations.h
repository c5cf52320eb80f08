// SPDX-License-Identifier: Apache-2.0
// What holds for the equations of every model, checked wherever a test looks at a state.
#ifndef TR_TESTS_EQUATIONS_H
#define TR_TESTS_EQUATIONS_H

#include "newton_euler.h"

enum { STATES = 100 };

#define REVOLUTE_Y "joint: {type: revolute, axis: \"0, 1, 0\""
#define ROUND      "inertia: {xx: 1, yy: 1, zz: 1}"

// ---- what holds for every model ------------------------------------------------------------

static inline const char *tau_name(const Input *velocity, char name[160])
{
    snprintf(name, 160, "tau.%s", velocity->name);
    char *rate = strstr(name, "_rate");
    if (rate && !strchr(name + 4, '.')) *rate = 0;
    return name;
}

// M symmetric and positive definite, M v' + c = Q (+ tau), 2 T = v.M v, power = dE/dt
static inline void check_equations(const Probe *p)
{
    const uint32_t n = p->velocities;
    const double *M = probe_output(p, "M"), *c = probe_output(p, "c"), *Q = probe_output(p, "Q"),
                 *v = probe_output(p, "v"), *a = probe_output(p, "vdot");
    double twice = 0, copy[NE_MAX], power = 1;
    double *spent = malloc(n * n * sizeof *spent);
    for (uint32_t i = 0; i < p->system->input_count; i++) {
        const Input *input = &p->system->inputs[i];
        if (input->kind != TR_VELOCITY) continue;
        const uint32_t k = probe_velocity(p, input->name);
        char name[160];
        const double tau = input->drive == DRIVE_MOTION ? probe_get(p, tau_name(input, name)) : 0;
        double force = c[k] - Q[k] - tau, size = 1 + fabs(c[k]) + fabs(Q[k]) + fabs(tau);
        for (uint32_t l = 0; l < n; l++) {
            assert_true(same_bits(M[k * n + l], M[l * n + k]));
            force += M[k * n + l] * a[l];
            size += fabs(M[k * n + l] * a[l]);
            twice += v[k] * M[k * n + l] * v[l];
            spent[k * n + l] = M[k * n + l];
        }
        copy[k] = force / size;
        power += size * fabs(v[k]);
    }
    for (uint32_t k = 0; k < n; k++) assert_close(copy[k], 0, 1e-13);
    assert_true(ne_is_positive((int)n, spent));
    free(spent);
    assert_close(probe_get(p, "kinetic"), twice / 2, 1e-13);
    assert_close(probe_get(p, "energy_rate") / power, probe_get(p, "power") / power, 1e-13);
}

static inline void next_state(Probe *p, Random *r)
{
    for (uint32_t i = 0; i < p->system->input_count; i++)
        if (p->system->inputs[i].kind == TR_PARAMETER) p->in[i] = random_between(r, 0.5, 2);
    probe_random(p, r);
    check_equations(p);
}

static inline void quaternion_of(Probe *p, const char *body, double q[4])
{
    static const char *const parts[] = {"qw", "qx", "qy", "qz"};
    char name[40];
    for (int k = 0; k < 4; k++) {
        snprintf(name, sizeof name, "%s.%s", body, parts[k]);
        q[k] = probe_at(p, name);
    }
}
static inline M3 rotation_of(Probe *p, const char *body)
{
    double q[4];
    quaternion_of(p, body, q);
    return m3_quaternion(q);
}
// Three velocities or their rates: "vx vy vz" of a body for 'v'
static inline V3 three(Probe *p, const char *body, char kind, bool rates)
{
    double x[3];
    char name[40];
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "%s.%c%c", body, kind, "xyz"[k]);
        x[k] = probe_output(p, rates ? "vdot" : "v")[probe_velocity(p, name)];
    }
    return v3(x[0], x[1], x[2]);
}

#define assert_same_vector(a, b, tolerance)          \
    do {                                             \
        const V3 same_a = (a), same_b = (b);         \
        assert_close(same_a.x, same_b.x, tolerance); \
        assert_close(same_a.y, same_b.y, tolerance); \
        assert_close(same_a.z, same_b.z, tolerance); \
    } while (0)

// ---- closed forms --------------------------------------------------------------------------

#define PENDULUM                                                                         \
    "trundle: 1\n"                                                                       \
    "parameters: {m1: 1, m2: 1, l1: 1, l2: 1, g: 9.81}\n"                                \
    "gravity: 0, 0, -g\n"                                                                \
    "bodies:\n"                                                                          \
    "  upper: {" REVOLUTE_Y ", coordinate: a}, mass: m1, com: \"0, 0, -l1\"}\n"          \
    "  lower:\n"                                                                         \
    "    parent: upper\n"                                                                \
    "    joint: {type: revolute, axis: \"0, 3, 0\", at: \"0, 0, -l1\", coordinate: b}\n" \
    "    mass: m2\n"                                                                     \
    "    com: 0, 0, -l2\n"

#endif
