// SPDX-License-Identifier: Apache-2.0
// What a text in C consists of, as far as headers of arithmetic need it: words, and what they
// define: functions, macros, numbers, lists of numbers, structures of numbers. What is anything
// else is passed over.
#ifndef TR_GPU_WORDS_H
#define TR_GPU_WORDS_H

#include "gpu/ptx.h"

typedef enum WordKind { WORD_END, WORD_NAME, WORD_NUMBER, WORD_MARK, WORD_MACRO } WordKind;

typedef struct Word {
    WordKind kind;
    Text text;
    uint32_t skip; // of a macro: words of its body, which follow, and their end
} Word;

typedef enum Defines {
    DEFINES_FUNCTION,
    DEFINES_MACRO,
    DEFINES_NUMBER,
    DEFINES_LIST,
    DEFINES_STRUCTURE
} Defines;

enum { MOST_FIELDS = 8 };

typedef struct Definition {
    Defines what;
    Text name;
    uint32_t parameters, body; // words: behind "(", and the first of what it says
    bool has_parameters;       // of a macro
    Value value;               // of a number
    Value *list;
    uint32_t count; // of a list, of fields
    Text field[MOST_FIELDS];
    uint8_t kind[MOST_FIELDS];
    bool is_printed; // of a list
    bool is_global;  // where it is printed to
} Definition;

typedef struct Words {
    Word *at;
    uint32_t count, capacity;
    Definition *definitions;
    uint32_t definition_count, definition_capacity;
    bool is_single; // `double` is of single precision, while `instant` is not (T465)
    bool failed;
} Words;

// Adds a text, which stays where it is, and what it defines.
void tr_words_add(Words *words, Text text);
void tr_words_define(Words *words, const char *name, Value value);
void tr_words_list(Words *words, const char *name, const Value *values, uint32_t count);
void tr_words_free(Words *words);

Definition *tr_words_find(const Words *words, Text name);
// The word behind the one that closes the bracket at `open`
uint32_t tr_words_behind(const Words *words, uint32_t open);
bool tr_word_is(const Word *word, const char *text);
Value tr_word_number(const Word *word);
// What a type's name stands for; KIND_NONE of any other word
Kind tr_word_type(const Words *words, const Word *word);

#endif
