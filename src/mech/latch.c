// SPDX-License-Identifier: Apache-2.0
// Contacts push and hold only so much. What a run does where one would pull, or take more friction
// than there is: end, warn, or go on with it open or slipping (T58).
#include "mech/meet.h"

#include <stdio.h>
#include <string.h>

// A symbol that a run sets to 1 or 0
static Expr mode_symbol(Tree *tree, const Contact *contact, const char *what)
{
    char name[300];
    snprintf(name, sizeof name, "contact.%.*s.%s", WHOLE(contact->name.text), what);
    const Expr symbol = tr_input(tree->system, name, TR_MODE, 0, tree->err);
    tr_tree_port(tree, symbol, QUANTITY_MODE, contact->name.text, what);
    return symbol;
}

uint32_t tr_tree_add_latch(Tree *tree, Latch latch)
{
    System *s = tree->system;
    if (!tr_grow((void **)&s->latches, &s->latch_capacity, s->latch_count + 1,
                 sizeof *s->latches)) {
        tree->graph->failed = true;
        return NO_LATCH;
    }
    s->latches[s->latch_count] = latch;
    return s->latch_count++;
}

static bool sticks(const Tree *tree, const Contact *contact, uint32_t row)
{
    for (uint32_t i = 0; i < tree->slip_count; i++)
        if (tree->slips[i].contact == contact && tree->slips[i].sticks && tree->slips[i].row == row)
            return true;
    return false;
}

static void add_rows(Tree *tree, const Contact *contact, Latch *latch)
{
    for (int k = 0; k < 3; k++) {
        const uint32_t row = tr_tree_find_row(tree, contact->name, tr_contact_part(contact, k)),
                       at = latch->row_count;
        if (row == tree->system->row_count) continue;
        latch->rows[latch->row_count++] = row;
        latch->is_normal[at] = k == 0;
        latch->sticks[at] = sticks(tree, contact, row);
        latch->slips = latch->slips || latch->sticks[at];
    }
}

// Friction that is taken up to its limit stays what it was when slip begins.
static void add_headings(Tree *tree, const Contact *contact, Latch *latch)
{
    for (uint32_t k = 0; k < latch->row_count; k++) {
        char name[60];
        snprintf(name, sizeof name, "%s_heading",
                 tree->system->rows[latch->rows[k]].port.component);
        if (latch->sticks[k]) latch->heading[k] = mode_symbol(tree, contact, name);
    }
}

// How much of the approach comes back; `speed` is that of the approach.
static Expr restitution_of(Tree *tree, const Contact *contact, const Latch *latch)
{
    const Local names[] = {{"speed", neg(tree->system->rows[latch->rows[0]].rate)}};
    const Expr e = tr_tree_formula_with(tree, contact->restitution, names, 1);
    if (!has_failed(tree->err) && tr_tree_is_constant(e) &&
        !tr_tree_is(tree, RULE_SHARE, e, contact->restitution.place,
                    "the restitution of '%.*s' is between 0 and 1", WHOLE(contact->name.text)))
        tr_fail(tree->err, TR_INVALID, contact->restitution.place,
                "a restitution is between 0 and 1");
    return e;
}

static void make_latch(Tree *tree, const Touch *touch)
{
    const Contact *contact = touch->contact;
    const uint32_t added =
        tr_tree_add_latch(tree, (Latch){.name = tr_tree_text(tree, contact->name.text),
                                        .opens = is_true(contact->unilateral)});
    if (added == NO_LATCH) return;
    Latch *latch = &tree->system->latches[added];
    add_rows(tree, contact, latch);
    latch->gap = touch->gap;
    if (latch->opens && !(latch->row_count && latch->is_normal[0]))
        tr_fail(tree->err, TR_INVALID, contact->unilateral.place,
                "'%.*s' has no normal force: it cannot open", TEXT(contact->name.text));
    if (is_true(contact->stick) && !latch->slips)
        tr_fail(tree->err, TR_INVALID, contact->stick.place, "nothing of '%.*s' can stick",
                TEXT(contact->name.text));
    if (has_failed(tree->err)) return;
    latch->starts_open = is_true(contact->open);
    const Expr closed = mode_symbol(tree, contact, "closed"),
               slipping = mode_symbol(tree, contact, "slipping");
    latch->closed = closed, latch->slipping = slipping;
    add_headings(tree, contact, latch);
    latch->restitution = latch->opens ? restitution_of(tree, contact, latch) : zero(tree->graph);
    for (uint32_t i = 0; i < tree->slip_count; i++)
        if (tree->slips[i].contact == contact) tree->slips[i].latch = tree->system->latch_count - 1;
}

