// SPDX-License-Identifier: Apache-2.0
// Fixes are taken one after the other, each at its time: innovations, the gain and the covariance
// as they are linear there, corrections projected onto the constraints (T263).
#include "sim/filter.h"

#include "expr/elementary.h"
#include "plan/covariance.h"
#include "sim/certificate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTLIER 1e-4 // that one of so many may be by chance
#define PI      3.14159265358979323846

// ---- making it -----------------------------------------------------------------------------

static char *label_of(const char *what, const char *fix, const char *of)
{
    const size_t size = strlen(what) + strlen(fix) + strlen(of) + 3;
    char *label = malloc(size);
    if (label) snprintf(label, size, "%s.%s%s%s", what, fix, *of ? "." : "", of);
    for (char *c = label; c && *c; c++) // tables have commas between columns
        if (*c == ',' || *c == '"') *c = ':';
    return label;
}

// Of the numbers of each fix, and then of how consistent it was
static bool name_columns(Filter *f)
{
    const System *s = f->system;
    bool good = true;
    for (uint32_t i = 0; i < s->fix_count; i++) {
        for (uint32_t k = 0; k < s->fixes[i].count; k++)
            good = (f->labels[f->label_count++] =
                        label_of("innovation", s->fixes[i].name, s->fixes[i].of[k])) &&
                   good;
        good =
            (f->labels[f->label_count++] = label_of("consistency", s->fixes[i].name, "")) && good;
    }
    return good;
}

static bool make_room(Filter *f, const Flow *flow)
{
    const System *s = f->system;
    const size_t known = flow->known;
    size_t all = 0, most = 0;
    for (uint32_t i = 0; i < s->fix_count; i++) {
        all += s->fixes[i].count;
        if (s->fixes[i].count > most) most = s->fixes[i].count;
    }
    f->all_count = (uint32_t)all;
    f->next = calloc(s->fix_count, sizeof *f->next);
    f->values = calloc(all * (known + 2) + most * (known + 3) + 1, sizeof *f->values);
    f->last = calloc(all + s->fix_count, sizeof *f->last);
    f->labels = calloc(all + s->fix_count, sizeof *f->labels);
    if (!f->next || !f->values || !f->last || !f->labels) return false;
    f->off = f->values + all * (known + 2);
    f->sd = f->off + most, f->expected = f->sd + most, f->slopes = f->expected + most;
    return name_columns(f);
}

static bool check(const Run *run, tr_error *err)
{
    const System *s = run->flow->system;
    if (!s->fix_count)
        tr_fail(err, TR_USAGE, (Place){0}, "there is nothing to filter: the model has no 'fixes'");
    else if (!run->flow->covariance)
        tr_fail(err, TR_USAGE, (Place){0},
                "nothing is uncertain, so measurements change nothing: a filter needs 'noise' or "
                "'deviations'");
    return !has_failed(err);
}

Filter *tr_filter_new(const Run *run, tr_error *err)
{
    if (has_failed(err) || !check(run, err)) return NULL;
    Filter *f = calloc(1, sizeof *f);
    if (!f) return tr_fail_memory(err), NULL;
    f->system = run->flow->system;
    if (!make_room(f, run->flow)) {
        tr_filter_free(f);
        return tr_fail_memory(err), NULL;
    }
    for (uint32_t i = 0; i < f->system->fix_count; i++) {
        const FixSeries *series = &f->system->fixes[i];
        while (f->next[i] < series->rows && series->t[f->next[i]] < 0) f->next[i]++, f->passed++;
    }
    return f;
}

void tr_filter_free(Filter *f)
{
    if (!f) return;
    for (uint32_t i = 0; f->labels && i < f->label_count; i++) free(f->labels[i]);
    free(f->labels);
    free(f->next);
    free(f->values);
    free(f->last);
    free(f->list);
    free(f);
}

// ---- chance --------------------------------------------------------------------------------

// Q(n/2, x/2) by the recurrence Q(a + 1, z) = Q(a, z) + z^a e^-z/Gamma(a + 1)
double tr_chi_square_beyond(double square, uint32_t numbers)
{
    const double z = square / 2;
    const bool odd = numbers % 2;
    if (!(square > 0)) return 1;
    double sum = odd ? erfc(sqrt(z)) : el_exp(-z);
    double term = odd ? 2 * sqrt(z / PI) * el_exp(-z) : z * el_exp(-z);
    for (double a = odd ? 0.5 : 1; 2 * a < numbers; a++) {
        sum += term;
        term *= z / (a + 1);
    }
    return sum;
}

// ---- one fix -------------------------------------------------------------------------------

