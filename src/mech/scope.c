// SPDX-License-Identifier: Apache-2.0
// What the names in a model's formulas mean: parameters in any order, coordinates and rates,
// inputs, functions, outputs, and what body_name.c knows of every body (T5, T12, T250, T251). Each
// is made when it is first named.
#include "expr/walk.h"
#include "mech/meet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { UNTOUCHED, BUSY, DONE, MAX_PARAMETER_DEPTH = 100 };

// ---- pairs of the model that other pairs may use -------------------------------------------

static bool find_pair(const Pairs *pairs, Text name, uint32_t *index)
{
    const Pair *found = tr_pairs_find(pairs, name);
    if (found) *index = (uint32_t)(found - pairs->at);
    return found != NULL;
}

static bool find_setting(const Settings *settings, Text name, uint32_t *index)
{
    const Setting *found = tr_setting_find(settings, name);
    if (found) *index = (uint32_t)(found - settings->at);
    return found != NULL;
}

void tr_tree_refuse_name(Tree *tree, Value name, const tr_error *why)
{
    if (text_is(name.text, "t")) // taken, but by no one of the model
        tr_fail(tree->err, TR_INVALID, name.place, "'t' is a reserved name");
    else if (why->status)
        tr_fail(tree->err, why->status, name.place, "%s", why->text);
}

static void take_name(Tree *tree, const Value *name, Expr meaning)
{
    tr_error why = {0};
    tr_system_name(tree->system, name->text, meaning, &why);
    tr_tree_refuse_name(tree, *name, &why);
}

// A name that is about to get a meaning from its formula; false when it is in the making already.
static bool begin(Tree *tree, int *state, Value name, Value value, const char *what)
{
    if (*state == BUSY)
        tr_fail(tree->err, TR_INVALID, value.place, "the %s '%.*s' depends on itself", what,
                TEXT(name.text));
    else if (++tree->parameter_depth > MAX_PARAMETER_DEPTH)
        tr_fail(tree->err, TR_INVALID, value.place, "%ss depend on each other more than %d deep",
                what, MAX_PARAMETER_DEPTH);
    *state = BUSY;
    return !has_failed(tree->err);
}

// An input of this kind under the name of the setting
static void make_named(Tree *tree, const Setting *setting, tr_kind kind, double value)
{
    char name[256];
    tr_error why = {0};
    snprintf(name, sizeof name, "%.*s", WHOLE(setting->name.text));
    tr_input(tree->system, name, kind, value, &why);
    tr_tree_refuse_name(tree, setting->name, &why);
}

// In the long form of a setting it may be missing.
static bool has_value(Tree *tree, const Setting *setting, const char *what)
{
    if (!setting->value.given)
        tr_fail(tree->err, TR_INVALID, setting->name.place, "the %s '%.*s' has no 'value'", what,
                TEXT(setting->name.text));
    return setting->value.given;
}

static bool resolve_parameter(Tree *tree, uint32_t index)
{
    const Setting *setting = &tree->model->fields.parameters.at[index];
    const Value name = setting->name, value = setting->value;
    int *state = &tree->parameter_state[index];
    if (*state == DONE) return true;
    if (!has_value(tree, setting, "parameter") || !begin(tree, state, name, value, "parameter"))
        return false;
    const Expr x = tr_tree_formula(tree, value);
    tree->parameter_depth--;
    *state = DONE;
    if (has_failed(tree->err)) return false;
    if (!tr_tree_is(tree, RULE_FINITE, x, value.place, "'%.*s' is finite", WHOLE(name.text))) {
        tr_fail(tree->err, TR_INVALID, value.place, "the parameter '%.*s' is not finite",
                TEXT(name.text));
        return false;
    }
    if (!is_number(x)) { // depends on other parameters: follows them
        take_name(tree, &name, x);
        return !has_failed(tree->err);
    }
    make_named(tree, setting, TR_PARAMETER, value_of(x));
    return !has_failed(tree->err);
}

