// SPDX-License-Identifier: Apache-2.0
// Model files in model files: they are the flat model to the bit, every field of field.def follows
// the names, mistakes are told with the file that they are in, and bombs go off with words.
#include "model/include.h"
#include "runs.h"

#include <sys/stat.h>

#define FLAT_DIR REFERENCE_DIR "/../include"
#define HEAD     "trundle: 1\n"

// ---- the flat model ------------------------------------------------------------------------

static tr_model *read_model(const char *path)
{
    tr_error err = {0};
    tr_model *model = tr_model_read(path, &err);
    if (!model) fail_msg("%s:%d:%d: %s", path, err.line, err.column, err.text);
    return model;
}

static char *expanded(const char *path)
{
    tr_error err = {0};
    tr_model *model = read_model(path);
    char *text = tr_model_expand(model, NULL, &err);
    if (!text) fail_msg("%s:%d:%d: %s", err.file, err.line, err.column, err.text);
    tr_model_free(model);
    return text;
}

// Behind the comment that says what was included
static const char *body_of(const char *text)
{
    return *text == '#' ? strchr(text, '\n') + 1 : text;
}

// What eval says, and the bytes of a run
static void assert_alike(const char *path, const char *other, const char *case_name, double end)
{
    char *said[2], *run[2];
    for (int k = 0; k < 2; k++) {
        tr_error err = {0};
        tr_summary summary = {0};
        tr_system *system = system_of(read_model(k ? other : path), case_name);
        tr_simulate_options o = tr_simulate_defaults(system);
        o.end = end, o.every = end / 10, o.output = in_folder("run.csv");
        said[k] = tr_eval_text(system, true, &err);
        if (!said[k] || !tr_simulate(system, &o, &summary, &err)) fail_msg("%s", err.text);
        run[k] = read_text(o.output);
        tr_system_free(system);
    }
    assert_string_equal(said[0], said[1]);
    assert_string_equal(run[0], run[1]);
    for (int k = 0; k < 2; k++) tr_text_free(said[k]), free(run[k]);
}

static void test_rover(void **state)
{
    (void)state;
    const char *six = MODELS_DIR "/rover_six.yaml", *flat = FLAT_DIR "/rover_six_flat.yaml";
    char *text = read_text(six);
    size_t lines = 0;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    assert_true(lines < 40);
    free(text);
    assert_alike(six, flat, "bumps", 1);
    assert_alike(six, flat, "turn", 0.5);
    char *one = expanded(six), *two = expanded(flat);
    assert_string_equal(body_of(one), two);
    write_text("whole.yaml", one);
    assert_alike(six, "whole.yaml", NULL, 0.5);
    tr_text_free(one), tr_text_free(two);
}

// By operations, too
static void test_rover_counts(void **state)
{
    (void)state;
    char *six = facts_of(system_of(read_model(MODELS_DIR "/rover_six.yaml"), NULL));
    char *flat = facts_of(system_of(read_model(FLAT_DIR "/rover_six_flat.yaml"), NULL));
    const char *counts = behind(six, "operations");
    const size_t length = strcspn(counts, "}");
    assert_true(length > 20 && strncmp(counts, behind(flat, "operations"), length) == 0);
    tr_text_free(six), tr_text_free(flat);
}

static void test_corner_alone(void **state)
{
    (void)state;
    tr_system *s = system_called("rover_corner", NULL);
    Sheet *run = run_with(s, 4, 0.1, NULL);
    // at rest: the chassis, the arm and the wheel stand on it
    assert_close(last(run, "load"), (4 + 0.8 + 1.5) * 9.81, 1e-4);
    tr_sheet_free(run);
}

// ---- sections of all kinds -----------------------------------------------------------------

static const char part[] =
    HEAD "name: part\n"
         "gravity: 0, 0, -1\n"
         "parameters: {k: 3, half: k/2, x: 0.1}\n"
         "inputs: {push: 0.5*t, pull: 1}\n"
         "functions: {\"bend(k, b)\": k*b + x + motor(b + 5)}\n"
         "tables: {motor: {file: log.csv, x: t, value: v, outside: hold}}\n"
         "signals: {file: log.csv, columns: {seen: w}, scale: {seen: 2}, outside: hold}\n"
         "bodies:\n"
         "  base: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: slide}, mass: 9}\n"
         "  rod:\n"
         "    parent: base\n"
         "    joint: {type: revolute, axis: \"0, 1, 0\", at: \"x, 0, half\", coordinate: angle}\n"
         "    mass: bend(k, 1) + seen(0)\n"
         "    com: 0, 0, -x\n"
         "  tip: {parent: rod, joint: {type: fixed, at: \"0, 0, -k*x\"}, mass: 1e-1*k}\n"
         "frames: {eye: {body: rod, at: \"0, x, 0\"}}\n"
         "forces:\n"
         "  wind: {body: tip, force: \"push*sin(t) - pull*eye.vx, 0, motor(t)\"}\n"
         "outputs: {high: tip.z - base.z, fast: d(angle) + angle_rate, pushed: d(angle_rate)}\n"
         "roles: {angle: {torque: -k*angle - d(angle)}, slide: {motion: sin(t)}}\n"
         "noise: {push: k}\n"
         "deviations: {angle: 0.1*k, slide: 1}\n"
         "independent: [d(angle)]\n"
         "initial: {angle: 0.1*k, d(angle): x, slide: 0}\n"
         "guess: {base.x: 1}\n"
         "cases: {alone: {end: 1}}\n";

