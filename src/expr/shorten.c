// SPDX-License-Identifier: Apache-2.0
// Sums and products are taken as lists, whatever their brackets are: one that nothing but another
// one uses is part of that. Then
//
//   a b + a c = a (b + c),   a / d + b / d = (a + b) / d        of products that nothing else uses
//   x + y + z, x + y + w     have x + y in common, as a part that both use; products likewise
//
// and they are built anew. Nothing is multiplied out, so nothing cancels that did not cancel before
// (bench line "bicycle").
#include "expr/shorten.h"

#include "expr/walk.h"

#include <math.h>
#include <stdlib.h>

enum { LONGEST = 48 }; // list: so that work grows with the number of nodes, and not its square
enum { SWEEPS = 8, ROUNDS = 2 };
enum { SHORT = 64, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

typedef enum Kind { OTHER, SUM, PRODUCT } Kind;

// +x or -x of a sum, x or 1/x of a product
typedef struct Part {
    uint32_t of;
    bool inverse;
} Part;

// A node, or what was made of several: those of the graph come first, in the order of a reach
typedef struct Vertex {
    uint8_t kind, stage;
    uint32_t first, count; // of its parts
    uint32_t uses;
    uint32_t built; // its new node, or 0
} Vertex;

// A part, or two, as a key, and who has them
typedef struct Found {
    uint64_t key;
    uint32_t by;
} Found;

typedef struct Founds {
    Found *at;
    uint32_t count, capacity;
} Founds;

typedef struct Shortener {
    Graph *graph;
    Reach reach;
    uint32_t *place, *map; // by id: in the reach; the new node
    Vertex *vertices;
    uint32_t count, capacity;
    Part *parts;
    uint32_t part_count, part_capacity;
    Founds found, sorted;
} Shortener;

// ---- lists ---------------------------------------------------------------------------------

static void add_part(Shortener *s, Part part)
{
    if (tr_grow((void **)&s->parts, &s->part_capacity, s->part_count + 1, sizeof *s->parts))
        s->parts[s->part_count++] = part;
    else
        s->graph->failed = true;
}

static uint32_t add_vertex(Shortener *s, Kind kind, ValueStage stage)
{
    if (!tr_grow((void **)&s->vertices, &s->capacity, s->count + 1, sizeof *s->vertices)) {
        s->graph->failed = true;
        return 0;
    }
    s->vertices[s->count] =
        (Vertex){.kind = (uint8_t)kind, .stage = (uint8_t)stage, .first = s->part_count};
    return s->count++;
}

static Part *parts_of(const Shortener *s, uint32_t v) { return s->parts + s->vertices[v].first; }

static bool is_same(Part a, Part b) { return a.of == b.of && a.inverse == b.inverse; }

// The list of v begins anew, behind all others.
static void begin_list(Shortener *s, uint32_t v) { s->vertices[v].first = s->part_count; }
static void end_list(Shortener *s, uint32_t v)
{
    s->vertices[v].count = s->part_count - s->vertices[v].first;
}

static const Node *node_at(const Shortener *s, uint32_t v)
{
    return &s->graph->nodes[s->reach.ids[v]];
}

static bool is_unit(const Shortener *s, uint32_t v)
{
    return v < s->reach.count && is_one(expr_at(s->graph, s->reach.ids[v]));
}

static bool is_known(const Shortener *s, uint32_t v)
{
    return s->vertices[v].stage <= STAGE_PARAMETER;
}

// Whether two known parts of sums may be added before the rest: (1 - x) + e is not (1 + e) - x, for
// where x is 1 a small e were lost. Of parameters nothing is known here (gather.h adds them, too).
static bool are_alike(const Shortener *s, uint32_t v, uint32_t w)
{
    enum { FEW = 1000 }; // times: three digits
    const Expr x = expr_at(s->graph, s->reach.ids[v]), y = expr_at(s->graph, s->reach.ids[w]);
    if (!is_number(x) || !is_number(y)) return is_number(x) == is_number(y);
    const double a = fabs(value_of(x)), b = fabs(value_of(y));
    return a <= FEW * b && b <= FEW * a;
}

// Whether a list that is begun may take in another one
static bool can_take(const Shortener *s, const Vertex *list, const Vertex *other)
{
    if (s->part_count - list->first + other->count > LONGEST) return false;
    if (list->kind == PRODUCT) return true;
    for (uint32_t i = list->first; i < s->part_count; i++)
        for (uint32_t k = other->first; k < other->first + other->count; k++)
            if (is_known(s, s->parts[i].of) && is_known(s, s->parts[k].of) &&
                !are_alike(s, s->parts[i].of, s->parts[k].of))
                return false;
    return true;
}

// A part of v, or the parts of that where nothing else uses them
static void take_part(Shortener *s, uint32_t v, Part part)
{
    const Vertex own = s->vertices[v], other = s->vertices[part.of];
    const bool is_free = other.kind == own.kind && other.stage == own.stage && other.uses == 1 &&
                         can_take(s, &own, &other);
    if (!is_free || (own.kind == PRODUCT && part.inverse)) {
        if (own.kind == SUM || part.inverse || !is_unit(s, part.of)) add_part(s, part);
        return;
    }
    s->vertices[part.of].uses = 0;
    for (uint32_t k = 0; k < other.count && !s->graph->failed; k++) {
        const Part inner = s->parts[other.first + k];
        add_part(s, (Part){inner.of, inner.inverse != part.inverse});
    }
}

static Kind kind_of(const Node *node)
{
    if (node->stage <= STAGE_PARAMETER) return OTHER;
    switch ((Op)node->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_NEG: return SUM;
    case OP_MUL:
    case OP_DIV: return PRODUCT;
    default: return OTHER;
    }
}

static uint32_t find_part(const Shortener *s, uint32_t v, uint32_t from, Part part)
{
    while (from < s->vertices[v].count && !is_same(parts_of(s, v)[from], part)) from++;
    return from;
}

static void remove_part(Shortener *s, uint32_t v, uint32_t k)
{
    Part *parts = parts_of(s, v);
    s->vertices[v].count--;
    for (; k < s->vertices[v].count; k++) parts[k] = parts[k + 1];
}

// 2 x of a product x that nothing else uses than twice the same sum
static uint32_t twice(Shortener *s, uint32_t x)
{
    const uint32_t two = add_vertex(s, OTHER, STAGE_CONSTANT);
    const uint32_t v = add_vertex(s, PRODUCT, (ValueStage)s->vertices[x].stage);
    if (s->graph->failed) return 0;
    s->vertices[two].built = number(s->graph, 2).id, s->vertices[two].uses = 1;
    s->vertices[v].uses = 1, s->vertices[x].uses = 1;
    begin_list(s, v);
    add_part(s, (Part){two, false});
    take_part(s, v, (Part){x, false});
    if (!s->graph->failed) end_list(s, v);
    return v;
}

// x + x = 2 x
static void join_equals(Shortener *s, uint32_t v)
{
    for (uint32_t k = 0; k < s->vertices[v].count && !s->graph->failed; k++) {
        const Part part = parts_of(s, v)[k];
        const uint32_t again = find_part(s, v, k + 1, part);
        const Vertex *x = &s->vertices[part.of];
        if (again == s->vertices[v].count || x->kind != PRODUCT || x->uses != 2) continue;
        remove_part(s, v, again);
        const uint32_t both = twice(s, part.of);
        if (!s->graph->failed) parts_of(s, v)[k].of = both;
    }
}

static void list_node(Shortener *s, uint32_t k)
{
    const Node *node = node_at(s, k);
    if (s->vertices[k].kind == OTHER) return;
    begin_list(s, k);
    const bool one_alone = node->op == OP_NEG, second = node->op == OP_SUB || node->op == OP_DIV;
    take_part(s, k, (Part){s->place[node->a], one_alone});
    if (!one_alone) take_part(s, k, (Part){s->place[node->b], second});
    end_list(s, k);
}

static void list_all(Shortener *s, const Expr *of, size_t count)
{
    for (uint32_t k = 0; k < s->reach.count && !s->graph->failed; k++) {
        const Node *node = node_at(s, k);
        s->place[s->reach.ids[k]] = k;
        add_vertex(s, kind_of(node), (ValueStage)node->stage);
        for (int i = 0; i < tr_op[node->op].operands && !s->graph->failed; i++)
            s->vertices[s->place[node_operand(node, i)]].uses++;
    }
    for (size_t i = 0; i < count && !s->graph->failed; i++)
        s->vertices[s->place[of[i].id]].uses += 2; // it stays
    for (uint32_t k = 0; k < s->reach.count && !s->graph->failed; k++) list_node(s, k);
    for (uint32_t k = 0; k < s->reach.count && !s->graph->failed; k++)
        if (s->vertices[k].kind == SUM && s->vertices[k].uses) join_equals(s, k);
}

// ---- what is found -------------------------------------------------------------------------

static uint32_t half_key(Part part) { return 2 * part.of + part.inverse; }
static Part part_in(uint64_t key) { return (Part){(uint32_t)(key & UINT32_MAX) / 2, key & 1}; }
static Part first_of(const Found *f) { return part_in(f->key >> 32); }
static Part second_of(const Found *f) { return part_in(f->key); }

static void add_found(Shortener *s, Part a, Part b, uint32_t by)
{
    Founds *f = &s->found;
    if (tr_grow((void **)&f->at, &f->capacity, f->count + 1, sizeof *f->at))
        f->at[f->count++] = (Found){(uint64_t)half_key(a) << 32 | half_key(b), by};
    else
        s->graph->failed = true;
}

static bool is_same_find(const Found *a, const Found *b)
{
    return a->key == b->key && a->by == b->by;
}

static void insert_each(Founds *f)
{
    for (uint32_t k = 1; k < f->count; k++) {
        const Found moved = f->at[k];
        uint32_t i = k;
        for (; i && f->at[i - 1].key > moved.key; i--) f->at[i] = f->at[i - 1];
        f->at[i] = moved;
    }
}

// By one digit of the keys; false where all have the same
static bool sort_by_digit(const Founds *f, uint32_t shift, Found *into)
{
    uint32_t start[DIGITS + 1] = {0};
    for (uint32_t k = 0; k < f->count; k++) start[(f->at[k].key >> shift) % DIGITS + 1]++;
    if (start[(f->at[0].key >> shift) % DIGITS + 1] == f->count) return false;
    for (uint32_t d = 0; d < DIGITS; d++) start[d + 1] += start[d];
    for (uint32_t k = 0; k < f->count; k++)
        into[start[(f->at[k].key >> shift) % DIGITS]++] = f->at[k];
    return true;
}

// Those that are alike stand together in the order they came in, each of them once. There are
// millions of a train's pairs: digit by digit, for comparing them took a seventh of its derivation.
static void sort_found(Shortener *s)
{
    Founds *f = &s->found, *other = &s->sorted;
    if (!tr_grow((void **)&other->at, &other->capacity, f->count, sizeof *f->at))
        s->graph->failed = true;
    if (s->graph->failed) return;
    if (f->count <= SHORT) insert_each(f);
    for (uint32_t shift = 0; f->count > SHORT && shift < 64; shift += DIGIT_BITS)
        if (sort_by_digit(f, shift, other->at)) {
            Found *kept = f->at;
            const uint32_t capacity = f->capacity;
            f->at = other->at, f->capacity = other->capacity;
            other->at = kept, other->capacity = capacity;
        }
    uint32_t kept = 0;
    for (uint32_t k = 0; k < f->count; k++)
        if (!kept || !is_same_find(&f->at[kept - 1], &f->at[k])) f->at[kept++] = f->at[k];
    f->count = kept;
}

static uint32_t run_from(const Founds *f, uint32_t k)
{
    uint32_t end = k + 1;
    while (end < f->count && f->at[k].key == f->at[end].key) end++;
    return end - k;
}

// ---- common factors ------------------------------------------------------------------------

// A product that only one sum uses
static bool is_loose(const Shortener *s, uint32_t v)
{
    const Vertex *product = &s->vertices[v];
    return product->kind == PRODUCT && product->uses == 1 && product->count > 1;
}

// The part of most products of a sum; 0 or how many have it
static uint32_t common_factor(Shortener *s, uint32_t v, Part *factor)
{
    s->found.count = 0;
    for (uint32_t k = 0; k < s->vertices[v].count && !s->graph->failed; k++) {
        const Part term = parts_of(s, v)[k];
        const Vertex *product = &s->vertices[term.of];
        if (!is_loose(s, term.of)) continue;
        for (uint32_t i = 0; i < product->count; i++) {
            const Part part = s->parts[product->first + i];
            if (s->vertices[part.of].uses > 1) add_found(s, part, part, term.of);
        }
    }
    sort_found(s);
    uint32_t most = 0;
    for (uint32_t k = 0, run; k < s->found.count; k += run) {
        run = run_from(&s->found, k);
        if (run > most) most = run, *factor = first_of(&s->found.at[k]);
    }
    return most;
}

static bool has_factor(const Shortener *s, uint32_t v, Part factor)
{
    return is_loose(s, v) && find_part(s, v, 0, factor) < s->vertices[v].count;
}

// A term of a sum without the factor; what is left of it may be one part
static Part without(Shortener *s, Part term, Part factor)
{
    const uint32_t v = term.of;
    remove_part(s, v, find_part(s, v, 0, factor));
    const Part left = parts_of(s, v)[0];
    if (s->vertices[v].count > 1 || left.inverse) return term;
    s->vertices[v].uses = 0;
    return (Part){left.of, term.inverse};
}

// Terms with the factor leave the list of a sum, and stand behind all lists.
static uint32_t set_apart(Shortener *s, uint32_t v, Part factor)
{
    const uint32_t start = s->part_count, count = s->vertices[v].count;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < count && !s->graph->failed; k++) {
        const Part term = parts_of(s, v)[k];
        if (has_factor(s, term.of, factor))
            add_part(s, term);
        else
            parts_of(s, v)[kept++] = term;
    }
    s->vertices[v].count = kept;
    return start;
}

