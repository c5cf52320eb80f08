// SPDX-License-Identifier: Apache-2.0
// Eigenvalues that are followed, and critical values, against published ones and closed forms.
#include "linears.h"
#include "num/follow.h"

// ---- the bicycle of Meijaard et al. --------------------------------------------------------

// det(M s^2 + v C1 s + g K0 + v^2 K2) = a4 s^4 + ... + a0 of the published matrices
static void published_polynomial(double v, double a[5])
{
    double K[4], C[4];
    const double *M = meijaard_M;
    for (int i = 0; i < 4; i++)
        K[i] = 9.81 * meijaard_K0[i] + v * v * meijaard_K2[i], C[i] = v * meijaard_C1[i];
    a[4] = M[0] * M[3] - M[1] * M[2];
    a[3] = M[0] * C[3] + C[0] * M[3] - M[1] * C[2] - C[1] * M[2];
    a[2] = M[0] * K[3] + C[0] * C[3] + K[0] * M[3] - M[1] * K[2] - C[1] * C[2] - K[1] * M[2];
    a[1] = C[0] * K[3] + K[0] * C[3] - C[1] * K[2] - K[1] * C[2];
    a[0] = K[0] * K[3] - K[1] * K[2];
}

static double hurwitz(double v)
{
    double a[5];
    published_polynomial(v, a);
    return a[1] * a[2] * a[3] - a[1] * a[1] * a[4] - a[0] * a[3] * a[3];
}

static void finds_the_critical_speeds(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = bicycle(NULL);
    tr_locus *sweep = tr_locus_new(system, "speed0", 0, 10, 0.05, &err);
    if (!sweep) fail_msg("%s", err.text);
    assert_int_equal(sweep->rows, 201);
    assert_int_equal(sweep->count, 4);
    assert_int_equal(sweep->critical_count, 2);
    const tr_critical *weave = &sweep->critical[0], *capsize = &sweep->critical[1];
    assert_close(weave->value, 4.29238253634111, 1e-11);
    assert_close(weave->frequency, 3.43503384866144, 1e-10);
    assert_false(weave->is_onset);
    assert_close(capsize->value, 6.02426201538837, 1e-11);
    assert_true(capsize->frequency == 0);
    assert_true(capsize->is_onset);
    // where the Hurwitz determinant and the constant coefficient change sign
    double before[5], after[5];
    published_polynomial(capsize->value - 1e-9, before);
    published_polynomial(capsize->value + 1e-9, after);
    assert_true((before[0] > 0) != (after[0] > 0));
    assert_true((hurwitz(weave->value - 1e-9) > 0) != (hurwitz(weave->value + 1e-9) > 0));
    // a coarse sweep that steps over both finds the same
    tr_locus *coarse = tr_locus_new(system, "speed0", 3.1, 9.1, 2, &err);
    assert_non_null(coarse);
    assert_int_equal(coarse->critical_count, 2);
    assert_close(coarse->critical[0].value, weave->value, 1e-12);
    assert_close(coarse->critical[1].value, capsize->value, 1e-12);
    tr_locus_free(coarse);
    tr_locus_free(sweep);
    tr_system_free(system);
}

