// SPDX-License-Identifier: Apache-2.0
// A linear model from the numbers of a lineariser: constraints on positions leave dpi = K xi with
// G_h K = 0, and rows of derivatives become rows by states (T99).
#include "linear/lineariser.h"
#include "num/dense.h"
#include "num/singular.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- displacements that are allowed --------------------------------------------------------

// K: dpi = K xi. Displacements of bases are found from others, as far as they go; then those of
// joints.
typedef struct Allowed {
    uint32_t *dependent, *independent;
    uint32_t count; // of dependent ones
    double *K;      // p * (p - count)
} Allowed;

static bool best_column(const Lineariser *l, const double *G, const bool *row_used,
                        const bool *used, uint32_t *row, uint32_t *column)
{
    const uint32_t p = l->size.p;
    double largest = 0, best = 0;
    for (uint32_t i = 0; i < l->size.h; i++)
        for (uint32_t j = 0; j < p && !row_used[i]; j++)
            if (!used[j]) largest = larger(largest, fabs(G[i * p + j]));
    if (largest < 1e-9) return false;
    for (int bases = 1; bases >= 0 && best == 0; bases--)
        for (uint32_t i = 0; i < l->size.h; i++)
            for (uint32_t j = 0; j < p && !row_used[i]; j++) {
                const bool is_base = l->system->inputs[l->tangent.velocity[j]].is_base;
                const double size = fabs(G[i * p + j]);
                if (used[j] || is_base != (bases == 1) || size < 0.05 * largest) continue;
                if (size > best * (1 + 1e-9)) best = size, *row = i, *column = j;
            }
    return best > 0;
}

// Gauss and Jordan on G_h
static bool find_allowed(const Lineariser *l, Allowed *a)
{
    const uint32_t p = l->size.p, h = l->size.h;
    double *G = malloc(((size_t)h * p + 1) * sizeof *G);
    bool *row_used = calloc(h + 1u, sizeof *row_used), *used = calloc(p + 1u, sizeof *used);
    uint32_t *rows = calloc(h + 1u, sizeof *rows), row = 0, column = 0;
    a->dependent = calloc(2 * (size_t)p + 1, sizeof *a->dependent);
    a->K = calloc((size_t)p * p + 1, sizeof *a->K);
    const bool good = G && row_used && used && rows && a->dependent && a->K;
    if (good) {
        a->independent = a->dependent + p;
        memcpy(G, l->G, (size_t)h * p * sizeof *G);
        while (best_column(l, G, row_used, used, &row, &column)) {
            const double pivot = G[row * p + column];
            row_used[row] = used[column] = true;
            rows[a->count] = row, a->dependent[a->count++] = column;
            for (uint32_t j = 0; j < p; j++) G[row * p + j] /= pivot;
            for (uint32_t i = 0; i < h; i++) {
                const double f = G[i * p + column];
                for (uint32_t j = 0; i != row && j < p; j++) G[i * p + j] -= f * G[row * p + j];
            }
        }
        const uint32_t free_ones = p - a->count;
        for (uint32_t j = 0, k = 0; j < p; j++) {
            if (used[j]) continue;
            a->independent[k] = j, a->K[j * free_ones + k] = 1;
            for (uint32_t d = 0; d < a->count; d++)
                a->K[a->dependent[d] * free_ones + k] = -G[rows[d] * p + j];
            k++;
        }
    }
    free(G);
    free(row_used);
    free(used);
    free(rows);
    return good;
}

static void free_allowed(Allowed *a)
{
    free(a->dependent);
    free(a->K);
}

// ---- names ---------------------------------------------------------------------------------

void tr_displacement_name(const System *s, uint32_t velocity, char name[TR_STATE_NAME])
{
    const Port *port = &s->inputs[velocity].port;
    if (port->rate_of != NO_INPUT || !port->component[0])
        snprintf(name, TR_STATE_NAME, "%s", tr_system_joint_name(s, velocity));
    else
        snprintf(name, TR_STATE_NAME, "%s.%c%s", port->owner,
                 port->quantity == QUANTITY_SPEED ? 'd' : 'r', port->component + 1);
}

static const char *displacement_name(const System *s, Linear *linear, uint32_t velocity)
{
    char name[TR_STATE_NAME];
    tr_displacement_name(s, velocity, name);
    return tr_linear_keep(linear, name);
}

