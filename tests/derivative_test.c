// SPDX-License-Identifier: Apache-2.0
// Derivatives against differences: every row of op.def, random expressions, motions in closed form;
// forward against reverse; and what must not happen: branches not taken that poison, graphs that
// explode, failed expressions that become zero.
#include "expr/derivative.h"
#include "jungle.h"

// ---- tools ---------------------------------------------------------------------------------

// A compiled list of expressions.
typedef struct Machine {
    tr_program *program;
    tr_workspace *workspace;
} Machine;

static Machine machine_new(System *s, const Expr *of, size_t count)
{
    tr_error err = {0};
    char name[32];
    snprintf(name, sizeof name, "machine%u", s->output_count);
    tr_output(s, name, of, count, 1, &err);
    Machine m = {.program = tr_compile(s, name, NULL, &err)};
    m.workspace = tr_workspace_new(m.program, &err);
    if (err.status) fail_msg("%s", err.text);
    return m;
}

static void run(const Machine *m, const double *in, double *out)
{
    tr_evaluate(m->program, m->workspace, in, out);
}

static void machine_free(Machine *m)
{
    tr_workspace_free(m->workspace);
    tr_program_free(m->program);
}

static void values_at(System *s, const Expr *of, size_t count, const double *in, double *out)
{
    Machine m = machine_new(s, of, count);
    run(&m, in, out);
    machine_free(&m);
}

static double value_at(System *s, Expr of, const double *in)
{
    double out;
    values_at(s, &of, 1, in, &out);
    return out;
}

static Expr formula(System *s, const char *text)
{
    tr_error err = {0};
    const Expr x = tr_formula(s, text, &err);
    if (err.status) fail_msg("%s: %s", text, err.text);
    return x;
}

enum { LEVELS = 4 };

// Central differences with steps h, h/2, h/4, h/8, extrapolated to h = 0: D_k[i] cancels the error
// of order h^2k. `error` is how much the last extrapolation and the smallest step changed it.
static double extrapolated(const double central[LEVELS], double *error)
{
    double d[LEVELS], before = 0;
    for (int i = 0; i < LEVELS; i++) d[i] = central[i];
    for (int k = 1; k < LEVELS; k++) {
        before = d[LEVELS - 1];
        for (int i = LEVELS - 1; i >= k; i--) d[i] += (d[i] - d[i - 1]) / (ldexp(1, 2 * k) - 1);
    }
    if (error) *error = fabs(d[LEVELS - 1] - before) + fabs(d[LEVELS - 1] - d[LEVELS - 2]);
    return d[LEVELS - 1];
}

// The forward derivatives `f` along the inputs moved by a few units in the last place differ by the
// noise of rounding: an honest tolerance for comparing two ways to compute them.
static void noise_of(const Machine *m, size_t count, const double *in, double *noise)
{
    double *here = malloc(2 * count * sizeof *here), *there = here + count;
    assert_non_null(here);
    Random r = {99};
    run(m, in, here);
    memset(noise, 0, count * sizeof *noise);
    for (int trial = 0; trial < 4; trial++) {
        double moved[JUNGLE_INPUTS];
        for (int i = 0; i < JUNGLE_INPUTS; i++)
            moved[i] = in[i] * (1 + random_between(&r, -4e-15, 4e-15));
        run(m, moved, there);
        for (size_t k = 0; k < count; k++) noise[k] = fmax(noise[k], fabs(there[k] - here[k]));
    }
    free(here);
}

static void random_inputs(Jungle *j, double *in)
{
    for (int i = 0; i < JUNGLE_INPUTS; i++) in[i] = random_between(&j->random, -2, 2);
}

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

// ---- random expressions --------------------------------------------------------------------

// Some plants together, so that most inputs meet.
static Expr mixture(const Jungle *j, uint32_t i)
{
    const Plant *p = &j->plants[i];
    return mul(p->expr, add(mul(p[-1].expr, p[-2].expr), add(p[-3].expr, p[-4].expr)));
}

// Values of all plants at `in + s direction`.
static void run_along(const Machine *m, const double *in, const double *direction, double s,
                      double *out)
{
    double at[JUNGLE_INPUTS];
    for (int i = 0; i < JUNGLE_INPUTS; i++) at[i] = in[i] + s * direction[i];
    run(m, at, out);
}

