// SPDX-License-Identifier: Apache-2.0
// The variables of an FMU: which there are, and what they are called.
#include "export/fmu.h"

#include "export/identifier.h"
#include "export/unreduced.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tr_fmu_free(Fmu *fmu)
{
    for (uint32_t k = 0; k < fmu->variable_count; k++) {
        free(fmu->variables[k].name);
        free(fmu->variables[k].words);
    }
    free(fmu->variables);
    free(fmu->state);
    free(fmu->driven);
    free(fmu->bits);
    free(fmu->group);
    free(fmu->used);
}

// ---- names ---------------------------------------------------------------------------------

// a.b_1.c[2,3], or der() of that
static bool is_identifier(const char *at, size_t length)
{
    size_t i = 0;
    for (;;) {
        if (i == length || !begins_name(at[i])) return false;
        while (i < length && (begins_name(at[i]) || is_digit(at[i]))) i++;
        if (i < length && at[i] == '[') {
            do {
                i++;
                const size_t from = i;
                while (i < length && is_digit(at[i])) i++;
                if (i == from) return false;
            } while (i < length && at[i] == ',');
            if (i == length || at[i++] != ']') return false;
        }
        if (i == length) return true;
        if (at[i++] != '.') return false;
    }
}

static bool is_structured(const char *name)
{
    const size_t length = strlen(name);
    if (length < 6 || strncmp(name, "der(", 4) != 0) return is_identifier(name, length);
    const char *inside = name + 4, *comma = strstr(inside, ",2)");
    if (comma && comma + 3 == name + length) return is_identifier(inside, (size_t)(comma - inside));
    return name[length - 1] == ')' && is_identifier(inside, length - 5);
}

// "d(frame.x)" is der(frame.x) in FMI.
static char *name_of_column(const char *name)
{
    Buffer out = {0};
    const bool is_rate = begins_with(name, "d(");
    tr_buffer_print(&out, is_rate ? "der(%s" : "%s", is_rate ? name + 2 : name);
    if (out.failed) tr_buffer_free(&out);
    return out.at;
}

static bool is_taken(const Fmu *fmu, const char *name)
{
    for (uint32_t k = 0; k < fmu->variable_count; k++)
        if (strcmp(fmu->variables[k].name, name) == 0) return true;
    return false;
}

// Unlike all others: with a number behind it
static char *make_unique(const Fmu *fmu, char *name)
{
    for (uint32_t number = 2; name && is_taken(fmu, name); number++) {
        Buffer out = {0};
        const size_t length = strlen(name);
        const size_t plain = number > 2 ? (size_t)(strrchr(name, '_') - name) : length;
        tr_buffer_print(&out, "%.*s_%u", (int)plain, name, number);
        free(name);
        name = out.at;
        if (out.failed) return free(name), NULL;
    }
    return name;
}

// der(q) of q, der(q,2) of der(q); where a velocity is called der(q) already, rates.q
static char *name_of_rate(const Fmu *fmu, const char *state)
{
    Buffer out = {0};
    const size_t length = strlen(state);
    if (begins_with(state, "der(") && state[length - 1] == ')')
        tr_buffer_print(&out, "%.*s,2)", (int)length - 1, state);
    else
        tr_buffer_print(&out, "der(%s)", state);
    if (!out.failed && is_taken(fmu, out.at)) {
        tr_buffer_free(&out);
        tr_buffer_print(&out, "rates.%s", state);
    }
    return out.failed ? free(out.at), NULL : out.at;
}

// ---- variables -----------------------------------------------------------------------------

static FmuVariable *add_variable(Fmu *fmu, FmuKind kind, uint32_t which, char *name)
{
    FmuVariable *v = &fmu->variables[fmu->variable_count];
    *v = (FmuVariable){.name = make_unique(fmu, name),
                       .kind = kind,
                       .which = which,
                       .unit = "",
                       .least = -(double)INFINITY,
                       .most = (double)INFINITY};
    if (!v->name) {
        fmu->code->failed = true;
        return NULL;
    }
    fmu->variable_count++;
    fmu->is_structured = fmu->is_structured && is_structured(v->name);
    return v;
}

