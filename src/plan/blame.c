// SPDX-License-Identifier: Apache-2.0
// Every node of the system's graph is evaluated by itself where the accelerations are not finite;
// reactions and accelerations, which depend on them, are not known. A formula of the user's that
// has no value is the reason; and in it the operation whose operands still had one. If there is
// none, the mass matrix is looked at: z with M z = 0 and G z = 0 is a motion without inertia.
#include "plan/blame.h"

#include "expr/walk.h"
#include "num/dense.h"
#include "num/singular.h"
#include "plan/stance_numbers.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Nodes {
    const Graph *graph;
    double *value;
    bool *is_known;
    bool solves_velocities; // they are what is not known, in first order
} Nodes;

static bool is_bad(const Nodes *n, uint32_t id)
{
    return n->is_known[id] && !isfinite(n->value[id]);
}

static bool is_first_order(const Flow *flow) { return flow->system->order == 1; }

// ---- values --------------------------------------------------------------------------------

// A choice is known when what it chooses is.
static bool is_known(const Nodes *n, const Node *node)
{
    if (node->op == OP_SELECT)
        return n->is_known[node->a] && n->is_known[n->value[node->a] != 0 ? node->b : node->c];
    for (int i = 0; i < tr_op[node->op].operands; i++)
        if (!n->is_known[node_operand(node, i)]) return false;
    return node->op != OP_FAILED;
}

static bool is_solved(const Nodes *n, const Input *input)
{
    return input->kind == TR_SOLVED || (n->solves_velocities && input->kind == TR_VELOCITY);
}

static bool evaluate_nodes(Nodes *n, const System *s, const double *inputs)
{
    const Graph *g = n->graph;
    n->value = calloc(g->count, sizeof *n->value);
    n->is_known = calloc(g->count, sizeof *n->is_known);
    if (!n->value || !n->is_known) return false;
    for (uint32_t id = 0; id < g->count; id++) {
        const Node *node = &g->nodes[id];
        if (node->op == OP_SYMBOL) {
            n->is_known[id] = !is_solved(n, &s->inputs[node->a]);
            n->value[id] = inputs[node->a];
        } else if ((n->is_known[id] = is_known(n, node)))
            n->value[id] = tr_node_value(g, node, n->value);
    }
    return true;
}

// ---- formulas ------------------------------------------------------------------------------

// The node below, or this one, that has no value though all that it is made of has one
static uint32_t culprit(const Nodes *n, uint32_t id)
{
    for (;;) {
        const Node *node = &n->graph->nodes[id];
        uint32_t next = 0;
        for (int i = tr_op[node->op].operands; i-- > 0;) {
            const uint32_t operand = node_operand(node, i);
            const bool counts = node->op != OP_SELECT || i == (n->value[node->a] != 0 ? 1 : 2);
            if (counts && is_bad(n, operand)) next = operand;
        }
        if (!next) return id;
        id = next;
    }
}

// "0/0", "sqrt(-1)"
static void describe(const Nodes *n, uint32_t id, char *words, size_t size)
{
    const Node *node = &n->graph->nodes[id];
    const int operands = tr_op[node->op].operands;
    const double a = operands > 0 ? n->value[node->a] + 0.0 : 0,
                 b = operands > 1 ? n->value[node->b] + 0.0 : 0;
    const char *name = tr_op[node->op].name;
    if (node->op == OP_POW)
        snprintf(words, size, "%.6g^%g", a, 0.5 * node->n);
    else if (operands == 2 && tr_op[node->op].form != FORM_CALL)
        snprintf(words, size, "%.6g%s%.6g", a, name, b);
    else if (operands == 2)
        snprintf(words, size, "%s(%.6g, %.6g)", name, a, b);
    else if (operands == 1)
        snprintf(words, size, "%s(%.6g)", name, a);
    else
        snprintf(words, size, "%s", isnan(n->value[id]) ? "not a number" : "infinite");
}

