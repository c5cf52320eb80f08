// SPDX-License-Identifier: Apache-2.0
// Many runs of one model: which there are, what they give, and that nothing changes that.
#include "linears.h"
#include "program/kernel.h"
#include "sweep/sample.h"
#include "sweeps.h"

#include "sim/normal.h"

#include <complex.h>
#undef I

static const double complex imaginary = (double complex)_Complex_I;

// ---- samples --------------------------------------------------------------------------------

static void shuffles_every_number_to_a_place_of_its_own(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 2, 3, 7, 64, 65, 1000, 4097};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        const uint64_t n = counts[k];
        bool *is_taken = calloc(n, sizeof *is_taken);
        uint64_t moved = 0;
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t at = tr_shuffled(7 + k, i, n);
            assert_true(at < n && !is_taken[at]);
            is_taken[at] = true, moved += at != i;
        }
        assert_true(n < 64 || moved > n * 9 / 10);
        free(is_taken);
    }
}

// In each of n parts one; and two names are as good as independent: of 1000 samples the correlation
// has a deviation of 0.03.
static void draws_latin_hypercubes(void **state)
{
    (void)state;
    enum { N = 1000 };
    int parts[2][N] = {{0}};
    double sum = 0, squares[2] = {0};
    for (uint64_t i = 0; i < N; i++) {
        double u[2];
        for (int k = 0; k < 2; k++) {
            u[k] = tr_stratified(1, k ? "b" : "a", 3, i, N);
            assert_true(u[k] > 0 && u[k] < 1);
            parts[k][(int)(u[k] * N)]++;
            squares[k] += (u[k] - 0.5) * (u[k] - 0.5);
        }
        sum += (u[0] - 0.5) * (u[1] - 0.5);
        assert_true(tr_stratified(1, "a", 3, i, N) == u[0]);
        assert_true(tr_stratified(2, "a", 3, i, N) != u[0]);
        assert_true(tr_stratified(1, "a", 4, i, N) != u[0]);
    }
    for (int i = 0; i < N; i++) assert_true(parts[0][i] == 1 && parts[1][i] == 1);
    assert_true(fabs(sum) / sqrt(squares[0] * squares[1]) < 0.12); // 4 deviations
    assert_close(squares[0] / N, 1.0 / 12, 1e-3);
}

static const char bicycle_file[] = MODELS_DIR "/bicycle.yaml";

static tr_sweep_options bicycles(const char *const *vary, size_t count, const char *method)
{
    tr_sweep_options o = tr_sweep_defaults();
    o.vary = vary, o.vary_count = count, o.method = method;
    o.step = 5e-3, o.end = 2, o.every = 0.1;
    o.keep =
        "final(roll), max(abs(roll)), min(steer), mean(roll), rms(roll), fell=time(abs(roll) > "
        "0.1), at(0.25, roll), at(0.3, roll), final(lambda.rear.normal), final(m0*roll)";
    return o;
}

// ---- what is kept, against runs of tr_simulate ------------------------------------------------

typedef struct Rows {
    double t[100], roll[100], steer[100], normal;
    size_t count, roll_at, steer_at, normal_at;
} Rows;

static bool begin_rows(void *owner, const char *const *names, const char *const *units,
                       size_t count, tr_error *err)
{
    Rows *r = owner;
    (void)units, (void)err;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], "roll") == 0) r->roll_at = i;
        if (strcmp(names[i], "steer") == 0) r->steer_at = i;
        if (strcmp(names[i], "lambda.rear.normal") == 0) r->normal_at = i;
    }
    return true;
}

static bool add_row(void *owner, const double *row, tr_error *err)
{
    Rows *r = owner;
    (void)err;
    r->t[r->count] = row[0], r->roll[r->count] = row[r->roll_at];
    r->steer[r->count] = row[r->steer_at], r->normal = row[r->normal_at];
    r->count++;
    return true;
}

