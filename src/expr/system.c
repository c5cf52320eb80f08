// SPDX-License-Identifier: Apache-2.0
// Making systems: names, the inputs and definitions that have them, and outputs, which have names
// of their own. query.c has what is asked of systems that are there.
#include "expr/system.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

// ---- names ---------------------------------------------------------------------------------

static bool name_equal(const void *owner, uint32_t index, const void *key)
{
    return text_equal(((const System *)owner)->names[index].name, *(const Text *)key);
}

const Named *tr_system_find(const System *system, Text name)
{
    if (!system->name_count) return NULL;
    const Hash *hash = &system->name_hash;
    const uint32_t slot =
        hash_slot(hash, tr_hash_bytes(name.at, name.length), name_equal, system, &name);
    const uint32_t found = hash->slots[slot].index;
    return found ? &system->names[found - 1] : NULL;
}

enum { LONGEST_NAME = 100 };

// `t` is for time alone.
static bool check_name(const System *system, Text name, bool time, tr_error *err)
{
    const Place nowhere = {0};
    if (!tr_formula_is_name(name))
        tr_fail(err, TR_INVALID, nowhere,
                "'%.*s' is not a name: ASCII letters, digits, _ and single points", TEXT(name));
    else if (name.length > LONGEST_NAME)
        tr_fail(err, TR_INVALID, nowhere, "the name '%.*s...' is longer than %d characters",
                TEXT(name), LONGEST_NAME);
    else if (tr_formula_reserved(name) && !(time && text_is(name, "t")))
        tr_fail(err, TR_INVALID, nowhere, "'%.*s' is a reserved name", TEXT(name));
    else if (tr_system_find(system, name))
        tr_fail(err, TR_INVALID, nowhere, "the name '%.*s' is taken", TEXT(name));
    else
        return true;
    return false;
}

// Enters a name that is free; its text must live as long as the system.
static bool enter_name(System *system, Named named, tr_error *err)
{
    const uint32_t index = system->name_count;
    if (!tr_grow((void **)&system->names, &system->name_capacity, index + 1,
                 sizeof *system->names) ||
        !hash_reserve(&system->name_hash, 1)) {
        tr_fail_memory(err);
        return false;
    }
    system->names[index] = named;
    system->name_count++;
    const uint32_t code = tr_hash_bytes(named.name.at, named.name.length);
    hash_insert(&system->name_hash,
                hash_slot(&system->name_hash, code, name_equal, system, &named.name), index, code);
    return true;
}

static Text keep_text(System *system, Text text, tr_error *err)
{
    const char *kept = tr_arena_text(&system->graph->arena, text.at, text.length);
    if (!kept) tr_fail_memory(err);
    return (Text){kept, kept ? text.length : 0};
}

void tr_system_name(System *system, Text name, Expr meaning, tr_error *err)
{
    name = keep_text(system, name, err);
    if (!has_failed(err) && check_name(system, name, false, err))
        enter_name(system, (Named){.name = name, .meaning = meaning}, err);
}

void tr_system_function(System *system, Text head, Text body, Place place, tr_error *err)
{
    Function *function = tr_arena_alloc(&system->graph->arena, 1, sizeof *function);
    if (!function) tr_fail_memory(err);
    head = keep_text(system, head, err);
    body = keep_text(system, body, err);
    if (!function || has_failed(err) || !tr_formula_head(head, body, place, function, err)) return;
    if (check_name(system, function->name, false, err))
        enter_name(system, (Named){.name = function->name, .function = function}, err);
}

// ---- scope ---------------------------------------------------------------------------------

// What formulas do not know
static bool is_hidden(const System *system, const Named *named)
{
    const Input *input = tr_system_input(system, named->meaning);
    return input && (input->kind == TR_START || input->kind == TR_NOISE);
}

static bool scope_name(void *owner, Text name, Expr *meaning, tr_error *err)
{
    (void)err;
    const Named *named = tr_system_find(owner, name);
    if (!named || named->function || is_hidden(owner, named)) return false;
    const Input *input = tr_system_input(owner, named->meaning);
    *meaning = input && input->signal.id ? input->signal : named->meaning;
    return true;
}

