// SPDX-License-Identifier: Apache-2.0
// Matrices of expressions, evaluated through programs, against plain loops and elimination with
// pivoting on numbers; and their structure: zeros stay zeros, no fill where none is due.
#include "expr/matrix.h"
#include "expr/system.h"
#include "test.h"

// ---- tools ---------------------------------------------------------------------------------

enum { MOST = 12 };

// A system whose inputs are the entries of matrices.
typedef struct Case {
    System *system;
    Random random;
    double *in; // values of the inputs
} Case;

static Case case_new(uint64_t seed)
{
    Case c = {tr_system_new(NULL), {2 * seed + 1}, calloc(1000, sizeof(double))};
    assert_true(c.system && c.in);
    for (int i = 0; i < 10; i++) random_bits(&c.random);
    return c;
}

static void case_free(Case *c)
{
    tr_system_free(c->system);
    free(c->in);
}

static Expr entry(Case *c, double value)
{
    char name[16];
    const size_t index = tr_input_count(c->system);
    assert_true(index < 1000);
    snprintf(name, sizeof name, "x%zu", index);
    c->in[index] = value;
    return tr_input(c->system, name, TR_POSITION, 0, NULL);
}

// Inputs with these values.
static Matrix entries(Case *c, const double *value, uint32_t rows, uint32_t columns)
{
    Matrix m = tr_matrix(c->system->graph, rows, columns);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++) set(m, i, j, entry(c, value[i * columns + j]));
    return m;
}

static Matrix random_entries(Case *c, double *value, uint32_t rows, uint32_t columns)
{
    for (uint32_t k = 0; k < rows * columns; k++) value[k] = random_between(&c->random, -1, 1);
    return entries(c, value, rows, columns);
}

static void values_of(Case *c, Matrix m, double *out)
{
    tr_error err = {0};
    char name[32];
    snprintf(name, sizeof name, "matrix%u", c->system->output_count);
    tr_output(c->system, name, m.entries, m.rows, m.columns, &err);
    tr_program *program = tr_compile(c->system, name, NULL, &err);
    tr_workspace *workspace = tr_workspace_new(program, &err);
    if (err.status) fail_msg("%s", err.text);
    tr_evaluate(program, workspace, c->in, out);
    tr_workspace_free(workspace);
    tr_program_free(program);
}

static void check(Case *c, Matrix m, const double *wanted, uint32_t rows, uint32_t columns)
{
    double out[MOST * MOST];
    assert_true(m.rows == rows && m.columns == columns);
    values_of(c, m, out);
    for (uint32_t k = 0; k < rows * columns; k++) assert_close(out[k], wanted[k], 1e-10);
}

static void multiply(const double *a, const double *b, uint32_t rows, uint32_t inner,
                     uint32_t columns, double *out)
{
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++) {
            long double sum = 0;
            for (uint32_t k = 0; k < inner; k++)
                sum += (long double)a[i * inner + k] * (long double)b[k * columns + j];
            out[i * columns + j] = (double)sum;
        }
}

static void transpose(const double *a, uint32_t rows, uint32_t columns, double *out)
{
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++) out[j * rows + i] = a[i * columns + j];
}

// X of A X = B, by elimination with row pivoting on long doubles.
static void solve(const double *a, const double *b, uint32_t n, uint32_t columns, double *x)
{
    long double w[MOST][2 * MOST];
    const uint32_t width = n + columns;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < width; j++)
            w[i][j] = (long double)(j < n ? a[i * n + j] : b[i * columns + j - n]);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t best = k;
        for (uint32_t i = k; i < n; i++)
            if (fabsl(w[i][k]) > fabsl(w[best][k])) best = i;
        for (uint32_t j = 0; j < width; j++) {
            const long double t = w[k][j];
            w[k][j] = w[best][j];
            w[best][j] = t;
        }
        for (uint32_t i = 0; i < n; i++) {
            const long double factor = w[i][k] / w[k][k];
            for (uint32_t j = k; i != k && j < width; j++) w[i][j] -= factor * w[k][j];
        }
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < columns; j++) x[i * columns + j] = (double)(w[i][n + j] / w[i][i]);
}

