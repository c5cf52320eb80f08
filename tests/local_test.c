// SPDX-License-Identifier: Apache-2.0
// Every way of eliminating along the tree (T181-T184) against the form from all of M (T70): the
// same pivots, so the same numbers, wherever the system stands.
#include "model/model.h"
#include "models.h"
#include "plan/assemble.h"
#include "plan/evaluator.h"
#include "plans.h"
#include "reduce/reduction.h"
#include "thicket.h"

#include <dirent.h>

// ---- one form ------------------------------------------------------------------------------

static const char *const outputs[] = {"vdot", "inner.vdot", "sdot", "lambda", "tau",
                                      "H",    "J",          "k",    "h"};
enum { PIVOTS = sizeof outputs / sizeof *outputs, GROUPS, STATES = 3 };
enum { PART = BRIEF ? 6 : 1 }; // of the random forests
static const char *name_of(int group) { return group < PIVOTS ? outputs[group] : "pivots"; }

typedef struct Numbers {
    size_t end[GROUPS];
    double *at[STATES];
} Numbers;

static size_t begin_of(const Numbers *n, int group) { return group ? n->end[group - 1] : 0; }

static System *unreduced(const Flow *flow)
{
    tr_error err = {0};
    System *s = tr_plan_run_system(flow->plan, flow->footing, NULL, &err);
    if (!s) fail_msg("%s", err.text);
    return s;
}

static Numbers numbers_of(const Flow *flow, const Partition *partition, ChosenForm form,
                          double *const *states)
{
    tr_error err = {0};
    System *s = unreduced(flow);
    Exprs list = {0};
    Numbers n = {0};
    tr_reduce_as(s, partition, form, &err);
    if (err.status) fail_msg("%s", err.text);
    for (int i = 0; i < PIVOTS; i++) {
        const Output *output = tr_system_output(s, text_of(outputs[i]));
        if (output) tr_exprs_add(&list, output->values, (size_t)output->rows * output->columns);
        n.end[i] = list.count;
    }
    for (uint32_t i = 0; i < s->row_count; i++)
        if (s->rows[i].pivot.id) exprs_add(&list, s->rows[i].pivot);
    const size_t count = n.end[PIVOTS] = list.count;
    Evaluator program = tr_evaluator_list(s, &list, OPEN_PARAMETERS, &err);
    if (err.status) fail_msg("%s", err.text);
    for (int i = 0; i < STATES; i++) {
        n.at[i] = calloc(count + 1, sizeof *n.at[i]);
        evaluate_into(&program, states[i], n.at[i]);
    }
    tr_evaluator_free(&program);
    tr_system_free(s);
    return n;
}

static void free_numbers(Numbers *n)
{
    for (int i = 0; i < STATES; i++) free(n->at[i]);
}

// ---- states --------------------------------------------------------------------------------

// The start with any velocities, then other places as well: what depends on others is defined.
static double *any_state(const Flow *flow, Random *r, bool elsewhere)
{
    const System *s = flow->system;
    double *x = calloc(s->input_count + flow->switch_count + 1, sizeof *x);
    memcpy(x, flow->inputs, s->input_count * sizeof *x);
    for (uint32_t i = 0; i < flow->switch_count && elsewhere; i++)
        x[s->input_count + i] = 1 + random_below(r, 2); // a side, whichever
    for (uint32_t i = 0; i < s->input_count; i++) {
        const tr_kind kind = s->inputs[i].kind;
        if (kind == TR_VELOCITY || kind == TR_SPEED || kind == TR_INNER) x[i] = any(r);
        if (kind == TR_POSITION && elsewhere) x[i] += 0.2 * any(r);
        if (kind == TR_TIME && elsewhere) x[i] = random_between(r, 0.1, 0.4);
    }
    for (uint32_t i = 0; i < s->quaternion_count; i++) tr_make_unit(x + s->quaternions[i].position);
    return x;
}

// ---- comparing -----------------------------------------------------------------------------

static double largest(const double *x, size_t begin, size_t end)
{
    double most = 0;
    for (size_t k = begin; k < end; k++)
        if (!(fabs(x[k]) <= most)) most = fabs(x[k]);
    return most;
}

static struct {
    int states, left_out, systems;
} seen;

