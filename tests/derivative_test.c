// SPDX-License-Identifier: Apache-2.0
// Derivatives of random expressions and of motions in closed form against differences; forward
// against reverse; Jacobians; and what must not happen: graphs that explode, failed expressions
// that become zero.
#include "differences.h"

// ---- tools ---------------------------------------------------------------------------------

static double value_at(System *s, Expr of, const double *in)
{
    double out;
    values_at(s, &of, 1, in, &out);
    return out;
}

// The forward derivatives `f` along the inputs moved by a few units in the last place differ by the
// noise of rounding: an honest tolerance for comparing two ways to compute them.
static void noise_of(const Machine *m, size_t count, const double *in, double *noise)
{
    double *here = malloc(2 * count * sizeof *here), *there = here + count;
    assert_non_null(here);
    Random r = {99};
    run(m, in, here);
    memset(noise, 0, count * sizeof *noise);
    for (int trial = 0; trial < 4; trial++) {
        double moved[JUNGLE_INPUTS];
        for (int i = 0; i < JUNGLE_INPUTS; i++)
            moved[i] = in[i] * (1 + random_between(&r, -4e-15, 4e-15));
        run(m, moved, there);
        for (size_t k = 0; k < count; k++) noise[k] = fmax(noise[k], fabs(there[k] - here[k]));
    }
    free(here);
}

static void random_inputs(Jungle *j, double *in)
{
    for (int i = 0; i < JUNGLE_INPUTS; i++) in[i] = random_between(&j->random, -2, 2);
}

// ---- random expressions --------------------------------------------------------------------

// Some plants together, so that most inputs meet.
static Expr mixture(const Jungle *j, uint32_t i)
{
    const Plant *p = &j->plants[i];
    return mul(p->expr, add(mul(p[-1].expr, p[-2].expr), add(p[-3].expr, p[-4].expr)));
}

// Values of all plants at `in + s direction`.
static void run_along(const Machine *m, const double *in, const double *direction, double s,
                      double *out)
{
    double at[JUNGLE_INPUTS];
    for (int i = 0; i < JUNGLE_INPUTS; i++) at[i] = in[i] + s * direction[i];
    run(m, at, out);
}

// Differences of all plants along a direction, with the largest step h.
static void differences(const Machine *m, uint32_t count, const double *in, const double *direction,
                        double h, double *rough, double *error)
{
    static double up[LEVELS][JUNGLE_MAX], down[LEVELS][JUNGLE_MAX];
    for (int level = 0; level < LEVELS; level++) {
        run_along(m, in, direction, ldexp(h, -level), up[level]);
        run_along(m, in, direction, -ldexp(h, -level), down[level]);
    }
    for (uint32_t i = 0; i < count; i++) {
        double central[LEVELS];
        for (int level = 0; level < LEVELS; level++)
            central[level] = (up[level][i] - down[level][i]) / (2 * ldexp(h, -level));
        rough[i] = extrapolated(central, &error[i]);
    }
}

