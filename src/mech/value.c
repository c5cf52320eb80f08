// SPDX-License-Identifier: Apache-2.0
// The numbers that expressions of parameters are, and what is decided by them: it is kept as a
// condition, so that parameters can be set to others as long as they lead to the same equations.
// Whether a row says anything (T40) is decided at states that have nothing special about them.
#include "expr/walk.h"
#include "mech/tree.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// ---- numbers -------------------------------------------------------------------------------

// Every node is evaluated once, when a value is first asked for after it was made.
double tr_tree_value(Tree *tree, Expr x)
{
    const Graph *g = tree->graph;
    if (!tr_grow((void **)&tree->value, &tree->value_capacity, g->count, sizeof *tree->value)) {
        tree->graph->failed = true;
        tr_fail_memory(tree->err);
        return (double)NAN;
    }
    for (uint32_t id = tree->value_count; id < g->count; id++) {
        const Node *node = &g->nodes[id];
        const Input *input = node->op == OP_SYMBOL ? &tree->system->inputs[node->a] : NULL;
        if (input)
            tree->value[id] = input->kind == TR_PARAMETER ? input->value : (double)NAN;
        else
            tree->value[id] = tr_node_value(g, node, tree->value);
    }
    tree->value_count = g->count;
    return tree->value[x.id];
}

Expr tr_tree_at_start(Tree *tree, Expr x)
{
    const System *s = tree->system;
    if (tr_tree_is_constant(x)) return x;
    Expr *from = tr_tree_room(tree, 2 * (size_t)s->input_count, sizeof *from);
    if (!from) return x;
    Expr *to = from + s->input_count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        if (input->kind != TR_INPUT && input->kind != TR_TIME) continue;
        from[count] = input->symbol;
        to[count++] = input->guess.id ? input->guess : number(tree->graph, input->value);
    }
    return tr_replace(x, from, to, count);
}

// Something between -1 and 1 for each input, the same in every run
static double noise(uint32_t input, uint32_t state)
{
    uint32_t x = (input + 1) * 2654435761u + (state + 1) * 40503u * 65537u;
    x ^= x >> 16, x *= 2246822519u, x ^= x >> 13, x *= 3266489917u, x ^= x >> 16;
    return (double)x * 0x1p-31 - 1;
}

static double sample_input(const Tree *tree, uint32_t input, uint32_t state)
{
    const System *s = tree->system;
    for (uint32_t i = 0; i < s->quaternion_count; i++) {
        const uint32_t first = s->quaternions[i].position;
        if (input < first || input >= first + 4) continue;
        double sum = 0;
        for (uint32_t k = first; k < first + 4; k++) sum += noise(k, state) * noise(k, state);
        return noise(input, state) / sqrt(sum);
    }
    return noise(input, state);
}

// Positions and velocities get some numbers, quaternions unit ones; inputs have their values.
static void begin_sample(Tree *tree, uint32_t state, Kept *kept)
{
    const System *s = tree->system;
    tr_kept_free(kept);
    if (!tr_kept_room(tree->graph, kept)) return;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        if (input->kind == TR_PARAMETER) continue;
        const bool is_given =
            input->kind == TR_INPUT || input->kind == TR_MODE || input->kind == TR_HELD;
        kept->of[input->symbol.id] =
            is_given && input->guess.id
                ? input->guess.id
                : number(tree->graph, is_given ? input->value : sample_input(tree, i, state)).id;
    }
}

Expr tr_tree_sample(Tree *tree, Expr x, uint32_t state)
{
    Samples *samples = &tree->samples[state];
    assert(state < SAMPLES);
    if (samples->inputs != tree->system->input_count) begin_sample(tree, state, &samples->kept);
    samples->inputs = tree->system->input_count;
    return tr_substitute_kept(tree->graph, x, &samples->kept);
}

// ---- decisions -----------------------------------------------------------------------------

bool tr_tree_is_constant(Expr x) { return x.id && stage_of(x) <= STAGE_PARAMETER; }

// Numbers are decided on for good, and what depends on more than parameters is not known.
static bool depends_on_parameters(const Expr *x, uint32_t count)
{
    bool depends = false;
    for (uint32_t k = 0; k < count; k++) {
        if (!tr_tree_is_constant(x[k])) return false;
        depends = depends || !is_number(x[k]);
    }
    return depends;
}

// Its words may have been made for it, so they are kept last.
static void keep(Tree *tree, Condition *condition, const char *words)
{
    condition->words = tr_tree_text(tree, text_of(words));
    if (!tr_system_keep(tree->system, condition)) tree->graph->failed = true;
}

static double decide(Tree *tree, Rule rule, const Expr *x, Place place, const char *format,
                     va_list list)
{
    Condition condition = {.rule = rule, .place = place};
    const uint32_t count = tr_rule_count(rule);
    double value[MOST_RULE_VALUES];
    char words[400];
    for (uint32_t k = 0; k < count; k++)
        condition.values[k] = x[k], value[k] = tr_tree_value(tree, x[k]);
    condition.decided = tr_rule_gives(rule, value);
    vsnprintf(words, sizeof words, format, list);
    if (!has_failed(tree->err) && depends_on_parameters(x, count)) keep(tree, &condition, words);
    return condition.decided;
}

double tr_tree_decide(Tree *tree, Rule rule, const Expr *x, Place place, const char *words, ...)
{
    va_list list;
    va_start(list, words);
    const double decided = decide(tree, rule, x, place, words, list);
    va_end(list);
    return decided;
}

bool tr_tree_is(Tree *tree, Rule rule, Expr x, Place place, const char *words, ...)
{
    va_list list;
    va_start(list, words);
    const double decided = decide(tree, rule, &x, place, words, list);
    va_end(list);
    return decided != 0;
}

void tr_tree_check_finite(Tree *tree, Value value, const char *what, Expr x)
{
    if (has_failed(tree->err) || !tr_tree_is_constant(x)) return;
    if (!tr_tree_is(tree, RULE_FINITE, x, value.place, "'%s' is finite", what))
        tr_fail(tree->err, TR_INVALID, value.place, "'%s' is not finite here", what);
}
