// SPDX-License-Identifier: Apache-2.0
// Outward along the tree (T181). Each link carries its motion by the speeds that are left when it
// is met, and its acceleration where none of these begins to change:
//
//   v_i = sum of column_k speed_k + rest,   column -> Ad column,  S of its own joint
//
// A row is on . v_i and the slopes of joints behind that link: so it is short however deep the link
// is, as long as rows before it have eliminated what stands above.
#include "reduce/local.h"

#include <stdlib.h>

// ---- the forest ----------------------------------------------------------------------------

// Parents come first, so the later of two cannot carry the other.
uint32_t tr_common_link(const Forest *forest, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a == NO_LINK || b == NO_LINK) return NO_LINK;
        if (a > b)
            a = forest->links[a].parent;
        else
            b = forest->links[b].parent;
    }
    return a;
}

Expr tr_turning_of_base(const Local *l, uint32_t place)
{
    const ForestLink *link = forest_link(l, l->link_of[place]);
    if (!link->is_base) return zero(l->r->graph);
    return dot(link->S[place - link->velocity].V, cross(link->v.W, link->v.V));
}

Expr tr_seen_acceleration(const Local *l, uint32_t place)
{
    return add(acceleration_of(l, place), tr_turning_of_base(l, place));
}

// Gravity is an acceleration of the world upwards.
Accelerated tr_pass_outward(const Local *l, uint32_t i, const Accelerated *above, Motion more)
{
    const ForestLink *link = forest_link(l, i);
    const Vec still = vec_zero(l->r->graph);
    const Accelerated world = {still, still, mat_zero(l->r->graph)};
    const bool is_root = link->parent == NO_LINK;
    Vec Wc = still;
    if (!is_root && !link->is_carried)
        Wc = pass_in(&link->across, forest_link(l, link->parent)->v.W);
    Accelerated at = pass_acceleration(&link->across, is_root ? &world : above, Wc,
                                       turning_motion(l, link), more, link->frame.W);
    if (is_root) at.a = plus(link->up, at.a);
    return at;
}

// ---- links ---------------------------------------------------------------------------------

static uint32_t place_of(Local *l, Met *m, uint32_t speed)
{
    uint32_t k = 0;
    while (k < m->count && m->speed[k] != speed) k++;
    if (k < m->count) return k;
    uint32_t capacity = m->capacity;
    if (!tr_grow((void **)&m->speed, &capacity, m->count + 1, sizeof *m->speed) ||
        !tr_grow((void **)&m->column, &m->capacity, m->count + 1, sizeof *m->column)) {
        l->r->graph->failed = true;
        return NONE;
    }
    m->speed[m->count] = speed;
    m->column[m->count] = motion_zero(l->r->graph);
    return m->count++;
}

static bool is_still_motion(Motion v) { return is_vec_zero(v.V) && is_vec_zero(v.W); }

static void add_column(Local *l, Met *m, uint32_t speed, Motion v)
{
    if (is_still_motion(v)) return;
    const uint32_t k = place_of(l, m, speed);
    if (k != NONE) m->column[k] = motion_plus(m->column[k], v);
}

static bool is_taken(const Local *l, uint32_t speed)
{
    return l->stage_of[speed] != NONE && l->stage_of[speed] < l->taken;
}

// v_d = h . v + k and v_d' = h . v' + b in place of what was eliminated since
static void renew(Local *l, uint32_t i)
{
    const Reduction *r = l->r;
    Met *m = &l->met[i];
    for (uint32_t k = 0; k < m->count && !r->graph->failed;) {
        if (!is_taken(l, m->speed[k])) {
            k++;
            continue;
        }
        const Stage *s = &r->stages[l->stage_of[m->speed[k]]];
        const Motion v = m->column[k];
        m->count--;
        m->speed[k] = m->speed[m->count], m->column[k] = m->column[m->count];
        for (uint32_t n = 0; n < s->near_count; n++)
            add_column(l, m, s->near[n], motion_scale(s->h[s->near[n]], v));
        m->rest = motion_plus(m->rest, motion_scale(s->k, v));
        m->at.a = plus(m->at.a, scale(s->b, v.V));
        m->at.alpha = plus(m->at.alpha, scale(s->b, v.W));
        m->at.D = point_matrix(m->at.alpha, forest_link(l, i)->frame.W);
        k = 0;
    }
    m->taken = l->taken;
}