// "angle: left", or what the model says
static void describe(FmuVariable *v, const CodeName *of)
{
    Buffer words = {0};
    const char *what = of->port ? tr_quantity_words(of->port->quantity) : "";
    v->unit = of->unit;
    if (of->doc[0])
        tr_buffer_print(&words, "%s", of->doc);
    else if (what[0])
        tr_buffer_print(&words, "%s%s%s", what, of->port->owner[0] ? ": " : "", of->port->owner);
    v->words = words.at;
}

static void add_named(Fmu *fmu, FmuKind kind, uint32_t which, const CodeName *of)
{
    FmuVariable *v = add_variable(fmu, kind, which, name_of_column(of->name));
    if (!v) return;
    describe(v, of);
    v->start = of->value, v->least = of->least, v->most = of->most;
}

// What a controller sets is an output as well, and then that one has its name; by the other
// reference nobody asks for it.
static bool is_put_out(const Export *code, uint32_t input)
{
    uint32_t k = 0;
    while (k < code->y.count && strcmp(code->y.at[k].name, code->u.at[input].name) != 0) k++;
    return k < code->y.count && tr_fmu_is_controlled(code, input);
}

static void add_input(Fmu *fmu, uint32_t which)
{
    CodeName of = fmu->code->u.at[which];
    Buffer name = {0};
    tr_buffer_print(&name, "%s%s", is_put_out(fmu->code, which) ? "held." : "", of.name);
    of.name = name.failed ? "" : name.at;
    add_named(fmu, FMU_INPUT, which, &of);
    fmu->code->failed = fmu->code->failed || name.failed;
    tr_buffer_free(&name);
}

static void add_output(Fmu *fmu, uint32_t which)
{
    CodeName of = fmu->code->y.at[which];
    for (uint32_t k = 0; k < fmu->code->u.count; k++)
        if (!of.unit[0] && strcmp(fmu->code->u.at[k].name, of.name) == 0)
            of.unit = fmu->code->u.at[k].unit;
    add_named(fmu, FMU_OUTPUT, which, &of);
}

static void add_time(Fmu *fmu)
{
    FmuVariable *time = add_variable(fmu, FMU_TIME, 0, strdup("time"));
    if (time) time->unit = "s";
}

static void add_rates(Fmu *fmu)
{
    const uint32_t first = fmu_first(fmu, FMU_STATE);
    for (uint32_t k = 0; k < fmu->count_of[FMU_STATE]; k++) {
        const FmuVariable *state = &fmu->variables[first + k];
        const CodeName *of = &fmu->code->x.at[fmu->state[k]];
        FmuVariable *v = add_variable(fmu, FMU_RATE, k, name_of_rate(fmu, state->name));
        if (!v) return;
        if (of->port) v->unit = tr_quantity_unit(tr_quantity_rate(of->port->quantity));
    }
}

static void add_plain(Fmu *fmu, FmuKind kind, const char *format)
{
    for (uint32_t k = 0; k < fmu->count_of[kind]; k++) {
        Buffer name = {0};
        if (kind == FMU_MODE)
            tr_buffer_print(&name, "%s.%s", format, fmu->code->latches.at[k].name);
        else
            tr_buffer_print(&name, "%s_%u", format, k + 1);
        FmuVariable *v = add_variable(fmu, kind, k, name.failed ? NULL : name.at);
        if (v && kind == FMU_MODE) v->words = strdup("0 open, 1 holds, 2 slips");
    }
}

// ---- who is what ---------------------------------------------------------------------------

bool tr_fmu_is_controlled(const Export *code, uint32_t input)
{
    for (uint32_t k = 0; k < code->samples.set_count; k++)
        if (code->samples.set[k] == input) return true;
    return false;
}

static bool is_driven(const Export *code, uint32_t entry)
{
    const CodeName *x = &code->x.at[entry];
    if (x->is_integrated) return false;
    return entry < code->positions || code->system->inputs[x->input].drive == DRIVE_MOTION;
}

static bool divide_state(Fmu *fmu)
{
    const Export *code = fmu->code;
    fmu->state = calloc(code->x.count + 1u, sizeof *fmu->state);
    fmu->driven = calloc(code->x.count + 1u, sizeof *fmu->driven);
    if (!fmu->state || !fmu->driven) return false;
    for (uint32_t k = 0; k < code->rated; k++) {
        const bool driven = is_driven(code, k);
        (driven ? fmu->driven : fmu->state)[fmu->count_of[driven ? FMU_DRIVEN : FMU_STATE]++] = k;
    }
    return true;
}

