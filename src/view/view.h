// SPDX-License-Identifier: Apache-2.0
// A report of rows that are there, with their certificate.
#ifndef TR_VIEW_VIEW_H
#define TR_VIEW_VIEW_H

#include "view/page.h"

// What the caller has given: none where it is NULL.
bool tr_view_take(tr_view_options *own, const tr_view_options *given, tr_error *err);

bool tr_view_write(const Report *reports, size_t count, const tr_view_options *options,
                   tr_view_summary *summary, tr_error *err);

#endif