// Each column of the sweep is one eigenvalue: it moves a little from row to row, and the rows are
// those of single models.
static void follows_eigenvalues(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = bicycle(NULL);
    tr_locus *sweep = tr_locus_new(system, "speed0", 0.1, 10, 0.1, &err);
    if (!sweep) fail_msg("%s", err.text);
    const size_t n = sweep->count;
    int splits = 0;
    for (size_t i = 1; i < sweep->rows; i++)
        for (size_t k = 0; k < n; k++) {
            const double *now = sweep->eigenvalues + 2 * (i * n + k), *was = now - 2 * n;
            const bool meets = (now[1] == 0) != (was[1] == 0);
            splits += meets;
            // where two meet, at 0.684 m/s, they go like a root; else less than 3 1/s to the m/s
            const bool beside = fabs(sweep->values[i] - 0.684) < 0.2;
            assert_true(hypot(now[0] - was[0], now[1] - was[1]) < (beside ? 0.8 : 0.3));
            if (now[1] != 0 && was[1] != 0) assert_true((now[1] > 0) == (was[1] > 0));
        }
    assert_int_equal(splits, 2);
    assert_true(sweep->values[49] == 5);
    double values[MOST][2];
    tr_system *single = bicycle("speed0=5");
    tr_linear *l = linear_of(single, true);
    assert_true(tr_linear_eigenvalues(l, values, &err));
    for (size_t k = 0; k < n; k++) {
        const double *value = sweep->eigenvalues + 2 * (49 * n + k);
        assert_true(has_value(values, l->states, value[0], value[1]));
    }
    tr_linear_free(l);
    tr_system_free(single);
    tr_locus_free(sweep);
    tr_system_free(system);
}

// ---- sweeps of closed forms ----------------------------------------------------------------

static void follows_crossings(void **state)
{
    (void)state;
    // two real ones that pass each other, a pair, and a pair that comes from two real ones
    const double was[] = {0, 0, 1, 0, -3, 2, -3, -2, 5, 0, 5.1, 0};
    const double slopes[] = {10, 0, -10, 0, 0, 1, 0, -1, 0, 0, 0, 0};
    const double is[] = {-3, -2.1, 5, -0.1, 0.05, 0, 5, 0.1, 1.02, 0, -3, 2.1};
    static const uint32_t wanted[] = {4, 2, 5, 0, 3, 1};
    uint32_t to[6];
    bool clear = false;
    assert_true(tr_follow(was, slopes, 0.1, is, 6, to, &clear));
    assert_true(clear);
    for (int i = 0; i < 6; i++) assert_int_equal(to[i], wanted[i]);
    // without slopes the same would swap; halfway it is not clear
    const double still[12] = {0}, near[] = {0.5, 0, 0.52, 0};
    assert_true(tr_follow(was, still, 0.1, near, 2, to, &clear));
    assert_false(clear);
}

static double cube_less_two(void *owner, double x)
{
    ++*(int *)owner;
    return x * x * x - 2;
}

static void finds_roots(void **state)
{
    (void)state;
    int calls = 0;
    assert_close(tr_bracketed_root(cube_less_two, &calls, 0, -2, 100, 1e6 - 2), cbrt(2), 4e-16);
    assert_true(calls < 60);
}

static const char pole[] =
    "trundle: 1\nparameters: {k: 1, c: 0.3, m: 2, l: 0.5, half: k/2, other: 3}\n"
    "inputs: {more: 0}\nbodies:\n"
    "  pole: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a, stiffness: k + more, "
    "damping: c - 0.3}, mass: m, com: \"0, 0, l\"}\n";

// An inverted pendulum on a spring stands from k = m g l on; with damping c - 0.3 from c = 0.3 on.
static void finds_closed_forms(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(pole);
    tr_locus *sweep = tr_locus_new(system, "k", 1, 20, 0.5, &err);
    if (!sweep) fail_msg("%s", err.text);
    assert_int_equal(sweep->critical_count, 1);
    assert_close(sweep->critical[0].value, 2 * 9.81 * 0.5, 1e-13);
    assert_true(sweep->critical[0].frequency == 0);
    assert_false(sweep->critical[0].is_onset);
    tr_locus_free(sweep);
    // the same by the input that adds to it, on a row and between rows
    sweep = tr_locus_new(system, "more", 0, 17.62, 2.2025, &err);
    if (!sweep) fail_msg("%s", err.text);
    assert_int_equal(sweep->critical_count, 1);
    assert_close(sweep->critical[0].value, 8.81, 1e-12);
    tr_locus_free(sweep);
    tr_system_free(system);
    system = system_set(model_from(pole), NULL, "k=20");
    sweep = tr_locus_new(system, "c", 0, 1, 0.07, &err);
    if (!sweep) fail_msg("%s", err.text);
    assert_int_equal(sweep->rows, 15);
    assert_int_equal(sweep->critical_count, 1);
    assert_close(sweep->critical[0].value, 0.3, 1e-13);
    assert_close(sweep->critical[0].frequency, sqrt((20 - 9.81) / 0.5), 1e-12);
    assert_false(sweep->critical[0].is_onset);
    tr_locus_free(sweep);
    // nothing changes where there is no damping: what is left is rounding
    sweep = tr_locus_new(system, "m", 0.1, 2, 0.1, &err);
    if (!sweep) fail_msg("%s", err.text);
    assert_int_equal(sweep->critical_count, 0);
    tr_locus_free(sweep);
    tr_system_free(system);
}

