// SPDX-License-Identifier: Apache-2.0
// How near tests come to their bounds. Where TRUNDLE_MARGINS names a folder, every test writes
// there, for each place that compares an error with a bound, the largest share of the bound that
// the error took; tools/margins lists them.
#ifndef TR_TESTS_MARGIN_H
#define TR_TESTS_MARGIN_H

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Margin {
    const char *file;
    int line;
    double share, error, bound; // of the worst
} Margin;

enum { MOST_MARGINS = 1000 };
static struct {
    Margin at[MOST_MARGINS];
    int count;
} margins;

static inline void write_margins(void)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", getenv("TRUNDLE_MARGINS"), program_invocation_short_name);
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < margins.count; i++) {
        const Margin *m = &margins.at[i];
        const char *slash = strrchr(m->file, '/');
        fprintf(file, "%s:%d %.3g %.3g %.3g\n", slash ? slash + 1 : m->file, m->line, m->share,
                m->error, m->bound);
    }
    if (file) fclose(file);
}

static inline void keep_margin(const char *file, int line, double error, double bound)
{
    int i = 0;
    if (!getenv("TRUNDLE_MARGINS")) return;
    if (!margins.count) atexit(write_margins);
    while (i < margins.count && (margins.at[i].line != line || margins.at[i].file != file)) i++;
    if (i == MOST_MARGINS) return;
    if (i == margins.count) margins.at[margins.count++] = (Margin){.file = file, .line = line};
    const double share = error > 0 ? error / bound : 0;
    if (share >= margins.at[i].share) margins.at[i] = (Margin){file, line, share, error, bound};
}

static inline bool below_at(const char *file, int line, double error, double bound)
{
    keep_margin(file, line, error, bound);
    return error <= bound; // and no NaN
}

// An error is no larger than its bound
#define is_below(error, bound) below_at(__FILE__, __LINE__, (error), (bound))

#endif
