// SPDX-License-Identifier: Apache-2.0
// With M_pp = C C^T, rows B = G_p C^-T, and reactions lambda of all rows that are there or may be,
//
//   s = G v' + G' v + g' = b + (B B^T + H) lambda,   H = B C^-1 W_p
//   b = G' v + g' + G_a v_a' + B C^-1 (Q0 - c - M_pa v_a')                                 (T150)
//
// with W what forces that use reactions make of them, friction of what slips already among them.
// Modes are those for which all reactions and rates have the signs they should (T151, T152).
#include "plan/contact_modes.h"

#include "num/cone.h"
#include "num/singular.h"
#include "num/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MASSLESS  1e-10 // of the largest mass
#define DEPENDENT 1e-9  // singular values of rows
#define NEARLY    1e-6  // a violation that may be one of rounding, or of the time that an event has

enum { LATCH_NUMBERS = 5 };

typedef struct Contacts {
    const System *system;
    uint32_t n, m, passive;
    uint32_t *v, *p; // velocities as inputs, those that are free as places in v
    // What the program gives, in its order and in one
    double *M, *G, *g, *bias, *c, *Q, *W, *vdot, *weight, *latch;
    double *C, *B, *b, *size, *H, *a; // in one
    double *lambda, *rate;
    bool *holds;
    Cones cones;
    uint32_t *owner; // of cones: latches
} Contacts;

// ---- metric --------------------------------------------------------------------------------

// What has no mass gets a little: rows have to hold it anyway.
static bool factorise(const Masses *of, double *C)
{
    const size_t np = of->passive, n = of->n;
    double most = 0;
    for (size_t i = 0; i < np; i++) most = fmax(most, of->M[of->p[i] * n + of->p[i]]);
    for (int little = 0; little < 2; little++) {
        for (size_t i = 0; i < np; i++)
            for (size_t k = 0; k < np; k++)
                C[i * np + k] =
                    of->M[of->p[i] * n + of->p[k]] + (i == k ? little * MASSLESS * most : 0);
        if (tr_cholesky(C, np)) return true;
    }
    return false;
}

bool tr_contact_metric(const Masses *of, double *C, double *B)
{
    const size_t np = of->passive;
    if (!factorise(of, C)) return false;
    for (size_t i = 0; i < of->m; i++) {
        for (size_t k = 0; k < np; k++) B[i * np + k] = of->G[i * of->n + of->p[k]];
        tr_solve_lower(C, np, B + i * np, 1);
    }
    return true;
}

// ---- numbers -------------------------------------------------------------------------------

static void close_contacts(Contacts *at)
{
    free(at->v);
    free(at->M);
    free(at->C);
    free(at->holds);
    free(at->cones.at);
}

static bool open_contacts(Contacts *at, const System *s, uint32_t rows)
{
    const size_t m = rows, n = tr_system_inputs(s, TR_VELOCITY, NULL);
    *at = (Contacts){.system = s, .n = (uint32_t)n, .m = rows};
    at->v = calloc(2 * n + s->latch_count + 1, sizeof *at->v);
    at->M = calloc(n * n + 2 * m * n + 3 * n + 3 * m + LATCH_NUMBERS * (size_t)s->latch_count + 1,
                   sizeof *at->M);
    at->C = calloc(n * n + m * n + m * m + 4 * m + 2 * n + 1, sizeof *at->C);
    at->holds = calloc(m + 1, sizeof *at->holds);
    at->cones.at = calloc(s->latch_count + 1u, sizeof *at->cones.at);
    if (!at->v || !at->M || !at->C || !at->holds || !at->cones.at) return false;
    at->p = at->v + n, at->owner = at->p + n;
    at->G = at->M + n * n, at->g = at->G + m * n, at->bias = at->g + m, at->c = at->bias + m;
    at->Q = at->c + n, at->W = at->Q + n, at->vdot = at->W + n * m, at->weight = at->vdot + n;
    at->latch = at->weight + m;
    at->B = at->C + n * n, at->H = at->B + m * n, at->b = at->H + m * m, at->size = at->b + m;
    at->lambda = at->size + m, at->rate = at->lambda + m, at->a = at->rate + m;
    tr_system_inputs(s, TR_VELOCITY, at->v);
    for (uint32_t k = 0; k < n; k++)
        if (!is_motion_driven(&s->inputs[at->v[k]])) at->p[at->passive++] = k;
    return true;
}

