// SPDX-License-Identifier: Apache-2.0
// Lines of equal height through a grid of heights: each from one end to the other, or round.
#ifndef TR_VIEW_CONTOUR_H
#define TR_VIEW_CONTOUR_H

#include "view/svg.h"

#include <stdbool.h>

// Nodes in rows along x; in cells with a corner that is not finite there are no lines.
typedef struct Field {
    size_t columns, rows; // of nodes, two at least
    Point corner, step;   // of the first node, and to the next: as lines are to be given
    const double *heights;
    double slack; // what is nearer than this to a level is on it: rounding draws no lines
} Field;

// Gives every line of a level to `use`, once; false when memory ran out.
bool tr_contour(const Field *field, double level, void *owner,
                void (*use)(void *owner, Point *points, size_t count));

#endif
