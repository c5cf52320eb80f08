// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include "plan/chart.h"
#include "plan/chart_programs.h"
#include "plan/doctor.h"
#include "plan/sensitivity.h"
#include "plan/switch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// ---- life ----------------------------------------------------------------------------------

static uint64_t mix(uint64_t mark, uint64_t with)
{
    mark = (mark ^ with) * 0x9e3779b97f4a7c15u;
    return mark ^ mark >> 32;
}

// Equations that are derived the same way are the same nodes in the same order. The numbers of
// parameters, which runs may change, are not among them.
static uint64_t mark_of(const System *s)
{
    uint64_t mark = mix(s->row_count, s->alarm_count);
    mark = mix(mix(mark, s->latch_count), s->clocked_count);
    for (uint32_t i = 0; i < s->graph->count; i++) {
        const Node *n = &s->graph->nodes[i];
        mark = mix(mark, (uint64_t)n->op << 32 | (uint16_t)n->n);
        mark = mix(mark, (uint64_t)n->a << 32 | n->b);
        mark = mix(mark, n->c);
    }
    for (uint32_t i = 0; i < s->input_count; i++)
        mark = mix(mark, tr_hash_bytes(s->inputs[i].name, strlen(s->inputs[i].name)));
    return mark;
}

static Plan *new_plan(const System *system, System *own, tr_error *err)
{
    if (!system || has_failed(err)) return NULL;
    Plan *plan = calloc(1, sizeof *plan);
    if (!plan || pthread_mutex_init(&plan->lock, NULL)) {
        free(plan);
        tr_fail_memory(err);
        return NULL;
    }
    plan->system = system, plan->own = own;
    plan->mark = mark_of(system);
    if (tr_plan_find_switches(plan, err)) return plan;
    plan->own = NULL; // which is the caller's still
    tr_plan_free(plan);
    return NULL;
}

Plan *tr_plan_new(const System *system, tr_error *err)
{
    tr_error local = {0};
    return new_plan(system, NULL, err ? err : &local);
}

Plan *tr_plan_own(System *own, tr_error *err)
{
    Plan *plan = new_plan(own, own, err);
    if (!plan) tr_system_free(own);
    return plan;
}

void tr_start_free(Start *start)
{
    if (!start) return;
    free(start->inputs);
    free(start->marks);
    free(start->modes);
    tr_chart_free(start->chart);
    free(start);
}

void tr_plan_forget(Plan *plan)
{
    tr_system_free(plan->reduced);
    plan->reduced = NULL, plan->reduced_for = NULL;
}

void tr_plan_free(Plan *plan)
{
    if (!plan) return;
    tr_plan_forget(plan);
    for (uint32_t i = 0; i < plan->chart_count; i++) tr_chart_programs_free(plan->charts[i]);
    for (uint32_t i = 0; i < plan->footing_count; i++) tr_footing_free(plan->footings[i]);
    free(plan->charts);
    free(plan->footings);
    tr_findings_free(plan->findings);
    tr_start_free(plan->start);
    tr_sensitivity_free((Sensitivity *)plan->sensitivity);
    tr_program_free(plan->starts);
    tr_program_free(plan->guesses);
    tr_program_free(plan->conditions);
    tr_plan_free_switches(plan);
    pthread_mutex_destroy(&plan->lock);
    tr_system_free(plan->own);
    free(plan);
}

// ---- keys ----------------------------------------------------------------------------------

static bool same_key(const Key *a, const Key *b)
{
    return a->size == b->size && memcmp(a->at, b->at, a->size) == 0;
}

static uint8_t mode_byte(const LatchMode *mode)
{
    return (uint8_t)((mode->is_open ? 1 : 0) | (!mode->is_open && mode->is_slipping ? 2 : 0));
}

// Modes by latch, and which parameters are exactly 0, 1 or -1
static Key footing_key(const Plan *plan, const LatchMode *modes, const double *inputs)
{
    const System *s = plan->system;
    Key key = {.size = (size_t)s->latch_count + s->input_count};
    key.at = calloc(key.size + 1, 1);
    if (!key.at) return key;
    for (uint32_t i = 0; i < s->latch_count; i++) key.at[i] = mode_byte(&modes[i]);
    uint8_t *fold = key.at + s->latch_count;
    if (!plan->sweeps) tr_fold_pattern(s, inputs, fold);
    for (uint32_t i = 0; plan->sensitivity && i < plan->sensitivity->count; i++)
        fold[plan->sensitivity->parameter[i]] = 0; // it is varied
    return key;
}

