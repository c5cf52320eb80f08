// SPDX-License-Identifier: Apache-2.0
// Rows are scaled so that all are velocities [m/s], and velocities by the mass matrix, v = C^-T u
// with M_pp = C C^T, so that ranks do not depend on units. Then every row is made a unit.
//
// Pivots are taken as in a sparse factorisation: among entries that are not much smaller than the
// largest, one whose row and column have few others.
#include "run/chart.h"

#include "run/assemble.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANK_TOLERANCE  1e-9 // of singular values, and of pivots
#define PIVOT_THRESHOLD 0.1  // of the largest entry
#define DISAGREEMENT    1e-7 // of what cancels in a row that is left over
#define GOOD_PIVOT      1e-2 // so that a velocity that should be independent may stay so
enum { NEARBY_STATES = 6 };

// ---- numbers -------------------------------------------------------------------------------

typedef struct Numbers {
    uint32_t rows, velocities, passive;
    uint32_t *v, *p; // velocities as inputs; those that are not driven, as places in v
    double *G, *M;   // by rows
    double *scaled;  // rows * passive: unit rows, diagonal mass metric
} Numbers;

static void release(Numbers *n)
{
    free(n->v);
    free(n->p);
    free(n->G);
    free(n->M);
    free(n->scaled);
}

static bool evaluate(System *s, const char *name, const double *x, double *out, tr_error *err)
{
    const tr_compile_options fixed = {.fix_parameters = true};
    tr_program *program = tr_compile(s, name, &fixed, err);
    tr_workspace *work = tr_workspace_new(program, err);
    if (work) tr_evaluate(program, work, x, out);
    tr_workspace_free(work);
    tr_program_free(program);
    return !has_failed(err);
}

double tr_value(System *system, const char *output, const double *x, tr_error *err)
{
    double value = (double)NAN;
    evaluate(system, output, x, &value, err);
    return value;
}

// All rows, those of speeds too
static bool put_rows(System *s, uint32_t n, tr_error *err)
{
    Matrix G = tr_matrix(s->graph, s->row_count, n);
    for (uint32_t i = 0; i < s->row_count; i++)
        for (uint32_t k = 0; k < n; k++) set(G, i, k, s->rows[i].slopes[k]);
    if (!G.entries) return tr_fail_memory(err), false;
    tr_system_put(s, "run.rows", G.entries, s->row_count, n, err);
    return !has_failed(err);
}

static bool take_numbers(System *s, const double *x, Numbers *n, tr_error *err)
{
    n->rows = s->row_count;
    n->velocities = tr_system_inputs(s, TR_VELOCITY, NULL);
    const size_t m = n->rows, nv = n->velocities;
    n->v = calloc(nv + 1, sizeof *n->v);
    n->p = calloc(nv + 1, sizeof *n->p);
    n->G = calloc(m * nv + 1, sizeof *n->G);
    n->M = calloc(nv * nv + 1, sizeof *n->M);
    n->scaled = calloc(m * nv + 1, sizeof *n->scaled);
    if (!n->v || !n->p || !n->G || !n->M || !n->scaled) return tr_fail_memory(err), false;
    tr_system_inputs(s, TR_VELOCITY, n->v);
    for (uint32_t k = 0; k < nv; k++)
        if (s->inputs[n->v[k]].drive != DRIVE_MOTION) n->p[n->passive++] = k;
    if (!put_rows(s, n->velocities, err) || !evaluate(s, "run.rows", x, n->G, err) ||
        !evaluate(s, "M", x, n->M, err))
        return false;
    for (size_t i = 0; i < m * nv; i++)
        if (!isfinite(n->G[i])) {
            tr_fail(err, TR_FAILED, (Place){0}, "the constraint '%s' is not finite at the start",
                    s->rows[i / nv].name);
            return false;
        }
    return true;
}

// ---- ranks ---------------------------------------------------------------------------------

static double norm(const double *x, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += x[k] * x[k];
    return sqrt(sum);
}

// Unit rows, where they are not zero beside the largest.
static void make_rows_units(double *G, size_t rows, size_t columns)
{
    double largest = 0;
    for (size_t i = 0; i < rows; i++) largest = fmax(largest, norm(G + i * columns, columns));
    for (size_t i = 0; i < rows; i++) {
        const double size = norm(G + i * columns, columns);
        for (size_t k = 0; k < columns; k++)
            G[i * columns + k] = size > 1e-12 * largest ? G[i * columns + k] / size : 0;
    }
}

