// SPDX-License-Identifier: Apache-2.0
#include "expr/system.h"

#include "expr/derivative.h"
#include "expr/walk.h"

#include <stdio.h>
#include <stdlib.h>

// ---- names ---------------------------------------------------------------------------------

static uint32_t name_hash(const void *owner, uint32_t index)
{
    const Text name = ((const System *)owner)->names[index].name;
    return tr_hash_bytes(name.at, name.length);
}

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
    return hash->slots[slot] ? &system->names[hash->slots[slot] - 1] : NULL;
}

enum { LONGEST_NAME = 100 };

// `t` is for time alone.
static bool check_name(const System *system, Text name, bool time, tr_error *err)
{
    const Place nowhere = {0};
    const int length = (int)(name.length > 60 ? 60 : name.length);
    if (!tr_formula_is_name(name))
        tr_fail(err, TR_INVALID, nowhere,
                "'%.*s' is not a name: letters, digits, _ and single points", length, name.at);
    else if (name.length > LONGEST_NAME)
        tr_fail(err, TR_INVALID, nowhere, "the name '%.*s...' is longer than %d characters", length,
                name.at, LONGEST_NAME);
    else if (tr_formula_reserved(name) && !(time && text_is(name, "t")))
        tr_fail(err, TR_INVALID, nowhere, "'%.*s' is a reserved name", length, name.at);
    else if (tr_system_find(system, name))
        tr_fail(err, TR_INVALID, nowhere, "the name '%.*s' is taken", length, name.at);
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
        !tr_hash_reserve(&system->name_hash, name_hash, system)) {
        tr_fail_memory(err);
        return false;
    }
    system->names[index] = named;
    system->name_count++;
    const uint32_t code = name_hash(system, index);
    hash_insert(&system->name_hash,
                hash_slot(&system->name_hash, code, name_equal, system, &named.name), index);
    return true;
}

static Text keep_text(System *system, Text text, tr_error *err)
{
    const char *kept = tr_arena_text(&system->graph->arena, text.at, text.length);
    if (!kept) tr_fail_memory(err);
    return (Text){kept, kept ? text.length : 0};
}

// Symbols are made for inputs alone, in the same order.
Input *tr_system_input(const System *system, Expr symbol)
{
    return symbol.id && op_of(symbol) == OP_SYMBOL ? &system->inputs[node_of(symbol)->a] : NULL;
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

static bool scope_name(void *owner, Text name, Expr *meaning, tr_error *err)
{
    (void)err;
    const Named *named = tr_system_find(owner, name);
    if (!named || named->function) return false;
    *meaning = named->meaning;
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

static void scope_offer(void *owner, Suggestion *suggestion)
{
    const System *system = owner;
    for (uint32_t i = 0; i < system->name_count; i++) tr_suggest(suggestion, system->names[i].name);
}

Scope tr_system_scope(System *system)
{
    return (Scope){system, scope_name, scope_function, scope_rate, scope_offer};
}

// ---- rates ---------------------------------------------------------------------------------

// Names the first input in the reach whose rate is not known.
static bool check_rates(const System *system, const Reach *reach, tr_error *err)
{
    for (uint32_t k = 0; k < reach->count; k++) {
        const Input *input = tr_system_input(system, expr_at(system->graph, reach->ids[k]));
        if (!input || input->rate.id) continue;
        tr_fail(err, TR_INVALID, (Place){0}, "the rate of '%s' is not known here", input->name);
        return false;
    }
    return true;
}

// d/dt = sum over inputs of their rate times d/d(input)
bool tr_system_rates(System *system, const Expr *of, size_t count, Expr *out, tr_error *err)
{
    Graph *graph = system->graph;
    Reach reach;
    Expr *symbols = malloc((2 * (size_t)system->input_count + 1) * sizeof *symbols);
    bool good = tr_reach(graph, of, count, &reach) && symbols;
    if (!good) tr_fail_memory(err);
    good = good && check_rates(system, &reach, err);
    if (good) {
        Expr *rates = symbols + system->input_count;
        size_t known = 0;
        for (uint32_t i = 0; i < system->input_count; i++) {
            if (!system->inputs[i].rate.id) continue;
            symbols[known] = system->inputs[i].symbol;
            rates[known++] = system->inputs[i].rate;
        }
        tr_forward(graph, of, count, symbols, rates, known, out);
    }
    for (size_t i = 0; !good && i < count; i++) out[i] = expr_at(graph, 0);
    tr_reach_free(&reach);
    free(symbols);
    return good;
}

const Input *tr_system_uses(const System *system, Expr x, tr_kind kind)
{
    Reach reach;
    const Input *found = NULL;
    if (tr_reach(system->graph, &x, 1, &reach))
        for (uint32_t k = 0; k < reach.count && !found; k++) {
            const Input *input = tr_system_input(system, expr_at(system->graph, reach.ids[k]));
            if (input && input->kind == kind) found = input;
        }
    tr_reach_free(&reach);
    return found;
}

// ---- making systems ------------------------------------------------------------------------

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
    tr_graph_free(system->graph);
    free(system->inputs);
    free(system->outputs);
    free(system->names);
    free(system->quaternions);
    free(system->rows);
    free(system->dropped);
    free(system->turned);
    free(system->latches);
    free(system->alarms);
    free(system->scene.drawings);
    tr_hash_free(&system->name_hash);
    free(system);
}

static Expr first_rate(Graph *graph, tr_kind kind)
{
    if (kind == TR_TIME) return one(graph);
    if (kind == TR_PARAMETER || kind == TR_INPUT) return zero(graph);
    return expr_at(graph, 0);
}

tr_expr tr_input(System *system, const char *name, tr_kind kind, double value, tr_error *err)
{
    if (!system || has_failed(err)) return (tr_expr){0};
    Graph *graph = system->graph;
    const Expr nothing = expr_at(graph, 0);
    if (!check_name(system, text_of(name), kind == TR_TIME, err)) return nothing;
    const Expr symbol = tr_symbol_new(graph, name);
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
                                                    .value = value};
    return symbol;
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
    else
        at->rate = rate;
}

