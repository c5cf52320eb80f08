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

// Single numbers of a record, the first ones
typedef enum RecordPlace {
    AT_TIME,
    AT_GRID_START,
    AT_GRID_COUNT,
    AT_GRID_IS_THERE,
    AT_EARLIEST,
    AT_LATEST,
    AT_DUE,     // nothing happens before that but steps
    AT_WATCHED, // for when something was seen; NaN: nothing was
    AT_STEPS,
    AT_EVALUATIONS,
    AT_ALL_EVALUATIONS,
    AT_DRIFT,
    AT_STATES, // how many there are of the last ones, or more
    SINGLE_NUMBERS
} RecordPlace;

// And of each of the last states
typedef enum PastPlace {
    PAST_TIME,
    PAST_TILT,
    PAST_LEAST,
    PAST_SIGN,
    PAST_IS_KNOWN, // the margins of switches are
    PAST_NUMBERS
} PastPlace;

// The next step of each lane, on the grid or up to `until`, see method.c; and what it has come to
// so far.
typedef struct LaneSteps {
    double *record; // single numbers, of which the grid is moved on to where the step begins
    const double *taken;
    double step;
    const double *until; // of each lane
    double h[MOST_LANES], half[MOST_LANES], end[MOST_LANES], whole[MOST_LANES];
    double on[MOST_LANES]; // lanes that take it: others are there, or something is due in it
    double arrived[MOST_LANES];
    double plain[MOST_LANES]; // lanes that go on in lanes
    double off[MOST_LANES];   // from the constraints
    double evaluations[MOST_LANES];
    double tilt[MOST_LANES], least[MOST_LANES], sign[MOST_LANES], states[MOST_LANES];
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

typedef struct LaneMath {
    uint32_t lanes;
    bool (*begin)(LaneSteps *steps); // false when no lane is on
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
    void (*judge)(LaneSteps *steps, const double *last, const double *first);
    void (*alarms)(uint32_t count, Rows margins, const double *told, const double *deaf,
                   double *plain);
    void (*hold)(uint32_t count, const uint32_t *row, Rows seen, const double *largest,
                 double *grown, double *plain);
    // What becomes of lanes that are on
    void (*take)(uint32_t count, const double *on, const double *from, double *to);
    void (*take_rows)(uint32_t count, const double *on, Rows from, double *to);
    void (*count)(double number, const double *on, double *sum);
    void (*take_larger)(const double *on, const double *x, double *most);
    bool (*find_others)(const double *on, const double *x, const double *than, double *others);
    // Single numbers; `past` may be NULL. True when all that are taken go on.
    bool (*settle)(const LaneSteps *steps, const double *watched, double *past, double is_known);
} LaneMath;

#define EVERY_LANE_STEP(X) \
    X(begin)               \
    X(put_time)            \
    X(along)               \
    X(keep)                \
    X(put)                 \
    X(times)               \
    X(plus)                \
    X(mix)                 \
    X(by_four)             \
    X(check_finite)        \
    X(make_units)          \
    X(add_units)           \
    X(worst)               \
    X(strive)              \
    X(correct)             \
    X(grow)                \
    X(pivots)              \
    X(judge) X(alarms) X(hold) X(take) X(take_rows) X(find_others) X(count) X(take_larger) X(settle)

enum { LANE_MATHS = 2 };
extern const LaneMath tr_lane_maths_plain[LANE_MATHS], tr_lane_maths_avx2[LANE_MATHS],
    tr_lane_maths_avx512[LANE_MATHS];

#endif
