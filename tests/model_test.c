// SPDX-License-Identifier: Apache-2.0
// Models: what a file says is found in the structures, with its place; models made by calls are the
// same; cases and settings; and everything that can be wrong with a file, word by word.
#include "expr/system.h"
#include "model/model.h"
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define assert_text(value, wanted)                                                  \
    do {                                                                            \
        const Value text_value = (value);                                           \
        if (!text_is(text_value.text, wanted))                                      \
            fail_msg("%s is '%.*s', not '%s'", #value, (int)text_value.text.length, \
                     text_value.text.at, wanted);                                   \
    } while (0)

#define assert_place(value, wanted_line, wanted_column)        \
    do {                                                       \
        assert_int_equal((value).place.line, wanted_line);     \
        assert_int_equal((value).place.column, wanted_column); \
    } while (0)

static const char bicycle[] =
    "trundle: 1\n"
    "name: Whipple-Carvallo bicycle\n"
    "parameters:\n"
    "  w: 1.02            # wheelbase [m]\n"
    "  theta: pi/10       # steer axis tilt [rad]\n"
    "  h3: 0.3\n"
    "  speed0: 4.6\n"
    "  roll_rate0: 0.5\n"
    "  Kps: 2\n"
    "  target: 0.1*w\n"
    "bodies:\n"
    "  frame:\n"
    "    joint: {type: free}\n"
    "    mass: 85\n"
    "    com: 0.3, 0, 0.6                                  # from the frame origin\n"
    "    inertia: {xx: 9.2, yy: 11, zz: 2.8, xz: -2.4}     # about the centre of mass\n"
    "  rear_wheel:\n"
    "    parent: frame\n"
    "    joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, 0, 0\", coordinate: rear}\n"
    "    mass: 2\n"
    "    inertia: {axial: 0.12, radial: 0.0603}            # about the joint axis\n"
    "  fork:\n"
    "    parent: frame\n"
    "    joint: {type: revolute, axis: 'sin(theta), 0, cos(theta)', at: \"w, 0, 0\",\n"
    "            coordinate: steer}\n"
    "    mass: 4\n"
    "    inertia: {xx: 0.06, yy: 0.06, zz: 0.006}\n"
    "functions:\n"
    "  ramp(t, a, b): if(t < a, 0, if(t < b, (t-a)/(b-a) - sin(2*pi*(t-a)/(b-a))/(2*pi), 1))\n"
    "roles:\n"
    "  steer: {torque: -Kps*(target - steer)}\n"
    "outputs:\n"
    "  roll: asin(frame.R32)\n"
    "  reach: ramp(t, 0, 1)*w\n"
    "initial: {roll: 0, d(roll): roll_rate0, d(rear): speed0/h3}\n"
    "cases:\n"
    "  free: {end: 10, every: 0.1}\n"
    "  slow: {set: {speed0: 4.0}, end: 5, roles: {steer: passive}}\n";

static Model *parsed(const char *text)
{
    tr_error err = {0};
    Model *model = tr_model_parse(text, &err);
    if (!model || err.status) fail_msg("%d:%d: %s", err.line, err.column, err.text);
    return model;
}

static System *derived(const Model *model, const tr_derive_options *options)
{
    tr_error err = {0};
    System *system = tr_derive(model, options, &err);
    if (!system || err.status) fail_msg("%d:%d: %s", err.line, err.column, err.text);
    return system;
}

// ---- the example ---------------------------------------------------------------------------

static void test_example(void **state)
{
    (void)state;
    Model *model = parsed(bicycle);
    const ModelFields *f = &model->fields;
    assert_null(model->path);
    assert_text(f->trundle, "1");
    assert_text(f->name, "Whipple-Carvallo bicycle");
    assert_int_equal(f->parameters.count, 7);
    assert_text(f->parameters.at[1].key, "theta");
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
    System *system = derived(model, NULL);
    tr_system_free(system);
    tr_model_free(model);
}

