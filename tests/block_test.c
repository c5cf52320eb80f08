// SPDX-License-Identifier: Apache-2.0
// Blocks: factors and solutions against dense equations, counted like the same operations one by
// one, and with the same bits by whatever runs the program; to who walks the graph they are nodes
// like others.
#include "expr/block.h"
#include "expr/walk.h"
#include "num/solve.h"
#include "program/compile.h"
#include "program/evaluate.h"
#include "program/interpret.h"
#include "program/list.h"
#include "program/native.h"
#include "random.h"
#include "test.h"

#include <math.h>

enum { MOST = 9, INPUTS = 24, PARAMETERS = 4, MOST_COLUMNS = 7, MOST_OUTPUTS = 400, WIDTHS = 3 };
static const uint32_t widths[WIDTHS] = {1, 4, 8};

// Equations M x = b whose entries are expressions of inputs
typedef struct Equations {
    uint32_t size, columns, entries, lineage, parent[MOST];
    Expr M[MOST * MOST], b[MOST * MOST_COLUMNS], factors[MOST * MOST], x[MOST * MOST_COLUMNS];
} Equations;

static System *with_inputs(void)
{
    System *s = tr_system_new(NULL);
    for (int i = 0; i < INPUTS; i++) {
        char name[8];
        snprintf(name, sizeof name, "x%d", i);
        tr_input(s, name, i < PARAMETERS ? TR_PARAMETER : TR_POSITION, 0.3 + i, NULL);
    }
    return s;
}

static Expr pick(Random *r, const Expr *from, uint32_t count)
{
    return from[random_below(r, count)];
}

// Of `from`, and positive where these are between -1 and 1
static void make_equations(System *s, Random *r, const Expr *from, uint32_t count, Equations *e)
{
    Graph *g = s->graph;
    e->size = 1 + random_below(r, MOST), e->columns = 1 + random_below(r, MOST_COLUMNS);
    e->entries = 0;
    for (uint32_t i = 0; i < e->size; i++) {
        const bool top = !i || chance(r, 0.15);
        e->parent[i] = top ? (uint32_t)LINEAGE_TOP : chance(r, 0.7) ? i - 1 : random_below(r, i);
        e->M[e->entries++] = add(number(g, MOST + 1), mul(pick(r, from, count), number(g, 0.5)));
        for (uint32_t j = e->parent[i]; j != LINEAGE_TOP; j = e->parent[j])
            e->M[e->entries++] = chance(r, 0.1) ? zero(g) : pick(r, from, count);
    }
    for (uint32_t i = 0; i < e->size * e->columns; i++)
        e->b[i] = chance(r, 0.1) ? one(g) : mul(pick(r, from, count), pick(r, from, count));
    e->lineage = tr_graph_lineage(g, e->parent, e->size);
    assert_int_equal(lineage_entries(g->lineages[e->lineage]), e->entries);
    tr_block_factor(g, e->lineage, e->M, e->factors);
    tr_block_solve(g, e->lineage, e->factors, e->b, e->columns, e->x);
}

static Program *compile_all(System *s, const Expr *values, uint32_t count)
{
    tr_error err = {0};
    Program *p = tr_compile_open(s, values, count, NULL, &err);
    if (err.status) fail_msg("%s", err.text);
    return p;
}

static void draw(Random *r, double *in)
{
    for (int i = 0; i < INPUTS; i++) in[i] = any(r);
}

// ---- numbers -------------------------------------------------------------------------------

// M and b as numbers, solved densely
static void solve_densely(const Equations *e, const double *M, const double *b, double *x)
{
    double dense[MOST * MOST] = {0};
    uint32_t at = 0;
    for (uint32_t i = 0; i < e->size; i++)
        for (uint32_t j = i; j != LINEAGE_TOP; j = e->parent[j])
            dense[i * e->size + j] = dense[j * e->size + i] = M[at++];
    memcpy(x, b, (size_t)e->size * e->columns * sizeof *x);
    assert_true(tr_solve_positive(dense, e->size, x, e->columns));
}

