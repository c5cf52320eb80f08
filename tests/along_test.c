// SPDX-License-Identifier: Apache-2.0
// Links along their hinges: how many operations chains take that have nothing regular about them,
// whether rounding in what was written costs any, and that motions stay the same.
#include "chains.h"

#include "expr/list.h"
#include "program/compile.h"

static size_t operations_of(const Probe *p)
{
    tr_error err = {0};
    const Output *vdot = tr_system_output(p->system, text_of("vdot"));
    tr_program *program = tr_compile_values(p->system, vdot->values, vdot->rows, true, &err);
    assert_int_equal(err.status, TR_OK);
    const size_t count = tr_program_sizes(program).operations;
    tr_program_free(program);
    return count;
}

// ---- generic chains ------------------------------------------------------------------------

static RandomForest any_chain(Random *r, int hinges)
{
    RandomForest f = {.ne = {.count = hinges + 1, .gravity = v3(0, 0, -9.81)}};
    for (int i = 0; i <= hinges; i++) {
        f.ne.body[i] = any_link(r, i);
        f.part[i] = (Part){.label = i, .drive = DRIVE_NONE};
    }
    ne_number(&f.ne);
    return f;
}

static Probe long_chain(Random *r, int hinges)
{
    tr_error err = {0};
    return probe_of_system(chain_with(r, hinges, ""), false, &err);
}

static const struct {
    int hinges;
    size_t most; // in the links' own axes: 2,582, 6,678, 19,678 and 65,178
} chains[] = {{4, 1800}, {10, 4150}, {30, 12050}, {100, 39800}};

static void test_operations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        Random r = {7 + i};
        Probe p = long_chain(&r, chains[i].hinges);
        const size_t count = operations_of(&p);
        if (count > chains[i].most) fail_msg("%d hinges: %zu operations", chains[i].hinges, count);
        probe_free(&p);
    }
}

// What the reduction is given of chains that are held: M and c of ten hinges take 5,800 operations
// in the links' own axes.
static void test_constrained(void **state)
{
    (void)state;
    static const char *const held[] = {
        "contacts: {tip: {kind: pin, body: b10, at: \"0.1, 0.2, 0.3\", to: \"0.3, 0.1, 0.2\"}}\n",
        "loops: {tip: {kind: point, body: b10, at: \"0.1, 0.2, 0.3\", on: b1}}\n"};
    for (int i = 0; i < 2; i++) {
        Random r = {7};
        System *system = chain_with(&r, 10, held[i]);
        const Output *M = tr_system_output(system, text_of("M")),
                     *c = tr_system_output(system, text_of("c"));
        Exprs both = {0};
        tr_exprs_add(&both, M->values, (size_t)M->rows * M->columns);
        tr_exprs_add(&both, c->values, c->rows);
        const size_t count = tr_system_operations(system, both.at, both.count);
        if (count > 4350) fail_msg("%zu operations", count);
        tr_exprs_free(&both);
        tr_system_free(system);
    }
}

// M v' = Q - c by numbers
static void check_against(const double *M, const double *force, const double *found, int n)
{
    double *A = malloc((size_t)n * (size_t)n * sizeof *A);
    double *b = malloc((size_t)n * sizeof *b);
    memcpy(A, M, (size_t)n * (size_t)n * sizeof *A);
    memcpy(b, force, (size_t)n * sizeof *b);
    gauss(n, n, A, b);
    check_vector("vdot", found, b, n, 1e-12);
    free(A);
    free(b);
}

static void test_accelerations(void **state)
{
    (void)state;
    static NeDynamics d;
    static double M[NE_MAX * NE_MAX], force[NE_MAX], found[NE_MAX];
    for (size_t i = 0; chains[i].hinges < NE_MAX_BODIES; i++) {
        Random r = {17 + i};
        RandomForest f = any_chain(&r, chains[i].hinges);
        Probe p = derive_as(&f, &plain);
        uint32_t place[NE_MAX];
        for (int times = 0; times < 20; times++) {
            any_state(&r, &f);
            ne_dynamics(&f.ne, &d);
            run_at(&f, &plain, &p, place);
            for (int k = 0; k < d.n; k++) {
                force[k] = -d.c[k], found[k] = probe_output(&p, "vdot")[place[k]];
                for (int l = 0; l < d.n; l++) M[k * d.n + l] = d.M[k][l];
            }
            check_against(M, force, found, d.n);
        }
        probe_free(&p);
    }
}

