// SPDX-License-Identifier: Apache-2.0
// What is not known exactly (T260): white noise in commands, forces and inputs, how well the start
// is known, and what was measured on the way. Noise is a symbol that is 0 in every program; its
// spectral density is an expression of the system, and so is what was measured.
#include "base/sheet.h"
#include "mech/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- noise ---------------------------------------------------------------------------------

static NoiseSource *add_source(Tree *tree, Text name)
{
    char label[300];
    NoiseSource *grown = tr_tree_room(tree, tree->noise_count + 1u, sizeof *grown);
    if (!grown) return NULL;
    if (tree->noise_count) memcpy(grown, tree->noises, tree->noise_count * sizeof *grown);
    snprintf(label, sizeof label, "noise.%.*s", WHOLE(name));
    tree->noises = grown;
    NoiseSource *source = &grown[tree->noise_count++];
    source->symbol = tr_input(tree->system, label, TR_NOISE, 0, tree->err);
    if (!has_failed(tree->err))
        tr_rate_set(tree->system, source->symbol, zero(tree->graph), tree->err);
    return has_failed(tree->err) ? NULL : source;
}

static void check_density(Tree *tree, Value formula, Expr density)
{
    if (has_failed(tree->err)) return;
    if (tr_system_uses(tree->system, density, TR_SOLVED))
        tr_fail(tree->err, TR_INVALID, formula.place,
                "a spectral density depends on no force or acceleration");
    else if (tr_tree_is_constant(density) &&
             !tr_tree_is(tree, RULE_NOT_NEGATIVE, density, formula.place, "noise is not negative"))
        tr_fail(tree->err, TR_INVALID, formula.place, "a spectral density is not negative");
}

Expr tr_tree_density(Tree *tree, Value formula)
{
    const Expr density = tr_tree_formula(tree, formula);
    check_density(tree, formula, density);
    return density;
}

Expr tr_tree_noise(Tree *tree, Text name, Expr density)
{
    if (has_failed(tree->err) || is_zero(density)) return zero(tree->graph);
    NoiseSource *source = add_source(tree, name);
    if (!source) return zero(tree->graph);
    source->density = density;
    return source->symbol;
}

Vec tr_tree_noise_vector(Tree *tree, const char *prefix, Text name, Value formula, const char *what)
{
    static const char *const component[] = {"x", "y", "z"};
    const Expr none = zero(tree->graph);
    const Vec density = tr_tree_vector(tree, formula, what);
    const Expr along[] = {density.x, density.y, density.z};
    Expr noise[] = {none, none, none};
    char label[300];
    for (int k = 0; k < 3 && !has_failed(tree->err); k++) {
        snprintf(label, sizeof label, "%.*s.%s%s", WHOLE(name), prefix, component[k]);
        check_density(tree, formula, along[k]);
        noise[k] = tr_tree_noise(tree, text_of(label), along[k]);
    }
    return (Vec){noise[0], noise[1], noise[2]};
}

void tr_tree_disturb_input(Tree *tree, Text name)
{
    const Pair *pair = tr_pairs_find(&tree->model->fields.noise, name);
    const Named *named = tr_system_find(tree->system, name);
    if (!pair || !named || has_failed(tree->err)) return;
    NoiseSource *source = add_source(tree, name);
    Input *input = tr_system_input(tree->system, named->meaning);
    if (!source || !input) return;
    source->formula = pair->value;
    const Expr plain = input->signal.id ? input->signal : input->symbol;
    input->signal = add(plain, source->symbol);
}

