// SPDX-License-Identifier: Apache-2.0
#include "print/polynomial.h"

#include "base/arena.h"
#include "base/late.h"

#include <flint/fmpz_mpoly_factor.h>
#include <stdlib.h>

#define LIBRARY ((size_t)64 << 20) // FLINT and what it needs, mapped

enum {
    MOST_PRODUCTS = 400000, // of two polynomials' terms
    MOST_TERMS = 20000,
    MOST_BITS = 62,        // of a coefficient
    MOST_FACTORISED = 400, // terms, for factors
    MOST_COMMON = 2000     // terms, for what two polynomials have in common
};

// What a term takes where two polynomials are divided, or one is factored, by products
enum { COMMON = 20, FACTORS = 100 };

// The functions that are used, one row each
#define FLINT_FUNCTIONS(X) \
    X(ctx_init)            \
    X(ctx_clear)           \
    X(init)                \
    X(clear)               \
    X(set_si)              \
    X(gen)                 \
    X(add)                 \
    X(sub)                 \
    X(mul)                 \
    X(neg)                 \
    X(divrem_ideal)        \
    X(gcd_cofactors)       \
    X(factor)              \
    X(factor_init2)        \
    X(factor_clear)        \
    X(set)                 \
    X(push_term_si_ui)     \
    X(get_term_coeff_si)   \
    X(get_term_exp_ui) X(sort_terms) X(combine_like_terms) X(max_bits) X(equal) X(divrem)

static struct Flint {
#define MEMBER(name) __typeof__(fmpz_mpoly_##name) *name;
    FLINT_FUNCTIONS(MEMBER)
#undef MEMBER
} flint;

#define NAME(name) "fmpz_mpoly_" #name,
static const char *const names[] = {FLINT_FUNCTIONS(NAME)};
#undef NAME
_Static_assert(sizeof flint == sizeof names, "a pointer for each name");

struct Poly {
    fmpz_mpoly_t of;
};

struct Ring {
    fmpz_mpoly_ctx_t context;
    Arena arena;
    Poly **made;
    uint32_t count, capacity;
    fmpz_mpoly_struct **relations, **quotients;
    uint32_t relation_count, relation_capacity, quotient_capacity;
    uint64_t work;
    bool is_full;
};

static bool load(tr_error *err)
{
    static Late library = {.need = "closed forms need FLINT",
                           .files = {"libflint.so.17", "libflint.so", "libflint.dylib"},
                           .names = names,
                           .count = sizeof names / sizeof *names,
                           .functions = &flint};
    return tr_late_load(&library, LIBRARY, err);
}

// ---- rings ---------------------------------------------------------------------------------

static Poly *make(Ring *ring)
{
    Poly *p = tr_arena_alloc(&ring->arena, 1, sizeof *p);
    if (!p || !tr_grow((void **)&ring->made, &ring->capacity, ring->count + 1, sizeof *ring->made))
        return ring->is_full = true, NULL;
    flint.init(p->of, ring->context);
    return ring->made[ring->count++] = p;
}

Ring *tr_ring_new(uint32_t generators, tr_error *err)
{
    Ring *ring = load(err) ? calloc(1, sizeof *ring) : NULL;
    if (!ring) return tr_fail_memory(err), NULL;
    flint.ctx_init(ring->context, generators, ORD_LEX);
    if (make(ring)) return ring; // zero, for when it is full
    tr_fail_memory(err);
    tr_ring_free(ring);
    return NULL;
}

void tr_ring_free(Ring *ring)
{
    if (!ring) return;
    for (uint32_t i = 0; i < ring->count; i++) flint.clear(ring->made[i]->of, ring->context);
    flint.ctx_clear(ring->context);
    tr_arena_free(&ring->arena);
    free(ring->made);
    free(ring->relations);
    free(ring->quotients);
    free(ring);
}

bool tr_ring_is_full(const Ring *ring) { return ring->is_full; }
void tr_ring_fill(Ring *ring) { ring->is_full = true; }
uint64_t tr_ring_work(const Ring *ring) { return ring->work; }
void tr_ring_spend(Ring *ring, uint64_t work) { ring->work += work; }