// Of a hundred hinges: by M and c, which are those of the links' own axes
static void test_long_chain(void **state)
{
    (void)state;
    Random r = {27};
    Probe p = long_chain(&r, 100);
    double residual[106], nothing[106] = {0};
    for (int times = 0; times < 5; times++) {
        probe_random(&p, &r);
        const double *M = probe_output(&p, "M"), *c = probe_output(&p, "c"),
                     *a = probe_output(&p, "vdot");
        for (int k = 0; k < 106; k++) {
            double force = c[k], size = fabs(c[k]);
            for (int l = 0; l < 106; l++) {
                force += M[k * 106 + l] * a[l];
                size += fabs(M[k * 106 + l] * a[l]);
            }
            residual[k] = force / size;
        }
        check_vector("M vdot + c", residual, nothing, 106, 1e-12);
    }
    probe_free(&p);
}

// ---- rounding ------------------------------------------------------------------------------

// Axes and right angles as they are meant, and as a program writes them that multiplied rotations
static const char *const written[][2] = {
    {"turn: \"pi/2, 0, 0\", axis: \"0, -1, 0\"",
     "turn: \"1.5707963267948966, 0, 0\", axis: \"0, -1, 6.123233995736766e-17\""},
    {"turn: \"0, -pi/2, 0\", axis: \"-1, 0, 0\"",
     "turn: \"0, -1.5707963267948966, 0\", axis: \"-1, 0, 6.123233995736766e-17\""},
    {"turn: \"0, 0, pi\", axis: \"0, 0, 1\"",
     "turn: \"0, 0, 3.1415926535897931\", axis: \"1e-17, -1.2e-16, 0.99999999999999989\""},
    {"turn: \"pi/2, 0, pi/2\", axis: \"1, 0, 0\"",
     "turn: \"1.5707963267948968, 0, 1.5707963267948966\", axis: \"1, -6.1e-17, 6.1e-17\""},
};
enum { WRITTEN = sizeof written / sizeof *written };

static Probe written_chain(int column)
{
    Buffer t = {0};
    tr_buffer_print(&t, "trundle: 1\nbodies:\n  b0: {joint: {type: free}, mass: 1, inertia: "
                        "{xx: 1, yy: 2, zz: 2.5}}\n");
    for (int i = 0; i < WRITTEN; i++)
        tr_buffer_print(&t,
                        "  b%d: {parent: b%d, joint: {type: revolute, at: \"0.3, 0.1, 0\", %s}, "
                        "mass: 1, com: \"0.2, 0.1, 0\", inertia: {xx: 1, yy: 2, zz: 2.5}}\n",
                        i + 1, i, written[i][column]);
    Probe p = probe_of(t.at);
    tr_buffer_free(&t);
    return p;
}

static void test_rounding_costs_nothing(void **state)
{
    (void)state;
    Random r = {37};
    Probe meant = written_chain(0), rounded = written_chain(1);
    assert_int_equal(operations_of(&meant), operations_of(&rounded));
    for (int times = 0; times < 10; times++) {
        probe_random(&meant, &r);
        memcpy(rounded.in, meant.in, meant.system->input_count * sizeof *meant.in);
        probe_run(&rounded);
        check_vector("vdot", probe_output(&rounded, "vdot"), probe_output(&meant, "vdot"),
                     6 + WRITTEN, 1e-12);
    }
    probe_free(&rounded);
    probe_free(&meant);
}

// A wheel whose axle and middle are on its axis but for rounding is a gyrostat like any other.
static void test_rounding_of_wheels(void **state)
{
    (void)state;
    static const char *const wheels[] = {
        "joint: {type: revolute, axis: \"0, 0, 1\"}, com: \"0, 0, 0.3\"",
        ("joint: {type: revolute, axis: \"0, 0, 1\", turn: \"0.3, 0.2, 0.1\"}, "
         "com: \"-0.056601, 0.086932, 0.281532\""), // beside it by 1e-6
        "joint: {type: revolute, axis: \"0.6, 0.8, 0\"}, com: \"0.18, 0.24, 0\"",
        "joint: {type: revolute, axis: \"0.36, 0.48, 0.8\"}, com: \"0.108, 0.144, 0.24\"",
        "joint: {type: revolute, axis: \"0, 6e-17, 1\"}, com: \"0, 0, 0.3\"",
        "joint: {type: revolute, axis: \"0, 0, 1\"}, com: \"1e-15, 0, 0\"", // this is meant
    };
    static const bool is_round[] = {true, false, true, true, true, false};
    for (size_t i = 0; i < sizeof wheels / sizeof *wheels; i++) {
        char text[500];
        snprintf(text, sizeof text,
                 "trundle: 1\nbodies:\n"
                 "  frame: {joint: {type: free}, mass: 3, inertia: {xx: 1, yy: 2, zz: 2.5}}\n"
                 "  wheel: {parent: frame, %s, mass: 2, inertia: {axial: 1, radial: 0.7}}\n",
                 wheels[i]);
        Probe p = probe_of(text);
        Random r = {47};
        probe_random(&p, &r);
        double before[7], after[7];
        memcpy(before, probe_output(&p, "vdot"), sizeof before);
        *probe_input(&p, "wheel") += 1;
        probe_run(&p);
        memcpy(after, probe_output(&p, "vdot"), sizeof after);
        assert_int_equal(memcmp(before, after, sizeof after) == 0, is_round[i]);
        probe_free(&p);
    }
}

