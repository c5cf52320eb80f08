// SPDX-License-Identifier: Apache-2.0
// Elementary functions for generated C: of a header as much as is used.
#ifndef TR_EXPORT_PASTE_H
#define TR_EXPORT_PASTE_H

#include "base/text.h"

#include <string.h>

// The definitions of `source` that these names need, "el_sin el_atan2", in its order, with `fma`
// in place of its fma. Numbers are written as C++ has them, too.
void tr_paste(Buffer *out, Text source, const char *wanted, const char *fma);

// The next line, with its end; and what names are of
static inline Text take_line(Text *rest)
{
    const char *end = memchr(rest->at, '\n', rest->length);
    const Text line = {rest->at, end ? (size_t)(end - rest->at) + 1 : rest->length};
    rest->at += line.length, rest->length -= line.length;
    return line;
}

static inline bool is_word(char c) { return begins_name(c) || is_digit(c); }

#endif
