// SPDX-License-Identifier: Apache-2.0
// Numbers as text and back, bit for bit, whatever the locale and the rounding mode.
#ifndef TR_BASE_NUMBER_H
#define TR_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

enum { TR_NUMBER_SIZE = 32 }; // [bytes] enough for any printed number and its terminating zero

// Writes the shortest decimal that reads back as `value`; of several, the one closest to it.
// 0.0001 <= |value| < 1e16 gives plain decimals (12345, 0.001), the rest 1.5e-7, 1e300; also -0,
// inf, -inf, nan. Terminates with a zero and returns the length without it.
size_t tr_number_print(double value, char out[TR_NUMBER_SIZE]);

// Reads the longest prefix of `text` that is an unsigned decimal number (1, 1., .5, 1.5e-7) and
// rounds it correctly, ties to even; too large is inf, too small 0. `text` needs no terminating
// zero. False, and nothing stored, when no number stands there.
bool tr_number_read(const char *text, size_t length, size_t *used, double *value);

// The value to so many digits, at most 17
double tr_number_rounded(double value, int digits);

#endif