static Rows bicycle_run(double m0, double speed, const tr_sweep_options *like, tr_summary *summary)
{
    Rows rows = {0};
    tr_error err = {0};
    char text[2][40];
    snprintf(text[0], 40, "%.17g", m0), snprintf(text[1], 40, "%.17g", speed);
    const tr_setting settings[] = {{"m0", text[0]}, {"speed0", text[1]}};
    tr_derive_options how = tr_derive_defaults();
    how.case_name = "free", how.settings = settings, how.setting_count = 2;
    tr_model *model = tr_model_read(bicycle_file, &err);
    tr_system *system = tr_derive(model, &how, &err);
    const tr_sink sink = {begin_rows, add_row, NULL, &rows};
    tr_simulate_options o = tr_simulate_defaults(system);
    o.method = like->method, o.step = like->step, o.end = like->end, o.every = like->every;
    o.sinks = &sink, o.sink_count = 1;
    tr_simulate(system, &o, summary, &err);
    tr_system_free(system);
    tr_model_free(model);
    return rows;
}

// Of rows, as the reference says they are reduced; every number to the last bit but for sums
static void compare_with_run(const Found *f, size_t run, const Rows *r, double m0)
{
    double most = 0, least = (double)INFINITY, mean = 0, square = 0, fell = (double)NAN;
    for (size_t i = 0; i < r->count; i++) {
        most = fmax(most, fabs(r->roll[i])), least = fmin(least, r->steer[i]);
        if (isnan(fell) && fabs(r->roll[i]) > 0.1) fell = r->t[i];
        if (i) mean += 0.05 * (r->roll[i - 1] + r->roll[i]);
        if (i) square += 0.05 * (r->roll[i - 1] * r->roll[i - 1] + r->roll[i] * r->roll[i]);
    }
    const size_t last = r->count - 1;
    assert_true(value(f, run, "final(roll)") == r->roll[last]);
    assert_true(value(f, run, "final(m0*roll)") == m0 * r->roll[last]);
    assert_true(value(f, run, "max(abs(roll))") == most);
    assert_true(value(f, run, "min(steer)") == least);
    assert_close(value(f, run, "fell"), fell, 0);
    assert_close(value(f, run, "mean(roll)"), mean / 2, 1e-14);
    assert_close(value(f, run, "rms(roll)"), sqrt(square / 2), 1e-14);
    assert_close(value(f, run, "at(0.25,roll)"), (r->roll[2] + r->roll[3]) / 2, 1e-14);
    assert_true(value(f, run, "at(0.3,roll)") == r->roll[3]);
    assert_true(value(f, run, "final(lambda.rear.normal)") == r->normal);
}

static void keeps_what_runs_are(void **state)
{
    (void)state;
    static const char *const methods[] = {"rk4", "lie", "erk", "bdf", "pece"};
    static const char *const vary[] = {"m0=70:80:5", "speed0=4.2, 5"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        tr_sweep_options o = bicycles(vary, 2, methods[k]);
        Found f = sweep(bicycle_file, "free", &o);
        assert_int_equal(f.runs, 6);
        for (size_t i = 0; i < f.runs; i++) {
            tr_summary summary = {0};
            const double m0 = 70 + 5 * (double)(i / 2), speed = i % 2 ? 5 : 4.2;
            const Rows r = bicycle_run(m0, speed, &o, &summary);
            assert_int_equal(r.count, 21);
            assert_true(value(&f, i, "m0") == m0 && value(&f, i, "speed0") == speed);
            compare_with_run(&f, i, &r, m0);
            assert_true(value(&f, i, "t") == 2 && value(&f, i, "rows") == 21);
            assert_true(value(&f, i, "steps") == (double)summary.steps);
            assert_true(value(&f, i, "energy_error") == summary.energy_error);
            assert_true(value(&f, i, "position_error") == summary.position_error);
            assert_true(value(&f, i, "velocity_error") == summary.velocity_error);
            assert_true(value(&f, i, "chart_changes") == (double)summary.chart_changes);
        }
        free_found(&f);
    }
}

// ---- the same, whoever works ------------------------------------------------------------------

// As on processors that have fewer lanes, or none
static void assert_same_with_fewer_lanes(const Found *whole, tr_sweep_options *o)
{
    for (int machine = MACHINE_PLAIN; machine < MACHINE_AVX512; machine++) {
        tr_limit_machine((Machine)machine);
        Found f = sweep(bicycle_file, "free", o);
        assert_memory_equal(f.values, whole->values, f.runs * f.columns * sizeof(double));
        free_found(&f);
    }
    tr_limit_machine(MACHINE_AVX512);
}

