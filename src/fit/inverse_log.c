// SPDX-License-Identifier: Apache-2.0
// Recordings as columns: coordinates, velocities, accelerations, torques and inputs, under the
// names that runs are recorded with. What is missing of velocities and accelerations are slopes of
// splines with continuous second derivatives (T274).
#include "fit/inverse.h"

#include "expr/table.h"
#include "num/dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST_ROWS = 4 }; // that a spline takes

// ---- columns ---------------------------------------------------------------------------------

// All of a column that is used must be numbers.
static bool is_sound(const Log *log, const double *column, const char *name, tr_error *err)
{
    for (size_t i = 0; i < log->sheet->rows; i++)
        if (!isfinite(column[i])) {
            tr_fail(err, TR_INVALID, (Place){0}, "%.200s:%d: '%.60s' is not a finite number",
                    log->path, tr_sheet_line(log->sheet, i), name);
            return false;
        }
    return true;
}

static const double *column_called(const Log *log, const char *name, tr_error *err)
{
    const double *column = tr_sheet_column(log->sheet, name);
    return column && is_sound(log, column, name, err) ? column : NULL;
}

static const double *needed(const Log *log, const char *name, const char *why, tr_error *err)
{
    const double *column = column_called(log, name, err);
    if (column || has_failed(err)) return column;
    Suggestion nearest = {.wanted = text_of(name)};
    char hint[TR_HINT_SIZE];
    for (size_t i = 0; i < log->sheet->columns; i++)
        tr_suggest(&nearest, text_of(log->sheet->names[i]));
    tr_fail(err, TR_INVALID, (Place){0}, "'%.200s' has no column '%.60s'%s%s", log->path, name, why,
            tr_hint(&nearest, hint));
    return NULL;
}

static bool take_times(Log *log, tr_error *err)
{
    const size_t rows = log->sheet->rows;
    log->t = needed(log, "t", ", the time", err);
    for (size_t i = 1; log->t && i < rows; i++)
        if (!(log->t[i] > log->t[i - 1])) {
            tr_fail(err, TR_INVALID, (Place){0}, "%.200s:%d: times must ascend", log->path,
                    tr_sheet_line(log->sheet, i));
            return false;
        }
    if (log->t && rows < LEAST_ROWS)
        tr_fail(err, TR_INVALID, (Place){0}, "'%.200s' has %zu rows: at least %d are needed",
                log->path, rows, LEAST_ROWS);
    return !has_failed(err);
}

static void take_inputs(Log *log, const Regressor *r, tr_error *err)
{
    const System *s = r->system;
    for (uint32_t i = 0; i < s->input_count && !has_failed(err); i++) {
        const Input *input = &s->inputs[i];
        if (input->kind == TR_TIME) log->input[i] = log->t;
        if (input->kind == TR_POSITION) log->input[i] = needed(log, input->name, "", err);
        if (input->kind == TR_VELOCITY || input->kind == TR_INPUT)
            log->input[i] = column_called(log, input->name, err);
    }
}

static void take_torques(Log *log, const Regressor *r, tr_error *err)
{
    const System *s = r->system;
    for (uint32_t k = 0; k < r->n && !has_failed(err); k++) {
        const Output *torque = tr_torque_of(s, r->v[k]);
        if (torque)
            log->torque[k] = needed(log, torque->label, ", the torque of what is driven", err);
    }
}

// An output of the model that is the acceleration itself has its column.
static const double *output_column(const Log *log, const System *s, Expr rate, tr_error *err)
{
    for (uint32_t i = 0; i < s->output_count; i++) {
        const Output *output = &s->outputs[i];
        if (!is_model_output(output) || !rate.id || output->values[0].id != rate.id) continue;
        const double *column = column_called(log, output->label, err);
        if (column || has_failed(err)) return column;
    }
    return NULL;
}

// Called d(VELOCITY), as formulas have it, or vdot.VELOCITY
static void take_accelerations(Log *log, const Regressor *r, tr_error *err)
{
    const System *s = r->system;
    for (uint32_t k = 0; k < r->n && !has_failed(err); k++) {
        const Input *velocity = &s->inputs[r->v[k]];
        for (int i = 0; i < 2 && !log->acceleration[k]; i++) {
            char name[600];
            snprintf(name, sizeof name, i ? "vdot.%s" : "d(%s)", velocity->name);
            log->acceleration[k] = column_called(log, name, err);
        }
        if (!log->acceleration[k])
            log->acceleration[k] = output_column(log, s, velocity->rate, err);
    }
}

// ---- slopes ----------------------------------------------------------------------------------

// The slope of the spline through a column                                              (T274)
static bool differentiate(const Log *log, const double *column, double *slope, tr_error *err)
{
    const size_t rows = log->sheet->rows;
    Table *spline =
        tr_table_through(log->t, (uint32_t)rows, NULL, 1, column, TABLE_MAX_DEGREE, false, err);
    if (!spline) return false;
    for (size_t i = 0; i < rows; i++)
        slope[i] = tr_table_value(spline, log->t[i], 0, table_order(1, 0));
    tr_table_free(spline);
    return true;
}