static void test_places(void **state)
{
    (void)state;
    Model *model = parsed(bicycle);
    const ModelFields *f = &model->fields;
    assert_place(f->trundle, 1, 10);
    assert_place(f->name, 2, 7);
    assert_place(f->parameters.at[0].key, 4, 3);
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

    model = parsed(
        "\xef\xbb\xbftrundle: 1\r\n"
        "name: \"\xc3\xa9\xe2\x86\x92\"\r\n"
        "parameters: {\xc3\xa9: 1, '\xf0\x9f\x9a\xb2': \"2\"}\r\n"); // columns are characters
    assert_place(model->fields.trundle, 1, 10);                      // no mark, no \r
    assert_text(model->fields.trundle, "1");
    assert_place(model->fields.name, 2, 8);
    assert_place(model->fields.parameters.at[0].key, 3, 14);
    assert_place(model->fields.parameters.at[0].value, 3, 17);
    assert_place(model->fields.parameters.at[1].key, 3, 21);
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
        Model *model = parsed(text);
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
#define MODEL(key, ...)      CHECK(ModelFields, tr_kind_model(), key)
#define BODY(key, ...)       CHECK(Body, tr_kind_of(TYPE_BODIES), key)
#define JOINT(key, ...)      CHECK(Joint, tr_kind_of(TYPE_JOINT), key)
#define INERTIA(key, ...)    CHECK(Inertia, tr_kind_of(TYPE_INERTIA), key)
#define ELASTIC(key, ...)    CHECK(Elastic, tr_kind_of(TYPE_ELASTIC), key)
#define FRAME(key, ...)      CHECK(NamedFrame, tr_kind_of(TYPE_FRAMES), key)
#define BEAM(key, ...)       CHECK(Beam, tr_kind_of(TYPE_BEAM), key)
#define MODAL(key, ...)      CHECK(Modal, tr_kind_of(TYPE_MODAL), key)
#define SHAPE(key, ...)      CHECK(Shape, tr_kind_of(TYPE_SHAPES), key)
#define FORCE(key, ...)      CHECK(Force, tr_kind_of(TYPE_FORCES), key)
#define GROUND(key, ...)     CHECK(Ground, tr_kind_of(TYPE_GROUND), key)
#define CONTACT(key, ...)    CHECK(Contact, tr_kind_of(TYPE_CONTACTS), key)
#define LOOP(key, ...)       CHECK(Loop, tr_kind_of(TYPE_LOOPS), key)
#define COUPLING(key, ...)   CHECK(Coupling, tr_kind_of(TYPE_COUPLINGS), key)
#define CONSTRAINT(key, ...) CHECK(Constraint, tr_kind_of(TYPE_CONSTRAINTS), key)
#define REACTIONS(key, ...)  CHECK(Reactions, tr_kind_of(TYPE_REACTIONS), key)
#define ROLE(key, ...)       CHECK(Role, tr_kind_of(TYPE_ROLES), key)
#define CASE(key, ...)       CHECK(Case, tr_kind_of(TYPE_CASES), key)
#include "model/field.def"
    for (size_t i = 0; i < tr_kind_count; i++) // `joints` are each a `joint`
        if (tr_kinds[i].type != TYPE_JOINTS) wanted += tr_kinds[i].field_count;
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
    Model *model = parsed(written.text.at);
    find_kind(&found, tr_kind_model(), &model->fields);
    assert_int_equal(found.count, written.count);
    assert_true(found.count > 150);

    tr_error err = {0}; // and a copy has it all, in its own lists
    Model *twin = tr_model_variant(model, NULL, NULL, 0, &err);
    assert_null(twin); // its case sets what is not there
    assert_int_equal(err.status, TR_INVALID);
    tr_buffer_free(&written.text);
    tr_model_free(model);
}

