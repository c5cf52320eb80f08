// SPDX-License-Identifier: Apache-2.0
// Numbers of programs: outputs of the equations as functions of all their inputs, and derivatives.
#include "own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- numbers of programs -------------------------------------------------------------------

static size_t input_called(Call *c, const char *name)
{
    const tr_system *system = c->handle->model->system;
    const size_t count = tr_input_count(system);
    const char **names = mxCalloc(count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++) names[i] = tr_input_name(system, i);
    const size_t found = tr_find_name(names, count, name);
    if (found < count) return found;
    const char *nearest = tr_nearest(name, names, count);
    char shown[100], words[300];
    tr_shown(name, shown, sizeof shown);
    snprintf(words, sizeof words,
             "no coordinate, velocity, input or parameter is called '%s'%s%s%s", shown,
             nearest ? ": is '" : "", nearest ? nearest : "", nearest ? "' meant?" : "");
    usage(c, words);
    return 0;
}

// The initial state, with other numbers for some of the inputs
static double *instant(Call *c, const Pairs *changes)
{
    const size_t count = tr_input_count(c->handle->model->system);
    double *x = mxCalloc(count + 1, sizeof *x);
    if (!tr_initial(plan_of(c), x, count, &c->err)) return x;
    for (size_t i = 0; i < changes->count; i++)
        if (!tr_read_number(changes->pair[i].formula, &x[input_called(c, changes->pair[i].name)]))
            usage(c, "numbers of an instant are no formulas");
    return x;
}

// eval(OUTPUTS, CHANGES): a struct with a matrix for each output, at the initial state, changed
void eval(Call *c)
{
    char *list = print("%s", take_text(c->in_count ? c->in[0] : NULL, "the list of outputs"));
    const Pairs changes = c->in_count > 1 ? take_pairs(c->in[1], "changes") : (Pairs){NULL, 0};
    if (c->in_count > 2) give_up("eval takes a list of outputs, and changes");
    const tr_system *system = c->handle->model->system;
    const double *x = instant(c, &changes);
    mxArray *out = mxCreateStructMatrix(1, 1, 0, NULL);
    for (char *name = strtok(list, " ,"); name && !c->err.status; name = strtok(NULL, " ,")) {
        tr_program *program = tr_compile_in(plan_of(c), name, NULL, &c->err);
        tr_workspace *workspace = tr_workspace_new(program, &c->err);
        const size_t size = tr_program_sizes(program).outputs;
        size_t rows = size, width = 1;
        for (size_t i = 0, m, n; i < tr_output_count(system); i++)
            if (strcmp(tr_output_name(system, i, &m, &n), name) == 0 && m * n == size)
                rows = m, width = n;
        double *values = mxCalloc(size + 1, sizeof *values);
        if (workspace) tr_evaluate(program, workspace, x, values);
        tr_workspace_free(workspace);
        tr_program_free(program);
        char field[64];
        as_field(name, field, sizeof field);
        put(out, field, matrix_out(values, rows, width));
    }
    c->out[0] = out;
}

// ---- programs that are kept ----------------------------------------------------------------

struct Program {
    tr_program *program;
    tr_workspace *workspace;
};

void program_free(Program *p)
{
    if (!p) return;
    tr_workspace_free(p->workspace);
    tr_program_free(p->program);
    free(p);
}

// The names of inputs of a list of inputs, or of letters for all of a kind
static mxArray *by_out(const tr_system *system, const char *list)
{
    static const struct {
        const char *letter;
        tr_kind kind;
    } letters[] = {{"q", TR_POSITION}, {"v", TR_VELOCITY}, {"u", TR_INPUT}, {"p", TR_PARAMETER}};
    const size_t count = tr_input_count(system);
    const char **names = mxCalloc(strlen(list) + 4 * count + 1, sizeof *names);
    size_t found = 0;
    for (char *word = strtok(print("%s", list), " ,"); word; word = strtok(NULL, " ,")) {
        const size_t before = found;
        for (size_t i = 0; i < count && found == before; i++)
            if (strcmp(tr_input_name(system, i), word) == 0) names[found++] = word;
        for (size_t k = 0; k < 4 && found == before; k++)
            for (size_t i = 0; i < count && strcmp(letters[k].letter, word) == 0; i++)
                if (tr_input_kind(system, i) == letters[k].kind)
                    names[found++] = tr_input_name(system, i);
    }
    return names_out(names, found);
}

