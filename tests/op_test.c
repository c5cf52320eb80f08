// SPDX-License-Identifier: Apache-2.0
// The derivatives of every row of op.def against differences, on both sides of kinks; and branches
// not taken that must not poison.
#include "differences.h"

// ---- every operation -----------------------------------------------------------------------

// Where an operation is differentiated: operands between low and high, but not nearer than STEP to
// places where it has no derivative (see is_regular).
typedef struct Domain {
    double low[3], high[3];
    int kinds; // how many payloads to try: exponents, orders; 0: the row is missing
} Domain;

static const double STEP = 0.04; // largest step of a difference

static const int exponents[] = {-14, -8, -7, -5, -4, -3, -2, -1, 0,
                                1,   2,  3,  4,  5,  6,  8,  10, 20}; // halves
static const int orders[] = {0x00, 0x01, 0x10, 0x02, 0x11, 0x20};
enum { EXPONENTS = sizeof exponents / sizeof *exponents, ORDERS = sizeof orders / sizeof *orders };

#define EVERYWHERE                 \
    {                              \
        {-2, -2, -2}, {2, 2, 2}, 1 \
    }

static const Domain domains[OP_COUNT] = {
    [OP_ADD] = EVERYWHERE,
    [OP_SUB] = EVERYWHERE,
    [OP_MUL] = EVERYWHERE,
    [OP_DIV] = {{-2, 0.5}, {2, 3}, 1},
    [OP_NEG] = EVERYWHERE,
    [OP_POW] = {{0.6}, {2}, EXPONENTS},
    [OP_RAISE] = {{0.6, -3.3}, {2, 3.3}, 1},
    [OP_SQRT] = {{0.3}, {4}, 1},
    [OP_SIN] = {{-20}, {20}, 1},
    [OP_COS] = {{-20}, {20}, 1},
    [OP_TAN] = {{-1}, {1}, 1},
    [OP_ASIN] = {{-0.7}, {0.7}, 1},
    [OP_ACOS] = {{-0.7}, {0.7}, 1},
    [OP_ATAN] = {{-5}, {5}, 1},
    [OP_ATAN2] = EVERYWHERE,
    [OP_HYPOT] = EVERYWHERE,
    [OP_EXP] = {{-3}, {3}, 1},
    [OP_LOG] = {{0.3}, {4}, 1},
    [OP_ABS] = EVERYWHERE,
    [OP_FLOOR] = EVERYWHERE,
    [OP_MIN] = EVERYWHERE,
    [OP_MAX] = EVERYWHERE,
    [OP_LESS] = EVERYWHERE,
    [OP_LESS_EQUAL] = EVERYWHERE,
    [OP_EQUAL] = EVERYWHERE,
    [OP_NOT_EQUAL] = EVERYWHERE,
    [OP_SELECT] = EVERYWHERE,
    [OP_TABLE1] = {{-4}, {4}, ORDERS},
    [OP_TABLE2] = {{-4, -3}, {4, 5}, ORDERS},
};

// Far enough from kinks, jumps, knots and the cut of atan2.
static bool is_regular(Op op, const double x[3], const Table *f)
{
    const double far = 1.5 * STEP;
    switch (op) {
    case OP_ABS: return fabs(x[0]) > far;
    case OP_FLOOR: return fabs(x[0] - round(x[0])) > far;
    case OP_MIN:
    case OP_MAX:
    case OP_LESS:
    case OP_LESS_EQUAL:
    case OP_EQUAL:
    case OP_NOT_EQUAL: return fabs(x[0] - x[1]) > far;
    case OP_SELECT: return fabs(x[0]) > far;
    case OP_ATAN2: return hypot(x[0], x[1]) > 0.5 && (x[1] > 0 || fabs(x[0]) > far);
    case OP_HYPOT: return hypot(x[0], x[1]) > 0.5;
    case OP_TABLE1:
    case OP_TABLE2:
        for (int axis = 0; axis < 2; axis++)
            for (uint32_t i = 0; f->axis[axis].pieces && i <= f->axis[axis].pieces; i++)
                if (fabs(x[axis] - f->axis[axis].knot[i]) < far) return false;
        return true;
    default: return true;
    }
}

static Expr build(Op op, const Expr x[3], int n, uint32_t table)
{
    if (op == OP_POW) return tr_build_halves(x[0], n);
    if (tr_op[op].form == FORM_TABLE) return tr_build_table(table, x[0], x[1], n);
    return tr_build(op, x[0], x[1], x[2]);
}

static double difference(Op op, const double x[3], int which, int n, const Table *f)
{
    double central[LEVELS];
    for (int level = 0; level < LEVELS; level++) {
        const double h = ldexp(STEP, -level);
        double up[3] = {x[0], x[1], x[2]}, down[3] = {x[0], x[1], x[2]};
        up[which] += h;
        down[which] -= h;
        central[level] = (tr_op_value(op, up[0], up[1], up[2], n, f) -
                          tr_op_value(op, down[0], down[1], down[2], n, f)) /
                         (up[which] - down[which]);
    }
    return extrapolated(central, NULL);
}

