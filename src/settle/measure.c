// SPDX-License-Identifier: Apache-2.0
// What is told of a pose: coordinates, attitude, and of each contact where it is, its gap, what it
// bears and the friction that holding takes; how far it is from tipping over (T293, T294).
#include "settle/settle.h"

#include "expr/held.h"
#include "num/dense.h"
#include "num/nonnegative.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Of a contact, in the program's order
enum {
    POINT = 0,
    NORMAL = 3,
    FRICTION = 6,
    ACROSS = 7, // what it bears nothing along, or zero
    MIDDLE = 10,
    PLACED = 13, // origin and rotation of its body, then of the one that it is on
    POSE = 12,
    CONTACT_NUMBERS = PLACED + 2 * POSE
};

// ---- programs ------------------------------------------------------------------------------

static void list_pose(const Settle *p, uint32_t body, Exprs *list)
{
    const Scene *scene = &p->system->scene;
    if (body != SCENE_WORLD) {
        tr_exprs_add(list, scene->bodies[body].origin, 3);
        tr_exprs_add(list, scene->bodies[body].rotation, 9);
    }
    for (int k = 0; k < POSE && body == SCENE_WORLD; k++)
        exprs_add(list, number(p->system->graph, k >= 3 && k % 4 == 3));
}

// Where both bodies of a contact are
static void list_placed(const Settle *p, uint32_t i, Exprs *list)
{
    const SceneContact *c = &p->system->scene.contacts[p->contacts[i].scene];
    list_pose(p, c->body, list);
    list_pose(p, c->on, list);
}

static uint32_t force_rows(const SceneContact *c)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < c->row_count; k++) count += !c->rows[k].is_moment;
    return count;
}

// Across a roller, or across the one direction along the surface in which something acts
static void list_across(const Settle *p, const SceneContact *c, Exprs *list)
{
    const bool is_single = !c->across[0].id && !c->friction.id && force_rows(c) == 2;
    const Expr *n = c->normal, *d = c->rows[1].direction;
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        exprs_add(list, is_single         ? sub(mul(n[i], d[j]), mul(n[j], d[i]))
                        : c->across[k].id ? c->across[k]
                                          : zero(p->system->graph));
    }
}

static void list_contact(const Settle *p, uint32_t i, Exprs *list)
{
    const SceneContact *c = &p->system->scene.contacts[p->contacts[i].scene];
    tr_exprs_add(list, c->point, 3);
    tr_exprs_add(list, c->normal, 3);
    exprs_add(list, c->friction.id ? c->friction : number(p->system->graph, (double)INFINITY));
    list_across(p, c, list);
    for (int k = 0; k < 3; k++) exprs_add(list, c->middle[k].id ? c->middle[k] : c->point[k]);
    list_placed(p, i, list);
}

static void list_mass_centre(const Settle *p, Exprs *list)
{
    const Scene *scene = &p->system->scene;
    Graph *g = p->system->graph;
    double mass = 0;
    for (uint32_t i = 0; i < scene->body_count; i++) mass += scene->bodies[i].mass;
    for (int k = 0; k < 3; k++) {
        Expr sum = zero(g);
        for (uint32_t i = 0; i < scene->body_count; i++) {
            const SceneBody *b = &scene->bodies[i];
            Expr at = b->origin[k];
            for (int j = 0; j < 3; j++)
                at = add(at, mul(number(g, b->com[j]), b->rotation[3 * k + j]));
            sum = add(sum, mul(number(g, mass > 0 ? b->mass / mass : 0), at));
        }
        exprs_add(list, sum);
    }
}

static bool compile_measures(Settle *p, tr_error *err)
{
    System *s = p->system;
    Exprs list = {0};
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION) exprs_add(&list, s->inputs[i].symbol);
    for (int k = 0; k < 3 && p->vehicle != SCENE_WORLD; k++)
        exprs_add(&list, tr_held_angle(&s->scene.bodies[p->vehicle], k));
    list_mass_centre(p, &list);
    for (uint32_t i = 0; i < p->contact_count; i++) list_contact(p, i, &list);
    const uint32_t told = list.count; // where bodies are comes once more, for its slopes
    for (uint32_t i = 0; i < p->contact_count; i++) list_placed(p, i, &list);
    if (!list.failed) tr_system_resolve(s, list.at, list.count);
    p->measure_values = list.count;
    p->measures = tr_settle_slopes(p, &list, told, &p->measure_entries, &p->measure_count, err);
    return !has_failed(err);
}