static const Function *scope_function(void *owner, Text name)
{
    const Named *named = tr_system_find(owner, name);
    return named ? named->function : NULL;
}

static bool scope_rate(void *owner, Expr of, Expr *rate, tr_error *err)
{
    return tr_system_rates(owner, &of, 1, rate, err);
}

// What a list of names should have: no functions, and nothing that the library makes
static bool is_plain(const System *system, const Named *named)
{
    const Input *input = tr_system_input(system, named->meaning);
    return !named->function && !(input && input->kind > TR_PARAMETER);
}

static void scope_offer(void *owner, Suggestion *suggestion)
{
    const System *system = owner;
    for (uint32_t i = 0; i < system->name_count; i++) {
        const Named *named = &system->names[i];
        if (is_hidden(system, named) || (suggestion->of_functions && !named->function)) continue;
        if (suggestion->of_functions || is_plain(system, named))
            tr_suggest(suggestion, named->name);
        else
            tr_suggest_unlisted(suggestion, named->name);
    }
}

Scope tr_system_scope(System *system)
{
    return (Scope){system, scope_name, scope_function, scope_rate, scope_offer, NULL};
}

// ---- inputs --------------------------------------------------------------------------------

// Symbols are made for inputs alone, in the same order.
Input *tr_system_input(const System *system, Expr symbol)
{
    if (!symbol.id || op_of(symbol) != OP_SYMBOL) return NULL;
    assert(node_of(symbol)->a < system->input_count); // of this system, or of a copy of it
    return &system->inputs[node_of(symbol)->a];
}

uint32_t tr_system_inputs(const System *system, tr_kind kind, uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < system->input_count; i++) {
        if (system->inputs[i].kind != kind) continue;
        if (list) list[count] = i;
        count++;
    }
    return count;
}

// The input of this name: not what is defined to be one
static const Input *input_called(const System *system, Text name)
{
    const Named *named = tr_system_find(system, name);
    const Input *input = named ? tr_system_input(system, named->meaning) : NULL;
    return input && text_is(name, input->name) ? input : NULL;
}

static const char *what_it_is(const Input *input)
{
    switch (input->kind) {
    case TR_MODE:
        return input->port.quantity == QUANTITY_MODE ? "the mode of a contact"
                                                     : "set by runs alone";
    case TR_START: return "a number of the start";
    case TR_TIME: return "time";
    case TR_SOLVED: return "found by the equations";
    case TR_TOUCH: return "where a contact touches";
    case TR_NOISE: return "noise";
    case TR_HELD: return "held by a controller or a sensor";
    case TR_INPUT: return "set by a controller";
    default: return "part of the state";
    }
}

static void refuse_setting(const System *system, Text name, const char *done, tr_error *err)
{
    const Input *input = input_called(system, name);
    Suggestion nearest = {.wanted = name};
    char hint[TR_HINT_SIZE];
    for (uint32_t i = 0; i < system->input_count; i++)
        if (is_setting(&system->inputs[i])) tr_suggest(&nearest, text_of(system->inputs[i].name));
    if (!tr_system_find(system, name))
        tr_fail(err, TR_USAGE, (Place){0}, "there is no parameter or input '%.*s'%s", TEXT(name),
                tr_hint(&nearest, hint));
    else if (input)
        tr_fail(err, TR_USAGE, (Place){0}, "'%.*s' is %s: only parameters and inputs can be %s",
                TEXT(name), what_it_is(input), done);
    else
        tr_fail(err, TR_USAGE, (Place){0},
                "'%.*s' follows from others: it can be %s once it is set to a number", TEXT(name),
                done);
}

const Input *tr_system_setting(const System *system, Text name, const char *done, tr_error *err)
{
    const Input *input = input_called(system, name);
    if (input && is_setting(input)) return input;
    refuse_setting(system, name, done, err);
    return NULL;
}

