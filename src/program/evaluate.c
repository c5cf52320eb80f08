// SPDX-License-Identifier: Apache-2.0
// Evaluating: the inputs go in front of a workspace's values, the interpreter fills in the rest,
// and the outputs are picked out.
#include "base/error.h"
#include "program/interpret.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct tr_workspace {
    const Program *program;
    double *values; // as numbered by the program; the constants stay in place
};

tr_workspace *tr_workspace_new(const Program *p, tr_error *err)
{
    if (!p || has_failed(err)) return NULL;
    tr_workspace *workspace = malloc(sizeof *workspace);
    double *values = calloc((size_t)value_count(p) + 1, sizeof *values);
    if (!workspace || !values) {
        free(workspace);
        free(values);
        tr_fail_memory(err);
        return NULL;
    }
    memcpy(values + p->input_count, p->constants, p->constant_count * sizeof *values);
    workspace->program = p;
    workspace->values = values;
    return workspace;
}

void tr_workspace_free(tr_workspace *workspace)
{
    if (!workspace) return;
    free(workspace->values);
    free(workspace);
}

void tr_evaluate(const Program *p, tr_workspace *workspace, const double *inputs, double *outputs)
{
    if (!p || !workspace) return;
    double *values = workspace->values;
    assert(workspace->program == p); // a workspace belongs to its program
    if (p->input_count) memcpy(values, inputs, p->input_count * sizeof *values);
    p->interpreter(p, values);
    for (uint32_t i = 0; i < p->output_count; i++) outputs[i] = values[p->run_outputs[i]];
}
