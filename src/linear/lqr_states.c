// SPDX-License-Identifier: Apache-2.0
// Which displacements and velocities are states of a regulator. Velocities of the linear model are
// the ones that a run integrates, a choice of numbers; here both are chosen by what they are: of
// joints that torques drive, of other joints, then turns and ways of bases, as far as each says
// something new. What is new is told in the metric of all of them, which knows no choice (T140).
#include "linear/lqr.h"

#include "num/dense.h"
#include "num/solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEW 1e-6 // of a velocity's square: what is not said by those before

enum { CLASSES = 4 };

static int class_of(const Input *velocity)
{
    const bool turns = velocity->port.quantity == QUANTITY_ANGULAR_SPEED;
    if (velocity->is_base) return turns ? 2 : 3;
    return velocity->drive == DRIVE_TORQUE ? 0 : 1;
}

// ---- choosing ------------------------------------------------------------------------------

typedef struct Choice {
    const Design *design;
    const Variations *v;
    const double *rows;    // of displacements, or rates
    uint32_t first, count; // of the states that are such
    double *Y;             // by velocities: what each is, in coordinates where all together are 1
    bool *is_chosen;
    uint32_t chosen;
} Choice;

// A velocity that jumps with a control is no state.
static bool jumps(const Choice *c, uint32_t velocity)
{
    const Design *d = c->design;
    for (uint32_t i = 0; i < d->m; i++)
        if (c->rows[(size_t)velocity * c->v->width + d->whole->states + d->column[i]] != 0)
            return true;
    return false;
}

// Y = R L^-T with R^T R = L L^T, R how all depend on those that are states
static bool measure(Choice *c, tr_error *err)
{
    const uint32_t n = c->count, p = c->v->velocities;
    double *S = calloc((size_t)n * n + (size_t)n * p + 1, sizeof *S);
    if (!S) return tr_fail_memory(err), false;
    double *R = S + (size_t)n * n; // by columns
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < p; i++)
            R[k * p + i] = c->rows[(size_t)i * c->v->width + c->first + k];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t j = 0; j < p; j++) S[i * n + k] += R[i * p + j] * R[k * p + j];
    const bool good = tr_cholesky(S, n);
    if (good) tr_solve_lower(S, n, R, p);
    tr_transpose(R, n, p, c->Y);
    free(S);
    return good;
}

static double square_of(const Choice *c, uint32_t velocity)
{
    const double *y = c->Y + (size_t)velocity * c->count;
    double sum = 0;
    for (uint32_t k = 0; k < c->count; k++) sum += y[k] * y[k];
    return sum;
}

// Takes it, and what it says from the others.
static void take_one(Choice *c, uint32_t velocity)
{
    const uint32_t n = c->count;
    const double *y = c->Y + (size_t)velocity * n, square = square_of(c, velocity);
    c->is_chosen[velocity] = true, c->chosen++;
    for (uint32_t i = 0; i < c->v->velocities; i++) {
        double *other = c->Y + (size_t)i * n, along = 0;
        if (c->is_chosen[i]) continue;
        for (uint32_t k = 0; k < n; k++) along += y[k] * other[k];
        for (uint32_t k = 0; k < n; k++) other[k] -= along / square * y[k];
    }
}

// Class by class, those first that say most; of equal ones the first of the model
static void choose_all(Choice *c)
{
    const Design *d = c->design;
    for (int class = 0; class < CLASSES; class ++)
        for (bool found = true; found && c->chosen < c->count;) {
            double most = NEW;
            uint32_t best = 0;
            found = false;
            for (uint32_t i = 0; i < c->v->velocities; i++) {
                if (c->is_chosen[i] || class_of(&d->system->inputs[c->v->velocity[i]]) != class ||
                    !(square_of(c, i) > most * (1 + 1e-9)) || jumps(c, i))
                    continue;
                found = true, best = i, most = square_of(c, i);
            }
            if (found) take_one(c, best);
        }
}

// ---- other states --------------------------------------------------------------------------

