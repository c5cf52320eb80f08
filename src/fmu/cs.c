// SPDX-License-Identifier: Apache-2.0
// Co-simulation: the FMU integrates itself, from one communication point to the next.
#include "fmu/run.h"

#include <math.h>

// In 3.0 an FMU that knows events is told when they are to be handled.
static bool settle(FmuRun *run, tr_error *err)
{
    EventNews news;
    if (!tr_instance_settle_event(&run->instance, &news, err)) return false;
    run->is_over = news.terminates;
    return run->is_over || tr_instance_enter_step_mode(&run->instance, err);
}

static bool handle_event(FmuRun *run, double t, tr_error *err)
{
    run->summary->switches++;
    return tr_instance_enter_event_mode(&run->instance, err) &&
           tr_fmu_set_inputs(run, t, true, err) && settle(run, err);
}

// Where it knows events, what is not continuous is set in one of these, and not between steps.
static bool set_inputs(FmuRun *run, double t, tr_error *err)
{
    const bool knows_events = run->instance.uses_events;
    if (knows_events && tr_fmu_inputs_jump(run, t)) return handle_event(run, t, err);
    return tr_fmu_set_inputs(run, t, !knows_events, err);
}

// From t to the next communication point, or to where the FMU returns early
static bool step(FmuRun *run, double *t, double to, tr_error *err)
{
    Instance *i = &run->instance;
    StepNews news;
    if (!set_inputs(run, *t, err)) return false;
    if (run->is_over) return true;
    if (!tr_instance_step(i, *t, to - *t, &news, err)) return false;
    if (news.was_early || news.terminates) {
        if (!(news.reached >= *t) || news.reached > to + 1e-9 * run->step) {
            tr_fail(err, TR_FAILED, (Place){0},
                    "fmi%dDoStep from t = %.9g to %.9g says that it reached %.9g",
                    i->description->version, *t, to, news.reached);
            return false;
        }
        *t = news.reached;
    } else
        *t = to;
    run->is_over = news.terminates;
    return run->is_over || !news.needs_event || !i->uses_events || handle_event(run, *t, err);
}

// Communication points are at start + k step and at the end; those between, where it returned
// early, are made up for where it can.
static double next_point(const FmuRun *run, double t, uint64_t *k)
{
    const double slack = 1e-9 * run->step;
    if (!run->fmu.description.varies_step) return t + run->step;
    while (run->start + (double)*k * run->step <= t + slack) ++*k;
    return fmin(run->start + (double)*k * run->step, run->end);
}

// One that somebody asked for: else what the FMU does inside is its own affair
static double tolerance_said(const FmuRun *run)
{
    return run->options->rtol != 0 || run->fmu.description.tolerance > 0 ? run->rtol : 0;
}

// Whether there is a step left. One that cannot be shorter may not go past the end.
static bool goes_on(const FmuRun *run, double t)
{
    const double slack = 1e-9 * run->step;
    if (run->is_over || t >= run->end - slack) return false;
    return run->fmu.description.varies_step || t + run->step <= run->end + slack;
}

bool tr_fmu_cs(FmuRun *run, tr_error *err)
{
    Instance *i = &run->instance;
    const double slack = 1e-9 * run->step;
    double t = run->start;
    uint64_t k = 1;
    int idle = 0;
    bool good =
        tr_fmu_set_start(run, err) &&
        tr_instance_enter_initialization(i, run->start, run->end, tolerance_said(run), err) &&
        tr_fmu_set_inputs(run, t, true, err) && tr_instance_exit_initialization(i, err) &&
        (!i->uses_events || settle(run, err)) && (run->is_over || tr_fmu_row(run, t, err));
    while (good && goes_on(run, t)) {
        const double before = t, point = next_point(run, t, &k);
        good = step(run, &t, point, err);
        idle = t > before ? 0 : idle + 1;
        if (good && idle > 1000) {
            tr_fail(err, TR_FAILED, (Place){0}, "fmi%dDoStep does not get on from t = %.9g",
                    i->description->version, t);
            good = false;
        }
        // where there is a row between two points, it is that of the next one
        if (good && !run->is_over && tr_fmu_next_row(run) <= t + slack)
            good = tr_fmu_row(run, t, err);
        if (good && !run->is_over) good = tr_fmu_stepped(run, t, err);
    }
    if (good) good = tr_instance_terminate(i, err);
    run->summary->t = t;
    return good;
}
