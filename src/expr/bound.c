// SPDX-License-Identifier: Apache-2.0
// Interval arithmetic (T122). Every result is widened by what rounding may have taken: one unit in
// the last place of what is rounded right, two of elementary functions; differences and products
// that are exact stay as they are. Slopes follow the chain rule. They are those of exact values.
#include "expr/bound.h"

#include "expr/walk.h"

#include <assert.h>
#include <stdlib.h>

// ---- intervals -----------------------------------------------------------------------------

#define EVERYTHING ((Interval){-(double)INFINITY, (double)INFINITY})
#define NOTHING    ((Interval){0, 0})
#define LEAST_PART 2.220446049250313e-16 // between 1 and the next number

static double below(double x) { return nextafter(x, -(double)INFINITY); }
static double above(double x) { return nextafter(x, (double)INFINITY); }

static bool is_one_number(Interval x) { return x.low == x.high; }
static bool has_zero(Interval x) { return x.low <= 0 && x.high >= 0; }

static Interval checked(double low, double high)
{
    return low <= high ? (Interval){low, high} : EVERYTHING; // and where one of them is NaN
}
static Interval rounded(double low, double high) { return checked(below(low), above(high)); }
static Interval widened(double low, double high)
{
    return checked(below(below(low)), above(above(high)));
}

static Interval hull(Interval a, Interval b)
{
    return checked(fmin(a.low, b.low), fmax(a.high, b.high));
}

static Interval minus(Interval a) { return (Interval){-a.high, -a.low}; }

// Whether a + b is exact [Knuth]
static bool adds_exactly(double a, double b)
{
    const double sum = a + b, part = sum - a;
    return (a - (sum - part)) + (b - part) == 0;
}

static Interval plus(Interval a, Interval b)
{
    if (is_one_number(a) && is_one_number(b) && adds_exactly(a.low, b.low))
        return checked(a.low + b.low, a.low + b.low);
    return rounded(a.low + b.low, a.high + b.high);
}

static bool is_zero_end(Interval x) { return x.low == 0 || x.high == 0; }

// Around four numbers; where an end is zero since an operand is, it is exact.
static Interval around(double p, double q, double r, double s, bool has_exact_zero)
{
    if (isnan(p) || isnan(q) || isnan(r) || isnan(s)) return EVERYTHING;
    const double low = fmin(fmin(p, q), fmin(r, s)), high = fmax(fmax(p, q), fmax(r, s));
    return checked(low == 0 && has_exact_zero ? 0 : below(low),
                   high == 0 && has_exact_zero ? 0 : above(high));
}

static double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

static Interval times(Interval a, Interval b)
{
    if (is_one_number(a) && is_one_number(b) && fma(a.low, b.low, -a.low * b.low) == 0)
        return checked(a.low * b.low, a.low * b.low);
    if ((a.low == 0 && a.high == 0) || (b.low == 0 && b.high == 0)) return NOTHING;
    const double p = product(a.low, b.low), q = product(a.low, b.high), r = product(a.high, b.low),
                 s = product(a.high, b.high);
    return around(p, q, r, s, is_zero_end(a) || is_zero_end(b));
}

static Interval over(Interval a, Interval b)
{
    if (has_zero(b)) return EVERYTHING;
    const double p = a.low / b.low, q = a.low / b.high, r = a.high / b.low, s = a.high / b.high;
    return around(p, q, r, s, is_zero_end(a));
}

static Interval number_only(double x) { return (Interval){x, x}; }

// ---- powers and functions ------------------------------------------------------------------

// a^p by products, each of which rounds
static Interval whole_power(Interval a, int p)
{
    const double slack = (abs(p) + 2) * LEAST_PART;
    if (p < 0) return over(number_only(1), whole_power(a, -p));
    if (p == 0) return number_only(1);
    double low = tr_power(a.low, p), high = tr_power(a.high, p);
    if (p % 2 == 0) {
        const double larger = fmax(low, high);
        low = has_zero(a) ? 0 : fmin(low, high), high = larger;
    }
    return rounded(low - slack * fabs(low), high + slack * fabs(high));
}

static Interval root(Interval a)
{
    return a.low < 0 ? EVERYTHING : rounded(sqrt(a.low), sqrt(a.high));
}

// a^(n/2)
static Interval half_power(Interval a, int n)
{
    return n % 2 ? whole_power(root(a), n) : whole_power(a, n / 2);
}

