// SPDX-License-Identifier: Apache-2.0
// With rows S that hold, those of least norm of A_SS lambda = r are lambda = P r, P the weighted
// inverse by singular values of B_S. Friction of what slips and forces that use reactions come
// back as H: (1 + P H_SS) lambda_S = -P b_S. A set of modes is found as in the methods of Newton
// for complementarity, by changing all that is wrong at once; directions of slip by Newton's
// method on their angles (T150-T152).
#include "num/cone.h"

#include "num/dense.h"
#include "num/singular.h"
#include "num/solve.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define RANK   1e-9  // of singular values of rows
#define TURNED 1e-12 // [rad]
enum {
    MOST_ROUNDS = 40,
    MOST_SETS = 1500,
    MOST_TURNS = 30,
    FIRST_TURNS = 4,
    FEWEST_SWEEPS = 8,
    MOST_SWEEPS = 4096
};

typedef struct Search {
    Cones *c;
    double *A;         // rows * rows
    double *H;         // likewise: with the friction of what slips
    double *P;         // active * active
    double *b;         // with the friction of what slips under a given load
    uint32_t *active;  // rows
    uint32_t count;    // of these
    uint32_t *turning; // contacts whose direction is to be found
    double *work, *left, *sigma, *K, *right;
    double *violation;           // by contact
    Cone *first, *best, *better; // as it was, with the least violation, as it should be
    uint8_t *seen;               // sets of modes of the rounds so far
} Search;

static double entry(const Search *s, uint32_t i, uint32_t k)
{
    return s->A[(size_t)i * s->c->rows + k];
}

// ---- room ----------------------------------------------------------------------------------

static void close_search(Search *s)
{
    free(s->A);
    free(s->active);
    free(s->first);
    free(s->seen);
}

static void make_product(Search *s)
{
    const Cones *c = s->c;
    for (uint32_t i = 0; i < c->rows; i++)
        for (uint32_t k = 0; k < c->rows; k++) {
            double sum = 0;
            for (uint32_t j = 0; j < c->columns; j++)
                sum += c->B[(size_t)i * c->columns + j] * c->B[(size_t)k * c->columns + j];
            s->A[(size_t)i * c->rows + k] = sum;
        }
}

static bool open_search(Search *s, Cones *c)
{
    const size_t m = c->rows, n = c->columns, most = m > n ? m : n, square = m * m;
    *s = (Search){.c = c};
    s->A =
        calloc(5 * square + m * n + m * (m + c->count + 2) + most + m + c->count + 1, sizeof *s->A);
    s->active = calloc(m + c->count + 1, sizeof *s->active);
    s->first = calloc(3 * (size_t)c->count + 1, sizeof *s->first);
    s->seen = calloc((size_t)MOST_ROUNDS * c->count + 1, sizeof *s->seen);
    if (!s->A || !s->active || !s->first || !s->seen) return close_search(s), false;
    s->H = s->A + square, s->P = s->H + square, s->left = s->P + square, s->K = s->left + square;
    s->work = s->K + square, s->right = s->work + m * n,
    s->sigma = s->right + m * (m + c->count + 2);
    s->turning = s->active + m;
    s->b = s->sigma + most, s->violation = s->b + m;
    s->best = s->first + c->count, s->better = s->best + c->count;
    memcpy(s->first, c->at, c->count * sizeof *c->at);
    make_product(s);
    return true;
}

// ---- reactions in given modes --------------------------------------------------------------

static void list_rows(Search *s)
{
    const Cones *c = s->c;
    s->count = 0;
    for (uint32_t i = 0; i < c->rows; i++)
        if (c->holds[i]) s->active[s->count++] = i;
    for (uint32_t i = 0; i < c->count; i++) {
        const Cone *cone = &c->at[i];
        for (uint32_t k = 0; k < cone->row_count && cone->mode != CONE_OPEN; k++)
            s->active[s->count++] = cone->rows[k];
        for (uint32_t k = 0; k < cone->across_count && cone->mode == CONE_STICKS; k++)
            s->active[s->count++] = cone->across[k];
    }
}

static double root_weight(const Search *s, uint32_t row) { return sqrt(s->c->weight[row]); }

