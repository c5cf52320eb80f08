// SPDX-License-Identifier: Apache-2.0
// What a flow evaluates in one chart (T82): its rates, the columns of its record, residuals of
// constraints, what positions are projected onto, and the terms of Gauss's principle. What runs
// watch is in chart_watch.c.
#include "plan/chart_programs.h"

#include "expr/derivative.h"
#include "expr/forest.h"
#include "plan/covariance.h"
#include "plan/sensitivity.h"
#include "plan/switch.h"

#include <assert.h>
#include <stdlib.h>

// ---- rates and columns ---------------------------------------------------------------------

static void find_places(const System *s, ChartPrograms *c)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (is_placed(&s->inputs[i]) && !s->inputs[i].definition.id) c->place[count++] = i;
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

static void list_rates(const System *s, const ChartPrograms *c, uint32_t count, Exprs *list)
{
    Expr *rates = calloc(c->own, sizeof *rates);
    if (rates) tr_chart_rates(s, c, rates);
    if (rates)
        tr_exprs_add(list, rates, count);
    else
        list->failed = true;
    free(rates);
}

static tr_program *compile_rates(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    (void)plan;
    Exprs rates = {0};
    list_rates(s, c, c->own, &rates);
    return tr_program_list(s, &rates, c->footing->fold, err);
}

static tr_program *compile_motion(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    (void)plan;
    Exprs rates = {0};
    list_rates(s, c, c->positions, &rates);
    return rates.count || rates.failed ? tr_program_list(s, &rates, c->footing->fold, err) : NULL;
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

static tr_program *compile_columns(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    (void)plan;
    Exprs values = {0};
    tr_chart_columns(s, &values, NULL);
    return tr_program_list(s, &values, c->footing->fold, err);
}

// Behind what rows show: so what is sampled is that to the bit.
static tr_program *compile_samples(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    (void)plan;
    Exprs values = {0};
    tr_chart_columns(s, &values, NULL);
    tr_system_list(s, "samples", &values);
    return tr_program_list(s, &values, c->footing->fold, err);
}

static void list_accelerations(const System *s, Exprs *list)
{
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_VELOCITY) exprs_add(list, s->inputs[i].rate);
}

static tr_program *compile_accelerations(const Plan *plan, System *s, ChartPrograms *c,
                                         tr_error *err)
{
    (void)plan;
    Exprs rates = {0};
    list_accelerations(s, &rates);
    return rates.count || rates.failed ? tr_program_list(s, &rates, c->footing->fold, err) : NULL;
}

// ---- constraints ---------------------------------------------------------------------------

Expr tr_chart_cancelling(System *s, Row *row)
{
    const Expr little = number(s->graph, 1e-5);
    Expr sum = e_abs(row->rest);
    if (!row->slopes) tr_forest_slopes(s, row);
    if (s->graph->failed) return sum;
    uint32_t v = 0;
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (s->inputs[i].kind != TR_VELOCITY) continue;
        const Expr velocity = s->inputs[i].symbol;
        sum = add(sum, e_abs(mul(row->slopes[v++], velocity)));
        sum = add(sum, mul(little, e_abs(velocity)));
    }
    return sum;
}

static bool is_residual(const Row *row) { return row->position.id && !row->is_open; }

// Of what flies nothing depends on where it is.
static void list_tangency(const System *s, const ChartPrograms *c, Exprs *list)
{
    for (uint32_t i = 0; i < s->touching_count; i++)
        if (!is_in_flight(c->footing, &s->touchings[i]))
            tr_exprs_add(list, s->touchings[i].tangency, 2);
}

static tr_program *compile_residuals(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    (void)plan;
    const uint32_t rows = c->footing->constraints;
    Exprs values = {0};
    for (uint32_t i = 0; i < rows; i++)
        if (is_residual(&s->rows[i])) exprs_add(&values, s->rows[i].position);
    list_tangency(s, c, &values);
    for (uint32_t i = 0; i < rows; i++)
        exprs_add(&values, s->rows[i].is_open ? zero(s->graph) : s->rows[i].rate);
    for (uint32_t i = 0; i < rows; i++) { // of rows that others are compared with
        const bool counts = !s->rows[i].is_open && !is_pivot(&c->partition, i);
        exprs_add(&values, counts ? tr_chart_cancelling(s, &s->rows[i]) : zero(s->graph));
    }
    return rows ? tr_program_list(s, &values, c->footing->fold, err) : NULL;
}

void tr_chart_phi(const System *s, const ChartPrograms *c, Exprs *list)
{
    const Partition *p = &c->partition;
    for (uint32_t k = 0; k < p->count; k++)
        if (s->rows[p->row[k]].position.id) exprs_add(list, s->rows[p->row[k]].position);
    list_tangency(s, c, list);
}

