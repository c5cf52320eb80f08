// SPDX-License-Identifier: Apache-2.0
// Arrangements of a closed form, of which the one with the fewest operations is taken: as a sum of
// products, with common factors in front of brackets, as a product of its factors, with squares of
// cosines or of sines, and with sums of angles in place of products of sines and cosines.
#include "print/closed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ATOMS = 600,
    MOST_FACTORS = 40,
    MOST_SUM = 300,
    MOST_WAVES = 8,
    MOST_KINDS = 150,
    MOST_DEPTH = 40
};

// Products of powers of atoms, with whole coefficients
typedef struct Sum {
    uint32_t count, width;
    int64_t *of;
    uint8_t *powers; // count * width
} Sum;

typedef struct Desk {
    Closed *closed;
    Arena *arena;
    const Term *atoms[MOST_ATOMS];
    uint32_t count, width; // the second: room for atoms
    bool failed;
} Desk;

// A product with its number apart
typedef struct Parts {
    int64_t top, bottom;
    double decimals; // of numbers that are no simple quotients; 0: none
    const Term *of[MOST_ATOMS];
    uint32_t count;
} Parts;

// ---- products ------------------------------------------------------------------------------

static int rank_of(const Term *term)
{
    switch (term->kind) {
    case TERM_NUMBER:
    case TERM_DECIMAL: return 0;
    case TERM_SYMBOL: return stage_of(term->node) <= STAGE_PARAMETER ? 1 : 2;
    case TERM_POWER: return rank_of(term->parts[0]);
    case TERM_CALL: return 3;
    default: return 4;
    }
}

static const char *name_of(const Term *term)
{
    if (term->kind == TERM_POWER) term = term->parts[0];
    return term->kind == TERM_SYMBOL ? graph_of(term->node)->symbols[node_of(term->node)->a] : "";
}

static bool comes_before(const Term *a, const Term *b)
{
    const int rank = rank_of(a) - rank_of(b);
    return rank ? rank < 0 : strcmp(name_of(a), name_of(b)) < 0;
}

// A power of a number that is no simple quotient, but pi
static bool is_decimal(const Term *term)
{
    if (term && term->kind == TERM_POWER) term = term->parts[0];
    return term && term->kind == TERM_DECIMAL && term->value != M_PI;
}

static void multiply_decimals(Parts *p, const Term *term)
{
    const int power = term->kind == TERM_POWER ? term->power : 1;
    const double value = term->kind == TERM_POWER ? term->parts[0]->value : term->value;
    if (p->decimals == 0) p->decimals = 1;
    for (int i = 0; i < abs(power); i++)
        p->decimals = power < 0 ? p->decimals / value : p->decimals * value;
}

static void add_part(Parts *p, const Term *term)
{
    uint32_t at = p->count;
    if (is_decimal(term)) {
        multiply_decimals(p, term);
        return;
    }
    if (p->count == MOST_ATOMS) return;
    for (; at > 0 && term && p->of[at - 1] && comes_before(term, p->of[at - 1]); at--)
        p->of[at] = p->of[at - 1];
    p->of[at] = term, p->count++;
}

// Numbers of a term that is itself a product go to the others
static void add_factor(Arena *arena, Parts *p, const Term *term, int power)
{
    if (!term) {
        add_part(p, NULL);
        return;
    }
    if (term->kind == TERM_PRODUCT && power == 1) {
        for (uint32_t i = 0; i < term->count; i++) add_factor(arena, p, term->parts[i], 1);
        return;
    }
    if (term->kind == TERM_NUMBER && power == 1) {
        const int64_t a = common_divisor(term->top, p->bottom),
                      b = common_divisor(p->top, term->bottom);
        if (!a || !b || __builtin_mul_overflow(p->top / b, term->top / a, &p->top) ||
            __builtin_mul_overflow(p->bottom / a, term->bottom / b, &p->bottom))
            add_part(p, NULL);
        return;
    }
    add_part(p, tr_term_power(arena, term, power));
}

