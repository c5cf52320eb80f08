// SPDX-License-Identifier: Apache-2.0
// The text of a kernel's body as data: spans that run from their first item to their last, and
// between them the lines where the way forks or joins. A fork that joins again soon is an item.
#ifndef TR_GPU_BODY_H
#define TR_GPU_BODY_H

#include "gpu/ptx.h"

enum { LINE_NUMBERS = 4, NO_SPAN = -1 };

typedef enum LineForm { LINE_PLAIN, LINE_LABEL, LINE_BRANCH, LINE_END } LineForm;

// Registers of numbers alone count here.
typedef struct Line {
    uint32_t from, to; // in the text, with the end of the line
    LineForm form;
    uint32_t label; // here, or where it goes
    bool is_conditional;
    uint32_t made; // register, 0 none
    uint32_t used[LINE_NUMBERS], uses;
} Line;

typedef struct Item {
    uint32_t line, end;            // lines
    uint32_t use, uses, def, defs; // in `operands`
    uint32_t inside;               // numbers that it has for itself
} Item;

typedef struct Span {
    uint32_t item, end; // items
    int next[2];        // spans that may follow; NO_SPAN
    uint32_t depth;     // loops around
} Span;

typedef struct Body {
    const char *text;
    Line *lines;
    uint32_t line_count;
    uint32_t *label_line, *first_to, *last_to; // by label: where it is, branches to it
    Item *items;
    uint32_t item_count, item_capacity;
    Span *spans;
    uint32_t span_count, span_capacity;
    int *span_of;       // by line: the span there, or the first after it
    uint32_t *operands; // registers
    uint32_t operand_count, operand_capacity;
    uint32_t registers; // of numbers
    uint32_t *stamp;    // by register, where items are made
    uint32_t stamps;
    bool failed;
} Body;

// False where memory ran out; to be freed in any case.
bool tr_body_read(Body *body, const Ptx *ptx);
void tr_body_free(Body *body);

#endif
