// SPDX-License-Identifier: Apache-2.0
// What runs watch, from what the rates are made of. Rows that are scaled by s and velocities by
// 1/sqrt(M_ii) have the pivots s_k P_k / sqrt(M_dd), and what the elimination leaves of them does
// not depend on s (T65):
//
//   size_i^2 = sum_j G_ij^2 / M_jj      tilt^2 = max_k M_dd max_j H_kj^2 / M_jj
//
// with M_jj = 1 for what has no mass. No matrix is eliminated for it but the one that the rates
// eliminate.
#include "expr/forest.h"
#include "plan/chart_programs.h"
#include "plan/switch.h"
#include "program/program.h"

#include <assert.h>
#include <stdlib.h>

typedef struct Metric {
    uint32_t count;     // velocities
    uint32_t *velocity; // as inputs
    Expr *mass, *inverse;
} Metric;

// The diagonal of M
static void take_masses(System *s, size_t n, Expr *mass)
{
    char room[64];
    const Output *M = tr_system_output(s, text_of(tr_system_inner(s, "M", room)));
    if (!M) tr_forest_masses(s, mass);
    for (size_t i = 0; M && i < n; i++) mass[i] = M->values[i * n + i];
}

static bool open_metric(Metric *m, System *s, tr_error *err)
{
    const size_t n = tr_system_velocities(s, NULL);
    *m = (Metric){.count = (uint32_t)n};
    m->velocity = calloc(n + 1, sizeof *m->velocity);
    m->mass = calloc(2 * n + 1, sizeof *m->mass);
    const bool good = m->velocity && m->mass;
    if (good) tr_system_velocities(s, m->velocity);
    if (good && s->order != 1) take_masses(s, n, m->mass);
    for (size_t i = 0; good && s->order == 1 && i < n; i++)
        m->mass[i] = number(s->graph, tr_system_unit_mass(s, m->velocity[i]));
    m->inverse = m->mass ? m->mass + n : NULL;
    for (size_t i = 0; good && i < n; i++) {
        const Expr mass = m->mass[i];
        m->mass[i] = choose(less(zero(s->graph), mass), mass, one(s->graph));
        m->inverse[i] = quotient(one(s->graph), m->mass[i]);
    }
    if (!good) tr_fail_memory(err);
    return good;
}

static void close_metric(Metric *m)
{
    free(m->velocity);
    free(m->mass);
}

// Of its size
static Expr square_of(const Metric *m, System *s, Row *row)
{
    Expr sum = zero(s->graph);
    if (!row->slopes) tr_forest_slopes(s, row);
    if (s->graph->failed) return sum;
    for (uint32_t i = 0; i < m->count; i++)
        sum = add(sum, mul(square(row->inner_slopes[i]), m->inverse[i]));
    return sum;
}

static uint32_t place_of(const Metric *m, uint32_t velocity)
{
    uint32_t i = 0;
    while (m->velocity[i] != velocity) i++;
    return i;
}

static void list_pivots(const Metric *m, const System *s, const Partition *p, Exprs *list)
{
    for (uint32_t k = 0; k < p->count; k++) {
        const Expr root = e_sqrt(m->inverse[place_of(m, p->dependent[k])]);
        exprs_add(list, mul(s->rows[p->row[k]].pivot, root));
    }
}

static Expr largest_of(Expr a, Expr b) { return is_zero(a) ? b : tr_build(OP_MAX, a, b, a); }

// Places of velocities that no motion drives, and of those among them that are independent
typedef struct Passive {
    uint32_t *all, *independent, count, independent_count;
} Passive;

static Passive list_passive(const Metric *m, const System *s, const Partition *p)
{
    Passive v = {.all = calloc(2 * (size_t)m->count + 1, sizeof *v.all)};
    if (!v.all) return s->graph->failed = true, v;
    v.independent = v.all + m->count;
    for (uint32_t i = 0; i < m->count; i++) {
        if (is_motion_driven(&s->inputs[m->velocity[i]])) continue;
        v.all[v.count++] = i;
        if (pivot_of(p, m->velocity[i]) == p->count) v.independent[v.independent_count++] = i;
    }
    assert(v.independent_count + p->count == v.count);
    return v;
}

