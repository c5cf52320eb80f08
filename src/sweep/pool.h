// SPDX-License-Identifier: Apache-2.0
// Threads that work on blocks, which are handed out in the order of their numbers; whoever called
// gets them back, in any order.
#ifndef TR_SWEEP_POOL_H
#define TR_SWEEP_POOL_H

#include "sweep/sweep.h"

// Both are called by the thread that called tr_pool_run; false ends it.
typedef struct Writer {
    bool (*block)(void *owner, const Block *block, tr_error *err);
    bool (*pause)(void *owner, tr_error *err); // ten times a second, or so
    void *owner;
} Writer;

// All runs but those whose bit is set in `is_done`, which may be NULL; 0 threads: as many as there
// are processors.
bool tr_pool_run(Sweep *sweep, const uint8_t *is_done, size_t threads, const Writer *writer,
                 tr_error *err);

#endif
