// SPDX-License-Identifier: Apache-2.0
// Ground that is not flat, as numbers: its height wherever one asks, and on a grid that is as
// coarse as one can see.
#ifndef TR_VIEW_TERRAIN_H
#define TR_VIEW_TERRAIN_H

#include "expr/system.h"
#include "plan/evaluator.h"

typedef struct Height {
    Evaluator formula;
    double *inputs;
    uint32_t symbol[2]; // inputs: x and y
} Height;

// What a failed one would say is in the error. `terrain` is one of the system's scene.
bool tr_height_make(Height *height, const System *system, uint32_t terrain, tr_error *err);
void tr_height_free(Height *height);
double tr_height_at(Height *height, double x, double y); // not finite where there is none

enum { MAP_CELLS = 192 }; // at most, along either side

// Nodes in rows along x, the first at the corner. Where a height is not finite there is a hole.
typedef struct HeightMap {
    double corner[2], step; // [m]
    uint32_t count[2];      // of nodes
    double *heights;
} HeightMap;

// From `low` to `high` or a little more. Heights between nodes, taken in straight lines, are right
// to `exact` of how high it is all in all, where the finest grid allows that.
bool tr_height_map_make(HeightMap *map, Height *height, const double low[2], const double high[2],
                        double exact, tr_error *err);
void tr_height_map_free(HeightMap *map);

#endif
