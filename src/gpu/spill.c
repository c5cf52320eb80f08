// SPDX-License-Identifier: Apache-2.0
// Within a span, what is wanted latest leaves first (Belady). A number that leaves anywhere has a
// home in memory: each place that makes it writes it there, and a span that wants it brings it.
// What has no home stays in its register, through all spans that it lives in.
#include "gpu/spill.h"

#include "base/arena.h"
#include "gpu/body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AHEAD = 10 }; // items that a number is brought before it is wanted
#define NO_HOME UINT32_MAX
#define LATER   UINT32_MAX       // not in this span, but after it
#define NEVER   (UINT32_MAX - 1) // nobody wants it any more

typedef struct Bring {
    uint32_t item, number, next; // of the same item, + 1
} Bring;

// A place of memory: who has it, as sets of spans, and as the last item within the span at hand
typedef struct Home {
    uint64_t *spans;
    uint32_t busy; // until that item, + 1
    uint64_t weight;
    uint32_t index; // among all places, the heaviest first
} Home;

typedef struct Plan {
    const SpillPlan *is;
    Body body;
    uint32_t *global; // by register: + 1 in the sets of what lives from span to span
    uint32_t *number; // by global: its register
    uint32_t globals, words;
    uint64_t *in, *out, *stands; // sets by span
    uint32_t *next;              // by operand: item that wants it next
    uint32_t *coming;            // by register, within a span
    bool *has_home, *is_here;    // by register
    bool has_changed;
    uint32_t *here, here_count; // registers with numbers
    uint32_t *since, *load;     // by register, by item: when it came or was made; numbers there
    uint32_t *first_bring;      // by item, + 1
    Bring *brings;
    uint32_t bring_count, bring_capacity;
    uint32_t *home; // by register
    Home *homes;
    uint32_t home_count, home_capacity;
    bool failed;
} Plan;

static bool is_in(const uint64_t *set, uint32_t i) { return set[i / 64] >> (i % 64) & 1; }
static void put_in(uint64_t *set, uint32_t i) { set[i / 64] |= UINT64_C(1) << (i % 64); }

// ---- what lives from span to span ----------------------------------------------------------

// Registers that stand in more than one span, or before they are made
static void find_globals(Plan *p)
{
    const Body *b = &p->body;
    uint32_t *seen = p->coming; // span + 1 that made or used it first
    memset(seen, 0, b->registers * sizeof *seen);
    for (uint32_t s = 0; s < b->span_count; s++)
        for (uint32_t i = b->spans[s].item; i < b->spans[s].end; i++) {
            const Item *item = &b->items[i];
            for (uint32_t k = 0; k < item->uses + item->defs; k++) {
                const uint32_t r =
                    b->operands[k < item->uses ? item->use + k : item->def + k - item->uses];
                const bool is_first = !seen[r] && k >= item->uses;
                if (!is_first && seen[r] != s + 1 && !p->global[r]) {
                    p->number[p->globals++] = r;
                    p->global[r] = p->globals;
                }
                seen[r] = s + 1;
            }
        }
    p->words = p->globals / 64 + 1;
}

static void find_standing(Plan *p, uint32_t s)
{
    const Body *b = &p->body;
    for (uint32_t i = b->spans[s].item; i < b->spans[s].end; i++)
        for (uint32_t k = 0; k < b->items[i].uses + b->items[i].defs; k++) {
            const uint32_t g = p->global[b->operands[b->items[i].use + k]];
            if (g) put_in(p->stands + (size_t)s * p->words, g - 1);
        }
}

static void live_before(Plan *p, uint32_t s)
{
    const Body *b = &p->body;
    uint64_t *in = p->in + (size_t)s * p->words;
    memcpy(in, p->out + (size_t)s * p->words, p->words * sizeof *in);
    for (uint32_t i = b->spans[s].end; i-- > b->spans[s].item;) {
        const Item *item = &b->items[i];
        for (uint32_t k = 0; k < item->defs; k++) {
            const uint32_t g = p->global[b->operands[item->def + k]];
            if (g) in[(g - 1) / 64] &= ~(UINT64_C(1) << ((g - 1) % 64));
        }
        for (uint32_t k = 0; k < item->uses; k++) {
            const uint32_t g = p->global[b->operands[item->use + k]];
            if (g) put_in(in, g - 1);
        }
    }
}

