// SPDX-License-Identifier: Apache-2.0
// Sensors (T321, T322): delays in samples, noise by its moments, whiteness and distribution, and
// the same numbers for whoever asks; and what sensors cannot be.
#include "runs.h"
#include "sim/normal.h"

#define CART                          \
    "trundle: 1\n"                    \
    "parameters: {T: 0.01, s: 0.5}\n" \
    "bodies: {x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 2}}\n"

// ---- the normal distribution ---------------------------------------------------------------

// P(X < x(p)) = p
static void test_quantile(void **state)
{
    (void)state;
    for (double p = 1e-300; p < 0.5; p *= 1.37) {
        const double x = tr_normal_quantile(p);
        assert_below(fabs(0.5 * erfc(-x / sqrt(2)) / p - 1), 1e-12 * fmax(1, x * x / 50));
        if (p > 1e-10) assert_close(tr_normal_quantile(1 - p), -x, 1e-6);
    }
    assert_close(tr_normal_quantile(0.5), 0, 0);
    assert_close(tr_normal_quantile(0.975), 1.959963984540054, 1e-15);
    assert_close(tr_normal_quantile(0.8413447460685429), 1, 1e-15);
    assert_true(isfinite(tr_normal(0)) && isfinite(tr_normal(UINT64_MAX)));
    assert_close(tr_normal(0), -tr_normal(UINT64_MAX), 1e-15);
}

// Numbers that must not change, on any machine: files that were recorded are compared with runs.
static void test_numbers(void **state)
{
    (void)state;
    assert_true(tr_random_bits(1, "gyro", 0) == tr_random_bits(1, "gyro", 0));
    assert_true(tr_random_bits(1, "gyro", 0) != tr_random_bits(1, "gyro", 1));
    assert_true(tr_random_bits(1, "gyro", 0) != tr_random_bits(2, "gyro", 0));
    assert_true(tr_random_bits(1, "gyro", 0) != tr_random_bits(1, "gyrp", 0));
    assert_true(tr_random_bits(0., "gyro", 5) == tr_random_bits(-0., "gyro", 5));
    assert_true(tr_random_bits(1, "gyro", 0) == 0x67fcdedcb87020bdu);
    assert_true(same_bits(tr_normal(tr_random_bits(1, "gyro", 0)), -0x1.e60ac40a83103p-3));
}

// ---- noise ---------------------------------------------------------------------------------

enum { SAMPLES = 100001, LAGS = 50, BINS = 100 };

typedef struct Series {
    size_t columns, column[2], count;
    double *values[2];
} Series;

static bool find_columns(void *owner, const char *const *names, const char *const *units,
                         size_t count, tr_error *err)
{
    (void)units, (void)err;
    Series *s = owner;
    s->column[0] = tr_find_name(names, count, "gyro");
    s->column[1] = tr_find_name(names, count, "other");
    return s->column[0] < count && s->column[1] < count;
}

static bool take_row(void *owner, const double *row, tr_error *err)
{
    (void)err;
    Series *s = owner;
    for (int k = 0; k < 2; k++) s->values[k][s->count] = row[s->column[k]];
    s->count++;
    return true;
}

static Series noise_of(const char *seed)
{
    tr_error err = {0};
    char text[600];
    snprintf(text, sizeof text,
             CART "sensors:\n"
                  "  gyro: {of: 3, period: T, sd: s, seed: %s}\n"
                  "  other: {of: 3, period: T, sd: s, seed: %s}\n",
             seed, seed);
    tr_system *system = system_from(text);
    Series s = {0};
    for (int k = 0; k < 2; k++) s.values[k] = calloc(SAMPLES, sizeof(double));
    const tr_sink sink = {find_columns, take_row, NULL, &s};
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 1000, o.every = 0.01, o.method = "rk4", o.step = 0.01;
    o.sinks = &sink, o.sink_count = 1;
    if (!tr_simulate(system, &o, NULL, &err)) fail_msg("%s", err.text);
    assert_int_equal(s.count, SAMPLES);
    tr_system_free(system);
    return s;
}