const char *tr_system_speed_name(const System *system, uint32_t input)
{
    for (uint32_t i = 0; i < system->row_count; i++)
        if (system->rows[i].is_speed &&
            system->rows[i].symbol.id == system->inputs[input].symbol.id)
            return system->rows[i].name;
    return system->inputs[input].name;
}

const char *tr_system_joint_name(const System *system, uint32_t velocity)
{
    const uint32_t coordinate = system->inputs[velocity].port.rate_of;
    return system->inputs[coordinate == NO_INPUT ? velocity : coordinate].name;
}

uint32_t tr_system_part(const System *system, tr_kind kind, const char *owner,
                        const char *component)
{
    for (uint32_t i = 0; i < system->input_count; i++)
        if (system->inputs[i].kind == kind && is_of(&system->inputs[i].port, owner, component))
            return i;
    return NO_INPUT;
}

static Expr first_rate(Graph *graph, tr_kind kind)
{
    if (kind == TR_TIME) return one(graph);
    if (kind == TR_PARAMETER || kind == TR_INPUT || kind == TR_MODE || kind == TR_START ||
        kind == TR_HELD)
        return zero(graph);
    return expr_at(graph, 0);
}

static ValueStage stage_of_kind(tr_kind kind)
{
    return kind == TR_PARAMETER ? STAGE_PARAMETER : kind == TR_TIME ? STAGE_TIME : STAGE_STATE;
}

// Under a name that is free
static Expr add_input(System *system, const char *name, tr_kind kind, double value, tr_error *err)
{
    Graph *graph = system->graph;
    const Expr nothing = expr_at(graph, 0);
    const Expr symbol = tr_symbol_new(graph, name, stage_of_kind(kind));
    if (!symbol.id || !tr_grow((void **)&system->inputs, &system->input_capacity,
                               system->input_count + 1, sizeof *system->inputs)) {
        graph->failed = true;
        tr_fail_memory(err);
        return nothing;
    }
    const char *kept = graph->symbols[graph->symbol_count - 1];
    if (!enter_name(system, (Named){.name = text_of(kept), .meaning = symbol}, err)) {
        graph->failed = true; // only memory can be lacking here, and each symbol needs its input
        return nothing;
    }
    system->inputs[system->input_count++] = (Input){.name = kept,
                                                    .kind = kind,
                                                    .symbol = symbol,
                                                    .rate = first_rate(graph, kind),
                                                    .value = value,
                                                    .port = port_unknown()};
    assert(node_of(symbol)->a + 1 == system->input_count); // symbols are inputs, in the same order
    return symbol;
}

tr_expr tr_input(System *system, const char *name, tr_kind kind, double value, tr_error *err)
{
    if (!system || has_failed(err)) return (tr_expr){0};
    if (!check_name(system, text_of(name), kind == TR_TIME, err)) return expr_at(system->graph, 0);
    return add_input(system, name, kind, value, err);
}

Expr tr_system_start(System *system, Text name, Expr formula, double value, tr_error *err)
{
    name = keep_text(system, name, err);
    if (!has_failed(err) && tr_system_find(system, name))
        tr_fail(err, TR_INVALID, (Place){0}, "the name '%.*s' is taken", TEXT(name));
    if (has_failed(err)) return expr_at(system->graph, 0);
    const Expr symbol = add_input(system, name.at, TR_START, value, err);
    Input *input = tr_system_input(system, symbol);
    if (input) input->definition = input->guess = formula;
    return symbol;
}

// x = choose(follows, f(t), number),   x' = choose(follows, f'(t), 0)                   (T240)
void tr_system_follow(System *system, Expr symbol, Expr formula, tr_error *err)
{
    char name[300];
    const uint32_t at = node_of(symbol)->a;
    snprintf(name, sizeof name, "%.255s.follows", system->inputs[at].name);
    const Expr follows = tr_input(system, name, TR_MODE, 1, err);
    if (has_failed(err)) return;
    Input *input = &system->inputs[at];
    input->follows = follows;
    input->signal = choose(follows, formula, symbol);
    input->rate_known = true;
}