// Formulas of the densities of inputs know more than the inputs did.
static void make_densities(Tree *tree)
{
    const Pairs *noise = &tree->model->fields.noise;
    for (uint32_t i = 0; i < noise->count && !has_failed(tree->err); i++) {
        const Value key = noise->at[i].key;
        Suggestion nearest = {.wanted = key.text};
        char hint[TR_HINT_SIZE];
        if (tr_setting_find(&tree->model->fields.inputs, key.text)) continue;
        tr_settings_offer(&tree->model->fields.inputs, &nearest);
        tr_fail(tree->err, TR_INVALID, key.place,
                "'noise' is for inputs: there is no input '%.*s'%s", TEXT(key.text),
                tr_model_hint(tree->model, &nearest, hint));
    }
    Expr *density = tr_tree_room(tree, tree->noise_count + 1u, sizeof *density);
    for (uint32_t i = 0; density && i < tree->noise_count && !has_failed(tree->err); i++) {
        const NoiseSource *source = &tree->noises[i];
        density[i] =
            source->formula.given ? tr_tree_density(tree, source->formula) : source->density;
    }
    if (density && tree->noise_count)
        tr_output(tree->system, "noise", density, tree->noise_count, 1, tree->err);
}

// ---- the start -----------------------------------------------------------------------------

// The turn of a free base about an axis of its own, "base.rz": the velocity along it, or NO_INPUT
static uint32_t turn_called(const System *s, Text name)
{
    static const char *const ends[] = {".rx", ".ry", ".rz"};
    for (uint32_t i = 0; i < s->quaternion_count; i++)
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t velocity = s->quaternions[i].velocity + k;
            const size_t length = strlen(s->inputs[velocity].port.owner);
            if (name.length == length + 3 &&
                memcmp(name.at, s->inputs[velocity].port.owner, length) == 0 &&
                memcmp(name.at + length, ends[k], 3) == 0)
                return velocity;
        }
    return NO_INPUT;
}

static uint32_t deviant_called(Tree *tree, const Pair *pair, bool *turns)
{
    const System *s = tree->system;
    const uint32_t turn = turn_called(s, pair->key.text);
    *turns = turn != NO_INPUT;
    if (*turns) return turn;
    const Expr x = tr_tree_formula(tree, pair->key);
    const Input *input = has_failed(tree->err) ? NULL : tr_system_input(s, x);
    if (has_failed(tree->err)) return NO_INPUT;
    if (!input || (input->kind != TR_POSITION && input->kind != TR_VELOCITY))
        tr_fail(tree->err, TR_INVALID, pair->key.place,
                "a deviation is for a coordinate or a velocity, not for '%.*s'",
                TEXT(pair->key.text));
    else if (input->port.quantity == QUANTITY_QUATERNION)
        tr_fail(tree->err, TR_INVALID, pair->key.place,
                "'%s' is a part of a quaternion: give deviations of turns, '%s.rx', '%s.ry', "
                "'%s.rz'",
                input->name, input->port.owner, input->port.owner, input->port.owner);
    else if (input->definition.id || (s->order == 1 && input->kind == TR_VELOCITY))
        tr_fail(tree->err, TR_INVALID, pair->key.place,
                "'%s' follows from others, and deviates as they do", input->name);
    return input ? (uint32_t)(input - s->inputs) : NO_INPUT;
}

static void make_deviations(Tree *tree)
{
    const Pairs *pairs = &tree->model->fields.deviations;
    System *s = tree->system;
    Deviant *deviants = tr_tree_room(tree, pairs->count + 1u, sizeof *deviants);
    Expr *sd = tr_tree_room(tree, pairs->count + 1u, sizeof *sd);
    if (!deviants || !sd || !pairs->count) return;
    for (uint32_t i = 0; i < pairs->count && !has_failed(tree->err); i++) {
        const Pair *pair = &pairs->at[i];
        deviants[i].input = deviant_called(tree, pair, &deviants[i].turns);
        for (uint32_t k = 0; k < i && !has_failed(tree->err); k++)
            if (deviants[k].input == deviants[i].input && deviants[k].turns == deviants[i].turns)
                tr_fail(tree->err, TR_INVALID, pair->key.place,
                        "the deviation of '%.*s' is given twice", TEXT(pair->key.text));
        sd[i] = tr_tree_constant(tree, pair->value, "deviation");
        if (!has_failed(tree->err) &&
            !tr_tree_is(tree, RULE_NOT_NEGATIVE, sd[i], pair->value.place,
                        "the deviation of '%.*s' is not negative", WHOLE(pair->key.text)))
            tr_fail(tree->err, TR_INVALID, pair->value.place,
                    "a standard deviation is not negative");
    }
    tr_output(s, "deviations", sd, pairs->count, 1, tree->err);
    s->deviants = deviants, s->deviant_count = pairs->count;
}