// Compares where two very different steps give the same difference: one alone can be fooled by an
// expression that oscillates faster.
static void check_directional(Jungle *j, uint32_t *compared)
{
    static double exact[JUNGLE_MAX], noise[JUNGLE_MAX], plain[JUNGLE_MAX], bound[JUNGLE_MAX];
    static double rough[JUNGLE_MAX], fine[JUNGLE_MAX], error[JUNGLE_MAX], fine_error[JUNGLE_MAX];
    const double h = 0x1p-7, fine_h = 0x1p-12;
    Expr of[JUNGLE_MAX], d[JUNGLE_MAX], changes[JUNGLE_INPUTS];
    double in[JUNGLE_INPUTS], direction[JUNGLE_INPUTS];
    random_inputs(j, in);
    random_inputs(j, direction);
    for (int i = 0; i < JUNGLE_INPUTS; i++) changes[i] = tr_constant(j->system, direction[i]);
    for (uint32_t i = 0; i < j->count; i++) of[i] = j->plants[i].expr;
    tr_forward(j->system->graph, of, j->count, j->inputs, changes, JUNGLE_INPUTS, d);
    Machine plants = machine_new(j->system, of, j->count);
    Machine slopes = machine_new(j->system, d, j->count);
    run(&slopes, in, exact);
    noise_of(&slopes, j->count, in, noise);
    jungle_values(j, in, plain, bound);
    differences(&plants, j->count, in, direction, h, rough, error);
    differences(&plants, j->count, in, direction, fine_h, fine, fine_error);
    for (uint32_t i = 0; i < j->count; i++) {
        const double size = fmax(1, fabs(rough[i]));
        const double rounding = noise[i] + 4 * bound[i] / ldexp(h, 1 - LEVELS);
        const double doubt = error[i] + fabs(rough[i] - fine[i]) + rounding;
        if (!(doubt < 1e-6 * size) || !isfinite(rough[i])) continue;
        *compared += exact[i] != 0;
        if (!is_below(fabs(exact[i] - rough[i]), 20 * doubt + 1e-10 * size))
            fail_msg("plant %u = %s: %.17g, difference %.17g, doubt %g", i,
                     tr_text(j->system, of[i]), exact[i], rough[i], doubt);
    }
    machine_free(&plants);
    machine_free(&slopes);
}

static void test_directional_against_differences(void **state)
{
    (void)state;
    uint32_t compared = 0, all = 0;
    for (uint64_t seed = 1; seed <= (BRIEF ? 200 : 1000); seed++) {
        Jungle j;
        jungle_grow(&j, seed, 150, true);
        check_directional(&j, &compared);
        all += j.count;
        jungle_free(&j);
    }
    if (compared < all / 4) fail_msg("only %u of %u compared and not zero", compared, all);
}

// Reverse sweeps and gradients against one forward sweep per input. Where a branch not taken
// poisons the adjoint (it is not finite) the gradient must still be right.
static void check_reverse(uint64_t seeds, bool smooth)
{
    enum { N = JUNGLE_INPUTS };
    uint32_t compared = 0, all = 0, poisoned = 0, not_zero = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        Jungle j;
        jungle_grow(&j, seed, 50, smooth);
        double in[N], forward[N], noise[N], out[2 * N];
        random_inputs(&j, in);
        for (uint32_t i = N; i < j.count; i += 3) {
            const Expr f = mixture(&j, i);
            Expr d[N], r[2 * N];
            for (uint32_t k = 0; k < N; k++) d[k] = tr_derivative(f, j.inputs[k]);
            tr_reverse(j.system->graph, f, j.inputs, N, r);
            tr_gradient(f, j.inputs, N, r + N);
            Machine m = machine_new(j.system, d, N);
            run(&m, in, forward);
            noise_of(&m, N, in, noise);
            machine_free(&m);
            values_at(j.system, r, 2 * N, in, out);
            for (uint32_t k = 0; k < 2 * N; k++, all++) {
                const double wanted = forward[k % N], size = fmax(1, fabs(wanted));
                if (!isfinite(wanted) || !(noise[k % N] < 1e-8 * size)) continue;
                if (!smooth && k < N && !isfinite(out[k])) {
                    poisoned++;
                    continue;
                }
                compared++;
                not_zero += wanted != 0;
                if (!is_below(fabs(out[k] - wanted), 100 * noise[k % N] + 1e-11 * size))
                    fail_msg("seed %u, plant %u, input %u, %s: %.17g, forward %.17g, noise %g",
                             (unsigned)seed, i, k % N, k < N ? "reverse" : "gradient", out[k],
                             wanted, noise[k % N]);
            }
        }
        jungle_free(&j);
    }
    if (compared < all / 2 || not_zero < all / 5 || poisoned > all / 20)
        fail_msg("%u of %u compared, %u not zero, %u poisoned", compared, all, not_zero, poisoned);
}

