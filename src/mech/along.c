// SPDX-License-Identifier: Apache-2.0
// Links along their hinges (T117). The equations of motion do not depend on the axes and the
// origins that links are described by, but their length does. So there is one more forest with
// the same motions, where the axes of links are turned by constants K and their origins are moved
// to o:
//
//   X' = (K_p, o_p)^-1 X (K, o),   S' = Ad S,   J' = Ad^T J Ad
//
// A link's axes have its own hinge among them and the common perpendicular x of that and the next
// hinge; its origin is the foot of that perpendicular. Then a joint is two screws, one along x with
// constants and one along the hinge:
//
//   X' = T_x(e) R_x(alpha) T_z(b + l) R_z(q + theta)                                  (T118)
//
// Nothing here is decided by values of parameters: where an axis depends on them, it stays.
#include "mech/tree.h"

#include <float.h>
#include <math.h>

#define SLOPING 0.04 // of sin^2 of the angle of two hinges: feet of flatter ones are far away

// What becomes of a link's axes
typedef struct Choice {
    Mat K;
    Vec o;      // in its own axes
    int hinge;  // which of the new axes its hinge is; -1: none, or it stays as it is
    Expr along; // how far its origin is from `place`, along the hinge
    bool is_placed;
    Vec place; // where the joint stands in the parent's new axes, chosen with these
} Choice;

typedef struct Choosing {
    Tree *tree;
    AlongBases bases;
    // By link
    Choice *at;
    uint32_t *below; // how many hang from it
    uint32_t *child; // the one that most hang from, of those with an axis; WORLD if there is none
} Choosing;

// ---- numbers -------------------------------------------------------------------------------

typedef struct Number3 {
    double at[3];
} Number3;

static Number3 numbers_of(Vec a)
{
    return (Number3){{value_of(a.x), value_of(a.y), value_of(a.z)}};
}

static Vec vec_of(Graph *g, Number3 a)
{
    return snapped_vec(vec(number(g, a.at[0]), number(g, a.at[1]), number(g, a.at[2])));
}

static Mat mat_of(Graph *g, const Number3 column[3])
{
    return transpose((Mat){{vec_of(g, column[0]), vec_of(g, column[1]), vec_of(g, column[2])}});
}

static double inner_product(Number3 a, Number3 b)
{
    return a.at[0] * b.at[0] + a.at[1] * b.at[1] + a.at[2] * b.at[2];
}

static Number3 cross_product(Number3 a, Number3 b)
{
    return (Number3){{a.at[1] * b.at[2] - a.at[2] * b.at[1], a.at[2] * b.at[0] - a.at[0] * b.at[2],
                      a.at[0] * b.at[1] - a.at[1] * b.at[0]}};
}

static Number3 times(double s, Number3 a)
{
    return (Number3){{s * a.at[0], s * a.at[1], s * a.at[2]}};
}

// Across a unit vector, of length 1; zero where nothing but rounding is across it
static Number3 unit_across(Number3 a, Number3 unit)
{
    const double along = inner_product(a, unit), size = sqrt(inner_product(a, a));
    Number3 rest;
    for (int i = 0; i < 3; i++) rest.at[i] = a.at[i] - along * unit.at[i];
    const double length = sqrt(inner_product(rest, rest));
    return length > ROUNDING * size ? times(1 / length, rest) : (Number3){{0}};
}

static int largest(Number3 a, int but)
{
    int best = but == 0;
    for (int i = 0; i < 3; i++)
        if (i != but && fabs(a.at[i]) > fabs(a.at[best])) best = i;
    return best;
}

static bool is_mat_number(Mat a)
{
    return are_numbers(a.row[0]) && are_numbers(a.row[1]) && are_numbers(a.row[2]);
}

// Less than rounding of a size is nothing: of numbers
static Expr swept(Expr x, double size)
{
    return is_number(x) && fabs(value_of(x)) < 4 * DBL_EPSILON * size ? zero(graph_of(x)) : x;
}

