// SPDX-License-Identifier: Apache-2.0
// What holds for every program, whoever made it.
#include "program/executable.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The values that an instruction takes come before its own, and change no more often than it.
static void check_operands(const Program *p, uint32_t k)
{
    const Instruction *i = &p->instructions[k];
    for (uint32_t which = 0; which < operand_count(i); which++)
        assert(operand_at(p, i, which) < p->first[k]); // the list is topological
    const bool table = i->code == OP_TABLE1 || i->code == OP_TABLE2;
    assert(!table || p->tables[i->c]); // every table that is used was copied
}

static void check_range(const Program *p, uint32_t k)
{
    const Instruction *i = &p->instructions[k];
    const Lineage *lineage = is_block(i->code) ? p->lineages[i->c] : NULL;
    assert(range_width(p, k) == result_width(i, lineage));
    if (i->code == CODE_FACTOR) assert(i->b == lineage_entries(lineage));
    if (i->code == CODE_SOLVE) assert(range_width(p, k) % lineage->size == 0);
}

static void check_units(const Program *p)
{
    assert(p->constant_count >= UNIT_COUNT);
    const double *units = p->constants + p->constant_count - UNIT_COUNT;
    assert(units[0] == 1 && units[1] == -1 && units[2] == 0 && signbit(units[2]));
}

void tr_program_check(const Program *p)
{
    check_units(p);
    assert(p->first[0] == first_result(p));    // inputs, constants, results
    assert(p->stage_end[STAGE_CONSTANT] == 0); // constants are folded
    assert(p->stage_end[STAGE_STATE] == p->instruction_count);
    int stage = STAGE_CONSTANT;
    for (uint32_t k = 0; k < p->instruction_count; k++) {
        while (k >= p->stage_end[stage]) stage++;
        assert(p->instructions[k].stage == stage); // stages follow each other
        assert(p->first[k + 1] > p->first[k]);     // ranges follow each other, and none is empty
        check_range(p, k);
        check_operands(p, k);
    }
    for (uint32_t i = 0; i < p->output_count; i++) assert(p->outputs[i] < value_count(p));
}

void tr_program_free(Program *program)
{
    if (!program) return;
    tr_executables_free(program->executables);
    for (uint32_t i = 0; i < program->table_count; i++) tr_table_free(program->tables[i]);
    tr_arena_free(&program->arena);
    free(program);
}

bool *tr_program_reached(const Program *p, const uint32_t *inputs, uint32_t count)
{
    bool *is = calloc((size_t)value_count(p) + 1, sizeof *is);
    for (uint32_t i = 0; is && i < count; i++)
        if (inputs[i] < p->input_count) is[inputs[i]] = true;
    for (uint32_t k = 0; is && k < p->instruction_count; k++) {
        const Instruction *i = &p->instructions[k];
        bool any = false;
        for (uint32_t o = 0; o < operand_count(i); o++) any = any || is[operand_at(p, i, o)];
        memset(is + p->first[k], any, range_width(p, k) * sizeof *is);
    }
    return is;
}

tr_program_size tr_program_sizes(const Program *p)
{
    if (!p) return (tr_program_size){0};
    return (tr_program_size){.inputs = p->input_count,
                             .outputs = p->output_count,
                             .operations = p->operations,
                             .instructions = p->instruction_count,
                             .state_operations = p->state_operations,
                             .state_instructions =
                                 p->instruction_count - p->stage_end[STAGE_PARAMETER]};
}
