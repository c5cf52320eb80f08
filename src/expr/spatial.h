// SPDX-License-Identifier: Apache-2.0
// The algebra of rigid motion on expressions, written so that the dynamics reads like the papers.
// Motions are (linear, angular) = (V, Omega), forces (force, moment), at a frame's origin and in
// its axes (T9, T10) [M 2, 3, 6, 7].
#ifndef TR_EXPR_SPATIAL_H
#define TR_EXPR_SPATIAL_H

#include "expr/graph.h"

typedef struct Vec {
    Expr x, y, z;
} Vec;
typedef struct Mat {
    Vec row[3];
} Mat;
typedef struct Sym { // symmetric
    Expr xx, yy, zz, xy, xz, yz;
} Sym;
typedef struct Pose { // a frame against its parent's: axes, and origin in the parent's axes
    Mat R;
    Vec p;
} Pose;
typedef struct Motion {
    Vec V, W;
} Motion;
typedef struct Wrench {
    Vec F, N;
} Wrench;
typedef struct Rigid { // inertia of a rigid body about its frame's origin: m, m c, I
    Expr m;
    Vec mc;
    Sym I;
} Rigid;
typedef struct Block { // any symmetric inertia: T = V.AV/2 + V.BW + W.CW/2
    Sym A;
    Mat B;
    Sym C;
} Block;

// ---- vectors and matrices ------------------------------------------------------------------

static inline Vec vec(Expr x, Expr y, Expr z) { return (Vec){x, y, z}; }
static inline Vec vec_zero(Graph *g) { return vec(zero(g), zero(g), zero(g)); }
static inline Vec plus(Vec a, Vec b) { return vec(add(a.x, b.x), add(a.y, b.y), add(a.z, b.z)); }
static inline Vec minus(Vec a, Vec b) { return vec(sub(a.x, b.x), sub(a.y, b.y), sub(a.z, b.z)); }
static inline Vec scale(Expr s, Vec a) { return vec(mul(s, a.x), mul(s, a.y), mul(s, a.z)); }
static inline Vec flip(Vec a) { return vec(neg(a.x), neg(a.y), neg(a.z)); }
static inline Expr dot(Vec a, Vec b)
{
    return add(add(mul(a.x, b.x), mul(a.y, b.y)), mul(a.z, b.z));
}
static inline Vec cross(Vec a, Vec b)
{
    return vec(sub(mul(a.y, b.z), mul(a.z, b.y)), sub(mul(a.z, b.x), mul(a.x, b.z)),
               sub(mul(a.x, b.y), mul(a.y, b.x)));
}
static inline Expr vec_at(Vec a, int i) { return i == 0 ? a.x : i == 1 ? a.y : a.z; }
static inline Vec vec_unit(Graph *g, int i)
{
    return vec(number(g, i == 0), number(g, i == 1), number(g, i == 2));
}
static inline bool is_vec_zero(Vec a) { return is_zero(a.x) && is_zero(a.y) && is_zero(a.z); }

