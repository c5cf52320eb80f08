// SPDX-License-Identifier: Apache-2.0
// A stream of bits, the lowest of a byte first, in blocks: stored, or codes of literals and of
// pieces that were there before (RFC 1951). Codes of one length are consecutive numbers in the
// order of their symbols, so how many there are of each length, and the symbols in order, say all.
#include "base/inflate.h"

#include <string.h>

enum {
    LONGEST = 15, // [bits] of a code
    LITERALS = 288,
    DISTANCES = 30,
    LENGTH_CODES = 19,
    END = 256 // the symbol behind literals
};

typedef struct Stream {
    const uint8_t *at, *end;
    uint32_t bits; // taken from `at`, not used yet
    unsigned held; // so many
    bool bad;      // it ended too early
    uint8_t *to;
    size_t written, size;
} Stream;

typedef struct Codes {
    uint16_t count[LONGEST + 1];
    uint16_t symbol[LITERALS];
} Codes;

static uint32_t take_bits(Stream *s, unsigned count)
{
    while (s->held < count) {
        if (s->at == s->end) return s->bad = true, 0;
        s->bits |= (uint32_t)*s->at++ << s->held;
        s->held += 8;
    }
    const uint32_t value = s->bits & ((1u << count) - 1);
    s->bits >>= count;
    s->held -= count;
    return value;
}

// False where more codes are given than there is room for, or fewer, but for a single one
static bool make_codes(Codes *codes, const uint8_t *lengths, int count)
{
    memset(codes, 0, sizeof *codes);
    for (int i = 0; i < count; i++) codes->count[lengths[i]]++;
    const int used = count - codes->count[0];
    codes->count[0] = 0;
    int room = 1;
    uint16_t first[LONGEST + 2] = {0};
    for (int length = 1; length <= LONGEST; length++) {
        room = 2 * room - codes->count[length];
        if (room < 0) return false;
        first[length + 1] = (uint16_t)(first[length] + codes->count[length]);
    }
    for (int i = 0; i < count; i++)
        if (lengths[i]) codes->symbol[first[lengths[i]]++] = (uint16_t)i;
    return room == 0 || (used <= 1 && codes->count[1] == used);
}