// The same by hand, for a copy p
#define FLAT_PARAMETERS(p) "  " p "_k: 3\n  " p "_half: " p "_k/2\n  " p "_x: 0.1\n"
#define FLAT_TABLES(p)                                                    \
    "  " p "_motor: {file: sub/log.csv, x: t, value: v, outside: hold}\n" \
    "  " p "_seen: {file: sub/log.csv, x: t, value: w, outside: hold, scale: 2}\n"
#define FLAT_BODIES(p)                                                                        \
    "  " p "_rod:\n    parent: cart\n    joint: {type: revolute, axis: \"0, 1, 0\", at: \"" p \
    "_x, 0, " p "_half\", coordinate: " p "_angle}\n    mass: " p "_bend(" p "_k, 1) + " p    \
    "_seen(0)\n    com: 0, 0, -" p "_x\n  " p "_tip: {parent: " p                             \
    "_rod, joint: {type: fixed, at: \"0, 0, -" p "_k*" p "_x\"}, mass: 1e-1*" p "_k}\n"
#define FLAT_FORCES(p)                                                                       \
    "  " p "_wind: {body: " p "_tip, force: \"" p "_push*sin(t) - drive*" p "_eye.vx, 0, " p \
    "_motor(t)\"}\n"
#define FLAT_OUTPUTS(p)                                                                     \
    "  " p "_high: " p "_tip.z - cart.z\n  " p "_fast: d(" p "_angle) + " p "_angle_rate\n" \
    "  " p "_pushed: d(" p "_angle_rate)\n"

static void write_parts(void)
{
    mkdir("sub", 0700);
    write_text("sub/log.csv", "t,v,w\n0,1,0.5\n1,2,0.25\n5,3,0.125\n");
    write_text("sub/part.yaml", part);
    write_text("two.yaml", HEAD
               "parameters: {k0: 4}\ninputs: {drive: 2}\n"
               "include:\n  p:\n    file: sub/part.yaml\n"
               "    bind: {base: cart, pull: drive}\n"
               "    each: {name: [a, b], k: [k0, \"max(k0, 5)\"]}\n"
               "bodies:\n"
               "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: way}, mass: 3}\n"
               "initial: {b_angle_rate: 0.4, way: 0, d(way): 0}\n"
               "cases: {soft: {set: {a_k: 2}}}\n");
}

static void remove_parts(void)
{
    unlink("sub/log.csv"), unlink("sub/part.yaml"), unlink("sub/inner.yaml");
    assert_int_equal(rmdir("sub"), 0);
}

static void test_sections(void **state)
{
    (void)state;
    write_parts();
    write_text("flat.yaml", HEAD
               "parameters:\n  k0: 4\n"
               "  a_k: k0\n  a_half: a_k/2\n  a_x: 0.1\n"
               "  b_k: max(k0, 5)\n  b_half: b_k/2\n  b_x: 0.1\n"
               "inputs: {drive: 2, a_push: 0.5*t, b_push: 0.5*t}\n"
               "functions:\n  \"a_bend(k, b)\": k*b + a_x + a_motor(b + 5)\n"
               "  \"b_bend(k, b)\": k*b + b_x + b_motor(b + 5)\n"
               "tables:\n" FLAT_TABLES("a") FLAT_TABLES(
                   "b") "bodies:\n"
                        "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: way}, "
                        "mass: 3}\n" FLAT_BODIES("a") FLAT_BODIES(
                            "b") "frames:\n  a_eye: {body: a_rod, at: \"0, a_x, 0\"}\n"
                                 "  b_eye: {body: b_rod, at: \"0, b_x, 0\"}\n"
                                 "independent: [d(a_angle), d(b_angle)]\n"
                                 "forces:\n" FLAT_FORCES("a") FLAT_FORCES(
                                     "b") "roles:\n  a_angle: {torque: -a_k*a_angle - d(a_angle)}\n"
                                          "  b_angle: {torque: -b_k*b_angle - d(b_angle)}\n"
                                          "noise: {a_push: a_k, b_push: b_k}\n"
                                          "deviations: {a_angle: 0.1*a_k, b_angle: 0.1*b_k}\n"
                                          "outputs:\n" FLAT_OUTPUTS("a") FLAT_OUTPUTS(
                                              "b") "initial:\n  b_angle_rate: 0.4\n  way: 0\n  "
                                                   "d(way): 0\n  a_angle: 0.1*a_k\n"
                                                   "  d(a_angle): a_x\n  b_angle: 0.1*b_k\n"
                                                   "cases: {soft: {set: {a_k: 2}}}\n");
    char *two = expanded("two.yaml"), *flat = expanded("flat.yaml");
    assert_string_equal(body_of(two), flat);
    assert_alike("two.yaml", "flat.yaml", NULL, 0.5);
    assert_alike("two.yaml", "flat.yaml", "soft", 0.5);
    tr_text_free(two), tr_text_free(flat);
    remove_parts();
}

