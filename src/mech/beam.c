// SPDX-License-Identifier: Apache-2.0
// Euler-Bernoulli beams by assumed modes: those of a uniform cantilever, whatever the section
// (T28-T30, T35).
// With x = s / L from 0 at the root to 1 at the tip,
//
//   phi(x) = cosh bx - cos bx - sigma (sinh bx - sin bx),   cos b cosh b = -1,
//   psi(x) = sqrt(2) sin(cx),                               c = (k - 1/2) pi
//
// for bending and torsion; the integral of their squares is 1. Nothing is lost to the difference of
// large numbers when the hyperbolic part is written by falling exponentials:
//
//   a e^(b (x - 1)) + (1 - a e^-b) e^(-bx),   sigma = 1 - 2 a e^-b
//   a = (sin b - cos b - e^-b) / (1 - e^-2b + 2 e^-b sin b)
//
// The deflection is u = sum phi_k e_k along y or z, the twist sum psi_k e_k about x; a
// cross-section turns by (twist, -u_z', u_y') [B 59]. Integrals along the beam are taken once, by
// Gauss quadrature.
#include "mech/tree.h"

#include "expr/elementary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 12, ORDERS = 3 }; // of the quadrature on each part; a shape and two derivatives

// ---- shapes --------------------------------------------------------------------------------

// rising e^(b (x - 1)) + falling e^(-bx) + cosine cos bx + sine sin bx
typedef struct Curve {
    double b, rising, falling, cosine, sine;
} Curve;

static Curve slope_of(Curve f)
{
    return (Curve){f.b, f.b * f.rising, -f.b * f.falling, f.b * f.sine, -f.b * f.cosine};
}

static double value_at(const Curve *f, double x)
{
    double sum = f->cosine * el_cos(f->b * x) + f->sine * el_sin(f->b * x);
    if (f->rising != 0) sum += f->rising * el_exp(f->b * (x - 1));
    if (f->falling != 0) sum += f->falling * el_exp(-f->b * x);
    return sum;
}

static Expr curve_at(const Curve *f, Expr x)
{
    Graph *g = graph_of(x);
    const Expr b = number(g, f->b), bx = mul(b, x);
#define EXP(x) tr_build(OP_EXP, x, x, x)
    const Expr rising = mul(number(g, f->rising), EXP(mul(b, sub(x, one(g)))));
    const Expr falling = mul(number(g, f->falling), EXP(neg(bx)));
#undef EXP
    const Expr waves =
        add(mul(number(g, f->cosine), e_cos(bx)), mul(number(g, f->sine), e_sin(bx)));
    return add(add(rising, falling), waves);
}

// The k-th root of cos b + 1 / cosh b = 0, k from 1, by Newton
static double bending_number(int k)
{
    double b = k == 1 ? 1.875 : (k - 0.5) * M_PI;
    for (int i = 0; i < 8; i++) {
        const double e = el_exp(-b), sech = 2 * e / (1 + e * e), tanh = (1 - e * e) / (1 + e * e);
        b += (el_cos(b) + sech) / (el_sin(b) + tanh * sech);
    }
    return b;
}

// phi of the k-th                                                                       (T28)
static Curve bending(int k)
{
    const double b = bending_number(k), tail = el_exp(-b), sine = el_sin(b);
    const double a = (sine - el_cos(b) - tail) / (1 - tail * tail + 2 * tail * sine);
    return (Curve){b, a, 1 - a * tail, -1, 1 - 2 * a * tail};
}

static Curve twisting(int k) { return (Curve){.b = (k - 0.5) * M_PI, .sine = sqrt(2)}; }

// ---- modes ---------------------------------------------------------------------------------

typedef struct Mode {
    int axis; // 1 or 2: bends along y or z; 0: twists about x
    Curve curve[ORDERS];
} Mode;

static Mode mode_of(int axis, int k)
{
    Mode mode = {.axis = axis};
    mode.curve[0] = axis ? bending(k) : twisting(k);
    for (int i = 1; i < ORDERS; i++) mode.curve[i] = slope_of(mode.curve[i - 1]);
    return mode;
}

// How many modes there are each way, by axis: x is torsion
typedef struct Counts {
    int along[3];
} Counts;