static bool is_driven(const Contacts *at, uint32_t v)
{
    return is_motion_driven(&at->system->inputs[at->v[v]]);
}

// C, B, and a = C^-1 (Q0 - c - M_pa v_a')
static bool make_metric(Contacts *at)
{
    for (uint32_t i = 0; i < at->passive; i++) {
        at->a[i] = at->Q[at->p[i]] - at->c[at->p[i]];
        for (uint32_t k = 0; k < at->n; k++)
            if (is_driven(at, k)) at->a[i] -= at->M[(size_t)at->p[i] * at->n + k] * at->vdot[k];
    }
    const Masses masses = {at->M, at->G, at->n, at->m, at->p, at->passive};
    if (!tr_contact_metric(&masses, at->C, at->B)) return false;
    tr_solve_lower(at->C, at->passive, at->a, 1);
    return true;
}

static void make_rates(Contacts *at)
{
    for (uint32_t i = 0; i < at->m; i++) {
        at->b[i] = at->bias[i], at->size[i] = fabs(at->bias[i]);
        for (uint32_t k = 0; k < at->n; k++) {
            const double term = is_driven(at, k) ? at->G[(size_t)i * at->n + k] * at->vdot[k] : 0;
            at->b[i] += term, at->size[i] += fabs(term);
        }
        for (uint32_t k = 0; k < at->passive; k++) {
            const double term = at->B[(size_t)i * at->passive + k] * at->a[k];
            at->b[i] += term, at->size[i] += fabs(term);
        }
    }
}

// H = B C^-1 W_p; false when no force uses a reaction
static bool make_coupling(Contacts *at)
{
    const uint32_t np = at->passive, m = at->m;
    double *column = at->a + np;
    bool any = false;
    for (uint32_t j = 0; j < m; j++) {
        for (uint32_t k = 0; k < np; k++) {
            column[k] = at->W[(size_t)at->p[k] * m + j];
            any = any || column[k] != 0;
        }
        tr_solve_lower(at->C, np, column, 1);
        for (uint32_t i = 0; i < m; i++) {
            double sum = 0;
            for (uint32_t k = 0; k < np; k++) sum += at->B[(size_t)i * np + k] * column[k];
            at->H[(size_t)i * m + j] = sum;
        }
    }
    return any;
}

// ---- contacts ------------------------------------------------------------------------------

static Cone cone_of(const Latch *latch, const LatchMode *mode, const double *numbers)
{
    Cone cone = {.hold = numbers[2], .slide = numbers[1], .load = numbers[3], .mode = CONE_STICKS};
    cone.opens = latch->opens, cone.has_load = latch->load.id;
    for (uint32_t k = 0; k < latch->row_count; k++) {
        if (!latch->sticks[k])
            cone.rows[cone.row_count++] = latch->rows[k];
        else if (!mode->is_slipping)
            cone.across[cone.across_count++] = latch->rows[k];
    }
    return cone;
}

// One for each latch that is not open. What slips already has its friction among the forces.
static void make_cones(Contacts *at, const bool *wary, const LatchMode *modes)
{
    const System *s = at->system;
    for (uint32_t i = 0; i < at->m; i++) at->holds[i] = true;
    for (uint32_t i = 0; i < s->latch_count; i++) {
        const Latch *latch = &s->latches[i];
        for (uint32_t k = 0; k < latch->row_count; k++) at->holds[latch->rows[k]] = false;
        if (modes[i].is_open) continue;
        Cone *cone = &at->cones.at[at->cones.count];
        *cone = cone_of(latch, &modes[i], at->latch + LATCH_NUMBERS * (size_t)i);
        cone->is_wary = wary && wary[i];
        at->owner[at->cones.count++] = i;
    }
}

static void take_modes(const Contacts *at, LatchMode *modes)
{
    for (uint32_t j = 0; j < at->cones.count; j++) {
        const Cone *cone = &at->cones.at[j];
        const Latch *latch = &at->system->latches[at->owner[j]];
        LatchMode *mode = &modes[at->owner[j]];
        if (cone->mode == CONE_OPEN) *mode = (LatchMode){.is_open = true};
        if (cone->mode != CONE_SLIPS) continue;
        *mode = (LatchMode){.is_slipping = true};
        for (uint32_t k = 0, i = 0; k < latch->row_count; k++)
            if (latch->sticks[k]) mode->heads[k] = cone->heads[i++];
    }
}

