// SPDX-License-Identifier: Apache-2.0
// What `check` and `derive` say about a system, in words or as JSON.
#include "sim/method.h"

#include "expr/walk.h"
#include "plan/uneven.h"
#include "sim/certificate.h"
#include "sim/watch.h"
#include "tell/eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MARKED = 30 }; // names in a line

// ---- counting ------------------------------------------------------------------------------

typedef struct Facts {
    uint32_t base, passive, driven; // velocities: n, s_p, s_a of the papers
    uint32_t kernel;                // velocities that are free
    uint32_t rows, m, m_locked;     // constraints
    const Findings *findings;       // NULL when there are none
    const Uneven *uneven;           // likewise
    const Flow *flow;               // at the start; NULL where nobody asked for it
    const double *columns;          // of it
    bool ends;                      // a run is over where it starts
    const Chart *chart;
    size_t operations, operations_symbolic;
} Facts;

// The accelerations of what is free.
static void list_accelerations(const System *s, Exprs *rates, tr_error *err)
{
    uint32_t *free_ones = malloc((s->input_count + 1) * sizeof *free_ones);
    const uint32_t count = free_ones ? tr_independent(s, free_ones) : 0;
    for (uint32_t i = 0; i < count; i++) exprs_add(rates, s->inputs[free_ones[i]].rate);
    if (!free_ones || rates->failed) tr_fail_memory(err);
    free(free_ones);
}

static size_t count_operations(System *s, const Exprs *rates, bool fixed, tr_error *err)
{
    tr_program *program =
        rates->count ? tr_compile_values(s, rates->at, rates->count, fixed, err) : NULL;
    const size_t operations = tr_program_sizes(program).operations;
    tr_program_free(program);
    return operations;
}

// Of a system reduced where it starts
static Facts find_facts(System *s, const Findings *findings, tr_error *err)
{
    Facts f = {.kernel = tr_independent(s, NULL), .findings = findings};
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        if (input->kind != TR_VELOCITY) continue;
        f.base += input->is_base;
        f.passive += !input->is_base && !is_motion_driven(input);
        f.driven += !input->is_base && is_motion_driven(input);
    }
    if (findings) {
        f.chart = findings->chart;
        for (uint32_t i = 0; i < f.chart->rows; i++) f.rows += !s->rows[i].is_open;
        f.m = f.chart->m, f.m_locked = f.chart->m_locked;
    }
    Exprs rates = {0};
    list_accelerations(s, &rates, err);
    f.operations = count_operations(s, &rates, true, err);
    f.operations_symbolic = count_operations(s, &rates, false, err);
    tr_exprs_free(&rates);
    return f;
}

// Of all constraints, open ones too
static uint32_t row_count(const Facts *f) { return f->chart ? f->chart->rows : 0; }

// ---- names ---------------------------------------------------------------------------------

// Names one after the other, as JSON or in words.
typedef struct Names {
    Json *j;
    bool json;
    uint32_t count;
    size_t start; // of the line in words that they stand in
} Names;

static void add_name(Names *n, const char *name)
{
    if (n->json)
        tr_json_text(n->j, NULL, name);
    else
        tr_buffer_print(&n->j->text, "%s%s", n->count ? ", " : "", name);
    n->count++;
}

// A line in words that names follow; without any there is no such line.
static Names begin_line(Json *j, const char *words)
{
    const Names n = {.j = j, .start = j->text.length};
    tr_buffer_print(&j->text, "%s", words);
    return n;
}

static void end_line(const Names *n, const char *words)
{
    Buffer *b = &n->j->text;
    if (n->count)
        tr_buffer_print(b, "%s", words);
    else if (!b->failed)
        b->at[b->length = n->start] = 0;
}

