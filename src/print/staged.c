// SPDX-License-Identifier: Apache-2.0
#include "print/staged.h"

#include "expr/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_LINE = 24,       // operations of one quantity, as the graph has them
    WORTH_NAMING = 2,     // operations that a name saves
    MOST_QUANTITIES = 300 // budgets of one quantity, for all of them
};

// What comes first where nothing else decides
typedef enum Phase {
    PHASE_CONSTANTS,
    PHASE_ANGLES,
    PHASE_POSES,
    PHASE_VELOCITIES,
    PHASE_ACCELERATIONS,
    PHASE_MASSES,
    PHASE_MOMENTA,
    PHASE_FORCES,
    PHASE_REST
} Phase;

static const char *const phase_words[] = {
    "constants", "sines and cosines", "rotations", "velocities",       "accelerations",
    "masses",    "momenta",           "forces",    "what is left over"};

// What a node is called
typedef struct Label {
    char *name;       // NULL: it has none yet
    const char *body; // NULL: of none
    Phase phase;
    bool is_known; // by the derivation, or by the model
} Label;

typedef struct Stager {
    System *system;
    Graph *graph;
    Reach reach;
    const Expr *of;
    uint32_t of_count;
    uint32_t *uses, *inlined; // by node: by how many, and operations until the next quantities
    uint8_t *is_step, *is_unwanted;
    uint32_t *symbols;  // by node: of steps
    const Term **forms; // by expression: what was found
    uint32_t form_capacity;
    uint32_t *meanings, meaning_capacity; // by expression: the symbol of the step that is it
    Label *labels;
    Staged *out;
    Known *known;
    Rules rules;
    tr_error *err;
} Stager;

// ---- names that are known ------------------------------------------------------------------

static bool is_leaf(const Node *node) { return tr_op[node->op].operands == 0; }

static void label(Stager *g, Expr of, const char *body, Phase phase, const char *name)
{
    const Expr x = tr_substitute_kept(g->graph, of, &g->known->kept);
    const Node *node = node_of(x);
    if (!tr_reach_has(&g->reach, x) || is_leaf(node) || node->op == OP_NEG) return;
    Label *l = &g->labels[x.id];
    free(l->name);
    *l = (Label){strdup(name), body, phase, true};
    if (!l->name) g->graph->failed = true;
}

static Phase phase_of(CalledKind kind)
{
    switch (kind) {
    case CALLED_V:
    case CALLED_W: return PHASE_VELOCITIES;
    case CALLED_A:
    case CALLED_ALPHA: return PHASE_ACCELERATIONS;
    case CALLED_MASS:
    case CALLED_MOMENT:
    case CALLED_INERTIA: return PHASE_MASSES;
    case CALLED_P:
    case CALLED_L: return PHASE_MOMENTA;
    default: return PHASE_FORCES;
    }
}

// What the derivation found: of two names the older one stays
static void label_called(Stager *g)
{
    static const char *const letters[] = {"v", "w", "a", "alpha", "f", "n", "F",
                                          "N", "m", "h", "I",     "p", "L"};
    char name[400];
    for (const Called *c = g->system->called; c; c = c->next) {
        snprintf(name, sizeof name, "%s_%.300s%s%s", letters[c->kind], c->body,
                 c->component[0] ? "_" : "", c->component);
        label(g, expr_at(g->graph, c->node), c->body, phase_of(c->kind), name);
    }
}

// Rotations, and formulas of the model that depend on parameters alone
static void label_known(Stager *g)
{
    const System *s = g->system;
    char name[400];
    label_called(g);
    for (uint32_t i = s->scene.body_count; i-- > 0;) { // what several share is the first one's
        const SceneBody *b = &s->scene.bodies[i];
        for (int k = 0; k < 9 && !b->is_part; k++) {
            snprintf(name, sizeof name, "%.300s.R%d%d", b->name, k / 3 + 1, k % 3 + 1);
            label(g, b->rotation[k], b->name, PHASE_POSES, name);
        }
    }
    for (uint32_t i = 0; i < s->name_count; i++) {
        const Named *named = &s->names[i];
        if (named->function || !named->meaning.id || stage_of(named->meaning) > STAGE_PARAMETER)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)named->name.length, named->name.at);
        label(g, named->meaning, NULL, PHASE_CONSTANTS, name);
    }
}

