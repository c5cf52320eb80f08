// SPDX-License-Identifier: Apache-2.0
// A system and a partition -> definitions and outputs. The forces of motion-driven joints follow
// from all the rest [B 27]: tau = M_a v' + c_a - Q_a - G_a^T lambda (T76).
// Inner axes, blocks, and forces that use reactions: (T59, T72, T78).
#include "reduce/reduce.h"

#include "expr/derivative.h"
#include "expr/forest.h"
#include "expr/walk.h"
#include "reduce/reduction.h"

#include <assert.h>
#include <stdlib.h>

// ---- sorting velocities and rows -----------------------------------------------------------

uint32_t *tr_reduction_room(Reduction *r, size_t count)
{
    uint32_t *list = tr_arena_alloc(r->room, count + 1, sizeof *list);
    if (!list) r->graph->failed = true;
    return list;
}

static bool is_driven(const Reduction *r, uint32_t v)
{
    return is_motion_driven(&r->system->inputs[r->v[v]]);
}

static bool sort(Reduction *r)
{
    const System *s = r->system;
    const uint32_t n = tr_system_velocities(s, NULL), m = s->row_count;
    r->v = tr_reduction_room(r, n), r->p = tr_reduction_room(r, n), r->a = tr_reduction_room(r, n),
    r->D = tr_reduction_room(r, n), r->I = tr_reduction_room(r, n);
    r->s = tr_reduction_room(r, m), r->R = tr_reduction_room(r, m), r->U = tr_reduction_room(r, m),
    r->order = tr_reduction_room(r, n + m);
    if (r->graph->failed) return false;
    r->nv = tr_system_velocities(s, r->v);
    r->nD = r->partition->count;
    for (uint32_t k = 0; k < n + m; k++) r->order[k] = k;
    for (uint32_t k = 0; k < n; k++) {
        if (is_driven(r, k)) {
            r->a[r->na++] = k;
            continue;
        }
        const uint32_t pivot = pivot_of(r->partition, r->v[k]);
        if (pivot < r->nD)
            r->D[pivot] = r->np;
        else
            r->I[r->nI++] = r->np;
        r->p[r->np++] = k;
    }
    assert(r->np == r->nD + r->nI);  // every pivot is a velocity that no motion drives
    for (uint32_t i = 0; i < m; i++) // in the order of their inputs
        for (uint32_t k = 0; k < r->nD && s->rows[i].is_speed; k++)
            if (r->partition->row[k] == i) r->s[r->ns++] = k;
    for (uint32_t i = 0; i < m; i++)
        if (!s->rows[i].is_speed && !s->rows[i].is_open && !is_pivot(r->partition, i))
            r->R[r->nR++] = i;
    r->accelerations = tr_matrix(r->graph, r->na, 1);
    for (uint32_t j = 0; j < r->na; j++) set(r->accelerations, j, 0, s->inputs[r->v[r->a[j]]].rate);
    r->kernel = r->nI + r->ns, r->unknowns = r->np + r->ns;
    r->free = tr_reduction_room(r, r->kernel);
    for (uint32_t k = 0; r->free && k < r->kernel; k++)
        r->free[k] = k < r->nI ? r->I[k] : r->np + (k - r->nI);
    return !r->graph->failed;
}

// ---- the free dynamics ---------------------------------------------------------------------

// Rows and columns of a matrix that are picked, in that order
Matrix tr_pick(Matrix m, const uint32_t *rows, uint32_t count, const uint32_t *columns,
               uint32_t width)
{
    Matrix part = tr_matrix(m.graph, count, width);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < width; j++)
            set(part, i, j, get(m, rows[i], columns ? columns[j] : j));
    return part;
}

static Matrix output_matrix(Reduction *r, const char *name)
{
    char room[64];
    const Output *output =
        tr_system_output(r->system, text_of(tr_system_inner(r->system, name, room)));
    Matrix m = tr_matrix(r->graph, output ? output->rows : 0, output ? output->columns : 0);
    if (!output)
        tr_fail(r->err, TR_USAGE, (Place){0}, "the system has no output '%s' to reduce", name);
    for (uint32_t i = 0; output && i < m.rows; i++)
        for (uint32_t j = 0; j < m.columns; j++) set(m, i, j, output->values[i * m.columns + j]);
    return m;
}

