// SPDX-License-Identifier: Apache-2.0
// Spatial closed chains at random, cut at each joint in turn: all of them move alike. The oracle
// has no tree and no coordinates: every body is free, and every joint holds two of them together,
//
//   m a = F, I w' + w x I w = N of each body about its centre of mass,
//   row . (accelerations of the two) = what their velocities make of it,
//
// solved for accelerations and reactions at once, from poses and velocities alone.
#include "newton_euler.h"
#include "runs.h"

#include <lapacke.h>
#undef I // of <complex.h>

enum { MOST_BODIES = 8, MOST_JOINTS = 8, MOST_UNKNOWNS = 6 * MOST_BODIES + 6 * MOST_JOINTS };

// ---- chains --------------------------------------------------------------------------------

typedef struct Bone {
    double mass;
    V3 com;
    M3 inertia; // about the centre of mass, in body axes
    V3 p, velocity, spin;
    M3 R;
    bool round; // about the axis of the joint before it
    double axial, radial;
} Bone;

typedef struct Hinge {
    char type; // Revolute, Prismatic, Spherical, Welded
    int parent, body;
    V3 at, to, axis; // in the parent's axes, the body's, the parent's
    M3 turn;
    double stiffness, rest, damping, torque;
    V3 force, moment; // on the body, in world axes
} Hinge;

// Bones 0, 1, ... in a ring; 0 is the world, or floats. There may be a rod from it to another.
typedef struct Chain {
    Bone bone[MOST_BODIES];
    Hinge hinge[MOST_JOINTS];
    int count, hinges;
    bool floats;
    V3 gravity;
} Chain;

static Bone any_bone(Random *r, double around)
{
    Bone bone = {.inertia = any_inertia(r, 0.01, 0.03)};
    bone.mass = random_between(r, 0.5, 2), bone.com = v3_times(0.2, any_vector(r));
    bone.p = v3_plus(v3(cos(around), sin(around), 0), v3_times(0.3, any_vector(r)));
    bone.R = any_rotation(r);
    return bone;
}

// A joint at a point between two bones as they stand, where its coordinate is zero
static Hinge any_hinge(Random *r, const Chain *c, char type, int i, int j)
{
    const bool swapped = chance(r, 0.5);
    Hinge h = {.type = type, .parent = swapped ? j : i, .body = swapped ? i : j};
    const Bone *a = &c->bone[h.parent], *b = &c->bone[h.body];
    const V3 middle = v3_times(0.5, v3_plus(a->p, b->p));
    const V3 P = v3_plus(middle, v3_times(0.2, any_vector(r)));
    h.at = m3_across(a->R, v3_minus(P, a->p));
    h.to = m3_across(b->R, v3_minus(P, b->p));
    h.turn = m3_product(m3_transposed(a->R), b->R);
    h.axis = chance(r, 0.2) ? v3_axis((int)random_below(r, 3)) : any_vector(r);
    if (type != 'R' && type != 'P') return h;
    if (chance(r, 0.3)) h.stiffness = random_between(r, 1, 8), h.rest = 0.5 * any(r);
    if (chance(r, 0.3)) h.damping = random_between(r, 0, 0.5);
    if (chance(r, 0.3)) h.torque = 2 * any(r);
    return h;
}

// A wheel about its joint: its angle should not appear.
static void make_round(Random *r, Chain *c, int i)
{
    Bone *b = &c->bone[i];
    Hinge *h = &c->hinge[i - 1];
    if (h->type != 'R' || h->body != i) return;
    const V3 u = v3_unit(m3_across(h->turn, h->axis));
    b->round = true;
    b->radial = random_between(r, 0.02, 0.05);
    b->axial = random_between(r, 0.5, 1.5) * b->radial;
    b->com = v3(0, 0, 0);
    h->to = v3(0, 0, 0);
    h->at = m3_across(c->bone[h->parent].R, v3_minus(b->p, c->bone[h->parent].p));
    for (int k = 0; k < 3; k++)
        b->inertia.column[k] = v3_plus(v3_times(b->radial, v3_axis(k)),
                                       v3_times((b->axial - b->radial) * v3_at(u, k), u));
}

