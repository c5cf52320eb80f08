// SPDX-License-Identifier: Apache-2.0
// What differs between two sides of an instant by more than rounding (T121).
#include "plan/side.h"

#include "num/dense.h"
#include "plan/touch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME     1e-9  // of numbers, against their size
#define EDGE     1e-9  // that a height or a slope may jump by
#define ROUNDING 1e-12 // against the largest of their kind, or one

static size_t residuals_of(const Flow *flow)
{
    return 3 * (size_t)flow->footing->constraints + 2 * (size_t)flow->system->touching_count;
}

bool tr_side_open(Side *side, const Flow *flow, tr_error *err)
{
    const size_t n = flow->system->input_count;
    *side = (Side){.x = calloc(n + residuals_of(flow) + 1, sizeof *side->x)};
    if (!side->x) return tr_fail_memory(err), false;
    side->residual = side->x + n;
    return true;
}

void tr_side_close(Side *side) { free(side->x); }

void tr_side_take(Side *side, Flow *flow, double t, const double *y)
{
    double position, velocity;
    tr_flow_residual(flow, t, y, &position, &velocity);
    memcpy(side->residual, flow->residual, residuals_of(flow) * sizeof(double));
    tr_flow_fill_all(flow, t, y);
    memcpy(side->x, flow->inputs, flow->system->input_count * sizeof *side->x);
}

static bool differ(double before, double after, double largest)
{
    const double size = fmin(fabs(before), fabs(after));
    return !(fabs(after - before) <= SAME * size + ROUNDING * (1 + largest));
}

static double largest_of(const System *s, const Side *side, tr_kind kind)
{
    double largest = 0;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == kind) largest = fmax(largest, fabs(side->x[i]));
    return largest;
}

// Of the residual of a contact's row with a position, where it has one
static double gap_jump(const Flow *flow, const Side *before, const Side *after, uint32_t row)
{
    uint32_t k = 0;
    if (row == NO_TOUCHING_ROW || !flow->system->rows[row].position.id) return 0;
    for (uint32_t i = 0; i < row; i++)
        k += flow->system->rows[i].position.id && !flow->footing->open[i];
    return fabs(after->residual[k] - before->residual[k]);
}

// Contacts stay where they are on a surface whose height and slope do not jump: their residuals
// come last.
static bool check_edges(const Flow *flow, const Side *before, const Side *after, double t,
                        tr_error *err)
{
    const System *s = flow->system;
    uint32_t k = flow->holonomic;
    for (uint32_t i = s->touching_count; i-- > 0 && !has_failed(err);) {
        const Touching *touching = &s->touchings[i];
        if (is_in_flight(flow->footing, touching)) continue;
        k -= 2;
        const double away[] = {after->residual[k] - before->residual[k],
                               after->residual[k + 1] - before->residual[k + 1]};
        const double jump = larger(tr_norm(away, 2), gap_jump(flow, before, after, touching->row));
        if (jump > EDGE)
            tr_fail(
                err, TR_FAILED, (Place){0},
                "the height of the ground or its slope jumps where '%.80s' crosses (%.6g, %.6g) "
                "at t = %.9g: edges and kerbs are not for contacts that stay",
                touching->name, told_place(before->x[touching->input]),
                told_place(before->x[touching->input + 1]), t);
    }
    return !has_failed(err);
}

// Whether the row is a contact's on a surface that is not flat: then check_edges has looked at it.
static bool is_on_surface(const System *s, uint32_t row)
{
    for (uint32_t i = 0; i < s->touching_count; i++)
        if (s->touchings[i].row == row) return true;
    return false;
}

// In first order a place that nothing asks the rate of may jump.                        (T257)
static bool may_not_jump(const System *s, const Input *position)
{
    return s->order != 1 || position->felt_by;
}

bool tr_sides_meet(const Flow *flow, const Side *before, const Side *after, double t, tr_error *err)
{
    const System *s = flow->system;
    const double fastest = larger(largest_of(s, before, TR_VELOCITY),
                                  largest_of(s, after, TR_VELOCITY)); // t itself is rounded
    const double largest = largest_of(s, before, TR_POSITION) + fabs(t) * fastest;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION && may_not_jump(s, &s->inputs[i]) &&
            differ(before->x[i], after->x[i], largest))
            tr_fail(err, TR_FAILED, (Place){0},
                    "the motion of '%.80s' jumps from %.9g to %.9g at t = %.9g: its rate may jump, "
                    "but not its place%s%.80s%s",
                    s->inputs[i].name, before->x[i], after->x[i], t, s->order == 1 ? ", for '" : "",
                    s->order == 1 ? s->inputs[i].felt_by : "",
                    s->order == 1 ? "' depends on how fast it moves" : "");
    if (!check_edges(flow, before, after, t, err)) return false;
    for (uint32_t i = 0, k = 0; i < flow->footing->constraints; i++) {
        if (!s->rows[i].position.id || flow->footing->open[i]) continue;
        const double was = before->residual[k], is = after->residual[k];
        k++;
        if (differ(was, is, largest) && !is_on_surface(s, i))
            tr_fail(err, TR_FAILED, (Place){0},
                    "the constraint '%.80s' jumps by %.6g at t = %.9g: its rate may jump, but not "
                    "its place",
                    s->rows[i].name, is - was, t);
    }
    return !has_failed(err);
}

bool tr_sides_strike(const Flow *flow, const Side *before, const Side *after)
{
    const System *s = flow->system;
    const uint32_t rows = flow->footing->constraints;
    const double largest = largest_of(s, before, TR_VELOCITY);
    if (s->order == 1) return false; // velocities follow
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_VELOCITY && differ(before->x[i], after->x[i], largest))
            return true;
    for (uint32_t i = 0; i < rows; i++) // pivots hold on either side
        if (!is_pivot(&flow->now->chart->partition, i) &&
            differ(before->residual[flow->holonomic + i], after->residual[flow->holonomic + i],
                   before->residual[flow->holonomic + rows + i]))
            return true;
    return false;
}
