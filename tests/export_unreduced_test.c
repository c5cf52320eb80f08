// SPDX-License-Identifier: Apache-2.0
// The unreduced form of generated C: rates and outputs in random states and modes, against those of
// a flow there, and steps against a run, through contacts, impacts, stops and charts that change.
//
// Names of models may be given; else the full check tries all that have constraints, and others a
// few.
#include "exports.h"

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

// Rates along one entry of the state or one input, h further
static void rates_beside(const Exported *e, double t, size_t k, double h, double *dx)
{
    double *at = k < e->nx ? &e->x[k] : &e->u[k - e->nx];
    const double kept = *at;
    *at = kept + h;
    e->rates(t, e->x, e->u, e->p, e->mode, dx, e->w);
    *at = kept;
}

// How rates change with an entry, by four of them
static void differences_beside(const Exported *e, double t, size_t k, double h, double *slope)
{
    static const double weight[] = {1, -8, 8, -1}, place[] = {-2, -1, 1, 2};
    double *beside = room_for(e->nx);
    for (size_t i = 0; i < e->nx; i++) slope[i] = 0;
    for (int j = 0; j < 4; j++) {
        rates_beside(e, t, k, place[j] * h, beside);
        for (size_t i = 0; i < e->nx; i++) slope[i] += weight[j] * beside[i] / (12 * h);
    }
    free(beside);
}

static double worst_slope;
static size_t slopes, kinks;

// An entry of the slopes by differences of two widths; where these differ, friction turns round
// between them, or the state is singular
static void check_slope(const Exported *e, size_t at, const double *wide, const double *near,
                        double most, const char *model)
{
    const double off = fabs(e->J[at] - near[at]) / most;
    slopes++;
    if (!(fabs(wide[at] - near[at]) <= 1e-6 * most)) {
        kinks++;
        return;
    }
    worst_slope = fmax(worst_slope, off);
    if (!(off <= 1e-7))
        failures++, print_message("%s: slope %zu: %.12g, not %.12g (%g)\n", model, at, e->J[at],
                                  near[at], most);
}

static void check_slopes(const Exported *e, double t, const char *model)
{
    const size_t all = e->nx + e->nu;
    double *wide = room_for(e->nj), *near = room_for(e->nj), *column = room_for(e->nx);
    e->rates(t, e->x, e->u, e->p, e->mode, column, e->w);
    const bool is_singular = largest_of(column, e->nx) > 1e8; // but for rounding
    e->jacobian(t, e->x, e->u, e->p, e->mode, e->J, e->w);
    for (size_t k = 0; k < all && !is_singular; k++) {
        const double value = k < e->nx ? e->x[k] : e->u[k - e->nx];
        const double h = 1e-4 * fmax(1, fabs(value));
        for (int half = 0; half < 2; half++) {
            differences_beside(e, t, k, half ? h / 2 : h, column);
            for (size_t i = 0; i < e->nx; i++) (half ? near : wide)[i * all + k] = column[i];
        }
    }
    const double most = largest_of(near, e->nj);
    for (size_t k = 0; k < e->nj && !is_singular; k++) {
        const size_t by = k % all;
        if (by < e->nx || !isnan(e->u[by - e->nx])) check_slope(e, k, wide, near, most, model);
    }
    free(wide);
    free(near);
    free(column);
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
        for (size_t k = 0; k < e->nx; k++) e->x[k] = first[k] + 0.03 * i * next_random(&random);
        memcpy(e->mode, mode, e->nm * sizeof *mode);
        e->project(t, e->x, e->u, e->p, e->mode, e->w);
        if (i) pick_modes(s, e, &random);
        e->chart(t, e->x, e->u, e->p, e->mode, e->w);
        LatchMode *modes = modes_of(s, e);
        double *in = inputs_of(s, start->inputs, e, t);
        Flow *flow = tr_flow_from(plan, modes, in, NULL, &err);
        if (!flow) { // singular there
            free(modes);
            free(in);
            continue;
        }
        tr_flow_ready(flow, FLOW_RUN, &err);
        double position, velocity;
        tr_flow_residual(flow, t, flow->start, &position, &velocity);
        if (position < 1e-9 && isfinite(velocity)) {
            check_rates(flow, e, t, model);
            check_outputs(flow, e, t, model);
            check_slopes(e, t, model);
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

static double difference_now(const tr_run *run, const Exported *e)
{
    const tr_system *s = run->flow->system;
    double most = 0;
    tr_flow_fill_all(run->flow, run->mover->t, run->mover->y);
    for (size_t k = 0; k < e->nx; k++) {
        const size_t i = input_of(s, e->x_name[k].name);
        if (i < s->input_count &&
            (s->inputs[i].kind == TR_POSITION || s->inputs[i].kind == TR_VELOCITY))
            most = fmax(most,
                        fabs(e->x[k] - run->flow->inputs[i]) / fmax(1, fabs(run->flow->inputs[i])));
    }
    return most;
}

static tr_run *run_of(tr_plan *plan, double step)
{
    tr_error err = {0};
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = step, o.end = 1, o.no_project = false;
    tr_run *run = tr_run_new(plan, &o, &err);
    if (!run) fail_msg("%s", err.text);
    return run;
}

// Models that have this form by themselves. Others may be written so: then steps have errors of
// their own, of velocities along other axes, or where formulas of the state switch.
static bool is_needed(const char *model)
{
    static const char *const names[] = {
        "bricard",         "cardan_shaft",       "castor", "door",         "four_bar",
        "hopping_wheel",   "knee_stops:relaxed", "shaker", "slider_crank", "snakeboard_wide",
        "spherical_robot", "stick_slip"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], model) == 0) return true;
    return false;
}