// P = W^-1/2 U sigma^-2 U^T W^-1/2, of the rows W^-1/2 B = U sigma V^T
static bool invert(Search *s)
{
    const Cones *c = s->c;
    const uint32_t m = s->count, n = c->columns, least = m < n ? m : n;
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t k = 0; k < n; k++)
            s->work[(size_t)i * n + k] =
                c->B[(size_t)s->active[i] * n + k] / root_weight(s, s->active[i]);
    if (m && n && !tr_singular(s->work, m, n, s->sigma, s->left, NULL))
        return s->c->lacks_memory = true, false; // for all is finite
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t k = 0; k < m; k++) {
            double sum = 0;
            for (uint32_t j = 0; j < least && s->sigma[j] > RANK * s->sigma[0]; j++)
                sum += s->left[(size_t)i * m + j] * s->left[(size_t)k * m + j] /
                       (s->sigma[j] * s->sigma[j]);
            s->P[(size_t)i * m + k] =
                sum / (root_weight(s, s->active[i]) * root_weight(s, s->active[k]));
        }
    return true;
}

static bool is_slipping(const Cone *cone) { return cone->mode == CONE_SLIPS && cone->across_count; }

// Friction of what slips: in H, for each unit along the normal, or in b
static void add_friction(Search *s)
{
    const Cones *c = s->c;
    const size_t m = c->rows;
    for (size_t i = 0; i < m * m; i++) s->H[i] = c->H ? c->H[i] : 0;
    for (size_t i = 0; i < m; i++) s->b[i] = c->b[i];
    for (uint32_t j = 0; j < c->count; j++) {
        const Cone *cone = &c->at[j];
        for (uint32_t k = 0; k < cone->across_count && is_slipping(cone); k++)
            for (uint32_t i = 0; i < m; i++) {
                const double share = cone->slide * cone->heads[k] * entry(s, i, cone->across[k]);
                if (cone->has_load)
                    s->b[i] -= share * cone->load;
                else
                    s->H[i * m + cone->rows[0]] -= share;
            }
    }
}

// Solves (1 + P H) x = P times the right sides, which are by active row, `count` of them.
static bool solve_with(Search *s, uint32_t count)
{
    const uint32_t m = s->count;
    const size_t all = s->c->rows;
    double *x = s->left; // U is not needed any more
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t k = 0; k < m; k++) {
            double sum = i == k;
            for (uint32_t j = 0; j < m; j++)
                sum += s->P[(size_t)i * m + j] * s->H[s->active[j] * all + s->active[k]];
            s->K[(size_t)i * m + k] = sum;
        }
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t i = 0; i < m; i++) {
            x[i] = 0;
            for (uint32_t j = 0; j < m; j++)
                x[i] += s->P[(size_t)i * m + j] * s->right[(size_t)j * count + k];
        }
        for (uint32_t i = 0; i < m; i++) s->right[(size_t)i * count + k] = x[i];
    }
    return !m || tr_solve(s->K, m, s->right, count);
}

static double pressure(const Search *s, const Cone *cone)
{
    return cone->has_load ? cone->load : s->c->lambda[cone->rows[0]];
}

static void take_rates(Search *s)
{
    const Cones *c = s->c;
    for (uint32_t i = 0; i < c->rows; i++) {
        double sum = c->b[i];
        for (uint32_t k = 0; k < c->rows; k++)
            sum += (entry(s, i, k) + (c->H ? c->H[(size_t)i * c->rows + k] : 0)) * c->lambda[k];
        c->rate[i] = sum;
    }
}

// In the modes and directions there are; P is that of the modes.
static bool solve_modes(Search *s)
{
    const Cones *c = s->c;
    add_friction(s);
    for (uint32_t i = 0; i < s->count; i++) s->right[i] = -s->b[s->active[i]];
    if (!solve_with(s, 1)) return false;
    for (uint32_t i = 0; i < c->rows; i++) c->lambda[i] = 0;
    for (uint32_t i = 0; i < s->count; i++) c->lambda[s->active[i]] = s->right[i];
    for (uint32_t j = 0; j < c->count; j++) {
        const Cone *cone = &c->at[j];
        for (uint32_t k = 0; k < cone->across_count && is_slipping(cone); k++)
            c->lambda[cone->across[k]] = -cone->slide * pressure(s, cone) * cone->heads[k];
    }
    take_rates(s);
    return all_finite(c->lambda, c->rows) && all_finite(c->rate, c->rows);
}

