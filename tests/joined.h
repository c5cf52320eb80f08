// SPDX-License-Identifier: Apache-2.0
// The same program with instructions that define ranges: now and then a value goes through the
// factors of a diagonal matrix of three, which are its entries, and whoever uses it later takes it
// from there.
#ifndef TR_TESTS_JOINED_H
#define TR_TESTS_JOINED_H

#include "program/interpret.h"

#include <assert.h>

typedef struct Joiner {
    const Program *from;
    Instruction *list;
    uint32_t *first, *lists, *now; // now: by value of `from`, its value here
    uint32_t count, value, list_length;
} Joiner;

static inline void join_values(Joiner *j, uint32_t value, uint8_t stage)
{
    const uint32_t unit = first_result(j->from) - 1; // a constant
    j->list[j->count] =
        (Instruction){.code = CODE_FACTOR, .stage = stage, .a = j->list_length, .b = 3};
    j->first[j->count++] = j->value;
    j->lists[j->list_length++] = j->now[value];
    j->lists[j->list_length++] = unit;
    j->lists[j->list_length++] = j->now[value];
    j->now[value] = j->value + (value % 2 ? 0 : 2);
    j->value += 3;
}

static inline void copy_instruction(Joiner *j, uint32_t k)
{
    Instruction i = j->from->instructions[k];
    for (int which = 0; which < code_operands(i.code); which++)
        *instruction_operand(&i, which) = j->now[operand_value(&i, which)];
    j->now[j->from->first[k]] = j->value;
    j->list[j->count] = i;
    j->first[j->count++] = j->value++;
    if (k % 3 == 0) join_values(j, j->from->first[k], i.stage);
}

// Lives in the arena; inputs, constants and tables are those of `p`, which has no blocks.
static inline Program *joined(const Program *p, Arena *arena)
{
    const size_t most = 2 * (size_t)p->instruction_count + 1;
    Joiner j = {.from = p, .value = first_result(p)};
    Program *q = tr_arena_alloc(arena, 1, sizeof *q);
    uint32_t *outputs = tr_arena_alloc(arena, p->output_count, sizeof *outputs);
    j.list = tr_arena_alloc(arena, most, sizeof *j.list);
    j.first = tr_arena_alloc(arena, most, sizeof *j.first);
    j.lists = tr_arena_alloc(arena, 3 * most, sizeof *j.lists);
    j.now = tr_arena_alloc(arena, value_count(p), sizeof *j.now);
    assert(q && outputs && j.list && j.first && j.lists && j.now);
    *q = *p;
    q->arena = (Arena){0};
    static const uint32_t apart[3] = {LINEAGE_TOP, LINEAGE_TOP, LINEAGE_TOP};
    const Lineage **lineages = tr_arena_alloc(arena, 1, sizeof *lineages);
    assert(lineages);
    lineages[0] = tr_lineage_new(arena, apart, 3);
    q->lineages = lineages;
    for (uint32_t i = 0; i < first_result(p); i++) j.now[i] = i;
    for (uint32_t k = 0, stage = 0; k < p->instruction_count; k++) {
        copy_instruction(&j, k);
        for (; stage < STAGE_COUNT && k + 1 >= p->stage_end[stage]; stage++)
            q->stage_end[stage] = p->stage_end[stage] ? j.count : 0;
    }
    j.first[j.count] = j.value;
    for (uint32_t i = 0; i < p->output_count; i++) outputs[i] = j.now[p->outputs[i]];
    q->instructions = j.list, q->instruction_count = j.count;
    q->first = j.first, q->lists = j.lists, q->outputs = outputs;
    tr_program_check(q);
    q->executables = NULL; // see tr_workspace_on
    return q;
}

#endif
