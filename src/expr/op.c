// SPDX-License-Identifier: Apache-2.0
// The rows of op.def as a table of facts and as a switch over values.
#include "expr/op.h"

const OpInfo tr_op[NODE_KINDS] = {
    [OP_FAILED] = {"failed", 0, FORM_LEAF}, [OP_NUMBER] = {"number", 0, FORM_LEAF},
    [OP_SYMBOL] = {"symbol", 0, FORM_LEAF},
#define OP(ID, name, operands, form, ...) [OP_##ID] = {name, operands, FORM_##form},
#include "expr/op.def"
#undef OP
    [OP_LIST] = {"list", 2, FORM_CALL},     [OP_FACTOR] = {"factor", 1, FORM_CALL},
    [OP_SOLVE] = {"solve", 1, FORM_CALL},   [OP_PART] = {"part", 1, FORM_CALL},
};

Op tr_op_called(Text name)
{
    for (Op op = OP_SYMBOL + 1; op < OP_COUNT; op++)
        if (tr_op[op].form == FORM_CALL && text_is(name, tr_op[op].name)) return op;
    return OP_FAILED;
}

double tr_op_value(Op op, double a, double b, double c, int n, const Table *f)
{
    switch (op) {
#define OP(ID, name, operands, form, rule, value, ...) \
    case OP_##ID:                                      \
        return value;
#include "expr/op.def"
#undef OP
    default: return (double)NAN;
    }
    (void)b, (void)c, (void)n, (void)f; // each row uses what it needs
}
