// SPDX-License-Identifier: Apache-2.0
#include "print/closed.h"

#include "base/number.h"
#include "expr/walk.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_MULTIPLE = 12,
    MOST_TRIES = 40,
    MOST_GENERATORS = 400,
    MOST_POWER = 40,
    MOST_MENDED = 200,
    MOST_ROUNDS = 6,
    MOST_READABLE = 60,  // nodes of what is not simplified
    MOST_WRITTEN = 3000, // operations
    MOST_PLAIN = 1000,   // nodes: it goes down into itself
    MOST_GIVEN = 100000  // nodes of an expression as it was
};

// ---- numbers -------------------------------------------------------------------------------

// The simplest quotient that rounds to a value, by continued fractions
static bool find_quotient(double value, int64_t most, int64_t *top, int64_t *bottom)
{
    double rest = fabs(value);
    int64_t p[2] = {1, 0}, q[2] = {0, 1};
    for (int i = 0; i < 30 && rest < 1e15; i++) {
        const int64_t whole = (int64_t)floor(rest);
        if (q[0] && whole > (most - q[1]) / q[0]) return false;
        if (p[0] && whole > (INT64_MAX / 4 - p[1]) / p[0]) return false;
        const int64_t P = whole * p[0] + p[1], Q = whole * q[0] + q[1];
        p[1] = p[0], p[0] = P, q[1] = q[0], q[0] = Q;
        if ((double)P / (double)Q == fabs(value)) {
            *top = value < 0 ? -P : P, *bottom = Q;
            return true;
        }
        if (rest == (double)whole) return false;
        rest = 1 / (rest - (double)whole);
    }
    return false;
}

// As decimals of at most `digits` digits
static bool find_decimal(double value, int digits, int64_t *top, int64_t *bottom)
{
    double scale = 1;
    for (int i = 0; i <= 15; i++, scale *= 10) {
        const double shifted = nearbyint(value * scale);
        if (fabs(shifted) > pow(10, digits)) return false;
        if (fabs(shifted / scale - value) <= 2 * DBL_EPSILON * fabs(value)) { // 0.1 + 0.2 is 0.3
            *top = (int64_t)shifted, *bottom = (int64_t)scale;
            return true;
        }
    }
    return false;
}

static bool find_rational(double value, int64_t *top, int64_t *bottom)
{
    return find_decimal(value, 6, top, bottom) || find_quotient(value, 10000, top, bottom) ||
           find_decimal(value, 9, top, bottom);
}

// ---- fractions -----------------------------------------------------------------------------

static Fraction integer(Closed *c, int64_t value)
{
    return (Fraction){tr_poly_integer(c->ring, value), tr_poly_integer(c->ring, 1)};
}

static bool is_nothing(const Poly *p) { return tr_poly_count(p) == 0; }

// With a generator that turns its sign
static const Poly *conjugate(Closed *c, const Poly *p, uint32_t place)
{
    const uint32_t count = tr_poly_count(p);
    unsigned long *exponents = calloc((size_t)count * c->most + 1, sizeof *exponents);
    int64_t *coefficients = calloc(count + 1u, sizeof *coefficients);
    const Poly *turned = p;
    if (!exponents || !coefficients) tr_ring_fill(c->ring);
    for (uint32_t i = 0; exponents && coefficients && i < count; i++) {
        unsigned long *e = exponents + (size_t)i * c->most;
        tr_poly_exponents(c->ring, p, i, e);
        const int64_t value = tr_poly_coefficient(c->ring, p, i);
        coefficients[i] = e[place] % 2 ? -value : value;
    }
    if (exponents && coefficients) turned = tr_poly_from(c->ring, count, coefficients, exponents);
    free(exponents);
    free(coefficients);
    return turned;
}

