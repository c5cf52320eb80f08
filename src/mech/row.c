// SPDX-License-Identifier: Apache-2.0
// The constraints as rows on the velocities, G v + g = 0 [M 10, B 2], whatever element they come
// from; couplings and formulas, which are rows as they stand; and what the model says about
// reactions and independent speeds (T40-T42, T53, T54).
#include "expr/derivative.h"
#include "expr/walk.h"
#include "mech/tree.h"

#include <stdio.h>
#include <stdlib.h>

// ---- one row -------------------------------------------------------------------------------

// d/dt of x while velocities stay the same: q' = N v, t' = 1
static Expr drift_of(Tree *tree, Expr x)
{
    const System *s = tree->system;
    const uint32_t n = tree->position_count + 1 + tree->known_count;
    Expr *symbols = calloc(2 * (size_t)n, sizeof *symbols), drift;
    if (!symbols) {
        tree->graph->failed = true;
        return expr_at(tree->graph, 0);
    }
    Expr *changes = symbols + n;
    uint32_t k = 0;
    for (; k < tree->position_count; k++) {
        symbols[k] = tree->positions[k].symbol;
        const Input *input = tr_system_input(s, symbols[k]);
        if (input) changes[k] = input->rate;
    }
    symbols[k] = tree->t, changes[k++] = one(tree->graph);
    for (uint32_t i = 0; i < tree->known_count; i++, k++)
        symbols[k] = tree->known[i], changes[k] = tree->known_rate[i];
    tr_forward(tree->graph, &x, 1, symbols, changes, n, &drift);
    free(symbols);
    return drift;
}

// The ground's normal in the axes of a root that turns freely: n' = n x W
static void know_verticals(Tree *tree)
{
    Expr *room = tr_arena_alloc(&tree->graph->arena, 6 * (size_t)tree->link_count, sizeof *room);
    if (!room) {
        tree->graph->failed = true;
        return;
    }
    tree->known = room, tree->known_rate = room + 3 * (size_t)tree->link_count;
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        if (link->parent != WORLD || link->position_count < 4) continue;
        const Vec n = apply_transposed(link->world.R, column(tree->ground.R, 2));
        const Vec rate = cross(n, link->v.W);
        for (int k = 0; k < 3; k++, tree->known_count++) {
            tree->known[tree->known_count] = vec_at(n, k);
            tree->known_rate[tree->known_count] = vec_at(rate, k);
        }
    }
}

