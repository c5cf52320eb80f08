// SPDX-License-Identifier: Apache-2.0
// Model files in model files. Each is read like any other, what it includes becomes part of it, and
// then its things are copied under new names, once for each copy (copied.c).
#include "model/include.h"

#include "base/beside.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_DEPTH = 8,       // files in each other
    MOST_COPIES = 2000,   // in all
    MOST_BYTES = 16 << 20 // of text that they come to, as a model file may have
};

typedef struct Including {
    Model *model;
    Beside where;
    size_t copies, bytes;
    Buffer told; // of what was included
    tr_error *err;
} Including;

// A file whose includes are being read, and those that include it
typedef struct Level {
    const struct Level *above;
    const char *shown, *real; // real: without links; NULL where it has none
    Text folder;              // from the model's: "sub/"
    int depth;
} Level;

// Signals are tables of one file: of several files each is a table.
static bool split_signals(Including *in, ModelFields *part)
{
    Signals *s = &part->signals;
    const Kind *kind = tr_kind_of(TYPE_TABLES);
    if (!s->name.given) return true;
    if (!s->file.given || !s->columns.count)
        tr_fail(in->err, TR_INVALID, s->name.place, "'signals' needs a 'file' and its 'columns'");
    for (uint32_t i = 0; i < s->columns.count && !has_failed(in->err); i++) {
        const Pair *column = &s->columns.at[i];
        const Pair *scale = tr_pairs_find(&s->scale, column->key.text),
                   *offset = tr_pairs_find(&s->offset, column->key.text);
        if (tr_kind_find(kind, &part->tables, column->key.text))
            tr_fail(in->err, TR_INVALID, column->key.place, "'%.*s' stands in 'tables', too",
                    TEXT(column->key.text));
        NamedTable *table = tr_kind_add(in->model, kind, &part->tables, column->key, in->err);
        if (!table) return false;
        table->file = s->file, table->x = s->time, table->value = column->value;
        table->x.given = true;
        table->degree = s->degree, table->outside = s->outside, table->shift = s->shift;
        if (scale) table->scale = scale->value;
        if (offset) table->offset = offset->value;
    }
    *s = (Signals){0};
    tr_kind_defaults(tr_kind_of(TYPE_SIGNALS), s);
    return !has_failed(in->err);
}

// ---- what an include says ------------------------------------------------------------------

static void offer_names(const Names *names, Suggestion *nearest)
{
    for (uint32_t i = 0; i < names->count; i++) tr_suggest(nearest, names->rows[i].name);
}

static bool is_settable(const ModelFields *part, Text name)
{
    return tr_setting_find(&part->parameters, name) || tr_setting_find(&part->inputs, name);
}

// To the names that are bound or to those that are set, each once
static bool give(Including *in, Givens *givens, Value name, Value is)
{
    if (tr_given(givens, name.text))
        tr_fail(in->err, TR_INVALID, name.place, "'%.*s' stands both here and in 'each'",
                TEXT(name.text));
    else
        givens->at[givens->count++] = (Given){name, is, false};
    return !has_failed(in->err);
}

// What is given to the k-th copy: by `bind` and `set`, and by the lists of `each`
static bool take_givens(Including *in, const Include *include, const ModelFields *part, uint32_t k,
                        Naming *n)
{
    const uint32_t lists = include->each.count,
                   most = lists + include->bind.count + include->set.count;
    n->bound.at = tr_arena_alloc(&in->model->arena, most + 1u, sizeof *n->bound.at);
    n->set.at = tr_arena_alloc(&in->model->arena, most + 1u, sizeof *n->set.at);
    if (!n->bound.at || !n->set.at) return tr_fail_memory(in->err), false;
    for (uint32_t i = 0; i < lists; i++) {
        const Each *list = &include->each.at[i];
        if (text_is(list->name.text, "name")) continue;
        if (!give(in, is_settable(part, list->name.text) ? &n->set : &n->bound, list->name,
                  list->values.at[k]))
            return false;
    }
    for (uint32_t i = 0; i < include->bind.count; i++)
        if (!give(in, &n->bound, include->bind.at[i].key, include->bind.at[i].value)) return false;
    for (uint32_t i = 0; i < include->set.count; i++)
        if (!give(in, &n->set, include->set.at[i].key, include->set.at[i].value)) return false;
    return true;
}

// A name takes a formula only where it is a parameter or an input.
static void refuse_formula(Including *in, const ModelFields *part, const Given *given)
{
    Suggestion nearest = {.wanted = given->name.text};
    char hint[TR_HINT_SIZE];
    tr_settings_offer(&part->parameters, &nearest);
    tr_settings_offer(&part->inputs, &nearest);
    tr_fail(
        in->err, TR_INVALID, given->name.place,
        "'%.*s' is no parameter or input of that file, and '%.*s' no name here that it could be%s",
        TEXT(given->name.text), TEXT(given->is.text), tr_hint(&nearest, hint));
}

