// SPDX-License-Identifier: Apache-2.0
// The interpreter over blocks of 4 or 8 lanes: the same runs (interpret.h), each instruction a
// vector or two, and kernels for what is more than that. Compiled once for each machine.
#include "program/interpret.h"

#include "program/kernel.h"
#include <assert.h>

// What rows of op.def say of numbers.
#define OP(ID, name, operands, form, rule, value, ...)                                   \
    enum { operands_of_##ID = operands };                                                \
    static inline double value_##ID(double a, double b, double c, int n, const Table *f) \
    {                                                                                    \
        (void)b, (void)c, (void)n, (void)f;                                              \
        return value;                                                                    \
    }
#include "expr/op.def"
#undef OP

// The same for each lane: operands a b c, result y.
#define LANES_OF(ID, value)                                                                     \
    static inline void lanes_##ID(const double *restrict a, const double *restrict b,           \
                                  const double *restrict c, double *restrict y, uint32_t lanes) \
    {                                                                                           \
        (void)b, (void)c;                                                                       \
        for (uint32_t k = 0; k < lanes; k++) y[k] = (value);                                    \
    }
#define LANES_OF_ROW(ID) LANES_OF(ID, value_##ID(a[k], b[k], c[k], 0, NULL))

// The rows that have no kernel; sums and products are multiply-adds, powers are products.
#define EVERY_ROW(X) \
    X(DIV)           \
    X(SQRT) X(ABS) X(FLOOR) X(MIN) X(MAX) X(LESS) X(LESS_EQUAL) X(EQUAL) X(NOT_EQUAL) X(SELECT)
EVERY_ROW(LANES_OF_ROW)
LANES_OF(FMA, fma(a[k], b[k], c[k]))
LANES_OF(FMS, fma(a[k], b[k], -c[k]))
LANES_OF(FNMA, fma(-a[k], b[k], c[k]))

// ---- runs ----------------------------------------------------------------------------------

#define VALUE(place) (v + (size_t)(place)*lanes)
#define RUN(ID, operands)                                                                      \
    for (uint32_t i = 0; i < count; i++, at += (operands), result++)                           \
        lanes_##ID(VALUE(at[0]), VALUE(at[(operands) > 1]), VALUE(at[(operands) > 2 ? 2 : 0]), \
                   VALUE(result), lanes);                                                      \
    break
#define RUN_PACKED(ID)                                                                 \
    for (uint32_t i = 0; i < count; i++, at += 2, result++) {                          \
        uint64_t word;                                                                 \
        memcpy(&word, at, sizeof word);                                                \
        lanes_##ID(VALUE(word &PACKED_MASK), VALUE(word >> PACKED_BITS & PACKED_MASK), \
                   VALUE(word >> 2 * PACKED_BITS), VALUE(result), lanes);              \
    }                                                                                  \
    break
#define RUN_ROW(ID) \
    case OP_##ID: RUN(ID, operands_of_##ID);

// One operation after the other; where the operands end.
static const uint32_t *run_kernel(const Interpreted *code_of, uint32_t code, uint32_t count,
                                  const uint32_t *at, uint32_t result, double *v)
{
    Kernel *const kernel = code_of->kernels->of[code];
    assert(kernel); // every operation is a row or a kernel
    const uint32_t operands = (uint32_t)tr_op[code].operands;
    uint32_t places[3];
    KernelCall call = {.count = 1, .places = places};
    for (; count > 0; count--) {
        for (uint32_t i = 0; i < operands; i++) places[i] = *at++;
        places[operands] = result++;
        if (tr_op[code].form == FORM_TABLE) {
            call.table = code_of->tables[*at++];
            call.n = (int)*at++;
        }
        kernel(&call, v);
    }
    return at;
}

static inline void run(const Executable *executable, ProgramPart part, double *v, uint32_t lanes)
{
    const Interpreted *code_of = (const Interpreted *)executable;
    const uint32_t *at = code_of->runs[part];
    uint32_t result = code_of->first[part];
    for (;;) {
        const uint32_t code = *at++, count = *at++;
        switch (code) {
            EVERY_ROW(RUN_ROW)
        case CODE_FMA: RUN_PACKED(FMA);
        case CODE_FMS: RUN_PACKED(FMS);
        case CODE_FNMA: RUN_PACKED(FNMA);
        case CODE_FMA | WIDE: RUN(FMA, 3);
        case CODE_FMS | WIDE: RUN(FMS, 3);
        case CODE_FNMA | WIDE: RUN(FNMA, 3);
        case CODE_FACTOR:
        case CODE_SOLVE: at = run_blocks(code_of, code, count, at, v, &result); break;
        case OP_FAILED: return;
        default: at = run_kernel(code_of, code, count, at, result, v); result += count;
        }
    }
}

Interpreter FOR_MACHINE(tr_interpret4), FOR_MACHINE(tr_interpret8);

void FOR_MACHINE(tr_interpret4)(const Executable *executable, ProgramPart part, double *values)
{
    run(executable, part, values, 4);
}
void FOR_MACHINE(tr_interpret8)(const Executable *executable, ProgramPart part, double *values)
{
    run(executable, part, values, 8);
}