static const Poly *nothing(const Ring *ring) { return ring->made[0]; }

// What was made, unless it is too large
static const Poly *keep(Ring *ring, const Poly *p)
{
    const slong bits = flint.max_bits(p->of);
    if (p->of->length > MOST_TERMS || bits > MOST_BITS || bits < -MOST_BITS) ring->is_full = true;
    return ring->is_full ? nothing(ring) : p;
}

static bool is_product_small(const Ring *ring, const Poly *a, const Poly *b)
{
    return !ring->is_full && (size_t)a->of->length * (size_t)b->of->length <= MOST_PRODUCTS;
}

// ---- arithmetic ----------------------------------------------------------------------------

const Poly *tr_poly_integer(Ring *ring, int64_t value)
{
    Poly *p = ring->is_full ? NULL : make(ring);
    if (!p) return nothing(ring);
    flint.set_si(p->of, value, ring->context);
    return p;
}

const Poly *tr_poly_generator(Ring *ring, uint32_t which)
{
    Poly *p = ring->is_full ? NULL : make(ring);
    if (!p) return nothing(ring);
    flint.gen(p->of, which, ring->context);
    return p;
}

const Poly *tr_poly_add(Ring *ring, const Poly *a, const Poly *b)
{
    Poly *p = ring->is_full ? NULL : make(ring);
    if (!p) return nothing(ring);
    ring->work += (uint64_t)(a->of->length + b->of->length);
    flint.add(p->of, a->of, b->of, ring->context);
    return keep(ring, p);
}

const Poly *tr_poly_sub(Ring *ring, const Poly *a, const Poly *b)
{
    Poly *p = ring->is_full ? NULL : make(ring);
    if (!p) return nothing(ring);
    ring->work += (uint64_t)(a->of->length + b->of->length);
    flint.sub(p->of, a->of, b->of, ring->context);
    return keep(ring, p);
}

const Poly *tr_poly_neg(Ring *ring, const Poly *a)
{
    Poly *p = ring->is_full ? NULL : make(ring);
    if (!p) return nothing(ring);
    flint.neg(p->of, a->of, ring->context);
    return p;
}

const Poly *tr_poly_mul(Ring *ring, const Poly *a, const Poly *b)
{
    Poly *p = is_product_small(ring, a, b) ? make(ring) : NULL;
    if (!p) return ring->is_full = true, nothing(ring);
    ring->work += (uint64_t)a->of->length * (uint64_t)b->of->length + 1;
    flint.mul(p->of, a->of, b->of, ring->context);
    return keep(ring, p);
}

const Poly *tr_poly_gcd(Ring *ring, const Poly *a, const Poly *b, const Poly **left,
                        const Poly **right)
{
    const bool is_small = !ring->is_full && a->of->length + b->of->length <= MOST_COMMON;
    Poly *g = is_small ? make(ring) : NULL, *x = g ? make(ring) : NULL, *y = x ? make(ring) : NULL;
    *left = a, *right = b;
    if (is_small) ring->work += COMMON * (uint64_t)(a->of->length + b->of->length);
    if (!y || !flint.gcd_cofactors(g->of, x->of, y->of, a->of, b->of, ring->context))
        return tr_poly_integer(ring, 1);
    *left = keep(ring, x), *right = keep(ring, y);
    return keep(ring, g);
}

const Poly *tr_poly_divide(Ring *ring, const Poly *a, const Poly *b, const Poly **rest)
{
    Poly *quotient = ring->is_full ? NULL : make(ring), *left = quotient ? make(ring) : NULL;
    *rest = a;
    if (!left) return nothing(ring);
    ring->work += COMMON * (uint64_t)(a->of->length + b->of->length);
    flint.divrem(quotient->of, left->of, a->of, b->of, ring->context);
    *rest = keep(ring, left);
    return keep(ring, quotient);
}

// ---- relations -----------------------------------------------------------------------------