// What became so at the start; with its value, where that is wanted. A line has room for some.
static void list_marked(Names *n, const Flow *flow, StartMark mark, bool values)
{
    uint32_t more = 0;
    for (uint32_t i = 0; i < flow->system->input_count; i++) {
        const Input *input = &flow->system->inputs[i];
        if (!(flow->marks[i] & mark)) continue;
        if (flow->system->order == 1 && input->kind == TR_VELOCITY) continue; // they follow
        if (!n->json && n->count == MOST_MARKED) {
            more++;
            continue;
        }
        add_name(n, flow->system->inputs[i].name);
        if (values) {
            tr_buffer_print(&n->j->text, " = ");
            tr_buffer_number(&n->j->text, flow->inputs[i]);
        }
    }
    if (more) tr_buffer_print(&n->j->text, ", and %u more", more);
}

static void list_independent(Names *n, const System *s)
{
    uint32_t *list = calloc(s->input_count + 1u, sizeof *list);
    const uint32_t count = list ? tr_independent(s, list) : 0;
    if (!list) n->j->text.failed = true;
    for (uint32_t i = 0; i < count; i++) add_name(n, tr_system_speed_name(s, list[i]));
    free(list);
}

// Passive joints that follow from the driven ones, or the others.
static void list_passive(Names *n, const System *s, const Facts *f, bool kinematic)
{
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        if (input->kind != TR_VELOCITY || input->is_base || is_motion_driven(input)) continue;
        if ((f->findings && f->findings->kinematic[i]) != kinematic) continue;
        add_name(n, tr_system_joint_name(s, i));
    }
}

static void list_hyperstatic(Names *n, const Facts *f)
{
    for (uint32_t i = 0; i < row_count(f); i++)
        if (f->chart->hyperstatic[i]) add_name(n, f->chart->system->rows[i].name);
}

// Columns that have no value at the start
static void list_not_finite(Names *n, const Facts *f)
{
    for (uint32_t i = 0; i < f->flow->column_count; i++)
        if (!isfinite(f->columns[i])) add_name(n, f->flow->labels[i]);
}

static bool has_not_finite(const Facts *f)
{
    for (uint32_t i = 0; i < f->flow->column_count; i++)
        if (!isfinite(f->columns[i])) return true;
    return false;
}

static void list_awakening(Names *n, const Facts *f)
{
    for (uint32_t i = 0; i < row_count(f); i++)
        if (f->findings->awakening[i]) add_name(n, f->chart->system->rows[i].name);
}

// Passive velocities that stay zero, whatever happens.
static void list_still(Names *n, const Facts *f)
{
    const System *s = f->chart->system;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (f->findings->still[i]) add_name(n, s->inputs[i].name);
}

// Rows that would let a velocity move, each on its own, if they were relaxed; else those that keep
// it together.
static void list_relaxing(Names *n, const Facts *f, uint32_t velocity, bool alone)
{
    const System *s = f->chart->system;
    const bool *marks = alone ? f->findings->frees : f->findings->holds;
    for (uint32_t i = 0; i < row_count(f); i++)
        if (marks[(size_t)i * s->input_count + velocity]) add_name(n, s->rows[i].name);
}

static void list_cuts(Names *n, const System *s)
{
    for (uint32_t i = 0; i < s->cut_count; i++) add_name(n, s->cuts[i]);
}

static void list_dropped(Names *n, const System *s, bool loops_alone)
{
    for (uint32_t i = 0; i < s->dropped_count; i++)
        if (s->dropped[i].is_loop || !loops_alone) add_name(n, s->dropped[i].name);
}

static void list_uneven(Names *n, const Facts *f)
{
    for (uint32_t i = 0; i < row_count(f); i++)
        if (f->uneven->rows[i]) add_name(n, f->chart->system->rows[i].name);
}

static bool locks_on_uneven_ground(const Facts *f)
{
    return f->uneven && f->uneven->there > f->uneven->here;
}

// ---- derive --------------------------------------------------------------------------------

static const char *verdict(const Facts *f)
{
    const char *otherwise = f->ends ? "ends at the start" : "ok";
    if (!f->findings) return otherwise;
    return f->findings->stuck ? "locked" : f->findings->singular ? "singular" : otherwise;
}