// X S^-1 for rows of so many numbers, of which the first n are by states
static void by_states(double *X, uint32_t rows, uint32_t width, const double *inverse, uint32_t n,
                      double *room)
{
    for (uint32_t i = 0; i < rows; i++) {
        double *row = X + (size_t)i * width;
        memset(room, 0, n * sizeof *room);
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t j = 0; j < n && row[k] != 0; j++)
                room[j] += row[k] * inverse[(size_t)k * n + j];
        memcpy(row, room, n * sizeof *room);
    }
}

// x = S x_before: A = S A S^-1, B = S B, C = C S^-1. `room`: n * (n + inputs)
static void change_states(Linear *l, const double *S, const double *inverse, double *room)
{
    const uint32_t n = l->states, m = l->inputs;
    tr_multiply(S, l->A, n, n, n, room);
    by_states(room, n, n, inverse, n, room + (size_t)n * n);
    memcpy(l->A, room, (size_t)n * n * sizeof *room);
    tr_multiply(S, l->B, n, n, m, room);
    memcpy(l->B, room, (size_t)n * m * sizeof *room);
    by_states(l->C, l->outputs, n, inverse, n, room);
}

// What was chosen, in the order of the model; false when that are the states already.
static bool put_choice(const Choice *c, double *S)
{
    Linear *l = c->design->whole;
    const System *s = c->design->system;
    const uint32_t n = l->states;
    uint32_t k = c->first;
    bool differs = false;
    for (uint32_t i = 0; i < c->v->velocities; i++) {
        if (!c->is_chosen[i]) continue;
        const uint32_t velocity = c->v->velocity[i];
        char name[TR_STATE_NAME];
        tr_displacement_name(s, velocity, name);
        memcpy(S + (size_t)k * n, c->rows + (size_t)i * c->v->width, n * sizeof *S);
        differs = differs || l->state_of[k] != velocity;
        l->state_of[k] = velocity;
        l->state[k++] = tr_linear_keep(l, c->rows == c->v->rate ? s->inputs[velocity].name : name);
    }
    return differs;
}

// `before`: by the new states, what were states
static bool exchange(Design *d, Variations *v, const Choice *c, double *before, tr_error *err)
{
    const uint32_t n = d->whole->states, w = v->width;
    const size_t nn = (size_t)n * n;
    double *S = calloc(3 * nn + (size_t)n * (d->whole->inputs + 1u) + 1, sizeof *S);
    if (!S) return tr_fail_memory(err), false;
    double *room = S + nn;
    bool differs = false, good = true;
    for (uint32_t i = 0; i < n; i++) S[(size_t)i * n + i] = 1;
    for (int i = 0; i < 2; i++) // where velocities jump with the controls there may be too few
        differs = (c[i].chosen == c[i].count && put_choice(&c[i], S)) || differs;
    if (differs) {
        memcpy(room, S, nn * sizeof *S);
        good = tr_solve(room, n, before, n); // S^-1: of a basis, so there is one
        if (good) {
            change_states(d->whole, S, before, room);
            by_states(v->displacement, v->velocities, w, before, n, room);
            by_states(v->rate, v->velocities, w, before, n, room);
            by_states(v->coordinate, v->positions, w, before, n, room);
        }
    }
    if (!good || !tr_linear_has_names(d->whole)) tr_fail_memory(err);
    free(S);
    return !has_failed(err);
}

static bool choose_states(Design *d, Variations *v, double *before, tr_error *err)
{
    const Linear *l = d->whole;
    Choice c[2] = {{.rows = v->displacement, .count = l->displacements},
                   {.rows = v->rate, .first = l->displacements}};
    while (c[1].first + c[1].count < l->states &&
           d->system->inputs[l->state_of[c[1].first + c[1].count]].kind != TR_POSITION)
        c[1].count++; // what is left has states of its own
    for (int i = 0; i < 2; i++) {
        c[i].design = d, c[i].v = v;
        c[i].Y = calloc((size_t)v->velocities * c[i].count + 1, sizeof *c[i].Y);
        c[i].is_chosen = calloc(v->velocities + 1u, sizeof *c[i].is_chosen);
        if (!c[i].Y || !c[i].is_chosen)
            tr_fail_memory(err);
        else if (measure(&c[i], err))
            choose_all(&c[i]);
    }
    const bool good = !has_failed(err) && exchange(d, v, c, before, err);
    for (int i = 0; i < 2; i++) {
        free(c[i].Y);
        free(c[i].is_chosen);
    }
    return good;
}

