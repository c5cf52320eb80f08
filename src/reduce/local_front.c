// SPDX-License-Identifier: Apache-2.0
// Inward along the tree (T182). A link is handed what hangs from it: an inertia J, the wrench f
// that accelerations without the speeds take, and of each speed k behind it that is left a momentum
// h_k, a force c_k and masses S_jk with the others:
//
//   J A + f + sum of h_k y_k,    c_j + h_j . A + sum of S_jk y_k = 0
//
// with A the acceleration that the link adds to what inverse dynamics has, and y_k that of a speed.
// Its own joint adds a motion to a speed,
//
//   S_kj += S . h_j,  S_kk += 2 S . h_k + S . J S,  h_k += J S,  c_k += S . f
//
// a row that was solved for y_d = h . y + b takes d away (T70), and so does a free speed that no
// row needs any more, as a hinge does in articulated inertias (T22):
//
//   J -= h_w h_w^T / S_ww,  f -= h_w c_w / S_ww,  and likewise among speeds
//
// What is left in the end is H^T M H w' = H^T f.
//
// A link with a contact that rolls is best seen from there (T183): the place P of the link where it
// touches moves at `runs` times the spin, whatever carries the link, so beyond the spin neither
// mass nor force go inward, but moments about P alone.
#include "reduce/local.h"

#include <stdlib.h>

// ---- accelerations without speeds ----------------------------------------------------------

// Of the hub of a contact that rolls: a + alpha x r + drift = b runs, and what stands for gravity
static Vec hub_acceleration(const Rolling *c, Vec alpha, Vec up, Expr b)
{
    return minus(plus(up, scale(b, c->runs)), plus(cross(alpha, c->arm), c->drift));
}

static const Rolling *ground_of(const Local *l, uint32_t i)
{
    return l->front[i].ground == NONE ? NULL : &l->forest->rolling[l->front[i].ground];
}

// x_d = h . x + b: biases that are part of inverse dynamics, by unknown; and what is left of the
// others beside these
static Expr *split_biases(Local *l)
{
    const Reduction *r = l->r;
    Expr *x = tr_reduction_expressions(l->r, r->unknowns);
    l->late = tr_reduction_expressions(l->r, r->nD);
    for (uint32_t k = r->nD; x && l->late && k-- > 0;) {
        const Stage *s = &r->stages[k];
        Expr sum = s->b;
        for (uint32_t n = 0; n < s->near_count; n++)
            sum = add(sum, mul(s->h[s->near[n]], x[s->near[n]]));
        *(l->is_early[k] ? &x[s->d] : &l->late[k]) = sum;
    }
    return x;
}

static Expr begins_spinning(const Local *l, const Rolling *c, const Expr *x)
{
    if (c->spin == NO_LINK) return zero(l->r->graph);
    const uint32_t unknown = l->unknown[c->spin];
    return unknown == NONE ? acceleration_of(l, c->spin) : x[unknown];
}

static bool find_accelerated(Local *l)
{
    const Forest *f = l->forest;
    Graph *g = l->r->graph;
    const Expr *x = split_biases(l);
    if (!x) return false;
    for (uint32_t i = 0; i < f->link_count; i++) {
        const ForestLink *link = &f->links[i];
        Motion more = motion_zero(g);
        for (uint32_t k = 0; k < link->velocity_count; k++) {
            const uint32_t place = link->velocity + k, unknown = l->unknown[place];
            Expr begins = unknown == NONE ? tr_seen_acceleration(l, place) : x[unknown];
            if (unknown != NONE && l->ways.at_once)
                begins = add(begins, tr_turning_of_base(l, place));
            more = motion_plus(more, motion_scale(begins, link->S[k]));
        }
        const bool has_parent = link->parent != NO_LINK;
        l->at[i] = tr_pass_outward(l, i, has_parent ? &l->at[link->parent] : NULL, more);
        const Rolling *ground = ground_of(l, i);
        if (!ground) continue;
        const Expr b = begins_spinning(l, ground, x);
        l->hub[i] = hub_acceleration(ground, l->at[i].alpha, link->up, b);
        l->at[i].a = minus(l->hub[i], apply(l->at[i].D, ground->hub));
    }
    return !g->failed;
}

