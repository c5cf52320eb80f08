// SPDX-License-Identifier: Apache-2.0
// Terms of the equations as they stand, for all modes (T381), and how they change (T403).
#include "export/unreduced.h"

#include "expr/derivative.h"
#include "plan/plan.h"
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

// ---- who is where --------------------------------------------------------------------------

Terms tr_code_terms(const Export *code)
{
    Terms t = {.n = code->velocities,
               .m = code->flow->footing->constraints,
               .contacts = code->system->latch_count};
    t.G = t.M + t.n * t.n, t.rest = t.G + t.m * t.n, t.bias = t.rest + t.m, t.c = t.bias + t.m;
    t.Q = t.c + t.n, t.W = t.Q + t.n, t.driven = t.W + t.n * t.m, t.weight = t.driven + t.n;
    t.latch = t.weight + t.m, t.count = t.latch + LATCH_TERMS * t.contacts;
    return t;
}

uint32_t tr_code_alarms(const System *s)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < s->alarm_count; k++) count += s->alarms[k].kind > ALARM_HOLLOW;
    return count;
}

uint32_t tr_code_indicators(const Export *code)
{
    return code->options.is_unreduced ? tr_code_alarms(code->system) + 1 : 0;
}

static uint32_t count_driven(const System *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->input_count; i++) count += is_motion_driven(&s->inputs[i]);
    return count;
}

Found tr_code_found(const Export *code)
{
    Found f = {.reactions = code->velocities};
    f.motors = f.reactions + code->flow->footing->constraints;
    f.closed = f.motors + count_driven(code->system);
    f.count = f.closed + 2 * code->system->latch_count;
    return f;
}

static bool refuse(tr_error *err, const char *name, const char *why)
{
    if (err)
        tr_fail(err, TR_USAGE, (Place){0}, "the unreduced form is not for this model: %s%.100s%s%s",
                name ? "'" : "", name ? name : "", name ? "' " : "", why);
    return false;
}

static bool may_row(const Row *row, tr_error *err)
{
    if (row->leads) return refuse(err, row->name, "bears what it can before others do");
    if (row->tension.id) return refuse(err, row->name, "has a reaction that is given");
    return true;
}

bool tr_code_may_unreduce(const System *s, tr_error *err)
{
    if (s->order == 1) return refuse(err, NULL, "it is of first order");
    if (!s->row_count || s->rows[0].is_speed) return refuse(err, NULL, "it has no constraints");
    if (!tr_system_output(s, text_of("M")) || !tr_system_output(s, text_of("G")))
        return refuse(err, NULL, "it has too many velocities");
    if (s->least_torques) return refuse(err, NULL, "its torques are made least");
    for (uint32_t i = 0; i < s->row_count; i++)
        if (!may_row(&s->rows[i], err)) return false;
    for (uint32_t i = 0; i < s->latch_count; i++)
        for (uint32_t k = 0; k < s->touching_count; k++)
            if (s->latches[i].opens && s->touchings[k].row == s->latches[i].rows[0])
                return refuse(err, s->latches[i].name, "may fly over ground that is not flat");
    return true;
}

// ---- inputs of programs --------------------------------------------------------------------

static void map_symbol(Export *code, Expr symbol, uint32_t entry)
{
    const Input *input = symbol.id ? tr_system_input(code->system, symbol) : NULL;
    const bool is_found = input && (input->kind == TR_SOLVED || input->kind == TR_MODE);
    if (is_found) // the rate of a motion may be a parameter
        code->input_node[input - code->system->inputs] =
            tr_flat_argument(&code->flat, ARGUMENT_FOUND, entry);
}

void tr_code_map_found(Export *code)
{
    const System *s = code->system;
    const Found f = tr_code_found(code);
    for (uint32_t i = 0, k = 0, j = 0; i < s->input_count; i++) {
        if (s->inputs[i].kind != TR_VELOCITY) continue;
        map_symbol(code, s->inputs[i].rate, k++);
        if (is_motion_driven(&s->inputs[i])) map_symbol(code, s->inputs[i].motor, f.motors + j++);
    }
    for (uint32_t i = 0; i < code->flow->footing->constraints; i++)
        map_symbol(code, s->rows[i].symbol, f.reactions + i);
    for (uint32_t i = 0; i < s->latch_count; i++) {
        map_symbol(code, s->latches[i].closed, f.closed + i);
        map_symbol(code, s->latches[i].slipping, f.closed + s->latch_count + i);
    }
}

// ---- functions -----------------------------------------------------------------------------

// What is zero need not be set.
static void leave_out_zeros(Export *code, CodePart part)
{
    CodeFunction *f = &code->part[part];
    uint32_t kept = 0;
    for (uint32_t k = 0; k < f->count; k++) {
        if (flat_is_number(&code->flat, f->value[k]) &&
            flat_number_of(&code->flat, f->value[k]) == 0)
            continue;
        f->entry[kept] = f->entry[k];
        f->value[kept++] = f->value[k];
    }
    f->count = kept;
}