// ---- which nodes become quantities ---------------------------------------------------------

// Signs are no quantities: who uses them uses what is behind them.
static void count_uses(Stager *g)
{
    memset(g->uses, 0, g->reach.end * sizeof *g->uses);
    for (uint32_t i = 0; i < g->of_count; i++) g->uses[g->of[i].id]++;
    for (uint32_t k = g->reach.count; k-- > 0;) {
        const uint32_t id = g->reach.ids[k];
        const Node *node = &g->graph->nodes[id];
        for (int i = 0; i < tr_op[node->op].operands; i++)
            g->uses[node_operand(node, i)] += node->op == OP_NEG ? g->uses[id] : 1;
    }
}

static uint32_t behind(const Stager *g, uint32_t id) { return g->is_step[id] ? 0 : g->inlined[id]; }

// A quantity more, until the line is short enough: of the operand that is longest
static void shorten(Stager *g, uint32_t id)
{
    const Node *node = &g->graph->nodes[id];
    for (;;) {
        uint32_t sum = node->op != OP_NEG, longest = 0, most = 0;
        for (int i = 0; i < tr_op[node->op].operands; i++) {
            uint32_t at = node_operand(node, i);
            sum += behind(g, at);
            while (g->graph->nodes[at].op == OP_NEG && !g->is_step[at]) at = g->graph->nodes[at].a;
            if (behind(g, at) > most) longest = at, most = behind(g, at);
        }
        g->inlined[id] = sum;
        if (sum <= MOST_LINE || most < 2) return;
        g->is_step[longest] = 1;
        for (int i = 0; i < tr_op[node->op].operands; i++) {
            const uint32_t at = node_operand(node, i);
            if (g->graph->nodes[at].op == OP_NEG) g->inlined[at] = behind(g, g->graph->nodes[at].a);
        }
    }
}

static bool is_worth(const Stager *g, uint32_t id)
{
    const Node *node = &g->graph->nodes[id];
    const uint32_t uses = g->uses[id], length = g->inlined[id];
    if (is_leaf(node) || node->op == OP_NEG || !uses || g->is_unwanted[id]) return false;
    if (g->labels[id].is_known) return uses > 1 || length > 5;
    const bool is_simple =
        node->op == OP_MUL || node->op == OP_ADD || node->op == OP_SUB || node->op == OP_POW;
    if (length == 1 && is_simple) return false; // nobody names a product
    if (node->op == OP_DIV && is_one(expr_at(g->graph, node->a)))
        return false; // who uses it divides
    return (uses - 1) * length >= WORTH_NAMING;
}

static void choose_steps(Stager *g)
{
    memset(g->is_step, 0, g->reach.end);
    for (uint32_t k = 0; k < g->reach.count; k++) {
        const uint32_t id = g->reach.ids[k];
        shorten(g, id);
        g->is_step[id] = is_worth(g, id);
    }
}

// ---- names of the others -------------------------------------------------------------------

// sin and cos of a symbol
static bool name_angle(const Stager *g, uint32_t id, char name[400])
{
    const Node *node = &g->graph->nodes[id];
    if (node->op != OP_SIN && node->op != OP_COS) return false;
    const Node *of = &g->graph->nodes[node->a];
    if (of->op != OP_SYMBOL) return false;
    snprintf(name, 400, "%c_%.300s", node->op == OP_SIN ? 's' : 'c', g->graph->symbols[of->a]);
    return true;
}

// Of what has no name, the body and the kind of what it is first needed for
static void inherit(Stager *g)
{
    for (uint32_t k = g->reach.count; k-- > 0;) {
        const uint32_t id = g->reach.ids[k];
        const Node *node = &g->graph->nodes[id];
        for (int i = 0; i < tr_op[node->op].operands; i++) {
            Label *l = &g->labels[node_operand(node, i)];
            if (l->is_known || (!g->labels[id].body && l->body)) continue;
            l->body = g->labels[id].body, l->phase = g->labels[id].phase;
        }
    }
}

