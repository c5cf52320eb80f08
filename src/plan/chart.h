// SPDX-License-Identifier: Apache-2.0
// Which rows are solved for which velocities: the partition that `reduce` works with, chosen where
// the system stands, and how good it still is where the system has come to.
#ifndef TR_PLAN_CHART_H
#define TR_PLAN_CHART_H

#include "plan/stance.h"
#include "reduce/reduce.h"

typedef struct Chart {
    const System *system;
    uint32_t rows;     // constraints: the first of system->rows
    uint32_t m;        // that are independent [B: m]
    uint32_t m_locked; // while motion-driven joints stand still [B: m°]
    uint32_t passive;  // velocities that are not motion-driven; m_locked of them depend on others
    Partition partition;
    bool *hyperstatic; // by row: its reaction is not unique
    uint32_t *surplus; // rows that are no pivots
    uint32_t surplus_count;
    bool *antagonist;   // of each: it does not follow from others when driven joints move
    double *dependence; // of each: by row, how much of it is in it
    double *shares;     // the same of the model's own rows, for words
} Chart;

Chart *tr_chart_new(const Stance *stance, tr_error *err);
Chart *tr_chart_empty(const System *system, uint32_t rows, tr_error *err); // to be filled in
void tr_chart_free(Chart *chart);
bool tr_chart_equal(const Chart *a,
                    const Chart *b); // the same pivots in the same order, and antagonists
// Whether one that is made here has the same pivots, unless the rank is another.
bool tr_chart_stays(const Chart *chart, const Stance *stance, tr_error *err);

// How many of the velocities and speeds that the model prefers are independent.
uint32_t tr_chart_preferred(const Chart *chart);

// How the elimination goes with these pivots: how much dependent velocities exceed independent ones
// (in the mass metric), the smallest pivot of scaled rows, and the sign of their product.
typedef struct Quality {
    double tilt, least;
    int sign;
} Quality;
Quality tr_chart_quality(const Chart *chart, const Stance *stance);
// The same from what a run watches (see WatchPlaces): squares of sizes, which the stance takes
// note of, pivots of rows that are not scaled, and the tilt.
Quality tr_chart_watched(const Chart *chart, Stance *stance, const double *squares,
                         const double *pivots, double tilt);

// Whether a row is a surplus row or one that it depends on.
bool tr_chart_in_group(const Chart *chart, uint32_t surplus, uint32_t row);
// "'front.lateral', 'rear.lateral'": a surplus row and those it depends on.
void tr_chart_name_group(const Chart *chart, uint32_t surplus, char *line, size_t size);

// Whether a surplus row holds that is off by so much, where terms of this size cancel in it; else
// words in err.
#define DOES_ROW_HOLD(off, size) ((off) <= 1e-7 * (size) + 1e-12)
bool tr_chart_agrees(const Chart *chart, uint32_t surplus, double off, double size, double t,
                     tr_error *err);

#endif