static bool is_over_zero(const Nodes *n, const Formula *f)
{
    return n->is_known[f->divisor.id] && n->value[f->divisor.id] == 0;
}

// One that was written, or something in such a one that cannot have a value
static const Formula *find_formula(const Nodes *n, const System *s, bool is_written)
{
    for (uint32_t i = 0; i < s->formula_count; i++) {
        const Formula *f = &s->formulas[i];
        const bool counts = !f->divisor.id || (!is_written && is_over_zero(n, f));
        if (counts && is_bad(n, f->value.id)) return f;
    }
    return NULL;
}

// ---- masses --------------------------------------------------------------------------------

// Of a chain of so many hinges the least singular value is still ten times what is left of none
enum { MOST_VELOCITIES = 600 };
#define NOTHING   1e-12 // of the largest singular value
#define PASSED_BY 1e-24 // of weights: the square of rounding
#define ROUNDING  1e-14 // of inertia along a velocity, others free to move, beside all that it moves

typedef struct Masses {
    const System *of;
    uint32_t all;  // velocities
    uint32_t n;    // passive ones
    uint32_t rows; // of A
    uint32_t *v;   // their inputs
    uint32_t *k;   // and their places among all velocities
    double *M, *G; // of all velocities: all * all, and by row
    double *A;     // M over the constraints, scaled: (n + rows) * n
    double *sigma, *Vt;
} Masses;

static double mass(const Masses *m, uint32_t i, uint32_t j)
{
    return m->M[(size_t)m->k[i] * m->all + m->k[j]];
}

// In first order what is asked of a velocity may be rounding alone, as where a soft row passes it
// by on a slope: its unit is then that of ranks, times the largest weight there is.
static double unit_mass(const Masses *m, uint32_t i)
{
    double largest = 0;
    for (uint32_t k = 0; k < m->n; k++)
        largest = larger(largest, mass(m, k, k) / tr_system_unit_mass(m->of, m->v[k]));
    const double unit = tr_system_unit_mass(m->of, m->v[i]) * (largest > 0 ? largest : 1);
    return mass(m, i, i) > PASSED_BY * unit ? mass(m, i, i) : unit;
}

// The unit of a velocity; 1 of what has no mass
static double root_mass(const Masses *m, uint32_t i)
{
    const double own = m->of->order == 1 ? unit_mass(m, i) : mass(m, i, i);
    return own > 0 ? sqrt(own) : 1;
}

static void fill(const Flow *flow, Masses *m)
{
    const uint32_t rows = flow->stance ? flow->stance->rows : 0;
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t j = 0; j < m->n; j++)
            m->A[(size_t)i * m->n + j] = mass(m, i, j) / (root_mass(m, i) * root_mass(m, j));
    for (uint32_t i = 0; i < rows; i++) {
        double *row = m->A + (size_t)(m->n + i) * m->n;
        if (flow->stance->open[i]) continue;
        for (uint32_t j = 0; j < m->n; j++)
            row[j] = m->G[(size_t)i * m->all + m->k[j]] / root_mass(m, j);
        const double size = tr_norm(row, m->n);
        for (uint32_t j = 0; j < m->n && size > 0; j++) row[j] /= size;
    }
}

// Names velocities that take part in motions without inertia.
static void name_massless(const System *s, const Masses *m, char *names, size_t size)
{
    uint32_t rank = 0;
    while (rank < m->n && m->sigma[rank] > NOTHING * m->sigma[0]) rank++;
    for (uint32_t j = 0; j < m->n; j++) {
        double sum = 0;
        for (uint32_t i = rank; i < m->n; i++)
            sum += m->Vt[(size_t)i * m->n + j] * m->Vt[(size_t)i * m->n + j];
        if (sum > 1e-3) tr_list_name(names, size, s->inputs[m->v[j]].name);
    }
}

