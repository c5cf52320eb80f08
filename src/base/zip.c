// SPDX-License-Identifier: Apache-2.0
// An archive is pieces, each with a header of its own, a list of all of them, and at its end where
// that list is. The list is believed and the headers must agree with it.
#include "base/zip.h"

#include "base/inflate.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    PIECE = 0x04034b50,
    LISTED = 0x02014b50,
    LAST = 0x06054b50,
    PIECE_BYTES = 30,
    LISTED_BYTES = 46,
    LAST_BYTES = 22,
    VERSION = 20,
    IS_UTF8 = 1 << 11,
    IS_ENCRYPTED = 1 << 0 | 1 << 6,
    UNIX = 3,
    MOST_ITEMS = 20000,
    MOST_NAME = 1000
};
static const size_t most_bytes = (size_t)1 << 30, always_fine = (size_t)64 << 20, most_ratio = 200;

static const Place nowhere = {0};

// ---- names ---------------------------------------------------------------------------------

// Why a name may not stand in an archive, or NULL
static const char *why_not(const char *name, size_t length)
{
    if (!length) return "it is empty";
    if (length > MOST_NAME) return "it is too long";
    if (memchr(name, 0, length)) return "there is a zero byte in it";
    if (memchr(name, '\\', length)) return "names are written with '/'";
    if (name[0] == '/') return "it is absolute";
    if (length > 1 && name[1] == ':') return "it is absolute";
    for (size_t i = 0; i < length;) {
        const char *end = memchr(name + i, '/', length - i);
        const size_t part = end ? (size_t)(end - name) - i : length - i;
        if (!part) return "there is nothing between two '/'";
        if (part == 2 && memcmp(name + i, "..", 2) == 0) return "it leads out of the archive";
        if (part == 1 && name[i] == '.') return "there is a '.' in its path";
        i += part + 1;
    }
    for (size_t i = 0; i < length;) {
        const size_t bytes = tr_utf8_length(name + i, length - i);
        if (!bytes) return "it is not UTF-8";
        i += bytes;
    }
    return NULL;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const ZipFile *)a)->name, ((const ZipFile *)b)->name);
}

// ---- writing -------------------------------------------------------------------------------

static void put(Buffer *out, uint32_t value, int bytes)
{
    char little[4];
    for (int i = 0; i < bytes; i++) little[i] = (char)(value >> 8 * i & 0xff);
    tr_buffer_add(out, little, (size_t)bytes);
}

// What a piece's header and the list have in common
static void put_facts(Buffer *out, const ZipFile *file, uint32_t crc)
{
    enum { MIDNIGHT = 0, FIRST_OF_JANUARY_1980 = 1 << 5 | 1 };
    put(out, VERSION, 2), put(out, IS_UTF8, 2), put(out, 0, 2);
    put(out, MIDNIGHT, 2), put(out, FIRST_OF_JANUARY_1980, 2);
    put(out, crc, 4), put(out, (uint32_t)file->length, 4), put(out, (uint32_t)file->length, 4);
    put(out, (uint32_t)strlen(file->name), 2), put(out, 0, 2);
}

static void put_listed(Buffer *out, const ZipFile *file, uint32_t crc, size_t at)
{
    enum { REGULAR = 0100644 };
    put(out, LISTED, 4), put(out, UNIX << 8 | VERSION, 2);
    put_facts(out, file, crc);
    put(out, 0, 2), put(out, 0, 2), put(out, 0, 2);
    put(out, (uint32_t)REGULAR << 16, 4), put(out, (uint32_t)at, 4);
    tr_buffer_add(out, file->name, strlen(file->name));
}

static bool can_pack(const ZipFile *files, size_t count, tr_error *err)
{
    size_t bytes = LAST_BYTES;
    for (size_t i = 0; i < count; i++) {
        const char *why = why_not(files[i].name, strlen(files[i].name));
        if (!why && ends_with(files[i].name, "/")) why = "it is a folder's";
        if (!why && i && strcmp(files[i - 1].name, files[i].name) == 0) why = "it is there twice";
        if (why)
            return tr_fail(err, TR_USAGE, nowhere, "'%s' cannot be in an archive: %s",
                           files[i].name, why),
                   false;
        bytes += PIECE_BYTES + LISTED_BYTES + 2 * strlen(files[i].name);
        if (files[i].length > UINT32_MAX - bytes || count > UINT16_MAX)
            return tr_fail(err, TR_USAGE, nowhere, "this is too much for an archive"), false;
        bytes += files[i].length;
    }
    return true;
}

