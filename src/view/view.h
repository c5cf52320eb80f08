// SPDX-License-Identifier: Apache-2.0
// A report of rows that are there, with their certificate.
#ifndef TR_VIEW_VIEW_H
#define TR_VIEW_VIEW_H

#include "view/page.h"

bool tr_view_write(const System *system, const Sheet *run, Text certificate,
                   const tr_view_options *options, tr_view_summary *summary, tr_error *err);

#endif
