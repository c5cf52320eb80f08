// SPDX-License-Identifier: Apache-2.0
// The equations of a model as people read them.
#include "base/options.h"
#include "expr/matrix.h"
#include "expr/walk.h"
#include "plan/flow.h"
#include "plan/plan.h"
#include "print/closed.h"
#include "print/notation.h"
#include "reduce/reduction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Equation {
    const char *key, *letter, *output, *words;
    bool is_reduced, is_symmetric;
} Equation;

static const Equation equations[] = {
#define EQUATION(...) {__VA_ARGS__},
#include "print/equation.def"
#undef EQUATION
};
enum { EQUATIONS = sizeof equations / sizeof *equations };

typedef struct Language {
    const char *name;
    const Notation *notation;
    const char *begin, *heading, *words, *equation, *in_lines, *end;
} Language;

static const Language languages[] = {
#define LANGUAGE(name, notation, ...) {name, &notation, __VA_ARGS__},
#include "print/language.def"
#undef LANGUAGE
};

typedef struct Sheet {
    const Language *language;
    System *derived, *reduced;                // copies; the second only where it is needed
    bool has_told;                            // that there are no constraints
    size_t most, most_entries;                // operations of an entry, entries; 0: any number
    size_t entries;                           // written so far
    uint32_t left_out, least_left, most_left; // entries of a matrix, and their operations
    Buffer text;
    tr_error *err;
} Sheet;

// ---- words ---------------------------------------------------------------------------------

static void add_word(Buffer *list, const char *word)
{
    if (list->length) tr_buffer_print(list, ", ");
    tr_buffer_print(list, "%s", word);
}

static const Language *find_language(const char *name, tr_error *err)
{
    Buffer known = {0};
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        if (strcmp(name, languages[i].name) == 0) return free(known.at), &languages[i];
        add_word(&known, languages[i].name);
    }
    tr_fail(err, TR_USAGE, (Place){0}, "equations are not written in '%s', but in %s", name,
            known.at ? known.at : "");
    free(known.at);
    return NULL;
}

static bool is_in_list(const char *list, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        at += strspn(at, " ");
        if (strncmp(at, key, length) == 0 && (at[length] == ',' || !at[length])) return true;
    }
    return false;
}

// Every word of the list is a key
static bool check_list(const char *list, tr_error *err)
{
    Buffer known = {0};
    for (int i = 0; i < EQUATIONS; i++)
        if (!i || strcmp(equations[i].key, equations[i - 1].key))
            add_word(&known, equations[i].key);
    if (!*list)
        tr_fail(err, TR_USAGE, (Place){0}, "which equations? There are %s",
                known.at ? known.at : "");
    for (const char *at = list; *at;) {
        at += strspn(at, " ");
        const size_t length = strcspn(at, ",");
        bool found = false;
        for (int i = 0; i < EQUATIONS; i++)
            found = found ||
                    (strlen(equations[i].key) == length && !strncmp(equations[i].key, at, length));
        if (!found)
            tr_fail(err, TR_USAGE, (Place){0}, "there are no equations '%.*s'; there are %s",
                    (int)(length < 60 ? length : 60), at, known.at ? known.at : "");
        at += length + (at[length] == ',');
    }
    free(known.at);
    return !has_failed(err);
}

// ---- expressions ---------------------------------------------------------------------------

static Matrix output_matrix(System *s, const char *name)
{
    const Output *output = tr_system_output(s, text_of(name));
    Matrix m = tr_matrix(s->graph, output ? output->rows : 0, output ? output->columns : 0);
    for (uint32_t i = 0; output && m.entries && i < output->rows * output->columns; i++)
        m.entries[i] = output->values[i];
    return m;
}

// The velocities that are driven, or those that are not
static uint32_t list_velocities(const System *s, bool driven, uint32_t *places)
{
    uint32_t count = 0, place = 0;
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (s->inputs[i].kind != TR_VELOCITY) continue;
        if (is_motion_driven(&s->inputs[i]) == driven) places[count++] = place;
        place++;
    }
    return count;
}

