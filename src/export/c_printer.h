// SPDX-License-Identifier: Apache-2.0
// C that is being written: c.c has functions, names and tables, c_step.c what moves on.
#ifndef TR_EXPORT_C_PRINTER_H
#define TR_EXPORT_C_PRINTER_H

#include "export/target.h"

typedef struct Printer {
    const Export *code;
    Tongue tongue;
    const char *real;
    Buffer body;   // functions
    uint32_t room; // numbers that any of them needs in w
    uint32_t rooms[CODE_PARTS];
    // of the function that is being written
    uint32_t *masks; // arguments of its parts, and whether they take w
    uint32_t part_count, part_capacity;
    uint32_t arguments; // that it has, a bit for each
    const char *head;   // of the whole function, before its brace
    bool has_mode;
} Printer;

// A function with the arguments that its part has, of everybody or of this file
void tr_c_function(Printer *p, CodePart part, const char *name, const char *array, bool is_public,
                   const CodeNames *entries);
// A text with marks for names, numbers and functions of the C library, and more
void tr_c_fill_in(const Printer *p, Buffer *out, Text text, const Mark *more);
void tr_c_integers(Buffer *out, const char *head, const uint32_t *at, uint32_t count);
void tr_c_reals(const Printer *p, Buffer *out, const char *head, const double *at, size_t count);
// Tables, where there are any, and what evaluates them
void tr_c_tables(const Printer *p, Buffer *out);
// Units and positions back onto their constraints, where there are any
void tr_c_projection(Printer *p);

// What acts at samples; a step; and what they say in the header
void tr_c_samples(Printer *p);
void tr_c_step(Printer *p);
void tr_c_samples_header(const Printer *p, Buffer *out);
// Numbers that they need in w behind those of functions
uint32_t tr_c_step_room(const Printer *p);

// The unreduced form: functions, and what the workspace takes
void tr_c_unreduced(Printer *p);
uint32_t tr_c_unreduced_room(const Printer *p);

#endif
