// SPDX-License-Identifier: Apache-2.0
// A processor for tests: executes the x86-64 instructions that machine code of programs is made of,
// AVX2 and AVX-512F among them, byte by byte on any machine. What it does not know, what processors
// would refuse, and memory that the code has no business with, fails the test and says where.
#ifndef TR_TESTS_X86_H
#define TR_TESTS_X86_H

#include "test.h"

typedef union X86Numbers {
    uint64_t bits[8];
    double number[8];
} X86Numbers;

enum { X86_RAX, X86_RBX = 3, X86_RSP, X86_RSI = 6, X86_RDI };
enum { X86_STACK = 64, X86_GARBAGE = 0x5a };

typedef struct X86 {
    const uint8_t *code;
    size_t size, at; // at: the next byte
    size_t start;    // of the instruction that is executed
    uint64_t general[16];
    X86Numbers numbers[32];
    uint8_t mask[8];
    const void *memory; // that it may read and write, but for its stack
    size_t memory_size;
    uint64_t stack[X86_STACK];
    uint64_t executed; // instructions
} X86;

static inline _Noreturn void x86_stop(const X86 *x, const char *why)
{
    char bytes[64] = "";
    for (size_t i = x->start; i < x->start + 12 && i < x->size; i++)
        snprintf(bytes + strlen(bytes), sizeof bytes - strlen(bytes), " %02x", x->code[i]);
    fail_msg("at offset %zu: %s:%s", x->start, why, bytes);
    abort();
}

static inline void x86_require(const X86 *x, bool holds, const char *what)
{
    if (!holds) x86_stop(x, what);
}

static inline unsigned x86_byte(X86 *x)
{
    x86_require(x, x->at < x->size, "the code ends");
    return x->code[x->at++];
}

static inline uint64_t x86_immediate(X86 *x, int bytes)
{
    uint64_t number = 0;
    for (int i = 0; i < bytes; i++) number |= (uint64_t)x86_byte(x) << 8 * i;
    return number;
}

static inline void *x86_at(const X86 *x, uint64_t address, size_t bytes)
{
    const uint64_t memory = (uint64_t)(uintptr_t)x->memory, stack = (uint64_t)(uintptr_t)x->stack;
    const bool is_ours = address >= memory && address + bytes <= memory + x->memory_size;
    const bool is_stack = address >= stack && address + bytes <= stack + sizeof x->stack;
    x86_require(x, is_ours || is_stack, "memory of others");
    return (void *)(uintptr_t)address;
}

// ---- decoding ------------------------------------------------------------------------------

typedef struct X86Decoded {
    bool evex, w, z, broadcast;
    unsigned map, prefix, length; // 0F 0F38 0F3A; none 66 F3 F2; of vectors, in bytes
    unsigned reg, vvvv, mask;
    unsigned R, X, B; // high bits of registers
    bool is_memory;
    unsigned rm;
    uint64_t address;
    unsigned opcode;
} X86Decoded;

// The last operand: a register, or base + displacement, of which a byte counts `unit` bytes.
static inline void x86_modrm(X86 *x, X86Decoded *d, unsigned unit)
{
    const unsigned modrm = x86_byte(x), mod = modrm >> 6;
    d->reg = (modrm >> 3 & 7) | d->R;
    d->is_memory = mod != 3;
    d->rm = (modrm & 7) | d->B | (d->is_memory ? 0 : d->X);
    if (!d->is_memory) return;
    const unsigned base = modrm & 7;
    if (base == 4) x86_require(x, x86_byte(x) == 0x24, "an index");
    x86_require(x, mod != 0 || base != 5, "an address beside the code");
    int64_t displacement = 0;
    if (mod == 1) displacement = (int8_t)x86_byte(x) * (int64_t)unit;
    if (mod == 2) displacement = (int32_t)(uint32_t)x86_immediate(x, 4);
    d->address = x->general[d->rm] + (uint64_t)displacement;
}

