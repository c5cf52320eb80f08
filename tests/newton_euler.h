// SPDX-License-Identifier: Apache-2.0
// The oracle of the physics, on plain numbers: Newton's and Euler's laws of every body about its
// centre of mass, in world axes, brought together by the Jacobians of the bodies [d'Alembert]:
//
//   M = sum m Jc^T Jc + Jw^T I Jw
//   c = sum m Jc^T (Jc' v - g) + Jw^T (I Jw' v + w x I w)
//
// On purpose nothing here is recursive in forces, in body axes, or taken from src/mech. Below it, a
// way to look at a derived system at a state, by names.
#ifndef TR_TESTS_NEWTON_EULER_H
#define TR_TESTS_NEWTON_EULER_H

#include "base/text.h"
#include "expr/system.h"
#include "gauss.h"
#include "test.h"

enum { NE_MAX_BODIES = 32, NE_MAX = 6 * NE_MAX_BODIES };

// ---- vectors -------------------------------------------------------------------------------

typedef struct V3 {
    double x, y, z;
} V3;
typedef struct M3 {
    V3 column[3];
} M3;

static inline V3 v3(double x, double y, double z) { return (V3){x, y, z}; }
static inline V3 v3_plus(V3 a, V3 b) { return v3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline V3 v3_minus(V3 a, V3 b) { return v3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline V3 v3_times(double s, V3 a) { return v3(s * a.x, s * a.y, s * a.z); }
static inline double v3_dot(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline V3 v3_cross(V3 a, V3 b)
{
    return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline V3 v3_unit(V3 a) { return v3_times(1 / sqrt(v3_dot(a, a)), a); }
static inline V3 v3_axis(int k) { return v3(k == 0, k == 1, k == 2); }
static inline double v3_at(V3 a, int k) { return k == 0 ? a.x : k == 1 ? a.y : a.z; }

static inline V3 m3_times(M3 a, V3 b)
{
    return v3_plus(v3_plus(v3_times(b.x, a.column[0]), v3_times(b.y, a.column[1])),
                   v3_times(b.z, a.column[2]));
}
static inline V3 m3_across(M3 a, V3 b) // a^T b
{
    return v3(v3_dot(a.column[0], b), v3_dot(a.column[1], b), v3_dot(a.column[2], b));
}
static inline M3 m3_product(M3 a, M3 b)
{
    return (M3){{m3_times(a, b.column[0]), m3_times(a, b.column[1]), m3_times(a, b.column[2])}};
}
static inline M3 m3_transposed(M3 a)
{
    return (M3){{m3_across(a, v3_axis(0)), m3_across(a, v3_axis(1)), m3_across(a, v3_axis(2))}};
}
static inline M3 m3_identity(void) { return (M3){{v3_axis(0), v3_axis(1), v3_axis(2)}}; }

// b turned about the unit vector a: Rodrigues
static inline V3 v3_turned(V3 a, double angle, V3 b)
{
    const V3 along = v3_times(v3_dot(a, b), a), across = v3_minus(b, along);
    return v3_plus(
        along, v3_plus(v3_times(cos(angle), across), v3_times(sin(angle), v3_cross(a, across))));
}
static inline M3 m3_about(V3 a, double angle)
{
    return (M3){{v3_turned(a, angle, v3_axis(0)), v3_turned(a, angle, v3_axis(1)),
                 v3_turned(a, angle, v3_axis(2))}};
}
// about x, then y, then z of the fixed axes
static inline M3 m3_turn(V3 angles)
{
    return m3_product(m3_about(v3_axis(2), angles.z),
                      m3_product(m3_about(v3_axis(1), angles.y), m3_about(v3_axis(0), angles.x)));
}
// and what they are
static inline V3 m3_angles(M3 R)
{
    return v3(atan2(R.column[1].z, R.column[2].z), -asin(R.column[0].z),
              atan2(R.column[0].y, R.column[0].x));
}
// b -> b + 2 w (q x b) + 2 q x (q x b)
static inline M3 m3_quaternion(const double *q)
{
    M3 R;
    const V3 u = v3(q[1], q[2], q[3]);
    for (int k = 0; k < 3; k++) {
        const V3 once = v3_times(2, v3_cross(u, v3_axis(k)));
        R.column[k] = v3_plus(v3_plus(v3_axis(k), v3_times(q[0], once)), v3_cross(u, once));
    }
    return R;
}

static inline V3 any_vector(Random *r) { return v3(any(r), any(r), any(r)); }
static inline M3 any_rotation(Random *r) { return m3_turn(v3_times(3, any_vector(r))); }

// Moments of a box of mass somewhere, turned
static inline M3 any_inertia(Random *r, double low, double high)
{
    const double a = random_between(r, low, high), b = random_between(r, low, high),
                 c = random_between(r, low, high);
    const M3 R = any_rotation(r);
    M3 I;
    for (int k = 0; k < 3; k++) {
        const V3 x = m3_across(R, v3_axis(k));
        I.column[k] = m3_times(R, v3((b + c) * x.x, (a + c) * x.y, (a + b) * x.z));
    }
    return I;
}

// As a field of a model
static inline void add_vector(Buffer *b, const char *key, V3 x)
{
    tr_buffer_print(b, ", %s: \"", key);
    for (int k = 0; k < 3; k++) {
        if (k) tr_buffer_print(b, ", ");
        tr_buffer_number(b, v3_at(x, k));
    }
    tr_buffer_print(b, "\"");
}

// ---- forests -------------------------------------------------------------------------------

typedef enum NeType {
    NE_FIXED,
    NE_REVOLUTE,
    NE_PRISMATIC,
    NE_PLANAR,
    NE_BALL,
    NE_FREE,
    NE_UNIVERSAL,
    NE_CYLINDRICAL,
    NE_TYPES
} NeType;

static const char *const ne_type_names[] = {"fixed", "revolute", "prismatic", "planar",
                                            "ball",  "free",     "universal", "cylindrical"};
static const int ne_positions[] = {0, 1, 1, 3, 4, 7, 2, 2},
                 ne_velocities[] = {0, 1, 1, 3, 3, 6, 2, 2};
// Of joints with several
static const char *const ne_position_parts[][7] = {
    [NE_PLANAR] = {"x", "y", "theta"},
    [NE_BALL] = {"qw", "qx", "qy", "qz"},
    [NE_FREE] = {"x", "y", "z", "qw", "qx", "qy", "qz"},
    [NE_UNIVERSAL] = {"a", "b"},
    [NE_CYLINDRICAL] = {"travel", "angle"},
};
static const char *const ne_velocity_parts[][6] = {
    [NE_PLANAR] = {"vx", "vy", "wz"},
    [NE_BALL] = {"wx", "wy", "wz"},
    [NE_FREE] = {"vx", "vy", "vz", "wx", "wy", "wz"},
    [NE_UNIVERSAL] = {"a_rate", "b_rate"},
    [NE_CYLINDRICAL] = {"travel_rate", "angle_rate"},
};
// What roles call them
static inline const char *ne_role_part(NeType type, int k)
{
    const bool is_axial = type == NE_UNIVERSAL || type == NE_CYLINDRICAL;
    return is_axial ? ne_position_parts[type][k] : ne_velocity_parts[type][k];
}
static inline bool ne_is_axial(NeType type) // each velocity is the rate of a coordinate
{
    return type == NE_REVOLUTE || type == NE_PRISMATIC || type == NE_UNIVERSAL ||
           type == NE_CYLINDRICAL;
}

typedef struct NeBody {
    int parent; // before it in the list, or -1
    NeType type;
    V3 at, turn, axis;
    V3 second; // of a universal joint; where it is zero, one that is made of `axis`
    double mass;
    V3 com;
    M3 inertia; // about the centre of mass, in body axes
    double q[7], v[6];
    int first; // of its velocities, among all
    // found by ne_move
    M3 R;
    V3 p, velocity, spin;  // of its origin, in world axes
    V3 along[6], about[6]; // what its velocities are: linear and angular directions, world axes
    V3 carrier[6];         // angular velocities of the frames those directions stand still in
} NeBody;

typedef struct NeForest {
    NeBody body[NE_MAX_BODIES];
    int count, velocities;
    V3 gravity;
} NeForest;

static inline void ne_number(NeForest *f)
{
    f->velocities = 0;
    for (int i = 0; i < f->count; i++) {
        f->body[i].first = f->velocities;
        f->velocities += ne_velocities[f->body[i].type];
    }
}

// Never along the first, nor across it
static inline V3 ne_second(const NeBody *b)
{
    int least = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(v3_at(b->axis, k)) < fabs(v3_at(b->axis, least))) least = k;
    if (v3_dot(b->second, b->second) > 0) return b->second;
    return v3_plus(v3_cross(b->axis, v3_axis(least)), v3_times(0.3, b->axis));
}

// Where a joint puts its body, and the directions of its velocities.
static inline void ne_place(NeBody *b, M3 above, V3 origin)
{
    const M3 turn = m3_turn(b->turn);
    const V3 a = v3_unit(m3_times(above, b->axis)); // rounding would grow along a chain
    const V3 rest = v3_plus(origin, m3_times(above, b->at));
    const M3 home = m3_product(above, turn);
    memset(b->along, 0, sizeof b->along);
    memset(b->about, 0, sizeof b->about);
    b->p = rest, b->R = home;
    switch (b->type) {
    case NE_FIXED: break;
    case NE_REVOLUTE:
        b->R = m3_product(m3_about(a, b->q[0]), home);
        b->about[0] = a;
        break;
    case NE_PRISMATIC:
        b->p = v3_plus(rest, v3_times(b->q[0], a));
        b->along[0] = a;
        break;
    case NE_PLANAR:
        b->p = v3_plus(rest, m3_times(home, v3(b->q[0], b->q[1], 0)));
        b->R = m3_product(home, m3_about(v3_axis(2), b->q[2]));
        b->along[0] = b->R.column[0], b->along[1] = b->R.column[1];
        b->about[2] = b->R.column[2];
        break;
    case NE_BALL:
        b->R = m3_product(home, m3_quaternion(b->q));
        for (int k = 0; k < 3; k++) b->about[k] = b->R.column[k];
        break;
    case NE_FREE:
        b->p = v3_plus(rest, m3_times(home, v3(b->q[0], b->q[1], b->q[2])));
        b->R = m3_product(home, m3_quaternion(b->q + 3));
        for (int k = 0; k < 3; k++) b->along[k] = b->about[3 + k] = b->R.column[k];
        break;
    case NE_UNIVERSAL: {
        const M3 first = m3_about(a, b->q[0]);
        const V3 second = v3_unit(m3_times(above, ne_second(b)));
        b->R = m3_product(m3_product(first, m3_about(second, b->q[1])), home);
        b->about[0] = a, b->about[1] = m3_times(first, second);
        break;
    }
    case NE_CYLINDRICAL:
        b->p = v3_plus(rest, v3_times(b->q[0], a));
        b->R = m3_product(m3_about(a, b->q[1]), home);
        b->along[0] = b->about[1] = a;
        break;
    case NE_TYPES: break;
    }
}

// Poses and velocities of all bodies at their q and v.
static inline void ne_move(NeForest *f)
{
    for (int i = 0; i < f->count; i++) {
        NeBody *b = &f->body[i];
        const NeBody *up = b->parent < 0 ? NULL : &f->body[b->parent];
        ne_place(b, up ? up->R : m3_identity(), up ? up->p : v3(0, 0, 0));
        const V3 turning = up ? up->spin : v3(0, 0, 0);
        b->spin = turning;
        b->velocity =
            up ? v3_plus(up->velocity, v3_cross(turning, v3_minus(b->p, up->p))) : v3(0, 0, 0);
        for (int k = 0; k < ne_velocities[b->type]; k++) {
            b->spin = v3_plus(b->spin, v3_times(b->v[k], b->about[k]));
            b->velocity = v3_plus(b->velocity, v3_times(b->v[k], b->along[k]));
        }
        const bool in_parent = ne_is_axial(b->type);
        for (int k = 0; k < 6; k++) b->carrier[k] = in_parent ? turning : b->spin;
        if (b->type == NE_UNIVERSAL)
            b->carrier[1] = v3_plus(turning, v3_times(b->v[0], b->about[0]));
    }
}

// Columns of one body's Jacobian, and J' v, at its centre of mass.
typedef struct NeJacobian {
    V3 Jc[NE_MAX], Jw[NE_MAX];
    V3 bias_c, bias_w; // Jc' v, Jw' v
    M3 I;              // world axes
    V3 c;              // centre of mass
} NeJacobian;

static inline void ne_jacobian(const NeForest *f, int i, NeJacobian *J)
{
    memset(J, 0, sizeof *J);
    const NeBody *b = &f->body[i];
    const V3 arm = m3_times(b->R, b->com);
    J->c = v3_plus(b->p, arm);
    const V3 velocity = v3_plus(b->velocity, v3_cross(b->spin, arm)); // of c
    for (int j = i; j >= 0; j = f->body[j].parent) {
        const NeBody *up = &f->body[j];
        const V3 r = v3_minus(J->c, up->p), r_rate = v3_minus(velocity, up->velocity);
        for (int k = 0; k < ne_velocities[up->type]; k++) {
            const V3 about_rate = v3_cross(up->carrier[k], up->about[k]);
            const V3 along_rate = v3_cross(up->carrier[k], up->along[k]);
            const V3 rate = v3_plus(
                along_rate, v3_plus(v3_cross(about_rate, r), v3_cross(up->about[k], r_rate)));
            J->Jw[up->first + k] = up->about[k];
            J->Jc[up->first + k] = v3_plus(up->along[k], v3_cross(up->about[k], r));
            J->bias_w = v3_plus(J->bias_w, v3_times(up->v[k], about_rate));
            J->bias_c = v3_plus(J->bias_c, v3_times(up->v[k], rate));
        }
    }
    for (int k = 0; k < 3; k++) // R I R^T e_k
        J->I.column[k] = m3_times(b->R, m3_times(b->inertia, m3_across(b->R, v3_axis(k))));
}

typedef struct NeDynamics {
    int n;
    double M[NE_MAX][NE_MAX], c[NE_MAX];
    double kinetic, potential; // the potential of gravity alone
} NeDynamics;

static inline void ne_dynamics(NeForest *f, NeDynamics *d)
{
    static NeJacobian J;
    memset(d, 0, sizeof *d);
    d->n = f->velocities;
    ne_move(f);
    for (int i = 0; i < f->count; i++) {
        const NeBody *b = &f->body[i];
        ne_jacobian(f, i, &J);
        const V3 w = b->spin;
        const V3 force = v3_times(b->mass, v3_minus(J.bias_c, f->gravity));
        const V3 moment = v3_plus(m3_times(J.I, J.bias_w), v3_cross(w, m3_times(J.I, w)));
        for (int k = 0; k < d->n; k++) {
            d->c[k] += v3_dot(J.Jc[k], force) + v3_dot(J.Jw[k], moment);
            const V3 mJ = v3_times(b->mass, J.Jc[k]), IJ = m3_times(J.I, J.Jw[k]);
            for (int l = 0; l < d->n; l++) d->M[k][l] += v3_dot(mJ, J.Jc[l]) + v3_dot(IJ, J.Jw[l]);
        }
        const V3 vc = v3_plus(b->velocity, v3_cross(w, v3_minus(J.c, b->p)));
        d->kinetic += 0.5 * b->mass * v3_dot(vc, vc) + 0.5 * v3_dot(w, m3_times(J.I, w));
        d->potential -= b->mass * v3_dot(f->gravity, J.c);
    }
}

// True when a symmetric matrix (by rows) is positive definite; it is used up.
static inline bool ne_is_positive(int n, double *A)
{
    for (int k = 0; k < n; k++) {
        if (!(A[k * n + k] > 0)) return false;
        for (int i = k + 1; i < n; i++) {
            const double l = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; j++) A[i * n + j] -= l * A[k * n + j];
        }
    }
    return true;
}

// ---- a derived system at a state -----------------------------------------------------------

// All outputs of a system as one program, and more of them: q, v, vdot, and the rate of the energy
// as "energy_rate".
typedef struct Probe {
    System *system;
    tr_program *program;
    tr_workspace *workspace;
    double *in, *out;
    uint32_t velocities;
} Probe;

static inline void probe_add_outputs(Probe *p, tr_error *err)
{
    System *s = p->system;
    Expr q[2 * NE_MAX], v[NE_MAX], vdot[NE_MAX];
    uint32_t positions = 0;
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (s->inputs[i].kind == TR_POSITION) q[positions++] = s->inputs[i].symbol;
        if (s->inputs[i].kind != TR_VELOCITY) continue;
        v[p->velocities] = s->inputs[i].symbol;
        vdot[p->velocities++] = s->inputs[i].rate;
    }
    tr_output(s, "q", q, positions, 1, err); // where they are driven, as they are driven
    tr_output(s, "v", v, p->velocities, 1, err);
    tr_output(s, "all_vdot", vdot, p->velocities, 1, err);
    const Output *kinetic = tr_system_output(s, text_of("kinetic"));
    const Output *potential = tr_system_output(s, text_of("potential"));
    const Expr energy = add(kinetic->values[0], potential->values[0]);
    const Expr rate = tr_time_derivative(s, energy, err);
    tr_output(s, "energy_rate", &rate, 1, 1, err);
}

static inline Probe probe_of_system(System *system, bool fixed, tr_error *err)
{
    Probe p = {.system = system};
    if (!system) fail_msg("%d:%d: %s", err->line, err->column, err->text);
    probe_add_outputs(&p, err);
    char names[1 << 14] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < system->output_count; i++)
        length +=
            (size_t)snprintf(names + length, sizeof names - length, "%s ", system->outputs[i].name);
    const tr_compile_options options = {.size = sizeof options, .fix_parameters = fixed};
    p.program = tr_compile(system, names, &options, err);
    p.workspace = tr_workspace_new(p.program, err);
    if (err->status) fail_msg("%d:%d: %s", err->line, err->column, err->text);
    p.in = calloc(system->input_count, sizeof *p.in);
    p.out = calloc(tr_program_sizes(p.program).outputs, sizeof *p.out);
    for (uint32_t i = 0; i < system->input_count; i++) p.in[i] = system->inputs[i].value;
    return p;
}

