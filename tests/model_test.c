// SPDX-License-Identifier: Apache-2.0
// Models: what a file says is found in the structures, with its place, and models made by calls are
// the same.
#include "model_values.h"

#define assert_place(value, wanted_line, wanted_column)        \
    do {                                                       \
        assert_int_equal((value).place.line, wanted_line);     \
        assert_int_equal((value).place.column, wanted_column); \
    } while (0)

// ---- the example ---------------------------------------------------------------------------

static void test_example(void **state)
{
    (void)state;
    Model *model = model_from(bicycle);
    const ModelFields *f = &model->fields;
    assert_null(model->path);
    assert_text(f->trundle, "1");
    assert_text(f->name, "Whipple-Carvallo bicycle");
    assert_int_equal(f->parameters.count, 7);
    assert_text(f->parameters.at[1].name, "theta");
    assert_text(f->parameters.at[1].value, "pi/10");
    assert_int_equal(f->bodies.count, 3);
    const Body *frame = &f->bodies.at[0], *wheel = &f->bodies.at[1];
    assert_text(frame->name, "frame");
    assert_text(frame->joint.type, "free");
    assert_text(frame->com, "0.3, 0, 0.6");
    assert_text(frame->inertia.xz, "-2.4");
    assert_text(wheel->parent, "frame");
    assert_text(wheel->joint.axis, "0, 1, 0");
    assert_text(wheel->joint.coordinate, "rear");
    assert_text(wheel->inertia.radial, "0.0603");
    assert_text(f->functions.at[0].key, "ramp(t, a, b)");
    assert_text(f->roles.at[0].name, "steer");
    assert_int_equal(f->roles.at[0].torque.count, 1);
    assert_text(f->roles.at[0].torque.at[0].key, "");
    assert_text(f->roles.at[0].torque.at[0].value, "-Kps*(target - steer)");
    assert_text(f->outputs.at[0].value, "asin(frame.R32)");
    assert_text(f->initial.at[1].key, "d(roll)");
    assert_text(f->cases.at[1].set.at[0].value, "4.0");
    assert_int_equal(f->cases.at[1].roles.count, 1);
    assert_int_equal(f->cases.at[1].roles.at[0].torque.count, 0); // passive
    System *system = derived_from(model, NULL);
    tr_system_free(system);
    tr_model_free(model);
}

static void test_places(void **state)
{
    (void)state;
    Model *model = model_from(bicycle);
    const ModelFields *f = &model->fields;
    assert_place(f->trundle, 1, 10);
    assert_place(f->name, 2, 7);
    assert_place(f->parameters.at[0].name, 4, 3);
    assert_place(f->parameters.at[0].value, 4, 6);
    assert_place(f->bodies.at[1].name, 17, 3);
    assert_place(f->bodies.at[0].com, 15, 10);
    assert_place(f->bodies.at[1].joint.name, 19, 12);
    assert_place(f->bodies.at[1].joint.axis, 19, 36); // behind the quote
    assert_place(f->bodies.at[2].joint.axis, 24, 36); // either quote
    assert_place(f->bodies.at[2].joint.coordinate, 25, 25);
    assert_place(f->roles.at[0].torque.at[0].value, 31, 19);
    assert_place(f->cases.at[1].set.at[0].value, 38, 24);
    tr_model_free(model);

    model = model_from(
        "\xef\xbb\xbftrundle: 1\r\n"
        "name: \"\xc3\xa9\xe2\x86\x92\"\r\n"
        "parameters: {\xc3\xa9: 1, '\xf0\x9f\x9a\xb2': \"2\"}\r\n"); // columns are characters
    assert_place(model->fields.trundle, 1, 10);                      // no mark, no \r
    assert_text(model->fields.trundle, "1");
    assert_place(model->fields.name, 2, 8);
    assert_place(model->fields.parameters.at[0].name, 3, 14);
    assert_place(model->fields.parameters.at[0].value, 3, 17);
    assert_place(model->fields.parameters.at[1].name, 3, 21);
    assert_place(model->fields.parameters.at[1].value, 3, 26);
    tr_model_free(model);
}