static inline X86Decoded x86_vex(X86 *x, bool has_three)
{
    X86Decoded d = {.map = 1};
    unsigned last = x86_byte(x);
    d.R = last & 0x80 ? 0 : 8;
    if (has_three) {
        d.X = last & 0x40 ? 0 : 8;
        d.B = last & 0x20 ? 0 : 8;
        d.map = last & 31;
        x86_require(x, !d.X, "an index");
        last = x86_byte(x);
        d.w = last >> 7;
    }
    d.vvvv = ~last >> 3 & 15;
    d.length = last & 4 ? 32 : 16;
    d.prefix = last & 3;
    d.opcode = x86_byte(x);
    return d;
}

static inline X86Decoded x86_evex(X86 *x)
{
    const unsigned p0 = x86_byte(x), p1 = x86_byte(x), p2 = x86_byte(x);
    x86_require(x, !(p0 & 0x0c) && p1 & 4, "a reserved bit");
    x86_require(x, (p2 >> 5 & 3) < 3, "a vector of 128 bytes");
    x86_require(x, !(p2 & 0x80) || p2 & 7, "zeros without a mask");
    return (X86Decoded){.evex = true,
                        .w = p1 >> 7,
                        .z = p2 >> 7,
                        .broadcast = p2 >> 4 & 1,
                        .map = p0 & 3,
                        .prefix = p1 & 3,
                        .length = 16u << (p2 >> 5 & 3),
                        .vvvv = (~p1 >> 3 & 15) | (p2 & 8 ? 0 : 16),
                        .mask = p2 & 7,
                        .R = (p0 & 0x80 ? 0 : 8) | (p0 & 0x10 ? 0 : 16),
                        .X = p0 & 0x40 ? 0 : 16,
                        .B = p0 & 0x20 ? 0 : 8,
                        .opcode = x86_byte(x)};
}

// ---- operations on numbers -----------------------------------------------------------------

typedef enum X86Does {
    X86_ADDS,
    X86_SUBTRACTS,
    X86_MULTIPLIES,
    X86_DIVIDES,
    X86_ROOTS,
    X86_MINIMUM,
    X86_MAXIMUM,
    X86_ANDS,
    X86_ANDS_NOT,
    X86_ORS,
    X86_XORS,
    X86_ROUNDS,
    X86_BLENDS,
    X86_FUSES, // by the opcode
    X86_LOADS,
    X86_STORES,
    X86_SPREADS,
    X86_COMPARES,
    X86_CHOOSES // by the signs of a register
} X86Does;

enum { ANY_W = 2, VEX_ONLY = 1, EVEX_ONLY = 2, BOTH = 3 };
enum { IS_ONE = 1, HAS_IMMEDIATE = 2, HAS_NO_SECOND = 4, IS_ALIGNED = 8 };

typedef struct X86Row {
    uint8_t map, prefix, opcode, vex_w, where, how;
    X86Does does;
} X86Row;

