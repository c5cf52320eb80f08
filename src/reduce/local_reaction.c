// SPDX-License-Identifier: Apache-2.0
// Reactions along the tree (T184). What is missing in the equation of a speed when it was
// eliminated, e = c_d + h_d . A + sum of S_dj y_j, is borne by its row and by rows that come later
// (T73). Those act on their links: with r the reactions that are known, their wrench goes inward,
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
    Motion *A;    // by link, before its own joint
    Expr *lambda; // by pivot
    Expr *with;   // by unknown: g
    // By pivot: the speeds that it brought along
    struct Brought {
        uint32_t *speed, count;
        Expr *g;
    } * brought;
    const Event **event; // by pivot
    const Row *load;     // that bears -1; or NULL
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
    Reduction *r = b->l->r;
    struct Brought *out = &b->brought[k];
    for (uint32_t j = 0; j < r->unknowns; j++) b->with[j] = zero(r->graph);
    b->with[r->stages[k].d] = one(r->graph);
    out->count = 1;
    for (uint32_t i = k; i-- > 0;) {
        const Stage *s = &r->stages[i];
        Expr sum = zero(r->graph);
        for (uint32_t n = 0; n < s->near_count; n++)
            sum = add(sum, mul(s->h[s->near[n]], b->with[s->near[n]]));
        b->with[s->d] = sum;
        out->count += !is_zero(sum);
    }
    out->speed = tr_reduction_room(r, out->count);
    out->g = tr_reduction_expressions(r, out->count);
    out->count = 0;
    for (uint32_t j = 0; !r->graph->failed && j < r->unknowns; j++)
        if (!is_zero(b->with[j])) out->speed[out->count] = j, out->g[out->count++] = b->with[j];
}

// Of a velocity behind the base of a row, or of any where it has none
static Expr slope_of(const Local *l, const Row *row, uint32_t place)
{
    if (base_of(l, row) == NO_LINK) return row->inner_slopes[place];
    for (uint32_t k = 0; k < row->behind_count; k++)
        if (row->behind[k].place == place) return row->behind[k].slope;
    return zero(l->r->graph);
}

// What rows from one on take along a velocity, as far as they are rows of links
static Expr borne_at(Bearing *b, uint32_t first, uint32_t place)
{
    const Local *l = b->l;
    const Reduction *r = l->r;
    const uint32_t i = l->link_of[place];
    const ForestLink *link = forest_link(l, i);
    if (b->is_old[i]) renew_totals(b, i);
    Expr sum = power_of(link->S[place - link->velocity], b->total[i]);
    if (b->load) sum = sub(sum, slope_of(l, b->load, place));
    for (uint32_t m = first; m < r->nD; m++) {
        const Row *row = is_zero(b->lambda[m]) ? NULL : pivot_row(r, m);
        if (row && base_of(l, row) != NO_LINK)
            sum = add(sum, mul(slope_of(l, row, place), b->lambda[m]));
    }
    return sum;
}

// The same of rows behind pivot k, along a speed
static Expr borne_along(Bearing *b, uint32_t k, uint32_t speed)
{
    const Local *l = b->l;
    if (l->owner[speed] == NO_LINK) return zero(l->r->graph);
    return borne_at(b, k + 1, l->r->p[speed]);
}

static void make_old(Bearing *b, uint32_t i)
{
    for (; i != NO_LINK; i = b->l->forest->links[i].parent) b->is_old[i] = true;
}

static void add_wrench(Bearing *b, const Row *row, Expr lambda)
{
    if (base_of(b->l, row) == NO_LINK) return;
    b->own[row->base] = wrench_plus(b->own[row->base], wrench_scale(lambda, row_on(row)));
    make_old(b, row->base);
}

