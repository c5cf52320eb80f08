// SPDX-License-Identifier: Apache-2.0
// Normal forces at a pose: those that balance weights and springs together with what is held and
// loops, so along all that these leave free,
//
//   Z^T U_q = Z^T G^T lambda                                                            (T289)
//
// Where they are not unique they are the least; unless some of these pull: then some that push.
#include "num/dense.h"
#include "num/nonnegative.h"
#include "settle/settle.h"

#include <math.h>
#include <string.h>

#define BALANCED 1e-8 // of the largest force that is left

// Slopes of the energy and of closed gaps along what is left free
static void reduce(Settle *p)
{
    const uint32_t n = p->unknowns, gaps = p->first[GROUP_GAPS];
    tr_settle_split(p, 1u << GROUP_LOOPS | 1u << GROUP_HELD);
    tr_settle_reduced(p, p->G + (size_t)p->first[GROUP_ENERGY] * n, 0, p->p);
    for (uint32_t i = 0; i < p->contact_count; i++) {
        double *row = p->Gr + (size_t)i * p->split.free;
        tr_settle_reduced(p, p->G + (size_t)(gaps + i) * n, 0, row);
        if (!p->is_closed[i]) memset(row, 0, p->split.free * sizeof *row);
    }
}

// lambda = G y with G^T G y = U; whether none pulls
static bool take_least(Settle *p)
{
    const uint32_t free = p->split.free, m = p->contact_count;
    memcpy(p->b, p->p, free * sizeof *p->b);
    tr_multiply_transposed(p->Gr, p->Gr, free, m, free, p->A);
    tr_solve_semidefinite(p->A, free, p->b);
    tr_multiply(p->Gr, p->b, m, free, 1, p->lambda);
    const double rounding = 1e-13 * tr_largest(p->lambda, m);
    bool pushes = true;
    for (uint32_t i = 0; i < m; i++) {
        pushes = pushes && p->lambda[i] >= -rounding;
        p->lambda[i] = larger(p->lambda[i], 0);
    }
    return pushes;
}

// The lambda >= 0 for which |U - G^T lambda| is least
static bool take_pushing(Settle *p)
{
    const uint32_t free = p->split.free, m = p->contact_count;
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < m; j++) {
            double sum = 0;
            for (uint32_t k = 0; k < free; k++)
                sum += p->Gr[(size_t)i * free + k] * p->Gr[(size_t)j * free + k];
            p->A[(size_t)i * m + j] = sum;
        }
    tr_multiply(p->Gr, p->p, m, free, 1, p->b);
    memset(p->marks, 0, m * sizeof *p->marks);
    return tr_nonnegative(p->A, p->b, m, p->lambda, p->marks, p->room);
}

void tr_settle_balance(Settle *p)
{
    reduce(p);
    const uint32_t free = p->split.free;
    bool good = take_least(p) || take_pushing(p);
    double off = 0;
    for (uint32_t k = 0; k < free && good; k++) {
        double left = p->p[k];
        for (uint32_t i = 0; i < p->contact_count; i++)
            left -= p->lambda[i] * p->Gr[(size_t)i * free + k];
        off = larger(off, fabs(left));
    }
    const double size = tr_largest(p->p, free);
    p->is_balanced = good && size > 0 && off <= BALANCED * size;
}