static const Term *join_parts(Arena *arena, const Parts *p)
{
    const Term *all[MOST_ATOMS + 1];
    uint32_t count = 0;
    if (p->top == 0) return tr_term_number(arena, 0, 1);
    const double decimals = p->decimals * (double)p->top / (double)p->bottom;
    if (!isfinite(decimals)) return NULL;
    if (decimals < 0) all[count++] = tr_term_number(arena, -1, 1);
    if (decimals != 0)
        all[count++] = tr_term_decimal(arena, fabs(decimals));
    else if (p->top != 1 || p->bottom != 1 || !p->count)
        all[count++] = tr_term_number(arena, p->top, p->bottom);
    for (uint32_t i = 0; i < p->count && p->count < MOST_ATOMS; i++) {
        if (!p->of[i]) return NULL;
        all[count++] = p->of[i];
    }
    return p->count < MOST_ATOMS ? tr_term_product(arena, all, count) : NULL;
}

static const Term *cheaper(const Term *a, const Term *b)
{
    return !a ? b : !b ? a : b->cost < a->cost ? b : a;
}

// ---- sums ----------------------------------------------------------------------------------

static uint8_t *powers_of(const Sum *s, uint32_t i) { return s->powers + (size_t)i * s->width; }

static Sum make_sum(Desk *d, uint32_t count)
{
    Sum s = {.count = count,
             .width = d->width,
             .of = tr_arena_alloc(d->arena, count + 1u, sizeof *s.of),
             .powers = tr_arena_alloc(d->arena, ((size_t)count + 1) * d->width, 1)};
    tr_ring_spend(d->closed->ring, count * d->width / 16);
    if (!s.of || !s.powers) d->failed = true, s.count = 0;
    return s;
}

// The number that all have in common, with the sign of most
static int64_t take_number(const Sum *s)
{
    int64_t common = 0;
    int negative = 0;
    for (uint32_t i = 0; i < s->count; i++)
        common = common_divisor(common, s->of[i]), negative += s->of[i] < 0;
    if (2 * negative > (int)s->count) common = -common;
    for (uint32_t i = 0; i < s->count && common; i++) s->of[i] /= common;
    return common;
}

static void take_common(const Desk *d, const Sum *s, Parts *p)
{
    p->top = take_number(s);
    for (uint32_t a = 0; a < d->count; a++) {
        uint8_t least = UINT8_MAX;
        for (uint32_t i = 0; i < s->count; i++)
            if (powers_of(s, i)[a] < least) least = powers_of(s, i)[a];
        for (uint32_t i = 0; i < s->count; i++) powers_of(s, i)[a] -= least;
        if (least) add_part(p, tr_term_power(d->arena, d->atoms[a], least));
    }
}

// The atom that most of the products have; false where none is in two
static bool find_frequent(const Desk *d, const Sum *s, uint32_t *best)
{
    uint32_t most = 1, price = 0;
    for (uint32_t a = 0; a < d->count; a++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < s->count; i++) count += powers_of(s, i)[a] > 0;
        const uint32_t cost = 1 + d->atoms[a]->cost;
        if (count < 2 || count * cost < price) continue;
        if (count * cost == price && count <= most) continue;
        most = count, price = count * cost, *best = a;
    }
    return most > 1;
}

static Sum part_of(Desk *d, const Sum *s, uint32_t atom, bool with)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->count; i++) count += (powers_of(s, i)[atom] > 0) == with;
    Sum part = make_sum(d, count);
    count = 0;
    for (uint32_t i = 0; i < s->count && !d->failed; i++) {
        if ((powers_of(s, i)[atom] > 0) != with) continue;
        part.of[count] = s->of[i];
        memcpy(powers_of(&part, count++), powers_of(s, i), s->width);
    }
    return part;
}

static const Term *arrange_sum(Desk *d, Sum s);

// Over a number
static const Term *flat_sum(Desk *d, const Sum *s, int64_t divisor)
{
    const Term **parts = tr_arena_alloc(d->arena, s->count + 1u, sizeof *parts);
    if (!parts) return NULL;
    for (uint32_t i = 0; i < s->count; i++) {
        const int64_t common = common_divisor(s->of[i], divisor);
        Parts p = {.top = s->of[i] / common, .bottom = divisor / common};
        for (uint32_t a = 0; a < d->count; a++)
            if (powers_of(s, i)[a])
                add_part(&p, tr_term_power(d->arena, d->atoms[a], powers_of(s, i)[a]));
        parts[i] = join_parts(d->arena, &p);
        if (!parts[i]) return NULL;
    }
    return tr_term_sum(d->arena, parts, s->count);
}