static inline Probe probe_of_case(const char *text, const char *case_name)
{
    tr_error err = {0};
    tr_derive_options options = tr_derive_defaults();
    options.case_name = case_name;
    tr_model *model = tr_model_parse(text, &err);
    System *system = tr_derive(model, &options, &err);
    tr_model_free(model);
    return probe_of_system(system, false, &err);
}

static inline Probe probe_of(const char *text) { return probe_of_case(text, NULL); }

static inline void probe_free(Probe *p)
{
    tr_workspace_free(p->workspace);
    tr_program_free(p->program);
    tr_system_free(p->system);
    free(p->in);
    free(p->out);
    *p = (Probe){0};
}

static inline double *probe_input(Probe *p, const char *name)
{
    for (uint32_t i = 0; i < p->system->input_count; i++)
        if (!strcmp(p->system->inputs[i].name, name)) return &p->in[i];
    fail_msg("there is no input '%s'", name);
    return NULL;
}
static inline void probe_put(Probe *p, const char *name, double x) { *probe_input(p, name) = x; }
static inline double probe_at(Probe *p, const char *name) { return *probe_input(p, name); }

// All outputs at the inputs as they are.
static inline void probe_run(Probe *p) { tr_evaluate(p->program, p->workspace, p->in, p->out); }

