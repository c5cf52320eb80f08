// SPDX-License-Identifier: Apache-2.0
// The equations as matrices of SymPy: M, c, Q and G of the model as it stands at the start, and H
// of the chart there, H = dv/dw.
#include "export/embedded.h"
#include "export/identifier.h"
#include "export/target.h"

#include "expr/derivative.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL1(op, f)    [op] = {f "(%a)", LEVEL_ATOM, {0}}
#define CALL2(op, f)    [op] = {f "(%a, %b)", LEVEL_ATOM, {0}}
#define RELATION(op, s) [op] = {s "(%a, %b)", LEVEL_ATOM, {0}}

static const Phrase phrases[FLAT_CODES] = {
    [OP_ADD] = {"%a + %b", LEVEL_SUM, {LEVEL_SUM, LEVEL_PRODUCT}},
    [OP_SUB] = {"%a - %b", LEVEL_SUM, {LEVEL_SUM, LEVEL_PRODUCT}},
    [OP_MUL] = {"%a * %b", LEVEL_PRODUCT, {LEVEL_PRODUCT, LEVEL_SIGN}},
    [OP_DIV] = {"%a / %b", LEVEL_PRODUCT, {LEVEL_PRODUCT, LEVEL_SIGN}},
    [OP_NEG] = {"-%a", LEVEL_SIGN, {LEVEL_ATOM}},
    [CODE_FMA] = {"%a * %b + %c", LEVEL_SUM, {LEVEL_PRODUCT, LEVEL_SIGN, LEVEL_PRODUCT}},
    [CODE_FMS] = {"%a * %b - %c", LEVEL_SUM, {LEVEL_PRODUCT, LEVEL_SIGN, LEVEL_PRODUCT}},
    [CODE_FNMA] = {"%c - %a * %b", LEVEL_SUM, {LEVEL_PRODUCT, LEVEL_SIGN, LEVEL_SUM}},
    RELATION(OP_LESS, "sp.Lt"),
    RELATION(OP_LESS_EQUAL, "sp.Le"),
    RELATION(OP_EQUAL, "sp.Eq"),
    RELATION(OP_NOT_EQUAL, "sp.Ne"),
    CALL2(OP_RAISE, "sp.Pow"),
    CALL1(OP_SQRT, "sp.sqrt"),
    CALL1(OP_SIN, "sp.sin"),
    CALL1(OP_COS, "sp.cos"),
    CALL1(OP_TAN, "sp.tan"),
    CALL1(OP_ASIN, "sp.asin"),
    CALL1(OP_ACOS, "sp.acos"),
    CALL1(OP_ATAN, "sp.atan"),
    CALL2(OP_ATAN2, "sp.atan2"),
    CALL1(OP_EXP, "sp.exp"),
    [OP_HYPOT] = {"sp.sqrt((%a)**2 + (%b)**2)", LEVEL_ATOM, {0}},
    CALL1(OP_LOG, "sp.log"),
    CALL1(OP_ABS, "sp.Abs"),
    CALL1(OP_FLOOR, "sp.floor"),
    CALL2(OP_MIN, "sp.Min"),
    CALL2(OP_MAX, "sp.Max"),
    [OP_SELECT] = {"sp.Piecewise((%b, %?), (%c, True))", LEVEL_ATOM, {0}},
};

static const Tongue tongue = {.phrases = phrases,
                              .truth = "sp.Piecewise((1, %s), (0, True))",
                              .is_true = "sp.Ne(%s, 0)",
                              .keep = "    %s = %s",
                              .set = "    %s = %s",
                              .note = "  # %s",
                              .entry = "%s[%u]",
                              .number_end = "",
                              .infinity = "sp.oo",
                              .nan = "sp.nan",
                              .table = "",
                              .most = UINT32_MAX / 2};

typedef struct Shape {
    const char *name;
    uint32_t rows, columns;
} Shape;