// That what is meant by bound names is there
static bool check_bound(Including *in, const ModelFields *part, const Naming *n)
{
    for (uint32_t i = 0; i < n->bound.count && !has_failed(in->err); i++) {
        const Given *given = &n->bound.at[i];
        const Text is = given->is.text;
        Suggestion nearest = {.wanted = is};
        char hint[TR_HINT_SIZE];
        bool known = text_is(is, "world");
        for (size_t k = is.length; k && !known; k--)
            known = (k == is.length || is.at[k] == '.') &&
                    tr_names_find(n->others, (Text){is.at, k}) != NO_NAME;
        offer_names(n->others, &nearest);
        if (tr_setting_find(&part->parameters, given->name.text))
            tr_fail(in->err, TR_INVALID, given->name.place,
                    "'%.*s' is a parameter: it is given by 'set', not by 'bind'",
                    TEXT(given->name.text));
        else if (text_is(given->name.text, "world") || text_is(given->name.text, "ground"))
            tr_fail(in->err, TR_INVALID, given->name.place,
                    "'%.*s' is the same in all files: a body is bound", TEXT(given->name.text));
        else if (!known && tr_head_name(is).length != is.length)
            refuse_formula(in, part, given);
        else if (!known)
            tr_fail(in->err, TR_INVALID, given->is.place,
                    "there is no '%.*s' here that '%.*s' could be%s", TEXT(is),
                    TEXT(given->name.text), tr_hint(&nearest, hint));
    }
    return !has_failed(in->err);
}

static bool check_used(Including *in, const Include *include, const ModelFields *part,
                       const Naming *n)
{
    const Text file = include->file.text;
    char hint[TR_HINT_SIZE];
    for (uint32_t i = 0; i < n->set.count; i++) {
        const Value name = n->set.at[i].name;
        Suggestion nearest = {.wanted = name.text};
        tr_settings_offer(&part->parameters, &nearest);
        tr_settings_offer(&part->inputs, &nearest);
        if (n->set.at[i].used) continue;
        tr_fail(in->err, TR_INVALID, name.place, "'%.*s' has no parameter or input '%.*s'%s",
                TEXT(file), TEXT(name.text), tr_hint(&nearest, hint));
    }
    for (uint32_t i = 0; i < n->bound.count; i++) {
        const Value name = n->bound.at[i].name;
        Suggestion nearest = {.wanted = name.text};
        offer_names(n->own, &nearest);
        if (n->bound.at[i].used) continue;
        tr_fail(in->err, TR_INVALID, name.place, "'%.*s' does not speak of '%.*s'%s", TEXT(file),
                TEXT(name.text), tr_hint(&nearest, hint));
    }
    return !has_failed(in->err);
}

// The names of the copies; without `each` the include's own. False where lists do not fit.
static bool find_copies(Including *in, const Include *include, const Value **names, uint32_t *count)
{
    const Each *own = tr_kind_find(tr_kind_of(TYPE_EACH), &include->each, text_of("name"));
    *names = own ? own->values.at : &include->name, *count = own ? own->values.count : 1;
    if (include->each.count && (!own || !own->values.count))
        return tr_fail(in->err, TR_INVALID, include->each.at[0].name.place,
                       "'each' needs 'name', a list of what the names of each copy begin with"),
               false;
    for (uint32_t i = 0; i < include->each.count; i++) {
        const Each *list = &include->each.at[i];
        if (list->values.count == *count) continue;
        tr_fail(in->err, TR_INVALID, list->name.place,
                "'%.*s' has %u value%s for %u cop%s: each has one", TEXT(list->name.text),
                list->values.count, plural(list->values.count), *count, *count == 1 ? "y" : "ies");
        return false;
    }
    for (uint32_t i = 0; i < *count; i++) {
        if (!tr_is_word((*names)[i].text) || (*names)[i].text.length > TR_NAME_SHOWN)
            tr_fail(in->err, TR_INVALID, (*names)[i].place,
                    "'%.*s' is no name: ASCII letters, digits and '_', %d at most",
                    TEXT((*names)[i].text), TR_NAME_SHOWN);
        for (uint32_t k = 0; k < i && *count <= MOST_COPIES; k++)
            if (text_equal((*names)[k].text, (*names)[i].text))
                tr_fail(in->err, TR_INVALID, (*names)[i].place, "two copies are called '%.*s'",
                        TEXT((*names)[i].text));
    }
    return !has_failed(in->err);
}

