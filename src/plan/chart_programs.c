// SPDX-License-Identifier: Apache-2.0
// What a flow evaluates in one chart (T82): its rates, the columns of its record, residuals of
// constraints, what positions are projected onto, and the terms of Gauss's principle. What runs
// watch is in chart_watch.c.
#include "plan/chart_programs.h"

#include "expr/derivative.h"
#include "plan/sensitivity.h"
#include "plan/switch.h"

#include <assert.h>
#include <stdlib.h>

// ---- rates and columns ---------------------------------------------------------------------

static void find_places(const System *s, ChartPrograms *c)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION && !s->inputs[i].definition.id) c->place[count++] = i;
    c->positions = count;
    count += tr_independent(s, c->place + count);
    c->known = count;
    c->own = count + 1; // and the work
    for (uint32_t i = 0; i < s->latch_count; i++) c->own += c->footing->modes[i].is_open;
}

void tr_chart_rates(const System *s, const ChartPrograms *c, Expr *rates)
{
    const Output *power = tr_system_output(s, text_of("power"));
    uint32_t count = c->known;
    for (uint32_t k = 0; k < count; k++) rates[k] = s->inputs[c->place[k]].rate;
    for (uint32_t i = 0; i < s->latch_count; i++) // gaps
        if (c->footing->modes[i].is_open) rates[count++] = s->rows[s->latches[i].rows[0]].rate;
    assert(count + 1 == c->own); // the work is last
    rates[count] = power ? power->values[0] : zero(s->graph);
}

static tr_program *compile_rates(System *s, const ChartPrograms *c, tr_error *err)
{
    Expr *rates = malloc(c->own * sizeof *rates);
    if (!rates) return tr_fail_memory(err), NULL;
    tr_chart_rates(s, c, rates);
    tr_program *program = tr_compile_open(s, rates, c->own, c->footing->fold, err);
    free(rates);
    return program;
}

void tr_chart_columns(const System *s, Exprs *values, const char **labels)
{
    uint32_t count = 0;
    for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++)
        for (uint32_t i = 0; i < s->input_count; i++) {
            if ((int)s->inputs[i].kind != kind) continue;
            if (labels) labels[count++] = s->inputs[i].name;
            exprs_add(values, s->inputs[i].symbol);
        }
    for (uint32_t i = 0; i < s->output_count; i++) {
        if (!s->outputs[i].label) continue;
        if (labels) labels[count++] = s->outputs[i].label;
        exprs_add(values, s->outputs[i].values[0]);
    }
}

static tr_program *compile_columns(System *s, const ChartPrograms *c, tr_error *err)
{
    Exprs values = {0};
    tr_chart_columns(s, &values, NULL);
    return tr_program_list(s, &values, c->footing->fold, err);
}

static tr_program *compile_accelerations(System *s, const ChartPrograms *c, tr_error *err)
{
    Exprs rates = {0};
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_VELOCITY) exprs_add(&rates, s->inputs[i].rate);
    return rates.count ? tr_program_list(s, &rates, c->footing->fold, err) : NULL;
}

// ---- constraints ---------------------------------------------------------------------------

Expr tr_chart_cancelling(const System *s, const Row *row)
{
    const Expr little = number(s->graph, 1e-5);
    Expr sum = e_abs(row->rest);
    uint32_t v = 0;
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (s->inputs[i].kind != TR_VELOCITY) continue;
        const Expr velocity = s->inputs[i].symbol;
        sum = add(sum, e_abs(mul(row->slopes[v++], velocity)));
        sum = add(sum, mul(little, e_abs(velocity)));
    }
    return sum;
}

static tr_program *compile_residuals(System *s, ChartPrograms *c, tr_error *err)
{
    const uint32_t rows = c->footing->constraints;
    Exprs values = {0};
    for (uint32_t i = 0; i < rows; i++)
        if (s->rows[i].position.id && !s->rows[i].is_open) exprs_add(&values, s->rows[i].position);
    c->holonomic = values.count;
    for (uint32_t i = 0; i < rows; i++)
        exprs_add(&values, s->rows[i].is_open ? zero(s->graph) : s->rows[i].rate);
    for (uint32_t i = 0; i < rows; i++)
        exprs_add(&values,
                  s->rows[i].is_open ? zero(s->graph) : tr_chart_cancelling(s, &s->rows[i]));
    return rows ? tr_program_list(s, &values, c->footing->fold, err) : NULL;
}