// ---- fronts --------------------------------------------------------------------------------

static uint32_t place_in(Local *l, Front *f, uint32_t speed)
{
    uint32_t k = 0;
    while (k < f->count && f->speed[k] != speed) k++;
    if (k < f->count) return k;
    uint32_t capacity = f->capacity;
    if (!tr_grow((void **)&f->speed, &capacity, f->count + 1, sizeof *f->speed) ||
        !tr_grow((void **)&f->momentum, &f->capacity, f->count + 1, sizeof *f->momentum)) {
        l->r->graph->failed = true;
        return NONE;
    }
    f->speed[f->count] = speed;
    f->momentum[f->count] = wrench_zero(l->r->graph);
    return f->count++;
}

static void add_momentum(Local *l, Front *f, uint32_t speed, Wrench h)
{
    const uint32_t k = place_in(l, f, speed);
    if (k != NONE) f->momentum[k] = wrench_plus(f->momentum[k], h);
}

static void add_mass(const Local *l, uint32_t i, uint32_t j, Expr x)
{
    const Expr entry = add(get(l->mass, i, j), x);
    set(l->mass, i, j, entry);
    set(l->mass, j, i, entry);
}

static void add_force(const Local *l, uint32_t i, uint32_t column, Expr x)
{
    set(l->force, i, column, add(get(l->force, i, column), x));
}

static Wrench front_apply(const Front *f, Motion v)
{
    const Wrench h = rigid_apply(rigid_plus(f->own, f->rigid), v);
    return f->has_block ? wrench_plus(h, block_apply(f->block, v)) : h;
}

// S_kj += S . h_j,  S_kk += 2 S . h_k + S . J S,  h_k += J S,  c_k += S . f             (T182)
static void add_motion(Local *l, Front *f, uint32_t speed, Motion S)
{
    const Wrench own = front_apply(f, S);
    const uint32_t k = place_in(l, f, speed);
    if (k == NONE) return;
    for (uint32_t j = 0; j < f->count; j++) {
        const Expr share = power_of(S, f->momentum[j]);
        add_mass(l, speed, f->speed[j], j == k ? add(share, share) : share);
    }
    add_mass(l, speed, speed, power_of(S, own));
    add_force(l, speed, 0, power_of(S, f->f));
    f->momentum[k] = wrench_plus(f->momentum[k], own);
}

// What a driven joint S takes: S . f, S . h_k of each speed, J S of the link
static void note_driven(Local *l, uint32_t i, uint32_t place, Motion S)
{
    const Front *f = &l->front[i];
    Reduction *r = l->r;
    uint32_t j = 0, *speed = tr_reduction_room(r, f->count);
    Expr *mass = tr_reduction_expressions(r, f->count);
    while (r->a[j] != place) j++;
    if (!speed || !mass) return;
    for (uint32_t k = 0; k < f->count; k++)
        speed[k] = f->speed[k], mass[k] = power_of(S, f->momentum[k]);
    l->driving[j] =
        (Driving){i, place, power_of(S, f->f), mass, speed, f->count, front_apply(f, S)};
}

// ---- seen from a contact -------------------------------------------------------------------

// Of nothing it is the origin.
static Vec mass_centre(Rigid J)
{
    const Expr unit = one(graph_of(J.m)), none = zero(graph_of(J.m));
    return scale(quotient(unit, choose(less(none, J.m), J.m, unit)), J.mc);
}

// The same body about a point P, by its centre of mass where it has one
static Rigid about(Rigid J, Vec P, bool has_centre)
{
    Graph *g = graph_of(J.m);
    if (!has_centre) return rigid_out((Pose){mat_identity(g), flip(P)}, J);
    const Vec c = mass_centre(J), d = minus(c, P);
    const Sym I = sym_minus(J.I, parallel(c, J.mc));
    return (Rigid){J.m, scale(J.m, d), sym_plus(I, sym_scale(J.m, inertia_of(outer(d))))};
}

