// SPDX-License-Identifier: Apache-2.0
#include "program/native.h"

#include "program/allocate.h"
#include "program/order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Emitter {
    const Program *program;
    const KernelSet *kernels;
    NativeCode *made;
    MachineCode code;
    Allocation room;
    uint32_t lanes;
    uint32_t unit; // place of 1; -1 and -0 follow
    // By use, in the order of instructions and their operands: the next one of the same value
    uint32_t *next_use;
    size_t use; // the next to be counted off
} Emitter;

// ---- uses ----------------------------------------------------------------------------------

// From the last instruction to the first, so that `next` ends as the first use of each.
static void find_uses(Emitter *e, const Order *order)
{
    const Program *p = e->program;
    size_t use = 0;
    for (uint32_t at = 0; at < order->count; at++)
        use += operand_count(&p->instructions[order->instructions[at]]);
    e->use = 0;
    for (uint32_t at = order->count; at-- > 0;) {
        const Instruction *i = &p->instructions[order->instructions[at]];
        for (uint32_t which = operand_count(i); which-- > 0;) {
            uint32_t *next = &e->room.next[operand_at(p, i, which)];
            e->next_use[--use] = *next;
            *next = at;
        }
    }
}

// Counts off the operands of the instruction at a position: from now on their next use is behind
// it.
static void count_off(Emitter *e, uint32_t k, uint32_t at)
{
    const Instruction *i = &e->program->instructions[k];
    for (uint32_t which = 0; which < operand_count(i); which++) {
        const uint32_t next = e->next_use[e->use++];
        if (next != at) e->room.next[operand_at(e->program, i, which)] = next;
    }
}

static void release_operands(Emitter *e, uint32_t k)
{
    const Instruction *i = &e->program->instructions[k];
    for (uint32_t which = 0; which < operand_count(i); which++)
        tr_release(&e->room, operand_at(e->program, i, which));
}

// ---- arithmetic ----------------------------------------------------------------------------

static void put(Emitter *e, X86Op op, unsigned first, unsigned second, X86Operand last)
{
    tr_x86(&e->code, e->lanes, op, first, second, last);
}

// The registers of operands that are over may take the result: they are read before it is written.
// Their places in memory may not yet be others'.
static unsigned take_result(Emitter *e, const Instruction *i)
{
    for (int which = 0; which < code_operands(i->code); which++) {
        const uint32_t value = operand_value(i, which);
        if (!is_over(&e->room, value) || e->room.reg[value] == NO_REGISTER) continue;
        e->room.pinned &= ~(1u << e->room.reg[value]);
        tr_unbind(&e->room, value);
    }
    return tr_take_register(&e->room);
}

static void put_binary(Emitter *e, X86Op op, const Instruction *i, uint32_t a, uint32_t b,
                       uint32_t value)
{
    const unsigned x = tr_in_register(&e->room, a);
    const X86Operand y = tr_operand(&e->room, b);
    const unsigned result = take_result(e, i);
    put(e, op, result, x, y);
    tr_bind(&e->room, value, result);
}

static void emit_ordered(Emitter *e, const Instruction *i, uint32_t value)
{
    put_binary(e, i->code == OP_SUB ? X86_SUB : X86_DIV, i, i->a, i->b, value);
}

// What is in a register comes first.
static void emit_commutative(Emitter *e, const Instruction *i, uint32_t value)
{
    const bool swap = e->room.reg[i->a] == NO_REGISTER && e->room.reg[i->b] != NO_REGISTER;
    put_binary(e, i->code == OP_ADD ? X86_ADD : X86_MUL, i, swap ? i->b : i->a, swap ? i->a : i->b,
               value);
}

static void emit_unary(Emitter *e, const Instruction *i, uint32_t value)
{
    const X86Operand x = tr_operand(&e->room, i->a);
    const unsigned result = take_result(e, i);
    put(e, i->code == OP_SQRT ? X86_SQRT : X86_FLOOR, result, x.is_memory ? result : x.reg, x);
    tr_bind(&e->room, value, result);
}

static X86Operand unit(const Emitter *e, uint32_t which)
{
    return tr_place_operand(&e->room, e->unit + which);
}
enum { ONE, MINUS_ONE, MINUS_ZERO };

static void emit_neg(Emitter *e, const Instruction *i, uint32_t value)
{
    const unsigned x = tr_in_register(&e->room, i->a);
    const unsigned result = take_result(e, i);
    put(e, X86_XOR, result, x, unit(e, MINUS_ZERO));
    tr_bind(&e->room, value, result);
}

