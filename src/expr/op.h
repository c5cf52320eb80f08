// SPDX-License-Identifier: Apache-2.0
// The operations: their numbers, names and values, all from op.def.
#ifndef TR_EXPR_OP_H
#define TR_EXPR_OP_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "expr/elementary.h"
#include "expr/table.h"

typedef enum Op {
    OP_FAILED, // memory ran out while it was built; stays failed through every operation
    OP_NUMBER,
    OP_SYMBOL,
#define OP(ID, ...) OP_##ID,
#include "expr/op.def"
#undef OP
    OP_COUNT, // behind the rows: blocks, see block.h
    OP_LIST = OP_COUNT,
    OP_FACTOR,
    OP_SOLVE,
    OP_PART,
    NODE_KINDS
} Op;

// What a value changes with. The stage of an operation is the largest of its operands'.
typedef enum ValueStage {
    STAGE_CONSTANT,
    STAGE_PARAMETER,
    STAGE_TIME,
    STAGE_STATE,
    STAGE_COUNT
} ValueStage;

// How an operation is written; operators from loose to tight.
typedef enum Form {
    FORM_LEAF,
    FORM_CALL,
    FORM_TABLE, // written by the name the user gave the table
    FORM_RELATION,
    FORM_SUM,
    FORM_PRODUCT,
    FORM_SIGN,
    FORM_POWER
} Form;

typedef struct OpInfo {
    const char *name;
    int operands;
    Form form;
} OpInfo;

extern const OpInfo tr_op[NODE_KINDS];

// The operation that formulas call by this name, or OP_FAILED.
Op tr_op_called(Text name);

// a^n by squaring from the leading bit; programs expand a power into the same products.
static inline double tr_power(double a, int n)
{
    unsigned bits = n < 0 ? 0u - (unsigned)n : (unsigned)n, top = 1;
    if (bits == 0) return 1;
    while (bits >> 1 >= top) top <<= 1;
    double y = a;
    while (top >>= 1) {
        y *= y;
        if (bits & top) y *= a;
    }
    return n < 0 ? 1 / y : y;
}

// a^(n/2)
static inline double tr_power_halves(double a, int n)
{
    return n & 1 ? tr_power(sqrt(a), n) : tr_power(a, n / 2);
}

// a^b: products for whole b, else exp(b log a), which needs a > 0
static inline double tr_raise(double a, double b)
{
    if (fabs(b) <= 1000 && b == floor(b)) return tr_power(a, (int)b);
    if (a == 0 && b > 0) return 0;
    return el_exp(b * el_log(a));
}

// The value of an operation on numbers: what every evaluator must give, bit for bit.
double tr_op_value(Op op, double a, double b, double c, int n, const Table *f);

#endif