// Whatever comes of it: friction below 0 would push along.
static void check_friction(Tree *tree, const Contact *contact)
{
    const Value value = contact->friction;
    const Expr mu = value.given ? tr_tree_formula(tree, value) : zero(tree->graph);
    if (has_failed(tree->err) || !value.given) return;
    if (!tr_tree_is_constant(mu))
        tr_tree_alarm(tree, contact->name, "the friction of '%.*s' is negative", mu, ALARM_WARNS,
                      NO_LATCH);
    else if (!tr_tree_is(tree, RULE_NOT_NEGATIVE, mu, value.place,
                         "the friction of '%.*s' is not negative", WHOLE(contact->name.text)))
        tr_fail(tree->err, TR_INVALID, value.place, "the friction of '%.*s' is negative",
                TEXT(contact->name.text));
}

static void check_words(Tree *tree, const Contact *contact)
{
    const Value about_opening[] = {contact->open, contact->restitution};
    for (int i = 0; i < 2; i++)
        if (about_opening[i].given && !is_true(contact->unilateral))
            tr_fail(tree->err, TR_INVALID, about_opening[i].place,
                    "only a contact with unilateral: true opens and closes");
    if (contact->stiction.given && !is_true(contact->stick))
        tr_fail(tree->err, TR_INVALID, contact->stiction.place,
                "only a contact with stick: true has stiction");
}

static uint32_t latch_called(const System *s, Text contact)
{
    for (uint32_t i = 0; i < s->latch_count; i++)
        if (text_is(contact, s->latches[i].name)) return i;
    return NO_LATCH;
}

void tr_tree_latches(Tree *tree)
{
    for (uint32_t i = 0; i < tree->touch_count && !has_failed(tree->err); i++) {
        const Contact *contact = tree->touches[i].contact;
        if (!contact) continue;
        check_words(tree, contact);
        if (is_true(contact->unilateral) || is_true(contact->stick))
            make_latch(tree, &tree->touches[i]);
    }
    tr_tree_restraint_latches(tree);
    System *s = tree->system;
    for (uint32_t i = 0; i < s->alarm_count; i++)
        if (s->alarms[i].kind == ALARM_HOLLOW)
            s->alarms[i].latch = latch_called(s, text_of(s->touchings[s->alarms[i].touching].name));
    LatchMode *modes = tr_tree_room(tree, tree->system->latch_count + 1u, sizeof *modes);
    if (!modes) return;
    tr_latch_start(tree->system, modes);
    tr_system_latch(tree->system, modes);
}

// ---- alarms --------------------------------------------------------------------------------

static uint32_t latch_of(const Tree *tree, const Contact *contact)
{
    return latch_called(tree->system, contact->name.text);
}

// It slips when sticking takes more than mu N, and sticks when it hardly slips, or turns back
// before it really did.                                                                  (T58)
static void watch_sticking(Tree *tree, const Contact *contact, uint32_t latch, Expr friction)
{
    const Expr creep = tr_tree_formula(tree, contact->creep), three = number(tree->graph, 3);
    Expr taken = zero(tree->graph), slip = neg(square(add(creep, creep))),
         ahead = quotient(creep, three);
    for (uint32_t i = 0; i < tree->slip_count; i++) {
        const Slip *own = &tree->slips[i];
        if (own->contact != contact || !own->sticks) continue;
        taken = add(taken, square(tree->system->rows[own->row].symbol));
        slip = add(slip, square(own->rate));
        ahead = add(ahead, mul(own->rate, tr_slip_heading(tree, own)));
    }
    tr_tree_alarm(tree, contact->name, "'%.*s' begins to slip", sub(friction, e_sqrt(taken)),
                  ALARM_SLIPS, latch);
    tr_tree_alarm(tree, contact->name, "'%.*s' holds", slip, ALARM_STICKS, latch);
    tr_tree_alarm(tree, contact->name, "'%.*s' holds", tr_build(OP_MAX, slip, ahead, ahead),
                  ALARM_RETURNS, latch);
}