// A mistake inside a formula is shown where it stands, quoted or not.
static void test_places_in_formulas(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int line, column;
    } cases[] = {
        {"mass: 1 + nil", 4, 15},
        {"mass: \"1 + nil\"", 4, 16},
        {"mass: '1 + nil'", 4, 16},
        {"com: 0, nil, 0", 4, 13},
        {"com: \"0, 0, nil\"", 4, 17},
        {"com: '(1), max(1,2), nil'", 4, 26},
        {"inertia: {xx: nil}", 4, 19},
        {"inertia:\n      xx: nil", 5, 11},
        {"inertia: {xx: 1, yy: \"2*nil\"}", 4, 29},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        tr_error err = {0};
        snprintf(text, sizeof text, "trundle: 1\nbodies:\n  frame:\n    %s\n", cases[i].body);
        Model *model = model_from(text);
        assert_null(tr_derive(model, NULL, &err));
        assert_int_equal(err.status, TR_INVALID);
        assert_string_equal(err.text, "unknown name 'nil'");
        if (err.line != cases[i].line || err.column != cases[i].column)
            fail_msg("%s: %d:%d", text, err.line, err.column);
        tr_model_free(model);
    }
}

// ---- every field ---------------------------------------------------------------------------

// The structures have what the rows say, where they say it.
static void test_rows(void **state)
{
    (void)state;
#define CHECK(Type, which, key)                                                  \
    do {                                                                         \
        const Field *field = tr_kind_field(which, text_of(#key));                \
        assert_non_null(field);                                                  \
        assert_int_equal(field->offset, offsetof(Type, key));                    \
        assert_true(field->doc[0] && field->doc[strlen(field->doc) - 1] != '.'); \
        rows++;                                                                  \
    } while (0);
    size_t rows = 0, wanted = 0;
#define ROWS_OF_ModelFields tr_kind_model()
#define ROWS_OF_Body        tr_kind_of(TYPE_BODIES)
#define ROWS_OF_Joint       tr_kind_of(TYPE_JOINT)
#define ROWS_OF_Inertia     tr_kind_of(TYPE_INERTIA)
#define ROWS_OF_Elastic     tr_kind_of(TYPE_ELASTIC)
#define ROWS_OF_NamedFrame  tr_kind_of(TYPE_FRAMES)
#define ROWS_OF_NamedTable  tr_kind_of(TYPE_TABLES)
#define ROWS_OF_Beam        tr_kind_of(TYPE_BEAM)
#define ROWS_OF_Modal       tr_kind_of(TYPE_MODAL)
#define ROWS_OF_Shape       tr_kind_of(TYPE_SHAPES)
#define ROWS_OF_Force       tr_kind_of(TYPE_FORCES)
#define ROWS_OF_Ground      tr_kind_of(TYPE_GROUND)
#define ROWS_OF_Surface     tr_kind_of(TYPE_SURFACE)
#define ROWS_OF_Contact     tr_kind_of(TYPE_CONTACTS)
#define ROWS_OF_Loop        tr_kind_of(TYPE_LOOPS)
#define ROWS_OF_Coupling    tr_kind_of(TYPE_COUPLINGS)
#define ROWS_OF_Constraint  tr_kind_of(TYPE_CONSTRAINTS)
#define ROWS_OF_Reactions   tr_kind_of(TYPE_REACTIONS)
#define ROWS_OF_Role        tr_kind_of(TYPE_ROLES)
#define ROWS_OF_Case        tr_kind_of(TYPE_CASES)
#define ROWS_OF_Command     tr_kind_of(TYPE_COMMANDS)
#define ROWS_OF_Controller  tr_kind_of(TYPE_CONTROLLERS)
#define ROWS_OF_Sensor      tr_kind_of(TYPE_SENSORS)
#define ROWS_OF_OwnState    tr_kind_of(TYPE_STATES)
#define ROWS_OF_Fix         tr_kind_of(TYPE_FIXES)
#define ROWS_OF_Include     tr_kind_of(TYPE_INCLUDES)
#define ROWS_OF_Each        tr_kind_of(TYPE_EACH)
#define ROWS_OF_Signals     tr_kind_of(TYPE_SIGNALS)
#define ROWS_OF_Setting     tr_kind_of(TYPE_PARAMETERS)
#define KIND(...)
#define FIELD(Type, key, ...) CHECK(Type, ROWS_OF_##Type, key)
#define END(...)
#include "model/field.def"
    for (size_t i = 0; i < tr_kind_count;
         i++) // `joints` are each a `joint`, inputs like parameters
        if (tr_kinds[i].type != TYPE_JOINTS && tr_kinds[i].type != TYPE_INPUTS)
            wanted += tr_kinds[i].field_count;
    assert_int_equal(rows, wanted);
    assert_null(tr_kind_of(TYPE_FORMULA));
}

// Writes a file with everything in it, and then looks for it; both count along.
typedef struct Census {
    Buffer text;
    int count;
} Census;

static void write_kind(Census *c, const Kind *kind, int depth);

static void write_field(Census *c, const Field *field, int depth)
{
    Buffer *b = &c->text;
    const Kind *inner = tr_kind_of(field->type);
    tr_buffer_print(b, "%*s%s:", 2 * depth, "", field->key);
    if (inner && inner->named) {
        for (int i = 0; i < 2; i++) {
            tr_buffer_print(b, "\n%*sthing%d:\n", 2 * depth + 2, "", c->count++);
            write_kind(c, inner, depth + 2);
        }
    } else if (inner) {
        tr_buffer_print(b, "\n");
        write_kind(c, inner, depth + 1);
    } else if (field->type == TYPE_PAIRS || field->type == TYPE_PARTS) {
        tr_buffer_print(b, " {k%d: \"v, %d\", ", c->count, c->count), c->count++;
        tr_buffer_print(b, "k%d: v %d}\n", c->count, c->count), c->count++;
    } else if (field->type == TYPE_LIST) {
        tr_buffer_print(b, " [w%d, 'w%d']\n", c->count, c->count + 1), c->count += 2;
    } else if (field->type == TYPE_FLAG) {
        tr_buffer_print(b, " true\n");
    } else if (strcmp(field->key, "trundle") == 0) {
        tr_buffer_print(b, " 1\n");
    } else {
        tr_buffer_print(b, " v%d, v, 3\n", c->count++);
    }
}

static void write_kind(Census *c, const Kind *kind, int depth)
{
    for (size_t i = 0; i < kind->field_count; i++) write_field(c, &kind->fields[i], depth);
}

static void assert_numbered(Value value, const char *format, int number)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, format, number);
    assert_text(value, wanted);
    assert_true(value.given);
}

