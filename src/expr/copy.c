// SPDX-License-Identifier: Apache-2.0
// A copy of a system: the same inputs and rows over a graph of its own, in which every expression
// has the id that it has in the original. So what is added to a copy depends on the original alone,
// and never on what others added to theirs.
#include "expr/forest.h"

#include <assert.h>
#include <stdlib.h>

// ---- the parts of a copy -------------------------------------------------------------------

typedef struct Copying {
    System *to;
    Graph *graph;
} Copying;

static void rehome(const Copying *c, Expr *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (x[i].graph) x[i].graph = c->graph;
}

// Of what is made of expressions alone
#define REHOME_ALL(c, x) rehome(c, (Expr *)(void *)(x), sizeof *(x) / sizeof(Expr))

// `count` things in an array of their own, which grows from there
static void *copy_array(const Copying *c, const void *from, uint32_t count, size_t size,
                        uint32_t *capacity)
{
    uint32_t unused = 0;
    void *to = NULL;
    if (!capacity) capacity = &unused;
    *capacity = 0;
    if (!tr_grow(&to, capacity, count + 1, size)) {
        c->graph->failed = true;
        return NULL;
    }
    if (count) memcpy(to, from, count * size);
    return to;
}

static const Expr *copy_values(const Copying *c, const Expr *from, size_t count)
{
    if (!from) return NULL;
    Expr *to = tr_arena_alloc(&c->graph->arena, count, sizeof *to);
    if (!to) return c->graph->failed = true, NULL;
    for (size_t i = 0; i < count; i++) to[i] = expr_at(c->graph, from[i].id);
    return to;
}

static void copy_inputs(const Copying *c, const System *from)
{
    System *to = c->to;
    to->inputs =
        copy_array(c, from->inputs, from->input_count, sizeof *to->inputs, &to->input_capacity);
    for (uint32_t i = 0; to->inputs && i < to->input_count; i++) {
        Input *input = &to->inputs[i];
        rehome(c, &input->symbol, 1);
        rehome(c, &input->rate, 1);
        rehome(c, &input->change, 1);
        rehome(c, &input->definition, 1);
        rehome(c, &input->motor, 1);
        rehome(c, &input->guess, 1);
        rehome(c, &input->follows, 1);
        rehome(c, &input->signal, 1);
        rehome(c, &input->least, 1);
        rehome(c, &input->most, 1);
    }
}

static void copy_hash(const Copying *c, const Hash *from, Hash *to)
{
    if (from->slots)
        to->slots = copy_array(c, from->slots, from->mask + 1, sizeof *to->slots, NULL);
}

static void copy_outputs(const Copying *c, const System *from)
{
    System *to = c->to;
    to->outputs =
        copy_array(c, from->outputs, from->output_count, sizeof *to->outputs, &to->output_capacity);
    for (uint32_t i = 0; to->outputs && i < to->output_count; i++) {
        Output *output = &to->outputs[i];
        output->values = copy_values(c, output->values, (size_t)output->rows * output->columns);
    }
    copy_hash(c, &from->output_hash, &to->output_hash);
}

static void copy_names(const Copying *c, const System *from)
{
    System *to = c->to;
    to->names = copy_array(c, from->names, from->name_count, sizeof *to->names, &to->name_capacity);
    for (uint32_t i = 0; to->names && i < to->name_count; i++) rehome(c, &to->names[i].meaning, 1);
    copy_hash(c, &from->name_hash, &to->name_hash);
}

static void *copy_in_arena(const Copying *c, const void *from, size_t count, size_t size)
{
    void *to = tr_arena_alloc(&c->graph->arena, count + 1, size);
    if (!to)
        c->graph->failed = true;
    else if (count)
        memcpy(to, from, count * size);
    return to;
}

