// SPDX-License-Identifier: Apache-2.0
// Points of bodies that bend. Each is a link without mass that hangs from the root of its body, so
// that whatever can hang from a link or touch it can do so there (T36, T37) [B 70, 71]:
//
//   p = X + sum U_k e_k - e_x (e^T g e) / 2,   R = exp(hat(sum Theta_k e_k))
//
// where e_x is the body's axis, along which it gets shorter if that is asked for.
#include "mech/tree.h"

#include <stdio.h>

Section *tr_section_new(Tree *tree, const Flex *flex)
{
    Section *at = tr_tree_room(tree, 1, sizeof *at);
    const size_t n = flex->count;
    if (!at) return NULL;
    at->flex = flex;
    at->X = at->drift = vec_zero(tree->graph);
    at->U = tr_zero_vectors(tree, n), at->Theta = tr_zero_vectors(tree, n);
    at->P = tr_zero_vectors(tree, n), at->W = tr_zero_vectors(tree, n);
    return tree->graph->failed ? NULL : at;
}

// ---- links ---------------------------------------------------------------------------------

static Text joined(Tree *tree, Text a, const char *between, Text b)
{
    const size_t length = a.length + strlen(between) + b.length;
    char *text = tr_tree_room(tree, length + 1, 1);
    if (!text) return text_of("");
    snprintf(text, length + 1, "%.*s%s%.*s", WHOLE(a), between, WHOLE(b));
    return (Text){text, length};
}

static const JointType section_type = {
    .name = "fixed",
    .positions = "none",
    .velocities = "none",
    .fields = "",
    .make = tr_section_make,
    .loop = "none",
};

void tr_section_add(Tree *tree, uint32_t i, Value name, Value place, const char *rest)
{
    const Text owner = tree->links[i].body->name.text;
    tr_tree_check_name(tree, name, "a point");
    Body *body = tr_tree_room(tree, 1, sizeof *body);
    Section *at = tr_section_new(tree, tree->links[i].flex);
    if (!body || !at || has_failed(tree->err)) return;
    tr_kind_defaults(tr_kind_of(TYPE_BODIES), body);
    body->name = (Value){joined(tree, owner, ".", name.text), name.place, true};
    body->parent = (Value){owner, name.place, true};
    body->joint.at = (Value){joined(tree, place.text, rest, text_of("")), place.place, true};
    tr_tree_add_link(tree, (Link){.body = body,
                                  .by = &body->joint,
                                  .parent = i,
                                  .motor = WORLD,
                                  .type = &section_type,
                                  .section = at});
}

const Body *tr_section_owner(const Bodies *bodies, Text name)
{
    size_t point = 0;
    while (point < name.length && name.at[point] != '.') point++;
    if (point == name.length) return NULL;
    const Body *body = tr_kind_find(tr_kind_of(TYPE_BODIES), bodies, (Text){name.at, point});
    const Text rest = {name.at + point + 1, name.length - point - 1};
    if (!body) return NULL;
    if (body->beam.name.given && text_is(rest, "tip")) return body;
    const Pairs *points = body->beam.name.given ? &body->beam.points : &body->modal.points;
    return tr_pairs_find(points, rest) ? body : NULL;
}

// ---- turning -------------------------------------------------------------------------------

// What a rotation vector of the square length x = theta^2 turns by (T37). Near 0 they are power
// series, which have no trouble there, and neither have their slopes; elsewhere closed forms, whose
// x stays away from 0 where it is not theirs.
typedef struct Turning {
    Expr s, c, u; // sin theta / theta, (1 - cos theta) / theta^2, (theta - sin theta) / theta^3
} Turning;

// 1/first! - x/(first + 2)! + x^2/(first + 4)! - ...: s c u for first = 1, 2, 3
static Expr turning_series(Expr x, int first)
{
    static const double factor[] = {0, 1, 0.5, 1.0 / 6};
    Graph *g = graph_of(x);
    Expr sum = one(g);
    for (int n = 8; n > 0; n--) { // x < 1: what follows is less than rounding
        const int last = 2 * n + first;
        sum = sub(one(g), mul(mul(number(g, 1.0 / (last * (last - 1))), x), sum));
    }
    return mul(number(g, factor[first]), sum);
}

