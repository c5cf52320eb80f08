// SPDX-License-Identifier: Apache-2.0
// The order in which operations are made, so that few of their values are wanted at a time:
// registers are few (T463).
#ifndef TR_GPU_ORDER_H
#define TR_GPU_ORDER_H

#include "program/flat.h"

// Operations that are wanted and not there yet, each behind what it needs. Caller frees; NULL when
// memory runs out.
uint32_t *tr_order_make(const Flat *flat, const bool *is_there, const uint32_t *wanted,
                        uint32_t wanted_count, uint32_t *count);

#endif
