// SPDX-License-Identifier: Apache-2.0
// Scalable vector graphics as text: valid XML whatever the names in it are, the same bytes for the
// same picture on every machine. No scripts, no style sheets, no ids, so that pictures can stand
// inside other pages. Lengths are pixels; y grows downwards.
#ifndef TR_VIEW_SVG_H
#define TR_VIEW_SVG_H

#include "base/text.h"

typedef struct Point {
    double x, y;
} Point;

// Starts a picture on a white sheet. The title and the description are for those who cannot see it.
void tr_svg_begin(Buffer *svg, double width, double height, const char *title,
                  const char *description);
void tr_svg_end(Buffer *svg);

// What follows, up to the end of the group, has these attributes: text of ours that needs no
// escaping ("stroke=\"#000\""). `title`, shown when one points at the group, may be NULL.
void tr_svg_group(Buffer *svg, const char *attributes, const char *title);
void tr_svg_group_end(Buffer *svg);

void tr_svg_line(Buffer *svg, Point from, Point to);
void tr_svg_rect(Buffer *svg, Point corner, double width, double height);
void tr_svg_circle(Buffer *svg, Point centre, double radius);
void tr_svg_polyline(Buffer *svg, const Point *points, size_t count);
void tr_svg_polygon(Buffer *svg, const Point *points, size_t count);

// Text that begins, is centred or ends at a point, as its group says (text-anchor).
void tr_svg_text(Buffer *svg, Point at, const char *text);
void tr_svg_text_upwards(Buffer *svg, Point at, const char *text); // read from below

// About the width of a text, rather too much: fonts differ.
double tr_svg_text_width(const char *text, double font_size);

#endif
