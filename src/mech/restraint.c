// SPDX-License-Identifier: Apache-2.0
// Stops and dry friction of joints with one coordinate q.
//
// A stop is a row that is there while it bears something, with the gap that it is the rate of:
//   lower: q - q_l >= 0,   upper: q_u - q >= 0                                          (T340)
// A soft one is a spring with a damper in its place, which never pull                      (T342).
// Dry friction is a row that holds q' = 0 while |lambda| <= stiction, else a force -friction h
// against the way h = +-1 that it slips                                                    (T343).
#include "mech/tree.h"

#include <math.h>
#include <stdio.h>

static const char *const sides[] = {"lower", "upper"};
static const double signs[] = {1, -1}; // of the gap's rate along q'

static Expr signed_by(double sign, Expr x) { return sign < 0 ? neg(x) : x; }

static bool is_listed_row(const Restraint *r, uint32_t row)
{
    return row == r->stick || row == r->stop[0] || row == r->stop[1];
}

bool tr_is_restraint_row(const Tree *tree, uint32_t row)
{
    for (uint32_t i = 0; i < tree->restraint_count; i++)
        if (is_listed_row(&tree->restraints[i], row)) return true;
    return false;
}

// ---- what the model says -------------------------------------------------------------------

// Keys that need a coordinate, and what they mean nothing without
static void check_keys(Tree *tree, const Joint *joint)
{
    const struct {
        const char *key, *with;
        const Value *value, *needs;
    } keys[] = {
        {"limits", NULL, &joint->limits, NULL},
        {"limit_restitution", "limits", &joint->limit_restitution, &joint->limits},
        {"limit_stiffness", "limits", &joint->limit_stiffness, &joint->limits},
        {"limit_damping", "limit_stiffness", &joint->limit_damping, &joint->limit_stiffness},
        {"friction", NULL, &joint->friction, NULL},
        {"stiction", "friction", &joint->stiction, &joint->friction},
        {"armature", NULL, &joint->armature, NULL},
        {"ratio", "armature", &joint->ratio, &joint->armature}};
    const JointType *type = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !has_failed(tree->err); i++) {
        if (!keys[i].value->given) continue;
        if (!type) type = tr_joint_type(joint->type, tree->err);
        if (!type) return;
        if (!has_coordinate(type))
            tr_fail(tree->err, TR_INVALID, keys[i].value->place,
                    "'%s' needs a joint with one coordinate, which a %s joint is not", keys[i].key,
                    type->name);
        else if (keys[i].needs && !keys[i].needs->given)
            tr_fail(tree->err, TR_INVALID, keys[i].value->place, "'%s' means nothing without '%s'",
                    keys[i].key, keys[i].with);
    }
    if (joint->limit_restitution.given && joint->limit_stiffness.given && !has_failed(tree->err))
        tr_fail(tree->err, TR_INVALID, joint->limit_restitution.place,
                "a stop with limit_stiffness is soft: what comes back is for its spring and "
                "limit_damping to say, so it has no limit_restitution");
}

static void check_not_negative(Tree *tree, const Restraint *r, Value value, const char *key, Expr x)
{
    if (has_failed(tree->err) || !value.given) return;
    if (!tr_tree_is_constant(x))
        tr_tree_alarm(tree, r->name, "the friction of '%.*s' is negative", x, ALARM_WARNS,
                      NO_LATCH);
    else if (!tr_tree_is(tree, RULE_NOT_NEGATIVE, x, value.place,
                         "the %s of '%.*s' is not negative", key, WHOLE(r->name.text)))
        tr_fail(tree->err, TR_INVALID, value.place, "the %s of '%.*s' is negative, or not finite",
                key, TEXT(r->name.text));
}

static bool is_angle_of_loop(const Restraint *r, const Tie *tie)
{
    return tie && r->force == QUANTITY_MOMENT;
}

// Of a joint that closes a loop the coordinate is an angle within half a turn (T52).
static void check_range(Tree *tree, const Restraint *r, const Tie *tie)
{
    const Value value = r->joint->limits;
    const Expr range = sub(r->limit[1], r->limit[0]);
    if (!tr_tree_is(tree, RULE_POSITIVE, range, value.place,
                    "the upper limit of '%.*s' is above the lower", WHOLE(r->name.text)))
        tr_fail(tree->err, TR_INVALID, value.place,
                "limits are the lower, and then the upper: %.6g is not below %.6g",
                tr_tree_value(tree, r->limit[0]), tr_tree_value(tree, r->limit[1]));
    for (int k = 0; k < 2 && is_angle_of_loop(r, tie) && !has_failed(tree->err); k++) {
        const Expr room = sub(number(tree->graph, acos(-1)), signed_by(-signs[k], r->limit[k]));
        if (!tr_tree_is(tree, RULE_POSITIVE, room, value.place,
                        "the %s limit of '%.*s' is within half a turn", sides[k],
                        WHOLE(r->name.text)))
            tr_fail(tree->err, TR_INVALID, value.place,
                    "'%.*s' closes a loop and does not count its turns: its limits are between -pi "
                    "and pi",
                    TEXT(r->name.text));
    }
}

