// SPDX-License-Identifier: Apache-2.0
#include "program/list.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double *tr_list_room(const Program *p)
{
    double *room = calloc((size_t)value_count(p) + 1, sizeof *room);
    if (room) memcpy(room + p->input_count, p->constants, p->constant_count * sizeof *room);
    return room;
}

static double value_of(const Program *p, const Instruction *i, const double *v)
{
    const double a = v[i->a], b = code_operands(i->code) > 1 ? v[i->b] : 0,
                 c = code_operands(i->code) > 2 ? v[i->c] : 0;
    switch (i->code) {
    case CODE_FMA: return fma(a, b, c);
    case CODE_FMS: return fma(a, b, -c);
    case CODE_FNMA: return fma(-a, b, c);
    default: break;
    }
    assert(i->code < OP_COUNT);
    const bool table = tr_op[i->code].form == FORM_TABLE;
    return tr_op_value((Op)i->code, a, b, c, i->n, table ? p->tables[i->c] : NULL);
}

void tr_list_run(const Program *p, const double *inputs, double *room, double *outputs)
{
    if (p->input_count) memcpy(room, inputs, p->input_count * sizeof *room);
    for (uint32_t k = 0; k < p->instruction_count; k++) {
        const Instruction *i = &p->instructions[k];
        if (is_block(i->code))
            lineage_run(p->lineages[i->c], i->code == CODE_SOLVE, p->lists + i->a, i->b,
                        p->first[k], room, 1);
        else
            room[p->first[k]] = value_of(p, i, room);
    }
    for (uint32_t i = 0; i < p->output_count; i++) outputs[i] = room[p->outputs[i]];
}
