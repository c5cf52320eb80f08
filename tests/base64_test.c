// SPDX-License-Identifier: Apache-2.0
// Bytes as text for reports: known ones, and any, in whatever pieces they come.
#include "base/base64.h"
#include "test.h"

// The text of the bytes when they come in pieces of `step`; the caller frees it.
static char *encoded(const void *bytes, size_t length, size_t step)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    Base64 out = {.to = to};
    for (size_t i = 0; i < length; i += step)
        tr_base64_add(&out, (const char *)bytes + i, length - i < step ? length - i : step);
    tr_base64_end(&out);
    fclose(to);
    return text;
}

static void test_known(void **state) // RFC 4648, section 10
{
    (void)state;
    const char *const known[][2] = {{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foob", "Zm9vYg=="},
                                    {"fooba", "Zm9vYmE="},
                                    {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (size_t step = 1; step < 8; step++) {
            char *text = encoded(known[i][0], strlen(known[i][0]), step);
            assert_string_equal(text, known[i][1]);
            free(text);
        }
    const unsigned char high[] = {0xfb, 0xff, 0xbf, 0, 0x10, 0x83};
    char *text = encoded(high, sizeof high, 6);
    assert_string_equal(text, "+/+/ABCD");
    free(text);
}

// Decoded by its definition, letter by letter
static void test_there_and_back(void **state)
{
    (void)state;
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { MOST = 5000 };
    unsigned char bytes[MOST];
    for (int i = 0; i < MOST; i++) bytes[i] = (unsigned char)(i * i >> 3);
    const size_t lengths[] = {767, 768, 769, MOST - 1, MOST};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        char *text = encoded(bytes, lengths[k], 1000);
        assert_int_equal(strlen(text), 4 * ((lengths[k] + 2) / 3));
        for (size_t i = 0; i < lengths[k]; i++) { // byte i is bits 8 i to 8 i + 7
            unsigned value = 0;
            for (size_t bit = 8 * i; bit < 8 * i + 8; bit++) {
                const char *letter = strchr(letters, text[bit / 6]);
                assert_non_null(letter);
                value = 2 * value + ((unsigned)(letter - letters) >> (5 - bit % 6) & 1);
            }
            assert_int_equal(value, bytes[i]);
        }
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