static bool resolve_output(Tree *tree, uint32_t index)
{
    const Pair *pair = &tree->model->fields.outputs.at[index];
    int *state = &tree->output_state[index];
    if (*state == DONE) return true;
    if (!begin(tree, state, pair->key, pair->value, "output")) return false;
    const Expr x = tr_tree_formula_with(tree, pair->value, NULL, 0); // none of who asks
    tree->parameter_depth--;
    *state = DONE;
    if (!has_failed(tree->err)) take_name(tree, &pair->key, x);
    return !has_failed(tree->err);
}

Expr tr_tree_output(Tree *tree, uint32_t index)
{
    const Text name = tree->model->fields.outputs.at[index].key.text;
    return resolve_output(tree, index) ? tr_system_find(tree->system, name)->meaning
                                       : expr_at(tree->graph, 0);
}

// ---- bodies --------------------------------------------------------------------------------

static void check_name(Tree *tree, Value name)
{
    if (tr_is_body_quantity(tree, name.text))
        tr_fail(tree->err, TR_INVALID, name.place, "the name '%.*s' is taken", TEXT(name.text));
}

void tr_tree_check_names(Tree *tree)
{
    const ModelFields *f = &tree->model->fields;
    for (uint32_t i = 0; i < f->parameters.count; i++) check_name(tree, f->parameters.at[i].name);
    for (uint32_t i = 0; i < f->inputs.count; i++) check_name(tree, f->inputs.at[i].name);
    for (uint32_t i = 0; i < f->outputs.count; i++) check_name(tree, f->outputs.at[i].key);
}

// ---- the scope -----------------------------------------------------------------------------

// What moves with a body or a frame, whether it is made already or not: "frame.x"
static bool is_of_body(const Tree *tree, Text name)
{
    const ModelFields *f = &tree->model->fields;
    size_t point = name.length;
    while (point && name.at[point - 1] != '.') point--;
    if (!point || !tr_is_body_word((Text){name.at + point, name.length - point})) return false;
    const Text body = {name.at, point - 1};
    return tr_kind_find(tr_kind_of(TYPE_BODIES), &f->bodies, body) ||
           tr_kind_find(tr_kind_of(TYPE_FRAMES), &f->frames, body);
}

// True for names of what moves, or comes from outside, whether it is made already or not.
static bool is_variable(const Tree *tree, Text name)
{
    uint32_t index;
    if (is_of_body(tree, name) || find_pair(&tree->model->fields.outputs, name, &index))
        return true;
    const Bodies *bodies = &tree->model->fields.bodies;
    for (uint32_t i = 0; i < bodies->count; i++) {
        const Joint *joint = &bodies->at[i].joint;
        const JointType *type = tr_joint_type(joint->type, NULL);
        const bool single = type && has_coordinate(type);
        if (single && text_equal(tr_own_joint_name(&bodies->at[i]), name)) return true;
    }
    const Joints *joints = &tree->model->fields.joints;
    for (uint32_t i = 0; i < joints->count; i++)
        if (text_equal(tr_joint_name(&joints->at[i]), name)) return true;
    return find_setting(&tree->model->fields.inputs, name, &index) ||
           tr_kind_find(tr_kind_of(TYPE_STATES), &tree->model->fields.states, name);
}

// "angle_rate"
static bool is_rate(const Tree *tree, Text name)
{
    const size_t end = strlen("_rate");
    if (name.length <= end || memcmp(name.at + name.length - end, "_rate", end) != 0) return false;
    return is_variable(tree, (Text){name.at, name.length - end});
}

// The names that a formula knows besides parameters
static const char *list_locals(const Tree *tree, char known[100])
{
    known[0] = 0;
    for (uint32_t i = 0; i < tree->local_count; i++) {
        const size_t length = strlen(known);
        snprintf(known + length, 100 - length, "%s%s", i ? " and " : "", tree->locals[i].name);
    }
    return known;
}

static bool refuse_variable(const Tree *tree, Text name, tr_error *err)
{
    char known[100];
    list_locals(tree, known);
    if (known[0])
        tr_fail(err, TR_INVALID, (Place){0},
                "this is a formula of %s and of parameters, not of '%.*s'", known, TEXT(name));
    else
        tr_fail(err, TR_INVALID, (Place){0}, "'%.*s' is not a parameter: this must be constant",
                TEXT(name));
    return false;
}

