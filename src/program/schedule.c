// SPDX-License-Identifier: Apache-2.0
// Ordering instructions into runs of equal operations for the interpreter. A run costs mispredicted
// branches, so few long runs beat many short ones: always take the operation with the most
// instructions ready, and all that become ready on the way.
#include "program/interpret.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = UINT32_MAX;

typedef struct Schedule {
    const Program *program;
    uint32_t first;    // value of the first instruction
    uint32_t *waiting; // by instruction: operands not yet computed
    uint32_t *next;    // by instruction: the next in its queue
    uint32_t *user;    // users of instruction k: user[user_start[k]] .. user[user_start[k + 1] - 1]
    uint32_t *user_start;
    uint32_t head[CODE_COUNT], tail[CODE_COUNT], ready[CODE_COUNT]; // queues by code
    uint32_t *place; // by instruction: its value in the order of execution
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
        for (int which = 0; which < code_operands(p->instructions[k].code); which++) {
            const uint32_t value = operand_value(&p->instructions[k], which);
            if (value < s->first) continue;
            s->user_start[value - s->first]++;
            s->waiting[k]++;
        }
    for (uint32_t k = 0; k < count; k++) s->user_start[k + 1] += s->user_start[k];
    for (uint32_t k = count; k-- > 0;)
        for (int which = 0; which < code_operands(p->instructions[k].code); which++) {
            const uint32_t value = operand_value(&p->instructions[k], which);
            if (value >= s->first) s->user[--s->user_start[value - s->first]] = k;
        }
}

// A run ends in mispredicted branches, so sums and products join the runs of multiply-adds,
// exactly:
//   a + b = 1 a + b,   a - b = -1 b + a,   a b = a b + -0,   -a = -1 a + -0
static Instruction as_multiply_add(const Schedule *s, Instruction i)
{
    const uint32_t one = s->first - 3, minus_one = s->first - 2, minus_zero = s->first - 1;
    switch (i.code) {
    case OP_ADD: return (Instruction){CODE_FMA, 0, one, i.a, i.b};
    case OP_SUB: return (Instruction){CODE_FMA, 0, minus_one, i.b, i.a};
    case OP_MUL: return (Instruction){CODE_FMA, 0, i.a, i.b, minus_zero};
    case OP_NEG: return (Instruction){CODE_FMA, 0, minus_one, i.a, minus_zero};
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
    return value < s->first ? value : s->place[value - s->first];
}

static void emit_operands(Schedule *s, const Instruction *i)
{
    for (int which = 0; which < code_operands(i->code); which++)
        s->runs[s->length++] = place_of(s, operand_value(i, which));
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
    if (i.code < OP_COUNT || wide)
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

// All that is ready of one code, and what becomes ready by it.
static uint32_t emit_run(Schedule *s, unsigned code, uint32_t done)
{
    const bool wide = code >= OP_COUNT && value_count(s->program) > PACKED_MASK;
    s->runs[s->length++] = wide ? code | WIDE : code;
    const size_t count_at = s->length++;
    const uint32_t before = done;
    while (s->ready[code]) {
        const uint32_t k = s->head[code];
        s->head[code] = s->next[k];
        s->ready[code]--;
        emit(s, k, wide);
        s->place[k] = s->first + done++;
        for (uint32_t u = s->user_start[k]; u < s->user_start[k + 1]; u++)
            if (--s->waiting[s->user[u]] == 0) enqueue(s, s->user[u]);
    }
    s->runs[count_at] = done - before;
    return done;
}

static void order(Schedule *s)
{
    find_users(s);
    for (uint32_t k = 0; k < s->program->instruction_count; k++)
        if (!s->waiting[k]) enqueue(s, k);
    for (uint32_t done = 0; done < s->program->instruction_count;)
        done = emit_run(s, longest_queue(s), done);
    s->runs[s->length++] = OP_FAILED;
    s->runs[s->length++] = 0;
}

bool tr_schedule_runs(Program *p)
{
    const uint32_t count = p->instruction_count;
    Schedule s = {.program = p, .first = p->input_count + p->constant_count};
    s.waiting = calloc((size_t)count + 1, sizeof *s.waiting);
    s.next = malloc(((size_t)count + 1) * sizeof *s.next);
    s.user = malloc((3 * (size_t)count + 1) * sizeof *s.user);
    s.user_start = calloc((size_t)count + 1, sizeof *s.user_start);
    s.place = malloc(((size_t)count + 1) * sizeof *s.place);
    s.runs = malloc((6 * (size_t)count + 2) * sizeof *s.runs); // 2 + 4 at most per instruction
    uint32_t *outputs = tr_arena_alloc(&p->arena, p->output_count, sizeof *outputs);
    uint32_t *runs = NULL;
    if (s.waiting && s.next && s.user && s.user_start && s.place && s.runs && outputs) {
        order(&s);
        runs = tr_arena_alloc(&p->arena, s.length, sizeof *runs);
    }
    if (runs) {
        for (size_t i = 0; i < s.length; i++) runs[i] = s.runs[i];
        for (uint32_t i = 0; i < p->output_count; i++)
            outputs[i] = p->outputs[i] < s.first ? p->outputs[i] : s.place[p->outputs[i] - s.first];
        p->runs = runs;
        p->run_outputs = outputs;
    }
    free(s.waiting);
    free(s.next);
    free(s.user);
    free(s.user_start);
    free(s.place);
    free(s.runs);
    return runs != NULL;
}
