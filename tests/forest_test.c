// SPDX-License-Identifier: Apache-2.0
// Random forests of bodies against numeric Newton-Euler (newton_euler.h), and what must not change
// their motion: where the world frame stands, names, the order of the file, units.
//
// forward.c is compiled into this test, so that both ways to build forward dynamics can be chosen.
#define tr_tree_forward forward_by_the_cheaper
#include "mech/forward.c"
#undef tr_tree_forward

#include "newton_euler.h"

void tr_tree_forward(Tree *tree);

typedef enum Way { CHEAPER, ARTICULATED, MASS_MATRIX } Way;
static Way way = CHEAPER;

void tr_tree_forward(Tree *tree)
{
    if (way == CHEAPER) {
        forward_by_the_cheaper(tree);
        return;
    }
    Expr *q = calloc(tree->velocity_count + 1, sizeof *q);
    assert_true(way == ARTICULATED ? by_articulated_inertias(tree, q) : by_mass_matrix(tree, q));
    find_torques(tree, q);
    for (uint32_t k = 0; k < tree->velocity_count; k++) tree->velocities[k].acceleration = q[k];
    free(q);
}

// ---- random forests ------------------------------------------------------------------------

typedef struct Part { // what a body has beyond its NeBody
    int label;        // its name comes from this
    Drive drive;
    double torque[6];
    double swing[4], phase[4], frequency; // motion: swing sin(frequency t + phase)
    V3 pole;                              // of a turn in space that is driven
    double stiffness, rest, damping;
    bool axisymmetric, about_joint;
    double axial, radial;
    V3 inertia_axis;        // zero: it is the joint's
    double acceleration[6]; // of a joint that is driven by a motion
} Part;

typedef struct Pull {   // a force on a body
    int body, reaction; // -1: the world
    bool in_body;
    V3 at, force, torque;
} Pull;

enum { PULLS = 3 };

typedef struct Forest {
    NeForest ne;
    Part part[NE_MAX_BODIES];
    Pull pull[PULLS];
    int pulls;
    double t;
} Forest;

static double any(Random *r) { return random_between(r, -1, 1); }
static V3 any_vector(Random *r) { return v3(any(r), any(r), any(r)); }
static bool chance(Random *r, double p) { return random_between(r, 0, 1) < p; }

static M3 any_rotation(Random *r) { return m3_turn(v3_times(3, any_vector(r))); }

// Moments of a box of mass somewhere, turned
static M3 any_inertia(Random *r)
{
    const double a = random_between(r, 0.05, 1), b = random_between(r, 0.05, 1),
                 c = random_between(r, 0.05, 1);
    const M3 R = any_rotation(r);
    M3 I;
    for (int k = 0; k < 3; k++) {
        const V3 x = m3_across(R, v3_axis(k));
        I.column[k] = m3_times(R, v3((b + c) * x.x, (a + c) * x.y, (a + b) * x.z));
    }
    return I;
}

// radial 1 + (axial - radial) u u^T
static M3 round_inertia(double axial, double radial, V3 u)
{
    M3 I = m3_identity();
    for (int k = 0; k < 3; k++)
        I.column[k] =
            v3_plus(v3_times(radial, v3_axis(k)), v3_times((axial - radial) * v3_at(u, k), u));
    return I;
}

// A wheel: about its own joint's axis when that is revolute, else about an axis of its own.
static void make_round(Random *r, NeBody *b, Part *p)
{
    p->axisymmetric = true;
    p->radial = random_between(r, 0.2, 1);
    p->axial = random_between(r, 0.1, 2 * p->radial);
    if (b->type != NE_REVOLUTE || chance(r, 0.2)) p->inertia_axis = any_vector(r);
    if (chance(r, 0.4)) // along an axis of coordinates
        b->axis = v3_times(chance(r, 0.5) ? 2 : -1, v3_axis((int)random_below(r, 3)));
    const bool own = v3_dot(p->inertia_axis, p->inertia_axis) == 0;
    const V3 u = own ? m3_across(m3_turn(b->turn), v3_unit(b->axis)) : v3_unit(p->inertia_axis);
    b->inertia = round_inertia(p->axial, p->radial, u);
    b->com = v3(0, 0, 0);
    if (own && chance(r, 0.4)) { // off its middle, on its axis
        b->turn = v3(0, 0, 0);
        b->com = v3_times(any(r), v3_unit(b->axis));
        b->inertia = round_inertia(p->axial, p->radial, v3_unit(b->axis));
    }
    if (chance(r, own ? 0.2 : 0.5)) b->com = any_vector(r); // no wheel any more
}

static void make_drive(Random *r, const NeBody *b, Part *p)
{
    const double dice = random_between(r, 0, 1);
    p->drive = b->type == NE_FIXED || dice < 0.6 ? DRIVE_NONE
               : dice < 0.8                      ? DRIVE_TORQUE
                                                 : DRIVE_MOTION;
    for (int k = 0; k < 6; k++) p->torque[k] = p->drive == DRIVE_TORQUE ? 3 * any(r) : 0;
    for (int k = 0; k < 4; k++) p->swing[k] = any(r), p->phase[k] = 3 * any(r);
    p->frequency = random_between(r, 0.5, 2);
    p->pole = v3_unit(any_vector(r));
    const bool single = ne_velocities[b->type] == 1;
    p->stiffness = single && chance(r, 0.3) ? random_between(r, 0, 5) : 0;
    p->rest = p->stiffness > 0 ? any(r) : 0;
    p->damping = single && chance(r, 0.3) ? random_between(r, 0, 2) : 0;
}

