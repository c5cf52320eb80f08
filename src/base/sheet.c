// SPDX-License-Identifier: Apache-2.0
// The header is cut into names where it stands; rows are read one after the other, and turned into
// columns when all are there.
#include "base/sheet.h"

#include "base/error.h"
#include "base/file.h"
#include "base/lines.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 30 };

// One name of the header, where it stands in the text; the character behind it becomes its
// terminating zero, and is returned.
static char cut_name(Reader *r, char *text, const char **name)
{
    skip_blanks(r);
    const bool is_quoted = r->at < r->end && *r->at == '"';
    if (is_quoted) r->at++;
    char *to = text + (r->at - text);
    *name = to;
    for (; r->at < r->end && (is_quoted || (*r->at != ',' && !is_line_end(r))); r->at++) {
        if (is_quoted && *r->at == '"' && (r->at + 1 == r->end || r->at[1] != '"')) break;
        if (is_quoted && *r->at == '"') r->at++; // "" stands for one
        r->line += *r->at == '\n';
        *to++ = *r->at;
    }
    while (!is_quoted && to > *name && (to[-1] == ' ' || to[-1] == '\t')) to--;
    if (is_quoted && r->at < r->end) r->at++;
    while (r->at < r->end && *r->at != ',' && !is_line_end(r)) r->at++;
    const char behind = r->at < r->end ? *r->at : '\n';
    if (r->at < r->end) r->at++;
    *to = 0;
    return behind;
}

static bool read_header(Reader *r, Sheet *sheet)
{
    size_t capacity = 0;
    for (char behind = ','; behind == ',';) {
        if (sheet->columns == capacity) {
            capacity = 2 * capacity + 32;
            const char **grown = realloc(sheet->names, capacity * sizeof *grown);
            if (!grown) return tr_fail_memory(r->err), false;
            sheet->names = grown;
        }
        behind = cut_name(r, sheet->text, &sheet->names[sheet->columns++]);
        if (behind == '\r' && r->at < r->end && *r->at == '\n') r->at++;
    }
    r->line++;
    sheet->body = r->at, sheet->body_line = r->line;
    return true;
}

// The characters of a number, with its sign; inf and nan as they are printed. None is nan.
static size_t take_number(Reader *r, double *value)
{
    const bool is_negative = r->at < r->end && *r->at == '-';
    const bool is_signed = is_negative || (r->at < r->end && *r->at == '+');
    const char *digits = r->at + is_signed;
    const size_t left = (size_t)(r->end - digits);
    size_t used = 0;
    if (left >= 3 && memcmp(digits, "inf", 3) == 0)
        *value = (double)INFINITY, used = 3;
    else if (left >= 3 && memcmp(digits, "nan", 3) == 0)
        *value = (double)NAN, used = 3;
    else if (!tr_number_read(digits, left, &used, value))
        *value = (double)NAN;
    if (is_negative) *value = -*value;
    if (!used) return 0;
    r->at += is_signed + used;
    return is_signed + used;
}

// In quotes stands a number, as some programs write all of them, or a text, which is none.
static bool read_quoted(Reader *r, double *value)
{
    r->at++;
    skip_blanks(r);
    take_number(r, value);
    skip_blanks(r);
    const bool is_number =
        r->at < r->end && *r->at == '"' && (r->at + 1 == r->end || r->at[1] != '"');
    if (!is_number) *value = (double)NAN;
    for (; r->at < r->end && !is_line_end(r); r->at++)
        if (*r->at == '"' && (r->at + 1 == r->end || r->at[1] != '"'))
            return r->at++, skip_blanks(r), is_line_end(r) || *r->at == ',';
        else if (*r->at == '"')
            r->at++; // "" stands for one
    return false;
}

// Nothing is nan, and so is a text.
static bool read_field(Reader *r, double *value)
{
    skip_blanks(r);
    if (r->at < r->end && *r->at == '"') return read_quoted(r, value);
    take_number(r, value);
    skip_blanks(r);
    return is_line_end(r) || *r->at == ',';
}

static void refuse_field(const Reader *r, const Sheet *sheet, size_t column, const char *field)
{
    const Text text = {field, strcspn(field, ",\r\n")};
    if (memchr(text.at, ';', text.length))
        tr_fail(r->err, TR_INVALID, place_at(r->line, 0), "numbers stand between ',' and not ';'");
    else if (r->is_discreet)
        tr_fail(r->err, TR_INVALID, place_at(r->line, 0), "column %zu is no number", column + 1);
    else
        tr_fail(r->err, TR_INVALID, place_at(r->line, 0), "'%.*s' in column '%.60s' is no number",
                tr_text_cut(text, 40), text.at, sheet->names[column]);
}

