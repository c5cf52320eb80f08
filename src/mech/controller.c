// SPDX-License-Identifier: Apache-2.0
// Controllers and sensors, which act at samples (T321). What they hold in between are inputs of the
// kind TR_HELD, and inputs of the model that a controller sets. At a sample all formulas see what
// moves as it was just before; names of sensors and of what controllers set mean what these say at
// this instant, and names of states what they were.
#include "mech/tree.h"

#include <math.h>
#include <stdio.h>

enum { MOST_DELAY = 1000, UNREAD = 0, BUSY, READ };

// A number that is held: what it is after a sample, of whom, and where that is written
typedef struct Sampled {
    Expr symbol, next;
    uint32_t clocked;
    Value formula;
    const char *column; // that it is recorded under; NULL: none
    bool is_said;       // other samples at this instant see it, and not what it was
    int state;          // of reading `next`
} Sampled;

struct Sampling {
    Sampled *holds;
    uint32_t hold_count;
    Clocked *clocked;
    uint32_t clocked_count;
    uint32_t of; // that whose formulas are read
    bool says;   // a controller's: names of others mean what they say
};

static const Sensors *sensors_of(const Tree *tree) { return &tree->model->fields.sensors; }
static const Controllers *controllers_of(const Tree *tree)
{
    return &tree->model->fields.controllers;
}

static Expr symbol_of(const Tree *tree, uint32_t input)
{
    return tree->system->inputs[input].symbol;
}

// ---- what there is -------------------------------------------------------------------------

static uint32_t held_input(Tree *tree, Value name, const char *format, const char *part)
{
    char text[300];
    tr_error why = {0};
    snprintf(text, sizeof text, format, tr_tree_text(tree, name.text), part);
    const Expr symbol = tr_input(tree->system, text, TR_HELD, 0, &why);
    tr_tree_refuse_name(tree, name, &why);
    return has_failed(tree->err) ? NO_INPUT : node_of(symbol)->a;
}

static Sampled *add_hold(Tree *tree, uint32_t input, Value formula, const char *column)
{
    struct Sampling *s = tree->sampling;
    if (has_failed(tree->err)) return NULL;
    Sampled *hold = &s->holds[s->hold_count++];
    *hold = (Sampled){.symbol = symbol_of(tree, input),
                      .clocked = s->clocked_count - 1,
                      .formula = formula,
                      .column = column};
    return hold;
}

static Clocked *add_clocked(Tree *tree, Value name, bool is_sensor)
{
    struct Sampling *s = tree->sampling;
    Clocked *clocked = &s->clocked[s->clocked_count++];
    *clocked = (Clocked){.name = tr_tree_text(tree, name.text),
                         .is_sensor = is_sensor,
                         .place = name.place,
                         .noise = NO_INPUT};
    clocked->due = held_input(tree, name, is_sensor ? "sensors.%s.%s" : "controllers.%s.%s", "due");
    clocked->first =
        held_input(tree, name, is_sensor ? "sensors.%s.%s" : "controllers.%s.%s", "first");
    return clocked;
}

// Of a sensor: how many samples late it is
static uint32_t delay_of(Tree *tree, const Sensor *sensor)
{
    if (has_failed(tree->err)) return 0;
    const Expr formula = tr_tree_constant(tree, sensor->delay, "delay");
    if (has_failed(tree->err)) return 0;
    const double delay = tr_tree_decide(tree, RULE_STAYS, &formula, sensor->delay.place,
                                        "the delay of a sensor is another number");
    if (!(delay >= 0 && delay <= MOST_DELAY && delay == floor(delay)))
        tr_fail(tree->err, TR_INVALID, sensor->delay.place,
                "'delay' is a whole number of periods from 0 to %d", MOST_DELAY);
    return has_failed(tree->err) ? 0 : (uint32_t)delay;
}

