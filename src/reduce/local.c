// SPDX-License-Identifier: Apache-2.0
// Elimination along the tree: the same pivots as in eliminate.c, in the same order, but rows come
// from the motions of links (local_rows.c), and masses from what links hand to their parents
// (local_front.c). Where pivots are near their rows this grows with the number of links alone
// (T181, T182).
//
// A pivot is projected at the link that owns its velocity, or nearer to the base if one before it
// is still to bring that velocity in; what is free gives way where no row needs it any more.
#include "reduce/local.h"
#include "expr/derivative.h"
#include "expr/walk.h"

#include <stdlib.h>

// ---- who belongs where ---------------------------------------------------------------------

static bool make_room(Local *l)
{
    Reduction *r = l->r;
    const Forest *f = l->forest;
    l->owner = tr_reduction_room(r, r->unknowns), l->stage_of = tr_reduction_room(r, r->unknowns);
    l->free_at = tr_reduction_room(r, r->unknowns);
    l->unknown = tr_reduction_room(r, r->nv), l->link_of = tr_reduction_room(r, r->nv);
    l->place = tr_reduction_room(r, r->nD);
    Arena *arena = r->room;
    l->is_row_met = tr_arena_alloc(arena, r->nD + 1u, sizeof *l->is_row_met);
    l->is_early = tr_arena_alloc(arena, r->nD + 1u, sizeof *l->is_early);
    l->met = tr_arena_alloc(arena, f->link_count + 1u, sizeof *l->met);
    l->front = tr_arena_alloc(arena, f->link_count + 1u, sizeof *l->front);
    l->at = tr_arena_alloc(arena, f->link_count + 1u, sizeof *l->at);
    l->hub = tr_arena_alloc(arena, f->link_count + 1u, sizeof *l->hub);
    l->events = tr_arena_alloc(arena, r->unknowns + 1u, sizeof *l->events);
    l->grounded = tr_arena_alloc(arena, f->rolling_count + 1u, sizeof *l->grounded);
    l->driving = tr_arena_alloc(arena, r->na + 1u, sizeof *l->driving);
    if (!l->is_row_met || !l->is_early || !l->met || !l->front || !l->at || !l->hub || !l->events ||
        !l->grounded || !l->driving)
        r->graph->failed = true;
    return !r->graph->failed;
}

static void release(Local *l)
{
    for (uint32_t i = 0; l->met && i < l->forest->link_count; i++) {
        free(l->met[i].speed);
        free(l->met[i].column);
    }
    for (uint32_t i = 0; l->front && i < l->forest->link_count; i++) {
        free(l->front[i].speed);
        free(l->front[i].momentum);
    }
}

static void find_owners(Local *l)
{
    const Reduction *r = l->r;
    for (uint32_t k = 0; k < r->nv; k++) l->unknown[k] = NONE;
    for (uint32_t j = 0; j < r->np; j++) l->unknown[r->p[j]] = j;
    for (uint32_t j = 0; j < r->unknowns; j++) l->owner[j] = NO_LINK, l->stage_of[j] = NONE;
    for (uint32_t k = 0; k < r->nD; k++) l->stage_of[r->D[k]] = k;
    for (uint32_t i = 0; i < l->forest->link_count; i++) {
        const ForestLink *link = forest_link(l, i);
        l->front[i].ground = NONE;
        for (uint32_t k = link->velocity; k < link->velocity + link->velocity_count; k++) {
            l->link_of[k] = i;
            if (l->unknown[k] != NONE) l->owner[l->unknown[k]] = i;
        }
    }
}

static bool holds(const Local *l, const Rolling *c)
{
    for (int k = 0; k < 3; k++)
        if (!is_pivot(l->r->partition, c->rows[k]) || l->r->nU) return false;
    return true;
}

static void choose_grounds(Local *l)
{
    for (uint32_t c = 0; c < l->forest->rolling_count && l->ways.grounds; c++) {
        const Rolling *rolling = &l->forest->rolling[c];
        Front *front = &l->front[rolling->link];
        if (front->ground == NONE && holds(l, rolling) && !is_projected(l, rolling->link))
            front->ground = c;
    }
}

// The link where a speed has all its mass: its own, or what its contact grounds
static uint32_t complete_at(const Local *l, uint32_t speed)
{
    const uint32_t link = l->owner[speed];
    if (link == NO_LINK || forest_link(l, link)->parent == NO_LINK) return link;
    const uint32_t carrier = forest_link(l, link)->parent, ground = l->front[carrier].ground;
    if (ground == NONE || l->forest->rolling[ground].spin != l->r->p[speed]) return link;
    return carrier;
}

// Whether a row is solved for a velocity of its own link; of a base for where that goes, not how it
// turns
static bool is_own(const Local *l, uint32_t k)
{
    const uint32_t link = base_of(l, pivot_row(l->r, k)), d = l->r->stages[k].d;
    if (link == NO_LINK || link != l->owner[d]) return false;
    const ForestLink *own = forest_link(l, link);
    return !own->is_base || is_vec_zero(own->S[l->r->p[d] - own->velocity].W);
}

// A link that is seen from its contact takes no articulated inertias: what is behind it gives way
// there at the earliest.
static uint32_t behind_no_ground(const Local *l, uint32_t at)
{
    for (uint32_t i = at; i != NO_LINK; i = forest_link(l, i)->parent)
        if (l->front[i].ground != NONE) at = i;
    return at;
}

