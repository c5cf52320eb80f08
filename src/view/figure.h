// SPDX-License-Identifier: Apache-2.0
// Curves with axes around them, laid out and drawn: panels one above the other with a common x
// axis, or one panel with equal scales.
#ifndef TR_VIEW_FIGURE_H
#define TR_VIEW_FIGURE_H

#include "base/text.h"

#include <trundle/trundle.h>

// What stands at the points of a curve in place of a line through them: dots, in the colour of the
// curve or each of its own; with edges [of the axes] cells.
typedef struct Edges {
    double left, right, low, high;
} Edges;

typedef struct Marks {
    const double *shade; // of each, 0 ... 1; NULL
    const Edges *cells;  // likewise
} Marks;

// Numbers that are not finite are gaps. Others are 0 or between TR_AXIS_SMALLEST and _LARGEST.
typedef struct Curve {
    const char *name;
    const double *x, *y;
    size_t rows;
    const double *spread[3]; // of a track whose place is uncertain: sd of x, of y, cov; else NULL
    const Marks *marks;      // NULL: a line
} Curve;

typedef struct Panel {
    const Curve *curves;
    size_t count;
    const char *label, *unit; // of the y axis; "" and NULL when there is nothing to say
    bool has_legend;
} Panel;

// What a track is on: how high it is over a place; not finite where that is not known.
typedef struct Relief {
    double (*height)(void *owner, double x, double y);
    void *owner;
} Relief;

typedef struct Figure {
    const char *title;   // above it; NULL for none
    const char *subject; // what it shows, in a few words, for those who cannot see it
    const Panel *panels;
    size_t count;
    const char *x_label, *x_unit;
    bool is_track;     // equal scales; curves have a start and a direction
    Relief relief;     // below a track: lines of equal height; no function where it is flat
    bool is_log;       // the y axes are of powers; what is not positive is left out
    bool is_tight;     // the x axis ends where the curves do, not at a tick
    int width, height; // [px]; 0 for what suits
} Figure;

void tr_figure_draw(const Figure *figure, Buffer *svg, tr_error *err);

#endif