// How many digits dependent velocities cost there
static double growth(const Numbers *n, int state)
{
    double most = 1;
    for (int g = 0; g < GROUPS; g++)
        if (strchr("HJ", name_of(g)[0]) && !name_of(g)[1])
            most = fmax(most, largest(n->at[state], begin_of(n, g), n->end[g]));
    return most;
}

static void compare(const char *title, const Numbers *a, const Numbers *b)
{
    for (int state = 0; state < STATES; state++) {
        const double cost = growth(b, state);
        seen.states++;
        if (!(cost < 1e3)) {
            seen.left_out++;
            continue;
        }
        for (int g = 0; g < GROUPS; g++) {
            const size_t begin = begin_of(b, g), end = b->end[g];
            const double size = fmax(1, largest(b->at[state], begin, end));
            double off = 0;
            assert_int_equal(a->end[g], end);
            for (size_t k = begin; k < end; k++) {
                const double d = fabs(a->at[state][k] - b->at[state][k]) / (size * cost);
                if (!(d <= off)) off = d;
            }
            if (!is_below(off, 1e-10)) fail_msg("%s: %s is off by %.3g", title, name_of(g), off);
        }
    }
}

enum { WAYS = 17 };
static LocalWays ways_of(int i)
{
    if (i == 16) return (LocalWays){.at_once = true};
    return (LocalWays){
        .grounds = i & 1, .late_bias = i & 2, .articulates = i & 4, .projects = i & 8};
}

// In one way after the other. Rows that are left over follow from others where the model's
// constraints hold, so that only there may be compared.
static void check_flow(const char *name, const Flow *flow, const Partition *partition, bool moves,
                       Random *r)
{
    double *states[STATES];
    for (int i = 0; i < STATES; i++) states[i] = any_state(flow, r, moves && i > 0);
    Numbers whole = numbers_of(flow, partition, (ChosenForm){0}, states);
    for (int i = 0; i < WAYS; i++) {
        const ChosenForm form = {true, ways_of(i)};
        char title[200];
        snprintf(title, sizeof title, "%s:%s%s%s%s%s", name, form.ways.grounds ? " grounds" : "",
                 form.ways.late_bias ? " late_bias" : "",
                 form.ways.articulates ? " articulates" : "", form.ways.projects ? " projects" : "",
                 form.ways.at_once ? " at_once" : "");
        Numbers n = numbers_of(flow, partition, form, states);
        compare(title, &n, &whole);
        free_numbers(&n);
    }
    seen.systems++;
    free_numbers(&whole);
    for (int i = 0; i < STATES; i++) free(states[i]);
}

typedef struct Opened {
    System *system;
    Plan *plan;
    Flow *flow;         // NULL where it does not start
    const Chart *chart; // NULL where nothing is eliminated along the tree
} Opened;

static Opened opened(System *system)
{
    tr_error err = {0};
    Opened o = {.system = system, .plan = tr_plan_new(system, &err)};
    o.flow = tr_flow_new(o.plan, NULL, &err);
    if (!o.flow) return o;
    tr_flow_fill(o.flow, 0, o.flow->start);
    const Chart *chart = o.flow->now->chart;
    if (system->forest && chart && chart->partition.count) o.chart = chart;
    return o;
}

static void close_all(Opened *o)
{
    tr_flow_free(o->flow);
    tr_plan_free(o->plan);
    tr_system_free(o->system);
}

// ---- models of the folder ------------------------------------------------------------------

