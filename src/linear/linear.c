// SPDX-License-Identifier: Apache-2.0
// The variation of q' = N v gives, with E_j = D_{N e_j}(N v) - D_{q'}(N e_j),
//
//   dpi' = dv + N^+ E dpi
//
// Constraints on positions leave dpi = K xi with G_h K = 0. Velocities and accelerations are those
// of the reduction, v(q, w) and w'(q, w), differentiated in the graph along the columns of N
// (T98, T99).
#include "linear/linear.h"

#include "expr/derivative.h"
#include "linear/probe.h"
#include "num/dense.h"
#include "num/singular.h"
#include "plan/start.h"
#include "plan/tangent.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a linear model is differentiated by, in this order, and of.
typedef struct Sizes {
    uint32_t q; // positions that quasi-coordinates move
    uint32_t p; // velocities that are not driven
    uint32_t w; // independent velocities
    uint32_t x; // states of their own
    uint32_t u; // inputs
    uint32_t y; // outputs
    uint32_t h; // constraints on positions
    uint32_t m; // velocities, where their mass matrix is needed
} Sizes;

struct Lineariser {
    Plan *plan;     // of a copy of the system, with probes
    System *system; // that copy, reduced where it starts
    Flow *flow;
    Conditions *conditions[2]; // positions, rates
    Sizes size;
    Tangent tangent;
    uint32_t *w, *x, *u; // inputs
    const char **output, **input;
    Probes probes;
    Evaluator slopes, accelerations;
    double *in, *values;
    // in `values`: by rows
    double *N, *E, *G;         // q * p, q * p, h * p
    double *dv, *dw, *dx, *dy; // each: rows of v, w, x, y by columns p + w + x + u
    double *M;                 // m * m
};

// ---- expressions ---------------------------------------------------------------------------

static const char *input_name(const Lineariser *l, uint32_t input)
{
    const System *s = l->system;
    for (uint32_t i = 0; i < l->probes.count; i++)
        if (l->probes.list[i].symbol.id == s->inputs[input].symbol.id)
            return l->probes.list[i].name;
    return s->inputs[input].name;
}

static void list_inputs(Lineariser *l)
{
    const System *s = l->system;
    l->size.q = l->tangent.q, l->size.p = l->tangent.p;
    l->size.w = tr_independent(s, l->w);
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        if (input->definition.id) continue;
        if (input->kind == TR_POSITION && input->is_extra) l->x[l->size.x++] = i;
        if (input->kind == TR_INPUT) {
            l->input[l->size.u] = input_name(l, i);
            l->u[l->size.u++] = i;
        }
    }
    for (uint32_t i = 0; i < s->output_count; i++)
        if (is_model_output(&s->outputs[i])) l->output[l->size.y++] = s->outputs[i].label;
    for (uint32_t i = 0; i < s->row_count; i++)
        l->size.h += s->rows[i].position.id && !s->rows[i].is_open;
    // Without constraints the accelerations are there already: forces act by the mass matrix.
    if (l->probes.count && !s->row_count) l->size.m = tr_system_inputs(s, TR_VELOCITY, NULL);
}

// What is differentiated: v, w', x', y, with all that is defined put in
static Expr *take_rates(Lineariser *l, uint32_t *count)
{
    System *s = l->system;
    const Sizes *n = &l->size;
    Expr *of = calloc((size_t)n->p + n->w + n->x + n->y + 1, sizeof *of);
    uint32_t k = 0;
    if (!of) return NULL;
    for (uint32_t i = 0; i < n->p; i++) of[k++] = s->inputs[l->tangent.velocity[i]].symbol;
    for (uint32_t i = 0; i < n->w; i++) of[k++] = s->inputs[l->w[i]].rate;
    for (uint32_t i = 0; i < n->x; i++) of[k++] = s->inputs[l->x[i]].rate;
    for (uint32_t i = 0; i < s->output_count; i++)
        if (is_model_output(&s->outputs[i])) of[k++] = s->outputs[i].values[0];
    tr_system_resolve(s, of, k);
    return *count = k, of;
}

// By rows: d(of)/d(pi, w, x, u)
static void differentiate(Lineariser *l, const Expr *of, uint32_t count, Expr *out)
{
    const System *s = l->system;
    const Sizes *n = &l->size;
    Expr *others = calloc((size_t)n->w + n->x + n->u + 1, sizeof *others);
    uint32_t k = 0;
    if (!others) {
        s->graph->failed = true;
        return;
    }
    for (uint32_t i = 0; i < n->w; i++) others[k++] = s->inputs[l->w[i]].symbol;
    for (uint32_t i = 0; i < n->x; i++) others[k++] = s->inputs[l->x[i]].symbol;
    for (uint32_t i = 0; i < n->u; i++) others[k++] = s->inputs[l->u[i]].symbol;
    tr_tangent_slopes(&l->tangent, of, count, others, k, out);
    free(others);
}

