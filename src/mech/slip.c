// SPDX-License-Identifier: Apache-2.0
// Wheels that slip: in place of a row, a force along it that depends on how it slips. It acts on
// the body, and the other way on what carries the plane:   Q += G^T F, with G the row's slopes.
//
//   slip        velocity of the touching point along the direction [m/s]
//   ahead       speed of the wheel's middle along the plane, forward [m/s]
//   slip_angle  atan2(-lateral slip, |ahead|) [rad]
//   camber      how far the wheel leans to the right [rad]
//   normal      the normal force: a reaction, solved together with the rest
#include "mech/tree.h"

#include <stdio.h>
#include <string.h>

#define SOFT 4e-4

typedef struct Law {
    const char *name, *fields; // of the contact that it uses
    Expr (*force)(Tree *tree, Slip *slip);
} Law;

// ---- what laws are made of -----------------------------------------------------------------

// A field of the contact that its law needs
static Expr needed(Tree *tree, const Slip *slip, Value value, const char *key)
{
    if (!value.given)
        tr_fail(tree->err, TR_INVALID, slip->law.place, "the %.*s law of '%.*s' needs '%s'",
                TEXT(slip->law.text), TEXT(slip->contact->name.text), key);
    return has_failed(tree->err) ? expr_at(tree->graph, 0) : tr_tree_formula(tree, value);
}

// The reaction, or in the plane what the model says
Expr tr_tree_normal_force(Tree *tree, const Contact *contact, Place place)
{
    if (contact->load.given) return tr_tree_formula(tree, contact->load);
    const Expr N = tr_tree_reaction(tree, contact->name, "normal");
    if (is_zero(N))
        tr_fail(tree->err, TR_INVALID, place,
                "'%.*s' has no normal force in the plane: give its 'load'",
                TEXT(contact->name.text));
    return N;
}

// |x|, smooth within a creep
static Expr softly(Tree *tree, const Slip *slip, Expr square_x)
{
    const Expr creep = tr_tree_formula(tree, slip->contact->creep);
    return e_sqrt(add(square_x, square(creep)));
}

static Expr slip_angle(const Slip *slip)
{
    return tr_build(OP_ATAN2, neg(slip->both[1]), e_abs(slip->ahead), slip->ahead);
}

// ---- one function per law ------------------------------------------------------------------

static Expr law_free(Tree *tree, Slip *slip)
{
    (void)slip;
    return zero(tree->graph);
}

static Expr law_viscous(Tree *tree, Slip *slip)
{
    return neg(mul(needed(tree, slip, slip->contact->viscosity, "viscosity"), slip->rate));
}

bool tr_is_coulomb(Value law) { return text_is(law.text, "coulomb"); }

// Where to a contact that sticks now and then began to slip along this direction; of others 0
Expr tr_slip_heading(const Tree *tree, const Slip *slip)
{
    if (slip->latch == NO_LATCH) return zero(tree->graph);
    const Latch *latch = &tree->system->latches[slip->latch];
    for (uint32_t k = 0; k < latch->row_count; k++)
        if (latch->rows[k] == slip->row && latch->heading[k].id) return latch->heading[k];
    return zero(tree->graph);
}

// -mu N v / |v|, with v what slips under this law, softly within a creep c. What began to slip
// towards the unit vector h, for v = 0, has all friction against it from there on:
//   -mu N u / sqrt(u^2 + c^2 (1 - (1 - SOFT) h^2)),   u = v + c h / (1 + v^2 / c^2)
static Expr law_coulomb(Tree *tree, Slip *slip)
{
    const Contact *contact = slip->contact;
    const Expr mu = needed(tree, slip, contact->friction, "friction");
    const Expr c = tr_tree_formula(tree, contact->creep);
    if (has_failed(tree->err)) return mu;
    const Value both[] = {contact->longitudinal, contact->lateral};
    Expr square_v = zero(tree->graph), square_u = square_v, u = square_v;
    for (int k = 0; k < 2; k++)
        if (tr_is_coulomb(both[k])) square_v = add(square_v, square(slip->both[k]));
    const Expr near = quotient(c, add(one(tree->graph), quotient(square_v, square(c))));
    Expr softness = number(tree->graph, 1);
    for (uint32_t i = 0; i < tree->slip_count; i++) {
        const Slip *other = &tree->slips[i];
        if (other->contact != contact || !tr_is_coulomb(other->law)) continue;
        const Expr h = tr_slip_heading(tree, other), own_u = add(other->rate, mul(near, h));
        if (strcmp(other->part, slip->part) == 0) u = own_u;
        square_u = add(square_u, square(own_u));
        softness = sub(softness, mul(number(tree->graph, 1 - SOFT), square(h)));
    }
    const Expr size = e_sqrt(add(square_u, mul(softness, square(c))));
    const Expr N = tr_tree_normal_force(tree, slip->contact, slip->law.place);
    return neg(mul(mul(mu, N), quotient(u, size)));
}