// ---- every field ---------------------------------------------------------------------------

// A file in which every field that there is speaks of `own`, its parameter: no row of field.def
// is passed over. Files, texts and words of their own stay.
static void say_kind(Buffer *b, const Kind *kind, int depth);

static void say_field(Buffer *b, const Field *field, int depth)
{
    const Kind *kind = tr_kind_of(field->type);
    const char *word = field->unit;
    if (field->names == NAMES_ALONE || strcmp(field->key, "trundle") == 0) return;
    tr_buffer_print(b, "%*s%s: ", depth, "", field->key);
    if (kind && kind->named) tr_buffer_print(b, "\n%*sown:", depth + 1, "");
    if (kind) {
        tr_buffer_print(b, "\n");
        say_kind(b, kind, depth + 2);
        return;
    }
    switch (field->type) {
    case TYPE_CHOICE: tr_buffer_print(b, "%.*s\n", (int)strcspn(word, " "), word); break;
    case TYPE_FLAG: tr_buffer_print(b, "true\n"); break;
    case TYPE_LIST: tr_buffer_print(b, "[own, d(own)]\n"); break;
    case TYPE_PAIRS:
        tr_buffer_print(b, "{%s: 2*own + sin(own_rate)}\n",
                        field->names == NAMES_HEADS   ? "own(t)"
                        : field->names == NAMES_LOCAL ? "mine"
                                                      : "own");
        break;
    default: tr_buffer_print(b, "%s\n", field->type == TYPE_VECTOR ? "own, 0, own*t" : "own");
    }
}

static void say_kind(Buffer *b, const Kind *kind, int depth)
{
    for (size_t i = 0; i < kind->field_count; i++) say_field(b, &kind->fields[i], depth);
}

// What a field of the copy says now. Names of sections are new; those in a thing are its own.
static void expect(Buffer *b, const char *text, const Field *field)
{
    const bool stays =
        field->type == TYPE_CHOICE || field->type == TYPE_FLAG || field->type == TYPE_TEXT;
    for (const char *c = text; *c; c++) {
        const bool is_name = strncmp(c, "own", 3) == 0;
        if (is_name && field->names == NAMES_A_FILE) tr_buffer_print(b, "sub/");
        if (is_name && !stays) tr_buffer_print(b, "p_");
        tr_buffer_add(b, c, 1);
    }
}

static uint32_t fields_seen;

static void look(const Kind *kind, const void *thing, bool is_section);

static void look_at_pairs(const Field *field, const Pairs *pairs)
{
    const bool is_head = field->names == NAMES_HEADS, is_own = field->names == NAMES_OWN;
    const bool is_local = field->names == NAMES_LOCAL;
    const Pair *pair = pairs->at;
    assert_int_equal(pairs->count, 1);
    if (field->type == TYPE_PARTS) {
        assert_true(text_is(pair->value.text, "p_own"));
        return;
    }
    assert_true(text_is(pair->key.text, is_head    ? "p_own(t)"
                                        : is_local ? "mine"
                                        : is_own   ? "own"
                                                   : "p_own"));
    assert_true(text_is(pair->value.text,
                        field->free ? "2*own + sin(own_rate)" : "2*p_own + sin(p_own_rate)"));
}

static void look_at(const Field *field, const void *at, bool is_section)
{
    const Kind *kind = tr_kind_of(field->type);
    const AnyList *list = at;
    if (field->names == NAMES_ALONE) return;
    if (strcmp(field->key, "signals") == 0) return; // are tables now
    if (kind && kind->named) {
        const uint32_t wanted = strcmp(field->key, "tables") == 0 ? 2 : 1;
        if (list->count != wanted) fail_msg("'%s' has %u entries", field->key, list->count);
        const Value *name = (const void *)list->at;
        if (!text_is(name->text, is_section ? "p_own" : "own"))
            fail_msg("'%s' holds %.*s", field->key, TEXT(name->text));
        look(kind, list->at, false);
    } else if (kind) {
        look(kind, at, is_section);
    } else if (field->type == TYPE_PAIRS || field->type == TYPE_PARTS) {
        look_at_pairs(field, at);
    } else if (field->type == TYPE_LIST) {
        assert_int_equal(list->count, 2);
        assert_true(text_is(((const Values *)at)->at[1].text, "d(p_own)"));
    } else {
        Buffer wanted = {0};
        const Value *value = at;
        if (is_section || field->type == TYPE_CHOICE) return; // sections: of the file alone
        expect(&wanted,
               field->type == TYPE_VECTOR ? "own, 0, own*t"
               : field->type == TYPE_FLAG ? "true"
                                          : "own",
               field);
        if (!text_is(value->text, wanted.at))
            fail_msg("'%s' is %.*s, not %s", field->key, TEXT(value->text), wanted.at);
        tr_buffer_free(&wanted);
    }
    fields_seen++;
}