// The rows of constraints over chosen velocities, in the mass metric (of the diagonal alone, where
// something has no mass).
static bool metric_rows(const System *s, const Numbers *n, uint32_t rows, const uint32_t *pick,
                        uint32_t count, double *G)
{
    const size_t c = count;
    double *C = calloc(c * c + 1, sizeof *C);
    if (!C) return false;
    for (size_t i = 0; i < c; i++)
        for (size_t k = 0; k < c; k++) C[i * c + k] = n->M[pick[i] * n->velocities + pick[k]];
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < c; k++)
            G[i * c + k] = s->rows[i].unit * n->G[i * n->velocities + pick[k]];
    const lapack_int size = (lapack_int)count;
    if (count && LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', size, C, size) != 0) {
        for (size_t i = 0; i < c * c; i++) C[i] = 0;
        for (size_t i = 0; i < c; i++) {
            const double mass = n->M[pick[i] * n->velocities + pick[i]];
            C[i * c + i] = mass > 0 ? sqrt(mass) : 1;
        }
    }
    // G C^-T by rows is C^-1 G^T by columns
    if (count && rows)
        LAPACKE_dtrtrs(LAPACK_COL_MAJOR, 'U', 'T', 'N', size, (lapack_int)rows, C, size, G, size);
    make_rows_units(G, rows, c);
    free(C);
    return true;
}

// The rank of rows over chosen velocities; `null` gets, by row, its part in what is dependent.
static bool find_rank(const System *s, const Numbers *n, uint32_t rows, const uint32_t *pick,
                      uint32_t count, uint32_t *rank, double *null)
{
    const uint32_t most = rows > count ? rows : count;
    double *G = calloc((size_t)rows * count + 1, sizeof *G),
           *sigma = calloc(most + 1, sizeof *sigma),
           *U = calloc((size_t)rows * rows + 1, sizeof *U), *work = calloc(most + 1, sizeof *work);
    bool good = G && sigma && U && work && metric_rows(s, n, rows, pick, count, G);
    *rank = 0;
    if (good && rows && count)
        good = LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'A', 'N', (lapack_int)rows, (lapack_int)count, G,
                              (lapack_int)count, sigma, U, (lapack_int)rows, NULL,
                              (lapack_int)count, work) == 0;
    else
        for (uint32_t i = 0; U && i < rows; i++) U[i * rows + i] = 1;
    for (uint32_t k = 0; good && k < rows && k < count; k++)
        *rank += sigma[k] > RANK_TOLERANCE * sigma[0];
    for (uint32_t i = 0; good && null && i < rows; i++)
        null[i] = norm(U + (size_t)i * rows + *rank, rows - *rank);
    free(G);
    free(sigma);
    free(U);
    free(work);
    return good;
}

// ---- pivots --------------------------------------------------------------------------------

// What is still to be eliminated: rows and columns that are left, and their entries.
typedef struct Elimination {
    const Chart *chart;
    const Numbers *n;
    double *A; // rows * passive
    bool *row_used, *column_used;
    uint32_t *row, *column; // pivots
    uint32_t count;
} Elimination;

static double *entry(const Elimination *e, uint32_t i, uint32_t j)
{
    return &e->A[(size_t)i * e->n->passive + j];
}

// Rows come in stages: those that lead, then most, then those whose reaction is given; velocities
// that should stay independent are taken last.
static int row_stage(const Row *row)
{
    return row->is_speed ? 3 : row->tension.id ? 2 : row->leads ? 0 : 1;
}

static bool is_open(const Elimination *e, uint32_t i, uint32_t j, int stage, bool all)
{
    const System *s = e->chart->system;
    return !e->row_used[i] && !e->column_used[j] && row_stage(&s->rows[i]) == stage &&
           (all || !s->inputs[e->n->v[e->n->p[j]]].preferred);
}

static uint32_t entries_in_row(const Elimination *e, uint32_t i)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < e->n->passive; j++)
        count += !e->column_used[j] && fabs(*entry(e, i, j)) > RANK_TOLERANCE;
    return count;
}