// The positions of the pivots; then with their slopes along those of y
static void compile_projection(System *s, ChartPrograms *c, tr_error *err)
{
    const Partition *p = &c->partition;
    const size_t n = c->positions, most = s->row_count;
    Expr *values = calloc(most * (n + 1) + n + 1, sizeof *values), *y = values;
    if (!values) {
        tr_fail_memory(err);
        return;
    }
    for (uint32_t k = 0; k < p->count; k++)
        if (s->rows[p->row[k]].position.id) values[c->projected++] = s->rows[p->row[k]].position;
    const uint32_t m = c->projected;
    y += m * (n + 1);
    for (uint32_t k = 0; k < n; k++) y[k] = s->inputs[c->place[k]].symbol;
    if (m && !tr_dense_jacobian(s->graph, values, m, y, n, values + m)) tr_fail_memory(err);
    if (m) c->phi = tr_compile_open(s, values, m, c->footing->fold, err);
    if (m) c->projection = tr_compile_open(s, values, m * (n + 1), c->footing->fold, err);
    free(values);
}

// c, Q, G' v + g' of the rows as they are eliminated, and v' by inner velocity
static tr_program *compile_kkt(System *s, const ChartPrograms *c, tr_error *err)
{
    Exprs list = {0};
    tr_system_list(s, "c", &list);
    tr_system_list(s, "Q", &list);
    for (uint32_t i = 0; i < c->footing->constraints; i++) exprs_add(&list, s->rows[i].inner_bias);
    tr_system_list(s, "vdot", &list);
    return tr_program_list(s, &list, c->footing->fold, err);
}

// ---- all of it -----------------------------------------------------------------------------

static void compile_all(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    find_places(s, c);
    c->rates = compile_rates(s, c, err);
    c->columns = compile_columns(s, c, err);
    c->accelerations = compile_accelerations(s, c, err);
    if (s->row_count) {
        c->residuals = compile_residuals(s, c, err);
        compile_projection(s, c, err);
        if (c->footing->constraints) c->kkt = compile_kkt(s, c, err);
    }
    if (tr_plan_switch_count(plan)) c->sides = tr_sides_program(plan, s, c, err);
    if (s->row_count || c->sides) c->watch = tr_watch_program(plan, s, c, &c->watched, err);
    if (plan->sensitivity && !has_failed(err)) tr_sensitivity_programs(plan, s, c, err);
}

static bool copy_partition(ChartPrograms *c, const Partition *p, uint32_t surplus)
{
    uint32_t *row = calloc(2 * (size_t)p->count + 1, sizeof *row);
    bool *antagonist = calloc(surplus + 1u, sizeof *antagonist);
    for (uint32_t k = 0; row && k < p->count; k++)
        row[k] = p->row[k], row[p->count + k] = p->dependent[k];
    for (uint32_t k = 0; antagonist && k < surplus; k++)
        antagonist[k] = p->antagonist && p->antagonist[k];
    c->partition = (Partition){.row = row,
                               .dependent = row ? row + p->count : NULL,
                               .count = p->count,
                               .antagonist = antagonist};
    return row && antagonist;
}

ChartPrograms *tr_chart_programs_new(const Plan *plan, const Footing *footing,
                                     const Partition *partition, uint32_t surplus, tr_error *err)
{
    ChartPrograms *c = calloc(1, sizeof *c);
    if (!c) return tr_fail_memory(err), NULL;
    c->footing = footing;
    c->place = calloc(plan->system->input_count + 1u, sizeof *c->place);
    const bool has_room = c->place && copy_partition(c, partition, surplus);
    if (!has_room) tr_fail_memory(err);
    System *s = has_room ? tr_plan_run_system(plan, footing, &c->partition, err) : NULL;
    if (s) compile_all(plan, s, c, err);
    tr_system_free(s);
    if (!has_failed(err)) return c;
    tr_chart_programs_free(c);
    return NULL;
}

static void free_jacobian(JacobianPrograms *j)
{
    if (!j) return;
    tr_program_free(j->program);
    free(j->row);
    free(j);
}

void tr_jump_programs_free(JumpPrograms *w)
{
    if (!w) return;
    tr_program_free(w->program);
    tr_bounds_free(w->bounds);
    for (uint32_t k = 0; w->words && k < w->count; k++) free(w->words[k]);
    free(w->words);
    free(w->rounds);
    free(w);
}

void tr_chart_programs_free(ChartPrograms *c)
{
    if (!c) return;
    tr_program *const all[] = {c->rates,      c->columns, c->residuals,      c->phi,
                               c->projection, c->kkt,     c->accelerations,  c->sides,
                               c->watch,      c->tangent, c->column_tangent, c->projection_tangent};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tr_program_free(all[i]);
    free_jacobian(c->jacobian);
    tr_jump_programs_free(c->jumps);
    free((void *)c->partition.row);
    free((void *)c->partition.antagonist);
    free(c->place);
    free(c->watched.others);
    free(c->key.at);
    free(c);
}
