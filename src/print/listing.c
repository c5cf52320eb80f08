// SPDX-License-Identifier: Apache-2.0
#include "print/listing.h"

#include "expr/walk.h"
#include "print/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEW_CLOSED = 80,   // operations of all entries that stay closed nevertheless
    MOST_CLOSED = 40,  // operations of an entry in closed form, where quantities could be shared
    MOST_TRIED = 1500, // operations of one for which a short closed form is sought
};

// Work, as rings count it: for one entry, for all of them, for one quantity
#define ENTRY_BUDGET    1000000
#define LISTING_BUDGET  30000000
#define QUANTITY_BUDGET 100000
#define CLOSED_LISTING  8 // times as much where nothing is shared

// ---- words ---------------------------------------------------------------------------------

void tr_listing_fill(Buffer *text, const char *row, const char *first, const char *second)
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

void tr_listing_tell(Listing *l, const char *row, const char *words)
{
    Buffer prose = {0};
    l->language->notation->prose(words, &prose);
    tr_listing_fill(&l->text, row, prose.at ? prose.at : "", "");
    free(prose.at);
}

// ---- entries -------------------------------------------------------------------------------

static uint32_t count_operations(Graph *graph, const Expr *x, uint32_t of)
{
    Reach reach;
    uint32_t count = 0;
    if (tr_reach(graph, x, of, &reach))
        for (uint32_t k = 0; k < reach.count; k++) {
            const Op op = (Op)graph->nodes[reach.ids[k]].op;
            count += tr_op[op].operands > 0 && op != OP_NEG;
        }
    tr_reach_free(&reach);
    return count;
}

static void add_cell(Listing *l, System *s, Block *block, Cell cell)
{
    if (!tr_grow((void **)&l->cells, &l->cell_capacity, l->cell_count + 1, sizeof *l->cells)) {
        tr_fail_memory(l->err);
        return;
    }
    const bool are_enough = l->most_entries && l->cell_count >= l->most_entries;
    cell.operations = count_operations(s->graph, &cell.x, 1);
    cell.is_left_out = are_enough || (l->most && cell.operations > l->most);
    l->cells[l->cell_count++] = cell;
    block->count++;
}

// Entries that are not zero; of a symmetric matrix those on its diagonal and above
void tr_listing_add(Listing *l, System *s, const Equation *e, Matrix m)
{
    if (!tr_grow((void **)&l->blocks, &l->block_capacity, l->block_count + 1, sizeof *l->blocks)) {
        tr_fail_memory(l->err);
        return;
    }
    Block *block = &l->blocks[l->block_count++];
    *block = (Block){e, s, m.rows, m.columns, l->cell_count, 0};
    for (uint32_t i = 0; i < m.rows && !has_failed(l->err); i++)
        for (uint32_t k = e->is_symmetric ? i : 0; k < m.columns; k++)
            if (!is_zero(get(m, i, k)))
                add_cell(l, s, block, (Cell){.x = get(m, i, k), .row = i, .column = k});
}

// ---- closed forms --------------------------------------------------------------------------

static uint64_t budget_of(const Listing *l, double budget)
{
    const double work = budget * l->effort;
    return work < 1 ? 1 : work > 1e18 ? (uint64_t)1e18 : (uint64_t)work;
}

static Rules rules_of(const Listing *l, double budget)
{
    return (Rules){(const Expr(*)[4])l->known.units, l->known.unit_count, budget_of(l, budget)};
}

// Names in place of what they mean
static void find_known(Listing *l, System *s)
{
    Expr *of = calloc(l->cell_count + 1u, sizeof *of);
    if (!of) tr_fail_memory(l->err);
    for (uint32_t i = 0; of && i < l->cell_count; i++) of[i] = l->cells[i].x;
    if (of && tr_known_find(&l->known, s, of, l->cell_count, budget_of(l, QUANTITY_BUDGET), l->err))
        for (uint32_t i = 0; i < l->cell_count; i++)
            l->cells[i].x = tr_substitute_kept(s->graph, of[i], &l->known.kept);
    free(of);
}