static void meet(Local *l, uint32_t i)
{
    Graph *g = l->r->graph;
    const ForestLink *link = forest_link(l, i);
    const Met *above = link->parent == NO_LINK ? NULL : &l->met[link->parent];
    Met *m = &l->met[i];
    Motion more = motion_zero(g);
    m->is_met = true;
    m->rest = above ? pass_motion(&link->across, above->rest) : motion_zero(g);
    for (uint32_t k = 0; above && k < above->count; k++)
        add_column(l, m, above->speed[k], pass_motion(&link->across, above->column[k]));
    for (uint32_t k = 0; k < link->velocity_count; k++) {
        const uint32_t place = link->velocity + k, unknown = l->unknown[place];
        if (unknown != NONE) {
            add_column(l, m, unknown, link->S[k]);
            continue;
        }
        m->rest = motion_plus(m->rest, motion_scale(velocity_of(l, place), link->S[k]));
        more = motion_plus(more, motion_scale(tr_seen_acceleration(l, place), link->S[k]));
    }
    m->at = tr_pass_outward(l, i, above ? &above->at : NULL, more);
}

// All links on the way to this one, as things stand now
static void meet_all(Local *l, uint32_t i)
{
    const Forest *f = l->forest;
    uint32_t from = i;
    while (from != NO_LINK && !l->met[from].is_met) from = f->links[from].parent;
    if (from != NO_LINK) renew(l, from);
    while (from != i && !l->r->graph->failed) {
        uint32_t next = i;
        while (f->links[next].parent != from) next = f->links[next].parent;
        meet(l, next);
        renew(l, next);
        from = next;
    }
}

// ---- rows ----------------------------------------------------------------------------------

static void add_entry(Matrix m, uint32_t i, uint32_t j, Expr x)
{
    set(m, i, j, add(get(m, i, j), x));
}

static void take_slope(Local *l, uint32_t k, uint32_t place, Expr slope)
{
    const Reduction *r = l->r;
    const uint32_t unknown = l->unknown[place];
    if (unknown != NONE) {
        add_entry(r->rows, k, unknown, slope);
        return;
    }
    add_entry(r->rest, k, 0, mul(slope, velocity_of(l, place)));
    add_entry(r->bias, k, 0, mul(slope, acceleration_of(l, place)));
}

// Of velocities behind the base of a row, or of all where it has none
static void take_slopes(Local *l, uint32_t k)
{
    const Reduction *r = l->r;
    const Row *row = pivot_row(r, k);
    for (uint32_t j = 0; j < row->behind_count && base_of(l, row) != NO_LINK; j++)
        take_slope(l, k, row->behind[j].place, row->behind[j].slope);
    for (uint32_t place = 0; place < r->nv && base_of(l, row) == NO_LINK; place++) {
        const Expr slope = row->inner_slopes[place];
        if (is_zero(slope)) continue;
        take_slope(l, k, place, slope);
        if (l->unknown[place] != NONE && !l->ways.at_once)
            add_entry(r->bias, k, 0, neg(mul(slope, tr_turning_of_base(l, place))));
    }
}

// on . (V, W) of a link that was met                                                      (T180)
static void take_motion(Local *l, uint32_t k)
{
    const Reduction *r = l->r;
    const Row *row = pivot_row(r, k);
    const Wrench on = row_on(row);
    meet_all(l, row->base);
    if (r->graph->failed) return;
    const Met *m = &l->met[row->base];
    for (uint32_t j = 0; j < m->count; j++)
        add_entry(r->rows, k, m->speed[j], power_of(m->column[j], on));
    add_entry(r->rest, k, 0, power_of(m->rest, on));
    add_entry(r->bias, k, 0,
              power_of(motion(minus(m->at.a, forest_link(l, row->base)->up), m->at.alpha), on));
    add_entry(r->bias, k, 0, row->drift);
}

