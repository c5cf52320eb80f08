// SPDX-License-Identifier: Apache-2.0
#include "sim/lanes.h"

#include "num/dense.h"
#include "plan/condition_set.h"
#include "sim/glance.h"
#include "sim/group.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// For 4 or 8 lanes.
static const LaneMath *math_of(Machine machine, uint32_t lanes)
{
    static const LaneMath *const machines[] = {
#ifdef TR_X86
        [MACHINE_AVX2] = tr_lane_maths_avx2,
        [MACHINE_AVX512] = tr_lane_maths_avx512,
#endif
        [MACHINE_PLAIN] = tr_lane_maths_plain};
    assert(lanes == 4 || lanes == 8);
    return &machines[machine][lanes == 8];
}

// ---- records -------------------------------------------------------------------------------

static uint32_t room_for(uint32_t *count, uint32_t more)
{
    const uint32_t first = *count;
    *count += more;
    return first;
}

static void find_places(Lanes *l)
{
    RecordPlaces *at = &l->at;
    const bool looks = l->watches;
    l->past_count = PAST_NUMBERS;
    l->past_y = room_for(&l->past_count, l->size);
    l->past_margins = room_for(&l->past_count, l->switches);
    at->count = SINGLE_NUMBERS;
    at->y = room_for(&at->count, l->size);
    at->inputs = room_for(&at->count, l->inputs);
    for (int i = 0; i < LAST_STATES; i++)
        at->past[i] = room_for(&at->count, looks ? l->past_count : 0);
    at->last = room_for(&at->count, looks ? l->alarms : 0);
    at->told = room_for(&at->count, looks ? l->alarms : 0);
    at->deaf = room_for(&at->count, looks ? l->alarms : 0);
    at->squares = room_for(&at->count, l->rows);
    at->scales = room_for(&at->count, l->rows);
    at->largest = room_for(&at->count, l->constraints);
    at->kept = room_for(&at->count, l->switches);
}

static void take_past(const Lanes *l, const Watch *w, double *record)
{
    for (uint32_t i = 0; i < w->path.count; i++) { // the last one is always in the same place
        double *to = record + l->at.past[LAST_STATES - w->path.count + i];
        to[PAST_TIME] = w->path.t[i];
        to[PAST_TILT] = w->quality[i].tilt, to[PAST_LEAST] = w->quality[i].least;
        to[PAST_SIGN] = w->quality[i].sign, to[PAST_IS_KNOWN] = w->is_known[i];
        memcpy(to + l->past_y, w->path.y[i], l->size * sizeof *to);
        if (l->switches) memcpy(to + l->past_margins, w->switches[i], l->switches * sizeof *to);
    }
}

static void give_past(const Lanes *l, const double *record, Watch *w)
{
    w->path.count = (uint32_t)fmin(record[AT_STATES], LAST_STATES), w->path.rated = PATH_STATES;
    for (uint32_t i = 0; i < w->path.count; i++) {
        const double *from = record + l->at.past[LAST_STATES - w->path.count + i];
        w->path.t[i] = from[PAST_TIME];
        w->quality[i] = (Quality){from[PAST_TILT], from[PAST_LEAST], (int)from[PAST_SIGN]};
        w->is_known[i] = from[PAST_IS_KNOWN] != 0;
        memcpy(w->path.y[i], from + l->past_y, l->size * sizeof *from);
        if (l->switches) memcpy(w->switches[i], from + l->past_margins, l->switches * sizeof *from);
    }
}

static void take_watch(const Lanes *l, const Run *run, double *record)
{
    const Watch *w = &run->mover->watch;
    const Flow *flow = run->flow;
    record[AT_STATES] = w->path.count;
    take_past(l, w, record);
    for (uint32_t i = 0; i < l->alarms; i++) {
        record[l->at.last + i] = w->last[i], record[l->at.told + i] = w->told[i];
        record[l->at.deaf + i] = tr_watch_is_deaf(w, i);
    }
    for (uint32_t i = 0; i < l->rows; i++) {
        record[l->at.squares + i] = flow->stance->square[i];
        record[l->at.scales + i] = flow->stance->scale[i];
    }
    for (uint32_t i = 0; i < l->constraints; i++) record[l->at.largest + i] = flow->largest[i];
    for (uint32_t i = 0; i < l->switches; i++) record[l->at.kept + i] = tr_watch_keeps(w, i);
}

