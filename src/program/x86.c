// SPDX-License-Identifier: Apache-2.0
#include "program/x86.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { RBX = 3, EIGHT = 8 }; // where values begin; lanes that EVEX is for

// ---- bytes ---------------------------------------------------------------------------------

static void put(MachineCode *c, unsigned byte)
{
    if (c->size == c->capacity) {
        const uint32_t capacity = c->capacity ? 2 * c->capacity : 4096;
        uint8_t *bytes =
            c->failed || c->capacity > UINT32_MAX / 4 ? NULL : realloc(c->bytes, capacity);
        c->failed = c->failed || !bytes;
        if (c->failed) return;
        c->bytes = bytes, c->capacity = capacity;
    }
    c->bytes[c->size++] = (uint8_t)byte;
}

static void put_number(MachineCode *c, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++) put(c, (unsigned)(number >> 8 * i) & 255);
}

void tr_x86_free(MachineCode *c)
{
    free(c->bytes);
    *c = (MachineCode){0};
}

// ---- encodings -----------------------------------------------------------------------------

typedef enum Prefix { P_NONE, P_66, P_F3, P_F2 } Prefix;
typedef enum Map { M_0F = 1, M_0F38, M_0F3A } Map;

// One encoding: of one number, or of several.
typedef struct Encoding {
    Map map;
    Prefix one, many; // prefixes
    uint8_t w;        // of VEX; EVEX has 1, for 64 bit
    uint8_t opcode_one, opcode_many, opcode_eight;
    int immediate; // a byte behind it, or -1
} Encoding;

#define ARITHMETIC(opcode)                              \
    {                                                   \
        M_0F, P_F2, P_66, 0, opcode, opcode, opcode, -1 \
    }
#define LOGIC(vex, evex)                        \
    {                                           \
        M_0F, P_66, P_66, 0, vex, vex, evex, -1 \
    }
#define FUSED(opcode)                                           \
    {                                                           \
        M_0F38, P_66, P_66, 1, (opcode) + 1, opcode, opcode, -1 \
    }
#define COMPARE(relation)                               \
    {                                                   \
        M_0F, P_F2, P_66, 0, 0xc2, 0xc2, 0xc2, relation \
    }

static const Encoding encodings[X86_OP_COUNT] = {
    [X86_ADD] = ARITHMETIC(0x58),
    [X86_SUB] = ARITHMETIC(0x5c),
    [X86_MUL] = ARITHMETIC(0x59),
    [X86_DIV] = ARITHMETIC(0x5e),
    [X86_SQRT] = ARITHMETIC(0x51),
    [X86_MIN] = ARITHMETIC(0x5d),
    [X86_MAX] = ARITHMETIC(0x5f),
    [X86_FLOOR] = {M_0F3A, P_66, P_66, 0, 0x0b, 0x09, 0x09, 9},
    [X86_AND] = LOGIC(0x54, 0xdb),
    [X86_AND_NOT] = LOGIC(0x55, 0xdf),
    [X86_XOR] = LOGIC(0x57, 0xef),
    [X86_FMA132] = FUSED(0x98),
    [X86_FMA213] = FUSED(0xa8),
    [X86_FMA231] = FUSED(0xb8),
    [X86_FMS132] = FUSED(0x9a),
    [X86_FMS213] = FUSED(0xaa),
    [X86_FMS231] = FUSED(0xba),
    [X86_FNMA132] = FUSED(0x9c),
    [X86_FNMA213] = FUSED(0xac),
    [X86_FNMA231] = FUSED(0xbc),
    [X86_LOAD] = ARITHMETIC(0x10),
    [X86_STORE] = ARITHMETIC(0x11),
    [X86_MOVE] = LOGIC(0x28, 0x28),
    [X86_LESS] = COMPARE(0x11),
    [X86_LESS_EQUAL] = COMPARE(0x12),
    [X86_EQUAL] = COMPARE(0x00),
    [X86_NOT_EQUAL] = COMPARE(0x04),
    [X86_UNORDERED] = COMPARE(0x03),
    [X86_BLEND] = {M_0F3A, P_66, P_66, 0, 0x4b, 0x4b, 0, -1},
    [X86_KEEP] = LOGIC(0x28, 0x28),
};
// Of eight numbers, the second or the last by mask 1
static const Encoding blend_by_mask = {M_0F38, P_66, P_66, 0, 0, 0, 0x65, -1};

// Operations of which `second` is no operand
static bool has_second(X86Op op, uint32_t lanes)
{
    switch (op) {
    case X86_LOAD:
    case X86_STORE:
    case X86_MOVE:
    case X86_KEEP: return false;
    case X86_SQRT:
    case X86_FLOOR: return lanes == 1;
    default: return true;
    }
}