static void test_reverse_is_forward_smooth(void **state)
{
    (void)state;
    check_reverse(200, true);
}

static void test_reverse_is_forward_any(void **state)
{
    (void)state;
    check_reverse(200, false);
}

static void test_second_derivatives_commute(void **state)
{
    (void)state;
    enum { N = JUNGLE_INPUTS };
    uint32_t compared = 0, all = 0, not_zero = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        Jungle j;
        jungle_grow(&j, seed, 60, true);
        double in[N], out[N * N], noise[N * N];
        random_inputs(&j, in);
        for (uint32_t i = N; i < j.count; i += 4) {
            Expr gradient[N], d[N * N];
            const Expr f = mixture(&j, i);
            tr_gradient(f, j.inputs, N, gradient);
            tr_dense_jacobian(j.system->graph, gradient, N, j.inputs, N, d);
            Machine m = machine_new(j.system, d, N * N);
            run(&m, in, out);
            noise_of(&m, N * N, in, noise);
            machine_free(&m);
            for (uint32_t k = 0; k < N * N; k++, all++) {
                const double a = out[k], b = out[k % N * N + k / N];
                const double size = fmax(1, fabs(a)), blur = noise[k] + noise[k % N * N + k / N];
                if (!isfinite(a) || !(blur < 1e-8 * size)) continue;
                compared++;
                not_zero += k / N != k % N && a != 0;
                if (!is_below(fabs(a - b), 100 * blur + 1e-11 * size))
                    fail_msg("seed %u, plant %u: %.17g and %.17g", (unsigned)seed, i, a, b);
            }
        }
        jungle_free(&j);
    }
    if (compared < all / 2 || not_zero < all / 20)
        fail_msg("%u of %u compared, %u not zero", compared, all, not_zero);
}

// ---- Jacobians -----------------------------------------------------------------------------

// The sparse list holds what the dense array holds, by rows; both agree with single derivatives.
static void check_jacobian(Jungle *j, const Expr *of, uint32_t rows, uint32_t columns)
{
    Graph *g = j->system->graph;
    Expr dense[64], single[64];
    double in[JUNGLE_INPUTS], out[2 * 64], noise[64];
    assert_true(rows * columns <= 64);
    assert_true(tr_dense_jacobian(g, of, rows, j->inputs, columns, dense));
    size_t count = 99, found = 0;
    const tr_entry *e = tr_jacobian(j->system, of, rows, j->inputs, columns, &count);
    assert_non_null(e);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t k = 0; k < columns; k++) {
            single[i * columns + k] = tr_derivative(of[i], j->inputs[k]);
            if (is_zero(dense[i * columns + k])) continue;
            assert_true(found < count);
            assert_true(e[found].row == i && e[found].column == k);
            assert_int_equal(e[found++].value.id, dense[i * columns + k].id);
        }
    assert_int_equal(found, count);
    random_inputs(j, in);
    Machine m = machine_new(j->system, single, (size_t)rows * columns);
    run(&m, in, out);
    noise_of(&m, (size_t)rows * columns, in, noise);
    machine_free(&m);
    values_at(j->system, dense, (size_t)rows * columns, in, out + 64);
    for (uint32_t k = 0; k < rows * columns; k++)
        if (isfinite(out[k]) &&
            !is_below(fabs(out[k] - out[64 + k]), 100 * noise[k] + 1e-11 * fmax(1, fabs(out[k]))))
            fail_msg("entry %u of %u x %u: %.17g, single %.17g", k, rows, columns, out[64 + k],
                     out[k]);
}

