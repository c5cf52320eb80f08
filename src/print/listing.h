// SPDX-License-Identifier: Apache-2.0
// A listing of equations: matrices with their words, of which each entry is written in closed form
// where that is short, and by quantities that all entries share where it is not.
#ifndef TR_PRINT_LISTING_H
#define TR_PRINT_LISTING_H

#include "expr/matrix.h"
#include "print/closed.h"
#include "print/language.h"
#include "print/staged.h"

typedef struct Equation { // a row of equation.def
    const char *key, *letter, *output, *words;
    bool is_reduced, is_symmetric;
} Equation;

// An entry that is not zero in the graph
typedef struct Cell {
    Expr x;
    uint32_t row, column;
    uint32_t operations; // as the graph has it
    const Term *form;    // NULL: none is known
    const Term
        *closed;      // the closed form of one that may be staged for its length, if any was found
    bool is_left_out; // it is longer than what is wanted, or there are enough
    bool is_staged;   // by shared quantities
} Cell;

// A matrix; or words in its place
typedef struct Block {
    const Equation *equation;
    System *system; // whose inputs its names are
    uint32_t rows, columns;
    uint32_t first, count; // cells
} Block;

typedef struct Listing {
    const Language *language;
    bool is_closed, is_staged; // all entries are; neither: by their size
    double effort;             // of the budgets
    size_t most, most_entries; // operations of an entry, entries; 0: any number
    System *derived, *reduced; // copies; the second only where it is needed
    Block *blocks;
    Cell *cells;
    uint32_t block_count, block_capacity, cell_count, cell_capacity;
    Staged *staged; // NULL where no entry is
    System *stages; // whose inputs its names are
    Known known;    // in the system that is last: its names
    Arena arena;
    Buffer text;
    tr_error *err;
} Listing;

// As tr_listing_fill does, but takes care of what is special in the words
void tr_listing_tell(Listing *listing, const char *row, const char *words);

void tr_listing_add(Listing *listing, System *system, const Equation *equation, Matrix m);
// Finds forms of all that was added
void tr_listing_solve(Listing *listing);
// Says which names of the model look like letters of the equations
void tr_listing_letters(Listing *listing);
// Writes the quantities that entries share; the entries of a matrix
void tr_listing_quantities(Listing *listing);
void tr_listing_cells(Listing *listing, const Block *block);
void tr_listing_close(Listing *listing); // but for the text

#endif
