// SPDX-License-Identifier: Apache-2.0
// Prints the calls by which Python makes models, from the rows that the reader works with: a
// table of all fields, and a method for each section of a model file.
//   model_calls >calls.py
#include "model/model.h"

#include <stdio.h>
#include <string.h>

static const char head[] =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# Written by tools/model_calls.c from src/model/field.def; do not edit.\n"
    "\"\"\"What may stand in a model, and a method for each section of it: see draft.py.\"\"\"\n"
    "\n"
    "# Of each kind of thing: key -> (type, kind of things in it or None, many by name, words of "
    "a\n"
    "# choice, required)\n";

static const char *const types[] = {
    [TYPE_FORMULA] = "FORMULA", [TYPE_VECTOR] = "VECTOR", [TYPE_NUMBERS] = "NUMBERS",
    [TYPE_WORD] = "WORD",       [TYPE_CHOICE] = "CHOICE", [TYPE_FLAG] = "FLAG",
    [TYPE_TEXT] = "TEXT",       [TYPE_LIST] = "LIST",     [TYPE_PAIRS] = "PAIRS",
    [TYPE_PARTS] = "PARTS",
};

// Within triple quotes
static void print_words(const char *words)
{
    for (; *words; words++) {
        if (*words == '\\' || *words == '"') putchar('\\');
        putchar(*words);
    }
}

static void print_field(const Field *field)
{
    const Kind *kind = tr_kind_of(field->type);
    printf("        \"%s\": (\"%s\", ", field->key, kind ? "KIND" : types[field->type]);
    if (kind)
        printf("\"%s\", %s, ", kind->title, kind->named ? "True" : "False");
    else
        printf("None, False, ");
    printf("\"%s\", %s),\n", field->type == TYPE_CHOICE ? field->unit : "",
           tr_field_is_required(field) ? "True" : "False");
}

static void print_table(void)
{
    printf("KINDS = {\n");
    for (size_t k = 0; k < tr_kind_count; k++) {
        const Kind *kind = &tr_kinds[k];
        printf("    \"%s\": {\n", kind == tr_kind_model() ? "model" : kind->title);
        for (size_t i = 0; i < kind->field_count; i++) print_field(&kind->fields[i]);
        printf("    },\n");
    }
    printf("}\n");
}

// ---- methods -------------------------------------------------------------------------------

// One of a section: bodies, fixes, joints, include -> body, fix, joint, include
static const char *singular(const char *key)
{
    static char word[60];
    const size_t length = strlen(key);
    snprintf(word, sizeof word, "%s", key);
    if (length > 3 && strcmp(key + length - 3, "ies") == 0)
        snprintf(word + length - 3, sizeof word - length + 3, "y");
    else if (length > 3 && strcmp(key + length - 3, "xes") == 0)
        word[length - 2] = 0;
    else if (length > 2 && key[length - 1] == 's' && key[length - 2] != 's')
        word[length - 1] = 0;
    return word;
}

// A parameter's value, which may stand alone, is what comes after its name: it is no keyword.
static size_t first_keyword(const Kind *kind) { return is_setting_kind(kind) ? 1 : 0; }

static void print_keywords(const Kind *kind)
{
    for (size_t i = first_keyword(kind); i < kind->field_count; i++)
        printf(", %s=None", kind->fields[i].key);
}

static void print_given(const Kind *kind)
{
    printf("{");
    const size_t first = first_keyword(kind);
    for (size_t i = first; i < kind->field_count; i++)
        printf("%s\"%s\": %s", i > first ? ", " : "", kind->fields[i].key, kind->fields[i].key);
    printf("}");
}

// The keys of a thing in a thing
static void print_parts(const Kind *kind)
{
    if (!kind) return;
    printf("; a dict%s of:", kind->named ? " by name, each" : "");
    for (size_t i = 0; i < kind->field_count; i++) printf(" %s", kind->fields[i].key);
}

