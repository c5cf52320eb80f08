// SPDX-License-Identifier: Apache-2.0
// The tables of a model: points from its own text, from two columns of a file, or from a grid; and
// what is watched so that a run ends where one of them is left (T233). Files that a model names are
// part of what it is.
#include "mech/tree.h"

#include "base/beside.h"
#include "base/grid.h"
#include "base/number.h"
#include "base/sheet.h"
#include "expr/walk.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Points {
    Grid at; // ny = 0: one variable
    double shift[2], scale, offset;
    int degree;
} Points;

__attribute__((format(printf, 3, 4))) static void refuse(Tree *tree, Value at, const char *format,
                                                         ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    tr_fail(tree->err, TR_INVALID, at.place, "%s", text);
}

// ---- files ---------------------------------------------------------------------------------

enum { MOST_BYTES = 1 << 28 }; // of all files of a model
#define NO_TABLE UINT32_MAX

// Names it among those that the system was made from.
static void note_file(Tree *tree, const char *path, size_t bytes)
{
    struct Source *source = &tree->system->source;
    source->file_bytes += bytes;
    const uint32_t count = source->file_count;
    const char **grown = tr_tree_room(tree, count + 1u, sizeof *grown);
    const char *kept = tr_arena_text(&tree->graph->arena, path, strlen(path));
    if (!kept) tree->graph->failed = true;
    if (!grown || !kept) return;
    if (count) memcpy(grown, source->files, count * sizeof *grown);
    grown[count] = kept;
    source->files = grown, source->file_count = count + 1;
}

void tr_tree_note_included(Tree *tree)
{
    const Model *model = tree->model;
    for (size_t i = 0; i < model->included_count; i++) {
        const Included *file = &model->included[i];
        note_file(tree, file->path, file->text.length);
        tr_sha256_add(&tree->system->source.content, file->text.at, file->text.length);
    }
}

char *tr_tree_try_file(Tree *tree, Value file, size_t *length, tr_error *why)
{
    const Model *model = tree->model;
    const Beside where = {model->place, model->allowed, model->allowed_count};
    struct Source *source = &tree->system->source;
    if (has_failed(tree->err)) return NULL;
    char *path, *text = tr_beside_read(&where, file.text, MOST_BYTES - source->file_bytes, length,
                                       &path, why);
    if (text) note_file(tree, path, *length);
    if (text) tr_sha256_add(&source->content, text, *length);
    free(path);
    return text;
}

char *tr_tree_file(Tree *tree, Value file, size_t *length)
{
    tr_error why = {0};
    char *text = tr_tree_try_file(tree, file, length, &why);
    if (why.status) tr_fail(tree->err, why.status, file.place, "%s", why.text);
    return text;
}

void tr_tree_refuse_file(Tree *tree, Value file, const tr_error *why)
{
    if (why->line)
        tr_fail(tree->err, why->status, file.place, "'%.*s', line %d: %s", TEXT(file.text),
                why->line, why->text);
    else if (why->status == TR_NO_MEMORY)
        tr_fail_memory(tree->err);
    else if (why->status)
        tr_fail(tree->err, TR_INVALID, file.place, "'%.*s' %s", TEXT(file.text), why->text);
}

// ---- numbers in the model ------------------------------------------------------------------

// Formulas of numbers alone: what a table holds does not follow parameters.
static double constant(Tree *tree, Value value, const char *what)
{
    const Scope nothing = {.budget = &tree->budget};
    const Expr x = tr_formula_parse(tree->graph, &nothing, value.text, value.place, tree->err);
    if (has_failed(tree->err)) return 0;
    if (!is_number(x) || !isfinite(value_of(x)))
        refuse(tree, value, "'%s' is made of finite numbers alone", what);
    return is_number(x) ? value_of(x) : 0;
}

// Cuts the next part off, up to a comma outside parentheses; false when nothing is left.
static bool next_part(Value *rest, Value *part)
{
    size_t at = 0, start = 0;
    if (!rest->given) return false;
    for (int depth = 0; at < rest->text.length && (depth > 0 || rest->text.at[at] != ','); at++)
        depth += rest->text.at[at] == '(' ? 1 : rest->text.at[at] == ')' ? -1 : 0;
    while (start < at && is_space(rest->text.at[start])) start++;
    *part = (Value){{rest->text.at + start, at - start}, rest->place, true};
    if (part->place.line) part->place.column += tr_utf8_columns(rest->text.at, start);
    const size_t used = at < rest->text.length ? at + 1 : at;
    if (rest->place.line) rest->place.column += tr_utf8_columns(rest->text.at, used);
    rest->given = at < rest->text.length;
    rest->text = (Text){rest->text.at + used, rest->text.length - used};
    return true;
}

