// SPDX-License-Identifier: Apache-2.0
// Kernels: every one, for every machine that this processor can be, with every number of lanes, has
// the bits of tr_op_value, whatever stands beside what in a vector.
#include "program/kernel.h"
#include "test.h"

#include "tables.h"

#include <float.h>

enum { MOST = 20, LANES = 8, PLACES = 4 * MOST };

static const uint32_t lane_counts[] = {1, 4, 8};

static const double xs[] = {-2, -1, 0, 0.5, 2}, ys[] = {-1, 0, 1, 3};
static const double line[] = {1, 0.3, -0.5, 0.2, 1};
static const double grid[] = {1, 2, 0, -1, 0, 1, 1, 2, 3, 1, 0, 0, 1, 1, -1, 0, 0, 1, 2, 2};

static const double special[] = {0.0,
                                 -0.0,
                                 HUGE_VAL,
                                 -HUGE_VAL,
                                 (double)NAN,
                                 DBL_TRUE_MIN,
                                 DBL_MIN,
                                 DBL_MAX,
                                 1.0,
                                 -1.0,
                                 0.5,
                                 0.25,
                                 0.75,
                                 2.0,
                                 3.0,
                                 -3.0,
                                 1000.0,
                                 1001.0,
                                 0x1p28,
                                 -0x1p28,
                                 710.0,
                                 -746.0,
                                 709.782712893384,
                                 -745.1332191019412,
                                 0x1p-60,
                                 0x1p60,
                                 0x1p500,
                                 0x1p-500,
                                 0x1p800,
                                 0x1p-800,
                                 0x1p1023,
                                 0x1p-1022,
                                 M_PI,
                                 M_PI_2,
                                 M_PI_4,
                                 3 * M_PI_4,
                                 0x1p300,
                                 -1e22,
                                 0.1 * DBL_MIN,
                                 0.7071067811865476};

// Neighbours of a number, now and then.
static double near(Random *r, double x)
{
    const int steps = (int)random_below(r, 5) - 2;
    for (int i = 0; i < abs(steps); i++) x = nextafter(x, steps < 0 ? -HUGE_VAL : HUGE_VAL);
    return x;
}

