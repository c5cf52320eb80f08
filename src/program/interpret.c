// SPDX-License-Identifier: Apache-2.0
// Compiled twice where the machine may have a multiply-add instruction: as it is, and with
// TR_INTERPRET naming the function and the compiler allowed to use that instruction. fma() is exact
// in both, so the bits are the same.
#include "program/interpret.h"

#ifndef TR_INTERPRET
#define TR_INTERPRET tr_interpret_plain
#endif

Interpreter TR_INTERPRET;

#define LOOP(operands, value)                                                   \
    for (uint32_t i = 0; i < count; i++, at += (operands)) *result++ = (value); \
    break

// One load instead of three: 10 % of the time of a program (bench line "interpreter").
#define PACKED(value)                                                                     \
    for (uint32_t i = 0; i < count; i++, at += 2) {                                       \
        uint64_t word;                                                                    \
        memcpy(&word, at, sizeof word);                                                   \
        const double x = v[word & PACKED_MASK], y = v[word >> PACKED_BITS & PACKED_MASK]; \
        const double z = v[word >> 2 * PACKED_BITS];                                      \
        *result++ = (value);                                                              \
    }                                                                                     \
    break

#define BLOCKS                                          \
    at = run_blocks(code_of, code, count, at, v, &end); \
    result = v + end;                                   \
    break

// Rows of op.def read a, b, c, n and f; here they are loads.
#define a v[at[0]]
#define b v[at[1]]
#define c v[at[2]]

#define STRIDE_CALL(operands)     (operands)
#define STRIDE_RELATION(operands) (operands)
#define STRIDE_SUM(operands)      (operands)
#define STRIDE_PRODUCT(operands)  (operands)
#define STRIDE_SIGN(operands)     (operands)
#define STRIDE_POWER(operands)    (operands)       // whole and half powers have been expanded
#define STRIDE_TABLE(operands)    ((operands) + 2) // the table, n
#define n                         ((int)at[stride - 1])
#define f                         (code_of->tables[at[stride - 2]])

void TR_INTERPRET(const Executable *executable, ProgramPart part, double *restrict v)
{
    const Interpreted *code_of = (const Interpreted *)executable;
    const uint32_t *at = code_of->runs[part];
    double *result = v + code_of->first[part];
    uint32_t end = 0;
    for (;;) {
        const uint32_t code = *at++, count = *at++;
        switch (code) {
#define OP(ID, name, operands, form, rule, value, ...) \
    case OP_##ID: {                                    \
        enum { stride = STRIDE_##form(operands) };     \
        LOOP(stride, value);                           \
    }
#include "expr/op.def"
#undef OP
        case CODE_FMA: PACKED(fma(x, y, z));
        case CODE_FMS: PACKED(fma(x, y, -z));
        case CODE_FNMA: PACKED(fma(-x, y, z));
        case CODE_FMA | WIDE: LOOP(3, fma(a, b, c));
        case CODE_FMS | WIDE: LOOP(3, fma(a, b, -c));
        case CODE_FNMA | WIDE: LOOP(3, fma(-a, b, c));
        case CODE_FACTOR:
        case CODE_SOLVE: BLOCKS;
        default: return;
        }
    }
}