tr_expr tr_constant(System *system, double value)
{
    return system ? number(system->graph, value) : (tr_expr){0};
}

tr_expr tr_formula(System *system, const char *formula, tr_error *err)
{
    if (!system) return (tr_expr){0};
    const Scope scope = tr_system_scope(system);
    return tr_formula_parse(system->graph, &scope, text_of(formula), (Place){1, 1}, err);
}

void tr_define(System *system, const char *head, const char *formula, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!system || has_failed(err)) return;
    if (!head) head = "";
    if (strchr(head, '(')) {
        tr_system_function(system, text_of(head), text_of(formula), (Place){1, 1}, err);
        return;
    }
    const Expr meaning = tr_formula(system, formula, err);
    if (!has_failed(err)) tr_system_name(system, text_of(head), meaning, err);
}

void tr_define_table(System *system, const char *name, const double *x, size_t nx, const double *y,
                     size_t ny, const double *value, int degree, bool hold, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!system || has_failed(err)) return;
    Graph *graph = system->graph;
    if (nx > UINT32_MAX || ny > UINT32_MAX) tr_fail(err, TR_USAGE, (Place){0}, "table too large");
    const Table *table =
        tr_table_through(&graph->arena, x, (uint32_t)nx, y, (uint32_t)ny, value, degree, hold, err);
    Function *function = tr_arena_alloc(&graph->arena, 1, sizeof *function);
    if (!function) tr_fail_memory(err);
    const Text kept = keep_text(system, text_of(name), err);
    if (!function || has_failed(err) || !check_name(system, kept, false, err)) return;
    *function = (Function){.name = kept, .argument_count = y ? 2 : 1};
    function->table = tr_table_add(graph, table);
    if (graph->failed)
        tr_fail_memory(err);
    else
        enter_name(system, (Named){.name = kept, .function = function}, err);
}