static void test_jacobian_shapes(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{1, 1}, {1, 5},  {3, 5},  {4, 4},
                                         {5, 5}, {12, 5}, {12, 1}, {2, 3}};
    for (uint64_t seed = 1; seed <= 30; seed++) {
        Jungle j;
        jungle_grow(&j, seed, 40, seed % 2);
        Expr of[12];
        for (uint32_t i = 0; i < 12; i++) of[i] = j.plants[j.count - 1 - i].expr;
        of[2] = zero(j.system->graph); // an empty row
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            check_jacobian(&j, of, shapes[s][0], shapes[s][1]);
        jungle_free(&j);
    }
}

// Few rows are differentiated in reverse, few columns forward: the nodes are those of that sweep.
static void test_jacobian_direction(void **state)
{
    (void)state;
    enum { N = JUNGLE_INPUTS };
    Jungle j;
    jungle_grow(&j, 1, 0, true);
    Graph *g = j.system->graph;
    const char *const text = "sin(p*q)*exp(r*s/(2 + u*u))*sqrt(1 + p*p*q)";
    Expr of[2 * N], dense[2 * N * N], reverse[N], forward[2 * N];
    for (uint32_t i = 0; i < 2 * N; i++)
        of[i] = mul(formula(j.system, text), add(number(g, 1 + i), j.inputs[i % N]));
    assert_true(tr_dense_jacobian(g, of, 2, j.inputs, N, dense));
    tr_reverse(g, of[1], j.inputs, N, reverse);
    for (int k = 0; k < N; k++) assert_int_equal(dense[N + k].id, reverse[k].id);
    assert_int_not_equal(tr_derivative(of[1], j.inputs[0]).id, reverse[0].id); // there is a choice
    assert_true(tr_dense_jacobian(g, of, 2 * N, j.inputs, N, dense));
    const Expr unit = one(g);
    for (size_t k = 0; k < N; k++) {
        tr_forward(g, of, 2 * N, &j.inputs[k], &unit, 1, forward);
        for (size_t i = 0; i < 2 * N; i++) assert_int_equal(dense[i * N + k].id, forward[i].id);
    }
    jungle_free(&j);
}

static void test_jacobian_is_sparse(void **state)
{
    (void)state;
    Jungle j;
    jungle_grow(&j, 1, 0, true);
    const Expr of[] = {formula(j.system, "p*q"), formula(j.system, "7"),
                       formula(j.system, "s - floor(p)"), formula(j.system, "sin(r)*u")};
    static const uint32_t wanted[][2] = {{0, 0}, {0, 1}, {2, 3}, {3, 2}, {3, 4}};
    size_t count;
    const tr_entry *e = tr_jacobian(j.system, of, 4, j.inputs, JUNGLE_INPUTS, &count);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(e[i].row == wanted[i][0] && e[i].column == wanted[i][1]);
    assert_int_equal(e[1].value.id, j.inputs[0].id);
    e = tr_jacobian(j.system, of + 1, 1, j.inputs, JUNGLE_INPUTS, &count);
    assert_true(e && count == 0);
    e = tr_jacobian(j.system, of, 0, j.inputs, JUNGLE_INPUTS, &count);
    assert_true(e && count == 0);
    jungle_free(&j);
}

// ---- along a motion ------------------------------------------------------------------------

// q = A sin(w t + c), v = q', u = t^3; p is a parameter.
enum { T, Q, V, U, P, W, MOTION };

static System *motion(Expr *x)
{
    tr_error err = {0};
    System *s = tr_system_new(&err);
    x[T] = tr_input(s, "t", TR_TIME, 0, &err);
    x[Q] = tr_input(s, "q", TR_POSITION, 0, &err);
    x[V] = tr_input(s, "v", TR_VELOCITY, 0, &err);
    x[U] = tr_input(s, "u", TR_INPUT, 0, &err);
    x[P] = tr_input(s, "p", TR_PARAMETER, 0, &err);
    x[W] = tr_input(s, "w", TR_PARAMETER, 0, &err);
    tr_rate_set(s, x[Q], x[V], &err);
    tr_rate_set(s, x[V], tr_formula(s, "-w^2*q", &err), &err);
    tr_rate_set(s, x[U], tr_formula(s, "3*t^2", &err), &err);
    assert_int_equal(err.status, TR_OK);
    return s;
}