static void look(const Kind *kind, const void *thing, bool is_section)
{
    for (size_t i = 0; i < kind->field_count; i++)
        look_at(&kind->fields[i], (const char *)thing + kind->fields[i].offset, is_section);
}

static void test_every_field(void **state)
{
    (void)state;
    Buffer text = {0};
    tr_error err = {0};
    mkdir("sub", 0700);
    tr_buffer_print(&text, HEAD);
    say_kind(&text, tr_kind_model(), 0);
    // a table and a signal cannot have one name
    char *columns = strstr(text.at, "columns: {own:");
    assert_non_null(columns);
    memcpy(columns, "columns: {see:", strlen("columns: {see:"));
    for (char *at = columns; (at = strstr(at, "scale: {own: ")) && at < columns + 200;)
        memcpy(at, "scale: {see: ", strlen("scale: {see: "));
    for (char *at = columns; (at = strstr(at, "offset: {own: ")) && at < columns + 200;)
        memcpy(at, "offset: {see: ", strlen("offset: {see: "));
    write_text("sub/part.yaml", text.at);
    write_text("all.yaml", HEAD "include: {p: {file: sub/part.yaml}}\n");
    tr_model *model = read_model("all.yaml");
    tr_model *flat = tr_model_flat(model, NULL, 0, &err);
    if (!flat) fail_msg("%s:%d: %s\n%s", err.file, err.line, err.text, text.at);
    look(tr_kind_model(), &flat->fields, true);
    if (fields_seen < 150) fail_msg("%u", fields_seen);
    tr_model_free(flat), tr_model_free(model);
    tr_buffer_free(&text);
    unlink("sub/part.yaml");
    assert_int_equal(rmdir("sub"), 0);
}

// A word that a formula knows by itself is not the parameter of that name.
static void test_locals(void **state)
{
    (void)state;
    write_text("part.yaml", HEAD "parameters: {s: 2, x: 3, slip: 4, speed: 5, normal: 6}\n"
                                 "bodies:\n  b:\n    mass: s\n"
                                 "    beam: {length: s, density: 1 + s*x, stiffness: s + s_}\n"
                                 "controllers:\n  h: {period: x, states: {s: x}, "
                                 "update: {s: s + x}, outputs: {x: 2*s}}\n"
                                 "outputs: {o: h.s}\n"
                                 "contacts:\n  c: {body: b, longitudinal: -slip*x*normal, "
                                 "restitution: 0.5*speed + x,\n      surface: {kind: height, "
                                 "height: x*y*s}}\n");
    write_text("main.yaml", HEAD "include: {p: {file: part.yaml}}\n");
    char *text = expanded("main.yaml");
    assert_says(text, "density: 1 + s*p_x\n");
    assert_says(text, "length: p_s\n");
    assert_says(text, "longitudinal: -slip*p_x*normal\n");
    assert_says(text, "restitution: 0.5*speed + p_x\n");
    assert_says(text, "height: x*y*p_s\n");
    assert_says(text, "states:\n      s: p_x\n    update:\n      s: s + p_x\n");
    assert_says(text, "outputs:\n      p_x: 2*s\n");
    assert_says(text, "p_o: p_h.s\n");
    tr_text_free(text);
}

// ---- mistakes ------------------------------------------------------------------------------

typedef struct Mistake {
    const char *part, *main; // the files; what stands behind `trundle: 1`
    const char *file;        // "" where it is in main.yaml
    int line, column;
    const char *words;
} Mistake;