static void gives_the_same_with_any_threads_and_lanes(void **state)
{
    (void)state;
    static const char *const vary[] = {"m0~normal(80, 4)", "speed0=3, 4.5",
                                       "roll_rate0~uniform(0.1, 0.9)"};
    tr_sweep_options o = bicycles(vary, 3, "rk4");
    o.samples = 150, o.seed = 5, o.stop = "abs(roll) > 0.3";
    o.jobs = 1;
    Found one = sweep(bicycle_file, "free", &o);
    assert_int_equal(one.runs, 300);
    o.jobs = 3;
    Found three = sweep(bicycle_file, "free", &o);
    size_t stopped = 0;
    assert_memory_equal(one.values, three.values, one.runs * one.columns * sizeof(double));
    for (size_t i = 0; i < one.runs; i++) {
        assert_string_equal(one.words[i], three.words[i]);
        assert_true(one.is_stopped[i] == three.is_stopped[i]);
        stopped += one.is_stopped[i];
        if (one.is_stopped[i]) assert_true(fabs(value(&one, i, "final(roll)")) > 0.3);
        if (one.is_stopped[i]) assert_true(value(&one, i, "t") < 2);
    }
    assert_true(stopped > 10 && stopped < 290);
    assert_same_with_fewer_lanes(&one, &o);
    free_found(&one);
    free_found(&three);
}

// And nothing else: rows are what `final` and the others saw.
static void keeps_rows_of_some(void **state)
{
    (void)state;
    static const char *const methods[] = {"rk4", "erk"}, *const vary[] = {"m0=70:100:1"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        tr_sweep_options o = bicycles(vary, 1, methods[k]);
        o.record = 10;
        Found f = sweep(bicycle_file, "free", &o);
        for (size_t i = 0; i < f.runs; i++) {
            assert_true((f.rows[i] != NULL) == (i % 10 == 0));
            if (!f.rows[i]) continue;
            assert_int_equal(f.row_count[i], 21);
            const double *last = f.rows[i] + 20 * f.row_columns;
            assert_true(last[0] == 2 && last[f.roll_at] == value(&f, i, "final(roll)"));
        }
        free_found(&f);
    }
}

static bool refuse_to_begin(void *owner, size_t runs, const char *const *names,
                            const char *const *units, size_t count, tr_error *err)
{
    (void)owner, (void)runs, (void)names, (void)units, (void)count, (void)err;
    return false;
}

static bool count_run(void *owner, const tr_sweep_run *run, tr_error *err)
{
    (void)run, (void)err;
    return ++*(size_t *)owner < 3;
}

// A sink that says false is asked no more.
static void ends_where_a_sink_ends_it(void **state)
{
    (void)state;
    static const char *const vary[] = {"m0=70:270:1"};
    tr_error err = {0};
    tr_model *model = tr_model_read(bicycle_file, &err);
    tr_sweep_options o = bicycles(vary, 1, "rk4");
    size_t count = 0;
    tr_sweep_sink sink = {refuse_to_begin, count_run, &count};
    o.sinks = &sink, o.sink_count = 1, o.end = 0.1, o.keep = "final(roll)";
    tr_sweep(model, NULL, &o, NULL, &err);
    assert_int_equal(count, 0);
    sink.begin = NULL;
    tr_sweep(model, NULL, &o, NULL, &err);
    assert_int_equal(count, 3);
    assert_int_equal(err.status, TR_OK);
    tr_model_free(model);
}

// A parameter out of its range, one that a decision hangs from, a start that there is not
static void keeps_failures_as_rows(void **state)
{
    (void)state;
    static const char *const vary[] = {"m0=-100000, 80", "speed0=4.5, 5"};
    tr_sweep_options o = bicycles(vary, 2, "rk4");
    o.keep = "final(roll)";
    Found f = sweep(bicycle_file, "free", &o);
    assert_int_equal(f.runs, 4);
    assert_true(f.words[0][0] && f.words[1][0] && !f.words[2][0] && !f.words[3][0]);
    free_found(&f);
}

// ---- small differences ------------------------------------------------------------------------

