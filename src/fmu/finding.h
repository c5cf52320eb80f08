// SPDX-License-Identifier: Apache-2.0
// What is found wrong with an FMU: all of it, not only the first, for whoever makes one mends a
// list.
#ifndef TR_FMU_FINDING_H
#define TR_FMU_FINDING_H

#include "base/error.h"

typedef enum {
    REMARK,  // allowed, but worth a word
    MISTAKE, // against the standard; it may run nevertheless
    WRECK    // nothing can be done with it
} Weight;

typedef struct Finding {
    Weight weight;
    Place at; // in modelDescription.xml; line 0: not there
    char *words;
} Finding;

enum { MOST_FINDINGS = 200 }; // that are kept

typedef struct Findings {
    Finding *list;
    uint32_t count, capacity;
    size_t of[WRECK + 1]; // so many of each weight, kept or not
    bool failed;          // memory ran out
} Findings;               // {0} to start

__attribute__((format(printf, 4, 5))) void tr_found(Findings *findings, Weight weight, Place at,
                                                    const char *format, ...);
// An error that somebody else told, as a wreck, and `err` is cleared. TR_FAILED stays there: a
// library that is missing is no mistake of the FMU.
void tr_found_error(Findings *findings, tr_error *err);
void tr_fmu_findings_free(Findings *findings);

// TR_INVALID with the first of at least that weight, or TR_NO_MEMORY; else nothing
void tr_fmu_findings_fail(const Findings *findings, Weight weight, tr_error *err);

#endif
