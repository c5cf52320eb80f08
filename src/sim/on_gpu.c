// SPDX-License-Identifier: Apache-2.0
#include "sim/on_gpu.h"

#include "gpu/nodes.h"
#include "gpu/spill.h"
#include "sim/embedded.h"
#include "sim/gpu_thread.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)GPU_THREADS == (int)SPILL_THREADS, "of a block");

// A program of the kernel: nodes of its outputs
typedef struct Part {
    struct Making *kernel;
    const Program *program;
    uint32_t *out;
    uint32_t count;
} Part;

enum { REGISTERS = 116 }; // that hold numbers (make bench-gpu)
enum { RATES, WATCHED, PHI, PROJECTION, PARTS };

typedef struct Making {
    const Lanes *lanes;
    GpuTerms terms;
    Ptx ptx;
    Words words;
    Translation translation;
    Flat flat;
    Nodes nodes;
    Part parts[PARTS];
    Buffer lists;
    uint32_t base, stride, state, inputs; // registers: addresses of this thread, and bytes apart
    uint32_t counters;                    // cells: evaluations of this step, and of all
} Making;

// ---- what is known of the runs -------------------------------------------------------------

static void define(Making *k, const char *name, uint32_t n)
{
    tr_words_define(&k->words, name, tr_ptx_whole(KIND_INT, n));
}

static void define_sizes(Making *k)
{
    const Lanes *l = k->lanes;
    define(k, "SIZE", l->size), define(k, "KNOWN", l->known);
    define(k, "POSITIONS", l->positions), define(k, "ALARMS", l->watch ? l->alarms : 0);
    define(k, "ROWS", l->pivots ? l->rows : 0), define(k, "CONSTRAINTS", l->constraints);
    define(k, "SWITCHES", l->switches), define(k, "PIVOTS", l->watch ? l->pivots : 0);
    define(k, "PROJECTED", l->projected), define(k, "CONDITIONS", l->conditions);
    define(k, "SURPLUS", l->watch && !l->is_single ? l->surplus : 0),
        define(k, "QUATERNIONS", l->quaternions);
    define(k, "LIE", l->is_lie), define(k, "LOOKS", l->watch != NULL);
    define(k, "WATCHES", l->watches);
    define(k, "HAS_SIDES", l->programs->of[CHART_SIDES] != NULL);
    // Below these a gap is closed, and a row has lost all that it said
    tr_words_define(&k->words, "NO_GAP", tr_ptx_number(l->is_single ? 1e-7 : 1e-15));
    tr_words_define(&k->words, "NO_ROW", tr_ptx_number(l->is_single ? 1e-5 : 1e-12));
    tr_words_define(&k->words, "TILT_BAD", tr_ptx_number(TILT_BAD));
    tr_words_define(&k->words, "PIVOT_BAD", tr_ptx_number(PIVOT_BAD));
}

static void define_places(Making *k)
{
    const Lanes *l = k->lanes;
    const RecordPlaces *at = &l->at;
    const WatchPlaces *seen = &l->programs->watched;
    define(k, "PLACE_PAST", at->past[0]), define(k, "PAST_COUNT", l->past_count);
    define(k, "PAST_Y", l->past_y), define(k, "PAST_MARGINS", l->past_margins);
    define(k, "LAST_STATES", LAST_STATES);
    define(k, "PLACE_LAST", at->last), define(k, "PLACE_TOLD", at->told);
    define(k, "PLACE_DEAF", at->deaf), define(k, "PLACE_SQUARES", at->squares);
    define(k, "PLACE_SCALES", at->scales), define(k, "PLACE_LARGEST", at->largest);
    define(k, "PLACE_KEPT", at->kept), define(k, "PLACE_NEWEST", at->count + GPU_NEWEST);
    define(k, "PLACE_FATE", at->count + GPU_FATE), define(k, "PLACE_MADE", at->count + GPU_MADE);
    define(k, "PLACE_UNTIL", at->count + GPU_UNTIL);
    define(k, "SEEN", l->watch ? seen->count : l->size);
    define(k, "SEEN_ALARMS", seen->alarms), define(k, "SEEN_SQUARES", seen->squares);
    define(k, "SEEN_PIVOTS", seen->pivots), define(k, "SEEN_TILT", seen->tilt);
    define(k, "SEEN_SURPLUS", seen->surplus), define(k, "SEEN_SWITCHES", seen->switches);
}