static Turning turning_of(Expr x)
{
    Graph *g = graph_of(x);
    const Expr limit = one(g), near = less(x, limit);
    const Expr far = tr_build(OP_MAX, x, limit, x), theta = e_sqrt(far);
    const Expr s = quotient(e_sin(theta), theta), c = quotient(sub(one(g), e_cos(theta)), far);
    const Expr u = quotient(sub(one(g), s), far);
    return (Turning){choose(near, turning_series(x, 1), s), choose(near, turning_series(x, 2), c),
                     choose(near, turning_series(x, 3), u)};
}

// The one axis that a vector is along, or -1
static int single_axis(Vec a)
{
    for (int i = 0; i < 3; i++)
        if (is_zero(vec_at(a, (i + 1) % 3)) && is_zero(vec_at(a, (i + 2) % 3))) return i;
    return -1;
}

// exp of the rotation vector w, and how it turns, in its own axes, at unit rate of each mode:
//   R = 1 + s hat(w) + c hat(w)^2,   W_k = (1 - c hat(w) + u hat(w)^2) Theta_k      (T37) [B 71]
static void turn_by(Section *at, Vec w, Mat *R)
{
    Graph *g = graph_of(w.x);
    const uint32_t n = at->flex->count;
    const int axis = single_axis(w);
    if (axis >= 0) {
        *R = tr_rotation(vec_unit(g, axis), vec_at(w, axis));
        for (uint32_t k = 0; k < n; k++) at->W[k] = at->Theta[k];
        return;
    }
    const Turning by = turning_of(dot(w, w));
    const Mat once = hat(w), twice = mat_product(once, once);
    *R = mat_plus(mat_identity(g), mat_plus(mat_scale(by.s, once), mat_scale(by.c, twice)));
    for (uint32_t k = 0; k < n; k++) {
        const Vec a = cross(w, at->Theta[k]), b = cross(w, a);
        at->W[k] = plus(minus(at->Theta[k], scale(by.c, a)), scale(by.u, b));
    }
}

// ---- where it is, and how it moves ---------------------------------------------------------

// (p', w) = sum of (P_k, W_k) e_k'                                                      (T37)
Motion tr_section_motion(const Tree *tree, const Link *link)
{
    const Section *at = link->section;
    Motion sum = motion_zero(tree->graph);
    for (uint32_t k = 0; k < at->flex->count; k++)
        sum = motion_plus(
            sum, motion_scale(elastic_rate(tree, at->flex, k), motion(at->P[k], at->W[k])));
    return sum;
}

// sum_j g_jk e_j, or of their rates
static Expr shorter_along(const Tree *tree, const Section *at, uint32_t k, bool rates)
{
    Expr sum = zero(tree->graph);
    for (uint32_t j = 0; j < at->flex->count; j++)
        sum = add(sum, mul(at->g[j * at->flex->count + k],
                           rates ? elastic_rate(tree, at->flex, j) : elastic(tree, at->flex, j)));
    return sum;
}

Vec tr_section_shortening(const Tree *tree, const Section *at)
{
    Vec a = vec_zero(tree->graph);
    for (uint32_t k = 0; at->g && k < at->flex->count; k++)
        a.x = sub(a.x, mul(elastic_rate(tree, at->flex, k), shorter_along(tree, at, k, true)));
    return a;
}

// p, R (T36), and P_k = U_k - e_x sum g_jk e_j (T37)                                [B 70, 71]
void tr_section_make(Tree *tree, Link *link)
{
    Section *at = link->section;
    Vec w = vec_zero(tree->graph);
    link->X.p = at->X;
    for (uint32_t k = 0; k < at->flex->count; k++) {
        const Expr e = elastic(tree, at->flex, k);
        const Expr shorter = at->g ? shorter_along(tree, at, k, false) : zero(tree->graph);
        link->X.p = plus(link->X.p, scale(e, at->U[k]));
        link->X.p.x = sub(link->X.p.x, mul(number(tree->graph, 0.5), mul(e, shorter)));
        w = plus(w, scale(e, at->Theta[k]));
        at->P[k] = at->U[k];
        at->P[k].x = sub(at->P[k].x, shorter);
    }
    turn_by(at, w, &link->X.R);
}