double tr_filter_due(const Filter *f)
{
    double due = (double)INFINITY;
    for (uint32_t i = 0; f && i < f->system->fix_count; i++)
        if (f->next[i] < f->system->fixes[i].rows)
            due = fmin(due, f->system->fixes[i].t[f->next[i]]);
    return due;
}

static double without_turns(double angle)
{
    return angle - 2 * PI * floor((angle + PI) / (2 * PI));
}

// The numbers that were measured, with what they are compared with
static uint32_t compare(Filter *f, const Flow *flow, uint32_t fix, uint32_t first)
{
    const FixSeries *series = &f->system->fixes[fix];
    const double *measured = series->values + (size_t)f->next[fix] * series->count;
    const double *expected = f->values + first, *sd = expected + f->all_count,
                 *slopes = f->values + 2 * (size_t)f->all_count + (size_t)first * flow->known;
    uint32_t count = 0;
    for (uint32_t k = 0; k < series->count; k++) {
        const double off = measured[k] - expected[k];
        f->last[first + fix + k] = 0;
        if (isnan(measured[k])) continue;
        f->off[count] = series->turns[k] ? without_turns(off) : off;
        f->last[first + fix + k] = f->off[count];
        f->sd[count] = sd[k];
        memcpy(f->slopes + (size_t)count * flow->known, slopes + (size_t)k * flow->known,
               flow->known * sizeof *slopes);
        count++;
    }
    return count;
}

static bool note(Filter *f, const Innovation *one)
{
    f->used += one->is_used;
    f->outliers += one->is_outlier;
    if (one->is_used) f->sum += one->consistency, f->numbers += one->count;
    if (f->count >= MOST_LISTED) return true;
    if (!tr_grow((void **)&f->list, &f->capacity, f->count + 1, sizeof *f->list)) return false;
    f->list[f->count++] = *one;
    return true;
}

static bool tell(const Run *run, const FixSeries *series, const Innovation *one)
{
    return !one->is_outlier ||
           tr_warn(&run->mover->watch.warnings,
                   "'%.80s' at t = %.6g is an outlier%s: %.3g instead of about %u", series->name,
                   one->t, one->is_used ? "" : " and was dropped", one->consistency, one->count);
}

// One row of one fix. Judged first: what is dropped must not have changed anything.
static bool take_fix(Filter *f, Run *run, uint32_t fix, uint32_t first, tr_error *err)
{
    Flow *flow = run->flow;
    Mover *m = run->mover;
    const FixSeries *series = &f->system->fixes[fix];
    tr_flow_fill(flow, m->t, m->y);
    tr_flow_evaluate(flow, flow_program(flow, CHART_FIXES), f->values);
    Sight sight = {.off = f->off, .sd = f->sd, .slopes = f->slopes, .expected = f->expected};
    sight.count = compare(f, flow, fix, first);
    f->next[fix]++;
    if (!sight.count) return true;
    if (!tr_covariance_correct(flow, m->t, m->y, &sight, false, err)) {
        tr_fail(err, TR_FAILED, (Place){0},
                "'%.80s' at t = %.6g cannot be compared: what is expected is not finite",
                series->name, m->t);
        return false;
    }
    Innovation one = {.t = m->t, .fix = fix, .count = sight.count};
    one.consistency = f->last[first + fix + series->count] = sight.consistency;
    one.is_outlier = tr_chi_square_beyond(sight.consistency, sight.count) < OUTLIER;
    one.is_used = !(one.is_outlier && series->drops);
    if (one.is_used) tr_covariance_correct(flow, m->t, m->y, &sight, true, err);
    if (!note(f, &one) || !tell(run, series, &one)) tr_fail_memory(err);
    return !has_failed(err);
}

static double energy_of(const Run *run)
{
    return run->row[run->kinetic] + run->row[run->potential];
}

size_t tr_filter_left(const Filter *f)
{
    size_t left = 0;
    for (uint32_t i = 0; i < f->system->fix_count; i++)
        left += f->system->fixes[i].rows - f->next[i];
    return left;
}

bool tr_filter_correct(Filter *f, Run *run, tr_error *err)
{
    if (!f || has_failed(err) || run->mover->t < tr_filter_due(f)) return !has_failed(err);
    uint32_t first = 0;
    tr_run_take_row(run);
    const double energy = energy_of(run);
    for (uint32_t i = 0; i < f->system->fix_count; first += f->system->fixes[i++].count)
        if (f->next[i] < f->system->fixes[i].rows &&
            f->system->fixes[i].t[f->next[i]] <= run->mover->t && !take_fix(f, run, i, first, err))
            return false;
    tr_flow_forget(run->flow);
    tr_run_take_row(run);
    return tr_run_jump(run, energy_of(run) - energy, err);
}