static void test_defaults(void **state)
{
    (void)state;
    Model *model = parsed("trundle: 1\nbodies: {a: {}}\ncases: {c: {}}\nforces: {f: {}}\n");
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
    Model *model = parsed("trundle: 1\n"
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

static void assert_same(Value a, Value b)
{
    assert_true(text_equal(a.text, b.text));
    assert_int_equal(a.given, b.given);
}

static void assert_same_kind(const Kind *kind, const void *a, const void *b);

static void assert_same_field(const Field *field, const void *a, const void *b)
{
    const Kind *inner = tr_kind_of(field->type);
    const Values *p = a, *q = b;
    if (inner && !inner->named) {
        assert_same_kind(inner, a, b);
    } else if (inner) {
        assert_int_equal(p->count, q->count);
        for (size_t i = 0; i < p->count; i++)
            assert_same_kind(inner, (const char *)p->at + i * inner->size,
                             (const char *)q->at + i * inner->size);
    } else if (field->type == TYPE_PAIRS || field->type == TYPE_PARTS) {
        const Pairs *x = a, *y = b;
        assert_int_equal(x->count, y->count);
        for (uint32_t i = 0; i < x->count; i++) {
            assert_true(text_equal(x->at[i].key.text, y->at[i].key.text));
            assert_same(x->at[i].value, y->at[i].value);
        }
    } else if (field->type == TYPE_LIST) {
        assert_int_equal(p->count, q->count);
        for (uint32_t i = 0; i < p->count; i++) assert_same(p->at[i], q->at[i]);
    } else {
        assert_same(*(const Value *)a, *(const Value *)b);
    }
}

static void assert_same_kind(const Kind *kind, const void *a, const void *b)
{
    assert_same(*(const Value *)a, *(const Value *)b);
    for (size_t i = 0; i < kind->field_count; i++)
        assert_same_field(&kind->fields[i], (const char *)a + kind->fields[i].offset,
                          (const char *)b + kind->fields[i].offset);
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
    Model *file = parsed(bicycle), *calls = tr_model_new(&err);
    set_kind(calls, tr_kind_model(), &file->fields, "");
    assert_same_kind(tr_kind_model(), &file->fields, &calls->fields);
    System *a = derived(file, NULL), *b = derived(calls, NULL);
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
        {"colour", "1", "'model' has no 'colour'"},
        {"bodies", "1", "the path ends before a field of 'bodies'"},
        {"bodies/a", "1", "the path ends before a field of 'bodies'"},
        {"bodies/a/weight", "1", "'bodies' has no 'weight'"},
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

// ---- variants ------------------------------------------------------------------------------

static const char cart[] =
    "trundle: 1\n"
    "parameters: {m: 2, half: m/2, k: 1}\n"
    "inputs: {push: 3}\n"
    "bodies:\n"
    "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: m}\n"
    "  arm:\n"
    "    parent: cart\n"
    "    joint: {type: prismatic, axis: \"1, 0, 0\"}\n"
    "    mass: half\n"
    "forces:\n"
    "  a: {body: cart, force: \"push, 0, 0\"}\n"
    "  b: {body: cart, force: \"k, 0, 0\"}\n"
    "roles: {arm: {torque: 1}}\n"
    "initial: {cart: 1, arm: 0.5}\n"
    "guess: {d(cart): 1}\n"
    "outputs: {mass: m, part: half, in: push}\n"
    "cases:\n"
    "  plain: {}\n"
    "  heavy: {set: {m: 10, push: 5}, end: 2, initial: {cart: 7, d(arm): 3}}\n"
    "  light: {without: [b, a], roles: {arm: passive}, hold: [arm]}\n"
    "  worse: {set: {mm: 1}}\n"
    "  worst: {without: c}\n";

// What `eval` says of a name in a group, for a case and settings.
static double value_in(const char *group, const char *name, const char *case_name,
                       const tr_setting *settings, size_t count)
{
    tr_error err = {0};
    char key[64];
    Model *model = parsed(cart);
    const tr_derive_options options = {
        .case_name = case_name, .settings = settings, .setting_count = count};
    System *system = derived(model, &options);
    tr_model_free(model);
    char *json = tr_eval_text(system, true, &err);
    if (!json) fail_msg("%s", err.text);
    snprintf(key, sizeof key, "\"%s\": {", group);
    const char *at = strstr(json, key);
    assert_non_null(at);
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *from = strstr(at, key);
    if (!from || from > strchr(at, '}')) fail_msg("no %s in %s of %s", name, group, json);
    const double value = strtod(from + strlen(key), NULL);
    tr_text_free(json);
    tr_system_free(system);
    return value;
}

static void test_precedence(void **state)
{
    (void)state;
    const tr_setting m = {"m", "4 + k"}, half = {"half", "k*m"}, push = {"push", "-1"};
    const tr_setting both[] = {m, half};
    assert_true(value_in("outputs", "mass", NULL, NULL, 0) == 2);
    assert_true(value_in("outputs", "mass", "plain", NULL, 0) == 2);
    assert_true(value_in("outputs", "mass", "heavy", NULL, 0) == 10);
    assert_true(value_in("outputs", "mass", "heavy", &m, 1) == 5);
    assert_true(value_in("outputs", "part", "heavy", NULL, 0) == 5); // derived ones follow
    assert_true(value_in("outputs", "part", "heavy", &m, 1) == 2.5);
    assert_true(value_in("outputs", "part", NULL, &half, 1) == 2); // its formula is replaced
    assert_true(value_in("outputs", "part", "heavy", both, 2) == 5);
    assert_true(value_in("outputs", "in", NULL, NULL, 0) == 3);
    assert_true(value_in("outputs", "in", "heavy", NULL, 0) == 5);
    assert_true(value_in("outputs", "in", "heavy", &push, 1) == -1);
    assert_true(value_in("q", "cart", NULL, NULL, 0) == 1);
    assert_true(value_in("q", "cart", "heavy", NULL, 0) == 7); // in place of the model's
    assert_true(value_in("q", "arm", "heavy", NULL, 0) == 0.5);
    assert_true(value_in("v", "arm_rate", "heavy", NULL, 0) == 3); // and added to it
    assert_true(value_in("v", "cart_rate", "heavy", NULL, 0) == 1);
}

// 3 x'' = push + k with the arm held; both free: m x'' = push + k - 1, m/2 (x'' + y'') = 1
static void test_case_changes(void **state)
{
    (void)state;
    assert_close(value_in("vdot", "cart_rate", NULL, NULL, 0), 1.5, 1e-14);
    assert_close(value_in("vdot", "arm_rate", NULL, NULL, 0), 1 - 1.5, 1e-14);
    assert_close(value_in("vdot", "cart_rate", "light", NULL, 0), 0, 1e-14);
    assert_close(value_in("vdot", "arm_rate", "light", NULL, 0), 0, 1e-14);

    tr_error err = {0};
    Model *model = parsed(cart), *twin = tr_model_variant(model, "light", NULL, 0, &err);
    assert_int_equal(err.status, TR_OK);
    assert_int_equal(twin->fields.forces.count, 0);
    assert_int_equal(twin->fields.roles.at[0].torque.count, 0);
    assert_text(twin->fields.cases.at[0].name, "light"); // the chosen one first, the others stay
    assert_text(twin->fields.cases.at[1].name, "plain");
    assert_text(twin->fields.cases.at[2].name, "heavy");
    assert_text(twin->fields.cases.at[3].name, "worse");
    assert_int_equal(model->fields.forces.count, 2); // the first is as it was
    assert_int_equal(model->fields.roles.at[0].torque.count, 1);
    assert_text(model->fields.cases.at[0].name, "plain");
    tr_model_free(twin);
    twin = tr_model_variant(model, "plain", NULL, 0, &err);
    Model *again = tr_model_variant(twin, NULL, NULL, 0, &err);
    assert_same_kind(tr_kind_model(), &model->fields, &again->fields);
    tr_model_free(again);
    tr_model_free(twin);
    tr_model_free(model);
}

static void test_bad_variants(void **state)
{
    (void)state;
    static const struct {
        const char *case_name;
        tr_setting setting;
        tr_status status;
        int line, column;
        const char *words;
    } cases[] = {
        {"haevy", {0}, TR_USAGE, 0, 0, "there is no case 'haevy'; did you mean 'heavy'?"},
        {"nothing", {0}, TR_USAGE, 0, 0, "there is no case 'nothing'"},
        {"", {0}, TR_USAGE, 0, 0, "there is no case ''"},
        {NULL,
         {"hafl", "1"},
         TR_USAGE,
         0,
         0,
         "there is no parameter or input 'hafl'; did you mean 'half'?"},
        {NULL,
         {"pusch", "1"},
         TR_USAGE,
         0,
         0,
         "there is no parameter or input 'pusch'; did you mean 'push'?"},
        {NULL, {"cart", "1"}, TR_USAGE, 0, 0, "there is no parameter or input 'cart'"},
        {NULL, {"", "1"}, TR_USAGE, 0, 0, "there is no parameter or input ''"},
        {"worse",
         {0},
         TR_INVALID,
         21,
         17,
         "there is no parameter or input 'mm'; did you mean 'm'?"},
        {"worst", {0}, TR_INVALID, 22, 20, "there is no element 'c' to leave out"},
    };
    Model *model = parsed(cart);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tr_error err = {0};
        const bool sets = cases[i].setting.name != NULL;
        assert_null(tr_model_variant(model, cases[i].case_name, &cases[i].setting, sets, &err));
        assert_string_equal(err.text, cases[i].words);
        assert_int_equal(err.status, cases[i].status);
        assert_int_equal(err.line, cases[i].line);
        assert_int_equal(err.column, cases[i].column);
    }
    tr_model_free(model);
}

// The k-th setting is line -k.
static void test_bad_settings(void **state)
{
    (void)state;
    const tr_setting settings[] = {{"k", "2"}, {"m", "1 + nil"}, {"half", "3"}};
    const tr_derive_options options = {.settings = settings, .setting_count = 3};
    tr_error err = {0};
    Model *model = parsed(cart);
    assert_null(tr_derive(model, &options, &err));
    assert_int_equal(err.status, TR_INVALID);
    assert_string_equal(err.text, "unknown name 'nil'");
    assert_int_equal(err.line, -2);
    assert_int_equal(err.column, 5);
    tr_model_free(model);
}

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
        {"trundle: 1\ncolour: red\n", 2, 1, "unknown key 'colour' in 'model'"},
        {"trundle: 1\nbodies:\n  a: {mas: 1}\n", 3, 7,
         "unknown key 'mas' in 'a'; did you mean 'mass'?"},
        {"trundle: 1\nbodies:\n  a: {Mass: 1}\n", 3, 7,
         "unknown key 'Mass' in 'a'; did you mean 'mass'?"},
        {"trundle: 1\nbodies:\n  a:\n    joint: {typ: free}\n", 4, 13,
         "unknown key 'typ' in 'joint'; did you mean 'type'?"},
        {"trundle: 1\nbodies: {a: {inertia: {ww: 1}}}\n", 2, 24, "unknown key 'ww' in 'inertia'"},
        {"trundle: 1\nroles: {a: {force: 1}}\n", 2, 13, "unknown key 'force' in 'a'"},
        {"trundle: 1\ncases: {a: {ends: 1}}\n", 2, 13,
         "unknown key 'ends' in 'a'; did you mean 'end'?"},
        {"trundle: 1\nbodies: {a: {shapes: {s: {color: 1}}}}\n", 2, 27,
         "unknown key 'color' in 's'; did you mean 'colour'?"},
        {"trundle: 1\nforces: {a: {\"on\": b}}\n", 2, 15, "unknown key 'on' in 'a'"},
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
        {"trundle: 1\nparameters:\n  a: 1\n  b: 2\n  a: 1\n", 5, 3, "'a' stands here twice"},
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
        {"trundle: 1\nparameters: {a: {b: 1}}\n", 2, 17,
         "'a' is a formula: quote this formula if it holds braces or ': '"},
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
         "the role of 'a' is passive, {torque: ...} or {motion: ...}"},
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
    Model *model = parsed("%YAML 1.1\n---\n{\"trundle\": \"1\"} # JSON is YAML\n...\n");
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
    Model *model = parsed(text);
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
    const char *path = "model_test_large.yaml";
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), 100 << 20), 0);
    fclose(file);
    tr_error err = {0};
    const clock_t begin = clock();
    assert_null(tr_model_read(path, &err));
    assert_true(clock() - begin < CLOCKS_PER_SEC / 10);
    remove(path);
    assert_int_equal(err.status, TR_IO);
    assert_string_equal(
        err.text,
        "cannot read 'model_test_large.yaml': it is larger than the limit of 16777216 bytes");
}

