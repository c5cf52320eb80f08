// SPDX-License-Identifier: Apache-2.0
// Everything that can be wrong with a model file, word by word: keys, types, YAML, size, paths.
#include "folder.h"
#include "model_values.h"

#include <sys/stat.h>
#include <time.h>

// ---- wrong files ---------------------------------------------------------------------------

typedef struct Wrong {
    const char *text;
    int line, column;
    const char *words;
} Wrong;

static void assert_wrong(const Wrong *w, size_t count)
{
    for (size_t i = 0; i < count; i++, w++) {
        tr_error err = {0};
        Model *model = tr_model_parse(w->text, &err);
        const bool same = !model && err.status == TR_INVALID && err.line == w->line &&
                          err.column == w->column && strcmp(err.text, w->words) == 0;
        if (!same)
            fail_msg("%s\nsays %d:%d: %s\nnot  %d:%d: %s", w->text, err.line, err.column, err.text,
                     w->line, w->column, w->words);
    }
}
#define ASSERT_WRONG(rows) assert_wrong(rows, sizeof(rows) / sizeof *(rows))

static void test_unknown_keys(void **state)
{
    (void)state;
    static const Wrong rows[] = {
        {"trundle: 1\nbodie: {}\n", 2, 1, "unknown key 'bodie' in 'model'; did you mean 'bodies'?"},
        {"trundle: 1\ncolour: red\n", 2, 1,
         "'colour' is a key of 'shapes', not of 'model'; there are 'trundle', 'name', "
         "'parameters', "
         "'inputs', 'functions', 'tables', 'signals', 'gravity', 'bodies', 'joints', 'frames', "
         "'ground', 'contacts', 'loops', ..."},
        {"trundle: 1\nbodies:\n  a: {mas: 1}\n", 3, 7,
         "unknown key 'mas' in 'a'; did you mean 'mass'?"},
        {"trundle: 1\nbodies:\n  a: {Mass: 1}\n", 3, 7,
         "unknown key 'Mass' in 'a'; did you mean 'mass'?"},
        {"trundle: 1\nbodies:\n  a:\n    joint: {typ: free}\n", 4, 13,
         "unknown key 'typ' in 'joint'; did you mean 'type'?"},
        {"trundle: 1\nbodies: {a: {inertia: {ww: 1}}}\n", 2, 24,
         "unknown key 'ww' in 'inertia'; there are 'xx', 'yy', 'zz', 'xy', 'xz', 'yz', 'axial', "
         "'radial', 'axis', 'about'"},
        {"trundle: 1\nroles: {a: {force: 1}}\n", 2, 13,
         "'force' is a key of 'forces', not of 'a'; there are 'torque', 'limit', 'rate', 'motion'"},
        {"trundle: 1\ncases: {a: {ends: 1}}\n", 2, 13,
         "unknown key 'ends' in 'a'; did you mean 'end'?"},
        {"trundle: 1\nbodies: {a: {shapes: {s: {color: 1}}}}\n", 2, 27,
         "unknown key 'color' in 's'; did you mean 'colour'?"},
        {"trundle: 1\nforces: {a: {\"on\": b}}\n", 2, 15,
         "'on' is a key of 'contacts', not of 'a'; there are 'body', 'at', 'force', 'torque', "
         "'axes', 'noise', 'torque_noise', 'reaction'"},
        // formulas cut at their commas
        {"trundle: 1\nbodies: {a: {joint: {axis: 0, 1, 0}}}\n", 2, 31,
         "unknown key '1' in 'joint': inside {} quote a formula that holds a comma"},
        {"trundle: 1\nbodies: {a: {joint: {axis: u, v, 0}}}\n", 2, 31,
         "unknown key 'v' in 'joint': inside {} quote a formula that holds a comma"},
        {"trundle: 1\nbodies: {a: {mass: if(b, -1, c)}}\n", 2, 26,
         "unknown key '-1' in 'a': inside {} quote a formula that holds a comma"},
        {"trundle: 1\nparameters: {a: max(1, 2)}\n", 2, 26,
         "'2)' has no value; if it is part of a formula, quote this formula"},
    };
    ASSERT_WRONG(rows);
}