static Forest any_forest(Random *r, int count)
{
    Forest f = {.ne = {.count = count, .gravity = v3_times(10, any_vector(r))}};
    for (int i = 0; i < count; i++) {
        NeBody *b = &f.ne.body[i];
        Part *p = &f.part[i];
        *p = (Part){.label = i};
        b->parent = i == 0 || chance(r, 0.15) ? -1 : (int)random_below(r, (uint32_t)i);
        if (chance(r, 0.3) && i) b->parent = i - 1;
        // chains of joints that turn and slide are the rule, others the exception
        b->type = chance(r, 0.5) ? NE_REVOLUTE : (NeType)random_below(r, 6);
        b->at = any_vector(r);
        b->turn = chance(r, 0.3) ? v3_times(3, any_vector(r)) : v3(0, 0, 0);
        b->axis = chance(r, 0.3) ? v3_axis((int)random_below(r, 3)) : v3_times(3, any_vector(r));
        b->mass = random_between(r, 0.1, 2);
        b->com = chance(r, 0.8) ? any_vector(r) : v3(0, 0, 0);
        b->inertia = any_inertia(r);
        if (b->type == NE_FIXED && chance(r, 0.3))
            b->mass = 0, b->inertia = (M3){0};
        else if (chance(r, 0.3))
            make_round(r, b, p);
        p->about_joint = chance(r, 0.3);
        make_drive(r, b, p);
    }
    f.pulls = (int)random_below(r, PULLS + 1);
    for (int i = 0; i < f.pulls; i++) {
        const int body = (int)random_below(r, (uint32_t)count);
        const int other = (int)random_below(r, (uint32_t)count);
        f.pull[i] = (Pull){.body = body,
                           .reaction = other == body ? -1 : other,
                           .in_body = chance(r, 0.5),
                           .at = any_vector(r),
                           .force = v3_times(3, any_vector(r)),
                           .torque = v3_times(3, any_vector(r))};
    }
    ne_number(&f.ne);
    return f;
}

// ---- states --------------------------------------------------------------------------------

static void any_quaternion(Random *r, double *q)
{
    double size = 0;
    for (int k = 0; k < 4; k++) q[k] = any(r), size += q[k] * q[k];
    for (int k = 0; k < 4; k++) q[k] /= sqrt(size);
}

// Value and two derivatives of swing sin(frequency t + phase)
static void swing(const Part *p, int k, double t, double x[3])
{
    const double w = p->frequency, u = w * t + p->phase[k];
    x[0] = p->swing[k] * sin(u);
    x[1] = p->swing[k] * w * cos(u);
    x[2] = -p->swing[k] * w * w * sin(u);
}

// A point with velocity v and acceleration a in resting axes, in axes R that turn with W (own
// axes): V = R^T v,  V' = R^T a - W x V
static void seen_turning(M3 R, V3 W, V3 v, V3 a, double *V, double *V_rate)
{
    const V3 own = m3_across(R, v), rate = v3_minus(m3_across(R, a), v3_cross(W, own));
    for (int k = 0; k < 3; k++) V[k] = v3_at(own, k), V_rate[k] = v3_at(rate, k);
}

static void follow_motion(NeBody *b, Part *p, double t)
{
    double x[4][3];
    for (int k = 0; k < 4; k++) swing(p, k, t, x[k]);
    const V3 v = v3(x[0][1], x[1][1], x[2][1]), a = v3(x[0][2], x[1][2], x[2][2]);
    if (b->type == NE_REVOLUTE || b->type == NE_PRISMATIC) {
        b->q[0] = x[0][0], b->v[0] = x[0][1], p->acceleration[0] = x[0][2];
    } else if (b->type == NE_PLANAR) {
        double V[3], rate[3];
        seen_turning(m3_about(v3_axis(2), x[2][0]), v3(0, 0, x[2][1]), v3(v.x, v.y, 0),
                     v3(a.x, a.y, 0), V, rate);
        for (int k = 0; k < 3; k++) b->q[k] = x[k][0];
        b->v[0] = V[0], b->v[1] = V[1], b->v[2] = x[2][1];
        p->acceleration[0] = rate[0], p->acceleration[1] = rate[1], p->acceleration[2] = x[2][2];
    } else {
        const int first = b->type == NE_FREE ? 3 : 0; // of the quaternion, and of W
        b->q[first] = cos(0.5 * x[3][0]);
        for (int k = 0; k < 3; k++) {
            b->q[first + 1 + k] = sin(0.5 * x[3][0]) * v3_at(p->pole, k);
            b->v[first + k] = x[3][1] * v3_at(p->pole, k);
            p->acceleration[first + k] = x[3][2] * v3_at(p->pole, k);
        }
        if (!first) return;
        for (int k = 0; k < 3; k++) b->q[k] = x[k][0];
        seen_turning(m3_about(p->pole, x[3][0]), v3_times(x[3][1], p->pole), v, a, b->v,
                     p->acceleration);
    }
}

