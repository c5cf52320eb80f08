// SPDX-License-Identifier: Apache-2.0
// Where the reading of a text stands, line by line: of tables and grids of numbers.
#ifndef TR_BASE_LINES_H
#define TR_BASE_LINES_H

#include <stdbool.h>
#include <string.h>

#include <trundle/trundle.h>

typedef struct Reader {
    const char *at, *end;
    int line;         // from 1
    bool is_discreet; // errors say nothing of what is in the text
    tr_error *err;
} Reader;

static inline void skip_mark(Reader *r) // of a text as UTF-8, which some programs begin with
{
    if (r->end - r->at >= 3 && memcmp(r->at, "\xef\xbb\xbf", 3) == 0) r->at += 3;
}

static inline bool is_line_end(const Reader *r)
{
    return r->at == r->end || *r->at == '\n' || *r->at == '\r';
}

static inline void skip_blanks(Reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t')) r->at++;
}

// Behind the end of this one, as Unix and as Windows writes it
static inline void next_line(Reader *r)
{
    if (r->at < r->end && *r->at == '\r') r->at++;
    if (r->at < r->end && *r->at == '\n') r->at++;
    r->line++;
}

#endif
