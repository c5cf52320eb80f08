// SPDX-License-Identifier: Apache-2.0
// What runs watch, from what the rates are made of. Rows that are scaled by s and velocities by
// 1/sqrt(M_ii) have the pivots s_k P_k / sqrt(M_dd), and what the elimination leaves of them does
// not depend on s (T65):
//
//   size_i^2 = sum_j G_ij^2 / M_jj      tilt^2 = max_k M_dd max_j H_kj^2 / M_jj
//
// with M_jj = 1 for what has no mass. No matrix is eliminated for it but the one that the rates
// eliminate. Of many velocities slopes are as many as their square; what rows take from the motion
// of a link is measured by one symmetric matrix that is carried outward (T160):
//
//   size_i^2 = on . K on,   K_link = Ad K_parent Ad^T + sum_j S_j S_j^T / M_jj
#include "expr/forest.h"
#include "plan/chart_programs.h"
#include "plan/stance_numbers.h"
#include "plan/switch.h"
#include "program/program.h"

#include <assert.h>
#include <stdlib.h>

typedef struct Spread { // a symmetric matrix, by columns
    Motion column[6];
} Spread;

typedef struct Metric {
    uint32_t count;     // velocities
    uint32_t *velocity; // as inputs
    Expr *mass, *inverse;
    Spread *spread; // by link: K, where rows are about it; NULL where slopes are few
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
    free(m->spread);
}

// ---- sizes along the tree ------------------------------------------------------------------

static Motion row_of(const Spread *K, int k)
{
    Expr at[6];
    for (int i = 0; i < 6; i++) at[i] = motion_at(K->column[i], k);
    return (Motion){vec(at[0], at[1], at[2]), vec(at[3], at[4], at[5])};
}

// What is above the diagonal is below it, too.
static void mirror(Spread *K)
{
    for (int i = 0; i < 6; i++)
        for (int k = i + 1; k < 6; k++)
            *motion_place(&K->column[i], k) = motion_at(K->column[k], i);
}

// Ad K Ad^T
static Spread pass_spread(const Passage *across, const Spread *K)
{
    Spread half, out;
    for (int k = 0; k < 6; k++) half.column[k] = pass_motion(across, K->column[k]);
    for (int k = 0; k < 6; k++) out.column[k] = pass_motion(across, row_of(&half, k));
    mirror(&out);
    return out;
}

static void spread_outward(Metric *m, const System *s, const bool *is_met)
{
    const Forest *f = s->forest;
    for (uint32_t i = 0; i < f->link_count; i++) {
        const ForestLink *link = &f->links[i];
        Spread *K = &m->spread[i];
        if (!is_met[i]) continue;
        for (int k = 0; k < 6; k++) K->column[k] = motion_zero(s->graph);
        if (link->parent != NO_LINK) *K = pass_spread(&link->across, &m->spread[link->parent]);
        for (uint32_t j = 0; j < link->velocity_count; j++) {
            const Motion S = link->S[j], part = motion_scale(m->inverse[link->velocity + j], S);
            for (int k = 0; k < 6; k++)
                K->column[k] = motion_plus(K->column[k], motion_scale(motion_at(S, k), part));
            mirror(K);
        }
    }
}

// For the links that rows are about, and those before them
static void open_spread(Metric *m, System *s)
{
    const Forest *f = s->forest;
    if (!tr_stance_goes_along(s)) return;
    bool *is_met = calloc(f->link_count + 1u, sizeof *is_met);
    m->spread = calloc(f->link_count + 1u, sizeof *m->spread);
    if (!is_met || !m->spread) s->graph->failed = true;
    for (uint32_t i = 0; i < s->row_count && !s->graph->failed; i++)
        for (uint32_t k = s->rows[i].base; k != NO_LINK && !is_met[k]; k = f->links[k].parent)
            is_met[k] = true;
    if (!s->graph->failed) spread_outward(m, s, is_met);
    free(is_met);
}

// on . K on; where terms cancel to rounding it is nothing
static Expr spread_along(const Row *row, const Spread *K, Graph *g)
{
    Expr own = zero(g), mixed = zero(g);
    for (int i = 0; i < 6; i++) {
        own = add(own, mul(square(row->on[i]), motion_at(K->column[i], i)));
        for (int k = i + 1; k < 6; k++)
            mixed = add(mixed, mul(mul(row->on[i], row->on[k]), motion_at(K->column[k], i)));
    }
    if (is_zero(mixed)) return own;
    const Expr all = add(own, add(mixed, mixed));
    return choose(less(mul(number(g, 1e-12), own), all), all, zero(g));
}

static Expr square_along(const Metric *m, const System *s, const Row *row)
{
    Expr sum = zero(s->graph);
    if (row->base != NO_LINK) sum = spread_along(row, &m->spread[row->base], s->graph);
    if (!row->inner_slopes) return sum;
    for (uint32_t k = 0; k < m->count; k++)
        if (!is_zero(row->inner_slopes[k]) && !tr_stance_is_before(s, row, k))
            sum = add(sum, mul(square(row->inner_slopes[k]), m->inverse[k]));
    return sum;
}

// Of its size
static Expr square_of(const Metric *m, System *s, Row *row)
{
    Expr sum = zero(s->graph);
    if (m->spread) return square_along(m, s, row);
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
    open_spread(&metric, s);
    for (uint32_t i = 0; i < s->row_count && !s->graph->failed; i++)
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