// "RSSR" is a ring; "RSSR+2" has a rod, by balls, from bone 0 to bone 2.
static Chain any_chain(Random *r, const char *types, bool floats)
{
    Chain c = {.count = (int)strcspn(types, "+"), .floats = floats};
    c.gravity = v3_times(5, any_vector(r));
    for (int i = 0; i < c.count; i++) c.bone[i] = any_bone(r, 2 * 3.14159 * i / c.count);
    if (!floats) c.bone[0] = (Bone){.R = m3_identity()};
    for (int i = 0; i < c.count; i++) c.hinge[i] = any_hinge(r, &c, types[i], i, (i + 1) % c.count);
    if (chance(r, 0.5)) make_round(r, &c, 2);
    c.hinges = c.count;
    if (!types[c.count]) return c;
    const int end = types[c.count + 1] - '0', rod = c.count++;
    c.bone[rod] = any_bone(r, 1);
    c.hinge[c.hinges++] = any_hinge(r, &c, 'S', 0, rod);
    c.hinge[c.hinges++] = any_hinge(r, &c, 'S', rod, end);
    return c;
}

// ---- as text -------------------------------------------------------------------------------

static void add_number(Buffer *b, const char *key, double x)
{
    tr_buffer_print(b, "%s: ", key);
    tr_buffer_number(b, x);
}

