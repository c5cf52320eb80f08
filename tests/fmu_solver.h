// SPDX-License-Identifier: Apache-2.0
// Model exchange by CVODE, as importers do it, and checks of what an FMU says of itself.
#ifndef TR_TESTS_FMU_SOLVER_H
#define TR_TESTS_FMU_SOLVER_H

#include "fmu_calls.h"

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_types.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

// ---- model exchange by CVODE ---------------------------------------------------------------

typedef struct Solver {
    Unit *unit;
    SUNContext context;
    void *memory;
    N_Vector x;
    SUNMatrix matrix;
    SUNLinearSolver linear;
    size_t n, indicators;
    long evaluations, events;
    double jump; // the largest one of a state by an event
} Solver;

static inline int rates_of(double t, N_Vector x, N_Vector out, void *owner)
{
    Solver *s = owner;
    s->evaluations++;
    if (CALL(s->unit, SetTime, SetTime, t)) return -1;
    if (CALL(s->unit, SetContinuousStates, SetContinuousStates, N_VGetArrayPointer(x), s->n))
        return -1;
    return CALL(s->unit, GetDerivatives, GetContinuousStateDerivatives, N_VGetArrayPointer(out),
                s->n);
}

static inline int indicators_of(double t, N_Vector x, double *z, void *owner)
{
    Solver *s = owner;
    if (CALL(s->unit, SetTime, SetTime, t)) return -1;
    if (CALL(s->unit, SetContinuousStates, SetContinuousStates, N_VGetArrayPointer(x), s->n))
        return -1;
    return CALL(s->unit, GetEventIndicators, GetEventIndicators, z, s->indicators);
}

static inline void open_solver(Solver *s, Unit *unit, int method, double rtol)
{
    *s = (Solver){.unit = unit, .n = state_count(unit), .indicators = indicator_count(unit)};
    SUNContext_Create(NULL, &s->context);
    s->x = N_VNew_Serial((sunindextype)s->n, s->context);
    GOOD(CALL(unit, GetContinuousStates, GetContinuousStates, N_VGetArrayPointer(s->x), s->n));
    s->memory = CVodeCreate(method, s->context);
    assert_int_equal(CVodeInit(s->memory, rates_of, 0, s->x), 0);
    CVodeSStolerances(s->memory, rtol, rtol);
    CVodeSetUserData(s->memory, s);
    CVodeSetMaxNumSteps(s->memory, 1000000);
    if (s->indicators) {
        CVodeRootInit(s->memory, (int)s->indicators, indicators_of);
        CVodeSetNoInactiveRootWarn(s->memory);
        CVodeSetMaxStep(s->memory, 0.01);
    }
    s->matrix = SUNDenseMatrix((sunindextype)s->n, (sunindextype)s->n, s->context);
    s->linear = SUNLinSol_Dense(s->x, s->matrix, s->context);
    CVodeSetLinearSolver(s->memory, s->linear, s->matrix);
}

static inline void close_solver(Solver *s)
{
    CVodeFree(&s->memory);
    SUNLinSolFree(s->linear);
    SUNMatDestroy(s->matrix);
    N_VDestroy(s->x);
    SUNContext_Free(&s->context);
}

// Whether the unit wants an event after the step
static inline bool complete(Solver *s, double t)
{
    Unit *unit = s->unit;
    GOOD(CALL(unit, SetTime, SetTime, t));
    GOOD(CALL(unit, SetContinuousStates, SetContinuousStates, N_VGetArrayPointer(s->x), s->n));
    if (unit->version == 3) {
        bool enter, terminate;
        assert_goes_on((int)unit->three.CompletedIntegratorStep(unit->c, true, &enter, &terminate));
        return enter;
    }
    int enter, terminate;
    assert_goes_on((int)unit->two.CompletedIntegratorStep(unit->c, 1, &enter, &terminate));
    return enter;
}

static inline void handle_event(Solver *s, double t)
{
    double *x = N_VGetArrayPointer(s->x), before[400];
    s->events++;
    memcpy(before, x, s->n * sizeof *before);
    GOOD(CALL_PLAIN(s->unit, EnterEventMode));
    const bool changed = update(s->unit);
    if (changed) GOOD(CALL(s->unit, GetContinuousStates, GetContinuousStates, x, s->n));
    for (size_t k = 0; k < s->n; k++) s->jump = fmax(s->jump, fabs(x[k] - before[k]));
    CVodeReInit(s->memory, t, s->x);
}

static inline void go_to(Solver *s, double end)
{
    double t = 0;
    CVodeGetCurrentTime(s->memory, &t);
    while (t < end) {
        CVodeSetStopTime(s->memory, fmin(end, s->unit->next));
        const int flag = CVode(s->memory, end, s->x, &t, CV_ONE_STEP);
        if (flag < 0) fail_msg("CVODE: %d at %g: %s", flag, t, last_words);
        const bool wants = complete(s, t);
        if (wants || flag == CV_ROOT_RETURN || t >= s->unit->next) handle_event(s, t);
    }
}

// ---- units ---------------------------------------------------------------------------------

static inline Unit unit_of(const tr_system *system, int version)
{
    tr_export_options how = tr_export_defaults();
    how.fmi = version, how.step = 1.0 / 1024;
    export_fmu(system, &how, in_folder("m.fmu"));
    return load_fmu(in_folder("m.fmu"), version);
}

static inline Unit unit_called(const char *name, int version)
{
    tr_system *system = system_called(name, NULL);
    Unit unit = unit_of(system, version);
    tr_system_free(system);
    return unit;
}

// ---- descriptions --------------------------------------------------------------------------

static inline void check_schema(const char *text, const char *schema)
{
    const char *schemas = getenv("TR_FMI_SCHEMAS");
    char command[2000];
    if (!schemas || !text) return;
    write_text(in_folder("d.xml"), text);
    char path[600];
    snprintf(path, sizeof path, "%s", in_folder("d.xml"));
    snprintf(command, sizeof command, "xmllint --noout --schema %s/%s %s 2>%s.words", schemas,
             schema, path, path);
    if (system(command) != 0) fail_msg("not as %s has it:\n%s", schema, text);
    snprintf(command, sizeof command, "%s.words", path);
    unlink(command);
}

static inline void check_description(const Unit *unit)
{
    if (unit->version == 2) {
        check_schema(unit->description, "fmi2/fmi2ModelDescription.xsd");
    } else {
        char *build = text_in_fmu(in_folder("m.fmu"), "sources/buildDescription.xml", NULL);
        check_schema(unit->description, "fmi3/fmi3ModelDescription.xsd");
        check_schema(build, "fmi3/fmi3BuildDescription.xsd");
        free(build);
    }
}

#endif
