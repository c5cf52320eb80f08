// SPDX-License-Identifier: Apache-2.0
// What an FMU says that it can do, tried: states that are saved, restored and written as bytes, and
// derivatives, J v and w^T J, which must agree: w^T (J v) = (w^T J) v.
#include "fmu/instance.h"
#include "fmu/schema.h"

#include <math.h>
#include <stdlib.h>

static const Place nowhere = {0};

#define WRONG(...) tr_found(&fmu->findings, MISTAKE, nowhere, __VA_ARGS__)

static bool promises(const Instance *i, const char *flag2, const char *flag3)
{
    const Description *d = i->description;
    const Interface *interface = i->binary->kind == FMI_ME ? &d->me : &d->cs;
    const char *said = tr_xml_value(interface->xml, d->version == 2 ? flag2 : flag3);
    bool is_so;
    return said && tr_read_flag(said, &is_so) && is_so;
}

// ---- all values ----------------------------------------------------------------------------

double *tr_instance_values(Instance *i)
{
    const Description *d = i->description;
    size_t count = 1;
    for (uint32_t k = 0; k < d->count; k++) count += d->variables[k].size;
    double *values = calloc(count, sizeof *values), *at = values;
    for (uint32_t k = 0; values && k < d->count; at += d->variables[k++].size) {
        const Variable *v = &d->variables[k];
        tr_error err = {0};
        if (!is_number(v) || v->is_alias || tr_xml_value(v->values, "clocks")) continue;
        if (!i->has_died) tr_instance_get(i, &k, 1, at, &err); // what fails was told
    }
    return values;
}

bool tr_values_agree(Fmu *fmu, const double *a, const double *b, const char *when)
{
    const Description *d = &fmu->description;
    if (!a || !b) return fmu->findings.failed = true, false;
    for (uint32_t k = 0; k < d->count; k++)
        for (uint32_t e = 0; e < d->variables[k].size; e++, a++, b++) {
            const bool are_none = isnan(*a) && isnan(*b);
            if (*a == *b || are_none || fabs(*a - *b) <= 1e-9 * (1 + fabs(*a))) continue;
            WRONG("'%.60s' is %.17g %s, not %.17g", d->variables[k].name, *b, when, *a);
            return false;
        }
    return true;
}

// ---- saved states --------------------------------------------------------------------------

// Somewhere else: a step on, or a little off
static bool move(Instance *i, const TriedFrom *from, tr_error *err)
{
    StepNews news;
    if (i->binary->kind == FMI_CS)
        return !from->can_step || tr_instance_step(i, from->t, from->step, &news, err);
    double *x = calloc(from->states + 1, sizeof *x);
    if (!x) return tr_fail_memory(err), false;
    bool good = tr_instance_states(i, x, from->states, err);
    for (size_t k = 0; k < from->states; k++) x[k] += 1e-6 * (1 + fabs(x[k]));
    good = good && tr_instance_set_states(i, x, from->states, err);
    free(x);
    return good;
}

static bool try_restored(Fmu *fmu, Instance *i, const TriedFrom *from, void *state,
                         const double *here, const double *there, const char *when, tr_error *err)
{
    if (!tr_instance_restore(i, state, err)) return false;
    double *now = tr_instance_values(i);
    bool agree = tr_values_agree(fmu, here, now, when);
    free(now);
    if (!agree || !move(i, from, err)) return false;
    now = tr_instance_values(i);
    agree = tr_values_agree(fmu, there, now, from->can_step ? "a step after that" : when);
    free(now);
    return agree;
}

// The same by way of bytes
static bool try_bytes(Fmu *fmu, Instance *i, const TriedFrom *from, void *state, const double *here,
                      const double *there, tr_error *err)
{
    size_t size = 0;
    void *read = NULL;
    char *bytes = tr_instance_write_state(i, state, &size, err);
    const bool good = bytes && tr_instance_read_state(i, bytes, size, &read, err) &&
                      try_restored(fmu, i, from, read, here, there,
                                   "after its state was restored from bytes", err);
    free(bytes);
    return (!read || tr_instance_drop(i, &read, err)) && good;
}