void tr_lanes_take(const Lanes *l, const Run *run, double *record)
{
    const Mover *m = run->mover;
    const Flow *flow = run->flow;
    memset(record, 0, l->at.count * sizeof *record);
    record[AT_TIME] = m->t;
    record[AT_GRID_START] = m->grid.start, record[AT_GRID_COUNT] = (double)m->grid.count;
    record[AT_GRID_IS_THERE] = m->grid.is_there;
    record[AT_EARLIEST] = flow->earliest, record[AT_LATEST] = flow->latest;
    record[AT_DUE] = tr_run_due(run);
    record[AT_STEPS] = (double)m->steps, record[AT_EVALUATIONS] = (double)flow->evaluations;
    record[AT_ALL_EVALUATIONS] = (double)flow->all_evaluations;
    record[AT_DRIFT] = m->drift;
    memcpy(record + l->at.y, m->y, l->size * sizeof *record);
    memcpy(record + l->at.inputs, flow->inputs, l->inputs * sizeof *record);
    if (l->watches) take_watch(l, run, record);
}

void tr_lanes_give(const Lanes *l, const double *record, Run *run)
{
    Mover *m = run->mover;
    Flow *flow = run->flow;
    m->t = record[AT_TIME];
    m->grid.start = record[AT_GRID_START], m->grid.count = (uint64_t)record[AT_GRID_COUNT];
    m->grid.is_there = record[AT_GRID_IS_THERE] != 0;
    flow->earliest = record[AT_EARLIEST], flow->latest = record[AT_LATEST];
    m->steps = (size_t)record[AT_STEPS], flow->evaluations = (size_t)record[AT_EVALUATIONS];
    flow->all_evaluations = (size_t)record[AT_ALL_EVALUATIONS];
    m->drift = record[AT_DRIFT];
    memcpy(m->y, record + l->at.y, l->size * sizeof *record);
    if (!l->watches) return;
    give_past(l, record, &m->watch);
    for (uint32_t i = 0; i < l->alarms; i++) m->watch.last[i] = record[l->at.last + i];
    for (uint32_t i = 0; i < l->rows; i++) {
        flow->stance->square[i] = record[l->at.squares + i];
        flow->stance->scale[i] = record[l->at.scales + i];
    }
    for (uint32_t i = 0; i < l->constraints; i++) flow->largest[i] = record[l->at.largest + i];
}

// ---- making them ---------------------------------------------------------------------------

static void measure(Lanes *l, const Run *run)
{
    const Flow *flow = run->flow;
    const ChartPrograms *p = flow->now->programs;
    const System *s = flow->system;
    l->programs = p;
    l->is_lie = strcmp(run->method->name, "lie") == 0;
    l->watches = tr_flow_is_watched(flow);
    l->size = flow->size, l->known = flow->known, l->positions = flow->positions;
    l->inputs = s->input_count + flow->switch_count;
    l->alarms = l->watches ? s->alarm_count : 0;
    l->rows = flow->stance ? flow->stance->all : 0;
    l->constraints = l->watches ? flow->footing->constraints : 0;
    l->switches = flow->switch_count;
    l->pivots = flow->stance ? flow->now->chart->partition.count : 0;
    l->quaternions = flow->quaternion_count;
    l->touching = flow->system->touchings, l->touchings = flow->system->touching_count;
    l->projected = flow->no_projection ? 0 : flow->now->projected;
    l->conditions = l->projected ? l->projected + l->quaternions : 0;
    l->constraint_rows = flow->now->chart ? flow->now->chart->rows : 0;
    l->surplus = flow->now->chart ? flow->now->chart->surplus_count : 0;
    assert(flow->size == flow->own && !flow->sensitivity);
}

static bool open_workspaces(Lanes *l, tr_error *err)
{
    const ChartPrograms *p = l->programs;
    l->rates = tr_workspace_block(p->of[CHART_RATES], err);
    l->watch = tr_workspace_block(p->of[CHART_WATCH], err);
    l->phi = l->projected ? tr_workspace_block(p->of[CHART_PHI], err) : NULL;
    l->projection = l->projected ? tr_workspace_block(p->of[CHART_PROJECTION], err) : NULL;
    if (has_failed(err)) return false;
    l->lanes = tr_block_lanes(l->rates);
    l->math = math_of(tr_machine(), l->lanes);
    assert(p->of[CHART_RATES]->input_count <= l->inputs);
    assert(!l->watch || tr_block_lanes(l->watch) == l->lanes);
    return true;
}

