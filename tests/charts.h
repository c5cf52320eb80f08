// SPDX-License-Identifier: Apache-2.0
// Models with a line that is another, runs by other methods, and what their certificates say.
#ifndef TR_TESTS_CHARTS_H
#define TR_TESTS_CHARTS_H

#include "runs.h"

// ---- models --------------------------------------------------------------------------------

enum { MOST_TEXT = 8000 };

static inline void take_text(const char *path, char *text)
{
    char *all = read_text(path);
    assert_true(strlen(all) < MOST_TEXT);
    strcpy(text, all);
    free(all);
}

static inline void take_model(const char *name, char *text)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s.yaml", MODELS_DIR, name);
    take_text(path, text);
}

// In place of the line with the same key; else at the end
static inline void put_line(char *text, const char *line)
{
    char old[MOST_TEXT], key[60];
    snprintf(key, sizeof key, "\n%.*s:", (int)strcspn(line, ":"), line);
    memcpy(old, text, MOST_TEXT);
    char *found = strstr(old, key), *rest = found ? strchr(found + 1, '\n') : NULL;
    if (found) found[1] = 0;
    const int length = snprintf(text, MOST_TEXT, "%s%s%s", old, line, rest ? rest : "\n");
    assert_true(length < MOST_TEXT);
}

// With another line, if there is one
static inline tr_system *system_edited(const char *name, const char *case_name, const char *line)
{
    char text[MOST_TEXT];
    take_model(name, text);
    if (line) put_line(text, line);
    return system_of(model_from(text), case_name);
}

// ---- runs ----------------------------------------------------------------------------------

static inline tr_simulate_options by_steps(const tr_system *system, const char *method, double step)
{
    tr_simulate_options o = tr_simulate_defaults(system);
    o.method = method, o.step = step;
    return o;
}

static inline double certified(const char *key)
{
    char *text = certificate(), words[60];
    snprintf(words, sizeof words, "\n  \"%s\": ", key);
    const double number = number_behind(text, words);
    free(text);
    return number;
}

// ---- assembly ------------------------------------------------------------------------------

typedef struct FourBar {
    double a, b, c, ground; // [m]
    double th1, th2_rel, th3;
} FourBar;

static const FourBar bars = {.a = 0.4, .b = 0.9, .c = 0.7, .ground = 1};

// How far the end of the coupler is from that of the rocker
static inline double gap(const FourBar *f)
{
    const double th2 = f->th1 + f->th2_rel;
    return hypot(f->a * cos(f->th1) + f->b * cos(th2) - f->ground - f->c * cos(f->th3),
                 f->a * sin(f->th1) + f->b * sin(th2) - f->c * sin(f->th3));
}

#endif
