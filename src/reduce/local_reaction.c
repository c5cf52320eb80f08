// SPDX-License-Identifier: Apache-2.0
// Reactions along the tree (T184). What is missing in the equation of a speed when it was eliminated,
// e = c_d + h_d . A + sum of S_dj y_j, is borne by its row and by rows that come later (T73). Those
// act on their links: with r the reactions that are known, their wrench goes inward,
//
//   T_i = sum of on r + sum over children of Ad^T T_k,   lambda = (e - g . (S . T) - ...) / pivot
//
// where g are the speeds that d brought along when it was eliminated: d itself, and those before it
// that it is in.
#include "reduce/local.h"

#include <stdlib.h>

typedef struct Bearing {
    Local *l;
    uint32_t column;
    Wrench *own, *total; // by link: of rows that are known
    bool *is_old;
    Motion *A;     // by link, before its own joint
    Expr *lambda;  // by pivot
    Expr *with;    // by unknown: g
} Bearing;

static void find_A(Bearing *b)
{
    const Local *l = b->l;
    for (uint32_t i = 0; i < l->forest->link_count; i++) {
        const ForestLink *link = forest_link(l, i);
        b->A[i] = motion_zero(l->r->graph);
        if (link->parent == NO_LINK) continue;
        const Motion above = tr_with_joint(l, link->parent, b->A[link->parent], b->column);
        b->A[i] = pass_motion(&link->across, above);
    }
}

// e = c_d + h_d . A + sum of S_dj y_j
static Expr missing(const Bearing *b, const Event *e)
{
    const Local *l = b->l;
    Expr sum = add(e->force[b->column], mul(e->d, get(l->y, e->speed, b->column)));
    if (e->link != NO_LINK) sum = add(sum, power_of(b->A[e->link], e->momentum));
    for (uint32_t k = 0; k < e->count; k++)
        sum = add(sum, mul(e->mass[k], get(l->y, e->other[k], b->column)));
    return sum;
}

static void renew_totals(Bearing *b, uint32_t from)
{
    const Forest *f = b->l->forest;
    for (uint32_t i = f->link_count; i-- > from;)
        if (b->is_old[i]) b->total[i] = b->own[i];
    for (uint32_t i = f->link_count; i-- > from;) {
        const uint32_t parent = f->links[i].parent;
        if (parent != NO_LINK && parent >= from && b->is_old[parent])
            b->total[parent] =
                wrench_plus(b->total[parent], pass_wrench(&f->links[i].across, b->total[i]));
        b->is_old[i] = false;
    }
}

// Which speeds d brought along: g_d = 1, and of earlier pivots h . g
static void bring(Bearing *b, uint32_t k)
{
    const Reduction *r = b->l->r;
    for (uint32_t j = 0; j < r->unknowns; j++) b->with[j] = zero(r->graph);
    b->with[r->stages[k].d] = one(r->graph);
    for (uint32_t i = k; i-- > 0;) {
        const Stage *s = &r->stages[i];
        Expr sum = zero(r->graph);
        for (uint32_t j = 0; j < r->unknowns; j++)
            if (!is_zero(s->h[j]) && !is_zero(b->with[j])) sum = add(sum, mul(s->h[j], b->with[j]));
        b->with[s->d] = sum;
    }
}

// What rows that are known take along a speed
static Expr borne_along(Bearing *b, uint32_t k, uint32_t speed)
{
    const Local *l = b->l;
    const Reduction *r = l->r;
    if (l->owner[speed] == NO_LINK) return zero(r->graph);
    const uint32_t i = l->owner[speed], place = r->p[speed];
    const ForestLink *link = forest_link(l, i);
    if (b->is_old[i]) renew_totals(b, i);
    Expr sum = power_of(link->S[place - link->velocity], b->total[i]);
    for (uint32_t m = k + 1; m < r->nD; m++) {
        const Row *row = pivot_row(r, m);
        if (row->base == NO_LINK || is_zero(row->inner_slopes[place])) continue;
        if (tr_is_behind(l->forest, i, row->base))
            sum = add(sum, mul(row->inner_slopes[place], b->lambda[m]));
    }
    return sum;
}

