// SPDX-License-Identifier: Apache-2.0
#include "view/figure.h"

#include "base/error.h"
#include "base/number.h"
#include "view/axis.h"
#include "view/contour.h"
#include "view/curve.h"
#include "view/ellipse.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

// Told apart also by those who see fewer colours (Okabe and Ito), and by dashes. 7 and 5 have no
// common factor: there are 35 pairs.
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#56b4e9", "#e69f00", "#000000"};
static const char *const dashes[] = {"none", "7 3", "2 2.5", "9 3 2 3", "14 4"};
enum {
    COLOURS = sizeof colours / sizeof *colours,
    DASHES = sizeof dashes / sizeof *dashes,
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

// ---- what is there -------------------------------------------------------------------------

static bool is_drawn(const Figure *figure, double x, double y)
{
    return isfinite(x) && isfinite(y) && (y > 0 || !figure->is_log);
}

typedef struct Extent {
    Range x, y;
    size_t drawn, left_out; // points; those left out are not positive
} Extent;

// Cells are seen to their edges.
static void widen(const Marks *marks, double x, double y, Extent *e)
{
    e->x = tr_range_with(tr_range_with(e->x, x - marks->width / 2), x + marks->width / 2);
    e->y = tr_range_with(tr_range_with(e->y, y - marks->height / 2), y + marks->height / 2);
}

static Extent extent_of(const Figure *figure, const Curve *curve)
{
    Extent e = {tr_range_empty(), tr_range_empty(), 0, 0};
    for (size_t i = 0; i < curve->rows; i++) {
        const double x = curve->x[i], y = curve->y[i];
        e.left_out += figure->is_log && isfinite(x) && y <= 0;
        if (isfinite(y) || !figure->is_track) e.x = tr_range_with(e.x, x); // gaps have their place
        if (!is_drawn(figure, x, y)) continue;
        e.y = tr_range_with(e.y, y);
        if (curve->marks) widen(curve->marks, x, y, &e);
        e.drawn++;
    }
    tr_ellipses_extend(curve, &e.x, &e.y);
    return e;
}

static Range join(Range a, Range b) { return (Range){fmin(a.low, b.low), fmax(a.high, b.high)}; }

static Extent extent_of_panel(const Figure *figure, const Panel *panel)
{
    Extent all = {tr_range_empty(), tr_range_empty(), 0, 0};
    for (size_t i = 0; i < panel->count; i++) {
        const Extent e = extent_of(figure, &panel->curves[i]);
        all = (Extent){join(all.x, e.x), join(all.y, e.y), all.drawn + e.drawn,
                       all.left_out + e.left_out};
    }
    return all;
}

// ---- words ---------------------------------------------------------------------------------

// The text, or as much of it as fits, and dots.
static void add_fitting(Buffer *out, const char *text, double width, double font)
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

// A number to four digits.
static void add_short(Buffer *out, double value)
{
    tr_buffer_number(out, tr_number_rounded(value, 4));
}

static void describe(const Figure *figure, Buffer *out)
{
    for (size_t p = 0; p < figure->count; p++)
        for (size_t i = 0; i < figure->panels[p].count; i++) {
            const Curve *curve = &figure->panels[p].curves[i];
            const Extent e = extent_of(figure, curve);
            tr_buffer_print(out, "%s%s: ", out->length ? "; " : "", curve->name);
            if (!e.drawn) tr_buffer_print(out, "no numbers");
            if (!e.drawn) continue;
            tr_buffer_print(out, "%s from ", figure->x_label);
            add_short(out, e.x.low);
            tr_buffer_print(out, " to ");
            add_short(out, e.x.high);
            tr_buffer_print(out, figure->is_track ? ", y from " : ", values from ");
            add_short(out, e.y.low);
            tr_buffer_print(out, " to ");
            add_short(out, e.y.high);
        }
}

// What the legend says of a curve.
static void add_legend_text(const Drawing *s, const Curve *curve, Buffer *out)
{
    const Extent e = extent_of(s->figure, curve);
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
        add_fitting(out, full.at, s->width - LEFT_MOST - MARGIN - SWATCH - 6, TICK_FONT);
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

static bool has_legend(const Drawing *s, const Panel *panel)
{
    return panel->has_legend || extent_of_panel(s->figure, panel).left_out > 0 ||
           extent_of_panel(s->figure, panel).drawn == 0;
}

static const double contour_entry = 250; // room for what it says of contours [px]

static int legend_rows(const Drawing *s, const Panel *panel)
{
    if (!has_legend(s, panel)) return 0;
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

static void curve_style(size_t index, char *out, size_t size)
{
    snprintf(out, size,
             "fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" stroke-linejoin=\"round\" "
             "stroke-dasharray=\"%s\"",
             colours[index % COLOURS], dashes[index % DASHES]);
}

// From dark to bright, which those who see no colours see, too
static void begin_shade(const Drawing *s, double shade)
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
            begin_shade(s, (double)i / (SHADES - 1));
            tr_svg_rect(s->svg, (Point){at.x + SWATCH * i / (double)SHADES, at.y - 5},
                        SWATCH / (double)SHADES, 10);
            tr_svg_group_end(s->svg);
        }
        return;
    }
    curve_style(index, style, sizeof style);
    if (curve->marks)
        snprintf(style, sizeof style, "fill=\"%s\" stroke=\"none\"", colours[index % COLOURS]);
    tr_svg_group(s->svg, style, NULL);
    if (curve->marks)
        tr_svg_circle(s->svg, (Point){at.x + SWATCH / 2.0, at.y}, 2.2);
    else
        tr_svg_line(s->svg, at, (Point){at.x + SWATCH, at.y});
    tr_svg_group_end(s->svg);
}