// Which generators a polynomial has, by place
static void find_generators(const Closed *c, const Poly *p, bool *has)
{
    unsigned long exponents[MOST_GENERATORS];
    memset(has, 0, c->most * sizeof *has);
    for (uint32_t i = 0; i < tr_poly_count(p); i++) {
        tr_poly_exponents(c->ring, p, i, exponents);
        for (uint32_t k = 0; k < c->most; k++) has[k] = has[k] || exponents[k];
    }
}

static Fraction without_common(Closed *c, Fraction f)
{
    const Poly *top, *bottom;
    tr_poly_gcd(c->ring, f.top, f.bottom, &top, &bottom);
    if (!is_nothing(bottom) && tr_poly_coefficient(c->ring, bottom, 0) < 0)
        top = tr_poly_neg(c->ring, top), bottom = tr_poly_neg(c->ring, bottom);
    return (Fraction){top, bottom};
}

static uint32_t length(Fraction f) { return tr_poly_count(f.top) + tr_poly_count(f.bottom); }

// Denominators without sines and roots, where that makes them no longer
static Fraction without_roots(Closed *c, Fraction f)
{
    bool has[MOST_GENERATORS];
    find_generators(c, f.bottom, has);
    for (uint32_t k = 0; k < c->count && !tr_ring_is_full(c->ring); k++) {
        const GeneratorKind kind = c->generators[k].kind;
        const uint32_t place = place_of(c, k);
        if ((kind != GENERATOR_SINE && kind != GENERATOR_ROOT) || !has[place]) continue;
        const Poly *other = conjugate(c, f.bottom, place);
        const Fraction next = without_common(
            c, (Fraction){tr_poly_reduce(c->ring, tr_poly_mul(c->ring, f.top, other)),
                          tr_poly_reduce(c->ring, tr_poly_mul(c->ring, f.bottom, other))});
        if (is_nothing(next.bottom) || length(next) > length(f)) continue;
        f = next;
        find_generators(c, f.bottom, has);
    }
    return f;
}

static Fraction normal(Closed *c, const Poly *top, const Poly *bottom)
{
    int64_t value;
    Fraction f = {tr_poly_reduce(c->ring, top), tr_poly_reduce(c->ring, bottom)};
    if (is_nothing(f.bottom)) tr_ring_fill(c->ring); // there is no value
    if (tr_ring_is_full(c->ring)) return f;
    f = without_common(c, f);
    return tr_poly_is_integer(f.bottom, c->ring, &value) ? f : without_roots(c, f);
}

static Fraction sum_of(Closed *c, Fraction a, Fraction b, bool minus)
{
    Ring *r = c->ring;
    if (tr_poly_same(r, a.bottom, b.bottom))
        return normal(c, (minus ? tr_poly_sub : tr_poly_add)(r, a.top, b.top), a.bottom);
    return normal(c,
                  (minus ? tr_poly_sub : tr_poly_add)(r, tr_poly_mul(r, a.top, b.bottom),
                                                      tr_poly_mul(r, b.top, a.bottom)),
                  tr_poly_mul(r, a.bottom, b.bottom));
}

static Fraction product_of(Closed *c, Fraction a, Fraction b)
{
    return normal(c, tr_poly_mul(c->ring, a.top, b.top), tr_poly_mul(c->ring, a.bottom, b.bottom));
}

static Fraction inverse_of(Closed *c, Fraction a) { return normal(c, a.bottom, a.top); }

static Fraction power_of(Closed *c, Fraction a, int power)
{
    Fraction whole = integer(c, 1);
    if (abs(power) > MOST_POWER) tr_ring_fill(c->ring);
    if (power < 0) a = inverse_of(c, a);
    for (int i = 0; i < abs(power) && !tr_ring_is_full(c->ring); i++)
        whole = product_of(c, whole, a);
    return whole;
}

static bool is_same(Closed *c, Fraction a, Fraction b)
{
    const Fraction difference = sum_of(c, a, b, true);
    return !tr_ring_is_full(c->ring) && is_nothing(difference.top);
}

// ---- generators ----------------------------------------------------------------------------

