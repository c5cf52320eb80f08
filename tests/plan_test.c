// SPDX-License-Identifier: Apache-2.0
// Plans: a program depends on the system and its key, not on who came first; a derived system stays
// what it is whatever is done with it; and flows leave nothing behind.
#include "runs.h"

#include <dirent.h>
#include <malloc.h>

// ---- programs ------------------------------------------------------------------------------

static void assert_same_program(const tr_program *a, const tr_program *b)
{
    assert_true((a == NULL) == (b == NULL));
    if (!a) return;
    assert_ptr_not_equal(a, b);
    assert_int_equal(a->instruction_count, b->instruction_count);
    assert_int_equal(a->constant_count, b->constant_count);
    assert_int_equal(a->output_count, b->output_count);
    assert_memory_equal(a->instructions, b->instructions,
                        a->instruction_count * sizeof *a->instructions);
    assert_memory_equal(a->constants, b->constants, a->constant_count * sizeof *a->constants);
    assert_memory_equal(a->outputs, b->outputs, a->output_count * sizeof *a->outputs);
    assert_memory_equal(a->first, b->first, (a->instruction_count + 1) * sizeof *a->first);
    assert_memory_equal(a->stage_end, b->stage_end, sizeof a->stage_end);
    assert_int_equal(a->operations, b->operations);
}

static void assert_same_chart(const ChartPrograms *a, const ChartPrograms *b)
{
    for (int i = 0; i < CHART_PROGRAMS; i++) {
        assert_true(a->is_made[i] && b->is_made[i]);
        assert_same_program(a->of[i], b->of[i]);
    }
    assert_non_null(a->of[CHART_RATES]);
    assert_int_equal(a->known, b->known);
    assert_int_equal(a->own, b->own);
    assert_memory_equal(a->place, b->place, a->known * sizeof *a->place);
    assert_int_equal(a->key.size, b->key.size);
    assert_memory_equal(a->key.at, b->key.at, a->key.size);
    assert_true(a->jacobian && b->jacobian && a->jumps && b->jumps);
    assert_int_equal(a->jacobian->count, b->jacobian->count);
    assert_same_program(a->jacobian->program, b->jacobian->program);
    assert_same_program(a->jumps->program, b->jumps->program);
}

static void assert_same_footing(const Footing *a, const Footing *b)
{
    assert_same_program(a->stance, b->stance);
    assert_same_program(a->speeds, b->speeds);
    assert_same_program(a->more[FOOTING_SLIPS], b->more[FOOTING_SLIPS]);
    assert_same_program(a->more[FOOTING_GAPS], b->more[FOOTING_GAPS]);
    assert_same_program(a->more[FOOTING_IMPACT], b->more[FOOTING_IMPACT]);
    assert_int_equal(a->constraints, b->constraints);
}

// What is made when someone asks, in either order
static void ask_chart(tr_plan *plan, const ChartPrograms *chart, bool backwards)
{
    tr_error err = {0};
    if (!backwards) assert_non_null(tr_chart_jacobian(plan, chart, &err));
    for (int i = 0; i < CHART_PROGRAMS; i++) {
        const int which = backwards ? CHART_PROGRAMS - 1 - i : i;
        tr_chart_program(plan, chart, (ChartProgram)which, &err);
        assert_int_equal(err.status, TR_OK);
    }
    assert_non_null(tr_chart_jumps(plan, chart, &err));
    assert_non_null(tr_chart_jacobian(plan, chart, &err));
}

static void ask_footing(tr_plan *plan, const Footing *f, bool backwards)
{
    tr_error err = {0};
    if (backwards) assert_non_null(tr_footing_program(plan, f, FOOTING_IMPACT, &err));
    assert_non_null(tr_footing_program(plan, f, FOOTING_SLIPS, &err));
    assert_non_null(tr_footing_program(plan, f, FOOTING_GAPS, &err));
    assert_non_null(tr_footing_program(plan, f, FOOTING_IMPACT, &err));
    assert_non_null(tr_footing_positions(plan, f, &err));
}

// ---- whoever came first --------------------------------------------------------------------

enum { MOST_CHARTS = 8 };