#define MINOR "fill=\"none\" stroke=\"#e4d7bd\" stroke-width=\"1\""
#define MAJOR "fill=\"none\" stroke=\"#c8b387\" stroke-width=\"1.2\""

static void draw_contour_entry(const Drawing *s, Flow at, double top)
{
    const double x = s->left + at.x, y = top + at.row * LEGEND_ROW + LEGEND_ROW / 2.0;
    Buffer text = {0};
    tr_buffer_print(&text, "heights ");
    add_short(&text, tr_axis_tick(&s->levels, 1));
    tr_buffer_print(&text, " m apart");
    tr_svg_group(s->svg, MAJOR, NULL);
    tr_svg_line(s->svg, (Point){x, y}, (Point){x + SWATCH, y});
    tr_svg_group_end(s->svg);
    if (text.at) tr_svg_text(s->svg, (Point){x + SWATCH + 6, y + 4}, text.at);
    s->svg->failed |= text.failed;
    tr_buffer_free(&text);
}

static void draw_legend(const Drawing *s, const Panel *panel, double top)
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

// ---- layout --------------------------------------------------------------------------------

#define HIDDEN 0.012 // of an axis: a line within this of its end, and no higher, is on the frame

// More room on the side where a curve that is as good as constant would be on the frame
static Range room_for_lines(const Figure *figure, const Panel *panel, const Axis *axis, Range range)
{
    const double hidden = HIDDEN * (axis->high - axis->low);
    Range wider = range;
    for (size_t i = 0; i < panel->count; i++) {
        const Range y = extent_of(figure, &panel->curves[i]).y;
        if (tr_range_is_empty(y) || y.high - y.low > hidden) continue;
        if (y.low - axis->low < hidden) wider.low = axis->low - hidden;
        if (axis->high - y.high < hidden) wider.high = axis->high + hidden;
    }
    return wider;
}

static Axis y_axis(const Figure *figure, const Panel *panel, double height)
{
    Range range = extent_of_panel(figure, panel).y;
    if (tr_range_is_empty(range)) range = (Range){1, 2};
    if (figure->is_log) return tr_axis_of_powers(range, height, Y_SPACING / 1.5);
    const Axis axis = tr_axis_of(range, height, Y_SPACING, true);
    return tr_axis_of(room_for_lines(figure, panel, &axis, range), height, Y_SPACING, true);
}

// What the y axis is called stands beside it when there is room, above the panel otherwise.
static void measure_head(const Drawing *s, const Panel *panel, Box *box)
{
    box->label_above =
        box->label.at && tr_svg_text_width(box->label.at, LABEL_FONT) > box->height + 10;
    const int rows = legend_rows(s, panel) + box->label_above;
    box->head = 5 + (rows ? rows * LEGEND_ROW + 6 : LABEL_FONT);
}

static double usual_height(const Figure *figure)
{
    return figure->count == 1 ? 300 : figure->count == 2 ? 190 : figure->count == 3 ? 160 : 130;
}

// The height of a panel in a picture of given height.
static double height_left(const Drawing *s)
{
    double room = s->figure->height - MARGIN - TICKS_BELOW - LABEL_BELOW - BOTTOM;
    if (s->figure->title) room -= TITLE_HEIGHT;
    for (size_t i = 0; i < s->figure->count; i++) room -= s->boxes[i].head;
    return room / (double)s->figure->count;
}