static int count_of(Tree *tree, Value value, const char *what)
{
    const Expr formula = tr_tree_formula(tree, value);
    const double count = tr_tree_decide(tree, RULE_STAYS, &formula, value.place,
                                        "'%s' of a beam is another number", what);
    if (!has_failed(tree->err) && !(count >= 0 && count <= MOST_MODES && count == floor(count)))
        tr_fail(tree->err, TR_INVALID, value.place, "'%s' is a whole number from 0 to %d", what,
                MOST_MODES);
    return has_failed(tree->err) ? 0 : (int)count;
}

static Counts counts_of(Tree *tree, const Beam *beam)
{
    const Text planes = beam->planes.text;
    const bool y = text_is(planes, "y"), z = text_is(planes, "z"), both = text_is(planes, "yz");
    if (!y && !z && !both)
        tr_fail(tree->err, TR_INVALID, beam->planes.place,
                "a beam bends along y, z or yz, not '%.*s'", TEXT(planes));
    const int bends = count_of(tree, beam->modes, "modes");
    const int twists = count_of(tree, beam->torsion_modes, "torsion_modes");
    if (!has_failed(tree->err) && !bends && !twists)
        tr_fail(tree->err, TR_INVALID, beam->modes.place, "a beam without modes is a rigid body");
    return (Counts){{twists, z ? 0 : bends, y ? 0 : bends}};
}

// In the order of their names: y1 y2 ... z1 ... t1 ...
static uint32_t list_modes(Counts counts, Mode *modes)
{
    static const int order[] = {1, 2, 0};
    uint32_t n = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 1; k <= counts.along[order[i]]; k++) modes[n++] = mode_of(order[i], k);
    return n;
}

// ---- quadrature ----------------------------------------------------------------------------

// Nodes and weights on -1..1: the roots of the Legendre polynomial, by Newton from nearby
static void gauss(double node[NODES], double weight[NODES])
{
    for (int i = 0; i < NODES; i++) {
        double x = el_cos(M_PI * (i + 0.75) / (NODES + 0.5)), slope = 1;
        for (int pass = 0; pass < 8; pass++) {
            double before = 1, p = x;
            for (int n = 2; n <= NODES; n++) {
                const double next = ((2 * n - 1) * x * p - (n - 1) * before) / n;
                before = p, p = next;
            }
            slope = NODES * (x * p - before) / (x * x - 1);
            x -= p / slope;
        }
        node[i] = x;
        weight[i] = 2 / ((1 - x * x) * slope * slope);
    }
}

// A beam while its integrals are taken. One part for each half wave of the shapes, and one more:
// that leaves nothing but rounding.
typedef struct Grid {
    Tree *tree;
    const Beam *beam;
    Flex *flex;
    Expr length;
    Mode modes[MAX_MODES];
    uint32_t parts, count; // of nodes
    double *x, *weight;    // on 0..1
    double *shape;         // by mode, order and node
    double *values;        // by node: what is being integrated
    Expr *profile;
} Grid;

static double *shape_at(const Grid *grid, uint32_t mode, int order)
{
    return grid->shape + (mode * ORDERS + (uint32_t)order) * (size_t)grid->count;
}

static bool make_grid(Grid *grid)
{
    double node[NODES], weight[NODES];
    gauss(node, weight);
    const uint32_t n = grid->flex->count;
    double last = 0;
    for (uint32_t k = 0; k < n; k++) last = fmax(last, grid->modes[k].curve[0].b);
    grid->parts = (uint32_t)(last / M_PI) + 2;
    grid->count = grid->parts * NODES;
    const size_t count = grid->count;
    grid->x = calloc(count * (3 + (size_t)n * ORDERS), sizeof *grid->x);
    grid->profile = calloc(count, sizeof *grid->profile);
    if (!grid->x || !grid->profile) return false;
    grid->weight = grid->x + count, grid->values = grid->weight + count;
    grid->shape = grid->values + count;
    for (uint32_t i = 0; i < grid->count; i++) {
        const uint32_t part = i / NODES;
        grid->x[i] = (part + (1 + node[i % NODES]) / 2) / grid->parts;
        grid->weight[i] = weight[i % NODES] / 2 / grid->parts;
        for (uint32_t k = 0; k < n; k++)
            for (int order = 0; order < ORDERS; order++)
                shape_at(grid, k, order)[i] = value_at(&grid->modes[k].curve[order], grid->x[i]);
    }
    return true;
}

static void free_grid(Grid *grid)
{
    free(grid->x);
    free(grid->profile);
}

