// SPDX-License-Identifier: Apache-2.0
// Positions q vary by quasi-coordinates pi as they move by velocities: q' = N(q) v, dq = N dpi. The
// variation of q' = N v gives
//
//   dpi' = dv + N^+ (D_{N dpi}(N v) - D_{q'}(N dpi))
//
// Constraints on positions leave dpi = K xi with G_h K = 0. Velocities and accelerations are those
// of the reduction, v(q, w) and w'(q, w), differentiated in the graph along the columns of N.
#include "run/linear.h"

#include "expr/derivative.h"
#include "run/doctor.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What can be pushed without being an input of the model: the force of a joint that a torque
// drives, and the position, rate and acceleration of one that a motion does. While the equations
// are made, a symbol that is zero is added to each.
typedef struct Push {
    uint32_t velocity; // the joint's, as an input
    int order;         // 0, 1, 2 of a motion; -1: a force
    Expr symbol;
    const char *name; // "tau.steer"; "r1", "d(r1)", "d(d(r1))"
} Push;

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
    System *system;
    Flow *flow;
    Conditions *conditions[2]; // positions, rates
    Sizes size;
    uint32_t *q, *v, *w, *x, *u; // inputs
    const char **output, **input;
    Push *pushes;
    uint32_t push_count;
    tr_program *program, *accelerations;
    tr_workspace *work, *accelerations_work;
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
    for (uint32_t i = 0; i < l->push_count; i++)
        if (l->pushes[i].symbol.id == s->inputs[input].symbol.id) return l->pushes[i].name;
    return s->inputs[input].name;
}

static void list_inputs(Lineariser *l)
{
    const System *s = l->system;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        const bool driven = input->definition.id != 0;
        if (input->kind == TR_POSITION && !driven && input->is_extra) l->x[l->size.x++] = i;
        if (input->kind == TR_POSITION && !driven && !input->is_extra) l->q[l->size.q++] = i;
        if (input->kind == TR_VELOCITY && !is_motion_driven(input)) l->v[l->size.p++] = i;
        if (input->kind == TR_INPUT && !driven) {
            l->input[l->size.u] = input_name(l, i);
            l->u[l->size.u++] = i;
        }
    }
    l->size.w = tr_independent(s, l->w);
    for (uint32_t i = 0; i < s->output_count; i++)
        if (s->outputs[i].label && strncmp(s->outputs[i].name, "outputs.", 8) == 0)
            l->output[l->size.y++] = s->outputs[i].label;
    for (uint32_t i = 0; i < s->row_count; i++)
        l->size.h += s->rows[i].position.id && !s->rows[i].is_open;
}

// What is differentiated: v, w', x', y, with all that is defined put in
static Expr *take_rates(Lineariser *l, uint32_t *count)
{
    System *s = l->system;
    const Sizes *n = &l->size;
    Expr *of = calloc((size_t)n->p + n->w + n->x + n->y + 1, sizeof *of);
    uint32_t k = 0;
    if (!of) return NULL;
    for (uint32_t i = 0; i < n->p; i++) of[k++] = s->inputs[l->v[i]].symbol;
    for (uint32_t i = 0; i < n->w; i++) of[k++] = s->inputs[l->w[i]].rate;
    for (uint32_t i = 0; i < n->x; i++) of[k++] = s->inputs[l->x[i]].rate;
    for (uint32_t i = 0; i < s->output_count; i++)
        if (s->outputs[i].label && strncmp(s->outputs[i].name, "outputs.", 8) == 0)
            of[k++] = s->outputs[i].values[0];
    tr_system_resolve(s, of, k);
    return *count = k, of;
}

