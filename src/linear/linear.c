// SPDX-License-Identifier: Apache-2.0
// What a linear model is made of: the variation of q' = N v gives, with
// E_j = D_{N e_j}(N v) - D_{q'}(N e_j),
//
//   dpi' = dv + N^+ E dpi
//
// Velocities and accelerations are those of the reduction, v(q, w) and w'(q, w), differentiated in
// the graph along the columns of N (T98).
#include "expr/derivative.h"
#include "expr/forest.h"
#include "linear/lineariser.h"
#include "num/dense.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// By way of the equations of motion: w' first, of which the others then know the derivatives. False
// where there is no such way.
static bool differentiate_structured(Lineariser *l, const Expr *of, uint32_t count,
                                     const Expr *others, uint32_t other_count, Expr *out)
{
    const Sizes *n = &l->size;
    const size_t columns = (size_t)n->p + other_count;
    Expr *dw = out + n->p * columns, *rest = dw + n->w * columns;
    const KnownSlopes known = {of + n->p, dw, n->w};
    Expr *wdot = calloc(n->w + 1u, sizeof *wdot); // nobody asks for them in this form
    const bool good =
        wdot && tr_tangent_accelerations(&l->tangent, &l->flow->now->programs->partition, others,
                                         other_count, wdot, dw);
    free(wdot);
    if (!good) return false;
    tr_tangent_slopes(&l->tangent, of, n->p, others, other_count, known, out);
    tr_tangent_slopes(&l->tangent, of + n->p + n->w, count - n->p - n->w, others, other_count,
                      known, rest);
    return !l->system->graph->failed;
}

// By rows: d(of)/d(pi, w, x, u), in the shorter way
static void differentiate(Lineariser *l, const Expr *of, uint32_t count, Expr *out)
{
    System *s = l->system;
    const Sizes *n = &l->size;
    const size_t rest = (size_t)n->w + n->x + n->u, all = count * (n->p + rest);
    Expr *others = calloc(rest + all + 1, sizeof *others);
    uint32_t k = 0;
    if (!others) {
        s->graph->failed = true;
        return;
    }
    Expr *plain = others + rest;
    for (uint32_t i = 0; i < n->w; i++) others[k++] = s->inputs[l->w[i]].symbol;
    for (uint32_t i = 0; i < n->x; i++) others[k++] = s->inputs[l->x[i]].symbol;
    for (uint32_t i = 0; i < n->u; i++) others[k++] = s->inputs[l->u[i]].symbol;
    const bool good = differentiate_structured(l, of, count, others, k, out);
    if (!good || tr_is_worth_comparing(s, of + n->p, n->w, n->p + rest)) {
        tr_tangent_slopes(&l->tangent, of, count, others, k, (KnownSlopes){0}, plain);
        if (!good || tr_system_operations(s, plain, all) <= tr_system_operations(s, out, all))
            memcpy(out, plain, all * sizeof *out);
    }
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
    System *s = l->system;
    uint32_t row = 0;
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (!s->rows[i].position.id || s->rows[i].is_open) continue;
        if (!s->rows[i].slopes) tr_forest_slopes(s, &s->rows[i]);
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

// What is held is input, and what it is after a sample output.                         (T323)
static void expose_samples(System *own, tr_error *err)
{
    const Output *samples = tr_system_output(own, text_of("samples"));
    char name[60];
    for (uint32_t i = 0; samples && i < own->held_count && !has_failed(err); i++) {
        own->inputs[own->held[i].input].kind = TR_INPUT;
        snprintf(name, sizeof name, "outputs.sample.s%u", i);
        samples = tr_system_output(own, text_of("samples")); // outputs move as they grow
        tr_system_column(own, name, name + strlen("outputs."),
                         samples->values[2 * own->clocked_count + i], port_unknown(), err);
    }
}

// A plan of the system with probes among its inputs
static bool make_plan(Lineariser *l, const System *system, bool samples, tr_error *err)
{
    System *own = tr_system_copy(system, err);
    if (!own) return false;
    tr_system_unfollow(own); // what is a formula of t is the number that it starts with
    tr_probes_new(own, &l->probes, err);
    tr_probes_put(&l->probes, err);
    if (samples) expose_samples(own, err);
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

static Lineariser *new_lineariser(const System *system, bool samples, tr_error *err)
{
    if (!system || !tr_system_is_second_order(system, "linear models", err)) return NULL;
    Lineariser *l = calloc(1, sizeof *l);
    if (!l) return tr_fail_memory(err), NULL;
    const bool listed = make_plan(l, system, samples, err) && start(l, err) && make_lists(l);
    if (!listed) tr_fail_memory(err); // unless there are better words
    if (listed) {
        list_inputs(l);
        memcpy(l->in, l->flow->inputs, l->system->input_count * sizeof *l->in);
        l->values = calloc(number_of_values(&l->size) + 1, sizeof *l->values);
        if (!l->values) tr_fail_memory(err);
    }
    if (listed && !has_failed(err) && compile(l, err) && tr_laws_new(l->system, &l->laws, err) &&
        tr_laws_settle(&l->laws, l->in, err)) {
        place_values(l);
        return l;
    }
    tr_lineariser_free(l);
    return NULL;
}

Lineariser *tr_lineariser_new(const System *system, tr_error *err)
{
    return new_lineariser(system, false, err);
}

Lineariser *tr_lineariser_of_samples(const System *system, tr_error *err)
{
    return new_lineariser(system, true, err);
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
    tr_laws_free(&l->laws);
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
        if (is_placed(&s->inputs[i]) || s->inputs[i].kind == TR_VELOCITY)
            l->in[i] = s->inputs[i].value;
    for (int rates = 0; rates < 2; rates++)
        if (!tr_conditions_solve(l->conditions[rates], l->in, true, err)) return false;
    tr_flow_speeds(l->flow, l->in);
    return tr_laws_settle(&l->laws, l->in, err);
}

void tr_lineariser_stand(Lineariser *l) { tr_flow_speeds(l->flow, l->in); }

double tr_lineariser_unsteadiness(Lineariser *l)
{
    // over the slopes of the last linear model, which are not needed any more
    if (l->size.w) evaluate_into(&l->accelerations, l->in, l->values);
    return tr_largest(l->values, l->size.w);
}
