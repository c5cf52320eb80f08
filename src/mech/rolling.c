// SPDX-License-Identifier: Apache-2.0
// What rolls: the velocity of the point that touches, as seen from the ground or another body
// (T43), along the normal and the other two directions where it does not slip, is zero (T45, T300).
#include "expr/walk.h"
#include "mech/rim.h"

#define FLAT   1e-6  // of sin^2 of the angle between a wheel and the ground
#define NEARLY 0.067 // likewise: 15 degrees

static void check_radii(Tree *tree, const Contact *contact, const Wheel *wheel)
{
    const bool is_ball = wheel->is_ball;
    const Expr radius = wheel->radius, tube = wheel->tube;
    const char *what = is_ball ? "ball" : "wheel";
    const Text name = contact->name.text;
    const Place place = contact->radius.given ? contact->radius.place : contact->name.place;
    if (!tr_tree_is(tree, RULE_POSITIVE, radius, place, "the radius of '%.*s' is positive",
                    WHOLE(name)))
        tr_fail(tree->err, TR_INVALID, place, "the %s '%.*s' needs a positive radius", what,
                TEXT(name));
    else if (contact->tube.given && is_ball)
        tr_fail(tree->err, TR_INVALID, contact->tube.place, "a ball has no tube");
    else if (!tr_tree_is(tree, RULE_NOT_NEGATIVE, tube, contact->tube.place,
                         "the tube of '%.*s' is not negative", WHOLE(name)))
        tr_fail(tree->err, TR_INVALID, contact->tube.place,
                "the tube of a tyre has a radius that is not negative");
    else if (!tr_tree_is(tree, RULE_POSITIVE, sub(radius, tube), contact->tube.place,
                         "the tube of '%.*s' is thinner than its radius", WHOLE(name)))
        tr_fail(tree->err, TR_INVALID, contact->tube.place,
                "the tube of a tyre is thinner than the wheel's radius");
    else if (is_ball && contact->axis.given)
        tr_fail(tree->err, TR_INVALID, contact->axis.place, "a ball has no axle");
}

// In the axes of the carrier c: how far the contact has run forward from below the axle
static Expr rim_angle(Tree *tree, const Rim *rim)
{
    Graph *g = tree->graph;
    const Vec z = vec_unit(g, 2), down = minus(scale(dot(z, rim->a), rim->a), z);
    const Vec forward = cross(rim->a, z);
    return tr_build(OP_ATAN2, dot(rim->rim, forward), dot(rim->rim, down), zero(g));
}

// Three rows: the velocity V of the touching point along the normal, and along the other two
// directions where it does not slip                             (T45) [M 7.2; B 46, corrected]
// Across the axis of a roller nothing holds.                                             (T300)
static void roll(Tree *tree, const Contact *contact, const Rim *rim, Vec V, Vec V_middle,
                 Expr height, Expr slipping[3])
{
    Graph *g = tree->graph;
    const Value laws[] = {{{0}, {0}, false}, contact->longitudinal, contact->lateral};
    const int held = contact->roller.given ? 2 : 3;
    // Models in the plane need not say how high their wheels are.
    const bool rises = tr_system_uses(tree->system, height, TR_POSITION) != NULL;
    Slip slip = {.contact = contact, .ahead = dot(rim->direction[1], V_middle), .lean = zero(g)};
    if (!rim->wheel.is_ball) slip.lean = tr_build(OP_ASIN, rim->lean, rim->lean, rim->lean);
    for (int k = 0; k < 2; k++) slip.both[k] = dot(rim->direction[k + 1], V);
    slipping[2] = slip.both[1];
    for (int k = 0; k < held; k++) {
        const Expr rate = dot(rim->direction[k], V);
        slip.part = tr_contact_part(contact, k), slip.law = laws[k], slip.rate = rate;
        slip.sticks = k && tr_is_coulomb(laws[k]) && is_true(contact->stick);
        slip.row = tree->system->row_count;
        slipping[k] = k && tr_slips(laws[k]) ? rate : zero(g);
        if (k && tr_slips(laws[k])) tr_tree_slip(tree, &slip);
        if (!k || !tr_slips(laws[k]) || slip.sticks)
            tr_tree_row(tree, contact->name, tr_contact_part(contact, k), rate,
                        k == 0 && rises ? height : expr_at(g, 0), expr_at(g, 0), QUANTITY_FORCE);
    }
}

static void refuse_flat(Tree *tree, const Contact *contact)
{
    tr_fail(
        tree->err, TR_INVALID, contact->axis.given ? contact->axis.place : contact->name.place,
        "the axle of the wheel '%.*s' stands upright on what it rolls on: it lies flat, and has "
        "no point that touches",
        TEXT(contact->name.text));
}

