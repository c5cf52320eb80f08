// SPDX-License-Identifier: Apache-2.0
// The equations of motion of a system with constraints, made to be differentiated (T148): a
// reduction with all that its pivots bear, and how rows and forces change along a column.
#ifndef TR_REDUCE_BOUND_H
#define TR_REDUCE_BOUND_H

#include "reduce/free_slopes.h"
#include "reduce/reduction.h"

typedef struct Bound {
    System *system;
    Graph *graph;
    tr_error err;
    Partition sorted; // pivots with constant slopes first
    Reduction r;
    uint32_t *room; // of these
    uint32_t *w;    // what is independent, as tr_independent lists it
    Expr *all;      // what is differentiated by the graph: all of the following
    size_t all_count;
    Expr *G;       // by pivot and velocity, driven ones, too
    Expr *rest;    // g
    Expr *drift;   // gamma, with what is driven
    Expr *Q;       // by velocity
    Expr *motions; // of velocities that are driven: position, velocity, acceleration
    Expr *own;     // by velocity, whatever else the caller has
    Expr *mix;     // by used reaction and pivot: what it is made of
    Matrix u;      // what the pivots bear
    Matrix H;      // motions that are tried: the kernel, then one for each used reaction
    Matrix Z;      // by pivot that is not folded: what they would bear for M H at their unknowns
    Matrix SH;     // M H: of unknowns that are folded, and of the others with what is folded in
} Bound;

// Along a column: seeds and all changes; then by unknown dv, da, -dE, and their projection f
typedef struct ColumnRoom {
    Expr *from, *to, *change, *rest, *shift, *dv, *da, *dE, *f;
} ColumnRoom;

// Sorts the pivots. False where rows have no slopes, or memory runs out.
bool tr_bound_new(Bound *bound, System *system, const Partition *partition);
// Reduces the system. False where there are too many unknowns, or forces use reactions that are not
// determined.
bool tr_bound_reduce(Bound *bound);
// What is differentiated, with `own`; what the pivots bear, and products with masses
bool tr_bound_take(Bound *bound, const Expr *own);
void tr_bound_free(Bound *bound);

static inline Expr bound_velocity(const Bound *b, uint32_t k)
{
    return b->system->inputs[b->r.v[k]].symbol;
}
static inline bool is_folded(const Bound *b, uint32_t unknown)
{
    for (uint32_t k = 0; k < b->r.units; k++)
        if (b->r.stages[k].d == unknown) return true;
    return false;
}
// The symbol of a velocity or speed that is left
static inline Expr left_over(const Bound *b, uint32_t i)
{
    const uint32_t own = b->r.free[i];
    return own < b->r.np ? bound_velocity(b, b->r.p[own])
                         : pivot_row(&b->r, b->r.s[own - b->r.np])->symbol;
}

bool tr_bound_room(const Bound *bound, ColumnRoom *room);
// A symbol that changes: a seed, or as far as it is a velocity part of dv
void tr_bound_seed(const Bound *bound, Expr symbol, Expr change, const ColumnRoom *room,
                   uint32_t *seeds);
// From seeds and dv of what is left: dv of all, all changes, da as far as rows are folded and what
// is left of the others, and -dE of forces and rows alone
void tr_bound_move(Bound *bound, uint32_t seeds, const ColumnRoom *room);
// Forces along velocities that are folded go to the others: e_j += h_j e_d
void tr_bound_fold(const Bound *bound, Expr *e);
// f = -H^T (dE + M da), of all motions that are tried, less how used reactions change by themselves
void tr_bound_project(const Bound *bound, const ColumnRoom *room);
// dw' from f of all columns
Matrix tr_bound_solve(const Bound *bound, Matrix f);
// Accelerations of what is left as the system lists them, by rows of all columns. False when one is
// not there.
bool tr_bound_put(const Bound *bound, Matrix dw, Expr *slopes);

#endif