// Two pendulums that know nothing of each other: their eigenvalues pass each other.
static void lets_eigenvalues_pass(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(
        "trundle: 1\nparameters: {k: 1}\nbodies:\n"
        "  one: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: a, stiffness: k, damping: "
        "0.2}, mass: 1}\n"
        "  two: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: b, stiffness: 4, damping: "
        "0.4}, mass: 1}\n");
    tr_locus *sweep = tr_locus_new(system, "k", 1, 9, 0.37, &err);
    if (!sweep) fail_msg("%s", err.text);
    int still = 0;
    for (size_t b = 0; b < sweep->count; b++) {
        double most = 0;
        for (size_t i = 0; i < sweep->rows; i++) {
            const double *l = sweep->eigenvalues + 2 * (i * sweep->count + b);
            most = fmax(most, fabs(fabs(l[1]) - sqrt(4 - 0.04)));
            // the one is -0.1 +- i sqrt(k - 0.01), the other stays
            const bool is_one = fabs(l[0] + 0.1) < 1e-12;
            assert_close(l[0], is_one ? -0.1 : -0.2, 1e-12);
            assert_close(fabs(l[1]), is_one ? sqrt(sweep->values[i] - 0.01) : sqrt(4 - 0.04),
                         1e-12);
        }
        still += most < 1e-12;
    }
    assert_int_equal(still, 2);
    tr_locus_free(sweep);
    tr_system_free(system);
}

// ---- bad input -----------------------------------------------------------------------------

static void check_refusal(tr_system *system, const char *name, double from, double to, double step,
                          const char *words)
{
    tr_error err = {0};
    assert_null(tr_locus_new(system, name, from, to, step, &err));
    if (!strstr(err.text, words)) fail_msg("'%s' has no '%s'", err.text, words);
    assert_int_equal(err.status, TR_USAGE);
}

static void refuses(void **state)
{
    (void)state;
    tr_system *system = system_from(pole);
    check_refusal(system, "kk", 0, 1, 0.1, "there is no parameter or input 'kk'");
    check_refusal(system, "othr", 0, 1, 0.1, "did you mean 'other'?");
    check_refusal(system, "a", 0, 1, 0.1, "'a'");
    check_refusal(system, "half", 0, 1, 0.1, "follows from others");
    check_refusal(system, "k", 0, 1, 0, "positive");
    check_refusal(system, "k", 0, 1, -1, "positive");
    check_refusal(system, "k", 1, 0, 0.1, "upwards");
    check_refusal(system, "k", 0, (double)INFINITY, 0.1, "a number");
    check_refusal(system, "k", 0, 1, (double)NAN, "a number");
    check_refusal(system, "k", 0, 1, 1e-9, "at most");
    tr_error err = {0};
    assert_null(tr_locus_new(system, "m", 0, 1, 0.5, &err)); // no mass, no acceleration
    assert_int_equal(err.status, TR_FAILED);
    assert_non_null(strstr(err.text, "at m = 0: "));
    tr_linear *l = linear_of(system, false);
    double A[4], B[4];
    err = (tr_error){0};
    assert_false(tr_linear_discretise(l, 0, A, B, &err));
    assert_int_equal(err.status, TR_USAGE);
    tr_linear_free(l);
    tr_system_free(system);
}

// ---- who is told ---------------------------------------------------------------------------

