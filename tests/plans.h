// SPDX-License-Identifier: Apache-2.0
// Flows, states and programs of a system for which nobody keeps a plan.
#ifndef TR_TESTS_PLANS_H
#define TR_TESTS_PLANS_H

#include "plan/flow.h"

// With a plan of its own, which close_flow frees.
static inline Flow *open_flow(const tr_system *system, tr_error *err)
{
    tr_plan *plan = tr_plan_new(system, err);
    Flow *flow = tr_flow_new(plan, NULL, err);
    if (!tr_flow_ready(flow, FLOW_RUN, err)) tr_flow_free(flow), flow = NULL;
    if (!flow) tr_plan_free(plan);
    return flow;
}

static inline void close_flow(Flow *flow)
{
    tr_plan *plan = flow ? flow->plan : NULL;
    tr_flow_free(flow);
    tr_plan_free(plan);
}

// The initial state: tr_input_count numbers
static inline bool initial_of(const tr_system *system, double *inputs, tr_error *err)
{
    tr_plan *plan = tr_plan_new(system, err);
    const bool good = tr_initial(plan, inputs, tr_input_count(system), err);
    tr_plan_free(plan);
    return good;
}

static inline tr_program *compile_reduced(const tr_system *system, const char *outputs,
                                          const tr_compile_options *options, tr_error *err)
{
    tr_plan *plan = tr_plan_new(system, err);
    tr_program *program = tr_compile_in(plan, outputs, options, err);
    tr_plan_free(plan);
    return program;
}

// The system reduced where it starts, on its own
static inline tr_system *reduced_system(const tr_system *system, tr_error *err)
{
    Flow *flow = open_flow(system, err);
    tr_system *reduced = flow ? tr_flow_system(flow, err) : NULL;
    close_flow(flow);
    return reduced;
}

#endif
