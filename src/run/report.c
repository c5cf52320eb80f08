// SPDX-License-Identifier: Apache-2.0
// What `check`, `derive` and `eval` say about a system, in words or as JSON.
#include "base/json.h"
#include "run/kkt.h"
#include "run/method.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- counting ------------------------------------------------------------------------------

typedef struct Facts {
    uint32_t base, passive, driven; // velocities: n, s_p, s_a of the papers
    uint32_t kernel;                // velocities that are free
    uint32_t rows, m, m_locked;     // constraints
    const Chart *chart;             // NULL when there are none
    bool *kinematic;                // by input: a passive velocity that the constraints determine
    size_t operations, operations_symbolic;
} Facts;

static size_t count_operations(System *s, bool fixed, tr_error *err)
{
    const tr_compile_options options = {.fix_parameters = fixed};
    tr_program *program = tr_compile(s, "run.accelerations", &options, err);
    const size_t operations = tr_program_sizes(program).operations;
    tr_program_free(program);
    return operations;
}

// The accelerations of what is free.
static bool add_accelerations(System *s, tr_error *err)
{
    uint32_t *free_ones = malloc((s->input_count + 1) * sizeof *free_ones);
    Expr *rates = malloc((s->input_count + 1) * sizeof *rates);
    if (!rates || !free_ones) tr_fail_memory(err);
    const uint32_t count = has_failed(err) ? 0 : tr_independent(s, free_ones);
    for (uint32_t i = 0; i < count; i++) rates[i] = s->inputs[free_ones[i]].rate;
    if (count) tr_system_put(s, "run.accelerations", rates, count, 1, err);
    free(rates);
    free(free_ones);
    return count > 0 && !has_failed(err);
}

// A constrained system is looked at where it starts, in a flow.
static Facts find_facts(System *s, const Flow *flow, tr_error *err)
{
    Facts f = {.kernel = tr_independent(s, NULL)};
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        if (input->kind != TR_VELOCITY) continue;
        f.base += input->is_base;
        f.passive += !input->is_base && input->drive != DRIVE_MOTION;
        f.driven += !input->is_base && input->drive == DRIVE_MOTION;
    }
    if (flow && flow->chart) {
        f.chart = flow->chart;
        f.rows = f.chart->rows, f.m = f.chart->m, f.m_locked = f.chart->m_locked;
        f.kinematic = calloc(s->input_count + 1u, sizeof *f.kinematic);
        if (f.kinematic)
            tr_chart_kinematic(f.chart, flow->inputs, f.kinematic, err);
        else
            tr_fail_memory(err);
    }
    if (!add_accelerations(s, err)) return f;
    f.operations = count_operations(s, true, err);
    f.operations_symbolic = count_operations(s, false, err);
    return f;
}

// ---- names ---------------------------------------------------------------------------------

// "steer" of "steer_rate"; "frame.vx" stays
static void joint_name(const char *velocity, char out[128])
{
    const size_t length = strlen(velocity);
    const bool rate = length > 5 && strcmp(velocity + length - 5, "_rate") == 0;
    snprintf(out, 128, "%.*s", (int)(rate ? length - 5 : length), velocity);
}

// A free velocity by its name, a speed by that of its formula.
static const char *speed_name(const System *s, const Input *input)
{
    for (uint32_t i = 0; i < s->row_count; i++)
        if (s->rows[i].is_speed && s->rows[i].symbol.id == input->symbol.id) return s->rows[i].name;
    return input->name;
}

// Names one after the other, as JSON or in words.
typedef struct Names {
    Json *j;
    bool json;
    uint32_t count;
} Names;

static void add_name(Names *n, const char *name)
{
    if (n->json)
        tr_json_text(n->j, NULL, name);
    else
        tr_buffer_print(&n->j->text, "%s%s", n->count ? ", " : "", name);
    n->count++;
}