static const X86Row x86_rows[] = {
// 0F: of one number F2, of several 66
#define X86_ARITHMETIC(opcode, how, does) \
    {1, 1, opcode, ANY_W, BOTH, how, does}, { 1, 3, opcode, ANY_W, BOTH, IS_ONE | how, does }
    X86_ARITHMETIC(0x58, 0, X86_ADDS),
    X86_ARITHMETIC(0x5c, 0, X86_SUBTRACTS),
    X86_ARITHMETIC(0x59, 0, X86_MULTIPLIES),
    X86_ARITHMETIC(0x5e, 0, X86_DIVIDES),
    X86_ARITHMETIC(0x5d, 0, X86_MINIMUM),
    X86_ARITHMETIC(0x5f, 0, X86_MAXIMUM),
    X86_ARITHMETIC(0xc2, HAS_IMMEDIATE, X86_COMPARES),
    {1, 1, 0x51, ANY_W, BOTH, HAS_NO_SECOND, X86_ROOTS},
    {1, 3, 0x51, ANY_W, BOTH, IS_ONE, X86_ROOTS},
    {1, 1, 0x10, ANY_W, BOTH, HAS_NO_SECOND, X86_LOADS},
    {1, 1, 0x11, ANY_W, BOTH, HAS_NO_SECOND, X86_STORES},
    {1, 3, 0x10, ANY_W, BOTH, IS_ONE, X86_LOADS},
    {1, 3, 0x11, ANY_W, BOTH, IS_ONE, X86_STORES},
    {1, 1, 0x28, ANY_W, BOTH, HAS_NO_SECOND | IS_ALIGNED, X86_LOADS},
    {1, 1, 0x29, ANY_W, BOTH, HAS_NO_SECOND | IS_ALIGNED, X86_STORES},
    {1, 1, 0x54, ANY_W, VEX_ONLY, 0, X86_ANDS},
    {1, 1, 0x55, ANY_W, VEX_ONLY, 0, X86_ANDS_NOT},
    {1, 1, 0x56, ANY_W, VEX_ONLY, 0, X86_ORS},
    {1, 1, 0x57, ANY_W, VEX_ONLY, 0, X86_XORS},
    {1, 1, 0xdb, 0, EVEX_ONLY, 0, X86_ANDS},
    {1, 1, 0xdf, 0, EVEX_ONLY, 0, X86_ANDS_NOT},
    {1, 1, 0xeb, 0, EVEX_ONLY, 0, X86_ORS},
    {1, 1, 0xef, 0, EVEX_ONLY, 0, X86_XORS},
    {2, 1, 0x19, 0, BOTH, HAS_NO_SECOND, X86_SPREADS},
    {2, 1, 0x65, 0, EVEX_ONLY, 0, X86_BLENDS},
    {3, 1, 0x09, ANY_W, BOTH, HAS_IMMEDIATE | HAS_NO_SECOND, X86_ROUNDS},
    {3, 1, 0x0b, ANY_W, BOTH, IS_ONE | HAS_IMMEDIATE, X86_ROUNDS},
    {3, 1, 0x4b, 0, VEX_ONLY, HAS_IMMEDIATE, X86_CHOOSES},
#define X86_FUSED(opcode) \
    {2, 1, opcode, 1, BOTH, 0, X86_FUSES}, { 2, 1, (opcode) + 1, 1, BOTH, IS_ONE, X86_FUSES }
#define X86_FUSED_THREE(opcode) \
    X86_FUSED(opcode), X86_FUSED((opcode) + 0x10), X86_FUSED((opcode) + 0x20)
    X86_FUSED_THREE(0x98),
    X86_FUSED_THREE(0x9a),
    X86_FUSED_THREE(0x9c),
    X86_FUSED_THREE(0x9e),
};

static inline const X86Row *x86_row(const X86 *x, const X86Decoded *d)
{
    for (size_t i = 0; i < sizeof x86_rows / sizeof *x86_rows; i++) {
        const X86Row *row = &x86_rows[i];
        if (row->map != d->map || row->prefix != d->prefix || row->opcode != d->opcode) continue;
        if (!(row->where & (d->evex ? EVEX_ONLY : VEX_ONLY))) continue;
        x86_require(x, d->evex ? d->w : row->vex_w == ANY_W || row->vex_w == d->w, "another width");
        return row;
    }
    x86_stop(x, "an unknown instruction");
}

// Whether the relation holds; 8 to 15 are 0 to 7 with the other answer for what is no number.
static inline bool x86_compare(const X86 *x, double a, double b, unsigned relation)
{
    x86_require(x, relation < 32, "an unknown relation");
    const bool unordered = isnan(a) || isnan(b);
    const bool holds[] = {a == b, a < b, a <= b, false}; // and false: never
    const unsigned kind = relation & 7;
    const bool is_other = relation & 8;
    if (kind == 3 || kind == 7) return is_other ? kind == 7 : unordered == (kind == 3);
    if (unordered) return (kind >= 4) != is_other;
    return holds[kind & 3] == (kind < 4);
}

static inline double x86_round(const X86 *x, double a, unsigned how)
{
    x86_require(x, how < 16 && !(how & 4), "another way to round");
    switch (how & 3) {
    case 0: return nearbyint(a);
    case 1: return floor(a);
    case 2: return ceil(a);
    default: return trunc(a);
    }
}