// Rows where states go, and where outputs are
static double **rows_in(const Lanes *l, const tr_workspace *w, double **next)
{
    for (uint32_t k = 0; k < l->known; k++) next[k] = tr_block_input(w, l->programs->place[k]);
    return next + l->known;
}

static double **rows_out(const tr_workspace *w, uint32_t count, double **next)
{
    for (uint32_t k = 0; k < count; k++) next[k] = (double *)tr_block_output(w, k);
    return next + count;
}

// Slopes of unit quaternions are rows of our own, behind those of the program.
static void find_conditions(Lanes *l)
{
    const size_t n = l->positions;
    double **phi = l->conditions_out, **J = phi + l->conditions;
    for (uint32_t i = 0; i < l->projected; i++) {
        phi[i] = (double *)tr_block_output(l->projection, i);
        for (size_t k = 0; k < n; k++)
            J[i * n + k] =
                (double *)tr_block_output(l->projection, (uint32_t)(l->projected + i * n + k));
    }
    double *own = l->slopes;
    for (uint32_t i = l->projected; i < l->conditions; i++) {
        phi[i] = own, own += l->lanes;
        for (size_t k = 0; k < n; k++, own += l->lanes) J[i * n + k] = own;
    }
}

static bool find_rows(Lanes *l, tr_error *err)
{
    const size_t conditions = (size_t)l->conditions * (l->positions + 1);
    const uint32_t seen = l->watch ? l->programs->watched.count : 0;
    const size_t count =
        4 * (size_t)l->known + 5 * (size_t)l->size + seen + l->projected + conditions;
    double **next = calloc(count + 1, sizeof *next);
    if (!next) return tr_fail_memory(err), false;
    l->rates_in = next, next = rows_in(l, l->rates, next);
    l->rates_out = next, next = rows_out(l->rates, l->size, next);
    l->watch_in = next;
    if (l->watch) next = rows_in(l, l->watch, next);
    l->seen = next;
    if (l->watch) next = rows_out(l->watch, seen, next);
    l->phi_in = next;
    if (l->phi) next = rows_in(l, l->phi, next);
    l->off = next;
    if (l->phi) next = rows_out(l->phi, l->projected, next);
    l->projection_in = next;
    if (l->projection) next = rows_in(l, l->projection, next);
    for (uint32_t k = 0; k < 4; k++) {
        l->k_rows[k] = next, next += l->size;
        for (uint32_t i = 0; i < l->size; i++) l->k_rows[k][i] = l->k[k] + (size_t)i * l->lanes;
    }
    l->conditions_out = next;
    if (l->projection) find_conditions(l);
    return true;
}

static double *room_of(const Lanes *l, double **next, size_t count)
{
    double *first = *next;
    *next += count * l->lanes;
    return first;
}

static bool make_room(Lanes *l, tr_error *err)
{
    enum { LINE = 64 };
    const size_t size = l->size, m = l->conditions, L = l->lanes;
    const size_t slopes = (m - l->projected) * (l->positions + 1);
    const size_t numbers =
        L * (l->at.count + 7 * size + m * m + m + slopes + l->surplus + 2 * l->rows + 1);
    l->block = aligned_alloc(LINE, (numbers * sizeof(double) + LINE - 1) / LINE * LINE);
    l->unit = calloc(l->rows + 1u, sizeof *l->unit);
    l->member = calloc(L, sizeof *l->member);
    l->is_taken = calloc(L, sizeof *l->is_taken);
    l->lags = calloc(L, sizeof *l->lags);
    l->surplus_row = calloc(l->surplus + 1u, sizeof *l->surplus_row);
    l->quaternion = calloc(l->quaternions + 1u, sizeof *l->quaternion);
    if (!l->block || !l->unit || !l->member || !l->is_taken || !l->lags || !l->surplus_row ||
        !l->quaternion)
        return tr_fail_memory(err), false;
    memset(l->block, 0, numbers * sizeof(double));
    double *next = l->block;
    room_of(l, &next, l->at.count);
    l->next = room_of(l, &next, size);
    for (int i = 0; i < 4; i++) l->k[i] = room_of(l, &next, size);
    l->u = room_of(l, &next, size), l->z = room_of(l, &next, size);
    l->JJ = room_of(l, &next, m * m), l->solution = room_of(l, &next, m);
    l->slopes = room_of(l, &next, slopes);
    l->grown = room_of(l, &next, l->surplus), l->old = room_of(l, &next, 2 * (size_t)l->rows);
    return true;
}

