// SPDX-License-Identifier: Apache-2.0
// The order in which operations of a list are made, and which of their values stand in memory
// between: registers are few. Where a list has another order than it needs, each value is made as
// late as its first user wants it.
#ifndef TR_GPU_ORDER_H
#define TR_GPU_ORDER_H

#include "program/flat.h"

// Operations that are wanted and not there yet, each behind what it needs. Caller frees; NULL when
// memory runs out.
uint32_t *tr_order_make(const Flat *flat, const bool *is_there, const uint32_t *wanted,
                        uint32_t wanted_count, uint32_t *count);

#endif
