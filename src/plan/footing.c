// SPDX-License-Identifier: Apache-2.0
// Programs for contact modes: rows and masses as numbers, what the start must satisfy, how contacts
// stand to each other.
#include "plan/plan.h"

#include <assert.h>
#include <stdlib.h>

// ---- programs ------------------------------------------------------------------------------

// G, M, and what the reactions of mixed rows are made of
static tr_program *compile_stance(System *s, const Footing *f, tr_error *err)
{
    Exprs list = {0};
    const Expr nothing = zero(s->graph);
    const uint32_t n = tr_system_velocities(s, NULL);
    for (uint32_t i = 0; i < s->row_count; i++) tr_exprs_add(&list, s->rows[i].inner_slopes, n);
    tr_system_list(s, "M", &list);
    for (uint32_t i = 0; i < s->row_count; i++)
        for (uint32_t k = 0; k < 3; k++)
            exprs_add(&list, s->rows[i].is_mixed ? s->rows[i].mix[k] : nothing);
    return tr_program_list(s, &list, f->fold, err);
}

static tr_program *compile_speeds(System *s, const Footing *f, tr_error *err)
{
    Exprs list = {0};
    for (uint32_t i = f->constraints; i < s->row_count; i++) exprs_add(&list, s->rows[i].rate);
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_INNER) exprs_add(&list, s->inputs[i].definition);
    return list.count || list.failed ? tr_program_list(s, &list, f->fold, err) : NULL;
}

static tr_program *compile_slips(System *s, const Footing *f, tr_error *err)
{
    Exprs list = {0};
    for (uint32_t k = 0; k < s->alarm_count; k++)
        if (s->alarms[k].kind == ALARM_STICKS) exprs_add(&list, s->alarms[k].margin);
    return tr_program_list(s, &list, f->fold, err);
}

static tr_program *compile_gaps(System *s, const Footing *f, tr_error *err)
{
    Exprs list = {0};
    for (uint32_t i = 0; i < s->latch_count; i++)
        exprs_add(&list, f->modes[i].is_open ? s->latches[i].gap : zero(s->graph));
    return tr_program_list(s, &list, f->fold, err);
}

static tr_program *compile_impact(System *s, const Footing *f, tr_error *err)
{
    Exprs list = {0};
    tr_output_list(s, "M", &list);
    tr_output_list(s, "G", &list);
    tr_output_list(s, "g", &list);
    for (uint32_t i = 0; i < s->latch_count; i++) exprs_add(&list, s->latches[i].restitution);
    for (uint32_t i = 0; i < s->latch_count; i++)
        exprs_add(&list, s->latches[i].slips ? s->latches[i].friction : zero(s->graph));
    return tr_program_list(s, &list, f->fold, err);
}

// ---- footings ------------------------------------------------------------------------------

bool tr_footing_make(const Plan *plan, Footing *f, tr_error *err)
{
    System *s = tr_plan_system(plan, f, NULL, err);
    if (!s) return false;
    while (f->constraints < s->row_count && !s->rows[f->constraints].is_speed) f->constraints++;
    for (uint32_t i = f->constraints; i < s->row_count; i++)
        assert(s->rows[i].is_speed); // rows of speeds come last
    if (tr_system_output(s, text_of("guess.position")))
        f->conditions[START_WISHES] =
            tr_condition_set_new(s, plan->system, START_WISHES, f->fold, err);
    for (int kind = START_POSITIONS; kind <= START_RATES; kind++)
        f->conditions[kind] =
            tr_condition_set_new(s, plan->system, (ConditionKind)kind, f->fold, err);
    if (s->row_count) {
        f->stance = compile_stance(s, f, err);
        f->speeds = compile_speeds(s, f, err);
    }
    tr_system_free(s);
    return !has_failed(err);
}

void tr_footing_free(Footing *f)
{
    if (!f) return;
    for (int i = 0; i < CONDITION_KINDS; i++) tr_condition_set_free(f->conditions[i]);
    tr_program *const all[] = {f->stance, f->speeds, f->slips, f->gaps, f->impact};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tr_program_free(all[i]);
    free(f->key.at);
    free(f->modes);
    free(f->open);
    free(f->fold);
    free(f);
}

// ---- what is not always needed -------------------------------------------------------------

// The footing belongs to the plan, whose lock is held.
typedef void Maker(const Plan *plan, Footing *footing, tr_error *err);

static void make_positions(const Plan *plan, Footing *f, tr_error *err)
{
    if (f->conditions[POSITION_ROWS]) return;
    System *s = tr_plan_system(plan, f, NULL, err);
    if (s)
        f->conditions[POSITION_ROWS] =
            tr_condition_set_new(s, plan->system, POSITION_ROWS, f->fold, err);
    tr_system_free(s);
}

static void make_slips(const Plan *plan, Footing *f, tr_error *err)
{
    if (f->slips) return;
    System *s = tr_plan_system(plan, f, NULL, err);
    if (s) f->slips = compile_slips(s, f, err);
    tr_system_free(s);
}

static void make_gaps(const Plan *plan, Footing *f, tr_error *err)
{
    if (f->gaps) return;
    System *s = tr_plan_system(plan, f, NULL, err);
    if (s) f->gaps = compile_gaps(s, f, err);
    tr_system_free(s);
}

static void make_impact(const Plan *plan, Footing *f, tr_error *err)
{
    if (f->impact) return;
    System *s = tr_plan_system(plan, f, NULL, err);
    if (s) f->impact = compile_impact(s, f, err);
    tr_system_free(s);
}

static bool make_more(Plan *plan, const Footing *footing, Maker *make, tr_error *err)
{
    if (has_failed(err)) return false;
    pthread_mutex_lock(&plan->lock);
    for (uint32_t i = 0; i < plan->footing_count; i++)
        if (plan->footings[i] == footing) make(plan, plan->footings[i], err);
    pthread_mutex_unlock(&plan->lock);
    return !has_failed(err);
}

const ConditionSet *tr_footing_positions(Plan *plan, const Footing *f, tr_error *err)
{
    return make_more(plan, f, make_positions, err) ? f->conditions[POSITION_ROWS] : NULL;
}

const tr_program *tr_footing_slips(Plan *plan, const Footing *f, tr_error *err)
{
    return make_more(plan, f, make_slips, err) ? f->slips : NULL;
}

const tr_program *tr_footing_gaps(Plan *plan, const Footing *f, tr_error *err)
{
    return make_more(plan, f, make_gaps, err) ? f->gaps : NULL;
}

const tr_program *tr_footing_impact(Plan *plan, const Footing *f, tr_error *err)
{
    return make_more(plan, f, make_impact, err) ? f->impact : NULL;
}
