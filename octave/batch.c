// SPDX-License-Identifier: Apache-2.0
// Many runs of a model side by side, each with the bits of a run of its own.
#include "own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct Batch {
    tr_batch *batch;
    size_t count;
    double *until; // where each run is to go [s]
};

void batch_free(Batch *b)
{
    if (!b) return;
    tr_batch_free(b->batch);
    free(b->until);
    free(b);
}

// ---- what is given -------------------------------------------------------------------------

// Numbers: one for all, or one for each run
typedef struct Each {
    const double *at;
    size_t stride;
} Each;

static double of(Each each, size_t run) { return each.at[each.stride * run]; }

static Each take_each(const mxArray *array, size_t count, const char *what)
{
    const bool is_numbers = array && mxIsDouble(array) && !mxIsComplex(array) && !mxIsSparse(array);
    const size_t n = is_numbers ? mxGetNumberOfElements(array) : 0;
    if (n != 1 && n != count)
        give_up("%s: one number for all is expected, or %u, one for each run", what,
                (unsigned)count);
    return (Each){mxGetPr(array), n > 1};
}

// Which runs it is about; NULL for all
static const uint8_t *take_mask(const mxArray *array, size_t count)
{
    if (!array) return NULL;
    const bool is_double = mxIsDouble(array) && !mxIsComplex(array) && !mxIsSparse(array);
    if ((!is_double && !mxIsLogical(array)) || mxGetNumberOfElements(array) != count)
        give_up("which runs: true or false is expected for each of %u", (unsigned)count);
    uint8_t *mask = mxCalloc(count, sizeof *mask);
    for (size_t i = 0; i < count; i++)
        mask[i] = is_double ? mxGetPr(array)[i] != 0 : mxGetLogicals(array)[i];
    return mask;
}

static bool is_meant(const uint8_t *mask, size_t run) { return !mask || mask[run]; }

static const mxArray *argument(const Call *c, int i) { return i < c->in_count ? c->in[i] : NULL; }

// ---- making one ----------------------------------------------------------------------------

// batch(N, ...)
void batch_new(Call *c)
{
    const double n = take_number(argument(c, 0), "the number of runs");
    if (!(n >= 1) || n > 1e9 || n != floor(n)) give_up("a batch has 1 run at least, not %g", n);
    c->o = take_options(c->in + 1, c->in_count - 1, OF_RUN);
    tr_plan *plan = plan_of(c);
    if (!plan) return;
    tr_run_options r = run_options(c, plan);
    if (!c->o.method && strcmp(r.method, "rk4") != 0 && strcmp(r.method, "lie") != 0)
        r.method = "rk4";
    Batch *b = calloc(1, sizeof *b);
    if (b) {
        b->count = (size_t)n;
        b->until = calloc(b->count, sizeof *b->until);
    }
    if (!b || !b->until)
        ran_out(c);
    else
        b->batch = tr_batch_new(plan, b->count, &r, &c->err);
    const Handle of = {.kind = BATCH, .batch = b};
    if (!c->err.status && !new_handle(c->handle->model, of, &c->out[0])) ran_out(c);
    if (c->err.status) batch_free(b);
}

// ---- setting and moving --------------------------------------------------------------------

// batch_set(NAME, VALUES, WHERE)
void batch_set(Call *c)
{
    Batch *b = c->handle->batch;
    const char *name = take_text(argument(c, 0), "the name");
    const Each values = take_each(argument(c, 1), b->count, name);
    const uint8_t *mask = take_mask(argument(c, 2), b->count);
    tr_batch_write(b->batch, name, values.at, values.stride, mask, &c->err);
}

// batch_reset(WHERE)
void batch_reset(Call *c)
{
    Batch *b = c->handle->batch;
    const uint8_t *mask = take_mask(argument(c, 0), b->count);
    for (size_t i = 0; i < b->count && !c->err.status; i++)
        if (is_meant(mask, i)) tr_batch_reset(b->batch, i, &c->err);
}

static void advance(Call *c)
{
    Batch *b = c->handle->batch;
    listen();
    tr_batch_advance_each(b->batch, b->until, &c->err);
    stop_listening(c);
}

