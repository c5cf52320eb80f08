// SPDX-License-Identifier: Apache-2.0
// A line crosses edges of cells: it enters a cell by one and leaves it by another, which it shares
// with the next cell. Edges are numbered: those along x, from node i to i + 1, then those along y.
#include "view/contour.h"

#include <math.h>
#include <stdlib.h>

typedef struct Tracer {
    const Field *field;
    double level;
    bool *is_done; // by edge
    Point *points;
} Tracer;

static size_t nodes_of(const Field *f) { return f->columns * f->rows; }

static bool is_above(const Tracer *t, size_t node)
{
    return t->field->heights[node] >= t->level - t->field->slack;
}

// ---- edges and cells -----------------------------------------------------------------------

static bool is_upright(const Field *f, size_t edge) { return edge >= nodes_of(f); }

// An edge goes to the right of its node, or up from it: these come behind the others.
static size_t first_node(const Field *f, size_t edge)
{
    return is_upright(f, edge) ? edge - nodes_of(f) : edge;
}

static size_t second_node(const Field *f, size_t edge)
{
    return first_node(f, edge) + (is_upright(f, edge) ? f->columns : 1);
}

static bool is_edge(const Field *f, size_t edge)
{
    const size_t node = first_node(f, edge);
    return is_upright(f, edge) ? node / f->columns + 1 < f->rows : (node + 1) % f->columns != 0;
}

static bool is_crossed(const Tracer *t, size_t edge)
{
    const double *h = t->field->heights;
    const size_t a = first_node(t->field, edge), b = second_node(t->field, edge);
    return isfinite(h[a]) && isfinite(h[b]) && is_above(t, a) != is_above(t, b);
}

static Point crossing(const Tracer *t, size_t edge)
{
    const Field *f = t->field;
    const size_t node = first_node(f, edge), row = node / f->columns;
    const double a = f->heights[node], b = f->heights[second_node(f, edge)];
    const double part = fmin(1, fmax(0, (t->level - a) / (b - a)));
    const double x = (double)(node % f->columns) + (is_upright(f, edge) ? 0 : part),
                 y = (double)row + (is_upright(f, edge) ? part : 0);
    return (Point){f->corner.x + f->step.x * x, f->corner.y + f->step.y * y};
}

// A cell is called after its lowest corner. Below, right, above, left: opposite ones are two apart.
static void edges_of(const Field *f, size_t cell, size_t out[4])
{
    out[0] = cell, out[1] = nodes_of(f) + cell + 1;
    out[2] = cell + f->columns, out[3] = nodes_of(f) + cell;
}

static bool is_cell(const Field *f, size_t cell)
{
    if ((cell + 1) % f->columns == 0 || cell / f->columns + 1 >= f->rows) return false;
    const double *h = f->heights + cell;
    return isfinite(h[0] + h[1] + h[f->columns] + h[f->columns + 1]);
}

// The cell before an edge, to the left or below, and the one behind it
static bool cell_beside(const Field *f, size_t edge, bool is_before, size_t *cell)
{
    const size_t node = first_node(f, edge), back = is_upright(f, edge) ? 1 : f->columns;
    const bool is_border =
        is_upright(f, edge) ? node % f->columns == 0 : node < f->columns; // nothing before it
    *cell = is_before ? node - back : node;
    return !(is_before && is_border) && is_cell(f, *cell);
}

// Where a line that enters a cell leaves it. On a saddle, which has four, it goes round the corners
// that are not joined through the middle.
static size_t way_out(const Tracer *t, size_t cell, size_t in)
{
    const Field *f = t->field;
    size_t edge[4], from = 0, count = 0;
    edges_of(f, cell, edge);
    for (size_t k = 0; k < 4; k++) {
        count += is_crossed(t, edge[k]);
        if (edge[k] == in) from = k;
    }
    if (count == 2) {
        size_t k = from;
        do k = (k + 1) % 4;
        while (!is_crossed(t, edge[k]));
        return edge[k];
    }
    const double *h = f->heights + cell;
    const double middle = (h[0] + h[1] + h[f->columns] + h[f->columns + 1]) / 4;
    const bool is_joined =
        (middle >= t->level) == is_above(t, cell); // the lowest corner to its other
    return edge[is_joined ? from ^ 1 : 3 - from];
}

// ---- lines ---------------------------------------------------------------------------------

static size_t follow(Tracer *t, size_t edge, size_t cell)
{
    size_t count = 0;
    t->points[count++] = crossing(t, edge);
    t->is_done[edge] = true;
    for (;;) {
        const size_t next = way_out(t, cell, edge), last = cell;
        t->points[count++] = crossing(t, next);
        if (t->is_done[next]) return count; // round
        t->is_done[next] = true;
        size_t before, behind;
        const bool has_before = cell_beside(t->field, next, true, &before),
                   has_behind = cell_beside(t->field, next, false, &behind);
        if (!has_before || !has_behind) return count; // at the end of what is known
        edge = next, cell = before == last ? behind : before;
    }
}

// Those with ends first: a line that is entered halfway would be two.
static void follow_all(Tracer *t, bool with_ends, void *owner,
                       void (*use)(void *owner, Point *points, size_t count))
{
    for (size_t edge = 0; edge < 2 * nodes_of(t->field); edge++) {
        size_t before, behind;
        if (t->is_done[edge] || !is_edge(t->field, edge) || !is_crossed(t, edge)) continue;
        const bool has_before = cell_beside(t->field, edge, true, &before),
                   has_behind = cell_beside(t->field, edge, false, &behind);
        if (!has_before && !has_behind) continue;
        if (with_ends && has_before && has_behind) continue;
        use(owner, t->points, follow(t, edge, has_behind ? behind : before));
    }
}

bool tr_contour(const Field *field, double level, void *owner,
                void (*use)(void *owner, Point *points, size_t count))
{
    Tracer t = {field, level, calloc(2 * nodes_of(field), sizeof *t.is_done),
                malloc((2 * nodes_of(field) + 1) * sizeof *t.points)};
    const bool has_room = t.is_done && t.points;
    if (has_room) follow_all(&t, true, owner, use);
    if (has_room) follow_all(&t, false, owner, use);
    free(t.is_done);
    free(t.points);
    return has_room;
}