// Differences of all plants along a direction, with the largest step h.
static void differences(const Machine *m, uint32_t count, const double *in, const double *direction,
                        double h, double *rough, double *error)
{
    static double up[LEVELS][JUNGLE_MAX], down[LEVELS][JUNGLE_MAX];
    for (int level = 0; level < LEVELS; level++) {
        run_along(m, in, direction, ldexp(h, -level), up[level]);
        run_along(m, in, direction, -ldexp(h, -level), down[level]);
    }
    for (uint32_t i = 0; i < count; i++) {
        double central[LEVELS];
        for (int level = 0; level < LEVELS; level++)
            central[level] = (up[level][i] - down[level][i]) / (2 * ldexp(h, -level));
        rough[i] = extrapolated(central, &error[i]);
    }
}

// Compares where two very different steps give the same difference: one alone can be fooled by an
// expression that oscillates faster.
static void check_directional(Jungle *j, uint32_t *compared)
{
    static double exact[JUNGLE_MAX], noise[JUNGLE_MAX], plain[JUNGLE_MAX], bound[JUNGLE_MAX];
    static double rough[JUNGLE_MAX], fine[JUNGLE_MAX], error[JUNGLE_MAX], fine_error[JUNGLE_MAX];
    const double h = 0x1p-7, fine_h = 0x1p-12;
    Expr of[JUNGLE_MAX], d[JUNGLE_MAX], changes[JUNGLE_INPUTS];
    double in[JUNGLE_INPUTS], direction[JUNGLE_INPUTS];
    random_inputs(j, in);
    random_inputs(j, direction);
    for (int i = 0; i < JUNGLE_INPUTS; i++) changes[i] = tr_constant(j->system, direction[i]);
    for (uint32_t i = 0; i < j->count; i++) of[i] = j->plants[i].expr;
    tr_forward(j->system->graph, of, j->count, j->inputs, changes, JUNGLE_INPUTS, d);
    Machine plants = machine_new(j->system, of, j->count);
    Machine slopes = machine_new(j->system, d, j->count);
    run(&slopes, in, exact);
    noise_of(&slopes, j->count, in, noise);
    jungle_values(j, in, plain, bound);
    differences(&plants, j->count, in, direction, h, rough, error);
    differences(&plants, j->count, in, direction, fine_h, fine, fine_error);
    for (uint32_t i = 0; i < j->count; i++) {
        const double size = fmax(1, fabs(rough[i]));
        const double rounding = noise[i] + 4 * bound[i] / ldexp(h, 1 - LEVELS);
        const double doubt = error[i] + fabs(rough[i] - fine[i]) + rounding;
        if (!(doubt < 1e-6 * size) || !isfinite(rough[i])) continue;
        *compared += exact[i] != 0;
        if (!(fabs(exact[i] - rough[i]) <= 20 * doubt + 1e-10 * size))
            fail_msg("plant %u = %s: %.17g, difference %.17g, doubt %g", i,
                     tr_text(j->system, of[i]), exact[i], rough[i], doubt);
    }
    machine_free(&plants);
    machine_free(&slopes);
}

static void test_directional_against_differences(void **state)
{
    (void)state;
    uint32_t compared = 0, all = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        Jungle j;
        jungle_grow(&j, seed, 150, true);
        check_directional(&j, &compared);
        all += j.count;
        jungle_free(&j);
    }
    if (compared < all / 4) fail_msg("only %u of %u compared and not zero", compared, all);
}

