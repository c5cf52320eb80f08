// SPDX-License-Identifier: Apache-2.0
// The languages that equations are written in, see language.def.
#ifndef TR_PRINT_LANGUAGE_H
#define TR_PRINT_LANGUAGE_H

#include "base/error.h"
#include "print/notation.h"

typedef struct Language { // a row of language.def
    const char *name;
    const Notation *notation;
    const char *begin, *heading, *block, *words, *equation, *in_lines, *end;
} Language;

// The one that is called so; NULL, with words, when there is none. In equations.c
const Language *tr_language(const char *name, tr_error *err);
// Texts that are NULL become those of the defaults; `show`, where it is NULL, this one. In
// equations.c
void tr_equations_whole(tr_equations_options *options, const char *show);
// A row of language.def with its words. In listing.c
void tr_listing_fill(Buffer *text, const char *row, const char *first, const char *second);

#endif