static double correlation(const double *a, const double *b, size_t lag)
{
    double sum = 0;
    for (size_t i = lag; i < SAMPLES; i++) sum += (a[i] - 3) * (b[i - lag] - 3);
    return sum / (0.25 * SAMPLES);
}

// Bounds are four or five deviations of what independent normal numbers would show.
static void test_noise(void **state)
{
    (void)state;
    Series s = noise_of("1"), again = noise_of("1"), third = noise_of("2");
    const double root = sqrt(SAMPLES), *x = s.values[0];
    double moment[5] = {0}, chi = 0;
    size_t bins[BINS] = {0};
    for (size_t i = 0; i < SAMPLES; i++) {
        const double z = (x[i] - 3) / 0.5;
        for (int k = 1; k < 5; k++) moment[k] += pow(z, k) / SAMPLES;
        const double p = 0.5 * erfc(-z / sqrt(2));
        bins[(size_t)fmin(BINS - 1, p * BINS)]++;
        assert_true(same_bits(x[i], again.values[0][i]));
        assert_true(same_bits(s.values[1][i], again.values[1][i]));
    }
    for (int i = 0; i < BINS; i++)
        chi += pow((double)bins[i] - (double)SAMPLES / BINS, 2) / ((double)SAMPLES / BINS);
    print_message("mean %.1e, variance 1 + %.1e, third %.1e, fourth 3 + %.1e, chi^2 %.0f of %d\n",
                  moment[1], moment[2] - 1, moment[3], moment[4] - 3, chi, BINS - 1);
    assert_true(fabs(moment[1]) < 4 / root);
    assert_true(fabs(moment[2] - 1) < 4 * sqrt(2) / root);
    assert_true(fabs(moment[3]) < 4 * sqrt(15) / root);
    assert_true(fabs(moment[4] - 3) < 4 * sqrt(96) / root);
    assert_true(chi > 40 && chi < 170); // 99 +- 14
    for (size_t lag = 1; lag <= LAGS; lag++) {
        assert_true(fabs(correlation(x, x, lag)) < 4.5 / root);
        assert_true(fabs(correlation(x, s.values[1], lag)) < 4.5 / root);
        assert_true(fabs(correlation(x, third.values[0], lag)) < 4.5 / root);
    }
    assert_true(fabs(correlation(x, s.values[1], 0)) < 4.5 / root);     // another name,
    assert_true(fabs(correlation(x, third.values[0], 0)) < 4.5 / root); // another seed
    for (int k = 0; k < 2; k++) free(s.values[k]), free(again.values[k]), free(third.values[k]);
}

// ---- delays --------------------------------------------------------------------------------

// What is measured is t: so the value is when.
static void test_delays(void **state)
{
    (void)state;
    Sheet *run = run_with(system_from(CART "sensors:\n"
                                           "  now: {of: t, period: T}\n"
                                           "  one: {of: t, period: T, delay: 1}\n"
                                           "  late: {of: t, period: T, delay: 7}\n"
                                           "  slow: {of: t, period: 3*T, delay: 2}\n"
                                           "  of_late: {of: late, period: T}\n"
                                           "  shifted: {of: 5 + t, period: T, delay: 4}\n"
                                           "outputs: {both: late + one}\n"
                                           "cases: {a: {end: 0.5, every: 0.01}}\n"),
                          0, 0, NULL);
    for (size_t i = 0; i < run->rows; i++) {
        const double k = (double)i;
        assert_close(at(run, i, "now"), k / 100, 1e-15);
        assert_close(at(run, i, "one"), fmax(0, k - 1) / 100, 1e-15);
        assert_close(at(run, i, "late"), fmax(0, k - 7) / 100, 1e-15);
        assert_close(at(run, i, "slow"), fmax(0, floor(k / 3) - 2) * 3 / 100, 1e-15);
        assert_close(at(run, i, "of_late"), fmax(0, k - 8) / 100, 1e-15); // what was there
        assert_close(at(run, i, "shifted"), 5 + fmax(0, k - 4) / 100, 1e-15);
        assert_close(at(run, i, "both"), (fmax(0, k - 7) + fmax(0, k - 1)) / 100, 1e-15);
    }
    tr_sheet_free(run);
}

