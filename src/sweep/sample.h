// SPDX-License-Identifier: Apache-2.0
// Random samples that are functions of (seed, run number, name) alone, so that any run can be made
// anywhere, in any order, and again. (T440-T442)
#ifndef TR_SWEEP_SAMPLE_H
#define TR_SWEEP_SAMPLE_H

#include <stdint.h>

// Where i goes when 0 ... count - 1 are shuffled: found by itself, without a list of them. (T440)
uint64_t tr_shuffled(uint64_t key, uint64_t i, uint64_t count);

// Of a Latin hypercube of `count` samples: each of `count` equal parts of 0 ... 1 has one, in an
// order of its own for each name. `cell` tells hypercubes apart. (T441)
double tr_stratified(double seed, const char *name, uint64_t cell, uint64_t i, uint64_t count);

#endif
