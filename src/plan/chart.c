// SPDX-License-Identifier: Apache-2.0
// Pivots are taken as in a sparse factorisation: among entries that are not much smaller than the
// largest, one whose row and column have few others (T62-T65).
#include "plan/chart.h"

#include "expr/forest.h"
#include "num/dense.h"
#include "num/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PIVOT_THRESHOLD 0.1  // of the largest entry
#define ROOT_THRESHOLD  0.03 // for what saves most
#define LEAST_PIVOT     1e-3 // of rows that are taken before others along the tree
#define GOOD_PIVOT      0.1  // so that a velocity that should be independent may stay so

// ---- pivots --------------------------------------------------------------------------------

// What is still to be eliminated: rows and columns that are left, and their entries.
typedef struct Elimination {
    const Stance *at;
    uint32_t most; // pivots of constraints
    double *A;     // rows * passive
    bool *row_used, *column_used;
    uint32_t *row, *column; // pivots
    uint32_t count;
    uint32_t *link;   // of the forest, by velocity
    uint32_t *filled; // room for columns
} Elimination;

static double *entry(const Elimination *e, uint32_t i, uint32_t j)
{
    return &e->A[(size_t)i * e->at->passive + j];
}

// Rows come in stages: those that lead, then those with positions, which are projected onto, then
// most, then those whose reaction is given; velocities that should stay independent are taken last.
enum { SPEEDS = 4, STAGES };
static int row_stage(const Row *row)
{
    if (row->is_speed) return SPEEDS;
    if (row->tension.id) return 3;
    return row->leads ? 0 : row->position.id ? 1 : 2;
}

static bool is_open(const Elimination *e, uint32_t i, uint32_t j, int stage, bool all)
{
    const System *s = e->at->system;
    return !e->row_used[i] && !e->at->open[i] && !e->column_used[j] &&
           row_stage(&s->rows[i]) == stage && (all || !s->inputs[e->at->v[e->at->p[j]]].preferred);
}

static uint32_t entries_in_row(const Elimination *e, uint32_t i)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < e->at->passive; j++)
        count += !e->column_used[j] && fabs(*entry(e, i, j)) > RANK_TOLERANCE;
    return count;
}

static uint32_t entries_in_column(const Elimination *e, uint32_t j)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->at->all; i++)
        count += !e->row_used[i] && fabs(*entry(e, i, j)) > RANK_TOLERANCE;
    return count;
}

// A slope that is 1 or -1 everywhere: nothing need be divided by it.
static bool has_unit_slope(const Elimination *e, uint32_t i, uint32_t j)
{
    const Row *row = &e->at->system->rows[i];
    if (!row->inner_slopes) return false;
    const Expr slope = row->inner_slopes[e->at->p[j]];
    return is_value(slope, 1) || is_value(slope, -1);
}

// A contact's velocity has unit slopes along those of its tree's root: eliminating the root makes
// the contact the joint that carries the tree, which saves most.
static bool is_root(const Elimination *e, uint32_t i, uint32_t j)
{
    return e->at->system->rows[i].is_mixed && has_unit_slope(e, i, j);
}

// How many velocities a row is about, wherever the system stands; those that are driven as well
static uint32_t slopes_of(const Elimination *e, uint32_t i)
{
    const Row *row = &e->at->system->rows[i];
    uint32_t count = 0;
    for (uint32_t k = 0; row->inner_slopes && k < e->at->velocities; k++)
        count += !is_zero(row->inner_slopes[k]);
    return count;
}

// What makes a pivot good: little fill; of a root, a row that is about few velocities; its size
typedef struct Worth {
    uint32_t fill, slopes;
    double size;
} Worth;

static bool is_better(const Worth *a, const Worth *b)
{
    if (a->fill != b->fill) return a->fill < b->fill;
    if (a->slopes != b->slopes) return a->slopes < b->slopes;
    return a->size > b->size * (1 + 1e-9);
}

