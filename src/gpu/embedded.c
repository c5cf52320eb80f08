// SPDX-License-Identifier: Apache-2.0
// The assembler puts the files in as they are; TR_SOURCES is the folder that they are in.
#include "gpu/embedded.h"

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
EMBED(gpu_elementary, "expr/elementary.h")
EMBED(gpu_nodes, "gpu/nodes.txt")
