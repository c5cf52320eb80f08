// SPDX-License-Identifier: Apache-2.0
// Runs whose contacts open, close, slip and stick, and their events. Every one must balance its
// energy and keep its constraints, also across jumps.
#ifndef TR_TESTS_LATCHES_H
#define TR_TESTS_LATCHES_H

#include "base/json.h"
#include "runs.h"

static const double g = 9.81;

// ---- runs ----------------------------------------------------------------------------------

typedef struct Event {
    double t, lost, impulse;
    bool rebounded;
    char kind[100];
} Event;

enum { MOST_EVENTS = 1100 };

typedef struct How {
    const char *case_name, *set; // set: "a=1 b=2"
    double end, every;
    const char *method; // NULL: erk
    double step;
    bool dense;
    double energy; // how well it must balance; 0: 1e-9
    bool (*progress)(void *owner, double t, double end);
    void *owner;
} How;

typedef struct Ran {
    Sheet *sheet;
    Event events[MOST_EVENTS];
    size_t count;
    tr_summary summary;
    tr_error err;
    char *certificate;
} Ran;

static inline Text member(Text object, const char *key)
{
    const Text found = tr_json_member(object, key);
    if (!found.at) fail_msg("the certificate has no %s", key);
    return found;
}

static inline void read_events(Ran *r)
{
    r->certificate = certificate();
    const Text whole = text_of(r->certificate);
    assert_true(tr_json_is_valid(whole));
    const Text list = member(whole, "events");
    for (Text item; (item = tr_json_item(list, r->count)).at; r->count++) {
        Event *event = &r->events[r->count];
        Buffer kind = {0};
        assert_true(r->count < MOST_EVENTS - 1);
        event->t = strtod(member(item, "t").at, NULL);
        assert_true(tr_json_string(member(item, "kind"), &kind));
        snprintf(event->kind, sizeof event->kind, "%s", kind.at);
        const Text lost = tr_json_member(item, "lost");
        event->lost = lost.at ? strtod(lost.at, NULL) : 0;
        const Text impulse = tr_json_member(item, "impulse");
        event->impulse = impulse.at ? strtod(impulse.at, NULL) : 0;
        event->rebounded = tr_json_member(item, "rebounded").at != NULL;
        if (r->count) assert_true(event->t >= r->events[r->count - 1].t);
        tr_buffer_free(&kind);
    }
}

static inline tr_system *system_how(const char *text, const How *how, tr_error *err)
{
    char words[300];
    tr_setting settings[MOST_SETTINGS];
    snprintf(words, sizeof words, "%s", how->set ? how->set : "");
    const size_t count = settings_in(how->set ? words : NULL, settings);
    tr_derive_options options = tr_derive_defaults();
    options.case_name = how->case_name;
    options.settings = settings, options.setting_count = count;
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, &options, err);
    tr_model_free(model);
    return system;
}

static inline tr_simulate_options options_of(const How *how, const char *output)
{
    tr_simulate_options o = tr_simulate_defaults(NULL);
    o.end = how->end, o.every = how->every, o.output = output, o.dense = how->dense;
    o.rtol = 1e-12, o.atol = 1e-13;
    o.progress = how->progress, o.owner = how->owner;
    if (how->method) o.method = how->method, o.step = how->step;
    return o;
}

// It may fail: then err says why.
static inline Ran *attempt(const char *text, How how)
{
    const char *csv = in_folder("run.csv");
    Ran *r = calloc(1, sizeof *r);
    tr_system *system = system_how(text, &how, &r->err);
    const tr_simulate_options o = options_of(&how, csv);
    tr_simulate(system, &o, &r->summary, &r->err);
    tr_system_free(system);
    if (!r->summary.rows) return r;
    r->sheet = read_sheet(csv);
    read_events(r);
    return r;
}

static inline void forget(Ran *r)
{
    tr_sheet_free(r->sheet);
    free(r->certificate);
    free(r);
}

// It must not; energy and constraints are as they should be, and all rows are there.
static inline Ran *ran(const char *text, How how)
{
    Ran *r = attempt(text, how);
    if (r->err.status) fail_msg("%s", r->err.text);
    const double *t = column(r->sheet, "t"), *off = column(r->sheet, "residual.velocity");
    const size_t rows = (size_t)lround(how.end / how.every) + 1;
    assert_int_equal(r->sheet->rows, rows);
    for (size_t i = 0; i < rows; i++) {
        assert_close(t[i], how.end * (double)i / (double)(rows - 1), 1e-14);
        assert_below(off[i], 1e-10);
    }
    if (!is_below(r->summary.energy_error, (how.energy > 0 ? how.energy : 1e-9)))
        fail_msg("energy is off by %g", r->summary.energy_error);
    assert_below(r->summary.position_error, 1e-12);
    assert_int_equal(r->summary.switches, r->count);
    return r;
}

static inline void check_event(const Ran *r, size_t i, double t, const char *kind, double tolerance)
{
    if (i >= r->count) fail_msg("there are only %zu events, and no %zu", r->count, i);
    if (strcmp(r->events[i].kind, kind) != 0)
        fail_msg("event %zu at %g is: %s", i, r->events[i].t, r->events[i].kind);
    assert_close(r->events[i].t, t, tolerance);
}

static inline size_t row_at(const Ran *r, double t)
{
    const double *times = column(r->sheet, "t");
    size_t i = 0;
    while (i + 1 < r->sheet->rows && times[i] < t) i++;
    return i;
}

// ---- stick-slip ----------------------------------------------------------------------------

static const char belt[] =
    "trundle: 1\n"
    "parameters: {m: 1, k: 100, mus: 0.6, mu: 0.4, v0: 0.2, c: 1e-7, x0: 0}\n"
    "bodies:\n"
    "  belt: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: run}}\n"
    "  rail: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x, stiffness: k}}\n"
    "  block: {parent: rail, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}, mass: m}\n"
    "contacts:\n"
    "  foot: {kind: rolling, shape: ball, radius: 0.1, at: \"0, 0, 0.1\", body: block, on: belt,"
    " longitudinal: coulomb, lateral: coulomb, friction: mu, stiction: mus, stick: true, creep: "
    "c}\n"
    "roles: {run: {motion: v0*t}}\n"
    "initial: {x: x0, d(x): v0}\n";

#endif
