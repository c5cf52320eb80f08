// SPDX-License-Identifier: Apache-2.0
#include "print/known.h"

#include "print/name.h"

#include <stdio.h>
#include <stdlib.h>

enum { LONG_FORMULA = 6, MOST_PLAIN = 1000 };

// ---- names ---------------------------------------------------------------------------------

static bool take_look(Known *k, const char *name)
{
    char look[TR_LOOK_SIZE];
    tr_name_look(name, look);
    const char *own = tr_arena_text(&k->arena, look, strlen(look));
    return own && tr_names_add(&k->taken, text_of(own), 0);
}

static bool is_taken(const Known *k, const char *name)
{
    char look[TR_LOOK_SIZE];
    tr_name_look(name, look);
    return tr_names_find(&k->taken, text_of(look)) != NO_NAME;
}

// Names of what moves and of functions are taken; those of formulas are not, for they may be named
// here.
static void take_names(Known *k, const System *s, tr_error *err)
{
    bool good = true;
    for (uint32_t i = 0; i < s->input_count; i++) good = good && take_look(k, s->inputs[i].name);
    for (uint32_t i = 0; i < s->name_count; i++) {
        const Text name = s->names[i].name;
        const char *own =
            s->names[i].function ? tr_arena_text(&k->arena, name.at, name.length) : "";
        good = good && own && (!s->names[i].function || take_look(k, own));
    }
    if (!good) tr_fail_memory(err);
}

Expr tr_known_symbol(System *s, Expr of, tr_error *err)
{
    char inner[40];
    uint32_t number = s->input_count;
    do {
        snprintf(inner, sizeof inner, "quantity_%u", number++);
    } while (tr_system_find(s, text_of(inner)));
    return tr_input(s, inner, stage_of(of) <= STAGE_PARAMETER ? TR_PARAMETER : TR_INPUT, 0, err);
}

// How often the name was given a number; NULL when memory runs out
static uint32_t *number_of(Known *k, const char *name)
{
    uint32_t at = tr_names_find(&k->numbered, text_of(name));
    if (at != NO_NAME) return &k->numbers[at];
    const char *own = tr_arena_text(&k->arena, name, strlen(name));
    at = k->number_count;
    if (!own || !tr_names_add(&k->numbered, text_of(own), at) ||
        !tr_grow((void **)&k->numbers, &k->number_capacity, at + 1, sizeof *k->numbers))
        return NULL;
    k->number_count++;
    return k->numbers[at] = 0, &k->numbers[at];
}

void tr_known_name(Known *k, System *s, Expr symbol, const char *name, bool numbered)
{
    char unique[420];
    Input *input = tr_system_input(s, symbol);
    uint32_t *number = number_of(k, name);
    if (number && !numbered && !*number) *number = 1; // the second has a 2
    snprintf(unique, sizeof unique, "%s", name);
    while (number && (numbered || is_taken(k, unique))) {
        snprintf(unique, sizeof unique, "%s_%u", name, ++*number);
        numbered = false;
    }
    const char *own = tr_arena_text(&k->arena, unique, strlen(unique));
    if (!number || !own || !input || !take_look(k, unique))
        s->graph->failed = true;
    else
        input->name = own;
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
    step.symbol = tr_known_symbol(f->system, x, f->err);
    if (!step.form || !step.symbol.id) return;
    tr_known_name(k, f->system, step.symbol, name, false);
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

// What a rotation's entry is made of, by the entry: of 2 a the half, of 1 - 2 b what is left of 1.
// So 1 - 4 a^2 is 1 - R^2.
static void take_halves(Finder *f, Expr x)
{
    Known *k = f->known;
    Graph *graph = f->system->graph;
    Expr by = expr_at(graph, k->kept.of[x.id]), part = x;
    if (op_of(part) == OP_SUB && is_one(operand(part, 0))) {
        by = sub(one(graph), by), part = operand(part, 1);
        if (tr_op[op_of(part)].operands && tr_kept_room(graph, &k->kept))
            k->kept.of[part.id] = by.id;
    }
    for (int i = 0; i < 2 && op_of(part) == OP_MUL; i++)
        if (is_value(operand(part, i), 2)) {
            const Expr half = operand(part, 1 - i), value = mul(number(graph, 0.5), by);
            if (tr_op[op_of(half)].operands && tr_kept_room(graph, &k->kept))
                k->kept.of[half.id] = value.id;
            return;
        }
}

static void take_rotation(Finder *f, Expr x, const char *name)
{
    const uint32_t before = f->known->count;
    take(f, x, name, "rotations");
    if (f->known->count > before) take_halves(f, x);
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
                    take_rotation(f, b->rotation[k], name);
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
    if (!has_failed(err)) take_names(k, s, err);
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
    free(known->numbers);
    tr_names_free(&known->taken);
    tr_names_free(&known->numbered);
    tr_kept_free(&known->kept);
    tr_arena_free(&known->arena);
}
