// SPDX-License-Identifier: Apache-2.0
// Where a parameter or an input that has a unit stands alone for a field, or minus it, and the row
// of this field has a unit, both must be of one dimension. Formulas are not looked into.
#include "base/unit.h"
#include "model/model.h"

#include <stdio.h>

// What a field belongs to
typedef struct Owner {
    const Kind *kind;
    Text name;
    int angular; // 1: of something that turns, 0: that slides, -1: it is not known
} Owner;

typedef struct Units {
    const ModelFields *fields;
    tr_error *err;
} Units;

// ---- what stands alone ---------------------------------------------------------------------

static const Setting *setting_called(const Units *u, Text name)
{
    const Setting *found = tr_setting_find(&u->fields->parameters, name);
    return found ? found : tr_setting_find(&u->fields->inputs, name);
}

// x and y of a height, the abscissa of a beam: they hide parameters of these names
static bool is_local(const Owner *owner, const char *key, Text name)
{
    const bool is_place = text_is(name, "x") || text_is(name, "y") || text_is(name, "z");
    return strcmp(key, "height") == 0 ? is_place
                                      : owner->kind->type == TYPE_BEAM && text_is(name, "s");
}

// The setting with a unit that a formula is alone, or minus it; else NULL
static const Setting *alone(const Units *u, const Owner *owner, const char *key, Text text)
{
    text = text_trimmed(text);
    if (text.length && *text.at == '-') text = text_trimmed((Text){text.at + 1, text.length - 1});
    const Setting *found = text.length ? setting_called(u, text) : NULL;
    return found && found->unit.given && !is_local(owner, key, text) ? found : NULL;
}

static void refuse(const Units *u, const Owner *owner, const char *key, Text unit,
                   const Setting *other, Place place)
{
    char of[100] = "", where[TR_PLACE_SHOWN];
    if (owner->name.length) snprintf(of, sizeof of, " of '%.*s'", TEXT(owner->name));
    tr_place_told(other->unit.place, place, where);
    tr_fail(u->err, TR_INVALID, place, "'%s'%s is in %.*s, but '%.*s' is in %.*s%s", key, of,
            TEXT(unit), TEXT(other->name.text), TEXT(other->unit.text), where);
}

// ---- units of rows -------------------------------------------------------------------------

// The next of "N m or N"; `units` moves behind it.
static Text next_unit(Text *units)
{
    for (size_t i = 0; i + 4 <= units->length; i++) {
        if (memcmp(units->at + i, " or ", 4) != 0) continue;
        const Text unit = {units->at, i};
        *units = (Text){units->at + i + 4, units->length - i - 4};
        return unit;
    }
    const Text unit = *units;
    units->length = 0;
    return unit;
}

// Of something that turns the first, of something that slides the second
static Text own_unit(const Owner *owner, Text units)
{
    const FieldType type = owner->kind->type;
    const bool is_known = owner->angular >= 0 && (type == TYPE_JOINT || type == TYPE_JOINTS ||
                                                  type == TYPE_ELASTIC || type == TYPE_ROLES);
    Text rest = units;
    const Text first = next_unit(&rest);
    if (!is_known || !rest.length) return units;
    return owner->angular ? first : rest;
}

static void check_formula(const Units *u, const Owner *owner, const char *key, Text units,
                          Value value)
{
    char why[400];
    Unit wanted, is;
    const Setting *other = alone(u, owner, key, value.text);
    if (!other || has_failed(u->err) || !tr_unit_read(other->unit.text, &is, why, sizeof why))
        return;
    const Text own = own_unit(owner, units);
    for (Text rest = own; rest.length;)
        if (!tr_unit_read(next_unit(&rest), &wanted, why, sizeof why) || unit_equal(wanted, is))
            return;
    refuse(u, owner, key, own, other, value.place);
}

// Behind the formula that begins there: a comma, but not one between arguments, or the end
static size_t formula_end(Text text, size_t at)
{
    for (int depth = 0; at < text.length && (depth > 0 || text.at[at] != ','); at++)
        depth += (text.at[at] == '(') - (text.at[at] == ')');
    return at;
}

