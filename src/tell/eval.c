// SPDX-License-Identifier: Apache-2.0
// What `eval` says: the numbers at the initial instant, in words or as JSON.
#include "tell/eval.h"

#include "num/dense.h"
#include "plan/blame.h"
#include "plan/kkt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool evaluate_accelerations(AtStart *at, tr_error *err)
{
    if (!tr_flow_ready(at->flow, 1u << CHART_ACCELERATIONS, err)) return false;
    evaluate_into(flow_program(at->flow, CHART_ACCELERATIONS), at->flow->inputs, at->vdot);
    return true;
}

// A mass matrix that is singular shows here, and so does a formula that has no value.
static bool check_accelerations(const AtStart *at, tr_error *err)
{
    char words[REASON_SIZE];
    Place place;
    for (uint32_t i = 0; i < at->velocities; i++)
        if (!isfinite(at->vdot[i])) {
            tr_flow_reason(at->flow, 0, at->flow->start, words, &place);
            tr_fail(err, TR_FAILED, place, "the acceleration of '%s' is not finite at the start%s",
                    at->flow->labels[at->positions + i], words);
            return false;
        }
    return true;
}

// No output has a name in it that has no value at the start.
static bool check_columns(const AtStart *at, tr_error *err)
{
    for (uint32_t i = 0; i < at->flow->column_count && !has_failed(err); i++)
        if (!isfinite(at->columns[i])) tr_flow_check_column(at->flow, 0, at->flow->start, i, err);
    return !has_failed(err);
}

// Rows that were not solved for must hold for accelerations, too.
static bool check_agreement(AtStart *at, tr_error *err)
{
    const Chart *chart = at->flow->now->chart;
    if (!chart || !chart->surplus_count) return true;
    if (!tr_flow_ready(at->flow, 1u << CHART_KKT, err)) return false;
    Kkt *kkt = at->flow->now->kkt;
    return !kkt || tr_kkt_agrees(kkt, 0, at->flow->start, err);
}

bool tr_at_start_take(AtStart *at, const System *s, tr_error *err)
{
    at->plan = tr_plan_new(s, err);
    at->flow = tr_flow_new(at->plan, NULL, err);
    if (!tr_flow_ready(at->flow, 1u << CHART_COLUMNS | 1u << CHART_RESIDUALS, err)) return false;
    at->columns = calloc(at->flow->column_count + 1u, sizeof *at->columns);
    at->vdot = calloc(s->input_count + 1u, sizeof *at->vdot);
    if (!at->columns || !at->vdot) return tr_fail_memory(err), false;
    at->positions = tr_system_inputs(s, TR_POSITION, NULL);
    at->velocities = tr_system_inputs(s, TR_VELOCITY, NULL);
    at->findings = tr_plan_examine(at->plan, err);
    if (has_failed(err)) return false;
    tr_flow_columns(at->flow, 0, at->flow->start, at->columns);
    if (!evaluate_accelerations(at, err)) return false;
    const Findings *f = at->findings;
    return (f && (f->singular || f->stuck)) ||
           (check_accelerations(at, err) && check_agreement(at, err) && check_columns(at, err));
}

void tr_at_start_release(AtStart *at)
{
    tr_flow_free(at->flow);
    tr_plan_free(at->plan);
    free(at->columns);
    free(at->vdot);
}

void tr_group_open(Group *g, const char *title)
{
    g->title = title;
    g->count = 0;
    if (g->json) tr_json_open(g->j, title, '{');
}

void tr_group_alone(Group *g, const char *title, const char *name, double value)
{
    Buffer *b = &g->j->text;
    if (g->json) {
        tr_json_number(g->j, name, value);
        return;
    }
    tr_buffer_print(b, "%-8s %-24s ", title, name);
    tr_buffer_number(b, value);
    tr_buffer_add(b, "\n", 1);
}

void tr_group_number(Group *g, const char *name, double value)
{
    if (g->json)
        tr_json_number(g->j, name, value);
    else if (tr_grow((void **)&g->lines, &g->capacity, g->count + 1, sizeof *g->lines))
        g->lines[g->count++] = (struct GroupLine){name, value};
    else
        g->j->text.failed = true;
}

double tr_noise(const double *values, size_t count, size_t stride, const Buffer *text)
{
    double most = 1;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i * stride])) most = larger(most, fabs(values[i * stride]));
    return text->digits ? 1e-13 * most : 0;
}

double tr_unless_noise(double value, const Buffer *text)
{
    return fabs(value) < tr_noise(&value, 1, 1, text) ? 0 : value;
}