// ---- files ---------------------------------------------------------------------------------

static const char *kept_at(Including *in, Arena *arena, Text text)
{
    const char *kept = tr_arena_text(arena, text.at, text.length);
    if (!kept) tr_fail_memory(in->err);
    return kept ? kept : "";
}

static Text folder_of(Text path)
{
    while (path.length && path.at[path.length - 1] != '/') path.length--;
    return path;
}

// As it can be opened from here
static const char *shown_path(Including *in, Text name)
{
    const bool is_absolute = name.length && name.at[0] == '/';
    const Text folder = folder_of(text_of(in->model->path ? in->model->path : ""));
    const Text path = is_absolute ? name : tr_path_joined(in->model, folder, name, in->err);
    return kept_at(in, &in->model->origins, path);
}

static bool note_file(Including *in, const char *path, Text text)
{
    Model *model = in->model;
    const size_t count = model->included_count;
    if ((count & (count + 1)) == 0) { // room for 1, 3, 7 ... more
        Included *grown = tr_arena_alloc(&model->arena, 2 * count + 1, sizeof *grown);
        if (!grown) return tr_fail_memory(in->err), false;
        if (count) memcpy(grown, model->included, count * sizeof *grown);
        model->included = grown;
    }
    model->included[model->included_count++] = (Included){path, text};
    return true;
}

// "a includes b, which includes a"
static bool refuse_circle(Including *in, const Level *level, Value file, const char *again)
{
    char chain[300];
    size_t length = 0;
    const Level *first = level;
    while (first->above && !(first->real && strcmp(first->real, again) == 0)) first = first->above;
    for (const Level *l = level; l && length < sizeof chain; l = l == first ? NULL : l->above)
        length += (size_t)snprintf(chain + length, sizeof chain - length, "%s'%s'",
                                   l == level ? "" : ", which is included by ", l->shown);
    tr_fail(in->err, TR_INVALID, file.place, "'%.*s' includes itself, by %.290s", TEXT(file.text),
            chain);
    return false;
}

static bool check_level(Including *in, const Level *level, const Include *include)
{
    if (!include->file.given)
        tr_fail(in->err, TR_INVALID, include->name.place, "the include '%.*s' needs a 'file'",
                TEXT(include->name.text));
    else if (level->depth >= MOST_DEPTH)
        tr_fail(in->err, TR_INVALID, include->file.place,
                "files include each other more than %d deep", MOST_DEPTH);
    return !has_failed(in->err);
}

// The text of an included file; `real` is where it is.
static Text read_file(Including *in, const Level *level, const Include *include, Text name,
                      const char **real)
{
    tr_error why = {0};
    size_t length = 0;
    char *path = NULL;
    char *text = tr_beside_read(&in->where, name, MOST_BYTES, &length, &path, &why);
    Text kept = {0};
    if (why.status == TR_NO_MEMORY)
        tr_fail_memory(in->err);
    else if (why.status)
        tr_fail(in->err, why.status, include->file.place, "%s", why.text);
    *real = text ? kept_at(in, &in->model->arena, text_of(path)) : NULL;
    for (const Level *l = level; l && text && !has_failed(in->err); l = l->above)
        if (l->real && strcmp(l->real, *real) == 0) refuse_circle(in, level, include->file, *real);
    if (text && !has_failed(in->err)) {
        kept = (Text){kept_at(in, &in->model->arena, (Text){text, length}), length};
        in->bytes += length;
        note_file(in, *real, kept);
    }
    free(text);
    free(path);
    return kept;
}

// What was read of a file, with all that it includes
typedef struct Part {
    const Include *include;
    const Origin *read;
    ModelFields *fields;
    Text folder;
    size_t copies, bytes; // that one copy comes to
} Part;

static bool check_size(Including *in, const Part *part, uint32_t count)
{
    const Place place = part->include->name.place;
    if (in->copies + count * (1 + part->copies) > MOST_COPIES)
        tr_fail(in->err, TR_INVALID, place, "more than %d copies of files are included",
                MOST_COPIES);
    else if (in->bytes + count * part->bytes > MOST_BYTES)
        tr_fail(in->err, TR_INVALID, place, "the files that are included come to more than %d MB",
                MOST_BYTES >> 20);
    return !has_failed(in->err);
}

// ---- all of an include ---------------------------------------------------------------------

// Its names are known to includes that stand below: these may bind them.
static bool make_copy(Including *in, Naming *n, const Part *part, ModelFields *into, Names *others)
{
    const bool good = tr_copy_into(n, part->fields, into, others);
    in->copies += 1 + part->copies, in->bytes += part->bytes + n->made;
    return good && check_size(in, part, 0);
}

