// SPDX-License-Identifier: Apache-2.0
// Least squares of many rows: a triangle that has the squares of all of them, row by row.
//
//   R^T R = sum of a a^T over all rows a                                                    (T280)
//
// So nothing of the rows is kept but R, and no squares of slopes are ever formed. The same bits on
// every machine.
#ifndef TR_NUM_TRIANGLE_H
#define TR_NUM_TRIANGLE_H

#include <stdint.h>

// Turns a row into the triangle R, n * n by rows, which is zero below its diagonal. The row is room
// afterwards.
void tr_triangle_add(double *R, uint32_t n, double *row);
// All rows of another triangle, times a factor; `room` is for n numbers.
void tr_triangle_merge(double *R, uint32_t n, const double *other, double factor, double *room);
// The norm of a column of the triangle, which is that of a column of all rows.
double tr_triangle_norm(const double *R, uint32_t n, uint32_t column);

#endif