static bool try_states(Fmu *fmu, Instance *i, const TriedFrom *from, tr_error *err)
{
    void *state = NULL;
    if (!tr_instance_save(i, &state, err)) return false;
    double *here = tr_instance_values(i), *there = NULL;
    bool good = move(i, from, err);
    if (good) there = tr_instance_values(i);
    good =
        good && try_restored(fmu, i, from, state, here, there, "after its state was restored", err);
    if (good && promises(i, "canSerializeFMUstate", "canSerializeFMUState"))
        good = try_bytes(fmu, i, from, state, here, there, err);
    if (!has_failed(err)) tr_instance_restore(i, state, err);
    if (!i->has_died && !tr_instance_drop(i, &state, err)) good = false;
    free(here), free(there);
    return good;
}

// ---- derivatives ---------------------------------------------------------------------------

enum { MOST_SLOPES = 100 };

typedef struct Slopes {
    fmi3ValueReference unknown[MOST_SLOPES], known[MOST_SLOPES];
    size_t unknowns, knowns;
    double v[MOST_SLOPES], w[MOST_SLOPES]; // seeds
} Slopes;

static void add(fmi3ValueReference *list, size_t *count, const Variable *v)
{
    if (*count < MOST_SLOPES && is_real(v) && !v->is_array) list[(*count)++] = v->reference;
}

// Outputs by inputs, or else, where states are those of the FMU, their rates by them
static void choose_slopes(const Instance *i, Slopes *s)
{
    const Description *d = i->description;
    *s = (Slopes){0};
    for (uint32_t k = 0; k < d->count && i->binary->kind == FMI_CS; k++) {
        const Variable *v = &d->variables[k];
        if (v->is_alias || v->variability != CONTINUOUS) continue;
        if (v->causality == INPUT) add(s->known, &s->knowns, v);
        if (v->causality == OUTPUT) add(s->unknown, &s->unknowns, v);
    }
    if (!s->knowns || !s->unknowns) s->knowns = s->unknowns = 0;
    const bool is_empty = !s->knowns;
    for (uint32_t k = 0; k < d->list[DERIVATIVES].count && is_empty; k++) {
        const uint32_t of = d->list[DERIVATIVES].at[k].variable;
        if (of == NO_VARIABLE || d->variables[of].state == NO_VARIABLE) continue;
        add(s->unknown, &s->unknowns, &d->variables[of]);
        add(s->known, &s->knowns, &d->variables[d->variables[of].state]);
    }
    for (int k = 0; k < MOST_SLOPES; k++) s->v[k] = 1.0 / (1 + k % 7), s->w[k] = 1 + k % 5;
}

static double dot(const double *a, const double *b, size_t count, double *size)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += a[k] * b[k], *size += fabs(a[k] * b[k]);
    return sum;
}

static bool try_slopes(Fmu *fmu, Instance *i, tr_error *err)
{
    const bool forward =
        promises(i, "providesDirectionalDerivative", "providesDirectionalDerivatives");
    const bool backward =
        i->description->version == 3 && promises(i, NULL, "providesAdjointDerivatives");
    Slopes s;
    double Jv[MOST_SLOPES] = {0}, wJ[MOST_SLOPES] = {0}, size = 0;
    choose_slopes(i, &s);
    if (!s.knowns || !s.unknowns) return true;
    if (forward &&
        !tr_instance_directional(i, s.unknown, s.unknowns, s.known, s.knowns, s.v, Jv, err))
        return false;
    if (backward && !tr_instance_adjoint(i, s.unknown, s.unknowns, s.known, s.knowns, s.w, wJ, err))
        return false;
    const double one = dot(s.w, Jv, s.unknowns, &size), other = dot(wJ, s.v, s.knowns, &size);
    if (!isfinite(one) || !isfinite(other))
        WRONG("derivatives are not finite numbers");
    else if (forward && backward && fabs(one - other) > 1e-6 * (1e-9 + size))
        WRONG("directional and adjoint derivatives do not agree: w^T (J v) = %.9g, (w^T J) v = "
              "%.9g",
              one, other);
    return true;
}

bool tr_fmu_try_promises(Fmu *fmu, Instance *i, const TriedFrom *from, tr_error *err)
{
    if (promises(i, "canGetAndSetFMUstate", "canGetAndSetFMUState") &&
        !try_states(fmu, i, from, err) && has_failed(err))
        return false;
    return try_slopes(fmu, i, err);
}
