// SPDX-License-Identifier: Apache-2.0
// The ground everything stands on: arenas, growing arrays, the hash table, errors.
#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "test.h"

#include <stdalign.h>

// ---- arena ---------------------------------------------------------------------------------

// Random sizes: aligned, zeroed, apart from each other, and where they were to the end.
static void test_arena_gives_memory(void **state)
{
    (void)state;
    enum { PIECES = 3000 };
    static unsigned char *piece[PIECES];
    static size_t size[PIECES];
    Arena arena = {0};
    Random r = {7};
    size_t total = 0;
    for (uint32_t i = 0; i < PIECES; i++) {
        const size_t count = 1 + random_below(&r, i % 100 ? 40 : 5000),
                     each = 1 + random_below(&r, 24);
        size[i] = count * each;
        piece[i] = tr_arena_alloc(&arena, count, each);
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % alignof(max_align_t), 0);
        for (size_t k = 0; k < size[i]; k++) assert_int_equal(piece[i][k], 0);
        memset(piece[i], (int)(i % 255 + 1), size[i]);
        total += size[i];
    }
    for (uint32_t i = 0; i < PIECES; i++)
        for (size_t k = 0; k < size[i]; k++) assert_int_equal(piece[i][k], i % 255 + 1);
    assert_true(arena.bytes >= total && arena.bytes < 4 * total);
    tr_arena_free(&arena);
    assert_true(arena.newest == NULL && arena.bytes == 0);
}

static void test_arena_can_be_used_again(void **state)
{
    (void)state;
    Arena arena = {0};
    tr_arena_free(&arena); // of nothing
    for (int round = 0; round < 3; round++) {
        unsigned char *at = tr_arena_alloc(&arena, 1000, 8);
        assert_non_null(at);
        for (size_t k = 0; k < 8000; k++) assert_int_equal(at[k], 0);
        memset(at, 0xff, 8000); // the next round must be zeroed all the same
        tr_arena_free(&arena);
    }
}

static void test_arena_gives_large_pieces(void **state)
{
    (void)state;
    Arena arena = {0};
    const size_t large = (size_t)5 << 20;
    char *small = tr_arena_alloc(&arena, 1, 10), *at = tr_arena_alloc(&arena, large, 1);
    assert_true(small && at);
    assert_int_equal(at[0] | at[large / 2] | at[large - 1], 0);
    memset(at, 1, large);
    char *after = tr_arena_alloc(&arena, 1, 10);
    assert_true(after && after[0] == 0 && at[large - 1] == 1 && small[0] == 0);
    tr_arena_free(&arena);
}

static void test_arena_refuses_overflow(void **state)
{
    (void)state;
    Arena arena = {0};
    static const size_t absurd[][2] = {{SIZE_MAX, 1},
                                       {1, SIZE_MAX},
                                       {SIZE_MAX / 2, 3},
                                       {SIZE_MAX, SIZE_MAX},
                                       {3, SIZE_MAX / 2},
                                       {SIZE_MAX / 8 + 2, 8},
                                       {(size_t)1 << 32, (size_t)1 << 32}};
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++)
        assert_null(tr_arena_alloc(&arena, absurd[i][0], absurd[i][1]));
    assert_int_equal(arena.bytes, 0);
    assert_non_null(tr_arena_alloc(&arena, 3, 5)); // and it goes on
    assert_non_null(tr_arena_alloc(&arena, 0, 5));
    assert_non_null(tr_arena_alloc(&arena, 5, 0));
    tr_arena_free(&arena);
}

static void test_arena_keeps_text(void **state)
{
    (void)state;
    Arena arena = {0};
    const char *source = "one two";
    char *one = tr_arena_text(&arena, source, 3), *none = tr_arena_text(&arena, source, 0);
    assert_string_equal(one, "one");
    assert_string_equal(none, "");
    assert_string_equal(tr_arena_text(&arena, source, 7), "one two");
    assert_string_equal(one, "one");
    tr_arena_free(&arena);
}

// ---- growing arrays ------------------------------------------------------------------------

static void test_grow(void **state)
{
    (void)state;
    uint32_t *at = NULL, capacity = 0, moves = 0;
    assert_true(tr_grow((void **)&at, &capacity, 0, sizeof *at));
    for (uint32_t i = 0; i < 100000; i++) {
        const uint32_t before = capacity;
        assert_true(tr_grow((void **)&at, &capacity, i + 1, sizeof *at));
        assert_true(capacity > i);
        moves += capacity != before;
        at[i] = i * i;
    }
    for (uint32_t i = 0; i < 100000; i++) assert_int_equal(at[i], i * i);
    assert_true(moves < 50);                                           // geometric,
    assert_true(capacity < 130000);                                    // by a quarter
    assert_true(tr_grow((void **)&at, &capacity, 500000, sizeof *at)); // what is asked for, at once
    assert_true(capacity >= 500000 && at[99999] == 99999u * 99999u);
    const uint32_t kept = capacity;
    assert_true(tr_grow((void **)&at, &capacity, 10, sizeof *at)); // never shrinks
    assert_int_equal(capacity, kept);
    free(at);
}

// ---- hash table ----------------------------------------------------------------------------

// Keys in an array; `spread` 0 gives all the same hash.
typedef struct Keys {
    uint64_t *key;
    uint32_t count;
    uint32_t spread;
} Keys;

static uint32_t code_of(const Keys *keys, uint64_t key)
{
    return tr_hash_bytes(&key, sizeof key) % keys->spread;
}
static bool equal(const void *owner, uint32_t index, const void *key)
{
    return ((const Keys *)owner)->key[index] == *(const uint64_t *)key;
}

