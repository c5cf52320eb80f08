// SPDX-License-Identifier: Apache-2.0
// What `fit --inverse` says of inertias that were found, and the bodies of a model file.
#include "fit/inverse.h"

#include "base/json.h"

#include <math.h>

// ---- combinations ----------------------------------------------------------------------------

// To so many digits
static double rounded(double x, int digits)
{
    if (x == 0 || !isfinite(x)) return x;
    const double shift = pow(10, digits - 1 - floor(log10(fabs(x))));
    return shift <= 1e22 && shift > 0 ? round(x * shift) / shift : x;
}

// " + 0.25 m(link2)"
static void write_term(const tr_inverse *x, uint32_t parameter, double factor, Buffer *out)
{
    tr_buffer_print(out, factor < 0 ? " - " : " + ");
    const double size = rounded(fabs(factor), 9); // of products of lengths: the rest is rounding
    if (size != 1) {
        tr_buffer_number(out, size);
        tr_buffer_print(out, " ");
    }
    tr_inverse_name(x, parameter, out);
}

static void write_combination(const tr_inverse *x, uint32_t i, Buffer *out)
{
    const Base *base = &x->base;
    const size_t d = base->p - base->rank;
    tr_inverse_name(x, base->own[i], out);
    for (size_t k = 0; k < d; k++)
        if (base->K[i * d + k] != 0) write_term(x, base->other[k], base->K[i * d + k], out);
}

// ---- words -----------------------------------------------------------------------------------

static void write_data(const tr_inverse *x, Buffer *out)
{
    tr_buffer_print(out, "data     %zu samples of %zu recording%s, %zu equations\n", x->samples,
                    x->logs, plural(x->logs), x->equations);
    if (x->made_velocities)
        tr_buffer_print(out, "data     velocities are slopes of splines through coordinates\n");
    if (x->made_accelerations)
        tr_buffer_print(out, "data     accelerations are slopes of splines through velocities\n");
    if (x->moved > 1e-9) {
        tr_buffer_print(out, "data     coordinates were moved by up to ");
        tr_buffer_number(out, rounded(x->moved, 3));
        tr_buffer_print(out, " onto the constraints\n");
    }
}

static void write_number_line(Buffer *out, const char *title, const char *name, double value)
{
    tr_buffer_print(out, "%-8s %-24s ", title, name);
    tr_buffer_number(out, value);
    tr_buffer_print(out, "\n");
}

static void write_base(const tr_inverse *x, Buffer *out)
{
    for (uint32_t i = 0; i < x->base.rank; i++) {
        tr_buffer_print(out, "base     ");
        write_combination(x, i, out);
        tr_buffer_print(out, " = ");
        tr_buffer_number(out, x->base.value[i]);
        tr_buffer_print(out, " +- ");
        tr_buffer_number(out, rounded(x->base.sd[i], 3));
        tr_buffer_print(out, "\n");
    }
}

static bool is_told_alone(const Base *base, uint32_t i)
{
    const size_t d = base->p - base->rank;
    for (size_t k = 0; k < d; k++)
        if (base->K[i * d + k] != 0) return false;
    return true;
}

// What nothing recorded depends on, or what is told only together with others
static void list_untold(const tr_inverse *x, bool seen, Buffer *out)
{
    const Base *base = &x->base;
    const char *title = seen ? "together" : "untold";
    size_t count = 0;
    for (uint32_t j = 0; j < base->p; j++) {
        bool told = false;
        for (uint32_t i = 0; i < base->rank; i++)
            told = told || (base->own[i] == j && is_told_alone(base, i));
        if (told || base->is_seen[j] != seen) continue;
        if (count % 6 == 0) tr_buffer_print(out, "%s%-8s ", count ? "\n" : "", title);
        if (count++ % 6) tr_buffer_print(out, ", ");
        tr_inverse_name(x, j, out);
    }
    if (count) tr_buffer_print(out, "\n");
}

static bool is_at_bound(const tr_inverse *x, uint32_t body)
{
    return x->is_bounded && !tr_inertia_is_possible(x->phi + (size_t)body * TEN,
                                                    x->unit + (size_t)body * TEN, -1e-5);
}

