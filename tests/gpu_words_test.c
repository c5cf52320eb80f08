// SPDX-License-Identifier: Apache-2.0
// Operations of programs as PTX, executed by an interpreter, against the library's own values.
#include "comma.h"
#include "expr/op.h"
#include "gpu/nodes.h"
#include "ptx.h"
#include "random.h"
#include "test.h"

// A kernel of one operation: its arguments are read from memory, and the result is written there.
static char *kernel_of(unsigned code, int operands, const Table *table, int order, bool single)
{
    Words words = {.is_single = single};
    Ptx ptx = {.is_single = single};
    Buffer lists = {0}, beside = {0}, all = {0};
    Translation t = {.words = &words, .ptx = &ptx, .lists = &lists};
    Flat flat = {0};
    Nodes nodes = {0};
    uint32_t a[3];
    for (uint32_t i = 0; i < 3; i++) a[i] = tr_flat_argument(&flat, ARGUMENT_X, i);
    const uint32_t out =
        tr_flat_node(&flat, code, a[0], operands > 1 ? a[1] : 0, operands > 2 ? a[2] : 0);
    if (table) {
        flat.tables = calloc(1, sizeof *flat.tables);
        flat.tables[0] = tr_table_share(table), flat.table_count = 1;
        flat.nodes[out].n = (int16_t)order;
    }
    assert_true(tr_nodes_open(&nodes, &flat, &t));
    tr_nodes_words(&words);
    tr_nodes_tables(&nodes, &words);
    tr_nodes_beside(&t, &beside);
    const Value at = tr_ptx_register(&ptx, KIND_U64);
    tr_buffer_print(&ptx.text, "\tld.param.u64 %%l%u, [at];\n", at.number);
    for (uint32_t i = 0; i < 3; i++) {
        const Value x = tr_ptx_register(&ptx, KIND_REAL),
                    from = tr_ptx_binary(&ptx, "+", at, tr_ptx_whole(KIND_U64, 8 * i));
        tr_buffer_print(&ptx.text, "\tld.global.f64 %%d%u, [%%l%u];\n", x.number, from.number);
        nodes.value[a[i]] = x;
        nodes.value[a[i]].is_fresh = false;
    }
    tr_nodes_make(&nodes, &out, 1, NULL);
    if (t.failure[0]) fail_msg("%s", t.failure);
    const Value y = tr_ptx_convert(&ptx, tr_nodes_number(&nodes, out), KIND_REAL),
                to = tr_ptx_binary(&ptx, "+", at, tr_ptx_whole(KIND_U64, 24));
    tr_buffer_print(&ptx.text, "\tst.global.f64 [%%l%u], %%d%u;\n\tret;\n", to.number, y.number);
    tr_buffer_print(&all,
                    ".version 7.0\n.target sm_75\n.address_size 64\n%s%s.visible .entry "
                    "one(\n\t.param .u64 at)\n{\n",
                    lists.at ? lists.at : "", beside.at ? beside.at : "");
    tr_ptx_registers(&ptx, &all);
    tr_buffer_print(&all, "%s}\n", ptx.text.at);
    tr_nodes_close(&nodes);
    tr_flat_free(&flat);
    tr_translation_free(&t);
    tr_words_free(&words);
    tr_buffer_free(&ptx.text);
    tr_buffer_free(&lists);
    tr_buffer_free(&beside);
    return all.at;
}

static const double special[] = {0.0,
                                 -0.0,
                                 0.5,
                                 -0.5,
                                 1,
                                 -1,
                                 2,
                                 3,
                                 -3,
                                 1e-310,
                                 1e-20,
                                 -1e-9,
                                 0.785,
                                 1.5707963267948966,
                                 1e5,
                                 -268435456.0,
                                 268435455.0,
                                 1e9,
                                 -1e22,
                                 1.7e308,
                                 745,
                                 -746,
                                 709.7,
                                 710,
                                 -1000,
                                 2.5,
                                 -7,
                                 1000,
                                 1001,
                                 (double)INFINITY,
                                 -(double)INFINITY,
                                 (double)NAN};
