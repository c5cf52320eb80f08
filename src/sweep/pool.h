// SPDX-License-Identifier: Apache-2.0
// Threads that work on blocks as they are dealt; whoever called gets them back, in any order.
#ifndef TR_SWEEP_POOL_H
#define TR_SWEEP_POOL_H

#include "sweep/deck.h"

// Threads ask it, one at a time. Who has nothing yet is asked again after a pause.
typedef struct Dealer {
    Dealt (*deal)(void *owner, Deal *deal);
    void *owner;
} Dealer;

// Both are called by the thread that called tr_pool_run; false ends it.
typedef struct Writer {
    bool (*block)(void *owner, const Block *block, tr_error *err);
    bool (*pause)(void *owner, tr_error *err); // between blocks, and as often as that
    void *owner;
    double most_pause; // [s]
} Writer;

// How many threads that is
size_t tr_pool_threads(const Sweep *sweep, size_t threads);
// 0 threads: as many as there are processors for this process.
bool tr_pool_run(Sweep *sweep, const Dealer *dealer, size_t threads, const Writer *writer,
                 tr_error *err);

#endif