// The columns of d(of)/d(pi, w, x, u), one after the other, into all[row * columns + column]
static void differentiate(Lineariser *l, const Expr *N, const Expr *of, uint32_t count, Expr *all)
{
    System *s = l->system;
    const Sizes *n = &l->size;
    const uint32_t columns = n->p + n->w + n->x + n->u;
    Expr *symbols = calloc(2 * (size_t)n->q + count + 1, sizeof *symbols);
    Expr *changes = symbols ? symbols + n->q : NULL, *out = changes ? changes + n->q : NULL;
    if (!symbols) s->graph->failed = true;
    for (uint32_t k = 0; symbols && k < n->q; k++) symbols[k] = s->inputs[l->q[k]].symbol;
    for (uint32_t j = 0; symbols && j < columns; j++) {
        const Expr unit = one(s->graph);
        if (j < n->p) {
            for (uint32_t k = 0; k < n->q; k++) changes[k] = N[k * n->p + j];
            tr_forward(s->graph, of, count, symbols, changes, n->q, out);
        } else {
            const uint32_t at = j - n->p;
            const uint32_t input = at < n->w          ? l->w[at]
                                   : at < n->w + n->x ? l->x[at - n->w]
                                                      : l->u[at - n->w - n->x];
            tr_forward(s->graph, of, count, &s->inputs[input].symbol, &unit, 1, out);
        }
        for (uint32_t i = 0; i < count; i++) all[(size_t)i * columns + j] = out[i];
    }
    free(symbols);
}

// N, and D_{N e_j}(N v) - D_{q'}(N e_j)
static void take_kinematics(Lineariser *l, Expr *N, Expr *E)
{
    System *s = l->system;
    const Sizes *n = &l->size;
    Expr *room = calloc(5 * (size_t)n->q + n->p + 1, sizeof *room);
    if (!room) {
        s->graph->failed = true;
        return;
    }
    Expr *q = room, *rate = q + n->q, *along = rate + n->q, *first = along + n->q,
         *second = first + n->q, *v = second + n->q;
    for (uint32_t k = 0; k < n->q; k++)
        q[k] = s->inputs[l->q[k]].symbol, rate[k] = s->inputs[l->q[k]].rate;
    for (uint32_t j = 0; j < n->p; j++) v[j] = s->inputs[l->v[j]].symbol;
    if (n->q) tr_dense_jacobian(s->graph, rate, n->q, v, n->p, N);
    for (uint32_t j = 0; j < n->p; j++) {
        for (uint32_t k = 0; k < n->q; k++) along[k] = N[k * n->p + j];
        tr_forward(s->graph, rate, n->q, q, along, n->q, first);
        tr_forward(s->graph, along, n->q, q, rate, n->q, second);
        for (uint32_t k = 0; k < n->q; k++) E[k * n->p + j] = sub(first[k], second[k]);
    }
    free(room);
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
        Expr *E = all + (size_t)n->q * n->p, *G = E + (size_t)n->q * n->p,
             *rest = G + (size_t)n->h * n->p;
        take_kinematics(l, all, E);
        take_holonomic(l, G);
        differentiate(l, all, of, count, rest);
        const Output *M = n->m ? tr_system_output(s, text_of("M")) : NULL;
        if (M)
            memcpy(all + total - (size_t)n->m * n->m, M->values, (size_t)n->m * n->m * sizeof *all);
        const tr_compile_options open = {.fix_parameters = false};
        if (s->graph->failed) tr_fail_memory(err);
        if (!has_failed(err)) tr_system_put(s, "run.linear", all, total, 1, err);
        l->program = tr_compile(s, "run.linear", &open, err);
        l->work = tr_workspace_new(l->program, err);
        if (!has_failed(err)) tr_system_put(s, "run.rates", of + n->p, n->w, 1, err);
        if (n->w) l->accelerations = tr_compile(s, "run.rates", &open, err);
        if (n->w) l->accelerations_work = tr_workspace_new(l->accelerations, err);
    } else
        tr_fail_memory(err);
    free(all);
    free(of);
    return !has_failed(err);
}

// ---- pushes --------------------------------------------------------------------------------

static bool is_pushed(const Input *input)
{
    return input->kind == TR_VELOCITY && input->drive != DRIVE_NONE;
}

// "tau.steer" of "steer_rate"; "r1", "d(r1)", "d(d(r1))" of "r1_rate"
static const char *push_name(System *s, const char *velocity, int order)
{
    static const char *const forms[] = {"tau.%.*s", "%.*s", "d(%.*s)", "d(d(%.*s))"};
    char name[300];
    const size_t length = strlen(velocity);
    const bool rate = length > 5 && strcmp(velocity + length - 5, "_rate") == 0;
    snprintf(name, sizeof name, forms[order + 1], (int)(rate ? length - 5 : length), velocity);
    return tr_arena_text(&s->graph->arena, name, strlen(name));
}

