// SPDX-License-Identifier: Apache-2.0
// Grids of numbers: rows of y, x and values, and ESRI's; however they are written, cut or wrong.
#include "base/grid.h"
#include "test.h"

typedef bool Read(const char *text, size_t length, Grid *grid, tr_error *err);

static Grid good(Read *read, const char *text)
{
    Grid grid;
    tr_error err = {0};
    if (!read(text, strlen(text), &grid, &err)) fail_msg("%s\n%d: %s", text, err.line, err.text);
    return grid;
}

static void assert_refused(Read *read, const char *text, int line, const char *words)
{
    Grid grid;
    tr_error err = {0};
    assert_false(read(text, strlen(text), &grid, &err));
    if (strcmp(err.text, words) != 0 || err.line != line)
        fail_msg("%s\nsays %d: %s", text, err.line, err.text);
    assert_int_equal(err.status, TR_INVALID);
    assert_true(!grid.x && !grid.y && !grid.z);
}

static void test_csv(void **state)
{
    (void)state;
    static const char *const same[] = {"x\\y, 0, 1.5 ,4\n-1,1,2,3\n2,4,5,-6e1\n",
                                       ",0,1.5,4\r\n -1 , 1,2, 3\r\n\r\n+2,4,5,-60",
                                       "\xef\xbb\xbf\n,0,1.5,4\r-1,1,2,3\r2,4,5,-60\r"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        Grid g = good(tr_grid_csv, same[i]);
        assert_true(g.nx == 2 && g.ny == 3);
        assert_true(g.x[0] == -1 && g.x[1] == 2 && g.y[0] == 0 && g.y[1] == 1.5 && g.y[2] == 4);
        assert_true(g.z[0] == 1 && g.z[2] == 3 && g.z[3] == 4 && g.z[5] == -60);
        tr_grid_free(&g);
    }
}

#define WORDS(column)                                                                          \
    "column " #column " is no finite number: the first row of a grid is its y; where columns " \
    "have names, 'x' and 'value' say which"

static void test_bad_csv(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *words;
    } bad[] = {
        {"", 0, "is empty"},
        {" \n\n", 0, "is empty"},
        {"1 2 3\n", 1, "the first row of a grid is its y, behind a corner: ', 0, 1, 2'"},
        {",0,one\n0,1,2\n", 1, WORDS(3)},
        {"t, left\n0,1\n1,2\n", 1, WORDS(2)},
        {"\"t\",\"left\"\n0,1\n1,2\n", 1, WORDS(2)},
        {";0;1\n0;1;2\n", 1, "numbers stand between ',' and not ';'"},
        {";0,5;1\n0;1;2\n", 1,
         "column 2 is no finite number: numbers stand between ',' and not ';'"},
        {",0,1\n0,1;2\n", 2, "column 2 is no finite number: numbers stand between ',' and not ';'"},
        {",0,\n0,1,2\n", 1, "column 3 is empty"},
        {",0,0\n0,1,2\n", 1, "y does not ascend in column 3"},
        {",1,0\n0,1,2\n", 1, "y does not ascend in column 3"},
        {",0,1\n0,1,2\n0,1,2\n", 3, "x does not ascend"},
        {",0,1\n1,1,2\n\n0,1,2\n", 4, "x does not ascend"},
        {",0,1\n0,1,2\n1,,2\n", 3, "column 2 is empty"},
        {",0,1\n0,1,2\n1,2,\n", 3, "column 3 is empty"},
        {",0,1\n0,1,2\n1,nan,2\n", 3, "column 2 is no finite number"},
        {",0,1\n0,1,2\n1,1e999,2\n", 3, "column 2 is no finite number"},
        {",0,1\n0,1,2\n1,high,2\n", 3, "column 2 is no finite number"},
        {",0,1\n0,1,2\n1,2 3,2\n", 3, "column 2 is no finite number"},
        {",0,1\n0,1,2\n1,2,3x\n", 3, "column 3 is no finite number"},
        {",0,1\n0,1,2\n1,2\n", 3, "there are fewer than 3 fields"},
        {",0,1\n0,1,2\n1,2,3,4\n", 3, "there are more than 3 fields"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(tr_grid_csv, bad[i].text, bad[i].line, bad[i].words);
}

#define HEAD "ncols 3\nnrows 2\nxllcorner 10\nyllcorner 20\ncellsize 2\n"

static void test_asc(void **state)
{
    (void)state;
    Grid g = good(tr_grid_asc, HEAD "NODATA_value -9999\n1 2 3\n4 5 6\n"); // from the north
    assert_true(g.nx == 3 && g.ny == 2);
    assert_true(g.x[0] == 11 && g.x[1] == 13 && g.x[2] == 15); // middles of cells
    assert_true(g.y[0] == 21 && g.y[1] == 23);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) assert_true(g.z[2 * i + j] == (j ? 1 : 4) + i);
    tr_grid_free(&g);
    g = good(tr_grid_asc, HEAD "NODATA_value NaN \n1 2 3\n4 -9999 6\n"); // a height like others
    assert_true(g.z[2] == -9999);
    tr_grid_free(&g);
    g = good(tr_grid_asc, HEAD "NODATA_value -1\n1 2 3\n4 -9999 6\n");
    tr_grid_free(&g);
    g = good(tr_grid_asc, "NCOLS 2\r\nNROWS 2\r\nXLLCENTER -1\r\nYLLCENTER 0\r\ndx 0.5\r\ndy "
                          "2\r\n\r\n 1.5\t-2 \r\n3 4e1");
    assert_true(g.x[0] == -1 && g.x[1] == -0.5 && g.y[0] == 0 && g.y[1] == 2);
    assert_true(g.z[0] == 3 && g.z[1] == 1.5 && g.z[2] == 40 && g.z[3] == -2);
    tr_grid_free(&g);
}