static void make_sensor(Tree *tree, const Sensor *sensor)
{
    char part[20];
    const Value name = sensor->name;
    tr_tree_check_name(tree, name, "a sensor");
    tr_tree_check_reserved(tree, name);
    if (!has_failed(tree->err) && (!sensor->of.given || !sensor->period.given))
        tr_fail(tree->err, TR_INVALID, name.place,
                "the sensor '%.*s' needs 'of' what it measures, and its 'period'", TEXT(name.text));
    if (has_failed(tree->err)) return;
    add_clocked(tree, name, true);
    const uint32_t delay = delay_of(tree, sensor), own = held_input(tree, name, "%s%s", "");
    Sampled *hold = add_hold(tree, own, sensor->of, tr_tree_text(tree, name.text));
    if (!hold) return;
    hold->is_said = true;
    for (uint32_t k = 1; k <= delay && !has_failed(tree->err); k++) {
        snprintf(part, sizeof part, "%u", k);
        add_hold(tree, held_input(tree, name, "sensors.%s.delayed%s", part), sensor->of, NULL);
    }
}

static void make_own_state(Tree *tree, const Controller *controller, const Pair *pair)
{
    const Value key = pair->key;
    char name[300];
    tr_tree_check_name(tree, key, "a state");
    tr_tree_check_reserved(tree, key);
    if (!has_failed(tree->err) &&
        (tr_system_find(tree->system, key.text) || tr_model_what(tree->model, key.text)))
        tr_fail(tree->err, TR_INVALID, key.place,
                "the name '%.*s' is taken: a state of a controller has one of its own",
                TEXT(key.text));
    if (has_failed(tree->err)) return;
    const Expr start = tr_tree_constant(tree, pair->value, "start");
    snprintf(name, sizeof name, "%.*s", WHOLE(key.text));
    const uint32_t at = held_input(tree, controller->name, "%s.%s", name);
    if (has_failed(tree->err)) return;
    Input *input = &tree->system->inputs[at];
    input->value = tr_tree_value(tree, start);
    if (!is_number(start)) input->guess = start;
    const Pair *update = tr_pairs_find(&controller->update, key.text);
    add_hold(tree, at, update ? update->value : (Value){0}, input->name);
}

static void take_input(Tree *tree, const Pair *pair)
{
    const Value key = pair->key;
    Suggestion nearest = {.wanted = key.text};
    char hint[TR_HINT_SIZE];
    tr_settings_offer(&tree->model->fields.inputs, &nearest);
    const Named *named = tr_setting_find(&tree->model->fields.inputs, key.text)
                             ? tr_system_find(tree->system, key.text)
                             : NULL;
    Input *input = named ? tr_system_input(tree->system, named->meaning) : NULL;
    if (!input)
        tr_fail(tree->err, TR_INVALID, key.place,
                "what a controller sets is an input of the model, under 'inputs': '%.*s' is "
                "none%s",
                TEXT(key.text), tr_model_hint(tree->model, &nearest, hint));
    else if (input->is_controlled)
        tr_fail(tree->err, TR_INVALID, key.place, "two controllers set the input '%.*s'",
                TEXT(key.text));
    else if (input->follows.id)
        tr_fail(tree->err, TR_INVALID, key.place,
                "the input '%.*s' is a formula of t, which no controller can set: give it a number",
                TEXT(key.text));
    const Setting *given = tr_setting_find(&tree->model->fields.inputs, key.text);
    if (given && tr_tree_replaced(tree, given).given)
        tr_fail(tree->err, TR_INVALID, given->value.place,
                "the input '%.*s' is set by a controller, so a number for it has no effect: leave "
                "one of them out",
                TEXT(key.text));
    if (has_failed(tree->err)) return;
    input->is_controlled = true;
    Sampled *hold =
        add_hold(tree, (uint32_t)(input - tree->system->inputs), pair->value, input->name);
    if (hold) hold->is_said = true;
}

