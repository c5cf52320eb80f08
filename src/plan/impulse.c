// SPDX-License-Identifier: Apache-2.0
// Velocities after an impact are to impulses what accelerations are to forces (T150): of a contact
//
//   v_n+ + e v_n- >= 0,  L_n >= 0,  and one of them vanishes                                  (T87)
//   |L_t| <= mu L_n where v_t+ = 0,  else L_t = -mu L_n v_t+ / |v_t+|                         (T88)
#include "plan/impulse.h"

#include "num/cone.h"
#include "num/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEARLY 1e-6 // a violation that may be one of rounding

typedef struct Work {
    double *C, *B, *b, *weight, *rate;
    double *a; // -C^-1 push
    bool *holds;
    Cones cones;
    uint32_t *owner; // of cones: latches
} Work;

static void close_work(Work *w)
{
    free(w->C);
    free(w->holds);
    free(w->cones.at);
    free(w->owner);
}

static bool open_work(Work *w, const Impulses *at)
{
    const size_t m = at->masses.m, np = at->masses.passive, latches = at->system->latch_count;
    *w = (Work){.C = calloc(np * np + m * np + 3 * m + np + 1, sizeof *w->C)};
    w->holds = calloc(m + 1, sizeof *w->holds);
    w->cones.at = calloc(latches + 1, sizeof *w->cones.at);
    w->owner = calloc(latches + 1, sizeof *w->owner);
    if (!w->C || !w->holds || !w->cones.at || !w->owner) return false;
    w->B = w->C + np * np, w->b = w->B + m * np, w->weight = w->b + m, w->rate = w->weight + m;
    w->a = w->rate + m;
    return true;
}

// Friction under a load that is no reaction has no part in impulses: what sticks by it holds.
static Cone cone_of(const Impulses *at, uint32_t i)
{
    const Latch *latch = &at->system->latches[i];
    const LatchMode *mode = &at->modes[i];
    Cone cone = {.opens = latch->opens, .hold = at->friction[i], .slide = at->friction[i]};
    double slip = 0;
    for (uint32_t k = 0; k < latch->row_count; k++) {
        const uint32_t row = latch->rows[k];
        if (!latch->sticks[k] || (latch->load.id && !mode->is_slipping))
            cone.rows[cone.row_count++] = row;
        else if (!latch->load.id)
            cone.across[cone.across_count++] = row, slip += at->rate[row] * at->rate[row];
    }
    cone.mode = mode->is_slipping && slip > 0 ? CONE_SLIPS : CONE_STICKS;
    for (uint32_t k = 0; k < cone.across_count && slip > 0; k++)
        cone.heads[k] = at->rate[cone.across[k]] / sqrt(slip);
    return cone;
}

static void make_cones(Work *w, const Impulses *at)
{
    const System *s = at->system;
    for (uint32_t i = 0; i < at->masses.m; i++) {
        w->holds[i] = true, w->b[i] = at->rate[i];
        w->weight[i] = 1 / (s->rows[i].unit * s->rows[i].unit);
    }
    for (uint32_t i = 0; i < s->latch_count; i++) {
        const Latch *latch = &s->latches[i];
        for (uint32_t k = 0; k < latch->row_count; k++) w->holds[latch->rows[k]] = false;
        if (!at->touches[i] || latch->kind == LATCH_GRIP) continue; // (T344)
        if (latch->opens) w->b[latch->rows[0]] *= 1 + at->restitution[i];
        w->cones.at[w->cones.count] = cone_of(at, i);
        w->owner[w->cones.count++] = i;
    }
}

// What the push alone does to the rates
static void add_push(const Work *w, const Impulses *at)
{
    const uint32_t np = at->masses.passive;
    for (uint32_t k = 0; k < np; k++) w->a[k] = -at->push[k];
    tr_solve_lower(w->C, np, w->a, 1);
    for (uint32_t i = 0; i < at->masses.m; i++)
        for (uint32_t k = 0; k < np; k++) w->b[i] += w->B[(size_t)i * np + k] * w->a[k];
}

// dv = C^-T (a + B^T L)
static void take_velocities(const Work *w, const Impulses *at)
{
    const uint32_t np = at->masses.passive;
    for (uint32_t k = 0; k < np; k++) {
        at->dv[k] = w->a[k];
        for (uint32_t i = 0; i < at->masses.m; i++)
            at->dv[k] += w->B[(size_t)i * np + k] * at->L[i];
    }
    tr_solve_lower_transposed(w->C, np, at->dv, 1);
}

// Whether any of the rows that hold one that is closed has a rate
static bool moves(const Work *w, const Impulses *at, const Cone *cone)
{
    for (uint32_t k = 0; k < cone->row_count; k++)
        if (fabs(w->rate[cone->rows[k]]) > CONE_TOLERANCE * at->size[cone->rows[k]]) return true;
    return false;
}

static void take_modes(const Work *w, const Impulses *at)
{
    for (uint32_t j = 0; j < w->cones.count; j++) {
        const Cone *cone = &w->cones.at[j];
        const uint32_t i = w->owner[j];
        const Latch *latch = &at->system->latches[i];
        LatchMode *mode = &at->modes[i];
        double slip = 0, still = 0;
        at->leaves[i] = cone->mode == CONE_OPEN && moves(w, at, cone);
        for (uint32_t k = 0; k < cone->across_count && cone->mode != CONE_STICKS; k++) {
            slip += w->rate[cone->across[k]] * w->rate[cone->across[k]];
            still = fmax(still, CONE_TOLERANCE * at->size[cone->across[k]]);
        }
        slip = sqrt(slip);
        if (cone->across_count) mode->is_slipping = slip > still;
        for (uint32_t k = 0, n = 0; k < latch->row_count && cone->across_count; k++)
            if (latch->sticks[k])
                mode->heads[k] = slip > still ? w->rate[cone->across[n++]] / slip : 0;
    }
}

bool tr_impulses_find(Impulses *at, tr_error *err)
{
    Work w;
    const bool has_room = open_work(&w, at);
    bool found = has_room && tr_contact_metric(&at->masses, w.C, w.B);
    if (!has_room) tr_fail_memory(err);
    if (found) {
        Cones *c = &w.cones;
        make_cones(&w, at);
        add_push(&w, at);
        c->rows = at->masses.m, c->columns = at->masses.passive;
        c->B = w.B, c->b = w.b, c->size = at->size, c->weight = w.weight, c->holds = w.holds;
        c->lambda = at->L, c->rate = w.rate;
        found = tr_cones_find(c) && c->violation <= NEARLY;
        if (c->lacks_memory) tr_fail_memory(err);
    }
    if (found) {
        take_velocities(&w, at);
        take_modes(&w, at);
    }
    close_work(&w);
    return found;
}
