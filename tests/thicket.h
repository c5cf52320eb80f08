// SPDX-License-Identifier: Apache-2.0
// Random forests with random constraints of every kind, redundant ones among them, that hold where
// the forest stands; and as text of a model.
#ifndef TR_TESTS_THICKET_H
#define TR_TESTS_THICKET_H

#include "base/text.h"
#include "multipliers.h"

// ---- bodies --------------------------------------------------------------------------------

// A wheel without a turn: its angle should not appear anywhere.
static inline void make_round(Random *r, NeBody *b, Part *p)
{
    const V3 u = v3_unit(b->axis);
    p->round = true;
    p->radial = random_between(r, 0.4, 1);
    p->axial = random_between(r, 0.3, 2 * p->radial);
    b->turn = b->com = v3(0, 0, 0);
    for (int k = 0; k < 3; k++)
        b->inertia.column[k] = v3_plus(v3_times(p->radial, v3_axis(k)),
                                       v3_times((p->axial - p->radial) * v3_at(u, k), u));
}

static inline void any_joint(Random *r, Part *p)
{
    const double dice = random_between(r, 0, 1);
    p->drive = dice < 0.6 ? DRIVE_NONE : dice < 0.75 ? DRIVE_TORQUE : DRIVE_MOTION;
    p->torque = p->drive == DRIVE_TORQUE ? 3 * any(r) : 0;
    p->swing = any(r), p->frequency = random_between(r, 0.5, 2), p->phase = 3 * any(r);
    p->stiffness = chance(r, 0.3) ? random_between(r, 0, 5) : 0;
    p->rest = p->stiffness > 0 ? any(r) : 0;
    p->damping = chance(r, 0.3) ? random_between(r, 0, 2) : 0;
}

static inline void any_body(Random *r, Thicket *f)
{
    const int i = f->ne.count++;
    NeBody *b = &f->ne.body[i];
    *b = (NeBody){.parent = i == 0 || chance(r, 0.15) ? -1 : (int)random_below(r, (uint32_t)i),
                  .type = chance(r, 0.6) ? NE_REVOLUTE : (NeType)random_below(r, NE_TYPES),
                  .at = any_vector(r),
                  .turn = chance(r, 0.3) ? v3_times(3, any_vector(r)) : v3(0, 0, 0),
                  .axis = chance(r, 0.3) ? v3_axis((int)random_below(r, 3)) : any_vector(r),
                  .mass = random_between(r, 0.5, 2),
                  .com = v3_times(chance(r, 0.2) ? 2 : 0.5, any_vector(r)),
                  .inertia = any_inertia(r, 0.2, 1)};
    if (i == 0 && chance(r, 0.3)) b->type = NE_FREE;
    if (ne_velocities[b->type] == 1) any_joint(r, &f->part[i]);
    if (b->type == NE_REVOLUTE && chance(r, 0.3)) make_round(r, b, &f->part[i]);
    for (int k = 0; k < 7; k++) b->q[k] = any(r);
    for (int k = 0; k < 6; k++) b->v[k] = any(r);
    double *q = b->q + (b->type == NE_FREE ? 3 : 0);
    const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int k = 0; k < 4 && (b->type == NE_FREE || b->type == NE_BALL); k++) q[k] /= size;
    ne_number(&f->ne);
}

// ---- ties ----------------------------------------------------------------------------------

// Rank of G_p, with rows made units; false when it is not clear.
static inline bool find_rank(Thicket *f, int *rank)
{
    static Equations e;
    static double A[MAX_ROWS * MAX_V], sigma[MAX_V], work[MAX_V];
    find_equations(f, &e);
    *rank = 0;
    for (int i = 0; i < e.m; i++) {
        double size = 0;
        for (int k = 0; k < e.n; k++) size += e.told[k] ? 0 : e.G[i][k] * e.G[i][k];
        for (int k = 0; k < e.n; k++)
            A[i * e.n + k] = e.told[k] ? 0 : e.G[i][k] / fmax(sqrt(size), 0.3);
    }
    if (e.m)
        assert_int_equal(LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'N', e.m, e.n, A, e.n, sigma, NULL,
                                        1, NULL, 1, work),
                         0);
    for (int k = 0; k < e.m && k < e.n; k++) {
        if (sigma[k] > 1e-10 && sigma[k] < 0.1) return false;
        *rank += sigma[k] >= 0.1;
    }
    return true;
}

