// SPDX-License-Identifier: Apache-2.0
// With a link's motion v and acceleration a, its inertia J, momentum h = J v and force
// f = J a + v x* h, and sums of J, h and f over all that it carries, in the axes of its tree:
//
//   Z = v_p x S,   Y = a_p x S + v_p x Z,   T = Z + v x S,   U = J S                     (T144)
//
//   2B s = v x* J s - J (v x s) + s x* h = (2 s_W x p, X s_W),   h = (p, n)
//   X = hat(W) I + (hat(W) I)^T - V mc^T - mc V^T + 2 V.mc 1 - hat(n)
//   S.2B s = g.s_W,   g = X^T S_W + 2 p x S_V                                            (T145)
//
// and with accelerations frozen, of a velocity i at or behind j, and of one before it,
//
//   dtau_i along S_j:   g_i.Z_j + U_i.Y_j     S_i.(2B Z_j + J Y_j + S_j x* f)
//   dtau_i by v_j:      g_i.S_j + U_i.T_j     S_i.(2B S_j + J T_j)                       (T146)
#include "reduce/tree_slopes.h"

#include "expr/walk.h"

#include <stdlib.h>

typedef struct SlopeLink {
    Pose at; // against the axes of its tree
    Motion v, a;
    Rigid J, all_J; // its own, and of all that it carries
    Wrench h, all_h;
    Wrench turning, f; // v x* h, of the link alone; f of all that it carries
    Sym even;          // X of T145 without n, of all that it carries
    Mat X;             // the same with n
    Vec twice_p;
} SlopeLink;

typedef struct SlopeMotion { // of a velocity
    Motion S, Z, T;
    Wrench U;
    Vec g;
} SlopeMotion;

// ---- who is before whom --------------------------------------------------------------------

static bool is_free_base(const ForestLink *link)
{
    if (link->parent != NO_LINK || link->velocity_count != 6 || link->is_carried) return false;
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 6; i++)
            if (!is_value(motion_at(link->S[k], i), i == k)) return false;
    return true;
}

// All six are driven, or none is.
static bool is_whole(const TreeSlopes *s, const ForestLink *link)
{
    uint32_t driven = 0;
    for (uint32_t k = 0; k < 6; k++)
        driven += is_motion_driven(&s->system->inputs[s->input[link->velocity + k]]);
    return driven == 0;
}

static bool floats(const TreeSlopes *s, uint32_t link) { return s->base[link] == link; }

static void find_order(TreeSlopes *s)
{
    const Forest *forest = s->system->forest;
    for (uint32_t i = 0; i < forest->link_count; i++) {
        const ForestLink *link = &forest->links[i];
        if (link->parent == NO_LINK)
            s->base[i] = is_free_base(link) && is_whole(s, link) ? i : NO_LINK;
        else
            s->base[i] = s->base[link->parent];
        for (uint32_t k = 0; k < link->velocity_count; k++) s->link[link->velocity + k] = i;
    }
}

// Whether a link is another or carries it
static bool carries(const Forest *forest, uint32_t above, uint32_t link)
{
    while (link != above && link != NO_LINK) link = forest->links[link].parent;
    return link == above;
}

// ---- outward -------------------------------------------------------------------------------

static Motion motion_out(Pose X, Motion s) // R V + p x R W, R W
{
    const Vec W = apply(X.R, s.W);
    return motion(plus(apply(X.R, s.V), cross(X.p, W)), W);
}

static Pose pose_behind(Pose parent, const Passage *x)
{
    if (!x->split) return pose_product(parent, x->X);
    return pose_product(pose_product(parent, x->first), x->second);
}

static Expr speed(const TreeSlopes *s, uint32_t k) { return s->system->inputs[s->input[k]].symbol; }

static Motion parent_motion(const TreeSlopes *s, uint32_t i)
{
    const uint32_t parent = s->system->forest->links[i].parent;
    return parent == NO_LINK ? motion_zero(s->system->graph) : s->links[parent].v;
}

