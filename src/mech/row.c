// SPDX-License-Identifier: Apache-2.0
// The constraints as rows on the velocities, G v + g = 0 [M 10, B 2], whatever element they come
// from, and what the model says about their reactions (T40-T42).
#include "expr/derivative.h"
#include "expr/walk.h"
#include "mech/meet.h"

#include <stdio.h>
#include <stdlib.h>

// ---- one row -------------------------------------------------------------------------------

// q' = N v, t' = 1, and what is known of verticals
static void begin_drifts(Tree *tree)
{
    const System *s = tree->system;
    Kept *kept = &tree->drifts;
    tr_kept_free(kept);
    if (!tr_kept_room(tree->graph, kept)) return;
    for (uint32_t k = 0; k < tree->position_count; k++) {
        const Expr symbol = tree->positions[k].symbol;
        const Input *input = tr_system_input(s, symbol);
        if (input) kept->of[symbol.id] = input->rate.id;
    }
    for (uint32_t k = 0; k < 2 * s->touching_count; k++) {
        const Input *input = &s->inputs[s->touchings[k / 2].input + k % 2];
        kept->of[input->symbol.id] = input->rate.id;
    }
    tr_tree_list_rates(tree, kept->of);
    kept->of[tree->t.id] = one(tree->graph).id;
    for (uint32_t i = 0; i < tree->known_count; i++)
        kept->of[tree->known[i].id] = tree->known_rate[i].id;
}

// d/dt of x while velocities stay the same                             (T41) [K 4.83]
Expr tr_tree_drift_of(Tree *tree, Expr x)
{
    const uint32_t count = tree->position_count + 1 + tree->known_count +
                           tree->system->touching_count + tr_tree_list_rates(tree, NULL);
    if (tree->drift_count != count) begin_drifts(tree);
    tree->drift_count = count;
    return tr_forward_kept(tree->graph, x, &tree->drifts);
}

// The ground's normal in the axes of a root that turns freely: n' = n x W                (T42)
static void know_verticals(Tree *tree)
{
    Expr *room = tr_tree_room(tree, 6 * (size_t)tree->link_count, sizeof *room);
    if (!room) return;
    tree->known = room, tree->known_rate = room + 3 * (size_t)tree->link_count;
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        if (link->parent != WORLD || !turns_freely(link)) continue;
        const Vec n = apply_transposed(link->world.R, column(tree->ground.R, 2));
        const Vec rate = cross(n, link->v.W);
        for (int k = 0; k < 3; k++, tree->known_count++) {
            tree->known[tree->known_count] = vec_at(n, k);
            tree->known_rate[tree->known_count] = vec_at(rate, k);
        }
    }
}

// G and g of G v + g                                          (T40) [M 10, B 2]
const Expr *tr_tree_slopes(Tree *tree, Expr rate, Expr *rest)
{
    const uint32_t n = tree->velocity_count;
    Expr *v = calloc(2 * (size_t)n + 1, sizeof *v);
    Expr *slopes = tr_tree_room(tree, n, sizeof *slopes);
    *rest = expr_at(tree->graph, 0);
    if (!v || !slopes) {
        tree->graph->failed = true;
        free(v);
        return NULL;
    }
    for (uint32_t k = 0; k < n; k++)
        v[k] = tree->velocities[k].symbol, v[n + k] = zero(tree->graph);
    const bool good = tr_dense_jacobian(tree->graph, &rate, 1, v, n, slopes);
    tr_substitute(tree->graph, &rate, 1, v, v + n, n, rest);
    free(v);
    if (good) return slopes;
    tree->graph->failed = true;
    return NULL;
}

// The row as it stands, by inner velocities: G_u = G_v C                                (T59)
static void take_own_form(Tree *tree, Row *row)
{
    const System *s = tree->system;
    row->is_mixed = false;
    row->inner_slopes = row->slopes, row->inner_rest = row->rest, row->inner_bias = row->bias;
    if (!s->turned_count || !row->slopes) return;
    Expr *slopes = tr_tree_room(tree, tree->velocity_count, sizeof *slopes);
    if (!slopes) return;
    memcpy(slopes, row->slopes, tree->velocity_count * sizeof *slopes);
    tr_tree_turn_in(tree, row->slopes, slopes);
    row->inner_slopes = slopes;
}