// What it took
static double close_cell(Listing *l, Cell *cell, double budget)
{
    const Rules rules = rules_of(l, budget);
    Closed *closed = tr_closed_new(cell->x.graph, cell->x, &rules, l->err);
    const Term *form = closed ? tr_closed_form(closed, cell->x) : NULL;
    const double work = closed ? (double)tr_closed_work(closed) / l->effort : 0;
    if (form) cell->closed = tr_term_copy(&l->arena, form);
    if (form && (l->is_closed || form->cost <= MOST_CLOSED)) cell->form = cell->closed;
    tr_closed_free(closed);
    return work;
}

// From those that are short to long ones, so that these leave enough for the others
static void close_cells(Listing *l)
{
    double left = LISTING_BUDGET;
    if (l->is_closed) left *= CLOSED_LISTING;
    const double each = l->is_closed ? CLOSED_BUDGET : ENTRY_BUDGET;
    for (uint32_t least = 0, most = 20; least < UINT32_MAX;
         least = most, most = most < 20480 ? 2 * most : UINT32_MAX) {
        if (!l->is_closed && least > MOST_TRIED) break;
        for (uint32_t b = 0; b < l->block_count; b++)
            for (uint32_t i = 0; i < l->blocks[b].count && !has_failed(l->err); i++) {
                Cell *cell = &l->cells[l->blocks[b].first + i];
                if (cell->is_left_out || cell->operations < least || cell->operations >= most)
                    continue;
                if (l->is_staged && cell->operations > 1) continue;
                if (left > 0) left -= close_cell(l, cell, left < each ? left : each);
            }
    }
}

// ---- shared quantities ---------------------------------------------------------------------

static void stage_cells(Listing *l, System *s)
{
    Expr *of = calloc(l->cell_count + 1u, sizeof *of);
    uint32_t *cells = calloc(l->cell_count + 1u, sizeof *cells), count = 0;
    if (!of || !cells) tr_fail_memory(l->err);
    for (uint32_t i = 0; of && cells && i < l->cell_count; i++) {
        Cell *cell = &l->cells[i];
        if (cell->form || cell->is_left_out) continue;
        cell->is_staged = true;
        of[count] = cell->x, cells[count++] = i;
    }
    const Rules rules = rules_of(l, QUANTITY_BUDGET);
    l->staged = count ? tr_staged_new(s, of, count, &l->known, &rules, l->err) : NULL;
    for (uint32_t i = 0; l->staged && i < count; i++) l->cells[cells[i]].form = l->staged->forms[i];
    free(of);
    free(cells);
}

// Few that are not very long stay closed: nothing would be gained.
static void unstage_cells(Listing *l)
{
    uint32_t closed = 0, staged = 0;
    for (uint32_t i = 0; i < l->staged->count; i++) staged += l->staged->steps[i].form->cost;
    for (uint32_t i = 0; i < l->cell_count; i++) {
        const Cell *cell = &l->cells[i];
        if (!cell->is_staged) continue;
        if (!cell->closed || !cell->form) return;
        closed += cell->closed->cost, staged += cell->form->cost;
    }
    if (closed > FEW_CLOSED && 2 * closed > 3 * staged) return;
    for (uint32_t i = 0; i < l->cell_count; i++) {
        Cell *cell = &l->cells[i];
        if (cell->is_staged) cell->form = cell->closed, cell->is_staged = false;
    }
    tr_staged_free(l->staged);
    l->staged = NULL;
}

void tr_listing_solve(Listing *l)
{
    System *s = l->reduced ? l->reduced : l->derived;
    l->stages = s;
    find_known(l, s);
    if (!has_failed(l->err)) close_cells(l);
    if (!l->is_closed && !has_failed(l->err)) stage_cells(l, s);
    if (l->staged && !l->is_staged) unstage_cells(l);
}

static uint32_t cost_of(const Term *form) { return form ? form->cost : 0; }