#define FAR_OUT 1e9 // where turns are not counted any more

// Whether a crest, at `phase` and every whole turn from there, is in an interval, or nearly
static bool has_crest(Interval a, double phase)
{
    const double turn = 6.283185307179586;
    const double first = (a.low - phase) / turn, last = (a.high - phase) / turn;
    const double slack = 8 * LEAST_PART * (1 + fmax(fabs(first), fabs(last)));
    return floor(first - slack) != floor(last + slack);
}

static Interval wave(Interval a, double (*function)(double), double crest)
{
    const double half_turn = 3.141592653589793, most = above(1);
    if (!(fmax(fabs(a.low), fabs(a.high)) < FAR_OUT)) return (Interval){-most, most};
    const double f = function(a.low), g = function(a.high);
    Interval y = widened(fmin(f, g), fmax(f, g));
    if (has_crest(a, crest)) y.high = most;
    if (has_crest(a, crest + half_turn)) y.low = -most;
    return y;
}

static double sine(double x) { return el_sin(x); }
static double cosine(double x) { return el_cos(x); }
static Interval sine_of(Interval a) { return wave(a, sine, 1.5707963267948966); }
static Interval cosine_of(Interval a) { return wave(a, cosine, 0); }
static Interval exponential(Interval a) { return widened(el_exp(a.low), el_exp(a.high)); }
static Interval arc(Interval a) { return widened(el_atan(a.low), el_atan(a.high)); }

static Interval logarithm(Interval a)
{
    return a.low > 0 ? widened(el_log(a.low), el_log(a.high)) : EVERYTHING;
}

static Interval size_of(Interval a)
{
    const double p = fabs(a.low), q = fabs(a.high);
    return (Interval){has_zero(a) ? 0 : fmin(p, q), fmax(p, q)};
}

// 1 - a^2
static Interval cosquare(Interval a) { return plus(number_only(1), minus(whole_power(a, 2))); }

// ---- tables --------------------------------------------------------------------------------

// The derivative of the given order of one piece
static Interval piece_bound(const Table *f, uint32_t piece, Interval x, int order)
{
    const TableAxis *axis = &f->axis[0];
    const int degree = (int)axis->degree;
    const double *c = f->coefficient + (size_t)piece * (axis->degree + 1);
    const Interval u = plus(x, number_only(-axis->knot[piece]));
    Interval sum = NOTHING;
    for (int k = degree; k >= order; k--) {
        double factor = 1;
        for (int j = 0; j < order; j++) factor *= k - j;
        sum = plus(times(sum, u), times(number_only(factor), number_only(c[k])));
    }
    return sum;
}

// Over all pieces that x is in, the first and the last of which go on beyond their ends.
static Interval table_bound(const Table *f, Interval x, int order, bool *one_piece)
{
    const TableAxis *axis = &f->axis[0];
    const uint32_t last = axis->pieces - 1;
    const double begin = axis->knot[0], end = axis->knot[axis->count - 1];
    Interval all = NOTHING;
    uint32_t count = 0;
    const bool outside = f->hold && (x.low < begin || x.high > end);
    if (f->hold) {
        x.low = fmin(fmax(x.low, begin), end);
        x.high = fmax(fmin(x.high, end), begin);
    }
    uint32_t from = tr_table_piece(axis, x.low);
    const uint32_t to = tr_table_piece(axis, x.high);
    if (from > 0 && x.low <= axis->knot[from]) from--; // which ends there
    for (uint32_t i = from; i <= to; i++) {
        const Interval part = {i > 0 ? fmax(x.low, axis->knot[i]) : x.low,
                               i < last ? fmin(x.high, axis->knot[i + 1]) : x.high};
        const Interval own = piece_bound(f, i, part, order);
        all = count++ ? hull(all, own) : own;
    }
    if (outside && order > 0) all = hull(all, NOTHING);
    *one_piece = count == 1 && !outside;
    return all;
}

// ---- operations ----------------------------------------------------------------------------

typedef struct Payload {
    int n;
    const Table *f;
} Payload;

typedef Bound BoundRule(Bound a, Bound b, Bound c, Payload p);

// Where operands do not matter
#define RULE(name) static Bound name(Bound a, Bound b, Bound c, Payload p)
#define UNUSED     ((void)a, (void)b, (void)c, (void)p)

