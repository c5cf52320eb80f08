// SPDX-License-Identifier: Apache-2.0
// The adaptive methods: SUNDIALS' ARKODE and CVODE, and the only file that knows them.
//
// erk stops exactly at every row instead of interpolating. Verner's pair of orders 6 and 5:
// Fehlberg's of orders 8 and 7 needs a third of the steps, but its error estimate is blind to
// y'' = f(t) and all its kin.
//
// bdf, for what is stiff: backward differences of orders 1 to 5, each step solved by Newton's
// method with the exact df/dy and projected onto the constraints. Its steps remember those before,
// and stops would cost it that memory; so it always steps past rows and interpolates, as well as it
// integrates.
#include "num/dense.h"
#include "plan/blame.h"
#include "plan/jacobian.h"
#include "sim/method.h"
#include "sim/pace.h"

#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <float.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>

enum { MOST_FAILURES = 60 }; // of one step, before it is given up

typedef struct Solver Solver;

// What the two have in common, as calls.
typedef struct Integrator {
    size_t first_look;        // at the pace, after as many steps
    double stricter;          // tolerances are for whole runs; a step gets this part of them,
    double least, least_atol; // but not less than rounding leaves
    bool (*open)(Solver *solver, double step);
    void (*close)(void **memory);
    int (*set_stop)(void *memory, realtype t);
    int (*go)(void *memory, realtype until, N_Vector y, realtype *t, int task);
    int (*count_steps)(void *memory, long *steps);
    int (*count_failures)(void *memory, long *failures);
    int (*last_step)(void *memory, realtype *step);
    int (*derivative)(void *memory, realtype t, int order, N_Vector y); // in the last step
    int one_step;                                                       // the task
    bool remembers; // steps depend on those before: rows are interpolated, and starts are small
} Integrator;

struct Solver {
    const Integrator *integrator;
    SUNContext context;
    void *memory;        // of ARKODE or CVODE
    N_Vector y, passing; // its own state at t; any at another time
    SUNMatrix slopes;
    SUNLinearSolver linear;
    Pace *pace;
    double t;
    bool dense;  // it steps past rows
    bool unseen; // a step was made, and its chart not looked at: rows that it passed come first
    bool over;   // the run ended on the way of the last step
    Mover *mover;
    long steps, failures; // that the mover knows of
    bool trouble;         // a rate was not finite since then
    double last;          // time of the last step that got anywhere
    int crawls;           // steps since then that were too short to move the clock
};

static bool take_rate(Solver *solver, double t, N_Vector y, N_Vector dy)
{
    Flow *flow = solver->mover->flow;
    double *d = N_VGetArrayPointer(dy);
    tr_flow_rate(flow, t, N_VGetArrayPointer(y), d);
    if (all_finite(d, flow->size)) return true;
    solver->trouble = true;
    return false;
}

static double rtol_of_step(const Mover *m, const Integrator *with)
{
    return fmax(with->stricter * m->rtol, with->least);
}

static double atol_of_step(const Mover *m, const Integrator *with)
{
    return fmax(with->stricter * m->atol, with->least_atol);
}

static void be_quiet(int code, const char *module, const char *function, char *message, void *data)
{
    (void)code, (void)module, (void)function, (void)message, (void)data;
}

// ---- explicit: ARKODE ----------------------------------------------------------------------

static int rate_or_far_off(realtype t, N_Vector y, N_Vector dy, void *data)
{
    Solver *solver = data;
    if (take_rate(solver, t, y, dy)) return 0;
    // So far off, and differently each time, that the step is refused and a smaller one tried.
    N_VConst(1e40 * (double)(1 + solver->mover->flow->evaluations % 97), dy);
    return 0;
}

static int after_step(realtype t, N_Vector y, void *data)
{
    const Solver *solver = data;
    tr_mover_mend(solver->mover, t, N_VGetArrayPointer(y));
    return 0;
}