// Partitions that a flow meets on its way, and how many rows each leaves over
typedef struct Met {
    const ChartPrograms *chart[MOST_CHARTS];
    uint32_t surplus[MOST_CHARTS], count;
} Met;

static void meet_chart(Met *met, const Flow *flow)
{
    for (uint32_t i = 0; i < met->count; i++)
        if (met->chart[i] == flow->now->programs) return;
    assert_true(met->count < MOST_CHARTS);
    met->chart[met->count] = flow->now->programs;
    met->surplus[met->count++] = flow->now->chart->surplus_count;
}

static Met meet_charts(Flow *flow, double end, double h)
{
    tr_error err = {0};
    Met met = {0};
    double *y = calloc(6 * (size_t)flow->size, sizeof *y);
    assert_true(tr_flow_ready(flow, FLOW_RUN, &err));
    memcpy(y, flow->start, flow->size * sizeof *y);
    meet_chart(&met, flow);
    for (double t = 0; t < end && met.count < 3; t += h) {
        bool changed = false;
        tr_flow_step(flow, t, h, y, y + flow->size);
        tr_flow_project(flow, t + h, y);
        const Quality q = tr_flow_quality(flow, t + h, y);
        if (!tr_flow_rechart(flow, t + h, y, q, &changed, &err)) fail_msg("%s", err.text);
        if (changed) meet_chart(&met, flow);
    }
    free(y);
    return met;
}

// A plan that meets the charts of another in this order: it has the same programs for them.
static void check_order(const tr_system *system, const Flow *flow, const Met *met, bool backwards)
{
    tr_error err = {0};
    tr_plan *plan = tr_plan_new(system, &err);
    const Footing *footing = tr_plan_footing(plan, flow->modes, flow->inputs, &err);
    assert_non_null(footing);
    for (uint32_t k = 0; k < met->count; k++) {
        const uint32_t i = backwards ? met->count - 1 - k : k;
        const ChartPrograms *chart =
            tr_plan_chart(plan, footing, &met->chart[i]->partition, met->surplus[i], &err);
        if (!chart) fail_msg("%s", err.text);
        ask_chart(plan, chart, backwards);
        assert_same_chart(met->chart[i], chart);
        assert_ptr_equal(
            chart, tr_plan_chart(plan, footing, &met->chart[i]->partition, met->surplus[i], &err));
    }
    assert_int_equal(plan->chart_count, met->count);
    assert_int_equal(plan->compiled, 1 + met->count);
    tr_plan_free(plan);
}

static void test_charts_in_any_order(void **state)
{
    (void)state;
    static const struct {
        const char *model, *case_name;
        double end;
    } runs[] = {{"four_bar", "turns", 2}, {"bricard", "turn", 4}, {"snakeboard_wide", "ride", 20}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        tr_system *system = system_called(runs[i].model, runs[i].case_name);
        Flow *flow = flow_of(system);
        const Met met = meet_charts(flow, runs[i].end, 1e-3);
        print_message("%s: %u charts\n", runs[i].model, met.count);
        assert_true(met.count >= 2);
        for (uint32_t k = 0; k < met.count; k++) ask_chart(flow->plan, met.chart[k], false);
        check_order(system, flow, &met, false);
        check_order(system, flow, &met, true);
        close_flow(flow);
        tr_system_free(system);
    }
}

// All that contacts may do, forwards and backwards
static void test_footings_in_any_order(void **state)
{
    (void)state;
    enum { MODES = 4, MOST = 8 };
    static const bool open[MODES] = {false, true, false, true},
                      slips[MODES] = {false, false, true, false};
    tr_error err = {0};
    tr_system *system = system_called("hopping_wheel", NULL);
    tr_plan *plan[2] = {tr_plan_new(system, &err), tr_plan_new(system, &err)};
    const Footing *footing[2][MODES];
    double *x = calloc(tr_input_count(system), sizeof *x);
    for (uint32_t i = 0; i < system->input_count; i++) x[i] = system->inputs[i].value;
    assert_true(system->latch_count > 0 && system->latch_count <= MOST);
    for (int which = 0; which < 2; which++)
        for (int k = 0; k < MODES; k++) {
            const int i = which ? MODES - 1 - k : k;
            LatchMode modes[MOST] = {0};
            for (uint32_t j = 0; j < system->latch_count; j++)
                modes[j] = (LatchMode){.is_open = open[i],
                                       .is_slipping = slips[i] && system->latches[j].slips};
            footing[which][i] = tr_plan_footing(plan[which], modes, x, &err);
            if (!footing[which][i]) fail_msg("%s", err.text);
            ask_footing(plan[which], footing[which][i], which);
        }
    for (int i = 0; i < MODES; i++) assert_same_footing(footing[0][i], footing[1][i]);
    assert_ptr_equal(footing[0][1], footing[0][3]); // open is open
    assert_int_equal(plan[0]->footing_count, plan[1]->footing_count);
    assert_true(plan[0]->footing_count >= 2);
    for (int which = 0; which < 2; which++) tr_plan_free(plan[which]);
    free(x);
    tr_system_free(system);
}