static bool best_pivot(const Elimination *e, int stage, bool all, uint32_t *row, uint32_t *column)
{
    double largest = 0;
    Worth best = {.fill = UINT32_MAX};
    for (uint32_t i = 0; i < e->at->all; i++)
        for (uint32_t j = 0; j < e->at->passive; j++)
            if (is_open(e, i, j, stage, all)) largest = larger(largest, fabs(*entry(e, i, j)));
    if (largest <= (all && stage < SPEEDS ? RANK_TOLERANCE : GOOD_PIVOT)) return false;
    for (uint32_t i = 0; i < e->at->all; i++)
        for (uint32_t j = 0; j < e->at->passive; j++) {
            const double size = fabs(*entry(e, i, j));
            const double enough = is_root(e, i, j) ? ROOT_THRESHOLD : PIVOT_THRESHOLD;
            if (!is_open(e, i, j, stage, all) || size < enough * largest) continue;
            const uint32_t others = (entries_in_row(e, i) - 1) * (entries_in_column(e, j) - 1);
            const uint32_t fill =
                is_root(e, i, j) ? others
                                 : 2 * others + !has_unit_slope(e, i, j) +
                                       !e->at->system->inputs[e->at->v[e->at->p[j]]].is_base + 100;
            const Worth worth = {fill, is_root(e, i, j) ? slopes_of(e, i) : 0, size};
            if (!is_better(&worth, &best)) continue;
            best = worth, *row = i, *column = j;
        }
    return true;
}

// Columns that are left where a row has entries; how many
static uint32_t list_filled(const Elimination *e, uint32_t row)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < e->at->passive; j++)
        if (!e->column_used[j] && *entry(e, row, j) != 0) e->filled[count++] = j;
    return count;
}

// Rows of a long chain have few entries by the time they are pivots: of a thousand skates all
// columns take forty times as long.
static void eliminate(Elimination *e, uint32_t row, uint32_t column)
{
    e->row_used[row] = e->column_used[column] = true;
    e->row[e->count] = row;
    e->column[e->count++] = column;
    const double pivot = *entry(e, row, column);
    const uint32_t filled = list_filled(e, row);
    for (uint32_t i = 0; i < e->at->all; i++) {
        const double l = *entry(e, i, column) / pivot;
        if (e->row_used[i] || l == 0) continue;
        *entry(e, i, column) = 0;
        for (uint32_t k = 0; k < filled; k++)
            *entry(e, i, e->filled[k]) -= l * *entry(e, row, e->filled[k]);
    }
}

// ---- pivots along the tree -----------------------------------------------------------------

// The link that a passive velocity moves
static uint32_t link_of(const Elimination *e, uint32_t j) { return e->link[e->at->p[j]]; }

static bool hangs_from(const Forest *f, uint32_t link, uint32_t base)
{
    while (link != base && link != NO_LINK && link > base) link = f->links[link].parent;
    return link == base;
}

static bool is_root_link(const Elimination *e, uint32_t link)
{
    return e->at->system->forest->links[link].parent == NO_LINK;
}

typedef struct Group {
    uint32_t base;
    bool loops, all; // kind of rows; columns anywhere
    int stage;       // -1: any
} Group;

static bool is_in(const Elimination *e, const Group *g, uint32_t i)
{
    const Row *row = &e->at->system->rows[i];
    return row->base == g->base && !row->is_speed && !e->row_used[i] && !e->at->open[i] &&
           row->is_behind == g->loops && (g->stage < 0 || row_stage(row) == g->stage);
}

static bool is_preferred(const Elimination *e, uint32_t j)
{
    return e->at->system->inputs[e->at->v[e->at->p[j]]].preferred;
}

// Among rows of one link, and velocities of it or behind it, as long as they are not much smaller
// than others of the row
static bool best_of_group(const Elimination *e, const Group *g, uint32_t *row, uint32_t *column)
{
    const Forest *f = e->at->system->forest;
    uint32_t best_fill = UINT32_MAX;
    double best_size = 0;
    for (uint32_t i = 0; i < e->at->all; i++) {
        double largest = 0;
        if (!is_in(e, g, i)) continue;
        for (uint32_t j = 0; j < e->at->passive; j++)
            if (!e->column_used[j]) largest = larger(largest, fabs(*entry(e, i, j)));
        const bool is_last = g->all && entries_in_row(e, i) == 1; // there will be no better one
        if (largest <= (is_last ? 1e3 * RANK_TOLERANCE : LEAST_PIVOT)) continue;
        for (uint32_t j = 0; j < e->at->passive; j++) {
            const double size = fabs(*entry(e, i, j));
            const double enough = is_root(e, i, j) ? ROOT_THRESHOLD : PIVOT_THRESHOLD;
            if (e->column_used[j] || is_preferred(e, j) || size < enough * largest) continue;
            if (!g->all && !hangs_from(f, link_of(e, j), g->base)) continue;
            const uint32_t others = (entries_in_row(e, i) - 1) * (entries_in_column(e, j) - 1);
            const uint32_t fill =
                is_root(e, i, j) ? others : 2 * others + !has_unit_slope(e, i, j) + 100;
            if (fill > best_fill || (fill == best_fill && size <= best_size * (1 + 1e-9))) continue;
            best_fill = fill, best_size = size, *row = i, *column = j;
        }
    }
    return best_fill < UINT32_MAX;
}