static void refuse(const Contacts *at, double t, tr_error *err)
{
    char names[300] = "";
    for (uint32_t j = 0; j < at->cones.count; j++)
        if (at->cones.at[j].is_wrong)
            tr_list_name(names, sizeof names, at->system->latches[at->owner[j]].name);
    tr_fail(err, TR_FAILED, (Place){0},
            "no forces agree with any motion at t = %.9g, whether %s opens, sticks or slips "
            "(Painleve's paradox): less friction there would help",
            t, names);
}

// Rows that hold if all sticks that can
static void list_rows(const Contacts *at, bool *holds)
{
    for (uint32_t i = 0; i < at->m; i++) holds[i] = at->holds[i];
    for (uint32_t j = 0; j < at->cones.count; j++) {
        const Cone *cone = &at->cones.at[j];
        for (uint32_t k = 0; k < cone->row_count; k++) holds[cone->rows[k]] = true;
        for (uint32_t k = 0; k < cone->across_count; k++) holds[cone->across[k]] = true;
    }
}

// Whether what may stick leaves reactions open: the least ones need not be within friction where
// others are, so that no set agrees with them.                                           (T302)
static bool are_open(const Contacts *at, tr_error *err)
{
    const size_t n = at->passive;
    bool *holds = calloc(at->m + 1u, sizeof *holds);
    double *A = calloc(at->m * n + at->m + n + 1, sizeof *A), *sigma = A ? A + at->m * n : NULL;
    uint32_t rows = 0, rank = 0;
    if (!holds || !A) tr_fail_memory(err);
    if (!has_failed(err)) list_rows(at, holds);
    for (uint32_t i = 0; !has_failed(err) && i < at->m; i++)
        if (holds[i]) memcpy(A + rows++ * n, at->B + i * n, n * sizeof *A);
    const uint32_t most = rows < n ? rows : (uint32_t)n;
    if (most && !tr_singular(A, rows, (uint32_t)n, sigma, NULL, NULL)) tr_fail_memory(err);
    while (!has_failed(err) && rank < most && sigma[rank] > DEPENDENT * sigma[0]) rank++;
    free(holds);
    free(A);
    return rank < rows;
}

// ---- all of it -----------------------------------------------------------------------------

static ModesFound find_modes(Contacts *at, const bool *wary, double t, LatchMode *modes,
                             tr_error *err)
{
    if (!make_metric(at)) return MODES_UNKNOWN;
    make_rates(at);
    Cones *c = &at->cones;
    c->rows = at->m, c->columns = at->passive;
    c->B = at->B, c->b = at->b, c->size = at->size, c->weight = at->weight;
    c->H = make_coupling(at) ? at->H : NULL;
    c->holds = at->holds, c->lambda = at->lambda, c->rate = at->rate;
    make_cones(at, wary, modes);
    if (!tr_cones_find(c))
        return c->lacks_memory ? (tr_fail_memory(err), MODES_FAILED) : MODES_UNKNOWN;
    if (c->violation > NEARLY && are_open(at, err))
        return has_failed(err) ? MODES_FAILED : MODES_UNKNOWN; // they give way one by one
    if (c->violation > NEARLY) return refuse(at, t, err), MODES_NONE;
    take_modes(at, modes);
    return MODES_FOUND;
}

ModesFound tr_contact_modes(Plan *plan, const Footing *footing, const double *x, double t,
                            const bool *wary, LatchMode *modes, tr_error *err)
{
    const System *s = plan->system;
    Evaluator program = tr_evaluator_with(tr_modes_program(plan, footing, err), err);
    Contacts at = {0};
    double *values = calloc(s->input_count + 1u, sizeof *values);
    ModesFound found = MODES_FAILED;
    if (program.work && values && open_contacts(&at, s, footing->constraints)) {
        memcpy(values, x, s->input_count * sizeof *x);
        tr_latch_put(s, modes, values);
        evaluate_into(&program, values, at.M);
        found = find_modes(&at, wary, t, modes, err);
    } else
        tr_fail_memory(err);
    close_contacts(&at);
    free(values);
    tr_evaluator_free(&program);
    return found;
}
