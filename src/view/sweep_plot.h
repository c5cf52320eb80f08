// SPDX-License-Identifier: Apache-2.0
// Pictures of the runs of a sweep, from its database.
#ifndef TR_VIEW_SWEEP_PLOT_H
#define TR_VIEW_SWEEP_PLOT_H

#include <trundle/trundle.h>

// What is kept against what varies, x: a line for each value of what else varies where these are
// few, else dots; against two, "A,B": in colours.
bool tr_plot_sweep(const tr_plot_options *options, tr_error *err);

#endif