static void find_kind(Census *c, const Kind *kind, const void *thing);

static void find_field(Census *c, const Field *field, const void *at)
{
    const Kind *inner = tr_kind_of(field->type);
    if (inner && inner->named) {
        const Values *list = at; // the layout that all lists share
        assert_int_equal(list->count, 2);
        for (size_t i = 0; i < 2; i++) {
            const char *thing = (const char *)list->at + i * inner->size;
            assert_numbered(*(const Value *)(const void *)thing, "thing%d", c->count++);
            find_kind(c, inner, thing);
        }
    } else if (inner) {
        assert_true(((const Value *)at)->given);
        find_kind(c, inner, at);
    } else if (field->type == TYPE_PAIRS || field->type == TYPE_PARTS) {
        const Pairs *pairs = at;
        assert_int_equal(pairs->count, 2);
        assert_numbered(pairs->at[0].key, "k%d", c->count);
        assert_numbered(pairs->at[0].value, "v, %d", c->count++);
        assert_numbered(pairs->at[1].key, "k%d", c->count);
        assert_numbered(pairs->at[1].value, "v %d", c->count++);
    } else if (field->type == TYPE_LIST) {
        const Values *values = at;
        assert_int_equal(values->count, 2);
        for (int i = 0; i < 2; i++) assert_numbered(values->at[i], "w%d", c->count++);
    } else if (field->type == TYPE_FLAG) {
        assert_numbered(*(const Value *)at, "true", 0);
    } else if (strcmp(field->key, "trundle") == 0) {
        assert_numbered(*(const Value *)at, "1", 0);
    } else {
        assert_numbered(*(const Value *)at, "v%d, v, 3", c->count++);
    }
}