// All numbers of a list; the caller frees them.
static double *read_list(Tree *tree, Value list, const char *what, uint32_t *count)
{
    size_t most = 1;
    for (size_t i = 0; i < list.text.length; i++) most += list.text.at[i] == ',';
    double *numbers = malloc(most * sizeof *numbers);
    Value rest = list, part;
    *count = 0;
    if (!numbers) tr_fail_memory(tree->err);
    rest.given = true;
    while (numbers && !has_failed(tree->err) && next_part(&rest, &part))
        numbers[(*count)++] = constant(tree, part, what);
    return numbers;
}

static void check_ascent(Tree *tree, Value at, const char *what, const double *x, uint32_t n)
{
    for (uint32_t i = 1; i < n && !has_failed(tree->err); i++)
        if (!(x[i] > x[i - 1]))
            refuse(tree, at, "'%s' does not ascend: its number %u is not above the one before it",
                   what, i + 1);
}

static void take_lists(Tree *tree, const NamedTable *table, Points *p)
{
    Grid *g = &p->at;
    uint32_t values = 0;
    if (!table->x.given || !table->value.given) {
        refuse(tree, table->name, "the table '%.*s' needs 'x' and 'value', or a 'file'",
               TEXT(table->name.text));
        return;
    }
    g->x = read_list(tree, table->x, "x", &g->nx);
    if (!has_failed(tree->err) && table->y.given) g->y = read_list(tree, table->y, "y", &g->ny);
    if (!has_failed(tree->err)) g->z = read_list(tree, table->value, "value", &values);
    check_ascent(tree, table->x, "x", g->x, g->nx);
    check_ascent(tree, table->y, "y", g->y, g->ny);
    const size_t wanted = (size_t)g->nx * (g->y ? g->ny : 1);
    if (!has_failed(tree->err) && values != wanted)
        refuse(tree, table->value, "the table '%.*s' has %u values for %zu points",
               TEXT(table->name.text), values, wanted);
}

// ---- columns of a file ---------------------------------------------------------------------

const double *tr_tree_sheet_column(Tree *tree, Value file, const Sheet *sheet, Value name)
{
    const double *found = NULL;
    uint32_t count = 0;
    for (size_t i = 0; i < sheet->columns; i++)
        if (text_is(name.text, sheet->names[i])) found = sheet->values + i * sheet->rows, count++;
    if (count != 1)
        refuse(tree, name, "'%.*s' has %s column '%.*s'", TEXT(file.text),
               count ? "more than one" : "no", TEXT(name.text));
    return count == 1 ? found : NULL;
}

// A copy of it
static double *take_column(Tree *tree, Value file, const Sheet *sheet, Value name)
{
    const double *column = tr_tree_sheet_column(tree, file, sheet, name);
    if (!column || has_failed(tree->err)) return NULL;
    for (size_t i = 0; i < sheet->rows && !has_failed(tree->err); i++)
        if (!isfinite(column[i]))
            refuse(tree, name, "'%.*s', line %d: there is no finite number in column '%.*s'",
                   TEXT(file.text), tr_sheet_line(sheet, i), TEXT(name.text));
    double *kept = malloc((sheet->rows + 1) * sizeof *kept);
    if (!kept) tr_fail_memory(tree->err);
    if (kept) memcpy(kept, column, sheet->rows * sizeof *kept);
    return kept;
}

Sheet *tr_tree_sheet(Tree *tree, Value file, char *text, size_t length)
{
    tr_error why = {0};
    Sheet *sheet = tr_sheet_take(text, length, NULL, &why);
    tr_tree_refuse_file(tree, file, &why);
    return sheet;
}

