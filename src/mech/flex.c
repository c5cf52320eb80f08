// SPDX-License-Identifier: Apache-2.0
// What bending adds to Newton-Euler, in a frame that floats with the root of the body
// (T27, T30, T32-T35) [B App. B].
//
// A point of the body is at r = X + sum U_k e_k, so mass, first and second moments are
//
//   m,   mc = m c0 + sum p_k e_k,   S = S0 + sum (A_k + A_k^T) e_k + sum B_jk e_j e_k,
//   I = tr S 1 - S + int J
//
// and with P = sum p_k e_k' and L = sum l_k e_k', l_k = int r x rho U_k + h_k, twice its kinetic
// energy is
//
//   V.mV + 2 V.(W x mc + P) + W.IW + 2 W.L + e'.m e'
//
// Its equations of Lagrange, with a the acceleration of the root and D as in dynamics.c:
//
//   F   = m a + D mc + 2 W x P + P'
//   N   = mc x a + I alpha + W x I W + I' W + W x L + L'
//   Q_k = p_k.a + l_k.alpha + sum m_kj e_j'' - W.(dI/de_k) W / 2 + 2 W.sum d_jk e_j'
//
// where d_jk = int rho U_j x U_k. What bends gets shorter, if that is asked for: to second order in
// e it takes e^T G0 e / 2 from mc_x and e^T G1 e from S_xx, and sum G0_jk e_j from p_k,x. A load
// along the body then meets its slope, and that is geometric stiffening.
#include "mech/tree.h"

#include <stdio.h>

// ---- room ----------------------------------------------------------------------------------

Expr *tr_zero_pairs(Tree *tree, size_t count)
{
    Expr *pairs = tr_tree_room(tree, count, sizeof *pairs);
    for (size_t i = 0; pairs && i < count; i++) pairs[i] = zero(tree->graph);
    return pairs;
}

Vec *tr_zero_vectors(Tree *tree, size_t count)
{
    Vec *vectors = tr_tree_room(tree, count, sizeof *vectors);
    for (size_t i = 0; vectors && i < count; i++) vectors[i] = vec_zero(tree->graph);
    return vectors;
}

static Mat *zero_matrices(Tree *tree, size_t count)
{
    Mat *matrices = tr_tree_room(tree, count, sizeof *matrices);
    for (size_t i = 0; matrices && i < count; i++) matrices[i] = mat_zero(tree->graph);
    return matrices;
}

Flex *tr_flex_new(Tree *tree, uint32_t link, uint32_t count)
{
    Flex *flex = tr_tree_room(tree, 1, sizeof *flex);
    const size_t n = count;
    if (!flex) return NULL;
    flex->count = count;
    flex->names = tr_tree_room(tree, n, sizeof *flex->names);
    flex->p = tr_zero_vectors(tree, n), flex->h = tr_zero_vectors(tree, n);
    flex->A = zero_matrices(tree, n), flex->B = zero_matrices(tree, n * n);
    flex->m = tr_zero_pairs(tree, n * n), flex->K = tr_zero_pairs(tree, n * n);
    flex->damping = tr_zero_pairs(tree, n);
    flex->spinning = flex->moments = sym_zero(tree->graph);
    if (tree->graph->failed) return NULL;
    tree->links[link].has_children = true; // its points
    return tree->links[link].flex = flex;
}

const char *tr_flex_name(Tree *tree, const Link *link, const char *mode)
{
    char name[300];
    snprintf(name, sizeof name, "%.*s.%s", WHOLE(link->body->name.text), mode);
    return tr_tree_text(tree, text_of(name));
}

// ---- inertia -------------------------------------------------------------------------------

bool tr_tree_bends(const Tree *tree)
{
    for (uint32_t i = 0; i < tree->link_count; i++)
        if (tree->links[i].flex) return true;
    return false;
}

// sum_jk x_jk a_j b_k of a matrix of pairs that is symmetric
static Expr quadratic(Graph *g, const Expr *pairs, uint32_t n, const Expr *a, const Expr *b)
{
    Expr sum = zero(g);
    for (uint32_t j = 0; j < n; j++) {
        Expr row = zero(g);
        for (uint32_t k = 0; k < n; k++) row = add(row, mul(pairs[j * n + k], b[k]));
        sum = add(sum, mul(a[j], row));
    }
    return sum;
}

// sum_j x_jk a_j
static Expr along(Graph *g, const Expr *pairs, uint32_t n, const Expr *a, uint32_t k)
{
    Expr sum = zero(g);
    for (uint32_t j = 0; j < n; j++) sum = add(sum, mul(pairs[j * n + k], a[j]));
    return sum;
}

typedef struct State {
    Expr e[MAX_MODES], rate[MAX_MODES];
} State;

