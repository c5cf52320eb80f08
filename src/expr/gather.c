// SPDX-License-Identifier: Apache-2.0
// The rules are the simplifier's: all that is done here is to apply them again to every node.
#include "expr/gather.h"

#include "expr/walk.h"

#include <assert.h>
#include <stdlib.h>

void tr_gather(Graph *graph, const Expr *of, size_t count, Expr *out)
{
    Reach reach;
    uint32_t *map = tr_reach(graph, of, count, &reach) ? tr_reach_map(graph, &reach) : NULL;
    assert(!graph->gathers); // nobody gathers while another does
    graph->gathers = true;
    for (uint32_t k = 0; map && k < reach.count; k++) {
        const uint32_t id = reach.ids[k];
        const Node node = graph->nodes[id]; // a copy: building may move the nodes
        map[id] = tr_op[node.op].operands ? tr_rebuild(graph, node, map).id : id;
    }
    graph->gathers = false;
    for (size_t i = 0; i < count; i++) out[i] = expr_at(graph, map ? map[of[i].id] : 0);
    tr_reach_free(&reach);
    free(map);
}
