// SPDX-License-Identifier: Apache-2.0
// Random states of every constrained model in models/, near its start and far from it: positions
// are projected onto the constraints, velocities into their kernel. Where a state is there,
// accelerations, reactions, energies and all that is recorded are numbers, the constraints hold,
// and the equations with multipliers agree. Where there is none, that is said in words. What is
// watched is what an elimination of the scaled rows gives, and what the rates are.
#include "models.h"
#include "plan/flow.h"
#include "plan/kkt.h"
#include "plans.h"
#include "reduce/reduce.h"

#include <dirent.h>

enum {
    EACH = BRIEF ? 100 : 2250,     // states of every model,
    LARGE = 12,                    // or an eighth of them, with more rows than this
    TOTAL = BRIEF ? 4000 : 100000, // of all together, at least
    MOST_MODELS = 200,
    MOST_CHARTS = 6, // that are compiled for a model; states that need another are drawn again
    MOST_TRIES = 20  // of states, for each that is accepted
};

typedef struct Counts {
    size_t accepted;
    size_t open;     // not assembled
    size_t stuck;    // no velocities
    size_t singular; // of another rank, or where a chart cannot be had
    size_t flat;     // what stops a run: a wheel that lies flat
    size_t elsewhere;
    double position, velocity, kernel, kkt; // the worst
    double tilt, least, rate;               // likewise of what is watched, to be seen otherwise
} Counts;

typedef struct Site {
    const char *name;
    System *system;
    Flow *flow;
    ConditionSet *sets[2];
    Conditions *positions, *rates;
    double *start, *x, *y, *rate, *columns, *margins;
    Random random;
    Counts counts;
} Site;

// ---- a model -------------------------------------------------------------------------------

static Site site; // of the model at hand

// False when it has no constraints.
static bool open_site(Site *p, const char *name)
{
    tr_error err = {0};
    *p = (Site){.name = name, .random = {20250}};
    p->system = system_called(name, NULL);
    p->flow = open_flow(p->system, &err);
    if (!p->flow) fail_msg("%s: %s", name, err.text);
    if (!p->flow->stance) return false;
    const size_t n = p->system->input_count + 1;
    p->start = calloc(n, sizeof *p->start);
    p->x = calloc(n, sizeof *p->x);
    p->y = calloc(n, sizeof *p->y);
    p->rate = calloc(n, sizeof *p->rate);
    p->columns = calloc(p->flow->column_count + p->flow->own + 1, sizeof *p->columns);
    p->margins = calloc(p->system->alarm_count + 1, sizeof *p->margins);
    assert_true(p->start && p->x && p->y && p->rate && p->columns && p->margins);
    tr_flow_fill_all(p->flow, 0, p->flow->start);
    memcpy(p->start, p->flow->inputs, p->system->input_count * sizeof *p->start);
    System *own = tr_plan_system(p->flow->plan, p->flow->footing, NULL, &err);
    for (int rates = 0; own && rates < 2; rates++)
        p->sets[rates] =
            tr_condition_set_new(own, p->system, rates ? RATE_ROWS : POSITION_ROWS, NULL, &err);
    tr_system_free(own);
    p->positions = tr_conditions_new(p->sets[0], &err);
    p->rates = tr_conditions_new(p->sets[1], &err);
    if (err.status) fail_msg("%s: %s", name, err.text);
    return true;
}

// After a test that failed, too
static int close_site(void **state)
{
    Site *p = &site;
    (void)state;
    tr_conditions_free(p->positions);
    tr_conditions_free(p->rates);
    for (int i = 0; i < 2; i++) tr_condition_set_free(p->sets[i]);
    close_flow(p->flow);
    tr_system_free(p->system);
    free(p->start), free(p->x), free(p->y), free(p->rate), free(p->columns), free(p->margins);
    return 0;
}

// ---- a state -------------------------------------------------------------------------------

static void assert_words(const Site *p, const tr_error *err)
{
    const bool said = err->status == TR_FAILED || err->status == TR_INVALID;
    if (!said || !err->text[0] || strstr(err->text, "nan") || strstr(err->text, "inf"))
        fail_msg("%s: %d '%s'", p->name, err->status, err->text);
}