// A link that was projected is not in the fronts: what it takes acts on it like a reaction, for all
// that was eliminated before its motion was taken
static void add_projected(Bearing *b, uint32_t taken)
{
    const Local *l = b->l;
    for (uint32_t i = 0; i < l->forest->link_count && !b->load; i++) {
        const Met *m = &l->met[i];
        if (!m->is_projected || m->taken != taken) continue;
        Motion A = motion_zero(l->r->graph);
        for (uint32_t k = 0; k < m->count; k++)
            A = motion_plus(A, motion_scale(get(l->y, m->speed[k], b->column), m->column[k]));
        Wrench f = rigid_apply(forest_link(l, i)->inertia, A);
        if (!b->column) f = wrench_plus(f, m->f);
        b->own[i] = wrench_minus(b->own[i], f);
        make_old(b, i);
    }
}

static void bear(Bearing *b, uint32_t k, Expr lambda)
{
    const Row *row = pivot_row(b->l->r, k);
    b->lambda[k] = row->is_speed ? zero(b->l->r->graph) : lambda;
    add_wrench(b, row, b->lambda[k]);
}

// What pivots bear, from the last to the first: of what is missing, or in place of a row that bears
// nothing
static void solve(Bearing *b)
{
    const Local *l = b->l;
    const Reduction *r = l->r;
    for (uint32_t i = 0; i < l->forest->link_count; i++)
        b->own[i] = b->total[i] = wrench_zero(r->graph), b->is_old[i] = false;
    if (b->load) add_wrench(b, b->load, neg(one(r->graph)));
    for (uint32_t k = r->nD; k-- > 0;) {
        const Stage *s = &r->stages[k];
        const struct Brought *with = &b->brought[k];
        add_projected(b, k + 1);
        Expr sum = b->load ? zero(r->graph) : missing(b, b->event[k]);
        for (uint32_t n = 0; n < with->count; n++)
            sum = sub(sum, mul(with->g[n], borne_along(b, k, with->speed[n])));
        for (uint32_t m = k + 1; m < r->nD; m++)
            if (!is_zero(b->lambda[m]) && base_of(l, pivot_row(r, m)) == NO_LINK)
                sum = sub(sum, mul(s->column[m], b->lambda[m]));
        bear(b, k, quotient(sum, s->pivot));
    }
    add_projected(b, 0);
}

static uint32_t pivot_of_row(const Reduction *r, uint32_t row)
{
    uint32_t k = 0;
    while (r->partition->row[k] != row) k++;
    return k;
}

// The force along a contact that its link was seen from                                   (T183)
static Vec ground_force(const Bearing *b, const Grounded *g)
{
    const Local *l = b->l;
    const Rolling *c = &l->forest->rolling[g->rolling];
    Vec F = b->column ? vec_zero(l->r->graph) : g->F;
    for (uint32_t k = 0; k < g->count; k++)
        F = plus(F, scale(get(l->y, g->speed[k], b->column), g->momentum[k]));
    const Vec W = tr_with_joint(l, c->link, b->A[c->link], b->column).W;
    return plus(F, cross(W, g->mc));
}

// It is borne, in the axes of the contact's rows, and drives the wheel where that is driven.
static void add_ground(const Bearing *b, const Grounded *g, Matrix u)
{
    const Local *l = b->l;
    const Reduction *r = l->r;
    const Rolling *c = &l->forest->rolling[g->rolling];
    Vec F = ground_force(b, g);
    for (uint32_t j = 0; j < r->na && r->torque.entries; j++)
        if (r->a[j] == c->spin)
            set(r->torque, j, b->column, add(get(r->torque, j, b->column), dot(c->runs, F)));
    const uint32_t axes = r->system->rows[c->rows[0]].base;
    for (uint32_t i = c->link; i != axes; i = forest_link(l, i)->parent)
        F = pass_out(&forest_link(l, i)->across, F);
    for (int k = 0; k < 3; k++) {
        const uint32_t pivot = pivot_of_row(r, c->rows[k]);
        const Expr along = dot(F, row_on(&r->system->rows[c->rows[k]]).F);
        set(u, pivot, b->column, add(get(u, pivot, b->column), along));
    }
}

