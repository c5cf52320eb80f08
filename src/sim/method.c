// SPDX-License-Identifier: Apache-2.0
// The methods with a fixed step (T84). Steps end on a grid that begins where the method started
// last: so it does not matter how calls divide the time, as long as they end on it, too.
#include "sim/method.h"

#include "num/dense.h"
#include "num/solve.h"
#include "num/stage.h"
#include "plan/blame.h"
#include "plan/jacobian.h"
#include "sim/group.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Vectors in a mover's `work`: room for Runge-Kutta, a state beside y, five rates of Adams: at the
// new time, now and before; and the state before the step.
enum { STAGES = 0, BESIDE = 5, RATES = 6, BEFORE = 11 };

static double *vector(const Mover *m, int i) { return m->work + (size_t)i * m->flow->size; }

// ---- Euler, Runge-Kutta --------------------------------------------------------------------

static void step_euler(Mover *m, double h)
{
    double *k = vector(m, STAGES), *z = vector(m, BESIDE);
    tr_flow_first_rate(m->flow, m->t, m->y, k);
    tr_move_along(m->y, h, k, z, m->flow->size);
    memcpy(m->y, z, m->flow->size * sizeof *m->y);
}

static void step_rk4(Mover *m, double h)
{
    tr_flow_step(m->flow, m->t, h, m->y, vector(m, STAGES));
}

// ---- predictor and corrector ---------------------------------------------------------------

// Adams: y += h sum b_j f_j with the rates f_0 at the new time, f_1 now, f_2 ... before.
static void adams(const Mover *m, double h, const double *b, int first, double *y)
{
    for (uint32_t i = 0; i < m->flow->size; i++) {
        double sum = 0;
        for (int j = first; j < 5; j++) sum += b[j] * vector(m, RATES + j)[i];
        y[i] = m->y[i] + h * sum;
    }
}

static void remember(Mover *m, double h)
{
    if (m->adams.known && fabs(h - m->adams.step) > 1e-9 * h)
        m->adams.known = 0; // another step: start anew
    m->adams.step = h;
    for (int j = 4; j > 1; j--)
        memcpy(vector(m, RATES + j), vector(m, RATES + j - 1), m->flow->size * sizeof(double));
    tr_flow_first_rate(m->flow, m->t, m->y, vector(m, RATES + 1));
    if (m->adams.known < 4) m->adams.known++;
}

// Fourth-order explicit predictor, fifth-order implicit corrector applied once [M 7.3]; Runge-Kutta
// until enough is known.
static void step_pece(Mover *m, double h)
{
    static const double predictor[5] = {0, 55. / 24, -59. / 24, 37. / 24, -9. / 24};
    static const double corrector[5] = {251. / 720, 646. / 720, -264. / 720, 106. / 720,
                                        -19. / 720};
    remember(m, h);
    if (m->adams.known < 4) {
        step_rk4(m, h);
        return;
    }
    double *z = vector(m, BESIDE);
    adams(m, h, predictor, 1, z);
    tr_flow_rate(m->flow, m->t + h, z, vector(m, RATES));
    adams(m, h, corrector, 0, m->y);
}

// ---- on the group --------------------------------------------------------------------------

// The state reached from y along u, where quaternions take u's first three entries as a rotation.
static void along(const Mover *m, const double *u, double *z)
{
    const Flow *flow = m->flow;
    for (uint32_t i = 0; i < flow->size; i++) z[i] = m->y[i] + u[i];
    for (uint32_t i = 0; i < flow->quaternion_count; i++) {
        const uint32_t q = flow->quaternions[i];
        turn(m->y + q, u + q, z + q);
    }
}

// Of rates k at the state z, which u leads to: those of u
static void take_rotations(const Mover *m, const double *u, const double *z, double *k)
{
    const Flow *flow = m->flow;
    for (uint32_t i = 0; i < flow->quaternion_count; i++) {
        const uint32_t q = flow->quaternions[i];
        double W[3];
        angular_velocity(z + q, k + q, W);
        rotation_rate(u + q, W, k + q);
        k[q + 3] = 0;
    }
}

static void lie_rate(Mover *m, double t, const double *u, double *k)
{
    double *z = vector(m, BESIDE);
    along(m, u, z);
    tr_flow_rate(m->flow, t, z, k);
    take_rotations(m, u, z, k);
}

