// SPDX-License-Identifier: Apache-2.0
// P is kept in units of the largest of what goes into it, so that tolerances of steps mean
// something for it. It is symmetric to the bit: rates are sums of a matrix and its transpose.
#include "plan/covariance.h"

#include "expr/derivative.h"
#include "num/dense.h"
#include "num/solve.h"
#include "plan/jacobian.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tr_system_is_uncertain(const System *s)
{
    return s->deviant_count || tr_system_inputs(s, TR_NOISE, NULL);
}

// ---- what is recorded ----------------------------------------------------------------------

// Noise is no number: what it enters at once has no standard deviation. So it is with velocities in
// first order, and with accelerations and forces.
static bool is_free_of_noise(const System *s, Expr x)
{
    return !tr_system_uses(s, x, TR_SOLVED) && !tr_system_uses(s, x, TR_NOISE) &&
           !(s->order == 1 && tr_system_uses(s, x, TR_VELOCITY));
}

static bool is_place_of_contact(const Output *output)
{
    return output->label && output->port.quantity == QUANTITY_PLACE;
}

static bool has_spread(const System *s, const Input *input)
{
    if (input->definition.id || input->port.quantity == QUANTITY_QUATERNION) return false;
    return input->kind == TR_POSITION || (input->kind == TR_VELOCITY && s->order != 1);
}

typedef struct Spread {
    const char *label;
    Expr value;
    const Port *port;
} Spread;

// In the order of what is recorded; as many as there may be fit into `list`.
static uint32_t list_spreads(const System *s, Spread *list)
{
    uint32_t count = 0;
    for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++)
        for (uint32_t i = 0; i < s->input_count; i++) {
            const Input *input = &s->inputs[i];
            if ((int)input->kind == kind && has_spread(s, input))
                list[count++] = (Spread){input->name, input->symbol, &input->port};
        }
    for (uint32_t i = 0; i < s->output_count; i++) {
        const Output *output = &s->outputs[i];
        if ((is_model_output(output) || is_place_of_contact(output)) &&
            is_free_of_noise(s, output->values[0]))
            list[count++] = (Spread){output->label, output->values[0], &output->port};
    }
    return count;
}

static Spread *new_spreads(const System *s, uint32_t *count)
{
    Spread *list = calloc((size_t)s->input_count + s->output_count + 1, sizeof *list);
    if (list) *count = list_spreads(s, list);
    return list;
}

static bool is_coordinate_or_place(const Spread *a)
{
    return a->port->quantity == QUANTITY_LENGTH || a->port->quantity == QUANTITY_ANGLE ||
           a->port->quantity == QUANTITY_PLACE;
}

// Of two coordinates of one body, and of one contact's place: what ellipses need
static bool are_a_pair(const Spread *a, const Spread *b)
{
    return is_coordinate_or_place(a) && is_coordinate_or_place(b) && a->port->owner[0] &&
           strcmp(a->port->owner, b->port->owner) == 0 &&
           (a->port->quantity == QUANTITY_PLACE) == (b->port->quantity == QUANTITY_PLACE);
}

static bool add_column(Covariance *c, SpreadColumn column, const char *first, const char *second)
{
    const size_t size = strlen(first) + strlen(second) + 8;
    char *label = malloc(size);
    if (!label) return false;
    if (column.is_pair)
        snprintf(label, size, "cov(%s:%s)", first, second);
    else
        snprintf(label, size, "sd(%s)", first);
    c->labels[c->column_count] = label;
    c->columns[c->column_count++] = column;
    return true;
}

static bool name_columns(Covariance *c, const Spread *list, uint32_t count)
{
    const size_t most = (size_t)count * (count + 1) / 2 + 1;
    c->columns = calloc(most, sizeof *c->columns);
    c->labels = calloc(most, sizeof *c->labels);
    bool good = c->columns && c->labels;
    for (uint32_t i = 0; good && i < count; i++)
        good = add_column(c, (SpreadColumn){i, i, false}, list[i].label, "");
    for (uint32_t i = 0; good && i < count; i++)
        for (uint32_t k = i + 1; good && k < count; k++)
            if (are_a_pair(&list[i], &list[k]))
                good = add_column(c, (SpreadColumn){i, k, true}, list[i].label, list[k].label);
    return good;
}

