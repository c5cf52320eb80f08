// SPDX-License-Identifier: Apache-2.0
// Texts as they can be shown: whatever a name, a file or its name holds, nothing of it acts on a
// terminal, and JSON is valid UTF-8.
#include "base/error.h"
#include "base/json.h"
#include "test.h"
#include "view/svg.h"

#include <stdlib.h>

static const struct {
    const char *text, *shown;
} cases[] = {
    {"", ""},
    {"a 'b' \\ ~", "a 'b' \\ ~"},
    {"\xc3\xa9\xe2\x86\x92\xf0\x9f\x9a\xb2", "\xc3\xa9\xe2\x86\x92\xf0\x9f\x9a\xb2"}, // as it is
    {"\x1b[31mred", "\\x1b[31mred"},
    {"one\ntwo\tthree\r", "one\\x0atwo\\x09three\\x0d"},
    {"\x7f", "\\x7f"},
    {"\xc2\x9b"
     "2J",
     "\\u009b2J"}, // CSI in one character
    {"\xe2\x80\xaegnp.exe", "\\u202egnp.exe"},
    {"\xe2\x81\xa6x\xe2\x81\xa9", "\\u2066x\\u2069"},
    {"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\u200e\\u200f\\u061c"},
    {"a\xe2\x80\xa8z", "a\\u2028z"},
    {"\xef\xbb\xbfz", "\\ufeffz"},
    {"\xf3\xa0\x80\x81z", "\\U0e0001z"},
    {"\xff\xfez", "\\xff\\xfez"},
    {"\xc0\xafz", "\\xc0\\xafz"},          // not the shortest
    {"\xed\xa0\x80z", "\\xed\\xa0\\x80z"}, // half of a pair
};
enum { COUNT = sizeof cases / sizeof *cases };

static void texts_are_written_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        char out[100];
        Buffer buffer = {0};
        assert_string_equal(tr_shown(cases[i].text, out, sizeof out), cases[i].shown);
        tr_buffer_show(&buffer, text_of(cases[i].text), false);
        assert_string_equal(buffer.at, cases[i].shown);
        assert_true(tr_text_is_plain(text_of(buffer.at), false));
        tr_buffer_free(&buffer);
    }
    Buffer lines = {0};
    tr_buffer_show(&lines, text_of("a\n\tb\x1b\n"), true);
    assert_string_equal(lines.at, "a\n\tb\\x1b\n");
    tr_buffer_free(&lines);
}

// Whole characters, and whole escapes
static void what_does_not_fit_is_left_out(void **state)
{
    (void)state;
    const char *text = "ab\x1b\xc3\xa9";
    static const char *const wanted[] = {
        "", "a", "ab", "ab", "ab", "ab", "ab\\x1b", "ab\\x1b", "ab\\x1b\xc3\xa9"};
    for (size_t size = 1; size <= 9; size++) {
        char out[10] = "?????????";
        assert_string_equal(tr_shown(text, out, size), wanted[size - 1]);
        assert_int_equal(out[size], size < 9 ? '?' : 0);
    }
    char out[20];
    assert_string_equal(tr_shown("a\xe2\x86", out, sizeof out), "a"); // cut off before
    assert_int_equal(tr_text_cut(text_of("ab\xe2\x86\x92"), 3), 2);
    assert_int_equal(tr_text_cut(text_of("ab\xe2\x86\x92"), 5), 5);
}

static void errors_and_texts_are_shown(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_fail(&err, TR_INVALID, (Place){0}, "'%s' is unknown", "\x1b]0;owned\x07\xe2\x80\xae\xff");
    assert_string_equal(err.text, "'\\x1b]0;owned\\x07\\u202e\\xff' is unknown");
    err = (tr_error){0};
    Buffer buffer = {0};
    tr_buffer_print(&buffer, "model \x1b[2J\n");
    char *text = tr_text_finish(&buffer, &err);
    assert_string_equal(text, "model \\x1b[2J\n");
    free(text);
}

static void json_is_valid_and_plain(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        Json j = {0};
        Buffer back = {0}, shown = {0};
        tr_json_open(&j, NULL, '{');
        tr_json_text(&j, cases[i].text, cases[i].text);
        tr_json_close(&j, '}');
        const Text all = {j.text.at, j.text.length};
        assert_true(tr_json_is_valid(all));
        assert_true(tr_text_is_plain(all, true));
        const char *colon = strstr(j.text.at, "\": \"");
        assert_non_null(colon);
        const char *end = strrchr(j.text.at, '"');
        assert_true(tr_json_string((Text){colon + 3, (size_t)(end + 1 - colon - 3)}, &back));
        tr_buffer_show(&shown, (Text){back.at, back.length}, false); // the same, where it was UTF-8
        assert_string_equal(shown.at, cases[i].shown);
        tr_buffer_free(&back);
        tr_buffer_free(&shown);
        tr_buffer_free(&j.text);
    }
}

static void pictures_are_plain(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        Buffer svg = {0};
        tr_svg_begin(&svg, 10, 10, cases[i].text, "</title><script>");
        tr_svg_end(&svg);
        assert_true(tr_text_is_plain((Text){svg.at, svg.length}, true));
        assert_null(strstr(svg.at, "<script>"));
        tr_buffer_free(&svg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_written_out),
        cmocka_unit_test(what_does_not_fit_is_left_out),
        cmocka_unit_test(errors_and_texts_are_shown),
        cmocka_unit_test(json_is_valid_and_plain),
        cmocka_unit_test(pictures_are_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