// B B^T + I
static void positive_definite(Random *r, uint32_t n, double *a)
{
    double b[MOST * MOST], bt[MOST * MOST];
    for (uint32_t k = 0; k < n * n; k++) b[k] = random_between(r, -1, 1);
    transpose(b, n, n, bt);
    multiply(b, bt, n, n, n, a);
    for (uint32_t i = 0; i < n; i++) a[i * n + i] += 1;
}

static void shuffle(Random *r, uint32_t n, uint32_t *order)
{
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    for (uint32_t i = n; i-- > 1;) {
        const uint32_t k = random_below(r, i + 1), t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
}

// ---- sums and products ---------------------------------------------------------------------

static void test_sums_and_products(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        Case c = case_new(seed);
        const uint32_t l = 1 + random_below(&c.random, 5), m = 1 + random_below(&c.random, 5);
        const uint32_t n = 1 + random_below(&c.random, 5);
        double a[25], b[25], d[25], wanted[25];
        const Matrix A = random_entries(&c, a, l, m), B = random_entries(&c, b, m, n);
        const Matrix D = random_entries(&c, d, l, m);
        multiply(a, b, l, m, n, wanted);
        check(&c, tr_matrix_product(A, B), wanted, l, n);
        for (uint32_t k = 0; k < l * m; k++) wanted[k] = a[k] - d[k];
        check(&c, tr_matrix_sub(A, D), wanted, l, m);
        transpose(a, l, m, wanted);
        check(&c, tr_matrix_transpose(A), wanted, m, l);
        check(&c, A, a, l, m); // operands are left alone
        check(&c, D, d, l, m);
        case_free(&c);
    }
}

static void test_identity_and_zero(void **state)
{
    (void)state;
    Case c = case_new(1);
    Graph *g = c.system->graph;
    double a[12];
    const Matrix A = random_entries(&c, a, 3, 4), zeros = tr_matrix(g, 3, 4);
    const Matrix left = tr_matrix_product(tr_matrix_identity(g, 3), A);
    const Matrix right = tr_matrix_product(A, tr_matrix_identity(g, 4));
    const Matrix kept = tr_matrix_sub(A, zeros), difference = tr_matrix_sub(A, A);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 0; j < 4; j++) {
            assert_true(is_zero(get(zeros, i, j)) && is_zero(get(difference, i, j)));
            assert_true(same(get(left, i, j), get(A, i, j)) &&
                        same(get(right, i, j), get(A, i, j)));
            assert_true(same(get(kept, i, j), get(A, i, j)));
        }
    const Matrix empty = tr_matrix_product(tr_matrix(g, 2, 0), tr_matrix(g, 0, 3));
    assert_true(empty.rows == 2 && empty.columns == 3 && is_zero(get(empty, 1, 2)));
    case_free(&c);
}

static void test_blocks_stay_blocks(void **state)
{
    (void)state;
    static const uint32_t block[] = {0, 0, 0, 1, 1, 2, 2, 2, 2};
    enum { N = 9 };
    Case c = case_new(1);
    Matrix A = tr_matrix(c.system->graph, N, N), B = tr_matrix(c.system->graph, N, N);
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = 0; j < N; j++) {
            if (block[i] != block[j]) continue;
            set(A, i, j, entry(&c, random_between(&c.random, -1, 1)));
            set(B, i, j, entry(&c, random_between(&c.random, -1, 1)));
        }
    const Matrix products[] = {tr_matrix_product(A, B),
                               tr_matrix_product(tr_matrix_transpose(A), B), tr_ldlt(A)};
    for (size_t k = 0; k < 3; k++)
        for (uint32_t i = 0; i < N; i++)
            for (uint32_t j = 0; j < N; j++)
                assert_int_equal(is_zero(get(products[k], i, j)), block[i] != block[j]);
    case_free(&c);
}

// ---- LDL^T ---------------------------------------------------------------------------------

