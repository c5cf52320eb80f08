// SPDX-License-Identifier: Apache-2.0
// The equations of steady motions: what is unknown, what is held, and the symmetries of the system,
// found by numbers: an action X, or a sum of several with constant factors, is a symmetry where
//
//   [X, f] = Df X - DX f = 0   and   Dphi X = 0
//
// at states around the guess that satisfy the constraints phi = 0 (T94).
#include "steady/steady.h"

#include "base/random.h"
#include "expr/derivative.h"
#include "expr/held.h"
#include "expr/walk.h"
#include "linear/law.h"
#include "num/dense.h"
#include "num/singular.h"
#include "plan/start.h"
#include "steady/symmetry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what is unknown -----------------------------------------------------------------------

// A joint that is held in place has a position whose rate is zero: then there is nothing to find.
static bool moves(System *s, const Input *input)
{
    Expr rate = input->rate;
    double value;
    tr_system_resolve(s, &rate, 1);
    return !tr_is_constant(rate, &value) || value != 0;
}

static void list_states(Steady *p)
{
    System *s = p->system;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        if (is_placed(input) && !input->definition.id && !input->is_extra && moves(s, input))
            p->place[p->positions++] = i;
    }
    p->velocities = tr_independent(s, p->place + p->positions);
    p->states = p->positions + p->velocities;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION && !s->inputs[i].definition.id &&
            s->inputs[i].is_extra)
            p->place[p->states + p->extras++] = i;
    p->states += p->extras;
    for (uint32_t i = 0; i < s->quaternion_count; i++)
        for (uint32_t k = 0; k < p->positions; k++)
            if (p->place[k] == s->quaternions[i].position) p->own_quaternions[p->quaternions++] = k;
}

// The torque of a joint that was made an input
static const Input *torque_of(const System *s, Text joint)
{
    for (uint32_t i = 0; i < s->input_count; i++)
        if (is_torque(&s->inputs[i].port) && text_is(joint, s->inputs[i].port.owner))
            return &s->inputs[i];
    return NULL;
}

static bool list_frees(Steady *p, const char *names, tr_error *err)
{
    const System *s = p->system;
    for (const char *at = names; at && *at;) {
        const Text name = tr_next_item(&at);
        const Input *input = torque_of(s, name);
        if (!input) input = tr_system_setting(s, name, "freed", err);
        if (!input) return false;
        const uint32_t place = (uint32_t)(input - s->inputs);
        for (uint32_t i = 0; i < p->frees; i++)
            if (p->place[p->states + i] == place)
                return tr_fail(err, TR_USAGE, (Place){0}, "'%.60s' is free twice", input->name),
                       false;
        p->place[p->states + p->frees++] = place;
    }
    return true;
}

// ---- what is held --------------------------------------------------------------------------

static const char *kept_name(Steady *p, Text name)
{
    return tr_arena_text(&p->system->graph->arena, name.at, name.length);
}

// formula - value; without a value it stays what it is, and its target is found at the guess
static bool add_hold(Steady *p, const char *text, Expr *formulas, tr_error *err)
{
    const HeldText held = tr_held_text(text);
    Expr x = tr_held_formula(p->system, "--hold", held.left, err);
    p->hold_names[p->holds] = kept_name(p, held.left);
    p->targets[p->holds] = held.right.at ? 0 : (double)NAN;
    if (held.right.at && !has_failed(err))
        x = sub(x, tr_held_formula(p->system, "--hold", held.right, err));
    formulas[p->holds++] = x;
    return !has_failed(err);
}

// "name=from:to:step", of which the name matters here
static bool add_sweep(Steady *p, const char *text, Expr *formulas, tr_error *err)
{
    if (!text) return true;
    const HeldText held = tr_held_text(text);
    if (!held.right.at)
        return tr_fail(err, TR_USAGE, (Place){0},
                       "--sweep takes formula=from:to:step, not '%.100s'", text),
               false;
    const Text name = held.left;
    const Input *input = tr_system_setting(p->system, name, "swept", NULL);
    p->swept = kept_name(p, name);
    if (input) {
        const uint32_t place = (uint32_t)(input - p->system->inputs);
        for (uint32_t i = 0; i < p->frees; i++)
            if (p->place[p->states + i] == place)
                return tr_fail(err, TR_USAGE, (Place){0}, "'%.60s' is both free and swept",
                               input->name),
                       false;
        p->place[p->states + p->frees] = place;
        p->sweeps_input = true;
        return true;
    }
    p->sweeps_hold = true;
    p->hold_names[p->holds] = p->swept;
    p->targets[p->holds] = (double)NAN;
    formulas[p->holds++] = tr_held_formula(p->system, "--sweep", name, err);
    return !has_failed(err);
}

