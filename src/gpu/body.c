// SPDX-License-Identifier: Apache-2.0
#include "gpu/body.h"

#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// ---- lines ---------------------------------------------------------------------------------

static uint32_t read_number(const char **at)
{
    uint32_t n = 0;
    while (is_digit(**at)) n = 10 * n + (uint32_t)(*(*at)++ - '0');
    return n;
}

// Operands: a number that stands first is made there, but by what stores.
static void read_operands(Line *line, const char *at, const char *end)
{
    const bool stores = begins_with(at, "\tst.");
    bool is_first = true;
    while (at < end && *at == '\t') at++;
    while (at < end && *at != ' ') at++;
    for (; at < end; at++) {
        if (*at == ',') is_first = false;
        if (at[0] != '%' || at[1] != 'd' || !is_digit(at[2])) continue;
        at += 2;
        const uint32_t number = read_number(&at);
        if (is_first && !stores)
            line->made = number;
        else {
            assert(line->uses < LINE_NUMBERS);
            line->used[line->uses++] = number;
        }
        at--;
        is_first = false;
    }
}

static void read_line(Line *line, const char *at, const char *end)
{
    const char *label = strstr(at, "$L");
    if (label && label < end) {
        line->form = at == label ? LINE_LABEL : LINE_BRANCH;
        line->is_conditional = at[1] == '@';
        label += 2;
        line->label = read_number(&label);
    } else if (begins_with(at, "\tret;"))
        line->form = LINE_END;
    else
        read_operands(line, at, end);
}

static void note_branch(Body *b, uint32_t label)
{
    if (!b->last_to[label]) b->first_to[label] = b->line_count;
    b->last_to[label] = b->line_count;
}

static bool read_lines(Body *b, const Ptx *ptx)
{
    uint32_t count = 0;
    for (size_t i = 0; i < ptx->text.length; i++) count += ptx->text.at[i] == '\n';
    b->lines = calloc(count + 1u, sizeof *b->lines);
    b->span_of = calloc(count + 1u, sizeof *b->span_of);
    b->label_line = calloc(3 * (size_t)ptx->labels + 3, sizeof *b->label_line);
    b->first_to = b->label_line + ptx->labels + 1, b->last_to = b->first_to + ptx->labels + 1;
    b->registers = ptx->registers[KIND_REAL] + 1;
    b->stamp = calloc(b->registers, sizeof *b->stamp);
    if (!b->lines || !b->span_of || !b->label_line || !b->stamp) return false;
    b->text = ptx->text.at;
    for (size_t at = 0; at < ptx->text.length;) {
        const char *end = strchr(b->text + at, '\n') + 1;
        Line *line = &b->lines[b->line_count];
        *line = (Line){.from = (uint32_t)at, .to = (uint32_t)(end - b->text)};
        read_line(line, b->text + at, end);
        if (line->form == LINE_LABEL) b->label_line[line->label] = b->line_count;
        if (line->form == LINE_BRANCH) note_branch(b, line->label);
        b->line_count++;
        at = line->to;
    }
    return true;
}

// ---- items ---------------------------------------------------------------------------------

static void add_operand(Body *b, uint32_t number)
{
    if (!tr_grow((void **)&b->operands, &b->operand_capacity, b->operand_count + 1,
                 sizeof *b->operands)) {
        b->failed = true;
        return;
    }
    b->operands[b->operand_count++] = number;
}

static Item *add_item(Body *b, uint32_t line, uint32_t end)
{
    if (!tr_grow((void **)&b->items, &b->item_capacity, b->item_count + 1, sizeof *b->items)) {
        b->failed = true;
        return NULL;
    }
    Item *item = &b->items[b->item_count++];
    *item = (Item){.line = line, .end = end};
    return item;
}

// Numbers once each, of those that a new stamp has not seen
static void add_once(Body *b, uint32_t number)
{
    if (b->stamp[number] == b->stamps) return;
    b->stamp[number] = b->stamps;
    add_operand(b, number);
}

static void plain_item(Body *b, uint32_t at)
{
    Item *item = add_item(b, at, at + 1);
    if (!item) return;
    const Line *line = &b->lines[at];
    b->stamps++;
    item->use = b->operand_count;
    for (uint32_t i = 0; i < line->uses; i++) add_once(b, line->used[i]);
    item->uses = b->operand_count - item->use;
    item->def = b->operand_count;
    if (line->made) add_operand(b, line->made);
    item->defs = b->operand_count - item->def;
}

