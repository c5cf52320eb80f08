// SPDX-License-Identifier: Apache-2.0
// Masses and moments of inertia, and whether a body can have them (T10, T11, T17, T18); those that
// somebody wants to find are parameters of their own (T270).
#include "mech/tree.h"

#include "expr/elementary.h"

#include <math.h>
#include <stdio.h>

// I about the origin = I about the centre of mass + m (|c|^2 1 - c c^T)                (T10)
static Sym moved(Expr m, Vec c, Sym I, bool outward)
{
    const Sym shift = parallel(scale(outward ? m : neg(m), c), c);
    return sym_plus(I, shift);
}

Vec tr_tree_inertia_axis(Tree *tree, const Link *link)
{
    const Inertia *I = &link->body->inertia;
    if (I->axis.given) return tr_tree_unit(tree, I->axis, "axis");
    if (!link->by->axis.given)
        tr_fail(tree->err, TR_INVALID, I->name.place,
                "the inertia of '%.*s' needs an axis: its joint has none",
                TEXT(link->body->name.text));
    return own_axis(link);
}

static bool is_axisymmetric(const Inertia *I) { return I->axial.given || I->radial.given; }

// radial 1 + (axial - radial) a a^T
static Sym axisymmetric(Tree *tree, const Link *link)
{
    Graph *g = tree->graph;
    const Vec a = tr_tree_inertia_axis(tree, link);
    const Expr axial = tr_tree_formula(tree, link->body->inertia.axial);
    const Expr radial = tr_tree_formula(tree, link->body->inertia.radial);
    Sym I = {radial, radial, radial, zero(g), zero(g), zero(g)};
    const int along = unit_axis(a); // there are the two moments alone
    if (along < 0) return sym_plus(I, sym_scale(sub(axial, radial), outer(a)));
    *sym_place(&I, along, along) = axial;
    return I;
}

static Sym written(Tree *tree, const Link *link)
{
    const Inertia *I = &link->body->inertia;
    const Value *mixed[] = {&I->xx, &I->yy, &I->zz, &I->xy, &I->xz, &I->yz};
    if (is_axisymmetric(I)) {
        for (int i = 0; i < 6; i++)
            if (mixed[i]->given)
                tr_fail(tree->err, TR_INVALID, mixed[i]->place,
                        "inertia is given by axial and radial, or by xx yy zz, not both");
        return axisymmetric(tree, link);
    }
    if (I->axis.given)
        tr_fail(tree->err, TR_INVALID, I->axis.place,
                "an axis goes with an inertia that is given by axial and radial");
    return (Sym){tr_tree_formula(tree, I->xx), tr_tree_formula(tree, I->yy),
                 tr_tree_formula(tree, I->zz), tr_tree_formula(tree, I->xy),
                 tr_tree_formula(tree, I->xz), tr_tree_formula(tree, I->yz)};
}

// ---- checks --------------------------------------------------------------------------------

static void refuse_inertia(Tree *tree, const Link *link, const char *why)
{
    tr_fail(tree->err, TR_INVALID, link->body->inertia.name.place,
            "no body can have the inertia of '%.*s': %s", TEXT(link->body->name.text), why);
}

// I_ij^2 <= I_ii I_jj for the moments that were given
static void check_products(Tree *tree, const Link *link)
{
    const Inertia *I = &link->body->inertia;
    const Value *pairs[3][3] = {
        {&I->xx, &I->yy, &I->xy}, {&I->xx, &I->zz, &I->xz}, {&I->yy, &I->zz, &I->yz}};
    for (int i = 0; i < 3 && !has_failed(tree->err); i++) {
        if (!pairs[i][0]->given || !pairs[i][1]->given || !pairs[i][2]->given) continue;
        Expr v[3];
        for (int k = 0; k < 3; k++) v[k] = tr_tree_formula(tree, *pairs[i][k]);
        if (tr_tree_decide(tree, RULE_SMALL_PRODUCT, v, pairs[i][2]->place,
                           "a body can have the inertia of '%.*s'",
                           WHOLE(link->body->name.text)) == 0)
            refuse_inertia(tree, link, "a product of inertia is too large for its two moments");
    }
}