static bool open_erk(Solver *solver, double step)
{
    const Mover *m = solver->mover;
    void *memory = solver->memory =
        ERKStepCreate(rate_or_far_off, solver->t, solver->y, solver->context);
    if (memory && step > 0) ERKStepSetInitStep(memory, step);
    return memory && !ERKStepSetTableNum(memory, ARKODE_VERNER_8_5_6) &&
           !ERKStepSStolerances(memory, rtol_of_step(m, solver->integrator),
                                atol_of_step(m, solver->integrator)) &&
           !ERKStepSetUserData(memory, solver) && !ERKStepSetMaxNumSteps(memory, -1) &&
           !ERKStepSetMaxErrTestFails(memory, MOST_FAILURES) &&
           !ERKStepSetErrHandlerFn(memory, be_quiet, NULL) &&
           !ERKStepSetPostprocessStepFn(memory, after_step);
}

static const Integrator erk = {.first_look = 2000,
                               .stricter = 0.01,
                               .least = 1e-14,
                               .open = open_erk,
                               .close = ERKStepFree,
                               .set_stop = ERKStepSetStopTime,
                               .go = ERKStepEvolve,
                               .count_steps = ERKStepGetNumSteps,
                               .count_failures = ERKStepGetNumErrTestFails,
                               .last_step = ERKStepGetLastStep,
                               .derivative = ERKStepGetDky,
                               .one_step = ARK_ONE_STEP};

// ---- implicit: CVODE -----------------------------------------------------------------------

static int rate_or_refusal(realtype t, N_Vector y, N_Vector dy, void *data)
{
    return take_rate(data, t, y, dy) ? 0 : 1;
}

static int slopes(realtype t, N_Vector y, N_Vector rate, SUNMatrix J, void *data, N_Vector work1,
                  N_Vector work2, N_Vector work3)
{
    (void)rate, (void)work1, (void)work2, (void)work3;
    Flow *flow = ((const Solver *)data)->mover->flow;
    double *entries = SUNDenseMatrix_Data(J);
    tr_jacobian_take(flow, t, N_VGetArrayPointer(y), entries);
    flow->jacobians++;
    return all_finite(entries, (size_t)flow->size * flow->size) ? 0 : 1;
}

// The change that brings y back onto the constraints; and the error without what that mends, which
// close to rounding is all that there is.
static int project(realtype t, N_Vector y, N_Vector change, realtype tolerance, N_Vector error,
                   void *data)
{
    (void)tolerance;
    Mover *m = ((const Solver *)data)->mover;
    double *there = N_VGetArrayPointer(change);
    N_VScale(1, y, change);
    tr_mover_mend(m, t, there);
    if (error) tr_flow_project_change(m->flow, t, there, N_VGetArrayPointer(error));
    N_VLinearSum(1, change, -1, y, change);
    return all_finite(there, m->flow->size) ? 0 : 1;
}

static int count_failures(void *memory, long *failures)
{
    long unsolved = 0;
    const int status = CVodeGetNumErrTestFails(memory, failures);
    CVodeGetNumStepSolveFails(memory, &unsolved);
    *failures += unsolved;
    return status;
}

static bool open_bdf(Solver *solver, double step)
{
    const Mover *m = solver->mover;
    const sunindextype size = (sunindextype)m->flow->size;
    (void)step; // it begins with order 1, and that with steps of its own
    solver->slopes = SUNDenseMatrix(size, size, solver->context);
    if (solver->slopes)
        solver->linear = SUNLinSol_Dense(solver->y, solver->slopes, solver->context);
    void *memory = solver->memory = CVodeCreate(CV_BDF, solver->context);
    if (!memory || !solver->linear || CVodeInit(memory, rate_or_refusal, solver->t, solver->y))
        return false;
    return !CVodeSStolerances(memory, rtol_of_step(m, solver->integrator),
                              atol_of_step(m, solver->integrator)) &&
           (!m->outlook.order || !CVodeSetMaxOrd(memory, m->outlook.order)) &&
           !CVodeSetUserData(memory, solver) && !CVodeSetMaxNumSteps(memory, -1) &&
           !CVodeSetMaxErrTestFails(memory, MOST_FAILURES) &&
           !CVodeSetMaxConvFails(memory, MOST_FAILURES) &&
           !CVodeSetErrHandlerFn(memory, be_quiet, NULL) &&
           !CVodeSetLinearSolver(memory, solver->linear, solver->slopes) &&
           !CVodeSetJacFn(memory, slopes) && !CVodeSetProjFn(memory, project) &&
           !CVodeSetMaxNumProjFails(memory, MOST_FAILURES);
}

