// SPDX-License-Identifier: Apache-2.0
// H^T M H dw' = -H^T (dE + M da) with E differentiated by the graph, inverse dynamics too (T190).
#include "reduce/bound_changes.h"

#include "reduce/bound.h"

#include <stdlib.h>

static void take_column(Bound *b, const SlopeColumn *c, const ColumnRoom *room)
{
    const Reduction *r = &b->r;
    const Expr *inverse = room->change + (b->own - b->all);
    uint32_t seeds = 0;
    for (uint32_t j = 0; j < r->unknowns; j++) room->dv[j] = zero(b->graph);
    for (uint32_t i = 0; i < c->count; i++)
        tr_bound_seed(b, c->symbols[i], c->changes[i], room, &seeds);
    tr_bound_move(b, seeds, room);
    for (uint32_t j = 0; j < r->np; j++) room->dE[j] = sub(room->dE[j], inverse[r->p[j]]);
    tr_bound_fold(b, room->dE);
    tr_bound_project(b, room);
}

static bool solve_columns(Bound *b, const SlopeColumn *columns, uint32_t count, Expr *changes)
{
    ColumnRoom room;
    const Matrix f = tr_matrix(b->graph, b->H.columns, count);
    if (!tr_bound_room(b, &room)) return b->graph->failed = true, false;
    for (uint32_t c = 0; c < count && !b->graph->failed; c++) {
        take_column(b, &columns[c], &room);
        for (uint32_t i = 0; i < f.rows; i++) set(f, i, c, room.f[i]);
    }
    free(room.from);
    return !b->graph->failed && tr_bound_put(b, tr_bound_solve(b, f), changes);
}

bool tr_bound_changes(System *s, const Partition *partition, const SlopeColumn *columns,
                      uint32_t count, Expr *changes)
{
    Bound b;
    char room[64];
    const Output *inverse = tr_system_output(s, text_of(tr_system_inner(s, "inverse", room)));
    const bool good = inverse && tr_bound_new(&b, s, partition) && tr_bound_reduce(&b) &&
                      tr_bound_take(&b, inverse->values) &&
                      solve_columns(&b, columns, count, changes);
    if (inverse) tr_bound_free(&b);
    return good && !s->graph->failed;
}
