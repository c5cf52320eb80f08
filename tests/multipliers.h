// SPDX-License-Identifier: Apache-2.0
// Forests of bodies that are tied by constraints, and the oracle of their motion, on plain numbers:
//
//   M v' + c = Q + L lambda + G^T lambda + tau,     G v + g = 0,     G v' + gamma = 0
//
// M and c are those of newton_euler.h. What a tie keeps zero is written with vectors in world axes;
// G is what that is for unit velocities, gamma its slope along q' = N v by differences. Nothing is
// eliminated: one system of equations for v' and lambda, solved in the least-squares sense. Where
// lambda is not unique, its norm is least: n^T W lambda = 0 for every n with G_p^T n = 0, first in
// the norm of what does not lead, then in that of what does.
#ifndef TR_TESTS_MULTIPLIERS_H
#define TR_TESTS_MULTIPLIERS_H

#include "newton_euler.h"

#include <lapacke.h>
#undef I // of <complex.h>

enum { MAX_TIES = 16, MAX_ROWS = 3 * MAX_TIES, MAX_V = 64, PULLS = 3 };

typedef enum TieKind {
    SKATE,
    SLIDE,
    PIN,
    ROLLING,
    ROD,
    COUPLING,
    POSITION, // a sin(q_body) + b q_third + on.z - offset - swing sin(frequency t)
    RATE,     // a q_body' + b cos(q_third) on.wy - swing cos(frequency t)
    SUM,      // 2 of one such formula less 0.7 of another: `body` and `on` are ties
} TieKind;

static const struct {
    const char *section, *name, *part[3];
    int rows;
} tie_kinds[] = {
    [SKATE] = {"contacts", "skate", {"lateral"}, 1},
    [SLIDE] = {"contacts", "slide", {"normal"}, 1},
    [PIN] = {"contacts", "pin", {"normal", "longitudinal", "lateral"}, 3},
    [ROLLING] = {"contacts", "rolling", {"normal", "longitudinal", "lateral"}, 3},
    [ROD] = {"loops", "distance", {"distance"}, 1},
    [COUPLING] = {"couplings", "", {"coupling"}, 1},
    [POSITION] = {"constraints", "", {"position"}, 1},
    [RATE] = {"constraints", "", {"rate"}, 1},
    [SUM] = {"constraints", "", {"rate"}, 1},
};

typedef struct Tie {
    TieKind kind;
    int body, on, third; // bodies, -1 the world; of formulas, where their coordinates are
    V3 at, to, direction;
    double radius, a, b, offset; // rod: the offset is its length
    double swing, frequency;     // of what depends on time
    double factor;               // of the whole formula
    bool again;                  // follows from those before it, at least in part
    bool leads;
    double weight, second_weight; // the second for its second row, if it has one; 0: the same
} Tie;

typedef struct Part { // what a body has beyond its NeBody
    Drive drive;      // of joints with one coordinate
    double torque;
    double swing, frequency, phase; // motion: swing sin(frequency t + phase)
    double stiffness, rest, damping;
    bool round; // about its joint's axis
    double axial, radial;
} Part;

typedef struct Pull { // a force on a body
    int body, tie;    // tie: `force` times its reaction; -1: `force` itself
    bool in_body;
    V3 at, force;
} Pull;

typedef struct Thicket {
    NeForest ne;
    Part part[NE_MAX_BODIES];
    Tie tie[MAX_TIES];
    int ties;
    Pull pull[PULLS];
    int pulls;
    int tense; // the tie whose reaction is given as tension_of(t); -1
    double t;
} Thicket;

static inline bool is_single(const Thicket *f, int i)
{
    return ne_velocities[f->ne.body[i].type] == 1;
}
static inline bool is_driven(const Thicket *f, int i) { return f->part[i].drive == DRIVE_MOTION; }
static inline double tension_of(double t) { return 1.5 + 0.5 * sin(2 * t); }
#define TENSION_TEXT "1.5 + 0.5*sin(2*t)"

// ---- velocities that stay zero -------------------------------------------------------------

// What carries a point
typedef struct Carrier {
    M3 R;
    V3 p, velocity, spin;
} Carrier;

static inline Carrier carrier_of(const Thicket *f, int i)
{
    if (i < 0) return (Carrier){.R = m3_identity()};
    const NeBody *b = &f->ne.body[i];
    return (Carrier){b->R, b->p, b->velocity, b->spin};
}
static inline V3 point_of(Carrier c, V3 r) { return v3_plus(c.p, m3_times(c.R, r)); }
static inline V3 velocity_at(Carrier c, V3 P)
{
    return v3_plus(c.velocity, v3_cross(c.spin, v3_minus(P, c.p)));
}

