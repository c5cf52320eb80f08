// SPDX-License-Identifier: Apache-2.0
// What `check`, `derive` and `eval` say about a system, in words or as JSON.
#include "base/json.h"
#include "run/method.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- counting ------------------------------------------------------------------------------

typedef struct Facts {
    uint32_t base, passive, driven; // velocities: n, s_p, s_a of the papers
    uint32_t free;                  // not told how to move: the dimension of the kernel
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

// The accelerations that forward dynamics finds; those that are prescribed are not counted.
static bool add_accelerations(System *s, tr_error *err)
{
    Expr *rates = malloc((s->input_count + 1) * sizeof *rates);
    if (!rates) return tr_fail_memory(err), false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_VELOCITY && !s->inputs[i].definition.id)
            rates[count++] = s->inputs[i].rate;
    if (count && !tr_system_output(s, text_of("run.accelerations")))
        tr_output(s, "run.accelerations", rates, count, 1, err);
    free(rates);
    return count > 0 && !has_failed(err);
}

static Facts find_facts(System *s, tr_error *err)
{
    Facts f = {0};
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        if (input->kind != TR_VELOCITY) continue;
        f.base += input->is_base;
        f.passive += !input->is_base && input->drive != DRIVE_MOTION;
        f.driven += !input->is_base && input->drive == DRIVE_MOTION;
        f.free += !input->definition.id;
    }
    if (!add_accelerations(s, err)) return f;
    f.operations = count_operations(s, true, err);
    f.operations_symbolic = count_operations(s, false, err);
    return f;
}

// ---- derive --------------------------------------------------------------------------------

// "steer" of "steer_rate"; "frame.vx" stays
static void joint_name(const char *velocity, char out[128])
{
    const size_t length = strlen(velocity);
    const bool rate = length > 5 && strcmp(velocity + length - 5, "_rate") == 0;
    snprintf(out, 128, "%.*s", (int)(rate ? length - 5 : length), velocity);
}

static void list_velocities(Json *j, const System *s, const char *key, bool joints)
{
    tr_json_open(j, key, '[');
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        char name[128];
        if (input->kind != TR_VELOCITY || input->definition.id || (joints && input->is_base))
            continue;
        joint_name(input->name, name);
        tr_json_text(j, NULL, joints ? name : input->name);
    }
    tr_json_close(j, ']');
}

static void derive_json(Json *j, const System *s, const Facts *f)
{
    tr_json_open(j, NULL, '{');
    tr_json_number(j, "bodies", s->body_count);
    tr_json_number(j, "n", f->base);
    tr_json_number(j, "s_p", f->passive);
    tr_json_number(j, "s_a", f->driven);
    static const char *const none[] = {"rows",      "m",          "m_locked",
                                       "redundant", "antagonist", "hyperstatic"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) tr_json_number(j, none[i], 0);
    tr_json_open(j, "hyperstatic_rows", '['), tr_json_close(j, ']');
    tr_json_number(j, "kernel", f->free);
    list_velocities(j, s, "independent", false);
    tr_json_open(j, "kinematic", '['), tr_json_close(j, ']');
    list_velocities(j, s, "dynamic", true);
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

char *tr_derive_text(System *s, bool json, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!s || has_failed(err)) return NULL;
    const Facts f = find_facts(s, err);
    Json j = {0};
    if (json) {
        derive_json(&j, s, &f);
        return finished(&j.text, err);
    }
    Buffer *b = &j.text;
    if (s->title && s->title[0]) tr_buffer_print(b, "%s\n", s->title);
    tr_buffer_print(b, "bodies              %u\n", s->body_count);
    tr_buffer_print(b, "velocities          %u of the base, %u of joints, %u prescribed\n", f.base,
                    f.passive, f.driven);
    tr_buffer_print(b, "degrees of freedom  %u\n", f.free);
    tr_buffer_print(b,
                    "operations          %zu from the state to the accelerations (%zu with "
                    "parameters left open)\n",
                    f.operations, f.operations_symbolic);
    tr_buffer_print(b, "derived in          ");
    tr_buffer_number(b, (double)(long)(1e6 * s->seconds) / 1e3);
    tr_buffer_print(b, " ms, %u nodes\n", s->graph->count);
    return finished(b, err);
}