// The sizes of outputs of a list: rows, columns
static mxArray *sizes_out(const tr_system *system, const char *const *names, size_t count)
{
    double *sizes = mxCalloc(2 * count + 1, sizeof *sizes);
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0, m, n; i < tr_output_count(system); i++)
            if (strcmp(tr_output_name(system, i, &m, &n), names[k]) == 0)
                sizes[2 * k] = (double)m, sizes[2 * k + 1] = (double)n;
    return matrix_out(sizes, count, 2);
}

// What trundle_program has of it
static mxArray *about_out(Call *c, const char *list, const char *by)
{
    const tr_system *system = c->handle->model->system;
    const size_t count = tr_input_count(system);
    const char **names = mxCalloc(strlen(list) + count + 1, sizeof *names);
    mxArray *out = mxCreateStructMatrix(1, 1, 0, NULL);
    double *start = mxCalloc(count + 1, sizeof *start);
    size_t found = 0;
    tr_initial(plan_of(c), start, count, &c->err);
    for (size_t i = 0; i < count; i++) names[i] = tr_input_name(system, i);
    put(out, "inputs", names_out(names, count));
    put(out, "start", matrix_out(start, 1, count));
    put(out, "by", by ? by_out(system, by) : mxCreateCellMatrix(0, 1));
    for (char *word = strtok(print("%s", list), " ,"); word; word = strtok(NULL, " ,"))
        names[found++] = word;
    put(out, "outputs", names_out(names, found));
    put(out, "sizes", sizes_out(system, names, found));
    return out;
}

// [id, about] = program(OUTPUTS, 'by', INPUTS)
void program_new(Call *c)
{
    const char *list = take_text(c->in_count ? c->in[0] : NULL, "the list of outputs");
    c->o = take_options(c->in + 1, c->in_count - 1, "by");
    char *by = c->o.by ? print("%s", c->o.by) : NULL, *outputs = print("%s", list);
    for (char *at = by; at && *at; at++)
        if (*at == ',') *at = ' ';
    for (char *at = outputs; *at; at++)
        if (*at == ',') *at = ' ';
    tr_plan *plan = plan_of(c);
    Program *p = plan ? calloc(1, sizeof *p) : NULL;
    if (!p) {
        ran_out(c);
        return;
    }
    p->program = by ? tr_compile_slopes(plan, outputs, by, NULL, &c->err)
                    : tr_compile_in(plan, outputs, NULL, &c->err);
    p->workspace = tr_workspace_new(p->program, &c->err);
    if (p->workspace) c->out[1] = about_out(c, outputs, by);
    const Handle of = {.kind = PROGRAM, .program = p};
    if (!c->err.status && !new_handle(c->handle->model, of, &c->out[0])) ran_out(c);
    if (c->err.status) program_free(p);
}

// program_at(CHANGES): a row of all numbers at the initial state, where some inputs have others
void program_at(Call *c)
{
    const Pairs changes = c->in_count ? take_pairs(c->in[0], "changes") : (Pairs){NULL, 0};
    const Program *p = c->handle->program;
    const size_t size = tr_program_sizes(p->program).outputs;
    const double *x = instant(c, &changes);
    double *values = mxCalloc(size + 1, sizeof *values);
    tr_evaluate(p->program, p->workspace, x, values);
    c->out[0] = matrix_out(values, 1, size);
}

// program_many(X): rows of all numbers for rows of all inputs
void program_many(Call *c)
{
    const mxArray *array = c->in_count ? c->in[0] : NULL;
    const Program *p = c->handle->program;
    const tr_program_size size = tr_program_sizes(p->program);
    const bool is_matrix = array && mxIsDouble(array) && !mxIsComplex(array) && !mxIsSparse(array);
    if (!is_matrix || mxGetN(array) != size.inputs)
        give_up("rows of all %u inputs are expected", (unsigned)size.inputs);
    const size_t rows = mxGetM(array);
    double *x = mxCalloc(rows * size.inputs + 1, sizeof *x);
    double *values = mxCalloc(rows * size.outputs + 1, sizeof *values);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < size.inputs; k++)
            x[i * size.inputs + k] = mxGetPr(array)[k * rows + i];
    tr_evaluate_many(p->program, p->workspace, rows, x, size.inputs, values, size.outputs);
    c->out[0] = matrix_out(values, rows, size.outputs);
}
