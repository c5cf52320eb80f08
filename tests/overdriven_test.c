// SPDX-License-Identifier: Apache-2.0
// More motors than a mechanism needs: of the torques that do, the least ones are taken on request,
// and then the least reactions. Both are found again here from M, c, Q and G: with the columns of N
// all motions that the constraints allow, and S the driven velocities,
//
//   N^T S tau = N^T (M v' + c - Q),     |tau| least,
//   G^T lambda = M v' + c - Q - S tau,  |lambda| least, moments divided by the model's length.
#include "base/text.h"
#include "expr/system.h"
#include "runs.h"

#include <lapacke.h>
#undef I // of <complex.h>

enum { MOST = 24 };

// ---- models --------------------------------------------------------------------------------

static const char *const swing =
    "trundle: 1\n"
    "parameters: {a: 0.5, b: 0.8}\n"
    "functions: {go(t): -1.2 + 0.3*sin(2*t) + 0.4*t}\n"
    "gravity: 0, -9.81, 0\n"
    "bodies:\n"
    "  left: {mass: 0.7, com: \"a/2, 0, 0\", inertia: {xx: 0.03, yy: 0.03, zz: 0.02}}\n"
    "  seat: {mass: 3, com: \"0.3*b, 0.1, 0\", inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
    "  right: {mass: 0.2, com: \"a/2, 0, 0\", inertia: {xx: 0.01, yy: 0.01, zz: 0.01}}\n"
    "joints:\n"
    "  A: {type: revolute, axis: \"0, 0, 1\", body: left, coordinate: angle}\n"
    "  B: {type: revolute, axis: \"0, 0, 1\", parent: left, body: seat, at: \"a, 0, 0\", "
    "coordinate: tilt, damping: 0.3}\n"
    "  D: {type: revolute, axis: \"0, 0, 1\", body: right, at: \"b, 0, 0\", coordinate: other}\n"
    "guess: {tilt: 1.2, other: -1.2}\n"
    "roles: {angle: {motion: go(t)}, other: {motion: go(t)}}\n";

// Three motors on a five-bar linkage, which has two freedoms: the third angle follows from the
// first two, by the cosine rule.
static const char *const five_bar =
    "trundle: 1\n"
    "parameters: {l: 0.5, k: 0.7, e: 0.5}\n"
    "functions:\n"
    "  one(t): 2 + 0.2*sin(2*t)\n"
    "  two(t): -1.3 + 0.2*t\n"
    "  px(t): l*cos(one(t)) + k*cos(one(t) + two(t)) - e\n"
    "  py(t): l*sin(one(t)) + k*sin(one(t) + two(t))\n"
    "  far(t): sqrt(px(t)^2 + py(t)^2)\n"
    "  three(t): atan2(py(t), px(t)) - acos((l^2 + far(t)^2 - k^2)/(2*l*far(t)))\n"
    "gravity: 0, -9.81, 0\n"
    "bodies:\n"
    "  b1: {mass: 1, com: \"l/2, 0, 0\", inertia: {zz: 0.03}}\n"
    "  b2: {mass: 1.5, com: \"k/2, 0, 0\", inertia: {zz: 0.05}}\n"
    "  b3: {mass: 0.8, com: \"l/2, 0, 0\", inertia: {zz: 0.02}}\n"
    "  b4: {mass: 1.2, com: \"k/2, 0.1, 0\", inertia: {zz: 0.06}}\n"
    "joints:\n"
    "  tip: {type: revolute, axis: \"0, 0, 1\", parent: b2, body: b4, at: \"k, 0, 0\", to: \"k, 0, "
    "0\"}\n"
    "  q1: {type: revolute, axis: \"0, 0, 1\", body: b1}\n"
    "  q2: {type: revolute, axis: \"0, 0, 1\", parent: b1, body: b2, at: \"l, 0, 0\"}\n"
    "  q3: {type: revolute, axis: \"0, 0, 1\", body: b3, at: \"e, 0, 0\"}\n"
    "  q4: {type: revolute, axis: \"0, 0, 1\", parent: b3, body: b4, at: \"l, 0, 0\"}\n"
    "guess: {q4: 1}\n"
    "roles: {q1: {motion: one(t)}, q2: {motion: two(t)}, q3: {motion: three(t)}}\n";