// Moments that were given must not be negative; a full set must obey I1 <= I2 + I3.      (T11)
static void check_inertia(Tree *tree, const Link *link, Sym about_com)
{
    const Inertia *I = &link->body->inertia;
    const Value *given[] = {&I->xx, &I->yy, &I->zz, &I->axial, &I->radial};
    const char *const names[] = {"xx", "yy", "zz", "axial", "radial"};
    for (int i = 0; i < 5; i++) {
        if (!given[i]->given) continue;
        const Expr moment = tr_tree_formula(tree, *given[i]);
        if (has_failed(tree->err)) return;
        if (!tr_tree_is(tree, RULE_NOT_NEGATIVE, moment, given[i]->place,
                        "the moment of inertia '%s' of '%.*s' is not negative", names[i],
                        WHOLE(link->body->name.text)))
            tr_fail(tree->err, TR_INVALID, given[i]->place,
                    "the moment of inertia '%s' of '%.*s' is %s", names[i],
                    TEXT(link->body->name.text),
                    tr_tree_value(tree, moment) < 0 ? "negative" : "not finite");
    }
    tr_tree_check_finite(tree, I->xy, "xy", about_com.xy);
    tr_tree_check_finite(tree, I->xz, "xz", about_com.xz);
    tr_tree_check_finite(tree, I->yz, "yz", about_com.yz);
    const bool full =
        (I->xx.given && I->yy.given && I->zz.given) || (I->axial.given && I->radial.given);
    if (!full) check_products(tree, link);
    if (!full || has_failed(tree->err)) return;
    static const char *const why[] = {
        [INERTIA_NOT_FINITE] = "it is not finite",
        [INERTIA_NEGATIVE] = "a principal moment about the centre of mass is negative",
        [INERTIA_LOPSIDED] = "a principal moment is larger than the sum of the other two"};
    const Expr e[] = {about_com.xx, about_com.yy, about_com.zz,
                      about_com.xy, about_com.xz, about_com.yz};
    const int fault =
        (int)tr_tree_decide(tree, RULE_INERTIA, e, I->name.place,
                            "a body can have the inertia of '%.*s'", WHOLE(link->body->name.text));
    if (fault != INERTIA_POSSIBLE) refuse_inertia(tree, link, why[fault]);
}

static void check_mass(Tree *tree, const Link *link, Expr m)
{
    const Place place = link->body->mass.place;
    if (!tr_tree_is(tree, RULE_NOT_NEGATIVE, m, place, "the mass of '%.*s' is not negative",
                    WHOLE(link->body->name.text)))
        tr_fail(tree->err, TR_INVALID, place, "the mass of '%.*s' is %s",
                TEXT(link->body->name.text),
                tr_tree_value(tree, m) < 0 ? "negative" : "not finite");
}

// ---- putting it together -------------------------------------------------------------------

// 6 numbers are a diagonal, 36 the rows of a symmetric matrix.                          (T18)
static void make_added_mass(Tree *tree, Link *link)
{
    const Value value = link->body->added_mass;
    Graph *g = tree->graph;
    link->has_added_mass = value.given;
    link->added_mass = block_zero(g);
    if (!value.given) return;
    uint32_t count = 1;
    for (size_t i = 0, depth = 0; i < value.text.length; i++) {
        depth += value.text.at[i] == '(' ? 1u : 0u;
        depth -= value.text.at[i] == ')' && depth ? 1u : 0u;
        count += value.text.at[i] == ',' && !depth;
    }
    Expr x[36];
    if (count != 6 && count != 36) {
        tr_fail(tree->err, TR_INVALID, value.place, "added_mass is 6 numbers or 36, not %u", count);
        return;
    }
    tr_tree_formulas(tree, value, "added_mass", count, x);
    if (has_failed(tree->err)) return;
#define ENTRY(i, j) (count == 36 ? x[6 * (i) + (j)] : (i) == (j) ? x[i] : zero(g))
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            if (!tr_tree_is(tree, RULE_ZERO, sub(ENTRY(i, j), ENTRY(j, i)), value.place,
                            "the added mass of '%.*s' is symmetric", WHOLE(link->body->name.text)))
                tr_fail(tree->err, TR_INVALID, value.place,
                        "added_mass is not symmetric: entries %d,%d and %d,%d differ", i + 1, j + 1,
                        j + 1, i + 1);
    link->added_mass.A =
        (Sym){ENTRY(0, 0), ENTRY(1, 1), ENTRY(2, 2), ENTRY(0, 1), ENTRY(0, 2), ENTRY(1, 2)};
    link->added_mass.C =
        (Sym){ENTRY(3, 3), ENTRY(4, 4), ENTRY(5, 5), ENTRY(3, 4), ENTRY(3, 5), ENTRY(4, 5)};
    for (int i = 0; i < 3; i++)
        link->added_mass.B.row[i] = vec(ENTRY(i, 3), ENTRY(i, 4), ENTRY(i, 5));
#undef ENTRY
}