static uint32_t add_generator(Closed *c, Generator generator)
{
    if (c->count == c->most) {
        c->is_too_coarse = true;
        tr_ring_fill(c->ring);
        return 0;
    }
    c->generators[c->count] = generator;
    return c->count++;
}

static Fraction generator(Closed *c, uint32_t k)
{
    return (Fraction){tr_poly_generator(c->ring, place_of(c, k)), tr_poly_integer(c->ring, 1)};
}

static Fraction plain_symbol(Closed *c, Expr x)
{
    for (uint32_t k = 0; k < c->count; k++)
        if (c->generators[k].kind == GENERATOR_SYMBOL && same(c->generators[k].node, x))
            return generator(c, k);
    return generator(c, add_generator(c, (Generator){.kind = GENERATOR_SYMBOL, .node = x}));
}

static uint32_t find_unit(const Closed *c, Expr x)
{
    for (uint32_t i = 0; i < c->rules.unit_count; i++)
        for (int k = 0; k < 4 && c->rules.units[i][k].id; k++)
            if (same(c->rules.units[i][k], x)) return i;
    return UINT32_MAX;
}

// a^2 = 1 - b^2 - c^2 - d^2, the first made last: so it comes before all that its rule is about
// (T370)
static void relate_unit(Closed *c, const Expr unit[4])
{
    Ring *r = c->ring;
    const Poly *sum = tr_poly_integer(r, -1);
    for (int k = unit[3].id ? 4 : 3; k-- > 0;) {
        const Poly *x = plain_symbol(c, unit[k]).top;
        sum = tr_poly_add(r, sum, tr_poly_mul(r, x, x));
    }
    tr_ring_relate(r, sum);
}

static Fraction symbol(Closed *c, Expr x)
{
    const uint32_t unit = find_unit(c, x), before = c->count;
    if (unit < c->rules.unit_count) {
        const Expr *all = c->rules.units[unit];
        plain_symbol(c, all[all[3].id ? 3 : 2]);
        if (c->count > before) relate_unit(c, all); // it is the first of them
    }
    return plain_symbol(c, x);
}

// pi, or what has too many digits
static Fraction constant(Closed *c, double value)
{
    for (uint32_t k = 0; k < c->count; k++)
        if (c->generators[k].kind == GENERATOR_NUMBER && c->generators[k].value == value)
            return generator(c, k);
    return generator(c, add_generator(c, (Generator){.kind = GENERATOR_NUMBER, .value = value}));
}

static bool is_call_of(Closed *c, const Generator *g, Expr x, const Fraction *of)
{
    const Node *a = node_of(g->node), *b = node_of(x);
    if (a->op != b->op || a->n != b->n) return false;
    if ((a->op == OP_TABLE1 || a->op == OP_TABLE2) && a->c != b->c) return false;
    for (uint32_t i = 0; i < g->count; i++)
        if (!is_same(c, g->of[i], of[i])) return false;
    return true;
}

static Fraction call(Closed *c, Expr x, const Fraction *of)
{
    for (uint32_t k = 0; k < c->count; k++)
        if (c->generators[k].kind == GENERATOR_CALL && is_call_of(c, &c->generators[k], x, of))
            return generator(c, k);
    Generator g = {.kind = GENERATOR_CALL, .node = x, .count = (uint32_t)tr_op[op_of(x)].operands};
    for (uint32_t i = 0; i < g.count; i++) g.of[i] = of[i];
    return generator(c, add_generator(c, g));
}