static void name_states(const Lineariser *l, const Allowed *a, Linear *linear)
{
    const System *s = l->system;
    const uint32_t displacements = l->size.p - a->count;
    uint32_t k = 0, *of = linear->state_of;
    for (uint32_t i = 0; i < displacements; i++) of[k++] = l->tangent.velocity[a->independent[i]];
    for (uint32_t i = 0; i < l->size.w; i++) of[k++] = l->w[i];
    for (uint32_t i = 0; i < l->size.x; i++) of[k++] = l->x[i];
    for (uint32_t i = 0; i < k; i++)
        linear->state[i] = i < displacements
                               ? displacement_name(s, linear, of[i])
                               : tr_linear_keep(linear, tr_system_speed_name(s, of[i]));
    for (uint32_t i = 0; i < l->size.u; i++)
        linear->input[i] = tr_linear_keep(linear, l->input[i]), linear->input_of[i] = l->u[i];
    for (uint32_t i = 0; i < l->size.y; i++)
        linear->output[i] = tr_linear_keep(linear, l->output[i]);
}

// ---- the linear model ----------------------------------------------------------------------

// A linear model with the names that it shows
typedef struct NamedLinear {
    Linear linear;
    Arena names;
} NamedLinear;

Linear *tr_linear_new(uint32_t states, uint32_t inputs, uint32_t outputs)
{
    NamedLinear *named = calloc(1, sizeof *named);
    const size_t n = states, m = inputs, y = outputs;
    if (!named) return NULL;
    Linear *linear = &named->linear;
    *linear = (Linear){.states = states, .inputs = inputs, .outputs = outputs};
    linear->state = calloc(n + m + y + 1, sizeof *linear->state);
    linear->A = calloc((n + y) * (n + m) + 1, sizeof *linear->A);
    linear->state_of = calloc(n + m + 1, sizeof *linear->state_of);
    if (!linear->state || !linear->A || !linear->state_of) return tr_linear_free(linear), NULL;
    linear->input_of = linear->state_of + n;
    linear->input = linear->state + n, linear->output = linear->input + m;
    linear->B = linear->A + n * n, linear->C = linear->B + n * m, linear->D = linear->C + y * n;
    return linear;
}

void tr_linear_free(Linear *linear)
{
    if (!linear) return;
    NamedLinear *named = (NamedLinear *)linear; // its first member
    free(linear->state);
    free(linear->A);
    free(linear->state_of);
    tr_arena_free(&named->names);
    free(named);
}

const char *tr_linear_keep(Linear *linear, const char *name)
{
    NamedLinear *named = (NamedLinear *)linear;
    return name ? tr_arena_text(&named->names, name, strlen(name)) : NULL;
}

bool tr_linear_has_names(const Linear *linear)
{
    for (uint32_t i = 0; i < linear->states + linear->inputs + linear->outputs; i++)
        if (!linear->state[i]) return false;
    return true;
}

// dv/dpi += N^+ E, by least squares
static bool add_turning(Lineariser *l)
{
    const uint32_t q = l->size.q, p = l->size.p, columns = p + l->size.w + l->size.x + l->size.u;
    if (!q || !p) return true;
    double *E = malloc((size_t)q * p * sizeof *E);
    bool good = E;
    if (good) {
        memcpy(E, l->E, (size_t)q * p * sizeof *E);
        good = tr_least_squares(l->N, q, p, E, p, 1e-14, NULL);
    }
    for (uint32_t i = 0; good && i < p; i++)
        for (uint32_t j = 0; j < p; j++) l->dv[(size_t)i * columns + j] += E[(size_t)i * p + j];
    free(E);
    return good;
}

// Without constraints, what probes do
static bool add_probes(Lineariser *l, tr_error *err)
{
    const uint32_t p = l->size.p, m = l->size.m, count = l->probes.count;
    const uint32_t before = p + l->size.w + l->size.x, columns = before + l->size.u;
    if (!m || !p) return true;
    double *b = malloc((size_t)p * count * sizeof *b);
    if (!b) return false;
    const bool good = tr_probes_respond(&l->probes, l->M, m, l->tangent.velocity, p, b, err);
    for (uint32_t k = 0; good && k < count; k++) {
        uint32_t u = 0;
        while (u < l->size.u && l->system->inputs[l->u[u]].symbol.id != l->probes.list[k].symbol.id)
            u++;
        assert(u < l->size.u); // probes are inputs
        for (uint32_t i = 0; i < p; i++)
            l->dw[(size_t)i * columns + before + u] += b[i * count + k];
    }
    free(b);
    return good;
}

// One row of derivatives by (pi, w, x, u), as one by states and inputs
static void put_row(const Lineariser *l, const Allowed *a, const double *row, double *state,
                    double *input)
{
    const uint32_t p = l->size.p, xi = p - a->count, more = l->size.w + l->size.x;
    for (uint32_t k = 0; k < xi; k++) {
        state[k] = 0;
        for (uint32_t j = 0; j < p; j++) state[k] += row[j] * a->K[(size_t)j * xi + k];
    }
    for (uint32_t k = 0; k < more; k++) state[xi + k] = row[p + k];
    for (uint32_t k = 0; k < l->size.u; k++) input[k] = row[p + more + k];
}

