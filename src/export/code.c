// SPDX-License-Identifier: Apache-2.0
// The description that every language prints from: who is what in the state, and functions from the
// programs of a run. slopes.c has their derivatives, start.c what there is at t = 0.
#include "export/code.h"

#include "export/identifier.h"
#include "export/unreduced.h"
#include "plan/start.h"
#include "plan/switch.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- life ----------------------------------------------------------------------------------

void tr_code_free_names(CodeNames *names)
{
    for (uint32_t i = 0; i < names->count; i++) free(names->at[i].id);
    free(names->at);
}

void tr_code_free(Export *code)
{
    if (!code) return;
    CodeNames *const names[] = {&code->x, &code->u,     &code->p,
                                &code->y, &code->fixed, &code->latches};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) tr_code_free_names(names[i]);
    tr_code_free_samples(&code->samples);
    for (int i = 0; i < CODE_PARTS; i++) free(code->part[i].entry);
    for (int i = 0; i < 2; i++) free(code->given[i].place);
    free(code->mode);
    free(code->start);
    free(code->signal_start);
    free(code->quaternion);
    free(code->projected);
    free(code->jacobian_row);
    free(code->input_node);
    tr_flat_free(&code->flat);
    tr_flow_free(code->flow);
    tr_plan_free(code->plan);
    free(code);
}

// Whether two functions are the same
static bool are_same(const Export *code, CodePart a, CodePart b)
{
    const CodeFunction *f = &code->part[a], *g = &code->part[b];
    return f->count == g->count && !memcmp(f->value, g->value, f->count * sizeof *f->value) &&
           !memcmp(f->entry, g->entry, f->count * sizeof *f->entry);
}

// ---- names ---------------------------------------------------------------------------------

// Names that are alike get numbers: the last one, unlike all before it, and unlike u_name, which is
// an array of generated code.
static void make_unique(CodeNames *names)
{
    char *id = names->at[names->count - 1].id;
    const char *own = strchr(id, '_');
    if (own && strcmp(own, "_name") == 0) memcpy(id + strlen(id), "_1", 3); // there is room
    const size_t length = strlen(id);
    for (uint32_t number = 2, k = 0; k + 1 < names->count;) {
        if (strcmp(names->at[k].id, id) != 0) {
            k++;
            continue;
        }
        snprintf(id + length, 12, "_%u", number++);
        k = 0;
    }
}

void tr_code_name(Export *code, CodeNames *names, const char *prefix, const char *name,
                  const Port *port, uint32_t input)
{
    char *id = tr_identifier_new(prefix, name);
    CodeName *at = id ? realloc(names->at, (names->count + 1u) * sizeof *at) : NULL;
    if (!at) {
        free(id);
        code->failed = true;
        return;
    }
    names->at = at;
    at += names->count++;
    *at = (CodeName){.name = name,
                     .id = id,
                     .unit = port ? tr_port_unit(port) : "",
                     .doc = port ? port->doc : "",
                     .least = port ? port->min : -(double)INFINITY,
                     .most = port ? port->max : (double)INFINITY,
                     .input = input,
                     .port = port};
    if (input != NO_INPUT) at->value = code->flow->inputs[input];
    make_unique(names);
}

static void add_input(Export *code, CodeNames *names, const char *prefix, uint32_t input)
{
    const Input *of = &code->system->inputs[input];
    tr_code_name(code, names, prefix, of->name, &of->port, input);
}

// Whether one is, in the present chart; in the unreduced form all are that no motion drives, for
// charts change.
static bool is_integrated(const Export *code, uint32_t input, const bool *known)
{
    const Input *of = &code->system->inputs[input];
    if (!code->options.is_unreduced) return known[input];
    return !is_motion_driven(of) && (of->kind != TR_POSITION || known[input]);
}

// Which way friction heads, and the fastest impact so far: numbers that events set
static void name_event_numbers(Export *code)
{
    const System *s = code->system;
    bool any = false;
    for (uint32_t i = 0; i < s->latch_count; i++) {
        any = any || s->latches[i].opens;
        for (uint32_t k = 0; k < s->latches[i].row_count; k++) {
            const Expr heading = s->latches[i].heading[k];
            if (heading.id)
                add_input(code, &code->x, "z_",
                          (uint32_t)(tr_system_input(s, heading) - s->inputs));
        }
    }
    if (any) tr_code_name(code, &code->x, "z_", "fastest impact", NULL, NO_INPUT);
}