// F = m (a + D c),   N = I_c alpha + W x I_c W + (c - P) x F: what a body's accelerations take,
// about P
static Wrench force_about(const Local *l, uint32_t i, Vec P)
{
    const ForestLink *link = forest_link(l, i);
    const Rigid J = link->inertia;
    const Accelerated *at = &l->at[i];
    Graph *g = l->r->graph;
    if (!link->has_centre) {
        const Wrench f = inertia_force(J, at, link->frame.W, link->v.W, link->is_carried);
        return wrench_out((Pose){mat_identity(g), flip(P)}, f);
    }
    const Vec c = mass_centre(J);
    const Rigid central = {zero(g), vec_zero(g), sym_minus(J.I, parallel(c, J.mc))};
    const Vec F = scale(J.m, plus(l->hub[i], apply(at->D, minus(c, ground_of(l, i)->hub))));
    const Wrench f = inertia_force(central, at, link->frame.W, link->v.W, link->is_carried);
    return wrench(F, plus(f.N, cross(minus(c, P), F)));
}

static bool grow_grounded(Local *l, Grounded *out, const Front *f)
{
    out->speed = tr_reduction_room(l->r, f->count);
    out->momentum = tr_arena_alloc(l->r->room, f->count + 1, sizeof *out->momentum);
    if (!out->speed || !out->momentum) l->r->graph->failed = true;
    for (uint32_t k = 0; out->momentum && out->speed && k < f->count; k++)
        out->speed[k] = f->speed[k], out->momentum[k] = f->momentum[k].F;
    out->count = f->count;
    return !l->r->graph->failed;
}

// Moments about P; then the spin takes mass and force along `runs`, and nothing is left of them but
// what turns about P                                                                    (T183)
static void ground(Local *l, uint32_t i)
{
    Graph *g = l->r->graph;
    const Rolling *c = ground_of(l, i);
    Front *f = &l->front[i];
    const Pose there = {mat_identity(g), flip(c->point)};
    f->own = about(f->own, c->point, forest_link(l, i)->has_centre);
    f->rigid = rigid_out(there, f->rigid);
    f->f = wrench_plus(force_about(l, i, c->point), wrench_out(there, f->f));
    for (uint32_t k = 0; k < f->count; k++) f->momentum[k] = wrench_out(there, f->momentum[k]);
    const Rigid J = rigid_plus(f->own, f->rigid);
    const uint32_t spin = c->spin == NO_LINK ? NONE : l->unknown[c->spin];
    if (spin != NONE) {
        const Wrench own = wrench(scale(J.m, c->runs), cross(J.mc, c->runs));
        const uint32_t k = place_in(l, f, spin);
        if (k == NONE) return;
        for (uint32_t j = 0; j < f->count; j++) {
            const Expr share = dot(c->runs, f->momentum[j].F);
            add_mass(l, spin, f->speed[j], j == k ? add(share, share) : share);
        }
        add_mass(l, spin, spin, mul(J.m, c->square));
        add_force(l, spin, 0, dot(c->runs, f->f.F));
        f->momentum[k] = wrench_plus(f->momentum[k], own);
    }
    Grounded *out = &l->grounded[l->grounded_count++];
    *out = (Grounded){.rolling = f->ground, .F = f->f.F, .mc = J.mc};
    if (!grow_grounded(l, out, f)) return;
    for (uint32_t k = 0; k < f->count; k++) f->momentum[k].F = vec_zero(g);
    f->f.F = vec_zero(g);
    f->own = (Rigid){zero(g), vec_zero(g), J.I};
    f->rigid = (Rigid){zero(g), vec_zero(g), sym_zero(g)};
}

// ---- what is eliminated --------------------------------------------------------------------

