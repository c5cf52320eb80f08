// SPDX-License-Identifier: Apache-2.0
// SHA-256, as FIPS 180-4 has it: the name of a file's content.
#ifndef TR_BASE_SHA256_H
#define TR_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum {
    TR_SHA256_SIZE = 65,  // [bytes] 64 hexadecimal digits and a terminating zero
    TR_SHA256_BLOCK = 64, // [bytes] that are digested at once
};

void tr_sha256(const void *bytes, size_t length, char hex[TR_SHA256_SIZE]);

// The same of bytes that come one after the other
typedef struct Sha256 {
    uint32_t h[8];
    unsigned char left[TR_SHA256_BLOCK]; // not yet a block
    uint64_t length;                     // [bytes] so far
} Sha256;

void tr_sha256_begin(Sha256 *sha);
void tr_sha256_add(Sha256 *sha, const void *bytes, size_t length);
void tr_sha256_end(const Sha256 *sha, char hex[TR_SHA256_SIZE]);

#endif