static void spread(Site *p, tr_kind kind, double size)
{
    for (uint32_t i = 0; i < p->system->input_count; i++)
        if (p->system->inputs[i].kind == kind)
            p->x[i] = p->start[i] + size * random_between(&p->random, -1, 1);
}

// Positions and velocities that satisfy the constraints, in x
static bool find_state(Site *p)
{
    tr_error err = {0};
    const double end = fmin(p->system->plan.end, 10);
    memcpy(p->x, p->start, p->system->input_count * sizeof *p->x);
    p->x[0] = random_between(&p->random, 0, end > 0 ? end : 1);
    spread(p, TR_POSITION, pow(10, random_between(&p->random, -3, 0.5)));
    if (!tr_conditions_solve(p->positions, p->x, false, &err)) {
        p->counts.open++;
        return assert_words(p, &err), false;
    }
    spread(p, TR_VELOCITY, pow(10, random_between(&p->random, -2, 1)));
    if (!tr_conditions_solve(p->rates, p->x, false, &err)) {
        p->counts.stuck++;
        return assert_words(p, &err), false;
    }
    return true;
}

// The state as y, in the present chart, and how good that is there
static Quality take_state(Site *p)
{
    tr_flow_restart(p->flow, p->x);
    memcpy(p->y, p->flow->start, p->flow->size * sizeof *p->y);
    return tr_flow_quality(p->flow, p->x[0], p->y);
}

static bool is_fit(Quality q) { return q.least > 1e-3 && q.tilt < 1e3; }

// What is watched, against the rows and masses as numbers
static void check_quality(Site *p, Quality seen)
{
    const Flow *flow = p->flow;
    assert_true(tr_flow_stand(p->flow, p->x[0], p->y));
    const Quality q = tr_chart_quality(flow->now->chart, flow->stance);
    if (!is_fit(q)) { // rounding decides by how much
        assert_true(!(seen.least > 2e-3 && seen.tilt < 5e2));
        return;
    }
    assert_int_equal(seen.sign, q.sign);
    p->counts.tilt = fmax(p->counts.tilt, fabs(seen.tilt - q.tilt) / fmax(q.tilt, 1));
    p->counts.least = fmax(p->counts.least, fabs(seen.least - q.least) / q.least);
    assert_true(is_below(p->counts.tilt, 1e-9) && is_below(p->counts.least, 1e-9));
}

// A chart that fits: the present one, or another.
static bool find_chart(Site *p)
{
    tr_error err = {0};
    Flow *flow = p->flow;
    bool changed = false;
    const Quality q = take_state(p);
    check_quality(p, q);
    if (is_fit(q)) return true;
    if (flow->chart_count >= MOST_CHARTS) {
        flow->now = flow->charts[random_below(&p->random, flow->chart_count)];
        p->counts.elsewhere++;
        return false;
    }
    const bool found = tr_flow_rechart(flow, p->x[0], p->y, q, &changed, &err);
    if (!found) assert_words(p, &err);
    if (found && is_fit(take_state(p))) return true; // anew: the first chart may have spoilt it
    p->counts.singular++;
    return false;
}

static bool lies_flat(Site *p)
{
    const System *s = p->system;
    if (!s->alarm_count) return false;
    tr_flow_alarms(p->flow, p->x[0], p->y, p->margins);
    for (uint32_t i = 0; i < s->alarm_count; i++) {
        if (s->alarms[i].kind != ALARM_STOPS || p->margins[i] >= 0) continue;
        assert_true(s->alarms[i].words[0]);
        p->counts.flat++;
        return true;
    }
    return false;
}

static void assert_numbers(const Site *p, const char *what, const double *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!isfinite(values[i])) fail_msg("%s: %s %u is %g", p->name, what, i, values[i]);
}

// The velocities of the state, found without a chart, and those that follow from the independent
// ones
static double kernel_error(Site *p)
{
    const System *s = p->system;
    double worst = 0, largest = 1;
    tr_flow_fill_all(p->flow, p->x[0], p->y);
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (s->inputs[i].kind != TR_VELOCITY || is_motion_driven(&s->inputs[i])) continue;
        worst = fmax(worst, fabs(p->flow->inputs[i] - p->x[i]));
        largest = fmax(largest, fabs(p->x[i]));
    }
    return worst / largest;
}

