// SPDX-License-Identifier: Apache-2.0
// What `lqr` says: gains and eigenvalues, in words or as JSON, and the roles of a model file.
#include "base/json.h"
#include "linear/lqr.h"
#include "tell/eval.h"
#include "tell/fragment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

// A formula with laws in place of inputs; false when it uses none.
static bool replace_inputs(const Design *d, const char *formula, Buffer *out)
{
    for (uint32_t k = 0; k < d->m; k++) // alone it needs no brackets
        if (strcmp(formula, d->shown.input[k]) == 0)
            return tr_buffer_print(out, "%s", d->shown.law[k]), true;
    bool found = false;
    for (const char *at = formula; *at;) {
        size_t length = 0;
        while (is_name_character(at[length])) length++;
        uint32_t k = 0;
        while (k < d->m && !(length && text_is((Text){at, length}, d->shown.input[k]))) k++;
        if (k < d->m) tr_buffer_print(out, "(%s)", d->shown.law[k]), found = true;
        if (k == d->m) tr_buffer_add(out, at, length ? length : 1);
        at += length ? length : 1;
    }
    return found;
}

static bool is_joint(const Design *d, uint32_t control)
{
    return strcmp(d->shown.input[control], d->whole->input[d->column[control]]) != 0;
}

// A role takes the place of the model's, so it has the limit of that, too.
static void write_role(const Design *d, bool is_first, const char *joint, const char *torque,
                       Buffer *out)
{
    const struct Source *source = &d->source->source;
    tr_buffer_print(out, "%s  %s:\n    torque: %s\n", is_first ? "roles:\n" : "", joint, torque);
    for (uint32_t i = 0; i < source->torque_count; i++)
        if (source->limits[i] && strcmp(source->torques[i].name, joint) == 0)
            tr_buffer_print(out, "    limit: %s\n", source->limits[i]);
}

static void write_roles(const Design *d, Buffer *out)
{
    const struct Source *source = &d->source->source;
    bool any = false;
    for (uint32_t i = 0; i < d->m; i++) {
        if (!is_joint(d, i)) continue;
        write_role(d, !any, d->shown.input[i], d->shown.law[i], out);
        any = true;
    }
    for (uint32_t i = 0; i < source->torque_count; i++) {
        Buffer torque = {0};
        bool taken = false;
        for (uint32_t k = 0; k < d->m; k++)
            taken = taken ||
                    (is_joint(d, k) && strcmp(d->shown.input[k], source->torques[i].name) == 0);
        if (!taken && replace_inputs(d, source->torques[i].formula, &torque)) {
            write_role(d, !any, source->torques[i].name, torque.at, out);
            any = true;
        }
        tr_buffer_free(&torque);
    }
    for (uint32_t i = 0; i < d->m; i++)
        if (!is_joint(d, i))
            tr_buffer_print(out, "# %s = %s\n", d->shown.input[i], d->shown.law[i]);
}

// The input that a controller sets in place of a joint's torque: "hip_torque"
static void name_torque(const Design *d, uint32_t control, char *out, size_t size)
{
    size_t length = (size_t)snprintf(out, size, "%s_torque", d->shown.input[control]);
    for (char *c = out; *c; c++)
        if (*c == '.') *c = '_';
    while (tr_system_find(d->source, text_of(out)) && length + 2 < size)
        out[length++] = '_', out[length] = 0;
}

// In steps: what is held in between is an input, and a controller sets it.
static void write_controller(const Design *d, Buffer *out)
{
    char name[200];
    bool any = false;
    for (uint32_t i = 0; i < d->m; i++) {
        if (!is_joint(d, i)) continue;
        name_torque(d, i, name, sizeof name);
        tr_buffer_print(out, "%s  %s: ", any ? "" : "inputs:\n", name);
        tr_buffer_number(out, d->torque[i]);
        tr_buffer_print(out, "\n");
        any = true;
    }
    any = false;
    for (uint32_t i = 0; i < d->m; i++) {
        if (!is_joint(d, i)) continue;
        name_torque(d, i, name, sizeof name);
        write_role(d, !any, d->shown.input[i], name, out);
        any = true;
    }
    tr_buffer_print(out, "controllers:\n  lqr:\n    period: ");
    tr_buffer_number(out, d->shown.step);
    tr_buffer_print(out, "\n    outputs:\n");
    for (uint32_t i = 0; i < d->m; i++) {
        snprintf(name, sizeof name, "%s", d->shown.input[i]);
        if (is_joint(d, i)) name_torque(d, i, name, sizeof name);
        tr_buffer_print(out, "      %s: %s\n", name, d->shown.law[i]);
    }
}

