// SPDX-License-Identifier: Apache-2.0
// At each value of the parameter: the linear model, without symmetries, without eigenvalues that
// are zero all along. Branches go on where their slope points; where that is not clear the step is
// halved. A real eigenvalue passes zero where det R does, the constant coefficient of the deflated
// characteristic polynomial; a pair passes the imaginary axis where its real part vanishes, which
// the Hurwitz determinant does there, too (T103).
#include "base/json.h"
#include "linear/lineariser.h"
#include "linear/modes.h"
#include "linear/naming.h"
#include "num/dense.h"
#include "num/follow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 1000000, HALVINGS = 9, NAMED_ROWS = 25 };
#define CLEAR  1e-9 // real parts that are not rounding, against the largest eigenvalue
#define TURNS  1e-5 // imaginary parts that are no rounding of a double root, against the same
#define BESIDE 1e-4 // of a step: how far from a critical value its direction is looked at

// ---- one value -----------------------------------------------------------------------------

typedef struct Sampler {
    Lineariser *lineariser;
    uint32_t input;
    const char *name;
    const Placer *placer;
    double to;         // where it ends
    uint32_t inputs;   // that it fills in
    uint32_t count;    // eigenvalues that are not always zero
    uint32_t size;     // of the matrices they are of
    uint32_t *pattern; // of the zeros that are left out there
    bool is_stopped;   // by who is told; `err` has failed then, too, which ends all that goes on
    tr_error *err;
} Sampler;

// What there is at one value of the parameter
typedef struct Sample {
    Deflated deflated;
    double *values; // eigenvalues of the rest
    uint32_t count;
    double acceleration; // the largest
} Sample;

static void free_sample(Sample *s)
{
    tr_deflated_free(&s->deflated);
    free(s->values);
    *s = (Sample){0};
}

static void say_where(const Sampler *s, double value, const tr_error *own)
{
    if (own->status == TR_NO_MEMORY) tr_fail_memory(s->err);
    tr_fail_again(s->err, own, "at %.60s = %.6g: %.400s", s->name, value, own->text);
}

static bool goes_on(Sampler *s, double value)
{
    const Placer *p = s->placer;
    if (has_failed(s->err)) return false;
    if (!p->progress || p->progress(p->watcher, value, s->to)) return true;
    s->is_stopped = true;
    tr_fail(s->err, TR_FAILED, (Place){0}, "stopped at %.60s = %.6g", s->name, value);
    return false;
}

static bool split(const Linear *linear, const Sampler *s, const uint32_t *pattern, Sample *out,
                  tr_error *err)
{
    const bool same = pattern && linear->states == s->size;
    if (!tr_deflate(linear->A, linear->states, same ? pattern : NULL, &out->deflated, err))
        return false;
    out->count = linear->states - out->deflated.zeros;
    out->values = calloc(2 * (size_t)out->count + 1, sizeof *out->values);
    if (!out->values) return tr_fail_memory(err), false;
    return tr_deflated_values(&out->deflated, out->values, err);
}

static void stand_at(const Sampler *s, double value, tr_error *err)
{
    double *inputs = tr_lineariser_inputs(s->lineariser);
    inputs[s->input] = value;
    if (!tr_plan_within(s->lineariser->plan, inputs, err)) return;
    if (!s->placer->place)
        tr_lineariser_assemble(s->lineariser, err);
    else if (s->placer->place(s->placer->owner, value, inputs, s->inputs, err))
        tr_lineariser_stand(s->lineariser);
}

static bool take_sample(Sampler *s, double value, const uint32_t *pattern, Sample *out)
{
    tr_error own = {0};
    *out = (Sample){0};
    if (!goes_on(s, value)) return false;
    stand_at(s, value, &own);
    Linear *all = tr_lineariser_take(s->lineariser, &own);
    Linear *linear = tr_linear_reduced(all, s->size, &own);
    const bool good = linear && split(linear, s, pattern, out, &own);
    out->acceleration = all ? tr_lineariser_unsteadiness(s->lineariser) : 0;
    tr_linear_free(all);
    tr_linear_free(linear);
    if (good) return true;
    say_where(s, value, &own);
    free_sample(out);
    return false;
}