enum { MOST_LINES = 400, MOST_INSIDE = 48 };

// Where a fork joins again: 0 where it is long, or has a loop or another way in or out
static uint32_t joins_at(const Body *b, uint32_t fork)
{
    uint32_t end = b->label_line[b->lines[fork].label];
    if (!b->lines[fork].is_conditional || end <= fork) return 0;
    for (uint32_t i = fork + 1; i < end; i++) {
        const Line *line = &b->lines[i];
        if (line->form == LINE_END || i - fork > MOST_LINES) return 0;
        if (line->form != LINE_BRANCH) continue;
        const uint32_t to = b->label_line[line->label];
        if (to <= i) return 0;
        end = to > end ? to : end;
    }
    for (uint32_t i = fork + 1; i <= end; i++) {
        const uint32_t label = b->lines[i].label;
        if (b->lines[i].form == LINE_LABEL && b->last_to[label] &&
            (b->first_to[label] < fork || b->last_to[label] > end))
            return 0;
    }
    return end;
}

// Of numbers that a fork sets: on all ways from its beginning to a place
typedef struct Ways {
    uint32_t number[MOST_INSIDE], count;
    uint64_t here;                  // set for certain, a bit each
    uint64_t at_label[MOST_INSIDE]; // the same where a way goes to
    uint32_t label[MOST_INSIDE], ways;
    uint64_t is_used; // before it is set for certain
    bool is_reached, is_long;
} Ways;

static uint32_t way_to(Ways *w, uint32_t label)
{
    uint32_t i = 0;
    while (i < w->ways && w->label[i] != label) i++;
    if (i < w->ways) return i;
    if (i == MOST_INSIDE) {
        w->is_long = true;
        return 0;
    }
    w->label[i] = label, w->at_label[i] = ~UINT64_C(0);
    w->ways++;
    return i;
}

static uint32_t number_in(Ways *w, uint32_t number)
{
    uint32_t i = 0;
    while (i < w->count && w->number[i] != number) i++;
    if (i < w->count) return i;
    if (i == MOST_INSIDE) {
        w->is_long = true;
        return 0;
    }
    w->number[w->count++] = number;
    return i;
}

static void go_through(Ways *w, const Line *line)
{
    if (line->form == LINE_BRANCH) {
        const uint32_t way = way_to(w, line->label);
        if (w->is_reached) w->at_label[way] &= w->here;
        w->is_reached = w->is_reached && line->is_conditional;
    } else if (line->form == LINE_LABEL) {
        const uint64_t there = w->at_label[way_to(w, line->label)];
        w->here = w->is_reached ? w->here & there : there;
        w->is_reached = true;
    } else {
        for (uint32_t i = 0; i < line->uses; i++) {
            const uint64_t bit = UINT64_C(1) << number_in(w, line->used[i]);
            if (!(w->here & bit)) w->is_used |= bit;
        }
        if (line->made) w->here |= UINT64_C(1) << number_in(w, line->made);
    }
}

// What a fork makes on some ways alone was there before, or is for nobody: it counts as used.
static bool fork_item(Body *b, uint32_t fork, uint32_t end, const uint32_t *outside)
{
    Ways w = {.is_reached = true};
    uint64_t made = 0;
    for (uint32_t i = fork; i <= end && !w.is_long; i++) {
        go_through(&w, &b->lines[i]);
        if (b->lines[i].made) made |= UINT64_C(1) << number_in(&w, b->lines[i].made);
    }
    if (w.is_long) return false;
    Item *item = add_item(b, fork, end + 1);
    if (!item) return false;
    item->use = b->operand_count;
    for (uint32_t i = 0; i < w.count; i++) {
        const uint64_t bit = UINT64_C(1) << i;
        const bool is_kept = (made & bit) && !(w.here & bit) && outside[w.number[i]];
        if ((w.is_used & bit) || is_kept) add_operand(b, w.number[i]);
    }
    item->uses = b->operand_count - item->use;
    item->def = b->operand_count;
    for (uint32_t i = 0; i < w.count; i++)
        if ((made & (UINT64_C(1) << i)) && outside[w.number[i]]) add_operand(b, w.number[i]);
    item->defs = b->operand_count - item->def;
    item->inside = w.count > item->uses ? w.count - item->uses : 0;
    return true;
}