static Vec swept_vec(Vec a, double size)
{
    return vec(swept(a.x, size), swept(a.y, size), swept(a.z, size));
}

static double size_of(Vec a) { return are_numbers(a) ? sqrt(value_of(dot(a, a))) : 0; }

// ---- axes ----------------------------------------------------------------------------------

// A rotation with z among its columns, and x if that is not zero: as near to 1 as signs and order
// make it. `hinge` becomes the place of z.
static Mat axes_with(Graph *g, Number3 z, Number3 x, int *hinge)
{
    const int k = *hinge = largest(z, -1);
    Number3 column[3];
    column[k] = times(z.at[k] < 0 ? -1 : 1, z);
    if (inner_product(x, x) == 0) { // the nearest of the others
        const int j = (k + 1) % 3;
        x.at[j] = 1;
        x = unit_across(x, z);
    }
    const int j = largest(x, k), i = 3 - j - k;
    column[j] = times(x.at[j] < 0 ? -1 : 1, x);
    column[i] = cross_product(column[(i + 1) % 3], column[(i + 2) % 3]);
    return mat_of(g, column);
}

static bool is_movable(const Link *link)
{
    return !link->flex && !link->section && !link->has_added_mass && !link->carried;
}

static bool is_hinged(const Link *link)
{
    return is_movable(link) && has_coordinate(link->type) && are_numbers(own_axis(link)) &&
           are_numbers(link->axis);
}

// ---- which axes ----------------------------------------------------------------------------

// Where the joint of a child stands, d from the origin or somewhere on the link's own hinge: only
// along x, if there is one, and across axis k of the link
static void place_child(Choosing *c, uint32_t i, uint32_t child, Vec d, Number3 x)
{
    const Choice *own = &c->at[i];
    const int k = own->hinge;
    Vec place = apply_transposed(own->K, d);
    *vec_place(&place, k) = zero(c->tree->graph);
    if (inner_product(x, x) > 0) *vec_place(&place, 3 - k - largest(x, k)) = zero(c->tree->graph);
    c->at[child].place = place;
    c->at[child].is_placed = true;
}

static Number3 numbers_across(Vec d, Number3 z)
{
    return are_numbers(d) ? unit_across(numbers_of(d), z) : (Number3){{0}};
}

// A base that is free has its child's hinge among its axes, and stays where it is.
static void choose_base(Choosing *c, uint32_t i)
{
    const uint32_t child = c->child[i];
    if (child == WORLD) return;
    const Link *hinge = &c->tree->links[child];
    const Number3 z = numbers_of(hinge->axis), x = numbers_across(hinge->at, z);
    c->at[i].K = axes_with(c->tree->graph, z, x, &c->at[i].hinge);
    c->at[child].along = dot(hinge->axis, hinge->at);
    place_child(c, i, child, hinge->at, x);
}

// The link's own hinge z through its joint and that of its child, a, through d from there; x is
// across both. The feet on them, where d = l z + e x + b a, unless they are too flat:
//   l = (z.d - (z.a) (a.d)) / |z x a|^2,   b = (a.d - (z.a) (z.d)) / |z x a|^2
static Expr choose_between(Choosing *c, uint32_t i, Vec own, uint32_t child)
{
    Graph *g = c->tree->graph;
    const Vec axis = c->tree->links[child].axis;
    const Vec d = minus(c->tree->links[child].at, c->tree->links[i].to);
    const Number3 z = numbers_of(own), a = numbers_of(axis);
    const bool is_parallel = is_along(own, axis);
    const Number3 x = is_parallel ? numbers_across(d, z) : unit_across(cross_product(z, a), z);
    c->at[i].K = axes_with(g, z, x, &c->at[i].hinge);
    if (is_parallel) {
        place_child(c, i, child, d, x);
        return dot(own, d);
    }
    const Number3 n = cross_product(z, a);
    const double square = inner_product(n, n);
    if (square < SLOPING) return zero(g);
    const Expr cosine = number(g, inner_product(z, a)), inverse = number(g, 1 / square);
    const Expr zd = dot(own, d), ad = dot(axis, d);
    c->at[child].along = mul(inverse, sub(ad, mul(cosine, zd)));
    place_child(c, i, child, d, x);
    return mul(inverse, sub(zd, mul(cosine, ad)));
}

