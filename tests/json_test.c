// SPDX-License-Identifier: Apache-2.0
// JSON: what is valid and what is not, its parts, its strings, and that what is written reads back.
#include "base/json.h"
#include "test.h"

static void test_valid(void **state)
{
    (void)state;
    const char *const texts[] = {"{}",
                                 " [ ] ",
                                 "0",
                                 "-0.5e+10",
                                 "1E5",
                                 "null",
                                 "true",
                                 "\"\"",
                                 "\"\\u00e9\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
                                 "\"\xf0\x9f\x9a\xb2\"",
                                 "{\"a\": [1, {\"b\": null}], \"\": false}\n",
                                 "[[[[[]]]], 2]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!tr_json_is_valid(text_of(texts[i]))) fail_msg("refused: %s", texts[i]);
}

static void test_invalid(void **state)
{
    (void)state;
    const char *const texts[] = {
        "",        " ",           "{",         "}",        "[1,]",      "[1 2]",        "{\"a\"}",
        "{a: 1}",  "{\"a\": 1,}", "{\"a\" 1}", "[,1]",     "01",        "1.",           ".5",
        "-",       "+1",          "1e",        "1e+",      "NaN",       "inf",          "nul",
        "truely",  "\"",          "\"\n\"",    "\"\\x\"",  "\"\\u12\"", "\"\\u12g4\"",  "\"\\\"",
        "'a'",     "[1] 2",       "{} {}",     "// a\n{}", "\"\xff\"",  "\"\xf0\x9f\"", "[1}",
        "{\"a\":}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (tr_json_is_valid(text_of(texts[i]))) fail_msg("taken: %s", texts[i]);
    assert_false(tr_json_is_valid((Text){"1\0", 2}));
    char deep[301];
    memset(deep, '[', 150), memset(deep + 150, ']', 150), deep[300] = 0;
    assert_false(tr_json_is_valid(text_of(deep)));
    assert_true(tr_json_is_valid((Text){deep + 60, 180})); // 90 levels
}

// Every text that is cut somewhere is refused, and nothing behind its end is read.
static void test_every_prefix(void **state)
{
    (void)state;
    const char *whole = "{\"a\": [1.5e3, true, null, \"x\\u00e9\\n\"], \"b\": {\"c\": false}}";
    for (size_t length = 0; length < strlen(whole); length++) {
        char *cut = malloc(length + 1);
        assert_non_null(cut);
        memcpy(cut, whole, length);
        char *exact = realloc(cut, length ? length : 1);
        assert_false(tr_json_is_valid((Text){exact, length}));
        free(exact);
    }
    assert_true(tr_json_is_valid(text_of(whole)));
}

static void assert_string(Text value, const char *meaning)
{
    Buffer text = {0};
    assert_true(tr_json_string(value, &text));
    assert_false(text.failed);
    assert_string_equal(text.at, meaning);
    tr_buffer_free(&text);
}

static void test_parts(void **state)
{
    (void)state;
    const Text top =
        text_of(" {\"a\" : {\"b\": 5}, \"list\": [10, [11], \"]\\\"\"], \"b\": \"x\"} ");
    assert_true(tr_json_is_valid(top));
    assert_true(text_is(tr_json_member(top, "a"), "{\"b\": 5}"));
    assert_true(text_is(tr_json_member(tr_json_member(top, "a"), "b"), "5"));
    assert_string(tr_json_member(top, "b"), "x");
    const Text list = tr_json_member(top, "list");
    assert_true(text_is(tr_json_item(list, 0), "10"));
    assert_true(text_is(tr_json_item(list, 1), "[11]"));
    assert_string(tr_json_item(list, 2), "]\"");
    assert_null(tr_json_item(list, 3).at);
    assert_null(tr_json_member(top, "c").at);
    assert_null(tr_json_member(list, "a").at);
    assert_null(tr_json_item(top, 0).at);
    assert_null(tr_json_item(text_of("[]"), 0).at);
    assert_null(tr_json_member((Text){0}, "a").at);
    assert_null(tr_json_item((Text){0}, 0).at);
}

static void test_strings(void **state)
{
    (void)state;
    assert_string(text_of("\"\""), "");
    assert_string(text_of("\"a\\\\\\/\\\"\\b\\f\\n\\r\\t\""), "a\\/\"\b\f\n\r\t");
    assert_string(text_of("\"\\u0041\\u00e9\\u20ac\""), "A\xc3\xa9\xe2\x82\xac");
    assert_string(text_of("\"\\ud83d\\udeb2 \\ud83d x \\udeb2\""),
                  "\xf0\x9f\x9a\xb2 \xef\xbf\xbd x \xef\xbf\xbd");
    assert_string(text_of("\"\\ud83d\\u0041\""), "\xef\xbf\xbd"
                                                 "A");
    Buffer none = {0};
    assert_false(tr_json_string(text_of("5"), &none));
    assert_false(tr_json_string((Text){0}, &none));
    assert_false(tr_json_string(text_of("\"a\\u0000b\""), &none));
    tr_buffer_free(&none);
}

// What is written is valid, and reads back.
static void test_written(void **state)
{
    (void)state;
    const char *hostile = "</script>\"'\\ \x01\n\t\xf0\x9f\x9a\xb2";
    Json j = {0};
    tr_json_open(&j, NULL, '{');
    tr_json_text(&j, "name", hostile);
    tr_json_number(&j, "nan", (double)NAN);
    tr_json_number(&j, "number", -1e-300);
    tr_json_open(&j, "list", '[');
    tr_json_flag(&j, NULL, true);
    tr_json_raw(&j, NULL, text_of("{\"a\": [1]}"));
    tr_json_close(&j, ']');
    tr_json_matrix(&j, "matrix", (double[]){1, 2.5, (double)NAN, -4}, 2, 2);
    tr_json_texts(&j, "texts", (const char *const[]){"a", "\"b\""}, 2);
    tr_json_numbers(&j, "none", NULL, 0);
    tr_json_close(&j, '}');
    assert_false(j.text.failed);
    const Text text = {j.text.at, j.text.length};
    assert_true(tr_json_is_valid(text));
    assert_string(tr_json_member(text, "name"), hostile);
    assert_true(text_is(tr_json_member(text, "nan"), "null"));
    assert_true(text_is(tr_json_member(tr_json_item(tr_json_member(text, "list"), 1), "a"), "[1]"));
    const Text matrix = tr_json_member(text, "matrix"), texts = tr_json_member(text, "texts");
    assert_true(text_is(tr_json_item(matrix, 0), "[1, 2.5]"));
    assert_true(text_is(tr_json_item(matrix, 1), "[null, -4]"));
    assert_null(tr_json_item(matrix, 2).at);
    assert_string(tr_json_item(texts, 1), "\"b\"");
    assert_true(text_is(tr_json_member(text, "none"), "[]"));
    tr_buffer_free(&j.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),   cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_parts),   cmocka_unit_test(test_every_prefix),
        cmocka_unit_test(test_strings), cmocka_unit_test(test_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