static void add_terms(const Term **list, uint32_t *count, const Term *term)
{
    if (term->kind != TERM_SUM) {
        list[(*count)++] = term;
        return;
    }
    for (uint32_t i = 0; i < term->count; i++) list[(*count)++] = term->parts[i];
}

// What has the most frequent atom in a bracket behind it, and the rest
static const Term *split_sum(Desk *d, const Sum *s)
{
    uint32_t atom = 0, count = 0;
    if (s->count > MOST_SUM || !find_frequent(d, s, &atom)) return NULL;
    const Sum with = part_of(d, s, atom, true), rest = part_of(d, s, atom, false);
    const Term *front = d->failed ? NULL : arrange_sum(d, with);
    const Term *back = d->failed || !rest.count ? NULL : arrange_sum(d, rest);
    if (!front || (rest.count && !back)) return NULL;
    const Term **list = tr_arena_alloc(d->arena, s->count + 2u, sizeof *list);
    if (!list) return NULL;
    add_terms(list, &count, front);
    if (back) add_terms(list, &count, back);
    return tr_term_sum(d->arena, list, count);
}

static const Term *arrange_sum(Desk *d, Sum s)
{
    Parts p = {.top = 1, .bottom = 1};
    take_common(d, &s, &p);
    if (s.count > 1) {
        const Term *inner = cheaper(flat_sum(d, &s, 1), split_sum(d, &s));
        if (!inner) return NULL;
        add_part(&p, inner);
    }
    return s.count ? join_parts(d->arena, &p) : tr_term_number(d->arena, 0, 1);
}

// ---- generators as atoms -------------------------------------------------------------------

static Desk *open_desk(Closed *c)
{
    Desk *d = calloc(1, sizeof *d);
    if (d) d->closed = c, d->arena = &c->arena;
    return d;
}

static const Term *call_term(Closed *c, const Generator *g)
{
    const Term *parts[3] = {0};
    for (uint32_t i = 0; i < g->count; i++)
        if (!(parts[i] = tr_arrange(c, g->of[i]))) return NULL;
    if (g->kind == GENERATOR_CALL)
        return tr_term_call(&c->arena, op_of(g->node), g->node, parts, g->count);
    if (g->kind == GENERATOR_ROOT) return tr_term_call(&c->arena, OP_SQRT, (Expr){0}, parts, 1);
    Parts p = {.top = 1, .bottom = g->unit};
    add_factor(&c->arena, &p, parts[0], 1);
    parts[0] = join_parts(&c->arena, &p);
    if (!parts[0]) return NULL;
    return tr_term_call(&c->arena, g->kind == GENERATOR_SINE ? OP_SIN : OP_COS, (Expr){0}, parts,
                        1);
}

static const Term *generator_term(Closed *c, uint32_t k)
{
    Generator *g = &c->generators[k];
    if (!g->term)
        g->term = g->kind == GENERATOR_SYMBOL   ? tr_term_symbol(&c->arena, g->node)
                  : g->kind == GENERATOR_NUMBER ? tr_term_decimal(&c->arena, g->value)
                                                : call_term(c, g);
    return g->term;
}

// Of all generators, how often each is in a polynomial at the most
static void find_highest(const Closed *c, const Poly *p, unsigned long *highest)
{
    unsigned long exponents[MOST_ATOMS];
    memset(highest, 0, c->count * sizeof *highest);
    for (uint32_t i = 0; i < tr_poly_count(p); i++) {
        tr_poly_exponents(c->ring, p, i, exponents);
        for (uint32_t k = 0; k < c->count; k++)
            if (exponents[place_of(c, k)] > highest[k]) highest[k] = exponents[place_of(c, k)];
    }
}