// A formula of the abscissa at one place, and at all nodes
static Expr profile_at(const Grid *grid, Expr x, Value value)
{
    Tree *tree = grid->tree;
    const Local s = {"s", mul(x, grid->length)};
    return tr_tree_formula_with(tree, value, &s, 1);
}

static void take_profile(Grid *grid, Value value)
{
    const Tree *tree = grid->tree;
    for (uint32_t i = 0; i < grid->count && !has_failed(tree->err); i++)
        grid->profile[i] = profile_at(grid, number(tree->graph, grid->x[i]), value);
}

static void need_profile(Grid *grid, Value value, const char *what)
{
    Tree *tree = grid->tree;
    if (!value.given)
        tr_fail(tree->err, TR_INVALID, grid->beam->name.place, "this beam needs '%s'", what);
    take_profile(grid, value);
    for (uint32_t i = 0; i < grid->count && !has_failed(tree->err); i++) {
        if (tr_tree_is(tree, RULE_POSITIVE, grid->profile[i], value.place,
                       "'%s' of a beam is positive", what))
            continue;
        const double at = tr_tree_value(tree, grid->profile[i]);
        tr_fail(tree->err, TR_INVALID, value.place, "'%s' of a beam is %s", what,
                at == 0  ? "zero: it is positive"
                : at < 0 ? "negative"
                         : "not finite");
    }
}

static bool is_uniform(const Grid *grid)
{
    for (uint32_t i = 1; i < grid->count; i++)
        if (!same(grid->profile[i], grid->profile[0])) return false;
    return true;
}

// The integral over x of the profile times `values`; of shapes that are orthogonal rounding leaves
// what is not quite nothing.
static Expr integral(const Grid *grid)
{
    Graph *g = grid->tree->graph;
    if (has_failed(grid->tree->err)) return expr_at(g, 0);
    double number_sum = 0, size = 0;
    Expr sum = zero(g);
    const bool uniform = is_uniform(grid);
    for (uint32_t i = 0; i < grid->count; i++) {
        const double part = grid->weight[i] * grid->values[i];
        number_sum += part, size += fabs(part);
        if (!uniform) sum = add(sum, mul(number(g, part), grid->profile[i]));
    }
    if (!uniform) return sum;
    if (fabs(number_sum) <= 1e-13 * size) number_sum = 0;
    return mul(number(g, number_sum), grid->profile[0]);
}

static double raised(double x, int n)
{
    double product = 1;
    for (int i = 0; i < n; i++) product *= x;
    return product;
}

// of x^n, of x^n phi_k, of the product of two shapes
static Expr of_power(const Grid *grid, int n)
{
    for (uint32_t i = 0; i < grid->count; i++) grid->values[i] = raised(grid->x[i], n);
    return integral(grid);
}

static Expr of_shape(const Grid *grid, int n, uint32_t k)
{
    const double *phi = shape_at(grid, k, 0);
    for (uint32_t i = 0; i < grid->count; i++) grid->values[i] = raised(grid->x[i], n) * phi[i];
    return integral(grid);
}

static Expr of_product(const Grid *grid, uint32_t j, uint32_t k, int order)
{
    const double *a = shape_at(grid, j, order), *b = shape_at(grid, k, order);
    for (uint32_t i = 0; i < grid->count; i++) grid->values[i] = a[i] * b[i];
    return integral(grid);
}

// ---- integrals -----------------------------------------------------------------------------

static void set_pair(Expr *pairs, uint32_t n, uint32_t j, uint32_t k, Expr x)
{
    pairs[j * n + k] = pairs[k * n + j] = x;
}

// p_k, A_k, B_jk and m_jk of bending: L int rho, and with powers of s = L x for the arms  (T29)
static void integrate_mass(Grid *grid)
{
    Flex *flex = grid->flex;
    Graph *g = grid->tree->graph;
    const Expr L = grid->length, L2 = square(L), o = zero(g);
    const uint32_t n = flex->count;
    need_profile(grid, grid->beam->density, "density");
    flex->still = (Rigid){mul(L, of_power(grid, 0)), vec(mul(L2, of_power(grid, 1)), o, o),
                          sym_zero(g)}; // its moments follow from S
    flex->moments = sym_zero(g);
    flex->moments.xx = mul(mul(L, L2), of_power(grid, 2));
    for (uint32_t k = 0; k < n && !has_failed(grid->tree->err); k++) {
        const int axis = grid->modes[k].axis;
        if (!axis) continue;
        *vec_place(&flex->p[k], axis) = mul(L, of_shape(grid, 0, k));
        flex->A[k].row[axis].x = mul(L2, of_shape(grid, 1, k));
        for (uint32_t j = 0; j <= k; j++) {
            if (!grid->modes[j].axis) continue;
            const Expr both = mul(L, of_product(grid, j, k, 0));
            mat_set(&flex->B[j * n + k], grid->modes[j].axis, axis, both);
            mat_set(&flex->B[k * n + j], axis, grid->modes[j].axis, both);
            if (grid->modes[j].axis == axis) set_pair(flex->m, n, j, k, both);
        }
    }
}