// Ranks of m rows on n velocities take m m n operations, again and again, and eliminating them by
// expressions takes more: a thousand of each are minutes.
static bool is_too_many(uint32_t rows, uint32_t velocities)
{
    static const double most = 2e9;
    return (double)rows * (double)rows * (double)velocities > most;
}

// g, where slopes wait until it is known what follows from the motion of one link
static Expr rest_of(Tree *tree, Expr rate)
{
    Kept *kept = &tree->standing;
    const bool is_new = !kept->of;
    if (!tr_kept_room(tree->graph, kept)) return expr_at(tree->graph, 0);
    for (uint32_t k = 0; is_new && k < tree->velocity_count; k++)
        kept->of[tree->velocities[k].symbol.id] = zero(tree->graph).id;
    return tr_substitute_kept(tree->graph, rate, kept);
}

void tr_tree_finish_rows(Tree *tree)
{
    const System *s = tree->system;
    for (uint32_t i = 0; i < s->row_count && !tree->graph->failed; i++) {
        Row *row = &s->rows[i];
        const bool waits = row->base != NO_LINK && !row->is_behind && !row->is_mixed;
        if (row->slopes || (waits && !s->latch_count)) continue;
        row->slopes = tr_tree_slopes(tree, row->rate, &row->rest);
        if (!row->is_mixed) take_own_form(tree, row);
    }
}

Row *tr_tree_append_row(Tree *tree, const char *name, Expr rate, Place place)
{
    System *s = tree->system;
    if (!tr_tree_know_rates(tree, rate)) return NULL;
    if (is_too_many(s->row_count + 1, tree->velocity_count)) {
        tr_fail(tree->err, TR_INVALID, place,
                "the constraints up to here have %u rows on %u velocities: that is too large to be "
                "solved",
                s->row_count + 1, tree->velocity_count);
        return NULL;
    }
    const char *kept = tr_tree_text(tree, text_of(name));
    if (!tr_grow((void **)&s->rows, &s->row_capacity, s->row_count + 1, sizeof *s->rows)) {
        tree->graph->failed = true;
        return NULL;
    }
    Row *row = &s->rows[s->row_count++];
    *row = (Row){.name = kept,
                 .port = port_unknown(),
                 .place = place,
                 .rate = rate,
                 .bias = tr_tree_drift_of(tree, rate),
                 .base = NO_LINK,
                 .unit = 1,
                 .arm = one(tree->graph),
                 .weight = one(tree->graph)};
    if (tree->velocity_count <= MOST_VELOCITIES_FOR_M)
        row->slopes = tr_tree_slopes(tree, rate, &row->rest);
    else
        row->rest = rest_of(tree, rate);
    take_own_form(tree, row);
    return row;
}

// Whether a velocity is zero whatever moves: for rounding may leave what is not quite nothing, it
// is taken at some states, with parameters as they are.
bool tr_tree_holds_anyway(Tree *tree, Value element, const char *part, Expr rate)
{
    Expr at[3];
    if (is_zero(rate)) return true;
    for (uint32_t state = 0; state < 3; state++) {
        at[state] = tr_tree_sample(tree, rate, state);
        const double value = tr_tree_value(tree, at[state]);
        if (tr_rule_gives(RULE_MOVES, &value) != 0)
            return !tr_tree_is(tree, RULE_MOVES, at[state], element.place,
                               "something moves along '%.*s.%s'", WHOLE(element.text), part);
    }
    tr_tree_decide(tree, RULE_NEVER_MOVES, at, element.place, "'%.*s.%s' holds whatever moves",
                   WHOLE(element.text), part);
    return true;
}

// A row that holds anyway has nothing to say, unless it cannot hold: then the element is in the
// wrong place.
static void drop(Tree *tree, Value element, const char *name, Expr position)
{
    const char *kept = tr_tree_text(tree, text_of(name));
    System *s = tree->system;
    if (!tr_grow((void **)&s->dropped, &s->dropped_capacity, s->dropped_count + 1,
                 sizeof *s->dropped)) {
        tree->graph->failed = true;
        return;
    }
    const ModelFields *f = &tree->model->fields;
    const bool is_loop = tr_kind_find(tr_kind_of(TYPE_LOOPS), &f->loops, element.text) ||
                         tr_kind_find(tr_kind_of(TYPE_JOINTS), &f->joints, element.text);
    s->dropped[s->dropped_count++] = (struct Dropped){kept, is_loop};
    if (!position.id) return;
    const Expr off[] = {tr_tree_sample(tree, position, 0), tree->arm};
    if (tr_tree_decide(tree, RULE_CLOSED, off, element.place, "'%s' holds", name) == 0)
        tr_fail(tree->err, TR_INVALID, element.place,
                "'%s' can never hold: its error stays %.3g, whatever moves", name,
                fabs(tr_tree_value(tree, off[0])));
}

