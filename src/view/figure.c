// SPDX-License-Identifier: Apache-2.0
#include "view/figure_parts.h"

#include "base/error.h"
#include "view/curve.h"
#include "view/ellipse.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static void describe(const Figure *figure, Buffer *out)
{
    for (size_t p = 0; p < figure->count; p++)
        for (size_t i = 0; i < figure->panels[p].count; i++) {
            const Curve *curve = &figure->panels[p].curves[i];
            const Extent e = tr_extent_of(figure, curve);
            tr_buffer_print(out, "%s%s: ", out->length ? "; " : "", curve->name);
            if (!e.drawn) tr_buffer_print(out, "no numbers");
            if (!e.drawn) continue;
            tr_buffer_print(out, "%s from ", figure->x_label);
            tr_add_short(out, e.x.low);
            tr_buffer_print(out, " to ");
            tr_add_short(out, e.x.high);
            tr_buffer_print(out, figure->is_track ? ", y from " : ", values from ");
            tr_add_short(out, e.y.low);
            tr_buffer_print(out, " to ");
            tr_add_short(out, e.y.high);
        }
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
    snprintf(style, sizeof style, "fill=\"%s\" stroke=\"none\"", tr_curve_colour(index));
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
    snprintf(dot, sizeof dot, "fill=\"%s\" stroke=\"none\"", tr_curve_colour(index));
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
             tr_curve_colour(index), tr_curve_colour(index));
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
    snprintf(style, sizeof style, "fill=\"%s\" stroke=\"none\"", tr_curve_colour(index));
    tr_svg_group(s->svg, style, curve->name);
    for (size_t i = 0; i < curve->rows; i++) {
        const double x = curve->x[i], y = curve->y[i];
        if (!is_drawn(s->figure, x, y) || (m->shade && !isfinite(m->shade[i]))) continue;
        if (m->shade) tr_begin_shade(s, m->shade[i]);
        if (m->cells) {
            const Edges *cell = &m->cells[i];
            const Point a = {tr_axis_at(&s->x, cell->left), tr_axis_at(&box->y, cell->high)};
            const Point b = {tr_axis_at(&s->x, cell->right), tr_axis_at(&box->y, cell->low)};
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
    tr_curve_style(index, style, sizeof style);
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
                 tr_curve_colour(k));
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
    tr_add_fitting(&part, text, s->plot_width, font);
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
    if (s->ground.columns) tr_draw_ground(s);
    draw_frame(s, box);
    for (size_t i = 0; i < panel->count; i++) draw_ellipses(s, box, &panel->curves[i], i);
    for (size_t i = 0; i < panel->count; i++) draw_curve(s, box, &panel->curves[i], i);
    if (s->figure->is_track) draw_starts(s, box, panel);
    draw_y_labels(s, box);
    if (!tr_has_legend(s, panel)) return;
    tr_svg_group(s->svg, "font-size=\"12\" fill=\"#222\"", NULL);
    tr_draw_legend(s, panel,
                   box->top - 5 - (tr_legend_rows(s, panel) + box->label_above) * LEGEND_ROW);
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
    else if (tr_lay_out(&s, err)) {
        if (figure->relief.height) tr_survey_ground(&s, err);
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
