// SPDX-License-Identifier: Apache-2.0
// Tables in C: constants of the code, or, where an FMU has many, numbers in a file of their own.
#include "export/c_printer.h"
#include "export/embedded.h"

#include <stdio.h>
#include <string.h>

enum { MOST_TABLES = 1 << 20 }; // bytes, as constants

// ---- the numbers of a table ----------------------------------------------------------------

enum { PIECES = 5 };
static const char *const piece_names[PIECES] = {"knots_0", "bases_0", "knots_1", "bases_1",
                                                "numbers"};

// One of its lists of numbers: how many there are
static size_t piece_of(const Table *table, int which, const double **at)
{
    const TableAxis *ax = &table->axis[0], *ay = &table->axis[1], *axis = which < 2 ? ax : ay;
    const bool is_plane = table_is_plane(table);
    if (which == PIECES - 1) {
        *at = table->coefficient;
        return is_plane ? (size_t)ax->count * ay->count : (size_t)ax->pieces * (ax->degree + 1);
    }
    *at = which % 2 ? axis->bases : axis->knot;
    if (axis->count < 2 || (which % 2 && !is_plane)) return 0;
    return which % 2 ? (size_t)axis->pieces * (axis->degree + 1) * (axis->degree + 1) : axis->count;
}

static size_t count_numbers(const Export *code)
{
    const double *at;
    size_t numbers = 0;
    for (uint32_t k = 0; k < code->flat.table_count; k++)
        for (int which = 0; which < PIECES; which++)
            numbers += piece_of(code->flat.tables[k], which, &at);
    return numbers;
}

bool tr_tables_are_small(const Export *code, tr_error *err)
{
    const size_t bytes = count_numbers(code) * sizeof(double);
    if (bytes <= MOST_TABLES) return true;
    tr_fail(err, TR_USAGE, (Place){0},
            "tables of this model take %.1f MB: generated code has at most 1 MB of them",
            (double)bytes / 1e6);
    return false;
}

bool tr_tables_are_apart(const Export *code)
{
    return code->options.is_fmu && count_numbers(code) * sizeof(double) > MOST_TABLES;
}

// ---- a file of them ------------------------------------------------------------------------

// Least significant byte first, on every machine
static void add_number(Buffer *out, double number)
{
    uint64_t bits;
    char bytes[sizeof bits];
    memcpy(&bits, &number, sizeof bits);
    for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (char)(bits >> (8 * k) & 255);
    tr_buffer_add(out, bytes, sizeof bytes);
}

void tr_tables_apart(const Export *code, Buffer *out)
{
    const double *at;
    for (uint32_t k = 0; k < code->flat.table_count; k++)
        for (int which = 0; which < PIECES; which++) {
            const size_t count = piece_of(code->flat.tables[k], which, &at);
            for (size_t i = 0; i < count; i++) add_number(out, at[i]);
        }
}

// FNV-1a, by which the code knows the file again
static uint64_t sum_of(const Buffer *bytes)
{
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t k = 0; k < bytes->length; k++)
        sum = (sum ^ (unsigned char)bytes->at[k]) * 0x100000001b3;
    return sum;
}

// ---- code ----------------------------------------------------------------------------------

static void write_constants(const Printer *p, Buffer *out)
{
    const Flat *flat = &p->code->flat;
    const double *at;
    char head[60];
    for (uint32_t k = 0; k < flat->table_count; k++)
        for (int which = 0; which < PIECES; which++) {
            const size_t count = piece_of(flat->tables[k], which, &at);
            snprintf(head, sizeof head, "table_%u_%s", k, piece_names[which]);
            if (count) tr_c_reals(p, out, head, at, count);
        }
}

// Room for those of the file, and what they must be
static void write_room(const Printer *p, Buffer *out)
{
    Buffer bytes = {0};
    tr_tables_apart(p->code, &bytes);
    out->failed = out->failed || bytes.failed;
    tr_buffer_print(out,
                    "#define TABLE_NUMBERS %zu\n#define TABLE_SUM 0x%llxu\n"
                    "static double table_numbers[TABLE_NUMBERS]; /* of resources/tables.bin */\n",
                    bytes.length / sizeof(double), (unsigned long long)sum_of(&bytes));
    tr_buffer_free(&bytes);
}

// Where a list of numbers is, in the code
static void add_place(Buffer *out, uint32_t table, int which, size_t count, size_t *before)
{
    if (!count)
        tr_buffer_print(out, "0");
    else if (before)
        tr_buffer_print(out, "table_numbers + %zu", *before);
    else
        tr_buffer_print(out, "table_%u_%s", table, piece_names[which]);
    if (before) *before += count;
}

void tr_c_tables(const Printer *p, Buffer *out)
{
    const Flat *flat = &p->code->flat;
    const bool is_apart = tr_tables_are_apart(p->code);
    const double *at;
    size_t count = 0, *before = is_apart ? &count : NULL;
    if (!flat->table_count) return;
    tr_c_fill_in(p, out, tr_embedded_c_table(), NULL);
    if (is_apart)
        write_room(p, out);
    else
        write_constants(p, out);
    tr_buffer_print(out, "static const table tables[] = {\n");
    for (uint32_t k = 0; k < flat->table_count; k++) {
        const Table *table = flat->tables[k];
        tr_buffer_print(out, "    {");
        for (int i = 0; i < 2; i++) {
            const TableAxis *axis = &table->axis[i];
            tr_buffer_print(out, "%s{", i ? ", " : "{");
            for (int which = 2 * i; which < 2 * i + 2; which++) {
                add_place(out, k, which, piece_of(table, which, &at), before);
                tr_buffer_print(out, ", ");
            }
            tr_buffer_print(out, "%u, %u, %u}", axis->count, axis->pieces, axis->degree);
        }
        tr_buffer_print(out, "}, ");
        add_place(out, k, PIECES - 1, piece_of(table, PIECES - 1, &at), before);
        tr_buffer_print(out, ", %d},\n", table->hold);
    }
    tr_buffer_print(out, "};\n\n");
}