static void assert_mistake(const Mistake *m)
{
    char text[4000];
    tr_error err = {0};
    snprintf(text, sizeof text, HEAD "%s", m->part);
    write_text("part.yaml", text);
    snprintf(text, sizeof text, HEAD "%s", m->main);
    write_text("main.yaml", text);
    tr_model *model = tr_model_read("main.yaml", &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_model_free(model);
    if (system) fail_msg("derives: %s", m->main);
    if (strcmp(err.file, m->file) != 0 || err.line != m->line || err.column != m->column ||
        !strstr(err.text, m->words))
        fail_msg("'%s':%d:%d: %s\nnot '%s':%d:%d: %s\n%s", err.file, err.line, err.column, err.text,
                 m->file, m->line, m->column, m->words, m->main);
}

#define ROD                                                                                        \
    "parameters: {k: 1}\n"                                                                         \
    "bodies:\n"                                                                                    \
    "  rod: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: angle}, mass: 2*k, com: \"1, " \
    "0, 0\"}\n"
#define CART "bodies: {cart: {mass: 1}}\n"

static const Mistake mistakes[] = {
    // in the included file
    {ROD "bodie: {}\n", "include: {p: {file: part.yaml}}\n", "part.yaml", 5, 1,
     "unknown key 'bodie' in 'model'; did you mean 'bodies'? (included by main.yaml:2:11 as "
     "p)"},
    {ROD "outputs:\n  o: k*angel\n", "include:\n  p: {file: part.yaml}\n", "part.yaml", 6, 8,
     "unknown name 'angel'"},
    {ROD "outputs:\n  o: k*angle*k + angel\n",
     "include:\n  p:\n    file: part.yaml\n    each: {name: [fl, fr]}\n", "part.yaml", 6, 18,
     "(included by main.yaml:3:3 as fl)"},
    {"bodies: {rod: {parent: rodd}}\n", "include: {p: {file: part.yaml}}\n", "part.yaml", 2, 24,
     "rodd"},
    {"bodies: [rod]\n", "include: {p: {file: part.yaml}}\n", "part.yaml", 2, 9, "must be a map"},
    // names of the including file
    {ROD "outputs: {o: cart.x}\n", CART "include: {p: {file: part.yaml}}\n", "part.yaml", 5, 14,
     "'cart' is a name of the including file: it is handed over by 'bind' or 'set'"},
    {ROD "forces: {f: {body: cart}}\n", CART "include: {p: {file: part.yaml}}\n", "part.yaml", 5,
     20, "'cart' is a name of the including file"},
    {ROD "outputs: {o: angle}\n", CART "include: {p: {file: part.yaml, bind: {rod: cart}}}\n",
     "part.yaml", 5, 14, "'angle' goes with what is bound"},
    // clashes
    {ROD, "bodies:\n  p_rod: {mass: 1}\ninclude: {p: {file: part.yaml}}\n", "part.yaml", 4, 3,
     "'p_rod' stands in 'bodies' already, in the including file, line 3"},
    {ROD, "parameters: {p_k: 1}\ninclude: {p: {file: part.yaml}}\n", "part.yaml", 2, 14,
     "'p_k' stands in 'parameters' already"},
    {ROD, "outputs: {p_angle: 1}\ninclude: {p: {file: part.yaml}}\n", "", 2, 11,
     "the name 'p_angle' is taken"},
    {ROD, "include:\n  a: {file: part.yaml, each: {name: [p]}}\n  p: {file: part.yaml}\n",
     "part.yaml", 2, 14, "'p_k' stands in 'parameters' already, in part.yaml, line 2"},
    // what the include says
    {ROD, "include: {p: {}}\n", "", 2, 11, "the include 'p' needs a 'file'"},
    {ROD, "include: {p: {file: parts.yaml}}\n", "", 2, 21, "cannot read 'parts.yaml'"},
    {ROD, "include: {p: {file: main.yaml}}\n", "", 2, 21,
     "'main.yaml' includes itself, by 'main.yaml'"},
    {"include: {q: {file: main.yaml}}\n", "include: {p: {file: part.yaml}}\n", "part.yaml", 2, 21,
     "'main.yaml' includes itself, by 'part.yaml', which is included by 'main.yaml'"},
    {ROD, "include: {p: {file: /etc/part.yaml}}\n", "", 2, 21,
     "'/etc/part.yaml' is not in the folder of the model: --allow-files DIR allows another"},
    {ROD, "include: {p: {file: ../part.yaml}}\n", "", 2, 21,
     "'../part.yaml' is not in the folder of the model"},
    {ROD, "include: {p: {file: link.yaml}}\n", "", 2, 21,
     "'link.yaml' is not in the folder of the model"},
    {ROD, "include: {p: {file: part.yaml, set: {kk: 1}}}\n", "", 2, 38,
     "'part.yaml' has no parameter or input 'kk'; did you mean 'k'?"},
    {ROD, "include: {p: {file: part.yaml, set: {k: kk}}}\n", "", 2, 41, "unknown name 'kk'"},
    {ROD, CART "include: {p: {file: part.yaml, bind: {rood: cart}}}\n", "", 3, 39,
     "'part.yaml' does not speak of 'rood'; did you mean 'rod'?"},
    {ROD, CART "include: {p: {file: part.yaml, bind: {rod: carts}}}\n", "", 3, 44,
     "there is no 'carts' here that 'rod' could be; did you mean 'cart'?"},
    {ROD, CART "include: {p: {file: part.yaml, bind: {k: cart}}}\n", "", 3, 39,
     "'k' is a parameter: it is given by 'set', not by 'bind'"},
    {ROD, CART "include: {p: {file: part.yaml, bind: {world: cart}}}\n", "", 3, 39,
     "'world' is the same in all files"},
    {ROD, "include: {p: {file: part.yaml, each: {k: [1, 2]}}}\n", "", 2, 39, "'each' needs 'name'"},
    {ROD, "include: {p: {file: part.yaml, each: {name: [a, b], k: [1, 2, 3]}}}\n", "", 2, 53,
     "'k' has 3 values for 2 copies: each has one"},
    {ROD, "include: {p: {file: part.yaml, each: {name: [a], k: [1, 2]}}}\n", "", 2, 50,
     "'k' has 2 values for 1 copy: each has one"},
    {ROD, "include: {p: {file: part.yaml, each: {name: [a, b], kk: [1, 2]}}}\n", "", 2, 53,
     "'kk' is no parameter or input of that file, and '1' no name here that it could be; did "
     "you mean 'k'?"},
    {ROD, "include: {p: {file: part.yaml, each: {name: [a, b, a]}}}\n", "", 2, 52,
     "two copies are called 'a'"},
    {ROD, "include: {p: {file: part.yaml, each: {name: [a, \"b c\"]}}}\n", "", 2, 50,
     "'b c' is no name"},
    {ROD, "include: {p: {file: part.yaml, each: {name: []}}}\n", "", 2, 39, "'each' needs 'name'"},
    {ROD, "include: {p: {file: part.yaml, set: {k: 1}, each: {name: [a], k: [2]}}}\n", "", 2, 38,
     "'k' stands both here and in 'each'"},
    {ROD, "include: {p: part.yaml}\n", "", 2, 14, "must be a map"},
    {ROD, "include: [part.yaml]\n", "", 2, 10, "must be a map"},
    {ROD, "include: {p: {file: part.yaml, each: {name: {a: b}}}}\n", "", 2, 46, "unknown key 'a'"},
    {ROD, "include: {p: {file: part.yaml, sett: {}}}\n", "", 2, 32, "did you mean 'set'?"},
    {ROD, "include: {2p: {file: part.yaml}}\n", "", 2, 11, "'2p' is no name"},
};

static void test_mistakes(void **state)
{
    (void)state;
    write_text("../outside.yaml", HEAD ROD);
    if (symlink("../outside.yaml", "link.yaml") != 0) fail_msg("no link");
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) assert_mistake(&mistakes[i]);
    unlink("../outside.yaml");
}