// ---- passing the axis ----------------------------------------------------------------------

// A branch between two values of the parameter
typedef struct Stretch {
    Sampler *sampler;
    double from, to, start[2], end[2];
    double found[2]; // where it was seen last
} Stretch;

static double real_part_at(void *owner, double value)
{
    Stretch *s = owner;
    Sample sample;
    if (!take_sample(s->sampler, value, s->sampler->pattern, &sample)) return (double)NAN;
    const double part = (value - s->from) / (s->to - s->from);
    const double guess[2] = {s->start[0] + part * (s->end[0] - s->start[0]),
                             s->start[1] + part * (s->end[1] - s->start[1])};
    double best = (double)INFINITY;
    for (uint32_t k = 0; k < sample.count; k++) {
        const double *value_k = sample.values + 2 * k;
        if (value_k[1] < 0 || apart(value_k, guess) >= best) continue;
        best = apart(value_k, guess);
        memcpy(s->found, value_k, sizeof s->found);
    }
    free_sample(&sample);
    if (s->found[0] < 0 ? s->start[0] < 0 : s->start[0] > 0)
        s->from = value, memcpy(s->start, s->found, sizeof s->start);
    else
        s->to = value, memcpy(s->end, s->found, sizeof s->end);
    return s->found[0];
}

static double largest_of(const double *values, size_t n)
{
    double most = 0;
    for (size_t k = 0; k < n; k++) most = larger(most, hypot(values[2 * k], values[2 * k + 1]));
    return most;
}

// How many eigenvalues are to the right of the axis
static size_t growing_at(Sampler *s, double value)
{
    size_t count = 0;
    Sample sample;
    if (!take_sample(s, value, s->pattern, &sample)) return 0;
    const double limit = CLEAR * largest_of(sample.values, sample.count);
    for (uint32_t k = 0; k < sample.count; k++) count += sample.values[2 * k] > limit;
    free_sample(&sample);
    return count;
}

// Whether what passes the axis at a value between two others goes to the right there
static bool is_onset_at(Sampler *s, double from, double to, double value)
{
    const double beside = BESIDE * (to - from);
    return growing_at(s, fmin(value + beside, to)) > growing_at(s, fmax(value - beside, from));
}

static void add_critical(tr_locus *locus, double value, double frequency, bool is_onset,
                         tr_error *err)
{
    for (size_t i = 0; i < locus->critical_count; i++)
        if (fabs(locus->critical[i].value - value) <= 1e-9 * fmax(1, fabs(value)) &&
            fabs(locus->critical[i].frequency - frequency) <= 1e-6 * fmax(1, frequency))
            return;
    tr_critical *more =
        realloc(locus->critical, (locus->critical_count + 1) * sizeof *locus->critical);
    if (!more) {
        tr_fail_memory(err);
        return;
    }
    locus->critical = more;
    size_t at = locus->critical_count++;
    for (; at > 0 && more[at - 1].value > value; at--) more[at] = more[at - 1];
    more[at] = (tr_critical){value, frequency, is_onset};
}

// Where a branch that is `was` at one value and `now` at another passes the axis as a pair
static void find_pair(Sampler *s, tr_locus *locus, double from, double to, const double *was,
                      const double *now)
{
    if ((was[0] > 0) == (now[0] > 0) || (was[1] <= 0 && now[1] <= 0)) return;
    Stretch stretch = {.sampler = s, .from = from, .to = to};
    for (int part = 0; part < 2; part++)
        stretch.start[part] = was[part], stretch.end[part] = now[part];
    const double value = tr_bracketed_root(real_part_at, &stretch, from, was[0], to, now[0]);
    if (stretch.found[1] > 0) // else it is real, and det R has it
        add_critical(locus, value, stretch.found[1], is_onset_at(s, from, to, value), s->err);
}

// ---- following -----------------------------------------------------------------------------

typedef struct Front {
    double at;               // value of the parameter
    double *values, *slopes; // of the branches
    double *ordered;         // room
    uint32_t *to;
} Front;

