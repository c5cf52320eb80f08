// SPDX-License-Identifier: Apache-2.0
// Linear equations with expressions for coefficients, by elimination:
//   A = L D L^T,   P A Q = L U,   then forward and backward substitution
#include "expr/matrix.h"

#include <assert.h>

Matrix tr_matrix_in(Arena *room, Graph *graph, uint32_t rows, uint32_t columns)
{
    const size_t count = (size_t)rows * columns;
    Matrix m = {graph, tr_arena_alloc(room, count, sizeof *m.entries), rows, columns};
    if (!m.entries) graph->failed = true;
    const Expr nothing = zero(graph);
    for (size_t k = 0; m.entries && k < count; k++) m.entries[k] = nothing;
    return m;
}

Matrix tr_matrix(Graph *graph, uint32_t rows, uint32_t columns)
{
    return tr_matrix_in(&graph->arena, graph, rows, columns);
}

Matrix tr_matrix_identity(Graph *graph, uint32_t size)
{
    Matrix m = tr_matrix(graph, size, size);
    for (uint32_t i = 0; i < size; i++) set(m, i, i, one(graph));
    return m;
}

Matrix tr_matrix_sub(Matrix a, Matrix b)
{
    assert(a.rows == b.rows && a.columns == b.columns);
    Matrix m = tr_matrix(a.graph, a.rows, a.columns);
    for (uint32_t i = 0; i < a.rows; i++)
        for (uint32_t j = 0; j < a.columns; j++) set(m, i, j, sub(get(a, i, j), get(b, i, j)));
    return m;
}

Matrix tr_matrix_product(Matrix a, Matrix b)
{
    assert(a.columns == b.rows);
    Matrix m = tr_matrix(a.graph, a.rows, b.columns);
    for (uint32_t i = 0; i < a.rows; i++)
        for (uint32_t j = 0; j < b.columns; j++)
            for (uint32_t k = 0; k < a.columns; k++)
                set(m, i, j, add(get(m, i, j), mul(get(a, i, k), get(b, k, j))));
    return m;
}

Matrix tr_matrix_transpose(Matrix a)
{
    Matrix m = tr_matrix(a.graph, a.columns, a.rows);
    for (uint32_t i = 0; i < a.rows; i++)
        for (uint32_t j = 0; j < a.columns; j++) set(m, j, i, get(a, i, j));
    return m;
}

// x(i, j) -= factor * y
static void subtract(Matrix x, uint32_t i, uint32_t j, Expr factor, Expr y)
{
    set(x, i, j, sub(get(x, i, j), mul(factor, y)));
}

static Matrix copy(Matrix a)
{
    Matrix m = tr_matrix(a.graph, a.rows, a.columns);
    for (uint32_t i = 0; i < a.rows; i++)
        for (uint32_t j = 0; j < a.columns; j++) set(m, i, j, get(a, i, j));
    return m;
}

// Rows of X = L^-1 X for unit lower L: x_i -= l_ij x_j
static void forward(Matrix l, Matrix x)
{
    for (uint32_t i = 0; i < l.rows; i++)
        for (uint32_t j = 0; j < i; j++)
            for (uint32_t k = 0; k < x.columns; k++) subtract(x, i, k, get(l, i, j), get(x, j, k));
}

// Rows of X = L^-T X for unit lower L: x_i -= l_ji x_j
static void backward(Matrix l, Matrix x)
{
    for (uint32_t i = l.rows; i-- > 0;)
        for (uint32_t j = i + 1; j < l.rows; j++)
            for (uint32_t k = 0; k < x.columns; k++) subtract(x, i, k, get(l, j, i), get(x, j, k));
}

// a_ij -= l_ik d_k l_jk, k < j, then l_ij = a_ij / d_j
Matrix tr_ldlt(Matrix a)
{
    assert(a.rows == a.columns);
    Matrix f = copy(a);
    for (uint32_t k = 0; k < f.rows; k++)
        for (uint32_t i = k + 1; i < f.rows; i++) {
            const Expr column = get(f, i, k), l = quotient(column, get(f, k, k));
            for (uint32_t j = k + 1; j < i; j++) subtract(f, i, j, get(f, j, k), column);
            subtract(f, i, i, l, column);
            set(f, i, k, l);
        }
    return f;
}

Matrix tr_ldlt_solve(Matrix ldlt, Matrix b)
{
    assert(ldlt.rows == b.rows);
    Matrix x = copy(b);
    forward(ldlt, x);
    for (uint32_t i = 0; i < x.rows; i++)
        for (uint32_t k = 0; k < x.columns; k++)
            set(x, i, k, quotient(get(x, i, k), get(ldlt, i, i)));
    backward(ldlt, x);
    return x;
}

LU tr_lu(Matrix a, const uint32_t *row, const uint32_t *column)
{
    assert(a.rows == a.columns);
    const uint32_t n = a.rows;
    Matrix f = tr_matrix(a.graph, n, n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) set(f, i, j, get(a, row[i], column[j]));
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = k + 1; i < n; i++) {
            const Expr l = quotient(get(f, i, k), get(f, k, k));
            set(f, i, k, l);
            for (uint32_t j = k + 1; j < n; j++) subtract(f, i, j, l, get(f, k, j));
        }
    return (LU){f, row, column};
}

// P A Q = L U:  A X = B  <=>  L U (Q^T X) = P B
Matrix tr_lu_solve(LU lu, Matrix b)
{
    const Matrix f = lu.factors;
    assert(f.rows == b.rows);
    Matrix y = tr_matrix(f.graph, f.rows, b.columns), x = tr_matrix(f.graph, f.rows, b.columns);
    for (uint32_t i = 0; i < f.rows; i++)
        for (uint32_t k = 0; k < b.columns; k++) set(y, i, k, get(b, lu.row[i], k));
    forward(f, y);
    for (uint32_t i = f.rows; i-- > 0;)
        for (uint32_t k = 0; k < b.columns; k++) {
            for (uint32_t j = i + 1; j < f.rows; j++) subtract(y, i, k, get(f, i, j), get(y, j, k));
            set(y, i, k, quotient(get(y, i, k), get(f, i, i)));
            set(x, lu.column[i], k, get(y, i, k));
        }
    return x;
}