static void set_height(Drawing *s, double height)
{
    for (size_t i = 0; i < s->figure->count; i++) {
        const Panel *panel = &s->figure->panels[i];
        Box *box = &s->boxes[i];
        box->height = height;
        box->y = y_axis(s->figure, panel, height);
        s->svg->failed |= box->label.failed;
        tr_buffer_free(&box->label);
        tr_axis_title(&box->y, panel->label, panel->unit, &box->label);
    }
}

static bool is_high_enough(const Drawing *s, double height, tr_error *err)
{
    if (height >= PANEL_LEAST) return true;
    const double missing = (double)s->figure->count * (PANEL_LEAST - height);
    tr_fail(err, TR_USAGE, (Place){0},
            "a height of %d pixels is too little for this picture, which takes %.0f",
            s->figure->height, ceil(s->figure->height + missing));
    return false;
}

// Heads depend on heights, whether a label fits, and heights on heads: one guess settles it.
static bool stack_panels(Drawing *s, tr_error *err)
{
    const bool is_given = s->figure->height > 0;
    set_height(s,
               is_given ? fmax(PANEL_LEAST, height_left(s) - LEGEND_ROW) : usual_height(s->figure));
    for (size_t i = 0; i < s->figure->count; i++)
        measure_head(s, &s->figure->panels[i], &s->boxes[i]);
    if (!is_given) return true;
    const double height = height_left(s);
    if (!is_high_enough(s, height, err)) return false;
    set_height(s, height);
    return true;
}

// How wide the numbers at an axis are.
static double widest_label(const Axis *axis)
{
    double widest = 0;
    for (int64_t k = axis->first; k <= axis->last; k++) {
        char text[TR_LABEL_SIZE];
        tr_axis_label(axis, k, text);
        widest = fmax(widest, tr_svg_text_width(text, TICK_FONT));
    }
    return widest;
}

// Panels from the top; the left margin is what the widest of them needs.
static void place_panels(Drawing *s)
{
    double top = MARGIN + (s->figure->title ? TITLE_HEIGHT : 0), beside = 0;
    for (size_t i = 0; i < s->figure->count; i++) {
        Box *box = &s->boxes[i];
        const bool has_label = box->label.at && box->label.length && !box->label_above;
        beside = fmax(beside, widest_label(&box->y) + (has_label ? LABEL_BESIDE : 0));
        box->top = top + box->head;
        top = box->top + box->height;
        box->y.at_low = box->top + box->height;
        box->y.span = -box->height;
    }
    s->left = fmin(LEFT_MOST, ceil(beside) + TICK + 4 + MARGIN);
    s->plot_width = s->width - s->left - MARGIN - 6;
    s->height = ceil(top + TICKS_BELOW + LABEL_BELOW + BOTTOM);
    if (s->figure->height) s->height = s->figure->height;
    s->x.at_low = s->left;
    s->x.span = s->plot_width;
}

static bool lay_out(Drawing *s, tr_error *err)
{
    if (!stack_panels(s, err)) return false;
    place_panels(s);
    Range x = tr_range_empty();
    for (size_t i = 0; i < s->figure->count; i++)
        x = join(x, extent_of_panel(s->figure, &s->figure->panels[i]).x);
    s->x = tr_axis_of(x, s->plot_width, X_SPACING, !s->figure->is_tight);
    s->x.at_low = s->left;
    s->x.span = s->plot_width;
    return true;
}

// ---- layout with equal scales --------------------------------------------------------------

// A little more than the range, and not nothing.
static Range pad(Range range)
{
    if (tr_range_is_empty(range)) range = (Range){0, 0};
    const double middle = range.low / 2 + range.high / 2, half = range.high - middle;
    const double size = fmax(fabs(range.low), fabs(range.high));
    const double around = fmax(half * 1.08, 1e-9 * size);
    return (Range){middle - around, middle + around};
}

static Range centred(Range range, double span)
{
    const double middle = (range.low + range.high) / 2;
    return (Range){middle - span / 2, middle + span / 2};
}

// The size of the panel when none is given: as the track is, within limits.
static void suit_track(Drawing *s, Range x, Range y, double *width, double *height)
{
    const double tall = (y.high - y.low) / (x.high - x.low); // inf will do
    *height = fmin(TRACK_MOST, fmax(TRACK_LEAST, ceil(*width * tall)));
    const double wanted = fmin(*width, fmax(TRACK_NARROWEST, ceil(*height / tall)));
    s->width -= *width - wanted;
    *width = wanted;
}