static void take_group(Elimination *e, Group g)
{
    uint32_t row = 0, column = 0;
    while (e->count < e->most && best_of_group(e, &g, &row, &column)) eliminate(e, row, column);
}

// A base's own velocity that a row of a contact has a unit slope along
static bool unit_pivot(const Elimination *e, uint32_t i, uint32_t *column)
{
    for (uint32_t j = 0; j < e->at->passive; j++) {
        const double size = fabs(*entry(e, i, j));
        if (e->column_used[j] || is_preferred(e, j) || !is_root(e, i, j)) continue;
        *column = j;
        return size > GOOD_PIVOT * ROOT_THRESHOLD;
    }
    return false;
}

// A contact that holds its base in all three directions carries the tree, best one that the base
// itself has.
static void take_carrier(Elimination *e, uint32_t base)
{
    const Forest *f = e->at->system->forest;
    for (int nearest = 1; nearest >= 0; nearest--)
        for (uint32_t c = 0; c < f->rolling_count; c++) {
            const Rolling *rolling = &f->rolling[c];
            uint32_t columns[3], good = 0;
            if ((rolling->link == base) != nearest) continue;
            for (int k = 0; k < 3; k++) {
                const uint32_t i = rolling->rows[k];
                good += e->at->system->rows[i].base == base && !e->row_used[i] && !e->at->open[i] &&
                        unit_pivot(e, i, &columns[k]);
            }
            if (good < 3) continue;
            for (int k = 0; k < 3; k++) eliminate(e, rolling->rows[k], columns[k]);
            return;
        }
}

static bool is_deep(const Elimination *e)
{
    const System *s = e->at->system;
    for (uint32_t i = 0; i < e->at->rows; i++)
        if (s->rows[i].base != NO_LINK && !s->rows[i].is_behind &&
            !is_root_link(e, s->rows[i].base))
            return true;
    return false;
}

// Loops from the tips to the base, then contacts from the base to the tips: so that what is left to
// a link is little, and rows stay near it. A row of a base may wait for the rest.
static void find_along(Elimination *e, int stage)
{
    const Forest *f = e->at->system->forest;
    for (uint32_t i = f->link_count; i-- > 0;) take_group(e, (Group){i, true, false, stage});
    for (uint32_t i = 0; i < f->link_count; i++) {
        if (is_root_link(e, i) && stage < 0) take_carrier(e, i);
        if (is_root_link(e, i) && !is_deep(e)) continue;
        take_group(e, (Group){i, false, false, stage});
        take_group(e, (Group){i, false, true, stage});
    }
}

// Whether rows may be taken in any order: none of them leads or has its reaction given
static bool may_reorder(const Elimination *e)
{
    const System *s = e->at->system;
    for (uint32_t i = 0; i < e->at->all; i++)
        if (!e->at->open[i] && (s->rows[i].leads || s->rows[i].tension.id)) return false;
    return s->forest != NULL;
}

static uint32_t count_closed(const Elimination *e)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->at->rows; i++) count += !e->at->open[i];
    return count;
}

static void find_pivots(Elimination *e)
{
    uint32_t row = 0, column = 0;
    if (may_reorder(e) && e->most == count_closed(e)) find_along(e, -1);
    for (int stage = 0; stage < STAGES; stage++) {
        const uint32_t most = stage < SPEEDS ? e->most : e->at->passive;
        if (may_reorder(e) && stage < SPEEDS) find_along(e, stage);
        for (int all = 0; all < 2; all++)
            while (e->count < most && best_pivot(e, stage, all, &row, &column))
                eliminate(e, row, column);
    }
}

