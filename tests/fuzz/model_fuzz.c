// SPDX-License-Identifier: Apache-2.0
// Model files from arbitrary bytes. A wrong one must say what is wrong and where; a right one must
// derive or say why not, and a system of few velocities must evaluate at its initial instant.
#include <trundle/trundle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 8192, MOST_INPUTS = 40 }; // [bytes] of input; of a system that is evaluated

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what, const char *about)
{
    if (holds) return;
    fprintf(stderr, "violated: %s\nabout: %s\n", what, about ? about : "");
    abort();
}

static int line_count(const char *text)
{
    int lines = 1;
    for (; *text; text++) lines += *text == '\n' || *text == '\r' || (*text & 0x80); // U+2028
    return lines;
}

static void check_error(const tr_error *err, const char *text)
{
    require(err->text[0], "an error has words", "");
    require(strlen(err->text) < sizeof err->text, "the words end", "");
    require(err->status >= TR_FAILED && err->status <= TR_INVALID, "the user's fault", err->text);
    require(err->line >= 0 && err->column >= 0, "places are not negative", err->text);
    require(!err->line || err->column, "a line comes with a column", err->text);
    require(err->line <= line_count(text), "the line is in the file", err->text);
    require((size_t)err->column <= strlen(text) + 2, "the column is in the file", err->text);
}

// What `trundle eval --json` prints: braces must match outside strings.
static void check_json(const char *json)
{
    int depth = 0;
    bool quoted = false;
    for (const char *at = json; *at; at++) {
        if (*at == '\\' && quoted)
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted)
            depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        require(depth >= 0 && *at, "brackets open first", json);
    }
    require(!depth && !quoted, "what is opened is closed", json);
}

static void evaluate(tr_system *system, const char *text)
{
    tr_error err = {0};
    char *json = tr_eval_text(system, true, &err);
    require((json == NULL) == (err.status != TR_OK), "a text or an error", err.text);
    if (json)
        check_json(json);
    else
        check_error(&err, text);
    tr_text_free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LONGEST) return 0;
    char *text = calloc(size + 1, 1);
    if (!text) return 0;
    memcpy(text, data, size); // ends at the first zero

    tr_error err = {0};
    tr_model *model = tr_model_parse(text, &err);
    require((model == NULL) == (err.status != TR_OK), "a model or an error", err.text);
    tr_system *system = tr_derive(model, NULL, &err);
    require((system == NULL) == (err.status != TR_OK), "a system or an error", err.text);
    tr_model_free(model); // the system must not need it
    if (err.status)
        check_error(&err, text);
    else if (tr_input_count(system) <= MOST_INPUTS)
        evaluate(system, text);
    tr_system_free(system);
    free(text);
    return 0;
}