static void define_list(Making *k, const char *name, const uint32_t *entries, uint32_t count)
{
    Value *values = calloc(count + 1u, sizeof *values);
    for (uint32_t i = 0; values && i < count; i++) values[i] = tr_ptx_whole(KIND_INT, entries[i]);
    if (values)
        tr_words_list(&k->words, name, values, count);
    else
        k->words.failed = true;
    free(values);
}

static void define_rows(Making *k)
{
    const Lanes *l = k->lanes;
    Value *units = calloc(2 * (size_t)l->rows + 1, sizeof *units);
    if (!units) {
        k->words.failed = true;
        return;
    }
    Value *open = units + l->rows;
    for (uint32_t i = 0; i < l->rows; i++) {
        units[i] = tr_ptx_number(l->unit[i]);
        open[i] = tr_ptx_whole(KIND_INT, l->programs->footing->open[i]);
    }
    tr_words_list(&k->words, "UNIT", units, l->rows);
    tr_words_list(&k->words, "OPEN", open, l->rows);
    free(units);
    define_list(k, "SURPLUS_ROW", l->surplus_row, l->surplus);
    define_list(k, "QUATERNION", l->quaternion, l->quaternions);
    define_list(k, "PIVOT_ROW", l->programs->partition.row, l->pivots);
}

static void read_words(Making *k)
{
    tr_nodes_words(&k->words);
    tr_words_add(&k->words, tr_sim_dense());
    tr_words_add(&k->words, tr_sim_chart());
    tr_words_add(&k->words, tr_sim_glance());
    tr_words_add(&k->words, tr_sim_group());
    tr_words_add(&k->words, tr_sim_lane_math());
    define_sizes(k);
    define_places(k);
    define_rows(k);
    tr_words_add(&k->words, tr_sim_gpu_step());
}

// ---- programs ------------------------------------------------------------------------------

static uint32_t input_node(Making *k, uint32_t i)
{
    if (i == 0) return tr_flat_argument(&k->flat, ARGUMENT_T, 0);
    if (!k->terms.inputs || isnan(k->terms.inputs[i]))
        return tr_flat_argument(&k->flat, ARGUMENT_U, i);
    return tr_flat_number(&k->flat, k->terms.inputs[i]);
}

static bool add_program(Making *k, Part *part, const Program *p)
{
    part->kernel = k, part->program = p;
    if (!p) return true;
    uint32_t *inputs = calloc(2 * (size_t)p->output_count + p->input_count + 1, sizeof *inputs);
    part->out = calloc(p->output_count + 1u, sizeof *part->out);
    if (!inputs || !part->out) {
        free(inputs);
        return false;
    }
    uint32_t *wanted = inputs + p->input_count;
    for (uint32_t i = 0; i < p->input_count; i++) inputs[i] = input_node(k, i);
    for (uint32_t i = 0; i < k->lanes->known; i++)
        inputs[k->lanes->programs->place[i]] = tr_flat_argument(&k->flat, ARGUMENT_X, i);
    part->count = p->output_count;
    for (uint32_t i = 0; i < part->count; i++) wanted[i] = i;
    tr_flat_program(&k->flat, p, inputs, wanted, part->count, part->out);
    free(inputs);
    return true;
}

static bool add_programs(Making *k)
{
    const Lanes *l = k->lanes;
    tr_program *const *of = l->programs->of;
    return add_program(k, &k->parts[RATES], of[CHART_RATES]) &&
           add_program(k, &k->parts[WATCHED], l->watch ? of[CHART_WATCH] : NULL) &&
           add_program(k, &k->parts[PHI], l->projected ? of[CHART_PHI] : NULL) &&
           add_program(k, &k->parts[PROJECTION], l->projected ? of[CHART_PROJECTION] : NULL) &&
           !k->flat.failed;
}