// G and g of G v + g
const Expr *tr_tree_slopes(Tree *tree, Expr rate, Expr *rest)
{
    const uint32_t n = tree->velocity_count;
    Expr *v = calloc(2 * (size_t)n + 1, sizeof *v);
    Expr *slopes = tr_arena_alloc(&tree->graph->arena, n, sizeof *slopes);
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

// The row as it stands, by inner velocities: G_u = G_v C
static void take_own_form(Tree *tree, Row *row)
{
    const System *s = tree->system;
    row->is_mixed = false;
    row->inner_slopes = row->slopes, row->inner_rest = row->rest, row->inner_bias = row->bias;
    if (!s->turned_count || !row->slopes) return;
    Expr *slopes = tr_arena_alloc(&tree->graph->arena, tree->velocity_count, sizeof *slopes);
    if (!slopes) {
        tree->graph->failed = true;
        return;
    }
    memcpy(slopes, row->slopes, tree->velocity_count * sizeof *slopes);
    tr_tree_turn_in(tree, row->slopes, slopes);
    row->inner_slopes = slopes;
}

static Row *push_row(Tree *tree, const char *name, Expr rate, Place place)
{
    System *s = tree->system;
    const char *kept = tr_arena_text(&tree->graph->arena, name, strlen(name));
    if (!kept || !tr_grow((void **)&s->rows, &s->row_capacity, s->row_count + 1, sizeof *s->rows)) {
        tree->graph->failed = true;
        return NULL;
    }
    Row *row = &s->rows[s->row_count++];
    *row = (Row){.name = kept,
                 .place = place,
                 .rate = rate,
                 .bias = drift_of(tree, rate),
                 .unit = 1,
                 .weight = one(tree->graph)};
    row->slopes = tr_tree_slopes(tree, rate, &row->rest);
    take_own_form(tree, row);
    return row;
}

// Whether a velocity is zero whatever moves: for rounding may leave what is not quite nothing, it
// is taken at some states, with parameters as they are.
bool tr_tree_holds_anyway(Tree *tree, Expr rate)
{
    if (is_zero(rate)) return true;
    for (uint32_t state = 0; state < 3; state++) {
        const double value = tr_tree_sample(tree, rate, state);
        if (!(fabs(value) < 1e-13)) return false;
    }
    return true;
}

// A row that holds anyway has nothing to say, unless it cannot hold: then the element is in the
// wrong place.
static void drop(Tree *tree, Value element, const char *name, Expr position)
{
    const char *kept = tr_arena_text(&tree->graph->arena, name, strlen(name));
    System *s = tree->system;
    if (!kept || !tr_grow((void **)&s->dropped, &s->dropped_capacity, s->dropped_count + 1,
                          sizeof *s->dropped)) {
        tree->graph->failed = true;
        return;
    }
    const ModelFields *f = &tree->model->fields;
    const bool is_loop = tr_kind_find(tr_kind_of(TYPE_LOOPS), &f->loops, element.text) ||
                         tr_kind_find(tr_kind_of(TYPE_JOINTS), &f->joints, element.text);
    s->dropped[s->dropped_count++] = (struct Dropped){kept, is_loop};
    const double off = position.id ? tr_tree_sample(tree, position, 0) : 0;
    if (!(fabs(off) <= 1e-9 * fmax(1, tree->length)))
        tr_fail(tree->err, TR_INVALID, element.place,
                "'%s' can never hold: it stays %.3g off, wherever things move", name, fabs(off));
}

void tr_tree_row(Tree *tree, Value element, const char *part, Expr rate, Expr position, bool moment)
{
    char name[256];
    if (has_failed(tree->err)) return;
    snprintf(name, sizeof name, "%.*s.%s", WHOLE(element.text), part);
    if (tr_tree_holds_anyway(tree, rate)) {
        drop(tree, element, name, position);
        return;
    }
    Row *row = push_row(tree, name, rate, element.place);
    if (!row) return;
    row->position = position;
    if (moment) row->unit = tree->length;
}

Vec tr_tree_drift(Tree *tree, Vec x)
{
    return vec(drift_of(tree, x.x), drift_of(tree, x.y), drift_of(tree, x.z));
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

// The length that moments are divided by to be compared with forces: the longest arm there is.
static double longest_arm(Tree *tree)
{
    double most = 0;
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Body *body = tree->links[i].body;
        const Vec at = tree->links[i].at, to = tree->links[i].to,
                  com = tr_tree_vector(tree, body->com, "com");
        most = fmax(most, tr_tree_value(tree, dot(at, at)));
        most = fmax(most, tr_tree_value(tree, dot(to, to)));
        most = fmax(most, tr_tree_value(tree, dot(com, com)));
    }
    const Contacts *contacts = &tree->model->fields.contacts;
    for (uint32_t i = 0; i < contacts->count && !has_failed(tree->err); i++) {
        const Vec at = tr_tree_vector(tree, contacts->at[i].at, "at");
        const Expr radius = tr_tree_formula(tree, contacts->at[i].radius);
        most = fmax(most, tr_tree_value(tree, add(dot(at, at), square(radius))));
    }
    return most > 0 ? sqrt(most) : 1;
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
    const char *kept = tr_arena_text(&tree->graph->arena, text, strlen(text));
    if (!kept ||
        !tr_grow((void **)&s->alarms, &s->alarm_capacity, s->alarm_count + 1, sizeof *s->alarms)) {
        tree->graph->failed = true;
        return;
    }
    s->alarms[s->alarm_count++] = (Alarm){kept, margin, kind, latch};
}

Expr tr_tree_reaction(const Tree *tree, Value element, const char *part)
{
    char name[256];
    snprintf(name, sizeof name, "%.*s.%s", WHOLE(element.text), part);
    Expr sum = zero(tree->graph); // of what sticks and slips one is zero
    for (uint32_t i = 0; i < tree->system->row_count; i++)
        if (strcmp(tree->system->rows[i].name, name) == 0) sum = tree->system->rows[i].symbol;
    for (uint32_t i = 0; i < tree->slip_count; i++)
        if (text_equal(tree->slips[i].contact->name.text, element.text) &&
            strcmp(tree->slips[i].part, part) == 0)
            sum = add(sum, tree->slips[i].force);
    return sum;
}

// ---- couplings -----------------------------------------------------------------------------

static Expr coordinate_called(Tree *tree, Value name)
{
    for (uint32_t k = 0; k < tree->position_count; k++)
        if (text_is(name.text, tree->positions[k].name)) return tree->positions[k].symbol;
    if (tr_tree_is_cut(tree, name.text)) tr_tree_refuse_cut(tree, name);
    Suggestion nearest = {.wanted = name.text};
    for (uint32_t k = 0; k < tree->position_count; k++)
        tr_suggest(&nearest, text_of(tree->positions[k].name));
    char hint[TR_HINT_SIZE];
    tr_fail(tree->err, TR_INVALID, name.place, "there is no coordinate '%.*s'%s", TEXT(name.text),
            tr_hint(&nearest, hint));
    return expr_at(tree->graph, 0);
}

// Whether a coordinate is an angle: then what drives it is a moment.
static bool is_angle(const Tree *tree, Expr symbol)
{
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Link *link = &tree->links[i];
        for (uint32_t k = 0; k < link->position_count; k++)
            if (tree->positions[link->position + k].symbol.id == symbol.id)
                return link->velocity_count == 1 ? is_vec_zero(tree->velocities[link->velocity].S.V)
                                                 : k >= 2 && link->position_count == 3;
    }
    return false;
}

