// SPDX-License-Identifier: Apache-2.0
#include "gpu/ptx.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char prefix[KINDS] = {[KIND_TRUTH] = 'p', [KIND_INT] = 'r',    [KIND_U32] = 'r',
                                   [KIND_U64] = 'l',   [KIND_SINGLE] = 'f', [KIND_REAL] = 'd'};

static bool is_number(unsigned kind) { return kind >= KIND_SINGLE; }

// ---- values --------------------------------------------------------------------------------

Value tr_ptx_number(double x) { return (Value){.kind = KIND_REAL, .is_known = true, .x = x}; }

Value tr_ptx_whole(Kind kind, uint64_t n)
{
    if (kind == KIND_U32) n = (uint32_t)n;
    if (kind == KIND_INT) n = (uint64_t)(int64_t)(int32_t)(uint32_t)n;
    if (kind == KIND_TRUTH) n = n != 0;
    return (Value){.kind = (uint8_t)kind, .is_known = true, .n = n};
}

Value tr_ptx_register(Ptx *ptx, Kind kind)
{
    const Kind bank = kind == KIND_INT ? KIND_U32 : kind;
    return (Value){.kind = (uint8_t)kind, .is_fresh = true, .number = ++ptx->registers[bank]};
}

void tr_ptx_write(Buffer *out, Value v)
{
    if (!v.is_known)
        tr_buffer_print(out, "%%%c%u", prefix[v.kind], v.number);
    else if (v.kind == KIND_REAL) {
        uint64_t bits;
        memcpy(&bits, &v.x, sizeof bits);
        tr_buffer_print(out, "0d%016llX", (unsigned long long)bits);
    } else if (v.kind == KIND_SINGLE) {
        const float x = (float)v.x;
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        tr_buffer_print(out, "0f%08X", bits);
    } else if (v.kind == KIND_INT)
        tr_buffer_print(out, "%lld", (long long)(int64_t)v.n);
    else
        tr_buffer_print(out, "%llu%s", (unsigned long long)v.n, v.kind == KIND_U64 ? "U" : "");
}

// ---- instructions --------------------------------------------------------------------------

// Names are those for doubles, but where both are converted into each other.
static void write_name(Ptx *ptx, const char *name, bool is_single)
{
    tr_buffer_print(&ptx->text, "\t");
    for (const char *at = name; *at; at++) {
        const bool is_size = is_single && strncmp(at, "f64", 3) == 0;
        tr_buffer_add(&ptx->text, is_size ? "f32" : at, is_size ? 3 : 1);
        at += is_size ? 2 : 0;
    }
    tr_buffer_print(&ptx->text, " ");
}

static void write_instruction(Ptx *ptx, const char *name, Value result, const Value *operands,
                              int count)
{
    const bool is_single = result.kind == KIND_SINGLE || operands[0].kind == KIND_SINGLE;
    write_name(ptx, name, is_single && !strstr(name, "f32"));
    tr_ptx_write(&ptx->text, result);
    for (int i = 0; i < count; i++) {
        tr_buffer_print(&ptx->text, ", ");
        tr_ptx_write(&ptx->text, operands[i]);
    }
    tr_buffer_print(&ptx->text, ";\n");
}

Value tr_ptx_make(Ptx *ptx, Kind kind, const char *name, const Value *operands, int count)
{
    const Value result = tr_ptx_register(ptx, kind);
    write_instruction(ptx, name, result, operands, count);
    return result;
}

static const char *move_of(Kind kind)
{
    switch (kind) {
    case KIND_TRUTH: return "mov.pred";
    case KIND_U64: return "mov.b64";
    case KIND_SINGLE:
    case KIND_REAL: return "mov.f64";
    default: return "mov.b32";
    }
}

void tr_ptx_move(Ptx *ptx, Value to, Value from)
{
    assert(!to.is_known);
    from = tr_ptx_convert(ptx, from, to.kind);
    if (!from.is_known && from.number == to.number) return;
    write_instruction(ptx, move_of(to.kind), to, &from, 1);
}

Value tr_ptx_settle(Ptx *ptx, Value value)
{
    if (!value.is_known && value.is_fresh) {
        value.is_fresh = false;
        return value;
    }
    Value own = tr_ptx_register(ptx, value.kind);
    tr_ptx_move(ptx, own, value);
    own.is_fresh = false;
    return own;
}

// ---- conversions ---------------------------------------------------------------------------

