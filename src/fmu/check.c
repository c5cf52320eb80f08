// SPDX-License-Identifier: Apache-2.0
// Whether an FMU is as the standard asks for: what tr_fmu_open finds, and then what it does when it
// is called in the order of the standard.
#include "base/json.h"
#include "base/options.h"
#include "fmu/instance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const Place nowhere = {0};

typedef struct Check {
    const tr_fmu_options *options;
    Fmu fmu;
    Json ran; // list of what was run
    char words[200];
} Check;

static const char *kind_word(FmiKind kind)
{
    return kind == FMI_ME ? "model exchange" : "co-simulation";
}

// ---- values --------------------------------------------------------------------------------

// What it is at the start and in modelDescription.xml must be the same, where that says so.
static void compare_start(Check *c, const Variable *v, const double *values)
{
    enum { LOOKED_AT = 100 };
    double start;
    const bool is_said = v->start && (v->initial == EXACT || v->causality == INPUT) && !v->is_alias;
    for (uint32_t e = 0; is_said && e < v->size && e < LOOKED_AT; e++) {
        if (!tr_start_value(v, e, &start)) return;
        if (v->type == TYPE_FLOAT32) start = (double)(float)start;
        const double error = fabs(values[e] - start);
        if (error <= 1e-12 * fabs(start) || values[e] == start)
            continue; // decimal digits that were cut
        tr_found(&c->fmu.findings, MISTAKE, v->xml->at,
                 "'%.60s' starts with %.17g, but in the binary it is %.17g", v->name, start,
                 values[e]);
        return;
    }
}

static void read_all(Check *c, Instance *i, bool compares)
{
    const Description *d = &c->fmu.description;
    enum { MOST_UNREAD = 20 };
    tr_error err = {0};
    size_t most = 1;
    int unread = 0;
    for (uint32_t k = 0; k < d->count; k++)
        most = d->variables[k].size > most ? d->variables[k].size : most;
    double *values = calloc(most, sizeof *values);
    if (!values) {
        c->fmu.findings.failed = true;
        return;
    }
    for (uint32_t k = 0; k < d->count && !i->has_died && unread < MOST_UNREAD; k++) {
        const Variable *v = &d->variables[k];
        if (!is_number(v) || tr_xml_value(v->values, "clocks")) continue;
        err = (tr_error){0};
        if (!tr_instance_get(i, &k, 1, values, &err)) {
            tr_found(&c->fmu.findings, MISTAKE, v->xml->at, "'%.60s' cannot be read: %s", v->name,
                     err.text);
            unread++;
        } else if (compares)
            compare_start(c, v, values);
    }
    free(values);
}

// ---- calls ---------------------------------------------------------------------------------

// With all values of the initialization, to be freed, in `values`
static bool initialize(Check *c, Instance *i, double **values, tr_error *err)
{
    const Description *d = &c->fmu.description;
    const double start = isnan(d->start_time) ? 0 : d->start_time;
    if (!tr_instance_enter_initialization(i, start,
                                          d->stop_time > start ? d->stop_time : (double)INFINITY,
                                          d->tolerance > 0 ? d->tolerance : 0, err))
        return false;
    read_all(c, i, true);
    *values = tr_instance_values(i);
    if (!*values) tr_fail_memory(err);
    return *values && tr_instance_exit_initialization(i, err);
}

static bool all_are_finite(const double *values, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!isfinite(values[k])) return false;
    return true;
}

// States that modelDescription.xml tells of, with their derivatives in the same order
static void count_states(Check *c, size_t states, size_t indicators)
{
    const Description *d = &c->fmu.description;
    size_t said = 0;
    for (uint32_t k = 0; k < d->list[DERIVATIVES].count; k++) {
        const uint32_t variable = d->list[DERIVATIVES].at[k].variable;
        said += variable == NO_VARIABLE ? 1 : d->variables[variable].size;
    }
    if (said != states)
        tr_found(&c->fmu.findings, MISTAKE, nowhere,
                 "the binary has %zu states, modelDescription.xml %zu", states, said);
    if (indicators != d->event_indicators)
        tr_found(&c->fmu.findings, MISTAKE, nowhere,
                 "the binary has %zu event indicators, modelDescription.xml %u", indicators,
                 d->event_indicators);
}