static void add_bone(Buffer *b, const Chain *c, int i)
{
    static const char *const keys[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
    static const int row[] = {0, 1, 2, 0, 0, 1}, column[] = {0, 1, 2, 1, 2, 2};
    const Bone *bone = &c->bone[i];
    if (i == 0 && !c->floats) return;
    tr_buffer_print(b, "  b%d: {", i);
    add_number(b, "mass", bone->mass);
    add_vector(b, "com", bone->com);
    tr_buffer_print(b, ", inertia: {");
    for (int k = 0; k < 6 && !bone->round; k++) {
        add_number(b, keys[k], v3_at(bone->inertia.column[column[k]], row[k]));
        if (k < 5) tr_buffer_print(b, ", ");
    }
    if (bone->round) {
        add_number(b, "axial", bone->axial);
        tr_buffer_print(b, ", ");
        add_number(b, "radial", bone->radial);
        add_vector(b, "axis", m3_across(c->hinge[i - 1].turn, c->hinge[i - 1].axis));
    }
    tr_buffer_print(b, "}");
    if (i == 0) {
        tr_buffer_print(b, ", joint: {type: free");
        add_vector(b, "at", bone->p);
        add_vector(b, "turn", m3_angles(bone->R));
        tr_buffer_print(b, "}");
    }
    tr_buffer_print(b, "}\n");
}

static bool is_single(const Hinge *h) { return h->type == 'R' || h->type == 'P'; }

static const char *name_of(const Chain *c, int i)
{
    static char names[MOST_BODIES][8];
    if (i == 0 && !c->floats) return "world";
    snprintf(names[i], sizeof names[i], "b%d", i);
    return names[i];
}

static void add_hinge(Buffer *b, const Chain *c, int k, bool cut)
{
    const Hinge *h = &c->hinge[k];
    const char *type = h->type == 'R'   ? "revolute"
                       : h->type == 'P' ? "prismatic"
                       : h->type == 'S' ? "ball"
                                        : "fixed";
    tr_buffer_print(b, "  j%d: {type: %s, parent: %s, body: %s", k, type, name_of(c, h->parent),
                    name_of(c, h->body));
    add_vector(b, "at", h->at);
    add_vector(b, "to", h->to);
    add_vector(b, "turn", m3_angles(h->turn));
    if (is_single(h)) add_vector(b, "axis", h->axis);
    if (h->stiffness > 0) {
        tr_buffer_print(b, ", ");
        add_number(b, "stiffness", h->stiffness);
        tr_buffer_print(b, ", ");
        add_number(b, "rest", h->rest);
    }
    if (h->damping > 0) tr_buffer_print(b, ", "), add_number(b, "damping", h->damping);
    tr_buffer_print(b, "%s}\n", cut ? ", cut: true" : "");
}

// Poses, velocities and their rates as a frame at the body's origin has them
static void add_outputs(Buffer *b, const Chain *c)
{
    static const char *const parts[] = {"x",   "y",   "z",   "R11", "R12", "R13",
                                        "R21", "R22", "R23", "R31", "R32", "R33",
                                        "vx",  "vy",  "vz",  "wx",  "wy",  "wz"};
    tr_buffer_print(b, "frames:\n");
    for (int i = !c->floats; i < c->count; i++) tr_buffer_print(b, "  f%d: {body: b%d}\n", i, i);
    tr_buffer_print(b, "outputs:\n");
    for (int i = !c->floats; i < c->count; i++)
        for (int k = 0; k < 18; k++) {
            tr_buffer_print(b, "  o%d_%s: f%d.%s\n", i, parts[k], i, parts[k]);
            if (k >= 12) tr_buffer_print(b, "  a%d_%s: d(f%d.%s)\n", i, parts[k], i, parts[k]);
        }
}

// Joints in an order of their own, one of them cut; -1: whichever
static char *text_of_chain(const Chain *c, int cut, const char *initial)
{
    Buffer b = {0};
    tr_buffer_print(&b, "trundle: 1\nbodies:\n");
    for (int i = c->count; i-- > 0;) add_bone(&b, c, i);
    tr_buffer_print(&b, "joints:\n");
    for (int k = 0; k < c->hinges; k++) {
        const int shuffled = (k * (c->hinges % 5 ? 5 : 3) + 1) % c->hinges;
        add_hinge(&b, c, shuffled, shuffled == cut);
    }
    add_outputs(&b, c);
    tr_buffer_print(&b, "roles:\n");
    int roles = 0;
    for (int k = 0; k < c->hinges; k++)
        if (is_single(&c->hinge[k])) {
            tr_buffer_print(&b, "  j%d: {", k), roles++;
            add_number(&b, "torque", c->hinge[k].torque);
            tr_buffer_print(&b, "}\n");
        }
    assert_true(roles > 0);
    tr_buffer_print(&b, "initial: {%s}\ngravity: ", initial);
    for (int k = 0; k < 3; k++) {
        if (k) tr_buffer_print(&b, ", ");
        tr_buffer_number(&b, v3_at(c->gravity, k));
    }
    tr_buffer_print(&b, "\n");
    assert_false(b.failed);
    return b.at;
}

// ---- the oracle ----------------------------------------------------------------------------

// Of x = (a of the centre of mass, w') of every bone, then reactions
typedef struct Puzzle {
    int unknowns, rows;
    double A[MOST_UNKNOWNS * MOST_UNKNOWNS], b[MOST_UNKNOWNS];
    V3 row_force[MOST_UNKNOWNS], row_moment[MOST_UNKNOWNS]; // of each reaction, on the body
} Puzzle;

static V3 com_of(const Bone *b) { return v3_plus(b->p, m3_times(b->R, b->com)); }

static bool is_still(const Chain *c, int i) { return i == 0 && !c->floats; }

// e . (acceleration of the bone's point P) + f . w', less what velocities make of the first
static void add_side(Puzzle *z, const Chain *c, int bone, int row, double sign, V3 P, V3 e, V3 f)
{
    const Bone *b = &c->bone[bone];
    if (is_still(c, bone)) return;
    const V3 r = v3_minus(P, com_of(b)), arm = v3_plus(v3_cross(r, e), f);
    const int n = z->unknowns;
    for (int k = 0; k < 3; k++) {
        const int at = 6 * bone + k;
        z->A[row * n + at] += sign * v3_at(e, k), z->A[row * n + at + 3] += sign * v3_at(arm, k);
        z->A[at * n + row] -= sign * v3_at(e, k), z->A[(at + 3) * n + row] -= sign * v3_at(arm, k);
    }
    z->b[row] -= sign * v3_dot(e, v3_cross(b->spin, v3_cross(b->spin, r)));
}

static void add_row(Puzzle *z, const Chain *c, const Hinge *h, V3 P, V3 e, V3 f, double drift)
{
    const int row = z->rows++;
    z->row_force[row] = e, z->row_moment[row] = f;
    z->b[row] -= drift;
    add_side(z, c, h->body, row, 1, P, e, f);
    add_side(z, c, h->parent, row, -1, P, e, f);
}

static void across(V3 a, V3 e[2])
{
    e[0] = v3_unit(v3_cross(a, fabs(a.x) < 0.6 ? v3_axis(0) : v3_axis(1)));
    e[1] = v3_cross(a, e[0]);
}

// How far a joint has gone, and how fast it goes
static double coordinate_of(const Chain *c, const Hinge *h, double *rate)
{
    const Bone *A = &c->bone[h->parent], *B = &c->bone[h->body];
    const V3 u = v3_unit(h->axis), a = m3_times(A->R, u);
    const V3 W = v3_minus(B->spin, A->spin);
    if (h->type == 'R') {
        const M3 E = m3_product(m3_product(m3_transposed(A->R), B->R), m3_transposed(h->turn));
        V3 e[2];
        across(u, e);
        const V3 moved = m3_times(E, e[0]);
        *rate = v3_dot(a, W);
        return atan2(v3_dot(moved, e[1]), v3_dot(moved, e[0]));
    }
    const V3 P = v3_plus(B->p, m3_times(B->R, h->to)), s = v3_minus(P, A->p);
    const V3 V = v3_minus(v3_plus(B->velocity, v3_cross(B->spin, v3_minus(P, B->p))),
                          v3_plus(A->velocity, v3_cross(A->spin, s)));
    *rate = v3_dot(a, V);
    return v3_dot(u, v3_minus(m3_across(A->R, s), h->at));
}

static void add_force(Puzzle *z, const Chain *c, int bone, double sign, V3 P, V3 F, V3 N)
{
    if (is_still(c, bone)) return;
    const V3 moment = v3_plus(N, v3_cross(v3_minus(P, com_of(&c->bone[bone])), F));
    for (int k = 0; k < 3; k++) {
        z->b[6 * bone + k] += sign * v3_at(F, k);
        z->b[6 * bone + 3 + k] += sign * v3_at(moment, k);
    }
}

static void add_spring(Puzzle *z, const Chain *c, const Hinge *h, V3 P, V3 a)
{
    double rate, q = coordinate_of(c, h, &rate);
    const double size = h->torque - h->stiffness * (q - h->rest) - h->damping * rate;
    const V3 f = v3_times(size, a), nothing = v3(0, 0, 0);
    for (int k = 0; k < 2; k++)
        add_force(z, c, k ? h->parent : h->body, k ? -1 : 1, P, h->type == 'P' ? f : nothing,
                  h->type == 'R' ? f : nothing);
}

static void add_joint(Puzzle *z, const Chain *c, const Hinge *h)
{
    const Bone *A = &c->bone[h->parent], *B = &c->bone[h->body];
    const V3 P = v3_plus(B->p, m3_times(B->R, h->to)), nothing = v3(0, 0, 0);
    const V3 W = v3_minus(B->spin, A->spin), a = m3_times(A->R, v3_unit(h->axis));
    const V3 V = v3_minus(v3_plus(B->velocity, v3_cross(B->spin, v3_minus(P, B->p))),
                          v3_plus(A->velocity, v3_cross(A->spin, v3_minus(P, A->p))));
    V3 e[2];
    across(a, e);
    for (int k = 0; k < 3 && h->type != 'P'; k++) add_row(z, c, h, P, v3_axis(k), nothing, 0);
    for (int k = 0; k < 2 && h->type == 'P'; k++) // e turns with A: 2 w x V
        add_row(z, c, h, P, e[k], nothing, -2 * v3_dot(e[k], v3_cross(A->spin, V)));
    for (int k = 0; k < 2 && h->type == 'R'; k++)
        add_row(z, c, h, P, nothing, e[k], v3_dot(v3_cross(A->spin, e[k]), W));
    for (int k = 0; k < 3 && (h->type == 'P' || h->type == 'W'); k++)
        add_row(z, c, h, P, nothing, v3_axis(k), 0);
    if (is_single(h)) add_spring(z, c, h, P, a);
}

static void add_newton(Puzzle *z, const Chain *c, int i)
{
    const Bone *b = &c->bone[i];
    const int n = z->unknowns;
    M3 J;
    for (int k = 0; k < 3; k++)
        J.column[k] = m3_times(b->R, m3_times(b->inertia, m3_across(b->R, v3_axis(k))));
    const V3 gyro = v3_cross(b->spin, m3_times(J, b->spin));
    for (int k = 0; k < 3; k++) {
        const int at = 6 * i + k;
        z->A[at * n + at] = is_still(c, i) ? 1 : b->mass;
        z->b[at] += b->mass * v3_at(c->gravity, k);
        for (int l = 0; l < 3; l++)
            z->A[(at + 3) * n + 6 * i + 3 + l] = is_still(c, i) ? k == l : v3_at(J.column[l], k);
        z->b[at + 3] -= is_still(c, i) ? 0 : v3_at(gyro, k);
    }
}

static int row_count(const Chain *c)
{
    int rows = 0;
    for (int k = 0; k < c->hinges; k++)
        rows += c->hinge[k].type == 'S' ? 3 : c->hinge[k].type == 'W' ? 6 : 5;
    return rows;
}

// Accelerations of all bones in z->b, and the forces in all joints
static void solve_puzzle(Puzzle *z, Chain *c)
{
    static lapack_int swaps[MOST_UNKNOWNS];
    memset(z, 0, sizeof *z);
    z->rows = 6 * c->count;
    z->unknowns = z->rows + row_count(c);
    for (int i = 0; i < c->count; i++) add_newton(z, c, i);
    for (int k = 0; k < c->hinges; k++) add_joint(z, c, &c->hinge[k]);
    assert_int_equal(z->rows, z->unknowns);
    assert_int_equal(
        LAPACKE_dgesv(LAPACK_ROW_MAJOR, z->unknowns, 1, z->A, z->unknowns, swaps, z->b, 1), 0);
    int row = 6 * c->count;
    for (int k = 0; k < c->hinges; k++) {
        Hinge *h = &c->hinge[k];
        const int rows = h->type == 'S' ? 3 : h->type == 'W' ? 6 : 5;
        h->force = h->moment = v3(0, 0, 0);
        for (int i = 0; i < rows; i++, row++) {
            h->force = v3_plus(h->force, v3_times(z->b[row], z->row_force[row]));
            h->moment = v3_plus(h->moment, v3_times(z->b[row], z->row_moment[row]));
        }
    }
}

// ---- runs ----------------------------------------------------------------------------------

static double told(const Sheet *run, size_t row, int bone, char letter, const char *part)
{
    char name[40];
    snprintf(name, sizeof name, "%c%d_%s", letter, bone, part);
    return at(run, row, name);
}

static V3 told_vector(const Sheet *run, size_t row, int bone, char letter, const char *part)
{
    double x[3];
    char name[8];
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "%s%c", part, 'x' + k);
        x[k] = told(run, row, bone, letter, name);
    }
    return v3(x[0], x[1], x[2]);
}

