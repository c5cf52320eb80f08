// SPDX-License-Identifier: Apache-2.0
// Snapshots of runs with arbitrary bytes in them. The first byte says which method; then three say
// where a byte of a true snapshot is another, and which. Such a snapshot is refused with words and
// the run stays where it was, or the run goes on from there, or says why it cannot; and it finds
// its way back to the true one.
#include <trundle/trundle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { METHODS = 3, MOST_CHANGES = 64, MOST_STEPS = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A wheel that can leave the ground, slips, is braked, and sampled by a controller
static const char *const model_text =
    "trundle: 1\n"
    "parameters: {r: 0.3, arm: 0.24}\n"
    "gravity: 0, 0, -9.81\n"
    "inputs: {push: 0}\n"
    "bodies:\n"
    "  rail: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x, base: true}}\n"
    "  axle: {parent: rail, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z, base: "
    "true}}\n"
    "  hoop:\n"
    "    parent: axle\n"
    "    joint: {type: revolute, axis: \"0, 1, 0\", coordinate: turn}\n"
    "    mass: 5\n"
    "    com: 0, 0, -0.8*arm\n"
    "    inertia: {yy: 0.15}\n"
    "contacts:\n"
    "  rim: {kind: rolling, body: hoop, radius: r, longitudinal: coulomb, lateral: coulomb, "
    "friction: 0.9, stick: true, unilateral: true, restitution: 0.2}\n"
    "roles: {turn: {torque: push - 0.01*abs(d(turn))}}\n"
    "controllers: {hold: {period: 0.02, outputs: {push: -0.1*d(turn)}}}\n"
    "initial: {x: 0, turn: 0, d(turn): 24}\n";

static const char *const methods[METHODS] = {"rk4", "pece", "erk"};

// A run, and what it was saved as
typedef struct Saved {
    tr_run *run;
    uint8_t *bytes, *changed;
    size_t size;
    double t;
} Saved;

static int steps;

static void require(bool holds, const char *what, const char *about)
{
    if (holds) return;
    fprintf(stderr, "violated: %s\nabout: %s\n", what, about);
    abort();
}

static bool count_steps(void *owner, double t, double end)
{
    (void)owner, (void)t, (void)end;
    return ++steps < MOST_STEPS;
}

static tr_system *derive(void)
{
    tr_error err = {0};
    tr_model *model = tr_model_parse(model_text, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    require(system != NULL, "the model derives", err.text);
    tr_model_free(model);
    return system;
}

static Saved save(tr_plan *plan, const char *method)
{
    tr_error err = {0};
    Saved s = {0};
    tr_run_options o = tr_run_defaults(plan);
    o.method = method, o.progress = count_steps;
    steps = 0;
    s.run = tr_run_new(plan, &o, &err);
    tr_run_advance(s.run, 0.05, &err);
    s.size = tr_run_save(s.run, NULL, 0, &err);
    s.bytes = malloc(s.size), s.changed = malloc(s.size);
    require(s.bytes && s.changed, "there is memory", "");
    require(tr_run_save(s.run, s.bytes, s.size, &err) == s.size, "it is saved", err.text);
    s.t = tr_run_time(s.run);
    return s;
}

static void try_changed(const Saved *s)
{
    tr_error err = {0};
    const bool good = tr_run_restore(s->run, s->changed, s->size, &err);
    require(good == (err.status == TR_OK), "it is restored or an error", err.text);
    require(good || err.text[0], "words", err.text);
    require(good || tr_run_time(s->run) == s->t, "it stays where it was", err.text);
    if (!good) return;
    steps = 0;
    const double t = tr_run_time(s->run);
    const bool went_on = tr_run_advance(s->run, t + 0.01, &err);
    require(went_on || err.text[0] || steps >= MOST_STEPS, "it goes on or says why not", err.text);
    tr_run_row(s->run);
    err = (tr_error){0};
    require(tr_run_restore(s->run, s->bytes, s->size, &err), "it finds its way back", err.text);
}

static void let_go(Saved *s)
{
    tr_run_free(s->run);
    free(s->bytes);
    free(s->changed);
    *s = (Saved){0};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tr_system *system;
    static tr_plan *plan;
    static Saved saved[METHODS];
    static uint32_t tries;
    tr_error err = {0};
    if (!size) return 0;
    if (!system) system = derive();
    if (plan && ++tries % 500 == 0) { // which keeps all charts that were ever asked for
        for (int i = 0; i < METHODS; i++) let_go(&saved[i]);
        tr_plan_free(plan);
        plan = NULL;
    }
    if (!plan) plan = tr_plan_new(system, &err);
    Saved *s = &saved[data[0] % METHODS];
    if (!s->run) *s = save(plan, methods[data[0] % METHODS]);
    memcpy(s->changed, s->bytes, s->size);
    for (size_t i = 1; i + 3 <= size && i < (size_t)3 * MOST_CHANGES; i += 3)
        s->changed[(data[i] | (size_t)data[i + 1] << 8) % s->size] = data[i + 2];
    try_changed(s);
    return 0;
}