static bool open_search(Lanes *l, const Flow *flow, tr_error *err)
{
    const System *s = flow->system;
    if (!l->touchings) return true;
    l->search = tr_touch_search(s, &flow->footing->conditions[START_POSITIONS]->touch, err);
    l->x = calloc(l->inputs + 1u, sizeof *l->x);
    if (!l->x) tr_fail_memory(err);
    return !has_failed(err);
}

Lanes *tr_lanes_new(const Run *run, tr_error *err)
{
    const Flow *flow = run->flow;
    Lanes *l = has_failed(err) ? NULL : calloc(1, sizeof *l);
    if (!l) return tr_fail_memory(err), NULL;
    measure(l, run);
    find_places(l);
    if (open_workspaces(l, err) && make_room(l, err) && find_rows(l, err) &&
        open_search(l, flow, err)) {
        for (uint32_t i = 0; i < l->rows; i++) l->unit[i] = flow->system->rows[i].unit;
        for (uint32_t i = 0; i < l->surplus; i++) l->surplus_row[i] = flow->now->chart->surplus[i];
        for (uint32_t i = 0; i < l->quaternions; i++) l->quaternion[i] = flow->quaternions[i];
        return l;
    }
    tr_lanes_free(l);
    return NULL;
}

void tr_lanes_free(Lanes *l)
{
    if (!l) return;
    tr_workspace_free(l->rates);
    tr_workspace_free(l->watch);
    tr_workspace_free(l->phi);
    tr_workspace_free(l->projection);
    tr_workspace_free(l->columns);
    tr_workspace_free(l->residuals);
    tr_touch_search_free(l->search);
    free(l->x);
    free(l->rates_in);
    free(l->block);
    free(l->unit);
    free(l->member);
    free(l->is_taken);
    free(l->lags);
    free(l->surplus_row);
    free(l->quaternion);
    free(l);
}

// ---- lanes ---------------------------------------------------------------------------------

static double *row(const Lanes *l, uint32_t place) { return l->block + (size_t)place * l->lanes; }

// The place in the block of the i-th of the last states of a record, for lanes that made the last
// step
static uint32_t past_in_block(const Lanes *l, uint32_t i)
{
    return l->at.past[(l->newest + 1 + i) % LAST_STATES];
}

static bool is_past(const Lanes *l, uint32_t place)
{
    return place >= l->at.past[0] && place < l->at.last;
}

static void copy_past(const Lanes *l, uint32_t lane, double *record, bool enters)
{
    const uint32_t before = l->lags[lane] ? LAST_STATES - 1 : 0; // a step before
    for (uint32_t i = 0; i < LAST_STATES && l->watches; i++)
        for (uint32_t k = 0; k < l->past_count; k++) {
            double *in = row(l, past_in_block(l, i + before) + k) + lane;
            double *out = record + l->at.past[i] + k;
            if (enters)
                *in = *out;
            else
                *out = *in;
        }
}

void tr_lane_enter(Lanes *l, uint32_t lane, const double *record, double until)
{
    assert(!l->is_taken[lane]);
    l->until[lane] = until;
    for (uint32_t i = 0; i < l->at.count; i++)
        if (!is_past(l, i)) row(l, i)[lane] = record[i];
    row(l, AT_WATCHED)[lane] = (double)NAN; // by others, in this lane
    l->lags[lane] = false;
    copy_past(l, lane, (double *)record, true);
    l->is_taken[lane] = true, l->taken[lane] = 1, l->is_prepared = false;
}

