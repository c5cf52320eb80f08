// SPDX-License-Identifier: Apache-2.0
#include "view/frames.h"

#include "plan/assemble.h"
#include "plan/evaluator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POSE = 12, TOUCH = 3 + 3 * SCENE_ROWS }; // numbers of a pose while it is a matrix, and so on

struct Frames {
    const Scene *scene;
    Evaluator places;       // and directions, of all that is in the scene
    const double **columns; // by input of the system; NULL where it stays as it is
    const double **lambda;  // by contact and row; NULL where there is no column
    const double **points;  // by contact: three columns of one that has inputs on a terrain
    double *touches;        // by contact: where it is on its terrain
    double *inputs, *outputs;
    uint32_t input_count;
    bool has_terrain;
};

// ---- making --------------------------------------------------------------------------------

static void take(Expr *list, uint32_t *count, const Expr *values, int how_many)
{
    for (int k = 0; k < how_many; k++) list[(*count)++] = values[k];
}

// Poses, points and directions, one after the other
static Evaluator places_of(const System *described, tr_error *err)
{
    System *system = tr_system_copy(described, err);
    if (!system) return (Evaluator){0};
    const Scene *s = &system->scene;
    Expr *list = malloc((POSE * (size_t)s->body_count + TOUCH * (size_t)s->contact_count + 1) *
                        sizeof *list);
    uint32_t count = 0;
    if (!list) return tr_system_free(system), tr_fail_memory(err), (Evaluator){0};
    for (uint32_t i = 0; i < s->body_count; i++) {
        take(list, &count, s->bodies[i].origin, 3);
        take(list, &count, s->bodies[i].rotation, 9);
    }
    for (uint32_t i = 0; i < s->contact_count; i++) {
        take(list, &count, s->contacts[i].point, 3);
        for (uint32_t k = 0; k < s->contacts[i].row_count; k++)
            take(list, &count, s->contacts[i].rows[k].direction, 3);
    }
    const Evaluator places = tr_evaluator_of(system, list, count, FIXED_PARAMETERS, err);
    free(list);
    tr_system_free(system);
    return places;
}

static const double *needed_column(const Sheet *run, const char *name, tr_error *err)
{
    const double *column = tr_sheet_column(run, name);
    if (!column)
        tr_fail(err, TR_INVALID, (Place){0},
                "the run has no column '%s': it is not one of this model", name);
    return column;
}

static void find_points(Frames *f, const Sheet *run, tr_error *err)
{
    for (uint32_t i = 0; i < f->scene->contact_count; i++) {
        const SceneContact *contact = &f->scene->contacts[i];
        if (contact->terrain == NO_TERRAIN) continue;
        f->has_terrain = true;
        for (size_t k = 0; k < 3 && contact->touch != NO_TOUCH; k++) {
            char name[300];
            snprintf(name, sizeof name, "contact.%s.%c", contact->name, "xyz"[k]);
            f->points[3 * (size_t)i + k] = needed_column(run, name, err);
        }
    }
}

static void find_columns(Frames *f, const System *system, const Sheet *run, tr_error *err)
{
    for (uint32_t i = 0; i < system->input_count; i++) {
        const Input *input = &system->inputs[i];
        f->inputs[i] = input->value;
        if (input->kind != TR_POSITION && input->kind != TR_TIME) continue;
        f->columns[i] = input->definition.id ? tr_sheet_column(run, input->name)
                                             : needed_column(run, input->name, err);
    }
    find_points(f, run, err);
    const Scene *s = f->scene;
    for (uint32_t i = 0; i < s->contact_count; i++)
        for (uint32_t k = 0; k < s->contacts[i].row_count; k++) {
            char name[300];
            snprintf(name, sizeof name, "lambda.%s", s->contacts[i].rows[k].name);
            f->lambda[SCENE_ROWS * (size_t)i + k] = tr_sheet_column(run, name);
        }
}