static void any_state(Random *r, Forest *f)
{
    f->t = any(r);
    for (int i = 0; i < f->ne.count; i++) {
        NeBody *b = &f->ne.body[i];
        for (int k = 0; k < ne_positions[b->type]; k++) b->q[k] = 2 * any(r);
        for (int k = 0; k < ne_velocities[b->type]; k++) b->v[k] = any(r);
        if (b->type == NE_BALL) any_quaternion(r, b->q);
        if (b->type == NE_FREE) any_quaternion(r, b->q + 3);
        if (f->part[i].drive == DRIVE_MOTION) follow_motion(b, &f->part[i], f->t);
    }
}

// ---- as a model ----------------------------------------------------------------------------

typedef struct Style {
    const char *prefix; // of the bodies' names
    bool backwards;     // the last body first
    bool parameters;    // masses, gravity and offsets as parameters
    bool fixed;         // compile with parameters fixed
} Style;

static const Style plain = {.prefix = "b"};

static void name_of(const Forest *f, const Style *style, int i, char name[32])
{
    if (i < 0)
        strcpy(name, "world");
    else
        snprintf(name, 32, "%s%d", style->prefix, f->part[i].label);
}

// The joint's own coordinate is called other than its body.
static void joint_name(const Forest *f, const Style *style, int i, char name[32])
{
    char body[32];
    name_of(f, style, i, body);
    const bool single = ne_velocities[f->ne.body[i].type] == 1;
    snprintf(name, 32, "%.20s%s", body, single ? "_q" : "");
}

typedef struct Builder {
    tr_model *model;
    const Forest *forest;
    const Style *style;
    char place[64]; // "bodies/b3"
    tr_error err;
} Builder;

static void set_text(Builder *to, const char *field, const char *value)
{
    char path[160];
    snprintf(path, sizeof path, "%s%s%s", to->place, to->place[0] ? "/" : "", field);
    tr_model_set(to->model, path, value, &to->err);
}

static void set_number(Builder *to, const char *field, double x)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", x);
    set_text(to, field, text);
}

static void set_vector(Builder *to, const char *field, V3 x)
{
    char text[100];
    snprintf(text, sizeof text, "%.17g, %.17g, %.17g", x.x, x.y, x.z);
    set_text(to, field, text);
}

// The same through parameters of its own
static void set_vector_by_name(Builder *to, const char *field, V3 x)
{
    char name[3][64], text[200], stem[64];
    snprintf(stem, sizeof stem, "%.40s_%.20s",
             to->place[0] ? strrchr(to->place, '/') + 1 : "world_",
             strrchr(field, '/') ? strrchr(field, '/') + 1 : field);
    for (int k = 0; k < 3; k++) {
        char path[100], value[40];
        snprintf(name[k], sizeof name[k], "%.55s_%c", stem, "xyz"[k]);
        snprintf(path, sizeof path, "parameters/%s", name[k]);
        snprintf(value, sizeof value, "%.17g", v3_at(x, k));
        tr_model_set(to->model, path, value, &to->err);
    }
    snprintf(text, sizeof text, "%s, %s, %s", name[0], name[1], name[2]);
    set_text(to, field, text);
}

static void set_inertia(Builder *to, const NeBody *b, const Part *p)
{
    if (b->mass == 0) return;
    M3 I = b->inertia;
    if (p->about_joint) { // + m (|c|^2 1 - c c^T)
        for (int k = 0; k < 3; k++) {
            const V3 c = b->com;
            const V3 shift = v3_minus(v3_times(v3_dot(c, c), v3_axis(k)), v3_times(v3_at(c, k), c));
            I.column[k] = v3_plus(I.column[k], v3_times(b->mass, shift));
        }
        set_text(to, "inertia/about", "joint");
    }
    const bool across = v3_dot(b->com, b->com) == 0 || !p->about_joint;
    if (p->axisymmetric && across) {
        set_number(to, "inertia/axial", p->axial);
        set_number(to, "inertia/radial", p->radial);
        if (v3_dot(p->inertia_axis, p->inertia_axis) > 0)
            set_vector(to, "inertia/axis", p->inertia_axis);
        return;
    }
    set_number(to, "inertia/xx", I.column[0].x);
    set_number(to, "inertia/yy", I.column[1].y);
    set_number(to, "inertia/zz", I.column[2].z);
    set_number(to, "inertia/xy", I.column[0].y);
    set_number(to, "inertia/xz", I.column[0].z);
    set_number(to, "inertia/yz", I.column[1].z);
}

