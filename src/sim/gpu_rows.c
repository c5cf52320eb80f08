// SPDX-License-Identifier: Apache-2.0
#include "sim/gpu_rows.h"

#include "gpu/nodes.h"
#include "sim/embedded.h"
#include "sim/gpu_thread.h"
#include "sim/on_gpu.h"

#include <assert.h>
#include <stdlib.h>

// A program of the kernel: nodes of its outputs
typedef struct RowPart {
    struct RowKernel *kernel;
    uint32_t *out, count;
} RowPart;

enum { COLUMNS, RESIDUALS, FORMULAS, PARTS };

typedef struct RowKernel {
    const Lanes *lanes;
    const GpuRows *rows;
    Ptx ptx;
    Words words;
    Translation translation;
    Flat flat;
    Nodes nodes;
    RowPart parts[PARTS];
    Buffer lists;
    GpuThread own;
} RowKernel;

// Behind the record
typedef enum RowsPlace { ROWS_NEXT, ROWS_LIMIT, ROWS_NUMBERS } RowsPlace;

static uint32_t place_of(const Lanes *l, RowsPlace place)
{
    return (uint32_t)gpu_record(l) + place;
}

uint32_t tr_gpu_rows_size(const GpuRows *rows)
{
    return ROWS_NUMBERS + rows->numbers + rows->given;
}

// ---- programs ------------------------------------------------------------------------------

static bool add_part(RowKernel *k, int which, const Program *p, const uint32_t *inputs)
{
    RowPart *part = &k->parts[which];
    part->kernel = k;
    if (!p) return true;
    uint32_t *wanted = calloc(p->output_count + 1u, sizeof *wanted);
    part->out = calloc(p->output_count + 1u, sizeof *part->out);
    part->count = p->output_count;
    for (uint32_t i = 0; wanted && i < part->count; i++) wanted[i] = i;
    const bool good = wanted && part->out;
    if (good) tr_flat_program(&k->flat, p, inputs, wanted, part->count, part->out);
    free(wanted);
    return good;
}

// Of the state: times, inputs and what is known
static bool add_of_state(RowKernel *k, int which, const Program *p)
{
    const Lanes *l = k->lanes;
    uint32_t *inputs = p ? calloc(p->input_count + 1u, sizeof *inputs) : NULL;
    if (p && !inputs) return false;
    for (uint32_t i = 0; p && i < p->input_count; i++)
        inputs[i] = tr_flat_argument(&k->flat, i ? ARGUMENT_U : ARGUMENT_T, i);
    for (uint32_t i = 0; p && i < l->known; i++)
        inputs[l->programs->place[i]] = tr_flat_argument(&k->flat, ARGUMENT_X, i);
    const bool good = add_part(k, which, p, inputs);
    free(inputs);
    return good;
}

// Of a row and what is given
static bool add_of_row(RowKernel *k)
{
    const Program *p = k->rows->formulas;
    uint32_t *inputs = p ? calloc(p->input_count + 1u, sizeof *inputs) : NULL;
    if (p && !inputs) return false;
    for (uint32_t i = 0; p && i < p->input_count; i++)
        inputs[i] = i < k->rows->columns
                        ? tr_flat_argument(&k->flat, ARGUMENT_FOUND, i)
                        : tr_flat_argument(&k->flat, ARGUMENT_P, i - k->rows->columns);
    const bool good = add_part(k, FORMULAS, p, inputs);
    free(inputs);
    return good;
}

static bool add_parts(RowKernel *k)
{
    const Lanes *l = k->lanes;
    tr_program *const *of = l->programs->of;
    const bool has_room = add_of_state(k, COLUMNS, of[CHART_COLUMNS]) &&
                          add_of_state(k, RESIDUALS, of[CHART_RESIDUALS]) && add_of_row(k);
    if (k->parts[RESIDUALS].count) // what follows says how large they may be
        k->parts[RESIDUALS].count = l->programs->holonomic + l->constraint_rows;
    return has_room && !k->flat.failed;
}

// What an argument is: the time, or numbers from a cell on
static void set_arguments(RowKernel *k, Argument which, Thing is)
{
    for (uint32_t i = 0; i < k->flat.count; i++) {
        const FlatNode *node = &k->flat.nodes[i];
        if (node->code != FLAT_ARGUMENT || node->a != which) continue;
        k->nodes.value[i] =
            which == ARGUMENT_T ? is.value : k->translation.cells[is.cell + node->b];
    }
}