static void free_columns(Covariance *c)
{
    for (uint32_t i = 0; c->labels && i < c->column_count; i++) free(c->labels[i]);
    free(c->labels);
    free(c->columns);
}

char *tr_plan_deviations(const Plan *plan, tr_error *err)
{
    tr_error own = {0};
    if (!err) err = &own;
    if (!plan || has_failed(err)) return NULL;
    const bool any = tr_system_is_uncertain(plan->system);
    uint32_t count = 0;
    Covariance c = {0};
    Buffer text = {0};
    Spread *list = any ? new_spreads(plan->system, &count) : NULL;
    const bool good = !any || (list && name_columns(&c, list, count));
    tr_buffer_print(&text, "%s", "");
    for (uint32_t i = 0; good && i < c.column_count; i++)
        tr_buffer_print(&text, "%s\n", c.labels[i]);
    free_columns(&c);
    free(list);
    if (good && !text.failed) return text.at;
    tr_buffer_free(&text);
    return tr_fail_memory(err), NULL;
}

// ---- programs of a chart -------------------------------------------------------------------

static bool take_state(const System *s, const ChartPrograms *c, Expr *y)
{
    if (!y) return s->graph->failed = true, false;
    for (uint32_t k = 0; k < c->known; k++) y[k] = s->inputs[c->place[k]].symbol;
    return true;
}

// Slopes along y of expressions, by rows, behind what is listed already; these are resolved.
static void list_slopes(System *s, const ChartPrograms *c, Expr *of, size_t count, Exprs *list)
{
    const size_t known = c->known;
    Expr *y = calloc(known + count * known + 1, sizeof *y), *slopes = y ? y + known : NULL;
    tr_system_resolve(s, of, count);
    if (take_state(s, c, y) && count && tr_dense_jacobian(s->graph, of, count, y, known, slopes))
        tr_exprs_add(list, slopes, count * known);
    free(y);
}

static tr_program *compile(System *s, Exprs *list, const ChartPrograms *c, tr_error *err)
{
    if (s->graph->failed) list->failed = true;
    if (list->count || list->failed) return tr_program_list(s, list, c->footing->fold, err);
    tr_exprs_free(list);
    return NULL;
}

// L by rows, then the densities
tr_program *tr_noise_program(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    (void)plan;
    const uint32_t noises = tr_system_inputs(s, TR_NOISE, NULL);
    const size_t known = c->known;
    if (!noises) return NULL;
    Expr *rates = calloc(c->own + noises + known * noises + 1, sizeof *rates);
    uint32_t *input = calloc(noises, sizeof *input);
    Exprs list = {0};
    if (rates && input) {
        Expr *n = rates + c->own, *L = n + noises;
        tr_system_inputs(s, TR_NOISE, input);
        for (uint32_t k = 0; k < noises; k++) n[k] = s->inputs[input[k]].symbol;
        tr_chart_rates(s, c, rates);
        tr_system_resolve(s, rates, known);
        if (tr_dense_jacobian(s->graph, rates, known, n, noises, L))
            tr_exprs_add(&list, L, known * noises);
        tr_system_list(s, "noise", &list);
    } else
        list.failed = true;
    free(rates);
    free(input);
    return compile(s, &list, c, err);
}

tr_program *tr_spread_program(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    uint32_t count = 0;
    Spread *spreads = new_spreads(plan->system, &count);
    Expr *of = calloc(count + 1u, sizeof *of);
    Exprs list = {0};
    if (!spreads || !of) list.failed = true;
    for (uint32_t i = 0; of && spreads && i < count; i++)
        of[i] = expr_at(s->graph, spreads[i].value.id);
    if (of && spreads) list_slopes(s, c, of, count, &list);
    free(spreads);
    free(of);
    return compile(s, &list, c, err);
}

uint32_t tr_covariance_seams(const System *original, Expr *of, uint32_t *input)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < original->input_count; i++) {
        const Input *x = &original->inputs[i];
        if (x->kind == TR_VELOCITY) of[count] = x->symbol, input[count++] = i;
        if (x->kind == TR_INNER && x->definition.id) of[count] = x->definition, input[count++] = i;
    }
    for (uint32_t i = 0; i < original->row_count; i++) {
        const Input *speed =
            original->rows[i].is_speed ? tr_system_input(original, original->rows[i].symbol) : NULL;
        if (!speed) continue;
        of[count] = original->rows[i].rate;
        input[count++] = (uint32_t)(speed - original->inputs);
    }
    return count;
}

