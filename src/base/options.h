// SPDX-License-Identifier: Apache-2.0
// Options as the header has them that the caller was compiled with: older than this library's, or
// newer. They begin with their size; members are only ever added behind the last.
#ifndef TR_BASE_OPTIONS_H
#define TR_BASE_OPTIONS_H

#include "base/error.h"

// `own`, of `known` bytes, holds the defaults and takes from `given` what that has, nothing where
// it is NULL. TR_USAGE, with the function that makes them, when they were not made by it, or when
// they ask for something that this library does not know.
bool tr_take_options(void *own, size_t known, const void *given, const char *defaults,
                     tr_error *err);

// The other way: the defaults, `own`, as far as the caller's `size` bytes go.
void tr_give_options(void *given, size_t size, const void *own, size_t known);

#endif