// Higher powers of what comes first come first.
static void sort_sum(Sum *s)
{
    uint8_t moved[MOST_ATOMS];
    const size_t size = s->width;
    for (uint32_t k = 1; k < s->count; k++) {
        const int64_t of = s->of[k];
        uint32_t i = k;
        memcpy(moved, powers_of(s, k), size);
        for (; i && memcmp(powers_of(s, i - 1), moved, size) < 0; i--) {
            s->of[i] = s->of[i - 1];
            memcpy(powers_of(s, i), powers_of(s, i - 1), size);
        }
        s->of[i] = of;
        memcpy(powers_of(s, i), moved, size);
    }
}

// An atom for each generator that a polynomial has
static void take_atom(Desk *d, uint32_t k, unsigned long highest)
{
    d->atoms[d->count] = generator_term(d->closed, k);
    if (!d->atoms[d->count++] || highest > 100) d->failed = true;
}

// Atoms are the generators that a polynomial has, in their order.
static Sum take_polynomial(Desk *d, const Poly *p)
{
    const Closed *c = d->closed;
    unsigned long exponents[MOST_ATOMS], highest[MOST_ATOMS];
    uint32_t generators[MOST_ATOMS] = {0};
    find_highest(c, p, highest);
    for (uint32_t k = 0; k < c->count && !d->failed; k++) {
        if (!highest[k]) continue;
        generators[d->count] = k;
        take_atom(d, k, highest[k]);
    }
    d->width = d->count + 1;
    Sum s = make_sum(d, tr_poly_count(p));
    for (uint32_t i = 0; i < s.count && !d->failed; i++) {
        s.of[i] = tr_poly_coefficient(c->ring, p, i);
        tr_poly_exponents(c->ring, p, i, exponents);
        for (uint32_t a = 0; a < d->count; a++)
            powers_of(&s, i)[a] = (uint8_t)exponents[place_of(c, generators[a])];
    }
    if (!d->failed && s.count <= MOST_SUM) sort_sum(&s);
    return s;
}

static const Term *arrange_plain(Closed *c, const Poly *p)
{
    Desk *d = open_desk(c);
    const Sum s = d ? take_polynomial(d, p) : (Sum){0};
    const Term *term = d && !d->failed ? arrange_sum(d, s) : NULL;
    free(d);
    return term;
}

static const Term *over(Arena *arena, const Term *term, int64_t divisor)
{
    Parts p = {.top = 1, .bottom = divisor};
    if (!term) return NULL;
    add_factor(arena, &p, term, 1);
    return join_parts(arena, &p);
}

// Each product with its share of a divisor, or what has the most frequent atom and then the rest
static const Term *share_sum(Desk *d, const Sum *s, int64_t divisor)
{
    uint32_t atom = 0, count = 0;
    const Term *flat = flat_sum(d, s, divisor);
    if (s->count > MOST_SUM || !find_frequent(d, s, &atom)) return flat;
    const Sum with = part_of(d, s, atom, true), rest = part_of(d, s, atom, false);
    const Term *front = d->failed ? NULL : over(d->arena, arrange_sum(d, with), divisor);
    const Term *back = d->failed || !rest.count ? NULL : share_sum(d, &rest, divisor);
    const Term **list = tr_arena_alloc(d->arena, s->count + 2u, sizeof *list);
    if (!front || (rest.count && !back) || !list) return flat;
    add_terms(list, &count, front);
    if (back) add_terms(list, &count, back);
    return cheaper(flat, tr_term_sum(d->arena, list, count));
}

static const Term *arrange_shares(Closed *c, const Poly *p, int64_t divisor)
{
    Desk *d = divisor > 1 ? open_desk(c) : NULL;
    const Sum s = d ? take_polynomial(d, p) : (Sum){0};
    const Term *term = d && !d->failed && s.count <= MOST_SUM ? share_sum(d, &s, divisor) : NULL;
    free(d);
    return term;
}

// ---- squares of sines in place of those of cosines -----------------------------------------

