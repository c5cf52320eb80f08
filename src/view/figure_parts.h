// SPDX-License-Identifier: Apache-2.0
// How a figure is made: laid out, with legends, and drawn.
#ifndef TR_VIEW_FIGURE_PARTS_H
#define TR_VIEW_FIGURE_PARTS_H

#include "view/axis.h"
#include "view/contour.h"
#include "view/figure.h"
#include "view/svg.h"

#include <math.h>

// Sizes [px].
enum {
    WIDTH = 720,
    MARGIN = 14,
    BOTTOM = 6,
    TICK_FONT = 12,
    LABEL_FONT = 13,
    TITLE_FONT = 15,
    TITLE_HEIGHT = 26,
    TICK = 4,
    TICKS_BELOW = 22,  // the numbers at the x axis
    LABEL_BELOW = 22,  // and its name
    LABEL_BESIDE = 20, // the name of a y axis
    LEGEND_ROW = 19,
    SWATCH = 26,
    ENTRY_GAP = 18,
    X_SPACING = 80, // between ticks, at least
    Y_SPACING = 28,
    TRACK_SPACING = 50,
    PANEL_LEAST = 40,
    TRACK_LEAST = 130,
    TRACK_MOST = 620,
    TRACK_NARROWEST = 300,
    LEFT_MOST = 108, // what stands left of a panel takes less
};

typedef struct Box {
    double top, height; // of the plot itself
    double head;        // for the legend above it
    Axis y;
    Buffer label; // of the y axis
    bool label_above;
} Box;

typedef struct Drawing {
    const Figure *figure;
    Buffer *svg;
    double width, height, left, plot_width;
    Axis x;
    Box *boxes;    // of the panels
    Point *points; // room for a curve
    Field ground;  // below a track; no columns where it is flat
    Axis levels;   // its lines
} Drawing;

// Where the points of a curve or a panel are
typedef struct Extent {
    Range x, y;
    size_t drawn, left_out; // points; those left out are not positive
} Extent;

// ---- figure_layout.c -----------------------------------------------------------------------

static inline bool is_drawn(const Figure *figure, double x, double y)
{
    return isfinite(x) && isfinite(y) && (y > 0 || !figure->is_log);
}

Extent tr_extent_of(const Figure *figure, const Curve *curve);
Extent tr_extent_of_panel(const Figure *figure, const Panel *panel);
// Where all of it stands; false, with words, where there is no room.
bool tr_lay_out(Drawing *s, tr_error *err);

// ---- figure_legend.c -----------------------------------------------------------------------

const char *tr_curve_colour(size_t index);
void tr_curve_style(size_t index, char *out, size_t size);
void tr_begin_shade(const Drawing *s, double shade); // 0 ... 1
// The text, or as much of it as fits, and dots.
void tr_add_fitting(Buffer *out, const char *text, double width, double font);
void tr_add_short(Buffer *out, double value); // to four digits
bool tr_has_legend(const Drawing *s, const Panel *panel);
int tr_legend_rows(const Drawing *s, const Panel *panel);
void tr_draw_legend(const Drawing *s, const Panel *panel, double top);

// ---- figure_ground.c -----------------------------------------------------------------------

// Styles of its lines
#define MINOR "fill=\"none\" stroke=\"#e4d7bd\" stroke-width=\"1\""
#define MAJOR "fill=\"none\" stroke=\"#c8b387\" stroke-width=\"1.2\""

// Heights all over the panel, and the levels of lines; none where it is a plain.
void tr_survey_ground(Drawing *s, tr_error *err);
void tr_draw_ground(const Drawing *s);

#endif
