// SPDX-License-Identifier: Apache-2.0
// What was decided by the values of parameters: for every parameter of every model in models/,
// another value either breaks a condition, or the equations of the system that is there are those
// of one that is derived with that value. So no decision is forgotten.
#include "expr/condition.h"

#include "expr/system.h"
#include "models.h"
#include "plan/evaluator.h"

#include <dirent.h>

enum { MOST_MODELS = 1000 };

// ---- all that a system says ----------------------------------------------------------------

static void collect(Exprs *list, const Expr *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].id) tr_exprs_add(list, &values[i], 1);
}

static void add_rows(const System *s, Exprs *list)
{
    const uint32_t n = tr_system_inputs(s, TR_VELOCITY, NULL);
    for (uint32_t i = 0; i < s->row_count; i++) {
        const Row *row = &s->rows[i];
        const Expr single[] = {row->rest,       row->rate,   row->bias,       row->position,
                               row->inner_rest, row->weight, row->inner_bias, row->tension,
                               row->mix[0],     row->mix[1], row->mix[2],     row->arm};
        collect(list, row->slopes, n);
        collect(list, row->inner_slopes, n);
        collect(list, single, sizeof single / sizeof *single);
    }
}

static void add_modes(const System *s, Exprs *list)
{
    for (uint32_t i = 0; i < s->alarm_count; i++) collect(list, &s->alarms[i].margin, 1);
    for (uint32_t i = 0; i < s->latch_count; i++) {
        const Latch *latch = &s->latches[i];
        const Expr single[] = {latch->gap, latch->restitution, latch->friction};
        collect(list, single, 3);
    }
    for (uint32_t i = 0; i < s->turned_count; i++) collect(list, s->turned[i].C, 9);
}

// M, c, Q, G, gamma, phi, energies, alarms, rates: whatever there is
static Evaluator all_of(System *s, uint32_t *count)
{
    tr_error err = {0};
    Exprs list = {0};
    for (uint32_t i = 0; i < s->input_count; i++) { // what is solved for is given here
        Input *input = &s->inputs[i];
        if (input->kind == TR_SOLVED) input->kind = TR_INPUT;
        if (input->definition.id) collect(&list, &input->definition, 1);
        if (input->rate.id) collect(&list, &input->rate, 1);
    }
    for (uint32_t i = 0; i < s->output_count; i++)
        collect(&list, s->outputs[i].values, (size_t)s->outputs[i].rows * s->outputs[i].columns);
    add_rows(s, &list);
    add_modes(s, &list);
    *count = list.count;
    const Evaluator e = tr_evaluator_list(s, &list, OPEN_PARAMETERS, &err);
    if (err.status) fail_msg("%s", err.text);
    return e;
}

static double *values_of(const Evaluator *e, const double *inputs, uint32_t count)
{
    double *out = calloc(count + 1u, sizeof *out);
    assert_non_null(out);
    if (count) evaluate_into(e, inputs, out);
    return out;
}

// ---- one model -----------------------------------------------------------------------------

typedef struct Trial {
    const char *name;
    tr_model *model;
    System *system;
    Evaluator conditions, all, defaults;
    uint32_t condition_count, count, default_count;
    uint32_t tries, refused, needless; // refused although nothing differs
    double worst;
} Trial;

// Where states and inputs start, by parameters
static Evaluator defaults_of(System *s, uint32_t *count)
{
    tr_error err = {0};
    Exprs list = {0};
    for (uint32_t i = 0; i < s->input_count; i++) collect(&list, &s->inputs[i].guess, 1);
    *count = list.count;
    if (!list.count) return (Evaluator){0};
    const Evaluator e = tr_evaluator_list(s, &list, OPEN_PARAMETERS, &err);
    if (err.status) fail_msg("%s", err.text);
    return e;
}