static void add_push(Lineariser *l, uint32_t velocity, int order, tr_error *err)
{
    System *s = l->system;
    char symbol[300];
    snprintf(symbol, sizeof symbol, "push.%s.%c", s->inputs[velocity].name,
             order < 0 ? 'f' : (char)('a' + order));
    const Named *known = tr_system_find(s, text_of(symbol)); // of an earlier one
    Push *push = &l->pushes[l->push_count++];
    *push = (Push){.velocity = velocity, .order = order};
    push->name = push_name(s, s->inputs[velocity].name, order);
    push->symbol = known ? known->meaning : tr_input(s, symbol, TR_INPUT, 0, err);
    if (!push->name) tr_fail_memory(err);
    Input *input = tr_system_input(s, push->symbol);
    if (input) input->definition = expr_at(s->graph, 0);
}

static bool make_pushes(Lineariser *l, tr_error *err)
{
    const System *s = l->system;
    const uint32_t count = s->input_count;
    l->pushes = calloc(3 * (size_t)count + 1, sizeof *l->pushes);
    for (uint32_t i = 0; l->pushes && i < count && !has_failed(err); i++) {
        if (!is_pushed(&s->inputs[i])) continue;
        const bool moves = s->inputs[i].drive == DRIVE_MOTION;
        for (int order = moves ? 0 : -1; order < (moves ? 3 : 0); order++)
            add_push(l, i, order, err);
    }
    // Without constraints the accelerations are there already: forces act by the mass matrix.
    if (l->push_count && !s->row_count) l->size.m = tr_system_inputs(s, TR_VELOCITY, NULL);
    return l->pushes != NULL;
}

// The position that a driven velocity is the rate of
static Input *position_of(const System *s, const Input *velocity)
{
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION && s->inputs[i].rate.id == velocity->symbol.id)
            return &s->inputs[i];
    return NULL;
}

static Expr *pushed_place(const Lineariser *l, const Push *push)
{
    Input *velocity = &l->system->inputs[push->velocity];
    Input *position = position_of(l->system, velocity);
    if (push->order == 0) return position ? &position->definition : NULL;
    if (push->order == 1) return &velocity->definition;
    return push->order == 2 ? &velocity->rate : NULL;
}

static uint32_t velocity_place(const System *s, uint32_t input)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < input; i++) place += s->inputs[i].kind == TR_VELOCITY;
    return place;
}

static void push_forces(Lineariser *l, const char *name, tr_error *err)
{
    System *s = l->system;
    const Output *Q = tr_system_output(s, text_of(name));
    Expr *values = Q ? calloc(Q->rows + 1u, sizeof *values) : NULL;
    if (!values) return;
    const uint32_t rows = Q->rows;
    memcpy(values, Q->values, rows * sizeof *values);
    for (uint32_t i = 0; i < l->push_count; i++) {
        const uint32_t at = velocity_place(s, l->pushes[i].velocity);
        if (l->pushes[i].order < 0) values[at] = add(values[at], l->pushes[i].symbol);
    }
    tr_system_put(s, name, values, rows, 1, err);
    free(values);
}

// Puts symbols into forces and motions; gives what was there before.
static Expr *put_pushes(Lineariser *l, tr_error *err)
{
    Expr *kept = calloc(l->push_count + 1u, sizeof *kept);
    if (!kept) return tr_fail_memory(err), NULL;
    for (uint32_t i = 0; i < l->push_count && !has_failed(err); i++) {
        Expr *place = pushed_place(l, &l->pushes[i]);
        if (!place || !place->id) continue;
        kept[i] = *place;
        *place = add(*place, l->pushes[i].symbol);
    }
    if (l->system->row_count && !has_failed(err)) {
        push_forces(l, "Q", err);
        if (l->system->turned_count) push_forces(l, "inner.Q", err);
    }
    return kept;
}

