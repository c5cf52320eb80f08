// SPDX-License-Identifier: Apache-2.0
// Functions in C as PTX: the small part of C that headers of arithmetic are written in
// (expr/elementary.h, sim/glance.h). So a GPU has their operations from the same text as a CPU,
// one by one (T461). Functions stand where they are called; `for` is unrolled, so its counter is
// known and arrays are registers; `while` stays a loop.
#ifndef TR_GPU_TRANSLATE_H
#define TR_GPU_TRANSLATE_H

#include "gpu/words.h"

// What an expression is: a value, a structure of numbers, or an array from some entry on
typedef struct Thing {
    enum { THING_NONE, THING_VALUE, THING_STRUCTURE, THING_ARRAY } form;
    Value value;
    bool is_place;                // it can be set: cell
    uint32_t cell;                // of a structure or an array: the first
    const Definition *definition; // of a structure; of a list that never changes
    Value offset;                 // in that list
} Thing;

typedef struct Variable {
    Text name;
    Thing thing;
} Variable;

// A function within its call
typedef struct Frame {
    uint32_t first; // of its variables
    uint32_t depth; // of conditions and loops around what is written
    Thing result;
    bool has_returned; // for certain: what follows is not reached
    uint32_t end;      // label, 0: not needed so far
} Frame;

typedef struct Translation Translation;
// A function that is not written in C
typedef Thing Builtin(Translation *translation, void *owner, const Thing *arguments,
                      uint32_t count);

struct Translation {
    Words *words;
    Ptx *ptx;
    Buffer *lists;    // where lists are declared that are looked up at a known place only here
    size_t constants; // [bytes] of them in constant memory
    uint32_t at;      // the word
    Value *cells;
    uint32_t cell_count, cell_capacity;
    Variable *variables;
    uint32_t variable_count, variable_capacity;
    Frame frame;
    uint32_t leave, again; // labels of the loop around
    struct {
        const char *name;
        Builtin *function;
        void *owner;
    } builtins[24];
    uint32_t builtin_count;
    uint32_t nested; // calls
    bool no_memory;
    char failure[160];
};

void tr_translate_builtin(Translation *t, const char *name, Builtin *function, void *owner);
// A call; what it gives.
Thing tr_translate_call(Translation *t, const char *name, const Thing *arguments, uint32_t count);
// False when memory runs out. When it does later, `cells` still has a few to look at.
bool tr_translation_open(Translation *t);
void tr_translation_free(Translation *t);

static inline Thing thing_of(Value value) { return (Thing){.form = THING_VALUE, .value = value}; }
// Numbers that are set one after the other, as an array
uint32_t tr_translate_cells(Translation *t, Kind kind, uint32_t count);
static inline Thing thing_array(uint32_t cell)
{
    return (Thing){.form = THING_ARRAY, .cell = cell};
}
void tr_translate_fail(Translation *t, const char *words, Text about);
void tr_translate_no_memory(Translation *t);

#endif