// At the end of a chain x goes through the centre of mass, and so does the origin's height.
static Expr choose_tip(Choosing *c, uint32_t i, Vec own)
{
    Graph *g = c->tree->graph;
    const Link *link = &c->tree->links[i];
    const Rigid *J = &link->inertia;
    const bool is_known = is_number(J->m) && !is_zero(J->m) && are_numbers(J->mc);
    const Vec d = is_known ? minus(scale(quotient(one(g), J->m), J->mc), link->to) : vec_zero(g);
    const Number3 z = numbers_of(own);
    c->at[i].K = axes_with(g, z, numbers_across(d, z), &c->at[i].hinge);
    return are_numbers(d) ? dot(own, d) : zero(g);
}

static void choose_hinge(Choosing *c, uint32_t i)
{
    const Link *link = &c->tree->links[i];
    const Vec own = own_axis(link);
    const uint32_t child = c->child[i];
    const Expr along = child == WORLD ? choose_tip(c, i, own) : choose_between(c, i, own, child);
    c->at[i].o = plus(link->to, scale(along, own));
    c->at[i].along = add(c->at[i].along, along);
}

static Choice still(Graph *g)
{
    return (Choice){.K = mat_identity(g), .o = vec_zero(g), .hinge = -1, .along = zero(g)};
}

static Choice above(const Choosing *c, const Link *link)
{
    return link->parent == WORLD ? still(c->tree->graph) : c->at[link->parent];
}

// A body that is fixed has the frame of what it is fixed to.
static void choose_fixed(Choosing *c, uint32_t i)
{
    const Link *link = &c->tree->links[i];
    const Choice parent = above(c, link);
    c->at[i].K = turn_product(transpose(link->turn), parent.K);
    c->at[i].o = plus(link->to, apply_transposed(link->turn, minus(parent.o, link->at)));
}

static bool is_welded(const Link *link)
{
    return is_movable(link) && is_fixed(link->type) && is_mat_number(link->turn) &&
           link->parent != WORLD;
}

static bool is_free(const Tree *tree, const Link *link)
{
    for (uint32_t k = 0; k < link->velocity_count; k++)
        if (tree->velocities[link->velocity + k].drive == DRIVE_MOTION) return false;
    return is_movable(link) && link->velocity_count == MAX_DOF;
}

static void choose_all(Choosing *c)
{
    const Tree *tree = c->tree;
    for (uint32_t i = 0; i < tree->link_count; i++)
        c->at[i] = still(tree->graph), c->child[i] = WORLD;
    for (uint32_t i = tree->link_count; i-- > 0;) {
        const uint32_t parent = tree->links[i].parent;
        if (parent == WORLD) continue;
        uint32_t *best = &c->child[parent];
        c->below[parent] += 1 + c->below[i];
        if (is_hinged(&tree->links[i]) && (*best == WORLD || c->below[i] >= c->below[*best]))
            *best = i;
    }
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        if (is_welded(link))
            choose_fixed(c, i);
        else if (is_hinged(link))
            choose_hinge(c, i);
        else if (c->bases.turn && is_free(tree, link))
            choose_base(c, i);
    }
}

// ---- the links -----------------------------------------------------------------------------

// Products of inertia alone: a moment may be small, and all that there is about a hinge.
static Sym swept_products(Sym s, double size)
{
    s.xy = swept(s.xy, size), s.xz = swept(s.xz, size), s.yz = swept(s.yz, size);
    return s;
}