tr_program *tr_seam_program(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    const System *original = plan->system;
    Expr *of = calloc(original->input_count + 1u, sizeof *of);
    uint32_t *input = calloc(original->input_count + 1u, sizeof *input);
    Exprs list = {0};
    if (of && input) {
        const uint32_t count = tr_covariance_seams(original, of, input);
        for (uint32_t i = 0; i < count; i++) of[i] = expr_at(s->graph, of[i].id);
        list_slopes(s, c, of, count, &list);
    } else
        list.failed = true;
    free(of);
    free(input);
    return compile(s, &list, c, err);
}

// Of all fixes: what is expected, standard deviations, and slopes of the former
tr_program *tr_fix_program(const Plan *plan, System *s, ChartPrograms *c, tr_error *err)
{
    (void)plan;
    Exprs list = {0}, sd = {0};
    char name[300];
    for (uint32_t i = 0; i < s->fix_count; i++) {
        snprintf(name, sizeof name, "fix.%s", s->fixes[i].name);
        tr_output_list(s, name, &list);
        snprintf(name, sizeof name, "fix_sd.%s", s->fixes[i].name);
        tr_output_list(s, name, &sd);
    }
    const uint32_t count = list.count;
    Expr *of = calloc(count + 1u, sizeof *of);
    if (of && count) memcpy(of, list.at, count * sizeof *of);
    tr_exprs_add(&list, sd.at, sd.count);
    if (of && !list.failed)
        list_slopes(s, c, of, count, &list);
    else
        list.failed = true;
    if (sd.failed) list.failed = true;
    free(of);
    tr_exprs_free(&sd);
    return compile(s, &list, c, err);
}

// ---- the start -----------------------------------------------------------------------------

static const double *column_of(const Flow *flow, const double *y, uint32_t k)
{
    return y + (size_t)flow->own * (k + 1);
}

static double larger_of_all(double largest, const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) largest = larger(largest, fabs(x[i]));
    return largest;
}

// Of the variances at the start and of what noise adds in a second
static double find_unit(const Flow *flow, const double *sd)
{
    const Covariance *c = flow->covariance;
    double unit = larger_of_all(0, sd, flow->system->deviant_count);
    unit *= unit;
    if (c->noises)
        unit = larger_of_all(unit, c->noise + (size_t)flow->known * c->noises, c->noises);
    return unit > 0 && isfinite(unit) ? unit : 1;
}

static bool find_start(Flow *flow, tr_error *err)
{
    System *own = tr_system_copy(flow->system, err);
    double *sd = calloc(flow->system->deviant_count + 1u, sizeof *sd);
    Covariance *c = flow->covariance;
    Exprs list = {0};
    if (own && flow->system->deviant_count) tr_output_list(own, "deviations", &list);
    if (!sd || list.failed) tr_fail_memory(err);
    if (!has_failed(err) && list.count)
        tr_evaluate_once(own, list.at, list.count, OPEN_PARAMETERS, flow->inputs, sd, err);
    tr_flow_fill(flow, 0, flow->start);
    if (!has_failed(err) && c->noises)
        tr_flow_evaluate(flow, flow_program(flow, CHART_NOISE), c->noise);
    if (!has_failed(err)) {
        c->unit = find_unit(flow, sd);
        tr_covariance_deviate(flow, flow->start, sd, err);
    }
    tr_exprs_free(&list);
    free(sd);
    tr_system_free(own);
    return !has_failed(err);
}

