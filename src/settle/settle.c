// SPDX-License-Identifier: Apache-2.0
// Settling: its life, and one pose after the other.
#include "settle/settle.h"

#include "base/options.h"
#include "base/random.h"
#include "num/dense.h"
#include "num/nonnegative.h"
#include "plan/start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tr_settle_fill(tr_settle_options *options, size_t size)
{
    const tr_settle_options plain = {0};
    tr_give_options(options, size, &plain, sizeof plain);
}

// ---- life ----------------------------------------------------------------------------------

static void *room_for(Settle *p, size_t count, size_t size)
{
    void *room = tr_arena_alloc(&p->arena, count + 1, size);
    p->lacks_memory = p->lacks_memory || !room;
    return room;
}

static double *numbers(Settle *p, size_t count) { return room_for(p, count, sizeof(double)); }

static size_t largest(size_t a, size_t b) { return a > b ? a : b; }

// What programs give, and room for problems of `side` unknowns or contacts
static bool make_room(Settle *p)
{
    const size_t n = p->unknowns, t = p->touches, m = term_count(p), c = p->contact_count,
                 side = largest(n, 3 * c) + 2, inputs = p->system->input_count;
    const size_t values = largest(m + t + p->slope_count,
                                  largest(n + p->bend_count, p->measure_values + p->measure_count));
    struct Split *s = &p->split;
    const size_t rows = m + p->quaternions;
    s->row = room_for(p, rows, sizeof *s->row);
    s->pivot = room_for(p, rows, sizeof *s->pivot);
    s->own = room_for(p, n, sizeof *s->own);
    s->W = numbers(p, rows * (n + rows + 1)), s->Z = numbers(p, n * n), s->d0 = numbers(p, n);
    p->in = numbers(p, inputs), p->last = numbers(p, inputs);
    p->from = numbers(p, inputs);
    p->was = numbers(p, inputs), p->was_held = numbers(p, p->hold_count);
    p->values = numbers(p, largest(values, 3 * (size_t)p->alarm_count));
    p->f = numbers(p, m + t), p->J = numbers(p, (m + t) * (n + t)), p->P = numbers(p, t * n);
    p->du = numbers(p, t), p->G = numbers(p, m * n), p->f0 = numbers(p, m),
    p->H = numbers(p, n * n);
    p->mu = numbers(p, rows), p->lambda = numbers(p, side), p->p = numbers(p, side),
    p->d = numbers(p, side);
    p->g = numbers(p, side), p->c = numbers(p, side), p->b = numbers(p, side);
    p->Hr = numbers(p, side * side), p->Gr = numbers(p, side * side),
    p->A = numbers(p, side * side);
    p->kept = numbers(p, side * side);
    p->room = numbers(p, 2 * side * side + side + tr_nonnegative_room((uint32_t)side));
    p->arms = numbers(p, 6 * c * n), p->forces = numbers(p, 3 * c);
    p->is_closed = room_for(p, 2 * c, sizeof *p->is_closed);
    p->marks = room_for(p, 2 * side, sizeof *p->marks);
    p->is_idle = room_for(p, n, sizeof *p->is_idle);
    p->is_sprung = room_for(p, n, sizeof *p->is_sprung);
    return !p->lacks_memory;
}

// Whether a row of slopes by a quaternion says that turning it changes nothing: it is along q
static bool is_unturned(const double *slopes, const double *q)
{
    double along = 0, off = 0, size = 0;
    for (int k = 0; k < 4; k++) along += slopes[k] * q[k];
    for (int k = 0; k < 4; k++) {
        off = larger(off, fabs(slopes[k] - along * q[k]));
        size = larger(size, fabs(slopes[k]));
    }
    return off <= 1e-12 * (1 + size);
}

// What does not matter where it stands
static void keep_idle(Settle *p)
{
    const size_t wide = (size_t)p->unknowns + p->touches, rows = term_count(p) + p->touches;
    for (size_t i = 0; i < rows; i++) {
        for (uint32_t k = 0; k < p->unknowns; k++)
            p->marks[k] = p->is_idle[k] && p->J[i * wide + k] == 0;
        for (uint32_t k = 0; k < p->quaternions; k++) {
            const uint32_t first = p->quaternion[k];
            const bool is_idle =
                p->is_idle[first] && is_unturned(p->J + i * wide + first, p->in + p->place[first]);
            for (uint32_t j = 0; j < 4; j++) p->marks[first + j] = is_idle;
        }
        memcpy(p->is_idle, p->marks, p->unknowns * sizeof *p->is_idle);
    }
}