static void copy_rows(const Copying *c, const System *from)
{
    System *to = c->to;
    const uint32_t n = tr_system_inputs(from, TR_VELOCITY, NULL);
    to->rows = copy_array(c, from->rows, from->row_count, sizeof *to->rows, &to->row_capacity);
    for (uint32_t i = 0; to->rows && i < to->row_count; i++) {
        Row *row = &to->rows[i];
        row->slopes = copy_values(c, row->slopes, n);
        row->inner_slopes = copy_values(c, row->inner_slopes, n);
        Expr *const single[] = {&row->rest,    &row->rate,       &row->bias,       &row->position,
                                &row->symbol,  &row->inner_rest, &row->inner_bias, &row->weight,
                                &row->tension, &row->arm,        &row->pivot,      &row->uneven};
        for (size_t k = 0; k < sizeof single / sizeof *single; k++) rehome(c, single[k], 1);
        rehome(c, row->mix, 3);
        rehome(c, &row->drift, 1);
        rehome(c, row->on, 6);
        rehome(c, row->mix_along, 3);
        row->behind = copy_in_arena(c, row->behind, row->behind_count, sizeof *row->behind);
        for (uint32_t k = 0; row->behind && k < row->behind_count; k++)
            rehome(c, &row->behind[k].slope, 1);
    }
}

static void copy_alarms(const Copying *c, const System *from)
{
    System *to = c->to;
    to->alarms =
        copy_array(c, from->alarms, from->alarm_count, sizeof *to->alarms, &to->alarm_capacity);
    for (uint32_t i = 0; to->alarms && i < to->alarm_count; i++) {
        rehome(c, &to->alarms[i].margin, 1);
        rehome(c, to->alarms[i].place, to->alarms[i].place_count);
    }
}

static void copy_latches(const Copying *c, const System *from)
{
    System *to = c->to;
    to->latches =
        copy_array(c, from->latches, from->latch_count, sizeof *to->latches, &to->latch_capacity);
    for (uint32_t i = 0; to->latches && i < to->latch_count; i++) {
        Latch *latch = &to->latches[i];
        rehome(c, &latch->gap, 1);
        rehome(c, &latch->restitution, 1);
        rehome(c, &latch->friction, 1);
        rehome(c, &latch->first, 1);
        rehome(c, &latch->stiction, 1);
        rehome(c, &latch->load, 1);
        rehome(c, &latch->closed, 1);
        rehome(c, &latch->slipping, 1);
        rehome(c, latch->heading, 3);
    }
}

static void copy_touchings(const Copying *c, const System *from)
{
    System *to = c->to;
    to->touchings = copy_array(c, from->touchings, from->touching_count, sizeof *to->touchings,
                               &to->touching_capacity);
    for (uint32_t i = 0; to->touchings && i < to->touching_count; i++) {
        Touching *touching = &to->touchings[i];
        rehome(c, touching->tangency, 2);
        rehome(c, touching->slopes, 4);
        rehome(c, touching->middle, 3);
        rehome(c, touching->axle, 3);
        rehome(c, touching->hollow, 2);
        Expr *const single[] = {&touching->gap, &touching->margin, &touching->height,
                                &touching->ring, &touching->tube};
        for (size_t k = 0; k < sizeof single / sizeof *single; k++) rehome(c, single[k], 1);
    }
}

static void copy_conditions(const Copying *c, const System *from)
{
    System *to = c->to;
    to->conditions = copy_array(c, from->conditions, from->condition_count, sizeof *to->conditions,
                                &to->condition_capacity);
    to->condition_hash = (Hash){0};
    for (uint32_t i = 0; to->conditions && i < to->condition_count; i++)
        rehome(c, to->conditions[i].values, MOST_RULE_VALUES);
}

static void copy_turned(const Copying *c, const System *from)
{
    System *to = c->to;
    to->turned =
        copy_array(c, from->turned, from->turned_count, sizeof *to->turned, &to->turned_capacity);
    for (uint32_t i = 0; to->turned && i < to->turned_count; i++) rehome(c, to->turned[i].C, 9);
}

