// SPDX-License-Identifier: Apache-2.0
// A model with a case applied and values set from outside: file < case < command line.
#include "model/model.h"

#include <stdlib.h>

#define TEXT(t) (int)((t).length > 60 ? 60 : (t).length), (t).at // for "%.*s"

// ---- copying -------------------------------------------------------------------------------

static bool copy_fields(Model *to, const Kind *kind, void *into, const void *from, tr_error *err);

static bool copy_list(Model *to, const Kind *kind, void *into, const void *from, tr_error *err)
{
    const Bodies *old = from; // any named kind: the layout is shared
    *(Bodies *)into = (Bodies){0};
    for (uint32_t i = 0; i < old->count; i++) {
        const char *thing = (const char *)old->at + i * kind->size;
        void *twin = tr_kind_add(to, kind, into, *(const Value *)(const void *)thing, err);
        if (!twin || !copy_fields(to, kind, twin, thing, err)) return false;
    }
    return true;
}

// Scalars are shared: their text belongs to the first model, which must outlive the copy.
static bool copy_fields(Model *to, const Kind *kind, void *into, const void *from, tr_error *err)
{
    *(Value *)into = *(const Value *)from;
    for (size_t i = 0; i < kind->field_count; i++) {
        const Field *field = &kind->fields[i];
        void *a = (char *)into + field->offset;
        const void *b = (const char *)from + field->offset;
        const Kind *inner = tr_kind_of(field->type);
        if (inner && inner->named) {
            if (!copy_list(to, inner, a, b, err)) return false;
        } else if (inner) {
            if (!copy_fields(to, inner, a, b, err)) return false;
        } else if (field->type == TYPE_PAIRS || field->type == TYPE_PARTS) {
            const Pairs *pairs = b;
            *(Pairs *)a = (Pairs){0};
            for (uint32_t k = 0; k < pairs->count; k++)
                if (!tr_field_put(to, field, a, pairs->at[k].key, pairs->at[k].value, true, err))
                    return false;
        } else if (field->type == TYPE_LIST) {
            const Values *values = b;
            *(Values *)a = (Values){0};
            for (uint32_t k = 0; k < values->count; k++)
                if (!tr_field_put(to, field, a, values->at[k], values->at[k], true, err))
                    return false;
        } else {
            *(Value *)a = *(const Value *)b;
        }
    }
    return true;
}

// ---- applying ------------------------------------------------------------------------------

static const Field *field_called(const char *key)
{
    return tr_kind_field(tr_kind_model(), text_of(key));
}

static bool merge(Model *model, const char *key, Pairs *into, const Pairs *from, tr_error *err)
{
    for (uint32_t i = 0; i < from->count; i++)
        if (!tr_field_put(model, field_called(key), into, from->at[i].key, from->at[i].value, true,
                          err))
            return false;
    return true;
}

static bool replace(Pairs *pairs, const Pair *pair)
{
    for (uint32_t i = 0; i < pairs->count; i++)
        if (text_equal(pairs->at[i].key.text, pair->key.text))
            return pairs->at[i].value = pair->value, true;
    return false;
}

// Sets a parameter or an input that is there.
static bool set_value(Model *model, const Pair *pair, tr_status blame, tr_error *err)
{
    ModelFields *f = &model->fields;
    if (replace(&f->parameters, pair) || replace(&f->inputs, pair)) return true;
    Suggestion nearest = {.wanted = pair->key.text};
    for (uint32_t i = 0; i < f->parameters.count; i++)
        tr_suggest(&nearest, f->parameters.at[i].key.text);
    for (uint32_t i = 0; i < f->inputs.count; i++) tr_suggest(&nearest, f->inputs.at[i].key.text);
    if (nearest.best.at)
        tr_fail(err, blame, pair->key.place,
                "there is no parameter or input '%.*s'; did you mean '%.*s'?", TEXT(pair->key.text),
                TEXT(nearest.best));
    else
        tr_fail(err, blame, pair->key.place, "there is no parameter or input '%.*s'",
                TEXT(pair->key.text));
    return false;
}

static bool leave_out(Model *model, Value name, tr_error *err)
{
    Forces *forces = &model->fields.forces;
    for (uint32_t i = 0; i < forces->count; i++) {
        if (!text_equal(forces->at[i].name.text, name.text)) continue;
        memmove(&forces->at[i], &forces->at[i + 1], (forces->count - i - 1) * sizeof *forces->at);
        forces->count--;
        return true;
    }
    tr_fail(err, TR_INVALID, name.place, "there is no element '%.*s' to leave out",
            TEXT(name.text));
    return false;
}

static bool set_roles(Model *model, const Roles *roles, tr_error *err)
{
    const Kind *kind = tr_kind_of(TYPE_ROLES);
    for (uint32_t i = 0; i < roles->count; i++) {
        Role *role = tr_kind_add(model, kind, &model->fields.roles, roles->at[i].name, err);
        if (!role || !copy_fields(model, kind, role, &roles->at[i], err)) return false;
    }
    return true;
}

static bool apply_case(Model *model, const Case *c, tr_error *err)
{
    ModelFields *f = &model->fields;
    for (uint32_t i = 0; i < c->set.count; i++)
        if (!set_value(model, &c->set.at[i], TR_INVALID, err)) return false;
    for (uint32_t i = 0; i < c->without.count; i++)
        if (!leave_out(model, c->without.at[i], err)) return false;
    return merge(model, "initial", &f->initial, &c->initial, err) &&
           merge(model, "guess", &f->guess, &c->guess, err) && set_roles(model, &c->roles, err);
}

static bool choose_case(Model *model, const char *name, tr_error *err)
{
    Cases *cases = &model->fields.cases;
    if (!name) return true; // the first, if there is one
    Suggestion nearest = {.wanted = text_of(name)};
    for (uint32_t i = 0; i < cases->count; i++) {
        tr_suggest(&nearest, cases->at[i].name.text);
        if (!text_is(cases->at[i].name.text, name)) continue;
        const Case chosen = cases->at[i];
        memmove(&cases->at[1], &cases->at[0], i * sizeof chosen);
        cases->at[0] = chosen;
        return true;
    }
    if (nearest.best.at)
        tr_fail(err, TR_USAGE, (Place){0}, "there is no case '%.60s'; did you mean '%.*s'?", name,
                TEXT(nearest.best));
    else
        tr_fail(err, TR_USAGE, (Place){0}, "there is no case '%.60s'", name);
    return false;
}

Model *tr_model_variant(const Model *model, const char *case_name, const tr_setting *settings,
                        size_t count, tr_error *err)
{
    Model *twin = has_failed(err) ? NULL : tr_model_new(err);
    if (!twin) return NULL;
    bool good = copy_fields(twin, tr_kind_model(), &twin->fields, &model->fields, err) &&
                choose_case(twin, case_name, err);
    if (good && twin->fields.cases.count) good = apply_case(twin, &twin->fields.cases.at[0], err);
    for (size_t i = 0; good && i < count; i++) {
        const Pair pair = {{.text = text_of(settings[i].name), .given = true},
                           {.text = text_of(settings[i].formula), .given = true}};
        good = set_value(twin, &pair, TR_USAGE, err);
    }
    twin->path = model->path;
    if (good) return twin;
    tr_model_free(twin);
    return NULL;
}