// 132: first last + second; 213: second first + last; 231: second last + first
static inline double x86_fuse(unsigned opcode, double first, double second, double last)
{
    const unsigned order = opcode >> 4,
                   kind = opcode >> 1 & 3; // + -, and of the product's negative
    double a = order == 9 ? first : second, b = order == 10 ? first : last;
    double c = order == 9 ? second : order == 10 ? last : first;
    return fma(kind & 2 ? -a : a, b, kind & 1 ? -c : c);
}

typedef struct X86Lane {
    uint64_t bits[3]; // first, second, last
    double number[3];
    bool masked; // this lane's bit of the mask
    unsigned opcode, immediate;
} X86Lane;

static inline uint64_t x86_bits(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline uint64_t x86_lane(const X86 *x, X86Does does, const X86Lane *l)
{
    const double a = l->number[1], b = l->number[2];
    switch (does) {
    case X86_ADDS: return x86_bits(a + b);
    case X86_SUBTRACTS: return x86_bits(a - b);
    case X86_MULTIPLIES: return x86_bits(a * b);
    case X86_DIVIDES: return x86_bits(a / b);
    case X86_ROOTS: return x86_bits(sqrt(b));
    case X86_MINIMUM: return x86_bits(a < b ? a : b);
    case X86_MAXIMUM: return x86_bits(a > b ? a : b);
    case X86_ANDS: return l->bits[1] & l->bits[2];
    case X86_ANDS_NOT: return ~l->bits[1] & l->bits[2];
    case X86_ORS: return l->bits[1] | l->bits[2];
    case X86_XORS: return l->bits[1] ^ l->bits[2];
    case X86_LOADS:
    case X86_SPREADS: return l->bits[2];
    case X86_ROUNDS: return x86_bits(x86_round(x, b, l->immediate));
    case X86_BLENDS: return l->masked ? l->bits[2] : l->bits[1];
    case X86_FUSES: return x86_bits(x86_fuse(l->opcode, l->number[0], a, b));
    case X86_COMPARES: return x86_compare(x, a, b, l->immediate) ? UINT64_MAX : 0;
    default: x86_stop(x, "no operation on numbers");
    }
}

// ---- executing -----------------------------------------------------------------------------

// How many bytes a displacement of one byte counts: what the instruction reads or writes.
static inline unsigned x86_unit(const X86Decoded *d, const X86Row *row)
{
    const bool is_one = row->how & IS_ONE || row->does == X86_SPREADS || d->broadcast;
    return !d->evex ? 1 : is_one ? 8 : d->length;
}

static inline X86Numbers x86_last(const X86 *x, const X86Decoded *d, const X86Row *row)
{
    X86Numbers last = {{0}};
    const bool is_one = row->how & IS_ONE || row->does == X86_SPREADS || d->broadcast;
    if (d->is_memory) {
        x86_require(x, !(row->how & IS_ALIGNED) || d->address % d->length == 0, "not aligned");
        const size_t bytes = is_one ? 8 : d->length;
        memcpy(last.bits, x86_at(x, d->address, bytes), bytes);
    } else {
        x86_require(x, !d->broadcast, "another way to round");
        last = x->numbers[d->rm];
    }
    if (row->does == X86_SPREADS || d->broadcast)
        for (int i = 1; i < 8; i++) last.bits[i] = last.bits[0];
    return last;
}

static inline void x86_store(X86 *x, const X86Decoded *d, const X86Row *row)
{
    const unsigned lanes = row->how & IS_ONE ? 1 : d->length / 8;
    x86_require(x, d->is_memory && !d->broadcast && !d->mask, "another way to store");
    x86_require(x, !d->vvvv, "a second operand");
    x86_require(x, !(row->how & IS_ALIGNED) || d->address % d->length == 0, "not aligned");
    memcpy(x86_at(x, d->address, 8 * lanes), x->numbers[d->reg].bits, 8 * lanes);
}

// Comparisons by EVEX set bits of a mask.
static inline void x86_into_mask(X86 *x, const X86Decoded *d, const X86Numbers *result,
                                 unsigned lanes)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < lanes; i++)
        if (result->bits[i] && (!d->mask || x->mask[d->mask] >> i & 1)) bits |= 1u << i;
    x86_require(x, d->reg < 8 && !d->z, "no mask");
    x->mask[d->reg] = (uint8_t)bits;
}