// Runge-Kutta-Munthe-Kaas of fourth order: Runge-Kutta on rotation vectors, back by the exponential
// map, so quaternions stay units by themselves.
static void step_lie(Mover *m, double h)
{
    double *k1 = vector(m, 0), *k2 = vector(m, 1), *k3 = vector(m, 2), *k4 = vector(m, 3),
           *u = vector(m, 4);
    const uint32_t n = m->flow->size;
    for (uint32_t i = 0; i < n; i++) u[i] = 0;
    tr_flow_first_rate(m->flow, m->t, m->y, k1);
    take_rotations(m, u, m->y, k1);
    for (uint32_t i = 0; i < n; i++) u[i] = h / 2 * k1[i];
    lie_rate(m, m->t + h / 2, u, k2);
    for (uint32_t i = 0; i < n; i++) u[i] = h / 2 * k2[i];
    lie_rate(m, m->t + h / 2, u, k3);
    for (uint32_t i = 0; i < n; i++) u[i] = h * k3[i];
    lie_rate(m, m->t + h, u, k4);
    for (uint32_t i = 0; i < n; i++) u[i] = h / 6 * (k1[i] + 2 * (k2[i] + k3[i]) + k4[i]);
    along(m, u, vector(m, BESIDE));
    memcpy(m->y, vector(m, BESIDE), n * sizeof *m->y);
}

// ---- linearly implicit ---------------------------------------------------------------------

// x = (1 - c J)^-1 r of slopes J by columns, in room for a matrix
static bool solve_beside_one(const double *J, double c, uint32_t n, double *room, double *r)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++) room[i * n + k] = (i == k) - c * J[k * n + i];
    return tr_solve(room, n, r, 1);
}

// Room for two matrices, and slopes in the present chart
static bool has_slopes(Mover *m)
{
    const size_t n = m->flow->size;
    if (!m->matrices && !(m->matrices = malloc((2 * n * n + 1) * sizeof *m->matrices)))
        tr_fail_memory(&m->refusal);
    return tr_jacobian_ready(m->flow, &m->refusal);
}

// Two equations with the slopes J at the start, whose g = 1 - 1/sqrt(2) takes the stiffest away at
// once (L-stable). The order is two whatever J is.
//   (1 - g h J) k_1 = f(t, y),   (1 - g h J) k_2 = f(t + h, y + h k_1) - 2 k_1
//   y <- y + h (3 k_1 + k_2) / 2                                                            (T84)
static void step_rosenbrock(Mover *m, double h)
{
    const uint32_t n = m->flow->size;
    const double c = (1 - sqrt(0.5)) * h;
    double *k1 = vector(m, 0), *k2 = vector(m, 1), *z = vector(m, BESIDE);
    if (!has_slopes(m)) {
        m->stopped = true;
        return;
    }
    double *J = m->matrices, *room = J + (size_t)n * n;
    tr_flow_first_rate(m->flow, m->t, m->y, k1);
    tr_jacobian_take(m->flow, m->t, m->y, J);
    m->flow->jacobians++;
    bool good = solve_beside_one(J, c, n, room, k1);
    tr_move_along(m->y, h, k1, z, n);
    tr_flow_rate(m->flow, m->t + h, z, k2);
    for (uint32_t i = 0; i < n; i++) k2[i] -= 2 * k1[i];
    good = good && solve_beside_one(J, c, n, room, k2);
    for (uint32_t i = 0; i < n; i++)
        m->y[i] = good ? m->y[i] + h / 2 * (3 * k1[i] + k2[i]) : (double)NAN;
}

// ---- intervals -----------------------------------------------------------------------------

void tr_mover_mend(Mover *m, double t, double *y)
{
    m->drift = larger(m->drift, tr_flow_project(m->flow, t, y));
}

bool tr_mover_chart(Mover *m, double t, double *y, bool *changed)
{
    if (!tr_watch_chart(&m->watch, t, y, changed, &m->refusal)) m->stopped = true;
    return !m->stopped;
}

bool tr_mover_restart(Mover *m, double first_step)
{
    const bool owes_chart = tr_solver_owes_chart(m);
    bool changed;
    tr_solver_free(m);
    m->adams.known = 0, m->first_step = first_step, m->grid.is_there = false;
    return !owes_chart || tr_mover_chart(m, m->t, m->y, &changed);
}

// A run that needs more has failed there.
static bool may_go_on(Mover *m, double t)
{
    const bool is_last = t >= m->end;
    if (!m->most_steps || m->steps + m->failed_steps < m->most_steps || is_last) return true;
    tr_fail(&m->refusal, TR_FAILED, (Place){0},
            "the run took %zu steps to t = %.6g, and may not take more: --most-steps sets the "
            "limit",
            m->steps + m->failed_steps, t);
    return false;
}

bool tr_mover_stepped(Mover *m, double t, const double *y)
{
    if (!may_go_on(m, t) || !tr_watch_step(&m->watch, t, y, &m->refusal) ||
        !tr_flow_agrees(m->flow, t, y, &m->refusal))
        m->stopped = true;
    if (m->progress && !m->progress(m->owner, t, m->end)) m->told = true;
    if (m->told && !m->watch.switched) m->stopped = true;
    return !m->stopped;
}

static double step_end(const Mover *m, uint64_t count)
{
    return grid_end(m->grid.start, (double)count, m->step);
}

// Where the next step begins: on the grid that there is, else a new one begins here.
static void enter_grid(Mover *m)
{
    if (!m->grid.is_there || !is_at(step_end(m, m->grid.count), m->t, m->step))
        m->grid = (Grid){.start = m->t, .is_there = true};
    m->t = step_end(m, m->grid.count);
}

