// SPDX-License-Identifier: Apache-2.0
// Evaluating: the inputs go in front of a lane's values, the executable fills in the rest, and the
// outputs are picked out.
//
// Lanes stand in blocks of as many as one call of the executable does, block after block, so that
// what a call reads is close together, and vector code finds the lanes of a value side by side.
#include "program/evaluate.h"

#include "base/error.h"
#include "program/executable.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct tr_workspace {
    const Program *program;
    const Executable *executable;
    uint32_t lanes, block_count;
    size_t stride;      // from block to block
    double *values;     // constants stay in place
    bool is_prepared;   // what parameters decide is there
    tr_workspace *many; // for several evaluations, once somebody asks
};

// The values of a lane are `executable->lanes` apart.
static double *lane_values(const tr_workspace *w, uint32_t lane)
{
    const uint32_t wide = w->executable->lanes;
    assert(wide > 0); // an executable runs at least one
    return w->values + lane / wide * w->stride + lane % wide;
}

// Of all lanes of the last block, too
static void put_constants(tr_workspace *w)
{
    const Program *p = w->program;
    const uint32_t wide = w->executable->lanes;
    for (uint32_t lane = 0; lane < w->block_count * wide; lane++) {
        double *values = lane_values(w, lane);
        for (uint32_t i = 0; i < p->constant_count; i++)
            values[(size_t)(p->input_count + i) * wide] = p->constants[i];
    }
}

// A block of eight lanes fills whole lines of the cache.
static double *make_values(size_t count)
{
    enum { LINE = 64 };
    if (count > SIZE_MAX / sizeof(double) - LINE) return NULL;
    const size_t bytes = (count * sizeof(double) + LINE - 1) / LINE * LINE;
    double *values = aligned_alloc(LINE, bytes);
    if (values) memset(values, 0, bytes);
    return values;
}

// Behind the last value there is room for one more, which two numbers at a time may read.
tr_workspace *tr_workspace_on(const Program *p, const Executable *executable, uint32_t lanes,
                              tr_error *err)
{
    if (!p || has_failed(err)) return NULL;
    assert(lanes > 0 && executable->lanes > 0);
    const uint32_t wide = executable->lanes, blocks = (lanes - 1) / wide + 1;
    const size_t stride = ((size_t)executable->value_count + 1) * wide;
    tr_workspace *w = malloc(sizeof *w);
    double *values = stride > SIZE_MAX / blocks ? NULL : make_values(blocks * stride);
    if (!w || !values) {
        free(w);
        free(values);
        tr_fail_memory(err);
        return NULL;
    }
    *w = (tr_workspace){.program = p,
                        .executable = executable,
                        .lanes = lanes,
                        .block_count = blocks,
                        .stride = stride,
                        .values = values};
    put_constants(w);
    return w;
}

tr_workspace *tr_workspace_lanes(const Program *p, uint32_t lanes, tr_error *err)
{
    if (!p || has_failed(err)) return NULL;
    const Executable *executable = tr_executable(p, lanes > 1 ? WAY_LANES : WAY_ONE);
    return executable ? tr_workspace_on(p, executable, lanes, err) : (tr_fail_memory(err), NULL);
}

tr_workspace *tr_workspace_new(const Program *p, tr_error *err)
{
    return tr_workspace_lanes(p, 1, err);
}

static void free_room(tr_workspace *w)
{
    if (w) free(w->values);
    free(w);
}

void tr_workspace_free(tr_workspace *w)
{
    if (w) free_room(w->many);
    free_room(w);
}

// ---- moving numbers ------------------------------------------------------------------------

// Inputs of as many rows as a block has lanes, number by number: so that whole blocks are written.
static inline void put_lanes(double *values, UsedInputs used, const double *rows, size_t stride,
                             uint32_t wide)
{
    for (uint32_t i = 0; i < used.count; i++)
        for (uint32_t k = 0; k < wide; k++)
            values[used.at[i] * (size_t)wide + k] = rows[k * stride + used.at[i]];
}

// Into a block. Lanes beyond `count` do what the last one does, and nobody looks.
static void put_inputs(const tr_workspace *w, double *values, ProgramPart part, const double *rows,
                       size_t stride, uint32_t count)
{
    const UsedInputs used = w->program->used[part];
    const uint32_t wide = w->executable->lanes;
    if (wide == 1)
        put_lanes(values, used, rows, stride, 1);
    else if (wide == 4 && count >= 4)
        put_lanes(values, used, rows, stride, 4);
    else if (wide == 8 && count >= 8)
        put_lanes(values, used, rows, stride, 8);
    else
        for (uint32_t i = 0; i < used.count; i++)
            for (uint32_t k = 0; k < wide; k++)
                values[used.at[i] * (size_t)wide + k] =
                    rows[(k < count ? k : count - 1) * stride + used.at[i]];
}

