// SPDX-License-Identifier: Apache-2.0
// The oracle of bodies that bend, on plain numbers: the energies of random trees of rigid bodies
// and beams, every beam a hundred mass points in world axes, and from them the equations of
// Lagrange,
//
//   M_jk = d2T/dv_j dv_k,   c_k = d/dt dT/dv_k - dT/dq_k + dU/dq_k
//
// where T is quadratic in v, so that its differences are exact, and slopes along q are taken by
// complex steps, which are exact too. Nothing here is recursive in forces, or taken from src/mech.
#ifndef TR_TESTS_BENDING_H
#define TR_TESTS_BENDING_H

#include "base/text.h"
#include "newton_euler.h"

#include <complex.h>

typedef double complex C;
typedef struct C3 {
    C x[3];
} C3;
typedef struct CM {
    C x[3][3];
} CM;

enum { GROVE_BODIES = 6, GROVE_MODES = 3, GROVE_V = GROVE_BODIES * (1 + 3 * GROVE_MODES) };
enum { POINTS = 5, PARTS = 20, ALONG = POINTS * PARTS }; // of each beam

static inline C complex_of(double real, double imaginary)
{
    const double both[] = {real, imaginary};
    C z;
    memcpy(&z, both, sizeof z); // CMPLX is not everywhere
    return z;
}

// ---- vectors -------------------------------------------------------------------------------