static void motion_at(double t, double *in)
{
    const double A = 0.7, w = 1.3, c = 0.4;
    in[T] = t;
    in[Q] = A * sin(w * t + c);
    in[V] = A * w * cos(w * t + c);
    in[U] = t * t * t;
    in[P] = 1.7;
    in[W] = w;
}

static const char *const along[] = {"t",
                                    "q",
                                    "v",
                                    "u",
                                    "p*w",
                                    "t^3 - 2*t",
                                    "q^2*v*sin(t) + u*q + p*v^3",
                                    "atan2(v, 2 + q*q)*exp(-t)",
                                    "if(t < 100, sqrt(3 + q)*u, 1/(t - t))",
                                    "p*w*q/(1 + v^2)",
                                    "sin(p*t)*cos(w*t) + t*q*v*u"};

static void test_time_derivative_along_a_motion(void **state)
{
    (void)state;
    Expr x[MOTION];
    System *s = motion(x);
    for (size_t i = 0; i < sizeof along / sizeof *along; i++) {
        tr_error err = {0};
        const Expr f = formula(s, along[i]);
        const Expr first = tr_time_derivative(s, f, &err),
                   second = tr_time_derivative(s, first, &err);
        assert_int_equal(err.status, TR_OK);
        const Expr of[] = {f, first, second};
        Machine m = machine_new(s, of, 3);
        for (double t = -1; t < 2; t += 0.37) {
            double in[MOTION], up[3], down[3], here[3], central[2][LEVELS];
            for (int level = 0; level < LEVELS; level++) {
                const double h = ldexp(0.05, -level);
                motion_at(t + h, in);
                run(&m, in, up);
                motion_at(t - h, in);
                run(&m, in, down);
                for (int k = 0; k < 2; k++) central[k][level] = (up[k] - down[k]) / (2 * h);
            }
            motion_at(t, in);
            run(&m, in, here);
            for (int k = 0; k < 2; k++)
                if (!is_close(here[k + 1], extrapolated(central[k], NULL), 1e-9))
                    fail_msg("d/dt %s, %d: %.17g, difference %.17g", along[i], k + 1, here[k + 1],
                             extrapolated(central[k], NULL));
        }
        machine_free(&m);
    }
    tr_system_free(s);
}

// It is the directional derivative with the rates, and what d(...) means in formulas.
static void test_time_derivative_is_directional(void **state)
{
    (void)state;
    Expr x[MOTION];
    System *s = motion(x);
    const Expr rates[MOTION] = {formula(s, "1"),      x[V],
                                formula(s, "-w^2*q"), formula(s, "3*t^2"),
                                formula(s, "0"),      formula(s, "0")};
    for (size_t i = 0; i < sizeof along / sizeof *along; i++) {
        const Expr f = formula(s, along[i]), dt = tr_time_derivative(s, f, NULL);
        char text[100];
        snprintf(text, sizeof text, "d(%s)", along[i]);
        assert_int_equal(dt.id, tr_directional(f, x, rates, MOTION).id);
        assert_int_equal(dt.id, formula(s, text).id);
    }
    assert_true(is_one(tr_time_derivative(s, x[T], NULL)));
    assert_int_equal(tr_time_derivative(s, x[Q], NULL).id, x[V].id);
    assert_true(is_zero(tr_time_derivative(s, x[P], NULL)));
    tr_system_free(s);
}

// ---- structure -----------------------------------------------------------------------------