static void copy_scene(const Copying *c, const Scene *from, Scene *to)
{
    to->bodies = copy_in_arena(c, from->bodies, from->body_count, sizeof *to->bodies);
    for (uint32_t i = 0; to->bodies && i < to->body_count; i++) {
        rehome(c, to->bodies[i].origin, 3);
        rehome(c, to->bodies[i].rotation, 9);
        rehome(c, &to->bodies[i].stretch, 1);
        rehome(c, &to->bodies[i].stiffness, 1);
    }
    to->contacts = copy_in_arena(c, from->contacts, from->contact_count, sizeof *to->contacts);
    for (uint32_t i = 0; to->contacts && i < to->contact_count; i++) {
        rehome(c, to->contacts[i].point, 3);
        rehome(c, to->contacts[i].normal, 3);
        rehome(c, to->contacts[i].middle, 3);
        rehome(c, to->contacts[i].across, 3);
        rehome(c, &to->contacts[i].radius, 1);
        rehome(c, &to->contacts[i].gap, 1);
        rehome(c, &to->contacts[i].friction, 1);
        for (uint32_t k = 0; k < SCENE_ROWS; k++) rehome(c, to->contacts[i].rows[k].direction, 3);
    }
    to->terrains = copy_in_arena(c, from->terrains, from->terrain_count, sizeof *to->terrains);
    for (uint32_t i = 0; to->terrains && i < to->terrain_count; i++) {
        rehome(c, &to->terrains[i].height, 1);
        rehome(c, to->terrains[i].symbol, 2);
    }
    to->drawings = copy_array(c, from->drawings, from->drawing_count, sizeof *to->drawings,
                              &to->drawing_capacity);
}

static void copy_link(const Copying *c, ForestLink *link)
{
    REHOME_ALL(c, &link->across.X);
    REHOME_ALL(c, &link->across.first);
    REHOME_ALL(c, &link->across.second);
    REHOME_ALL(c, &link->inertia);
    REHOME_ALL(c, &link->v);
    REHOME_ALL(c, &link->up);
    REHOME_ALL(c, &link->frame);
    Motion *S = copy_in_arena(c, link->S, link->velocity_count, sizeof *S);
    for (uint32_t k = 0; S && k < link->velocity_count; k++) REHOME_ALL(c, &S[k]);
    link->S = S;
}

static Forest *copy_forest(const Copying *c, const Forest *from)
{
    Forest *to = from ? copy_in_arena(c, from, 1, sizeof *to) : NULL;
    if (!to) return NULL;
    to->links = copy_in_arena(c, from->links, from->link_count, sizeof *to->links);
    to->rolling = copy_in_arena(c, from->rolling, from->rolling_count, sizeof *to->rolling);
    for (uint32_t i = 0; to->links && i < to->link_count; i++) copy_link(c, &to->links[i]);
    for (uint32_t i = 0; to->rolling && i < to->rolling_count; i++) {
        REHOME_ALL(c, &to->rolling[i].hub);
        REHOME_ALL(c, &to->rolling[i].arm);
        REHOME_ALL(c, &to->rolling[i].point);
        REHOME_ALL(c, &to->rolling[i].runs);
        REHOME_ALL(c, &to->rolling[i].drift);
        rehome(c, &to->rolling[i].square, 1);
    }
    REHOME_ALL(c, &to->gravity);
    return to;
}

// ---- all of it -----------------------------------------------------------------------------

System *tr_system_copy(const System *from, tr_error *err)
{
    if (!from || has_failed(err)) return NULL;
    System *to = calloc(1, sizeof *to);
    Graph *graph = tr_graph_copy(from->graph);
    if (!to || !graph) {
        free(to);
        tr_graph_free(graph);
        tr_fail_memory(err);
        return NULL;
    }
    const Copying c = {to, graph};
    *to = *from;
    to->graph = graph;
    to->resolution = (Resolution){0};
    to->source.origins = (Arena){0}; // the original has them
    to->formulas = NULL, to->formula_count = to->formula_capacity = 0;
    copy_inputs(&c, from);
    copy_outputs(&c, from);
    copy_names(&c, from);
    copy_rows(&c, from);
    copy_alarms(&c, from);
    copy_latches(&c, from);
    copy_touchings(&c, from);
    copy_conditions(&c, from);
    copy_turned(&c, from);
    copy_scene(&c, &from->scene, &to->scene);
    to->forest = copy_forest(&c, from->forest);
    to->quaternions = copy_array(&c, from->quaternions, from->quaternion_count,
                                 sizeof *to->quaternions, &to->quaternion_capacity);
    to->dropped = copy_array(&c, from->dropped, from->dropped_count, sizeof *to->dropped,
                             &to->dropped_capacity);
    if (!graph->failed) {
        assert(graph->count == from->graph->count);     // expressions keep their ids
        assert(graph->symbol_count == to->input_count); // symbols are inputs, in the same order
        return to;
    }
    tr_system_free(to);
    tr_fail_memory(err);
    return NULL;
}
