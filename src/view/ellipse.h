// SPDX-License-Identifier: Apache-2.0
// How well the places of a track are known: ellipses that they are inside of with 95 percent.
#ifndef TR_VIEW_ELLIPSE_H
#define TR_VIEW_ELLIPSE_H

#include "view/axis.h"
#include "view/figure.h"
#include "view/svg.h"

enum { ELLIPSE_CORNERS = 48 };

// The ellipse of row i, in the units of the curve. False where there is none: about a dozen of a
// track are drawn.
bool tr_ellipse_at(const Curve *curve, size_t i, Point corners[ELLIPSE_CORNERS]);
// Makes room for them.
void tr_ellipses_extend(const Curve *curve, Range *x, Range *y);

#endif