// Through two files, with the columns of the innermost
static void test_mistake_inside(void **state)
{
    (void)state;
    tr_error err = {0};
    write_text("inner.yaml", HEAD "parameters: {g: 1}\nbodies: {b: {mass: g*g + g*nothing}}\n");
    write_text("part.yaml", HEAD "include: {in: {file: inner.yaml}}\n");
    write_text("main.yaml", HEAD "include: {out: {file: part.yaml, each: {name: [left]}}}\n");
    tr_model *model = read_model("main.yaml");
    assert_null(tr_derive(model, NULL, &err));
    tr_model_free(model);
    assert_string_equal(err.file, "inner.yaml");
    assert_int_equal(err.line, 3);
    assert_int_equal(err.column, 28);
    assert_says(err.text, "(included by part.yaml:2:11 as in, by main.yaml:2:11 as left)");
}

// A misspelt name is told as its file has it, and so is the one that was meant.
static void test_misspelt(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"spring*masss", "unknown name 'masss'; did you mean 'mass'? (included"},
        {"rod.yaww", "unknown name 'left_in_rod.yaww'; did you mean 'left_in_rod.yaw'?"},
        {"angle_rat", "unknown name 'angle_rat'; did you mean 'angle_rate'?"},
        {"twce(2)", "unknown function 'twce'; did you mean 'twice'?"},
        {"sqt(2)", "unknown function 'sqt'; did you mean 'sqrt'?"},
        {"zzzzzz", "unknown name 'zzzzzz'; there are 'spring', 'mass', "},
    };
    char inner[500];
    write_text("part.yaml", HEAD "include: {in: {file: inner.yaml}}\n");
    write_text("main.yaml", HEAD "parameters: {masss_: 1}\n"
                                 "include: {out: {file: part.yaml, each: {name: [left]}}}\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tr_error err = {0};
        snprintf(inner, sizeof inner,
                 HEAD "parameters: {spring: 1, mass: 2}\n"
                      "functions: {twice(x): 2*x}\n"
                      "bodies:\n  rod: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: "
                      "angle}, mass: 1, inertia: {yy: 1}}\n"
                      "outputs: {y: \"%s\"}\n",
                 rows[i][0]);
        write_text("inner.yaml", inner);
        tr_model *model = read_model("main.yaml");
        assert_null(tr_derive(model, NULL, &err));
        assert_says(err.text, rows[i][1]);
        tr_model_free(model);
    }
}

