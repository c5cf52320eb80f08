// SPDX-License-Identifier: Apache-2.0
#include "base/options.h"

#include <assert.h>
#include <string.h>

enum { MOST_BYTES = 4096 }; // of options; a size above it was never set

// Whether all is zero that this library does not know
static bool asks_no_more(const char *given, size_t size, size_t known)
{
    for (size_t i = known; i < size; i++)
        if (given[i]) return false;
    return true;
}

bool tr_take_options(void *own, size_t known, const void *given, const char *defaults,
                     tr_error *err)
{
    if (has_failed(err)) return false;
    if (!given) return true;
    size_t size;
    memcpy(&size, given, sizeof size);
    if (size < sizeof size || size > MOST_BYTES) {
        tr_fail(err, TR_USAGE, (Place){0}, "options begin with %s()", defaults);
        return false;
    }
    if (!asks_no_more(given, size, known)) {
        tr_fail(err, TR_USAGE, (Place){0},
                "the options ask for something that this library, %s, does not know: those of "
                "%s() are older",
                tr_version(), defaults);
        return false;
    }
    memcpy(own, given, size < known ? size : known);
    memcpy(own, &known, sizeof known); // whole, and of this library
    return true;
}

void tr_give_options(void *given, size_t size, const void *own, size_t known)
{
    if (!given) return;
    assert(size >= sizeof size && size <= MOST_BYTES); // of a structure that begins with it
    memset(given, 0, size);
    memcpy(given, own, size < known ? size : known);
    memcpy(given, &size, sizeof size);
}
