// SPDX-License-Identifier: Apache-2.0
// Building with simplification. A rule is one line with its identity. Rules keep values to the last
// bits their operations allow; structural zeros vanish here, by construction.
//
// Signs are pulled out of products and absorbed by sums, so that a - b and b - a, x*y and -x*y
// share work. Commutative operands stand in one order: a number first, then by id.
//
// What rules gather is numbers; where the graph gathers (gather.h), also expressions of parameters
// alone: then these count as known.
#include "expr/graph.h"

#include <assert.h>
#include <stdlib.h>

typedef struct Built {
    Graph *g;
    Op op;
    Expr a, b, c;
} Built;

// The node as it stands: no rule applied.
static Expr keep(const Built *x)
{
    const int operands = tr_op[x->op].operands;
    return expr_at(x->g, tr_graph_intern(x->g, (Node){.op = (uint8_t)x->op,
                                                      .a = operands > 0 ? x->a.id : 0,
                                                      .b = operands > 1 ? x->b.id : 0,
                                                      .c = operands > 2 ? x->c.id : 0}));
}

static void swap(Expr *a, Expr *b)
{
    const Expr t = *a;
    *a = *b;
    *b = t;
}

static bool is_known(Expr x)
{
    return is_number(x) || (graph_of(x)->gathers && stage_of(x) == STAGE_PARAMETER);
}

// Numbers, what else is known, the rest
static int rank(Expr x) { return is_number(x) ? 0 : is_known(x) ? 1 : 2; }

static void order(Built *x)
{
    const int a = rank(x->a), b = rank(x->b);
    if (b < a || (a == b && x->b.id < x->a.id)) swap(&x->a, &x->b);
}

static bool is(Expr x, Op op) { return op_of(x) == op; }
static Expr left(Expr x) { return operand(x, 0); }
static Expr right(Expr x) { return operand(x, 1); }

// A product or sum of numbers may be folded when it neither overflows nor loses bits to underflow.
static bool is_safe(double value)
{
    return value == 0 || (fabs(value) > 1e-290 && fabs(value) < 1e290);
}

// Whether the operation on two known expressions may be done first: on numbers if it is safe.
static bool is_safe_with(Op op, Expr a, Expr b)
{
    return !is_number(a) || !is_number(b) ||
           is_safe(tr_op_value(op, value_of(a), value_of(b), 0, 0, NULL));
}

// x = n rest with a known factor n; what is known as a whole is left so, but for a number.
static bool has_factor(Expr x, Expr *n, Expr *rest)
{
    *rest = x;
    if (!is(x, OP_MUL) || !is_known(left(x)) || (is_known(x) && !is_number(left(x)))) return false;
    *n = left(x), *rest = right(x);
    return true;
}

// m a + n b with a = b: (m + n) a. Only where it saves the sum's operand products.
static bool like_terms(Op op, Expr a, Expr b, Expr *sum)
{
    Expr m, n, rest_a, rest_b;
    const bool has_m = has_factor(a, &m, &rest_a), has_n = has_factor(b, &n, &rest_b);
    if (!same(rest_a, rest_b)) return false;
    if (!has_m) m = one(graph_of(a));
    if (!has_n) n = one(graph_of(a));
    if (!is_safe_with(op, m, n)) return false;
    *sum = mul(tr_build(op, m, n, m), rest_a);
    return true;
}

// x = n + rest, n - rest or rest - n with a known n; numbers are never subtracted.
typedef struct Shift {
    Expr n, rest;
    bool minus_n, minus_rest;
} Shift;

static bool has_shift(Expr x, Shift *s)
{
    if (is_known(x) || (!is(x, OP_ADD) && !is(x, OP_SUB))) return false;
    const bool first = is_known(left(x));
    if (!first && !(is(x, OP_SUB) && is_known(right(x)))) return false;
    *s = (Shift){.n = first ? left(x) : right(x),
                 .rest = first ? right(x) : left(x),
                 .minus_n = !first,
                 .minus_rest = first && is(x, OP_SUB)};
    return !is_number(s->n) || !s->minus_rest; // m + (n - b) stays
}

// m + x or m - x with known m and n in x: (m + n) + b, and so on
static bool shifted(Op op, Expr m, Expr x, Expr *sum)
{
    Shift s;
    if (!is_known(m) || !has_shift(x, &s)) return false;
    const bool minus = op == OP_SUB;
    if (minus && is_number(m) && is_number(s.n)) return false; // m - (n + b) stays
    const Op how = s.minus_n != minus ? OP_SUB : OP_ADD;
    if (!is_safe_with(how, m, s.n)) return false;
    const Expr known = tr_build(how, m, s.n, m);
    *sum = s.minus_rest != minus ? sub(known, s.rest) : add(known, s.rest);
    return true;
}