static void take_state(Chain *c, const Sheet *run, size_t row)
{
    for (int i = !c->floats; i < c->count; i++) {
        Bone *b = &c->bone[i];
        char name[8];
        double R[9];
        for (int k = 0; k < 9; k++) {
            snprintf(name, sizeof name, "R%d%d", k / 3 + 1, k % 3 + 1);
            R[k] = told(run, row, i, 'o', name);
        }
        for (int k = 0; k < 3; k++) b->R.column[k] = v3(R[k], R[3 + k], R[6 + k]);
        b->p = told_vector(run, row, i, 'o', "");
        b->velocity = m3_times(b->R, told_vector(run, row, i, 'o', "v"));
        b->spin = m3_times(b->R, told_vector(run, row, i, 'o', "w"));
    }
}

static double distance(V3 a, V3 b) { return sqrt(v3_dot(v3_minus(a, b), v3_minus(a, b))); }
static double size_of(V3 a) { return sqrt(v3_dot(a, a)); }

// What is off by most, relative to what is largest
typedef struct Off {
    double off, size;
} Off;

static void compare(Off *o, V3 found, V3 wanted)
{
    o->off = fmax(o->off, distance(found, wanted)), o->size = fmax(o->size, size_of(wanted));
}

static void check_accelerations(const Chain *c, const Puzzle *z, const Sheet *run, size_t row)
{
    Off linear = {0, 1}, angular = {0, 1};
    for (int i = !c->floats; i < c->count; i++) {
        const Bone *b = &c->bone[i];
        const double *x = z->b + 6 * i;
        const V3 alpha = v3(x[3], x[4], x[5]), r = v3_minus(b->p, com_of(b));
        const V3 a = v3_plus(v3(x[0], x[1], x[2]),
                             v3_plus(v3_cross(alpha, r), v3_cross(b->spin, v3_cross(b->spin, r))));
        const V3 drift = v3_cross(b->spin, b->velocity); // of components in the body's axes
        compare(&linear, m3_times(b->R, told_vector(run, row, i, 'a', "v")), v3_minus(a, drift));
        compare(&angular, m3_times(b->R, told_vector(run, row, i, 'a', "w")), alpha);
    }
    if (!is_below(linear.off, 1e-9 * linear.size) || !is_below(angular.off, 1e-9 * angular.size))
        fail_msg("accelerations are off by %.2g of %.2g, %.2g of %.2g", linear.off, linear.size,
                 angular.off, angular.size);
}