static void test_duplicates(void **state)
{
    (void)state;
    static const Wrong rows[] = {
        {"trundle: 1\nname: a\nname: b\n", 3, 1, "'name' stands twice in 'model'"},
        {"trundle: 1\ntrundle: 1\n", 2, 1, "'trundle' stands twice in 'model'"},
        {"trundle: 1\nbodies: {}\nbodies: {}\n", 3, 1, "'bodies' stands twice in 'model'"},
        {"trundle: 1\nparameters: {}\nparameters: {}\n", 3, 1,
         "'parameters' stands twice in 'model'"},
        {"trundle: 1\nparameters:\n  a: 1\n  b: 2\n  a: 1\n", 5, 3,
         "'a' stands twice in 'parameters'"},
        {"trundle: 1\ninitial: {d(x): 1, 'd(x)': 2}\n", 2, 21, "'d(x)' stands here twice"},
        {"trundle: 1\nbodies: {a: {}, a: {}}\n", 2, 17, "'a' stands twice in 'bodies'"},
        {"trundle: 1\nbodies: {a: {mass: 1, mass: 1}}\n", 2, 23, "'mass' stands twice in 'a'"},
        {"trundle: 1\nbodies: {a: {joint: {}, joint: {}}}\n", 2, 25, "'joint' stands twice in 'a'"},
        {"trundle: 1\nbodies: {a: {joint: {at: 1, at: 1}}}\n", 2, 29,
         "'at' stands twice in 'joint'"},
        {"trundle: 1\nbodies: {a: {inertia: {xx: 1, xx: 1}}}\n", 2, 31,
         "'xx' stands twice in 'inertia'"},
        {"trundle: 1\nbodies: {a: {shapes: {s: {}, s: {}}}}\n", 2, 30,
         "'s' stands twice in 'shapes'"},
        {"trundle: 1\nforces: {a: {}, a: {}}\n", 2, 17, "'a' stands twice in 'forces'"},
        {"trundle: 1\nroles: {a: passive, a: passive}\n", 2, 21, "'a' stands twice in 'roles'"},
        {"trundle: 1\nroles: {a: {torque: {x: 1, x: 2}}}\n", 2, 28, "'x' stands here twice"},
        {"trundle: 1\ncases: {a: {set: {b: 1, b: 1}}}\n", 2, 25, "'b' stands here twice"},
    };
    ASSERT_WRONG(rows);
}