static void take_columns(Tree *tree, const NamedTable *table, const Sheet *sheet, Points *p)
{
    p->at.nx = (uint32_t)(sheet->rows < UINT32_MAX ? sheet->rows : UINT32_MAX);
    p->at.x = take_column(tree, table->file, sheet, table->x);
    p->at.z = take_column(tree, table->file, sheet, table->value);
    for (size_t i = 1; i < sheet->rows && !has_failed(tree->err); i++)
        if (!(p->at.x[i] > p->at.x[i - 1]))
            refuse(tree, table->x, "'%.*s', line %d: column '%.*s' does not ascend",
                   TEXT(table->file.text), tr_sheet_line(sheet, i), TEXT(table->x.text));
}

// ---- all of one table ----------------------------------------------------------------------

static void take_file(Tree *tree, const NamedTable *table, Points *p)
{
    const Value file = table->file;
    const bool is_asc = text_ends_with(file.text, ".asc") || text_ends_with(file.text, ".ASC");
    const bool has_columns = table->x.given || table->value.given;
    if (table->y.given)
        refuse(tree, table->y, "a file has its own y, in the first row of a grid");
    else if (has_columns && is_asc)
        refuse(tree, table->x.given ? table->x : table->value, "an .asc file has no columns");
    else if (has_columns && !(table->x.given && table->value.given))
        refuse(tree, file, "'x' and 'value' name the columns of '%.*s': both are needed",
               TEXT(file.text));
    size_t length = 0;
    char *text = tr_tree_file(tree, file, &length);
    if (!text) return;
    if (has_columns) {
        Sheet *sheet = tr_tree_sheet(tree, file, text, length);
        if (sheet) take_columns(tree, table, sheet, p);
        tr_sheet_free(sheet);
        return;
    }
    tr_error why = {0};
    if (is_asc)
        tr_grid_asc(text, length, &p->at, &why);
    else
        tr_grid_csv(text, length, &p->at, &why);
    free(text);
    tr_tree_refuse_file(tree, file, &why);
}

// Which of the words it is
static int choice(Tree *tree, Value value, const char *what, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (text_is(value.text, words[i])) return i;
    refuse(tree, value, "'%s' is %s, %s or %s, not '%.*s'", what, words[0], words[1], words[2],
           TEXT(value.text));
    return 0;
}

static void take_shift(Tree *tree, const NamedTable *table, Points *p)
{
    uint32_t count = 0;
    const uint32_t wanted = p->at.y ? 2 : 1;
    if (!table->shift.given || has_failed(tree->err)) return;
    double *shift = read_list(tree, table->shift, "shift", &count);
    if (!has_failed(tree->err) && count != wanted)
        refuse(tree, table->shift, "'shift' of this table is %s",
               wanted == 2 ? "two numbers, as in \"10, 20\"" : "one number");
    for (uint32_t i = 0; i < count && !has_failed(tree->err); i++) p->shift[i] = shift[i];
    free(shift);
}

// Moves and scales it.
static void finish_points(Points *p)
{
    Grid *g = &p->at;
    const size_t count = (size_t)g->nx * (g->y ? g->ny : 1);
    for (uint32_t i = 0; i < g->nx; i++) g->x[i] -= p->shift[0];
    for (uint32_t i = 0; g->y && i < g->ny; i++) g->y[i] -= p->shift[1];
    for (size_t i = 0; i < count; i++) g->z[i] = p->scale * g->z[i] + p->offset;
}

static void check_size(Tree *tree, const NamedTable *table, const Points *p)
{
    if (!has_failed(tree->err) && (p->at.nx < 2 || (p->at.y && p->at.ny < 2)))
        refuse(tree, table->file.given ? table->file : table->x,
               "the table '%.*s' needs two points or more%s", TEXT(table->name.text),
               p->at.y ? " along x and along y" : "");
}