// Something of the model that is no number, or none that a formula here knows
static void refuse_thing(const Tree *tree, Text name, tr_error *err)
{
    static const char *const numbers[] = {"a parameter", "an input", "an output", "a coordinate",
                                          "a state"};
    const char *what = tr_model_what(tree->model, name);
    if (!what || strcmp(what, "a table") == 0) return; // is called like a function
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(what, numbers[i]) == 0)
            tr_fail(err, TR_INVALID, (Place){0}, "'%.*s' is %s, which cannot be used here",
                    TEXT(name), what);
    if (strcmp(what, "a body") == 0 || strcmp(what, "a frame") == 0)
        tr_fail(
            err, TR_INVALID, (Place){0},
            "'%.*s' is %s; formulas know its place '%.*s.x', its velocity '%.*s.vx' and the like",
            TEXT(name), what, TEXT(name), TEXT(name));
    tr_fail(err, TR_INVALID, (Place){0}, "'%.*s' is %s, not a number", TEXT(name), what);
}

// Whether the formula is one of the x and y of a surface
static bool is_height(const Tree *tree)
{
    const Input *input =
        tree->local_count ? tr_system_input(tree->system, tree->locals[0].meaning) : NULL;
    return tree->constants_only && input && input->kind == TR_DIRECTION;
}

static bool scope_name(void *owner, Text name, Expr *meaning, tr_error *err)
{
    Tree *tree = owner;
    for (uint32_t i = 0; i < tree->local_count; i++)
        if (text_is(name, tree->locals[i].name)) return *meaning = tree->locals[i].meaning, true;
    if (tr_tree_says(tree, name, meaning)) return true;
    const Scope inner = tr_system_scope(tree->system);
    if (inner.name(inner.owner, name, meaning, err)) {
        const Input *input =
            tr_system_input(tree->system, tr_system_find(tree->system, name)->meaning);
        if (!tree->constants_only || !input || input->kind == TR_PARAMETER) return true;
        return refuse_variable(tree, name, err);
    }
    uint32_t index;
    if (tree->parameter_state && find_setting(&tree->model->fields.parameters, name, &index))
        return resolve_parameter(tree, index) && inner.name(inner.owner, name, meaning, err);
    const bool is_upright = is_height(tree) && text_is(name, "z");
    if (tree->constants_only && (is_upright || is_variable(tree, name) || is_rate(tree, name)))
        return refuse_variable(tree, name, err);
    if (tree->constants_only) return refuse_thing(tree, name, err), false;
    if (tree->output_state && find_pair(&tree->model->fields.outputs, name, &index))
        return resolve_output(tree, index) && inner.name(inner.owner, name, meaning, err);
    if (tr_is_body_quantity(tree, name)) return tr_body_quantity(tree, name, meaning, err);
    const size_t prefix = strlen("lambda.");
    if (name.length > prefix && memcmp(name.at, "lambda.", prefix) == 0 &&
        tr_tree_is_dropped(tree, (Text){name.at + prefix, name.length - prefix}))
        tr_fail(err, TR_INVALID, (Place){0}, "'%.*s' always holds, so there is no '%.*s'",
                (int)(name.length - prefix), name.at + prefix, TEXT(name));
    refuse_thing(tree, name, err);
    return false;
}

static const Function *scope_function(void *owner, Text name)
{
    const Scope inner = tr_system_scope(((Tree *)owner)->system);
    return inner.function(inner.owner, name);
}

// Inputs change from outside, nobody knows how fast: a rate of 0 would be a guess.
bool tr_tree_rate(Tree *tree, Expr of, Expr *rate, tr_error *err)
{
    const Scope inner = tr_system_scope(tree->system);
    if (!tr_tree_know_rates(tree, of)) return false;
    const Input *input = tr_system_uses_unrated(tree->system, of);
    const char *sampled = input ? tr_tree_sampled(tree, input) : NULL;
    if (sampled)
        tr_fail(err, TR_INVALID, (Place){0},
                "what '%.60s' says changes in steps, and has no rate: leave it out of d(...)",
                sampled);
    else if (input)
        tr_fail(err, TR_INVALID, (Place){0},
                "how fast %s'%.60s' changes is not known: leave it out of d(...)",
                input->kind == TR_INPUT ? "the input " : "", input->name);
    return !input && inner.rate(inner.owner, of, rate, err);
}