Frames *tr_frames_new(const System *system, const Sheet *run, tr_error *err)
{
    if (has_failed(err)) return NULL;
    Frames *f = calloc(1, sizeof *f);
    if (!f) return tr_fail_memory(err), NULL;
    f->scene = &system->scene;
    f->input_count = system->input_count;
    f->places = places_of(system, err);
    const size_t contacts = f->scene->contact_count;
    f->columns = calloc(f->input_count + 1u, sizeof *f->columns);
    f->lambda = calloc(SCENE_ROWS * contacts + 1, sizeof *f->lambda);
    f->points = calloc(3 * contacts + 1, sizeof *f->points);
    f->touches = calloc(2 * contacts + 1, sizeof *f->touches);
    f->inputs = calloc(f->input_count + 1u, sizeof *f->inputs);
    f->outputs = calloc(tr_program_sizes(f->places.program).outputs + 1, sizeof *f->outputs);
    const bool has_room =
        f->columns && f->lambda && f->points && f->touches && f->inputs && f->outputs;
    if (!has_room) tr_fail_memory(err);
    if (has_room && !has_failed(err)) find_columns(f, system, run, err);
    if (has_room && !has_failed(err)) return f;
    tr_frames_free(f);
    return NULL;
}

void tr_frames_free(Frames *f)
{
    if (!f) return;
    tr_evaluator_free(&f->places);
    free(f->columns);
    free(f->lambda);
    free(f->points);
    free(f->touches);
    free(f->inputs);
    free(f->outputs);
    free(f);
}

// ---- frames --------------------------------------------------------------------------------

uint32_t tr_contact_numbers(const SceneContact *contact)
{
    return CONTACT_NUMBERS + (contact->has_moment ? 3 : 0);
}

uint32_t tr_frames_stride(const Frames *f)
{
    uint32_t stride = BODY_NUMBERS * f->scene->body_count;
    for (uint32_t i = 0; i < f->scene->contact_count; i++)
        stride += tr_contact_numbers(&f->scene->contacts[i]);
    return stride;
}

// The unit quaternion of a rotation matrix, from the largest of its four parts: with i that of the
// largest diagonal entry and j, k the next two, 4 q_i^2 = 1 + R_ii - R_jj - R_kk and so on.
static void quaternion_of(const double R[9], double q[4])
{
    const double trace = R[0] + R[4] + R[8];
    int i = R[4] > R[0] ? 1 : 0;
    if (R[8] > R[4 * i]) i = 2;
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    if (trace > 0) {
        const double s = 2 * sqrt(1 + trace);
        q[0] = s / 4;
        q[1] = (R[7] - R[5]) / s, q[2] = (R[2] - R[6]) / s, q[3] = (R[3] - R[1]) / s;
    } else {
        const double s = 2 * sqrt(1 + R[4 * i] - R[4 * j] - R[4 * k]);
        q[0] = (R[3 * k + j] - R[3 * j + k]) / s;
        q[1 + i] = s / 4;
        q[1 + j] = (R[3 * j + i] + R[3 * i + j]) / s;
        q[1 + k] = (R[3 * k + i] + R[3 * i + k]) / s;
    }
    tr_make_unit(q);
}

// R^T (P - p)
static void into_axes(const double p[3], const double R[9], double P[3])
{
    const double d[] = {P[0] - p[0], P[1] - p[1], P[2] - p[2]};
    for (int k = 0; k < 3; k++) P[k] = R[k] * d[0] + R[3 + k] * d[1] + R[6 + k] * d[2];
}

// Points as they were recorded, where they were: a wheel in the air is not above the point of it
// that is nearest.
static void take_points(Frames *f, size_t row)
{
    double *point = f->outputs + POSE * (size_t)f->scene->body_count;
    for (uint32_t i = 0; i < f->scene->contact_count; i++) {
        for (size_t k = 0; k < 3 && f->points[3 * (size_t)i]; k++)
            point[k] = f->points[3 * (size_t)i + k][row];
        point += 3 + 3 * f->scene->contacts[i].row_count;
    }
}

// Where contacts are on their terrains, from their points; bodies are placed already.
static void find_touches(Frames *f)
{
    const double *point = f->outputs + POSE * (size_t)f->scene->body_count;
    for (uint32_t i = 0; i < f->scene->contact_count; i++) {
        const SceneContact *contact = &f->scene->contacts[i];
        double P[] = {point[0], point[1], point[2]};
        point += 3 + 3 * contact->row_count;
        if (contact->terrain == NO_TERRAIN) continue;
        const SceneTerrain *terrain = &f->scene->terrains[contact->terrain];
        if (terrain->on != SCENE_WORLD) {
            const double *pose = f->outputs + POSE * (size_t)terrain->on;
            into_axes(pose, pose + 3, P);
        }
        into_axes(terrain->at, terrain->rotation, P);
        for (uint32_t k = 0; k < 2; k++) f->touches[2 * (size_t)i + k] = P[k];
        for (uint32_t k = 0; k < 2 && contact->touch != NO_TOUCH; k++)
            f->inputs[contact->touch + k] = P[k];
    }
}

