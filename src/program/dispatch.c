// SPDX-License-Identifier: Apache-2.0
// What this machine runs of that which is compiled for several.
#include "program/interpret.h"

#include <assert.h>

Interpreter tr_interpret_plain, tr_interpret4_plain, tr_interpret8_plain;

typedef struct Compiled {
    const KernelSet *kernels; // for 1, 4 and 8 lanes
    Interpreter *interpreter[KERNEL_SETS];
} Compiled;

#define CODE(one_lane, machine)                                                              \
    {                                                                                        \
        tr_kernels_##machine, { one_lane, tr_interpret4_##machine, tr_interpret8_##machine } \
    }

#ifdef TR_X86
Interpreter tr_interpret_fma, tr_interpret4_avx2, tr_interpret8_avx2, tr_interpret4_avx512,
    tr_interpret8_avx512;
static const Compiled machines[] = {[MACHINE_PLAIN] = CODE(tr_interpret_plain, plain),
                                    [MACHINE_AVX2] = CODE(tr_interpret_fma, avx2),
                                    [MACHINE_AVX512] = CODE(tr_interpret_fma, avx512)};

static Machine found_machine(void)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return MACHINE_PLAIN;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl")
               ? MACHINE_AVX512
               : MACHINE_AVX2;
}
#else
static const Compiled machines[] = {[MACHINE_PLAIN] = CODE(tr_interpret_plain, plain)};

static Machine found_machine(void) { return MACHINE_PLAIN; }
#endif

static _Atomic Machine most = MACHINE_AVX512;

void tr_limit_machine(Machine machine) { most = machine; }

Machine tr_machine(void)
{
    const Machine found = found_machine();
    return found < most ? found : most;
}

static int set_of(Machine machine, uint32_t lanes)
{
    assert(machine <= tr_machine());
    int i = 0;
    while (i + 1 < KERNEL_SETS && machines[machine].kernels[i].lanes != lanes) i++;
    assert(machines[machine].kernels[i].lanes == lanes); // 1, 4 or 8
    return i;
}

const KernelSet *tr_kernels(Machine machine, uint32_t lanes)
{
    return &machines[machine].kernels[set_of(machine, lanes)];
}

Interpreter *tr_lane_interpreter(Machine machine, uint32_t lanes)
{
    return machines[machine].interpreter[set_of(machine, lanes)];
}

Interpreter *tr_interpreter(void) { return tr_lane_interpreter(tr_machine(), 1); }