// Of a file whose sheet is there already, or not
static void make_table(Tree *tree, const NamedTable *table, const Sheet *sheet)
{
    static const char *const degrees[] = {"0", "1", "3"}, *const ends[] = {"hold", "extend",
                                                                           "stop"};
    Points p = {0};
    const int degree = choice(tree, table->degree, "degree", degrees, 3);
    const int outside = choice(tree, table->outside, "outside", ends, 3);
    p.scale = constant(tree, table->scale, "scale");
    p.offset = constant(tree, table->offset, "offset");
    if (!has_failed(tree->err) && sheet)
        take_columns(tree, table, sheet, &p);
    else if (!has_failed(tree->err) && table->file.given)
        take_file(tree, table, &p);
    else if (!has_failed(tree->err))
        take_lists(tree, table, &p);
    check_size(tree, table, &p);
    take_shift(tree, table, &p);
    Table *made = NULL;
    if (!has_failed(tree->err)) {
        tr_error why = {0};
        finish_points(&p);
        made = tr_table_take(p.at.x, p.at.nx, p.at.y, p.at.y ? p.at.ny : 1, p.at.z,
                             degree == 2 ? 3 : degree, false, &why);
        p.at.z = NULL;
        if (made) made->stops = outside == 2;
        if (made) tr_system_table(tree->system, table->name.text, made, outside == 0, &why);
        tr_tree_refuse_name(tree, table->name, &why);
    }
    tr_grid_free(&p.at);
}

// ---- signals -------------------------------------------------------------------------------

// What is said of one of them, or nothing
static Value said_of(const Pairs *pairs, Text name, const char *otherwise)
{
    const Pair *pair = tr_pairs_find(pairs, name);
    return pair ? pair->value : (Value){.text = text_of(otherwise)};
}

static void check_names(Tree *tree, const Pairs *pairs, const char *what)
{
    const Pairs *columns = &tree->model->fields.signals.columns;
    for (uint32_t i = 0; i < pairs->count && !has_failed(tree->err); i++) {
        const Value key = pairs->at[i].key;
        Suggestion nearest = {.wanted = key.text};
        char hint[TR_HINT_SIZE];
        if (tr_pairs_find(columns, key.text)) continue;
        tr_pairs_offer(columns, &nearest);
        refuse(tree, key, "'%s': there is no signal '%.*s' in 'columns'%s", what, TEXT(key.text),
               tr_hint(&nearest, hint));
    }
}

static void make_signal(Tree *tree, const Signals *s, const Pair *column, const Sheet *sheet)
{
    const NamedTable table = {.name = column->key,
                              .file = s->file,
                              .x = {s->time.text, (s->time.given ? s->time : s->file).place, true},
                              .value = column->value,
                              .degree = s->degree,
                              .outside = s->outside,
                              .shift = s->shift,
                              .scale = said_of(&s->scale, column->key.text, "1"),
                              .offset = said_of(&s->offset, column->key.text, "0")};
    make_table(tree, &table, sheet);
}

// Each is a table of one variable: all that holds of these holds of signals.
static void make_signals(Tree *tree)
{
    const Signals *s = &tree->model->fields.signals;
    size_t length = 0;
    if (!s->name.given || has_failed(tree->err)) return;
    if (!s->file.given || !s->columns.count) {
        refuse(tree, s->name, "'signals' needs a 'file' and its 'columns'");
        return;
    }
    check_names(tree, &s->scale, "scale");
    check_names(tree, &s->offset, "offset");
    char *text = tr_tree_file(tree, s->file, &length);
    Sheet *sheet = text ? tr_tree_sheet(tree, s->file, text, length) : NULL;
    for (uint32_t i = 0; sheet && i < s->columns.count && !has_failed(tree->err); i++)
        make_signal(tree, s, &s->columns.at[i], sheet);
    tr_sheet_free(sheet);
}

void tr_tree_tables(Tree *tree)
{
    const NamedTables *tables = &tree->model->fields.tables;
    for (uint32_t i = 0; i < tables->count && !has_failed(tree->err); i++)
        make_table(tree, &tables->at[i], NULL);
    make_signals(tree);
}

// ---- leaving them --------------------------------------------------------------------------

// A call of a table that ends a run where it is left
typedef struct Leaving {
    Text name;
    Expr margin, place[2];
    uint32_t count; // of place
    uint32_t table;
} Leaving;

typedef void Take(Tree *tree, const Leaving *leaving, const void *owner);

static Text table_name(const Tree *tree, uint32_t table)
{
    const System *s = tree->system;
    for (uint32_t i = 0; i < s->name_count; i++) {
        const Function *function = s->names[i].function;
        if (function && !function->body.at && function->table == table) return function->name;
    }
    return text_of("");
}

static Expr least(Expr a, Expr b) { return tr_build(OP_MIN, a, b, a); }
static Expr most(Expr a, Expr b) { return tr_build(OP_MAX, a, b, a); }