// Constants such that the tie holds where the forest stands
static inline bool settle(Thicket *f, Tie *tie)
{
    double phi[3], raised[3], rate[3];
    ne_move(&f->ne);
    tie->to = tie->kind == ROD ? tie->to : v3(0, 0, 0);
    tie->offset = tie->radius = 0;
    tie_rows(f, tie, phi, rate);
    if (tie->kind == PIN) tie->to = v3(phi[1], phi[2], phi[0]);
    if (tie->kind == SLIDE) tie->to.z = phi[0];
    if (tie->kind == COUPLING || tie->kind == POSITION || tie->kind == ROD) tie->offset = phi[0];
    if (tie->kind == ROD && tie->offset < 0.2) return false;
    if (tie->kind != ROLLING) return true;
    tie->radius = 1;
    tie_rows(f, tie, raised, rate);
    tie->radius = phi[0] / (phi[0] - raised[0]);
    return phi[0] - raised[0] > 0.3 && tie->radius > 0.1 && tie->radius < 3;
}

// Keeps a tie when it holds, is one more constraint for each of its rows, and leaves some motion.
static inline bool add_tie(Thicket *f, Tie tie)
{
    int before, after, passive = 0;
    if (f->ties == MAX_TIES || !find_rank(f, &before)) return false;
    f->tie[f->ties++] = tie;
    for (int i = 0; i < f->ne.count; i++)
        passive += is_driven(f, i) ? 0 : ne_velocities[f->ne.body[i].type];
    const int added = tie_kinds[tie.kind].rows;
    if (find_rank(f, &after) && after < passive && (tie.again || after == before + added))
        return true;
    f->ties--;
    return false;
}

static inline int any_single(Random *r, const Thicket *f)
{
    int found = -1;
    for (int i = 0, seen = 0; i < f->ne.count; i++)
        if (is_single(f, i) && random_below(r, (uint32_t)++seen) == 0) found = i;
    return found;
}

static inline bool any_tie(Random *r, Thicket *f)
{
    const int count = f->ne.count;
    Tie tie = {.kind = (TieKind)random_below(r, SUM),
               .body = (int)random_below(r, (uint32_t)count),
               .on = (int)random_below(r, (uint32_t)count + 1) - 1,
               .at = any_vector(r),
               .to = any_vector(r),
               .direction = any_vector(r),
               .a = random_between(r, 0.5, 2),
               .b = any(r),
               .swing = chance(r, 0.5) ? 0.5 * any(r) : 0,
               .frequency = random_between(r, 0.5, 2),
               .factor = 1,
               .weight = chance(r, 0.5) ? 1 : random_between(r, 0.2, 5)};
    if (tie.kind >= COUPLING)
        tie.body = any_single(r, f), tie.on = any_single(r, f), tie.third = any_single(r, f);
    if (tie.body < 0 || tie.body == tie.on || (tie.kind == COUPLING && tie.third == tie.body))
        return false;
    if (tie.kind == ROLLING) {
        tie.at = v3(0, 0, 0), tie.on = -1;
        if (f->part[tie.body].round) tie.direction = f->ne.body[tie.body].axis;
    }
    return settle(f, &tie) && add_tie(f, tie);
}

