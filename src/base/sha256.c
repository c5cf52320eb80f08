// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <string.h>

enum { BLOCK = TR_SHA256_BLOCK, ROUNDS = 64 };

// The first 32 bits behind the point of the cube roots of the first 64 primes
static const uint32_t K[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turned(uint32_t x, int right) { return x >> right | x << (32 - right); }

// The message schedule W, then 64 rounds on a..h
static void digest_block(uint32_t H[8], const unsigned char *block)
{
    uint32_t W[ROUNDS];
    for (int i = 0; i < 16; i++, block += 4)
        W[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
               block[3];
    for (int i = 16; i < ROUNDS; i++) {
        const uint32_t before = W[i - 15], last = W[i - 2];
        W[i] = W[i - 16] + W[i - 7] + (turned(before, 7) ^ turned(before, 18) ^ before >> 3) +
               (turned(last, 17) ^ turned(last, 19) ^ last >> 10);
    }
    uint32_t a = H[0], b = H[1], c = H[2], d = H[3], e = H[4], f = H[5], g = H[6], h = H[7];
    for (int i = 0; i < ROUNDS; i++) {
        const uint32_t choose = (e & f) ^ (~e & g), most = (a & b) ^ (a & c) ^ (b & c);
        const uint32_t first =
            h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + choose + K[i] + W[i];
        const uint32_t second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + most;
        h = g, g = f, f = e, e = d + first;
        d = c, c = b, b = a, a = first + second;
    }
    H[0] += a, H[1] += b, H[2] += c, H[3] += d;
    H[4] += e, H[5] += f, H[6] += g, H[7] += h;
}

void tr_sha256_begin(Sha256 *sha)
{
    *sha = (Sha256){.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                          0x1f83d9ab, 0x5be0cd19}};
}

void tr_sha256_add(Sha256 *sha, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    while (length) {
        const size_t held = sha->length % BLOCK;
        size_t taken = BLOCK - held;
        if (held == 0 && length >= BLOCK)
            digest_block(sha->h, at);
        else {
            if (taken > length) taken = length;
            memcpy(sha->left + held, at, taken);
            if (held + taken == BLOCK) digest_block(sha->h, sha->left);
        }
        sha->length += taken, at += taken, length -= taken;
    }
}

void tr_sha256_end(const Sha256 *sha, char hex[TR_SHA256_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    uint32_t h[8];
    const size_t left = sha->length % BLOCK, size = left + 9 > BLOCK ? 2 * BLOCK : BLOCK;
    unsigned char tail[2 * BLOCK] = {0}; // what is left, a one bit, and the length in bits
    memcpy(h, sha->h, sizeof h);
    memcpy(tail, sha->left, left);
    tail[left] = 0x80;
    for (size_t i = 0; i < 8; i++) tail[size - 1 - i] = (unsigned char)(8 * sha->length >> 8 * i);
    for (size_t i = 0; i < size; i += BLOCK) digest_block(h, tail + i);
    for (int i = 0; i < 64; i++) hex[i] = digits[h[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[64] = 0;
}

void tr_sha256(const void *bytes, size_t length, char hex[TR_SHA256_SIZE])
{
    Sha256 sha;
    tr_sha256_begin(&sha);
    tr_sha256_add(&sha, bytes, length);
    tr_sha256_end(&sha, hex);
}