// q, v, z, of which the chart at the start integrates some
static void name_state(Export *code)
{
    const System *s = code->system;
    const ChartPrograms *c = code->flow->now->programs;
    bool *known = calloc(s->input_count + 1u, sizeof *known);
    if (!known) {
        code->failed = true;
        return;
    }
    for (uint32_t k = 0; k < c->known; k++) known[c->place[k]] = true;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION && !s->inputs[i].is_extra)
            add_input(code, &code->x, "q_", i);
    code->positions = code->x.count;
    for (uint32_t i = 0; i < s->input_count && s->order != 1; i++)
        if (s->inputs[i].kind == TR_VELOCITY) add_input(code, &code->x, "v_", i);
    code->velocities = code->x.count - code->positions;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *of = &s->inputs[i];
        const bool is_extra = (of->kind == TR_POSITION && of->is_extra) || of->kind == TR_TOUCH;
        const bool is_speed = (of->kind == TR_SPEED || of->kind == TR_INNER) && known[i];
        const bool has_speeds = !code->options.is_unreduced;
        if (is_extra || (is_speed && has_speeds)) add_input(code, &code->x, "z_", i);
    }
    code->rated = code->x.count;
    tr_code_name_held(code);
    if (code->options.is_unreduced) name_event_numbers(code);
    for (uint32_t i = 0; i < code->x.count; i++)
        code->x.at[i].is_integrated =
            code->x.at[i].input == NO_INPUT || is_integrated(code, code->x.at[i].input, known);
    free(known);
}

static bool is_fixed(const Export *code, uint32_t input)
{
    const char *fix = code->options.fix;
    if (code->flow->footing->fold[input] != FOLD_NOTHING) return true;
    if (!fix) return false;
    if (strcmp(fix, "all") == 0) return true;
    for (Text item = tr_next_item(&fix); item.length; item = tr_next_item(&fix))
        if (text_is(item, code->system->inputs[input].name)) return true;
    return false;
}

static void name_settings(Export *code)
{
    const System *s = code->system;
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (!is_setting(&s->inputs[i]) && !s->inputs[i].is_controlled) continue;
        if (s->inputs[i].kind == TR_INPUT)
            add_input(code, &code->u, "u_", i);
        else
            add_input(code, is_fixed(code, i) ? &code->fixed : &code->p, "p_", i);
    }
    for (uint32_t i = 0; i < code->u.count; i++) {
        const uint32_t follower = tr_system_follower(s, code->u.at[i].input);
        if (follower != NO_INPUT && code->flow->inputs[follower] != 0)
            code->u.at[i].value = (double)NAN;
    }
    for (uint32_t i = 0; i < s->latch_count; i++)
        tr_code_name(code, &code->latches, "mode_", s->latches[i].name, NULL, NO_INPUT);
    for (uint32_t i = 0; code->options.is_unreduced && i < code->flow->footing->constraints; i++)
        tr_code_name(code, &code->latches, "mode_pivot_", s->rows[i].name, NULL, NO_INPUT);
}

// Each name that is asked for must be there.
static bool check_list(const char *list, const char *all, const char *const *names, size_t count,
                       const char *what, tr_error *err)
{
    if (!list || (all && strcmp(list, all) == 0)) return true;
    for (Text item = tr_next_item(&list); item.length; item = tr_next_item(&list)) {
        Suggestion nearest = {.wanted = item};
        char hint[TR_HINT_SIZE];
        size_t k = 0;
        for (; k < count && !text_is(item, names[k]); k++) tr_suggest(&nearest, text_of(names[k]));
        if (k < count) continue;
        tr_fail(err, TR_USAGE, (Place){0}, "there is no %s '%.*s'%s", what, TEXT(item),
                tr_hint(&nearest, hint));
        return false;
    }
    return true;
}