// No products, and one expression for the two moments across the axis, or for all three
static bool is_round_about(Sym I, Vec axis)
{
    const uint32_t moments[] = {I.xx.id, I.yy.id, I.zz.id};
    const int along = unit_axis(axis);
    if (!is_zero(I.xy) || !is_zero(I.xz) || !is_zero(I.yz)) return false;
    if (along < 0) return moments[0] == moments[1] && moments[1] == moments[2];
    return moments[(along + 1) % 3] == moments[(along + 2) % 3];
}

// Rows of skates, of slides and of what rolls about an axis of its own are shortest by the body's
// own axes, and along the tree they go by these alone.
static bool keeps_axes(const Contact *contact)
{
    return contact->axis.given || text_is(contact->kind.text, "skate") ||
           text_is(contact->kind.text, "slide");
}

static bool is_held(const Tree *tree, const Body *body)
{
    const Contacts *contacts = &tree->model->fields.contacts;
    for (uint32_t i = 0; i < contacts->count; i++)
        if (text_equal(contacts->at[i].body.text, body->name.text) && keeps_axes(&contacts->at[i]))
            return true;
    return false;
}

// ---- inertias that are to be found -----------------------------------------------------------

// Whether they are listed by name, or all are
static bool is_wanted(const Tree *tree, const Link *link)
{
    const char *list = tree->model->inertias;
    if (!list || link->section || link->is_motor) return false;
    if (strcmp(list, "*") == 0) return !link->flex;
    while (*list)
        if (text_equal(tr_next_item(&list), link->body->name.text)) return true;
    return false;
}

// All that are listed must be bodies.
static void check_wanted(Tree *tree)
{
    const Bodies *bodies = &tree->model->fields.bodies;
    const char *list = tree->model->inertias;
    if (!list || strcmp(list, "*") == 0) return;
    while (*list && !has_failed(tree->err)) {
        Suggestion nearest = {.wanted = tr_next_item(&list)};
        char hint[TR_HINT_SIZE];
        bool found = false;
        for (uint32_t i = 0; i < bodies->count; i++) {
            tr_suggest(&nearest, bodies->at[i].name.text);
            found = found || text_equal(bodies->at[i].name.text, nearest.wanted);
        }
        if (!found)
            tr_fail(tree->err, TR_USAGE, (Place){0}, "there is no body '%.*s'%s",
                    TEXT(nearest.wanted), tr_model_hint(tree->model, &nearest, hint));
    }
}

static void list_inertia(Rigid *J, Expr *list[10])
{
    Expr *const all[] = {&J->m,    &J->mc.x, &J->mc.y, &J->mc.z, &J->I.xx,
                         &J->I.yy, &J->I.zz, &J->I.xy, &J->I.xz, &J->I.yz};
    for (int k = 0; k < 10; k++) list[k] = all[k];
}

// Whether there is anything to find: what has no mass has no part in the dynamics.
static bool has_inertia(Tree *tree, const Link *link, Expr *const list[10])
{
    const Text name = link->body->name.text;
    bool any = false;
    for (int k = 0; k < 10; k++) any = any || tr_tree_value(tree, *list[k]) != 0;
    const bool by_name = strcmp(tree->model->inertias, "*") != 0;
    if (by_name && link->flex)
        tr_fail(tree->err, TR_USAGE, (Place){0},
                "'%.*s' bends: only inertias of rigid bodies can be found", TEXT(name));
    else if (by_name && !any)
        tr_fail(tree->err, TR_USAGE, (Place){0},
                "'%.*s' has neither mass nor inertia: there is nothing to find", TEXT(name));
    return any && !has_failed(tree->err);
}