static void count_variables(Fmu *fmu)
{
    const Export *code = fmu->code;
    uint32_t *count = fmu->count_of;
    count[FMU_TIME] = 1;
    count[FMU_RATE] = count[FMU_STATE];
    count[FMU_INPUT] = code->u.count, count[FMU_PARAMETER] = code->p.count;
    count[FMU_OUTPUT] = code->y.count, count[FMU_CONSTANT] = code->fixed.count;
    count[FMU_INDICATOR] = tr_code_indicators(code);
    count[FMU_MODE] = code->system->latch_count;
}

// Outputs are what was asked for, or what the model declares, or else what moves.
static void choose_outputs(Fmu *fmu)
{
    const Export *code = fmu->code;
    bool declares = code->options.outputs;
    const uint32_t first = fmu_first(fmu, FMU_OUTPUT);
    for (uint32_t k = 0; k < code->y.count; k++) {
        const Port *port = code->y.at[k].port;
        bool *is_output = &fmu->variables[first + k].is_output;
        *is_output = code->options.outputs || (port && is_declared_output(port));
        declares = declares || *is_output;
    }
    for (uint32_t k = 0; k < fmu->variable_count && !declares; k++) {
        const FmuKind kind = fmu->variables[k].kind;
        fmu->variables[k].is_output = kind == FMU_STATE || kind == FMU_DRIVEN;
    }
}

static void number_variables(Fmu *fmu)
{
    uint32_t index = 0;
    for (uint32_t k = 0; k < fmu->variable_count; k++) {
        FmuVariable *v = &fmu->variables[k];
        const bool is_hidden = v->kind == FMU_INDICATOR
                                   ? fmu->code->options.fmi == 2
                                   : v->kind == FMU_INPUT && is_put_out(fmu->code, v->which);
        if (!is_hidden) v->index = ++index;
        if (v->kind == FMU_PARAMETER) v->is_fixed = tr_fmu_starts_by(fmu, v->which);
        if (v->kind == FMU_INPUT && v->start != v->start)
            v->start = fmu->code->signal_start[v->which];
        if (v->kind == FMU_STATE) v->start = fmu->code->start[fmu->state[v->which]];
        if (v->kind == FMU_INPUT) v->is_fixed = tr_fmu_is_controlled(fmu->code, v->which);
        if (!isfinite(v->start)) v->start = 0;
    }
}

bool tr_fmu_describe(Fmu *fmu, tr_error *err)
{
    const Export *code = fmu->code;
    uint32_t all = 0;
    fmu->is_structured = true;
    if (!divide_state(fmu)) return tr_fail_memory(err), false;
    count_variables(fmu);
    for (int k = 0; k < FMU_KINDS; k++) all += fmu->count_of[k];
    fmu->variables = calloc(all, sizeof *fmu->variables);
    if (!fmu->variables) return tr_fail_memory(err), false;
    add_time(fmu);
    for (uint32_t k = 0; k < fmu->count_of[FMU_STATE]; k++)
        add_named(fmu, FMU_STATE, k, &code->x.at[fmu->state[k]]);
    add_rates(fmu);
    for (uint32_t k = 0; k < code->u.count; k++) add_input(fmu, k);
    for (uint32_t k = 0; k < code->p.count; k++) add_named(fmu, FMU_PARAMETER, k, &code->p.at[k]);
    for (uint32_t k = 0; k < code->y.count; k++) add_output(fmu, k);
    for (uint32_t k = 0; k < fmu->count_of[FMU_DRIVEN]; k++)
        add_named(fmu, FMU_DRIVEN, k, &code->x.at[fmu->driven[k]]);
    for (uint32_t k = 0; k < code->fixed.count; k++)
        add_named(fmu, FMU_CONSTANT, k, &code->fixed.at[k]);
    add_plain(fmu, FMU_INDICATOR, "event_indicator");
    add_plain(fmu, FMU_MODE, "mode");
    if (code->failed) return tr_fail_memory(err), false;
    if (!tr_fmu_trace(fmu, err)) return false;
    choose_outputs(fmu);
    number_variables(fmu);
    return true;
}
