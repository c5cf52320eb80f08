// SPDX-License-Identifier: Apache-2.0
// Reduction against multipliers, on random forests with random constraints (thicket.h); what must
// not change the motion: the partition, the speeds that describe it; reactions that are chosen; and
// closed forms.
#include "plans.h"
#include "sim/method.h"
#include "thicket.h"

#include <inttypes.h>

// ---- a model that is reduced ---------------------------------------------------------------

enum { PART = BRIEF ? 3 : 1 }; // of the random forests

typedef struct Reduced {
    System *described;
    Flow *flow;
    Probe probe;          // of the system reduced
    uint32_t independent; // velocities and speeds
} Reduced;

static Flow *flow_of(const char *text, tr_error *err)
{
    tr_model *model = tr_model_parse(text, err);
    System *system = tr_derive(model, NULL, err);
    tr_model_free(model);
    Flow *flow = open_flow(system, err);
    if (!flow) tr_system_free(system);
    return flow;
}

static void look_at(Reduced *r, double t, const double *y)
{
    tr_flow_fill(r->flow, t, y);
    memcpy(r->probe.in, r->flow->inputs, r->flow->system->input_count * sizeof(double));
    probe_run(&r->probe);
}

// All outputs at the start, and more: the independent velocities as w, their rates as w_rate
static void open_probe(Reduced *r, System *s)
{
    tr_error err = {0};
    uint32_t list[MAX_V];
    Expr w[MAX_V], rate[MAX_V];
    r->independent = tr_independent(s, list);
    for (uint32_t j = 0; j < r->independent; j++)
        w[j] = s->inputs[list[j]].symbol, rate[j] = s->inputs[list[j]].rate;
    tr_output(s, "w", w, r->independent, 1, &err);
    tr_output(s, "w_rate", rate, r->independent, 1, &err);
    r->probe = probe_of_system(s, false, &err);
    look_at(r, 0, r->flow->start);
}

static Reduced reduced(const char *text)
{
    tr_error err = {0};
    Reduced r = {.flow = flow_of(text, &err)};
    if (!r.flow) fail_msg("%d:%d: %s", err.line, err.column, err.text);
    r.described = (System *)r.flow->system;
    open_probe(&r, tr_flow_system(r.flow, &err));
    return r;
}

static void let_go(Reduced *r)
{
    close_flow(r->flow);
    probe_free(&r->probe);
    tr_system_free(r->described);
}

static void check_refused(const char *text, const char *words)
{
    tr_error err = {0};
    assert_null(flow_of(text, &err));
    assert_string_equal(err.text, words);
    assert_int_equal(err.status, TR_INVALID);
}

static const double *values(const Reduced *r, const char *name)
{
    return probe_output(&r->probe, name);
}
static double named(const Reduced *r, const char *name) { return *values(r, name); }

static const Output *output_of(const Reduced *r, const char *name)
{
    const Output *output = tr_system_output(r->probe.system, text_of(name));
    if (!output) fail_msg("there is no output '%s'", name);
    return output;
}

static double at(const Reduced *r, const char *name, int row, int column)
{
    return values(r, name)[row * (int)output_of(r, name)->columns + column];
}

// ---- comparing -----------------------------------------------------------------------------

static const double nothing[MAX_V]; // MAX_ROWS is less

// max |a - b| against max |b|, `scale` and 1
static void check_scaled(const char *name, const double *a, const double *b, int n, double scale,
                         double tolerance)
{
    double size = fmax(1, scale), off = 0;
    for (int k = 0; k < n; k++) size = fmax(size, fabs(b[k]));
    for (int k = 0; k < n; k++)
        if (!(fabs(a[k] - b[k]) <= off * size)) off = fabs(a[k] - b[k]) / size;
    if (!is_below(off, tolerance)) fail_msg("%s is off by %.3g", name, off);
}

static void check_vector(const char *name, const double *a, const double *b, int n,
                         double tolerance)
{
    check_scaled(name, a, b, n, 1, tolerance);
}

static double largest(const double *x, int n)
{
    double most = 0;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(x[k]));
    return most;
}

// Speeds that describe the motion badly cost digits.
static double growth(const Reduced *r)
{
    return fmax(1, largest(values(r, "H"), (int)(output_of(r, "H")->rows * r->independent)));
}

// ---- what the system says, rows in the order of the forest ---------------------------------

typedef struct Found {
    double G[MAX_ROWS][MAX_V], g[MAX_ROWS], gamma[MAX_ROWS], phi[MAX_ROWS];
    double lambda[MAX_ROWS], tau[MAX_V];
} Found;