static void make_controller(Tree *tree, const Controller *controller)
{
    const Value name = controller->name;
    tr_tree_check_name(tree, name, "a controller");
    if (!has_failed(tree->err) && (!controller->period.given || !controller->outputs.count))
        tr_fail(tree->err, TR_INVALID, name.place,
                "the controller '%.*s' needs its 'period', and 'outputs': what it sets",
                TEXT(name.text));
    if (has_failed(tree->err)) return;
    add_clocked(tree, name, false);
    for (uint32_t i = 0; i < controller->states.count && !has_failed(tree->err); i++)
        make_own_state(tree, controller, &controller->states.at[i]);
    for (uint32_t i = 0; i < controller->update.count && !has_failed(tree->err); i++) {
        const Value key = controller->update.at[i].key;
        Suggestion nearest = {.wanted = key.text};
        char hint[TR_HINT_SIZE];
        tr_pairs_offer(&controller->states, &nearest);
        if (!tr_pairs_find(&controller->states, key.text))
            tr_fail(tree->err, TR_INVALID, key.place,
                    "'%.*s' is no state of the controller '%.*s'%s", TEXT(key.text),
                    TEXT(name.text), tr_hint(&nearest, hint));
    }
    for (uint32_t i = 0; i < controller->outputs.count && !has_failed(tree->err); i++)
        take_input(tree, &controller->outputs.at[i]);
}

void tr_tree_held(Tree *tree)
{
    const Sensors *sensors = sensors_of(tree);
    const Controllers *controllers = controllers_of(tree);
    if (!sensors->count && !controllers->count) return;
    size_t most = (size_t)sensors->count * (MOST_DELAY + 1);
    for (uint32_t i = 0; i < controllers->count; i++)
        most += controllers->at[i].states.count + controllers->at[i].outputs.count;
    struct Sampling *s = tree->sampling = tr_tree_room(tree, 1, sizeof *s);
    if (!s) return;
    s->holds = tr_tree_room(tree, most, sizeof *s->holds);
    s->clocked = tr_tree_room(tree, sensors->count + controllers->count, sizeof *s->clocked);
    if (!s->holds || !s->clocked) return;
    for (uint32_t i = 0; i < sensors->count && !has_failed(tree->err); i++)
        make_sensor(tree, &sensors->at[i]);
    for (uint32_t i = 0; i < controllers->count && !has_failed(tree->err); i++)
        make_controller(tree, &controllers->at[i]);
}

// ---- what it is after a sample -------------------------------------------------------------

static Expr due_of(const Tree *tree, const Sampled *hold)
{
    return symbol_of(tree, tree->sampling->clocked[hold->clocked].due);
}

// x+ = choose(due, f, x)                                                              (T321)
static void hold_until(Tree *tree, Sampled *hold, Expr at_sample)
{
    hold->next = choose(due_of(tree, hold), at_sample, hold->symbol);
    hold->state = READ;
}

// What one of its formulas says, with states of its own by their names
static Expr formula_of(Tree *tree, uint32_t clocked, Value formula)
{
    struct Sampling *s = tree->sampling;
    const uint32_t outer = s->of;
    const bool said = s->says;
    const Controllers *all = controllers_of(tree);
    const Controller *own =
        s->clocked[clocked].is_sensor ? NULL : &all->at[clocked - sensors_of(tree)->count];
    const uint32_t count = own ? own->states.count : 0;
    Local *states = tr_tree_room(tree, count + 1u, sizeof *states);
    if (!states) return zero(tree->graph);
    for (uint32_t i = 0; i < count; i++) {
        char name[300];
        const Text key = own->states.at[i].key.text;
        snprintf(name, sizeof name, "%.*s.%.*s", WHOLE(own->name.text), WHOLE(key));
        states[i] =
            (Local){tr_tree_text(tree, key), tr_system_find(tree->system, text_of(name))->meaning};
    }
    s->of = clocked, s->says = own != NULL;
    const Expr x = tr_tree_formula_with(tree, formula, states, count);
    s->of = outer, s->says = said;
    return x;
}

const char *tr_tree_sampled(const Tree *tree, const Input *due)
{
    const struct Sampling *s = tree->sampling;
    for (uint32_t i = 0; s && i < s->clocked_count; i++)
        if (&tree->system->inputs[s->clocked[i].due] == due) return s->clocked[i].name;
    return NULL;
}

static Sampled *hold_of(const Tree *tree, Expr symbol)
{
    struct Sampling *s = tree->sampling;
    for (uint32_t i = 0; i < s->hold_count; i++)
        if (s->holds[i].is_said && s->holds[i].symbol.id == symbol.id) return &s->holds[i];
    return NULL;
}