// M and G of the constraints as the system has them, or along its links where it has none
static bool take_numbers(const System *s, const Nodes *n, Masses *m)
{
    const Output *M = tr_system_output(s, text_of("M"));
    const size_t all = m->all, rows = m->rows - m->n;
    if (!M) return tr_stance_from_nodes(s, n->value, m->G, m->M);
    for (size_t i = 0; i < all * all; i++) m->M[i] = n->value[M->values[i].id];
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < all; k++) m->G[i * all + k] = n->value[s->rows[i].slopes[k].id];
    return true;
}

static bool has_masses(const System *s)
{
    return tr_system_output(s, text_of("M")) ||
           (tr_stance_goes_along(s) && tr_system_velocities(s, NULL) <= MOST_VELOCITIES);
}

static void find_passive(const System *s, Masses *m)
{
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (s->inputs[i].kind != TR_VELOCITY) continue;
        if (!is_motion_driven(&s->inputs[i])) m->v[m->n] = i, m->k[m->n++] = m->all;
        m->all++;
    }
}

// Finds the passive velocities and fills A; none where there are no masses. False when memory runs
// out.
static bool open_masses(const Flow *flow, const Nodes *n, Masses *m)
{
    const System *s = flow->system;
    const size_t inputs = s->input_count + 1u, rows = flow->stance ? flow->stance->rows : 0;
    *m = (Masses){.of = s, .v = calloc(2 * inputs, sizeof *m->v)};
    if (!m->v) return false;
    m->k = m->v + inputs;
    if (has_masses(s)) find_passive(s, m);
    if (!m->n) return true;
    m->rows = (uint32_t)(m->n + rows);
    m->M = calloc((m->all + (size_t)s->row_count) * m->all, sizeof *m->M);
    m->A = calloc((m->rows + (size_t)m->n) * m->n + m->n, sizeof *m->A);
    if (!m->M || !m->A) return false;
    m->G = m->M + (size_t)m->all * m->all;
    m->Vt = m->A + (size_t)m->rows * m->n, m->sigma = m->Vt + (size_t)m->n * m->n;
    if (!take_numbers(s, n, m)) return false;
    fill(flow, m);
    return true;
}

static void close_masses(const Masses *m)
{
    free(m->v);
    free(m->M);
    free(m->A);
}

static void find_massless(const Flow *flow, const Nodes *n, char *names, size_t size)
{
    Masses m;
    names[0] = 0;
    if (open_masses(flow, n, &m) && m.n && tr_singular(m.A, m.rows, m.n, m.sigma, NULL, m.Vt))
        name_massless(flow->system, &m, names, size);
    close_masses(&m);
}

// Whether M + G^T G, scaled, is positive beyond rounding: its Cholesky pivots are (T130)
static bool is_determined(const Masses *m)
{
    const size_t n = m->n;
    double *K = m->Vt; // which is not needed here
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = m->A[i * n + j];
            for (size_t r = n; r < m->rows; r++) sum += m->A[r * n + i] * m->A[r * n + j];
            for (size_t k = 0; k < j; k++) sum -= K[i * n + k] * K[j * n + k];
            if (i == j && !(sum > ROUNDING)) return false;
            K[i * n + j] = i == j ? sqrt(sum) : sum / K[j * n + j];
        }
    return true;
}

// What the equations give, and what it takes to determine it
static const char *found_of(const Flow *flow)
{
    return is_first_order(flow) ? "velocities" : "accelerations";
}
static const char *nothing_along(const Flow *flow)
{
    return is_first_order(flow) ? "no role, row or command tells"
                                : "nothing has mass or inertia along";
}
static const char *question_of(const Flow *flow)
{
    return is_first_order(flow) ? "" : ": was a mass forgotten?";
}

// ---- all of it -----------------------------------------------------------------------------