// vdot.NAME, found or made
static Expr acceleration_of(System *s, uint32_t which)
{
    Buffer name = {0};
    Expr symbol = zero(s->graph);
    tr_buffer_print(&name, "vdot.%s", s->inputs[which].name);
    uint32_t i = 0;
    while (name.at && i < s->input_count && strcmp(s->inputs[i].name, name.at) != 0) i++;
    if (name.at)
        symbol = i < s->input_count ? s->inputs[i].symbol
                                    : tr_input(s, name.at, TR_PARAMETER, 0, &(tr_error){0});
    else
        s->graph->failed = true;
    free(name.at);
    return symbol;
}

// v_driven', as symbols
static Matrix driven_accelerations(System *s, uint32_t count)
{
    Matrix a = tr_matrix(s->graph, count, 1);
    uint32_t k = 0;
    for (uint32_t i = 0; i < s->input_count && k < count; i++)
        if (s->inputs[i].kind == TR_VELOCITY && is_motion_driven(&s->inputs[i]))
            set(a, k++, 0, acceleration_of(s, i));
    return a;
}

static Matrix plus(Matrix a, Matrix b)
{
    Matrix sum = tr_matrix(a.graph, a.rows, a.columns);
    for (uint32_t i = 0; sum.entries && i < a.rows * a.columns; i++)
        sum.entries[i] = add(a.entries[i], b.entries[i]);
    return sum;
}

// The velocity at a place among all
static uint32_t velocity_at(const System *s, uint32_t place)
{
    uint32_t i = 0;
    for (;; i++)
        if (s->inputs[i].kind == TR_VELOCITY && place-- == 0) return i;
}

// v = H w + J v_driven + k in place of velocities that are not among w
static void close_in_w(System *s, Matrix m, const uint32_t *p, uint32_t np, const uint32_t *a,
                       uint32_t na)
{
    const Matrix H = output_matrix(s, "H"), J = output_matrix(s, "J"), k = output_matrix(s, "k");
    uint32_t *w = calloc(s->input_count + 1u, sizeof *w);
    const uint32_t free_count = w ? tr_independent(s, w) : 0;
    if (!w) s->graph->failed = true;
    for (uint32_t i = 0; w && i < np && free_count == H.columns && !s->graph->failed; i++) {
        const uint32_t own = velocity_at(s, p[i]);
        bool is_free = false;
        for (uint32_t j = 0; j < free_count; j++) is_free = is_free || w[j] == own;
        if (is_free) continue;
        Expr sum = k.rows ? get(k, i, 0) : zero(s->graph);
        for (uint32_t j = 0; j < free_count; j++)
            sum = add(sum, mul(get(H, i, j), s->inputs[w[j]].symbol));
        for (uint32_t j = 0; j < na && J.columns == na; j++)
            sum = add(sum, mul(get(J, i, j), s->inputs[velocity_at(s, a[j])].symbol));
        const Expr from = s->inputs[own].symbol;
        tr_substitute(s->graph, m.entries, (size_t)m.rows * m.columns, &from, &sum, 1, m.entries);
    }
    free(w);
}

// H^T M_pp H, or H^T (Q_p - c_p - M_pp (h + J a) - M_pa a)                                (T70)
static Matrix reduced_matrix(System *s, bool is_mass)
{
    uint32_t *p = calloc(2 * (size_t)s->input_count + 2, sizeof *p),
             *a = p ? p + s->input_count + 1 : NULL;
    if (!p) return s->graph->failed = true, tr_matrix(s->graph, 0, 0);
    const uint32_t np = list_velocities(s, false, p), na = list_velocities(s, true, a);
    const Matrix M = output_matrix(s, "M"), H = output_matrix(s, "H"), Ht = tr_matrix_transpose(H);
    Matrix whole = tr_matrix(s->graph, 0, 0);
    if (M.rows && H.rows == np) {
        const Matrix Mpp = tr_pick(M, p, np, p, np), driven = driven_accelerations(s, na);
        const Matrix rest =
            plus(output_matrix(s, "h"), tr_matrix_product(output_matrix(s, "J"), driven));
        const Matrix bias = plus(tr_pick(output_matrix(s, "c"), p, np, NULL, 1),
                                 plus(tr_matrix_product(Mpp, rest),
                                      tr_matrix_product(tr_pick(M, p, np, a, na), driven)));
        const Matrix Q = tr_pick(output_matrix(s, "Q"), p, np, NULL, 1);
        whole = tr_matrix_product(Ht, is_mass ? tr_matrix_product(Mpp, H) : tr_matrix_sub(Q, bias));
        if (!is_mass) close_in_w(s, whole, p, np, a, na);
    }
    free(p);
    return whole;
}