void tr_lane_leave(Lanes *l, uint32_t lane, double *record)
{
    assert(l->is_taken[lane]);
    for (uint32_t i = 0; i < l->at.count; i++)
        if (!is_past(l, i)) record[i] = row(l, i)[lane];
    copy_past(l, lane, record, false);
    l->is_taken[lane] = false, l->taken[lane] = 0;
}

// ---- evaluating ----------------------------------------------------------------------------

// Lanes that are free compute what another one does, and nobody looks.
static void fill_up(Lanes *l)
{
    uint32_t like = 0;
    while (!l->is_taken[like]) like++;
    for (uint32_t k = 0; k < l->lanes; k++)
        for (uint32_t i = 0; i < l->at.count && !l->is_taken[k]; i++)
            row(l, i)[k] = row(l, i)[like];
}

static void prepare(const Lanes *l, const tr_program *p, const tr_workspace *w)
{
    if (!w) return;
    memcpy(tr_block_input(w, 0), row(l, l->at.inputs),
           (size_t)p->input_count * l->lanes * sizeof(double));
    tr_block_run(w, PART_PARAMETER);
}

static void prepare_lanes(Lanes *l)
{
    fill_up(l);
    prepare(l, l->programs->of[CHART_RATES], l->rates);
    prepare(l, l->programs->of[CHART_WATCH], l->watch);
    prepare(l, l->programs->of[CHART_PHI], l->phi);
    prepare(l, l->programs->of[CHART_PROJECTION], l->projection);
    l->is_prepared = true, l->is_seen = false;
}

static void put_time(const Lanes *l, const tr_workspace *w, const double *t, const double *later)
{
    l->math->put_time(t, later, row(l, AT_EARLIEST), row(l, AT_LATEST), tr_block_input(w, 0));
}

// ---- stages (T84) --------------------------------------------------------------------------

// Rates where the step begins: those that were watched there, unless t was rounded otherwise or a
// lane is new. Lanes that were watched see the same again.
static Rows first_rates(Lanes *l, const LaneSteps *s)
{
    const tr_workspace *w = l->watch ? l->watch : l->rates;
    const double *t = tr_block_input(w, 0);
    double anew[MOST_LANES];
    put_time(l, w, row(l, AT_TIME), NULL);
    if (l->math->find_others(s->on, t, row(l, AT_WATCHED), anew) || !l->is_seen) {
        l->math->put(l->known, row(l, l->at.y), l->watch ? l->watch_in : l->rates_in);
        tr_block_run(w, PART_STATE);
        l->math->count(1, anew, row(l, AT_ALL_EVALUATIONS));
        l->is_seen = true;
    }
    if (l->watch) return (Rows)l->seen;
    l->math->keep(l->size, (Rows)l->rates_out, l->k[0]);
    return (Rows)l->k_rows[0];
}

static void evaluate_rates(const Lanes *l, const double *later)
{
    put_time(l, l->rates, row(l, AT_TIME), later);
    tr_block_run(l->rates, PART_STATE);
}

// They are put aside, for some may stand where states go.
static void take_rates(const Lanes *l, const double *later, double *k)
{
    evaluate_rates(l, later);
    l->math->keep(l->size, (Rows)l->rates_out, k);
}

static void step_rk4(const Lanes *l, const LaneSteps *s, Rows first)
{
    const LaneMath *math = l->math;
    const double *y = row(l, l->at.y);
    const Rows k[4] = {first, (Rows)l->k_rows[1], (Rows)l->k_rows[2], (Rows)l->rates_out};
    math->along(l->known, y, s->half, k[0], l->rates_in);
    take_rates(l, s->half, l->k[1]);
    math->along(l->known, y, s->half, k[1], l->rates_in);
    take_rates(l, s->half, l->k[2]);
    math->along(l->known, y, s->h, k[2], l->rates_in);
    evaluate_rates(l, s->h);
    math->by_four(l->size, y, s->h, k, l->next);
}

// ---- on the group --------------------------------------------------------------------------

static void pick(const Lanes *l, const double *x, uint32_t first, uint32_t lane, double *q, int n)
{
    for (int i = 0; i < n; i++) q[i] = x[(size_t)(first + (uint32_t)i) * l->lanes + lane];
}

static void place(const Lanes *l, double *x, uint32_t first, uint32_t lane, const double *q, int n)
{
    for (int i = 0; i < n; i++) x[(size_t)(first + (uint32_t)i) * l->lanes + lane] = q[i];
}

