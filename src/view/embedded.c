// SPDX-License-Identifier: Apache-2.0
// TR_PAGE_FILE is the path of the built page, when there is one. The assembler puts the file in as
// it is: a megabyte as a C array takes compilers seconds.
#include "view/embedded.h"

#include <stdint.h>

#ifdef TR_PAGE_FILE
__asm__(".pushsection .rodata\n"
        "tr_page_begin: .incbin \"" TR_PAGE_FILE "\"\n"
        "tr_page_end: .byte 0\n"
        ".popsection\n"
        ".global tr_page_begin, tr_page_end\n"
        ".hidden tr_page_begin, tr_page_end\n");
extern const char tr_page_begin[], tr_page_end[];

Text tr_page_embedded(void)
{
    return (Text){tr_page_begin, (size_t)((uintptr_t)tr_page_end - (uintptr_t)tr_page_begin)};
}
#else
Text tr_page_embedded(void) { return (Text){"", 0}; }
#endif