static bool scope_rate(void *owner, Expr of, Expr *rate, tr_error *err)
{
    const Tree *tree = owner;
    char known[100];
    if (is_height(tree)) {
        tr_fail(err, TR_INVALID, (Place){0},
                "this is a formula of %s and of parameters, without d(...)",
                list_locals(tree, known));
        return false;
    }
    return tr_tree_rate(owner, of, rate, err);
}

// What was written behind the point, of each body
static void offer_bodies(Tree *tree, Suggestion *suggestion)
{
    const Text wanted = suggestion->wanted;
    const char *point = memchr(wanted.at, '.', wanted.length);
    const size_t rest = point ? wanted.length - (size_t)(point - wanted.at) : 0;
    for (uint32_t i = 0; point && i < tree->link_count; i++) {
        const Text body = tree->links[i].body->name.text;
        char *text = tr_arena_alloc(&tree->graph->arena, body.length + rest, 1);
        if (!text) return;
        memcpy(text, body.at, body.length);
        memcpy(text + body.length, point, rest);
        const Text candidate = {text, body.length + rest};
        if (tr_is_body_quantity(tree, candidate)) tr_suggest(suggestion, candidate);
    }
}

static void offer_functions(const System *system, Suggestion *suggestion)
{
    for (uint32_t i = 0; i < system->name_count; i++)
        if (system->names[i].function) tr_suggest_unlisted(suggestion, system->names[i].name);
}

static void scope_offer(void *owner, Suggestion *suggestion)
{
    Tree *tree = owner;
    const Scope inner = tr_system_scope(tree->system);
    if (suggestion->of_functions) {
        inner.offer(inner.owner, suggestion);
        return;
    }
    for (uint32_t i = 0; i < tree->local_count; i++)
        tr_suggest(suggestion, text_of(tree->locals[i].name));
    if (tree->constants_only) {
        offer_functions(tree->system, suggestion);
    } else {
        offer_bodies(tree, suggestion);
        tr_offer_body_words(tree, suggestion);
        inner.offer(inner.owner, suggestion);
        tr_pairs_offer(&tree->model->fields.outputs, suggestion);
    }
    tr_settings_offer(&tree->model->fields.parameters, suggestion);
}

static Expr parse(Tree *tree, Value value)
{
    const Scope scope = {tree, scope_name, scope_function, scope_rate, scope_offer, &tree->budget};
    return tr_formula_parse(tree->graph, &scope, value.text, value.place, tree->err);
}

Expr tr_tree_formula(Tree *tree, Value value)
{
    const Expr x = parse(tree, value);
    tr_tree_note(tree, value, x);
    tr_tree_check_tables(tree, value, x);
    return x;
}

Expr tr_tree_formula_with(Tree *tree, Value value, const Local *locals, uint32_t count)
{
    const Local *const outer = tree->locals;
    const uint32_t outer_count = tree->local_count;
    tree->locals = locals, tree->local_count = count;
    const Expr x = tr_tree_formula(tree, value);
    tree->locals = outer, tree->local_count = outer_count;
    return x;
}

Expr tr_tree_constant(Tree *tree, Value value, const char *what)
{
    const bool before = tree->constants_only;
    tree->constants_only = true;
    const Expr x = tr_tree_formula(tree, value);
    tr_tree_check_finite(tree, value, what, x);
    tree->constants_only = before;
    return x;
}