// Eigenvalues of a sample, with zeros in place of those that are zero only here
static void fill_up(const Sample *sample, uint32_t count, double *values)
{
    memset(values, 0, 2 * (size_t)count * sizeof *values);
    memcpy(values, sample->values,
           2 * (size_t)(sample->count < count ? sample->count : count) * sizeof *values);
}

static void move_front(Front *f, const double *is, double at, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        const double *next = is + 2 * f->to[k];
        for (int part = 0; part < 2; part++) f->ordered[2 * k + (uint32_t)part] = next[part];
    }
    for (uint32_t k = 0; k < 2 * n; k++) {
        const bool turns = (k % 2 ? f->values[k] == 0 : f->values[k + 1] == 0) !=
                           (k % 2 ? f->ordered[k] == 0 : f->ordered[k + 1] == 0);
        f->slopes[k] = turns ? 0 : (f->ordered[k] - f->values[k]) / (at - f->at);
    }
    memcpy(f->values, f->ordered, 2 * (size_t)n * sizeof *f->values);
    f->at = at;
}

// Whether a pair parts or two join: in one large step both may happen, and distances mislead
static bool turns_kind(const Front *f, const double *is, uint32_t n)
{
    double size = 0;
    bool turns = false;
    for (uint32_t k = 0; k < n; k++) size = larger(size, hypot(is[2 * k], is[2 * k + 1]));
    for (uint32_t k = 0; k < n; k++) {
        const double was = fabs(f->values[2 * k + 1]), now = fabs(is[2 * f->to[k] + 1]);
        turns = turns || ((was == 0) != (now == 0) && larger(was, now) > TURNS * size);
    }
    return turns;
}

// Within a step that was halved a branch may pass the axis and come back.
static void find_inside(Sampler *s, tr_locus *locus, const Front *f, const double *is, double at)
{
    const double limit = CLEAR * largest_of(is, s->count);
    for (uint32_t k = 0; k < s->count && !has_failed(s->err); k++) {
        const double *was = f->values + 2 * k, *now = is + 2 * f->to[k];
        if (fabs(was[0]) > limit && fabs(now[0]) > limit) find_pair(s, locus, f->at, at, was, now);
    }
}

// To the eigenvalues `is` at `at`, by way of values between where that is needed
static bool advance(Sampler *s, tr_locus *locus, Front *f, const double *is, double at,
                    int halvings)
{
    const uint32_t n = s->count;
    bool clear;
    if (!tr_follow(f->values, f->slopes, at - f->at, is, n, f->to, &clear))
        return tr_fail_memory(s->err), false;
    clear = clear && !turns_kind(f, is, n);
    const double middle = f->at + (at - f->at) / 2;
    Sample between;
    if (clear || !halvings || middle == f->at || middle == at) {
        if (halvings < HALVINGS) find_inside(s, locus, f, is, at);
        move_front(f, is, at, n);
        return !has_failed(s->err);
    }
    if (!take_sample(s, middle, s->pattern, &between)) return false;
    double *values = calloc(2 * (size_t)n + 1, sizeof *values);
    bool good = values != NULL;
    if (values) {
        fill_up(&between, n, values);
        good = advance(s, locus, f, values, middle, halvings - 1) &&
               advance(s, locus, f, is, at, halvings - 1);
    } else
        tr_fail_memory(s->err);
    free(values);
    free_sample(&between);
    return good;
}

// Sorts each row of the sweep so that a column is one branch.
static bool follow_all(Sampler *s, tr_locus *locus)
{
    const uint32_t n = s->count;
    double *room = calloc(6 * (size_t)n + 1, sizeof *room);
    Front f = {.values = room, .to = calloc(n + 1u, sizeof *f.to)};
    bool good = room && f.to;
    if (good) {
        f.slopes = room + 2 * (size_t)n, f.ordered = f.slopes + 2 * (size_t)n;
        qsort(locus->eigenvalues, n, 2 * sizeof(double), tr_compare_growth);
        memcpy(f.values, locus->eigenvalues, 2 * (size_t)n * sizeof *f.values);
        f.at = locus->values[0];
    } else
        tr_fail_memory(s->err);
    for (size_t i = 1; good && i < locus->rows; i++) {
        double *row = locus->eigenvalues + 2 * i * n;
        good =
            goes_on(s, locus->values[i]) && advance(s, locus, &f, row, locus->values[i], HALVINGS);
        memcpy(row, f.values, 2 * (size_t)n * sizeof *row);
    }
    free(room);
    free(f.to);
    return good;
}