static void bear(Bearing *b, uint32_t k, Expr lambda)
{
    const Local *l = b->l;
    const Row *row = pivot_row(l->r, k);
    b->lambda[k] = row->is_speed ? zero(l->r->graph) : lambda;
    if (row->base == NO_LINK) return;
    b->own[row->base] =
        wrench_plus(b->own[row->base], wrench_scale(b->lambda[k], row_on(row)));
    for (uint32_t i = row->base; i != NO_LINK; i = l->forest->links[i].parent) b->is_old[i] = true;
}

static void solve(Bearing *b)
{
    const Local *l = b->l;
    const Reduction *r = l->r;
    const Event **event = calloc(r->nD + 1u, sizeof *event);
    if (!event) r->graph->failed = true;
    for (uint32_t k = 0; event && k < l->event_count; k++)
        if (l->events[k].stage != NONE) event[l->events[k].stage] = &l->events[k];
    for (uint32_t k = r->nD; event && k-- > 0;) {
        const Stage *s = &r->stages[k];
        Expr sum = missing(b, event[k]);
        bring(b, k);
        for (uint32_t j = 0; j < r->unknowns; j++)
            if (!is_zero(b->with[j])) sum = sub(sum, mul(b->with[j], borne_along(b, k, j)));
        for (uint32_t m = k + 1; m < r->nD; m++)
            if (pivot_row(r, m)->base == NO_LINK) sum = sub(sum, mul(s->column[m], b->lambda[m]));
        bear(b, k, quotient(sum, s->pivot));
    }
    free(event);
}

// The force along a contact that its link was seen from, in the axes of its rows          (T183)
static void add_ground(Bearing *b, const Grounded *g)
{
    Local *l = b->l;
    const Reduction *r = l->r;
    const Rolling *c = &l->forest->rolling[g->rolling];
    Vec F = b->column ? vec_zero(r->graph) : g->F;
    for (uint32_t k = 0; k < g->count; k++)
        F = plus(F, scale(get(l->y, g->speed[k], b->column), g->momentum[k]));
    const Vec W = tr_with_joint(l, c->link, b->A[c->link], b->column).W;
    F = plus(F, cross(W, g->mc));
    const uint32_t axes = r->system->rows[c->rows[0]].base;
    for (uint32_t i = c->link; i != axes; i = forest_link(l, i)->parent)
        F = pass_out(&forest_link(l, i)->across, F);
    for (int k = 0; k < 3; k++) {
        const Expr along = dot(F, row_on(&r->system->rows[c->rows[k]]).F);
        set(r->lambda, c->rows[k], b->column,
            add(get(r->lambda, c->rows[k], b->column), along));
    }
}

bool tr_local_reactions(Local *l)
{
    Reduction *r = l->r;
    const uint32_t links = l->forest->link_count;
    Bearing b = {.l = l};
    b.own = calloc(links + 1u, sizeof *b.own), b.total = calloc(links + 1u, sizeof *b.total);
    b.is_old = calloc(links + 1u, sizeof *b.is_old), b.A = calloc(links + 1u, sizeof *b.A);
    b.lambda = calloc(r->nD + 1u, sizeof *b.lambda);
    b.with = calloc(r->unknowns + 1u, sizeof *b.with);
    const bool good = b.own && b.total && b.is_old && b.A && b.lambda && b.with;
    if (!good) r->graph->failed = true;
    r->lambda = tr_matrix(r->graph, r->system->row_count, l->force.columns);
    for (; good && b.column < l->force.columns; b.column++) {
        for (uint32_t i = 0; i < links; i++)
            b.own[i] = b.total[i] = wrench_zero(r->graph), b.is_old[i] = false;
        find_A(&b);
        solve(&b);
        for (uint32_t k = 0; k < r->nD; k++)
            if (!pivot_row(r, k)->is_speed) set(r->lambda, r->partition->row[k], b.column, b.lambda[k]);
        for (uint32_t k = 0; k < l->grounded_count; k++) add_ground(&b, &l->grounded[k]);
    }
    free(b.own), free(b.total), free(b.is_old), free(b.A), free(b.lambda), free(b.with);
    if (!r->graph->failed) tr_mix_reactions(r, r->lambda);
    return !r->graph->failed;
}
