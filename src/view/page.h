// SPDX-License-Identifier: Apache-2.0
// The report: a page with a run in it.
#ifndef TR_VIEW_PAGE_H
#define TR_VIEW_PAGE_H

#include "view/frames.h"

#include <stdio.h>

// What a page has in the place where the data go.
#define TR_PAGE_MARK "<!--data-->"

typedef struct Report {
    const System *system;
    const Sheet *run;      // NULL: of a sweep no run can be seen to move
    Text certificate;      // JSON; of no length when there is none
    const char *label;     // what it is called among several; may be NULL
    const char *equations; // html, or words; may be NULL
} Report;

// Writes the page with the reports in the place of its mark, the first one leading, and with
// `sweep`, JSON of all runs of a sweep that these are of, or nothing. Errors of writing are left in
// the stream.
bool tr_page_write(Text page, const Report *reports, size_t count, const Buffer *sweep, FILE *to,
                   tr_error *err);

#endif