static void emit_abs(Emitter *e, const Instruction *i, uint32_t value)
{
    const X86Operand x = tr_operand(&e->room, i->a);
    const unsigned result = tr_take_register(&e->room);
    put(e, X86_LOAD, result, 0, unit(e, MINUS_ZERO));
    put(e, X86_AND_NOT, result, result, x);
    tr_bind(&e->room, value, result);
}

// ---- multiply-adds -------------------------------------------------------------------------

// The operand that gives way to the result: one in a register that is over; else one in memory,
// which must be loaded anyway; else the last. The sum's operand is best, for then both factors may
// come from memory.
static int that_gives_way(const Emitter *e, const Instruction *i)
{
    static const int order[] = {2, 0, 1};
    const Allocation *a = &e->room;
    for (int way = 0; way < 2; way++)
        for (int k = 0; k < 3; k++) {
            const uint32_t value = operand_value(i, order[k]);
            const bool in_register = a->reg[value] != NO_REGISTER;
            if (way == 0 ? in_register && is_over(a, value) : !in_register) return order[k];
        }
    return 2;
}

// Where it is destroyed: its own register, when nobody needs it any more
static unsigned give_way(Emitter *e, uint32_t value)
{
    Allocation *a = &e->room;
    const unsigned old = a->reg[value];
    if (old != NO_REGISTER && is_over(a, value)) {
        tr_unbind(a, value);
        a->free &= ~(1u << old);
        pin(a, old);
        return old;
    }
    const unsigned reg = tr_take_register(a);
    if (old != NO_REGISTER)
        put(e, X86_MOVE, reg, 0, x86_register(old));
    else
        put(e, X86_LOAD, reg, 0, tr_place_operand(a, a->place[value]));
    return reg;
}

// An operand of an instruction of which `gone` is in the register `result`
static X86Operand beside(Emitter *e, uint32_t value, uint32_t gone, unsigned result)
{
    return value == gone ? x86_register(result) : tr_operand(&e->room, value);
}
static unsigned beside_in_register(Emitter *e, uint32_t value, uint32_t gone, unsigned result)
{
    return value == gone ? result : tr_in_register(&e->room, value);
}

static bool is_at_hand(const Emitter *e, uint32_t value, uint32_t gone)
{
    return value == gone || e->room.reg[value] != NO_REGISTER;
}

// The three orders of operands follow each other.
static X86Op fused_op(unsigned code, int order)
{
    static const X86Op first[] = {X86_FMA132, X86_FMS132, X86_FNMA132};
    return (X86Op)((int)first[code - CODE_FMA] + order);
}
enum { ORDER_132, ORDER_213, ORDER_231 };

static void emit_fused(Emitter *e, const Instruction *i, uint32_t value)
{
    const int way = that_gives_way(e, i);
    const uint32_t gone = operand_value(i, way);
    const unsigned result = give_way(e, gone);
    if (way == 2) { // c += a b
        const bool swap = !is_at_hand(e, i->a, gone);
        const unsigned x = beside_in_register(e, swap ? i->b : i->a, gone, result);
        put(e, fused_op(i->code, ORDER_231), result, x,
            beside(e, swap ? i->a : i->b, gone, result));
    } else {
        const uint32_t other = way == 0 ? i->b : i->a;
        if (is_at_hand(e, i->c, gone) && !is_at_hand(e, other, gone)) { // a = a b + c
            const unsigned c = beside_in_register(e, i->c, gone, result);
            put(e, fused_op(i->code, ORDER_132), result, c, beside(e, other, gone, result));
        } else { // a = b a + c
            const unsigned b = beside_in_register(e, other, gone, result);
            put(e, fused_op(i->code, ORDER_213), result, b, beside(e, i->c, gone, result));
        }
    }
    tr_bind(&e->room, value, result);
}

// ---- choices -------------------------------------------------------------------------------

// mask ? 1 : 0
static void emit_compare(Emitter *e, const Instruction *i, uint32_t value)
{
    static const X86Op ops[] = {[OP_LESS] = X86_LESS,
                                [OP_LESS_EQUAL] = X86_LESS_EQUAL,
                                [OP_EQUAL] = X86_EQUAL,
                                [OP_NOT_EQUAL] = X86_NOT_EQUAL};
    const unsigned a = tr_in_register(&e->room, i->a);
    const X86Operand b = tr_operand(&e->room, i->b);
    const unsigned result = tr_take_register(&e->room);
    put(e, ops[i->code], result, a, b);
    if (e->lanes == 8)
        put(e, X86_KEEP, result, 0, unit(e, ONE));
    else
        put(e, X86_AND, result, result, unit(e, ONE));
    tr_bind(&e->room, value, result);
}