// One more tie that follows from one there is: as it is, by a multiple, through the same point
static inline void any_twin(Random *r, Thicket *f)
{
    const int of = (int)random_below(r, (uint32_t)f->ties);
    Tie tie = f->tie[of];
    const bool formula = tie.kind == POSITION || tie.kind == RATE;
    tie.again = true;
    tie.weight = chance(r, 0.5) ? 1 : random_between(r, 0.2, 5);
    if (formula) tie.factor = random_between(r, -2, -0.5);
    if (formula && chance(r, 0.5)) {
        tie = (Tie){.kind = SUM, .body = of, .factor = 1, .weight = 1, .again = true};
        while (f->tie[tie.on].kind < POSITION) tie.on++; // the first formula
    }
    if (tie.kind == COUPLING && tie.on != tie.third) // solved for the second coordinate
        tie.body = f->tie[of].on, tie.on = f->tie[of].body, tie.a = 1 / tie.a, tie.b *= -tie.a,
        tie.offset *= -tie.a, tie.swing *= -tie.a;
    if (tie.kind == PIN && chance(r, 0.5))
        tie.kind = chance(r, 0.5) ? SKATE : SLIDE;
    else if (tie.kind == PIN && chance(r, 0.7)) {
        tie.at = any_vector(r); // another point: of three more rows, one follows
        settle(f, &tie);
    }
    add_tie(f, tie);
}

// A plate on the ground with wheels on one axle. Those that are driven do the same, so that they
// agree: with three of them, they are more than it takes.
static inline void start_with_cart(Random *r, Thicket *f)
{
    const double radius = random_between(r, 0.3, 1), driven = random_between(r, 0, 1.2);
    Part motion = {0};
    any_joint(r, &motion);
    any_body(r, f);
    f->ne.body[0] = (NeBody){.parent = -1,
                             .type = NE_PLANAR,
                             .axis = v3_axis(0),
                             .mass = 1,
                             .com = any_vector(r),
                             .inertia = any_inertia(r, 0.2, 1),
                             .q = {any(r), any(r), any(r)}};
    f->part[0] = (Part){0};
    for (int i = 1, wheels = 2 + (int)random_below(r, 4); i <= wheels; i++) {
        any_body(r, f);
        NeBody *b = &f->ne.body[i];
        Part *p = &f->part[i];
        b->parent = 0, b->type = NE_REVOLUTE;
        b->at = v3(0, any(r), radius), b->axis = v3(0, 2, 0);
        *p = chance(r, driven) ? motion : (Part){.damping = random_between(r, 0, 1)};
        p->drive = p->frequency > 0 ? DRIVE_MOTION : DRIVE_NONE, p->torque = 0;
        make_round(r, b, p);
        f->tie[f->ties++] = (Tie){.kind = ROLLING,
                                  .body = i,
                                  .on = -1,
                                  .direction = b->axis,
                                  .radius = radius,
                                  .factor = 1,
                                  .weight = 1,
                                  .again = true};
    }
    ne_number(&f->ne);
}

static inline void any_pulls(Random *r, Thicket *f)
{
    f->pulls = (int)random_below(r, PULLS + 1);
    for (int i = 0; i < f->pulls; i++) {
        const int tie = (int)random_below(r, (uint32_t)f->ties);
        const bool uses = chance(r, 0.4);
        f->pull[i] = (Pull){.body = (int)random_below(r, (uint32_t)f->ne.count),
                            .tie = uses ? tie : -1,
                            .in_body = chance(r, 0.5),
                            .at = any_vector(r),
                            .force = v3_times(uses ? 0.2 : 3, any_vector(r))};
    }
}

// A reaction that is not unique may be given, ties may lead, rows count for more.
static inline void any_choice(Random *r, Thicket *f)
{
    f->tense = -1;
    for (int i = 0; i < f->ties; i++) {
        const bool several = tie_kinds[f->tie[i].kind].rows > 1;
        if (f->tie[i].again && chance(r, 0.3)) f->tense = i;
        f->tie[i].leads = chance(r, 0.15);
        f->tie[i].second_weight = several && chance(r, 0.3) ? random_between(r, 0.2, 5) : 0;
    }
}

