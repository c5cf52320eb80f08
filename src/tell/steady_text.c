// SPDX-License-Identifier: Apache-2.0
// One steady motion: finding it, and what `steady` says about it.
#include "base/options.h"
#include "expr/held.h"
#include "linear/law.h"
#include "plan/latch.h"
#include "steady/steady.h"
#include "tell/eval.h"
#include "tell/fragment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tr_steady {
    Steady *equations;
    Outcome outcome;
    double *u, *inputs, *columns, *margins;
    double (*modes)[2];
    uint32_t mode_count;
    double stability;
};

void tr_steady_fill(tr_steady_options *options, size_t size)
{
    const tr_steady_options plain = {0};
    tr_give_options(options, size, &plain, sizeof plain);
}

static bool find(tr_steady *s, bool trim, tr_error *err)
{
    Steady *p = s->equations;
    const System *system = p->system;
    s->u = calloc(p->unknowns + 1u, sizeof *s->u);
    s->inputs = calloc(system->input_count + 1u, sizeof *s->inputs);
    s->columns = calloc(p->flow->column_count + 1u, sizeof *s->columns);
    s->margins = calloc(system->alarm_count + 1u, sizeof *s->margins);
    s->modes = calloc(p->states + 1u, sizeof *s->modes);
    if (!s->u || !s->inputs || !s->columns || !s->margins || !s->modes)
        return tr_fail_memory(err), false;
    tr_steady_guess(p, s->u);
    s->outcome = trim ? tr_steady_trim(p, s->u) : tr_steady_solve(p, s->u, NULL);
    if (!tr_steady_accept(p, s->u, &s->outcome, err)) return false;
    tr_steady_inputs(p, s->u, s->inputs);
    tr_steady_columns(p, s->u, s->columns);
    if (p->alarms.work) evaluate_into(&p->alarms, p->in, s->margins);
    if (!tr_steady_eigenvalues(p, s->u, s->modes, &s->mode_count, &s->stability))
        tr_fail(err, TR_FAILED, (Place){0}, "the eigenvalues cannot be found");
    return !has_failed(err);
}

tr_steady *tr_steady_find(const System *system, const tr_steady_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_steady_options o = tr_steady_defaults();
    if (!system || !tr_take_options(&o, sizeof o, options, "tr_steady_defaults", err)) return NULL;
    o.sweep = NULL;
    tr_steady *s = calloc(1, sizeof *s);
    if (!s) return tr_fail_memory(err), NULL;
    s->equations = tr_steady_open(system, &o, err);
    if (s->equations && find(s, o.trim, err)) return s;
    tr_steady_free(s);
    return NULL;
}

void tr_steady_free(tr_steady *s)
{
    if (!s) return;
    tr_steady_close(s->equations);
    free(s->u);
    free(s->inputs);
    free(s->columns);
    free(s->margins);
    free(s->modes);
    free(s);
}

const double *tr_steady_state(const tr_steady *s) { return s ? s->inputs : NULL; }

size_t tr_steady_modes(const tr_steady *s, double (*values)[2])
{
    if (s && values) memcpy(values, s->modes, s->mode_count * sizeof *values);
    return s ? s->mode_count : 0;
}

// ---- text ----------------------------------------------------------------------------------

static void write_state(const tr_steady *s, Group *g)
{
    static const char *const titles[] = {"q", "v"};
    const Steady *p = s->equations;
    const System *system = p->system;
    uint32_t column = 0;
    for (int k = 0; k < 2; k++) {
        tr_group_open(g, titles[k]);
        for (uint32_t i = 0; i < system->input_count; i++)
            if (system->inputs[i].kind == (k ? TR_VELOCITY : TR_POSITION))
                tr_group_number(g, system->inputs[i].name, s->columns[column++]);
        tr_group_close(g);
    }
}

