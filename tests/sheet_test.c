// SPDX-License-Identifier: Apache-2.0
// Tables of numbers: their names and numbers however they are written, cut or wrong.
#include "base/sheet.h"
#include "folder.h"

static Sheet *parse(const char *text, tr_error *err)
{
    *err = (tr_error){0};
    return tr_sheet_parse(text, strlen(text), err);
}

static Sheet *good(const char *text)
{
    tr_error err;
    Sheet *sheet = parse(text, &err);
    if (!sheet) fail_msg("%s\n%d: %s", text, err.line, err.text);
    return sheet;
}

// The text is refused on this line, with these words.
static void assert_refused(const char *text, int line, const char *words)
{
    tr_error err;
    Sheet *sheet = parse(text, &err);
    assert_null(sheet);
    assert_int_equal(err.status, TR_INVALID);
    assert_string_equal(err.text, words);
    assert_int_equal(err.line, line);
}

static void test_columns(void **state)
{
    (void)state;
    Sheet *s = good("t,a b,c\n0,1.5,-2\n 1 ,\t2e3,+.5\n");
    assert_int_equal(s->columns, 3);
    assert_int_equal(s->rows, 2);
    assert_string_equal(s->names[1], "a b");
    const double *t = tr_sheet_column(s, "t"), *a = tr_sheet_column(s, "a b"),
                 *c = tr_sheet_column(s, "c");
    assert_true(t[0] == 0 && t[1] == 1 && a[0] == 1.5 && a[1] == 2000 && c[0] == -2 && c[1] == 0.5);
    assert_null(tr_sheet_column(s, "d"));
    tr_sheet_free(s);
}

static void test_names_in_quotes(void **state)
{
    (void)state;
    Sheet *s = good("\"t\", \"a, \"\"b\"\"\" ,\"\xf0\x9f\x9a\xb2\",</script>\n1,2,3,4\n");
    assert_int_equal(s->columns, 4);
    assert_string_equal(s->names[0], "t");
    assert_string_equal(s->names[1], "a, \"b\"");
    assert_string_equal(s->names[2], "\xf0\x9f\x9a\xb2");
    assert_string_equal(s->names[3], "</script>");
    assert_true(tr_sheet_column(s, "a, \"b\"")[0] == 2);
    tr_sheet_free(s);
    s = good("\"a\nb\",5,c\"d\n1,2,3\n");
    assert_int_equal(s->columns, 3);
    assert_int_equal(s->rows, 1);
    assert_string_equal(s->names[0], "a\nb");
    assert_string_equal(s->names[2], "c\"d");
    tr_sheet_free(s);
}

static void test_numbers_in_quotes(void **state)
{
    (void)state;
    Sheet *s = good("a,b,c,d,e,f\n\"5\",\" -1.5 \",\"5 m\",\"\",\"2\"\"\",\"inf\"\n");
    const double *v = s->values;
    assert_true(v[0] == 5 && v[1] == -1.5 && isnan(v[2]) && isnan(v[3]) && isnan(v[4]));
    assert_true(isinf(v[5]) && s->rows == 1);
    tr_sheet_free(s);
    s = good("a,b\n\"1,5\",\"-\"\n");
    assert_true(isnan(s->values[0]) && isnan(s->values[1]));
    tr_sheet_free(s);
}

static void test_ends_of_lines(void **state)
{
    (void)state;
    const char *const texts[] = {"t,x\n1,2\n3,4\n", "t,x\r\n1,2\r\n3,4\r\n", "t,x\n1,2\n3,4",
                                 "t,x\n\n1,2\n \n3,4\n\n", "\xef\xbb\xbft,x\n1,2\n3,4\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Sheet *s = good(texts[i]);
        assert_int_equal(s->columns, 2);
        assert_int_equal(s->rows, 2);
        assert_string_equal(s->names[0], "t");
        assert_string_equal(s->names[1], "x");
        assert_true(tr_sheet_column(s, "x")[1] == 4);
        tr_sheet_free(s);
    }
}

