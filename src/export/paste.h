// SPDX-License-Identifier: Apache-2.0
// Elementary functions for generated C: of a header as much as is used.
#ifndef TR_EXPORT_PASTE_H
#define TR_EXPORT_PASTE_H

#include "base/text.h"

// The definitions of `source` that these names need, "el_sin el_atan2", in its order, with `fma`
// in place of its fma. Numbers are written as C++ has them, too.
void tr_paste(Buffer *out, Text source, const char *wanted, const char *fma);

#endif