// What it is called, or that with a number behind it
static void name_step(Stager *g, const Step *step)
{
    const Label *l = &g->labels[step->node.id];
    const bool is_constant = stage_of(step->node) <= STAGE_PARAMETER;
    bool numbered = false;
    char name[400];
    if (l->is_known) {
        snprintf(name, sizeof name, "%s", l->name);
    } else if (!name_angle(g, step->node.id, name)) {
        const bool has_body = l->body && !is_constant;
        snprintf(name, sizeof name, "%c%s%.300s", is_constant ? 'k' : 'z', has_body ? "_" : "",
                 has_body ? l->body : "");
        numbered = true;
    }
    tr_known_name(g->known, g->system, step->symbol, name, numbered);
}

// ---- order ---------------------------------------------------------------------------------

static Phase phase_at(const Stager *g, uint32_t id)
{
    char name[400];
    if (stage_of(expr_at(g->graph, id)) <= STAGE_PARAMETER) return PHASE_CONSTANTS;
    if (name_angle(g, id, name)) return PHASE_ANGLES;
    return g->labels[id].body ? g->labels[id].phase : PHASE_REST;
}

static const char *body_at(const Stager *g, uint32_t id)
{
    return phase_at(g, id) <= PHASE_ANGLES ? NULL : g->labels[id].body;
}

static bool is_same_body(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

// What is written under one heading has one number.
static uint32_t block_at(const Stager *g, uint32_t id, const char **bodies, uint32_t *body_count)
{
    const char *body = body_at(g, id);
    uint32_t i = 0;
    while (i < *body_count && !is_same_body(body, bodies[i])) i++;
    if (i == *body_count) bodies[(*body_count)++] = body;
    return (uint32_t)phase_at(g, id) + 16 * i;
}

// A step, the steps that it waits for, and those that wait for it
typedef struct Turn {
    uint32_t id, block, waits;
    uint32_t first; // of its edges
} Turn;
typedef struct Edge {
    uint32_t to, next;
} Edge;
typedef struct Queue {
    Turn *turns;
    Edge *edges;
    uint32_t count, edge_count, edge_capacity;
    uint32_t *turn_of; // by node, from 1
} Queue;

static void add_edge(Queue *q, uint32_t from, uint32_t to)
{
    if (!tr_grow((void **)&q->edges, &q->edge_capacity, q->edge_count + 2, sizeof *q->edges))
        return;
    q->edges[++q->edge_count] = (Edge){to, q->turns[from].first};
    q->turns[from].first = q->edge_count;
    q->turns[to].waits++;
}

// What a step is made of, down to other steps
static void add_edges(const Stager *g, Queue *q, uint32_t to, uint32_t id)
{
    const Node *node = &g->graph->nodes[id];
    for (int i = 0; i < tr_op[node->op].operands; i++) {
        const uint32_t at = node_operand(node, i);
        if (g->is_step[at])
            add_edge(q, q->turn_of[at] - 1, to);
        else
            add_edges(g, q, to, at); // at most a line of them
    }
}

static bool open_queue(Stager *g, Queue *q)
{
    const char **bodies = calloc(g->reach.count + 1u, sizeof *bodies);
    uint32_t body_count = 0;
    q->turns = calloc(g->reach.count + 1u, sizeof *q->turns);
    q->turn_of = calloc(g->reach.end + 1u, sizeof *q->turn_of);
    const bool good = bodies && q->turns && q->turn_of;
    for (uint32_t k = 0; good && k < g->reach.count; k++) {
        const uint32_t id = g->reach.ids[k];
        if (!g->is_step[id]) continue;
        q->turns[q->count] = (Turn){.id = id, .block = block_at(g, id, bodies, &body_count)};
        q->turn_of[id] = ++q->count;
    }
    for (uint32_t i = 0; good && i < q->count; i++) add_edges(g, q, i, q->turns[i].id);
    free(bodies);
    return good;
}

// Whoever is ready in the block that is being written, else the first in order of kinds: never
// before what it is made of. `list` has room for all nodes.
static uint32_t order_steps(Stager *g, uint32_t *list)
{
    Queue q = {0};
    uint32_t done = 0, block = UINT32_MAX;
    const bool good = open_queue(g, &q);
    if (!good) g->graph->failed = true;
    while (good && done < q.count) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < q.count; i++) {
            if (q.turns[i].waits) continue;
            if (best == UINT32_MAX || q.turns[i].block % 16 < q.turns[best].block % 16) best = i;
            if (q.turns[i].block != block) continue;
            best = i;
            break;
        }
        if (best == UINT32_MAX) break;
        list[done++] = q.turns[best].id;
        block = q.turns[best].block;
        q.turns[best].waits = UINT32_MAX; // it is written
        for (uint32_t e = q.turns[best].first; e; e = q.edges[e].next)
            q.turns[q.edges[e].to].waits--;
    }
    free(q.turns);
    free(q.edges);
    free(q.turn_of);
    return done;
}

