// SPDX-License-Identifier: Apache-2.0
// What several runs are called beside each other: their files, and how they were made otherwise.
#ifndef TR_VIEW_LABEL_H
#define TR_VIEW_LABEL_H

#include "base/arena.h"
#include "base/text.h"

#include <trundle/trundle.h>

typedef struct Labelled {
    const char *path;
    Text certificate;  // of no length when there is none
    const char *label; // what comes out
} Labelled;

// "slow (v0 = 2)" and "fast (v0 = 6)"; "v0 = 2" where files have one name; their paths where
// nothing else differs. Labels are in the arena; a run alone has the name of its file.
void tr_label_runs(Labelled *runs, size_t count, Arena *arena, tr_error *err);

#endif