static void take_back_pushes(Lineariser *l, Expr *kept)
{
    for (uint32_t i = 0; kept && i < l->push_count; i++) {
        Expr *place = pushed_place(l, &l->pushes[i]);
        if (kept[i].id && place) *place = kept[i];
        Input *input = tr_system_input(l->system, l->pushes[i].symbol);
        if (input) input->definition = zero(l->system->graph); // in what was made meanwhile
    }
    free(kept);
}

static uint32_t column_of(const Lineariser *l, Expr symbol)
{
    uint32_t u = 0;
    while (u < l->size.u && l->system->inputs[l->u[u]].symbol.id != symbol.id) u++;
    return l->size.p + l->size.w + l->size.x + u;
}

// Without constraints:  M_pp w' = force - M_pa times the driven accelerations
static bool add_pushes(Lineariser *l, tr_error *err)
{
    const uint32_t p = l->size.p, m = l->size.m, columns = p + l->size.w + l->size.x + l->size.u;
    if (!m || !p) return true;
    double *A = malloc((size_t)p * (p + l->push_count) * sizeof *A);
    if (!A) return false;
    double *b = A + (size_t)p * p;
    const uint32_t count = l->push_count;
    for (uint32_t i = 0; i < p; i++) {
        const uint32_t row = velocity_place(l->system, l->v[i]);
        for (uint32_t j = 0; j < p; j++)
            A[i * p + j] = l->M[(size_t)row * m + velocity_place(l->system, l->v[j])];
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t at = velocity_place(l->system, l->pushes[k].velocity);
            b[i * count + k] = l->pushes[k].order < 0    ? row == at
                               : l->pushes[k].order == 2 ? -l->M[(size_t)row * m + at]
                                                         : 0;
        }
    }
    const bool good = LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (lapack_int)p, (lapack_int)count, A,
                                    (lapack_int)p, b, (lapack_int)count) == 0;
    if (!good) tr_fail(err, TR_FAILED, (Place){0}, "the mass matrix is singular at this state");
    for (uint32_t k = 0; good && k < count; k++)
        for (uint32_t i = 0; i < p; i++)
            l->dw[(size_t)i * columns + column_of(l, l->pushes[k].symbol)] += b[i * count + k];
    free(A);
    return good;
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
    l->q = calloc(5 * n, sizeof *l->q);
    l->output = calloc(l->system->output_count + 1u, sizeof *l->output);
    l->input = calloc(n, sizeof *l->input);
    l->in = calloc(n, sizeof *l->in);
    if (!l->q || !l->output || !l->input || !l->in) return false;
    l->v = l->q + n, l->w = l->v + n, l->x = l->w + n, l->u = l->x + n;
    return true;
}