// Against a run of the same steps
static void check_second(tr_plan *plan, Exported *e, const char *model, int steps)
{
    tr_error err = {0};
    const double h = 1.0 / steps;
    tr_run *run = run_of(plan, h);
    double most = 0;
    int k = 0;
    for (; k < steps && tr_run_advance(run, (k + 1) * h, &err); k++) {
        const int failed = e->step(k * h, h, e->x, e->u, e->p, e->mode, e->w);
        if (failed) fail_msg("%s: step %d: %d", model, k, failed);
        most = fmax(most, difference_now(run, e));
    }
    print_message("%-24s %5d steps, %2d charts, %3zu switches: %.1e\n", model, k,
                  (int)run->mover->watch.changes, run->switches, most);
    assert_below(most, 1e-9);
    tr_run_free(run);
}

// ---- models --------------------------------------------------------------------------------

#define TRAPPING "cc -std=c99 -O0 -fsanitize=undefined -fsanitize-undefined-trap-on-error " STRICT

static void export_unreduced(const tr_system *system, tr_error *err)
{
    tr_export_options how = tr_export_defaults();
    how.form = "unreduced", how.name = "m", how.folder = in_folder(".");
    tr_export(system, &how, err);
}

// Steps that the shaft's own errors are below 1e-9 with: its charts change some steps apart.
static int steps_for(const char *model)
{
    return strncmp(model, "cardan", 6) == 0 ? 16 * STEPS_OF_A_SECOND : STEPS_OF_A_SECOND;
}

// A model, or "model:case"
static void check_model(const char *name)
{
    tr_error err = {0};
    char model[100];
    snprintf(model, sizeof model, "%s", name);
    char *colon = strchr(model, ':');
    if (colon) *colon = 0;
    tr_system *system = system_called(model, colon ? colon + 1 : NULL);
    export_unreduced(system, &err);
    if (has_failed(&err)) {
        if (is_needed(name)) fail_msg("%s: %s", name, err.text);
        print_message("%-24s %s\n", name, err.text);
        tr_system_free(system);
        return;
    }
    compile_by_all();
    Exported e = load_exported(in_folder("."), TRAPPING);
    tr_plan *plan = tr_plan_new(system, &err);
    Flow *flow = tr_flow_new(plan, NULL, &err);
    check_states(plan, flow, &e, name);
    tr_flow_free(flow);
    if (is_needed(name)) check_second(plan, &e, name, steps_for(name));
    unload_exported(&e);
    tr_plan_free(plan);
    tr_system_free(system);
}

// ---- integrators of one's own ---------------------------------------------------------------

