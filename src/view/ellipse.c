// SPDX-License-Identifier: Apache-2.0
#include "view/ellipse.h"

#include <math.h>

enum { ELLIPSES = 12 };              // of a track
#define WITHIN_95 2.4477468306808166 // sqrt(-2 log 0.05)

// Spread evenly over the rows, the last one among them
static bool has_ellipse(const Curve *curve, size_t i)
{
    const size_t every = (curve->rows + ELLIPSES - 1) / ELLIPSES;
    return curve->spread[0] && (curve->rows - 1 - i) % every == 0 &&
           isfinite(curve->spread[0][i]) && isfinite(curve->spread[1][i]) &&
           (curve->spread[0][i] > 0 || curve->spread[1][i] > 0);
}

// P = C C^T, and C (cos a, sin a) goes round
bool tr_ellipse_at(const Curve *curve, size_t i, Point corners[ELLIPSE_CORNERS])
{
    if (!has_ellipse(curve, i)) return false;
    const double sx = curve->spread[0][i], sy = curve->spread[1][i];
    const double along = sx > 0 ? curve->spread[2][i] / sx : 0;
    const double across = sqrt(fmax(sy * sy - along * along, 0));
    for (int k = 0; k < ELLIPSE_CORNERS; k++) {
        const double angle = 2 * 3.14159265358979323846 * k / ELLIPSE_CORNERS;
        corners[k] = (Point){curve->x[i] + WITHIN_95 * sx * cos(angle),
                             curve->y[i] + WITHIN_95 * (along * cos(angle) + across * sin(angle))};
    }
    return true;
}

void tr_ellipses_extend(const Curve *curve, Range *x, Range *y)
{
    Point corners[ELLIPSE_CORNERS];
    for (size_t i = 0; i < curve->rows; i++) {
        if (!tr_ellipse_at(curve, i, corners)) continue;
        for (int k = 0; k < ELLIPSE_CORNERS; k++)
            *x = tr_range_with(*x, corners[k].x), *y = tr_range_with(*y, corners[k].y);
    }
}