static void make_coupling(Tree *tree, const Coupling *coupling)
{
    const Value name = coupling->name;
    if (!coupling->coordinate.given || !coupling->equals.count)
        tr_fail(tree->err, TR_INVALID, name.place,
                "the coupling '%.*s' needs a coordinate and what it equals, as in {coordinate: "
                "wheel, equals: {motor: 1/50}}",
                TEXT(name.text));
    if (has_failed(tree->err)) return;
    const Expr follower = coordinate_called(tree, coupling->coordinate);
    Expr phi = follower;
    for (uint32_t i = 0; i < coupling->equals.count && !has_failed(tree->err); i++) {
        const Pair *pair = &coupling->equals.at[i];
        const Expr other = coordinate_called(tree, pair->key);
        if (!has_failed(tree->err) && other.id == follower.id)
            tr_fail(tree->err, TR_INVALID, pair->key.place, "'%.*s' couples '%.*s' to itself",
                    TEXT(name.text), TEXT(pair->key.text));
        tree->constants_only = true;
        const Expr ratio = tr_tree_formula(tree, pair->value);
        tr_tree_check_finite(tree, pair->value, "ratio", ratio);
        tree->constants_only = false;
        phi = sub(phi, mul(ratio, other));
    }
    const Expr offset = tr_tree_formula(tree, coupling->offset);
    if (has_failed(tree->err)) return;
    tr_tree_check_time_only(tree, coupling->offset, offset, "an offset");
    phi = sub(phi, offset);
    tr_tree_row(tree, name, "coupling", drift_of(tree, phi), phi, is_angle(tree, follower));
}

