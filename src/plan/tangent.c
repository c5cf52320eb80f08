// SPDX-License-Identifier: Apache-2.0
// Derivatives of the accelerations as outputs of a system, for programs of their own. Three ways
// are built, column by column along N, from each acceleration backwards, and by way of the
// equations of motion; the shortest is kept: the bicycle has three accelerations and 20 columns
// (T99, T144; bench line "linear").
#include "plan/tangent.h"

#include "base/options.h"
#include "expr/derivative.h"
#include "plan/start.h"
#include "reduce/bound_slopes.h"

#include <stdlib.h>
#include <string.h>

// ---- along N -------------------------------------------------------------------------------

bool tr_tangent_list(System *s, Tangent *t)
{
    *t = (Tangent){.system = s};
    t->position = calloc(2 * (size_t)s->input_count + 1, sizeof *t->position);
    if (!t->position) return false;
    t->velocity = t->position + s->input_count;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        if (input->kind == TR_VELOCITY && !is_motion_driven(input)) t->velocity[t->p++] = i;
        if (is_placed(input) && !input->definition.id && !input->is_extra) t->position[t->q++] = i;
    }
    t->N = calloc((size_t)t->q * t->p + 1, sizeof *t->N);
    return t->N != NULL;
}

void tr_tangent_free(Tangent *t)
{
    free(t->position);
    free(t->N);
    *t = (Tangent){0};
}

void tr_tangent_directions(Tangent *t)
{
    const System *s = t->system;
    Expr *rate = calloc((size_t)t->q + t->p + 1, sizeof *rate);
    if (rate) {
        Expr *v = rate + t->q;
        for (uint32_t k = 0; k < t->q; k++) rate[k] = s->inputs[t->position[k]].rate;
        for (uint32_t j = 0; j < t->p; j++) v[j] = s->inputs[t->velocity[j]].symbol;
        if (t->q) tr_dense_jacobian(s->graph, rate, t->q, v, t->p, t->N);
    } else
        s->graph->failed = true;
    free(rate);
}

void tr_tangent_slopes(const Tangent *t, const Expr *of, uint32_t count, const Expr *others,
                       uint32_t other_count, KnownSlopes known, Expr *out)
{
    const System *s = t->system;
    const uint32_t columns = t->p + other_count;
    if (s->graph->failed) return;
    const size_t seeds = (size_t)t->q + other_count + known.count;
    Expr *from = calloc(2 * seeds + count + 1, sizeof *from);
    if (!from) s->graph->failed = true;
    Expr *change = from ? from + seeds : NULL, *column = from ? change + seeds : NULL;
    for (uint32_t k = 0; from && k < t->q; k++) from[k] = s->inputs[t->position[k]].symbol;
    for (uint32_t j = 0; from && j < columns; j++) {
        size_t n = 0;
        for (; n < t->q && j < t->p; n++) change[n] = t->N[n * t->p + j];
        if (j >= t->p) from[n] = others[j - t->p], change[n++] = one(s->graph);
        for (uint32_t k = 0; k < known.count; k++) {
            from[n] = known.of[k];
            change[n++] = known.slopes[(size_t)k * columns + j];
        }
        tr_forward(s->graph, of, count, from, change, n, column);
        for (uint32_t i = 0; i < count; i++) out[(size_t)i * columns + j] = column[i];
        for (uint32_t k = 0; k < t->q; k++) from[k] = s->inputs[t->position[k]].symbol;
    }
    free(from);
}

bool tr_tangent_accelerations(const Tangent *t, const Partition *partition, const Expr *others,
                              uint32_t other_count, Expr *wdot, Expr *out)
{
    System *s = t->system;
    const uint32_t q = t->q, p = t->p, columns = p + other_count, w = tr_independent(s, NULL);
    const Expr unit = one(s->graph);
    SlopeColumn *list = calloc(columns + 1u, sizeof *list);
    Expr *symbols = calloc((size_t)(p + 1) * q + 1, sizeof *symbols);
    bool good = list && symbols;
    if (!good) s->graph->failed = true;
    Expr *along = good ? symbols + q : NULL;
    for (uint32_t k = 0; good && k < q; k++) symbols[k] = s->inputs[t->position[k]].symbol;
    for (uint32_t j = 0; good && j < columns; j++, along += q) {
        if (j >= p) {
            list[j] = (SlopeColumn){&others[j - p], &unit, 1, NO_INPUT, j < p + w ? 1 : 2};
            continue;
        }
        for (uint32_t k = 0; k < q; k++) along[k] = t->N[(size_t)k * p + j];
        list[j] = (SlopeColumn){symbols, along, q, t->velocity[j], 0};
    }
    good = good && tr_acceleration_slopes(s, partition, list, columns, wdot, out);
    free(list);
    free(symbols);
    return good;
}

bool tr_is_worth_comparing(System *s, const Expr *wdot, size_t count, size_t columns)
{
    enum { MOST = 100000 };
    return columns * tr_system_operations(s, wdot, count) < MOST;
}

