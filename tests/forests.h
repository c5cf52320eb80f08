// SPDX-License-Identifier: Apache-2.0
// Random forests of bodies, their states, and how they are written as models.
//
// forward.c is compiled into these tests, so that each way to build forward dynamics can be chosen.
#ifndef TR_TESTS_FORESTS_H
#define TR_TESTS_FORESTS_H

#define tr_tree_forward forward_by_the_cheaper
#include "mech/forward.c"
#undef tr_tree_forward

#include "newton_euler.h"

void tr_tree_forward(Tree *tree);

// Those with `along` are of links along their hinges, in all forms; the last four are not tried
// here, but where there are constraints.
typedef enum Way {
    CHEAPER,
    ARTICULATED,
    MASS_MATRIX,
    ALONG_ARTICULATED,
    ALONG_MASS_MATRIX,
    UNLOADED_ARTICULATED,
    UNLOADED_MASS_MATRIX,
    TRIED,
    STRAIGHT_ARTICULATED = TRIED,
    STRAIGHT_MASS_MATRIX,
    STRAIGHT_UNLOADED_ARTICULATED,
    STRAIGHT_UNLOADED_MASS_MATRIX,
    WAYS
} Way;
static Way way = CHEAPER;

static const struct {
    bool along;
    AlongBases bases;
    bool by_matrix;
} ways[WAYS] = {
    [MASS_MATRIX] = {.by_matrix = true},
    [ALONG_ARTICULATED] = {true, {.turn = true, .load = true}, false},
    [ALONG_MASS_MATRIX] = {true, {.turn = true, .load = true}, true},
    [UNLOADED_ARTICULATED] = {true, {.turn = true}, false},
    [UNLOADED_MASS_MATRIX] = {true, {.turn = true}, true},
    [STRAIGHT_ARTICULATED] = {true, {.load = true}, false},
    [STRAIGHT_MASS_MATRIX] = {true, {.load = true}, true},
    [STRAIGHT_UNLOADED_ARTICULATED] = {true, {.load = false}, false},
    [STRAIGHT_UNLOADED_MASS_MATRIX] = {true, {.load = false}, true},
};