static void test_bad_asc(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *words;
    } bad[] = {
        {"", 0, "is empty"},
        {"1 2\n3 4\n", 0, "ncols must be a whole number"},
        {"ncols 2.5\nnrows 2\n", 0, "ncols must be a whole number"},
        {"ncols 2\nnrows 0\n", 0, "nrows must be a whole number"},
        {"ncols 2\nncols 2\n", 2, "ncols stands twice"},
        {"ncols two\n", 1, "ncols is no finite number"},
        {"ncols 2\nrows 2\n", 2,
         "the head of a grid has ncols nrows xllcorner yllcorner cellsize NODATA_value, and no "
         "other word"},
        {"ncols 2\nnrows 2\nyllcorner 0\ncellsize 1\n1 2\n3 4\n", 0,
         "needs xllcorner or xllcenter"},
        {"ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\nyllcenter 0\ncellsize 1\n1 2\n3 4\n", 0,
         "needs yllcorner or yllcenter"},
        {"ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ndx 1\n1 2\n3 4\n", 0,
         "needs cellsize, or dx and dy"},
        {"ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 0\n1 2\n3 4\n", 0,
         "cellsize must be positive"},
        {HEAD "1 2\n4 5 6\n", 6, "there are fewer than 3 fields"},
        {HEAD "1 2 3\n4 5 6 7\n", 7, "there are more than 3 fields"},
        {HEAD "1 2 3 4 5 6\n", 6, "there are more than 3 fields"},
        {HEAD "1 2 3   \n", 7, "there are fewer than 2 rows"},
        {HEAD "1 2 3\n4 5 6\n7 8 9\n", 8, "there are more than 2 rows"},
        {HEAD "1 2 3\n4 nan 6\n", 7, "column 2 is no finite number"},
        {HEAD "1 2 3\n4 1e400 6\n", 7, "column 2 is no finite number"},
        {HEAD "nodata_value -1\n1 2 3\n4 5 -1\n", 8,
         "column 3 is NODATA: there is a hole at x = 15, y = 21"},
        {HEAD "1 -9999 3\n4 5 6\n", 6, "column 2 is NODATA: there is a hole at x = 13, y = 23"},
        {HEAD "1 -9999.0 3\n4 5 6\n", 6, "column 2 is NODATA: there is a hole at x = 13, y = 23"},
        {HEAD "NODATA_value nan\n1 2 3\n4 5 NaN\n", 8,
         "column 3 is NODATA: there is a hole at x = 15, y = 21"},
        {HEAD "NODATA_value nan\n1 2 3\n4 5 nano\n", 8, "column 3 is no finite number"},
        {HEAD "NODATA_value none\n1 2 3\n4 5 6\n", 6, "nodata_value is no finite number"},
        {"ncols 200000\nnrows 200000\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2\n", 6,
         "there are fewer than 200000 rows of 200000 fields"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(tr_grid_asc, bad[i].text, bad[i].line, bad[i].words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_bad_csv),
        cmocka_unit_test(test_asc),
        cmocka_unit_test(test_bad_asc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