// Reverse sweeps and gradients against one forward sweep per input. Where a branch not taken
// poisons the adjoint (it is not finite) the gradient must still be right.
static void check_reverse(uint64_t seeds, bool smooth)
{
    enum { N = JUNGLE_INPUTS };
    uint32_t compared = 0, all = 0, poisoned = 0, not_zero = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        Jungle j;
        jungle_grow(&j, seed, 50, smooth);
        double in[N], forward[N], noise[N], out[2 * N];
        random_inputs(&j, in);
        for (uint32_t i = N; i < j.count; i += 3) {
            const Expr f = mixture(&j, i);
            Expr d[N], r[2 * N];
            for (uint32_t k = 0; k < N; k++) d[k] = tr_derivative(f, j.inputs[k]);
            tr_reverse(j.system->graph, f, j.inputs, N, r);
            tr_gradient(f, j.inputs, N, r + N);
            Machine m = machine_new(j.system, d, N);
            run(&m, in, forward);
            noise_of(&m, N, in, noise);
            machine_free(&m);
            values_at(j.system, r, 2 * N, in, out);
            for (uint32_t k = 0; k < 2 * N; k++, all++) {
                const double wanted = forward[k % N], size = fmax(1, fabs(wanted));
                if (!isfinite(wanted) || !(noise[k % N] < 1e-8 * size)) continue;
                if (!smooth && k < N && !isfinite(out[k])) {
                    poisoned++;
                    continue;
                }
                compared++;
                not_zero += wanted != 0;
                if (!(fabs(out[k] - wanted) <= 100 * noise[k % N] + 1e-11 * size))
                    fail_msg("seed %u, plant %u, input %u, %s: %.17g, forward %.17g, noise %g",
                             (unsigned)seed, i, k % N, k < N ? "reverse" : "gradient", out[k],
                             wanted, noise[k % N]);
            }
        }
        jungle_free(&j);
    }
    if (compared < all / 2 || not_zero < all / 5 || poisoned > all / 20)
        fail_msg("%u of %u compared, %u not zero, %u poisoned", compared, all, not_zero, poisoned);
}

static void test_reverse_is_forward_smooth(void **state)
{
    (void)state;
    check_reverse(200, true);
}

static void test_reverse_is_forward_any(void **state)
{
    (void)state;
    check_reverse(200, false);
}

static void test_second_derivatives_commute(void **state)
{
    (void)state;
    enum { N = JUNGLE_INPUTS };
    uint32_t compared = 0, all = 0, not_zero = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        Jungle j;
        jungle_grow(&j, seed, 60, true);
        double in[N], out[N * N], noise[N * N];
        random_inputs(&j, in);
        for (uint32_t i = N; i < j.count; i += 4) {
            Expr gradient[N], d[N * N];
            const Expr f = mixture(&j, i);
            tr_gradient(f, j.inputs, N, gradient);
            tr_dense_jacobian(j.system->graph, gradient, N, j.inputs, N, d);
            Machine m = machine_new(j.system, d, N * N);
            run(&m, in, out);
            noise_of(&m, N * N, in, noise);
            machine_free(&m);
            for (uint32_t k = 0; k < N * N; k++, all++) {
                const double a = out[k], b = out[k % N * N + k / N];
                const double size = fmax(1, fabs(a)), blur = noise[k] + noise[k % N * N + k / N];
                if (!isfinite(a) || !(blur < 1e-8 * size)) continue;
                compared++;
                not_zero += k / N != k % N && a != 0;
                if (!(fabs(a - b) <= 100 * blur + 1e-11 * size))
                    fail_msg("seed %u, plant %u: %.17g and %.17g", (unsigned)seed, i, a, b);
            }
        }
        jungle_free(&j);
    }
    if (compared < all / 2 || not_zero < all / 20)
        fail_msg("%u of %u compared, %u not zero", compared, all, not_zero);
}

// ---- Jacobians -----------------------------------------------------------------------------

// The sparse list holds what the dense array holds, by rows; both agree with single derivatives.
static void check_jacobian(Jungle *j, const Expr *of, uint32_t rows, uint32_t columns)
{
    Graph *g = j->system->graph;
    Expr dense[64], single[64];
    double in[JUNGLE_INPUTS], out[2 * 64], noise[64];
    assert_true(rows * columns <= 64);
    assert_true(tr_dense_jacobian(g, of, rows, j->inputs, columns, dense));
    size_t count = 99, found = 0;
    const tr_entry *e = tr_jacobian(j->system, of, rows, j->inputs, columns, &count);
    assert_non_null(e);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t k = 0; k < columns; k++) {
            single[i * columns + k] = tr_derivative(of[i], j->inputs[k]);
            if (is_zero(dense[i * columns + k])) continue;
            assert_true(found < count);
            assert_true(e[found].row == i && e[found].column == k);
            assert_int_equal(e[found++].value.id, dense[i * columns + k].id);
        }
    assert_int_equal(found, count);
    random_inputs(j, in);
    Machine m = machine_new(j->system, single, (size_t)rows * columns);
    run(&m, in, out);
    noise_of(&m, (size_t)rows * columns, in, noise);
    machine_free(&m);
    values_at(j->system, dense, (size_t)rows * columns, in, out + 64);
    for (uint32_t k = 0; k < rows * columns; k++)
        if (isfinite(out[k]) &&
            !(fabs(out[k] - out[64 + k]) <= 100 * noise[k] + 1e-11 * fmax(1, fabs(out[k]))))
            fail_msg("entry %u of %u x %u: %.17g, single %.17g", k, rows, columns, out[64 + k],
                     out[k]);
}