static void test_derivatives_of_what_does_not_occur(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        Jungle j;
        jungle_grow(&j, seed, 60, false);
        const Expr late = tr_input(j.system, "late", TR_POSITION, 0, NULL);
        const Expr inputs[2] = {j.inputs[0], late};
        for (uint32_t i = 0; i < j.count; i++) {
            Expr d[2];
            assert_true(is_zero(tr_derivative(j.plants[i].expr, late)));
            tr_gradient(j.plants[i].expr, inputs, 2, d);
            assert_true(is_zero(d[1]));
        }
        const Expr x = mul(late, late);
        assert_int_equal(tr_derivative(x, late).id, formula(j.system, "2*late").id);
        jungle_free(&j);
    }
}

// sum x_k x_(k+1): the gradient costs a few nodes per term, forward or reverse.
static void test_gradient_of_a_long_sum(void **state)
{
    (void)state;
    enum { TERMS = 10000 };
    System *s = tr_system_new(NULL);
    Expr *x = malloc((TERMS + 1) * sizeof *x), *d = malloc((TERMS + 1) * sizeof *d);
    assert_true(x && d);
    for (int k = 0; k <= TERMS; k++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", k);
        x[k] = tr_input(s, name, TR_POSITION, 0, NULL);
    }
    Expr sum = zero(s->graph);
    for (int k = 0; k < TERMS; k++) sum = add(sum, mul(e_sin(x[k]), x[k + 1]));
    const uint32_t before = s->graph->count;
    tr_gradient(sum, x, TERMS + 1, d);
    const uint32_t grown = s->graph->count - before;
    if (grown > 4 * TERMS) fail_msg("%u nodes for %d terms", grown, TERMS);
    for (int k = 1; k < TERMS; k++)
        assert_int_equal(d[k].id, add(e_sin(x[k - 1]), mul(x[k + 1], e_cos(x[k]))).id);
    assert_int_equal(d[TERMS].id, e_sin(x[TERMS - 1]).id);
    free(x);
    free(d);
    tr_system_free(s);
}

// x_(k+1) = sin(x_k) x_k: sharing keeps the derivative linear where the text would be exponential.
static void test_derivative_of_a_deep_chain(void **state)
{
    (void)state;
    enum { DEPTH = 2000 };
    Jungle j;
    jungle_grow(&j, 1, 0, true);
    Expr x = j.inputs[0];
    for (int k = 0; k < DEPTH; k++) x = mul(e_sin(x), x);
    Graph *g = j.system->graph;
    const uint32_t before = g->count;
    const Expr forward = tr_derivative(x, j.inputs[0]);
    const uint32_t middle = g->count;
    Expr reverse;
    tr_reverse(g, x, j.inputs, 1, &reverse);
    if (middle - before > 5 * DEPTH || g->count - middle > 5 * DEPTH)
        fail_msg("%u nodes forward, %u in reverse", middle - before, g->count - middle);
    const uint32_t after = g->count; // adjoints go only where the inputs are
    Expr of_q[2];
    tr_reverse(g, mul(j.inputs[1], x), j.inputs + 1, 2, of_q);
    assert_true(same(of_q[0], x) && is_zero(of_q[1]) && g->count - after < 5);
    double in[JUNGLE_INPUTS] = {1.5}, y = in[0], slope = 1;
    for (int k = 0; k < DEPTH; k++) {
        slope *= sin(y) + y * cos(y);
        y *= sin(y);
    }
    assert_close(value_at(j.system, forward, in), slope, 1e-12);
    assert_close(value_at(j.system, reverse, in), slope, 1e-12);
    jungle_free(&j);
}