// One number: the next comes from the second operand, of multiply-adds from the first. What is
// behind the vector becomes 0.
static inline void x86_into_register(X86 *x, const X86Decoded *d, const X86Row *row,
                                     const X86Numbers *result, unsigned lanes)
{
    X86Numbers *first = &x->numbers[d->reg];
    const X86Numbers rest = x->numbers[row->does == X86_FUSES ? d->reg : d->vvvv];
    for (unsigned i = 0; i < 8; i++) {
        const bool blends = row->does == X86_BLENDS && !d->z;
        const bool skips = d->mask && !(x->mask[d->mask] >> i & 1) && !blends;
        const bool keeps = row->how & IS_ONE && i == 1 && !(row->does == X86_LOADS && d->is_memory);
        if (i >= lanes)
            first->bits[i] = keeps ? rest.bits[i] : 0;
        else if (!skips)
            first->bits[i] = result->bits[i];
        else if (d->z)
            first->bits[i] = 0;
    }
}

static inline void x86_execute(X86 *x, const X86Decoded *d, const X86Row *row, unsigned immediate)
{
    const unsigned lanes = row->how & IS_ONE ? 1 : d->length / 8;
    const X86Numbers first = x->numbers[d->reg], second = x->numbers[d->vvvv],
                     last = x86_last(x, d, row);
    const bool loads_one = row->does == X86_LOADS && row->how & IS_ONE && d->is_memory;
    x86_require(x, !(row->how & HAS_NO_SECOND || loads_one) || !d->vvvv, "a second operand");
    X86Numbers result = {{0}};
    for (unsigned i = 0; i < lanes; i++) {
        const X86Lane lane = {.bits = {first.bits[i], second.bits[i], last.bits[i]},
                              .number = {first.number[i], second.number[i], last.number[i]},
                              .masked = !d->mask || x->mask[d->mask] >> i & 1,
                              .opcode = d->opcode,
                              .immediate = immediate};
        if (row->does == X86_CHOOSES)
            result.bits[i] =
                x->numbers[immediate >> 4].bits[i] >> 63 ? last.bits[i] : second.bits[i];
        else
            result.bits[i] = x86_lane(x, row->does, &lane);
    }
    if (d->evex && row->does == X86_COMPARES)
        x86_into_mask(x, d, &result, lanes);
    else
        x86_into_register(x, d, row, &result, lanes);
}

static inline void x86_vector(X86 *x, X86Decoded d)
{
    if (!d.evex && d.map == 1 && d.opcode == 0x77) { // vzeroupper
        x86_require(x, d.length == 16 && !d.prefix && !d.vvvv, "an unknown instruction");
        for (int r = 0; r < 16; r++) memset(x->numbers[r].bits + 2, 0, 6 * sizeof(uint64_t));
        return;
    }
    const X86Row *row = x86_row(x, &d);
    x86_require(x, row->does != X86_SPREADS || d.length > 16, "nothing to spread into");
    x86_modrm(x, &d, x86_unit(&d, row));
    const unsigned immediate = row->how & HAS_IMMEDIATE ? x86_byte(x) : 0;
    if (row->does == X86_STORES && !d.is_memory) { // loads, seen from the other side
        const unsigned source = d.reg;
        d.reg = d.rm, d.rm = source, d.opcode--;
        row = x86_row(x, &d);
    }
    if (row->does == X86_STORES)
        x86_store(x, &d, row);
    else
        x86_execute(x, &d, row, immediate);
}

static inline void x86_push(X86 *x, uint64_t number)
{
    x->general[X86_RSP] -= 8;
    memcpy(x86_at(x, x->general[X86_RSP], 8), &number, 8);
}

static inline uint64_t x86_pop(X86 *x)
{
    uint64_t number;
    memcpy(&number, x86_at(x, x->general[X86_RSP], 8), 8);
    x->general[X86_RSP] += 8;
    return number;
}

