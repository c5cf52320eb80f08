// SPDX-License-Identifier: Apache-2.0
// Loops: a frame of one body is held at a frame of another, as far as its kind says. Cut joints are
// loops as well (T49-T52).
//
// The first body's point is s and its axes are R, as seen from the second body, whose frame is the
// loop's. Held are translations d . (s - to) with the rate d . s', and rotations e . phi:
//
//   all:      phi = 2 vee(E - E^T) / (1 + tr E),   E = R turn^T      = 2 n tan(angle/2)
//   across:   phi = 2 (b x a) / (1 + a . b),       a = R own         likewise, from the axis b to a
//
// Where they vanish their rate is W, how the first turns. They do not vanish the wrong way round.
// A universal joint keeps the angle between b and a alone.
#include "mech/meet.h"

#include <math.h>
#include <stdio.h>

// ---- axes ----------------------------------------------------------------------------------

static const char *const force_rows[] = {"x", "y", "z"}, *const moment_rows[] = {"mx", "my", "mz"};

// The frame's axes, but for the one next to the loop's axis, which is put along it, and one of the
// others, which are put across.
typedef struct Basis {
    int along;
    Vec e[3];
} Basis;

static Basis basis_along(Tree *tree, const Tie *tie, Vec b)
{
    Graph *g = tree->graph;
    const Expr parts[] = {b.x, b.y, b.z};
    const double next = tr_tree_decide(tree, RULE_NEXT_AXIS, parts, tie->name.place,
                                       "the axis of '%.*s' is nearest to another of x, y and z",
                                       WHOLE(tie->name.text));
    Basis basis = {.along = (int)fabs(next) - 1};
    const int i = basis.along, j = (i + 1) % 3, k = (i + 2) % 3;
    const Vec side = minus(vec_unit(g, j), scale(vec_at(b, j), b));
    const Expr size = dot(side, side);
    basis.e[i] = next < 0 ? flip(b) : b;
    basis.e[j] = is_one(size) ? side : scale(quotient(one(g), e_sqrt(size)), side);
    basis.e[k] = cross(basis.e[i], basis.e[j]);
    return basis;
}

static bool is_held(Hold hold, const Basis *basis, int k)
{
    return hold == HOLD_ALL || (hold == HOLD_ALONG && k == basis->along) ||
           (hold == HOLD_ACROSS && k != basis->along);
}

// Of a row: where all three are held the frame's own axes will do.
static Vec direction_of(Hold hold, const Basis *basis, int k)
{
    return hold == HOLD_ALL ? vec_unit(graph_of(basis->e[k].x), k) : basis->e[k];
}

// ---- rows ----------------------------------------------------------------------------------

// What of s' is not held: along the axis, or across it
static Vec slip_of(const Tie *tie, const Meeting *m)
{
    const Vec along = scale(dot(tie->axis, m->ds), tie->axis);
    if (tie->points == HOLD_ALL) return vec_zero(graph_of(along.x));
    return tie->points == HOLD_ACROSS ? along : minus(m->ds, along);
}

// (e.W)' while velocities stay the same: e.(alpha - W_on x W), W along the axis unless all is held
static Expr turn_drift(const Tie *tie, const Meeting *m, Vec e)
{
    const Expr alpha = dot(e, m->alpha);
    if (tie->turns == HOLD_ALL) return alpha;
    return sub(alpha, mul(dot(tie->axis, m->W), dot(cross(e, m->turning), tie->axis)));
}

// d.s' = 0,   d.(s - to) = 0                                          (T49) [S 3.5, corrected]
static void hold_points(Tree *tree, const Tie *tie, const Basis *basis, const Meeting *m)
{
    for (int k = 0; k < 3; k++) {
        const Vec e = direction_of(tie->points, basis, k);
        if (is_held(tie->points, basis, k))
            tr_tree_row(tree, tie->name, force_rows[k], dot(e, m->ds), dot(e, minus(m->s, tie->to)),
                        tr_meeting_drift(m, e, slip_of(tie, m)), QUANTITY_FORCE);
    }
}

// phi = 2 (b x a) / (1 + a.b), or 2 vee(E - E^T) / (1 + tr E)                          (T50)
static Vec turned_by(const Tie *tie, const Meeting *m)
{
    Graph *g = graph_of(m->s.x);
    if (tie->turns == HOLD_ACROSS) {
        const Vec a = apply(m->R, tie->own);
        return scale(quotient(number(g, 2), add(one(g), dot(a, tie->axis))), cross(tie->axis, a));
    }
    const Mat E = turn_product(m->R, transpose(tie->turn));
    const Expr trace = add(add(mat_at(E, 0, 0), mat_at(E, 1, 1)), mat_at(E, 2, 2));
    return scale(quotient(number(g, 2), add(one(g), trace)), vee(E));
}

