// SPDX-License-Identifier: Apache-2.0
// Wheels that slip: in place of a row, a force along it that depends on how it slips. It acts on
// the body, and the other way on what carries the plane:   Q += G^T F, with G the row's slopes
// (T55-T57).
//
//   slip        velocity of the touching point along the direction [m/s]
//   ahead       speed of the wheel's middle along the plane, forward [m/s]
//   slip_angle  atan(-lateral slip / |ahead|), the speed no less than a creep [rad]
//   camber      how far the wheel leans to the right [rad]
//   normal      the normal force: a reaction, solved together with the rest
#include "expr/derivative.h"
#include "mech/tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SOFT 4e-4 // of the creep that is left where friction began to give way

typedef struct Law {
    const char *name, *fields[2]; // of the contact that it uses: longitudinal, lateral
    Expr (*force)(Tree *tree, Slip *slip);
} Law;

// ---- what laws are made of -----------------------------------------------------------------

static bool is_lateral(const Slip *slip) { return slip->part[1] == 'a'; }

static Expr atan_of(Expr x) { return tr_build(OP_ATAN, x, x, x); }

static Expr not_negative(Tree *tree, Value value, const char *key, Expr x)
{
    if (!has_failed(tree->err) && tr_tree_is_constant(x) &&
        !tr_tree_is(tree, RULE_NOT_NEGATIVE, x, value.place, "'%s' is not negative", key))
        tr_fail(tree->err, TR_INVALID, value.place, "'%s' is negative", key);
    return x;
}

// A field that is not negative where it is known
static Expr amount(Tree *tree, Value value, const char *key)
{
    const Expr x = tr_tree_formula(tree, value);
    tr_tree_check_finite(tree, value, key, x);
    return not_negative(tree, value, key, x);
}

// A field of the contact that its law needs
static Expr needed(Tree *tree, const Slip *slip, Value value, const char *key)
{
    if (!value.given)
        tr_fail(tree->err, TR_INVALID, slip->law.place, "the %.*s law of '%.*s' needs '%s'",
                TEXT(slip->law.text), TEXT(slip->contact->name.text), key);
    return has_failed(tree->err) ? expr_at(tree->graph, 0) : amount(tree, value, key);
}

// A field of parameters alone
static Expr constant_amount(Tree *tree, Value value, const char *key)
{
    return not_negative(tree, value, key, tr_tree_constant(tree, value, key));
}

static void refuse_normal(Tree *tree, const Contact *contact, Place place)
{
    tr_fail(tree->err, TR_INVALID, place,
            "'%.*s' has no normal force in the plane: give its 'load'", TEXT(contact->name.text));
}

// The reaction, or in the plane what the model says
Expr tr_tree_normal_force(Tree *tree, const Contact *contact, Place place)
{
    if (contact->load.given) return amount(tree, contact->load, "load");
    const Expr N = tr_tree_reaction(tree, contact->name, "normal");
    if (is_zero(N)) refuse_normal(tree, contact, place);
    return N;
}

static Expr creep_of(Tree *tree, const Slip *slip)
{
    const Value value = slip->contact->creep;
    const Expr creep = constant_amount(tree, value, "creep");
    if (!has_failed(tree->err) &&
        !tr_tree_is(tree, RULE_POSITIVE, creep, value.place, "the creep of '%.*s' is positive",
                    WHOLE(slip->contact->name.text)))
        tr_fail(tree->err, TR_INVALID, value.place, "'creep' must be positive");
    return creep;
}

// |x|, smooth within a creep
static Expr softly(Tree *tree, const Slip *slip, Expr square_x)
{
    return e_sqrt(add(square_x, square(creep_of(tree, slip))));
}

static Expr slip_angle(Tree *tree, const Slip *slip)
{
    return atan_of(neg(quotient(slip->both[1], softly(tree, slip, square(slip->ahead)))));
}

// ---- one function per law ------------------------------------------------------------------

static Expr law_free(Tree *tree, Slip *slip)
{
    (void)slip;
    return zero(tree->graph);
}

// F = -viscosity v_k                                                                   (T56)
static Expr law_viscous(Tree *tree, Slip *slip)
{
    return neg(mul(needed(tree, slip, slip->contact->viscosity, "viscosity"), slip->rate));
}

bool tr_is_coulomb(Value law) { return text_is(law.text, "coulomb"); }

// The direction in which a contact that can stick began to slip, along this one; of others 0
Expr tr_slip_heading(const Tree *tree, const Slip *slip)
{
    if (slip->latch == NO_LATCH) return zero(tree->graph);
    const Latch *latch = &tree->system->latches[slip->latch];
    for (uint32_t k = 0; k < latch->row_count; k++)
        if (latch->rows[k] == slip->row && latch->heading[k].id) return latch->heading[k];
    return zero(tree->graph);
}

