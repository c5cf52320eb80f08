// SPDX-License-Identifier: Apache-2.0
// The mass matrix by composite inertias, each carried from its link to all before it (T20)
// [M Appendix A, corrected]:
//
//   J*_i = J_i + sum over children of Ad^T J*_k Ad,   M_jk = S_j . Ad^T ... Ad^T J*_k S_k
#include "mech/across.h"

#include <stdlib.h>

// Inertia of everything a link carries: rigid, and what fluid moves along.
typedef struct Composite {
    Rigid rigid;
    Block fluid;
    bool has_fluid;
} Composite;

static void call_composite(const Tree *tree, uint32_t i, const Rigid *rigid)
{
    static const char *const parts[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
    const Expr I[] = {rigid->I.xx, rigid->I.yy, rigid->I.zz, rigid->I.xy, rigid->I.xz, rigid->I.yz};
    tr_tree_call(tree, i, CALLED_MASS, "", rigid->m);
    tr_tree_call_vec(tree, i, CALLED_MOMENT, rigid->mc);
    for (int k = 0; k < 6; k++) tr_tree_call(tree, i, CALLED_INERTIA, parts[k], I[k]);
}

// J*_i = J_i + sum over children of Ad^T J*_k Ad                                     (T20)
static Composite *composites(Tree *tree)
{
    Composite *all = calloc(tree->link_count + 1, sizeof *all);
    if (!all) tree->graph->failed = true;
    for (uint32_t i = 0; all && i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        all[i] = (Composite){link->inertia, link->added_mass, link->has_added_mass};
        if (!link->has_added_mass) all[i].fluid = block_zero(tree->graph);
    }
    for (uint32_t i = tree->link_count; all && i-- > 0;) {
        const Link *link = &tree->links[i];
        call_composite(tree, i, &all[i].rigid);
        if (!has_parent(link)) continue;
        Composite *above = &all[link->parent];
        above->rigid = rigid_plus(above->rigid, out_of_rigid(link, all[i].rigid));
        if (!all[i].has_fluid) continue;
        above->fluid = block_plus(above->fluid, out_of_block(link, all[i].fluid));
        above->has_fluid = true;
    }
    return all;
}

static Wrench composite_apply(const Composite *J, Motion a)
{
    const Wrench f = rigid_apply(J->rigid, a);
    return J->has_fluid ? wrench_plus(f, block_apply(J->fluid, a)) : f;
}

// How a point of a beam moves at unit rate of a mode, in its own axes                 (T37)
static Motion point_motion(const Link *link, uint32_t k)
{
    return motion(into(link, link->section->P[k]), link->section->W[k]);
}

// The mode that a velocity is of its beam, or MAX_MODES
static uint32_t mode_of(const Tree *tree, uint32_t velocity)
{
    const Flex *flex = tree->links[tree->velocities[velocity].link].flex;
    return flex && velocity >= flex->velocity ? velocity - flex->velocity : MAX_MODES;
}

// M_jk of two modes of one beam, and all momentum that the second has, at the root; with what hangs
// from the beam
static Wrench bend_masses(const Tree *tree, const Composite *all, uint32_t i, uint32_t k, Expr *M)
{
    const Flex *flex = tree->links[i].flex;
    Wrench f = tr_flex_momentum(tree, flex, k);
    for (uint32_t j = 0; j < flex->count; j++) M[j] = flex->m[j * flex->count + k];
    for (uint32_t p = i + 1; p < tree->link_count; p++) {
        const Link *point = &tree->links[p];
        if (point->parent != i || !point->section) continue;
        const Wrench own = composite_apply(&all[p], point_motion(point, k));
        for (uint32_t j = 0; j < flex->count; j++)
            M[j] = add(M[j], power_of(point_motion(point, j), own));
        f = wrench_plus(f, out_of_wrench(point, own));
    }
    return f;
}

void tr_tree_mass_along(Tree *tree, Expr *diagonal)
{
    Composite *all = composites(tree);
    for (uint32_t k = 0; all && k < tree->velocity_count; k++) {
        const Velocity *w = &tree->velocities[k];
        const uint32_t mode = mode_of(tree, k);
        if (mode < MAX_MODES) {
            Expr M[MAX_MODES];
            bend_masses(tree, all, w->link, mode, M);
            diagonal[k] = M[mode];
            continue;
        }
        diagonal[k] = add(power_of(w->S, composite_apply(&all[w->link], w->S)), w->armature);
    }
    free(all);
}

static void set_both(Matrix M, uint32_t i, uint32_t j, Expr entry)
{
    set(M, i, j, entry);
    set(M, j, i, entry);
}

// The momentum of velocity k at its link; its entries with modes of the same beam
static Wrench own_momentum(const Tree *tree, const Composite *all, uint32_t k, Matrix M)
{
    const Velocity *w = &tree->velocities[k];
    const uint32_t mode = mode_of(tree, k);
    if (mode == MAX_MODES) return composite_apply(&all[w->link], w->S);
    Expr row[MAX_MODES];
    const Wrench f = bend_masses(tree, all, w->link, mode, row);
    for (uint32_t j = 0; j <= mode; j++) set_both(M, k - mode + j, k, row[j]);
    return f;
}

// M_jk = S_j . J*_k S_k, carried from link k to every link before it                  (T20)
Matrix tr_tree_mass_matrix(Tree *tree)
{
    Matrix M = tr_matrix(tree->graph, tree->velocity_count, tree->velocity_count);
    Composite *all = composites(tree);
    for (uint32_t k = 0; all && k < tree->velocity_count; k++) {
        uint32_t i = tree->velocities[k].link;
        Wrench f = own_momentum(tree, all, k, M);
        for (;;) {
            const Link *link = &tree->links[i];
            tr_tree_call_vec(tree, i, CALLED_P, f.F);
            tr_tree_call_vec(tree, i, CALLED_L, f.N);
            for (uint32_t j = 0; j < link->velocity_count; j++) {
                const uint32_t w = link->velocity + j;
                if (w > k && i == tree->velocities[k].link) continue; // its own link: once
                set_both(M, w, k, power_of(tree->velocities[w].S, f));
            }
            const Flex *flex = link->section ? link->section->flex : NULL;
            for (uint32_t j = 0; flex && j < flex->count; j++)
                set_both(M, flex->velocity + j, k, power_of(point_motion(link, j), f));
            if (!has_parent(link)) break;
            f = out_of_wrench(link, f);
            i = link->parent;
        }
        set(M, k, k, add(get(M, k, k), tree->velocities[k].armature)); // (T345)
    }
    free(all);
    return M;
}
