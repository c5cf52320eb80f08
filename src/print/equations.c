// SPDX-License-Identifier: Apache-2.0
// The equations of a model as people read them.
#include "base/options.h"
#include "expr/walk.h"
#include "plan/flow.h"
#include "plan/plan.h"
#include "print/listing.h"
#include "reduce/reduction.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Equation equations[] = {
#define EQUATION(...) {__VA_ARGS__},
#include "print/equation.def"
#undef EQUATION
};
enum { EQUATIONS = sizeof equations / sizeof *equations };

static const Language languages[] = {
#define LANGUAGE(name, notation, ...) {name, &notation, __VA_ARGS__},
#include "print/language.def"
#undef LANGUAGE
};

// ---- words ---------------------------------------------------------------------------------

static void add_word(Buffer *list, const char *word)
{
    if (list->length) tr_buffer_print(list, ", ");
    tr_buffer_print(list, "%s", word);
}

const Language *tr_language(const char *name, tr_error *err)
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
        if (!i || strcmp(equations[i].key, equations[i - 1].key) != 0)
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
static void list_names(Listing *l, System *s, const Equation *e)
{
    Buffer rows = {0}, words = {0}, w = {0};
    if (strchr("Gg", e->letter[0]) || !strcmp(e->letter, "lambda")) add_rows(s, &rows);
    if (strchr("HJk", e->letter[0])) add_velocities(s, true, false, &rows);
    if (!strcmp(e->letter, "tau")) add_velocities(s, false, true, &rows);
    if (strchr("HAb", e->letter[0])) add_free(s, &w);
    if (rows.at) tr_buffer_print(&words, "  rows: %s", rows.at);
    if (w.at) tr_buffer_print(&words, "%sw = (%s)", rows.at ? "; " : "  ", w.at);
    if (words.at) tr_listing_tell(l, l->language->words, words.at);
    free(rows.at);
    free(w.at);
    free(words.at);
}

// The reduced system's graph begins with that of the derived one: then its inputs name both.
static bool is_beginning(const Graph *graph, const Graph *of)
{
    return graph->count <= of->count &&
           memcmp(graph->nodes, of->nodes, graph->count * sizeof *graph->nodes) == 0;
}

static void take_equation(Listing *l, const Equation *e)
{
    System *s = e->is_reduced ? l->reduced : l->derived;
    if (!s) return;
    Matrix m = e->output ? output_matrix(s, e->output) : reduced_matrix(s, e->is_symmetric);
    if (s->graph->failed) tr_graph_refuse(s->graph, l->err);
    if (!m.rows || !m.columns || has_failed(l->err)) return;
    if (l->reduced && s != l->reduced) {
        s = l->reduced;
        for (uint32_t i = 0; i < m.rows * m.columns; i++)
            m.entries[i] = expr_at(s->graph, m.entries[i].id);
    }
    tr_listing_add(l, s, e, m);
}

static void print_block(Listing *l, const Block *b)
{
    tr_listing_tell(l, l->language->heading, b->equation->words);
    list_names(l, b->system, b->equation);
    tr_listing_cells(l, b);
}

static void print_velocities(Listing *l)
{
    const System *s = l->derived;
    Buffer list = {0};
    const bool drives = add_velocities(s, true, true, &list) > add_velocities(s, true, false, NULL);
    Buffer words = {0};
    tr_buffer_print(&words, "M v' + c = Q%s%s, with v = (%s)", drives ? " + tau" : "",
                    s->row_count ? " + G^T lambda, G v + g = 0" : "", list.at ? list.at : "");
    if (drives) tr_buffer_print(&words, "; tau along driven joints alone");
    if (words.at) tr_listing_tell(l, l->language->words, words.at);
    free(list.at);
    free(words.at);
}