// A function of C with two arguments; what it may change is garbage behind it.
static inline void x86_call(X86 *x, uint64_t address)
{
    void (*function)(uint64_t, uint64_t);
    memcpy(&function, &address, sizeof function);
    x86_require(x, x->general[X86_RSP] % 16 == 0, "the stack is not aligned for a call");
    function(x->general[X86_RDI], x->general[X86_RSI]);
    memset(x->numbers, X86_GARBAGE, sizeof x->numbers);
    memset(x->mask, X86_GARBAGE, sizeof x->mask);
    for (unsigned r = 0; r < 12; r++)
        if (r != X86_RBX && r != X86_RSP && r != 5) x->general[r] = X86_GARBAGE;
}

// rex: its low four bits W R X B
static inline void x86_general(X86 *x, unsigned rex, unsigned opcode)
{
    const unsigned R = rex & 4 ? 8 : 0, B = rex & 1 ? 8 : 0;
    X86Decoded d = {.R = R, .B = B};
    x86_require(x, !(rex & 2), "an index");
    if ((opcode & 0xf8) == 0x50)
        x86_push(x, x->general[(opcode & 7) | B]);
    else if ((opcode & 0xf8) == 0x58)
        x->general[(opcode & 7) | B] = x86_pop(x);
    else if ((opcode & 0xf8) == 0xb8 && rex & 8)
        x->general[(opcode & 7) | B] = x86_immediate(x, 8);
    else if (opcode == 0x89 && rex & 8) { // mov
        x86_modrm(x, &d, 1);
        x86_require(x, !d.is_memory, "a store of a general register");
        x->general[d.rm] = x->general[d.reg];
    } else if (opcode == 0x8d && rex & 8) { // lea
        x86_modrm(x, &d, 1);
        x86_require(x, d.is_memory, "an address of a register");
        x->general[d.reg] = d.address;
    } else if ((opcode == 0x81 || opcode == 0x83) && rex & 8) { // add or sub
        x86_modrm(x, &d, 1);
        const int64_t by =
            opcode == 0x83 ? (int8_t)x86_byte(x) : (int32_t)(uint32_t)x86_immediate(x, 4);
        x86_require(x, !d.is_memory && ((d.reg & 7) == 0 || (d.reg & 7) == 5), "another sum");
        x->general[d.rm] += (uint64_t)((d.reg & 7) == 0 ? by : -by);
    } else if (opcode == 0xff) { // call
        x86_modrm(x, &d, 1);
        x86_require(x, !d.is_memory && (d.reg & 7) == 2, "another call");
        x86_call(x, x->general[d.rm]);
    } else {
        x86_stop(x, "an unknown instruction");
    }
}

// One instruction; false when it returns.
static inline bool x86_step(X86 *x)
{
    x->start = x->at;
    x->executed++;
    unsigned byte = x86_byte(x), rex = 0;
    if (byte == 0xc3) return false;
    if (byte == 0xc4 || byte == 0xc5)
        x86_vector(x, x86_vex(x, byte == 0xc4));
    else if (byte == 0x62)
        x86_vector(x, x86_evex(x));
    else {
        if ((byte & 0xf0) == 0x40) rex = byte & 15, byte = x86_byte(x);
        x86_general(x, rex, byte);
    }
    return true;
}

// A function of (values) that begins at `start`, until it returns.
static inline void x86_run(X86 *x, size_t start, void *values)
{
    memset(x->general, X86_GARBAGE, sizeof x->general);
    memset(x->numbers, X86_GARBAGE, sizeof x->numbers);
    memset(x->mask, X86_GARBAGE, sizeof x->mask);
    const uint64_t end = (uint64_t)(uintptr_t)(x->stack + X86_STACK) / 16 * 16;
    const uint64_t kept = x->general[X86_RBX];
    x->general[X86_RSP] = end;
    x->general[X86_RDI] = (uint64_t)(uintptr_t)values;
    x86_push(x, 0); // where it returns to
    x->at = start;
    while (x86_step(x)) {
    }
    x86_require(x, x86_pop(x) == 0 && x->general[X86_RSP] == end, "the stack is not as it was");
    x86_require(x, x->general[X86_RBX] == kept, "rbx is not as it was");
}

#endif