static int is_model(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static void check_case(const tr_model *model, const char *name, const char *case_name, Random *r)
{
    char title[200];
    const tr_derive_options options = {.size = sizeof options, .case_name = case_name};
    snprintf(title, sizeof title, "%s %s", name, case_name);
    Opened o = opened(derived_from(model, &options));
    assert_non_null(o.flow);
    if (o.chart) check_flow(title, o.flow, &o.chart->partition, !o.chart->surplus_count, r);
    close_all(&o);
}

static void check_cases(const char *file, Random *r)
{
    char name[100];
    snprintf(name, sizeof name, "%.*s", (int)strlen(file) - 5, file);
    tr_model *model = model_called(name);
    const uint32_t count = BRIEF ? 1 : model->fields.cases.count;
    for (uint32_t i = 0; i < count; i++) {
        const Text text = model->fields.cases.at[i].name.text;
        char case_name[100];
        snprintf(case_name, sizeof case_name, "%.*s", (int)text.length, text.at);
        check_case(model, name, case_name, r);
    }
    tr_model_free(model);
}

static void test_models(void **state)
{
    (void)state;
    Random r = {7};
    struct dirent **entries = NULL;
    const int found = scandir(MODELS_DIR, &entries, is_model, alphasort);
    assert_true(found > 50);
    for (int i = 0; i < found; i++) {
        check_cases(entries[i]->d_name, &r);
        free(entries[i]);
    }
    free(entries);
    assert_true(seen.systems > (BRIEF ? 40 : 120));
}

// ---- wheels, balls, driven bases -----------------------------------------------------------

// A frame that leans on a slope, with a wheel at its rear and another one in a fork
#define BODY(name, rest) "  " name ": {" rest "}\n"
#define CYCLE(base, rear, front, more)                                                           \
    "trundle: 1\n"                                                                               \
    "parameters: {r: 0.3, g: 9.81}\n"                                                            \
    "gravity: 0.3, 0.1, -g\n"                                                                    \
    "ground: {turn: \"0.1, -0.2, 0.3\"}\n"                                                       \
    "bodies:\n" base                                                                             \
    "  hind: {parent: frame, joint: {type: revolute, axis: \"0.1, 1, 0.2\", at: \"0, 0.02, 0\"," \
    " coordinate: spin}, mass: 2, " rear "}\n"                                                   \
    "  fork: {parent: frame, joint: {type: revolute, axis: \"-0.3, 0, 1\", at: \"1, 0, 0.1\"},"  \
    " mass: 1.2, com: \"0.1, 0, 0.2\", inertia: {xx: 0.2, yy: 0.3, zz: 0.1}}\n"                  \
    "  fore: {parent: fork, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0.05, 0, -0.1\"},"  \
    " mass: 1.5, " front "}\n" more
#define FRAME(joint)                                                        \
    "  frame: {joint: {type: " joint "}, mass: 8, com: \"0.3, 0.05, 0.4\"," \
    " inertia: {xx: 1, yy: 2, zz: 1.5, xy: 0.1, yz: -0.2, xz: 0.3}}\n"
#define ROUND     "inertia: {axial: 0.2, radial: 0.11}"
#define ECCENTRIC "com: \"0.1, 0.02, -0.05\", inertia: {xx: 0.2, yy: 0.3, zz: 0.25, xy: 0.03}"
#define TYRE(name, body, more) \
    "  " name ": {kind: rolling, body: " body ", radius: r, unilateral: false" more "}\n"
#define TYRES(more) "contacts:\n" TYRE("c1", "hind", more) TYRE("c2", "fore", more)

// A base that is driven, and what hangs from it: skates, a rod, a formula of both
#define BLOCK "inertia: {xx: 0.1, yy: 0.2, zz: 0.15, xy: 0.02}"
#define DRIVEN(joint, motion)                                                                      \
    "trundle: 1\nbodies:\n" FRAME(                                                                 \
        joint) "  arm: {parent: frame, joint: {type: revolute, axis: \"0, 0.1, 1\", at: \"1, 0, "  \
               "0\"},"                                                                             \
               " mass: 1, com: \"0.3, 0, 0\", " BLOCK "}\n"                                        \
               "  hand: {parent: arm, joint: {type: ball, at: \"0.7, 0, 0\"}, mass: 0.5, " BLOCK   \
               "}\n"                                                                               \
               "  foot: {parent: frame, joint: {type: ball, at: \"0.7, 1, 0\"}, mass: 0.6, " BLOCK \
               "}\n"                                                                               \
               "contacts:\n"                                                                       \
               "  s1: {kind: skate, body: arm, at: \"0.5, 0, 0\"}\n"                               \
               "  s2: {kind: skate, body: hand, at: \"0.4, 0.1, 0\"}\n"                            \
               "loops: {rod: {kind: distance, body: hand, at: \"0.6, 0, 0\", on: foot, to: "       \
               "\"0.5, 0, 0\","                                                                    \
               " length: 1 + abs(t - 0.25)^3}}\n"                                                  \
               "constraints: {c: {rate: frame.vx + 0.3*hand.wx - d(foot.qw) + foot.wy}}\n"         \
               "roles: {frame: {motion: {" motion "}}}\n"

// What is behind a driven crank, before a row is about it
#define CRANKED(direction)                                                                        \
    "trundle: 1\nbodies:\n"                                                                       \
    "  crank: {joint: {type: revolute, axis: \"0, 0.2, 1\"}, mass: 1, com: \"0.3, 0, 0\", " BLOCK \
    "}\n"                                                                                         \
    "  rod: {parent: crank, joint: {type: revolute, axis: \"0, 0, 1\", at: \"0.7, 0, 0\"},"       \
    " mass: 1, com: \"0.2, 0.1, 0\", " BLOCK "}\n"                                                \
    "  tip: {parent: rod, joint: {type: revolute, axis: \"0, 0.1, 1\", at: \"0.6, 0, 0\"},"       \
    " mass: 0.4, com: \"0.2, 0, 0.1\", " BLOCK "}\n"                                              \
    "contacts: {skate: {kind: skate, body: tip, at: \"0.3, 0, 0\"" direction "}}\n"               \
    "roles: {crank: {motion: 0.3 + sin(2*t)}}\n"

static const char *const texts[] = {
    CRANKED(""),
    CRANKED(", direction: \"-sin(2*t), cos(2*t), 0.3*t\""),
    CYCLE(FRAME("free"), ROUND, ROUND, TYRES("")),
    CYCLE(FRAME("free"), ROUND, ROUND, TYRES(", tube: 0.06")),
    CYCLE(FRAME("free"), ECCENTRIC, ROUND, TYRES(", tube: 0.06")),
    CYCLE(FRAME("free"), ROUND, ROUND,
          TYRES(", tube: 0.06") "roles: {spin: {motion: 3*t + t^2}}\n"),
    CYCLE(FRAME("free"), ECCENTRIC, ECCENTRIC, TYRES("") "roles: {spin: {motion: 3*t + t^2}}\n"),
    CYCLE(FRAME("free"), ROUND, ROUND, TYRES("") "roles: {fork: {motion: 0.2 + sin(t)}}\n"),
    CYCLE(FRAME("free"), ROUND, ROUND,
          "contacts:\n" TYRE("c1", "hind", ", axis: \"0.2, 1, 0\", at: \"0.05, 0.03, 0.02\"")
              TYRE("c2", "fore", ", shape: ball, at: \"0, 0.1, 0\"")),
    CYCLE(FRAME("free"), ROUND, ROUND,
          "contacts:\n" TYRE("c1", "hind",
                             ", axis: \"0.2 + sin(t), 1, 0.3*t\", at: \"0.05, 0, 0.02\"")
              TYRE("c2", "fore", "")),
    CYCLE(FRAME("free"), ROUND, ROUND,
          "contacts:\n" TYRE("c1", "frame", ", shape: ball") TYRE("c2", "fore", ", tube: 0.1")),
    CYCLE(FRAME("free"), ROUND, ROUND,
          "contacts:\n" TYRE("c1", "fork", ", axis: \"0, 1, 0\", tube: 0.02")
              TYRE("c2", "hind", "") "independent: [d(spin), fork.wx + d(spin)]\n"),
    CYCLE(FRAME("free"), ROUND, ROUND,
          TYRES("") "forces: {drag: {body: frame, force: \"-0.2*lambda.c1.normal, "
                    "0.1*lambda.c2.lateral, 3\"}}\n"),
    DRIVEN("planar", "x: sin(t), y: 0.3*t, theta: 0.5*t^2 + 0.2*t"),
    DRIVEN("free", "x: sin(t), z: 0.3*t, qw: cos(t), qx: sin(t), qy: 0.2*t"),
};

static void test_texts(void **state)
{
    (void)state;
    Random r = {5};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char name[40];
        snprintf(name, sizeof name, "text %zu", i);
        Opened o = opened(system_from(texts[i]));
        assert_non_null(o.chart);
        check_flow(name, o.flow, &o.chart->partition, true, &r);
        close_all(&o);
    }
}