static void list_independent(Names *n, const System *s)
{
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        if ((input->kind == TR_VELOCITY || input->kind == TR_SPEED) && !input->definition.id)
            add_name(n, speed_name(s, input));
    }
}

// Passive joints that follow from the driven ones, or the others.
static void list_passive(Names *n, const System *s, const Facts *f, bool kinematic)
{
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        char name[128];
        if (input->kind != TR_VELOCITY || input->is_base || input->drive == DRIVE_MOTION) continue;
        if ((f->kinematic && f->kinematic[i]) != kinematic) continue;
        joint_name(input->name, name);
        add_name(n, name);
    }
}

static void list_hyperstatic(Names *n, const Facts *f)
{
    for (uint32_t i = 0; i < f->rows; i++)
        if (f->chart->hyperstatic[i]) add_name(n, f->chart->system->rows[i].name);
}

// ---- derive --------------------------------------------------------------------------------

static void derive_json(Json *j, const System *s, const Facts *f)
{
    Names names = {j, true, 0};
    tr_json_open(j, NULL, '{');
    tr_json_number(j, "bodies", s->body_count);
    tr_json_number(j, "n", f->base);
    tr_json_number(j, "s_p", f->passive);
    tr_json_number(j, "s_a", f->driven);
    tr_json_number(j, "rows", f->rows);
    tr_json_number(j, "m", f->m);
    tr_json_number(j, "m_locked", f->m_locked);
    tr_json_number(j, "redundant", f->rows - f->m);
    tr_json_number(j, "antagonist", f->m - f->m_locked);
    tr_json_number(j, "hyperstatic", f->rows - f->m_locked);
    tr_json_open(j, "hyperstatic_rows", '['), list_hyperstatic(&names, f), tr_json_close(j, ']');
    tr_json_number(j, "kernel", f->kernel);
    tr_json_open(j, "independent", '['), list_independent(&names, s), tr_json_close(j, ']');
    tr_json_open(j, "kinematic", '['), list_passive(&names, s, f, true), tr_json_close(j, ']');
    tr_json_open(j, "dynamic", '['), list_passive(&names, s, f, false), tr_json_close(j, ']');
    tr_json_open(j, "operations", '{');
    tr_json_number(j, "rhs", (double)f->operations);
    tr_json_number(j, "rhs_symbolic", (double)f->operations_symbolic);
    tr_json_close(j, '}');
    tr_json_number(j, "nodes", s->graph->count);
    tr_json_number(j, "seconds", s->seconds);
    tr_json_text(j, "verdict", "ok");
    tr_json_close(j, '}');
}

static char *finished(Buffer *text, tr_error *err)
{
    if (text->failed) tr_fail_memory(err);
    if (!has_failed(err)) return text->at;
    tr_buffer_free(text);
    return NULL;
}

static const char *plural(uint32_t count) { return count == 1 ? "" : "s"; }

// The cell of Table I of Boyer and Belkhiri that a system belongs to.
static const char *table_one(const Facts *f)
{
    const bool antagonist = f->m > f->m_locked;
    if (f->kernel)
        return antagonist ? "H != 0, lambda_stat != 0: dynamics, and driven joints that can work "
                            "against each other"
                          : "H != 0, lambda_stat = 0: dynamics";
    return antagonist ? "H = 0, lambda_stat != 0: kinematics, and driven joints that can work "
                        "against each other"
                      : "H = 0, lambda_stat = 0: kinematics alone";
}

