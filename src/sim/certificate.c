// SPDX-License-Identifier: Apache-2.0
#include "sim/certificate.h"

#include "base/file.h"
#include "plan/column.h"
#include "plan/covariance.h"
#include "sim/filter.h"
#include "sim/sample.h"
#include "sim/swept.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 1 << 26 }; // of one that is read
#define ENERGY_ALARM   1e-3    // beyond this a run comes with a warning
#define KKT_ALARM      1e-6
#define POSITION_ALARM 1e-6

void tr_certificate_path(const char *output, Buffer *path)
{
    const char *point = strrchr(output, '.');
    const size_t stem = point && !strchr(point, '/') ? (size_t)(point - output) : strlen(output);
    tr_buffer_add(path, output, stem);
    tr_buffer_print(path, ".json");
}

char *tr_certificate_read(const char *run, Text *text, tr_error *err)
{
    Buffer path = {0};
    struct stat info;
    char *bytes = NULL;
    *text = (Text){0};
    if (tr_is_swept(run)) return tr_swept_certificate(run, text, err);
    tr_certificate_path(run, &path);
    if (path.failed)
        tr_fail_memory(err);
    else if (strcmp(path.at, run) != 0 && stat(path.at, &info) == 0 && S_ISREG(info.st_mode)) {
        size_t length = 0;
        bytes = tr_file_read(path.at, MOST_BYTES, &length, err);
        *text = (Text){bytes, length};
        const bool is_json = bytes && tr_json_is_valid(*text);
        if (bytes && !(is_json && tr_json_is_object(*text)))
            tr_fail(err, TR_INVALID, (Place){0}, "'%.200s' is not a certificate: it is %s", path.at,
                    is_json ? "JSON of something else" : "not JSON");
    }
    tr_buffer_free(&path);
    if (!has_failed(err)) return bytes;
    free(bytes);
    *text = (Text){0};
    return NULL;
}

bool tr_certificate_model(const char *run, const char *file, int place, Buffer *path)
{
    const char *slash = strrchr(run, '/');
    if (!file[0] || strchr(file, '/') || (place == 0 && !slash)) return false;
    if (place == 0) tr_buffer_add(path, run, (size_t)(slash + 1 - run));
    tr_buffer_add(path, file, strlen(file));
    return true;
}