// ---- writing -------------------------------------------------------------------------------

// Once for each expression
static const Term *written(Stager *g, Expr x)
{
    const uint32_t before = g->form_capacity;
    if (!tr_grow((void **)&g->forms, &g->form_capacity, x.id + 1, sizeof *g->forms)) {
        g->graph->failed = true;
        return NULL;
    }
    for (uint32_t i = before; i < g->form_capacity; i++) g->forms[i] = NULL;
    if (g->forms[x.id]) return g->forms[x.id];
    Rules rules = g->rules;
    if (g->out->work > MOST_QUANTITIES * rules.budget) rules.budget = 1;
    return g->forms[x.id] = tr_known_form(&g->out->arena, x, &rules, &g->out->work, g->err);
}

static const char *block_words(Stager *g, uint32_t id)
{
    const char *body = body_at(g, id), *words = phase_words[phase_at(g, id)];
    char text[400];
    snprintf(text, sizeof text, "%.300s%s%s", body ? body : "", body ? ", " : "", words);
    return tr_arena_text(&g->out->arena, text, strlen(text));
}

// What turns out to be a number, a symbol or a step that is there is no step of its own.
static bool is_there(const Stager *g, Expr meaning)
{
    if (is_leaf(node_of(meaning))) return true;
    return meaning.id < g->meaning_capacity && g->meanings[meaning.id];
}

static void write_step(Stager *g, uint32_t id, Kept *kept)
{
    Step *step = &g->out->steps[g->out->count];
    step->node = expr_at(g->graph, id);
    const Expr x = tr_substitute_kept(g->graph, step->node, kept);
    step->form = written(g, x);
    step->block = block_words(g, id);
    if (!step->form || !step->block) return;
    const Expr meaning = tr_term_expression(step->form, g->graph);
    if (!g->symbols[id]) g->symbols[id] = tr_known_symbol(g->system, step->node, g->err).id;
    if (!tr_kept_room(g->graph, kept) || !g->symbols[id]) return;
    if (is_there(g, meaning)) {
        kept->of[id] = is_leaf(node_of(meaning)) ? meaning.id : g->meanings[meaning.id];
        return;
    }
    const uint32_t before = g->meaning_capacity;
    if (!tr_grow((void **)&g->meanings, &g->meaning_capacity, meaning.id + 1,
                 sizeof *g->meanings)) {
        g->graph->failed = true;
        return;
    }
    for (uint32_t i = before; i < g->meaning_capacity; i++) g->meanings[i] = 0;
    step->symbol = expr_at(g->graph, g->symbols[id]);
    kept->of[id] = g->meanings[meaning.id] = step->symbol.id;
    g->out->count++;
}

static void write_all(Stager *g, const uint32_t *list, uint32_t count)
{
    Kept kept = {0};
    Staged *out = g->out;
    out->count = 0;
    for (uint32_t i = 0; i < g->meaning_capacity; i++) g->meanings[i] = 0;
    out->steps = tr_arena_alloc(&out->arena, count + 1u, sizeof *out->steps);
    out->forms = tr_arena_alloc(&out->arena, g->of_count + 1u, sizeof *out->forms);
    if (!out->steps || !out->forms) g->graph->failed = true;
    for (uint32_t k = 0; k < count && !g->graph->failed && !has_failed(g->err); k++)
        write_step(g, list[k], &kept);
    for (uint32_t i = 0; i < g->of_count && !g->graph->failed && !has_failed(g->err); i++)
        out->forms[i] = written(g, tr_substitute_kept(g->graph, g->of[i], &kept));
    tr_kept_free(&kept);
}

// ---- all of it -----------------------------------------------------------------------------