// a b + a c + d = a (b + c) + d
static void take_factor(Shortener *s, uint32_t v, Part factor)
{
    const ValueStage stage = (ValueStage)s->vertices[v].stage;
    const uint32_t inner = add_vertex(s, SUM, stage), outer = add_vertex(s, PRODUCT, stage);
    const uint32_t start = s->graph->failed ? 0 : set_apart(s, v, factor), end = s->part_count;
    if (s->graph->failed) return;
    begin_list(s, inner);
    for (uint32_t k = start; k < end && !s->graph->failed; k++)
        take_part(s, inner, without(s, s->parts[k], factor));
    end_list(s, inner);
    begin_list(s, outer);
    add_part(s, (Part){inner, false});
    add_part(s, factor);
    end_list(s, outer);
    if (s->graph->failed) return;
    s->vertices[inner].uses = s->vertices[outer].uses = 1;
    s->vertices[factor.of].uses -= end - start - 1;
    Vertex *sum = &s->vertices[v];
    s->parts[sum->first + sum->count++] = (Part){outer, false}; // more than one has left
}

// All common factors of all sums; those in brackets come behind them
static void factor_all(Shortener *s)
{
    for (uint32_t v = 0; v < s->count && !s->graph->failed; v++) {
        Part factor = {0};
        while (!s->graph->failed && s->vertices[v].kind == SUM && s->vertices[v].uses &&
               common_factor(s, v, &factor) > 1)
            take_factor(s, v, factor);
    }
}