static inline Expr mat_at(Mat a, int i, int j) { return vec_at(a.row[i], j); }
static inline Vec column(Mat a, int j)
{
    return vec(mat_at(a, 0, j), mat_at(a, 1, j), mat_at(a, 2, j));
}
static inline Mat mat_identity(Graph *g)
{
    return (Mat){{vec_unit(g, 0), vec_unit(g, 1), vec_unit(g, 2)}};
}
static inline bool is_identity(Mat a)
{
    for (int i = 0; i < 9; i++)
        if (!is_value(mat_at(a, i / 3, i % 3), i % 4 == 0)) return false;
    return true;
}
static inline Mat mat_zero(Graph *g) { return (Mat){{vec_zero(g), vec_zero(g), vec_zero(g)}}; }
static inline Mat transpose(Mat a) { return (Mat){{column(a, 0), column(a, 1), column(a, 2)}}; }
static inline Vec apply(Mat a, Vec b)
{
    return vec(dot(a.row[0], b), dot(a.row[1], b), dot(a.row[2], b));
}
static inline Vec apply_transposed(Mat a, Vec b)
{
    return plus(plus(scale(b.x, a.row[0]), scale(b.y, a.row[1])), scale(b.z, a.row[2]));
}
static inline Mat mat_product(Mat a, Mat b)
{
    return (Mat){{apply_transposed(b, a.row[0]), apply_transposed(b, a.row[1]),
                  apply_transposed(b, a.row[2])}};
}
static inline Mat mat_plus(Mat a, Mat b)
{
    return (Mat){{plus(a.row[0], b.row[0]), plus(a.row[1], b.row[1]), plus(a.row[2], b.row[2])}};
}
static inline Mat mat_minus(Mat a, Mat b)
{
    return (Mat){{minus(a.row[0], b.row[0]), minus(a.row[1], b.row[1]), minus(a.row[2], b.row[2])}};
}
static inline Mat mat_scale(Expr s, Mat a)
{
    return (Mat){{scale(s, a.row[0]), scale(s, a.row[1]), scale(s, a.row[2])}};
}
static inline Mat hat(Vec p) // hat(p) b = p x b
{
    const Expr o = zero(graph_of(p.x));
    return (Mat){{vec(o, neg(p.z), p.y), vec(p.z, o, neg(p.x)), vec(neg(p.y), p.x, o)}};
}
static inline Mat sym_mat(Sym s)
{
    return (Mat){{vec(s.xx, s.xy, s.xz), vec(s.xy, s.yy, s.yz), vec(s.xz, s.yz, s.zz)}};
}
static inline Sym upper(Mat a) // of a matrix that is symmetric
{
    return (Sym){a.row[0].x, a.row[1].y, a.row[2].z, a.row[0].y, a.row[0].z, a.row[1].z};
}
static inline Sym sym_zero(Graph *g)
{
    return (Sym){zero(g), zero(g), zero(g), zero(g), zero(g), zero(g)};
}
static inline Sym sym_plus(Sym a, Sym b)
{
    return (Sym){add(a.xx, b.xx), add(a.yy, b.yy), add(a.zz, b.zz),
                 add(a.xy, b.xy), add(a.xz, b.xz), add(a.yz, b.yz)};
}
static inline Sym sym_minus(Sym a, Sym b)
{
    return (Sym){sub(a.xx, b.xx), sub(a.yy, b.yy), sub(a.zz, b.zz),
                 sub(a.xy, b.xy), sub(a.xz, b.xz), sub(a.yz, b.yz)};
}
static inline Sym sym_scale(Expr s, Sym a)
{
    return (Sym){mul(s, a.xx), mul(s, a.yy), mul(s, a.zz),
                 mul(s, a.xy), mul(s, a.xz), mul(s, a.yz)};
}
static inline Sym outer(Vec a) // a a^T
{
    return (Sym){square(a.x),   square(a.y),   square(a.z),
                 mul(a.x, a.y), mul(a.x, a.z), mul(a.y, a.z)};
}
static inline Vec sym_apply(Sym s, Vec b) { return apply(sym_mat(s), b); }
static inline Vec vee(Mat a) // of a - a^T: vee(hat(p)) = 2 p; of int b c^T it is int c x b
{
    return vec(sub(a.row[2].y, a.row[1].z), sub(a.row[0].z, a.row[2].x),
               sub(a.row[1].x, a.row[0].y));
}
// The axis that a unit vector is along, either way: 0 1 2 for x y z, or -1
static inline int unit_axis(Vec a)
{
    for (int i = 0; i < 3; i++)
        if (is_value(square(vec_at(a, i)), 1)) return i;
    return -1;
}

// ---- rounding ------------------------------------------------------------------------------