static bool lay_out_track(Drawing *s, tr_error *err)
{
    const Panel *panel = s->figure->panels;
    const Extent e = extent_of_panel(s->figure, panel);
    Range x = pad(e.x), y = pad(e.y);
    if (x.high == x.low && y.high == y.low) x = centred(x, 1); // it stands still
    Box *box = s->boxes;
    double width = s->width - LEFT_MOST - MARGIN;
    if (!s->figure->height) suit_track(s, x, y, &width, &box->height);
    box->head = legend_rows(s, panel) * LEGEND_ROW + 5;
    if (s->figure->height) box->height = height_left(s);
    if (!is_high_enough(s, box->height, err)) return false;
    const double unit = fmax((x.high - x.low) / width, (y.high - y.low) / box->height); // [m/px]
    const Axis step = tr_axis_of((Range){0, unit * 1000}, 1000, TRACK_SPACING, false);
    box->y = tr_axis_like(&step, centred(y, unit * box->height));
    tr_axis_title(&box->y, panel->label, panel->unit, &box->label);
    place_panels(s);
    s->x = tr_axis_like(&step, centred(x, unit * s->plot_width));
    s->x.at_low = s->left;
    s->x.span = s->plot_width;
    return true;
}

// ---- the ground below a track --------------------------------------------------------------

enum {
    GROUND_STEP = 5,     // between heights that are asked for [px]
    LINES_MOST = 16,     // levels
    MAJOR_EVERY = 5,     // of these
    LABELLED_LEAST = 70, // a line that is shorter has no label [px]
    LABELS_APART = 90,   // [px]
    MOST_LABELS = 40,
};

static double value_at(const Axis *axis, double place)
{
    return axis->low + (place - axis->at_low) / axis->span * (axis->high - axis->low);
}

static Range heights_of(const Field *field)
{
    Range range = tr_range_empty();
    for (size_t i = 0; i < field->columns * field->rows; i++)
        if (isfinite(field->heights[i])) range = tr_range_with(range, field->heights[i]);
    return range;
}

// Heights all over the panel, and the levels of lines; none where it is a plain.
static void survey(Drawing *s, tr_error *err)
{
    const Box *box = s->boxes;
    const Relief *relief = &s->figure->relief;
    Field field = {.columns = 2 + (size_t)(s->plot_width / GROUND_STEP),
                   .rows = 2 + (size_t)(box->height / GROUND_STEP),
                   .corner = {s->left, box->top}};
    field.step = (Point){s->plot_width / (double)(field.columns - 1),
                         box->height / (double)(field.rows - 1)};
    double *heights = calloc(field.columns * field.rows, sizeof *heights);
    if (!heights) {
        tr_fail_memory(err);
        return;
    }
    double *next = heights;
    for (size_t k = 0; k < field.rows; k++)
        for (size_t i = 0; i < field.columns; i++, next++) {
            const double x = field.corner.x + field.step.x * (double)i,
                         y = field.corner.y + field.step.y * (double)k;
            *next = relief->height(relief->owner, value_at(&s->x, x), value_at(&box->y, y));
            if (!(fabs(*next) <= TR_AXIS_LARGEST)) *next = (double)NAN;
        }
    field.heights = heights;
    const Range range = heights_of(&field);
    if (range.high - range.low > 1e-12 * fmax(fabs(range.low), fabs(range.high))) {
        field.slack = 1e-9 * (range.high - range.low);
        s->ground = field;
        s->levels = tr_axis_of(range, LINES_MOST, 1, false);
    } else {
        free(heights);
    }
}

typedef struct Contouring {
    const Drawing *s;
    bool is_drawn;
    const char *label; // of the level; NULL for none
    Point at[MOST_LABELS];
    Buffer labels; // what stands there
    size_t label_count;
} Contouring;

static bool has_room(const Contouring *c, Point at)
{
    const Drawing *s = c->s;
    const Box *box = s->boxes;
    const double wide = tr_svg_text_width(c->label, TICK_FONT) / 2 + 4, high = TICK_FONT;
    if (at.x < s->left + wide || at.x > s->left + s->plot_width - wide) return false;
    if (at.y < box->top + high || at.y > box->top + box->height - high) return false;
    for (size_t i = 0; i < c->label_count; i++)
        if (hypot(at.x - c->at[i].x, at.y - c->at[i].y) < LABELS_APART) return false;
    return c->label_count < MOST_LABELS;
}