static void read_limits(Tree *tree, Restraint *r, const Tie *tie)
{
    const Joint *joint = r->joint;
    const bool before = tree->constants_only;
    if (!joint->limits.given) return;
    tree->constants_only = true;
    tr_tree_formulas(tree, joint->limits, "limits", 2, r->limit);
    tree->constants_only = before;
    if (has_failed(tree->err)) return;
    check_range(tree, r, tie);
    r->has_limits = true, r->is_soft = joint->limit_stiffness.given;
    for (int k = 0; k < 2; k++) r->gap[k] = signed_by(signs[k], sub(r->q, r->limit[k]));
}

// ---- rows ----------------------------------------------------------------------------------

// Where nothing can give way it is watched that it does not pass.
static void watch_stops(Tree *tree, const Restraint *r)
{
    static const double rounding = 1e-9;
    static const char *const words[] = {"the motion of '%.*s' passes its lower limit",
                                        "the motion of '%.*s' passes its upper limit"};
    for (int k = 0; k < 2; k++)
        tr_tree_alarm(tree, r->name, words[k], add(r->gap[k], number(tree->graph, rounding)),
                      ALARM_STOPS, NO_LATCH);
}

static uint32_t add_row(Tree *tree, const Restraint *r, const char *part, Expr rate, Expr gap,
                        Place place)
{
    const uint32_t before = tree->system->row_count;
    const Value element = {r->name.text, place, true};
    tr_tree_row(tree, element, part, rate, gap, expr_at(tree->graph, 0), r->force);
    return tree->system->row_count > before ? before : NO_ROW;
}

static void make_rows(Tree *tree, Restraint *r)
{
    const bool is_first = tree->system->order == 1;
    if (r->has_limits && !r->is_soft && (r->is_moved || is_first)) watch_stops(tree, r);
    if (r->is_moved || is_first) return;
    for (int k = 0; k < 2 && r->has_limits && !r->is_soft; k++)
        r->stop[k] = add_row(tree, r, sides[k], signed_by(signs[k], r->rate), r->gap[k],
                             r->joint->limits.place);
    if (r->joint->friction.given)
        r->stick =
            add_row(tree, r, "stick", r->rate, expr_at(tree->graph, 0), r->joint->friction.place);
}

static void restrain(Tree *tree, const Joint *joint, Restraint given, const Tie *tie)
{
    check_keys(tree, joint);
    if (has_failed(tree->err) || !(joint->limits.given || joint->friction.given)) return;
    Restraint *r = &tree->restraints[tree->restraint_count++];
    *r = given;
    r->joint = joint;
    r->stick = r->stop[0] = r->stop[1] = NO_ROW;
    r->latch[0] = r->latch[1] = r->latch[2] = NO_LATCH;
    r->soft = r->friction = r->slipping = zero(tree->graph);
    read_limits(tree, r, tie);
    if (!has_failed(tree->err)) make_rows(tree, r);
}

static void restrain_link(Tree *tree, const Link *link)
{
    if (link->is_motor || link->section || link->is_between) return;
    if (is_in_steps(link->whole)) {
        check_keys(tree, link->written);
        return;
    }
    Restraint r = {.name = link->body->name};
    if (has_coordinate(link->type)) {
        r.name = coordinate_name(link);
        r.q = tree->positions[link->position].symbol;
        r.rate = tree->velocities[link->velocity].symbol;
        r.is_moved = tr_tree_is_moved(tree, link);
        r.force = link->type->quantity == QUANTITY_ANGLE ? QUANTITY_MOMENT : QUANTITY_FORCE;
    }
    restrain(tree, link->by, r, NULL);
}