// Products of rotations and axes that are numbers leave rounding where 0, 1 or -1 should stand, and
// that costs a third of a chain's operations: such numbers are meant. Formulas of parameters stay
// what they are, and so does whatever is no direction: lengths, masses.
#define ROUNDING 1e-14
static inline Expr snapped(Expr x)
{
    if (!is_number(x)) return x;
    const double value = value_of(x), whole = value > 0.5 ? 1 : value < -0.5 ? -1 : 0;
    const double off = value - whole;
    return off < ROUNDING && off > -ROUNDING ? number(graph_of(x), whole) : x;
}
static inline Vec snapped_vec(Vec a) { return vec(snapped(a.x), snapped(a.y), snapped(a.z)); }
static inline Mat snapped_mat(Mat a)
{
    return (Mat){{snapped_vec(a.row[0]), snapped_vec(a.row[1]), snapped_vec(a.row[2])}};
}
// Of rotations, and of a vector's direction
static inline Mat turn_product(Mat a, Mat b) { return snapped_mat(mat_product(a, b)); }
static inline Vec turned_back(Mat R, Vec axis) { return snapped_vec(apply_transposed(R, axis)); }
static inline bool are_numbers(Vec a) { return is_number(a.x) && is_number(a.y) && is_number(a.z); }
// Whether a vector is along a unit vector, either way; one of numbers but for rounding
static inline bool is_along(Vec r, Vec axis)
{
    const Vec off = cross(r, axis);
    if (is_vec_zero(off)) return true;
    if (!are_numbers(r) || !are_numbers(axis)) return false;
    return value_of(dot(off, off)) <= ROUNDING * ROUNDING * value_of(dot(r, r));
}

static inline Pose pose_identity(Graph *g) { return (Pose){mat_identity(g), vec_zero(g)}; }
// A point of the frame, in the parent's axes, and the other way
static inline Vec point_out(Pose X, Vec r) { return plus(X.p, apply(X.R, r)); }
static inline Vec point_in(Pose X, Vec P) { return apply_transposed(X.R, minus(P, X.p)); }
// A frame against its parent's parent                                                [M 1]
static inline Pose pose_product(Pose parent, Pose X)
{
    return (Pose){turn_product(parent.R, X.R), point_out(parent, X.p)};
}