// Some of the terms, from `first` to `end`, at the end of a list
static void list_between(uint32_t first, uint32_t end, uint32_t *list, uint32_t *count)
{
    for (uint32_t k = first; k < end; k++) list[(*count)++] = k;
}

static void take_some_terms(Export *code, CodePart part, const tr_program *program,
                            const uint32_t *list, uint32_t count)
{
    tr_code_program(code, part, program, list, count);
    memcpy(code->part[part].entry, list, code->part[part].count * sizeof *list);
    leave_out_zeros(code, part);
}

// Slopes of rows and what they add are needed before velocities are known that the others take.
static void take_terms(Export *code, tr_error *err)
{
    const Terms t = tr_code_terms(code);
    const tr_program *program = tr_modes_program(code->plan, code->flow->footing, err);
    uint32_t *list = calloc(t.count + 1u, sizeof *list), count = 0;
    if (!list) code->failed = true;
    if (program && list) {
        list_between(t.G, t.bias, list, &count);
        take_some_terms(code, PART_ROWS, program, list, count);
        count = 0;
        list_between(t.M, t.G, list, &count);
        list_between(t.bias, t.count, list, &count);
        take_some_terms(code, PART_TERMS, program, list, count);
    }
    free(list);
}

// How some of the terms change
static void change_terms(Export *code, CodePart part, const CodeChanges *changes, const Exprs *all,
                         const uint32_t *list, uint32_t count, tr_error *err)
{
    Exprs some = {0};
    CodeFunction *f = &code->part[part];
    for (uint32_t k = 0; k < count; k++) exprs_add(&some, all->at[list[k]]);
    tr_code_changes(code, part, changes, &some, err);
    for (uint32_t k = 0; k < f->count; k++) f->entry[k] = list[k];
    leave_out_zeros(code, part);
    tr_exprs_free(&some);
}

static void take_term_changes(Export *code, tr_error *err)
{
    const Terms t = tr_code_terms(code);
    System *s = tr_plan_system(code->plan, code->flow->footing, NULL, err);
    CodeChanges changes = {0};
    Exprs all = {0};
    uint32_t *list = calloc(t.count + 1u, sizeof *list), count = 0;
    if (!list) code->failed = true;
    if (s && list) tr_footing_list_modes(s, code->flow->footing, &all);
    if (all.failed) tr_fail_memory(err);
    if (s && list && tr_code_open_changes(code, s, &changes, err)) {
        list_between(t.G, t.bias, list, &count);
        change_terms(code, PART_ROWS_CHANGE, &changes, &all, list, count, err);
        count = 0;
        list_between(t.M, t.G, list, &count);
        list_between(t.bias, t.count, list, &count);
        change_terms(code, PART_TERMS_CHANGE, &changes, &all, list, count, err);
    }
    tr_code_close_changes(&changes);
    free(list);
    tr_exprs_free(&all);
    tr_system_free(s);
}

// A copy of the system in which nothing is chosen: what contacts do are inputs, and speeds that the
// model describes its motion by are formulas.
static System *open_system(const Export *code, tr_error *err)
{
    System *s = tr_plan_system(code->plan, code->flow->footing, NULL, err);
    if (!s) return NULL;
    tr_system_unlatch(s);
    for (uint32_t i = 0; i < s->row_count; i++) {
        Input *speed = s->rows[i].is_speed ? tr_system_input(s, s->rows[i].symbol) : NULL;
        if (speed && !speed->definition.id) speed->definition = s->rows[i].rate;
    }
    for (uint32_t i = 0; i < code->system->input_count; i++) { // what is solved for is given
        const bool is_found = !flat_is_number(&code->flat, code->input_node[i]);
        if (s->inputs[i].kind == TR_SOLVED && is_found) s->inputs[i].kind = TR_MODE;
    }
    return s;
}

// How a part changes is another one; of some in FMUs alone
static CodePart change_of(const Export *code, CodePart part)
{
    static const CodePart of[CODE_PARTS] = {[PART_FOLLOW] = PART_FOLLOW_CHANGE,
                                            [PART_PROJECTION] = PART_PROJECTION_CHANGE,
                                            [PART_RATES] = PART_RATES_CHANGE,
                                            [PART_OUTPUTS] = PART_OUTPUTS_CHANGE};
    const bool is_rate = part == PART_FOLLOW || part == PART_RATES;
    return of[part] && (code->options.is_fmu || is_rate) ? of[part] : CODE_PARTS;
}

static void take_list(Export *code, CodePart part, const CodeChanges *open, Exprs *list,
                      tr_error *err)
{
    const CodePart change = change_of(code, part);
    tr_code_rows(code, part, open, list, err);
    if (change < CODE_PARTS) {
        tr_code_changes(code, change, open, list, err);
        if (part != PART_FOLLOW) leave_out_zeros(code, change); // that one is written over x
    }
    tr_exprs_free(list);
}

// Rates of all that is no velocity, from what is found
static void take_motion(Export *code, const CodeChanges *open, tr_error *err)
{
    const System *s = open->system;
    Exprs list = {0};
    tr_code_rates(code, s, &list);
    for (uint32_t k = 0; k < list.count; k++)
        if (k >= code->positions && k < code->positions + code->velocities)
            list.at[k] = zero(s->graph);
    take_list(code, PART_RATES, open, &list, err);
    leave_out_zeros(code, PART_RATES);
}