// Across both axes, b and a = R own, with s the sine of the angle between them: n = (a x b) / s
static Vec across_both(const Tie *tie, const Meeting *m, Expr s)
{
    const Expr per = quotient(one(graph_of(s)), s);
    return scale(per, cross(apply(m->R, tie->own), tie->axis));
}

static Expr kept_sine(const Tie *tie)
{
    return e_sqrt(sub(one(graph_of(tie->cosine)), square(tie->cosine)));
}

// n.W = 0,   (a.b - cos) / s = 0: the angle stays. While velocities stay the same
//   (n.W)' = n.(alpha - W_on x W) + ((W x a) x b).W / s                                (T361)
static void hold_angle(Tree *tree, const Tie *tie, const Meeting *m)
{
    const Vec a = apply(m->R, tie->own), b = tie->axis;
    const Expr s = kept_sine(tie);
    const Vec n = across_both(tie, m, s), turns = minus(m->alpha, cross(m->turning, m->W));
    const Expr bends = quotient(dot(cross(cross(m->W, a), b), m->W), s);
    tr_tree_row(tree, tie->name, "moment", dot(n, m->W), quotient(sub(dot(a, b), tie->cosine), s),
                add(dot(n, turns), bends), QUANTITY_MOMENT);
}

// e.W = 0,   e.phi = 0                                                                 (T50)
static void hold_turns(Tree *tree, const Tie *tie, const Basis *basis, const Meeting *m)
{
    if (tie->turns == HOLD_NOTHING) return;
    if (tie->turns == HOLD_ANGLE) {
        hold_angle(tree, tie, m);
        return;
    }
    const Vec phi = turned_by(tie, m);
    for (int k = 0; k < 3; k++) {
        const Vec e = direction_of(tie->turns, basis, k);
        if (is_held(tie->turns, basis, k))
            tr_tree_row(tree, tie->name, moment_rows[k], dot(e, m->W), dot(e, phi),
                        turn_drift(tie, m, e), QUANTITY_MOMENT);
    }
}

// A loop does not count its turns: where half a turn is near, the spring is about to pull the other
// way, as that of a joint of a tree does not.
static void watch_spring(Tree *tree, const Tie *tie, Expr cosine)
{
    if (is_zero(tr_tree_formula(tree, tie->stiffness))) return;
    tr_tree_alarm(tree, tie->name,
                  "'%.*s' closes a loop and does not count its turns: its spring, which would be "
                  "wound further in a tree, passes half a turn",
                  add(cosine, number(tree->graph, 0.99)), ALARM_WARNS, NO_LATCH);
}

// How far it has turned about its axis, or slid along it: what it leaves free
//   x = atan2(f.(b x side), f.side),  x' = b.W   or   x = b.(s - to),  x' = b.s'           (T52)
static void find_coordinate(Tree *tree, Tie *tie, const Basis *basis, const Meeting *m)
{
    if (tie->turns == HOLD_ACROSS && tie->points == HOLD_ALL) {
        const Vec side = basis->e[(basis->along + 1) % 3], f = apply(m->R, tie->side);
        const Expr c = dot(f, side), s = dot(f, cross(tie->axis, side));
        const Expr rest = tr_tree_formula(tree, tie->rest), cr = e_cos(rest), sr = e_sin(rest);
        tie->coordinate = tr_build(OP_ATAN2, s, c, s);
        const Expr cosine = add(mul(c, cr), mul(s, sr));
        tie->stretch = // within half a turn of the spring's rest
            tr_build(OP_ATAN2, sub(mul(s, cr), mul(c, sr)), cosine, s);
        tie->rate = dot(tie->axis, m->W);
        watch_spring(tree, tie, cosine);
    } else if (tie->turns == HOLD_ALL && tie->points == HOLD_ACROSS) {
        tie->coordinate = dot(tie->axis, minus(m->s, tie->to));
        tie->stretch = sub(tie->coordinate, tr_tree_formula(tree, tie->rest));
        tie->rate = dot(tie->axis, m->ds);
    }
}

