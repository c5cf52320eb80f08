// SPDX-License-Identifier: Apache-2.0
// Formulas from arbitrary bytes. The input is a function's head, a line end, its body, a line end,
// and a formula, which may hold any bytes. A wrong formula must say what is wrong and where; a
// right one must survive everything that is done with expressions, and read back from its own
// print.
#include "expr/system.h"

#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 4096, LARGEST = 20000 }; // [bytes] of input, nodes of an expression looked at

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what, const char *about)
{
    if (holds) return;
    fprintf(stderr, "violated: %s\nabout: %s\n", what, about ? about : "");
    abort();
}

// ---- the input -----------------------------------------------------------------------------

// Cuts the text up to the first line end off `rest`.
static Text cut_line(Text *rest)
{
    const char *end = rest->length ? memchr(rest->at, '\n', rest->length) : NULL;
    if (!end) return (Text){0};
    const Text line = {rest->at, (size_t)(end - rest->at)};
    *rest = (Text){end + 1, rest->length - line.length - 1};
    return line;
}

// ---- the system ----------------------------------------------------------------------------

static const double values[] = {0.5, -2, 3, 0.25, 7};

static System *playground(void)
{
    static const double at[] = {0, 1, 2, 4}, height[] = {1, -1, 3, 2};
    static const double grid[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 7, 6, 5, 4, 3, 2};
    tr_error err = {0};
    System *s = tr_system_new(&err);
    const Expr x = tr_input(s, "x", TR_POSITION, values[0], &err);
    const Expr v = tr_input(s, "v", TR_VELOCITY, values[1], &err);
    tr_input(s, "p.k", TR_PARAMETER, values[2], &err);
    tr_input(s, "t", TR_TIME, values[3], &err);
    tr_input(s, "q", TR_POSITION, values[4], &err); // its rate is not known
    tr_rate_set(s, x, v, &err);
    tr_rate_set(s, v, tr_formula(s, "-p.k*x", &err), &err);
    tr_define(s, "E", "(v^2 + p.k*x^2)/2", &err);
    tr_define(s, "twice(a)", "a + a", &err);
    tr_define_table(s, "road", at, 4, NULL, 1, height, 3, false, &err);
    tr_define_table(s, "map", at, 4, at, 4, grid, 1, true, &err);
    require(!err.status, "the playground is sound", err.text);
    return s;
}

// ---- what must hold ------------------------------------------------------------------------

static void check_error(const tr_error *err, size_t head, size_t body, size_t formula)
{
    const bool in_function = strncmp(err->text, "in function '", 13) == 0;
    const size_t other = in_function ? body : formula, longest = other > head ? other : head;
    require(err->text[0], "an error has words", "");
    require(strlen(err->text) < sizeof err->text, "the words end", "");
    require((err->line == 0) == (err->column == 0), "line and column go together", err->text);
    if (err->status == TR_INVALID && err->line)
        require(err->line == 1 && err->column >= 1 && (size_t)err->column <= longest + 1,
                "the column is in the text", err->text);
}

// A print on one line reads back as the same expression, where formulas can say it.
static void check_print(System *s, Expr x)
{
    const char *text = tr_text(s, x);
    require(text != NULL, "every expression can be printed", "");
    if (strpbrk(text, "\n{") || strstr(text, "inf") || strstr(text, "nan")) return;
    tr_error err = {0};
    const Expr back = tr_formula(s, text, &err);
    require(!err.status, "a print can be read", text);
    if (back.id != x.id) fprintf(stderr, "became: %s\n", tr_text(s, back));
    require(back.id == x.id, "a print reads back as the same expression", text);
}

static void check_derivatives(System *s, Expr x)
{
    Expr inputs[sizeof values / sizeof *values], gradient[sizeof values / sizeof *values];
    for (uint32_t i = 0; i < s->input_count; i++) inputs[i] = s->inputs[i].symbol;
    tr_gradient(x, inputs, s->input_count, gradient);
    for (uint32_t i = 0; i < s->input_count; i++) {
        require(gradient[i].id && tr_derivative(x, inputs[i]).id, "it has derivatives", "");
        check_print(s, gradient[i]);
    }
    tr_error err = {0};
    const Expr rate = tr_time_derivative(s, x, &err);
    require((rate.id == 0) == (err.status != TR_OK), "a rate or an error", err.text);
}

static void check_evaluation(System *s, Expr x)
{
    tr_error err = {0};
    double constant, value = 0;
    tr_output(s, "result", &x, 1, 1, &err);
    tr_program *program = tr_compile(s, "result", NULL, &err);
    tr_workspace *workspace = tr_workspace_new(program, &err);
    require(!err.status, "it compiles", err.text);
    tr_evaluate(program, workspace, values, &value);
    if (tr_is_constant(x, &constant))
        require(memcmp(&constant, &value, sizeof value) == 0, "a constant keeps its bits", "");
    tr_workspace_free(workspace);
    tr_program_free(program);
}

// ---- one input -----------------------------------------------------------------------------

static size_t define(System *s, Text head_text, Text body_text)
{
    char *head = strndup(head_text.at ? head_text.at : "", head_text.length);
    char *body = strndup(body_text.at ? body_text.at : "", body_text.length);
    const size_t length = strlen(body);
    tr_error err = {0};
    tr_define(s, head, body, &err);
    if (err.status) check_error(&err, strlen(head), length, length);
    free(head);
    free(body);
    return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LONGEST) return 0;
    Text formula = {(const char *)data, size};
    const Text head = cut_line(&formula), body = cut_line(&formula);
    System *s = playground();
    const size_t body_length = define(s, head, body);

    tr_error err = {0};
    const Scope scope = tr_system_scope(s);
    const Expr x = tr_formula_parse(s->graph, &scope, formula, place_at(1, 1), &err);
    require((x.id == 0) == (err.status != TR_OK), "an expression or an error", err.text);
    if (err.status) {
        check_error(&err, 0, body_length, formula.length);
    } else if (s->graph->count <= LARGEST) {
        check_print(s, x);
        check_derivatives(s, x);
        check_evaluation(s, x);
    }
    require(!s->graph->failed, "memory is enough", "");
    tr_system_free(s);
    return 0;
}
