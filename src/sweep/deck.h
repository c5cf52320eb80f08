// SPDX-License-Identifier: Apache-2.0
// Blocks that are still to be worked on, dealt one after the other, to whoever asks: threads, or
// other processes. Of several shards, each deals the blocks that are left to it:
//
//   block = shard + k * shards,  k = 0, 1, 2 ...
#ifndef TR_SWEEP_DECK_H
#define TR_SWEEP_DECK_H

#include "sweep/sweep.h"

#include <pthread.h>

typedef enum Dealt { DEALT_BLOCK, DEALT_NOTHING_YET, DEALT_ALL } Dealt;

typedef struct Deck {
    const Sweep *sweep;
    const uint8_t *is_done; // by run, a bit: it was there before; NULL: none was
    pthread_mutex_t lock;   // of `next`
    uint64_t next;          // block
    size_t runs, before;    // of the shard: all of them, and those that were there
} Deck;

void tr_deck_open(Deck *deck, const Sweep *sweep, const uint8_t *is_done);
void tr_deck_close(Deck *deck);
// The next that has runs left
Dealt tr_deck_deal(void *deck, Deal *deal);

#endif
