// SPDX-License-Identifier: Apache-2.0
// Elimination along the tree (T181-T184): what its files share.
#ifndef TR_REDUCE_LOCAL_H
#define TR_REDUCE_LOCAL_H

#include "expr/forest.h"
#include "reduce/reduction.h"

#define NONE UINT32_MAX

// A link on the way outward: how it moves by speeds that are left, and by the rest
typedef struct Met {
    bool is_met;
    uint32_t *speed;
    Motion *column; // of each
    uint32_t count, capacity;
    Motion rest;
    Accelerated at; // where no speed that is left begins to change
    uint32_t taken; // pivots that are put in
    bool is_projected;
    Wrench f; // of what is projected: what `at` takes
} Met;

// A link on the way inward: all that hangs from it. Speeds behind it that are left have a momentum
// each.
typedef struct Front {
    Rigid own, rigid; // of its own body, and of others
    Block block;
    bool has_block;
    Wrench f; // what the accelerations `at` take
    uint32_t *speed;
    Wrench *momentum;
    uint32_t count, capacity;
    uint32_t ground; // the contact that it is seen from, or NONE
} Front;

// What became of a speed, in order: eliminated by a row, or as free
typedef struct Event {
    uint32_t speed, stage; // NONE: it was free
    uint32_t link;         // NO_LINK: behind all
    Expr d;                // of a free one: its own mass
    uint32_t *other;       // speeds that were left, and the mass between
    Expr *mass;
    uint32_t count;
    Wrench momentum;
    Expr *force; // by column
} Event;

// The force along a contact that a link was seen from, for its reaction
typedef struct Grounded {
    uint32_t rolling;
    uint32_t *speed;
    Vec *momentum; // linear, at unit speed
    uint32_t count;
    Vec F, mc;
} Grounded;

// A driven joint: the force that it takes, beside what is applied and what rows bear
typedef struct Driving {
    uint32_t link, place;
    Expr force;       // where no speed begins to change
    const Expr *mass; // by speed behind it
    const uint32_t *speed;
    uint32_t count;
    Wrench momentum;
} Driving;

typedef struct Local {
    Reduction *r;
    const Forest *forest;
    LocalWays ways;
    Matrix L;      // forces by used reaction
    bool is_still; // driven joints do not accelerate
    // By unknown: the link whose velocity it is, or NO_LINK; the pivot that solves for it, or NONE
    uint32_t *owner, *stage_of;
    uint32_t *unknown, *link_of; // by velocity: NONE of a driven one; and its link
    bool *is_row_met;            // by pivot
    uint32_t taken;              // pivots so far
    // By pivot: the link where it is projected, and whether its bias is part of inverse dynamics
    uint32_t *place;
    bool *is_early;
    uint32_t *free_at; // by unknown: where it is eliminated as free; NO_LINK: at the end
    Met *met;          // by link
    Front *front;
    Accelerated *at; // by link: as inverse dynamics has it
    Vec *hub;        // of a link that is seen from its contact: the same of the wheel's middle
    Expr *late;      // by pivot: its bias, as far as inverse dynamics has it not
    Matrix mass, force;
    Event *events;
    uint32_t event_count;
    Grounded *grounded;
    uint32_t grounded_count;
    Driving *driving; // by driven velocity
    Matrix y;         // accelerations less what inverse dynamics has of them; columns as in `force`
} Local;

static inline const ForestLink *forest_link(const Local *l, uint32_t i)
{
    return &l->forest->links[i];
}
static inline Expr velocity_of(const Local *l, uint32_t place)
{
    return l->r->system->inputs[l->r->v[place]].symbol;
}
static inline Expr acceleration_of(const Local *l, uint32_t place) // of a driven one
{
    return l->is_still ? zero(l->r->graph) : l->r->system->inputs[l->r->v[place]].rate;
}
// S q' of a joint; of a base nothing, for accelerations of bases are those seen from the world
static inline Motion turning_motion(const Local *l, const ForestLink *link)
{
    Motion sum = motion_zero(l->r->graph);
    for (uint32_t k = 0; k < link->velocity_count && !link->is_base && !link->is_carried; k++)
        sum = motion_plus(sum, motion_scale(velocity_of(l, link->velocity + k), link->S[k]));
    return sum;
}
uint32_t tr_common_link(const Forest *forest, uint32_t a, uint32_t b); // the last that carries both
// W x V of a base along one of its velocities: an acceleration seen from the world is v' + this
Expr tr_turning_of_base(const Local *l, uint32_t place);
Expr tr_seen_acceleration(const Local *l, uint32_t place); // so, of a driven one
// What a link accelerates by, with those of its own velocities that are given
Accelerated tr_pass_outward(const Local *l, uint32_t link, const Accelerated *above, Motion more);
// A of a link with its own joint, from A before it
Motion tr_with_joint(const Local *l, uint32_t link, Motion before, uint32_t column);

// The link that a row is about, where that counts
static inline uint32_t base_of(const Local *l, const Row *row)
{
    return l->ways.at_once ? NO_LINK : row->base;
}
static inline bool is_projected(const Local *l, uint32_t i) { return l->met[i].is_projected; }

// local_rows.c: pivots in their order, along the tree, into r->stages; false when memory runs out
bool tr_local_rows(Local *l);
// local_front.c: r->x from the stages
bool tr_local_dynamics(Local *l);
// local_reaction.c: r->lambda, once r->x is there without biases
bool tr_local_reactions(Local *l);

#endif
