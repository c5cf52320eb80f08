// SPDX-License-Identifier: Apache-2.0
#include "sweep/sample.h"

#include "sim/normal.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

// ---- shuffling -------------------------------------------------------------------------- (T440)

enum { ROUNDS = 8 };

// The finaliser of SplitMix64
static uint64_t mixed(uint64_t x)
{
    x ^= x >> 30, x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27, x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// A Feistel network on 2 `bits` bits: (a, b) -> (b, a + F(b)) has an inverse whatever F is.
static uint64_t scrambled(uint64_t key, uint64_t i, unsigned bits)
{
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    uint64_t a = i >> bits, b = i & mask;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const uint64_t c = (a ^ mixed(key + mixed(b + (round << 32)))) & mask;
        a = b, b = c;
    }
    return a << bits | b;
}

// Of what is scrambled among at most 4 `count` numbers, the first below `count` on the way on
uint64_t tr_shuffled(uint64_t key, uint64_t i, uint64_t count)
{
    unsigned bits = 1;
    assert(i < count);
    while (bits < 31 && (uint64_t)1 << 2 * bits < count) bits++;
    do i = scrambled(key, i, bits);
    while (i >= count);
    return i;
}

// ---- samples ---------------------------------------------------------------------------- (T441)

// u = (pi(i) + r) / n, r in (0, 1)
double tr_stratified(double seed, const char *name, uint64_t cell, uint64_t i, uint64_t count)
{
    char order[160], place[160];
    snprintf(order, sizeof order, "order of %.120s", name);
    snprintf(place, sizeof place, "place of %.120s", name);
    const uint64_t at = tr_shuffled(tr_random_bits(seed, order, cell), i, count);
    const uint64_t bits = tr_random_bits(seed, place, cell * count + i);
    const double r = ((double)(bits >> 12) + 0.5) * 0x1p-52;
    return fmin(((double)at + r) / (double)count, 1 - 0x1p-53); // which rounding may reach
}
