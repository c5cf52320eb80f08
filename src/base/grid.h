// SPDX-License-Identifier: Apache-2.0
// Grids of numbers: values at (x, y), read from text.
#ifndef TR_BASE_GRID_H
#define TR_BASE_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trundle/trundle.h>

typedef struct Grid {
    double *x, *y; // ascending
    double *z;     // z[i * ny + j] at (x[i], y[j])
    uint32_t nx, ny;
} Grid;

// A first row of y, behind a corner that may be anything, then rows of x and values, between
// commas. False, with the line in the error, when it is anything else; errors say nothing of what
// is in it.
bool tr_grid_csv(const char *text, size_t length, Grid *grid, tr_error *err);
// As ESRI writes them: ncols nrows xllcorner yllcorner cellsize NODATA_value, then rows from north
// to south. Values belong to the middles of cells.
bool tr_grid_asc(const char *text, size_t length, Grid *grid, tr_error *err);
void tr_grid_free(Grid *grid);

#endif
