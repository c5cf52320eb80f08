// SPDX-License-Identifier: Apache-2.0
// What every test includes: cmocka, and a few checks of its own.
#ifndef TR_TESTS_TEST_H
#define TR_TESTS_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "margin.h"
#include "random.h"

// Builds that are many times slower: under the sanitizers, and with counts of executed lines
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOW_BUILD 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TR_COVERAGE)
#define SLOW_BUILD 1
#endif
#ifndef SLOW_BUILD
#define SLOW_BUILD 0
#endif
// Long tests are shorter in those, and in `make test`, which leaves the rest of them to `make
// check`.
#ifdef TR_FULL
#define BRIEF SLOW_BUILD
#else
#define BRIEF 1
#endif

// |a - b| as a part of the larger one, or of 1
static inline double relative(double a, double b)
{
    return fabs(a - b) / fmax(1, fmax(fabs(a), fabs(b)));
}

// |a - b| <= tolerance * max(1, |a|, |b|); equal infinities and two NaNs count as close.
static inline bool close_at(const char *file, int line, double a, double b, double tolerance)
{
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    if (isinf(a) || isinf(b)) return a == b;
    return below_at(file, line, relative(a, b), tolerance);
}

#define is_close(a, b, tolerance) close_at(__FILE__, __LINE__, (a), (b), (tolerance))

#define assert_close(a, b, tolerance)                                       \
    do {                                                                    \
        const double close_a = (a), close_b = (b);                          \
        if (!is_close(close_a, close_b, (tolerance))) {                     \
            print_error("%s = %.17g is not %.17g\n", #a, close_a, close_b); \
            fail();                                                         \
        }                                                                   \
    } while (0)

// For errors; a bound that is no error's, such as a count or a time, is for assert_true.
#define assert_below(error, bound)                                                  \
    do {                                                                            \
        const double below_a = (error), below_b = (bound);                          \
        if (!is_below(below_a, below_b)) {                                          \
            print_error("%s = %.3g is more than %.3g\n", #error, below_a, below_b); \
            fail();                                                                 \
        }                                                                           \
    } while (0)

static inline void assert_says(const char *text, const char *words)
{
    assert_non_null(text);
    if (!strstr(text, words)) fail_msg("'%s' is not in\n%s", words, text);
}

// The number that stands behind some words
static inline double number_behind(const char *text, const char *words)
{
    const char *found = strstr(text, words);
    if (!found) fail_msg("'%s' is not in: %s", words, text);
    return strtod(found + strlen(words), NULL);
}

static inline bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

#endif