// What nothing depends on at some states around the start: angles of wheels that are round, how a
// ball is turned
static void find_idle(Settle *p)
{
    enum { PROBES = 3 };
    uint32_t random = 2468;
    for (uint32_t k = 0; k < p->unknowns; k++) p->is_idle[k] = true;
    for (int probe = 0; probe < PROBES; probe++) {
        tr_start_values(p->system, p->in);
        for (uint32_t k = 0; k < p->unknowns + p->touches; k++)
            p->in[p->place[k]] += 0.1 * next_random(&random);
        for (uint32_t i = 0; i < p->quaternions; i++)
            tr_make_unit(p->in + p->place[p->quaternion[i]]);
        tr_settle_evaluate(p);
        keep_idle(p);
    }
}

static void find_sprung(Settle *p)
{
    const Scene *scene = &p->system->scene;
    for (uint32_t i = 0; i < scene->body_count; i++)
        for (uint32_t k = 0; k < p->unknowns && scene->bodies[i].stretch.id; k++)
            if (strcmp(p->system->inputs[p->place[k]].name, scene->bodies[i].coordinate) == 0)
                p->is_sprung[k] = true;
}

// Values of what is held: numbers, or what it is at the start
static void take_values(Settle *p)
{
    tr_start_values(p->system, p->in);
    if (p->hold_count) evaluate_into(&p->holds, p->in, p->target);
    memcpy(p->given, p->target, p->hold_count * sizeof *p->given);
}

static bool open_settle(Settle *p, const tr_settle_options *o, tr_error *err)
{
    const bool is_residual = strcmp(p->way->name, "residual") == 0;
    if (o->gap && strcmp(o->gap, "vertical") != 0 && strcmp(o->gap, "distance") != 0)
        tr_fail(err, TR_USAGE, (Place){0}, "gaps are a distance or vertical, not '%.40s'", o->gap);
    else if ((o->gap || o->weight_count) && !is_residual)
        tr_fail(err, TR_USAGE, (Place){0}, "--gap and --weight are for --by residual");
    p->is_vertical = o->gap && strcmp(o->gap, "vertical") == 0;
    if (has_failed(err) || !tr_settle_terms(p, o, err) || !tr_measure_new(p, err)) return false;
    p->given = numbers(p, p->hold_count);
    if (!p->given || !make_room(p)) return tr_fail_memory(err), false;
    find_idle(p);
    find_sprung(p);
    take_values(p);
    return true;
}

Settle *tr_settle_new(Plan *plan, const tr_settle_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_settle_options o = tr_settle_defaults();
    if (!plan || !tr_take_options(&o, sizeof o, options, "tr_settle_defaults", err)) return NULL;
    Settle *p = calloc(1, sizeof *p);
    if (!p) return tr_fail_memory(err), NULL;
    p->plan = plan;
    p->way = tr_way_called(o.by ? o.by : "energy", err);
    p->system = p->way ? tr_system_copy(plan->system, err) : NULL;
    if (p->system && open_settle(p, &o, err) && !has_failed(err)) return p;
    if (p->system && p->system->graph->failed) tr_graph_refuse(p->system->graph, err);
    tr_settle_free(p);
    return NULL;
}

void tr_settle_free(Settle *p)
{
    if (!p) return;
    Evaluator *const all[] = {&p->slopes, &p->bends, &p->measures, &p->middles,
                              &p->holds,  &p->hubs,  &p->alarms};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tr_evaluator_free(all[i]);
    tr_touch_search_free(p->search);
    tr_touch_programs_free(&p->touch);
    tr_exprs_free(&p->terms);
    free(p->names);
    tr_arena_free(&p->arena);
    tr_system_free(p->system);
    free(p);
}

size_t tr_settle_column_count(const Settle *p) { return p ? p->column_count : 0; }

const char *tr_settle_column_name(const Settle *p, size_t i)
{
    return p && i < p->column_count ? p->labels[i] : NULL;
}

const char *tr_settle_column_unit(const Settle *p, size_t i)
{
    return p && i < p->column_count ? p->units[i] : NULL;
}

const double *tr_settle_state(const Settle *p) { return p && p->has_pose ? p->in : NULL; }

void tr_settle_restart(Settle *p)
{
    if (p) p->has_pose = p->has_last = false;
}

// ---- poses ---------------------------------------------------------------------------------

