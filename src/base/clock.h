// SPDX-License-Identifier: Apache-2.0
// How long things take.
#ifndef TR_BASE_CLOCK_H
#define TR_BASE_CLOCK_H

#include <time.h>

// Seconds since some moment in the past; only differences mean something.
static inline double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