// Outputs that are asked for must be there; the state is all in x.
static bool check_outputs(const Export *code, uint32_t states, tr_error *err)
{
    const Flow *flow = code->flow;
    const char *list = code->options.outputs;
    for (Text item = list ? tr_next_item(&list) : (Text){0}; item.length;
         item = tr_next_item(&list))
        for (uint32_t i = 0; i < states; i++) {
            if (!text_is(item, flow->labels[i])) continue;
            tr_fail(err, TR_USAGE, (Place){0},
                    "'%.*s' is no output but part of the state, which is all in x", TEXT(item));
            return false;
        }
    return check_list(code->options.outputs, NULL, flow->labels + states,
                      flow->column_count - states, "output", err);
}

// What is recorded behind the state, by its columns
static uint32_t *choose_outputs(Export *code, tr_error *err)
{
    const Flow *flow = code->flow;
    const System *s = code->system;
    const uint32_t states = tr_system_inputs(s, TR_POSITION, NULL) +
                            (s->order == 1 ? 0 : tr_system_inputs(s, TR_VELOCITY, NULL));
    uint32_t *column = calloc(flow->column_count + 1u, sizeof *column);
    if (!column) return code->failed = true, NULL;
    if (!check_outputs(code, states, err)) return free(column), NULL;
    for (uint32_t i = states; i < flow->column_count; i++) {
        const char *list = code->options.outputs;
        bool is_wanted = !list;
        for (Text item = list ? tr_next_item(&list) : (Text){0}; item.length && !is_wanted;
             item = tr_next_item(&list))
            is_wanted = text_is(item, flow->labels[i]);
        if (!is_wanted) continue;
        const Port *port = tr_system_column_port(s, flow->labels[i]);
        column[code->y.count] = i;
        tr_code_name(code, &code->y, "y_", flow->labels[i], port, NO_INPUT);
    }
    return column;
}

static bool check_fixed(const Export *code, tr_error *err)
{
    const System *s = code->system;
    const char **names = calloc(s->input_count + 1u, sizeof *names);
    size_t count = 0;
    if (!names) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (is_setting(&s->inputs[i]) && s->inputs[i].kind == TR_PARAMETER)
            names[count++] = s->inputs[i].name;
    const bool good = check_list(code->options.fix, "all", names, count, "parameter", err);
    free(names);
    return good;
}

// ---- what inputs of programs are -----------------------------------------------------------

// 1 while an input follows its formula of t: until it is a number
static uint32_t follower_node(Export *code, uint32_t input)
{
    for (uint32_t k = 0; k < code->u.count; k++)
        if (tr_system_follower(code->system, code->u.at[k].input) == input) {
            const uint32_t u = tr_flat_argument(&code->flat, ARGUMENT_U, k);
            return tr_flat_node(&code->flat, OP_NOT_EQUAL, u, u, 0);
        }
    return tr_flat_number(&code->flat, code->flow->inputs[input]);
}

static void map_names(Export *code, const CodeNames *names, Argument which)
{
    for (uint32_t k = 0; k < names->count; k++)
        if (names->at[k].input != NO_INPUT)
            code->input_node[names->at[k].input] = tr_flat_argument(&code->flat, which, k);
}

// What is no argument is a number: what contacts do, what noise is, and sides of switches, which
// are what formulas say
static void map_inputs(Export *code)
{
    const System *s = code->system;
    const uint32_t count = s->input_count + code->flow->switch_count;
    code->input_node = calloc(count + 1u, sizeof *code->input_node);
    if (!code->input_node) {
        code->failed = true;
        return;
    }
    for (uint32_t i = 0; i < s->input_count; i++) {
        const bool is_number = isfinite(code->flow->inputs[i]) && s->inputs[i].kind != TR_NOISE;
        code->input_node[i] = tr_flat_number(&code->flat, is_number ? code->flow->inputs[i] : 0);
    }
    for (uint32_t i = s->input_count; i < count; i++)
        code->input_node[i] = tr_flat_number(&code->flat, 0);
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_TIME)
            code->input_node[i] = tr_flat_argument(&code->flat, ARGUMENT_T, 0);
    map_names(code, &code->x, ARGUMENT_X);
    map_names(code, &code->u, ARGUMENT_U);
    map_names(code, &code->p, ARGUMENT_P);
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_MODE && tr_code_entry(code, i) == code->x.count)
            code->input_node[i] = follower_node(code, i);
    tr_code_map_held(code);
    if (code->options.is_unreduced) tr_code_map_found(code);
}