// h_k and m_jk of torsion: int J and its products with the shapes                        (T29)
static void integrate_rotary(Grid *grid)
{
    Flex *flex = grid->flex;
    const Expr L = grid->length;
    const uint32_t n = flex->count;
    if (grid->modes[n - 1].axis && !grid->beam->rotary.given) return;
    need_profile(grid, grid->beam->rotary, "rotary");
    flex->spinning.xx = mul(L, of_power(grid, 0));
    for (uint32_t k = 0; k < n && !has_failed(grid->tree->err); k++) {
        if (grid->modes[k].axis) continue;
        flex->h[k].x = mul(L, of_shape(grid, 0, k));
        for (uint32_t j = 0; j <= k; j++)
            if (!grid->modes[j].axis) set_pair(flex->m, n, j, k, mul(L, of_product(grid, j, k, 0)));
    }
}

// int EI phi'' phi'' / L^3 of bending along an axis, int GJ psi' psi' / L of torsion      (T30)
static void integrate_stiffness(Grid *grid, int axis, Value value, const char *what)
{
    Flex *flex = grid->flex;
    const uint32_t n = flex->count;
    const Expr divisor = axis ? power(grid->length, 3) : grid->length;
    bool any = false;
    for (uint32_t k = 0; k < n; k++) any = any || grid->modes[k].axis == axis;
    if (!any && !value.given) return;
    need_profile(grid, value, what);
    if (!any && axis == 2 && grid->beam->stiffness_z.given)
        tr_fail(
            grid->tree->err, TR_INVALID, value.place,
            "'stiffness_z' is for a beam that bends along z, and this one does not: see planes");
    for (uint32_t k = 0; k < n && !has_failed(grid->tree->err); k++)
        for (uint32_t j = 0; j <= k; j++)
            if (grid->modes[j].axis == axis && grid->modes[k].axis == axis)
                set_pair(flex->K, n, j, k, quotient(of_product(grid, j, k, axis ? 2 : 1), divisor));
}

// ---- what bends gets shorter ---------------------------------------------------------------

static bool bend_alike(const Grid *grid, uint32_t j, uint32_t k)
{
    return grid->modes[j].axis && grid->modes[j].axis == grid->modes[k].axis;
}

// int phi_j' phi_k' from 0 to x, of all pairs
static void shorten(const Grid *grid, double x, double *pairs)
{
    const uint32_t n = grid->flex->count;
    double slope[MAX_MODES];
    memset(pairs, 0, (size_t)n * n * sizeof *pairs);
    for (uint32_t i = 0; i < grid->count; i++) {
        for (uint32_t k = 0; k < n; k++)
            slope[k] = value_at(&grid->modes[k].curve[1], x * grid->x[i]);
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t k = 0; k < n; k++)
                if (bend_alike(grid, j, k))
                    pairs[j * n + k] += x * grid->weight[i] * slope[j] * slope[k];
    }
}

// The same where x is a formula of parameters
static Expr shorten_by_formula(const Grid *grid, uint32_t j, uint32_t k, Expr x)
{
    Graph *g = graph_of(x);
    const Curve *a = &grid->modes[j].curve[1], *b = &grid->modes[k].curve[1];
    Expr sum = zero(g);
    for (uint32_t i = 0; i < grid->count; i++) {
        const Expr at = mul(number(g, grid->x[i]), x);
        const Expr both = mul(curve_at(a, at), curve_at(b, at));
        sum = add(sum, mul(number(g, grid->weight[i]), both));
    }
    return mul(x, sum);
}

