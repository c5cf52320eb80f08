// SPDX-License-Identifier: Apache-2.0
// What formulas know of a body or a frame by a name behind its own: its pose and motion (T5, T12),
// how it is turned, and where its origin goes (T250, T251).
#include "mech/meet.h"

#include <stdio.h>

// A place that a formula names
typedef struct NamedPlace {
    Text name;
    Anchor at;
    Pose pose; // in the world
} NamedPlace;

// The velocity of a place, or how it turns, in its own axes
static Vec velocity_of(Tree *tree, Anchor at, bool turning)
{
    const Carrier c = tr_own_carrier(tree, at.link);
    return apply_transposed(at.pose.R, turning ? c.v.W : velocity_at(&c, at.pose.p));
}

// ---- how it is turned ----------------------------------------------------------------------

// R = Rz(yaw) Ry(pitch) Rx(roll)                                                       (T250)
static Expr angle(Expr y, Expr x) { return tr_build(OP_ATAN2, y, x, zero(graph_of(x))); }

static Expr yaw_of(Tree *tree, const NamedPlace *place, tr_error *err)
{
    (void)tree, (void)err;
    return angle(mat_at(place->pose.R, 1, 0), mat_at(place->pose.R, 0, 0));
}

// asin would have no value where rounding makes its argument greater than 1.
static Expr pitch_of(Tree *tree, const NamedPlace *place, tr_error *err)
{
    (void)tree, (void)err;
    const Vec up = place->pose.R.row[2]; // the world's, in its axes
    return angle(neg(up.x), e_sqrt(add(square(up.y), square(up.z))));
}

static Expr roll_of(Tree *tree, const NamedPlace *place, tr_error *err)
{
    (void)tree, (void)err;
    return angle(mat_at(place->pose.R, 2, 1), mat_at(place->pose.R, 2, 2));
}

// ---- where it goes -------------------------------------------------------------------------

static Expr speed_of(Tree *tree, const NamedPlace *place, tr_error *err)
{
    (void)err;
    const Vec V = velocity_of(tree, place->at, false);
    return e_sqrt(dot(V, V));
}

// Where it goes over the ground: (V_x, V_y) of the world's axes, and their length
typedef struct Going {
    Expr x, y, speed;
} Going;

// That has no direction where it is zero: a run that meets it there says so.
static Going going(Tree *tree, const NamedPlace *place, const char *what, tr_error *err)
{
    const Vec V = apply(place->pose.R, velocity_of(tree, place->at, false));
    const Going out = {V.x, V.y, e_sqrt(add(square(V.x), square(V.y)))};
    if (is_zero(out.speed))
        tr_fail(err, TR_INVALID, (Place){0}, "'%.*s' never moves, as seen from above: it has no %s",
                TEXT(place->name), what);
    return out;
}

static void note_rest(Tree *tree, const NamedPlace *place, const char *what, Expr value, Expr speed)
{
    char words[200];
    snprintf(words, sizeof words, "'%.*s' stands still, as seen from above: it has no %s",
             TEXT(place->name), what);
    tr_tree_note_name(tree, (Place){0}, value, speed, words);
}

// heading = atan2(V_y / s, V_x / s),   s = sqrt(V_x^2 + V_y^2)                         (T251)
static Expr heading_of(Tree *tree, const NamedPlace *place, tr_error *err)
{
    static const char what[] = "heading";
    const Going v = going(tree, place, what, err);
    if (has_failed(err)) return v.speed;
    const Expr heading = angle(quotient(v.y, v.speed), quotient(v.x, v.speed));
    note_rest(tree, place, what, heading, v.speed);
    return heading;
}

