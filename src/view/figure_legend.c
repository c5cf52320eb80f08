// SPDX-License-Identifier: Apache-2.0
// What stands beside curves and says which is which: colours, dashes, words.
#include "view/figure_parts.h"

#include "base/number.h"

#include <stdio.h>

// Told apart also by those who see fewer colours (Okabe and Ito), and by dashes. 7 and 5 have no
// common factor: there are 35 pairs.
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#56b4e9", "#e69f00", "#000000"};
static const char *const dashes[] = {"none", "7 3", "2 2.5", "9 3 2 3", "14 4"};
enum {
    COLOURS = sizeof colours / sizeof *colours,
    DASHES = sizeof dashes / sizeof *dashes,
};

const char *tr_curve_colour(size_t index) { return colours[index % COLOURS]; }

// ---- words ---------------------------------------------------------------------------------

void tr_add_fitting(Buffer *out, const char *text, double width, double font)
{
    if (tr_svg_text_width(text, font) <= width) {
        tr_buffer_add(out, text, strlen(text));
        return;
    }
    double used = font; // the dots
    for (size_t left = strlen(text), length; left; text += length, left -= length) {
        length = tr_utf8_length(text, left);
        if (!length) length = 1;
        char one[5] = {0};
        memcpy(one, text, length);
        used += tr_svg_text_width(one, font);
        if (used > width) break;
        tr_buffer_add(out, one, length);
    }
    tr_buffer_print(out, "…");
}

void tr_add_short(Buffer *out, double value) { tr_buffer_number(out, tr_number_rounded(value, 4)); }

// What the legend says of a curve.
static void add_legend_text(const Drawing *s, const Curve *curve, Buffer *out)
{
    const Extent e = tr_extent_of(s->figure, curve);
    Buffer full = {0};
    tr_buffer_print(&full, "%s", curve->name);
    if (e.left_out)
        tr_buffer_print(&full, " (%zu of %zu not positive, left out)", e.left_out,
                        e.left_out + e.drawn);
    else if (!e.drawn)
        tr_buffer_print(&full, " (no numbers)");
    if (full.failed)
        out->failed = true;
    else
        tr_add_fitting(out, full.at, s->width - LEFT_MOST - MARGIN - SWATCH - 6, TICK_FONT);
    tr_buffer_free(&full);
}

// ---- legends -------------------------------------------------------------------------------

// Where the next entry of a legend goes, from the panel's left end and the legend's top.
typedef struct Flow {
    double x;
    int row;
} Flow;

static Flow flow_next(const Drawing *s, Flow *flow, double width)
{
    if (flow->x > 0 && flow->x + width > s->width - LEFT_MOST - MARGIN)
        *flow = (Flow){0, flow->row + 1};
    const Flow here = *flow;
    flow->x += width + ENTRY_GAP;
    return here;
}

bool tr_has_legend(const Drawing *s, const Panel *panel)
{
    return panel->has_legend || tr_extent_of_panel(s->figure, panel).left_out > 0 ||
           tr_extent_of_panel(s->figure, panel).drawn == 0;
}

static const double contour_entry = 250; // room for what it says of contours [px]

int tr_legend_rows(const Drawing *s, const Panel *panel)
{
    if (!tr_has_legend(s, panel)) return 0;
    Flow flow = {0};
    for (size_t i = 0; i < panel->count; i++) {
        Buffer text = {0};
        add_legend_text(s, &panel->curves[i], &text);
        flow_next(s, &flow, SWATCH + 6 + (text.at ? tr_svg_text_width(text.at, TICK_FONT) : 0));
        s->svg->failed |= text.failed;
        tr_buffer_free(&text);
    }
    if (s->figure->is_track) flow_next(s, &flow, 16 + tr_svg_text_width("start", TICK_FONT));
    if (s->figure->relief.height) flow_next(s, &flow, contour_entry);
    return flow.row + 1;
}

void tr_curve_style(size_t index, char *out, size_t size)
{
    snprintf(out, size,
             "fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" stroke-linejoin=\"round\" "
             "stroke-dasharray=\"%s\"",
             tr_curve_colour(index), dashes[index % DASHES]);
}