RULE(bound_add)
{
    UNUSED;
    return (Bound){plus(a.value, b.value), plus(a.slope, b.slope)};
}

RULE(bound_neg)
{
    UNUSED;
    return (Bound){minus(a.value), minus(a.slope)};
}

RULE(bound_sub) { return bound_add(a, bound_neg(b, b, c, p), c, p); }

RULE(bound_mul)
{
    UNUSED;
    return (Bound){times(a.value, b.value), plus(times(a.slope, b.value), times(a.value, b.slope))};
}

RULE(bound_div) // (a/b)' = (a' - (a/b) b') / b
{
    UNUSED;
    const Interval y = over(a.value, b.value);
    return (Bound){y, over(plus(a.slope, minus(times(y, b.slope))), b.value)};
}

RULE(bound_pow)
{
    UNUSED;
    const Interval factor = times(number_only(0.5 * p.n), half_power(a.value, p.n - 2));
    return (Bound){half_power(a.value, p.n), times(a.slope, factor)};
}

RULE(bound_raise) // a^b (b' log a + b a'/a)
{
    const double exponent = b.value.low;
    if (is_one_number(b.value) && fabs(exponent) <= 1000 && exponent == floor(exponent))
        return bound_pow(a, b, c, (Payload){.n = 2 * (int)exponent});
    UNUSED;
    if (!(a.value.low > 0)) return (Bound){EVERYTHING, EVERYTHING};
    const Interval log = logarithm(a.value), y = exponential(times(b.value, log));
    const Interval change = plus(times(b.slope, log), over(times(b.value, a.slope), a.value));
    return (Bound){y, times(y, change)};
}

RULE(bound_sqrt)
{
    UNUSED;
    const Interval y = root(a.value);
    return (Bound){y, over(a.slope, plus(y, y))};
}

RULE(bound_sin)
{
    UNUSED;
    return (Bound){sine_of(a.value), times(a.slope, cosine_of(a.value))};
}

RULE(bound_cos)
{
    UNUSED;
    return (Bound){cosine_of(a.value), minus(times(a.slope, sine_of(a.value)))};
}

RULE(bound_tan)
{
    UNUSED;
    const bool has_pole = has_zero(cosine_of(a.value)) || !(a.value.high - a.value.low < 3);
    const Interval y = has_pole ? EVERYTHING : widened(el_tan(a.value.low), el_tan(a.value.high));
    return (Bound){y,
                   has_pole ? EVERYTHING : times(a.slope, plus(number_only(1), whole_power(y, 2)))};
}

RULE(bound_asin)
{
    UNUSED;
    if (!(a.value.low >= -1 && a.value.high <= 1)) return (Bound){EVERYTHING, EVERYTHING};
    return (Bound){widened(el_asin(a.value.low), el_asin(a.value.high)),
                   over(a.slope, root(cosquare(a.value)))};
}

RULE(bound_acos)
{
    UNUSED;
    if (!(a.value.low >= -1 && a.value.high <= 1)) return (Bound){EVERYTHING, EVERYTHING};
    return (Bound){widened(el_acos(a.value.high), el_acos(a.value.low)),
                   minus(over(a.slope, root(cosquare(a.value))))};
}

RULE(bound_atan)
{
    UNUSED;
    return (Bound){arc(a.value), over(a.slope, plus(number_only(1), whole_power(a.value, 2)))};
}

RULE(bound_atan2) // of a = y and b = x; it jumps where y = 0 and x < 0
{
    UNUSED;
    const double quarter = 1.5707963267948966, half = above(above(3.141592653589793));
    const Interval slope = over(plus(times(b.value, a.slope), minus(times(a.value, b.slope))),
                                plus(whole_power(a.value, 2), whole_power(b.value, 2)));
    const Interval right = widened(quarter, quarter);
    if (b.value.low > 0) {
        const Interval y = arc(over(a.value, b.value));
        return (Bound){widened(y.low, y.high), slope};
    }
    if (a.value.low > 0 || a.value.high < 0) {
        const Interval y = minus(arc(over(b.value, a.value)));
        return (Bound){plus(y, a.value.low > 0 ? right : minus(right)), slope};
    }
    return (Bound){(Interval){-half, half}, EVERYTHING};
}

RULE(bound_exp)
{
    UNUSED;
    const Interval y = exponential(a.value);
    return (Bound){y, times(y, a.slope)};
}