static void make_rows(Tree *tree, Tie *tie)
{
    Meeting m;
    tr_tree_meeting(tree, tie->body, tie->at, tie->on, &m);
    const Basis basis = basis_along(tree, tie, tie->axis);
    hold_points(tree, tie, &basis, &m);
    hold_turns(tree, tie, &basis, &m);
    find_coordinate(tree, tie, &basis, &m);
    Touch *touch = tr_tree_touch(tree, tie->body.link, &m.body, m.r, m.axes);
    touch->tie = tie;
    for (int k = 0; k < 3; k++)
        if (is_held(tie->points, &basis, k))
            tr_touch_part(touch, force_rows[k], direction_of(tie->points, &basis, k));
    for (int k = 0; k < 3; k++)
        if (is_held(tie->turns, &basis, k))
            tr_touch_moment(touch, moment_rows[k], direction_of(tie->turns, &basis, k));
    if (tie->turns == HOLD_ANGLE)
        tr_touch_moment(touch, "moment", across_both(tie, &m, kept_sine(tie)));
}

// (|d|' - length')' while velocities stay the same, with |d|' = length':
//   (d.a + s'.(s' - 2 d x W_on) - length'^2) / |d| - length''                          (T124)
static Expr distance_drift(Tree *tree, const Meeting *m, Vec d, Expr distance, Expr growth)
{
    const Vec turned = cross(d, m->turning), seen = minus(m->ds, plus(turned, turned));
    const Expr bent = sub(add(dot(m->ds, seen), dot(d, m->a)), square(growth));
    return sub(quotient(bent, distance), tr_tree_drift_of(tree, growth));
}

// |d| - length = 0 with d = s - to: the force is along the rod, positive when it pushes     (T51)
static void make_distance(Tree *tree, Tie *tie)
{
    Meeting m;
    const Loop *loop = tie->loop;
    if (!loop->length.given)
        tr_fail(tree->err, TR_INVALID, loop->name.place, "the rod '%.*s' needs a length",
                TEXT(loop->name.text));
    if (has_failed(tree->err)) return;
    tr_tree_meeting(tree, tie->body, tie->at, tie->on, &m);
    tree->constants_only = false; // a rod may grow
    const Expr length = tr_tree_formula(tree, loop->length);
    Expr growth;
    if (has_failed(tree->err)) return;
    tr_tree_check_time_only(tree, loop->length, length, "a length");
    tr_tree_check_finite(tree, loop->length, "length", length);
    tr_system_rates(tree->system, &length, 1, &growth, tree->err);
    if (!has_failed(tree->err) && tr_tree_is_constant(length) &&
        !tr_tree_is(tree, RULE_POSITIVE, length, loop->length.place,
                    "the length of the rod '%.*s' is positive", WHOLE(loop->name.text)))
        tr_fail(tree->err, TR_INVALID, loop->length.place,
                "the length of a rod is positive; use a pin to keep two points together");
    if (has_failed(tree->err)) return;
    const Vec d = minus(m.s, tie->to);
    const Expr distance = e_sqrt(dot(d, d));
    tr_tree_row(tree, loop->name, "distance", sub(quotient(dot(d, m.ds), distance), growth),
                sub(distance, length), distance_drift(tree, &m, d, distance, growth),
                QUANTITY_FORCE);
    Touch *touch = tr_tree_touch(tree, tie->body.link, &m.body, m.r, m.axes);
    touch->tie = tie;
    tr_touch_part(touch, "distance", scale(quotient(one(tree->graph), distance), d));
}

// ---- from the model ------------------------------------------------------------------------

typedef struct LoopKind {
    const char *name, *fields;
    Hold points, turns;
    void (*make)(Tree *tree, Tie *tie);
} LoopKind;

static const LoopKind kinds[] = {
#define LOOP_KIND(name, fields, points, turns, make) {#name, fields, points, turns, make},
#include "mech/contact.def"
};

static const LoopKind *kind_called(Text name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (text_is(name, kinds[i].name)) return &kinds[i];
    return NULL;
}

static const LoopKind *kind_of(Tree *tree, Value word)
{
    const LoopKind *kind = kind_called(word.text);
    if (kind) return kind;
    Suggestion nearest = {.wanted = word.text};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        tr_suggest(&nearest, text_of(kinds[i].name));
    tr_tree_refuse_kind(tree, word, &nearest);
    return NULL;
}

// Springs and dampers are finite constants.
static void check_spring(Tree *tree, const Tie *tie)
{
    const Value values[] = {tie->stiffness, tie->rest, tie->damping};
    static const char *const names[] = {"stiffness", "rest", "damping"};
    for (int i = 0; i < 3 && !has_failed(tree->err); i++)
        tr_tree_check_finite(tree, values[i], names[i], tr_tree_formula(tree, values[i]));
}