// As near to the middle of a line as there is room, where it is long enough
static void label_line(Contouring *c, const Point *points, size_t count)
{
    double length = 0;
    for (size_t i = 1; i < count; i++)
        length += hypot(points[i].x - points[i - 1].x, points[i].y - points[i - 1].y);
    if (length < LABELLED_LEAST) return;
    for (size_t i = 0; i < count; i++) {
        const size_t off = (i + 1) / 2;
        const Point at = points[i % 2 ? count / 2 - off : count / 2 + off];
        if (!has_room(c, at)) continue;
        c->at[c->label_count++] = at;
        tr_svg_text(&c->labels, (Point){at.x, at.y + 4}, c->label);
        return;
    }
}

static void draw_contour(void *owner, Point *points, size_t count)
{
    Contouring *c = owner;
    if (c->label) label_line(c, points, count);
    if (!c->is_drawn) return;
    count = tr_thin_lines(points, count, 0.2);
    if (count > 1) tr_svg_polyline(c->s->svg, points, count);
}

static void draw_level(Contouring *c, int64_t k, bool is_drawn, bool is_labelled)
{
    const Drawing *s = c->s;
    const double level = tr_axis_tick(&s->levels, k);
    Buffer label = {0};
    if (level < 0) tr_buffer_print(&label, "\xe2\x88\x92"); // U+2212, as axes have it
    add_short(&label, fabs(level));
    c->is_drawn = is_drawn;
    c->label = is_labelled && !label.failed ? label.at : NULL;
    if (label.failed || !tr_contour(&s->ground, level, c, draw_contour)) s->svg->failed = true;
    tr_buffer_free(&label);
}

// Every fifth is stronger and has its height at it, and so have the highest and the lowest: what is
// a hill and what a hollow has to be seen.
static void draw_levels(Contouring *c)
{
    const Drawing *s = c->s;
    const Axis *levels = &s->levels;
    for (int is_major = 0; is_major < 2; is_major++) {
        tr_svg_group(s->svg, is_major ? MAJOR : MINOR, NULL);
        for (int64_t k = levels->first; k <= levels->last; k++)
            if ((k % MAJOR_EVERY == 0) == is_major) draw_level(c, k, true, is_major);
        tr_svg_group_end(s->svg);
    }
    if (levels->last % MAJOR_EVERY) draw_level(c, levels->last, false, true);
    if (levels->first % MAJOR_EVERY) draw_level(c, levels->first, false, true);
}

static void draw_ground(const Drawing *s)
{
    Contouring c = {.s = s};
    draw_levels(&c);
    tr_svg_group(s->svg,
                 "font-size=\"11\" fill=\"#8f7a4c\" text-anchor=\"middle\" stroke=\"#fff\" "
                 "stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"",
                 NULL);
    if (c.labels.at) tr_buffer_add(s->svg, c.labels.at, c.labels.length);
    tr_svg_group_end(s->svg);
    s->svg->failed |= c.labels.failed;
    tr_buffer_free(&c.labels);
}

// ---- drawing -------------------------------------------------------------------------------

// Between powers, where there is room for them.
static void draw_minor_lines(const Drawing *s, const Box *box)
{
    if (box->y.high - box->y.low > box->height / 40) return;
    tr_svg_group(s->svg, "stroke=\"#f1f1f1\" stroke-width=\"1\"", NULL);
    for (int power = (int)round(box->y.low); power < box->y.high; power++)
        for (int digit = 2; digit < 10; digit++) {
            const double y = tr_axis_place(&box->y, power + log10(digit));
            tr_svg_line(s->svg, (Point){s->left, y}, (Point){s->left + s->plot_width, y});
        }
    tr_svg_group_end(s->svg);
}

static void draw_grid(const Drawing *s, const Box *box)
{
    if (box->y.is_log) draw_minor_lines(s, box);
    tr_svg_group(s->svg, "stroke=\"#e0e0e0\" stroke-width=\"1\"", NULL);
    for (int64_t k = s->x.first; k <= s->x.last; k++) {
        const double x = tr_axis_place(&s->x, tr_axis_tick(&s->x, k));
        tr_svg_line(s->svg, (Point){x, box->top}, (Point){x, box->top + box->height});
    }
    for (int64_t k = box->y.first; k <= box->y.last; k++) {
        const double y = tr_axis_place(&box->y, tr_axis_tick(&box->y, k));
        tr_svg_line(s->svg, (Point){s->left, y}, (Point){s->left + s->plot_width, y});
    }
    tr_svg_group_end(s->svg);
}