// x - m with known m and n in x: (n - m) + b, and so on
static bool shifted_back(Expr x, Expr m, Expr *sum)
{
    Shift s;
    if (!is_known(m) || is_number(m) || !has_shift(x, &s)) return false;
    if (s.minus_n)
        *sum = sub(s.rest, add(s.n, m));
    else
        *sum = s.minus_rest ? sub(sub(s.n, m), s.rest) : add(sub(s.n, m), s.rest);
    return true;
}

// x = rest * f with f the given factor; products of three and more are searched one level deep.
static bool divides(Expr x, Expr f, Expr *rest)
{
    if (!is(x, OP_MUL)) return false;
    if (same(left(x), f)) return *rest = right(x), true;
    if (same(right(x), f)) return *rest = left(x), true;
    return false;
}

// x = p f f with f the given factor: finds p, which may be 1.
static bool divides_twice(Expr x, Expr f, Expr *p)
{
    Expr once;
    if (!divides(x, f, &once)) return false;
    if (same(once, f)) return *p = one(graph_of(x)), true;
    return divides(once, f, p);
}

// p sin(u)^2 + p cos(u)^2 = p
static bool pythagoras(Expr a, Expr b, Expr *p)
{
    if (!is(a, OP_MUL) || !is(b, OP_MUL)) return false;
    for (int which = 0; which < 2; which++) {
        const Expr f = operand(a, which);
        if (!is(f, OP_SIN) && !is(f, OP_COS)) continue;
        const Op other = is(f, OP_SIN) ? OP_COS : OP_SIN;
        const Node node = {.op = (uint8_t)other, .a = left(f).id};
        const uint32_t found = tr_graph_find(graph_of(a), node);
        Expr q;
        if (found && divides_twice(a, f, p) && divides_twice(b, expr_at(graph_of(a), found), &q) &&
            same(*p, q))
            return true;
    }
    return false;
}

// if(c, u, 0) + if(c, 0, v) = if(c, u, v): the two halves of a derivative of a branch
static bool branches(Expr a, Expr b, Expr *joined)
{
    if (!is(a, OP_SELECT) || !is(b, OP_SELECT) || !same(left(a), left(b))) return false;
    if (is_zero(operand(a, 2)) && is_zero(right(b)))
        return *joined = choose(left(a), right(a), operand(b, 2)), true;
    if (is_zero(right(a)) && is_zero(operand(b, 2)))
        return *joined = choose(left(a), right(b), operand(a, 2)), true;
    return false;
}

static Expr rule_add(Built *x)
{
    Expr y;
    order(x);
    const Expr a = x->a, b = x->b;
    if (is_zero(a)) return b;                                              // 0 + b = b
    if (is(a, OP_NEG) && is(b, OP_NEG)) return neg(add(left(a), left(b))); // -a + -b = -(a + b)
    if (is(a, OP_NEG)) return sub(b, left(a));                             // -a + b = b - a
    if (is(b, OP_NEG)) return sub(a, left(b));                             // a + -b = a - b
    if (shifted(OP_ADD, a, b, &y)) return y;    // m + (n + b) = (m + n) + b
    if (like_terms(OP_ADD, a, b, &y)) return y; // m a + n a = (m + n) a
    if (pythagoras(a, b, &y)) return y;         // p sin^2 + p cos^2 = p
    if (branches(a, b, &y)) return y;           // if(c, u, 0) + if(c, 0, v) = if(c, u, v)
    return keep(x);
}

static Expr rule_sub(Built *x)
{
    Expr y;
    const Expr a = x->a, b = x->b;
    if (is_zero(b)) return a;                                         // a - 0 = a
    if (is_zero(a)) return neg(b);                                    // 0 - b = -b
    if (same(a, b)) return zero(x->g);                                // a - a = 0
    if (is(a, OP_NEG) && is(b, OP_NEG)) return sub(left(b), left(a)); // -a - -b = b - a
    if (is(b, OP_NEG)) return add(a, left(b));                        // a - -b = a + b
    if (is(a, OP_NEG)) return neg(add(left(a), b));                   // -a - b = -(a + b)
    if (is_number(b)) return add(number(x->g, -value_of(b)), a);      // a - n = -n + a
    if (shifted(OP_SUB, a, b, &y)) return y;                          // m - (n + b) = (m - n) - b
    if (shifted_back(a, b, &y)) return y;                             // (n + a) - m = (n - m) + a
    if (like_terms(OP_SUB, a, b, &y)) return y;                       // m a - n a = (m - n) a
    const Node reverse = {.op = OP_SUB, .a = b.id, .b = a.id};
    const uint32_t found = tr_graph_find(x->g, reverse);
    if (found) // a - b = -(b - a), which exists
        return expr_at(x->g, tr_graph_intern(x->g, (Node){.op = OP_NEG, .a = found}));
    return keep(x);
}

