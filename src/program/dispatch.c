// SPDX-License-Identifier: Apache-2.0
// What this machine runs of that which is compiled for several.
#include "program/interpret.h"
#include "program/kernel.h"

#include <assert.h>

Interpreter tr_interpret_plain;

static const KernelSet *set_for(const KernelSet sets[KERNEL_SETS], uint32_t lanes)
{
    for (int i = 0; i < KERNEL_SETS; i++)
        if (sets[i].lanes == lanes) return &sets[i];
    assert(!"lanes are 1, 4 or 8");
    return NULL;
}

#ifdef TR_X86
Interpreter tr_interpret_fma;

Machine tr_machine(void)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return MACHINE_PLAIN;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl")
               ? MACHINE_AVX512
               : MACHINE_AVX2;
}

Interpreter *tr_interpreter(void)
{
    return tr_machine() == MACHINE_PLAIN ? tr_interpret_plain : tr_interpret_fma;
}

const KernelSet *tr_kernels(Machine machine, uint32_t lanes)
{
    static const KernelSet *const sets[] = {[MACHINE_PLAIN] = tr_kernels_plain,
                                            [MACHINE_AVX2] = tr_kernels_avx2,
                                            [MACHINE_AVX512] = tr_kernels_avx512};
    return set_for(sets[machine], lanes);
}
#else
Machine tr_machine(void) { return MACHINE_PLAIN; }
Interpreter *tr_interpreter(void) { return tr_interpret_plain; }

const KernelSet *tr_kernels(Machine machine, uint32_t lanes)
{
    (void)machine;
    return set_for(tr_kernels_plain, lanes);
}
#endif