// In a force: a spring whose end is seen now and then. Parabolas from sample to sample.
static void test_force(void **state)
{
    (void)state;
    static const char *const methods[] = {"erk", "bdf", "rk4", "pece", "lie"};
    for (size_t m = 0; m < 5; m++) {
        tr_system *system = system_from(CART "sensors: {seen: {of: x, period: 0.1, delay: 1}}\n"
                                             "forces: {pull: {body: x, force: \"-8*seen, 0, 0\"}}\n"
                                             "initial: {x: 1, d(x): 0}\n"
                                             "cases: {a: {end: 3, every: 0.1, step: 0.01}}\n");
        tr_simulate_options o = strictly(system);
        o.method = methods[m];
        Sheet *run = simulated(system, o, NULL);
        double x = 1, v = 0, before = 1;
        for (size_t i = 0; i < run->rows; i++) {
            assert_close(at(run, i, "x"), x, 1e-10);
            assert_close(at(run, i, "seen"), before, 1e-10);
            const double a = -4 * before;
            before = x;
            x += 0.1 * v + 0.005 * a, v += 0.1 * a;
        }
        tr_sheet_free(run);
        tr_system_free(system);
    }
}

// What accelerates is measured with what acts until then.
static void test_accelerometer(void **state)
{
    (void)state;
    Sheet *run = run_with(system_from(CART "inputs: {push: 0}\n"
                                           "roles: {x: {torque: push}}\n"
                                           "sensors: {acc: {of: d(d(x)), period: 0.1}}\n"
                                           "controllers: {c: {period: 0.1, states: {k: 1}, update: "
                                           "{k: k + 1}, outputs: {push: k}}}\n"
                                           "cases: {a: {end: 1, every: 0.1}}\n"),
                          0, 0, NULL);
    for (size_t i = 0; i < run->rows; i++) assert_close(at(run, i, "acc"), (double)i / 2, 1e-14);
    tr_sheet_free(run);
}

static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"sensors: {g: {period: T}}\n", "needs 'of' what it measures, and its 'period'"},
        {"sensors: {g: {of: x}}\n", "needs 'of' what it measures, and its 'period'"},
        {"sensors: {g: {of: x, period: 0}}\n", "the period of 'g' must be positive"},
        {"sensors: {g: {of: x, period: T, delay: -1}}\n", "whole number of periods from 0 to 1000"},
        {"sensors: {g: {of: x, period: T, delay: 1.5}}\n", "whole number of periods"},
        {"sensors: {g: {of: x, period: T, delay: 2000}}\n", "whole number of periods"},
        {"sensors: {g: {of: x, period: T, delay: x}}\n", "'x' is not a parameter"},
        {"sensors: {g: {of: x, period: T, sd: -0.1}}\n", "must not be negative"},
        {"sensors: {g: {of: x, period: T, sd: x}}\n", "'x' is not a parameter"},
        {"sensors: {g: {of: x, period: T, seed: t}}\n", "'t' is not a parameter"},
        {"sensors: {g: {of: nil, period: T}}\n", "unknown name 'nil'"},
        {"sensors: {x: {of: 1, period: T}}\n", "the name 'x' is taken"},
        {"sensors: {T: {of: 1, period: T}}\n", "the name 'T' is taken"},
        {"sensors: {d: {of: 1, period: T}}\n", "reserved"},
        {"sensors: {a.b: {of: 1, period: T}}\n", "'a.b' is not a name for a sensor"},
        {"sensors: {g: {of: x, period: T}}\noutputs: {g: 1}\n", "the name 'g' is taken"},
        {"sensors: {g: {of: x, period: T}}\noutputs: {o: d(g)}\n",
         "how fast 'g' changes is not known"},
        {"sensors: {g: {of: x, periods: T}}\n", "did you mean 'period'"},
        {"sensors: {g: 3}\n", "'g' must be a map"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_model_refused(CART, wrong[i].text, wrong[i].words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantile), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_noise),    cmocka_unit_test(test_delays),
        cmocka_unit_test(test_force),    cmocka_unit_test(test_accelerometer),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
