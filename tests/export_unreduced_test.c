// SPDX-License-Identifier: Apache-2.0
// The unreduced form of generated C: rates and outputs in random states and modes, against those of
// a flow there, and steps against a run, through contacts, impacts, stops and charts that change.
//
// Names of models may be given; else the full check tries all that have constraints, and others a
// few.
#include "exports.h"

#include <dirent.h>

enum { STATES = 6, STEPS_OF_A_SECOND = 1024 };

static size_t input_of(const tr_system *s, const char *name)
{
    size_t i = 0;
    while (i < tr_input_count(s) && strcmp(tr_input_name(s, i), name) != 0) i++;
    return i;
}

// ---- one state -----------------------------------------------------------------------------

static LatchMode *modes_of(const tr_system *s, const Exported *e)
{
    LatchMode *modes = calloc(s->latch_count + 1u, sizeof *modes);
    for (uint32_t i = 0; i < s->latch_count; i++) {
        const Latch *latch = &s->latches[i];
        modes[i] = (LatchMode){.is_open = e->mode[i] == 0, .is_slipping = e->mode[i] > 1};
        for (uint32_t k = 0; k < latch->row_count; k++)
            for (size_t j = 0; j < e->nx && latch->heading[k].id; j++)
                if (strcmp(e->x_name[j].name, tr_system_input(s, latch->heading[k])->name) == 0)
                    modes[i].heads[k] = e->x[j];
    }
    return modes;
}

// Values of all inputs, for a state of generated code
static double *inputs_of(const tr_system *s, const double *start, const Exported *e, double t)
{
    double *in = room_for(s->input_count);
    memcpy(in, start, s->input_count * sizeof *in);
    in[0] = t;
    for (size_t k = 0; k < e->nx; k++)
        if (input_of(s, e->x_name[k].name) < s->input_count)
            in[input_of(s, e->x_name[k].name)] = e->x[k];
    for (size_t k = 0; k < e->np; k++) in[input_of(s, e->p_name[k].name)] = e->p[k];
    return in;
}

static double largest_of(const double *a, size_t count)
{
    double most = 1;
    for (size_t k = 0; k < count; k++)
        if (isfinite(a[k])) most = fmax(most, fabs(a[k]));
    return most;
}

static int compared, failures;
static double worst_rate, worst_output;

static void check_rates(Flow *flow, const Exported *e, double t, const char *model)
{
    tr_error err = {0};
    const tr_system *s = flow->system;
    double *rate = room_for(flow->own), *v = room_for(s->input_count);
    if (!tr_flow_ready(flow, FLOW_RUN | 1u << CHART_ACCELERATIONS, &err)) fail_msg("%s", err.text);
    tr_flow_rate(flow, t, flow->start, rate);
    evaluate_into(flow_program(flow, CHART_ACCELERATIONS), flow->inputs, v);
    e->rates(t, e->x, e->u, e->p, e->mode, e->dx, e->w);
    const double most =
        fmax(largest_of(v, tr_system_inputs(s, TR_VELOCITY, NULL)), largest_of(rate, flow->known));
    uint32_t place = 0;
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (s->inputs[i].kind != TR_VELOCITY) continue;
        for (size_t k = 0; k < e->nx; k++)
            if (strcmp(e->x_name[k].name, s->inputs[i].name) == 0) {
                const double off = fabs(e->dx[k] - v[place]) / most;
                worst_rate = fmax(worst_rate, off);
                if (!(off <= 1e-12))
                    failures++, print_message("%s: rate of %s: %.17g, not %.17g (%g)\n", model,
                                              e->x_name[k].name, e->dx[k], v[place], most);
            }
        place++;
    }
    for (uint32_t i = 0; i < flow->positions; i++)
        for (size_t k = 0; k < e->nx; k++)
            if (input_of(s, e->x_name[k].name) == flow->now->place[i]) {
                const double off = fabs(e->dx[k] - rate[i]) / most;
                worst_rate = fmax(worst_rate, off);
                if (!(off <= 1e-12))
                    failures++, print_message("%s: rate of %s: %.17g, not %.17g\n", model,
                                              e->x_name[k].name, e->dx[k], rate[i]);
            }
    free(rate);
    free(v);
}