static Event *note(Local *l, uint32_t speed, uint32_t stage, uint32_t link)
{
    const Reduction *r = l->r;
    Event *e = &l->events[l->event_count++];
    *e = (Event){.speed = speed, .stage = stage, .link = link};
    e->d = get(l->mass, speed, speed);
    e->momentum = wrench_zero(r->graph);
    uint32_t count = 0;
    for (uint32_t j = 0; j < r->unknowns; j++) count += !is_zero(get(l->mass, speed, j));
    e->other = tr_reduction_room(l->r, count);
    e->mass = tr_reduction_expressions(l->r, count);
    e->force = tr_reduction_expressions(l->r, l->force.columns);
    if (r->graph->failed) return NULL;
    for (uint32_t j = 0; j < r->unknowns; j++) {
        const Expr x = get(l->mass, speed, j);
        if (j == speed || is_zero(x)) continue;
        e->other[e->count] = j, e->mass[e->count++] = x;
    }
    for (uint32_t c = 0; c < l->force.columns; c++) e->force[c] = get(l->force, speed, c);
    return e;
}

// Takes a speed out of a front, and all masses with it; its momentum there
static Wrench take_out(Local *l, Front *f, uint32_t speed)
{
    const Reduction *r = l->r;
    Wrench h = wrench_zero(r->graph);
    for (uint32_t k = 0; f && k < f->count; k++) {
        if (f->speed[k] != speed) continue;
        h = f->momentum[k];
        f->count--;
        f->speed[k] = f->speed[f->count], f->momentum[k] = f->momentum[f->count];
    }
    for (uint32_t j = 0; j < r->unknowns; j++) {
        set(l->mass, speed, j, zero(r->graph));
        set(l->mass, j, speed, zero(r->graph));
    }
    return h;
}

// y_d = h . y + b: M_ij <- M_ij + h_i M_dj + (M_id + h_i M_dd) h_j,  c_i <- c_i + h_i c_d  (T70)
static void project_stage(Local *l, uint32_t i, uint32_t stage)
{
    const Reduction *r = l->r;
    const Stage *s = &r->stages[stage];
    Front *f = i == NO_LINK ? NULL : &l->front[i];
    Event *e = note(l, s->d, stage, i);
    if (!e) return;
    const Wrench h_d = e->momentum = take_out(l, f, s->d);
    const Expr b = l->late[stage];
    if (!is_zero(b)) { // what it takes
        for (uint32_t k = 0; k < e->count; k++) add_force(l, e->other[k], 0, mul(e->mass[k], b));
        add_force(l, s->d, 0, mul(e->d, b));
        if (f) f->f = wrench_plus(f->f, wrench_scale(b, h_d));
    }
    for (uint32_t n = 0; n < s->near_count; n++) {
        const uint32_t j = s->near[n];
        for (uint32_t k = 0; k < e->count; k++) {
            const uint32_t other = e->other[k];
            const Expr x = mul(s->h[j], e->mass[k]);
            add_mass(l, j, other, other == j ? add(x, x) : x);
        }
        const Expr z = mul(s->h[j], e->d);
        for (uint32_t k = 0; k <= n; k++) add_mass(l, j, s->near[k], mul(z, s->h[s->near[k]]));
        for (uint32_t c = 0; c < l->force.columns; c++)
            add_force(l, j, c, mul(s->h[j], get(l->force, s->d, c)));
        if (f) add_momentum(l, f, j, wrench_scale(s->h[j], h_d));
    }
}

static void merge(Front *f)
{
    const Rigid all = rigid_plus(f->own, f->rigid);
    Graph *g = graph_of(all.m);
    f->block = f->has_block ? block_plus(f->block, block_of(all)) : block_of(all);
    f->has_block = true;
    f->own = f->rigid = (Rigid){zero(g), vec_zero(g), sym_zero(g)};
}

// Where a speed is the link's own hinge and nothing else, nothing is left along it, and the force
// is the hinge's: the graph cannot find that, so it is said.
static int own_component(const Local *l, uint32_t i, uint32_t speed, const bool *is_mixed)
{
    const ForestLink *link = forest_link(l, i);
    if (l->owner[speed] != i || is_mixed[speed] || link->velocity_count != 1) return -1;
    return unit_component(link->S[0]);
}