// What rounding the state makes of rates: much, where a pivot nearly vanishes
static double rounding_of(const Site *p)
{
    const size_t size = p->flow->size;
    double *y = calloc(2 * size + 1, sizeof *y), *rate = y + size, most = 0;
    for (size_t k = 0; k < size; k++) y[k] = p->y[k] * (k % 2 ? 1 + 1e-15 : 1 - 1e-15);
    tr_flow_rate(p->flow, p->x[0], y, rate);
    for (size_t k = 0; k < p->flow->own; k++) most = fmax(most, fabs(rate[k] - p->rate[k]));
    free(y);
    return most;
}

// The rates that a step begins with
static void check_first_rate(Site *p)
{
    double *first = p->columns; // room that nobody needs here
    double off = 0, largest = 1;
    tr_flow_first_rate(p->flow, p->x[0], p->y, first);
    for (uint32_t k = 0; k < p->flow->own; k++) {
        off = fmax(off, fabs(first[k] - p->rate[k]));
        largest = fmax(largest, fabs(p->rate[k]));
    }
    p->counts.rate = fmax(p->counts.rate, off / largest);
    assert_true(is_below(off, fmax(1e-9 * largest, 10 * rounding_of(p))));
}

static void check_state(Site *p)
{
    double position, velocity;
    Counts *c = &p->counts;
    const double t = p->x[0];
    tr_flow_rate(p->flow, t, p->y, p->rate);
    assert_numbers(p, "rate", p->rate, p->flow->own);
    check_first_rate(p);
    tr_flow_columns(p->flow, t, p->y, p->columns);
    assert_numbers(p, "column", p->columns, p->flow->column_count);
    tr_flow_residual(p->flow, t, p->y, &position, &velocity);
    const double kkt = tr_kkt_difference(p->flow->now->kkt, t, p->y);
    const double kernel = kernel_error(p);
    if (!is_below(kkt, 1e-7)) fail_msg("%s: %g off the equations with multipliers", p->name, kkt);
    if (!(is_below(position, 1e-10) && is_below(velocity, 1e-10) && is_below(kernel, 1e-8)))
        fail_msg("%s: %g, %g and %g off the constraints", p->name, position, velocity, kernel);
    c->kernel = fmax(c->kernel, kernel);
    c->position = fmax(c->position, position);
    c->velocity = fmax(c->velocity, velocity);
    c->kkt = fmax(c->kkt, kkt);
    c->accepted++;
}

// ---- all of them ---------------------------------------------------------------------------

static size_t total;

static void check_model(void **state)
{
    Site *p = &site;
    const bool is_constrained = open_site(p, *state);
    const Counts *c = &p->counts;
    const uint32_t rows = is_constrained ? p->flow->stance->rows : 0;
    const size_t wanted = !is_constrained ? 0 : rows > LARGE ? EACH / 8 : EACH;
    for (size_t i = 0; i < MOST_TRIES * wanted && c->accepted < wanted; i++)
        if (find_state(p) && find_chart(p) && !lies_flat(p)) check_state(p);
    if (is_constrained)
        print_message(
            "%-22s %2u rows, %5zu states, %4zu open, %2zu without velocities, %2zu "
            "singular, %4zu flat, %4zu elsewhere; off %.0e %.0e %.0e %.0e; watched %.0e %.0e "
            "%.0e\n",
            p->name, rows, c->accepted, c->open, c->stuck, c->singular, c->flat, c->elsewhere,
            c->position, c->velocity, c->kernel, c->kkt, c->tilt, c->least, c->rate);
    total += c->accepted;
}

static int is_model(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

int main(int count, char **arguments)
{
    struct dirent **entries = NULL;
    static struct CMUnitTest tests[MOST_MODELS];
    const int found = scandir(MODELS_DIR, &entries, is_model, alphasort);
    size_t tests_count = 0;
    for (int i = 0; i < found && i < MOST_MODELS; i++) {
        char *name = entries[i]->d_name;
        name[strlen(name) - 5] = 0;
        if (count > 1 && strcmp(name, arguments[1]) != 0) continue;
        tests[tests_count++] = (struct CMUnitTest){name, check_model, NULL, close_site, name};
    }
    const int failed = _cmocka_run_group_tests("states", tests, tests_count, NULL, NULL);
    printf("%zu states\n", total);
    for (int i = 0; i < found; i++) free(entries[i]);
    free(entries);
    return failed || (count == 1 && total < TOTAL);
}
