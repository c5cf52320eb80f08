// SPDX-License-Identifier: Apache-2.0
// Numbers are put where they belong as they are read: there is no second copy of a large grid.
#include "base/grid.h"

#include "base/error.h"
#include "base/lines.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// To the next line that holds something; false at the end.
static bool find_line(Reader *r)
{
    for (skip_blanks(r); r->at < r->end && is_line_end(r); skip_blanks(r)) next_line(r);
    return r->at < r->end;
}

__attribute__((format(printf, 2, 3))) static bool refuse(Reader *r, const char *format, ...)
{
    char words[300];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    tr_fail(r->err, TR_INVALID, place_at(r->line, 0), "%s", words);
    return false;
}

// A finite number with its sign
static bool read_number(Reader *r, double *value)
{
    skip_blanks(r);
    const char *field = r->at;
    const bool is_negative = r->at < r->end && *r->at == '-';
    if (r->at < r->end && (*r->at == '-' || *r->at == '+')) r->at++;
    size_t used = 0;
    if (!tr_number_read(r->at, (size_t)(r->end - r->at), &used, value)) return false;
    r->at += used;
    if (is_negative) *value = -*value;
    skip_blanks(r);
    if (!isfinite(*value)) r->at = field;
    return isfinite(*value);
}

static bool has_semicolon(Reader r) // from here to the end of its line
{
    while (!is_line_end(&r) && *r.at != ';') r.at++;
    return !is_line_end(&r);
}

static bool refuse_field(Reader *r, size_t column)
{
    const bool is_empty = is_line_end(r) || *r->at == ',';
    if (is_empty) return refuse(r, "column %zu is empty", column);
    return refuse(r, "column %zu is no finite number%s", column,
                  has_semicolon(*r) ? ": numbers stand between ',' and not ';'" : "");
}

// Room for as many numbers as are asked for, but no more than a text has room for, too
static double *make_room(Reader *r, size_t rows, size_t columns, size_t length)
{
    const size_t most = length / 2 + 1;
    const size_t count = rows && columns > most / rows ? most : rows * columns;
    double *room = malloc((count + 1) * sizeof *room);
    if (!room) tr_fail_memory(r->err);
    return room;
}

static bool begin(Reader *r, const char *text, size_t length, Grid *grid, tr_error *err)
{
    *grid = (Grid){0};
    *r = (Reader){.at = text, .end = text + length, .line = 1, .is_discreet = true, .err = err};
    skip_mark(r);
    if (find_line(r)) return true;
    tr_fail(err, TR_INVALID, (Place){0}, "is empty");
    return false;
}

static bool finish(Grid *grid, const tr_error *err)
{
    if (!has_failed(err)) return true;
    tr_grid_free(grid);
    return false;
}

void tr_grid_free(Grid *grid)
{
    free(grid->x);
    free(grid->y);
    free(grid->z);
    *grid = (Grid){0};
}

// ---- numbers between commas ----------------------------------------------------------------

static size_t count_commas(Reader r) // of a line
{
    size_t count = 0;
    for (; !is_line_end(&r); r.at++) count += *r.at == ',';
    return count;
}

static size_t count_lines(Reader r) // or more
{
    size_t count = 1;
    for (; r.at < r.end; r.at++) count += is_line_end(&r);
    return count;
}

// Names where y should be: it is another kind of file.
static bool is_word(const Reader *r)
{
    const char c = r->at < r->end ? *r->at : 0;
    return begins_name(c) || c == '"';
}

static bool refuse_first_row(Reader *r, size_t column)
{
    if (!is_word(r)) return refuse_field(r, column);
    return refuse(r,
                  "column %zu is no finite number: the first row of a grid is its y; where columns "
                  "have names, 'x' and 'value' say which",
                  column);
}