// r with r^2 = top bottom, over the bottom where that is a number: of others nobody knows the sign
static Fraction root(Closed *c, Expr x, Fraction of)
{
    int64_t bottom, top;
    if (!tr_poly_is_integer(of.bottom, c->ring, &bottom)) return call(c, x, &of);
    if (tr_poly_is_integer(of.top, c->ring, &top) && top >= 0) {
        const int64_t p = (int64_t)sqrt((double)top), q = (int64_t)sqrt((double)bottom);
        if (p * p == top && q * q == bottom)
            return normal(c, tr_poly_integer(c->ring, p), tr_poly_integer(c->ring, q));
    }
    const Fraction square = {tr_poly_mul(c->ring, of.top, of.bottom), tr_poly_integer(c->ring, 1)};
    uint32_t k = 0;
    while (k < c->count && (c->generators[k].kind != GENERATOR_ROOT ||
                            !tr_poly_same(c->ring, c->generators[k].of[0].top, square.top)))
        k++;
    if (k == c->count && !tr_ring_is_full(c->ring)) {
        k = add_generator(c, (Generator){.kind = GENERATOR_ROOT, .count = 1, .of = {square}});
        const Poly *r = tr_poly_generator(c->ring, place_of(c, k));
        tr_ring_relate(c->ring, tr_poly_sub(c->ring, tr_poly_mul(c->ring, r, r), square.top));
    }
    return normal(c, tr_poly_generator(c->ring, place_of(c, k)), of.bottom);
}

// ---- angles --------------------------------------------------------------------------------

typedef struct Turn {
    Fraction cosine, sine;
} Turn;

static Turn turn_by(Closed *c, Turn a, Turn b)
{
    return (Turn){
        sum_of(c, product_of(c, a.cosine, b.cosine), product_of(c, a.sine, b.sine), true),
        sum_of(c, product_of(c, a.sine, b.cosine), product_of(c, a.cosine, b.sine), false)};
}

// c and s of an angle, with s^2 = 1 - c^2
static uint32_t add_angle(Closed *c, Fraction of, int64_t unit)
{
    const uint32_t k = add_generator(
        c, (Generator){.kind = GENERATOR_COSINE, .count = 1, .of = {of}, .unit = unit});
    const uint32_t s =
        add_generator(c, (Generator){.kind = GENERATOR_SINE, .count = 1, .of = {of}, .unit = unit});
    if (tr_ring_is_full(c->ring)) return 0;
    c->generators[k].partner = s, c->generators[s].partner = k;
    const Poly *cosine = tr_poly_generator(c->ring, place_of(c, k)),
               *sine = tr_poly_generator(c->ring, place_of(c, s));
    tr_ring_relate(c->ring, tr_poly_sub(c->ring,
                                        tr_poly_add(c->ring, tr_poly_mul(c->ring, sine, sine),
                                                    tr_poly_mul(c->ring, cosine, cosine)),
                                        tr_poly_integer(c->ring, 1)));
    c->angles[c->angle_count++] = k;
    return k;
}

// The angle of a product of generators, in units of which `bottom` is a whole number
static uint32_t find_angle(Closed *c, Fraction of, int64_t bottom)
{
    uint32_t i = 0;
    while (i < c->angle_count && !is_same(c, c->generators[c->angles[i]].of[0], of)) i++;
    if (i == c->unit_count) {
        if (!tr_grow((void **)&c->units, &c->unit_capacity, i + 1, sizeof *c->units))
            return tr_ring_fill(c->ring), 0;
        c->units[c->unit_count++] = bottom;
    }
    if (c->units[i] % bottom) { // all over again
        c->units[i] *= bottom / common_divisor(c->units[i], bottom);
        c->is_too_coarse = true;
        return tr_ring_fill(c->ring), 0;
    }
    return i < c->angle_count ? c->angles[i] : add_angle(c, of, c->units[i]);
}

static Turn multiple(Closed *c, uint32_t cosine, int64_t times)
{
    const Turn once = {generator(c, cosine), generator(c, c->generators[cosine].partner)};
    Turn all = {integer(c, 1), integer(c, 0)};
    if (times > MOST_MULTIPLE || times < -MOST_MULTIPLE) tr_ring_fill(c->ring);
    for (int64_t i = 0; i < llabs(times) && !tr_ring_is_full(c->ring); i++)
        all = turn_by(c, all, once);
    if (times < 0) all.sine = sum_of(c, integer(c, 0), all.sine, true);
    return all;
}