static bool open_listing(Listing *l, const System *system, const char *show)
{
    bool needs_reduced = false;
    for (int i = 0; i < EQUATIONS; i++)
        needs_reduced =
            needs_reduced || (equations[i].is_reduced && is_in_list(show, equations[i].key));
    l->derived = tr_system_copy(system, l->err);
    if (!needs_reduced || !system->row_count) return l->derived;
    Plan *plan = tr_plan_new(system, l->err);
    Flow *flow = plan ? tr_flow_new(plan, NULL, l->err) : NULL;
    l->reduced = flow ? tr_flow_system(flow, l->err) : NULL;
    tr_flow_free(flow);
    tr_plan_free(plan);
    if (l->derived && l->reduced) assert(is_beginning(l->derived->graph, l->reduced->graph));
    return l->derived && l->reduced;
}

static void print_all(Listing *l, const char *show, const char *title)
{
    bool has_told = false;
    uint32_t next = 0;
    tr_listing_tell(l, l->language->begin, title);
    print_velocities(l);
    tr_listing_letters(l);
    tr_listing_quantities(l);
    for (int i = 0; i < EQUATIONS; i++) {
        if (next < l->block_count && l->blocks[next].equation == &equations[i])
            print_block(l, &l->blocks[next++]);
        if (!equations[i].is_reduced || l->reduced || has_told ||
            !is_in_list(show, equations[i].key))
            continue;
        tr_listing_tell(l, l->language->words,
                        "There are no constraints: w = v, A = M, and tau = M v' + c - Q along "
                        "driven joints.");
        has_told = true;
    }
    tr_listing_fill(&l->text, l->language->end, "", "");
}

void tr_equations_fill(tr_equations_options *options, size_t size)
{
    const tr_equations_options plain = {.size = size,
                                        .show = "M,c,Q,G",
                                        .language = "text",
                                        .title = "Equations",
                                        .style = "",
                                        .effort = 1};
    tr_give_options(options, size, &plain, sizeof plain);
}

void tr_equations_whole(tr_equations_options *o, const char *show)
{
    const tr_equations_options plain = tr_equations_defaults();
    if (!o->show) o->show = show;
    if (!o->language) o->language = plain.language;
    if (!o->title) o->title = plain.title;
    if (!o->style) o->style = plain.style;
}

static bool take_style(Listing *l, const tr_equations_options *o)
{
    l->is_closed = strcmp(o->style, "closed") == 0, l->is_staged = strcmp(o->style, "staged") == 0;
    if (o->style[0] && !l->is_closed && !l->is_staged)
        tr_fail(l->err, TR_USAGE, (Place){0}, "equations are closed or staged, not '%s'", o->style);
    if (!(o->effort > 0 && o->effort <= 1e9))
        tr_fail(l->err, TR_USAGE, (Place){0},
                "a budget is a number above 0, as 2 for twice the work");
    return !has_failed(l->err);
}

char *tr_equations_text(const tr_system *system, const tr_equations_options *options, tr_error *err)
{
    tr_equations_options o = tr_equations_defaults();
    if (!system || !tr_take_options(&o, sizeof o, options, "tr_equations_defaults", err))
        return NULL;
    tr_equations_whole(&o, tr_equations_defaults().show);
    Listing listing = {.language = tr_language(o.language, err),
                       .effort = o.effort,
                       .most = o.most_operations,
                       .most_entries = o.most_entries,
                       .err = err};
    if (system->order == 1)
        tr_fail(err, TR_USAGE, (Place){0}, "equations are those of second order: --order 2");
    bool good = listing.language && check_list(o.show, err) && take_style(&listing, &o) &&
                open_listing(&listing, system, o.show);
    for (int i = 0; good && i < EQUATIONS; i++)
        if (is_in_list(o.show, equations[i].key)) take_equation(&listing, &equations[i]);
    good = good && !has_failed(err);
    if (good) tr_listing_solve(&listing);
    good = good && !has_failed(err);
    if (good) print_all(&listing, o.show, o.title);
    tr_listing_close(&listing);
    if (good && !listing.text.failed) return listing.text.at;
    if (listing.text.failed) tr_fail_memory(err);
    free(listing.text.at);
    return NULL;
}