static void derive_rows(Json *j, const System *s, const Facts *f)
{
    Buffer *b = &j->text;
    Names names = {j, false, 0};
    tr_buffer_print(
        b, "constraint rows     %u, %u independent, %u of them with driven joints locked\n",
        f->rows, f->m, f->m_locked);
    tr_buffer_print(b, "                    %u redundant, %u antagonist\n", f->rows - f->m,
                    f->m - f->m_locked);
    if (f->rows > f->m_locked) {
        tr_buffer_print(b, "not unique          the reactions ");
        list_hyperstatic(&names, f);
        tr_buffer_print(b, "\n");
    }
    names.count = 0;
    tr_buffer_print(b, "independent         ");
    list_independent(&names, s);
    tr_buffer_print(b, names.count ? "\n" : "nothing\n");
    names.count = 0;
    tr_buffer_print(b, "passive joints      kinematic: ");
    list_passive(&names, s, f, true);
    tr_buffer_print(b, names.count ? "; dynamic: " : "none; dynamic: ");
    names.count = 0;
    list_passive(&names, s, f, false);
    tr_buffer_print(b, names.count ? "\n" : "none\n");
    tr_buffer_print(b, "Table I             %s\n", table_one(f));
}

static char *derive_text(System *s, const Flow *flow, bool json, tr_error *err)
{
    Facts f = find_facts(s, flow, err);
    Json j = {0};
    Buffer *b = &j.text;
    if (json)
        derive_json(&j, s, &f);
    else {
        if (s->title && s->title[0]) tr_buffer_print(b, "%s\n", s->title);
        tr_buffer_print(b, "bodies              %u\n", s->body_count);
        tr_buffer_print(b, "velocities          %u of the base, %u of joints, %u prescribed\n",
                        f.base, f.passive, f.driven);
        if (f.chart) derive_rows(&j, s, &f);
        tr_buffer_print(b, "degrees of freedom  %u\n", f.kernel);
        tr_buffer_print(b,
                        "operations          %zu from the state to the accelerations (%zu with "
                        "parameters left open)\n",
                        f.operations, f.operations_symbolic);
        tr_buffer_print(b, "derived in          ");
        tr_buffer_number(b, (double)(long)(1e6 * s->seconds) / 1e3);
        tr_buffer_print(b, " ms, %u nodes\n", s->graph->count);
    }
    free(f.kinematic);
    return finished(b, err);
}

char *tr_derive_text(System *s, bool json, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!s || has_failed(err)) return NULL;
    Flow *flow = s->row_count ? tr_flow_new(s, err) : NULL;
    char *text = has_failed(err) ? NULL : derive_text(s, flow, json, err);
    tr_flow_free(flow);
    return text;
}

// ---- eval ----------------------------------------------------------------------------------

typedef struct Instant {
    Flow *flow;
    double *columns, *vdot;
    uint32_t positions, velocities; // among all inputs, driven ones too
} Instant;

static bool evaluate_accelerations(Instant *at, tr_error *err)
{
    System *s = at->flow->system;
    Expr *rates = malloc((s->input_count + 1) * sizeof *rates);
    if (!rates) return tr_fail_memory(err), false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_VELOCITY) rates[count++] = s->inputs[i].rate;
    if (count) tr_system_put(s, "run.vdot", rates, count, 1, err);
    free(rates);
    if (!count) return true;
    const tr_compile_options fixed = {.fix_parameters = true};
    tr_program *program = tr_compile(s, "run.vdot", &fixed, err);
    tr_workspace *work = tr_workspace_new(program, err);
    if (work) tr_evaluate(program, work, at->flow->inputs, at->vdot);
    tr_workspace_free(work);
    tr_program_free(program);
    return !has_failed(err);
}

// A mass matrix that is singular shows here, and so does a formula that has no value.
static bool check_accelerations(const Instant *at, tr_error *err)
{
    for (uint32_t i = 0; i < at->velocities; i++)
        if (!isfinite(at->vdot[i])) {
            tr_fail(err, TR_FAILED, (Place){0},
                    "the acceleration of '%s' is not finite at the start",
                    at->flow->labels[at->positions + i]);
            return false;
        }
    return true;
}

// Rows that were not solved for must hold for accelerations, too.
static bool check_agreement(Instant *at, tr_error *err)
{
    Kkt *kkt = tr_kkt_new(at->flow, err);
    if (kkt) tr_kkt_agrees(kkt, 0, at->flow->start, err);
    tr_kkt_free(kkt);
    return !has_failed(err);
}