// A program at the time and the state that it is given
static Thing call_program(Translation *t, void *owner, const Thing *a, uint32_t count)
{
    Part *part = owner;
    Making *k = part->kernel;
    assert(count == 3 && part->program);
    (void)count;
    for (uint32_t i = 0; i < k->flat.count; i++) {
        const FlatNode *node = &k->flat.nodes[i];
        if (node->code != FLAT_ARGUMENT) continue;
        if (node->a == ARGUMENT_T)
            k->nodes.value[i] = tr_ptx_convert(&k->ptx, a[0].value, ptx_number_kind(&k->ptx));
        if (node->a == ARGUMENT_X) k->nodes.value[i] = t->cells[a[1].cell + node->b];
    }
    assert(a[1].cell != a[2].cell); // numbers go to their places while states are still wanted
    Value *places = malloc((part->count + 1u) * sizeof *places); // cells may move
    if (places) {
        memcpy(places, t->cells + a[2].cell, part->count * sizeof *places);
        tr_nodes_make(&k->nodes, part->out, part->count, places);
    } else
        tr_translate_no_memory(t);
    free(places);
    tr_nodes_forget(&k->nodes);
    return (Thing){0};
}

// What inputs alone decide is found once for a launch.
static void prepare(Making *k)
{
    const Flat *flat = &k->flat;
    bool *moves = calloc(2 * (size_t)flat->count + 1, sizeof *moves);
    bool *used = moves ? moves + flat->count : NULL;
    uint32_t *wanted = calloc(flat->count + 1u, sizeof *wanted), count = 0;
    if (!moves || !wanted) tr_translate_no_memory(&k->translation);
    for (uint32_t i = 0; wanted && moves && i < flat->count; i++) {
        const FlatNode *node = &flat->nodes[i];
        moves[i] = node->code == FLAT_ARGUMENT && node->a != ARGUMENT_U;
        for (int o = 0; o < flat_operands(node); o++)
            moves[i] = moves[i] || moves[flat_operand(node, o)];
        for (int o = 0; moves[i] && o < flat_operands(node); o++)
            used[flat_operand(node, o)] = true;
        if (node->code != FLAT_ARGUMENT || node->a != ARGUMENT_U) continue;
        const Value loaded = tr_ptx_register(&k->ptx, KIND_REAL);
        const Value at = tr_ptx_register(&k->ptx, KIND_U64);
        tr_buffer_print(&k->ptx.text, "\tmad.lo.u64 %%l%u, %%l%u, %u, %%l%u;\n", at.number,
                        k->stride, node->b, k->inputs);
        tr_buffer_print(&k->ptx.text, "\tld.global.f64 %%d%u, [%%l%u];\n", loaded.number,
                        at.number);
        k->nodes.value[i] = tr_ptx_convert(&k->ptx, loaded, ptx_number_kind(&k->ptx));
        k->nodes.value[i].is_fresh = false;
    }
    for (int p = 0; p < PARTS && moves; p++)
        for (uint32_t i = 0; i < k->parts[p].count; i++) used[k->parts[p].out[i]] = true;
    for (uint32_t i = 0; wanted && moves && i < flat->count; i++)
        if (used[i] && !moves[i]) wanted[count++] = i;
    if (wanted && moves) tr_nodes_make(&k->nodes, wanted, count, NULL);
    tr_nodes_keep(&k->nodes);
    free(moves);
    free(wanted);
}

// ---- numbers in memory ---------------------------------------------------------------------

static Thing load(Making *k, uint32_t base, Value place)
{
    return thing_of(tr_gpu_load(&k->ptx, base, k->stride, place));
}

static Thing store(Making *k, uint32_t base, Value place, Value x)
{
    tr_gpu_store(&k->ptx, base, k->stride, place, x);
    return (Thing){0};
}

static Thing call_get(Translation *t, void *owner, const Thing *a, uint32_t count)
{
    (void)t, (void)count;
    return load(owner, ((Making *)owner)->base, a[0].value);
}
static Thing call_put(Translation *t, void *owner, const Thing *a, uint32_t count)
{
    (void)t, (void)count;
    return store(owner, ((Making *)owner)->base, a[0].value, a[1].value);
}
static Thing call_state(Translation *t, void *owner, const Thing *a, uint32_t count)
{
    (void)t, (void)count;
    return load(owner, ((Making *)owner)->state, a[0].value);
}
static Thing call_set_state(Translation *t, void *owner, const Thing *a, uint32_t count)
{
    (void)t, (void)count;
    return store(owner, ((Making *)owner)->state, a[0].value, a[1].value);
}

// ---- evaluations are counted ---------------------------------------------------------------

