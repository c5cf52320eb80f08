// SPDX-License-Identifier: Apache-2.0
// Derivatives of accelerations by way of the equations of motion, against those of the graph: by
// columns, and along anything.
#include "chains.h"
#include "expr/derivative.h"
#include "plan/sensitivity.h"
#include "plan/tangent.h"
#include "plans.h"
#include "program/compile.h"
#include "program/evaluate.h"
#include "reduce/bound_changes.h"
#include "reduce/reduce.h"

// ---- both ways -----------------------------------------------------------------------------

typedef struct Ways {
    System *own;
    Tangent tangent;
    uint32_t *w, count, columns;
    Program *by_graph, *by_equations; // accelerations, then their derivatives, by rows
} Ways;

static uint32_t list_others(const System *s, const uint32_t *w, uint32_t count, Expr *others)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) others[n++] = s->inputs[w[i]].symbol;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        const bool is_state = input->kind == TR_POSITION && input->is_extra;
        if ((is_state || input->kind == TR_INPUT) && !input->definition.id)
            others[n++] = input->symbol;
    }
    return n;
}

// Of a system of one's own, which is freed with them; false where there is no such way.
static bool make_ways(System *own, const Partition *partition, Ways *both)
{
    tr_error err = {0};
    *both = (Ways){.own = own, .w = calloc(own->input_count + 1u, sizeof *both->w)};
    assert_true(tr_tangent_list(own, &both->tangent));
    tr_tangent_directions(&both->tangent);
    Expr *others = calloc(own->input_count + 1u, sizeof *others);
    both->count = tr_independent(own, both->w);
    const uint32_t n = both->count, other_count = list_others(own, both->w, n, others);
    both->columns = both->tangent.p + other_count;
    const size_t all = n + (size_t)n * both->columns;
    Expr *first = calloc(2 * all + 1, sizeof *first), *second = first + all;
    for (uint32_t i = 0; i < n; i++) first[i] = own->inputs[both->w[i]].rate;
    tr_system_resolve(own, first, n);
    tr_tangent_slopes(&both->tangent, first, n, others, other_count, (KnownSlopes){0}, first + n);
    const bool there = tr_tangent_accelerations(&both->tangent, partition, others, other_count,
                                                second, second + n);
    if (all) both->by_graph = tr_compile_open(own, first, all, NULL, &err);
    if (there && all) both->by_equations = tr_compile_open(own, second, all, NULL, &err);
    if (err.status) fail_msg("%s", err.text);
    free(others);
    free(first);
    return there && all;
}

static void free_ways(Ways *both)
{
    tr_program_free(both->by_graph);
    tr_program_free(both->by_equations);
    tr_tangent_free(&both->tangent);
    tr_system_free(both->own);
    free(both->w);
}

// What rounding the state makes of derivatives, which is much where a pivot nearly vanishes
static double rounding_of(const Program *program, const double *in, const double *x)
{
    const size_t all = program->output_count, n = program->input_count;
    double *beside = calloc(n + all + 1, sizeof *beside), *y = beside + n, most = 0;
    tr_workspace *w = tr_workspace_new(program, NULL);
    for (size_t i = 0; i < n; i++) beside[i] = in[i] * (i % 2 ? 1 + 1e-15 : 1 - 1e-15);
    tr_evaluate(program, w, beside, y);
    for (size_t i = 0; i < all; i++) most = fmax(most, fabs(y[i] - x[i]));
    tr_workspace_free(w);
    free(beside);
    return most;
}

// Both give the same, as measured by the largest of accelerations and of their derivatives.
static void assert_same_slopes(const Ways *both, const double *in, double bound, const char *what)
{
    const size_t all = both->by_graph->output_count;
    double *x = calloc(2 * all + 1, sizeof *x), *y = x + all, size = 1;
    const Program *const programs[] = {both->by_graph, both->by_equations};
    for (int i = 0; i < 2; i++) {
        tr_workspace *w = tr_workspace_new(programs[i], NULL);
        tr_evaluate(programs[i], w, in, i ? y : x);
        tr_workspace_free(w);
    }
    for (size_t i = 0; i < all; i++) size = fmax(size, fabs(x[i]));
    const double allowed = fmax(bound * size, 10 * rounding_of(both->by_graph, in, x));
    for (size_t i = 0; i < all; i++)
        if (!is_below(fabs(x[i] - y[i]), allowed))
            fail_msg("%s: row %zu, column %ld of %u: %.17g, not %.17g", what,
                     i < both->count ? i : (i - both->count) / both->columns,
                     i < both->count ? -1L : (long)((i - both->count) % both->columns),
                     both->columns, y[i], x[i]);
    free(x);
}