static void test_jacobian_shapes(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{1, 1}, {1, 5},  {3, 5},  {4, 4},
                                         {5, 5}, {12, 5}, {12, 1}, {2, 3}};
    for (uint64_t seed = 1; seed <= 30; seed++) {
        Jungle j;
        jungle_grow(&j, seed, 40, seed % 2);
        Expr of[12];
        for (uint32_t i = 0; i < 12; i++) of[i] = j.plants[j.count - 1 - i].expr;
        of[2] = zero(j.system->graph); // an empty row
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            check_jacobian(&j, of, shapes[s][0], shapes[s][1]);
        jungle_free(&j);
    }
}

// Few rows are differentiated in reverse, few columns forward: the nodes are those of that sweep.
static void test_jacobian_direction(void **state)
{
    (void)state;
    enum { N = JUNGLE_INPUTS };
    Jungle j;
    jungle_grow(&j, 1, 0, true);
    Graph *g = j.system->graph;
    const char *const text = "sin(p*q)*exp(r*s/(2 + u*u))*sqrt(1 + p*p*q)";
    Expr of[2 * N], dense[2 * N * N], reverse[N], forward[2 * N];
    for (uint32_t i = 0; i < 2 * N; i++)
        of[i] = mul(formula(j.system, text), add(number(g, 1 + i), j.inputs[i % N]));
    assert_true(tr_dense_jacobian(g, of, 2, j.inputs, N, dense));
    tr_reverse(g, of[1], j.inputs, N, reverse);
    for (int k = 0; k < N; k++) assert_int_equal(dense[N + k].id, reverse[k].id);
    assert_int_not_equal(tr_derivative(of[1], j.inputs[0]).id, reverse[0].id); // there is a choice
    assert_true(tr_dense_jacobian(g, of, 2 * N, j.inputs, N, dense));
    const Expr unit = one(g);
    for (size_t k = 0; k < N; k++) {
        tr_forward(g, of, 2 * N, &j.inputs[k], &unit, 1, forward);
        for (size_t i = 0; i < 2 * N; i++) assert_int_equal(dense[i * N + k].id, forward[i].id);
    }
    jungle_free(&j);
}

static void test_jacobian_is_sparse(void **state)
{
    (void)state;
    Jungle j;
    jungle_grow(&j, 1, 0, true);
    const Expr of[] = {formula(j.system, "p*q"), formula(j.system, "7"),
                       formula(j.system, "s - floor(p)"), formula(j.system, "sin(r)*u")};
    static const uint32_t wanted[][2] = {{0, 0}, {0, 1}, {2, 3}, {3, 2}, {3, 4}};
    size_t count;
    const tr_entry *e = tr_jacobian(j.system, of, 4, j.inputs, JUNGLE_INPUTS, &count);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(e[i].row == wanted[i][0] && e[i].column == wanted[i][1]);
    assert_int_equal(e[1].value.id, j.inputs[0].id);
    e = tr_jacobian(j.system, of + 1, 1, j.inputs, JUNGLE_INPUTS, &count);
    assert_true(e && count == 0);
    e = tr_jacobian(j.system, of, 0, j.inputs, JUNGLE_INPUTS, &count);
    assert_true(e && count == 0);
    jungle_free(&j);
}

// ---- along a motion ------------------------------------------------------------------------

