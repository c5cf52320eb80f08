// SPDX-License-Identifier: Apache-2.0
// A model with all that it includes as the text of one file, by the rows of field.def. Read again
// it is the same model: numbers and formulas are the texts that they were.
#include "base/options.h"
#include "model/include.h"

enum { LONGEST_KEY = 200 }; // [bytes] in front of its colon; YAML takes 1024 characters

typedef struct Writer {
    Buffer *out;
    int depth;
} Writer;

// Without quotes only what YAML cannot take for anything else
static bool is_bare(Text text)
{
    static const char inside[] = "_.,+-*/^()<>= ";
    if (!text.length || text.at[text.length - 1] == ' ') return false;
    const bool is_signed = text.length > 1 && text.at[0] == '-' && text.at[1] != ' ';
    for (size_t i = is_signed ? 1 : 0; i < text.length; i++) {
        const char c = text.at[i];
        const bool is_plain = is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_plain && (c == 0 || !strchr(i ? inside : "_.(", c))) return false;
    }
    return true;
}

static void write_text(Writer *w, Text text)
{
    if (is_bare(text)) {
        tr_buffer_add(w->out, text.at, text.length);
        return;
    }
    tr_buffer_add(w->out, "\"", 1);
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.at[i];
        if (c == '\n' || c == '\t')
            tr_buffer_add(w->out, c == '\n' ? "\\n" : "\\t", 2);
        else if (c == '"' || c == '\\')
            tr_buffer_add(w->out, (const char[]){'\\', c}, 2);
        else
            tr_buffer_add(w->out, &c, 1);
    }
    tr_buffer_add(w->out, "\"", 1);
}

static void begin_line(Writer *w) { tr_buffer_print(w->out, "%*s", 2 * w->depth, ""); }

static void write_key(Writer *w, Text key)
{
    begin_line(w);
    if (key.length <= LONGEST_KEY) {
        write_text(w, key);
    } else {
        tr_buffer_print(w->out, "? ");
        write_text(w, key);
        tr_buffer_print(w->out, "\n");
        begin_line(w);
    }
    tr_buffer_print(w->out, ":");
}

static void write_value(Writer *w, Text key, Text value)
{
    write_key(w, key);
    tr_buffer_print(w->out, " ");
    write_text(w, value);
    tr_buffer_print(w->out, "\n");
}

static void write_pairs(Writer *w, const Field *field, const Pairs *pairs)
{
    if (!pairs->count) return;
    if (field->type == TYPE_PARTS && !pairs->at[0].key.text.length) {
        write_value(w, text_of(field->key), pairs->at[0].value.text);
        return;
    }
    write_key(w, text_of(field->key));
    tr_buffer_print(w->out, "\n");
    w->depth++;
    for (uint32_t i = 0; i < pairs->count; i++)
        write_value(w, pairs->at[i].key.text, pairs->at[i].value.text);
    w->depth--;
}

static void write_words(Writer *w, const Field *field, const Values *words)
{
    if (!words->count) return;
    write_key(w, text_of(field->key));
    tr_buffer_print(w->out, "\n");
    for (uint32_t i = 0; i < words->count; i++) {
        begin_line(w);
        tr_buffer_print(w->out, "  - ");
        write_text(w, words->at[i].text);
        tr_buffer_print(w->out, "\n");
    }
}

static void write_fields(Writer *w, const Kind *kind, const void *thing);

// The fields behind a key, or {} where there are none
static void write_thing(Writer *w, Text key, const Kind *kind, const void *thing)
{
    write_key(w, key);
    const size_t before = w->out->length;
    tr_buffer_print(w->out, "\n");
    const size_t begun = w->out->length;
    w->depth++;
    write_fields(w, kind, thing);
    w->depth--;
    if (w->out->length != begun || w->out->failed) return;
    w->out->length = before;
    tr_buffer_print(w->out, " {}\n");
}

static bool is_short(const Setting *s)
{
    return !s->min.given && !s->max.given && !s->unit.given && !s->doc.given && !s->rate.given;
}

static void write_things(Writer *w, const Field *field, const Kind *kind, const AnyList *list)
{
    if (!list->count) return;
    write_key(w, text_of(field->key));
    tr_buffer_print(w->out, "\n");
    w->depth++;
    for (uint32_t i = 0; i < list->count; i++) {
        const Value *thing = (const void *)(list->at + i * kind->size);
        if (is_setting_kind(kind) && is_short((const Setting *)(const void *)thing))
            write_value(w, thing->text, ((const Setting *)(const void *)thing)->value.text);
        else
            write_thing(w, thing->text, kind, thing);
    }
    w->depth--;
}

static void write_field(Writer *w, const Field *field, const void *at)
{
    const Kind *kind = tr_kind_of(field->type);
    const Value *value = at;
    if (kind && kind->named)
        write_things(w, field, kind, at);
    else if (field->type == TYPE_PAIRS || field->type == TYPE_PARTS)
        write_pairs(w, field, at);
    else if (field->type == TYPE_LIST)
        write_words(w, field, at);
    else if (kind && value->given)
        write_thing(w, text_of(field->key), kind, at);
    else if (value->given)
        write_value(w, text_of(field->key), value->text);
}

static void write_fields(Writer *w, const Kind *kind, const void *thing)
{
    for (size_t i = 0; i < kind->field_count; i++)
        write_field(w, &kind->fields[i], (const char *)thing + kind->fields[i].offset);
}

char *tr_model_expand(const tr_model *model, const tr_derive_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_derive_options o = tr_derive_defaults();
    if (!model || !tr_take_options(&o, sizeof o, options, "tr_derive_defaults", err)) return NULL;
    Model *flat = tr_model_flat(model, o.allowed, o.allowed_count, err);
    if (!flat) return NULL;
    Buffer out = {0};
    Writer w = {.out = &out};
    if (flat->told_included) {
        tr_buffer_print(&out, "# With all that it includes: ");
        tr_buffer_show(&out, text_of(flat->told_included), false);
        tr_buffer_print(&out, "\n");
    }
    write_fields(&w, tr_kind_model(), &flat->fields);
    tr_model_free(flat);
    return tr_text_finish(&out, err);
}