// ---- signs ---------------------------------------------------------------------------------

// A sum that only one product uses, and that has as many signs when it is turned
static bool can_turn(const Shortener *s, uint32_t v)
{
    const Vertex *sum = &s->vertices[v];
    if (sum->kind != SUM || sum->uses != 1) return false;
    for (uint32_t k = 0; k < sum->count; k++)
        if (parts_of(s, v)[k].inverse) return true;
    return false;
}

// -(a (b - c)) = a (c - b)
static void turn_sign(Shortener *s, uint32_t v)
{
    Part *term = parts_of(s, v);
    if (s->vertices[v].count != 1 || !term->inverse) return;
    const Vertex product = s->vertices[term->of];
    if (product.kind != PRODUCT || product.uses != 1) return;
    for (uint32_t k = 0; k < product.count; k++) {
        const uint32_t sum = s->parts[product.first + k].of;
        if (!can_turn(s, sum)) continue;
        for (uint32_t i = 0; i < s->vertices[sum].count; i++)
            parts_of(s, sum)[i].inverse = !parts_of(s, sum)[i].inverse;
        term->inverse = false;
        return;
    }
}

static void turn_signs(Shortener *s)
{
    for (uint32_t v = 0; v < s->count && !s->graph->failed; v++)
        if (s->vertices[v].kind == SUM && s->vertices[v].uses) turn_sign(s, v);
}

