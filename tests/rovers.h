// SPDX-License-Identifier: Apache-2.0
// Seven rovers of models/, and the bumps that they are on.
#ifndef TR_TESTS_ROVERS_H
#define TR_TESTS_ROVERS_H

#include "rolling.h"

enum { MOST_WHEELS = 6 };

typedef struct Rover {
    const char *name, *body;
    double r, A, kx, ky; // wheels, bumps
    double speed, weave, wave;
    int rank; // of rows on level ground where nothing slips aside; 0: it has no such rows
    const char *wheels[MOST_WHEELS];
    V3 axles[MOST_WHEELS]; // in the wheel's axes; y where it is zero
} Rover;

#define SIX  "front_left", "front_right", "middle_left", "middle_right", "rear_left", "rear_right"
#define FOUR "front_left", "front_right", "rear_left", "rear_right"
#define RHOMBUS \
    "front", "bogie_front_left", "bogie_front_right", "bogie_rear_left", "bogie_rear_right", "rear"
#define LEAN 0.8660254037844386
#define NO_AXLE \
    {           \
        0, 0, 0 \
    }

static const Rover rovers[] = {
    {"rover_rocker_bogie", "rover", 0.065, 0.02, 5, 4, 0.25, 0.15, 2, 15, {SIX}, {NO_AXLE}},
    {"rover_averaging", "rover", 0.33, 0.08, 1.7, 1.3, 0.5, 0.6, 8, 11, {FOUR}, {NO_AXLE}},
    {"rover_shrimp", "rover", 0.055, 0.012, 6, 5, 0.2, 0.1, 1.6, 15, {RHOMBUS}, {NO_AXLE}},
    {"rover_skid_steer", "rover", 0.1651, 0.05, 2.5, 2, 0.8, 0.4, 5, 10, {FOUR}, {NO_AXLE}},
    {"rover_four_steer", "rover", 0.16, 0.05, 2.2, 1.8, 1, 0.5, 5, 10, {FOUR}, {NO_AXLE}},
    {"rover_omni",
     "robot",
     0.05,
     0.008,
     6,
     5,
     0.4,
     0.2,
     2,
     0,
     {"first", "second", "third"},
     {{-1, 0, 0}, {0.5, -LEAN, 0}, {0.5, LEAN, 0}}},
    {"rover_mecanum", "robot", 0.0475, 0.008, 6, 5, 0.4, 0.2, 2, 0, {FOUR}, {NO_AXLE}},
};
enum { ROVERS = sizeof rovers / sizeof *rovers };

static inline int wheels_of(const Rover *rover)
{
    int count = 0;
    while (count < MOST_WHEELS && rover->wheels[count]) count++;
    return count;
}

static inline tr_model *model_of(const Rover *rover) { return model_called(rover->name); }

static inline double height(const Rover *rover, double x, double y)
{
    return rover->A * sin(rover->kx * x + rover->ky * y / 2) * cos(rover->ky * y + 0.3);
}

#endif