// ---- sizes ---------------------------------------------------------------------------------

static double rate_size(const Search *s, uint32_t row)
{
    const Cones *c = s->c;
    double sum = c->size[row];
    for (uint32_t k = 0; k < c->rows; k++)
        sum +=
            fabs((entry(s, row, k) + (c->H ? c->H[(size_t)row * c->rows + k] : 0)) * c->lambda[k]);
    return fmax(sum, DBL_MIN);
}

// The largest reaction, or what would be one
static double force_size(const Search *s)
{
    const Cones *c = s->c;
    double most = DBL_MIN;
    for (uint32_t j = 0; j < c->count; j++) {
        const Cone *cone = &c->at[j];
        for (uint32_t k = 0; k < cone->row_count + cone->across_count; k++) {
            const uint32_t row =
                k < cone->row_count ? cone->rows[k] : cone->across[k - cone->row_count];
            most = fmax(most, fabs(c->lambda[row]));
            if (entry(s, row, row) > 0) most = fmax(most, c->size[row] / entry(s, row, row));
        }
    }
    return most;
}

// ---- directions of slip --------------------------------------------------------------------

static double along(const Search *s, const Cone *cone)
{
    double sum = 0;
    for (uint32_t k = 0; k < cone->across_count; k++)
        sum += s->c->rate[cone->across[k]] * cone->heads[k];
    return sum;
}

static double beside(const Search *s, const Cone *cone)
{
    return s->c->rate[cone->across[0]] * cone->heads[1] -
           s->c->rate[cone->across[1]] * cone->heads[0];
}

// Whether its direction is to be found: one that others hold in place keeps what it has.
static bool turns(const Search *s, uint32_t j)
{
    const Cone *cone = &s->c->at[j];
    if (!is_slipping(cone) || cone->across_count < 2) return false;
    const double still =
        CONE_TOLERANCE * fmax(rate_size(s, cone->across[0]), rate_size(s, cone->across[1]));
    return fmax(fabs(s->c->rate[cone->across[0]]), fabs(s->c->rate[cone->across[1]])) > still;
}

static void turn_by(Cone *cone, double angle)
{
    // (1 + angle^2)^-1/2 (1, angle) is a rotation, too, and exact where angle vanishes
    const double size = sqrt(1 + angle * angle), h0 = cone->heads[0], h1 = cone->heads[1];
    cone->heads[0] = (h0 - angle * h1) / size, cone->heads[1] = (h1 + angle * h0) / size;
}

// One step of lambda_t <- that of the cone which is nearest to lambda_t - s_t / A_tt
static void turn_towards(const Search *s, Cone *cone)
{
    const double inverse = 2 / (entry(s, cone->across[0], cone->across[0]) +
                                entry(s, cone->across[1], cone->across[1]));
    double to[2], size = 0;
    for (int k = 0; k < 2; k++)
        to[k] = cone->slide * pressure(s, cone) * cone->heads[k] +
                inverse * s->c->rate[cone->across[k]];
    size = sqrt(to[0] * to[0] + to[1] * to[1]);
    for (int k = 0; k < 2 && size > 0; k++) cone->heads[k] = to[k] / size;
}

// How rates across contact i change when the direction of contact j turns, whose response is
// column `at` of the right sides
static double beside_slope(const Search *s, const Cone *of, const Cone *by, uint32_t at,
                           uint32_t count)
{
    const Cones *c = s->c;
    const double push = -by->slide * pressure(s, by), turned[2] = {-by->heads[1], by->heads[0]};
    double rate[2];
    for (int k = 0; k < 2; k++) {
        const uint32_t row = of->across[k];
        rate[k] = 0;
        for (int l = 0; l < 2; l++) rate[k] += entry(s, row, by->across[l]) * push * turned[l];
        for (uint32_t i = 0; i < s->count; i++)
            rate[k] += (entry(s, row, s->active[i]) + s->H[(size_t)row * c->rows + s->active[i]]) *
                       s->right[(size_t)i * count + at];
    }
    return rate[0] * of->heads[1] - rate[1] * of->heads[0] + (of == by ? along(s, of) : 0);
}