// ---- what may be held ----------------------------------------------------------------------

static void offer(Steady *p, const char *name, Expr x, double target, Expr *formulas)
{
    p->hold_names[p->holds] = name;
    p->targets[p->holds] = target;
    formulas[p->holds++] = x;
}

// What a condition of the start is about, in the order in which they are offered
typedef enum Claim { CLAIM_SWEPT, CLAIM_FORMULA, CLAIM_JOINT, CLAIM_BASE } Claim;

static Claim claim_of(const Steady *p, const Output *conditions, uint32_t i)
{
    const System *s = p->system;
    Expr x = conditions->values[i];
    Reach reach = {0};
    tr_system_resolve(p->system, &x, 1);
    const bool swept = p->sweeps_input && tr_reach(s->graph, &x, 1, &reach) &&
                       tr_reach_has(&reach, s->inputs[p->place[p->states + p->frees]].symbol);
    tr_reach_free(&reach);
    if (swept) return CLAIM_SWEPT;
    const Named *named = tr_system_find(s, text_of(conditions->notes[i]));
    const Input *input = named ? tr_system_input(s, named->meaning) : NULL;
    if (!input) return CLAIM_FORMULA;
    return input->port.component[0] ? CLAIM_BASE : CLAIM_JOINT;
}

static void offer_conditions(Steady *p, const char *output, Claim from, Claim to, Expr *formulas)
{
    const Output *c = tr_system_output(p->system, text_of(output));
    for (Claim claim = from; claim <= to; claim++)
        for (uint32_t i = 0; c && i < c->rows; i++)
            if (claim_of(p, c, i) == claim) offer(p, c->notes[i], c->values[i], 0, formulas);
}

// All that a trim may hold, what it would rather hold first
static void offer_all(Steady *p, bool inputs, Expr *formulas)
{
    const System *s = p->system;
    offer_conditions(p, "initial.rate", CLAIM_SWEPT, CLAIM_SWEPT, formulas);
    offer_conditions(p, "initial.position", CLAIM_SWEPT, CLAIM_SWEPT, formulas);
    offer_conditions(p, "initial.rate", CLAIM_FORMULA, CLAIM_BASE, formulas);
    offer_conditions(p, "initial.position", CLAIM_FORMULA, CLAIM_FORMULA, formulas);
    for (uint32_t i = 0; inputs && i < p->frees; i++) {
        const Input *input = &s->inputs[p->place[p->states + i]];
        offer(p, input->name, input->symbol, (double)NAN, formulas);
    }
    offer_conditions(p, "initial.position", CLAIM_JOINT, CLAIM_BASE, formulas);
    for (uint32_t i = p->states; i-- > 0;) {
        const Input *input = &s->inputs[p->place[i]];
        offer(p, input->name, input->symbol, (double)NAN, formulas);
    }
}

static uint32_t most_offers(const System *s)
{
    const Output *position = tr_system_output(s, text_of("initial.position")),
                 *rate = tr_system_output(s, text_of("initial.rate"));
    return 2 * s->input_count + (position ? position->rows : 0) + (rate ? rate->rows : 0);
}

// All inputs of the model, but for what is swept
static void free_inputs(Steady *p, const char *sweep)
{
    const System *s = p->system;
    const Text swept = sweep ? tr_held_text(sweep).left : (Text){0};
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_INPUT && !s->inputs[i].definition.id &&
            !text_is(swept, s->inputs[i].name))
            p->place[p->states + p->frees++] = i;
}

// ---- expressions ---------------------------------------------------------------------------

static uint32_t all_rows(const Steady *p)
{
    return p->states * (1 + p->actions) + p->rows + p->holds;
}

static uint32_t time_input(const System *s)
{
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_TIME) return i;
    return 0;
}