static bool name_copy(Including *in, Naming *n, const Part *part, Text name)
{
    Origin *copy = tr_arena_alloc(&in->model->origins, 1, sizeof *copy);
    char *prefix = tr_arena_alloc(&in->model->arena, name.length + 2, 1);
    if (!copy || !prefix) return tr_fail_memory(in->err), false;
    *copy = *part->read;
    copy->as = kept_at(in, &in->model->origins, name);
    memcpy(prefix, name.at, name.length);
    prefix[name.length] = '_';
    n->prefix = (Text){prefix, name.length + 1};
    n->read = part->read, n->copy = copy;
    return true;
}

// Told of the first copies: others differ in numbers.
static void tell_copy(Including *in, const Part *part, const Value *names, uint32_t k,
                      uint32_t count)
{
    enum { TOLD = 8 };
    if (k == 0)
        tr_buffer_print(&in->told, "%s%.*s as ", in->told.length ? "; " : "",
                        TEXT(part->include->file.text));
    if (k < TOLD)
        tr_buffer_print(&in->told, "%s%.*s", k ? ", " : "", TEXT(names[k].text));
    else if (k == TOLD)
        tr_buffer_print(&in->told, ", ... (%u)", count);
}

static bool copy_all(Including *in, const Part *part, ModelFields *into, Names *others)
{
    const Include *include = part->include;
    Names own = {0};
    const Value *names = NULL;
    uint32_t count = 0;
    bool good = find_copies(in, include, &names, &count) && check_size(in, part, count);
    for (uint32_t k = 0; good && k < count; k++) {
        Naming n = {.model = in->model,
                    .err = in->err,
                    .folder = part->folder,
                    .own = &own,
                    .others = others};
        good = take_givens(in, include, part->fields, k, &n) &&
               name_copy(in, &n, part, names[k].text) &&
               (k > 0 || tr_collect_names(part->fields, &n, &own, in->err)) &&
               check_bound(in, part->fields, &n) && make_copy(in, &n, part, into, others) &&
               (k > 0 || check_used(in, include, part->fields, &n));
        tell_copy(in, part, names, k, count);
    }
    tr_names_free(&own);
    return good;
}

static bool include_all(Including *in, const Level *level, ModelFields *into);

static bool include_one(Including *in, const Level *level, const Include *include,
                        ModelFields *into, Names *others)
{
    if (!check_level(in, level, include)) return false;
    const size_t copies = in->copies, bytes = in->bytes;
    Level inner = {.above = level, .depth = level->depth + 1};
    const Text name = tr_path_joined(in->model, level->folder, include->file.text, in->err);
    const Text text = read_file(in, level, include, name, &inner.real);
    Origin *read = tr_arena_alloc(&in->model->origins, 1, sizeof *read);
    ModelFields *fields = tr_arena_alloc(&in->model->arena, 1, sizeof *fields);
    if (!read || !fields) return tr_fail_memory(in->err), false;
    if (has_failed(in->err)) return false;
    inner.shown = shown_path(in, name), inner.folder = folder_of(name);
    *read = (Origin){.file = inner.shown,
                     .by = kept_at(in, &in->model->origins, text_of(level->shown)),
                     .at = include->name.place,
                     .as = kept_at(in, &in->model->origins, include->name.text)};
    const Part part = {include, read, fields, folder_of(include->file.text), 0, 0};
    Part whole = part;
    if (!tr_fields_parse(in->model, read, text, fields, in->err) || !split_signals(in, fields) ||
        !include_all(in, &inner, fields))
        return false;
    whole.copies = in->copies - copies, whole.bytes = in->bytes - bytes;
    return copy_all(in, &whole, into, others);
}

static bool include_all(Including *in, const Level *level, ModelFields *into)
{
    const Includes includes = into->include;
    Names names = {0};
    bool good = !includes.count || tr_collect_names(into, NULL, &names, in->err);
    for (uint32_t i = 0; good && i < includes.count; i++)
        good = include_one(in, level, &includes.at[i], into, &names);
    into->include = (Includes){0};
    tr_names_free(&names);
    return good;
}

bool tr_model_include(Model *model, const char *const *allowed, size_t allowed_count, tr_error *err)
{
    if (!model->fields.include.count) return true;
    Including in = {.model = model, .where = {model->place, allowed, allowed_count}, .err = err};
    char *real = model->path ? realpath(model->place, NULL) : NULL;
    const Level top = {
        .shown = model->path ? model->path : "the model", .real = real, .folder = text_of("")};
    const bool good = include_all(&in, &top, &model->fields);
    if (good)
        model->told_included = kept_at(&in, &model->arena, (Text){in.told.at, in.told.length});
    tr_buffer_free(&in.told);
    free(real);
    return good && !has_failed(err);
}
