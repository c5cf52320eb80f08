// SPDX-License-Identifier: Apache-2.0
// Curves as they are drawn: points in pixels, no more of them than one can see.
#ifndef TR_VIEW_CURVE_H
#define TR_VIEW_CURVE_H

#include "view/svg.h"

// Where x never decreases: of the points in one column of pixels, the first, the last, the highest
// and the lowest stay. Works in place; returns how many are left.
size_t tr_thin_columns(Point *points, size_t count);

// Leaves out points that are within `tolerance` of the line between those that stay. Turning points
// stay, and the first and the last. Works in place; returns how many are left.
size_t tr_thin_lines(Point *points, size_t count, double tolerance);

// The point halfway along a curve, and the direction there (a unit vector); false when it has no
// length.
bool tr_curve_middle(const Point *points, size_t count, Point *at, Point *direction);

#endif
