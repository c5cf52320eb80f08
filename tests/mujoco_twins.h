// SPDX-License-Identifier: Apache-2.0
// The same system in trundle and in MuJoCo, and one state in both.
//
// A model file is translated to MJCF here, from the text of its fields; nothing of src/mech takes
// part. In MuJoCo the linear velocity of a free joint is in world axes, ours in the body's:
//   v_mj = T v,  T = diag(R, 1):  M = T' M_mj T,  c = T' (c_mj + M_mj T. v),  v. = T'(a_mj - T. v)
// with T. v = R (W x V) in the rows of the free joint.
//
// Inertias are given to MuJoCo as principal moments in turned axes, found here by Jacobi rotations:
// MuJoCo 2.2.2 finds them from `fullinertia` to no more than about 1e-6.
#ifndef TR_TESTS_MUJOCO_TWINS_H
#define TR_TESTS_MUJOCO_TWINS_H

#include "expr/system.h"
#include "model/model.h"
#include "plans.h"
#include "random.h"

#include <math.h>
#include <mujoco/mujoco.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DOF = 120, MOST_TEXT = 1 << 17 };

static inline _Noreturn void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

// ---- small algebra -------------------------------------------------------------------------

static inline void times(double A[3][3], const double x[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = A[i][0] * x[0] + A[i][1] * x[1] + A[i][2] * x[2];
}

static inline void times_transposed(double A[3][3], const double x[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = A[0][i] * x[0] + A[1][i] * x[1] + A[2][i] * x[2];
}

static inline void product(double A[3][3], double B[3][3], double out[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[i][j] = A[i][0] * B[0][j] + A[i][1] * B[1][j] + A[i][2] * B[2][j];
}

static inline void turned_about(int axis, double angle, double R[3][3])
{
    const int j = (axis + 1) % 3, k = (axis + 2) % 3;
    memset(R, 0, 9 * sizeof(double));
    R[axis][axis] = 1;
    R[j][j] = R[k][k] = cos(angle);
    R[k][j] = sin(angle);
    R[j][k] = -sin(angle);
}

// about x, then y, then z
static inline void turn_matrix(const double angles[3], double R[3][3])
{
    double x[3][3], y[3][3], z[3][3], yx[3][3];
    turned_about(0, angles[0], x);
    turned_about(1, angles[1], y);
    turned_about(2, angles[2], z);
    product(y, x, yx);
    product(z, yx, R);
}

static inline void quaternion_matrix(const double q[4], double R[3][3])
{
    mjtNum flat[9];
    mju_quat2Mat(flat, q);
    memcpy(R, flat, sizeof flat);
}

// A = R diag(moments) R', by Jacobi rotations
static inline void principal(double A[3][3], double R[3][3], double moments[3])
{
    double P[3][3], AP[3][3], Q[3][3], identity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    memcpy(R, identity, sizeof identity);
    for (int i = 0; i < 30; i++) {
        const int axis = i % 3, j = (axis + 1) % 3, k = (axis + 2) % 3;
        const double larger = A[j][j] - A[k][k], sign = larger < 0 ? -1 : 1; // the smaller turn
        turned_about(axis, 0.5 * atan2(sign * 2 * A[j][k], fabs(larger)), P);
        product(A, P, AP);
        for (int row = 0; row < 3; row++)
            for (int column = 0; column < 3; column++)
                A[row][column] = P[0][row] * AP[0][column] + P[1][row] * AP[1][column] +
                                 P[2][row] * AP[2][column];
        product(R, P, Q);
        memcpy(R, Q, sizeof Q);
    }
    for (int i = 0; i < 3; i++) moments[i] = A[i][i];
}

static inline void matrix_quaternion(double R[3][3], double q[4])
{
    double flat[9];
    memcpy(flat, R, sizeof flat);
    mju_mat2Quat(q, flat);
}

// ---- a model as MJCF -----------------------------------------------------------------------

typedef struct Writer {
    const Model *model;
    System *scope; // parameters by name
    char *out;
    size_t length;
} Writer;

static inline void put(Writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    w->length += (size_t)vsnprintf(w->out + w->length, MOST_TEXT - w->length, format, arguments);
    va_end(arguments);
    if (w->length >= MOST_TEXT) give_up("the model is too long");
}

static inline double number_of(Writer *w, Text text)
{
    char formula[500], name[32];
    tr_error err = {0};
    double in[1] = {0}, value = (double)NAN;
    snprintf(formula, sizeof formula, "%.*s", (int)text.length, text.at);
    const tr_expr x = tr_formula(w->scope, formula, &err);
    snprintf(name, sizeof name, "v%u", w->scope->output_count);
    tr_output(w->scope, name, &x, 1, 1, &err);
    tr_program *program = tr_compile(w->scope, name, NULL, &err);
    tr_workspace *work = tr_workspace_new(program, &err);
    if (err.status) give_up("%s: %s", formula, err.text);
    tr_evaluate(program, work, in, &value);
    tr_workspace_free(work);
    tr_program_free(program);
    return value;
}

static inline void numbers_of(Writer *w, Value value, double out[3])
{
    size_t at = 0;
    for (int i = 0; i < 3; i++, at++) {
        const size_t first = at;
        for (int depth = 0; at < value.text.length && (depth || value.text.at[at] != ','); at++)
            depth += value.text.at[at] == '(' ? 1 : value.text.at[at] == ')' ? -1 : 0;
        out[i] = number_of(w, (Text){value.text.at + first, at - first});
    }
}

static inline void put_three(Writer *w, const char *key, const double x[3])
{
    put(w, " %s=\"%.17g %.17g %.17g\"", key, x[0], x[1], x[2]);
}

static inline void put_quaternion(Writer *w, double R[3][3])
{
    double q[4];
    matrix_quaternion(R, q);
    put(w, " quat=\"%.17g %.17g %.17g %.17g\"", q[0], q[1], q[2], q[3]);
}

static inline void put_inertial(Writer *w, const Body *body, double turn[3][3])
{
    const Inertia *I = &body->inertia;
    const Value *entries[] = {&I->xx, &I->yy, &I->zz, &I->xy, &I->xz, &I->yz};
    double com[3], m[6], axis[3];
    numbers_of(w, body->com, com);
    if (text_is(I->about.text, "joint")) give_up("inertias about joints are not translated");
    for (int i = 0; i < 6; i++) m[i] = number_of(w, entries[i]->text);
    if (I->axial.given) {
        double parent_axis[3];
        numbers_of(w, I->axis.given ? I->axis : body->joint.axis, parent_axis);
        if (I->axis.given)
            memcpy(axis, parent_axis, sizeof axis);
        else
            times_transposed(turn, parent_axis, axis);
        mju_normalize3(axis);
        const double radial = number_of(w, I->radial.text);
        const double excess = number_of(w, I->axial.text) - radial;
        static const int row[] = {0, 1, 2, 0, 0, 1}, column[] = {0, 1, 2, 1, 2, 2};
        for (int i = 0; i < 6; i++)
            m[i] = (i < 3 ? radial : 0) + excess * axis[row[i]] * axis[column[i]];
    }
    put(w, "<inertial mass=\"%.17g\"", number_of(w, body->mass.text));
    put_three(w, "pos", com);
    double I3[3][3] = {{m[0], m[3], m[4]}, {m[3], m[1], m[5]}, {m[4], m[5], m[2]}};
    double R[3][3], moments[3];
    principal(I3, R, moments);
    put_quaternion(w, R);
    put_three(w, "diaginertia", moments);
    put(w, "/>\n");
}

static inline void put_joint(Writer *w, const Body *body, double turn[3][3])
{
    const Joint *joint = &body->joint;
    const Text type = joint->type.text;
    const Text name = joint->coordinate.given ? joint->coordinate.text : body->name.text;
    double parent_axis[3], axis[3];
    if (text_is(type, "fixed")) return;
    if (text_is(type, "free")) {
        put(w, "<freejoint name=\"%.*s\"/>\n", (int)name.length, name.at);
        return;
    }
    put(w, "<joint name=\"%.*s\"", (int)name.length, name.at);
    if (text_is(type, "ball")) {
        put(w, " type=\"ball\"/>\n");
        return;
    }
    numbers_of(w, joint->axis, parent_axis);
    times_transposed(turn, parent_axis, axis);
    put(w, " type=\"%s\"", text_is(type, "revolute") ? "hinge" : "slide");
    put_three(w, "axis", axis);
    put(w, " stiffness=\"%.17g\" springref=\"%.17g\" damping=\"%.17g\"/>\n",
        number_of(w, joint->stiffness.text), number_of(w, joint->rest.text),
        number_of(w, joint->damping.text));
}

static inline void put_bodies(Writer *w, Text parent)
{
    const Bodies *bodies = &w->model->fields.bodies;
    for (uint32_t i = 0; i < bodies->count; i++) {
        const Body *body = &bodies->at[i];
        double at[3], angles[3], turn[3][3];
        if (!text_equal(body->parent.text, parent)) continue;
        numbers_of(w, body->joint.at, at);
        numbers_of(w, body->joint.turn, angles);
        turn_matrix(angles, turn);
        put(w, "<body name=\"%.*s\"", (int)body->name.text.length, body->name.text.at);
        put_three(w, "pos", at);
        put_quaternion(w, turn);
        put(w, ">\n");
        put_inertial(w, body, turn);
        put_joint(w, body, turn);
        put_bodies(w, body->name.text);
        put(w, "</body>\n");
    }
}

static inline System *parameters_of(const Model *model)
{
    tr_error err = {0};
    System *scope = tr_system_new(&err);
    for (uint32_t i = 0; i < model->fields.parameters.count; i++) {
        const Setting *one = &model->fields.parameters.at[i];
        char name[100], formula[500];
        snprintf(name, sizeof name, "%.*s", (int)one->name.text.length, one->name.text.at);
        snprintf(formula, sizeof formula, "%.*s", (int)one->value.text.length, one->value.text.at);
        tr_define(scope, name, formula, &err);
    }
    if (err.status) give_up("%s", err.text);
    return scope;
}

// Hinges as points that stay together: what turns about an axis anyway needs no more.
static inline void put_loops(Writer *w, const char *softness)
{
    const Loops *loops = &w->model->fields.loops;
    put(w, "<equality>\n");
    for (uint32_t i = 0; i < loops->count; i++) {
        const Loop *loop = &loops->at[i];
        double at[3];
        numbers_of(w, loop->at, at);
        put(w, "<connect body1=\"%.*s\" body2=\"%.*s\" %s", (int)loop->body.text.length,
            loop->body.text.at, (int)loop->against.text.length, loop->against.text.at, softness);
        put_three(w, "anchor", at);
        put(w, "/>\n");
    }
    put(w, "</equality>\n");
}

// Loops hold as softly as the attributes say; NULL leaves them out.
static inline mjModel *translated(const Model *model, const char *softness)
{
    Writer w = {.model = model, .scope = parameters_of(model), .out = malloc(MOST_TEXT)};
    double gravity[3];
    numbers_of(&w, model->fields.gravity, gravity);
    put(&w, "<mujoco>\n<compiler angle=\"radian\" inertiafromgeom=\"false\"/>\n<option");
    put_three(&w, "gravity", gravity);
    put(&w,
        " solver=\"Newton\" jacobian=\"dense\" iterations=\"300\" tolerance=\"1e-15\"><flag "
        "contact=\"disable\"%s/>",
        softness ? "" : " constraint=\"disable\"");
    put(&w, "</option>\n<worldbody>\n");
    put_bodies(&w, text_of("world"));
    put(&w, "</worldbody>\n");
    if (softness) put_loops(&w, softness);
    put(&w, "</mujoco>\n");

    char error[1000] = "";
    mjVFS *files = malloc(sizeof *files);
    mj_defaultVFS(files);
    mj_makeEmptyFileVFS(files, "model.xml", (int)w.length);
    memcpy(files->filedata[mj_findFileVFS(files, "model.xml")], w.out, w.length);
    mjModel *m = mj_loadXML("model.xml", files, error, sizeof error);
    if (!m) give_up("%s\n%s", error, w.out);
    mj_deleteFileVFS(files, "model.xml");
    free(files);
    free(w.out);
    tr_system_free(w.scope);
    return m;
}

// ---- a state in both -----------------------------------------------------------------------

typedef struct Twins {
    System *system, *described; // the latter where the first is reduced
    tr_program *program;        // M, c, accelerations
    tr_workspace *work;
    double *in, *out;
    int n;
    int dof[MOST_DOF]; // of our velocity k: MuJoCo's
    mjModel *m;
    mjData *d;
} Twins;

typedef struct Worst {
    double M, c, a;
} Worst;

// MuJoCo's joint of one of our inputs, and which of its parts it is.
static inline int joint_of(const Twins *t, const char *input, const char *parts, int *part)
{
    char name[200];
    snprintf(name, sizeof name, "%s", input);
    char *point = strchr(name, '.'), *rate = strstr(name, "_rate");
    *part = 0;
    if (point) {
        const char *found = strstr(parts, point + 1);
        if (!found) give_up("what is %s?", input);
        *part = (int)(found - parts) / 3;
        *point = 0;
    } else if (rate)
        *rate = 0;
    const int joint = mj_name2id(t->m, mjOBJ_JOINT, name);
    if (joint < 0) give_up("MuJoCo has no joint %s", name);
    if (point && t->m->jnt_type[joint] == mjJNT_BALL) *part -= 3; // no x y z before
    return joint;
}

// With loops where `softness` says how they hold in MuJoCo.
static inline Twins make_twins(const Model *model, const char *case_name, const char *softness)
{
    tr_error err = {0};
    const tr_derive_options options = {.size = sizeof options, .case_name = case_name};
    Twins t = {.system = tr_derive(model, &options, &err)};
    if (!t.system) give_up("%d:%d: %s", err.line, err.column, err.text);
    if (softness) {
        tr_system *described = t.system;
        t.system = reduced_system(described, &err);
        t.described = described; // whose names it has
    }
    t.m = translated(model, softness);
    t.d = mj_makeData(t.m);
    for (uint32_t i = 0; i < t.system->input_count; i++) {
        const Input *input = &t.system->inputs[i];
        int part;
        if (input->kind != TR_VELOCITY) continue;
        const int joint = joint_of(&t, input->name, "vx vy vz wx wy wz", &part);
        t.dof[t.n++] = t.m->jnt_dofadr[joint] + part;
    }
    if (t.n != t.m->nv) give_up("%d velocities, but %d in MuJoCo", t.n, t.m->nv);
    t.program = tr_compile(t.system, "M c vdot", NULL, &err);
    t.work = tr_workspace_new(t.program, &err);
    if (err.status) give_up("%s", err.text);
    t.in = calloc(tr_program_sizes(t.program).inputs, sizeof *t.in);
    t.out = calloc(tr_program_sizes(t.program).outputs, sizeof *t.out);
    return t;
}

static inline void free_twins(Twins *t)
{
    tr_workspace_free(t->work);
    tr_program_free(t->program);
    tr_system_free(t->system);
    tr_system_free(t->described);
    free(t->in);
    free(t->out);
    mj_deleteData(t->d);
    mj_deleteModel(t->m);
}

static inline void random_state(Twins *t, Random *r)
{
    for (int i = 0; i < t->m->nq; i++) t->d->qpos[i] = random_between(r, -2, 2);
    for (int i = 0; i < t->m->nv; i++) t->d->qvel[i] = random_between(r, -3, 3);
    mj_normalizeQuat(t->m, t->d->qpos);
}

// The rotation of a free joint, at MuJoCo's state.
static inline void base_rotation(const Twins *t, int joint, double R[3][3])
{
    quaternion_matrix(t->d->qpos + t->m->jnt_qposadr[joint] + 3, R);
}

// Our inputs from MuJoCo's state
static inline void take_state(Twins *t)
{
    for (uint32_t i = 0; i < t->system->input_count; i++) {
        const Input *input = &t->system->inputs[i];
        int part;
        t->in[i] = input->value;
        if (input->kind == TR_POSITION) {
            const int joint = joint_of(t, input->name, "x  y  z  qw qx qy qz", &part);
            t->in[i] = t->d->qpos[t->m->jnt_qposadr[joint] + part];
        } else if (input->kind == TR_VELOCITY) {
            const int joint = joint_of(t, input->name, "vx vy vz wx wy wz", &part);
            const double *v = t->d->qvel + t->m->jnt_dofadr[joint];
            t->in[i] = v[part];
            if (t->m->jnt_type[joint] == mjJNT_FREE && part < 3) { // V = R' v
                double R[3][3], V[3];
                base_rotation(t, joint, R);
                times_transposed(R, v, V);
                t->in[i] = V[part];
            }
        }
    }
}

// T, and T. v
static inline void base_change(const Twins *t, double *T, double *drift)
{
    const int n = t->n;
    for (int i = 0; i < n * n; i++) T[i] = i % (n + 1) == 0;
    for (int i = 0; i < n; i++) drift[i] = 0;
    for (int joint = 0; joint < t->m->njnt; joint++) {
        if (t->m->jnt_type[joint] != mjJNT_FREE) continue;
        const int at = t->m->jnt_dofadr[joint];
        double R[3][3], V[3], WV[3];
        base_rotation(t, joint, R);
        for (int i = 0; i < 9; i++) T[(at + i / 3) * n + at + i % 3] = R[i / 3][i % 3];
        times_transposed(R, t->d->qvel + at, V);
        mju_cross(WV, t->d->qvel + at + 3, V);
        times(R, WV, drift + at);
    }
}

// MuJoCo's accelerations as ours; its data are those of the state.
static inline void accelerations_in_mujoco(const Twins *t, const double *T, const double *drift,
                                           double *a)
{
    double in_world[MOST_DOF];
    mju_sub(in_world, t->d->qacc, drift, t->n);
    mju_mulMatTVec(a, T, in_world, t->n, t->n);
}

static inline void compare(Twins *t, Worst *worst)
{
    const int n = t->n;
    double *M = malloc(sizeof(double) * (size_t)(4 * n * n + 4 * n + 1)), *T = M + n * n;
    double *MT = T + n * n, *M_mj = MT + n * n, *drift = M_mj + n * n;
    double *force = drift + n, *c = force + n, *a = c + n;
    mj_forward(t->m, t->d);
    mj_fullM(t->m, M_mj, t->d->qM);
    base_change(t, T, drift);
    mju_mulMatMat(MT, M_mj, T, n, n, n);
    mju_mulMatTMat(M, T, MT, n, n, n);
    mju_mulMatVec(force, M_mj, drift, n, n);
    mju_addTo(force, t->d->qfrc_bias, n);
    mju_mulMatTVec(c, T, force, n, n);
    accelerations_in_mujoco(t, T, drift, a);

    take_state(t);
    tr_evaluate(t->program, t->work, t->in, t->out);
    double c_size = 1e-300, a_size = 1e-300;
    for (int k = 0; k < n; k++) {
        c_size = fmax(c_size, fabs(c[k]));
        a_size = fmax(a_size, fabs(a[k]));
    }
    for (int i = 0; i < n; i++) {
        const int mi = t->dof[i];
        for (int j = 0; j < n; j++) {
            const int mj = t->dof[j];
            const double off = fabs(t->out[i * n + j] - M[mi * n + mj]);
            worst->M = fmax(worst->M, off / sqrt(M[mi * n + mi] * M[mj * n + mj]));
        }
        worst->c = fmax(worst->c, fabs(t->out[n * n + i] - c[mi]) / c_size);
        worst->a = fmax(worst->a, fabs(t->out[n * n + n + i] - a[mi]) / a_size);
    }
    if (!(isfinite(worst->M) && isfinite(worst->c) && isfinite(worst->a)))
        worst->a = (double)INFINITY;
    free(M);
}

#endif
