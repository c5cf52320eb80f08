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

// ---- what they are -------------------------------------------------------------------------

void tr_tree_port(Tree *tree, Expr symbol, Quantity quantity, Text owner, const char *component)
{
    const char *own = tr_tree_text(tree, owner), *part = tr_tree_text(tree, text_of(component));
    Input *input = tr_system_input(tree->system, symbol);
    if (input) input->port = port_of(quantity, own, part);
}

Quantity tr_motor_quantity(Quantity velocity)
{
    return velocity == QUANTITY_SPEED           ? QUANTITY_MOTOR_FORCE
           : velocity == QUANTITY_ANGULAR_SPEED ? QUANTITY_TORQUE
                                                : QUANTITY_GENERALISED_FORCE;
}

// Parts that joint.def names begin so.
static Quantity part_quantity(char first)
{
    switch (first) {
    case 'q': return QUANTITY_QUATERNION;
    case 't': return QUANTITY_ANGLE;
    case 'v': return QUANTITY_SPEED;
    case 'w': return QUANTITY_ANGULAR_SPEED;
    default: return QUANTITY_LENGTH;
    }
}

// The last position and the last velocity are a coordinate and its rate.
static void join_last(Tree *tree, Quantity quantity, Text owner, const char *component)
{
    const Expr position = tree->positions[tree->position_count - 1].symbol,
               velocity = tree->velocities[tree->velocity_count - 1].symbol;
    tr_tree_port(tree, position, quantity, owner, component);
    tr_tree_port(tree, velocity, tr_quantity_rate(quantity), owner, component);
    const Input *of = tr_system_input(tree->system, position);
    Input *rate = tr_system_input(tree->system, velocity);
    if (of && rate) rate->port.rate_of = (uint32_t)(of - tree->system->inputs);
}

// ---- making them ---------------------------------------------------------------------------

static Expr add_position(Tree *tree, Link *link, const char *name, Place place)
{
    const Expr symbol = make_input(tree, name, TR_POSITION, place);
    tree->positions[tree->position_count++] =
        (Coordinate){tr_tree_text(tree, text_of(name)), symbol};
    link->position_count++;
    return symbol;
}

static Expr add_velocity(Tree *tree, Link *link, const char *name, const char *joint, Place place)
{
    Graph *g = tree->graph;
    tree->velocities[tree->velocity_count++] =
        (Velocity){.name = tr_tree_text(tree, text_of(name)),
                   .joint = tr_tree_text(tree, text_of(joint)),
                   .link = (uint32_t)(link - tree->links),
                   .symbol = make_input(tree, name, TR_VELOCITY, place),
                   .torque = zero(g),
                   .armature = zero(g),
                   .passive = zero(g),
                   .acceleration = zero(g),
                   .tau = zero(g)};
    const Expr symbol = tree->velocities[tree->velocity_count - 1].symbol;
    Input *input = tr_system_input(tree->system, symbol);
    if (input) input->is_base = link->is_base;
    link->velocity_count++;
    return symbol;
}

// "x y theta" -> B.x, B.y, B.theta
static void add_parts(Tree *tree, Link *link, const char *parts, bool positions)
{
    char name[512], part[16];
    const Value body = link->body->name;
    for (const char *at = parts; *at;) {
        const int length = (int)strcspn(at, " ");
        snprintf(part, sizeof part, "%.*s", length, at);
        snprintf(name, sizeof name, "%.*s.%s", WHOLE(body.text), part);
        const Expr symbol = positions ? add_position(tree, link, name, body.place)
                                      : add_velocity(tree, link, name, name, body.place);
        tr_tree_port(tree, symbol, part_quantity(part[0]), body.text, part);
        at += length + (at[length] == ' ');
    }
}

// Of an elastic joint, seen from its motor
static const Link *joint_of_motor(const Tree *tree, const Link *motor)
{
    uint32_t i = 0;
    while (tree->links[i].motor != (uint32_t)(motor - tree->links)) i++;
    return &tree->links[i];
}

static void add_own_coordinate(Tree *tree, Link *link)
{
    const Link *joint = link->is_motor ? joint_of_motor(tree, link) : link;
    const Value own = coordinate_name(link);
    char name[256], rate[256];
    snprintf(name, sizeof name, "%.*s", WHOLE(own.text));
    snprintf(rate, sizeof rate, "%.*s_rate", WHOLE(own.text));
    add_position(tree, link, name, own.place);
    snprintf(name, sizeof name, "%.*s",
             WHOLE(coordinate_name(joint).text)); // its force is so called
    add_velocity(tree, link, rate, name, own.place);
    if (is_in_steps(link->whole)) { // "B.a"
        const Text body = last_step(link)->body->name.text;
        join_last(tree, link->type->quantity, body, name + body.length + 1);
    } else
        join_last(tree, joint->type->quantity, coordinate_name(joint).text,
                  link->is_motor ? "motor" : "");
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
        const Text body = link->body->name.text; // the names are "body.mode"
        join_last(tree, QUANTITY_MODAL, body, flex->names[k] + body.length + 1);
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
