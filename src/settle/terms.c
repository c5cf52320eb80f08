// SPDX-License-Identifier: Apache-2.0
// What settling is made of: unknowns, terms by group, and programs of these with their slopes.
#include "settle/settle.h"

#include "expr/derivative.h"
#include "expr/held.h"
#include "num/dense.h"
#include "plan/start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void tr_settle_term(Settle *p, const char *name, Expr term)
{
    const uint32_t k = p->terms.count;
    const char **names = realloc(p->names, (k + 1u) * sizeof *names);
    if (names) p->names = names, names[k] = name;
    if (!names) p->terms.failed = true;
    exprs_add(&p->terms, term);
}

// ---- what is held --------------------------------------------------------------------------

// A pose has no velocities and no forces.
static void check_static(const System *s, Text text, Expr x, tr_error *err)
{
    static const tr_kind kinds[] = {TR_VELOCITY, TR_SPEED, TR_SOLVED, TR_INNER};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && !has_failed(err); k++) {
        const Input *input = tr_system_uses(s, x, kinds[k]);
        if (input)
            tr_fail(err, TR_USAGE, (Place){0},
                    "--hold '%.*s': a pose has positions alone, and this uses '%.60s'", TEXT(text),
                    input->name);
    }
}

// Values are formulas of parameters.
static Expr read_value(System *s, Text text, tr_error *err)
{
    const Expr x = tr_held_formula(s, "--hold", text, err);
    const Input *input = has_failed(err) ? NULL : tr_system_uses(s, x, TR_POSITION);
    if (input)
        tr_fail(err, TR_USAGE, (Place){0},
                "--hold: the value '%.*s' is to be a number, and this uses '%.60s'", TEXT(text),
                input->name);
    check_static(s, text, x, err);
    return x;
}

static bool add_held(Settle *p, const tr_settle_options *o, tr_error *err)
{
    System *s = p->system;
    const size_t n = o->hold_count;
    Expr *both = calloc(n + 1, sizeof *both);
    p->target = tr_arena_alloc(&p->arena, n + 1, sizeof *p->target);
    p->turns = tr_arena_alloc(&p->arena, n + 1, sizeof *p->turns);
    if (!both || !p->target || !p->turns) tr_fail_memory(err);
    for (size_t i = 0; i < n && !has_failed(err); i++) {
        const HeldText held = tr_held_text(o->holds[i]);
        Expr x = tr_held_formula(s, "--hold", held.left, err);
        if (!has_failed(err)) check_static(s, held.left, x, err);
        both[i] = held.right.at && !has_failed(err) ? read_value(s, held.right, err) : x;
        if (has_failed(err)) break;
        tr_system_resolve(s, &x, 1);
        p->turns[i] = op_of(x) == OP_ATAN2;
        tr_settle_term(p, tr_arena_text(&p->arena, held.left.at, held.left.length), x);
    }
    p->hold_count = (uint32_t)n;
    if (!has_failed(err) && n) p->holds = tr_evaluator_of(s, both, n, FIXED_PARAMETERS, err);
    free(both);
    return !has_failed(err);
}

// ---- contacts ------------------------------------------------------------------------------

static uint32_t touching_of(const System *s, const SceneContact *contact)
{
    for (uint32_t i = 0; i < s->touching_count; i++)
        if (strcmp(s->touchings[i].name, contact->name) == 0) return i;
    return NO_TOUCHING;
}

// The ones whose gap depends on how things stand; models in the plane have others, too
static bool list_contacts(Settle *p, tr_error *err)
{
    const System *s = p->system;
    p->contacts = tr_arena_alloc(&p->arena, s->scene.contact_count + 1u, sizeof *p->contacts);
    if (!p->contacts) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < s->scene.contact_count; i++) {
        const SceneContact *c = &s->scene.contacts[i];
        if (c->is_loop || !c->gap.id || !tr_system_uses(s, c->gap, TR_POSITION)) continue;
        p->contacts[p->contact_count++] = (SettleContact){i, touching_of(s, c)};
    }
    if (s->graph->failed)
        tr_fail_memory(err);
    else if (!p->contact_count)
        tr_fail(err, TR_INVALID, (Place){0},
                "nothing settles here: the model has no wheel, ball or foot that could leave what "
                "it is on");
    return !has_failed(err);
}

static bool carries(const Scene *scene, uint32_t carrier, uint32_t i)
{
    while (i != SCENE_WORLD && i != carrier) i = scene->bodies[i].parent;
    return i == carrier;
}