static void put_number(uint8_t **at, uint32_t value)
{
    memcpy(*at, &value, sizeof value);
    *at += sizeof value;
}

// With the pivots in order, and the antagonists among rows that are none
static Key chart_key(const Footing *footing, const Partition *p, uint32_t surplus)
{
    Key key = {.size = footing->key.size + 8 * (size_t)p->count + surplus};
    key.at = calloc(key.size + 1, 1);
    if (!key.at) return key;
    if (footing->key.size) memcpy(key.at, footing->key.at, footing->key.size);
    uint8_t *at = key.at + footing->key.size;
    for (uint32_t k = 0; k < p->count; k++) put_number(&at, p->row[k]);
    for (uint32_t k = 0; k < p->count; k++) put_number(&at, p->dependent[k]);
    for (uint32_t k = 0; k < surplus; k++) *at++ = p->antagonist && p->antagonist[k];
    assert(at == key.at + key.size); // every byte of a key says something
    return key;
}

// ---- footings ------------------------------------------------------------------------------

static Footing *new_footing(const Plan *plan, Key key, tr_error *err)
{
    const System *s = plan->system;
    assert(key.size == (size_t)s->latch_count + s->input_count); // modes, then folds
    Footing *f = calloc(1, sizeof *f);
    if (!f) {
        free(key.at);
        tr_fail_memory(err);
        return NULL;
    }
    f->key = key;
    f->modes = calloc(s->latch_count + 1u, sizeof *f->modes);
    f->open = calloc(s->row_count + 1u, sizeof *f->open);
    f->fold = calloc(s->input_count + plan->switch_count + 1u, sizeof *f->fold);
    if (f->modes && f->open && f->fold) {
        for (uint32_t i = 0; i < s->latch_count; i++)
            f->modes[i] = (LatchMode){.is_open = key.at[i] & 1, .is_slipping = key.at[i] & 2};
        for (uint32_t i = 0; i < s->input_count; i++) f->fold[i] = key.at[s->latch_count + i];
        tr_latch_rows(s, f->modes, f->open);
        if (tr_footing_make(plan, f, err)) return f;
    } else
        tr_fail_memory(err);
    tr_footing_free(f);
    return NULL;
}

// While the lock is held
static const Footing *find_footing(Plan *plan, Key key, tr_error *err)
{
    for (uint32_t i = 0; i < plan->footing_count; i++)
        if (same_key(&plan->footings[i]->key, &key)) {
            free(key.at);
            return plan->footings[i];
        }
    Footing *f = new_footing(plan, key, err);
    if (f && !tr_grow((void **)&plan->footings, &plan->footing_capacity, plan->footing_count + 1,
                      sizeof(Footing *))) {
        tr_footing_free(f);
        return tr_fail_memory(err), NULL;
    }
    if (f) plan->footings[plan->footing_count++] = f, plan->compiled++;
    return f;
}

const Footing *tr_plan_footing(Plan *plan, const LatchMode *modes, const double *inputs,
                               tr_error *err)
{
    if (has_failed(err)) return NULL;
    const Key key = footing_key(plan, modes, inputs);
    if (!key.at) return tr_fail_memory(err), NULL;
    pthread_mutex_lock(&plan->lock);
    const Footing *footing = find_footing(plan, key, err);
    pthread_mutex_unlock(&plan->lock);
    return footing;
}

// Numbers of the start are inputs of a run; where parameters are varied they follow these.
static bool opens_start(const Plan *plan) { return !plan->sweeps && !plan->sensitivity; }

// In first order the equations give velocities: those that others depend on are what was found.
// (T257)
static void define_velocities(System *s)
{
    for (uint32_t i = 0; i < s->input_count; i++) {
        Input *input = &s->inputs[i];
        if (input->kind == TR_VELOCITY && !input->definition.id) input->definition = input->rate;
    }
    tr_system_define_changes(s);
}

static System *stand(const Plan *plan, const System *from, const Footing *f,
                     const Partition *partition, tr_error *err)
{
    System *s = tr_system_copy(from, err);
    if (!s) return NULL;
    tr_system_latch(s, f->modes);
    for (uint32_t i = 0; i < s->input_count && opens_start(plan); i++)
        if (s->inputs[i].kind == TR_START) s->inputs[i].definition = expr_at(s->graph, 0);
    if (partition && s->row_count) tr_reduce(s, partition, err);
    if (partition && s->order == 1) define_velocities(s);
    if (!has_failed(err)) return s;
    tr_system_free(s);
    return NULL;
}