// How far values y of runs are from y0 + slopes . (x - x0), against how far they spread; and the
// spread itself against that of the linear ones
static void assert_first_order(const Found *f, const char *name, double y0, const char *const *of,
                               const double *x0, const double *slopes, size_t count, double bound)
{
    double worst = 0, spread = 0, square = 0, linear_square = 0;
    for (size_t i = 0; i < f->runs; i++) {
        const double off = value(f, i, name) - y0;
        double linear = 0;
        for (size_t k = 0; k < count; k++) linear += slopes[k] * (value(f, i, of[k]) - x0[k]);
        worst = fmax(worst, fabs(off - linear)), spread = fmax(spread, fabs(off));
        square += off * off, linear_square += linear * linear;
    }
    assert_true(spread > 0);
    assert_below(worst / spread, bound);
    assert_below(fabs(sqrt(square / linear_square) - 1), bound);
}

// sum of a_k s^k and its slopes by s and by v, of the determinant of the published matrices
static double complex determinant(double complex s, double v, double complex *by_s,
                                  double complex *by_v)
{
    double complex A[4], by_sA[4], by_vA[4];
    for (int i = 0; i < 4; i++) {
        const double M = meijaard_M[i], C = meijaard_C1[i], K2 = meijaard_K2[i];
        A[i] = M * s * s + v * C * s + 9.81 * meijaard_K0[i] + v * v * K2;
        by_sA[i] = 2 * M * s + v * C, by_vA[i] = C * s + 2 * v * K2;
    }
    *by_s = by_sA[0] * A[3] + A[0] * by_sA[3] - by_sA[1] * A[2] - A[1] * by_sA[2];
    *by_v = by_vA[0] * A[3] + A[0] * by_vA[3] - by_vA[1] * A[2] - A[1] * by_vA[2];
    return A[0] * A[3] - A[1] * A[2];
}

// The weave of the bicycle, where its speed is not quite known: its eigenvalue spreads as the exact
// slope of the published characteristic polynomial says, d(lambda)/dv = -p_v/p_lambda, and the
// standard deviation is that of the speed times the slope.
static void spreads_the_weave_as_its_slope_says(void **state)
{
    (void)state;
    static const double v = 4.6, sd = 1e-4;
    static const char *const vary[] = {"speed0~normal(4.6, 1e-4)"}, *const of[] = {"speed0"};
    double complex s = -0.3 + 3.7 * imaginary, by_s, by_v;
    tr_sweep_options o = tr_sweep_defaults();
    o.vary = vary, o.vary_count = 1, o.samples = 60, o.what = "linearise";
    o.keep = "growth=final(if(abs(im1) > 1, re1, re2)), turn=final(max(abs(im1), abs(im2)))";
    Found f = sweep(bicycle_file, "straight", &o);
    for (int i = 0; i < 50; i++) s -= determinant(s, v, &by_s, &by_v) / by_s;
    determinant(s, v, &by_s, &by_v);
    const double complex slope = -by_v / by_s;
    const double growth = creal(slope), turn = cimag(slope);
    assert_first_order(&f, "growth", creal(s), of, &v, &growth, 1, 1e-3);
    assert_first_order(&f, "turn", cimag(s), of, &v, &turn, 1, 1e-3);
    double square = 0;
    for (size_t i = 0; i < f.runs; i++) square += pow(value(&f, i, "growth") - creal(s), 2);
    assert_true(fabs(sqrt(square / (double)f.runs) / (sd * fabs(growth)) - 1) <
                0.08); // of 60 strata
    free_found(&f);
}

// What the bicycle's parameters are that vary, in the names of the model
static const char *const of_bicycle[] = {"m0", "y0", "x0", "c", "w", "theta"};
enum { VARIED = sizeof of_bicycle / sizeof *of_bicycle };

typedef struct Linear {
    double complex M[4], C1[4], K0[4], K2[4];
} Linear;