void tr_tree_row(Tree *tree, Value element, const char *part, Expr rate, Expr position, Expr drift,
                 Quantity reaction)
{
    char name[256];
    if (has_failed(tree->err)) return;
    snprintf(name, sizeof name, "%.*s.%s", WHOLE(element.text), part);
    if (tr_tree_soften(tree, name, rate)) return;
    if (tr_tree_holds_anyway(tree, element, part, rate)) {
        drop(tree, element, name, position);
        return;
    }
    Row *row = tr_tree_append_row(tree, name, rate, element.place);
    if (!row) return;
    row->position = position;
    if (drift.id) row->inner_bias = drift;
    const char *owner = tr_tree_text(tree, element.text);
    row->port = port_of(reaction, owner, tr_tree_text(tree, text_of(part)));
    row->port.row = tree->system->row_count - 1;
    if (reaction == QUANTITY_MOMENT) row->unit = tree->length, row->arm = tree->arm;
}

Vec tr_tree_drift(Tree *tree, Vec x)
{
    return vec(tr_tree_drift_of(tree, x.x), tr_tree_drift_of(tree, x.y),
               tr_tree_drift_of(tree, x.z));
}

void tr_tree_inner_rows(Tree *tree, Vec velocity, Vec bias, const Vec direction[3])
{
    System *s = tree->system;
    const Expr part[3] = {velocity.z, velocity.x, velocity.y}; // as nearly as can be the rows' own
    const Expr drift[3] = {bias.z, bias.x, bias.y};
    for (uint32_t k = 0; k < 3; k++) {
        Row *row = &s->rows[s->row_count - 3 + k];
        row->is_mixed = true;
        row->inner_first = s->row_count - 3;
        row->inner_slopes = tr_tree_slopes(tree, part[k], &row->inner_rest);
        row->inner_bias = drift[k];
        row->mix[0] = direction[k].z, row->mix[1] = direction[k].x, row->mix[2] = direction[k].y;
    }
}

static Expr larger(Expr a, Expr b) { return same(a, b) ? a : tr_build(OP_MAX, a, b, b); }

// The length that moments are divided by to be compared with forces: the longest arm there is.
static Expr longest_arm(Tree *tree)
{
    Graph *g = tree->graph;
    Expr most = zero(g);
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Body *body = tree->links[i].body;
        const Vec at = tree->links[i].at, to = tree->links[i].to,
                  com = tr_tree_vector(tree, body->com, "com");
        most = larger(most, dot(at, at));
        most = larger(most, dot(to, to));
        most = larger(most, dot(com, com));
    }
    const Contacts *contacts = &tree->model->fields.contacts;
    for (uint32_t i = 0; i < contacts->count && !has_failed(tree->err); i++) {
        const Vec at = tr_tree_vector(tree, contacts->at[i].at, "at");
        const Expr radius = tr_tree_formula(tree, contacts->at[i].radius);
        most = larger(most, add(dot(at, at), square(radius)));
    }
    return choose(less(zero(g), most), e_sqrt(most), one(g));
}

bool tr_tree_is_dropped(const Tree *tree, Text row)
{
    for (uint32_t i = 0; i < tree->system->dropped_count; i++)
        if (text_is(row, tree->system->dropped[i].name)) return true;
    return false;
}

// ---- alarms --------------------------------------------------------------------------------

void tr_tree_alarm(Tree *tree, Value element, const char *words, Expr margin, AlarmKind kind,
                   uint32_t latch)
{
    System *s = tree->system;
    char text[300];
    snprintf(text, sizeof text, words, WHOLE(element.text));
    const char *kept = tr_tree_text(tree, text_of(text));
    if (!tr_grow((void **)&s->alarms, &s->alarm_capacity, s->alarm_count + 1, sizeof *s->alarms)) {
        tree->graph->failed = true;
        return;
    }
    s->alarms[s->alarm_count++] =
        (Alarm){.words = kept, .margin = margin, .kind = kind, .latch = latch};
}