static Matrix mass_matrix(Reduction *r)
{
    char room[64];
    const char *name = tr_system_inner(r->system, "M", room);
    const bool is_left = r->system->forest && !tr_system_output(r->system, text_of(name));
    return is_left ? tr_forest_mass(r->system) : output_matrix(r, "M");
}

void tr_take_slopes(const Reduction *r)
{
    System *s = r->system;
    for (uint32_t i = 0; i < s->row_count; i++)
        if (!s->rows[i].slopes) tr_forest_slopes(s, &s->rows[i]);
}

// All of M and of the rows' slopes
static void take_matrices(Reduction *r)
{
    tr_take_slopes(r);
    r->M = mass_matrix(r);
}

// Q = Q0 + L lambda; L by used reaction. Leaves Q0 in r->Q.                              (T78)
static Matrix split_forces(Reduction *r)
{
    const uint32_t m = r->system->row_count;
    Expr *symbols = calloc(2 * (size_t)m + 1, sizeof *symbols), *slopes = NULL;
    uint32_t count = 0;
    bool used = false;
    for (uint32_t i = 0; i < r->nv; i++)
        used = used || tr_system_uses(r->system, get(r->Q, i, 0), TR_SOLVED);
    if (!symbols) r->graph->failed = true;
    for (uint32_t i = 0; symbols && used && i < m; i++)
        if (!r->system->rows[i].is_speed)
            r->U[count] = i, symbols[count++] = r->system->rows[i].symbol;
    if (count) slopes = calloc((size_t)r->nv * count + 1, sizeof *slopes);
    Matrix L = tr_matrix(r->graph, r->nv, count);
    if (slopes && r->Q.entries &&
        tr_dense_jacobian(r->graph, r->Q.entries, r->nv, symbols, count, slopes)) {
        for (uint32_t k = 0; k < count; k++) { // only those that a force uses
            bool acts = false;
            for (uint32_t i = 0; i < r->nv; i++) {
                const Expr slope = slopes[i * count + k];
                acts = acts || !is_zero(slope);
                set(L, i, r->nU, slope);
                if (tr_system_uses(r->system, slope, TR_SOLVED))
                    tr_fail(r->err, TR_INVALID, (Place){0},
                            "a force is not linear in the reaction '%s'",
                            r->system->rows[r->U[k]].name);
            }
            if (acts) r->U[r->nU++] = r->U[k];
        }
        Expr *nothing = symbols + m;
        for (uint32_t k = 0; k < count; k++) nothing[k] = zero(r->graph);
        tr_substitute(r->graph, r->Q.entries, r->nv, symbols, nothing, count, r->Q.entries);
    } else if (count)
        r->graph->failed = true;
    free(symbols);
    free(slopes);
    return L;
}

// ---- results -------------------------------------------------------------------------------

// x = column 0 + sum over used reactions of lambda_U times their column
static Expr combined(Matrix x, uint32_t i, Matrix used)
{
    Expr sum = get(x, i, 0);
    for (uint32_t j = 0; j < used.rows; j++) sum = add(sum, mul(get(x, i, 1 + j), get(used, j, 0)));
    return sum;
}

static void define(Reduction *r, Expr symbol, Expr meaning)
{
    Input *input = tr_system_input(r->system, symbol);
    if (input) input->definition = meaning;
}

static Expr velocity(const Reduction *r, uint32_t v) { return r->system->inputs[r->v[v]].symbol; }

static void put(Reduction *r, const char *name, Matrix m)
{
    if (m.entries) tr_system_put(r->system, name, m.entries, m.rows, m.columns, r->err);
}

// Rows by inner velocity, of which there is one for each in `places`, by velocity: v = C u
static Matrix turned_out(const Reduction *r, const uint32_t *places, Matrix m)
{
    const System *s = r->system;
    Matrix out = tr_pick(m, r->order, m.rows, NULL, m.columns);
    for (uint32_t t = 0; t < s->turned_count && !r->graph->failed; t++) {
        uint32_t first = 0;
        while (r->v[places[first]] != s->turned[t].inner) first++;
        for (uint32_t j = 0; j < m.columns; j++)
            for (uint32_t k = 0; k < 3; k++) {
                const Expr u[3] = {get(m, first, j), get(m, first + 1, j), get(m, first + 2, j)};
                set(out, first + k, j, tr_turned_out(&s->turned[t], u, (int)k));
            }
    }
    return out;
}