Lineariser *tr_lineariser_new(System *system, tr_error *err)
{
    if (!system || has_failed(err)) return NULL;
    Lineariser *l = calloc(1, sizeof *l);
    if (!l) return tr_fail_memory(err), NULL;
    l->system = system;
    tr_unreduce(system);
    if (!make_pushes(l, err)) tr_fail_memory(err); // new inputs, which programs take
    for (int rates = 0; rates < 2; rates++)
        l->conditions[rates] = tr_conditions_open(system, rates, err);
    Expr *kept = put_pushes(l, err);
    l->flow = tr_flow_new(system, err);
    Findings *findings = l->flow && l->flow->stance ? tr_examine(l->flow, err) : NULL;
    if (findings) tr_findings_allow(findings, err);
    tr_findings_free(findings);
    const bool listed = l->flow && !has_failed(err) && make_lists(l);
    if (!listed) tr_fail_memory(err); // unless there are better words
    if (listed) {
        list_inputs(l);
        memcpy(l->in, l->flow->inputs, system->input_count * sizeof *l->in);
        l->values = calloc(number_of_values(&l->size) + 1, sizeof *l->values);
        if (!l->values) tr_fail_memory(err);
    }
    const bool good = listed && !has_failed(err) && compile(l, err);
    take_back_pushes(l, kept);
    if (good) {
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
    tr_workspace_free(l->work);
    tr_program_free(l->program);
    tr_workspace_free(l->accelerations_work);
    tr_program_free(l->accelerations);
    tr_flow_free(l->flow);
    free(l->q);
    free(l->output);
    free(l->input);
    free(l->pushes);
    free(l->in);
    free(l->values);
    free(l);
}

double *tr_lineariser_inputs(Lineariser *l) { return l->in; }
tr_program_size tr_lineariser_size(const Lineariser *l) { return tr_program_sizes(l->program); }

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

uint32_t tr_lineariser_accelerations(Lineariser *l, double *out)
{
    if (l->size.w) tr_evaluate(l->accelerations, l->accelerations_work, l->in, out);
    return l->size.w;
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
            if (!used[j]) largest = fmax(largest, fabs(G[i * p + j]));
    if (largest < 1e-9) return false;
    for (int bases = 1; bases >= 0 && best == 0; bases--)
        for (uint32_t i = 0; i < l->size.h; i++)
            for (uint32_t j = 0; j < p && !row_used[i]; j++) {
                const bool is_base = l->system->inputs[l->v[j]].is_base;
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

// "steer" of "steer_rate", "frame.dx" of "frame.vx", "frame.rx" of "frame.wx"
static const char *displacement_name(System *s, const char *velocity)
{
    char name[300];
    snprintf(name, sizeof name, "%s", velocity);
    const size_t length = strlen(name);
    char *point = strrchr(name, '.');
    if (length > 5 && strcmp(name + length - 5, "_rate") == 0)
        name[length - 5] = 0;
    else if (point && point[1] == 'v')
        point[1] = 'd';
    else if (point && point[1] == 'w')
        point[1] = 'r';
    return tr_arena_text(&s->graph->arena, name, strlen(name));
}

static void name_states(const Lineariser *l, const Allowed *a, Linear *linear)
{
    System *s = l->system;
    uint32_t k = 0;
    for (uint32_t i = 0; i < l->size.p - a->count; i++)
        linear->state[k++] = displacement_name(s, s->inputs[l->v[a->independent[i]]].name);
    for (uint32_t i = 0; i < l->size.w; i++) linear->state[k++] = tr_system_speed_name(s, l->w[i]);
    for (uint32_t i = 0; i < l->size.x; i++) linear->state[k++] = s->inputs[l->x[i]].name;
    for (uint32_t i = 0; i < l->size.u; i++) linear->input[i] = l->input[i];
    for (uint32_t i = 0; i < l->size.y; i++) linear->output[i] = l->output[i];
}

// ---- the linear model ----------------------------------------------------------------------

static Linear *new_linear(uint32_t states, uint32_t inputs, uint32_t outputs)
{
    Linear *linear = calloc(1, sizeof *linear);
    const size_t n = states, m = inputs, y = outputs;
    if (!linear) return NULL;
    *linear = (Linear){.states = states, .inputs = inputs, .outputs = outputs};
    linear->state = calloc(n + m + y + 1, sizeof *linear->state);
    linear->A = calloc((n + y) * (n + m) + 1, sizeof *linear->A);
    if (!linear->state || !linear->A) return tr_linear_free(linear), NULL;
    linear->input = linear->state + n, linear->output = linear->input + m;
    linear->B = linear->A + n * n, linear->C = linear->B + n * m, linear->D = linear->C + y * n;
    return linear;
}

void tr_linear_free(Linear *linear)
{
    if (!linear) return;
    free(linear->state);
    free(linear->A);
    free(linear);
}

// dv/dpi += N^+ E, by least squares
static bool add_turning(Lineariser *l)
{
    const uint32_t q = l->size.q, p = l->size.p, columns = p + l->size.w + l->size.x + l->size.u;
    if (!q || !p) return true;
    double *N = malloc((size_t)q * p * sizeof *N), *E = malloc((size_t)q * p * sizeof *E);
    bool good = N && E;
    if (good) {
        memcpy(N, l->N, (size_t)q * p * sizeof *N);
        memcpy(E, l->E, (size_t)q * p * sizeof *E);
        good = LAPACKE_dgels(LAPACK_ROW_MAJOR, 'N', (lapack_int)q, (lapack_int)p, (lapack_int)p, N,
                             (lapack_int)p, E, (lapack_int)p) == 0;
    }
    for (uint32_t i = 0; good && i < p; i++)
        for (uint32_t j = 0; j < p; j++) l->dv[(size_t)i * columns + j] += E[(size_t)i * p + j];
    free(N);
    free(E);
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
    for (size_t i = 0; i < (n + y) * (n + m); i++)
        if (!isfinite(linear->A[i])) return false;
    return true;
}

Linear *tr_lineariser_take(Lineariser *l, tr_error *err)
{
    const Sizes *n = &l->size;
    Allowed a = {0};
    Linear *linear = NULL;
    if (has_failed(err)) return NULL;
    tr_evaluate(l->program, l->work, l->in, l->values);
    if (find_allowed(l, &a) && add_turning(l) && add_pushes(l, err))
        linear = new_linear(n->p - a.count + n->w + n->x, n->u, n->y);
    if (linear) {
        linear->displacements = n->p - a.count;
        name_states(l, &a, linear);
        fill(l, &a, linear);
    } else
        tr_fail_memory(err);
    free_allowed(&a);
    if (linear && !is_finite(linear)) {
        tr_fail(err, TR_FAILED, (Place){0}, "the linear model is not finite at this state");
        tr_linear_free(linear);
        return NULL;
    }
    return linear;
}

// ---- symmetries ----------------------------------------------------------------------------

#define STILL    1e-11 // against the largest entry of A
#define ROUNDING 1e-14
#define SMALL    1e-8 // of an output, against its largest entry

static double largest_of(const double *x, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

// The part of A Z outside of Z, for orthonormal columns Z: n * s
static void outside(const Linear *l, const double *Z, uint32_t s, double *R)
{
    const uint32_t n = l->states;
    for (uint32_t k = 0; k < s; k++) {
        for (uint32_t i = 0; i < n; i++) {
            R[i * s + k] = 0;
            for (uint32_t j = 0; j < n; j++) R[i * s + k] += l->A[(size_t)i * n + j] * Z[j * s + k];
        }
        for (int twice = 0; twice < 2; twice++)
            for (uint32_t c = 0; c < s; c++) {
                double along = 0;
                for (uint32_t i = 0; i < n; i++) along += Z[i * s + c] * R[i * s + k];
                for (uint32_t i = 0; i < n; i++) R[i * s + k] -= along * Z[i * s + c];
            }
    }
}

// The directions among displacements that A keeps to themselves, to within a limit of what it makes
// of them: Z_{k+1} = {z in Z_k: A z in Z_k}. Returns their number; Z by rows of `*count`.
static bool find_symmetries(const Linear *l, double limit, double *Z, uint32_t *count)
{
    const uint32_t n = l->states;
    uint32_t s = l->displacements;
    double *R = malloc(((size_t)n * n + 1) * sizeof *R),
           *V = malloc(((size_t)n * n + 1) * sizeof *V),
           *next = malloc(((size_t)n * n + 1) * sizeof *next),
           *sigma = malloc((2 * (size_t)n + 1) * sizeof *sigma);
    bool good = R && V && next && sigma, changed = true;
    for (uint32_t i = 0; good && i < n * s; i++) Z[i] = i / s == i % s;
    while (good && s && changed) {
        uint32_t rank = 0;
        outside(l, Z, s, R);
        double none;
        good = LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'A', (lapack_int)n, (lapack_int)s, R,
                              (lapack_int)s, sigma, &none, 1, V, (lapack_int)s, sigma + n) == 0;
        while (rank < s && rank < n && sigma[rank] > limit) rank++;
        changed = rank > 0;
        const uint32_t left = s - rank;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < left; k++) {
                next[i * left + k] = 0;
                for (uint32_t j = 0; j < s; j++)
                    next[i * left + k] += Z[i * s + j] * V[(rank + k) * s + j];
            }
        memcpy(Z, next, (size_t)n * left * sizeof *Z);
        s = left;
    }
    *count = s;
    free(R);
    free(V);
    free(next);
    free(sigma);
    return good;
}

// Displacements J that stand for the symmetries, with Z_J made the identity
static void choose_ignored(const Linear *l, double *Z, uint32_t s, uint32_t *J)
{
    for (uint32_t k = 0; k < s; k++) {
        uint32_t best = 0;
        double size = -1;
        for (uint32_t i = 0; i < l->displacements; i++)
            if (fabs(Z[i * s + k]) > size * (1 + 1e-9)) best = i, size = fabs(Z[i * s + k]);
        J[k] = best;
        const double pivot = Z[best * s + k];
        for (uint32_t i = 0; i < l->states; i++) Z[i * s + k] /= pivot;
        for (uint32_t c = 0; c < s; c++) {
            const double f = Z[best * s + c];
            for (uint32_t i = 0; c != k && i < l->states; i++) Z[i * s + c] -= f * Z[i * s + k];
        }
    }
}

// x_K - Z_K x_J of a column with a given stride
static double projected(const double *column, size_t stride, const double *Z, uint32_t s,
                        const uint32_t *J, uint32_t row)
{
    double sum = column[row * stride];
    for (uint32_t k = 0; k < s; k++) sum -= Z[row * s + k] * column[J[k] * stride];
    return sum;
}

static bool is_listed(const uint32_t *list, uint32_t count, uint32_t x)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == x) return true;
    return false;
}