// ---- writing -------------------------------------------------------------------------------

// Names of velocities that are free, driven or both, unless the list is NULL; how many they are
static uint32_t add_velocities(const System *s, bool free_ones, bool driven, Buffer *list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        if (input->kind != TR_VELOCITY || !(is_motion_driven(input) ? driven : free_ones)) continue;
        if (list && list->length) tr_buffer_add(list, ", ", 2);
        if (list) tr_name_text(s, i, list);
        count++;
    }
    return count;
}

// A row of language.def with its words
static void fill(Buffer *text, const char *row, const char *first, const char *second)
{
    const char *words[] = {first, second};
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(row, "%s");
        if (!at) break;
        tr_buffer_add(text, row, (size_t)(at - row));
        tr_buffer_print(text, "%s", words[i]);
        row = at + 2;
    }
    tr_buffer_print(text, "%s", row);
}

static void tell(Sheet *sheet, const char *row, const char *words)
{
    Buffer prose = {0};
    sheet->language->notation->prose(words, &prose);
    fill(&sheet->text, row, prose.at ? prose.at : "", "");
    free(prose.at);
}

static uint32_t count_operations(Graph *graph, Expr x)
{
    Reach reach;
    uint32_t count = 0;
    if (tr_reach(graph, &x, 1, &reach))
        for (uint32_t k = 0; k < reach.count; k++)
            count += tr_op[graph->nodes[reach.ids[k]].op].operands > 0;
    tr_reach_free(&reach);
    return count;
}

static void print_left(const Sheet *sheet, const char *letter, const Matrix *m, uint32_t i,
                       uint32_t k, Buffer *text)
{
    const Notation *by = sheet->language->notation;
    char place[32];
    if (m->rows * m->columns == 1)
        place[0] = 0;
    else if (m->columns == 1)
        snprintf(place, sizeof place, "%u", i + 1);
    else
        snprintf(place, sizeof place, "%u,%u", i + 1, k + 1);
    if (by == &tr_notation_text)
        tr_buffer_print(text, "%s%s%s%s", letter, place[0] ? "[" : "", place, place[0] ? "]" : "");
    else if (by == &tr_notation_latex)
        tr_buffer_print(text, place[0] ? "%s%s_{%s}" : "%s%s%s", strlen(letter) > 1 ? "\\" : "",
                        letter, place);
    else
        tr_buffer_print(
            text, place[0] ? "<msub><mi>%s%s%s</mi><mn>%s</mn></msub>" : "<mi>%s%s%s%s</mi>",
            strlen(letter) > 1 ? "&" : "", letter, strlen(letter) > 1 ? ";" : "", place);
}

// Whether an entry is longer than what is wanted, or there are enough; it is then told behind the
// others.
static bool is_left_out(Sheet *sheet, Graph *graph, Expr x)
{
    const bool are_enough = sheet->most_entries && sheet->entries >= sheet->most_entries;
    const uint32_t count = sheet->most || are_enough ? count_operations(graph, x) : 0;
    if (!are_enough && count <= sheet->most) return sheet->entries++, false;
    if (!sheet->left_out++) sheet->least_left = sheet->most_left = count;
    if (count < sheet->least_left) sheet->least_left = count;
    if (count > sheet->most_left) sheet->most_left = count;
    return true;
}