// A joint that was cut has its coordinate where it leaves one free.
static void restrain_cut(Tree *tree, const Joint *joint)
{
    Restraint r = {.name = joint->coordinate.given ? joint->coordinate : joint->name};
    const Tie *own = NULL;
    for (uint32_t i = 0; i < tree->tie_count; i++)
        if (tree->ties[i].joint == joint) own = &tree->ties[i];
    if (own && !is_zero(own->rate)) {
        r.q = own->coordinate, r.rate = own->rate;
        r.force = own->turns == HOLD_ALL ? QUANTITY_FORCE : QUANTITY_MOMENT;
    }
    if (joint->armature.given && !has_failed(tree->err))
        tr_fail(tree->err, TR_INVALID, joint->armature.place,
                "'%.*s' closes a loop: an armature is for a joint of the tree, so write cut: true "
                "at another joint of the loop",
                TEXT(joint->name.text));
    restrain(tree, joint, r, own);
}

void tr_tree_restraints(Tree *tree)
{
    tree->restraints =
        tr_tree_room(tree, (size_t)tree->link_count + tree->cut_count, sizeof *tree->restraints);
    for (uint32_t i = 0; i < tree->link_count && !tree->graph->failed; i++)
        if (!has_failed(tree->err)) restrain_link(tree, &tree->links[i]);
    for (uint32_t i = 0; i < tree->cut_count && !tree->graph->failed; i++)
        if (!has_failed(tree->err)) restrain_cut(tree, tree->cuts[i]);
}

Expr tr_tree_between_stops(Tree *tree, Expr q, Expr value)
{
    for (uint32_t i = 0; i < tree->restraint_count; i++) {
        const Restraint *r = &tree->restraints[i];
        if (!r->has_limits || r->is_soft || r->is_moved || r->q.id != q.id) continue;
        const Expr most = tr_build(OP_MIN, value, r->limit[1], value);
        return tr_build(OP_MAX, most, r->limit[0], most);
    }
    return value;
}

// ---- latches -------------------------------------------------------------------------------

// A symbol that a run sets
static Expr mode_symbol(Tree *tree, const Restraint *r, const char *what)
{
    char name[300];
    snprintf(name, sizeof name, "joint.%.*s.%s", WHOLE(r->name.text), what);
    const Expr symbol = tr_input(tree->system, name, TR_MODE, 0, tree->err);
    tr_tree_port(tree, symbol, QUANTITY_MODE, r->name.text, what);
    return symbol;
}

static Expr restitution_of(Tree *tree, const Restraint *r, int k)
{
    const Value value = r->joint->limit_restitution;
    const Local names[] = {{"speed", neg(tree->system->rows[r->stop[k]].rate)}};
    const Expr e = tr_tree_formula_with(tree, value, names, 1);
    if (!has_failed(tree->err) && tr_tree_is_constant(e) &&
        !tr_tree_is(tree, RULE_SHARE, e, value.place,
                    "the limit_restitution of '%.*s' is between 0 and 1", WHOLE(r->name.text)))
        tr_fail(tree->err, TR_INVALID, value.place, "a limit_restitution is between 0 and 1");
    return e;
}

static void add_stop(Tree *tree, Restraint *r, int k)
{
    Latch latch = {.kind = LATCH_STOP,
                   .rows = {r->stop[k]},
                   .row_count = 1,
                   .is_normal = {true},
                   .gap = r->gap[k],
                   .opens = true,
                   .starts_open = true};
    latch.name = tree->system->rows[r->stop[k]].name;
    latch.restitution = restitution_of(tree, r, k);
    latch.closed = mode_symbol(tree, r, k ? "at_upper" : "at_lower");
    r->latch[k] = tr_tree_add_latch(tree, latch);
}

static void add_grip(Tree *tree, Restraint *r)
{
    Latch latch = {.kind = LATCH_GRIP,
                   .rows = {r->stick},
                   .row_count = 1,
                   .sticks = {true},
                   .slips = true,
                   .load = one(tree->graph)};
    latch.name = tree->system->rows[r->stick].name;
    latch.restitution = zero(tree->graph), latch.gap = zero(tree->graph);
    latch.slipping = mode_symbol(tree, r, "slipping");
    latch.heading[0] = mode_symbol(tree, r, "heading");
    r->latch[2] = tr_tree_add_latch(tree, latch);
}

void tr_tree_restraint_latches(Tree *tree)
{
    for (uint32_t i = 0; i < tree->restraint_count && !has_failed(tree->err); i++) {
        Restraint *r = &tree->restraints[i];
        for (int k = 0; k < 2; k++)
            if (r->stop[k] != NO_ROW && !has_failed(tree->err)) add_stop(tree, r, k);
        if (r->stick != NO_ROW && !has_failed(tree->err)) add_grip(tree, r);
    }
}

// ---- forces --------------------------------------------------------------------------------