// q = A sin(w t + c), v = q', u = t^3; p is a parameter.
enum { T, Q, V, U, P, W, MOTION };

static System *motion(Expr *x)
{
    tr_error err = {0};
    System *s = tr_system_new(&err);
    x[T] = tr_input(s, "t", TR_TIME, 0, &err);
    x[Q] = tr_input(s, "q", TR_POSITION, 0, &err);
    x[V] = tr_input(s, "v", TR_VELOCITY, 0, &err);
    x[U] = tr_input(s, "u", TR_INPUT, 0, &err);
    x[P] = tr_input(s, "p", TR_PARAMETER, 0, &err);
    x[W] = tr_input(s, "w", TR_PARAMETER, 0, &err);
    tr_rate_set(s, x[Q], x[V], &err);
    tr_rate_set(s, x[V], tr_formula(s, "-w^2*q", &err), &err);
    tr_rate_set(s, x[U], tr_formula(s, "3*t^2", &err), &err);
    assert_int_equal(err.status, TR_OK);
    return s;
}

static void motion_at(double t, double *in)
{
    const double A = 0.7, w = 1.3, c = 0.4;
    in[T] = t;
    in[Q] = A * sin(w * t + c);
    in[V] = A * w * cos(w * t + c);
    in[U] = t * t * t;
    in[P] = 1.7;
    in[W] = w;
}

static const char *const along[] = {"t",
                                    "q",
                                    "v",
                                    "u",
                                    "p*w",
                                    "t^3 - 2*t",
                                    "q^2*v*sin(t) + u*q + p*v^3",
                                    "atan2(v, 2 + q*q)*exp(-t)",
                                    "if(t < 100, sqrt(3 + q)*u, 1/(t - t))",
                                    "p*w*q/(1 + v^2)",
                                    "sin(p*t)*cos(w*t) + t*q*v*u"};

static void test_time_derivative_along_a_motion(void **state)
{
    (void)state;
    Expr x[MOTION];
    System *s = motion(x);
    for (size_t i = 0; i < sizeof along / sizeof *along; i++) {
        tr_error err = {0};
        const Expr f = formula(s, along[i]);
        const Expr first = tr_time_derivative(s, f, &err),
                   second = tr_time_derivative(s, first, &err);
        assert_int_equal(err.status, TR_OK);
        const Expr of[] = {f, first, second};
        Machine m = machine_new(s, of, 3);
        for (double t = -1; t < 2; t += 0.37) {
            double in[MOTION], up[3], down[3], here[3], central[2][LEVELS];
            for (int level = 0; level < LEVELS; level++) {
                const double h = ldexp(0.05, -level);
                motion_at(t + h, in);
                run(&m, in, up);
                motion_at(t - h, in);
                run(&m, in, down);
                for (int k = 0; k < 2; k++) central[k][level] = (up[k] - down[k]) / (2 * h);
            }
            motion_at(t, in);
            run(&m, in, here);
            for (int k = 0; k < 2; k++)
                if (!is_close(here[k + 1], extrapolated(central[k], NULL), 1e-9))
                    fail_msg("d/dt %s, %d: %.17g, difference %.17g", along[i], k + 1, here[k + 1],
                             extrapolated(central[k], NULL));
        }
        machine_free(&m);
    }
    tr_system_free(s);
}

// It is the directional derivative with the rates, and what d(...) means in formulas.
static void test_time_derivative_is_directional(void **state)
{
    (void)state;
    Expr x[MOTION];
    System *s = motion(x);
    const Expr rates[MOTION] = {formula(s, "1"),      x[V],
                                formula(s, "-w^2*q"), formula(s, "3*t^2"),
                                formula(s, "0"),      formula(s, "0")};
    for (size_t i = 0; i < sizeof along / sizeof *along; i++) {
        const Expr f = formula(s, along[i]), dt = tr_time_derivative(s, f, NULL);
        char text[100];
        snprintf(text, sizeof text, "d(%s)", along[i]);
        assert_int_equal(dt.id, tr_directional(f, x, rates, MOTION).id);
        assert_int_equal(dt.id, formula(s, text).id);
    }
    assert_true(is_one(tr_time_derivative(s, x[T], NULL)));
    assert_int_equal(tr_time_derivative(s, x[Q], NULL).id, x[V].id);
    assert_true(is_zero(tr_time_derivative(s, x[P], NULL)));
    tr_system_free(s);
}