static tr_program *compile_phi(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    (void)plan;
    Exprs phi = {0};
    tr_chart_phi(s, c, &phi);
    return phi.count || phi.failed ? tr_program_list(s, &phi, c->footing->fold, err) : NULL;
}

// With their slopes along those of y
static tr_program *compile_projection(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    (void)plan;
    Exprs phi = {0};
    tr_chart_phi(s, c, &phi);
    const size_t n = c->positions, m = phi.count;
    Expr *y = calloc(n + n * m + 1, sizeof *y), *slopes = y ? y + n : NULL;
    for (uint32_t k = 0; y && k < n; k++) y[k] = s->inputs[c->place[k]].symbol;
    if (!y || phi.failed || (m && !tr_dense_jacobian(s->graph, phi.at, m, y, n, slopes)))
        tr_fail_memory(err);
    else
        tr_exprs_add(&phi, slopes, n * m);
    free(y);
    if (m && !has_failed(err)) return tr_program_list(s, &phi, c->footing->fold, err);
    tr_exprs_free(&phi);
    return NULL;
}

// c, Q, G' v + g' of the rows as they are eliminated, and v' by inner velocity; M, where that of
// the stance is another
static void list_kkt(const System *s, const ChartPrograms *c, Exprs *list)
{
    if (!c->footing->constraints) return;
    tr_system_list(s, "c", list);
    tr_system_list(s, "Q", list);
    for (uint32_t i = 0; i < c->footing->constraints; i++) exprs_add(list, s->rows[i].inner_bias);
    tr_system_list(s, "vdot", list);
    if (s->order == 1) tr_system_list(s, "M", list);
}

static tr_program *compile_kkt(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    (void)plan;
    Exprs list = {0};
    list_kkt(s, c, &list);
    return list.count || list.failed ? tr_program_list(s, &list, c->footing->fold, err) : NULL;
}

// ---- one at a time -------------------------------------------------------------------------

// What programs are made from is there before the first of them, whichever it is: so those that
// only pick from it leave it as it is, and the others work on a copy.
static bool resolve_all(System *s, const ChartPrograms *c, tr_error *err)
{
    Exprs all = {0};
    list_rates(s, c, c->own, &all);
    tr_chart_columns(s, &all, NULL);
    list_accelerations(s, &all);
    tr_chart_phi(s, c, &all);
    list_kkt(s, c, &all);
    if (!all.failed) tr_system_resolve(s, all.at, all.count);
    if (all.failed || s->graph->failed) tr_graph_refuse(s->graph, err);
    tr_exprs_free(&all);
    return !has_failed(err);
}

// The plan keeps one reduced system, that of the chart that was asked last: another is made again
// from its key, and the same.
static System *reduced_system(Plan *plan, const ChartPrograms *c, tr_error *err)
{
    if (plan->reduced_for == c) return plan->reduced;
    tr_plan_forget(plan);
    System *s = tr_plan_run_system(plan, c->footing, &c->partition, err);
    if (s && resolve_all(s, c, err)) {
        plan->reduced = s, plan->reduced_for = c;
        return s;
    }
    tr_system_free(s);
    return NULL;
}

System *tr_chart_system(Plan *plan, const ChartPrograms *c, tr_error *err)
{
    const System *s = reduced_system(plan, c, err);
    return s ? tr_system_copy(s, err) : NULL;
}

typedef struct ProgramRow {
    tr_program *(*compile)(const Plan *plan, System *reduced, ChartPrograms *chart, tr_error *err);
    bool picks;                                                        // expressions that are there
    bool of_rows, of_switches, of_stops, of_sensitivities, of_samples; // where there are some
} ProgramRow;

static const ProgramRow program_rows[CHART_PROGRAMS] = {
    [CHART_RATES] = {compile_rates, .picks = true},
    [CHART_MOTION] = {compile_motion, .picks = true},
    [CHART_COLUMNS] = {compile_columns, .picks = true},
    [CHART_ACCELERATIONS] = {compile_accelerations, .picks = true},
    [CHART_RESIDUALS] = {compile_residuals, .of_rows = true},
    [CHART_PHI] = {compile_phi, .picks = true, .of_rows = true},
    [CHART_PROJECTION] = {compile_projection, .of_rows = true},
    [CHART_KKT] = {compile_kkt, .picks = true, .of_rows = true},
    [CHART_SIDES] = {tr_sides_program, .of_switches = true},
    [CHART_WATCH] = {tr_watch_program, .of_rows = true, .of_switches = true, .of_stops = true},
    [CHART_TANGENT] = {tr_tangent_program, .of_sensitivities = true},
    [CHART_COLUMN_TANGENT] = {tr_column_tangent_program, .of_sensitivities = true},
    [CHART_PROJECTION_TANGENT] = {tr_projection_tangent_program, .of_sensitivities = true},
    [CHART_SAMPLES] = {compile_samples, .of_samples = true},
    [CHART_NOISE] = {.compile = tr_noise_program},
    [CHART_SPREAD] = {.compile = tr_spread_program},
    [CHART_SEAM] = {tr_seam_program, .of_rows = true},
    [CHART_FIXES] = {.compile = tr_fix_program},
};