static void test_special_numbers(void **state)
{
    (void)state;
    Sheet *s = good("a,b,c,d,e\ninf,-inf,nan,,-0\n");
    const double *v = s->values;
    assert_true(isinf(v[0]) && v[0] > 0 && isinf(v[1]) && v[1] < 0 && isnan(v[2]) && isnan(v[3]));
    assert_true(same_bits(v[4], -0.0));
    tr_sheet_free(s);
}

static void test_cut_short(void **state)
{
    (void)state;
    const char *const texts[] = {"t,x,y\n1,2,3\n4,5", "t,x,y\n1,2,3\n4,", "t,x,y\n1,2,3\n4"};
    for (size_t i = 0; i < 3; i++) {
        Sheet *s = good(texts[i]);
        assert_int_equal(s->rows, 1);
        assert_true(tr_sheet_column(s, "y")[0] == 3);
        tr_sheet_free(s);
    }
    Sheet *s = good("t,x"); // not even a row
    assert_int_equal(s->rows, 0);
    assert_int_equal(s->columns, 2);
    tr_sheet_free(s);
}

static void test_refused(void **state)
{
    (void)state;
    assert_refused("t,x\n1,2\n3\n4,5\n", 3, "there are fewer than 2 fields");
    assert_refused("t,x\n1,2\n3,4,5\n", 3, "there are more than 2 fields");
    assert_refused("t,x\n1,two\n", 2, "'two' in column 'x' is no number");
    assert_refused("t,x\n\n1,2 3\n", 3, "'2 3' in column 'x' is no number");
    assert_refused("t,x\n1,-\n", 2, "'-' in column 'x' is no number");
    assert_refused("t,x\n1,--2\n", 2, "'--2' in column 'x' is no number");
    assert_refused("t,x\n1,infinity\n", 2, "'infinity' in column 'x' is no number");
    assert_refused("t,x\n1,0x10\n", 2, "'0x10' in column 'x' is no number");
    assert_refused("", 0, "'this' is no table of numbers");
    assert_refused("\xef\xbb\xbf", 0, "'this' is no table of numbers");
    tr_error err = {0};
    assert_null(tr_sheet_parse("t\n1\0\n", 6, &err));
    assert_string_equal(err.text, "'this' is no table of numbers");
    assert_null(tr_sheet_parse("t\n1\n", 4, &err)); // the first error stays
    assert_null(tr_sheet_read("there/is/none.csv", NULL));
}

static void test_file(void **state)
{
    (void)state;
    const char *path = in_folder("run.csv");
    tr_error err = {0};
    assert_true(tr_write_text(path, "t,x\n0,0.1\n1,1e-300\n", &err));
    Sheet *s = tr_sheet_read(path, &err);
    assert_int_equal(remove(path), 0);
    assert_non_null(s);
    assert_true(tr_sheet_column(s, "x")[0] == 0.1 && tr_sheet_column(s, "x")[1] == 1e-300);
    tr_sheet_free(s);
    assert_null(tr_sheet_read(path, &err));
    assert_int_equal(err.status, TR_IO);
}

// Rows and lines of a file, of which some are empty
static void test_lines(void **state)
{
    (void)state;
    tr_error err = {0};
    const char text[] = "t,\"x\"\r\n1,2\r\n\r\n  \n3,4\n5,6";
    Sheet *s = tr_sheet_parse(text, sizeof text - 1, &err);
    assert_non_null(s);
    assert_int_equal(s->rows, 3);
    assert_int_equal(tr_sheet_line(s, 0), 2);
    assert_int_equal(tr_sheet_line(s, 1), 5);
    assert_int_equal(tr_sheet_line(s, 2), 6);
    tr_sheet_free(s);
    // quotes inside a name are no quotes, and lines in quotes are lines
    assert_refused("'B\"nu,\" -2\n0.1,inf\",2\nx,1,2\n", 3, "'x' in column ''B\"nu' is no number");
    assert_refused("\"a\nb\",c\n1,x\n", 3, "'x' in column 'c' is no number");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_names_in_quotes),
        cmocka_unit_test(test_numbers_in_quotes),
        cmocka_unit_test(test_ends_of_lines),
        cmocka_unit_test(test_special_numbers),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