// One operation with one payload: forward and reverse at random points.
static void check_operation(Jungle *j, Op op, int n, uint32_t table)
{
    const Graph *g = j->system->graph;
    const Table *f = tr_op[op].form == FORM_TABLE ? g->tables[table] : NULL;
    const int operands = tr_op[op].operands;
    const Expr y = build(op, j->inputs, n, table);
    Expr d[6];
    for (int which = 0; which < operands; which++) d[which] = tr_derivative(y, j->inputs[which]);
    tr_reverse(j->system->graph, y, j->inputs, (size_t)operands, d + operands);
    Machine m = machine_new(j->system, d, 2 * (size_t)operands);
    for (int points = 0; points < 60;) {
        double in[JUNGLE_INPUTS] = {0}, out[6];
        for (int k = 0; k < operands; k++)
            in[k] = random_between(&j->random, domains[op].low[k], domains[op].high[k]);
        if (!is_regular(op, in, f)) continue;
        points++;
        run(&m, in, out);
        for (int k = 0; k < 2 * operands; k++) {
            const double wanted = difference(op, in, k % operands, n, f);
            if (!is_close(out[k], wanted, 1e-8))
                fail_msg("%s, n = %d, operand %d of (%g, %g, %g), %s: %.17g, difference %.17g",
                         tr_op[op].name, n, k % operands, in[0], in[1], in[2],
                         k < operands ? "forward" : "reverse", out[k], wanted);
        }
    }
    machine_free(&m);
}

static void test_every_operation(void **state)
{
    (void)state;
    Jungle j;
    jungle_grow(&j, 1, 0, true); // for its inputs and tables
    static const double x[] = {-3, -1, 1, 3}, z[] = {1, -2, 0, 5};
    tr_define_table(j.system, "held", x, 4, NULL, 1, z, 3, true, NULL);
    tr_define_table(j.system, "lines", x, 4, NULL, 1, z, 1, false, NULL);
    for (Op op = OP_SYMBOL + 1; op < OP_COUNT; op++) {
        if (!domains[op].kinds) fail_msg("operation %s has no domain in this test", tr_op[op].name);
        for (int kind = 0; kind < domains[op].kinds; kind++) {
            const int order = orders[kind % ORDERS];
            if (op == OP_POW)
                check_operation(&j, op, exponents[kind], 0);
            else if (op == OP_TABLE2)
                check_operation(&j, op, order, 1);
            else if (op != OP_TABLE1)
                check_operation(&j, op, 0, 0);
            else if (table_order_along(order, 1) == 0)
                for (uint32_t table = 0; table < 4; table++)
                    if (table != 1) check_operation(&j, op, order, table);
        }
    }
    jungle_free(&j);
}

// Jumps have the derivative 0, as a node.
static void test_jumps_are_flat(void **state)
{
    (void)state;
    Jungle j;
    jungle_grow(&j, 1, 0, true);
    static const char *const flat[] = {"floor(p)", "p < q",  "p <= q",         "p > q",
                                       "p >= q",   "p == q", "p != q",         "!p",
                                       "p && q",   "p || q", "if(p, q, r)",    "if(p < 1, q, r)",
                                       "3",        "q*r",    "floor(p*q)*q*s", "signal(q)"};
    for (size_t i = 0; i < sizeof flat / sizeof *flat; i++) {
        const Expr d = tr_derivative(formula(j.system, flat[i]), j.inputs[0]);
        if (!is_zero(d)) fail_msg("d/dp %s = %s", flat[i], tr_text(j.system, d));
    }
    jungle_free(&j);
}

// Both sides of kinks and branches, and what is chosen on the kink itself.
static void test_sides(void **state)
{
    (void)state;
    static const struct {
        const char *formula;
        double p, q, dp, dq;
    } cases[] = {
        {"abs(p)", 2, 0, 1, 0},
        {"abs(p)", -2, 0, -1, 0},
        {"abs(p)", 0, 0, 1, 0},
        {"min(3*p, 5*q)", 1, 2, 3, 0},
        {"min(3*p, 5*q)", 2, 1, 0, 5},
        {"max(3*p, 5*q)", 1, 2, 0, 5},
        {"max(3*p, 5*q)", 2, 1, 3, 0},
        {"min(p*q, 1)", 2, 3, 0, 0},
        {"min(p*q, 7)", 2, 3, 3, 2},
        {"max(p, 2*p)", 1, 0, 2, 0},
        {"max(p, 2*p)", -1, 0, 1, 0},
        {"if(p < q, p*q, p - q)", 2, 3, 3, 2},
        {"if(p < q, p*q, p - q)", 3, 2, 1, -1},
        {"if(p, 3*p*q, 4*q)", 0, 2, 0, 4},
        {"if(p, 3*p*q, 4*q)", -1, 2, 6, -3},
    };
    Jungle j;
    jungle_grow(&j, 1, 0, true);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double in[JUNGLE_INPUTS] = {cases[i].p, cases[i].q};
        const Expr f = formula(j.system, cases[i].formula);
        Expr d[6] = {tr_derivative(f, j.inputs[0]), tr_derivative(f, j.inputs[1])};
        tr_gradient(f, j.inputs, 2, d + 2);
        tr_reverse(j.system->graph, f, j.inputs, 2, d + 4);
        double out[6];
        values_at(j.system, d, 6, in, out);
        for (int k = 0; k < 6; k++)
            if (out[k] != (k % 2 ? cases[i].dq : cases[i].dp))
                fail_msg("%s at (%g, %g): derivative %d is %g", cases[i].formula, in[0], in[1], k,
                         out[k]);
    }
    jungle_free(&j);
}