static void tell_operations(Listing *l)
{
    uint32_t quantities = 0, entries = 0, count = 0;
    char words[300];
    Expr *of = calloc(l->cell_count + 1u, sizeof *of);
    for (uint32_t i = 0; i < l->staged->count; i++) quantities += cost_of(l->staged->steps[i].form);
    for (uint32_t i = 0; of && i < l->cell_count; i++) {
        if (!l->cells[i].is_staged) continue;
        entries += cost_of(l->cells[i].form);
        of[count++] = l->cells[i].x;
    }
    snprintf(words, sizeof words,
             "  %u operations: %u of these quantities and %u of %u %s; %u as they were derived",
             quantities + entries, quantities, entries, count, count == 1 ? "entry" : "entries",
             count_operations(l->stages->graph, of, count));
    tr_listing_tell(l, l->language->words, words);
    free(of);
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

static void write_equation(Listing *l, const System *s, const Term *form, const char *left)
{
    const Language *language = l->language;
    const bool in_lines = language->in_lines && is_wide(s, form);
    Buffer right = {0};
    tr_term_write(form, in_lines ? language->notation->in_lines : language->notation, s, &right);
    if (right.at)
        tr_listing_fill(&l->text, in_lines ? language->in_lines : language->equation, left,
                        right.at);
    free(right.at);
}

static void write_block(Listing *l, const Step *steps, uint32_t count)
{
    Buffer words = {0};
    uint32_t cost = 0;
    for (uint32_t i = 0; i < count; i++) cost += cost_of(steps[i].form);
    tr_buffer_print(&words, "%s (%u %s)", steps->block, cost,
                    cost == 1 ? "operation" : "operations");
    if (words.at) tr_listing_tell(l, l->language->block, words.at);
    free(words.at);
    for (uint32_t i = 0; i < count; i++) {
        Buffer left = {0};
        const Input *input = tr_system_input(l->stages, steps[i].symbol);
        l->language->notation->symbol(l->stages, (uint32_t)(input - l->stages->inputs), &left);
        if (left.at) write_equation(l, l->stages, steps[i].form, left.at);
        free(left.at);
    }
}

static void write_steps(Listing *l, const Step *steps, uint32_t count)
{
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count; end++)
            if (strcmp(steps[end].block, steps[first].block) != 0) break;
        write_block(l, steps + first, end - first);
    }
}

// By expression, how often entries and the quantities that they share have each symbol
static uint32_t *symbol_uses(Listing *l)
{
    uint32_t *uses = calloc(l->stages->graph->count + 1u, sizeof *uses);
    if (!uses) tr_fail_memory(l->err);
    for (uint32_t i = 0; uses && i < l->cell_count; i++)
        if (l->cells[i].form) tr_term_count_symbols(l->cells[i].form, uses);
    for (uint32_t i = 0; uses && l->staged && i < l->staged->count; i++)
        tr_term_count_symbols(l->staged->steps[i].form, uses);
    return uses;
}

// Whether it looks like a matrix that is shown, or like an entry of one: "M", "c_2"
static bool is_letter(const Listing *l, uint32_t input)
{
    const NameParts n = tr_name_parts(l->stages, input);
    if (n.owner.length || n.dots) return false;
    for (size_t i = 0; i < n.below.length; i++)
        if (!is_digit(n.below.at[i])) return false;
    for (uint32_t b = 0; b < l->block_count; b++)
        if (l->blocks[b].count && text_is(n.base, l->blocks[b].equation->letter)) return true;
    return false;
}

// A model may call things as equations do: a mass M, a damper c.
void tr_listing_letters(Listing *l)
{
    Buffer words = {0};
    uint32_t *uses = symbol_uses(l);
    const System *s = l->stages;
    for (uint32_t i = 0; uses && i < s->input_count; i++) {
        if (!uses[s->inputs[i].symbol.id] || !is_letter(l, i)) continue;
        tr_buffer_print(&words,
                        words.length ? ", " : "On the right of = these are the model's own: ");
        tr_buffer_print(&words, "%s", s->inputs[i].name);
    }
    if (words.at) tr_listing_tell(l, l->language->words, words.at);
    free(words.at);
    free(uses);
}

// Names that nobody needs, after all, are none.
static void drop_known(Listing *l)
{
    uint32_t *uses = symbol_uses(l);
    Known *k = &l->known;
    uint32_t kept = k->count;
    for (uint32_t i = k->count; uses && i-- > 0;) {
        if (!uses[k->steps[i].symbol.id]) continue;
        tr_term_count_symbols(k->steps[i].form, uses);
        k->steps[--kept] = k->steps[i];
    }
    if (uses && k->count) memmove(k->steps, k->steps + kept, (k->count - kept) * sizeof *k->steps);
    if (uses) k->count -= kept;
    free(uses);
}