static void collect(Steady *p, const Actions *actions, const Expr *holds, Expr *of)
{
    const System *s = p->system;
    uint32_t k = 0;
    for (uint32_t i = 0; i < p->states; i++) of[k++] = s->inputs[p->place[i]].rate;
    for (uint32_t a = 0; a < p->actions; a++)
        for (uint32_t i = 0; i < p->states; i++)
            of[k++] =
                i < actions->size ? actions->change[(size_t)a * actions->size + i] : zero(s->graph);
    for (uint32_t i = 0, row = 0; i < s->row_count; i++) {
        if (!s->rows[i].position.id || s->rows[i].is_open) continue;
        p->row_names[row++] = s->rows[i].name;
        of[k++] = s->rows[i].position;
    }
    for (uint32_t i = 0; i < 2 * s->touching_count; i++) {
        p->row_names[p->rows - 2 * s->touching_count + i] = s->touchings[i / 2].name;
        of[k++] = s->touchings[i / 2].tangency[i % 2];
    }
    for (uint32_t i = 0; i < p->holds; i++) of[k++] = holds[i];
}

static bool compile_equations(Steady *p, Expr *of, tr_error *err)
{
    System *s = p->system;
    const uint32_t rows = all_rows(p), columns = p->states + p->frees + p->sweeps_input + 1;
    Expr *symbols = calloc(columns, sizeof *symbols), *all = NULL;
    tr_entry *entries = NULL;
    for (uint32_t i = 0; symbols && i + 1 < columns; i++)
        symbols[i] = s->inputs[p->place[i]].symbol;
    if (symbols) {
        symbols[columns - 1] = s->inputs[time_input(s)].symbol;
        tr_system_resolve(s, of, rows);
        entries = tr_sparse_jacobian(s->graph, &s->graph->arena, of, rows, symbols, columns,
                                     &p->entry_count);
    }
    free(symbols);
    if (entries) all = calloc(rows + p->entry_count + 1, sizeof *all);
    p->entries = calloc(p->entry_count + 1, sizeof *p->entries);
    p->values = calloc(rows + p->entry_count + 1, sizeof *p->values);
    if (!all || !p->entries || !p->values) return free(all), tr_fail_memory(err), false;
    memcpy(all, of, rows * sizeof *all);
    for (size_t i = 0; i < p->entry_count; i++) {
        p->entries[i] = (struct Entry){entries[i].row, entries[i].column};
        all[rows + i] = entries[i].value;
    }
    p->terms = tr_evaluator_of(s, all, rows + p->entry_count, OPEN_PARAMETERS, err);
    free(all);
    return !has_failed(err);
}

// What the flow records, for any values of parameters; and its alarms, also where there are no
// constraints
static bool compile_columns(Steady *p, tr_error *err)
{
    System *s = p->system;
    Exprs columns = {0};
    tr_chart_columns(s, &columns, NULL);
    p->columns = tr_evaluator_list(s, &columns, OPEN_PARAMETERS, err);
    if (!s->alarm_count) return !has_failed(err);
    Expr *margins = calloc(s->alarm_count, sizeof *margins);
    if (!margins) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < s->alarm_count; i++) margins[i] = s->alarms[i].margin;
    p->alarms = tr_evaluator_of(s, margins, s->alarm_count, OPEN_PARAMETERS, err);
    free(margins);
    return !has_failed(err);
}

static bool make_equations(Steady *p, const Expr *holds, tr_error *err)
{
    System *s = p->system;
    Actions actions = {0};
    if (!tr_actions_new(s, p->place, p->positions, p->place + p->positions, p->velocities, &actions,
                        err))
        return false;
    p->actions = actions.count;
    p->action_names = actions.names, actions.names = NULL;
    for (uint32_t i = 0; i < s->row_count; i++)
        p->rows += s->rows[i].position.id && !s->rows[i].is_open;
    p->rows += 2 * s->touching_count;
    p->row_names = calloc(p->rows + 1u, sizeof *p->row_names);
    Expr *of = calloc(all_rows(p) + 1u, sizeof *of);
    if (of && p->row_names) {
        collect(p, &actions, holds, of);
        compile_equations(p, of, err);
    } else
        tr_fail_memory(err);
    free(of);
    tr_actions_free(&actions);
    return !has_failed(err) && compile_columns(p, err);
}

// ---- symmetries ----------------------------------------------------------------------------

enum { PROBES = 4 };

static void evaluate(Steady *p) { evaluate_into(&p->terms, p->in, p->values); }

static const double *row_values(const Steady *p)
{
    return p->values + (size_t)p->states * (1 + p->actions);
}

// Beside the guess, the same in every run
static void nudge(Steady *p, uint32_t *random, double size)
{
    for (uint32_t i = 0; i < p->states; i++) {
        const double away = size * next_random(random);
        p->in[p->place[i]] = p->flow->inputs[p->place[i]];
        p->in[p->place[i]] += away * (1 + fabs(p->in[p->place[i]]));
    }
}