// Less than friction would not let it slip: what holds it would be more at once.
static Expr stiction_of(Tree *tree, const Contact *contact, Expr friction)
{
    if (!contact->stiction.given) return friction;
    const Expr mu = tr_tree_constant(tree, contact->stiction, "stiction");
    if (!has_failed(tree->err) &&
        !tr_tree_is(tree, RULE_NOT_NEGATIVE, sub(mu, friction), contact->stiction.place,
                    "the stiction of '%.*s' is at least its friction", WHOLE(contact->name.text)))
        tr_fail(tree->err, TR_INVALID, contact->stiction.place, "stiction is at least friction");
    return mu;
}

static void watch_friction(Tree *tree, const Contact *contact, uint32_t latch)
{
    if (!contact->friction.given) return;
    const bool slips = tr_slips(contact->longitudinal) || tr_slips(contact->lateral);
    const bool holds = latch != NO_LATCH && tree->system->latches[latch].slips;
    if (slips && !holds) return; // friction that slips is what there is
    const Expr mu = tr_tree_constant(tree, contact->friction, "friction");
    const Expr N = tr_tree_normal_force(tree, contact, contact->friction.place);
    if (has_failed(tree->err)) return;
    if (holds) {
        Latch *own = &tree->system->latches[latch];
        own->friction = mu, own->first = tr_slip_first(mu);
        own->stiction = stiction_of(tree, contact, mu);
        if (contact->load.given) own->load = N;
        watch_sticking(tree, contact, latch, mul(own->stiction, N));
        return;
    }
    const Expr l = tr_tree_reaction(tree, contact->name, tr_contact_part(contact, 1)),
               s = tr_tree_reaction(tree, contact->name, tr_contact_part(contact, 2));
    tr_tree_alarm(tree, contact->name, "'%.*s' exceeds the available friction",
                  sub(mul(mu, N), e_sqrt(add(square(l), square(s)))), ALARM_WARNS, NO_LATCH);
}

// Negative when it is through and goes on: one that just left is not, whatever rounding says.
static Expr clearance(const Tree *tree, const Touch *touch, uint32_t latch)
{
    const Expr rate = tree->system->rows[tree->system->latches[latch].rows[0]].rate;
    return tr_build(OP_MAX, touch->gap, rate, rate);
}

// The load must push, and friction must suffice.                                         (T58)
static void watch_load(Tree *tree, const Touch *touch)
{
    const Contact *contact = touch->contact;
    const uint32_t latch = latch_of(tree, contact);
    const Expr N = tr_tree_reaction(tree, contact->name, "normal");
    if (!is_zero(N) && is_true(contact->unilateral)) {
        tr_tree_alarm(tree, contact->name, "'%.*s' lifts off", N, ALARM_OPENS, latch);
        tr_tree_alarm(tree, contact->name, "'%.*s' touches", clearance(tree, touch, latch),
                      ALARM_TOUCHES, latch);
    } else if (!is_zero(N) && contact->unilateral.given)
        tr_tree_alarm(tree, contact->name,
                      "the normal force of '%.*s' turns negative: it would lift off", N,
                      ALARM_WARNS, NO_LATCH);
    else if (!is_zero(N))
        tr_tree_alarm(tree, contact->name, "'%.*s' lifts off (see unilateral)", N, ALARM_STOPS,
                      NO_LATCH);
    if (!is_zero(N) || latch != NO_LATCH) watch_friction(tree, contact, latch);
}

void tr_tree_watch_loads(Tree *tree)
{
    for (uint32_t i = 0; i < tree->touch_count && !has_failed(tree->err); i++) {
        if (!tree->touches[i].is_recorded || tree->graph->failed) continue;
        check_friction(tree, tree->touches[i].contact);
        watch_load(tree, &tree->touches[i]);
    }
}