// min and max of equal operands have one of the two slopes, not their sum.
static void test_ties(void **state)
{
    (void)state;
    Jungle j;
    jungle_grow(&j, 1, 0, true);
    static const char *const ties[] = {"min(p, q)", "max(p, q)"};
    for (size_t i = 0; i < 2; i++) {
        const double in[JUNGLE_INPUTS] = {1, 1};
        Expr d[2];
        double out[2];
        tr_gradient(formula(j.system, ties[i]), j.inputs, 2, d);
        values_at(j.system, d, 2, in, out);
        assert_true((out[0] == 1 && out[1] == 0) || (out[0] == 0 && out[1] == 1));
    }
    jungle_free(&j);
}

// ---- branches not taken --------------------------------------------------------------------

static void test_branches_do_not_poison(void **state)
{
    (void)state;
    static const char *const guarded[] = {
        "if(p > 0, sqrt(p), 0)",
        "if(p > 0, sqrt(p)*q*r, 0)",
        "if(p > 0, log(p), 0) + 0*q",
        "if(p > 0, 1/p, 0)",
        "if(p <= 0, 0, p^-3 + atan2(p, 0*p))",
        "sin(3*if(p > 0, if(q > -9, sqrt(p), 1), 0))*exp(r - r)",
        "p > 0 ? sqrt(p*p*p) : 0",
        "if(p > 0, asin(1 + p*p), 0)",
        "min(0, if(p > 0, sqrt(p), 0))",
        "max(if(p > 0, -sqrt(p), 0), 0)",
        "max(-2, min(-2, if(p > 0, sqrt(p), 0))) + 2",
    };
    Jungle j;
    jungle_grow(&j, 1, 0, false);
    for (size_t i = 0; i < sizeof guarded / sizeof *guarded; i++) {
        const Expr f = formula(j.system, guarded[i]);
        Expr d[1 + 2 * JUNGLE_INPUTS] = {tr_derivative(f, j.inputs[0])};
        tr_gradient(f, j.inputs, JUNGLE_INPUTS, d + 1);
        size_t count;
        const Expr of[2] = {f, f};
        const tr_entry *e = tr_jacobian(j.system, of, 2, j.inputs, JUNGLE_INPUTS, &count);
        assert_non_null(e);
        for (size_t k = 0; k < JUNGLE_INPUTS; k++)
            d[1 + JUNGLE_INPUTS + k] = k < count ? e[k].value : zero(j.system->graph);
        static const double places[] = {-1, 0, -1e-300};
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            const double in[JUNGLE_INPUTS] = {places[k], 0.5, 0.25, 2, 3};
            double out[1 + 2 * JUNGLE_INPUTS];
            values_at(j.system, d, 1 + 2 * JUNGLE_INPUTS, in, out);
            for (size_t l = 0; l < 1 + 2 * JUNGLE_INPUTS; l++)
                if (out[l] != 0)
                    fail_msg("%s at p = %g: derivative %zu is %g", guarded[i], places[k], l,
                             out[l]);
        }
    }
    jungle_free(&j);
}

// min and max pick the finite side although the other one's slope is not finite, whichever is the
// first operand after ordering.
static void test_extremes_do_not_poison(void **state)
{
    (void)state;
    static const char *const formulas[] = {"max(1 + q, sqrt(p))", "min(q, 1 + sqrt(p))",
                                           "min(1 + sqrt(p) + s, q*r)", "max(sqrt(p) - s, q*r)"};
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        Jungle j;
        jungle_grow(&j, 1, 0,
                    false); // anew, so that operands are made in the order they are written
        Expr d[JUNGLE_INPUTS];
        double out[JUNGLE_INPUTS];
        const double in[JUNGLE_INPUTS] = {0, 0.5, 1, 1, 1}; // the slope of sqrt(0) is infinite
        tr_gradient(formula(j.system, formulas[i]), j.inputs, JUNGLE_INPUTS, d);
        values_at(j.system, d, JUNGLE_INPUTS, in, out);
        if (!(out[0] == 0 && out[1] == 1)) fail_msg("%s: %g, %g", formulas[i], out[0], out[1]);
        jungle_free(&j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_jumps_are_flat),
        cmocka_unit_test(test_sides),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_branches_do_not_poison),
        cmocka_unit_test(test_extremes_do_not_poison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
