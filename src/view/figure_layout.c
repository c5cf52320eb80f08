// SPDX-License-Identifier: Apache-2.0
// Where things stand in a figure: panels one above the other, or one with equal scales.
#include "view/figure_parts.h"

#include "base/error.h"
#include "view/ellipse.h"

// ---- what is there -------------------------------------------------------------------------

// Cells are seen to their edges.
static void widen(const Edges *cell, Extent *e)
{
    e->x = tr_range_with(tr_range_with(e->x, cell->left), cell->right);
    e->y = tr_range_with(tr_range_with(e->y, cell->low), cell->high);
}

Extent tr_extent_of(const Figure *figure, const Curve *curve)
{
    Extent e = {tr_range_empty(), tr_range_empty(), 0, 0};
    for (size_t i = 0; i < curve->rows; i++) {
        const double x = curve->x[i], y = curve->y[i];
        e.left_out += figure->is_log && isfinite(x) && y <= 0;
        if (isfinite(y) || !figure->is_track) e.x = tr_range_with(e.x, x); // gaps have their place
        if (!is_drawn(figure, x, y)) continue;
        e.y = tr_range_with(e.y, y);
        if (curve->marks && curve->marks->cells) widen(&curve->marks->cells[i], &e);
        e.drawn++;
    }
    tr_ellipses_extend(curve, &e.x, &e.y);
    return e;
}

static Range join(Range a, Range b) { return (Range){fmin(a.low, b.low), fmax(a.high, b.high)}; }

Extent tr_extent_of_panel(const Figure *figure, const Panel *panel)
{
    Extent all = {tr_range_empty(), tr_range_empty(), 0, 0};
    for (size_t i = 0; i < panel->count; i++) {
        const Extent e = tr_extent_of(figure, &panel->curves[i]);
        all = (Extent){join(all.x, e.x), join(all.y, e.y), all.drawn + e.drawn,
                       all.left_out + e.left_out};
    }
    return all;
}

// ---- layout --------------------------------------------------------------------------------

#define HIDDEN 0.012 // of an axis: a line within this of its end, and no higher, is on the frame

// More room on the side where a curve that is as good as constant would be on the frame
static Range room_for_lines(const Figure *figure, const Panel *panel, const Axis *axis, Range range)
{
    const double hidden = HIDDEN * (axis->high - axis->low);
    Range wider = range;
    for (size_t i = 0; i < panel->count; i++) {
        const Range y = tr_extent_of(figure, &panel->curves[i]).y;
        if (tr_range_is_empty(y) || y.high - y.low > hidden) continue;
        if (y.low - axis->low < hidden) wider.low = axis->low - hidden;
        if (axis->high - y.high < hidden) wider.high = axis->high + hidden;
    }
    return wider;
}

static Axis y_axis(const Figure *figure, const Panel *panel, double height)
{
    Range range = tr_extent_of_panel(figure, panel).y;
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
    const int rows = tr_legend_rows(s, panel) + box->label_above;
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

static bool lay_out_panels(Drawing *s, tr_error *err)
{
    if (!stack_panels(s, err)) return false;
    place_panels(s);
    Range x = tr_range_empty();
    for (size_t i = 0; i < s->figure->count; i++)
        x = join(x, tr_extent_of_panel(s->figure, &s->figure->panels[i]).x);
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
    const Extent e = tr_extent_of_panel(s->figure, panel);
    Range x = pad(e.x), y = pad(e.y);
    if (x.high == x.low && y.high == y.low) x = centred(x, 1); // it stands still
    Box *box = s->boxes;
    double width = s->width - LEFT_MOST - MARGIN;
    if (!s->figure->height) suit_track(s, x, y, &width, &box->height);
    box->head = tr_legend_rows(s, panel) * LEGEND_ROW + 5;
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

bool tr_lay_out(Drawing *s, tr_error *err)
{
    return s->figure->is_track ? lay_out_track(s, err) : lay_out_panels(s, err);
}