// The row of the forest that is called so: "t3.lateral"
static int row_called(const Thicket *f, const char *name)
{
    int tie, part = 0;
    char word[20];
    assert_int_equal(sscanf(name, "t%d.%19s", &tie, word), 2);
    while (strcmp(tie_kinds[f->tie[tie].kind].part[part], word) != 0) part++;
    return first_row(f, tie) + part;
}

// A row that the system left out holds whatever happens.
static void take_numbers(const Thicket *f, const Reduced *r, const Equations *e, Found *found)
{
    const System *s = r->flow->system;
    bool there[MAX_ROWS] = {false};
    memset(found, 0, sizeof *found);
    for (int i = 0; i < e->m; i++) found->phi[i] = (double)NAN;
    for (int i = 0, holonomic = 0; i < (int)output_of(r, "G")->rows; i++) {
        const int row = row_called(f, s->rows[i].name);
        there[row] = true;
        for (int k = 0; k < e->n; k++) found->G[row][k] = at(r, "G", i, k);
        found->g[row] = at(r, "g", i, 0);
        found->gamma[row] = at(r, "gamma", i, 0);
        found->lambda[row] = at(r, "lambda", i, 0);
        if (s->rows[i].position.id) found->phi[row] = at(r, "phi", holonomic++, 0);
    }
    for (int i = 0; i < e->m; i++)
        if (!there[i]) check_vector("a row left out", e->G[i], nothing, e->n, 1e-14);
    for (int k = 0, driven = 0; k < e->n; k++)
        if (e->told[k]) found->tau[k] = at(r, "tau", driven++, 0);
}

// The system's state in the forest, driven joints as the forest has them
static void take_state(Thicket *f, const Reduced *r)
{
    const double *q = values(r, "q");
    f->t = r->probe.in[0];
    for (int i = 0; i < f->ne.count; i++)
        for (int k = 0; k < ne_positions[f->ne.body[i].type]; k++) f->ne.body[i].q[k] = *q++;
    put_velocities(f, values(r, "v"));
    follow_motions(f, NULL);
}

// ---- the equations -------------------------------------------------------------------------

static void check_rows(const Equations *e, const Found *found)
{
    double residual[MAX_ROWS], size = 0;
    for (int i = 0; i < e->m; i++) {
        check_vector("G", found->G[i], e->G[i], e->n, 1e-12);
        if (!isnan(found->phi[i])) assert_close(found->phi[i], e->phi[i], 1e-12);
        residual[i] = e->g[i];
        for (int k = 0; k < e->n; k++) {
            residual[i] += e->G[i][k] * e->v[k];
            size = fmax(size, fabs(e->G[i][k] * e->v[k]));
        }
    }
    check_vector("g", found->g, e->g, e->m, 1e-12);
    check_vector("gamma", found->gamma, e->gamma, e->m, 1e-10);
    check_scaled("G v + g", residual, nothing, e->m, size, 1e-12);
}

// With reactions as they were found
static void check_free_dynamics(const Reduced *r, const Equations *e, const Found *found)
{
    double Q[MAX_V];
    for (int k = 0; k < e->n; k++) {
        check_vector("M", values(r, "M") + k * e->n, e->d.M[k], e->n, 1e-12);
        Q[k] = e->Q[k];
        for (int i = 0; i < e->m; i++) Q[k] += e->L[k][i] * found->lambda[i];
    }
    check_vector("c", values(r, "c"), e->d.c, e->n, 1e-12);
    check_vector("Q", values(r, "Q"), Q, e->n, 1e-12);
    check_vector("v", values(r, "v"), e->v, e->n, 1e-14);
}

// M v' + c - Q - G^T lambda = tau, 0 where nothing drives; and no part of lambda does nothing but
// add to its norm: n^T W lambda = 0
static void check_balance(const Reduced *r, const Equations *e, const Found *found)
{
    double tau[MAX_V], size[MAX_V];
    find_torques(e, values(r, "vdot"), found->lambda, tau, size);
    for (int k = 0; k < e->n; k++) tau[k] = (tau[k] - found->tau[k]) / (1 + size[k]);
    check_vector("M v' + c - Q - G^T lambda - tau", tau, nothing, e->n, 1e-11 * growth(r));
    for (int j = 0; j < e->closings; j++) {
        double sum = 0;
        for (int i = 0; i < e->m; i++) sum += e->closing[j][i] * found->lambda[i];
        check_scaled("n^T W lambda", &sum, nothing, 1, largest(found->lambda, e->m), 1e-11);
    }
}

static double power_of(const Equations *e, const Found *found)
{
    double power = e->stored_power;
    for (int k = 0; k < e->n; k++) {
        power += (e->Q[k] + found->tau[k]) * e->v[k];
        for (int i = 0; i < e->m; i++) power += e->L[k][i] * found->lambda[i] * e->v[k];
    }
    for (int i = 0; i < e->m; i++) power -= found->lambda[i] * e->g[i];
    return power;
}

