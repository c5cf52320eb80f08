// SPDX-License-Identifier: Apache-2.0
#include "fmu/instance.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const Place nowhere = {0};

static bool is_3(const Instance *i) { return i->description->version == 3; }

// A function that both versions have, with the same arguments
#define CALL(i, name, ...)                                               \
    (is_3(i) ? (int)(i)->binary->three.name((i)->component, __VA_ARGS__) \
             : (int)(i)->binary->two.name((i)->component, __VA_ARGS__))
#define CALL_ALONE(i, name)                                 \
    (is_3(i) ? (int)(i)->binary->three.name((i)->component) \
             : (int)(i)->binary->two.name((i)->component))

// ---- what it says --------------------------------------------------------------------------

static const char *status_word(int status)
{
    static const char *const words[] = {
        "", "warning: ", "discard: ", "error: ", "fatal: ", "pending: "};
    return status >= 0 && status < 6 ? words[status] : "";
}

static void hear(Instance *i, int status, const char *category, const char *message)
{
    char words[MESSAGE_SHOWN + 100];
    if (!i || (is_3(i) && status == fmi3OK && !i->listener.wants_all)) return;
    tr_text_show(text_of(message), false, i->last, sizeof i->last);
    (void)category;
    snprintf(words, sizeof words, "%s%s", status_word(status), i->last);
    if (i->listener.say) i->listener.say(i->listener.owner, words);
}

// "#r12#" is the name of a variable, by type and reference; "##" is '#'.             FMI 2.0, 2.1.5
static size_t name_in_message(const Instance *i, const char *at, Buffer *out)
{
    static const char letters[] = "ribs";
    static const VariableType types[] = {TYPE_FLOAT64, TYPE_INT32, TYPE_BOOLEAN, TYPE_STRING};
    char *end = NULL;
    if (at[1] == '#') return tr_buffer_add(out, "#", 1), 2;
    const char *letter = at[1] ? strchr(letters, at[1]) : NULL;
    const unsigned long reference = letter && is_digit(at[2]) ? strtoul(at + 2, &end, 10) : 0;
    if (!end || *end != '#') return 0;
    for (uint32_t k = 0; k < i->description->count; k++) {
        const Variable *v = &i->description->variables[k];
        const VariableType type = v->type == TYPE_ENUMERATION ? TYPE_INT32 : v->type;
        if (type != types[letter - letters] || v->reference != reference) continue;
        tr_buffer_add(out, v->name, strlen(v->name));
        return (size_t)(end + 1 - at);
    }
    return 0;
}

static void hear_2(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status,
                   fmi2String category, fmi2String message, ...)
{
    Instance *i = environment;
    char words[1000];
    Buffer out = {0};
    va_list args;
    (void)name;
    if (!i || !message) return;
    va_start(args, message);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" // the standard has it so
    vsnprintf(words, sizeof words, message, args);
#pragma GCC diagnostic pop
    va_end(args);
    for (const char *at = words; *at;) {
        const size_t taken = *at == '#' ? name_in_message(i, at, &out) : 0;
        if (!taken) tr_buffer_add(&out, at, 1);
        at += taken ? taken : 1;
    }
    hear(i, (int)status, category, out.at ? out.at : "");
    tr_buffer_free(&out);
}

static void hear_3(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                   fmi3String message)
{
    hear(environment, (int)status, category, message ? message : "");
}

// Whether it was done. What it said is told with the error.
static bool is_done(Instance *i, int status, const char *function, tr_error *err)
{
    static const char *const words[] = {"",          "", "is discarded", "fails", "fails for good",
                                        "is pending"};
    if (status == fmi3OK || status == fmi3Warning) return true;
    i->has_died = i->has_died || status == fmi3Fatal;
    tr_fail(err, TR_FAILED, nowhere, "fmi%d%s %s%s%s", i->description->version, function,
            status >= 0 && status < 6 ? words[status] : "gives a status that is none",
            i->last[0] ? ": " : "", i->last);
    return false;
}

