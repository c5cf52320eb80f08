// SPDX-License-Identifier: Apache-2.0
// Poses along a path: rows of values of what is held in, rows of poses out.
#include "base/json.h"
#include "base/options.h"
#include "base/record.h"
#include "base/sheet.h"
#include "settle/settle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Journey {
    Settle *settle;
    const tr_settle_options *options;
    const Sheet *sheet;
    const char **labels; // of the sheet's columns, then of a pose
    double *held, *row;
    uint32_t columns;
    Record *record;
    OutFile *file; // in place of the record, for JSON
    double *rows;
    size_t *failed, *jumped; // rows, from 1
    char lifted[400];
    tr_settle_summary summary;
} Journey;

static void tell(const Journey *j, const char *words)
{
    if (j->options->tell) j->options->tell(j->options->owner, j->summary.poses, words);
}

// ---- what is held --------------------------------------------------------------------------

// Those of the options, and the columns of the file behind them
static const char **join_holds(const tr_settle_options *o, const Sheet *sheet, tr_error *err)
{
    const char **all = calloc(o->hold_count + sheet->columns + 1, sizeof *all);
    if (!all) return tr_fail_memory(err), NULL;
    for (size_t i = 0; i < o->hold_count; i++) all[i] = o->holds[i];
    for (size_t i = 0; i < sheet->columns; i++) all[o->hold_count + i] = sheet->names[i];
    return all;
}

static bool open_settle(Journey *j, Plan *plan, tr_error *err)
{
    tr_settle_options o = *j->options;
    const char **holds = join_holds(&o, j->sheet, err);
    if (!holds) return false;
    o.holds = holds, o.hold_count += j->sheet->columns;
    j->settle = tr_settle_new(plan, &o, err);
    free(holds);
    return j->settle != NULL;
}

// ---- rows ----------------------------------------------------------------------------------

static bool open_rows(Journey *j, const char *output, const char *form, tr_error *err)
{
    const Settle *p = j->settle;
    const size_t in = j->sheet->columns, rows = j->sheet->rows;
    const char *path = output ? output : "-";
    j->columns = (uint32_t)in + p->column_count;
    j->labels = calloc(j->columns + 1u, sizeof *j->labels);
    j->held = calloc(p->hold_count + 1u, sizeof *j->held);
    j->row = calloc(j->columns + 1u, sizeof *j->row);
    j->failed = calloc(rows + 1, sizeof *j->failed);
    j->jumped = calloc(rows + 1, sizeof *j->jumped);
    if (!j->labels || !j->held || !j->row || !j->failed || !j->jumped)
        return tr_fail_memory(err), false;
    for (size_t i = 0; i < in; i++) j->labels[i] = j->sheet->names[i];
    uint32_t count = (uint32_t)in;
    for (uint32_t k = 0; k < p->column_count; k++) {
        bool is_held = false; // a coordinate that the file has stands in one column
        for (size_t i = 0; i < in; i++)
            is_held = is_held || strcmp(j->sheet->names[i], p->labels[k]) == 0;
        if (!is_held) j->labels[count++] = p->labels[k];
    }
    j->columns = count;
    if (tr_record_is_text(path) && (form || ends_with(path, ".json"))) {
        j->file = tr_file_create(path, err);
        j->rows = calloc(rows * j->columns + 1, sizeof *j->rows);
        if (!j->rows) tr_fail_memory(err);
    } else
        j->record = tr_record_open(path, j->labels, j->columns, err);
    return !has_failed(err);
}

static void fill_row(Journey *j, size_t i, bool is_found)
{
    const Settle *p = j->settle;
    const size_t in = j->sheet->columns;
    uint32_t at = (uint32_t)in;
    for (size_t k = 0; k < in; k++) j->row[k] = j->sheet->values[k * j->sheet->rows + i];
    for (uint32_t k = 0; k < p->column_count; k++) {
        bool is_held = false;
        for (size_t c = 0; c < in; c++)
            is_held = is_held || strcmp(j->labels[c], p->labels[k]) == 0;
        if (!is_held) j->row[at++] = is_found ? p->columns[k] : (double)NAN;
    }
}

// What lifts off, and what is back: names that changed since the last pose
static void tell_lifted(Journey *j)
{
    const char *lifted = tr_settle_lifted(j->settle);
    char words[500];
    if (strcmp(lifted, j->lifted) == 0) return;
    snprintf(words, sizeof words, lifted[0] ? "%s in the air" : "all contacts touch again%s",
             lifted);
    tell(j, words);
    snprintf(j->lifted, sizeof j->lifted, "%s", lifted);
}

