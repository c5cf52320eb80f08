// SPDX-License-Identifier: Apache-2.0
// Velocities of bases are along the body's own axes, so moving or turning all of a body in the
// world leaves them as they are. Turning it about an axis a of its own turns them back:
//
//   dv = -a x v,   dw = -a x w
//
// Independent velocities may be speeds of a formula, or along inner axes: they follow (T93).
#include "steady/symmetry.h"

#include "expr/derivative.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Maker {
    System *system;
    const uint32_t *q, *w;
    uint32_t positions, velocities;
    Expr *dq, *dv; // of the action that is made, by input: changes of positions, of velocities
    Actions *to;
} Maker;

static bool is_position(const Maker *m, uint32_t input)
{
    for (uint32_t k = 0; k < m->positions; k++)
        if (m->q[k] == input) return true;
    return false;
}

static void begin(const Maker *m)
{
    const System *s = m->system;
    for (uint32_t i = 0; i < s->input_count; i++) m->dq[i] = m->dv[i] = zero(s->graph);
}

// ---- what it does to independent velocities ------------------------------------------------

// The rate of a formula's value, by positions and velocities
static Expr change_of(const Maker *m, Expr formula)
{
    const System *s = m->system;
    Expr *symbols = calloc(2 * (size_t)s->input_count + 1, sizeof *symbols);
    Expr *changes = symbols ? symbols + s->input_count : NULL, out = zero(s->graph);
    uint32_t count = 0;
    if (!symbols) return s->graph->failed = true, out;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const tr_kind kind = s->inputs[i].kind;
        if (kind != TR_POSITION && kind != TR_VELOCITY) continue;
        symbols[count] = s->inputs[i].symbol;
        changes[count++] = kind == TR_POSITION ? m->dq[i] : m->dv[i];
    }
    tr_forward(s->graph, &formula, 1, symbols, changes, count, &out);
    free(symbols);
    return out;
}

static Expr velocity_change(const Maker *m, uint32_t input)
{
    const System *s = m->system;
    if (s->inputs[input].kind == TR_VELOCITY) return m->dv[input];
    for (uint32_t i = 0; i < s->turned_count; i++) {
        const Turned *turned = &s->turned[i];
        if (input >= turned->inner && input < turned->inner + 3)
            return tr_turned_in(turned, m->dv + turned->outer, (int)(input - turned->inner));
    }
    for (uint32_t i = 0; i < s->row_count; i++)
        if (s->rows[i].is_speed && s->rows[i].symbol.id == s->inputs[input].symbol.id)
            return change_of(m, s->rows[i].rate);
    return zero(s->graph);
}

// What is made is `what` of a body, or the change of a coordinate by its name.
static void finish(Maker *m, const char *name, const char *what)
{
    Actions *to = m->to;
    Expr *change = to->change + (size_t)to->count * to->size;
    char text[300];
    snprintf(text, sizeof text, "%.250s%s%s", name, what ? "." : "", what ? what : "");
    to->names[to->count++] = tr_arena_text(&m->system->graph->arena, text, strlen(text));
    for (uint32_t k = 0; k < m->positions; k++) change[k] = m->dq[m->q[k]];
    for (uint32_t k = 0; k < m->velocities; k++)
        change[m->positions + k] = velocity_change(m, m->w[k]);
}

// ---- bodies that turn ----------------------------------------------------------------------

// Whether an input is this part of the body that another one is of
static bool is_part(const System *s, uint32_t input, uint32_t like, const char *component)
{
    return is_of(&s->inputs[input].port, s->inputs[like].port.owner, component);
}

static Expr half(Expr x) { return mul(number(x.graph, 0.5), x); }

// e x x for a unit vector e
static Expr cross_unit(const Expr *x, int axis, int k)
{
    if (k == axis) return zero(x[0].graph);
    const Expr other = x[3 - axis - k];
    return (axis + 1) % 3 == k ? neg(other) : other;
}

// e q / 2 or q e / 2 for a unit vector e and a quaternion q, scalar part first
static void turn_quaternion(const System *s, uint32_t at, int axis, bool own, Expr *change)
{
    Expr q[4];
    for (uint32_t k = 0; k < 4; k++) q[k] = s->inputs[at + k].symbol;
    change[0] = half(neg(q[1 + axis]));
    for (int k = 0; k < 3; k++) {
        const Expr across = cross_unit(q + 1, axis, k), along = k == axis ? q[0] : zero(s->graph);
        change[1 + k] = half(own ? sub(along, across) : add(along, across));
    }
}