// Whether an output does not change along the symmetries
static bool is_invariant(const Linear *l, uint32_t output, const double *Z, uint32_t s)
{
    const double *row = l->C + (size_t)output * l->states;
    const double limit = SMALL * (largest_of(row, l->states) + 1e-300);
    for (uint32_t k = 0; k < s; k++) {
        double sum = 0;
        for (uint32_t i = 0; i < l->states; i++) sum += row[i] * Z[i * s + k];
        if (fabs(sum) > limit) return false;
    }
    return true;
}

static Linear *without(const Linear *l, const double *Z, uint32_t s, const uint32_t *J)
{
    const uint32_t n = l->states, m = l->inputs;
    uint32_t *K = calloc(n + l->outputs + 1u, sizeof *K), *Y = K ? K + n : NULL, left = 0, y = 0;
    for (uint32_t i = 0; K && i < n; i++)
        if (!is_listed(J, s, i)) K[left++] = i;
    for (uint32_t i = 0; K && i < l->outputs; i++)
        if (is_invariant(l, i, Z, s)) Y[y++] = i;
    Linear *out = K ? new_linear(left, m, y) : NULL;
    if (out) out->displacements = l->displacements - s;
    for (uint32_t i = 0; out && i < left; i++) {
        out->state[i] = l->state[K[i]];
        for (uint32_t j = 0; j < left; j++)
            out->A[i * left + j] = projected(l->A + K[j], n, Z, s, J, K[i]);
        for (uint32_t j = 0; j < m; j++) out->B[i * m + j] = projected(l->B + j, m, Z, s, J, K[i]);
    }
    for (uint32_t i = 0; out && i < m; i++) out->input[i] = l->input[i];
    for (uint32_t i = 0; out && i < y; i++) {
        out->output[i] = l->output[Y[i]];
        for (uint32_t j = 0; j < left; j++) out->C[i * left + j] = l->C[Y[i] * n + K[j]];
        for (uint32_t j = 0; j < m; j++) out->D[i * m + j] = l->D[Y[i] * m + j];
    }
    free(K);
    return out;
}

Linear *tr_linear_reduced(const Linear *l, uint32_t least, tr_error *err)
{
    if (!l || has_failed(err)) return NULL;
    const double size = fmax(largest_of(l->A, (size_t)l->states * l->states), 1e-300);
    double *Z = calloc((size_t)l->states * l->states + 1, sizeof *Z), limit = STILL * size;
    uint32_t *J = calloc(l->states + 1u, sizeof *J), s = 0;
    Linear *out = NULL;
    bool good = Z && J && find_symmetries(l, limit, Z, &s);
    while (good && l->states - s < least && limit > ROUNDING * size)
        good = find_symmetries(l, limit /= 10, Z, &s);
    if (good) {
        choose_ignored(l, Z, s, J);
        out = without(l, Z, s, J);
    }
    if (!out) tr_fail_memory(err);
    free(Z);
    free(J);
    return out;
}
