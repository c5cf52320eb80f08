// SPDX-License-Identifier: Apache-2.0
// What deflate packed (RFC 1951), and the checksum of archives.
#ifndef TR_BASE_INFLATE_H
#define TR_BASE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Unpacks into `to`, which has room for `size` bytes and no more is written; false unless that is
// exactly what there is, and all of `from` is used.
bool tr_inflate(const uint8_t *from, size_t length, uint8_t *to, size_t size);

// CRC-32 of archives and PNG: polynomial 0xedb88320, of one piece
uint32_t tr_crc32(const void *bytes, size_t length);

#endif