static void set_body(Builder *to, int i)
{
    const NeBody *b = &to->forest->ne.body[i];
    const Part *p = &to->forest->part[i];
    const bool single = ne_velocities[b->type] == 1;
    char name[32];
    name_of(to->forest, to->style, i, name);
    snprintf(to->place, sizeof to->place, "bodies/%s", name);
    name_of(to->forest, to->style, b->parent, name);
    if (b->parent >= 0) set_text(to, "parent", name);
    set_text(to, "joint/type", ne_type_names[b->type]);
    if (to->style->parameters)
        set_vector_by_name(to, "joint/at", b->at);
    else
        set_vector(to, "joint/at", b->at);
    if (v3_dot(b->turn, b->turn) > 0) set_vector(to, "joint/turn", b->turn);
    joint_name(to->forest, to->style, i, name);
    if (single) {
        set_vector(to, "joint/axis", b->axis);
        set_text(to, "joint/coordinate", name);
    }
    if (p->stiffness > 0) set_number(to, "joint/stiffness", p->stiffness);
    if (p->stiffness > 0) set_number(to, "joint/rest", p->rest);
    if (p->damping > 0) set_number(to, "joint/damping", p->damping);
    if (b->mass > 0) set_number(to, "mass", b->mass);
    if (to->style->parameters && v3_dot(b->com, b->com) > 0 && !p->axisymmetric)
        set_vector_by_name(to, "com", b->com);
    else
        set_vector(to, "com", b->com);
    set_inertia(to, b, p);
}

static void set_swing(Builder *to, const char *field, const Part *p, int k, const char *around)
{
    char inner[120], text[260];
    snprintf(inner, sizeof inner, "%.17g*sin(%.17g*t + %.17g)", p->swing[k], p->frequency,
             p->phase[k]);
    snprintf(text, sizeof text, around, inner);
    set_text(to, field, text);
}