static void check_outputs(Flow *flow, const Exported *e, double t, const char *model)
{
    double *out = room_for(flow->column_count);
    tr_flow_columns(flow, t, flow->start, out);
    e->outputs(t, e->x, e->u, e->p, e->mode, e->y, e->w);
    const double most = largest_of(out, flow->column_count);
    for (size_t k = 0; k < e->ny; k++)
        for (uint32_t i = 0; i < flow->column_count; i++)
            if (strcmp(flow->labels[i], e->y_name[k].name) == 0) {
                const double off = fabs(e->y[k] - out[i]) / most;
                worst_output = fmax(worst_output, off);
                if (!(off <= 1e-12) && !(isnan(e->y[k]) && isnan(out[i])))
                    failures++, print_message("%s: %s: %.17g, not %.17g (%g)\n", model,
                                              e->y_name[k].name, e->y[k], out[i], most);
            }
    free(out);
}

// What contacts do, at random: open where they can be, holding, or slipping this way or that
static void pick_modes(const tr_system *s, Exported *e, uint32_t *random)
{
    for (uint32_t i = 0; i < s->latch_count; i++) {
        const Latch *latch = &s->latches[i];
        const double pick = fabs(next_random(random));
        e->mode[i] = pick < 0.33 && latch->opens ? 0 : pick < 0.66 && latch->slips ? 2 : 1;
        for (uint32_t k = 0; k < latch->row_count; k++)
            for (size_t j = 0; j < e->nx && latch->heading[k].id; j++)
                if (strcmp(e->x_name[j].name, tr_system_input(s, latch->heading[k])->name) == 0)
                    e->x[j] = e->mode[i] == 2 ? (next_random(random) < 0 ? -1 : 1) : 0;
    }
}

static void check_states(tr_plan *plan, const Flow *start, Exported *e, const char *model)
{
    uint32_t random = 1;
    double *first = room_for(e->nx);
    int *mode = calloc(e->nm + 1, sizeof *mode);
    const tr_system *s = start->system;
    memcpy(first, e->x, e->nx * sizeof *first);
    memcpy(mode, e->mode, e->nm * sizeof *mode);
    for (int i = 0; i < STATES; i++) {
        const double t = 0.1 * i;
        tr_error err = {0};
        for (size_t k = 0; k < e->nx; k++) e->x[k] = first[k] + 0.05 * i * next_random(&random);
        memcpy(e->mode, mode, e->nm * sizeof *mode);
        e->project(t, e->x, e->u, e->p, e->mode, e->w);
        if (i) pick_modes(s, e, &random);
        e->chart(t, e->x, e->u, e->p, e->mode, e->w);
        LatchMode *modes = modes_of(s, e);
        double *in = inputs_of(s, start->inputs, e, t);
        Flow *flow = tr_flow_from(plan, modes, in, NULL, &err);
        if (!flow) fail_msg("%s: %s", model, err.text);
        tr_flow_ready(flow, FLOW_RUN, &err);
        double position, velocity;
        tr_flow_residual(flow, t, flow->start, &position, &velocity);
        if (position < 1e-9 && isfinite(velocity)) {
            check_rates(flow, e, t, model);
            check_outputs(flow, e, t, model);
            compared++;
        }
        tr_flow_free(flow);
        free(modes);
        free(in);
    }
    memcpy(e->x, first, e->nx * sizeof *first);
    memcpy(e->mode, mode, e->nm * sizeof *mode);
    free(first);
    free(mode);
}

// ---- a second ------------------------------------------------------------------------------