static void derive_findings(Json *j, const Facts *f)
{
    Names names = {.j = j, .json = true};
    tr_json_number(j, "kernel_nearby", f->chart->passive - f->findings->m_locked);
    tr_json_open(j, "groups", '[');
    for (uint32_t k = 0; k < f->chart->surplus_count; k++) {
        tr_json_open(j, NULL, '[');
        for (uint32_t i = 0; i < row_count(f); i++)
            if (tr_chart_in_group(f->chart, k, i)) add_name(&names, f->chart->system->rows[i].name);
        tr_json_close(j, ']');
    }
    tr_json_close(j, ']');
    tr_json_open(j, "awakening", '['), list_awakening(&names, f), tr_json_close(j, ']');
    tr_json_open(j, "locked", '['), list_still(&names, f), tr_json_close(j, ']');
    if (locks_on_uneven_ground(f))
        tr_json_open(j, "locked_on_uneven_ground", '['), list_uneven(&names, f),
            tr_json_close(j, ']');
    const System *s = f->chart->system;
    tr_json_open(j, "dropped", '['), list_dropped(&names, s, false), tr_json_close(j, ']');
    tr_json_open(j, "cuts", '['), list_cuts(&names, s), tr_json_close(j, ']');
}

static void derive_json(Json *j, const System *s, const Facts *f)
{
    Names names = {.j = j, .json = true};
    tr_json_open(j, NULL, '{');
    tr_json_number(j, "bodies", s->body_count);
    if (s->source.included) tr_json_text(j, "included", s->source.included);
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
    tr_describe_ports(j, s);
    if (f->findings) derive_findings(j, f);
    if (f->flow) {
        tr_json_open(j, "open", '['), list_marked(&names, f->flow, START_OPEN, false);
        tr_json_close(j, ']'), tr_json_open(j, "chosen", '[');
        list_marked(&names, f->flow, START_CHOSEN, false), tr_json_close(j, ']');
        if (has_not_finite(f))
            tr_json_open(j, "not_finite", '['), list_not_finite(&names, f), tr_json_close(j, ']');
    }
    if (s->missing) tr_json_text(j, "missing", s->missing);
    tr_json_text(j, "verdict", verdict(f));
    tr_json_close(j, '}');
}

// What it means, and the cell of Table I of Boyer and Belkhiri that a system belongs to
static void tell_table_one(Buffer *b, const Facts *f)
{
    const bool antagonist = f->m > f->m_locked;
    if (f->kernel)
        tr_buffer_print(b, "leave %u velocit%s free, which forces change", f->kernel,
                        f->kernel == 1 ? "y" : "ies");
    else
        tr_buffer_print(b, "leave nothing free, whatever forces there are");
    tr_buffer_print(b, "%s: %s (H %s 0, lambda_stat %s 0)\n",
                    antagonist ? ", and driven joints can work against each other" : "",
                    f->kernel ? "dynamics" : "kinematics alone", f->kernel ? "!=" : "=",
                    antagonist ? "!=" : "=");
}

static void derive_rows(Json *j, const System *s, const Facts *f)
{
    Buffer *b = &j->text;
    Names names = {.j = j};
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
    tr_buffer_print(b, "the constraints     ");
    tell_table_one(b, f);
}

// "m = 1 kg, 0.5 to 2: payload", on one line whatever the words are
static void tell_port(Buffer *b, const Input *input)
{
    const Port *port = &input->port;
    const bool has_unit = port->unit[0] && strcmp(port->unit, "1") != 0;
    const bool has_least = isfinite(port->min), has_most = isfinite(port->max);
    tr_buffer_print(b, "%s = ", input->name);
    tr_buffer_number(b, input->value);
    if (has_unit) tr_buffer_print(b, " %s", port->unit);
    if (has_least) tr_buffer_print(b, ", from ");
    if (has_least) tr_buffer_number(b, port->min);
    if (has_most) tr_buffer_print(b, has_least ? " to " : ", up to ");
    if (has_most) tr_buffer_number(b, port->max);
    if (has_least && !has_most) tr_buffer_print(b, " on");
    if (port->doc[0]) tr_buffer_print(b, ": ");
    for (const char *c = port->doc; *c; c++) tr_buffer_add(b, is_space(*c) ? " " : c, 1);
    tr_buffer_print(b, "\n");
}