static bool try_continuous(Check *c, Instance *i, double *x, double *other, size_t states,
                           double *z, size_t indicators, tr_error *err)
{
    const Description *d = &c->fmu.description;
    const double start = isnan(d->start_time) ? 0 : d->start_time;
    bool is_refused, enters, ends;
    if (!tr_instance_states(i, x, states, err) || !tr_instance_nominals(i, other, states, err))
        return false;
    for (size_t k = 0; k < states; k++)
        if (!(other[k] > 0)) {
            tr_found(&c->fmu.findings, MISTAKE, nowhere,
                     "the nominal value of state %zu is %.9g: it must be positive", k + 1,
                     other[k]);
            break;
        }
    if (!tr_instance_set_time(i, start, err) || !tr_instance_set_states(i, x, states, err) ||
        !tr_instance_rates(i, other, states, &is_refused, err) ||
        !tr_instance_indicators(i, z, indicators, err))
        return false;
    if (is_refused || !all_are_finite(x, states) || !all_are_finite(other, states))
        tr_found(&c->fmu.findings, MISTAKE, nowhere,
                 "at the start, states or their rates are not finite numbers");
    if (!tr_instance_states(i, other, states, err)) return false;
    if (states && memcmp(x, other, states * sizeof *x) != 0)
        tr_found(&c->fmu.findings, MISTAKE, nowhere,
                 "states that were set are not those that are there then");
    const TriedFrom from = {.states = states, .t = start};
    return tr_instance_completed(i, &enters, &ends, err) &&
           (enters || ends || tr_fmu_try_promises(&c->fmu, i, &from, err));
}

static bool try_me(Check *c, Instance *i, tr_error *err)
{
    size_t states, indicators;
    EventNews news;
    if (!tr_instance_counts(i, &states, &indicators, err) ||
        !tr_instance_settle_event(i, &news, err))
        return false;
    count_states(c, states, indicators);
    if (news.terminates || !tr_instance_enter_continuous(i, err)) return news.terminates;
    double *x = calloc(states + 1, sizeof *x), *other = calloc(states + 1, sizeof *other);
    double *z = calloc(indicators + 1, sizeof *z);
    const bool is_there = x && other && z;
    if (!is_there) tr_fail_memory(err);
    const bool good = is_there && try_continuous(c, i, x, other, states, z, indicators, err);
    free(x), free(other), free(z);
    return good;
}

// An output that is no number after a step
static void find_not_finite(Check *c, Instance *i)
{
    const Description *d = &c->fmu.description;
    double *values = tr_instance_values(i), *at = values;
    for (uint32_t k = 0; values && k < d->count; at += d->variables[k++].size) {
        const Variable *v = &d->variables[k];
        if (v->causality != OUTPUT || all_are_finite(at, v->size)) continue;
        tr_found(&c->fmu.findings, MISTAKE, v->xml->at, "'%.60s' is not finite after a step",
                 v->name);
        break;
    }
    c->fmu.findings.failed = c->fmu.findings.failed || !values;
    free(values);
}

static bool try_cs(Check *c, Instance *i, tr_error *err)
{
    const Description *d = &c->fmu.description;
    const double start = isnan(d->start_time) ? 0 : d->start_time;
    StepNews news;
    EventNews event;
    if (i->uses_events && (!tr_instance_settle_event(i, &event, err) || event.terminates ||
                           !tr_instance_enter_step_mode(i, err)))
        return !has_failed(err);
    const double length = d->stop_time > start ? d->stop_time - start : 1;
    const double step = d->step > 0 ? d->step : length / 500;
    if (!tr_instance_step(i, start, step, &news, err)) return false;
    const bool is_whole = !news.was_early && !news.terminates;
    if (is_whole && !(fabs(news.reached - (start + step)) <= 1e-9 * (step + fabs(start))))
        tr_found(&c->fmu.findings, MISTAKE, nowhere,
                 "after a step from t = %.9g to %.9g lastSuccessfulTime is %.17g", start,
                 start + step, news.reached);
    if (!is_whole) return true;
    find_not_finite(c, i);
    const TriedFrom from = {.t = start + step,
                            .step = step,
                            .can_step = !news.needs_event && !(start + 2 * step > d->stop_time)};
    return tr_fmu_try_promises(&c->fmu, i, &from, err);
}

// Another token must be refused. Many accept any, so that is a remark.
static void try_other_token(Check *c, const Binary *b)
{
    Instance i;
    tr_error err = {0};
    if (tr_instance_new(&i, b, "{00000000-no-such-token}", (Listener){0}, &err))
        tr_found(&c->fmu.findings, REMARK, nowhere,
                 "the binary takes any token: a wrong one is not noticed");
    tr_instance_free(&i);
    if (err.status == TR_NO_MEMORY) c->fmu.findings.failed = true;
}

// Real parameters and inputs a little off their starts: no reset may leave them there. What cannot
// be set is left alone.
static void nudge(Check *c, Instance *i)
{
    const Description *d = &c->fmu.description;
    for (uint32_t k = 0; k < d->count && !i->has_died; k++) {
        const Variable *v = &d->variables[k];
        tr_error err = {0};
        double value;
        const bool is_set = v->causality == PARAMETER || v->causality == INPUT;
        if (!is_set || v->is_alias || v->is_array || !is_real(v) || !tr_start_value(v, 0, &value))
            continue;
        value += 1e-3 * (1 + fabs(value)) * (value > 0 ? -1 : 1);
        if (value >= v->least && value <= v->most) tr_instance_set(i, &k, 1, &value, &err);
    }
}