static void evaluate(Frames *f, size_t row)
{
    for (uint32_t i = 0; i < f->input_count; i++)
        if (f->columns[i]) f->inputs[i] = f->columns[i][row];
    evaluate_into(&f->places, f->inputs, f->outputs);
    if (!f->has_terrain) return;
    take_points(f, row);
    find_touches(f);
    evaluate_into(&f->places, f->inputs, f->outputs);
    take_points(f, row);
}

void tr_frames_touch(const Frames *f, uint32_t contact, double out[2])
{
    for (int k = 0; k < 2; k++) out[k] = f->touches[2 * (size_t)contact + (size_t)k];
}

void tr_frames_get(Frames *f, size_t row, double *out)
{
    evaluate(f, row);
    const double *from = f->outputs;
    for (uint32_t i = 0; i < f->scene->body_count; i++, from += POSE, out += BODY_NUMBERS) {
        for (int k = 0; k < 3; k++) out[k] = from[k];
        quaternion_of(from + 3, out + 3);
    }
    for (uint32_t i = 0; i < f->scene->contact_count; i++) {
        const SceneContact *contact = &f->scene->contacts[i];
        const double *const *lambda = f->lambda + SCENE_ROWS * (size_t)i;
        const uint32_t numbers = tr_contact_numbers(contact);
        for (uint32_t k = 0; k < numbers; k++) out[k] = k < 3 ? from[k] : 0;
        from += 3;
        for (uint32_t r = 0; r < contact->row_count; r++, from += 3)
            for (int k = 0; k < 3; k++)
                out[(contact->rows[r].is_moment ? 6 : 3) + k] +=
                    lambda[r] ? lambda[r][row] * from[k] : (double)NAN;
        out += numbers;
    }
}

// ---- how large it is -----------------------------------------------------------------------

// The distance from a drawing's middle to its end along a direction n in the body's axes. With c
// the part of n along its axis and s that across: cylinders reach l/2 |c| + r s.
static double reach_along(const Drawing *d, const double n[3])
{
    double c = 0, edges = 0;
    for (int k = 0; k < 3; k++) c += n[k] * d->axis[k], edges += fabs(n[k]) * d->size[k] / 2;
    const double s = sqrt(fmax(0, 1 - c * c));
    if (strcmp(d->type, "box") == 0 || strcmp(d->type, "mesh") == 0) return edges;
    if (strcmp(d->type, "sphere") == 0) return d->radius;
    if (strcmp(d->type, "capsule") == 0) return d->length / 2 * fabs(c) + d->radius;
    if (strcmp(d->type, "torus") == 0) return (d->radius - d->tube) * s + d->tube;
    return d->length / 2 * fabs(c) + d->radius * s;
}

static double along(const double a[3], const double n[3])
{
    return a[0] * n[0] + a[1] * n[1] + a[2] * n[2];
}

typedef struct Span {
    double least, most;
} Span;

// What the drawings of a body reach along a unit vector of the world, from its origin
static Span span_of(const Frames *f, uint32_t body, const double n[3], Span span)
{
    const Scene *scene = f->scene;
    for (uint32_t i = 0; i < scene->drawing_count; i++) {
        const Drawing *d = &scene->drawings[i];
        if (d->body != body) continue;
        const double *p = f->outputs + POSE * (size_t)d->body, *R = p + 3;
        double own[3]; // n in the body's axes
        for (int k = 0; k < 3; k++) own[k] = R[k] * n[0] + R[3 + k] * n[1] + R[6 + k] * n[2];
        const double middle = along(p, n) + along(d->at, own), reach = reach_along(d, own);
        span.least = fmin(span.least, middle - reach);
        span.most = fmax(span.most, middle + reach);
    }
    return span;
}

static Span span_of_beam(const Frames *f, const SceneBeam *beam, const double n[3], Span span)
{
    for (uint32_t i = 0; i <= beam->count; i++) { // its root first
        const uint32_t body = i ? beam->first + i - 1 : beam->body;
        const double middle = along(f->outputs + POSE * (size_t)body, n);
        span.least = fmin(span.least, middle - beam->radius);
        span.most = fmax(span.most, middle + beam->radius);
    }
    return span;
}

