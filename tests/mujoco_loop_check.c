// SPDX-License-Identifier: Apache-2.0
// SK8O's closed legs in MuJoCo, as `connect` equalities: accelerations in free flight, and how far
// the loops open in a fall. A plain program: mujoco_loop_check models/sk8o.yaml.
#include "mujoco_twins.h"
#include "plans.h"

enum { STATES = 10 };

static void change(tr_model *model, const char *path, double value)
{
    char text[40];
    tr_error err = {0};
    snprintf(text, sizeof text, "%.17g", value);
    tr_model_set(model, path, text, &err);
    if (err.status) give_up("%s: %s", path, err.text);
}

static void change_all(tr_model *model, const char *const *names, size_t count, const char *where,
                       Random *r, double size)
{
    char path[100];
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", where, names[i]);
        change(model, path, random_between(r, -size, size));
    }
}

#define LENGTH(list) (sizeof(list) / sizeof *(list))

static tr_model *thrown(const char *file, Random *r, bool moving)
{
    static const char *const pose[] = {"yaw", "pitch", "roll", "phi1", "phi3", "phi5", "phi7"};
    static const char *const rate[] = {"base.vx", "base.vy", "base.vz", "base.wx", "base.wy",
                                       "base.wz", "d(phi1)", "d(phi3)", "d(phi5)", "d(phi7)"};
    static const char *const motor[] = {"T1", "T3", "T5", "T7"};
    tr_error err = {0};
    tr_model *model = tr_model_read(file, &err);
    if (!model) give_up("%s: %s", file, err.text);
    change_all(model, pose, LENGTH(pose), "cases/drop/initial", r, 0.5);
    if (moving) change_all(model, rate, LENGTH(rate), "cases/drop/initial", r, 3);
    change_all(model, motor, LENGTH(motor), "inputs", r, 5);
    return model;
}

// MuJoCo's state from our start
static void put_state(Twins *t)
{
    tr_error err = {0};
    if (!initial_of(t->described, t->in, &err)) give_up("%s", err.text); // not of what is reduced
    mj_resetData(t->m, t->d);
    for (uint32_t i = 0; i < t->system->input_count; i++) {
        const Input *input = &t->system->inputs[i];
        int part;
        if (input->kind == TR_POSITION) {
            const int joint = joint_of(t, input->name, "x  y  z  qw qx qy qz", &part);
            t->d->qpos[t->m->jnt_qposadr[joint] + part] = t->in[i];
        } else if (input->kind == TR_VELOCITY) {
            const int joint = joint_of(t, input->name, "vx vy vz wx wy wz", &part);
            t->d->qvel[t->m->jnt_dofadr[joint] + part] = t->in[i];
        } else if (input->kind == TR_INPUT && input->name[0] == 'T') {
            char name[20];
            snprintf(name, sizeof name, "phi%s", input->name + 1);
            const int joint = mj_name2id(t->m, mjOBJ_JOINT, name);
            t->d->qfrc_applied[t->m->jnt_dofadr[joint]] = t->in[i];
        }
    }
    double R[3][3], V[3];
    base_rotation(t, 0, R);
    memcpy(V, t->d->qvel, sizeof V);
    times(R, V, t->d->qvel);
}

// ---- accelerations -------------------------------------------------------------------------

// MuJoCo's constraints leave out J. v. It is put into their reference accelerations.
static void forward(Twins *t)
{
    const int n = t->n, rows = t->d->nefc, nq = t->m->nq;
    const double h = 1e-5;
    double *q = malloc(sizeof(double) * (size_t)(nq + 2 * rows)), *drift = q + nq;
    memcpy(q, t->d->qpos, sizeof(double) * (size_t)nq);
    for (int side = 0; side < 2; side++) {
        memcpy(t->d->qpos, q, sizeof(double) * (size_t)nq);
        mj_integratePos(t->m, t->d->qpos, t->d->qvel, side ? h : -h);
        mj_fwdPosition(t->m, t->d);
        mju_mulMatVec(drift + side * rows, t->d->efc_J, t->d->qvel, rows, n);
    }
    memcpy(t->d->qpos, q, sizeof(double) * (size_t)nq);
    mj_fwdPosition(t->m, t->d);
    mj_fwdVelocity(t->m, t->d);
    for (int i = 0; i < rows; i++) t->d->efc_aref[i] -= (drift[rows + i] - drift[i]) / (2 * h);
    mj_fwdActuation(t->m, t->d);
    mj_fwdAcceleration(t->m, t->d);
    mj_fwdConstraint(t->m, t->d);
    free(q);
}

