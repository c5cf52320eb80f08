// SPDX-License-Identifier: Apache-2.0
// Expressions with definitions in place. Definitions use others, accelerations use velocities and
// those use motions, and many programs of a system use most of them: so what was found is kept with
// the system, for as long as its definitions stay what they are.
#include "expr/system.h"
#include "expr/walk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// ---- what is kept --------------------------------------------------------------------------

void tr_resolution_free(Resolution *r)
{
    free(r->map);
    free(r->definitions);
    *r = (Resolution){0};
}

static bool is_current(const System *s)
{
    const Resolution *r = &s->resolution;
    if (!r->definitions || r->inputs != s->input_count) return false;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (r->definitions[i] != s->inputs[i].definition.id) return false;
    return true;
}

// Notes the definitions that what follows is found with.
static bool begin(System *s)
{
    Resolution *r = &s->resolution;
    tr_resolution_free(r);
    r->definitions = malloc((s->input_count + 1u) * sizeof *r->definitions);
    if (!r->definitions) return false;
    for (uint32_t i = 0; i < s->input_count; i++) r->definitions[i] = s->inputs[i].definition.id;
    r->inputs = s->input_count;
    return true;
}

// Room for all expressions that there are
static bool make_room(System *s)
{
    Resolution *r = &s->resolution;
    const uint32_t before = r->capacity;
    if (!tr_grow((void **)&r->map, &r->capacity, s->graph->count + 1, sizeof *r->map)) return false;
    if (r->capacity > before) memset(r->map + before, 0, (r->capacity - before) * sizeof *r->map);
    return true;
}

// ---- one after the other -------------------------------------------------------------------

// Expressions that are being resolved: those of the caller, or a definition that they wait for.
typedef struct Task {
    uint32_t *ids; // of what it is made of and is not known yet, in increasing order
    uint32_t count, next;
} Task;

typedef struct Resolver {
    System *system;
    uint64_t *marks; // a bit for each expression
    Task *tasks;
    uint32_t count, capacity;
    bool failed;
} Resolver;

static uint32_t definition_of(const Resolver *r, const Node *node)
{
    return node->op == OP_SYMBOL ? r->system->inputs[node->a].definition.id : 0;
}

static void add_id(Resolver *r, Task *task, uint32_t *capacity, uint32_t id)
{
    const uint64_t bit = UINT64_C(1) << id % 64;
    if (r->system->resolution.map[id] || (r->marks[id / 64] & bit) || r->failed) return;
    if (!tr_grow((void **)&task->ids, capacity, task->count + 1, sizeof *task->ids)) {
        r->failed = true;
        return;
    }
    r->marks[id / 64] |= bit;
    task->ids[task->count++] = id;
}

static int by_id(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// Begins with expressions: programs keep the order in which nodes were made.
static void add_task(Resolver *r, const Expr *of, size_t count)
{
    const Graph *graph = r->system->graph;
    Task task = {0};
    uint32_t room = 0;
    for (size_t i = 0; i < count; i++) add_id(r, &task, &room, of[i].id);
    for (uint32_t k = 0; k < task.count && !r->failed; k++) {
        const Node *node = &graph->nodes[task.ids[k]];
        for (int i = 0; i < tr_op[node->op].operands; i++)
            add_id(r, &task, &room, node_operand(node, i));
    }
    for (uint32_t k = 0; k < task.count; k++)
        r->marks[task.ids[k] / 64] &= ~(UINT64_C(1) << task.ids[k] % 64);
    if (task.count) qsort(task.ids, task.count, sizeof *task.ids, by_id);
    if (!tr_grow((void **)&r->tasks, &r->capacity, r->count + 1, sizeof *r->tasks)) {
        r->failed = true;
        free(task.ids);
        return;
    }
    r->tasks[r->count++] = task;
}

// One more expression of the last task, unless it waits for a definition
static void go_on(Resolver *r)
{
    System *s = r->system;
    Task *task = &r->tasks[r->count - 1];
    if (task->next == task->count) {
        free(task->ids);
        r->count--;
        return;
    }
    const uint32_t id = task->ids[task->next];
    uint32_t *map = s->resolution.map;
    const Node node = s->graph->nodes[id]; // a copy: building may move the nodes
    const uint32_t definition = definition_of(r, &node);
    if (definition && !map[definition]) {
        assert(r->count <= s->input_count + 1); // definitions have no circle
        const Expr of = expr_at(s->graph, definition);
        add_task(r, &of, 1);
        return;
    }
    if (!map[id])
        map[id] = definition                    ? map[definition]
                  : tr_is_unchanged(&node, map) ? id
                                                : tr_rebuild(s->graph, node, map).id;
    task->next++;
}

void tr_system_resolve(System *s, Expr *of, size_t count)
{
    Graph *graph = s->graph;
    Resolver r = {.system = s};
    bool good = !graph->failed && (is_current(s) || begin(s)) && make_room(s);
    if (good) r.marks = calloc(s->resolution.capacity / 64 + 1, sizeof *r.marks);
    good = good && r.marks;
    if (good) add_task(&r, of, count);
    while (good && r.count && !r.failed && !graph->failed) go_on(&r);
    for (uint32_t k = 0; k < r.count; k++) free(r.tasks[k].ids);
    if (!good || r.failed) graph->failed = true;
    for (size_t i = 0; i < count; i++)
        of[i] = expr_at(graph, graph->failed ? 0 : s->resolution.map[of[i].id]);
    free(r.tasks);
    free(r.marks);
}