static Expr rule_mul(Built *x)
{
    order(x);
    const Expr a = x->a, b = x->b;
    if (is_zero(a)) return a;                       // 0 b = 0
    if (is_one(a)) return b;                        // 1 b = b
    if (is(b, OP_NEG)) return neg(mul(a, left(b))); // a (-b) = -(a b)
    if (is(a, OP_NEG)) return neg(mul(left(a), b)); // (-a) b = -(a b)
    if (is_number(a) && value_of(a) < 0)            // (-n) b = -(n b)
        return neg(mul(number(x->g, -value_of(a)), b));
    Expr m, n, rest_a, rest_b;
    const bool has_m = has_factor(a, &m, &rest_a), has_n = has_factor(b, &n, &rest_b);
    const bool leads = is_number(a) || (is_known(a) && !is_known(b));
    if (leads && has_n && is_safe_with(OP_MUL, a, n))
        return mul(mul(a, n), rest_b);                // m (n b) = (m n) b
    if (has_m && has_n && is_safe_with(OP_MUL, m, n)) // (m a) (n b) = (m n) (a b)
        return mul(mul(m, n), mul(rest_a, rest_b));
    if (is(a, OP_SQRT) && same(a, b)) return left(a); // sqrt(a)^2 = a
    return keep(x);
}

static Expr rule_div(Built *x)
{
    const Expr a = x->a, b = x->b;
    if (is_zero(a)) return a;                            // 0 / b = 0
    if (is_one(b)) return a;                             // a / 1 = a
    if (same(a, b)) return one(x->g);                    // a / a = 1
    if (is(a, OP_NEG)) return neg(quotient(left(a), b)); // (-a) / b = -(a / b)
    if (is(b, OP_NEG)) return neg(quotient(a, left(b))); // a / (-b) = -(a / b)
    if (is_number(a) && value_of(a) < 0)                 // (-n) / b = -(n / b)
        return neg(quotient(number(x->g, -value_of(a)), b));
    int exponent;
    if (is_number(b) && fabs(frexp(value_of(b), &exponent)) == 0.5 && abs(exponent) < 1000)
        return mul(number(x->g, 1 / value_of(b)), a); // a / 2^k = 2^-k a, exactly
    return keep(x);
}

static Expr rule_neg(Built *x)
{
    const Expr a = x->a;
    if (is(a, OP_NEG)) return left(a); // --a = a
    if (is(a, OP_SUB)) {               // -(a - b) = b - a, where that exists
        const Node reverse = {.op = OP_SUB, .a = right(a).id, .b = left(a).id};
        const uint32_t found = tr_graph_find(x->g, reverse);
        if (found) return expr_at(x->g, found);
    }
    return keep(x);
}

static Expr rule_odd(Built *x) // f(-a) = -f(a)
{
    return is(x->a, OP_NEG) ? neg(tr_build(x->op, left(x->a), x->a, x->a)) : keep(x);
}

static Expr rule_even(Built *x) // f(-a) = f(a)
{
    if (is(x->a, OP_NEG)) x->a = left(x->a);
    return keep(x);
}

static Expr rule_abs(Built *x)
{
    return is(x->a, OP_ABS) ? x->a : rule_even(x); // ||a|| = |a|
}

static Expr rule_extreme(Built *x) // min(a, a) = a, also for max
{
    order(x);
    return same(x->a, x->b) ? x->a : keep(x);
}

static Expr rule_never(Built *x) { return same(x->a, x->b) ? zero(x->g) : keep(x); } // a < a
static Expr rule_always(Built *x) { return same(x->a, x->b) ? one(x->g) : keep(x); } // a <= a

static Expr rule_select(Built *x)
{
    if (is_number(x->a)) return value_of(x->a) != 0 ? x->b : x->c; // if(1, b, c) = b
    if (same(x->b, x->c)) return x->b;                             // if(a, b, b) = b
    return keep(x);
}

static Expr rule_none(Built *x) { return keep(x); }

