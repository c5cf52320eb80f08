// SPDX-License-Identifier: Apache-2.0
// Controllers and sensors (T324). A run has one program for all that is held after a sample. Here
// it is in two: what sensors hold, of the state; and what controllers hold and set, of what they
// read, so that these can be called without a model of what they control. Both have the operations
// of the run: what sensors say there stands in the formulas of controllers, and becomes an
// argument.
#include "export/unreduced.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

void tr_code_free_samples(CodeSamples *samples)
{
    tr_code_free_names(&samples->s);
    tr_code_free_names(&samples->c);
    tr_code_free_names(&samples->clock);
    for (uint32_t i = 0; samples->counts && samples->counts[i]; i++) free(samples->counts[i]);
    free(samples->counts);
    free(samples->said);
    free(samples->read);
    free(samples->set);
}

// ---- names ---------------------------------------------------------------------------------

static const Input *held_input(const System *s, uint32_t i) { return &s->inputs[s->held[i].input]; }

static void name_input(Export *code, CodeNames *names, const char *prefix, uint32_t input)
{
    const Input *of = &code->system->inputs[input];
    tr_code_name(code, names, prefix, of->name, &of->port, input);
}

// Behind the state. How many samples there were stands in place of the flag of the first.
void tr_code_name_held(Export *code)
{
    const System *s = code->system;
    CodeSamples *samples = &code->samples;
    samples->held = code->x.count;
    samples->said = calloc(s->clocked_count + 1u, sizeof *samples->said);
    samples->counts = calloc(s->clocked_count + 1u, sizeof *samples->counts);
    if (!samples->said || !samples->counts) {
        code->failed = true;
        return;
    }
    for (uint32_t i = 0; i < s->held_count && !code->failed; i++) {
        const Clocked *of = &s->clocked[s->held[i].clocked];
        const uint32_t input = s->held[i].input;
        if (held_input(s, i)->kind != TR_HELD) continue;
        name_input(code, &code->x, "h_", input);
        if (!of->is_sensor) name_input(code, &samples->c, "c_", input);
        if (!of->is_sensor) continue;
        const uint32_t first = i && s->held[i - 1].clocked == s->held[i].clocked ? 0 : 1;
        if (first) samples->said[samples->sensors++] = samples->sensed;
        if (first) name_input(code, &samples->s, "s_", input);
        samples->sensed++;
    }
    for (uint32_t i = 0; i < s->clocked_count && !code->failed; i++) {
        const Clocked *of = &s->clocked[i];
        Buffer count = {0};
        tr_buffer_print(&count, "%s.samples", of->name);
        samples->counts[i] = count.at;
        if (count.failed || !count.at)
            code->failed = true;
        else
            tr_code_name(code, &code->x, "n_", samples->counts[i], NULL, of->first);
        tr_code_name(code, &samples->clock, "k_", of->name, NULL, NO_INPUT);
        if (code->failed) return;
        samples->clock.at[i].value = of->period;
        samples->has_noise = samples->has_noise || of->noise != NO_INPUT;
    }
}

static uint32_t counts_at(const CodeSamples *samples)
{
    return samples->held + samples->sensed + samples->c.count;
}

void tr_code_map_held(Export *code)
{
    const System *s = code->system;
    Flat *flat = &code->flat;
    for (uint32_t i = 0; i < s->clocked_count; i++) {
        const Clocked *of = &s->clocked[i];
        const uint32_t n = tr_flat_argument(flat, ARGUMENT_X, counts_at(&code->samples) + i);
        code->input_node[of->due] = tr_flat_argument(flat, ARGUMENT_DUE, i);
        code->input_node[of->first] = tr_flat_node(flat, OP_EQUAL, n, tr_flat_number(flat, 0), 0);
        if (of->noise != NO_INPUT)
            code->input_node[of->noise] = tr_flat_argument(flat, ARGUMENT_NOISE, i);
    }
}

// ---- functions -----------------------------------------------------------------------------

// Entries of u that controllers set, in the order of what is held
static void list_set(Export *code)
{
    const System *s = code->system;
    CodeSamples *samples = &code->samples;
    samples->set = calloc(s->held_count + 1u, sizeof *samples->set);
    for (uint32_t i = 0; samples->set && i < s->held_count; i++)
        for (uint32_t k = 0; k < code->u.count; k++)
            if (code->u.at[k].input == s->held[i].input) samples->set[samples->set_count++] = k;
    code->failed = code->failed || !samples->set;
}

// Of the program: sensors' numbers, then states of controllers, then inputs
static void list_outputs(const Export *code, uint32_t first, uint32_t *wanted)
{
    const System *s = code->system;
    uint32_t count = 0;
    for (int set = 0; set < 2; set++)
        for (uint32_t i = 0; i < s->held_count; i++)
            if ((held_input(s, i)->kind != TR_HELD) == set) wanted[count++] = first + i;
}

// How many numbers are found beside the state: in the unreduced form reactions, and what contacts
// do
static uint32_t found_count(const Export *code)
{
    return code->options.is_unreduced ? tr_code_found(code).count : 0;
}