// Splits at the commas that stand outside parentheses.
void tr_tree_formulas(Tree *tree, Value value, const char *what, uint32_t count, Expr *out)
{
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t start = at;
        while (start < value.text.length && value.text.at[start] == ' ') start++;
        for (int depth = 0; at < value.text.length && (depth > 0 || value.text.at[at] != ','); at++)
            depth += value.text.at[at] == '(' ? 1 : value.text.at[at] == ')' ? -1 : 0;
        Value part = {{value.text.at + start, at - start}, value.place, value.given};
        if (value.place.line) part.place.column += tr_utf8_columns(value.text.at, start);
        const bool ends = at >= value.text.length;
        if (ends != (i + 1 == count))
            tr_fail(tree->err, TR_INVALID, value.place,
                    "'%s' is %u formulas separated by commas, as in \"%s0, 1\"", what, count,
                    count > 2 ? "0, " : "");
        out[i] = tr_tree_formula(tree, part);
        if (tree->constants_only) tr_tree_check_finite(tree, part, what, out[i]);
        at++;
    }
}

Vec tr_tree_vector(Tree *tree, Value value, const char *what)
{
    Expr x[3];
    tr_tree_formulas(tree, value, what, 3, x);
    return vec(x[0], x[1], x[2]);
}

void tr_tree_check_time_only(Tree *tree, Value value, Expr x, const char *what)
{
    const Input *input = tr_system_uses(tree->system, x, TR_POSITION);
    if (!input) input = tr_system_uses(tree->system, x, TR_VELOCITY);
    if (!input) input = tr_system_uses(tree->system, x, TR_SOLVED);
    if (input)
        tr_fail(tree->err, TR_INVALID, value.place, "%s is a formula of t, but this one uses '%s'",
                what, input->name);
}

// ---- what comes first ----------------------------------------------------------------------

static void make_functions(Tree *tree)
{
    const Pairs *functions = &tree->model->fields.functions;
    for (uint32_t i = 0; i < functions->count && !has_failed(tree->err); i++) {
        tr_error why = {0};
        tr_system_function(tree->system, functions->at[i].key.text, functions->at[i].value.text,
                           functions->at[i].value.place, &why);
        if (why.status) tr_fail(tree->err, why.status, functions->at[i].key.place, "%s", why.text);
    }
}

// A formula of parameters, and perhaps of t
static Expr read_signal(Tree *tree, Value value)
{
    const Local time = {"t", tree->t};
    tree->locals = &time, tree->local_count = 1;
    const Expr x = parse(tree, value);
    tree->locals = NULL, tree->local_count = 0;
    return x;
}

static bool is_signal(const Tree *tree, Expr x)
{
    return !has_failed(tree->err) && tr_system_uses(tree->system, x, TR_TIME);
}

// The input that was made last follows a formula of t; noted as formulas mean it, so that a table
// which nobody asks any more is not left.
static void follow(Tree *tree, const Setting *setting, Expr formula)
{
    System *s = tree->system;
    tr_error why = {0};
    const uint32_t at = s->input_count - 1;
    tr_system_follow(s, s->inputs[at].symbol, formula, &why);
    tr_tree_refuse_name(tree, setting->name, &why);
    tr_tree_note(tree, setting->value, s->inputs[at].signal);
}

Value tr_tree_replaced(const Tree *tree, const Setting *setting)
{
    const Setting *own = tr_setting_find(&tree->model->before, setting->name.text);
    const bool differs = own && own->value.text.at != setting->value.text.at;
    return differs ? own->value : (Value){0};
}

static void make_input(Tree *tree, const Setting *setting)
{
    if (!has_value(tree, setting, "input")) return;
    const Value name = setting->name, given = setting->value,
                before = tr_tree_replaced(tree, setting);
    const Expr formula = read_signal(tree, given), start = zero(tree->graph);
    const bool follows = is_signal(tree, formula);
    const Expr value = follows ? tr_replace(formula, &tree->t, &start, 1) : formula;
    tr_tree_check_tables(tree, given, value);
    if (!has_failed(tree->err) &&
        !tr_tree_is(tree, RULE_FINITE, value, given.place, "'%.*s' is finite", WHOLE(name.text)))
        tr_fail(tree->err, TR_INVALID, given.place, "the input '%.*s' is not finite%s",
                TEXT(name.text), follows ? " at t = 0" : "");
    make_named(tree, setting, TR_INPUT, tr_tree_value(tree, value));
    if (has_failed(tree->err)) return;
    Input *input = &tree->system->inputs[tree->system->input_count - 1];
    if (!is_number(value)) input->guess = value;
    if (!follows && before.given) input->rate_known = is_signal(tree, read_signal(tree, before));
    if (follows) follow(tree, setting, formula);
    tr_tree_disturb_input(tree, name.text);
}