// Rotations by parameters are no numbers: they follow, also from where rounding would be.
static void test_parameters_stay_open(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\nparameters: {a: pi/2, e: 1e-15}\nbodies:\n"
        "  arm: {joint: {type: revolute, axis: \"0, 0, 1\", turn: \"a, 0, 0\"}, mass: 1, "
        "com: \"0.3, e, 0.1\", inertia: {xx: 1, yy: 2, zz: 2.5}}\n"
        "  hand: {parent: arm, joint: {type: revolute, axis: \"sin(a), cos(a), 0\", at: \"0.2, e, "
        "0\", turn: \"0, a, 0\"}, mass: 1, com: \"0.1, 0.2, 0.3\", inertia: {xx: 1, yy: 2, zz: "
        "2.5}}\n";
    Probe open = probe_of(text);
    for (int i = 0; i < 3; i++) {
        char other[sizeof text + 40];
        const double a = 0.5 * i, e = 0.1 * i;
        snprintf(other, sizeof other, "trundle: 1\nparameters: {a: %.17g, e: %.17g}\n%s", a, e,
                 strstr(text, "bodies"));
        Probe fixed = probe_of(other);
        Random r = {57};
        probe_random(&fixed, &r);
        memcpy(open.in, fixed.in, fixed.system->input_count * sizeof *fixed.in);
        probe_run(&open);
        check_vector("vdot", probe_output(&open, "vdot"), probe_output(&fixed, "vdot"), 2, 1e-12);
        probe_free(&fixed);
    }
    probe_free(&open);
}

// A length of 1e-15 m is one.
static void test_small_lengths_stay(void **state)
{
    (void)state;
    Probe p = probe_of("trundle: 1\ngravity: 0, -10, 0\nbodies:\n"
                       "  b: {joint: {type: revolute, axis: \"0, 1e-16, 1\"}, mass: 2, com: "
                       "\"1e-15, 0, 0\", inertia: {xx: 1, yy: 1, zz: 1}}\n");
    probe_put(&p, "b", 0);
    probe_run(&p);
    assert_close(1e15 * probe_output(&p, "vdot")[0], -20, 1e-12);
    probe_free(&p);
}

// So is a moment of inertia of 4e-16 kg m^2, beside others of 1: v' = g / com.x
static void test_small_moments_stay(void **state)
{
    (void)state;
    Probe p = probe_of("trundle: 1\ngravity: 0, -10, 0\nbodies:\n"
                       "  b: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: "
                       "\"2e-8, 0, 1\", inertia: {xx: 0, yy: 0, zz: 0}}\n");
    probe_put(&p, "b", 0);
    probe_run(&p);
    assert_close(probe_output(&p, "vdot")[0] / -5e8, 1, 1e-12);
    probe_free(&p);
}

// ---- the same motions ----------------------------------------------------------------------

#define MASS "mass: 1.3, com: \"0.1, 0.2, -0.15\", inertia: {xx: 0.2, yy: 0.3, zz: 0.25, xy: 0.01}"
#define BASE "trundle: 1\nbodies:\n  base: {joint: {type: free}, " MASS "}\n"