typedef struct Watch {
    size_t calls, most; // how often it was called, and may be
    double least, greatest, to;
} Watch;

static bool look(void *owner, double value, double to)
{
    Watch *w = owner;
    w->least = fmin(w->least, value), w->greatest = fmax(w->greatest, value);
    w->to = to;
    return ++w->calls <= w->most;
}

static tr_locus *watched(const tr_system *system, bool trim, size_t most, Watch *w)
{
    tr_error err = {0};
    tr_steady_options o = tr_steady_defaults();
    *w = (Watch){.most = most, .least = (double)INFINITY, .greatest = (double)-INFINITY};
    o.trim = trim, o.progress = look, o.owner = w;
    tr_locus *sweep = tr_locus_find(system, "speed0", 1, 10, 0.5, &o, &err);
    assert_int_equal(err.status, TR_OK);
    return sweep;
}

// Who is told sees all of the range, changes nothing, and stops it anywhere.
static void stops(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_of(model_called("bicycle"), "straight");
    for (int trim = 0; trim < 2; trim++) {
        Watch w, again;
        tr_locus *plain = trim ? tr_locus_trimmed(system, "speed0", 1, 10, 0.5, NULL, &err)
                               : tr_locus_new(system, "speed0", 1, 10, 0.5, &err);
        tr_locus *sweep = watched(system, trim, SIZE_MAX, &w);
        assert_non_null(plain);
        assert_non_null(sweep);
        assert_true(w.least == 1 && w.greatest == 10 && w.to == 10 && w.calls > 38);
        assert_int_equal(sweep->critical_count, plain->critical_count);
        assert_memory_equal(sweep->eigenvalues, plain->eigenvalues,
                            2 * plain->rows * plain->count * sizeof *plain->eigenvalues);
        for (size_t most = 0; most < w.calls; most += most < 60 ? 1 : 7) {
            assert_null(watched(system, trim, most, &again));
            assert_int_equal(again.calls, most + 1); // and not once more
        }
        tr_locus_free(plain);
        tr_locus_free(sweep);
    }
    tr_system_free(system);
}

// ---- at steady motions ---------------------------------------------------------------------

static size_t mode_called(const tr_locus *sweep, const char *name)
{
    const size_t at = tr_find_name(sweep->names, sweep->mode_count, name);
    if (at == sweep->mode_count) fail_msg("no mode is called '%s'", name);
    return at;
}

// The eigenvalues of steady motions that were asked for one by one, with the throttle found
static void trims(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_of(model_reported("moto"), "straight");
    tr_locus *sweep = tr_locus_trimmed(system, "v0", 5, 60, 5, NULL, &err);
    if (!sweep) fail_msg("%s", err.text);
    assert_int_equal(sweep->rows, 12);
    assert_int_equal(sweep->count, 15);
    for (size_t i = 0; i < sweep->rows; i++) {
        char speed[60];
        double modes[40][2];
        assert_below(sweep->unsteadiness[i], 1e-9);
        snprintf(speed, sizeof speed, "d(frame.x)=%.17g", sweep->values[i]);
        const char *const holds[] = {speed};
        tr_steady_options o = tr_steady_defaults();
        o.free = "thrust", o.holds = holds, o.hold_count = 1;
        tr_steady *steady = tr_steady_find(system, &o, &err);
        if (!steady) fail_msg("%s", err.text);
        assert_int_equal(tr_steady_modes(steady, modes), sweep->count);
        for (size_t k = 0; k < sweep->count; k++) {
            double nearest = (double)INFINITY;
            const double *is = sweep->eigenvalues + 2 * (i * sweep->count + k);
            for (size_t j = 0; j < sweep->count; j++) nearest = fmin(nearest, apart(is, modes[j]));
            assert_below(nearest, 1e-6);
        }
        tr_steady_free(steady);
    }
    tr_locus_free(sweep);
    tr_system_free(system);
}