// v^T G^T lambda = -lambda . g, row by row: what does not depend on time does no work.
static void check_powers(const Reduced *r, const Equations *e, const Found *found)
{
    for (int i = 0; i < e->m; i++) {
        double power = found->lambda[i] * e->g[i], size = 0;
        for (int k = 0; k < e->n; k++) {
            power += found->lambda[i] * e->G[i][k] * e->v[k];
            size += fabs(found->lambda[i] * e->G[i][k] * e->v[k]);
        }
        check_scaled("v^T G^T lambda + lambda.g", &power, nothing, 1, size, 1e-12 * growth(r));
    }
    assert_close(named(r, "power"), power_of(e, found), 1e-11 * growth(r));
    assert_close(named(r, "kinetic"), e->d.kinetic, 1e-12);
    assert_close(named(r, "potential"), e->potential, 1e-12);
}

// ---- the kernel ----------------------------------------------------------------------------

// x_p = H w + J x_a + rest; x_a as it is
static void expand(const Reduced *r, const Equations *e, const double *w, const double *x,
                   const char *rest, double *out)
{
    for (int k = 0, p = 0; k < e->n; k++) {
        out[k] = x[k];
        if (e->told[k]) continue;
        out[k] = rest ? at(r, rest, p, 0) : 0;
        for (int j = 0; j < (int)r->independent; j++) out[k] += at(r, "H", p, j) * w[j];
        for (int l = 0, a = 0; l < e->n; l++)
            if (e->told[l]) out[k] += at(r, "J", p, a++) * x[l];
        p++;
    }
}

// v = H w + J v_a + k,  v' = H w' + J v_a' + h,  G_p H = 0
static void check_kernel(const Reduced *r, const Equations *e)
{
    double found[MAX_V];
    const double *vdot = values(r, "vdot");
    assert_int_equal(output_of(r, "H")->columns, r->independent);
    expand(r, e, values(r, "w"), e->v, "k", found);
    check_vector("H w + J v_a + k", found, e->v, e->n, 1e-11);
    expand(r, e, values(r, "w_rate"), vdot, "h", found);
    check_vector("H w' + J v_a' + h", found, vdot, e->n, 1e-11);
    check_vector("the rates of v", values(r, "all_vdot"), vdot, e->n, 1e-14);
    for (uint32_t j = 0; j < r->independent; j++) {
        double unit[MAX_V] = {0}, sum[MAX_ROWS] = {0};
        unit[j] = 1;
        expand(r, e, unit, nothing, NULL, found);
        for (int i = 0; i < e->m; i++)
            for (int k = 0; k < e->n; k++) sum[i] += e->G[i][k] * found[k];
        check_scaled("G H", sum, nothing, e->m, largest(found, e->n), 1e-11);
    }
}

static void check_momentum(const Reduced *r, const Equations *e)
{
    double momentum[MAX_V] = {0};
    for (int k = 0, p = 0; k < e->n; k++) {
        if (e->told[k]) continue;
        for (int l = 0; l < e->n; l++)
            for (int j = 0; j < (int)r->independent; j++)
                momentum[j] += at(r, "H", p, j) * e->d.M[k][l] * e->v[l];
        p++;
    }
    assert_int_equal(output_of(r, "momentum")->rows, r->independent);
    check_vector("momentum", values(r, "momentum"), momentum, (int)r->independent, 1e-12);
}

// Velocities of a tree's first joint are those of a base, unless each is along an axis.
static bool is_base(const Thicket *f, int velocity)
{
    int i = f->ne.count - 1;
    while (f->ne.body[i].first > velocity || !ne_velocities[f->ne.body[i].type]) i--;
    return f->ne.body[i].parent < 0 && !ne_is_axial(f->ne.body[i].type);
}

// Some rows and columns of `whole`, in order
static void check_block(const Reduced *r, const char *whole, const char *name, const bool *row,
                        bool wanted_row, const bool *column, bool wanted_column)
{
    const Output *all = output_of(r, whole), *block = output_of(r, name);
    int rows = 0, columns = 0;
    for (int j = 0; j < (int)all->columns; j++) columns += !column || column[j] == wanted_column;
    assert_int_equal(block->columns, columns);
    for (int i = 0; i < (int)all->rows; i++) {
        if (row[i] != wanted_row) continue;
        for (int j = 0, k = 0; j < (int)all->columns; j++)
            if (!column || column[j] == wanted_column)
                assert_true(same_bits(at(r, name, rows, k++), at(r, whole, i, j)));
        rows++;
    }
    assert_int_equal(block->rows, rows);
}