uint32_t tr_system_follower(const System *system, uint32_t input)
{
    const Input *follower = tr_system_input(system, system->inputs[input].follows);
    return follower ? (uint32_t)(follower - system->inputs) : NO_INPUT;
}

void tr_system_unfollow(System *system)
{
    for (uint32_t i = 0; i < system->input_count; i++) {
        const uint32_t follower = tr_system_follower(system, i);
        if (follower != NO_INPUT) system->inputs[follower].definition = zero(system->graph);
    }
}

size_t tr_input_count(const System *system) { return system ? system->input_count : 0; }

tr_kind tr_input_kind(const System *system, size_t index)
{
    return system && index < system->input_count ? system->inputs[index].kind : TR_PARAMETER;
}

double tr_input_value(const System *system, size_t index)
{
    return system && index < system->input_count ? system->inputs[index].value : 0;
}

const char *tr_input_name(const System *system, size_t index)
{
    return system && index < system->input_count ? system->inputs[index].name : NULL;
}

const char *tr_input_unit(const System *system, size_t index)
{
    if (!system || index >= system->input_count) return NULL;
    return tr_port_unit(&system->inputs[index].port);
}

const char *tr_input_doc(const System *system, size_t index)
{
    return system && index < system->input_count ? system->inputs[index].port.doc : NULL;
}

bool tr_input_range(const System *system, size_t index, double *min, double *max)
{
    if (!system || index >= system->input_count) return false;
    const Port *port = &system->inputs[index].port;
    if (min) *min = port->min;
    if (max) *max = port->max;
    return port->min > -(double)INFINITY || port->max < (double)INFINITY;
}

const char *tr_input_quantity(const System *system, size_t index)
{
    if (!system || index >= system->input_count) return NULL;
    return tr_quantity_words(system->inputs[index].port.quantity);
}

// In systems made by hand x' = v says what v is: the rate of x.
static void note_rate(System *system, const Input *position)
{
    Input *velocity = tr_system_input(system, position->rate);
    if (position->kind != TR_POSITION || !velocity || velocity->kind != TR_VELOCITY) return;
    if (velocity->port.quantity == QUANTITY_UNKNOWN)
        velocity->port.rate_of = (uint32_t)(position - system->inputs);
}

void tr_rate_set(System *system, tr_expr input, tr_expr rate, tr_error *err)
{
    if (!system || has_failed(err)) return;
    const Graph *graph = system->graph;
    Input *at = input.graph == graph ? tr_system_input(system, input) : NULL;
    if (graph->failed)
        tr_fail_memory(err);
    else if (!at || at->kind == TR_PARAMETER)
        tr_fail(err, TR_USAGE, (Place){0},
                at ? "parameters have no rate" : "only inputs have a rate");
    else if (rate.graph != graph || !rate.id)
        tr_fail(err, TR_USAGE, (Place){0}, "the rate of '%s' is a failed expression", at->name);
    else {
        at->rate = rate;
        note_rate(system, at);
    }
}

// ---- formulas ------------------------------------------------------------------------------

tr_expr tr_constant(System *system, double value)
{
    return system ? number(system->graph, value) : (tr_expr){0};
}

tr_expr tr_formula(System *system, const char *formula, tr_error *err)
{
    if (!system) return (tr_expr){0};
    const Scope scope = tr_system_scope(system);
    return tr_formula_parse(system->graph, &scope, text_of(formula), place_at(1, 1), err);
}

void tr_define(System *system, const char *head, const char *formula, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!system || has_failed(err)) return;
    if (!head) head = "";
    if (strchr(head, '(')) {
        tr_system_function(system, text_of(head), text_of(formula), place_at(1, 1), err);
        return;
    }
    const Expr meaning = tr_formula(system, formula, err);
    if (!has_failed(err)) tr_system_name(system, text_of(head), meaning, err);
}