// v = v_p + S q', and of a free base (0, W)                                            (T144)
static void find_motion(TreeSlopes *s, uint32_t i)
{
    Graph *g = s->system->graph;
    const ForestLink *from = &s->system->forest->links[i];
    SlopeLink *link = &s->links[i];
    const Pose above = from->parent == NO_LINK ? pose_identity(g) : s->links[from->parent].at;
    link->at = floats(s, i) ? pose_identity(g) : pose_behind(above, &from->across);
    link->v = parent_motion(s, i);
    for (uint32_t k = 0; k < from->velocity_count; k++) {
        SlopeMotion *m = &s->motions[from->velocity + k];
        m->S = motion_out(link->at, from->S[k]);
        m->Z = motion_cross(parent_motion(s, i), m->S);
        if (floats(s, i) && k < 3) continue; // V, which nothing depends on
        link->v = motion_plus(link->v, motion_scale(speed(s, from->velocity + k), m->S));
    }
    for (uint32_t k = 0; k < from->velocity_count; k++) { // v x S is Z where there is one S
        SlopeMotion *m = &s->motions[from->velocity + k];
        m->T = from->velocity_count == 1 ? motion_plus(m->Z, m->Z)
                                         : motion_plus(m->Z, motion_cross(link->v, m->S));
    }
}

// hat(W) I + (hat(W) I)^T - V mc^T - mc V^T + 2 V.mc 1                                 (T145)
static Sym even_part(const SlopeLink *link)
{
    const Mat turned = mat_product(hat(link->v.W), sym_mat(link->J.I));
    const Vec V = link->v.V, mc = link->J.mc;
    const Expr x = sub(mat_at(turned, 0, 0), mul(V.x, mc.x)),
               y = sub(mat_at(turned, 1, 1), mul(V.y, mc.y)),
               z = sub(mat_at(turned, 2, 2), mul(V.z, mc.z)), along = dot(V, mc);
    const Expr xx = add(x, along), yy = add(y, along), zz = add(z, along);
#define BOTH(i, j, a, b) \
    sub(add(mat_at(turned, i, j), mat_at(turned, j, i)), add(mul(V.a, mc.b), mul(V.b, mc.a)))
    return (Sym){add(xx, xx),      add(yy, yy),      add(zz, zz),
                 BOTH(0, 1, x, y), BOTH(0, 2, x, z), BOTH(1, 2, y, z)};
#undef BOTH
}

static void find_inertia(TreeSlopes *s, uint32_t i)
{
    SlopeLink *link = &s->links[i];
    link->J = link->all_J = rigid_out(link->at, s->system->forest->links[i].inertia);
    link->h = link->all_h = rigid_apply(link->J, link->v);
    link->turning = wrench_cross(link->v, link->h);
    link->even = even_part(link);
}

// The world's acceleration is gravity's; that of a free base has it in x.
static Motion carried_acceleration(const TreeSlopes *s, uint32_t i)
{
    const Forest *forest = s->system->forest;
    Graph *g = s->system->graph;
    if (forest->links[i].parent != NO_LINK) return s->links[forest->links[i].parent].a;
    return motion(floats(s, i) ? vec_zero(g) : flip(forest->gravity), vec_zero(g));
}