// Of a row of H: max_j H_kj^2 / M_jj
static Expr steepest(const Metric *m, const Passive *v, const Expr *H, Graph *g)
{
    Expr most = zero(g);
    for (uint32_t j = 0; j < v->independent_count; j++) {
        const Expr part = mul(square(H[j]), m->inverse[v->independent[j]]);
        if (!is_zero(part)) most = largest_of(most, part);
    }
    return most;
}

// Columns of H are independent velocities, then speeds; its rows are all velocities that no motion
// drives.
static Expr tilt_of(const Metric *m, const System *s, const Partition *p, const Exprs *H)
{
    const Passive v = list_passive(m, s, p);
    const uint32_t width = v.count ? (uint32_t)(H->count / v.count) : 0;
    assert(v.independent_count <= width);
    Expr tilt = zero(s->graph);
    for (uint32_t i = 0; width && i < v.count; i++) { // nothing may be independent
        if (pivot_of(p, m->velocity[v.all[i]]) == p->count) continue;
        const Expr most = steepest(m, &v, H->at + (size_t)i * width, s->graph);
        const Expr part = mul(m->mass[v.all[i]], most);
        if (!is_zero(part)) tilt = largest_of(tilt, part);
    }
    free(v.all);
    return e_sqrt(tilt);
}

// Rows that are open constrain nothing, and have no size.
static void list_quality(System *s, const ChartPrograms *c, Exprs *list, WatchPlaces *places,
                         tr_error *err)
{
    Metric metric;
    Exprs H = {0};
    if (!open_metric(&metric, s, err)) {
        close_metric(&metric);
        return;
    }
    for (uint32_t i = 0; i < s->row_count; i++)
        exprs_add(list, s->rows[i].is_open ? zero(s->graph) : square_of(&metric, s, &s->rows[i]));
    places->pivots = list->count;
    list_pivots(&metric, s, &c->partition, list);
    places->tilt = list->count;
    tr_system_list(s, "H", &H);
    if (!H.failed) exprs_add(list, tilt_of(&metric, s, &c->partition, &H));
    if (H.failed || s->graph->failed) tr_fail_memory(err);
    tr_exprs_free(&H);
    close_metric(&metric);
}

static void list_surplus(System *s, const ChartPrograms *c, Exprs *list)
{
    for (uint32_t i = 0; i < c->footing->constraints; i++) {
        Row *row = &s->rows[i];
        if (row->is_open || is_pivot(&c->partition, i)) continue;
        exprs_add(list, row->rate);
        exprs_add(list, tr_chart_cancelling(s, row));
    }
}

static bool is_in_y(const ChartPrograms *c, uint32_t input)
{
    for (uint32_t k = 0; k < c->known; k++)
        if (c->place[k] == input) return true;
    return false;
}

static bool list_others(const tr_program *p, const ChartPrograms *c, WatchPlaces *places)
{
    const uint32_t *used = p->used[PART_STATE].at, count = p->used[PART_STATE].count;
    places->others = calloc(count + 1u, sizeof *places->others);
    for (uint32_t i = 0; places->others && i < count; i++)
        if (used[i] && !is_in_y(c, used[i])) places->others[places->other_count++] = used[i];
    return places->others;
}

tr_program *tr_watch_program(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    WatchPlaces *places = &c->watched;
    Exprs list = {0};
    Expr *rates = has_failed(err) ? NULL : calloc(c->own, sizeof *rates);
    if (!rates) return tr_fail_memory(err), NULL;
    tr_chart_rates(s, c, rates);
    for (uint32_t i = 0; i < c->own; i++) exprs_add(&list, rates[i]);
    free(rates);
    places->alarms = list.count;
    for (uint32_t i = 0; i < s->alarm_count; i++) exprs_add(&list, s->alarms[i].margin);
    places->squares = places->pivots = places->tilt = list.count;
    if (s->row_count) list_quality(s, c, &list, places, err);
    places->surplus = list.count;
    list_surplus(s, c, &list);
    places->switches = list.count;
    if (c->of[CHART_SIDES]) tr_switch_margins(plan, s, c, &list, err);
    places->sites = list.count;
    for (uint32_t i = 0; i < s->alarm_count; i++)
        tr_exprs_add(&list, s->alarms[i].place, s->alarms[i].place_count);
    places->count = list.count;
    tr_program *program = tr_program_list(s, &list, c->footing->fold, err);
    if (program && !list_others(program, c, places)) tr_fail_memory(err);
    return program;
}