static void turn_back(const Maker *m, uint32_t first, int axis)
{
    Expr v[3];
    for (uint32_t k = 0; k < 3; k++) v[k] = m->system->inputs[first + k].symbol;
    for (uint32_t k = 0; k < 3; k++) m->dv[first + k] = neg(cross_unit(v, axis, (int)k));
}

static void add_turns(Maker *m, const struct Quaternion *quaternion)
{
    static const char *const turns[] = {"turn_x", "turn_y", "turn_z"};
    static const char *const spins[] = {"spin_x", "spin_y", "spin_z"};
    const System *s = m->system;
    const uint32_t at = quaternion->position;
    const char *name = s->inputs[at].port.owner;
    const bool moves = at >= 3 && is_position(m, at - 3) && is_part(s, at - 3, at, "x");
    for (int axis = 0; axis < 3; axis++) {
        Expr x[3];
        begin(m);
        turn_quaternion(s, at, axis, false, m->dq + at);
        for (uint32_t k = 0; moves && k < 3; k++) x[k] = s->inputs[at - 3 + k].symbol;
        for (uint32_t k = 0; moves && k < 3; k++) m->dq[at - 3 + k] = cross_unit(x, axis, (int)k);
        finish(m, name, turns[axis]);
        begin(m);
        turn_quaternion(s, at, axis, true, m->dq + at);
        turn_back(m, quaternion->velocity, axis);
        if (moves) turn_back(m, quaternion->velocity - 3, axis);
        finish(m, name, spins[axis]);
    }
}

static bool is_planar(const Maker *m, uint32_t input)
{
    const System *s = m->system;
    return input >= 2 && is_position(m, input) && is_position(m, input - 2) &&
           is_part(s, input, input, "theta") && is_part(s, input - 2, input, "x") &&
           is_part(s, input - 1, input, "y");
}

// A body in the plane turns about the origin, or about itself.
static void add_planar_turns(Maker *m, uint32_t theta)
{
    const System *s = m->system;
    const char *name = s->inputs[theta].port.owner;
    begin(m);
    m->dq[theta - 2] = neg(s->inputs[theta - 1].symbol);
    m->dq[theta - 1] = s->inputs[theta - 2].symbol;
    m->dq[theta] = one(s->graph);
    finish(m, name, "turn_z");
    begin(m);
    m->dq[theta] = one(s->graph);
    for (uint32_t i = 0; i + 1 < s->input_count; i++) {
        if (s->inputs[i].kind != TR_VELOCITY || !is_part(s, i, theta, "vx")) continue;
        m->dv[i] = s->inputs[i + 1].symbol;
        m->dv[i + 1] = neg(s->inputs[i].symbol);
    }
    finish(m, name, "spin_z");
}

// ---- all of them ---------------------------------------------------------------------------

static bool is_of_quaternion(const System *s, uint32_t input)
{
    for (uint32_t i = 0; i < s->quaternion_count; i++)
        if (input >= s->quaternions[i].position && input < s->quaternions[i].position + 4)
            return true;
    return false;
}

static void make(Maker *m)
{
    const System *s = m->system;
    for (uint32_t k = 0; k < m->positions; k++) {
        const uint32_t input = m->q[k];
        if (is_of_quaternion(s, input)) continue;
        if (is_planar(m, input)) add_planar_turns(m, input);
        begin(m);
        m->dq[input] = one(s->graph);
        finish(m, s->inputs[input].name, NULL);
    }
    for (uint32_t i = 0; i < s->quaternion_count; i++)
        if (is_position(m, s->quaternions[i].position)) add_turns(m, &s->quaternions[i]);
}

bool tr_actions_new(System *s, const uint32_t *q, uint32_t positions, const uint32_t *w,
                    uint32_t velocities, Actions *actions, tr_error *err)
{
    const size_t most = 3 * (size_t)positions + 1; // 6 of 4 positions, 3 of a planar angle
    *actions = (Actions){.size = positions + velocities};
    Maker m = {s, q, w, positions, velocities, NULL, NULL, actions};
    m.dq = calloc(2 * (size_t)s->input_count + 1, sizeof *m.dq);
    actions->change = calloc(most * (actions->size + 1u), sizeof *actions->change);
    actions->names = calloc(most, sizeof *actions->names);
    const bool good = m.dq && actions->change && actions->names;
    if (good) {
        m.dv = m.dq + s->input_count;
        make(&m);
    }
    free(m.dq);
    if (good && !s->graph->failed) return true;
    tr_actions_free(actions);
    tr_fail_memory(err);
    return false;
}

void tr_actions_free(Actions *actions)
{
    free(actions->change);
    free(actions->names);
    *actions = (Actions){0};
}