static void set_role(Builder *to, int i)
{
    static const char *const velocity[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
    static const char *const position[] = {"x", "y", "z"};
    const NeBody *b = &to->forest->ne.body[i];
    const Part *p = &to->forest->part[i];
    char name[32], field[60];
    joint_name(to->forest, to->style, i, name);
    snprintf(to->place, sizeof to->place, "roles/%s", name);
    if (p->drive == DRIVE_NONE) return;
    const bool single = ne_velocities[b->type] == 1;
    if (p->drive == DRIVE_TORQUE && single) set_number(to, "torque", p->torque[0]);
    for (int k = 0; p->drive == DRIVE_TORQUE && !single && k < ne_velocities[b->type]; k++) {
        const int part = b->type == NE_BALL || (b->type == NE_PLANAR && k == 2) ? 3 : 0;
        snprintf(field, sizeof field, "torque/%s",
                 velocity[part ? (b->type == NE_BALL ? 3 + k : 5) : k]);
        set_number(to, field, p->torque[k]);
    }
    if (p->drive != DRIVE_MOTION) return;
    if (single) set_swing(to, "motion", p, 0, "%s");
    if (b->type == NE_PLANAR) {
        set_swing(to, "motion/x", p, 0, "%s");
        set_swing(to, "motion/y", p, 1, "%s");
        set_swing(to, "motion/theta", p, 2, "%s");
    }
    for (int k = 0; b->type == NE_FREE && k < 3; k++) {
        snprintf(field, sizeof field, "motion/%s", position[k]);
        set_swing(to, field, p, k, "%s");
    }
    for (int k = 0; (b->type == NE_FREE || b->type == NE_BALL) && k < 4; k++) {
        char around[60];
        static const char *const part[] = {"motion/qw", "motion/qx", "motion/qy", "motion/qz"};
        snprintf(around, sizeof around, "%.17g*sin(0.5*%%s)", k ? v3_at(p->pole, k - 1) : 0);
        set_swing(to, part[k], p, 3, k ? around : "cos(0.5*%s)");
    }
}

static void set_pull(Builder *to, int i)
{
    const Pull *pull = &to->forest->pull[i];
    char name[32];
    snprintf(to->place, sizeof to->place, "forces/pull%d", i);
    name_of(to->forest, to->style, pull->body, name);
    set_text(to, "body", name);
    name_of(to->forest, to->style, pull->reaction, name);
    set_text(to, "reaction", name);
    set_vector(to, "at", pull->at);
    set_vector(to, "force", pull->force);
    set_vector(to, "torque", pull->torque);
    set_text(to, "axes", pull->in_body ? "body" : "world");
}

static Probe derive_as(const Forest *f, const Style *style)
{
    Builder to = {.forest = f, .style = style};
    to.model = tr_model_new(&to.err);
    if (style->parameters)
        set_vector_by_name(&to, "gravity", f->ne.gravity);
    else
        set_vector(&to, "gravity", f->ne.gravity);
    for (int i = 0; i < f->ne.count; i++) set_body(&to, style->backwards ? f->ne.count - 1 - i : i);
    for (int i = 0; i < f->ne.count; i++) set_role(&to, i);
    for (int i = 0; i < f->pulls; i++) set_pull(&to, i);
    System *system = tr_derive(to.model, NULL, &to.err);
    tr_model_free(to.model);
    return probe_of_system(system, style->fixed, &to.err);
}

// ---- numbers by names ----------------------------------------------------------------------

static const char *const position_parts[][7] = {
    [NE_PLANAR] = {"x", "y", "theta"},
    [NE_BALL] = {"qw", "qx", "qy", "qz"},
    [NE_FREE] = {"x", "y", "z", "qw", "qx", "qy", "qz"},
};
static const char *const velocity_parts[][6] = {
    [NE_PLANAR] = {"vx", "vy", "wz"},
    [NE_BALL] = {"wx", "wy", "wz"},
    [NE_FREE] = {"vx", "vy", "vz", "wx", "wy", "wz"},
};

static void position_name(const Forest *f, const Style *style, int i, int k, char name[40])
{
    char joint[32];
    const NeType type = f->ne.body[i].type;
    joint_name(f, style, i, joint);
    if (ne_velocities[type] == 1)
        strcpy(name, joint);
    else
        snprintf(name, 40, "%.25s.%s", joint, position_parts[type][k]);
}

static void velocity_name(const Forest *f, const Style *style, int i, int k, char name[40])
{
    char joint[32];
    const NeType type = f->ne.body[i].type;
    joint_name(f, style, i, joint);
    if (ne_velocities[type] == 1)
        snprintf(name, 40, "%.25s_rate", joint);
    else
        snprintf(name, 40, "%.25s.%s", joint, velocity_parts[type][k]);
}

// Puts the forest's state into the program and runs it; place[k] is the index there of velocity k.
static void run_at(const Forest *f, const Style *style, Probe *p, uint32_t *place)
{
    char name[40];
    probe_put(p, "t", f->t);
    for (int i = 0; i < f->ne.count; i++) {
        const NeBody *b = &f->ne.body[i];
        const bool told = f->part[i].drive == DRIVE_MOTION; // must not matter then
        for (int k = 0; k < ne_positions[b->type]; k++) {
            position_name(f, style, i, k, name);
            probe_put(p, name, told ? 1e9 : b->q[k]);
        }
        for (int k = 0; k < ne_velocities[b->type]; k++) {
            velocity_name(f, style, i, k, name);
            probe_put(p, name, told ? -1e9 : b->v[k]);
            place[b->first + k] = probe_velocity(p, name);
        }
    }
    probe_run(p);
}

// ---- against Newton-Euler ------------------------------------------------------------------

typedef struct Expected {
    NeDynamics d;
    double Q[NE_MAX];   // but for the torques of motions
    double a[NE_MAX];   // accelerations
    double tau[NE_MAX]; // M a + c - Q: zero but for motions
    bool told[NE_MAX];
    double potential, scale; // scale: of powers
} Expected;

static void add_pull(const Forest *f, int body, V3 point, V3 F, V3 N, double *Q)
{
    static NeJacobian J;
    if (body < 0) return;
    ne_jacobian(&f->ne, body, &J);
    const V3 arm = v3_minus(point, J.c);
    for (int k = 0; k < f->ne.velocities; k++)
        Q[k] += v3_dot(J.Jc[k], F) + v3_dot(J.Jw[k], v3_plus(N, v3_cross(arm, F)));
}

static void find_forces(const Forest *f, Expected *e)
{
    for (int i = 0; i < f->ne.count; i++) {
        const NeBody *b = &f->ne.body[i];
        const Part *p = &f->part[i];
        for (int k = 0; k < ne_velocities[b->type]; k++) {
            e->Q[b->first + k] = p->torque[k];
            e->told[b->first + k] = p->drive == DRIVE_MOTION;
        }
        if (ne_velocities[b->type] != 1) continue;
        e->Q[b->first] -= p->stiffness * (b->q[0] - p->rest) + p->damping * b->v[0];
        e->potential += 0.5 * p->stiffness * (b->q[0] - p->rest) * (b->q[0] - p->rest);
    }
    for (int i = 0; i < f->pulls; i++) {
        const Pull *pull = &f->pull[i];
        const NeBody *b = &f->ne.body[pull->body];
        const V3 point = v3_plus(b->p, m3_times(b->R, pull->at));
        const V3 F = pull->in_body ? m3_times(b->R, pull->force) : pull->force;
        const V3 N = pull->in_body ? m3_times(b->R, pull->torque) : pull->torque;
        add_pull(f, pull->body, point, F, N, e->Q);
        add_pull(f, pull->reaction, point, v3_times(-1, F), v3_times(-1, N), e->Q);
    }
}

static void expect(Forest *f, Expected *e)
{
    static double A[NE_MAX * NE_MAX];
    double b[NE_MAX], v[NE_MAX];
    int free_one[NE_MAX], n = 0;
    memset(e, 0, sizeof *e);
    ne_dynamics(&f->ne, &e->d);
    e->potential = e->d.potential;
    find_forces(f, e);
    for (int i = 0; i < f->ne.count; i++)
        for (int k = 0; k < ne_velocities[f->ne.body[i].type]; k++) {
            const int at = f->ne.body[i].first + k;
            v[at] = f->ne.body[i].v[k];
            if (e->told[at])
                e->a[at] = f->part[i].acceleration[k];
            else
                free_one[n++] = at;
        }
    for (int i = 0; i < n; i++) {
        b[i] = e->Q[free_one[i]] - e->d.c[free_one[i]];
        for (int k = 0; k < e->d.n; k++) b[i] -= e->d.M[free_one[i]][k] * e->a[k];
        for (int k = 0; k < n; k++) A[i * NE_MAX + k] = e->d.M[free_one[i]][free_one[k]];
    }
    ne_solve(n, NE_MAX, A, b);
    for (int i = 0; i < n; i++) e->a[free_one[i]] = b[i];
    for (int k = 0; k < e->d.n; k++) {
        e->tau[k] = e->d.c[k] - e->Q[k];
        double size = fabs(e->d.c[k]) + fabs(e->Q[k]);
        for (int l = 0; l < e->d.n; l++) {
            e->tau[k] += e->d.M[k][l] * e->a[l];
            size += fabs(e->d.M[k][l] * e->a[l]);
        }
        e->scale += size * fabs(v[k]);
    }
}

// max |a - b| against max |b|, and 1
static void check_vector(const char *name, const double *a, const double *b, int n,
                         double tolerance)
{
    double size = 1, worst = 0;
    for (int k = 0; k < n; k++) size = fmax(size, fabs(b[k]));
    for (int k = 0; k < n; k++) worst = fmax(worst, fabs(a[k] - b[k]) / size);
    if (!(worst <= tolerance)) fail_msg("%s is off by %.3g", name, worst);
}

static void check_mass_matrix(const Expected *e, const Probe *p, const uint32_t *place)
{
    const int n = e->d.n;
    const double *M = probe_output(p, "M");
    double *found = malloc(((size_t)n * (size_t)n + 1) * sizeof *found);
    double *wanted = malloc(((size_t)n * (size_t)n + 1) * sizeof *wanted);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            found[i * n + k] = M[place[i] * (uint32_t)n + place[k]];
            wanted[i * n + k] = e->d.M[i][k];
            assert_true(same_bits(found[i * n + k], M[place[k] * (uint32_t)n + place[i]]));
        }
    check_vector("M", found, wanted, n * n, 1e-12);
    assert_true(ne_is_positive(n, found));
    free(found);
    free(wanted);
}

