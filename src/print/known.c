// SPDX-License-Identifier: Apache-2.0
#include "print/known.h"

#include <stdio.h>
#include <stdlib.h>

enum { LONG_FORMULA = 6, MOST_PLAIN = 1000 };

// ---- names ---------------------------------------------------------------------------------

static bool is_taken(const System *s, const char *name)
{
    if (tr_system_find(s, text_of(name))) return true;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (strcmp(s->inputs[i].name, name) == 0) return true;
    return false;
}

// Names of the model are taken by what they stand for here.
static bool is_own(const System *s, const char *name)
{
    const Named *named = tr_system_find(s, text_of(name));
    for (uint32_t i = 0; i < s->input_count; i++)
        if (strcmp(s->inputs[i].name, name) == 0) return false;
    return named && !named->function && named->meaning.id;
}

Expr tr_known_symbol(System *s, Arena *arena, Expr of, const char *name, bool numbered,
                     tr_error *err)
{
    char unique[420], inner[40];
    const tr_kind kind = stage_of(of) <= STAGE_PARAMETER ? TR_PARAMETER : TR_INPUT;
    uint32_t number = numbered ? 0 : 1;
    snprintf(unique, sizeof unique, "%s", name);
    while ((numbered && !number) || (is_taken(s, unique) && !is_own(s, unique)))
        snprintf(unique, sizeof unique, "%s_%u", name, ++number);
    for (number = s->input_count;; number++) {
        snprintf(inner, sizeof inner, "quantity_%u", number);
        if (!is_taken(s, inner)) break;
    }
    const Expr symbol = tr_input(s, inner, kind, 0, err);
    const char *shown = tr_arena_text(arena, unique, strlen(unique));
    if (!shown) tr_fail_memory(err);
    if (shown && symbol.id) s->inputs[s->input_count - 1].name = shown;
    return symbol;
}

const Term *tr_known_form(Arena *arena, Expr x, const Rules *rules, uint64_t *work, tr_error *err)
{
    Closed *closed = tr_closed_new(x.graph, x, rules, err);
    const Term *form = closed ? tr_closed_form(closed, x) : NULL;
    if (closed && !form) form = tr_plain(closed, x, MOST_PLAIN, false);
    if (form) form = tr_term_copy(arena, form);
    if (closed) *work += tr_closed_work(closed);
    tr_closed_free(closed);
    return form;
}

// ---- what there is -------------------------------------------------------------------------

typedef struct Finder {
    Known *known;
    System *system;
    const Reach *reach;
    uint64_t budget, work;
    tr_error *err;
} Finder;

static void take(Finder *f, Expr x, const char *name, const char *block)
{
    Known *k = f->known;
    if (!tr_grow((void **)&k->steps, &k->capacity, k->count + 1, sizeof *k->steps)) {
        tr_fail_memory(f->err);
        return;
    }
    const Rules rules = {(const Expr(*)[4])k->units, k->unit_count, f->budget};
    const Expr meaning = tr_substitute_kept(f->system->graph, x, &k->kept);
    Step step = {.node = x, .block = block};
    step.form = tr_known_form(&k->arena, meaning, &rules, &f->work, f->err);
    step.symbol = tr_known_symbol(f->system, &k->arena, x, name, false, f->err);
    if (!step.form || !step.symbol.id) return;
    k->steps[k->count++] = step;
    k->kept.of[x.id] = step.symbol.id;
}

// Whether all that moves in it is the quaternion of one base
static bool is_of_quaternion(const System *s, Expr x)
{
    Reach reach = {0};
    bool any = false, good = tr_reach(s->graph, &x, 1, &reach);
    for (uint32_t i = 0; good && i < reach.count; i++) {
        const Input *input = tr_system_input(s, expr_at(s->graph, reach.ids[i]));
        if (!input) continue;
        good = input->port.quantity == QUANTITY_QUATERNION;
        any = true;
    }
    tr_reach_free(&reach);
    return good && any;
}

static Expr symbol_of(const Known *k, Expr x)
{
    return expr_at(x.graph, x.id < k->kept.capacity ? k->kept.of[x.id] : 0);
}

