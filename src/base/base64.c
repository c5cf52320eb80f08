// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encode(const unsigned char b[3], char out[4])
{
    out[0] = letters[b[0] >> 2];
    out[1] = letters[(b[0] & 3) << 4 | b[1] >> 4];
    out[2] = letters[(b[1] & 15) << 2 | b[2] >> 6];
    out[3] = letters[b[2] & 63];
}

void tr_base64_add(Base64 *out, const void *bytes, size_t length)
{
    enum { GROUPS = 256 };
    char text[4 * GROUPS];
    size_t groups = 0;
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++) {
        out->kept[out->kept_count++] = at[i];
        if (out->kept_count < 3) continue;
        out->kept_count = 0;
        encode(out->kept, text + 4 * groups);
        if (++groups < GROUPS) continue;
        fwrite(text, 4, groups, out->to);
        groups = 0;
    }
    if (groups) fwrite(text, 4, groups, out->to);
}

void tr_base64_end(Base64 *out)
{
    const size_t count = out->kept_count;
    if (!count) return;
    char text[4];
    for (size_t i = count; i < 3; i++) out->kept[i] = 0;
    encode(out->kept, text);
    for (size_t i = count + 1; i < 4; i++) text[i] = '=';
    fwrite(text, 4, 1, out->to);
    out->kept_count = 0;
}