static Input *input_of(const Tree *tree, const Setting *setting)
{
    const Named *named = tr_system_find(tree->system, setting->name.text);
    return named ? tr_system_input(tree->system, named->meaning) : NULL;
}

// How fast inputs change, by t and all inputs
static void take_rates(Tree *tree)
{
    const Settings *inputs = &tree->model->fields.inputs;
    Local *known = calloc(inputs->count + 1u, sizeof *known);
    if (!known) tree->graph->failed = true;
    uint32_t count = 0;
    if (known) known[count++] = (Local){"t", tree->t};
    for (uint32_t i = 0; known && i < inputs->count; i++) {
        const Input *input = input_of(tree, &inputs->at[i]);
        if (input)
            known[count++] = (Local){input->name, input->signal.id ? input->signal : input->symbol};
    }
    for (uint32_t i = 0; known && i < inputs->count && !has_failed(tree->err); i++) {
        Input *input = input_of(tree, &inputs->at[i]);
        if (!inputs->at[i].rate.given || !input) continue;
        input->rate = tr_tree_formula_with(tree, inputs->at[i].rate, known, count);
        input->rate_known = true;
    }
    free(known);
}

static void refuse_rates(Tree *tree)
{
    const Settings *parameters = &tree->model->fields.parameters;
    for (uint32_t i = 0; i < parameters->count && !has_failed(tree->err); i++)
        if (parameters->at[i].rate.given)
            tr_fail(tree->err, TR_INVALID, parameters->at[i].rate.place,
                    "'%.*s' is a parameter, and does not change: 'rate' is of inputs",
                    TEXT(parameters->at[i].name.text));
}

static void make_inputs(Tree *tree)
{
    const Settings *inputs = &tree->model->fields.inputs;
    for (uint32_t i = 0; i < inputs->count && !has_failed(tree->err); i++)
        make_input(tree, &inputs->at[i]);
    if (!has_failed(tree->err)) take_rates(tree);
    refuse_rates(tree);
}

// Numbers as a direction times a parameter of its own
static Vec named_gravity(Tree *tree, Vec g)
{
    char name[] = "g___";
    size_t length = 1;
    if (!is_number(g.x) || !is_number(g.y) || !is_number(g.z)) return g;
    const double x = value_of(g.x), y = value_of(g.y), z = value_of(g.z),
                 size = sqrt(x * x + y * y + z * z);
    while (length < sizeof name - 1 && tr_system_find(tree->system, (Text){name, length})) length++;
    name[length] = 0;
    if (size == 0) return g;
    const Expr by = tr_input(tree->system, name, TR_PARAMETER, size, tree->err);
    return scale(by, vec(number(tree->graph, x / size), number(tree->graph, y / size),
                         number(tree->graph, z / size)));
}

void tr_tree_parameters(Tree *tree)
{
    const Settings *parameters = &tree->model->fields.parameters;
    tree->t = tr_input(tree->system, "t", TR_TIME, 0, tree->err);
    tr_tree_port(tree, tree->t, QUANTITY_TIME, text_of(""), "");
    make_functions(tree);
    tr_tree_tables(tree);
    tr_model_check_units(tree->model, tree->err);
    tree->constants_only = true;
    for (uint32_t i = 0; i < parameters->count && !has_failed(tree->err); i++)
        resolve_parameter(tree, i);
    make_inputs(tree);
    tr_tree_ranges(tree);
    tree->ground = (Pose){tr_tree_turned(tree, tree->model->fields.ground.turn),
                          tr_tree_vector(tree, tree->model->fields.ground.at, "at")};
    tree->gravity = tr_tree_vector(tree, tree->model->fields.gravity, "gravity");
    if (tree->model->names_gravity) tree->gravity = named_gravity(tree, tree->gravity);
}
