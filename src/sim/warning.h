// SPDX-License-Identifier: Apache-2.0
// What a run warns of: in its certificate, hence on its page, and of the first in the summary.
#ifndef TR_SIM_WARNING_H
#define TR_SIM_WARNING_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_WARNINGS = 1000, WARNING_SIZE = 300 };

typedef struct Warnings {
    size_t count;                // of all, also those that are not kept
    char (*words)[WARNING_SIZE]; // of the first ones
    uint32_t kept, capacity;
    void (*tell)(void *owner, const char *words); // whoever wants to hear of each; may be NULL
    void *owner;
} Warnings;

// False when memory runs out.
__attribute__((format(printf, 2, 3))) bool tr_warn(Warnings *warnings, const char *format, ...);
void tr_warnings_free(Warnings *warnings);

#endif
