// SPDX-License-Identifier: Apache-2.0
// Polynomials with whole coefficients in many generators, by FLINT, which is loaded when the first
// of them is made. A ring owns its polynomials: they are not changed, and go with it.
//
// A ring has a budget. What would be larger is not made: then the ring is full, every polynomial
// from then on is the zero that it gives back, and whoever asked says so in the end. Work is
// counted in terms that are touched, never in seconds, so that what is found is the same
// everywhere.
#ifndef TR_PRINT_POLYNOMIAL_H
#define TR_PRINT_POLYNOMIAL_H

#include "base/error.h"

#include <stdint.h>

typedef struct Ring Ring;
typedef struct Poly Poly;

// Generator 0 counts most in the order of terms, which is by exponents, generator by generator.
Ring *tr_ring_new(uint32_t generators, tr_error *err);
void tr_ring_free(Ring *ring);
bool tr_ring_is_full(const Ring *ring);
void tr_ring_fill(Ring *ring); // by whoever sees that it would take too long
// Work so far, and what more of it is added to it by others
uint64_t tr_ring_work(const Ring *ring);
void tr_ring_spend(Ring *ring, uint64_t work);

const Poly *tr_poly_integer(Ring *ring, int64_t value);
const Poly *tr_poly_generator(Ring *ring, uint32_t which);
const Poly *tr_poly_add(Ring *ring, const Poly *a, const Poly *b);
const Poly *tr_poly_sub(Ring *ring, const Poly *a, const Poly *b);
const Poly *tr_poly_mul(Ring *ring, const Poly *a, const Poly *b);
const Poly *tr_poly_neg(Ring *ring, const Poly *a);
// a = g * left, b = g * right
const Poly *tr_poly_gcd(Ring *ring, const Poly *a, const Poly *b, const Poly **left,
                        const Poly **right);
// a = quotient * b + rest, where no term of the rest is a multiple of what leads in b
const Poly *tr_poly_divide(Ring *ring, const Poly *a, const Poly *b, const Poly **rest);

// From now on what leads in `relation`, which has the coefficient 1, stands for the rest of it.
void tr_ring_relate(Ring *ring, const Poly *relation);
const Poly *tr_poly_reduce(Ring *ring, const Poly *a);

// Terms, the largest first. Coefficients fit, for what is larger fills the ring.
uint32_t tr_poly_count(const Poly *a);
int64_t tr_poly_coefficient(const Ring *ring, const Poly *a, uint32_t term);
void tr_poly_exponents(const Ring *ring, const Poly *a, uint32_t term, unsigned long *exponents);
// Of terms in any order
const Poly *tr_poly_from(Ring *ring, uint32_t count, const int64_t *coefficients,
                         const unsigned long *exponents);
bool tr_poly_is_integer(const Poly *a, const Ring *ring, int64_t *value);
bool tr_poly_same(const Ring *ring, const Poly *a, const Poly *b);

// a = constant * product of of[i]^power[i]; false where the ring is full or there are more than
// `room` factors.
typedef struct Factors {
    int64_t constant;
    const Poly **of;
    uint32_t *power;
    uint32_t count, room;
} Factors;
bool tr_poly_factor(Ring *ring, const Poly *a, Factors *factors);

#endif