// ---- eval ----------------------------------------------------------------------------------

typedef struct Instant {
    Flow *flow;
    double *y, *columns, *vdot;
    bool *solved;
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
    if (count && !tr_system_output(s, text_of("run.vdot")))
        tr_output(s, "run.vdot", rates, count, 1, err);
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

static bool take_instant(Instant *at, System *s, tr_error *err)
{
    at->flow = tr_flow_new(s, err);
    if (!at->flow) return false;
    at->y = calloc(at->flow->size, sizeof *at->y);
    at->columns = calloc(at->flow->column_count + 1u, sizeof *at->columns);
    at->vdot = calloc(s->input_count + 1u, sizeof *at->vdot);
    at->solved = calloc(at->flow->size, sizeof *at->solved);
    if (!at->y || !at->columns || !at->vdot || !at->solved) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < s->input_count; i++) {
        at->positions += s->inputs[i].kind == TR_POSITION;
        at->velocities += s->inputs[i].kind == TR_VELOCITY;
    }
    if (!tr_assemble(at->flow, at->y, at->solved, err)) return false;
    tr_flow_columns(at->flow, 0, at->y, at->columns);
    return evaluate_accelerations(at, err) && check_accelerations(at, err);
}

static void release_instant(Instant *at)
{
    tr_flow_free(at->flow);
    free(at->y);
    free(at->columns);
    free(at->vdot);
    free(at->solved);
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
    const Flow *flow = at->flow;
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
    open_group(g, "lambda"), close_group(g);
    add_outputs(g, at, "tau", "tau.");
    add_outputs(g, at, "outputs", "outputs.");
    if (g->json) {
        tr_json_open(g->j, "solved", '[');
        for (uint32_t k = 0; k + 1 < flow->size; k++)
            if (at->solved[k]) tr_json_text(g->j, NULL, flow->system->inputs[flow->place[k]].name);
        tr_json_close(g->j, ']');
    }
    open_group(g, "residual");
    add_number(g, "position", tr_flow_residual(flow, at->y));
    add_number(g, "velocity", 0);
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
    double *y = flow ? calloc(flow->size, sizeof *y) : NULL;
    if (flow && !y) tr_fail_memory(err);
    const bool good = y && tr_assemble(flow, y, NULL, err);
    for (uint32_t i = 0; good && i < s->input_count; i++) inputs[i] = s->inputs[i].value;
    for (uint32_t k = 0; good && k + 1 < flow->size; k++) inputs[flow->place[k]] = y[k];
    free(y);
    tr_flow_free(flow);
    return good;
}

// ---- check ---------------------------------------------------------------------------------

// Sound: the method is one there is, the initial state assembles, and accelerates as it should.
char *tr_check_text(System *s, bool json, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!s || has_failed(err)) return NULL;
    Instant at = {0};
    Buffer b = {0};
    tr_error why = {0};
    if (s->plan.method && !tr_method(s->plan.method, &why))
        tr_fail(err, TR_INVALID, (Place){0}, "%s", why.text);
    const bool sound = !has_failed(err) && take_instant(&at, s, err);
    release_instant(&at);
    if (!sound) return NULL;
    if (json) return tr_derive_text(s, true, err);
    const Facts f = find_facts(s, err);
    tr_buffer_print(&b, "ok: %u bod%s, %u degree%s of freedom", s->body_count,
                    s->body_count == 1 ? "y" : "ies", f.free, plural(f.free));
    const uint32_t told = (f.base + f.passive + f.driven) - f.free;
    if (told) tr_buffer_print(&b, ", %u velocit%s prescribed", told, told == 1 ? "y" : "ies");
    tr_buffer_print(&b, "; the initial state can be assembled\n");
    return finished(&b, err);
}

void tr_text_free(char *text) { free(text); }
