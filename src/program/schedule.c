// SPDX-License-Identifier: Apache-2.0
// Ordering instructions into runs of equal operations for the interpreter. A run costs mispredicted
// branches, so few long runs beat many short ones: always take the operation with the most
// instructions ready, and all that become ready on the way.
#include "program/interpret.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = UINT32_MAX;

typedef struct Schedule {
    const Program *program;
    uint32_t first;    // the first value that an instruction defines
    uint32_t *maker;   // by value from there on: the instruction
    uint32_t *waiting; // by instruction: operands not yet computed
    uint32_t *next;    // by instruction: the next in its queue
    uint32_t *user;    // users of instruction k: user[user_start[k]] .. user[user_start[k + 1] - 1]
    uint32_t *user_start;
    uint32_t head[CODE_COUNT], tail[CODE_COUNT], ready[CODE_COUNT]; // queues by code
    uint32_t *place; // by instruction: its first value in the order of execution
    uint32_t next_place;
    uint32_t *runs;
    size_t length; // of runs
} Schedule;

// Lists, for each instruction, those that use its value: counts them into their end, then fills
// from the end, which leaves the starts.
static void find_users(Schedule *s)
{
    const Program *p = s->program;
    const uint32_t count = p->instruction_count;
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t which = 0; which < operand_count(&p->instructions[k]); which++) {
            const uint32_t value = operand_at(p, &p->instructions[k], which);
            if (value < s->first) continue;
            s->user_start[s->maker[value - s->first]]++;
            s->waiting[k]++;
        }
    for (uint32_t k = 0; k < count; k++) s->user_start[k + 1] += s->user_start[k];
    for (uint32_t k = count; k-- > 0;)
        for (uint32_t which = 0; which < operand_count(&p->instructions[k]); which++) {
            const uint32_t value = operand_at(p, &p->instructions[k], which);
            if (value >= s->first) s->user[--s->user_start[s->maker[value - s->first]]] = k;
        }
}

static void find_makers(Schedule *s)
{
    const Program *p = s->program;
    for (uint32_t k = 0; k < p->instruction_count; k++)
        for (uint32_t value = p->first[k]; value < p->first[k + 1]; value++)
            s->maker[value - s->first] = k;
}

// A run ends in mispredicted branches, so sums and products join the runs of multiply-adds,
// exactly:
//   a + b = 1 a + b,   a - b = -1 b + a,   a b = a b + -0,   -a = -1 a + -0
static Instruction as_multiply_add(const Schedule *s, Instruction i)
{
    const uint32_t one = s->first - UNIT_COUNT, minus_one = one + 1, minus_zero = one + 2;
    switch (i.code) {
    case OP_ADD: return (Instruction){CODE_FMA, i.stage, 0, one, i.a, i.b};
    case OP_SUB: return (Instruction){CODE_FMA, i.stage, 0, minus_one, i.b, i.a};
    case OP_MUL: return (Instruction){CODE_FMA, i.stage, 0, i.a, i.b, minus_zero};
    case OP_NEG: return (Instruction){CODE_FMA, i.stage, 0, minus_one, i.a, minus_zero};
    default: return i;
    }
}

static void enqueue(Schedule *s, uint32_t k)
{
    const unsigned code = as_multiply_add(s, s->program->instructions[k]).code;
    s->next[k] = NONE;
    if (s->ready[code]++)
        s->next[s->tail[code]] = k;
    else
        s->head[code] = k;
    s->tail[code] = k;
}

// Where an operand will stand when it is needed.
static uint32_t place_of(const Schedule *s, uint32_t value)
{
    if (value < s->first) return value;
    const uint32_t k = s->maker[value - s->first];
    return s->place[k] + value - s->program->first[k];
}

static void emit_operands(Schedule *s, const Instruction *i)
{
    if (is_block(i->code)) s->runs[s->length++] = i->b, s->runs[s->length++] = i->c;
    for (uint32_t which = 0; which < operand_count(i); which++)
        s->runs[s->length++] = place_of(s, operand_at(s->program, i, which));
    if (is_block(i->code)) s->runs[s->length++] = s->next_place;
    if (i->code == OP_TABLE1 || i->code == OP_TABLE2) {
        s->runs[s->length++] = i->c;
        s->runs[s->length++] = (uint32_t)i->n;
    }
}

static void emit_packed(Schedule *s, const Instruction *i)
{
    uint64_t word = 0;
    for (int which = 0; which < 3; which++)
        word |= (uint64_t)place_of(s, operand_value(i, which)) << which * PACKED_BITS;
    memcpy(s->runs + s->length, &word, sizeof word);
    s->length += 2;
}

static void emit(Schedule *s, uint32_t k, bool wide)
{
    const Instruction i = as_multiply_add(s, s->program->instructions[k]);
    if (i.code < OP_COUNT || is_block(i.code) || wide)
        emit_operands(s, &i);
    else
        emit_packed(s, &i);
}

static unsigned longest_queue(const Schedule *s)
{
    unsigned best = 0;
    for (unsigned code = 1; code < CODE_COUNT; code++)
        if (s->ready[code] > s->ready[best]) best = code;
    return best;
}

static bool is_wide(const Schedule *s, unsigned code)
{
    return code >= OP_COUNT && !is_block(code) && value_count(s->program) > PACKED_MASK;
}