// What a loop and a cut joint have alike
static Tie *add_tie(Tree *tree, const LoopKind *kind, Value turn, Tie given)
{
    Tie *tie = &tree->ties[tree->tie_count++];
    *tie = given;
    tie->kind = kind->name, tie->points = kind->points, tie->turns = kind->turns;
    tie->turn = tr_tree_turned(tree, turn);
    tie->coordinate = tie->stretch = tie->rate = tie->torque = zero(tree->graph);
    tie->cosine = zero(tree->graph);
    check_spring(tree, tie);
    return tie;
}

// ---- loops of the model --------------------------------------------------------------------

// An axis in the axes of either body, where the kind has one
static void find_axes(Tree *tree, const Loop *loop, const LoopKind *kind, Tie *tie)
{
    Graph *g = tree->graph;
    tie->axis = tie->own = vec_unit(g, 2), tie->side = vec_unit(g, 0);
    if (!tr_is_listed(kind->fields, "axis")) return;
    if (!loop->axis.given) {
        tr_fail(tree->err, TR_INVALID, loop->name.place, "the %s loop '%.*s' needs an axis",
                kind->name, TEXT(loop->name.text));
        return;
    }
    if (kind->turns == HOLD_ANGLE && !loop->own_axis.given) {
        tr_fail(tree->err, TR_INVALID, loop->name.place,
                "the %s loop '%.*s' needs an own_axis: the axis of 'body' that stays across 'axis'",
                kind->name, TEXT(loop->name.text));
        return;
    }
    tie->axis = tr_tree_unit(tree, loop->axis, "axis");
    tie->own = tr_tree_unit(tree, loop->own_axis.given ? loop->own_axis : loop->axis, "own_axis");
    const Basis basis = basis_along(tree, tie, tie->own);
    tie->side = basis.e[(basis.along + 1) % 3];
}

static void make_loop(Tree *tree, const Loop *loop)
{
    Anchor body, on;
    const LoopKind *kind = kind_of(tree, loop->kind);
    if (!kind) return;
    tr_tree_check_fields(tree, TYPE_LOOPS, loop, kind->name, "loop", kind->fields);
    if (has_failed(tree->err) ||
        !tr_tree_ends(tree, loop->name, loop->body, loop->against, &body, &on))
        return;
    Tie *tie = add_tie(tree, kind, loop->turn,
                       (Tie){.loop = loop,
                             .name = loop->name,
                             .body = body,
                             .on = on,
                             .at = tr_tree_vector(tree, loop->at, "at"),
                             .to = tr_tree_vector(tree, loop->to, "to"),
                             .stiffness = loop->stiffness,
                             .rest = loop->rest,
                             .damping = loop->damping});
    if (!has_failed(tree->err)) find_axes(tree, loop, kind, tie);
    if (!has_failed(tree->err)) kind->make(tree, tie);
}

// loop.E.angle or loop.E.travel, for formulas
static void name_coordinate(Tree *tree, const Tie *tie)
{
    char name[300];
    if (is_zero(tie->rate)) return;
    snprintf(name, sizeof name, "loop.%.*s.%s", WHOLE(tie->name.text),
             tie->turns == HOLD_ALL ? "travel" : "angle");
    tr_system_name(tree->system, text_of(name), tie->coordinate, tree->err);
}

// ---- joints that were cut ------------------------------------------------------------------

// That of a hinge or a slider; z of a plane; the two of a universal joint
static void find_cut_axes(Tree *tree, const Joint *joint, const JointType *type, Tie *tie)
{
    tie->axis = has_axis(type) ? tr_tree_unit(tree, joint->axis, "axis") : column(tie->turn, 2);
    const bool has_second = tr_is_listed(type->fields, "second");
    const Vec own = has_second ? tr_tree_unit(tree, joint->second, "second axis") : tie->axis;
    if (has_failed(tree->err)) return;
    const Basis basis = basis_along(tree, tie, tie->axis);
    tie->own = turned_back(tie->turn, own);
    if (has_second) tie->cosine = dot(tie->axis, own);
    tie->side = turned_back(tie->turn, basis.e[(basis.along + 1) % 3]);
}

// What must be a joint of the tree cannot be cut.
static void check_cut(Tree *tree, const Joint *joint, const JointType *type)
{
    tr_joint_check(tree, joint, type, joint->name.text);
    if (strcmp(type->loop, "never") == 0)
        tr_fail(tree->err, TR_INVALID, joint->name.place,
                "the %s joint '%.*s' cannot be cut: another joint of its loop must be", type->name,
                TEXT(joint->name.text));
    else if (is_true(joint->base))
        tr_fail(tree->err, TR_INVALID, joint->base.place,
                "'%.*s' closes a loop, so it is no base: write cut: true at another joint of the "
                "loop",
                TEXT(joint->name.text));
}

