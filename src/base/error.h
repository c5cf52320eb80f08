// SPDX-License-Identifier: Apache-2.0
// Errors that are the user's: a status, a place in the text that was written, and words. The first
// error wins, so a pipeline of calls is checked once at its end.
#ifndef TR_BASE_ERROR_H
#define TR_BASE_ERROR_H

#include "base/text.h"

#include <trundle/trundle.h>

#include <stdint.h>

// Where something stands in a file; 0 means unknown. Columns count characters, from 1.
typedef struct Place {
    int line;
    int column;
    const struct Origin *in; // NULL: the model file, or whatever else is being read
} Place;

static inline Place place_at(int line, int column)
{
    return (Place){.line = line, .column = column};
}

// A file that another one includes
typedef struct Origin {
    const char *file;                // as it can be opened
    const char *by, *as;             // the file that includes it, and what its names begin with
    Place at;                        // where that stands in `by`
    const struct Spelling *spelling; // of one value; NULL: as in the file
} Origin;

// How a value was written before names in it were changed, so that columns stay those of the file
typedef struct Spelling {
    int column; // where the value begins
    uint32_t count;
    const struct Respelt {
        int at, now, was;          // so many characters of the value, `now` of them for `was`
    } * names;                     // in their order
    const struct Spelling *before; // the names had been changed once already
} Spelling;

// Records the error unless one is recorded already, as it can be shown anywhere. `err` may be NULL.
__attribute__((format(printf, 4, 5))) void tr_fail(tr_error *err, tr_status status, Place at,
                                                   const char *format, ...);

// The same error under other words, at the place that it has.
__attribute__((format(printf, 3, 4))) void tr_fail_again(tr_error *err, const tr_error *why,
                                                         const char *format, ...);

// " (corner.yaml, line 3)": where something stands that an error at another place speaks of. Empty
// where that is not known, or the same line.
enum { TR_PLACE_SHOWN = 160 };
void tr_place_told(Place there, Place at, char words[TR_PLACE_SHOWN]);

// What names of an included file's copy begin with: "front_left_"; empty where it was not included
enum { TR_PREFIX_SHOWN = 200 };
void tr_origin_prefix(const Origin *origin, char prefix[TR_PREFIX_SHOWN]);

// Records that memory ran out.
void tr_fail_memory(tr_error *err);

// True when an earlier call of the pipeline has failed.
static inline int has_failed(const tr_error *err) { return err && err->status != TR_OK; }

#ifdef __clang_analyzer__ // does not look into other files: an error is recorded there
static inline void is_recorded(tr_error *err)
{
    __builtin_assume(err != NULL);
    if (err->status == TR_OK) err->status = TR_FAILED;
}
#define tr_fail(err, ...)       ((tr_fail)(err, __VA_ARGS__), is_recorded(err))
#define tr_fail_again(err, ...) ((tr_fail_again)(err, __VA_ARGS__), is_recorded(err))
#define tr_fail_memory(err)     ((tr_fail_memory)(err), is_recorded(err))
#endif

// A buffer's text as it can be shown anywhere, to be freed by the caller; after an error NULL,
// and the buffer is freed.
char *tr_text_finish(Buffer *text, tr_error *err);

#endif