// ---- critical values -----------------------------------------------------------------------

static double determinant_at(void *owner, double value)
{
    Sampler *s = owner;
    Sample sample;
    if (!take_sample(s, value, s->pattern, &sample)) return (double)NAN;
    const double det =
        sample.count < s->count ? 0 : tr_deflated_determinant(&sample.deflated, s->err);
    free_sample(&sample);
    return det;
}

static double largest_in_row(const tr_locus *locus, size_t row)
{
    return largest_of(locus->eigenvalues + 2 * row * locus->count, locus->count);
}

// Where det R changes its sign; rows that have none (an eigenvalue is zero) are stepped over.
static void find_divergent(Sampler *s, tr_locus *locus, const double *determinants)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < locus->rows && !has_failed(s->err); i++) {
        if (determinants[i] == 0) continue;
        if (last != SIZE_MAX && (determinants[last] > 0) != (determinants[i] > 0)) {
            const double value =
                tr_bracketed_root(determinant_at, s, locus->values[last], determinants[last],
                                  locus->values[i], determinants[i]);
            add_critical(locus, value, 0,
                         is_onset_at(s, locus->values[last], locus->values[i], value), s->err);
        }
        last = i;
    }
}

static void find_oscillatory(Sampler *s, tr_locus *locus, size_t branch)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < locus->rows && !has_failed(s->err); i++) {
        const double *now = locus->eigenvalues + 2 * (i * locus->count + branch);
        if (fabs(now[0]) <= CLEAR * largest_in_row(locus, i)) continue;
        const size_t before = last;
        last = i;
        if (before == SIZE_MAX) continue;
        const double *was = locus->eigenvalues + 2 * (before * locus->count + branch);
        find_pair(s, locus, locus->values[before], locus->values[i], was, now);
    }
}

// ---- the sweep -----------------------------------------------------------------------------

static bool check_range(double from, double to, double step, tr_error *err)
{
    if (!isfinite(from) || !isfinite(to) || !isfinite(step))
        tr_fail(err, TR_USAGE, (Place){0}, "a sweep goes from a number to a number");
    else if (!(step > 0))
        tr_fail(err, TR_USAGE, (Place){0}, "the step of a sweep is positive, not %.6g", step);
    else if (!(to > from))
        tr_fail(err, TR_USAGE, (Place){0}, "a sweep goes upwards, not from %.6g to %.6g", from, to);
    else if ((to - from) / step > MOST_ROWS)
        tr_fail(err, TR_USAGE, (Place){0}, "a sweep has at most %d steps", MOST_ROWS);
    return !has_failed(err);
}

// from, from + step ...; where the steps fit, `to` exactly, and what is between as it is written
static bool place_rows(tr_locus *locus, double from, double to, double step)
{
    const double steps = (to - from) / step, whole = round(steps);
    const bool fits = fabs(steps - whole) <= 1e-6 && whole >= 1;
    locus->rows = (size_t)(fits ? whole : floor(steps)) + 1;
    locus->values = calloc(locus->rows, sizeof *locus->values);
    for (size_t i = 0; locus->values && i < locus->rows; i++)
        locus->values[i] = fits ? from + (to - from) * (double)i / whole : from + (double)i * step;
    return locus->values != NULL;
}