// Rates of positions give the velocities that are missing; `made` takes them by velocity.
static bool make_velocities(Log *log, Regressor *r, const bool *is_missing, tr_error *err)
{
    const size_t rows = log->sheet->rows, q = r->positions;
    double *slopes = calloc(q * rows + q + r->n + 1, sizeof *slopes);
    double *qdot = slopes ? slopes + q * rows : NULL, *unused = qdot ? qdot + q : NULL;
    if (!slopes) tr_fail_memory(err);
    for (size_t i = 0; i < q && !has_failed(err); i++)
        differentiate(log, log->input[r->q[i]], slopes + i * rows, err);
    for (size_t row = 0; row < rows && !has_failed(err); row++) {
        tr_log_put(log, r, row, unused);
        for (size_t i = 0; i < q; i++) qdot[i] = slopes[i * rows + row];
        if (!tr_regressor_velocities(r, qdot, is_missing)) tr_fail_memory(err);
        for (uint32_t k = 0; k < r->n; k++)
            if (is_missing[k]) log->made[k * rows + row] = r->in[r->v[k]];
    }
    free(slopes);
    return !has_failed(err);
}

static void make_missing(Log *log, Regressor *r, tr_error *err)
{
    const size_t rows = log->sheet->rows;
    bool *is_missing = calloc(r->n + 1u, sizeof *is_missing);
    log->made = calloc(2 * rows * r->n + 1, sizeof *log->made);
    if (!is_missing || !log->made) tr_fail_memory(err);
    for (uint32_t k = 0; !has_failed(err) && k < r->n; k++) {
        is_missing[k] = !log->input[r->v[k]];
        log->made_velocities = log->made_velocities || is_missing[k];
    }
    if (!has_failed(err) && log->made_velocities) make_velocities(log, r, is_missing, err);
    for (uint32_t k = 0; !has_failed(err) && k < r->n; k++)
        if (is_missing[k]) log->input[r->v[k]] = log->made + k * rows;
    for (uint32_t k = 0; !has_failed(err) && k < r->n; k++) {
        double *slope = log->made + (r->n + k) * rows;
        if (log->acceleration[k]) continue;
        log->made_accelerations = true;
        log->acceleration[k] = slope;
        differentiate(log, log->input[r->v[k]], slope, err);
    }
    free(is_missing);
}

// ---- all of it -------------------------------------------------------------------------------

// What is wrong in a file is told with its name and line.
static void name_file(const char *path, tr_error *err)
{
    const tr_error inner = *err;
    if (inner.line <= 0) return;
    *err = (tr_error){0};
    tr_fail(err, inner.status, (Place){0}, "%.200s:%d: %.250s", path, inner.line, inner.text);
}

bool tr_log_open(Log *log, Regressor *r, const char *path, tr_error *err)
{
    *log = (Log){.path = path};
    log->sheet = tr_sheet_read(path, err);
    if (!log->sheet) return name_file(path, err), false;
    log->input = calloc(r->inputs + 1u, sizeof *log->input);
    log->acceleration = calloc(r->n + 1u, sizeof *log->acceleration);
    log->torque = calloc(r->n + 1u, sizeof *log->torque);
    if (!log->input || !log->acceleration || !log->torque) return tr_fail_memory(err), false;
    if (take_times(log, err)) take_inputs(log, r, err);
    if (!has_failed(err)) take_torques(log, r, err);
    if (!has_failed(err)) take_accelerations(log, r, err);
    if (!has_failed(err)) make_missing(log, r, err);
    return !has_failed(err);
}

void tr_log_put(const Log *log, Regressor *r, size_t row, double *torque)
{
    const System *s = r->system;
    for (uint32_t i = 0; i < r->inputs; i++)
        r->in[i] = log->input[i] ? log->input[i][row] : s->inputs[i].value;
    for (uint32_t i = 0; i < r->inputs; i++) {
        const bool is_recorded = s->inputs[i].kind == TR_INPUT && log->input[i];
        const uint32_t follower = is_recorded ? tr_system_follower(s, i) : NO_INPUT;
        if (follower != NO_INPUT) r->in[follower] = 0;
    }
    for (uint32_t k = 0; k < r->n; k++) {
        r->in[r->a[k]] = log->acceleration[k] ? log->acceleration[k][row] : 0;
        torque[k] = log->torque[k] ? log->torque[k][row] : 0;
    }
}

void tr_log_close(Log *log)
{
    tr_sheet_free(log->sheet);
    free(log->input);
    free(log->acceleration);
    free(log->torque);
    free(log->made);
    *log = (Log){0};
}