static void tell_left_out(Sheet *sheet)
{
    char words[120], most[32] = "";
    if (sheet->most_left > sheet->least_left)
        snprintf(most, sizeof most, " to %u", sheet->most_left);
    snprintf(words, sizeof words, "  left out: %u %s with %u%s operations", sheet->left_out,
             sheet->left_out > 1 ? "entries" : "entry", sheet->least_left, most);
    if (sheet->left_out) tell(sheet, sheet->language->words, words);
    sheet->left_out = 0;
}

// Whether it does not fit into a line, by how many letters it has
static bool is_wide(const System *s, const Term *form)
{
    enum { LINE = 100 }; // letters
    Buffer plain = {0};
    tr_term_write(form, &tr_notation_text, s, &plain);
    const bool wide = plain.length > LINE;
    free(plain.at);
    return wide;
}

static void write_equation(Sheet *sheet, const System *s, const Term *form, const char *left)
{
    const Language *language = sheet->language;
    const bool in_lines = language->in_lines && is_wide(s, form);
    Buffer right = {0};
    tr_term_write(form, in_lines ? language->notation->in_lines : language->notation, s, &right);
    if (right.at)
        fill(&sheet->text, in_lines ? language->in_lines : language->equation, left, right.at);
    free(right.at);
}

// False when memory runs out, or there is no FLINT
static bool print_entry(Sheet *sheet, System *s, const char *letter, const Matrix *m, uint32_t i,
                        uint32_t k, bool *any)
{
    const Expr x = get(*m, i, k);
    if (is_left_out(sheet, s->graph, x)) return *any = true;
    Buffer left = {0};
    Closed *closed = tr_closed_new(s->graph, x, sheet->err);
    const Term *form = closed ? tr_closed_form(closed, x) : NULL;
    print_left(sheet, letter, m, i, k, &left);
    if (closed && !form) {
        Buffer words = {0};
        tr_buffer_print(&words, "  %s[%u,%u] is not simplified: %u operations", letter, i + 1,
                        k + 1, count_operations(s->graph, x));
        if (words.at) tell(sheet, sheet->language->words, words.at);
        free(words.at);
    }
    const bool is_nothing = form && tr_term_is_number(form, 0);
    *any = *any || !is_nothing;
    if (form && !is_nothing && left.at) write_equation(sheet, s, form, left.at);
    tr_closed_free(closed);
    free(left.at);
    return closed != NULL;
}

static void add_rows(const System *s, Buffer *list)
{
    for (uint32_t i = 0; i < s->row_count; i++)
        tr_buffer_print(list, "%s%s", i ? ", " : "", s->rows[i].name);
}

static void add_free(System *s, Buffer *list)
{
    uint32_t *w = calloc(s->input_count + 1u, sizeof *w);
    const uint32_t count = w ? tr_independent(s, w) : 0;
    for (uint32_t i = 0; i < count; i++) {
        tr_buffer_print(list, i ? ", " : "");
        tr_name_text(s, w[i], list);
    }
    free(w);
}

// What the rows of a matrix stand for, and w
static void list_names(Sheet *sheet, System *s, const Equation *e)
{
    Buffer rows = {0}, words = {0}, w = {0};
    if (strchr("Gg", e->letter[0]) || !strcmp(e->letter, "lambda")) add_rows(s, &rows);
    if (strchr("HJk", e->letter[0])) add_velocities(s, true, false, &rows);
    if (!strcmp(e->letter, "tau")) add_velocities(s, false, true, &rows);
    if (strchr("HAb", e->letter[0])) add_free(s, &w);
    if (rows.at) tr_buffer_print(&words, "  rows: %s", rows.at);
    if (w.at) tr_buffer_print(&words, "%sw = (%s)", rows.at ? "; " : "  ", w.at);
    if (words.at) tell(sheet, sheet->language->words, words.at);
    free(rows.at);
    free(w.at);
    free(words.at);
}