// One step on the grid, or up to `until` if that lies before its end or a hair behind it: there the
// next grid begins.
static void step_towards(Mover *m, double until)
{
    const double end = step_end(m, m->grid.count + 1);
    const bool on_grid = is_whole_step(end, until, m->step);
    m->method->step(m, on_grid ? m->step : until - m->t);
    m->t = on_grid ? end : until;
    m->grid.count += on_grid;
    m->grid.is_there = on_grid;
    m->steps++;
}

// In the step from t on: for a reason at its start or at its end, maybe
static void complain(Mover *m, double t, tr_error *err)
{
    char words[REASON_SIZE];
    Place place;
    if (!tr_flow_reason(m->flow, t, vector(m, BEFORE), words, &place)[0])
        tr_flow_reason(m->flow, m->t, vector(m, BEFORE), words, &place);
    tr_fail(err, TR_FAILED, place, "the state is no longer finite at t = %.6g%s", m->t, words);
}

static bool may_pause(const Mover *m)
{
    return m->pauses && m->steps > m->resumed && tr_watch_is_calm(&m->watch);
}

static bool advance_on_grid(Mover *m, double until, tr_error *err)
{
    while (m->t < until && !(m->grid.is_there && is_at(m->t, until, m->step))) {
        if (may_pause(m)) return false;
        enter_grid(m);
        const double t = m->t;
        memcpy(vector(m, BEFORE), m->y, m->flow->size * sizeof *m->y);
        step_towards(m, until);
        if (!all_finite(m->y, m->flow->size)) return complain(m, t, err), false;
        tr_mover_mend(m, m->t, m->y);
        bool changed;
        tr_mover_stepped(m, m->t, m->y);
        if (m->refusal.status || m->watch.switched) return false;
        tr_mover_chart(m, m->t, m->y, &changed); // also when it is told to stop, and may go on
        if (changed) m->adams.known = 0;
        if (m->stopped) return false;
    }
    m->t = until;
    return true;
}

// ---- the methods ---------------------------------------------------------------------------

static const Method methods[] = {
#define METHOD(name, adaptive, advance, step, options, words) \
    {#name, adaptive, advance, step, options},
#include "sim/method.def"
#undef METHOD
};
enum { METHOD_COUNT = sizeof methods / sizeof *methods };

// "a, b or c": those that use this option; all when it is NULL. How many there are
static size_t list_methods(const char *option, char *list, size_t size)
{
    size_t length = 0, count = 0, left = 0;
    list[0] = 0;
    for (size_t i = 0; i < METHOD_COUNT; i++)
        count += !option || tr_is_listed(methods[i].options, option);
    left = count;
    for (size_t i = 0; i < METHOD_COUNT && length < size; i++) {
        if (option && !tr_is_listed(methods[i].options, option)) continue;
        const char *before = left == count ? "" : left > 1 ? ", " : " or ";
        const int more = snprintf(list + length, size - length, "%s%s", before, methods[i].name);
        length += (size_t)more, left--;
    }
    return count;
}

bool tr_method_uses(const Method *method, const char *option, char *others, size_t size)
{
    return tr_is_listed(method->options, option) || !list_methods(option, others, size);
}

const Method *tr_method(const char *name, tr_error *err)
{
    for (size_t i = 0; i < METHOD_COUNT; i++)
        if (strcmp(name, methods[i].name) == 0) return &methods[i];
    char list[200];
    list_methods(NULL, list, sizeof list);
    tr_fail(err, TR_USAGE, (Place){0}, "there is no method '%.60s': it is %s", name, list);
    return NULL;
}

// ---- movers --------------------------------------------------------------------------------

Mover *tr_mover_open(const Method *method, Flow *flow, const double *y, tr_error *err)
{
    if (!method || !tr_flow_ready(flow, FLOW_RUN, err)) return NULL;
    Mover *m = calloc(1, sizeof *m);
    double *work = calloc((size_t)flow->size * (WORK_VECTORS + 1), sizeof *work);
    if (!m || !work) {
        free(m);
        free(work);
        tr_fail_memory(err);
        return NULL;
    }
    *m = (Mover){.method = method, .flow = flow, .y = work, .work = work + flow->size};
    memcpy(m->y, y, flow->size * sizeof *y);
    if (tr_watch_open(&m->watch, flow, err)) return m;
    tr_mover_free(m);
    return NULL;
}

Mover *tr_mover_new(const Method *method, Flow *flow, const double *y, tr_error *err)
{
    Mover *m = tr_mover_open(method, flow, y, err);
    const tr_simulate_options o = tr_simulate_defaults(NULL);
    if (m) m->step = o.step, m->rtol = o.rtol, m->atol = o.atol;
    return m;
}

void tr_mover_free(Mover *m)
{
    if (!m) return;
    tr_solver_free(m);
    tr_watch_close(&m->watch);
    free(m->matrices);
    free(m->y);
    free(m);
}