// Any state and any inputs; parameters as they are
static void draw_state(const System *s, Random *r, double *in)
{
    for (uint32_t i = 0; i < s->input_count; i++)
        in[i] = s->inputs[i].kind == TR_PARAMETER ? s->inputs[i].value : any(r);
    for (uint32_t i = 0; i < s->quaternion_count; i++)
        any_quaternion(r, in + s->quaternions[i].position);
}

// ---- along anything ------------------------------------------------------------------------

static bool changes(const System *s, const uint32_t *w, uint32_t count, uint32_t input)
{
    const Input *of = &s->inputs[input];
    bool is_free = of->kind == TR_PARAMETER || of->kind == TR_POSITION;
    for (uint32_t i = 0; i < count; i++) is_free = is_free || w[i] == input;
    return is_free && !of->definition.id;
}

static Expr new_symbol(System *s, const char *kind, uint32_t k)
{
    tr_error err = {0};
    char name[60];
    snprintf(name, sizeof name, "%s_%u", kind, k);
    const Expr symbol = tr_input(s, name, TR_DIRECTION, 0, &err);
    if (err.status) fail_msg("%s", err.text);
    return symbol;
}

// Quaternions stay units.
static void keep_units(const System *s, const SlopeColumn *along, double *in)
{
    for (uint32_t i = 0; i < s->quaternion_count; i++) {
        double *q = in + s->quaternions[i].position, *d[4] = {0}, radial = 0;
        for (uint32_t k = 0; k < along->count; k++) {
            const uint32_t at = (uint32_t)(tr_system_input(s, along->symbols[k]) - s->inputs);
            if (at >= s->quaternions[i].position && at < s->quaternions[i].position + 4)
                d[at - s->quaternions[i].position] =
                    in + (tr_system_input(s, along->changes[k]) - s->inputs);
        }
        for (int k = 0; k < 4; k++) radial += d[k] ? q[k] * *d[k] : 0;
        for (int k = 0; k < 4; k++)
            if (d[k]) *d[k] -= radial * q[k];
    }
}

// One direction of all states and parameters, and one of parameters alone: accelerations change as
// the graph says. False where there is no other way.
static bool check_changes(System *own, const Partition *partition, const double *at, Random *r,
                          const char *what)
{
    const uint32_t inputs = own->input_count, n = tr_system_velocities(own, NULL);
    uint32_t *w = calloc(inputs + 1u, sizeof *w);
    const uint32_t count = tr_independent(own, w), all = 2 * count;
    Expr *from = calloc(4 * (size_t)inputs + n + count + 2 * (size_t)all + 1, sizeof *from);
    Expr *to = from + 2 * (size_t)inputs, *frozen = to + 2 * (size_t)inputs, *rate = frozen + n,
         *first = rate + count, *second = first + all;
    SlopeColumn columns[2] = {{from, to, 0, NO_INPUT, 0},
                              {from + inputs, to + inputs, 0, NO_INPUT, 0}};
    for (uint32_t k = 0; k < n; k++) frozen[k] = new_symbol(own, "frozen", k);
    for (uint32_t i = 0; i < inputs; i++)
        for (int c = 0; c < 2; c++) {
            if (!changes(own, w, count, i) || (c && own->inputs[i].kind != TR_PARAMETER)) continue;
            const uint32_t k = (uint32_t)c * inputs + columns[c].count++;
            from[k] = own->inputs[i].symbol, to[k] = new_symbol(own, c ? "other" : "along", i);
        }
    for (uint32_t i = 0; i < count; i++) rate[i] = own->inputs[w[i]].rate;
    tr_system_resolve(own, rate, count);
    for (int c = 0; c < 2; c++) {
        tr_forward(own->graph, rate, count, columns[c].symbols, columns[c].changes,
                   columns[c].count, second);
        for (uint32_t i = 0; i < count; i++) first[2 * i + (uint32_t)c] = second[i];
    }
    const bool there = tr_acceleration_changes(own, partition, columns, 2, frozen, second) && all;
    if (there) {
        tr_error err = {0};
        Ways both = {.count = 0,
                     .columns = 2,
                     .by_graph = tr_compile_open(own, first, all, NULL, &err),
                     .by_equations = tr_compile_open(own, second, all, NULL, &err)};
        if (err.status) fail_msg("%s", err.text);
        double *in = calloc(own->input_count, sizeof *in);
        memcpy(in, at, inputs * sizeof *in);
        for (uint32_t i = inputs; i < own->input_count; i++) in[i] = any(r);
        keep_units(own, &columns[0], in);
        assert_same_slopes(&both, in, 1e-11, what);
        free(in);
        tr_program_free(both.by_graph);
        tr_program_free(both.by_equations);
    }
    free(w);
    free(from);
    tr_system_free(own);
    return there;
}

