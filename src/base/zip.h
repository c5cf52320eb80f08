// SPDX-License-Identifier: Apache-2.0
// Archives. They are read from memory, so a length that is wrong is seen where it stands; they are
// written without compression, names in order and without dates, so the same files are the same
// bytes.
#ifndef TR_BASE_ZIP_H
#define TR_BASE_ZIP_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

// ---- writing -------------------------------------------------------------------------------

typedef struct ZipFile {
    const char *name; // "binaries/x86_64-linux/model.so": relative, with '/'; UTF-8
    const void *at;
    size_t length;
} ZipFile;

// Appends the archive. `files` are sorted by name, folders are not listed. TR_USAGE for names that
// tr_zip_open refuses on their own, for one that comes twice, and for more than 4 GB.
void tr_zip_pack(Buffer *out, ZipFile *files, size_t count, tr_error *err);

// ---- reading -------------------------------------------------------------------------------

typedef struct ZipItem {
    const char *name; // a folder's ends with '/'
    size_t from;      // where its packed bytes are
    size_t packed, length;
    uint32_t crc;
    int method; // 0: stored, 8: deflate
} ZipItem;

typedef struct Zip {
    const unsigned char *at; // the caller's
    size_t length;
    ZipItem *items;
    size_t count;
} Zip;

// Lists an archive, in an arena. TR_INVALID, and nothing of it can be read, for one that is damaged
// or means harm: names that are absolute, lead out of it, come twice, or differ in case alone;
// links; pieces that overlap; more than 1 GB, or 200 times the archive where that is over 64 MB;
// and for what is not read: archives in parts or over 4 GB, encryption, other compressions.
bool tr_zip_open(Zip *zip, const void *bytes, size_t length, Arena *arena, tr_error *err);

const ZipItem *tr_zip_find(const Zip *zip, const char *name); // NULL: it is not there

// The whole file, with a terminating zero behind it; the caller frees it. TR_INVALID when the bytes
// are not those that were packed.
char *tr_zip_read(const Zip *zip, const ZipItem *item, tr_error *err);

#endif