static void take_units(Steady *p)
{
    for (uint32_t i = 0; i < p->quaternions; i++)
        tr_make_unit(p->in + p->place[p->own_quaternions[i]]);
}

static bool make_projection(Steady *p)
{
    const size_t n = p->positions, m = p->rows + p->quaternions;
    p->projection = calloc(m * n + m + n + 1, sizeof *p->projection);
    return p->projection != NULL;
}

// Constraints and their slopes where it stands, those of unit quaternions among them; the largest
static double take_constraints(Steady *p, double *phi, double *J)
{
    const uint32_t n = p->positions, first = p->states * (1 + p->actions);
    double worst = 0;
    evaluate(p);
    for (uint32_t i = 0; i < p->rows; i++) {
        phi[i] = row_values(p)[i];
        worst = larger(worst, fabs(phi[i]));
    }
    for (size_t e = 0; e < p->entry_count; e++) {
        const struct Entry *at = &p->entries[e];
        if (at->row >= first && at->row < first + p->rows && at->column < n)
            J[(size_t)(at->row - first) * n + at->column] = p->values[all_rows(p) + e];
    }
    for (uint32_t i = 0; i < p->quaternions; i++)
        for (uint32_t k = 0; k < 4; k++)
            J[(size_t)(p->rows + i) * n + p->own_quaternions[i] + k] =
                p->in[p->place[p->own_quaternions[i] + k]];
    return worst;
}

// Onto the constraints, by steps of least norm
static bool project(Steady *p)
{
    const uint32_t n = p->positions, m = p->rows + p->quaternions;
    take_units(p);
    if (!p->rows) return true;
    double *J = p->projection, *phi = J + (size_t)m * n;
    for (int step = 0; step < 20 && p->rows; step++) {
        memset(J, 0, ((size_t)m * n + m + n) * sizeof *J);
        const double worst = take_constraints(p, phi, J);
        if (worst < 1e-14) break;
        if (!isfinite(worst) || !tr_least_squares(J, m, n, phi, 1, 1e-10, NULL)) return false;
        for (uint32_t k = 0; k < n; k++) p->in[p->place[k]] -= phi[k];
        take_units(p);
    }
    return true;
}

// [X, f] and Dphi X of all actions where it stands: (states + rows) * actions
static bool take_brackets(Steady *p, double *B)
{
    const uint32_t n = p->states, A = p->actions, rows = all_rows(p), first = n * (1 + A);
    const double *f = p->values, *X = f + n;
    evaluate(p);
    memset(B, 0, (size_t)(n + p->rows) * A * sizeof *B);
    for (size_t e = 0; e < p->entry_count; e++) {
        const struct Entry *at = &p->entries[e];
        const double value = p->values[rows + e];
        if (at->column >= n || at->row >= first + p->rows) continue;
        if (at->row >= n && at->row < first) {
            const uint32_t a = at->row / n - 1, i = at->row % n;
            B[(size_t)i * A + a] -= value * f[at->column];
            continue;
        }
        const uint32_t i = at->row < n ? at->row : n + at->row - first;
        for (uint32_t a = 0; a < A; a++)
            B[(size_t)i * A + a] += value * X[(size_t)a * n + at->column];
    }
    return all_finite(B, (size_t)(n + p->rows) * A);
}

// At some states around the guess; nearer to it where there are no values further away
static bool probe(Steady *p, double *B)
{
    uint32_t random = 54321;
    const size_t size = (size_t)(p->states + p->rows) * p->actions;
    for (int i = 0; i < PROBES; i++) {
        double away = 0.3;
        bool good = false;
        for (int k = 0; k < 12 && !good; k++, away /= 3) {
            nudge(p, &random, away);
            good = project(p) && take_brackets(p, B + (size_t)i * size);
        }
        if (!good) return false;
    }
    return true;
}

// Sums of actions, in whose brackets B they cancel
static bool find_generators(Steady *p, double *B, double *V, double *sigma, uint32_t *own)
{
    const uint32_t A = p->actions, m = PROBES * (p->states + p->rows);
    uint32_t rank = 0;
    if (!tr_singular(B, m, A, sigma, NULL, V)) return false;
    while (rank < A && rank < m && sigma[rank] > 1e-10 * fmax(sigma[0], 1)) rank++;
    p->generators = A - rank;
    for (uint32_t a = 0; a < A; a++)
        for (uint32_t k = rank; k < A; k++)
            p->generator[a * p->generators + k - rank] = V[k * A + a];
    tr_give_rows(p->generator, A, p->generators, A, 1e-6, own); // an action of its own to each
    for (uint32_t i = 0; i < A * p->generators; i++)
        if (fabs(p->generator[i]) < 1e-11) p->generator[i] = 0;
    return true;
}