static bool make_room(Flow *flow, Covariance *c, tr_error *err)
{
    const System *s = flow->system;
    const size_t known = flow->known, size = (size_t)flow->own * (known + 1);
    Spread *spreads = new_spreads(s, &c->spreads);
    const bool named = spreads && name_columns(c, spreads, c->spreads);
    free(spreads);
    double *start = realloc(flow->start, (size + 1) * sizeof *start);
    if (start) flow->start = start;
    c->noises = tr_system_inputs(s, TR_NOISE, NULL);
    c->K = calloc(2 * known * known + 2 * known + 1, sizeof *c->K);
    c->noise = calloc((known + 1) * c->noises + 1, sizeof *c->noise);
    c->slopes = calloc((size_t)c->spreads * known + 1, sizeof *c->slopes);
    c->seam = calloc((size_t)s->input_count * known + 1, sizeof *c->seam);
    c->kept = calloc(known * known + 1, sizeof *c->kept);
    if (!named || !start || !c->K || !c->noise || !c->slopes || !c->seam || !c->kept)
        return tr_fail_memory(err), false;
    for (size_t k = flow->own; k < size; k++) start[k] = 0;
    flow->size = (uint32_t)size;
    return true;
}

enum { PROGRAMS = 1u << CHART_NOISE | 1u << CHART_SPREAD | 1u << CHART_SEAM | 1u << CHART_FIXES };

bool tr_covariance_check(Flow *flow, double t, const double *y, tr_error *err)
{
    const Covariance *c = flow->covariance;
    const System *s = flow->system;
    uint32_t which = 0;
    if (!c || !c->noises) return true;
    tr_flow_fill(flow, t, y);
    tr_flow_evaluate(flow, flow_program(flow, CHART_NOISE), c->noise);
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (s->inputs[i].kind != TR_NOISE) continue;
        const double density = c->noise[(size_t)flow->known * c->noises + which++];
        if (!(density >= 0) || !isfinite(density))
            tr_fail(err, TR_FAILED, (Place){0},
                    "the spectral density of '%.100s' is %s at t = %.6g", s->inputs[i].name,
                    density < 0 ? "negative" : "not finite", t);
    }
    return !has_failed(err);
}

bool tr_covariance_attach(Flow *flow, tr_error *err)
{
    if (flow->no_projection && flow->now->projected) {
        tr_fail(err, TR_USAGE, (Place){0},
                "standard deviations keep to the constraints: they do not go without projection");
        return false;
    }
    Covariance *c = calloc(1, sizeof *c);
    if (!c) return tr_fail_memory(err), false;
    flow->covariance = c;
    return make_room(flow, c, err) && tr_flow_ready(flow, PROGRAMS, err) &&
           tr_jacobian_ready(flow, err) && find_start(flow, err);
}

void tr_covariance_free(Covariance *c)
{
    if (!c) return;
    free_columns(c);
    free(c->K);
    free(c->noise);
    free(c->slopes);
    free(c->seam);
    free(c->kept);
    free(c);
}

// ---- along the way -------------------------------------------------------------------------

// P' = F P + (F P)^T + L Q L^T                                                             (T260)
void tr_covariance_rate(Flow *flow, const double *y, double *rate)
{
    const Covariance *c = flow->covariance;
    const size_t n = flow->known;
    double *K = c->K;
    for (size_t i = 0; i < n * n; i++) K[i] = 0;
    tr_jacobian_times(flow, y + flow->own, flow->own, K);
    if (c->noises) tr_flow_evaluate(flow, flow_program(flow, CHART_NOISE), c->noise);
    const double *L = c->noise, *density = L + n * c->noises;
    for (uint32_t k = 0; k < n; k++) {
        double *to = covariance_column(flow, rate, k);
        for (uint32_t i = 0; i < n; i++) {
            double sum = 0;
            for (uint32_t j = 0; j < c->noises; j++)
                sum += L[i * c->noises + j] * L[k * c->noises + j] * density[j];
            to[i] = (K[i * n + k] + K[k * n + i]) + sum / c->unit;
        }
        for (uint32_t i = (uint32_t)n; i < flow->own; i++) to[i] = 0;
    }
}

static void transpose(const Flow *flow, double *y)
{
    for (uint32_t k = 0; k < flow->known; k++)
        for (uint32_t i = 0; i < k; i++) {
            double *a = &covariance_column(flow, y, k)[i], *b = &covariance_column(flow, y, i)[k];
            const double was = *a;
            *a = *b, *b = was;
        }
}

static void make_symmetric(const Flow *flow, double *y)
{
    for (uint32_t k = 0; k < flow->known; k++)
        for (uint32_t i = 0; i < k; i++) {
            double *a = &covariance_column(flow, y, k)[i], *b = &covariance_column(flow, y, i)[k];
            *a = *b = (*a + *b) / 2;
        }
}