// ---- forests -------------------------------------------------------------------------------

static void check_forests(const Style *style, uint64_t seed, int count)
{
    Random r = {seed}, other = {seed + 100};
    int told = 0;
    for (int i = 0; i < count; i++) {
        const RandomForest f = any_forest(&r, 1 + (int)random_below(&r, 9));
        Probe p = derive_as(&f, style);
        Ways both;
        if (make_ways(tr_system_copy(p.system, NULL), NULL, &both)) {
            double *in = calloc(p.system->input_count, sizeof *in);
            for (int k = 0; k < 3; k++) {
                draw_state(p.system, &r, in);
                assert_same_slopes(&both, in, 1e-11, "forest");
            }
            free(in);
            draw_state(p.system, &other, p.in);
            assert_true(
                check_changes(tr_system_copy(p.system, NULL), NULL, p.in, &other, "changes"));
            told++;
        }
        free_ways(&both);
        probe_free(&p);
    }
    assert_true(told > count * 9 / 10); // but for those that nothing is free to move in
}

static void test_random_forests(void **state)
{
    (void)state;
    check_forests(&plain, 1, BRIEF ? 40 : 100);
    check_forests(&(Style){.prefix = "b", .parameters = true}, 2, BRIEF ? 20 : 50);
}

// ---- chains --------------------------------------------------------------------------------

static const struct {
    int hinges;
    size_t most, blocks; // derivatives of the graph take 16,591 of four hinges, and 905,874 of 30
} chains[] = {{4, 6500, 0}, {10, 26000, 0}, {30, 240000, 4}};

static uint32_t count_blocks(const Program *p)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < p->instruction_count; k++) count += is_block(p->instructions[k].code);
    return count;
}

// Accelerations with their derivatives by places and speeds
static void test_operations_of_chains(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        Random r = {7 + i};
        System *s = chain_with(&r, chains[i].hinges, "");
        tr_error err = {0};
        tr_plan *plan = tr_plan_new(s, &err);
        const tr_compile_options fixed = {.size = sizeof fixed, .fix_parameters = true};
        tr_program *p = tr_compile_in(plan, "wdot wdot_q wdot_w", &fixed, &err);
        if (err.status) fail_msg("%s", err.text);
        const size_t count = tr_program_sizes(p).operations;
        print_message("%d hinges: %zu operations\n", chains[i].hinges, count);
        if (count > chains[i].most) fail_msg("%d hinges: %zu operations", chains[i].hinges, count);
        assert_int_equal(count_blocks(p), chains[i].blocks);
        tr_program_free(p);
        tr_plan_free(plan);
        tr_system_free(s);
    }
}

// Long enough to be solved by blocks
static void test_long_chains(void **state)
{
    (void)state;
    Random r = {3};
    System *s = chain_with(&r, 15, "");
    Ways both;
    assert_true(make_ways(tr_system_copy(s, NULL), NULL, &both));
    assert_int_equal(count_blocks(both.by_graph), 0);
    assert_true(count_blocks(both.by_equations) > 2);
    double *in = calloc(s->input_count, sizeof *in);
    for (int k = 0; k < 10; k++) {
        draw_state(s, &r, in);
        assert_same_slopes(&both, in, 1e-11, "chain");
    }
    free(in);
    free_ways(&both);
    tr_system_free(s);
}