// From dark to bright, which those who see no colours see, too
void tr_begin_shade(const Drawing *s, double shade)
{
    static const double anchors[][3] = {
        {68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
    enum { LAST = sizeof anchors / sizeof *anchors - 1 };
    const double at = LAST * fmin(fmax(shade, 0), 1);
    const int k = at < LAST ? (int)at : LAST - 1;
    int rgb[3];
    char style[60];
    for (int i = 0; i < 3; i++)
        rgb[i] = (int)(anchors[k][i] + (at - k) * (anchors[k + 1][i] - anchors[k][i]) + 0.5);
    snprintf(style, sizeof style, "fill=\"#%02x%02x%02x\" stroke=\"none\"", (unsigned)rgb[0] & 255,
             (unsigned)rgb[1] & 255, (unsigned)rgb[2] & 255);
    tr_svg_group(s->svg, style, NULL);
}

// What stands beside the name of a curve
static void draw_swatch(const Drawing *s, const Curve *curve, size_t index, Point at)
{
    enum { SHADES = 13 };
    char style[200];
    if (curve->marks && curve->marks->shade) {
        for (int i = 0; i < SHADES; i++) {
            tr_begin_shade(s, (double)i / (SHADES - 1));
            tr_svg_rect(s->svg, (Point){at.x + SWATCH * i / (double)SHADES, at.y - 5},
                        SWATCH / (double)SHADES, 10);
            tr_svg_group_end(s->svg);
        }
        return;
    }
    tr_curve_style(index, style, sizeof style);
    if (curve->marks)
        snprintf(style, sizeof style, "fill=\"%s\" stroke=\"none\"", tr_curve_colour(index));
    tr_svg_group(s->svg, style, NULL);
    if (curve->marks)
        tr_svg_circle(s->svg, (Point){at.x + SWATCH / 2.0, at.y}, 2.2);
    else
        tr_svg_line(s->svg, at, (Point){at.x + SWATCH, at.y});
    tr_svg_group_end(s->svg);
}

static void draw_contour_entry(const Drawing *s, Flow at, double top)
{
    const double x = s->left + at.x, y = top + at.row * LEGEND_ROW + LEGEND_ROW / 2.0;
    Buffer text = {0};
    tr_buffer_print(&text, "heights ");
    tr_add_short(&text, tr_axis_tick(&s->levels, 1));
    tr_buffer_print(&text, " m apart");
    tr_svg_group(s->svg, MAJOR, NULL);
    tr_svg_line(s->svg, (Point){x, y}, (Point){x + SWATCH, y});
    tr_svg_group_end(s->svg);
    if (text.at) tr_svg_text(s->svg, (Point){x + SWATCH + 6, y + 4}, text.at);
    s->svg->failed |= text.failed;
    tr_buffer_free(&text);
}

void tr_draw_legend(const Drawing *s, const Panel *panel, double top)
{
    Flow flow = {0};
    for (size_t i = 0; i < panel->count; i++) {
        Buffer text = {0};
        add_legend_text(s, &panel->curves[i], &text);
        if (text.at) {
            const double width = SWATCH + 6 + tr_svg_text_width(text.at, TICK_FONT);
            const Flow at = flow_next(s, &flow, width);
            const double x = s->left + at.x, y = top + at.row * LEGEND_ROW + LEGEND_ROW / 2.0;
            draw_swatch(s, &panel->curves[i], i, (Point){x, y});
            tr_svg_text(s->svg, (Point){x + SWATCH + 6, y + 4}, text.at);
        }
        s->svg->failed |= text.failed;
        tr_buffer_free(&text);
    }
    if (!s->figure->is_track) return;
    const Flow at = flow_next(s, &flow, 16 + tr_svg_text_width("start", TICK_FONT));
    const Point dot = {s->left + at.x + 5, top + at.row * LEGEND_ROW + LEGEND_ROW / 2.0};
    tr_svg_group(s->svg, "fill=\"#fff\" stroke=\"#444\" stroke-width=\"1.6\"", NULL);
    tr_svg_circle(s->svg, dot, 3.5);
    tr_svg_group_end(s->svg);
    tr_svg_text(s->svg, (Point){dot.x + 11, dot.y + 4}, "start");
    if (s->ground.columns) draw_contour_entry(s, flow_next(s, &flow, contour_entry), top);
}
