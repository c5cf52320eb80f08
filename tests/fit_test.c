// SPDX-License-Identifier: Apache-2.0
// Fits: straight lines in closed form; logs that were made up, with known noise, a hundred of each:
// how far what is found is from the truth, against the deviation that it is said to have; what data
// cannot tell; and what is refused.
#include "fit/fit.h"

#include "base/json.h"
#include "gauss.h"
#include "num/triangle.h"
#include "runs.h"

// ---- logs ----------------------------------------------------------------------------------

static double gauss_number(Random *r)
{
    const double u = random_between(r, 1e-300, 1), v = random_between(r, 0, 1);
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

static const char *write_file(const char *name, const char *text)
{
    tr_error err = {0};
    const char *path = in_folder(name);
    if (!tr_write_text(path, text, &err)) fail_msg("%s", err.text);
    return path;
}

// What a fit says; the caller frees it
static const tr_fit *fitted(const tr_model *model, const tr_derive_options *how,
                            const tr_fit_options *o)
{
    tr_error err = {0};
    const tr_fit *fit = tr_fit_find(model, how, o, &err);
    if (!fit) fail_msg("%d:%d: %s", err.line, err.column, err.text);
    return fit;
}

static const tr_fit_value *value_called(const tr_fit *fit, const char *name)
{
    for (size_t k = 0; k < fit->count; k++)
        if (strcmp(fit->values[k].name, name) == 0) return &fit->values[k];
    fail_msg("nothing is called %s", name);
    return NULL;
}

// ---- straight lines ------------------------------------------------------------------------

// x = x0 + v0 t
static const char line[] = "trundle: 1\n"
                           "parameters: {a: 1, b: 1, idle: 3}\n"
                           "inputs: {u: 0}\n"
                           "bodies:\n"
                           "  car:\n"
                           "    joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}\n"
                           "    mass: 2\n"
                           "initial: {x: 0, d(x): 1}\n"
                           "outputs: {twice: 2*x, sum: a + b, product: a*b, quotient: a/b,\n"
                           "          difference: a - b}\n";

static const double times[] = {0, 0.5, 0.75, 2, 3, 3.125, 4.5, 6},
                    places[] = {0.32, 1.21, 1.9, 4.3, 6.05, 6.6, 9.4, 12.2};
enum { PLACES = sizeof times / sizeof *times };

// Rows `from` to `to` of these, with times in a column of this name
static const char *write_line(const char *name, const char *time, int from, int to)
{
    Buffer text = {0};
    tr_buffer_print(&text, "%s,nobody,x\n", time);
    for (int i = from; i < to; i++) {
        tr_buffer_number(&text, times[i]);
        tr_buffer_print(&text, ",7,");
        tr_buffer_number(&text, places[i]);
        tr_buffer_print(&text, "\n");
    }
    const char *path = write_file(name, text.at);
    tr_buffer_free(&text);
    return path;
}

// The line through the places, weights 1/sd^2, with a prior of v0 unless its deviation is 0:
// values, covariance and the sum of squares that is left
typedef struct Line {
    double x0, v0, C[3], squares; // C: of x0, both, v0
} Line;

static Line regress(double sd, double prior, double prior_sd)
{
    const double w = 1 / (sd * sd), p = prior_sd > 0 ? 1 / (prior_sd * prior_sd) : 0;
    double n = 0, t = 0, tt = p, x = 0, tx = p * prior;
    for (int i = 0; i < PLACES; i++) {
        n += w, t += w * times[i], tt += w * times[i] * times[i];
        x += w * places[i], tx += w * times[i] * places[i];
    }
    const double det = n * tt - t * t;
    Line l = {.x0 = (x * tt - t * tx) / det, .v0 = (n * tx - t * x) / det};
    l.C[0] = tt / det, l.C[1] = -t / det, l.C[2] = n / det;
    for (int i = 0; i < PLACES; i++) {
        const double left = places[i] - l.x0 - l.v0 * times[i];
        l.squares += left * left;
    }
    return l;
}

static void assert_line(const tr_fit *fit, const Line *l)
{
    const tr_fit_value *x0 = value_called(fit, "initial.x"),
                       *v0 = value_called(fit, "initial.d(x)");
    assert_close(x0->value, l->x0, 1e-9);
    assert_close(v0->value, l->v0, 1e-9);
    assert_close(x0->sd / sqrt(l->C[0]), 1, 1e-8);
    assert_close(v0->sd / sqrt(l->C[2]), 1, 1e-8);
    assert_close(fit->covariance[1] / l->C[1], 1, 1e-8);
    assert_true(fit->covariance[1] == fit->covariance[2]);
}

static void test_line(void **state)
{
    (void)state;
    tr_model *model = model_from(line);
    const char *data = write_line("line.csv", "t", 0, PLACES);
    const char *const sds[] = {"x=0.2"}, *const priors[] = {"initial.d(x)=1.5~0.05"};
    tr_fit_options o = tr_fit_defaults();
    o.data = &data, o.data_count = 1, o.free = "initial.x, d(x)";
    o.sds = sds, o.sd_count = 1;
    const tr_fit *fit = fitted(model, NULL, &o);
    Line l = regress(0.2, 0, 0);
    assert_line(fit, &l);
    assert_close(fit->chi_square, l.squares / 0.04, 1e-9);
    assert_true(fit->freedom == PLACES - 2 && fit->point_count == PLACES);
    assert_int_equal(fit->column_count, 1); // nobody is not used
    assert_true(fit->columns[0].is_given);
    assert_close(fit->columns[0].rms, sqrt(l.squares / PLACES), 1e-9);
    for (int i = 0; i < PLACES; i++)
        assert_close(fit->points[i].left, places[i] - l.x0 - l.v0 * times[i], 1e-9);
    tr_fit_free(fit);

    o.priors = priors, o.prior_count = 1;
    fit = fitted(model, NULL, &o);
    l = regress(0.2, 1.5, 0.05);
    assert_line(fit, &l);
    assert_close(fit->chi_square, l.squares / 0.04 + pow((1.5 - l.v0) / 0.05, 2), 1e-9);
    assert_true(fit->freedom == PLACES - 1);
    tr_fit_free(fit);
    tr_model_free(model);
}

// The deviation that is found is that of what is left, with as many degrees of freedom taken off
static void test_deviation(void **state)
{
    (void)state;
    tr_model *model = model_from(line);
    const char *data = write_line("line.csv", "t", 0, PLACES);
    tr_fit_options o = tr_fit_defaults();
    o.data = &data, o.data_count = 1, o.free = "x,d(x)";
    const tr_fit *fit = fitted(model, NULL, &o);
    const double sd = sqrt(regress(1, 0, 0).squares / (PLACES - 2));
    const Line l = regress(sd, 0, 0);
    assert_line(fit, &l);
    assert_close(fit->columns[0].sd / sd, 1, 1e-8);
    assert_false(fit->columns[0].is_given);
    tr_fit_free(fit);
    tr_model_free(model);
}

// Two recordings are as good as one; times may be called otherwise, and some may be left out
static void test_recordings(void **state)
{
    (void)state;
    tr_model *model = model_from(line);
    const char *const data[] = {write_line("late.csv", "clock", 4, PLACES),
                                write_line("early.csv", "clock", 0, 4)};
    const char *all = write_line("line.csv", "t", 0, PLACES);
    tr_fit_options o = tr_fit_defaults();
    o.data = data, o.data_count = 2, o.free = "x,d(x)", o.time = "clock";
    const tr_fit *two = fitted(model, NULL, &o);
    o.data = &all, o.data_count = 1, o.time = NULL;
    const tr_fit *one = fitted(model, NULL, &o);
    assert_true(two->values[1].value == one->values[1].value);
    assert_true(two->recording_count == 2 && two->points[0].recording == 1);
    o.from = 0.6, o.to = 4.5;
    const tr_fit *part = fitted(model, NULL, &o);
    assert_true(part->point_count == 5 && part->points[0].t == 0.75 && part->points[4].t == 4.5);
    tr_fit_free(one);
    tr_fit_free(two);
    tr_fit_free(part);
    tr_model_free(model);
}

// What a column is may be any formula of the model's names
static void test_match(void **state)
{
    (void)state;
    tr_model *model = model_from(line);
    const char *data = write_line("line.csv", "t", 0, PLACES);
    const char *const matches[] = {"nobody=3*a + car.x - x", "x=x + 0"};
    const char *const sds[] = {"nobody=0.5", "x=0.2"};
    tr_fit_options o = tr_fit_defaults();
    o.data = &data, o.data_count = 1, o.free = "x,d(x),a";
    o.matches = matches, o.match_count = 2, o.sds = sds, o.sd_count = 2;
    const tr_fit *fit = fitted(model, NULL, &o);
    const Line l = regress(0.2, 0, 0);
    assert_close(value_called(fit, "a")->value, 7.0 / 3, 1e-12);
    assert_close(value_called(fit, "a")->sd, 0.5 / 3 / sqrt(PLACES), 1e-12);
    assert_close(value_called(fit, "initial.x")->value, l.x0, 1e-9);
    assert_string_equal(fit->columns[0].name, "nobody");
    assert_string_equal(fit->columns[0].of, "3*a + car.x - x");
    tr_fit_free(fit);
    tr_model_free(model);
}

// ---- ranges --------------------------------------------------------------------------------

// x = a + b t + c t^2/2
#define PARABOLA                                                       \
    "bodies:\n"                                                        \
    "  car:\n"                                                         \
    "    joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}\n" \
    "    mass: 1\n"                                                    \
    "forces: {f: {body: car, force: \"c, 0, 0\"}}\n"                   \
    "initial: {x: a, d(x): b}\n"

enum { BOXED = 3 };
typedef struct Boxed {
    double p[BOXED], sd[BOXED], least[BOXED], most[BOXED];
    int held[BOXED];
    double squares;
} Boxed;

static void slopes_at(double t, double row[BOXED]) { row[0] = 1, row[1] = t, row[2] = t * t / 2; }

// The least squares of what is open, with the others where they are held: normal equations
static void solve_open(Boxed *b, const double *z, double sd)
{
    double A[BOXED * BOXED] = {0}, v[BOXED] = {0}, row[BOXED], inverse[BOXED][BOXED];
    for (int i = 0; i < PLACES; i++) {
        slopes_at(times[i], row);
        double left = z[i];
        for (int k = 0; k < BOXED; k++)
            if (b->held[k]) left -= row[k] * b->p[k], row[k] = 0;
        for (int k = 0; k < BOXED; k++) {
            v[k] += row[k] * left;
            for (int l = 0; l < BOXED; l++) A[k * BOXED + l] += row[k] * row[l];
        }
    }
    for (int k = 0; k < BOXED; k++)
        if (b->held[k]) A[k * BOXED + k] = 1, v[k] = b->p[k];
    for (int l = 0; l < BOXED; l++) {
        double copy[BOXED * BOXED];
        memcpy(copy, A, sizeof A);
        for (int k = 0; k < BOXED; k++) inverse[l][k] = k == l;
        gauss(BOXED, BOXED, copy, inverse[l]);
    }
    gauss(BOXED, BOXED, A, v);
    for (int k = 0; k < BOXED; k++) {
        b->sd[k] = b->held[k] ? 0 : sd * sqrt(inverse[k][k]);
        b->p[k] = v[k];
    }
    b->squares = 0;
    for (int i = 0; i < PLACES; i++) {
        slopes_at(times[i], row);
        double left = z[i];
        for (int k = 0; k < BOXED; k++) left -= row[k] * b->p[k];
        b->squares += left * left;
    }
}

// Of all ways to hold some at their bounds, the best that is within them: the sum of squares is
// convex, so it is the least there is.
static Boxed best_within(Boxed b, const double *z, double sd)
{
    Boxed best = b;
    best.squares = (double)INFINITY;
    for (int way = 0; way < 27; way++) {
        bool within = true;
        for (int k = 0, w = way; k < BOXED; k++, w /= 3) {
            b.held[k] = w % 3 == 2 ? -1 : w % 3;
            b.p[k] = b.held[k] < 0 ? b.least[k] : b.most[k];
        }
        solve_open(&b, z, sd);
        for (int k = 0; k < BOXED; k++)
            within = within && (b.held[k] || (b.p[k] > b.least[k] && b.p[k] < b.most[k]));
        if (within && b.squares < best.squares) best = b;
    }
    return best;
}

static const tr_fit *fit_boxed(const Boxed *b, const double *start, const double *z,
                               const char *const *sds)
{
    Buffer text = {0}, model = {0};
    tr_buffer_print(&text, "t,x\n");
    for (int i = 0; i < PLACES; i++) {
        tr_buffer_number(&text, times[i]);
        tr_buffer_print(&text, ",");
        tr_buffer_number(&text, z[i]);
        tr_buffer_print(&text, "\n");
    }
    tr_buffer_print(&model, "trundle: 1\nparameters:\n");
    for (int k = 0; k < BOXED; k++) {
        tr_buffer_print(&model, "  %c: {value: ", 'a' + k);
        tr_buffer_number(&model, start[k]);
        tr_buffer_print(&model, ", min: ");
        tr_buffer_number(&model, b->least[k]);
        tr_buffer_print(&model, ", max: ");
        tr_buffer_number(&model, b->most[k]);
        tr_buffer_print(&model, "}\n");
    }
    tr_buffer_print(&model, PARABOLA);
    const char *data = write_file("boxed.csv", text.at);
    tr_model *made = model_from(model.at);
    tr_fit_options o = tr_fit_defaults();
    o.data = &data, o.data_count = 1, o.free = "a,b,c", o.sds = sds, o.sd_count = sds != NULL;
    const tr_fit *fit = fitted(made, NULL, &o);
    tr_model_free(made);
    tr_buffer_free(&text);
    tr_buffer_free(&model);
    return fit;
}

static int assert_boxed(const tr_fit *fit, const Boxed *best)
{
    int held = 0;
    for (int k = 0; k < BOXED; k++) {
        const tr_fit_value *v = &fit->values[k];
        assert_int_equal(fit->held[k], best->held[k]);
        assert_close(v->value, best->p[k], 1e-7);
        if (best->held[k]) {
            held++;
            assert_true(v->value == (best->held[k] < 0 ? best->least[k] : best->most[k]));
            assert_true(v->sd == 0);
        } else
            assert_close(v->sd / best->sd[k], 1, 1e-7);
    }
    assert_true(fit->freedom == PLACES - BOXED + held);
    return held;
}

// 60 boxes around and beside what the data want: the search ends at the best place within
static void test_boxes(void **state)
{
    (void)state;
    static const char *const sds[] = {"x=0.3"};
    Random r = {77};
    int counts[BOXED + 1] = {0};
    for (int i = 0; i < 60; i++) {
        double z[PLACES], start[BOXED];
        Boxed box;
        for (int k = 0; k < PLACES; k++)
            z[k] = 0.4 + 1.1 * times[k] - 0.2 * times[k] * times[k] + 0.3 * gauss_number(&r);
        for (int k = 0; k < BOXED; k++) {
            static const double truth[] = {0.4, 1.1, -0.4};
            const double middle = truth[k] + random_between(&r, -0.6, 0.6);
            box.least[k] = middle - random_between(&r, 0.1, 0.8);
            box.most[k] = middle + random_between(&r, 0.1, 0.8);
            start[k] =
                chance(&r, 0.2) ? box.least[k] : random_between(&r, box.least[k], box.most[k]);
        }
        const Boxed best = best_within(box, z, 0.3);
        const tr_fit *fit = fit_boxed(&box, start, z, sds);
        counts[assert_boxed(fit, &best)]++;
        assert_close(fit->chi_square, best.squares / 0.09, 1e-7 * (1 + best.squares / 0.09));
        tr_fit_free(fit);
    }
    for (int k = 0; k <= BOXED; k++) assert_true(counts[k] > 0); // of each kind some
}

// A deviation that is found has the degrees of freedom that are left, and words and keys tell what
// is held.
static void test_held(void **state)
{
    (void)state;
    tr_error err = {0};
    const double none[] = {-9, -9, -9}, start[] = {0, 1, 0};
    Boxed box;
    memcpy(box.most, (const double[]){9, 1.5, 9}, sizeof box.most);
    memcpy(box.least, none, sizeof none);
    double sd = 1;
    Boxed best = best_within(box, places, sd);
    assert_int_equal(best.held[1], 1);
    sd = sqrt(best.squares / (PLACES - 2));
    best = best_within(box, places, sd);
    const tr_fit *fit = fit_boxed(&box, start, places, NULL);
    assert_int_equal(assert_boxed(fit, &best), 1);
    assert_close(fit->columns[0].sd / sd, 1, 1e-7);
    assert_int_equal(fit->untold_count, 0);
    char *words = tr_fit_text(fit, false, &err), *json = tr_fit_text(fit, true, &err),
         *keys = tr_fit_fragment(fit, &err);
    assert_says(words, "found    b 1.5, its max: the data would have it beyond; it was 1\n");
    assert_says(words, "alike    c: a ");
    assert_null(strstr(words, "b 0\n"));
    assert_says(json, "\"held\": \"max\"");
    assert_says(keys, "  b: 1.5  # its max\n");
    tr_text_free(words), tr_text_free(json), tr_text_free(keys);
    tr_fit_free(fit);
}

// Bounds that are far away change no bit.
static void test_wide_box(void **state)
{
    (void)state;
    const double start[] = {0, 1, 0};
    Boxed wide;
    for (int k = 0; k < BOXED; k++) wide.least[k] = -1e9, wide.most[k] = 1e9;
    const tr_fit *bounded = fit_boxed(&wide, start, places, NULL);
    tr_model *model = model_from("trundle: 1\nparameters: {a: 0, b: 1, c: 0}\n" PARABOLA);
    const char *data = write_line("line.csv", "t", 0, PLACES);
    tr_fit_options o = tr_fit_defaults();
    o.data = &data, o.data_count = 1, o.free = "a,b,c";
    const tr_fit *open = fitted(model, NULL, &o);
    for (int k = 0; k < BOXED; k++) {
        assert_true(same_bits(bounded->values[k].value, open->values[k].value));
        assert_true(same_bits(bounded->values[k].sd, open->values[k].sd));
        assert_int_equal(open->held[k], 0);
    }
    assert_int_equal(bounded->runs, open->runs);
    tr_fit_free(open);
    tr_fit_free(bounded);
    tr_model_free(model);
}

// A bound may follow from what is not free; of one that does not, and of what follows from what is
// free, runs tell.
static void test_bounds_that_follow(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_model *model = model_from("trundle: 1\nparameters:\n"
                                 "  a: 0\n"
                                 "  b: {value: 1, max: 0.5*top + 0.25, unit: m/s}\n"
                                 "  c: 0\n"
                                 "  top: 2.5\n"
                                 "  speed: {value: 10*b, max: 30}\n" PARABOLA);
    const char *data = write_line("line.csv", "t", 0, PLACES);
    tr_fit_options o = tr_fit_defaults();
    o.data = &data, o.data_count = 1, o.free = "a,b,c";
    const tr_fit *fit = fitted(model, NULL, &o);
    assert_int_equal(fit->held[1], 1);
    assert_true(fit->values[1].value == 1.5);
    char *words = tr_fit_text(fit, false, &err);
    assert_says(words, "found    b 1.5 m/s, its max: ");
    tr_text_free(words);
    tr_fit_free(fit);
    change(model, "parameters/speed/max", "15");
    change(model, "parameters/b/max", "9");
    assert_null(tr_fit_find(model, NULL, &o, &err));
    assert_says(err.text,
                "no step from here brings the run nearer to the data: the parameter 'speed' is ");
    assert_says(err.text, ", and its range is up to 15, with 'b' = ");
    tr_model_free(model);
}

// ---- what data cannot tell -----------------------------------------------------------------

static void check_untold(const tr_model *model, const char *column, const char *words)
{
    char text[200];
    snprintf(text, sizeof text, "t,%s\n0,2\n1,2.1\n2,1.9\n", column);
    const char *data = write_file("pair.csv", text);
    tr_derive_options how = tr_derive_defaults();
    const tr_setting settings[] = {{"a", "3"}, {"b", "1.5"}};
    how.settings = settings, how.setting_count = 2;
    tr_fit_options o = tr_fit_defaults();
    o.data = &data, o.data_count = 1, o.free = "a,b";
    const tr_fit *fit = fitted(model, &how, &o);
    assert_int_equal(fit->untold_count, 1);
    assert_says(fit->untold[0], words);
    assert_says(fit->untold[0], "'a' and 'b' cannot be told apart");
    assert_true(isinf(fit->values[0].sd) && isinf(fit->values[1].sd));
    assert_true(fit->freedom == 2);
    tr_fit_free(fit);
}

static void test_untold(void **state)
{
    (void)state;
    tr_model *model = model_from(line);
    check_untold(model, "sum", "as 1 : -1; only a + b can be told");
    check_untold(model, "difference", "as 1 : 1; only a - b can be told");
    check_untold(model, "product", "; only a*b can be told");
    check_untold(model, "quotient", "; only a/b can be told");
    tr_model_free(model);
}

// A prior tells what the data cannot: b is what it says, a the rest.
static void test_told_by_prior(void **state)
{
    (void)state;
    tr_model *model = model_from(line);
    const char *data = write_file("pair.csv", "t,sum\n0,2\n1,2.1\n2,1.9\n");
    const char *const priors[] = {"b=0.5~0.1"}, *const sds[] = {"sum=0.3"};
    tr_fit_options o = tr_fit_defaults();
    o.data = &data, o.data_count = 1, o.free = "a,b";
    o.priors = priors, o.prior_count = 1, o.sds = sds, o.sd_count = 1;
    const tr_fit *fit = fitted(model, NULL, &o);
    assert_int_equal(fit->untold_count, 0);
    assert_close(fit->values[0].value, 1.5, 1e-9);
    assert_close(fit->values[1].value, 0.5, 1e-9);
    assert_close(fit->values[0].sd, sqrt(0.03 + 0.01), 1e-9);
    assert_close(fit->covariance[1], -0.01, 1e-9);
    tr_fit_free(fit);
    tr_model_free(model);
}

// Wheels and track by the heading alone, of the robot: their quotient
static void test_robot_by_heading(void **state)
{
    (void)state;
    tr_model *model = model_called("robot_differential");
    const char *data = MODELS_DIR "/robot_differential_seen.csv";
    tr_derive_options how = tr_derive_defaults();
    how.case_name = "log";
    tr_fit_options o = tr_fit_defaults();
    o.data = &data, o.data_count = 1, o.free = "R,b", o.columns = "body.theta";
    const tr_fit *fit = fitted(model, &how, &o);
    assert_int_equal(fit->untold_count, 1);
    assert_says(fit->untold[0], "only R/b can be told");
    tr_fit_free(fit);
    o.columns = NULL;
    fit = fitted(model, &how, &o);
    assert_int_equal(fit->untold_count, 0);
    tr_fit_free(fit);
    tr_model_free(model);
}

// ---- a hundred seeds -----------------------------------------------------------------------

enum { SEEDS = BRIEF ? 3 : 100, MOST_FREE = 4, MOST_NOISY = 6 };

typedef struct Noisy {
    const char *column; // or a formula of the model's names
    double sd;
} Noisy;

typedef struct Trial {
    const char *model, *case_name;
    void (*prepare)(tr_model *model); // or NULL
    double end, every;
    const char *method;
    double step, rtol;
    Noisy noisy[MOST_NOISY];
    struct Truth {
        const char *name;
        double value, start;
    } truth[MOST_FREE];
    bool finds_deviations;
} Trial;

static tr_system *system_for(const Trial *trial, bool is_true)
{
    tr_model *model = model_called(trial->model);
    Number numbers[MOST_FREE];
    size_t count = 0;
    if (trial->prepare) trial->prepare(model);
    for (; count < MOST_FREE && trial->truth[count].name; count++)
        numbers[count] = (Number){trial->truth[count].name,
                                  is_true ? trial->truth[count].value : trial->truth[count].start};
    return system_valued(model, trial->case_name, numbers, count);
}

// Without noise yet, at times that are not even
static const char *write_truth(const Trial *trial)
{
    tr_system *system = system_for(trial, true);
    tr_simulate_options how = tr_simulate_defaults(system);
    how.end = trial->end, how.every = trial->every;
    how.method = trial->method, how.step = trial->step;
    how.rtol = trial->rtol, how.atol = 1e-3 * trial->rtol;
    Sheet *run = simulated(system, how, NULL);
    Buffer text = {0};
    tr_buffer_print(&text, "t");
    for (int c = 0; c < MOST_NOISY && trial->noisy[c].column; c++)
        tr_buffer_print(&text, ",%s", trial->noisy[c].column);
    for (size_t i = 1; i < run->rows; i++) {
        if (i % 5 == 3) continue;
        tr_buffer_print(&text, "\n");
        tr_buffer_number(&text, tr_sheet_column(run, "t")[i]);
        for (int c = 0; c < MOST_NOISY && trial->noisy[c].column; c++) {
            tr_buffer_print(&text, ",");
            tr_buffer_number(&text, tr_sheet_column(run, trial->noisy[c].column)[i]);
        }
    }
    tr_buffer_print(&text, "\n");
    const char *path = write_file("truth.csv", text.at);
    tr_buffer_free(&text);
    tr_sheet_free(run);
    tr_system_free(system);
    return path;
}

typedef struct Hits {
    double squares[MOST_FREE]; // of z, how far what is found is off in deviations
    int within[MOST_FREE];     // 3 of them
} Hits;

static void try_seed(const Trial *trial, Fit *fit, const double *clean, uint64_t seed, Hits *hits)
{
    Random r = {seed * 7919 + 12345};
    tr_error err = {0};
    for (int i = 0; i < 20; i++) random_bits(&r);
    for (size_t i = 0; i < fit->point_count; i++)
        fit->points[i].value = clean[i] + gauss_number(&r) * trial->noisy[fit->points[i].column].sd;
    if (!tr_fit_search(fit, &err)) fail_msg("%s, seed %d: %s", trial->model, (int)seed, err.text);
    assert_int_equal(fit->told.untold_count, 0);
    for (uint32_t k = 0; k < fit->count; k++) {
        const double z = (fit->values[k].value - trial->truth[k].value) / fit->values[k].sd;
        hits->squares[k] += z * z;
        hits->within[k] += fabs(z) <= 3;
    }
}

static void check_truth(const Trial *trial, const Fit *fit)
{
    for (uint32_t k = 0; k < fit->count; k++)
        assert_close(fit->values[k].value / trial->truth[k].value, 1, 1e-6);
}

static void check_hits(const Trial *trial, const Hits *hits)
{
    for (int k = 0; k < MOST_FREE && trial->truth[k].name; k++) {
        const double mean = hits->squares[k] / SEEDS;
        print_message("%s, %s: %d of %d within 3 sd, mean z^2 %.3f\n", trial->model,
                      trial->truth[k].name, hits->within[k], SEEDS, mean);
        assert_true(100 * hits->within[k] >= 97 * SEEDS);
        if (!BRIEF) assert_true(mean >= 0.7 && mean <= 1.3);
    }
}

// Without noise the truth, from afar; with it, from nearby, the truth within the deviations
static void check_trial(const Trial *trial)
{
    char names[200] = "", words[MOST_NOISY][60];
    const char *sds[MOST_NOISY], *data = write_truth(trial);
    tr_error err = {0};
    Hits hits = {0};
    tr_fit_options o = tr_fit_defaults();
    for (int k = 0; k < MOST_FREE && trial->truth[k].name; k++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s,", trial->truth[k].name);
    for (int c = 0; c < MOST_NOISY && trial->noisy[c].column && !trial->finds_deviations; c++) {
        snprintf(words[c], sizeof words[c], "%s=%.17g", trial->noisy[c].column, trial->noisy[c].sd);
        sds[o.sd_count++] = words[c];
    }
    o.data = &data, o.data_count = 1, o.free = names, o.sds = sds;
    o.method = trial->method, o.step = trial->step;
    o.rtol = trial->rtol, o.atol = 1e-3 * trial->rtol;
    Fit *fit = tr_fit_open(system_for(trial, false), &o, &err);
    if (!fit || !tr_fit_search(fit, &err)) fail_msg("%s: %s", trial->model, err.text);
    check_truth(trial, fit);
    double *clean = calloc(fit->point_count, sizeof *clean);
    for (size_t i = 0; i < fit->point_count; i++) clean[i] = fit->points[i].value;
    for (uint32_t k = 0; k < fit->count; k++) fit->values[k].start = 1.002 * trial->truth[k].value;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) try_seed(trial, fit, clean, seed, &hits);
    check_hits(trial, &hits);
    free(clean);
    tr_fit_close(fit);
}

static void test_robot(void **state)
{
    (void)state;
    Trial trial = {.model = "robot_differential",
                   .case_name = "log",
                   .end = 5,
                   .every = 0.1,
                   .method = "rk4",
                   .step = 0.05,
                   .rtol = 1e-8,
                   .noisy = {{"body.x", 0.005}, {"body.y", 0.005}, {"body.theta", 0.01}},
                   .truth = {{"R", 0.0985, 0.1}, {"b", 0.153, 0.15}}};
    check_trial(&trial);
    trial.finds_deviations = true;
    check_trial(&trial);
}

static void two_wheels(tr_model *model)
{
    change(model, "parameters/R_left", "0.1");
    change(model, "parameters/R_right", "0.1");
    change(model, "contacts/left_tyre/radius", "R_left");
    change(model, "contacts/right_tyre/radius", "R_right");
}

// Each wheel has its own radius; where the robot stood at first is not known either
static void test_wheels(void **state)
{
    (void)state;
    const Trial trial = {
        .model = "robot_differential",
        .case_name = "log",
        .prepare = two_wheels,
        .end = 5,
        .every = 0.1,
        .method = "rk4",
        .step = 0.05,
        .rtol = 1e-8,
        .noisy = {{"body.x", 0.005}, {"body.y", 0.005}, {"body.theta", 0.01}},
        .truth = {{"R_left", 0.0985, 0.1}, {"R_right", 0.101, 0.1}, {"b", 0.153, 0.15}}};
    check_trial(&trial);
}

static void load(tr_model *model)
{
    change(model, "parameters/m_load", "0.5");
    change(model, "parameters/x_load", "0.01");
    change(model, "parameters/z_load", "0.1");
    change(model, "bodies/payload/parent", "base");
    change(model, "bodies/payload/mass", "m_load");
    change(model, "bodies/payload/com", "x_load, 0, z_load");
}

static void test_payload(void **state)
{
    (void)state;
    const Trial trial = {
        .model = "sk8o",
        .case_name = "balance",
        .prepare = load,
        .end = 1.5,
        .every = 0.03,
        .method = "rk4",
        .step = 0.015,
        .rtol = 1e-8,
        .noisy = {{"pitch", 0.002}, {"leg_right", 0.0005}, {"leg_left", 0.0005}, {"way", 0.002}},
        .truth = {{"m_load", 0.8, 0.5}, {"x_load", 0.03, 0.01}, {"z_load", 0.12, 0.1}}};
    check_trial(&trial);
}

static void test_tyres(void **state)
{
    (void)state;
    const Trial trial = {.model = "motorcycle",
                         .case_name = "kick",
                         .end = 1,
                         .every = 0.02,
                         .method = "rk4",
                         .step = 0.004,
                         .rtol = 1e-8,
                         .noisy = {{"roll", 0.002}, {"steer", 0.002}, {"yaw", 0.002}},
                         .truth = {{"C_f", 10400, 11200}, {"C_r", 16900, 15800}}};
    check_trial(&trial);
}

static void test_mast(void **state)
{
    (void)state;
    const Trial trial = {.model = "flexible_mast",
                         .case_name = "drive",
                         .end = 1.5,
                         .every = 0.03,
                         .method = "bdf",
                         .step = 0.01,
                         .rtol = 1e-5,
                         .noisy = {{"sway", 0.002}, {"x", 0.002}},
                         .truth = {{"tau", 0.012, 0.01}, {"drag", 11.5, 10}}};
    check_trial(&trial);
}

// ---- numbers of the start ------------------------------------------------------------------

// Slopes by a number of the start against differences of runs, where it is not what the model says
static void check_start(const char *name, const char *case_name, const char *number, double at,
                        const char *columns)
{
    char text[200];
    const char *more = strchr(columns, ',') ? ",0.3" : "";
    snprintf(text, sizeof text, "t,%s\n0.25,0.1%s\n0.5,0.2%s\n", columns, more, more);
    const char *data = write_file("start.csv", text);
    tr_error err = {0};
    tr_fit_options o = tr_fit_defaults();
    o.data = &data, o.data_count = 1, o.free = number;
    Fit *fit = tr_fit_open(system_called(name, case_name), &o, &err);
    if (!fit) fail_msg("%s: %s", name, err.text);
    const double h = 1e-5 * fmax(1, fabs(at));
    double squares = 0, product = 0, *away[2];
    for (int i = 0; i < 2; i++) {
        fit->now.p[0] = at + (i ? h : -h);
        if (!tr_fit_look(fit, &fit->now, &err)) fail_msg("%s: %s", name, err.text);
        away[i] = calloc(fit->point_count, sizeof(double));
        memcpy(away[i], fit->now.left, fit->point_count * sizeof(double));
    }
    fit->now.p[0] = at;
    if (!tr_fit_look(fit, &fit->now, &err)) fail_msg("%s: %s", name, err.text);
    for (size_t i = 0; i < fit->point_count; i++) {
        const double slope = (away[0][i] - away[1][i]) / (2 * h);
        squares += slope * slope, product += slope * fit->now.left[i];
    }
    double sum[4] = {0}, room[2];
    for (uint32_t c = 0; c < fit->column_count; c++)
        tr_triangle_merge(sum, 2, fit->now.triangles + 4 * c, 1, room);
    assert_true(squares > 1e-6);
    assert_close(sum[0] * sum[0] / squares, 1, 1e-7);
    assert_below(fabs(sum[0] * sum[1] - product), 1e-7 * (1 + fabs(product)));
    free(away[0]);
    free(away[1]);
    tr_fit_close(fit);
}

static void test_start(void **state)
{
    (void)state;
    check_start("double_pendulum", NULL, "start", 0.4,
                "upper,lower"); // a parameter that starts follow
    check_start("cart_pole", "pushed", "initial.angle", 0.3, "angle,x");
    check_start("bicycle", "free", "initial.d(roll)", -0.2, "roll,steer");
    check_start("bicycle", "free", "steer", 0.05, "roll,frame.y");
    check_start("four_bar", NULL, "th1", 0.4, "th3");
    check_start("motorcycle", "kick", "speed0", 25.5, "roll,frame.vx"); // the throttle follows it
    check_start("motorcycle", "kick", "throttle", 150, "roll,frame.vx");
    check_start("robot_differential", "drive", "body.theta", 0.5, "body.x,body.y");
}

// ---- what it says --------------------------------------------------------------------------

static double number_of(const char *json, const char *key)
{
    const Text value = tr_json_member(text_of(json), key);
    return value.at ? strtod(value.at, NULL) : (double)NAN;
}

static void test_text(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_model *model = model_from(line);
    const char *data = write_line("line.csv", "t", 0, PLACES);
    const char *const priors[] = {"a=2~0.5"};
    tr_fit_options o = tr_fit_defaults();
    o.data = &data, o.data_count = 1, o.free = "x,d(x),a", o.priors = priors, o.prior_count = 1;
    const tr_fit *fit = fitted(model, NULL, &o);
    char *words = tr_fit_text(fit, false, &err), *json = tr_fit_text(fit, true, &err);
    assert_says(words, "found    initial.x ");
    assert_says(words, "known as 2 +- 0.5");
    assert_says(words, "column   x: 8 measurements, sd ");
    assert_says(words, "with 6 degrees of freedom");
    assert_true(tr_json_is_valid(text_of(json)));
    assert_close(number_of(json, "chi_square"), fit->chi_square, 1e-15);
    assert_true(number_of(json, "freedom") == 6 && number_of(json, "measurements") == 8);
    // what a fragment says reads back equal
    char *fragment = tr_fit_fragment(fit, &err), wanted[100];
    assert_says(fragment, "set:\n  a: 2  # +- 0.5\ninitial:\n  x: ");
    snprintf(wanted, sizeof wanted, "  d(x): %.17g", fit->values[1].value);
    char *const found = strstr(fragment, "  d(x): ");
    assert_non_null(found);
    assert_true(strtod(found + 8, NULL) == fit->values[1].value);
    const char *picture = in_folder("left.svg");
    assert_true(tr_fit_plot(fit, "what is left", picture, &err));
    char *svg = read_text(picture);
    assert_says(svg, "<svg");
    free(svg);
    tr_text_free(words);
    tr_text_free(json);
    tr_text_free(fragment);
    tr_fit_free(fit);
    tr_model_free(model);
    assert_null(tr_fit_text(NULL, false, &err));
    assert_null(tr_fit_fragment(NULL, &err));
    assert_false(tr_fit_plot(NULL, NULL, picture, &err));
    tr_fit_free(NULL);
}

// ---- what is refused -----------------------------------------------------------------------

typedef struct Refusal {
    const char *text; // of the recording; NULL: none
    const char *free, *match, *sd, *prior, *columns;
    double from;
    tr_status status;
    const char *words;
} Refusal;

static void check_refusal(const tr_model *model, const char *case_name, const Refusal *r)
{
    tr_error err = {0};
    const char *data = write_file("bad.csv", r->text ? r->text : "t,x\n0,1\n1,2\n2,3\n");
    tr_derive_options how = tr_derive_defaults();
    how.case_name = case_name;
    tr_fit_options o = tr_fit_defaults();
    o.data = &data, o.data_count = 1, o.free = r->free ? r->free : "x,d(x)";
    if (r->match) o.matches = &r->match, o.match_count = 1;
    if (r->sd) o.sds = &r->sd, o.sd_count = 1;
    if (r->prior) o.priors = &r->prior, o.prior_count = 1;
    if (r->from > 0) o.from = r->from;
    o.columns = r->columns;
    assert_null(tr_fit_find(model, &how, &o, &err));
    assert_says(err.text, r->words);
    if (err.status != r->status) fail_msg("%s: %d, not %d", err.text, err.status, r->status);
}

static void test_refusals(void **state)
{
    (void)state;
    static const Refusal refusals[] = {
        {.free = "idle,d(x)",
         .status = TR_FAILED,
         .words = "nothing that was recorded depends on "
                  "'idle'"},
        {.free = "idles", .status = TR_USAGE, .words = "'idles'; did you mean 'idle'?"},
        {.free = "initial.y", .status = TR_USAGE, .words = "no parameter, input or initial value"},
        {.free = "x,initial.x", .status = TR_USAGE, .words = "'initial.x' is free twice"},
        {.free = " , ", .status = TR_USAGE, .words = "what is to be found?"},
        {.prior = "x=1", .status = TR_USAGE, .words = "--prior takes NAME=m~s"},
        {.prior = "x=1~", .status = TR_USAGE, .words = "--prior takes NAME=m~s"},
        {.prior = "x=1~one", .status = TR_USAGE, .words = "--prior takes NAME=m~s"},
        {.prior = "x=1~0", .status = TR_USAGE, .words = "must be positive"},
        {.prior = "x=1~-2", .status = TR_USAGE, .words = "must be positive"},
        {.prior = "a=1~2", .status = TR_USAGE, .words = "'a' has a prior, but is not free"},
        {.sd = "y=1", .status = TR_USAGE, .words = "--sd: no recording has a column 'y'"},
        {.sd = "t=1", .status = TR_USAGE, .words = "'t' is the column of times"},
        {.sd = "x=0", .status = TR_USAGE, .words = "must be positive"},
        {.sd = "x=wide", .status = TR_USAGE, .words = "--sd takes COLUMN=S"},
        {.sd = "x", .status = TR_USAGE, .words = "--sd takes COLUMN=S"},
        {.match = "y=x", .status = TR_USAGE, .words = "--match: no recording has a column 'y'"},
        {.match = "x=z", .status = TR_USAGE, .words = "--match x=z: "},
        {.match = "x=", .status = TR_USAGE, .words = "--match takes COLUMN=FORMULA"},
        {.columns = "y", .status = TR_USAGE, .words = "--columns: no recording has a column 'y'"},
        {.text = "t,x,z\n0,1,2\n1,2,3\n",
         .columns = "z",
         .status = TR_USAGE,
         .words = "--columns: 'z' is no column of the model"},
        {.text = "t,y\n0,1\n", .status = TR_USAGE, .words = "is one of the model's"},
        {.text = "time,x\n0,1\n", .status = TR_USAGE, .words = "has no column 't' of times"},
        {.text = "t,x\n", .status = TR_INVALID, .words = "has no rows"},
        {.text = "t,x,x\n0,1,1\n1,2,2\n2,3,3\n",
         .status = TR_INVALID,
         .words = "bad.csv' has the column 'x' twice"},
        {.text = "t,x,t\n0,1,0\n1,2,1\n2,3,2\n",
         .status = TR_INVALID,
         .words = "bad.csv' has the column 't' twice"},
        {.from = 3, .status = TR_USAGE, .words = "has no rows from t = 3"},
        {.text = "t,x\n0,1\n\n1,nan\n", .status = TR_INVALID, .words = "bad.csv:4: 'x' is not a"},
        {.text = "t,x\n0,1\n1,\n2,2\n", .status = TR_INVALID, .words = "bad.csv:3: 'x' is not a"},
        {.text = "t,x\n0,1\n1,far\n2,2\n",
         .status = TR_INVALID,
         .words = "bad.csv:3: 'far' in column 'x' is no number"},
        {.text = "t,x\n0,1\nnan,2\n", .status = TR_INVALID, .words = "bad.csv:3: 't' is not a"},
        {.text = "t,x\n-1,1\n1,2\n", .status = TR_INVALID, .words = "bad.csv:2: t = -1 is before"},
        {.text = "t,x\n1,1\n1,2\n", .status = TR_INVALID, .words = "bad.csv:3: t = 1 does not"},
        {.text = "t,x\n1,1\n2,2\n", .status = TR_FAILED, .words = "--sd gives it"},
    };
    tr_model *model = model_from(line);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        check_refusal(model, NULL, &refusals[i]);
    tr_model_free(model);
}

// Contacts that open end it, with the words that sensitivities have.
static void test_impact(void **state)
{
    (void)state;
    tr_model *model = model_called("hopping_wheel");
    const Refusal refusal = {.text = "t,z\n0.1,0.3\n2,0.2\n",
                             .free = "rate0",
                             .status = TR_FAILED,
                             .words = "do not go on from there, and neither do fits: --to "};
    check_refusal(model, NULL, &refusal);
    tr_model_free(model);
}

static bool stop(void *owner, size_t run, double t, double end)
{
    (void)t;
    (void)end;
    *(size_t *)owner = run;
    return run < 2;
}

static void test_stopped(void **state)
{
    (void)state;
    tr_error err = {0};
    size_t run = 0;
    tr_model *model = model_from(line);
    const char *data = write_line("line.csv", "t", 0, PLACES);
    tr_fit_options o = tr_fit_defaults();
    o.data = &data, o.data_count = 1, o.free = "x,d(x)", o.progress = stop, o.owner = &run;
    assert_null(tr_fit_find(model, NULL, &o, &err));
    assert_int_equal(err.status, TR_FAILED);
    assert_says(err.text, "stopped in run 2");
    assert_int_equal(run, 2);
    err = (tr_error){0};
    o.progress = NULL, o.most_iterations = 0;
    assert_null(tr_fit_find(model, NULL, &o, &err));
    assert_says(err.text, "not converged after 0 iterations");
    err = (tr_error){0};
    o.data_count = 0;
    assert_null(tr_fit_find(model, NULL, &o, &err));
    assert_says(err.text, "what was recorded?");
    tr_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),       cmocka_unit_test(test_deviation),
        cmocka_unit_test(test_recordings), cmocka_unit_test(test_match),
        cmocka_unit_test(test_boxes),      cmocka_unit_test(test_held),
        cmocka_unit_test(test_wide_box),   cmocka_unit_test(test_bounds_that_follow),
        cmocka_unit_test(test_untold),     cmocka_unit_test(test_told_by_prior),
        cmocka_unit_test(test_start),      cmocka_unit_test(test_robot_by_heading),
        cmocka_unit_test(test_text),       cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_impact),     cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_robot),      cmocka_unit_test(test_wheels),
        cmocka_unit_test(test_tyres),      cmocka_unit_test(test_payload),
        cmocka_unit_test(test_mast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