static void find_kind(Census *c, const Kind *kind, const void *thing)
{
    for (size_t i = 0; i < kind->field_count; i++)
        find_field(c, &kind->fields[i], (const char *)thing + kind->fields[i].offset);
}

static void test_every_field(void **state)
{
    (void)state;
    Census written = {0}, found = {0};
    write_kind(&written, tr_kind_model(), 0);
    Model *model = model_from(written.text.at);
    find_kind(&found, tr_kind_model(), &model->fields);
    assert_int_equal(found.count, written.count);
    assert_true(found.count > 150);

    tr_error err = {0};              // and a copy has it all, in its own lists
    model->fields.include.count = 0; // files that are not there
    Model *twin = tr_model_variant(model, &(tr_derive_options){0}, &err);
    assert_null(twin); // its case sets what is not there
    assert_int_equal(err.status, TR_INVALID);
    tr_buffer_free(&written.text);
    tr_model_free(model);
}

static void test_defaults(void **state)
{
    (void)state;
    Model *model = model_from("trundle: 1\nbodies: {a: {}}\ncases: {c: {}}\nforces: {f: {}}\n");
    const Body *a = &model->fields.bodies.at[0];
    const Case *c = &model->fields.cases.at[0];
    const Force *force = &model->fields.forces.at[0];
    assert_text(model->fields.gravity, "0, 0, -9.81");
    assert_false(model->fields.gravity.given);
    assert_text(model->fields.name, "");
    assert_text(a->parent, "world");
    assert_text(a->mass, "0");
    assert_text(a->com, "0, 0, 0");
    assert_text(a->joint.type, "fixed");
    assert_text(a->joint.base, "false");
    assert_text(a->joint.axis, "");
    assert_text(a->inertia.xx, "0");
    assert_text(a->inertia.about, "com");
    assert_false(a->joint.name.given || a->inertia.name.given || a->parent.given);
    assert_text(c->end, "10");
    assert_text(c->every, "0.01");
    assert_text(c->method, "erk");
    assert_text(c->step, "0.001");
    assert_text(c->rtol, "1e-10");
    assert_text(c->atol, "1e-12");
    assert_text(force->axes, "world");
    assert_text(force->reaction, "world");
    tr_model_free(model);
}

static void test_forms(void **state)
{
    (void)state;
    Model *model = model_from("trundle: 1\n"
                              "bodies:\n"
                              "  a: {joint: {base: true}, com: '1, 2, 3'}\n"
                              "  b:\n"
                              "    com: 1,\n"
                              "      2, 3\n"
                              "    mass: >-\n"
                              "      1 +\n"
                              "      2\n"
                              "    added_mass: 1,2, 3,4,5,6\n"
                              "    joint: {base: 'false'}\n"
                              "roles:\n"
                              "  one: {torque: 1}\n"
                              "  all: {torque: {vx: 1, wz: \"max(1, 2)\"}}\n"
                              "  moved: {motion: {x: t}}\n"
                              "  still: passive\n"
                              "cases:\n"
                              "  a: {without: f, hold: [x, \"y\"]}\n"
                              "  b:\n"
                              "    without:\n"
                              "      - f\n"
                              "      - g\n"
                              "    hold: x, y ,  z\n"
                              "    allow: []\n");
    const Body *a = &model->fields.bodies.at[0], *b = &model->fields.bodies.at[1];
    assert_text(a->joint.base, "true");
    assert_text(a->com, "1, 2, 3");
    assert_text(b->com, "1, 2, 3"); // lines are folded
    assert_text(b->mass, "1 + 2");
    assert_text(b->added_mass, "1,2, 3,4,5,6");
    const Role *role = model->fields.roles.at;
    assert_true(role[0].torque.count == 1 && role[1].torque.count == 2);
    assert_text(role[0].torque.at[0].key, "");
    assert_text(role[1].torque.at[1].key, "wz");
    assert_text(role[1].torque.at[1].value, "max(1, 2)");
    assert_text(role[2].motion.at[0].key, "x");
    assert_text(role[3].name, "still");
    assert_int_equal(role[3].torque.count + role[3].motion.count, 0);
    const Case *c = model->fields.cases.at;
    assert_true(c[0].without.count == 1 && c[0].hold.count == 2 && c[0].allow.count == 0);
    assert_text(c[0].hold.at[1], "y");
    assert_place(c[0].hold.at[1], 18, 30);
    assert_text(c[1].without.at[1], "g");
    assert_true(c[1].hold.count == 3 && c[1].allow.count == 0);
    assert_text(c[1].hold.at[1], "y");
    assert_place(c[1].hold.at[2], 23, 19);
    tr_model_free(model);
}