// A cell that is empty, nan or inf is none to hold: to the library nan means the start's value.
static void take_row(Journey *j, size_t i, tr_error *err)
{
    const size_t first = j->options->hold_count;
    for (size_t k = 0; k < first; k++) j->held[k] = (double)NAN;
    for (size_t k = 0; k < j->sheet->columns && !has_failed(err); k++) {
        j->held[first + k] = j->sheet->values[k * j->sheet->rows + i];
        if (!isfinite(j->held[first + k]))
            tr_fail(err, TR_FAILED, (Place){0}, "no number in column '%.100s'", j->sheet->names[k]);
    }
}

static void settle_row(Journey *j, size_t i, tr_error *err)
{
    Settle *p = j->settle;
    tr_error own = {0};
    char words[600];
    take_row(j, i, &own);
    j->summary.poses++;
    const bool is_found = !has_failed(&own) && tr_settle_pose(p, j->held, p->columns, &own);
    if (!is_found) {
        if (own.status == TR_USAGE || own.status == TR_NO_MEMORY) { // of every row
            *err = own;
            j->summary.poses--;
            return;
        }
        j->failed[j->summary.failures++] = j->summary.poses;
        tell(j, own.text);
    } else {
        const bool jumped = tr_settle_has_jumped(p);
        if (jumped) {
            j->jumped[j->summary.jumps++] = j->summary.poses;
            snprintf(words, sizeof words, "jumps to another branch");
            tell(j, words);
        }
        tell_lifted(j);
    }
    fill_row(j, i, is_found);
    if (j->record) tr_record_row(j->record, j->row, err);
    for (uint32_t k = 0; j->rows && k < j->columns; k++)
        j->rows[(j->summary.poses - 1) * j->columns + k] = j->row[k];
}

static void list_rows(Json *json, const char *key, const size_t *rows, size_t count)
{
    tr_json_open(json, key, '[');
    for (size_t i = 0; i < count; i++) tr_json_number(json, NULL, (double)rows[i]);
    tr_json_close(json, ']');
}

static void write_json(Journey *j, tr_error *err)
{
    Json json = {0};
    tr_json_open(&json, NULL, '{');
    tr_json_text(&json, "by", j->settle->way->name);
    tr_json_texts(&json, "columns", j->labels, j->columns);
    tr_json_matrix(&json, "rows", j->rows, j->summary.poses, j->columns);
    list_rows(&json, "failed", j->failed, j->summary.failures);
    list_rows(&json, "jumps", j->jumped, j->summary.jumps);
    tr_json_close(&json, '}');
    tr_buffer_add(&json.text, "\n", 1);
    if (json.text.failed)
        tr_fail_memory(err);
    else
        fwrite(json.text.at, 1, json.text.length, tr_file_stream(j->file));
    tr_buffer_free(&json.text);
}

static void close_rows(Journey *j, tr_error *err)
{
    if (j->file && !has_failed(err)) write_json(j, err);
    if (j->file) tr_file_commit(j->file, err);
    if (j->record && has_failed(err))
        tr_record_discard(j->record);
    else if (j->record)
        tr_record_close(j->record, err);
    if (j->summary.failures)
        tr_fail(err, TR_FAILED, (Place){0}, "%zu of %zu rows have no pose", j->summary.failures,
                j->summary.poses);
}

bool tr_settle_path(Plan *plan, const tr_settle_options *options, const char *path,
                    const char *output, const char *form, tr_settle_summary *summary, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_settle_options o = tr_settle_defaults();
    if (!plan || !path || !tr_take_options(&o, sizeof o, options, "tr_settle_defaults", err))
        return false;
    Sheet *sheet = tr_sheet_read(path, err);
    Journey j = {.options = &o, .sheet = sheet};
    if (sheet && open_settle(&j, plan, err) && open_rows(&j, output, form, err))
        for (size_t i = 0; i < sheet->rows && !has_failed(err); i++) settle_row(&j, i, err);
    close_rows(&j, err);
    if (summary) *summary = j.summary;
    tr_settle_free(j.settle);
    tr_sheet_free(sheet);
    free(j.labels);
    free(j.held);
    free(j.row);
    free(j.rows);
    free(j.failed);
    free(j.jumped);
    return !has_failed(err);
}
