// SPDX-License-Identifier: Apache-2.0
// Formulas as people write them: sums and products of any length, powers, quotients, calls. What
// is printed is made of these, in whatever language.
#ifndef TR_PRINT_TERM_H
#define TR_PRINT_TERM_H

#include "base/arena.h"
#include "base/text.h"
#include "expr/graph.h"

typedef enum TermKind {
    TERM_NUMBER,  // top / bottom
    TERM_DECIMAL, // a number that is no simple quotient, such as pi
    TERM_SYMBOL,
    TERM_SUM,
    TERM_PRODUCT, // numbers first, and of them one at the most
    TERM_POWER,   // of its one part; negative: a quotient
    TERM_CALL     // of an operation with its parts
} TermKind;

typedef struct Term {
    TermKind kind;
    uint32_t count;
    const struct Term **parts;
    int64_t top, bottom; // NUMBER; the bottom is positive, and they have nothing in common
    double value;        // DECIMAL
    int power;           // POWER
    Op op;               // CALL
    Expr node;           // SYMBOL; CALL: an operation like it, where it carries something
    uint32_t cost;       // operations
} Term;

const Term *tr_term_number(Arena *arena, int64_t top, int64_t bottom);
const Term *tr_term_decimal(Arena *arena, double value);
const Term *tr_term_symbol(Arena *arena, Expr symbol);
// Parts are copied. One is itself; none are 0 and 1.
const Term *tr_term_sum(Arena *arena, const Term **parts, uint32_t count);
const Term *tr_term_product(Arena *arena, const Term **parts, uint32_t count);
const Term *tr_term_power(Arena *arena, const Term *base, int power);
// `like` is an operation of that kind, for what it carries, or {0}.
const Term *tr_term_call(Arena *arena, Op op, Expr like, const Term **parts, uint32_t count);

const Term *tr_term_copy(Arena *arena, const Term *term);

bool tr_term_is_number(const Term *term, int64_t value);
// Whether it is written with a minus in front
bool tr_term_is_negative(const Term *term);
bool tr_term_same(const Term *a, const Term *b); // written alike

// What two numbers have in common, not negative; of 0 and 0 it is 0
static inline int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b, b = rest;
    }
    return a < 0 ? -a : a;
}

static inline bool tr_term_is_quotient(const Term *term)
{
    return term->kind == TERM_POWER && term->power < 0;
}

// Adds how often each symbol stands in it to `uses`, by id
void tr_term_count_symbols(const Term *term, uint32_t *uses);

// As an expression again
Expr tr_term_expression(const Term *term, Graph *graph);

#endif
