// SPDX-License-Identifier: Apache-2.0
// Which form is kept: the elimination of all rows from all of M (T70), or that along the
// tree (T182) in one of its ways. No rule tells which is shorter, so they are built and counted.
// Of large systems one is built, which grows with their size and not with its square.
#include "expr/list.h"
#include "reduce/reduction.h"

enum { MOST_TO_COMPARE = 100 }; // unknowns
enum { FEW_AT_ONCE = 3 };       // of many the masses between them would be dear
enum { FEW_FREE = 6 };          // so that links of large systems are projected one by one

bool tr_reduce_globally(Reduction *r, Matrix L)
{
    if (!tr_eliminate(r, L)) return false;
    tr_find_reactions(r);
    tr_add_bias(r);
    return !r->graph->failed;
}

// Operations from the state to the accelerations of what is free, or of all where nothing is
static size_t count_operations(Reduction *r)
{
    Exprs list = {0};
    for (uint32_t c = 0; c < r->x.columns; c++)
        for (uint32_t j = 0; j < (r->kernel ? r->kernel : r->unknowns); j++)
            exprs_add(&list, get(r->x, r->kernel ? r->free[j] : j, c));
    if (list.failed) r->graph->failed = true;
    tr_define_velocities(r);
    tr_system_resolve(r->system, list.at, list.count);
    const size_t count =
        r->graph->failed ? 0 : tr_system_merged_operations(r->system, list.at, list.count);
    tr_exprs_free(&list);
    return count;
}

typedef struct Best {
    Reduction form;
    size_t operations;
    uint32_t noted; // in the system's list
} Best;

static uint32_t note_local(const Reduction *r, LocalWays w, size_t operations)
{
    const unsigned ways = (w.grounds ? FORM_GROUNDS : 0) | (w.late_bias ? FORM_LATE : 0) |
                          (w.articulates ? FORM_ARTICULATES : 0) |
                          (w.projects ? FORM_PROJECTS : 0) | (w.at_once ? FORM_AT_ONCE : 0);
    return tr_system_note_form(r->system, (MadeForm){FORM_LOCAL, ways, operations});
}

static bool try_locally(const Reduction *r, Matrix L, LocalWays ways, Best *best)
{
    Reduction other = *r;
    if (!tr_reduce_locally(&other, L, ways)) return false;
    const size_t operations = count_operations(&other);
    if (r->graph->failed) return false;
    const uint32_t noted = note_local(r, ways, operations);
    if (operations >= best->operations) return false;
    *best = (Best){other, operations, noted};
    return true;
}

// One way after the other, as long as it helps
static void find_ways(const Reduction *r, Matrix L, LocalWays ways, Best *best)
{
    Best local = {*r, SIZE_MAX, 0};
    bool *const each[] = {&ways.grounds, &ways.late_bias, &ways.articulates};
    try_locally(r, L, ways, &local);
    for (size_t i = 0; i < sizeof each / sizeof *each && !r->graph->failed; i++) {
        *each[i] = true;
        if (!try_locally(r, L, ways, &local)) *each[i] = false;
    }
    if (local.operations < best->operations) *best = local;
}

bool tr_goes_along(const Reduction *r)
{
    return r->system->forest && r->unknowns > MOST_TO_COMPARE;
}

Reduction tr_shortest_form(Reduction r, Matrix L)
{
    Best best = {r, SIZE_MAX, 0};
    const bool has_forest = r.system->forest != NULL;
    r.system->form_count = r.system->form_kept = 0;
    if (tr_goes_along(&r)) {
        const bool few = r.kernel <= FEW_FREE;
        const LocalWays ways = {.projects = few, .articulates = !few, .late_bias = true};
        tr_reduce_locally(&best.form, L, ways);
        note_local(&r, ways, 0);
        return best.form;
    }
    const bool good = tr_reduce_globally(&best.form, L);
    best.noted = tr_system_note_form(r.system, (MadeForm){.kind = FORM_GLOBAL});
    if (!good || !has_forest || !r.nD) return best.form;
    best.operations = count_operations(&best.form);
    r.system->forms[best.noted].count = best.operations;
    find_ways(&r, L, (LocalWays){0}, &best);
    // where a pivot is about to vanish these lose more digits, so a few operations do not count
    const size_t enough = best.operations - best.operations / 20;
    best.operations = enough;
    find_ways(&r, L, (LocalWays){.projects = true}, &best);
    if (best.operations < enough) best.operations -= best.operations / 20;
    if (r.kernel && r.kernel <= FEW_AT_ONCE)
        try_locally(&r, L, (LocalWays){.at_once = true}, &best);
    r.system->form_kept = best.noted;
    return best.form;
}
