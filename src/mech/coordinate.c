// SPDX-License-Identifier: Apache-2.0
// Positions and velocities as inputs: q = (g, r), v = (nu, r') (T1), under the names that users
// see.
#include "mech/tree.h"

#include <stdio.h>

static Expr make_input(Tree *tree, const char *name, tr_kind kind, Place place)
{
    tr_error why = {0};
    const Expr symbol = tr_input(tree->system, name, kind, 0, &why);
    tr_tree_refuse_name(tree, (Value){text_of(name), place, true}, &why);
    return symbol;
}

static void add_position(Tree *tree, Link *link, const char *name, Place place)
{
    tree->positions[tree->position_count++] =
        (Coordinate){tr_tree_text(tree, text_of(name)), make_input(tree, name, TR_POSITION, place)};
    link->position_count++;
}

static void add_velocity(Tree *tree, Link *link, const char *name, const char *joint, Place place)
{
    Graph *g = tree->graph;
    tree->velocities[tree->velocity_count++] =
        (Velocity){.name = tr_tree_text(tree, text_of(name)),
                   .joint = tr_tree_text(tree, text_of(joint)),
                   .link = (uint32_t)(link - tree->links),
                   .symbol = make_input(tree, name, TR_VELOCITY, place),
                   .torque = zero(g),
                   .passive = zero(g),
                   .acceleration = zero(g),
                   .tau = zero(g)};
    Input *input = tr_system_input(tree->system, tree->velocities[tree->velocity_count - 1].symbol);
    if (input) input->is_base = link->is_base;
    link->velocity_count++;
}

// "x y theta" -> B.x, B.y, B.theta
static void add_parts(Tree *tree, Link *link, const char *parts, bool positions)
{
    char name[512];
    const Text body = link->body->name.text;
    for (const char *at = parts; *at;) {
        const int length = (int)strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s.%.*s", WHOLE(body), length, at);
        if (positions)
            add_position(tree, link, name, link->body->name.place);
        else
            add_velocity(tree, link, name, name, link->body->name.place);
        at += length + (at[length] == ' ');
    }
}

static void add_own_coordinate(Tree *tree, Link *link)
{
    const Value own = coordinate_name(link);
    char name[256], rate[256];
    snprintf(name, sizeof name, "%.*s", WHOLE(own.text));
    snprintf(rate, sizeof rate, "%.*s_rate", WHOLE(own.text));
    add_position(tree, link, name, own.place);
    if (link->is_motor) name[strlen(name) - strlen(".motor")] = 0; // its force is the joint's
    add_velocity(tree, link, rate, name, own.place);
}

static void add_modes(Tree *tree, Link *link)
{
    Flex *flex = link->flex;
    const uint32_t positions = link->position_count, velocities = link->velocity_count;
    flex->position = tree->position_count;
    flex->velocity = tree->velocity_count;
    for (uint32_t k = 0; k < flex->count; k++) {
        char rate[300];
        snprintf(rate, sizeof rate, "%s_rate", flex->names[k]);
        add_position(tree, link, flex->names[k], link->body->name.place);
        add_velocity(tree, link, rate, flex->names[k], link->body->name.place);
        Velocity *w = &tree->velocities[tree->velocity_count - 1];
        w->S = motion_zero(tree->graph); // it moves what hangs from the beam, see flex.c
        Input *input = tr_system_input(tree->system, w->symbol);
        if (input) input->is_base = false;
    }
    link->position_count = positions, link->velocity_count = velocities; // those of the joint
}

void tr_tree_coordinates(Tree *tree)
{
    for (uint32_t i = 0; i < tree->link_count && !has_failed(tree->err); i++) {
        Link *link = &tree->links[i];
        link->position = tree->position_count;
        link->velocity = tree->velocity_count;
        const bool several = has_several(link->type);
        link->is_base = (link->parent == WORLD && several) || is_true(link->by->base);
        if (has_coordinate(link->type)) add_own_coordinate(tree, link);
        if (several) {
            add_parts(tree, link, link->type->positions, true);
            add_parts(tree, link, link->type->velocities, false);
        }
        if (link->flex) add_modes(tree, link);
    }
}