static bool flow_back(Plan *p, uint32_t s)
{
    uint64_t *out = p->out + (size_t)s * p->words, change = 0;
    for (int n = 0; n < 2; n++) {
        if (p->body.spans[s].next[n] == NO_SPAN) continue;
        const uint64_t *wanted = p->in + (size_t)p->body.spans[s].next[n] * p->words;
        for (uint32_t w = 0; w < p->words; w++) change |= wanted[w] & ~out[w], out[w] |= wanted[w];
    }
    return change != 0;
}

static void find_lives(Plan *p)
{
    for (uint32_t s = 0; s < p->body.span_count; s++) find_standing(p, s), live_before(p, s);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t s = p->body.span_count; s-- > 0;) {
            if (!flow_back(p, s)) continue;
            live_before(p, s);
            more = true;
        }
    }
}

static bool lives_after(const Plan *p, uint32_t s, uint32_t r)
{
    return p->global[r] && is_in(p->out + (size_t)s * p->words, p->global[r] - 1);
}

// When each operand is wanted next
static void find_next(Plan *p, uint32_t s)
{
    const Body *b = &p->body;
    const Span *span = &b->spans[s];
    for (uint32_t i = span->item; i < span->end; i++)
        for (uint32_t k = 0; k < b->items[i].uses + b->items[i].defs; k++) {
            const uint32_t r = b->operands[b->items[i].use + k];
            p->coming[r] = lives_after(p, s, r) ? LATER : NEVER;
        }
    for (uint32_t g = 0; g < p->globals; g++)
        p->coming[p->number[g]] = lives_after(p, s, p->number[g]) ? LATER : NEVER;
    for (uint32_t i = span->end; i-- > span->item;) {
        const Item *item = &b->items[i];
        for (uint32_t k = 0; k < item->defs; k++) {
            p->next[item->def + k] = p->coming[b->operands[item->def + k]];
            p->coming[b->operands[item->def + k]] = NEVER;
        }
        for (uint32_t k = 0; k < item->uses; k++)
            p->next[item->use + k] = p->coming[b->operands[item->use + k]];
        for (uint32_t k = 0; k < item->uses; k++) p->coming[b->operands[item->use + k]] = i;
    }
}

// ---- one span ------------------------------------------------------------------------------

static void leave(Plan *p, uint32_t index)
{
    p->is_here[p->here[index]] = false;
    p->here[index] = p->here[--p->here_count];
}

static void give_home(Plan *p, uint32_t r)
{
    p->has_changed = p->has_changed || !p->has_home[r];
    p->has_home[r] = true;
}

// Until there are places for so many more: those leave that are wanted latest, but none of this
// item.
static void make_room(Plan *p, uint32_t wanted, uint32_t stamp)
{
    while (p->here_count + wanted > p->is->registers) {
        uint32_t latest = p->here_count, when = 0;
        for (uint32_t i = 0; i < p->here_count; i++) {
            const uint32_t r = p->here[i];
            if (p->body.stamp[r] == stamp) continue;
            const bool is_cheaper = latest < p->here_count && p->coming[r] == when &&
                                    p->has_home[r] && !p->has_home[p->here[latest]];
            if (latest == p->here_count || p->coming[r] > when || is_cheaper)
                latest = i, when = p->coming[r];
        }
        if (latest == p->here_count) return; // all of them are wanted here
        give_home(p, p->here[latest]);
        leave(p, latest);
    }
}

static void come(Plan *p, uint32_t r, uint32_t item)
{
    p->since[r] = item;
    p->is_here[r] = true;
    p->here[p->here_count++] = r;
}

static void note_bring(Plan *p, uint32_t item, uint32_t r)
{
    if (!tr_grow((void **)&p->brings, &p->bring_capacity, p->bring_count + 1, sizeof *p->brings)) {
        p->failed = true;
        return;
    }
    p->brings[p->bring_count] = (Bring){item, r, p->first_bring[item]};
    p->first_bring[item] = ++p->bring_count;
}

// Some items ahead, where there is room all the way, but not before it was made or left
static void bring(Plan *p, uint32_t r, uint32_t item, uint32_t first)
{
    uint32_t at = item;
    while (at > first && item - at < AHEAD && at - 1 > p->since[r] &&
           p->load[at - 1] < p->is->registers)
        p->load[--at]++;
    note_bring(p, at, r);
}