static void open_part(Walk *walk, uint32_t part, uint32_t uses)
{
    (void)part, (void)uses;
    const Shape *shape = walk->owner;
    tr_buffer_print(walk->out, "def %s_%s(t=t, x=x, u=u, p=p):\n    %s = [0] * %u\n",
                    walk->code->options.name, shape->name, shape->name,
                    shape->rows * shape->columns);
}

static void close_part(Walk *walk, uint32_t part)
{
    (void)part;
    const Shape *shape = walk->owner;
    tr_buffer_print(walk->out, "    return sp.Matrix(%u, %u, %s)\n\n\n", shape->rows,
                    shape->columns, shape->name);
}

static void write_matrix(const Export *code, const CodeFunction *function, Shape shape, Buffer *out)
{
    Walk walk = {.code = code,
                 .tongue = &tongue,
                 .out = out,
                 .open_part = open_part,
                 .close_part = close_part,
                 .name = shape.name,
                 .array = shape.name,
                 .owner = &shape};
    tr_walk(&walk, function);
}

// ---- the matrices --------------------------------------------------------------------------

// Slopes of velocities, which depend on those that are integrated: rows and columns
static void list_reduction(const Export *code, System *s, Exprs *list, Shape *shape, tr_error *err)
{
    const uint32_t n = code->x.count;
    Expr *v = calloc(2 * (size_t)n + 1, sizeof *v), *w = v ? v + n : NULL;
    if (!v) {
        tr_fail_memory(err);
        return;
    }
    for (uint32_t k = 0; k < n; k++) {
        const Input *input = &s->inputs[code->x.at[k].input];
        const bool is_speed = input->kind == TR_SPEED || input->kind == TR_INNER;
        if (input->kind == TR_VELOCITY) v[shape->rows++] = input->symbol;
        if (code->x.at[k].is_integrated && (is_speed || input->kind == TR_VELOCITY))
            w[shape->columns++] = input->symbol;
    }
    tr_system_resolve(s, v, shape->rows);
    const size_t count = (size_t)shape->rows * shape->columns;
    Expr *dense = calloc(count + 1, sizeof *dense);
    if (!dense || !tr_dense_jacobian(s->graph, v, shape->rows, w, shape->columns, dense))
        tr_fail_memory(err);
    else
        tr_exprs_add(list, dense, count);
    free(dense);
    free(v);
}

static bool list_output(const System *s, Exprs *list, Shape *shape, tr_error *err)
{
    const Output *output = tr_system_output(s, text_of(shape->name));
    if (strcmp(shape->name, "G") == 0 && !s->row_count) return true; // none
    if (!output) {
        tr_fail(err, TR_USAGE, (Place){0}, "this model has too many velocities for a matrix %s",
                shape->name);
        return false;
    }
    shape->rows = output->rows, shape->columns = output->columns;
    tr_exprs_add(list, output->values, (size_t)output->rows * output->columns);
    return true;
}

// The function that fills a matrix; its nodes go into the list of all
static bool take_matrix(Export *code, Shape *shape, CodeFunction *function, tr_error *err)
{
    const bool reduced = strcmp(shape->name, "H") == 0;
    System *s = reduced ? tr_chart_system(code->plan, code->flow->now->programs, err)
                        : tr_plan_system(code->plan, code->flow->footing, NULL, err);
    Exprs list = {0};
    if (s && reduced) list_reduction(code, s, &list, shape, err);
    if (s && !reduced) list_output(s, &list, shape, err);
    const uint32_t count = list.count;
    tr_program *program = NULL;
    if (!has_failed(err) && count)
        program = tr_program_list(s, &list, code->flow->footing->fold, err);
    *function = (CodeFunction){.entry = calloc(2 * (size_t)count + 1, sizeof(uint32_t))};
    if (!function->entry) tr_fail_memory(err);
    if (program && function->entry) {
        function->value = function->entry + count, function->count = count;
        for (uint32_t k = 0; k < count; k++) function->entry[k] = k;
        tr_flat_program(&code->flat, program, code->input_node, function->entry, count,
                        function->value);
    }
    tr_program_free(program);
    tr_system_free(s);
    return !has_failed(err);
}