// Columns, and then rows                                                                   (T262)
void tr_covariance_project(Flow *flow, double t, double *y)
{
    if (!flow->quaternion_count && (!flow->now->projected || flow->no_projection)) return;
    for (int side = 0; side < 2; side++) {
        tr_flow_project_changes(flow, t, y, covariance_column(flow, y, 0), flow->known, flow->own);
        transpose(flow, y);
    }
    make_symmetric(flow, y);
}

void tr_covariance_leave(Flow *flow, double t, const double *y)
{
    Covariance *c = flow->covariance;
    const size_t n = flow->known;
    if (!c) return;
    tr_flow_fill(flow, t, y);
    tr_flow_evaluate(flow, flow_program(flow, CHART_SEAM), c->seam);
    for (uint32_t k = 0; k < n; k++)
        memcpy(c->kept + k * n, column_of(flow, y, k), n * sizeof *c->kept);
}

// T: how y in the present chart changes with y in the last one
static bool find_seam(const Flow *flow, double *T, tr_error *err)
{
    const System *s = flow->system;
    const size_t n = flow->known;
    Expr *of = calloc(s->input_count + 1u, sizeof *of);
    uint32_t *input = calloc(s->input_count + 1u, sizeof *input);
    if (!of || !input) tr_fail_memory(err);
    const uint32_t count = of && input ? tr_covariance_seams(s, of, input) : 0;
    for (size_t i = 0; i < n * n; i++) T[i] = 0;
    for (size_t i = 0; i < flow->positions; i++) T[i * n + i] = 1;
    for (size_t i = flow->positions; i < n; i++)
        for (uint32_t k = 0; k < count; k++)
            if (input[k] == flow->now->place[i])
                memcpy(T + i * n, flow->covariance->seam + k * n, n * sizeof *T);
    free(of);
    free(input);
    return !has_failed(err);
}

// P = T P T^T                                                                              (T262)
bool tr_covariance_enter(Flow *flow, double *y, tr_error *err)
{
    Covariance *c = flow->covariance;
    const size_t n = flow->known;
    if (!c) return true;
    double *T = c->K, *TP = c->K + n * n;
    if (!find_seam(flow, T, err) || !tr_jacobian_ready(flow, err)) return false;
    tr_multiply(T, c->kept, flow->known, flow->known, flow->known, TP);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t j = 0; j < n; j++) sum += TP[i * n + j] * T[k * n + j];
            covariance_column(flow, y, k)[i] = sum;
        }
    make_symmetric(flow, y);
    return true;
}

// ---- results -------------------------------------------------------------------------------

uint32_t tr_covariance_count(const Flow *flow)
{
    return flow->covariance ? flow->covariance->column_count : 0;
}

const char *const *tr_covariance_labels(const Flow *flow)
{
    return (const char *const *)flow->covariance->labels;
}

double tr_covariance_of(const Flow *flow, const double *y, uint32_t i, uint32_t k)
{
    return flow->covariance->unit * column_of(flow, y, k)[i];
}

// a P b, in the units of the model
static double between(const Flow *flow, const double *y, const double *a, const double *b)
{
    double sum = 0;
    for (uint32_t k = 0; k < flow->known; k++) {
        double inner = 0;
        if (b[k] == 0) continue;
        for (uint32_t i = 0; i < flow->known; i++) inner += a[i] * column_of(flow, y, k)[i];
        sum += inner * b[k];
    }
    return flow->covariance->unit * sum;
}

void tr_covariance_columns(Flow *flow, double t, const double *y, double *columns)
{
    const Covariance *c = flow->covariance;
    const size_t n = flow->known;
    if (!c->spreads) return;
    tr_flow_fill(flow, t, y);
    tr_flow_evaluate(flow, flow_program(flow, CHART_SPREAD), c->slopes);
    for (uint32_t i = 0; i < c->column_count; i++) {
        const SpreadColumn *at = &c->columns[i];
        const double square =
            between(flow, y, c->slopes + at->first * n, c->slopes + at->second * n);
        columns[i] = at->is_pair ? square : square > 0 ? sqrt(square) : square + 0.0;
        if (!at->is_pair && square < 0) columns[i] = 0; // rounding of what is known
    }
}

// ---- corrections ---------------------------------------------------------------- (T263) ----