static Value convert_known(Value v, Kind kind)
{
    if (is_number(kind)) {
        const double x = is_number(v.kind)    ? v.x
                         : v.kind == KIND_INT ? (double)(int64_t)v.n
                                              : (double)v.n;
        return (Value){.kind = (uint8_t)kind, .is_known = true, .x = x};
    }
    if (!is_number(v.kind)) return tr_ptx_whole(kind, v.n);
    return tr_ptx_whole(kind, (uint64_t)(int64_t)v.x);
}

static const char *conversion(Kind from, Kind to)
{
    if (from == KIND_SINGLE && to == KIND_REAL) return "cvt.f64.f32";
    if (from == KIND_REAL && to == KIND_SINGLE) return "cvt.rn.f32.f64";
    if (from == KIND_SINGLE) from = KIND_REAL;
    if (to == KIND_SINGLE) to = KIND_REAL;
    static const char *const names[KINDS][KINDS] = {
        [KIND_INT] = {[KIND_U64] = "cvt.s64.s32", [KIND_REAL] = "cvt.rn.f64.s32"},
        [KIND_U32] = {[KIND_U64] = "cvt.u64.u32", [KIND_REAL] = "cvt.rn.f64.u32"},
        [KIND_U64] = {[KIND_INT] = "cvt.u32.u64",
                      [KIND_U32] = "cvt.u32.u64",
                      [KIND_REAL] = "cvt.rn.f64.u64"},
        [KIND_REAL] = {[KIND_INT] = "cvt.rzi.s32.f64",
                       [KIND_U32] = "cvt.rzi.u32.f64",
                       [KIND_U64] = "cvt.rzi.u64.f64"}};
    return names[from][to];
}

Value tr_ptx_convert(Ptx *ptx, Value v, Kind kind)
{
    if (v.kind == kind) return v;
    if (kind == KIND_TRUTH) return tr_ptx_truth(ptx, v);
    if (v.is_known) return convert_known(v, kind);
    if (v.kind == KIND_TRUTH) {
        const bool real = is_number(kind);
        v = tr_ptx_choose(ptx, v, real ? tr_ptx_number(1) : tr_ptx_whole(kind, 1),
                          real ? tr_ptx_number(0) : tr_ptx_whole(kind, 0));
        return tr_ptx_convert(ptx, v, kind);
    }
    const char *name = conversion(v.kind, kind);
    if (name) return tr_ptx_make(ptx, kind, name, &v, 1);
    v.kind = (uint8_t)kind; // int and unsigned: the same bits
    return v;
}

Value tr_ptx_truth(Ptx *ptx, Value a)
{
    if (a.kind == KIND_TRUTH) return a;
    return tr_ptx_binary(ptx, "!=", a,
                         is_number(a.kind) ? tr_ptx_number(0) : tr_ptx_whole(a.kind, 0));
}

// ---- operators -----------------------------------------------------------------------------

typedef struct Operator {
    const char *sign, *real, *narrow, *wide;
} Operator;

static const Operator operators[] = {
    {"+", "add.rn.f64", "add.u32", "add.u64"},
    {"-", "sub.rn.f64", "sub.u32", "sub.u64"},
    {"*", "mul.rn.f64", "mul.lo.u32", "mul.lo.u64"},
    {"/", "div.rn.f64", "div.u32", "div.u64"},
    {"&", NULL, "and.b32", "and.b64"},
    {"|", NULL, "or.b32", "or.b64"},
    {"^", NULL, "xor.b32", "xor.b64"},
    {"<<", NULL, "shl.b32", "shl.b64"},
    {">>", NULL, "shr.u32", "shr.u64"},
    {"<", "setp.lt.f64", "setp.lt.u32", "setp.lt.u64"},
    {"<=", "setp.le.f64", "setp.le.u32", "setp.le.u64"},
    {">", "setp.gt.f64", "setp.gt.u32", "setp.gt.u64"},
    {">=", "setp.ge.f64", "setp.ge.u32", "setp.ge.u64"},
    {"==", "setp.eq.f64", "setp.eq.u32", "setp.eq.u64"},
    {"!=", "setp.neu.f64", "setp.ne.u32", "setp.ne.u64"}, // true of what is no number
};

static const Operator *find_operator(const char *sign)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strcmp(operators[i].sign, sign) == 0) return &operators[i];
    return NULL;
}

static bool is_relation(const char *sign)
{
    return strcmp(sign, "<<") != 0 && strcmp(sign, ">>") != 0 && strchr("<>=!", sign[0]);
}

static bool has_no_size(Value v) { return v.is_known && v.kind == KIND_REAL; }

