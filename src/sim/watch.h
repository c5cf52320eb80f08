// SPDX-License-Identifier: Apache-2.0
// Watching a run between steps: its chart, alarms that go off, and whether the constraints are
// about to change their rank. It says when; what follows is for others (see go.c).
#ifndef TR_SIM_WATCH_H
#define TR_SIM_WATCH_H

#include "sim/path.h"
#include "sim/second_touch.h"
#include "sim/warning.h"

// What runs remember of a switch.
typedef struct Habit {
    double side;    // that it had before what happens now
    double crossed; // when it left one last; -infinity when it did not yet
    double rests;   // until then it is not looked at; 0 when it does not rest
    uint32_t hurry; // times that it crossed again at once
    bool is_calm;   // nothing jumps when it crosses: it is left to the formula
} Habit;

// What runs remember of an alarm that says that something is at its limit (T346).
typedef struct Spell {
    double first, since; // when it went off first, and when this time
    double lasted;       // in all, but for this time
    uint32_t count;      // times
    uint32_t is_on;      // 1 now; as wide as the count, for snapshots compare bytes
} Spell;

// In all, until t
static inline double tr_spell_lasted(const Spell *spell, double t)
{
    return spell->lasted + (spell->is_on ? t - spell->since : 0);
}

typedef struct Watch {
    Flow *flow;
    double *margins, *last; // of alarms: now, and after the last step
    double *sides;          // room for those of switches
    const Habit *habits;    // of switches
    Spell *spells;          // by alarm
    bool *told;             // by alarm: that it went off, and has not recovered
    Warnings warnings;      // of alarms that went off, and of whatever else the run warns of
    Path path;              // the last states, in the present chart
    SecondTouches second;
    Quality quality[PATH_STATES];
    double *switches[PATH_STATES]; // margins of switches at these states,
    bool is_known[PATH_STATES];    // where they were taken with the inputs and sides of now
    uint32_t changes;
    double end;          // when it is over
    tr_error due;        // why, when that is seen ahead
    uint32_t last_steps; // since then that hardly got on
    bool switched;       // a latch or a switch ended it: at `end`, in the state `ending`
    uint32_t alarm;      // which; that of a switch is behind all others
    int sign;            // of the product of pivots, while it is looked for another
    double *ending;
    double *work;
} Watch;

bool tr_watch_open(Watch *watch, Flow *flow, tr_error *err);
void tr_watch_close(Watch *watch);

// After a step to (t, y). False, with words, when something ended it on the way, at `end`: the
// constraints changed their rank, or a wheel lies flat.
bool tr_watch_step(Watch *watch, double t, const double *y, tr_error *err);
// At a row that the last step passed: a contact may be beyond what it bears there, and not at the
// step's end. False when something ended it before.
bool tr_watch_row(Watch *watch, double t, const double *y);
// Then, once what was passed is recorded: `changed` is set when y is in another chart now.
bool tr_watch_chart(Watch *watch, double t, double *y, bool *changed, tr_error *err);

// Whether a step from here may be one at whose end nothing need be looked at closer (glance.h).
bool tr_watch_is_calm(const Watch *watch);
// Of an alarm: nothing is done when it goes off, for it was told already, or is about nothing that
// contacts do now.
bool tr_watch_is_deaf(const Watch *watch, uint32_t alarm);
// Of a switch: it may cross now, for it has a side, and does not rest.
bool tr_watch_keeps(const Watch *watch, uint32_t k);

// What is wrong at the start already. False, with words, when it must not even begin.
bool tr_watch_start(Watch *watch, double t, const double *y, tr_error *err);

// Inputs or sides are others now.
void tr_watch_renew(Watch *watch);
// Rows are others at once: what was seen of them before does not lead here.
void tr_watch_leap(Watch *watch, double t, const double *y);

// Why a step from (t, y) may have failed: true, with words, when the constraints are about to
// change their rank there.
bool tr_watch_blame(Watch *watch, double t, const double *y, tr_error *err);

#endif