static void make_part(const RowPart *part, Thing to)
{
    RowKernel *k = part->kernel;
    Translation *t = &k->translation;
    tr_nodes_make(&k->nodes, part->out, part->count, NULL);
    for (uint32_t i = 0; i < part->count && !t->failure[0]; i++)
        tr_ptx_move(&k->ptx, t->cells[to.cell + i], tr_nodes_number(&k->nodes, part->out[i]));
    tr_nodes_forget(&k->nodes);
}

static Thing call_of_state(Translation *t, void *owner, const Thing *a, uint32_t count)
{
    const RowPart *part = owner;
    (void)t, (void)count;
    set_arguments(part->kernel, ARGUMENT_T, a[0]);
    set_arguments(part->kernel, ARGUMENT_X, a[1]);
    make_part(part, a[2]);
    return (Thing){0};
}

static Thing call_of_row(Translation *t, void *owner, const Thing *a, uint32_t count)
{
    const RowPart *part = owner;
    (void)t, (void)count;
    set_arguments(part->kernel, ARGUMENT_FOUND, a[0]);
    set_arguments(part->kernel, ARGUMENT_P, a[1]);
    make_part(part, a[2]);
    return (Thing){0};
}

static void load_inputs(RowKernel *k)
{
    for (uint32_t i = 0; i < k->flat.count; i++) {
        const FlatNode *node = &k->flat.nodes[i];
        if (node->code != FLAT_ARGUMENT || node->a != ARGUMENT_U) continue;
        k->nodes.value[i] =
            tr_gpu_load(&k->ptx, k->own.inputs, k->own.stride, tr_ptx_whole(KIND_INT, node->b));
        k->nodes.value[i].is_fresh = false;
    }
    tr_nodes_keep(&k->nodes);
}

// ---- numbers in memory ---------------------------------------------------------------------

static Thing get_number(Translation *t, void *owner, const Thing *a, uint32_t count)
{
    RowKernel *k = owner;
    (void)t, (void)count;
    return thing_of(tr_gpu_load(&k->ptx, k->own.record, k->own.stride, a[0].value));
}

static Thing put_number(Translation *t, void *owner, const Thing *a, uint32_t count)
{
    RowKernel *k = owner;
    (void)t, (void)count;
    tr_gpu_store(&k->ptx, k->own.record, k->own.stride, a[0].value, a[1].value);
    return (Thing){0};
}

// ---- the kernel ----------------------------------------------------------------------------

static void say(RowKernel *k, const char *name, uint32_t n)
{
    tr_words_define(&k->words, name, tr_ptx_whole(KIND_INT, n));
}

static void say_what_there_is(RowKernel *k)
{
    const Lanes *l = k->lanes;
    const RowPart *parts = k->parts;
    Value quaternions[64] = {{0}};
    assert(l->quaternions <= 64); // see tr_gpu_rows_kernel
    for (uint32_t i = 0; i < l->quaternions; i++)
        quaternions[i] = tr_ptx_whole(KIND_INT, l->quaternion[i]);
    tr_words_list(&k->words, "QUATERNION", quaternions, l->quaternions);
    say(k, "SIZE", l->size), say(k, "QUATERNIONS", l->quaternions);
    say(k, "MADE", parts[COLUMNS].count), say(k, "COLUMNS", k->rows->columns);
    say(k, "HOLONOMIC", parts[RESIDUALS].count ? l->programs->holonomic : 0);
    say(k, "LEFT", parts[RESIDUALS].count);
    say(k, "FORMULAS", parts[FORMULAS].count), say(k, "GIVEN", k->rows->given);
    say(k, "NUMBERS", k->rows->numbers);
    say(k, "PLACE_Y", l->at.y), say(k, "PLACE_NEXT", place_of(l, ROWS_NEXT));
    say(k, "PLACE_LIMIT", place_of(l, ROWS_LIMIT));
    say(k, "PLACE_NUMBERS", place_of(l, ROWS_NUMBERS));
    say(k, "PLACE_FATE", l->at.count + GPU_FATE), say(k, "PLACE_UNTIL", l->at.count + GPU_UNTIL);
    tr_words_define(&k->words, "LAST_ROW", tr_ptx_number(k->rows->last));
}