// A joint that holds nothing closes no loop: forces that stand on it would be lost.
static void check_loose(Tree *tree, const Joint *joint, const JointType *type)
{
    const Value *const fields[] = {&joint->stiffness, &joint->damping, &joint->potential,
                                   &joint->dissipation};
    static const char *const names[] = {"stiffness", "damping", "potential", "dissipation"};
    for (int i = 0; i < 4; i++)
        if (fields[i]->given)
            tr_fail(tree->err, TR_INVALID, fields[i]->place,
                    "the %s joint '%.*s' closes a loop and holds nothing: it has no use for '%s', "
                    "which may stand on another joint",
                    type->name, TEXT(joint->name.text), names[i]);
}

static void make_cut(Tree *tree, const Joint *joint)
{
    const JointType *type = tr_joint_type(joint->type, tree->err);
    if (!type) return;
    check_cut(tree, joint, type);
    const LoopKind *kind = kind_called(text_of(type->loop));
    if (!kind) check_loose(tree, joint, type); // a free joint holds nothing
    if (!kind || has_failed(tree->err)) return;
    Tie *tie = add_tie(tree, kind, joint->turn,
                       (Tie){.joint = joint,
                             .name = joint->name,
                             .body = tr_tree_anchor(tree, joint->body),
                             .on = tr_tree_anchor(tree, joint->parent),
                             .at = tr_tree_vector(tree, joint->to, "to"),
                             .to = tr_tree_vector(tree, joint->at, "at"),
                             .stiffness = joint->stiffness,
                             .rest = joint->rest,
                             .damping = joint->damping});
    if (!has_failed(tree->err)) find_cut_axes(tree, joint, type, tie);
    if (!has_failed(tree->err)) kind->make(tree, tie);
}

static const char *cut_name(const Tie *tie, const char *before, const char *behind, char name[300])
{
    snprintf(name, 300, "%s%.*s%s", before, WHOLE(tr_joint_name(tie->joint)), behind);
    return name;
}

// Its coordinate and the rate of that keep their names, for formulas and results.
static void name_cut(Tree *tree, const Tie *tie)
{
    char name[300];
    if (is_zero(tie->rate)) return;
    tr_error why = {0};
    tr_system_name(tree->system, text_of(cut_name(tie, "", "", name)), tie->coordinate, &why);
    tr_system_name(tree->system, text_of(cut_name(tie, "", "_rate", name)), tie->rate, &why);
    tr_tree_refuse_name(tree, tie->joint->name, &why);
}

static void add_cut_columns(Tree *tree, const Tie *tie)
{
    System *s = tree->system;
    const Quantity quantity = tie->turns == HOLD_ALL ? QUANTITY_LENGTH : QUANTITY_ANGLE,
                   rate = tr_quantity_rate(quantity);
    const char *owner = tr_tree_text(tree, tr_joint_name(tie->joint));
    char name[300], *label = name + strlen("outputs.");
    cut_name(tie, "outputs.", "", name);
    tr_system_column(s, name, label, tie->coordinate, port_of(quantity, owner, ""), tree->err);
    cut_name(tie, "outputs.", "_rate", name);
    tr_system_column(s, name, label, tie->rate, port_of(rate, owner, ""), tree->err);
    cut_name(tie, "tau.", "", name);
    if (tie->role)
        tr_system_column(s, name, name, tie->torque, port_of(tr_motor_quantity(rate), owner, ""),
                         tree->err);
}

void tr_tree_cut_columns(Tree *tree)
{
    for (uint32_t i = 0; i < tree->tie_count && !has_failed(tree->err); i++) {
        const Tie *tie = &tree->ties[i];
        if (tie->joint && !is_zero(tie->rate)) add_cut_columns(tree, tie);
    }
}

// ---- all of them ---------------------------------------------------------------------------

void tr_tree_loops(Tree *tree)
{
    const Loops *loops = &tree->model->fields.loops;
    for (uint32_t i = 0; i < loops->count + tree->cut_count && !has_failed(tree->err); i++) {
        const uint32_t before = tree->tie_count;
        tree->constants_only = true;
        if (i < loops->count)
            make_loop(tree, &loops->at[i]);
        else
            make_cut(tree, tree->cuts[i - loops->count]);
        tree->constants_only = false;
        if (tree->tie_count > before && !has_failed(tree->err))
            (i < loops->count ? name_coordinate : name_cut)(tree, &tree->ties[before]);
    }
}
