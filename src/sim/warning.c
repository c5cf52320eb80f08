// SPDX-License-Identifier: Apache-2.0
#include "sim/warning.h"

#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tr_warn(Warnings *w, const char *format, ...)
{
    char words[WARNING_SIZE];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    w->count++;
    if (w->tell) w->tell(w->owner, words);
    if (w->kept == MOST_WARNINGS) return true;
    if (!tr_grow((void **)&w->words, &w->capacity, w->kept + 1, sizeof *w->words)) return false;
    memcpy(w->words[w->kept++], words, sizeof words);
    return true;
}

void tr_warnings_free(Warnings *w)
{
    free(w->words);
    *w = (Warnings){0};
}
