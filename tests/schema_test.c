// SPDX-License-Identifier: Apache-2.0
// The JSON Schema of model files has every row of field.def; schema_test.py uses it. And the key
// `against`, which was once called `on`.
#include "base/json.h"
#include "model_values.h"

// Through members, one after the other
static Text member(Text object, const char *const *keys)
{
    for (; *keys && object.at; keys++) object = tr_json_member(object, *keys);
    return object;
}

static void assert_property(Text properties, const char *key, const Field *field)
{
    Buffer words = {0};
    const Text property = tr_json_member(properties, key);
    if (!property.at) fail_msg("%s is missing", key);
    assert_true(tr_json_string(tr_json_member(property, "description"), &words));
    assert_non_null(strstr(words.at, field->doc));
    tr_buffer_free(&words);
}

static void test_rows(void **state)
{
    (void)state;
    tr_error err = {0};
    char *text = tr_model_schema(&err);
    assert_int_equal(err.status, TR_OK);
    const Text schema = text_of(text);
    assert_true(tr_json_is_valid(schema));
    for (size_t i = 0; i < tr_kind_count; i++) {
        const Kind *kind = &tr_kinds[i];
        const char *const there[] = {"definitions", kind->title, NULL}, *const top[] = {NULL};
        const Text object = member(schema, kind == tr_kind_model() ? top : there);
        const Text properties = tr_json_member(object, "properties");
        for (size_t k = 0; k < kind->field_count; k++)
            assert_property(properties, kind->fields[k].key, &kind->fields[k]);
        const Field *former = tr_kind_field(kind, text_of("on"));
        assert_int_equal(former != NULL, tr_json_member(properties, "on").at != NULL);
        if (former) assert_property(properties, "on", former);
        const Text rest = tr_json_member(object, "additionalProperties");
        assert_true(text_is(rest, "false"));
    }
    tr_text_free(text);
}

static void test_required(void **state)
{
    (void)state;
    const Kind *loops = tr_kind_of(TYPE_LOOPS), *joints = tr_kind_of(TYPE_JOINTS);
    assert_true(tr_field_is_required(tr_kind_field(loops, text_of("body"))));
    assert_false(tr_field_is_required(tr_kind_field(loops, text_of("length")))); // of rods alone
    assert_false(tr_field_is_required(tr_kind_field(joints, text_of("body"))));  // not of bodies
}

static void assert_choice(FieldType type, const char *key, const char *const *names, size_t count)
{
    const Field *field = tr_kind_field(tr_kind_of(type), text_of(key));
    size_t words = 1;
    for (const char *c = field->unit; *c; c++) words += *c == ' ';
    assert_int_equal(words, count);
    for (size_t i = 0; i < count; i++)
        if (!tr_is_listed(field->unit, names[i])) fail_msg("%s is no %s", names[i], key);
    assert_true(tr_is_listed(field->unit, field->standard));
}
#define ASSERT_CHOICE(type, key, names) \
    assert_choice(type, key, names, sizeof(names) / sizeof *(names))

// Choices are the rows that the physics and the runs know.
static void test_choices(void **state)
{
    (void)state;
    static const char *const joints[] = {
#define JOINT_TYPE(name, ...) #name,
#include "mech/joint.def"
    };
    static const char *const contacts[] = {
#define CONTACT_KIND(name, ...) #name,
#include "mech/contact.def"
    };
    static const char *const loops[] = {
#define LOOP_KIND(name, ...) #name,
#include "mech/contact.def"
    };
    static const char *const methods[] = {
#define METHOD(name, ...) #name,
#include "sim/method.def"
    };
    ASSERT_CHOICE(TYPE_JOINT, "type", joints);
    ASSERT_CHOICE(TYPE_CONTACTS, "kind", contacts);
    ASSERT_CHOICE(TYPE_LOOPS, "kind", loops);
    ASSERT_CHOICE(TYPE_CASES, "method", methods);
}

static void test_after_an_error(void **state)
{
    (void)state;
    tr_error err = {.status = TR_FAILED};
    assert_null(tr_model_schema(&err));
    char *text = tr_model_schema(NULL);
    assert_non_null(text);
    tr_text_free(text);
}

#define MODEL "trundle: 1\nloops: {a: {body: x, %s: y%s}}\n"

static void test_former_name(void **state)
{
    (void)state;
    static const char *const names[] = {"on", "against"};
    for (int i = 0; i < 2; i++) {
        char text[100];
        snprintf(text, sizeof text, MODEL, names[i], "");
        Model *model = model_from(text);
        assert_text(model->fields.loops.at[0].against, "y");
        tr_error err = {0};
        tr_model_set(model, i ? "contacts/c/on" : "contacts/c/against", "z", &err);
        assert_int_equal(err.status, TR_OK);
        assert_text(model->fields.contacts.at[0].against, "z");
        tr_model_free(model);
        snprintf(text, sizeof text, MODEL, names[i], i ? ", on: z" : ", against: z");
        assert_null(tr_model_parse(text, &err));
        assert_string_equal(err.text, "'on' and 'against' are the same key: keep 'against'");
        err = (tr_error){0};
        snprintf(text, sizeof text, MODEL, names[i], i ? ", against: z" : ", on: z");
        assert_null(tr_model_parse(text, &err));
        assert_string_equal(err.text,
                            i ? "'against' stands twice in 'a'" : "'on' stands twice in 'a'");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_required),
        cmocka_unit_test(test_choices),     cmocka_unit_test(test_after_an_error),
        cmocka_unit_test(test_former_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