// ---- common pairs --------------------------------------------------------------------------

// Two parts in one order; of a sum the first has no sign
static void add_pair(Shortener *s, Kind kind, Part a, Part b, uint32_t by)
{
    if (kind == PRODUCT && a.inverse && b.inverse) return; // 1/(a b) would be one more
    const bool swapped = b.of < a.of;
    Part first = swapped ? b : a, second = swapped ? a : b;
    if (kind == SUM && first.inverse) first.inverse = false, second.inverse = !second.inverse;
    if (kind == PRODUCT && first.of == second.of && first.inverse) return; // x / x
    add_found(s, first, second, by);
}

static void find_pairs(Shortener *s, Kind kind)
{
    s->found.count = 0;
    for (uint32_t v = 0; v < s->count && !s->graph->failed; v++) {
        const Vertex list = s->vertices[v];
        if (list.kind != kind || !list.uses || list.count < 2 || list.count > LONGEST) continue;
        Part used[LONGEST]; // by others as well
        uint32_t count = 0;
        for (uint32_t k = 0; k < list.count; k++) {
            used[count] = s->parts[list.first + k];
            count += s->vertices[used[count].of].uses > 1;
        }
        for (uint32_t a = 0; a < count; a++)
            for (uint32_t b = a + 1; b < count && !s->graph->failed; b++)
                add_pair(s, kind, used[a], used[b], v);
    }
    sort_found(s);
}

