// SPDX-License-Identifier: Apache-2.0
// Archives: those of others, made by zlib; our own, to the byte; damaged ones and those that mean
// harm.
#include "base/inflate.h"
#include "base/zip.h"
#include "test.h"

// By Python's zipfile: rows.txt in blocks with codes of their own, short.txt in one with fixed
// codes
static const char by_others[] = "\x50\x4b\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00\x21\x00\x35\x08"
                                "\x26\xa6\x56\x01\x00\x00\xfa\x0a\x00\x00\x0d\x00\x00\x00"
                                "\x74\x65\x78\x74\x2f\x72\x6f\x77\x73\x2e\x74\x78\x74\x95\xd6\x3b"
                                "\x6e\xc3\x30\x10\x84\xe1\x3e\xa7\x60\x99\x00\x29\xb8\x2f"
                                "\x4a\x34\x90\xc3\x28\x8e\x5f\x40\x6c\x01\xb6\x83\x5c\x3f\x11\xd4"
                                "\x4c\x37\xab\xfe\xaf\x3e\x10\xcb\xb9\xcf\xbf\xa5\xee\xca"
                                "\xe3\x72\x7b\xad\x6f\xe5\xa3\x4c\xef\x65\x2a\xc7\xf9\x7e\xfd\xf9"
                                "\x9e\xca\xf3\x3c\x3d\xcb\x7e\xbe\x1e\x1e\x65\x3a\x4d\x97"
                                "\xdb\xcb\xfd\xbf\x96\xb5\x96\xa5\xfe\xa4\xb5\xae\xb5\x2e\xf5\x9e"
                                "\xd6\xb6\xd6\xb6\xd4\x5f\xb4\xf6\xb5\xf6\xa5\x3e\xd0\x3a"
                                "\xd6\x3a\x96\xfa\x48\xeb\xb6\xd6\x6d\xa9\x4f\xb4\x1e\x40\xf0\x4c"
                                "\xeb\x11\x04\xb9\x77\x07\x41\xee\x2d\x15\x08\x39\xb8\x08"
                                "\x18\x72\x71\x51\x40\xe4\xe4\x62\xa0\xc8\xcd\xc5\x81\x91\xa3\x4b"
                                "\x80\x23\x57\x97\x06\x90\x89\x67\x3e\x00\x64\xc2\x7d\x04"
                                "\xc8\x84\x7b\x07\x48\xee\xae\x15\x20\xb9\xbb\x0a\x40\x72\x77\x55"
                                "\x80\xe4\xee\x6a\x00\xc9\xdd\xd5\x01\x92\xbb\x6b\x00\x64"
                                "\xe2\xbe\x34\x80\xe4\xee\x3a\x00\x64\xc2\x7d\x04\xc8\x84\x7b\x07"
                                "\x48\xee\x6e\x15\x20\xb9\xbb\x09\x40\x72\x77\x53\x80\xe4"
                                "\xee\x66\x00\xc9\xdd\xcd\x01\x32\x71\xd8\x03\x20\xb9\xbb\x35\x80"
                                "\xe4\xee\x36\x00\x64\xc2\x7d\x04\xc8\x84\x7b\x07\x48\xee"
                                "\xee\x15\x20\xb9\xbb\x0b\x40\x72\x77\x57\x80\xe4\xee\x6e\x00\x99"
                                "\xf8\x51\x1d\x20\xb9\xbb\x07\x40\x72\x77\x6f\x00\xc9\xdd"
                                "\x7d\x00\xc8\x84\xfb\x08\x90\x09\xf7\x0e\x90\xdc\x3d\x2a\x40\x72"
                                "\xf7\x10\x80\xe4\xee\xa1\x00\x99\x98\x32\x06\x90\xdc\x3d"
                                "\x1c\x20\xb9\x7b\x04\x40\x72\xf7\x68\x9b\xe6\x63\x0c\x9b\xf6\x63"
                                "\x8c\x9b\x06\x64\xf4\xf4\x82\xfc\x03\x50\x4b\x03\x04\x14"
                                "\x00\x00\x00\x08\x00\x00\x00\x21\x00\xe3\x51\x3d\x8d\x0a\x00\x00"
                                "\x00\x17\x00\x00\x00\x09\x00\x00\x00\x73\x68\x6f\x72\x74"
                                "\x2e\x74\x78\x74\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x27\x01\x50\x4b"
                                "\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x21\x00\x8a\x7e"
                                "\x26\x91\x20\x00\x00\x00\x20\x00\x00\x00\x0a\x00\x00\x00\x73\x74"
                                "\x6f\x72\x65\x64\x2e\x62\x69\x6e\x00\x01\x02\x03\x04\x05"
                                "\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15"
                                "\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x50\x4b\x03\x04"
                                "\x14\x00\x00\x00\x08\x00\x00\x00\x21\x00\x00\x00\x00\x00\x02\x00"
                                "\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x65\x6d\x70\x74"
                                "\x79\x03\x00\x50\x4b\x01\x02\x14\x03\x14\x00\x00\x00\x08\x00\x00"
                                "\x00\x21\x00\x35\x08\x26\xa6\x56\x01\x00\x00\xfa\x0a\x00"
                                "\x00\x0d\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xa4\x81\x00"
                                "\x00\x00\x00\x74\x65\x78\x74\x2f\x72\x6f\x77\x73\x2e\x74"
                                "\x78\x74\x50\x4b\x01\x02\x14\x03\x14\x00\x00\x00\x08\x00\x00\x00"
                                "\x21\x00\xe3\x51\x3d\x8d\x0a\x00\x00\x00\x17\x00\x00\x00"
                                "\x09\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xa4\x81\x81\x01"
                                "\x00\x00\x73\x68\x6f\x72\x74\x2e\x74\x78\x74\x50\x4b\x01"
                                "\x02\x14\x03\x14\x00\x00\x00\x00\x00\x00\x00\x21\x00\x8a\x7e\x26"
                                "\x91\x20\x00\x00\x00\x20\x00\x00\x00\x0a\x00\x00\x00\x00"
                                "\x00\x00\x00\x00\x00\x00\x00\xa4\x81\xb2\x01\x00\x00\x73\x74\x6f"
                                "\x72\x65\x64\x2e\x62\x69\x6e\x50\x4b\x01\x02\x14\x03\x14"
                                "\x00\x00\x00\x08\x00\x00\x00\x21\x00\x00\x00\x00\x00\x02\x00\x00"
                                "\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00"
                                "\x00\x00\x00\xa4\x81\xfa\x01\x00\x00\x65\x6d\x70\x74\x79\x50\x4b"
                                "\x05\x06\x00\x00\x00\x00\x04\x00\x04\x00\xdd\x00\x00\x00"
                                "\x1f\x02\x00\x00\x00\x00";