enum { SPECIAL = sizeof special / sizeof *special, TRIED = 1500 };

static double argument(Random *r, int i)
{
    if (i < SPECIAL) return special[i];
    if (chance(r, 0.2)) return special[random_below(r, SPECIAL)];
    const double x = any(r);
    return i % 3 == 0 ? x : i % 3 == 1 ? 100 * x : ldexp(x, (int)random_below(r, 200) - 60);
}

static double expected(unsigned code, const double *x)
{
    switch (code) {
    case CODE_FMA: return fma(x[0], x[1], x[2]);
    case CODE_FMS: return fma(x[0], x[1], -x[2]);
    case CODE_FNMA: return fma(-x[0], x[1], x[2]);
    default: return tr_op_value((Op)code, x[0], x[1], x[2], 0, NULL);
    }
}

// What is no number is none; all else is the same to the bit.
static bool are_same(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static void check_operation(unsigned code, const char *name, int operands)
{
    Random r = {code + 1};
    double x[4];
    char *text = kernel_of(code, operands, NULL, 0, false);
    PtxModule *m = ptx_read(text);
    m->parameters[0].u = (uint64_t)(uintptr_t)x;
    for (int i = 0; i < TRIED; i++) {
        for (int k = 0; k < 3; k++)
            x[k] = k ? argument(&r, (int)random_below(&r, TRIED)) : argument(&r, i);
        ptx_launch(m, 1, 1);
        const double right = expected(code, x);
        if (!are_same(x[3], right))
            fail_msg("%s of %.17g, %.17g, %.17g is %.17g by PTX, %.17g here", name, x[0], x[1],
                     x[2], x[3], right);
    }
    ptx_free(m);
    free(text);
}

static void test_operations(void **state)
{
    (void)state;
    for (unsigned code = OP_ADD; code < OP_COUNT; code++)
        if (code != OP_POW && tr_op[code].form != FORM_TABLE) // whole powers are products
            check_operation(code, tr_op[code].name, tr_op[code].operands);
    check_operation(CODE_FMA, "a b + c", 3);
    check_operation(CODE_FMS, "a b - c", 3);
    check_operation(CODE_FNMA, "c - a b", 3);
}

// Kernels are made of texts in C, whose numbers have points.
static void test_locale(void **state)
{
    (void)state;
    for (unsigned code = OP_ADD; code < OP_COUNT; code++) {
        if (code == OP_POW || tr_op[code].form == FORM_TABLE) continue;
        for (int single = 0; single < 2; single++) {
            char *text = kernel_of(code, tr_op[code].operands, NULL, 0, single);
            if (!use_commas()) {
                free(text);
                skip();
            }
            char *other = kernel_of(code, tr_op[code].operands, NULL, 0, single);
            setlocale(LC_ALL, "C");
            assert_string_equal(other, text);
            free(text);
            free(other);
        }
    }
}

static double number_in(const char *text)
{
    const Word word = {WORD_NUMBER, text_of(text), 0};
    const Value v = tr_word_number(&word);
    assert_true(v.is_known && v.kind == KIND_REAL);
    return v.x;
}

static void test_numbers(void **state)
{
    (void)state;
    assert_true(number_in("0.1") == 0.1);
    assert_true(number_in("2.5e-3f") == 2.5e-3);
    assert_true(number_in("1e300") == 1e300);
    assert_true(number_in("0x1p-1022") == 0x1p-1022);
    assert_true(number_in("0xA.8p3") == 84);
    assert_true(number_in("0x1.fffffffffffffp0") == 0x1.fffffffffffffp0);
}

static void check_table(const Table *table, int order, const char *name)
{
    Random r = {7};
    double x[4];
    const bool plane = table_is_plane(table) && !table_is_question(order);
    char *text = kernel_of(plane ? OP_TABLE2 : OP_TABLE1, plane ? 2 : 1, table, order, false);
    PtxModule *m = ptx_read(text);
    m->parameters[0].u = (uint64_t)(uintptr_t)x;
    for (int i = 0; i < 400; i++) {
        x[0] = i == 0 ? (double)NAN : i % 7 ? random_between(&r, -2, 12) : (double)(i / 7 % 11);
        x[1] = i == 1 ? (double)NAN : i % 5 ? random_between(&r, -2, 9) : (double)(i / 5 % 7);
        ptx_launch(m, 1, 1);
        const double right = tr_table_value(table, x[0], plane ? x[1] : 0, order);
        if (!are_same(x[3], right))
            fail_msg("%s, order %d, at %.17g, %.17g is %.17g by PTX, %.17g here", name, order, x[0],
                     x[1], x[3], right);
    }
    ptx_free(m);
    free(text);
}

static void test_tables(void **state)
{
    (void)state;
    enum { NX = 11, NY = 7 };
    Random r = {3};
    double x[NX], y[NY], z[NX * NY];
    tr_error err = {0};
    for (int i = 0; i < NX; i++) x[i] = i + 0.3 * any(&r);
    for (int i = 0; i < NY; i++) y[i] = i;
    for (int i = 0; i < NX * NY; i++) z[i] = any(&r);
    static const int degrees[] = {0, 1, 3};
    for (int k = 0; k < 6; k++) {
        const int degree = degrees[k % 3];
        Table *line = tr_table_through(x, NX, NULL, 1, z, degree, k < 3, &err);
        for (int order = 0; order < 3; order++) check_table(line, order, "a line");
        for (int what = TABLE_PIECE; what <= TABLE_UPPER; what++)
            check_table(line, table_question(what, 0), "a question");
        tr_table_free(line);
        Table *plane = tr_table_through(x, NX, y, NY, z, degree, k < 3, &err);
        if (err.status) fail_msg("%s", err.text);
        for (int order = 0; order < 9; order++)
            check_table(plane, table_order(order % 3, order / 3), "a plane");
        for (int what = TABLE_PIECE; what <= TABLE_UPPER; what++)
            for (int axis = 0; axis < 2; axis++)
                check_table(plane, table_question(what, axis), "a question");
        tr_table_free(plane);
    }
}

// A kernel has 64 kB of constants; what has no room there is elsewhere.
static void test_many_lists(void **state)
{
    (void)state;
    enum { LISTS = 30, LENGTH = 400, MOST = 60 << 10 };
    Words words = {0};
    Ptx ptx = {0};
    Buffer lists = {0};
    Translation t = {.words = &words, .ptx = &ptx, .lists = &lists};
    Value numbers[LENGTH];
    char names[LISTS][8];
    for (int i = 0; i < LENGTH; i++) numbers[i] = tr_ptx_number(i);
    tr_words_add(&words, text_of("static double entry(double x[1], uint32_t i) { return x[i]; }"));
    assert_true(tr_translation_open(&t));
    const Value at = tr_ptx_register(&ptx, KIND_U32);
    size_t constants = 0, others = 0;
    for (int i = 0; i < LISTS; i++) {
        snprintf(names[i], sizeof names[i], "list%d", i);
        tr_words_list(&words, names[i], numbers, LENGTH);
    }
    for (int i = 0; i < 2 * LISTS; i++) {
        const Definition *d = tr_words_find(&words, text_of(names[i % LISTS]));
        const Thing all[] = {
            {.form = THING_ARRAY, .definition = d, .offset = tr_ptx_whole(KIND_INT, 0)},
            thing_of(at)};
        tr_translate_call(&t, "entry", all, 2);
        const char *load = ptx.text.at, *next;
        while ((next = strstr(load + 1, "\tld."))) load = next; // the last
        assert_int_equal(strncmp(load, d->is_global ? "\tld.global" : "\tld.const", 9), 0);
    }
    assert_string_equal(t.failure, "");
    for (const char *line = lists.at; line && *line; line = strchr(line, '\n') + 1) {
        constants += begins_with(line, ".const") ? LENGTH * sizeof(double) : 0;
        others += begins_with(line, ".global");
    }
    assert_true(constants > MOST / 2 && constants <= MOST);
    assert_int_equal(others, LISTS - constants / (LENGTH * sizeof(double)));
    tr_translation_free(&t);
    tr_words_free(&words);
    tr_buffer_free(&ptx.text);
    tr_buffer_free(&lists);
}

// ---- single precision -----------------------------------------------------------------------

// Of the usual size, as a float has it
static double small_argument(Random *r, int i)
{
    static const double exact[] = {0, 1, -1, 0.5, 2, 3, -2, (double)NAN, (double)INFINITY};
    enum { EXACT = sizeof exact / sizeof *exact };
    return i < EXACT ? exact[i] : (double)(float)random_between(r, -6, 6);
}

static void check_single(unsigned code, const char *name, int operands)
{
    Random r = {code + 1};
    double x[4];
    char *text = kernel_of(code, operands, NULL, 0, true);
    PtxModule *m = ptx_read(text);
    m->parameters[0].u = (uint64_t)(uintptr_t)x;
    for (int i = 0; i < TRIED; i++) {
        for (int k = 0; k < 3; k++)
            x[k] = k ? small_argument(&r, (int)random_below(&r, TRIED)) : small_argument(&r, i);
        ptx_launch(m, 1, 1);
        const double right = expected(code, x);
        const double size = 1 + (code == OP_TAN ? right * right : fabs(right));
        const double bound = code == OP_RAISE ? 1e-5 : 1e-6;
        if (!are_same(x[3], right) && !(fabs(x[3] - right) <= bound * size))
            fail_msg("%s of %.9g, %.9g, %.9g is %.9g in single precision, not %.9g", name, x[0],
                     x[1], x[2], x[3], right);
    }
    ptx_free(m);
    free(text);
}

static void test_single(void **state)
{
    (void)state;
    for (unsigned code = OP_ADD; code < OP_COUNT; code++)
        if (code != OP_POW && tr_op[code].form != FORM_TABLE)
            check_single(code, tr_op[code].name, tr_op[code].operands);
    check_single(CODE_FMA, "a b + c", 3);
    check_single(CODE_FMS, "a b - c", 3);
    check_single(CODE_FNMA, "c - a b", 3);
}

static void check_single_table(const Table *table, const char *name)
{
    Random r = {7};
    double x[4];
    const bool plane = table_is_plane(table);
    char *text =
        kernel_of(plane ? OP_TABLE2 : OP_TABLE1, plane ? 2 : 1, table, table_order(0, 0), true);
    PtxModule *m = ptx_read(text);
    m->parameters[0].u = (uint64_t)(uintptr_t)x;
    for (int i = 0; i < 400; i++) {
        for (int k = 0; k < 2; k++) x[k] = (double)(float)random_between(&r, 0, 6);
        ptx_launch(m, 1, 1);
        const double right = tr_table_value(table, x[0], plane ? x[1] : 0, 0);
        if (!(fabs(x[3] - right) <= 1e-5))
            fail_msg("%s at %.9g, %.9g is %.9g in single precision, not %.9g", name, x[0], x[1],
                     x[3], right);
    }
    ptx_free(m);
    free(text);
}

static void test_single_tables(void **state)
{
    (void)state;
    enum { NX = 9, NY = 7 };
    Random r = {5};
    double x[NX], y[NY], z[NX * NY];
    tr_error err = {0};
    for (int i = 0; i < NX; i++) x[i] = i;
    for (int i = 0; i < NY; i++) y[i] = i;
    for (int i = 0; i < NX * NY; i++) z[i] = any(&r);
    for (int degree = 1; degree <= 3; degree += 2) {
        Table *line = tr_table_through(x, NX, NULL, 1, z, degree, true, &err);
        Table *plane = tr_table_through(x, NX, y, NY, z, degree, true, &err);
        if (err.status) fail_msg("%s", err.text);
        check_single_table(line, "a line");
        check_single_table(plane, "a plane");
        tr_table_free(line);
        tr_table_free(plane);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),   cmocka_unit_test(test_locale),
        cmocka_unit_test(test_numbers),      cmocka_unit_test(test_tables),
        cmocka_unit_test(test_many_lists),   cmocka_unit_test(test_single),
        cmocka_unit_test(test_single_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