RULE(bound_log)
{
    UNUSED;
    return (Bound){logarithm(a.value), over(a.slope, a.value)};
}

RULE(bound_hypot)
{
    UNUSED;
    const Interval x = size_of(a.value), z = size_of(b.value);
    const Interval y = widened(el_hypot(x.low, z.low), el_hypot(x.high, z.high));
    return (Bound){y, over(plus(times(a.value, a.slope), times(b.value, b.slope)), y)};
}

RULE(bound_abs)
{
    UNUSED;
    const Interval back = minus(a.slope);
    return (Bound){size_of(a.value), a.value.low >= 0    ? a.slope
                                     : a.value.high <= 0 ? back
                                                         : hull(a.slope, back)};
}

RULE(bound_floor)
{
    UNUSED;
    const Interval y = checked(floor(a.value.low), floor(a.value.high));
    return (Bound){y, is_one_number(y) ? NOTHING : EVERYTHING};
}

RULE(bound_min)
{
    UNUSED;
    return (Bound){checked(fmin(a.value.low, b.value.low), fmin(a.value.high, b.value.high)),
                   a.value.high < b.value.low   ? a.slope
                   : b.value.high < a.value.low ? b.slope
                                                : hull(a.slope, b.slope)};
}

RULE(bound_max)
{
    const Bound y = bound_min(bound_neg(a, a, c, p), bound_neg(b, b, c, p), c, p);
    return bound_neg(y, y, c, p);
}

static Bound decided(bool is_true, bool is_false)
{
    if (!is_true && !is_false) return (Bound){(Interval){0, 1}, EVERYTHING};
    return (Bound){number_only(is_true ? 1 : 0), NOTHING};
}

RULE(bound_less)
{
    UNUSED;
    return decided(a.value.high < b.value.low, a.value.low >= b.value.high);
}

RULE(bound_less_equal)
{
    UNUSED;
    return decided(a.value.high <= b.value.low, a.value.low > b.value.high);
}

RULE(bound_equal)
{
    UNUSED;
    const bool apart = a.value.high < b.value.low || a.value.low > b.value.high;
    return decided(is_one_number(a.value) && is_one_number(b.value) && a.value.low == b.value.low,
                   apart);
}

RULE(bound_not_equal)
{
    const Bound y = bound_equal(a, b, c, p);
    return (Bound){plus(number_only(1), minus(y.value)), y.slope};
}

RULE(bound_select)
{
    UNUSED;
    if (!has_zero(a.value)) return b;
    if (is_one_number(a.value)) return c;
    return (Bound){hull(b.value, c.value), EVERYTHING};
}

// The number of a piece
static Bound piece_number(const TableAxis *axis, Bound a)
{
    const Interval y = {tr_table_piece(axis, a.value.low), tr_table_piece(axis, a.value.high)};
    return (Bound){y, is_one_number(y) ? NOTHING : EVERYTHING};
}

RULE(bound_table1)
{
    UNUSED;
    bool one_piece, unused;
    if (p.n == table_question(TABLE_PIECE, 0)) return piece_number(&p.f->axis[0], a);
    if (p.n == table_question(TABLE_PIECE, 1)) return piece_number(&p.f->axis[1], a);
    if (table_is_question(p.n)) return (Bound){EVERYTHING, EVERYTHING};
    const int order = table_order_along(p.n, 0);
    const Interval y = table_bound(p.f, a.value, order, &one_piece);
    const bool jumps = !one_piece && (order >= (int)p.f->axis[0].degree || (p.f->hold && order));
    return (Bound){y, jumps ? EVERYTHING
                            : times(a.slope, table_bound(p.f, a.value, order + 1, &unused))};
}

RULE(bound_unknown)
{
    UNUSED;
    return (Bound){EVERYTHING, EVERYTHING};
}