// How far it is from leaving its points where it is used, and 1 elsewhere               (T233)
static Leaving leaving_of(Tree *tree, Expr call, Expr used)
{
    Graph *g = tree->graph;
    const Node node = *node_of(call);
    const Table *table = g->tables[node.c];
    Leaving l = {.name = table_name(tree, node.c),
                 .count = (uint32_t)tr_op[node.op].operands,
                 .table = node.c};
    for (uint32_t k = 0; k < l.count; k++) {
        const TableAxis *axis = &table->axis[k];
        const Expr x = operand(call, (int)k);
        const Expr margin =
            least(sub(x, number(g, axis->knot[0])), sub(number(g, axis->knot[axis->count - 1]), x));
        l.place[k] = x;
        l.margin = k ? least(l.margin, margin) : margin;
    }
    l.margin = choose(used, l.margin, one(g));
    return l;
}

static bool stops(const Graph *g, const Node *node)
{
    return (node->op == OP_TABLE1 || node->op == OP_TABLE2) && !table_is_question(node->n) &&
           g->tables[node->c]->stops;
}

// Whether each node takes part, from what uses it: a branch that is not taken does not.
static void pass_use(Graph *g, uint32_t id, Expr *used)
{
    const Node node = g->nodes[id];
    const Expr own = used[id];
    for (int i = 0; i < tr_op[node.op].operands; i++) {
        const uint32_t of = node_operand(&node, i);
        Expr part = own;
        if (node.op == OP_SELECT && i == 1) part = choose(expr_at(g, node.a), own, zero(g));
        if (node.op == OP_SELECT && i == 2) part = choose(expr_at(g, node.a), zero(g), own);
        if (!used[of].id || is_one(part))
            used[of] = part;
        else if (!is_one(used[of]))
            used[of] = most(used[of], part);
    }
}

// The same call at another order is the same place.
static bool is_same_call(const Node *a, const Node *b)
{
    return a->op == b->op && a->c == b->c && a->a == b->a && a->b == b->b;
}

static bool is_first_call(const Graph *g, const Reach *reach, uint32_t k)
{
    const Node *node = &g->nodes[reach->ids[k]];
    for (uint32_t i = 0; i < k; i++)
        if (is_same_call(&g->nodes[reach->ids[i]], node)) return false;
    return true;
}

// All calls in formulas, with those of one place together
static void list_leavings(Tree *tree, const Expr *formulas, size_t count, Take *take,
                          const void *owner)
{
    Graph *g = tree->graph;
    Reach reach = {0};
    bool any = false;
    for (uint32_t i = 0; i < g->table_count; i++) any = any || g->tables[i]->stops;
    if (!any || !tr_reach(g, formulas, count, &reach)) return;
    Expr *used = calloc((size_t)reach.end + 1, sizeof *used);
    if (!used) g->failed = true;
    for (size_t i = 0; used && i < count; i++) used[formulas[i].id] = one(g);
    for (uint32_t k = reach.count; used && k-- > 0;) pass_use(g, reach.ids[k], used);
    for (uint32_t k = 0; used && k < reach.count; k++) {
        const Expr call = expr_at(g, reach.ids[k]);
        if (!stops(g, node_of(call)) || !is_first_call(g, &reach, k)) continue;
        Expr of = used[call.id];
        for (uint32_t i = k + 1; i < reach.count; i++)
            if (is_same_call(&g->nodes[reach.ids[i]], node_of(call)))
                of = is_one(of) ? of : most(of, used[reach.ids[i]]);
        const Leaving leaving = leaving_of(tree, call, of);
        take(tree, &leaving, owner);
    }
    free(used);
    tr_reach_free(&reach);
}

// The contact whose place the table is asked for, where that is one on a surface; else NULL
static const char *contact_of(Tree *tree, const Leaving *l)
{
    const System *s = tree->system;
    Reach reach = {0};
    const char *found = NULL;
    if (!tr_reach(tree->graph, l->place, l->count, &reach)) return NULL;
    for (uint32_t k = 0; k < reach.count; k++) {
        const Input *input = tr_system_input(s, expr_at(tree->graph, reach.ids[k]));
        for (uint32_t i = 0; input && input->kind == TR_TOUCH && i < s->touching_count; i++)
            if ((uint32_t)(input - s->inputs) - s->touchings[i].input <= 1)
                found = s->touchings[i].name;
    }
    tr_reach_free(&reach);
    return found;
}