static bool take_instant(Instant *at, System *s, tr_error *err)
{
    at->flow = tr_flow_new(s, err);
    if (!at->flow) return false;
    at->columns = calloc(at->flow->column_count + 1u, sizeof *at->columns);
    at->vdot = calloc(s->input_count + 1u, sizeof *at->vdot);
    if (!at->columns || !at->vdot) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < s->input_count; i++) {
        at->positions += s->inputs[i].kind == TR_POSITION;
        at->velocities += s->inputs[i].kind == TR_VELOCITY;
    }
    tr_flow_columns(at->flow, 0, at->flow->start, at->columns);
    return evaluate_accelerations(at, err) && check_accelerations(at, err) &&
           check_agreement(at, err);
}

static void release_instant(Instant *at)
{
    tr_flow_free(at->flow);
    free(at->columns);
    free(at->vdot);
}

// Writes a group of name: number, as JSON or as lines.
typedef struct Group {
    Json *j;
    bool json;
    const char *title;
} Group;

static void open_group(Group *g, const char *title)
{
    g->title = title;
    if (g->json) tr_json_open(g->j, title, '{');
}

static void add_number(Group *g, const char *name, double value)
{
    if (g->json) {
        tr_json_number(g->j, name, value);
        return;
    }
    tr_buffer_print(&g->j->text, "%-8s %-24s ", g->title, name);
    tr_buffer_number(&g->j->text, value);
    tr_buffer_add(&g->j->text, "\n", 1);
}

static void close_group(Group *g)
{
    if (g->json) tr_json_close(g->j, '}');
}

// The recorded outputs whose name begins with `prefix`, under the rest of it.
static void add_outputs(Group *g, const Instant *at, const char *title, const char *prefix)
{
    const System *s = at->flow->system;
    uint32_t column = at->positions + at->velocities;
    open_group(g, title);
    for (uint32_t i = 0; i < s->output_count; i++) {
        if (!s->outputs[i].label) continue;
        if (strncmp(s->outputs[i].name, prefix, strlen(prefix)) == 0)
            add_number(g, s->outputs[i].name + strlen(prefix), at->columns[column]);
        column++;
    }
    close_group(g);
}

static void write_instant(const Instant *at, Group *g)
{
    Flow *flow = at->flow;
    double position, velocity;
    tr_flow_residual(flow, 0, flow->start, &position, &velocity);
    if (g->json) tr_json_open(g->j, NULL, '{');
    open_group(g, "q");
    for (uint32_t i = 0; i < at->positions; i++) add_number(g, flow->labels[i], at->columns[i]);
    close_group(g);
    open_group(g, "v");
    for (uint32_t i = 0; i < at->velocities; i++)
        add_number(g, flow->labels[at->positions + i], at->columns[at->positions + i]);
    close_group(g);
    open_group(g, "vdot");
    for (uint32_t i = 0; i < at->velocities; i++)
        add_number(g, flow->labels[at->positions + i], at->vdot[i]);
    close_group(g);
    add_outputs(g, at, "lambda", "lambda.");
    add_outputs(g, at, "tau", "tau.");
    add_outputs(g, at, "outputs", "outputs.");
    if (g->json) {
        tr_json_open(g->j, "solved", '[');
        for (uint32_t i = 0; i < flow->system->input_count; i++)
            if (flow->solved[i]) tr_json_text(g->j, NULL, flow->system->inputs[i].name);
        tr_json_close(g->j, ']');
    }
    open_group(g, "residual");
    add_number(g, "position", position);
    add_number(g, "velocity", velocity);
    close_group(g);
    if (g->json) tr_json_close(g->j, '}');
}

