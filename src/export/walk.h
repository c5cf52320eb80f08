// SPDX-License-Identifier: Apache-2.0
// The one walk over what is printed: a function of the code becomes statements of a language, which
// is a table of phrases. Long functions are divided into parts of so many operations; what one part
// finds and another needs is kept in the workspace w.
#ifndef TR_EXPORT_WALK_H
#define TR_EXPORT_WALK_H

#include "export/code.h"

// How tight an expression binds, from loose to tight.
typedef enum Level {
    LEVEL_CHOICE,
    LEVEL_RELATION,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_SIGN,
    LEVEL_ATOM
} Level;

// "%a + %b": operands that bind less tightly than they need to get brackets. "%?" is the first
// operand as a condition.
typedef struct Phrase {
    const char *text;
    uint8_t level, need[3];
} Phrase;

typedef struct Tongue {
    const Phrase *phrases;  // by code; relations as conditions
    const char *truth;      // of a relation as a number: one %s
    const char *is_true;    // of a number as a condition: one %s
    const char *keep;       // a name and its value, two %s
    const char *set;        // an entry and its value, two %s
    const char *note;       // behind a statement, one %s
    const char *entry;      // of an array: its name %s and the number %u
    uint32_t first;         // entry of an array
    const char *number_end; // behind a number: "f"
    const char *infinity, *nan;
    const char *table;  // number of the table %u, order %d, arguments %s, %s
    uint32_t most;      // operations of a part
    bool is_whole_real; // 1 is 1.0
} Tongue;

// What a part uses besides arguments, a bit for each: w, and whether it sets anything
enum { USES_ROOM = 1u << ARGUMENT_COUNT, SETS_ENTRIES = USES_ROOM << 1 };
#define WHOLE UINT32_MAX // in place of the number of a part

typedef struct Written {
    uint32_t parts;
    uint32_t uses; // of all parts
    uint32_t room; // numbers in w
} Written;

// The statements of a function; what is set is called `array`. Parts begin and end by calls.
typedef struct Walk {
    const Export *code;
    const Tongue *tongue;
    Buffer *out;
    void (*open_part)(struct Walk *walk, uint32_t part, uint32_t uses);
    void (*close_part)(struct Walk *walk, uint32_t part);
    const char *name, *array; // of the function, and what it sets
    const CodeNames *entries; // names of what is set, for notes; or NULL
    const char *prime;        // behind these
    void *owner;
} Walk;
const char *tr_argument_name(Argument which);
Written tr_walk(Walk *walk, const CodeFunction *function);

// A number, as the language has it
void tr_walk_number(Buffer *out, const Tongue *tongue, double value, bool is_single);

#endif
