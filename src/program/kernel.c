// SPDX-License-Identifier: Apache-2.0
// Compiled once for each machine. The bodies of elementary.h have
// no branches, so that the compiler makes vector code of a loop over some of them; arguments
// outside of a body's range are mended by the function itself.
#include "program/kernel.h"

#include <string.h>

// Arguments done together: one vector.
#ifdef __AVX512F__
#define GROUP      8
#define EACH(X, x) X(0, x), X(1, x), X(2, x), X(3, x), X(4, x), X(5, x), X(6, x), X(7, x)
#else
#define GROUP      4
#define EACH(X, x) X(0, x), X(1, x), X(2, x), X(3, x)
#endif

typedef double Vector __attribute__((vector_size(GROUP * sizeof(double))));

// y, and z of SINCOS, of the arguments a and b of a group, of which the first `count` are wanted.
#define GROUP_PARAMETERS                                                                        \
    const KernelCall *call, uint32_t count, const double *restrict a, const double *restrict b, \
        double *restrict y, double *restrict z
typedef void Group(GROUP_PARAMETERS);

// ---- groups --------------------------------------------------------------------------------

#define GROUP_OF(name, inside, body, mended)                                  \
    static __attribute__((noinline, cold)) void mend_##name(GROUP_PARAMETERS) \
    {                                                                         \
        for (uint32_t k = 0; k < count; k++)                                  \
            if (!(inside)) mended;                                            \
        (void)call, (void)b, (void)z;                                         \
    }                                                                         \
    static void group_##name(GROUP_PARAMETERS)                                \
    {                                                                         \
        uint64_t outside = 0;                                                 \
        for (int k = 0; k < GROUP; k++) {                                     \
            body;                                                             \
            outside |= (inside) ? 0 : 1;                                      \
        }                                                                     \
        if (outside) mend_##name(call, count, a, b, y, z);                    \
    }
#define VALUE(op)                      tr_op_value(OP_##op, a[k], b[k], 0, 0, NULL)
#define FUNCTION(op, name, inside, of) GROUP_OF(name, inside, y[k] = of, y[k] = VALUE(op))
#define ONE_BY_ONE(name, of)                            \
    static void group_##name(GROUP_PARAMETERS)          \
    {                                                   \
        for (uint32_t k = 0; k < count; k++) y[k] = of; \
        (void)call, (void)b, (void)z;                   \
    }

#define ITSELF(k, x) x
static const double one[GROUP] = {EACH(ITSELF, 1)}; // instead of 1, which would be folded in

FUNCTION(SIN, sin, el_angle_inside(a[k]), el_sin_body(a[k]))
FUNCTION(COS, cos, el_angle_inside(a[k]), el_cos_body(a[k]))
FUNCTION(TAN, tan, el_angle_inside(a[k]), el_tan_body(a[k]))
FUNCTION(ASIN, asin, el_sine_inside(a[k]), el_asin_body(a[k]))
FUNCTION(ACOS, acos, el_sine_inside(a[k]), el_acos_body(a[k]))
FUNCTION(ATAN, atan, el_point_inside(a[k], 1), el_atan2_body(a[k], one[k]))
FUNCTION(ATAN2, atan2, el_point_inside(a[k], b[k]), el_atan2_body(a[k] + 0.0, b[k] + 0.0))
FUNCTION(EXP, exp, el_exp_inside(a[k]), el_exp_body(a[k]))
FUNCTION(HYPOT, hypot, el_point_inside(a[k], b[k]), el_hypot_body(a[k], b[k]))
FUNCTION(LOG, log, el_log_inside(a[k]), el_log_body(a[k]))
GROUP_OF(sincos, el_angle_inside(a[k]), (y[k] = el_sin_body(a[k]), z[k] = el_cos_body(a[k])),
         (y[k] = VALUE(SIN), z[k] = VALUE(COS)))
ONE_BY_ONE(raise, tr_raise(a[k], b[k]))
ONE_BY_ONE(table1, tr_table_value(call->table, a[k], 0, call->n))
ONE_BY_ONE(table2, tr_table_value(call->table, a[k], b[k], call->n))

// ---- runs ----------------------------------------------------------------------------------

enum { MOST_OPERANDS = 2, MOST_RESULTS = 2 };

// Side by side: the values of up to `together` = GROUP / lanes operations, repeated where there are
// fewer. Single numbers are put together in a register: a vector that is read from where numbers
// have just been written waits until all before it is done.
static inline void gather(const double *v, const uint32_t *at, uint32_t stride, uint32_t operations,
                          uint32_t lanes, double *x)
{
#define PLACE(k)     at[((k) < operations ? (k) : 0) * stride]
#define NUMBER(k, v) v[PLACE(k)]
    if (lanes == 1) {
        const Vector group = {EACH(NUMBER, v)};
        memcpy(x, &group, sizeof group);
        return;
    }
    for (uint32_t k = 0; k < GROUP / lanes; k++)
        memcpy(x + k * lanes, v + (size_t)PLACE(k) * lanes, lanes * sizeof *v);
}