void tr_listing_quantities(Listing *l)
{
    drop_known(l);
    const uint32_t shared = l->staged ? l->staged->count : 0;
    if (l->known.count) tr_listing_tell(l, l->language->heading, "Names for what is long");
    write_steps(l, l->known.steps, l->known.count);
    if (shared)
        tr_listing_tell(l, l->language->heading,
                        "Quantities that entries share, each by those before it");
    if (shared) tell_operations(l);
    if (shared) write_steps(l, l->staged->steps, shared);
}

// ---- entries in words ----------------------------------------------------------------------

static void place_of_cell(const Block *b, const Cell *cell, char place[32])
{
    if (b->rows * b->columns == 1)
        place[0] = 0;
    else if (b->columns == 1)
        snprintf(place, 32, "%u", cell->row + 1);
    else
        snprintf(place, 32, "%u,%u", cell->row + 1, cell->column + 1);
}

static void write_cell(Listing *l, const Block *b, const Cell *cell, bool *any)
{
    char place[32];
    Buffer left = {0};
    const bool is_nothing = cell->form && tr_term_is_number(cell->form, 0);
    const char *letter = b->equation->letter;
    *any = *any || !is_nothing;
    place_of_cell(b, cell, place);
    if (!cell->form) {
        Buffer words = {0};
        tr_buffer_print(&words, "  %s%s%s%s is not simplified: %u operations", letter,
                        place[0] ? "[" : "", place, place[0] ? "]" : "", cell->operations);
        if (words.at) tr_listing_tell(l, l->language->words, words.at);
        free(words.at);
        return;
    }
    l->language->notation->entry(letter, place, &left);
    if (!is_nothing && left.at) write_equation(l, b->system, cell->form, left.at);
    free(left.at);
}

// Which entries are staged because they are long, and which because nothing was found
static void tell_staged(Listing *l, const Block *b, bool is_found)
{
    Buffer words = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        const Cell *cell = &l->cells[b->first + i];
        char place[32];
        if (!cell->is_staged || !cell->form || (cell->closed != NULL) != is_found) continue;
        place_of_cell(b, cell, place);
        tr_buffer_print(&words, "%s%s", count++ ? "; " : "",
                        place[0] ? place : b->equation->letter);
    }
    Buffer all = {0};
    tr_buffer_print(&all, "  %s: %s",
                    is_found ? "By shared quantities, for closed forms are longer"
                             : "By shared quantities, not simplified as a whole",
                    words.at ? words.at : "");
    if (count && all.at && !l->is_staged) tr_listing_tell(l, l->language->words, all.at);
    free(words.at);
    free(all.at);
}

static void tell_left_out(Listing *l, const Block *b)
{
    uint32_t count = 0, least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        const Cell *cell = &l->cells[b->first + i];
        if (!cell->is_left_out) continue;
        count++;
        if (cell->operations < least) least = cell->operations;
        if (cell->operations > most) most = cell->operations;
    }
    char words[120], range[32] = "";
    if (most > least) snprintf(range, sizeof range, " to %u", most);
    snprintf(words, sizeof words, "  left out: %u %s with %u%s operations", count,
             count > 1 ? "entries" : "entry", least, range);
    if (count) tr_listing_tell(l, l->language->words, words);
}

void tr_listing_cells(Listing *l, const Block *b)
{
    bool any = false;
    for (uint32_t i = 0; i < b->count; i++)
        if (l->cells[b->first + i].is_left_out)
            any = true;
        else
            write_cell(l, b, &l->cells[b->first + i], &any);
    if (!any) tr_listing_tell(l, l->language->words, "  is zero");
    tell_staged(l, b, true);
    tell_staged(l, b, false);
    tell_left_out(l, b);
}

void tr_listing_close(Listing *l)
{
    tr_staged_free(l->staged);
    tr_known_close(&l->known);
    tr_system_free(l->reduced);
    tr_system_free(l->derived);
    tr_arena_free(&l->arena);
    free(l->blocks);
    free(l->cells);
}
