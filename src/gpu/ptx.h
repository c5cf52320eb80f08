// SPDX-License-Identifier: Apache-2.0
// PTX text as it is made: operations on virtual registers, of which there are as many as anybody
// wants. Each operation of numbers rounds to nearest and is fused with no other, so it has the bits
// that a CPU gives (T460); in single precision it has others (T465). What is known while the text
// is made is no operation.
#ifndef TR_GPU_PTX_H
#define TR_GPU_PTX_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

// What a register holds; the later one of two that meet is that of both
typedef enum Kind {
    KIND_NONE,
    KIND_TRUTH,
    KIND_INT,
    KIND_U32,
    KIND_U64,
    KIND_SINGLE,
    KIND_REAL,
    KINDS
} Kind;

// A register, or what is known
typedef struct Value {
    uint8_t kind;
    bool is_known;
    bool is_fresh;   // nobody else has the register
    uint32_t number; // of the register
    double x;        // when it is a known number
    uint64_t n;      // anything else that is known; of int with its sign
} Value;

typedef struct Ptx {
    Buffer text;
    uint32_t registers[KINDS]; // so far
    uint32_t labels;
    bool is_single; // numbers are KIND_SINGLE where nothing says that they are not
} Ptx;
static inline Kind ptx_number_kind(const Ptx *ptx)
{
    return ptx->is_single ? KIND_SINGLE : KIND_REAL;
}

// Of KIND_REAL, or of the other kind where it meets that: what is known has no size.
Value tr_ptx_number(double x);
Value tr_ptx_whole(Kind kind, uint64_t n);
Value tr_ptx_register(Ptx *ptx, Kind kind);

// One instruction with its result, of the given kind
Value tr_ptx_make(Ptx *ptx, Kind kind, const char *name, const Value *operands, int count);

Value tr_ptx_convert(Ptx *ptx, Value value, Kind kind);
void tr_ptx_move(Ptx *ptx, Value to, Value from);
// In a register of its own kind
Value tr_ptx_settle(Ptx *ptx, Value value);

// Operators as C has them: "+", "<=", "<<", between operands of any kinds
Value tr_ptx_binary(Ptx *ptx, const char *sign, Value a, Value b);
Value tr_ptx_not(Ptx *ptx, Value a); // a truth
Value tr_ptx_negative(Ptx *ptx, Value a);
Value tr_ptx_choose(Ptx *ptx, Value which, Value a, Value b);
Value tr_ptx_fma(Ptx *ptx, Value a, Value b, Value c);
Value tr_ptx_root(Ptx *ptx, Value a);
Value tr_ptx_size(Ptx *ptx, Value a); // |a|
Value tr_ptx_floor(Ptx *ptx, Value a);
Value tr_ptx_truth(Ptx *ptx, Value a); // a != 0

// Places in the text, and how one gets there
uint32_t tr_ptx_label(Ptx *ptx);
void tr_ptx_here(Ptx *ptx, uint32_t label);
void tr_ptx_go(Ptx *ptx, uint32_t label);
void tr_ptx_go_unless(Ptx *ptx, Value truth, uint32_t label);

// An operand, as it is written
void tr_ptx_write(Buffer *out, Value value);

// A whole module around a body that is finished: registers are declared.
void tr_ptx_registers(const Ptx *ptx, Buffer *out);

#endif