static void drop_unwanted(Plan *p, const Item *item)
{
    const Body *b = &p->body;
    for (uint32_t k = 0; k < item->uses + item->defs; k++) {
        const uint32_t r = b->operands[item->use + k];
        const bool is_done = p->coming[r] == NEVER || (p->coming[r] == LATER && p->has_home[r]);
        if (!p->is_here[r] || !is_done) continue;
        uint32_t index = 0;
        while (p->here[index] != r) index++;
        leave(p, index);
    }
}

static void pass_item(Plan *p, uint32_t s, uint32_t i, bool is_last)
{
    Body *b = &p->body;
    const Item *item = &b->items[i];
    const uint32_t stamp = ++b->stamps;
    for (uint32_t k = 0; k < item->uses + item->defs; k++)
        b->stamp[b->operands[item->use + k]] = stamp;
    for (uint32_t k = 0; k < item->uses; k++) {
        const uint32_t r = b->operands[item->use + k];
        if (p->is_here[r]) continue;
        give_home(p, r);
        make_room(p, 1, stamp);
        if (is_last) bring(p, r, i, b->spans[s].item);
        come(p, r, i);
    }
    make_room(p, item->inside, stamp);
    for (uint32_t k = 0; k < item->uses; k++)
        p->coming[b->operands[item->use + k]] = p->next[item->use + k];
    p->load[i] = p->here_count + item->inside;
    drop_unwanted(p, &(Item){.use = item->use, .uses = item->uses});
    for (uint32_t k = 0; k < item->defs; k++) {
        const uint32_t r = b->operands[item->def + k];
        p->coming[r] = p->next[item->def + k];
        p->since[r] = i;
        if (p->is_here[r]) continue;
        make_room(p, 1, stamp);
        come(p, r, i);
    }
    p->load[i] = p->here_count > p->load[i] ? p->here_count : p->load[i];
    drop_unwanted(p, &(Item){.use = item->def, .uses = item->defs});
}

static void pass_span(Plan *p, uint32_t s, bool is_last)
{
    const Span *span = &p->body.spans[s];
    const uint64_t *in = p->in + (size_t)s * p->words;
    find_next(p, s);
    while (p->here_count) leave(p, 0);
    for (uint32_t g = 0; g < p->globals; g++) {
        const uint32_t r = p->number[g];
        p->since[r] = span->item;
        if (is_in(in, g) && !p->has_home[r]) come(p, r, span->item);
    }
    make_room(p, 0, ++p->body.stamps);
    for (uint32_t i = span->item; i < span->end; i++) pass_item(p, s, i, is_last);
}

// Homes are given until there are enough.
static void plan_homes(Plan *p)
{
    do {
        p->has_changed = false;
        for (uint32_t s = 0; s < p->body.span_count; s++) pass_span(p, s, false);
    } while (p->has_changed);
    for (uint32_t s = 0; s < p->body.span_count; s++) pass_span(p, s, true);
}

// ---- homes ---------------------------------------------------------------------------------

static uint32_t new_home(Plan *p)
{
    if (!tr_grow((void **)&p->homes, &p->home_capacity, p->home_count + 1, sizeof *p->homes)) {
        p->failed = true;
        return 0;
    }
    Home *home = &p->homes[p->home_count];
    *home = (Home){.spans = calloc(p->body.span_count / 64 + 1, sizeof *home->spans)};
    p->failed = p->failed || !home->spans;
    return p->home_count++;
}

// Spans in which something is a number's
static void find_spans(const Plan *p, uint32_t g, uint64_t *spans)
{
    const Body *b = &p->body;
    memset(spans, 0, (b->span_count / 64 + 1) * sizeof *spans);
    for (uint32_t s = 0; s < b->span_count; s++) {
        const size_t at = (size_t)s * p->words;
        if (is_in(p->in + at, g) || is_in(p->out + at, g) || is_in(p->stands + at, g))
            put_in(spans, s);
    }
}

static bool overlaps(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        if (a[w] & b[w]) return true;
    return false;
}

// Those that live from span to span have a home in all of them.
static void settle_globals(Plan *p)
{
    const uint32_t words = p->body.span_count / 64 + 1;
    uint64_t *spans = malloc(words * sizeof *spans);
    p->failed = p->failed || !spans;
    for (uint32_t g = 0; g < p->globals && !p->failed; g++) {
        const uint32_t r = p->number[g];
        if (!p->has_home[r]) continue;
        find_spans(p, g, spans);
        uint32_t h = 0;
        while (h < p->home_count && overlaps(p->homes[h].spans, spans, words)) h++;
        if (h == p->home_count) h = new_home(p);
        for (uint32_t w = 0; w < words && !p->failed; w++) p->homes[h].spans[w] |= spans[w];
        p->home[r] = h;
    }
    free(spans);
}