static bool read_next(Tree *tree, Sampled *hold)
{
    if (hold->state == READ) return true;
    if (hold->state == BUSY)
        tr_fail(tree->err, TR_INVALID, hold->formula.place,
                "'%s' depends on itself at one instant: let a state keep what it was",
                tr_system_input(tree->system, hold->symbol)->name);
    hold->state = BUSY;
    if (has_failed(tree->err)) return false;
    const Expr x = formula_of(tree, hold->clocked, hold->formula);
    if (!has_failed(tree->err)) hold_until(tree, hold, x);
    return !has_failed(tree->err);
}

// In formulas of controllers: a sensor, what a controller sets, or an output of the model, which is
// made of these anew
bool tr_tree_says(Tree *tree, Text name, Expr *meaning)
{
    struct Sampling *s = tree->sampling;
    if (!s || !s->says || has_failed(tree->err)) return false;
    const Pair *output = tr_pairs_find(&tree->model->fields.outputs, name);
    if (output) {
        if (++tree->parameter_depth > MOST_DELAY) return false; // the budget ends it before
        *meaning = tr_tree_formula_with(tree, output->value, NULL, 0);
        tree->parameter_depth--;
        return !has_failed(tree->err);
    }
    const Named *named = tr_system_find(tree->system, name);
    Sampled *hold = named && named->meaning.id ? hold_of(tree, named->meaning) : NULL;
    if (!hold || !read_next(tree, hold)) return false;
    return *meaning = hold->next, true;
}

// m = of + sd noise; late by n samples:
//   r_1+ = m,   r_k+ = r_k-1,   sensor+ = r_n, and all of them m at the first sample   (T321)
static void read_sensor(Tree *tree, const Sensor *sensor, uint32_t index, Sampled *hold)
{
    Clocked *own = &tree->sampling->clocked[index];
    const Expr first = symbol_of(tree, own->first);
    const Expr sd = tr_tree_constant(tree, sensor->sd, "sd");
    Expr m = formula_of(tree, index, sensor->of);
    if (has_failed(tree->err)) return;
    if (!tr_tree_is(tree, RULE_NOT_NEGATIVE, sd, sensor->sd.place,
                    "the deviation of '%s' is not negative", own->name))
        tr_fail(tree->err, TR_INVALID, sensor->sd.place,
                "the standard deviation of '%s' must not be negative", own->name);
    if (!is_zero(sd)) {
        own->noise = held_input(tree, sensor->name, "sensors.%s.%s", "noise");
        if (has_failed(tree->err)) return;
        m = add(m, mul(sd, symbol_of(tree, own->noise)));
    }
    uint32_t delay = 0;
    while (&hold[delay + 1] < tree->sampling->holds + tree->sampling->hold_count &&
           hold[delay + 1].clocked == index)
        delay++;
    for (uint32_t k = delay; k > 1; k--)
        hold_until(tree, &hold[k], choose(first, m, hold[k - 1].symbol));
    if (delay) hold_until(tree, &hold[1], m);
    hold_until(tree, hold, delay ? choose(first, m, hold[delay].symbol) : m);
}

static void read_all(Tree *tree)
{
    struct Sampling *s = tree->sampling;
    const Sensors *sensors = sensors_of(tree);
    for (uint32_t i = 0; i < s->hold_count && !has_failed(tree->err); i++) {
        Sampled *hold = &s->holds[i];
        if (s->clocked[hold->clocked].is_sensor && hold->is_said)
            read_sensor(tree, &sensors->at[hold->clocked], hold->clocked, hold);
    }
    for (uint32_t i = 0; i < s->hold_count && !has_failed(tree->err); i++) {
        Sampled *hold = &s->holds[i];
        if (s->clocked[hold->clocked].is_sensor) continue;
        if (!hold->formula.given) // a state that stays
            hold_until(tree, hold, hold->symbol);
        read_next(tree, hold);
    }
}

// ---- what the system has of it -------------------------------------------------------------