// ---- measurements --------------------------------------------------------------------------

// A formula of the state alone, where noise has no part
static Expr measured(Tree *tree, Value formula)
{
    const System *s = tree->system;
    const Expr x = tr_tree_formula(tree, formula);
    if (has_failed(tree->err)) return x;
    if (s->order == 1 && tr_system_uses(s, x, TR_VELOCITY))
        tr_fail(tree->err, TR_INVALID, formula.place,
                "in first order '%.*s' is no part of the state: measured velocities are 'commands'",
                TEXT(formula.text));
    else if (tr_system_uses(s, x, TR_SOLVED) || tr_system_uses(s, x, TR_NOISE))
        tr_fail(tree->err, TR_INVALID, formula.place,
                "'%.*s' depends on forces or noise: fixes are of positions and "
                "velocities",
                TEXT(formula.text));
    return x;
}

// Angles are compared as they are seen, without whole turns.
static bool is_angle(const Tree *tree, Value formula, Expr x)
{
    static const char *const ends[] = {".yaw", ".pitch", ".roll", ".heading"};
    const Input *input = tr_system_input(tree->system, x);
    if (input && input->port.quantity == QUANTITY_ANGLE) return true;
    if (op_of(x) == OP_ATAN2) return true;
    if (!tr_formula_is_name(formula.text)) return false;
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        const size_t length = strlen(ends[k]), all = formula.text.length;
        if (all > length && memcmp(formula.text.at + all - length, ends[k], length) == 0)
            return true;
    }
    return false;
}

static Expr deviation_of(Tree *tree, const Fix *fix, const Pair *of)
{
    const Pair *sd = tr_pairs_find(&fix->sd, of->key.text);
    if (!sd) {
        tr_fail(tree->err, TR_INVALID, of->key.place, "'sd' says nothing of '%.*s'",
                TEXT(of->key.text));
        return zero(tree->graph);
    }
    const Expr x = tr_tree_constant(tree, sd->value, "standard deviation");
    if (!has_failed(tree->err) &&
        !tr_tree_is(tree, RULE_POSITIVE, x, sd->value.place, "the deviation of '%.*s' is positive",
                    WHOLE(of->key.text)))
        tr_fail(tree->err, TR_INVALID, sd->value.place,
                "the standard deviation of what was measured is positive");
    return x;
}

static void take_formulas(Tree *tree, const Fix *fix, FixSeries *series)
{
    const uint32_t n = series->count = fix->of.count;
    char name[300];
    Expr *of = tr_tree_room(tree, n, sizeof *of), *sd = tr_tree_room(tree, n, sizeof *sd);
    const char **names = tr_tree_room(tree, n, sizeof *names);
    bool *turns = tr_tree_room(tree, n, sizeof *turns);
    if (!of || !sd || !names || !turns) return;
    for (uint32_t i = 0; i < n && !has_failed(tree->err); i++) {
        const Pair *pair = &fix->of.at[i];
        names[i] = tr_tree_text(tree, pair->key.text);
        of[i] = measured(tree, pair->key);
        if (!has_failed(tree->err)) turns[i] = is_angle(tree, pair->key, of[i]);
        if (!has_failed(tree->err)) sd[i] = deviation_of(tree, fix, pair);
    }
    for (uint32_t i = 0; i < fix->sd.count && !has_failed(tree->err); i++)
        if (!tr_pairs_find(&fix->of, fix->sd.at[i].key.text))
            tr_fail(tree->err, TR_INVALID, fix->sd.at[i].key.place, "'%.*s' is not measured",
                    TEXT(fix->sd.at[i].key.text));
    series->of = names, series->turns = turns;
    snprintf(name, sizeof name, "fix.%s", series->name);
    tr_output(tree->system, name, of, n, 1, tree->err);
    snprintf(name, sizeof name, "fix_sd.%s", series->name);
    tr_output(tree->system, name, sd, n, 1, tree->err);
}

