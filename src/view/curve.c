// SPDX-License-Identifier: Apache-2.0
#include "view/curve.h"

#include <math.h>

// ---- columns of pixels ---------------------------------------------------------------------

// The points first..last of one column, down to four in their order, at `to`.
static size_t thin_column(const Point *points, size_t first, size_t last, Point *to)
{
    size_t low = first, high = first, kept = 0;
    for (size_t i = first; i <= last; i++) {
        if (points[i].y < points[low].y) low = i;
        if (points[i].y > points[high].y) high = i;
    }
    const size_t inner = low < high ? low : high, outer = low < high ? high : low;
    const size_t chosen[] = {first, inner, outer, last}; // ascending
    for (int k = 0; k < 4; k++)
        if (k == 0 || chosen[k] > chosen[k - 1]) to[kept++] = points[chosen[k]];
    return kept;
}

size_t tr_thin_columns(Point *points, size_t count)
{
    size_t kept = 0;
    for (size_t first = 0, next; first < count; first = next) {
        next = first + 1;
        while (next < count && floor(points[next].x) == floor(points[first].x)) next++;
        kept += thin_column(points, first, next - 1, points + kept);
    }
    return kept;
}

// ---- straight pieces -----------------------------------------------------------------------

// The directions from an anchor that pass all points since within the tolerance.
typedef struct Cone {
    double right, left; // angles from `axis` [rad]; none are left when right > left
    double axis;        // direction of the first point out of the tolerance
    double reach;       // the farthest point; 0 while all are within the tolerance
} Cone;

// Whether the point at `d` from the anchor can still be seen along one line with those before.
static bool cone_takes(Cone *cone, Point d, double tolerance)
{
    const double distance = hypot(d.x, d.y);
    if (distance < cone->reach) return false; // it turns back
    if (distance <= tolerance) return true;
    const double angle = atan2(d.y, d.x), half = asin(tolerance / distance);
    if (cone->reach == 0) *cone = (Cone){-half, half, angle, distance};
    const double turn = remainder(angle - cone->axis, 2 * acos(-1.0));
    if (turn < cone->right || turn > cone->left) return false;
    cone->right = fmax(cone->right, turn - half);
    cone->left = fmin(cone->left, turn + half);
    cone->reach = distance;
    return true;
}

size_t tr_thin_lines(Point *points, size_t count, double tolerance)
{
    if (count < 3) return count;
    size_t kept = 1; // points[0] stays
    Cone cone = {0};
    for (size_t i = 1; i < count; i++) {
        const Point anchor = points[kept - 1];
        if (cone_takes(&cone, (Point){points[i].x - anchor.x, points[i].y - anchor.y}, tolerance))
            continue;
        const Point before = points[i - 1]; // becomes the next anchor
        points[kept++] = before;
        cone = (Cone){0};
        cone_takes(&cone, (Point){points[i].x - before.x, points[i].y - before.y}, tolerance);
    }
    points[kept++] = points[count - 1];
    return kept;
}

// ---- halfway -------------------------------------------------------------------------------

bool tr_curve_middle(const Point *points, size_t count, Point *at, Point *direction)
{
    double length = 0, passed = 0;
    for (size_t i = 1; i < count; i++)
        length += hypot(points[i].x - points[i - 1].x, points[i].y - points[i - 1].y);
    for (size_t i = 1; i < count; i++) {
        const Point a = points[i - 1], d = {points[i].x - a.x, points[i].y - a.y};
        const double piece = hypot(d.x, d.y);
        passed += piece;
        if (piece == 0 || passed < length / 2) continue;
        const double back = (passed - length / 2) / piece;
        *at = (Point){points[i].x - back * d.x, points[i].y - back * d.y};
        *direction = (Point){d.x / piece, d.y / piece};
        return true;
    }
    return false;
}