// E_j = D_{N e_j}(N v) - D_{q'}(N e_j)
static void take_turning(const Tangent *t, Expr *E)
{
    const System *s = t->system;
    const uint32_t q = t->q, p = t->p;
    Expr *at = calloc(5 * (size_t)q + 1, sizeof *at);
    if (!at || s->graph->failed) {
        s->graph->failed = true;
        free(at);
        return;
    }
    Expr *rate = at + q, *along = rate + q, *first = along + q, *second = first + q;
    for (uint32_t k = 0; k < q; k++) {
        const Input *position = &s->inputs[t->position[k]];
        at[k] = position->symbol, rate[k] = position->rate;
    }
    for (uint32_t j = 0; j < p; j++) {
        for (uint32_t k = 0; k < q; k++) along[k] = t->N[k * p + j];
        tr_forward(s->graph, rate, q, at, along, q, first);
        tr_forward(s->graph, along, q, at, rate, q, second);
        for (uint32_t k = 0; k < q; k++) E[k * p + j] = sub(first[k], second[k]);
    }
    free(at);
}

static void take_holonomic(const Lineariser *l, Expr *G)
{
    const System *s = l->system;
    uint32_t row = 0;
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (!s->rows[i].position.id || s->rows[i].is_open) continue;
        for (uint32_t j = 0, v = 0, p = 0; j < s->input_count; j++) {
            if (s->inputs[j].kind != TR_VELOCITY) continue;
            if (!is_motion_driven(&s->inputs[j])) G[row * l->size.p + p++] = s->rows[i].slopes[v];
            v++;
        }
        row++;
    }
}

static size_t number_of_values(const Sizes *n)
{
    const size_t columns = (size_t)n->p + n->w + n->x + n->u;
    return 2 * (size_t)n->q * n->p + (size_t)n->h * n->p +
           ((size_t)n->p + n->w + n->x + n->y) * columns + (size_t)n->m * n->m;
}

static bool compile(Lineariser *l, tr_error *err)
{
    System *s = l->system;
    const Sizes *n = &l->size;
    const size_t total = number_of_values(n);
    Expr *all = calloc(total + 1, sizeof *all);
    uint32_t count = 0;
    Expr *of = take_rates(l, &count);
    if (all && of) {
        const size_t qp = (size_t)n->q * n->p;
        Expr *E = all + qp, *G = E + qp, *rest = G + (size_t)n->h * n->p;
        tr_tangent_directions(&l->tangent);
        memcpy(all, l->tangent.N, qp * sizeof *all);
        take_turning(&l->tangent, E);
        take_holonomic(l, G);
        differentiate(l, of, count, rest);
        const Output *M = n->m ? tr_system_output(s, text_of("M")) : NULL;
        if (M)
            memcpy(all + total - (size_t)n->m * n->m, M->values, (size_t)n->m * n->m * sizeof *all);
        l->slopes = tr_evaluator_of(s, all, total, OPEN_PARAMETERS, err);
        if (n->w) l->accelerations = tr_evaluator_of(s, of + n->p, n->w, OPEN_PARAMETERS, err);
    } else
        tr_fail_memory(err);
    free(all);
    free(of);
    return !has_failed(err);
}

// ---- making it -----------------------------------------------------------------------------

static void place_values(Lineariser *l)
{
    const Sizes *n = &l->size;
    const size_t columns = (size_t)n->p + n->w + n->x + n->u;
    l->N = l->values, l->E = l->N + (size_t)n->q * n->p, l->G = l->E + (size_t)n->q * n->p;
    l->dv = l->G + (size_t)n->h * n->p, l->dw = l->dv + n->p * columns;
    l->dx = l->dw + n->w * columns, l->dy = l->dx + n->x * columns;
    l->M = l->dy + n->y * columns;
}

static bool make_lists(Lineariser *l)
{
    const size_t n = l->system->input_count + 1u;
    l->w = calloc(3 * n, sizeof *l->w);
    l->output = calloc(l->system->output_count + 1u, sizeof *l->output);
    l->input = calloc(n, sizeof *l->input);
    l->in = calloc(n, sizeof *l->in);
    if (!l->w || !l->output || !l->input || !l->in) return false;
    l->x = l->w + n, l->u = l->x + n;
    return tr_tangent_list(l->system, &l->tangent);
}