// Terms with so many squares of a cosine, without them
static const Poly *squares_of(Closed *c, const Poly *p, uint32_t place, unsigned long squares)
{
    const uint32_t count = tr_poly_count(p);
    unsigned long *exponents = calloc((size_t)count * c->most + 1, sizeof *exponents);
    int64_t *coefficients = calloc(count + 1u, sizeof *coefficients);
    const Poly *part = p;
    uint32_t kept = 0;
    if (!exponents || !coefficients) tr_ring_fill(c->ring);
    for (uint32_t i = 0; exponents && coefficients && i < count; i++) {
        unsigned long *e = exponents + (size_t)kept * c->most;
        tr_poly_exponents(c->ring, p, i, e);
        if (e[place] / 2 != squares) continue;
        e[place] %= 2;
        coefficients[kept++] = tr_poly_coefficient(c->ring, p, i);
    }
    if (exponents && coefficients) part = tr_poly_from(c->ring, kept, coefficients, exponents);
    free(exponents);
    free(coefficients);
    return part;
}

// sum of p_k (1 - s^2)^k, by Horner's rule
static const Poly *with_sines(Closed *c, const Poly *p, uint32_t cosine, unsigned long highest)
{
    const uint32_t place = place_of(c, cosine);
    const Poly *s = tr_poly_generator(c->ring, place_of(c, c->generators[cosine].partner));
    const Poly *one_less =
        tr_poly_sub(c->ring, tr_poly_integer(c->ring, 1), tr_poly_mul(c->ring, s, s));
    unsigned long squares = highest / 2;
    const Poly *whole = squares_of(c, p, place, squares);
    while (squares-- > 0 && !tr_ring_is_full(c->ring))
        whole = tr_poly_add(c->ring, tr_poly_mul(c->ring, whole, one_less),
                            squares_of(c, p, place, squares));
    return whole;
}

static const Poly *fewest_terms(Closed *c, const Poly *p)
{
    unsigned long highest[MOST_ATOMS];
    find_highest(c, p, highest);
    for (uint32_t i = 0; i < c->angle_count && tr_poly_count(p) <= MOST_SUM; i++) {
        if (tr_closed_is_spent(c)) break;
        const uint32_t cosine = c->angles[i];
        if (highest[cosine] < 2) continue;
        const Poly *other = with_sines(c, p, cosine, highest[cosine]);
        if (tr_ring_is_full(c->ring) || tr_poly_count(other) >= tr_poly_count(p)) continue;
        p = other;
        find_highest(c, p, highest);
    }
    return p;
}

// ---- sums of angles ------------------------------------------------------------------------

// cos or sin of a sum of whole multiples of angles
typedef struct Wave {
    bool is_sine;
    int8_t times[MOST_WAVES]; // by angle that the polynomial has
} Wave;

typedef struct Waves {
    Desk *desk;
    uint32_t angles[MOST_WAVES], angle_count; // cosines
    uint32_t plain;                           // atoms that are no sines or cosines
    Wave *of;                                 // behind them
    uint32_t count;
    Sum sum;
    uint32_t capacity;
} Waves;

static bool is_wave(const Closed *c, uint32_t k)
{
    return c->generators[k].kind == GENERATOR_COSINE || c->generators[k].kind == GENERATOR_SINE;
}

// The first multiple that is not zero is positive: what the sign of the wave becomes
static int straighten(Wave *w, uint32_t angles)
{
    uint32_t i = 0;
    while (i < angles && !w->times[i]) i++;
    if (i == angles) return w->is_sine ? 0 : 1;
    if (w->times[i] > 0) return 1;
    for (uint32_t k = 0; k < angles; k++) w->times[k] = (int8_t)-w->times[k];
    return w->is_sine ? -1 : 1;
}

static bool is_still(const Wave *w, uint32_t angles)
{
    for (uint32_t i = 0; i < angles; i++)
        if (w->times[i]) return false;
    return true;
}

static uint32_t find_wave(Waves *waves, const Wave *w)
{
    for (uint32_t i = 0; i < waves->count; i++)
        if (waves->of[i].is_sine == w->is_sine &&
            !memcmp(waves->of[i].times, w->times, waves->angle_count))
            return i;
    if (waves->plain + waves->count >= waves->desk->width) return waves->desk->failed = true, 0;
    waves->of[waves->count] = *w;
    return waves->count++;
}