// ---- spans ---------------------------------------------------------------------------------

// How often each number stands outside of these lines
static void count_there(const Body *b, uint32_t from, uint32_t to, uint32_t *count, int sign)
{
    for (uint32_t i = from; i < to; i++) {
        const Line *line = &b->lines[i];
        if (line->made) count[line->made] += (uint32_t)sign;
        for (uint32_t k = 0; k < line->uses; k++) count[line->used[k]] += (uint32_t)sign;
    }
}

static bool begin_span(Body *b)
{
    if (!tr_grow((void **)&b->spans, &b->span_capacity, b->span_count + 1, sizeof *b->spans)) {
        b->failed = true;
        return false;
    }
    b->spans[b->span_count++] = (Span){b->item_count, b->item_count, {NO_SPAN, NO_SPAN}, 0};
    return true;
}

// A span ends where the way forks or joins.
static void divide(Body *b, uint32_t *outside)
{
    bool is_open = false;
    for (uint32_t i = 0; i < b->line_count && !b->failed;) {
        const Line *line = &b->lines[i];
        const uint32_t join = line->form == LINE_BRANCH ? joins_at(b, i) : 0;
        uint32_t end = i + 1;
        if (!is_open && !begin_span(b)) return;
        bool is_item = line->form == LINE_PLAIN;
        if (is_item) plain_item(b, i);
        if (join) {
            count_there(b, i, join, outside, -1);
            is_item = fork_item(b, i, join, outside);
            count_there(b, i, join, outside, 1);
            if (is_item) end = join + 1;
        }
        for (uint32_t k = i; k < end; k++) b->span_of[k] = (int)b->span_count - 1;
        if (line->form == LINE_LABEL && b->spans[b->span_count - 1].item < b->item_count) {
            b->spans[b->span_count - 1].end = b->item_count;
            if (!begin_span(b)) return;
            b->span_of[i] = (int)b->span_count - 1;
        }
        i = end;
        b->spans[b->span_count - 1].end = b->item_count;
        is_open = is_item || line->form == LINE_LABEL;
    }
}

// Where a span goes: by its own branch, and on to the next one
static void connect(Body *b)
{
    for (uint32_t i = 0; i < b->line_count; i++) {
        const Line *line = &b->lines[i];
        Span *span = &b->spans[b->span_of[i]];
        const bool is_inside = span->item < span->end && i < b->items[span->end - 1].end;
        if (line->form != LINE_BRANCH || is_inside) continue;
        const uint32_t to = b->label_line[line->label];
        span->next[1] = b->span_of[to];
        for (int s = b->span_of[to]; to < i && s <= b->span_of[i]; s++) b->spans[s].depth++;
    }
    for (uint32_t s = 0; s + 1 < b->span_count; s++) b->spans[s].next[0] = (int)s + 1;
    for (uint32_t i = 0; i < b->line_count; i++) {
        const Line *line = &b->lines[i];
        Span *span = &b->spans[b->span_of[i]];
        const bool is_inside = span->item < span->end && i < b->items[span->end - 1].end;
        if (line->form == LINE_END || (line->form == LINE_BRANCH && !line->is_conditional))
            if (!is_inside) span->next[0] = NO_SPAN;
    }
}

bool tr_body_read(Body *b, const Ptx *ptx)
{
    if (ptx->text.failed || !ptx->text.length || !read_lines(b, ptx)) return false;
    uint32_t *outside = calloc(b->registers, sizeof *outside);
    if (outside) {
        count_there(b, 0, b->line_count, outside, 1);
        divide(b, outside);
        if (!b->failed) connect(b);
    }
    b->failed = b->failed || !outside;
    free(outside);
    return !b->failed;
}

void tr_body_free(Body *b)
{
    free(b->lines);
    free(b->span_of);
    free(b->label_line);
    free(b->items);
    free(b->spans);
    free(b->operands);
    free(b->stamp);
    *b = (Body){0};
}