// ---- accelerations -------------------------------------------------------------------------

typedef struct Slopes {
    Tangent tangent;
    Expr *wdot;           // what is differentiated
    Expr *symbols;        // positions, then others
    uint32_t count, rest; // accelerations, other symbols
    uint32_t parameters;  // the last of the others
    const Partition *partition;
} Slopes;

enum { PARTS = 3 };
enum { BY_COLUMNS, BY_ROWS, BY_EQUATIONS, WAYS };
static const char *const parts[PARTS] = {"wdot_w", "wdot_u", "wdot_p"};

static bool is_named(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at && *at;) {
        at += strspn(at, " ");
        const size_t word = strcspn(at, " ");
        if (word == length && strncmp(at, name, word) == 0) return true;
        at += word;
    }
    return false;
}

static bool check_names(const System *s, const char *list, tr_error *err)
{
    for (const char *at = list; at && *at;) {
        at += strspn(at, " ");
        const Text name = {at, strcspn(at, " ")};
        const Input *input =
            name.length ? tr_system_setting(s, name, "differentiated by", err) : NULL;
        if (input && input->kind != TR_PARAMETER)
            tr_fail(err, TR_USAGE, (Place){0}, "'%.*s' is an input, not a parameter", TEXT(name));
        at += name.length;
    }
    return !has_failed(err);
}

// The symbols of a part behind those there are; their number
static uint32_t list_part(Slopes *t, int part, const char *parameters, const uint32_t *w)
{
    const System *s = t->tangent.system;
    Expr *to = t->symbols + t->tangent.q + t->rest;
    uint32_t count = 0;
    for (uint32_t i = 0; part == 0 && i < t->count; i++) to[count++] = s->inputs[w[i]].symbol;
    for (uint32_t i = 0; part > 0 && i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        const bool listed = part == 1
                                ? input->kind == TR_INPUT && !input->definition.id
                                : input->kind == TR_PARAMETER && is_named(parameters, input->name);
        if (listed) to[count++] = input->symbol;
    }
    return count;
}

// By all symbols, and then times N. Parameters for themselves: there may be choices among them,
// which have to be differentiated forward.
static bool backward(const Slopes *t, Expr *slopes, Expr *out)
{
    Graph *graph = t->tangent.system->graph;
    const uint32_t q = t->tangent.q, p = t->tangent.p;
    const uint32_t all = q + t->rest - t->parameters, columns = p + t->rest;
    Expr *by_parameter = slopes + (size_t)t->count * all;
    if (!tr_dense_jacobian(graph, t->wdot, t->count, t->symbols, all, slopes) ||
        !tr_dense_jacobian(graph, t->wdot, t->count, t->symbols + all, t->parameters, by_parameter))
        return false;
    for (uint32_t i = 0; i < t->count; i++) {
        Expr *row = out + (size_t)i * columns;
        const Expr *slope = slopes + (size_t)i * all;
        for (uint32_t j = 0; j < p; j++) {
            row[j] = zero(graph);
            for (uint32_t k = 0; k < q; k++)
                row[j] = add(row[j], mul(slope[k], t->tangent.N[(size_t)k * p + j]));
        }
        memcpy(row + p, slope + q, (all - q) * sizeof *row);
        memcpy(row + columns - t->parameters, by_parameter + (size_t)i * t->parameters,
               t->parameters * sizeof *row);
    }
    return true;
}

// By way of the equations of motion (T144), but for parameters: those are behind all others.
static bool structured(const Slopes *t, Expr *wdot, Expr *out)
{
    const Tangent *tangent = &t->tangent;
    const uint32_t p = tangent->p, columns = p + t->rest, others = t->rest - t->parameters;
    const size_t known = p + others;
    const Expr *symbols = t->symbols + tangent->q, unit = one(tangent->system->graph);
    Expr *slopes = calloc(t->count * known + t->count + 1, sizeof *slopes);
    if (!slopes) tangent->system->graph->failed = true;
    const bool good =
        slopes && tr_tangent_accelerations(tangent, t->partition, symbols, others, wdot, slopes);
    for (uint32_t i = 0; good && i < t->count; i++)
        memcpy(out + (size_t)i * columns, slopes + i * known, known * sizeof *out);
    for (uint32_t j = others; good && j < t->rest; j++) {
        tr_forward(tangent->system->graph, t->wdot, t->count, &symbols[j], &unit, 1, slopes);
        for (uint32_t i = 0; i < t->count; i++) out[(size_t)i * columns + p + j] = slopes[i];
    }
    free(slopes);
    return good;
}