// ---- files ---------------------------------------------------------------------------------

static void write_file(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void test_files(void **state)
{
    (void)state;
    const char *path = "model_test.yaml";
    tr_error err = {0};
    write_file(path, bicycle, sizeof bicycle - 1);
    Model *model = tr_model_read(path, &err), *text = parsed(bicycle);
    assert_non_null(model);
    assert_string_equal(model->path, path);
    assert_same_kind(tr_kind_model(), &model->fields, &text->fields);
    tr_model_free(model);
    tr_model_free(text);

    write_file(path, "trundle: 1\nname: a\0b\n", 21);
    assert_null(tr_model_read(path, &err));
    assert_int_equal(err.status, TR_INVALID);
    assert_string_equal(err.text, "this is not text: control characters are not allowed");
    assert_true(err.line == 2 && err.column == 8);
    err = (tr_error){0};
    write_file(path, "", 0);
    assert_null(tr_model_read(path, &err));
    assert_string_equal(err.text, "the file is empty");
    remove(path);
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
    write_file("model_test_hidden.yaml", bicycle, sizeof bicycle - 1);
    assert_int_equal(chmod("model_test_hidden.yaml", 0), 0);
    err = (tr_error){0};
    assert_null(tr_model_read("model_test_hidden.yaml", &err));
    remove("model_test_hidden.yaml");
    assert_int_equal(err.status, TR_IO);
    assert_string_equal(err.text, "cannot read 'model_test_hidden.yaml': Permission denied");
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
        cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_case_changes),
        cmocka_unit_test(test_bad_variants),
        cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_unknown_keys),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_wrong_yaml),
        cmocka_unit_test(test_wrong_documents),
        cmocka_unit_test(test_every_prefix),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_long_scalars),
        cmocka_unit_test(test_large_file),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_bad_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