// The responses of the reactions to turns of these directions, as right sides
static bool respond(Search *s, const uint32_t *turning, uint32_t count)
{
    for (uint32_t j = 0; j < count; j++) {
        const Cone *by = &s->c->at[turning[j]];
        const double push = -by->slide * pressure(s, by), turned[2] = {-by->heads[1], by->heads[0]};
        for (uint32_t i = 0; i < s->count; i++) {
            double sum = 0;
            for (int l = 0; l < 2; l++)
                sum += entry(s, s->active[i], by->across[l]) * push * turned[l];
            s->right[(size_t)i * count + j] = -sum;
        }
    }
    return solve_with(s, count);
}

// One step of Newton's method on the angles: s_t x h = 0. The largest turn; negative when there is
// no such step.
static double turn_all(Search *s, const uint32_t *turning, uint32_t count)
{
    Cone *at = s->c->at;
    double *J = s->K, *step = s->left, most = 0; // which solve_with has done with
    if (!respond(s, turning, count)) return -1;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < count; k++)
            J[(size_t)i * count + k] = beside_slope(s, &at[turning[i]], &at[turning[k]], k, count);
        step[i] = -beside(s, &at[turning[i]]);
    }
    if (!tr_solve(J, count, step, 1)) return -1;
    for (uint32_t i = 0; i < count; i++) {
        const double angle = fmax(-0.5, fmin(0.5, step[i]));
        turn_by(&at[turning[i]], angle);
        most = fmax(most, fabs(angle));
    }
    return most;
}

// Directions along which they slip: some steps that get nearer from anywhere, then Newton's
static bool find_directions(Search *s)
{
    const Cones *c = s->c;
    for (int round = 0; round < MOST_TURNS; round++) {
        uint32_t count = 0;
        for (uint32_t j = 0; j < c->count; j++)
            if (turns(s, j)) s->turning[count++] = j;
        if (!count) break;
        const double turned = round < FIRST_TURNS ? -1 : turn_all(s, s->turning, count);
        for (uint32_t j = 0; turned < 0 && j < count; j++) turn_towards(s, &c->at[s->turning[j]]);
        if (!solve_modes(s)) return false;
        if (turned >= 0 && turned < TURNED) break;
    }
    return true;
}

// ---- consistency ---------------------------------------------------------------------------

// Turns it along what is across of x, or against it; returns how much that is.
static double head(Cone *cone, const double *x, double sign)
{
    double size = 0;
    for (uint32_t k = 0; k < cone->across_count; k++)
        size += x[cone->across[k]] * x[cone->across[k]];
    size = sqrt(size);
    for (uint32_t k = 0; k < cone->across_count && size > 0; k++)
        cone->heads[k] = sign * x[cone->across[k]] / size;
    return size;
}

// By how much a contact is not what it should be, and what would be better
static double judge(const Search *s, const Cone *cone, double force, Cone *better)
{
    const Cones *c = s->c;
    const double clear = cone->is_wary ? TOGETHER : 0;
    *better = *cone;
    if (cone->mode == CONE_OPEN) {
        better->mode = head(better, c->rate, 1) != 0 ? CONE_SLIPS : CONE_STICKS;
        return -c->rate[cone->rows[0]] / rate_size(s, cone->rows[0]);
    }
    const double lack = cone->opens ? clear - c->lambda[cone->rows[0]] / force : 0;
    if (lack > CONE_TOLERANCE) {
        better->mode = CONE_OPEN;
        return lack;
    }
    if (is_slipping(cone)) {
        double size = DBL_MIN;
        better->mode = CONE_STICKS;
        for (uint32_t k = 0; k < cone->across_count; k++)
            size = fmax(size, rate_size(s, cone->across[k]));
        return -along(s, cone) / size;
    }
    const double held = head(better, c->lambda, -1);
    if (!(held > 0)) return 0;
    better->mode = CONE_SLIPS;
    return (held - cone->hold * pressure(s, cone)) / force + clear;
}

// Rows that depend on each other must hold all the same.
static double disagreement(const Search *s)
{
    double worst = 0;
    for (uint32_t i = 0; i < s->count; i++)
        worst = fmax(worst, fabs(s->c->rate[s->active[i]]) / rate_size(s, s->active[i]));
    return worst < TOGETHER ? 0 : worst;
}