// Others have one from where they are made first to where they are wanted last.
static void settle_locals(Plan *p, uint32_t s)
{
    const Body *b = &p->body;
    uint32_t *last = p->coming;
    for (uint32_t i = b->spans[s].item; i < b->spans[s].end; i++)
        for (uint32_t k = 0; k < b->items[i].uses; k++) last[b->operands[b->items[i].use + k]] = i;
    for (uint32_t h = 0; h < p->home_count; h++) p->homes[h].busy = 0;
    for (uint32_t i = b->spans[s].item; i < b->spans[s].end && !p->failed; i++) {
        const Item *item = &b->items[i];
        for (uint32_t k = 0; k < item->defs; k++) {
            const uint32_t r = b->operands[item->def + k];
            if (!p->has_home[r] || p->global[r] || p->home[r] != NO_HOME) continue;
            uint32_t h = 0;
            while (h < p->home_count && (p->homes[h].busy > i || is_in(p->homes[h].spans, s))) h++;
            if (h == p->home_count) h = new_home(p);
            if (p->failed) return;
            p->homes[h].busy = (last[r] < b->spans[s].end ? last[r] : i) + 1;
            p->home[r] = h;
        }
    }
}

// How often each is gone to: a loop counts eightfold.
static void weigh(Plan *p)
{
    const Body *b = &p->body;
    for (uint32_t s = 0; s < b->span_count; s++) {
        const uint64_t often = UINT64_C(1) << (3 * (b->spans[s].depth < 6 ? b->spans[s].depth : 6));
        for (uint32_t i = b->spans[s].item; i < b->spans[s].end; i++) {
            for (uint32_t n = p->first_bring[i]; n; n = p->brings[n - 1].next)
                p->homes[p->home[p->brings[n - 1].number]].weight += often;
            for (uint32_t k = 0; k < b->items[i].defs; k++) {
                const uint32_t r = b->operands[b->items[i].def + k];
                if (p->has_home[r]) p->homes[p->home[r]].weight += often;
            }
        }
    }
}

static void settle(Plan *p)
{
    settle_globals(p);
    for (uint32_t s = 0; s < p->body.span_count && !p->failed; s++) settle_locals(p, s);
    if (p->failed) return;
    weigh(p);
    for (uint32_t h = 0; h < p->home_count; h++)
        for (uint32_t o = 0; o < p->home_count; o++)
            p->homes[h].index += p->homes[o].weight > p->homes[h].weight ||
                                 (p->homes[o].weight == p->homes[h].weight && o < h);
}

// ---- the text ------------------------------------------------------------------------------

typedef struct Writing {
    const Plan *plan;
    uint32_t base; // register: of this thread in the memory that is shared
    Buffer out;
} Writing;

static void write_place(Writing *w, uint32_t r)
{
    const Plan *p = w->plan;
    const uint32_t index = p->homes[p->home[r]].index;
    const uint32_t bytes = sizeof(double);
    if (index < p->is->places)
        tr_buffer_print(&w->out, "[%%r%u+%u]", w->base, index * SPILL_THREADS * bytes);
    else
        tr_buffer_print(&w->out, "[tr_rest+%u]", (index - p->is->places) * bytes);
}

static const char *memory_of(const Plan *p, uint32_t r)
{
    return p->homes[p->home[r]].index < p->is->places ? "volatile.shared" : "local";
}

static void write_bring(Writing *w, uint32_t r)
{
    tr_buffer_print(&w->out, "\tld.%s.f64 %%d%u, ", memory_of(w->plan, r), r);
    write_place(w, r);
    tr_buffer_print(&w->out, ";\n");
}

static void write_take(Writing *w, uint32_t r)
{
    tr_buffer_print(&w->out, "\tst.%s.f64 ", memory_of(w->plan, r));
    write_place(w, r);
    tr_buffer_print(&w->out, ", %%d%u;\n", r);
}

static void write_lines(Writing *w, uint32_t from, uint32_t end)
{
    const Body *b = &w->plan->body;
    if (from < end)
        tr_buffer_add(&w->out, b->text + b->lines[from].from,
                      b->lines[end - 1].to - b->lines[from].from);
}