// Formulas that commas separate
static void check_formulas(const Units *u, const Owner *owner, const Field *field, Value value)
{
    const Text text = value.text;
    for (size_t from = 0, at = 0; from <= text.length; from = ++at) {
        at = formula_end(text, from);
        size_t start = from;
        while (start < at && text.at[start] == ' ') start++;
        Value part = {{text.at + start, at - start}, value.place, true};
        if (part.place.line) part.place.column += tr_utf8_columns(text.at, start);
        check_formula(u, owner, field->key, text_of(field->unit), part);
    }
}

// ---- all fields ----------------------------------------------------------------------------

static int angular_type(Text type)
{
    if (text_is(type, "revolute") || text_is(type, "screw")) return 1;
    return text_is(type, "prismatic") ? 0 : -1;
}

static int angular_joint(const ModelFields *f, Text name)
{
    for (uint32_t i = 0; i < f->bodies.count; i++)
        if (text_equal(tr_own_joint_name(&f->bodies.at[i]), name))
            return angular_type(f->bodies.at[i].joint.type.text);
    for (uint32_t i = 0; i < f->joints.count; i++)
        if (text_equal(tr_joint_name(&f->joints.at[i]), name))
            return angular_type(f->joints.at[i].type.text);
    return -1;
}

static int angular(const Units *u, const Kind *kind, const void *thing, int of_owner)
{
    const Value *name = thing;
    if (kind->type == TYPE_JOINT || kind->type == TYPE_JOINTS)
        return angular_type(((const Joint *)thing)->type.text);
    return kind->type == TYPE_ROLES ? angular_joint(u->fields, name->text) : of_owner;
}

static void check_fields(const Units *u, const Owner *owner, const void *thing);

// Things by name; of the cases the one that is applied
static void check_list(const Units *u, const Kind *kind, const void *list)
{
    const AnyList *any = list;
    const uint32_t count = kind->type == TYPE_CASES && any->count ? 1 : any->count;
    for (uint32_t i = 0; i < count; i++) {
        const void *thing = any->at + i * kind->size;
        const Owner owner = {kind, ((const Value *)thing)->text, angular(u, kind, thing, -1)};
        check_fields(u, &owner, thing);
    }
}

static void check_field(const Units *u, const Owner *owner, const Field *field, const void *at)
{
    const Kind *inner = tr_kind_of(field->type);
    const bool is_list = field->type == TYPE_PARTS || field->type == TYPE_PAIRS;
    const bool has_unit =
        field->unit[0] && !begins_with(field->unit, "unit") && !strchr(field->unit, ',');
    if (inner && inner->named)
        check_list(u, inner, at);
    else if (inner && ((const Value *)at)->given) {
        const Text name = owner->name.length ? owner->name : text_of(field->key);
        const Owner own = {inner, name, angular(u, inner, at, owner->angular)};
        check_fields(u, &own, at);
    }
    if (inner || !has_unit) return;
    if (field->type == TYPE_FORMULA || field->type == TYPE_VECTOR || field->type == TYPE_NUMBERS)
        check_formulas(u, owner, field, *(const Value *)at);
    for (uint32_t i = 0; is_list && i < ((const Pairs *)at)->count; i++)
        check_formula(u, owner, field->key, text_of(field->unit), ((const Pairs *)at)->at[i].value);
}

// Its own unit is that of its value and its range.
static void check_setting(const Units *u, const Owner *owner, const Setting *s)
{
    char why[400];
    Unit unit;
    if (!s->unit.given) return;
    if (!tr_unit_read(s->unit.text, &unit, why, sizeof why)) {
        tr_fail(u->err, TR_INVALID, s->unit.place, "the unit of '%.*s': %s", TEXT(s->name.text),
                why);
        return;
    }
    check_formula(u, owner, "value", s->unit.text, s->value);
    check_formula(u, owner, "min", s->unit.text, s->min);
    check_formula(u, owner, "max", s->unit.text, s->max);
}

static void check_fields(const Units *u, const Owner *owner, const void *thing)
{
    const Kind *kind = owner->kind;
    if (is_setting_kind(kind)) {
        check_setting(u, owner, thing);
        return;
    }
    for (size_t i = 0; i < kind->field_count && !has_failed(u->err); i++)
        check_field(u, owner, &kind->fields[i], (const char *)thing + kind->fields[i].offset);
}

bool tr_model_check_units(const Model *model, tr_error *err)
{
    const Units units = {&model->fields, err};
    const Owner top = {.kind = tr_kind_model(), .angular = -1};
    check_fields(&units, &top, &model->fields);
    return !has_failed(err);
}