static Expr not_below_zero(Expr x)
{
    const Expr none = zero(graph_of(x));
    return tr_build(OP_MAX, x, none, x);
}

static Expr constant_of(Tree *tree, const Restraint *r, Value value, const char *key)
{
    const Expr x = tr_tree_constant(tree, value, key);
    check_not_negative(tree, r, value, key, x);
    return x;
}

// Along q, of a stop at depth d > 0 beyond the limit:                                    (T342)
//   max(0, stiffness d + damping d')
static Expr soft_force(const Restraint *r, int k, Expr stiffness, Expr damping)
{
    const Expr depth = neg(r->gap[k]), none = zero(graph_of(depth));
    const Expr sinks = signed_by(-signs[k], r->rate);
    if (is_zero(damping)) return signed_by(signs[k], mul(stiffness, not_below_zero(depth)));
    const Expr push = not_below_zero(add(mul(stiffness, depth), mul(damping, sinks)));
    return signed_by(signs[k], choose(less(none, depth), push, none));
}

static void find_soft(Tree *tree, Restraint *r)
{
    const Joint *joint = r->joint;
    const Expr k = constant_of(tree, r, joint->limit_stiffness, "limit_stiffness"),
               d = constant_of(tree, r, joint->limit_damping, "limit_damping");
    if (has_failed(tree->err)) return;
    for (int side = 0; side < 2; side++) r->soft = add(r->soft, soft_force(r, side, k, d));
}

Expr tr_tree_restraint_energy(Tree *tree)
{
    Expr U = zero(tree->graph);
    for (uint32_t i = 0; i < tree->restraint_count; i++) {
        const Restraint *r = &tree->restraints[i];
        if (!r->is_soft) continue;
        const Expr half =
            mul(number(tree->graph, 0.5), tr_tree_formula(tree, r->joint->limit_stiffness));
        for (int k = 0; k < 2; k++) {
            const Expr depth = not_below_zero(neg(r->gap[k]));
            U = add(U, mul(half, square(depth)));
        }
    }
    return U;
}

static void refuse_reaction(Tree *tree, Value value, const char *key, Expr x)
{
    const Input *solved = has_failed(tree->err) ? NULL : tr_system_uses(tree->system, x, TR_SOLVED);
    if (solved)
        tr_fail(tree->err, TR_INVALID, value.place,
                "the %s of a joint is a formula of parameters and the state: '%s' is found with it",
                key, solved->name);
}

// The stiction, at least the friction
static Expr stiction_of(Tree *tree, const Restraint *r)
{
    const Value value = r->joint->stiction;
    if (!value.given) return r->friction;
    const Expr most = tr_tree_formula(tree, value);
    refuse_reaction(tree, value, "stiction", most);
    if (has_failed(tree->err)) return most;
    const Expr more = sub(most, r->friction);
    if (!tr_tree_is_constant(more)) return tr_build(OP_MAX, most, r->friction, most);
    if (!tr_tree_is(tree, RULE_NOT_NEGATIVE, more, value.place,
                    "the stiction of '%.*s' is at least its friction", WHOLE(r->name.text)))
        tr_fail(tree->err, TR_INVALID, value.place, "stiction is at least friction");
    return most;
}

static Expr sign_of(Expr x)
{
    Graph *g = graph_of(x);
    return choose(less(zero(g), x), one(g), choose(less(x, zero(g)), number(g, -1), zero(g)));
}

// It holds up to the stiction; what slips does so until its rate turns.                  (T343)
static void find_friction(Tree *tree, Restraint *r)
{
    const Value value = r->joint->friction;
    if (!value.given) return;
    r->friction = tr_tree_formula(tree, value);
    refuse_reaction(tree, value, "friction", r->friction);
    check_not_negative(tree, r, value, "friction", r->friction);
    const Expr stiction = has_failed(tree->err) ? r->friction : stiction_of(tree, r);
    if (has_failed(tree->err)) return;
    if (r->is_moved) r->slipping = neg(mul(r->friction, sign_of(r->rate)));
    if (r->latch[2] == NO_LATCH) return;
    Latch *latch = &tree->system->latches[r->latch[2]];
    latch->friction = latch->first = r->friction, latch->stiction = stiction;
    const Expr h = latch->heading[0];
    r->slipping = choose(latch->slipping, neg(mul(r->friction, h)), zero(tree->graph));
    tr_tree_alarm(tree, r->name, "'%.*s' begins to slip",
                  sub(stiction, e_abs(tree->system->rows[r->stick].symbol)), ALARM_SLIPS,
                  r->latch[2]);
    tr_tree_alarm(tree, r->name, "'%.*s' comes to rest", mul(h, r->rate), ALARM_STICKS,
                  r->latch[2]);
}