void tr_tree_forward(Tree *tree)
{
    if (way == CHEAPER) {
        forward_by_the_cheaper(tree);
        return;
    }
    Expr *q = calloc(tree->velocity_count + 1, sizeof *q);
    Tree *along = ways[way].along ? tr_tree_along(tree, ways[way].bases) : NULL,
         *by = along ? along : tree;
    assert_true(ways[way].by_matrix ? by_mass_matrix(by, q) : by_articulated_inertias(by, q));
    find_torques(tree, by, q);
    tr_tree_turn_out(by, q);
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

typedef struct RandomForest {
    NeForest ne;
    Part part[NE_MAX_BODIES];
    Pull pull[PULLS];
    int pulls;
    double t;
} RandomForest;

// radial 1 + (axial - radial) u u^T
static inline M3 round_inertia(double axial, double radial, V3 u)
{
    M3 I = m3_identity();
    for (int k = 0; k < 3; k++)
        I.column[k] =
            v3_plus(v3_times(radial, v3_axis(k)), v3_times((axial - radial) * v3_at(u, k), u));
    return I;
}

// A wheel: about its own joint's axis when that is revolute, else about an axis of its own.
static inline void make_round(Random *r, NeBody *b, Part *p)
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

static inline void make_drive(Random *r, const NeBody *b, Part *p)
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

static inline RandomForest any_forest(Random *r, int count)
{
    RandomForest f = {.ne = {.count = count, .gravity = v3_times(10, any_vector(r))}};
    for (int i = 0; i < count; i++) {
        NeBody *b = &f.ne.body[i];
        Part *p = &f.part[i];
        *p = (Part){.label = i};
        b->parent = i == 0 || chance(r, 0.15) ? -1 : (int)random_below(r, (uint32_t)i);
        if (chance(r, 0.3) && i) b->parent = i - 1;
        // chains of joints that turn and slide are the rule, others the exception
        b->type = chance(r, 0.5) ? NE_REVOLUTE : (NeType)random_below(r, NE_TYPES);
        b->at = any_vector(r);
        b->turn = chance(r, 0.3) ? v3_times(3, any_vector(r)) : v3(0, 0, 0);
        b->axis = chance(r, 0.3) ? v3_axis((int)random_below(r, 3)) : v3_times(3, any_vector(r));
        b->mass = random_between(r, 0.1, 2);
        b->com = chance(r, 0.8) ? any_vector(r) : v3(0, 0, 0);
        b->inertia = any_inertia(r, 0.05, 1);
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

static inline void any_quaternion(Random *r, double *q)
{
    double size = 0;
    for (int k = 0; k < 4; k++) q[k] = any(r), size += q[k] * q[k];
    for (int k = 0; k < 4; k++) q[k] /= sqrt(size);
}

// Value and two derivatives of swing sin(frequency t + phase)
static inline void swing(const Part *p, int k, double t, double x[3])
{
    const double w = p->frequency, u = w * t + p->phase[k];
    x[0] = p->swing[k] * sin(u);
    x[1] = p->swing[k] * w * cos(u);
    x[2] = -p->swing[k] * w * w * sin(u);
}

// A point with velocity v and acceleration a in resting axes, in axes R that turn with W (own
// axes): V = R^T v,  V' = R^T a - W x V
static inline void seen_turning(M3 R, V3 W, V3 v, V3 a, double *V, double *V_rate)
{
    const V3 own = m3_across(R, v), rate = v3_minus(m3_across(R, a), v3_cross(W, own));
    for (int k = 0; k < 3; k++) V[k] = v3_at(own, k), V_rate[k] = v3_at(rate, k);
}

static inline void follow_motion(NeBody *b, Part *p, double t)
{
    double x[4][3];
    for (int k = 0; k < 4; k++) swing(p, k, t, x[k]);
    const V3 v = v3(x[0][1], x[1][1], x[2][1]), a = v3(x[0][2], x[1][2], x[2][2]);
    if (ne_is_axial(b->type)) {
        for (int k = 0; k < ne_velocities[b->type]; k++)
            b->q[k] = x[k][0], b->v[k] = x[k][1], p->acceleration[k] = x[k][2];
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

static inline void any_state(Random *r, RandomForest *f)
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

static inline void name_of(const RandomForest *f, const Style *style, int i, char name[32])
{
    if (i < 0)
        strcpy(name, "world");
    else
        snprintf(name, 32, "%s%d", style->prefix, f->part[i].label);
}

// The joint's own coordinate is called other than its body.
static inline void joint_name(const RandomForest *f, const Style *style, int i, char name[32])
{
    char body[32];
    name_of(f, style, i, body);
    const bool single = ne_velocities[f->ne.body[i].type] == 1;
    snprintf(name, 32, "%.20s%s", body, single ? "_q" : "");
}

typedef struct Builder {
    tr_model *model;
    const RandomForest *forest;
    const Style *style;
    char place[64]; // "bodies/b3"
    tr_error err;
} Builder;

static inline void set_text(Builder *to, const char *field, const char *value)
{
    char path[160];
    snprintf(path, sizeof path, "%s%s%s", to->place, to->place[0] ? "/" : "", field);
    tr_model_set(to->model, path, value, &to->err);
}

static inline void set_number(Builder *to, const char *field, double x)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", x);
    set_text(to, field, text);
}

static inline void set_vector(Builder *to, const char *field, V3 x)
{
    char text[100];
    snprintf(text, sizeof text, "%.17g, %.17g, %.17g", x.x, x.y, x.z);
    set_text(to, field, text);
}

// The same through parameters of its own
static inline void set_vector_by_name(Builder *to, const char *field, V3 x)
{
    char name[3][64], text[200], stem[64];
    snprintf(stem, sizeof stem, "%.40s_%.20s",
             to->place[0] ? strrchr(to->place, '/') + 1 : "world_",
             strrchr(field, '/') ? strrchr(field, '/') + 1 : field);
    for (int k = 0; k < 3; k++) {
        char path[100], value[40];
        snprintf(name[k], sizeof name[k], "%.55s_%c", stem, "xyz"[k]);
        snprintf(path, sizeof path, "parameters/%.80s", name[k]);
        snprintf(value, sizeof value, "%.17g", v3_at(x, k));
        tr_model_set(to->model, path, value, &to->err);
    }
    snprintf(text, sizeof text, "%s, %s, %s", name[0], name[1], name[2]);
    set_text(to, field, text);
}

static inline void set_inertia(Builder *to, const NeBody *b, const Part *p)
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

static inline void set_body(Builder *to, int i)
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
    if (ne_is_axial(b->type)) set_vector(to, "joint/axis", b->axis);
    if (b->type == NE_UNIVERSAL) set_vector(to, "joint/second", ne_second(b));
    if (single) set_text(to, "joint/coordinate", name);
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

static inline void set_swing(Builder *to, const char *field, const Part *p, int k,
                             const char *around)
{
    char inner[120], text[260];
    snprintf(inner, sizeof inner, "%.17g*sin(%.17g*t + %.17g)", p->swing[k], p->frequency,
             p->phase[k]);
    snprintf(text, sizeof text, around, inner);
    set_text(to, field, text);
}

static inline void set_role(Builder *to, int i)
{
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
        snprintf(field, sizeof field, "torque/%s", ne_role_part(b->type, k));
        set_number(to, field, p->torque[k]);
    }
    if (p->drive != DRIVE_MOTION) return;
    if (single) set_swing(to, "motion", p, 0, "%s");
    for (int k = 0; !single && ne_is_axial(b->type) && k < 2; k++) {
        snprintf(field, sizeof field, "motion/%s", ne_role_part(b->type, k));
        set_swing(to, field, p, k, "%s");
    }
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

static inline void set_pull(Builder *to, int i)
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

static inline Probe derive_as(const RandomForest *f, const Style *style)
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

static inline void position_name(const RandomForest *f, const Style *style, int i, int k,
                                 char name[40])
{
    char joint[32];
    const NeType type = f->ne.body[i].type;
    joint_name(f, style, i, joint);
    if (ne_velocities[type] == 1)
        strcpy(name, joint);
    else
        snprintf(name, 40, "%.25s.%s", joint, ne_position_parts[type][k]);
}

static inline void velocity_name(const RandomForest *f, const Style *style, int i, int k,
                                 char name[40])
{
    char joint[32];
    const NeType type = f->ne.body[i].type;
    joint_name(f, style, i, joint);
    if (ne_velocities[type] == 1)
        snprintf(name, 40, "%.25s_rate", joint);
    else
        snprintf(name, 40, "%.25s.%s", joint, ne_velocity_parts[type][k]);
}

// Puts the forest's state into the program and runs it; place[k] is the index there of velocity k.
static inline void run_at(const RandomForest *f, const Style *style, Probe *p, uint32_t *place)
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

// ---- compared ------------------------------------------------------------------------------

// max |a - b| against max |b|, and 1
static inline void check_vector(const char *name, const double *a, const double *b, int n,
                                double tolerance)
{
    double size = 1, worst = 0;
    for (int k = 0; k < n; k++) size = fmax(size, fabs(b[k]));
    for (int k = 0; k < n; k++) worst = fmax(worst, fabs(a[k] - b[k]) / size);
    if (!is_below(worst, tolerance)) fail_msg("%s is off by %.3g", name, worst);
}

#endif