// ---- lists ---------------------------------------------------------------------------------

static void list_symbols(Buffer *out, const CodeNames *names)
{
    for (uint32_t k = 0; k < names->count; k++) {
        tr_buffer_print(out, "%ssp.Symbol(\"", k ? ", " : "");
        tr_buffer_quoted(out, names->at[k].name, true);
        tr_buffer_print(out, "\")");
    }
}

static void list_entries(const Export *code, Buffer *out, bool integrated)
{
    const char *comma = "";
    for (uint32_t k = 0; k < code->x.count; k++) {
        const tr_kind kind = code->system->inputs[code->x.at[k].input].kind;
        const bool is_speed = kind == TR_SPEED || kind == TR_INNER;
        if (integrated ? !code->x.at[k].is_integrated || (!is_speed && kind != TR_VELOCITY)
                       : kind != TR_VELOCITY)
            continue;
        tr_buffer_print(out, "%s%u", comma, k), comma = ", ";
    }
}

static void write_lists(const Export *code, Buffer *out, const char *title)
{
    Buffer x = {0}, u = {0}, p = {0}, v = {0}, w = {0};
    Buffer x_names = {0}, u_names = {0}, p_names = {0};
    list_symbols(&x, &code->x);
    list_symbols(&u, &code->u);
    list_symbols(&p, &code->p);
    tr_script_names(&x_names, &tongue, &code->x);
    tr_script_names(&u_names, &tongue, &code->u);
    tr_script_names(&p_names, &tongue, &code->p);
    list_entries(code, &v, false);
    list_entries(code, &w, true);
    Buffer *const all[] = {&x, &u, &p, &v, &w, &x_names, &u_names, &p_names};
    const Mark marks[] = {{"title", title},
                          {"x", x.at ? x.at : ""},
                          {"u", u.at ? u.at : ""},
                          {"p", p.at ? p.at : ""},
                          {"x_names", x_names.at ? x_names.at : "[]"},
                          {"u_names", u_names.at ? u_names.at : "[]"},
                          {"p_names", p_names.at ? p_names.at : "[]"},
                          {"v", v.at ? v.at : ""},
                          {"w", w.at ? w.at : ""},
                          {NULL, NULL}};
    tr_fill_in(out, tr_embedded_sympy_head(), marks);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        out->failed = out->failed || all[k]->failed;
        tr_buffer_free(all[k]);
    }
}

bool tr_print_sympy(Export *code, Folder *folder, tr_error *err)
{
    static const char *const names[] = {"M", "c", "Q", "G", "H"};
    enum { MATRICES = sizeof names / sizeof *names };
    Shape shapes[MATRICES] = {{0}};
    CodeFunction functions[MATRICES] = {{0}};
    Buffer title = {0};
    if (!tr_system_is_second_order(code->system, "the matrices of its equations", err))
        return false;
    for (int k = 0; k < MATRICES && !has_failed(err); k++) {
        shapes[k].name = names[k];
        take_matrix(code, &shapes[k], &functions[k], err);
    }
    if (!has_failed(err) && code->flat.table_count)
        tr_fail(err, TR_USAGE, (Place){0}, "this model has tables, which SymPy has not");
    tr_buffer_comment(&title, code->system->title ? code->system->title : "");
    Buffer *out = has_failed(err) ? NULL : tr_folder_add(folder, "%s_sympy.py", code->options.name);
    Buffer *demo = out ? tr_folder_add(folder, "%s_sympy_demo.py", code->options.name) : NULL;
    if (out) write_lists(code, out, title.at ? title.at : "");
    for (int k = 0; k < MATRICES; k++) {
        if (out) write_matrix(code, &functions[k], shapes[k], out);
        free(functions[k].entry);
    }
    const Mark marks[] = {
        {"name", code->options.name}, {"title", title.at ? title.at : ""}, {NULL, NULL}};
    if (demo) tr_fill_in(demo, tr_embedded_sympy_demo(), marks);
    tr_buffer_free(&title);
    return !has_failed(err);
}