// The worst of the set as it is; false when it has no solution.
static bool look(Search *s, double *worst)
{
    Cones *c = s->c;
    c->tries++;
    list_rows(s);
    if (!invert(s) || !solve_modes(s) || !find_directions(s)) return false;
    const double force = force_size(s);
    *worst = disagreement(s);
    for (uint32_t j = 0; j < c->count; j++) {
        s->violation[j] = judge(s, &c->at[j], force, &s->better[j]);
        *worst = fmax(*worst, s->violation[j]);
    }
    if (*worst < c->violation) {
        c->violation = *worst;
        memcpy(s->best, c->at, c->count * sizeof *c->at);
    }
    return true;
}

// ---- all that is wrong at once -------------------------------------------------------------

static bool was_seen(Search *s, int round)
{
    const uint32_t count = s->c->count;
    uint8_t *now = s->seen + (size_t)round * count;
    for (uint32_t j = 0; j < count; j++) now[j] = (uint8_t)s->c->at[j].mode;
    for (int i = 0; i < round; i++)
        if (memcmp(s->seen + (size_t)i * count, now, count) == 0) return true;
    return false;
}

// What is wrong, and what goes the same way and is as near to it: what is symmetric stays so.
static void change_all(Search *s)
{
    Cones *c = s->c;
    bool wrong[3][3] = {{false}};
    for (uint32_t j = 0; j < c->count; j++)
        if (s->violation[j] > CONE_TOLERANCE) wrong[c->at[j].mode][s->better[j].mode] = true;
    for (uint32_t j = 0; j < c->count; j++)
        if (s->violation[j] > -TOGETHER && wrong[c->at[j].mode][s->better[j].mode])
            c->at[j] = s->better[j];
}

static bool change_at_once(Search *s)
{
    for (int round = 0; round < MOST_ROUNDS && !was_seen(s, round); round++) {
        double worst;
        if (!look(s, &worst)) return false;
        if (worst <= CONE_TOLERANCE) return true;
        change_all(s);
    }
    return false;
}

// ---- one contact after the other -----------------------------------------------------------

static double rate_now(const Search *s, uint32_t row)
{
    const Cones *c = s->c;
    double sum = c->b[row];
    for (uint32_t k = 0; k < c->rows; k++)
        sum += (entry(s, row, k) + (c->H ? c->H[(size_t)row * c->rows + k] : 0)) * c->lambda[k];
    return sum;
}

static void relax_row(const Search *s, uint32_t row)
{
    if (entry(s, row, row) > 0) s->c->lambda[row] -= rate_now(s, row) / entry(s, row, row);
}

// What is across comes back into the cone by the shortest way; true when it was beyond.
static bool relax_across(const Search *s, const Cone *cone)
{
    double *lambda = s->c->lambda, trace = 0, size = 0;
    for (uint32_t k = 0; k < cone->across_count; k++)
        trace += entry(s, cone->across[k], cone->across[k]);
    if (!(trace > 0)) return false;
    for (uint32_t k = 0; k < cone->across_count; k++)
        lambda[cone->across[k]] -= rate_now(s, cone->across[k]) / trace;
    for (uint32_t k = 0; k < cone->across_count; k++)
        size += lambda[cone->across[k]] * lambda[cone->across[k]];
    const double N = pressure(s, cone);
    const bool slips = sqrt(size) > cone->hold * N;
    for (uint32_t k = 0; k < cone->across_count && slips; k++)
        lambda[cone->across[k]] *= cone->slide * N / sqrt(size);
    return slips;
}

static void relax_contact(const Search *s, Cone *cone)
{
    double *lambda = s->c->lambda;
    for (uint32_t k = 0; k < cone->row_count; k++) relax_row(s, cone->rows[k]);
    const bool is_open = cone->opens && !(lambda[cone->rows[0]] > 0);
    for (uint32_t k = 0; k < cone->row_count && is_open; k++) lambda[cone->rows[k]] = 0;
    for (uint32_t k = 0; k < cone->across_count && is_open; k++) lambda[cone->across[k]] = 0;
    const bool slips = !is_open && cone->across_count && relax_across(s, cone);
    cone->mode = is_open ? CONE_OPEN : slips ? CONE_SLIPS : CONE_STICKS;
    if (slips) head(cone, lambda, -1);
}

