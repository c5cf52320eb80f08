// SPDX-License-Identifier: Apache-2.0
// The ground that a recorded run went over, where its model is to be had and it is not flat.
#ifndef TR_VIEW_LAND_H
#define TR_VIEW_LAND_H

#include "base/text.h"

#include <trundle/trundle.h>

typedef struct Land Land;

// The model that the certificate of a run names, beside the run or in the working folder, if it is
// still the same. NULL, and no error but that of memory, where there is nothing to be drawn.
Land *tr_land_of(const char *run, const char *model_file, const char *model_sha256, tr_error *err);
// Of this file, with the case and the settings of the run; whether it is another than the
// certificate has, where that says. An error when it cannot be read; NULL without one when its
// ground is flat.
Land *tr_land_read(const char *run, const char *model, const char *model_sha256, bool *has_changed,
                   tr_error *err);
void tr_land_free(Land *land);

// How high it is over a place of the world [m]; not finite where it is not known
double tr_land_height(Land *land, double x, double y);

#endif