// Appendix A of Meijaard et al. (2007), with their names and axes: x forward, z down
static Linear published(const double complex p[VARIED])
{
    const double m_R = 2, r_R = 0.3, I_Rxx = 0.0603, I_Ryy = 0.12, m_F = 3, r_F = 0.35;
    const double I_Fxx = 0.1405, I_Fyy = 0.28, I_Bxx = 9.2, I_Bxz = 2.4, I_Bzz = 2.8, m_H = 4;
    const double x_H = 0.9, z_H = -0.7, I_Hxx = 0.05892, I_Hxz = -0.00756, I_Hzz = 0.00708;
    const double complex m_B = p[0], x_B = p[1], z_B = -(r_R + p[2]), c = p[3], w = p[4];
    const double complex cosine = ccos(p[5]), sine = csin(p[5]), m_T = m_R + m_B + m_H + m_F;
    const double complex x_T = (x_B * m_B + x_H * m_H + w * m_F) / m_T;
    const double complex z_T = (-r_R * m_R + z_B * m_B + z_H * m_H - r_F * m_F) / m_T;
    const double complex I_Txx = I_Rxx + I_Bxx + I_Hxx + I_Fxx + m_R * r_R * r_R + m_B * z_B * z_B +
                                 m_H * z_H * z_H + m_F * r_F * r_F;
    const double complex I_Txz = I_Bxz + I_Hxz - m_B * x_B * z_B - m_H * x_H * z_H + m_F * w * r_F;
    const double complex I_Tzz =
        I_Rxx + I_Bzz + I_Hzz + I_Fxx + m_B * x_B * x_B + m_H * x_H * x_H + m_F * w * w;
    const double m_A = m_H + m_F, z_A = (z_H * m_H - r_F * m_F) / m_A, H = z_H - z_A, F = r_F + z_A;
    const double complex x_A = (x_H * m_H + w * m_F) / m_A;
    const double I_Axx = I_Hxx + I_Fxx + m_H * H * H + m_F * F * F;
    const double complex I_Axz = I_Hxz - m_H * (x_H - x_A) * H + m_F * (w - x_A) * F;
    const double complex I_Azz =
        I_Hzz + I_Fxx + m_H * (x_H - x_A) * (x_H - x_A) + m_F * (w - x_A) * (w - x_A);
    const double complex u_A = (x_A - w - c) * cosine - z_A * sine;
    const double complex I_All =
        m_A * u_A * u_A + I_Axx * sine * sine + 2 * I_Axz * sine * cosine + I_Azz * cosine * cosine;
    const double complex I_Alx = -m_A * u_A * z_A + I_Axx * sine + I_Axz * cosine;
    const double complex I_Alz = m_A * u_A * x_A + I_Axz * sine + I_Azz * cosine;
    const double complex mu = c / w * cosine, S_A = m_A * u_A + mu * m_T * x_T;
    const double S_R = I_Ryy / r_R, S_F = I_Fyy / r_F, S_T = S_R + S_F;
    const double complex M_pd = I_Alx + mu * I_Txz, gyro = mu * S_T + S_F * cosine;
    return (Linear){.M = {I_Txx, M_pd, M_pd, I_All + 2 * mu * I_Alz + mu * mu * I_Tzz},
                    .C1 = {0, gyro + I_Txz / w * cosine - mu * m_T * z_T, -gyro,
                           I_Alz / w * cosine + mu * (S_A + I_Tzz / w * cosine)},
                    .K0 = {m_T * z_T, -S_A, -S_A, -S_A * sine},
                    .K2 = {0, (S_T - m_T * z_T) / w * cosine, 0, (S_A + S_F * sine) / w * cosine}};
}

// Zero where a_4 s^4 + ... + a_0 has a root on the imaginary axis, s^2 = -a_1/a_3: Routh
static double complex hurwitz(double complex v, const double complex p[VARIED])
{
    const Linear b = published(p);
    const double complex *M = b.M, *C = b.C1;
    double complex K[4];
    for (int i = 0; i < 4; i++) K[i] = 9.81 * b.K0[i] + v * v * b.K2[i];
    const double complex a_4 = M[0] * M[3] - M[1] * M[2], a_0 = K[0] * K[3] - K[1] * K[2];
    const double complex a_3 = v * (M[0] * C[3] + M[3] * C[0] - M[1] * C[2] - M[2] * C[1]);
    const double complex a_2 =
        M[0] * K[3] + M[3] * K[0] - M[1] * K[2] - M[2] * K[1] + v * v * (C[0] * C[3] - C[1] * C[2]);
    const double complex a_1 = v * (C[0] * K[3] + C[3] * K[0] - C[1] * K[2] - C[2] * K[1]);
    const double complex square = a_1 / a_3;
    return a_4 * square * square - a_2 * square + a_0;
}