static double argument(Random *r)
{
    switch (random_below(r, 10)) {
    case 0: return near(r, special[random_below(r, sizeof special / sizeof *special)]);
    case 1: {
        const uint64_t bits = random_bits(r);
        double x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    case 2: return near(r, M_PI_2 * (int)(random_below(r, 2000) - 1000.0));
    case 3: return near(r, M_PI_2 * random_below(r, UINT32_MAX));
    case 4: return ldexp(any(r), (int)random_below(r, 80) - 40);
    case 5: return random_between(r, -750, 750);
    case 6: return any(r) * DBL_MIN;
    case 7: return (int)random_below(r, 21) - 10;
    default: return random_between(r, -4, 4);
    }
}

typedef struct Case {
    int kernel, operands, results, n;
    const Table *table;
} Case;

static double expected(const Case *c, const double *x, int result)
{
    const Op op = c->kernel < OP_COUNT ? (Op)c->kernel : result ? OP_COS : OP_SIN;
    return tr_op_value(op, x[0], x[1], 0, c->n, c->table);
}

// Places in any order, operands in front, where some serve twice.
static void choose_places(Random *r, const Case *c, uint32_t count, uint32_t *places)
{
    uint32_t order[PLACES];
    for (uint32_t i = 0; i < PLACES; i++) {
        const uint32_t at = random_below(r, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    const uint32_t stride = (uint32_t)(c->operands + c->results);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < stride; i++) {
            const bool again = (int)i < c->operands && k && chance(r, 0.1);
            places[k * stride + i] = again ? places[i] : order[k * stride + i];
        }
}

static void check_results(const Case *c, const KernelSet *set, const KernelCall *call,
                          const double *before, const double *after)
{
    const uint32_t stride = (uint32_t)(c->operands + c->results), lanes = set->lanes;
    double want[PLACES * LANES];
    memcpy(want, before, sizeof want);
    for (uint32_t k = 0; k < call->count; k++)
        for (uint32_t lane = 0; lane < lanes; lane++) {
            const uint32_t *at = call->places + k * stride;
            const double x[2] = {before[at[0] * lanes + lane],
                                 c->operands > 1 ? before[at[1] * lanes + lane] : 0};
            for (int i = 0; i < c->results; i++)
                want[at[c->operands + i] * lanes + lane] = expected(c, x, i);
        }
    for (uint32_t i = 0; i < PLACES * LANES; i++) // what is no result is as it was
        if (!same_bits(want[i], after[i]) && !(isnan(want[i]) && isnan(after[i])))
            fail_msg("kernel %d, %u lanes, %u operations: %a, not %a, at %u", c->kernel, lanes,
                     call->count, after[i], want[i], i);
}

static void check_kernel(Random *r, const Case *c, const KernelSet *set, uint32_t count)
{
    double values[PLACES * LANES], before[PLACES * LANES];
    uint32_t places[PLACES];
    choose_places(r, c, count, places);
    const bool tame = chance(r, 0.3); // no argument has to be mended
    for (uint32_t i = 0; i < PLACES * LANES; i++) values[i] = tame ? any(r) : argument(r);
    memcpy(before, values, sizeof before);
    const KernelCall call = {.count = count, .n = c->n, .table = c->table, .places = places};
    set->of[c->kernel](&call, values);
    check_results(c, set, &call, before, values);
}

static void test_kernels(void **state)
{
    (void)state;
    Shelf shelf = {0};
    const Table *one = shelved(&shelf, tr_table_through(xs, 5, NULL, 1, line, 3, false, NULL)),
                *two = shelved(&shelf, tr_table_through(xs, 5, ys, 4, grid, 3, true, NULL)),
                *flat = shelved(&shelf, tr_table_through(xs, 5, ys, 4, grid, 1, false, NULL));
    const Case cases[] = {
        {OP_SIN, 1, 1, 0, NULL},
        {OP_COS, 1, 1, 0, NULL},
        {OP_TAN, 1, 1, 0, NULL},
        {OP_ASIN, 1, 1, 0, NULL},
        {OP_ACOS, 1, 1, 0, NULL},
        {OP_ATAN, 1, 1, 0, NULL},
        {OP_ATAN2, 2, 1, 0, NULL},
        {OP_EXP, 1, 1, 0, NULL},
        {OP_HYPOT, 2, 1, 0, NULL},
        {OP_LOG, 1, 1, 0, NULL},
        {OP_RAISE, 2, 1, 0, NULL},
        {KERNEL_SINCOS, 1, 2, 0, NULL},
        {OP_TABLE1, 1, 1, 0, one},
        {OP_TABLE1, 1, 1, table_order(1, 0), one},
        {OP_TABLE2, 2, 1, 0, two},
        {OP_TABLE2, 2, 1, table_order(1, 1), two},
        {OP_TABLE2, 2, 1, 0, flat},
        {OP_TABLE2, 2, 1, table_order(0, 1), flat},
        {OP_TABLE1, 1, 1, table_question(TABLE_PIECE, 1), two},
    };
    Random r = {11};
    for (int machine = MACHINE_PLAIN; machine <= (int)tr_machine(); machine++)
        for (size_t l = 0; l < sizeof lane_counts / sizeof *lane_counts; l++) {
            const KernelSet *set = tr_kernels((Machine)machine, lane_counts[l]);
            assert_int_equal(set->lanes, lane_counts[l]);
            for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
                for (uint32_t count = 1; count <= MOST; count++)
                    for (int again = 0; again < (BRIEF ? 5 : 40); again++)
                        check_kernel(&r, &cases[i], set, count);
        }
    shelf_free(&shelf);
}

// What has no kernel is an instruction or two of machine code.
static void test_which_kernels_there_are(void **state)
{
    (void)state;
    for (size_t l = 0; l < sizeof lane_counts / sizeof *lane_counts; l++) {
        const KernelSet *set = tr_kernels(MACHINE_PLAIN, lane_counts[l]);
        for (int op = 0; op < KERNEL_COUNT; op++) {
            const bool has = op == OP_RAISE || (op >= OP_SIN && op <= OP_LOG) || op == OP_TABLE1 ||
                             op == OP_TABLE2 || op == CODE_FACTOR || op == CODE_SOLVE ||
                             op == KERNEL_SINCOS;
            assert_int_equal(set->of[op] != NULL, has);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_kernels_there_are),
        cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
