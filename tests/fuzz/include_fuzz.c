// SPDX-License-Identifier: Apache-2.0
// Model files that include each other, from arbitrary bytes: what stands before the first line
// "---" is main.yaml, what stands between others is part1.yaml, part2.yaml and part3.yaml beside
// it. They derive, or the error has a place in one of them; and the flat text says the same.
#include <trundle/trundle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096, MOST_PARTS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what, const char *about)
{
    if (holds) return;
    fprintf(stderr, "violated: %s\nabout: %s\n", what, about ? about : "");
    abort();
}

static void write_part(int k, const char *text, size_t length)
{
    char name[40];
    snprintf(name, sizeof name, k ? "part%d.yaml" : "main.yaml", k);
    FILE *file = fopen(name, "w");
    require(file != NULL, "a file can be written", name);
    fwrite(text, 1, length, file);
    fclose(file);
}

static void write_parts(const char *text)
{
    for (int k = 0; k < MOST_PARTS; k++) {
        const char *end = strstr(text, "\n---\n");
        const size_t length = end ? (size_t)(end - text) + 1 : strlen(text);
        write_part(k, text, length);
        text += end ? length + 4 : length;
    }
}

static void check_error(const tr_error *err)
{
    require(err->text[0] && strlen(err->text) < sizeof err->text, "an error has words", err->text);
    require(strlen(err->file) < sizeof err->file, "the name of a file ends", err->file);
    require(err->line >= 0 && err->column >= 0, "places are not negative", err->text);
    require(err->line <= LONGEST && err->column <= LONGEST, "the place is in a file", err->text);
    require(!err->line || err->column, "a line comes with a column", err->text);
}

// The flat text is the same model: it derives where the first did, and expands to itself.
static void check_flat(const char *flat, bool derives)
{
    tr_error err = {0};
    tr_model *model = tr_model_parse(flat, &err);
    require(model != NULL, "the flat text can be read", flat);
    char *again = tr_model_expand(model, NULL, &err);
    const char *own = *flat == '#' ? strchr(flat, '\n') + 1 : flat;
    require(again && strcmp(again, own) == 0, "the flat text expands to itself", flat);
    tr_system *system = tr_derive(model, NULL, &err);
    require((system != NULL) == derives, "both derive, or neither", err.text);
    tr_system_free(system);
    tr_model_free(model);
    tr_text_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LONGEST) return 0;
    char *text = calloc(size + 1, 1);
    if (!text) return 0;
    memcpy(text, data, size);
    write_parts(text);
    tr_error err = {0}, why = {0};
    tr_model *model = tr_model_read("main.yaml", &err);
    tr_system *system = tr_derive(model, NULL, &err);
    require((system == NULL) == (err.status != TR_OK), "a system or an error", err.text);
    if (err.status) check_error(&err);
    char *flat = tr_model_expand(model, NULL, &why);
    require(flat || why.status || !model, "a text or an error", why.text);
    require(flat || !system, "what derives expands", why.text);
    if (flat) check_flat(flat, system != NULL);
    tr_text_free(flat);
    tr_system_free(system);
    tr_model_free(model);
    free(text);
    return 0;
}
