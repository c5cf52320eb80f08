// SPDX-License-Identifier: Apache-2.0
// Expressions as text. Parts that are used more than once, or nested too deep to read, get a line
// of their own, so a graph never becomes an exponentially long formula.
#include "expr/system.h"
#include "expr/walk.h"

#include <stdlib.h>

enum { MAX_NESTING = 40 };

typedef struct Writer {
    const System *system;
    const Graph *graph;
    Buffer text;
    uint32_t *line; // by id: the number of the line that defines it, 0 when written in place
    uint32_t lines;
    size_t ts; // that the name of a line begins with
} Writer;

static void write_node(Writer *w, uint32_t id, Form around);

// ---- which nodes get a line ----------------------------------------------------------------

static int operand_count(const Graph *graph, uint32_t id)
{
    return tr_op[graph->nodes[id].op].operands;
}

static void choose_lines(Writer *w, const Reach *reach, uint32_t *uses, uint32_t *nesting)
{
    for (uint32_t k = 0; k < reach->count; k++)
        for (int i = 0; i < operand_count(w->graph, reach->ids[k]); i++)
            uses[node_operand(&w->graph->nodes[reach->ids[k]], i)]++;
    for (uint32_t k = 0; k < reach->count; k++) {
        const uint32_t id = reach->ids[k];
        uint32_t deepest = 0;
        for (int i = 0; i < operand_count(w->graph, id); i++) {
            const uint32_t below = nesting[node_operand(&w->graph->nodes[id], i)];
            if (below > deepest) deepest = below;
        }
        nesting[id] = deepest + 1;
        if (operand_count(w->graph, id) && (uses[id] > 1 || nesting[id] > MAX_NESTING)) {
            w->line[id] = ++w->lines;
            nesting[id] = 0;
        }
    }
}

// ---- writing -------------------------------------------------------------------------------

// t1, t2, ...: with more t's while a name of the user's begins that way
static size_t count_ts(const System *system)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < system->name_count; i++) {
        const Text name = system->names[i].name;
        size_t t = 0;
        while (t < name.length && name.at[t] == 't') t++;
        if (t > longest && t < name.length && is_digit(name.at[t])) longest = t;
    }
    return longest + 1;
}

static void write_line_name(Writer *w, uint32_t line)
{
    for (size_t i = 0; i < w->ts; i++) tr_buffer_add(&w->text, "t", 1);
    tr_buffer_print(&w->text, "%u", line);
}

void tr_table_called(const System *s, const Node *node, Buffer *text)
{
    for (uint32_t i = 0; i < s->name_count; i++) {
        const Function *function = s->names[i].function;
        if (function && !function->body.at && function->table == node->c)
            tr_buffer_add(text, function->name.at, function->name.length);
    }
    if (table_is_question(node->n)) { // which is about what it is asked for along one axis
        if (table_is_plane(s->graph->tables[node->c]))
            tr_buffer_print(text, "{%s}", node->n >> 4 ? "y" : "x");
        return;
    }
    if (node->op == OP_TABLE1 && node->n) tr_buffer_print(text, "{%d}", node->n);
    if (node->op == OP_TABLE2 && node->n)
        tr_buffer_print(text, "{%d,%d}", table_order_along(node->n, 0),
                        table_order_along(node->n, 1));
}

static void write_call(Writer *w, uint32_t id)
{
    const Node *node = &w->graph->nodes[id];
    if (tr_op[node->op].form == FORM_TABLE)
        tr_table_called(w->system, node, &w->text);
    else
        tr_buffer_print(&w->text, "%s", tr_op[node->op].name);
    for (int i = 0; i < operand_count(w->graph, id); i++) {
        tr_buffer_print(&w->text, i ? ", " : "(");
        write_node(w, node_operand(&w->graph->nodes[id], i), FORM_LEAF);
    }
    tr_buffer_print(&w->text, ")");
}

static void write_operator(Writer *w, uint32_t id)
{
    const Node *node = &w->graph->nodes[id];
    const OpInfo *op = &tr_op[node->op];
    if (node->op == OP_NEG) {
        tr_buffer_print(&w->text, "-");
        write_node(w, node->a, FORM_PRODUCT); // -a*b reads as -(a*b)
    } else if (node->op == OP_POW) {
        write_node(w, node->a, FORM_POWER + 1);
        tr_buffer_print(&w->text, "^");
        tr_buffer_number(&w->text, 0.5 * node->n);
    } else if (node->op == OP_RAISE) {
        write_node(w, node->a, FORM_POWER + 1);
        tr_buffer_print(&w->text, "^");
        write_node(w, node->b, FORM_POWER + 1);
    } else {
        write_node(w, node->a, op->form == FORM_RELATION ? FORM_RELATION + 1 : op->form);
        tr_buffer_print(&w->text, op->form == FORM_PRODUCT ? "%s" : " %s ", op->name);
        write_node(w, node->b, op->form + 1); // a - (b - c), a*(b*c)
    }
}

// Inside something that binds as tightly as `around`; looser things go into parentheses.
static void write_node(Writer *w, uint32_t id, Form around)
{
    const Node *node = &w->graph->nodes[id];
    const Form form = tr_op[node->op].form;
    const bool negative = node->op == OP_NUMBER && node_value(node) < 0 && around > FORM_SUM;
    const bool brackets = w->line[id] == 0 && (negative || (form > FORM_TABLE && form < around));
    if (brackets) tr_buffer_print(&w->text, "(");
    if (w->line[id])
        write_line_name(w, w->line[id]);
    else if (node->op == OP_NUMBER)
        tr_buffer_number(&w->text, node_value(node));
    else if (node->op == OP_SYMBOL)
        tr_buffer_print(&w->text, "%s", w->graph->symbols[node->a]);
    else if (form == FORM_LEAF)
        tr_buffer_print(&w->text, "%s", tr_op[node->op].name);
    else if (form <= FORM_TABLE)
        write_call(w, id);
    else
        write_operator(w, id);
    if (brackets) tr_buffer_print(&w->text, ")");
}

static void write_lines(Writer *w, const Reach *reach, uint32_t last)
{
    for (uint32_t k = 0; k < reach->count; k++) {
        const uint32_t id = reach->ids[k], line = w->line[id];
        if (!line || id == last) continue;
        write_line_name(w, line);
        tr_buffer_print(&w->text, " = ");
        w->line[id] = 0; // in place, for once
        write_node(w, id, FORM_LEAF);
        w->line[id] = line;
        tr_buffer_print(&w->text, "\n");
    }
    w->line[last] = 0;
    write_node(w, last, FORM_LEAF);
}

const char *tr_text(System *system, Expr x)
{
    if (!system || x.graph != system->graph) return NULL;
    Writer w = {.system = system, .graph = system->graph, .ts = count_ts(system)};
    Reach reach;
    const bool reached = tr_reach(system->graph, &x, 1, &reach);
    uint32_t *uses = reached ? tr_reach_map(system->graph, &reach) : NULL;
    uint32_t *nesting = reached ? tr_reach_map(system->graph, &reach) : NULL;
    w.line = reached ? tr_reach_map(system->graph, &reach) : NULL;
    const char *kept = NULL;
    if (uses && nesting && w.line) {
        choose_lines(&w, &reach, uses, nesting);
        write_lines(&w, &reach, x.id);
        if (!w.text.failed) kept = tr_arena_text(&system->graph->arena, w.text.at, w.text.length);
    }
    tr_buffer_free(&w.text);
    tr_reach_free(&reach);
    free(uses);
    free(nesting);
    free(w.line);
    return kept;
}
