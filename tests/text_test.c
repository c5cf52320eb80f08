// SPDX-License-Identifier: Apache-2.0
// Pieces of text, buffers that grow, what was meant by a name, and UTF-8.
#include "base/text.h"
#include "test.h"

// ---- pieces and buffers --------------------------------------------------------------------

static void texts_compare_by_content(void **state)
{
    (void)state;
    assert_true(text_is((Text){"wheelbase", 5}, "wheel"));
    assert_false(text_is((Text){"wheelbase", 5}, "wheelbase"));
    assert_false(text_is(text_of("wheel"), "whee1"));
    assert_true(text_equal((Text){0}, text_of("")));
    assert_true(text_equal(text_of(NULL), (Text){"abc", 0}));
    assert_true(text_equal((Text){"a\0b", 3}, (Text){"a\0b", 3}));
    assert_false(text_equal((Text){"a\0b", 3}, (Text){"a\0c", 3}));
}

static void a_buffer_grows(void **state)
{
    (void)state;
    Buffer buffer = {0};
    for (int i = 0; i < 5000; i++) {
        tr_buffer_add(&buffer, "abc,", 3);
        assert_int_equal(buffer.length, 3 * (i + 1));
        assert_true(buffer.capacity > buffer.length);
        assert_int_equal(buffer.at[buffer.length], '\0');
    }
    for (size_t i = 0; i < buffer.length; i++) assert_int_equal(buffer.at[i], "abc"[i % 3]);
    tr_buffer_free(&buffer);
    assert_null(buffer.at);
    tr_buffer_add(&buffer, NULL, 0);
    assert_string_equal(buffer.at, "");
    tr_buffer_add(&buffer, "again", 5);
    assert_string_equal(buffer.at, "again");
    tr_buffer_free(&buffer);
    tr_buffer_free(&buffer);
}

static void a_buffer_prints(void **state)
{
    (void)state;
    Buffer buffer = {0};
    tr_buffer_print(&buffer, "%s = %d;", "m", 7);
    assert_string_equal(buffer.at, "m = 7;");
    tr_buffer_print(&buffer, " ");
    tr_buffer_number(&buffer, 0.1);
    tr_buffer_print(&buffer, " ");
    tr_buffer_number(&buffer, -1e300);
    assert_string_equal(buffer.at, "m = 7; 0.1 -1e300");
    assert_int_equal(buffer.length, strlen(buffer.at));
    tr_buffer_free(&buffer);
}

// Every length around the first capacities, so that a text that just fits or just does not is met.
static void a_print_of_any_length_fits(void **state)
{
    (void)state;
    for (int width = 0; width < 300; width++) {
        Buffer buffer = {0};
        tr_buffer_print(&buffer, "%*s", width, "");
        tr_buffer_print(&buffer, "%0*d", width + 1, 5);
        assert_int_equal(buffer.length, 2 * width + 1);
        assert_int_equal(strlen(buffer.at), buffer.length);
        assert_int_equal(strspn(buffer.at, " "), width);
        assert_int_equal(buffer.at[buffer.length - 1], '5');
        assert_false(buffer.failed);
        tr_buffer_free(&buffer);
    }
}

static void a_failed_buffer_stays_failed(void **state)
{
    (void)state;
    Buffer buffer = {0};
    tr_buffer_add(&buffer, "kept", 4);
    tr_buffer_add(&buffer, "", SIZE_MAX - 2); // more than any memory
    assert_true(buffer.failed);
    tr_buffer_add(&buffer, "x", 1);
    tr_buffer_print(&buffer, "%d", 1);
    tr_buffer_number(&buffer, 1);
    assert_string_equal(buffer.at, "kept");
    assert_int_equal(buffer.length, 4);
    tr_buffer_free(&buffer);
    assert_false(buffer.failed);
}

// ---- distance ------------------------------------------------------------------------------

static size_t distance(const char *a, const char *b)
{
    const size_t there = tr_text_distance(text_of(a), text_of(b));
    assert_int_equal(tr_text_distance(text_of(b), text_of(a)), there);
    assert_int_equal(there % TR_EDIT, 0);
    return there / TR_EDIT;
}

