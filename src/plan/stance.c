// SPDX-License-Identifier: Apache-2.0
// Rank in the metric of the masses (T61).
#include "plan/stance.h"

#include "num/dense.h"
#include "num/singular.h"
#include "num/solve.h"
#include "plan/stance_numbers.h"

#include <math.h>
#include <stdlib.h>

// ---- numbers -------------------------------------------------------------------------------

Stance *tr_stance_new(const System *system, const Footing *footing, tr_error *err)
{
    Stance *s = has_failed(err) ? NULL : calloc(1, sizeof *s);
    if (!s) return tr_fail_memory(err), NULL;
    s->system = system, s->open = footing->open;
    s->all = system->row_count, s->rows = footing->constraints;
    const size_t n = s->velocities = tr_system_velocities(system, NULL);
    s->v = calloc(n + 1, sizeof *s->v);
    s->p = calloc(n + 1, sizeof *s->p);
    s->G = calloc(s->all * n + n * n + 3 * (size_t)s->all + 1, sizeof *s->G);
    s->mix = s->G ? s->G + s->all * n : NULL, s->M = s->G ? s->mix + 3 * (size_t)s->all : NULL;
    s->square = calloc(2 * (size_t)s->all + 1, sizeof *s->square);
    s->scale = s->square ? s->square + s->all : NULL;
    s->work = calloc(s->all * n + 1, sizeof *s->work);
    s->program = tr_evaluator_with(footing->stance, err);
    const bool has_room = s->v && s->p && s->G && s->square && s->work && tr_stance_open(s);
    if (!has_room) tr_fail_memory(err);
    if (has_room && !has_failed(err)) {
        tr_system_velocities(system, s->v);
        for (uint32_t k = 0; k < n; k++)
            if (!is_motion_driven(&system->inputs[s->v[k]])) s->p[s->passive++] = k;
        s->preferred = s->all - s->rows;
        for (uint32_t k = 0; k < n; k++) s->preferred += system->inputs[s->v[k]].preferred;
        if (s->preferred > s->passive) s->preferred = s->passive;
        return s;
    }
    tr_stance_free(s);
    return NULL;
}

void tr_stance_free(Stance *s)
{
    if (!s) return;
    tr_evaluator_free(&s->program);
    tr_stance_close(s);
    free(s->v);
    free(s->p);
    free(s->G);
    free(s->square);
    free(s->work);
    free(s);
}

// Over all velocities: a row that is about driven ones alone has a size, too; one that is open has
// none.
static void measure_rows(Stance *s)
{
    for (uint32_t i = 0; i < s->all; i++) {
        double sum = 0;
        if (s->open[i]) continue;
        for (uint32_t k = 0; k < s->velocities; k++) {
            const double entry = stance_slope(s, i, k) / stance_root_mass(s, k);
            sum += entry * entry;
        }
        s->square[i] = larger(s->square[i], sum);
    }
}

static double size_of(const Stance *s, uint32_t row) { return sqrt(s->square[row]); }

void tr_stance_rescale(Stance *s)
{
    const Row *rows = s->system->rows;
    double largest = 0;
    for (uint32_t i = 0; i < s->rows; i++) largest = larger(largest, size_of(s, i) * rows[i].unit);
    for (uint32_t i = 0; i < s->all; i++) {
        const bool counts = !s->open[i] && size_of(s, i) * rows[i].unit > 1e-12 * largest;
        s->scale[i] = counts ? 1 / size_of(s, i) : 0;
    }
}

bool tr_stance_take(Stance *s, const double *x)
{
    tr_stance_evaluate(s, x);
    const size_t n = s->velocities;
    if (!all_finite(s->G, s->all * n) || !all_finite(s->M, n * n)) return false;
    measure_rows(s);
    tr_stance_rescale(s);
    return true;
}

bool tr_stance_grow(Stance *s, const double *square)
{
    bool grows = false;
    if (!all_finite(square, s->all)) return false;
    for (uint32_t i = 0; i < s->all; i++) grows = grows || square[i] > s->square[i];
    if (!grows) return true;
    for (uint32_t i = 0; i < s->all; i++) s->square[i] = larger(s->square[i], square[i]);
    tr_stance_rescale(s);
    return true;
}

// ---- ranks ---------------------------------------------------------------------------------

// C with M_pp = C C^T; of the diagonal alone, where something has no mass.
static bool factorise(const Stance *s, const uint32_t *pick, size_t n, double *C)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) C[i * n + k] = s->M[pick[i] * s->velocities + pick[k]];
    if (tr_cholesky(C, n)) return true;
    for (size_t i = 0; i < n * n; i++) C[i] = 0;
    for (size_t i = 0; i < n; i++) C[i * n + i] = stance_root_mass(s, pick[i]);
    return false;
}

