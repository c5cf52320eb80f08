// SPDX-License-Identifier: Apache-2.0
// Closed forms: expressions as quotients of polynomials in symbols, in cosines and sines of angles
// with s^2 + c^2 = 1, in roots with r^2 = what they are of, and in calls of other functions. Two
// expressions are equal when their difference is nothing by these rules; what is written is the
// arrangement with the fewest operations that is found. Numbers never depend on it.
//
// Numbers of the graph are taken for the simplest quotients or decimals that round to them.
#ifndef TR_PRINT_CLOSED_H
#define TR_PRINT_CLOSED_H

#include "print/polynomial.h"
#include "print/term.h"

typedef struct Fraction {
    const Poly *top, *bottom;
} Fraction;

typedef enum GeneratorKind {
    GENERATOR_SYMBOL,
    GENERATOR_NUMBER, // that is no simple quotient
    GENERATOR_COSINE, // of of[0] / unit
    GENERATOR_SINE,
    GENERATOR_ROOT,
    GENERATOR_CALL
} GeneratorKind;

typedef struct Generator {
    GeneratorKind kind;
    Expr node;        // SYMBOL, CALL
    uint32_t partner; // of a cosine its sine, and the other way round
    uint32_t count;
    Fraction of[3];
    int64_t unit;
    double value;     // NUMBER
    const Term *term; // as it is written, once that is known; and its angle
    const Term *angle;
} Generator;

// What is known of symbols, and how much may be done: work is counted as rings count it.
typedef struct Rules {
    // Four, or three and {0}, whose squares add up to 1: those of quaternions, rows of rotations
    const Expr (*units)[4];
    uint32_t unit_count;
    uint64_t budget; // 0: CLOSED_BUDGET
} Rules;

#define CLOSED_BUDGET 4000000

typedef struct Closed {
    Graph *graph;
    Rules rules;
    Ring *ring;
    Arena arena;
    Generator *generators;
    uint32_t count, most;
    uint32_t *angles, angle_count; // cosines, by angle
    int64_t *units;                // by angle, kept when all is made anew
    uint32_t unit_count, unit_capacity;
    bool is_too_coarse; // an angle needs a smaller unit, or there are more generators than room
    Fraction *by_node;
    int depth;      // of what is being arranged: calls of calls
    uint64_t spent; // by what was tried beside
} Closed;

// Of that expression; NULL only when memory runs out or there is no FLINT. Rules may be NULL.
Closed *tr_closed_new(Graph *graph, Expr x, const Rules *rules, tr_error *err);
void tr_closed_free(Closed *closed);
uint64_t tr_closed_work(const Closed *closed);

// NULL where the expression is too long for that, or has no value
const Term *tr_closed_form(Closed *closed, Expr x);

typedef enum Sameness { NOT_KNOWN, IS_SAME, IS_OTHER } Sameness;
Sameness tr_closed_compare(Graph *graph, Expr a, Expr b, const Rules *rules, tr_error *err);

// ---- within ------------------------------------------------------------------------------------

// The generator of the k-th one
static inline uint32_t place_of(const Closed *c, uint32_t k) { return c->most - 1 - k; }

// The budget is spent: what has been found so far will do
bool tr_closed_is_spent(const Closed *closed);
// A number, as a quotient or as decimals
const Term *tr_closed_number(Closed *closed, double value);
// As the graph has it, if that has no more nodes; else NULL. `mends`: with its parts in closed form
const Term *tr_plain(Closed *closed, Expr x, uint32_t nodes, bool mends);
// A fraction as it was found, in the arrangement with the fewest operations
const Term *tr_arrange(Closed *closed, Fraction f);

#endif