// Stops of joints, behind the alarms: they are not held here, but poses beyond them are refused.
static void list_stops(Settle *p, Exprs *list)
{
    static const double rounding = 1e-9;
    const System *s = p->system;
    for (uint32_t i = 0; i < s->latch_count; i++) {
        if (s->latches[i].kind != LATCH_STOP) continue;
        p->alarm[p->alarm_count++] = s->alarm_count + i;
        exprs_add(list, add(s->latches[i].gap, number(s->graph, rounding)));
        for (int k = 0; k < 2; k++) exprs_add(list, zero(s->graph));
    }
}

// What ends a run and depends on positions alone: tables that are left, hollows
static bool compile_alarms(Settle *p, tr_error *err)
{
    System *s = p->system;
    Exprs list = {0};
    p->alarm = tr_arena_alloc(&p->arena, s->alarm_count + s->latch_count + 1u, sizeof *p->alarm);
    if (!p->alarm) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < s->alarm_count; i++) {
        const Alarm *a = &s->alarms[i];
        const bool ends = a->kind == ALARM_HOLLOW || (a->kind == ALARM_STOPS && a->place_count);
        if (!ends || tr_system_uses(s, a->margin, TR_VELOCITY)) continue;
        p->alarm[p->alarm_count++] = i;
        exprs_add(&list, a->margin);
        for (uint32_t k = 0; k < 2; k++)
            exprs_add(&list, k < a->place_count ? a->place[k] : zero(s->graph));
    }
    list_stops(p, &list);
    if (list.count || list.failed) p->alarms = tr_evaluator_list(s, &list, FIXED_PARAMETERS, err);
    return !has_failed(err);
}

// ---- columns -------------------------------------------------------------------------------

static void add_column(Settle *p, const char *unit, const char *format, const char *name)
{
    char label[500];
    snprintf(label, sizeof label, format, name);
    p->labels[p->column_count] = tr_arena_text(&p->arena, label, strlen(label));
    p->units[p->column_count++] = unit;
}

static bool name_columns(Settle *p, tr_error *err)
{
    const System *s = p->system;
    const size_t most = s->input_count + OF_CONTACT * (size_t)p->contact_count + 8;
    p->labels = tr_arena_alloc(&p->arena, most, sizeof *p->labels);
    p->units = tr_arena_alloc(&p->arena, most, sizeof *p->units);
    p->columns = tr_arena_alloc(&p->arena, most, sizeof *p->columns);
    if (!p->labels || !p->units || !p->columns) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION)
            add_column(p, tr_quantity_unit(s->inputs[i].port.quantity), "%s", s->inputs[i].name);
    static const char *const angles[] = {"%s.yaw", "%s.pitch", "%s.roll"};
    for (int k = 0; k < 3 && p->vehicle != SCENE_WORLD; k++)
        add_column(p, "rad", angles[k], s->scene.bodies[p->vehicle].name);
    for (uint32_t i = 0; i < p->contact_count; i++) {
        const char *name = s->scene.contacts[p->contacts[i].scene].name;
        add_column(p, "m", "contact.%s.x", name);
        add_column(p, "m", "contact.%s.y", name);
        add_column(p, "m", "contact.%s.z", name);
        add_column(p, "m", "contact.%s.gap", name);
        add_column(p, "N", "lambda.%s.normal", name);
        add_column(p, "N", "contact.%s.load", name);
        add_column(p, "", "contact.%s.friction_needed", name);
        add_column(p, "", "contact.%s.friction", name);
    }
    add_column(p, "m", "%s", "tip_margin");
    add_column(p, "J", "%s", "energy.potential");
    return true;
}

// Room for what a program gives, and for problems of contacts
bool tr_measure_new(Settle *p, tr_error *err)
{
    return compile_measures(p, err) && compile_alarms(p, err) && name_columns(p, err);
}

// ---- friction ------------------------------------------------------------------------------

// How the material point of a contact moves with each unknown, less that of what it is on: 3 rows
// of 3 m
static void take_arms(Settle *p, const double *contacts, double *A)
{
    const uint32_t n = p->unknowns;
    memset(A, 0, 3 * (size_t)p->contact_count * n * sizeof *A);
    for (size_t e = 0; e < p->measure_count; e++) {
        const SettleEntry *at = &p->measure_entries[e];
        if (at->column >= n) continue;
        const uint32_t i = at->row / (2 * POSE), which = at->row / POSE % 2, part = at->row % POSE;
        const double *own = contacts + (size_t)i * CONTACT_NUMBERS, *P = own + POINT,
                     *O = own + PLACED + (size_t)which * POSE, *R = O + 3;
        const double value = (which ? -1 : 1) * p->values[p->measure_values + e];
        double *rows = A + 3 * (size_t)i * n;
        if (part < 3) {
            rows[(size_t)part * n + at->column] += value;
            continue;
        }
        const uint32_t r = (part - 3) / 3, c = (part - 3) % 3; // R_rc, times (R^T (P - O))_c
        double arm = 0;
        for (uint32_t k = 0; k < 3; k++) arm += R[3 * k + c] * (P[k] - O[k]);
        rows[(size_t)r * n + at->column] += value * arm;
    }
}

