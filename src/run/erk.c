// SPDX-License-Identifier: Apache-2.0
// The adaptive explicit method: SUNDIALS' ARKODE, and the only file that knows it. It stops exactly
// at every output instead of interpolating. Verner's pair of orders 6 and 5: Fehlberg's of orders 8
// and 7 needs a third of the steps, but its error estimate is blind to y'' = f(t) and all its kin.
#include "run/method.h"

#include <arkode/arkode_erkstep.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>

// Tolerances are for whole runs; a single step gets this part of them.
static const double STRICTER = 0.01;

typedef struct Solver {
    SUNContext context;
    void *arkode;
    N_Vector y;
    Mover *mover;
    long steps, failures; // that the mover knows of
    bool trouble;         // a rate was not finite
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
        solver->last = t, solver->crawls = 0;
    return ++solver->crawls < 100;
}

static int after_step(realtype t, N_Vector y, void *data)
{
    Solver *solver = data;
    return gets_on(solver, t) && tr_mover_stepped(solver->mover, t, N_VGetArrayPointer(y)) ? 0 : -1;
}

static void be_quiet(int code, const char *module, const char *function, char *message, void *data)
{
    (void)code, (void)module, (void)function, (void)message, (void)data;
}

static bool make(Mover *m)
{
    Solver *solver = calloc(1, sizeof *solver);
    m->solver = solver;
    if (!solver) return false;
    solver->mover = m;
    solver->last = m->t;
    if (SUNContext_Create(NULL, &solver->context)) return false;
    solver->y = N_VMake_Serial((sunindextype)m->flow->size, m->y, solver->context);
    if (!solver->y) return false;
    solver->arkode = ERKStepCreate(rate, m->t, solver->y, solver->context);
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
    tr_flow_rate(m->flow, m->t, m->y, m->work);
    return !is_finite(m->work, m->flow->size);
}

static void complain(Mover *m, int status, tr_error *err)
{
    const Place nowhere = {0};
    if (status == ARK_MEM_FAIL || status == ARK_MEM_NULL)
        tr_fail_memory(err);
    else if (status == ARK_ILL_INPUT || status == ARK_TOO_MUCH_ACC)
        tr_fail(err, TR_FAILED, nowhere,
                "the tolerances rtol %.3g and atol %.3g ask for too much at t = %.6g", m->rtol,
                m->atol, m->t);
    else if (((const Solver *)m->solver)->trouble)
        tr_fail(err, TR_FAILED, nowhere,
                "a formula is not finite on any way forward, however short, at t = %.6g", m->t);
    else
        tr_fail(
            err, TR_FAILED, nowhere,
            "the integration cannot go on past t = %.6g: the motion becomes too fast for any step",
            m->t);
}

bool tr_advance_erk(Mover *m, double until, tr_error *err)
{
    if (!m->solver && !make(m)) {
        tr_fail_memory(err);
        return false;
    }
    if (is_stuck(m)) {
        tr_fail(err, TR_FAILED, (Place){0}, "the accelerations are not finite at t = %.6g", m->t);
        return false;
    }
    Solver *solver = m->solver;
    long steps = 0, failures = 0;
    ERKStepSetStopTime(solver->arkode, m->dense ? m->limit : until);
    const int status = ERKStepEvolve(solver->arkode, until, solver->y, &m->t, ARK_NORMAL);
    ERKStepGetNumSteps(solver->arkode, &steps);
    ERKStepGetNumErrTestFails(solver->arkode, &failures);
    m->steps += (size_t)(steps - solver->steps);
    m->failed_steps += (size_t)(failures - solver->failures);
    solver->steps = steps, solver->failures = failures;
    if (status >= 0) solver->trouble = false;
    if (status >= 0 && m->dense) tr_flow_project(m->flow, m->y); // what was interpolated
    if (status < 0 && !m->stopped) complain(m, status, err);
    return status >= 0 && !m->stopped;
}

void tr_erk_free(Mover *m)
{
    Solver *solver = m->solver;
    if (!solver) return;
    if (solver->arkode) ERKStepFree(&solver->arkode);
    if (solver->y) N_VDestroy(solver->y);
    if (solver->context) SUNContext_Free(&solver->context);
    free(solver);
    m->solver = NULL;
}