// ---- functions -----------------------------------------------------------------------------

bool tr_code_open(Export *code, CodePart part, uint32_t count)
{
    CodeFunction *f = &code->part[part];
    f->entry = calloc(2 * (size_t)count + 1, sizeof *f->entry);
    f->value = f->entry ? f->entry + count : NULL;
    f->count = f->entry ? count : 0;
    for (uint32_t k = 0; k < f->count; k++) f->entry[k] = k;
    code->failed = code->failed || !f->entry;
    return f->entry;
}

// Outputs of a program become a function; `wanted` NULL: all.
void tr_code_program(Export *code, CodePart part, const tr_program *program, const uint32_t *wanted,
                     uint32_t count)
{
    uint32_t *all = NULL;
    if (!program || !tr_code_open(code, part, count)) return;
    if (!wanted) {
        wanted = all = calloc(count + 1u, sizeof *all);
        for (uint32_t k = 0; all && k < count; k++) all[k] = k;
    }
    if (wanted)
        tr_flat_program(&code->flat, program, code->input_node, wanted, count,
                        code->part[part].value);
    code->failed = code->failed || !wanted || code->flat.failed;
    free(all);
}

static const tr_program *chart_program(Export *code, ChartProgram which, tr_error *err)
{
    return tr_chart_program(code->plan, code->flow->now->programs, which, err);
}

// The entry of x that an input is
uint32_t tr_code_entry(const Export *code, uint32_t input)
{
    uint32_t k = 0;
    while (k < code->x.count && code->x.at[k].input != input) k++;
    return k;
}

// The rates of the state, resolved, as expressions of a system of one's own
void tr_code_rates(const Export *code, const System *s, Exprs *list)
{
    for (uint32_t k = 0; k < code->x.count; k++) {
        const uint32_t input = code->x.at[k].input;
        const Expr rate = input != NO_INPUT ? s->inputs[input].rate : zero(s->graph);
        exprs_add(list, rate.id ? rate : zero(s->graph));
    }
}

// Of entries that a run integrates, or of the others: which outputs of a program, and where to
static void take_mixed(Export *code, const tr_program *own, const tr_program *all, uint32_t *wanted,
                       uint32_t *value)
{
    const ChartPrograms *c = code->flow->now->programs;
    CodeFunction *f = &code->part[PART_RATES];
    for (int runs = 0; runs < 2; runs++) {
        uint32_t count = 0;
        for (uint32_t k = 0; k < code->x.count; k++) {
            uint32_t from = 0;
            while (from < c->known && c->place[from] != code->x.at[k].input) from++;
            if (code->x.at[k].is_integrated == runs) wanted[count++] = runs ? from : k;
        }
        tr_flat_program(&code->flat, runs ? own : all, code->input_node, wanted, count, value);
        for (uint32_t k = 0, i = 0; k < code->x.count; k++)
            if (code->x.at[k].is_integrated == runs) f->value[k] = value[i++];
    }
}

// What a run integrates has the operations of a run; the rest comes from one program of all.
static void take_rates(Export *code, tr_error *err)
{
    const ChartPrograms *c = code->flow->now->programs;
    const tr_program *own = chart_program(code, CHART_RATES, err);
    System *s = tr_chart_system(code->plan, c, err);
    Exprs list = {0};
    if (s) tr_code_rates(code, s, &list);
    tr_program *all = s ? tr_program_list(s, &list, code->flow->footing->fold, err) : NULL;
    if (all && own && tr_code_open(code, PART_RATES, code->x.count)) {
        uint32_t *place = calloc(2 * (size_t)code->x.count + 1, sizeof *place);
        if (place) take_mixed(code, own, all, place, place + code->x.count);
        code->failed = code->failed || !place;
        free(place);
    }
    tr_program_free(all);
    tr_system_free(s);
}

