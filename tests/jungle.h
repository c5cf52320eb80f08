// SPDX-License-Identifier: Apache-2.0
// Random expressions of every operation, kept twice: as the graph simplifies them, and as a plain
// list that is evaluated operation by operation with a bound of its rounding error.
#ifndef TR_TESTS_JUNGLE_H
#define TR_TESTS_JUNGLE_H

#include "expr/system.h"
#include "test.h"

enum { JUNGLE_INPUTS = 5, JUNGLE_MAX = 400 };

typedef struct Plant {
    Op op;
    int n;
    uint32_t a, b, c; // plants; SYMBOL: a is the input; tables: c is the table
    double number;
    Expr expr;
} Plant;

typedef struct Jungle {
    System *system;
    Random random;
    Expr inputs[JUNGLE_INPUTS];
    Plant plants[JUNGLE_MAX];
    uint32_t count;
    bool smooth; // no floor, comparison or choice: for derivatives by differences
} Jungle;

// What an operation gives when an operand is off by its error bound, less what it gives: summed.
static inline double operation_error(Op op, const double x[3], const double e[3], int n,
                                     const Table *f)
{
    const double y = tr_op_value(op, x[0], x[1], x[2], n, f);
    double sum = 8 * 0x1p-53 * fabs(y) + 0x1p-1000;
    for (int k = 0; k < tr_op[op].operands; k++) {
        double worst = 0;
        for (int sign = -1; sign <= 1; sign += 2) {
            double moved[3] = {x[0], x[1], x[2]};
            moved[k] += sign * e[k];
            const double change = fabs(tr_op_value(op, moved[0], moved[1], moved[2], n, f) - y);
            if (!(change <= worst)) worst = change;
        }
        sum += worst;
    }
    return sum;
}

// Values and error bounds of all plants.
static inline void jungle_values(const Jungle *j, const double *inputs, double *value,
                                 double *error)
{
    for (uint32_t i = 0; i < j->count; i++) {
        const Plant *p = &j->plants[i];
        if (p->op == OP_NUMBER || p->op == OP_SYMBOL) {
            value[i] = p->op == OP_NUMBER ? p->number : inputs[p->a];
            error[i] = 0;
            continue;
        }
        const int operands = tr_op[p->op].operands;
        const bool table = tr_op[p->op].form == FORM_TABLE;
        const Table *f = table ? j->system->graph->tables[p->c] : NULL;
        const double x[3] = {value[p->a], operands > 1 ? value[p->b] : 0,
                             operands > 2 ? value[p->c] : 0};
        const double e[3] = {error[p->a], operands > 1 ? error[p->b] : 0,
                             operands > 2 ? error[p->c] : 0};
        value[i] = tr_op_value(p->op, x[0], x[1], x[2], p->n, f);
        error[i] = operation_error(p->op, x, e, p->n, f);
    }
}

static inline uint32_t plant(Jungle *j, Plant p)
{
    assert_true(j->count < JUNGLE_MAX);
    Graph *g = j->system->graph;
    const Expr a = j->plants[p.a].expr, b = j->plants[p.b].expr;
    switch (p.op) {
    case OP_NUMBER: p.expr = number(g, p.number); break;
    case OP_SYMBOL: p.expr = j->inputs[p.a]; break;
    case OP_POW: p.expr = halves(a, p.n); break;
    case OP_TABLE1:
    case OP_TABLE2: p.expr = tr_build_table(p.c, a, b, p.n); break;
    default: {
        const int operands = tr_op[p.op].operands;
        p.expr = tr_build(p.op, a, operands > 1 ? b : a, operands > 2 ? j->plants[p.c].expr : a);
    }
    }
    j->plants[j->count] = p;
    return j->count++;
}

static inline uint32_t plant_number(Jungle *j, double x)
{
    return plant(j, (Plant){.op = OP_NUMBER, .number = x});
}
static inline uint32_t plant_op(Jungle *j, Op op, uint32_t a, uint32_t b)
{
    return plant(j, (Plant){.op = op, .a = a, .b = b});
}

// An operand that an operation is fond of: positive for log, inside (-1, 1) for asin, ...
static inline uint32_t tame(Jungle *j, Op op, uint32_t a)
{
    switch (op) {
    case OP_SQRT:
    case OP_LOG:
    case OP_RAISE:
    case OP_DIV: return plant_op(j, OP_ADD, plant_number(j, 0.5), plant_op(j, OP_MUL, a, a));
    case OP_ASIN:
    case OP_ACOS: return plant_op(j, OP_MUL, plant_number(j, 0.9), plant_op(j, OP_SIN, a, a));
    case OP_HYPOT:
    case OP_EXP:
    case OP_TAN:
    case OP_POW: return plant_op(j, OP_SIN, a, a);
    default: return a;
    }
}

