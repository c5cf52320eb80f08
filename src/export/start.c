// SPDX-License-Identifier: Apache-2.0
// The state at t = 0. With the model's own parameters it is stored as a run has it. With others its
// guesses follow by the formulas of `initial` and `guess`, and what conditions ask for is found
// from there: in generated code, by Newton's method with steps of least norm (T380).
#include "export/code.h"

#include "plan/condition_set.h"
#include "plan/evaluator.h"
#include "program/list.h"

#include <stdlib.h>
#include <string.h>

// In a plan programs of formulas list what has one, in the order of inputs.
static bool has_formula(const Input *input, bool is_guess)
{
    const bool guess = input->kind == TR_POSITION || input->kind == TR_VELOCITY;
    const bool start = input->kind == TR_START || input->kind == TR_INPUT || input->kind == TR_HELD;
    return input->guess.id && (is_guess ? guess : start);
}

// What formulas of parameters give, as nodes by input, in place of numbers
static void follow(Export *code, const tr_program *program, bool is_guess, uint32_t *node)
{
    const System *s = code->system;
    uint32_t *wanted = calloc(2 * (size_t)s->input_count + 1, sizeof *wanted), count = 0;
    if (!program || !wanted) {
        code->failed = code->failed || !wanted;
        free(wanted);
        return;
    }
    uint32_t *value = wanted + s->input_count;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (has_formula(&s->inputs[i], is_guess)) wanted[count] = count, count++;
    tr_flat_program(&code->flat, program, node, wanted, count, value);
    for (uint32_t i = 0, k = 0; i < s->input_count; i++)
        if (has_formula(&s->inputs[i], is_guess)) node[i] = value[k++];
    free(wanted);
}

static void take_inputs(Export *code, const uint32_t *node)
{
    if (!tr_code_open(code, PART_INPUTS, code->u.count)) return;
    for (uint32_t k = 0; k < code->u.count; k++) {
        const CodeName *u = &code->u.at[k];
        const bool is_formula =
            has_formula(&code->system->inputs[u->input], false) && u->value == u->value;
        code->part[PART_INPUTS].value[k] =
            is_formula ? node[u->input] : tr_flat_number(&code->flat, u->value);
    }
}

// What is held follows formulas of parameters, too.
static bool is_guessed(const Input *input)
{
    return has_formula(input, true) || (input->kind == TR_HELD && has_formula(input, false));
}

static void take_guesses(Export *code, const uint32_t *node)
{
    CodeFunction *f = &code->part[PART_START];
    if (!tr_code_open(code, PART_START, code->x.count)) return;
    f->count = 0;
    for (uint32_t k = 0; k < code->x.count; k++)
        if (code->x.at[k].input != NO_INPUT &&
            is_guessed(&code->system->inputs[code->x.at[k].input])) {
            f->entry[f->count] = k;
            f->value[f->count++] = node[code->x.at[k].input];
        }
}

// Those that are solved for all at once; where there are many, they are not
static void take_conditions(Export *code, const ConditionSet *set, bool rates, uint32_t *node)
{
    CodeConditions *given = &code->given[rates];
    const CodePart part = rates ? PART_GIVEN_RATES : PART_GIVEN_POSITIONS;
    if (!set || !set->program || set->direction) return;
    given->has_wishes = !rates && tr_system_output(code->system, text_of("guess.position")) != NULL;
    given->rows = set->formulas + set->touches, given->count = set->count + set->touches;
    given->loose = set->touches;
    given->place = calloc(given->count + 1u, sizeof *given->place);
    const uint32_t outputs = given->rows * (1 + given->count);
    uint32_t *wanted = calloc(outputs + 1u, sizeof *wanted);
    if (!given->place || !wanted || !tr_code_open(code, part, outputs))
        code->failed = true;
    else {
        for (uint32_t k = 0; k < given->count; k++)
            given->place[k] = tr_code_entry(code, set->place[k]);
        for (uint32_t k = 0; k < outputs; k++) wanted[k] = k;
        tr_flat_program(&code->flat, set->program, node, wanted, outputs, code->part[part].value);
    }
    free(wanted);
    if (!set->metric || code->failed) return;
    given->easy = set->easy;
    uint32_t *kept = code->input_node;
    code->input_node = node;
    tr_code_program(code, PART_METRIC, set->metric, NULL, set->count * (1 + set->easy));
    code->input_node = kept;
}