// The last body that carries all that touches; none where they hang from the world apart
static void find_vehicle(Settle *p)
{
    const Scene *scene = &p->system->scene;
    p->vehicle = scene->contacts[p->contacts[0].scene].body;
    for (uint32_t i = 1; i < p->contact_count; i++)
        while (p->vehicle != SCENE_WORLD &&
               !carries(scene, p->vehicle, scene->contacts[p->contacts[i].scene].body))
            p->vehicle = scene->bodies[p->vehicle].parent;
}

// Of a place in the world, in axes whose columns are those of R, at a point
static void into_axes(const Expr of[3], const double at[3], const double R[9], Expr out[3])
{
    Graph *g = graph_of(of[0]);
    for (int j = 0; j < 3; j++) {
        out[j] = zero(g);
        for (int k = 0; k < 3; k++)
            out[j] = add(out[j], mul(number(g, R[3 * k + j]), sub(of[k], number(g, at[k]))));
    }
}

// Whether a contact's normal is another than the plane's somewhere beside the start: of a sphere
static bool is_round(Settle *p, const SceneContact *c, tr_error *err)
{
    System *s = p->system;
    Exprs list = {0};
    double *in = calloc(s->input_count + 1u, sizeof *in), normal[3] = {0}, off = 0;
    tr_exprs_add(&list, c->normal, 3);
    if (!in || list.failed) {
        tr_exprs_free(&list);
        free(in);
        return tr_fail_memory(err), false;
    }
    tr_system_resolve(s, list.at, list.count);
    Evaluator program = tr_evaluator_list(s, &list, FIXED_PARAMETERS, err);
    tr_start_values(s, in);
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION) in[i] += 0.01 * (1 + i % 3);
    for (uint32_t i = 0; i < s->quaternion_count; i++)
        tr_make_unit(in + s->quaternions[i].position);
    if (!has_failed(err)) evaluate_into(&program, in, normal);
    for (int k = 0; k < 3; k++) off = larger(off, fabs(normal[k] - s->scene.ground_normal[k]));
    tr_evaluator_free(&program);
    free(in);
    return !has_failed(err) && !(off < 1e-9);
}

// Heights are over the x and y of the world, or of axes that are turned about its z.
static void check_upright(Settle *p, const SceneContact *c, tr_error *err)
{
    const SceneTerrain *t =
        c->terrain != NO_TERRAIN ? &p->system->scene.terrains[c->terrain] : NULL;
    const char *why = c->on != SCENE_WORLD              ? "is on a body"
                      : !t && is_round(p, c, err)       ? "is on a sphere"
                      : t && t->rotation[8] < 1 - 1e-14 ? "is on a height that is turned"
                      : !t && p->system->scene.ground_normal[2] <= 0 ? "is on a wall"
                                                                     : NULL;
    if (why && !has_failed(err))
        tr_fail(err, TR_INVALID, (Place){0},
                "vertical gaps and basic averages are about heights of the world's ground, and "
                "'%.60s' %s: settle by residual with distances, or by energy",
                c->name, why);
}

Expr tr_settle_upright(Settle *p, uint32_t contact, Expr *height, tr_error *err)
{
    const Scene *scene = &p->system->scene;
    const SceneContact *c = &scene->contacts[p->contacts[contact].scene];
    Graph *g = p->system->graph;
    Expr own[3] = {c->middle[0], c->middle[1], c->middle[2]}, below;
    check_upright(p, c, err);
    if (c->terrain != NO_TERRAIN) {
        const SceneTerrain *t = &scene->terrains[c->terrain];
        into_axes(c->middle, t->at, t->rotation, own);
        tr_substitute(g, &t->height, 1, t->symbol, own, 2, &below);
    } else { // n . (place - at) = 0
        const double *n = scene->ground_normal, *at = scene->ground_at;
        below = number(g, at[2]);
        for (int k = 0; k < 2; k++)
            below = sub(below, mul(number(g, n[k] / n[2]), sub(own[k], number(g, at[k]))));
    }
    if (height) *height = below;
    return sub(sub(own[2], c->radius), below);
}

static void add_gaps(Settle *p, tr_error *err)
{
    for (uint32_t i = 0; i < p->contact_count; i++) {
        const SceneContact *c = &p->system->scene.contacts[p->contacts[i].scene];
        tr_settle_term(p, c->name, p->is_vertical ? tr_settle_upright(p, i, NULL, err) : c->gap);
    }
}