// a != 0 ? b : c
static void emit_select(Emitter *e, const Instruction *i, uint32_t value)
{
    const unsigned mask = tr_take_register(&e->room), c = tr_in_register(&e->room, i->c);
    const X86Operand a = tr_operand(&e->room, i->a), b = tr_operand(&e->room, i->b);
    put(e, X86_XOR, mask, mask, x86_register(mask));
    put(e, X86_NOT_EQUAL, mask, mask, a);
    tr_x86_blend(&e->code, e->lanes, mask, c, b, mask);
    tr_bind(&e->room, value, mask);
}

// The processor's gives b where a is no number; ours gives a.
static void emit_extreme(Emitter *e, const Instruction *i, uint32_t value)
{
    const unsigned a = tr_in_register(&e->room, i->a);
    const X86Operand b = tr_operand(&e->room, i->b);
    const unsigned mask = tr_take_register(&e->room), result = tr_take_register(&e->room);
    put(e, X86_UNORDERED, mask, a, x86_register(a));
    put(e, i->code == OP_MIN ? X86_MIN : X86_MAX, result, a, b);
    tr_x86_blend(&e->code, e->lanes, result, result, x86_register(a), mask);
    e->room.free |= 1u << mask;
    tr_bind(&e->room, value, result);
}

// ---- kernels -------------------------------------------------------------------------------

static int result_count(uint32_t kernel) { return kernel == KERNEL_SINCOS ? 2 : 1; }

// Where the operations of a call find their operands and leave their results
static uint32_t *list_places(Emitter *e, const Order *order, const Step *step)
{
    const Program *p = e->program;
    const int results = result_count(step->kernel);
    const size_t numbers =
        (size_t)code_operands(p->instructions[order->instructions[step->first]].code) + 1;
    uint32_t *places = tr_arena_alloc(&e->made->arena, numbers * step->count, sizeof *places);
    uint32_t *to = places;
    for (uint32_t i = step->first; places && i < step->first + step->count;
         i += (uint32_t)results) {
        const Instruction *at = &p->instructions[order->instructions[i]];
        for (int which = 0; which < code_operands(at->code); which++)
            *to++ = e->room.place[operand_value(at, which)];
        for (int k = 0; k < results; k++) {
            const uint32_t value = p->first[order->instructions[i + (uint32_t)k]];
            *to++ = e->room.place[value] = tr_take_place(&e->room);
        }
    }
    return places;
}

// The same of a block, whose results stand together
static uint32_t *list_block(Emitter *e, uint32_t k)
{
    const Program *p = e->program;
    const Instruction *i = &p->instructions[k];
    uint32_t *places = tr_arena_alloc(&e->made->arena, (size_t)i->b + 1, sizeof *places);
    if (!places) return NULL;
    for (uint32_t which = 0; which < i->b; which++)
        places[which] = e->room.place[operand_at(p, i, which)];
    places[i->b] = tr_take_places(&e->room, range_width(p, k));
    for (uint32_t which = 0; which < range_width(p, k); which++)
        e->room.place[p->first[k] + which] = places[i->b] + which;
    return places;
}

static bool emit_call(Emitter *e, const Order *order, const Step *step)
{
    const Program *p = e->program;
    const Instruction *first = &p->instructions[order->instructions[step->first]];
    const bool block = is_block(first->code),
               table = !block && tr_op[first->code].form == FORM_TABLE;
    KernelCall *call = tr_arena_alloc(&e->made->arena, 1, sizeof *call);
    tr_store_all(&e->room);
    const uint32_t *places =
        block ? list_block(e, order->instructions[step->first]) : list_places(e, order, step);
    if (!call || !places) return false;
    *call =
        (KernelCall){.count = block ? first->b : step->count / (uint32_t)result_count(step->kernel),
                     .n = table ? first->n : 0,
                     .table = table ? p->tables[first->c] : NULL,
                     .lineage = block ? p->lineages[first->c] : NULL,
                     .places = places};
    tr_x86_call(&e->code, e->lanes, (uint64_t)(uintptr_t)e->kernels->of[step->kernel],
                (uint64_t)(uintptr_t)call);
    for (uint32_t i = step->first; i < step->first + step->count; i++) {
        const uint32_t k = order->instructions[i];
        count_off(e, k, i);
        release_operands(e, k);
        for (uint32_t value = p->first[k]; value < p->first[k + 1]; value++)
            tr_release(&e->room, value); // if nobody asks for it
    }
    return true;
}

// ---- a program -----------------------------------------------------------------------------

typedef void Emit(Emitter *e, const Instruction *i, uint32_t value);

