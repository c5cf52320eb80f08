// SPDX-License-Identifier: Apache-2.0
// Shared quantities: the same values, each once and before it is used, about as many operations as
// the graph has; what is written does not depend on when or where.
#include "print/staged.h"

#include "expr/walk.h"
#include "models.h"

#include <stdlib.h>

enum { STATES = 3 };

static System *own_system(const char *model, tr_system **original, tr_error *err)
{
    char path[300];
    snprintf(path, sizeof path, MODELS_DIR "/%s.yaml", model);
    tr_derive_options how = tr_derive_defaults();
    how.name_gravity = 1;
    tr_model *m = tr_model_read(path, err);
    *original = tr_derive(m, &how, err);
    System *own = tr_system_copy(*original, err);
    if (!own) fail_msg("%s: %s", model, err->text);
    tr_model_free(m);
    return own; // the original must outlive it
}

// Of all nodes, from those of symbols
static double *evaluated(const Graph *graph, const double *symbols)
{
    double *all = calloc(graph->count + 1u, sizeof *all);
    for (uint32_t id = 1; id < graph->count; id++) {
        const Node *node = &graph->nodes[id];
        if (node->op >= OP_COUNT) continue;
        all[id] = node->op == OP_SYMBOL ? symbols[node->a] : tr_node_value(graph, node, all);
    }
    return all;
}

static uint32_t operations(Graph *graph, const Expr *of, uint32_t count)
{
    Reach reach;
    uint32_t found = 0;
    assert_true(tr_reach(graph, of, count, &reach));
    for (uint32_t k = 0; k < reach.count; k++) {
        const Op op = (Op)graph->nodes[reach.ids[k]].op;
        found += tr_op[op].operands > 0 && op != OP_NEG;
    }
    tr_reach_free(&reach);
    return found;
}

// Values of inputs, with quaternions of unit length
static void any_state(const System *s, Random *r, double *x)
{
    for (uint32_t i = 0; i < s->input_count; i++) x[i] = random_between(r, 0.3, 1.2);
    for (uint32_t i = 0; i < s->quaternion_count; i++) {
        double *q = x + s->quaternions[i].position, sum = 0;
        for (int k = 0; k < 4; k++) sum += q[k] * q[k];
        for (int k = 0; k < 4; k++) q[k] /= sqrt(sum);
    }
}

static double value_of_form(const Term *form, Graph *graph, const double *symbols)
{
    const Expr x = tr_term_expression(form, graph);
    double *all = evaluated(graph, symbols);
    const double value = all[x.id];
    free(all);
    return value;
}

// How many symbols of steps that have no value yet a form uses
static uint32_t too_early(const Term *form, const bool *known)
{
    uint32_t count = form->kind == TERM_SYMBOL && !known[node_of(form->node)->a];
    for (uint32_t i = 0; i < form->count; i++) count += too_early(form->parts[i], known);
    return count;
}

static void take_steps(System *s, const Step *steps, uint32_t count, double *x, bool *known)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t symbol = node_of(steps[i].symbol)->a;
        assert_false(known[symbol]); // each once
        assert_int_equal(too_early(steps[i].form, known), 0);
        x[symbol] = value_of_form(steps[i].form, s->graph, x);
        known[symbol] = true;
    }
}

static void check_values(System *s, const Expr *of, uint32_t count, const Known *names,
                         const Staged *staged, uint32_t inputs)
{
    Random r = {31};
    for (int state = 0; state < STATES; state++) {
        double *x = calloc(s->input_count + 1u, sizeof *x);
        bool *known = calloc(s->input_count + 1u, sizeof *known);
        for (uint32_t i = 0; i < inputs; i++) known[i] = true;
        any_state(s, &r, x);
        double *all = evaluated(s->graph, x), size = 1;
        double *wanted = calloc(count + 1u, sizeof *wanted);
        for (uint32_t i = 0; i < count; i++)
            wanted[i] = all[of[i].id], size = fmax(size, fabs(wanted[i]));
        take_steps(s, names->steps, names->count, x, known);
        take_steps(s, staged->steps, staged->count, x, known);
        for (uint32_t i = 0; i < count; i++) {
            assert_non_null(staged->forms[i]);
            assert_int_equal(too_early(staged->forms[i], known), 0);
            const double found = value_of_form(staged->forms[i], s->graph, x);
            assert_below(fabs(found - wanted[i]) / size, 1e-12);
        }
        free(wanted);
        free(all);
        free(known);
        free(x);
    }
}

static uint32_t cost_of(const Known *names, const Staged *staged, uint32_t count)
{
    uint32_t cost = 0;
    for (uint32_t i = 0; i < names->count; i++) cost += names->steps[i].form->cost;
    for (uint32_t i = 0; i < staged->count; i++) cost += staged->steps[i].form->cost;
    for (uint32_t i = 0; i < count; i++) cost += staged->forms[i]->cost;
    return cost;
}

// M, c, Q and the slopes of rows
static void check_model(const char *model)
{
    static const char *const names[] = {"M", "c", "Q", "G"};
    tr_error err = {0};
    tr_system *original;
    System *s = own_system(model, &original, &err);
    const uint32_t inputs = s->input_count;
    Expr *of = calloc(20000, sizeof *of);
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const Output *output = tr_system_output(s, text_of(names[i]));
        for (uint32_t k = 0; output && k < output->rows * output->columns; k++)
            if (!is_zero(output->values[k])) of[count++] = output->values[k];
    }
    assert_true(count > 0 && count < 20000);
    Known known = {0};
    assert_true(tr_known_find(&known, s, of, count, 100000, &err));
    Expr *named = calloc(count, sizeof *named);
    for (uint32_t i = 0; i < count; i++)
        named[i] = tr_substitute_kept(s->graph, of[i], &known.kept);
    const Rules rules = {(const Expr(*)[4])known.units, known.unit_count, 100000};
    Staged *staged = tr_staged_new(s, named, count, &known, &rules, &err);
    if (!staged) fail_msg("%s: %s", model, err.text);
    const uint32_t cost = cost_of(&known, staged, count), own = operations(s->graph, of, count);
    print_message("%s: %u quantities, %u operations, %u as derived\n", model, staged->count, cost,
                  own);
    if (cost > own + own / 5 + 20) fail_msg("%s: %u operations, not %u", model, cost, own);
    check_values(s, of, count, &known, staged, inputs);
    tr_staged_free(staged);
    tr_known_close(&known);
    tr_system_free(s);
    tr_system_free(original);
    free(named);
    free(of);
}

static void test_values(void **state)
{
    (void)state;
    static const char *const models[] = {
        "double_pendulum", "bicycle",      "bicycle_boyer", "sk8o",        "stewart",
        "snake3",          "rolling_disc", "snakeboard",    "floating_arm"};
    const size_t most = sizeof models / sizeof *models;
    for (size_t i = 0; i < (BRIEF ? 2 : most); i++) check_model(models[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