// ---- loops ---------------------------------------------------------------------------------

static bool is_gap(const Settle *p, const Row *row)
{
    for (uint32_t i = 0; i < p->contact_count; i++) {
        const char *name = p->system->scene.contacts[p->contacts[i].scene].name;
        if (strcmp(row->port.owner, name) == 0 && strcmp(row->port.component, "normal") == 0)
            return true;
    }
    return false;
}

static void add_loops(Settle *p)
{
    const System *s = p->system;
    for (uint32_t i = 0; i < s->row_count; i++) {
        const Row *row = &s->rows[i];
        if (row->position.id && !row->is_speed && !row->is_open && !is_gap(p, row))
            tr_settle_term(p, row->name, row->position);
    }
}

// ---- unknowns ------------------------------------------------------------------------------

static bool is_open_position(const Input *input)
{
    return input->kind == TR_POSITION && !input->definition.id && !input->is_extra;
}

// All parts of a quaternion are unknown, or none.
static void join_quaternions(const System *s, bool *acts)
{
    for (uint32_t i = 0; i < s->quaternion_count; i++) {
        const uint32_t first = s->quaternions[i].position;
        const bool any = acts[first] || acts[first + 1] || acts[first + 2] || acts[first + 3];
        for (uint32_t k = 0; k < 4; k++) acts[first + k] = any;
    }
}

// Positions that terms or tangency depend on; u comes behind
static bool list_unknowns(Settle *p, const Expr *all, uint32_t count, tr_error *err)
{
    System *s = p->system;
    Reach reach = {0};
    bool *acts = calloc(s->input_count + 1u, sizeof *acts);
    p->place = tr_arena_alloc(&p->arena, s->input_count + 1u, sizeof *p->place);
    p->quaternion = tr_arena_alloc(&p->arena, s->quaternion_count + 1u, sizeof *p->quaternion);
    const bool good = acts && p->place && p->quaternion && tr_reach(s->graph, all, count, &reach);
    for (uint32_t i = 0; good && i < s->input_count; i++)
        acts[i] = is_open_position(&s->inputs[i]) && tr_reach_has(&reach, s->inputs[i].symbol);
    if (good) join_quaternions(s, acts);
    for (uint32_t i = 0; good && i < s->input_count; i++) {
        if (!acts[i]) continue;
        for (uint32_t k = 0; k < s->quaternion_count; k++)
            if (s->quaternions[k].position == i) p->quaternion[p->quaternions++] = p->unknowns;
        p->place[p->unknowns++] = i;
    }
    p->touches = 2 * s->touching_count;
    for (uint32_t i = 0; good && i < p->touches; i++)
        p->place[p->unknowns + i] = s->touchings[i / 2].input + i % 2;
    tr_reach_free(&reach);
    free(acts);
    if (!good) tr_fail_memory(err);
    return good;
}

// ---- programs ------------------------------------------------------------------------------

Evaluator tr_settle_slopes(Settle *p, Exprs *list, uint32_t skipped, SettleEntry **kept,
                           size_t *count, tr_error *err)
{
    System *s = p->system;
    const uint32_t n = p->unknowns + p->touches, rows = list->count - skipped;
    Expr *symbols = calloc(n + 1u, sizeof *symbols);
    tr_entry *entries = NULL;
    for (uint32_t k = 0; symbols && k < n; k++) symbols[k] = s->inputs[p->place[k]].symbol;
    if (symbols && !list->failed)
        entries = tr_sparse_jacobian(s->graph, &s->graph->arena, list->at + skipped, rows, symbols,
                                     n, count);
    *kept = entries ? tr_arena_alloc(&p->arena, *count + 1, sizeof **kept) : NULL;
    for (size_t i = 0; *kept && i < *count; i++) {
        (*kept)[i] = (SettleEntry){entries[i].row, entries[i].column};
        exprs_add(list, entries[i].value);
    }
    free(symbols);
    if (!*kept) {
        tr_exprs_free(list);
        return tr_fail_memory(err), (Evaluator){0};
    }
    return tr_evaluator_list(s, list, FIXED_PARAMETERS, err);
}