static void distances_known(void **state)
{
    (void)state;
    assert_int_equal(distance("", ""), 0);
    assert_int_equal(distance("", "abc"), 3);
    assert_int_equal(distance("mass", "mass"), 0);
    assert_int_equal(distance("mass", "mas"), 1);
    assert_int_equal(distance("mass", "masss"), 1);
    assert_int_equal(distance("mass", "moss"), 1);
    assert_int_equal(distance("mass", "mSas"), 2);
    assert_int_equal(distance("inertia", "inretia"), 1);
    assert_int_equal(distance("ab", "ba"), 1);
    assert_int_equal(distance("kitten", "sitting"), 3);
    assert_int_equal(distance("ca", "abc"), 3); // no character is edited twice
    assert_int_equal(distance("ω_x", "w_x"), 1);
    assert_int_equal(distance("ωφ", "φω"), 1);
    assert_int_equal(distance("\xff", "\xfe"), 1);
}

static void a_wrong_case_counts_less(void **state)
{
    (void)state;
    assert_int_equal(tr_text_distance(text_of("Mass"), text_of("mass")), 1);
    assert_int_equal(tr_text_distance(text_of("MASS"), text_of("mas")), 3 + TR_EDIT);
}

static void long_texts_have_no_distance(void **state)
{
    (void)state;
    char longest[64];
    memset(longest, 'x', sizeof longest);
    const Text fits = {longest, 63}, too_long = {longest, 64};
    assert_int_equal(tr_text_distance(fits, (Text){longest, 62}), TR_EDIT);
    assert_int_equal(tr_text_distance(fits, text_of("y")), 63 * TR_EDIT);
    assert_int_equal(tr_text_distance(too_long, fits), SIZE_MAX);
    assert_int_equal(tr_text_distance(fits, too_long), SIZE_MAX);
}

// The definition, read literally from the front and without remembering anything.
static size_t distance_by_definition(const char *a, const char *b)
{
    if (!*a) return strlen(b);
    if (!*b) return strlen(a);
    if (*a == *b) return distance_by_definition(a + 1, b + 1);
    size_t best = distance_by_definition(a + 1, b + 1);
    const size_t shorter = distance_by_definition(a + 1, b);
    const size_t longer = distance_by_definition(a, b + 1);
    if (shorter < best) best = shorter;
    if (longer < best) best = longer;
    if (a[1] && b[1] && a[0] == b[1] && a[1] == b[0]) {
        const size_t swapped = distance_by_definition(a + 2, b + 2);
        if (swapped < best) best = swapped;
    }
    return best + 1;
}

static void distances_follow_the_definition(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int i = 0; i < 3000; i++) {
        char words[2][8] = {"", ""};
        for (int w = 0; w < 2; w++) {
            const unsigned length = (seed = seed * 1664525u + 1013904223u) >> 29;
            for (unsigned k = 0; k < length; k++)
                words[w][k] = "abc"[((seed = seed * 1664525u + 1013904223u) >> 16) % 3];
        }
        assert_int_equal(distance(words[0], words[1]), distance_by_definition(words[0], words[1]));
    }
}

// ---- did you mean --------------------------------------------------------------------------

static const char *suggest(const char *wanted, const char *const *candidates)
{
    static char answer[100];
    Suggestion suggestion = {.wanted = text_of(wanted)};
    for (; *candidates; candidates++) tr_suggest(&suggestion, text_of(*candidates));
    if (!suggestion.best.at) return "";
    assert_true(suggestion.best.length < sizeof answer);
    memcpy(answer, suggestion.best.at, suggestion.best.length);
    answer[suggestion.best.length] = '\0';
    return answer;
}