const Output *tr_system_output(const System *system, Text name)
{
    for (uint32_t i = 0; i < system->output_count; i++)
        if (text_is(name, system->outputs[i].name)) return &system->outputs[i];
    return NULL;
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
    for (size_t i = 0; i < rows * columns; i++)
        if (values[i].graph != system->graph || !values[i].id) {
            if (system->graph->failed) tr_fail_memory(err);
            tr_fail(err, TR_USAGE, (Place){0}, "the output '%.60s' holds a failed expression%s%s",
                    name, system->graph->misuse ? ": " : "",
                    system->graph->misuse ? system->graph->misuse : "");
            return;
        }
    if (columns && rows > (1u << 30) / columns) {
        tr_fail(err, TR_USAGE, (Place){0}, "the output '%.60s' is too large", name);
        return;
    }
    Expr *kept = tr_arena_alloc(&system->graph->arena, rows * columns, sizeof *kept);
    const char *kept_name = tr_arena_text(&system->graph->arena, name, text.length);
    if (!kept || !kept_name ||
        !tr_grow((void **)&system->outputs, &system->output_capacity, system->output_count + 1,
                 sizeof *system->outputs)) {
        tr_fail_memory(err);
        return;
    }
    for (size_t i = 0; i < rows * columns; i++) kept[i] = values[i];
    system->outputs[system->output_count++] = (Output){
        .name = kept_name, .rows = (uint32_t)rows, .columns = (uint32_t)columns, .values = kept};
}

void tr_system_put(System *system, const char *name, const Expr *values, size_t rows,
                   size_t columns, tr_error *err)
{
    const Output *old = tr_system_output(system, text_of(name));
    if (!old) {
        tr_output(system, name, values, rows, columns, err);
        return;
    }
    Expr *kept = tr_arena_alloc(&system->graph->arena, rows * columns, sizeof *kept);
    if (!kept) tr_fail_memory(err);
    for (size_t i = 0; kept && i < rows * columns; i++) kept[i] = values[i];
    Output *place = &system->outputs[old - system->outputs];
    if (kept)
        place->values = kept, place->rows = (uint32_t)rows, place->columns = (uint32_t)columns;
}

const char *tr_system_speed_name(const System *system, uint32_t input)
{
    for (uint32_t i = 0; i < system->row_count; i++)
        if (system->rows[i].is_speed &&
            system->rows[i].symbol.id == system->inputs[input].symbol.id)
            return system->rows[i].name;
    return system->inputs[input].name;
}

size_t tr_coordinate_length(const char *velocity)
{
    static const char ending[] = "_rate";
    const size_t length = strlen(velocity), end = sizeof ending - 1;
    return length > end && strcmp(velocity + length - end, ending) == 0 ? length - end : 0;
}

static bool uses_defined(const System *system, const Expr *of, size_t count)
{
    Reach reach;
    bool found = false;
    const bool good = tr_reach(system->graph, of, count, &reach);
    for (uint32_t k = 0; good && k < reach.count && !found; k++) {
        const Input *input = tr_system_input(system, expr_at(system->graph, reach.ids[k]));
        found = input && input->definition.id;
    }
    tr_reach_free(&reach);
    return found;
}

// Definitions use others: accelerations use velocities, and those use motions.
void tr_system_resolve(System *system, Expr *of, size_t count)
{
    Expr *from = calloc(2 * (size_t)system->input_count + 1, sizeof *from);
    Expr *to = from ? from + system->input_count : NULL;
    size_t defined = 0;
    if (!from) system->graph->failed = true;
    for (uint32_t i = 0; from && i < system->input_count; i++) {
        if (!system->inputs[i].definition.id) continue;
        from[defined] = system->inputs[i].symbol;
        to[defined++] = system->inputs[i].definition;
    }
    while (from && !system->graph->failed && uses_defined(system, of, count))
        tr_substitute(system->graph, of, count, from, to, defined, of);
    free(from);
}

static void tell(System *system, Expr symbol, double value)
{
    Input *input = symbol.id ? tr_system_input(system, symbol) : NULL;
    if (input) input->definition = number(system->graph, value);
}

void tr_system_latch(System *system)
{
    for (uint32_t i = 0; i < system->latch_count; i++) {
        const Latch *latch = &system->latches[i];
        for (uint32_t k = 0; k < latch->row_count; k++)
            system->rows[latch->rows[k]].is_open =
                latch->is_open || (latch->sticks[k] && latch->is_slipping);
        tell(system, latch->closed, !latch->is_open);
        tell(system, latch->slipping, !latch->is_open && latch->is_slipping);
        for (uint32_t k = 0; k < latch->row_count; k++)
            tell(system, latch->heading[k], latch->heads[k]);
    }
}