// batch_advance(T)
void batch_advance(Call *c)
{
    Batch *b = c->handle->batch;
    const Each until = take_each(argument(c, 0), b->count, "the time");
    for (size_t i = 0; i < b->count; i++) b->until[i] = of(until, i);
    advance(c);
}

// batch_step(H): each from where it is
void batch_step(Call *c)
{
    Batch *b = c->handle->batch;
    const double h = take_number(argument(c, 0), "the step");
    if (!(h >= 0) || !isfinite(h)) give_up("a step is a number of seconds, 0 or more");
    for (size_t i = 0; i < b->count; i++) b->until[i] = tr_batch_time(b->batch, i) + h;
    advance(c);
}

// ---- asking --------------------------------------------------------------------------------

void batch_times(Call *c)
{
    const Batch *b = c->handle->batch;
    c->out[0] = mxCreateDoubleMatrix(b->count, 1, mxREAL);
    for (size_t i = 0; i < b->count; i++) mxGetPr(c->out[0])[i] = tr_batch_time(b->batch, i);
}

// batch_rows(INDICES): runs by these columns, from 1 on; NaN for those that failed
void batch_rows(Call *c)
{
    const Batch *b = c->handle->batch;
    const mxArray *indices = argument(c, 0);
    if (!indices || !mxIsDouble(indices) || mxIsComplex(indices)) give_up("which columns?");
    const size_t count = mxGetNumberOfElements(indices);
    size_t *columns = mxCalloc(count + 1, sizeof *columns);
    for (size_t k = 0; k < count; k++) columns[k] = (size_t)fmax(mxGetPr(indices)[k], 0) - 1;
    double *rows = mxCalloc(b->count * count + 1, sizeof *rows);
    tr_batch_read(b->batch, columns, count, rows, &c->err);
    c->out[0] = matrix_out(rows, b->count, count);
}

// Why each cannot go on; '' of those that can
void batch_failures(Call *c)
{
    const Batch *b = c->handle->batch;
    mxArray *cell = mxCreateCellMatrix(b->count, 1);
    for (size_t i = 0; i < b->count; i++) {
        tr_error why = {0};
        tr_batch_status(b->batch, i, &why);
        mxSetCell(cell, i, mxCreateString(why.status ? why.text : ""));
    }
    c->out[0] = cell;
}

// ---- snapshots -----------------------------------------------------------------------------

void batch_save(Call *c)
{
    const Batch *b = c->handle->batch;
    mxArray *cell = mxCreateCellMatrix(b->count, 1);
    for (size_t i = 0; i < b->count && !c->err.status; i++) {
        const size_t size = tr_batch_save(b->batch, i, NULL, 0, &c->err);
        mxArray *one = NULL;
        uint8_t *bytes = size ? snapshot_new(size, &one) : NULL;
        if (bytes) tr_batch_save(b->batch, i, bytes, size, &c->err), snapshot_seal(bytes, size);
        if (one) mxSetCell(cell, i, one);
    }
    c->out[0] = cell;
}

// batch_restore(SNAPSHOTS, WHERE): one for all, or a cell with one for each
void batch_restore(Call *c)
{
    Batch *b = c->handle->batch;
    const mxArray *from = argument(c, 0);
    const bool is_cell = from && mxIsCell(from);
    if (is_cell && mxGetNumberOfElements(from) != b->count)
        give_up("a snapshot for all is expected, or a cell of %u", (unsigned)b->count);
    const uint8_t *mask = take_mask(argument(c, 1), b->count);
    size_t size;
    for (size_t i = 0; i < b->count; i++) // before any goes back
        if (is_meant(mask, i)) snapshot_of(is_cell ? mxGetCell(from, i) : from, &size);
    for (size_t i = 0; i < b->count && !c->err.status; i++) {
        if (!is_meant(mask, i)) continue;
        const uint8_t *bytes = snapshot_of(is_cell ? mxGetCell(from, i) : from, &size);
        tr_batch_restore(b->batch, i, bytes, size, &c->err);
    }
}