// See method.c for these
static void reach(const Lanes *l, const double *u, double *z)
{
    const double *y = row(l, l->at.y);
    l->math->plus(l->size, y, u, z);
    for (uint32_t i = 0; i < l->quaternions; i++)
        for (uint32_t n = 0; n < l->lanes; n++) {
            double q[4], v[3], out[4];
            pick(l, y, l->quaternion[i], n, q, 4);
            pick(l, u, l->quaternion[i], n, v, 3);
            turn(q, v, out);
            place(l, z, l->quaternion[i], n, out, 4);
        }
}

static void take_rotations(const Lanes *l, const double *u, const double *z, double *k)
{
    for (uint32_t i = 0; i < l->quaternions; i++)
        for (uint32_t n = 0; n < l->lanes; n++) {
            double q[4], v[3], rate[4], W[3];
            pick(l, z, l->quaternion[i], n, q, 4);
            pick(l, k, l->quaternion[i], n, rate, 4);
            pick(l, u, l->quaternion[i], n, v, 3);
            angular_velocity(q, rate, W);
            rotation_rate(v, W, rate);
            rate[3] = 0;
            place(l, k, l->quaternion[i], n, rate, 4);
        }
}

static void take_lie_rates(const Lanes *l, const double *later, double *k)
{
    reach(l, l->u, l->z);
    l->math->put(l->known, l->z, l->rates_in);
    take_rates(l, later, k);
    take_rotations(l, l->u, l->z, k);
}

static void step_lie(const Lanes *l, const LaneSteps *s, Rows first)
{
    const LaneMath *math = l->math;
    const Rows k[4] = {(Rows)l->k_rows[0], (Rows)l->k_rows[1], (Rows)l->k_rows[2],
                       (Rows)l->k_rows[3]};
    if (first != k[0]) math->keep(l->size, first, l->k[0]);
    memset(l->u, 0, (size_t)l->size * l->lanes * sizeof(double));
    take_rotations(l, l->u, row(l, l->at.y), l->k[0]);
    math->times(l->size, s->half, l->k[0], l->u);
    take_lie_rates(l, s->half, l->k[1]);
    math->times(l->size, s->half, l->k[1], l->u);
    take_lie_rates(l, s->half, l->k[2]);
    math->times(l->size, s->h, l->k[2], l->u);
    take_lie_rates(l, s->h, l->k[3]);
    math->mix(l->size, s->h, k, l->u);
    reach(l, l->u, l->next);
}

// ---- projection ---------------------------------------------------------------------- (T83) ----

// The largest |phi| of each lane
static void how_far(const Lanes *l, LaneSteps *s, const double *on, double *worst)
{
    l->math->put(l->known, l->next, l->phi_in);
    put_time(l, l->phi, s->end, NULL);
    tr_block_run(l->phi, PART_STATE);
    l->math->worst(l->projected, (Rows)l->off, worst);
    l->math->count(1, on, s->evaluations);
}

static void step_back(const Lanes *l, LaneSteps *s, const double *on)
{
    const LaneMath *math = l->math;
    const uint32_t own = l->projected, n = l->positions;
    double **phi = l->conditions_out, **J = phi + l->conditions, off[MOST_LANES];
    LaneCorrection c = {.n = n,
                        .m = l->conditions,
                        .phi = (Rows)phi,
                        .J = (Rows)J,
                        .JJ = l->JJ,
                        .solution = l->solution,
                        .x = l->next,
                        .on = on,
                        .plain = s->plain};
    math->put(l->known, l->next, l->projection_in);
    put_time(l, l->projection, s->end, NULL);
    tr_block_run(l->projection, PART_STATE);
    math->count(1, on, s->evaluations);
    math->add_units(l->quaternions, l->quaternion, l->next, phi + own, J + (size_t)own * n, n);
    math->correct(&c);
    math->make_units(l->quaternions, l->quaternion, on, l->next, off, s->plain);
}

