// SPDX-License-Identifier: Apache-2.0
// Where there are constraints, M, c and M v' + c are those of one of several forests with the same
// motions: along inner axes, along hinges, with the mass of what hangs from bases or without. Which
// one depends on its length alone, so each of them is compared here with the bodies' own axes; and
// the one that runs has to keep its energy.
//
// note.c is compiled into this test, for it has the last word in a derivation.
#include "models.h"
#include "random.h"

#define tr_tree_name_notes name_notes_alone
#include "mech/note.c"
#undef tr_tree_name_notes
void tr_tree_name_notes(Tree *tree);

// ---- all forms -----------------------------------------------------------------------------

// Each is an output: M by rows, c, and M v' + c where v' is whatever the velocities are. The first
// one, in the bodies' own axes, is what others must be, and OWN_INNER the same by inner velocities.
enum { OWN, ALONG, ALONG_LOADED, OWN_INNER, INNER, INNER_ALONG, INNER_ALONG_LOADED, FORMS };
static const char *const names = "form0 form1 form2 form3 form4 form5 form6";

static Expr *dynamics_of(Tree *tree, const Expr *rates)
{
    const uint32_t n = tree->velocity_count;
    Expr *all = calloc((n + 2) * (size_t)n, sizeof *all);
    const Matrix M = tr_tree_mass_matrix(tree);
    memcpy(all, M.entries, n * (size_t)n * sizeof *all);
    tr_tree_inverse(tree, NULL, false, all + n * (size_t)n);
    tr_tree_inverse(tree, rates, false, all + (n + 1) * (size_t)n);
    return all;
}

static void put_form(Tree *tree, int form, Expr *all)
{
    char name[40];
    const uint32_t n = tree->velocity_count;
    snprintf(name, sizeof name, "form%d", form);
    tr_output(tree->system, name, all, n + 2, n, tree->err);
    free(all);
}

static void put_forms(Tree *tree, int first, const Expr *rates)
{
    put_form(tree, first, dynamics_of(tree, rates));
    for (int loads = 0; loads < 2; loads++) {
        Tree *along = tr_tree_along(tree, (AlongBases){.load = loads});
        put_form(tree, first + 1 + loads, dynamics_of(along ? along : tree, rates));
    }
}

static void turn_rows(const Tree *tree, Expr *all, uint32_t rows)
{
    const uint32_t n = tree->velocity_count;
    Expr *row = calloc(n, sizeof *row);
    for (uint32_t i = 0; i < rows; i++, all += n) {
        memcpy(row, all, n * sizeof *row);
        tr_tree_turn_in(tree, row, all);
    }
    free(row);
}

// By inner velocities: C^T M C, C^T c, C^T (M v' + c)
static Expr *turned(const Tree *tree, Expr *all)
{
    const uint32_t n = tree->velocity_count;
    turn_rows(tree, all, n + 2);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++) {
            const Expr x = all[i * n + k];
            all[i * n + k] = all[k * n + i], all[k * n + i] = x;
        }
    turn_rows(tree, all, n);
    return all;
}

void tr_tree_name_notes(Tree *tree)
{
    name_notes_alone(tree);
    const uint32_t n = tree->velocity_count;
    Expr *rates = calloc(n, sizeof *rates);
    for (uint32_t k = 0; k < n; k++) rates[k] = tree->velocities[(k + 1) % n].symbol;
    put_forms(tree, OWN, rates);
    put_form(tree, OWN_INNER, turned(tree, dynamics_of(tree, rates)));
    turn_rows(tree, rates, 1);
    put_forms(tree->inner, INNER, rates);
    free(rates);
}

// ---- compared ------------------------------------------------------------------------------

static void check_rows(const char *text, size_t form, const double *found, const double *wanted,
                       size_t count)
{
    double size = 1, worst = 0;
    for (size_t k = 0; k < count; k++) size = fmax(size, fabs(wanted[k]));
    for (size_t k = 0; k < count; k++) worst = fmax(worst, fabs(found[k] - wanted[k]) / size);
    if (!is_below(worst, 1e-12)) fail_msg("form %zu is off by %.2g:\n%s", form, worst, text);
}