// The chart of a run, where it is one of velocities: of rows or velocities in other axes generated
// code chooses its own.
static void take_pivots(Export *code)
{
    const System *s = code->system;
    const Partition *p = &code->flow->now->programs->partition;
    uint32_t *pivots = code->mode + s->latch_count;
    bool good = true;
    for (uint32_t k = 0; k < p->count; k++) {
        const uint32_t place = tr_code_entry(code, p->dependent[k]);
        good = good && place < code->x.count && !s->rows[p->row[k]].is_speed &&
               !s->rows[p->row[k]].is_mixed;
        if (good) pivots[p->row[k]] = place - code->positions + 1;
    }
    if (!good) memset(pivots, 0, code->flow->footing->constraints * sizeof *pivots);
}

static void take_state(Export *code)
{
    const Flow *flow = code->flow;
    code->start = calloc(code->x.count + 1u, sizeof *code->start);
    code->mode = calloc(code->latches.count + 1u, sizeof *code->mode);
    if (!code->start || !code->mode) {
        code->failed = true;
        return;
    }
    for (uint32_t k = 0; k < code->x.count; k++)
        if (code->x.at[k].input != NO_INPUT) code->start[k] = flow->inputs[code->x.at[k].input];
    for (uint32_t k = 0; k < flow->known; k++) // which others followed from
        code->start[tr_code_entry(code, flow->now->place[k])] = flow->start[k];
    for (uint32_t i = 0; i < code->system->latch_count; i++)
        code->mode[i] = flow->modes[i].is_open ? 0 : flow->modes[i].is_slipping ? 2 : 1;
    if (code->options.is_unreduced) take_pivots(code);
}

// Makes the formulas of the plan, which are made when something is set.
static bool make_formulas(Export *code, tr_error *err)
{
    const System *s = code->system;
    bool *is_set = calloc(s->input_count + 1u, sizeof *is_set);
    double *values = calloc(s->input_count + 1u, sizeof *values);
    if (!is_set || !values) tr_fail_memory(err);
    for (uint32_t i = 0; values && i < s->input_count; i++) values[i] = s->inputs[i].value;
    if (is_set && values) tr_plan_follow(code->plan, is_set, values, err);
    free(is_set);
    free(values);
    return !has_failed(err);
}

void tr_code_start(Export *code, tr_error *err)
{
    const System *s = code->system;
    const Footing *footing = code->flow->footing;
    uint32_t *node = calloc(s->input_count + 1u, sizeof *node);
    take_state(code);
    if (!node) code->failed = true;
    if (!code->failed && make_formulas(code, err)) {
        memcpy(node, code->input_node, s->input_count * sizeof *node);
        follow(code, code->plan->starts, false, node);
        take_inputs(code, node);
        for (uint32_t k = 0; k < code->u.count; k++) // conditions have them as they are
            node[code->u.at[k].input] = code->input_node[code->u.at[k].input];
        take_conditions(code, footing->conditions[START_POSITIONS], false, node);
        if (s->order != 1) take_conditions(code, footing->conditions[START_RATES], true, node);
        follow(code, code->plan->guesses, true, node);
        take_guesses(code, node);
    }
    free(node);
}

// What inputs are by their formulas of t, and what that is at t = 0
void tr_code_signals(Export *code, tr_error *err)
{
    System *s = tr_chart_system(code->plan, code->flow->now->programs, err);
    Exprs list = {0};
    if (!s) return;
    for (uint32_t k = 0; k < code->u.count; k++) {
        const Input *u = &s->inputs[code->u.at[k].input];
        exprs_add(&list, u->follows.id ? u->signal : u->symbol);
    }
    if (!list.failed) tr_system_resolve(s, list.at, list.count);
    tr_program *program =
        code->u.count ? tr_program_list(s, &list, code->flow->footing->fold, err) : NULL;
    double *room = program ? tr_list_room(program) : NULL;
    code->signal_start = calloc(code->u.count + 1u, sizeof *code->signal_start);
    if (!code->signal_start || (program && !room)) code->failed = true;
    if (room && code->signal_start)
        tr_list_run(program, code->flow->inputs, room, code->signal_start);
    tr_code_program(code, PART_SIGNALS, program, NULL, code->u.count);
    free(room);
    tr_program_free(program);
    tr_system_free(s);
}