static void count(Making *k, uint32_t counter, Value more)
{
    const Value sum = k->translation.cells[k->counters + counter];
    tr_ptx_move(&k->ptx, sum, tr_ptx_binary(&k->ptx, "+", sum, more));
}
static Thing call_count(Translation *t, void *owner, const Thing *a, uint32_t arguments)
{
    (void)t, (void)a, (void)arguments;
    count(owner, 0, tr_ptx_number(1));
    return (Thing){0};
}
static Thing call_count_first(Translation *t, void *owner, const Thing *a, uint32_t arguments)
{
    (void)t, (void)a, (void)arguments;
    count(owner, 1, tr_ptx_number(1));
    return (Thing){0};
}
static Thing call_take(Translation *t, void *owner, const Thing *a, uint32_t arguments)
{
    (void)arguments;
    Making *k = owner;
    const Value own = t->cells[k->counters];
    count(k, 1, tr_ptx_binary(&k->ptx, "+", own, a[0].value));
    tr_ptx_move(&k->ptx, own, tr_ptx_number(0));
    return (Thing){0};
}
static Thing call_put_evaluations(Translation *t, void *owner, const Thing *a, uint32_t arguments)
{
    (void)a, (void)arguments;
    Making *k = owner;
    return store(k, k->base, tr_ptx_whole(KIND_INT, AT_ALL_EVALUATIONS), t->cells[k->counters + 1]);
}

// Threads of a warp that are here go on together, when all of them that have not ended are here: it
// stands at one place, which all of them pass until they end.
static Thing call_meet(Translation *t, void *owner, const Thing *a, uint32_t arguments)
{
    (void)t, (void)a, (void)arguments;
    tr_buffer_print(&((Making *)owner)->ptx.text, "\tbar.warp.sync 4294967295;\n");
    return (Thing){0};
}

static void name_builtins(Making *k)
{
    static const char *const names[PARTS] = {"rates", "watch", "phi", "projection"};
    Translation *t = &k->translation;
    for (int i = 0; i < PARTS; i++) tr_translate_builtin(t, names[i], call_program, &k->parts[i]);
    tr_translate_builtin(t, "meet", call_meet, k);
    tr_translate_builtin(t, "get", call_get, k);
    tr_translate_builtin(t, "put", call_put, k);
    tr_translate_builtin(t, "state", call_state, k);
    tr_translate_builtin(t, "set_state", call_set_state, k);
    tr_translate_builtin(t, "count_evaluation", call_count, k);
    tr_translate_builtin(t, "count_first", call_count_first, k);
    tr_translate_builtin(t, "take_evaluations", call_take, k);
    tr_translate_builtin(t, "put_evaluations", call_put_evaluations, k);
}

// ---- the kernel ----------------------------------------------------------------------------

static void write_body(Making *k)
{
    Translation *t = &k->translation;
    const uint32_t end = tr_ptx_label(&k->ptx);
    const GpuThread own = tr_gpu_thread(&k->ptx, end);
    k->base = own.record, k->state = own.state, k->inputs = own.inputs, k->stride = own.stride;
    const Thing arguments[] = {thing_of(tr_gpu_parameter(&k->ptx, KIND_REAL, "tr_step")),
                               thing_of(tr_gpu_parameter(&k->ptx, KIND_U32, "tr_steps"))};
    prepare(k);
    k->counters = tr_translate_cells(t, KIND_REAL, 2);
    tr_ptx_move(&k->ptx, t->cells[k->counters], tr_ptx_number(0));
    tr_ptx_move(&k->ptx, t->cells[k->counters + 1],
                load(k, k->base, tr_ptx_whole(KIND_INT, AT_ALL_EVALUATIONS)).value);
    tr_translate_call(t, "go", arguments, 2);
    tr_ptx_here(&k->ptx, end);
    tr_buffer_print(&k->ptx.text, "\tret;\n");
}

