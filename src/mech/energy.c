// SPDX-License-Identifier: Apache-2.0
// Kinetic and potential energy, and what puts energy in (T25, T91).
#include "mech/across.h"

// T = sum v.J v / 2, with what bending adds                                     (T25, T33)
Expr tr_tree_kinetic(Tree *tree)
{
    Expr twice = zero(tree->graph);
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        twice = add(twice, power_of(link->v, momentum(link, link->v)));
        if (link->flex) twice = add(twice, tr_flex_kinetic(tree, link));
    }
    for (uint32_t k = 0; k < tree->velocity_count; k++) // of rotors                        (T345)
        twice = add(twice, mul(tree->velocities[k].armature, square(tree->velocities[k].symbol)));
    return mul(number(tree->graph, 0.5), twice);
}

// U = -sum g.(m p + R mc) + energy of springs                                       (T25)
Expr tr_tree_potential(Tree *tree)
{
    Expr U = zero(tree->graph);
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        const Vec mp =
            plus(scale(link->inertia.m, link->world.p), apply(link->world.R, link->inertia.mc));
        U = sub(U, dot(tree->gravity, mp));
    }
    return add(U, tr_tree_stored(tree));
}

// P = sum (tau_k + s_k) v_k + (energy of springs)' + sum v_i.applied_i - lambda.g     (T91)
Expr tr_tree_power(Tree *tree)
{
    Expr stored = tr_tree_stored(tree), P = zero(tree->graph);
    for (uint32_t k = 0; k < tree->velocity_count; k++) {
        const Velocity *w = &tree->velocities[k];
        P = add(P, mul(add(w->tau, w->passive), w->symbol));
    }
    for (uint32_t i = 0; i < tree->link_count; i++)
        P = add(P, power_of(tree->links[i].v, tree->links[i].applied));
    tr_system_rates(tree->system, &stored, 1, &stored, tree->err);
    for (uint32_t i = 0; i < tree->system->row_count; i++) { // lambda . G v = -lambda . g
        const Row *row = &tree->system->rows[i];
        if (!row->is_speed) P = sub(P, mul(row->symbol, row->rest));
    }
    return add(P, stored);
}
