// SPDX-License-Identifier: Apache-2.0
// Matrices along the forest, for who asks for them: the mass matrix by composite inertias (T20),
// and slopes of rows (T160).
#include "expr/forest.h"

#include <stdlib.h>
#include <string.h>

// J*_i = J_i + sum over children of Ad^T J*_k Ad                                     (T20)
static Rigid *composites(const System *s)
{
    const Forest *forest = s->forest;
    Rigid *all = calloc(forest->link_count + 1u, sizeof *all);
    if (!all) s->graph->failed = true;
    for (uint32_t i = 0; all && i < forest->link_count; i++) all[i] = forest->links[i].inertia;
    for (uint32_t i = forest->link_count; all && i-- > 0;) {
        const ForestLink *link = &forest->links[i];
        if (link->parent == NO_LINK) continue;
        all[link->parent] = rigid_plus(all[link->parent], pass_rigid(&link->across, all[i]));
    }
    return all;
}

void tr_forest_masses(System *s, Expr *diagonal)
{
    const Forest *forest = s->forest;
    Rigid *all = composites(s);
    for (uint32_t i = 0; all && i < forest->link_count; i++) {
        const ForestLink *link = &forest->links[i];
        for (uint32_t k = 0; k < link->velocity_count; k++)
            diagonal[link->velocity + k] = power_of(link->S[k], rigid_apply(all[i], link->S[k]));
    }
    free(all);
}

// M_jk = S_j . J*_k S_k, carried from link k to every link before it                  (T20)
static void add_column(const Forest *forest, uint32_t link, uint32_t k, Rigid J, Matrix M)
{
    const uint32_t velocity = forest->links[link].velocity + k;
    Wrench f = rigid_apply(J, forest->links[link].S[k]);
    for (uint32_t i = link; i != NO_LINK; i = forest->links[i].parent) {
        const ForestLink *at = &forest->links[i];
        for (uint32_t j = 0; j < at->velocity_count; j++) {
            if (i == link && j > k) continue; // once
            const Expr entry = power_of(at->S[j], f);
            set(M, at->velocity + j, velocity, entry);
            set(M, velocity, at->velocity + j, entry);
        }
        if (at->parent != NO_LINK) f = pass_wrench(&at->across, f);
    }
}

Matrix tr_forest_mass(System *s)
{
    const uint32_t n = tr_system_velocities(s, NULL);
    Matrix M = tr_matrix(s->graph, n, n);
    Rigid *all = composites(s);
    for (uint32_t i = 0; all && M.entries && i < s->forest->link_count; i++)
        for (uint32_t k = 0; k < s->forest->links[i].velocity_count; k++)
            add_column(s->forest, i, k, all[i], M);
    free(all);
    return M;
}

// G_v = G_u C^T                                                                        (T59)
static void turn_slopes(const System *s, const uint32_t *v, uint32_t n, Expr *slopes)
{
    for (uint32_t t = 0; t < s->turned_count; t++) {
        uint32_t first = 0;
        while (first < n && v[first] != s->turned[t].inner) first++;
        const Expr u[3] = {slopes[first], slopes[first + 1], slopes[first + 2]};
        for (int k = 0; k < 3; k++)
            slopes[first + (uint32_t)k] = tr_turned_out(&s->turned[t], u, k);
    }
}

// G_k = S_k . f,   f <- Ad^T f from link to parent                                    (T160)
void tr_forest_slopes(System *s, Row *row)
{
    const uint32_t n = tr_system_velocities(s, NULL);
    Expr *inner = tr_arena_alloc(&s->graph->arena, n, sizeof *inner);
    Expr *outer = s->turned_count ? tr_arena_alloc(&s->graph->arena, n, sizeof *outer) : inner;
    uint32_t *v = tr_arena_alloc(&s->graph->arena, n, sizeof *v);
    if (!inner || !outer || !v) {
        s->graph->failed = true;
        return;
    }
    Wrench f = row_on(row);
    for (uint32_t k = 0; k < n; k++) inner[k] = zero(s->graph);
    for (uint32_t i = row->base; i != NO_LINK; i = s->forest->links[i].parent) {
        const ForestLink *link = &s->forest->links[i];
        for (uint32_t k = 0; k < link->velocity_count; k++)
            inner[link->velocity + k] = power_of(link->S[k], f);
        if (link->parent != NO_LINK) f = pass_wrench(&link->across, f);
    }
    row->inner_slopes = inner, row->slopes = outer;
    if (outer == inner) return;
    tr_system_velocities(s, v);
    memcpy(outer, inner, n * sizeof *outer);
    turn_slopes(s, v, n, outer);
}

// f_i = sum of on lambda and of Ad^T f of children,   (G^T lambda)_k = S_k . f        (T160)
void tr_forest_bear(System *s, Expr *force)
{
    const Forest *forest = s->forest;
    Wrench *f = forest ? calloc(forest->link_count + 1u, sizeof *f) : NULL;
    if (forest && !f) s->graph->failed = true;
    for (uint32_t i = 0; f && i < forest->link_count; i++) f[i] = wrench_zero(s->graph);
    for (uint32_t i = 0; f && i < s->row_count; i++) {
        const Row *row = &s->rows[i];
        if (row->slopes || row->is_open) continue;
        const Wrench on = row_on(row);
        const Wrench borne = wrench(scale(row->symbol, on.F), scale(row->symbol, on.N));
        f[row->base] = wrench_plus(f[row->base], borne);
    }
    for (uint32_t i = f ? forest->link_count : 0; i-- > 0;) {
        const ForestLink *link = &forest->links[i];
        for (uint32_t k = 0; k < link->velocity_count; k++)
            force[link->velocity + k] = add(force[link->velocity + k], power_of(link->S[k], f[i]));
        if (link->parent != NO_LINK)
            f[link->parent] = wrench_plus(f[link->parent], pass_wrench(&link->across, f[i]));
    }
    free(f);
}