static double reaction(const Sheet *run, size_t row, int joint, const char *part)
{
    char name[40];
    snprintf(name, sizeof name, "lambda.j%d.%s", joint, part);
    const double *values = tr_sheet_column(run, name);
    return values ? values[row] : 0;
}

// Of the joint that was cut, in its parent's axes. Rows across an oblique axis stand in a plane.
static void check_reactions(const Chain *c, int cut, const Sheet *run, size_t row)
{
    const Hinge *h = &c->hinge[cut];
    const M3 R = c->bone[h->parent].R;
    const V3 F = m3_across(R, h->force), N = m3_across(R, h->moment);
    const V3 f = v3(reaction(run, row, cut, "x"), reaction(run, row, cut, "y"),
                    reaction(run, row, cut, "z"));
    const V3 n = v3(reaction(run, row, cut, "mx"), reaction(run, row, cut, "my"),
                    reaction(run, row, cut, "mz"));
    const double size = 1 + size_of(F) + size_of(N);
    if (h->type != 'P' && !is_below(distance(f, F), 1e-9 * size))
        fail_msg("the force in j%d is %.9g, %.9g, %.9g, not %.9g, %.9g, %.9g", cut, f.x, f.y, f.z,
                 F.x, F.y, F.z);
    if (h->type != 'R' && !is_below(distance(n, N), 1e-9 * size))
        fail_msg("the moment in j%d is %.9g, %.9g, %.9g, not %.9g, %.9g, %.9g", cut, n.x, n.y, n.z,
                 N.x, N.y, N.z);
    assert_below(fabs(size_of(f) - size_of(F)), 1e-9 * size);
    assert_below(fabs(size_of(n) - size_of(N)), 1e-9 * size);
}

