// SPDX-License-Identifier: Apache-2.0
// The binary of an FMU, and one instance of it: the functions of 2.0 and 3.0 behind one set of
// calls. From here on the code of whoever made the FMU runs in this process.
#ifndef TR_FMU_INSTANCE_H
#define TR_FMU_INSTANCE_H

#include "fmu/fmu.h"

typedef struct Binary {
    const Fmu *fmu;
    const Interface *interface;
    FmiKind kind;
    Unpacked files;
    void *library;
    Fmi2 two; // of the version that it has
    Fmi3 three;
} Binary;

// Unpacks and loads it. TR_FAILED when it cannot be loaded, TR_INVALID, with their names, when it
// lacks functions of its interface. To be unloaded in any case.
bool tr_binary_load(Binary *binary, const Fmu *fmu, FmiKind kind, bool build, tr_error *err);
void tr_binary_unload(Binary *binary);

// What is to be done with what it says; `say` may be NULL.
typedef struct Listener {
    void (*say)(void *owner, const char *words);
    void *owner;
    bool wants_all; // also what it would not say unasked
} Listener;

enum { MESSAGE_SHOWN = 400 };
typedef struct Instance {
    const Binary *binary;
    const Description *description;
    Listener listener;
    void *component;
    fmi2CallbackFunctions callbacks;
    bool has_died;                 // it may not be called any more
    bool uses_events;              // of CS in 3.0: it is told of events
    char last[MESSAGE_SHOWN];      // that it said
    fmi3ValueReference *reference; // room for calls on values
    uint64_t *raw;
} Instance;

// What an event asks for
typedef struct EventNews {
    bool again, terminates, nominals, states, has_next;
    double next;
} EventNews;

// How far a step came
typedef struct StepNews {
    bool needs_event, terminates, was_early;
    double reached;
} StepNews;

// With this token. TR_FAILED, with what it said, when it refuses. To be freed in any case.
bool tr_instance_new(Instance *i, const Binary *binary, const char *token, Listener listener,
                     tr_error *err);
void tr_instance_free(Instance *i);

// In the order of the standard. All of them: false with an error, and what the FMU said last.
bool tr_instance_enter_initialization(Instance *i, double start, double stop, double tolerance,
                                      tr_error *err);
bool tr_instance_exit_initialization(Instance *i, tr_error *err);
bool tr_instance_terminate(Instance *i, tr_error *err);
bool tr_instance_reset(Instance *i, tr_error *err);

// Values of variables, one after the other, arrays element by element; those of is_number() alone.
bool tr_instance_get(Instance *i, const uint32_t *variables, uint32_t count, double *values,
                     tr_error *err);
bool tr_instance_set(Instance *i, const uint32_t *variables, uint32_t count, const double *values,
                     tr_error *err);
bool tr_instance_set_text(Instance *i, uint32_t variable, const char *text, tr_error *err);

// Events: of ME, and of CS in 3.0
bool tr_instance_enter_event_mode(Instance *i, tr_error *err);
// Until nothing is left to be done; `news` is of all of it.
bool tr_instance_settle_event(Instance *i, EventNews *news, tr_error *err);

// ME
bool tr_instance_enter_continuous(Instance *i, tr_error *err);
bool tr_instance_counts(Instance *i, size_t *states, size_t *indicators, tr_error *err);
bool tr_instance_set_time(Instance *i, double t, tr_error *err);
bool tr_instance_set_states(Instance *i, const double *x, size_t count, tr_error *err);
bool tr_instance_states(Instance *i, double *x, size_t count, tr_error *err);
bool tr_instance_nominals(Instance *i, double *nominals, size_t count, tr_error *err);
bool tr_instance_indicators(Instance *i, double *z, size_t count, tr_error *err);
// `is_refused`: not an error, but a smaller step is asked for
bool tr_instance_rates(Instance *i, double *rates, size_t count, bool *is_refused, tr_error *err);
bool tr_instance_completed(Instance *i, bool *enters_event, bool *terminates, tr_error *err);

// CS
bool tr_instance_step(Instance *i, double t, double step, StepNews *news, tr_error *err);
bool tr_instance_enter_step_mode(Instance *i, tr_error *err);

// What not every FMU can do: saved states, which are to be dropped,
bool tr_instance_save(Instance *i, void **state, tr_error *err);
bool tr_instance_restore(Instance *i, void *state, tr_error *err);
bool tr_instance_drop(Instance *i, void **state, tr_error *err);
// as bytes, to be freed,
char *tr_instance_write_state(Instance *i, void *state, size_t *size, tr_error *err);
bool tr_instance_read_state(Instance *i, const char *bytes, size_t size, void **state,
                            tr_error *err);
// derivatives along seeds of knowns, and in 3.0 of unknowns
bool tr_instance_directional(Instance *i, const fmi3ValueReference *unknown, size_t unknowns,
                             const fmi3ValueReference *known, size_t knowns, const double *seed,
                             double *out, tr_error *err);
bool tr_instance_adjoint(Instance *i, const fmi3ValueReference *unknown, size_t unknowns,
                         const fmi3ValueReference *known, size_t knowns, const double *seed,
                         double *out, tr_error *err);

// ---- promises ------------------------------------------------------------------------------

// Where what an FMU promises is tried: in continuous time, or before a step
typedef struct TriedFrom {
    size_t states;
    double t, step;
    bool can_step;
} TriedFrom;

// Tries what it says that it can do, and tells where it does not. False with an error where a call
// failed. (promises.c)
bool tr_fmu_try_promises(Fmu *fmu, Instance *i, const TriedFrom *from, tr_error *err);
// All that are numbers, by their elements, to be freed; 0 where one cannot be read
double *tr_instance_values(Instance *i);
// Whether they are `a` again; else it is told that they are not, `when`.
bool tr_values_agree(Fmu *fmu, const double *a, const double *b, const char *when);

#endif