// Only the lower triangle is read: the upper one is poisoned with NaN.
static Matrix lower_entries(Case *c, const double *a, uint32_t n)
{
    Matrix A = tr_matrix(c->system->graph, n, n);
    const Expr poison = entry(c, (double)NAN);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) set(A, i, j, j > i ? poison : entry(c, a[i * n + j]));
    return A;
}

static void test_ldlt_solves(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 8; n++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            Case c = case_new(seed);
            const uint32_t columns = 1 + random_below(&c.random, 3);
            double a[64], b[24], wanted[24], x[24], ax[24], f[64], l[64], dl[64], back[64];
            positive_definite(&c.random, n, a);
            const Matrix A = lower_entries(&c, a, n), B = random_entries(&c, b, n, columns);
            const Matrix F = tr_ldlt(A), X = tr_ldlt_solve(F, B);
            solve(a, b, n, columns, wanted);
            check(&c, X, wanted, n, columns);
            values_of(&c, X, x);
            multiply(a, x, n, n, columns, ax);
            for (uint32_t k = 0; k < n * columns; k++) assert_close(ax[k], b[k], 1e-12);
            values_of(&c, F, f); // L (D L^T) is A
            for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++) {
                    l[i * n + j] = i == j ? 1 : j < i ? f[i * n + j] : 0;
                    dl[i * n + j] = f[i * n + i] * (i == j ? 1 : i < j ? f[j * n + i] : 0);
                }
            multiply(l, dl, n, n, n, back);
            for (uint32_t k = 0; k < n * n; k++) assert_close(back[k], a[k], 1e-12);
            case_free(&c);
        }
}

// An arrow that points to the end has no fill; turned around it fills up.
static void test_ldlt_of_an_arrow(void **state)
{
    (void)state;
    enum { N = 7 };
    for (uint32_t tip = 0; tip < N; tip += N - 1) {
        Case c = case_new(1);
        Matrix A = tr_matrix(c.system->graph, N, N);
        for (uint32_t i = 0; i < N; i++) {
            const Expr x = entry(&c, 0.3);
            set(A, i, tip, x);
            set(A, tip, i, x);
            set(A, i, i, entry(&c, 3));
        }
        const Matrix F = tr_ldlt(A);
        for (uint32_t i = 0; i < N; i++)
            for (uint32_t j = 0; j < i; j++)
                assert_int_equal(is_zero(get(F, i, j)), tip == 0 ? 0 : i != tip);
        case_free(&c);
    }
}

// Mass matrices of trees: i and j meet when one carries the other. Children first: no fill, and the
// inverse times a leaf's force is only as full as its tree.
static void test_ldlt_of_a_tree(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        enum { N = 10 };
        Case c = case_new(seed);
        uint32_t parent[N];
        bool related[N][N] = {{false}};
        for (uint32_t i = 0; i < N; i++) parent[i] = i + 1 + random_below(&c.random, 4);
        Matrix A = tr_matrix(c.system->graph, N, N), B = tr_matrix(c.system->graph, N, 1);
        for (uint32_t i = 0; i < N; i++)
            for (uint32_t up = i; up < N; up = parent[up]) {
                related[up][i] = true; // up >= i: the lower triangle
                set(A, up, i, entry(&c, up == i ? 9 : random_between(&c.random, -1, 1)));
            }
        const Matrix F = tr_ldlt(A);
        for (uint32_t i = 0; i < N; i++)
            for (uint32_t j = 0; j <= i; j++)
                assert_int_equal(is_zero(get(F, i, j)), !related[i][j]);
        set(B, 0, 0, entry(&c, 1));
        const Matrix X = tr_ldlt_solve(F, B);
        uint32_t root_of_0 = 0, root;
        while (parent[root_of_0] < N) root_of_0 = parent[root_of_0];
        for (uint32_t i = 0; i < N; i++) {
            for (root = i; parent[root] < N;) root = parent[root];
            if (root != root_of_0) assert_true(is_zero(get(X, i, 0)));
        }
        assert_false(is_zero(get(X, 0, 0)));
        case_free(&c);
    }
}