static void tell_ports(Buffer *b, const System *s, int width)
{
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (!is_setting(&s->inputs[i]) || !is_declared(&s->inputs[i].port)) continue;
        tr_buffer_print(b, "%-*s ", width, s->inputs[i].kind == TR_INPUT ? "input" : "parameter");
        tell_port(b, &s->inputs[i]);
    }
}

static void derive_words(Json *j, const System *s, const Facts *f)
{
    Buffer *b = &j->text;
    if (s->title && s->title[0]) tr_buffer_print(b, "%s\n", s->title);
    tr_buffer_print(b, "bodies              %u\n", s->body_count);
    tr_buffer_print(b, "velocities          %u of the base, %u of joints, %u prescribed\n", f->base,
                    f->passive, f->driven);
    if (f->chart) derive_rows(j, s, f);
    tr_buffer_print(b, "degrees of freedom  %u\n", f->kernel);
    tr_buffer_print(b,
                    "operations          %zu from the state to the %s (%zu with "
                    "parameters left open)\n",
                    f->operations, s->order == 1 ? "velocities" : "accelerations",
                    f->operations_symbolic);
    tr_buffer_print(b, "derived in          ");
    b->digits = 4;
    tr_buffer_number(b, 1e3 * s->seconds);
    tr_buffer_print(b, " ms, %u nodes\n", s->graph->count);
    b->digits = s->digits;
    tell_ports(b, s, 19);
    if (strcmp(verdict(f), "ok") != 0)
        tr_buffer_print(b, "verdict             %s: see trundle check\n", verdict(f));
}

// The plan's system, reduced where it starts
static System *reduced_at_start(Plan *plan, tr_error *err)
{
    Flow *flow = tr_flow_new(plan, NULL, err);
    System *s = flow ? tr_flow_system(flow, err) : NULL;
    tr_flow_free(flow);
    return s;
}

char *tr_derive_text(const System *s, bool json, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!s || has_failed(err)) return NULL;
    Plan *plan = tr_plan_new(s, err);
    System *reduced = s->row_count ? reduced_at_start(plan, err) : tr_system_copy(s, err);
    const Findings *findings = tr_plan_examine(plan, err);
    Json j = {0};
    Facts f = {0};
    if (!has_failed(err)) f = find_facts(reduced, findings, err);
    if (!has_failed(err)) (json ? derive_json : derive_words)(&j, reduced, &f);
    char *text = tr_text_finish(&j.text, err);
    if (text && findings) tr_findings_allow(findings, err);
    tr_system_free(reduced);
    tr_plan_free(plan);
    return text;
}

// ---- check ---------------------------------------------------------------------------------

// Whether a force depends on the reaction of a row.
static bool is_used(const System *s, const Row *row)
{
    const Output *Q = tr_system_output(s, text_of("Q"));
    Reach reach = {0};
    bool used = false;
    if (Q && tr_reach_in(s->graph, Q->values, (size_t)Q->rows * Q->columns, &reach))
        for (uint32_t k = 0; k < reach.count && !used; k++) used = reach.ids[k] == row->symbol.id;
    tr_reach_free(&reach);
    return used;
}