void tr_system_table(System *system, Text name, const Table *table, bool holds, tr_error *err)
{
    Graph *graph = system->graph;
    Function *function = tr_arena_alloc(&graph->arena, 1, sizeof *function);
    if (!function) tr_fail_memory(err);
    const Text kept = keep_text(system, name, err);
    if (!function || has_failed(err) || !check_name(system, kept, false, err)) {
        tr_table_free(table);
        return;
    }
    *function =
        (Function){.name = kept, .argument_count = table_is_plane(table) ? 2 : 1, .holds = holds};
    function->table = tr_table_add(graph, table);
    if (graph->failed)
        tr_fail_memory(err);
    else
        enter_name(system, (Named){.name = kept, .function = function}, err);
}

void tr_define_table(System *system, const char *name, const double *x, size_t nx, const double *y,
                     size_t ny, const double *value, int degree, bool hold, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!system || has_failed(err)) return;
    if (nx > UINT32_MAX || ny > UINT32_MAX) tr_fail(err, TR_USAGE, (Place){0}, "table too large");
    const Table *table =
        tr_table_through(x, (uint32_t)nx, y, (uint32_t)ny, value, degree, false, err);
    if (table) tr_system_table(system, text_of(name), table, hold, err);
}

// ---- outputs -------------------------------------------------------------------------------

static bool output_equal(const void *owner, uint32_t index, const void *key)
{
    return text_is(*(const Text *)key, ((const System *)owner)->outputs[index].name);
}

static uint32_t output_slot(const System *system, Text name)
{
    return hash_slot(&system->output_hash, tr_hash_bytes(name.at, name.length), output_equal,
                     system, &name);
}

const Output *tr_system_output(const System *system, Text name)
{
    if (!system->output_count) return NULL;
    const uint32_t found = system->output_hash.slots[output_slot(system, name)].index;
    return found ? &system->outputs[found - 1] : NULL;
}

void tr_output_list(const System *system, const char *name, Exprs *list)
{
    const Output *output = tr_system_output(system, text_of(name));
    assert(output);
    tr_exprs_add(list, output->values, (size_t)output->rows * output->columns);
}

void tr_system_list(const System *system, const char *name, Exprs *list)
{
    char room[64];
    tr_output_list(system, tr_system_inner(system, name, room), list);
}

static const Expr *keep_values(System *system, const Expr *values, size_t count)
{
    Expr *kept = tr_arena_alloc(&system->graph->arena, count, sizeof *kept);
    for (size_t i = 0; kept && i < count; i++) kept[i] = values[i];
    return kept;
}

void tr_output(System *system, const char *name, const tr_expr *values, size_t rows, size_t columns,
               tr_error *err)
{
    if (!system || has_failed(err)) return;
    if (!name) name = "";
    const Text text = text_of(name);
    if (!tr_formula_is_name(text) || tr_system_output(system, text)) {
        tr_fail(err, TR_INVALID, (Place){0}, "the output name '%.60s' is %s", name,
                tr_formula_is_name(text) ? "taken" : "not a name");
        return;
    }
    if (columns && rows > (1u << 30) / columns) {
        tr_fail(err, TR_USAGE, (Place){0}, "the output '%.60s' is too large", name);
        return;
    }
    for (size_t i = 0; i < rows * columns; i++)
        if (values[i].graph != system->graph || !values[i].id) {
            if (system->graph->failed) tr_graph_refuse(system->graph, err);
            tr_fail(err, TR_USAGE, (Place){0}, "the output '%.60s' holds a failed expression%s%s",
                    name, system->graph->misuse ? ": " : "",
                    system->graph->misuse ? system->graph->misuse : "");
            return;
        }
    const Expr *kept = keep_values(system, values, rows * columns);
    const char *kept_name = tr_arena_text(&system->graph->arena, name, text.length);
    if (!kept || !kept_name ||
        !tr_grow((void **)&system->outputs, &system->output_capacity, system->output_count + 1,
                 sizeof *system->outputs) ||
        !hash_reserve(&system->output_hash, 1)) {
        tr_fail_memory(err);
        return;
    }
    hash_insert(&system->output_hash, output_slot(system, text), system->output_count,
                tr_hash_bytes(text.at, text.length));
    system->outputs[system->output_count++] = (Output){.name = kept_name,
                                                       .rows = (uint32_t)rows,
                                                       .columns = (uint32_t)columns,
                                                       .values = kept,
                                                       .port = port_unknown()};
}

