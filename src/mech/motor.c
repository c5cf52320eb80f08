// SPDX-License-Identifier: Apache-2.0
// Motors in joints: the inertia of their rotors along the coordinate (T345), and what they can do
// (T346).
#include "mech/tree.h"

// ---- rotors --------------------------------------------------------------------------------

// A rotor that turns `ratio` times as fast as the coordinate has the energy armature ratio^2 q'^2 /
// 2 of its own spin; it is part of what carries it otherwise.                               (T345)
static void make_armature(Tree *tree, const Link *link)
{
    const Joint *joint = link->by;
    if (!joint->armature.given || link->is_motor || !has_coordinate(link->whole)) return;
    const Expr J = tr_tree_constant(tree, joint->armature, "armature"),
               ratio = tr_tree_constant(tree, joint->ratio, "ratio");
    if (has_failed(tree->err)) return;
    if (!tr_tree_is(tree, RULE_NOT_NEGATIVE, J, joint->armature.place,
                    "the armature of '%.*s' is not negative", WHOLE(link->body->name.text)))
        tr_fail(tree->err, TR_INVALID, joint->armature.place,
                "an armature is an inertia: it is not negative");
    else if (link->motor != WORLD)
        tr_fail(tree->err, TR_INVALID, joint->armature.place,
                "the joint is elastic: the inertia of its motor is `inertia` in `elastic`");
    tree->velocities[link->velocity].armature = mul(J, square(ratio));
}

void tr_tree_armatures(Tree *tree)
{
    for (uint32_t i = 0; i < tree->link_count && !has_failed(tree->err); i++)
        make_armature(tree, &tree->links[i]);
}

// ---- torques -------------------------------------------------------------------------------

static const Pair *limit_of(const Role *role, Text part)
{
    for (uint32_t i = 0; i < role->limit.count; i++)
        if (text_equal(role->limit.at[i].key.text, part)) return &role->limit.at[i];
    return NULL;
}

// max(-limit, min(limit, torque)), and an alarm that is on as long as that is not the torque that
// was asked for                                                                          (T346)
Expr tr_motor_torque(Tree *tree, const Role *role, Text part, const char *joint, Expr torque)
{
    const Pair *pair = limit_of(role, part);
    const Value name = {text_of(joint), role->name.place, true};
    if (!pair) return torque;
    const Expr most = tr_tree_formula(tree, pair->value);
    if (has_failed(tree->err)) return torque;
    if (!tr_tree_is_constant(most))
        tr_tree_alarm(tree, name, "the limit of the role '%.*s' is negative", most, ALARM_WARNS,
                      NO_LATCH);
    else if (!tr_tree_is(tree, RULE_NOT_NEGATIVE, most, pair->value.place,
                         "the limit of the role '%.*s' is not negative", WHOLE(role->name.text)))
        tr_fail(tree->err, TR_INVALID, pair->value.place,
                "the limit of a role is what its motor can do either way: it is not negative");
    tr_tree_alarm(tree, name, "role %.*s: its torque is at its limit", sub(most, e_abs(torque)),
                  ALARM_SATURATES, NO_LATCH);
    const Expr upper = tr_build(OP_MIN, torque, most, torque), lower = neg(most);
    return tr_build(OP_MAX, upper, lower, upper);
}