// g of a point
static Expr *shorten_at(const Grid *grid, Expr x)
{
    Graph *g = graph_of(x);
    const uint32_t n = grid->flex->count;
    Expr *pairs = tr_zero_pairs(grid->tree, (size_t)n * n);
    double numbers[MAX_MODES * MAX_MODES] = {0};
    if (is_number(x)) shorten(grid, value_of(x), numbers);
    for (uint32_t k = 0; pairs && k < n; k++)
        for (uint32_t j = 0; j <= k; j++) {
            if (!bend_alike(grid, j, k)) continue;
            const Expr all =
                is_number(x) ? number(g, numbers[j * n + k]) : shorten_by_formula(grid, j, k, x);
            set_pair(pairs, n, j, k, quotient(all, grid->length));
        }
    return pairs;
}

// G0 = int rho g = int rho h,   G1 = int rho s g = L int rho x h, with h = L g from 0 to x  (T35)
static void integrate_shortening(Grid *grid)
{
    Flex *flex = grid->flex;
    const uint32_t n = flex->count;
    const size_t all = (size_t)n * n;
    double *h = calloc(all * grid->count, sizeof *h); // by node, of all pairs
    if (!h) {
        grid->tree->graph->failed = true;
        return;
    }
    take_profile(grid, grid->beam->density);
    for (uint32_t i = 0; i < grid->count; i++) shorten(grid, grid->x[i], h + i * all);
    for (uint32_t k = 0; k < n && !has_failed(grid->tree->err); k++)
        for (uint32_t j = 0; j <= k; j++) {
            if (!bend_alike(grid, j, k)) continue;
            for (uint32_t i = 0; i < grid->count; i++) grid->values[i] = h[i * all + j * n + k];
            set_pair(flex->G0, n, j, k, integral(grid));
            for (uint32_t i = 0; i < grid->count; i++) grid->values[i] *= grid->x[i];
            set_pair(flex->G1, n, j, k, mul(grid->length, integral(grid)));
        }
    free(h);
}

// ---- points --------------------------------------------------------------------------------

static void check_abscissa(Grid *grid, const Body *point, Expr s)
{
    Tree *tree = grid->tree;
    const Expr span[] = {s, grid->length};
    if (!has_failed(tree->err) && !same(s, grid->length) &&
        tr_tree_decide(tree, RULE_ON_BEAM, span, point->joint.at.place, "'%.*s' is on its beam",
                       WHOLE(point->name.text)) == 0)
        tr_fail(tree->err, TR_INVALID, point->joint.at.place,
                "'%.*s' is at %.6g, not on the beam, which goes from 0 to %.6g",
                TEXT(point->name.text), tr_tree_value(tree, s), tr_tree_value(tree, grid->length));
}

// Shapes at x = s / L: U_k, and Theta_k = (twist, -u_z', u_y')                            (T28)
static void take_shapes(const Grid *grid, Section *at, Expr x)
{
    if (grid->flex->G0) at->g = shorten_at(grid, x);
    for (uint32_t k = 0; k < grid->flex->count; k++) {
        const Mode *mode = &grid->modes[k];
        const Expr shape = curve_at(&mode->curve[0], x);
        const Expr slope = quotient(curve_at(&mode->curve[1], x), grid->length);
        if (mode->axis) *vec_place(&at->U[k], mode->axis) = shape;
        if (mode->axis == 0) at->Theta[k].x = shape;
        if (mode->axis == 1) at->Theta[k].z = slope;
        if (mode->axis == 2) at->Theta[k].y = neg(slope);
    }
}

// Its `at` is (s, 0, 0)
static void make_point(Grid *grid, const Link *link)
{
    Tree *tree = grid->tree;
    Section *at = link->section;
    at->X = tr_tree_vector(tree, link->by->at, "points");
    check_abscissa(grid, link->body, at->X.x);
    if (!has_failed(tree->err)) take_shapes(grid, at, quotient(at->X.x, grid->length));
}

static void add_piece(Grid *grid, double x, double share)
{
    Tree *tree = grid->tree;
    Graph *g = tree->graph;
    const Expr at = number(g, x);
    const Expr mass = mul(grid->length, profile_at(grid, at, grid->beam->density));
    Section *section = tr_section_new(tree, grid->flex);
    if (!section || has_failed(tree->err)) return;
    section->X.x = mul(at, grid->length);
    take_shapes(grid, section, at);
    grid->flex->pieces[grid->flex->piece_count++] =
        (struct Piece){section, share * tr_tree_value(tree, mass)};
}