uint32_t tr_system_inner_input(const System *system, uint32_t input)
{
    for (uint32_t i = 0; i < system->turned_count; i++) {
        const Turned *turned = &system->turned[i];
        if (input >= turned->outer && input < turned->outer + 3)
            return turned->inner + (input - turned->outer);
    }
    return input;
}

uint32_t tr_system_velocities(const System *system, uint32_t *list)
{
    const uint32_t count = tr_system_inputs(system, TR_VELOCITY, list);
    for (uint32_t k = 0; list && k < count; k++) list[k] = tr_system_inner_input(system, list[k]);
    return count;
}

uint32_t tr_system_outer_input(const System *system, uint32_t input)
{
    for (uint32_t i = 0; i < system->turned_count; i++) {
        const Turned *turned = &system->turned[i];
        if (input >= turned->inner && input < turned->inner + 3)
            return turned->outer + (input - turned->inner);
    }
    return input;
}

const char *tr_system_inner(const System *system, const char *name, char room[64])
{
    snprintf(room, 64, "inner.%s", name);
    return system->turned_count ? room : name;
}

Expr tr_turned_out(const Turned *turned, const Expr x[3], int k)
{
    const Expr *C = turned->C + 3 * k;
    return add(add(mul(C[0], x[0]), mul(C[1], x[1])), mul(C[2], x[2]));
}

Expr tr_turned_in(const Turned *turned, const Expr x[3], int k)
{
    const Expr *C = turned->C + k;
    return add(add(mul(C[0], x[0]), mul(C[3], x[1])), mul(C[6], x[2]));
}

void tr_system_turn(System *system)
{
    for (uint32_t i = 0; i < system->turned_count; i++) {
        const Turned *turned = &system->turned[i];
        const Input *outer = &system->inputs[turned->outer];
        const Expr v[3] = {outer[0].symbol, outer[1].symbol, outer[2].symbol};
        for (int k = 0; k < 3; k++)
            system->inputs[turned->inner + (uint32_t)k].definition = tr_turned_in(turned, v, k);
    }
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

size_t tr_output_count(const System *system) { return system ? system->output_count : 0; }

const char *tr_output_name(const System *system, size_t index, size_t *rows, size_t *columns)
{
    if (!system || index >= system->output_count) return NULL;
    if (rows) *rows = system->outputs[index].rows;
    if (columns) *columns = system->outputs[index].columns;
    return system->outputs[index].name;
}

void tr_system_column(System *system, const char *name, const char *label, Expr value,
                      tr_error *err)
{
    const Text kept = keep_text(system, text_of(label), err);
    tr_output(system, name, &value, 1, 1, err);
    if (!has_failed(err)) system->outputs[system->output_count - 1].label = kept.at;
}

size_t tr_system_operations(System *system, const Expr *of, size_t count)
{
    const Graph *graph = system->graph;
    Reach reach;
    uint32_t *varies =
        tr_reach(system->graph, of, count, &reach) ? tr_reach_map(system->graph, &reach) : NULL;
    size_t operations = 0;
    for (uint32_t k = 0; varies && k < reach.count; k++) {
        const uint32_t id = reach.ids[k];
        const Node *node = &graph->nodes[id];
        const int operands = tr_op[node->op].operands;
        varies[id] = node->op == OP_SYMBOL && system->inputs[node->a].kind != TR_PARAMETER;
        for (int i = 0; i < operands; i++) varies[id] |= varies[node_operand(node, i)];
        operations += operands && varies[id];
    }
    tr_reach_free(&reach);
    free(varies);
    return operations;
}

tr_expr tr_time_derivative(System *system, tr_expr of, tr_error *err)
{
    if (!system || has_failed(err)) return (tr_expr){0};
    if (of.graph != system->graph) return expr_at(system->graph, 0);
    tr_system_rates(system, &of, 1, &of, err);
    return of;
}