static void write_text(Writing *w)
{
    const Plan *p = w->plan;
    const Body *b = &p->body;
    uint32_t line = 0;
    for (uint32_t i = 0; i < b->item_count; i++) {
        const Item *item = &b->items[i];
        write_lines(w, line, item->line);
        for (uint32_t n = p->first_bring[i]; n; n = p->brings[n - 1].next)
            write_bring(w, p->brings[n - 1].number);
        write_lines(w, item->line, item->end);
        for (uint32_t k = 0; k < item->defs; k++)
            if (p->has_home[b->operands[item->def + k]]) write_take(w, b->operands[item->def + k]);
        line = item->end;
    }
    write_lines(w, line, b->line_count);
}

// Where the places of this thread are
static void write_base(Writing *w, Ptx *ptx)
{
    const uint32_t thread = tr_ptx_register(ptx, KIND_U32).number;
    const uint32_t room = tr_ptx_register(ptx, KIND_U32).number;
    w->base = tr_ptx_register(ptx, KIND_U32).number;
    tr_buffer_print(&w->out, "\tmov.u32 %%r%u, %%tid.x;\n\tmov.u32 %%r%u, tr_room;\n", thread,
                    room);
    tr_buffer_print(&w->out, "\tmad.lo.u32 %%r%u, %%r%u, %u, %%r%u;\n", w->base, thread,
                    (unsigned)sizeof(double), room);
}

// ---- all of it -----------------------------------------------------------------------------

static bool open_plan(Plan *p)
{
    const Body *b = &p->body;
    const size_t registers = b->registers, items = b->item_count + 1u;
    p->global = calloc(registers, sizeof *p->global);
    p->number = calloc(registers, sizeof *p->number);
    p->coming = calloc(registers, sizeof *p->coming);
    p->since = calloc(registers, sizeof *p->since);
    p->here = calloc(registers + 1, sizeof *p->here);
    p->home = malloc(registers * sizeof *p->home);
    p->has_home = calloc(registers, sizeof *p->has_home);
    p->is_here = calloc(registers, sizeof *p->is_here);
    p->next = calloc(b->operand_count + 1u, sizeof *p->next);
    p->load = calloc(items, sizeof *p->load);
    p->first_bring = calloc(items, sizeof *p->first_bring);
    if (!p->global || !p->number || !p->coming || !p->since || !p->here || !p->home ||
        !p->has_home || !p->is_here || !p->next || !p->load || !p->first_bring)
        return false;
    for (uint32_t r = 0; r < b->registers; r++) p->home[r] = NO_HOME;
    find_globals(p);
    p->in = calloc((size_t)b->span_count * p->words + 1, sizeof *p->in);
    p->out = calloc((size_t)b->span_count * p->words + 1, sizeof *p->out);
    p->stands = calloc((size_t)b->span_count * p->words + 1, sizeof *p->stands);
    return p->in && p->out && p->stands;
}

static void close_plan(Plan *p)
{
    void *const all[] = {p->global, p->number,   p->coming,  p->since,       p->here,
                         p->home,   p->has_home, p->is_here, p->next,        p->load,
                         p->in,     p->out,      p->stands,  p->first_bring, p->brings};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    for (uint32_t h = 0; h < p->home_count; h++) free(p->homes[h].spans);
    free(p->homes);
    tr_body_free(&p->body);
}

static void rewrite(const Plan *p, Ptx *ptx, Buffer *module, Buffer *kernel, uint32_t *bytes)
{
    Writing w = {.plan = p};
    const uint32_t shared = p->home_count < p->is->places ? p->home_count : p->is->places;
    const uint32_t each = sizeof(double);
    *bytes = shared * SPILL_THREADS * each;
    if (!p->home_count) return;
    if (shared) {
        tr_buffer_print(module, ".extern .shared .align 8 .b8 tr_room[];\n\n");
        write_base(&w, ptx);
    }
    if (p->home_count > shared)
        tr_buffer_print(kernel, "\t.local .align 8 .b8 tr_rest[%u];\n",
                        (p->home_count - shared) * each);
    write_text(&w);
    tr_buffer_free(&ptx->text);
    ptx->text = w.out;
}

bool tr_spill(Ptx *ptx, const SpillPlan *is, Buffer *module, Buffer *kernel, uint32_t *bytes)
{
    Plan p = {.is = is};
    bool good = tr_body_read(&p.body, ptx) && open_plan(&p);
    if (good) {
        find_lives(&p);
        plan_homes(&p);
        settle(&p);
        good = !p.failed;
    }
    if (good) rewrite(&p, ptx, module, kernel, bytes);
    close_plan(&p);
    return good;
}