// The life of an instance, twice: as it is, and after a reset
static bool try_life(Check *c, Instance *i, FmiKind kind, tr_error *err)
{
    double *first = NULL, *again = NULL;
    bool good =
        initialize(c, i, &first, err) && (kind == FMI_ME ? try_me(c, i, err) : try_cs(c, i, err));
    if (good) read_all(c, i, false);
    good = good && tr_instance_terminate(i, err) && tr_instance_reset(i, err);
    if (good) nudge(c, i);
    good = good && tr_instance_reset(i, err) && initialize(c, i, &again, err);
    if (good) tr_values_agree(&c->fmu, first, again, "after a reset");
    free(first), free(again);
    return good && tr_instance_terminate(i, err);
}

static void told(Check *c, tr_error *err)
{
    if (err->status == TR_NO_MEMORY)
        c->fmu.findings.failed = true;
    else if (err->status)
        tr_found(&c->fmu.findings, MISTAKE, nowhere, "%s", err->text);
    *err = (tr_error){0};
}

static void try_kind(Check *c, FmiKind kind, tr_error *err)
{
    const Description *d = &c->fmu.description;
    const tr_fmu_options *o = c->options;
    const Interface *interface = kind == FMI_ME ? &d->me : &d->cs;
    Binary b;
    Instance i;
    tr_error own = {0};
    if (!interface->xml || (o->kind && (o->kind[0] == 'm') != (kind == FMI_ME))) return;
    if (!tr_fmu_binary(&c->fmu, interface) && !o->build) {
        tr_found(&c->fmu.findings, REMARK, nowhere,
                 "%s was not tried: there is no binary for this machine%s", kind_word(kind),
                 tr_fmu_has_sources(&c->fmu) ? "; --build compiles the sources by cc, and runs them"
                                             : "");
        return;
    }
    if (tr_binary_load(&b, &c->fmu, kind, o->build, &own)) {
        if (tr_instance_new(&i, &b, d->token, (Listener){o->say, o->owner, o->all_messages},
                            &own)) {
            if (try_life(c, &i, kind, &own))
                tr_json_text(&c->ran, NULL, kind == FMI_ME ? "me" : "cs");
        } else if (own.status == TR_FAILED) {
            tr_error again = own;
            own = (tr_error){0};
            tr_fail(&own, TR_FAILED, nowhere,
                    "%s: the token '%.80s' of modelDescription.xml may not be that of the binary",
                    again.text, d->token ? d->token : "");
        }
        tr_instance_free(&i);
        try_other_token(c, &b);
    } else if (own.status == TR_IO)
        *err = own, own = (tr_error){0};
    told(c, &own);
    tr_binary_unload(&b);
}

// ---- what is said --------------------------------------------------------------------------

static void place_words(const Finding *f, char *words, size_t size)
{
    if (f->at.line)
        snprintf(words, size, "modelDescription.xml:%d: %s", f->at.line, f->words);
    else
        snprintf(words, size, "%s", f->words);
}

static void tell_found(const Check *c)
{
    char words[1100];
    for (uint32_t k = 0; c->options->found && k < c->fmu.findings.count; k++) {
        const Finding *f = &c->fmu.findings.list[k];
        place_words(f, words, sizeof words);
        c->options->found(c->options->owner, f->weight > REMARK, words);
    }
}

static size_t count_of(const Description *d, Causality causality)
{
    size_t count = 0;
    for (uint32_t k = 0; k < d->count; k++) count += d->variables[k].causality == causality;
    return count;
}

static void kinds_of(const Description *d, char *words, size_t size)
{
    snprintf(words, size, "%s%s%s%s%s", d->me.xml ? "model exchange" : "",
             d->me.xml && (d->cs.xml || d->se.xml) ? ", " : "", d->cs.xml ? "co-simulation" : "",
             d->cs.xml && d->se.xml ? ", " : "", d->se.xml ? "scheduled execution" : "");
}

static void tell_count(Buffer *out, size_t count, const char *of, const char *behind)
{
    tr_buffer_print(out, "%zu %s%s%s", count, of, plural(count), behind);
}

