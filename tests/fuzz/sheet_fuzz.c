// SPDX-License-Identifier: Apache-2.0
// Tables and grids from arbitrary bytes. A wrong one must say what is wrong and where; a right one,
// written out again, must read back as the same names and bits. So must the JSON that stands beside
// runs: its reader never goes beyond the end.
#include "base/grid.h"
#include "base/json.h"
#include "base/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 8192 }; // [bytes] of input

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what, const char *about)
{
    if (holds) return;
    fprintf(stderr, "violated: %s\nabout: %s\n", what, about ? about : "");
    abort();
}

static void check_error(const tr_error *err, const uint8_t *data, size_t size)
{
    int lines = 1;
    for (size_t i = 0; i < size; i++) lines += data[i] == '\n' || data[i] == '\r';
    require(err->text[0], "an error has words", "");
    require(err->status == TR_INVALID, "the user's fault", err->text);
    require(err->line >= 0 && err->line <= lines, "the line is in the file", err->text);
}

static void write_name(Buffer *out, const char *name)
{
    tr_buffer_add(out, "\"", 1);
    for (; *name; name++) {
        if (*name == '"') tr_buffer_add(out, "\"", 1);
        tr_buffer_add(out, name, 1);
    }
    tr_buffer_add(out, "\"", 1);
}

static void write_sheet(const Sheet *sheet, Buffer *out)
{
    for (size_t k = 0; k < sheet->columns; k++) {
        if (k) tr_buffer_add(out, ",", 1);
        write_name(out, sheet->names[k]);
    }
    for (size_t i = 0; i < sheet->rows; i++)
        for (size_t k = 0; k < sheet->columns; k++) {
            tr_buffer_add(out, k ? "," : "\n", 1);
            tr_buffer_number(out, sheet->values[k * sheet->rows + i]);
        }
    tr_buffer_add(out, "\n", 1);
}

static bool is_same(double a, double b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

static void check_twin(const Sheet *sheet)
{
    Buffer text = {0};
    tr_error err = {0};
    write_sheet(sheet, &text);
    Sheet *twin = tr_sheet_parse(text.at, text.length, &err);
    require(twin != NULL, "what is written reads back", err.text);
    require(twin->columns == sheet->columns && twin->rows == sheet->rows, "sizes", text.at);
    for (size_t k = 0; k < sheet->columns; k++)
        require(strcmp(twin->names[k], sheet->names[k]) == 0, "names", sheet->names[k]);
    for (size_t i = 0; i < sheet->rows * sheet->columns; i++)
        require(is_same(twin->values[i], sheet->values[i]), "numbers", text.at);
    tr_sheet_free(twin);
    tr_buffer_free(&text);
}

static void check_json(const uint8_t *data, size_t size)
{
    char *exact = malloc(size ? size : 1);
    if (!exact) return;
    memcpy(exact, data, size);
    const Text text = {exact, size};
    if (tr_json_is_valid(text)) {
        Buffer string = {0};
        tr_json_string(tr_json_member(text, "case"), &string);
        tr_json_string(tr_json_item(text, 0), &string);
        tr_buffer_free(&string);
    }
    free(exact);
}

// One that is refused says where; of one that is read all is finite, and its points ascend.
static void check_grid(const uint8_t *data, size_t size,
                       bool (*read)(const char *, size_t, Grid *, tr_error *))
{
    Grid grid;
    tr_error err = {0};
    char *exact = malloc(size ? size : 1);
    if (!exact) return;
    memcpy(exact, data, size);
    if (!read(exact, size, &grid, &err)) {
        check_error(&err, data, size);
        free(exact);
        return;
    }
    require(err.status == TR_OK, "a grid or an error", err.text);
    for (uint32_t i = 1; i < grid.nx; i++) require(grid.x[i] >= grid.x[i - 1], "x ascends", "");
    for (uint32_t i = 1; i < grid.ny; i++) require(grid.y[i] >= grid.y[i - 1], "y ascends", "");
    for (size_t i = 0; i < (size_t)grid.nx * grid.ny; i++)
        require(isfinite(grid.z[i]), "numbers are finite", "");
    tr_grid_free(&grid);
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LONGEST) return 0;
    tr_error err = {0};
    Sheet *sheet = tr_sheet_parse((const char *)data, size, &err);
    require((sheet == NULL) == (err.status != TR_OK), "a table or an error", err.text);
    if (sheet)
        check_twin(sheet);
    else
        check_error(&err, data, size);
    tr_sheet_free(sheet);
    check_grid(data, size, tr_grid_csv);
    check_grid(data, size, tr_grid_asc);
    if (size) check_json(data, size);
    return 0;
}