static void own_step(const Exported *e, double t, double h, const double *x, double *z)
{
    const size_t n = e->nx;
    double *k = room_for(4 * n);
    for (size_t stage = 0; stage < 4; stage++) {
        const double c[] = {0, h / 2, h / 2, h};
        for (size_t i = 0; i < n; i++)
            z[i] = x[i] + (stage ? c[stage] * k[(stage - 1) * n + i] : 0);
        e->rates(t + c[stage], z, e->u, e->p, e->mode, k + stage * n, e->w);
    }
    for (size_t i = 0; i < n; i++)
        z[i] = x[i] + h / 6 * (k[i] + 2 * (k[n + i] + k[2 * n + i]) + k[3 * n + i]);
    e->project(t + h, z, e->u, e->p, e->mode, e->w);
    free(k);
}

static bool has_changed(const Exported *e, double t, const double *x, const double *before)
{
    bool any = false;
    e->indicators(t, x, e->u, e->p, e->mode, e->z, e->w);
    for (size_t k = 0; k < e->nz; k++) any = any || (e->z[k] < 0) != (before[k] < 0);
    return any;
}

// To `until`, with events where an indicator changes its sign
static int go_by_indicators(Exported *e, double t, double until, double *z, double *before)
{
    int events = 0;
    while (t < until) {
        double low = 0, high = until - t;
        has_changed(e, t, e->x, before);
        memcpy(before, e->z, e->nz * sizeof *before);
        own_step(e, t, high, e->x, z);
        const bool changes = has_changed(e, until, z, before);
        while (changes && high - low > 1e-14) {
            const double h = low + (high - low) / 2;
            own_step(e, t, h, e->x, z);
            if (has_changed(e, t + h, z, before))
                high = h;
            else
                low = h;
            if (h == low || h == high) continue;
            break;
        }
        own_step(e, t, high, e->x, z);
        memcpy(e->x, z, e->nx * sizeof *z);
        t = changes ? t + high : until;
        if (changes) {
            assert_true(e->event(t, e->x, e->u, e->p, e->mode, e->w) >= 0);
            assert_in_range(++events, 1, 100);
        }
    }
    return events;
}

static void test_own_integrator(void **state)
{
    (void)state;
    static const char *const models[] = {"hopping_wheel", "stick_slip", "door", "four_bar"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        tr_error err = {0};
        tr_system *system = system_called(models[m], NULL);
        export_unreduced(system, &err);
        Exported e = load_exported(in_folder("."), TRAPPING);
        tr_plan *plan = tr_plan_new(system, &err);
        const double h = 1.0 / STEPS_OF_A_SECOND;
        tr_run *run = run_of(plan, h);
        double *z = room_for(e.nx), *before = room_for(e.nz), most = 0;
        int events = 0;
        for (int k = 0; k < STEPS_OF_A_SECOND; k++) {
            assert_true(tr_run_advance(run, (k + 1) * h, &err));
            events += go_by_indicators(&e, k * h, (k + 1) * h, z, before);
            most = fmax(most, difference_now(run, &e));
        }
        print_message("%-24s %2d events by indicators: %.1e\n", models[m], events, most);
        assert_true(events > 0);
        assert_below(most, 1e-6); // not a margin: charts and events have the errors of other steps
        free(z);
        free(before);
        tr_run_free(run);
        unload_exported(&e);
        tr_plan_free(plan);
        tr_system_free(system);
    }
}

// ---- forces that jump ------------------------------------------------------------------------

// By formulas of t, and by an input that who calls sets between steps: dry friction gives way, and
// a body is lifted from the ground
static const char pushed[] =
    "trundle: 1\nname: pushed\nparameters: {m: 2, a: 0.3}\ninputs: {F: 0, lift: 0}\n"
    "bodies:\n"
    "  cart: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x, friction: 3, stiction: 5},"
    " mass: m}\n"
    "  box: {parent: cart, joint: {type: prismatic, axis: '0, 0, 1', coordinate: z,"
    " limits: '0, 2'}, mass: 1}\n"
    "gravity: 0, 0, -10\n"
    "roles:\n  x: {torque: 'F + if(t < a, 1, if(t < 0.6, 8, -1))'}\n"
    "  z: {torque: 'if(t < 0.2, 0, if(t < 0.25, 14, 0)) + lift'}\n";