static bool read_row(Reader *r, const Sheet *sheet, double *row)
{
    for (size_t i = 0; i < sheet->columns; i++) {
        const char *field = r->at;
        if (!read_field(r, &row[i])) return refuse_field(r, sheet, i, field), false;
        const bool is_last = i + 1 == sheet->columns;
        if (is_last != is_line_end(r)) {
            if (r->at < r->end)
                tr_fail(r->err, TR_INVALID, place_at(r->line, 0), "there are %s than %zu fields",
                        is_last ? "more" : "fewer", sheet->columns);
            return false; // at the end of the file: a line cut short
        }
        if (!is_last) r->at++;
    }
    return true;
}

// Rows as they come; they are turned into columns in the end.
static double *read_rows(Reader *r, Sheet *sheet)
{
    double *rows = NULL;
    size_t capacity = 0;
    for (; r->at < r->end && !has_failed(r->err); next_line(r)) {
        skip_blanks(r);
        if (is_line_end(r)) continue;
        if (sheet->rows == capacity) {
            capacity = 2 * capacity + 64;
            double *moved = realloc(rows, capacity * sheet->columns * sizeof *rows);
            if (!moved) {
                tr_fail_memory(r->err);
                break;
            }
            rows = moved;
        }
        if (!read_row(r, sheet, rows + sheet->rows * sheet->columns)) break;
        sheet->rows++;
    }
    return rows;
}

static void turn(Sheet *sheet, const double *rows, tr_error *err)
{
    sheet->values = malloc((sheet->rows * sheet->columns + 1) * sizeof *sheet->values);
    if (!sheet->values) {
        tr_fail_memory(err);
        return;
    }
    for (size_t i = 0; i < sheet->rows; i++)
        for (size_t k = 0; k < sheet->columns; k++)
            sheet->values[k * sheet->rows + i] = rows[i * sheet->columns + k];
}

Sheet *tr_sheet_take(char *text, size_t length, const char *name, tr_error *err)
{
    Sheet *sheet = has_failed(err) ? NULL : calloc(1, sizeof *sheet);
    if (!sheet) {
        free(text);
        tr_fail_memory(err);
        return NULL;
    }
    sheet->text = text;
    Reader r = {.at = text, .end = text + length, .line = 1, .is_discreet = !name, .err = err};
    skip_mark(&r);
    if (r.at == r.end || memchr(text, 0, length))
        tr_fail(err, TR_INVALID, (Place){0}, name ? "'%.200s' is no table of numbers" : "%s",
                name ? name : "is no table of numbers");
    else if (read_header(&r, sheet)) {
        double *rows = read_rows(&r, sheet);
        if (!has_failed(err)) turn(sheet, rows, err);
        free(rows);
    }
    if (!has_failed(err)) return sheet;
    tr_sheet_free(sheet);
    return NULL;
}

Sheet *tr_sheet_read(const char *path, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    size_t length = 0;
    char *text = has_failed(err) ? NULL : tr_file_read(path, MOST_BYTES, &length, err);
    return text ? tr_sheet_take(text, length, path, err) : NULL;
}

Sheet *tr_sheet_parse(const char *text, size_t length, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    char *copy = has_failed(err) ? NULL : malloc(length + 1);
    if (!copy) return tr_fail_memory(err), NULL;
    if (length) memcpy(copy, text, length);
    copy[length] = 0;
    return tr_sheet_take(copy, length, "this", err);
}

void tr_sheet_free(Sheet *sheet)
{
    if (!sheet) return;
    free(sheet->text);
    free(sheet->names);
    free(sheet->values);
    free(sheet);
}

int tr_sheet_line(const Sheet *sheet, size_t row)
{
    Reader r = {
        .at = sheet->body, .end = sheet->body + strlen(sheet->body), .line = sheet->body_line};
    for (size_t i = 0; r.at < r.end; next_line(&r)) {
        skip_blanks(&r);
        if (is_line_end(&r)) continue;
        if (i++ == row) break;
        while (!is_line_end(&r)) r.at++;
    }
    return r.line;
}

const double *tr_sheet_column(const Sheet *sheet, const char *name)
{
    for (size_t i = 0; i < sheet->columns; i++)
        if (strcmp(sheet->names[i], name) == 0) return sheet->values + i * sheet->rows;
    return NULL;
}