static void check_forms(const char *text, const double *all, size_t n)
{
    const size_t size = (n + 2) * n;
    for (size_t i = 0; i < FORMS; i++) {
        const double *wanted = all + (i < OWN_INNER ? OWN : OWN_INNER) * size,
                     *found = all + i * size;
        check_rows(text, i, found, wanted, n * n);
        for (size_t row = n; row < n + 2; row++)
            check_rows(text, i, found + row * n, wanted + row * n, n);
    }
}

// Whether it has inner axes
static bool check_model(const char *text, Random *r)
{
    tr_error err = {0};
    System *system = system_from(text);
    tr_program *program = tr_compile(system, names, NULL, &err);
    tr_workspace *workspace = tr_workspace_new(program, &err);
    if (err.status) fail_msg("%s:\n%s", err.text, text);
    const bool is_turned = system->turned_count > 0;
    double *in = calloc(system->input_count, sizeof *in);
    double *out = calloc(tr_program_sizes(program).outputs, sizeof *out);
    for (int times = 0; times < 3; times++) {
        for (uint32_t i = 0; i < system->input_count; i++)
            in[i] = system->inputs[i].kind == TR_PARAMETER ? system->inputs[i].value : any(r);
        tr_evaluate(program, workspace, in, out);
        check_forms(text, out, tr_system_inputs(system, TR_VELOCITY, NULL));
    }
    free(in);
    free(out);
    tr_workspace_free(workspace);
    tr_program_free(program);
    tr_system_free(system);
    return is_turned;
}

// ---- models --------------------------------------------------------------------------------

#define PARTS "trundle: 1\nparameters: {tilt: 0.15, a: 0.3, l: 0.2}\nbodies:\n"
#define MASS  "mass: 1.5, com: \"0.1, 0.2, 0.3\", inertia: {xx: 0.2, yy: 0.25, zz: 0.2, xy: 0.01}}\n"
#define STEERED                                                                                   \
    PARTS "  deck: {joint: {type: free}, " MASS                                                   \
          "  column: {parent: deck, joint: {type: revolute, axis: \"-sin(tilt), 0, cos(tilt)\", " \
          "turn: \"0, -tilt, 0\", at: \"l, 0, 0.2\"}, " MASS                                      \
          "  rear: {parent: deck, joint: {type: revolute, axis: \"0, 1, 0\"}, mass: 0.8, "        \
          "inertia: {axial: 0.004, radial: 0.002}}\n"
#define ROLLS                                                                                      \
    "contacts: {c: {kind: rolling, body: rear, radius: 0.3}}\n"                                    \
    "initial: {deck.x: 0, deck.y: 0, column: 0.2, d(column): 0.5, rear: 0, d(rear): 10, deck.wx: " \
    "0.3, part: 0.3, d(part): 1.3}\n"

// Parts with a turn on a base that is turned, and on a fork that has slid along its axis
static const char *const steered[] = {
    STEERED "  part: {parent: deck, joint: {type: screw, pitch: 0.03, axis: \"sin(a), 0, cos(a)\", "
            "at: \"0.1, 0.05, 0.3\", turn: \"0, a, 0\"}, " MASS ROLLS,
    STEERED
    "  part: {parent: column, joint: {type: screw, pitch: 0.03, axis: \"sin(a), 0, cos(a)\", "
    "at: \"0.1, 0.05, 0.3\", turn: \"0, a, 0\"}, " MASS ROLLS,
    STEERED
    "  part: {parent: column, joint: {type: revolute, axis: \"1, a, 0\", turn: \"0, 0, a\", "
    "at: \"0.1, 0, 0\"}, " MASS ROLLS,
    STEERED
    "  part: {parent: column, joint: {type: prismatic, axis: \"1, a, 0\", turn: \"0, 0, a\", "
    "at: \"0.1, 0, 0\"}, " MASS ROLLS,
};

static void test_steered(void **state)
{
    (void)state;
    Random r = {3};
    for (size_t i = 0; i < sizeof steered / sizeof *steered; i++)
        assert_true(check_model(steered[i], &r));
}

static void test_energy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof steered / sizeof *steered; i++) {
        tr_error err = {0};
        tr_summary s = {0};
        System *system = system_from(steered[i]);
        tr_simulate_options o = tr_simulate_defaults(system);
        o.rtol = 1e-12, o.atol = 1e-14, o.end = 0.5;
        if (!tr_simulate(system, &o, &s, &err)) fail_msg("%s", err.text);
        assert_below(s.energy_error, 1e-10);
        tr_system_free(system);
    }
}

