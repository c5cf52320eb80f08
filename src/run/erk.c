// SPDX-License-Identifier: Apache-2.0
// The adaptive explicit method: SUNDIALS' ARKODE, and the only file that knows it. It stops exactly
// at every output instead of interpolating. Verner's pair of orders 6 and 5: Fehlberg's of orders 8
// and 7 needs a third of the steps, but its error estimate is blind to y'' = f(t) and all its kin.
#include "run/method.h"

#include <arkode/arkode_erkstep.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>

// Tolerances are for whole runs; a single step gets this part of them.
static const double STRICTER = 0.01;

typedef struct Solver {
    SUNContext context;
    void *arkode;
    N_Vector y, row; // its own state at t, and what the mover gets
    double t;
    bool unseen; // a step was made, and its chart not looked at: rows that it passed come first
    bool over;   // the run ended on the way of the last step
    Mover *mover;
    long steps, failures; // that the mover knows of
    bool trouble;         // a rate was not finite since then
    double last;          // time of the last step that got anywhere
    int crawls;           // steps since then that were too short to move the clock
} Solver;

static bool is_finite(const double *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static int rate(realtype t, N_Vector y, N_Vector dy, void *data)
{
    Solver *solver = data;
    tr_flow_rate(solver->mover->flow, t, N_VGetArrayPointer(y), N_VGetArrayPointer(dy));
    double *d = N_VGetArrayPointer(dy);
    const uint32_t size = solver->mover->flow->size;
    if (is_finite(d, size)) return 0;
    // So far off, and differently each time, that the step is refused and a smaller one tried.
    solver->trouble = true;
    const double away = 1e40 * (double)(1 + solver->mover->flow->evaluations % 97);
    for (uint32_t i = 0; i < size; i++) d[i] = away;
    return 0;
}

// Near a singularity steps shrink for ever; a hundred that do not move the clock are enough.
static bool gets_on(Solver *solver, double t)
{
    if (t - solver->last > 1e-13 * fmax(fabs(t), solver->mover->end))
        solver->last = t, solver->crawls = 0, solver->trouble = false;
    return ++solver->crawls < 100;
}

static int after_step(realtype t, N_Vector y, void *data)
{
    Solver *solver = data;
    tr_mover_mend(solver->mover, t, N_VGetArrayPointer(y));
    return gets_on(solver, t) ? 0 : -1;
}

static void be_quiet(int code, const char *module, const char *function, char *message, void *data)
{
    (void)code, (void)module, (void)function, (void)message, (void)data;
}

static void free_solver(Solver *solver)
{
    if (!solver) return;
    if (solver->arkode) ERKStepFree(&solver->arkode);
    if (solver->y) N_VDestroy(solver->y);
    if (solver->row) N_VDestroy(solver->row);
    if (solver->context) SUNContext_Free(&solver->context);
    free(solver);
}

// Starts from (t, y); the first step is `step` long when that is positive.
static bool make(Mover *m, double t, const double *y, double step)
{
    Solver *solver = calloc(1, sizeof *solver);
    m->solver = solver;
    if (!solver) return false;
    solver->mover = m;
    solver->last = solver->t = t;
    if (SUNContext_Create(NULL, &solver->context)) return false;
    solver->y = N_VNew_Serial((sunindextype)m->flow->size, solver->context);
    solver->row = N_VMake_Serial((sunindextype)m->flow->size, m->y, solver->context);
    if (!solver->y || !solver->row) return false;
    memcpy(N_VGetArrayPointer(solver->y), y, m->flow->size * sizeof *y);
    solver->arkode = ERKStepCreate(rate, t, solver->y, solver->context);
    if (solver->arkode && step > 0) ERKStepSetInitStep(solver->arkode, step);
    return solver->arkode && !ERKStepSetTableNum(solver->arkode, ARKODE_VERNER_8_5_6) &&
           !ERKStepSStolerances(solver->arkode, fmax(STRICTER * m->rtol, 1e-14),
                                STRICTER * m->atol) &&
           !ERKStepSetUserData(solver->arkode, solver) &&
           !ERKStepSetMaxNumSteps(solver->arkode, -1) &&
           !ERKStepSetMaxErrTestFails(solver->arkode, 60) &&
           !ERKStepSetErrHandlerFn(solver->arkode, be_quiet, NULL) &&
           !ERKStepSetPostprocessStepFn(solver->arkode, after_step);
}

// The accelerations are not finite where the motion has come to.
static bool is_stuck(Mover *m)
{
    const Solver *solver = m->solver;
    tr_flow_rate(m->flow, solver->t, N_VGetArrayPointer(solver->y), m->work);
    return !is_finite(m->work, m->flow->size);
}

static void complain(Mover *m, int status, tr_error *err)
{
    const Place nowhere = {0};
    const Solver *solver = m->solver;
    if (tr_watch_blame(&m->watch, solver->t, N_VGetArrayPointer(solver->y), err)) return;
    if (status == ARK_MEM_FAIL || status == ARK_MEM_NULL)
        tr_fail_memory(err);
    else if (status == ARK_ILL_INPUT || status == ARK_TOO_MUCH_ACC)
        tr_fail(err, TR_FAILED, nowhere,
                "the tolerances rtol %.3g and atol %.3g ask for too much at t = %.6g", m->rtol,
                m->atol, solver->t);
    else if (solver->trouble)
        tr_fail(err, TR_FAILED, nowhere,
                "a formula is not finite on any way forward, however short, at t = %.6g",
                solver->t);
    else
        tr_fail(
            err, TR_FAILED, nowhere,
            "the integration cannot go on past t = %.6g: the motion becomes too fast for any step",
            solver->t);
}

// In another chart it starts anew.
static bool choose_chart(Mover *m, tr_error *err)
{
    Solver *solver = m->solver;
    double *y = N_VGetArrayPointer(solver->y), step;
    bool changed;
    solver->unseen = false;
    if (!tr_mover_chart(m, solver->t, y, &changed)) return false;
    if (!changed) return true;
    ERKStepGetLastStep(solver->arkode, &step);
    m->solver = NULL; // the old one is still needed
    const bool good = make(m, solver->t, y, step);
    free_solver(solver);
    if (!good) tr_fail_memory(err);
    return good;
}

static bool step(Mover *m, double until, tr_error *err)
{
    Solver *solver = m->solver;
    long steps = 0, failures = 0;
    ERKStepSetStopTime(solver->arkode, m->dense ? m->limit : until);
    const int status = ERKStepEvolve(solver->arkode, until, solver->y, &solver->t, ARK_ONE_STEP);
    ERKStepGetNumSteps(solver->arkode, &steps);
    ERKStepGetNumErrTestFails(solver->arkode, &failures);
    m->steps += (size_t)(steps - solver->steps);
    m->failed_steps += (size_t)(failures - solver->failures);
    solver->steps = steps, solver->failures = failures;
    solver->unseen = true;
    if (status < 0) {
        complain(m, status, err);
        return false;
    }
    if (tr_mover_stepped(m, solver->t, N_VGetArrayPointer(solver->y))) return true;
    solver->over = m->dense && (m->refusal.status || m->watch.switched);
    if (solver->over) m->stopped = false; // not yet
    return solver->over;
}

static void complain_stuck(Mover *m, tr_error *err)
{
    const Solver *solver = m->solver;
    if (!tr_watch_blame(&m->watch, solver->t, N_VGetArrayPointer(solver->y), err))
        tr_fail(err, TR_FAILED, (Place){0}, "the accelerations are not finite at t = %.6g",
                solver->t);
}

// Hands over the state at `until`, which was reached or passed.
static bool hand_over(Mover *m, double until)
{
    Solver *solver = m->solver;
    m->t = until;
    if (solver->t > until) {
        if (ERKStepGetDky(solver->arkode, until, 0, solver->row)) return false;
        tr_flow_project(m->flow, until, m->y);
    } else
        memcpy(m->y, N_VGetArrayPointer(solver->y), m->flow->size * sizeof *m->y);
    return true;
}

bool tr_advance_erk(Mover *m, double until, tr_error *err)
{
    if (!m->solver && !make(m, m->t, m->y, 0)) {
        tr_fail_memory(err);
        return false;
    }
    for (;;) {
        const Solver *solver = m->solver;
        // what a step passed before the run was over is still to be had
        if (solver->t >= until && !(solver->over && m->watch.end < until))
            return hand_over(m, until);
        if (solver->over) return m->stopped = true, false;
        if (solver->unseen && !choose_chart(m, err)) return false;
        if (is_stuck(m)) return complain_stuck(m, err), false;
        if (!step(m, until, err)) return false;
    }
}

void tr_erk_free(Mover *m)
{
    free_solver(m->solver);
    m->solver = NULL;
}