static Kind common_kind(const Ptx *ptx, Value a, Value b)
{
    if (has_no_size(a) != has_no_size(b)) {
        const Value other = has_no_size(a) ? b : a;
        return other.kind == KIND_REAL ? KIND_REAL : ptx_number_kind(ptx);
    }
    const Kind kind = a.kind > b.kind ? a.kind : b.kind;
    return kind == KIND_TRUTH ? KIND_INT : kind;
}

static Value known_real(const char *sign, double a, double b)
{
    switch (sign[0]) {
    case '+': return tr_ptx_number(a + b);
    case '-': return tr_ptx_number(a - b);
    case '*': return tr_ptx_number(a * b);
    case '/': return tr_ptx_number(a / b);
    case '<': return tr_ptx_whole(KIND_TRUTH, sign[1] ? a <= b : a < b);
    case '>': return tr_ptx_whole(KIND_TRUTH, sign[1] ? a >= b : a > b);
    case '=': return tr_ptx_whole(KIND_TRUTH, a == b);
    default: return tr_ptx_whole(KIND_TRUTH, a != b);
    }
}

static Value known_whole(const char *sign, Kind kind, uint64_t a, uint64_t b)
{
    if (is_relation(sign)) {
        const bool below = kind == KIND_INT ? (int64_t)a < (int64_t)b : a < b;
        switch (sign[0]) {
        case '<': return tr_ptx_whole(KIND_TRUTH, below || (sign[1] && a == b));
        case '>': return tr_ptx_whole(KIND_TRUTH, sign[1] ? !below : !below && a != b);
        case '=': return tr_ptx_whole(KIND_TRUTH, a == b);
        default: return tr_ptx_whole(KIND_TRUTH, a != b);
        }
    }
    switch (sign[0]) {
    case '+': return tr_ptx_whole(kind, a + b);
    case '-': return tr_ptx_whole(kind, a - b);
    case '*': return tr_ptx_whole(kind, a * b);
    case '/': return tr_ptx_whole(kind, b ? a / b : 0);
    case '&': return tr_ptx_whole(kind, a & b);
    case '|': return tr_ptx_whole(kind, a | b);
    case '^': return tr_ptx_whole(kind, a ^ b);
    case '<': return tr_ptx_whole(kind, a << b);
    default: return tr_ptx_whole(kind, a >> b);
    }
}

// Of truths: & and |, where one may be known
static Value join_truths(Ptx *ptx, const char *sign, Value a, Value b)
{
    const bool both = sign[0] == '&';
    if (a.is_known) return (a.n != 0) == both ? b : a;
    if (b.is_known) return (b.n != 0) == both ? a : b;
    const Value operands[] = {a, b};
    return tr_ptx_make(ptx, KIND_TRUTH, both ? "and.pred" : "or.pred", operands, 2);
}

Value tr_ptx_binary(Ptx *ptx, const char *sign, Value a, Value b)
{
    if (strchr("&|", sign[0]) && a.kind == KIND_TRUTH && b.kind == KIND_TRUTH)
        return join_truths(ptx, sign, a, b);
    const Operator *op = find_operator(sign);
    assert(op);
    const bool shifts = sign[0] == sign[1] && strchr("<>", sign[0]);
    const Kind kind = shifts ? (a.kind == KIND_TRUTH ? KIND_INT : a.kind) : common_kind(ptx, a, b);
    Value both[] = {tr_ptx_convert(ptx, a, kind), tr_ptx_convert(ptx, b, shifts ? KIND_U32 : kind)};
    if (both[0].is_known && both[1].is_known)
        return is_number(kind) ? known_real(sign, both[0].x, both[1].x)
                               : known_whole(sign, kind, both[0].n, both[1].n);
    const char *name = is_number(kind) ? op->real : kind == KIND_U64 ? op->wide : op->narrow;
    assert(name);
    char with_sign[24];
    if (kind == KIND_INT && (is_relation(sign) || strcmp(sign, ">>") == 0)) {
        snprintf(with_sign, sizeof with_sign, "%s", name);
        with_sign[strlen(name) - 3] = 's';
        name = with_sign;
    }
    return tr_ptx_make(ptx, is_relation(sign) ? KIND_TRUTH : kind, name, both, 2);
}

Value tr_ptx_not(Ptx *ptx, Value a)
{
    a = tr_ptx_truth(ptx, a);
    if (a.is_known) return tr_ptx_whole(KIND_TRUTH, !a.n);
    return tr_ptx_make(ptx, KIND_TRUTH, "not.pred", &a, 1);
}