uint32_t tr_tree_find_row(const Tree *tree, Value element, const char *part)
{
    const Row *rows = tree->system->rows;
    uint32_t i = 0;
    while (i < tree->system->row_count && !(text_is(element.text, rows[i].port.owner) &&
                                            strcmp(rows[i].port.component, part) == 0))
        i++;
    return i;
}

Expr tr_tree_reaction(const Tree *tree, Value element, const char *part)
{
    const System *s = tree->system;
    const uint32_t row = tr_tree_find_row(tree, element, part);
    // of what sticks and slips one is zero
    Expr sum = row < s->row_count ? s->rows[row].symbol : zero(tree->graph);
    for (uint32_t i = 0; i < tree->slip_count && s->order != 1; i++)
        if (text_equal(tree->slips[i].contact->name.text, element.text) &&
            strcmp(tree->slips[i].part, part) == 0)
            sum = add(sum, tree->slips[i].force);
    return sum;
}

// ---- reactions -----------------------------------------------------------------------------

// Names of elements are one set, for results are called after them.
static void check_elements(Tree *tree)
{
    const ModelFields *f = &tree->model->fields;
    const struct {
        FieldType type;
        const void *list;
    } lists[] = {{TYPE_FORCES, &f->forces},       {TYPE_CONTACTS, &f->contacts},
                 {TYPE_LOOPS, &f->loops},         {TYPE_JOINTS, &f->joints},
                 {TYPE_COUPLINGS, &f->couplings}, {TYPE_CONSTRAINTS, &f->constraints}};
    enum { LISTS = sizeof lists / sizeof *lists };
    for (size_t i = 0; i < LISTS; i++) {
        const Values *list = lists[i].list; // the layout is shared
        const Kind *kind = tr_kind_of(lists[i].type);
        for (uint32_t k = 0; k < list->count && !has_failed(tree->err); k++) {
            const Value name =
                *(const Value *)(const void *)((const char *)list->at + k * kind->size);
            tr_tree_check_name(tree, name, "an element");
            for (size_t j = i + 1; j < LISTS; j++)
                if (tr_kind_find(tr_kind_of(lists[j].type), lists[j].list, name.text))
                    tr_fail(tree->err, TR_INVALID, name.place, "'%.*s' stands in '%s' and in '%s'",
                            TEXT(name.text), kind->title, tr_kind_of(lists[j].type)->title);
        }
    }
}

static void make_reaction_symbols(Tree *tree)
{
    char name[300];
    for (uint32_t i = 0; i < tree->system->row_count && !has_failed(tree->err); i++) {
        if (tree->system->rows[i].is_speed) continue;
        snprintf(name, sizeof name, "lambda.%s", tree->system->rows[i].name);
        const Expr symbol = tr_input(tree->system, name, TR_SOLVED, 0, tree->err);
        tree->system->rows[i].symbol = symbol;
        Input *input = tr_system_input(tree->system, symbol);
        if (input) input->port = tree->system->rows[i].port;
    }
}

// "front" or "front.lateral"
static bool is_meant(const Row *row, Text name)
{
    return !row->is_speed && (text_is(name, row->name) || text_is(name, row->port.owner));
}

// The first row at or behind `from` that is meant; the number of rows when there is none.
static uint32_t next_meant(const Tree *tree, Text name, uint32_t from)
{
    while (from < tree->system->row_count && !is_meant(&tree->system->rows[from], name)) from++;
    return from;
}

static void refuse_row(Tree *tree, Value name)
{
    if (tr_tree_is_dropped(tree, name.text)) {
        tr_fail(tree->err, TR_INVALID, name.place, "'%.*s' always holds, so it has no reaction",
                TEXT(name.text));
        return;
    }
    Suggestion nearest = {.wanted = name.text};
    for (uint32_t i = 0; i < tree->system->row_count; i++)
        tr_suggest(&nearest, text_of(tree->system->rows[i].name));
    for (uint32_t i = 0; i < tree->system->row_count; i++)
        if (!tree->system->rows[i].is_speed)
            tr_suggest(&nearest, text_of(tree->system->rows[i].port.owner));
    char hint[TR_HINT_SIZE];
    tr_fail(tree->err, TR_INVALID, name.place, "there is no element '%.*s' with a reaction%s",
            TEXT(name.text), tr_model_hint(tree->model, &nearest, hint));
}