// Here formulas of speeds are about joints alone.
static void check_blocks(const Thicket *f, const Reduced *r, const Equations *e)
{
    bool row[MAX_V], column[MAX_V] = {false};
    uint32_t list[MAX_V];
    const System *s = r->probe.system;
    for (int k = 0, p = 0; k < e->n; k++)
        if (!e->told[k]) row[p++] = is_base(f, k);
    tr_independent(s, list);
    for (uint32_t j = 0; j < r->independent; j++)
        column[j] = s->inputs[list[j]].kind == TR_INNER ||
                    (s->inputs[list[j]].kind == TR_VELOCITY &&
                     is_base(f, (int)probe_velocity(&r->probe, s->inputs[list[j]].name)));
    check_block(r, "H", "H_ee", row, true, column, true);
    check_block(r, "H", "H_ep", row, true, column, false);
    check_block(r, "H", "H_pe", row, false, column, true);
    check_block(r, "H", "D", row, false, column, false);
    check_block(r, "J", "J_ext", row, true, NULL, true);
    check_block(r, "J", "J_int", row, false, NULL, true);
}

// ---- random forests ------------------------------------------------------------------------

// All of the above, where the system stands
static void check_instant(Thicket *f, const Reduced *r)
{
    static Equations e;
    static Found found;
    take_state(f, r);
    find_equations(f, &e);
    take_numbers(f, r, &e, &found);
    check_rows(&e, &found);
    memcpy(e.gamma, found.gamma, sizeof e.gamma); // it has more digits than differences have
    assert_true(solve_equations(f, &e));
    check_free_dynamics(r, &e, &found);
    const double tolerance = 1e-11 * growth(r);
    check_vector("vdot", values(r, "vdot"), e.vdot, e.n, tolerance);
    check_vector("lambda", found.lambda, e.lambda, e.m, tolerance);
    for (int k = 0; k < e.n; k++)
        if (!e.told[k]) e.tau[k] = 0; // to rounding
    check_scaled("tau", found.tau, e.tau, e.n, largest(e.lambda, e.m), tolerance);
    check_balance(r, &e, &found);
    check_powers(r, &e, &found);
    check_kernel(r, &e);
    check_momentum(r, &e);
    check_blocks(f, r, &e);
}

// The energy of the forest along the rates of the flow, against the power put in
static void check_energy_rate(Thicket *f, Reduced *r, double t, const double *y)
{
    static Equations e;
    double rate[4 * MAX_V], moved[4 * MAX_V], sum = 0, size = 0;
    const uint32_t n = r->flow->size;
    tr_flow_rate(r->flow, t, y, rate);
    const double h = difference_step(rate, (int)n) / 8;
    for (int step = -4; step <= 4; step++) {
        for (uint32_t i = 0; i < n; i++) moved[i] = y[i] + step * h * rate[i];
        for (uint32_t i = 0; i < r->flow->quaternion_count; i++)
            tr_make_unit(moved + r->flow->quaternions[i]);
        look_at(r, t + step * h, moved);
        take_state(f, r);
        find_equations(f, &e);
        sum += difference_weight(step) * (e.d.kinetic + e.potential) / h;
        size = fmax(size, fabs(e.d.kinetic) + fabs(e.potential));
    }
    look_at(r, t, y);
    check_scaled("dE/dt", &sum, values(r, "power"), 1, size, 1e-7 * growth(r));
}

// What there was among the random forests
static struct {
    int redundant, antagonist, rigid, given, led, dragged, turned;
} seen;

static void take_census(const Thicket *f, const Chart *chart)
{
    bool antagonist = false, led = false, dragged = false;
    for (uint32_t j = 0; j < chart->surplus_count; j++)
        antagonist = antagonist || chart->antagonist[j];
    for (int i = 0; i < f->ties; i++) led = led || f->tie[i].leads;
    for (int i = 0; i < f->pulls; i++) dragged = dragged || f->pull[i].tie >= 0;
    seen.redundant += chart->surplus_count > 0;
    seen.antagonist += antagonist;
    seen.rigid += chart->passive == chart->m_locked;
    seen.turned += chart->system->turned_count > 0;
    seen.given += f->tense >= 0;
    seen.led += led && chart->surplus_count;
    seen.dragged += dragged && chart->surplus_count;
}

// The start, and two states on the way; false when the motion ends before, where ties give out, or
// goes on in another chart
static bool check_run(Thicket *f, const char *more)
{
    tr_error err = {0};
    Buffer text = write_thicket(f, more);
    Reduced r = reduced(text.at);
    Mover *mover = tr_mover_new(tr_method("erk", &err), r.flow, r.flow->start, &err);
    if (!mover) fail_msg("%s", err.text);
    take_census(f, r.flow->now->chart);
    const Charted *view = r.flow->now;
    mover->end = 0.1;
    bool same = true;
    for (int i = 0; i < 3 && same; i++) {
        same = !i || (mover->method->advance(mover, 0.05 * i, &err) && r.flow->now == view);
        if (!same) break;
        look_at(&r, mover->t, mover->y);
        check_instant(f, &r);
        check_energy_rate(f, &r, mover->t, mover->y);
    }
    tr_mover_free(mover);
    let_go(&r);
    tr_buffer_free(&text);
    return same;
}