// ---- what is derived stays -----------------------------------------------------------------

// The bytes of a system: what it is made of, and what that points to
typedef struct Bytes {
    uint8_t *at;
    size_t size, capacity;
} Bytes;

static void keep(Bytes *b, const void *from, size_t size)
{
    if (!size) return;
    if (b->size + size > b->capacity) {
        b->capacity = 2 * (b->size + size);
        b->at = realloc(b->at, b->capacity);
        assert_non_null(b->at);
    }
    memcpy(b->at + b->size, from, size);
    b->size += size;
}

static Bytes bytes_of(const tr_system *s)
{
    Bytes b = {0};
    const uint32_t velocities = tr_system_inputs(s, TR_VELOCITY, NULL);
    keep(&b, s, sizeof *s);
    keep(&b, s->graph, sizeof *s->graph);
    keep(&b, s->graph->nodes, s->graph->count * sizeof *s->graph->nodes);
    keep(&b, s->inputs, s->input_count * sizeof *s->inputs);
    keep(&b, s->outputs, s->output_count * sizeof *s->outputs);
    for (uint32_t i = 0; i < s->output_count; i++)
        keep(&b, s->outputs[i].values,
             (size_t)s->outputs[i].rows * s->outputs[i].columns * sizeof *s->outputs[i].values);
    keep(&b, s->rows, s->row_count * sizeof *s->rows);
    for (uint32_t i = 0; i < s->row_count; i++) {
        keep(&b, s->rows[i].slopes, velocities * sizeof *s->rows[i].slopes);
        keep(&b, s->rows[i].inner_slopes,
             tr_system_velocities(s, NULL) * sizeof *s->rows[i].inner_slopes);
    }
    keep(&b, s->latches, s->latch_count * sizeof *s->latches);
    keep(&b, s->alarms, s->alarm_count * sizeof *s->alarms);
    keep(&b, s->names, s->name_count * sizeof *s->names);
    keep(&b, s->conditions, s->condition_count * sizeof *s->conditions);
    return b;
}

typedef struct Use {
    const char *model, *case_name;
    const char *parameter; // for sensitivities; NULL: they are not given
    const char *hold;      // of a steady motion; NULL: there is none
    const char *input;     // for feedback; NULL: there is none
    double end;
} Use;

static void check_words(char *words, const tr_error *err)
{
    if (!words) fail_msg("%s", err->text);
    tr_text_free(words);
}

static void simulate(const tr_system *system, const Use *use, const char *sensitivity)
{
    tr_error err = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = use->end, o.output = NULL, o.sensitivity = sensitivity;
    if (!tr_simulate(system, &o, NULL, &err)) fail_msg("%s: %s", use->model, err.text);
}

static void find_steady(const tr_system *system, const Use *use)
{
    tr_error err = {0};
    tr_steady_options o = tr_steady_defaults();
    o.holds = &use->hold, o.hold_count = 1;
    tr_steady *steady = tr_steady_find(system, &o, &err);
    if (!steady) fail_msg("%s: %s", use->model, err.text);
    check_words(tr_steady_text(steady, false, &err), &err);
    tr_steady_free(steady);
}

static void design(const tr_system *system, const Use *use)
{
    tr_error err = {0};
    tr_lqr_options o = tr_lqr_defaults();
    o.inputs = use->input;
    const tr_lqr *lqr = tr_lqr_design(system, &o, &err);
    if (!lqr) fail_msg("%s: %s", use->model, err.text);
    check_words(tr_lqr_text(lqr, false, &err), &err);
    tr_lqr_free(lqr);
}

