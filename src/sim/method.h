// SPDX-License-Identifier: Apache-2.0
// Ways to move a flow forward in time.
#ifndef TR_SIM_METHOD_H
#define TR_SIM_METHOD_H

#include "sim/watch.h"

#include <math.h>

typedef struct Mover Mover;

enum { WORK_VECTORS = 12 }; // like y, in a mover's `work`

typedef struct Method {
    const char *name;
    bool adaptive;
    // Moves (t, y) on to `until`, exactly. False, with words, when it cannot, or when it was
    // stopped or pauses.
    bool (*advance)(Mover *mover, double until, tr_error *err);
    void (*step)(Mover *mover, double h); // of methods with a fixed step
    const char *options;                  // that it uses: "rtol atol"
} Method;

// Where fixed steps end: at start + count step.
typedef struct Grid {
    double start;
    uint64_t count; // so far
    bool is_there;  // else it begins where the next step does
} Grid;

// Rates of the past: how many are known, and how far apart they are.
typedef struct Adams {
    uint32_t known;
    double step; // [s]
} Adams;

// What comes of looking at how long steps are and might be.
typedef struct Outlook {
    size_t next;      // look, after as many steps; 0 when there was none yet
    int order;        // of implicit methods: no higher; 0 when it does not matter
    double covered;   // of explicit methods: time of which it is known how many steps
    double implicit;  // backward differences would have taken, about
    char advice[200]; // "" when there is none
} Outlook;

struct Mover {
    const Method *method;
    Flow *flow;
    double t;
    double *y;
    double step;       // of methods with a fixed step [s]
    Grid grid;         // of these
    double rtol, atol; // of adaptive ones
    bool dense;        // erk may step past rows and interpolate; no method past `limit`
    double limit;
    double first_step; // to try, of adaptive methods that start anew; 0 when nothing is known [s]
    size_t steps, failed_steps;
    size_t most_steps; // of both together; 0: no limit
    bool pauses;       // between steps, once some were made after the first `resumed`; when calm
    size_t resumed;
    double drift; // the furthest that a step left the constraints on positions
    bool (*progress)(void *owner, double t, double end); // false stops; may be NULL
    void (*say)(void *owner, const char *words);         // something useful; may be NULL
    void *owner;
    double end;
    bool told; // by `progress`, to stop where it may be gone on from: behind a switch, not past it
    bool stopped;
    Watch watch;
    tr_error refusal; // why it had to stop: the constraints cannot all hold
    double *work;     // several vectors like y, for methods
    Adams adams;      // of pece alone
    double *matrices; // of rosenbrock alone
    Outlook outlook;  // of adaptive methods
    void *solver;     // of these, see sundials.c
};

// Steps end at start + count step, however calls divide the time.                          (T84)
static inline double grid_end(double start, double count, double step)
{
    return start + count * step;
}

// But for rounding
static inline bool is_at(double t, double until, double step)
{
    return fabs(t - until) <= 1e-14 * fabs(until) + 1e-12 * step;
}

// Whether a step ends on the grid, where that is at `end`, or on the way, at `until`
static inline bool is_whole_step(double end, double until, double step)
{
    return (until > end + 1e-6 * step) | is_at(end, until, step);
}

// The method of that name, or NULL and an error that lists them.
const Method *tr_method(const char *name, tr_error *err);
// Whether an option has an effect. If it has not, but would with other methods, which ones: "a or
// b"
bool tr_method_uses(const Method *method, const char *option, char *others, size_t size);

Mover *tr_mover_new(const Method *method, Flow *flow, const double *y, tr_error *err);
// Without a step and tolerances, which the caller gives it (a batch makes one for each run it
// loads)
Mover *tr_mover_open(const Method *method, Flow *flow, const double *y, tr_error *err);
void tr_mover_free(Mover *mover);

// After every step: mends the positions.
void tr_mover_mend(Mover *mover, double t, double *y);
// Then asks whether to go on. False when the run must stop.
bool tr_mover_stepped(Mover *mover, double t, const double *y);
// And in which chart: when it changes, methods that remember must start anew.
bool tr_mover_chart(Mover *mover, double t, double *y, bool *changed);

// The rates jump where it stands: methods that remember start anew, in another chart if one is due.
// `first_step` is as above. False when the run must stop.
bool tr_mover_restart(Mover *mover, double first_step);

bool tr_advance_erk(Mover *mover, double until, tr_error *err);
bool tr_advance_bdf(Mover *mover, double until, tr_error *err);
void tr_solver_free(Mover *mover);
// Before that: whether the chart of (t, y) was not looked at yet; and the length of the last step.
bool tr_solver_owes_chart(const Mover *mover);
double tr_solver_last_step(const Mover *mover);
// After it was told to stop between: (t, y) is where its last step ended.
void tr_solver_arrive(Mover *mover);

#endif