static void test_wrong_types(void **state)
{
    (void)state;
    static const Wrong rows[] = {
        {"trundle: 1\nbodies: a\n", 2, 9, "'bodies' must be a map, written as name: value"},
        {"trundle: 1\nbodies: [a]\n", 2, 9, "'bodies' must be a map, written as name: value"},
        {"trundle: 1\nbodies:\n", 2, 8, "'bodies' must be a map, written as name: value"},
        {"trundle: 1\nbodies: {a: 1}\n", 2, 13, "'a' must be a map, written as name: value"},
        {"trundle: 1\nbodies: {a: {joint: free}}\n", 2, 21,
         "'joint' must be a map, written as name: value"},
        {"trundle: 1\nparameters: 1\n", 2, 13,
         "'parameters' must be a map, written as name: value"},
        {"trundle: 1\noutputs: {a: {b: 1}}\n", 2, 14,
         "'a' is a formula: quote this formula if it holds braces or ': '"},
        {"trundle: 1\nparameters: {a: {b: 1}}\n", 2, 18,
         "unknown key 'b' in 'a'; there are 'value', 'min', 'max', 'unit', 'doc', 'rate'"},
        {"trundle: 1\ninputs: {a: {value: [1]}}\n", 2, 21,
         "'value' is a formula, not a list: quote this formula, as in \"0, 1, 0\""},
        {"trundle: 1\nparameters: {a: {value: 1, min: {b: 1}}}\n", 2, 33,
         "'min' is a formula: quote this formula if it holds braces or ': '"},
        {"trundle: 1\nparameters: {a: {value: 1, unit: }}\n", 2, 34,
         "'unit' has no value; if it is part of a formula, quote this formula"},
        {"trundle: 1\nparameters: {a: {value: 1, doc: [b]}}\n", 2, 33,
         "'doc' is a text, not a list: put it in quotes"},
        {"trundle: 1\ninclude: {a: {file: {b: c}}}\n", 2, 21,
         "'file' is a text, not a map: put it in quotes"},
        {"trundle: 1\nparameters: {a: {value: 1, value: 2}}\n", 2, 28,
         "'value' stands twice in 'a'"},
        {"trundle: 1\ncases: {b: {set: {a: {value: 1}}}}\n", 2, 22,
         "'set' holds values alone, as in 'a: 1': ranges and units stand in 'parameters'"},
        {"trundle: 1\nparameters: {a: [1, 2]}\n", 2, 17,
         "'a' is a formula, not a list: quote this formula, as in \"0, 1, 0\""},
        {"trundle: 1\ngravity: [0, 0, 1]\n", 2, 10,
         "'gravity' is a formula, not a list: quote this formula, as in \"0, 1, 0\""},
        {"trundle: 1\nbodies: {a: {com: [0, 0, 1]}}\n", 2, 19,
         "'com' is a formula, not a list: quote this formula, as in \"0, 1, 0\""},
        {"trundle: 1\nbodies: {a: {mass: }}\n", 2, 20,
         "'mass' has no value; if it is part of a formula, quote this formula"},
        {"trundle: 1\nparameters:\n  a:\n  b: 1\n", 3, 5,
         "'a' has no value; if it is part of a formula, quote this formula"},
        {"trundle: 1\nparameters: {a: ''}\n", 2, 18,
         "'a' has no value; if it is part of a formula, quote this formula"},
        {"trundle: 1\nparameters: {[a]: 1}\n", 2, 14, "a name is expected in 'parameters'"},
        {"trundle: 1\nbodies: {{a: 1}: {}}\n", 2, 10, "a name is expected in 'bodies'"},
        {"trundle: 1\nroles: {a: motor}\n", 2, 12,
         "the role of 'a' is passive, {torque: ...}, {rate: ...} or {motion: ...}"},
        {"trundle: 1\nroles: {a: [passive]}\n", 2, 12, "'a' must be a map, written as name: value"},
        {"trundle: 1\nbodies: {a: {joint: {base: yes}}}\n", 2, 28,
         "'base' is true or false, not 'yes'"},
        {"trundle: 1\ncases: {a: {hold: {b: 1}}}\n", 2, 19,
         "'hold' is a list of names, as in [a, b]"},
        {"trundle: 1\ncases: {a: {hold: [b, [c]]}}\n", 2, 23,
         "'hold' is a list of names, as in [a, b]"},
        {"trundle: 1\ncases: {a: {hold: }}\n", 2, 19, "'hold' is a list of names, as in [a, b]"},
        {"trundle: 1\ncases: {a: {hold: \"b, \xc3\xa9 , , c\"}}\n", 2, 27,
         "'hold' is a list of names, as in [a, b]"},
    };
    ASSERT_WRONG(rows);
}

static void test_wrong_yaml(void **state)
{
    (void)state;
    static const Wrong rows[] = {
        {"trundle: 1\nparameters:\n  a: &x 1\n", 3, 6,
         "'&' starts a YAML anchor; if it is part of a formula, quote this formula"},
        {"trundle: 1\nparameters:\n  a: *x\n", 3, 6,
         "'*' starts a YAML alias; if it is part of a formula, quote this formula"},
        {"trundle: 1\nparameters:\n  a: !x\n", 3, 6,
         "'!' starts a YAML tag; if it is part of a formula, quote this formula"},
        {"trundle: 1\nbodies: &all {}\n", 2, 9,
         "'&' starts a YAML anchor; if it is part of a formula, quote this formula"},
        {"trundle: 1\nparameters: {<<: *x}\n", 2, 18,
         "'*' starts a YAML alias; if it is part of a formula, quote this formula"},
        {"trundle: 1\nparameters:\n  a: b > 0 ? 1 : 2\n", 3, 16,
         "mapping values are not allowed in this context: is the indentation wrong? A formula that "
         "holds ': ' must be quoted"},
        {"trundle: 1\nparameters:\n  a: - b\n", 3, 6,
         "block sequence entries are not allowed in this context: a formula that begins with '- ' "
         "must be quoted"},
        {"trundle: 1\nparameters:\n\ta: 1\n", 3, 1,
         "found character that cannot start any token while scanning for the next token: indent "
         "with spaces, and quote a formula or text like this"},
        {"trundle: 1\nname: \"a\nparameters: {}\n", 2, 7,
         "found unexpected end of stream while scanning a quoted scalar"},
        {"trundle: 1\nparameters: {a: 1, b: 2\n", 2, 13,
         "did not find expected ',' or '}' while parsing a flow mapping: is a quote or a bracket "
         "missing?"},
        {"trundle: 1\nbodies", 2, 1, "could not find expected ':' while scanning a simple key"},
        {"trundle: 1\nname: \"a\\0b\"\n", 2, 7, "this text holds a control character"},
        {"trundle: 1\nparameters: {\"a\\x07\": 1}\n", 2, 14, "this text holds a control character"},
        {"trundle: 1\nname: a\x01\n", 2, 8, "this is not text: control characters are not allowed"},
        {"trundle: 1\nname: \xc3\xa9\xff\n", 2, 8, "this is not text: invalid leading UTF-8 octet"},
        {"trundle: 1\nname: \xc3(\n", 2, 8, "this is not text: invalid trailing UTF-8 octet"},
        {"\xff\xfet", 1, 1, "this is not text: invalid leading UTF-8 octet"},
        {"\x89PNG\r\n\x1a\n", 1, 1, "this is not text: invalid leading UTF-8 octet"},
        {"\x7f"
         "ELF\x02\x01",
         1, 1, "this is not text: control characters are not allowed"},
    };
    ASSERT_WRONG(rows);
}