static Zip opened(const char *bytes, size_t length, Arena *arena)
{
    Zip zip;
    tr_error err = {0};
    if (!tr_zip_open(&zip, bytes, length, arena, &err)) fail_msg("%s", err.text);
    return zip;
}

static void assert_holds(const Zip *zip, const char *name, const char *bytes, size_t length)
{
    tr_error err = {0};
    const ZipItem *item = tr_zip_find(zip, name);
    assert_non_null(item);
    char *read = tr_zip_read(zip, item, &err);
    if (!read) fail_msg("%s", err.text);
    assert_int_equal(item->length, length);
    assert_memory_equal(read, bytes, length);
    assert_int_equal(read[length], 0);
    free(read);
}

// The error of opening it and of reading all that is in it; empty when there is none
static const char *trouble(const char *bytes, size_t length)
{
    static tr_error err;
    err = (tr_error){0};
    char *exact = malloc(length + 1); // so that sanitizers see what is behind it
    memcpy(exact, bytes, length);
    exact = realloc(exact, length ? length : 1);
    Arena arena = {0};
    Zip zip;
    if (tr_zip_open(&zip, exact, length, &arena, &err))
        for (size_t i = 0; i < zip.count; i++) free(tr_zip_read(&zip, &zip.items[i], &err));
    tr_arena_free(&arena);
    free(exact);
    assert_true(!err.status || err.status == TR_INVALID);
    return err.text;
}

static void test_of_others(void **state)
{
    (void)state;
    Arena arena = {0};
    char rows[4000] = "", stored[32];
    for (int i = 0; i < 60; i++)
        snprintf(rows + strlen(rows), sizeof rows - strlen(rows),
                 "row %d: sin(%d) = %c, a formula that comes again\n", i, i % 7, "abcdefgh"[i % 8]);
    for (int i = 0; i < 32; i++) stored[i] = (char)i;
    const Zip zip = opened(by_others, sizeof by_others - 1, &arena);
    assert_int_equal(zip.count, 4);
    assert_holds(&zip, "text/rows.txt", rows, strlen(rows));
    assert_holds(&zip, "short.txt", "hello hello hello hello", 23);
    assert_holds(&zip, "stored.bin", stored, 32);
    assert_holds(&zip, "empty", "", 0);
    assert_null(tr_zip_find(&zip, "rows.txt"));
    tr_arena_free(&arena);
}

static Buffer packed(ZipFile *files, size_t count)
{
    Buffer out = {0};
    tr_error err = {0};
    tr_zip_pack(&out, files, count, &err);
    if (err.status) fail_msg("%s", err.text);
    return out;
}

static void test_of_ours(void **state)
{
    (void)state;
    ZipFile one[] = {{"b/c.txt", "see", 3}, {"a.txt", "", 0}}, other[] = {one[1], one[0]};
    Buffer a = packed(one, 2), b = packed(other, 2);
    assert_int_equal(a.length, b.length);
    assert_memory_equal(a.at, b.at, a.length);
    Arena arena = {0};
    const Zip zip = opened(a.at, a.length, &arena);
    assert_string_equal(zip.items[0].name, "a.txt");
    assert_holds(&zip, "b/c.txt", "see", 3);
    tr_arena_free(&arena);
    tr_buffer_free(&a), tr_buffer_free(&b);
    static const char *const wrong[] = {"/etc/passwd", "../up", "a/../../up", "a\\b", "c:/x", "",
                                        "a//b",        "./a",   "a/",         "\xff"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tr_error err = {0};
        Buffer out = {0};
        tr_zip_pack(&out, &(ZipFile){wrong[i], "", 0}, 1, &err);
        assert_int_equal(err.status, TR_USAGE);
        tr_buffer_free(&out);
    }
}