// An input that a controller of the model sets cannot be set by another one.
static void refuse_two(const Design *d, tr_error *err)
{
    const System *s = d->source;
    for (uint32_t i = 0; i < s->held_count; i++)
        for (uint32_t k = 0; k < d->m && !has_failed(err); k++) {
            const Held *held = &s->held[i];
            const char *name = s->clocked[held->clocked].name;
            if (strcmp(s->inputs[held->input].name, d->shown.input[k]) == 0)
                tr_fail(err, TR_USAGE, (Place){0},
                        "the controller '%.80s' of the model sets '%.80s', and the one that would "
                        "be written, too: leave it out, as by 'without: %.80s' in a case",
                        name, d->shown.input[k], name);
        }
}

static void write_origin(const Design *d, Buffer *out)
{
    tr_fragment_origin(out, d->source,
                       d->shown.step > 0
                           ? "Feedback that acts in steps, to be held in between, and is "
                             "best for small motions about the initial state"
                           : "Feedback that is best for small motions about the initial state");
}

static char *write_file(const tr_lqr *lqr, bool with_settings, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!lqr || has_failed(err)) return NULL;
    const Design *d = (const Design *)lqr;
    Buffer out = {0};
    if (with_settings && d->shown.step > 0) refuse_two(d, err);
    if (has_failed(err)) return NULL;
    write_origin(d, &out);
    if (with_settings) tr_fragment_settings(&out, d->source, NULL, 0);
    if (with_settings && d->shown.step > 0)
        write_controller(d, &out);
    else
        write_roles(d, &out);
    return tr_text_finish(&out, err);
}

char *tr_lqr_roles(const tr_lqr *lqr, tr_error *err) { return write_file(lqr, false, err); }
char *tr_lqr_fragment(const tr_lqr *lqr, tr_error *err) { return write_file(lqr, true, err); }

static void write_words(const Design *d, Buffer *out)
{
    const tr_lqr *l = &d->shown;
    out->digits = d->source->digits;
    for (size_t i = 0; i < l->inputs; i++) {
        const double *K = l->K + i * l->states, noise = tr_noise(K, l->states, 1, out);
        tr_buffer_print(out, "input    %s\n", l->input[i]);
        for (size_t j = 0; j < l->states; j++) {
            tr_buffer_print(out, "gain     %-24s ", l->state[j]);
            tr_buffer_number(out, fabs(K[j]) < noise ? 0 : K[j]);
            tr_buffer_print(out, "\n");
        }
    }
    for (int after = 0; after < 2; after++) {
        const double *values = after ? l->after : l->before;
        const double noise = tr_noise(values, 2 * l->states, 1, out);
        for (size_t i = 0; i < l->states; i++) {
            tr_buffer_print(out, after ? "closed   " : "open     ");
            tr_add_complex(out, values + 2 * i, noise);
            tr_buffer_print(out, "\n");
        }
    }
    tr_buffer_print(out, "residual ");
    tr_buffer_number(out, tr_unless_noise(l->residual, out));
    tr_buffer_print(out, "\n");
    if (l->neutral)
        tr_buffer_print(out,
                        "note     no input reaches the steady motions beside this one, of %s: they "
                        "are left alone, with eigenvalue %d\n",
                        d->neutral, l->step > 0);
    if (l->unsteadiness > 1e-6) {
        tr_buffer_print(out, "note     the initial state is not steady: accelerations up to ");
        tr_buffer_number(out, l->unsteadiness);
        tr_buffer_print(out, "\n");
    }
    write_roles(d, out);
}

static void write_json(const Design *d, Json *j)
{
    const tr_lqr *l = &d->shown;
    tr_json_open(j, NULL, '{');
    tr_json_texts(j, "states", l->state, l->states);
    tr_json_texts(j, "inputs", l->input, l->inputs);
    if (l->step > 0) tr_json_number(j, "step", l->step);
    tr_json_matrix(j, "A", l->A, l->states, l->states);
    tr_json_matrix(j, "B", l->B, l->states, l->inputs);
    tr_json_matrix(j, "Q", l->Q, l->states, l->states);
    tr_json_matrix(j, "R", l->R, l->inputs, l->inputs);
    if (d->has_products) tr_json_matrix(j, "N", l->N, l->states, l->inputs);
    tr_json_matrix(j, "K", l->K, l->inputs, l->states);
    tr_json_matrix(j, "eigenvalues", l->after, l->states, 2);
    tr_json_matrix(j, "open_eigenvalues", l->before, l->states, 2);
    tr_json_number(j, "residual", l->residual);
    tr_json_number(j, "unsteadiness", l->unsteadiness);
    tr_json_number(j, "neutral", (double)l->neutral);
    tr_json_open(j, "laws", '{');
    for (size_t i = 0; i < l->inputs; i++) tr_json_text(j, l->input[i], l->law[i]);
    tr_json_close(j, '}');
    tr_json_close(j, '}');
}

char *tr_lqr_text(const tr_lqr *lqr, bool json, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!lqr || has_failed(err)) return NULL;
    Json j = {0};
    if (json)
        write_json((const Design *)lqr, &j);
    else
        write_words((const Design *)lqr, &j.text);
    return tr_text_finish(&j.text, err);
}
