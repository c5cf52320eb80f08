// SPDX-License-Identifier: Apache-2.0
// Libraries that are loaded when they are first needed: what needs none of them starts without
// waiting for them, and does not depend on what they do to the process.
#ifndef TR_BASE_LATE_H
#define TR_BASE_LATE_H

#include "base/error.h"

typedef struct Late {
    const char *need;         // "linear models need LAPACK", for whoever lacks it
    const char *files[3];     // the first that can be loaded is taken; the first is named
    const char *const *names; // of functions
    size_t count;
    void *functions; // a struct of as many pointers, in the order of the names
    bool is_global;  // its functions are there for what it loads itself
    bool is_loaded;
} Late;

// Whether it is there now, once and for all; with words when it is not installed, or when it needs
// more than the memory that can be had.
bool tr_late_load(Late *library, size_t bytes, tr_error *err);

// Whether so much memory could be had, under whatever limits there are
bool tr_has_room(size_t bytes);

#endif