// A wheel that lies flat has no lowest point.                                            (T44)
static void watch_lean(Tree *tree, const Contact *contact, Touch *touch, const Rim *rim)
{
    Graph *g = tree->graph;
    touch->angle = rim_angle(tree, rim);
    touch->upright = square(rim->size);
    const Expr margin = sub(touch->upright, number(g, FLAT));
    if (tr_tree_is_constant(margin)) {
        if (!tr_tree_is(tree, RULE_POSITIVE, margin, contact->name.place,
                        "the wheel '%.*s' does not lie flat", WHOLE(contact->name.text)))
            refuse_flat(tree, contact);
        return;
    }
    tr_tree_alarm(tree, contact->name, "the wheel '%.*s' lies flat", margin, ALARM_STOPS, NO_LATCH);
    tr_tree_alarm(tree, contact->name, "the wheel '%.*s' nearly lies flat",
                  sub(touch->upright, number(g, NEARLY)), ALARM_WARNS, NO_LATCH);
}

// Where the ground curves as the wheel does there is no one point that touches.           (T188)
static void watch_hollow(Tree *tree, const Contact *contact, bool is_ball)
{
    System *s = tree->system;
    if (tree->graph->failed) return;
    Touching *touching = &s->touchings[s->touching_count - 1];
    touching->row = tr_tree_find_row(tree, contact->name, tr_contact_part(contact, 0));
    if (touching->row == s->row_count && s->order == 1) touching->row = NO_TOUCHING_ROW;
    if (touching->row == s->row_count) {
        tr_fail(tree->err, TR_INVALID, contact->name.place,
                "'%.*s' cannot leave the surface that it is on, whatever moves: it needs no height",
                TEXT(contact->name.text));
        return;
    }
    tr_tree_alarm(tree, contact->name,
                  is_ball ? "the ground curves more than the ball '%.*s'"
                          : "the ground curves more than the wheel '%.*s'",
                  touching->margin, ALARM_HOLLOW, NO_LATCH);
    if (tree->graph->failed) return;
    s->alarms[s->alarm_count - 1].touching = s->touching_count - 1;
}

// On a plane: of the point below the wheel
static Expr gap_on_plane(const Floor *floor, const Carrier *c, const Rim *rim, Vec r)
{
    const Pose f = floor->carrier.pose;
    const Vec to = point_out(f, floor->to);
    return add(dot(column(f.R, 2), minus(c->pose.p, to)), dot(rim->n, r));
}

// On a height, with all that the system has to know of where it touches
static Expr gap_on_height(Tree *tree, const Contact *contact, const Floor *floor,
                          const Beneath *under, const Rim *rim, const Carrier *c, Vec middle,
                          Expr *margin)
{
    const Vec O = apply_transposed(under->axes, under->Q),
              P = plus(O, apply_transposed(under->axes, rim->r));
    const Vec D = minus(P, vec(floor->x, floor->y, floor->f));
    const Vec W = minus(c->v.W, apply(under->axes, floor->carrier.v.W));
    const Vec V = tr_velocity_on(&floor->carrier, c, middle);
    const Resting at = tr_rim_resting(contact, rim, under->axes,
                                      dot(tr_floor_normal(tree, floor), D), V, cross(W, rim->a));
    const Creeping moves = tr_creeping(floor, &at);
    Expr gap = zero(tree->graph);
    tr_touch_add(tree, contact, floor, O, P, &at, &moves, &gap);
    *margin = moves.margin;
    return gap;
}

// (1 - k B) (1 - tube B), as T187 has it for B = -1 / radius outside, 1 / radius inside
static Expr margin_on_sphere(const Floor *floor, const Rim *rim)
{
    const Expr unit = one(graph_of(rim->n.x)),
               tube = rim->wheel.is_ball ? rim->wheel.radius : rim->wheel.tube;
    const Expr B = quotient(floor->is_inside ? unit : neg(unit), floor->radius);
    const Expr ring = rim->wheel.is_ball
                          ? zero(graph_of(unit))
                          : quotient(sub(rim->wheel.radius, rim->wheel.tube), rim->size);
    return mul(sub(unit, mul(add(ring, tube), B)), sub(unit, mul(tube, B)));
}