static void read_texts(RowKernel *k)
{
    tr_nodes_words(&k->words);
    tr_words_add(&k->words, tr_sim_dense());
    tr_words_add(&k->words, tr_sim_lane_math());
    tr_words_add(&k->words, tr_sim_balance());
    say_what_there_is(k);
    tr_words_add(&k->words, k->rows->text);
    tr_words_add(&k->words, tr_sim_gpu_rows());
}

static void name_functions(RowKernel *k)
{
    Translation *t = &k->translation;
    tr_translate_builtin(t, "columns", call_of_state, &k->parts[COLUMNS]);
    tr_translate_builtin(t, "residuals", call_of_state, &k->parts[RESIDUALS]);
    tr_translate_builtin(t, "formulas", call_of_row, &k->parts[FORMULAS]);
    tr_translate_builtin(t, "get", get_number, k);
    tr_translate_builtin(t, "put", put_number, k);
}

static void print_module(RowKernel *k, Buffer *out)
{
    Buffer beside = {0}, body = {0};
    tr_nodes_beside(&k->translation, &beside);
    const uint32_t end = tr_ptx_label(&k->ptx);
    k->own = tr_gpu_thread(&k->ptx, end);
    load_inputs(k);
    tr_translate_call(&k->translation, "take_row", NULL, 0);
    tr_ptx_here(&k->ptx, end);
    tr_gpu_head(out, "rows of runs, one thread for each");
    tr_gpu_entry(&body, GPU_ROWS_ENTRY);
    tr_ptx_registers(&k->ptx, &body);
    const Buffer *parts[] = {&k->lists, &beside, &body, &k->ptx.text};
    for (int i = 0; i < 4; i++) {
        if (parts[i]->length) tr_buffer_add(out, parts[i]->at, parts[i]->length);
        out->failed = out->failed || parts[i]->failed;
    }
    tr_buffer_print(out, "\tret;\n}\n");
    tr_buffer_free(&beside);
    tr_buffer_free(&body);
}

static void close_rows(RowKernel *k)
{
    for (int i = 0; i < PARTS; i++) free(k->parts[i].out);
    tr_nodes_close(&k->nodes);
    tr_flat_free(&k->flat);
    tr_translation_free(&k->translation);
    tr_words_free(&k->words);
    tr_buffer_free(&k->ptx.text);
    tr_buffer_free(&k->lists);
}

bool tr_gpu_rows_kernel(const Lanes *lanes, const GpuRows *rows, Buffer *out, tr_error *err)
{
    RowKernel k = {.lanes = lanes, .rows = rows};
    if (lanes->quaternions > 64)
        tr_fail(err, TR_FAILED, (Place){0}, "there are more than 64 quaternions");
    if (has_failed(err)) return false;
    k.translation = (Translation){.words = &k.words, .ptx = &k.ptx, .lists = &k.lists};
    const bool has_room = add_parts(&k) && tr_nodes_open(&k.nodes, &k.flat, &k.translation);
    if (has_room) {
        read_texts(&k);
        tr_nodes_tables(&k.nodes, &k.words);
        name_functions(&k);
        print_module(&k, out);
    }
    if (!has_room || k.words.failed || out->failed)
        tr_fail_memory(err);
    else if (k.translation.failure[0])
        tr_fail(err, TR_FAILED, (Place){0}, "there is no kernel for rows: %s",
                k.translation.failure);
    close_rows(&k);
    return !has_failed(err);
}

// ---- numbers of runs -----------------------------------------------------------------------

void tr_gpu_rows_enter(const Lanes *l, const GpuRows *rows, const RowsOfRun *run, double *block,
                       size_t stride, size_t at)
{
    block[place_of(l, ROWS_NEXT) * stride + at] = run->numbers ? run->next : rows->last + 1;
    block[place_of(l, ROWS_LIMIT) * stride + at] = run->limit;
    for (uint32_t i = 0; i < rows->numbers + rows->given; i++)
        block[(place_of(l, ROWS_NUMBERS) + i) * stride + at] = run->numbers ? run->numbers[i] : 0;
}

void tr_gpu_rows_leave(const Lanes *l, const GpuRows *rows, const double *block, size_t stride,
                       size_t at, RowsOfRun *run, double *until)
{
    if (!run->numbers) return;
    run->next = block[place_of(l, ROWS_NEXT) * stride + at];
    *until = block[(l->at.count + GPU_UNTIL) * stride + at];
    for (uint32_t i = 0; i < rows->numbers; i++)
        run->numbers[i] = block[(place_of(l, ROWS_NUMBERS) + i) * stride + at];
}