// Where the two parts stand in a list, both as they are or, in a sum, both with the other sign
typedef struct Pair {
    uint32_t a, b;
    bool inverse;
} Pair;

static bool find_pair(const Shortener *s, uint32_t v, const Found *f, Pair *at)
{
    const uint32_t count = s->vertices[v].count;
    const Part first = first_of(f), second = second_of(f);
    for (int inverse = 0; inverse <= (s->vertices[v].kind == SUM); inverse++) {
        const Part a = {first.of, first.inverse != inverse};
        const Part b = {second.of, second.inverse != inverse};
        at->inverse = inverse, at->a = find_part(s, v, 0, a);
        at->b = find_part(s, v, 0, b);
        if (at->b == at->a) at->b = find_part(s, v, at->a + 1, b);
        if (at->a < count && at->b < count) return true;
    }
    return false;
}

// The list that is this pair and nothing else; a new one where there is none
static Part pair_of_its_own(Shortener *s, const Found *f, uint32_t count)
{
    Pair at;
    for (uint32_t k = 0; k < count; k++)
        if (s->vertices[f[k].by].count == 2 && find_pair(s, f[k].by, f, &at))
            return (Part){f[k].by, at.inverse};
    const Vertex like = s->vertices[f->by];
    const Part a = first_of(f), b = second_of(f);
    const uint32_t v = add_vertex(s, (Kind)like.kind, (ValueStage)like.stage);
    begin_list(s, v);
    add_part(s, a);
    add_part(s, b);
    if (s->graph->failed) return (Part){0};
    end_list(s, v);
    s->vertices[a.of].uses++, s->vertices[b.of].uses++;
    return (Part){v, false};
}