static void test_wrong_documents(void **state)
{
    (void)state;
    static const Wrong rows[] = {
        {"", 1, 1, "the file is empty"},
        {"\n\n", 1, 1, "the file is empty"},
        {"# nothing\n  # here\n", 1, 1, "the file is empty"},
        {"---\n", 2, 1, "'model' must be a map, written as name: value"},
        {"hello\n", 1, 1, "'model' must be a map, written as name: value"},
        {"- a\n", 1, 1, "'model' must be a map, written as name: value"},
        {"{}\n", 1, 1, "the file must begin with 'trundle: 1'"},
        {"name: a\n", 1, 1, "the file must begin with 'trundle: 1'"},
        {"trundle: 2\n", 1, 10, "this file is of version '2'; this program reads version 1"},
        {"trundle: 1.0\n", 1, 10, "this file is of version '1.0'; this program reads version 1"},
        {"trundle: 1\n---\ntrundle: 1\n", 2, 1, "a model file holds one document"},
        {"trundle: 1\n...\n---\n", 3, 1, "a model file holds one document"},
    };
    ASSERT_WRONG(rows);
    Model *model = model_from("%YAML 1.1\n---\n{\"trundle\": \"1\"} # JSON is YAML\n...\n");
    tr_model_free(model);
    tr_error err = {0};
    assert_null(tr_model_parse(NULL, &err));
    assert_int_equal(err.status, TR_OK);
    assert_null(tr_model_parse("nothing", NULL));
    err.status = TR_FAILED; // an earlier error
    assert_null(tr_model_parse("trundle: 1", &err));
    assert_null(tr_model_read("/dev/null", &err));
    assert_null(tr_model_new(&err));
}

// ---- large and cut ones --------------------------------------------------------------------

static void test_every_prefix(void **state)
{
    (void)state;
    char text[sizeof bicycle];
    for (size_t length = 0; length < sizeof bicycle; length++) {
        tr_error err = {0};
        memcpy(text, bicycle, length);
        text[length] = 0;
        Model *model = tr_model_parse(text, &err);
        assert_int_equal(model == NULL, err.status != TR_OK);
        System *system = tr_derive(model, NULL, &err);
        assert_int_equal(system == NULL, err.status != TR_OK);
        if (err.status) {
            assert_int_equal(err.status, TR_INVALID);
            assert_true(err.text[0] && err.line >= 1 && err.line <= 39 && err.column >= 1);
        }
        tr_system_free(system);
        tr_model_free(model);
    }
}

static char *repeated(const char *head, const char *piece, size_t count, const char *tail)
{
    const size_t a = strlen(head), b = strlen(piece), c = strlen(tail);
    char *text = malloc(a + b * count + c + 1);
    assert_non_null(text);
    memcpy(text, head, a);
    for (size_t i = 0; i < count; i++) memcpy(text + a + i * b, piece, b);
    memcpy(text + a + b * count, tail, c + 1);
    return text;
}

static void assert_refused(char *text)
{
    tr_error err = {0};
    assert_null(tr_model_parse(text, &err));
    assert_int_equal(err.status, TR_INVALID);
    assert_true(err.text[0] && strlen(err.text) < 300 && err.line >= 1);
    free(text);
}