// A formula about a reaction, which must not use what is still to be found.
static Expr reaction_formula(Tree *tree, Value value)
{
    const Expr x = tr_tree_formula(tree, value);
    const Input *solved = has_failed(tree->err) ? NULL : tr_system_uses(tree->system, x, TR_SOLVED);
    if (solved)
        tr_fail(tree->err, TR_INVALID, value.place, "this formula uses '%s', which it decides on",
                solved->name);
    return x;
}

// What is said about single reactions of a contact needs its own rows.
static void keep_own_rows(Tree *tree)
{
    System *s = tree->system;
    for (uint32_t i = 0; i < s->row_count; i++) {
        const Row *row = &s->rows[i];
        if (!row->is_mixed || (!row->leads && !row->tension.id && is_one(row->weight))) continue;
        for (uint32_t k = 0, first = row->inner_first; k < 3; k++)
            take_own_form(tree, &s->rows[first + k]);
    }
}

void tr_tree_reactions(Tree *tree)
{
    System *s = tree->system;
    const Reactions *r = &tree->model->fields.reactions;
    s->least_torques = text_is(r->minimise.text, "torques");
    if (!s->least_torques && r->minimise.given && !text_is(r->minimise.text, "reactions"))
        tr_fail(tree->err, TR_INVALID, r->minimise.place,
                "what is least are the reactions or the torques, not '%.*s'",
                TEXT(r->minimise.text));
    for (uint32_t i = 0; i < r->lead.count && !has_failed(tree->err); i++) {
        uint32_t k = next_meant(tree, r->lead.at[i].text, 0);
        if (k == s->row_count) refuse_row(tree, r->lead.at[i]);
        for (; k < s->row_count; k = next_meant(tree, r->lead.at[i].text, k + 1))
            s->rows[k].leads = true;
    }
    for (uint32_t i = 0; i < r->weights.count && !has_failed(tree->err); i++) {
        const Pair *pair = &r->weights.at[i];
        const Expr weight = reaction_formula(tree, pair->value);
        uint32_t k = next_meant(tree, pair->key.text, 0);
        if (k == s->row_count) refuse_row(tree, pair->key);
        if (!has_failed(tree->err) &&
            !tr_tree_is(tree, RULE_POSITIVE, weight, pair->value.place,
                        "the weight of '%.*s' is positive", WHOLE(pair->key.text)))
            tr_fail(tree->err, TR_INVALID, pair->value.place, "a weight is a positive constant");
        for (; k < s->row_count; k = next_meant(tree, pair->key.text, k + 1))
            s->rows[k].weight = weight;
    }
    for (uint32_t i = 0; i < r->tension.count && !has_failed(tree->err); i++) {
        const Pair *pair = &r->tension.at[i];
        const Expr tension = reaction_formula(tree, pair->value);
        const uint32_t k = next_meant(tree, pair->key.text, 0);
        if (k == s->row_count) refuse_row(tree, pair->key);
        if (has_failed(tree->err)) return;
        if (next_meant(tree, pair->key.text, k + 1) < s->row_count)
            tr_fail(tree->err, TR_INVALID, pair->key.place,
                    "'%.*s' has several rows: write '%s' or the like", TEXT(pair->key.text),
                    s->rows[k].name);
        s->rows[k].tension = tension;
    }
    keep_own_rows(tree);
}

// ---- all of them ---------------------------------------------------------------------------

void tr_tree_rows(Tree *tree)
{
    tree->constants_only = true;
    tree->arm = longest_arm(tree);
    tree->length = tr_tree_value(tree, tree->arm);
    know_verticals(tree);
    if (tree->inner != tree) know_verticals(tree->inner);
    tree->constants_only = false;
    check_elements(tree);
    if (!has_failed(tree->err)) tr_tree_contacts(tree);
    if (!has_failed(tree->err)) tr_tree_contact_places(tree);
    if (!has_failed(tree->err)) tr_tree_restraints(tree);
    tr_tree_relations(tree);
    make_reaction_symbols(tree);
    if (!has_failed(tree->err)) tr_flex_alarms(tree);
    const bool has_forces = tree->system->order != 1;
    if (!has_failed(tree->err) && has_forces) tr_tree_latches(tree);
    if (!has_failed(tree->err) && has_forces) tr_tree_slip_laws(tree);
    if (!has_failed(tree->err) && has_forces) tr_tree_restraint_laws(tree);
    if (!has_failed(tree->err)) tr_tree_contact_forces(tree);
    if (has_forces) tr_tree_watch_loads(tree);
}