// ---- LU ------------------------------------------------------------------------------------

// Solves with A, and multiplies the factors.
static void check_lu(Case *c, const double *a, const Matrix A, uint32_t n, const uint32_t *row,
                     const uint32_t *column)
{
    const uint32_t columns = 1 + random_below(&c->random, 3);
    double b[24], wanted[24], f[64], l[64] = {0}, u[64] = {0}, back[64];
    const Matrix B = random_entries(c, b, n, columns);
    const LU lu = tr_lu(A, row, column);
    solve(a, b, n, columns, wanted);
    check(c, tr_lu_solve(lu, B), wanted, n, columns);
    values_of(c, lu.factors, f);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            l[i * n + j] = i == j ? 1 : j < i ? f[i * n + j] : 0;
            u[i * n + j] = j >= i ? f[i * n + j] : 0;
        }
    multiply(l, u, n, n, n, back);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            assert_close(back[i * n + j], a[row[i] * n + column[j]], 1e-11);
}

static void test_lu_with_any_pivots(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 8; n++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            Case c = case_new(100 * n + seed);
            double a[64];
            uint32_t row[8], column[8];
            shuffle(&c.random, n, row);
            shuffle(&c.random, n, column);
            for (uint32_t k = 0; k < n * n; k++) a[k] = random_between(&c.random, -1, 1);
            for (uint32_t k = 0; k < n; k++) a[row[k] * n + column[k]] += (double)n; // good pivots
            check_lu(&c, a, entries(&c, a, n, n), n, row, column);
            case_free(&c);
        }
}

// Constraints make zero diagonals: [0 B; B^T 0] has no pivot where it stands, but off it.
static void test_lu_of_a_zero_diagonal(void **state)
{
    (void)state;
    enum { H = 3, N = 2 * H };
    static const uint32_t row[N] = {0, 1, 2, 3, 4, 5}, column[N] = {3, 4, 5, 0, 1, 2};
    Case c = case_new(1);
    double a[N * N] = {0};
    Matrix A = tr_matrix(c.system->graph, N, N);
    for (uint32_t i = 0; i < H; i++)
        for (uint32_t j = 0; j < H; j++) {
            const double x = random_between(&c.random, -1, 1) + (i == j ? 3 : 0);
            const Expr e = entry(&c, x);
            a[i * N + H + j] = a[(H + j) * N + i] = x;
            set(A, i, H + j, e);
            set(A, H + j, i, e);
        }
    check_lu(&c, a, A, N, row, column);
    const LU lu = tr_lu(A, row, column); // two blocks: nothing between them
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = 0; j < N; j++)
            assert_int_equal(is_zero(get(lu.factors, i, j)), i / H != j / H);
    case_free(&c);
}

// A permutation needs no arithmetic at all.
static void test_lu_of_a_permutation(void **state)
{
    (void)state;
    enum { N = 6 };
    static const uint32_t to[N] = {3, 0, 5, 1, 2, 4}, row[N] = {0, 1, 2, 3, 4, 5};
    Case c = case_new(1);
    double b[N];
    Matrix A = tr_matrix(c.system->graph, N, N);
    for (uint32_t i = 0; i < N; i++) set(A, i, to[i], one(c.system->graph));
    const Matrix B = random_entries(&c, b, N, 1);
    const LU lu = tr_lu(A, row, to);
    const Matrix X = tr_lu_solve(lu, B);
    for (uint32_t i = 0; i < N; i++) assert_true(same(get(X, to[i], 0), get(B, i, 0)));
    case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_and_products),   cmocka_unit_test(test_identity_and_zero),
        cmocka_unit_test(test_blocks_stay_blocks),  cmocka_unit_test(test_ldlt_solves),
        cmocka_unit_test(test_ldlt_of_an_arrow),    cmocka_unit_test(test_ldlt_of_a_tree),
        cmocka_unit_test(test_lu_with_any_pivots),  cmocka_unit_test(test_lu_of_a_zero_diagonal),
        cmocka_unit_test(test_lu_of_a_permutation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
