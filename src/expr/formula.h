// SPDX-License-Identifier: Apache-2.0
// Formulas: text -> expression.
//
//   choice   = either [ "?" choice ":" choice ]
//   either   = binary operators  ||  &&  < <= > >= == !=  + -  * /, loose to tight
//   sign     = { "+" | "-" | "!" } power
//   power    = value [ "^" sign ]
//   value    = number | name [ "(" choice { "," choice } ")" ] | "(" choice ")"
//   name     = word { "." word }, as in frame.R32
//
// Truth is 1 and falsehood 0. d(x) is the time derivative along the motion. Functions of the user
// are expanded where they are called; their arguments are local and hide other names.
#ifndef TR_EXPR_FORMULA_H
#define TR_EXPR_FORMULA_H

#include "base/error.h"
#include "base/text.h"
#include "expr/graph.h"

enum { FORMULA_MAX_ARGUMENTS = 16 };

// What formulas may cost that are read together. Two things can make a short text expensive: that
// formulas stand in each other (parentheses, a parameter's formula in that of another), which takes
// stack, and that functions are expanded and d(...) multiplies, which takes time. So both are
// counted over all the formulas of a model: it is read, or refused, in a time that its length
// bounds.
enum {
    FORMULA_MAX_DEPTH = 200,     // parentheses, signs, powers, choices and calls in each other: at
                                 // most 2 kB of stack each
    FORMULA_MAX_PARTS = 1000000, // of one that stands alone: numbers and names read in functions,
                                 // and the work of d(...)
    MODEL_MAX_PARTS = 250000,    // of those of a model: 0.2 s, a second under the sanitizers;
                                 // bundled models have up to 2,500
};

typedef struct Budget {
    int depth;  // now
    long parts; // so far
} Budget;       // {0}: nothing is spent

typedef struct Function {
    Text name;
    uint32_t argument_count;
    Text arguments[FORMULA_MAX_ARGUMENTS];
    Text body; // empty: the function is the graph's table
    Place place;
    uint32_t table;
    bool holds; // of a table: arguments stay between its ends
} Function;

// What the names in a formula mean. A member that is NULL knows nothing.
typedef struct Scope {
    void *owner;
    // The meaning of a name; false when it has none. May fail with words of its own.
    bool (*name)(void *owner, Text name, Expr *meaning, tr_error *err);
    const Function *(*function)(void *owner, Text name);
    // The time derivative of an expression; false, with words in err, when it has none.
    bool (*rate)(void *owner, Expr of, Expr *rate, tr_error *err);
    void (*offer)(void *owner, Suggestion *suggestion); // every name it knows
    Budget *budget; // what the formula is counted to; NULL when it stands alone
} Scope;

// The expression of a formula. On an error: err says what and where (a place in the file, when
// `place` is where the text begins there), and the result is the failed expression.
Expr tr_formula_parse(Graph *graph, const Scope *scope, Text text, Place place, tr_error *err);

// Reads "name(a, b)" into a function; its body is `body`. False, with words in err, when that is
// not a head or an argument stands twice.
bool tr_formula_head(Text head, Text body, Place place, Function *function, tr_error *err);

// True for names that formulas give a meaning to: t pi d if world ground, and functions.
bool tr_formula_reserved(Text name);
// True for word { "." word }.
bool tr_formula_is_name(Text name);

#endif