// What symmetries it moves along, and how fast
static void write_motion(const tr_steady *s, Group *g)
{
    const Steady *p = s->equations;
    tr_group_open(g, "along");
    for (uint32_t i = p->states; i < p->states + p->generators; i++)
        tr_group_number(g, tr_steady_name(p, i), s->u[i]);
    tr_group_close(g);
}

static void write_parameters(const tr_steady *s, Group *g)
{
    const Steady *p = s->equations;
    const System *system = p->system;
    tr_group_open(g, g->json ? "parameters" : "free");
    for (uint32_t i = 0; g->json && i < system->input_count; i++)
        if (is_setting(&system->inputs[i]))
            tr_group_number(g, system->inputs[i].name, s->inputs[i]);
    for (uint32_t i = 0; !g->json && i < p->frees; i++) {
        const uint32_t input = p->place[p->states + i];
        tr_group_number(g, system->inputs[input].name, s->inputs[input]);
    }
    tr_group_close(g);
}

static void write_modes(const tr_steady *s, Group *g)
{
    Buffer *b = &g->j->text;
    if (g->json) tr_json_matrix(g->j, "eigenvalues", &s->modes[0][0], s->mode_count, 2);
    const double noise = tr_noise(s->modes[0], 2 * (size_t)s->mode_count, 1, b);
    for (uint32_t i = 0; !g->json && i < s->mode_count; i++) {
        tr_buffer_print(b, "%-8s ", "mode");
        tr_add_complex(b, s->modes[i], noise);
        tr_buffer_print(b, "\n");
    }
}

// Contacts that would pull, or slip
static void write_warnings(const tr_steady *s, Group *g)
{
    const System *system = s->equations->system;
    if (g->json) tr_json_open(g->j, "warnings", '[');
    for (uint32_t i = 0; i < system->alarm_count; i++) {
        if (s->margins[i] >= 0 || !tr_alarm_matters(system, s->equations->flow->modes, i)) continue;
        if (g->json)
            tr_json_text(g->j, NULL, system->alarms[i].words);
        else
            tr_buffer_print(&g->j->text, "%-8s %s\n", "warning", system->alarms[i].words);
    }
    if (g->json) tr_json_close(g->j, ']');
}

char *tr_steady_text(const tr_steady *s, bool json, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!s || has_failed(err)) return NULL;
    Json j = {0};
    Group g = {.j = &j, .json = json};
    const System *system = s->equations->system;
    j.text.digits = json ? 0 : system->digits;
    if (json) tr_json_open(&j, NULL, '{');
    write_state(s, &g);
    write_motion(s, &g);
    tr_group_outputs(&g, system, s->columns, "lambda", "lambda.");
    tr_group_outputs(&g, system, s->columns, "tau", "tau.");
    tr_group_outputs(&g, system, s->columns, "outputs", "outputs.");
    write_parameters(s, &g);
    write_modes(s, &g);
    write_warnings(s, &g);
    if (json) {
        tr_json_number(&j, "stability", s->stability);
        tr_json_number(&j, "residual", s->outcome.residual);
        tr_json_number(&j, "iterations", s->outcome.iterations);
        tr_json_close(&j, '}');
    } else {
        tr_group_alone(&g, "found", "stability", s->stability);
        tr_group_alone(&g, "found", "residual", tr_unless_noise(s->outcome.residual, &j.text));
        tr_group_alone(&g, "found", "iterations", s->outcome.iterations);
    }
    return tr_text_finish(&j.text, err);
}

// ---- keys of a case ------------------------------------------------------------------------

// A coordinate or velocity that a start may say
static bool is_told(const Input *input)
{
    if (input->kind != TR_POSITION && input->kind != TR_VELOCITY) return false;
    return input->kind == TR_POSITION ? input->definition.id == 0 : !is_motion_driven(input);
}