// A number from the environment: make soak asks for many forests.
static uint64_t asked(const char *variable, uint64_t usual)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : usual;
}

static uint64_t last_forest; // the state of random numbers from which it was made

static void check_census(int models)
{
    print_message(
        "of %d forests %d redundant, %d antagonist, %d without freedom, %d with a tension, "
        "%d with a lead, %d with friction\n",
        models, seen.redundant, seen.antagonist, seen.rigid, seen.given, seen.led, seen.dragged);
    if (models < 30) return; // that were chosen to look at
    assert_true(seen.redundant > models * 20 / 90 && seen.antagonist > models * 2 / 90);
    assert_true(seen.rigid > models / 90 && seen.given > models * 5 / 90);
    assert_true(seen.led > models * 5 / 90 && seen.dragged > models * 5 / 90);
}

static void test_random(void **state)
{
    (void)state;
    Random r = {asked("TRUNDLE_SEED", 1)};
    int whole = 0;
    const int models = (int)asked("TRUNDLE_FORESTS", 90 / PART);
    for (int i = 0; i < models; i++) {
        last_forest = r.state;
        Thicket f = any_thicket(&r);
        whole += check_run(&f, "");
    }
    assert_true(whole > 0.95 * models);
    check_census(models);
}

static int say_last_forest(void **state)
{
    (void)state;
    print_message("the last forest again: TRUNDLE_FORESTS=1 TRUNDLE_SEED=%" PRIu64 "\n",
                  last_forest);
    return 0;
}

// A free base with oblique hinges: the same, eliminated along inner axes
static void test_inner_axes(void **state)
{
    (void)state;
    Random r = {3};
    seen.turned = 0;
    for (int models = 0; seen.turned < 20 / PART; models++) {
        assert_true(models < 1000);
        Thicket f = any_thicket(&r);
        if (f.ne.body[0].type == NE_FREE) check_run(&f, "");
    }
}

// Two bases with oblique hinges, and links of one between those of the other: what moves is the
// same as with one behind the other.
#define TWO_BASES(between, behind)                                                             \
    "trundle: 1\n"                                                                             \
    "bodies:\n"                                                                                \
    "  a: {joint: {type: free}, mass: 2, inertia: {xx: 1, yy: 2, zz: 2}}\n" between            \
    "  a1: {parent: a, joint: {type: revolute, axis: '1, 2, 2', at: '0.5, 0, 0'}, mass: 1,\n"  \
    "       com: '0.3, 0.2, 0.1', inertia: {xx: 1, yy: 1, zz: 1}}\n"                           \
    "  a2: {parent: a1, joint: {type: revolute, axis: '2, 1, 2', at: '0, 0.4, 0'}, mass: 1,\n" \
    "       com: '0.1, 0.2, 0.3', inertia: {xx: 1, yy: 2, zz: 2}}\n" behind "contacts:\n"      \
    "  edge: {kind: skate, body: a2, at: '0.2, 0.1, -0.5', direction: '1, 0, 0'}\n"            \
    "  other: {kind: skate, body: b1, at: '-0.2, 0.3, 0.5', direction: '1, 0, 0'}\n"           \
    "guess: {a.wx: 1, a.vx: 0.5, d(a1): 2, d(a2): 1, b.wy: 1, d(b1): -1}\n"
#define OTHER_BASE                                                                             \
    "  b: {joint: {type: free, at: '3, 0, 0'}, mass: 1, inertia: {xx: 1, yy: 1, zz: 2}}\n"     \
    "  b1: {parent: b, joint: {type: revolute, axis: '2, -1, 2', at: '0.5, 0, 0'}, mass: 1,\n" \
    "       com: '0.3, 0.2, 0.1', inertia: {xx: 1, yy: 2, zz: 1}}\n"

static void test_two_bases(void **state)
{
    (void)state;
    static const char *const names[] = {"a.vx", "a.vy", "a.vz",    "a.wx",    "a.wy",   "a.wz",
                                        "b.vx", "b.wz", "a1_rate", "a2_rate", "b1_rate"};
    Reduced between = reduced(TWO_BASES(OTHER_BASE, "")),
            behind = reduced(TWO_BASES("", OTHER_BASE));
    assert_int_equal(between.described->turned_count, 4); // both bases by inner axes
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_close(probe_vdot(&between.probe, names[i]), probe_vdot(&behind.probe, names[i]),
                     1e-13);
    assert_true(fabs(probe_vdot(&behind.probe, "a2_rate")) > 0.1);
    let_go(&between);
    let_go(&behind);
}