static const char *const point =
    "loops: {C: {kind: point, body: seat, at: \"b, 0, 0\", on: right, to: \"a, 0, 0\"}}\n";
// In a frame that stands askew no row holds by itself: 3 rows for 2.
static const char *const askew =
    "frames: {f: {body: right, at: \"a, 0, 0\", turn: \"0.4, 0.7, -0.3\"}}\n"
    "loops: {C: {kind: point, body: seat, at: \"b, 0, 0\", on: f}}\n";
static const char *const twice =
    "frames: {f: {body: right, at: \"a, 0, 0\", turn: \"0.4, 0.7, -0.3\"}}\n"
    "loops:\n"
    "  C: {kind: point, body: seat, at: \"b, 0, 0\", on: f}\n"
    "  E: {kind: point, body: seat, at: \"b, 0, 0\", on: right, to: \"a, 0, 0\"}\n";
static const char *const with_moments =
    "frames: {f: {body: right, at: \"a, 0, 0\", turn: \"0.4, 0.7, -0.3\"}}\n"
    "loops: {C: {kind: point, body: seat, at: \"b, 0, 0\", on: f}}\n"
    "couplings: {level: {coordinate: tilt, equals: {other: -1}}}\n";

static tr_system *system_with_words(const char *text, const char *rest, const char *minimise)
{
    Buffer b = {0};
    tr_buffer_print(&b, "%s%sreactions: {minimise: %s}\n", text, rest, minimise);
    tr_system *system = system_from(b.at);
    tr_buffer_free(&b);
    return system;
}

// ---- at the start --------------------------------------------------------------------------

typedef struct Forces {
    int n, m, na; // velocities, rows, driven
    int driven[MOST];
    double M[MOST * MOST], c[MOST], Q[MOST], G[MOST * MOST], vdot[MOST], lambda[MOST], tau[MOST];
    double unit[MOST];
    double bare[MOST]; // M v' + c - Q
} Forces;

static Forces forces_of(tr_system *system)
{
    Forces f = {0};
    double all[2 * MOST * MOST + 6 * MOST];
    for (uint32_t i = 0; i < system->input_count; i++)
        if (system->inputs[i].kind == TR_VELOCITY) {
            if (is_motion_driven(&system->inputs[i])) f.driven[f.na++] = f.n;
            f.n++;
        }
    for (uint32_t i = 0; i < system->row_count; i++) f.unit[f.m++] = system->rows[i].unit;
    assert_true(f.n <= MOST && f.m <= MOST && f.na > 0);
    struct {
        double *to;
        int count;
    } parts[] = {{f.M, f.n * f.n}, {f.c, f.n},      {f.Q, f.n},   {f.G, f.m * f.n},
                 {f.vdot, f.n},    {f.lambda, f.m}, {f.tau, f.na}};
    int count = 0;
    for (int i = 0; i < 7; i++) count += parts[i].count;
    evaluate_start(system, "M c Q G vdot lambda tau", all, (size_t)count);
    const double *from = all;
    for (int i = 0; i < 7; from += parts[i++].count)
        memcpy(parts[i].to, from, (size_t)parts[i].count * sizeof *from);
    for (int k = 0; k < f.n; k++) {
        f.bare[k] = f.c[k] - f.Q[k];
        for (int l = 0; l < f.n; l++) f.bare[k] += f.M[k * f.n + l] * f.vdot[l];
    }
    tr_system_free(system);
    return f;
}