static void set_both(tr_run *run, Exported *e, const char *name, double value)
{
    tr_error err = {0};
    tr_run_set(run, name, value, &err);
    assert_false(has_failed(&err));
    for (size_t k = 0; k < e->nu; k++)
        if (strcmp(e->u_name[k].name, name) == 0) e->u[k] = value;
}

static void test_forces_jump(void **state)
{
    (void)state;
    const double h = 1.0 / STEPS_OF_A_SECOND;
    tr_error err = {0};
    tr_system *system = system_from(pushed);
    export_unreduced(system, &err);
    Exported e = load_exported(in_folder("."), TRAPPING);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run *run = run_of(plan, h);
    double most = 0, moved = 0, highest = 0;
    for (int k = 0; k < STEPS_OF_A_SECOND; k++) {
        if (k == 100) set_both(run, &e, "F", 5);
        if (k == 110) set_both(run, &e, "F", -1);
        if (k == 700) set_both(run, &e, "lift", 20);
        if (k == 750) set_both(run, &e, "lift", 0);
        assert_true(tr_run_advance(run, (k + 1) * h, &err));
        assert_int_equal(e.step(k * h, h, e.x, e.u, e.p, e.mode, e.w), 0);
        most = fmax(most, difference_now(run, &e));
        moved = fmax(moved, fabs(e.x[0])), highest = fmax(highest, e.x[1]);
    }
    print_message("forces that jump %zu switches, %g m, %g m up: %.1e\n", run->switches, moved,
                  highest, most);
    assert_true(run->switches > 4 && moved > 0.1 && highest > 0.01);
    assert_below(most, 1e-9);
    tr_run_free(run);
    unload_exported(&e);
    tr_plan_free(plan);
    tr_system_free(system);
}

// ---- single precision ------------------------------------------------------------------------

static const char single_try[] =
    "#include \"m.h\"\n#include <stdio.h>\n"
    "int main(void) {\n"
    "    static float x[M_NX + 1], u[M_NU + 1], p[M_NP + 1], w[M_NWORK + 1];\n"
    "    static int mode[M_NM + 1];\n"
    "    m_parameters(p), m_inputs(p, u);\n"
    "    if (m_initial(p, x, mode, w)) return 1;\n"
    "    for (int k = 0; k < 1024; k++)\n"
    "        if (m_step((float)k / 1024, 1.0f / 1024, x, u, p, mode, w)) return 1;\n"
    "    for (int i = 0; i < M_NX; i++) printf(\"%.9g %s\\n\", x[i], m_x_name[i].name);\n"
    "    return 0;\n}\n";

// The worst of what was printed against where a run is
static double difference_printed(const tr_run *run, const char *path)
{
    const System *s = run->flow->system;
    FILE *file = fopen(path, "r");
    char name[200];
    double value, most = 0;
    size_t count = 0;
    tr_flow_fill_all(run->flow, run->mover->t, run->mover->y);
    assert_non_null(file);
    while (fscanf(file, "%lf %199[^\n]", &value, name) == 2) {
        const size_t i = input_of(s, name);
        if (i == s->input_count) continue;
        if (s->inputs[i].kind != TR_POSITION && s->inputs[i].kind != TR_VELOCITY) continue;
        most = fmax(most, relative(value, run->flow->inputs[i]));
        count++;
    }
    fclose(file);
    assert_true(count > 0);
    return most;
}