void tr_zip_pack(Buffer *out, ZipFile *files, size_t count, tr_error *err)
{
    if (has_failed(err)) return;
    qsort(files, count, sizeof *files, compare_names);
    if (!can_pack(files, count, err)) return;
    Buffer list = {0};
    const size_t start = out->length;
    for (size_t i = 0; i < count; i++) {
        const uint32_t crc = tr_crc32(files[i].at, files[i].length);
        put_listed(&list, &files[i], crc, out->length - start);
        put(out, PIECE, 4);
        put_facts(out, &files[i], crc);
        tr_buffer_add(out, files[i].name, strlen(files[i].name));
        tr_buffer_add(out, files[i].at, files[i].length);
    }
    const size_t listed = out->length - start;
    tr_buffer_add(out, list.at, list.length);
    put(out, LAST, 4), put(out, 0, 2), put(out, 0, 2);
    put(out, (uint32_t)count, 2), put(out, (uint32_t)count, 2);
    put(out, (uint32_t)list.length, 4), put(out, (uint32_t)listed, 4), put(out, 0, 2);
    if (out->failed || list.failed) tr_fail_memory(err);
    tr_buffer_free(&list);
}

// ---- reading -------------------------------------------------------------------------------

static size_t get(const unsigned char *at, int bytes)
{
    size_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (size_t)at[i] << 8 * i;
    return value;
}

static bool refuse(tr_error *err, const char *words)
{
    tr_fail(err, TR_INVALID, nowhere, "the archive %s", words);
    return false;
}

static bool refuse_item(tr_error *err, const char *name, const char *words)
{
    tr_fail(err, TR_INVALID, nowhere, "in the archive, '%s': %s", name, words);
    return false;
}

// Behind it there may be a comment, whose length must be right.
static const unsigned char *find_last(const Zip *zip)
{
    for (size_t comment = 0; comment <= UINT16_MAX && comment + LAST_BYTES <= zip->length;
         comment++) {
        const unsigned char *at = zip->at + zip->length - LAST_BYTES - comment;
        if (get(at, 4) == LAST && get(at + 20, 2) == comment) return at;
    }
    return NULL;
}

// One row of the list, at `at`, where `left` bytes are; how many it takes, 0 after an error
static size_t read_listed(const Zip *zip, ZipItem *item, size_t at, size_t left, Arena *arena,
                          tr_error *err)
{
    const unsigned char *row = zip->at + at;
    if (left < LISTED_BYTES || get(row, 4) != LISTED)
        return refuse(err, "is damaged: its list ends early");
    const size_t name = get(row + 28, 2),
                 size = LISTED_BYTES + name + get(row + 30, 2) + get(row + 32, 2);
    if (size > left) return refuse(err, "is damaged: its list ends early");
    const char *text = (const char *)row + LISTED_BYTES, *why = why_not(text, name);
    item->name = tr_arena_text(arena, text, name);
    if (!item->name) return tr_fail_memory(err), 0;
    const size_t flags = get(row + 8, 2), host = get(row + 4, 2) >> 8,
                 mode = get(row + 38, 4) >> 16;
    item->method = (int)get(row + 10, 2), item->crc = (uint32_t)get(row + 16, 4);
    item->packed = get(row + 20, 4), item->length = get(row + 24, 4), item->from = get(row + 42, 4);
    if (!why && flags & IS_ENCRYPTED) why = "it is encrypted";
    if (!why && host == UNIX && (mode & 0170000) == 0120000) why = "links are refused";
    if (!why && item->method != 0 && item->method != 8)
        why = "it is packed in a way that is not known: store or deflate it";
    if (!why &&
        (item->packed == UINT32_MAX || item->length == UINT32_MAX || item->from == UINT32_MAX))
        why = "archives in the form for more than 4 GB are not read";
    if (!why && item->method == 0 && item->packed != item->length) why = "its lengths do not agree";
    if (!why && item->length / 1032 > item->packed)
        why = "nothing can be packed so well: a zip bomb";
    return why ? refuse_item(err, item->name, why) : size;
}

// Its own header must say the same.
static bool read_piece(const Zip *zip, ZipItem *item, size_t list, tr_error *err)
{
    const unsigned char *row = zip->at + item->from;
    if (item->from > list || list - item->from < PIECE_BYTES || get(row, 4) != PIECE)
        return refuse_item(err, item->name, "it is not where the list says");
    const size_t name = get(row + 26, 2), size = PIECE_BYTES + name + get(row + 28, 2);
    if (size > list - item->from || name != strlen(item->name) ||
        memcmp(row + PIECE_BYTES, item->name, name) != 0 || (int)get(row + 8, 2) != item->method)
        return refuse_item(err, item->name, "its header and the list of the archive do not agree");
    item->from += size;
    if (item->packed > list - item->from) return refuse_item(err, item->name, "its end is missing");
    return true;
}

// ---- all of them together ------------------------------------------------------------------

static int compare_places(const void *a, const void *b)
{
    const ZipItem *const *x = a, *const *y = b;
    return ((*x)->from > (*y)->from) - ((*x)->from < (*y)->from);
}