// A pair is one mode; those of a bicycle by their names, and others by what moves
static void names_modes(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_of(model_called("bicycle"), "straight");
    tr_locus *sweep = tr_locus_new(system, "speed0", 1, 10, 0.5, &err);
    assert_non_null(sweep);
    assert_int_equal(sweep->mode_count, 3);
    const size_t weave = mode_called(sweep, "weave"), capsize = mode_called(sweep, "capsize");
    mode_called(sweep, "steer");
    size_t pairs = 0;
    for (size_t k = 0; k < sweep->count; k++) {
        const double *last = sweep->eigenvalues + 2 * ((sweep->rows - 1) * sweep->count + k);
        pairs += sweep->mode[k] == weave && last[1] != 0;
        if (sweep->mode[k] == capsize) assert_true(last[1] == 0 && last[0] > 0); // beyond 6.02 m/s
    }
    assert_int_equal(pairs, 2);
    tr_locus_free(sweep);
    tr_system_free(system);
}

// A pair passes the axis and parts, one of the two becomes unstable, the other joins a third: in
// one step all, or in many
static void tells_directions(void **state)
{
    (void)state;
    static const double steps[] = {1, 0.02};
    tr_system *system = system_of(model_called("motorcycle"), NULL);
    for (int i = 0; i < 2; i++) {
        tr_error err = {0};
        tr_locus *sweep = tr_locus_trimmed(system, "speed0", 5, 6, steps[i], NULL, &err);
        if (!sweep) fail_msg("%s", err.text);
        assert_int_equal(sweep->critical_count, 2);
        assert_true(sweep->critical[0].frequency > 0.5 && !sweep->critical[0].is_onset);
        assert_true(sweep->critical[1].frequency == 0 && sweep->critical[1].is_onset);
        const double *first = sweep->eigenvalues, *last = first + 2 * (sweep->rows - 1) * 11;
        assert_int_equal(sweep->count, 11);
        for (size_t k = 0; k < 11; k++) // the slow front mode stays what it is
            if (first[2 * k + 1] == 0 && fabs(first[2 * k]) < 0.02)
                assert_true(last[2 * k + 1] == 0 && fabs(last[2 * k]) < 0.02);
        tr_locus_free(sweep);
    }
    tr_system_free(system);
}

// What is a pair in one row of three is no pair, and no capsize
static void names_no_oscillation_capsize(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_of(model_called("motorcycle"), NULL);
    tr_locus *sweep = tr_locus_trimmed(system, "speed0", -5, 5, 5, NULL, &err);
    if (!sweep) fail_msg("%s", err.text);
    for (size_t k = 0; k < sweep->count; k++) {
        if (strcmp(sweep->names[sweep->mode[k]], "capsize") != 0) continue;
        for (size_t i = 0; i < sweep->rows; i++)
            assert_true(sweep->eigenvalues[2 * (i * sweep->count + k) + 1] == 0);
    }
    tr_locus_free(sweep);
    tr_system_free(system);
}

static void refuses_to_trim(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_of(model_reported("moto"), "straight");
    assert_null(tr_locus_trimmed(system, "nix", 5, 60, 5, NULL, &err));
    assert_int_equal(err.status, TR_USAGE);
    err = (tr_error){0};
    tr_steady_options o = tr_steady_defaults();
    o.free = "rider_torque"; // nothing keeps it going
    assert_null(tr_locus_trimmed(system, "v0", 5, 60, 5, &o, &err));
    assert_int_equal(err.status, TR_FAILED);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_critical_speeds),
        cmocka_unit_test(follows_eigenvalues),
        cmocka_unit_test(follows_crossings),
        cmocka_unit_test(finds_roots),
        cmocka_unit_test(finds_closed_forms),
        cmocka_unit_test(lets_eigenvalues_pass),
        cmocka_unit_test(refuses),
        cmocka_unit_test(stops),
        cmocka_unit_test(trims),
        cmocka_unit_test(names_modes),
        cmocka_unit_test(tells_directions),
        cmocka_unit_test(names_no_oscillation_capsize),
        cmocka_unit_test(refuses_to_trim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