// ---- independent speeds --------------------------------------------------------------------

static void test_independent(void **state)
{
    (void)state;
    Random r = {2};
    char more[300];
    int whole = 0, models = 0;
    while (models < 60 / PART) {
        Thicket f = any_thicket(&r);
        if (!any_speeds(&r, &f, more, sizeof more)) continue;
        whole += check_run(&f, more);
        models++;
    }
    assert_true(whole > 0.9 * models); // a speed that was chosen may stop being one
}

// A robot on two wheels [B Remark 4]: by its speed and turning, or by its wheels
#define ROBOT                                                                                 \
    "trundle: 1\n"                                                                            \
    "parameters: {R: 0.1, b: 0.15}\n"                                                         \
    "bodies:\n"                                                                               \
    "  body: {joint: {type: planar}, mass: 8, com: \"0.1, 0, 0\", inertia: {zz: 0.25}}\n"     \
    "  left: {parent: body, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, b, R\"},\n"   \
    "         mass: 1, inertia: {axial: 0.01, radial: 0.005}}\n"                              \
    "  right: {parent: body, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, -b, R\"},\n" \
    "          mass: 1, inertia: {axial: 0.01, radial: 0.005}}\n"                             \
    "contacts:\n"                                                                             \
    "  left_tyre: {kind: rolling, body: left, radius: R}\n"                                   \
    "  right_tyre: {kind: rolling, body: right, radius: R}\n"                                 \
    "outputs: {ahead: R*(d(left) + d(right))/2, turn: (d(right) - d(left))*R/(2*b),"          \
    " arc: body.wz*b/R + body.vx}\n"                                                          \
    "initial: {body.vx: 0.5, body.wz: 0.2}\n"

static void check_robot(const char *text, const double (*H)[2], double first, double second,
                        uint32_t base_columns)
{
    Reduced r = reduced(text);
    assert_int_equal(r.independent, 2);
    assert_int_equal(output_of(&r, "H")->rows, 5);
    for (int i = 0; i < 5; i++) check_vector("H", values(&r, "H") + 2 * i, H[i], 2, 1e-13);
    check_vector("w", values(&r, "w"), (double[]){first, second}, 2, 1e-13);
    assert_int_equal(output_of(&r, "H_ee")->rows, 3);
    assert_int_equal(output_of(&r, "H_ee")->columns, base_columns);
    let_go(&r);
}

// Rows are vx, vy, wz, left, right. A formula counts as a speed of the base when it uses one.
static void test_robot(void **state)
{
    (void)state;
    const double R = 0.1, b = 0.15;
    const double wheels[5][2] = {{R / 2, R / 2}, {0}, {-R / (2 * b), R / (2 * b)}, {1}, {0, 1}};
    check_robot(ROBOT "independent: [d(left), d(right)]\n", wheels, 4.7, 5.3, 0);
    const double mixed[5][2] = {{0, 1}, {0}, {R / b, -1 / b}, {-1, 2 / R}, {1}};
    check_robot(ROBOT "independent: [ahead, d(right)]\n", mixed, 5.3, 0.5, 0);
    const double based[5][2] = {{1}, {0}, {-R / b, R / b}, {1 / R + 1, -1}, {1 / R - 1, 1}};
    check_robot(ROBOT "independent: [body.vx, arc]\n", based, 0.5, 0.8, 2);
    const double speeds[5][2] = {{1}, {0}, {0, 1}, {1 / R, -b / R}, {1 / R, b / R}};
    check_robot(ROBOT "independent: [ahead, turn]\n", speeds, 0.5, 0.2, 0);
    check_robot(ROBOT "independent: [body.vx, body.wz*b/R + body.vx]\n", based, 0.5, 0.8, 2);
}

// ---- other partitions ----------------------------------------------------------------------

static Reduced reduced_anyhow(const char *text, Random *random)
{
    tr_error err = {0};
    Reduced r = {.flow = flow_of(text, &err)};
    if (!r.flow) fail_msg("%d:%d: %s", err.line, err.column, err.text);
    r.described = (System *)r.flow->system;
    System *s = tr_plan_system(r.flow->plan, r.flow->footing, NULL, &err);
    uint32_t v[MAX_V], row[MAX_ROWS], column[MAX_ROWS];
    static double G[MAX_ROWS * MAX_V];
    const uint32_t n = tr_system_velocities(s, v), m = s->row_count;
    Expr slopes[MAX_ROWS * MAX_V]; // of rows as they are eliminated
    for (uint32_t i = 0; i < m * n; i++) slopes[i] = s->rows[i / n].inner_slopes[i % n];
    tr_output(s, "slopes", slopes, m, n, &err);
    tr_program *program = tr_compile(s, "slopes", NULL, &err);
    tr_workspace *workspace = tr_workspace_new(program, &err);
    tr_evaluate(program, workspace, r.flow->inputs, G);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < m && s->inputs[v[k]].drive == DRIVE_MOTION; i++) G[i * n + k] = 0;
    const uint32_t count = any_pivots(random, m, n, G, row, column);
    assert_int_equal(count, r.flow->now->chart->m_locked);
    for (uint32_t k = 0; k < count; k++) column[k] = v[column[k]];
    tr_reduce(s, &(Partition){.row = row, .dependent = column, .count = count}, &err);
    assert_int_equal(err.status, TR_OK);
    open_probe(&r, s);
    tr_workspace_free(workspace);
    tr_program_free(program);
    return r;
}

