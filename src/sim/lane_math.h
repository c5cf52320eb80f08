// SPDX-License-Identifier: Apache-2.0
// Arithmetic of steps for a block of lanes: number i of lane k is x[i * lanes + k], or rows[i][k].
// Each lane goes through the operations of a run alone, in their order (flow.c, project.c,
// stance.c, chart.c, watch.c), so it has their bits. Whatever is not plain is only noted: lanes
// that are `plain` have 1 there, others 0.
#ifndef TR_SIM_LANE_MATH_H
#define TR_SIM_LANE_MATH_H

#include "program/kernel.h"

enum { MOST_LANES = 8 };

typedef const double *const *Rows;

// The next step of each lane, on the grid or up to `until`, see method.c. Lanes that are `on` take
// it: others have come to `until`, or something is `due` in it.
typedef struct LaneSteps {
    double *t, *start, *count, *there; // of the grid; moved on to where the step begins
    const double *due;
    double step, until;
    double h[MOST_LANES], half[MOST_LANES], end[MOST_LANES], whole[MOST_LANES];
    double on[MOST_LANES], arrived[MOST_LANES];
} LaneSteps;

// Onto constraints: n positions, m conditions with slopes J, m * n rows.
typedef struct LaneCorrection {
    uint32_t n, m;
    Rows phi, J;
    double *JJ;       // room for m * m
    double *solution; // room for m
    double *x;        // positions
    const double *on; // lanes that are moved
    double *plain;
} LaneCorrection;

// Rows of constraints, see stance.h
typedef struct LaneRows {
    uint32_t rows, constraints;
    const double *unit; // by row, one for all lanes
    const bool *open;
    double *square, *scale; // the former of sizes
    double *old;            // room for both: what they were, where something
    bool grew;
} LaneRows;

// Qualities of charts at the last states: newest first.
typedef struct LaneQualities {
    double *tilt, *least[3], *sign[2];
    const double *t[2];  // at the newest two
    const double *count; // states, with the newest
} LaneQualities;

typedef struct LaneMath {
    uint32_t lanes;
    void (*begin)(LaneSteps *steps);
    // Stages: `later` may be NULL
    void (*put_time)(const double *t, const double *later, const double *earliest,
                     const double *latest, double *to);
    void (*along)(uint32_t count, const double *y, const double *h, Rows k, double *const *z);
    void (*keep)(uint32_t count, Rows from, double *to);
    void (*put)(uint32_t count, const double *x, double *const *rows);
    void (*times)(uint32_t count, const double *h, const double *k, double *u);
    void (*plus)(uint32_t count, const double *y, const double *u, double *z);
    void (*mix)(uint32_t count, const double *h, const Rows *k, double *u);
    void (*by_four)(uint32_t count, const double *y, const double *h, const Rows *k, double *next);
    void (*check_finite)(uint32_t count, const double *x, double *plain);
    // Projection
    void (*make_units)(uint32_t count, const uint32_t *quaternion, const double *on, double *x,
                       double *worst, double *plain);
    void (*add_units)(uint32_t count, const uint32_t *quaternion, const double *x,
                      double *const *phi, double *const *J, uint32_t n);
    void (*worst)(uint32_t count, Rows x, double *worst);
    bool (*strive)(const double *left, double *before, const double *plain, double *on);
    void (*correct)(LaneCorrection *correction);
    // Looking back
    void (*grow)(LaneRows *rows, Rows squares, const double *on, double *plain);
    void (*pivots)(uint32_t count, const uint32_t *row, const double *scale, Rows pivots,
                   double *least, double *sign, double *plain);
    void (*judge)(const LaneQualities *q, double *plain);
    void (*alarms)(uint32_t count, Rows margins, const double *told, const double *deaf,
                   double *plain);
    void (*hold)(uint32_t count, const uint32_t *row, Rows seen, const double *largest,
                 double *grown, double *plain);
    // What becomes of lanes that are on
    void (*take)(uint32_t count, const double *on, const double *from, double *to);
    void (*take_rows)(uint32_t count, const double *on, Rows from, double *to);
    bool (*find_others)(const double *on, const double *x, const double *than, double *others);
    void (*count)(double number, const double *on, double *sum);
    void (*take_larger)(const double *on, const double *x, double *most);
} LaneMath;

#define EVERY_LANE_STEP(X)                                                                        \
    X(begin)                                                                                      \
    X(put_time)                                                                                   \
    X(along)                                                                                      \
    X(keep)                                                                                       \
    X(put)                                                                                        \
    X(times)                                                                                      \
    X(plus)                                                                                       \
    X(mix) X(by_four) X(check_finite) X(make_units) X(add_units) X(worst) X(strive) X(correct)    \
        X(grow) X(pivots) X(judge) X(alarms) X(hold) X(take) X(take_rows) X(find_others) X(count) \
            X(take_larger)

// For 4 or 8 lanes.
const LaneMath *tr_lane_math(Machine machine, uint32_t lanes);

enum { LANE_MATHS = 2 };
extern const LaneMath tr_lane_maths_plain[LANE_MATHS], tr_lane_maths_avx2[LANE_MATHS],
    tr_lane_maths_avx512[LANE_MATHS];

#endif