static void draw_arrow(const Drawing *s, Point tip, Point direction)
{
    const double length = 10, half = 4;
    const Point foot = {tip.x - length * direction.x, tip.y - length * direction.y};
    const Point corners[] = {tip,
                             {foot.x - half * direction.y, foot.y + half * direction.x},
                             {foot.x + half * direction.y, foot.y - half * direction.x}};
    tr_svg_polygon(s->svg, corners, 3);
}

// Where a track goes: arrows halfway and at its end.
static void draw_direction(const Drawing *s, const Point *points, size_t count, size_t index)
{
    enum { SHORTEST = 30 };
    double length = 0;
    for (size_t i = 1; i < count; i++)
        length += hypot(points[i].x - points[i - 1].x, points[i].y - points[i - 1].y);
    Point middle, direction;
    if (length < SHORTEST || !tr_curve_middle(points, count, &middle, &direction)) return;
    char style[100];
    snprintf(style, sizeof style, "fill=\"%s\" stroke=\"none\"", colours[index % COLOURS]);
    tr_svg_group(s->svg, style, NULL);
    draw_arrow(s, (Point){middle.x + 5 * direction.x, middle.y + 5 * direction.y}, direction);
    const Point end = points[count - 1], before = points[count - 2];
    const double last = hypot(end.x - before.x, end.y - before.y);
    if (last > 0) draw_arrow(s, end, (Point){(end.x - before.x) / last, (end.y - before.y) / last});
    tr_svg_group_end(s->svg);
}

// A piece without gaps; a single point is a dot.
static void draw_piece(const Drawing *s, size_t count, bool is_forward, size_t index)
{
    if (count == 0) return;
    if (is_forward) count = tr_thin_columns(s->points, count);
    count = tr_thin_lines(s->points, count, 0.1);
    char dot[100];
    snprintf(dot, sizeof dot, "fill=\"%s\" stroke=\"none\"", colours[index % COLOURS]);
    if (count > 1) {
        tr_svg_polyline(s->svg, s->points, count);
    } else {
        tr_svg_group(s->svg, dot, NULL);
        tr_svg_circle(s->svg, s->points[0], 2);
        tr_svg_group_end(s->svg);
    }
    if (s->figure->is_track && count > 1) draw_direction(s, s->points, count, index);
}

static bool is_ascending(const Curve *curve)
{
    double last = (double)-INFINITY;
    for (size_t i = 0; i < curve->rows; i++) {
        if (curve->x[i] < last) return false;
        if (isfinite(curve->x[i])) last = curve->x[i];
    }
    return true;
}

static void draw_ellipses(const Drawing *s, const Box *box, const Curve *curve, size_t index)
{
    Point points[ELLIPSE_CORNERS];
    char style[120];
    if (!curve->spread[0]) return;
    snprintf(style, sizeof style,
             "fill=\"%s\" fill-opacity=\"0.08\" stroke=\"%s\" stroke-width=\"0.8\"",
             colours[index % COLOURS], colours[index % COLOURS]);
    tr_svg_group(s->svg, style, "95 % of such runs are inside");
    for (size_t i = 0; i < curve->rows; i++) {
        if (!tr_ellipse_at(curve, i, points)) continue;
        for (int k = 0; k < ELLIPSE_CORNERS; k++) {
            const Point p = points[k];
            points[k] = (Point){tr_axis_at(&s->x, p.x), tr_axis_at(&box->y, p.y)};
        }
        tr_svg_polygon(s->svg, points, ELLIPSE_CORNERS);
    }
    tr_svg_group_end(s->svg);
}

static void draw_marks(const Drawing *s, const Box *box, const Curve *curve, size_t index)
{
    const Marks *m = curve->marks;
    char style[100];
    snprintf(style, sizeof style, "fill=\"%s\" stroke=\"none\"", colours[index % COLOURS]);
    tr_svg_group(s->svg, style, curve->name);
    for (size_t i = 0; i < curve->rows; i++) {
        const double x = curve->x[i], y = curve->y[i];
        if (!is_drawn(s->figure, x, y) || (m->shade && !isfinite(m->shade[i]))) continue;
        if (m->shade) begin_shade(s, m->shade[i]);
        if (m->width > 0) {
            const Point a = {tr_axis_at(&s->x, x - m->width / 2),
                             tr_axis_at(&box->y, y + m->height / 2)};
            const Point b = {tr_axis_at(&s->x, x + m->width / 2),
                             tr_axis_at(&box->y, y - m->height / 2)};
            tr_svg_rect(s->svg, a, b.x - a.x, b.y - a.y);
        } else
            tr_svg_circle(s->svg, (Point){tr_axis_at(&s->x, x), tr_axis_at(&box->y, y)}, 2.2);
        if (m->shade) tr_svg_group_end(s->svg);
    }
    tr_svg_group_end(s->svg);
}