// ---- random forests ------------------------------------------------------------------------

// Other pivots than a chart takes
static void check_anyhow(const char *name, const Opened *o, Random *r)
{
    Stance *at = o->flow->stance;
    uint32_t row[MAX_ROWS], column[MAX_ROWS];
    double A[MAX_ROWS * MAX_V];
    assert_true(tr_stance_take(at, o->flow->inputs));
    for (uint32_t i = 0; i < at->rows; i++)
        for (uint32_t j = 0; j < at->passive; j++)
            A[i * at->passive + j] = at->G[i * at->velocities + at->p[j]];
    const uint32_t count = any_pivots(r, at->rows, at->passive, A, row, column);
    for (uint32_t k = 0; k < count; k++) column[k] = at->v[at->p[column[k]]];
    const Partition partition = {.row = row, .dependent = column, .count = count};
    assert_int_equal(count, o->chart->m_locked);
    check_flow(name, o->flow, &partition, true, r);
}

static void check_forest(const char *name, const Thicket *f, const char *more, Random *r)
{
    Buffer text = write_thicket(f, more);
    Opened o = opened(system_from(text.at));
    assert_non_null(o.flow);
    if (o.chart) {
        check_flow(name, o.flow, &o.chart->partition, true, r);
        if (!*more) check_anyhow(name, &o, r);
    }
    tr_buffer_free(&text);
    close_all(&o);
}