static void test_single(void **state)
{
    (void)state;
    static const char *const models[] = {"four_bar", "slider_crank", "door", "stick_slip"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        tr_error err = {0};
        char command[600];
        tr_system *model = system_called(models[m], NULL);
        tr_export_options how = tr_export_defaults();
        how.single = true;
        export_to(model, &how, in_folder("."));
        write_bytes(in_folder("try.c"), single_try, strlen(single_try));
        compile_by_all();
        snprintf(command, sizeof command,
                 "cd %s && cc -std=c99 -O1 -fsanitize=undefined -fno-sanitize-recover=all "
                 "-Wdouble-promotion " STRICT " -c m.c && cc -std=c99 -fsanitize=undefined -o try "
                 "try.c m.o -lm && ./try > try.txt",
                 in_folder("."));
        if (system(command) != 0) fail_msg("%s: %s", models[m], command);
        tr_plan *plan = tr_plan_new(model, &err);
        tr_run *run = run_of(plan, 1.0 / STEPS_OF_A_SECOND);
        assert_true(tr_run_advance(run, 1, &err));
        const double off = difference_printed(run, in_folder("try.txt"));
        print_message("%-24s in single precision, after a second: %.1e\n", models[m], off);
        assert_below(off, 1e-3);
        tr_run_free(run);
        tr_plan_free(plan);
        tr_system_free(model);
    }
}

// ---- what it is made of ----------------------------------------------------------------------

static const char sliding[] =
    "trundle: 1\nname: sliding\n"
    "bodies: {cart: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x, friction: 3}, mass: "
    "2}}\n"
    "roles: {x: {torque: 'if(t < 0.3, 1, 8)'}}\n";

static void test_compilers(void **state)
{
    (void)state;
    tr_system *least = system_from(sliding); // hardly anything is left of loops there
    export_to(least, NULL, in_folder("."));
    compile_only("gcc -std=c99 -O1 " STRICT);
    compile_only("gcc -std=c99 -O2 " STRICT);
    tr_system_free(least);
    static const char *const models[] = {"hopping_wheel", "four_bar", "door"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        tr_error err = {0};
        tr_system *model = system_called(models[i], NULL);
        export_unreduced(model, &err);
        compile_only("gcc -std=c99 -O1 " STRICT); // sees more than without -O1
        tr_system_free(model);
    }
    char command[600]; // of the C library no more than compilers take by themselves; no variables
    compile_only("cc -std=c99 -O1 -fno-pic -fno-stack-protector");
    snprintf(
        command, sizeof command,
        "nm %s | grep -vE ' (U (fma|sqrt|fabs|floor|memset|memcpy)|[TtRr] .*)$' > %s; ! test -s %s",
        in_folder("m.o"), in_folder("nm.txt"), in_folder("nm.txt"));
    if (system(command) != 0) fail_msg("%s", command);
}

// A model that needs one chart and one mode stays reduced, others become unreduced by themselves.
static void test_auto(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool is_unreduced;
    } models[] = {
        {"rolling_disc", false}, {"cart_pole", false}, {"four_bar", true}, {"door", true}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char command[600];
        tr_system *model = system_called(models[i].name, NULL);
        export_to(model, NULL, in_folder("."));
        snprintf(command, sizeof command, "grep -q 'M_NZ = 0' %s", in_folder("m.h"));
        assert_int_equal(system(command) != 0, models[i].is_unreduced);
        tr_system_free(model);
    }
}

static char *names[1000];
static int name_count;

static void test_models(void **state)
{
    (void)state;
    for (int i = 0; i < name_count; i++) check_model(names[i]);
    for (int i = 0; i < name_count; i++) free(names[i]);
    print_message("%d states, %g of rates, %g of outputs, %g of slopes\n", compared, worst_rate,
                  worst_output, worst_slope);
    print_message("%zu slopes, %zu where friction turns round\n", slopes, kinks);
    assert_true(kinks < slopes / 50);
    assert_int_equal(failures, 0);
}

int main(int count, char **words)
{
    for (int i = 1; i < count; i++) names[name_count++] = strdup(words[i]);
#ifndef TR_FULL
    static const char *const few[] = {
        "four_bar", "hopping_wheel", "stick_slip",          "knee_stops:relaxed",
        "door",     "slider_crank",  "bicycle_three_bodies"};
    for (size_t i = 0; count == 1 && i < sizeof few / sizeof *few; i++)
        names[name_count++] = strdup(few[i]);
#endif
    if (!name_count) {
        name_count = list_models(names);
        names[name_count++] = strdup("knee_stops:relaxed");
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),      cmocka_unit_test(test_own_integrator),
        cmocka_unit_test(test_forces_jump), cmocka_unit_test(test_single),
        cmocka_unit_test(test_compilers),   cmocka_unit_test(test_auto)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