// A cubic along two pieces for each half wave follows the shape closely.
static void make_pieces(Grid *grid)
{
    const Counts counts = counts_of(grid->tree, grid->beam);
    int most = 0;
    for (int k = 0; k < 3; k++) most = counts.along[k] > most ? counts.along[k] : most;
    const int count = 2 + 2 * most;
    grid->flex->pieces = tr_tree_room(grid->tree, (size_t)count + 1, sizeof *grid->flex->pieces);
    if (!grid->flex->pieces) return;
    for (int i = 0; i < count; i++) add_piece(grid, (i + 0.5) / count, 1. / count);
    add_piece(grid, 1, 0);
}

// ---- the links -----------------------------------------------------------------------------

static void add_points(Tree *tree, uint32_t i)
{
    const Beam *beam = &tree->links[i].body->beam;
    bool has_tip = false;
    for (uint32_t k = 0; k < beam->points.count && !has_failed(tree->err); k++) {
        tr_section_add(tree, i, beam->points.at[k].key, beam->points.at[k].value, ", 0, 0");
        has_tip = has_tip || text_is(beam->points.at[k].key.text, "tip");
    }
    if (!has_tip)
        tr_section_add(tree, i, (Value){text_of("tip"), beam->length.place, true}, beam->length,
                       ", 0, 0");
}

static void name_modes(Tree *tree, const Link *link)
{
    static const char letter[] = {'t', 'y', 'z'};
    Mode modes[MAX_MODES];
    const uint32_t n = list_modes(counts_of(tree, &link->body->beam), modes);
    for (uint32_t k = 0, number_in_row = 0; k < n; k++) {
        char part[20];
        number_in_row = k && modes[k].axis == modes[k - 1].axis ? number_in_row + 1 : 1;
        snprintf(part, sizeof part, "%c%u", letter[modes[k].axis], number_in_row);
        link->flex->names[k] = tr_flex_name(tree, link, part);
    }
}

void tr_beam_begin(Tree *tree, uint32_t i)
{
    const Link *link = &tree->links[i];
    const Beam *beam = &link->body->beam;
    if (!beam->length.given)
        tr_fail(tree->err, TR_INVALID, beam->name.place, "this beam needs 'length'");
    const Counts counts = counts_of(tree, beam);
    if (has_failed(tree->err)) return;
    const int n = counts.along[0] + counts.along[1] + counts.along[2];
    if (!tr_flex_new(tree, i, (uint32_t)n)) return;
    name_modes(tree, link);
    add_points(tree, i);
}

// ---- all of it -----------------------------------------------------------------------------

static void integrate(Grid *grid)
{
    const Beam *beam = grid->beam;
    integrate_mass(grid);
    integrate_rotary(grid);
    integrate_stiffness(grid, 1, beam->stiffness, "stiffness");
    integrate_stiffness(grid, 2, beam->stiffness_z.given ? beam->stiffness_z : beam->stiffness,
                        beam->stiffness_z.given ? "stiffness_z" : "stiffness");
    integrate_stiffness(grid, 0, beam->torsion, "torsion");
    tr_flex_damp(grid->tree, grid->flex, beam->damping);
    if (grid->flex->G0) integrate_shortening(grid);
}

void tr_beam_make(Tree *tree, uint32_t i)
{
    const Link *link = &tree->links[i];
    Flex *flex = link->flex;
    const Beam *beam = &link->body->beam;
    Grid grid = {.tree = tree, .beam = beam, .flex = flex};
    grid.length = tr_tree_formula(tree, beam->length);
    if (!has_failed(tree->err) &&
        !tr_tree_is(tree, RULE_POSITIVE, grid.length, beam->length.place,
                    "the length of the beam '%.*s' is positive", WHOLE(link->body->name.text)))
        tr_fail(tree->err, TR_INVALID, beam->length.place, "the length of a beam is positive");
    if (has_failed(tree->err)) return;
    list_modes(counts_of(tree, beam), grid.modes);
    if (is_true(beam->stiffening)) {
        flex->G0 = tr_zero_pairs(tree, (size_t)flex->count * flex->count);
        flex->G1 = tr_zero_pairs(tree, (size_t)flex->count * flex->count);
    }
    if (tree->graph->failed || !make_grid(&grid))
        tree->graph->failed = true;
    else
        integrate(&grid);
    for (uint32_t k = i + 1; k < tree->link_count && !tree->graph->failed; k++)
        if (tree->links[k].parent == i && tree->links[k].section && !has_failed(tree->err))
            make_point(&grid, &tree->links[k]);
    if (!tree->graph->failed) make_pieces(&grid);
    free_grid(&grid);
}