// v = C u,  v' = C u'                                                                   (T59)
static void define_turned(Reduction *r, const Turned *turned)
{
    Input *outer = &r->system->inputs[turned->outer];
    const Input *inner = &r->system->inputs[turned->inner];
    const Expr u[3] = {inner[0].symbol, inner[1].symbol, inner[2].symbol};
    const Expr rate[3] = {inner[0].rate, inner[1].rate, inner[2].rate};
    for (int k = 0; k < 3; k++) {
        outer[k].definition = tr_turned_out(turned, u, k);
        define(r, outer[k].rate, tr_turned_out(turned, rate, k));
    }
}

// In terms of those that are eliminated later                                     (T68) [B 11]
void tr_define_velocities(Reduction *r)
{
    for (uint32_t k = 0; k < 3 * r->system->turned_count; k++)
        r->system->inputs[r->system->turned[k / 3].inner + k % 3].definition = expr_at(r->graph, 0);
    for (uint32_t i = 0; i < r->nD; i++) {
        const Stage *s = &r->stages[i];
        Expr v = s->k;
        for (uint32_t n = 0; n < s->near_count; n++) {
            const uint32_t j = s->near[n];
            v = add(v, mul(s->h[j], j < r->np ? velocity(r, r->p[j])
                                              : pivot_row(r, r->s[j - r->np])->symbol));
        }
        for (uint32_t j = 0; j < r->na; j++)
            v = sub(v, mul(quotient(get(r->driven, i, j), s->pivot), velocity(r, r->a[j])));
        define(r, velocity(r, r->p[s->d]), v);
    }
    for (uint32_t i = 0; i < r->system->turned_count; i++) define_turned(r, &r->system->turned[i]);
    for (uint32_t i = 0; i < r->system->row_count; i++) // speeds that were not needed
        if (r->system->rows[i].is_speed && !is_pivot(r->partition, i))
            define(r, r->system->rows[i].symbol, r->system->rows[i].rate);
}

static void define_accelerations(Reduction *r, Matrix used)
{
    Matrix all = tr_matrix(r->graph, r->nv, 1);
    for (uint32_t j = 0; j < r->na; j++) set(all, r->a[j], 0, get(r->accelerations, j, 0));
    for (uint32_t i = 0; i < r->np; i++) {
        const Expr x = combined(r->x, i, used);
        const Expr rate = r->system->inputs[r->v[r->p[i]]].rate;
        set(all, r->p[i], 0, x);
        if (rate.id) define(r, rate, x);
    }
    for (uint32_t j = 0; j < r->ns; j++) {
        const Input *speed = tr_system_input(r->system, pivot_row(r, r->s[j])->symbol);
        if (speed) define(r, speed->rate, combined(r->x, r->np + j, used));
    }
    if (r->system->turned_count) put(r, "inner.vdot", all);
    put(r, "vdot", turned_out(r, r->order, all));
}

static void define_reactions(Reduction *r, Matrix used)
{
    Matrix lambda = tr_matrix(r->graph, r->system->row_count, 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->system->row_count; i++) {
        if (r->system->rows[i].is_speed) continue;
        const Expr x = combined(r->lambda, i, used);
        set(lambda, count++, 0, x);
        define(r, r->system->rows[i].symbol, x);
    }
    lambda.rows = count;
    if (count) put(r, "lambda", lambda);
}

// M_a v' + c_a - Q_a, with Q as it stands, reactions included                    (T76) [B 27]
Expr tr_bare_torque(const Reduction *r, uint32_t driven)
{
    char room[64];
    const Output *Q = tr_system_output(r->system, text_of("Q"));
    const uint32_t a = r->a[driven];
    const char *inverse = tr_system_inner(r->system, "inverse", room);
    if (!r->M.entries)
        return sub(tr_system_output(r->system, text_of(inverse))->values[a], Q->values[a]);
    Expr x = sub(get(r->c, a, 0), Q->values[a]);
    for (uint32_t k = 0; k < r->nv; k++)
        x = add(x, mul(get(r->M, a, k), r->system->inputs[r->v[k]].rate));
    return x;
}