static void write_module(Making *k, Buffer *out, uint32_t *shared)
{
    Buffer beside = {0}, kernel = {0};
    tr_nodes_beside(&k->translation, &beside);
    write_body(k);
    tr_gpu_head(out, "steps of a model, one thread for each run");
    const SpillPlan plan = {k->terms.registers ? k->terms.registers : REGISTERS,
                            (uint32_t)(k->terms.room / (SPILL_THREADS * sizeof(double)))};
    // Numbers of half the length mostly find a register: they are the driver's.
    const bool spills = plan.places && !k->ptx.is_single;
    if (spills && !tr_spill(&k->ptx, &plan, out, &kernel, shared)) out->failed = true;
    if (k->lists.length) tr_buffer_add(out, k->lists.at, k->lists.length);
    if (beside.length) tr_buffer_add(out, beside.at, beside.length);
    tr_gpu_entry(out, GPU_ENTRY);
    tr_ptx_registers(&k->ptx, out);
    if (kernel.length) tr_buffer_add(out, kernel.at, kernel.length);
    if (k->ptx.text.length) tr_buffer_add(out, k->ptx.text.at, k->ptx.text.length);
    tr_buffer_print(out, "}\n");
    out->failed =
        out->failed || kernel.failed || beside.failed || k->ptx.text.failed || k->lists.failed;
    tr_buffer_free(&beside);
    tr_buffer_free(&kernel);
}

static bool is_fit(const Lanes *l, tr_error *err)
{
    if (!l->touchings) return true;
    tr_fail(err, TR_FAILED, (Place){0},
            "no GPU looks for a second touch on a surface that is not flat");
    return false;
}

static void close_kernel(Making *k)
{
    for (int i = 0; i < PARTS; i++) free(k->parts[i].out);
    tr_nodes_close(&k->nodes);
    tr_flat_free(&k->flat);
    tr_translation_free(&k->translation);
    tr_words_free(&k->words);
    tr_buffer_free(&k->ptx.text);
    tr_buffer_free(&k->lists);
}

bool tr_gpu_kernel(const Lanes *lanes, GpuTerms terms, Buffer *out, uint32_t *shared, tr_error *err)
{
    *shared = 0;
    if (has_failed(err) || !is_fit(lanes, err)) return false;
    Making k = {.lanes = lanes, .terms = terms};
    k.ptx.is_single = k.words.is_single = lanes->is_single;
    k.translation = (Translation){.words = &k.words, .ptx = &k.ptx, .lists = &k.lists};
    const bool has_room = tr_translation_open(&k.translation) && add_programs(&k) &&
                          tr_nodes_open(&k.nodes, &k.flat, &k.translation);
    if (has_room) {
        read_words(&k);
        tr_nodes_tables(&k.nodes, &k.words);
        name_builtins(&k);
        write_module(&k, out, shared);
    }
    const bool failed = !has_room || k.words.failed || out->failed || k.translation.no_memory;
    if (!failed && k.translation.failure[0])
        tr_fail(err, TR_FAILED, (Place){0}, "there is no kernel for a GPU: %s",
                k.translation.failure);
    close_kernel(&k);
    if (failed) tr_fail_memory(err);
    return !has_failed(err);
}

// ---- records -------------------------------------------------------------------------------

void tr_gpu_enter(const Lanes *l, const double *record, double until, double *block, size_t stride,
                  size_t at)
{
    for (uint32_t i = 0; i < l->at.count; i++) block[i * stride + at] = record[i];
    block[AT_WATCHED * stride + at] = (double)NAN;
    block[(l->at.count + GPU_NEWEST) * stride + at] = LAST_STATES - 1;
    block[(l->at.count + GPU_FATE) * stride + at] = LANE_STEPPED;
    block[(l->at.count + GPU_MADE) * stride + at] = 0;
    block[(l->at.count + GPU_UNTIL) * stride + at] = until;
}

LaneFate tr_gpu_leave(const Lanes *l, const double *block, size_t stride, size_t at, double *record,
                      double *made)
{
    for (uint32_t i = 0; i < l->at.count; i++) record[i] = block[i * stride + at];
    const uint32_t newest = (uint32_t)block[(l->at.count + GPU_NEWEST) * stride + at];
    for (uint32_t i = 0; i < LAST_STATES && l->watches; i++) {
        const uint32_t from = l->at.past[(newest + 1 + i) % LAST_STATES];
        for (uint32_t n = 0; n < l->past_count; n++)
            record[l->at.past[i] + n] = block[(from + n) * stride + at];
    }
    *made = block[(l->at.count + GPU_MADE) * stride + at];
    return (LaneFate)(int)block[(l->at.count + GPU_FATE) * stride + at];
}