void tr_add_complex(Buffer *text, const double z[2], double noise)
{
    tr_buffer_number(text, fabs(z[0]) < noise ? 0 : z[0]);
    if (fabs(z[1]) <= noise) return;
    tr_buffer_print(text, z[1] < 0 ? " - " : " + ");
    tr_buffer_number(text, fabs(z[1]));
    tr_buffer_print(text, "i");
}

void tr_group_close(Group *g)
{
    if (g->json) {
        tr_json_close(g->j, '}');
        return;
    }
    const size_t stride = sizeof *g->lines / sizeof(double);
    const double noise = g->count ? tr_noise(&g->lines[0].value, g->count, stride, &g->j->text) : 0;
    for (uint32_t i = 0; i < g->count; i++)
        tr_group_alone(g, g->title, g->lines[i].name,
                       fabs(g->lines[i].value) < noise ? 0 : g->lines[i].value);
    free(g->lines);
    g->lines = NULL, g->count = g->capacity = 0;
}

void tr_group_outputs(Group *g, const System *s, const double *columns, const char *title,
                      const char *prefix)
{
    uint32_t column =
        tr_system_inputs(s, TR_POSITION, NULL) + tr_system_inputs(s, TR_VELOCITY, NULL);
    tr_group_open(g, title);
    for (uint32_t i = 0; i < s->output_count; i++) {
        if (!s->outputs[i].label) continue;
        if (begins_with(s->outputs[i].name, prefix))
            tr_group_number(g, s->outputs[i].name + strlen(prefix), columns[column]);
        column++;
    }
    tr_group_close(g);
}

// Names of what became so at the start
static void write_marked(const Flow *flow, const Group *g, const char *title, StartMark mark)
{
    const System *s = flow->system;
    if (g->json) tr_json_open(g->j, title, '[');
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (!(flow->marks[i] & mark)) continue;
        if (g->json)
            tr_json_text(g->j, NULL, s->inputs[i].name);
        else
            tr_buffer_print(&g->j->text, "%-8s %s\n", title, s->inputs[i].name);
    }
    if (g->json) tr_json_close(g->j, ']');
}

static void write_instant(const AtStart *at, Group *g)
{
    Flow *flow = at->flow;
    double position, velocity;
    tr_flow_residual(flow, 0, flow->start, &position, &velocity);
    if (g->json) tr_json_open(g->j, NULL, '{');
    tr_group_open(g, "q");
    for (uint32_t i = 0; i < at->positions; i++)
        tr_group_number(g, flow->labels[i], at->columns[i]);
    tr_group_close(g);
    tr_group_open(g, "v");
    for (uint32_t i = 0; i < at->velocities; i++)
        tr_group_number(g, flow->labels[at->positions + i], at->columns[at->positions + i]);
    tr_group_close(g);
    tr_group_open(g, "vdot");
    for (uint32_t i = 0; i < at->velocities && flow->system->order != 1; i++)
        tr_group_number(g, flow->labels[at->positions + i], at->vdot[i]);
    tr_group_close(g);
    tr_group_outputs(g, flow->system, at->columns, "lambda", "lambda.");
    tr_group_outputs(g, flow->system, at->columns, "tau", "tau.");
    tr_group_outputs(g, flow->system, at->columns, "outputs", "outputs.");
    write_marked(flow, g, "solved", START_SOLVED);
    write_marked(flow, g, "open", START_OPEN);
    write_marked(flow, g, "chosen", START_CHOSEN);
    if (g->json) tr_json_open(g->j, "residual", '{');
    tr_group_alone(g, "residual", "position", tr_unless_noise(position, &g->j->text));
    tr_group_alone(g, "residual", "velocity", tr_unless_noise(velocity, &g->j->text));
    if (g->json) tr_json_close(g->j, '}');
    if (g->json) tr_json_close(g->j, '}');
}

char *tr_eval_text(const System *s, bool json, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!s || has_failed(err)) return NULL;
    AtStart at = {0};
    Json j = {0};
    Group g = {.j = &j, .json = json};
    j.text.digits = json ? 0 : s->digits;
    if (tr_at_start_take(&at, s, err) && tr_plan_allows(at.plan, err)) write_instant(&at, &g);
    tr_at_start_release(&at);
    return tr_text_finish(&j.text, err);
}

bool tr_initial(Plan *plan, double *inputs, size_t size, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!plan || has_failed(err)) return false;
    const size_t count = plan->system->input_count;
    if (size != count) {
        tr_fail(err, TR_USAGE, (Place){0}, "the state has %zu numbers, not %zu", count, size);
        return false;
    }
    Flow *flow = tr_flow_new(plan, NULL, err);
    if (flow) memcpy(inputs, flow->inputs, count * sizeof *inputs);
    tr_flow_free(flow);
    return flow != NULL;
}