// S G_p, with the diagonal of the mass metric
static void scale_rows(const Stance *at, const uint32_t *rows, uint32_t count, double *A)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = rows ? rows[i] : i;
        double *entries = A + (size_t)i * at->passive;
        const double scale = at->scale[row];
        for (uint32_t j = 0; j < at->passive; j++)
            entries[j] = scale * stance_slope(at, row, at->p[j]) / stance_root_mass(at, at->p[j]);
    }
}

static bool choose_pivots(Chart *chart, const Stance *at, tr_error *err)
{
    Elimination e = {.at = at, .most = chart->m_locked};
    e.A = calloc((size_t)at->all * at->passive + 1, sizeof *e.A);
    e.row_used = calloc(at->all + 1u, sizeof *e.row_used);
    e.column_used = calloc(at->passive + 1u, sizeof *e.column_used);
    e.row = calloc(at->all + 1u, sizeof *e.row);
    e.column = calloc(at->all + 1u, sizeof *e.column);
    e.link = calloc(at->velocities + at->passive + 1u, sizeof *e.link);
    e.filled = e.link ? e.link + at->velocities : NULL;
    const bool good = e.A && e.row_used && e.column_used && e.row && e.column && e.link;
    const Forest *f = at->system->forest;
    for (uint32_t i = 0; e.link && f && i < f->link_count; i++)
        for (uint32_t k = 0; k < f->links[i].velocity_count; k++)
            e.link[f->links[i].velocity + k] = i;
    if (good) {
        scale_rows(at, NULL, at->all, e.A);
        find_pivots(&e);
        for (uint32_t k = 0; k < e.count; k++) e.column[k] = at->v[at->p[e.column[k]]];
    } else
        tr_fail_memory(err);
    free(e.A);
    free(e.row_used);
    free(e.column_used);
    free(e.link);
    chart->partition = (Partition){.row = e.row, .dependent = e.column, .count = e.count};
    return good;
}

// ---- quality -------------------------------------------------------------------------------

static uint32_t passive_place(const Stance *at, uint32_t input)
{
    uint32_t j = 0;
    while (at->v[at->p[j]] != input) j++;
    return j;
}

Quality tr_chart_quality(const Chart *chart, const Stance *at)
{
    const Partition *p = &chart->partition;
    const uint32_t columns = at->passive;
    double *A = at->work;
    Quality q = {.least = 1, .sign = 1};
    scale_rows(at, p->row, p->count, A);
    for (uint32_t k = 0; k < p->count; k++) { // Gauss and Jordan
        const uint32_t place = passive_place(at, p->dependent[k]);
        const double pivot = A[(size_t)k * columns + place];
        q.least = smaller(q.least, fabs(pivot));
        if (pivot < 0) q.sign = -q.sign;
        if (pivot == 0) return (Quality){.tilt = (double)INFINITY};
        for (uint32_t j = 0; j < columns; j++) A[(size_t)k * columns + j] /= pivot;
        for (uint32_t i = 0; i < p->count; i++) {
            const double l = A[(size_t)i * columns + place];
            if (i == k || l == 0) continue;
            for (uint32_t j = 0; j < columns; j++)
                A[(size_t)i * columns + j] -= l * A[(size_t)k * columns + j];
        }
    }
    for (uint32_t k = 0; k < p->count; k++)
        A[(size_t)k * columns + passive_place(at, p->dependent[k])] = 0;
    for (size_t i = 0; i < (size_t)p->count * columns; i++) q.tilt = larger(q.tilt, fabs(A[i]));
    return q;
}

Quality tr_chart_watched(const Chart *chart, Stance *at, const double *squares,
                         const double *pivots, double tilt)
{
    const Partition *p = &chart->partition;
    Quality q = {.tilt = tilt, .least = 1, .sign = 1};
    if (!tr_stance_grow(at, squares)) return (Quality){.tilt = (double)INFINITY};
    for (uint32_t k = 0; k < p->count; k++) {
        const double pivot = at->scale[p->row[k]] * pivots[k];
        q.least = smaller(q.least, fabs(pivot));
        q.sign = pivot < 0 ? -q.sign : q.sign;
    }
    // behind a pivot that is zero nothing is a number
    return q.least > 0 && isfinite(tilt) ? q : (Quality){.tilt = (double)INFINITY};
}