static void test_any_partition(void **state)
{
    (void)state;
    Random random = {3};
    for (int i = 0; i < 40 / PART; i++) {
        Thicket f = any_thicket(&random);
        f.tense = -1; // it decides on the partition, as does what leads
        for (int k = 0; k < f.ties; k++) f.tie[k].leads = false;
        Buffer text = write_thicket(&f, "");
        Reduced r = reduced_anyhow(text.at, &random);
        check_instant(&f, &r);
        let_go(&r);
        tr_buffer_free(&text);
    }
}

// ---- everything driven ---------------------------------------------------------------------

// All joints are driven, and the third and fifth do the same.
static Thicket any_puppet(Random *r)
{
    Thicket f = {.ne = {.gravity = v3_times(10, any_vector(r))}, .tense = -1};
    for (int k = 0; k < 5; k++) {
        any_body(r, &f);
        f.ne.body[k].type = chance(r, 0.5) ? NE_REVOLUTE : NE_PRISMATIC;
        f.part[k] = (Part){0};
        any_joint(r, &f.part[k]);
        f.part[k].drive = DRIVE_MOTION, f.part[k].torque = 0;
    }
    f.part[4] = f.part[2];
    ne_number(&f.ne);
    return f;
}

// A coupling of those two bears nothing, and torques are those of the model without it.
static void test_all_driven(void **state)
{
    (void)state;
    Random random = {4};
    for (int i = 0; i < 30 / PART; i++) {
        Thicket f = any_puppet(&random);
        Buffer plain = write_thicket(&f, "");
        f.ties = 1;
        f.tie[0] = (Tie){.kind = COUPLING, .body = 2, .on = 4, .third = 4, .a = 1, .weight = 1};
        f.tie[0].factor = 1;
        Buffer coupled = write_thicket(&f, "");
        Reduced a = reduced(plain.at), b = reduced(coupled.at);
        for (int k = 0; k < 5; k++) {
            char name[20];
            snprintf(name, sizeof name, "tau.b%d", k);
            assert_close(named(&a, name), named(&b, name), 1e-13);
        }
        assert_true(named(&b, "lambda.t0.coupling") == 0);
        assert_int_equal(output_of(&b, "H")->columns, 0);
        check_instant(&f, &b);
        let_go(&a);
        let_go(&b);
        tr_buffer_free(&plain);
        tr_buffer_free(&coupled);
    }
}

// ---- reactions -----------------------------------------------------------------------------

// A block that slides along x on smooth feet, its mass h above them
#define BLOCK(feet, forces)                                                                       \
    "trundle: 1\n"                                                                                \
    "parameters: {m: 3, h: 0.2, a: 0.5, b: 0.3, mu: 0.25}\n"                                      \
    "bodies:\n"                                                                                   \
    "  block: {joint: {type: free}, mass: m, com: \"0, 0, h\", inertia: {xx: 1, yy: 2, zz: 3}}\n" \
    "contacts:\n" feet "forces:\n" forces "initial: {block.vx: 2}\n"
#define FOOT(name, x, y) "  " name ": {kind: slide, body: block, at: \"" x ", " y ", 0\"}\n"
#define DRAG(name, x, y)                                                                          \
    "  drag_" name ": {body: block, at: \"" x ", " y ", 0\", force: \"-mu*lambda." name ".normal" \
    ", 0, 0\"}\n"
#define THREE(each) each("front", "a", "0") each("left", "-a", "b") each("right", "-a", "-b")
#define FOUR(each) \
    each("fl", "a", "b") each("fr", "a", "-b") each("rl", "-a", "b") each("rr", "-a", "-b")
#define PUSH "  push: {body: block, at: \"0.1, 0.05, 0\", force: \"0, 0, -7\"}\n"

static const char *const feet[] = {"lambda.fl.normal", "lambda.fr.normal", "lambda.rl.normal",
                                   "lambda.rr.normal"};