void tr_system_put(System *system, const char *name, const Expr *values, size_t rows,
                   size_t columns, tr_error *err)
{
    const Output *old = tr_system_output(system, text_of(name));
    if (!old) {
        tr_output(system, name, values, rows, columns, err);
        return;
    }
    const Expr *kept = keep_values(system, values, rows * columns);
    Output *place = &system->outputs[old - system->outputs];
    if (kept)
        place->values = kept, place->rows = (uint32_t)rows, place->columns = (uint32_t)columns;
    else
        tr_fail_memory(err);
}

void tr_system_column(System *system, const char *name, const char *label, Expr value, Port port,
                      tr_error *err)
{
    const Text kept = keep_text(system, text_of(label), err);
    tr_output(system, name, &value, 1, 1, err);
    if (has_failed(err)) return;
    Output *output = &system->outputs[system->output_count - 1];
    output->label = kept.at;
    output->port = port;
}

const Port *tr_system_column_port(const System *system, const char *label)
{
    for (uint32_t i = 0; i < system->input_count; i++) {
        const Input *input = &system->inputs[i];
        const bool is_recorded =
            input->kind == TR_TIME || input->kind == TR_POSITION || input->kind == TR_VELOCITY;
        if (is_recorded && strcmp(input->name, label) == 0) return &input->port;
    }
    for (uint32_t i = 0; i < system->output_count; i++) {
        const Output *output = &system->outputs[i];
        if (output->label && strcmp(output->label, label) == 0) return &output->port;
    }
    return NULL;
}

size_t tr_output_count(const System *system) { return system ? system->output_count : 0; }

const char *tr_output_name(const System *system, size_t index, size_t *rows, size_t *columns)
{
    if (!system || index >= system->output_count) return NULL;
    if (rows) *rows = system->outputs[index].rows;
    if (columns) *columns = system->outputs[index].columns;
    return system->outputs[index].name;
}

const char *tr_output_unit(const System *system, size_t index)
{
    if (!system || index >= system->output_count) return NULL;
    return tr_quantity_unit(system->outputs[index].port.quantity);
}

const char *tr_output_quantity(const System *system, size_t index)
{
    if (!system || index >= system->output_count) return NULL;
    return tr_quantity_words(system->outputs[index].port.quantity);
}

// ---- life ----------------------------------------------------------------------------------

System *tr_system_new(tr_error *err)
{
    if (has_failed(err)) return NULL;
    System *system = calloc(1, sizeof *system);
    if (system) system->graph = tr_graph_new();
    if (!system || !system->graph) {
        free(system);
        tr_fail_memory(err);
        return NULL;
    }
    return system;
}

void tr_system_free(System *system)
{
    if (!system) return;
    tr_resolution_free(&system->resolution);
    tr_arena_free(&system->source.origins);
    tr_graph_free(system->graph);
    free(system->inputs);
    free(system->outputs);
    free(system->names);
    free(system->quaternions);
    free(system->rows);
    free(system->dropped);
    free(system->turned);
    free(system->latches);
    free(system->touchings);
    free(system->alarms);
    free(system->conditions);
    free(system->formulas);
    free(system->scene.drawings);
    tr_hash_free(&system->name_hash);
    tr_hash_free(&system->output_hash);
    tr_hash_free(&system->condition_hash);
    free(system);
}

// ---- evaluation ----------------------------------------------------------------------------

bool tr_evaluation_called(const char *name, Evaluation *evaluation, tr_error *err)
{
    static const char *const names[] = {
        [EVALUATE_NATIVE] = "native", [EVALUATE_INTERPRETER] = "interpreter"};
    for (int i = 0; name && i < 2; i++)
        if (strcmp(name, names[i]) == 0) {
            *evaluation = (Evaluation)i;
            return true;
        }
    if (name)
        tr_fail(err, TR_USAGE, (Place){0}, "evaluate: '%s' or '%s', not '%.80s'", names[0],
                names[1], name);
    return !name;
}