// A run takes the first stage of a step from what it watches (see tr_flow_first_rate).
static void take_first(Export *code, tr_error *err)
{
    const ChartPrograms *c = code->flow->now->programs;
    const tr_program *watch = chart_program(code, CHART_WATCH, err);
    if (!watch || !tr_code_open(code, PART_FIRST, code->x.count)) return;
    CodeFunction *f = &code->part[PART_FIRST];
    memcpy(f->value, code->part[PART_RATES].value, f->count * sizeof *f->value);
    uint32_t kept = 0, *of_run = calloc(2 * (size_t)c->known + 1, sizeof *of_run);
    if (!of_run) {
        code->failed = true;
        return;
    }
    for (uint32_t k = 0; k < c->known; k++) of_run[k] = k;
    tr_flat_program(&code->flat, watch, code->input_node, of_run, c->known, of_run + c->known);
    for (uint32_t k = 0; k < c->known; k++)
        f->value[tr_code_entry(code, c->place[k])] = of_run[c->known + k];
    free(of_run);
    if (are_same(code, PART_FIRST, PART_RATES)) {
        f->count = 0;
        return;
    }
    for (uint32_t k = 0; k < f->count; k++) // the others follow after the step
        if (code->x.at[k].is_integrated) {
            f->entry[kept] = k;
            f->value[kept++] = f->value[k];
        }
    f->count = kept;
}

// What jumps in t, where a run has it (T325)
static void take_jumps(Export *code, tr_error *err)
{
    const JumpPrograms *jumps = tr_chart_jumps(code->plan, code->flow->now->programs, err);
    if (!jumps || !jumps->count) return;
    code->strikes = jumps->strikes && code->system->order != 1;
    tr_code_program(code, PART_JUMPS, jumps->program, NULL, jumps->count);
}

static void take_quality(Export *code, tr_error *err)
{
    const ChartPrograms *c = code->flow->now->programs;
    const tr_program *watch = chart_program(code, CHART_WATCH, err);
    const uint32_t pivots = c->partition.count;
    if (!watch || !pivots) return;
    uint32_t *wanted = calloc(2 * (size_t)pivots + 2, sizeof *wanted);
    if (!wanted) {
        code->failed = true;
        return;
    }
    for (uint32_t k = 0; k < pivots; k++) {
        wanted[k] = c->watched.squares + c->partition.row[k];
        wanted[pivots + k] = c->watched.pivots + k;
    }
    wanted[2 * pivots] = c->watched.tilt;
    code->pivot_count = pivots;
    tr_code_program(code, PART_QUALITY, watch, wanted, 2 * pivots + 1);
    free(wanted);
}

// Columns are all positions, all velocities, then what is recorded besides.
static void take_columns(Export *code, const uint32_t *outputs, tr_error *err)
{
    const System *s = code->system;
    const tr_program *columns = chart_program(code, CHART_COLUMNS, err);
    if (!columns) return;
    tr_code_program(code, PART_OUTPUTS, columns, outputs, code->y.count);
    if (!tr_code_open(code, PART_FOLLOW, code->x.count)) return;
    CodeFunction *f = &code->part[PART_FOLLOW];
    uint32_t column = 0;
    f->count = 0;
    for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++)
        for (uint32_t i = 0; i < s->input_count; i++) {
            if ((int)s->inputs[i].kind != kind) continue;
            const uint32_t k = tr_code_entry(code, i), from = column++;
            if (k == code->x.count || code->x.at[k].is_integrated) continue;
            f->entry[f->count] = k;
            tr_flat_program(&code->flat, columns, code->input_node, &from, 1,
                            &f->value[f->count++]);
        }
}

// Speeds and inner velocities that the chart integrates, from all velocities
static void take_speeds(Export *code)
{
    const System *s = code->system;
    const Footing *footing = code->flow->footing;
    if (!footing->speeds || !tr_code_open(code, PART_SPEEDS, code->x.count)) return;
    CodeFunction *f = &code->part[PART_SPEEDS];
    uint32_t from = 0;
    f->count = 0;
    for (int inner = 0; inner < 2; inner++) {
        const uint32_t count = inner ? s->input_count : s->row_count;
        for (uint32_t i = inner ? 0 : footing->constraints; i < count; i++) {
            if (inner && s->inputs[i].kind != TR_INNER) continue;
            const uint32_t input =
                inner ? i : (uint32_t)(tr_system_input(s, s->rows[i].symbol) - s->inputs);
            const uint32_t k = tr_code_entry(code, input), which = from++;
            if (k == code->x.count) continue;
            f->entry[f->count] = k;
            tr_flat_program(&code->flat, footing->speeds, code->input_node, &which, 1,
                            &f->value[f->count++]);
        }
    }
}