// L = c . terms, of which the gradient by unknowns, and its slopes               (T287)
static bool compile_bends(Settle *p, tr_error *err)
{
    System *s = p->system;
    const uint32_t n = p->unknowns;
    Expr *room = calloc(2 * (size_t)n + 1, sizeof *room), L = zero(s->graph);
    char name[40];
    Exprs list = {0};
    if (!room) return tr_fail_memory(err), false;
    p->coefficient = s->input_count;
    for (uint32_t k = 0; k < term_count(p); k++) {
        snprintf(name, sizeof name, "settle.c%u", k + 1);
        const Expr c = tr_input(s, name, TR_DIRECTION, 0, err);
        if (!has_failed(err)) L = add(L, mul(c, p->terms.at[k]));
    }
    for (uint32_t k = 0; k < n; k++) room[k] = s->inputs[p->place[k]].symbol;
    tr_gradient(L, room, n, room + n);
    tr_exprs_add(&list, room + n, n);
    p->bends = tr_settle_slopes(p, &list, 0, &p->bend_entries, &p->bend_count, err);
    free(room);
    return !has_failed(err);
}

static bool compile(Settle *p, tr_error *err)
{
    System *s = p->system;
    Exprs list = {0}, middles = {0};
    tr_system_resolve(s, p->terms.at, p->terms.count);
    tr_exprs_add(&list, p->terms.at, p->terms.count);
    for (uint32_t i = 0; i < s->touching_count; i++) {
        tr_exprs_add(&list, s->touchings[i].tangency, 2);
        tr_exprs_add(&middles, s->touchings[i].middle, 2);
    }
    if (list.failed || middles.failed || p->terms.failed) tr_fail_memory(err);
    if (!has_failed(err)) tr_system_resolve(s, list.at, list.count);
    if (has_failed(err) || !list_unknowns(p, list.at, list.count, err)) {
        tr_exprs_free(&list);
        tr_exprs_free(&middles);
        return false;
    }
    if (middles.count) p->middles = tr_evaluator_list(s, &middles, FIXED_PARAMETERS, err);
    p->slopes = tr_settle_slopes(p, &list, 0, &p->slope_entries, &p->slope_count, err);
    if (p->way->least < GROUPS && !has_failed(err)) compile_bends(p, err);
    if (tr_touch_programs(s, NULL, &p->touch, err)) p->search = tr_touch_search(s, &p->touch, err);
    return !has_failed(err);
}

// ---- all of it -----------------------------------------------------------------------------

static bool read_weights(Settle *p, const tr_settle_options *o, tr_error *err)
{
    p->weight = tr_arena_alloc(&p->arena, p->contact_count + 1u, sizeof *p->weight);
    if (!p->weight) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < p->contact_count; i++) p->weight[i] = 1;
    for (size_t k = 0; k < o->weight_count && !has_failed(err); k++) {
        const HeldText held = tr_held_text(o->weights[k]);
        uint32_t i = 0;
        while (i < p->contact_count && !text_is(held.left, p->names[p->first[GROUP_GAPS] + i])) i++;
        char number[64];
        snprintf(number, sizeof number, "%.*s",
                 (int)(held.right.length < 63 ? held.right.length : 63),
                 held.right.at ? held.right.at : "");
        if (i == p->contact_count)
            tr_fail(err, TR_USAGE, (Place){0},
                    "--weight: no contact that may open is called '%.*s'", TEXT(held.left));
        else if (!tr_read_number(number, &p->weight[i]) || !(p->weight[i] >= 0) ||
                 !isfinite(p->weight[i]))
            tr_fail(err, TR_USAGE, (Place){0},
                    "--weight takes CONTACT=W with a number that is not negative, not '%.100s'",
                    o->weights[k]);
    }
    return !has_failed(err);
}

bool tr_settle_terms(Settle *p, const tr_settle_options *o, tr_error *err)
{
    const Output *U = tr_system_output(p->system, text_of("potential"));
    if (!list_contacts(p, err)) return false;
    find_vehicle(p);
    for (int group = 0; group < GROUPS && !has_failed(err); group++) {
        p->first[group] = p->terms.count;
        if (group == GROUP_ENERGY)
            tr_settle_term(p, "energy.potential", U ? U->values[0] : zero(p->system->graph));
        if (group == GROUP_LOOPS) add_loops(p);
        if (group == GROUP_HELD) add_held(p, o, err);
        if (group == GROUP_GAPS) add_gaps(p, err);
        if (group >= GROUP_TRAVELS && p->way->prepare && !has_failed(err))
            p->way->prepare(p, (TermGroup)group, err);
    }
    p->first[GROUPS] = p->terms.count;
    if (!has_failed(err)) read_weights(p, o, err);
    return !has_failed(err) && compile(p, err);
}