static inline const double *probe_output(const Probe *p, const char *name)
{
    size_t offset = 0;
    for (uint32_t i = 0; i < p->system->output_count; i++) {
        const Output *output = &p->system->outputs[i];
        if (!strcmp(output->name, name)) return p->out + offset;
        offset += (size_t)output->rows * output->columns;
    }
    fail_msg("there is no output '%s'", name);
    return NULL;
}
static inline double probe_get(const Probe *p, const char *name) { return *probe_output(p, name); }

// The index of a velocity among all velocities.
static inline uint32_t probe_velocity(const Probe *p, const char *name)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < p->system->input_count; i++) {
        if (p->system->inputs[i].kind != TR_VELOCITY) continue;
        if (!strcmp(p->system->inputs[i].name, name)) return k;
        k++;
    }
    fail_msg("there is no velocity '%s'", name);
    return 0;
}
static inline double probe_vdot(const Probe *p, const char *name)
{
    return probe_output(p, "all_vdot")[probe_velocity(p, name)];
}

// A random state at a random time, quaternions units; runs it.
static inline void probe_random(Probe *p, Random *r)
{
    const System *s = p->system;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind != TR_PARAMETER) p->in[i] = random_between(r, -1.5, 1.5);
    for (uint32_t i = 0; i < s->quaternion_count; i++) {
        double *q = p->in + s->quaternions[i].position;
        const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (int k = 0; k < 4; k++) q[k] /= size;
    }
    probe_run(p);
}

// The size of what the power is a sum of: rounding of the rate of the energy is a part of that.
static inline double probe_power_size(const Probe *p)
{
    const double *M = probe_output(p, "M"), *c = probe_output(p, "c"), *Q = probe_output(p, "Q"),
                 *v = probe_output(p, "v"), *a = probe_output(p, "all_vdot");
    const uint32_t n = p->velocities;
    double sum = 0;
    for (uint32_t k = 0; k < n; k++) {
        double size = 1 + fabs(c[k]) + fabs(Q[k]);
        for (uint32_t l = 0; l < n; l++) size += fabs(M[k * n + l] * a[l]);
        sum += size * fabs(v[k]);
    }
    return sum;
}

static inline void assert_energy_rate(const Probe *p)
{
    const double size = probe_power_size(p);
    assert_close(probe_get(p, "energy_rate") / size, probe_get(p, "power") / size, 1e-13);
}

#endif