// All samples; how many eigenvalues there are, where the most of them are not zero. Where
// displacements change little, as beside a critical value, they are no symmetries if they are none
// elsewhere.
static bool take_samples(Sampler *s, const tr_locus *locus, Sample *samples, bool again)
{
    for (size_t i = 0; i < locus->rows; i++) {
        if (again && samples[i].deflated.size >= s->size) continue;
        free_sample(&samples[i]);
        if (!take_sample(s, locus->values[i], NULL, &samples[i])) return false;
        const Deflated *d = &samples[i].deflated;
        if (samples[i].count <= s->count && s->pattern) continue;
        s->count = samples[i].count, s->size = d->size;
        free(s->pattern);
        s->pattern = calloc(d->size + 1u, sizeof *s->pattern);
        if (!s->pattern) return tr_fail_memory(s->err), false;
        memcpy(s->pattern, d->pattern, (d->size + 1u) * sizeof *s->pattern);
    }
    return true;
}

static bool fill_locus(Sampler *s, tr_locus *locus, Sample *samples)
{
    if (!take_samples(s, locus, samples, false) || !take_samples(s, locus, samples, true))
        return false;
    locus->count = s->count;
    locus->eigenvalues = calloc(2 * locus->rows * s->count + 1, sizeof *locus->eigenvalues);
    locus->unsteadiness = calloc(locus->rows, sizeof *locus->unsteadiness);
    double *determinants = calloc(locus->rows, sizeof *determinants);
    bool good = locus->eigenvalues && locus->unsteadiness && determinants;
    if (!good) tr_fail_memory(s->err);
    for (size_t i = 0; good && i < locus->rows; i++) {
        fill_up(&samples[i], s->count, locus->eigenvalues + 2 * i * s->count);
        locus->unsteadiness[i] = samples[i].acceleration;
        if (samples[i].count == s->count)
            determinants[i] = tr_deflated_determinant(&samples[i].deflated, s->err);
    }
    good = good && follow_all(s, locus);
    if (good) find_divergent(s, locus, determinants);
    for (size_t k = 0; good && k < locus->count; k++) find_oscillatory(s, locus, k);
    free(determinants);
    return good && !has_failed(s->err);
}

// What moves is looked at in some rows, which are all over the sweep.
static bool name_modes(Sampler *s, tr_locus *locus)
{
    const size_t step = 1 + (locus->rows - 1) / NAMED_ROWS;
    Naming *naming = tr_naming_new(s->lineariser, locus, s->err);
    bool good = naming != NULL;
    for (size_t i = 0; good && i < locus->rows; i += step) {
        tr_error *err = s->err;
        stand_at(s, locus->values[i], err);
        Linear *all = tr_lineariser_take(s->lineariser, err);
        Linear *linear = tr_linear_reduced(all, s->size, err);
        good = linear && tr_naming_add(naming, linear, i, err);
        tr_linear_free(all);
        tr_linear_free(linear);
    }
    good = good && tr_naming_finish(naming, locus, s->err);
    tr_naming_free(naming);
    return good;
}

// Before any work: both ends are within the range of what is swept.
static bool check_ends(const Sampler *s, const tr_locus *locus)
{
    double *inputs = tr_lineariser_inputs(s->lineariser);
    const double ends[] = {locus->values[0], locus->values[locus->rows - 1]};
    const double before = inputs[s->input];
    for (int i = 0; i < 2 && !has_failed(s->err); i++) {
        inputs[s->input] = ends[i];
        tr_plan_within(s->lineariser->plan, inputs, s->err);
    }
    inputs[s->input] = before;
    return !has_failed(s->err);
}

static bool run_locus(Sampler *s, tr_locus *locus)
{
    if (!check_ends(s, locus)) return false;
    Sample *samples = calloc(locus->rows, sizeof *samples);
    if (!samples) return tr_fail_memory(s->err), false;
    const bool good = fill_locus(s, locus, samples) && name_modes(s, locus);
    for (size_t i = 0; i < locus->rows; i++) free_sample(&samples[i]);
    free(samples);
    free(s->pattern);
    return good;
}