// ---- structure -----------------------------------------------------------------------------

static void test_derivatives_of_what_does_not_occur(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        Jungle j;
        jungle_grow(&j, seed, 60, false);
        const Expr late = tr_input(j.system, "late", TR_POSITION, 0, NULL);
        const Expr inputs[2] = {j.inputs[0], late};
        for (uint32_t i = 0; i < j.count; i++) {
            Expr d[2];
            assert_true(is_zero(tr_derivative(j.plants[i].expr, late)));
            tr_gradient(j.plants[i].expr, inputs, 2, d);
            assert_true(is_zero(d[1]));
        }
        const Expr x = mul(late, late);
        assert_int_equal(tr_derivative(x, late).id, formula(j.system, "2*late").id);
        jungle_free(&j);
    }
}

// sum x_k x_(k+1): the gradient costs a few nodes per term, forward or reverse.
static void test_gradient_of_a_long_sum(void **state)
{
    (void)state;
    enum { TERMS = 10000 };
    System *s = tr_system_new(NULL);
    Expr *x = malloc((TERMS + 1) * sizeof *x), *d = malloc((TERMS + 1) * sizeof *d);
    assert_true(x && d);
    for (int k = 0; k <= TERMS; k++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", k);
        x[k] = tr_input(s, name, TR_POSITION, 0, NULL);
    }
    Expr sum = zero(s->graph);
    for (int k = 0; k < TERMS; k++) sum = add(sum, mul(e_sin(x[k]), x[k + 1]));
    const uint32_t before = s->graph->count;
    tr_gradient(sum, x, TERMS + 1, d);
    const uint32_t grown = s->graph->count - before;
    if (grown > 4 * TERMS) fail_msg("%u nodes for %d terms", grown, TERMS);
    for (int k = 1; k < TERMS; k++)
        assert_int_equal(d[k].id, add(e_sin(x[k - 1]), mul(x[k + 1], e_cos(x[k]))).id);
    assert_int_equal(d[TERMS].id, e_sin(x[TERMS - 1]).id);
    free(x);
    free(d);
    tr_system_free(s);
}

// x_(k+1) = sin(x_k) x_k: sharing keeps the derivative linear where the text would be exponential.
static void test_derivative_of_a_deep_chain(void **state)
{
    (void)state;
    enum { DEPTH = 2000 };
    Jungle j;
    jungle_grow(&j, 1, 0, true);
    Expr x = j.inputs[0];
    for (int k = 0; k < DEPTH; k++) x = mul(e_sin(x), x);
    Graph *g = j.system->graph;
    const uint32_t before = g->count;
    const Expr forward = tr_derivative(x, j.inputs[0]);
    const uint32_t middle = g->count;
    Expr reverse;
    tr_reverse(g, x, j.inputs, 1, &reverse);
    if (middle - before > 5 * DEPTH || g->count - middle > 5 * DEPTH)
        fail_msg("%u nodes forward, %u in reverse", middle - before, g->count - middle);
    const uint32_t after = g->count; // adjoints go only where the inputs are
    Expr of_q[2];
    tr_reverse(g, mul(j.inputs[1], x), j.inputs + 1, 2, of_q);
    assert_true(same(of_q[0], x) && is_zero(of_q[1]) && g->count - after < 5);
    double in[JUNGLE_INPUTS] = {1.5}, y = in[0], slope = 1;
    for (int k = 0; k < DEPTH; k++) {
        slope *= sin(y) + y * cos(y);
        y *= sin(y);
    }
    assert_close(value_at(j.system, forward, in), slope, 1e-12);
    assert_close(value_at(j.system, reverse, in), slope, 1e-12);
    jungle_free(&j);
}