static bool read_first_row(Reader *r, Grid *grid)
{
    const size_t columns = count_commas(*r);
    if (!columns && has_semicolon(*r)) return refuse(r, "numbers stand between ',' and not ';'");
    if (!columns || columns > INT32_MAX)
        return refuse(r, "the first row of a grid is its y, behind a corner: ', 0, 1, 2'");
    grid->y = make_room(r, 1, columns, (size_t)(r->end - r->at));
    if (!grid->y) return false;
    while (*r->at != ',') r->at++; // the corner
    for (grid->ny = 0; grid->ny < columns; grid->ny++) {
        r->at++;
        if (!read_number(r, &grid->y[grid->ny]) || !(is_line_end(r) || *r->at == ','))
            return refuse_first_row(r, grid->ny + 2u);
        if (grid->ny && !(grid->y[grid->ny] > grid->y[grid->ny - 1]))
            return refuse(r, "y does not ascend in column %u", grid->ny + 2);
    }
    next_line(r);
    return true;
}

static bool read_row(Reader *r, Grid *grid)
{
    double *x = &grid->x[grid->nx], *z = grid->z + (size_t)grid->nx * grid->ny;
    for (uint32_t k = 0; k <= grid->ny; k++) {
        if (!read_number(r, k ? &z[k - 1] : x)) return refuse_field(r, k + 1u);
        const bool is_last = k == grid->ny;
        if (is_last != is_line_end(r)) {
            if (!is_last || (r->at < r->end && *r->at == ','))
                return refuse(r, "there are %s than %u fields", is_last ? "more" : "fewer",
                              grid->ny + 1);
            return refuse_field(r, k + 1u);
        }
        if (!is_last && *r->at != ',') return refuse_field(r, k + 1u);
        if (!is_last) r->at++;
    }
    if (grid->nx && !(*x > x[-1])) return refuse(r, "x does not ascend");
    grid->nx++;
    next_line(r);
    return true;
}

bool tr_grid_csv(const char *text, size_t length, Grid *grid, tr_error *err)
{
    Reader r;
    if (!begin(&r, text, length, grid, err) || !read_first_row(&r, grid)) return finish(grid, err);
    const size_t lines = count_lines(r);
    grid->x = make_room(&r, lines, 1, length);
    grid->z = make_room(&r, lines, grid->ny, length);
    if (grid->x && grid->z)
        while (find_line(&r) && read_row(&r, grid)) {
        }
    return finish(grid, err);
}

// ---- ESRI ----------------------------------------------------------------------------------

enum { COLUMNS, ROWS, X_CORNER, Y_CORNER, X_CENTRE, Y_CENTRE, CELL, CELL_X, CELL_Y, HOLE, KEYS };
static const char *const keys[KEYS] = {"ncols",     "nrows",       "xllcorner", "yllcorner",
                                       "xllcenter", "yllcenter",   "cellsize",  "dx",
                                       "dy",        "nodata_value"};

#define NO_DATA (-9999) // unless NODATA_value says otherwise

typedef struct Head {
    double value[KEYS];
    bool is_given[KEYS];
} Head;

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool is_at(const Reader *r, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length) return false;
    for (size_t i = 0; i < length; i++)
        if (lower(r->at[i]) != word[i]) return false;
    return r->at + length == r->end || strchr(" \t\r\n", r->at[length]);
}

// What stands for a height that nobody knows may be no number.
static bool read_hole(Reader *r, double *value)
{
    skip_blanks(r);
    if (!is_at(r, "nan")) return false;
    r->at += 3, *value = (double)NAN;
    skip_blanks(r);
    return true;
}

// Lines that begin with a letter
static bool read_head(Reader *r, Head *head)
{
    while (find_line(r) && lower(*r->at) >= 'a' && lower(*r->at) <= 'z') {
        int k = 0;
        while (k < KEYS && !is_at(r, keys[k])) k++;
        if (k == KEYS)
            return refuse(r, "the head of a grid has ncols nrows xllcorner yllcorner "
                             "cellsize NODATA_value, and no other word");
        if (head->is_given[k]) return refuse(r, "%s stands twice", keys[k]);
        r->at += strlen(keys[k]);
        const bool is_hole = k == HOLE && read_hole(r, &head->value[k]);
        head->is_given[k] = (is_hole || read_number(r, &head->value[k])) && is_line_end(r);
        if (!head->is_given[k]) return refuse(r, "%s is no finite number", keys[k]);
        next_line(r);
    }
    return true;
}

static bool is_count(const Head *head, int k)
{
    return head->is_given[k] && head->value[k] >= 1 && head->value[k] <= INT32_MAX &&
           head->value[k] == floor(head->value[k]);
}