static void suggests_what_was_meant(void **state)
{
    (void)state;
    static const char *const keys[] = {"mass",    "inertia", "centre", "stiffness",
                                       "damping", "x",       NULL};
    assert_string_equal(suggest("mas", keys), "mass");
    assert_string_equal(suggest("masse", keys), "mass");
    assert_string_equal(suggest("intertia", keys), "inertia");
    assert_string_equal(suggest("center", keys), "centre");
    assert_string_equal(suggest("stifness", keys), "stiffness");
    assert_string_equal(suggest("STIFFNESS", keys), "stiffness");
    assert_string_equal(suggest("X", keys), "x");
    assert_string_equal(suggest("xx", keys), "x");
}

static void suggests_nothing_far_away(void **state)
{
    (void)state;
    static const char *const keys[] = {"mass", "stiffness", "x", "", NULL};
    assert_string_equal(suggest("wheel", keys), "");
    assert_string_equal(suggest("y", keys), ""); // a single letter has nothing in common
    assert_string_equal(suggest("", keys), "");
    assert_string_equal(suggest("mxyz", keys), "");
    char longer[80] = {0};
    memset(longer, 'a', sizeof longer - 1);
    const char *const same[] = {longer, NULL};
    assert_string_equal(suggest(longer, same), "");
    static const char *const parts[] = {"frame.x", "frame.qw", "mast.tip", NULL};
    assert_string_equal(suggest("frame.roll", parts), ""); // to be of the frame is not enough
    assert_string_equal(suggest("frame.v", parts), "");
    assert_string_equal(suggest("frame.wq", parts), "frame.qw");
    assert_string_equal(suggest("farme.x", parts), "frame.x");
}

static void the_nearest_wins_and_then_the_first(void **state)
{
    (void)state;
    static const char *const ties[] = {"body_b", "body_c", "body_d", NULL};
    assert_string_equal(suggest("body_a", ties), "body_b");
    static const char *const cases[] = {"cody", "Body", "bodi", NULL};
    assert_string_equal(suggest("body", cases), "Body"); // case counts less than a letter
    static const char *const later[] = {"frame_tube", "frame_tub", NULL};
    assert_string_equal(suggest("frame_tu", later), "frame_tub");
}

static const char *hint(const char *wanted, const char *const *candidates)
{
    static char out[TR_HINT_SIZE];
    Suggestion suggestion = {.wanted = text_of(wanted)};
    for (; *candidates; candidates++) tr_suggest(&suggestion, text_of(*candidates));
    tr_suggest_unlisted(&suggestion, text_of("well_known"));
    return tr_hint(&suggestion, out);
}

static void what_there_is_is_listed_where_nothing_is_near(void **state)
{
    (void)state;
    static const char *const keys[] = {"mass", "com", "mass", "inertia", "", NULL};
    static const char *const one[] = {"mass", NULL}, *const none[] = {NULL};
    assert_string_equal(hint("mas", keys), "; did you mean 'mass'?");
    assert_string_equal(hint("wheel", keys), "; there are 'mass', 'com', 'inertia'");
    assert_string_equal(hint("wheel", one), "; there is 'mass'");
    assert_string_equal(hint("wheel", none), "");
    assert_string_equal(hint("wellknown", none), "; did you mean 'well_known'?");
    // names that hold each other, and more than there is room for
    static const char *const parts[] = {"frame.x", "frame", "x", NULL};
    assert_string_equal(hint("wheel", parts), "; there are 'frame.x', 'frame', 'x'");
    char names[100][70] = {{0}};
    const char *many[101] = {0};
    for (int i = 0; i < 100; i++)
        snprintf(names[i], sizeof names[i], "n%03d%060d", i, 0), many[i] = names[i];
    const char *all = hint("wheel", many);
    assert_true(strlen(all) < TR_HINT_SIZE && strlen(all) > 70);
    assert_string_equal(all + strlen(all) - 5, ", ...");
}

// ---- UTF-8 ---------------------------------------------------------------------------------

static size_t encode(uint32_t code, char out[4])
{
    if (code < 0x80) return out[0] = (char)code, 1;
    const size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    static const unsigned lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[length] | code);
    return length;
}