// Entries that are not zero; of a symmetric matrix those on its diagonal and above
static bool print_matrix(Sheet *sheet, System *s, const Equation *e, Matrix m)
{
    bool good = true, any = false;
    tell(sheet, sheet->language->heading, e->words);
    list_names(sheet, s, e);
    for (uint32_t i = 0; good && i < m.rows; i++)
        for (uint32_t k = e->is_symmetric ? i : 0; good && k < m.columns; k++)
            if (!is_zero(get(m, i, k))) good = print_entry(sheet, s, e->letter, &m, i, k, &any);
    if (good && !any) tell(sheet, sheet->language->words, "  is zero");
    tell_left_out(sheet);
    return good;
}

static bool print_equation(Sheet *sheet, const Equation *e)
{
    System *s = e->is_reduced ? sheet->reduced : sheet->derived;
    if (!s) {
        if (!sheet->has_told)
            tell(sheet, sheet->language->words,
                 "There are no constraints: w = v, A = M, and tau = M v' + c - Q along driven "
                 "joints.");
        return sheet->has_told = true;
    }
    const Matrix m = e->output ? output_matrix(s, e->output) : reduced_matrix(s, e->is_symmetric);
    if (!m.rows || !m.columns) return true;
    if (s->graph->failed) tr_graph_refuse(s->graph, sheet->err);
    return !has_failed(sheet->err) && print_matrix(sheet, s, e, m);
}

static void print_velocities(Sheet *sheet)
{
    const System *s = sheet->derived;
    Buffer list = {0};
    const bool drives = add_velocities(s, true, true, &list) > add_velocities(s, true, false, NULL);
    Buffer words = {0};
    tr_buffer_print(&words, "M v' + c = Q%s%s, with v = (%s)", drives ? " + tau" : "",
                    s->row_count ? " + G^T lambda, G v + g = 0" : "", list.at ? list.at : "");
    if (drives) tr_buffer_print(&words, "; tau along driven joints alone");
    if (words.at) tell(sheet, sheet->language->words, words.at);
    free(list.at);
    free(words.at);
}

static bool open_sheet(Sheet *sheet, const System *system, const char *show)
{
    bool needs_reduced = false;
    for (int i = 0; i < EQUATIONS; i++)
        needs_reduced =
            needs_reduced || (equations[i].is_reduced && is_in_list(show, equations[i].key));
    sheet->derived = tr_system_copy(system, sheet->err);
    if (!needs_reduced || !system->row_count) return sheet->derived;
    Plan *plan = tr_plan_new(system, sheet->err);
    Flow *flow = plan ? tr_flow_new(plan, NULL, sheet->err) : NULL;
    sheet->reduced = flow ? tr_flow_system(flow, sheet->err) : NULL;
    tr_flow_free(flow);
    tr_plan_free(plan);
    return sheet->derived && sheet->reduced;
}

void tr_equations_fill(tr_equations_options *options, size_t size)
{
    const tr_equations_options plain = {
        .size = size, .show = "M,c,Q,G", .language = "text", .title = "Equations"};
    tr_give_options(options, size, &plain, sizeof plain);
}

char *tr_equations_text(const tr_system *system, const tr_equations_options *options, tr_error *err)
{
    tr_equations_options o = tr_equations_defaults();
    if (!system || !tr_take_options(&o, sizeof o, options, "tr_equations_defaults", err))
        return NULL;
    Sheet sheet = {.language = find_language(o.language, err),
                   .most = o.most_operations,
                   .most_entries = o.most_entries,
                   .err = err};
    if (system->order == 1)
        tr_fail(err, TR_USAGE, (Place){0}, "equations are those of second order: --order 2");
    bool good = sheet.language && check_list(o.show, err) && open_sheet(&sheet, system, o.show);
    if (good) {
        tell(&sheet, sheet.language->begin, o.title);
        print_velocities(&sheet);
    }
    for (int i = 0; good && i < EQUATIONS; i++)
        if (is_in_list(o.show, equations[i].key)) good = print_equation(&sheet, &equations[i]);
    if (good) fill(&sheet.text, sheet.language->end, "", "");
    tr_system_free(sheet.reduced);
    tr_system_free(sheet.derived);
    if (good && !sheet.text.failed) return sheet.text.at;
    if (sheet.text.failed) tr_fail_memory(err);
    free(sheet.text.at);
    return NULL;
}
