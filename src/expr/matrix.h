// SPDX-License-Identifier: Apache-2.0
// Small dense matrices of expressions. Structural zeros cost nothing: a product with zero is the
// zero node, so sparsity takes care of itself.
//
// When memory runs out a matrix is empty and the graph is failed; reading it gives the failed
// expression, so physics code needs no error branches.
#ifndef TR_EXPR_MATRIX_H
#define TR_EXPR_MATRIX_H

#include "expr/graph.h"

typedef struct Matrix {
    Graph *graph;
    Expr *entries; // by rows; NULL after running out of memory
    uint32_t rows, columns;
} Matrix;

// All zeros; lives as long as the graph.
Matrix tr_matrix(Graph *graph, uint32_t rows, uint32_t columns);
// The same, as long as this arena
Matrix tr_matrix_in(Arena *room, Graph *graph, uint32_t rows, uint32_t columns);
Matrix tr_matrix_identity(Graph *graph, uint32_t size);

static inline Expr get(Matrix m, uint32_t i, uint32_t j)
{
    return m.entries ? m.entries[(size_t)i * m.columns + j] : expr_at(m.graph, 0);
}
static inline void set(Matrix m, uint32_t i, uint32_t j, Expr x)
{
    if (m.entries) m.entries[(size_t)i * m.columns + j] = x;
}

Matrix tr_matrix_sub(Matrix a, Matrix b);
Matrix tr_matrix_product(Matrix a, Matrix b);
Matrix tr_matrix_transpose(Matrix a);

// A = L D L^T, A symmetric (its upper triangle is not read), without pivoting: L without its unit
// diagonal below, D on the diagonal. The solution of A X = B from it.
Matrix tr_ldlt(Matrix a);
Matrix tr_ldlt_solve(Matrix ldlt, Matrix b);

// Elimination with given pivots: the k-th pivot stands at (row[k], column[k]).
typedef struct LU {
    Matrix factors; // of a[row[i], column[j]]: L without its unit diagonal below, U above
    const uint32_t *row, *column;
} LU;
LU tr_lu(Matrix a, const uint32_t *row, const uint32_t *column); // keeps the two pointers
Matrix tr_lu_solve(LU lu, Matrix b);                             // A X = B

#endif