static bool check_head(Reader *r, const Head *head)
{
    const bool *given = head->is_given;
    r->line = 0; // it is not there
    for (int k = COLUMNS; k <= ROWS; k++)
        if (!is_count(head, k)) return refuse(r, "%s must be a whole number", keys[k]);
    for (int k = X_CORNER; k <= Y_CORNER; k++)
        if (given[k] == given[k + 2]) return refuse(r, "needs %s or %s", keys[k], keys[k + 2]);
    const bool square = given[CELL], oblong = given[CELL_X] && given[CELL_Y];
    if (square == oblong || (square && (given[CELL_X] || given[CELL_Y])))
        return refuse(r, "needs cellsize, or dx and dy");
    for (int k = CELL; k <= CELL_Y; k++)
        if (given[k] && !(head->value[k] > 0)) return refuse(r, "%s must be positive", keys[k]);
    return true;
}

// Where the middles of cells are along an axis
static void make_axis(const Head *head, int axis, double *x, uint32_t n)
{
    const double cell = head->value[head->is_given[CELL] ? CELL : CELL_X + axis];
    const bool is_corner = head->is_given[X_CORNER + axis];
    const double from = head->value[(is_corner ? X_CORNER : X_CENTRE) + axis];
    for (uint32_t i = 0; i < n; i++) x[i] = from + (i + (is_corner ? 0.5 : 0)) * cell;
}

static int last_line(const char *text, size_t length)
{
    int line = 1;
    for (size_t i = 0; i < length; i++) line += text[i] == '\n';
    return line;
}

// The row that is j-th from the south
static bool read_line(Reader *r, const Head *head, Grid *grid, uint32_t j)
{
    for (uint32_t i = 0; i < grid->nx; i++) {
        double value;
        if (is_line_end(r)) return refuse(r, "there are fewer than %u fields", grid->nx);
        const double hole = head->is_given[HOLE] ? head->value[HOLE] : NO_DATA;
        const bool is_nan = isnan(hole) && read_hole(r, &value);
        if (!is_nan && !read_number(r, &value)) return refuse_field(r, i + 1u);
        if (is_nan || value == hole)
            return refuse(r, "column %u is NODATA: there is a hole at x = %.9g, y = %.9g", i + 1,
                          grid->x[i], grid->y[j]);
        grid->z[(size_t)i * grid->ny + j] = value;
    }
    if (!is_line_end(r)) return refuse(r, "there are more than %u fields", grid->nx);
    next_line(r);
    return true;
}

bool tr_grid_asc(const char *text, size_t length, Grid *grid, tr_error *err)
{
    Reader r;
    Head head = {0};
    if (!begin(&r, text, length, grid, err) || !read_head(&r, &head)) return finish(grid, err);
    const int first = r.line;
    if (!check_head(&r, &head)) return finish(grid, err);
    r.line = first;
    const size_t most = length / 2 + 1;
    if (head.value[COLUMNS] * head.value[ROWS] > (double)most) {
        refuse(&r, "there are fewer than %.9g rows of %.9g fields", head.value[ROWS],
               head.value[COLUMNS]);
        return finish(grid, err);
    }
    grid->nx = (uint32_t)head.value[COLUMNS], grid->ny = (uint32_t)head.value[ROWS];
    grid->x = make_room(&r, 1, grid->nx, length);
    grid->y = make_room(&r, 1, grid->ny, length);
    grid->z = make_room(&r, grid->nx, grid->ny, length);
    if (has_failed(err)) return finish(grid, err);
    make_axis(&head, 0, grid->x, grid->nx);
    make_axis(&head, 1, grid->y, grid->ny);
    for (uint32_t j = grid->ny; j-- > 0 && !has_failed(err);)
        if (!find_line(&r)) {
            const int last = last_line(text, length);
            if (r.line > last) r.line = last;
            refuse(&r, "there are fewer than %u rows", grid->ny);
        } else
            read_line(&r, &head, grid, j);
    if (!has_failed(err) && find_line(&r)) refuse(&r, "there are more than %u rows", grid->ny);
    return finish(grid, err);
}