// The disc's lowest point P has no velocity; it touches z = 0.
static inline void roll(const Thicket *f, const Tie *tie, double *phi, double *rate)
{
    const Carrier wheel = carrier_of(f, tie->body);
    const V3 n = v3_axis(2), a = m3_times(wheel.R, v3_unit(tie->direction));
    const V3 ahead = v3_unit(v3_cross(a, n)), down = v3_cross(a, ahead);
    const V3 P = v3_plus(point_of(wheel, tie->at), v3_times(tie->radius, down));
    const V3 V = velocity_at(wheel, P), row[3] = {n, ahead, v3_cross(n, ahead)};
    phi[0] = P.z;
    for (int k = 0; k < 3; k++) rate[k] = v3_dot(row[k], V);
}

static inline void touch(const Thicket *f, const Tie *tie, double *phi, double *rate)
{
    static const int pin_axes[] = {2, 0, 1};
    const Carrier body = carrier_of(f, tie->body), on = carrier_of(f, tie->on);
    const V3 P = point_of(body, tie->at), V = v3_minus(velocity_at(body, P), velocity_at(on, P));
    const V3 s = v3_minus(P, point_of(on, tie->to));
    if (tie->kind == SKATE) rate[0] = v3_dot(m3_times(body.R, v3_unit(tie->direction)), V);
    for (int k = 0; tie->kind != SKATE && k < tie_kinds[tie->kind].rows; k++) {
        phi[k] = v3_dot(on.R.column[pin_axes[k]], s);
        rate[k] = v3_dot(on.R.column[pin_axes[k]], V);
    }
}

static inline void hold_apart(const Thicket *f, const Tie *tie, double *phi, double *rate)
{
    const Carrier body = carrier_of(f, tie->body), on = carrier_of(f, tie->on);
    const V3 P = point_of(body, tie->at), Q = point_of(on, tie->to), d = v3_minus(P, Q);
    const V3 V = v3_minus(velocity_at(body, P), velocity_at(on, Q));
    const double length = sqrt(v3_dot(d, d)), w = tie->frequency;
    phi[0] = length - tie->offset - tie->swing * sin(w * f->t);
    rate[0] = v3_dot(d, V) / length - tie->swing * w * cos(w * f->t);
}

static inline void tie_rows(const Thicket *f, const Tie *tie, double *phi, double *rate);

static inline void follow_formula(const Thicket *f, const Tie *tie, double *phi, double *rate)
{
    const NeBody *x = &f->ne.body[tie->body], *y = &f->ne.body[tie->on],
                 *z = &f->ne.body[tie->third];
    const double s = tie->swing * sin(tie->frequency * f->t),
                 c = tie->swing * cos(tie->frequency * f->t);
    switch (tie->kind) {
    case COUPLING:
        phi[0] = x->q[0] - tie->a * y->q[0] - tie->b * z->q[0] - tie->offset - s;
        rate[0] = x->v[0] - tie->a * y->v[0] - tie->b * z->v[0] - c * tie->frequency;
        break;
    case POSITION:
        phi[0] = tie->a * sin(x->q[0]) + tie->b * z->q[0] + y->p.z - tie->offset - s;
        rate[0] =
            tie->a * cos(x->q[0]) * x->v[0] + tie->b * z->v[0] + y->velocity.z - c * tie->frequency;
        phi[0] *= tie->factor;
        break;
    case RATE:
        rate[0] = tie->a * x->v[0] + tie->b * cos(z->q[0]) * v3_dot(y->R.column[1], y->spin) - c;
        break;
    default: {
        double other[2], unused;
        tie_rows(f, &f->tie[tie->body], &unused, &other[0]);
        tie_rows(f, &f->tie[tie->on], &unused, &other[1]);
        rate[0] = 2 * other[0] - 0.7 * other[1];
    }
    }
    rate[0] *= tie->factor;
}

// What a tie keeps zero, and the rate of that; phi is NAN where there is only a rate.
static inline void tie_rows(const Thicket *f, const Tie *tie, double *phi, double *rate)
{
    for (int k = 0; k < tie_kinds[tie->kind].rows; k++) phi[k] = (double)NAN;
    if (tie->kind == ROLLING)
        roll(f, tie, phi, rate);
    else if (tie->kind <= PIN)
        touch(f, tie, phi, rate);
    else if (tie->kind == ROD)
        hold_apart(f, tie, phi, rate);
    else
        follow_formula(f, tie, phi, rate);
}