// Where pivots are projected, and what is free gives way
static void find_places(Local *l)
{
    const Reduction *r = l->r;
    const Forest *f = l->forest;
    for (uint32_t k = 0; k < r->nD; k++) {
        const Stage *s = &r->stages[k];
        l->place[k] = complete_at(l, s->d);
        for (uint32_t i = 0; i < k; i++)
            if (!is_zero(r->stages[i].h[s->d]))
                l->place[k] = tr_common_link(f, l->place[k], l->place[i]);
        const bool is_near = !l->ways.projects && (!l->ways.late_bias || is_own(l, k));
        l->is_early[k] = l->ways.at_once || is_near;
    }
    for (uint32_t j = 0; j < r->unknowns; j++) {
        uint32_t at = l->stage_of[j] == NONE ? complete_at(l, j) : NO_LINK;
        for (uint32_t k = 0; k < r->nD && at != NO_LINK; k++)
            if (!is_zero(r->stages[k].h[j])) at = tr_common_link(f, at, l->place[k]);
        at = behind_no_ground(l, at);
        const bool waits = at == NO_LINK || f->links[at].parent == NO_LINK;
        l->free_at[j] = l->ways.articulates && !r->nU && !waits ? at : NO_LINK;
    }
}

// ---- all of it -----------------------------------------------------------------------------

static bool begin(Local *l)
{
    Reduction *r = l->r;
    Graph *g = r->graph;
    r->rows = tr_matrix_in(r->room, g, r->nD, r->unknowns);
    r->driven = tr_matrix_in(r->room, g, r->nD, r->na);
    r->rest = tr_matrix(g, r->nD, 1), r->bias = tr_matrix(g, r->nD, 1);
    r->own_bias = tr_matrix(g, r->nD, 1);
    r->stages = tr_arena_alloc(r->room, r->nD + 1u, sizeof *r->stages);
    if (!r->stages) g->failed = true;
    if (!make_room(l)) return false;
    find_owners(l);
    return true;
}

// v' of the unknowns from accelerations as seen from the world
static void see_in_bases(const Local *l, Matrix x)
{
    for (uint32_t j = 0; j < l->r->np; j++)
        set(x, j, 0, sub(get(x, j, 0), tr_turning_of_base(l, l->r->p[j])));
}

// h where driven joints do not accelerate, of velocities:
//   v_d' + t_d = sum of H (w' + t_w) + h,  t what a base's turning adds
static void find_drift(const Local *still, Matrix h)
{
    const Reduction *r = still->r;
    for (uint32_t k = r->nD; k-- > 0;) {
        const Stage *s = &r->stages[k];
        Expr sum = s->b;
        for (uint32_t n = 0; n < s->near_count; n++)
            if (s->near[n] < r->np) sum = add(sum, mul(s->h[s->near[n]], get(h, s->near[n], 0)));
        set(h, s->d, 0, sum);
    }
    for (uint32_t k = 0; k < r->nD; k++) {
        const uint32_t d = r->stages[k].d;
        Expr sum = sub(get(h, d, 0), tr_turning_of_base(still, r->p[d]));
        for (uint32_t i = 0; i < r->nI; i++)
            if (!is_zero(get(r->H, d, i)))
                sum = add(sum, mul(get(r->H, d, i), tr_turning_of_base(still, r->p[r->I[i]])));
        set(h, d, 0, sum);
    }
}

// The rest k of velocities holds what driven ones do: k -> J v_a + k
static void split_rest(Reduction *r)
{
    Expr *v = tr_reduction_expressions(r, 2 * (size_t)r->na);
    if (!v || !r->na) return;
    for (uint32_t j = 0; j < r->na; j++) v[j] = r->system->inputs[r->v[r->a[j]]].symbol;
    if (!tr_dense_jacobian(r->graph, r->k.entries, r->np, v, r->na, r->J.entries))
        r->graph->failed = true;
    tr_substitute(r->graph, r->k.entries, r->np, v, v + r->na, r->na, r->k.entries);
}

static bool find_kernel(const Local *l)
{
    Arena room = {0};
    Reduction *r = l->r, other = *r;
    other.room = &room;
    Local still = {.r = &other, .forest = l->forest, .is_still = true};
    tr_find_kernel(r);
    other.H = r->H;
    if (!r->graph->failed && begin(&still) && tr_local_rows(&still)) {
        find_drift(&still, r->h);
        split_rest(r);
    }
    release(&still);
    tr_arena_free(&room);
    return !r->graph->failed;
}

bool tr_reduce_locally(Reduction *r, Matrix L, LocalWays ways)
{
    r->is_local = true;
    const System *s = r->system;
    Local l = {.r = r, .forest = s->forest, .ways = ways, .L = L};
    bool good = begin(&l) && tr_local_rows(&l);
    if (good) {
        choose_grounds(&l);
        find_places(&l);
        good = tr_local_dynamics(&l);
    }
    if (good) {
        r->x = l.y;
        good = find_kernel(&l) && tr_local_reactions(&l);
        tr_add_bias(r);
        if (!ways.at_once) see_in_bases(&l, r->x);
    }
    release(&l);
    return good;
}