static char *text_of_check(Check *c, tr_error *err)
{
    const Description *d = &c->fmu.description;
    char kinds[100], platforms[300];
    Buffer out = {0};
    if (!d->count && !d->version) return tr_buffer_add(&out, "", 0), tr_text_finish(&out, err);
    kinds_of(d, kinds, sizeof kinds);
    tr_fmu_platforms(&c->fmu, platforms, sizeof platforms);
    tr_buffer_print(&out, "%s: FMI %s for %s\n", d->model_name ? d->model_name : "",
                    d->version == 2 ? "2.0" : "3", kinds);
    if (d->tool) tr_buffer_print(&out, "made by %s\n", d->tool);
    tell_count(&out, d->count, "variable", ": ");
    tell_count(&out, count_of(d, PARAMETER) + count_of(d, STRUCTURAL_PARAMETER), "parameter", ", ");
    tell_count(&out, count_of(d, INPUT), "input", ", ");
    tell_count(&out, count_of(d, OUTPUT), "output", ", ");
    tell_count(&out, count_of(d, LOCAL), "local", "\n");
    tell_count(&out, d->list[DERIVATIVES].count, "state", ", ");
    tell_count(&out, d->event_indicators, "event indicator", "\n");
    tr_buffer_print(&out, "binaries: %s; sources: %s\n", platforms[0] ? platforms : "none",
                    tr_fmu_has_sources(&c->fmu) ? "yes" : "no");
    if (c->words[0]) tr_buffer_print(&out, "%s\n", c->words);
    return tr_text_finish(&out, err);
}

static void list_found(Json *json, const Findings *f, const char *key, bool mistakes)
{
    tr_json_open(json, key, '[');
    for (uint32_t k = 0; k < f->count; k++) {
        if ((f->list[k].weight > REMARK) != mistakes) continue;
        tr_json_open(json, NULL, '{');
        if (f->list[k].at.line) tr_json_number(json, "line", f->list[k].at.line);
        tr_json_text(json, "text", f->list[k].words);
        tr_json_close(json, '}');
    }
    tr_json_close(json, ']');
}

static char *json_of_check(Check *c, tr_error *err)
{
    const Description *d = &c->fmu.description;
    char platforms[300];
    Json json = {0};
    tr_fmu_platforms(&c->fmu, platforms, sizeof platforms);
    tr_json_open(&json, NULL, '{');
    tr_json_text(&json, "fmi", d->version == 2 ? "2.0" : d->version == 3 ? "3" : "");
    tr_json_text(&json, "model", d->model_name ? d->model_name : "");
    tr_json_flag(&json, "me", d->me.xml != NULL);
    tr_json_flag(&json, "cs", d->cs.xml != NULL);
    tr_json_text(&json, "binaries", platforms);
    tr_json_flag(&json, "sources", tr_fmu_has_sources(&c->fmu));
    tr_json_number(&json, "variables", d->count);
    tr_json_number(&json, "states", d->list[DERIVATIVES].count);
    tr_json_number(&json, "event_indicators", d->event_indicators);
    tr_json_raw(&json, "ran", (Text){c->ran.text.at, c->ran.text.length});
    list_found(&json, &c->fmu.findings, "mistakes", true);
    list_found(&json, &c->fmu.findings, "remarks", false);
    tr_json_close(&json, '}');
    return tr_text_finish(&json.text, err);
}

char *tr_fmu_check(const char *path, const tr_fmu_options *given, bool json, size_t *mistakes,
                   tr_error *err)
{
    tr_fmu_options options = tr_fmu_defaults();
    Check c = {.options = &options};
    char *text = NULL;
    if (!path || !tr_take_options(&options, sizeof options, given, "tr_fmu_defaults", err))
        return NULL;
    if (options.kind && strcmp(options.kind, "me") != 0 && strcmp(options.kind, "cs") != 0) {
        tr_fail(err, TR_USAGE, nowhere, "an FMU is of kind me or cs, not '%.20s'", options.kind);
        return NULL;
    }
    tr_error own = {0};
    tr_json_open(&c.ran, NULL, '[');
    if (tr_fmu_open(&c.fmu, path, &own) && !c.fmu.findings.of[WRECK] && !options.no_run) {
        try_kind(&c, FMI_ME, &own);
        try_kind(&c, FMI_CS, &own);
    }
    const bool ran = c.ran.has_items;
    tr_json_close(&c.ran, ']');
    snprintf(c.words, sizeof c.words, "%s",
             options.no_run ? "nothing of it was run"
             : ran          ? "run: instantiated, initialised, read, stepped, reset and terminated"
                            : "");
    if (c.fmu.findings.failed || c.ran.text.failed) tr_fail_memory(&own);
    if (!own.status)
        tell_found(&c), text = json ? json_of_check(&c, &own) : text_of_check(&c, &own);
    if (mistakes) *mistakes = c.fmu.findings.of[MISTAKE] + c.fmu.findings.of[WRECK];
    if (own.status && err && !err->status) *err = own;
    tr_buffer_free(&c.ran.text);
    tr_fmu_close(&c.fmu);
    return text;
}
