// SPDX-License-Identifier: Apache-2.0
// Settling in tests: a model with its plan, poses of it by what is held, and what they say by name.
#ifndef TR_TESTS_SETTLING_H
#define TR_TESTS_SETTLING_H

#include "settle/settle.h"

#include "runs.h"

typedef struct Bench {
    tr_system *system;
    tr_plan *plan;
    tr_settle *settle;
    double columns[200];
} Bench;

static inline Bench bench_of(tr_model *model, const tr_settle_options *o)
{
    tr_error err = {0};
    Bench b = {.system = derived(model, NULL)};
    b.plan = tr_plan_new(b.system, &err);
    b.settle = tr_settle_new(b.plan, o, &err);
    if (!b.settle) fail_msg("%s", err.text);
    assert_true(tr_settle_column_count(b.settle) <= 200);
    return b;
}

static inline void free_bench(Bench *b)
{
    tr_settle_free(b->settle);
    tr_plan_free(b->plan);
    tr_system_free(b->system);
}

static inline void settle_at(Bench *b, const double *held)
{
    tr_error err = {0};
    if (!tr_settle_pose(b->settle, held, b->columns, &err)) fail_msg("%s", err.text);
}

static inline double told(const Bench *b, const char *name)
{
    for (size_t i = 0; i < tr_settle_column_count(b->settle); i++)
        if (strcmp(tr_settle_column_name(b->settle, i), name) == 0) return b->columns[i];
    fail_msg("there is no column %s", name);
    return 0;
}

static inline double told_of(const Bench *b, const char *format, const char *contact)
{
    char name[100];
    snprintf(name, sizeof name, format, contact);
    return told(b, name);
}

static inline tr_settle_options by(const char *way, const char *const *holds, size_t count)
{
    tr_settle_options o = tr_settle_defaults();
    o.by = way, o.holds = holds, o.hold_count = count;
    return o;
}

static inline tr_model *model_beside(const char *name)
{
    return model_in(REFERENCE_DIR "/terrain", name);
}

static const char *const at_x[] = {"x"}, *const in_plane[] = {"body.x", "body.y", "body.yaw"};

static inline tr_plan *plan_of(tr_model *model, tr_system **system)
{
    tr_error err = {0};
    *system = derived(model, NULL);
    tr_plan *plan = tr_plan_new(*system, &err);
    if (!plan) fail_msg("%s", err.text);
    return plan;
}

#endif