// a = a_p + Z q' + S x,   f = J a + v x* h; forces of all that is carried, and tau = S.f
static void find_forces(TreeSlopes *s, const Expr *x, Expr *tau)
{
    const Forest *forest = s->system->forest;
    for (uint32_t i = 0; i < forest->link_count; i++) {
        const ForestLink *from = &forest->links[i];
        SlopeLink *link = &s->links[i];
        link->a = carried_acceleration(s, i);
        Motion own = motion_zero(s->system->graph); // v x (sum of S q')
        for (uint32_t k = from->velocity; k < from->velocity + from->velocity_count; k++) {
            const SlopeMotion *m = &s->motions[k];
            const bool one_only = from->velocity_count == 1;
            if (!floats(s, i)) // S moves with the link
                own = motion_plus(
                    own, motion_scale(speed(s, k), one_only ? m->Z : motion_cross(link->v, m->S)));
            own = motion_plus(own, motion_scale(x[k], m->S));
        }
        link->a = motion_plus(link->a, own);
        link->f = wrench_plus(rigid_apply(link->J, link->a), link->turning);
    }
    for (uint32_t i = forest->link_count; i-- > 0;) {
        const ForestLink *from = &forest->links[i];
        for (uint32_t k = from->velocity; tau && k < from->velocity + from->velocity_count; k++)
            tau[k] = power_of(s->motions[k].S, s->links[i].f);
        if (from->parent != NO_LINK)
            s->links[from->parent].f = wrench_plus(s->links[from->parent].f, s->links[i].f);
    }
}

// ---- inward --------------------------------------------------------------------------------

static void add_up(TreeSlopes *s)
{
    const Forest *forest = s->system->forest;
    for (uint32_t i = forest->link_count; i-- > 0;) {
        if (forest->links[i].parent == NO_LINK) continue;
        const SlopeLink *link = &s->links[i];
        SlopeLink *above = &s->links[forest->links[i].parent];
        above->all_J = rigid_plus(above->all_J, link->all_J);
        above->all_h = wrench_plus(above->all_h, link->all_h);
        above->even = sym_plus(above->even, link->even);
    }
}

// U = J S,   g = X^T S_W + 2 p x S_V                                             (T144, T145)
static void find_momenta(TreeSlopes *s)
{
    for (uint32_t i = 0; i < s->system->forest->link_count; i++) {
        SlopeLink *link = &s->links[i];
        link->X = mat_minus(sym_mat(link->even), hat(link->all_h.N));
        link->twice_p = plus(link->all_h.F, link->all_h.F);
    }
    for (uint32_t k = 0; k < s->count; k++) {
        const SlopeLink *link = &s->links[s->link[k]];
        SlopeMotion *m = &s->motions[k];
        m->U = rigid_apply(link->all_J, m->S);
        m->g = plus(apply_transposed(link->X, m->S.W), cross(link->twice_p, m->S.V));
    }
}

static void fill_mass(TreeSlopes *s)
{
    const Forest *forest = s->system->forest;
    for (uint32_t k = 0; k < s->count; k++)
        for (uint32_t i = s->link[k]; i != NO_LINK; i = forest->links[i].parent)
            for (uint32_t j = forest->links[i].velocity, end = j + forest->links[i].velocity_count;
                 j < end && (i != s->link[k] || j <= k); j++) {
                const Expr entry = power_of(s->motions[j].S, s->motions[k].U);
                set(s->M, j, k, entry);
                set(s->M, k, j, entry);
            }
}

// ---- derivatives ---------------------------------------------------------------------------

// 2B s = (2 s_W x p, X s_W)                                                            (T145)
static Wrench twice_bias(const SlopeLink *link, Vec W)
{
    return wrench(cross(W, link->twice_p), apply(link->X, W));
}

// One column: g_i.first_W + U_i.second at the link and behind it, S_i.f before it      (T146)
static void fill_column(const TreeSlopes *s, Matrix to, uint32_t k, const Motion *first,
                        const Motion *second, Wrench f)
{
    const Forest *forest = s->system->forest;
    const uint32_t own = s->link[k];
    for (uint32_t i = own; i < forest->link_count; i++) {
        if (!carries(forest, own, i)) continue;
        for (uint32_t j = 0; j < forest->links[i].velocity_count; j++) {
            const SlopeMotion *m = &s->motions[forest->links[i].velocity + j];
            set(to, forest->links[i].velocity + j, k,
                add(dot(m->g, first->W), power_of(*second, m->U)));
        }
    }
    for (uint32_t i = forest->links[own].parent; i != NO_LINK; i = forest->links[i].parent)
        for (uint32_t j = 0; j < forest->links[i].velocity_count; j++) {
            const uint32_t row = forest->links[i].velocity + j;
            set(to, row, k, power_of(s->motions[row].S, f));
        }
}