// Of a number: quarter turns are exact, others are angles of their own
static Turn constant_turn(Closed *c, double value, Fraction of)
{
    const double quarters = value / (0.5 * M_PI), whole = nearbyint(quarters);
    if (fabs(quarters - whole) > 1e-14 * (1 + fabs(whole)))
        return multiple(c, find_angle(c, of, 1), 1);
    const int which = (int)(((int64_t)whole % 4 + 4) % 4);
    static const int cosine[] = {1, 0, -1, 0}, sine[] = {0, 1, 0, -1};
    return (Turn){integer(c, cosine[which]), integer(c, sine[which])};
}

// The value of a product of generators, if all of them are numbers
static bool find_constant(const Closed *c, const unsigned long *exponents, double *value)
{
    *value = 1;
    for (uint32_t k = 0; k < c->count; k++) {
        const unsigned long power = exponents[place_of(c, k)];
        if (power && c->generators[k].kind != GENERATOR_NUMBER) return false;
        for (unsigned long i = 0; i < power; i++) *value *= c->generators[k].value;
    }
    return true;
}

// By one term of an angle's numerator
static Turn term_turn(Closed *c, Fraction angle, uint32_t term, int64_t divisor)
{
    unsigned long exponents[MOST_GENERATORS];
    const int64_t coefficient = tr_poly_coefficient(c->ring, angle.top, term), unit = 1;
    const int64_t common = common_divisor(coefficient, divisor), bottom = divisor / common;
    int64_t below;
    double value;
    tr_poly_exponents(c->ring, angle.top, term, exponents);
    const bool is_number = tr_poly_is_integer(angle.bottom, c->ring, &below);
    if (is_number && find_constant(c, exponents, &value))
        return constant_turn(c, value * (double)coefficient / (double)divisor,
                             normal(c, tr_poly_from(c->ring, 1, &coefficient, exponents),
                                    tr_poly_integer(c->ring, divisor)));
    Fraction of = {tr_poly_from(c->ring, 1, &unit, exponents), tr_poly_integer(c->ring, 1)};
    if (!is_number) of = normal(c, of.top, angle.bottom);
    const uint32_t k = find_angle(c, of, bottom);
    if (tr_ring_is_full(c->ring)) return (Turn){of, of};
    return multiple(c, k, coefficient / common * (c->generators[k].unit / bottom));
}

static Turn turn_of(Closed *c, Fraction angle)
{
    int64_t divisor;
    Turn all = {integer(c, 1), integer(c, 0)};
    if (!tr_poly_is_integer(angle.bottom, c->ring, &divisor)) divisor = 1;
    for (uint32_t i = 0; i < tr_poly_count(angle.top) && !tr_ring_is_full(c->ring); i++)
        all = turn_by(c, all, term_turn(c, angle, i, divisor));
    return all;
}

// ---- expressions ---------------------------------------------------------------------------

static Fraction number_fraction(Closed *c, double value)
{
    int64_t top = 0, bottom = 1;
    const bool is_simple = find_rational(value, &top, &bottom);
    const bool is_turn = !is_simple && find_quotient(value / M_PI, 360, &top, &bottom);
    if (!isfinite(value)) tr_ring_fill(c->ring);
    if (!is_simple && !is_turn) {
        const Fraction f = constant(c, fabs(value));
        return value < 0 ? sum_of(c, integer(c, 0), f, true) : f;
    }
    const Fraction f = normal(c, tr_poly_integer(c->ring, top), tr_poly_integer(c->ring, bottom));
    return is_turn ? product_of(c, f, constant(c, M_PI)) : f;
}

static Fraction halves_of(Closed *c, Expr x, Fraction a)
{
    const int n = node_of(x)->n;
    const Fraction base = n % 2 ? root(c, tr_build(OP_SQRT, operand(x, 0), x, x), a) : a;
    return power_of(c, base, n % 2 ? n : n / 2);
}