// A first guess from anywhere [Jean: nonsmooth contact dynamics]: each contact in its turn does
// what it should beside the others as they are.
static void relax(Search *s, int sweeps)
{
    Cones *c = s->c;
    for (uint32_t i = 0; i < c->rows; i++) c->lambda[i] = 0;
    for (int sweep = 0; sweep < sweeps; sweep++) {
        for (uint32_t i = 0; i < c->rows; i++)
            if (c->holds[i]) relax_row(s, i);
        for (uint32_t j = 0; j < c->count; j++) relax_contact(s, &c->at[j]);
    }
}

// ---- all sets ------------------------------------------------------------------------------

static bool may_be(const Cone *cone, ConeMode mode)
{
    if (mode == CONE_OPEN) return cone->opens;
    return mode == CONE_STICKS || cone->across_count;
}

// Where what slips in this set would go: against what would hold it
static bool guess_directions(Search *s)
{
    Cones *c = s->c;
    bool any = false;
    for (uint32_t j = 0; j < c->count; j++) {
        s->better[j] = c->at[j];
        if (!is_slipping(&c->at[j])) continue;
        c->at[j].mode = CONE_STICKS, any = true;
    }
    list_rows(s);
    const bool solved = !any || (invert(s) && solve_modes(s));
    for (uint32_t j = 0; j < c->count; j++) {
        c->at[j].mode = s->better[j].mode;
        if (solved && is_slipping(&c->at[j])) head(&c->at[j], c->lambda, -1);
    }
    return solved;
}

// Sets that differ from the first in `left` more contacts, from contact j on, in the order of
// contacts and modes; true when one is consistent.
static bool change_some(Search *s, uint32_t j, uint32_t left)
{
    Cones *c = s->c;
    if (!left) {
        double worst;
        return c->tries < MOST_SETS && guess_directions(s) && look(s, &worst) &&
               worst <= CONE_TOLERANCE;
    }
    for (; j + left <= c->count && c->tries < MOST_SETS; j++) {
        for (int mode = CONE_OPEN; mode <= CONE_SLIPS; mode++) {
            if ((ConeMode)mode == s->first[j].mode || !may_be(&c->at[j], (ConeMode)mode)) continue;
            for (uint32_t k = 0; k < c->count; k++)
                if (k >= j) c->at[k] = s->first[k];
            c->at[j].mode = (ConeMode)mode;
            if (change_some(s, j + 1, left - 1)) return true;
        }
        c->at[j] = s->first[j];
    }
    return false;
}

static bool try_all(Search *s)
{
    Cones *c = s->c;
    for (uint32_t distance = 0; distance <= c->count && c->tries < MOST_SETS; distance++) {
        memcpy(c->at, s->first, c->count * sizeof *c->at);
        if (change_some(s, 0, distance)) return true;
    }
    return false;
}

// ---- all of it -----------------------------------------------------------------------------

bool tr_cones_find(Cones *c)
{
    Search s;
    c->violation = (double)INFINITY, c->tries = 0, c->lacks_memory = false;
    if (!all_finite(c->B, (size_t)c->rows * c->columns) || !all_finite(c->b, c->rows)) return false;
    if (!open_search(&s, c)) return c->lacks_memory = true, false;
    bool found = change_at_once(&s);
    for (int sweeps = FEWEST_SWEEPS; !found && !c->lacks_memory && sweeps <= MOST_SWEEPS;
         sweeps *= 4) {
        relax(&s, sweeps);
        found = change_at_once(&s);
    }
    found = found || (!c->lacks_memory && try_all(&s));
    bool solved = found;
    if (!found && c->violation < (double)INFINITY) { // the least bad
        memcpy(c->at, s.best, c->count * sizeof *c->at);
        double worst;
        solved = look(&s, &worst);
    }
    for (uint32_t j = 0; j < c->count && solved; j++)
        c->at[j].is_wrong = s.violation[j] > CONE_TOLERANCE;
    close_search(&s);
    return solved && !c->lacks_memory;
}