// By steps along the imaginary axis, which are exact to rounding
static double weave_speed(const double *p, double *slopes)
{
    static const double h = 1e-30;
    const double complex ih = h * imaginary;
    double complex q[VARIED];
    double v = 4.3;
    for (int i = 0; i < VARIED; i++) q[i] = p[i];
    for (int i = 0; i < 20; i++) v -= creal(hurwitz(v, q)) / (cimag(hurwitz(v + ih, q)) / h);
    const double by_v = cimag(hurwitz(v + ih, q));
    for (int k = 0; k < VARIED; k++) {
        q[k] += ih;
        slopes[k] = -cimag(hurwitz(v, q)) / by_v;
        q[k] = p[k];
    }
    return v;
}

static void write_table(const char *path, const Found *f, double speed)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int k = 0; k < VARIED; k++) fprintf(file, "%s,", of_bicycle[k]);
    fprintf(file, "speed0\n");
    for (size_t i = 0; i < f->runs; i++) {
        for (int k = 0; k < VARIED; k++) fprintf(file, "%.17g,", value(f, i, of_bicycle[k]));
        fprintf(file, "%.17g\n", speed);
    }
    assert_int_equal(fclose(file), 0);
}

// The speed from which on the weave decays, of bicycles whose parameters are normal: drawn at a
// speed below it, and as a table at one above; what it is between them, on a straight line, spreads
// as its exact slopes by the parameters say, (sum (slope sd)^2)^1/2.
static void spreads_the_weave_speed_as_its_slopes_say(void **state)
{
    (void)state;
    static const double mean[] = {85, 0.3, 0.6, 0.08, 1.02, M_PI / 10}, apart = 4e-4;
    static const double sd[] = {1e-2, 2e-5, 4e-5, 1e-5, 3e-5, 2e-5};
    static const char *const vary[] = {"m0~normal(85, 1e-2)",   "y0~normal(0.3, 2e-5)",
                                       "x0~normal(0.6, 4e-5)",  "c~normal(0.08, 1e-5)",
                                       "w~normal(1.02, 3e-5)",  "theta~normal(pi/10, 2e-5)",
                                       "speed0=4.2921825363411"};
    double slopes[VARIED], square = 0, expected = 0;
    const double speed = weave_speed(mean, slopes), below = 4.2921825363411;
    assert_close(speed, 4.29238253634111, 1e-10);
    for (int k = 0; k < VARIED; k++) expected += pow(slopes[k] * sd[k], 2);
    tr_sweep_options o = tr_sweep_defaults();
    o.vary = vary, o.vary_count = VARIED + 1, o.samples = 40, o.what = "linearise";
    o.keep = "growth=final(if(abs(im1) > 1, re1, re2))";
    Found f = sweep(bicycle_file, "straight", &o);
    o.vary_count = o.samples = 0, o.table = in_folder("faster.csv");
    write_table(o.table, &f, below + apart);
    Found faster = sweep(bicycle_file, "straight", &o);
    const size_t at = place_of(&f, "growth");
    for (size_t i = 0; i < f.runs; i++) {
        double *growth = &f.values[i * f.columns + at];
        *growth = below + apart * *growth / (*growth - value(&faster, i, "growth"));
        square += pow(*growth - speed, 2);
    }
    assert_first_order(&f, "growth", speed, of_bicycle, mean, slopes, VARIED, 1e-3);
    assert_below(fabs(sqrt(square / (double)f.runs / expected) - 1), 0.05); // of 40 strata
    free_found(&f);
    free_found(&faster);
}

