// SPDX-License-Identifier: Apache-2.0
#include "fmu/finding.h"

#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tr_found(Findings *f, Weight weight, Place at, const char *format, ...)
{
    char words[600], shown[1000];
    f->of[weight]++;
    if (f->count >= MOST_FINDINGS) return;
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    tr_text_show(text_of(words), false, shown, sizeof shown);
    char *copy = strdup(shown);
    if (!copy || !tr_grow((void **)&f->list, &f->capacity, f->count + 1, sizeof *f->list)) {
        free(copy);
        f->failed = true;
        return;
    }
    f->list[f->count] = (Finding){.weight = weight, .at = at};
    f->list[f->count++].words = copy;
}

void tr_found_error(Findings *f, tr_error *err)
{
    if (!has_failed(err) || err->status == TR_FAILED) return;
    if (err->status == TR_NO_MEMORY)
        f->failed = true;
    else
        tr_found(f, WRECK, place_at(err->line, err->column), "%s", err->text);
    *err = (tr_error){0};
}

void tr_fmu_findings_free(Findings *f)
{
    for (uint32_t i = 0; i < f->count; i++) free(f->list[i].words);
    free(f->list);
    *f = (Findings){0};
}

void tr_fmu_findings_fail(const Findings *f, Weight weight, tr_error *err)
{
    if (has_failed(err)) return;
    if (f->failed) tr_fail_memory(err);
    for (uint32_t i = 0; i < f->count && !has_failed(err); i++)
        if (f->list[i].weight >= weight && f->list[i].at.line)
            tr_fail(err, TR_INVALID, (Place){0}, "modelDescription.xml:%d: %s", f->list[i].at.line,
                    f->list[i].words);
        else if (f->list[i].weight >= weight)
            tr_fail(err, TR_INVALID, (Place){0}, "%s", f->list[i].words);
}