// ---- formulas ------------------------------------------------------------------------------

static const Input *depends_on_velocity(Tree *tree, Expr x)
{
    return tr_system_uses(tree->system, x, TR_VELOCITY);
}

// The degree of an operation in the velocities, from those of its operands; more than 1 is 2.
static uint32_t degree_of(Op op, const uint32_t *d)
{
    uint32_t degree;
    switch (op) {
    case OP_ADD:
    case OP_SUB: degree = d[0] > d[1] ? d[0] : d[1]; break;
    case OP_NEG: degree = d[0]; break;
    case OP_MUL: degree = d[0] + d[1]; break;
    case OP_DIV: degree = d[1] ? 2 : d[0]; break;
    case OP_SELECT: degree = d[0] ? 2 : d[1] > d[2] ? d[1] : d[2]; break;
    default: degree = d[0] || d[1] || d[2] ? 2 : 0; break;
    }
    return degree > 2 ? 2 : degree;
}

static bool is_linear(Tree *tree, Expr rate)
{
    Reach reach;
    uint32_t *degree =
        tr_reach(tree->graph, &rate, 1, &reach) ? tr_reach_map(tree->graph, &reach) : NULL;
    for (uint32_t k = 0; degree && k < reach.count; k++) {
        const uint32_t id = reach.ids[k];
        const Node *node = &tree->graph->nodes[id];
        const Input *input = tr_system_input(tree->system, expr_at(tree->graph, id));
        uint32_t d[3] = {0};
        for (int i = 0; i < tr_op[node->op].operands; i++) d[i] = degree[node_operand(node, i)];
        degree[id] = input ? input->kind == TR_VELOCITY : degree_of((Op)node->op, d);
    }
    const bool linear = degree && degree[rate.id] == 1;
    tr_reach_free(&reach);
    free(degree);
    return linear;
}

static void constrain_position(Tree *tree, const Constraint *c)
{
    const Expr phi = tr_tree_formula(tree, c->position);
    if (has_failed(tree->err)) return;
    const Input *velocity = depends_on_velocity(tree, phi);
    if (velocity)
        tr_fail(tree->err, TR_INVALID, c->position.place,
                "a formula of positions, but it uses '%s': that belongs in 'rate'", velocity->name);
    else if (!tr_system_uses(tree->system, phi, TR_POSITION))
        tr_fail(tree->err, TR_INVALID, c->position.place,
                "this formula has no coordinate in it, so it constrains nothing");
    else
        tr_tree_row(tree, c->name, "position", drift_of(tree, phi), phi, false);
}

static void constrain_rate(Tree *tree, const Constraint *c)
{
    const Expr rate = tr_tree_formula(tree, c->rate);
    if (has_failed(tree->err)) return;
    if (!depends_on_velocity(tree, rate))
        tr_fail(tree->err, TR_INVALID, c->rate.place,
                "this formula has no rate in it, so it constrains no motion");
    else if (!is_linear(tree, rate))
        tr_fail(tree->err, TR_INVALID, c->rate.place,
                "a constraint on rates must be linear in them");
    else
        tr_tree_row(tree, c->name, "rate", rate, expr_at(tree->graph, 0), false);
}

static void make_constraint(Tree *tree, const Constraint *c)
{
    if (c->position.given == c->rate.given)
        tr_fail(
            tree->err, TR_INVALID, c->name.place,
            "the constraint '%.*s' is a formula that stays zero: {position: ...} or {rate: ...}",
            TEXT(c->name.text));
    else if (c->position.given)
        constrain_position(tree, c);
    else
        constrain_rate(tree, c);
}

// ---- independent speeds --------------------------------------------------------------------