// What is surplus: each row with those it depends on.
static void tell_surplus(Buffer *b, const Facts *f)
{
    char names[1000];
    const System *s = f->chart->system;
    for (uint32_t k = 0; k < f->chart->surplus_count; k++) {
        bool used = false;
        for (uint32_t i = 0; i < f->chart->rows; i++)
            used = used || (tr_chart_in_group(f->chart, k, i) && is_used(s, &s->rows[i]));
        if (f->findings->awakening[f->chart->surplus[k]]) continue; // told already
        tr_chart_name_group(f->chart, k, names, sizeof names);
        if (f->chart->antagonist[k])
            tr_buffer_print(b,
                            "antagonist: %s %s only for motions that agree; the driven "
                            "joints can work against each other, so these reactions are not "
                            "unique: %s\n",
                            names, strchr(names, ',') ? "hold together" : "holds",
                            s->least_torques ? "the least torques are taken, and then the least "
                                               "reactions"
                                             : "the least reactions are taken");
        else
            tr_buffer_print(b, "redundant: %s depend on each other, so one of them could go; %s\n",
                            names,
                            used ? "these reactions are not unique"
                                 : "the motion is unique, these reactions are not");
    }
}

// Turning, and joints: what one misses when it does not move.
static bool is_missed(const Input *input)
{
    return !input->is_base || input->port.quantity == QUANTITY_ANGULAR_SPEED;
}

static void tell_relaxing(Json *j, const Facts *f, uint32_t velocity)
{
    const char *name = f->chart->system->inputs[velocity].name;
    for (int several = 0; several < 2; several++) {
        Names names = begin_line(j, "to let ");
        tr_buffer_print(&j->text, "%s move, relax %s: ", name, several ? "several of" : "one of");
        list_relaxing(&names, f, velocity, !several);
        end_line(&names, "\n");
        if (names.count) return;
    }
}

// Whether a latch, which may let go, has a part in keeping a velocity from moving
static bool is_latched(const Facts *f, uint32_t velocity)
{
    const System *s = f->chart->system;
    for (uint32_t i = 0; i < s->latch_count; i++)
        for (uint32_t k = 0; k < s->latches[i].row_count; k++)
            if (f->findings->holds[(size_t)s->latches[i].rows[k] * s->input_count + velocity])
                return true;
    return false;
}

// What does not move, and what holds it.
static void tell_still(Json *j, const Facts *f)
{
    const System *s = f->chart->system;
    for (int latched = 0; latched < 2; latched++) {
        Names still =
            begin_line(j, latched ? "does not move until something lets go: " : "never moves: ");
        for (uint32_t i = 0; i < s->input_count; i++)
            if (f->findings->still[i] && is_latched(f, i) == latched)
                add_name(&still, s->inputs[i].name);
        end_line(&still, "\n");
    }
    for (uint32_t i = 0; i < s->input_count; i++)
        if (f->findings->still[i] && is_missed(&s->inputs[i])) tell_relaxing(j, f, i);
}

// What the rows forbid that begin to say something
static void tell_lost(Json *j, const Facts *f)
{
    const System *s = f->chart->system;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < row_count(f); i++) rows += f->findings->awakening[i];
    Names names = begin_line(j, "the motion that is locked then involves ");
    for (uint32_t k = 0; k < s->input_count; k++) {
        bool lost = false;
        for (uint32_t i = 0; i < row_count(f); i++)
            lost = lost || (f->findings->awakening[i] &&
                            f->findings->frees[(size_t)i * s->input_count + k]);
        if (lost) add_name(&names, s->inputs[k].name);
    }
    end_line(&names,
             rows == 1 ? ": to keep it, relax the row\n" : ": to keep it, relax one of the rows\n");
}

static void tell_singular(Json *j, const Facts *f)
{
    Names names = {.j = j};
    const uint32_t nearby = f->chart->passive - f->findings->m_locked;
    list_awakening(&names, f);
    tr_buffer_print(&j->text, " %s: then %u degree%s of freedom %s left instead of %u\n",
                    tr_awakening_words(names.count), nearby, plural(nearby),
                    nearby == 1 ? "is" : "are", f->kernel);
    tell_lost(j, f);
}

static uint32_t count_told(const System *s)
{
    uint32_t told = 0;
    for (uint32_t i = 0; i < s->input_count; i++) told += is_motion_driven(&s->inputs[i]);
    return told;
}