uint32_t tr_chart_preferred(const Chart *chart)
{
    const System *s = chart->system;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->input_count; i++) count += s->inputs[i].preferred;
    for (uint32_t k = 0; k < chart->partition.count; k++) {
        count -= s->inputs[chart->partition.dependent[k]].preferred;
        count += s->rows[chart->partition.row[k]].is_speed;
    }
    return count;
}

static bool have_same_pivots(const Partition *a, const Partition *b)
{
    const size_t size = a->count * sizeof *a->row;
    return a->count == b->count && memcmp(a->row, b->row, size) == 0 &&
           memcmp(a->dependent, b->dependent, size) == 0;
}

bool tr_chart_equal(const Chart *a, const Chart *b)
{
    return have_same_pivots(&a->partition, &b->partition) && a->surplus_count == b->surplus_count &&
           memcmp(a->antagonist, b->antagonist, a->surplus_count * sizeof *a->antagonist) == 0;
}

bool tr_chart_stays(const Chart *chart, const Stance *at, tr_error *err)
{
    Chart other = {.system = chart->system, .rows = chart->rows, .m_locked = chart->m_locked};
    const bool stays =
        choose_pivots(&other, at, err) && have_same_pivots(&chart->partition, &other.partition);
    free((void *)other.partition.row);
    free((void *)other.partition.dependent);
    return stays;
}

// ---- what is dependent ---------------------------------------------------------------------

static double product(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += a[k] * b[k];
    return sum;
}

// Whether G_R = K^T G_P fails for velocities that are driven, and differently than for the surplus
// rows before it. What remains of each is kept, made a unit.
static bool differs_when_driven(const Chart *chart, const Stance *at, uint32_t surplus,
                                double *remainders)
{
    const double *K = chart->dependence + (size_t)surplus * chart->rows;
    double *own = remainders + (size_t)surplus * at->velocities, largest = 0;
    for (uint32_t v = 0; v < at->velocities; v++) {
        const double unit = stance_root_mass(at, v);
        double left = stance_slope(at, chart->surplus[surplus], v), size = fabs(left);
        for (uint32_t i = 0; i < chart->rows; i++) {
            const double term = K[i] * stance_slope(at, i, v);
            left -= term, size += fabs(term);
        }
        largest =
            larger(largest, size / unit); // of all: driven slopes may be rounding errors alone
        if (is_motion_driven(&chart->system->inputs[at->v[v]])) own[v] = left / unit;
    }
    for (uint32_t j = 0; j < surplus; j++) {
        const double *other = remainders + (size_t)j * at->velocities;
        const double along = product(own, other, at->velocities);
        for (uint32_t v = 0; v < at->velocities; v++) own[v] -= along * other[v];
    }
    const double size = sqrt(product(own, own, at->velocities));
    const bool differs = size > 1e-7 * largest;
    for (uint32_t v = 0; v < at->velocities; v++) own[v] = differs ? own[v] / size : 0;
    return differs;
}

// The surplus row less what it is made of, by the model's own rows
static void name_shares(Chart *chart, const Stance *at, uint32_t surplus)
{
    double *shares = chart->shares + (size_t)surplus * chart->rows;
    memcpy(shares, chart->dependence + (size_t)surplus * chart->rows, chart->rows * sizeof *shares);
    shares[chart->surplus[surplus]] -= 1;
    tr_stance_own_rows(at, shares, 1);
}