// The axis about which R turns by itself, 0 1 2 for x y z with j and k the next two, or -1; then
//   R = 1 on that axis, and (c, -s; s, c) across it.
typedef struct Turn {
    int i, j, k;
    Expr c, s;
} Turn;
static inline Turn single_turn(Mat R)
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const bool along =
            is_one(mat_at(R, i, i)) && is_zero(mat_at(R, i, j)) && is_zero(mat_at(R, i, k));
        if (along && same(mat_at(R, j, j), mat_at(R, k, k)) &&
            same(mat_at(R, j, k), neg(mat_at(R, k, j))))
            return (Turn){i, j, k, mat_at(R, j, j), mat_at(R, k, j)};
    }
    return (Turn){.i = -1};
}
static inline Expr *vec_place(Vec *a, int i) { return i == 0 ? &a->x : i == 1 ? &a->y : &a->z; }
static inline void mat_set(Mat *m, int i, int j, Expr x) { *vec_place(&m->row[i], j) = x; }
// R = N T with T about one axis and N that changes only the names and signs of axes; T.i < 0 where
// there is no such
static inline Turn renamed_turn(Mat R, Mat *N)
{
    Graph *g = graph_of(R.row[0].x);
    *N = mat_identity(g);
    const Turn own = single_turn(R);
    for (int a = 0; own.i < 0 && a < 3; a++)
        for (int i = 0; i < 3; i++) {
            const Expr sign = mat_at(R, a, i);
            if (!is_value(square(sign), 1)) continue;
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            *N = mat_zero(g);
            mat_set(N, a, i, sign);
            mat_set(N, (a + 1) % 3, j, one(g));
            mat_set(N, (a + 2) % 3, k, sign);
            return single_turn(mat_product(transpose(*N), R));
        }
    return own;
}
static inline bool is_simple_turn(Mat R)
{
    Mat N;
    return renamed_turn(R, &N).i >= 0;
}
// R B R^T about one axis, with d = B_jj - B_kk, m = B_jk + B_kj, h = s d + c m and c^2 + s^2 = 1:
//   B_jj - s h,  B_kk + s h,  c h - B_kj,  c h - B_jk
// (bench line "chain": a tenth of a chain's operations)
static inline Mat mat_turn(Turn t, Mat B)
{
    if (is_one(t.c)) return B;
    const int i = t.i, j = t.j, k = t.k;
    const Expr d = sub(mat_at(B, j, j), mat_at(B, k, k)), m = add(mat_at(B, j, k), mat_at(B, k, j));
    const Expr h = add(mul(t.s, d), mul(t.c, m)), sh = mul(t.s, h), ch = mul(t.c, h);
    Mat out = B;
    mat_set(&out, j, j, sub(mat_at(B, j, j), sh));
    mat_set(&out, k, k, add(mat_at(B, k, k), sh));
    mat_set(&out, j, k, sub(ch, mat_at(B, k, j)));
    mat_set(&out, k, j, sub(ch, mat_at(B, j, k)));
    mat_set(&out, i, j, sub(mul(t.c, mat_at(B, i, j)), mul(t.s, mat_at(B, i, k))));
    mat_set(&out, i, k, add(mul(t.s, mat_at(B, i, j)), mul(t.c, mat_at(B, i, k))));
    mat_set(&out, j, i, sub(mul(t.c, mat_at(B, j, i)), mul(t.s, mat_at(B, k, i))));
    mat_set(&out, k, i, add(mul(t.s, mat_at(B, j, i)), mul(t.c, mat_at(B, k, i))));
    return out;
}
static inline Mat mat_rotate(Mat R, Mat B)
{
    Mat N;
    const Turn t = renamed_turn(R, &N);
    if (t.i < 0) return mat_product(mat_product(R, B), transpose(R));
    return mat_product(mat_product(N, mat_turn(t, B)), transpose(N));
}
// R S R^T: only the entries that a symmetric result needs
static inline Sym sym_rotate(Mat R, Sym s)
{
    if (is_simple_turn(R)) return upper(mat_rotate(R, sym_mat(s)));
    const Mat T = mat_product(R, sym_mat(s));
    return (Sym){dot(T.row[0], R.row[0]), dot(T.row[1], R.row[1]), dot(T.row[2], R.row[2]),
                 dot(T.row[0], R.row[1]), dot(T.row[0], R.row[2]), dot(T.row[1], R.row[2])};
}

// ---- motions and forces --------------------------------------------------------------------

static inline Motion motion(Vec V, Vec W) { return (Motion){V, W}; }
static inline Motion motion_zero(Graph *g) { return motion(vec_zero(g), vec_zero(g)); }
static inline Motion motion_plus(Motion a, Motion b)
{
    return motion(plus(a.V, b.V), plus(a.W, b.W));
}
static inline Motion motion_scale(Expr s, Motion a) { return motion(scale(s, a.V), scale(s, a.W)); }
static inline Wrench wrench(Vec F, Vec N) { return (Wrench){F, N}; }
static inline Wrench wrench_zero(Graph *g) { return wrench(vec_zero(g), vec_zero(g)); }
static inline Wrench wrench_plus(Wrench a, Wrench b)
{
    return wrench(plus(a.F, b.F), plus(a.N, b.N));
}
static inline Wrench wrench_minus(Wrench a, Wrench b)
{
    return wrench(minus(a.F, b.F), minus(a.N, b.N));
}
static inline Wrench wrench_scale(Expr s, Wrench a) { return wrench(scale(s, a.F), scale(s, a.N)); }
static inline Expr power_of(Motion v, Wrench f) { return add(dot(v.V, f.F), dot(v.W, f.N)); }
static inline Expr motion_at(Motion v, int i)
{
    return i < 3 ? vec_at(v.V, i) : vec_at(v.W, i - 3);
}