// How far a wheel or ball is from touching; and how much flatter what it is on is
static Expr gap_of(Tree *tree, const Contact *contact, const Floor *floor, const Beneath *under,
                   const Rim *rim, const Carrier *c, Vec middle, Expr *margin)
{
    *margin = expr_at(tree->graph, 0);
    switch (floor->kind) {
    case SURFACE_SPHERE:
        *margin = margin_on_sphere(floor, rim);
        return sub(floor->is_inside ? add(rim->away, floor->radius) : sub(rim->away, floor->radius),
                   rim->wheel.is_ball ? rim->wheel.radius : rim->wheel.tube);
    case SURFACE_HEIGHT: return gap_on_height(tree, contact, floor, under, rim, c, middle, margin);
    default: return gap_on_plane(floor, c, rim, plus(middle, rim->r));
    }
}

// The rows where the ground below the wheel slopes another way, for the doctor           (T196)
static void tilt_ground(Tree *tree, const Contact *contact, const Floor *floor,
                        const Beneath *under, const Rim *flat, const Carrier *c, Vec middle)
{
    const uint32_t normal = tr_tree_find_row(tree, contact->name, tr_contact_part(contact, 0));
    if (normal == tree->system->row_count) return; // a model in the plane stays there
    const Floor tilted = tr_floor_tilted(tree, floor);
    const Rim rim = tr_rim_of(tree, &flat->wheel, &tilted, under, flat->a);
    const Vec V = tr_velocity_on(&floor->carrier, c, plus(middle, rim.r));
    for (int k = 0; k < 3; k++) tr_contact_uneven(tree, contact, k, dot(rim.direction[k], V));
}

static void check_fits(Tree *tree, const Contact *contact, const Floor *floor, Expr radius)
{
    if (!tr_tree_is(tree, RULE_POSITIVE, sub(floor->radius, radius), contact->radius.place,
                    "'%.*s' is smaller than the sphere that it is in", WHOLE(contact->name.text)))
        tr_fail(tree->err, TR_INVALID, contact->radius.place,
                "'%.*s' is larger than the sphere that it is in", TEXT(contact->name.text));
}

// Rollers turn freely about their axes, so there is nothing to say of what is across.       (T300)
static void take_rollers(Tree *tree, const Contact *contact, Wheel *wheel)
{
    if (!contact->roller.given || has_failed(tree->err)) return;
    if (wheel->is_ball)
        tr_fail(tree->err, TR_INVALID, contact->roller.place, "a ball has no rollers");
    if (contact->lateral.given)
        tr_fail(tree->err, TR_INVALID, contact->lateral.place,
                "'%.*s' has a 'roller', across whose axis it goes freely: it has no use for "
                "'lateral'; 'longitudinal' is the law along the axis",
                TEXT(contact->name.text));
    const Expr angle = tr_tree_constant(tree, contact->roller, "roller");
    if (has_failed(tree->err)) return;
    wheel->along = e_cos(angle), wheel->across = e_sin(angle);
}

static Wheel wheel_of(Tree *tree, const Contact *contact)
{
    Wheel wheel = {.is_ball = text_is(contact->shape.text, "ball")};
    if (!wheel.is_ball && !text_is(contact->shape.text, "wheel"))
        tr_fail(tree->err, TR_INVALID, contact->shape.place,
                "what rolls is a wheel or a ball, not a '%.*s'", TEXT(contact->shape.text));
    wheel.radius = tr_tree_formula(tree, contact->radius);
    wheel.tube = tr_tree_formula(tree, contact->tube);
    if (has_failed(tree->err)) return wheel;
    check_radii(tree, contact, &wheel);
    take_rollers(tree, contact, &wheel);
    tr_tree_check_laws(tree, contact);
    return wheel;
}

