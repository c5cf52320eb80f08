// SPDX-License-Identifier: Apache-2.0
// A table of numbers under named columns, as a .csv file has it: one header row, then rows of
// numbers between commas.
#ifndef TR_BASE_SHEET_H
#define TR_BASE_SHEET_H

#include <trundle/trundle.h>

typedef struct Sheet {
    char *text;         // the file, cut into names
    const char **names; // of the columns
    double *values;     // column by column
    size_t columns, rows;
    const char *body; // behind the header,
    int body_line;    // the line that it begins with
} Sheet;

// NULL, with the line in the error, when it is anything else. An empty field is not a number (nan),
// and neither is a text in quotes, which a number may stand in, too. A last line that is cut short,
// as an interrupted writer leaves it, does not count.
Sheet *tr_sheet_read(const char *path, tr_error *err);
// What a file of that name holds, or would hold: the text is taken over, and ends with a zero.
// Without a name, errors say nothing of what is in it.
Sheet *tr_sheet_take(char *text, size_t length, const char *name, tr_error *err);
Sheet *tr_sheet_parse(const char *text, size_t length, tr_error *err); // what a file would hold
void tr_sheet_free(Sheet *sheet);

// The line of the file that a row stands in; its header is the first.
int tr_sheet_line(const Sheet *sheet, size_t row);

// The values of a column, or NULL.
const double *tr_sheet_column(const Sheet *sheet, const char *name);

#endif
