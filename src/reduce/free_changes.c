// SPDX-License-Identifier: Apache-2.0
// dv' = M^-1 (dQ - d(M v' + c)) with v' frozen (T190): M^-1 by articulated inertias (T22), which
// are those of the accelerations themselves.
#include "reduce/free_changes.h"

#include "expr/derivative.h"
#include "expr/forest.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OF_LINK = 6 }; // velocities

// What a link is like to its parent, and how its own velocities give way
typedef struct Yielding {
    Rigid rigid;
    Block block;
    bool has_block;
    Wrench U[MOST_OF_LINK], share[MOST_OF_LINK]; // J S, and that by d = S.J S
    Expr inverse[MOST_OF_LINK];                  // 1 / d
} Yielding;

typedef struct Free {
    System *system;
    Graph *graph;
    const Forest *forest;
    uint32_t n, *input; // velocities
    Yielding *links;
    Wrench *f; // by link
    Motion *a;
    Accelerated *at;
} Free;

static bool make_room(Free *x)
{
    const size_t links = x->forest->link_count + 1u;
    x->n = tr_system_velocities(x->system, NULL);
    x->input = calloc(x->n + 1u, sizeof *x->input);
    x->links = calloc(links, sizeof *x->links);
    x->f = calloc(links, sizeof *x->f);
    x->a = calloc(links, sizeof *x->a);
    x->at = calloc(links, sizeof *x->at);
    if (!x->input || !x->links || !x->f || !x->a || !x->at) return false;
    tr_system_velocities(x->system, x->input);
    return true;
}

static void release(Free *x)
{
    free(x->input);
    free(x->links);
    free(x->f);
    free(x->a);
    free(x->at);
}

static const Input *velocity(const Free *x, uint32_t k) { return &x->system->inputs[x->input[k]]; }

// ---- inverse dynamics ----------------------------------------------------------------------

// a_i by T14 from what carries it and its own velocities
static Accelerated accelerate(const Free *x, uint32_t i, const Expr *acceleration)
{
    const ForestLink *link = &x->forest->links[i];
    const Accelerated world = {flip(x->forest->gravity), vec_zero(x->graph), mat_zero(x->graph)};
    const bool hangs = link->parent != NO_LINK;
    Motion joint = motion_zero(x->graph), more = joint;
    Vec Wc = vec_zero(x->graph);
    for (uint32_t k = 0; k < link->velocity_count; k++) {
        const uint32_t at = link->velocity + k;
        if (!link->is_carried)
            joint = motion_plus(joint, motion_scale(velocity(x, at)->symbol, link->S[k]));
        more = motion_plus(more, motion_scale(acceleration[at], link->S[k]));
    }
    if (hangs && !link->is_carried) Wc = pass_in(&link->across, x->forest->links[link->parent].v.W);
    return pass_acceleration(&link->across, hangs ? &x->at[link->parent] : &world, Wc, joint, more,
                             link->frame.W);
}

// M v' + c                                                                        (T14-T16)
static void find_forces(Free *x, const Expr *acceleration, Expr *force)
{
    const Forest *forest = x->forest;
    for (uint32_t i = 0; i < forest->link_count; i++) {
        const ForestLink *link = &forest->links[i];
        x->at[i] = accelerate(x, i, acceleration);
        x->f[i] =
            inertia_force(link->inertia, &x->at[i], link->frame.W, link->v.W, link->is_carried);
    }
    for (uint32_t i = forest->link_count; i-- > 0;) {
        const ForestLink *link = &forest->links[i];
        for (uint32_t k = 0; k < link->velocity_count; k++)
            force[link->velocity + k] = power_of(link->S[k], x->f[i]);
        if (link->parent != NO_LINK)
            x->f[link->parent] =
                wrench_plus(x->f[link->parent], pass_wrench(&link->across, x->f[i]));
    }
}

// ---- M^-1 ----------------------------------------------------------------------------------

static Wrench apply_inertia(const Yielding *J, Motion a)
{
    return J->has_block ? block_apply(J->block, a) : rigid_apply(J->rigid, a);
}

// J -= U U^T / d; along S itself nothing is left                                        (T22)
static void eliminate(Yielding *J, Motion S, Wrench U, Wrench share)
{
    const int unit = unit_component(S);
    if (!J->has_block) J->block = block_of(J->rigid), J->has_block = true;
    for (int i = 0; i < 6; i++)
        for (int j = i; j < 6; j++) {
            Expr *entry = block_place(&J->block, i, j);
            *entry = i == unit || j == unit
                         ? zero(graph_of(S.V.x))
                         : sub(*entry, mul(wrench_at(share, i), wrench_at(U, j)));
        }
}

// Of all links, from the last to the first
static void find_inertias(Free *x)
{
    const Forest *forest = x->forest;
    Graph *g = x->graph;
    for (uint32_t i = 0; i < forest->link_count; i++) x->links[i].rigid = forest->links[i].inertia;
    for (uint32_t i = forest->link_count; i-- > 0;) {
        const ForestLink *link = &forest->links[i];
        Yielding *J = &x->links[i];
        if (J->has_block) J->block = block_plus(J->block, block_of(J->rigid));
        for (uint32_t k = link->velocity_count; k-- > 0;) {
            if (is_motion_driven(velocity(x, link->velocity + k))) continue;
            J->U[k] = apply_inertia(J, link->S[k]);
            J->inverse[k] = quotient(one(g), power_of(link->S[k], J->U[k]));
            J->share[k] = wrench_scale(J->inverse[k], J->U[k]);
            eliminate(J, link->S[k], J->U[k], J->share[k]);
        }
        if (link->parent == NO_LINK) continue;
        Yielding *above = &x->links[link->parent];
        if (!J->has_block) {
            above->rigid = rigid_plus(above->rigid, pass_rigid(&link->across, J->rigid));
            continue;
        }
        const Block seen = pass_block(&link->across, J->block);
        above->block = above->has_block ? block_plus(above->block, seen) : seen;
        above->has_block = true;
    }
}

