// SPDX-License-Identifier: Apache-2.0
// What the two have in common as calls, as in sim/sundials.c; but the equations are somebody's
// calls, slopes are differences, and roots are looked for.
#include "fmu/stepper.h"

#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>

typedef struct Integrator {
    const char *name;
    bool (*open)(Stepper *stepper);
    bool (*reopen)(Stepper *stepper);
    void (*close)(void **memory);
    int (*set_stop)(void *memory, realtype t);
    int (*go)(void *memory, realtype until, N_Vector y, realtype *t, int task);
    int (*derivative)(void *memory, realtype t, int order, N_Vector y);
    int one_step;
} Integrator;

struct Stepper {
    const Integrator *with;
    Equations equations;
    SUNContext context;
    void *memory;
    N_Vector y, atol, passing;
    SUNMatrix slopes;
    SUNLinearSolver linear;
    double t, rtol, longest;
    size_t evaluations;
};

static int rates(realtype t, N_Vector y, N_Vector dy, void *data)
{
    Stepper *s = data;
    double *d = N_VGetArrayPointer(dy);
    s->evaluations++;
    if (!s->equations.states) return d[0] = 0, 0; // so that there is a step at all
    const int status = s->equations.rates(s->equations.owner, t, N_VGetArrayPointer(y), d);
    for (size_t i = 0; !status && i < s->equations.states; i++)
        if (!isfinite(d[i])) return 1;
    return status;
}

static int roots(realtype t, N_Vector y, realtype *z, void *data)
{
    const Stepper *s = data;
    return s->equations.indicators(s->equations.owner, t, N_VGetArrayPointer(y), z);
}

static void be_quiet(int code, const char *module, const char *function, char *message, void *data)
{
    (void)code, (void)module, (void)function, (void)message, (void)data;
}

// ---- ARKODE --------------------------------------------------------------------------------

static bool open_erk(Stepper *s)
{
    void *m = s->memory = ERKStepCreate(rates, s->t, s->y, s->context);
    const int count = (int)s->equations.roots;
    return m && !ERKStepSetTableNum(m, ARKODE_VERNER_8_5_6) &&
           !ERKStepSVtolerances(m, s->rtol, s->atol) && !ERKStepSetUserData(m, s) &&
           !ERKStepSetMaxNumSteps(m, -1) && !ERKStepSetErrHandlerFn(m, be_quiet, NULL) &&
           (!(s->longest > 0) || !ERKStepSetMaxStep(m, s->longest)) &&
           (!count || (!ERKStepRootInit(m, count, roots) && !ERKStepSetNoInactiveRootWarn(m)));
}

static bool reopen_erk(Stepper *s)
{
    return !ERKStepReInit(s->memory, rates, s->t, s->y) &&
           !ERKStepSVtolerances(s->memory, s->rtol, s->atol);
}

// ---- CVODE ---------------------------------------------------------------------------------

static bool open_bdf(Stepper *s)
{
    const sunindextype size = N_VGetLength(s->y);
    const int count = (int)s->equations.roots;
    s->slopes = SUNDenseMatrix(size, size, s->context);
    if (s->slopes) s->linear = SUNLinSol_Dense(s->y, s->slopes, s->context);
    void *m = s->memory = CVodeCreate(CV_BDF, s->context);
    return m && s->linear && !CVodeInit(m, rates, s->t, s->y) &&
           !CVodeSVtolerances(m, s->rtol, s->atol) && !CVodeSetUserData(m, s) &&
           !CVodeSetMaxNumSteps(m, -1) && !CVodeSetErrHandlerFn(m, be_quiet, NULL) &&
           !CVodeSetLinearSolver(m, s->linear, s->slopes) &&
           (!(s->longest > 0) || !CVodeSetMaxStep(m, s->longest)) &&
           (!count || (!CVodeRootInit(m, count, roots) && !CVodeSetNoInactiveRootWarn(m)));
}

static bool reopen_bdf(Stepper *s)
{
    return !CVodeReInit(s->memory, s->t, s->y) && !CVodeSVtolerances(s->memory, s->rtol, s->atol);
}