static void test_random(void **state)
{
    (void)state;
    Random r = {1};
    seen.systems = 0;
    for (int i = 0; i < 60 / PART; i++) {
        char name[40], more[300] = "";
        Thicket f = any_thicket(&r);
        snprintf(name, sizeof name, "forest %d", i);
        check_forest(name, &f, "", &r);
        if (any_speeds(&r, &f, more, sizeof more)) check_forest(name, &f, more, &r);
    }
    assert_true(seen.systems > 130 / PART);
}

// ---- wheels far from their base -------------------------------------------------------------

// Hinges that are oblique turn the axes of links, which rows of such a wheel are in: its own rows
// tell whether it rolls.
static void check_far(const char *wheel)
{
    char text[2000];
    snprintf(text, sizeof text,
             "trundle: 1\n"
             "bodies:\n"
             "  base: {joint: {type: free}, mass: 3, inertia: {xx: 0.5, yy: 0.56, zz: 0.63}}\n"
             "  b0: {parent: base, joint: {type: revolute, axis: \"0.17, 0.3, 0.87\", at: \"0.37, "
             "0.05, -0.44\"}, mass: 2.5, inertia: {xx: 0.14, yy: 0.13, zz: 0.13}}\n"
             "  b1: {parent: b0, joint: {type: revolute, axis: \"0.8, 0.1, 0.2\"}, mass: 1.3, "
             "inertia: {xx: 0.1, yy: 0.11, zz: 0.07}}\n"
             "  b2: {parent: b1, joint: {type: revolute, axis: \"0, 0.3, 1\"}, mass: 0.5, inertia: "
             "{xx: 0.02, yy: 0.03, zz: 0.02}}\n"
             "  fork: {parent: b2, joint: {type: revolute, axis: \"0, 0, 1\"}}\n"
             "  wheel: {parent: fork, joint: {type: revolute, axis: \"0, 1, 0\"}, mass: 0.8, "
             "inertia: {axial: 0.03, radial: 0.02}}\n"
             "contacts: {wheel_ground: {body: wheel, radius: 0.3%s}}\n"
             "guess: {base.z: 0.4, base.vx: 1.2, base.vy: -0.7, base.wz: 0.8, base.wx: 0.9, d(b0): "
             "0.2, b1: -0.4, d(b1): -0.1, b2: 0.2, d(fork): -0.3, d(wheel): -0.9}\n",
             wheel);
    tr_error err = {0};
    tr_system *system = system_from(text);
    tr_simulate_options o = tr_simulate_defaults(system);
    tr_summary s = {0};
    o.end = 0.05;
    if (!tr_simulate(system, &o, &s, &err)) fail_msg("%s", err.text);
    assert_below(s.velocity_error, 1e-11);
    assert_below(s.energy_error, 1e-9);
    tr_system_free(system);
}

static void test_far_wheels(void **state)
{
    (void)state;
    static const char *const wheels[] = {"", ", tube: 0.05", ", lateral: free",
                                         ", longitudinal: free", ", shape: ball"};
    for (size_t i = 0; i < sizeof wheels / sizeof *wheels; i++) check_far(wheels[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_far_wheels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