static void check_torques(const Forest *f, const Style *style, const Expected *e, const Probe *p)
{
    double found[NE_MAX], wanted[NE_MAX];
    int n = 0;
    for (int i = 0; i < f->ne.count; i++)
        for (int k = 0; k < ne_velocities[f->ne.body[i].type]; k++) {
            char joint[40], name[50];
            if (f->part[i].drive == DRIVE_NONE) continue;
            if (ne_velocities[f->ne.body[i].type] == 1)
                joint_name(f, style, i, joint);
            else
                velocity_name(f, style, i, k, joint);
            snprintf(name, sizeof name, "tau.%s", joint);
            found[n] = probe_get(p, name);
            const int at = f->ne.body[i].first + k;
            wanted[n++] = e->told[at] ? e->tau[at] : f->part[i].torque[k];
        }
    check_vector("tau", found, wanted, n, 1e-10);
}

static void check_state(Forest *f, const Style *style, Probe *p)
{
    static Expected e;
    uint32_t place[NE_MAX];
    double found[4][NE_MAX];
    expect(f, &e);
    run_at(f, style, p, place);
    const int n = e.d.n;
    for (int k = 0; k < n; k++) {
        found[0][k] = probe_output(p, "c")[place[k]];
        found[1][k] = probe_output(p, "Q")[place[k]];
        found[2][k] = probe_output(p, "vdot")[place[k]];
    }
    check_mass_matrix(&e, p, place);
    check_vector("c", found[0], e.d.c, n, 1e-12);
    check_vector("Q", found[1], e.Q, n, 1e-12);
    check_vector("vdot", found[2], e.a, n, 1e-10);
    check_torques(f, style, &e, p);
    for (int k = 0; k < n; k++) { // inverse of forward, with the numbers of the system itself
        double force = found[0][k] - found[1][k], size = fabs(found[0][k]) + fabs(found[1][k]) + 1;
        for (int l = 0; l < n; l++) {
            const double Ma = probe_output(p, "M")[place[k] * (uint32_t)n + place[l]] * found[2][l];
            force += Ma, size += fabs(Ma);
        }
        found[3][k] = e.told[k] ? 0 : force / size;
    }
    const double nothing[NE_MAX] = {0};
    check_vector("M vdot + c - Q", found[3], nothing, n, 1e-12);
    assert_close(probe_get(p, "kinetic"), e.d.kinetic, 1e-12);
    assert_close(probe_get(p, "potential"), e.potential, 1e-12);
    const double rate = probe_get(p, "energy_rate") - probe_get(p, "power");
    check_vector("dE/dt - power", (double[]){rate / (1 + e.scale)}, nothing, 1, 1e-12);
}

enum { FORESTS = 240 };

static int any_count(Random *r, int i)
{
    return i < 30 ? i + 1 : 1 + (int)random_below(r, 9); // all sizes once
}

static void check_way(Way chosen, const Style *style, uint64_t seed)
{
    Random r = {seed};
    way = chosen;
    for (int i = 0; i < FORESTS; i++) {
        Forest f = any_forest(&r, any_count(&r, i));
        if (!f.ne.velocities) continue;
        Probe p = derive_as(&f, style);
        for (int k = 0; k < 2; k++) {
            any_state(&r, &f);
            check_state(&f, style, &p);
        }
        probe_free(&p);
    }
    way = CHEAPER;
}

static void test_articulated_inertias(void **state)
{
    (void)state;
    check_way(ARTICULATED, &plain, 1);
}

static void test_mass_matrix(void **state)
{
    (void)state;
    check_way(MASS_MATRIX, &(Style){.prefix = "b", .parameters = true}, 2);
}