// A x = b with the least norm; x takes the place of b. False when there is none.
static bool least_solution(int rows, int columns, const double *A, double *b)
{
    double copy[MOST * MOST], sigma[MOST], x[MOST];
    int rank;
    memcpy(copy, A, (size_t)(rows * columns) * sizeof *A);
    for (int i = 0; i < MOST; i++) x[i] = i < rows ? b[i] : 0;
    assert_int_equal(
        LAPACKE_dgelsd(LAPACK_ROW_MAJOR, rows, columns, 1, copy, columns, x, 1, sigma, 1e-9, &rank),
        0);
    double off = 0, size = 1;
    for (int i = 0; i < rows; i++) {
        double sum = -b[i];
        for (int k = 0; k < columns; k++) sum += A[i * columns + k] * x[k];
        off = fmax(off, fabs(sum)), size = fmax(size, fabs(b[i]));
    }
    memcpy(b, x, (size_t)columns * sizeof *b);
    return off <= 1e-9 * size;
}

// N^T S and N^T (M v' + c - Q); the number of motions
static int motions_of(const Forces *f, double *A, double *b)
{
    double copy[MOST * MOST], sigma[MOST], Vt[MOST * MOST], work[MOST];
    memcpy(copy, f->G, sizeof copy);
    assert_int_equal(LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'A', f->m, f->n, copy, f->n, sigma, NULL,
                                    1, Vt, f->n, work),
                     0);
    int rank = 0, motions = 0;
    while (rank < f->m && rank < f->n && sigma[rank] > 1e-9 * sigma[0]) rank++;
    for (int i = rank; i < f->n; i++, motions++) {
        b[motions] = 0;
        for (int k = 0; k < f->n; k++) b[motions] += Vt[i * f->n + k] * f->bare[k];
        for (int k = 0; k < f->na; k++) A[motions * f->na + k] = Vt[i * f->n + f->driven[k]];
    }
    return motions;
}

