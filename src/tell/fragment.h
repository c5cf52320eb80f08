// SPDX-License-Identifier: Apache-2.0
// What all files with keys of a case have that verbs write: where they are from, and `set:`.
#ifndef TR_TELL_FRAGMENT_H
#define TR_TELL_FRAGMENT_H

#include "base/text.h"
#include "expr/system.h"

// "# WHAT of model.yaml, case plain, with other.yaml": a comment of one line
void tr_fragment_origin(Buffer *out, const System *system, const char *what);
// "  name: 0.5"
void tr_fragment_pair(Buffer *out, const char *name, double value);
// `set:` with the values that the system was derived with, but for those that were found: what the
// rest of the file is right for. Whether there was one.
bool tr_fragment_settings(Buffer *out, const System *system, const char *const *found,
                          size_t found_count);

#endif