// J -= h_w h_w^T / S_ww,  f -= h_w c_w / S_ww; likewise among speeds                     (T182)
static void give_way(Local *l, uint32_t i, uint32_t speed, const bool *is_mixed)
{
    Front *f = &l->front[i];
    Graph *g = l->r->graph;
    Event *e = note(l, speed, NONE, i);
    if (!e) return;
    const int unit = own_component(l, i, speed, is_mixed);
    const Wrench h = e->momentum = take_out(l, f, speed);
    const Expr inverse = quotient(one(g), e->d);
    merge(f);
    for (int a = 0; a < 6; a++) {
        const Expr share = mul(inverse, wrench_at(h, a));
        for (int b = a; b < 6; b++) {
            Expr *entry = block_place(&f->block, a, b);
            *entry = a == unit || b == unit ? zero(g) : sub(*entry, mul(share, wrench_at(h, b)));
        }
    }
    f->f = wrench_minus(f->f, wrench_scale(mul(inverse, e->force[0]), h));
    if (unit >= 0) {
        const Motion S = forest_link(l, i)->S[0];
        const Expr along = mul(motion_at(S, unit), get(l->r->Q, l->r->p[speed], 0));
        *wrench_place(&f->f, unit) = along;
    }
    for (uint32_t a = 0; a < e->count; a++) {
        const Expr share = mul(inverse, e->mass[a]);
        for (uint32_t b = 0; b <= a; b++)
            add_mass(l, e->other[a], e->other[b], neg(mul(share, e->mass[b])));
        for (uint32_t c = 0; c < l->force.columns; c++)
            add_force(l, e->other[a], c, neg(mul(share, e->force[c])));
        const uint32_t k = place_in(l, f, e->other[a]);
        if (k == NONE) return;
        Wrench *own = &f->momentum[k];
        *own = wrench_minus(*own, wrench_scale(share, h));
        if (unit >= 0) *wrench_place(own, unit) = zero(g);
    }
}

// ---- one link after the other --------------------------------------------------------------

// A base's own velocities along which a contact holds it: they have no mass then
static bool is_held(const Front *f, Motion S) { return f->ground != NONE && is_vec_zero(S.W); }

static void add_joint(Local *l, uint32_t i)
{
    const ForestLink *link = forest_link(l, i);
    Front *f = &l->front[i];
    if (f->ground != NONE) ground(l, i);
    for (uint32_t k = 0; k < link->velocity_count; k++) {
        const uint32_t unknown = l->unknown[link->velocity + k];
        if (unknown == NONE) continue;
        if (is_held(f, link->S[k]))
            place_in(l, f, unknown);
        else
            add_motion(l, f, unknown, link->S[k]);
    }
    for (uint32_t k = 0; k < link->velocity_count; k++)
        if (l->unknown[link->velocity + k] == NONE)
            note_driven(l, i, link->velocity + k, link->S[k]);
}

static void eliminate_here(Local *l, uint32_t i, bool *is_mixed)
{
    const Reduction *r = l->r;
    for (uint32_t k = 0; k < r->nD && !r->graph->failed; k++) {
        if (l->place[k] != i) continue;
        project_stage(l, i, k);
        for (uint32_t n = 0; n < r->stages[k].near_count; n++)
            is_mixed[r->stages[k].near[n]] = true;
    }
    for (uint32_t j = r->unknowns; i != NO_LINK && j-- > 0 && !r->graph->failed;)
        if (l->stage_of[j] == NONE && l->free_at[j] == i) give_way(l, i, j, is_mixed);
}

static void hand_inward(Local *l, uint32_t i)
{
    const ForestLink *link = forest_link(l, i);
    const Front *f = &l->front[i];
    if (link->parent == NO_LINK) return;
    Front *above = &l->front[link->parent];
    const Rigid all = rigid_plus(f->own, f->rigid);
    above->rigid = rigid_plus(above->rigid, pass_rigid(&link->across, all));
    if (f->has_block) {
        const Block seen = pass_block(&link->across, f->block);
        above->block = above->has_block ? block_plus(above->block, seen) : seen;
        above->has_block = true;
    }
    above->f = wrench_plus(above->f, pass_wrench(&link->across, f->f));
    for (uint32_t k = 0; k < f->count; k++)
        add_momentum(l, above, f->speed[k], pass_wrench(&link->across, f->momentum[k]));
}