static Expr period_of(Tree *tree, uint32_t clocked, Expr *seed)
{
    const uint32_t sensors = sensors_of(tree)->count;
    const bool is_sensor = clocked < sensors;
    const Value formula = is_sensor ? sensors_of(tree)->at[clocked].period
                                    : controllers_of(tree)->at[clocked - sensors].period;
    const Expr period = tr_tree_constant(tree, formula, "period");
    *seed = is_sensor ? tr_tree_constant(tree, sensors_of(tree)->at[clocked].seed, "seed")
                      : zero(tree->graph);
    if (!has_failed(tree->err) &&
        !tr_tree_is(tree, RULE_POSITIVE, period, formula.place, "the period of '%s' is positive",
                    tree->sampling->clocked[clocked].name))
        tr_fail(tree->err, TR_INVALID, formula.place, "the period of '%s' must be positive",
                tree->sampling->clocked[clocked].name);
    return period;
}

// All that moves anything: not what is only recorded, and not samples themselves
static void list_felt(const System *s, Exprs *list)
{
    for (uint32_t i = 0; i < s->input_count; i++) {
        exprs_add(list, s->inputs[i].rate);
        exprs_add(list, s->inputs[i].definition);
    }
    for (uint32_t i = 0; i < s->row_count; i++) {
        const Row *row = &s->rows[i];
        const Expr parts[] = {row->rate, row->rest, row->bias, row->position, row->tension};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) exprs_add(list, parts[k]);
    }
    for (uint32_t i = 0; i < s->output_count; i++)
        if (!is_model_output(&s->outputs[i]))
            tr_exprs_add(list, s->outputs[i].values,
                         (size_t)s->outputs[i].rows * s->outputs[i].columns);
}

static bool find_felt(Tree *tree, Reach *felt)
{
    Exprs list = {0}, known = {0};
    list_felt(tree->system, &list);
    for (uint32_t i = 0; i < list.count; i++)
        if (list.at[i].id) exprs_add(&known, list.at[i]);
    const bool good =
        !list.failed && !known.failed && tr_reach(tree->graph, known.at, known.count, felt);
    if (!good) tree->graph->failed = true;
    tr_exprs_free(&list);
    tr_exprs_free(&known);
    return good;
}

static void record(Tree *tree, const Sampled *hold)
{
    char name[320];
    if (!hold->column || has_failed(tree->err)) return;
    const Input *input = tr_system_input(tree->system, hold->symbol);
    snprintf(name, sizeof name, "held.%s", hold->column);
    const Port port = input->port.quantity == QUANTITY_UNKNOWN
                          ? port_of(QUANTITY_UNKNOWN, "", PORT_OUTPUT)
                          : input->port;
    tr_system_column(tree->system, name, hold->column, hold->symbol, port, tree->err);
}

void tr_tree_samples(Tree *tree)
{
    struct Sampling *s = tree->sampling;
    System *system = tree->system;
    Reach felt = {0};
    if (!s || has_failed(tree->err)) return;
    read_all(tree);
    Expr *values = tr_tree_room(tree, 2 * (size_t)s->clocked_count + s->hold_count, sizeof *values);
    Held *held = tr_tree_room(tree, s->hold_count, sizeof *held);
    if (!values || !held || has_failed(tree->err) || !find_felt(tree, &felt)) return;
    for (uint32_t i = 0; i < s->clocked_count; i++)
        values[2 * i] = period_of(tree, i, &values[2 * i + 1]),
                   s->clocked[i].period = tr_tree_value(tree, values[2 * i]);
    for (uint32_t i = 0; i < s->hold_count; i++) {
        const Sampled *hold = &s->holds[i];
        const Input *input = tr_system_input(system, hold->symbol);
        values[2 * s->clocked_count + i] = hold->next;
        held[i] = (Held){.input = (uint32_t)(input - system->inputs),
                         .clocked = hold->clocked,
                         .is_felt = input->kind == TR_INPUT || tr_reach_has(&felt, hold->symbol)};
    }
    tr_reach_free(&felt);
    for (uint32_t i = 0; i < s->hold_count; i++) record(tree, &s->holds[i]);
    tr_output(system, "samples", values, 2 * s->clocked_count + s->hold_count, 1, tree->err);
    system->clocked = s->clocked, system->clocked_count = s->clocked_count;
    system->held = held, system->held_count = s->hold_count;
}