static inline C3 c3_of(V3 a) { return (C3){{a.x, a.y, a.z}}; }
static inline C3 c3_plus(C3 a, C3 b)
{
    return (C3){{a.x[0] + b.x[0], a.x[1] + b.x[1], a.x[2] + b.x[2]}};
}
static inline C3 c3_times(C s, C3 a) { return (C3){{s * a.x[0], s * a.x[1], s * a.x[2]}}; }
static inline C c3_dot(C3 a, C3 b) { return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2]; }
static inline C3 c3_cross(C3 a, C3 b)
{
    return (C3){{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2],
                 a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}
static inline C3 cm_times(CM a, C3 b)
{
    C3 y = {{0}};
    for (int i = 0; i < 9; i++) y.x[i / 3] += a.x[i / 3][i % 3] * b.x[i % 3];
    return y;
}
static inline C3 cm_across(CM a, C3 b) // a^T b
{
    C3 y = {{0}};
    for (int i = 0; i < 9; i++) y.x[i % 3] += a.x[i / 3][i % 3] * b.x[i / 3];
    return y;
}
static inline CM cm_product(CM a, CM b)
{
    CM y = {{{0}}};
    for (int i = 0; i < 27; i++) y.x[i / 9][i % 3] += a.x[i / 9][i / 3 % 3] * b.x[i / 3 % 3][i % 3];
    return y;
}
static inline CM cm_of(M3 a)
{
    CM y;
    for (int i = 0; i < 9; i++) y.x[i / 3][i % 3] = v3_at(a.column[i % 3], i / 3);
    return y;
}
// exp(hat(w)) by Rodrigues, column by column; w is not small
static inline CM cm_exp(C3 w)
{
    const C angle = csqrt(c3_dot(w, w));
    CM y;
    for (int k = 0; k < 3; k++) {
        const C3 e = c3_of(v3_axis(k)), once = c3_cross(w, e), twice = c3_cross(w, once);
        const C3 b = c3_plus(e, c3_plus(c3_times(csin(angle) / angle, once),
                                        c3_times((1 - ccos(angle)) / (angle * angle), twice)));
        for (int i = 0; i < 3; i++) y.x[i][k] = b.x[i];
    }
    return y;
}
// How exp(hat(w)) turns, in fixed axes, when w changes at d
static inline C3 cm_exp_spin(C3 w, C3 d)
{
    const C angle = csqrt(c3_dot(w, w));
    const C3 once = c3_cross(w, d), twice = c3_cross(w, once);
    return c3_plus(d, c3_plus(c3_times((1 - ccos(angle)) / (angle * angle), once),
                              c3_times((angle - csin(angle)) / cpow(angle, 3), twice)));
}

// ---- trees ---------------------------------------------------------------------------------

typedef struct GroveBody {
    int parent;   // before it, or -1
    double where; // on a parent that bends: its abscissa against the length
    bool slides;  // prismatic; else revolute
    V3 at, turn, axis;
    double mass;
    V3 com;
    M3 inertia; // about the centre of mass, a diagonal
    bool bends;
    double L, rho, taper, rotary, damping; // density = rho (1 + taper s / L)
    double stiffness[3];                   // torsion, along y, along z
    int modes[3];
    int first; // of its coordinates
} GroveBody;

typedef struct Grove {
    GroveBody body[GROVE_BODIES];
    int count, n;
    V3 gravity;
} Grove;

// Of a cantilever: cos b cosh b = -1
static const double bending_numbers[] = {1.8751040687119611664, 4.6940911329741745764,
                                         7.8547574382376125649, 10.995540734875466991,
                                         14.137168391046470581, 17.278759532088236334};

// cosh bx - cos bx - sigma (sinh bx - sin bx), or what torsion has, its derivatives by x
static inline double grove_shape(int axis, int k, int order, double x)
{
    const double *b = bending_numbers;
    if (axis == 0) {
        const double c = (k + 0.5) * M_PI;
        return sqrt(2) * pow(c, order) * sin(c * x + order * M_PI / 2);
    }
    const double s = (cosh(b[k]) + cos(b[k])) / (sinh(b[k]) + sin(b[k])), y = b[k] * x;
    const double even = cosh(y), odd = sinh(y), turn = order * M_PI / 2;
    const double hyperbolic = order % 2 ? odd - s * even : even - s * odd;
    return pow(b[k], order) * (hyperbolic - cos(y + turn) + s * sin(y + turn));
}

// Nodes and weights on 0..1
static inline void grove_node(int i, double *x, double *weight)
{
    static const double node[] = {0, 0.53846931010568309104, 0.90617984593866399280};
    static const double share[] = {0.56888888888888888889, 0.47862867049936646804,
                                   0.23692688505618908751};
    const int k = i % POINTS - 2;
    *x = (i / POINTS + 0.5 + (k < 0 ? -1 : 1) * node[abs(k)] / 2) / PARTS;
    *weight = share[abs(k)] / 2 / PARTS;
}

static inline int grove_modes(const GroveBody *b)
{
    return b->bends ? b->modes[0] + b->modes[1] + b->modes[2] : 0;
}

// ---- energies ------------------------------------------------------------------------------

// A frame in world axes, and how it moves
typedef struct CFrame {
    CM R;
    C3 p, V, W;
} CFrame;

// The same at node i, looked up
static inline double grove_shape_at(int axis, int k, int order, int i)
{
    static double table[2][GROVE_MODES][3][ALONG];
    static bool is_there = false;
    for (int n = 0; !is_there && n < 2 * GROVE_MODES * 3 * ALONG; n++) {
        double x, weight;
        grove_node(n % ALONG, &x, &weight);
        table[n / ALONG / 9][n / ALONG / 3 % 3][n / ALONG % 3][n % ALONG] =
            grove_shape(n / ALONG / 9, n / ALONG / 3 % 3, n / ALONG % 3, x);
    }
    is_there = true;
    return table[axis > 0][k][order][i];
}

// What the modes of a beam add up to at node i, or at x where that is negative, by axis: torsion,
// y,
// z
static inline void grove_sum(const GroveBody *b, const C *e, int order, int node, double x,
                             C out[3])
{
    static const int axes[] = {1, 2, 0};
    for (int i = 0; i < 3; i++) {
        out[axes[i]] = 0;
        for (int k = 0; k < b->modes[axes[i]]; k++)
            out[axes[i]] += *e++ * (node < 0 ? grove_shape(axes[i], k, order, x)
                                             : grove_shape_at(axes[i], k, order, node));
    }
}

static inline CFrame grove_section(const GroveBody *b, const CFrame *root, double x, const C *e,
                                   const C *rate)
{
    C u[3], du[3], slope[3], dslope[3];
    grove_sum(b, e, 0, -1, x, u), grove_sum(b, e, 1, -1, x, slope);
    grove_sum(b, rate, 0, -1, x, du), grove_sum(b, rate, 1, -1, x, dslope);
    const C3 w = {{u[0], -slope[2] / b->L, slope[1] / b->L}};
    const C3 dw = {{du[0], -dslope[2] / b->L, dslope[1] / b->L}};
    const C3 arm = cm_times(root->R, (C3){{x * b->L, u[1], u[2]}});
    const C3 moves = cm_times(root->R, (C3){{0, du[1], du[2]}});
    CFrame f = {.p = c3_plus(root->p, arm), .R = cm_product(root->R, cm_exp(w))};
    f.V = c3_plus(c3_plus(root->V, c3_cross(root->W, arm)), moves);
    f.W = c3_plus(root->W, cm_times(root->R, cm_exp_spin(w, dw)));
    return f;
}

static inline CFrame grove_joint(const GroveBody *b, const CFrame *above, C q, C v)
{
    const C3 a = cm_times(above->R, c3_of(v3_unit(b->axis)));
    C3 arm = cm_times(above->R, c3_of(b->at));
    CFrame f = *above;
    if (b->slides) arm = c3_plus(arm, c3_times(q, a));
    f.p = c3_plus(above->p, arm);
    f.V = c3_plus(above->V, c3_cross(above->W, arm));
    if (b->slides) {
        f.V = c3_plus(f.V, c3_times(v, a));
        f.R = cm_product(above->R, cm_of(m3_turn(b->turn)));
        return f;
    }
    f.W = c3_plus(f.W, c3_times(v, a));
    f.R = cm_product(cm_exp(c3_times(q, a)), cm_product(above->R, cm_of(m3_turn(b->turn))));
    return f;
}

static inline C rigid_kinetic(const GroveBody *b, const CFrame *f, C3 *centre)
{
    const C3 arm = cm_times(f->R, c3_of(b->com)), W = cm_across(f->R, f->W);
    const C3 V = c3_plus(f->V, c3_cross(f->W, arm));
    *centre = c3_plus(f->p, arm);
    return (b->mass * c3_dot(V, V) + c3_dot(W, cm_times(cm_of(b->inertia), W))) / 2;
}

// Adds to the energies: T, that of gravity, and that of bending
static inline void beam_energies(const Grove *g, const GroveBody *b, const CFrame *f, const C *e,
                                 const C *rate, C energy[3])
{
    for (int i = 0; i < ALONG; i++) {
        double x, weight;
        C u[3], du[3], bent[3], twisted[3];
        grove_node(i, &x, &weight);
        grove_sum(b, e, 0, i, x, u), grove_sum(b, rate, 0, i, x, du);
        grove_sum(b, e, 2, i, x, bent), grove_sum(b, e, 1, i, x, twisted);
        const double m = weight * b->L * b->rho * (1 + b->taper * x);
        const C3 arm = cm_times(f->R, (C3){{x * b->L, u[1], u[2]}});
        const C3 V =
            c3_plus(c3_plus(f->V, c3_cross(f->W, arm)), cm_times(f->R, (C3){{0, du[1], du[2]}}));
        const C spin = cm_across(f->R, f->W).x[0] + du[0];
        energy[0] += (m * c3_dot(V, V) + weight * b->L * b->rotary * spin * spin) / 2;
        energy[1] -= m * c3_dot(c3_of(g->gravity), c3_plus(f->p, arm));
        for (int k = 1; k < 3; k++)
            energy[2] += weight * b->stiffness[k] * bent[k] * bent[k] / pow(b->L, 3) / 2;
        energy[2] += weight * b->stiffness[0] * twisted[0] * twisted[0] / b->L / 2;
    }
}

static inline void grove_energies(const Grove *g, const C *q, const C *v, C energy[3])
{
    CFrame frame[GROVE_BODIES];
    energy[0] = energy[1] = energy[2] = 0;
    for (int i = 0; i < g->count; i++) {
        const GroveBody *b = &g->body[i];
        CFrame above = {.R = cm_of(m3_identity())};
        if (b->parent >= 0) {
            const GroveBody *p = &g->body[b->parent];
            above = frame[b->parent];
            if (p->bends)
                above = grove_section(p, &frame[b->parent], b->where, q + p->first + 1,
                                      v + p->first + 1);
        }
        C3 centre;
        frame[i] = grove_joint(b, &above, q[b->first], v[b->first]);
        energy[0] += rigid_kinetic(b, &frame[i], &centre);
        energy[1] -= b->mass * c3_dot(c3_of(g->gravity), centre);
        if (b->bends) beam_energies(g, b, &frame[i], q + b->first + 1, v + b->first + 1, energy);
    }
}

// ---- the equations -------------------------------------------------------------------------

// dT/dv_k, exactly: T is quadratic in v
static inline C grove_momentum(const Grove *g, const C *q, const double *v, int k)
{
    C up[GROVE_V], down[GROVE_V], high[3], low[3];
    for (int i = 0; i < g->n; i++) up[i] = v[i] + (i == k), down[i] = v[i] - (i == k);
    grove_energies(g, q, up, high);
    grove_energies(g, q, down, low);
    return (high[0] - low[0]) / 2;
}

typedef struct GroveEquations {
    double M[GROVE_V][GROVE_V], c[GROVE_V], stiff[GROVE_V]; // the slope of the energy of bending
    double kinetic, potential;
} GroveEquations;

static inline void grove_equations(const Grove *g, const double *q, const double *v,
                                   GroveEquations *out)
{
    const double h = 1e-30;
    C x[GROVE_V] = {0}, along[GROVE_V] = {0}, rate[GROVE_V] = {0}, energy[3];
    for (int i = 0; i < g->n; i++)
        x[i] = q[i], along[i] = complex_of(q[i], h * v[i]), rate[i] = v[i];
    grove_energies(g, x, rate, energy);
    out->kinetic = creal(energy[0]), out->potential = creal(energy[1] + energy[2]);
    for (int k = 0; k < g->n; k++) {
        for (int j = 0; j < g->n; j++) {
            double unit[GROVE_V] = {0};
            unit[j] = 1;
            out->M[k][j] = creal(grove_momentum(g, x, unit, k));
        }
        C moved[GROVE_V];
        for (int i = 0; i < g->n; i++) moved[i] = complex_of(q[i], i == k ? h : 0);
        grove_energies(g, moved, rate, energy);
        out->c[k] =
            (cimag(grove_momentum(g, along, v, k)) - cimag(energy[0]) + cimag(energy[1])) / h;
        out->stiff[k] = cimag(energy[2]) / h;
    }
}

// ---- random ones, and as text --------------------------------------------------------------

static inline double grove_any(Random *r) { return random_between(r, -1, 1); }
static inline V3 grove_vector(Random *r) { return v3(grove_any(r), grove_any(r), grove_any(r)); }

static inline void grove_beam(GroveBody *b, Random *r)
{
    b->bends = true;
    b->L = random_between(r, 0.5, 2), b->rho = random_between(r, 0.3, 2);
    b->taper = random_below(r, 2) ? 0 : random_between(r, -0.8, 1);
    b->rotary = random_between(r, 0.01, 0.1), b->damping = random_between(r, 0, 0.1);
    for (int k = 0; k < 3; k++) b->stiffness[k] = random_between(r, 1, 20);
    const int planes = (int)random_below(r, 3), modes = 1 + (int)random_below(r, GROVE_MODES);
    b->modes[1] = planes != 1 ? modes : 0, b->modes[2] = planes != 0 ? modes : 0;
    b->modes[0] = (int)random_below(r, 3);
}

static inline Grove any_grove(Random *r)
{
    Grove g = {.count = 2 + (int)random_below(r, GROVE_BODIES - 2), .gravity = grove_vector(r)};
    for (int i = 0; i < g.count; i++) {
        GroveBody *b = &g.body[i];
        *b = (GroveBody){
            .parent = i ? (int)random_below(r, (uint32_t)i) : -1,
            .where = random_below(r, 2) ? 1 : random_between(r, 0.2, 0.9),
            .slides = random_below(r, 4) == 0,
            .at = grove_vector(r),
            .turn = grove_vector(r),
            .axis = grove_vector(r),
            .mass = random_between(r, 0.5, 2),
            .com = v3_times(0.5, grove_vector(r)),
            .inertia = {{v3(random_between(r, 0.5, 1), 0, 0), v3(0, random_between(r, 0.5, 1), 0),
                         v3(0, 0, random_between(r, 0.5, 1))}},
            .first = g.n};
        if (random_below(r, 3) || i + 1 == g.count) grove_beam(b, r);
        g.n += 1 + grove_modes(b);
    }
    return g;
}

static inline void print_beam(Buffer *t, const Grove *g, int i)
{
    const GroveBody *b = &g->body[i];
    tr_buffer_print(t, "    beam:\n      length: %.17g\n", b->L);
    if (b->taper == 0)
        tr_buffer_print(t, "      density: %.17g\n", b->rho);
    else
        tr_buffer_print(t, "      density: %.17g*(1 + %.17g*s/%.17g)\n", b->rho, b->taper, b->L);
    tr_buffer_print(t, "      stiffness: %.17g\n", b->stiffness[1]);
    if (b->modes[2]) tr_buffer_print(t, "      stiffness_z: %.17g\n", b->stiffness[2]);
    tr_buffer_print(t, "      torsion: %.17g\n      rotary: %.17g\n", b->stiffness[0], b->rotary);
    tr_buffer_print(t, "      planes: %s%s\n", b->modes[1] ? "y" : "", b->modes[2] ? "z" : "");
    tr_buffer_print(t, "      modes: %d\n      torsion_modes: %d\n      damping: %.17g\n",
                    b->modes[1] > b->modes[2] ? b->modes[1] : b->modes[2], b->modes[0], b->damping);
    tr_buffer_print(t, "      points:\n        end: %.17g\n", b->L);
    for (int k = i + 1; k < g->count; k++)
        if (g->body[k].parent == i)
            tr_buffer_print(t, "        at%d: %.17g\n", k, g->body[k].where * b->L);
}

static inline void print_grove(Buffer *t, const Grove *g)
{
    tr_buffer_print(t, "trundle: 1\ngravity: \"%.17g, %.17g, %.17g\"\nbodies:\n", g->gravity.x,
                    g->gravity.y, g->gravity.z);
    for (int i = 0; i < g->count; i++) {
        const GroveBody *b = &g->body[i];
        tr_buffer_print(t, "  b%d:\n", i);
        if (b->parent >= 0 && g->body[b->parent].bends)
            tr_buffer_print(t, "    parent: b%d.at%d\n", b->parent, i);
        else if (b->parent >= 0)
            tr_buffer_print(t, "    parent: b%d\n", b->parent);
        tr_buffer_print(t, "    joint: {type: %s, at: \"%.17g, %.17g, %.17g\", ",
                        b->slides ? "prismatic" : "revolute", b->at.x, b->at.y, b->at.z);
        tr_buffer_print(t, "turn: \"%.17g, %.17g, %.17g\", axis: \"%.17g, %.17g, %.17g\"}\n",
                        b->turn.x, b->turn.y, b->turn.z, b->axis.x, b->axis.y, b->axis.z);
        tr_buffer_print(t, "    mass: %.17g\n    com: \"%.17g, %.17g, %.17g\"\n", b->mass, b->com.x,
                        b->com.y, b->com.z);
        tr_buffer_print(t, "    inertia: {xx: %.17g, yy: %.17g, zz: %.17g}\n",
                        b->inertia.column[0].x, b->inertia.column[1].y, b->inertia.column[2].z);
        if (b->bends) print_beam(t, g, i);
    }
}

// ---- what the tests share ------------------------------------------------------------------

static inline void check_numbers(const char *what, const double *a, const double *b, int n,
                                 double tolerance)
{
    double size = 1, off = 0;
    for (int k = 0; k < n; k++) size = fmax(size, fabs(b[k]));
    for (int k = 0; k < n; k++)
        if (!(fabs(a[k] - b[k]) <= off)) off = fabs(a[k] - b[k]);
    if (!is_below(off, tolerance * size)) fail_msg("%s is off by %.3g of %.3g", what, off, size);
}

static inline Probe probe_formatted(const char *format, ...)
{
    char text[2000];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return probe_of(text);
}

// Two models with the same inputs: the equations at random states
static inline void check_same_equations(Probe *a, Probe *b, Random *r, int trials)
{
    const int n = (int)a->velocities;
    assert_int_equal(b->velocities, n);
    for (int trial = 0; trial < trials; trial++) {
        probe_random(a, r);
        memcpy(b->in, a->in, a->system->input_count * sizeof *a->in);
        probe_run(b);
        check_numbers("M", probe_output(b, "M"), probe_output(a, "M"), n * n, 1e-12);
        check_numbers("c", probe_output(b, "c"), probe_output(a, "c"), n, 1e-12);
        check_numbers("Q", probe_output(b, "Q"), probe_output(a, "Q"), n, 1e-12);
        assert_energy_rate(a);
        assert_energy_rate(b);
    }
}

static inline void check_failed(const char *text, int line, tr_status status, const char *words)
{
    tr_error err = {0};
    tr_model *model = tr_model_parse(text, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_model_free(model);
    if (system) fail_msg("not refused: %s", words);
    assert_string_equal(err.text, words);
    assert_int_equal(err.status, status);
    assert_int_equal(err.line, line);
}

static inline void check_refused(const char *text, int line, const char *words)
{
    check_failed(text, line, TR_INVALID, words);
}

#endif