// All that can be done with it
static void use_system(const tr_system *system, const Use *use)
{
    tr_error err = {0};
    check_words(tr_check_text(system, false, &err), &err);
    check_words(tr_derive_text(system, true, &err), &err);
    check_words(tr_eval_text(system, false, &err), &err);
    check_words(tr_linearise_text(system, NULL, &err), &err);
    simulate(system, use, NULL);
    if (use->parameter) simulate(system, use, use->parameter);
    if (use->hold) find_steady(system, use);
    if (use->input) design(system, use);
    double *x = calloc(tr_input_count(system), sizeof *x);
    if (!initial_of(system, x, &err)) fail_msg("%s", err.text);
    tr_program_free(compile_reduced(system, "vdot", NULL, &err));
    tr_program_free(tr_compile(system, "M", NULL, &err));
    if (err.status) fail_msg("%s", err.text);
    free(x);
}

static void test_derived_stays(void **state)
{
    (void)state;
    static const Use uses[] = {
        {"cart_pole", "free", "M", "x_rate", "push", 0.2},
        {"bicycle", "circle", "g", "roll=-0.25", NULL, 0.2},
        {"four_bar", "turns", NULL, NULL, NULL, 0.5},
        {"hopping_wheel", NULL, NULL, NULL, NULL, 1},
    };
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        tr_system *system = system_called(uses[i].model, uses[i].case_name);
        Bytes before = bytes_of(system);
        use_system(system, &uses[i]);
        Bytes after = bytes_of(system);
        assert_int_equal(before.size, after.size);
        assert_memory_equal(before.at, after.at, before.size);
        free(before.at);
        free(after.at);
        tr_system_free(system);
    }
}

// Every model, and what looks at all of it
static void test_no_model_grows(void **state)
{
    (void)state;
    DIR *models = opendir(MODELS_DIR);
    assert_non_null(models);
    for (struct dirent *entry; (entry = readdir(models));) {
        const char *end = strstr(entry->d_name, ".yaml");
        if (!end || end[5]) continue;
        char name[300];
        tr_error err = {0};
        snprintf(name, sizeof name, "%.*s", (int)(end - entry->d_name), entry->d_name);
        tr_system *system = system_called(name, NULL);
        const uint32_t nodes = system->graph->count;
        check_words(tr_check_text(system, false, &err), &err);
        check_words(tr_eval_text(system, false, &err), &err);
        if (system->graph->count != nodes) fail_msg("%s has more nodes than were derived", name);
        tr_system_free(system);
    }
    closedir(models);
}

// ---- flows leave nothing -------------------------------------------------------------------

static void open_and_close(tr_plan *plan, int count)
{
    tr_error err = {0};
    for (int i = 0; i < count; i++) {
        Flow *flow = tr_flow_new(plan, NULL, &err);
        if (!tr_flow_ready(flow, FLOW_RUN, &err)) fail_msg("%s", err.text);
        tr_flow_free(flow);
    }
}

static void test_flows_leave_nothing(void **state)
{
    (void)state;
    static const char *const models[] = {"double_pendulum", "four_bar", "hopping_wheel"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        tr_error err = {0};
        tr_system *system = system_called(models[i], NULL);
        tr_plan *plan = tr_plan_new(system, &err);
        open_and_close(plan, 1);
        const size_t compiled = plan->compiled;
        assert_true(compiled >= 2);
        open_and_close(plan, 999); // until the caches of malloc are full
        const size_t before = mallinfo2().uordblks;
        open_and_close(plan, 10000);
        const size_t after = mallinfo2().uordblks;
        print_message("%s: %zu keys, %zu bytes before, %zu after\n", models[i], compiled, before,
                      after);
        assert_int_equal(plan->compiled, compiled);
        assert_true(after < before + 10000); // what a byte of each would be, and more
        tr_plan_free(plan);
        tr_system_free(system);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_charts_in_any_order), cmocka_unit_test(test_footings_in_any_order),
        cmocka_unit_test(test_derived_stays),       cmocka_unit_test(test_no_model_grows),
        cmocka_unit_test(test_flows_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