Value tr_ptx_negative(Ptx *ptx, Value a)
{
    if (!is_number(a.kind)) return tr_ptx_binary(ptx, "-", tr_ptx_whole(a.kind, 0), a);
    if (a.is_known) return tr_ptx_number(-a.x);
    return tr_ptx_make(ptx, a.kind, "neg.f64", &a, 1);
}

Value tr_ptx_choose(Ptx *ptx, Value which, Value a, Value b)
{
    which = tr_ptx_truth(ptx, which);
    if (which.is_known) return which.n ? a : b;
    if (a.kind == KIND_TRUTH && b.kind == KIND_TRUTH) {
        const Value yes = tr_ptx_binary(ptx, "&", which, a);
        const Value no = tr_ptx_binary(ptx, "&", tr_ptx_not(ptx, which), b);
        return tr_ptx_binary(ptx, "|", yes, no);
    }
    const bool has_size = !has_no_size(a) || !has_no_size(b);
    const Kind kind = has_size ? common_kind(ptx, a, b) : ptx_number_kind(ptx);
    const Value all[] = {tr_ptx_convert(ptx, a, kind), tr_ptx_convert(ptx, b, kind), which};
    const char *name = is_number(kind) ? "selp.f64" : kind == KIND_U64 ? "selp.b64" : "selp.b32";
    return tr_ptx_make(ptx, kind, name, all, 3);
}

// As a number, of the size that it has; else of the usual one
static Value as_number(Ptx *ptx, Value a)
{
    return is_number(a.kind) && !has_no_size(a) ? a : tr_ptx_convert(ptx, a, ptx_number_kind(ptx));
}

Value tr_ptx_fma(Ptx *ptx, Value a, Value b, Value c)
{
    Value all[] = {a, b, c};
    Kind kind = ptx_number_kind(ptx);
    for (int i = 0; i < 3; i++)
        if (all[i].kind == KIND_REAL && !has_no_size(all[i])) kind = KIND_REAL;
    for (int i = 0; i < 3; i++) all[i] = tr_ptx_convert(ptx, all[i], kind);
    if (all[0].is_known && all[1].is_known && all[2].is_known)
        return tr_ptx_number(fma(all[0].x, all[1].x, all[2].x));
    return tr_ptx_make(ptx, kind, "fma.rn.f64", all, 3);
}

static Value of_one(Ptx *ptx, const char *name, Value a)
{
    a = as_number(ptx, a);
    return tr_ptx_make(ptx, a.kind, name, &a, 1);
}

Value tr_ptx_root(Ptx *ptx, Value a) { return of_one(ptx, "sqrt.rn.f64", a); }
Value tr_ptx_size(Ptx *ptx, Value a) { return of_one(ptx, "abs.f64", a); }
Value tr_ptx_floor(Ptx *ptx, Value a) { return of_one(ptx, "cvt.rmi.f64.f64", a); }

// ---- places in the text --------------------------------------------------------------------

uint32_t tr_ptx_label(Ptx *ptx) { return ++ptx->labels; }
void tr_ptx_here(Ptx *ptx, uint32_t label) { tr_buffer_print(&ptx->text, "$L%u:\n", label); }
void tr_ptx_go(Ptx *ptx, uint32_t label) { tr_buffer_print(&ptx->text, "\tbra $L%u;\n", label); }

void tr_ptx_go_unless(Ptx *ptx, Value truth, uint32_t label)
{
    truth = tr_ptx_truth(ptx, truth);
    if (truth.is_known) {
        if (!truth.n) tr_ptx_go(ptx, label);
        return;
    }
    tr_buffer_print(&ptx->text, "\t@!%%p%u bra $L%u;\n", truth.number, label);
}

void tr_ptx_registers(const Ptx *ptx, Buffer *out)
{
    static const struct {
        Kind kind;
        const char *type;
    } banks[] = {{KIND_TRUTH, "pred"},
                 {KIND_U32, "b32"},
                 {KIND_U64, "b64"},
                 {KIND_SINGLE, "f32"},
                 {KIND_REAL, "f64"}};
    for (size_t i = 0; i < sizeof banks / sizeof *banks; i++) {
        if (ptx->registers[banks[i].kind])
            tr_buffer_print(out, "\t.reg .%s %%%c<%u>;\n", banks[i].type, prefix[banks[i].kind],
                            ptx->registers[banks[i].kind] + 1);
    }
}