// -1 where there is no such code
static int take_symbol(Stream *s, const Codes *codes)
{
    int code = 0, first = 0, before = 0;
    for (int length = 1; length <= LONGEST && !s->bad; length++) {
        code |= (int)take_bits(s, 1);
        const int count = codes->count[length];
        if (code - first < count) return codes->symbol[before + code - first];
        before += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    return -1;
}

static bool put_stored(Stream *s)
{
    s->bits = 0, s->held = 0; // the rest of the byte is left out
    if (s->end - s->at < 4) return false;
    const size_t length = s->at[0] | (size_t)s->at[1] << 8,
                 inverse = s->at[2] | (size_t)s->at[3] << 8;
    s->at += 4;
    if ((length ^ inverse) != 0xffff || length > (size_t)(s->end - s->at) ||
        length > s->size - s->written)
        return false;
    memcpy(s->to + s->written, s->at, length);
    s->at += length, s->written += length;
    return true;
}

// A piece that is there already, `length` bytes of it; it may run into itself.
static bool put_again(Stream *s, size_t distance, size_t length)
{
    if (s->bad || distance > s->written || length > s->size - s->written) return false;
    for (size_t i = 0; i < length; i++, s->written++)
        s->to[s->written] = s->to[s->written - distance];
    return true;
}

static bool put_coded(Stream *s, const Codes *literals, const Codes *distances)
{
    static const uint16_t length_of[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                         15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                         67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    enum { LENGTHS = sizeof length_bits };
    for (;;) {
        int symbol = take_symbol(s, literals);
        if (symbol == END) return true;
        if (symbol < 0 || (symbol < END && s->written == s->size)) return false;
        if (symbol < END) {
            s->to[s->written++] = (uint8_t)symbol;
            continue;
        }
        symbol -= END + 1;
        if (symbol >= LENGTHS) return false;
        const size_t length = length_of[symbol] + take_bits(s, length_bits[symbol]);
        const int far = take_symbol(s, distances);
        if (far < 0 || far >= DISTANCES) return false;
        // 1 2 3 4, then two for each number of further bits: 5 7, 9 13, 17 25 ...
        const unsigned more = far < 4 ? 0 : (unsigned)far / 2 - 1;
        const size_t from = far < 4 ? (size_t)far : (size_t)(2 + far % 2) << more;
        if (!put_again(s, from + 1 + take_bits(s, more), length)) return false;
    }
}

static bool put_fixed(Stream *s)
{
    uint8_t lengths[LITERALS], five[DISTANCES + 2];
    Codes literals, distances;
    memset(lengths, 8, 144), memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24), memset(lengths + 280, 8, 8);
    memset(five, 5, sizeof five);
    return make_codes(&literals, lengths, LITERALS) && make_codes(&distances, five, sizeof five) &&
           put_coded(s, &literals, &distances);
}

// The lengths of both kinds of codes, themselves in code: a length, or one repeated
static bool take_lengths(Stream *s, const Codes *codes, uint8_t *lengths, int count)
{
    for (int i = 0; i < count;) {
        const int symbol = take_symbol(s, codes);
        if (symbol < 0) return false;
        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 16 && i == 0) return false;
        const uint8_t again = symbol == 16 ? lengths[i - 1] : 0;
        const int times = symbol == 16   ? 3 + (int)take_bits(s, 2)
                          : symbol == 17 ? 3 + (int)take_bits(s, 3)
                                         : 11 + (int)take_bits(s, 7);
        if (s->bad || times > count - i) return false;
        memset(lengths + i, again, (size_t)times);
        i += times;
    }
    return true;
}

static bool put_dynamic(Stream *s)
{
    static const uint8_t order[LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                11, 4,  12, 3, 13, 2, 14, 1, 15};
    const int literal_count = 257 + (int)take_bits(s, 5), distance_count = 1 + (int)take_bits(s, 5);
    const int length_count = 4 + (int)take_bits(s, 4);
    uint8_t lengths[LITERALS + DISTANCES] = {0}, of_lengths[LENGTH_CODES] = {0};
    Codes codes, literals, distances;
    if (s->bad || literal_count > 286 || distance_count > DISTANCES) return false;
    for (int i = 0; i < length_count; i++) of_lengths[order[i]] = (uint8_t)take_bits(s, 3);
    return !s->bad && make_codes(&codes, of_lengths, LENGTH_CODES) &&
           take_lengths(s, &codes, lengths, literal_count + distance_count) && lengths[END] &&
           make_codes(&literals, lengths, literal_count) &&
           make_codes(&distances, lengths + literal_count, distance_count) &&
           put_coded(s, &literals, &distances);
}

bool tr_inflate(const uint8_t *from, size_t length, uint8_t *to, size_t size)
{
    Stream s = {.at = from, .end = from + length, .to = to, .size = size};
    bool is_last = false;
    while (!is_last) {
        is_last = take_bits(&s, 1);
        const uint32_t kind = take_bits(&s, 2);
        const bool good = !s.bad && (kind == 0   ? put_stored(&s)
                                     : kind == 1 ? put_fixed(&s)
                                     : kind == 2 ? put_dynamic(&s)
                                                 : false);
        if (!good || s.bad) return false;
    }
    return s.written == size && s.at == s.end;
}

uint32_t tr_crc32(const void *bytes, size_t length)
{
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
    uint32_t crc = 0xffffffffu;
    for (const uint8_t *at = bytes, *end = at + length; at < end; at++)
        crc = crc >> 8 ^ table[(crc ^ *at) & 0xff];
    return ~crc;
}
