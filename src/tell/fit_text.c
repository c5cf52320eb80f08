// SPDX-License-Identifier: Apache-2.0
// What `fit` says, in words and as JSON, and what was found as keys of a case.
#include "base/error.h"
#include "base/json.h"
#include "base/number.h"
#include "fit/fit.h"
#include "tell/fragment.h"

#include <math.h>
#include <stdlib.h>

static double correlation(const tr_fit *f, size_t k, size_t l)
{
    const double *C = f->covariance;
    const double size = sqrt(C[k * f->count + k] * C[l * f->count + l]);
    return k == l ? 1 : size > 0 ? C[k * f->count + l] / size : 0;
}

// ---- words ---------------------------------------------------------------------------------

static void write_rounded(Buffer *b, double value)
{
    char number[TR_NUMBER_SIZE];
    tr_number_print(isfinite(value) ? tr_number_rounded(value, 4) : value, number);
    tr_buffer_print(b, "%s", number);
}

static const char *bound_word(int held) { return held < 0 ? "min" : "max"; }

static void write_value(Buffer *b, const tr_fit *f, size_t k)
{
    const tr_fit_value *v = &f->values[k];
    const Fit *fit = (const Fit *)f;
    const Port *port = &fit->system->inputs[fit->input[k]].port;
    const bool has_unit = port->unit[0] && strcmp(port->unit, "1") != 0;
    tr_buffer_print(b, "%-8s %s ", "found", v->name);
    tr_buffer_number(b, v->value);
    if (has_unit) tr_buffer_print(b, " %s", port->unit);
    if (f->held[k]) {
        tr_buffer_print(b, ", its %s: the data would have it beyond", bound_word(f->held[k]));
    } else if (isfinite(v->sd)) {
        tr_buffer_print(b, " +- ");
        write_rounded(b, v->sd);
    } else
        tr_buffer_print(b, ", which the data cannot tell");
    tr_buffer_print(b, "; it was ");
    tr_buffer_number(b, v->start);
    if (isfinite(v->prior)) {
        tr_buffer_print(b, ", known as ");
        tr_buffer_number(b, v->prior);
        tr_buffer_print(b, " +- ");
        tr_buffer_number(b, v->prior_sd);
    }
    tr_buffer_print(b, "\n");
}

// Of those that can be told
static void write_correlations(Buffer *b, const tr_fit *f)
{
    for (size_t k = 1; k < f->count; k++) {
        size_t others = 0;
        for (size_t l = 0; l < k; l++) {
            if (!isfinite(f->values[k].sd + f->values[l].sd) || f->held[k] || f->held[l]) continue;
            if (!others++) tr_buffer_print(b, "%-8s %s", "alike", f->values[k].name);
            tr_buffer_print(b, "%s %s ", others > 1 ? "," : ":", f->values[l].name);
            write_rounded(b, correlation(f, k, l));
        }
        if (others) tr_buffer_print(b, "\n");
    }
}

static void write_column(Buffer *b, const tr_fit_column *c)
{
    tr_buffer_print(b, "%-8s %s", "column", c->name);
    if (strcmp(c->name, c->of) != 0) tr_buffer_print(b, " as %s", c->of);
    tr_buffer_print(b, ": %zu measurement%s, sd ", c->count, plural(c->count));
    write_rounded(b, c->sd);
    tr_buffer_print(b, "%s%s %s, rms of what is left ", *c->unit ? " " : "", c->unit,
                    c->is_given ? "as given" : "as found");
    write_rounded(b, c->rms);
    tr_buffer_print(b, "\n");
}

static bool are_given(const tr_fit *f)
{
    bool all = true;
    for (size_t i = 0; i < f->column_count; i++) all = all && f->columns[i].is_given;
    return all;
}

static void write_words(Buffer *b, const tr_fit *f)
{
    b->digits = ((const Fit *)f)->system->digits;
    for (size_t k = 0; k < f->count; k++) write_value(b, f, k);
    write_correlations(b, f);
    for (size_t j = 0; j < f->untold_count; j++)
        tr_buffer_print(b, "%-8s %s\n", "untold", f->untold[j]);
    for (size_t i = 0; i < f->column_count; i++) write_column(b, &f->columns[i]);
    tr_buffer_print(b, "%-8s ", "chi^2");
    write_rounded(b, f->chi_square);
    tr_buffer_print(b, " with %.0f degree%s of freedom%s\n", f->freedom, f->freedom == 1 ? "" : "s",
                    are_given(f) ? "" : ", to which the deviations that were found fit");
    tr_buffer_print(b, "%-8s %zu iteration%s, %zu run%s\n", "took", f->iterations,
                    plural(f->iterations), f->runs, plural(f->runs));
}

// ---- JSON ----------------------------------------------------------------------------------