static bool is_idle(const Plan *plan, const ChartPrograms *c, ChartProgram which)
{
    const ProgramRow *row = &program_rows[which];
    const bool rows = row->of_rows && plan->system->row_count;
    const bool switches = row->of_switches && (which == CHART_SIDES ? tr_plan_switch_count(plan) > 0
                                                                    : c->of[CHART_SIDES] != NULL);
    const bool sensitivities = row->of_sensitivities && plan->sensitivity;
    const bool clocked = row->of_samples && plan->system->clocked_count;
    const bool always =
        !row->of_samples && !row->of_rows && !row->of_switches && !row->of_sensitivities;
    const bool stops = row->of_stops && tr_system_is_watched(plan->system);
    return !rows && !switches && !stops && !sensitivities && !clocked && !always;
}

static tr_program *compile(Plan *plan, ChartPrograms *c, ChartProgram which, tr_error *err)
{
    const ProgramRow *row = &program_rows[which];
    System *base = reduced_system(plan, c, err), *own = NULL;
    if (base && !row->picks) own = tr_system_copy(base, err);
    if (!base || has_failed(err)) return NULL;
    const uint32_t nodes = base->graph->count;
    tr_program *program = row->compile(plan, own ? own : base, c, err);
    assert(base->graph->count == nodes || base->graph->failed); // whoever asks next finds the same
    tr_system_free(own);
    if (!has_failed(err)) return program;
    tr_plan_forget(plan); // it may have failed
    tr_program_free(program);
    return NULL;
}

static void make_one(Plan *plan, ChartPrograms *c, ChartProgram which, tr_error *err)
{
    if (c->is_made[which] || has_failed(err)) return;
    if (!is_idle(plan, c, which)) c->of[which] = compile(plan, c, which, err);
    c->is_made[which] = !has_failed(err);
}

void tr_chart_make(Plan *plan, ChartPrograms *c, ChartProgram which, tr_error *err)
{
    if (which == CHART_WATCH) make_one(plan, c, CHART_SIDES, err); // which it follows
    make_one(plan, c, which, err);
}

// ---- life ----------------------------------------------------------------------------------

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

static void count_positions(const System *s, ChartPrograms *c)
{
    const Partition *p = &c->partition;
    for (uint32_t i = 0; i < c->footing->constraints; i++) c->holonomic += is_residual(&s->rows[i]);
    for (uint32_t k = 0; k < p->count; k++) c->projected += s->rows[p->row[k]].position.id != 0;
    for (uint32_t i = 0; i < s->touching_count; i++) {
        const uint32_t rows = is_in_flight(c->footing, &s->touchings[i]) ? 0 : 2;
        c->holonomic += rows, c->projected += rows;
    }
}

ChartPrograms *tr_chart_programs_new(Plan *plan, const Footing *footing, const Partition *partition,
                                     uint32_t surplus, tr_error *err)
{
    ChartPrograms *c = calloc(1, sizeof *c);
    if (!c) return tr_fail_memory(err), NULL;
    c->footing = footing;
    c->place = calloc(plan->system->input_count + 1u, sizeof *c->place);
    const bool has_room = c->place && copy_partition(c, partition, surplus);
    if (!has_room) tr_fail_memory(err);
    tr_plan_forget(plan);
    System *s = has_room ? tr_plan_run_system(plan, footing, &c->partition, err) : NULL;
    if (s) {
        find_places(s, c);
        count_positions(s, c);
        if (resolve_all(s, c, err)) {
            plan->reduced = s, plan->reduced_for = c;
            return c;
        }
    }
    tr_system_free(s);
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
    for (int i = 0; i < CHART_PROGRAMS; i++) tr_program_free(c->of[i]);
    free_jacobian(c->jacobian);
    tr_jump_programs_free(c->jumps);
    free((void *)c->partition.row);
    free((void *)c->partition.antagonist);
    free(c->place);
    free(c->watched.others);
    free(c->key.at);
    free(c);
}