// A failed expression, or a failed change, gives a failed derivative and not zero.
static void test_failed_stays_failed(void **state)
{
    (void)state;
    Jungle j;
    jungle_grow(&j, 1, 0, true);
    Graph *g = j.system->graph;
    const Expr x = j.inputs[0], bad = tr_pow(x, 1001), of[] = {x, bad, x};
    assert_int_equal(bad.id, 0);
    assert_int_equal(tr_derivative(bad, x).id, 0);
    assert_int_equal(tr_derivative(x, bad).id, 0);
    assert_int_equal(tr_directional(x, &x, &bad, 1).id, 0);
    assert_int_equal(tr_directional(x, of, of + 1, 1).id, 0);
    assert_int_equal(tr_time_derivative(j.system, bad, NULL).id, 0);
    Expr d[6];
    tr_gradient(bad, j.inputs, 2, d);
    assert_true(!d[0].id && !d[1].id);
    tr_gradient(x, of, 2, d); // an input that is none
    assert_true(!d[0].id && !d[1].id);
    for (size_t columns = 1; columns <= 5; columns += 4) { // forward, then reverse
        Expr dense[15];
        assert_true(tr_dense_jacobian(g, of, 3, j.inputs, columns, dense));
        for (size_t k = 0; k < columns; k++) {
            assert_true(dense[k].id == (k ? zero(g).id : one(g).id));
            assert_int_equal(dense[columns + k].id, 0);
        }
    }
    const Expr f = formula(j.system, "sin(p)");
    assert_int_equal(tr_replace(f, &x, &bad, 1).id, 0);
    assert_int_equal(tr_replace(bad, &bad, &x, 1).id, 0);
    assert_false(g->failed);
    jungle_free(&j);
}

// Powers keep their exponent, so their slope at 0 is a number where there is one.
static void test_powers_at_zero(void **state)
{
    (void)state;
    static const struct {
        const char *formula;
        double slope;
    } rows[] = {{"max(0, p)^1.5", 0}, {"abs(p)^1.5", 0},  {"p^2.5", 0},
                {"p^1.7", 0},         {"max(0, p)^3", 0}, {"p^q", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Jungle j;
        jungle_grow(&j, 1, 0, true);
        tr_error err = {0};
        const Expr slope = tr_derivative(tr_formula(j.system, rows[i].formula, &err), j.inputs[0]);
        tr_output(j.system, "slope", &slope, 1, 1, &err);
        tr_program *p = tr_compile(j.system, "slope", NULL, &err);
        tr_workspace *w = tr_workspace_new(p, &err);
        const double in[JUNGLE_INPUTS] = {0, 1.3};
        double value = (double)NAN;
        tr_evaluate(p, w, in, &value);
        if (value != rows[i].slope) fail_msg("the slope of %s at 0 is %g", rows[i].formula, value);
        tr_workspace_free(w);
        tr_program_free(p);
        jungle_free(&j);
    }
}

static void test_a_symbol_named_twice_changes_twice(void **state)
{
    (void)state;
    Jungle j;
    jungle_grow(&j, 1, 0, true);
    const Expr p = j.inputs[0], unit = tr_constant(j.system, 1);
    const Expr symbols[] = {p, p}, changes[] = {unit, unit};
    double value;
    assert_true(tr_is_constant(
        tr_directional(tr_formula(j.system, "3*p", NULL), symbols, changes, 2), &value));
    assert_close(value, 6, 0);
    jungle_free(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_powers_at_zero),
        cmocka_unit_test(test_a_symbol_named_twice_changes_twice),
        cmocka_unit_test(test_directional_against_differences),
        cmocka_unit_test(test_reverse_is_forward_smooth),
        cmocka_unit_test(test_reverse_is_forward_any),
        cmocka_unit_test(test_second_derivatives_commute),
        cmocka_unit_test(test_jacobian_shapes),
        cmocka_unit_test(test_jacobian_direction),
        cmocka_unit_test(test_jacobian_is_sparse),
        cmocka_unit_test(test_time_derivative_along_a_motion),
        cmocka_unit_test(test_time_derivative_is_directional),
        cmocka_unit_test(test_derivatives_of_what_does_not_occur),
        cmocka_unit_test(test_gradient_of_a_long_sum),
        cmocka_unit_test(test_derivative_of_a_deep_chain),
        cmocka_unit_test(test_failed_stays_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