static Trial open_trial(const char *name, tr_model *model)
{
    tr_error err = {0};
    Exprs list = {0};
    Trial t = {.name = name, .model = model};
    t.system = derived_from(t.model, NULL);
    tr_condition_list(t.system, &list);
    t.condition_count = list.count;
    if (list.count) t.conditions = tr_evaluator_list(t.system, &list, OPEN_PARAMETERS, &err);
    if (err.status) fail_msg("%s: %s", name, err.text);
    t.defaults = defaults_of(t.system, &t.default_count);
    t.all = all_of(t.system, &t.count);
    return t;
}

static void close_trial(Trial *t)
{
    tr_evaluator_free(&t->conditions);
    tr_evaluator_free(&t->all);
    tr_evaluator_free(&t->defaults);
    tr_system_free(t->system);
    tr_model_free(t->model);
}

// Inputs that are the same in both, at a state beside the start
static double *state_of(const System *s, uint64_t seed)
{
    Random r = {seed};
    double *x = calloc(s->input_count + 1u, sizeof *x);
    assert_non_null(x);
    for (uint32_t i = 0; i < s->input_count; i++) {
        const bool is_given = s->inputs[i].kind == TR_PARAMETER || s->inputs[i].kind == TR_INPUT;
        x[i] = s->inputs[i].value + (is_given ? 0 : 0.3 * any(&r));
    }
    return x;
}

static bool allows(const Trial *t, const double *inputs, tr_error *err)
{
    double *values = values_of(&t->conditions, inputs, t->condition_count);
    const bool allowed = tr_system_allows(t->system, values, inputs, err);
    free(values);
    return allowed;
}

static bool has_same_ports(const System *a, const System *b)
{
    bool same = a->input_count == b->input_count;
    for (uint32_t i = 0; same && i < a->input_count; i++)
        same = strcmp(a->inputs[i].name, b->inputs[i].name) == 0;
    return same;
}

static double apart(double a, double b)
{
    const double off = fabs(a - b) / fmax(1, fmax(fabs(a), fabs(b)));
    return isnan(off) ? (double)INFINITY : off;
}