typedef struct Gain {
    double *PH; // known * count, by columns: P H^T
    double *S;  // count * count: H P H^T + R, then its factor
    double *K;  // known * count, by columns: P H^T S^-1
} Gain;

static bool open_gain(const Flow *flow, uint32_t m, Gain *g)
{
    const size_t n = flow->known;
    g->PH = calloc(2 * n * m + (size_t)m * m + 1, sizeof *g->PH);
    if (!g->PH) return false;
    g->K = g->PH + n * m, g->S = g->K + n * m;
    return true;
}

// In the units of the model
static void find_gain(const Flow *flow, const double *y, const Sight *sight, Gain *g)
{
    const size_t n = flow->known, m = sight->count;
    for (size_t j = 0; j < m; j++)
        for (uint32_t k = 0; k < n; k++) {
            double sum = 0;
            for (uint32_t i = 0; i < n; i++)
                sum += sight->slopes[j * n + i] * column_of(flow, y, k)[i];
            g->PH[j * n + k] = flow->covariance->unit * sum;
        }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            double sum = i == j ? sight->sd[i] * sight->sd[i] : 0;
            for (size_t k = 0; k < n; k++) sum += sight->slopes[i * n + k] * g->PH[j * n + k];
            g->S[i * m + j] = sum;
        }
}

// off^T S^-1 off, and K = P H^T S^-1
static bool divide_by_spread(const Flow *flow, Sight *sight, Gain *g, double *room)
{
    const size_t n = flow->known, m = sight->count;
    for (size_t i = 0; i < m; i++) sight->expected[i] = sqrt(g->S[i * m + i]);
    if (!tr_cholesky(g->S, m)) return false;
    for (size_t i = 0; i < m; i++) room[i] = sight->off[i];
    tr_solve_lower(g->S, m, room, 1);
    sight->consistency = 0;
    for (size_t i = 0; i < m; i++) sight->consistency += room[i] * room[i];
    for (size_t k = 0; k < n; k++) {
        for (size_t j = 0; j < m; j++) room[j] = g->PH[j * n + k];
        tr_solve_lower(g->S, m, room, 1);
        tr_solve_lower_transposed(g->S, m, room, 1);
        for (size_t j = 0; j < m; j++) g->K[j * n + k] = room[j];
    }
    return true;
}

// P = (1 - K H) P (1 - K H)^T + K R K^T: positive whatever rounding does
static void shrink(const Flow *flow, double *y, const Sight *sight, const Gain *g)
{
    const Covariance *c = flow->covariance;
    const size_t n = flow->known, m = sight->count;
    double *A = c->K, *AP = c->K + n * n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            A[i * n + k] = i == k;
            for (size_t j = 0; j < m; j++)
                A[i * n + k] -= g->K[j * n + i] * sight->slopes[j * n + k];
        }
    for (uint32_t k = 0; k < n; k++)
        memcpy(c->kept + k * n, covariance_column(flow, y, k), n * sizeof *c->kept);
    tr_multiply(A, c->kept, flow->known, flow->known, flow->known, AP);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < n; i++) {
            double sum = 0, noise = 0;
            for (size_t j = 0; j < n; j++) sum += AP[i * n + j] * A[k * n + j];
            for (size_t j = 0; j < m; j++)
                noise += g->K[j * n + i] * g->K[j * n + k] * sight->sd[j] * sight->sd[j];
            covariance_column(flow, y, k)[i] = sum + noise / c->unit;
        }
    make_symmetric(flow, y);
}

bool tr_covariance_correct(Flow *flow, double t, double *y, Sight *sight, bool correct,
                           tr_error *err)
{
    const size_t n = flow->known, m = sight->count;
    Gain g = {0};
    double *room = calloc(m + 1, sizeof *room);
    bool good = room && open_gain(flow, sight->count, &g);
    if (!good) tr_fail_memory(err);
    if (good) find_gain(flow, y, sight, &g);
    good = good && divide_by_spread(flow, sight, &g, room);
    if (good && correct) {
        shrink(flow, y, sight, &g);
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < m; j++) y[k] += g.K[j * n + k] * sight->off[j];
        tr_flow_project(flow, t, y);
    }
    free(room);
    free(g.PH);
    return good;
}