void tr_describe_case(Json *j, const System *system)
{
    const struct Source *source = &system->source;
    tr_json_text(j, "case", source->case_name ? source->case_name : "");
    tr_json_open(j, "settings", '[');
    for (uint32_t i = 0; i < source->setting_count; i++) {
        tr_json_open(j, NULL, '{');
        tr_json_text(j, "name", source->settings[i].name);
        tr_json_text(j, "formula", source->settings[i].formula);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
    if (!source->with_count) return;
    tr_json_open(j, "with", '[');
    for (uint32_t i = 0; i < source->with_count; i++) {
        tr_json_open(j, NULL, '{');
        tr_json_text(j, "file", source->with[i]);
        tr_json_text(j, "text", source->with_texts[i]);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
}

static void describe_options(Json *j, const Certificate *c)
{
    const tr_simulate_options *o = c->options;
    const char *title = c->mover->flow->system->title;
    tr_json_text(j, "model", title ? title : "");
    tr_json_text(j, "method", o->method);
    tr_json_number(j, "end", o->end);
    tr_json_number(j, "reached", c->summary->t);
    tr_json_number(j, "every", o->every);
    if (c->mover->method->adaptive) {
        tr_json_number(j, "rtol", o->rtol);
        tr_json_number(j, "atol", o->atol);
    } else
        tr_json_number(j, "step", o->step);
    if (o->control) tr_json_number(j, "sample", o->sample > 0 ? o->sample : o->every);
}

static void describe_summary(Json *j, const Certificate *c)
{
    const tr_summary *s = c->summary;
    tr_json_number(j, "rows", (double)s->rows);
    tr_json_number(j, "steps", (double)s->steps);
    tr_json_number(j, "failed_steps", (double)s->failed_steps);
    tr_json_number(j, "evaluations", (double)s->evaluations);
    tr_json_number(j, "all_evaluations", (double)s->all_evaluations);
    if (s->jacobians) tr_json_number(j, "jacobians", (double)s->jacobians);
    tr_json_number(
        j, "operations",
        (double)tr_program_sizes(flow_program(c->mover->flow, CHART_RATES)->program).operations);
    tr_json_number(j, "seconds", s->seconds);
    tr_json_number(j, "energy_error", s->energy_error);
    tr_json_number(j, "position_error", s->position_error);
    tr_json_number(j, "velocity_error", s->velocity_error);
    if (c->command_error >= 0) tr_json_number(j, "command_error", c->command_error);
    if (c->mover->flow->stance) {
        tr_json_number(j, "kkt_error", s->kkt_error);
        tr_json_number(j, "chart_changes", (double)s->chart_changes);
    }
    tr_json_number(j, "drift", c->mover->drift); // of positions in a step, before they are mended
    tr_json_flag(j, "interrupted", s->interrupted);
}

// Of the state at the end: positions and independent velocities
static void describe_covariance(Json *j, const Flow *flow, const double *y)
{
    const uint32_t n = flow->known;
    double *P = flow->covariance ? calloc((size_t)n * n + 1, sizeof *P) : NULL;
    const char **names = P ? calloc(n + 1u, sizeof *names) : NULL;
    for (uint32_t i = 0; names && i < n; i++) {
        names[i] = flow->system->inputs[flow->now->place[i]].name;
        for (uint32_t k = 0; k < n; k++) P[(size_t)i * n + k] = tr_covariance_of(flow, y, i, k);
    }
    if (flow->covariance && !names) j->text.failed = true;
    if (names) {
        tr_json_open(j, "covariance", '{');
        tr_json_texts(j, "of", names, n);
        tr_json_matrix(j, "matrix", P, n, n);
        tr_json_close(j, '}');
    }
    free(P);
    free(names);
}

// Of fixes: how many there were, and how large innovations are against what they should be
static void describe_filter(Json *j, const Filter *f)
{
    if (!f) return;
    tr_json_open(j, "filter", '{');
    tr_json_number(j, "used", (double)f->used);
    tr_json_number(j, "outliers", (double)f->outliers);
    tr_json_number(j, "numbers", f->numbers);
    tr_json_number(j, "consistency", f->sum); // about as large as the numbers
    tr_json_open(j, "fixes", '[');
    for (uint32_t i = 0; i < f->count; i++) {
        const Innovation *one = &f->list[i];
        tr_json_open(j, NULL, '{');
        tr_json_text(j, "name", f->system->fixes[one->fix].name);
        tr_json_number(j, "t", one->t);
        tr_json_number(j, "numbers", one->count);
        tr_json_number(j, "consistency", one->consistency);
        tr_json_flag(j, "outlier", one->is_outlier);
        tr_json_flag(j, "used", one->is_used);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
    tr_json_close(j, '}');
}

// What it was made from, so that it can be made again.
static void describe_source(Json *j, const System *system)
{
    const struct Source *source = &system->source;
    const char *slash = source->file ? strrchr(source->file, '/') : NULL;
    tr_json_text(j, "model_file", slash ? slash + 1 : source->file ? source->file : "");
    tr_json_text(j, "model_sha256", source->sha256);
    tr_describe_case(j, system);
    tr_json_text(j, "program", "trundle " TR_VERSION);
}

// The file that it stands beside, so that the two can be seen to belong together.
static void describe_rows(Json *j, const Certificate *c)
{
    if (!c->rows->bytes) return;
    const char *path = c->options->output, *slash = strrchr(path, '/');
    tr_json_text(j, "rows_file", slash ? slash + 1 : path);
    tr_json_number(j, "rows_bytes", (double)c->rows->bytes);
    tr_json_text(j, "rows_sha256", c->rows->sha256);
}

// What the model says of them besides: unit, range and words
void tr_describe_ports(Json *j, const System *system)
{
    bool any = false;
    for (uint32_t i = 0; i < system->input_count; i++) {
        const Input *input = &system->inputs[i];
        const Port *port = &input->port;
        if (!is_setting(input) || !is_declared(port)) continue;
        if (!any) tr_json_open(j, "ports", '{');
        any = true;
        tr_json_open(j, input->name, '{');
        tr_json_text(j, "kind", input->kind == TR_INPUT ? "input" : "parameter");
        tr_json_number(j, "value", input->value);
        if (port->unit[0]) tr_json_text(j, "unit", port->unit);
        if (isfinite(port->min)) tr_json_number(j, "min", port->min);
        if (isfinite(port->max)) tr_json_number(j, "max", port->max);
        if (port->doc[0]) tr_json_text(j, "doc", port->doc);
        tr_json_close(j, '}');
    }
    if (any) tr_json_close(j, '}');
}

static void describe_parameters(Json *j, const System *system)
{
    tr_json_open(j, "parameters", '{');
    for (uint32_t i = 0; i < system->input_count; i++)
        if (system->inputs[i].kind == TR_PARAMETER)
            tr_json_number(j, system->inputs[i].name, system->inputs[i].value);
    tr_json_close(j, '}');
}

static void describe_columns(Json *j, const Certificate *c)
{
    tr_json_open(j, "columns", '[');
    for (uint32_t i = 0; i < c->columns; i++) {
        const Port port = tr_column_port(c->mover->flow->system, c->labels[i]);
        tr_json_open(j, NULL, '{');
        tr_json_text(j, "name", c->labels[i]);
        tr_json_text(j, "unit", tr_quantity_unit(port.quantity));
        tr_json_text(j, "quantity", tr_quantity_words(port.quantity));
        tr_json_text(j, "owner", port.owner);
        tr_json_text(j, "component", port.component);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
}

// What acts at samples
static void describe_samples(Json *j, const Run *run)
{
    const System *s = run->plan->system;
    if (!s->clocked_count) return;
    tr_json_open(j, "samples", '[');
    for (uint32_t i = 0; i < s->clocked_count; i++) {
        const Clocked *c = &s->clocked[i];
        tr_json_open(j, NULL, '{');
        tr_json_text(j, "name", c->name);
        tr_json_text(j, "kind", c->is_sensor ? "sensor" : "controller");
        tr_json_number(j, "period", run->clocks[i].period.seconds);
        tr_json_number(j, "count", (double)run->clocks[i].count);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
}

// What `initial` left open, and what was chosen where that is not the guess
static void describe_start(Json *j, const Flow *flow)
{
    const System *s = flow->system;
    const Start *start = flow->plan->start; // there by now, and not changed any more
    if (!start) return;
    tr_json_open(j, "start", '{');
    tr_json_open(j, "open", '[');
    for (uint32_t i = 0; i < s->input_count; i++)
        if (start->marks[i] & START_OPEN) tr_json_text(j, NULL, s->inputs[i].name);
    tr_json_close(j, ']');
    tr_json_open(j, "chosen", '{');
    for (uint32_t i = 0; i < s->input_count; i++)
        if (start->marks[i] & START_CHOSEN) tr_json_number(j, s->inputs[i].name, start->inputs[i]);
    tr_json_close(j, '}');
    tr_json_close(j, '}');
}

static void describe_switch(Json *j, const System *system, const Switch *change)
{
    char words[200] = "a formula of the state jumps or has a kink";
    tr_json_open(j, NULL, '{');
    tr_json_number(j, "t", change->t);
    if (change->source)
        snprintf(words, sizeof words, "the rate of '%.100s' jumps: a blow changes velocities",
                 change->source);
    else if (change->formula && change->formula[0])
        snprintf(words, sizeof words, "'%.100s' jumps or has a kink", change->formula);
    tr_json_text(j, "kind",
                 change->source || change->formula ? words : system->alarms[change->alarm].words);
    if (change->source) tr_json_number(j, "work", change->gained + change->lost);
    if (change->impulse > 0) tr_json_number(j, "impulse", change->impulse);
    if (change->lost > 0) tr_json_number(j, "lost", change->lost);
    if (change->rebounded) tr_json_flag(j, "rebounded", true);
    if (change->slips_on) tr_json_flag(j, "slips_on", true);
    tr_json_close(j, '}');
}

// In the order of time
static void describe_events(Json *j, const Certificate *c)
{
    const Events *events = c->events;
    tr_json_open(j, "events", '[');
    for (uint32_t i = 0, k = 0;
         i + k < MOST_LISTED && (i < events->count || k < c->switch_count);) {
        if (k < c->switch_count && (i == events->count || c->switches[k].t < events->at[i])) {
            describe_switch(j, c->mover->flow->system, &c->switches[k++]);
            continue;
        }
        tr_json_open(j, NULL, '{');
        tr_json_number(j, "t", events->at[i++]);
        tr_json_text(j, "kind", "a formula of t jumps or has a kink");
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
}

// How long motors were at their limits                                                    (T346)
static void describe_spells(Json *j, const Certificate *c)
{
    const System *s = c->mover->flow->system;
    bool any = false;
    for (uint32_t k = 0; k < s->alarm_count; k++) {
        const Spell *spell = c->mover->watch.spells ? &c->mover->watch.spells[k] : NULL;
        if (!spell || !spell->count) continue;
        if (!any) tr_json_open(j, "at_limit", '[');
        any = true;
        tr_json_open(j, NULL, '{');
        tr_json_text(j, "what", s->alarms[k].words);
        tr_json_number(j, "from", spell->first);
        tr_json_number(j, "seconds", tr_spell_lasted(spell, c->mover->t));
        tr_json_number(j, "times", spell->count);
        tr_json_close(j, '}');
    }
    if (any) tr_json_close(j, ']');
}

static void describe_warnings(Json *j, const Certificate *c)
{
    char text[400];
    const tr_summary *s = c->summary;
    const Warnings *warnings = &c->mover->watch.warnings;
    tr_json_open(j, "warnings", '[');
    for (uint32_t i = 0; i < warnings->kept; i++) tr_json_text(j, NULL, warnings->words[i]);
    if (c->mover->outlook.advice[0]) tr_json_text(j, NULL, c->mover->outlook.advice);
    if (!(s->energy_error <= ENERGY_ALARM)) {
        snprintf(text, sizeof text, "the energy balance is off by %.2g of the energy",
                 s->energy_error);
        tr_json_text(j, NULL, text);
    }
    if (!(s->position_error <= POSITION_ALARM)) {
        snprintf(text, sizeof text, "constraints on positions are off by %.2g", s->position_error);
        tr_json_text(j, NULL, text);
    }
    if (!(s->kkt_error <= KKT_ALARM)) {
        snprintf(text, sizeof text, "accelerations differ by %.2g when found in another way",
                 s->kkt_error);
        tr_json_text(j, NULL, text);
    }
    tr_json_close(j, ']');
}

void tr_certificate_text(const Certificate *c, Buffer *text)
{
    const System *system = c->mover->flow->system;
    Json j = {0};
    tr_json_open(&j, NULL, '{');
    describe_options(&j, c);
    describe_summary(&j, c);
    tr_json_text(&j, "failure", c->outcome->status ? c->outcome->text : "");
    describe_source(&j, system);
    describe_rows(&j, c);
    describe_parameters(&j, system);
    tr_describe_ports(&j, system);
    describe_samples(&j, c->run);
    describe_start(&j, c->mover->flow);
    describe_events(&j, c);
    describe_spells(&j, c);
    describe_warnings(&j, c);
    describe_covariance(&j, c->mover->flow, c->mover->y);
    describe_filter(&j, c->filter);
    describe_columns(&j, c); // last: it is long
    tr_json_close(&j, '}');
    *text = j.text;
}

OutFile *tr_certificate_create(const char *output, tr_error *err)
{
    Buffer path = {0};
    tr_certificate_path(output, &path);
    if (path.failed) tr_fail_memory(err);
    OutFile *file = tr_file_create(path.at, err);
    tr_buffer_free(&path);
    return file;
}

bool tr_certificate_is_of(Text certificate, const char *bytes, size_t length, tr_error *err)
{
    Buffer named = {0};
    char hash[TR_SHA256_SIZE];
    const Text value = tr_json_member(certificate, "rows_sha256");
    if (!value.at) return true;
    tr_sha256(bytes, length, hash);
    const bool same = tr_json_string(value, &named) && !named.failed && strcmp(named.at, hash) == 0;
    if (named.failed) tr_fail_memory(err);
    tr_buffer_free(&named);
    return same;
}