// m, mc and I about the origin become parameters, with the values that they have.       (T270)
static void open_inertia(Tree *tree, Link *link)
{
    static const char *const names[] = {"m",   "mx",  "my",  "mz",  "Ixx",
                                        "Iyy", "Izz", "Ixy", "Ixz", "Iyz"};
    System *s = tree->system;
    Expr *list[10];
    char name[300];
    list_inertia(&link->inertia, list);
    if (!has_inertia(tree, link, list)) return;
    s->opened[s->opened_count++] =
        (struct OpenInertia){tr_tree_text(tree, link->body->name.text), s->input_count};
    for (int k = 0; k < 10 && !has_failed(tree->err); k++) {
        snprintf(name, sizeof name, "%.*s.inertia.%s", WHOLE(link->body->name.text), names[k]);
        *list[k] = tr_input(s, name, TR_PARAMETER, tr_tree_value(tree, *list[k]), tree->err);
    }
}

static void open_inertias(Tree *tree)
{
    if (!tree->model->inertias) return;
    check_wanted(tree);
    tree->system->opened = tr_tree_room(tree, tree->link_count, sizeof *tree->system->opened);
    for (uint32_t i = 0; i < tree->link_count && !has_failed(tree->err); i++)
        if (tree->system->opened && is_wanted(tree, &tree->links[i]))
            open_inertia(tree, &tree->links[i]);
}

// ---- gyrostats -----------------------------------------------------------------------------

// Symmetric about its own joint's axis, with its centre of mass on it: its angle moves no mass.
bool tr_tree_is_symmetric(Tree *tree, const Link *link)
{
    const Body *body = link->body;
    const Inertia *I = &body->inertia;
    const Vec a = own_axis(link);
    const Vec com = tr_tree_vector(tree, body->com, "com");
    if (has_failed(tree->err) || !is_along(com, a) || body->added_mass.given) return false;
    if (is_held(tree, body) || is_wanted(tree, link)) return false;
    if (is_axisymmetric(I)) return is_along(tr_tree_inertia_axis(tree, link), a);
    return is_round_about(written(tree, link), a);
}

// A body that spins about its own axis of symmetry a is a gyrostat: all of it but its moment
// J a a^T about that axis moves as if it were fixed to the parent (T17).
static void lump(Tree *tree, Link *link)
{
    if (!link->carried || link->parent == WORLD) return;
    const Vec a = own_axis(link);
    const Expr J = dot(a, sym_apply(link->inertia.I, a));
    const Sym axial = sym_scale(J, outer(a));
    Rigid *parent = &tree->links[link->parent].inertia;
    const Rigid fixed = {link->inertia.m, link->inertia.mc, sym_minus(link->inertia.I, axial)};
    *parent = rigid_plus(*parent, rigid_out(link->X, fixed));
    link->inertia = (Rigid){zero(tree->graph), vec_zero(tree->graph), axial};
}

Sym tr_tree_own_inertia(Tree *tree, const Link *link)
{
    const Sym I = written(tree, link);
    if (text_is(link->body->inertia.about.text, "com")) return I;
    return moved(tr_tree_formula(tree, link->body->mass),
                 tr_tree_vector(tree, link->body->com, "com"), I, false);
}

void tr_tree_inertias(Tree *tree)
{
    for (uint32_t i = 0; i < tree->link_count && !has_failed(tree->err); i++) {
        Link *link = &tree->links[i];
        const Body *body = link->body;
        const Expr m = tr_tree_formula(tree, body->mass);
        const Vec c = tr_tree_vector(tree, body->com, "com");
        const bool at_joint = text_is(body->inertia.about.text, "joint");
        if (!at_joint && !text_is(body->inertia.about.text, "com"))
            tr_fail(tree->err, TR_INVALID, body->inertia.about.place,
                    "inertia is taken about com or joint, not '%.*s'",
                    TEXT(body->inertia.about.text));
        const Sym I = written(tree, link);
        if (has_failed(tree->err)) return;
        check_mass(tree, link, m);
        if (!link->is_motor) // whose inertia is checked with its spring
            check_inertia(tree, link, at_joint ? moved(m, c, I, false) : I);
        link->inertia = (Rigid){m, scale(m, c), at_joint ? I : moved(m, c, I, true)};
        if (link->flex)
            link->inertia = rigid_plus(link->inertia, tr_flex_inertia(tree, link->flex));
        make_added_mass(tree, link);
    }
    if (!has_failed(tree->err)) open_inertias(tree);
    for (uint32_t i = 0; i < tree->link_count && !has_failed(tree->err); i++)
        lump(tree, &tree->links[i]);
}
