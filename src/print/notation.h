// SPDX-License-Identifier: Apache-2.0
// Terms in the notations that there are: one walk for all of them, and a row for each in
// notation.def.
#ifndef TR_PRINT_NOTATION_H
#define TR_PRINT_NOTATION_H

#include "print/name.h"
#include "print/term.h"

typedef struct Notation Notation;
struct Notation {
    const char *name;
    const char *group[2];            // around what belongs together
    const char *plus, *minus, *sign; // between terms, and in front of the first
    const char *times, *comma;       // between
    const char *bracket[2];          // around
    const char *fraction[3];         // before, between and behind; NULL: with a stroke
    const char *power[3];            // likewise
    const char *root[2];             // around what it is of; NULL: by its name
    const char *call[3];             // before the name, behind it, behind all
    const Notation
        *in_lines; // for formulas that are wider than a line; NULL: they are as all others
    void (*symbol)(const System *system, uint32_t input, Buffer *text);
    void (*number)(const char *digits, Buffer *text);
    void (*word)(Text word, Buffer *text);          // names of functions
    void (*prose)(const char *words, Buffer *text); // outside of formulas
    // An entry of a matrix: its letter, and "" or "2" or "1,2"
    void (*entry)(const char *letter, const char *place, Buffer *text);
};

extern const Notation tr_notation_text, tr_notation_latex, tr_notation_markdown, tr_notation_mathml;

// Names are those of the system's inputs; NULL: of the graph's symbols.
void tr_term_write(const Term *term, const Notation *notation, const System *system, Buffer *text);

#endif