static void take_times(Tree *tree, const Fix *fix, const Sheet *sheet, const double *from,
                       FixSeries *series)
{
    const Value column = fix->time.given ? fix->time : fix->file;
    const double shift = tr_tree_value(tree, tr_tree_constant(tree, fix->shift, "shift"));
    double *t = tr_tree_room(tree, series->rows, sizeof *t);
    for (uint32_t i = 0; t && i < series->rows && !has_failed(tree->err); i++) {
        t[i] = from[i] - shift;
        if (!isfinite(t[i]) || (i && !(t[i] > t[i - 1])))
            tr_fail(tree->err, TR_INVALID, column.place,
                    "'%.*s', line %d: the times of a fix are numbers that ascend",
                    TEXT(fix->file.text), tr_sheet_line(sheet, i));
    }
    series->t = t;
}

static void take_numbers(Tree *tree, const Fix *fix, const Sheet *sheet, FixSeries *series)
{
    const size_t n = fix->of.count;
    series->rows = (uint32_t)(sheet->rows < UINT32_MAX ? sheet->rows : UINT32_MAX);
    const Value time = {fix->time.text, (fix->time.given ? fix->time : fix->file).place, true};
    const double *t = tr_tree_sheet_column(tree, fix->file, sheet, time);
    if (t) take_times(tree, fix, sheet, t, series);
    double *values = tr_tree_room(tree, series->rows * n + 1, sizeof *values);
    for (uint32_t k = 0; values && k < n && !has_failed(tree->err); k++) {
        const double *from = tr_tree_sheet_column(tree, fix->file, sheet, fix->of.at[k].value);
        for (uint32_t i = 0; from && i < series->rows && !has_failed(tree->err); i++) {
            values[i * n + k] = from[i];
            if (isinf(from[i]))
                tr_fail(tree->err, TR_INVALID, fix->of.at[k].value.place,
                        "'%.*s', line %d: column '%.*s' is infinite", TEXT(fix->file.text),
                        tr_sheet_line(sheet, i), TEXT(fix->of.at[k].value.text));
        }
    }
    series->values = values;
}

static void make_fix(Tree *tree, const Fix *fix, FixSeries *series)
{
    size_t length = 0;
    series->name = tr_tree_text(tree, fix->name.text);
    tr_tree_check_name(tree, fix->name, "a fix");
    series->drops = text_is(fix->outliers.text, "drop");
    if (!fix->file.given || !fix->of.count)
        tr_fail(tree->err, TR_INVALID, fix->name.place,
                "the fix '%.*s' needs a 'file', and 'of' what it is", TEXT(fix->name.text));
    else if (!series->drops && !text_is(fix->outliers.text, "keep"))
        tr_fail(tree->err, TR_INVALID, fix->outliers.place,
                "'outliers' are kept or dropped: keep or drop, not '%.*s'",
                TEXT(fix->outliers.text));
    if (has_failed(tree->err)) return;
    take_formulas(tree, fix, series);
    char *text = has_failed(tree->err) ? NULL : tr_tree_file(tree, fix->file, &length);
    Sheet *sheet = text ? tr_tree_sheet(tree, fix->file, text, length) : NULL;
    if (sheet) take_numbers(tree, fix, sheet, series);
    tr_sheet_free(sheet);
}

static void make_fixes(Tree *tree)
{
    const Fixes *fixes = &tree->model->fields.fixes;
    FixSeries *series = tr_tree_room(tree, fixes->count + 1u, sizeof *series);
    for (uint32_t i = 0; series && i < fixes->count && !has_failed(tree->err); i++)
        make_fix(tree, &fixes->at[i], &series[i]);
    tree->system->fixes = series, tree->system->fix_count = series ? fixes->count : 0;
}

void tr_tree_uncertainty(Tree *tree)
{
    make_densities(tree);
    if (!has_failed(tree->err)) make_deviations(tree);
    if (!has_failed(tree->err)) make_fixes(tree);
}