static const Span nothing = {(double)INFINITY, -(double)INFINITY};

double tr_frames_extent(Frames *f)
{
    double extent = 0;
    evaluate(f, 0);
    for (int k = 0; k < 3; k++) {
        const double n[3] = {k == 0, k == 1, k == 2};
        Span span = nothing;
        for (uint32_t i = 0; i < f->scene->body_count; i++) span = span_of(f, i, n, span);
        for (uint32_t i = 0; i < f->scene->beam_count; i++)
            span = span_of_beam(f, &f->scene->beams[i], n, span);
        extent = fmax(extent, span.most - span.least);
    }
    return isfinite(extent) && extent > 0 ? extent : f->scene->length;
}

double tr_frames_height(Frames *f, const double at[3], const double normal[3])
{
    const Scene *s = f->scene;
    const double *point = f->outputs + POSE * (size_t)s->body_count;
    Span span = nothing;
    evaluate(f, 0);
    for (uint32_t i = 0; i < s->contact_count; point += 3 + 3 * s->contacts[i++].row_count) {
        if (!s->contacts[i].leaves_track) continue;
        span = span_of(f, s->contacts[i].body, normal, span);
        span.least = fmin(span.least, along(point, normal));
    }
    return isfinite(span.least) ? span.least - along(at, normal) : 0;
}

#define CLEARLY 0.1 // of the extent: feet are drawn as balls about their points, discs have a width

void tr_frames_sunk(Frames *f, size_t rows, Sunk *sunk)
{
    const Scene *s = f->scene;
    for (uint32_t i = 0; i < s->body_count; i++) sunk[i] = (Sunk){0};
    if (!s->has_ground || s->ground_is_free) return;
    const double clearly = CLEARLY * tr_frames_extent(f);
    const double floor = along(s->ground_at, s->ground_normal);
    for (size_t row = 0; row < rows; row++) {
        evaluate(f, row);
        for (uint32_t i = 0; i < s->body_count; i++) {
            const double depth = floor - span_of(f, i, s->ground_normal, nothing).least;
            if (!(depth > clearly) || !isfinite(depth)) continue;
            if (!(sunk[i].depth > 0)) sunk[i].row = row;
            sunk[i].depth = fmax(sunk[i].depth, depth);
        }
    }
}

// ---- rows for pictures ---------------------------------------------------------------------

enum { ENOUGH = 6000 }; // rows
#define FAR_TURNED 1.0  // [rad]: further, and it could be seen to turn the other way

// How far a body turns most from one frame to another, for |q.p| = cos(angle/2)
static double turned(const Frames *f, const double *from, const double *to)
{
    double least = 1;
    for (uint32_t i = 0; i < f->scene->body_count; i++) {
        const double *q = from + BODY_NUMBERS * (size_t)i + 3;
        const double *p = to + BODY_NUMBERS * (size_t)i + 3;
        const double dot = fabs(q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3]);
        if (dot < least) least = dot;
    }
    return 2 * acos(least);
}

uint32_t *tr_frames_sampled(Frames *f, size_t rows, size_t *count, tr_error *err)
{
    const size_t stride = tr_frames_stride(f), every = rows / ENOUGH + 1;
    uint32_t *kept = malloc((rows + 1) * sizeof *kept);
    double *frames = calloc(3 * stride + 1, sizeof *frames);
    double *last = frames, *before = frames + stride, *now = frames + 2 * stride;
    *count = 0;
    if (!kept || !frames || rows > UINT32_MAX) {
        tr_fail_memory(err);
        free(kept), kept = NULL;
    }
    for (size_t row = 0; kept && row < rows; row++) {
        if (every > 1) tr_frames_get(f, row, now);
        const bool is_far = every > 1 && row && turned(f, last, now) > FAR_TURNED;
        if (is_far && kept[*count - 1] + 1 < row) { // the one before was not too far
            kept[(*count)++] = (uint32_t)row - 1;
            memcpy(last, before, stride * sizeof *last);
        }
        const bool is_due = row == 0 || row + 1 == rows || row - kept[*count - 1] >= every;
        if (is_due || turned(f, last, now) > FAR_TURNED) {
            kept[(*count)++] = (uint32_t)row;
            memcpy(last, now, stride * sizeof *last);
        }
        memcpy(before, now, stride * sizeof *before);
    }
    free(frames);
    return kept;
}