static bool are_equal(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

// How much what the system says differs from what one that is derived anew says; but for what a
// breath of a change makes anything of, as accelerations without mass.
static double difference(const Trial *t, System *anew, const double *inputs)
{
    uint32_t count;
    Evaluator e = all_of(anew, &count);
    double worst = count == t->count ? 0 : (double)INFINITY;
    double *beside = calloc(anew->input_count + 1u, sizeof *beside);
    assert_non_null(beside);
    for (uint32_t i = 0; i < anew->input_count; i++) beside[i] = inputs[i] * (1 + (i % 3) * 1e-15);
    double *a = values_of(&t->all, inputs, t->count), *b = values_of(&e, inputs, count),
           *c = values_of(&e, beside, count);
    for (uint32_t i = 0; i < count && count == t->count; i++)
        if (!are_equal(a[i], b[i]) &&
            (are_equal(b[i], c[i]) || relative(b[i], c[i]) <= 1e-9)) // not a point where it jumps
            worst = fmax(worst, apart(a[i], b[i]));
    free(a);
    free(b);
    free(c);
    free(beside);
    tr_evaluator_free(&e);
    return worst;
}

// What the system would start from is what one that is derived anew starts from.
static void check_defaults(const Trial *t, const System *anew, const double *inputs)
{
    double *start = values_of(&t->defaults, inputs, t->default_count);
    for (uint32_t i = 0, k = 0; i < anew->input_count; i++) {
        const double was = t->system->inputs[i].value, is = anew->inputs[i].value;
        const bool has_formula = t->system->inputs[i].guess.id, is_set = anew->inputs[i].guess.id;
        if (has_formula && isfinite(start[k])) assert_close(start[k], is, 1e-15);
        k += has_formula;
        if (!has_formula && !is_set && anew->inputs[i].kind != TR_PARAMETER &&
            anew->inputs[i].kind != TR_START)
            assert_close(was, is, 0);
    }
    free(start);
}

// A parameter with another value: refused, or the same as if it were derived so. Why it was refused
static tr_error try_value(Trial *t, uint32_t parameter, double value)
{
    tr_error err = {0}, why = {0};
    char text[40];
    const char *name = t->system->inputs[parameter].name;
    snprintf(text, sizeof text, "%.17g", value);
    const tr_setting setting = {name, text};
    const tr_derive_options options = {
        .size = sizeof options, .settings = &setting, .setting_count = 1};
    System *anew = tr_derive(t->model, &options, &err);
    double *inputs = state_of(anew && has_same_ports(t->system, anew) ? anew : t->system, 7);
    inputs[parameter] = value;
    const bool allowed = allows(t, inputs, &why);
    t->tries++;
    t->refused += !allowed;
    if (!allowed && (why.status != TR_INVALID || !strstr(why.text, name) || !why.line))
        fail_msg("%s, %s = %s: %d:%d %s", t->name, name, text, why.line, why.column, why.text);
    if (allowed && !anew) fail_msg("%s, %s = %s: allowed, but %s", t->name, name, text, err.text);
    if (allowed && !has_same_ports(t->system, anew))
        fail_msg("%s, %s = %s: allowed, but inputs differ", t->name, name, text);
    const double off =
        anew && has_same_ports(t->system, anew) ? difference(t, anew, inputs) : (double)INFINITY;
    if (allowed && !(off < 1e-12))
        fail_msg("%s, %s = %s: allowed, but %.3g off", t->name, name, text, off);
    if (!allowed && off < 1e-12) {
        print_message("%s: %d:%d: %s\n", t->name, why.line, why.column, why.text);
        t->needless++;
    }
    if (allowed) t->worst = fmax(t->worst, off);
    if (allowed) check_defaults(t, anew, inputs);
    free(inputs);
    tr_system_free(anew);
    return why;
}

static void try_model(const char *name, Trial *sum)
{
    Trial t = open_trial(name, model_called(name));
    tr_error err = {0};
    double *inputs = state_of(t.system, 3);
    if (!allows(&t, inputs, &err)) fail_msg("%s: as it is: %s", name, err.text);
    free(inputs);
    const uint32_t every = BRIEF ? 9 : 1;
    for (uint32_t i = 0, k = 0; i < t.system->input_count; i++) {
        const Input input = t.system->inputs[i];
        if (input.kind != TR_PARAMETER || k++ % every) continue;
        try_value(&t, i, input.value != 0 ? 1.1 * input.value : 0.1);
        if (input.value != 0) try_value(&t, i, 0);
        if (input.value != 0) try_value(&t, i, -input.value);
    }
    sum->tries += t.tries, sum->refused += t.refused, sum->needless += t.needless;
    sum->worst = fmax(sum->worst, t.worst);
    close_trial(&t);
}

static int is_model(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static void test_every_parameter(void **state)
{
    (void)state;
    struct dirent **entries;
    Trial sum = {0};
    const int count = scandir(MODELS_DIR, &entries, is_model, alphasort);
    assert_true(count > 0 && count < MOST_MODELS);
    for (int i = 0; i < count; i++) {
        entries[i]->d_name[strlen(entries[i]->d_name) - 5] = 0;
        try_model(entries[i]->d_name, &sum);
        free(entries[i]);
    }
    free(entries);
    print_message("%u values, %u refused, %u of them though nothing differs; %.1e off at most\n",
                  sum.tries, sum.refused, sum.needless, sum.worst);
    assert_true(sum.tries - sum.refused > sum.refused);
}

// ---- one decision after the other ----------------------------------------------------------

#define TIP "bodies: {b: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
#define DISC                                                                                   \
    "bodies: {b: {joint: {type: free}, mass: 1, inertia: {axial: 2, radial: 1, axis: \"0, 1, " \
    "0\"}}}\n"
#define BEAM(fields)                                                                               \
    "bodies: {b: {joint: {type: fixed}, beam: {length: 2, density: 1, stiffness: 3, " fields "}}}" \
    "\n"
#define HINGED(at)                                                                               \
    "bodies:\n  f: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"             \
    "  b: {parent: f, joint: {type: revolute, axis: \"0, 1, 0\"}, mass: 1, inertia: {axial: 2, " \
    "radial: 1}}\ncontacts: {c: {body: b, radius: 0.5, at: \"" at "\"}}\n"
// A wheel that may show that it is round
#define WHEEL(inertia)                                                                        \
    "bodies:\n  f: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"          \
    "  b: {parent: f, joint: {type: revolute, axis: \"0, 1, 0\", at: \"1, 2, 3\"}, mass: 1, " \
    "inertia: {" inertia "}}\n"
#define ROLLS(fields) \
    "contacts: {c: {kind: rolling, body: b, axis: \"0, 1, 0\", radius: 0.5, " fields "}}\n"

// A model with a parameter p = 1; a value that changes nothing, one that breaks something, and what
static const struct {
    const char *text;
    double fine, broken;
    const char *words;
} decisions[] = {
    {"bodies: {b: {joint: {type: free}, mass: p, inertia: {xx: 1, yy: 1, zz: 1}}}\n", 0.5, -1,
     "the mass of 'b' is not negative"},
    {"bodies: {b: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: p, com: \"1, 0, 0\"}}\n", 0.5,
     0, "what 'b' moves has mass"},
    {"bodies: {b: {joint: {type: free}, mass: 1, inertia: {xx: p, yy: 1, zz: 1}}}\n", 1.5, 2.5,
     "a body can have the inertia of 'b'"},
    {"bodies: {b: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {xx: 1, zz: 1, "
     "xz: "
     "0.5*p}}}\n",
     1.5, 2.5, "a body can have the inertia of 'b'"},
    {WHEEL("xx: 2*p, yy: 2, zz: 2*p"), 1.5, 0.4, "a body can have the inertia of 'b'"},
    {WHEEL("xx: p, yy: 1, zz: 1"), 1.5, 2.5, "a body can have the inertia of 'b'"},
    {WHEEL("xx: 1, yy: 1, zz: 1, xz: p - 1"), 1.2, (double)NAN, NULL},
    {"bodies: {b: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: p}}}\n", 2,
     -1, "the moment of inertia 'zz' of 'b' is not negative"},
    {"bodies: {b: {joint: {type: revolute, axis: \"p, 0, 0\"}, mass: 1, inertia: {xx: 1}}}\n", -2,
     0, "the axis is not zero"},
    {"bodies: {b: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: \"1/p, 0, 0\"}}\n", 2,
     0, "'com' is finite"},
    {"parameters: {twice: 2/p}\n" TIP, 2, 0, "'twice' is finite"},
    {"inputs: {u: 2/p}\n" TIP, 2, 0, "'u' is finite"},
    {"inputs: {u: p}\nroles: {b: {torque: {wx: u}}}\n" TIP, 2, (double)NAN, NULL},
    {"cases: {run: {end: p}}\n" TIP, 0, -1, "'end' is not negative"},
    {"bodies: {b: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, shapes: {s: "
     "{type: "
     "sphere, radius: p}}}}\n",
     2, 0, "the radius of a shape is positive"},
    {"bodies: {b: {joint: {type: screw, axis: \"0, 0, 1\", pitch: 1/p}, mass: 1, inertia: {zz: "
     "1}}}\n",
     2, 0, "'pitch' is finite"},
    {"bodies: {b: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, added_mass: \""
     "1, p - 1, 0, 0, 0, 0,  1 - p, 1, 0, 0, 0, 0,  0, 0, 1, 0, 0, 0,  0, 0, 0, 1, 0, 0,  0, 0, 0, "
     "0, 1, 0,  0, 0, 0, 0, 0, 1\"}}\n",
     1, 2, "the added mass of 'b' is symmetric"},
    {"bodies: {b: {joint: {type: revolute, axis: \"0, 0, 1\", elastic: {stiffness: p, inertia: "
     "1}}, "
     "mass: 1, inertia: {zz: 1}}}\nroles: {b: {torque: 1}}\n",
     2, 0, "the stiffness of the motor's spring is positive"},
    // beams
    {BEAM("modes: p"), 1, 2, "'modes' of a beam is another number"},
    {BEAM("modes: 1, damping: p"), 2, -1, "the damping ratio of modes is not negative"},
    {BEAM("modes: 1, points: {m: p}"), 1.5, 2.5, "'b.m' is on its beam"},
    {"bodies: {b: {joint: {type: fixed}, beam: {length: p, density: 1, stiffness: 3 - s, modes: "
     "1}}}\n",
     2, 4, "'stiffness' of a beam is positive"},
    // contacts
    {DISC ROLLS("tube: 0.1*p"), 2, 6, "the tube of 'c' is thinner than its radius"},
    {DISC ROLLS("tube: 0.1*p"), 2, -1, "the tube of 'c' is not negative"},
    {HINGED("0, 1, p - 1"), 1, 2, "the middle of the wheel 'c' stands on its axle"},
    {HINGED("0, 1, p"), 2, (double)NAN, NULL},
    {DISC "contacts: {c: {kind: rolling, body: b, axis: \"0, 1, 0\", radius: p}}\n", 2, 0,
     "the radius of 'c' is positive"},
    {DISC ROLLS("lateral: tyre, cornering: 2, relaxation: 0.1*p"), 2, 0,
     "the relaxation of 'c' is not zero"},
    {DISC ROLLS("lateral: tyre, cornering: 2, relaxation: 0.1*(p - 1)"), 1, 2,
     "the relaxation of 'c' is zero"},
    {DISC ROLLS("lateral: viscous, viscosity: p"), 2, -1, "'viscosity' is not negative"},
    {DISC ROLLS("lateral: coulomb, friction: 1, creep: p"), 2, 0, "the creep of 'c' is positive"},
    {DISC ROLLS("lateral: coulomb, friction: 1, stick: true, stiction: p"), 2, 0.5,
     "the stiction of 'c' is at least its friction"},
    {DISC ROLLS("unilateral: true, restitution: p"), 0.5, 2,
     "the restitution of 'c' is between 0 and 1"},
    {TIP "contacts: {c: {kind: wire, body: b, direction: \"p - 0.9, 0, 1\"}}\n", 0.95, 3,
     "the wire 'c' is nearer to upright, or further from it"},
    {TIP "contacts: {c: {kind: skate, body: b, direction: \"p, 0, 0\"}}\n", -2, 0,
     "the direction is not zero"},
    {TIP "contacts: {c: {kind: pin, body: b}}\nreactions: {weights: {c.normal: p}}\n", 2, 0,
     "the weight of 'c.normal' is positive"},
    // a hinge that the base is described along
    {"bodies:\n  b: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
     "  f: {parent: b, joint: {type: revolute, axis: \"1, 0, p\"}, mass: 1, inertia: {xx: 1, yy: "
     "1.2, "
     "zz: 1}}\ncontacts: {c: {kind: skate, body: b, direction: \"1, 0, 0\"}}\n",
     2, -2, "the axis of 'f' points down less, or more"},
    // rows
    {"bodies: {b: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: 1}}}\n"
     "contacts: {c: {kind: pin, body: b, at: \"p, 0, 0\", to: \"1, 0, 0\"}}\n",
     1.1, 0, "something moves along 'c.longitudinal'"},
    {"bodies: {b: {joint: {type: revolute, axis: \"0, 0, 1\", turn: \"0, pi/2*(p - 1), 0\"}, mass: "
     "1, "
     "inertia: {zz: 1, xx: 1, yy: 1}}}\n"
     "loops: {c: {kind: point, body: b, on: world}}\n",
     2, (double)NAN, NULL},
    {"bodies: {b: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: 1}}}\n"
     "contacts: {c: {kind: slide, body: b, at: \"1, 0, p\", to: \"0, 0, 1\"}}\n",
     1, 2, "'c.normal' holds"},
    {"bodies: {b: {joint: {type: prismatic, axis: \"1, 0, sin(pi*p)\"}, mass: 1}}\n"
     "contacts: {c: {kind: slide, body: b}}\n",
     1, 0.5, "'c.normal' holds whatever moves"},
    {TIP "loops: {c: {kind: axis, body: b, on: world, axis: \"1, p - 1, 0\"}}\n", 1.5, 3,
     "the axis of 'c' is nearest to another of x, y and z"},
    {TIP "loops: {c: {kind: axis, body: b, on: world, axis: \"p, 0, 0.1\"}}\n", 2, -1,
     "the axis of 'c' is nearest to another of x, y and z"},
    {TIP "loops: {c: {kind: distance, body: b, on: world, at: \"1, 0, 0\", length: p}}\n", 2, 0,
     "the length of the rod 'c' is positive"},
    {TIP "loops: {c: {kind: pose, body: b, on: world, at: \"p, 0, 0\", to: \"1, 0, 0\"}}\n"
         "contacts: {d: {kind: pin, body: b, at: \"p, 0, 0\", to: \"1, 0, 0\"}}\n",
     3, (double)NAN, NULL},
    {"initial: {b.x: 1/p}\nguess: {b.y: 1/p}\n" TIP, 2, 0, "the guess of 'b.y' is finite"},
};

static void test_decisions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++) {
        char text[2000], words[500];
        const char *rest =
            strncmp(decisions[i].text, "parameters: {", 13) == 0 ? decisions[i].text + 13 : NULL;
        snprintf(text, sizeof text, "trundle: 1\nparameters: {p: 1%s%s", rest ? ", " : "}\n",
                 rest ? rest : decisions[i].text);
        Trial t = open_trial(text, model_from(text));
        uint32_t p = 0;
        while (strcmp(t.system->inputs[p].name, "p") != 0) p++;
        const tr_error fine = try_value(&t, p, decisions[i].fine);
        if (fine.status) fail_msg("%s%s", text, fine.text);
        if (decisions[i].words) {
            snprintf(words, sizeof words,
                     "'p' = %.6g cannot be set while it runs: the model was derived where %s; "
                     "derive it anew",
                     decisions[i].broken, decisions[i].words);
            const tr_error why = try_value(&t, p, decisions[i].broken);
            if (strcmp(why.text, words) != 0) fail_msg("%s%s, not\n%s", text, why.text, words);
        }
        assert_int_equal(t.needless, 0);
        close_trial(&t);
    }
}

// Words without values of parameters name all that a condition depends on.
static void test_words(void **state)
{
    (void)state;
    tr_error err = {0};
    System *s = system_from("trundle: 1\nparameters: {rho: 2, size: 3}\nbodies: {b: {joint: {type: "
                            "free}, mass: rho*size^3, inertia: {xx: 1, yy: 1, zz: 1}}}\n");
    double values[10] = {-1, -1, -1};
    assert_false(tr_system_allows(s, values, NULL, &err));
    assert_string_equal(
        err.text, "'rho', 'size' cannot be set while it runs: the model was derived where the "
                  "mass of 'b' is not negative; derive it anew");
    assert_int_equal(err.line, 3);
    tr_error none = {0};
    System *copy = tr_system_copy(s, &none);
    Exprs list = {0};
    tr_condition_list(copy, &list);
    assert_int_equal(copy->condition_count, s->condition_count);
    for (uint32_t i = 0; i < list.count; i++) assert_ptr_equal(list.at[i].graph, copy->graph);
    tr_exprs_free(&list);
    tr_system_free(copy);
    tr_system_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_decisions),
                                       cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_every_parameter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