// A stop never pulls; and one that is left open touches where its gap closes. Steady motions do not
// know of that: they are told where they are beyond.                                       (T340)
static void watch_stop(Tree *tree, const Restraint *r, int k)
{
    static const char *const leaves[] = {"'%.*s' leaves its lower limit",
                                         "'%.*s' leaves its upper limit"};
    static const char *const reaches[] = {"'%.*s' reaches its lower limit",
                                          "'%.*s' reaches its upper limit"};
    static const char *const beyond[] = {"'%.*s' is beyond its lower limit",
                                         "'%.*s' is beyond its upper limit"};
    static const double far = 1e-6;
    if (r->latch[k] == NO_LATCH) return;
    const Row *row = &tree->system->rows[r->stop[k]];
    const Expr rate = row->rate;
    tr_tree_alarm(tree, r->name, leaves[k], row->symbol, ALARM_OPENS, r->latch[k]);
    tr_tree_alarm(tree, r->name, reaches[k], tr_build(OP_MAX, r->gap[k], rate, rate), ALARM_TOUCHES,
                  r->latch[k]);
    tr_tree_alarm(tree, r->name, beyond[k], add(r->gap[k], number(tree->graph, far)), ALARM_WARNS,
                  NO_LATCH);
}

static Expr reaction(const Tree *tree, uint32_t row)
{
    return row == NO_ROW ? zero(tree->graph) : tree->system->rows[row].symbol;
}

// The force of both stops along q, and that of friction, holding or slipping
static Expr stop_force(const Tree *tree, const Restraint *r)
{
    return add(r->soft, sub(reaction(tree, r->stop[0]), reaction(tree, r->stop[1])));
}

static Expr friction_force(const Tree *tree, const Restraint *r)
{
    return add(r->slipping, reaction(tree, r->stick));
}

static bool has_stop_force(const Restraint *r)
{
    return r->has_limits && (r->is_soft || r->stop[0] != NO_ROW);
}

static void name_force(Tree *tree, const Restraint *r, const char *part, Expr force)
{
    char name[300];
    tr_error why = {0};
    snprintf(name, sizeof name, "lambda.%.*s.%s", WHOLE(r->name.text), part);
    tr_system_name(tree->system, text_of(name), force, &why);
    tr_tree_refuse_name(tree, r->name, &why);
}

void tr_tree_restraint_laws(Tree *tree)
{
    for (uint32_t i = 0; i < tree->restraint_count && !has_failed(tree->err); i++) {
        Restraint *r = &tree->restraints[i];
        if (r->is_soft) find_soft(tree, r);
        find_friction(tree, r);
        for (int k = 0; k < 2 && !has_failed(tree->err); k++) watch_stop(tree, r, k);
        if (has_stop_force(r)) name_force(tree, r, "limit", stop_force(tree, r));
        if (r->joint->friction.given) name_force(tree, r, "friction", friction_force(tree, r));
    }
}

// Q += (dq'/dv)^T F, of what is no row
void tr_tree_restraint_forces(Tree *tree)
{
    for (uint32_t i = 0; i < tree->restraint_count && !has_failed(tree->err); i++) {
        const Restraint *r = &tree->restraints[i];
        const Expr force = add(r->soft, r->slipping);
        Expr rest;
        const Expr *slopes = is_zero(force) ? NULL : tr_tree_slopes(tree, r->rate, &rest);
        for (uint32_t k = 0; slopes && k < tree->velocity_count; k++)
            tree->velocities[k].passive = add(tree->velocities[k].passive, mul(slopes[k], force));
    }
}

static void add_column(Tree *tree, const Restraint *r, const char *part, Expr force)
{
    char name[300];
    const char *owner = tr_tree_text(tree, r->name.text);
    snprintf(name, sizeof name, "lambda.%s.%s", owner, part);
    tr_system_column(tree->system, name, name, force, port_of(r->force, owner, part), tree->err);
}

void tr_tree_restraint_columns(Tree *tree)
{
    for (uint32_t i = 0; i < tree->restraint_count && !has_failed(tree->err); i++) {
        const Restraint *r = &tree->restraints[i];
        if (has_stop_force(r)) add_column(tree, r, "limit", stop_force(tree, r));
        if (r->joint->friction.given) add_column(tree, r, "friction", friction_force(tree, r));
    }
}