static const Integrator bdf = {.first_look = 200,
                               .stricter = 0.001,
                               .least = 1e-14,
                               .least_atol = 1e-14, // next to numbers of size 1
                               .open = open_bdf,
                               .close = CVodeFree,
                               .set_stop = CVodeSetStopTime,
                               .go = CVode,
                               .count_steps = CVodeGetNumSteps,
                               .count_failures = count_failures,
                               .last_step = CVodeGetLastStep,
                               .derivative = CVodeGetDky,
                               .one_step = CV_ONE_STEP,
                               .remembers = true};

_Static_assert((int)ARK_MEM_FAIL == CV_MEM_FAIL && (int)ARK_MEM_NULL == CV_MEM_NULL &&
                   (int)ARK_ILL_INPUT == CV_ILL_INPUT && (int)ARK_TOO_MUCH_ACC == CV_TOO_MUCH_ACC,
               "the codes that complain() knows mean the same to both");

// ---- both ----------------------------------------------------------------------------------

static void free_solver(Solver *solver)
{
    if (!solver) return;
    if (solver->memory) solver->integrator->close(&solver->memory);
    tr_pace_free(solver->pace);
    if (solver->linear) SUNLinSolFree(solver->linear);
    if (solver->slopes) SUNMatDestroy(solver->slopes);
    if (solver->y) N_VDestroy(solver->y);
    if (solver->passing) N_VDestroy(solver->passing);
    if (solver->context) SUNContext_Free(&solver->context);
    free(solver);
}

// The state at t, in the last step
static bool state_at(const Solver *solver, double t, double *y)
{
    N_VSetArrayPointer(y, solver->passing);
    return !solver->integrator->derivative(solver->memory, t, 0, solver->passing);
}

// And near it: the polynomial of a step of bdf passes close to the states before, and goes on.
static bool look(void *owner, double t, double *y)
{
    const Mover *m = owner;
    const Solver *solver = m->solver;
    int order = 0;
    if (!solver || !solver->steps) return false;
    if (state_at(solver, t, y)) return true;
    if (CVodeGetLastOrder(solver->memory, &order)) return false;
    double part = 1, *term = m->work;
    memcpy(y, N_VGetArrayPointer(solver->y), m->flow->size * sizeof *y);
    N_VSetArrayPointer(term, solver->passing);
    for (int k = 1; k <= order; k++) {
        part *= (t - solver->t) / k;
        if (CVodeGetDky(solver->memory, solver->t, k, solver->passing)) return false;
        for (uint32_t i = 0; i < m->flow->size; i++) y[i] += part * term[i];
    }
    return true;
}

// Starts from (t, y); the first step is `step` long when that is positive.
static bool make(Mover *m, const Integrator *integrator, double t, const double *y, double step,
                 tr_error *err)
{
    if (integrator->remembers && !tr_jacobian_ready(m->flow, err)) return false;
    Solver *solver = calloc(1, sizeof *solver);
    m->solver = solver;
    if (!solver) return tr_fail_memory(err), false;
    *solver = (Solver){.integrator = integrator, .mover = m, .t = t, .last = t};
    solver->dense = m->dense || integrator->remembers;
    bool good = !SUNContext_Create(NULL, &solver->context);
    if (good) solver->y = N_VNew_Serial((sunindextype)m->flow->size, solver->context);
    if (good) solver->passing = N_VMake_Serial((sunindextype)m->flow->size, m->y, solver->context);
    solver->pace = tr_pace_new(m->flow, rtol_of_step(m, &bdf), atol_of_step(m, &bdf));
    good = good && solver->y && solver->passing && solver->pace;
    if (good) memcpy(N_VGetArrayPointer(solver->y), y, m->flow->size * sizeof *y);
    if (!good || !integrator->open(solver, step)) return tr_fail_memory(err), false;
    m->watch.path.look = integrator->remembers ? look : NULL;
    m->watch.path.owner = m;
    return true;
}