static Fraction fraction_of(Closed *c, Expr x)
{
    const Node *node = node_of(x);
    Fraction of[3] = {0};
    for (int i = 0; i < tr_op[node->op].operands; i++) of[i] = c->by_node[node_operand(node, i)];
    switch ((Op)node->op) {
    case OP_NUMBER: return number_fraction(c, value_of(x));
    case OP_SYMBOL: return symbol(c, x);
    case OP_ADD: return sum_of(c, of[0], of[1], false);
    case OP_SUB: return sum_of(c, of[0], of[1], true);
    case OP_MUL: return product_of(c, of[0], of[1]);
    case OP_DIV: return product_of(c, of[0], inverse_of(c, of[1]));
    case OP_NEG: return sum_of(c, integer(c, 0), of[0], true);
    case OP_POW: return halves_of(c, x, of[0]);
    case OP_SQRT: return root(c, x, of[0]);
    case OP_SIN: return turn_of(c, of[0]).sine;
    case OP_COS: return turn_of(c, of[0]).cosine;
    case OP_TAN: {
        const Turn turn = turn_of(c, of[0]);
        return product_of(c, turn.sine, inverse_of(c, turn.cosine));
    }
    default: break;
    }
    if (node->op >= OP_COUNT || node->op == OP_FAILED) tr_ring_fill(c->ring); // blocks
    return call(c, x, of);
}

static bool make_all(Closed *c, const Reach *reach, tr_error *err)
{
    if (c->ring) c->spent += tr_ring_work(c->ring);
    tr_ring_free(c->ring);
    c->count = c->angle_count = 0, c->is_too_coarse = false;
    c->ring = tr_ring_new(c->most, err);
    if (!c->ring) return false;
    for (uint32_t i = 0; i < reach->count && !tr_ring_is_full(c->ring); i++) {
        c->by_node[reach->ids[i]] = fraction_of(c, expr_at(c->graph, reach->ids[i]));
        if (tr_closed_is_spent(c)) tr_ring_fill(c->ring);
    }
    return true;
}

uint64_t tr_closed_work(const Closed *c) { return c->spent + tr_ring_work(c->ring); }
bool tr_closed_is_spent(const Closed *c) { return tr_closed_work(c) > c->rules.budget; }

// Symbols, and two for each angle; of sums of angles there may be more
static uint32_t expect_generators(const Graph *graph, const Reach *reach)
{
    uint32_t count = 4;
    for (uint32_t i = 0; i < reach->count; i++) {
        const Op op = (Op)graph->nodes[reach->ids[i]].op;
        if (op == OP_SIN || op == OP_COS || op == OP_TAN || tr_op[op].form == FORM_CALL) count++;
        count += op == OP_SYMBOL;
    }
    return count < MOST_GENERATORS ? count : MOST_GENERATORS;
}

Closed *tr_closed_new(Graph *graph, Expr x, const Rules *rules, tr_error *err)
{
    Closed *c = has_failed(err) ? NULL : calloc(1, sizeof *c);
    Reach reach = {0};
    bool good = c && tr_reach(graph, &x, 1, &reach);
    if (good) {
        c->graph = graph;
        if (rules) c->rules = *rules;
        if (!c->rules.budget) c->rules.budget = CLOSED_BUDGET;
        c->by_node = calloc(reach.end + 1u, sizeof *c->by_node);
        c->generators = calloc(MOST_GENERATORS, sizeof *c->generators);
        c->angles = calloc(MOST_GENERATORS, sizeof *c->angles);
        good = c->by_node && c->generators && c->angles;
    }
    if (!good) tr_fail_memory(err);
    if (good) c->most = expect_generators(graph, &reach);
    for (int i = 0; good && i < MOST_TRIES; i++) {
        good = make_all(c, &reach, err);
        if (!good || !c->is_too_coarse || tr_closed_is_spent(c)) break;
        if (c->count < c->most) continue; // a finer unit
        if (c->most == MOST_GENERATORS) break;
        c->most = 2 * c->most < MOST_GENERATORS ? 2 * c->most : MOST_GENERATORS;
    }
    tr_reach_free(&reach);
    if (good) return c;
    tr_closed_free(c);
    return NULL;
}