// One row for each operation; what has none may be anything.
static BoundRule *const rules[OP_COUNT] = {
    [OP_ADD] = bound_add,        [OP_SUB] = bound_sub,
    [OP_MUL] = bound_mul,        [OP_DIV] = bound_div,
    [OP_NEG] = bound_neg,        [OP_POW] = bound_pow,
    [OP_RAISE] = bound_raise,    [OP_SQRT] = bound_sqrt,
    [OP_SIN] = bound_sin,        [OP_COS] = bound_cos,
    [OP_TAN] = bound_tan,        [OP_ASIN] = bound_asin,
    [OP_ACOS] = bound_acos,      [OP_ATAN] = bound_atan,
    [OP_ATAN2] = bound_atan2,    [OP_EXP] = bound_exp,
    [OP_HYPOT] = bound_hypot,    [OP_LOG] = bound_log,
    [OP_ABS] = bound_abs,        [OP_FLOOR] = bound_floor,
    [OP_MIN] = bound_min,        [OP_MAX] = bound_max,
    [OP_LESS] = bound_less,      [OP_LESS_EQUAL] = bound_less_equal,
    [OP_EQUAL] = bound_equal,    [OP_NOT_EQUAL] = bound_not_equal,
    [OP_SELECT] = bound_select,  [OP_TABLE1] = bound_table1,
    [OP_TABLE2] = bound_unknown,
};

Bound tr_op_bound(Op op, Bound a, Bound b, Bound c, int n, const Table *f)
{
    BoundRule *const rule = rules[op] ? rules[op] : bound_unknown;
    return rule(a, b, c, (Payload){n, f});
}

// ---- expressions ---------------------------------------------------------------------------

typedef struct Step {
    Op op;
    int n;
    uint32_t a, b, c; // steps before it; of a symbol a is its input
    double value;     // of a number
    const Table *table;
} Step;

struct Bounds {
    Step *steps;
    uint32_t count;
    uint32_t *out; // steps
    uint32_t out_count;
};

static Step step_of(const Graph *g, uint32_t id, const uint32_t *place)
{
    const Node *node = &g->nodes[id];
    const int operands = tr_op[node->op].operands;
    assert(node->op < OP_COUNT); // nothing that only programs know depends on t alone
    Step s = {.op = (Op)node->op, .n = node->n};
    if (s.op == OP_NUMBER) s.value = node_value(node);
    if (s.op == OP_SYMBOL) s.a = node->a;
    if (operands > 0) s.a = place[node->a];
    if (operands > 1) s.b = place[node->b];
    if (operands > 2) s.c = place[node->c];
    if (s.op == OP_TABLE1 || s.op == OP_TABLE2) s.table = g->tables[node->c];
    return s;
}

Bounds *tr_bounds_new(System *s, const Expr *of, size_t count, tr_error *err)
{
    Bounds *b = calloc(1, sizeof *b);
    Expr *resolved = calloc(count + 1, sizeof *resolved);
    Reach reach = {0};
    for (size_t i = 0; resolved && i < count; i++) resolved[i] = of[i];
    if (resolved) tr_system_resolve(s, resolved, count);
    uint32_t *place = b && resolved && tr_reach(s->graph, resolved, count, &reach)
                          ? tr_reach_map(s->graph, &reach)
                          : NULL;
    if (place) {
        b->steps = calloc(reach.count + 1u, sizeof *b->steps);
        b->out = calloc(count + 1, sizeof *b->out);
    }
    const bool good = place && b->steps && b->out && !s->graph->failed;
    for (uint32_t k = 0; good && k < reach.count; k++) {
        b->steps[k] = step_of(s->graph, reach.ids[k], place);
        place[reach.ids[k]] = k;
    }
    for (size_t i = 0; good && i < count; i++) b->out[i] = place[resolved[i].id];
    if (good) b->count = reach.count, b->out_count = (uint32_t)count;
    free(resolved);
    free(place);
    tr_reach_free(&reach);
    if (good) return b;
    tr_bounds_free(b);
    return tr_fail_memory(err), NULL;
}

void tr_bounds_free(Bounds *b)
{
    if (!b) return;
    free(b->steps);
    free(b->out);
    free(b);
}

size_t tr_bounds_size(const Bounds *b) { return b->count; }

void tr_bounds_take(const Bounds *b, const double *inputs, Interval t, Bound *room, Bound *out)
{
    for (uint32_t k = 0; k < b->count; k++) {
        const Step *s = &b->steps[k];
        if (s->op == OP_NUMBER)
            room[k] = (Bound){number_only(s->value), NOTHING};
        else if (s->op == OP_SYMBOL)
            room[k] =
                s->a ? (Bound){number_only(inputs[s->a]), NOTHING} : (Bound){t, number_only(1)};
        else
            room[k] = tr_op_bound(s->op, room[s->a], room[s->b], room[s->c], s->n, s->table);
    }
    for (uint32_t i = 0; i < b->out_count; i++) out[i] = room[b->out[i]];
}
