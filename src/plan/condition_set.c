// SPDX-License-Identifier: Apache-2.0
// Which formulas must vanish, for which unknowns, as a program (T80).
#include "plan/condition_set.h"

#include "expr/derivative.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_unknown(const Input *input, bool rates)
{
    return input->kind == (rates ? TR_VELOCITY : TR_POSITION) && !input->definition.id;
}

static bool asks_initial(ConditionKind kind) { return kind >= START_POSITIONS; }

// A position that stays where it starts, because what moves it is told to be zero
static bool is_held(const System *s, const Input *position)
{
    Expr rate = position->rate;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *v = &s->inputs[i];
        if (is_motion_driven(v) && is_zero(v->definition))
            rate = tr_replace(rate, &v->symbol, &v->definition, 1);
    }
    return rate.id && is_zero(rate);
}

// Held joints are only where they are once the initial conditions have put them there.
static void find_unknowns(ConditionSet *c, const System *s)
{
    for (uint32_t i = 0; i < s->input_count; i++) {
        c->is_start[i] = is_unknown(&s->inputs[i], false) || is_unknown(&s->inputs[i], true);
        if (is_unknown(&s->inputs[i], c->rates) &&
            (asks_initial(c->kind) || !is_held(s, &s->inputs[i])))
            c->place[c->count++] = i;
    }
    for (uint32_t i = 0; i < s->touching_count && !c->rates; i++)
        for (uint32_t k = 0; k < 2; k++)
            c->place[c->count + c->touches++] = s->touchings[i].input + k;
    for (uint32_t i = 0; i < s->quaternion_count && !c->rates; i++)
        for (uint32_t k = 0; k < c->count; k++)
            if (c->place[k] == s->quaternions[i].position) c->quaternion[c->quaternions++] = k;
}

static const Output *initial_of(const System *s, bool rates)
{
    return tr_system_output(s, text_of(rates ? "initial.rate" : "initial.position"));
}

// The formulas that must vanish: those of `initial`, then those of the constraints.
static uint32_t collect(ConditionSet *c, const System *s, Expr *formulas)
{
    const Output *initial = asks_initial(c->kind) ? initial_of(s, c->rates) : NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; initial && i < initial->rows; i++) {
        c->notes[count] = initial->notes ? initial->notes[i] : "";
        formulas[count++] = initial->values[i];
    }
    c->given = count;
    for (uint32_t i = 0; i < s->row_count; i++) {
        const Expr x = c->rates ? s->rows[i].rate : s->rows[i].position;
        if (s->rows[i].is_speed || s->rows[i].is_open || !x.id) continue;
        c->notes[count] = s->rows[i].name;
        formulas[count++] = x;
    }
    const Output *wishes =
        c->kind == START_WISHES ? tr_system_output(s, text_of("guess.position")) : NULL;
    for (uint32_t i = 0; wishes && i < wishes->rows; i++) {
        c->notes[count] = "";
        formulas[count++] = wishes->values[i];
    }
    for (uint32_t i = 0; i < c->touches; i++)
        formulas[count + i] = s->touchings[i / 2].tangency[i % 2];
    return count;
}

static uint32_t most_formulas(const System *s)
{
    uint32_t most = s->row_count + 2 * s->touching_count;
    for (int rates = 0; rates < 2; rates++)
        if (initial_of(s, rates)) most += initial_of(s, rates)->rows;
    const Output *wishes = tr_system_output(s, text_of("guess.position"));
    return wishes ? most + wishes->rows : most;
}

// All slopes, by rows
static void compile_whole(ConditionSet *c, System *s, Expr *all, const uint8_t *fold, tr_error *err)
{
    const size_t m = c->formulas + c->touches, n = c->count + c->touches;
    Expr *unknown = all + m * (n + 1);
    for (uint32_t k = 0; k < n; k++) unknown[k] = s->inputs[c->place[k]].symbol;
    if (!tr_dense_jacobian(s->graph, all, m, unknown, n, all + m)) tr_fail_memory(err);
    c->program = tr_compile_open(s, all, m * (n + 1), fold, err);
}

// An input for each unknown, in a system of one's own; `unknown` and `change` are they
static void add_directions(ConditionSet *c, System *s, Expr *unknown, Expr *change, tr_error *err)
{
    char name[400];
    c->direction = s->input_count;
    for (uint32_t k = 0; k < c->count; k++) {
        snprintf(name, sizeof name, "direction.%s", s->inputs[c->place[k]].name);
        change[k] = tr_input(s, name, TR_DIRECTION, 0, err);
        unknown[k] = s->inputs[c->place[k]].symbol;
    }
}