// A failed expression, or a failed change, gives a failed derivative and not zero.
static void test_failed_stays_failed(void **state)
{
    (void)state;
    Jungle j;
    jungle_grow(&j, 1, 0, true);
    Graph *g = j.system->graph;
    const Expr x = j.inputs[0], bad = tr_pow(x, 1001), of[] = {x, bad, x};
    assert_int_equal(bad.id, 0);
    assert_int_equal(tr_derivative(bad, x).id, 0);
    assert_int_equal(tr_derivative(x, bad).id, 0);
    assert_int_equal(tr_directional(x, &x, &bad, 1).id, 0);
    assert_int_equal(tr_directional(x, of, of + 1, 1).id, 0);
    assert_int_equal(tr_time_derivative(j.system, bad, NULL).id, 0);
    Expr d[6];
    tr_gradient(bad, j.inputs, 2, d);
    assert_true(!d[0].id && !d[1].id);
    tr_gradient(x, of, 2, d); // an input that is none
    assert_true(!d[0].id && !d[1].id);
    for (size_t columns = 1; columns <= 5; columns += 4) { // forward, then reverse
        Expr dense[15];
        assert_true(tr_dense_jacobian(g, of, 3, j.inputs, columns, dense));
        for (size_t k = 0; k < columns; k++) {
            assert_true(dense[k].id == (k ? zero(g).id : one(g).id));
            assert_int_equal(dense[columns + k].id, 0);
        }
    }
    const Expr f = formula(j.system, "sin(p)");
    assert_int_equal(tr_replace(f, &x, &bad, 1).id, 0);
    assert_int_equal(tr_replace(bad, &bad, &x, 1).id, 0);
    assert_false(g->failed);
    jungle_free(&j);
}

// Powers keep their exponent, so their slope at 0 is a number where there is one.
static void test_powers_at_zero(void **state)
{
    (void)state;
    static const struct {
        const char *formula;
        double slope;
    } rows[] = {{"max(0, p)^1.5", 0}, {"abs(p)^1.5", 0},  {"p^2.5", 0},
                {"p^1.7", 0},         {"max(0, p)^3", 0}, {"p^q", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Jungle j;
        jungle_grow(&j, 1, 0, true);
        tr_error err = {0};
        const Expr slope = tr_derivative(tr_formula(j.system, rows[i].formula, &err), j.inputs[0]);
        tr_output(j.system, "slope", &slope, 1, 1, &err);
        tr_program *p = tr_compile(j.system, "slope", NULL, &err);
        tr_workspace *w = tr_workspace_new(p, &err);
        const double in[JUNGLE_INPUTS] = {0, 1.3};
        double value = (double)NAN;
        tr_evaluate(p, w, in, &value);
        if (value != rows[i].slope) fail_msg("the slope of %s at 0 is %g", rows[i].formula, value);
        tr_workspace_free(w);
        tr_program_free(p);
        jungle_free(&j);
    }
}

static void test_a_symbol_named_twice_changes_twice(void **state)
{
    (void)state;
    Jungle j;
    jungle_grow(&j, 1, 0, true);
    const Expr p = j.inputs[0], unit = tr_constant(j.system, 1);
    const Expr symbols[] = {p, p}, changes[] = {unit, unit};
    double value;
    assert_true(tr_is_constant(
        tr_directional(tr_formula(j.system, "3*p", NULL), symbols, changes, 2), &value));
    assert_close(value, 6, 0);
    jungle_free(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_powers_at_zero),
        cmocka_unit_test(test_a_symbol_named_twice_changes_twice),
        cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_jumps_are_flat),
        cmocka_unit_test(test_sides),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_branches_do_not_poison),
        cmocka_unit_test(test_extremes_do_not_poison),
        cmocka_unit_test(test_directional_against_differences),
        cmocka_unit_test(test_reverse_is_forward_smooth),
        cmocka_unit_test(test_reverse_is_forward_any),
        cmocka_unit_test(test_second_derivatives_commute),
        cmocka_unit_test(test_jacobian_shapes),
        cmocka_unit_test(test_jacobian_direction),
        cmocka_unit_test(test_jacobian_is_sparse),
        cmocka_unit_test(test_time_derivative_along_a_motion),
        cmocka_unit_test(test_time_derivative_is_directional),
        cmocka_unit_test(test_derivatives_of_what_does_not_occur),
        cmocka_unit_test(test_gradient_of_a_long_sum),
        cmocka_unit_test(test_derivative_of_a_deep_chain),
        cmocka_unit_test(test_failed_stays_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
