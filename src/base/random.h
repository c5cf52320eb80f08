// SPDX-License-Identifier: Apache-2.0
// Numbers that have nothing special about them, the same in every run.
#ifndef TR_BASE_RANDOM_H
#define TR_BASE_RANDOM_H

#include <stdint.h>

// The next one, from -1 to 1.
static inline double next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u; // Knuth and Lewis
    return (double)(*state >> 8) * 0x1p-23 - 1;
}

#endif