// Closed forms need fewer quantities than the graph: those that nobody needs, or that one short
// line needs, are none. How many there were
static uint32_t drop_steps(Stager *g)
{
    const Staged *out = g->out;
    uint32_t dropped = 0;
    uint32_t *uses = calloc(g->graph->count + 1u, sizeof *uses);
    if (!uses) g->graph->failed = true;
    for (uint32_t i = 0; uses && i < out->count; i++)
        tr_term_count_symbols(out->steps[i].form, uses);
    for (uint32_t i = 0; uses && i < g->of_count; i++)
        if (out->forms[i]) tr_term_count_symbols(out->forms[i], uses);
    for (uint32_t i = 0; uses && i < out->count; i++) {
        const Step *step = &out->steps[i];
        const uint32_t used = uses[step->symbol.id];
        const bool is_short = step->form->cost <= 5 && !g->labels[step->node.id].is_known;
        if (used > 1 || (used == 1 && !is_short)) continue;
        g->is_unwanted[step->node.id] = 1, dropped++;
    }
    free(uses);
    return dropped;
}

// Without those that nobody uses: the last round drops no more than these
static void drop_unused(Stager *g)
{
    Staged *out = g->out;
    uint32_t *uses = calloc(g->graph->count + 1u, sizeof *uses), kept = out->count;
    if (!uses) g->graph->failed = true;
    for (uint32_t i = 0; uses && i < g->of_count; i++)
        if (out->forms[i]) tr_term_count_symbols(out->forms[i], uses);
    for (uint32_t i = out->count; uses && i-- > 0;) {
        if (!uses[out->steps[i].symbol.id]) continue;
        tr_term_count_symbols(out->steps[i].form, uses);
        out->steps[--kept] = out->steps[i];
    }
    if (uses) memmove(out->steps, out->steps + kept, (out->count - kept) * sizeof *out->steps);
    if (uses) out->count -= kept;
    free(uses);
}

static void stage(Stager *g)
{
    enum { ROUNDS = 3 };
    uint32_t *list = calloc(g->reach.count + 1u, sizeof *list);
    if (!list) g->graph->failed = true;
    label_known(g);
    inherit(g);
    count_uses(g);
    for (int i = 0; list && i < ROUNDS && !g->graph->failed && !has_failed(g->err); i++) {
        choose_steps(g);
        write_all(g, list, order_steps(g, list));
        if (!drop_steps(g)) break;
    }
    if (!g->graph->failed && !has_failed(g->err)) drop_unused(g);
    for (uint32_t i = 0; i < g->out->count && !g->graph->failed; i++)
        name_step(g, &g->out->steps[i]);
    free(list);
}

static bool open_stager(Stager *g)
{
    if (!tr_reach(g->graph, g->of, g->of_count, &g->reach)) return false;
    const size_t end = g->reach.end + 1u;
    g->uses = calloc(end, sizeof *g->uses);
    g->inlined = calloc(end, sizeof *g->inlined);
    g->symbols = calloc(end, sizeof *g->symbols);
    g->is_step = calloc(end, 1);
    g->is_unwanted = calloc(end, 1);
    g->labels = calloc(end, sizeof *g->labels);
    return g->uses && g->inlined && g->symbols && g->is_step && g->is_unwanted && g->labels;
}

static void close_stager(Stager *g)
{
    for (uint32_t i = 0; g->labels && i < g->reach.end; i++) free(g->labels[i].name);
    free(g->uses);
    free(g->inlined);
    free(g->symbols);
    free(g->forms);
    free(g->meanings);
    free(g->is_step);
    free(g->is_unwanted);
    free(g->labels);
    tr_reach_free(&g->reach);
}

Staged *tr_staged_new(System *system, const Expr *of, uint32_t count, Known *known,
                      const Rules *rules, tr_error *err)
{
    Staged *out = has_failed(err) ? NULL : calloc(1, sizeof *out);
    Stager g = {.system = system,
                .graph = system->graph,
                .of = of,
                .of_count = count,
                .known = known,
                .rules = *rules,
                .out = out,
                .err = err};
    const bool good = out && open_stager(&g);
    if (good) stage(&g);
    close_stager(&g);
    if (good && !system->graph->failed && !has_failed(err)) return out;
    if (!has_failed(err)) tr_fail_memory(err);
    tr_staged_free(out);
    return NULL;
}

void tr_staged_free(Staged *staged)
{
    if (staged) tr_arena_free(&staged->arena);
    free(staged);
}
