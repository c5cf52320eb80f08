// SPDX-License-Identifier: Apache-2.0
// Bytes as text, four letters for three of them (RFC 4648, with padding, no line breaks), written
// as they come.
#ifndef TR_BASE_BASE64_H
#define TR_BASE_BASE64_H

#include <stdio.h>

typedef struct Base64 {
    FILE *to;
    unsigned char kept[3]; // bytes that wait for others
    size_t kept_count;
} Base64; // {.to = file} to start

// Errors are left in the stream.
void tr_base64_add(Base64 *out, const void *bytes, size_t length);
void tr_base64_end(Base64 *out);

#endif