static void check_coordinates(const Chain *c, const Sheet *run, size_t row)
{
    for (int k = 0; k < c->hinges; k++) {
        char name[8], rate_name[16];
        double rate, q;
        if (!is_single(&c->hinge[k])) continue;
        q = coordinate_of(c, &c->hinge[k], &rate);
        snprintf(name, sizeof name, "j%d", k);
        snprintf(rate_name, sizeof rate_name, "j%d_rate", k);
        assert_close(at(run, row, name), q, 1e-10);
        assert_close(at(run, row, rate_name), rate, 1e-10);
    }
}

static Sheet *run_of_chain(const Chain *c, int cut, const char *initial)
{
    tr_error err = {0};
    tr_summary s = {0};
    char *text = text_of_chain(c, cut, initial), wanted[16];
    tr_model *model = tr_model_parse(text, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_model_free(model);
    if (!system) fail_msg("%d:%d: %s\n%s", err.line, err.column, err.text, text);
    snprintf(wanted, sizeof wanted, "j%d", cut);
    bool is_cut = cut < 0;
    for (uint32_t i = 0; i < system->cut_count; i++)
        is_cut = is_cut || strcmp(system->cuts[i], wanted) == 0;
    assert_true(is_cut && (int)system->cut_count == 1 + c->hinges - c->count);
    Sheet *run = run_with(system, 0.3, 0.025, &s);
    if (!is_below(s.energy_error, 1e-9) || !is_below(s.kkt_error, 1e-9) ||
        !is_below(s.position_error, 1e-10))
        fail_msg("energy %.2g, kkt %.2g, position %.2g\n%s", s.energy_error, s.kkt_error,
                 s.position_error, text);
    free(text);
    return run;
}

static double fastest(const Sheet *run, const Chain *c)
{
    double most_of_all = 0;
    for (size_t row = 0; row < run->rows; row++)
        for (int i = !c->floats; i < c->count; i++)
            most_of_all = fmax(most_of_all, size_of(told_vector(run, row, i, 'o', "w")));
    return most_of_all;
}

// The same motion wherever it is cut
static void check_cut(const Chain *c, int cut, const char *initial, const Sheet *first)
{
    static Puzzle z;
    Chain moved = *c;
    Sheet *run = run_of_chain(c, cut, initial);
    for (size_t k = 0; k < first->columns; k++) {
        const char *name = first->names[k];
        if (name[0] != 'o' && name[0] != 'a') continue;
        const double off = difference(run, name, first, name), size = 1 + largest(first, name);
        if (!is_below(off, 1e-9 * size)) fail_msg("cut at j%d %s is off by %.2g", cut, name, off);
    }
    for (size_t row = 0; row < run->rows; row++) {
        take_state(&moved, run, row);
        solve_puzzle(&z, &moved);
        check_coordinates(&moved, run, row);
        check_accelerations(&moved, &z, run, row);
        check_reactions(&moved, cut, run, row);
    }
    tr_sheet_free(run);
}

typedef struct Kind {
    const char *name, *types;
    bool floats;
    uint64_t seed;
    int wanted; // chains
    const char *initial;
} Kind;

#define AFLOAT ", b0.vx: 0.3, b0.vy: -0.2, b0.vz: 0.1, b0.wx: 0.4, b0.wy: -0.5, b0.wz: 0.6"

// Of two loops, one can be cut anywhere.
static Kind kinds[] = {
    {"two loops", "RSSR+2", false, 19, 3, "j0_rate: 1.5, f4.wx: 2"},
    {"two loops, afloat", "RSSR+2", true, 23, 1, "j0_rate: 1.5, f4.wx: 2" AFLOAT},
    {"balls", "RSSR", false, 7, 4, "j0_rate: 1.5, f2.wx: 2"},
    {"balls, afloat", "RSSR", true, 11, 2, "j0_rate: 1.5, f2.wx: 2" AFLOAT},
    {"prismatic", "RPRSR", false, 13, 3, "j0_rate: 1"},
    {"prismatic, afloat", "PSWRSP", true, 17, 1, "j0_rate: 1, j3_rate: 1, f2.wx: 1" AFLOAT},
    {"seven revolutes", "RRRRRRR", false, 3, 2, "j2_rate: 1"},
    {"seven revolutes, afloat", "RRRRRRR", true, 5, 1, "j2_rate: 1" AFLOAT},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

// Chains that move at a moderate speed
static void test_chains(void **state)
{
    const Kind *kind = *state;
    Random r = {kind->seed};
    const int wanted = BRIEF ? 1 : kind->wanted;
    int found = 0;
    for (int tries = 0; found < wanted; tries++) {
        assert_true(tries < 20 * wanted);
        Chain c = any_chain(&r, kind->types, kind->floats);
        Sheet *first = run_of_chain(&c, -1, kind->initial);
        if (fastest(first, &c) < 5) { // no joint comes round
            for (int k = 0; k < c.hinges; k++) check_cut(&c, k, kind->initial, first);
            found++;
        }
        tr_sheet_free(first);
    }
}

int main(void)
{
    struct CMUnitTest tests[KINDS];
    for (int i = 0; i < KINDS; i++)
        tests[i] = (struct CMUnitTest){kinds[i].name, test_chains, NULL, NULL, &kinds[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
