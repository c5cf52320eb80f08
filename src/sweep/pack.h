// SPDX-License-Identifier: Apache-2.0
// Finished blocks as bytes, for another process of the same program.
#ifndef TR_SWEEP_PACK_H
#define TR_SWEEP_PACK_H

#include "sweep/sweep.h"

void tr_block_pack(const Sweep *sweep, const Block *block, Buffer *bytes);
// NULL with an error
Block *tr_block_unpack(const Sweep *sweep, const void *bytes, size_t count, tr_error *err);

#endif
