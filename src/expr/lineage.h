// SPDX-License-Identifier: Apache-2.0
// Equations of a tree, M x = b with a positive M: M_ij is not zero only where one of i and j is
// above the other. A lineage says who is above whom. Its factors and solutions are blocks of the
// graph (block.h), which programs compute by loops instead of one operation after the other; here
// is what these loops do, once for all that run programs.
//
//   M = L^T D L,   L_ij = M_ij / D_i,   M_jk -= L_ij M_ik   for j, k above i, from the last i on
//                                                                                    (T142)
//   M x = b:   b_j -= L_ij b_i  from the last i on;  b_i /= D_i;  x_i -= L_ij x_j  from the first
//                                                                                    (T143)
#ifndef TR_EXPR_LINEAGE_H
#define TR_EXPR_LINEAGE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"

#define LINEAGE_TOP UINT32_MAX // the parent of those that nothing is above

typedef struct Lineage {
    uint32_t size;          // unknowns
    const uint32_t *parent; // of each: one before it, or LINEAGE_TOP
    // The entries of M, by rows: that of the unknown itself, that of its parent, of the parent's
    // parent, ...; where each row begins, and the end of the last.
    const uint32_t *start;
} Lineage;

// In the arena; NULL when memory runs out.
const Lineage *tr_lineage_new(Arena *arena, const uint32_t *parent, uint32_t size);
const Lineage *tr_lineage_copy(Arena *arena, const Lineage *lineage);
bool tr_lineage_is(const Lineage *lineage, const uint32_t *parent, uint32_t size);

static inline uint32_t lineage_entries(const Lineage *s) { return s->start[s->size]; }

// How many operations it takes to factor M, and to solve with `columns` right sides
size_t tr_lineage_factor_operations(const Lineage *lineage);
size_t tr_lineage_solve_operations(const Lineage *lineage, uint32_t columns);

// ---- numbers of one or more lanes ----------------------------------------------------------

// y -= f x for `count` numbers, of which each lane has its own f
static inline void lineage_subtract(const double *f, const double *restrict x, double *restrict y,
                                    uint32_t count, uint32_t lanes)
{
    if (lanes == 1) {
        const double g = -*f;
        for (uint32_t i = 0; i < count; i++) y[i] = fma(g, x[i], y[i]);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < lanes; k++)
            y[i * lanes + k] = fma(-f[k], x[i * lanes + k], y[i * lanes + k]);
}

// M becomes L, with D in place of its diagonal.                                        (T142)
static inline void lineage_factor(const Lineage *s, double *M, uint32_t lanes)
{
    double f[8];
    for (uint32_t i = s->size; i-- > 0;) {
        double *row = M + (size_t)s->start[i] * lanes, *at = row;
        for (uint32_t j = s->parent[i]; j != LINEAGE_TOP; j = s->parent[j]) {
            at += lanes;
            for (uint32_t k = 0; k < lanes; k++) f[k] = at[k] / row[k];
            lineage_subtract(f, at, M + (size_t)s->start[j] * lanes, s->start[j + 1] - s->start[j],
                             lanes);
            memcpy(at, f, lanes * sizeof *f);
        }
    }
}

// Right sides become solutions, a row of `columns` for each unknown. Entry e of the factors is at
// v[place[e] * lanes].                                                                 (T143)
static inline void lineage_solve(const Lineage *s, const double *v, const uint32_t *place,
                                 double *x, uint32_t columns, uint32_t lanes)
{
    const size_t width = (size_t)columns * lanes;
    for (uint32_t i = s->size; i-- > 0;) {
        const uint32_t *at = place + s->start[i];
        double *own = x + i * width;
        for (uint32_t j = s->parent[i]; j != LINEAGE_TOP; j = s->parent[j])
            lineage_subtract(v + (size_t) * ++at * lanes, own, x + j * width, columns, lanes);
    }
    for (uint32_t i = 0; i < s->size; i++) {
        const uint32_t *at = place + s->start[i];
        const double *pivot = v + (size_t)*at * lanes;
        double *own = x + i * width;
        for (uint32_t c = 0; c < columns; c++)
            for (uint32_t k = 0; k < lanes; k++) own[c * lanes + k] /= pivot[k];
        for (uint32_t j = s->parent[i]; j != LINEAGE_TOP; j = s->parent[j])
            lineage_subtract(v + (size_t) * ++at * lanes, x + j * width, own, columns, lanes);
    }
}

// A block on values of lanes that stand side by side: it takes `count` of them, entries of M or
// entries of the factors and right sides, and leaves its results one after the other from `result`
// on.
static inline void lineage_run(const Lineage *s, bool solves, const uint32_t *place, uint32_t count,
                               uint32_t result, double *v, uint32_t lanes)
{
    const uint32_t factors = solves ? lineage_entries(s) : 0;
    double *y = v + (size_t)result * lanes;
    for (uint32_t i = factors; i < count; i++)
        memcpy(y + (size_t)(i - factors) * lanes, v + (size_t)place[i] * lanes, lanes * sizeof *v);
    if (solves)
        lineage_solve(s, v, place, y, (count - factors) / s->size, lanes);
    else
        lineage_factor(s, y, lanes);
}

#endif