// One product more, joined with an equal one if there is one
static void add_product(Waves *waves, int64_t coefficient, const uint8_t *powers)
{
    Sum *s = &waves->sum;
    tr_ring_spend(waves->desk->closed->ring, s->count / 8 + 1);
    for (uint32_t i = 0; i < s->count; i++)
        if (!memcmp(powers_of(s, i), powers, s->width)) {
            s->of[i] += coefficient;
            return;
        }
    if (s->count == waves->capacity) {
        waves->desk->failed = true;
        return;
    }
    s->of[s->count] = coefficient;
    memcpy(powers_of(s, s->count++), powers, s->width);
}

// 2 cos A cos B = cos(A - B) + cos(A + B), and so on; the rest of the factors by recursion (T371)
static void expand(Waves *waves, Wave w, int64_t coefficient, const uint8_t *factors,
                   uint8_t *powers)
{
    uint32_t i = 0;
    while (i < 2 * waves->angle_count && !factors[i]) i++;
    if (waves->desk->failed) return;
    if (i == 2 * waves->angle_count) {
        const int sign = straighten(&w, waves->angle_count);
        if (!sign) return;
        const bool still = is_still(&w, waves->angle_count);
        const uint32_t at = still ? 0 : waves->plain + find_wave(waves, &w);
        if (!still) powers[at] = 1;
        add_product(waves, sign * coefficient, powers);
        if (!still) powers[at] = 0;
        return;
    }
    uint8_t left[2 * MOST_WAVES];
    memcpy(left, factors, sizeof left);
    left[i]--;
    const uint32_t angle = i / 2;
    const bool by_sine = i % 2;
    Wave more = w, less = w;
    more.times[angle]++, less.times[angle]--;
    more.is_sine = less.is_sine = w.is_sine != by_sine;
    // cos c: more + less; sin c: the same; cos s: more - less of sines; sin s: less - more
    const int64_t of_more = by_sine && w.is_sine ? -1 : 1, of_less = by_sine && !w.is_sine ? -1 : 1;
    expand(waves, more, of_more * coefficient, left, powers);
    expand(waves, less, of_less * coefficient, left, powers);
}

// What whole multiples of several angles have in common
static int64_t common_multiple(const Closed *c, const Waves *waves, const Wave *w)
{
    int64_t common = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < waves->angle_count; i++) {
        if (!w->times[i]) continue;
        if (c->generators[waves->angles[i]].unit != 1) return 1;
        common = common_divisor(common, w->times[i]), count++;
    }
    return count > 1 ? common : 1;
}

static const Term *wave_term(Closed *c, const Waves *waves, const Wave *w)
{
    const Term *parts[MOST_WAVES];
    const int64_t whole = common_multiple(c, waves, w);
    uint32_t count = 0;
    for (uint32_t i = 0; i < waves->angle_count; i++) {
        Generator *g = &c->generators[waves->angles[i]];
        if (!w->times[i]) continue;
        const int64_t top = w->times[i] / whole, common = common_divisor(top, g->unit);
        Parts p = {.top = top / common, .bottom = g->unit / common};
        if (!g->angle) g->angle = tr_arrange(c, g->of[0]);
        add_factor(&c->arena, &p, g->angle, 1);
        if (!(parts[count++] = join_parts(&c->arena, &p))) return NULL;
    }
    Parts all = {.top = whole, .bottom = 1};
    add_factor(&c->arena, &all, tr_term_sum(&c->arena, parts, count), 1);
    const Term *angle = join_parts(&c->arena, &all);
    return angle ? tr_term_call(&c->arena, w->is_sine ? OP_SIN : OP_COS, (Expr){0}, &angle, 1)
                 : NULL;
}