// Reactions that forces use although they are not unique: then they are the least ones.
static void tell_used(Json *j, const System *s, const Facts *f)
{
    Names names = begin_line(j, "forces use reactions that are not unique, the least ones: ");
    for (uint32_t i = 0; i < row_count(f); i++)
        if (f->chart->hyperstatic[i] && is_used(s, &s->rows[i])) add_name(&names, s->rows[i].name);
    end_line(&names, "\n");
}

// Rows that depend on each other only because wheels stand in one plane
static void tell_uneven(Json *j, const Facts *f)
{
    const uint32_t lost = f->uneven->there - f->uneven->here,
                   left = f->kernel > lost ? f->kernel - lost : 0;
    Names names = begin_line(j, "locked on uneven ground: ");
    list_uneven(&names, f);
    tr_buffer_print(
        &j->text,
        " no longer depend on each other there, and leave %u degree%s of freedom instead "
        "of %u\n",
        left, plural(left), f->kernel);
}

static void tell_constraints(Json *j, const System *s, const Facts *f)
{
    Buffer *b = &j->text;
    Names names = {.j = j};
    tr_buffer_print(b, "%u constraint row%s, %u independent", f->rows, plural(f->rows), f->m);
    if (count_told(s)) tr_buffer_print(b, ", %u with the driven joints locked", f->m_locked);
    tr_buffer_print(b, ": they ");
    tell_table_one(b, f);
    if (f->findings->singular) tell_singular(j, f);
    if (locks_on_uneven_ground(f)) tell_uneven(j, f);
    tell_surplus(b, f);
    tell_used(j, s, f);
    tell_still(j, f);
    if (f->findings->stuck) return;
    tr_buffer_print(b, "the motion is described by ");
    list_independent(&names, s);
    tr_buffer_print(b, names.count ? "\n" : "the driven joints alone\n");
    names = begin_line(j, "the driven joints and the constraints determine ");
    list_passive(&names, s, f, true);
    end_line(&names, "\n");
}

// Rows that say nothing, and joints that became loops
static void tell_cuts(Json *j, const System *s)
{
    Names cuts = begin_line(
        j, "joints that are cut to make a tree (the motion does not depend on the choice): ");
    list_cuts(&cuts, s);
    end_line(&cuts, "\n");
    Names dropped = begin_line(j, "rows of loops that always hold and carry no load: ");
    list_dropped(&dropped, s, true);
    end_line(&dropped, "\n");
}

// What acts at samples, and how often
static void tell_samples(Buffer *b, const System *s)
{
    for (uint32_t i = 0; i < s->clocked_count; i++) {
        const Clocked *c = &s->clocked[i];
        tr_buffer_print(b, "the %s '%s' samples every ", c->is_sensor ? "sensor" : "controller",
                        c->name);
        tr_buffer_number(b, c->period);
        tr_buffer_print(b, " s");
        uint32_t set = 0;
        for (uint32_t k = 0; !c->is_sensor && k < s->held_count; k++)
            if (s->held[k].clocked == i && s->inputs[s->held[k].input].kind == TR_INPUT)
                tr_buffer_print(b, "%s'%s'", set++ ? ", " : ", and sets ",
                                s->inputs[s->held[k].input].name);
        tr_buffer_print(b, "\n");
    }
}

// What `initial` does not say, and what was made of it
static void tell_start(Json *j, const Flow *flow)
{
    Names open = begin_line(j, "left open by `initial`: ");
    list_marked(&open, flow, START_OPEN, false);
    end_line(&open, "\n");
    Names chosen = begin_line(j, "chosen as near to the guess as the rest allows: ");
    list_marked(&chosen, flow, START_CHOSEN, true);
    end_line(&chosen, "\n");
}