static int compare_caseless(const void *a, const void *b)
{
    const ZipItem *const *x = a, *const *y = b;
    return strcasecmp((*x)->name, (*y)->name);
}

// Folders that are there by name may be there by what is in them, too.
static bool is_within(const char *folder, const char *name)
{
    const size_t length = strlen(folder);
    return strncasecmp(folder, name, length) == 0 && name[length] == '/';
}

static bool check_together(const Zip *zip, const ZipItem **sorted, tr_error *err)
{
    qsort(sorted, zip->count, sizeof *sorted, compare_places);
    for (size_t i = 1; i < zip->count; i++)
        if (sorted[i]->from < sorted[i - 1]->from + sorted[i - 1]->packed)
            return refuse_item(err, sorted[i]->name, "it overlaps another file: a zip bomb");
    qsort(sorted, zip->count, sizeof *sorted, compare_caseless);
    for (size_t i = 1; i < zip->count; i++) {
        const char *a = sorted[i - 1]->name, *b = sorted[i]->name;
        if (strcmp(a, b) == 0) return refuse_item(err, b, "it is there twice");
        if (strcasecmp(a, b) == 0)
            return refuse_item(err, b,
                               "there is another one that differs in upper and lower case alone");
        // between a file and what would be in it, only names beginning likewise can stand
        for (size_t k = i; k < zip->count && strncasecmp(a, sorted[k]->name, strlen(a)) == 0; k++)
            if (is_within(a, sorted[k]->name) && !ends_with(a, "/"))
                return refuse_item(err, a, "it is a file and a folder");
    }
    return true;
}

static bool check_size(const Zip *zip, tr_error *err)
{
    size_t bytes = 0;
    for (size_t i = 0; i < zip->count; i++)
        bytes += zip->items[i].length; // 20000 times 4 GB at most
    if (bytes > most_bytes) return refuse(err, "would unpack to more than 1 GB: a zip bomb");
    if (bytes > always_fine && bytes / most_ratio > zip->length)
        return refuse(err, "would unpack to more than 200 times its size: a zip bomb");
    return true;
}

bool tr_zip_open(Zip *zip, const void *bytes, size_t length, Arena *arena, tr_error *err)
{
    *zip = (Zip){.at = bytes, .length = length};
    if (has_failed(err)) return false;
    const unsigned char *last = find_last(zip);
    if (!last) return refuse(err, "is none, or its end is missing");
    const size_t count = get(last + 10, 2), size = get(last + 12, 4), from = get(last + 16, 4);
    if (get(last + 4, 2) || get(last + 6, 2) || get(last + 8, 2) != count)
        return refuse(err, "is one part of several");
    if (count > MOST_ITEMS) return refuse(err, "has more than 20000 files");
    const size_t end = (size_t)(last - zip->at);
    if (from > end || size != end - from)
        return refuse(err, "is damaged: its list is not where it says");
    zip->items = tr_arena_alloc(arena, count + 1, sizeof *zip->items);
    if (!zip->items) return tr_fail_memory(err), false;
    size_t at = from;
    for (; zip->count < count; zip->count++) {
        const size_t taken = read_listed(zip, &zip->items[zip->count], at, end - at, arena, err);
        if (!taken || !read_piece(zip, &zip->items[zip->count], from, err)) return false;
        at += taken;
    }
    if (at != end) return refuse(err, "is damaged: there is more in its list than files");
    const ZipItem **sorted = malloc((count + 1) * sizeof *sorted);
    if (!sorted) return tr_fail_memory(err), false;
    for (size_t i = 0; i < count; i++) sorted[i] = &zip->items[i];
    const bool good = check_together(zip, sorted, err) && check_size(zip, err);
    free(sorted);
    return good;
}

const ZipItem *tr_zip_find(const Zip *zip, const char *name)
{
    for (size_t i = 0; i < zip->count; i++)
        if (strcmp(zip->items[i].name, name) == 0) return &zip->items[i];
    return NULL;
}

char *tr_zip_read(const Zip *zip, const ZipItem *item, tr_error *err)
{
    if (has_failed(err) || !item) return NULL;
    char *bytes = malloc(item->length + 1);
    if (!bytes) return tr_fail_memory(err), NULL;
    const unsigned char *packed = zip->at + item->from;
    bool good = true;
    if (item->method == 0)
        memcpy(bytes, packed, item->length);
    else
        good = tr_inflate(packed, item->packed, (uint8_t *)bytes, item->length);
    bytes[item->length] = 0;
    if (good && tr_crc32(bytes, item->length) == item->crc) return bytes;
    free(bytes);
    refuse_item(err, item->name, "it is damaged: these are not the bytes that were packed");
    return NULL;
}