// ---- the same by calls ---------------------------------------------------------------------

static void set_kind(Model *to, const Kind *kind, const void *thing, const char *path);

static void set_one(Model *to, const char *path, Value value)
{
    tr_error err = {0};
    char text[400] = "";
    assert_true(value.text.length < sizeof text);
    memcpy(text, value.text.at, value.text.length);
    tr_model_set(to, path, text, &err);
    if (err.status) fail_msg("%s: %s", path, err.text);
}

// path/name in `below`
static void join(char below[400], const char *path, Text name)
{
    assert_true(strlen(path) + name.length + 2 < 400);
    char *end = stpcpy(below, path);
    if (path[0] && name.length) *end++ = '/';
    memcpy(end, name.at, name.length);
    end[name.length] = 0;
}

static void set_field(Model *to, const Field *field, const void *at, const char *path)
{
    const Kind *inner = tr_kind_of(field->type);
    char below[400];
    if (inner && inner->named) {
        const Values *list = at;
        for (size_t i = 0; i < list->count; i++) {
            const char *thing = (const char *)list->at + i * inner->size;
            join(below, path, ((const Value *)(const void *)thing)->text);
            const Role *role = (const Role *)(const void *)thing;
            if (inner->type == TYPE_ROLES && !role->torque.count && !role->motion.count)
                tr_model_set(to, below, "passive", NULL);
            set_kind(to, inner, thing, below);
        }
    } else if (inner) {
        if (((const Value *)at)->given) set_kind(to, inner, at, path);
    } else if (field->type == TYPE_PAIRS || field->type == TYPE_PARTS) {
        const Pairs *pairs = at;
        for (uint32_t i = 0; i < pairs->count; i++) {
            join(below, path, pairs->at[i].key.text);
            set_one(to, below, pairs->at[i].value);
        }
    } else if (field->type != TYPE_LIST && ((const Value *)at)->given) {
        set_one(to, path, *(const Value *)at);
    }
}

static void set_kind(Model *to, const Kind *kind, const void *thing, const char *path)
{
    for (size_t i = 0; i < kind->field_count; i++) {
        char below[400];
        join(below, path, text_of(kind->fields[i].key));
        set_field(to, &kind->fields[i], (const char *)thing + kind->fields[i].offset, below);
    }
}

// Node by node: ids are given in the order of creation.
static void assert_same_equations(const System *a, const System *b)
{
    assert_int_equal(a->graph->count, b->graph->count);
    assert_memory_equal(a->graph->nodes, b->graph->nodes,
                        a->graph->count * sizeof *a->graph->nodes);
    assert_int_equal(a->output_count, b->output_count);
    for (uint32_t i = 0; i < a->output_count; i++) {
        const Output *x = &a->outputs[i], *y = &b->outputs[i];
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->rows * x->columns, y->rows * y->columns);
        for (uint32_t k = 0; k < x->rows * x->columns; k++)
            assert_int_equal(x->values[k].id, y->values[k].id);
    }
}

static void test_calls_make_the_same(void **state)
{
    (void)state;
    tr_error err = {0};
    Model *file = model_from(bicycle), *calls = tr_model_new(&err);
    set_kind(calls, tr_kind_model(), &file->fields, "");
    assert_same_kind(tr_kind_model(), &file->fields, &calls->fields);
    System *a = derived_from(file, NULL), *b = derived_from(calls, NULL);
    assert_same_equations(a, b);
    tr_system_free(a);
    tr_system_free(b);
    tr_model_free(file);
    tr_model_free(calls);
}