System *tr_plan_system(const Plan *plan, const Footing *f, const Partition *partition,
                       tr_error *err)
{
    return stand(plan, plan->system, f, partition, err);
}

System *tr_plan_run_system(const Plan *plan, const Footing *f, const Partition *partition,
                           tr_error *err)
{
    const bool switches = tr_plan_switch_count(plan) > 0;
    return stand(plan, switches ? plan->switching : plan->system, f, partition, err);
}

// ---- values that follow --------------------------------------------------------------------

static bool has_formula(const Input *input, bool is_guess)
{
    const bool guess = input->kind == TR_POSITION || input->kind == TR_VELOCITY;
    const bool start = input->kind == TR_START || input->kind == TR_INPUT || input->kind == TR_HELD;
    return input->guess.id && (is_guess ? guess : start);
}

static tr_program *compile_formulas(const Plan *plan, bool guesses, tr_error *err)
{
    System *s = tr_system_copy(plan->system, err);
    Exprs list = {0};
    if (!s) return NULL;
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (s->inputs[i].kind == TR_START) s->inputs[i].definition = expr_at(s->graph, 0);
        if (has_formula(&s->inputs[i], guesses)) exprs_add(&list, s->inputs[i].guess);
    }
    tr_program *program = list.count || list.failed ? tr_program_list(s, &list, NULL, err) : NULL;
    tr_system_free(s);
    return program;
}

static tr_program *compile_conditions(const Plan *plan, tr_error *err)
{
    System *s = tr_system_copy(plan->system, err);
    Exprs list = {0};
    if (!s) return NULL;
    tr_condition_list(s, &list);
    tr_program *program = list.count || list.failed ? tr_program_list(s, &list, NULL, err) : NULL;
    tr_system_free(s);
    return program;
}

static bool make_formulas(Plan *plan, tr_error *err)
{
    pthread_mutex_lock(&plan->lock);
    if (!plan->follows) {
        if (!plan->starts) plan->starts = compile_formulas(plan, false, err);
        if (!plan->guesses) plan->guesses = compile_formulas(plan, true, err);
        if (!plan->conditions) plan->conditions = compile_conditions(plan, err);
        plan->follows = !has_failed(err);
    }
    pthread_mutex_unlock(&plan->lock);
    return !has_failed(err);
}

// What a program gives for these values; NULL without one, or after an error
static double *evaluate_formulas(const tr_program *program, const double *values, tr_error *err)
{
    Evaluator e = tr_evaluator_with(program, err);
    double *out = e.work ? calloc(tr_program_sizes(program).outputs + 1, sizeof *out) : NULL;
    if (e.work && !out) tr_fail_memory(err);
    if (out) evaluate_into(&e, values, out);
    tr_evaluator_free(&e);
    return out;
}

static bool follow(const Plan *plan, bool guesses, const bool *is_set, double *values,
                   tr_error *err)
{
    const System *s = plan->system;
    double *out = evaluate_formulas(guesses ? plan->guesses : plan->starts, values, err);
    for (uint32_t i = 0, k = 0; out && i < s->input_count; i++) {
        if (!has_formula(&s->inputs[i], guesses)) continue;
        if (!is_set[i]) values[i] = out[k];
        k++;
    }
    free(out);
    return !has_failed(err);
}

bool tr_plan_follow(Plan *plan, const bool *is_set, double *values, tr_error *err)
{
    return !has_failed(err) && make_formulas(plan, err) &&
           follow(plan, false, is_set, values, err) && follow(plan, true, is_set, values, err);
}

static bool permits(Plan *plan, const double *values, bool ranges_alone, tr_error *err)
{
    if (has_failed(err) || !make_formulas(plan, err)) return false;
    double *out = evaluate_formulas(plan->conditions, values, err);
    const bool good = !out           ? !has_failed(err)
                      : ranges_alone ? tr_system_within(plan->system, out, values, err)
                                     : tr_system_allows(plan->system, out, values, err);
    free(out);
    return good;
}

bool tr_plan_permits(Plan *plan, const double *values, tr_error *err)
{
    return permits(plan, values, false, err);
}