// Each lane until it is near enough, or gets no nearer; see tr_flow_project.
static void project_positions(const Lanes *l, LaneSteps *s)
{
    enum { MOST_STEPS = 20 };
    double left[MOST_LANES], before[MOST_LANES], on[MOST_LANES];
    how_far(l, s, s->plain, left);
    l->math->check_finite(1, left, s->plain);
    l->math->take_larger(s->plain, left, s->off);
    for (uint32_t k = 0; k < l->lanes; k++) before[k] = (double)INFINITY;
    memcpy(on, s->plain, l->lanes * sizeof *on);
    for (int i = 0; i < MOST_STEPS && l->math->strive(left, before, s->plain, on); i++) {
        step_back(l, s, on);
        how_far(l, s, on, left);
    }
}

static void project(const Lanes *l, LaneSteps *s)
{
    l->math->make_units(l->quaternions, l->quaternion, s->plain, l->next, s->off, s->plain);
    if (l->projected) project_positions(l, s);
}

// ---- looking back --------------------------------------------------------------------------

// Of the switches that may cross: the least margin at a state
static double least_margin(const Lanes *l, uint32_t lane, double *const *margins)
{
    double least = (double)INFINITY;
    for (uint32_t i = 0; i < l->switches; i++)
        if (row(l, l->at.kept + i)[lane] != 0) least = fmin(least, margins[i][lane]);
    return least;
}

static double least_margin_at(const Lanes *l, uint32_t lane, uint32_t past)
{
    double least = (double)INFINITY;
    for (uint32_t i = 0; i < l->switches; i++) {
        const double margin = row(l, past + l->past_margins + i)[lane];
        if (row(l, l->at.kept + i)[lane] != 0 && margin < least) least = margin;
    }
    return least;
}

// Whether no switch crossed in the last step, nor can have gone beyond and back; see has_crossed
static bool are_switches_quiet(const Lanes *l, const LaneSteps *s, uint32_t lane)
{
    const uint32_t last = past_in_block(l, LAST_STATES - 1),
                   first = past_in_block(l, LAST_STATES - 2);
    const double least = least_margin(l, lane, l->seen + l->programs->watched.switches);
    if (!(least < (double)INFINITY)) return true;
    if (least < 0 || s->states[lane] < LAST_STATES) return false;
    if (row(l, last + PAST_IS_KNOWN)[lane] == 0 || row(l, first + PAST_IS_KNOWN)[lane] == 0)
        return false;
    const double was = row(l, last + PAST_TIME)[lane], earlier = row(l, first + PAST_TIME)[lane];
    return !margin_may_dip(least_margin_at(l, lane, first), least_margin_at(l, lane, last), least,
                           was - earlier, s->end[lane] - was);
}

static void look_at_charts(Lanes *l, LaneRows *rows, LaneSteps *s)
{
    const WatchPlaces *at = &l->programs->watched;
    l->math->grow(rows, (Rows)(l->seen + at->squares), s->on, s->plain);
    l->math->pivots(l->pivots, l->programs->partition.row, rows->scale,
                    (Rows)(l->seen + at->pivots), s->least, s->sign, s->plain);
    memcpy(s->tilt, l->seen[at->tilt], l->lanes * sizeof *s->tilt);
    l->math->judge(s, row(l, past_in_block(l, LAST_STATES - 1)),
                   row(l, past_in_block(l, LAST_STATES - 2)));
}

// Whether no wheel flies over a surface that is not flat, or touches it twice; see second_touch.h
static bool touch_once(const Lanes *l, uint32_t lane)
{
    SecondTouch other;
    for (uint32_t i = 0; i < l->inputs; i++) l->x[i] = row(l, l->at.inputs + i)[lane];
    for (uint32_t k = 0; k < l->known; k++)
        l->x[l->programs->place[k]] = l->next[(size_t)k * l->lanes + lane];
    tr_touch_look(l->search, l->x);
    for (uint32_t i = 0; i < l->touchings; i++)
        if (is_in_flight(l->programs->footing, &l->touching[i]) ||
            (is_held(&l->touching[i]) && tr_touch_second(l->search, i, &other) && other.gap < 0))
            return false;
    return true;
}

