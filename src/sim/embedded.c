// SPDX-License-Identifier: Apache-2.0
// The assembler puts the files in as they are; TR_SOURCES is the folder that they are in.
#include "sim/embedded.h"

#define EMBED(name, file)                                                                \
    __asm__(".pushsection .rodata\n"                                                     \
            "tr_" #name "_begin: .incbin \"" TR_SOURCES "/" file "\"\n"                  \
            "tr_" #name "_end: .byte 0\n"                                                \
            ".popsection\n"                                                              \
            ".global tr_" #name "_begin, tr_" #name "_end\n"                             \
            ".hidden tr_" #name "_begin, tr_" #name "_end\n");                           \
    extern const char tr_##name##_begin[], tr_##name##_end[];                            \
    Text tr_##name(void)                                                                 \
    {                                                                                    \
        return (Text){tr_##name##_begin, (size_t)(tr_##name##_end - tr_##name##_begin)}; \
    }
EMBED(sim_dense, "num/dense.h")
EMBED(sim_chart, "plan/chart.h")
EMBED(sim_glance, "sim/glance.h")
EMBED(sim_group, "sim/group.h")
EMBED(sim_lane_math, "sim/lane_math.h")
EMBED(sim_gpu_step, "sim/gpu_step.txt")