static Emit *const emit_of[CODE_COUNT] = {
    [OP_ADD] = emit_commutative, [OP_SUB] = emit_ordered,       [OP_MUL] = emit_commutative,
    [OP_DIV] = emit_ordered,     [OP_NEG] = emit_neg,           [OP_SQRT] = emit_unary,
    [OP_ABS] = emit_abs,         [OP_FLOOR] = emit_unary,       [OP_MIN] = emit_extreme,
    [OP_MAX] = emit_extreme,     [OP_LESS] = emit_compare,      [OP_LESS_EQUAL] = emit_compare,
    [OP_EQUAL] = emit_compare,   [OP_NOT_EQUAL] = emit_compare, [OP_SELECT] = emit_select,
    [CODE_FMA] = emit_fused,     [CODE_FMS] = emit_fused,       [CODE_FNMA] = emit_fused,
};

static bool is_known(const Program *p, const KernelSet *kernels)
{
    for (uint32_t k = 0; k < p->instruction_count; k++)
        if (!emit_of[p->instructions[k].code] && !kernels->of[p->instructions[k].code])
            return false;
    return true;
}

// What is in registers already stays there until it is read.
static void pin_operands(Emitter *e, const Instruction *i)
{
    for (int which = 0; which < code_operands(i->code); which++) {
        const unsigned reg = e->room.reg[operand_value(i, which)];
        if (reg != NO_REGISTER) pin(&e->room, reg);
    }
}

static bool emit_step(Emitter *e, const Order *order, const Step *step)
{
    const uint32_t k = order->instructions[step->first];
    const Instruction *i = &e->program->instructions[k];
    e->room.pinned = 0;
    if (step->kernel) return emit_call(e, order, step);
    count_off(e, k, step->first);
    pin_operands(e, i);
    emit_of[i->code](e, i, e->program->first[k]);
    release_operands(e, k);
    return true;
}

static bool emit_part(Emitter *e, ProgramPart part)
{
    Order order;
    bool good = tr_order_part(e->program, e->kernels, part, &order);
    if (good) find_uses(e, &order);
    e->made->start[part] = e->code.size;
    tr_x86_enter(&e->code);
    for (uint32_t i = 0; good && i < order.step_count; i++)
        good = emit_step(e, &order, &order.steps[i]);
    tr_x86_leave(&e->code, e->lanes);
    for (unsigned r = 0; r < e->room.registers; r++)
        assert(!good || is_set(e->room.free, r)); // everything was counted off
    tr_order_free(&order);
    return good;
}

// Outputs, and what parameters decide and states need
static void mark_what_stays(Emitter *e)
{
    const Program *p = e->program;
    const uint32_t moving = part_start(p, PART_STATE);
    for (uint32_t i = 0; i < p->output_count; i++) e->room.stays[p->outputs[i]] = true;
    for (uint32_t k = moving; k < p->instruction_count; k++)
        for (uint32_t which = 0; which < operand_count(&p->instructions[k]); which++) {
            const uint32_t value = operand_at(p, &p->instructions[k], which);
            if (value < p->first[moving]) e->room.stays[value] = true;
        }
}

static bool emit_program(Emitter *e)
{
    const Program *p = e->program;
    NativeCode *made = e->made;
    mark_what_stays(e);
    for (int part = 0; part < PART_COUNT; part++)
        if (!emit_part(e, (ProgramPart)part)) return false;
    const uint64_t bytes = (uint64_t)e->room.place_count * e->lanes * sizeof(double);
    made->outputs = tr_arena_alloc(&made->arena, p->output_count, sizeof *made->outputs);
    if (e->code.failed || bytes > INT32_MAX || !made->outputs) return false;
    for (uint32_t i = 0; i < p->output_count; i++) made->outputs[i] = e->room.place[p->outputs[i]];
    made->value_count = e->room.place_count;
    made->bytes = e->code.bytes, made->size = e->code.size;
    e->code = (MachineCode){0};
    return true;
}

bool tr_native_code(const Program *p, const KernelSet *kernels, NativeCode *made)
{
    *made = (NativeCode){0};
    if (!is_known(p, kernels)) return false;
    Emitter e = {.program = p,
                 .kernels = kernels,
                 .made = made,
                 .lanes = kernels->lanes,
                 .unit = first_result(p) - UNIT_COUNT};
    size_t uses = 0;
    for (uint32_t k = 0; k < p->instruction_count; k++) uses += operand_count(&p->instructions[k]);
    e.next_use = malloc((uses + 1) * sizeof *e.next_use);
    const bool good =
        tr_allocation_open(&e.room, p, e.lanes, &e.code) && e.next_use && emit_program(&e);
    tr_allocation_close(&e.room);
    tr_x86_free(&e.code);
    free(e.next_use);
    if (!good) tr_native_code_free(made);
    return good;
}

void tr_native_code_free(NativeCode *made)
{
    free(made->bytes);
    tr_arena_free(&made->arena);
    *made = (NativeCode){0};
}