static uint32_t entries_in_column(const Elimination *e, uint32_t j)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->n->rows; i++)
        count += !e->row_used[i] && fabs(*entry(e, i, j)) > RANK_TOLERANCE;
    return count;
}

static bool best_pivot(const Elimination *e, int stage, bool all, uint32_t *row, uint32_t *column)
{
    double largest = 0, best_size = 0;
    uint32_t best_fill = UINT32_MAX;
    for (uint32_t i = 0; i < e->n->rows; i++)
        for (uint32_t j = 0; j < e->n->passive; j++)
            if (is_open(e, i, j, stage, all)) largest = fmax(largest, fabs(*entry(e, i, j)));
    if (largest <= (all ? RANK_TOLERANCE : GOOD_PIVOT)) return false;
    for (uint32_t i = 0; i < e->n->rows; i++)
        for (uint32_t j = 0; j < e->n->passive; j++) {
            const double size = fabs(*entry(e, i, j));
            if (!is_open(e, i, j, stage, all) || size < PIVOT_THRESHOLD * largest) continue;
            const uint32_t fill = (entries_in_row(e, i) - 1) * (entries_in_column(e, j) - 1);
            if (fill > best_fill || (fill == best_fill && size <= best_size * (1 + 1e-9))) continue;
            best_fill = fill, best_size = size, *row = i, *column = j;
        }
    return true;
}

static void eliminate(Elimination *e, uint32_t row, uint32_t column)
{
    e->row_used[row] = e->column_used[column] = true;
    e->row[e->count] = row;
    e->column[e->count++] = column;
    const double pivot = *entry(e, row, column);
    for (uint32_t i = 0; i < e->n->rows; i++) {
        const double l = *entry(e, i, column) / pivot;
        if (e->row_used[i] || l == 0) continue;
        for (uint32_t j = 0; j < e->n->passive; j++)
            *entry(e, i, j) -= j == column ? *entry(e, i, j) : l * *entry(e, row, j);
    }
}

static void find_pivots(Elimination *e)
{
    uint32_t row = 0, column = 0;
    for (int stage = 0; stage < 4; stage++) {
        const uint32_t most = stage < 3 ? e->chart->m_locked : e->n->passive;
        for (int all = 0; all < 2; all++)
            while (e->count < most && best_pivot(e, stage, all, &row, &column))
                eliminate(e, row, column);
    }
}

static bool choose_pivots(Chart *chart, Numbers *n, tr_error *err)
{
    const System *s = chart->system;
    Elimination e = {.chart = chart, .n = n, .A = n->scaled};
    e.row_used = calloc(n->rows + 1u, sizeof *e.row_used);
    e.column_used = calloc(n->passive + 1u, sizeof *e.column_used);
    e.row = calloc(n->rows + 1u, sizeof *e.row);
    e.column = calloc(n->rows + n->passive + 1u, sizeof *e.column);
    const bool good = e.row_used && e.column_used && e.row && e.column;
    if (good) {
        for (uint32_t i = 0; i < n->rows; i++)
            for (uint32_t j = 0; j < n->passive; j++) {
                const double mass = n->M[(size_t)n->p[j] * n->velocities + n->p[j]];
                *entry(&e, i, j) = n->G[(size_t)i * n->velocities + n->p[j]] * s->rows[i].unit /
                                   (mass > 0 ? sqrt(mass) : 1);
            }
        make_rows_units(e.A, n->rows, n->passive);
        find_pivots(&e);
        for (uint32_t k = 0; k < e.count; k++) e.column[k] = n->v[n->p[e.column[k]]];
    } else
        tr_fail_memory(err);
    free(e.row_used);
    free(e.column_used);
    chart->partition = (Partition){e.row, e.column, e.count};
    return good;
}

// ---- what is dependent ---------------------------------------------------------------------

// Whether G_R = K^T G_P fails for velocities that are driven
static bool differs_when_driven(const Chart *chart, const Numbers *n, uint32_t surplus)
{
    const double *K = chart->dependence + (size_t)surplus * chart->rows;
    for (uint32_t v = 0; v < n->velocities; v++) {
        if (chart->system->inputs[n->v[v]].drive != DRIVE_MOTION) continue;
        double left = n->G[(size_t)chart->surplus[surplus] * n->velocities + v], size = fabs(left);
        for (uint32_t i = 0; i < chart->rows; i++) {
            const double term = K[i] * n->G[(size_t)i * n->velocities + v];
            left -= term, size += fabs(term);
        }
        if (fabs(left) > 1e-7 * size) return true;
    }
    return false;
}