// What is along a direction goes, or else is all that is left.
static void keep_along(double *rows, uint32_t n, const double *direction, bool is_left)
{
    for (uint32_t k = 0; k < n; k++) {
        double along = 0;
        for (size_t r = 0; r < 3; r++) along += direction[r] * rows[r * n + k];
        for (size_t r = 0; r < 3; r++)
            rows[r * n + k] =
                (is_left ? 0 : rows[r * n + k]) + (is_left ? direction[r] : -direction[r]) * along;
    }
}

// Nothing acts along the surface where there is neither friction nor a row or a law of slip.
static bool is_smooth(const SceneContact *c) { return !c->friction.id && force_rows(c) < 2; }

// A roller bears nothing across its axis, and what is smooth nothing but along the normal.
static void release(const Settle *p, const double *contacts, double *A)
{
    for (uint32_t i = 0; i < p->contact_count; i++) {
        const double *own = contacts + (size_t)i * CONTACT_NUMBERS;
        double *rows = A + 3 * (size_t)i * p->unknowns;
        if (is_smooth(&p->system->scene.contacts[p->contacts[i].scene]))
            keep_along(rows, p->unknowns, own + NORMAL, true);
        else
            keep_along(rows, p->unknowns, own + ACROSS, false);
    }
}

// Whether the joint of a contact's body turns a wheel: about an axis through its middle
static bool spins(const SceneBody *b, const double *own)
{
    const double *M = own + MIDDLE, *O = own + PLACED, *R = O + 3;
    double off[3], size = tr_norm(b->axis, 3), square = 0, along = 0;
    if (strcmp(b->joint, "revolute") != 0 || !(size > 0)) return false;
    for (int c = 0; c < 3; c++) {
        off[c] = -b->joint_at[c];
        for (int k = 0; k < 3; k++) off[c] += R[3 * k + c] * (M[k] - O[k]);
        along += off[c] * b->axis[c] / size;
    }
    for (int c = 0; c < 3; c++) {
        const double beside = off[c] - along * b->axis[c] / size;
        square += beside * beside;
    }
    return square < 1e-18;
}

// Spins of wheels, held or not
static void mark_spins(const Settle *p, const double *contacts, bool *marks)
{
    const System *s = p->system;
    for (uint32_t i = 0; i < p->contact_count; i++) {
        const SceneContact *c = &s->scene.contacts[p->contacts[i].scene];
        const SceneBody *b = &s->scene.bodies[c->body];
        if (!spins(b, contacts + (size_t)i * CONTACT_NUMBERS)) continue;
        for (uint32_t k = 0; k < p->unknowns; k++)
            marks[k] = marks[k] || strcmp(s->inputs[p->place[k]].name, b->coordinate) == 0;
    }
}

// Loops alone are equalities; springs are as stiff as they stand, and wheels are locked.
static void split_standing(Settle *p, const double *contacts)
{
    const size_t bytes = p->unknowns * sizeof *p->is_idle;
    memcpy(p->marks, p->is_idle, bytes);
    mark_spins(p, contacts, p->is_idle);
    for (uint32_t k = 0; k < p->unknowns; k++) p->is_idle[k] = p->is_idle[k] || p->is_sprung[k];
    tr_settle_split(p, 1u << GROUP_LOOPS);
    memcpy(p->is_idle, p->marks, bytes);
}

// The least forces at closed contacts that hold all of it, with nothing else held:
//   (A Z)^T F = Z^T U_q,   F = A Z y                                                    (T293)
static bool find_forces(Settle *p, const double *contacts, double *F)
{
    const uint32_t n = p->unknowns, rows = 3 * p->contact_count;
    split_standing(p, contacts);
    const uint32_t free = p->split.free;
    double *A = p->arms, *AZ = A + (size_t)rows * n, *M = p->Hr, *g = p->p, *y = p->c;
    take_arms(p, contacts, A);
    release(p, contacts, A);
    for (uint32_t i = 0; i < rows; i++)
        if (!p->is_closed[i / 3]) memset(A + (size_t)i * n, 0, n * sizeof *A);
    tr_multiply(A, p->split.Z, rows, n, free, AZ);
    tr_settle_reduced(p, p->G + (size_t)p->first[GROUP_ENERGY] * n, 0, g);
    tr_multiply_transposed(AZ, AZ, free, rows, free, M);
    memcpy(y, g, free * sizeof *y);
    tr_solve_semidefinite(M, free, y);
    tr_multiply(AZ, y, rows, free, 1, F);
    double off = 0;
    for (uint32_t k = 0; k < free; k++) {
        double left = g[k];
        for (uint32_t i = 0; i < rows; i++) left -= AZ[(size_t)i * free + k] * F[i];
        off = larger(off, fabs(left));
    }
    return off <= 1e-6 * tr_largest(g, free);
}

