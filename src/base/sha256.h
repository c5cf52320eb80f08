// SPDX-License-Identifier: Apache-2.0
// SHA-256, as FIPS 180-4 has it: the name of a file's content.
#ifndef TR_BASE_SHA256_H
#define TR_BASE_SHA256_H

#include <stddef.h>

enum { TR_SHA256_SIZE = 65 }; // [bytes] 64 hexadecimal digits and a terminating zero

void tr_sha256(const void *bytes, size_t length, char hex[TR_SHA256_SIZE]);

#endif