static void test_solutions_are_those_of_dense_equations(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        Random r = {seed};
        System *s = with_inputs();
        Expr from[INPUTS], all[3 * MOST_OUTPUTS];
        for (int i = 0; i < INPUTS; i++) from[i] = s->inputs[i].symbol;
        Equations e;
        make_equations(s, &r, from, INPUTS, &e);
        const uint32_t numbers = e.size * e.columns;
        memcpy(all, e.M, e.entries * sizeof *all);
        memcpy(all + e.entries, e.b, numbers * sizeof *all);
        memcpy(all + e.entries + numbers, e.x, numbers * sizeof *all);
        Program *p = compile_all(s, all, e.entries + 2 * numbers);
        double in[INPUTS], out[3 * MOST_OUTPUTS], x[MOST * MOST_COLUMNS];
        draw(&r, in);
        tr_workspace *w = tr_workspace_new(p, NULL);
        tr_evaluate(p, w, in, out);
        solve_densely(&e, out, out + e.entries, x);
        for (uint32_t i = 0; i < numbers; i++)
            assert_close(out[e.entries + numbers + i], x[i], 1e-14);
        tr_workspace_free(w);
        tr_program_free(p);
        tr_system_free(s);
    }
}

// The same equations by operations of the graph, one by one
static void solve_one_by_one(const Equations *e, const Lineage *l, Expr *M, Expr *x)
{
    for (uint32_t i = e->size; i-- > 0;)
        for (uint32_t j = e->parent[i], k = 1; j != LINEAGE_TOP; j = e->parent[j], k++) {
            const Expr f = quotient(M[l->start[i] + k], M[l->start[i]]);
            for (uint32_t m = 0; m < l->start[j + 1] - l->start[j]; m++) {
                Expr *to = &M[l->start[j] + m];
                *to = sub(*to, mul(f, M[l->start[i] + k + m]));
            }
            M[l->start[i] + k] = f;
        }
    const uint32_t n = e->columns;
    for (uint32_t c = 0; c < n; c++) {
        for (uint32_t i = e->size; i-- > 0;)
            for (uint32_t j = e->parent[i], k = 1; j != LINEAGE_TOP; j = e->parent[j], k++)
                x[j * n + c] = sub(x[j * n + c], mul(M[l->start[i] + k], x[i * n + c]));
        for (uint32_t i = 0; i < e->size; i++) {
            x[i * n + c] = quotient(x[i * n + c], M[l->start[i]]);
            for (uint32_t j = e->parent[i], k = 1; j != LINEAGE_TOP; j = e->parent[j], k++)
                x[i * n + c] = sub(x[i * n + c], mul(M[l->start[i] + k], x[j * n + c]));
        }
    }
}

// Every entry an input of its own, so that nothing is shared or folded
static void test_blocks_count_like_operations_one_by_one(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        Random r = {seed};
        System *s = tr_system_new(NULL);
        Expr own[MOST * (MOST + MOST_COLUMNS)];
        for (int i = 0; i < MOST * (MOST + MOST_COLUMNS); i++) {
            char name[8];
            snprintf(name, sizeof name, "m%d", i);
            own[i] = tr_input(s, name, TR_POSITION, 0, NULL);
        }
        Equations e;
        make_equations(s, &r, own, INPUTS, &e);
        for (uint32_t i = 0; i < e.entries; i++) e.M[i] = own[i];
        for (uint32_t i = 0; i < e.size * e.columns; i++) e.b[i] = own[e.entries + i];
        tr_block_factor(s->graph, e.lineage, e.M, e.factors);
        tr_block_solve(s->graph, e.lineage, e.factors, e.b, e.columns, e.x);
        const size_t counted = tr_system_operations(s, e.x, e.size * e.columns);
        Program *block = compile_all(s, e.x, e.size * e.columns);
        solve_one_by_one(&e, s->graph->lineages[e.lineage], e.M, e.b);
        Program *plain = compile_all(s, e.b, e.size * e.columns);
        assert_int_equal(block->operations, plain->operations);
        assert_int_equal(counted, plain->operations);
        assert_true(block->instruction_count <= 2);
        tr_program_free(block);
        tr_program_free(plain);
        tr_system_free(s);
    }
}

// ---- bits ----------------------------------------------------------------------------------

// Blocks of inputs, of parameters alone, and of what other blocks and sums of theirs give
static Program *layered_program(System *s, Random *r)
{
    Expr from[MOST_OUTPUTS], wanted[MOST_OUTPUTS];
    uint32_t count = 0, wants = 0;
    Equations e;
    for (int i = 0; i < INPUTS; i++) from[count++] = s->inputs[i].symbol;
    for (int layer = 0; layer < 4; layer++) {
        const uint32_t begin = layer == 1 || count < 40 ? 0 : count - 40;
        make_equations(s, r, from + begin, layer == 1 ? PARAMETERS : count - begin, &e);
        const uint32_t numbers = e.size * e.columns;
        for (uint32_t i = 0; i < numbers && count + 2 < MOST_OUTPUTS; i++) {
            from[count++] = e.x[i];
            if (chance(r, 0.5))
                from[count] = add(e.x[i], mul(pick(r, from, count), pick(r, from, count))), count++;
        }
        for (uint32_t i = 0; i < e.entries; i += 3) wanted[wants++] = e.factors[i];
    }
    for (uint32_t i = 0; i < count && wants < MOST_OUTPUTS; i += 1 + random_below(r, 3))
        wanted[wants++] = from[i];
    return compile_all(s, wanted, wants);
}