// Joints that stop, or whose friction is dry, and what holds them at the start
static void tell_joints(Json *j, const Flow *flow)
{
    const System *s = flow->system;
    static const char *const words[] = {
        [LATCH_STOP] = "stops of joints: ", [LATCH_GRIP] = "joints with dry friction: "};
    for (int kind = LATCH_STOP; kind <= LATCH_GRIP; kind++) {
        Names names = begin_line(j, words[kind]);
        for (uint32_t i = 0; i < s->latch_count; i++) {
            const LatchMode *mode = &flow->modes[i];
            const bool holds = !mode->is_open && !mode->is_slipping;
            const Port *port = &s->rows[s->latches[i].rows[0]].port;
            if ((int)s->latches[i].kind != kind) continue;
            add_name(&names, kind == LATCH_STOP ? s->latches[i].name : port->owner);
            if (holds) tr_buffer_print(&j->text, " (holds)");
        }
        end_line(&names, "\n");
    }
}

static void check_words(Json *j, const System *s, const Facts *f)
{
    Buffer *b = &j->text;
    b->digits = s->digits;
    tr_buffer_print(b, "%s: %u bod%s, %u degree%s of freedom", verdict(f), s->body_count,
                    s->body_count == 1 ? "y" : "ies", f->kernel, plural(f->kernel));
    const uint32_t told = count_told(s);
    if (told) tr_buffer_print(b, ", %u velocit%s prescribed", told, told == 1 ? "y" : "ies");
    tr_buffer_print(b, "; the initial state can be assembled\n");
    tell_start(j, f->flow);
    tell_joints(j, f->flow);
    Names names = begin_line(j, "not finite at the start: ");
    list_not_finite(&names, f);
    end_line(&names, "\n");
    if (s->source.included) tr_buffer_print(b, "included: %s\n", s->source.included);
    tell_samples(b, s);
    if (s->missing) tr_buffer_print(b, "%s cannot be read: drawn as a box\n", s->missing);
    tell_cuts(j, s);
    if (f->chart) tell_constraints(j, s, f);
    if (!s->digits) tell_ports(b, s, 0); // where more is asked for
}

// Whether a run gets on from the start: no table is left there, and no wheel touches twice or in a
// hollow that is sharper than itself. Words, where it does not.
static bool gets_on(Flow *flow, tr_error *why)
{
    const System *s = flow->system;
    bool may_end = s->touching_count > 0;
    for (uint32_t k = 0; k < s->alarm_count; k++)
        may_end = may_end || s->alarms[k].kind == ALARM_STOPS;
    if (!may_end) return true;
    Watch watch = {0};
    if (tr_flow_ready(flow, FLOW_RUN, why) && tr_watch_open(&watch, flow, why))
        tr_watch_start(&watch, 0, flow->start, why);
    tr_watch_close(&watch);
    return !has_failed(why);
}

// Sound: the method is one there is, the initial state assembles, and accelerates as it should.
// What the doctor finds is told also when it cannot run.
char *tr_check_text(const System *s, bool json, tr_error *err)
{
    tr_error local = {0}, why = {0};
    if (!err) err = &local;
    if (!s || has_failed(err)) return NULL;
    AtStart at = {0};
    Json j = {0};
    char *text = NULL;
    if (s->plan.method && !tr_method(s->plan.method, &why))
        tr_fail(err, TR_INVALID, (Place){0}, "%s", why.text);
    if (!has_failed(err) && tr_at_start_take(&at, s, err)) {
        System *reduced = tr_flow_system(at.flow, err);
        Facts f = reduced ? find_facts(reduced, at.findings, err) : (Facts){0};
        Uneven *uneven = f.chart ? tr_examine_uneven(at.flow, err) : NULL;
        f.flow = at.flow, f.columns = at.columns, f.uneven = uneven;
        const bool can_run = !at.findings || !(at.findings->stuck || at.findings->singular);
        f.ends = reduced && !has_failed(err) && can_run && !gets_on(at.flow, &why);
        if (reduced) (json ? derive_json : check_words)(&j, reduced, &f);
        tr_uneven_free(uneven);
        tr_system_free(reduced);
        text = tr_text_finish(&j.text, err);
        if (text && at.findings) tr_findings_allow(at.findings, err);
        if (text && f.ends) tr_fail(err, why.status, (Place){0}, "%s", why.text);
    }
    tr_at_start_release(&at);
    return text;
}