static void find_reason(const Flow *flow, const Nodes *n, char *words, size_t size, Place *place)
{
    char what[240];
    const Formula *formula = find_formula(n, flow->system, false);
    if (formula && formula->divisor.id) {
        const Formula *written = find_formula(n, flow->system, true);
        *place = formula->place.line || !written ? formula->place : written->place;
        snprintf(words, size, ": %.250s", formula->words);
        return;
    }
    if (formula) {
        describe(n, culprit(n, formula->value.id), what, sizeof what);
        snprintf(words, size, ": %.150s is %.100s", formula->path, what);
        *place = formula->place;
        return;
    }
    find_massless(flow, n, what, sizeof what);
    if (what[0]) *place = flow->system->asked;
    if (what[0]) snprintf(words, size, ": %s %s%s", nothing_along(flow), what, question_of(flow));
}

const char *tr_flow_reason(Flow *flow, double t, const double *y, char words[REASON_SIZE],
                           Place *place)
{
    Nodes nodes = {.graph = flow->system->graph, .solves_velocities = is_first_order(flow)};
    words[0] = 0;
    *place = (Place){0};
    tr_flow_fill_all(flow, tr_flow_time(flow, t), y);
    if (evaluate_nodes(&nodes, flow->system, flow->inputs))
        find_reason(flow, &nodes, words, REASON_SIZE, place);
    free(nodes.value);
    free(nodes.is_known);
    return words;
}

// The formula that this is, which has a place
static Place place_of(const System *s, Expr x)
{
    for (uint32_t i = 0; i < s->formula_count; i++)
        if (s->formulas[i].value.id == x.id && s->formulas[i].place.line)
            return s->formulas[i].place;
    return (Place){0};
}

// Accelerations are not known here, so what is looked for is not a value that is none, but why:
// a divisor that is zero                                                               (T251)
static const Formula *find_rest(const System *s, const Nodes *n, const Reach *reach)
{
    for (uint32_t i = 0; i < s->formula_count; i++) {
        const Formula *f = &s->formulas[i];
        if (f->divisor.id && tr_reach_has(reach, f->value) && is_over_zero(n, f)) return f;
    }
    return NULL;
}

void tr_flow_check_column(Flow *flow, double t, const double *y, uint32_t column, tr_error *err)
{
    const System *s = flow->system;
    Exprs columns = {0};
    Reach reach = {0};
    Nodes nodes = {.graph = s->graph};
    tr_chart_columns(s, &columns, NULL);
    tr_flow_fill_row(flow, t, y);
    if (columns.failed || !tr_reach_in(s->graph, columns.at + column, 1, &reach) ||
        !evaluate_nodes(&nodes, s, flow->inputs))
        tr_fail_memory(err);
    const Formula *rest = has_failed(err) ? NULL : find_rest(s, &nodes, &reach);
    if (rest)
        tr_fail(err, TR_FAILED, place_of(s, columns.at[column]),
                "'%.100s' has no value at t = %.9g: %s", flow->labels[column], t, rest->words);
    free(nodes.value);
    free(nodes.is_known);
    tr_reach_free(&reach);
    tr_exprs_free(&columns);
}

void tr_flow_blame(Flow *flow, double t, const double *y, tr_error *err)
{
    char words[REASON_SIZE];
    Place place;
    tr_flow_reason(flow, t, y, words, &place);
    tr_fail(err, TR_FAILED, place, "the %s are not finite at t = %.6g%s", found_of(flow), t, words);
}

bool tr_flow_has_mass(Flow *flow, tr_error *err)
{
    Nodes nodes = {.graph = flow->system->graph};
    Masses m = {0};
    char names[240];
    if (!evaluate_nodes(&nodes, flow->system, flow->inputs) || !open_masses(flow, &nodes, &m))
        tr_fail_memory(err);
    else if (m.n && all_finite(m.A, (size_t)m.rows * m.n) && !is_determined(&m)) {
        find_massless(flow, &nodes, names, sizeof names);
        tr_fail(err, TR_FAILED, flow->system->asked, "%s are not determined at the start: %s %s%s",
                found_of(flow), nothing_along(flow), names[0] ? names : "some motion",
                question_of(flow));
    }
    close_masses(&m);
    free(nodes.value);
    free(nodes.is_known);
    return !has_failed(err);
}