static State state_of(const Tree *tree, const Flex *flex)
{
    State s = {0};
    for (uint32_t k = 0; k < flex->count; k++)
        s.e[k] = elastic(tree, flex, k), s.rate[k] = elastic_rate(tree, flex, k);
    return s;
}

// int rho U_k r^T = A_k + sum B_kj e_j
static Mat shape_moments(const Flex *flex, const State *s, uint32_t k)
{
    Mat sum = flex->A[k];
    for (uint32_t j = 0; j < flex->count; j++)
        sum = mat_plus(sum, mat_scale(s->e[j], flex->B[k * flex->count + j]));
    return sum;
}

// dS/de_k                                                                         (T32, T35)
static Sym moments_slope(const Flex *flex, const State *s, uint32_t k)
{
    const Mat C = shape_moments(flex, s, k);
    Sym slope = upper(mat_plus(C, transpose(C)));
    if (flex->G1) {
        const Expr G = along(graph_of(slope.xx), flex->G1, flex->count, s->e, k);
        slope.xx = sub(slope.xx, add(G, G));
    }
    return slope;
}

// p_k at this bending                                                                  (T35)
static Vec shape_mass(const Flex *flex, const State *s, uint32_t k)
{
    Vec p = flex->p[k];
    if (flex->G0) p.x = sub(p.x, along(graph_of(p.x), flex->G0, flex->count, s->e, k));
    return p;
}

// p_k and l_k = int r x rho U_k + h_k                                               (T33)
static Wrench momentum_along(const Flex *flex, const State *s, uint32_t k)
{
    return wrench(shape_mass(flex, s, k), plus(vee(shape_moments(flex, s, k)), flex->h[k]));
}

Wrench tr_flex_momentum(const Tree *tree, const Flex *flex, uint32_t k)
{
    const State s = state_of(tree, flex);
    return momentum_along(flex, &s, k);
}

// m, mc, I = tr S 1 - S + int J at this bending                     (T32, T35) [B 69]
Rigid tr_flex_inertia(const Tree *tree, const Flex *flex)
{
    const State s = state_of(tree, flex);
    const uint32_t n = flex->count;
    Rigid J = flex->still;
    Sym S = flex->moments;
    for (uint32_t k = 0; k < n; k++) {
        J.mc = plus(J.mc, scale(s.e[k], flex->p[k]));
        S = sym_plus(S, sym_scale(s.e[k], upper(mat_plus(flex->A[k], transpose(flex->A[k])))));
        for (uint32_t j = 0; j <= k; j++) {
            const Mat B = flex->B[j * n + k];
            const Sym twice = upper(j == k ? B : mat_plus(B, transpose(B)));
            S = sym_plus(S, sym_scale(mul(s.e[j], s.e[k]), twice));
        }
    }
    if (flex->G0) {
        const Expr half = number(tree->graph, 0.5);
        J.mc.x = sub(J.mc.x, mul(half, quadratic(tree->graph, flex->G0, n, s.e, s.e)));
        S.xx = sub(S.xx, quadratic(tree->graph, flex->G1, n, s.e, s.e));
    }
    J.I = sym_plus(inertia_of(S), flex->spinning);
    return J;
}

// ---- forces --------------------------------------------------------------------------------

// 2 W x P + (P' but for e''),   I' W + W x L                                            (T34)
static Wrench gyroscopic(const Tree *tree, const Flex *flex, const State *s, Vec W)
{
    Graph *g = tree->graph;
    Wrench rate = wrench_zero(g); // (P, L)
    Sym dS = sym_zero(g);
    for (uint32_t k = 0; k < flex->count; k++) {
        rate = wrench_plus(rate, wrench_scale(s->rate[k], momentum_along(flex, s, k)));
        dS = sym_plus(dS, sym_scale(s->rate[k], moments_slope(flex, s, k)));
    }
    Vec F = cross(W, rate.F);
    F = plus(F, F);
    if (flex->G0) F.x = sub(F.x, quadratic(g, flex->G0, flex->count, s->rate, s->rate));
    return wrench(F, plus(sym_apply(inertia_of(dS), W), cross(W, rate.N)));
}

// 2 W . sum d_jk e_j' - W . (dI/de_k) W / 2                                             (T34)
static Expr gyroscopic_along(const Tree *tree, const Flex *flex, const State *s, Vec W, uint32_t k)
{
    const uint32_t n = flex->count;
    Graph *g = tree->graph;
    Vec d = vec_zero(g);
    for (uint32_t j = 0; j < n; j++) // d_jk = int rho U_j x U_k, from int rho U_k U_j^T
        d = plus(d, scale(s->rate[j], vee(flex->B[k * n + j])));
    const Sym slope = inertia_of(moments_slope(flex, s, k));
    const Expr twice = mul(number(g, 2), dot(W, d));
    return sub(twice, mul(number(g, 0.5), dot(W, sym_apply(slope, W))));
}

