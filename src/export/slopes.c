// SPDX-License-Identifier: Apache-2.0
// Slopes of the rates of the state by what is integrated of it and by inputs: all that are not
// zero, or those of one number, and how these change.
#include "export/code.h"

#include "expr/derivative.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- all of them --------------------------------------------------------------------------------

// What slopes are by: the state as far as it is integrated, and inputs; zero for the rest
static Expr *list_variables(const Export *code, const System *s)
{
    const uint32_t count = code->x.count + code->u.count;
    Expr *at = calloc(count + 1u, sizeof *at);
    for (uint32_t k = 0; at && k < count; k++)
        at[k] =
            s->inputs[k < code->x.count ? code->x.at[k].input : code->u.at[k - code->x.count].input]
                .symbol;
    return at;
}

static bool is_variable(const Export *code, uint32_t k)
{
    return k >= code->x.count || code->x.at[k].is_integrated;
}

// Of those that are variables: where they stand among all
static uint32_t pack_variables(const Export *code, Expr *symbols, uint32_t *column)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < code->x.count + code->u.count; k++)
        if (is_variable(code, k)) symbols[count] = symbols[k], column[count++] = k;
    return count;
}

static void keep_slopes(Export *code, const Expr *dense, const uint32_t *column, uint32_t columns,
                        Exprs *list)
{
    const size_t all = (size_t)code->x.count * columns;
    code->jacobian_row = calloc(2 * all + 1, sizeof *code->jacobian_row);
    code->jacobian_column = code->jacobian_row ? code->jacobian_row + all : NULL;
    if (!code->jacobian_row) {
        code->failed = true;
        return;
    }
    for (uint32_t i = 0; i < code->x.count; i++)
        for (uint32_t k = 0; k < columns; k++) {
            const Expr entry = dense[(size_t)i * columns + k];
            if (is_zero(entry)) continue;
            code->jacobian_row[list->count] = i;
            code->jacobian_column[list->count] = column[k];
            exprs_add(list, entry);
        }
    code->jacobian_count = list->count;
}

static void take_list(Export *code, CodePart part, System *s, Exprs *list, tr_error *err)
{
    const uint32_t count = list->count;
    if (!count && !list->failed) return;
    tr_program *program = tr_program_list(s, list, code->flow->footing->fold, err);
    tr_code_program(code, part, program, NULL, count);
    tr_program_free(program);
}

void tr_code_jacobian(Export *code, tr_error *err)
{
    System *s = tr_chart_system(code->plan, code->flow->now->programs, err);
    if (!s) return;
    Exprs rates = {0}, entries = {0};
    Expr *symbols = list_variables(code, s);
    uint32_t *column = calloc(code->x.count + code->u.count + 1u, sizeof *column);
    tr_code_rates(code, s, &rates);
    const uint32_t columns = symbols && column ? pack_variables(code, symbols, column) : 0;
    Expr *dense = calloc((size_t)rates.count * columns + 1, sizeof *dense);
    if (!symbols || !column || !dense || rates.failed)
        tr_fail_memory(err);
    else {
        tr_system_resolve(s, rates.at, rates.count);
        if (!tr_dense_jacobian(s->graph, rates.at, rates.count, symbols, columns, dense))
            tr_graph_refuse(s->graph, err);
    }
    if (!has_failed(err)) keep_slopes(code, dense, column, columns, &entries);
    if (!has_failed(err)) take_list(code, PART_JACOBIAN, s, &entries, err);
    free(dense);
    free(symbols);
    free(column);
    tr_exprs_free(&rates);
    tr_system_free(s);
}

// ---- the start -----------------------------------------------------------------------------

// ---- weighted rates ------------------------------------------------------------------------

// Inputs behind all others: as many as the state for weights, then as many as variables for changes
static bool add_inputs(const Export *code, System *s, Expr *weight, Expr *change, tr_error *err)
{
    char name[40];
    for (uint32_t k = 0; k < code->x.count; k++) {
        snprintf(name, sizeof name, "export.weight%u", k);
        weight[k] = tr_input(s, name, TR_DIRECTION, 0, err);
    }
    for (uint32_t k = 0; k < code->x.count + code->u.count; k++) {
        snprintf(name, sizeof name, "export.change%u", k);
        change[k] = tr_input(s, name, TR_DIRECTION, 0, err);
    }
    return !has_failed(err);
}