// A register or a place behind `values`. `unit` is what displacements of one byte count.
static void put_last(MachineCode *c, unsigned reg, X86Operand last, int32_t unit)
{
    const unsigned field = (reg & 7) << 3;
    if (!last.is_memory) {
        put(c, 0xc0 | field | (last.reg & 7));
        return;
    }
    const int32_t d = last.displacement, units = d / unit;
    if (d % unit == 0 && units >= -128 && units < 128) {
        put(c, 0x40 | field | RBX);
        put(c, (unsigned)units & 255);
    } else {
        put(c, 0x80 | field | RBX);
        put_number(c, (uint32_t)d, 4);
    }
}

static void put_vex(MachineCode *c, const Encoding *e, bool wide, unsigned first, unsigned second,
                    X86Operand last)
{
    const Prefix prefix = wide ? e->many : e->one;
    const unsigned tail = (~second & 15) << 3 | (wide ? 4u : 0) | prefix;
    const bool far = !last.is_memory && last.reg >= 8;
    assert(first < 16 && second < 16 && last.reg < 16);
    if (e->map == M_0F && !e->w && !far) {
        put(c, 0xc5);
        put(c, (first < 8 ? 0x80u : 0) | tail);
    } else {
        put(c, 0xc4);
        put(c, (first < 8 ? 0x80u : 0) | 0x40 | (far ? 0 : 0x20u) | e->map);
        put(c, (unsigned)e->w << 7 | tail);
    }
    put(c, wide ? e->opcode_many : e->opcode_one);
    put_last(c, first, last, 1);
}

// A mask of 0 is none.
static void put_evex(MachineCode *c, const Encoding *e, unsigned first, unsigned second,
                     X86Operand last, unsigned mask, bool zero)
{
    const unsigned B = last.is_memory ? 0 : last.reg >> 3 & 1;
    const unsigned X = last.is_memory ? 0 : last.reg >> 4 & 1;
    put(c, 0x62);
    put(c, (~first >> 3 & 1) << 7 | (X ^ 1) << 6 | (B ^ 1) << 5 | (~first >> 4 & 1) << 4 | e->map);
    put(c, 0x80 | (~second & 15) << 3 | 4 | e->many);
    put(c, (zero ? 0x80u : 0) | 2 << 5 | (~second >> 4 & 1) << 3 | mask);
    put(c, e->opcode_eight);
    put_last(c, first, last, 64);
}

void tr_x86(MachineCode *c, uint32_t lanes, X86Op op, unsigned first, unsigned second,
            X86Operand last)
{
    const Encoding *e = &encodings[op];
    const unsigned other = has_second(op, lanes) ? second : 0;
    const bool compares = op >= X86_LESS && op <= X86_UNORDERED;
    assert(op != X86_BLEND && (op != X86_KEEP || lanes == EIGHT));
    if (lanes == EIGHT)
        put_evex(c, e, compares ? 1 : first, other, last, op == X86_KEEP, op == X86_KEEP);
    else
        put_vex(c, e, lanes > 1, first, other, last);
    if (e->immediate >= 0) put(c, (unsigned)e->immediate);
}

void tr_x86_blend(MachineCode *c, uint32_t lanes, unsigned first, unsigned second, X86Operand last,
                  unsigned mask)
{
    if (lanes == EIGHT) {
        put_evex(c, &blend_by_mask, first, second, last, 1, false);
        return;
    }
    put_vex(c, &encodings[X86_BLEND], lanes > 1, first, second, last);
    put(c, mask << 4);
}

// ---- functions -----------------------------------------------------------------------------

static void put_bytes(MachineCode *c, const char *bytes, int count)
{
    for (int i = 0; i < count; i++) put(c, (uint8_t)bytes[i]);
}

// Dirty upper halves make others slow that know nothing of them.
static void clear_upper(MachineCode *c, uint32_t lanes)
{
    if (lanes > 1) put_bytes(c, "\xc5\xf8\x77", 3); // vzeroupper
}

void tr_x86_enter(MachineCode *c)
{
    put_bytes(c, "\x53\x48\x89\xfb", 4); // push rbx; mov rbx, rdi
}

void tr_x86_leave(MachineCode *c, uint32_t lanes)
{
    clear_upper(c, lanes);
    put_bytes(c, "\x5b\xc3", 2); // pop rbx; ret
}

void tr_x86_call(MachineCode *c, uint32_t lanes, uint64_t function, uint64_t argument)
{
    clear_upper(c, lanes);
    put_bytes(c, "\x48\xbf", 2); // mov rdi, argument
    put_number(c, argument, 8);
    put_bytes(c, "\x48\x89\xde", 3); // mov rsi, rbx
    put_bytes(c, "\x48\xb8", 2);     // mov rax, function
    put_number(c, function, 8);
    put_bytes(c, "\xff\xd0", 2); // call rax
}