void tr_plan_blame(Plan *plan, const double *values, Buffer *names, tr_error *err)
{
    if (has_failed(err) || !make_formulas(plan, err)) return;
    double *out = evaluate_formulas(plan->conditions, values, err);
    if (out) tr_system_blame(plan->system, out, values, names);
    free(out);
}

static bool has_ranges(const System *s)
{
    for (uint32_t i = 0; i < s->condition_count; i++)
        if (s->conditions[i].rule == RULE_WITHIN) return true;
    return false;
}

bool tr_plan_within(Plan *plan, const double *values, tr_error *err)
{
    if (!has_ranges(plan->system)) return !has_failed(err);
    return permits(plan, values, true, err);
}

bool tr_plan_takes(Plan *plan, uint32_t input, const double *values, tr_error *err)
{
    const Input *at = &plan->system->inputs[input];
    const bool is_plain =
        (!at->least.id || is_number(at->least)) && (!at->most.id || is_number(at->most));
    if (is_plain && values[input] >= at->port.min && values[input] <= at->port.max) return true;
    return tr_plan_within(plan, values, err);
}

// ---- charts --------------------------------------------------------------------------------

static const ChartPrograms *find_chart(Plan *plan, const Footing *footing, const Partition *p,
                                       uint32_t surplus, Key key, tr_error *err)
{
    for (uint32_t i = 0; i < plan->chart_count; i++)
        if (same_key(&plan->charts[i]->key, &key)) {
            free(key.at);
            return plan->charts[i];
        }
    ChartPrograms *c = tr_chart_programs_new(plan, footing, p, surplus, err);
    if (c) c->key = key;
    if (c && !tr_grow((void **)&plan->charts, &plan->chart_capacity, plan->chart_count + 1,
                      sizeof(ChartPrograms *))) {
        tr_plan_forget(plan);
        tr_chart_programs_free(c);
        return tr_fail_memory(err), NULL;
    }
    if (c)
        plan->charts[plan->chart_count++] = c, plan->compiled++;
    else
        free(key.at);
    return c;
}

const ChartPrograms *tr_plan_chart(Plan *plan, const Footing *footing, const Partition *partition,
                                   uint32_t surplus, tr_error *err)
{
    if (has_failed(err)) return NULL;
    const Key key = chart_key(footing, partition, surplus);
    if (!key.at) return tr_fail_memory(err), NULL;
    pthread_mutex_lock(&plan->lock);
    const ChartPrograms *c = find_chart(plan, footing, partition, surplus, key, err);
    pthread_mutex_unlock(&plan->lock);
    return c;
}

// The plan's own, whose lock is held
static ChartPrograms *own_chart(Plan *plan, const ChartPrograms *chart)
{
    for (uint32_t i = 0; i < plan->chart_count; i++)
        if (plan->charts[i] == chart) return plan->charts[i];
    return NULL;
}

const tr_program *tr_chart_program(Plan *plan, const ChartPrograms *chart, ChartProgram which,
                                   tr_error *err)
{
    if (has_failed(err)) return NULL;
    pthread_mutex_lock(&plan->lock);
    ChartPrograms *own = own_chart(plan, chart);
    tr_chart_make(plan, own, which, err);
    const tr_program *made = own->of[which];
    pthread_mutex_unlock(&plan->lock);
    return made;
}

const JacobianPrograms *tr_chart_jacobian(Plan *plan, const ChartPrograms *chart, tr_error *err)
{
    if (has_failed(err)) return NULL;
    pthread_mutex_lock(&plan->lock);
    ChartPrograms *own = own_chart(plan, chart);
    if (!own->jacobian) {
        System *s = tr_chart_system(plan, chart, err);
        if (s) own->jacobian = tr_jacobian_programs_new(s, chart, err);
        tr_system_free(s);
    }
    const JacobianPrograms *made = own->jacobian;
    pthread_mutex_unlock(&plan->lock);
    return made;
}

const JumpPrograms *tr_chart_jumps(Plan *plan, const ChartPrograms *chart, tr_error *err)
{
    if (has_failed(err)) return NULL;
    pthread_mutex_lock(&plan->lock);
    ChartPrograms *own = own_chart(plan, chart);
    if (!own->jumps) {
        System *s = tr_chart_system(plan, chart, err);
        if (s) own->jumps = tr_jump_programs_new(s, chart, err);
        tr_system_free(s);
    }
    const JumpPrograms *made = own->jumps;
    pthread_mutex_unlock(&plan->lock);
    return made;
}