static void look_back(Lanes *l, LaneRows *rows, LaneSteps *s)
{
    const WatchPlaces *at = &l->programs->watched;
    if (!l->watch) return;
    for (uint32_t n = 0; n < l->lanes && l->search; n++)
        if (s->plain[n] != 0 && !touch_once(l, n)) s->plain[n] = 0;
    l->math->put(l->known, l->next, l->watch_in);
    put_time(l, l->watch, s->end, NULL);
    tr_block_run(l->watch, PART_STATE);
    l->math->alarms(l->alarms, (Rows)(l->seen + at->alarms), row(l, l->at.told), row(l, l->at.deaf),
                    s->plain);
    for (uint32_t n = 0; n < l->lanes && l->programs->of[CHART_SIDES]; n++)
        if (s->plain[n] != 0 && !are_switches_quiet(l, s, n)) s->plain[n] = 0;
    if (l->pivots) look_at_charts(l, rows, s);
    l->math->hold(l->surplus, l->surplus_row, (Rows)(l->seen + at->surplus), row(l, l->at.largest),
                  l->grown, s->plain);
}

// ---- going on ------------------------------------------------------------------------------

// What a run remembers of a step besides single numbers
static void remember(Lanes *l, const double *on, uint32_t past)
{
    const LaneMath *math = l->math;
    const WatchPlaces *at = &l->programs->watched;
    math->take(l->size, on, l->next, row(l, past + l->past_y));
    if (l->programs->of[CHART_SIDES])
        math->take_rows(l->switches, on, (Rows)(l->seen + at->switches),
                        row(l, past + l->past_margins));
    if (l->watch) math->take_rows(l->alarms, on, (Rows)(l->seen + at->alarms), row(l, l->at.last));
    for (uint32_t i = 0; i < l->surplus; i++)
        math->take(1, on, l->grown + (size_t)i * l->lanes,
                   row(l, l->at.largest + l->surplus_row[i]));
}

// Sizes of rows are as they were, where a lane leaves.
static void take_back_sizes(const Lanes *l, const LaneRows *rows, const LaneSteps *s)
{
    const size_t numbers = (size_t)l->rows * l->lanes;
    for (uint32_t n = 0; n < l->lanes && rows->grew; n++)
        for (uint32_t i = 0; i < l->rows && s->plain[n] == 0; i++) {
            rows->square[i * l->lanes + n] = rows->old[i * l->lanes + n];
            rows->scale[i * l->lanes + n] = rows->old[numbers + i * l->lanes + n];
        }
}

// True when all lanes that are taken go on
static bool go_on(Lanes *l, const LaneSteps *s)
{
    double *past = NULL;
    l->newest = (l->newest + 1) % LAST_STATES;
    if (l->watches) {
        remember(l, s->plain, l->at.past[l->newest]);
        past = row(l, l->at.past[l->newest]);
    }
    l->math->take(l->size, s->plain, l->next, row(l, l->at.y));
    return l->math->settle(s, l->watch ? tr_block_input(l->watch, 0) : NULL, past,
                           l->programs->of[CHART_SIDES] ? 1 : 0);
}

static bool tell_fates(Lanes *l, const LaneSteps *s, LaneFate *fate)
{
    for (uint32_t n = 0; n < l->lanes; n++) {
        l->lags[n] = s->plain[n] == 0;
        fate[n] = !l->lags[n] ? LANE_STEPPED : s->arrived[n] != 0 ? LANE_ARRIVED : LANE_NOT_PLAIN;
    }
    return false;
}

bool tr_lanes_step(Lanes *l, double step, LaneFate *fate)
{
    LaneSteps s;
    LaneRows rows = {.rows = l->rows,
                     .constraints = l->constraints,
                     .unit = l->unit,
                     .open = l->programs->footing->open,
                     .square = row(l, l->at.squares),
                     .scale = row(l, l->at.scales),
                     .old = l->old};
    s.record = l->block, s.taken = l->taken, s.step = step, s.until = l->until;
    if (!l->is_prepared) prepare_lanes(l);
    if (l->math->begin(&s)) {
        (l->is_lie ? step_lie : step_rk4)(l, &s, first_rates(l, &s));
        l->math->check_finite(l->size, l->next, s.plain);
        project(l, &s);
        look_back(l, &rows, &s);
        take_back_sizes(l, &rows, &s);
        if (go_on(l, &s)) return true;
    } else
        l->newest = (l->newest + 1) % LAST_STATES; // as if it had been made
    return tell_fates(l, &s, fate);
}