void tr_make_rolling(Tree *tree, const Contact *contact)
{
    Graph *g = tree->graph;
    const uint32_t i = tr_tree_touching(tree, contact->body, contact->name);
    const Wheel wheel = wheel_of(tree, contact);
    const bool is_ball = wheel.is_ball;
    if (has_failed(tree->err)) return;
    Vec a = vec_zero(g), middle = a;
    const Carrier c = is_ball ? tr_ball_carrier(tree, i, contact, &middle)
                              : tr_wheel_carrier(tree, i, contact, &a, &middle);
    if (has_failed(tree->err)) return;
    Floor floor = tr_floor(tree, contact);
    if (floor.kind == SURFACE_HEIGHT) tr_touch_symbols(tree, contact, &floor);
    if (floor.is_inside && !has_failed(tree->err)) check_fits(tree, contact, &floor, wheel.radius);
    if (has_failed(tree->err)) return;
    const Beneath under = tr_beneath(&floor, c.pose, middle);
    const Rim rim = tr_rim_of(tree, &wheel, &floor, &under, a);
    const Vec r = plus(middle, rim.r);
    Expr margin;
    const Expr height = gap_of(tree, contact, &floor, &under, &rim, &c, middle, &margin);
    const uint32_t before = tree->system->row_count;
    Expr slipping[3];
    InnerRolling inner;
    roll(tree, contact, &rim, tr_velocity_on(&floor.carrier, &c, r),
         tr_velocity_on(&floor.carrier, &c, middle), height, slipping);
    if (floor.link == WORLD && floor.kind != SURFACE_SPHERE)
        tilt_ground(tree, contact, &floor, &under, &rim, &c, middle);
    // Rows that open one by one are eliminated one by one.
    const bool is_whole = tree->system->row_count == before + 3 && !is_true(contact->stick);
    if (tr_rolling_inner(tree->inner, i, contact, &floor, &wheel, &inner)) {
        if (is_whole) // they are the velocity itself, in other axes
            tr_tree_inner_rows(tree->inner, inner.V, inner.drift, inner.rim.direction);
        else
            tr_roll_singly(tree->inner, contact, &inner, slipping);
    }
    Touch *touch = tr_contact_recorded(tree, contact, &c, r, rim.direction);
    touch->middle = point_out(c.pose, middle), touch->radius = wheel.radius;
    touch->gap = height, touch->margin = margin;
    touch->is_curved = floor.kind != SURFACE_PLANE;
    if (floor.kind == SURFACE_HEIGHT) watch_hollow(tree, contact, is_ball);
    const Anchor place = {floor.link, floor.link == WORLD ? tree->ground : pose_identity(g)};
    touch->floor = tr_floor_keep(tree, &floor, place);
    if (!is_ball) watch_lean(tree, contact, touch, &rim);
}

// ---- wheels at the start -------------------------------------------------------------------

// Whether expressions share a position
static bool share_position(const Tree *tree, Expr a, const Expr *b, size_t count)
{
    Reach one = {0}, other = {0};
    bool shares = false;
    if (tr_reach(tree->graph, &a, 1, &one) && tr_reach(tree->graph, b, count, &other))
        for (uint32_t i = 0, k = 0; i < one.count && !shares; i++) {
            const Input *input = tr_system_input(tree->system, expr_at(tree->graph, one.ids[i]));
            while (k < other.count && other.ids[k] < one.ids[i]) k++;
            shares = input && input->kind == TR_POSITION && k < other.count &&
                     other.ids[k] == one.ids[i];
        }
    tr_reach_free(&one);
    tr_reach_free(&other);
    return shares;
}

// Whether `initial`, or something else than contacts, has a say in what x is at the start
static bool is_spoken_for(Tree *tree, Expr x)
{
    const System *s = tree->system;
    const Output *initial = tr_system_output(s, text_of("initial.position"));
    const Contacts *contacts = &tree->model->fields.contacts;
    if (initial && share_position(tree, x, initial->values, (size_t)initial->rows)) return true;
    for (uint32_t i = 0; i < s->row_count; i++) {
        const Row *row = &s->rows[i];
        if (row->position.id && !row->is_speed &&
            !tr_kind_find(tr_kind_of(TYPE_CONTACTS), contacts, text_of(row->port.owner)) &&
            share_position(tree, x, &row->position, 1))
            return true;
    }
    return false;
}

// x with positions as they are guessed
static double value_at_guess(Tree *tree, Expr x)
{
    const System *s = tree->system;
    const Expr start = zero(tree->graph);
    const uint32_t touches = 2 * s->touching_count, count = tree->position_count + touches;
    Expr *from = tr_tree_room(tree, 2 * (size_t)count + 1, sizeof *from);
    if (!from) return 1;
    Expr *to = from + count;
    for (uint32_t k = 0; k < tree->position_count; k++) {
        const Input *q = tr_system_input(s, tree->positions[k].symbol);
        from[k] = q->symbol;
        to[k] = q->definition.id ? tr_replace(q->definition, &tree->t, &start, 1)
                                 : number(tree->graph, q->value);
    }
    for (uint32_t k = 0; k < touches; k++) {
        from[tree->position_count + k] = s->inputs[s->touchings[k / 2].input + k % 2].symbol;
        to[tree->position_count + k] = start;
    }
    return tr_tree_value(tree, tr_replace(x, from, to, count));
}

// A wheel that lies flat as it is guessed, and nothing says otherwise: the contact alone would
// stand it on its edge.
void tr_tree_check_wheels(Tree *tree)
{
    for (uint32_t i = 0; i < tree->touch_count && !has_failed(tree->err); i++) {
        const Touch *touch = &tree->touches[i];
        if (touch->upright.id && value_at_guess(tree, touch->upright) < FLAT &&
            !is_spoken_for(tree, touch->upright))
            refuse_flat(tree, touch->contact);
    }
}