// What tr_derive really uses: one of the two, and the cheaper.
static void test_the_cheaper_is_kept(void **state)
{
    (void)state;
    Random r = {3};
    int first = 0, second = 0;
    for (int i = 0; i < 60; i++) {
        const Forest f = any_forest(&r, 1 + (int)random_below(&r, 8));
        size_t cost[3];
        for (way = CHEAPER; way <= MASS_MATRIX; way++) {
            Probe p = derive_as(&f, &plain);
            const Output *vdot = tr_system_output(p.system, text_of("vdot"));
            cost[way] = tr_system_operations(p.system, vdot->values, vdot->rows);
            probe_free(&p);
        }
        way = CHEAPER;
        // but for a few operations: what a graph holds already has a say in how more is written
        const size_t least = cost[1] < cost[2] ? cost[1] : cost[2];
        assert_true(cost[0] <= least + least / 50 && least <= cost[0] + least / 50);
        first += cost[1] < cost[2];
        second += cost[2] < cost[1];
    }
    assert_true(first > 0 && second > 0); // neither is idle
}

// ---- what must not matter ------------------------------------------------------------------

static double energy_of(const Probe *p, int which)
{
    static const char *const names[] = {"kinetic", "potential", "power"};
    return probe_get(p, names[which]);
}

// The accelerations of f at its state, in its own order; and its energies.
static void motion_of(const Forest *f, const Style *style, double *a, double energies[3])
{
    uint32_t place[NE_MAX];
    Probe p = derive_as(f, style);
    run_at(f, style, &p, place);
    for (int k = 0; k < f->ne.velocities; k++) a[k] = probe_output(&p, "vdot")[place[k]];
    for (int k = 0; k < 3; k++) energies[k] = energy_of(&p, k);
    probe_free(&p);
}

// Angles about x, then y, then z
static V3 angles_of(M3 R)
{
    return v3(atan2(R.column[1].z, R.column[2].z), -asin(R.column[0].z),
              atan2(R.column[0].y, R.column[0].x));
}

static Forest moved(const Forest *f, M3 R, V3 p)
{
    Forest g = *f;
    g.ne.gravity = m3_times(R, f->ne.gravity);
    for (int i = 0; i < g.ne.count; i++) {
        NeBody *b = &g.ne.body[i];
        if (b->parent >= 0) continue;
        b->at = v3_plus(p, m3_times(R, b->at));
        b->axis = m3_times(R, b->axis);
        b->turn = angles_of(m3_product(R, m3_turn(b->turn)));
    }
    for (int i = 0; i < g.pulls; i++) {
        if (g.pull[i].in_body) continue;
        g.pull[i].force = m3_times(R, g.pull[i].force);
        g.pull[i].torque = m3_times(R, g.pull[i].torque);
    }
    return g;
}

static void test_moving_the_world(void **state)
{
    (void)state;
    Random r = {4};
    for (int i = 0; i < 60; i++) {
        Forest f = any_forest(&r, 1 + (int)random_below(&r, 8));
        any_state(&r, &f);
        const V3 p = v3_times(5, any_vector(&r));
        const Forest g = moved(&f, any_rotation(&r), p);
        double a[2][NE_MAX], E[2][3];
        motion_of(&f, &plain, a[0], E[0]);
        motion_of(&g, &plain, a[1], E[1]);
        check_vector("vdot", a[1], a[0], f.ne.velocities, 1e-10);
        assert_close(E[1][0], E[0][0], 1e-12);
        double height = 0; // the potential is counted from another point
        for (int k = 0; k < f.ne.count; k++) height -= f.ne.body[k].mass * v3_dot(g.ne.gravity, p);
        assert_close(E[1][1], E[0][1] + height, 1e-11);
        assert_close(E[1][2], E[0][2], 1e-10);
    }
}

static void test_renaming(void **state)
{
    (void)state;
    static const Style other = {.prefix = "Zebra_"}, named = {.prefix = "b", .parameters = true},
                       other_named = {.prefix = "Zebra_", .parameters = true};
    Random r = {5};
    for (int i = 0; i < 60; i++) {
        Forest f = any_forest(&r, 1 + (int)random_below(&r, 8));
        any_state(&r, &f);
        Forest g = f;
        for (int k = 0; k < g.ne.count; k++) g.part[k].label = 100 - k;
        double a[2][NE_MAX], E[2][3];
        motion_of(&f, i % 2 ? &named : &plain, a[0], E[0]);
        motion_of(&g, i % 2 ? &other_named : &other, a[1], E[1]);
        for (int k = 0; k < f.ne.velocities; k++) assert_true(same_bits(a[0][k], a[1][k]));
        for (int k = 0; k < 3; k++) assert_true(same_bits(E[0][k], E[1][k]));
    }
}

static void test_order_of_the_file(void **state)
{
    (void)state;
    static const Style backwards = {.prefix = "b", .backwards = true};
    Random r = {6};
    for (int i = 0; i < 60; i++) {
        Forest f = any_forest(&r, 1 + (int)random_below(&r, 8));
        any_state(&r, &f);
        double a[2][NE_MAX], E[2][3];
        motion_of(&f, &plain, a[0], E[0]);
        motion_of(&f, &backwards, a[1], E[1]);
        check_vector("vdot", a[1], a[0], f.ne.velocities, 1e-10);
        for (int k = 0; k < 3; k++) assert_close(E[0][k], E[1][k], 1e-11);
    }
}

