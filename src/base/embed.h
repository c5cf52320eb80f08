// SPDX-License-Identifier: Apache-2.0
// Files of the library's own that are in it as they stand: the assembler puts them there.
// TR_SOURCES is the folder that they are in.
#ifndef TR_BASE_EMBED_H
#define TR_BASE_EMBED_H

#include "base/text.h"

#include <stdint.h>

// Text tr_NAME(void), the file
#define EMBED_TEXT(name, file)                                                              \
    __asm__(".pushsection .rodata\n"                                                        \
            "tr_" #name "_begin: .incbin \"" TR_SOURCES "/" file "\"\n"                     \
            "tr_" #name "_end: .byte 0\n"                                                   \
            ".popsection\n"                                                                 \
            ".global tr_" #name "_begin, tr_" #name "_end\n"                                \
            ".hidden tr_" #name "_begin, tr_" #name "_end\n");                              \
    extern const char tr_##name##_begin[], tr_##name##_end[];                               \
    Text tr_##name(void)                                                                    \
    {                                                                                       \
        return (Text){tr_##name##_begin,                                                    \
                      (size_t)((uintptr_t)tr_##name##_end - (uintptr_t)tr_##name##_begin)}; \
    }

#endif
