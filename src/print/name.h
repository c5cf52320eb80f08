// SPDX-License-Identifier: Apache-2.0
// Names of symbols, as each language writes them.
#ifndef TR_PRINT_NAME_H
#define TR_PRINT_NAME_H

#include "expr/system.h"

// What a name is made of: "hip_2" of "left" is hip, with 2 and left below; of a rate the dots above
typedef struct NameParts {
    Text base, below, owner;
    int dots;
    const char *greek; // "theta" where the base is such a letter, else NULL
} NameParts;

enum { TR_LOOK_SIZE = 420 };

// Names look alike in print where this is the same: "k_1" as "k1", "g_" as "g"
void tr_name_look(const char *name, char look[TR_LOOK_SIZE]);
NameParts tr_name_parts(const System *system, uint32_t input);
// In formulas: the name, and a dash for each dot
void tr_name_text(const System *system, uint32_t input, Buffer *text);

#endif