// What was eliminated before, in a row that only now is met
static void eliminate_taken(Local *l, uint32_t k)
{
    const Reduction *r = l->r;
    for (uint32_t i = 0; i < l->taken; i++) {
        const Stage *s = &r->stages[i];
        const Expr entry = get(r->rows, k, s->d);
        if (is_zero(entry)) continue;
        for (uint32_t n = 0; n < s->near_count; n++)
            add_entry(r->rows, k, s->near[n], mul(entry, s->h[s->near[n]]));
        add_entry(r->rest, k, 0, mul(entry, s->k));
        add_entry(r->bias, k, 0, mul(entry, s->b));
        set(r->rows, k, s->d, zero(r->graph));
    }
}

static void meet_row(Local *l, uint32_t k)
{
    const Reduction *r = l->r;
    const Row *row = pivot_row(r, k);
    l->is_row_met[k] = true;
    set(r->rest, k, 0, row->inner_rest);
    if (base_of(l, row) != NO_LINK)
        take_motion(l, k);
    else
        set(r->bias, k, 0, row->inner_bias);
    take_slopes(l, k);
    for (uint32_t j = 0; j < r->ns; j++)
        if (r->s[j] == k) set(r->rows, k, r->np + j, neg(one(r->graph)));
    eliminate_taken(l, k);
}

// Rows of one link are met together; those without one at the beginning
static void meet_rows(Local *l, uint32_t base)
{
    for (uint32_t k = 0; k < l->r->nD && !l->r->graph->failed; k++)
        if (!l->is_row_met[k] && base_of(l, pivot_row(l->r, k)) == base) meet_row(l, k);
}

// A link whose rows are done, before those of another come
static void renew_last(Local *l, uint32_t k)
{
    const uint32_t base = base_of(l, pivot_row(l->r, k));
    const bool is_last = k + 1 == l->r->nD || base_of(l, pivot_row(l->r, k + 1)) != base;
    if (base != NO_LINK && is_last) renew(l, base);
}

// Links that few speeds move: those that no row is about as well
static void project_links(Local *l)
{
    enum { FEW = 2 };
    for (uint32_t i = 0; i < l->forest->link_count && !l->r->graph->failed; i++) {
        const ForestLink *link = forest_link(l, i);
        Met *m = &l->met[i];
        if (!m->is_met) {
            meet(l, i);
            renew(l, i);
        }
        if (l->r->graph->failed) return;
        m->is_projected = m->count <= FEW;
        if (m->is_projected)
            m->f = inertia_force(link->inertia, &m->at, link->frame.W, link->v.W, link->is_carried);
    }
}

// A link's motion by what is left in the end: v_i = sum of column w, v_p = H w
static void take_columns(Local *l, uint32_t i)
{
    const Reduction *r = l->r;
    const ForestLink *link = forest_link(l, i);
    const Met *above = link->parent == NO_LINK ? NULL : &l->met[link->parent];
    Met *m = &l->met[i];
    m->is_met = m->is_projected = true, m->taken = r->nD;
    for (uint32_t k = 0; above && k < above->count; k++)
        add_column(l, m, above->speed[k], pass_motion(&link->across, above->column[k]));
    for (uint32_t k = 0; k < link->velocity_count; k++) {
        const uint32_t unknown = l->unknown[link->velocity + k];
        for (uint32_t j = 0; unknown != NONE && j < r->kernel; j++)
            add_column(l, m, r->free[j], motion_scale(get(r->H, unknown, j), link->S[k]));
    }
}

static void project_at_once(Local *l)
{
    tr_find_kernel(l->r);
    for (uint32_t i = 0; i < l->forest->link_count && !l->r->graph->failed; i++) take_columns(l, i);
}

bool tr_local_rows(Local *l)
{
    Reduction *r = l->r;
    meet_rows(l, NO_LINK);
    for (uint32_t k = 0; k < r->nD && !r->graph->failed; k++) {
        if (!l->is_row_met[k]) meet_rows(l, base_of(l, pivot_row(r, k)));
        if (r->graph->failed || !tr_take_pivot(r, k)) return false;
        tr_eliminate_from_rows(r, k);
        l->taken = k + 1;
        if (l->ways.projects) renew_last(l, k);
    }
    if (l->ways.projects) project_links(l);
    if (l->ways.at_once && !r->graph->failed) project_at_once(l);
    return !r->graph->failed;
}