static void draw_curve(const Drawing *s, const Box *box, const Curve *curve, size_t index)
{
    if (curve->marks) {
        draw_marks(s, box, curve, index);
        return;
    }
    char style[200];
    curve_style(index, style, sizeof style);
    tr_svg_group(s->svg, style, curve->name);
    const bool is_forward = !s->figure->is_track && is_ascending(curve);
    size_t count = 0;
    for (size_t i = 0; i < curve->rows; i++) {
        if (is_drawn(s->figure, curve->x[i], curve->y[i])) {
            s->points[count++] =
                (Point){tr_axis_at(&s->x, curve->x[i]), tr_axis_at(&box->y, curve->y[i])};
            continue;
        }
        draw_piece(s, count, is_forward, index);
        count = 0;
    }
    draw_piece(s, count, is_forward, index);
    tr_svg_group_end(s->svg);
}

// On top of all curves, so that none hides another's start.
static void draw_starts(const Drawing *s, const Box *box, const Panel *panel)
{
    for (size_t k = 0; k < panel->count; k++) {
        const Curve *curve = &panel->curves[k];
        size_t i = 0;
        while (i < curve->rows && !is_drawn(s->figure, curve->x[i], curve->y[i])) i++;
        if (i == curve->rows) continue;
        char style[100];
        snprintf(style, sizeof style, "fill=\"#fff\" stroke=\"%s\" stroke-width=\"1.6\"",
                 colours[k % COLOURS]);
        tr_svg_group(s->svg, style, NULL);
        tr_svg_circle(
            s->svg, (Point){tr_axis_at(&s->x, curve->x[i]), tr_axis_at(&box->y, curve->y[i])}, 3.5);
        tr_svg_group_end(s->svg);
    }
}

// The axes themselves, with ticks outside.
static void draw_frame(const Drawing *s, const Box *box)
{
    const double bottom = box->top + box->height;
    tr_svg_group(s->svg, "fill=\"none\" stroke=\"#555\" stroke-width=\"1\"", NULL);
    tr_svg_rect(s->svg, (Point){s->left, box->top}, s->plot_width, box->height);
    for (int64_t k = s->x.first; k <= s->x.last; k++) {
        const double x = tr_axis_place(&s->x, tr_axis_tick(&s->x, k));
        tr_svg_line(s->svg, (Point){x, bottom}, (Point){x, bottom + TICK});
    }
    for (int64_t k = box->y.first; k <= box->y.last; k++) {
        const double y = tr_axis_place(&box->y, tr_axis_tick(&box->y, k));
        tr_svg_line(s->svg, (Point){s->left - TICK, y}, (Point){s->left, y});
    }
    tr_svg_group_end(s->svg);
}

// As much of a text as is no wider than the panels.
static void draw_fitting(const Drawing *s, Point at, const char *text, double font)
{
    Buffer part = {0};
    add_fitting(&part, text, s->plot_width, font);
    if (part.at) tr_svg_text(s->svg, at, part.at);
    s->svg->failed |= part.failed;
    tr_buffer_free(&part);
}

static void draw_y_labels(const Drawing *s, const Box *box)
{
    tr_svg_group(s->svg, "font-size=\"12\" fill=\"#333\" text-anchor=\"end\"", NULL);
    for (int64_t k = box->y.first; k <= box->y.last; k++) {
        char text[TR_LABEL_SIZE];
        tr_axis_label(&box->y, k, text);
        const double y = tr_axis_place(&box->y, tr_axis_tick(&box->y, k));
        tr_svg_text(s->svg, (Point){s->left - TICK - 4, y + 4}, text);
    }
    tr_svg_group_end(s->svg);
    if (!box->label.at || !box->label.length) return;
    tr_svg_group(s->svg,
                 box->label_above ? "font-size=\"13\" fill=\"#222\""
                                  : "font-size=\"13\" fill=\"#222\" text-anchor=\"middle\"",
                 NULL);
    if (box->label_above)
        draw_fitting(s, (Point){s->left, box->top - 10}, box->label.at, LABEL_FONT);
    else
        tr_svg_text_upwards(s->svg, (Point){MARGIN + 8, box->top + box->height / 2}, box->label.at);
    tr_svg_group_end(s->svg);
}