// Rows are counted tie by tie.
static inline int first_row(const Thicket *f, int tie)
{
    int row = 0;
    for (int i = 0; i < tie; i++) row += tie_kinds[f->tie[i].kind].rows;
    return row;
}

// The row whose reaction is given, or used by a force: of a wheel, the first may not be there.
static inline int chosen_part(const Tie *tie) { return tie->kind == ROLLING ? 1 : 0; }
static inline int chosen_row(const Thicket *f, int tie)
{
    return first_row(f, tie) + chosen_part(&f->tie[tie]);
}

// All rows at the state as it stands
static inline void all_rows(Thicket *f, double *phi, double *rate)
{
    ne_move(&f->ne);
    for (int i = 0; i < f->ties; i++)
        tie_rows(f, &f->tie[i], phi + first_row(f, i), rate + first_row(f, i));
}

// ---- the state -----------------------------------------------------------------------------

static inline void take_velocities(const Thicket *f, double *v)
{
    for (int i = 0; i < f->ne.count; i++)
        for (int k = 0; k < ne_velocities[f->ne.body[i].type]; k++)
            v[f->ne.body[i].first + k] = f->ne.body[i].v[k];
}
static inline void put_velocities(Thicket *f, const double *v)
{
    for (int i = 0; i < f->ne.count; i++)
        for (int k = 0; k < ne_velocities[f->ne.body[i].type]; k++)
            f->ne.body[i].v[k] = v[f->ne.body[i].first + k];
}

// By `s` along q' = N v, that is: R' = R [w], p' = R v
static inline void drift(NeBody *b, double s)
{
    const int turn = b->type == NE_FREE ? 3 : 0; // of the quaternion, and of w
    for (int k = 0; ne_is_axial(b->type) && k < ne_velocities[b->type]; k++) b->q[k] += s * b->v[k];
    if (b->type == NE_PLANAR) {
        const double cs = cos(b->q[2]), sn = sin(b->q[2]);
        b->q[0] += s * (cs * b->v[0] - sn * b->v[1]);
        b->q[1] += s * (sn * b->v[0] + cs * b->v[1]);
        b->q[2] += s * b->v[2];
    }
    if (b->type != NE_FREE && b->type != NE_BALL) return;
    double *q = b->q + turn;
    const V3 u = v3(q[1], q[2], q[3]), w = v3(b->v[turn], b->v[turn + 1], b->v[turn + 2]);
    const V3 V = m3_times(m3_quaternion(q), v3(b->v[0], b->v[1], b->v[2]));
    const V3 slope = v3_plus(v3_times(0.5 * q[0], w), v3_times(0.5, v3_cross(u, w)));
    q[0] -= s * 0.5 * v3_dot(u, w);
    for (int k = 0; k < 3; k++) q[1 + k] += s * v3_at(slope, k);
    const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int k = 0; k < 4; k++) q[k] /= size;
    for (int k = 0; k < 3 && turn; k++) b->q[k] += s * v3_at(V, k);
}

// Joints that are told, at the time it is; their accelerations
static inline void follow_motions(Thicket *f, double *acceleration)
{
    for (int i = 0; i < f->ne.count; i++) {
        const Part *p = &f->part[i];
        NeBody *b = &f->ne.body[i];
        if (!is_driven(f, i)) continue;
        const double w = p->frequency, u = w * f->t + p->phase;
        b->q[0] = p->swing * sin(u), b->v[0] = p->swing * w * cos(u);
        if (acceleration) acceleration[b->first] = -p->swing * w * w * sin(u);
    }
}

// The weight in an eighth-order difference of what is `step` steps away, -4 to 4
static inline double difference_weight(int step)
{
    static const double weights[] = {0, 4. / 5, -1. / 5, 4. / 105, -1. / 280};
    return step < 0 ? -weights[-step] : weights[step];
}

// A step that suits rates as large as these
static inline double difference_step(const double *v, int n)
{
    double fastest = 1;
    for (int k = 0; k < n; k++) fastest = fmax(fastest, fabs(v[k]));
    return 0x1p-9 / fastest;
}

// ---- the equations -------------------------------------------------------------------------

typedef struct Equations {
    NeDynamics d;
    int n, m; // velocities, rows
    double G[MAX_ROWS][MAX_V], g[MAX_ROWS], gamma[MAX_ROWS], phi[MAX_ROWS];
    double Q[MAX_V], L[MAX_V][MAX_ROWS]; // Q without what reactions add
    double v[MAX_V], vdot[MAX_V], lambda[MAX_ROWS], tau[MAX_V];
    bool told[MAX_V];
    double weight[MAX_ROWS];
    bool leads[MAX_ROWS];
    double closing[2 * MAX_ROWS][MAX_ROWS]; // n^T W
    int closings;
    double condition;
    double potential, stored_power; // of springs and gravity; of springs alone
} Equations;