// ---- models --------------------------------------------------------------------------------

// What programs take, against the graph: whichever way was chosen
static void assert_chosen(Flow *flow, const Ways *both, const double *in)
{
    tr_error err = {0};
    const uint32_t n = both->count, p = both->tangent.p;
    if (!n || !p) return;
    tr_program *program = tr_compile_in(flow->plan, "wdot_q wdot_w", NULL, &err);
    if (err.status) fail_msg("%s", err.text);
    tr_workspace *work[] = {tr_workspace_new(both->by_graph, NULL),
                            tr_workspace_new(program, NULL)};
    double *x = calloc(both->by_graph->output_count, sizeof *x), size = 1;
    double *y = calloc(program->output_count, sizeof *y);
    tr_evaluate(both->by_graph, work[0], in, x);
    tr_evaluate(program, work[1], in, y);
    for (uint32_t i = 0; i < both->by_graph->output_count; i++) size = fmax(size, fabs(x[i]));
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < p + n; j++) {
            const double found = j < p ? y[i * p + j] : y[n * p + i * n + j - p];
            assert_below(fabs(found - x[n + i * both->columns + j]), 1e-11 * size);
        }
    for (int i = 0; i < 2; i++) tr_workspace_free(work[i]);
    tr_program_free(program);
    free(x);
    free(y);
}

// At the start and at other states, which need not keep to the constraints: both ways are
// derivatives of one function there. Whether there is a way by the tree, and along anything
static void check_system(tr_system *system, const char *name, bool there, bool changes)
{
    tr_error err = {0};
    Random r = {11};
    Flow *flow = open_flow(system, &err);
    if (!flow) fail_msg("%s: %s", name, err.text);
    Ways both;
    const bool found =
        make_ways(tr_flow_system(flow, &err), &flow->now->programs->partition, &both);
    if (found != there) fail_msg("%s: %s", name, found ? "there is a way" : "there is no way");
    double *in = calloc(both.own->input_count + 1u, sizeof *in);
    memcpy(in, flow->inputs, both.own->input_count * sizeof *in);
    assert_chosen(flow, &both, in);
    for (int k = 0; found && k < 6; k++) {
        assert_same_slopes(&both, in, 1e-11, name);
        for (uint32_t i = 0; i < both.own->input_count; i++)
            if (both.own->inputs[i].kind == TR_VELOCITY || both.own->inputs[i].kind == TR_INNER)
                in[i] = any(&r);
            else if (is_placed(&both.own->inputs[i]))
                in[i] += 0.02 * any(&r);
        for (uint32_t i = 0; i < both.own->quaternion_count; i++)
            any_quaternion(&r, in + both.own->quaternions[i].position);
    }
    const Partition *partition = &flow->now->programs->partition;
    assert_true(check_changes(tr_flow_system(flow, &err), partition, in, &r, name) == changes);
    free(in);
    free_ways(&both);
    close_flow(flow);
    tr_system_free(system);
}

