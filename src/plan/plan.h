// SPDX-License-Identifier: Apache-2.0
// A plan keeps what can be known of a system before it runs: programs for every way in which it has
// been met so far. What they depend on is their key:
//
//   contact modes, parameters that are 0, 1 or -1      a footing: programs that need no partition
//   and pivots in order, antagonist flags              the programs of a chart
//
// Each is made on a copy of the system as `derive` left it, so a program depends on the system and
// its key alone, whoever asked first. Once there it stays as it is. Numbers that are found at a
// state belong to runs.
#ifndef TR_PLAN_PLAN_H
#define TR_PLAN_PLAN_H

#include "plan/assemble.h"
#include "reduce/reduce.h"

#include <pthread.h>

typedef tr_plan Plan;

// The bytes that programs are kept under
typedef struct Key {
    uint8_t *at;
    size_t size;
} Key;

// Programs that are not always needed
typedef enum FootingProgram {
    FOOTING_SLIPS,  // how fast each latch that may slip does, by alarm
    FOOTING_GAPS,   // of latches that are open, else 0; then the rates of their first rows
    FOOTING_IMPACT, // M G g, restitution, friction and gap by latch, v
    FOOTING_MODES,  // all that modes are found from, whatever they are now
    FOOTING_PROGRAMS
} FootingProgram;

// What there is for contact modes, before any partition.
typedef struct Footing {
    Key key;
    LatchMode *modes;     // by latch; where things head does not matter
    bool *open;           // by row
    uint8_t *fold;        // by input: what a parameter is certain to be, see tr_compile_open
    uint32_t constraints; // rows that are no formulas of speeds: the first
    ConditionSet *conditions[CONDITION_KINDS]; // that of the wishes is NULL where there are none
    tr_program *stance; // G and M by inner velocity, and mixes of rows; NULL without rows
    tr_program *speeds; // formulas of speeds, then inner velocities; NULL when there are none
    tr_program *more[FOOTING_PROGRAMS]; // made when someone asks
} Footing;

// One whose normal is soft, in first order: nothing holds it on the ground, so its height is what
// velocities make it, and it may be in the ground elsewhere, too.
static inline bool is_held(const Touching *touching) { return touching->row != NO_TOUCHING_ROW; }

// Whether a contact on a surface that is not flat flies there
static inline bool is_in_flight(const Footing *footing, const Touching *touching)
{
    return is_held(touching) && footing->open[touching->row];
}

struct ChartPrograms;
struct Sensitivity;
struct Chart;

// The state at the start with the model's own numbers.
typedef struct Start {
    double *inputs;
    uint8_t *marks; // by input: StartMark
    LatchMode *modes;
    struct Chart *chart; // NULL without constraints
} Start;

struct tr_plan {
    const System *system;
    System *own;                           // the same, where it is not the user's
    uint64_t mark;                         // that plans of the same equations have
    const struct Sensitivity *sensitivity; // that its programs are made for, or NULL
    bool sweeps;          // parameters take many values: none counts as 0 or 1 for good
    pthread_mutex_t lock; // of all that follows
    Footing **footings;
    uint32_t footing_count, footing_capacity;
    struct ChartPrograms **charts;
    uint32_t chart_count, chart_capacity;
    Start *start;
    struct Findings *findings; // of the doctor, at the start; NULL until it was asked
    // Made when someone first sets a parameter: numbers of the start and inputs as formulas of
    // parameters, then guesses as formulas of these; and what derive decided
    tr_program *starts, *guesses, *conditions;
    bool follows;
    size_t compiled; // keys that programs were made for
    // The system as programs of a chart are made from it, of the last that was asked; or NULL
    System *reduced;
    const struct ChartPrograms *reduced_for;
    // Comparisons of the state, and the system with their sides for inputs behind its own, see
    // switch.h; none, and NULL, when there are none
    struct StateSwitch *switches;
    uint32_t switch_count;
    System *switching;
};

// What follows from values that were set, into those that were not: numbers of the start, inputs
// and guesses that the model has formulas for.
bool tr_plan_follow(Plan *plan, const bool *is_set, double *values, tr_error *err);
// Whether the equations hold for these values of parameters; else words.
bool tr_plan_permits(Plan *plan, const double *values, tr_error *err);
// Adds which of them break that: "'m' = -1".
void tr_plan_blame(Plan *plan, const double *values, Buffer *names, tr_error *err);
// Whether they are within their ranges; and this input alone, where it has one.
bool tr_plan_within(Plan *plan, const double *values, tr_error *err);
bool tr_plan_takes(Plan *plan, uint32_t input, const double *values, tr_error *err);

// Takes a copy of a system that only this plan knows.
Plan *tr_plan_own(System *own, tr_error *err);

// The footing for these modes, and for the parameters among values of all inputs.
const Footing *tr_plan_footing(Plan *plan, const LatchMode *modes, const double *inputs,
                               tr_error *err);
// Those of its programs that are not always needed.
const ConditionSet *tr_footing_positions(Plan *plan, const Footing *footing, tr_error *err);
const tr_program *tr_footing_program(Plan *plan, const Footing *footing, FootingProgram which,
                                     tr_error *err);
// That from which modes are found: one for all footings that differ in their modes alone.
const tr_program *tr_modes_program(Plan *plan, const Footing *footing, tr_error *err);
// What it evaluates, of a system of one's own: M, G, g, biases of rows, c, Q without reactions and
// by these, what motions accelerate, weights, then numbers of contacts
void tr_footing_list_modes(System *s, const Footing *f, Exprs *list);
bool tr_footing_make(const Plan *plan, Footing *footing, tr_error *err); // from its key
void tr_footing_free(Footing *footing);
void tr_start_free(Start *start);

// A copy of the plan's system that stands so; reduced, where there is a partition.
System *tr_plan_system(const Plan *plan, const Footing *footing, const Partition *partition,
                       tr_error *err);

// The same with the sides of switches for inputs: what runs are made of.
System *tr_plan_run_system(const Plan *plan, const Footing *footing, const Partition *partition,
                           tr_error *err);

void tr_plan_forget(Plan *plan); // the reduced system

// The programs of a partition.
const struct ChartPrograms *tr_plan_chart(Plan *plan, const Footing *footing,
                                          const Partition *partition, uint32_t surplus,
                                          tr_error *err);

#endif