void tr_closed_free(Closed *c)
{
    if (!c) return;
    tr_ring_free(c->ring);
    tr_arena_free(&c->arena);
    free(c->generators);
    free(c->angles);
    free(c->units);
    free(c->by_node);
    free(c);
}

static const Term *cheaper(const Term *a, const Term *b) { return b && b->cost < a->cost ? b : a; }

// What was found for the whole, the way it was with shorter parts, or the way it was: shorter parts
// may make the whole longer, where they join less. Where nothing was found, the way it was, if that
// can be read.
static const Term *best_form(Closed *c, Expr x)
{
    const Term *form = tr_ring_is_full(c->ring) ? NULL : tr_arrange(c, c->by_node[x.id]);
    if (!form) return tr_plain(c, x, MOST_READABLE, false);
    const uint32_t nodes = form->cost < MOST_PLAIN / 2 ? 2 * form->cost + 2 : MOST_PLAIN;
    const Term *mended = form->cost <= MOST_MENDED ? tr_plain(c, x, nodes, true) : NULL;
    const Term *best = cheaper(cheaper(form, mended), tr_plain(c, x, MOST_GIVEN, false));
    return best->cost <= MOST_WRITTEN ? best : NULL;
}

const Term *tr_closed_number(Closed *c, double value)
{
    int64_t top = 0, bottom = 1;
    Arena *arena = &c->arena;
    if (find_rational(value, &top, &bottom)) {
        const int64_t common = common_divisor(top, bottom);
        return tr_term_number(arena, top / common, bottom / common);
    }
    const Term *parts[] = {tr_term_number(arena, -1, 1), tr_term_decimal(arena, fabs(value))};
    return value < 0 ? tr_term_product(arena, parts, 2) : parts[1];
}

// What is found for an expression that was found, as a term of c and as what is simplified next
static const Term *next_form(Closed *c, Expr *x)
{
    Rules rest = c->rules;
    rest.budget -= tr_closed_work(c);
    Closed *next = tr_closed_new(c->graph, *x, &rest, &(tr_error){0});
    const Term *form = next ? best_form(next, *x) : NULL;
    if (form) form = tr_term_copy(&c->arena, form);
    if (form) *x = tr_term_expression(form, c->graph);
    if (next) c->spent += tr_closed_work(next);
    tr_closed_free(next);
    return form;
}

// Again with what was found, until nothing changes: what is no shorter may lead to what is.
const Term *tr_closed_form(Closed *c, Expr x)
{
    const Term *best = best_form(c, x);
    const bool may_mend = best && best->cost <= MOST_MENDED && !tr_ring_is_full(c->ring);
    Expr last = x, now = may_mend ? tr_term_expression(best, c->graph) : x;
    for (int i = 0; i < MOST_ROUNDS && !same(now, last) && !tr_closed_is_spent(c); i++) {
        last = now;
        const Term *form = next_form(c, &now);
        if (!form) break;
        best = cheaper(best, form);
    }
    return best;
}

// One of them may be a multiple of another.
static bool has_decimals(const Closed *c)
{
    for (uint32_t k = 0; k < c->count; k++)
        if (c->generators[k].kind == GENERATOR_NUMBER && c->generators[k].value != M_PI)
            return true;
    return false;
}

Sameness tr_closed_compare(Graph *graph, Expr a, Expr b, const Rules *rules, tr_error *err)
{
    const Expr difference = sub(a, b);
    Closed *c = tr_closed_new(graph, difference, rules, err);
    if (!c) return NOT_KNOWN;
    const bool is_full = tr_ring_is_full(c->ring),
               is_same = !is_full && is_nothing(c->by_node[difference.id].top);
    const Sameness same = is_same ? IS_SAME : is_full || has_decimals(c) ? NOT_KNOWN : IS_OTHER;
    tr_closed_free(c);
    return same;
}