// The index of a key, or UINT32_MAX.
static uint32_t find(const Hash *hash, const Keys *keys, uint64_t key)
{
    const uint32_t slot = hash_slot(hash, code_of(keys, key), equal, keys, &key);
    return hash->slots[slot].index ? hash->slots[slot].index - 1 : UINT32_MAX;
}

static void check_hash(uint32_t count, uint32_t spread)
{
    Hash hash = {0};
    Keys keys = {calloc(count, sizeof *keys.key), 0, spread};
    uint32_t growths = 0;
    assert_non_null(keys.key);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t mask = hash.mask;
        const uint64_t key = (uint64_t)i * i * 7919 + 1;
        assert_true(hash_reserve(&hash, 1));
        if (hash.mask != mask) {
            growths++;
            for (uint32_t k = 0; k < i; k++) assert_int_equal(find(&hash, &keys, keys.key[k]), k);
        }
        assert_int_equal(find(&hash, &keys, key), UINT32_MAX);
        keys.key[keys.count++] = key;
        const uint32_t code = code_of(&keys, key);
        hash_insert(&hash, hash_slot(&hash, code, equal, &keys, &key), i, code);
        assert_true(((hash.mask + 1) & hash.mask) == 0 && hash.count == i + 1);
        assert_true(hash.count <= (uint64_t)hash.mask); // a free slot ends every search
    }
    for (uint32_t k = 0; k < count; k++) assert_int_equal(find(&hash, &keys, keys.key[k]), k);
    for (uint32_t k = 0; k < 1000; k++)
        assert_int_equal(find(&hash, &keys, 3 + k * 7919ull * 2), UINT32_MAX);
    assert_true(growths > 3 || count < 500);
    tr_hash_free(&hash);
    assert_true(hash.slots == NULL && hash.count == 0 && hash.mask == 0);
    free(keys.key);
}

static void test_hash_holds_many(void **state)
{
    (void)state;
    check_hash(100000, UINT32_MAX);
}

static void test_hash_survives_collisions(void **state)
{
    (void)state;
    check_hash(600, 1); // one chain
    check_hash(3000, 40);
}

// Names differ in few letters; their low bits must not.
static void test_hash_of_bytes_spreads(void **state)
{
    (void)state;
    enum { NAMES = 4096, BINS = 4096 };
    static uint32_t bin[BINS];
    uint32_t fullest = 0;
    for (uint32_t i = 0; i < NAMES; i++) {
        char name[16];
        const int length = snprintf(name, sizeof name, "x%u", i);
        const uint32_t k = tr_hash_bytes(name, (size_t)length) % BINS;
        if (++bin[k] > fullest) fullest = bin[k];
    }
    assert_true(fullest < 12); // a random function gives about 7
    assert_int_equal(tr_hash_bytes("abc", 3), tr_hash_bytes("abcd", 3));
    assert_int_not_equal(tr_hash_bytes("abc", 3), tr_hash_bytes("abd", 3));
    assert_int_not_equal(tr_hash_bytes("ab", 2), tr_hash_bytes("ba", 2));
    assert_int_not_equal(tr_hash_bytes("\0", 1), tr_hash_bytes("\0\0", 2));
    assert_int_equal(tr_hash_bytes(NULL, 0), tr_hash_bytes("", 0));
}

// ---- errors --------------------------------------------------------------------------------

static void test_first_error_wins(void **state)
{
    (void)state;
    tr_error err = {0};
    assert_false(has_failed(&err));
    assert_false(has_failed(NULL));
    tr_fail(&err, TR_INVALID, place_at(3, 14), "the %s is %d", "answer", 42);
    assert_true(has_failed(&err));
    tr_fail(&err, TR_USAGE, place_at(1, 1), "later");
    tr_fail_memory(&err);
    assert_int_equal(err.status, TR_INVALID);
    assert_true(err.line == 3 && err.column == 14);
    assert_string_equal(err.text, "the answer is 42");
    tr_fail(NULL, TR_USAGE, place_at(1, 1), "nobody listens");
    tr_fail_memory(NULL);
    tr_error memory = {0};
    tr_fail_memory(&memory);
    assert_int_equal(memory.status, TR_NO_MEMORY);
    assert_string_equal(memory.text, "out of memory");
}

static void test_long_errors_are_cut(void **state)
{
    (void)state;
    struct {
        tr_error err;
        char guard[16];
    } at = {0};
    char words[2000];
    for (size_t i = 0; i < sizeof words; i++) words[i] = (char)('a' + i % 26);
    words[sizeof words - 1] = 0;
    memset(at.guard, 0x5a, sizeof at.guard);
    memset(at.err.text, 'z', sizeof at.err.text);
    tr_fail(&at.err, TR_FAILED, (Place){0}, "%s", words);
    assert_int_equal(strlen(at.err.text), sizeof at.err.text - 1);
    assert_memory_equal(at.err.text, words, sizeof at.err.text - 1);
    for (size_t i = 0; i < sizeof at.guard; i++) assert_int_equal(at.guard[i], 0x5a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena_gives_memory),
        cmocka_unit_test(test_arena_can_be_used_again),
        cmocka_unit_test(test_arena_gives_large_pieces),
        cmocka_unit_test(test_arena_refuses_overflow),
        cmocka_unit_test(test_arena_keeps_text),
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_hash_holds_many),
        cmocka_unit_test(test_hash_survives_collisions),
        cmocka_unit_test(test_hash_of_bytes_spreads),
        cmocka_unit_test(test_first_error_wins),
        cmocka_unit_test(test_long_errors_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
