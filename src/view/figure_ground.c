// SPDX-License-Identifier: Apache-2.0
// Lines of equal height below a track.
#include "view/figure_parts.h"

#include "base/error.h"
#include "view/curve.h"

#include <stdlib.h>

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

void tr_survey_ground(Drawing *s, tr_error *err)
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
    tr_add_short(&label, fabs(level));
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

void tr_draw_ground(const Drawing *s)
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
