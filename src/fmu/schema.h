// SPDX-License-Identifier: Apache-2.0
// Whether elements and attributes are those that the standard has, and values what it asks for.
#ifndef TR_FMU_SCHEMA_H
#define TR_FMU_SCHEMA_H

#include "base/xml.h"
#include "fmu/finding.h"

// All of a tree; `version` is 2 or 3.
void tr_schema_check(const Xml *root, int version, Findings *findings);

// Values as attributes have them; false where they are none
bool tr_read_flag(const char *text, bool *value);        // true, false, 1, 0
bool tr_read_real(const char *text, double *value);      // also INF, -INF and NaN
bool tr_read_natural(const char *text, uint64_t *value); // 0 ... 2^64 - 1
// The next word of a list, as tr_read_... take it; false at its end. Longer ones are cut.
bool tr_next_word(const char **list, char word[64]);

#endif