// Who has the pair uses what is that pair
static bool share_pair(Shortener *s, const Found *f, uint32_t count)
{
    uint32_t having = 0;
    Pair at;
    for (uint32_t k = 0; k < count; k++) having += find_pair(s, f[k].by, f, &at);
    if (having < 2) return false;
    const Part pair = pair_of_its_own(s, f, count);
    for (uint32_t k = 0; k < count && !s->graph->failed; k++) {
        const uint32_t v = f[k].by;
        if (v == pair.of || !find_pair(s, v, f, &at)) continue;
        const Part shared = {pair.of, pair.inverse != at.inverse};
        parts_of(s, v)[at.a] = shared;
        remove_part(s, v, at.b);
        s->vertices[pair.of].uses++;
        s->vertices[first_of(f).of].uses--, s->vertices[second_of(f).of].uses--;
    }
    return true;
}

typedef struct Run {
    uint32_t first, count;
} Run;

static int by_count(const void *x, const void *y)
{
    const Run *a = x, *b = y;
    if (a->count != b->count) return a->count > b->count ? -1 : 1;
    return a->first < b->first ? -1 : 1;
}

// Those that more than one has
static uint32_t find_runs(const Founds *f, Run *runs)
{
    uint32_t count = 0, length;
    for (uint32_t k = 0; k < f->count; k += length) {
        length = run_from(f, k);
        if (length > 1) runs[count++] = (Run){k, length};
    }
    return count;
}

// What most have, first; false when nothing is shared any more
static bool share_pairs(Shortener *s, Kind kind)
{
    find_pairs(s, kind);
    Run *runs = calloc(s->found.count + 1u, sizeof *runs);
    bool shared = false;
    if (!runs) s->graph->failed = true;
    const uint32_t count = runs ? find_runs(&s->found, runs) : 0;
    if (count) qsort(runs, count, sizeof *runs, by_count);
    for (uint32_t k = 0; k < count && !s->graph->failed; k++)
        if (share_pair(s, s->found.at + runs[k].first, runs[k].count)) shared = true;
    free(runs);
    return shared;
}

// ---- building ------------------------------------------------------------------------------

static Expr built(const Shortener *s, uint32_t v)
{
    return expr_at(s->graph, s->vertices[v].built);
}

// The first part that is not negative, best one that is known; or the count of parts
static uint32_t leading_part(const Shortener *s, uint32_t v)
{
    const uint32_t count = s->vertices[v].count;
    for (int known = 1; known >= 0; known--)
        for (uint32_t k = 0; k < count; k++)
            if (!parts_of(s, v)[k].inverse && is_known(s, parts_of(s, v)[k].of) == known) return k;
    return count;
}

// One after the other, so that a product fits into the operation that takes it, and in their order,
// what is known first
static Expr build_sum(const Shortener *s, uint32_t v)
{
    const uint32_t count = s->vertices[v].count, lead = leading_part(s, v);
    const bool is_negative = lead == count; // -a - b = -(a + b)
    Expr all = is_negative ? zero(s->graph) : built(s, parts_of(s, v)[lead].of);
    for (int known = 1; known >= 0; known--)
        for (uint32_t k = 0; k < count; k++) {
            const Part part = parts_of(s, v)[k];
            if (k == lead || is_known(s, part.of) != known) continue;
            const Op op = part.inverse != is_negative ? OP_SUB : OP_ADD;
            all = tr_build(op, all, built(s, part.of), all);
        }
    return is_negative ? neg(all) : all;
}