static void forget(Instance *i) { i->last[0] = 0; }

// ---- its life ------------------------------------------------------------------------------

// Where its resources are: 2.0 asks for a URI, 3.0 for a path.
static char *resources(const Instance *i, tr_error *err)
{
    static const char hex[] = "0123456789ABCDEF";
    const char *path = i->binary->files.resources;
    Buffer text = {0};
    if (!path) return NULL;
    if (!is_3(i)) tr_buffer_add(&text, "file://", 7);
    for (const char *at = path; *at; at++) {
        if (!is_3(i) && !at[1]) break; // the folder, without '/' at its end
        const bool is_plain = is_3(i) || strchr("/-_.~", *at) || is_digit(*at) ||
                              (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        const unsigned char byte = (unsigned char)*at;
        const char coded[] = {'%', hex[byte >> 4], hex[byte & 15]};
        tr_buffer_add(&text, is_plain ? at : coded, is_plain ? 1 : 3);
    }
    if (text.failed) tr_fail_memory(err), tr_buffer_free(&text);
    return text.at;
}

// Without its flag an FMU of 2.0 tells no more than it must, one of 3.0 nothing at all: so that one
// is asked for messages always, and those that are just information are left out.
static void instantiate(Instance *i, const char *token, const char *where)
{
    const Binary *b = i->binary;
    const char *name = i->description->model_name;
    const bool all = i->listener.wants_all;
    i->callbacks = (fmi2CallbackFunctions){hear_2, calloc, free, NULL, i};
    if (!is_3(i))
        i->component =
            b->two.Instantiate(name, b->kind == FMI_ME ? fmi2ModelExchange : fmi2CoSimulation,
                               token, where, &i->callbacks, false, all);
    else if (b->kind == FMI_ME)
        i->component =
            b->three.InstantiateModelExchange(name, token, where, false, true, i, hear_3);
    else
        i->component = b->three.InstantiateCoSimulation(
            name, token, where, false, true, i->uses_events, true, NULL, 0, i, hear_3, NULL);
}

bool tr_instance_new(Instance *i, const Binary *binary, const char *token, Listener listener,
                     tr_error *err)
{
    const Description *d = &binary->fmu->description;
    size_t most = 1;
    *i = (Instance){.binary = binary, .description = d, .listener = listener};
    i->uses_events = d->has_event_mode && binary->kind == FMI_CS;
    if (has_failed(err)) return false;
    for (uint32_t k = 0; k < d->count; k++) most += d->variables[k].size;
    i->reference = calloc(d->count + 1u, sizeof *i->reference);
    i->raw = calloc(most, sizeof *i->raw);
    if (!i->reference || !i->raw) return tr_fail_memory(err), false;
    char *where = resources(i, err);
    if (has_failed(err)) return false;
    instantiate(i, token, where);
    free(where);
    if (!i->component)
        tr_fail(err, TR_FAILED, nowhere, "the FMU cannot be instantiated%s%s",
                i->last[0] ? ": " : "", i->last);
    return i->component != NULL;
}

void tr_instance_free(Instance *i)
{
    if (i->component && !i->has_died) {
        if (is_3(i))
            i->binary->three.FreeInstance(i->component);
        else
            i->binary->two.FreeInstance(i->component);
    }
    free(i->reference), free(i->raw);
    *i = (Instance){0};
}

bool tr_instance_enter_initialization(Instance *i, double start, double stop, double tolerance,
                                      tr_error *err)
{
    const Binary *b = i->binary;
    const bool has_tolerance = tolerance > 0, has_stop = isfinite(stop);
    forget(i);
    if (is_3(i))
        return is_done(i,
                       (int)b->three.EnterInitializationMode(i->component, has_tolerance,
                                                             has_tolerance ? tolerance : 0, start,
                                                             has_stop, has_stop ? stop : 0),
                       "EnterInitializationMode", err);
    return is_done(i,
                   (int)b->two.SetupExperiment(i->component, has_tolerance,
                                               has_tolerance ? tolerance : 0, start, has_stop,
                                               has_stop ? stop : 0),
                   "SetupExperiment", err) &&
           is_done(i, (int)b->two.EnterInitializationMode(i->component), "EnterInitializationMode",
                   err);
}

bool tr_instance_exit_initialization(Instance *i, tr_error *err)
{
    forget(i);
    return is_done(i, CALL_ALONE(i, ExitInitializationMode), "ExitInitializationMode", err);
}

bool tr_instance_terminate(Instance *i, tr_error *err)
{
    forget(i);
    return is_done(i, CALL_ALONE(i, Terminate), "Terminate", err);
}

bool tr_instance_reset(Instance *i, tr_error *err)
{
    forget(i);
    return is_done(i, CALL_ALONE(i, Reset), "Reset", err);
}

// ---- values --------------------------------------------------------------------------------

// Types with a function for each: ID, name, type in C
#define NUMBERS(ROW)                   \
    ROW(FLOAT32, Float32, fmi3Float32) \
    ROW(FLOAT64, Float64, fmi3Float64) \
    ROW(INT8, Int8, fmi3Int8)          \
    ROW(UINT8, UInt8, fmi3UInt8)       \
    ROW(INT16, Int16, fmi3Int16)       \
    ROW(UINT16, UInt16, fmi3UInt16)    \
    ROW(INT32, Int32, fmi3Int32)       \
    ROW(UINT32, UInt32, fmi3UInt32)    \
    ROW(INT64, Int64, fmi3Int64)       \
    ROW(UINT64, UInt64, fmi3UInt64)    \
    ROW(BOOLEAN, Boolean, fmi3Boolean) \
    ROW(ENUMERATION, Int64, fmi3Int64)

// Of as many variables as have one type, in one call; `size` of their elements together
static int get_3(Instance *i, VariableType type, size_t count, size_t size, double *values)
{
    const Fmi3 *f = &i->binary->three;
    void *raw = i->raw;
    int status = fmi3Error;
    switch (type) {
#define ROW(id, Name, c)                                                           \
    case TYPE_##id:                                                                \
        status = (int)f->Get##Name(i->component, i->reference, count, raw, size);  \
        for (size_t k = 0; k < size; k++) values[k] = (double)((const c *)raw)[k]; \
        return status;
        NUMBERS(ROW)
#undef ROW
    default: return status;
    }
}

static int set_3(Instance *i, VariableType type, size_t count, size_t size, const double *values)
{
    const Fmi3 *f = &i->binary->three;
    void *raw = i->raw;
    switch (type) {
#define ROW(id, Name, c)                                                \
    case TYPE_##id:                                                     \
        for (size_t k = 0; k < size; k++) ((c *)raw)[k] = (c)values[k]; \
        return (int)f->Set##Name(i->component, i->reference, count, raw, size);
        NUMBERS(ROW)
#undef ROW
    default: return fmi3Error;
    }
}

static int get_2(Instance *i, VariableType type, size_t count, double *values)
{
    const Fmi2 *f = &i->binary->two;
    if (type == TYPE_FLOAT64) return (int)f->GetReal(i->component, i->reference, count, values);
    int *raw = (void *)i->raw;
    const int status = type == TYPE_BOOLEAN
                           ? (int)f->GetBoolean(i->component, i->reference, count, raw)
                           : (int)f->GetInteger(i->component, i->reference, count, raw);
    for (size_t k = 0; k < count; k++) values[k] = raw[k];
    return status;
}

static int set_2(Instance *i, VariableType type, size_t count, const double *values)
{
    const Fmi2 *f = &i->binary->two;
    if (type == TYPE_FLOAT64) return (int)f->SetReal(i->component, i->reference, count, values);
    int *raw = (void *)i->raw;
    for (size_t k = 0; k < count; k++) raw[k] = (int)values[k];
    return type == TYPE_BOOLEAN ? (int)f->SetBoolean(i->component, i->reference, count, raw)
                                : (int)f->SetInteger(i->component, i->reference, count, raw);
}

// The next variables of one type: how many, with their references and all their elements
static uint32_t gather(Instance *i, const uint32_t *variables, uint32_t count, size_t *size)
{
    const Variable *all = i->description->variables;
    uint32_t many = 0;
    *size = 0;
    while (many < count && all[variables[many]].type == all[variables[0]].type) {
        i->reference[many] = all[variables[many]].reference;
        *size += all[variables[many++]].size;
    }
    return many;
}

bool tr_instance_get(Instance *i, const uint32_t *variables, uint32_t count, double *values,
                     tr_error *err)
{
    forget(i);
    while (count) {
        size_t size;
        const uint32_t many = gather(i, variables, count, &size);
        const Variable *first = &i->description->variables[variables[0]];
        const int status = is_3(i) ? get_3(i, first->type, many, size, values)
                                   : get_2(i, first->type, many, values);
        if (!is_done(i, status, "Get... of values", err)) return false;
        variables += many, count -= many, values += size;
    }
    return true;
}

bool tr_instance_set(Instance *i, const uint32_t *variables, uint32_t count, const double *values,
                     tr_error *err)
{
    char name[200];
    forget(i);
    while (count) {
        size_t size;
        const uint32_t many = gather(i, variables, count, &size);
        const Variable *first = &i->description->variables[variables[0]];
        const int status = is_3(i) ? set_3(i, first->type, many, size, values)
                                   : set_2(i, first->type, many, values);
        snprintf(name, sizeof name, "Set... of '%.100s'", first->name);
        if (!is_done(i, status, name, err)) return false;
        variables += many, count -= many, values += size;
    }
    return true;
}

bool tr_instance_set_text(Instance *i, uint32_t variable, const char *text, tr_error *err)
{
    const fmi3ValueReference reference = i->description->variables[variable].reference;
    forget(i);
    const int status = is_3(i)
                           ? (int)i->binary->three.SetString(i->component, &reference, 1, &text, 1)
                           : (int)i->binary->two.SetString(i->component, &reference, 1, &text);
    return is_done(i, status, "SetString", err);
}

// ---- events --------------------------------------------------------------------------------

bool tr_instance_enter_event_mode(Instance *i, tr_error *err)
{
    forget(i);
    return is_done(i, CALL_ALONE(i, EnterEventMode), "EnterEventMode", err);
}

static bool update(Instance *i, EventNews *now, tr_error *err)
{
    *now = (EventNews){0};
    forget(i);
    if (is_3(i))
        return is_done(i,
                       (int)i->binary->three.UpdateDiscreteStates(
                           i->component, &now->again, &now->terminates, &now->nominals,
                           &now->states, &now->has_next, &now->next),
                       "UpdateDiscreteStates", err);
    fmi2EventInfo info = {0};
    if (!is_done(i, (int)i->binary->two.NewDiscreteStates(i->component, &info), "NewDiscreteStates",
                 err))
        return false;
    *now = (EventNews){info.newDiscreteStatesNeeded,
                       info.terminateSimulation,
                       info.nominalsOfContinuousStatesChanged,
                       info.valuesOfContinuousStatesChanged,
                       info.nextEventTimeDefined,
                       info.nextEventTime};
    return true;
}

bool tr_instance_settle_event(Instance *i, EventNews *news, tr_error *err)
{
    enum { MOST_UPDATES = 10000 };
    *news = (EventNews){0};
    for (int k = 0; k < MOST_UPDATES; k++) {
        EventNews now;
        if (!update(i, &now, err)) return false;
        const bool nominals = news->nominals, states = news->states;
        *news = now; // the time of the next event is that of the last call
        news->nominals |= nominals, news->states |= states;
        if (!now.again || now.terminates) return true;
    }
    tr_fail(err, TR_FAILED, nowhere,
            "an event never settles: the FMU asks for more after %d updates", MOST_UPDATES);
    return false;
}

// ---- model exchange ------------------------------------------------------------------------

bool tr_instance_enter_continuous(Instance *i, tr_error *err)
{
    forget(i);
    return is_done(i, CALL_ALONE(i, EnterContinuousTimeMode), "EnterContinuousTimeMode", err);
}

bool tr_instance_counts(Instance *i, size_t *states, size_t *indicators, tr_error *err)
{
    const Description *d = i->description;
    *states = 0, *indicators = d->event_indicators;
    if (is_3(i))
        return is_done(i, (int)i->binary->three.GetNumberOfContinuousStates(i->component, states),
                       "GetNumberOfContinuousStates", err) &&
               is_done(i,
                       (int)i->binary->three.GetNumberOfEventIndicators(i->component, indicators),
                       "GetNumberOfEventIndicators", err);
    *states = d->list[DERIVATIVES].count;
    return true;
}

bool tr_instance_set_time(Instance *i, double t, tr_error *err)
{
    forget(i);
    return is_done(i, CALL(i, SetTime, t), "SetTime", err);
}

bool tr_instance_set_states(Instance *i, const double *x, size_t count, tr_error *err)
{
    return !count || is_done(i, CALL(i, SetContinuousStates, x, count), "SetContinuousStates", err);
}

bool tr_instance_states(Instance *i, double *x, size_t count, tr_error *err)
{
    return !count || is_done(i, CALL(i, GetContinuousStates, x, count), "GetContinuousStates", err);
}

bool tr_instance_nominals(Instance *i, double *nominals, size_t count, tr_error *err)
{
    return !count || is_done(i, CALL(i, GetNominalsOfContinuousStates, nominals, count),
                             "GetNominalsOfContinuousStates", err);
}

bool tr_instance_indicators(Instance *i, double *z, size_t count, tr_error *err)
{
    return !count || is_done(i, CALL(i, GetEventIndicators, z, count), "GetEventIndicators", err);
}

bool tr_instance_rates(Instance *i, double *rates, size_t count, bool *is_refused, tr_error *err)
{
    *is_refused = false;
    if (!count) return true;
    forget(i);
    const int status =
        is_3(i) ? (int)i->binary->three.GetContinuousStateDerivatives(i->component, rates, count)
                : (int)i->binary->two.GetDerivatives(i->component, rates, count);
    *is_refused = status == fmi3Discard;
    return *is_refused ||
           is_done(i, status, is_3(i) ? "GetContinuousStateDerivatives" : "GetDerivatives", err);
}

bool tr_instance_completed(Instance *i, bool *enters_event, bool *terminates, tr_error *err)
{
    *enters_event = *terminates = false;
    if (!i->description->needs_completed_step) return true;
    forget(i);
    if (is_3(i))
        return is_done(i,
                       (int)i->binary->three.CompletedIntegratorStep(i->component, true,
                                                                     enters_event, terminates),
                       "CompletedIntegratorStep", err);
    fmi2Boolean enters = 0, ends = 0;
    const int status =
        (int)i->binary->two.CompletedIntegratorStep(i->component, true, &enters, &ends);
    *enters_event = enters, *terminates = ends;
    return is_done(i, status, "CompletedIntegratorStep", err);
}

// ---- co-simulation -------------------------------------------------------------------------

// A step of 2.0 that was discarded: how far it came, and whether the simulation is over
static bool ask_discarded(Instance *i, StepNews *news, tr_error *err)
{
    fmi2Boolean is_over = 0;
    const Fmi2 *f = &i->binary->two;
    if (f->GetRealStatus(i->component, fmi2LastSuccessfulTime, &news->reached) == fmi2OK &&
        f->GetBooleanStatus(i->component, fmi2Terminated, &is_over) == fmi2OK && is_over) {
        news->terminates = true;
        return true;
    }
    return is_done(i, fmi2Discard, "DoStep", err);
}

bool tr_instance_step(Instance *i, double t, double step, StepNews *news, tr_error *err)
{
    *news = (StepNews){.reached = t + step};
    forget(i);
    if (is_3(i))
        return is_done(i,
                       (int)i->binary->three.DoStep(i->component, t, step, true, &news->needs_event,
                                                    &news->terminates, &news->was_early,
                                                    &news->reached),
                       "DoStep", err);
    const int status = (int)i->binary->two.DoStep(i->component, t, step, true);
    return status == fmi2Discard ? ask_discarded(i, news, err) : is_done(i, status, "DoStep", err);
}

bool tr_instance_enter_step_mode(Instance *i, tr_error *err)
{
    forget(i);
    return is_done(i, (int)i->binary->three.EnterStepMode(i->component), "EnterStepMode", err);
}

// ---- what not every FMU can do -------------------------------------------------------------

// Names that differ by their letters
#define CALL_EITHER(i, name2, name3, ...)                                 \
    (is_3(i) ? (int)(i)->binary->three.name3((i)->component, __VA_ARGS__) \
             : (int)(i)->binary->two.name2((i)->component, __VA_ARGS__))

bool tr_instance_save(Instance *i, void **state, tr_error *err)
{
    forget(i);
    return is_done(i, CALL_EITHER(i, GetFMUstate, GetFMUState, state), "GetFMUState", err);
}

bool tr_instance_restore(Instance *i, void *state, tr_error *err)
{
    forget(i);
    return is_done(i, CALL_EITHER(i, SetFMUstate, SetFMUState, state), "SetFMUState", err);
}

bool tr_instance_drop(Instance *i, void **state, tr_error *err)
{
    forget(i);
    return is_done(i, CALL_EITHER(i, FreeFMUstate, FreeFMUState, state), "FreeFMUState", err);
}

char *tr_instance_write_state(Instance *i, void *state, size_t *size, tr_error *err)
{
    forget(i);
    if (!is_done(i, CALL_EITHER(i, SerializedFMUstateSize, SerializedFMUStateSize, state, size),
                 "SerializedFMUStateSize", err))
        return NULL;
    char *bytes = calloc(*size + 1, 1);
    if (!bytes) return tr_fail_memory(err), NULL;
    const int status =
        is_3(i)
            ? (int)i->binary->three.SerializeFMUState(i->component, state, (fmi3Byte *)bytes, *size)
            : (int)i->binary->two.SerializeFMUstate(i->component, state, bytes, *size);
    if (is_done(i, status, "SerializeFMUState", err)) return bytes;
    free(bytes);
    return NULL;
}

bool tr_instance_read_state(Instance *i, const char *bytes, size_t size, void **state,
                            tr_error *err)
{
    forget(i);
    const int status =
        is_3(i) ? (int)i->binary->three.DeserializeFMUState(i->component, (const fmi3Byte *)bytes,
                                                            size, state)
                : (int)i->binary->two.DeSerializeFMUstate(i->component, bytes, size, state);
    return is_done(i, status, "DeserializeFMUState", err);
}

bool tr_instance_directional(Instance *i, const fmi3ValueReference *unknown, size_t unknowns,
                             const fmi3ValueReference *known, size_t knowns, const double *seed,
                             double *out, tr_error *err)
{
    forget(i);
    const int status =
        is_3(i) ? (int)i->binary->three.GetDirectionalDerivative(
                      i->component, unknown, unknowns, known, knowns, seed, knowns, out, unknowns)
                : (int)i->binary->two.GetDirectionalDerivative(i->component, unknown, unknowns,
                                                               known, knowns, seed, out);
    return is_done(i, status, "GetDirectionalDerivative", err);
}

bool tr_instance_adjoint(Instance *i, const fmi3ValueReference *unknown, size_t unknowns,
                         const fmi3ValueReference *known, size_t knowns, const double *seed,
                         double *out, tr_error *err)
{
    forget(i);
    return is_done(i,
                   (int)i->binary->three.GetAdjointDerivative(
                       i->component, unknown, unknowns, known, knowns, seed, unknowns, out, knowns),
                   "GetAdjointDerivative", err);
}