static inline Thicket any_thicket(Random *r)
{
    static Equations e;
    for (;;) {
        Thicket f = {.ne = {.gravity = v3_times(10, any_vector(r))}, .tense = -1};
        if (chance(r, 0.3)) start_with_cart(r, &f);
        const bool alone = f.ties && chance(r, 0.2);
        for (int more = alone ? 0 : (int)random_below(r, 7); more; more--) any_body(r, &f);
        if (!f.ne.velocities) continue;
        follow_motions(&f, NULL);
        for (int tries = 1 + (int)random_below(r, 12); tries; tries--) any_tie(r, &f);
        if (!f.ties) continue;
        for (int more = (int)random_below(r, 4); more; more--) any_twin(r, &f);
        any_pulls(r, &f);
        any_choice(r, &f);
        find_equations(&f, &e);
        if (solve_equations(&f, &e) && e.condition < 2000) return f;
    }
}

// ---- as a model ----------------------------------------------------------------------------

static inline void write_vector(Buffer *to, const char *key, V3 x)
{
    tr_buffer_print(to, "%s: \"%.17g, %.17g, %.17g\"", key, x.x, x.y, x.z);
}

static inline void write_joint(Buffer *to, const Thicket *f, int i)
{
    const NeBody *b = &f->ne.body[i];
    const Part *p = &f->part[i];
    tr_buffer_print(to, "    joint: {type: %s, ", ne_type_names[b->type]);
    write_vector(to, "at", b->at);
    write_vector(to, ", turn", b->turn);
    if (ne_is_axial(b->type)) write_vector(to, ", axis", b->axis);
    if (b->type == NE_UNIVERSAL) write_vector(to, ", second", ne_second(b));
    if (is_single(f, i))
        tr_buffer_print(to, ", stiffness: %.17g, rest: %.17g, damping: %.17g", p->stiffness,
                        p->rest, p->damping);
    tr_buffer_print(to, "}\n");
}

static inline void write_bodies(Buffer *to, const Thicket *f)
{
    tr_buffer_print(to, "bodies:\n");
    for (int i = 0; i < f->ne.count; i++) {
        const NeBody *b = &f->ne.body[i];
        const Part *p = &f->part[i];
        tr_buffer_print(to, "  b%d:\n", i);
        if (b->parent >= 0) tr_buffer_print(to, "    parent: b%d\n", b->parent);
        write_joint(to, f, i);
        tr_buffer_print(to, "    mass: %.17g\n    ", b->mass);
        write_vector(to, "com", b->com);
        const M3 I = b->inertia;
        if (p->round)
            tr_buffer_print(to, "\n    inertia: {axial: %.17g, radial: %.17g}\n", p->axial,
                            p->radial);
        else
            tr_buffer_print(to,
                            "\n    inertia: {xx: %.17g, yy: %.17g, zz: %.17g, xy: %.17g, "
                            "xz: %.17g, yz: %.17g}\n",
                            I.column[0].x, I.column[1].y, I.column[2].z, I.column[0].y,
                            I.column[0].z, I.column[1].z);
    }
}

static inline void write_roles(Buffer *to, const Thicket *f)
{
    tr_buffer_print(to, "roles:\n");
    for (int i = 0; i < f->ne.count; i++) {
        const Part *p = &f->part[i];
        if (p->drive == DRIVE_TORQUE)
            tr_buffer_print(to, "  b%d: {torque: %.17g}\n", i, p->torque);
        else if (p->drive == DRIVE_MOTION)
            tr_buffer_print(to, "  b%d: {motion: %.17g*sin(%.17g*t + %.17g)}\n", i, p->swing,
                            p->frequency, p->phase);
        else if (f->ne.body[i].type != NE_FIXED)
            tr_buffer_print(to, "  b%d: passive\n", i);
    }
}

static inline void write_formula(Buffer *to, const Thicket *f, const Tie *tie)
{
    if (tie->kind == SUM) {
        for (int k = 0; k < 2; k++) {
            const Tie *of = &f->tie[k ? tie->on : tie->body];
            tr_buffer_print(to, k ? " - 0.7*%s(" : "2*%s(", of->kind == POSITION ? "d" : "");
            write_formula(to, f, of);
            tr_buffer_print(to, ")");
        }
        return;
    }
    tr_buffer_print(to,
                    tie->kind == POSITION ? "%.17g*(%.17g*sin(b%d) + %.17g*b%d + b%d.z"
                                          : "%.17g*(%.17g*d(b%d) + %.17g*cos(b%d)*b%d.wy",
                    tie->factor, tie->a, tie->body, tie->b, tie->third, tie->on);
    if (tie->kind == POSITION) tr_buffer_print(to, " - %.17g", tie->offset);
    tr_buffer_print(to, " - %.17g*%s(%.17g*t))", tie->swing, tie->kind == POSITION ? "sin" : "cos",
                    tie->frequency);
}