static bool find_pose(Settle *p, tr_error *err)
{
    const size_t bytes = p->system->input_count * sizeof *p->in;
    if (p->has_pose) memcpy(p->was, p->in, bytes);
    const bool had = p->has_pose;
    tr_error own = {0};
    p->has_pose = tr_settle_solve(p, &own);
    // a table that is left says more than that there is no pose
    if (p->has_pose || own.status == TR_FAILED)
        p->has_pose = tr_measure_alarms(p, err) && p->has_pose;
    if (has_failed(&own) && !has_failed(err)) *err = own;
    if (!p->has_pose && had) {
        memcpy(p->in, p->was, bytes);
        p->has_pose = true;
        return false;
    }
    p->has_last = had;
    return p->has_pose;
}

bool tr_settle_pose(Settle *p, const double *held, double *columns, tr_error *err)
{
    tr_error local = {0}, unheard = {0};
    if (!err) err = &unheard;
    if (!p || has_failed(err)) return false;
    memcpy(p->was_held, p->target, p->hold_count * sizeof *p->target);
    for (uint32_t i = 0; i < p->hold_count; i++)
        p->target[i] = held && !isnan(held[i]) ? held[i] : p->given[i];
    if (!find_pose(p, err)) {
        memcpy(p->target, p->was_held, p->hold_count * sizeof *p->target);
        if (p->has_pose) tr_settle_solve(p, &local); // what is told is of the last pose again
        return false;
    }
    if (columns) tr_measure_take(p, columns);
    return true;
}

const char *tr_settle_lifted(Settle *p)
{
    if (!p || !p->has_pose) return "";
    p->lifted[0] = 0;
    for (uint32_t i = 0; i < p->contact_count; i++)
        if (!p->is_closed[i])
            tr_list_name(p->lifted, sizeof p->lifted, p->names[p->first[GROUP_GAPS] + i]);
    return p->lifted;
}

// ---- branches ------------------------------------------------------------------------------

static double apart(const Settle *p, const double *a, const double *b)
{
    double most = 0;
    for (uint32_t k = 0; k < p->unknowns; k++)
        most = larger(most, fabs(a[p->place[k]] - b[p->place[k]]));
    return most;
}

// Of what is held, since the last pose: of angles the short way
static double change_of(const Settle *p, uint32_t i, double here)
{
    const double change = here - p->was_held[i];
    return p->turns[i] ? change - 2 * M_PI * floor(change / (2 * M_PI) + 0.5) : change;
}

// Halves the way between the last two poses, always towards the half in which it moves more: what
// moves steadily moves a thousandth of it in the end.                                    (T295)
static bool jumps_between(Settle *p, double *from, double *to, double *here)
{
    enum { HALVINGS = 10 };
    const size_t bytes = p->system->input_count * sizeof *p->in;
    const double all = apart(p, from, to);
    double low = 0, high = 1;
    for (int k = 0; k < HALVINGS; k++) {
        tr_error err = {0};
        const double middle = 0.5 * (low + high);
        for (uint32_t i = 0; i < p->hold_count; i++)
            p->target[i] = p->was_held[i] + middle * change_of(p, i, here[i]);
        memcpy(p->in, from, bytes);
        if (!tr_settle_solve(p, &err)) return true;
        if (apart(p, from, p->in) > apart(p, p->in, to))
            memcpy(to, p->in, bytes), high = middle;
        else
            memcpy(from, p->in, bytes), low = middle;
    }
    return apart(p, from, to) > 0.1 * all;
}

// Steps that Newton's method foresaw need no closer look.
static bool is_plain(const Settle *p)
{
    return apart(p, p->was, p->in) <= 3 * p->first_step + 1e-6;
}

bool tr_settle_has_jumped(Settle *p)
{
    if (!p || !p->has_pose || !p->has_last || is_plain(p)) return false;
    const size_t n = p->system->input_count;
    double *room = calloc(3 * n + p->hold_count + 1, sizeof *room);
    if (!room) return false;
    double *from = room, *to = room + n, *pose = room + 2 * n, *here = room + 3 * n;
    memcpy(from, p->was, n * sizeof *from);
    memcpy(to, p->in, n * sizeof *to);
    memcpy(pose, p->in, n * sizeof *pose);
    memcpy(here, p->target, p->hold_count * sizeof *here);
    const bool jumped = jumps_between(p, from, to, here);
    tr_error err = {0};
    memcpy(p->in, pose, n * sizeof *pose);
    memcpy(p->target, here, p->hold_count * sizeof *here);
    tr_settle_solve(p, &err);
    p->has_last = false;
    free(room);
    return jumped;
}