// ---- files ---------------------------------------------------------------------------------

static tr_system *system_at(const char *path) { return system_of(read_model(path), NULL); }

// What is read counts: in the hash, and among the files that must not be overwritten.
static void test_files(void **state)
{
    (void)state;
    char before[65];
    write_parts();
    tr_system *s = system_at("two.yaml");
    const char *const names[] = {"two.yaml", "part.yaml", "log.csv"};
    for (size_t i = 0; i < 3; i++) {
        assert_non_null(tr_system_file(s, i));
        assert_true(text_ends_with(text_of(tr_system_file(s, i)), names[i]));
    }
    assert_string_equal(s->source.included, "sub/part.yaml as a, b");
    snprintf(before, sizeof before, "%s", s->source.sha256);
    tr_system_free(s);
    s = system_at("two.yaml");
    assert_string_equal(s->source.sha256, before);
    tr_system_free(s);
    char *text = read_text("sub/part.yaml");
    memcpy(strstr(text, "name: part"), "name: pert", 10); // says nothing to the system
    write_text("sub/part.yaml", text);
    free(text);
    s = system_at("two.yaml");
    assert_string_not_equal(s->source.sha256, before);
    tr_system_free(s);
    remove_parts();
}

// Files of included files stand beside these, and what leads up leads back.
static void test_folders(void **state)
{
    (void)state;
    tr_error err = {0};
    write_parts();
    write_text("sub/inner.yaml", HEAD "include: {q: {file: ../beside.yaml}}\n");
    write_text("beside.yaml", HEAD "tables: {m: {file: sub/log.csv, x: t, value: v}}\n"
                                   "bodies: {b: {mass: m(0)}}\n");
    write_text("main.yaml", HEAD "include: {p: {file: sub/inner.yaml}}\n");
    char *text = expanded("main.yaml");
    assert_says(text, "p_q_m:\n    file: sub/log.csv\n");
    assert_says(text, "mass: p_q_m(0)\n");
    tr_text_free(text);
    tr_system_free(system_at("main.yaml"));
    // elsewhere, where that is allowed
    char whole[600];
    assert_non_null(getcwd(whole, sizeof whole - 200));
    char *const place = whole + strlen(whole);
    snprintf(place, 100, "/sub");
    const char *const allowed[] = {whole};
    assert_int_equal(mkdir("other", 0700), 0);
    write_text("other/main.yaml",
               HEAD CART "include: {p: {file: ../sub/part.yaml, bind: {base: cart}}}\n");
    tr_derive_options o = tr_derive_defaults();
    tr_model *model = read_model("other/main.yaml");
    assert_null(tr_derive(model, &o, &err));
    assert_says(err.text, "is not in the folder of the model");
    o.allowed = allowed, o.allowed_count = 1;
    tr_system_free(derived_from(model, &o));
    tr_model_free(model);
    unlink("other/main.yaml");
    assert_int_equal(rmdir("other"), 0);
    remove_parts();
}