static void take_outputs(Export *code, const CodeChanges *open, const uint32_t *outputs,
                         tr_error *err)
{
    Exprs all = {0}, list = {0};
    tr_chart_columns(open->system, &all, NULL);
    for (uint32_t k = 0; k < code->y.count && !all.failed; k++)
        exprs_add(&list, all.at[outputs[k]]);
    list.failed = list.failed || all.failed;
    take_list(code, PART_OUTPUTS, open, &list, err);
    tr_exprs_free(&all);
}

// Of alarms about contacts, then how far these are from what they touch
static void take_margins(Export *code, const CodeChanges *open, tr_error *err)
{
    const System *s = open->system;
    Exprs list = {0};
    if (!s->latch_count) return;
    for (uint32_t k = 0; k < s->alarm_count; k++)
        if (s->alarms[k].kind > ALARM_HOLLOW) exprs_add(&list, s->alarms[k].margin);
    for (uint32_t i = 0; i < s->latch_count; i++) exprs_add(&list, s->latches[i].gap);
    take_list(code, PART_MARGINS, open, &list, err);
}

// Of all rows that have positions, then where contacts touch
static void take_conditions(Export *code, const CodeChanges *open, tr_error *err)
{
    System *s = open->system;
    Exprs phi = {0}, slopes = {0};
    for (uint32_t i = 0; i < code->flow->footing->constraints; i++)
        if (s->rows[i].position.id) exprs_add(&phi, s->rows[i].position);
    for (uint32_t i = 0; i < s->touching_count; i++)
        tr_exprs_add(&phi, s->touchings[i].tangency, 2);
    const size_t m = phi.count, n = code->projected_count;
    code->phi_count = (uint32_t)m;
    Expr *x = calloc(n + n * m + 1, sizeof *x), *J = x ? x + n : NULL;
    for (size_t k = 0; x && k < n; k++)
        x[k] = s->inputs[code->x.at[code->projected[k]].input].symbol;
    if (!x || phi.failed || (m && !tr_dense_jacobian(s->graph, phi.at, m, x, n, J)))
        tr_fail_memory(err);
    else {
        tr_exprs_add(&slopes, phi.at, m);
        tr_exprs_add(&slopes, J, m * n);
    }
    const bool any = m && !has_failed(err);
    if (any) take_list(code, PART_PROJECTION, open, &slopes, err);
    if (any) take_list(code, PART_PHI, open, &phi, err);
    if (!any) tr_exprs_free(&slopes);
    if (!any) tr_exprs_free(&phi);
    free(x);
}

static void move_entries(CodeFunction *f, const uint32_t *entry)
{
    for (uint32_t k = 0; k < f->count; k++) f->entry[k] = entry[f->entry[k]];
}

// Motions, as formulas of t
static void take_driven(Export *code, const CodeChanges *open, tr_error *err)
{
    const System *s = open->system;
    Exprs list = {0};
    uint32_t *entry = calloc(code->x.count + 1u, sizeof *entry), count = 0;
    if (!entry) code->failed = true;
    for (uint32_t k = 0; entry && k < code->x.count; k++) {
        if (code->x.at[k].is_integrated) continue;
        entry[count++] = k;
        exprs_add(&list, s->inputs[code->x.at[k].input].symbol);
    }
    if (count) take_list(code, PART_FOLLOW, open, &list, err);
    if (entry) move_entries(&code->part[PART_FOLLOW], entry);
    if (entry) move_entries(&code->part[PART_FOLLOW_CHANGE], entry);
    free(entry);
}

// All by all: which are zero depends on modes
static void take_dense_jacobian(Export *code)
{
    const uint32_t n = code->x.count, all = n + code->u.count;
    code->jacobian_row = calloc(2 * (size_t)n * all + 1, sizeof *code->jacobian_row);
    if (!code->jacobian_row) {
        code->failed = true;
        return;
    }
    code->jacobian_column = code->jacobian_row + (size_t)n * all;
    for (uint32_t k = 0; k < n * all; k++)
        code->jacobian_row[k] = k / all, code->jacobian_column[k] = k % all;
    code->jacobian_count = n * all;
}

void tr_code_unreduced(Export *code, const uint32_t *outputs, tr_error *err)
{
    System *s = open_system(code, err);
    CodeChanges open = {.system = s, .first = s ? s->input_count : 0};
    take_terms(code, err);
    take_term_changes(code, err);
    if (s && !has_failed(err) && tr_code_open_changes(code, s, &open, err)) {
        take_motion(code, &open, err);
        take_outputs(code, &open, outputs, err);
        take_margins(code, &open, err);
        tr_code_open_watched(code, &open, err);
        take_driven(code, &open, err);
        take_conditions(code, &open, err);
        tr_code_open_samples(code, &open, err);
        if (!code->options.is_fmu) take_dense_jacobian(code);
    }
    tr_code_close_changes(&open);
    tr_system_free(s);
}