tr_locus *tr_locus_placed(const tr_system *system, const char *name, double from, double to,
                          double step, const Placer *placer, tr_error *err)
{
    tr_error own = {0};
    Sampler s = {.name = name, .placer = placer, .err = &own};
    if (!system || !name || has_failed(err)) return NULL;
    tr_locus *locus = calloc(1, sizeof *locus);
    const Input *input = tr_system_setting(system, text_of(name), "swept", &own);
    if (input) s.input = (uint32_t)(input - system->inputs), s.inputs = system->input_count;
    bool good =
        locus && input && check_range(from, to, step, &own) && place_rows(locus, from, to, step);
    if (!good) tr_fail_memory(&own); // unless there are words already
    s.lineariser = good ? tr_lineariser_new(system, &own) : NULL;
    if (s.lineariser) {
        locus->name = system->inputs[s.input].name;
        s.to = locus->values[locus->rows - 1];
        good = run_locus(&s, locus);
    }
    tr_lineariser_free(s.lineariser);
    if (own.status && !s.is_stopped) tr_fail_again(err, &own, "%s", own.text);
    if (good && !own.status) return locus;
    tr_locus_free(locus);
    return NULL;
}

tr_locus *tr_locus_new(const tr_system *system, const char *name, double from, double to,
                       double step, tr_error *err)
{
    return tr_locus_placed(system, name, from, to, step, &(Placer){0}, err);
}

void tr_locus_free(tr_locus *locus)
{
    if (!locus) return;
    free(locus->values);
    free(locus->eigenvalues);
    free(locus->critical);
    free(locus->mode);
    free(locus->names);
    free(locus->unsteadiness);
    free(locus);
}

// ---- texts ---------------------------------------------------------------------------------

static void write_csv(const tr_locus *locus, Buffer *text)
{
    tr_buffer_print(text, "%s", locus->name);
    for (size_t k = 1; k <= locus->count; k++) tr_buffer_print(text, ",re%zu,im%zu", k, k);
    tr_buffer_print(text, ",largest_acceleration");
    for (size_t i = 0; i < locus->rows; i++) {
        tr_buffer_add(text, "\n", 1);
        tr_buffer_number(text, locus->values[i]);
        for (size_t k = 0; k < 2 * locus->count; k++) {
            tr_buffer_add(text, ",", 1);
            tr_buffer_number(text, locus->eigenvalues[2 * i * locus->count + k]);
        }
        tr_buffer_add(text, ",", 1);
        tr_buffer_number(text, locus->unsteadiness[i]);
    }
    tr_buffer_add(text, "\n", 1);
}

// With the numbers of their eigenvalues, as columns of the CSV count them
static void write_modes(const tr_locus *locus, Json *j)
{
    tr_json_open(j, "modes", '[');
    for (size_t m = 0; m < locus->mode_count; m++) {
        tr_json_open(j, NULL, '{');
        tr_json_text(j, "name", locus->names[m]);
        tr_json_open(j, "eigenvalues", '[');
        for (size_t k = 0; k < locus->count; k++)
            if (locus->mode[k] == m) tr_json_number(j, NULL, (double)k + 1);
        tr_json_close(j, ']');
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
}

static void write_json(const tr_locus *locus, Json *j)
{
    tr_json_open(j, NULL, '{');
    tr_json_text(j, "parameter", locus->name);
    tr_json_numbers(j, "values", locus->values, locus->rows);
    tr_json_open(j, "eigenvalues", '[');
    for (size_t i = 0; i < locus->rows; i++)
        tr_json_matrix(j, NULL, locus->eigenvalues + 2 * i * locus->count, locus->count, 2);
    tr_json_close(j, ']');
    tr_json_open(j, "critical", '[');
    for (size_t i = 0; i < locus->critical_count; i++) {
        const tr_critical *c = &locus->critical[i];
        tr_json_open(j, NULL, '{');
        tr_json_text(j, "kind", c->frequency > 0 ? "oscillatory" : "divergent");
        tr_json_number(j, "value", c->value);
        tr_json_number(j, "frequency", c->frequency);
        tr_json_text(j, "becomes", c->is_onset ? "unstable" : "stable");
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
    tr_json_numbers(j, "largest_acceleration", locus->unsteadiness, locus->rows);
    write_modes(locus, j);
    tr_json_close(j, '}');
}

char *tr_locus_text(const tr_locus *locus, bool json, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!locus || has_failed(err)) return NULL;
    Json j = {0};
    if (json)
        write_json(locus, &j);
    else
        write_csv(locus, &j.text);
    return tr_text_finish(&j.text, err);
}
