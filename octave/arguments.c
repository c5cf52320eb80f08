// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef MATLAB_MEX_FILE
#define mxArrayToString mxArrayToUTF8String
#endif

void give_up(const char *format, ...)
{
    char text[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    mexErrMsgIdAndTxt("trundle:usage", "%s", text);
    abort(); // not reached
}

// ---- single things -------------------------------------------------------------------------

const char *take_text(const mxArray *array, const char *what)
{
    const bool is_row = array && mxIsChar(array) && mxGetNumberOfDimensions(array) == 2 &&
                        (mxGetM(array) == 1 || mxGetNumberOfElements(array) == 0);
    if (!is_row) give_up("%s is to be a text", what);
    const char *text = mxGetNumberOfElements(array) ? mxArrayToString(array) : "";
    if (!text) give_up("out of memory");
    if (strlen(text) < mxGetNumberOfElements(array))
        give_up("%s has a character in it that no text has", what);
    return text;
}

double take_number(const mxArray *array, const char *what)
{
    const bool is_number = array && (mxIsNumeric(array) || mxIsLogical(array)) &&
                           !mxIsComplex(array) && !mxIsSparse(array) &&
                           mxGetNumberOfElements(array) == 1;
    if (!is_number) give_up("%s is to be one number", what);
    const double value = mxGetScalar(array);
    if (isnan(value)) give_up("%s is NaN, which is not finite", what);
    return value;
}

static bool take_flag(const mxArray *array, const char *what)
{
    const double value = take_number(array, what);
    if (value != 0 && value != 1) give_up("%s is to be true or false", what);
    return value != 0;
}

static const mxArray *take_matrix(const mxArray *array, const char *what)
{
    if (!array || !mxIsDouble(array) || mxIsComplex(array) || mxIsSparse(array) ||
        mxGetNumberOfDimensions(array) != 2)
        give_up("%s is to be a matrix of numbers", what);
    return array;
}

char *print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = mxMalloc((size_t)length + 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

// A formula, or a number as one
static const char *take_formula(const mxArray *array, const char *what)
{
    if (array && mxIsChar(array)) return take_text(array, what);
    if (!array || !(mxIsNumeric(array) || mxIsLogical(array)))
        give_up("%s is to be a number, or a text with a formula", what);
    const double value = take_number(array, what);
    if (!isfinite(value)) give_up("%s is not finite", what);
    return print("%.17g", value);
}

void as_field(const char *name, char *field, size_t size)
{
    snprintf(field, size < 64 ? size : 64, "%s", name);
    for (char *at = field; *at; at++)
        if (strchr(".()/", *at)) *at = '_';
}

// ---- many things ---------------------------------------------------------------------------

Pairs take_pairs(const mxArray *array, const char *what)
{
    Pairs pairs = {NULL, 0};
    if (array && mxIsStruct(array) && mxGetNumberOfElements(array) == 1) {
        pairs.count = (size_t)mxGetNumberOfFields(array);
        pairs.pair = mxCalloc(pairs.count + 1, sizeof *pairs.pair);
        for (int i = 0; i < mxGetNumberOfFields(array); i++) {
            const char *name = mxGetFieldNameByNumber(array, i);
            pairs.pair[i].name = print("%s", name);
            pairs.pair[i].formula =
                take_formula(mxGetFieldByNumber(array, 0, i), print("%s: '%s'", what, name));
        }
    } else if (array && mxIsCell(array) && mxGetNumberOfElements(array) % 2 == 0) {
        pairs.count = mxGetNumberOfElements(array) / 2;
        pairs.pair = mxCalloc(pairs.count + 1, sizeof *pairs.pair);
        for (size_t i = 0; i < pairs.count; i++) {
            const char *name = take_text(mxGetCell(array, 2 * i), print("%s: a name", what));
            pairs.pair[i].name = name;
            pairs.pair[i].formula =
                take_formula(mxGetCell(array, 2 * i + 1), print("%s: '%s'", what, name));
        }
    } else {
        give_up("%s is to be a struct, or a cell {name, value, ...}", what);
    }
    return pairs;
}

static Words take_words(const mxArray *array, const char *what)
{
    Words words = {NULL, 0};
    if (array && mxIsStruct(array)) { // NAME=VALUE
        const Pairs pairs = take_pairs(array, what);
        words.word = mxCalloc(pairs.count + 1, sizeof *words.word);
        for (; words.count < pairs.count; words.count++)
            words.word[words.count] =
                print("%s=%s", pairs.pair[words.count].name, pairs.pair[words.count].formula);
    } else if (array && mxIsCell(array)) {
        words.word = mxCalloc(mxGetNumberOfElements(array) + 1, sizeof *words.word);
        for (; words.count < mxGetNumberOfElements(array); words.count++)
            words.word[words.count] = take_text(mxGetCell(array, words.count), what);
    } else {
        words.word = mxCalloc(1, sizeof *words.word);
        words.word[words.count++] = take_text(array, what);
    }
    return words;
}

// Names with commas or blanks between are several.
static Words take_names(const mxArray *array, const char *what)
{
    const Words given = take_words(array, what);
    size_t most = 1;
    for (size_t i = 0; i < given.count; i++) most += strlen(given.word[i]);
    Words names = {mxCalloc(most, sizeof *names.word), 0};
    for (size_t i = 0; i < given.count; i++) {
        char *rest = print("%s", given.word[i]);
        for (char *name = strtok(rest, ", "); name; name = strtok(NULL, ", "))
            names.word[names.count++] = name;
    }
    return names;
}

static const char *take_joined(const mxArray *array, const char *what)
{
    if (!array || mxIsChar(array)) return take_text(array, what);
    const Words words = take_words(array, what);
    const char *joined = words.count ? words.word[0] : "";
    for (size_t i = 1; i < words.count; i++) joined = print("%s,%s", joined, words.word[i]);
    return joined;
}

// ---- options -------------------------------------------------------------------------------

static bool is_among(const char *word, const char *list)
{
    const size_t length = strlen(word);
    if (!length || strchr(word, ' ')) return false;
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
    return false;
}

static void refuse_name(const char *name, const char *known)
{
    const char *candidates[64];
    size_t count = 0;
    for (char *at = strtok(print("%s", known), " "); at && count < 64; at = strtok(NULL, " "))
        candidates[count++] = at;
    const char *nearest = tr_nearest(name, candidates, count);
    char shown[100];
    tr_shown(name, shown, sizeof shown);
    if (!count) give_up("there are no options here, and no '%s'", shown);
    if (nearest) give_up("there is no option '%s' here: is '%s' meant?", shown, nearest);
    give_up("there is no option '%s' here: there are %s", shown, known);
}

Options take_options(const mxArray *const *array, int count, const char *known)
{
    Options o;
    memset(&o, 0, sizeof o);
    o.order = o.end = o.every = o.step = o.rtol = o.atol = o.most_steps = (double)NAN;
    o.from = o.to_time = o.most_iterations = (double)NAN;
    if (count == 1 && mxIsChar(array[0]) && !is_among(take_text(array[0], "the option"), known))
        refuse_name(take_text(array[0], "the option"), known);
    if (count % 2) give_up("options are names and values, one after the other");
    for (int i = 0; i < count; i += 2) {
        const char *name = take_text(array[i], "the name of an option");
        if (!is_among(name, known)) refuse_name(name, known);
#define TAKE_TEXT   take_joined
#define TAKE_NUMBER take_number
#define TAKE_FLAG   take_flag
#define TAKE_WORDS  take_words
#define TAKE_NAMES  take_names
#define TAKE_PAIRS  take_pairs
#define TAKE_MATRIX take_matrix
#define READ(member, word, kind) \
    if (strcmp(name, word) == 0) o.member = TAKE_##kind(array[i + 1], "'" word "'");
        TRUNDLE_OPTIONS(READ)
#undef READ
    }
    return o;
}