static double norm(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

static void check_torques(const Forces *f)
{
    double A[MOST * MOST], b[MOST];
    const int motions = motions_of(f, A, b);
    assert_true(motions < f->na);
    assert_true(least_solution(motions, f->na, A, b));
    for (int k = 0; k < f->na; k++) assert_close(f->tau[k], b[k], 1e-9);
}

// What the torques do to the motion
static void check_work(const Forces *f)
{
    double A[MOST * MOST], b[MOST];
    const int motions = motions_of(f, A, b);
    for (int i = 0; i < motions; i++) {
        double sum = 0;
        for (int k = 0; k < f->na; k++) sum += A[i * f->na + k] * f->tau[k];
        assert_close(sum, b[i], 1e-9);
    }
}

static void check_reactions(const Forces *f)
{
    double A[MOST * MOST], b[MOST];
    for (int k = 0; k < f->n; k++) {
        b[k] = f->bare[k];
        for (int i = 0; i < f->m; i++) A[k * f->m + i] = f->G[i * f->n + k] * f->unit[i];
    }
    for (int k = 0; k < f->na; k++) b[f->driven[k]] -= f->tau[k];
    assert_true(least_solution(f->n, f->m, A, b));
    for (int i = 0; i < f->m; i++) assert_close(f->lambda[i], b[i] * f->unit[i], 1e-9);
}

static void check_model(const char *text, const char *rest, int rows, int antagonist)
{
    char *json = facts_of(system_with_words(text, rest, "torques"));
    assert_fact(json, "rows", rows);
    assert_fact(json, "antagonist", antagonist);
    tr_text_free(json);
    const Forces least = forces_of(system_with_words(text, rest, "torques")),
                 other = forces_of(system_with_words(text, rest, "reactions"));
    check_torques(&least);
    check_work(&least);
    check_work(&other);
    check_reactions(&least);
    print_message("torques %.6g instead of %.6g, reactions %.6g instead of %.6g\n",
                  norm(least.tau, least.na), norm(other.tau, other.na), norm(least.lambda, least.m),
                  norm(other.lambda, other.m));
    assert_true(norm(least.tau, least.na) < norm(other.tau, other.na) * (1 - 1e-6));
    assert_true(norm(least.lambda, least.m) > norm(other.lambda, other.m) * (1 + 1e-6));
}

static void test_swing(void **state)
{
    (void)state;
    check_model(swing, point, 2, 1);
    const Forces f = forces_of(system_with_words(swing, point, "torques"));
    assert_close(f.tau[0], f.tau[1], 1e-10); // they turn alike
}
static void test_swing_askew(void **state) { (void)state, check_model(swing, askew, 3, 1); }
static void test_swing_twice(void **state) { (void)state, check_model(swing, twice, 5, 1); }
static void test_swing_moments(void **state)
{
    (void)state, check_model(swing, with_moments, 4, 1);
}
static void test_five_bar(void **state) { (void)state, check_model(five_bar, "", 2, 1); }

// The motion stays what it was, and energy is accounted for.
static void test_runs(void **state)
{
    (void)state;
    Sheet *a = run_to(system_with_words(five_bar, "", "torques"), 1, 0.1),
          *b = run_to(system_with_words(five_bar, "", "reactions"), 1, 0.1);
    assert_below(difference(a, "q4", b, "q4"), 1e-10);
    assert_below(difference(a, "energy.work", b, "energy.work"), 1e-9);
    assert_true(difference(a, "tau.q1", b, "tau.q1") > 0.01);
    tr_sheet_free(a);
    tr_sheet_free(b);
}

// ---- words ---------------------------------------------------------------------------------

static void check_words(const char *text, const char *rest, const char *minimise, int status,
                        const char *words)
{
    tr_error err = {0};
    tr_system *system = system_with_words(text, rest, minimise);
    char *said = tr_check_text(system, false, &err);
    const char *all = err.status ? err.text : said;
    if ((int)err.status != status || !all || !strstr(all, words))
        fail_msg("%d '%s' and\n%s", err.status, err.text, said ? said : "");
    tr_text_free(said);
    tr_system_free(system);
}

static void test_words(void **state)
{
    (void)state;
    static const char *const drag =
        "loops: {C: {kind: point, body: seat, at: \"b, 0, 0\", on: right, to: \"a, 0, 0\"}}\n"
        "forces: {drag: {body: seat, force: \"-0.1*lambda.C.x, 0, 0\"}}\n";
    check_words(swing, point, "torques", TR_OK,
                "antagonist: 'C.x', 'C.y' hold together only for motions that agree; the driven "
                "joints can work against each other, so these reactions are not unique: the least "
                "torques are taken, and then the least reactions\n");
    check_words(swing, point, "reactions", TR_OK, "not unique: the least reactions are taken\n");
    check_words(swing, drag, "torques", TR_INVALID,
                "torques cannot be made least where forces use reactions, as 'C.x'");
    check_words(swing, drag, "reactions", TR_OK, "forces use reactions that are not unique");
}

// Where torques are unique anyway, forces may use reactions.
static void test_unique(void **state)
{
    (void)state;
    static const char *const text =
        "trundle: 1\n"
        "bodies: {cart: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}, foot: {parent: "
        "cart, "
        "joint: {type: prismatic, axis: \"0, 0, 1\"}, mass: 2}}\n"
        "contacts: {sole: {kind: slide, body: foot}}\n"
        "forces: {drag: {body: cart, force: \"-0.1*lambda.sole.normal, 0, 0\"}}\n"
        "roles: {cart: {motion: sin(t)}}\n";
    check_words(text, "", "torques", TR_OK, "ok: 2 bodies");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_swing),       cmocka_unit_test(test_swing_askew),
        cmocka_unit_test(test_swing_twice), cmocka_unit_test(test_swing_moments),
        cmocka_unit_test(test_five_bar),    cmocka_unit_test(test_runs),
        cmocka_unit_test(test_words),       cmocka_unit_test(test_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