// What is left of friction where slip only just begins: the law below for v = 0, |h| = 1
Expr tr_slip_first(Expr mu) { return mul(number(graph_of(mu), 1 / sqrt(1 + SOFT)), mu); }

// -mu N v / |v|, with v what slips under this law, softly within a creep c (T56). What began to
// slip towards the unit vector h, for v = 0, has all friction against it from there on:
//   -mu N u / sqrt(u^2 + c^2 (1 - (1 - SOFT) h^2)),   u = v + c h / (1 + v^2 / c^2)
static Expr law_coulomb(Tree *tree, Slip *slip)
{
    const Contact *contact = slip->contact;
    const Expr mu = needed(tree, slip, contact->friction, "friction");
    const Expr c = creep_of(tree, slip);
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
//   u' = -slip - |ahead| u / sigma,   u / sigma -> -slip / |ahead|                     (T57)
static Expr lagging(Tree *tree, const Slip *slip, Expr sigma)
{
    char name[300], part[60];
    const Text contact = slip->contact->name.text;
    snprintf(part, sizeof part, "%s_deflection", slip->part);
    snprintf(name, sizeof name, "contact.%.*s.%s", WHOLE(contact), part);
    const Expr u = tr_input(tree->system, name, TR_POSITION, 0, tree->err);
    tr_tree_port(tree, u, QUANTITY_LENGTH, contact, part);
    Input *input = tr_system_input(tree->system, u);
    if (input) input->is_extra = true;
    const Expr fade = quotient(mul(e_abs(slip->ahead), u), sigma);
    tr_rate_set(tree->system, u, neg(add(slip->rate, fade)), tree->err);
    const Expr ratio = quotient(u, sigma);
    return is_lateral(slip) ? atan_of(ratio) : ratio;
}

// D sin(C atan(B x - E (B x - atan(B x))))                                           (T57)
static Expr magic_formula(Tree *tree, Value numbers, Expr x)
{
    Expr k[4]; // B, C, D, E
    tr_tree_formulas(tree, numbers, "magic", 4, k);
    if (has_failed(tree->err)) return x;
    const Expr Bx = mul(k[0], x), bent = sub(Bx, mul(k[3], sub(Bx, atan_of(Bx))));
    return mul(k[2], e_sin(mul(k[1], atan_of(bent))));
}

// A slip angle or a slip ratio, -slip / |ahead|, as the tyre follows it
static Expr tyre_slip(Tree *tree, const Slip *slip)
{
    const Value relaxation = slip->contact->relaxation;
    const Expr sigma = constant_amount(tree, relaxation, "relaxation");
    if (has_failed(tree->err)) return sigma;
    if (tr_tree_is(tree, RULE_POSITIVE, sigma, relaxation.place,
                   "the relaxation of '%.*s' is %szero", WHOLE(slip->contact->name.text),
                   tr_tree_value(tree, sigma) > 0 ? "not " : ""))
        return lagging(tree, slip, sigma);
    if (is_lateral(slip)) return slip_angle(tree, slip);
    return neg(quotient(slip->rate, softly(tree, slip, square(slip->ahead))));
}

// The force for a slip x: by the magic formula, or in proportion
static Expr tyre_force(Tree *tree, const Slip *slip, Expr x)
{
    const Contact *contact = slip->contact;
    const char *key = is_lateral(slip) ? "cornering" : "traction";
    const Value stiffness = is_lateral(slip) ? contact->cornering : contact->traction;
    const Value magic = is_lateral(slip) ? contact->magic : contact->traction_magic;
    if (magic.given && stiffness.given)
        tr_fail(tree->err, TR_INVALID, magic.place,
                "'%.*s' has '%s' already, which this stands in place of", TEXT(contact->name.text),
                key);
    if (has_failed(tree->err)) return x;
    if (magic.given) return magic_formula(tree, magic, x);
    return mul(needed(tree, slip, stiffness, key), x);
}

static Expr law_tyre(Tree *tree, Slip *slip)
{
    const Contact *contact = slip->contact;
    const Expr x = tyre_slip(tree, slip);
    const Expr F = has_failed(tree->err) ? x : tyre_force(tree, slip, x);
    if (!is_lateral(slip) || !contact->camber.given || has_failed(tree->err)) return F;
    return sub(F, mul(tr_tree_formula(tree, contact->camber), slip->lean)); // to where it leans
}

static const Law laws[] = {
    {"free", {"", ""}, law_free},
    {"viscous", {"viscosity", "viscosity"}, law_viscous},
    {"coulomb",
     {"friction creep load stick stiction", "friction creep load stick stiction"},
     law_coulomb},
    {"tyre",
     {"traction traction_magic relaxation creep", "cornering magic camber relaxation creep"},
     law_tyre},
};

// ---- formulas ------------------------------------------------------------------------------

static void refuse_law(Tree *tree, Value law)
{
    Suggestion nearest = {.wanted = law.text};
    char hint[TR_HINT_SIZE];
    tr_suggest(&nearest, text_of("ideal"));
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        tr_suggest(&nearest, text_of(laws[i].name));
    if (!tr_formula_is_name(law.text) || tr_model_what(tree->model, law.text)) return;
    *tree->err = (tr_error){0};
    tr_fail(tree->err, TR_INVALID, law.place, "there is no law '%.*s'%s", TEXT(law.text),
            tr_hint(&nearest, hint));
}

static Expr formula_with(Tree *tree, const Slip *slip, Expr normal)
{
    const Local names[] = {{"slip", slip->rate},
                           {"ahead", slip->ahead},
                           {"slip_angle", slip_angle(tree, slip)},
                           {"camber", slip->lean},
                           {"normal", normal}};
    if (has_failed(tree->err)) return normal;
    return tr_tree_formula_with(tree, slip->law, names, sizeof names / sizeof *names);
}

static Expr law_formula(Tree *tree, const Slip *slip)
{
    const bool has_load = slip->contact->load.given;
    const Expr N = has_load ? tr_tree_normal_force(tree, slip->contact, slip->law.place)
                            : tr_tree_reaction(tree, slip->contact->name, "normal");
    const Expr F = formula_with(tree, slip, N);
    if (has_failed(tree->err)) {
        refuse_law(tree, slip->law);
        return F;
    }
    tr_tree_check_finite(tree, slip->law, slip->part, F);
    if (has_load) return F;
    if (is_zero(N) && formula_with(tree, slip, one(tree->graph)).id != F.id)
        refuse_normal(tree, slip->contact, slip->law.place); // it uses what is not there
    if (is_zero(N) || has_failed(tree->err)) return F;
    Expr slope;
    tr_reverse(tree->graph, F, &N, 1, &slope);
    if (tr_system_uses(tree->system, slope, TR_SOLVED))
        tr_fail(tree->err, TR_INVALID, slip->law.place,
                "the %s law of '%.*s' is not linear in the normal force", slip->part,
                TEXT(slip->contact->name.text));
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

static const char *fields_of(Value law, int part)
{
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        if (text_is(law.text, laws[i].name)) return laws[i].fields[part];
    return text_is(law.text, "ideal") ? "" : "load creep";
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
            tr_is_listed(fields_of(contact->longitudinal, 0), key) ||
            tr_is_listed(fields_of(contact->lateral, 1), key))
            continue;
        tr_fail(tree->err, TR_INVALID, value->place, "no law of '%.*s' has a use for '%s'",
                TEXT(contact->name.text), key);
    }
}