static void draw_x_labels(const Drawing *s)
{
    const Box *last = &s->boxes[s->figure->count - 1];
    const double bottom = last->top + last->height;
    tr_svg_group(s->svg, "font-size=\"12\" fill=\"#333\" text-anchor=\"middle\"", NULL);
    for (int64_t k = s->x.first; k <= s->x.last; k++) {
        char text[TR_LABEL_SIZE];
        tr_axis_label(&s->x, k, text);
        const double x = tr_axis_place(&s->x, tr_axis_tick(&s->x, k));
        tr_svg_text(s->svg, (Point){x, bottom + TICK + 14}, text);
    }
    tr_svg_group_end(s->svg);
    Buffer title = {0};
    tr_axis_title(&s->x, s->figure->x_label, s->figure->x_unit, &title);
    tr_svg_group(s->svg, "font-size=\"13\" fill=\"#222\" text-anchor=\"middle\"", NULL);
    if (title.at)
        draw_fitting(s, (Point){s->left + s->plot_width / 2, bottom + TICKS_BELOW + 16}, title.at,
                     LABEL_FONT);
    tr_svg_group_end(s->svg);
    s->svg->failed |= title.failed;
    tr_buffer_free(&title);
}

static void draw_panel(const Drawing *s, const Panel *panel, const Box *box)
{
    draw_grid(s, box);
    if (s->ground.columns) draw_ground(s);
    draw_frame(s, box);
    for (size_t i = 0; i < panel->count; i++) draw_ellipses(s, box, &panel->curves[i], i);
    for (size_t i = 0; i < panel->count; i++) draw_curve(s, box, &panel->curves[i], i);
    if (s->figure->is_track) draw_starts(s, box, panel);
    draw_y_labels(s, box);
    if (!has_legend(s, panel)) return;
    tr_svg_group(s->svg, "font-size=\"12\" fill=\"#222\"", NULL);
    draw_legend(s, panel, box->top - 5 - (legend_rows(s, panel) + box->label_above) * LEGEND_ROW);
    tr_svg_group_end(s->svg);
}

static void draw_title(const Drawing *s)
{
    if (!s->figure->title) return;
    tr_svg_group(s->svg,
                 "font-size=\"15\" font-weight=\"600\" fill=\"#111\" text-anchor=\"middle\"", NULL);
    draw_fitting(s, (Point){s->left + s->plot_width / 2, MARGIN + 13}, s->figure->title,
                 TITLE_FONT);
    tr_svg_group_end(s->svg);
}

static void draw(const Drawing *s)
{
    Buffer words = {0};
    describe(s->figure, &words);
    const char *title = s->figure->title ? s->figure->title : s->figure->subject;
    tr_svg_begin(s->svg, s->width, s->height, title, words.at ? words.at : "");
    draw_title(s);
    for (size_t i = 0; i < s->figure->count; i++)
        draw_panel(s, &s->figure->panels[i], &s->boxes[i]);
    draw_x_labels(s);
    tr_svg_end(s->svg);
    s->svg->failed |= words.failed;
    tr_buffer_free(&words);
}

void tr_figure_draw(const Figure *figure, Buffer *svg, tr_error *err)
{
    assert(figure->count > 0);
    size_t most = 1;
    for (size_t p = 0; p < figure->count; p++)
        for (size_t i = 0; i < figure->panels[p].count; i++)
            if (figure->panels[p].curves[i].rows > most) most = figure->panels[p].curves[i].rows;
    Drawing s = {.figure = figure, .svg = svg, .width = figure->width ? figure->width : WIDTH};
    s.boxes = calloc(figure->count, sizeof *s.boxes);
    s.points = malloc(most * sizeof *s.points);
    if (!s.boxes || !s.points)
        tr_fail_memory(err);
    else if (figure->is_track ? lay_out_track(&s, err) : lay_out(&s, err)) {
        if (figure->relief.height) survey(&s, err);
        if (!has_failed(err)) draw(&s);
    }
    for (size_t i = 0; s.boxes && i < figure->count; i++) {
        svg->failed |= s.boxes[i].label.failed;
        tr_buffer_free(&s.boxes[i].label);
    }
    if (svg->failed) tr_fail_memory(err);
    free(s.boxes);
    free(s.points);
    free((void *)(uintptr_t)s.ground.heights);
}