// An archive with three files, in which names, all of one length, are replaced by others
static const char *trouble_with(const char *first, const char *second)
{
    static char words[1000];
    ZipFile files[] = {{"0/one.txt", "1", 1}, {"0/two.txt", "2", 1}, {"zzz", "3", 1}};
    Buffer archive = packed(files, 3);
    for (size_t i = 0; i + 9 <= archive.length; i++) {
        if (memcmp(archive.at + i, files[0].name, 9) == 0) memcpy(archive.at + i, first, 9);
        if (memcmp(archive.at + i, files[1].name, 9) == 0) memcpy(archive.at + i, second, 9);
    }
    snprintf(words, sizeof words, "%s", trouble(archive.at, archive.length));
    tr_buffer_free(&archive);
    return words;
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(trouble_with("0/one.txt", "0/two.txt"), "");
    static const char *const wrong[][3] = {
        {"/tmp/trnl", "0/two.txt", "'/tmp/trnl': it is absolute"},
        {"C:/tr.txt", "0/two.txt", "'C:/tr.txt': it is absolute"},
        {"../up.txt", "0/two.txt", "'../up.txt': it leads out of the archive"},
        {"a/../../b", "0/two.txt", "'a/../../b': it leads out of the archive"},
        {"a\\..\\bc.d", "0/two.txt", "names are written with '/'"},
        {"0/one.txt", "0/one.txt", "'0/one.txt': it is there twice"},
        {"0/one.txt", "0/ONE.txt", "differs in upper and lower case alone"},
        {"zzz/a.txt", "0/two.txt", "'zzz': it is a file and a folder"},
        {"0/one\0txt", "0/two.txt", "there is a zero byte in it"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *words = trouble_with(wrong[i][0], wrong[i][1]);
        if (!strstr(words, wrong[i][2])) fail_msg("%s: %s", wrong[i][0], words);
    }
}

static void put(char *at, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) at[i] = (char)(value >> 8 * i & 0xff);
}

// What others have at a place in their list, changed
static const char *trouble_at(size_t from_list, uint32_t value, int bytes)
{
    char copy[sizeof by_others];
    memcpy(copy, by_others, sizeof copy);
    char *list = copy;
    while (memcmp(list, "PK\1\2", 4) != 0) list++;
    put(list + from_list, value, bytes);
    return trouble(copy, sizeof copy - 1);
}

static void test_harm(void **state)
{
    (void)state;
    assert_non_null(strstr(trouble_at(8, 1, 2), "encrypted"));
    assert_non_null(strstr(trouble_at(10, 12, 2), "packed in a way that is not known"));
    assert_non_null(strstr(trouble_at(16, 0, 4), "not the bytes that were packed"));
    assert_non_null(strstr(trouble_at(24, 2809, 4), "not the bytes that were packed"));
    assert_non_null(strstr(trouble_at(24, 4000000, 4), "zip bomb"));
    assert_non_null(strstr(trouble_at(40, 0120777, 2), "links are refused"));
    assert_non_null(strstr(trouble_at(42, 4000, 4), "not where the list says"));
}

// Files of one piece: each of them may be large, all together may not.
static void test_bombs(void **state)
{
    (void)state;
    enum { EACH = 1 << 20, COUNT = 80 };
    char *zeros = calloc(1, EACH), name[COUNT][8];
    ZipFile files[COUNT];
    for (int i = 0; i < COUNT; i++) {
        snprintf(name[i], sizeof name[i], "f%d", i);
        files[i] = (ZipFile){name[i], zeros, EACH};
    }
    Buffer archive = packed(files, COUNT);
    assert_string_equal(trouble(archive.at, archive.length), ""); // 80 MB that are stored
    // all of them are said to be in the first one's bytes
    for (char *at = archive.at; at < archive.at + archive.length - 4; at++)
        if (memcmp(at, "PK\1\2", 4) == 0) put(at + 42, 0, 4), memcpy(at + 46, "f0", 2);
    const char *words = trouble(archive.at, archive.length);
    if (!strstr(words, "overlaps") && !strstr(words, "do not agree")) fail_msg("%s", words);
    tr_buffer_free(&archive);
    free(zeros);
}

static void test_damage(void **state)
{
    (void)state;
    for (size_t length = 0; length < sizeof by_others - 1; length++)
        assert_true(trouble(by_others, length)[0]);
    Random random = {7};
    char copy[sizeof by_others];
    for (int k = 0; k < 20000; k++) {
        memcpy(copy, by_others, sizeof copy);
        for (int i = 0; i < 1 + k % 3; i++)
            copy[random_below(&random, sizeof copy - 1)] = (char)random_below(&random, 256);
        trouble(copy, sizeof copy - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_others), cmocka_unit_test(test_of_ours),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_harm),
        cmocka_unit_test(test_bombs),     cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