// ---- what may have a weight ----------------------------------------------------------------

static void add_weighable(Design *d, const char *name, const char *also, const double *states,
                          const double *inputs, bool counts, tr_error *err)
{
    const uint32_t n = d->whole->states;
    double *row = tr_design_room(d, (size_t)n + d->m, err);
    Weighable *w = &d->weighable[d->weighable_count++];
    *w = (Weighable){tr_arena_text(&d->arena, name, strlen(name)),
                     also ? tr_arena_text(&d->arena, also, strlen(also)) : NULL, row, counts};
    if (!w->name || (also && !w->also)) tr_fail_memory(err);
    if (has_failed(err)) return;
    memcpy(row, states, n * sizeof *row);
    for (uint32_t i = 0; inputs && i < d->m; i++) row[n + i] = inputs[d->column[i]];
}

// All displacements and velocities of the model, and states of their own, count
static void list_what_counts(Design *d, const Variations *v, const double *before, tr_error *err)
{
    const Linear *l = d->whole;
    const System *s = d->system;
    char name[TR_STATE_NAME];
    for (uint32_t i = 0; i < v->velocities && !has_failed(err); i++) {
        tr_displacement_name(s, v->velocity[i], name);
        add_weighable(d, name, NULL, v->displacement + (size_t)i * v->width, NULL, true, err);
    }
    for (uint32_t i = 0; i < v->velocities && !has_failed(err); i++) {
        const Input *input = &s->inputs[v->velocity[i]];
        const double *row = v->rate + (size_t)i * v->width;
        snprintf(name, sizeof name, "d(%.290s)", tr_system_joint_name(s, v->velocity[i]));
        add_weighable(d, input->name, input->port.rate_of != NO_INPUT ? name : NULL, row,
                      row + l->states, true, err);
    }
    for (uint32_t i = 0; i < l->states && !has_failed(err); i++)
        if (s->inputs[l->state_of[i]].kind == TR_POSITION)
            add_weighable(d, l->state[i], NULL, before + (size_t)i * l->states, NULL, true, err);
}

// What else has a name: coordinates of bases, states of the linear model, outputs
static void list_others(Design *d, const Variations *v, const char *const *names,
                        const double *before, tr_error *err)
{
    const Linear *l = d->whole;
    for (uint32_t i = 0; i < v->positions && !has_failed(err); i++)
        add_weighable(d, d->system->inputs[v->position[i]].name, NULL,
                      v->coordinate + (size_t)i * v->width, NULL, false, err);
    for (uint32_t i = 0; i < l->states && !has_failed(err); i++)
        add_weighable(d, names[i], NULL, before + (size_t)i * l->states, NULL, false, err);
    for (uint32_t i = 0; i < l->outputs && !has_failed(err); i++)
        add_weighable(d, l->output[i], NULL, l->C + (size_t)i * l->states,
                      l->D + (size_t)i * l->inputs, false, err);
}

bool tr_design_states(Design *d, Lineariser *lineariser, tr_error *err)
{
    Linear *l = d->whole;
    const uint32_t n = l->states;
    Variations v = {0};
    if (!tr_lineariser_vary(lineariser, &v, err)) return false;
    const size_t most = 2 * (size_t)v.velocities + v.positions + 2 * (size_t)n + l->outputs;
    double *before = tr_design_room(d, (size_t)n * n, err);
    const char **names = tr_arena_alloc(&d->arena, n + 1u, sizeof *names);
    d->weighable = tr_arena_alloc(&d->arena, most + 1, sizeof *d->weighable);
    if (!names || !d->weighable) tr_fail_memory(err);
    for (uint32_t i = 0; !has_failed(err) && i < n; i++) {
        before[(size_t)i * n + i] = 1;
        names[i] = l->state[i]; // which lives as long as the linear model
    }
    if (!has_failed(err) && choose_states(d, &v, before, err)) {
        list_what_counts(d, &v, before, err);
        list_others(d, &v, names, before, err);
    }
    tr_variations_free(&v);
    return !has_failed(err);
}