// G_R = K^T G_P over the dependent velocities
static bool find_dependence(Chart *chart, const Stance *at, tr_error *err)
{
    const Partition *p = &chart->partition;
    const size_t d = p->count;
    chart->surplus = calloc(chart->rows + 1u, sizeof *chart->surplus);
    for (uint32_t i = 0; chart->surplus && i < chart->rows; i++)
        if (!at->open[i] && !is_pivot(p, i)) chart->surplus[chart->surplus_count++] = i;
    const size_t count = chart->surplus_count;
    double *A = calloc(d * d + 1, sizeof *A), *B = calloc(d * count + 1, sizeof *B);
    chart->dependence =
        calloc((size_t)chart->surplus_count * chart->rows + 1, sizeof *chart->dependence);
    chart->shares = calloc((size_t)chart->surplus_count * chart->rows + 1, sizeof *chart->shares);
    chart->antagonist = calloc(chart->surplus_count + 1u, sizeof *chart->antagonist);
    double *remainders =
        calloc((size_t)chart->surplus_count * at->velocities + 1, sizeof *remainders);
    bool good = A && B && remainders && chart->surplus && chart->dependence && chart->antagonist &&
                chart->shares;
    for (size_t k = 0; good && k < d; k++) {
        uint32_t v = 0;
        while (at->v[v] != p->dependent[k]) v++;
        for (size_t j = 0; j < count; j++)
            B[k * count + j] = stance_slope(at, chart->surplus[j], v);
        for (size_t i = 0; i < d; i++) A[k * d + i] = stance_slope(at, p->row[i], v);
    }
    const bool is_solved = good && count && tr_solve(A, d, B, count);
    for (uint32_t j = 0; is_solved && j < count; j++) {
        for (size_t i = 0; i < d; i++)
            if (p->row[i] < chart->rows)
                chart->dependence[j * chart->rows + p->row[i]] = B[i * count + j];
        chart->antagonist[j] = differs_when_driven(chart, at, j, remainders);
        name_shares(chart, at, j);
    }
    chart->partition.antagonist = chart->antagonist;
    if (!good) tr_fail_memory(err);
    free(A);
    free(B);
    free(remainders);
    return good;
}

bool tr_chart_in_group(const Chart *chart, uint32_t surplus, uint32_t row)
{
    return fabs(chart->shares[(size_t)surplus * chart->rows + row]) > 1e-7;
}

void tr_chart_name_group(const Chart *chart, uint32_t surplus, char *line, size_t size)
{
    line[0] = 0;
    for (uint32_t i = 0; i < chart->rows; i++)
        if (tr_chart_in_group(chart, surplus, i))
            tr_list_name(line, size, chart->system->rows[i].name);
}

bool tr_chart_agrees(const Chart *chart, uint32_t surplus, double off, double size, double t,
                     tr_error *err)
{
    if (DOES_ROW_HOLD(off, size)) return true;
    char names[360];
    tr_chart_name_group(chart, surplus, names, sizeof names);
    tr_fail(err, TR_INVALID, chart->system->rows[chart->surplus[surplus]].place,
            "%s at t = %.6g: %s cannot all hold, off by %.3g",
            chart->antagonist[surplus] ? "the motions contradict the constraints"
                                       : "the constraints contradict each other",
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
        tr_fail(err, TR_INVALID, row->place,
                "the tension of '%s' cannot be given: this reaction is unique, or follows from "
                "other tensions",
                row->name);
        return false;
    }
    return true;
}

static bool find_ranks(Chart *chart, const Stance *at, tr_error *err)
{
    Rank whole = {0}, locked = {0};
    chart->hyperstatic = calloc(chart->rows + 1u, sizeof *chart->hyperstatic);
    bool good =
        chart->hyperstatic && tr_stance_rank(at, true, NO_ROW, RANK_TOLERANCE, false, &locked);
    const bool differs = at->passive < at->velocities && locked.rank < at->rows;
    if (good && differs) good = tr_stance_rank(at, false, NO_ROW, RANK_TOLERANCE, false, &whole);
    if (good) {
        chart->m_locked = locked.rank, chart->m = differs ? whole.rank : locked.rank;
        for (uint32_t i = 0; i < chart->rows; i++)
            chart->hyperstatic[i] =
                !at->open[i] && tr_rank_dependence(&locked, chart->rows, i) > 1e-7;
    } else
        tr_fail_memory(err);
    tr_rank_free(&whole);
    tr_rank_free(&locked);
    return good;
}

Chart *tr_chart_empty(const System *system, uint32_t rows, tr_error *err)
{
    Chart *chart = has_failed(err) ? NULL : calloc(1, sizeof *chart);
    if (!chart) return tr_fail_memory(err), NULL;
    chart->system = system, chart->rows = rows;
    for (uint32_t i = 0; i < system->input_count; i++)
        chart->passive +=
            system->inputs[i].kind == TR_VELOCITY && !is_motion_driven(&system->inputs[i]);
    return chart;
}

Chart *tr_chart_new(const Stance *at, tr_error *err)
{
    Chart *chart = tr_chart_empty(at->system, at->rows, err);
    if (!chart) return NULL;
    const bool good = find_ranks(chart, at, err) && choose_pivots(chart, at, err) &&
                      find_dependence(chart, at, err) && check_tensions(chart, err);
    if (good) return chart;
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
    free(chart->shares);
    free(chart);
}
