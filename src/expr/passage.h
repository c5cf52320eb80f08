// SPDX-License-Identifier: Apache-2.0
// What crosses the joint of a link: motions, wrenches and inertias (T9, T10), and accelerations
// (T14). Where it is split, the two parts are cheaper one after the other (T118).
#ifndef TR_EXPR_PASSAGE_H
#define TR_EXPR_PASSAGE_H

#include "expr/spatial.h"

typedef struct Passage {
    Pose X; // the link's frame against its parent's
    // X = first second, if it is split. The second is about and along the joint's axis.
    Pose first, second;
    bool split;
} Passage;

// A vector of the parent's axes, in the link's
static inline Vec pass_in(const Passage *x, Vec a)
{
    if (!x->split) return apply_transposed(x->X.R, a);
    return apply_transposed(x->second.R, apply_transposed(x->first.R, a));
}

// and the other way
static inline Vec pass_out(const Passage *x, Vec a)
{
    if (!x->split) return apply(x->X.R, a);
    return apply(x->first.R, apply(x->second.R, a));
}

static inline Motion pass_motion(const Passage *x, Motion v)
{
    if (!x->split) return motion_in(x->X, v);
    return motion_in(x->second, motion_in(x->first, v));
}

static inline Wrench pass_wrench(const Passage *x, Wrench f)
{
    if (!x->split) return wrench_out(x->X, f);
    return wrench_out(x->first, wrench_out(x->second, f));
}

static inline Rigid pass_rigid(const Passage *x, Rigid J)
{
    if (!x->split) return rigid_out(x->X, J);
    return rigid_out(x->first, rigid_out(x->second, J));
}

// Two rotations are cheaper than their product if both are about one axis.
static inline Block pass_block(const Passage *x, Block K)
{
    if (!x->split || !is_simple_turn(x->first.R)) return block_out(x->X, K);
    return block_out(x->first, block_out(x->second, K));
}

// ---- accelerations -------------------------------------------------------------------------

// How a link's frame accelerates, in its own axes: a of its origin as seen from the world, alpha of
// its rotation. A point p of it has a + D p. In these terms no linear velocity enters the dynamics.
typedef struct Accelerated {
    Vec a, alpha;
    Mat D;
} Accelerated;

// D = hat(alpha) + W W^T - W.W 1                                                   (T14)
static inline Mat point_matrix(Vec alpha, Vec W)
{
    Mat D = hat(alpha);
    const Expr xx = square(W.x), yy = square(W.y), zz = square(W.z);
    const Expr xy = mul(W.x, W.y), xz = mul(W.x, W.z), yz = mul(W.y, W.z);
    D.row[0] = plus(D.row[0], vec(neg(add(yy, zz)), xy, xz));
    D.row[1] = plus(D.row[1], vec(xy, neg(add(xx, zz)), yz));
    D.row[2] = plus(D.row[2], vec(xz, yz, neg(add(xx, yy))));
    return D;
}

// Of a link whose frame turns at `frame`, on what turns at Wc in its axes. The joint moves at V, W
// and begins to at `more` (T14):
//   a = R^T (a_p + D_p p) + (2 Wc + W) x V + V',   alpha = R^T alpha_p + Wc x W + W'
static inline Accelerated pass_acceleration(const Passage *x, const Accelerated *parent, Vec Wc,
                                            Motion joint, Motion more, Vec frame)
{
    const Vec p = x->split ? x->first.p : x->X.p;
    Accelerated out = {.a = pass_in(x, plus(parent->a, apply(parent->D, p))),
                       .alpha = pass_in(x, parent->alpha)};
    out.a = plus(out.a, cross(plus(plus(Wc, Wc), joint.W), joint.V));
    out.a = plus(out.a, more.V);
    out.alpha = plus(plus(out.alpha, cross(Wc, joint.W)), more.W);
    out.D = point_matrix(out.alpha, frame);
    // points of the joint's axis have one acceleration, on either body (T118)
    if (x->split) out.a = plus(out.a, apply(out.D, x->second.p));
    return out;
}

// W x I W, as constants times products of W
static inline Vec gyroscopic_moment(Sym I, Vec W)
{
    const Expr xx = square(W.x), yy = square(W.y), zz = square(W.z);
    const Expr xy = mul(W.x, W.y), xz = mul(W.x, W.z), yz = mul(W.y, W.z);
#define SUM4(a, b, c, d) add(add(a, b), sub(c, d))
    return vec(
        SUM4(mul(sub(I.zz, I.yy), yz), mul(I.yz, sub(yy, zz)), mul(I.xz, xy), mul(I.xy, xz)),
        SUM4(mul(sub(I.xx, I.zz), xz), mul(I.xz, sub(zz, xx)), mul(I.xy, yz), mul(I.yz, xy)),
        SUM4(mul(sub(I.yy, I.xx), xy), mul(I.xy, sub(xx, yy)), mul(I.yz, xz), mul(I.xz, yz)));
#undef SUM4
}

// F = m a + D mc,   N = mc x a + I alpha + W x I W                        (T15) [M 6, 8]
// of a link whose frame does not spin with it Wc x I W instead (T17)
static inline Wrench inertia_force(Rigid J, const Accelerated *at, Vec frame, Vec W, bool carried)
{
    const Vec F = plus(scale(J.m, at->a), apply(at->D, J.mc));
    const Vec N = plus(cross(J.mc, at->a), sym_apply(J.I, at->alpha));
    const Vec spinning = carried ? cross(frame, sym_apply(J.I, W)) : gyroscopic_moment(J.I, W);
    return wrench(F, plus(N, spinning));
}

#endif