static void take_outputs(const tr_workspace *w, const double *values, double *rows, size_t stride,
                         uint32_t count)
{
    const Executable *e = w->executable;
    for (uint32_t i = 0; i < w->program->output_count; i++) {
        const double *lanes = values + (size_t)e->outputs[i] * e->lanes;
        for (uint32_t k = 0; k < e->lanes && k < count; k++) rows[k * stride + i] = lanes[k];
    }
}

static void run_parameters(const tr_workspace *w, double *values)
{
    if (part_end(w->program, PART_PARAMETER))
        w->executable->run(w->executable, PART_PARAMETER, values);
}

static void run_state(const tr_workspace *w, double *values)
{
    w->executable->run(w->executable, PART_STATE, values);
}

// ---- evaluating ----------------------------------------------------------------------------

void tr_evaluate(const Program *p, tr_workspace *w, const double *inputs, double *outputs)
{
    if (!p || !w) return;
    assert(w->program == p); // a workspace belongs to its program
    put_inputs(w, w->values, PART_PARAMETER, inputs, 0, 1);
    put_inputs(w, w->values, PART_STATE, inputs, 0, 1);
    run_parameters(w, w->values);
    run_state(w, w->values);
    take_outputs(w, w->values, outputs, 0, 1);
    w->is_prepared = w->lanes == 1;
}

// As many as fill the room, or fewer
static void evaluate_rows(tr_workspace *w, uint32_t count, const double *inputs,
                          size_t input_stride, double *outputs, size_t output_stride)
{
    for (uint32_t k = 0; k < count; k += w->executable->lanes) {
        double *values = lane_values(w, k);
        const double *rows = inputs + k * input_stride;
        put_inputs(w, values, PART_PARAMETER, rows, input_stride, count - k);
        put_inputs(w, values, PART_STATE, rows, input_stride, count - k);
        run_parameters(w, values);
        run_state(w, values);
        take_outputs(w, values, outputs + k * output_stride, output_stride, count - k);
    }
    w->is_prepared = false;
}

// Where several go side by side; the workspace itself where that cannot be had.
static tr_workspace *room_for_many(const Program *p, tr_workspace *w)
{
    if (w->lanes > 1) return w;
    if (!w->many) {
        const Executable *executable = tr_executable(p, WAY_LANES);
        if (executable) w->many = tr_workspace_on(p, executable, executable->lanes, NULL);
    }
    return w->many ? w->many : w;
}

void tr_evaluate_many(const Program *p, tr_workspace *w, size_t count, const double *inputs,
                      size_t input_stride, double *outputs, size_t output_stride)
{
    if (!p || !w) return;
    assert(w->program == p); // a workspace belongs to its program
    tr_workspace *room = count > 1 ? room_for_many(p, w) : w;
    for (size_t done = 0; done < count; done += room->lanes) {
        const size_t left = count - done;
        const uint32_t rows = left < room->lanes ? (uint32_t)left : room->lanes;
        evaluate_rows(room, rows, inputs + done * input_stride, input_stride,
                      outputs + done * output_stride, output_stride);
    }
}

void tr_workspace_prepare(const Program *p, tr_workspace *w, const double *inputs)
{
    assert(w->program == p); // a workspace belongs to its program
    const size_t stride = p->input_count;
    for (uint32_t k = 0; k < w->lanes; k += w->executable->lanes) {
        double *values = lane_values(w, k);
        put_inputs(w, values, PART_PARAMETER, inputs + k * stride, stride, w->lanes - k);
        run_parameters(w, values);
    }
    w->is_prepared = true;
}

void tr_evaluate_prepared(const Program *p, tr_workspace *w, const double *inputs, double *outputs)
{
    assert(w->program == p && w->is_prepared);
    const size_t in = p->input_count, out = p->output_count;
    for (uint32_t k = 0; k < w->lanes; k += w->executable->lanes) {
        double *values = lane_values(w, k);
        put_inputs(w, values, PART_STATE, inputs + k * in, in, w->lanes - k);
        run_state(w, values);
        take_outputs(w, values, outputs + k * out, out, w->lanes - k);
    }
}

// ---- blocks --------------------------------------------------------------------------------

tr_workspace *tr_workspace_block(const Program *p, tr_error *err)
{
    if (!p || has_failed(err)) return NULL;
    const Executable *executable = tr_executable(p, WAY_LANES);
    if (!executable) return tr_fail_memory(err), NULL;
    return tr_workspace_on(p, executable, executable->lanes, err);
}

uint32_t tr_block_lanes(const tr_workspace *w) { return w->executable->lanes; }

double *tr_block_input(const tr_workspace *w, uint32_t input)
{
    return w->values + (size_t)input * w->executable->lanes;
}

const double *tr_block_output(const tr_workspace *w, uint32_t output)
{
    return w->values + (size_t)w->executable->outputs[output] * w->executable->lanes;
}

void tr_block_run(const tr_workspace *w, ProgramPart part)
{
    if (part == PART_PARAMETER)
        run_parameters(w, w->values);
    else
        run_state(w, w->values);
}
