// SPDX-License-Identifier: Apache-2.0
// A file that one process at a time has, as long as it lives: it says that something is worked on.
#ifndef TR_BASE_CLAIM_H
#define TR_BASE_CLAIM_H

#include "base/error.h"

#include <stdbool.h>

typedef struct Claim Claim;

// Waits a while. False where another process has it; true with NULL where there can be no such
// file.
bool tr_claim_take(const char *path, Claim **claim, tr_error *err);
// Removes the file.
void tr_claim_drop(Claim *claim);

#endif