// What random forests do not have: screws, joints beside origins, bodies fixed in between, forces
static const char *const others[] = {
    BASE
    "  a: {parent: base, joint: {type: screw, pitch: 0.2, axis: \"1, 2, 3\", at: \"0.1, 0.2, "
    "0.3\", turn: \"0.3, 0.2, 0.1\"}, " MASS "}\n"
    "  b: {parent: a, joint: {type: revolute, axis: \"1, -1, 0.5\", at: \"0.2, 0.1, 0\"}, " MASS
    "}\n",
    BASE
    "  a: {parent: base, joint: {type: revolute, axis: \"1, 2, 3\", at: \"0.1, 0.2, 0.3\", to: "
    "\"0.2, -0.1, 0.3\"}, " MASS "}\n"
    "  b: {parent: a, joint: {type: prismatic, axis: \"1, -1, 0.5\", at: \"0.2, 0.1, 0\", to: "
    "\"0.1, 0, 0.2\", turn: \"1, 2, 3\"}, " MASS "}\n"
    "  c: {parent: b, joint: {type: screw, pitch: -0.3, axis: \"1, -1, 0.5\", to: \"0.1, 0, "
    "0.2\", turn: \"1, 2, 3\"}, " MASS "}\n",
    BASE
    "  a: {parent: base, joint: {type: fixed, at: \"0.1, 0.2, 0.3\", turn: \"1, 2, 3\"}, " MASS
    "}\n"
    "  b: {parent: a, joint: {type: revolute, axis: \"1, -1, 0.5\", at: \"0.2, 0.1, 0\"}, " MASS
    "}\n"
    "  c: {parent: b, joint: {type: fixed, to: \"0.1, 0.2, 0.3\"}, " MASS "}\n"
    "  f: {parent: c, joint: {type: fixed, turn: \"0.1, 0.2, 0.3\"}, " MASS "}\n"
    "  e: {parent: f, joint: {type: ball, at: \"0.1, 0, 0\"}, " MASS "}\n"
    "forces: {push: {body: f, force: \"1, 2, 3\", at: \"0.1, 0.2, 0.3\"}, "
    "pull: {body: b, axes: body, force: \"1, 2, 3\", torque: \"3, 2, 1\", reaction: base}}\n",
    // wheels on the world, with their centres of mass on their axes
    BASE
    "  a: {parent: base, joint: {type: revolute, axis: \"1, 2, 3\", at: \"0.1, 0.2, 0.3\"}, " MASS
    "}\n"
    "  b: {joint: {type: revolute, axis: \"0.5, 0.1, 0.8\", turn: \"1, 0.5, 0.3\", damping: 1}, "
    "mass: 1, inertia: {axial: 1, radial: 0.7}}\n"
    "  c: {joint: {type: revolute, axis: \"cos(0.4)*cos(0.6), sin(0.4)*cos(0.6), -sin(0.6)\", "
    "turn: \"0, 0.6, 0.4\"}, mass: 1, com: \"0.3, 0, 0\", inertia: {axial: 1, radial: 0.7}}\n",
    // parallel hinges, and nearly parallel ones
    BASE
    "  a: {parent: base, joint: {type: revolute, axis: \"1, 2, 3\", at: \"0.1, 0.2, 0.3\"}, " MASS
    "}\n"
    "  b: {parent: a, joint: {type: revolute, axis: \"1, 2, 3\", at: \"0.2, 0.1, 0\"}, " MASS "}\n"
    "  c: {parent: b, joint: {type: revolute, axis: \"1, 2, 3.01\", at: \"0.2, 0.1, 0\"}, " MASS
    "}\n"
    "  f: {parent: c, joint: {type: revolute, axis: \"-1, -2, -3.01\", turn: \"0, 0, "
    "pi\"}, " MASS "}\n",
};

static void test_same_motions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        for (int form = ALONG_ARTICULATED; form < WAYS; form++) {
            way = ARTICULATED;
            Probe own = probe_of(others[i]);
            way = (Way)form;
            Probe along = probe_of(others[i]);
            way = CHEAPER;
            Random r = {67 + i};
            const Output *vdot = tr_system_output(own.system, text_of("vdot"));
            for (int times = 0; times < 10; times++) {
                probe_random(&own, &r);
                memcpy(along.in, own.in, own.system->input_count * sizeof *own.in);
                probe_run(&along);
                check_vector("vdot", probe_output(&along, "vdot"), probe_output(&own, "vdot"),
                             (int)vdot->rows, 1e-12);
            }
            probe_free(&own);
            probe_free(&along);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_constrained),
        cmocka_unit_test(test_accelerations),
        cmocka_unit_test(test_long_chain),
        cmocka_unit_test(test_rounding_costs_nothing),
        cmocka_unit_test(test_rounding_of_wheels),
        cmocka_unit_test(test_parameters_stay_open),
        cmocka_unit_test(test_small_lengths_stay),
        cmocka_unit_test(test_small_moments_stay),
        cmocka_unit_test(test_same_motions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
