// SPDX-License-Identifier: Apache-2.0
// Evaluating: the inputs go in front of a lane's values, the executable fills in the rest, and the
// outputs are picked out.
//
// Lanes stand in blocks of as many as one call of the executable does, block after block, so that
// what a call reads is close together, and vector code finds the lanes of a value side by side.
#include "program/evaluate.h"

#include "base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct tr_workspace {
    const Program *program;
    const Executable *executable;
    uint32_t lanes, block_count;
    size_t stride;    // from block to block
    double *values;   // constants stay in place
    bool is_prepared; // what parameters decide is there
};

// The values of a lane are `executable->lanes` apart.
static double *lane_values(const tr_workspace *w, uint32_t lane)
{
    const uint32_t wide = w->executable->lanes;
    assert(wide > 0); // an executable runs at least one
    return w->values + lane / wide * w->stride + lane % wide;
}

// Lanes beyond the last that is wanted fill up their block: they compute, and nobody looks.
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

tr_workspace *tr_workspace_on(const Program *p, const Executable *executable, uint32_t lanes,
                              tr_error *err)
{
    if (!p || has_failed(err)) return NULL;
    assert(lanes > 0 && executable->lanes > 0);
    const uint32_t wide = executable->lanes, blocks = (lanes - 1) / wide + 1;
    const size_t stride = ((size_t)executable->value_count + 1) * wide;
    tr_workspace *w = malloc(sizeof *w);
    double *values = calloc(blocks, stride * sizeof *values);
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
    return p ? tr_workspace_on(p, p->executable, lanes, err) : NULL;
}

tr_workspace *tr_workspace_new(const Program *p, tr_error *err)
{
    return tr_workspace_lanes(p, 1, err);
}

void tr_workspace_free(tr_workspace *workspace)
{
    if (!workspace) return;
    free(workspace->values);
    free(workspace);
}

// ---- moving numbers ------------------------------------------------------------------------

static void put_inputs(const tr_workspace *w, uint32_t lane, const double *inputs, InputSpan span)
{
    const uint32_t wide = w->executable->lanes;
    double *values = lane_values(w, lane) + (size_t)span.first * wide;
    if (wide == 1 && span.count)
        memcpy(values, inputs + span.first, span.count * sizeof *values);
    else
        for (uint32_t i = 0; i < span.count; i++) values[(size_t)i * wide] = inputs[span.first + i];
}

static void put_all_inputs(const tr_workspace *w, uint32_t lane, const double *inputs)
{
    put_inputs(w, lane, inputs, (InputSpan){0, w->program->input_count});
}

static void put_moving_inputs(const tr_workspace *w, uint32_t lane, const double *inputs)
{
    const Program *p = w->program;
    for (uint32_t i = 0; i < p->moving_count; i++) put_inputs(w, lane, inputs, p->moving[i]);
}

static void take_outputs(const tr_workspace *w, uint32_t lane, double *outputs)
{
    const Executable *e = w->executable;
    const double *values = lane_values(w, lane);
    for (uint32_t i = 0; i < w->program->output_count; i++)
        outputs[i] = values[(size_t)e->outputs[i] * e->lanes];
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
    put_all_inputs(w, 0, inputs);
    run_parameters(w, w->values);
    run_state(w, w->values);
    take_outputs(w, 0, outputs);
    w->is_prepared = w->lanes == 1;
}

void tr_evaluate_many(const Program *p, tr_workspace *w, const double *inputs, double *outputs,
                      size_t count)
{
    assert(w->program == p); // a workspace belongs to its program
    const size_t in = p->input_count, out = p->output_count;
    for (size_t done = 0; done < count; done += w->lanes) {
        const uint32_t lanes = count - done < w->lanes ? (uint32_t)(count - done) : w->lanes;
        for (uint32_t k = 0; k < lanes; k++) put_all_inputs(w, k, inputs + (done + k) * in);
        for (uint32_t k = 0; k < lanes; k += w->executable->lanes) {
            run_parameters(w, lane_values(w, k));
            run_state(w, lane_values(w, k));
        }
        for (uint32_t k = 0; k < lanes; k++) take_outputs(w, k, outputs + (done + k) * out);
    }
    w->is_prepared = false;
}

void tr_workspace_prepare(const Program *p, tr_workspace *w, const double *inputs)
{
    assert(w->program == p); // a workspace belongs to its program
    for (uint32_t k = 0; k < w->lanes; k++)
        put_all_inputs(w, k, inputs + (size_t)k * p->input_count);
    for (uint32_t k = 0; k < w->block_count; k++) run_parameters(w, w->values + k * w->stride);
    w->is_prepared = true;
}

void tr_evaluate_prepared(const Program *p, tr_workspace *w, const double *inputs, double *outputs)
{
    assert(w->program == p && w->is_prepared);
    for (uint32_t k = 0; k < w->lanes; k++)
        put_moving_inputs(w, k, inputs + (size_t)k * p->input_count);
    for (uint32_t k = 0; k < w->block_count; k++) run_state(w, w->values + k * w->stride);
    for (uint32_t k = 0; k < w->lanes; k++)
        take_outputs(w, k, outputs + (size_t)k * p->output_count);
}