// Near a singularity steps shrink for ever; a hundred that do not move the clock are enough.
static bool gets_on(Solver *solver)
{
    const double end = solver->mover->end,
                 size = isfinite(end) ? fmax(fabs(solver->t), end) : fabs(solver->t);
    if (solver->t - solver->last > 1e-13 * size)
        solver->last = solver->t, solver->crawls = 0, solver->trouble = false;
    return ++solver->crawls < 100;
}

// The accelerations are not finite where the motion has come to.
static bool is_stuck(Mover *m)
{
    const Solver *solver = m->solver;
    tr_flow_rate(m->flow, solver->t, N_VGetArrayPointer(solver->y), m->work);
    return !all_finite(m->work, m->flow->size);
}

// It is finite here, but not ahead.
static void complain_of_formula(Mover *m, tr_error *err)
{
    const Solver *solver = m->solver;
    const double ahead = solver->t + 1e-9 * larger(1, fabs(solver->t));
    char words[REASON_SIZE];
    Place place;
    tr_flow_reason(m->flow, ahead, N_VGetArrayPointer(solver->y), words, &place);
    tr_fail(err, TR_FAILED, place,
            "no step is short enough to go on from t = %.6g: a formula is not finite there%s",
            solver->t, words);
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
        complain_of_formula(m, err);
    else
        tr_fail(
            err, TR_FAILED, nowhere,
            "the integration cannot go on past t = %.6g: the motion becomes too fast for any step",
            solver->t);
}

static bool start_anew(Mover *m, double step, tr_error *err)
{
    Solver *old = m->solver;
    m->solver = NULL;
    const bool good = make(m, old->integrator, old->t, N_VGetArrayPointer(old->y), step, err);
    free_solver(old);
    return good;
}

static bool choose_chart(Mover *m, tr_error *err)
{
    Solver *solver = m->solver;
    bool changed;
    solver->unseen = false;
    if (!tr_mover_chart(m, solver->t, N_VGetArrayPointer(solver->y), &changed)) return false;
    return !changed || start_anew(m, tr_solver_last_step(m), err);
}

// ---- pace ----------------------------------------------------------------------------------

#define FAR          4.0 // times as long: other steps that are worth it
#define AT_THE_LIMIT 0.5 // explicit steps times what is fastest: accurate no more; at 4 unstable
#define WORTH_IT     2.0 // times the cost of a run
#define TOO_FAST     0.5 // likewise of orders from 3 on, where what is fastest hardly decays

// What whole runs cost, in evaluations of the rates or of something about as long
typedef struct Costs {
    double own, implicit;
} Costs;

// A step of backward differences is one evaluation, seldom two, a fiftieth of a Jacobian, and what
// steps of this run take besides, for constraints and alarms, or half as much again for
// projections.
static double implicit_step(const Mover *m)
{
    const ChartPrograms *p = m->flow->now->programs;
    const double rates =
        (double)tr_program_sizes(flow_program(m->flow, CHART_RATES)->program).operations;
    const double slopes = p->jacobian && p->jacobian->program
                              ? (double)tr_program_sizes(p->jacobian->program).operations
                              : 0;
    const double besides =
        (double)(m->flow->all_evaluations - m->flow->evaluations) / (double)m->steps;
    return 1.2 + 1.5 * besides + slopes / (50 * larger(rates, 1));
}