// Runs spread as sensitivities say that tr_simulate integrates along.
static void spreads_runs_as_sensitivities_say(void **state)
{
    (void)state;
    static const char *const of[] = {"m0", "speed0", "h3"};
    static const char *const vary[] = {"m0~normal(85, 0.001)", "speed0~normal(4.6, 1e-4)",
                                       "h3~normal(0.3, 1e-5)"};
    static const double x0[] = {85, 4.6, 0.3};
    tr_error err = {0};
    const char *path = in_folder("slopes.csv");
    tr_derive_options how = tr_derive_defaults();
    how.case_name = "free";
    tr_model *model = tr_model_read(bicycle_file, &err);
    tr_system *system = tr_derive(model, &how, &err);
    tr_simulate_options run = tr_simulate_defaults(system);
    run.method = "erk", run.end = 1, run.every = 0.5, run.sensitivity = "m0,speed0,h3";
    run.output = path;
    if (!tr_simulate(system, &run, NULL, &err)) fail_msg("%s", err.text);
    Sheet *sheet = tr_sheet_read(path, &err);
    assert_non_null(sheet);
    double slopes[3];
    for (int k = 0; k < 3; k++) {
        char name[40];
        snprintf(name, sizeof name, "d(roll)/d(%s)", of[k]);
        slopes[k] = tr_sheet_column(sheet, name)[2];
    }
    tr_sweep_options o = tr_sweep_defaults();
    o.vary = vary, o.vary_count = 3, o.samples = 40, o.keep = "final(roll)";
    o.method = "erk", o.end = 1, o.every = 0.5;
    Found f = sweep(bicycle_file, "free", &o);
    assert_first_order(&f, "final(roll)", tr_sheet_column(sheet, "roll")[2], of, x0, slopes, 3,
                       1e-3);
    free_found(&f);
    tr_sheet_free(sheet);
    tr_system_free(system);
    tr_model_free(model);
}

// ---- which there are --------------------------------------------------------------------------

// However many values a range has: they are found by their number.
static void takes_no_room_for_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *vary;
        size_t runs, run;
        double value;
    } ranges[] = {
        {"m0=1:1e9:1", 1000000000, 123456788, 1 + (1e9 - 1) * 123456788.0 / 999999999.0},
        {"m0=0.4:0.6:0.05", 5, 3, 0.4 + (0.6 - 0.4) * 3.0 / 4.0},
        {"m0=0.4:0.63:0.05", 5, 3, 0.4 + 3.0 * 0.05},
        {"m0=0.4:0.43:0.05", 1, 0, 0.4},
    };
    tr_error err = {0};
    tr_model *model = tr_model_read(bicycle_file, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        Design d;
        double value = 0;
        tr_sweep_options o = tr_sweep_defaults();
        o.vary = &ranges[i].vary, o.vary_count = 1;
        assert_true(tr_design_make(&d, system, &o, &err));
        assert_int_equal(d.runs, ranges[i].runs);
        assert_null(d.varied[0].values);
        tr_design_take(&d, ranges[i].run, &value);
        assert_memory_equal(&value, &ranges[i].value, sizeof value);
        tr_design_free(&d);
    }
    tr_system_free(system);
    tr_model_free(model);
}

// ---- words ------------------------------------------------------------------------------------

// Halves of a sweep become one, in which the recorded runs are those of both.
static void merges_shards_into_one(void **state)
{
    (void)state;
    static const char *const parts[] = {"sweep_half_1.db", "sweep_half_2.db"},
                             *all = "sweep_all.db";
    const char *vary = "m0=60:160:1";
    tr_error err = {0};
    tr_model *model = tr_model_read(bicycle_file, &err);
    tr_sweep_options o = tr_sweep_defaults();
    tr_sweep_summary summary;
    remove(parts[0]), remove(parts[1]), remove(all);
    o.vary = &vary, o.vary_count = 1, o.record = 10, o.shards = 2;
    o.method = "rk4", o.step = 0.01, o.end = 0.1, o.every = 0.05;
    for (o.shard = 0; o.shard < 2; o.shard++) {
        o.output = parts[o.shard];
        tr_sweep(model, NULL, &o, &summary, &err);
        if (err.status && strstr(err.text, "SQLite")) skip();
        assert_int_equal(err.status, TR_OK);
        assert_int_equal(summary.done, summary.runs);
        assert_true(summary.runs > 0 && summary.runs < 101);
    }
    assert_true(tr_sweep_merge(parts, 2, all, &summary, &err));
    assert_int_equal(summary.runs, 101);
    assert_int_equal(summary.done, 101);
    size_t runs[4], count;
    assert_true(tr_sweep_recorded(all, runs, 4, &count, &err));
    assert_int_equal(count, 11);
    for (size_t i = 0; i < 4; i++) assert_int_equal(runs[i], 10 * i);
    assert_false(tr_sweep_merge(parts, 2, "no/where.db", NULL, &err));
    remove(parts[0]), remove(parts[1]), remove(all);
    tr_model_free(model);
}