static void take_column(TreeSlopes *s, uint32_t k)
{
    const uint32_t i = s->link[k];
    const SlopeLink *link = &s->links[i];
    const SlopeMotion *m = &s->motions[k];
    const bool is_base = floats(s, i);
    if (!is_base || k >= s->system->forest->links[i].velocity + 3) {
        const Wrench f = wrench_plus(twice_bias(link, m->S.W), rigid_apply(link->all_J, m->T));
        fill_column(s, s->by_speed, k, &m->S, &m->T, f);
    }
    // the place of a free base changes nothing, nor does the angle of what is symmetric about it
    if (is_base || s->system->forest->links[i].is_carried) return;
    const Motion Y = motion_plus(motion_cross(carried_acceleration(s, i), m->S),
                                 motion_cross(parent_motion(s, i), m->Z));
    Wrench f = wrench_plus(twice_bias(link, m->Z.W), rigid_apply(link->all_J, Y));
    f = wrench_plus(f, wrench_cross(m->S, link->f));
    fill_column(s, s->by_place, k, &m->Z, &Y, f);
}

void tr_tree_slopes_force(TreeSlopes *s, const Expr *x, Expr *force) { find_forces(s, x, force); }

void tr_tree_slopes_take(TreeSlopes *s, const Expr *x)
{
    find_forces(s, x, NULL);
    for (uint32_t k = 0; k < s->count; k++) take_column(s, k);
}

// ---- all of it -----------------------------------------------------------------------------

// W x V - R^T g                                                                        (T147)
Expr tr_tree_slopes_shift(const TreeSlopes *s, uint32_t k)
{
    const Forest *forest = s->system->forest;
    const ForestLink *from = &forest->links[s->link[k]];
    const uint32_t own = k - from->velocity, first = from->velocity;
    if (!floats(s, s->link[k]) || own > 2) return zero(s->system->graph);
    const Vec V = vec(speed(s, first), speed(s, first + 1), speed(s, first + 2)),
              W = vec(speed(s, first + 3), speed(s, first + 4), speed(s, first + 5));
    return vec_at(minus(cross(W, V), pass_in(&from->across, forest->gravity)), (int)own);
}

Vec tr_tree_slopes_axis(const TreeSlopes *s, uint32_t k)
{
    const System *system = s->system;
    const int own = (int)(k - s->system->forest->links[s->link[k]].velocity) - 3;
    for (uint32_t i = 0; i < system->turned_count; i++) {
        const Turned *t = &system->turned[i];
        if (t->inner <= s->input[k] && s->input[k] < t->inner + 3) // u = C^T v
            return vec(t->C[3 * own], t->C[3 * own + 1], t->C[3 * own + 2]);
    }
    return vec_unit(system->graph, own);
}

uint32_t tr_name_change(Expr x, Expr change, Expr *from, Expr *to)
{
    from[0] = x, to[0] = change;
    if (op_of(x) != OP_MUL) return 1;
    const bool first = is_number(operand(x, 0));
    if (!first && !is_number(operand(x, 1))) return 1;
    from[1] = operand(x, first), to[1] = quotient(change, operand(x, !first));
    return 2;
}

uint32_t tr_tree_slopes_turn(const TreeSlopes *s, uint32_t k, Expr *from, Expr *to)
{
    const ForestLink *link = &s->system->forest->links[s->link[k]];
    uint32_t count = 0;
    if (!floats(s, s->link[k]) || k < link->velocity + 3) return 0;
    const Vec axis = tr_tree_slopes_axis(s, k);
    for (int i = 0; i < 9; i++) {
        const Expr entry = mat_at(link->across.X.R, i / 3, i % 3);
        bool is_new = !is_number(entry);
        for (uint32_t j = 0; j < count; j++) is_new = is_new && !same(from[j], entry);
        if (!is_new) continue;
        const Expr change = vec_at(cross(link->across.X.R.row[i / 3], axis), i % 3);
        count += tr_name_change(entry, change, from + count, to + count);
    }
    return count;
}

