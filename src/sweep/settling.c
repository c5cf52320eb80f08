// SPDX-License-Identifier: Apache-2.0
// Runs that are poses on the ground.
#include "sweep/variant.h"

#include "base/error.h"

#include <string.h>

static tr_settle *open_settle(const Sweep *s, Plan *plan, tr_error *err)
{
    tr_settle_options o = tr_settle_defaults();
    if (s->options->by) o.by = s->options->by;
    o.holds = s->options->holds, o.hold_count = s->options->hold_count;
    return tr_settle_new(plan, &o, err);
}

// There is nothing but the sweep.
void *tr_settling_open(const Sweep *s, tr_error *err)
{
    (void)err;
    return (void *)s;
}

void tr_settling_close(void *worker) { (void)worker; }

static bool take_pose(void *worker, const double *values, double *row, tr_error *err)
{
    const Sweep *s = worker;
    System *system = tr_variant_derive(s, values, err);
    Plan *plan = system ? tr_plan_new(system, err) : NULL;
    tr_settle *settle = plan ? open_settle(s, plan, err) : NULL;
    const bool is_alike = settle && tr_settle_column_count(settle) == s->row_count;
    if (settle && !is_alike)
        tr_fail(err, TR_FAILED, (Place){0}, "it has other columns than the model as it stands");
    const bool good = is_alike && tr_settle_pose(settle, NULL, row, err);
    tr_settle_free(settle);
    tr_plan_free(plan);
    tr_system_free(system);
    return good;
}

bool tr_settling_prepare(Sweep *s, tr_error *err)
{
    tr_settle *settle = open_settle(s, s->plan, err);
    s->method = "", s->block_size = 1;
    bool good = settle && tr_sweep_rows(s, (uint32_t)tr_settle_column_count(settle), err);
    for (uint32_t i = 0; good && i < s->row_count; i++) {
        const char *name = tr_settle_column_name(settle, i),
                   *unit = tr_settle_column_unit(settle, i);
        s->row_names[i] = tr_arena_text(&s->arena, name, strlen(name));
        s->row_units[i] = tr_arena_text(&s->arena, unit, strlen(unit));
        if (!s->row_names[i] || !s->row_units[i]) tr_fail_memory(err), good = false;
    }
    tr_settle_free(settle);
    return good;
}

bool tr_settling_work(void *worker, Block *b, tr_error *err)
{
    return tr_variants_work(worker, b, take_pose, worker, err);
}