// The component that a motion is one of, or -1.
static inline int unit_component(Motion S)
{
    int found = -1;
    for (int i = 0; i < 6; i++) {
        if (is_zero(motion_at(S, i))) continue;
        if (found >= 0 || !is_value(square(motion_at(S, i)), 1)) return -1;
        found = i;
    }
    return found;
}
static inline Expr *wrench_place(Wrench *f, int i)
{
    return vec_place(i < 3 ? &f->F : &f->N, i % 3);
}
static inline Expr *motion_place(Motion *v, int i)
{
    return vec_place(i < 3 ? &v->V : &v->W, i % 3);
}

// v x w: the rate of a motion w that stands still in a frame moving with v           (T9)
static inline Motion motion_cross(Motion v, Motion w)
{
    return motion(plus(cross(v.W, w.V), cross(v.V, w.W)), cross(v.W, w.W));
}
// v x* f: the same for a force
static inline Wrench wrench_cross(Motion v, Wrench f)
{
    return wrench(cross(v.W, f.F), plus(cross(v.W, f.N), cross(v.V, f.F)));
}

// Ad (V, W) = (R^T (V + W x p), R^T W)                                              [M 3]
static inline Motion motion_in(Pose X, Motion v)
{
    return motion(apply_transposed(X.R, plus(v.V, cross(v.W, X.p))), apply_transposed(X.R, v.W));
}
// Ad^T (F, N) = (R F, R N + p x R F)                                                [M 6]
static inline Wrench wrench_out(Pose X, Wrench f)
{
    const Vec F = apply(X.R, f.F);
    return wrench(F, plus(apply(X.R, f.N), cross(X.p, F)));
}

// ---- inertias ------------------------------------------------------------------------------

// J v = (m V + W x mc, I W + mc x V)                                          (T10) [M 7]
static inline Wrench rigid_apply(Rigid J, Motion v)
{
    return wrench(plus(scale(J.m, v.V), cross(v.W, J.mc)),
                  plus(sym_apply(J.I, v.W), cross(J.mc, v.V)));
}
static inline Rigid rigid_plus(Rigid a, Rigid b)
{
    return (Rigid){add(a.m, b.m), plus(a.mc, b.mc), sym_plus(a.I, b.I)};
}
// a.b 1 - (a b^T + b a^T) / 2 = -(hat(a) hat(b) + hat(b) hat(a)) / 2
static inline Sym parallel(Vec a, Vec b)
{
    const Expr xx = mul(a.x, b.x), yy = mul(a.y, b.y), zz = mul(a.z, b.z);
    const Expr half = number(graph_of(a.x), -0.5);
    return (Sym){add(yy, zz),
                 add(xx, zz),
                 add(xx, yy),
                 mul(half, add(mul(a.x, b.y), mul(a.y, b.x))),
                 mul(half, add(mul(a.x, b.z), mul(a.z, b.x))),
                 mul(half, add(mul(a.y, b.z), mul(a.z, b.y)))};
}
// tr S 1 - S of second moments S
static inline Sym inertia_of(Sym S)
{
    return (Sym){add(S.yy, S.zz), add(S.xx, S.zz), add(S.xx, S.yy),
                 neg(S.xy),       neg(S.xz),       neg(S.yz)};
}
// The same body about the parent's origin, in the parent's axes: with b = R mc,
//   mc -> b + m p,   I -> R I R^T - hat(p) hat(b) - hat(b) hat(p) - m hat(p)^2       (T10)
static inline Rigid rigid_out(Pose X, Rigid J)
{
    const Vec b = apply(X.R, J.mc), mp = scale(J.m, X.p);
    // the mixed terms and the square one share the products of p: parallel(p, 2 b + m p)
    const Sym shift = parallel(X.p, plus(plus(b, b), mp));
    return (Rigid){J.m, plus(b, mp), sym_plus(sym_rotate(X.R, J.I), shift)};
}