static const Integrator integrators[] = {
    {"bdf", open_bdf, reopen_bdf, CVodeFree, CVodeSetStopTime, CVode, CVodeGetDky, CV_ONE_STEP},
    {"erk", open_erk, reopen_erk, ERKStepFree, ERKStepSetStopTime, ERKStepEvolve, ERKStepGetDky,
     ARK_ONE_STEP},
};

_Static_assert((int)ARK_ROOT_RETURN == CV_ROOT_RETURN && (int)ARK_MEM_FAIL == CV_MEM_FAIL,
               "the codes mean the same to both");

// ---- both ----------------------------------------------------------------------------------

static void put_state(Stepper *s, double t, const double *x, const double *atol)
{
    double *y = N_VGetArrayPointer(s->y), *a = N_VGetArrayPointer(s->atol);
    s->t = t;
    y[0] = 0, a[0] = 1; // where there are no states
    for (size_t i = 0; i < s->equations.states; i++) y[i] = x[i], a[i] = atol[i];
}

Stepper *tr_stepper_new(const char *method, const Equations *equations, double t, const double *x,
                        double rtol, const double *atol, double longest, tr_error *err)
{
    size_t k = 0;
    while (k < 2 && strcmp(integrators[k].name, method) != 0) k++;
    if (k == 2) {
        tr_fail(err, TR_USAGE, (Place){0}, "FMUs are simulated by bdf or erk, not by '%.40s'",
                method);
        return NULL;
    }
    Stepper *s = calloc(1, sizeof *s);
    if (!s) return tr_fail_memory(err), NULL;
    *s = (Stepper){
        .with = &integrators[k], .equations = *equations, .rtol = rtol, .longest = longest};
    const sunindextype size = equations->states ? (sunindextype)equations->states : 1;
    bool good = !SUNContext_Create(NULL, &s->context);
    if (good) s->y = N_VNew_Serial(size, s->context);
    if (good) s->atol = N_VNew_Serial(size, s->context);
    if (good) s->passing = N_VNew_Serial(size, s->context);
    good = good && s->y && s->atol && s->passing;
    if (good) put_state(s, t, x, atol);
    if (good && s->with->open(s)) return s;
    tr_fail_memory(err);
    tr_stepper_free(s);
    return NULL;
}

void tr_stepper_free(Stepper *s)
{
    if (!s) return;
    if (s->memory) s->with->close(&s->memory);
    if (s->linear) SUNLinSolFree(s->linear);
    if (s->slopes) SUNMatDestroy(s->slopes);
    if (s->y) N_VDestroy(s->y);
    if (s->atol) N_VDestroy(s->atol);
    if (s->passing) N_VDestroy(s->passing);
    if (s->context) SUNContext_Free(&s->context);
    free(s);
}

bool tr_stepper_restart(Stepper *s, double t, const double *x, const double *atol, tr_error *err)
{
    put_state(s, t, x, atol);
    if (s->with->reopen(s)) return true;
    tr_fail_memory(err);
    return false;
}

bool tr_stepper_step(Stepper *s, double stop, double *t, bool *is_root, tr_error *err)
{
    s->with->set_stop(s->memory, stop);
    const int status = s->with->go(s->memory, stop, s->y, &s->t, s->with->one_step);
    *t = s->t;
    *is_root = status == CV_ROOT_RETURN;
    if (status >= 0) return true;
    if (status == CV_MEM_FAIL)
        tr_fail_memory(err);
    else
        tr_fail(err, TR_FAILED, (Place){0},
                "the integration cannot go on past t = %.6g: no step is short enough for these "
                "tolerances",
                s->t);
    return false;
}

bool tr_stepper_at(Stepper *s, double t, double *x)
{
    if (t == s->t)
        memcpy(x, N_VGetArrayPointer(s->y), s->equations.states * sizeof *x);
    else if (s->with->derivative(s->memory, t, 0, s->passing))
        return false;
    else
        memcpy(x, N_VGetArrayPointer(s->passing), s->equations.states * sizeof *x);
    return true;
}

size_t tr_stepper_evaluations(const Stepper *s) { return s->evaluations; }
