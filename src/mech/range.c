// SPDX-License-Identifier: Apache-2.0
// What the model says of a parameter or an input besides its value: its range, by formulas of
// parameters, its unit and words. That a value is within its range is one more thing that is
// decided when the equations are made, and kept as a condition (T317).
#include "mech/tree.h"

#include <math.h>
#include <stdio.h>

// A formula of parameters; id 0 when it is not given
static Expr bound(Tree *tree, const Setting *setting, Value value, const char *which)
{
    char what[TR_NAME_SHOWN + 20];
    if (!value.given) return expr_at(tree->graph, 0);
    snprintf(what, sizeof what, "%s' of '%.*s", which, TEXT(setting->name.text));
    return tr_tree_constant(tree, value, what);
}

static const char *unit_of(Tree *tree, const Setting *setting)
{
    return tr_tree_text(tree, text_trimmed(setting->unit.text));
}

static void refuse(Tree *tree, const Setting *setting, const char *of, const double *x,
                   const char *unit)
{
    Buffer text = {0};
    char where[TR_PLACE_SHOWN];
    const Place passed = x[0] > x[2] ? setting->max.place : setting->min.place;
    tr_place_told(passed, setting->value.place, where);
    tr_range_words(of, x, unit, &text);
    tr_buffer_print(&text, "%s", where);
    if (text.failed)
        tr_fail_memory(tree->err);
    else
        tr_fail(tree->err, TR_INVALID, setting->value.place, "%s", text.at);
    tr_buffer_free(&text);
}

static Expr or_infinite(Tree *tree, Expr bound, double sign)
{
    return bound.id ? bound : number(tree->graph, sign * (double)INFINITY);
}

// Where a side is open, its bound is infinite.
static void keep_range(Tree *tree, const Setting *setting, const char *kind, Expr value, Expr least,
                       Expr most)
{
    char of[TR_NAME_SHOWN + 20];
    const char *unit = unit_of(tree, setting);
    const Expr x[] = {value, or_infinite(tree, least, -1), or_infinite(tree, most, 1)};
    const Input *input = tr_system_input(tree->system, value);
    double values[] = {input ? input->value : 0, tr_tree_value(tree, x[1]),
                       tr_tree_value(tree, x[2])};
    if (!input) values[0] = tr_tree_value(tree, value);
    snprintf(of, sizeof of, "the %s '%.*s'", kind, TEXT(setting->name.text));
    if (has_failed(tree->err)) return;
    if (!(values[1] <= values[2]))
        tr_fail(tree->err, TR_INVALID, setting->max.place,
                "%s has a 'max' below its 'min': they are %.9g and %.9g", of, values[2], values[1]);
    else if (tr_rule_gives(RULE_WITHIN, values) == 0)
        refuse(tree, setting, of, values, unit);
    const Condition within = {
        .rule = RULE_WITHIN,
        .values = {x[0], x[1], x[2]},
        .decided = 1,
        .words = tr_tree_text(tree, text_of(of)),
        .unit = unit,
        .place = setting->min.given ? setting->min.place : setting->max.place,
    };
    if (!tr_system_keep(tree->system, &within)) tree->graph->failed = true;
}

static void take(Tree *tree, const Setting *setting, const char *kind)
{
    const bool has_range = setting->min.given || setting->max.given;
    const Named *named = tr_system_find(tree->system, setting->name.text);
    if (!named || has_failed(tree->err)) return;
    const Expr value = named->meaning;
    const Expr least = bound(tree, setting, setting->min, "min"),
               most = bound(tree, setting, setting->max, "max");
    if (has_range && !has_failed(tree->err)) keep_range(tree, setting, kind, value, least, most);
    Input *input = tr_system_input(tree->system, value);
    // What is another's value alone has a range of its own, and leaves what the other is as it is
    if (!input || !text_is(setting->name.text, input->name) || has_failed(tree->err)) return;
    input->least = least, input->most = most;
    input->port.unit = unit_of(tree, setting);
    input->port.doc = tr_tree_text(tree, setting->doc.text);
    if (least.id) input->port.min = tr_tree_value(tree, least);
    if (most.id) input->port.max = tr_tree_value(tree, most);
}

static bool is_declared_setting(const Setting *s)
{
    return s->min.given || s->max.given || s->unit.given || s->doc.given;
}

static void take_all(Tree *tree, const Settings *settings, const char *kind)
{
    for (uint32_t i = 0; i < settings->count && !has_failed(tree->err); i++)
        if (is_declared_setting(&settings->at[i])) take(tree, &settings->at[i], kind);
}

void tr_tree_ranges(Tree *tree)
{
    take_all(tree, &tree->model->fields.parameters, "parameter");
    take_all(tree, &tree->model->fields.inputs, "input");
}