static void move_inertia(Link *link, Mat K, Vec o)
{
    const Rigid J = link->inertia;
    const Vec b = flip(apply_transposed(K, o));
    const double arm = size_of(o), mass = is_number(J.m) ? value_of(J.m) : 0;
    const double first = size_of(J.mc) + mass * arm;
    const double second = are_numbers(vec(J.I.xx, J.I.yy, J.I.zz))
                              ? value_of(add(add(J.I.xx, J.I.yy), J.I.zz)) + first * arm
                              : 0;
    link->inertia = rigid_out((Pose){transpose(K), b}, J);
    link->inertia.mc = swept_vec(link->inertia.mc, first);
    link->inertia.I = swept_products(link->inertia.I, second);
}

static void move_applied(Link *link, Mat K, Vec o)
{
    const Wrench f = link->applied;
    const Vec N = minus(f.N, cross(o, f.F));
    link->applied = wrench(apply_transposed(K, f.F), apply_transposed(K, N));
}

static bool is_moved(const Choice *own) { return !is_identity(own->K) || !is_vec_zero(own->o); }

static void move(Link *link, const Choice *own)
{
    if (!is_moved(own)) return;
    move_inertia(link, own->K, own->o);
    move_applied(link, own->K, own->o);
    link->spin = turn_product(transpose(own->K), link->spin);
    link->origin = apply_transposed(own->K, minus(link->origin, own->o));
}

static bool is_signed_unit(Expr x) { return is_zero(x) || is_value(square(x), 1); }

// Only changes the names and signs of axes: that costs nothing.
static bool is_renaming(Mat C)
{
    bool all = true;
    for (int i = 0; i < 9; i++) all = all && is_signed_unit(mat_at(C, i / 3, i % 3));
    return all;
}

// Of a unit vector: what is 0, 1 or -1 but for rounding
static Number3 meant(Graph *g, Number3 a) { return numbers_of(vec_of(g, a)); }

// A rotation that takes axis k to u; about another axis, if there is one: then it has two numbers
static Mat tilt(Graph *g, int k, Number3 unit)
{
    Number3 e = {{0}}, at[3];
    e.at[k] = 1;
    const Number3 u = meant(g, unit);
    const Number3 across = cross_product(e, u);
    Number3 side = u.at[k] == 0 ? across : meant(g, unit_across(across, u));
    if (inner_product(side, side) == 0) side.at[(k + 1) % 3] = 1; // it is axis k, either way
    const int place = largest(side, k), left = 3 - k - place;
    at[k] = u, at[place] = times(side.at[place] < 0 ? -1 : 1, side);
    at[left] = cross_product(at[(left + 1) % 3], at[(left + 2) % 3]);
    return mat_of(g, at);
}

// A constant rotation C as A R_k(theta)
static Mat split_turn(Mat C, int k, Expr *theta)
{
    Graph *g = graph_of(C.row[0].x);
    *theta = zero(g);
    if (!is_mat_number(C) || is_renaming(C)) return C;
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const Mat A = tilt(g, k, numbers_of(column(C, k)));
    const Mat Z = turn_product(transpose(A), C);
    *theta = tr_build(OP_ATAN2, mat_at(Z, j, i), mat_at(Z, i, i), *theta);
    return A;
}

// About an axis of the link by an angle, and by theta about axis k
static Mat hinge_rotation(Vec own, Expr angle, int k, Expr theta)
{
    const Mat first = snapped_mat(tr_rotation(vec_unit(graph_of(angle), k), theta));
    if (is_renaming(first)) return mat_product(first, tr_rotation(own, angle));
    return tr_rotation(own, add(angle, mul(vec_at(own, k), theta)));
}

// Where the joint stands, in the parent's new axes
static Vec place_of(const Link *link, const Choice *own, const Choice *parent)
{
    if (own->is_placed) return own->place;
    if (!is_moved(parent)) return link->at;
    const Vec place = apply_transposed(parent->K, minus(link->at, parent->o));
    return swept_vec(place, size_of(link->at) + size_of(parent->o));
}

