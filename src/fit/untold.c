// SPDX-License-Identifier: Apache-2.0
// What the data cannot tell: directions d of values along which no column changes,
//
//   D d = v,   A D^-1 v = 0                                                                (T284)
//
// combined so that each has a value of its own that no other has, and said in words. Of two values
// it is seen what can be told of them: a quotient where both change by the same part, a product
// where by opposite parts, a difference or a sum likewise.
#include "base/number.h"
#include "fit/fit.h"
#include "num/dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SLIGHT 1e-4 // a part in a direction that is none, and of numbers that are equal

static bool are_alike(double a, double b) { return fabs(a - b) <= SLIGHT * (fabs(a) + fabs(b)); }

// ---- directions ----------------------------------------------------------------------------

// Changes of values, by rows; `own` gets the value that each has for itself.
static bool find_directions(Fit *f, uint32_t count, uint32_t *own)
{
    const size_t n = f->open_count;
    double *Z = calloc(n * count + 1, sizeof *Z); // by columns
    if (!Z) return false;
    for (size_t j = 0; j < count; j++)
        for (size_t k = 0; k < n; k++) Z[k * count + j] = f->Vt[(f->rank + j) * n + k];
    tr_give_rows(Z, (uint32_t)n, count, (uint32_t)n, 1e-3, own);
    for (size_t j = 0; j < count; j++)
        for (size_t k = 0; k < n; k++) {
            const double part = Z[k * count + j];
            const uint32_t of = f->open[k];
            f->untold_changes[j * f->count + of] = fabs(part) > SLIGHT ? part / f->norm[of] : 0;
        }
    free(Z);
    return true;
}

// ---- words ---------------------------------------------------------------------------------

static void add_names(const Fit *f, const double *d, Buffer *words)
{
    uint32_t left = 0;
    for (uint32_t k = 0; k < f->count; k++) left += d[k] != 0;
    for (uint32_t k = 0; k < f->count; k++) {
        if (d[k] == 0) continue;
        left--;
        tr_buffer_print(words, "'%s'%s", f->values[k].name, left > 1 ? ", " : left ? " and " : "");
    }
}

// 1 : 2.3 : ...
static void add_ratio(const Fit *f, const double *d, Buffer *words)
{
    double first = 0;
    for (uint32_t k = 0; k < f->count; k++) {
        char number[TR_NUMBER_SIZE];
        if (d[k] == 0) continue;
        if (first != 0) tr_buffer_print(words, " : ");
        if (first == 0) first = d[k];
        tr_number_print(tr_number_rounded(d[k] / first, 5), number);
        tr_buffer_print(words, "%s", number);
    }
}

// What stays as it is along a direction of two values a and b; NULL when it is nothing simple
static const char *kept_by(double a, double b, double da, double db)
{
    if (are_alike(da * b, db * a)) return "/";
    if (are_alike(da * b, -db * a)) return "*";
    if (are_alike(da, db)) return " - ";
    return are_alike(da, -db) ? " + " : NULL;
}

static void add_rest(const Fit *f, const double *d, Buffer *words)
{
    uint32_t two[2], count = 0;
    for (uint32_t k = 0; k < f->count; k++)
        if (d[k] != 0 && count++ < 2) two[count - 1] = k;
    if (count != 2) return;
    const char *kept = kept_by(f->now.p[two[0]], f->now.p[two[1]], d[two[0]], d[two[1]]);
    if (kept)
        tr_buffer_print(words, "; only %s%s%s can be told", f->values[two[0]].name, kept,
                        f->values[two[1]].name);
}

static const char *describe(Fit *f, const double *d)
{
    Buffer words = {0};
    uint32_t count = 0;
    for (uint32_t k = 0; k < f->count; k++) count += d[k] != 0;
    add_names(f, d, &words);
    if (count == 1)
        tr_buffer_print(&words, " cannot be told: hardly anything that was recorded depends on it");
    else {
        tr_buffer_print(&words, " cannot be told %s: nothing changes when they change together as ",
                        count == 2 ? "apart" : "from each other");
        add_ratio(f, d, &words);
        add_rest(f, d, &words);
    }
    const char *kept = words.failed ? NULL : tr_arena_text(&f->arena, words.at, words.length);
    tr_buffer_free(&words);
    return kept;
}

bool tr_fit_name_untold(Fit *f, tr_error *err)
{
    const uint32_t count = f->open_count - f->rank;
    uint32_t *own = calloc(count + 1u, sizeof *own);
    bool good = own && (!count || find_directions(f, count, own));
    for (uint32_t j = 0; good && j < count; j++) {
        const double *d = f->untold_changes + (size_t)j * f->count;
        f->untold[j] = describe(f, d);
        good = f->untold[j] != NULL;
        for (uint32_t k = 0; k < f->count; k++)
            if (d[k] != 0) f->values[k].sd = (double)INFINITY;
    }
    free(own);
    f->told.untold_count = good ? count : 0;
    if (!good) tr_fail_memory(err);
    return good;
}