static void test_nesting(void **state)
{
    (void)state;
    enum { DEEP = 10000 };
    static const char *const heads[] = {"",
                                        "trundle: 1\nparameters: ", "trundle: 1\nparameters: {a: ",
                                        "trundle: 1\ncases: {a: {hold: ", "trundle: 1\nbodies: "};
    static const char *const pieces[] = {"[", "{", "[{", "{a: ", "- ", "? ", "[\n"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++)
            assert_refused(repeated(heads[i], pieces[k], DEEP, ""));
    Buffer b = {0}; // a: under a: under a: ...
    tr_buffer_print(&b, "trundle: 1\nbodies:\n");
    for (int depth = 1; depth < DEEP / 5; depth++) tr_buffer_print(&b, "%*sa:\n", depth, "");
    assert_false(b.failed);
    assert_refused(b.at);
}

static void test_long_scalars(void **state)
{
    (void)state;
    enum { LONG = 1000000 };
    char *text = repeated("trundle: 1\nname: ", "x", LONG, "\n");
    Model *model = model_from(text);
    assert_int_equal(model->fields.name.text.length, LONG);
    tr_model_free(model);
    free(text);
    assert_refused(repeated("trundle: 1\n\"", "x", LONG, "\": 1\n"));
    assert_refused(repeated("trundle: 1\nbodies: {\"", "x", LONG, "\": {mas: 1}}\n"));
    assert_refused(repeated("trundle: 1\nroles: {\"", "x", LONG, "\": 1}\n"));
    assert_refused(repeated("trundle: 1\nbodies: {a: {joint: {base: ", "x", LONG, "}}}\n"));
    assert_refused(repeated("trundle: ", "x", LONG, "\n"));
}

// 100 MB is refused by its size, unread.
static void test_large_file(void **state)
{
    (void)state;
    const char *path = "large.yaml";
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), 100 << 20), 0);
    fclose(file);
    tr_error err = {0};
    const clock_t begin = clock();
    assert_null(tr_model_read(path, &err));
    assert_true(clock() - begin < CLOCKS_PER_SEC / 10);
    assert_int_equal(err.status, TR_IO);
    assert_string_equal(err.text,
                        "cannot read 'large.yaml': it is larger than the limit of 16777216 bytes");
}

// ---- files ---------------------------------------------------------------------------------

static void test_files(void **state)
{
    (void)state;
    const char *path = "model.yaml";
    tr_error err = {0};
    write_bytes(path, bicycle, sizeof bicycle - 1);
    Model *model = tr_model_read(path, &err), *text = model_from(bicycle);
    assert_non_null(model);
    assert_string_equal(model->path, path);
    assert_same_kind(tr_kind_model(), &model->fields, &text->fields);
    tr_model_free(model);
    tr_model_free(text);

    write_bytes(path, "trundle: 1\nname: a\0b\n", 21);
    assert_null(tr_model_read(path, &err));
    assert_int_equal(err.status, TR_INVALID);
    assert_string_equal(err.text, "this is not text: control characters are not allowed");
    assert_true(err.line == 2 && err.column == 8);
    err = (tr_error){0};
    write_bytes(path, "", 0);
    assert_null(tr_model_read(path, &err));
    assert_string_equal(err.text, "the file is empty");
}

static void test_bad_paths(void **state)
{
    (void)state;
    tr_error err = {0};
    assert_null(tr_model_read("/nowhere/model.yaml", &err));
    assert_int_equal(err.status, TR_IO);
    assert_string_equal(err.text, "cannot read '/nowhere/model.yaml': No such file or directory");
    err = (tr_error){0};
    assert_null(tr_model_read(".", &err));
    assert_int_equal(err.status, TR_IO);
    assert_string_equal(err.text, "cannot read '.': Is a directory");
    err = (tr_error){0};
    assert_null(tr_model_read(NULL, &err));
    assert_null(tr_model_read("/nowhere", NULL));
    if (geteuid() == 0) return; // may read everything
    write_bytes("hidden.yaml", bicycle, sizeof bicycle - 1);
    assert_int_equal(chmod("hidden.yaml", 0), 0);
    err = (tr_error){0};
    assert_null(tr_model_read("hidden.yaml", &err));
    assert_int_equal(err.status, TR_IO);
    assert_string_equal(err.text, "cannot read 'hidden.yaml': Permission denied");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_keys),    cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_wrong_types),     cmocka_unit_test(test_wrong_yaml),
        cmocka_unit_test(test_wrong_documents), cmocka_unit_test(test_every_prefix),
        cmocka_unit_test(test_nesting),         cmocka_unit_test(test_long_scalars),
        cmocka_unit_test(test_large_file),      cmocka_unit_test(test_files),
        cmocka_unit_test(test_bad_paths),
    };
    return cmocka_run_group_tests(tests, enter_folder, NULL);
}