static void refuses_with_words(void **state)
{
    (void)state;
    static const struct {
        const char *vary, *keep, *stop, *what, *words;
        size_t samples;
    } wrong[] = {
        {"m0", NULL, NULL, NULL, "takes NAME=A:B:H, NAME=A,B,C", 0},
        {"mass=1,2", NULL, NULL, NULL, "there is no parameter, input or initial value 'mass'", 0},
        {"omega_x=1,2", NULL, NULL, NULL, "'omega_x'", 0},
        {"m0=1:x:2", NULL, NULL, NULL, "from, to and step as numbers", 0},
        {"m0=3:1:1", NULL, NULL, NULL, "upwards", 0},
        {"m0=1:2:0", NULL, NULL, NULL, "positive", 0},
        {"m0=1,,2", NULL, NULL, NULL, "a list is numbers", 0},
        {"m0~gauss(1,2)", NULL, NULL, NULL, "uniform(A, B) or normal(MEAN, DEVIATION)", 0},
        {"m0~normal(1)", NULL, NULL, NULL, "two numbers", 0},
        {"m0~normal(1,-2)", NULL, NULL, NULL, "must not be negative", 0},
        {"m0~uniform(2,1)", NULL, NULL, NULL, "not below", 0},
        {"m0=1:1e12:1", NULL, NULL, NULL, "billion", 0},
        {"m0=1,2", NULL, NULL, NULL, "nothing is drawn", 7},
        {"m0=1,2", "roll", NULL, NULL, "it takes final(x)", 0},
        {"m0=1,2", "last(roll)", NULL, NULL, "it takes final(x)", 0},
        {"m0=1,2", "max(rol)", NULL, NULL, "'rol'", 0},
        {"m0=1,2", "max(roll, steer)", NULL, NULL, "one formula", 0},
        {"m0=1,2", "at(roll)", NULL, NULL, "a time and a formula", 0},
        {"m0=1,2", "at(11, roll)", NULL, NULL, "runs end at 10 s", 0},
        {"m0=1,2", "at(1, roll)", NULL, "steady", "runs end at 0 s", 0},
        {"m0=1,2", "max(roll), max( roll)", NULL, NULL, "a column of this name", 0},
        {"m0=1,2", "m0=max(roll)", NULL, NULL, "a column of this name", 0},
        {"m0=1,2", NULL, "roll >", NULL, "--stop", 0},
        {"m0=1,2", NULL, NULL, "dance", "there is no 'dance' to do", 0},
    };
    tr_error err = {0};
    tr_model *model = tr_model_read(bicycle_file, &err);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tr_sweep_options o = tr_sweep_defaults();
        o.vary = &wrong[i].vary, o.vary_count = 1, o.samples = wrong[i].samples;
        o.keep = wrong[i].keep, o.stop = wrong[i].stop, o.what = wrong[i].what;
        err = (tr_error){0};
        if (tr_sweep(model, NULL, &o, NULL, &err) || !strstr(err.text, wrong[i].words))
            fail_msg("%s: %s", wrong[i].words, err.text);
        assert_int_equal(err.status, TR_USAGE);
    }
    tr_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffles_every_number_to_a_place_of_its_own),
        cmocka_unit_test(draws_latin_hypercubes),
        cmocka_unit_test(keeps_what_runs_are),
        cmocka_unit_test(gives_the_same_with_any_threads_and_lanes),
        cmocka_unit_test(keeps_rows_of_some),
        cmocka_unit_test(ends_where_a_sink_ends_it),
        cmocka_unit_test(keeps_failures_as_rows),
        cmocka_unit_test(spreads_the_weave_as_its_slope_says),
        cmocka_unit_test(spreads_the_weave_speed_as_its_slopes_say),
        cmocka_unit_test(spreads_runs_as_sensitivities_say),
        cmocka_unit_test(takes_no_room_for_ranges),
        cmocka_unit_test(merges_shards_into_one),
        cmocka_unit_test(refuses_with_words),
    };
    make_folder(folder, sizeof folder);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_folder();
    return failed;
}