static void write_bodies(const tr_inverse *x, Buffer *out)
{
    static const char *const names[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
    for (uint32_t b = 0; b < x->bodies; b++) {
        const double *phi = x->phi + (size_t)b * TEN;
        double com[3], I[6];
        tr_inertia_written(phi, com, I);
        tr_buffer_print(out, "body     %s: mass ", x->system->opened[b].body);
        tr_buffer_number(out, phi[0]);
        tr_buffer_print(out, ", com");
        for (int k = 0; k < 3; k++) tr_buffer_print(out, " "), tr_buffer_number(out, com[k]);
        tr_buffer_print(out, ", inertia");
        for (int k = 0; k < 6; k++) {
            tr_buffer_print(out, " %s ", names[k]);
            tr_buffer_number(out, I[k]);
        }
        tr_buffer_print(out, "\n");
    }
}

static void write_bounds(const tr_inverse *x, Buffer *out)
{
    if (!x->is_bounded) return;
    tr_buffer_print(out, "bounds   the data ask for inertias that bodies cannot have\n");
    for (uint32_t b = 0; b < x->bodies; b++)
        if (is_at_bound(x, b))
            tr_buffer_print(out, "bounds   '%s' is as far as it can be\n",
                            x->system->opened[b].body);
}

static void write_words(const tr_inverse *x, Buffer *out)
{
    out->digits = x->system->digits;
    write_data(x, out);
    write_number_line(out, "misfit", "of the model", x->misfit_model);
    write_number_line(out, "misfit", "least", x->misfit_data);
    write_number_line(out, "misfit", "of what was found", x->misfit);
    write_base(x, out);
    list_untold(x, true, out);
    list_untold(x, false, out);
    write_bodies(x, out);
    write_bounds(x, out);
}

// ---- JSON ------------------------------------------------------------------------------------

static void json_name(Json *j, const char *key, const tr_inverse *x, uint32_t parameter)
{
    Buffer name = {0};
    tr_inverse_name(x, parameter, &name);
    if (name.failed) j->text.failed = true;
    if (!name.failed) tr_json_text(j, key, name.at);
    tr_buffer_free(&name);
}

static void json_terms(Json *j, const tr_inverse *x, uint32_t i)
{
    const Base *base = &x->base;
    const size_t d = base->p - base->rank;
    tr_json_open(j, "terms", '[');
    for (size_t k = 0; k <= d; k++) {
        const double factor = k ? base->K[i * d + k - 1] : 1;
        if (factor == 0) continue;
        tr_json_open(j, NULL, '{');
        json_name(j, "parameter", x, k ? base->other[k - 1] : base->own[i]);
        tr_json_number(j, "factor", factor);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
}

static void json_base(Json *j, const tr_inverse *x)
{
    tr_json_open(j, "base", '[');
    for (uint32_t i = 0; i < x->base.rank; i++) {
        Buffer name = {0};
        write_combination(x, i, &name);
        if (name.failed) j->text.failed = true;
        tr_json_open(j, NULL, '{');
        if (!name.failed) tr_json_text(j, "name", name.at);
        tr_json_number(j, "value", x->base.value[i]);
        tr_json_number(j, "sd", x->base.sd[i]);
        json_terms(j, x, i);
        tr_json_close(j, '}');
        tr_buffer_free(&name);
    }
    tr_json_close(j, ']');
    tr_json_open(j, "untold", '[');
    for (uint32_t k = 0; k < x->p; k++)
        if (!x->base.is_seen[k]) json_name(j, NULL, x, k);
    tr_json_close(j, ']');
}

static void json_bodies(Json *j, const tr_inverse *x)
{
    tr_json_open(j, "bodies", '{');
    for (uint32_t b = 0; b < x->bodies; b++) {
        const double *phi = x->phi + (size_t)b * TEN;
        double com[3], I[6];
        tr_inertia_written(phi, com, I);
        tr_json_open(j, x->system->opened[b].body, '{');
        tr_json_number(j, "mass", phi[0]);
        tr_json_numbers(j, "com", com, 3);
        tr_json_numbers(j, "inertia", I, 6);
        tr_json_numbers(j, "parameters", phi, TEN);
        tr_json_flag(j, "at_bound", is_at_bound(x, b));
        tr_json_close(j, '}');
    }
    tr_json_close(j, '}');
}

static void write_json(Json *j, const tr_inverse *x)
{
    tr_json_open(j, NULL, '{');
    tr_json_number(j, "samples", (double)x->samples);
    tr_json_number(j, "equations", (double)x->equations);
    tr_json_flag(j, "made_velocities", x->made_velocities);
    tr_json_flag(j, "made_accelerations", x->made_accelerations);
    tr_json_number(j, "moved", x->moved);
    tr_json_number(j, "misfit_model", x->misfit_model);
    tr_json_number(j, "misfit_least", x->misfit_data);
    tr_json_number(j, "misfit", x->misfit);
    tr_json_flag(j, "bounds_active", x->is_bounded);
    json_base(j, x);
    json_bodies(j, x);
    tr_json_close(j, '}');
}

char *tr_inverse_text(const tr_inverse *x, bool json, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!x || has_failed(err)) return NULL;
    Json j = {0};
    if (json)
        write_json(&j, x);
    else
        write_words(x, &j.text);
    return tr_text_finish(&j.text, err);
}

// ---- a piece of a model file -------------------------------------------------------------------

static void write_body(const tr_inverse *x, uint32_t body, Buffer *out)
{
    static const char *const names[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
    const double *phi = x->phi + (size_t)body * TEN;
    double com[3], I[6];
    tr_inertia_written(phi, com, I);
    tr_buffer_print(out, "  %s:\n    mass: ", x->system->opened[body].body);
    tr_buffer_number(out, phi[0]);
    tr_buffer_print(out, "\n    com: ");
    for (int k = 0; k < 3; k++) {
        tr_buffer_print(out, k ? ", " : "");
        tr_buffer_number(out, com[k]);
    }
    tr_buffer_print(out, "\n    inertia: {");
    for (int k = 0; k < 6; k++) {
        tr_buffer_print(out, "%s%s: ", k ? ", " : "", names[k]);
        tr_buffer_number(out, I[k]);
    }
    tr_buffer_print(out, "}\n");
}

char *tr_inverse_fragment(const tr_inverse *x, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!x || has_failed(err)) return NULL;
    Buffer out = {0};
    tr_buffer_print(&out, "# What the recordings determine:\n");
    for (uint32_t i = 0; i < x->base.rank; i++) {
        tr_buffer_print(&out, "#   ");
        write_combination(x, i, &out);
        tr_buffer_print(&out, " = ");
        tr_buffer_number(&out, x->base.value[i]);
        tr_buffer_print(&out, " +- ");
        tr_buffer_number(&out, rounded(x->base.sd[i], 3));
        tr_buffer_print(&out, "\n");
    }
    tr_buffer_print(&out, "bodies:\n");
    for (uint32_t b = 0; b < x->bodies; b++) write_body(x, b, &out);
    return tr_text_finish(&out, err);
}