// Which angles a polynomial has, and its other atoms; false where there are too many or none
static bool open_waves(Waves *w, const Poly *p, uint8_t *degree)
{
    const Closed *c = w->desk->closed;
    unsigned long exponents[MOST_ATOMS], highest[MOST_ATOMS];
    *degree = 0;
    find_highest(c, p, highest);
    for (uint32_t i = 0; i < c->angle_count; i++) {
        if (!highest[c->angles[i]] && !highest[c->generators[c->angles[i]].partner]) continue;
        if (w->angle_count == MOST_WAVES) return false;
        w->angles[w->angle_count++] = c->angles[i];
    }
    for (uint32_t k = 0; k < tr_poly_count(p); k++) {
        unsigned long sum = 0;
        tr_poly_exponents(c->ring, p, k, exponents);
        for (uint32_t g = 0; g < c->count; g++)
            if (is_wave(c, g)) sum += exponents[place_of(c, g)];
        if (sum > 6) return false;
        if (sum > *degree) *degree = (uint8_t)sum;
    }
    return w->angle_count > 0 && *degree > 1;
}

// All of it times 2^degree
static void take_waves(Waves *w, const Poly *p, uint8_t degree)
{
    Desk *d = w->desk;
    const Closed *c = d->closed;
    unsigned long exponents[MOST_ATOMS], highest[MOST_ATOMS];
    uint32_t atom_of[MOST_ATOMS];
    for (uint32_t g = 0; g < MOST_ATOMS; g++) atom_of[g] = UINT32_MAX;
    find_highest(c, p, highest);
    for (uint32_t g = 0; g < c->count && !d->failed; g++) {
        if (is_wave(c, g) || !highest[g]) continue;
        atom_of[g] = d->count;
        take_atom(d, g, highest[g]);
    }
    w->plain = d->count;
    d->width = w->plain + MOST_KINDS < MOST_ATOMS ? w->plain + MOST_KINDS : MOST_ATOMS;
    w->capacity = 4 * tr_poly_count(p) + 64;
    w->sum = make_sum(d, w->capacity);
    w->sum.count = 0;
    for (uint32_t k = 0; k < tr_poly_count(p) && !d->failed; k++) {
        uint8_t powers[MOST_ATOMS] = {0}, factors[2 * MOST_WAVES] = {0}, sum = 0;
        tr_poly_exponents(c->ring, p, k, exponents);
        for (uint32_t g = 0; g < c->count; g++)
            if (atom_of[g] != UINT32_MAX) powers[atom_of[g]] = (uint8_t)exponents[place_of(c, g)];
        for (uint32_t i = 0; i < w->angle_count; i++) {
            const uint32_t cosine = w->angles[i], sine = c->generators[cosine].partner;
            factors[2 * i] = (uint8_t)exponents[place_of(c, cosine)];
            factors[2 * i + 1] = (uint8_t)exponents[place_of(c, sine)];
            sum = (uint8_t)(sum + factors[2 * i] + factors[2 * i + 1]);
        }
        const int64_t coefficient = tr_poly_coefficient(c->ring, p, k);
        if (llabs(coefficient) > INT64_MAX >> 10) d->failed = true;
        if (!d->failed) expand(w, (Wave){0}, coefficient * (1 << (degree - sum)), factors, powers);
    }
}

static void drop_nothing(Sum *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (!s->of[i]) continue;
        s->of[kept] = s->of[i];
        memmove(powers_of(s, kept++), powers_of(s, i), s->width);
    }
    s->count = kept;
}

static const Term *arrange_waves(Closed *c, const Poly *p)
{
    uint8_t degree;
    Waves w = {.desk = open_desk(c)};
    const Term *term = NULL;
    if (w.desk && !tr_closed_is_spent(c) && tr_poly_count(p) <= MOST_SUM &&
        open_waves(&w, p, &degree)) {
        w.of = tr_arena_alloc(&c->arena, MOST_ATOMS, sizeof *w.of);
        if (!w.of) w.desk->failed = true;
        if (!w.desk->failed) take_waves(&w, p, degree);
        for (uint32_t i = 0; i < w.count && !w.desk->failed; i++)
            if (!(w.desk->atoms[w.desk->count++] = wave_term(c, &w, &w.of[i])))
                w.desk->failed = true;
        drop_nothing(&w.sum);
        sort_sum(&w.sum);
        term = w.desk->failed ? NULL : arrange_sum(w.desk, w.sum);
        if (term) {
            Parts parts = {.top = 1, .bottom = (int64_t)1 << degree};
            add_factor(&c->arena, &parts, term, 1);
            term = join_parts(&c->arena, &parts);
        }
    }
    free(w.desk);
    return term;
}