// Rates that follow from those of a chain have slopes by all of them, as many as their square. A
// program of what changes along one direction is no longer than that of the rates.
static void compile_along(ConditionSet *c, const System *from, Expr *all, const uint8_t *fold,
                          tr_error *err)
{
    const size_t m = c->formulas, n = c->count;
    System *s = tr_system_copy(from, err);
    uint8_t *folds = calloc(from->input_count + n + 1, sizeof *folds);
    if (!folds) tr_fail_memory(err);
    if (s && folds) {
        Expr *unknown = all + 2 * m, *change = unknown + n;
        memcpy(folds, fold, from->input_count);
        for (size_t i = 0; i < m; i++) all[i] = expr_at(s->graph, all[i].id);
        add_directions(c, s, unknown, change, err);
        tr_forward(s->graph, all, m, unknown, change, n, all + m);
        if (!has_failed(err)) c->program = tr_compile_open(s, all, 2 * m, folds, err);
    }
    free(folds);
    tr_system_free(s);
}

static bool compile(ConditionSet *c, System *s, const uint8_t *fold, tr_error *err)
{
    enum { MOST_SLOPES = 3600 };
    const size_t most = most_formulas(s), n = c->count + c->touches;
    const bool along = c->rates && most * n > MOST_SLOPES;
    Expr *all = calloc(most * (along ? 2 : n + 1) + 2 * n + 1, sizeof *all);
    if (!all) return tr_fail_memory(err), false;
    c->formulas = collect(c, s, all);
    c->rows = c->formulas + c->quaternions;
    if (c->formulas && along)
        compile_along(c, s, all, fold, err);
    else if (c->formulas)
        compile_whole(c, s, all, fold, err);
    if (!c->rates) tr_touch_programs(s, fold, &c->touch, err);
    free(all);
    return !has_failed(err);
}

uint32_t tr_start_metric(const System *s, const uint32_t *place, uint32_t count, Exprs *list)
{
    const Output *mass = tr_system_output(s, text_of("start.mass"));
    const Output *easy = tr_system_output(s, text_of("start.easy"));
    if (!mass || !easy) return 0;
    for (uint32_t row = 0; row <= easy->rows; row++) {
        const Expr *from = row ? easy->values + (size_t)(row - 1) * easy->columns : mass->values;
        for (uint32_t i = 0, k = 0, v = 0; i < s->input_count; i++) {
            if (s->inputs[i].kind != TR_VELOCITY) continue;
            if (k < count && place[k] == i) exprs_add(list, from[v]), k++;
            v++;
        }
    }
    return easy->rows;
}

static void compile_metric(ConditionSet *c, System *s, const uint8_t *fold, tr_error *err)
{
    Exprs list = {0};
    if (c->rows) c->easy = tr_start_metric(s, c->place, c->count, &list);
    if (list.count || list.failed) c->metric = tr_program_list(s, &list, fold, err);
}

ConditionSet *tr_condition_set_new(System *own, const System *original, ConditionKind kind,
                                   const uint8_t *fold, tr_error *err)
{
    if (!own || has_failed(err)) return NULL;
    ConditionSet *c = calloc(1, sizeof *c);
    if (c) {
        *c = (ConditionSet){
            .system = original, .kind = kind, .rates = kind == RATE_ROWS || kind == START_RATES};
        c->place = calloc(own->input_count + 1u, sizeof *c->place);
        c->quaternion = calloc(own->quaternion_count + 1u, sizeof *c->quaternion);
        c->notes = calloc(most_formulas(own) + 1u, sizeof *c->notes);
        c->is_start = calloc(own->input_count + 1u, sizeof *c->is_start);
    }
    if (!c || !c->place || !c->quaternion || !c->notes || !c->is_start)
        tr_fail_memory(err);
    else {
        find_unknowns(c, own);
        compile(c, own, fold, err);
        if (kind == START_RATES && !has_failed(err)) compile_metric(c, own, fold, err);
        if (!has_failed(err)) return c;
    }
    tr_condition_set_free(c);
    return NULL;
}

void tr_condition_set_free(ConditionSet *c)
{
    if (!c) return;
    tr_program_free(c->program);
    tr_program_free(c->metric);
    tr_touch_programs_free(&c->touch);
    free(c->place);
    free(c->quaternion);
    free(c->notes);
    free(c->is_start);
    free(c);
}