// Rows are unit vectors: what leads in their rule is the last, so 1 - R32^2 stays as it is.
static void add_row(Known *k, const Expr *row)
{
    Expr unit[4] = {{0}};
    for (int i = 0; i < 3; i++) {
        unit[i] = symbol_of(k, row[2 - i]);
        for (uint32_t j = 0; j < k->count; j++)
            if (same(k->steps[j].symbol, unit[i])) goto known;
        return; // an entry is no symbol: zero, say
    known:;
    }
    for (uint32_t j = 0; j < k->unit_count; j++)
        if (same(k->units[j][0], unit[0])) return;
    memcpy(k->units[k->unit_count++], unit, sizeof unit);
}

static void find_rotations(Finder *f)
{
    const Scene *scene = &f->system->scene;
    char name[400];
    for (uint32_t i = 0; i < scene->body_count; i++) {
        const SceneBody *b = &scene->bodies[i];
        for (int row = 0; row < 3; row++) {
            bool is_used = false;
            for (int k = 3 * row; k < 3 * row + 3; k++)
                is_used = is_used || (tr_reach_has(f->reach, b->rotation[k]) &&
                                      is_of_quaternion(f->system, b->rotation[k]));
            for (int k = 3 * row; is_used && k < 3 * row + 3; k++) {
                const Node *node = node_of(b->rotation[k]);
                snprintf(name, sizeof name, "%.300s.R%d%d", b->name, k / 3 + 1, k % 3 + 1);
                if (tr_op[node->op].operands && node->op != OP_NEG &&
                    same(tr_substitute_kept(f->system->graph, b->rotation[k], &f->known->kept),
                         b->rotation[k]))
                    take(f, b->rotation[k], name, "rotations");
            }
            if (is_used) add_row(f->known, &b->rotation[3 * row]);
        }
    }
}

static uint32_t count_operations(Graph *graph, Expr x)
{
    Reach reach = {0};
    uint32_t count = 0;
    if (tr_reach(graph, &x, 1, &reach))
        for (uint32_t k = 0; k < reach.count; k++)
            count += tr_op[graph->nodes[reach.ids[k]].op].operands > 0;
    tr_reach_free(&reach);
    return count;
}

// From short ones to those that are made of them: by what they are, for ids ascend
static void find_formulas(Finder *f)
{
    const System *s = f->system;
    for (uint32_t k = 0; k < f->reach->count; k++) {
        const Expr x = expr_at(s->graph, f->reach->ids[k]);
        if (stage_of(x) != STAGE_PARAMETER || !tr_op[op_of(x)].operands) continue;
        for (uint32_t i = 0; i < s->name_count; i++) {
            const Named *named = &s->names[i];
            char name[400];
            if (named->function || named->meaning.id != x.id) continue;
            if (count_operations(s->graph, x) < LONG_FORMULA) break;
            snprintf(name, sizeof name, "%.*s", (int)named->name.length, named->name.at);
            take(f, x, name, "constants");
            break;
        }
    }
}

bool tr_known_find(Known *k, System *s, const Expr *of, uint32_t count, uint64_t budget,
                   tr_error *err)
{
    Reach reach = {0};
    k->units = tr_arena_alloc(&k->arena, s->quaternion_count + 3u * s->scene.body_count + 1u,
                              sizeof *k->units);
    if (!k->units || !tr_reach(s->graph, of, count, &reach)) tr_fail_memory(err);
    for (uint32_t i = 0; k->units && i < s->quaternion_count; i++, k->unit_count++)
        for (uint32_t j = 0; j < 4; j++)
            k->units[i][j] = s->inputs[s->quaternions[i].position + j].symbol;
    Finder f = {k, s, &reach, budget, 0, err};
    if (!has_failed(err) && tr_kept_room(s->graph, &k->kept)) find_formulas(&f);
    if (!has_failed(err)) find_rotations(&f);
    tr_reach_free(&reach);
    if (s->graph->failed) tr_graph_refuse(s->graph, err);
    return !has_failed(err);
}

void tr_known_close(Known *known)
{
    free(known->steps);
    tr_kept_free(&known->kept);
    tr_arena_free(&known->arena);
}
