// SPDX-License-Identifier: Apache-2.0
#include "linear/probe.h"

#include "num/solve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- symbols -------------------------------------------------------------------------------

// "tau.steer" of "steer_rate"; "r1", "d(r1)", "d(d(r1))" of "r1_rate"
static const char *probe_name(System *s, uint32_t velocity, int order)
{
    static const char *const forms[] = {"tau.%s", "%s", "d(%s)", "d(d(%s))"};
    char name[300];
    snprintf(name, sizeof name, forms[order + 1], tr_system_joint_name(s, velocity));
    return tr_arena_text(&s->graph->arena, name, strlen(name));
}

static void add_probe(Probes *p, uint32_t velocity, int order, tr_error *err)
{
    System *s = p->system;
    char symbol[300];
    snprintf(symbol, sizeof symbol, "push.%s.%c", s->inputs[velocity].name,
             order < 0 ? 'f' : (char)('a' + order));
    Probe *probe = &p->list[p->count++];
    *probe = (Probe){.velocity = velocity, .order = order};
    probe->name = probe_name(s, velocity, order);
    probe->symbol = tr_input(s, symbol, TR_INPUT, 0, err);
    if (!probe->name) tr_fail_memory(err);
}

void tr_probes_new(System *s, Probes *p, tr_error *err)
{
    const uint32_t count = s->input_count;
    *p = (Probes){.system = s, .list = calloc(3 * (size_t)count + 1, sizeof *p->list)};
    if (!p->list) {
        tr_fail_memory(err);
        return;
    }
    for (uint32_t i = 0; i < count && !has_failed(err); i++) {
        if (s->inputs[i].kind != TR_VELOCITY || s->inputs[i].drive == DRIVE_NONE) continue;
        const bool moves = s->inputs[i].drive == DRIVE_MOTION;
        for (int order = moves ? 0 : -1; order < (moves ? 3 : 0); order++)
            add_probe(p, i, order, err);
    }
}

void tr_probes_free(Probes *p)
{
    free(p->list);
    *p = (Probes){0};
}

// ---- where they act ------------------------------------------------------------------------

// The position that a driven velocity is the rate of
static Input *position_of(const System *s, const Input *velocity)
{
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION && s->inputs[i].rate.id == velocity->symbol.id)
            return &s->inputs[i];
    return NULL;
}

static Expr *pushed_place(const System *s, const Probe *probe)
{
    Input *velocity = &s->inputs[probe->velocity], *position = position_of(s, velocity);
    if (probe->order == 0) return position ? &position->definition : NULL;
    if (probe->order == 1) return &velocity->definition;
    // without constraints the mass matrix tells, see tr_probes_respond
    return probe->order == 2 && s->row_count ? &velocity->rate : NULL;
}

static uint32_t velocity_place(const System *s, uint32_t input)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < input; i++) place += s->inputs[i].kind == TR_VELOCITY;
    return place;
}

static void probe_forces(const Probes *p, const char *name, tr_error *err)
{
    System *s = p->system;
    const Output *Q = tr_system_output(s, text_of(name));
    Expr *values = Q ? calloc(Q->rows + 1u, sizeof *values) : NULL;
    if (!values) return;
    const uint32_t rows = Q->rows;
    memcpy(values, Q->values, rows * sizeof *values);
    for (uint32_t i = 0; i < p->count; i++) {
        const uint32_t at = velocity_place(s, p->list[i].velocity);
        if (p->list[i].order < 0) values[at] = add(values[at], p->list[i].symbol);
    }
    tr_system_put(s, name, values, rows, 1, err);
    free(values);
}

void tr_probes_put(Probes *p, tr_error *err)
{
    for (uint32_t i = 0; i < p->count && !has_failed(err); i++) {
        const Probe *probe = &p->list[i];
        Expr *place = pushed_place(p->system, probe);
        if (!place || !place->id) continue;
        *place = add(*place, probe->symbol);
    }
    if (p->system->row_count && !has_failed(err)) {
        probe_forces(p, "Q", err);
        if (p->system->turned_count) probe_forces(p, "inner.Q", err);
    }
}

// M_pp w' = force - M_pa times the driven accelerations
bool tr_probes_respond(const Probes *probes, const double *M, uint32_t m, const uint32_t *v,
                       uint32_t p, double *out, tr_error *err)
{
    const System *s = probes->system;
    const uint32_t count = probes->count;
    double *A = malloc(((size_t)p * p + 1) * sizeof *A);
    if (!A) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < p; i++) {
        const uint32_t row = velocity_place(s, v[i]);
        for (uint32_t j = 0; j < p; j++)
            A[i * p + j] = M[(size_t)row * m + velocity_place(s, v[j])];
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t at = velocity_place(s, probes->list[k].velocity);
            const int order = probes->list[k].order;
            out[i * count + k] = order < 0 ? row == at : order == 2 ? -M[(size_t)row * m + at] : 0;
        }
    }
    const bool good = tr_solve_positive(A, p, out, count);
    if (!good) tr_fail(err, TR_FAILED, (Place){0}, "the mass matrix is singular at this state");
    free(A);
    return good;
}