// Which link each position moves
static bool find_moved(TreeSlopes *s)
{
    Graph *g = s->system->graph;
    const Forest *forest = s->system->forest;
    for (uint32_t i = 0; i < s->system->input_count; i++) s->moved[i] = NO_LINK;
    for (uint32_t i = 0; i < forest->link_count; i++) {
        const Passage *x = &forest->links[i].across;
        const Pose *poses[] = {x->split ? &x->first : &x->X, x->split ? &x->second : &x->X};
        Expr all[24];
        for (int k = 0; k < 24; k++) {
            const Pose *pose = poses[k / 12];
            all[k] = k % 12 < 9 ? mat_at(pose->R, k % 12 / 3, k % 3) : vec_at(pose->p, k % 3);
        }
        Reach reach;
        const bool good = tr_reach(g, all, 24, &reach);
        for (uint32_t k = 0; good && k < reach.count; k++) {
            const Node *node = &g->nodes[reach.ids[k]];
            if (node->op == OP_SYMBOL && s->system->inputs[node->a].kind == TR_POSITION)
                s->moved[node->a] = i;
        }
        tr_reach_free(&reach);
        if (!good) return false;
    }
    return true;
}

bool tr_tree_slopes_moves(const TreeSlopes *s, uint32_t position, uint32_t *velocity)
{
    const uint32_t i = s->moved[position];
    *velocity = NO_LINK;
    if (i == NO_LINK || floats(s, i)) return true;
    *velocity = s->system->forest->links[i].velocity;
    return s->system->forest->links[i].velocity_count == 1 &&
           same(s->system->inputs[position].rate, speed(s, *velocity));
}

static bool make_room(TreeSlopes *s)
{
    Graph *g = s->system->graph;
    const uint32_t n = s->count, links = s->system->forest->link_count;
    s->input = calloc(2 * (size_t)n + links + s->system->input_count + 1, sizeof *s->input);
    s->links = calloc(links + 1u, sizeof *s->links);
    s->motions = calloc(n + 1u, sizeof *s->motions);
    s->c = calloc(2 * (size_t)n + 1, sizeof *s->c);
    s->M = tr_matrix(g, n, n), s->by_place = tr_matrix(g, n, n), s->by_speed = tr_matrix(g, n, n);
    if (!s->input || !s->links || !s->motions || !s->c) g->failed = true;
    if (g->failed) return false;
    s->link = s->input + n, s->base = s->link + n, s->moved = s->base + links;
    return true;
}

bool tr_tree_slopes_new(System *system, TreeSlopes *s)
{
    *s = (TreeSlopes){.system = system, .count = tr_system_velocities(system, NULL)};
    if (!system->forest || !make_room(s)) return false;
    tr_system_velocities(system, s->input);
    find_order(s);
    if (!find_moved(s)) return false;
    for (uint32_t i = 0; i < system->forest->link_count; i++) {
        find_motion(s, i);
        find_inertia(s, i);
    }
    add_up(s);
    find_momenta(s);
    fill_mass(s);
    Expr *known = s->c + s->count;
    for (uint32_t k = 0; k < s->count; k++) {
        const Input *input = &system->inputs[s->input[k]];
        known[k] = is_motion_driven(input) ? input->rate : zero(system->graph);
    }
    find_forces(s, known, s->c);
    return !system->graph->failed;
}

void tr_tree_slopes_free(TreeSlopes *s)
{
    free(s->input);
    free(s->links);
    free(s->motions);
    free(s->c);
    *s = (TreeSlopes){0};
}