// How far a joint goes along its axis as its coordinate grows by 1
static Expr pitch_of(Tree *tree, const Link *link)
{
    if (is_revolute(link)) return zero(tree->graph);
    if (link->type->quantity != QUANTITY_ANGLE) return one(tree->graph);
    return tr_tree_formula(tree, link->by->pitch);
}

// X' = (A, place) (R_k(q + theta), along)                                              (T118)
static void move_hinge(Tree *tree, const Choosing *c, uint32_t i)
{
    Graph *g = tree->graph;
    Link *link = &tree->links[i];
    const Choice *own = &c->at[i], parent = above(c, link);
    const Expr q = tree->positions[link->position].symbol;
    const Vec axis = turned_back(own->K, own_axis(link));
    const Mat C = turn_product(turn_product(transpose(parent.K), link->turn), own->K);
    const bool turns = link->type->quantity == QUANTITY_ANGLE;
    const Expr pitch = pitch_of(c->tree, link);
    Expr theta = zero(g);
    link->first =
        (Pose){turns ? split_turn(C, own->hinge, &theta) : C, place_of(link, own, &parent)};
    link->second = (Pose){turns ? hinge_rotation(axis, q, own->hinge, theta) : mat_identity(g),
                          scale(add(own->along, mul(pitch, q)), axis)};
    link->X = pose_product(link->first, link->second);
    link->split = true;
    tree->velocities[link->velocity].S = motion(scale(pitch, axis), turns ? axis : vec_zero(g));
}

// The frame of a carried link does not turn: it has the axes of what carries it. Of one on the
// world nothing moves but what is about its hinge.
static void move_carried(Tree *tree, Link *link, const Choice *parent)
{
    Graph *g = tree->graph;
    const Vec own = own_axis(link), axis = turned_back(parent->K, link->axis);
    const Expr J = dot(own, sym_apply(link->inertia.I, own));
    const Mat K = turn_product(transpose(link->turn), parent->K);
    move_applied(link, K, vec_zero(g));
    link->inertia = (Rigid){zero(g), vec_zero(g), sym_scale(J, outer(axis))};
    link->X = (Pose){mat_identity(g), place_of(link, &(Choice){.is_placed = false}, parent)};
    tree->velocities[link->velocity].S.W = axis;
}

// Its mass and what is applied to it belong to the body that it is fixed to.
static void weld(Tree *tree, Link *link)
{
    Graph *g = tree->graph;
    Link *parent = &tree->links[link->parent];
    link->X = pose_identity(g);
    parent->inertia = rigid_plus(parent->inertia, link->inertia);
    parent->applied = wrench_plus(parent->applied, link->applied);
    link->inertia = (Rigid){zero(g), vec_zero(g), sym_zero(g)};
    link->applied = wrench_zero(g);
}

// What keeps its own axes, on a parent that may not
static void hang(Link *link, const Choice *parent)
{
    link->X.R = turn_product(transpose(parent->K), link->X.R);
    link->X.p = apply_transposed(parent->K, minus(link->X.p, parent->o));
    if (link->split)
        link->first = (Pose){turn_product(transpose(parent->K), link->first.R), link->X.p};
}

// A force or a velocity of a base, three by three, along its new axes
static void turn_three(Mat K, Expr *const x[3])
{
    const Vec in = apply_transposed(K, vec(*x[0], *x[1], *x[2]));
    for (int k = 0; k < 3; k++) *x[k] = vec_at(in, k);
}

static void turn_base_velocities(Tree *tree, const Link *link, Mat K)
{
    for (uint32_t k = 0; k < MAX_DOF; k += 3) {
        Velocity *w = &tree->velocities[link->velocity + k];
        turn_three(K, (Expr *[]){&w[0].symbol, &w[1].symbol, &w[2].symbol});
        turn_three(K, (Expr *[]){&w[0].torque, &w[1].torque, &w[2].torque});
        turn_three(K, (Expr *[]){&w[0].passive, &w[1].passive, &w[2].passive});
    }
}