// What forces leave for the parent: p += U (b - S.p) / d, and b takes q'' where the parent rests
static void push_inward(Free *x, Expr *b)
{
    const Forest *forest = x->forest;
    for (uint32_t i = 0; i < forest->link_count; i++) x->f[i] = wrench_zero(x->graph);
    for (uint32_t i = forest->link_count; i-- > 0;) {
        const ForestLink *link = &forest->links[i];
        const Yielding *J = &x->links[i];
        for (uint32_t k = link->velocity_count; k-- > 0;) {
            Expr *own = &b[link->velocity + k];
            if (is_motion_driven(velocity(x, link->velocity + k))) continue;
            const int unit = unit_component(link->S[k]);
            const Expr force = *own;
            *own = mul(J->inverse[k], sub(force, power_of(link->S[k], x->f[i])));
            x->f[i] = wrench_plus(x->f[i], wrench_scale(*own, J->U[k]));
            if (unit >= 0) *wrench_place(&x->f[i], unit) = mul(motion_at(link->S[k], unit), force);
        }
        if (link->parent != NO_LINK)
            x->f[link->parent] =
                wrench_plus(x->f[link->parent], pass_wrench(&link->across, x->f[i]));
    }
}

// q'' = b - share.a, and a + S q''; along a unit S, where the share is 1, what is left of it
// without a there (T22)
static Expr follow(Motion S, Wrench share, Expr alone, Motion *a)
{
    const int unit = unit_component(S);
    if (unit < 0) {
        const Expr q = sub(alone, power_of(*a, share));
        *a = motion_plus(*a, motion_scale(q, S));
        return q;
    }
    const Expr before = motion_at(*a, unit), sign = motion_at(S, unit);
    *motion_place(a, unit) = zero(graph_of(alone));
    const Expr left = sub(alone, power_of(*a, share));
    *motion_place(a, unit) = mul(sign, left);
    return sub(left, mul(sign, before));
}

// M x = b, in place; x of driven velocities is zero
static void solve(Free *x, Expr *b)
{
    push_inward(x, b);
    for (uint32_t i = 0; i < x->forest->link_count; i++) {
        const ForestLink *link = &x->forest->links[i];
        Motion a = motion_zero(x->graph);
        if (link->parent != NO_LINK) a = pass_motion(&link->across, x->a[link->parent]);
        for (uint32_t k = 0; k < link->velocity_count; k++) {
            Expr *own = &b[link->velocity + k];
            if (!is_motion_driven(velocity(x, link->velocity + k)))
                *own = follow(link->S[k], x->links[i].share[k], *own, &a);
        }
        x->a[i] = a;
    }
}

// ---- all of it -----------------------------------------------------------------------------

// Q - (M v' + c), with symbols for accelerations that are frozen
static bool take_residuals(Free *x, const Expr *frozen, Expr *rate, Expr *E)
{
    const Output *Q = tr_system_output(x->system, text_of("Q"));
    if (!Q) return false;
    for (uint32_t k = 0; k < x->n; k++)
        rate[k] = is_motion_driven(velocity(x, k)) ? velocity(x, k)->rate : frozen[k];
    find_forces(x, rate, E);
    for (uint32_t k = 0; k < x->n; k++) {
        rate[k] = velocity(x, k)->rate;
        E[k] = sub(Q->values[k], E[k]);
    }
    tr_system_resolve(x->system, E, x->n);
    return true;
}

static bool differentiate(Free *x, const SlopeColumn *columns, uint32_t count, const Expr *frozen,
                          Expr *changes)
{
    const size_t n = x->n;
    uint32_t active = 0; // of velocities, those that no motion drives
    Expr *rate = calloc(3 * n + 1, sizeof *rate), *E = rate ? rate + n : NULL;
    if (!rate) x->graph->failed = true;
    const bool good = rate && take_residuals(x, frozen, rate, E);
    if (good) find_inertias(x);
    for (uint32_t c = 0; good && c < count; c++) {
        Expr *change = E + n;
        tr_forward(x->graph, E, n, columns[c].symbols, columns[c].changes, columns[c].count,
                   change);
        solve(x, change);
        active = 0;
        for (uint32_t k = 0; k < n; k++)
            if (!is_motion_driven(velocity(x, k)))
                changes[(size_t)active++ * count + c] = change[k];
    }
    const size_t all = (size_t)active * count;
    if (good) tr_substitute(x->graph, changes, all, frozen, rate, n, changes);
    if (good) tr_system_resolve(x->system, changes, all);
    free(rate);
    return good;
}

bool tr_free_changes(System *s, const SlopeColumn *columns, uint32_t count, const Expr *frozen,
                     Expr *changes)
{
    Free x = {.system = s, .graph = s->graph, .forest = s->forest};
    if (s->row_count || !s->forest) return false;
    bool good = make_room(&x);
    if (!good) s->graph->failed = true;
    good = good && differentiate(&x, columns, count, frozen, changes);
    release(&x);
    return good && !s->graph->failed;
}