static Expr rule_raise(Built *x) // a^b with a number b that is whole or half
{
    const double n = is_number(x->b) ? 2 * value_of(x->b) : 0.5;
    return fabs(n) <= 2000 && n == floor(n) ? halves(x->a, (int)n) : keep(x);
}

typedef Expr (*Rule)(Built *);
static const Rule rules[OP_COUNT] = {
#define OP(ID, name, operands, form, rule, ...) [OP_##ID] = rule,
#include "expr/op.def"
#undef OP
};

Expr tr_build(Op op, Expr a, Expr b, Expr c)
{
    Graph *g = graph_of(a);
    const int operands = tr_op[op].operands;
    assert(a.graph == b.graph && a.graph == c.graph); // one graph per expression
    assert(op < OP_COUNT && op != OP_POW && op != OP_TABLE1 && op != OP_TABLE2);
    if (g->failed || !a.id || !b.id || !c.id) return expr_at(g, 0);
    if (is_number(a) && (operands < 2 || is_number(b)) && (operands < 3 || is_number(c)))
        return number(g, tr_op_value(op, value_of(a), value_of(b), value_of(c), 0, NULL));
    Built x = {g, op, a, b, c};
    return rules[op](&x);
}

bool tr_build_call(Op op, const Expr *x, size_t count, Expr *y)
{
    const bool several = op == OP_MIN || op == OP_MAX;
    if (several ? count < 2 : count != (size_t)tr_op[op].operands) return false;
    *y = tr_build(op, x[0], x[count > 1 ? 1 : 0], x[count > 2 && !several ? 2 : 0]);
    for (size_t i = 2; several && i < count; i++) *y = tr_build(op, *y, x[i], *y);
    return true;
}

Expr tr_build_halves(Expr a, int n)
{
    Graph *g = graph_of(a);
    if (g->failed || !a.id) return expr_at(g, 0);
    const int even = n / 4 * 2;
    if (abs(n) > INT16_MAX) return mul(halves(a, even), halves(a, n - even));
    if (n == 0) return one(g);                                           // a^0 = 1
    if (n == 2) return a;                                                // a^1 = a
    if (n == 1) return e_sqrt(a);                                        // a^(1/2) = sqrt(a)
    if (is_number(a)) return number(g, tr_power_halves(value_of(a), n)); // exactly as evaluated
    if (n % 2 == 0 && is(a, OP_SQRT)) return halves(left(a), n / 2);     // sqrt(a)^n = a^(n/2)
    if (n % 2 == 0 && is(a, OP_POW) && abs(n / 2 * node_of(a)->n) <= INT16_MAX)
        return halves(left(a), n / 2 * node_of(a)->n);               // (a^m)^n = a^(m n)
    if (n == 4) return mul(a, a);                                    // a^2 = a a
    if (n == -2) return quotient(one(g), a);                         // a^-1 = 1/a
    if (n == -1) return quotient(one(g), e_sqrt(a));                 // a^(-1/2) = 1/sqrt(a)
    if (n % 4 == 0 && is(a, OP_NEG)) return halves(left(a), n);      // (-a)^2m = a^2m
    if (n % 2 == 0 && is(a, OP_NEG)) return neg(halves(left(a), n)); // (-a)^(2m+1) = -a^(2m+1)
    return expr_at(g, tr_graph_intern(g, (Node){.op = OP_POW, .n = (int16_t)n, .a = a.id}));
}

Expr tr_build_table(uint32_t table, Expr x, Expr y, int order)
{
    Graph *g = graph_of(x);
    if (g->failed || !x.id || !y.id) return expr_at(g, 0);
    const Table *f = g->tables[table];
    const bool plane = table_is_plane(f);
    if (table_is_question(order)) {
        if (is_number(x)) return number(g, tr_table_value(f, value_of(x), 0, order));
        const Node node = {.op = OP_TABLE1, .n = (int16_t)order, .a = x.id, .c = table};
        return expr_at(g, tr_graph_intern(g, node));
    }
    for (int axis = 0; axis < 2; axis++)
        if (table_order_along(order, axis) > (int)f->axis[axis].degree) return zero(g);
    if (is_number(x) && (!plane || is_number(y)))
        return number(g, tr_table_value(f, value_of(x), plane ? value_of(y) : 0, order));
    const Node node = {.op = plane ? OP_TABLE2 : OP_TABLE1,
                       .n = (int16_t)order,
                       .a = x.id,
                       .b = plane ? y.id : 0,
                       .c = table};
    return expr_at(g, tr_graph_intern(g, node));
}