static Expr multiply(const Shortener *s, uint32_t v, bool inverse, bool known, Expr all)
{
    for (uint32_t k = 0; k < s->vertices[v].count; k++) {
        const Part part = parts_of(s, v)[k];
        if (part.inverse == inverse && is_known(s, part.of) == known)
            all = mul(all, built(s, part.of));
    }
    return all;
}

// m x / n = (m / n) x with known m and n
static Expr build_product(const Shortener *s, uint32_t v)
{
    const Expr unit = one(s->graph), m = multiply(s, v, false, true, unit);
    const Expr n = multiply(s, v, true, true, unit);
    const Expr lead = is_one(m) ? m : quotient(m, n), below = is_one(m) ? n : unit;
    return quotient(multiply(s, v, false, false, lead), multiply(s, v, true, false, below));
}

static Expr build(const Shortener *s, uint32_t v)
{
    switch ((Kind)s->vertices[v].kind) {
    case SUM: return build_sum(s, v);
    case PRODUCT: return build_product(s, v);
    default: return tr_rebuild(s->graph, *node_at(s, v), s->map);
    }
}

static uint32_t part_count(const Shortener *s, uint32_t v)
{
    return s->vertices[v].kind == OTHER ? (uint32_t)tr_op[node_at(s, v)->op].operands
                                        : s->vertices[v].count;
}

static uint32_t part_at(const Shortener *s, uint32_t v, uint32_t k)
{
    if (s->vertices[v].kind == OTHER) return s->place[node_operand(node_at(s, v), (int)k)];
    return parts_of(s, v)[k].of;
}

// Parts before what is made of them, without recursion: graphs may be deep
static void build_all(Shortener *s, uint32_t *stack, const Expr *of, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t depth = 0;
        stack[depth++] = s->place[of[i].id];
        while (depth && !s->graph->failed) {
            const uint32_t v = stack[depth - 1], parts = part_count(s, v);
            uint32_t k = 0;
            while (k < parts && s->vertices[part_at(s, v, k)].built) k++;
            if (k < parts) {
                stack[depth++] = part_at(s, v, k);
                continue;
            }
            const bool is_leaf = v < s->reach.count && !parts;
            const uint32_t id = is_leaf ? s->reach.ids[v] : build(s, v).id;
            s->vertices[v].built = id;
            if (v < s->reach.count) s->map[s->reach.ids[v]] = id;
            depth--;
        }
    }
}

static void rearrange(Shortener *s, const Expr *of, size_t count)
{
    list_all(s, of, count);
    factor_all(s);
    turn_signs(s);
    for (int i = 0; i < SWEEPS && !s->graph->failed; i++) {
        const bool sums = share_pairs(s, SUM), products = share_pairs(s, PRODUCT);
        if (!sums && !products) break;
    }
    uint32_t *stack = s->graph->failed ? NULL : calloc(s->count + 1u, sizeof *stack);
    if (stack)
        build_all(s, stack, of, count);
    else
        s->graph->failed = true;
    free(stack);
}

static void shorten_once(Graph *graph, Expr *of, size_t count)
{
    Shortener s = {.graph = graph};
    if (tr_reach(graph, of, count, &s.reach)) {
        s.place = tr_reach_map(graph, &s.reach), s.map = tr_reach_map(graph, &s.reach);
        if (s.place && s.map) rearrange(&s, of, count);
    }
    for (size_t i = 0; i < count; i++)
        of[i] = expr_at(graph, s.map && !graph->failed ? s.map[of[i].id] : 0);
    tr_reach_free(&s.reach);
    free(s.place), free(s.map);
    free(s.vertices), free(s.parts), free(s.found.at), free(s.sorted.at);
}

// What became of a sum may be part of another one the next time.
void tr_shorten(Graph *graph, Expr *of, size_t count)
{
    for (int i = 0; i < ROUNDS && !graph->failed; i++) shorten_once(graph, of, count);
}