// G_R = K^T G_P over the dependent velocities
static bool find_dependence(Chart *chart, const Numbers *n, tr_error *err)
{
    const Partition *p = &chart->partition;
    const size_t d = p->count;
    double *A = calloc(d * d + 1, sizeof *A), *b = calloc(d + 1, sizeof *b);
    lapack_int *swaps = calloc(d + 1, sizeof *swaps);
    chart->surplus = calloc(chart->rows + 1u, sizeof *chart->surplus);
    for (uint32_t i = 0; chart->surplus && i < chart->rows; i++) {
        bool pivot = false;
        for (size_t k = 0; k < d; k++) pivot = pivot || p->row[k] == i;
        if (!pivot) chart->surplus[chart->surplus_count++] = i;
    }
    chart->dependence =
        calloc((size_t)chart->surplus_count * chart->rows + 1, sizeof *chart->dependence);
    chart->antagonist = calloc(chart->surplus_count + 1u, sizeof *chart->antagonist);
    bool good = A && b && swaps && chart->surplus && chart->dependence && chart->antagonist;
    for (uint32_t j = 0; good && j < chart->surplus_count; j++) {
        for (size_t k = 0; k < d; k++) {
            uint32_t v = 0;
            while (n->v[v] != p->dependent[k]) v++;
            b[k] = n->G[(size_t)chart->surplus[j] * n->velocities + v];
            for (size_t i = 0; i < d; i++)
                A[k * d + i] = n->G[(size_t)p->row[i] * n->velocities + v];
        }
        if (d && LAPACKE_dgesv(LAPACK_ROW_MAJOR, (lapack_int)d, 1, A, (lapack_int)d, swaps, b, 1))
            continue;
        for (size_t i = 0; i < d; i++)
            if (p->row[i] < chart->rows) chart->dependence[j * chart->rows + p->row[i]] = b[i];
        chart->antagonist[j] = differs_when_driven(chart, n, j);
    }
    if (!good) tr_fail_memory(err);
    free(A);
    free(b);
    free(swaps);
    return good;
}

void tr_chart_name_group(const Chart *chart, uint32_t surplus, char *line, size_t size)
{
    const double *K = chart->dependence + (size_t)surplus * chart->rows;
    size_t length = 0;
    for (uint32_t i = 0; i < chart->rows && length + 120 < size; i++)
        if (i == chart->surplus[surplus] || fabs(K[i]) > 1e-7)
            length += (size_t)snprintf(line + length, size - length, "%s'%.100s'",
                                       length ? ", " : "", chart->system->rows[i].name);
}

bool tr_chart_agrees(const Chart *chart, uint32_t surplus, double off, double size, double t,
                     tr_error *err)
{
    if (off <= DISAGREEMENT * size + 1e-12) return true;
    char names[360];
    tr_chart_name_group(chart, surplus, names, sizeof names);
    tr_fail(err, TR_INVALID, (Place){0},
            "the motions contradict the constraints at t = %.6g: %s cannot all hold, off by %.3g",
            t, names, off);
    return false;
}

// ---- the chart -----------------------------------------------------------------------------

// A reaction can only be given where it is not unique.
static bool check_tensions(const Chart *chart, tr_error *err)
{
    for (uint32_t k = 0; k < chart->partition.count; k++) {
        const Row *row = &chart->system->rows[chart->partition.row[k]];
        if (!row->tension.id) continue;
        tr_fail(err, TR_INVALID, (Place){0},
                "the reaction '%s' is unique here: its tension cannot be given", row->name);
        return false;
    }
    return true;
}