// What waited for an instruction that is done. Those of the next part wait for that, too.
static void release_users(Schedule *s, uint32_t k, uint32_t end)
{
    for (uint32_t u = s->user_start[k]; u < s->user_start[k + 1]; u++)
        if (--s->waiting[s->user[u]] == 0 && s->user[u] < end) enqueue(s, s->user[u]);
}

// All that is ready of one code, and what becomes ready by it.
static uint32_t emit_run(Schedule *s, unsigned code, uint32_t end)
{
    const bool wide = is_wide(s, code);
    s->runs[s->length++] = wide ? code | WIDE : code;
    const size_t count_at = s->length++;
    uint32_t done = 0;
    for (; s->ready[code]; done++) {
        const uint32_t k = s->head[code];
        s->head[code] = s->next[k];
        s->ready[code]--;
        emit(s, k, wide);
        s->place[k] = s->next_place;
        s->next_place += range_width(s->program, k);
        release_users(s, k, end);
    }
    s->runs[count_at] = done;
    return done;
}

static void order_part(Schedule *s, ProgramPart part)
{
    const uint32_t start = part_start(s->program, part), end = part_end(s->program, part);
    for (uint32_t k = start; k < end; k++)
        if (!s->waiting[k]) enqueue(s, k);
    for (uint32_t done = start; done < end;) done += emit_run(s, longest_queue(s), end);
    s->runs[s->length++] = OP_FAILED;
    s->runs[s->length++] = 0;
}

// What was scheduled, for good.
static bool keep(Schedule *s, const size_t start[PART_COUNT], Interpreted *i, Arena *arena)
{
    const Program *p = s->program;
    uint32_t *runs = tr_arena_alloc(arena, s->length, sizeof *runs);
    uint32_t *outputs = tr_arena_alloc(arena, p->output_count, sizeof *outputs);
    if (!runs || !outputs) return false;
    memcpy(runs, s->runs, s->length * sizeof *runs);
    for (uint32_t k = 0; k < p->output_count; k++) outputs[k] = place_of(s, p->outputs[k]);
    for (int part = 0; part < PART_COUNT; part++) i->runs[part] = runs + start[part];
    i->executable.outputs = outputs;
    return true;
}

static bool schedule(Schedule *s, Interpreted *i, Arena *arena)
{
    size_t start[PART_COUNT];
    find_makers(s);
    find_users(s);
    s->next_place = s->first;
    for (int part = 0; part < PART_COUNT; part++) {
        start[part] = s->length;
        i->first[part] = s->next_place;
        order_part(s, (ProgramPart)part);
    }
    assert(s->next_place == value_count(s->program)); // every value is computed once
    return keep(s, start, i, arena);
}

static Interpreted *interpret(const Program *p, Executable executable, Arena *arena)
{
    const size_t count = p->instruction_count, values = value_count(p) - first_result(p);
    size_t operands = 0;
    for (uint32_t k = 0; k < count; k++) operands += operand_count(&p->instructions[k]);
    Schedule s = {.program = p, .first = first_result(p)};
    s.maker = malloc((values + 1) * sizeof *s.maker);
    s.waiting = calloc(count + 1, sizeof *s.waiting);
    s.next = malloc((count + 1) * sizeof *s.next);
    s.user = malloc((operands + 1) * sizeof *s.user);
    s.user_start = calloc(count + 1, sizeof *s.user_start);
    s.place = malloc((count + 1) * sizeof *s.place);
    // for each instruction a code, a count, a payload of three, and its operands, of which a sum
    // that becomes a multiply-add has more; two ends
    s.runs = malloc((operands + 7 * count + 2 * PART_COUNT) * sizeof *s.runs);
    Interpreted *i = tr_arena_alloc(arena, 1, sizeof *i);
    bool good = s.maker && s.waiting && s.next && s.user && s.user_start && s.place && s.runs && i;
    if (good) {
        i->executable = executable;
        i->executable.value_count = value_count(p);
        i->tables = p->tables, i->lineages = p->lineages;
        good = schedule(&s, i, arena);
    }
    free(s.maker);
    free(s.waiting);
    free(s.next);
    free(s.user);
    free(s.user_start);
    free(s.place);
    free(s.runs);
    return good ? i : NULL;
}

const Executable *tr_interpret(const Program *p, Interpreter *interpreter, Arena *arena)
{
    Interpreted *i = interpret(p, (Executable){.run = interpreter, .lanes = 1}, arena);
    if (!i) return NULL;
    i->kernels = tr_kernels(tr_machine(), 1);
    return &i->executable;
}

const Executable *tr_interpret_lanes(const Program *p, Machine machine, uint32_t lanes,
                                     Arena *arena)
{
    const Executable blocks = {.run = tr_lane_interpreter(machine, lanes), .lanes = lanes};
    Interpreted *i = interpret(p, blocks, arena);
    if (!i) return NULL;
    i->kernels = tr_kernels(machine, lanes);
    return &i->executable;
}

static void free_interpreted(Executable *executable)
{
    Arena *own = ((Interpreted *)executable)->own;
    tr_arena_free(own);
    free(own);
}

Executable *tr_interpret_new(const Program *p, uint32_t lanes)
{
    Arena *own = calloc(1, sizeof *own);
    Interpreted *i = NULL;
    if (own)
        i = (Interpreted *)(lanes > 1 ? tr_interpret_lanes(p, tr_machine(), lanes, own)
                                      : tr_interpret(p, tr_interpreter(), own));
    if (i) {
        i->own = own, i->executable.free = free_interpreted;
        return &i->executable;
    }
    if (own) tr_arena_free(own);
    free(own);
    return NULL;
}
