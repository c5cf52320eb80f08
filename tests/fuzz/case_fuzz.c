// SPDX-License-Identifier: Apache-2.0
// Files of --with from arbitrary bytes, for a model that has something of everything that they may
// speak of. A wrong one must say what is wrong, with a place in it or in the model; with a right
// one the model derives, and is evaluated where it starts.
#include <trundle/trundle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096 };

static const char model_text[] =
    "trundle: 1\n"
    "parameters: {m: 1, l: {value: 0.5, min: 0.1}}\n"
    "inputs: {push: 0, wanted: sin(t)}\n"
    "bodies:\n"
    "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: m}\n"
    "  pole: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: tilt}, mass: "
    "m,\n"
    "    com: \"0, 0, -l\"}\n"
    "  ball: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
    "contacts: {floor: {shape: ball, body: ball, radius: 0.1, friction: 0.5}}\n"
    "loops: {rod: {body: pole, at: \"0, 0, -l\", to: \"1, 0, 0\", length: 1.2}}\n"
    "states: {lag: {rate: push - lag}}\n"
    "controllers: {hold: {period: 0.1, outputs: {push: wanted - cart}}}\n"
    "roles: {cart: {torque: lag}}\n"
    "outputs: {tip: cart + l*sin(tilt)}\n"
    "initial: {cart: 0.1, ball.x: 0, ball.wy: 1}\n"
    "guess: {tilt: 0.3}\n"
    "cases: {one: {end: 2}}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what, const char *about)
{
    if (holds) return;
    fprintf(stderr, "violated: %s\nabout: %s\n", what, about ? about : "");
    abort();
}

static void check_error(const tr_error *err)
{
    require(err->text[0] && strlen(err->text) < sizeof err->text, "an error has words", err->text);
    require(err->status >= TR_FAILED && err->status <= TR_INVALID, "the user's fault", err->text);
    require(err->line >= 0 && err->column >= 0, "places are not negative", err->text);
    require(err->line / TR_WITH_LINES <= 1, "of the one file that there is", err->text);
    require(err->line % TR_WITH_LINES <= LONGEST, "the line is in a file", err->text);
    require(!err->line || err->column, "a line comes with a column", err->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LONGEST) return 0;
    char *text = calloc(size + 1, 1);
    if (!text) return 0;
    memcpy(text, data, size); // ends at the first zero
    const char *const name = "case.yaml", *const whole = text;
    tr_error err = {0};
    tr_derive_options how = tr_derive_defaults();
    how.with = &name, how.with_texts = &whole, how.with_count = 1;
    tr_model *model = tr_model_parse(model_text, &err);
    require(model != NULL, "the model can be read", err.text);
    tr_system *system = tr_derive(model, &how, &err);
    require((system == NULL) == (err.status != TR_OK), "a system or an error", err.text);
    char *json = tr_eval_text(system, true, &err);
    require((json == NULL) == (err.status != TR_OK), "a text or an error", err.text);
    if (err.status) check_error(&err);
    tr_text_free(json);
    tr_system_free(system);
    tr_model_free(model);
    free(text);
    return 0;
}
