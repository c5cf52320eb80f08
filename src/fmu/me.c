// SPDX-License-Identifier: Apache-2.0
// Model exchange: the FMU gives rates and event indicators, and SUNDIALS integrates. Time and
// states are set before anything is asked for; a step is complete only when all rows in it are
// recorded, for an FMU need not go back behind a step that it was told of.
#include "fmu/run.h"
#include "fmu/stepper.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Me {
    FmuRun *run;
    Stepper *stepper;
    size_t states, indicators;
    double *x, *atol;
    double t, next_event; // infinity: none is known
    tr_error why;         // what a call from within the stepper failed with
} Me;

// Tolerances are of the whole run; steps get a part of them, as in sim/sundials.c.
static const double stricter = 0.001, least_rtol = 1e-13;

// ---- what the stepper asks for -------------------------------------------------------------

static bool place(const Me *m, double t, const double *x, tr_error *err)
{
    Instance *i = &m->run->instance;
    return tr_instance_set_time(i, t, err) && tr_instance_set_states(i, x, m->states, err) &&
           tr_fmu_set_inputs(m->run, t, false, err);
}

static int rates(void *owner, double t, const double *x, double *rates)
{
    Me *m = owner;
    bool is_refused = false;
    if (!place(m, t, x, &m->why) ||
        !tr_instance_rates(&m->run->instance, rates, m->states, &is_refused, &m->why))
        return -1;
    return is_refused;
}

static int indicators(void *owner, double t, const double *x, double *z)
{
    Me *m = owner;
    return place(m, t, x, &m->why) &&
                   tr_instance_indicators(&m->run->instance, z, m->indicators, &m->why)
               ? 0
               : -1;
}

// ---- events --------------------------------------------------------------------------------

// An absolute tolerance for each state, by its nominal value
static bool take_nominals(Me *m, tr_error *err)
{
    if (!tr_instance_nominals(&m->run->instance, m->atol, m->states, err)) return false;
    for (size_t i = 0; i < m->states; i++) {
        const double nominal = isfinite(m->atol[i]) && m->atol[i] != 0 ? fabs(m->atol[i]) : 1;
        m->atol[i] = fmax(stricter * m->run->atol, 1e-15) * nominal;
    }
    return true;
}

// In event mode: until it is settled, and on into continuous time
static bool settle(Me *m, bool is_first, tr_error *err)
{
    Instance *i = &m->run->instance;
    EventNews news;
    if (!tr_instance_settle_event(i, &news, err)) return false;
    if (news.terminates) return m->run->is_over = true;
    if (!tr_instance_enter_continuous(i, err)) return false;
    m->next_event = news.has_next ? news.next : (double)INFINITY;
    if (m->next_event <= m->t && news.has_next) // at once, again
        m->next_event = nextafter(m->t, (double)INFINITY);
    if ((news.nominals || is_first) && !take_nominals(m, err)) return false;
    return (!news.states && !is_first) || tr_instance_states(i, m->x, m->states, err);
}

static bool handle_event(Me *m, tr_error *err)
{
    Instance *i = &m->run->instance;
    m->run->summary->switches++;
    if (!tr_instance_enter_event_mode(i, err) || !tr_fmu_set_inputs(m->run, m->t, true, err) ||
        !settle(m, false, err))
        return false;
    return m->run->is_over || tr_stepper_restart(m->stepper, m->t, m->x, m->atol, err);
}

// ---- steps ---------------------------------------------------------------------------------

// Rows up to `until`; the one at its end waits for an event there.
static bool record_rows(Me *m, double until, bool with_end, tr_error *err)
{
    for (;;) {
        const double at = tr_fmu_next_row(m->run);
        if (at > until || (at == until && !with_end)) return true;
        if (!tr_stepper_at(m->stepper, at, m->x) || !place(m, at, m->x, err) ||
            !tr_fmu_row(m->run, at, err))
            return false;
    }
}

// To the end of a step, with the rows on the way. Next to where it stands no step can be made.
static bool advance(Me *m, double stop, bool *is_root, tr_error *err)
{
    *is_root = false;
    if (stop - m->t <= 8 * DBL_EPSILON * fmax(fabs(m->t), fabs(stop))) return m->t = stop, true;
    if (!tr_stepper_step(m->stepper, stop, &m->t, is_root, err)) {
        if (m->why.status) *err = m->why; // it knows better
        return false;
    }
    return record_rows(m, m->t, false, err) && tr_stepper_at(m->stepper, m->t, m->x);
}

static bool step(Me *m, tr_error *err)
{
    FmuRun *run = m->run;
    const double knot = tr_fmu_next_knot(run, m->t),
                 stop = fmin(fmin(m->next_event, knot), run->end);
    bool is_root, enters, terminates;
    if (!advance(m, stop, &is_root, err) || !place(m, m->t, m->x, err) ||
        !tr_instance_completed(&run->instance, &enters, &terminates, err))
        return false;
    run->is_over = terminates;
    if (terminates) return true;
    const bool is_event = is_root || enters || m->t >= m->next_event || m->t >= knot;
    if (is_event && !handle_event(m, err)) return false;
    if (run->is_over) return true;
    if (tr_fmu_next_row(run) <= m->t && !tr_fmu_row(run, m->t, err)) return false;
    return tr_fmu_stepped(run, m->t, err);
}

static bool begin(Me *m, tr_error *err)
{
    FmuRun *run = m->run;
    Instance *i = &run->instance;
    if (!settle(m, true, err)) return false;
    if (run->is_over) return true;
    const Equations equations = {m->states, m->indicators, m, rates, indicators};
    const char *method = run->options->method ? run->options->method : "bdf";
    const double longest = m->indicators || !m->states ? run->every : 0;
    m->stepper = tr_stepper_new(method, &equations, m->t, m->x,
                                fmax(stricter * run->rtol, least_rtol), m->atol, longest, err);
    return m->stepper && tr_instance_set_time(i, m->t, err) && tr_fmu_row(run, m->t, err);
}

bool tr_fmu_me(FmuRun *run, tr_error *err)
{
    Me m = {.run = run, .t = run->start, .next_event = (double)INFINITY};
    Instance *i = &run->instance;
    bool good = tr_fmu_set_start(run, err) &&
                tr_instance_enter_initialization(i, run->start, run->end, run->rtol, err) &&
                tr_fmu_set_inputs(run, run->start, true, err) &&
                tr_instance_exit_initialization(i, err) &&
                tr_instance_counts(i, &m.states, &m.indicators, err);
    if (good) {
        m.x = calloc(m.states + 1, sizeof *m.x), m.atol = calloc(m.states + 1, sizeof *m.atol);
        if (!m.x || !m.atol) tr_fail_memory(err), good = false;
    }
    good = good && begin(&m, err);
    while (good && !run->is_over && m.t < run->end) good = step(&m, err);
    if (good) good = tr_instance_terminate(i, err);
    run->summary->t = m.t;
    if (m.stepper) run->summary->evaluations = tr_stepper_evaluations(m.stepper);
    tr_stepper_free(m.stepper);
    free(m.x), free(m.atol);
    return good;
}
