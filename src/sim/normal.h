// SPDX-License-Identifier: Apache-2.0
// Numbers that look random, and are functions of what they are asked for alone: the same on every
// machine, whoever asked before.
#ifndef TR_SIM_NORMAL_H
#define TR_SIM_NORMAL_H

#include <stdint.h>

// 64 bits for the k-th sample of this name and seed                                      (T322)
uint64_t tr_random_bits(double seed, const char *name, uint64_t k);
// A number of the normal distribution with mean 0 and deviation 1 for them
double tr_normal(uint64_t bits);
// What is exceeded downwards with probability p, 0 < p < 1
double tr_normal_quantile(double p);

#endif
