// SPDX-License-Identifier: Apache-2.0
// What the files of this folder share: a reduction while it is made (T68-T71, T73).
#ifndef TR_REDUCE_REDUCTION_H
#define TR_REDUCE_REDUCTION_H

#include "expr/matrix.h"
#include "reduce/reduce.h"

// A pivot, and what stood there when it was taken.
typedef struct Stage {
    uint32_t d; // the unknown that it eliminates
    Expr pivot, k, b;
    Expr *h;        // by unknown; zero for those that were eliminated before
    uint32_t *near; // unknowns where it is not
    uint32_t near_count;
    Expr *column; // entries of all rows at d
} Stage;

typedef struct Reduction {
    System *system;
    Graph *graph;
    Arena *room; // of rows, stages and what is only needed between them: as many as their square
    tr_error *err;
    const Partition *partition;
    uint32_t *v; // all velocities, as inputs, in order
    uint32_t *p; // those that are not driven: places in v
    uint32_t *a; // those that are
    uint32_t *D; // dependent: places in p, by pivot
    uint32_t *I; // the other ones
    uint32_t *s; // pivots whose rows are formulas of speeds
    uint32_t *R; // rows that are no pivots
    uint32_t *U; // rows whose reactions forces use
    uint32_t nv, np, na, nD, nI, ns, nR, nU, kernel;
    uint32_t unknowns;    // np velocities, then ns speeds
    uint32_t *free;       // of these, what is left: I, then speeds
    Matrix M, c, Q;       // of the free dynamics; Q without reactions, and M not of many unknowns
    Matrix rows;          // pivots, then R; by unknown
    Matrix driven;        // the same by driven velocity
    Matrix rest, bias;    // of these rows; the bias with G_a v_a'
    Matrix own_bias;      // and without
    Matrix mass, force;   // by unknown; forces in columns: Q0, then one for each of U
    Stage *stages;        // by pivot
    uint32_t *order;      // 0, 1, 2, ...
    Matrix accelerations; // v_a'
    Matrix H, J, k, h;
    Matrix K;         // pivots * R
    Matrix a_bias;    // a
    Matrix x, lambda; // v' - a and then v', reactions; columns as in `force`
    bool is_local;    // by local.c
    Matrix torque;    // of driven joints there, if they do not work against each other; likewise
    // Where that is asked for, the mass matrix is projected on velocities with constant slopes one
    // after the other and then at once; `half` is it between the two.
    bool in_two;
    uint32_t units; // pivots, the first ones, with constant slopes
    Matrix half, half_force;
    Matrix factors; // of what is left of the mass matrix
} Reduction;

static inline const Row *pivot_row(const Reduction *r, uint32_t k)
{
    return &r->system->rows[r->partition->row[k]];
}

// Rows and columns of a matrix that are picked, in that order; all columns when there is no list
Matrix tr_pick(Matrix m, const uint32_t *rows, uint32_t count, const uint32_t *columns,
               uint32_t width);
// Room that lasts as long as the reduction, zeroed; NULL, and the graph failed, when there is none.
uint32_t *tr_reduction_room(Reduction *r, size_t count);

Expr *tr_reduction_expressions(Reduction *r, size_t count); // the same, zeros

// A pivot as it stands; then the rows that are left without its velocity
bool tr_take_pivot(Reduction *r, uint32_t k);
void tr_eliminate_from_rows(Reduction *r, uint32_t k);
// H, J, k, h by substituting later stages into earlier ones                     (T69) [B 11, 18]
void tr_find_kernel(Reduction *r);

// reduce.c: all of a reduction but its results, with all rows eliminated from all of M; false where
// there are too many for that, memory runs out, or words say why
bool tr_reduction_make(Reduction *r);
// All slopes of rows, which those of a large system may not have
void tr_take_slopes(const Reduction *r);
// Accelerations are what it found.
void tr_reduction_define(Reduction *r);

// eliminate.c: from rows and forces Q0 + L lambda to accelerations; false when memory runs out.
// Leaves v' - a in x; tr_add_bias makes it v'.
bool tr_eliminate(Reduction *r, Matrix L);
void tr_add_bias(Reduction *r);

// reaction.c: lambda, in columns as `force`; and the reactions that forces use
void tr_solve_back(const Reduction *r, Matrix u); // what pivots bear for sums at their columns
void tr_find_reactions(Reduction *r);
// The same of what pivots bear when other rows bear nothing, u, and of r->K
void tr_distribute(Reduction *r, Matrix u);
bool tr_has_antagonists(const Reduction *r); // driven joints that work against each other
// Changes them so that the forces of driven joints are least, once accelerations are defined
void tr_least_torques(Reduction *r);
// tau = M_a v' + c_a - Q_a - G_a^T lambda of a driven joint, without the last term
Expr tr_bare_torque(const Reduction *r, uint32_t driven);
Matrix tr_used_reactions(const Reduction *r);

// local.c: the same along the tree, where the system has a forest
typedef struct LocalWays {
    bool grounds;     // links whose contact rolls are seen from where it touches
    bool articulates; // what is free is eliminated as soon as no row needs it
    bool late_bias;   // what rows at other links begin is not part of inverse dynamics
    // Rows are eliminated as they stand, and links projected by what is left in the end
    bool at_once;
    bool projects; // links that few speeds move are projected one by one, and hand nothing inward
} LocalWays;
bool tr_reduce_locally(Reduction *r, Matrix L, LocalWays ways);

// reduce.c: v_d = h . v + J v_a + k of the dependent velocities as definitions
void tr_define_velocities(Reduction *r);
// form.c: all rows eliminated from all of M, with reactions; false when memory runs out
bool tr_reduce_globally(Reduction *r, Matrix L);
// Reduced in the shortest of all ways, with reactions; the graph failed when memory runs out
Reduction tr_shortest_form(Reduction r, Matrix L);
// Whether it is the one along the tree in any case, which needs neither M nor all slopes
bool tr_goes_along(const Reduction *r);

// reduce.c: tr_reduce in one form, however long that is
typedef struct ChosenForm {
    bool is_local; // along the tree, in these ways; else from all of M
    LocalWays ways;
} ChosenForm;
void tr_reduce_as(System *system, const Partition *partition, ChosenForm form, tr_error *err);

#endif