static void test_models(void **state)
{
    (void)state;
    static const char *const told[] = {
        "bicycle",        "kick_scooter", "rolling_disc",      "ball_on_slope",   "car_ackermann",
        "four_bar",       "bricard",      "andrews",           "treadmill",       "tricycle",
        "tyre",           "motorcycle",   "turntable",         "segway",          "sk8o",
        "cart",           "snakeboard",   "floating_arm",      "pinned_pendulum", "disc_on_waves",
        "tyre_on_bump",   "ball_in_bowl", "ball_on_saddle",    "bicycle_on_bump", "spherical_robot",
        "ballbot_wheels", "car_on_hills", "motorcycle_on_bump"};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        check_system(system_called(told[i], NULL), told[i], true, true);
    // bodies that bend, nothing that is free
    static const char *const others[] = {"flexible_mast", "stick_slip", "five_bar"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check_system(system_called(others[i], NULL), others[i], false, false);
    check_system(system_called("slider_crank_flexible", NULL), "bending", false, true);
}

// Skates on a base that is free: some rows are folded into the masses, others are not.
static void test_skates(void **state)
{
    (void)state;
    check_system(
        system_from(
            "trundle: 1\n"
            "bodies:\n"
            "  base: {joint: {type: free}, mass: 3, inertia: {axial: 0.05, radial: 0.1, axis: "
            "\"0, 0, 1\"}}\n"
            "  arm: {parent: base, joint: {type: revolute, axis: \"1, 0, 0\"}, mass: 1.3, "
            "inertia: {xx: 0.48, yy: 0.44, zz: 0.5, xz: 0.04, yz: 0.03}}\n"
            "  turret: {parent: arm, joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 4.6, "
            "inertia: {xx: 0.36, yy: 0.4, zz: 0.43}}\n"
            "  slider: {parent: turret, joint: {type: prismatic, axis: \"0, -0.47, 0.89\"}, "
            "mass: 0.3, inertia: {xx: 0.35, yy: 0.28, zz: 0.34}}\n"
            "contacts:\n"
            "  first: {kind: skate, body: arm}\n"
            "  second: {kind: skate, body: slider}\n"
            "guess: {base.z: 0.4, base.vx: 1, base.vy: 0.7, base.wx: -0.4, arm: 0.3, d(arm): "
            "-0.2, turret: 0.15, d(turret): 0.8, d(slider): -0.04}\n"),
        "skates", true, true);
}

#define ALONE                                                                                     \
    "bodies: {b: {joint: {type: free}, mass: 2, inertia: {axial: 0.09, radial: 0.05, axis: \"0, " \
    "1, 0\"}}}\ncontacts: {c: {kind: rolling, body: b, radius: 0.3, axis: \"0, 1, 0\", %s}}\n"    \
    "initial: {b.wy: 3}\n"
// A wheel before a frame, which a foot slides behind; a swing on it
#define CARRIED                                                                                  \
    "bodies:\n"                                                                                  \
    "  f: {joint: {type: free}, mass: 5, com: \"0.1, 0, 0.2\", inertia: {xx: 0.4, yy: 0.5, zz: " \
    "0.3, xz: 0.05}}\n"                                                                          \
    "  w: {parent: f, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0.5, 0, 0\"}, mass: 1, "  \
    "inertia: {axial: 0.04, radial: 0.02}}\n"                                                    \
    "  s: {parent: f, joint: {type: revolute, axis: \"1, 0, 0\", at: \"0, 0, 0.5\"}, mass: 1, "  \
    "com: \"0, 0, -0.2\", inertia: {xx: 0.02, yy: 0.03, zz: 0.04}}\n"                            \
    "contacts:\n"                                                                                \
    "  c: {kind: rolling, body: w, radius: 0.3, %s}\n"                                           \
    "  d: {kind: slide, body: f, at: \"-0.4, 0, -0.3\", unilateral: false}\n"                    \
    "roles: {s: {torque: \"-0.01*lambda.d.normal*sin(s)\"}, w: {torque: "                        \
    "\"-0.02*lambda.c.normal*d(w)\"}}\n"                                                         \
    "initial: {f.vx: 1}\n"

// A sledge that a swing on it presses down: the row that is used has constant slopes.
static void test_rubbing(void **state)
{
    (void)state;
    check_system(
        system_from(
            "trundle: 1\n"
            "bodies:\n"
            "  lift: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}, mass: 1}\n"
            "  sledge: {parent: lift, joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, "
            "mass: 2}\n"
            "  swing: {parent: sledge, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: q}, "
            "mass: 1, com: \"0.3, 0, -0.4\", inertia: {yy: 0.1}}\n"
            "contacts: {c: {kind: slide, body: sledge, unilateral: false}}\n"
            "forces: {rub: {body: sledge, force: \"-0.3*lambda.c.normal, 0, 0\"}}\n"
            "initial: {x: 0, d(x): 1, q: 0.3}\n"),
        "rubbing", true, true);
}

// Also where forces use what presses a wheel on, and reactions that were found in other axes
static void test_laws_of_slip(void **state)
{
    (void)state;
    static const char *const bodies[] = {ALONE, CARRIED};
    static const char *const laws[] = {
        "longitudinal: free, lateral: free",
        "longitudinal: viscous, lateral: viscous, viscosity: 3",
        "longitudinal: coulomb, lateral: coulomb, friction: 0.4, load: 20, creep: 0.1",
        "longitudinal: coulomb, lateral: coulomb, friction: 0.4, creep: 0.1",
        "lateral: coulomb, friction: 0.4, creep: 0.1",
        "longitudinal: tyre, lateral: tyre, traction: 9, cornering: 7, creep: 0.1",
        "lateral: tyre, cornering: 7, relaxation: 0.1, creep: 0.1",
        "lateral: \"-2*slip\"",
        "lateral: \"-2*slip*normal\"",
        "unilateral: false",
    };
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
            char text[1800], rest[1600];
            snprintf(rest, sizeof rest, bodies[i], laws[k]);
            snprintf(text, sizeof text, "trundle: 1\n%s", rest);
            check_system(system_from(text), laws[k], true, true);
        }
}