static bool find_symmetries(Steady *p, tr_error *err)
{
    const size_t A = p->actions, m = PROBES * ((size_t)p->states + p->rows);
    double *B = calloc(m * A + 1, sizeof *B), *V = calloc(A * A + 1, sizeof *V),
           *sigma = calloc(A + 1, sizeof *sigma);
    uint32_t *own = calloc(A + 1, sizeof *own);
    free(p->generator);
    free(p->projection);
    p->projection = NULL;
    p->generator = calloc(A * A + 1, sizeof *p->generator);
    bool good = false;
    if (!B || !V || !sigma || !own || !p->generator || (p->rows && !make_projection(p)))
        tr_fail_memory(err);
    else if (A && !(probe(p, B) && find_generators(p, B, V, sigma, own)))
        tr_fail(err, TR_FAILED, (Place){0}, "the motion is not finite near the guess");
    else
        good = true;
    free(B);
    free(V);
    free(sigma);
    free(own);
    return good;
}

// ---- making it -----------------------------------------------------------------------------

static bool make_lists(Steady *p, const tr_steady_options *o)
{
    const size_t n = p->system->input_count + 1u;
    const size_t holds = o->hold_count + 2 + (o->trim ? most_offers(p->system) : 0);
    p->place = calloc(2 * n, sizeof *p->place);
    p->own_quaternions = calloc(p->system->quaternion_count + 1u, sizeof *p->own_quaternions);
    p->hold_names = calloc(holds, sizeof *p->hold_names);
    p->targets = calloc(holds, sizeof *p->targets);
    p->stays = calloc(holds, sizeof *p->stays);
    p->asked = calloc(2 * holds, sizeof *p->asked);
    p->given = calloc(holds, sizeof *p->given);
    p->in = calloc(n, sizeof *p->in);
    return p->place && p->own_quaternions && p->hold_names && p->targets && p->stays && p->asked &&
           p->given && p->in;
}

static bool make_room(Steady *p)
{
    p->unknowns = p->states + p->generators + p->frees;
    p->own_equations = p->states + p->rows + p->quaternions + p->holds;
    const size_t states = p->states, k = p->generators, n = p->unknowns + 1u,
                 m = p->own_equations + 2 * (size_t)p->generators + p->states + 2;
    const size_t most = n > m ? n : m;
    p->F = calloc(m, sizeof *p->F);
    p->J = calloc(m * n, sizeof *p->J);
    p->X = calloc((size_t)p->states * p->generators + 1, sizeof *p->X);
    p->scaled = calloc(m * n, sizeof *p->scaled);
    p->U = calloc(m * most, sizeof *p->U);
    p->V = calloc(most * most, sizeof *p->V);
    p->sigma = calloc(most, sizeof *p->sigma);
    p->scale = calloc(3 * n + 2 * most + k * k + 2 * (states * states + states), sizeof *p->scale);
    if (!p->F || !p->J || !p->X || !p->scaled || !p->U || !p->V || !p->sigma || !p->scale)
        return false;
    p->step = p->scale + n, p->trial = p->step + n, p->room = p->trial + n;
    p->idle = p->room + 2 * most, p->relative = p->idle + k * k;
    return true;
}

static bool read_options(Steady *p, const tr_steady_options *o, Expr *holds, tr_error *err)
{
    if (!list_frees(p, o->free, err)) return false;
    if (o->trim && !o->free) free_inputs(p, o->sweep);
    for (size_t i = 0; i < o->hold_count; i++)
        if (!add_hold(p, o->holds[i], holds, err)) return false;
    if (!add_sweep(p, o->sweep, holds, err)) return false;
    for (uint32_t i = 0; i < p->holds; i++) p->given[i] = true;
    if (o->trim) offer_all(p, !o->free, holds);
    for (uint32_t i = 0; i < p->holds; i++) {
        p->asked[p->holds + i] = true;
        p->stays[i] = isnan(p->targets[i]);
    }
    return true;
}

// What is held as it is, is so at the guess.
static void find_targets(Steady *p)
{
    memcpy(p->in, p->flow->inputs, p->system->input_count * sizeof *p->in);
    memcpy(p->asked, p->given, p->holds * sizeof *p->asked);
    evaluate(p);
    for (uint32_t i = 0; i < p->holds; i++)
        if (p->stays[i]) p->targets[i] = row_values(p)[p->rows + i];
}

