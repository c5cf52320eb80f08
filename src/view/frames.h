// SPDX-License-Identifier: Apache-2.0
// Where everything is at each row of a recorded run, from its coordinates and reactions alone.
#ifndef TR_VIEW_FRAMES_H
#define TR_VIEW_FRAMES_H

#include "base/sheet.h"
#include "expr/system.h"

typedef struct Frames Frames;

enum { BODY_NUMBERS = 7, CONTACT_NUMBERS = 6 };

// An error when the run has no column for a coordinate of the system, or for the point of a contact
// on a terrain: where that touches is part of the state, and only its point is recorded.
Frames *tr_frames_new(const System *system, const Sheet *run, tr_error *err);
void tr_frames_free(Frames *frames);

// Numbers in a frame: for each body x y z qw qx qy qz, its origin and its rotation body -> world;
// then for each contact x y z Fx Fy Fz, its point and the force on its body, in world axes, and
// where it has one Mx My Mz, the moment: nan when the run has no reactions.
uint32_t tr_frames_stride(const Frames *frames);
uint32_t tr_contact_numbers(const SceneContact *contact);
void tr_frames_get(Frames *frames, size_t row, double *out);
// Where a contact that is on a terrain was in the terrain's x and y, in the row that was got last.
void tr_frames_touch(const Frames *frames, uint32_t contact, double out[2]);

// Of the first frame: the edge of a cube that all drawings fit in, and the least height above a
// plane of what leaves tracks on it.
double tr_frames_extent(Frames *frames);

// How far drawings of a body are below the flat ground at most, and the first row where they are
// clearly; 0 where they never are, and where there is no ground to be below.
typedef struct Sunk {
    double depth; // [m]
    size_t row;
} Sunk;
void tr_frames_sunk(Frames *frames, size_t rows, Sunk *sunk); // one for each body

// Rows enough for pictures, which the caller frees: all of them, or some thousands, between which
// nothing turns far. The first and the last are among them.
uint32_t *tr_frames_sampled(Frames *frames, size_t rows, size_t *count, tr_error *err);

double tr_frames_height(Frames *frames, const double at[3], const double normal[3]);

#endif