// ---- what a hinge does not move ------------------------------------------------------------

// The part of a body that is symmetric about its hinge moves as if it were fixed to the parent, but
// for its moment about the hinge (T17): so all mass, the height of its centre, and one of the two
// moments across.                                                                      (T119)
static void regroup(Tree *along, Link *link, int k)
{
    Graph *g = along->graph;
    const Vec axis = vec_unit(g, k);
    const Rigid J = link->inertia;
    const Expr first = mat_at(sym_mat(J.I), (k + 1) % 3, (k + 1) % 3);
    const Expr second = mat_at(sym_mat(J.I), (k + 2) % 3, (k + 2) % 3);
    const Expr across = is_zero(second) ? first : second;
    Rigid fixed = {J.m, scale(vec_at(J.mc, k), axis), sym_zero(g)};
    for (int i = 0; i < 3; i++)
        if (i != k) *sym_place(&fixed.I, i, i) = across;
    link->inertia = (Rigid){zero(g), minus(J.mc, fixed.mc), sym_minus(J.I, fixed.I)};
    if (link->parent == WORLD) return;
    Rigid *parent = &along->links[link->parent].inertia;
    const Pose still = {link->first.R, point_out(link->first, link->second.p)};
    *parent = rigid_plus(*parent, rigid_out(still, fixed));
}

static bool has_base(const Tree *tree, const Link *link)
{
    return link->parent != WORLD && has_several(tree->links[link->parent].type);
}

static void describe(Tree *along, const Choosing *c)
{
    for (uint32_t i = 0; i < along->link_count; i++) {
        Link *link = &along->links[i];
        const Choice *own = &c->at[i], parent = above(c, link);
        move(link, own);
        if (is_hinged(&c->tree->links[i]))
            move_hinge(along, c, i);
        else if (link->carried)
            move_carried(along, link, &parent);
        else
            hang(link, &parent);
        if (own->hinge >= 0 && link->velocity_count == MAX_DOF) {
            link->X.R = mat_product(link->X.R, own->K);
            turn_base_velocities(along, link, own->K);
        }
    }
    for (uint32_t i = along->link_count; i-- > 0;) {
        Link *link = &along->links[i];
        if (is_welded(&c->tree->links[i])) weld(along, link);
        if (is_hinged(&c->tree->links[i]) && is_revolute(link) &&
            (c->bases.load || !has_base(along, link)))
            regroup(along, link, c->at[i].hinge);
    }
}

// ---- all of it -----------------------------------------------------------------------------

static bool is_still(const Choosing *c)
{
    bool all = true;
    for (uint32_t i = 0; all && i < c->tree->link_count; i++)
        all = !is_hinged(&c->tree->links[i]) && !is_welded(&c->tree->links[i]);
    return all;
}

Tree *tr_tree_along(Tree *tree, AlongBases bases)
{
    const uint32_t n = tree->link_count;
    Choosing c = {tree, bases, tr_tree_room(tree, n, sizeof *c.at),
                  tr_tree_room(tree, n, sizeof *c.below), tr_tree_room(tree, n, sizeof *c.child)};
    if (tree->graph->failed) return NULL;
    choose_all(&c);
    if (is_still(&c)) return NULL;
    Tree *along = tr_tree_copy(tree);
    if (!along) return NULL;
    describe(along, &c);
    tr_tree_velocities(along);
    tr_tree_forget(along); // nothing asks it again
    return along;
}

void tr_tree_turn_out(const Tree *along, Expr *acceleration)
{
    for (uint32_t i = 0; i < along->link_count; i++) {
        const Link *link = &along->links[i];
        if (link->velocity_count < MAX_DOF) continue;
        for (uint32_t k = link->velocity; k < link->velocity + MAX_DOF; k += 3) {
            Expr *u = &acceleration[k];
            const Vec v = apply_transposed(link->spin, vec(u[0], u[1], u[2]));
            u[0] = v.x, u[1] = v.y, u[2] = v.z;
        }
    }
}