// S_jk += column_j . J column_k,  c_j += column_j . f
static void project(Local *l, uint32_t i)
{
    const Met *m = &l->met[i];
    for (uint32_t j = 0; j < m->count; j++) {
        const Wrench h = rigid_apply(forest_link(l, i)->inertia, m->column[j]);
        for (uint32_t k = 0; k <= j; k++)
            add_mass(l, m->speed[j], m->speed[k], power_of(m->column[k], h));
        add_force(l, m->speed[j], 0, power_of(m->column[j], m->f));
    }
}

static Wrench own_force(const Local *l, uint32_t i)
{
    const ForestLink *link = forest_link(l, i);
    return inertia_force(link->inertia, &l->at[i], link->frame.W, link->v.W, link->is_carried);
}

static void begin_fronts(Local *l)
{
    Graph *g = l->r->graph;
    for (uint32_t j = 0; j < l->r->np; j++)
        for (uint32_t c = 0; c < l->force.columns; c++)
            set(l->force, j, c,
                neg(c ? get(l->L, l->r->p[j], c - 1) : get(l->r->Q, l->r->p[j], 0)));
    const Rigid nothing = {zero(g), vec_zero(g), sym_zero(g)};
    for (uint32_t i = 0; i < l->forest->link_count; i++) {
        const ForestLink *link = forest_link(l, i);
        Front *f = &l->front[i];
        f->own = f->rigid = nothing, f->f = wrench_zero(g);
        if (is_projected(l, i)) {
            if (l->ways.at_once) l->met[i].f = own_force(l, i);
            project(l, i);
            continue;
        }
        f->own = link->inertia;
        f->f = f->ground != NONE ? wrench_zero(g) : own_force(l, i); // or when it is grounded
    }
}

// H^T c of what acts, where links are projected at once: shorter than one row after the other
static Matrix whole_forces(const Local *l)
{
    const Reduction *r = l->r;
    Matrix whole = tr_matrix(r->graph, l->ways.at_once ? r->kernel : 0, l->force.columns);
    for (uint32_t i = 0; i < whole.rows; i++)
        for (uint32_t c = 0; c < whole.columns; c++) {
            Expr sum = get(l->force, r->free[i], c);
            for (uint32_t k = 0; k < r->nD; k++)
                sum = add(sum, mul(get(r->H, r->D[k], i), get(l->force, r->D[k], c)));
            set(whole, i, c, sum);
        }
    return whole;
}

// ---- going back ----------------------------------------------------------------------------

// H^T M H w' = H^T f of what is left                                              (T71) [B 23]
static void solve_rest(Local *l)
{
    Reduction *r = l->r;
    uint32_t *left = tr_reduction_room(r, r->kernel), count = 0;
    for (uint32_t k = 0; left && k < r->kernel; k++)
        if (r->free[k] >= r->np || l->free_at[r->free[k]] == NO_LINK) left[count++] = r->free[k];
    if (!left) return;
    Matrix f = tr_matrix(r->graph, count, l->force.columns);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t c = 0; c < f.columns; c++) set(f, k, c, neg(get(l->force, left[k], c)));
    const Matrix y = tr_ldlt_solve(tr_ldlt(tr_pick(l->mass, left, count, left, count)), f);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t c = 0; c < f.columns; c++) set(l->y, left[k], c, get(y, k, c));
}