// A plan of the system with probes among its inputs
static bool make_plan(Lineariser *l, const System *system, tr_error *err)
{
    System *own = tr_system_copy(system, err);
    if (!own) return false;
    tr_probes_new(own, &l->probes, err);
    tr_probes_put(&l->probes, err);
    if (has_failed(err)) {
        tr_system_free(own);
        return false;
    }
    l->plan = tr_plan_own(own, err); // which takes it, also when it fails
    if (l->plan) l->plan->sweeps = true;
    return l->plan != NULL;
}

static bool start(Lineariser *l, tr_error *err)
{
    l->flow = tr_flow_new(l->plan, NULL, err);
    if (!l->flow || !tr_plan_allows(l->plan, err)) return false;
    for (int rates = 0; rates < 2; rates++)
        l->conditions[rates] =
            tr_conditions_new(l->flow->footing->conditions[START_POSITIONS + rates], err);
    l->system = tr_flow_system(l->flow, err);
    return l->system && !has_failed(err);
}

Lineariser *tr_lineariser_new(const System *system, tr_error *err)
{
    if (!system || has_failed(err)) return NULL;
    Lineariser *l = calloc(1, sizeof *l);
    if (!l) return tr_fail_memory(err), NULL;
    const bool listed = make_plan(l, system, err) && start(l, err) && make_lists(l);
    if (!listed) tr_fail_memory(err); // unless there are better words
    if (listed) {
        list_inputs(l);
        memcpy(l->in, l->flow->inputs, l->system->input_count * sizeof *l->in);
        l->values = calloc(number_of_values(&l->size) + 1, sizeof *l->values);
        if (!l->values) tr_fail_memory(err);
    }
    if (listed && !has_failed(err) && compile(l, err)) {
        place_values(l);
        return l;
    }
    tr_lineariser_free(l);
    return NULL;
}

void tr_lineariser_free(Lineariser *l)
{
    if (!l) return;
    for (int i = 0; i < 2; i++) tr_conditions_free(l->conditions[i]);
    tr_evaluator_free(&l->slopes);
    tr_evaluator_free(&l->accelerations);
    tr_flow_free(l->flow);
    tr_tangent_free(&l->tangent);
    tr_probes_free(&l->probes);
    tr_system_free(l->system);
    tr_plan_free(l->plan);
    free(l->w);
    free(l->output);
    free(l->input);
    free(l->in);
    free(l->values);
    free(l);
}

System *tr_lineariser_system(Lineariser *l) { return l->system; }

double *tr_lineariser_inputs(Lineariser *l) { return l->in; }

bool tr_lineariser_assemble(Lineariser *l, tr_error *err)
{
    const System *s = l->system;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION || s->inputs[i].kind == TR_VELOCITY)
            l->in[i] = s->inputs[i].value;
    for (int rates = 0; rates < 2; rates++)
        if (!tr_conditions_solve(l->conditions[rates], l->in, true, err)) return false;
    tr_flow_speeds(l->flow, l->in);
    return true;
}

double tr_lineariser_unsteadiness(Lineariser *l)
{
    // over the slopes of the last linear model, which are not needed any more
    if (l->size.w) evaluate_into(&l->accelerations, l->in, l->values);
    return tr_largest(l->values, l->size.w);
}

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

// "steer" for its rate, "frame.dx" for frame.vx, "frame.rx" for frame.wx
static const char *displacement_name(const System *s, Linear *linear, uint32_t velocity)
{
    const Port *port = &s->inputs[velocity].port;
    if (port->rate_of != NO_INPUT || !port->component[0])
        return tr_linear_keep(linear, tr_system_joint_name(s, velocity));
    char name[300];
    snprintf(name, sizeof name, "%s.%c%s", port->owner,
             port->quantity == QUANTITY_SPEED ? 'd' : 'r', port->component + 1);
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
    Linear *linear = named ? &named->linear : NULL;
    const size_t n = states, m = inputs, y = outputs;
    if (!linear) return NULL;
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

static bool is_finite(const Linear *linear)
{
    const size_t n = linear->states, m = linear->inputs, y = linear->outputs;
    return all_finite(linear->A, (n + y) * (n + m));
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
    if (linear && !is_finite(linear)) {
        tr_fail(err, TR_FAILED, (Place){0}, "the linear model is not finite at this state");
        tr_linear_free(linear);
        return NULL;
    }
    return linear;
}
