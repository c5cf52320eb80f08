// SPDX-License-Identifier: Apache-2.0
// A run: where a system has come to, and all that what comes next depends on. What it needs of the
// system is the plan's, which any number of runs share.
#ifndef TR_SIM_RUN_H
#define TR_SIM_RUN_H

#include "plan/latch.h"
#include "sim/event.h"
#include "sim/method.h"

typedef tr_run Run;

enum { RECENT = 51 };

struct tr_run {
    Plan *plan;
    tr_run_options options;
    const Method *method;
    // What was set, for the next start: values of all inputs, and which of them were given
    double *values;
    bool *is_set;
    bool is_changed; // since the last start
    Flow *flow;
    Mover *mover;
    double *row, *before;        // now; and before inputs changed
    uint32_t columns, plain;     // all, and without sensitivities or deviations, which come last
    uint32_t kinetic, potential; // in the row
    Events events;
    uint32_t next_event;
    double limit;          // that no step passes, whatever is asked for
    size_t most_steps;     // that it may take; 0: no limit
    bool has_covariance;   // how well the state is known goes along, where something is uncertain
    double fastest;        // impact so far [m/s]
    double recent[RECENT]; // times of the last switches, in a ring
    size_t switches;
    void (*note)(void *owner, const Switch *change); // of each switch; may be NULL
    void *note_owner;
    struct Clock *clocks; // of what acts at samples, see sample.h
    Habit *habits;        // of switches
    Spell *spells;        // by alarm
    bool has_doubted;     // said that a jump in t may have been missed
    bool has_chattered;   // said that a switch goes to and fro
    tr_error failure;     // why it cannot go on
};

// The last of its plain columns, behind what the flow gives
enum { COLUMN_WORK, COLUMN_POSITION, COLUMN_VELOCITY, LAST_COLUMNS }; // the last two are residuals

static inline uint32_t last_column(const Run *run, uint32_t column)
{
    return run->plain - LAST_COLUMNS + column;
}

// One that has not begun yet.
Run *tr_run_open(Plan *plan, const tr_run_options *options, tr_error *err);
// Sets a value for the next start, and nothing now.
void tr_run_put(Run *run, uint32_t input, double value);
// The index of what may be set; NO_INPUT, with words, where nothing is called so. And whether a
// number may be one to set.
uint32_t tr_run_find(const Run *run, const char *name, tr_error *err);
bool tr_run_check_finite(const Run *run, uint32_t input, double value, tr_error *err);
// As it starts, with the values that were set.
bool tr_run_begin(Run *run, tr_error *err);
// Once the first samples are taken: what friction does not hold then slips. False, with words, when
// the run must not even begin.
bool tr_run_set_out(Run *run, tr_error *err);
// Moves on to `until`, through events and switches. False with an error, or when a callback stopped
// it.
bool tr_run_go(Run *run, double until, tr_error *err);
// When something is due that is known beforehand: an event, or a switch whose rest is over
double tr_run_due(const Run *run);
// After the state was changed where it stands, by `gained` of energy: methods start anew.
bool tr_run_jump(Run *run, double gained, tr_error *err);
// The row where it stands, into `row`.
void tr_run_take_row(Run *run);
// Whether reactions in `row` are finite, and all else whose names must have a value there; else
// words.
bool tr_run_check_reactions(Run *run, tr_error *err);
bool tr_run_check_row(Run *run, tr_error *err);
// After inputs of the flow changed, while `before` is the row until then: false, with words, when
// that moves something at once.
bool tr_run_accept(Run *run, const char *who, tr_error *err);
// The names of the columns: as many as the run has.
void tr_run_labels(const Run *run, const char **labels);

// Switches take the sides that they are on where it stands.
void tr_run_take_sides(Run *run);
void tr_run_arouse(Run *run); // switches that were calm

// Events from where it stands on; an event there is still to be crossed unless rates are taken
// behind it already.
bool tr_run_find_events(Run *run, tr_error *err);

// A snapshot without words about what it is: the bytes that it may take, that it took, and back,
// with events that are taken, or sought where there are none.
size_t tr_run_most_bytes(const Run *run);
size_t tr_run_write(Run *run, void *memory, size_t size);
bool tr_run_read(Run *run, const void *memory, size_t size, Events *events, tr_error *err);
// Inputs as they are now, from such bytes; a number into them, for the next start (tr_run_put), and
// now, where `is_now`.
void tr_run_read_inputs(const Run *run, const void *memory, double *inputs);
double tr_run_read_input(const Run *run, const void *memory, uint32_t input);
void tr_run_write_setting(const Run *run, void *memory, uint32_t input, double value, bool is_now);

// For snapshots: the options of the run, to a mover; what two runs of a plan hold; and freeing it.
void tr_run_give_options(const Run *run, Mover *mover);
void tr_run_swap(Run *a, Run *b);
void tr_run_empty(Run *run);

#endif