static void test_set(void **state)
{
    (void)state;
    tr_error err = {0};
    char path[] = "bodies/a/mass", value[] = "m + 1";
    Model *model = tr_model_new(&err);
    tr_model_set(model, path, value, &err);
    memset(path, '?', sizeof path - 1); // both are copied
    memset(value, '?', sizeof value - 1);
    assert_text(model->fields.bodies.at[0].mass, "m + 1");
    tr_model_set(model, "bodies/a/mass", "2", &err); // in place of what it was
    assert_text(model->fields.bodies.at[0].mass, "2");
    tr_model_set(model, "parameters/m", "1", &err);
    tr_model_set(model, "parameters/m", "3", &err);
    tr_model_set(model, "initial/d(x/2)", "3", &err); // a key may hold what it likes
    assert_int_equal(model->fields.parameters.count, 1);
    assert_text(model->fields.parameters.at[0].value, "3");
    assert_text(model->fields.initial.at[0].key, "d(x/2)");
    tr_model_set(model, "cases/c/hold", "a", &err);
    tr_model_set(model, "cases/c/hold", "b, c", &err);
    assert_int_equal(model->fields.cases.at[0].hold.count, 2);
    assert_text(model->fields.cases.at[0].hold.at[1], "c");
    tr_model_set(model, "roles/a/torque/vx", "1", &err);
    tr_model_set(model, "roles/a", "passive", &err);
    assert_int_equal(model->fields.roles.at[0].torque.count, 0);
    assert_int_equal(err.status, TR_OK);
    tr_model_set(NULL, "name", "x", &err);
    tr_model_set(model, NULL, "x", &err);
    tr_model_set(model, "name", NULL, &err);
    tr_model_set(model, "name", "y", NULL);
    assert_text(model->fields.name, "y");
    assert_int_equal(err.status, TR_OK);
    tr_model_free(model);
}

static void test_bad_sets(void **state)
{
    (void)state;
    static const struct {
        const char *path, *value, *words;
    } cases[] = {
        {"", "1", "the path ends before a field of 'model'"},
        {"nam", "1", "'model' has no 'nam'; did you mean 'name'?"},
        {"colour", "1",
         "'model' has no 'colour'; there are 'trundle', 'name', 'parameters', 'inputs', "
         "'functions', "
         "'tables', 'signals', 'gravity', 'bodies', 'joints', 'frames', 'ground', 'contacts', "
         "'loops', ..."},
        {"bodies", "1", "the path ends before a field of 'bodies'"},
        {"bodies/a", "1", "the path ends before a field of 'bodies'"},
        {"bodies/a/weight", "1",
         "'bodies' has no 'weight'; there are 'parent', 'joint', 'mass', 'com', 'inertia', "
         "'added_mass', "
         "'beam', 'modal', 'shapes'"},
        {"bodies/a/joint", "1", "the path ends before a field of 'joint'"},
        {"bodies/a/joint/tipe", "1", "'joint' has no 'tipe'; did you mean 'type'?"},
        {"bodies/a/mass/x", "1", "'mass' is one value: there is no 'x' in it"},
        {"cases/a/hold/x", "1", "'hold' is one value: there is no 'x' in it"},
        {"cases/a/hold", "", "'hold' is a list of names, as in [a, b]"},
        {"parameters", "1", "'parameters' holds values by name: parameters/NAME is missing"},
        {"bodies/a/joint/base", "maybe", "'base' is true or false, not 'maybe'"},
        {"roles/a", "active", "the path ends before a field of 'roles'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tr_error err = {0};
        Model *model = tr_model_new(&err);
        tr_model_set(model, cases[i].path, cases[i].value, &err);
        assert_int_equal(err.status, TR_INVALID);
        assert_string_equal(err.text, cases[i].words);
        tr_model_set(model, "name", "later", &err); // the first error wins
        assert_text(model->fields.name, "");
        tr_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_places_in_formulas),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_every_field),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_calls_make_the_same),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_bad_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