static inline void find_slopes(Thicket *f, Equations *e)
{
    double unit[MAX_V] = {0}, moved[MAX_ROWS];
    put_velocities(f, unit);
    all_rows(f, e->phi, e->g);
    for (int k = 0; k < e->n; k++) {
        unit[k] = 1;
        put_velocities(f, unit);
        all_rows(f, e->phi, moved);
        for (int i = 0; i < e->m; i++) e->G[i][k] = moved[i] - e->g[i];
        unit[k] = 0;
    }
    put_velocities(f, e->v);
    ne_move(&f->ne);
}

static inline void find_drift(const Thicket *f, Equations *e)
{
    static Thicket there;
    double moved[MAX_ROWS], unused[MAX_ROWS];
    const double h = difference_step(e->v, e->n);
    for (int step = -4; step <= 4; step++) {
        there = *f;
        there.t += step * h;
        for (int i = 0; i < f->ne.count; i++) drift(&there.ne.body[i], step * h);
        all_rows(&there, unused, moved);
        for (int i = 0; i < e->m; i++) e->gamma[i] += difference_weight(step) * moved[i] / h;
    }
}

static inline void find_forces(const Thicket *f, Equations *e)
{
    static NeJacobian J;
    for (int i = 0; i < f->ne.count; i++) {
        const NeBody *b = &f->ne.body[i];
        const Part *p = &f->part[i];
        if (!is_single(f, i)) continue;
        const double stretch = b->q[0] - p->rest;
        e->Q[b->first] = p->torque - p->stiffness * stretch - p->damping * b->v[0];
        e->potential += 0.5 * p->stiffness * stretch * stretch;
        e->stored_power += p->stiffness * stretch * b->v[0];
        e->told[b->first] = is_driven(f, i);
    }
    for (int i = 0; i < f->pulls; i++) {
        const Pull *pull = &f->pull[i];
        const Carrier c = carrier_of(f, pull->body);
        const V3 F = pull->in_body ? m3_times(c.R, pull->force) : pull->force;
        ne_jacobian(&f->ne, pull->body, &J);
        const V3 arm = v3_minus(point_of(c, pull->at), J.c);
        for (int k = 0; k < e->n; k++) {
            const double along = v3_dot(J.Jc[k], F) + v3_dot(J.Jw[k], v3_cross(arm, F));
            if (pull->tie < 0)
                e->Q[k] += along;
            else
                e->L[k][chosen_row(f, pull->tie)] += along;
        }
    }
}

// The longest arm: what makes a moment a force
static inline double length_of(const Thicket *f)
{
    double most = 0;
    for (int i = 0; i < f->ne.count; i++) {
        const NeBody *b = &f->ne.body[i];
        most = fmax(most, fmax(v3_dot(b->at, b->at), v3_dot(b->com, b->com)));
    }
    for (int i = 0; i < f->ties; i++) {
        const Tie *tie = &f->tie[i];
        const double arm = v3_dot(tie->at, tie->at) + tie->radius * tie->radius;
        if (tie->kind <= ROLLING) most = fmax(most, arm);
    }
    return most > 0 ? sqrt(most) : 1;
}

static inline void find_weights(const Thicket *f, Equations *e)
{
    for (int i = 0; i < f->ties; i++) {
        const Tie *tie = &f->tie[i];
        const bool moment = tie->kind == COUPLING && f->ne.body[tie->body].type == NE_REVOLUTE;
        const double unit = moment ? length_of(f) : 1;
        for (int k = first_row(f, i); k < first_row(f, i + 1); k++)
            e->weight[k] = tie->weight / (unit * unit), e->leads[k] = tie->leads;
        if (tie->second_weight > 0) e->weight[first_row(f, i) + 1] = tie->second_weight;
    }
}

// All n with G_p^T n = 0 that leave alone what is given; `leading`: and what does not lead
static inline void find_closing(const Thicket *f, Equations *e, bool leading)
{
    static double A[(MAX_V + MAX_ROWS) * MAX_ROWS], sigma[MAX_ROWS], Vt[MAX_ROWS * MAX_ROWS],
        work[MAX_ROWS];
    const int m = e->m, rows = e->n + m, given = f->tense < 0 ? -1 : chosen_row(f, f->tense);
    int rank = 0;
    if (!m) return;
    memset(A, 0, sizeof A);
    for (int k = 0; k < e->n; k++)
        for (int i = 0; i < m; i++) A[k * m + i] = e->told[k] ? 0 : e->G[i][k];
    for (int i = 0; i < m; i++) A[(e->n + i) * m + i] = i == given || (leading && !e->leads[i]);
    assert_int_equal(
        LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'A', rows, m, A, m, sigma, NULL, 1, Vt, m, work), 0);
    while (rank < m && sigma[rank] > 1e-9 * sigma[0]) rank++;
    for (int j = rank; j < m; j++, e->closings++)
        for (int i = 0; i < m; i++)
            e->closing[e->closings][i] = e->leads[i] == leading ? Vt[j * m + i] * e->weight[i] : 0;
}

