// SPDX-License-Identifier: Apache-2.0
// Compiled once for each machine, with TR_KERNELS naming the sets. The bodies of elementary.h have
// no branches, so that the compiler makes vector code of a loop over eight of them; arguments
// outside of a body's range are mended by the function itself.
#include "program/kernel.h"

#include <string.h>

#ifndef TR_KERNELS
#define TR_KERNELS tr_kernels_plain
#endif

enum { GROUP = 8 }; // arguments done together

// The first `count` of a group are wanted; the others are there, too. Results y, and z of SINCOS.
typedef void Body(const KernelCall *call, uint32_t count, const double *restrict a,
                  const double *restrict b, double *restrict y, double *restrict z);
#define BODY(name)                                                                     \
    static void name(const KernelCall *call, uint32_t count, const double *restrict a, \
                     const double *restrict b, double *restrict y, double *restrict z)
#define UNUSED (void)call, (void)count, (void)a, (void)b, (void)y, (void)z

// ---- groups --------------------------------------------------------------------------------

// Of arguments that are not `inside` another body makes y, and z.
#define GROUP_OF(name, inside, body, mended) \
    BODY(group_##name)                       \
    {                                        \
        UNUSED;                              \
        uint64_t outside = 0;                \
        for (int k = 0; k < GROUP; k++) {    \
            body;                            \
            outside |= (inside) ? 0 : 1;     \
        }                                    \
        if (!outside) return;                \
        for (uint32_t k = 0; k < count; k++) \
            if (!(inside)) {                 \
                mended;                      \
            }                                \
    }
#define VALUE(op)                  tr_op_value(OP_##op, a[k], b[k], 0, call->n, call->table)
#define FUNCTION(op, name, in, of) GROUP_OF(name, in, y[k] = of, y[k] = VALUE(op))

FUNCTION(SIN, sin, el_angle_inside(a[k]), el_sin_body(a[k]))
FUNCTION(COS, cos, el_angle_inside(a[k]), el_cos_body(a[k]))
FUNCTION(TAN, tan, el_angle_inside(a[k]), el_tan_body(a[k]))
FUNCTION(ASIN, asin, el_sine_inside(a[k]), el_asin_body(a[k]))
FUNCTION(ACOS, acos, el_sine_inside(a[k]), el_acos_body(a[k]))
FUNCTION(ATAN, atan, el_point_inside(a[k], 1.0), el_atan_body(a[k]))
FUNCTION(ATAN2, atan2, el_point_inside(a[k], b[k]), el_atan2_body(a[k] + 0.0, b[k] + 0.0))
FUNCTION(EXP, exp, el_exp_inside(a[k]), el_exp_body(a[k]))
FUNCTION(HYPOT, hypot, el_point_inside(a[k], b[k]), el_hypot_body(a[k], b[k]))
FUNCTION(LOG, log, el_log_inside(a[k]), el_log_body(a[k]))
FUNCTION(RAISE, raise, 0, 0)
FUNCTION(TABLE1, table1, 0, 0)
FUNCTION(TABLE2, table2, 0, 0)
GROUP_OF(sincos, el_angle_inside(a[k]), (y[k] = el_sin_body(a[k]), z[k] = el_cos_body(a[k])),
         (y[k] = VALUE(SIN), z[k] = VALUE(COS)))

// ---- runs ----------------------------------------------------------------------------------

enum { MOST_OPERANDS = 2, MOST_RESULTS = 2 };

// Up to GROUP / lanes operations whose values are brought together.
static inline void run_gathered(const KernelCall *call, double *v, const uint32_t *at,
                                uint32_t operations, uint32_t lanes, int operands, int results,
                                Body *body)
{
    double x[MOST_OPERANDS][GROUP], y[MOST_RESULTS][GROUP];
    const uint32_t stride = (uint32_t)(operands + results);
    for (int i = 0; i < operands; i++)
        for (uint32_t k = 0; k < GROUP / lanes; k++) {
            const uint32_t place = at[(k < operations ? k : 0) * stride + (uint32_t)i];
            memcpy(x[i] + k * lanes, v + (size_t)place * lanes, lanes * sizeof *v);
        }
    body(call, operations * lanes, x[0], x[operands - 1], y[0], y[results - 1]);
    for (int i = 0; i < results; i++)
        for (uint32_t k = 0; k < operations; k++) {
            const uint32_t place = at[k * stride + (uint32_t)(operands + i)];
            memcpy(v + (size_t)place * lanes, y[i] + k * lanes, lanes * sizeof *v);
        }
}

static inline void run(const KernelCall *call, double *v, uint32_t lanes, int operands, int results,
                       Body *body)
{
    const uint32_t stride = (uint32_t)(operands + results), together = GROUP / lanes;
    const uint32_t *at = call->places;
    for (uint32_t done = 0; done < call->count; done += together, at += together * stride) {
        const uint32_t left = call->count - done;
        if (lanes == GROUP)
            body(call, GROUP, v + (size_t)at[0] * GROUP, v + (size_t)at[operands - 1] * GROUP,
                 v + (size_t)at[operands] * GROUP, v + (size_t)at[stride - 1] * GROUP);
        else
            run_gathered(call, v, at, left < together ? left : together, lanes, operands, results,
                         body);
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

#define ROW1(operation, name, ...) [operation] = run1_##name,
#define ROW4(operation, name, ...) [operation] = run4_##name,
#define ROW8(operation, name, ...) [operation] = run8_##name,
const KernelSet TR_KERNELS[KERNEL_SETS] = {
    {1, {EVERY_KERNEL(ROW1)}},
    {4, {EVERY_KERNEL(ROW4)}},
    {8, {EVERY_KERNEL(ROW8)}},
};