// ---- all of them ---------------------------------------------------------------------------

bool tr_slips(Value law) { return !text_is(law.text, "ideal"); }

void tr_tree_slip(Tree *tree, const Slip *slip)
{
    char row[256];
    snprintf(row, sizeof row, "%.*s.%s", WHOLE(slip->contact->name.text), slip->part);
    if (tr_tree_soften(tree, row, slip->rate)) return;
    if (tr_tree_holds_anyway(tree, slip->contact->name, slip->part, slip->rate)) return;
    Slip *kept = &tree->slips[tree->slip_count++];
    *kept = *slip;
    kept->force = zero(tree->graph);
    kept->latch = NO_LATCH;
}

// Formulas know them like reactions; laws do not, for they depend on nothing that slips.
void tr_tree_slip_laws(Tree *tree)
{
    char name[300];
    for (uint32_t i = 0; i < tree->slip_count && !has_failed(tree->err); i++)
        find_force(tree, &tree->slips[i]);
    for (uint32_t i = 0; i < tree->slip_count && !has_failed(tree->err); i++) {
        const Slip *slip = &tree->slips[i];
        if (slip->sticks) continue; // the row has the name
        snprintf(name, sizeof name, "lambda.%.*s.%s", WHOLE(slip->contact->name.text), slip->part);
        tr_system_name(tree->system, text_of(name), slip->force, tree->err);
    }
}

// Q += G^T F                                                                          (T55)
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