// ---- their solution ------------------------------------------------------------------------

enum { MAX_UNKNOWNS = MAX_V + MAX_ROWS, MAX_EQUATIONS = MAX_V + 3 * MAX_ROWS + 1 };

// The equations as one matrix; unknown are v', then lambda. Their number.
static inline int stack(const Thicket *f, const Equations *e, double *A, double *b)
{
    const int n = e->n, m = e->m, unknowns = n + m;
    int row = 0;
    for (int k = 0; k < n; k++, row++) {
        double *at = A + row * unknowns;
        b[row] = e->told[k] ? e->vdot[k] : e->Q[k] - e->d.c[k];
        for (int l = 0; l < n; l++) at[l] = e->told[k] ? k == l : e->d.M[k][l];
        for (int i = 0; i < m && !e->told[k]; i++) at[n + i] = -e->G[i][k] - e->L[k][i];
    }
    for (int i = 0; i < m; i++, row++) {
        memcpy(A + row * unknowns, e->G[i], (size_t)n * sizeof(double));
        b[row] = -e->gamma[i];
    }
    for (int j = 0; j < e->closings; j++, row++)
        memcpy(A + row * unknowns + n, e->closing[j], (size_t)m * sizeof(double));
    if (f->tense >= 0) {
        A[row * unknowns + n + chosen_row(f, f->tense)] = 1;
        b[row++] = tension_of(f->t);
    }
    return row;
}

// tau = M v' + c - Q - L lambda - G^T lambda, given the rest
static inline void find_torques(const Equations *e, const double *vdot, const double *lambda,
                                double *tau, double *size)
{
    for (int k = 0; k < e->n; k++) {
        tau[k] = e->d.c[k] - e->Q[k];
        size[k] = fabs(e->d.c[k]) + fabs(e->Q[k]);
        for (int l = 0; l < e->n; l++) {
            tau[k] += e->d.M[k][l] * vdot[l];
            size[k] += fabs(e->d.M[k][l] * vdot[l]);
        }
        for (int i = 0; i < e->m; i++) {
            const double force = (e->G[i][k] + e->L[k][i]) * lambda[i];
            tau[k] -= force, size[k] += fabs(force);
        }
    }
}

// False when they do not determine everything, or contradict each other.
static inline bool solve_equations(const Thicket *f, Equations *e)
{
    static double A[MAX_EQUATIONS * MAX_UNKNOWNS], b[MAX_EQUATIONS], sigma[MAX_UNKNOWNS],
        size[MAX_V];
    memset(A, 0, sizeof A);
    memset(b, 0, sizeof b);
    const int unknowns = e->n + e->m, count = stack(f, e, A, b);
    int rank = 0;
    assert_int_equal(LAPACKE_dgelsd(LAPACK_ROW_MAJOR, count, unknowns, 1, A, unknowns, b, 1, sigma,
                                    1e-11, &rank),
                     0);
    e->condition = sigma[0] / sigma[unknowns - 1];
    memcpy(e->vdot, b, (size_t)e->n * sizeof(double));
    memcpy(e->lambda, b + e->n, (size_t)e->m * sizeof(double));
    find_torques(e, e->vdot, e->lambda, e->tau, size);
    double off = 0, largest = 0;
    for (int i = unknowns; i < count; i++) off = fmax(off, fabs(b[i]));
    for (int i = 0; i < unknowns; i++) largest = fmax(largest, fabs(b[i]));
    return rank == unknowns && off <= 1e-9 * (1 + largest);
}

// Everything at the state and time that the forest has
static inline void find_equations(Thicket *f, Equations *e)
{
    memset(e, 0, sizeof *e);
    follow_motions(f, e->vdot);
    e->n = f->ne.velocities, e->m = first_row(f, f->ties);
    take_velocities(f, e->v);
    find_slopes(f, e);
    find_drift(f, e);
    ne_dynamics(&f->ne, &e->d);
    e->potential = e->d.potential;
    find_forces(f, e);
    find_weights(f, e);
    for (int leading = 0; leading < 2; leading++) find_closing(f, e, leading);
}

#endif