// Which entries projecting moves, and which are quaternions
static void find_projected(Export *code)
{
    const System *s = code->system;
    const ChartPrograms *c = code->flow->now->programs;
    code->phi_count = c->projected; // of the reduced form
    code->projected_count = c->positions;
    code->projected = calloc(c->positions + 1u, sizeof *code->projected);
    code->quaternion = calloc(s->quaternion_count + 1u, sizeof *code->quaternion);
    if (!code->projected || !code->quaternion) {
        code->failed = true;
        return;
    }
    for (uint32_t k = 0; k < c->positions; k++)
        code->projected[k] = tr_code_entry(code, c->place[k]);
    for (uint32_t i = 0; i < code->flow->quaternion_count; i++)
        code->quaternion[code->quaternion_count++] = code->projected[code->flow->quaternions[i]];
}

static void take_projection(Export *code, tr_error *err)
{
    const ChartPrograms *c = code->flow->now->programs;
    if (!c->projected || code->failed) return;
    tr_code_program(code, PART_PHI, chart_program(code, CHART_PHI, err), NULL, c->projected);
    tr_code_program(code, PART_PROJECTION, chart_program(code, CHART_PROJECTION, err), NULL,
                    c->projected * (1 + c->positions));
}

// ---- all of it -----------------------------------------------------------------------------

static void take_reduced(Export *code, const uint32_t *outputs, tr_error *err)
{
    take_rates(code, err);
    if (code->failed || has_failed(err)) return; // the first stage is made of rates
    if (!code->options.is_single) {              // bits are not those of a run, and room is short
        take_first(code, err);
        take_quality(code, err);
        take_jumps(code, err);
    }
    take_columns(code, outputs, err);
    take_speeds(code);
    tr_code_samples(code, err);
    take_projection(code, err);
    if (code->options.is_fmu) {
        tr_code_watched(code, err);
        tr_code_sides(code, err);
        tr_code_signals(code, err);
        tr_code_tangent(code, outputs, err);
    } else
        tr_code_jacobian(code, err);
    if (code->options.differentiates) {
        tr_code_tangent(code, NULL, err);
        tr_code_second(code, err);
    }
}

static void take_functions(Export *code, tr_error *err)
{
    uint32_t *outputs = choose_outputs(code, err);
    if (outputs) {
        map_inputs(code);
        tr_code_start(code, err);
        find_projected(code);
        const bool good = !code->failed && !has_failed(err);
        if (good && code->options.is_unreduced) {
            tr_code_unreduced(code, outputs, err);
            if (!code->options.is_single) take_jumps(code, err);
            if (code->options.is_fmu) tr_code_signals(code, err);
        }
        if (good && !code->options.is_unreduced) take_reduced(code, outputs, err);
    }
    free(outputs);
    if (code->failed || code->flat.failed) tr_fail_memory(err);
}

Export *tr_code_new(const System *system, const CodeOptions *options, tr_error *err)
{
    Export *code = calloc(1, sizeof *code);
    if (!code) return tr_fail_memory(err), NULL;
    code->system = system, code->options = *options;
    code->plan = tr_plan_new(system, err);
    if (code->plan) code->plan->sweeps = options->opens;
    if (tr_plan_allows(code->plan, err)) code->flow = tr_flow_new(code->plan, NULL, err);
    if (code->flow && check_fixed(code, err)) {
        tr_flow_ready(code->flow, 1u << CHART_COLUMNS, err);
        if (!has_failed(err)) tr_flow_fill_all(code->flow, 0, code->flow->start);
        name_state(code);
        name_settings(code);
        if (!code->failed && !has_failed(err)) take_functions(code, err);
    }
    if (code->failed) tr_fail_memory(err);
    if (!has_failed(err)) return code;
    tr_code_free(code);
    return NULL;
}