// Settings, cases and files of a case speak of the names that there are now.
static void test_settings(void **state)
{
    (void)state;
    write_parts();
    tr_system *s = system_set(read_model("two.yaml"), "soft", "b_half=0.25 b_push=3");
    const struct {
        const char *name;
        double value;
    } wanted[] = {{"a_k", 2}, {"b_half", 0.25}, {"b_push", 3}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_true(tr_input_value(s, input_index(s, wanted[i].name)) == wanted[i].value);
    tr_system_free(s);
    remove_parts();
}

// Errors of runs have places, too, long after the model is gone.
static void test_late_mistake(void **state)
{
    (void)state;
    tr_error err = {0};
    write_text("part.yaml", HEAD ROD "roles:\n  angle: {torque: 1/(t - 1)}\n");
    write_text("main.yaml", HEAD "include: {p: {file: part.yaml}}\n");
    tr_system *s = system_at("main.yaml");
    tr_simulate_options o = tr_simulate_defaults(s);
    tr_summary summary = {0};
    o.end = 2, o.every = 0.5, o.method = "rk4", o.step = 0.5, o.output = in_folder("run.csv");
    assert_false(tr_simulate(s, &o, &summary, &err));
    tr_system_free(s);
    assert_string_equal(err.file, "part.yaml");
    assert_int_equal(err.line, 6);
    assert_says(err.text, "(included by main.yaml:2:11 as p)");
}

// ---- bind ----------------------------------------------------------------------------------

// Copies may hang from what other includes made, and share what is bound, by copy too.
static void test_bound(void **state)
{
    (void)state;
    write_text("arm.yaml", HEAD "functions: {\"land(x)\": 0}\n"
                                "bodies:\n  base: {mass: 1}\n"
                                "  arm: {parent: base, joint: {type: revolute, axis: \"0, 1, 0\", "
                                "coordinate: swing}, mass: 1 + land(2)}\n"
                                "outputs: {o: base.x + land(base.z)}\n");
    write_text("main.yaml", HEAD "functions: {\"hill(x)\": 0.5*x}\n"
                                 "include:\n"
                                 "  first: {file: arm.yaml, bind: {base: world, land: hill}}\n"
                                 "  more: {file: arm.yaml, bind: {land: hill},"
                                 " each: {name: [l, r], base: [first_arm, l_arm]}}\n");
    char *text = expanded("main.yaml");
    assert_says(text, "first_arm:\n    parent: world\n");
    assert_says(text, "l_arm:\n    parent: first_arm\n");
    assert_says(text, "r_arm:\n    parent: l_arm\n");
    assert_says(text, "mass: 1 + hill(2)\n");
    assert_says(text, "r_o: l_arm.x + hill(l_arm.z)\n");
    assert_null(strstr(text, "base"));
    assert_null(strstr(text, "land"));
    tr_text_free(text);
}

// By calls
static void test_calls(void **state)
{
    (void)state;
    write_text("part.yaml", HEAD ROD);
    tr_error err = {0};
    tr_model *model = tr_model_new(&err);
    change(model, "include/p/file", "part.yaml");
    change(model, "include/p/set/k", "max(2, 3)");
    change(model, "include/p/each/name/values", "a, b");
    tr_system *s = derived(model, NULL);
    assert_true(tr_input_value(s, input_index(s, "b_k")) == 3);
    tr_system_free(s);
}

// ---- bombs ---------------------------------------------------------------------------------

static void assert_bomb(const char *main_file, const char *words)
{
    tr_error err = {0};
    tr_model *model = read_model(main_file);
    assert_null(tr_derive(model, NULL, &err));
    tr_model_free(model);
    assert_int_equal(err.status, TR_INVALID);
    assert_says(err.text, words);
}

// Each file includes the next one ten times.
static void write_levels(int levels)
{
    char name[40], text[200];
    for (int k = 0; k < levels; k++) {
        snprintf(name, sizeof name, "level%d.yaml", k);
        snprintf(text, sizeof text,
                 HEAD "include: {p: {file: level%d.yaml, each: {name: [a,b,c,d,e,f,g,h,i,j]}}}\n",
                 k + 1);
        write_text(name, k + 1 < levels ? text : HEAD "bodies: {b: {mass: 1}}\n");
    }
}

static void test_bombs(void **state)
{
    (void)state;
    Buffer many = {0};
    write_levels(11);
    assert_bomb("level0.yaml", "files include each other more than 8 deep");
    write_levels(6);
    assert_bomb("level0.yaml", "more than 2000 copies of files are included");
    write_text("part.yaml", HEAD "bodies: {b: {mass: 1}}\n");
    tr_buffer_print(&many, HEAD "include: {p: {file: part.yaml, each: {name: [");
    for (int i = 0; i < 10000; i++) tr_buffer_print(&many, "%sc%d", i ? "," : "", i);
    tr_buffer_print(&many, "]}}}\n");
    write_text("many.yaml", many.at);
    assert_bomb("many.yaml", "more than 2000 copies of files are included");
    tr_buffer_free(&many);
    // names that grow, in a text of 200 kB
    tr_buffer_print(&many, HEAD "parameters: {k: 1}\noutputs:\n  o: 0");
    for (int i = 0; i < 100000; i++) tr_buffer_print(&many, "+k");
    write_text("part.yaml", many.at);
    tr_buffer_free(&many);
    tr_buffer_print(&many, HEAD "include: {p: {file: part.yaml, each: {name: [");
    for (int i = 0; i < 50; i++) tr_buffer_print(&many, "%s%057d", i ? ",x" : "x", i);
    tr_buffer_print(&many, "]}}}\n");
    write_text("many.yaml", many.at);
    assert_bomb("many.yaml", "the files that are included come to more than 16 MB");
    tr_buffer_free(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rover),        cmocka_unit_test(test_rover_counts),
        cmocka_unit_test(test_corner_alone), cmocka_unit_test(test_sections),
        cmocka_unit_test(test_every_field),  cmocka_unit_test(test_locals),
        cmocka_unit_test(test_mistakes),     cmocka_unit_test(test_mistake_inside),
        cmocka_unit_test(test_misspelt),     cmocka_unit_test(test_files),
        cmocka_unit_test(test_folders),      cmocka_unit_test(test_settings),
        cmocka_unit_test(test_late_mistake), cmocka_unit_test(test_bound),
        cmocka_unit_test(test_calls),        cmocka_unit_test(test_bombs),
    };
    return cmocka_run_group_tests_name("include", tests, enter_folder, NULL);
}