static void every_character_is_valid(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x1fffff; code++) {
        char bytes[4];
        const size_t length = encode(code, bytes);
        const bool valid = (code < 0xd800 || code > 0xdfff) && code <= 0x10ffff;
        if (tr_utf8_length(bytes, length) != (valid ? length : 0)) fail_msg("U+%X", (unsigned)code);
        for (size_t cut = 0; cut < length; cut++)
            if (tr_utf8_length(bytes, cut) != 0) fail_msg("U+%X cut", (unsigned)code);
    }
}

// Of all three bytes, as many are valid as there are characters.
static void nothing_else_is_valid(void **state)
{
    (void)state;
    size_t valid[5] = {0};
    for (uint32_t i = 0; i < 0x1000000; i++) {
        const char bytes[4] = {(char)(i >> 16), (char)(i >> 8), (char)i, (char)0x80};
        valid[tr_utf8_length(bytes, 4)]++;
    }
    assert_int_equal(valid[1], 0x80u * 0x10000);
    assert_int_equal(valid[2], (0x800u - 0x80) * 0x100);
    assert_int_equal(valid[3], 0x10000u - 0x800 - 0x800); // without surrogates
    assert_int_equal(valid[4], 0x100000u / 64);
}

static void columns_count_characters(void **state)
{
    (void)state;
    assert_int_equal(tr_utf8_columns("", 0), 0);
    assert_int_equal(tr_utf8_columns("abc", 2), 2);
    assert_int_equal(tr_utf8_columns("ωx = 1", 7), 6);
    assert_int_equal(tr_utf8_columns("a\xff\xfe"
                                     "b",
                                     4),
                     4);
    assert_int_equal(tr_utf8_columns("\xe2\x82", 2), 2); // cut off: two bytes, each one
    assert_int_equal(tr_utf8_columns("€😀", 7), 2);
}

static void names_are_listed_while_there_is_room(void **state)
{
    (void)state;
    char line[20] = "";
    tr_list_name(line, sizeof line, "one");
    assert_string_equal(line, "'one'");
    tr_list_name(line, sizeof line, "three");
    assert_string_equal(line, "'one', 'three'");
    tr_list_name(line, sizeof line, "five"); // does not fit
    assert_string_equal(line, "'one', 'three', ...");
    tr_list_name(line, sizeof line, "a"); // nor does what follows
    assert_string_equal(line, "'one', 'three', ...");
}

static void lists_have_items(void **state)
{
    (void)state;
    const char *list = " one,two words ,,four";
    const char *const items[] = {"one", "two words", "", "four"};
    for (int i = 0; i < 4; i++) assert_true(text_is(tr_next_item(&list), items[i]));
    assert_string_equal(list, "");
    assert_true(text_is(text_trimmed(text_of("   ")), ""));
}

static void texts_begin_and_end(void **state)
{
    (void)state;
    assert_true(begins_with("energy.kinetic", "energy."));
    assert_true(begins_with("x", ""));
    assert_false(begins_with("energy", "energy."));
    assert_true(ends_with("run.csv", ".csv"));
    assert_false(ends_with(".csv", ".csv"));
    assert_false(ends_with("sv", ".csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_have_items),
        cmocka_unit_test(texts_begin_and_end),
        cmocka_unit_test(texts_compare_by_content),
        cmocka_unit_test(a_buffer_grows),
        cmocka_unit_test(a_buffer_prints),
        cmocka_unit_test(a_print_of_any_length_fits),
        cmocka_unit_test(a_failed_buffer_stays_failed),
        cmocka_unit_test(distances_known),
        cmocka_unit_test(a_wrong_case_counts_less),
        cmocka_unit_test(long_texts_have_no_distance),
        cmocka_unit_test(distances_follow_the_definition),
        cmocka_unit_test(names_are_listed_while_there_is_room),
        cmocka_unit_test(suggests_what_was_meant),
        cmocka_unit_test(suggests_nothing_far_away),
        cmocka_unit_test(the_nearest_wins_and_then_the_first),
        cmocka_unit_test(what_there_is_is_listed_where_nothing_is_near),
        cmocka_unit_test(every_character_is_valid),
        cmocka_unit_test(nothing_else_is_valid),
        cmocka_unit_test(columns_count_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
