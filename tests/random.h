// SPDX-License-Identifier: Apache-2.0
// Reproducible random numbers for tests.
#ifndef TR_TESTS_RANDOM_H
#define TR_TESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Random {
    uint64_t state; // not 0
} Random;

static inline uint64_t random_bits(Random *r)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return r->state * 0x2545f4914f6cdd1du;
}
static inline double random_between(Random *r, double low, double high)
{
    return low + (high - low) * ((double)(random_bits(r) >> 11) * 0x1p-53);
}
static inline uint32_t random_below(Random *r, uint32_t n)
{
    return (uint32_t)((random_bits(r) >> 32) * (uint64_t)n >> 32);
}
static inline double any(Random *r) { return random_between(r, -1, 1); }
static inline bool chance(Random *r, double p) { return random_between(r, 0, 1) < p; }

#endif