static void make_speed(Tree *tree, Value item, uint32_t number_in_list)
{
    const Expr rate = tr_tree_formula(tree, item);
    if (has_failed(tree->err)) return;
    Input *input = tr_system_input(tree->system, rate);
    if (input && input->kind == TR_VELOCITY) {
        input->preferred = true;
        return;
    }
    if (!depends_on_velocity(tree, rate) || !is_linear(tree, rate)) {
        tr_fail(tree->err, TR_INVALID, item.place,
                "independent are velocities, or formulas that are linear in them%s",
                input && input->kind == TR_POSITION ? ": write d(...) of a coordinate" : "");
        return;
    }
    char name[300], text[256];
    snprintf(text, sizeof text, "%.*s", WHOLE(item.text));
    Row *row = push_row(tree, text, rate, item.place);
    if (!row) return;
    row->is_speed = true;
    if (tr_formula_is_name(item.text))
        snprintf(name, sizeof name, "speed.%s", text);
    else
        snprintf(name, sizeof name, "speed.formula%u", number_in_list + 1);
    tr_error why = {0};
    const Expr symbol = tr_input(tree->system, name, TR_SPEED, 0, &why);
    tr_tree_refuse_name(tree, item, &why);
    tree->system->rows[tree->system->row_count - 1].symbol = symbol;
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
            if (!tr_formula_is_name(name.text) || memchr(name.text.at, '.', name.text.length))
                tr_fail(tree->err, TR_INVALID, name.place,
                        "'%.*s' is not a name for an element: letters, digits and _",
                        TEXT(name.text));
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
    }
}

// "front" or "front.lateral"
static bool is_meant(const Row *row, Text name)
{
    if (row->is_speed) return false;
    const size_t whole = strlen(row->name);
    const size_t element = (size_t)(strrchr(row->name, '.') - row->name);
    return (name.length == whole || name.length == element) &&
           memcmp(row->name, name.at, name.length) == 0;
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
        tr_fail(tree->err, TR_INVALID, name.place,
                "'%.*s' holds anyway, so it has no reaction to speak of", TEXT(name.text));
        return;
    }
    Suggestion nearest = {.wanted = name.text};
    for (uint32_t i = 0; i < tree->system->row_count; i++)
        tr_suggest(&nearest, text_of(tree->system->rows[i].name));
    for (uint32_t i = 0; i < tree->system->row_count; i++) {
        const char *row = tree->system->rows[i].name, *point = strrchr(row, '.');
        if (point) tr_suggest(&nearest, (Text){row, (size_t)(point - row)});
    }
    char hint[TR_HINT_SIZE];
    tr_fail(tree->err, TR_INVALID, name.place, "there is no element '%.*s' with a reaction%s",
            TEXT(name.text), tr_hint(&nearest, hint));
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
        const double value = has_failed(tree->err) ? 1 : tr_tree_value(tree, weight);
        if (!(value > 0) || !isfinite(value))
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
    const ModelFields *f = &tree->model->fields;
    tree->constants_only = true;
    tree->length = longest_arm(tree);
    know_verticals(tree);
    if (tree->inner != tree) know_verticals(tree->inner);
    tree->constants_only = false;
    check_elements(tree);
    if (!has_failed(tree->err)) tr_tree_contacts(tree);
    for (uint32_t i = 0; i < f->couplings.count && !has_failed(tree->err); i++)
        make_coupling(tree, &f->couplings.at[i]);
    for (uint32_t i = 0; i < f->constraints.count && !has_failed(tree->err); i++)
        make_constraint(tree, &f->constraints.at[i]);
    for (uint32_t i = 0; i < f->independent.count && !has_failed(tree->err); i++)
        make_speed(tree, f->independent.at[i], i);
    make_reaction_symbols(tree);
    if (!has_failed(tree->err)) tr_flex_alarms(tree);
    if (!has_failed(tree->err)) tr_tree_latches(tree);
    if (!has_failed(tree->err)) tr_tree_slip_laws(tree);
    if (!has_failed(tree->err)) tr_tree_contact_names(tree);
}