static void solve_event(Local *l, const Event *e, const Motion *A, uint32_t c)
{
    const Reduction *r = l->r;
    Expr sum;
    if (e->stage != NONE) {
        const Stage *s = &r->stages[e->stage];
        sum = c == 0 ? l->late[e->stage] : zero(r->graph);
        for (uint32_t n = 0; n < s->near_count; n++)
            sum = add(sum, mul(s->h[s->near[n]], get(l->y, s->near[n], c)));
    } else {
        sum = add(e->force[c], power_of(A[e->link], e->momentum));
        for (uint32_t k = 0; k < e->count; k++)
            sum = add(sum, mul(e->mass[k], get(l->y, e->other[k], c)));
        sum = neg(quotient(sum, e->d));
    }
    set(l->y, e->speed, c, sum);
}

// With a contact that rolls the place P moves at `runs` times the spin                    (T183)
Motion tr_with_joint(const Local *l, uint32_t i, Motion A, uint32_t column)
{
    const ForestLink *link = forest_link(l, i);
    const Rolling *c = ground_of(l, i);
    for (uint32_t k = 0; k < link->velocity_count; k++) {
        const uint32_t unknown = l->unknown[link->velocity + k];
        if (unknown != NONE)
            A = motion_plus(A, motion_scale(get(l->y, unknown, column), link->S[k]));
    }
    if (!c) return A;
    const uint32_t spin = c->spin == NO_LINK ? NONE : l->unknown[c->spin];
    A.V = cross(c->point, A.W);
    if (spin != NONE) A.V = plus(A.V, scale(get(l->y, spin, column), c->runs));
    return A;
}

// What the parent's A is at a link, before its own joint
static Motion seen_from(const Local *l, uint32_t i, const Motion *A)
{
    const ForestLink *link = forest_link(l, i);
    return link->parent == NO_LINK ? motion_zero(l->r->graph)
                                   : pass_motion(&link->across, A[link->parent]);
}

// From the base to the tips, events in the opposite order
static void solve_outward(Local *l, uint32_t c)
{
    const Forest *f = l->forest;
    Motion *A = calloc(f->link_count + 1u, sizeof *A);
    if (!A) l->r->graph->failed = true;
    uint32_t last = l->event_count;
    while (A && last && l->events[last - 1].link == NO_LINK)
        solve_event(l, &l->events[--last], A, c);
    for (uint32_t i = 0; A && i < f->link_count; i++) {
        A[i] = seen_from(l, i, A);
        for (uint32_t k = l->event_count; k-- > 0;)
            if (l->events[k].link == i) solve_event(l, &l->events[k], A, c);
        A[i] = tr_with_joint(l, i, A[i], c);
    }
    free(A);
}

bool tr_local_dynamics(Local *l)
{
    Reduction *r = l->r;
    const uint32_t columns = 1 + r->nU;
    bool *is_mixed = calloc(r->unknowns + 1u, sizeof *is_mixed);
    if (!is_mixed) r->graph->failed = true;
    l->mass = tr_matrix_in(r->room, r->graph, r->unknowns, r->unknowns);
    l->force = tr_matrix(r->graph, r->unknowns, columns);
    l->y = tr_matrix(r->graph, r->unknowns, columns);
    if (!r->graph->failed && find_accelerated(l)) begin_fronts(l);
    const Matrix whole = r->graph->failed ? (Matrix){0} : whole_forces(l);
    for (uint32_t i = 0; is_mixed && i < l->forest->link_count; i++)
        for (uint32_t k = 0; k < l->met[i].count && is_projected(l, i); k++)
            is_mixed[l->met[i].speed[k]] = true;
    for (uint32_t i = l->forest->link_count; i-- > 0 && !r->graph->failed;) {
        add_joint(l, i);
        eliminate_here(l, i, is_mixed);
        hand_inward(l, i);
    }
    if (!r->graph->failed) eliminate_here(l, NO_LINK, is_mixed);
    free(is_mixed);
    if (r->graph->failed) return false;
    for (uint32_t i = 0; i < whole.rows; i++)
        for (uint32_t c = 0; c < columns; c++) set(l->force, r->free[i], c, get(whole, i, c));
    solve_rest(l);
    for (uint32_t c = 0; c < columns; c++) solve_outward(l, c);
    return !r->graph->failed;
}