static bool refuse_signals(const System *s, tr_error *err)
{
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].follows.id)
            tr_fail(err, TR_INVALID, (Place){0},
                    "a steady motion has inputs that stay the same, and '%.60s' is a formula of t: "
                    "set it to a number, as in --set %.60s=0",
                    s->inputs[i].name, s->inputs[i].name);
    return !has_failed(err);
}

// Where it starts, and the system reduced there
static bool start(Steady *p, const System *system, tr_error *err)
{
    p->plan = refuse_signals(system, err) ? tr_plan_new(system, err) : NULL;
    if (p->plan) p->plan->sweeps = true;
    p->flow = tr_flow_new(p->plan, NULL, err);
    if (!p->flow || !tr_plan_allows(p->plan, err)) return false;
    p->system = tr_flow_system(p->flow, err);
    return p->system != NULL;
}

Steady *tr_steady_open(const System *system, const tr_steady_options *o, tr_error *err)
{
    if (!system || !tr_system_is_second_order(system, "steady motions", err)) return NULL;
    Steady *p = calloc(1, sizeof *p);
    if (!p) return tr_fail_memory(err), NULL;
    bool good = start(p, system, err) && tr_flow_ready(p->flow, 1u << CHART_COLUMNS, err) &&
                make_lists(p, o);
    Expr *holds = good ? calloc(o->hold_count + 2 + most_offers(p->system), sizeof *holds) : NULL;
    good = good && holds;
    if (good) {
        tr_flow_fill_all(p->flow, 0, p->flow->start);
        list_states(p);
        good = read_options(p, o, holds, err) && make_equations(p, holds, err);
    }
    free(holds);
    if (good) memcpy(p->in, p->flow->inputs, system->input_count * sizeof *p->in);
    good = good && find_symmetries(p, err);
    if (good && make_room(p)) {
        find_targets(p);
        return p;
    }
    if (!has_failed(err)) tr_fail_memory(err);
    tr_steady_close(p);
    return NULL;
}

// Whether what was made for the flow holds for another one of the plan
static bool is_alike(const Steady *p, const Flow *flow)
{
    return flow->now->programs == p->flow->now->programs;
}

bool tr_steady_restart(Steady *p, const double *values, tr_error *err)
{
    const uint32_t generators = p->generators;
    Flow *flow = tr_flow_new(p->plan, values, err);
    if (!flow || !is_alike(p, flow) || !tr_flow_ready(flow, 1u << CHART_COLUMNS, err))
        return tr_flow_free(flow), false;
    tr_flow_fill_all(flow, 0, flow->start);
    tr_flow_free(p->flow);
    p->flow = flow;
    memcpy(p->in, flow->inputs, p->system->input_count * sizeof *p->in);
    const bool good = find_symmetries(p, err) && p->generators == generators;
    p->generators = generators; // for which there is room
    if (good) find_targets(p);
    return good;
}

void tr_steady_close(Steady *p)
{
    if (!p) return;
    tr_evaluator_free(&p->terms);
    tr_evaluator_free(&p->columns);
    tr_evaluator_free(&p->alarms);
    tr_flow_free(p->flow);
    tr_system_free(p->system);
    tr_plan_free(p->plan);
    void *const all[] = {p->place,
                         p->own_quaternions,
                         p->hold_names,
                         p->targets,
                         p->stays,
                         p->asked,
                         p->given,
                         p->row_names,
                         p->action_names,
                         p->generator,
                         p->entries,
                         p->values,
                         p->in,
                         p->F,
                         p->J,
                         p->X,
                         p->scaled,
                         p->projection,
                         p->U,
                         p->V,
                         p->sigma,
                         p->scale};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(p);
}

// ---- names ---------------------------------------------------------------------------------

const char *tr_steady_name(const Steady *p, uint32_t unknown)
{
    const System *s = p->system;
    const uint32_t n = p->states, k = p->generators;
    if (unknown == p->unknowns) return p->swept ? p->swept : "";
    if (unknown >= n && unknown < n + k) {
        for (uint32_t a = 0; a < p->actions; a++)
            if (p->generator[a * k + unknown - n] == 1) return p->action_names[a];
        return "";
    }
    const uint32_t input = p->place[unknown < n ? unknown : unknown - k];
    return tr_system_speed_name(s, tr_system_outer_input(s, input));
}