static inline void write_contact(Buffer *to, const Thicket *f, const Tie *tie)
{
    tr_buffer_print(to, "kind: %s, body: b%d", tie_kinds[tie->kind].name, tie->body);
    if (tie->kind != ROLLING) write_vector(to, ", at", tie->at);
    if (tie->on >= 0) tr_buffer_print(to, ", on: b%d", tie->on);
    if (tie->kind == SKATE) write_vector(to, ", direction", tie->direction);
    if (tie->kind != SKATE && tie->kind != ROLLING) write_vector(to, ", to", tie->to);
    if (tie->kind == ROLLING) tr_buffer_print(to, ", radius: %.17g", tie->radius);
    if (tie->kind == ROLLING || tie->kind == SLIDE) tr_buffer_print(to, ", unilateral: false");
    if (tie->kind == ROLLING && !f->part[tie->body].round)
        write_vector(to, ", axis", tie->direction);
    if (tie->kind == ROD)
        tr_buffer_print(to, ", length: %.17g + %.17g*sin(%.17g*t)", tie->offset, tie->swing,
                        tie->frequency);
}

static inline void write_tie(Buffer *to, const Thicket *f, int i)
{
    const Tie *tie = &f->tie[i];
    tr_buffer_print(to, "  t%d: {", i);
    if (tie->kind <= ROD)
        write_contact(to, f, tie);
    else if (tie->kind == COUPLING) {
        tr_buffer_print(to, "coordinate: b%d, equals: {b%d: %.17g", tie->body, tie->on,
                        tie->on == tie->third ? tie->a + tie->b : tie->a);
        if (tie->on != tie->third) tr_buffer_print(to, ", b%d: %.17g", tie->third, tie->b);
        tr_buffer_print(to, "}, offset: %.17g + %.17g*sin(%.17g*t)", tie->offset, tie->swing,
                        tie->frequency);
    } else {
        tr_buffer_print(to, "%s: ", tie_kinds[tie->kind].part[0]);
        write_formula(to, f, tie);
    }
    tr_buffer_print(to, "}\n");
}

static inline const char *chosen_name(const Thicket *f, int tie)
{
    return tie_kinds[f->tie[tie].kind].part[chosen_part(&f->tie[tie])];
}

static inline void write_ties(Buffer *to, const Thicket *f)
{
    static const char *const sections[] = {"contacts", "loops", "couplings", "constraints"};
    for (int s = 0; s < 4; s++) {
        int count = 0;
        for (int i = 0; i < f->ties; i++) {
            if (strcmp(tie_kinds[f->tie[i].kind].section, sections[s]) != 0) continue;
            if (!count++) tr_buffer_print(to, "%s:\n", sections[s]);
            write_tie(to, f, i);
        }
    }
    if (f->ties) tr_buffer_print(to, "reactions:\n  weights:\n");
    for (int i = 0; i < f->ties; i++) {
        const Tie *tie = &f->tie[i];
        tr_buffer_print(to, "    t%d: %.17g\n", i, tie->weight);
        if (tie->second_weight > 0)
            tr_buffer_print(to, "    t%d.%s: %.17g\n", i, tie_kinds[tie->kind].part[1],
                            tie->second_weight);
    }
    for (int i = 0, leaders = 0; i < f->ties; i++)
        if (f->tie[i].leads) tr_buffer_print(to, leaders++ ? ", t%d" : "  lead: t%d", i);
    tr_buffer_print(to, "\n");
    if (f->tense >= 0)
        tr_buffer_print(to, "  tension: {t%d.%s: " TENSION_TEXT "}\n", f->tense,
                        chosen_name(f, f->tense));
}

