// SPDX-License-Identifier: Apache-2.0
// Joints in steps: joints of one coordinate each, one behind the other, with nothing between them.
// From the parent outward                                                             (T360)
//
//   universal     R = R(axis, a) R(second, b) turn,       p = at
//   cylindrical   R = R(axis, angle) turn,                p = at + travel axis
//
// and the same backward where the joint is crossed from the child. What is between has no mass, so
// each step is a link like any other, and costs what a joint of its type does.
#include "mech/tree.h"

#include <stdio.h>

uint32_t tr_step_count(const Joint *joint)
{
    const JointStep *steps;
    const JointType *type = tr_joint_type(joint->type, NULL);
    return type && is_in_steps(type) ? tr_joint_steps(type, &steps) : 1;
}

// "B.a", and "B.a.between" for what is between
static Value called(Tree *tree, const Body *body, const JointStep *step, const char *behind)
{
    char name[300];
    snprintf(name, sizeof name, "%.*s.%s%s", WHOLE(body->name.text), step->coordinate, behind);
    return (Value){text_of(tr_tree_text(tree, text_of(name))), body->name.place, true};
}

// What a step says as a joint. It stands where the whole joint does if it is next to the parent,
// and turns the child and holds it by `to` if it is next to the child. Forces are those of the
// body's.
static Joint *joint_of(Tree *tree, const Link *whole, const JointStep *step, bool is_next_to_parent,
                       bool is_next_to_child, bool is_body)
{
    const Joint *written = whole->by;
    Joint *joint = tr_tree_room(tree, 1, sizeof *joint);
    if (!joint) return NULL;
    tr_kind_defaults(tr_kind_of(TYPE_JOINT), joint);
    const Joint plain = *joint;
    if (is_body) *joint = *written;
    joint->name = written->name, joint->base = written->base;
    joint->type.text = text_of(step->type);
    joint->axis = strcmp(step->axis, "second") == 0 ? written->second : written->axis;
    joint->coordinate = called(tree, whole->body, step, "");
    joint->at = is_next_to_parent ? written->at : plain.at;
    joint->turn = is_next_to_child ? written->turn : plain.turn;
    joint->to = is_next_to_child ? written->to : plain.to;
    return joint;
}

static const Body *between(Tree *tree, const Body *of, const JointStep *step, Joint *joint)
{
    Body *body = tr_tree_room(tree, 1, sizeof *body);
    if (!body) return NULL;
    tr_kind_defaults(tr_kind_of(TYPE_BODIES), body);
    body->name = called(tree, of, step, ".between");
    body->joint = *joint;
    return body;
}

void tr_step_add(Tree *tree, Link whole)
{
    const JointStep *steps;
    const uint32_t count = tr_joint_steps(whole.type, &steps);
    for (uint32_t i = 0; i < count && !has_failed(tree->err); i++) {
        const uint32_t k = whole.is_reversed ? count - 1 - i : i; // as they are written
        const bool is_body = i == count - 1;
        Joint *joint = joint_of(tree, &whole, &steps[k], k == 0, k == count - 1, is_body);
        const Body *body =
            is_body || !joint ? whole.body : between(tree, whole.body, &steps[k], joint);
        if (!joint || !body || tree->graph->failed) return;
        Link link = whole;
        link.body = body, link.by = joint;
        link.type = tr_joint_type(joint->type, tree->err);
        link.written = whole.by, link.whole = whole.type;
        link.step = i, link.is_between = !is_body;
        link.parent = i ? tree->link_count - 1 : whole.parent;
        link.has_children = !is_body;
        tr_tree_add_link(tree, link);
    }
}