// From the start to the end, if it goes on as now; without an end, from now on. Steps of backward
// differences are `reach` long from here.
static Costs foresee(const Mover *m, double reach)
{
    const Solver *solver = m->solver;
    const double left = isfinite(m->end) ? m->end - solver->t : 1;
    const double spent = (double)m->flow->all_evaluations, each = spent / (double)m->steps;
    const double scale = solver->t / larger(m->outlook.covered, DBL_MIN);
    Costs costs = {.own = each * left / tr_pace_mean_step(solver->pace),
                   .implicit = implicit_step(m) * left / reach};
    if (!isfinite(m->end)) return costs;
    costs.own += spent;
    costs.implicit += implicit_step(m) * m->outlook.implicit * scale;
    return costs;
}

// Says, once, that stability keeps the steps short, where an implicit method would cost far less.
static void advise(Mover *m)
{
    const Solver *solver = m->solver;
    const Pace *pace = solver->pace;
    const double h = tr_pace_mean_step(pace);
    Fastest fastest;
    if (tr_pace_is_hurried(pace) || !(tr_pace_reach(pace, 5) > FAR * h)) return;
    if (!tr_pace_fastest(m->flow, solver->t, N_VGetArrayPointer(solver->y), &fastest)) return;
    const double reach = tr_pace_reach(pace, fastest.damping < HARDLY_DAMPED ? 2 : 5);
    if (h * fastest.size < AT_THE_LIMIT || !(reach > FAR * h)) return;
    const Costs costs = foresee(m, reach);
    if (!(costs.own > WORTH_IT * costs.implicit)) return;
    snprintf(m->outlook.advice, sizeof m->outlook.advice,
             "the motion is stiff: stability, not accuracy, keeps the steps of erk as short as "
             "%.1g s; --method bdf would need far fewer: about %.0f times fewer evaluations",
             h, costs.own / costs.implicit);
    if (m->say) m->say(m->owner, m->outlook.advice);
}

// Beside fast motions that hardly decay, backward differences of orders above 2 are unstable unless
// their steps are short; of order 2 they are as long as accuracy allows.
static bool choose_order(Mover *m, tr_error *err)
{
    const Solver *solver = m->solver;
    Fastest fastest;
    if (!tr_pace_fastest(m->flow, solver->t, N_VGetArrayPointer(solver->y), &fastest) ||
        !(fastest.undamped > 0))
        return true;
    const double low = tr_pace_reach(solver->pace, 2);
    const double high = fmin(tr_pace_reach(solver->pace, 5), TOO_FAST / fastest.undamped);
    const int order = m->outlook.order ? high > 2 * low ? 0 : 2 : low > 2 * high ? 2 : 0;
    if (order == m->outlook.order) return true;
    m->outlook.order = order;
    return start_anew(m, 0, err);
}

// Seldom, for it takes eigenvalues.
static bool look_at_pace(Mover *m, tr_error *err)
{
    const Solver *solver = m->solver;
    const size_t due = m->outlook.next > 0 ? m->outlook.next : solver->integrator->first_look;
    if (m->steps < due || m->outlook.advice[0] || !tr_pace_is_known(solver->pace)) return true;
    m->outlook.next = m->steps + m->steps / 2;
    if (solver->integrator->remembers) return choose_order(m, err);
    advise(m);
    return true;
}

// ---- steps ---------------------------------------------------------------------------------

static int take_step(Solver *solver, double until)
{
    Mover *m = solver->mover;
    const Integrator *with = solver->integrator;
    long steps = 0, failures = 0;
    with->set_stop(solver->memory, solver->dense ? fmax(m->limit, until) : until);
    const int status = with->go(solver->memory, until, solver->y, &solver->t, with->one_step);
    with->count_steps(solver->memory, &steps);
    with->count_failures(solver->memory, &failures);
    m->steps += (size_t)(steps - solver->steps);
    m->failed_steps += (size_t)(failures - solver->failures);
    solver->steps = steps, solver->failures = failures;
    solver->unseen = true;
    if (status >= 0 &&
        tr_pace_step(solver->pace, solver->t, N_VGetArrayPointer(solver->y), solver->t == until)) {
        const double latest = tr_pace_latest(solver->pace);
        m->outlook.covered += latest;
        m->outlook.implicit += latest / tr_pace_reach(solver->pace, 5);
    }
    return status;
}