// What inputs of programs are, with these
static uint32_t *map_more(Export *code, const System *s)
{
    const uint32_t more = 2 * code->x.count + code->u.count;
    const uint32_t count = s->input_count - more;
    uint32_t *node = calloc(s->input_count + 1u, sizeof *node);
    if (!node) return NULL;
    memcpy(node, code->input_node, count * sizeof *node);
    for (uint32_t k = 0; k < more; k++)
        node[count + k] = k < code->x.count
                              ? tr_flat_argument(&code->flat, ARGUMENT_WEIGHT, k)
                              : tr_flat_argument(&code->flat, ARGUMENT_CHANGE, k - code->x.count);
    return node;
}

// Slopes of one number, for variables at these columns
static void take_slopes(Export *code, CodePart part, System *s, const Expr *slopes,
                        const uint32_t *column, uint32_t count, tr_error *err)
{
    const uint32_t all = code->x.count + code->u.count;
    uint8_t *fold = calloc(s->input_count + 1u, sizeof *fold);
    uint32_t *kept = code->input_node, *node = map_more(code, s);
    Exprs list = {0};
    for (uint32_t k = 0; k < all; k++) exprs_add(&list, zero(s->graph));
    if (!fold || !node || list.failed)
        tr_fail_memory(err);
    else {
        memcpy(fold, code->flow->footing->fold, code->system->input_count);
        for (uint32_t k = 0; k < count; k++) list.at[column[k]] = slopes[k];
        tr_program *program = tr_compile_open(s, list.at, all, fold, err);
        code->input_node = node;
        tr_code_program(code, part, program, NULL, all);
        code->input_node = kept;
        tr_program_free(program);
    }
    free(node);
    free(fold);
    tr_exprs_free(&list);
}

static void differentiate_twice(Export *code, System *s, Exprs *rates, Expr *room, uint32_t *column,
                                tr_error *err)
{
    const uint32_t all = code->x.count + code->u.count;
    Expr *symbols = room, *weight = symbols + all, *change = weight + all, *slopes = change + all,
         *second = slopes + all;
    if (!add_inputs(code, s, weight, change, err)) return;
    const uint32_t count = pack_variables(code, symbols, column);
    for (uint32_t k = 0; k < count; k++) change[k] = change[column[k]];
    Expr sum = zero(s->graph);
    for (uint32_t k = 0; k < code->x.count; k++) sum = add(sum, mul(weight[k], rates->at[k]));
    if (!tr_dense_jacobian(s->graph, &sum, 1, symbols, count, slopes)) tr_fail_memory(err);
    if (has_failed(err)) return;
    tr_forward(s->graph, slopes, count, symbols, change, count, second);
    take_slopes(code, PART_GRADIENT, s, slopes, column, count, err);
    take_slopes(code, PART_HESSIAN, s, second, column, count, err);
}

// The gradient of weight . x' by what is integrated and by inputs, and how that changes
void tr_code_second(Export *code, tr_error *err)
{
    const uint32_t all = code->x.count + code->u.count;
    System *s = tr_chart_system(code->plan, code->flow->now->programs, err);
    if (!s) return;
    Exprs rates = {0};
    Expr *symbols = list_variables(code, s), *room = calloc(5 * (size_t)all + 1, sizeof *room);
    uint32_t *column = calloc(all + 1u, sizeof *column);
    tr_code_rates(code, s, &rates);
    if (!symbols || !room || !column || rates.failed)
        tr_fail_memory(err);
    else {
        memcpy(room, symbols, all * sizeof *room);
        tr_system_resolve(s, rates.at, rates.count);
        differentiate_twice(code, s, &rates, room, column, err);
    }
    if (s->graph->failed) tr_graph_refuse(s->graph, err);
    free(symbols);
    free(room);
    free(column);
    tr_exprs_free(&rates);
    tr_system_free(s);
}