static inline bool is_smooth(Op op)
{
    return op != OP_FLOOR && op != OP_ABS && op != OP_MIN && op != OP_MAX && op != OP_SELECT &&
           tr_op[op].form != FORM_RELATION && op != OP_ATAN2;
}

static inline uint32_t plant_random(Jungle *j)
{
    Random *r = &j->random;
    static const double favourites[] = {0, 1, -1, 2, 0.5, -3, 1e-3};
    Op op = (Op)(OP_NUMBER + random_below(r, OP_COUNT - OP_NUMBER));
    if (op == OP_SYMBOL) return random_below(r, JUNGLE_INPUTS);
    if (op == OP_NUMBER)
        return plant_number(j, random_below(r, 4) ? favourites[random_below(r, 7)]
                                                  : random_between(r, -3, 3));
    if (j->smooth && !is_smooth(op)) op = OP_MUL;
    Plant p = {.op = op,
               .a = random_below(r, j->count),
               .b = random_below(r, j->count),
               .c = random_below(r, j->count)};
    if (op == OP_DIV)
        p.b = tame(j, op, p.b);
    else
        p.a = tame(j, op, p.a);
    if (op == OP_POW) { // of 0.5 + a^2, halves included; what is no power node is not wanted
        p.n = (int)random_below(r, 17) - 8;
        if (abs(p.n) <= 2 || p.n == 4) p.n = 10;
        p.a = tame(j, OP_LOG, p.a);
    }
    if (op == OP_TABLE1 || op == OP_TABLE2) p.c = op == OP_TABLE1 ? 0 : 1;
    return plant(j, p);
}

static inline void jungle_tables(Jungle *j)
{
    static const double x[] = {-2, -1, 0, 0.5, 2}, z[] = {1, 0.3, -0.5, 0.2, 1};
    static const double y[] = {-1, 0, 1, 3};
    static const double grid[] = {1, 2, 0, -1, 0, 1, 1, 2, 3, 1, 0, 0, 1, 1, -1, 0, 0, 1, 2, 2};
    tr_error err = {0};
    tr_define_table(j->system, "signal", x, 5, NULL, 1, z, 3, false, &err);
    tr_define_table(j->system, "ground_height", x, 5, y, 4, grid, 3, false, &err);
    assert_int_equal(err.status, TR_OK);
}

// `size` random plants after the inputs, of which the last so many are parameters.
static inline void jungle_grow_with(Jungle *j, uint64_t seed, uint32_t size, bool smooth,
                                    uint32_t parameters)
{
    static const char *const names[JUNGLE_INPUTS] = {"p", "q", "r", "s", "u"};
    *j = (Jungle){.system = tr_system_new(NULL), .random = {seed * 2 + 1}, .smooth = smooth};
    for (int i = 0; i < 10; i++) random_bits(&j->random);
    jungle_tables(j);
    for (uint32_t i = 0; i < JUNGLE_INPUTS; i++) {
        const bool is_parameter = i + parameters >= JUNGLE_INPUTS;
        j->inputs[i] = tr_input(j->system, names[i], is_parameter ? TR_PARAMETER : TR_POSITION,
                                is_parameter ? 0.4 + i : 0, NULL);
        plant(j, (Plant){.op = OP_SYMBOL, .a = i});
    }
    while (j->count < size) plant_random(j);
}

static inline void jungle_grow(Jungle *j, uint64_t seed, uint32_t size, bool smooth)
{
    jungle_grow_with(j, seed, size, smooth, 0);
}

static inline void jungle_free(Jungle *j) { tr_system_free(j->system); }

// A program for all plants, evaluated: what the graph made of them.
static inline void jungle_run(const Jungle *j, const double *inputs, double *out)
{
    tr_error err = {0};
    Expr all[JUNGLE_MAX];
    for (uint32_t i = 0; i < j->count; i++) all[i] = j->plants[i].expr;
    if (!tr_system_output(j->system, text_of("all")))
        tr_output(j->system, "all", all, j->count, 1, &err);
    tr_program *program = tr_compile(j->system, "all", NULL, &err);
    tr_workspace *workspace = tr_workspace_new(program, &err);
    assert_int_equal(err.status, TR_OK);
    tr_evaluate(program, workspace, inputs, out);
    tr_workspace_free(workspace);
    tr_program_free(program);
}

#endif