// curvature = heading' / s = (V_x V_y' - V_y V_x') / s^3                               (T251)
static Expr curvature_of(Tree *tree, const NamedPlace *place, tr_error *err)
{
    static const char what[] = "curvature";
    const Going v = going(tree, place, what, err);
    const Input *velocity = tr_system_uses(tree->system, v.speed, TR_VELOCITY);
    if (velocity && !velocity->rate.id)
        tr_fail(err, TR_INVALID, (Place){0},
                "'%.*s.%s' takes accelerations, which only formulas of outputs know",
                TEXT(place->name), what);
    Expr ax, ay;
    if (has_failed(err) || !tr_tree_rate(tree, v.x, &ax, err) || !tr_tree_rate(tree, v.y, &ay, err))
        return v.speed;
    const Expr across = sub(mul(v.x, ay), mul(v.y, ax));
    const Expr curvature = quotient(across, mul(square(v.speed), v.speed));
    note_rest(tree, place, what, curvature, v.speed);
    return curvature;
}

// ---- names ---------------------------------------------------------------------------------

static const struct {
    const char *name;
    Expr (*make)(Tree *tree, const NamedPlace *place, tr_error *err);
} words[] = {{"yaw", yaw_of},     {"pitch", pitch_of},     {"roll", roll_of},
             {"speed", speed_of}, {"heading", heading_of}, {"curvature", curvature_of}};
enum { WORDS = sizeof words / sizeof *words };

static size_t word_called(Text what)
{
    size_t k = 0;
    while (k < WORDS && !text_is(what, words[k].name)) k++;
    return k;
}

static bool is_between(char c, char first, char last) { return c >= first && c <= last; }

// x y z
static bool is_place(Text what) { return what.length == 1 && is_between(what.at[0], 'x', 'z'); }

// R11 ... R33
static bool is_turn(Text what)
{
    return what.length == 3 && what.at[0] == 'R' && is_between(what.at[1], '1', '3') &&
           is_between(what.at[2], '1', '3');
}

// vx ... wz
static bool is_velocity(Text what)
{
    return what.length == 2 && is_between(what.at[0], 'v', 'w') && is_between(what.at[1], 'x', 'z');
}

// The place and what is asked of it: "frame.x"
static bool find_place(Tree *tree, Text name, NamedPlace *place, Text *what)
{
    size_t point = name.length;
    while (point && name.at[point - 1] != '.') point--;
    if (!point || tree->constants_only) return false;
    place->name = (Text){name.at, point - 1};
    *what = (Text){name.at + point, name.length - point};
    const bool is_frame = tree->frames && tr_tree_is_frame(tree, place->name);
    return is_frame || tr_tree_find(tree, place->name) != WORLD;
}

bool tr_is_body_word(Text what)
{
    return is_place(what) || is_turn(what) || is_velocity(what) || word_called(what) < WORDS;
}

bool tr_is_body_quantity(Tree *tree, Text name)
{
    NamedPlace place;
    Text what;
    return find_place(tree, name, &place, &what) && tr_is_body_word(what);
}

bool tr_body_quantity(Tree *tree, Text name, Expr *meaning, tr_error *err)
{
    NamedPlace place;
    Text what;
    if (!tr_is_body_quantity(tree, name) || !find_place(tree, name, &place, &what)) return false;
    place.at = tr_tree_anchor(tree, (Value){.text = place.name});
    place.pose = pose_product(tr_tree_world(tree, place.at.link), place.at.pose);
    if (is_place(what))
        *meaning = vec_at(place.pose.p, what.at[0] - 'x');
    else if (is_turn(what))
        *meaning = mat_at(place.pose.R, what.at[1] - '1', what.at[2] - '1');
    else if (is_velocity(what))
        *meaning = vec_at(velocity_of(tree, place.at, what.at[0] == 'w'), what.at[1] - 'x');
    else
        *meaning = words[word_called(what)].make(tree, &place, err);
    return !has_failed(err);
}

void tr_offer_body_words(Tree *tree, Suggestion *suggestion)
{
    NamedPlace place;
    Text what;
    if (!find_place(tree, suggestion->wanted, &place, &what)) return;
    for (size_t k = 0; k < WORDS; k++) {
        char name[200];
        snprintf(name, sizeof name, "%.*s.%s", WHOLE(place.name), words[k].name);
        tr_suggest(suggestion, text_of(tr_tree_text(tree, text_of(name))));
    }
}