void tr_ring_relate(Ring *ring, const Poly *relation)
{
    const uint32_t count = ring->relation_count;
    Poly *own = ring->is_full ? NULL : make(ring), *quotient = own ? make(ring) : NULL;
    if (!quotient ||
        !tr_grow((void **)&ring->relations, &ring->relation_capacity, count + 1,
                 sizeof *ring->relations) ||
        !tr_grow((void **)&ring->quotients, &ring->quotient_capacity, count + 1,
                 sizeof *ring->quotients)) {
        ring->is_full = true;
        return;
    }
    flint.set(own->of, relation->of, ring->context);
    ring->relations[count] = own->of, ring->quotients[count] = quotient->of;
    ring->relation_count++;
}

const Poly *tr_poly_reduce(Ring *ring, const Poly *a)
{
    Poly *p = ring->is_full || !ring->relation_count ? NULL : make(ring);
    if (!p) return ring->is_full ? nothing(ring) : a;
    ring->work += 2 * (uint64_t)a->of->length + 1;
    flint.divrem_ideal(ring->quotients, p->of, a->of, ring->relations, ring->relation_count,
                       ring->context);
    return keep(ring, p);
}

// ---- terms ---------------------------------------------------------------------------------

uint32_t tr_poly_count(const Poly *a) { return (uint32_t)a->of->length; }

int64_t tr_poly_coefficient(const Ring *ring, const Poly *a, uint32_t term)
{
    return flint.get_term_coeff_si(a->of, term, ring->context);
}

void tr_poly_exponents(const Ring *ring, const Poly *a, uint32_t term, unsigned long *exponents)
{
    flint.get_term_exp_ui(exponents, a->of, term, ring->context);
}

const Poly *tr_poly_from(Ring *ring, uint32_t count, const int64_t *coefficients,
                         const unsigned long *exponents)
{
    const size_t generators = (size_t)ring->context->minfo->nvars;
    Poly *p = ring->is_full ? NULL : make(ring);
    if (!p) return nothing(ring);
    ring->work += 2 * (uint64_t)count;
    for (uint32_t i = 0; i < count; i++)
        flint.push_term_si_ui(p->of, coefficients[i], exponents + i * generators, ring->context);
    flint.sort_terms(p->of, ring->context);
    flint.combine_like_terms(p->of, ring->context);
    return keep(ring, p);
}

bool tr_poly_is_integer(const Poly *a, const Ring *ring, int64_t *value)
{
    *value = 0;
    if (a->of->length > 1) return false;
    if (a->of->length == 0) return true;
    Poly one;
    flint.init(one.of, ring->context);
    *value = flint.get_term_coeff_si(a->of, 0, ring->context);
    flint.set_si(one.of, *value, ring->context);
    const bool is_same = flint.equal(one.of, a->of, ring->context);
    flint.clear(one.of, ring->context);
    return is_same;
}

bool tr_poly_same(const Ring *ring, const Poly *a, const Poly *b)
{
    return flint.equal(a->of, b->of, ring->context);
}

// ---- factors -------------------------------------------------------------------------------

static bool take_factors(Ring *ring, const fmpz_mpoly_factor_struct *found, Factors *factors)
{
    if (COEFF_IS_MPZ(found->constant[0]) || (uint32_t)found->num > factors->room) return false;
    factors->constant = found->constant[0];
    for (slong i = 0; i < found->num; i++) {
        Poly *p = COEFF_IS_MPZ(found->exp[i]) ? NULL : make(ring);
        if (!p) return false;
        flint.set(p->of, found->poly + i, ring->context);
        factors->of[i] = p, factors->power[i] = (uint32_t)found->exp[i];
    }
    factors->count = (uint32_t)found->num;
    return true;
}

bool tr_poly_factor(Ring *ring, const Poly *a, Factors *factors)
{
    if (ring->is_full || a->of->length > MOST_FACTORISED) return false;
    ring->work += FACTORS * (uint64_t)a->of->length;
    fmpz_mpoly_factor_t found;
    flint.factor_init2(found, 4, ring->context);
    const bool good =
        flint.factor(found, a->of, ring->context) && take_factors(ring, found, factors);
    flint.factor_clear(found, ring->context);
    return good;
}
