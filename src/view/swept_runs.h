// SPDX-License-Identifier: Apache-2.0
// What the page of a sweep knows of all its runs: a table of numbers, with which of them it can
// show.
#ifndef TR_VIEW_SWEPT_RUNS_H
#define TR_VIEW_SWEPT_RUNS_H

#include <trundle/trundle.h>

#include "base/json.h"

// Of the database that the options name; at most MOST_SWEPT of them, evenly spread, and those that
// the page can show.
void tr_describe_swept_runs(Json *j, const tr_view_options *options, tr_error *err);

#endif
