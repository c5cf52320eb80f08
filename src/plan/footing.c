// SPDX-License-Identifier: Apache-2.0
// Programs for contact modes: rows and masses as numbers, what the start must satisfy, how contacts
// stand to each other.
#include "plan/plan.h"

#include "expr/derivative.h"
#include "plan/stance_numbers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// ---- programs ------------------------------------------------------------------------------

static tr_program *compile_stance(System *s, const Footing *f, tr_error *err)
{
    Exprs list = {0};
    tr_stance_list(s, &list);
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
    for (uint32_t i = 0; i < s->latch_count; i++)
        exprs_add(&list, s->rows[s->latches[i].rows[0]].rate);
    return tr_program_list(s, &list, f->fold, err);
}

static tr_program *compile_impact(System *s, const Footing *f, tr_error *err)
{
    Exprs list = {0};
    tr_output_list(s, "M", &list);
    if (f->constraints) tr_output_list(s, "G", &list);
    if (f->constraints) tr_output_list(s, "g", &list);
    for (uint32_t i = 0; i < s->latch_count; i++) exprs_add(&list, s->latches[i].restitution);
    for (uint32_t i = 0; i < s->latch_count; i++)
        exprs_add(&list, s->latches[i].slips ? s->latches[i].friction : zero(s->graph));
    for (uint32_t i = 0; i < s->latch_count; i++)
        exprs_add(&list, f->modes[i].is_open ? s->latches[i].gap : zero(s->graph));
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_VELOCITY) exprs_add(&list, s->inputs[i].symbol);
    return tr_program_list(s, &list, f->fold, err);
}

// Q is linear in the reactions that forces use: Q = Q0 + W lambda (T78). First Q0, then W
static void list_forces(System *s, uint32_t rows, Exprs *list)
{
    const Output *Q = tr_system_output(s, text_of("Q"));
    const uint32_t n = Q->rows;
    Expr *lambda = calloc((size_t)rows * (n + 1) + 1, sizeof *lambda),
         *W = lambda ? lambda + rows : NULL;
    for (uint32_t i = 0; lambda && i < rows; i++) lambda[i] = s->rows[i].symbol;
    if (!lambda || !tr_dense_jacobian(s->graph, Q->values, n, lambda, rows, W)) list->failed = true;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_SOLVED) s->inputs[i].definition = zero(s->graph);
    tr_output_list(s, "Q", list);
    if (lambda) tr_exprs_add(list, W, (size_t)rows * n);
    free(lambda);
}

static void list_latch(const System *s, const Latch *latch, Exprs *list)
{
    const Expr numbers[] = {latch->friction, latch->first, latch->stiction, latch->load,
                            latch->restitution};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        exprs_add(list, numbers[k].id ? numbers[k] : zero(s->graph));
}

void tr_footing_list_modes(System *s, const Footing *f, Exprs *list)
{
    tr_system_unlatch(s);
    tr_output_list(s, "M", list);
    tr_output_list(s, "G", list);
    tr_output_list(s, "g", list);
    for (uint32_t i = 0; i < f->constraints; i++) exprs_add(list, s->rows[i].bias);
    tr_output_list(s, "c", list);
    list_forces(s, f->constraints, list);
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_VELOCITY)
            exprs_add(list, is_motion_driven(&s->inputs[i]) ? s->inputs[i].rate : zero(s->graph));
    for (uint32_t i = 0; i < f->constraints; i++)
        exprs_add(list, quotient(s->rows[i].weight, square(s->rows[i].arm)));
    for (uint32_t i = 0; i < s->latch_count; i++) list_latch(s, &s->latches[i], list);
}

static tr_program *compile_modes(System *s, const Footing *f, tr_error *err)
{
    Exprs list = {0};
    tr_footing_list_modes(s, f, &list);
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
    tr_program_free(f->stance);
    tr_program_free(f->speeds);
    for (int i = 0; i < FOOTING_PROGRAMS; i++) tr_program_free(f->more[i]);
    free(f->key.at);
    free(f->modes);
    free(f->open);
    free(f->fold);
    free(f);
}

// ---- what is not always needed -------------------------------------------------------------

// The plan's own, whose lock is held
static Footing *own_footing(const Plan *plan, const Footing *footing)
{
    uint32_t i = 0;
    while (plan->footings[i] != footing) i++;
    return plan->footings[i];
}

const ConditionSet *tr_footing_positions(Plan *plan, const Footing *footing, tr_error *err)
{
    if (has_failed(err)) return NULL;
    pthread_mutex_lock(&plan->lock);
    ConditionSet **set = &own_footing(plan, footing)->conditions[POSITION_ROWS];
    if (!*set) {
        System *s = tr_plan_system(plan, footing, NULL, err);
        if (s) *set = tr_condition_set_new(s, plan->system, POSITION_ROWS, footing->fold, err);
        tr_system_free(s);
    }
    const ConditionSet *made = *set;
    pthread_mutex_unlock(&plan->lock);
    return made;
}

// One row for each program
static tr_program *(*const compile_more[FOOTING_PROGRAMS])(System *, const Footing *,
                                                           tr_error *) = {
    [FOOTING_SLIPS] = compile_slips,
    [FOOTING_GAPS] = compile_gaps,
    [FOOTING_IMPACT] = compile_impact,
    [FOOTING_MODES] = compile_modes,
};

const tr_program *tr_modes_program(Plan *plan, const Footing *footing, tr_error *err)
{
    const size_t latches = plan->system->latch_count, folds = footing->key.size - latches;
    const Footing *first = footing;
    pthread_mutex_lock(&plan->lock);
    for (uint32_t i = plan->footing_count; i-- > 0;)
        if (memcmp(plan->footings[i]->key.at + latches, footing->key.at + latches, folds) == 0)
            first = plan->footings[i];
    pthread_mutex_unlock(&plan->lock);
    return tr_footing_program(plan, first, FOOTING_MODES, err);
}

const tr_program *tr_footing_program(Plan *plan, const Footing *footing, FootingProgram which,
                                     tr_error *err)
{
    if (has_failed(err)) return NULL;
    pthread_mutex_lock(&plan->lock);
    Footing *own = own_footing(plan, footing);
    if (!own->more[which]) {
        System *s = tr_plan_system(plan, footing, NULL, err);
        if (s) own->more[which] = compile_more[which](s, footing, err);
        tr_system_free(s);
    }
    const tr_program *made = own->more[which];
    pthread_mutex_unlock(&plan->lock);
    return made;
}
