// SPDX-License-Identifier: Apache-2.0
// How everything changes along a change of the state, of inputs, time and parameters: rates,
// outputs, what follows, constraints on positions and their slopes, as one function (T401); of the
// unreduced form a function for each list (T403).
#include "export/unreduced.h"

#include "expr/derivative.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of the unreduced form what is found changes, too.
static uint32_t change_count(const Export *code)
{
    const uint32_t plain = code->x.count + code->u.count + 1 + code->p.count;
    return plain + (code->options.is_unreduced ? tr_code_found(code).closed : 0);
}

static uint32_t input_found(const Export *code, uint32_t entry)
{
    for (uint32_t i = 0; i < code->system->input_count; i++) {
        const FlatNode *node = &code->flat.nodes[code->input_node[i]];
        if (node->code == FLAT_ARGUMENT && node->a == ARGUMENT_FOUND && node->b == entry) return i;
    }
    return NO_INPUT;
}

// The input that a change is of, in the order of the argument: x, u, t, p, what is found. What
// follows in the reduced form does not count.
static uint32_t changed_input(const Export *code, uint32_t k)
{
    const bool unreduced = code->options.is_unreduced;
    if (k < code->x.count)
        return code->x.at[k].is_integrated || unreduced ? code->x.at[k].input : NO_INPUT;
    k -= code->x.count;
    if (k < code->u.count) return code->u.at[k].input;
    k -= code->u.count;
    if (k > code->p.count) return input_found(code, k - 1 - code->p.count);
    if (k > 0) return code->p.at[k - 1].input;
    for (uint32_t i = 0; i < code->system->input_count; i++)
        if (code->system->inputs[i].kind == TR_TIME) return i;
    return NO_INPUT;
}

// What follows, by columns that are recorded: positions, then velocities
static void list_followers(const Export *code, const Exprs *columns, Exprs *rows)
{
    const System *s = code->system;
    uint32_t column = 0;
    for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++)
        for (uint32_t i = 0; i < s->input_count; i++) {
            if ((int)s->inputs[i].kind != kind) continue;
            const uint32_t k = tr_code_entry(code, i), from = column++;
            if (k < code->x.count && !code->x.at[k].is_integrated)
                exprs_add(rows, columns->at[from]);
        }
}

static void list_constraints(const Export *code, System *s, Exprs *rows)
{
    const ChartPrograms *c = code->flow->now->programs;
    const size_t m = c->projected, n = c->positions;
    Exprs phi = {0};
    Expr *y = calloc(n + n * m + 1, sizeof *y), *slopes = y ? y + n : NULL;
    for (uint32_t k = 0; y && k < n; k++) y[k] = s->inputs[c->place[k]].symbol;
    tr_chart_phi(s, c, &phi);
    if (y && !phi.failed) tr_system_resolve(s, phi.at, phi.count);
    if (!y || phi.failed || !tr_dense_jacobian(s->graph, phi.at, m, y, n, slopes))
        rows->failed = true;
    else {
        tr_exprs_add(rows, phi.at, phi.count);
        tr_exprs_add(rows, slopes, n * m);
    }
    free(y);
    tr_exprs_free(&phi);
}

static void list_rows(const Export *code, System *s, const uint32_t *outputs, Exprs *rows)
{
    Exprs columns = {0};
    tr_code_rates(code, s, rows);
    if (!outputs) return;
    tr_chart_columns(s, &columns, NULL);
    if (columns.failed)
        rows->failed = true;
    else {
        for (uint32_t k = 0; k < code->y.count; k++) exprs_add(rows, columns.at[outputs[k]]);
        list_followers(code, &columns, rows);
    }
    tr_exprs_free(&columns);
    if (!rows->failed) tr_system_resolve(s, rows->at, rows->count);
    if (code->phi_count && !rows->failed) list_constraints(code, s, rows);
}

// Inputs for changes, behind all others; of what may change, its symbol and that of its change
bool tr_code_open_changes(const Export *code, System *s, CodeChanges *to, tr_error *err)
{
    char name[40];
    const uint32_t most = change_count(code);
    *to = (CodeChanges){.system = s, .first = s->input_count};
    to->symbol = calloc(2 * (size_t)most + 1, sizeof *to->symbol);
    if (!to->symbol) return tr_fail_memory(err), false;
    to->change = to->symbol + most;
    for (uint32_t k = 0; k < most && !has_failed(err); k++) {
        const uint32_t input = changed_input(code, k);
        snprintf(name, sizeof name, "export.change%u", k);
        const Expr its = tr_input(s, name, TR_DIRECTION, 0, err);
        if (input == NO_INPUT) continue;
        to->symbol[to->count] = s->inputs[input].symbol;
        to->change[to->count++] = its;
    }
    return !has_failed(err);
}

void tr_code_close_changes(CodeChanges *changes) { free(changes->symbol); }

void tr_code_rows(Export *code, CodePart part, const CodeChanges *changes, const Exprs *rows,
                  tr_error *err)
{
    System *s = changes->system;
    const uint32_t count = changes->first, more = s->input_count - count;
    uint8_t *fold = calloc(s->input_count + 1u, sizeof *fold);
    uint32_t *kept = code->input_node, *node = calloc(s->input_count + 1u, sizeof *node);
    if (!fold || !node || rows->failed)
        tr_fail_memory(err);
    else {
        memcpy(fold, code->flow->footing->fold, code->system->input_count);
        memcpy(node, kept, count * sizeof *node);
        for (uint32_t k = 0; k < more; k++)
            node[count + k] = tr_flat_argument(&code->flat, ARGUMENT_CHANGE, k);
        tr_program *program = tr_compile_open(s, rows->at, rows->count, fold, err);
        code->input_node = node;
        tr_code_program(code, part, program, NULL, (uint32_t)rows->count);
        code->input_node = kept;
        tr_program_free(program);
    }
    free(node);
    free(fold);
}

void tr_code_changes(Export *code, CodePart part, const CodeChanges *changes, const Exprs *rows,
                     tr_error *err)
{
    System *s = changes->system;
    Exprs out = {0};
    tr_exprs_add(&out, rows->at, rows->count);
    Expr *change = calloc(rows->count + 1u, sizeof *change);
    if (out.failed || rows->failed || !change)
        tr_fail_memory(err);
    else if (rows->count && !has_failed(err)) {
        tr_system_resolve(s, out.at, out.count);
        tr_forward(s->graph, out.at, out.count, changes->symbol, changes->change, changes->count,
                   change);
        memcpy(out.at, change, out.count * sizeof *change);
        if (s->graph->failed) tr_graph_refuse(s->graph, err);
        if (!has_failed(err)) tr_code_rows(code, part, changes, &out, err);
    }
    free(change);
    tr_exprs_free(&out);
}

void tr_code_tangent(Export *code, const uint32_t *outputs, tr_error *err)
{
    System *s = tr_chart_system(code->plan, code->flow->now->programs, err);
    Exprs rows = {0};
    CodeChanges changes = {0};
    if (!s) return;
    list_rows(code, s, outputs, &rows);
    if (tr_code_open_changes(code, s, &changes, err))
        tr_code_changes(code, PART_TANGENT, &changes, &rows, err);
    tr_code_close_changes(&changes);
    tr_exprs_free(&rows);
    tr_system_free(s);
}