static inline Block block_zero(Graph *g) { return (Block){sym_zero(g), mat_zero(g), sym_zero(g)}; }
static inline Block block_of(Rigid J) // the same inertia, in full
{
    const Expr o = zero(graph_of(J.m));
    return (Block){{J.m, J.m, J.m, o, o, o}, hat(flip(J.mc)), J.I};
}
static inline Block block_plus(Block a, Block b)
{
    return (Block){sym_plus(a.A, b.A), mat_plus(a.B, b.B), sym_plus(a.C, b.C)};
}
static inline Wrench block_apply(Block K, Motion v)
{
    return wrench(plus(sym_apply(K.A, v.V), apply(K.B, v.W)),
                  plus(apply_transposed(K.B, v.V), sym_apply(K.C, v.W)));
}
// The axis that p lies along, 0 1 2 for x y z, or -1
static inline int lone_axis(Vec p)
{
    for (int i = 0; i < 3; i++)
        if (is_zero(vec_at(p, (i + 1) % 3)) && is_zero(vec_at(p, (i + 2) % 3))) return i;
    return -1;
}
static inline Expr *sym_place(Sym *s, int i, int j) // either way
{
    if (i == j) return i == 0 ? &s->xx : i == 1 ? &s->yy : &s->zz;
    return i + j == 1 ? &s->xy : i + j == 2 ? &s->xz : &s->yz;
}
static inline Expr sym_at(Sym s, int i, int j) { return *sym_place(&s, i, j); }
// V' = V - p x W there:  B' = B - A P,  C' = C + P B' + (P B)^T,  P = hat(p)
static inline Block block_shift(Vec p, Block K)
{
    const Mat P = hat(p), B = mat_minus(K.B, mat_product(sym_mat(K.A), P));
    const Mat shift = mat_plus(mat_product(P, B), transpose(mat_product(P, K.B)));
    return (Block){K.A, B, sym_plus(K.C, upper(shift))};
}
// The same along axis k, with i and j the next two: P_ij = -p, P_ji = p
static inline Block block_slide(int k, Expr p, Block K)
{
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const Mat B = K.B;
    Block out = K;
    for (int r = 0; r < 3; r++) {
        mat_set(&out.B, r, i, sub(mat_at(B, r, i), mul(p, sym_at(K.A, r, j))));
        mat_set(&out.B, r, j, add(mat_at(B, r, j), mul(p, sym_at(K.A, r, i))));
    }
#define B2(a, b)      mat_at(out.B, a, b)
#define MORE(a, b, x) *sym_place(&out.C, a, b) = add(sym_at(K.C, a, b), mul(p, x))
    *sym_place(&out.C, i, i) = sub(sym_at(K.C, i, i), mul(p, add(B2(j, i), mat_at(B, j, i))));
    MORE(j, j, add(B2(i, j), mat_at(B, i, j)));
    MORE(i, j, sub(mat_at(B, i, i), B2(j, j)));
    MORE(j, k, mat_at(B, i, k));
    *sym_place(&out.C, i, k) = sub(sym_at(K.C, i, k), mul(p, mat_at(B, j, k)));
#undef MORE
#undef B2
    return out;
}
static inline Block block_out(Pose X, Block K)
{
    const Block turned = {sym_rotate(X.R, K.A), mat_rotate(X.R, K.B), sym_rotate(X.R, K.C)};
    const int axis = lone_axis(X.p);
    if (is_vec_zero(X.p)) return turned;
    return axis < 0 ? block_shift(X.p, turned) : block_slide(axis, vec_at(X.p, axis), turned);
}
static inline Expr wrench_at(Wrench f, int i)
{
    return i < 3 ? vec_at(f.F, i) : vec_at(f.N, i - 3);
}
static inline Expr *block_place(Block *K, int i, int j) // i <= j, the order of motions
{
    if (j < 3) return sym_place(&K->A, i, j);
    if (i >= 3) return sym_place(&K->C, i - 3, j - 3);
    return vec_place(&K->B.row[i], j - 3);
}

#endif