// ---- random ones ---------------------------------------------------------------------------

// The angle by a number, or by a parameter
static const char *const angles[] = {"tilt", "0.15", "a", "0.7", "pi/2"};
enum { ANGLES = sizeof angles / sizeof *angles };

static const char *const joints[] = {
    "revolute, axis: \"-sin(%s), 0, cos(%s)\", turn: \"0, -%s, 0\"",
    "revolute, axis: \"-sin(%s), 0, cos(%s)\"",
    "revolute, axis: \"1, 2, %s\", turn: \"0.1, %s, 0.3\"",
    "prismatic, axis: \"-sin(%s), 0, cos(%s)\"",
    "prismatic, axis: \"-sin(%s), 0, cos(%s)\", turn: \"0.2, 0.1, %s\"",
    "screw, pitch: 0.1, axis: \"0, %s, 1\"",
    "screw, pitch: 0.1, axis: \"0, %s, 1\", turn: \"0, -%s, 0\"",
    "fixed, turn: \"0.2, %s, 0.1\"",
    "ball, turn: \"0.2, %s, 0.1\"",
};
enum { JOINTS = sizeof joints / sizeof *joints };

static void add_number(Buffer *t, Random *r)
{
    const uint32_t kind = random_below(r, 4);
    if (kind < 2)
        tr_buffer_print(t, "%s", kind ? "l" : "0");
    else
        tr_buffer_print(t, "%.17g", random_between(r, -0.5, 0.5));
}

static void add_place(Buffer *t, Random *r, const char *field)
{
    tr_buffer_print(t, ", %s: \"", field);
    for (int k = 0; k < 3; k++) {
        if (k) tr_buffer_print(t, ", ");
        add_number(t, r);
    }
    tr_buffer_print(t, "\"");
}

static void add_body(Buffer *t, Random *r, int i)
{
    static const char *const inertias[] = {"xx: 0.2, yy: 0.25, zz: 0.15", "xx: l, yy: l, zz: l",
                                           "xx: 0.3, yy: 0.2, zz: 0.3, xz: 0.01, xy: 0.02"};
    const char *angle = angles[random_below(r, ANGLES)];
    char joint[200] = "free";
    if (i) { // the first one steers, as often as not
        const uint32_t kind = i == 1 && chance(r, 0.5) ? 0 : random_below(r, JOINTS);
        snprintf(joint, sizeof joint, joints[kind], angle, angle, angle);
    }
    tr_buffer_print(t, "  b%d: {", i);
    if (i) tr_buffer_print(t, "parent: b%d, ", (int)random_below(r, (uint32_t)i));
    tr_buffer_print(t, "joint: {type: %s", joint);
    if (i) add_place(t, r, "at");
    tr_buffer_print(t, "}, mass: %s", chance(r, 0.5) ? "1.5" : "4*l");
    add_place(t, r, "com");
    tr_buffer_print(t, ", inertia: {%s}}\n", inertias[random_below(r, 3)]);
}

static void add_model(Buffer *t, Random *r)
{
    static const char *const holds[] = {"rolling, body: w, radius: 0.3",
                                        "rolling, body: w, radius: 0.3, tube: 0.05",
                                        "skate, body: w", "skate, body: b0"};
    const int bodies = 2 + (int)random_below(r, 5);
    tr_buffer_print(t, PARTS);
    for (int i = 0; i < bodies; i++) add_body(t, r, i);
    tr_buffer_print(t, "  w: {parent: b%d, joint: {type: revolute, axis: \"0, 1, 0\"",
                    (int)random_below(r, (uint32_t)bodies));
    add_place(t, r, "at");
    tr_buffer_print(t, "}, mass: 0.8, inertia: {axial: 0.03, radial: 0.02}}\n");
    tr_buffer_print(t, "contacts: {c: {kind: %s}}\n", holds[random_below(r, 4)]);
}

static void test_random(void **state)
{
    (void)state;
    Random r = {5};
    int turned = 0;
    enum { MODELS = BRIEF ? 20 : 60 };
    for (int i = 0; i < MODELS; i++) {
        Buffer t = {0};
        add_model(&t, &r);
        turned += check_model(t.at, &r);
        tr_buffer_free(&t);
    }
    assert_true(turned > MODELS / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steered),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