static bool make_room(Bearing *b)
{
    Reduction *r = b->l->r;
    const uint32_t links = b->l->forest->link_count;
    b->own = calloc(links + 1u, sizeof *b->own), b->total = calloc(links + 1u, sizeof *b->total);
    b->is_old = calloc(links + 1u, sizeof *b->is_old), b->A = calloc(links + 1u, sizeof *b->A);
    b->lambda = calloc(r->nD + 1u, sizeof *b->lambda);
    b->with = calloc(r->unknowns + 1u, sizeof *b->with);
    b->brought = calloc(r->nD + 1u, sizeof *b->brought);
    b->event = calloc(r->nD + 1u, sizeof *b->event);
    if (!b->own || !b->total || !b->is_old || !b->A || !b->lambda || !b->with || !b->brought ||
        !b->event)
        r->graph->failed = true;
    return !r->graph->failed;
}

static void release(Bearing *b)
{
    free(b->own), free(b->total), free(b->is_old), free(b->A);
    free(b->lambda), free(b->with), free(b->brought), free((void *)b->event);
}

// K: what pivots bear in place of each row that is none                             (T64, T74)
static void find_dependence(Bearing *b)
{
    Reduction *r = b->l->r;
    r->K = tr_matrix(r->graph, r->nD, r->nR);
    for (uint32_t j = 0; j < r->nR && !r->graph->failed; j++) {
        b->load = &r->system->rows[r->R[j]];
        solve(b);
        for (uint32_t k = 0; k < r->nD; k++) set(r->K, k, j, b->lambda[k]);
    }
    b->load = NULL;
}

// tau = S . (f + sum of h_k y_k + J A) - Q - what rows bear along it                       (T76)
static void find_torques(Bearing *b)
{
    const Local *l = b->l;
    Reduction *r = l->r;
    for (uint32_t j = 0; j < r->na && !r->graph->failed; j++) {
        const Driving *d = &l->driving[j];
        Expr sum = b->column ? neg(get(l->L, d->place, b->column - 1))
                             : sub(d->force, get(r->Q, d->place, 0));
        for (uint32_t k = 0; k < d->count; k++)
            sum = add(sum, mul(d->mass[k], get(l->y, d->speed[k], b->column)));
        sum = add(sum, power_of(b->A[d->link], d->momentum));
        sum = sub(sum, borne_at(b, 0, d->place));
        for (uint32_t m = 0; m < r->nD; m++) {
            const Row *row = pivot_row(r, m);
            if (base_of(l, row) == NO_LINK)
                sum = sub(sum, mul(row->inner_slopes[d->place], b->lambda[m]));
        }
        set(r->torque, j, b->column, sum);
    }
}

static void find_borne(Bearing *b, Matrix u)
{
    const Local *l = b->l;
    for (b->column = 0; b->column < u.columns && !l->r->graph->failed; b->column++) {
        find_A(b);
        solve(b);
        for (uint32_t k = 0; k < l->r->nD; k++) set(u, k, b->column, b->lambda[k]);
        if (l->r->torque.entries) find_torques(b);
        for (uint32_t k = 0; k < l->grounded_count; k++) add_ground(b, &l->grounded[k], u);
    }
}

// Whether rows that are left over may bear something along driven joints
static bool may_oppose(const Reduction *r)
{
    return r->nR && (!r->partition->antagonist || tr_has_antagonists(r));
}

bool tr_local_reactions(Local *l)
{
    Reduction *r = l->r;
    Bearing b = {.l = l};
    Matrix u = tr_matrix(r->graph, r->nD, l->force.columns);
    if (r->na && !may_oppose(r)) r->torque = tr_matrix(r->graph, r->na, u.columns);
    if (make_room(&b)) {
        for (uint32_t k = 0; k < l->event_count; k++)
            if (l->events[k].stage != NONE) b.event[l->events[k].stage] = &l->events[k];
        for (uint32_t k = 0; k < r->nD; k++) bring(&b, k);
        find_borne(&b, u);
        find_dependence(&b);
    }
    release(&b);
    if (!r->graph->failed) tr_distribute(r, u);
    return !r->graph->failed;
}
