// SPDX-License-Identifier: Apache-2.0
// The adaptive methods of SUNDIALS for equations that come by calls, with functions whose changes
// of sign end a step.
#ifndef TR_FMU_STEPPER_H
#define TR_FMU_STEPPER_H

#include "base/error.h"

typedef struct Equations {
    size_t states, roots;
    void *owner;
    // 0: done; 1: not there, try a smaller step; -1: never
    int (*rates)(void *owner, double t, const double *x, double *rates);
    int (*indicators)(void *owner, double t, const double *x, double *z);
} Equations;

typedef struct Stepper Stepper;

// "erk" or "bdf". Tolerances are those of a step: `rtol`, and `atol` of each state.
Stepper *tr_stepper_new(const char *method, const Equations *equations, double t, const double *x,
                        double rtol, const double *atol, double longest, tr_error *err);
void tr_stepper_free(Stepper *stepper);
// Forgets what was before, at (t, x).
bool tr_stepper_restart(Stepper *stepper, double t, const double *x, const double *atol,
                        tr_error *err);

// One step, not past `stop`. False with an error when no step is short enough; `is_root` where it
// ends because a sign changed.
bool tr_stepper_step(Stepper *stepper, double stop, double *t, bool *is_root, tr_error *err);
// The state within the last step
bool tr_stepper_at(Stepper *stepper, double t, double *x);
size_t tr_stepper_evaluations(const Stepper *stepper);

#endif