// An entry of the state that is read without a sensor; or what is found, which stands behind it and
// the terms
static void add_read(Export *code, uint32_t node)
{
    CodeSamples *samples = &code->samples;
    const FlatNode of = code->flat.nodes[node];
    const bool is_found = of.a == ARGUMENT_FOUND;
    uint32_t input = 0;
    while (is_found && code->input_node[input] != node) input++;
    samples->read[samples->s.count - samples->sensors] =
        is_found ? code->x.count + tr_code_terms(code).count + of.b : of.b;
    name_input(code, &samples->s, "s_", is_found ? input : code->x.at[of.b].input);
}

// What controllers read of the state without a sensor becomes more of what they read.
static void add_reads(Export *code, const bool *needed, uint32_t *from, uint32_t *to,
                      uint32_t *count)
{
    CodeSamples *samples = &code->samples;
    const uint32_t states = samples->held + samples->sensed, nodes = code->flat.count;
    samples->read = calloc(code->x.count + found_count(code) + 1u, sizeof *samples->read);
    if (!samples->read) code->failed = true;
    for (uint32_t i = 0; i < nodes && !code->failed; i++) {
        const FlatNode node = code->flat.nodes[i];
        const bool is_state = node.a == ARGUMENT_X;
        if (!needed[i] || node.code != FLAT_ARGUMENT || !(is_state || node.a == ARGUMENT_FOUND))
            continue;
        from[*count] = i;
        if (is_state && node.b >= states && node.b < states + samples->c.count)
            to[*count] = tr_flat_argument(&code->flat, ARGUMENT_C, node.b - states);
        else {
            to[*count] = tr_flat_argument(&code->flat, ARGUMENT_S, samples->s.count);
            add_read(code, i);
        }
        ++*count;
    }
}

// What sensors say, and the state, give way to what is read.
static void take_control(Export *code, uint32_t *value, uint32_t values)
{
    CodeSamples *samples = &code->samples;
    const CodeFunction *sense = &code->part[PART_SENSE];
    const uint32_t most = samples->sensors + code->x.count + found_count(code);
    uint32_t *from = calloc(2 * (size_t)most + 1, sizeof *from), *to = from ? from + most : NULL;
    uint32_t count = samples->sensors;
    if (!from) {
        code->failed = true;
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        from[k] = sense->value[samples->said[k]];
        to[k] = tr_flat_argument(&code->flat, ARGUMENT_S, k);
    }
    bool *needed = tr_flat_needed(&code->flat, value, values, from, count);
    if (needed)
        add_reads(code, needed, from, to, &count);
    else
        code->failed = true;
    tr_flat_replace(&code->flat, from, to, count, value, values);
    free(needed);
    free(from);
}

void tr_code_samples(Export *code, tr_error *err)
{
    const System *s = code->system;
    CodeSamples *samples = &code->samples;
    if (!s->clocked_count) return;
    const tr_program *program =
        tr_chart_program(code->plan, code->flow->now->programs, CHART_SAMPLES, err);
    uint32_t *wanted = calloc(2 * (size_t)s->clocked_count + s->held_count + 1, sizeof *wanted);
    const uint32_t first = code->flow->column_count, clocks = 2 * s->clocked_count;
    list_set(code);
    if (!wanted) code->failed = true;
    if (program && !code->failed) {
        for (uint32_t k = 0; k < clocks; k++) wanted[k] = first + k;
        list_outputs(code, first + clocks, wanted + clocks);
        tr_code_program(code, PART_CLOCKS, program, wanted, clocks);
        tr_code_program(code, PART_SENSE, program, wanted + clocks, samples->sensed);
        tr_code_program(code, PART_CONTROL, program, wanted + clocks + samples->sensed,
                        s->held_count - samples->sensed);
        if (!code->failed)
            take_control(code, code->part[PART_CONTROL].value, code->part[PART_CONTROL].count);
    }
    free(wanted);
}

// Some of the values that were found for all
static void pick(Export *code, CodePart part, const uint32_t *value, const uint32_t *wanted,
                 uint32_t count)
{
    if (!tr_code_open(code, part, count)) return;
    for (uint32_t k = 0; k < count; k++) code->part[part].value[k] = value[wanted[k]];
}

void tr_code_open_samples(Export *code, const CodeChanges *open, tr_error *err)
{
    const System *s = code->system;
    CodeSamples *samples = &code->samples;
    const uint32_t clocks = 2 * s->clocked_count;
    if (!s->clocked_count) return;
    uint32_t *wanted = calloc(clocks + s->held_count + 1u, sizeof *wanted);
    Exprs list = {0};
    list_set(code);
    if (!wanted) code->failed = true;
    tr_system_list(open->system, "samples", &list);
    tr_code_rows(code, PART_SENSE, open, &list, err);
    CodeFunction all = code->part[PART_SENSE];
    code->part[PART_SENSE] = (CodeFunction){0};
    if (wanted && all.count && !code->failed && !has_failed(err)) {
        for (uint32_t k = 0; k < clocks; k++) wanted[k] = k;
        list_outputs(code, clocks, wanted + clocks);
        pick(code, PART_CLOCKS, all.value, wanted, clocks);
        pick(code, PART_SENSE, all.value, wanted + clocks, samples->sensed);
        pick(code, PART_CONTROL, all.value, wanted + clocks + samples->sensed,
             s->held_count - samples->sensed);
        if (!code->failed)
            take_control(code, code->part[PART_CONTROL].value, code->part[PART_CONTROL].count);
    }
    tr_exprs_free(&list);
    free(all.entry);
    free(wanted);
}
