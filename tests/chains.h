// SPDX-License-Identifier: Apache-2.0
// Chains on a free base that have nothing regular about them.
#ifndef TR_TESTS_CHAINS_H
#define TR_TESTS_CHAINS_H

#include "forests.h"
#include "models.h"

// A free base and hinges with placements, centres of mass and inertias that are all full. A hinge's
// axis is z of its body, written in the parent's axes by sixteen digits, as in files of others.
static inline NeBody any_link(Random *r, int i)
{
    NeBody b = {.parent = i - 1,
                .type = i ? NE_REVOLUTE : NE_FREE,
                .mass = random_between(r, 0.5, 2),
                .com = v3_times(0.2, any_vector(r)),
                .inertia = any_inertia(r, 0.005, 0.02)};
    if (i == 0) return b;
    b.at = v3_times(0.3, any_vector(r)), b.turn = any_vector(r);
    b.axis = m3_times(m3_turn(b.turn), v3_axis(2));
    return b;
}

// As a model, and what else stands in it: longer ones than the oracle has room for
static inline System *chain_with(Random *r, int hinges, const char *rest)
{
    Buffer t = {0};
    tr_buffer_print(&t, "trundle: 1\nbodies:\n");
    for (int i = 0; i <= hinges; i++) {
        const NeBody b = any_link(r, i);
        const M3 I = b.inertia;
        tr_buffer_print(&t, "  b%d: {", i);
        if (i) tr_buffer_print(&t, "parent: b%d, ", i - 1);
        tr_buffer_print(&t, "joint: {type: %s", ne_type_names[b.type]);
        if (i) add_vector(&t, "at", b.at), add_vector(&t, "turn", b.turn);
        if (i) add_vector(&t, "axis", b.axis);
        tr_buffer_print(&t, "}, mass: %.17g", b.mass);
        add_vector(&t, "com", b.com);
        tr_buffer_print(&t,
                        ", inertia: {xx: %.17g, yy: %.17g, zz: %.17g, xy: %.17g, xz: %.17g, yz: "
                        "%.17g}}\n",
                        I.column[0].x, I.column[1].y, I.column[2].z, I.column[0].y, I.column[0].z,
                        I.column[1].z);
    }
    tr_buffer_print(&t, "%s", rest);
    System *system = system_from(t.at);
    tr_buffer_free(&t);
    return system;
}

#endif