static bool put_outputs(const Slopes *t, const Expr *way, const uint32_t *sizes, Expr *room,
                        tr_error *err)
{
    System *s = t->tangent.system;
    const uint32_t p = t->tangent.p, columns = p + t->rest;
    const Expr *slopes = way + t->count;
    uint32_t first = 0;
    if (t->count) tr_system_put(s, "wdot", way, t->count, 1, err);
    for (int part = -1; part < PARTS; part++) {
        const uint32_t count = part < 0 ? p : sizes[part];
        for (uint32_t i = 0; i < t->count; i++)
            for (uint32_t j = 0; j < count; j++)
                room[(size_t)i * count + j] = slopes[(size_t)i * columns + first + j];
        if (count && t->count)
            tr_system_put(s, part < 0 ? "wdot_q" : parts[part], room, t->count, count, err);
        first += count;
    }
    return !has_failed(err);
}

static bool differentiate(Slopes *t, const uint32_t *sizes, tr_error *err)
{
    System *s = t->tangent.system;
    const size_t columns = (size_t)t->tangent.p + t->rest, all = (size_t)t->tangent.q + t->rest;
    const size_t each = t->count * columns + t->count;
    Expr *room = calloc(WAYS * each + t->count * (all + columns) + 1, sizeof *room);
    if (!room) return tr_fail_memory(err), false;
    Expr *way[WAYS] = {room, room + each, room + 2 * each}, *more = room + WAYS * each;
    bool is_there[WAYS] = {0};
    tr_tangent_directions(&t->tangent);
    is_there[BY_EQUATIONS] = structured(t, way[BY_EQUATIONS], way[BY_EQUATIONS] + t->count);
    if (!is_there[BY_EQUATIONS] || tr_is_worth_comparing(s, t->wdot, t->count, columns)) {
        is_there[BY_COLUMNS] = is_there[BY_ROWS] = true;
        memcpy(way[BY_COLUMNS], t->wdot, t->count * sizeof *room);
        memcpy(way[BY_ROWS], t->wdot, t->count * sizeof *room);
        tr_tangent_slopes(&t->tangent, t->wdot, t->count, t->symbols + t->tangent.q, t->rest,
                          (KnownSlopes){0}, way[BY_COLUMNS] + t->count);
        if (!backward(t, more, way[BY_ROWS] + t->count)) tr_fail_memory(err);
    }
    const Expr *best = NULL;
    size_t least = SIZE_MAX;
    for (int i = 0; i < WAYS && !s->graph->failed; i++) {
        const size_t count = is_there[i] ? tr_system_operations(s, way[i], each) : SIZE_MAX;
        if (count < least) least = count, best = way[i];
    }
    if (s->graph->failed || (each && !best)) tr_fail_memory(err);
    if (!has_failed(err)) put_outputs(t, best, sizes, more, err);
    free(room);
    return !has_failed(err);
}

bool tr_differentiate(System *s, const Partition *partition, bool slopes, const char *parameters,
                      tr_error *err)
{
    if (has_failed(err) || !check_names(s, parameters, err)) return false;
    const size_t n = s->input_count + 1u;
    Slopes t = {.partition = partition};
    Expr *room = calloc(3 * n, sizeof *room);
    uint32_t *w = calloc(n, sizeof *w), sizes[PARTS];
    if (room && w && tr_tangent_list(s, &t.tangent)) {
        t.wdot = room, t.symbols = t.wdot + n;
        t.count = tr_independent(s, w);
        for (uint32_t i = 0; i < t.count; i++) t.wdot[i] = s->inputs[w[i]].rate;
        tr_system_resolve(s, t.wdot, t.count);
        for (uint32_t k = 0; k < t.tangent.q; k++)
            t.symbols[k] = s->inputs[t.tangent.position[k]].symbol;
        for (int part = 0; part < PARTS; part++)
            t.rest += sizes[part] = list_part(&t, part, parameters, w);
        t.parameters = sizes[PARTS - 1];
        if (slopes)
            differentiate(&t, sizes, err);
        else if (t.count)
            tr_system_put(s, "wdot", t.wdot, t.count, 1, err);
    } else
        tr_fail_memory(err);
    tr_tangent_free(&t.tangent);
    free(room);
    free(w);
    return !has_failed(err);
}

tr_program *tr_compile_in(tr_plan *plan, const char *outputs, const tr_compile_options *options,
                          tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_compile_options o = tr_compile_defaults();
    if (!plan || !tr_take_options(&o, sizeof o, options, "tr_compile_defaults", err)) return NULL;
    Flow *flow = tr_flow_new(plan, NULL, err);
    System *own = flow ? tr_flow_system(flow, err) : NULL;
    tr_program *program = NULL;
    if (own) tr_evaluation_called(o.evaluate, &own->evaluation, err);
    if (own && outputs && strstr(outputs, "wdot"))
        tr_differentiate(own, &flow->now->programs->partition, strstr(outputs, "wdot_") != NULL,
                         o.parameters, err);
    if (own && !has_failed(err)) program = tr_compile_names(own, outputs, o.fix_parameters, err);
    tr_system_free(own);
    tr_flow_free(flow);
    return program;
}
