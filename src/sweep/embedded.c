// SPDX-License-Identifier: Apache-2.0
#include "sweep/embedded.h"

#include "base/embed.h"

EMBED_TEXT(sweep_tally, "sweep/tally.h")
EMBED_TEXT(sweep_gpu_row, "sweep/gpu_row.txt")
