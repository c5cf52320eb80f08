// SPDX-License-Identifier: Apache-2.0
// The exponential of a small matrix, by rows. The same bits on every machine.
#ifndef TR_NUM_EXPONENTIAL_H
#define TR_NUM_EXPONENTIAL_H

#include <stdbool.h>
#include <stdint.h>

// E = exp(t A), n * n; E may be A. It is not finite where the exponential is too
// large. False when there is no memory.
bool tr_exponential(const double *A, uint32_t n, double t, double *E);

#endif