// x'' = -mu g, and what is in front bears m g/2 (1 + mu h/a)
static void test_friction(void **state)
{
    (void)state;
    const double m = 3, h = 0.2, a = 0.5, mu = 0.25, g = 9.81;
    const double front = m * g / 2 * (1 + mu * h / a), rear = m * g - front;
    Reduced r = reduced(BLOCK(THREE(FOOT), THREE(DRAG)));
    assert_close(probe_vdot(&r.probe, "block.vx"), -mu * g, 1e-13);
    assert_close(named(&r, "lambda.front.normal"), front, 1e-13);
    assert_close(named(&r, "lambda.left.normal"), rear / 2, 1e-13);
    assert_close(named(&r, "lambda.right.normal"), rear / 2, 1e-13);
    assert_close(named(&r, "power"), -mu * m * g * 2, 1e-13);
    let_go(&r);
    r = reduced(BLOCK(FOUR(FOOT), FOUR(DRAG))); // one foot too many: they share
    assert_close(probe_vdot(&r.probe, "block.vx"), -mu * g, 1e-13);
    for (int i = 0; i < 4; i++) assert_close(named(&r, feet[i]), (i < 2 ? front : rear) / 2, 1e-13);
    let_go(&r);
    static const char words[] = "a force is not linear in the reaction 'left.normal'";
#define PULL(force) BLOCK(THREE(FOOT), "  f: {body: block, force: \"" force ", 0, 0\"}\n")
    check_refused(PULL("lambda.left.normal^2"), words);
    check_refused(PULL("abs(lambda.left.normal)"), words);
    check_refused(PULL("lambda.left.normal*lambda.right.normal"), words);
}

// What four feet bear is known but for z (1, -1, -1, 1).
static void check_feet(const char *reactions, const double *least, double z)
{
    char text[2000];
    snprintf(text, sizeof text, "%sreactions: %s\n", BLOCK(FOUR(FOOT), PUSH), reactions);
    Reduced r = reduced(text);
    for (int i = 0; i < 4; i++)
        assert_close(named(&r, feet[i]), least[i] + (i == 0 || i == 3 ? z : -z), 1e-13);
    let_go(&r);
}

static void test_chosen_reactions(void **state)
{
    (void)state;
    const double N = 3 * 9.81 + 7, ahead = 7 * 0.1 / 0.5, aside = 7 * 0.05 / 0.3;
    double least[4];
    for (int i = 0; i < 4; i++)
        least[i] = (N + (i < 2 ? ahead : -ahead) + (i % 2 ? -aside : aside)) / 4;
    check_feet("{}", least, 0);
    // w z = -(w_1 N_1 - w_2 N_2 - w_3 N_3 + w_4 N_4), with w the sum of the weights
    check_feet("{weights: {fl: 3, rr.normal: 2}}", least,
               -(3 * least[0] - least[1] - least[2] + 2 * least[3]) / 7);
    check_feet("{tension: {rl: 4 + 3*cos(t)}}", least, least[2] - 7);
    check_feet("{lead: [fr, rl]}", least, -(least[0] + least[3]) / 2);
    check_refused(
        BLOCK(THREE(FOOT), PUSH) "reactions: {tension: {left: 4}}\n",
        "the tension of 'left.normal' cannot be given: this reaction is unique, or follows from "
        "other tensions");
}

// Of two that do the same, one leads: the other bears nothing.
static void test_lead(void **state)
{
    (void)state;
#define TWICE(more) BLOCK(THREE(FOOT) FOOT("again", "-a", "b"), PUSH) more
    Reduced both = reduced(TWICE("")), lead = reduced(TWICE("reactions: {lead: [left]}\n"));
    const double half = named(&both, "lambda.left.normal");
    assert_close(named(&both, "lambda.again.normal"), half, 1e-13);
    assert_close(named(&lead, "lambda.left.normal"), 2 * half, 1e-13);
    assert_below(fabs(named(&lead, "lambda.again.normal")), 1e-14);
    assert_true(half > 1);
    let_go(&both);
    let_go(&lead);
    lead = reduced(TWICE("reactions: {lead: [left, again], weights: {again: 3}}\n")); // they share
    assert_close(named(&lead, "lambda.left.normal"), 1.5 * half, 1e-13);
    assert_close(named(&lead, "lambda.again.normal"), 0.5 * half, 1e-13);
    let_go(&lead);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_random, say_last_forest),
        cmocka_unit_test(test_inner_axes),
        cmocka_unit_test(test_two_bases),
        cmocka_unit_test(test_independent),
        cmocka_unit_test(test_robot),
        cmocka_unit_test(test_any_partition),
        cmocka_unit_test(test_all_driven),
        cmocka_unit_test(test_friction),
        cmocka_unit_test(test_chosen_reactions),
        cmocka_unit_test(test_lead),
    };
    if (getenv("TRUNDLE_FORESTS")) cmocka_set_test_filter("test_random");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