static inline void write_pulls(Buffer *to, const Thicket *f)
{
    if (f->pulls) tr_buffer_print(to, "forces:\n");
    for (int i = 0; i < f->pulls; i++) {
        const Pull *pull = &f->pull[i];
        char uses[40] = "";
        if (pull->tie >= 0)
            snprintf(uses, sizeof uses, "*lambda.t%d.%s", pull->tie, chosen_name(f, pull->tie));
        tr_buffer_print(to, "  p%d: {body: b%d, axes: %s, ", i, pull->body,
                        pull->in_body ? "body" : "world");
        write_vector(to, "at", pull->at);
        tr_buffer_print(to, ", force: \"%.17g%s, %.17g%s, %.17g%s\"}\n", pull->force.x, uses,
                        pull->force.y, uses, pull->force.z, uses);
    }
}

// Where it stands, as the guess; velocities that the constraints allow are found from theirs.
static inline void write_guess(Buffer *to, const Thicket *f)
{
    const size_t before = to->length;
    for (int i = 0; i < f->ne.count; i++) {
        const NeBody *b = &f->ne.body[i];
        if (is_driven(f, i) || b->type == NE_FIXED) continue;
        if (to->length == before) tr_buffer_print(to, "guess:\n");
        if (is_single(f, i)) {
            tr_buffer_print(to, "  b%d: %.17g\n  d(b%d): %.17g\n", i, b->q[0], i, b->v[0]);
            continue;
        }
        for (int k = 0; k < ne_positions[b->type]; k++)
            tr_buffer_print(to, "  b%d.%s: %.17g\n", i, ne_position_parts[b->type][k], b->q[k]);
        for (int k = 0; k < ne_velocities[b->type]; k++)
            tr_buffer_print(to, "  b%d.%s: %.17g\n", i, ne_velocity_parts[b->type][k], b->v[k]);
    }
}

// The model's text, with more at its end; free with tr_buffer_free.
static inline Buffer write_thicket(const Thicket *f, const char *more)
{
    Buffer text = {0};
    tr_buffer_print(&text, "trundle: 1\n");
    write_vector(&text, "gravity", f->ne.gravity);
    tr_buffer_print(&text, "\n");
    write_bodies(&text, f);
    write_roles(&text, f);
    write_ties(&text, f);
    write_pulls(&text, f);
    write_guess(&text, f);
    tr_buffer_print(&text, "%s", more);
    return text;
}

// ---- how the motion is described -----------------------------------------------------------

// A velocity of a joint, and formulas of some, to describe the motion by
static inline bool any_speeds(Random *r, const Thicket *f, char *more, size_t size)
{
    const int a = any_single(r, f), b = any_single(r, f), c = any_single(r, f);
    if (a < 0) return false;
    snprintf(more, size,
             "outputs: {one: \"0.7*d(b%d) + cos(b%d)*d(b%d) + t\", two: d(b%d) - 0.4*d(b%d)}\n"
             "independent: [d(b%d), two, one]\n",
             a, b, b, c, a, c);
    return true;
}

// Pivots at random, among entries that are not small
static inline uint32_t any_pivots(Random *r, uint32_t rows, uint32_t columns, double *A,
                                  uint32_t *row, uint32_t *column)
{
    for (uint32_t count = 0;; count++) {
        double most = 0;
        for (uint32_t i = 0; i < rows * columns; i++) most = fmax(most, fabs(A[i]));
        if (most < 1e-8) return count;
        for (uint32_t i = 0, met = 0; i < rows * columns; i++)
            if (fabs(A[i]) > 0.3 * most && random_below(r, ++met) == 0)
                row[count] = i / columns, column[count] = i % columns;
        double pivot[MAX_V];
        memcpy(pivot, A + row[count] * columns, columns * sizeof *pivot);
        for (uint32_t i = 0; i < rows; i++) {
            const double l = A[i * columns + column[count]] / pivot[column[count]];
            for (uint32_t k = 0; k < columns; k++) A[i * columns + k] -= l * pivot[k];
            A[i * columns + column[count]] = 0;
        }
    }
}

#endif
