// SPDX-License-Identifier: Apache-2.0
// The adaptive explicit method: SUNDIALS' ARKODE, and the only file that knows it. It stops exactly
// at every output instead of interpolating: an interpolant of degree 5 would lose what order 8
// gains.
#include "run/method.h"

#include <arkode/arkode_erkstep.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>

typedef struct Solver {
    SUNContext context;
    void *arkode;
    N_Vector y;
    Mover *mover;
} Solver;

static int rate(realtype t, N_Vector y, N_Vector dy, void *data)
{
    Solver *solver = data;
    tr_flow_rate(solver->mover->flow, t, N_VGetArrayPointer(y), N_VGetArrayPointer(dy));
    const double *d = N_VGetArrayPointer(dy);
    for (uint32_t i = 0; i < solver->mover->flow->size; i++)
        if (!isfinite(d[i])) return 1; // try a smaller step
    return 0;
}

static int after_step(realtype t, N_Vector y, void *data)
{
    return tr_mover_stepped(((Solver *)data)->mover, t, N_VGetArrayPointer(y)) ? 0 : -1;
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
    if (SUNContext_Create(NULL, &solver->context)) return false;
    solver->y = N_VMake_Serial((sunindextype)m->flow->size, m->y, solver->context);
    if (!solver->y) return false;
    solver->arkode = ERKStepCreate(rate, m->t, solver->y, solver->context);
    return solver->arkode && !ERKStepSetTableNum(solver->arkode, ARKODE_FEHLBERG_13_7_8) &&
           !ERKStepSStolerances(solver->arkode, m->rtol, m->atol) &&
           !ERKStepSetUserData(solver->arkode, solver) &&
           !ERKStepSetMaxNumSteps(solver->arkode, -1) &&
           !ERKStepSetErrHandlerFn(solver->arkode, be_quiet, NULL) &&
           !ERKStepSetPostprocessStepFn(solver->arkode, after_step);
}

static void complain(const Mover *m, int status, tr_error *err)
{
    const Place nowhere = {0};
    if (status == ARK_MEM_FAIL || status == ARK_MEM_NULL)
        tr_fail_memory(err);
    else if (status == ARK_ILL_INPUT || status == ARK_TOO_MUCH_ACC)
        tr_fail(err, TR_FAILED, nowhere,
                "the tolerances rtol %.3g and atol %.3g ask for too much at t = %.6g", m->rtol,
                m->atol, m->t);
    else if (status == ARK_FIRST_RHSFUNC_ERR || status == ARK_RHSFUNC_FAIL)
        tr_fail(err, TR_FAILED, nowhere, "the accelerations are not finite at t = %.6g", m->t);
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
    Solver *solver = m->solver;
    long steps = 0, failures = 0;
    ERKStepSetStopTime(solver->arkode, until);
    const int status = ERKStepEvolve(solver->arkode, until, solver->y, &m->t, ARK_NORMAL);
    ERKStepGetNumSteps(solver->arkode, &steps);
    ERKStepGetNumErrTestFails(solver->arkode, &failures);
    m->steps = (size_t)steps;
    m->failed_steps = (size_t)failures;
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