static void fill(const Lineariser *l, const Allowed *a, Linear *linear)
{
    const Sizes *n = &l->size;
    const uint32_t xi = n->p - a->count, columns = n->p + n->w + n->x + n->u;
    for (uint32_t i = 0; i < linear->states; i++) {
        const double *row = i < xi          ? l->dv + (size_t)a->independent[i] * columns
                            : i < xi + n->w ? l->dw + (size_t)(i - xi) * columns
                                            : l->dx + (size_t)(i - xi - n->w) * columns;
        put_row(l, a, row, linear->A + (size_t)i * linear->states,
                linear->B + (size_t)i * linear->inputs);
    }
    for (uint32_t i = 0; i < linear->outputs; i++)
        put_row(l, a, l->dy + (size_t)i * columns, linear->C + (size_t)i * linear->states,
                linear->D + (size_t)i * linear->inputs);
}

// A state whose rate has slopes that are not finite; NULL: none
static const char *without_slopes(const Linear *linear)
{
    const uint32_t n = linear->states, m = linear->inputs;
    for (uint32_t i = 0; i < n; i++)
        if (!all_finite(linear->A + (size_t)i * n, n) || !all_finite(linear->B + (size_t)i * m, m))
            return linear->state[i];
    return NULL;
}

bool tr_linear_has_output(const Linear *linear, uint32_t output)
{
    const uint32_t n = linear->states, m = linear->inputs;
    return all_finite(linear->C + (size_t)output * n, n) &&
           all_finite(linear->D + (size_t)output * m, m);
}

// An output with a kink here has no row: no part of it is used.
static void clear_kinks(Linear *linear)
{
    const uint32_t n = linear->states, m = linear->inputs;
    for (uint32_t i = 0; i < linear->outputs; i++) {
        if (tr_linear_has_output(linear, i)) continue;
        for (uint32_t k = 0; k < n; k++) linear->C[(size_t)i * n + k] = (double)NAN;
        for (uint32_t k = 0; k < m; k++) linear->D[(size_t)i * m + k] = (double)NAN;
    }
}

Linear *tr_lineariser_take(Lineariser *l, tr_error *err)
{
    const Sizes *n = &l->size;
    Allowed a = {0};
    Linear *linear = NULL;
    if (has_failed(err)) return NULL;
    evaluate_into(&l->slopes, l->in, l->values);
    if (find_allowed(l, &a) && add_turning(l) && add_probes(l, err))
        linear = tr_linear_new(n->p - a.count + n->w + n->x, n->u, n->y);
    if (linear) {
        linear->displacements = n->p - a.count;
        name_states(l, &a, linear);
        fill(l, &a, linear);
    }
    if (!linear || !tr_linear_has_names(linear)) {
        tr_linear_free(linear);
        linear = NULL;
        tr_fail_memory(err);
    }
    free_allowed(&a);
    const char *bad = linear ? without_slopes(linear) : NULL;
    if (bad) {
        tr_fail(err, TR_FAILED, (Place){0},
                "the linear model is not finite at this state: the rate of '%.100s' has no slopes",
                bad);
        tr_linear_free(linear);
        return NULL;
    }
    if (linear) clear_kinks(linear);
    return linear;
}

// ---- quantities ----------------------------------------------------------------------------

bool tr_lineariser_vary(Lineariser *l, Variations *v, tr_error *err)
{
    const Sizes *n = &l->size;
    Allowed a = {0};
    evaluate_into(&l->slopes, l->in, l->values);
    bool good = !has_failed(err) && find_allowed(l, &a);
    const uint32_t xi = good ? n->p - a.count : 0, width = xi + n->w + n->x + n->u;
    *v = (Variations){.velocities = n->p, .positions = n->q, .width = width};
    v->displacement = good ? calloc((2 * (size_t)n->p + n->q) * width + 1, sizeof(double)) : NULL;
    good = v->displacement != NULL;
    if (good) {
        v->velocity = l->tangent.velocity, v->position = l->tangent.position;
        v->rate = v->displacement + (size_t)n->p * width;
        v->coordinate = v->rate + (size_t)n->p * width;
    }
    for (uint32_t i = 0; good && i < n->p; i++) {
        double *rate = v->rate + (size_t)i * width;
        memcpy(v->displacement + (size_t)i * width, a.K + (size_t)i * xi, xi * sizeof(double));
        put_row(l, &a, l->dv + (size_t)i * (n->p + n->w + n->x + n->u), rate, rate + width - n->u);
    }
    for (uint32_t i = 0; good && i < n->q; i++) // N K
        for (uint32_t j = 0; j < n->p; j++)
            for (uint32_t k = 0; k < xi; k++)
                v->coordinate[(size_t)i * width + k] +=
                    l->N[(size_t)i * n->p + j] * a.K[(size_t)j * xi + k];
    free_allowed(&a);
    if (!good) tr_fail_memory(err);
    return good;
}

void tr_variations_free(Variations *v)
{
    free(v->displacement);
    *v = (Variations){0};
}