// ---- units ---------------------------------------------------------------------------------

typedef struct Units { // powers of two
    int length, mass, time;
} Units;

static double in_units(Units u, int length, int mass, int time, double x)
{
    return ldexp(x, u.length * length + u.mass * mass + u.time * time);
}
static V3 vector_in_units(Units u, int length, int mass, int time, V3 x)
{
    return v3_times(in_units(u, length, mass, time, 1), x);
}

static bool is_angular(NeType type, int k)
{
    return type == NE_REVOLUTE || type == NE_BALL || (type == NE_PLANAR && k == 2) ||
           (type == NE_FREE && k >= 3);
}

static void scale_part(Units u, NeType type, Part *p)
{
    for (int k = 0; k < ne_velocities[type]; k++)
        p->torque[k] = in_units(u, is_angular(type, k) ? 2 : 1, 1, -2, p->torque[k]);
    for (int k = 0; k < 3; k++) {
        const bool angle = type == NE_REVOLUTE || (type == NE_PLANAR && k == 2);
        p->swing[k] = in_units(u, angle ? 0 : 1, 0, 0, p->swing[k]);
    }
    p->frequency = in_units(u, 0, 0, -1, p->frequency);
    const int length = type == NE_REVOLUTE ? 2 : 0;
    p->stiffness = in_units(u, length, 1, -2, p->stiffness);
    p->damping = in_units(u, length, 1, -1, p->damping);
    p->rest = in_units(u, type == NE_REVOLUTE ? 0 : 1, 0, 0, p->rest);
    p->axial = in_units(u, 2, 1, 0, p->axial);
    p->radial = in_units(u, 2, 1, 0, p->radial);
}

static Forest scaled(const Forest *f, Units u)
{
    Forest g = *f;
    g.t = in_units(u, 0, 0, 1, f->t);
    g.ne.gravity = vector_in_units(u, 1, 0, -2, f->ne.gravity);
    for (int i = 0; i < g.ne.count; i++) {
        NeBody *b = &g.ne.body[i];
        b->at = vector_in_units(u, 1, 0, 0, b->at);
        b->com = vector_in_units(u, 1, 0, 0, b->com);
        b->mass = in_units(u, 0, 1, 0, b->mass);
        for (int k = 0; k < 3; k++)
            b->inertia.column[k] = vector_in_units(u, 2, 1, 0, b->inertia.column[k]);
        for (int k = 0; k < ne_velocities[b->type]; k++)
            b->v[k] = in_units(u, is_angular(b->type, k) ? 0 : 1, 0, -1, b->v[k]);
        const int lengths = b->type == NE_PRISMATIC ? 1 : b->type == NE_PLANAR ? 2 : 3;
        const bool turns_only = b->type == NE_REVOLUTE || b->type == NE_BALL;
        for (int k = 0; !turns_only && k < lengths; k++) b->q[k] = in_units(u, 1, 0, 0, b->q[k]);
        scale_part(u, b->type, &g.part[i]);
    }
    for (int i = 0; i < g.pulls; i++) {
        g.pull[i].at = vector_in_units(u, 1, 0, 0, g.pull[i].at);
        g.pull[i].force = vector_in_units(u, 1, 1, -2, g.pull[i].force);
        g.pull[i].torque = vector_in_units(u, 2, 1, -2, g.pull[i].torque);
    }
    return g;
}

static void test_units(void **state)
{
    (void)state;
    static const Style styles[] = {{.prefix = "b"},
                                   {.prefix = "b", .parameters = true},
                                   {.prefix = "b", .parameters = true, .fixed = true}};
    Random r = {7};
    for (int i = 0; i < 90; i++) {
        Forest f = any_forest(&r, 1 + (int)random_below(&r, 8));
        any_state(&r, &f);
        const Units u = {(int)random_below(&r, 21) - 10, (int)random_below(&r, 21) - 10,
                         (int)random_below(&r, 21) - 10};
        const Forest g = scaled(&f, u);
        double a[2][NE_MAX], E[2][3];
        way = i % 2 ? ARTICULATED : MASS_MATRIX;
        motion_of(&f, &styles[i % 3], a[0], E[0]);
        motion_of(&g, &styles[i % 3], a[1], E[1]);
        way = CHEAPER;
        for (int b = 0; b < f.ne.count; b++)
            for (int k = 0; k < ne_velocities[f.ne.body[b].type]; k++) {
                const int at = f.ne.body[b].first + k, angular = is_angular(f.ne.body[b].type, k);
                assert_true(same_bits(in_units(u, !angular, 0, -2, a[0][at]), a[1][at]));
            }
        assert_true(same_bits(in_units(u, 2, 1, -2, E[0][0]), E[1][0]));
        assert_true(same_bits(in_units(u, 2, 1, -2, E[0][1]), E[1][1]));
        assert_true(same_bits(in_units(u, 2, 1, -3, E[0][2]), E[1][2]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_articulated_inertias),
        cmocka_unit_test(test_mass_matrix),
        cmocka_unit_test(test_the_cheaper_is_kept),
        cmocka_unit_test(test_moving_the_world),
        cmocka_unit_test(test_renaming),
        cmocka_unit_test(test_order_of_the_file),
        cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