// F and N but for what link->inertia has, and Q_k                               (T34) [B 69]
Wrench tr_flex_force(Tree *tree, const Link *link, Vec a, Vec alpha, const Expr *acceleration,
                     Expr *force)
{
    const Flex *flex = link->flex;
    const State s = state_of(tree, flex);
    const Expr *rates = acceleration ? acceleration + flex->velocity : NULL;
    Wrench f = gyroscopic(tree, flex, &s, link->v.W);
    for (uint32_t k = 0; k < flex->count; k++) {
        const Wrench column = momentum_along(flex, &s, k);
        Expr Q = add(dot(column.F, a), dot(column.N, alpha));
        if (rates) {
            Q = add(Q, along(tree->graph, flex->m, flex->count, rates, k));
            f = wrench_plus(f, wrench_scale(rates[k], column));
        }
        force[flex->velocity + k] = add(Q, gyroscopic_along(tree, flex, &s, link->v.W, k));
    }
    return f;
}

static bool is_tip(const Link *link)
{
    const Text name = link->body->name.text;
    return name.length > 4 && memcmp(name.at + name.length - 4, ".tip", 4) == 0;
}

// 2 v.(P, L) + e'.m e'                                                                 (T33)
Expr tr_flex_kinetic(const Tree *tree, const Link *link)
{
    const Flex *flex = link->flex;
    const State s = state_of(tree, flex);
    Expr coupling = zero(tree->graph);
    for (uint32_t k = 0; k < flex->count; k++)
        coupling = add(coupling, mul(s.rate[k], power_of(link->v, momentum_along(flex, &s, k))));
    return add(add(coupling, coupling),
               quadratic(tree->graph, flex->m, flex->count, s.rate, s.rate));
}

#define MOST_SHORTENING 0.05 // of its length; what is left out grows with its square

void tr_flex_alarms(Tree *tree)
{
    for (uint32_t i = 0; i < tree->link_count && !has_failed(tree->err); i++) {
        const Section *at = tree->links[i].section;
        if (!at || !at->g || !is_tip(&tree->links[i])) continue;
        const State s = state_of(tree, at->flex);
        const Expr half = number(tree->graph, 0.5);
        const Expr shorter = mul(half, quadratic(tree->graph, at->g, at->flex->count, s.e, s.e));
        const Expr most = mul(number(tree->graph, MOST_SHORTENING), at->X.x);
        tr_tree_alarm(tree, tree->links[tree->links[i].parent].body->name,
                      "'%.*s' bends further than its stiffening is good for", sub(most, shorter),
                      ALARM_WARNS, NO_LATCH);
    }
}

// e.K e / 2
Expr tr_flex_potential(const Tree *tree, const Flex *flex)
{
    const State s = state_of(tree, flex);
    return mul(number(tree->graph, 0.5), quadratic(tree->graph, flex->K, flex->count, s.e, s.e));
}

// Q = -K e - d e'                                                            (T30) [B 21]
void tr_flex_springs(Tree *tree, const Flex *flex)
{
    const State s = state_of(tree, flex);
    for (uint32_t k = 0; k < flex->count; k++) {
        Velocity *w = &tree->velocities[flex->velocity + k];
        w->passive = sub(w->passive, along(tree->graph, flex->K, flex->count, s.e, k));
        w->passive = sub(w->passive, mul(flex->damping[k], s.rate[k]));
    }
}

// The damping ratio z of each mode by itself: 2 z sqrt(k m)                               (T30)
void tr_flex_damp(Tree *tree, Flex *flex, Value value)
{
    const Expr ratio = tr_tree_formula(tree, value);
    tr_tree_check_finite(tree, value, "damping", ratio);
    if (!has_failed(tree->err) && !tr_tree_is(tree, RULE_NOT_NEGATIVE, ratio, value.place,
                                              "the damping ratio of modes is not negative"))
        tr_fail(tree->err, TR_INVALID, value.place, "the damping ratio of modes is negative");
    if (has_failed(tree->err) || is_zero(ratio)) return;
    for (uint32_t k = 0; k < flex->count; k++) {
        const Expr km = mul(flex->K[k * flex->count + k], flex->m[k * flex->count + k]);
        flex->damping[k] = mul(mul(number(tree->graph, 2), ratio), e_sqrt(km));
    }
}

void tr_tree_flexes(Tree *tree)
{
    for (uint32_t i = 0; i < tree->link_count && !has_failed(tree->err); i++) {
        const Link *link = &tree->links[i];
        if (!link->flex) continue;
        if (link->body->beam.name.given)
            tr_beam_make(tree, i);
        else
            tr_modal_make(tree, i);
        for (uint32_t k = 0; k < link->flex->count; k++)
            tr_rate_set(tree->system, elastic(tree, link->flex, k),
                        elastic_rate(tree, link->flex, k), tree->err);
    }
}
