// SPDX-License-Identifier: Apache-2.0
// The model's names in generated code. They may hold anything, so nothing of them is copied there
// but letters, digits and underscores, behind a prefix that no language has for a word of its own.
#ifndef TR_EXPORT_IDENTIFIER_H
#define TR_EXPORT_IDENTIFIER_H

#include "base/text.h"

enum { IDENTIFIER_LONGEST = 40 }; // [bytes] of a name, behind its prefix

// "q_" and "frame.x": "q_frame_x"; "v_" and "d(roll)": "v_roll". To be freed; NULL when memory runs
// out.
char *tr_identifier_new(const char *prefix, const char *name);
// Of files and functions, from a path without its extension, or from all of a title: begins with a
// letter.
void tr_identifier_of_file(const char *path, char *out, size_t size);
void tr_identifier_of_title(const char *title, char *out, size_t size);
// As part of a comment of one line: what could end or change it becomes '.'
void tr_buffer_comment(Buffer *out, const char *text);
// As the inside of a string in double quotes of C and Python, and in single quotes of Octave: what
// is not a letter, digit or plain mark is written as three octal digits, but for Octave, where it
// becomes '.'
void tr_buffer_quoted(Buffer *out, const char *text, bool octal);

#endif
