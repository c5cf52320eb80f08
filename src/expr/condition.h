// SPDX-License-Identifier: Apache-2.0
// What was decided by the values of parameters when a system was made: an axis along which
// something lies, a mass that is positive, how many modes there are. Its equations hold for other
// values as long as each of these comes out the same.
#ifndef TR_EXPR_CONDITION_H
#define TR_EXPR_CONDITION_H

#include "base/error.h"
#include "expr/list.h"

typedef enum Rule {
#define RULE(name, count, given) RULE_##name,
#include "expr/condition.def"
#undef RULE
} Rule;

enum { MOST_RULE_VALUES = 6 };

typedef struct Condition {
    Rule rule;
    Expr values[MOST_RULE_VALUES]; // as many as the rule takes: of parameters alone
    double decided;                // what the rule gave for them
    const char *words;             // what holds then: "the mass of 'frame' is not negative"; of a
                                   // range, what it is of: "the parameter 'm'"
    const char *unit;              // of a range
    Place place;                   // of what it is about in the model file
} Condition;

uint32_t tr_rule_count(Rule rule); // of the values that it takes
double tr_rule_gives(Rule rule, const double *x);

// Which of the things that no moments of inertia about a centre of mass can be these are.
enum { INERTIA_POSSIBLE, INERTIA_NOT_FINITE, INERTIA_NEGATIVE, INERTIA_LOPSIDED };
int tr_inertia_fault(const double *xx_yy_zz_xy_xz_yz);

// Keeps a condition, unless it is there already; its words must live as long as the system. False
// when memory runs out.
bool tr_system_keep(tr_system *system, const Condition *condition);

// The values of all conditions, in their order: what is to be evaluated where parameters change.
void tr_condition_list(const tr_system *system, Exprs *list);

// Whether the equations of a system hold for other parameters, by the values of its conditions
// there. If not, TR_INVALID, the place and the words of the first that is broken, and the
// parameters that broke it, with their values where `inputs` has those of all inputs (or NULL).
bool tr_system_allows(const tr_system *system, const double *values, const double *inputs,
                      tr_error *err);
// The same, of ranges alone.
bool tr_system_within(const tr_system *system, const double *values, const double *inputs,
                      tr_error *err);
// The parameters that broke the first, with their values: "'m' = -1"; nothing where all hold.
void tr_system_blame(const tr_system *system, const double *values, const double *inputs,
                     Buffer *names);
// "the parameter 'm' is 5 kg, and its range is 0.5 to 2 kg": of a value that is outside
void tr_range_words(const char *of, const double *value_min_max, const char *unit, Buffer *text);

#endif