static void add_alarm(Tree *tree, const Leaving *l, const void *owner)
{
    (void)owner;
    System *s = tree->system;
    char what[250];
    const char *contact = contact_of(tree, l);
    snprintf(what, sizeof what, "'%.*s' is left%s%.90s%s", WHOLE(l->name), contact ? " by '" : "",
             contact ? contact : "", contact ? "'" : "");
    tr_tree_alarm(tree, (Value){.text = text_of(what)}, "the table %.*s", l->margin, ALARM_STOPS,
                  NO_LATCH);
    if (tree->graph->failed) return;
    Alarm *alarm = &s->alarms[s->alarm_count - 1];
    alarm->place_count = l->count, alarm->table = l->table;
    for (uint32_t k = 0; k < l->count; k++) alarm->place[k] = l->place[k];
}

// A table of a lower degree that the expression asks, or NO_TABLE
static uint32_t find_rough(Tree *tree, Expr x, uint32_t degree)
{
    const Graph *g = tree->graph;
    Reach reach = {0};
    uint32_t found = NO_TABLE;
    if (!tr_reach(tree->graph, &x, 1, &reach)) return found;
    for (uint32_t k = 0; k < reach.count && found == NO_TABLE; k++) {
        const Node *node = &g->nodes[reach.ids[k]];
        const bool is_table = node->op == OP_TABLE1 || node->op == OP_TABLE2;
        if (is_table && g->tables[node->c]->degree < degree) found = node->c;
    }
    tr_reach_free(&reach);
    return found;
}

void tr_tree_check_smooth(Tree *tree, Value formula, Expr x)
{
    const uint32_t rough = find_rough(tree, x, TABLE_MAX_DEGREE);
    if (rough != NO_TABLE && !has_failed(tree->err))
        refuse(tree, formula, "a height takes tables of degree 3 only, and '%.*s' has degree %u",
               TEXT(table_name(tree, rough)), tree->graph->tables[rough]->degree);
}

#define INFINITE "has degree 0: where it jumps the velocity would be infinite"

static void refuse_jumps(Tree *tree, Value formula, Expr x, const char *what)
{
    const uint32_t rough = find_rough(tree, x, 1);
    if (rough != NO_TABLE && !has_failed(tree->err))
        refuse(tree, formula, "%s takes tables of degree 1 or 3, and '%.*s' " INFINITE, what,
               TEXT(table_name(tree, rough)));
}

void tr_tree_check_motion(Tree *tree, Value formula, Expr x)
{
    refuse_jumps(tree, formula, x, "a motion");
}

void tr_tree_check_constraint(Tree *tree, Place place, Expr x)
{
    refuse_jumps(tree, (Value){.place = place}, x, "a constraint");
}

void tr_tree_check_felt(Tree *tree, Value formula, Expr x, const char *by)
{
    const uint32_t rough = find_rough(tree, x, 1);
    if (rough != NO_TABLE && !has_failed(tree->err))
        refuse(tree, formula, "'%s' depends on how fast this moves, and '%.*s' " INFINITE, by,
               TEXT(table_name(tree, rough)));
}

void tr_tree_leave_tables(Tree *tree)
{
    const System *s = tree->system;
    Exprs all = {0};
    for (uint32_t i = 0; i < s->formula_count; i++) exprs_add(&all, s->formulas[i].value);
    if (all.failed) tree->graph->failed = true;
    if (all.count && !all.failed) list_leavings(tree, all.at, all.count, add_alarm, NULL);
    tr_exprs_free(&all);
}

static void check_inside(Tree *tree, const Leaving *l, const void *owner)
{
    const Value *formula = owner;
    if (has_failed(tree->err)) return;
    if (!tr_tree_is(tree, RULE_NOT_NEGATIVE, l->margin, formula->place,
                    "the table '%.*s' is not left", WHOLE(l->name)))
        refuse(tree, *formula, "the table '%.*s' is left here, at %.9g", TEXT(l->name),
               tr_tree_value(tree, l->place[0]));
}

void tr_tree_check_tables(Tree *tree, Value formula, Expr x)
{
    if (!has_failed(tree->err) && x.id && !is_number(x) && tr_tree_is_constant(x))
        list_leavings(tree, &x, 1, check_inside, &formula);
}