// tau = M_a v' + c_a - Q_a - G_a^T lambda, where it did not come along the tree
static Expr whole_torque(const Reduction *r, uint32_t driven, Matrix borne)
{
    const uint32_t a = r->a[driven];
    Expr x = tr_bare_torque(r, driven);
    for (uint32_t i = 0; i < r->system->row_count; i++)
        if (!r->system->rows[i].is_speed && r->system->rows[i].slopes)
            x = sub(x, mul(r->system->rows[i].slopes[a], r->system->rows[i].symbol));
    return sub(x, get(borne, a, 0));
}

static void define_torques(Reduction *r, Matrix used)
{
    const bool is_there = r->torque.entries != NULL;
    Matrix tau = tr_matrix(r->graph, r->na, 1), borne = tr_matrix(r->graph, r->nv, 1);
    if (r->na && !is_there && borne.entries) tr_forest_bear(r->system, borne.entries);
    for (uint32_t j = 0; j < r->na; j++) {
        const Expr x = is_there ? combined(r->torque, j, used) : whole_torque(r, j, borne);
        set(tau, j, 0, x);
        define(r, r->system->inputs[r->v[r->a[j]]].motor, x);
    }
    if (r->na) put(r, "tau", tau);
}

static bool is_base(const Reduction *r, uint32_t place)
{
    return r->system->inputs[r->v[r->p[place]]].is_base;
}

// Whether an independent speed counts as one of the base: a plain velocity of it, or a formula that
// uses one
static bool is_base_speed(const Reduction *r, uint32_t column)
{
    if (column < r->nI) return is_base(r, r->I[column]);
    const Row *row = pivot_row(r, r->s[column - r->nI]);
    for (uint32_t i = 0; i < r->np; i++)
        if (is_base(r, i) && !is_zero(row->inner_slopes[r->p[i]])) return true;
    return false;
}

// H = [H_ee H_ep; H_pe D], J = [J_ext; J_int]                              (T72) [B 13, 17]
static void put_blocks(Reduction *r)
{
    uint32_t *rows[2] = {tr_reduction_room(r, r->np), tr_reduction_room(r, r->np)},
             *columns[2] = {tr_reduction_room(r, r->kernel), tr_reduction_room(r, r->kernel)};
    uint32_t nr[2] = {0}, nc[2] = {0};
    static const char *const names[2][2] = {{"H_ee", "H_ep"}, {"H_pe", "D"}};
    static const char *const driven[2] = {"J_ext", "J_int"};
    if (!rows[0] || !rows[1] || !columns[0] || !columns[1]) return;
    for (uint32_t i = 0; i < r->np; i++) {
        const int part = is_base(r, i) ? 0 : 1;
        rows[part][nr[part]++] = i;
    }
    for (uint32_t j = 0; j < r->kernel; j++) {
        const int part = is_base_speed(r, j) ? 0 : 1;
        columns[part][nc[part]++] = j;
    }
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++)
            put(r, names[i][j], tr_pick(r->H, rows[i], nr[i], columns[j], nc[j]));
        put(r, driven[i], tr_pick(r->J, rows[i], nr[i], NULL, r->na));
    }
}

// H^T M v: what the constraints leave of the momentum                (T72) [B footnote 4]
static void put_momentum(Reduction *r)
{
    Matrix v = tr_matrix(r->graph, r->nv, 1);
    if (!r->M.entries) return; // of many unknowns nobody asks
    for (uint32_t k = 0; k < r->nv; k++) set(v, k, 0, velocity(r, k));
    const Matrix M_p = tr_pick(r->M, r->p, r->np, NULL, r->nv);
    put(r, "momentum", tr_matrix_product(tr_matrix_transpose(r->H), tr_matrix_product(M_p, v)));
}

static void put_kinematics(Reduction *r)
{
    put_momentum(r);
    if (r->system->turned_count) put(r, "inner.H", r->H);
    r->H = turned_out(r, r->p, r->H), r->J = turned_out(r, r->p, r->J);
    r->k = turned_out(r, r->p, r->k), r->h = turned_out(r, r->p, r->h);
    put(r, "H", r->H);
    put(r, "J", r->J);
    put(r, "k", r->k);
    put(r, "h", r->h);
    put_blocks(r);
}