// What a condition is about, by names of the system; by others of the model it is what is left of
// it, and what was asked for, "initial.d(hook.x)".
static Expr told_by(System *s, const Output *conditions, uint32_t i, tr_error *err)
{
    tr_error unknown = {0};
    char name[400] = "initial.";
    const char *key = conditions->notes[i];
    tr_held_names(s, err);
    const Scope scope = tr_system_scope(s);
    const Expr x = tr_formula_parse(s->graph, &scope, text_of(key), (Place){0}, &unknown);
    for (size_t n = strlen(name); *key && n + 1 < sizeof name; key++)
        if (*key != ' ') name[n++] = *key, name[n] = 0;
    const Named *asked = tr_system_find(s, text_of(name));
    if (unknown.status == TR_INVALID && asked) return add(conditions->values[i], asked->meaning);
    if (unknown.status) tr_fail(err, unknown.status, (Place){0}, "%s", unknown.text);
    return x;
}

// What the model's `initial` asks for, as it is here: else it would ask for what it was.
static void write_conditions(const tr_steady *s, const char *name, Buffer *b, tr_error *err)
{
    System *system = s->equations->system;
    const Output *conditions = tr_system_output(system, text_of(name));
    for (uint32_t i = 0; conditions && i < conditions->rows && !has_failed(err); i++) {
        Expr x = told_by(system, conditions, i, err);
        tr_system_resolve(system, &x, 1);
        double value = (double)NAN;
        Evaluator of = tr_evaluator_of(system, &x, 1, OPEN_PARAMETERS, err);
        if (!has_failed(err)) evaluate_into(&of, s->inputs, &value);
        tr_evaluator_free(&of);
        tr_fragment_pair(b, conditions->notes[i], value);
    }
}

static void write_initial(const tr_steady *s, Buffer *b, tr_error *err)
{
    Buffer pairs = {0};
    write_conditions(s, "initial.position", &pairs, err);
    write_conditions(s, "initial.rate", &pairs, err);
    if (pairs.length) tr_buffer_print(b, "initial:\n%s", pairs.at);
    tr_buffer_free(&pairs);
}

// All of the state: a start is what differs least from it, so that other files can disturb it.
static void write_guess(const tr_steady *s, Buffer *b)
{
    const System *system = s->equations->system;
    tr_buffer_print(b, "guess:\n");
    for (int kind = TR_POSITION; kind <= TR_VELOCITY; kind++)
        for (uint32_t i = 0; i < system->input_count; i++)
            if ((int)system->inputs[i].kind == kind && is_told(&system->inputs[i]))
                tr_fragment_pair(b, system->inputs[i].name, s->inputs[i]);
}

// Parameters and inputs; or torques of joints that were made inputs
static void write_found(const tr_steady *s, bool torques, bool any, Buffer *b)
{
    const Steady *p = s->equations;
    for (uint32_t i = 0; i < p->frees; i++) {
        const uint32_t at = p->place[p->states + i];
        const Input *input = &p->system->inputs[at];
        if (is_torque(&input->port) != torques) continue;
        if (!any) tr_buffer_print(b, torques ? "roles:\n" : "set:\n");
        any = true;
        if (torques) tr_buffer_print(b, "  %s:\n  ", input->port.owner);
        tr_fragment_pair(b, torques ? "torque" : input->name, s->inputs[at]);
    }
}

// Behind `--set`, parameters and inputs
static void write_set(const tr_steady *s, Buffer *b, tr_error *err)
{
    const Steady *p = s->equations;
    const char **names = calloc(p->frees + 1u, sizeof *names);
    if (!names) {
        tr_fail_memory(err);
        return;
    }
    for (uint32_t i = 0; i < p->frees; i++)
        names[i] = p->system->inputs[p->place[p->states + i]].name;
    write_found(s, false, tr_fragment_settings(b, p->system, names, p->frees), b);
    free(names);
}

char *tr_steady_fragment(const tr_steady *s, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!s || has_failed(err)) return NULL;
    Buffer b = {0};
    tr_fragment_origin(&b, s->equations->system, "A steady motion");
    write_set(s, &b, err);
    write_initial(s, &b, err);
    write_guess(s, &b);
    write_found(s, true, false, &b);
    return tr_text_finish(&b, err);
}