// ---- factors -------------------------------------------------------------------------------

// `other`: with squares of sines, or the same
static const Term *arrange_either(Closed *c, const Poly *p, const Poly *other)
{
    const Term *best = arrange_plain(c, p);
    if (other != p) best = cheaper(best, arrange_plain(c, other));
    return cheaper(best, arrange_waves(c, p));
}

static const Term *arrange_bracket(Closed *c, const Poly *p)
{
    return arrange_either(c, p, fewest_terms(c, p));
}

static const Term *arrange_factors(Closed *c, const Poly *p)
{
    const Poly *of[MOST_FACTORS];
    uint32_t power[MOST_FACTORS];
    Factors f = {.of = of, .power = power, .room = MOST_FACTORS};
    if (tr_closed_is_spent(c)) return NULL;
    if (!tr_poly_factor(c->ring, p, &f) || (f.count < 2 && !(f.count && power[0] > 1))) return NULL;
    Parts parts = {.top = f.constant, .bottom = 1};
    for (uint32_t i = 0; i < f.count; i++) {
        const Term *bracket = arrange_bracket(c, of[i]);
        if (!bracket) return NULL;
        add_factor(&c->arena, &parts, bracket, (int)power[i]);
    }
    return join_parts(&c->arena, &parts);
}

static const Term *arrange_polynomial(Closed *c, const Poly *p)
{
    const Poly *other = fewest_terms(c, p);
    const Term *best = cheaper(arrange_either(c, p, other), arrange_factors(c, p));
    return other == p ? best : cheaper(best, arrange_factors(c, other));
}

// ---- fractions -----------------------------------------------------------------------------

// Of a product in the denominator
static void add_below(Arena *arena, Parts *p, const Term *part)
{
    if (part->kind == TERM_NUMBER) {
        const int64_t top = part->top < 0 ? -part->bottom : part->bottom;
        add_factor(arena, p, tr_term_number(arena, top, llabs(part->top)), 1);
        return;
    }
    const bool is_power = part->kind == TERM_POWER;
    add_part(p,
             tr_term_power(arena, is_power ? part->parts[0] : part, is_power ? -part->power : -1));
}

static const Term *arrange_quotient(Closed *c, const Poly *above, const Poly *below)
{
    int64_t divisor;
    const bool is_number = tr_poly_is_integer(below, c->ring, &divisor);
    const Term *top = arrange_polynomial(c, above);
    const Term *bottom = is_number || !top ? NULL : arrange_polynomial(c, below);
    if (!top || (!is_number && !bottom)) return NULL;
    Parts p = {.top = 1, .bottom = is_number ? divisor : 1};
    add_factor(&c->arena, &p, top, 1);
    const bool is_product = bottom && bottom->kind == TERM_PRODUCT;
    for (uint32_t i = 0; bottom && i < (is_product ? bottom->count : 1); i++)
        add_below(&c->arena, &p, is_product ? bottom->parts[i] : bottom);
    const Term *whole = join_parts(&c->arena, &p);
    return is_number ? cheaper(whole, arrange_shares(c, above, divisor)) : whole;
}

// With what can be divided beside what is left
static const Term *arrange_divided(Closed *c, Fraction f)
{
    int64_t divisor;
    if (tr_poly_is_integer(f.bottom, c->ring, &divisor)) return NULL;
    const Poly *rest, *whole = tr_poly_divide(c->ring, f.top, f.bottom, &rest);
    if (tr_ring_is_full(c->ring) || !tr_poly_count(whole)) return NULL;
    const Term *parts[] = {arrange_polynomial(c, whole), arrange_quotient(c, rest, f.bottom)};
    return parts[0] && parts[1] ? tr_term_sum(&c->arena, parts, 2) : NULL;
}

const Term *tr_arrange(Closed *c, Fraction f)
{
    if (c->depth == MOST_DEPTH) return NULL;
    c->depth++;
    const Term *term = cheaper(arrange_quotient(c, f.top, f.bottom), arrange_divided(c, f));
    c->depth--;
    return term;
}