char *tr_eval_text(System *s, bool json, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!s || has_failed(err)) return NULL;
    Instant at = {0};
    Json j = {0};
    Group g = {&j, json, ""};
    if (take_instant(&at, s, err)) write_instant(&at, &g);
    release_instant(&at);
    return finished(&j.text, err);
}

bool tr_initial(System *s, double *inputs, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!s || has_failed(err)) return false;
    Flow *flow = tr_flow_new(s, err);
    for (uint32_t i = 0; flow && i < s->input_count; i++) inputs[i] = flow->inputs[i];
    tr_flow_free(flow);
    return flow != NULL;
}

bool tr_reduce_system(System *s, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!s || has_failed(err)) return false;
    tr_flow_free(s->row_count ? tr_flow_new(s, err) : NULL);
    return !has_failed(err);
}

// ---- check ---------------------------------------------------------------------------------

// What is surplus, in words: each row with those it depends on.
static void tell_surplus(Buffer *b, const Chart *chart)
{
    char names[1000];
    for (uint32_t j = 0; j < chart->surplus_count; j++) {
        tr_chart_name_group(chart, j, names, sizeof names);
        if (chart->antagonist[j])
            tr_buffer_print(b,
                            "antagonist: %s hold together only for motions that agree, and their "
                            "reactions are not unique: the driven joints can work against each "
                            "other\n",
                            names);
        else
            tr_buffer_print(b,
                            "redundant: %s say the same twice; the motion is unique, their "
                            "reactions are not\n",
                            names);
    }
}

static void tell_constraints(Json *j, const System *s, const Facts *f)
{
    Buffer *b = &j->text;
    Names names = {j, false, 0};
    tr_buffer_print(b, "%u constraint row%s, %u independent", f->rows, plural(f->rows), f->m);
    if (f->driven) tr_buffer_print(b, ", %u with the driven joints locked", f->m_locked);
    tr_buffer_print(b, ": %s\n", table_one(f));
    tell_surplus(b, f->chart);
    tr_buffer_print(b, "the motion is described by ");
    list_independent(&names, s);
    tr_buffer_print(b, names.count ? "\n" : "the driven joints alone\n");
    names.count = 0;
    const size_t length = b->length;
    tr_buffer_print(b, "the driven joints and the constraints alone determine ");
    list_passive(&names, s, f, true);
    if (!names.count && !b->failed) b->at[b->length = length] = 0;
    if (names.count) tr_buffer_print(b, "\n");
}

static void check_words(Json *j, const System *s, const Facts *f)
{
    Buffer *b = &j->text;
    tr_buffer_print(b, "ok: %u bod%s, %u degree%s of freedom", s->body_count,
                    s->body_count == 1 ? "y" : "ies", f->kernel, plural(f->kernel));
    uint32_t told = 0;
    for (uint32_t i = 0; i < s->input_count; i++)
        told += s->inputs[i].kind == TR_VELOCITY && s->inputs[i].drive == DRIVE_MOTION;
    if (told) tr_buffer_print(b, ", %u velocit%s prescribed", told, told == 1 ? "y" : "ies");
    tr_buffer_print(b, "; the initial state can be assembled\n");
    if (f->chart) tell_constraints(j, s, f);
}

// Sound: the method is one there is, the initial state assembles, and accelerates as it should.
char *tr_check_text(System *s, bool json, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!s || has_failed(err)) return NULL;
    Instant at = {0};
    Json j = {0};
    tr_error why = {0};
    char *text = NULL;
    if (s->plan.method && !tr_method(s->plan.method, &why))
        tr_fail(err, TR_INVALID, (Place){0}, "%s", why.text);
    if (!has_failed(err) && take_instant(&at, s, err)) {
        if (json)
            text = derive_text(s, at.flow, true, err);
        else {
            Facts f = find_facts(s, at.flow, err);
            check_words(&j, s, &f);
            free(f.kinematic);
            text = finished(&j.text, err);
        }
    }
    release_instant(&at);
    return text;
}

void tr_text_free(char *text) { free(text); }
