// SPDX-License-Identifier: Apache-2.0
// Where results of a sweep go: a database, which can be gone on with, or a table.
#ifndef TR_SWEEP_STORE_H
#define TR_SWEEP_STORE_H

#include "sweep/sweep.h"

// One of them; NULLs are as if they did nothing.
typedef struct Store {
    bool (*block)(struct Store *store, const Block *block, tr_error *err);
    // Now and then: so that no more than a second is lost, and what cannot be written is told
    bool (*commit)(struct Store *store, tr_error *err);
    // All that came is there; frees it. After an error nothing more is written than can be.
    bool (*close)(struct Store *store, tr_error *err);
    const Sweep *sweep;
    uint8_t *is_done; // by run, a bit: it was there before; or NULL
    size_t done, failed;
} Store;

// NULL and an error
Store *tr_table_open(const Sweep *sweep, const char *path, tr_error *err);
Store *tr_runs_database_open(const Sweep *sweep, const char *path, tr_error *err);

// "ok", "stopped", "failed"
const char *tr_block_outcome(const Block *block, uint32_t run);

#endif