static double across_surface(const double *F, const double *n)
{
    return F[0] * n[0] + F[1] * n[1] + F[2] * n[2];
}

// Of a force: what is along the surface over what is across it
static double friction_of(const double *F, const double *n)
{
    const double N = across_surface(F, n);
    double along[3];
    for (int k = 0; k < 3; k++) along[k] = F[k] - N * n[k];
    const double T = tr_norm(along, 3);
    return N > 0 ? T / N : T > 0 || N < 0 ? (double)INFINITY : 0;
}

// ---- tipping over --------------------------------------------------------------------------

static double cross_of(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// The distance of q from the side ab, positive to the left of it
static double distance_from(const double *a, const double *b, const double *q)
{
    const double along[] = {b[0] - a[0], b[1] - a[1]};
    const double from[] = {q[0] - a[0], q[1] - a[1]}, length = tr_norm(along, 2);
    const double share = (along[0] * from[0] + along[1] * from[1]) / (length * length);
    const double *end = share < 0 ? a : b, away[] = {q[0] - end[0], q[1] - end[1]};
    const double across = cross_of(a, b, q) / length;
    return across >= 0 || (share >= 0 && share <= 1) ? across : -tr_norm(away, 2);
}

// Points on a line: from the nearer end, along it; negative beside it and beyond its ends
static double along_line(const double *points, uint32_t count, const double *q)
{
    uint32_t far[2] = {0, 0};
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const double *a = points + 2 * (size_t)i, *b = points + 2 * (size_t)j,
                         *c = points + 2 * (size_t)far[0], *d = points + 2 * (size_t)far[1];
            if (hypot(a[0] - b[0], a[1] - b[1]) > hypot(c[0] - d[0], c[1] - d[1]))
                far[0] = i, far[1] = j;
        }
    const double *a = points + 2 * (size_t)far[0], *b = points + 2 * (size_t)far[1];
    const double length = hypot(b[0] - a[0], b[1] - a[1]);
    if (length == 0) return -hypot(q[0] - a[0], q[1] - a[1]);
    const double along = ((q[0] - a[0]) * (b[0] - a[0]) + (q[1] - a[1]) * (b[1] - a[1])) / length;
    const double beside = fabs(cross_of(a, b, q)) / length, inside = smaller(along, length - along);
    if (inside < 0) return -hypot(beside, inside);
    return beside > 1e-9 * length ? -beside : inside;
}

// From q to the nearest side of the hull of points; negative outside                   (T294)
static double margin_of(const double *points, uint32_t count, const double *q)
{
    double least = (double)INFINITY, outside = 0, area = 0, size = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++) {
            const double *a = points + 2 * (size_t)i, *b = points + 2 * (size_t)j;
            size = larger(size, hypot(a[0] - b[0], a[1] - b[1]));
            for (uint32_t k = 0; k < count; k++)
                area = larger(area, fabs(cross_of(a, b, points + 2 * (size_t)k)));
        }
    if (!(area > 1e-9 * size * size)) return along_line(points, count, q);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++) {
            const double *a = points + 2 * (size_t)i, *b = points + 2 * (size_t)j;
            bool is_side = i != j && (a[0] != b[0] || a[1] != b[1]);
            for (uint32_t k = 0; k < count && is_side; k++)
                is_side = cross_of(a, b, points + 2 * (size_t)k) >= -1e-12 * size * size;
            if (!is_side) continue;
            const double here = distance_from(a, b, q);
            least = smaller(least, here);
            if (here < 0 && (outside == 0 || here > outside)) outside = here;
        }
    return outside < 0 ? outside : least;
}