static void print_docs(const Kind *kind)
{
    for (size_t i = 0; i < kind->field_count; i++) {
        const Field *field = &kind->fields[i];
        printf("        %s: ", field->key);
        if (field->type == TYPE_CHOICE) printf("one of %s: ", field->unit);
        if (field->type != TYPE_CHOICE && field->unit[0]) printf("[%s] ", field->unit);
        print_words(field->doc);
        if (field->standard[0]) printf(" (else %s)", field->standard);
        print_parts(tr_kind_of(field->type));
        printf("\n");
    }
}

// Things by name: m.body("frame", mass=3); `fields` is all of it as a mapping, or its short form.
static void print_named(const Field *field, const Kind *kind)
{
    printf("\n    def %s(self, name, fields=None, /, *", singular(field->key));
    print_keywords(kind);
    printf(", **unknown):\n        \"\"\"One of `%s`, by its name: ", field->key);
    print_words(field->doc);
    printf(".\n\n");
    print_docs(kind);
    printf("        \"\"\"\n        return self._thing(\"%s\", name, fields, ", field->key);
    print_given(kind);
    printf(", unknown)\n");
}

// What there is once: m.ground(height="hill(x, y)")
static void print_single(const Field *field, const Kind *kind)
{
    printf("\n    def %s(self, fields=None, /, *", field->key);
    print_keywords(kind);
    printf(", **unknown):\n        \"\"\"`%s`: ", field->key);
    print_words(field->doc);
    printf(".\n\n");
    print_docs(kind);
    printf("        \"\"\"\n        return self._section(\"%s\", fields, ", field->key);
    print_given(kind);
    printf(", unknown)\n");
}

// Pairs: m.initial("d(roll)", 0.1), m.initial({"roll": 0.1}), m.output("tip", "x + l*sin(angle)")
static void print_pairs(const Field *field)
{
    printf("\n    def %s(self, name, value=None, /):\n        \"\"\"One of `%s`, or several as a "
           "dict: ",
           singular(field->key), field->key);
    print_words(field->doc);
    printf(".\"\"\"\n        return self._pair(\"%s\", name, value)\n", field->key);
}

static bool has_call(const Field *field)
{
    return tr_kind_of(field->type) || field->type == TYPE_PAIRS;
}

// A section is said by one call, or by many.
static void print_sections(const Kind *model)
{
    printf("\n    SECTIONS = {\n");
    for (size_t i = 0; i < model->field_count; i++) {
        const Field *field = &model->fields[i];
        const Kind *kind = tr_kind_of(field->type);
        const bool is_many = kind ? kind->named : true;
        if (has_call(field))
            printf("        \"%s\": \"%s\",\n", is_many ? singular(field->key) : field->key,
                   field->key);
    }
    printf("    }\n");
}

static void print_maker(const Kind *model)
{
    printf("\n    def __init__(self, name=None, *");
    for (size_t i = 0; i < model->field_count; i++) {
        const Field *field = &model->fields[i];
        if (!has_call(field) && strcmp(field->key, "name") != 0) printf(", %s=None", field->key);
    }
    printf(", **unknown):\n        self._begin({\"trundle\": 1 if trundle is None else trundle");
    for (size_t i = 0; i < model->field_count; i++) {
        const Field *field = &model->fields[i];
        if (!has_call(field) && strcmp(field->key, "trundle") != 0)
            printf(", \"%s\": %s", field->key, field->key);
    }
    printf("}, unknown)\n");
}

int main(void)
{
    const Kind *model = tr_kind_model();
    fputs(head, stdout);
    print_table();
    printf("\n\nclass Calls:\n    \"\"\"A method for each section of a model.\"\"\"\n");
    print_sections(model);
    print_maker(model);
    for (size_t i = 0; i < model->field_count; i++) {
        const Field *field = &model->fields[i];
        const Kind *kind = tr_kind_of(field->type);
        if (kind && kind->named)
            print_named(field, kind);
        else if (kind)
            print_single(field, kind);
        else if (field->type == TYPE_PAIRS)
            print_pairs(field);
    }
    return 0;
}