// The deflection u of a tyre that lags behind its slip by the length sigma:
//   u' = -slip - |ahead| u / sigma,   u / sigma -> -slip / |ahead|
static Expr lagging(Tree *tree, const Slip *slip, Expr sigma)
{
    char name[300];
    snprintf(name, sizeof name, "contact.%.*s.%s_deflection", WHOLE(slip->contact->name.text),
             slip->part);
    const Expr u = tr_input(tree->system, name, TR_POSITION, 0, tree->err);
    const Expr fade = quotient(mul(e_abs(slip->ahead), u), sigma);
    tr_rate_set(tree->system, u, neg(add(slip->rate, fade)), tree->err);
    return quotient(u, sigma);
}

// D sin(C atan(B x - E (B x - atan(B x))))
static Expr magic_formula(Tree *tree, Value numbers, Expr x)
{
    Expr k[4]; // B, C, D, E
    tr_tree_formulas(tree, numbers, "magic", 4, k);
    if (has_failed(tree->err)) return x;
    const Expr Bx = mul(k[0], x), atan_Bx = tr_build(OP_ATAN, Bx, Bx, Bx);
    const Expr bent = sub(Bx, mul(k[3], sub(Bx, atan_Bx)));
    return mul(k[2], e_sin(mul(k[1], tr_build(OP_ATAN, bent, bent, bent))));
}

// A slip angle or a slip ratio, -slip / |ahead|, as the tyre follows it
static Expr tyre_slip(Tree *tree, const Slip *slip)
{
    const Contact *contact = slip->contact;
    const bool is_lateral = slip->part[1] == 'a';
    const Expr sigma = tr_tree_formula(tree, contact->relaxation);
    if (has_failed(tree->err)) return sigma;
    if (!is_zero(sigma)) return lagging(tree, slip, sigma);
    if (is_lateral) return slip_angle(slip);
    return neg(quotient(slip->rate, softly(tree, slip, square(slip->ahead))));
}

static Expr law_tyre(Tree *tree, Slip *slip)
{
    const Contact *contact = slip->contact;
    const bool is_lateral = slip->part[1] == 'a';
    const Value stiffness = is_lateral ? contact->cornering : contact->traction;
    const Value magic = is_lateral ? contact->magic : contact->traction_magic;
    const Expr x = tyre_slip(tree, slip);
    if (has_failed(tree->err)) return x;
    Expr F = magic.given
                 ? magic_formula(tree, magic, x)
                 : mul(needed(tree, slip, stiffness, is_lateral ? "cornering" : "traction"), x);
    if (is_lateral && contact->camber.given && !has_failed(tree->err)) // to where it leans
        F = sub(F, mul(tr_tree_formula(tree, contact->camber), slip->lean));
    return F;
}

static const Law laws[] = {
    {"free", "", law_free},
    {"viscous", "viscosity", law_viscous},
    {"coulomb", "friction creep load stick stiction", law_coulomb},
    {"tyre", "cornering traction camber relaxation magic traction_magic creep", law_tyre},
};

// ---- formulas ------------------------------------------------------------------------------