static void tell_values(Json *j, const tr_fit *f)
{
    tr_json_open(j, "values", '[');
    for (size_t k = 0; k < f->count; k++) {
        const tr_fit_value *v = &f->values[k];
        tr_json_open(j, NULL, '{');
        tr_json_text(j, "name", v->name);
        tr_json_number(j, "value", v->value);
        tr_json_number(j, "sd", v->sd);
        tr_json_number(j, "start", v->start);
        if (f->held[k]) tr_json_text(j, "held", bound_word(f->held[k]));
        if (isfinite(v->prior)) tr_json_number(j, "prior", v->prior);
        if (isfinite(v->prior)) tr_json_number(j, "prior_sd", v->prior_sd);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
}

static bool tell_matrices(Json *j, const tr_fit *f)
{
    double *C = calloc(f->count * f->count + 1, sizeof *C);
    for (size_t k = 0; C && k < f->count; k++)
        for (size_t l = 0; l < f->count; l++) C[k * f->count + l] = correlation(f, k, l);
    tr_json_matrix(j, "covariance", f->covariance, f->count, f->count);
    if (C) tr_json_matrix(j, "correlation", C, f->count, f->count);
    free(C);
    return C != NULL;
}

static void tell_untold(Json *j, const tr_fit *f)
{
    tr_json_open(j, "untold", '[');
    for (size_t i = 0; i < f->untold_count; i++) {
        const double *d = f->untold_changes + i * f->count;
        tr_json_open(j, NULL, '{');
        tr_json_text(j, "words", f->untold[i]);
        tr_json_open(j, "changes", '{');
        for (size_t k = 0; k < f->count; k++)
            if (d[k] != 0) tr_json_number(j, f->values[k].name, d[k]);
        tr_json_close(j, '}');
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
}

static void tell_columns(Json *j, const tr_fit *f)
{
    tr_json_open(j, "columns", '[');
    for (size_t i = 0; i < f->column_count; i++) {
        const tr_fit_column *c = &f->columns[i];
        tr_json_open(j, NULL, '{');
        tr_json_text(j, "name", c->name);
        tr_json_text(j, "of", c->of);
        tr_json_text(j, "unit", c->unit);
        tr_json_number(j, "count", (double)c->count);
        tr_json_number(j, "sd", c->sd);
        tr_json_flag(j, "given", c->is_given);
        tr_json_number(j, "rms", c->rms);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
}

static bool write_json(Json *j, const tr_fit *f)
{
    tr_json_open(j, NULL, '{');
    tell_values(j, f);
    const bool good = tell_matrices(j, f);
    tell_untold(j, f);
    tell_columns(j, f);
    tr_json_number(j, "measurements", (double)f->point_count);
    tr_json_number(j, "recordings", (double)f->recording_count);
    tr_json_number(j, "chi_square", f->chi_square);
    tr_json_number(j, "freedom", f->freedom);
    tr_json_number(j, "iterations", (double)f->iterations);
    tr_json_number(j, "runs", (double)f->runs);
    tr_json_close(j, '}');
    return good;
}

char *tr_fit_text(const tr_fit *fit, bool json, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!fit || has_failed(err)) return NULL;
    Json j = {0};
    if (!json)
        write_words(&j.text, fit);
    else if (!write_json(&j, fit))
        tr_fail_memory(err);
    return tr_text_finish(&j.text, err);
}

// ---- keys of a case ------------------------------------------------------------------------

// Those whose names begin so, without that; or all others, where it is ""
static void write_group(Buffer *b, const tr_fit *f, const char *key, const char *prefix, bool any)
{
    for (size_t k = 0; k < f->count; k++) {
        const tr_fit_value *v = &f->values[k];
        const bool is_start = begins_with(v->name, "initial.") || begins_with(v->name, "guess.");
        if (*prefix ? !begins_with(v->name, prefix) : is_start) continue;
        if (!any) tr_buffer_print(b, "%s:\n", key);
        any = true;
        tr_buffer_print(b, "  %s: ", v->name + strlen(prefix));
        tr_buffer_number(b, v->value);
        if (f->held[k])
            tr_buffer_print(b, "  # its %s", bound_word(f->held[k]));
        else
            tr_buffer_print(b, isfinite(v->sd) ? "  # +- " : "  # the data cannot tell it");
        if (isfinite(v->sd) && !f->held[k]) write_rounded(b, v->sd);
        tr_buffer_print(b, "\n");
    }
}

char *tr_fit_fragment(const tr_fit *fit, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!fit || has_failed(err)) return NULL;
    Buffer b = {0};
    const System *system = ((const Fit *)fit)->system;
    const char **names = calloc(fit->count + 1, sizeof *names);
    for (size_t k = 0; names && k < fit->count; k++) names[k] = fit->values[k].name;
    if (!names) return tr_fail_memory(err), NULL;
    tr_fragment_origin(&b, system, "A fit to recordings");
    write_group(&b, fit, "set", "", tr_fragment_settings(&b, system, names, fit->count));
    write_group(&b, fit, "initial", "initial.", false);
    write_group(&b, fit, "guess", "guess.", false);
    free(names);
    return tr_text_finish(&b, err);
}
