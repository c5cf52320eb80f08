// SPDX-License-Identifier: Apache-2.0
// Kernels that were assembled once, in the user's cache folder, by the hash of what they are.
#ifndef TR_GPU_CACHE_H
#define TR_GPU_CACHE_H

#include "base/text.h"

// "~/.cache/trundle/gpu/HASH.cubin" of a text and what else decides; false where there is no such
// folder, and none can be made.
bool tr_gpu_cache_path(const char *ptx, const char *besides, char *out, size_t size);
// What a file holds, and making one; where that fails, it is done without. One whose bytes are not
// those that were written, as a digest behind them says, is not read.
bool tr_gpu_cache_read(const char *path, Buffer *out);
void tr_gpu_cache_write(const char *path, const void *bytes, size_t count);

#endif