static void refuse_law(Tree *tree, Value law)
{
    Suggestion nearest = {.wanted = law.text};
    char hint[TR_HINT_SIZE];
    tr_suggest(&nearest, text_of("ideal"));
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        tr_suggest(&nearest, text_of(laws[i].name));
    if (!nearest.best.at || !tr_formula_is_name(law.text)) return;
    *tree->err = (tr_error){0};
    tr_fail(tree->err, TR_INVALID, law.place, "there is no law '%.*s'%s", TEXT(law.text),
            tr_hint(&nearest, hint));
}

static Expr law_formula(Tree *tree, const Slip *slip)
{
    const Expr N = tr_tree_reaction(tree, slip->contact->name, "normal");
    const Local names[] = {
        {"slip", slip->rate},
        {"ahead", slip->ahead},
        {"slip_angle", slip_angle(slip)},
        {"camber", slip->lean},
        {"normal", slip->contact->load.given
                       ? tr_tree_normal_force(tree, slip->contact, slip->law.place)
                       : N}};
    tree->locals = names;
    tree->local_count = sizeof names / sizeof *names;
    const Expr F = tr_tree_formula(tree, slip->law);
    if (has_failed(tree->err)) refuse_law(tree, slip->law);
    tree->local_count = 0;
    return F;
}

static void find_force(Tree *tree, Slip *slip)
{
    Expr F = expr_at(tree->graph, 0);
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        if (text_is(slip->law.text, laws[i].name)) F = laws[i].force(tree, slip);
    if (!F.id && !has_failed(tree->err)) F = law_formula(tree, slip);
    slip->force = F;
    if (slip->latch == NO_LATCH || has_failed(tree->err)) return;
    const Latch *latch = &tree->system->latches[slip->latch];
    slip->force = choose(slip->sticks ? latch->slipping : latch->closed, F, zero(tree->graph));
}

// ---- fields --------------------------------------------------------------------------------

static const char *fields_of(Value law)
{
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        if (text_is(law.text, laws[i].name)) return laws[i].fields;
    return text_is(law.text, "ideal") ? "" : "load";
}

void tr_tree_check_laws(Tree *tree, const Contact *contact)
{
    static const char about_laws[] =
        "stick stiction viscosity creep load cornering camber traction magic "
        "traction_magic relaxation";
    const Kind *kind = tr_kind_of(TYPE_CONTACTS);
    for (size_t i = 0; i < kind->field_count; i++) {
        const char *key = kind->fields[i].key;
        const Value *value =
            (const Value *)(const void *)((const char *)contact + kind->fields[i].offset);
        if (!value->given || !tr_is_listed(about_laws, key) ||
            tr_is_listed(fields_of(contact->longitudinal), key) ||
            tr_is_listed(fields_of(contact->lateral), key))
            continue;
        tr_fail(tree->err, TR_INVALID, value->place, "no law of '%.*s' has a use for '%s'",
                TEXT(contact->name.text), key);
    }
}

// ---- all of them ---------------------------------------------------------------------------

bool tr_slips(Value law) { return !text_is(law.text, "ideal"); }

void tr_tree_slip(Tree *tree, const Slip *slip)
{
    if (tr_tree_holds_anyway(tree, slip->rate)) return;
    Slip *kept = &tree->slips[tree->slip_count++];
    *kept = *slip;
    kept->force = zero(tree->graph);
    kept->latch = NO_LATCH;
}

void tr_tree_slip_laws(Tree *tree)
{
    for (uint32_t i = 0; i < tree->slip_count && !has_failed(tree->err); i++)
        find_force(tree, &tree->slips[i]);
}

// Q += G^T F
void tr_tree_slip_forces(Tree *tree)
{
    for (uint32_t i = 0; i < tree->slip_count && !has_failed(tree->err); i++) {
        const Slip *slip = &tree->slips[i];
        Expr rest;
        const Expr *slopes = is_zero(slip->force) ? NULL : tr_tree_slopes(tree, slip->rate, &rest);
        for (uint32_t k = 0; slopes && k < tree->velocity_count; k++)
            tree->velocities[k].passive =
                add(tree->velocities[k].passive, mul(slopes[k], slip->force));
    }
}