static double farthest(const Twins *t, const double *a)
{
    const double *ours = t->out + t->n * t->n + t->n;
    double size = 0, off = 0;
    for (int i = 0; i < t->n; i++) {
        size = fmax(size, fabs(ours[i]));
        off = fmax(off, fabs(ours[i] - a[t->dof[i]]));
    }
    return size > 1 && isfinite(off) ? off / size : (double)INFINITY;
}

// MuJoCo's constraints are never quite rigid: an impedance of at most 0.9999. Accelerations are
// smooth in (1 - d) / d, and what they are at d = 1 is found from three values of d.
static double compare_accelerations(const tr_model *model)
{
    static const char *const softness[] = {"solimp=\"0.9999 0.9999 0.001\"",
                                           "solimp=\"0.9997 0.9997 0.001\"",
                                           "solimp=\"0.9995 0.9995 0.001\""};
    const double e[] = {1 / 0.9999 - 1, 1 / 0.9997 - 1, 1 / 0.9995 - 1};
    double rigid[MOST_DOF] = {0}, off = (double)INFINITY;
    for (int j = 0; j < 3; j++) {
        Twins t = make_twins(model, "drop", softness[j]);
        double T[MOST_DOF * MOST_DOF], drift[MOST_DOF], a[MOST_DOF], weight = 1;
        put_state(&t);
        mj_forward(t.m, t.d); // finds how many rows there are
        forward(&t);
        base_change(&t, T, drift);
        accelerations_in_mujoco(&t, T, drift, a);
        for (int k = 0; k < 3; k++)
            if (k != j) weight *= e[k] / (e[k] - e[j]);
        for (int i = 0; i < t.n; i++) rigid[i] += weight * a[i];
        tr_evaluate(t.program, t.work, t.in, t.out);
        if (j == 2) off = farthest(&t, rigid);
        free_twins(&t);
    }
    return off;
}

static bool check_accelerations(const char *file)
{
    Random r = {20220106};
    bool good = true;
    for (int moving = 0; moving < 2; moving++) {
        double worst = 0;
        for (int i = 0; i < STATES; i++) {
            tr_model *model = thrown(file, &r, moving);
            worst = fmax(worst, compare_accelerations(model));
            tr_model_free(model);
        }
        const bool close = worst < 1e-6;
        printf("closed robot in free flight, %-7s accelerations %.1e%s\n",
               moving ? "moving:" : "at rest:", worst, close ? "" : "  TOO FAR OFF");
        good &= close;
    }
    return good;
}

// ---- how far loops open --------------------------------------------------------------------

// The largest distance of what is connected, on the way to `end`
static double gap_in_mujoco(const tr_model *model, const char *softness, double step, double end)
{
    Twins t = make_twins(model, "drop", softness);
    double widest = 0;
    t.m->opt.timestep = step;
    put_state(&t);
    while (t.d->time < end) {
        mj_step(t.m, t.d);
        for (int i = 0; i + 2 < t.d->nefc; i += 3)
            widest = fmax(widest, mju_norm3(t.d->efc_pos + i));
    }
    free_twins(&t);
    return widest;
}

static double gap_in_trundle(const tr_model *model, double end)
{
    tr_error err = {0};
    tr_summary s = {0};
    const tr_derive_options options = {.size = sizeof options, .case_name = "drop"};
    tr_system *system = tr_derive(model, &options, &err);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = end;
    if (!tr_simulate(system, &o, &s, &err)) give_up("%s", err.text);
    tr_system_free(system);
    return s.position_error;
}

static bool check_gaps(const char *file)
{
    Random r = {20220107};
    tr_model *model = thrown(file, &r, true);
    const double end = 0.3, ours = gap_in_trundle(model, end);
    const double usual = gap_in_mujoco(model, "", 0.002, end);
    const double stiff =
        gap_in_mujoco(model, "solref=\"2e-4 1\" solimp=\"0.9999 0.9999 0.001\"", 1e-4, end);
    printf("widest gap in 0.3 s of flight: MuJoCo %.1e m as it comes, %.1e m at its stiffest and "
           "0.1 ms a step; trundle %.1e m\n",
           usual, stiff, ours);
    tr_model_free(model);
    return ours < 1e-11 && ours < stiff && stiff < usual;
}

int main(int count, char **arguments)
{
    if (count != 2) give_up("usage: mujoco_loop_check MODEL");
    const bool accelerations = check_accelerations(arguments[1]);
    return check_gaps(arguments[1]) && accelerations ? 0 : 1;
}