static inline void run_gathered(const KernelCall *call, double *v, const uint32_t *at,
                                uint32_t operations, uint32_t lanes, int operands, int results,
                                Group *group)
{
    double x[MOST_OPERANDS][GROUP], y[MOST_RESULTS][GROUP];
    const uint32_t stride = (uint32_t)(operands + results);
    for (int i = 0; i < operands; i++) gather(v, at + i, stride, operations, lanes, x[i]);
    group(call, operations * lanes, x[0], x[operands - 1], y[0], y[results - 1]);
    for (int i = 0; i < results; i++)
        for (uint32_t k = 0; k < operations; k++) {
            const uint32_t place = at[k * stride + (uint32_t)(operands + i)];
            memcpy(v + (size_t)place * lanes, y[i] + k * lanes, lanes * sizeof *v);
        }
}

static inline void run_wide(const KernelCall *call, double *v, const uint32_t *at, uint32_t lanes,
                            int operands, int results, Group *group)
{
    double *const a = v + (size_t)at[0] * lanes, *const b = v + (size_t)at[operands - 1] * lanes,
                  *const y = v + (size_t)at[operands] * lanes,
                  *const z = v + (size_t)at[operands + results - 1] * lanes;
    for (uint32_t k = 0; k < lanes; k += GROUP) group(call, GROUP, a + k, b + k, y + k, z + k);
}

static inline void run(const KernelCall *call, double *v, uint32_t lanes, int operands, int results,
                       Group *group)
{
    const uint32_t together = lanes < GROUP ? GROUP / lanes : 1;
    const uint32_t *at = call->places, stride = (uint32_t)(operands + results);
    for (uint32_t done = 0; done < call->count; done += together, at += together * stride) {
        const uint32_t left = call->count - done;
        if (lanes < GROUP)
            run_gathered(call, v, at, left < together ? left : together, lanes, operands, results,
                         group);
        else
            run_wide(call, v, at, lanes, operands, results, group);
    }
}

// X(operation, name, operands, results)
#define EVERY_KERNEL(X)        \
    X(OP_SIN, sin, 1, 1)       \
    X(OP_COS, cos, 1, 1)       \
    X(OP_TAN, tan, 1, 1)       \
    X(OP_ASIN, asin, 1, 1)     \
    X(OP_ACOS, acos, 1, 1)     \
    X(OP_ATAN, atan, 1, 1)     \
    X(OP_ATAN2, atan2, 2, 1)   \
    X(OP_EXP, exp, 1, 1)       \
    X(OP_HYPOT, hypot, 2, 1)   \
    X(OP_LOG, log, 1, 1)       \
    X(OP_RAISE, raise, 2, 1)   \
    X(OP_TABLE1, table1, 1, 1) \
    X(OP_TABLE2, table2, 2, 1) \
    X(KERNEL_SINCOS, sincos, 1, 2)

#define RUNS(operation, name, operands, results)                    \
    static void run1_##name(const KernelCall *call, double *values) \
    {                                                               \
        run(call, values, 1, operands, results, group_##name);      \
    }                                                               \
    static void run4_##name(const KernelCall *call, double *values) \
    {                                                               \
        run(call, values, 4, operands, results, group_##name);      \
    }                                                               \
    static void run8_##name(const KernelCall *call, double *values) \
    {                                                               \
        run(call, values, 8, operands, results, group_##name);      \
    }
EVERY_KERNEL(RUNS)

// ---- blocks --------------------------------------------------------------------------------

static inline void run_block(const KernelCall *call, double *v, bool solves, uint32_t lanes)
{
    lineage_run(call->lineage, solves, call->places, call->count, call->places[call->count], v,
                lanes);
}

#define BLOCK_RUNS(name, solves, lanes)                                  \
    static void block##lanes##_##name(const KernelCall *call, double *v) \
    {                                                                    \
        run_block(call, v, solves, lanes);                               \
    }
#define BLOCKS(lanes) BLOCK_RUNS(factor, false, lanes) BLOCK_RUNS(solve, true, lanes)
BLOCKS(1)
BLOCKS(4)
BLOCKS(8)

#define ROW1(operation, name, ...) [operation] = run1_##name,
#define ROW4(operation, name, ...) [operation] = run4_##name,
#define ROW8(operation, name, ...) [operation] = run8_##name,
const KernelSet FOR_MACHINE(tr_kernels)[KERNEL_SETS] = {
    {1, {EVERY_KERNEL(ROW1)[CODE_FACTOR] = block1_factor, [CODE_SOLVE] = block1_solve}},
    {4, {EVERY_KERNEL(ROW4)[CODE_FACTOR] = block4_factor, [CODE_SOLVE] = block4_solve}},
    {8, {EVERY_KERNEL(ROW8)[CODE_FACTOR] = block8_factor, [CODE_SOLVE] = block8_solve}},
};
