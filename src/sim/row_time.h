// SPDX-License-Identifier: Apache-2.0
// When rows are recorded: at 0, every, 2 every, ..., end.
#ifndef TR_SIM_ROW_TIME_H
#define TR_SIM_ROW_TIME_H

#include <stdbool.h>
#include <stdint.h>

// How many there are behind the first, at most a billion
double tr_row_intervals(double end, double every);
// Whether the last of these intervals is as long as the others: then times are parts of the end.
bool tr_row_divides(double end, double every);
// Time of row i of these; the last is `end`.
double tr_row_time(double end, double every, uint32_t i, uint32_t count);
// The largest fixed step that divides the time between rows and is not longer than asked for
double tr_row_step(double end, double every, double step);

#endif