static void check_bits(const Program *p, const Executable *executable, Random *r, const char *what)
{
    const size_t n = p->output_count;
    double in[8][INPUTS], list[MOST_OUTPUTS], *out = calloc(8 * n, sizeof *out);
    double *room = tr_list_room(p);
    tr_workspace *w = tr_workspace_on(p, executable, executable->lanes, NULL);
    for (int again = 0; again < 2; again++) { // with the same parameters and other states
        for (uint32_t k = 0; k < executable->lanes; k++)
            for (int i = again ? PARAMETERS : 0; i < INPUTS; i++) in[k][i] = any(r);
        if (!again) tr_workspace_prepare(p, w, in[0]);
        tr_evaluate_prepared(p, w, in[0], out);
        for (uint32_t k = 0; k < executable->lanes; k++) {
            tr_list_run(p, in[k], room, list);
            for (size_t i = 0; i < n; i++)
                if (memcmp(&list[i], &out[k * n + i], sizeof *out) != 0)
                    fail_msg("%s, lane %u of %u: %a, not %a", what, k, executable->lanes,
                             out[k * n + i], list[i]);
        }
    }
    tr_workspace_free(w);
    free(room);
    free(out);
}

static void test_bits_are_those_of_the_list(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        Random r = {seed};
        System *s = with_inputs();
        Program *p = layered_program(s, &r);
        tr_system_free(s); // the program has its own
        for (int i = 0; i < WIDTHS; i++) {
            Executable *interpreted = tr_interpret_new(p, widths[i]);
            Executable *native = tr_native(p, widths[i]);
            assert_non_null(interpreted);
            check_bits(p, interpreted, &r, "interpreter");
            if (native) check_bits(p, native, &r, "machine code");
            interpreted->free(interpreted);
            if (native) native->free(native);
        }
        for (int machine = MACHINE_PLAIN; machine < (int)tr_machine(); machine++) {
            tr_limit_machine((Machine)machine);
            for (int i = 0; i < WIDTHS; i++) {
                Executable *interpreted = tr_interpret_new(p, widths[i]);
                check_bits(p, interpreted, &r, "interpreter of a lesser machine");
                interpreted->free(interpreted);
            }
            tr_limit_machine(MACHINE_AVX512);
        }
        tr_program_free(p);
    }
}

// ---- walking -------------------------------------------------------------------------------

static void test_blocks_are_nodes_like_others(void **state)
{
    (void)state;
    Random r = {5};
    System *s = with_inputs();
    Expr from[INPUTS];
    for (int i = 0; i < INPUTS; i++) from[i] = s->inputs[i].symbol;
    Equations e, same_ones;
    make_equations(s, &r, from, INPUTS, &e);
    const uint32_t nodes = s->graph->count, lineages = s->graph->lineage_count;
    Random again = {5};
    make_equations(s, &again, from, INPUTS, &same_ones);
    assert_int_equal(s->graph->count, nodes); // equal ones are one
    assert_int_equal(s->graph->lineage_count, lineages);
    assert_true(same(e.x[0], same_ones.x[0]));
    // replaced below a block, and back
    Expr x = e.x[0];
    const Expr other = add(from[7], one(s->graph));
    tr_substitute(s->graph, &x, 1, &from[0], &other, 1, &x);
    assert_false(same(x, e.x[0]));
    tr_substitute(s->graph, &x, 1, &other, &from[0], 1, &x);
    assert_true(same(x, e.x[0]));
    // in a graph of its own
    Expr copied = e.x[0];
    Graph *own = tr_reach_copy(s->graph, &copied, 1, &copied);
    assert_non_null(own);
    assert_string_equal(tr_op[op_of(copied)].name, "part");
    tr_graph_free(own);
    tr_system_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solutions_are_those_of_dense_equations),
        cmocka_unit_test(test_blocks_count_like_operations_one_by_one),
        cmocka_unit_test(test_bits_are_those_of_the_list),
        cmocka_unit_test(test_blocks_are_nodes_like_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