static double difference_now(const tr_run *run, const Exported *e, const char **worst)
{
    const tr_system *s = run->flow->system;
    double most = 0;
    tr_flow_fill_all(run->flow, run->mover->t, run->mover->y);
    for (size_t k = 0; k < e->nx; k++) {
        const size_t i = input_of(s, e->x_name[k].name);
        if (i >= s->input_count ||
            (s->inputs[i].kind != TR_POSITION && s->inputs[i].kind != TR_VELOCITY))
            continue;
        const double off = relative(e->x[k], run->flow->inputs[i]);
        if (off > most) most = off, *worst = e->x_name[k].name;
    }
    return most;
}

// Against a run of the same steps
static void check_second(tr_plan *plan, Exported *e, const char *model)
{
    tr_error err = {0};
    tr_run_options o = tr_run_defaults(plan);
    const double h = 1.0 / STEPS_OF_A_SECOND;
    const char *name = "";
    double most = 0;
    o.method = "rk4", o.step = h, o.end = 1, o.no_project = false;
    tr_run *run = tr_run_new(plan, &o, &err);
    if (!run) fail_msg("%s", err.text);
    int k = 0;
    for (; k < STEPS_OF_A_SECOND && tr_run_advance(run, (k + 1) * h, &err); k++) {
        const int failed = e->step(k * h, h, e->x, e->u, e->p, e->mode, e->w);
        if (failed) fail_msg("%s: step %d: %d", model, k, failed);
        const double off = difference_now(run, e, &name);
        if (getenv("TRACE") && off > 2 * most) print_message("%d %g %s\n", k, off, name);
        most = fmax(most, off);
    }
    print_message("%-24s %4d steps, %2d charts, %3zu switches: %.1e\n", model, k,
                  (int)run->mover->watch.changes, run->switches, most);
    if (k < STEPS_OF_A_SECOND) print_message("   the run: %s\n", err.text);
    if (most > 1e-9) failures++;
    tr_run_free(run);
}

// ---- models --------------------------------------------------------------------------------

// A model, or "model:case"
static void check_model(const char *name)
{
    tr_error err = {0};
    char model[100];
    snprintf(model, sizeof model, "%s", name);
    char *colon = strchr(model, ':');
    if (colon) *colon = 0;
    tr_system *system = system_called(model, colon ? colon + 1 : NULL);
    tr_export_options how = tr_export_defaults();
    how.form = "unreduced", how.name = "m", how.folder = in_folder(".");
    if (!tr_export(system, &how, &err)) {
        print_message("%-24s %s\n", name, err.text);
        tr_system_free(system);
        return;
    }
    Exported e = load_exported(in_folder("."), "cc -std=c99 -O0 " STRICT);
    tr_plan *plan = tr_plan_new(system, &err);
    Flow *flow = tr_flow_new(plan, NULL, &err);
    check_states(plan, flow, &e, name);
    tr_flow_free(flow);
    check_second(plan, &e, name);
    unload_exported(&e);
    tr_plan_free(plan);
    tr_system_free(system);
}

static char *names[1000];
static int name_count;

static void test_models(void **state)
{
    (void)state;
    for (int i = 0; i < name_count; i++) check_model(names[i]);
    for (int i = 0; i < name_count; i++) free(names[i]);
    print_message("%d states, %g of rates, %g of outputs\n", compared, worst_rate, worst_output);
    assert_int_equal(failures, 0);
}

static int is_model(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

int main(int count, char **words)
{
    for (int i = 1; i < count; i++) names[name_count++] = strdup(words[i]);
#ifndef TR_FULL
    static const char *const few[] = {"four_bar", "hopping_wheel", "stick_slip", "knee_stops",
                                      "door"};
    for (size_t i = 0; count == 1 && i < sizeof few / sizeof *few; i++)
        names[name_count++] = strdup(few[i]);
#endif
    if (!name_count) {
        struct dirent **entries;
        const int found = scandir(MODELS_DIR, &entries, is_model, alphasort);
        for (int i = 0; i < found; i++) {
            entries[i]->d_name[strlen(entries[i]->d_name) - 5] = 0;
            names[name_count++] = strdup(entries[i]->d_name);
            free(entries[i]);
        }
        free(entries);
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