// With parameters fixed, by places and speeds
static void check_operations(tr_system *s, const char *name, size_t most)
{
    tr_error err = {0};
    const tr_compile_options fixed = {.size = sizeof fixed, .fix_parameters = true};
    tr_program *p = compile_reduced(s, "wdot wdot_q wdot_w", &fixed, &err);
    if (err.status) fail_msg("%s", err.text);
    if (p->operations > most) fail_msg("%s: %zu operations", name, p->operations);
    tr_program_free(p);
    tr_system_free(s);
}

// Derivatives of the graph take 3,852, 3,766 and 11,926; of a bicycle that slips 15,879.
static void test_operations_of_models(void **state)
{
    (void)state;
    check_operations(system_called("bicycle", NULL), "bicycle", 2800);
    check_operations(system_called("kick_scooter", NULL), "kick_scooter", 2900);
    check_operations(system_called("sk8o_open", NULL), "sk8o_open", 8300);
    tr_model *slips = model_called("bicycle");
    static const char *const wheels[] = {"front", "rear"};
    static const char *const fields[][2] = {
        {"lateral", "coulomb"}, {"friction", "0.8"}, {"creep", "0.1"}};
    for (int i = 0; i < 6; i++) {
        char path[60];
        snprintf(path, sizeof path, "contacts/%s/%s", wheels[i / 3], fields[i % 3][0]);
        change(slips, path, fields[i % 3][1]);
    }
    check_operations(system_of(slips, NULL), "bicycle that slips", 7700);
}

// ---- sensitivities -------------------------------------------------------------------------

// Operations of the program for these parameters
static size_t operations_for(const tr_system *system, const char *names)
{
    tr_error err = {0};
    Plan *plan = tr_sensitivity_plan(system, names, &err);
    Flow *flow = tr_flow_new(plan, NULL, &err);
    if (!flow || !tr_flow_ready(flow, 1u << CHART_TANGENT, &err)) fail_msg("%s", err.text);
    const size_t count =
        tr_program_sizes(flow_program(flow, CHART_TANGENT)->program).state_operations;
    tr_flow_free(flow);
    tr_plan_free(plan);
    return count;
}

static void check_sensitivity(tr_system *system, const char *names, size_t most)
{
    const size_t count = operations_for(system, names);
    print_message("%s: %zu operations\n", names, count);
    if (count > most) fail_msg("%s: %zu operations", names, count);
    tr_system_free(system);
}

// What does not change with a parameter is found once for all of them, and accelerations change by
// the shorter way: by the graph, and one after the other, these take 5,691, 6,406, 10,339 and
// 30,513.
static void test_operations_of_sensitivities(void **state)
{
    (void)state;
    Random r = {9};
    static const char rest[] = "parameters: {g: 9.81, k: 1, c: 0.1}\ngravity: 0, 0, -g\n"
                               "roles: {b3: {torque: \"-k*b3 - c*d(b3)\"}}\n";
    check_sensitivity(system_called("bicycle", "free"), "m0, theta, h2", 3850);
    check_sensitivity(system_called("motorcycle", NULL), "w, c", 4550);
    check_sensitivity(chain_with(&r, 10, rest), "g", 9600);
    check_sensitivity(chain_with(&r, 10, rest), "g, k, c", 16200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_skates),
        cmocka_unit_test(test_laws_of_slip),
        cmocka_unit_test(test_rubbing),
        cmocka_unit_test(test_operations_of_models),
        cmocka_unit_test(test_random_forests),
        cmocka_unit_test(test_operations_of_chains),
        cmocka_unit_test(test_operations_of_sensitivities),
        cmocka_unit_test(test_long_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