static void complain_stuck(Mover *m, tr_error *err)
{
    const Solver *solver = m->solver;
    if (!tr_watch_blame(&m->watch, solver->t, N_VGetArrayPointer(solver->y), err))
        tr_flow_blame(m->flow, solver->t, N_VGetArrayPointer(solver->y), err);
}

static bool step(Mover *m, double until, tr_error *err)
{
    Solver *solver = m->solver;
    // explicit steps begin with the rate; the others would pay for it
    const bool looks = !solver->integrator->remembers || !solver->steps;
    if (looks && is_stuck(m)) return complain_stuck(m, err), false;
    const int status = take_step(solver, until);
    if (status < 0 && !looks && is_stuck(m)) return complain_stuck(m, err), false;
    if (status < 0 || !gets_on(solver)) return complain(m, status, err), false;
    if (tr_mover_stepped(m, solver->t, N_VGetArrayPointer(solver->y))) return true;
    solver->over = solver->dense && (m->refusal.status || m->watch.switched);
    if (solver->over) m->stopped = false; // not yet
    return solver->over;
}

// Hands over the state at `until`, which was reached or passed.
static bool hand_over(Mover *m, double until)
{
    const Solver *solver = m->solver;
    m->t = until;
    if (solver->t > until) {
        if (!state_at(solver, until, m->y)) return false;
        tr_flow_project(m->flow, until, m->y);
        if (!tr_watch_row(&m->watch, until, m->y)) return m->stopped = true, false;
    } else
        memcpy(m->y, N_VGetArrayPointer(solver->y), m->flow->size * sizeof *m->y);
    return true;
}

// Nearer than SUNDIALS begins with a step to: a row at 0.1 + 0.2 behind a jump at 0.3
static bool is_there(double t, double until)
{
    return until - t < 2 * DBL_EPSILON * larger(fabs(t), fabs(until));
}

static bool advance(Mover *m, const Integrator *integrator, double until, tr_error *err)
{
    if (!m->solver && is_there(m->t, until)) return m->t = until, true;
    if (!m->solver && !make(m, integrator, m->t, m->y, m->first_step, err)) return false;
    for (;;) {
        const Solver *solver = m->solver;
        // what a step passed before the run was over is still to be had
        if (solver->t >= until && !(solver->over && m->watch.end < until))
            return hand_over(m, until);
        if (solver->over) return m->stopped = true, false;
        if (solver->unseen && !(choose_chart(m, err) && look_at_pace(m, err))) return false;
        if (!step(m, until, err)) return false;
    }
}

bool tr_advance_erk(Mover *m, double until, tr_error *err) { return advance(m, &erk, until, err); }

bool tr_advance_bdf(Mover *m, double until, tr_error *err) { return advance(m, &bdf, until, err); }

bool tr_solver_owes_chart(const Mover *m)
{
    const Solver *solver = m->solver;
    return solver && solver->unseen && solver->t == m->t;
}

double tr_solver_last_step(const Mover *m)
{
    const Solver *solver = m->solver;
    double step = 0;
    if (solver && solver->steps) solver->integrator->last_step(solver->memory, &step);
    return step;
}

void tr_solver_arrive(Mover *m)
{
    const Solver *solver = m->solver;
    if (!solver || !(solver->t > m->t)) return;
    m->t = solver->t;
    memcpy(m->y, N_VGetArrayPointer(solver->y), m->flow->size * sizeof *m->y);
}

void tr_solver_free(Mover *m)
{
    free_solver(m->solver);
    m->solver = NULL;
}