// S G C^-T
static bool metric_rows(const Stance *s, const uint32_t *pick, uint32_t n, uint32_t without,
                        double *C, double *G)
{
    for (uint32_t i = 0; i < s->rows; i++) {
        const double scale = i == without ? 0 : s->scale[i];
        for (uint32_t k = 0; k < n; k++) G[(size_t)i * n + k] = scale * stance_slope(s, i, pick[k]);
    }
    const bool has_mass = factorise(s, pick, n, C);
    tr_solve_lower_rows(C, n, G, s->rows);
    return has_mass;
}

// What has no columns has rank 0, and every row of it depends on nothing else.
static void set_identity(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++) a[i * n + i] = 1;
}

// Of rows in the metric of C
static bool rank_by_values(const Stance *s, const double *G, const double *C, double tolerance,
                           double *sigma, Rank *r)
{
    const uint32_t m = s->rows, n = r->columns;
    const bool is_clear = !r->right && m > MANY_ROWS && n > MANY_ROWS &&
                          tr_clear_rank(G, m, n, tolerance, &r->rank, r->left);
    if (!is_clear && !tr_singular(G, m, n, sigma, r->left, r->right)) return false;
    if (!is_clear) r->rank = 0;
    for (uint32_t k = 0; !is_clear && k < m && k < n; k++)
        if (sigma[k] > tolerance * sigma[0]) r->rank++;
    for (uint32_t k = 0; k < m; k++) tr_stance_own_rows(s, r->left + k, m);
    for (uint32_t k = 0; r->right && k < n; k++) // back from the metric: v = C^-T u
        tr_solve_lower_transposed(C, n, r->right + (size_t)k * n, 1);
    return true;
}

bool tr_stance_rank(const Stance *s, bool locked, uint32_t without, double tolerance, bool kernel,
                    Rank *r)
{
    const uint32_t m = s->rows, n = locked ? s->passive : s->velocities;
    const size_t most = m > n ? m : n;
    uint32_t *pick = calloc(n + 1u, sizeof *pick);
    double *G = calloc((size_t)m * n + 1, sizeof *G), *C = calloc((size_t)n * n + 1, sizeof *C),
           *sigma = calloc(most + 1, sizeof *sigma);
    *r = (Rank){.columns = n};
    r->left = calloc((size_t)m * m + 1, sizeof *r->left);
    r->right = kernel ? calloc((size_t)n * n + 1, sizeof *r->right) : NULL;
    bool good = pick && G && C && sigma && r->left && (r->right || !kernel), is_full = false;
    for (uint32_t k = 0; good && k < n; k++) pick[k] = locked ? s->p[k] : k;
    if (good && m && n) {
        metric_rows(s, pick, n, without, C, G);
        is_full = !kernel && m <= n && tr_are_independent(G, m, n, tolerance, r->left);
    }
    if (is_full) {
        r->rank = m;
    } else if (good && m && n) {
        good = rank_by_values(s, G, C, tolerance, sigma, r);
    } else if (good) {
        set_identity(r->left, m);
        if (kernel) set_identity(r->right, n);
    }
    free(pick);
    free(G);
    free(C);
    free(sigma);
    if (!good) tr_rank_free(r);
    return good;
}

void tr_stance_own_rows(const Stance *s, double *x, size_t stride)
{
    for (uint32_t i = 0; i + 2 < s->rows; i++) {
        const Row *row = &s->system->rows[i];
        if (!row->is_mixed || row->inner_first != i) continue;
        const double inner[3] = {x[i * stride], x[(i + 1) * stride], x[(i + 2) * stride]};
        for (uint32_t k = 0; k < 3; k++) {
            const double *mix = s->mix + 3 * (size_t)(i + k);
            x[(i + k) * stride] = mix[0] * inner[0] + mix[1] * inner[1] + mix[2] * inner[2];
        }
    }
}

bool tr_stance_metric(const Stance *s, double *C, double *B)
{
    return metric_rows(s, s->p, s->passive, NO_ROW, C, B);
}

void tr_rank_free(Rank *r)
{
    free(r->left);
    free(r->right);
    *r = (Rank){0};
}

double tr_rank_dependence(const Rank *r, uint32_t rows, uint32_t row)
{
    return tr_norm(r->left + (size_t)row * rows + r->rank, rows - r->rank);
}