static bool look(Chart *chart, Numbers *n, tr_error *err)
{
    System *s = chart->system;
    uint32_t *all = calloc(n->velocities + 1u, sizeof *all);
    double *null = calloc(chart->rows + 1u, sizeof *null);
    chart->hyperstatic = calloc(chart->rows + 1u, sizeof *chart->hyperstatic);
    bool good = all && null && chart->hyperstatic;
    for (uint32_t k = 0; good && k < n->velocities; k++) all[k] = k;
    good = good && find_rank(s, n, chart->rows, all, n->velocities, &chart->m, NULL) &&
           find_rank(s, n, chart->rows, n->p, n->passive, &chart->m_locked, null);
    for (uint32_t i = 0; good && i < chart->rows; i++) chart->hyperstatic[i] = null[i] > 1e-7;
    if (!good) tr_fail_memory(err);
    free(all);
    free(null);
    return good;
}

Chart *tr_chart_new(System *system, const double *x, tr_error *err)
{
    if (has_failed(err)) return NULL;
    Chart *chart = calloc(1, sizeof *chart);
    if (!chart) return tr_fail_memory(err), NULL;
    chart->system = system;
    while (chart->rows < system->row_count && !system->rows[chart->rows].is_speed) chart->rows++;
    tr_unreduce(system);
    Numbers n = {0};
    const bool good = take_numbers(system, x, &n, err) && look(chart, &n, err) &&
                      choose_pivots(chart, &n, err) && find_dependence(chart, &n, err) &&
                      check_tensions(chart, err);
    chart->passive = n.passive;
    chart->kernel = n.passive - chart->m_locked;
    release(&n);
    if (good) tr_reduce(system, &chart->partition, err);
    if (good && !has_failed(err)) return chart;
    tr_chart_free(chart);
    return NULL;
}

void tr_chart_free(Chart *chart)
{
    if (!chart) return;
    free((void *)chart->partition.row);
    free((void *)chart->partition.dependent);
    free(chart->hyperstatic);
    free(chart->surplus);
    free(chart->antagonist);
    free(chart->dependence);
    free(chart);
}

// ---- kinematic or dynamic ------------------------------------------------------------------

// A state beside x that satisfies the constraints on positions; motions a little later.
static bool step_aside(Conditions *constraints, const System *s, const double *x, int which,
                       double *beside)
{
    uint32_t random = 2463534242u + (uint32_t)which * 977u;
    tr_error unused = {0};
    for (uint32_t i = 0; i < s->input_count; i++) {
        random = random * 1664525u + 1013904223u;
        const double away = 0.05 * ((double)(random >> 8) * 0x1p-23 - 1);
        const bool moves = s->inputs[i].kind == TR_POSITION;
        beside[i] = x[i] + (moves ? away * fmax(1, fabs(x[i])) : 0);
    }
    beside[0] = x[0] + 0.01 * which;
    return tr_conditions_solve(constraints, beside, &unused);
}

bool tr_chart_kinematic(const Chart *chart, const double *x, bool *kinematic, tr_error *err)
{
    System *s = chart->system;
    const Output *H = tr_system_output(s, text_of("H"));
    const size_t rows = H->rows, columns = H->columns;
    Conditions *constraints = tr_conditions_new(s, false, false, err);
    double *values = calloc(rows * columns + 1, sizeof *values),
           *beside = calloc(s->input_count + 1u, sizeof *beside);
    bool good = constraints && values && beside;
    for (uint32_t i = 0; i < s->input_count; i++)
        kinematic[i] = s->inputs[i].kind == TR_VELOCITY && s->inputs[i].drive != DRIVE_MOTION;
    if (!good) tr_fail_memory(err);
    const tr_compile_options fixed = {.fix_parameters = true};
    tr_program *program = good && columns && rows ? tr_compile(s, "H", &fixed, err) : NULL;
    tr_workspace *work = tr_workspace_new(program, err);
    for (int which = 0; work && which < NEARBY_STATES; which++) {
        memcpy(beside, x, s->input_count * sizeof *x);
        if (which && !step_aside(constraints, s, x, which, beside)) continue;
        tr_evaluate(program, work, beside, values);
        for (uint32_t i = 0, row = 0; i < s->input_count; i++) {
            if (s->inputs[i].kind != TR_VELOCITY || s->inputs[i].drive == DRIVE_MOTION) continue;
            if (norm(values + row * columns, columns) > RANK_TOLERANCE) kinematic[i] = false;
            row++;
        }
    }
    tr_workspace_free(work);
    tr_program_free(program);
    tr_conditions_free(constraints);
    free(values);
    free(beside);
    return !has_failed(err);
}