static double tip_margin(Settle *p, const double *contacts, const double *mass_centre)
{
    const double *down = p->system->scene.gravity;
    const double size = tr_norm(down, 3);
    double e[2][3], *points = p->room, q[2];
    uint32_t count = 0;
    int flat = 0; // the axis that is most across the vertical
    for (int k = 1; k < 3; k++)
        if (fabs(down[k]) < fabs(down[flat])) flat = k;
    if (size == 0) return (double)NAN;
    for (int k = 0; k < 3; k++) e[0][k] = (k == flat) - down[k] * down[flat] / (size * size);
    const double length = tr_norm(e[0], 3);
    for (int k = 0; k < 3; k++) e[0][k] /= length;
    for (int k = 0; k < 3; k++)
        e[1][k] =
            (down[(k + 1) % 3] * e[0][(k + 2) % 3] - down[(k + 2) % 3] * e[0][(k + 1) % 3]) / size;
    for (uint32_t i = 0; i < p->contact_count; i++) {
        const double *P = contacts + (size_t)i * CONTACT_NUMBERS;
        const bool stands = p->system->scene.contacts[p->contacts[i].scene].on == SCENE_WORLD;
        if (!p->is_closed[i] || !stands) continue;
        for (int k = 0; k < 2; k++)
            points[2 * (size_t)count + (size_t)k] =
                P[0] * e[k][0] + P[1] * e[k][1] + P[2] * e[k][2];
        count++;
    }
    for (int k = 0; k < 2; k++)
        q[k] = mass_centre[0] * e[k][0] + mass_centre[1] * e[k][1] + mass_centre[2] * e[k][2];
    return count ? margin_of(points, count, q) : (double)NAN;
}

// ---- all of it -----------------------------------------------------------------------------

static void refuse_stop(const System *s, uint32_t latch, tr_error *err)
{
    const Port *port = &s->rows[s->latches[latch].rows[0]].port;
    tr_fail(err, TR_FAILED, (Place){0},
            "'%.100s' would be beyond its %s limit: settling does not hold stops", port->owner,
            port->component);
}

bool tr_measure_alarms(Settle *p, tr_error *err)
{
    if (!p->alarm_count) return true;
    evaluate_into(&p->alarms, p->in, p->values);
    for (uint32_t i = 0; i < p->alarm_count; i++) {
        if (p->alarm[i] >= p->system->alarm_count && p->values[3 * (size_t)i] < 0)
            return refuse_stop(p->system, p->alarm[i] - p->system->alarm_count, err), false;
        if (p->alarm[i] >= p->system->alarm_count) continue;
        const Alarm *a = &p->system->alarms[p->alarm[i]];
        const double *at = p->values + 3 * (size_t)i;
        if (at[0] >= 0) continue;
        if (a->place_count == 2)
            tr_fail(err, TR_FAILED, (Place){0}, "%.200s at (%.6g, %.6g)", a->words,
                    told_place(at[1]), told_place(at[2]));
        else if (a->place_count)
            tr_fail(err, TR_FAILED, (Place){0}, "%.200s at %.6g", a->words, told_place(at[1]));
        else
            tr_fail(err, TR_FAILED, (Place){0}, "%.200s", a->words);
        return false;
    }
    return true;
}

void tr_measure_take(Settle *p, double *columns)
{
    const uint32_t m = p->contact_count, gaps = p->first[GROUP_GAPS];
    evaluate_into(&p->measures, p->in, p->values);
    const uint32_t plain = p->column_count - OF_CONTACT * m - 2; // positions and attitude
    const double *mass_centre = p->values + plain, *contacts = mass_centre + 3;
    double *F = p->forces;
    memcpy(columns, p->values, plain * sizeof *columns);
    if (!p->way->opens) tr_settle_balance(p);
    const bool has_forces = p->system->order != 1,
               holds = has_forces && find_forces(p, contacts, F);
    const bool is_balanced = has_forces && p->is_balanced && !p->is_vertical;
    for (uint32_t i = 0; i < m; i++) {
        const double *own = contacts + (size_t)i * CONTACT_NUMBERS;
        double *out = columns + plain + OF_CONTACT * (size_t)i;
        memcpy(out, own + POINT, 3 * sizeof *out);
        out[3] = p->f[gaps + i];
        out[4] = is_balanced ? p->lambda[i] : (double)NAN;
        const bool bears = holds && p->is_closed[i];
        out[5] = bears ? across_surface(F + 3 * (size_t)i, own + NORMAL) : (double)NAN;
        out[6] = bears ? friction_of(F + 3 * (size_t)i, own + NORMAL) : (double)NAN;
        out[7] = isinf(own[FRICTION]) ? (double)NAN : own[FRICTION];
    }
    columns[p->column_count - 2] = tip_margin(p, contacts, mass_centre);
    columns[p->column_count - 1] = has_forces ? p->f[p->first[GROUP_ENERGY]] : (double)NAN;
    for (uint32_t i = 0; i < p->column_count; i++) columns[i] += 0.0; // -0 is 0
}