// ---- all of it -----------------------------------------------------------------------------

uint32_t tr_independent(const System *system, uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < system->input_count; i++) {
        const Input *input = &system->inputs[i];
        if (input->kind != TR_VELOCITY && input->kind != TR_SPEED) continue;
        const uint32_t at = input->definition.id ? tr_system_inner_input(system, i) : i;
        if (system->inputs[at].definition.id) continue;
        if (list) list[count] = at;
        count++;
    }
    return count;
}

// The rates of what programs may take in place of velocities; 0 where they do not
static void put_other_rates(Reduction *r)
{
    const System *s = r->system;
    const uint32_t most = 3 * s->turned_count + s->row_count;
    Matrix rates = tr_matrix(r->graph, most, 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        if (input->kind != TR_SPEED && input->kind != TR_INNER) continue;
        set(rates, count++, 0, input->definition.id ? zero(r->graph) : input->rate);
    }
    rates.rows = count;
    if (count) put(r, "sdot", rates);
}

static void note_pivots(Reduction *r)
{
    for (uint32_t k = 0; k < r->nD; k++)
        r->system->rows[r->partition->row[k]].pivot = r->stages[k].pivot;
}

static void put_results(Reduction *r)
{
    const Matrix used = tr_used_reactions(r);
    note_pivots(r);
    put_kinematics(r);
    tr_define_velocities(r);
    define_accelerations(r, used);
    if (r->system->least_torques && tr_has_antagonists(r)) {
        if (r->nU)
            tr_fail(r->err, TR_INVALID, (Place){0},
                    "torques cannot be made least where forces use reactions, as '%s'",
                    r->system->rows[r->U[0]].name);
        else
            tr_least_torques(r);
    }
    define_reactions(r, used);
    define_torques(r, used);
    put_other_rates(r);
}

void tr_reduction_define(Reduction *r) { define_accelerations(r, tr_used_reactions(r)); }

// Velocities and rows sorted, c and Q taken; false when memory runs out, or words say why
static bool begin(Reduction *r)
{
    if (has_failed(r->err)) return false;
    r->graph->making = "the elimination of dependent velocities";
    r->c = output_matrix(r, "c"), r->Q = output_matrix(r, "Q");
    if (has_failed(r->err)) return false;
    if (!sort(r)) return tr_fail_memory(r->err), false;
    return true;
}

bool tr_reduction_make(Reduction *r)
{
    r->room = &r->graph->arena;
    if (!begin(r) || tr_goes_along(r)) return false;
    take_matrices(r);
    if (has_failed(r->err)) return false;
    const Matrix L = split_forces(r);
    return !has_failed(r->err) && tr_reduce_globally(r, L);
}

static void reduce_in(Reduction r, const ChosenForm *form)
{
    if (!begin(&r)) return;
    const bool is_global = form && !form->is_local;
    if (is_global || !tr_goes_along(&r)) take_matrices(&r);
    if (has_failed(r.err)) return;
    const Matrix L = split_forces(&r);
    if (has_failed(r.err)) return;
    if (!form)
        r = tr_shortest_form(r, L);
    else if (form->is_local)
        tr_reduce_locally(&r, L, form->ways);
    else
        tr_reduce_globally(&r, L);
    if (!r.graph->failed) put_results(&r);
    if (r.graph->failed) tr_graph_refuse(r.graph, r.err);
}

// What is only needed on the way takes more room than what it leads to: of a thousand skates, 60
// MB.
static void reduce(System *system, const Partition *partition, const ChosenForm *form,
                   tr_error *err)
{
    Arena room = {0};
    const Reduction r = {.system = system,
                         .graph = system->graph,
                         .room = &room,
                         .err = err,
                         .partition = partition};
    reduce_in(r, form);
    tr_arena_free(&room);
}

void tr_reduce(System *system, const Partition *partition, tr_error *err)
{
    reduce(system, partition, NULL, err);
}

void tr_reduce_as(System *system, const Partition *partition, ChosenForm form, tr_error *err)
{
    reduce(system, partition, &form, err);
}
