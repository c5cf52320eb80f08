// SPDX-License-Identifier: Apache-2.0
// Programs of derivatives: outputs of a reduced model by whatever inputs are asked for.
#include "base/options.h"
#include "expr/derivative.h"
#include "expr/list.h"
#include "plan/flow.h"
#include "plan/tangent.h"
#include "program/compile.h"

#include <stdlib.h>
#include <string.h>

static Text next_word(const char **at)
{
    *at += strspn(*at, " ");
    const Text word = {*at, strcspn(*at, " ")};
    *at += word.length;
    return word;
}

// ---- by what -------------------------------------------------------------------------------

static const struct {
    const char *word;
    tr_kind kind;
} all_of[] = {{"q", TR_POSITION}, {"v", TR_VELOCITY}, {"u", TR_INPUT}, {"p", TR_PARAMETER}};

// A name goes before a word for all of a kind.
static bool list_named(const System *s, Text word, Exprs *by)
{
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (!text_is(word, s->inputs[i].name)) continue;
        exprs_add(by, s->inputs[i].symbol);
        return true;
    }
    return false;
}

static bool list_kind(const System *s, Text word, Exprs *by)
{
    for (size_t k = 0; k < sizeof all_of / sizeof *all_of; k++) {
        if (!text_is(word, all_of[k].word)) continue;
        for (uint32_t i = 0; i < s->input_count; i++)
            if (s->inputs[i].kind == all_of[k].kind) exprs_add(by, s->inputs[i].symbol);
        return true;
    }
    return false;
}

static void refuse_word(const System *s, Text word, tr_error *err)
{
    Suggestion nearest = {.wanted = word};
    char hint[TR_HINT_SIZE];
    for (uint32_t i = 0; i < s->input_count; i++) tr_suggest(&nearest, text_of(s->inputs[i].name));
    tr_fail(err, TR_USAGE, (Place){0},
            "there is nothing called '%.*s' to differentiate by: names of inputs, or q, v, u, p%s",
            (int)(word.length < 80 ? word.length : 80), word.at, tr_hint(&nearest, hint));
}

static void list_inputs(const System *s, const char *words, Exprs *by, tr_error *err)
{
    for (Text word = next_word(&words); word.length; word = next_word(&words))
        if (!list_named(s, word, by) && !list_kind(s, word, by)) refuse_word(s, word, err);
    if (by->failed) tr_fail_memory(err);
    if (!by->count) tr_fail(err, TR_USAGE, (Place){0}, "there is no input to differentiate by");
}

// ---- of what -------------------------------------------------------------------------------

static void list_outputs(const System *s, const char *words, Exprs *of, tr_error *err)
{
    for (Text word = next_word(&words); word.length; word = next_word(&words)) {
        const Output *output = tr_system_output(s, word);
        if (output)
            tr_exprs_add(of, output->values, (size_t)output->rows * output->columns);
        else
            tr_fail(err, TR_USAGE, (Place){0}, "there is no output '%.*s'",
                    (int)(word.length < 80 ? word.length : 80), word.at);
    }
    if (of->failed) tr_fail_memory(err);
    if (!of->count) tr_fail(err, TR_USAGE, (Place){0}, "a program needs at least one output");
}

static void put_slopes(System *s, Exprs *of, const Exprs *by, tr_error *err)
{
    if (has_failed(err)) return;
    const size_t size = (size_t)of->count * by->count;
    Expr *slopes = calloc(size, sizeof *slopes);
    if (!slopes) {
        tr_fail_memory(err);
        return;
    }
    tr_system_resolve(s, of->at, of->count);
    size_t count;
    const tr_entry *entries = tr_sparse_jacobian(s->graph, &s->graph->arena, of->at, of->count,
                                                 by->at, by->count, &count);
    for (size_t i = 0; i < size; i++) slopes[i] = zero(s->graph);
    for (size_t i = 0; i < count; i++)
        slopes[(size_t)entries[i].row * by->count + entries[i].column] = entries[i].value;
    if (s->graph->failed)
        tr_fail_memory(err);
    else
        tr_system_put(s, "slopes", slopes, of->count, by->count, err);
    free(slopes);
}

// ---- programs ------------------------------------------------------------------------------

Program *tr_compile_slopes(Plan *plan, const char *outputs, const char *by,
                           const tr_compile_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_compile_options o = tr_compile_defaults();
    if (!plan || !tr_take_options(&o, sizeof o, options, "tr_compile_defaults", err)) return NULL;
    Flow *flow = tr_flow_new(plan, NULL, err);
    System *own = flow ? tr_flow_system(flow, err) : NULL;
    Exprs of = {0}, inputs = {0};
    Program *program = NULL;
    if (own) {
        tr_evaluation_called(o.evaluate, &own->evaluation, err);
        if (outputs && strstr(outputs, "wdot"))
            tr_differentiate(own, &flow->now->programs->partition, false, NULL, err);
        if (!has_failed(err)) list_outputs(own, outputs ? outputs : "", &of, err);
        if (!has_failed(err)) list_inputs(own, by ? by : "", &inputs, err);
        put_slopes(own, &of, &inputs, err);
        if (!has_failed(err)) program = tr_compile_names(own, "slopes", o.fix_parameters, err);
    }
    tr_exprs_free(&of);
    tr_exprs_free(&inputs);
    tr_system_free(own);
    tr_flow_free(flow);
    return program;
}
