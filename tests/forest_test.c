// SPDX-License-Identifier: Apache-2.0
// Random forests of bodies against numeric Newton-Euler (newton_euler.h), by each way to build
// forward dynamics.
#include "forests.h"

// ---- against Newton-Euler ------------------------------------------------------------------

typedef struct Expected {
    NeDynamics d;
    double Q[NE_MAX];   // but for the torques of motions
    double a[NE_MAX];   // accelerations
    double tau[NE_MAX]; // M a + c - Q: zero but for motions
    bool told[NE_MAX];
    double potential, scale; // scale: of powers
} Expected;

static void add_pull(const RandomForest *f, int body, V3 point, V3 F, V3 N, double *Q)
{
    static NeJacobian J;
    if (body < 0) return;
    ne_jacobian(&f->ne, body, &J);
    const V3 arm = v3_minus(point, J.c);
    for (int k = 0; k < f->ne.velocities; k++)
        Q[k] += v3_dot(J.Jc[k], F) + v3_dot(J.Jw[k], v3_plus(N, v3_cross(arm, F)));
}

static void find_forces(const RandomForest *f, Expected *e)
{
    for (int i = 0; i < f->ne.count; i++) {
        const NeBody *b = &f->ne.body[i];
        const Part *p = &f->part[i];
        for (int k = 0; k < ne_velocities[b->type]; k++) {
            e->Q[b->first + k] = p->torque[k];
            e->told[b->first + k] = p->drive == DRIVE_MOTION;
        }
        if (ne_velocities[b->type] != 1) continue;
        e->Q[b->first] -= p->stiffness * (b->q[0] - p->rest) + p->damping * b->v[0];
        e->potential += 0.5 * p->stiffness * (b->q[0] - p->rest) * (b->q[0] - p->rest);
    }
    for (int i = 0; i < f->pulls; i++) {
        const Pull *pull = &f->pull[i];
        const NeBody *b = &f->ne.body[pull->body];
        const V3 point = v3_plus(b->p, m3_times(b->R, pull->at));
        const V3 F = pull->in_body ? m3_times(b->R, pull->force) : pull->force;
        const V3 N = pull->in_body ? m3_times(b->R, pull->torque) : pull->torque;
        add_pull(f, pull->body, point, F, N, e->Q);
        add_pull(f, pull->reaction, point, v3_times(-1, F), v3_times(-1, N), e->Q);
    }
}

static void expect(RandomForest *f, Expected *e)
{
    static double A[NE_MAX * NE_MAX];
    double b[NE_MAX], v[NE_MAX];
    int free_one[NE_MAX], n = 0;
    memset(e, 0, sizeof *e);
    ne_dynamics(&f->ne, &e->d);
    e->potential = e->d.potential;
    find_forces(f, e);
    for (int i = 0; i < f->ne.count; i++)
        for (int k = 0; k < ne_velocities[f->ne.body[i].type]; k++) {
            const int at = f->ne.body[i].first + k;
            v[at] = f->ne.body[i].v[k];
            if (e->told[at])
                e->a[at] = f->part[i].acceleration[k];
            else
                free_one[n++] = at;
        }
    for (int i = 0; i < n; i++) {
        b[i] = e->Q[free_one[i]] - e->d.c[free_one[i]];
        for (int k = 0; k < e->d.n; k++) b[i] -= e->d.M[free_one[i]][k] * e->a[k];
        for (int k = 0; k < n; k++) A[i * NE_MAX + k] = e->d.M[free_one[i]][free_one[k]];
    }
    gauss(n, NE_MAX, A, b);
    for (int i = 0; i < n; i++) e->a[free_one[i]] = b[i];
    for (int k = 0; k < e->d.n; k++) {
        e->tau[k] = e->d.c[k] - e->Q[k];
        double size = fabs(e->d.c[k]) + fabs(e->Q[k]);
        for (int l = 0; l < e->d.n; l++) {
            e->tau[k] += e->d.M[k][l] * e->a[l];
            size += fabs(e->d.M[k][l] * e->a[l]);
        }
        e->scale += size * fabs(v[k]);
    }
}

static void check_mass_matrix(const Expected *e, const Probe *p, const uint32_t *place)
{
    const int n = e->d.n;
    const double *M = probe_output(p, "M");
    double *found = malloc(((size_t)n * (size_t)n + 1) * sizeof *found);
    double *wanted = malloc(((size_t)n * (size_t)n + 1) * sizeof *wanted);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            found[i * n + k] = M[place[i] * (uint32_t)n + place[k]];
            wanted[i * n + k] = e->d.M[i][k];
            assert_true(same_bits(found[i * n + k], M[place[k] * (uint32_t)n + place[i]]));
        }
    check_vector("M", found, wanted, n * n, 1e-12);
    assert_true(ne_is_positive(n, found));
    free(found);
    free(wanted);
}

static void check_torques(const RandomForest *f, const Style *style, const Expected *e,
                          const Probe *p)
{
    double found[NE_MAX], wanted[NE_MAX];
    int n = 0;
    for (int i = 0; i < f->ne.count; i++)
        for (int k = 0; k < ne_velocities[f->ne.body[i].type]; k++) {
            char joint[40], name[50];
            if (f->part[i].drive == DRIVE_NONE) continue;
            if (ne_is_axial(f->ne.body[i].type))
                position_name(f, style, i, k, joint);
            else
                velocity_name(f, style, i, k, joint);
            snprintf(name, sizeof name, "tau.%s", joint);
            found[n] = probe_get(p, name);
            const int at = f->ne.body[i].first + k;
            wanted[n++] = e->told[at] ? e->tau[at] : f->part[i].torque[k];
        }
    check_vector("tau", found, wanted, n, 1e-10);
}

static void check_state(RandomForest *f, const Style *style, Probe *p)
{
    static Expected e;
    uint32_t place[NE_MAX];
    double found[4][NE_MAX];
    expect(f, &e);
    run_at(f, style, p, place);
    const int n = e.d.n;
    for (int k = 0; k < n; k++) {
        found[0][k] = probe_output(p, "c")[place[k]];
        found[1][k] = probe_output(p, "Q")[place[k]];
        found[2][k] = probe_output(p, "vdot")[place[k]];
    }
    check_mass_matrix(&e, p, place);
    check_vector("c", found[0], e.d.c, n, 1e-12);
    check_vector("Q", found[1], e.Q, n, 1e-12);
    check_vector("vdot", found[2], e.a, n, 1e-10);
    check_torques(f, style, &e, p);
    for (int k = 0; k < n; k++) { // inverse of forward, with the numbers of the system itself
        double force = found[0][k] - found[1][k], size = fabs(found[0][k]) + fabs(found[1][k]) + 1;
        for (int l = 0; l < n; l++) {
            const double Ma = probe_output(p, "M")[place[k] * (uint32_t)n + place[l]] * found[2][l];
            force += Ma, size += fabs(Ma);
        }
        found[3][k] = e.told[k] ? 0 : force / size;
    }
    const double nothing[NE_MAX] = {0};
    check_vector("M vdot + c - Q", found[3], nothing, n, 1e-12);
    assert_close(probe_get(p, "kinetic"), e.d.kinetic, 1e-12);
    assert_close(probe_get(p, "potential"), e.potential, 1e-12);
    const double rate = probe_get(p, "energy_rate") - probe_get(p, "power");
    check_vector("dE/dt - power", (double[]){rate / (1 + e.scale)}, nothing, 1, 1e-12);
}

enum { FORESTS = BRIEF ? 60 : 240 }; // thirty of all sizes

static int any_count(Random *r, int i)
{
    return i < 30 ? i + 1 : 1 + (int)random_below(r, 9); // all sizes once
}

static void check_way(Way chosen, const Style *style, uint64_t seed, int forests)
{
    Random r = {seed};
    way = chosen;
    for (int i = 0; i < forests; i++) {
        RandomForest f = any_forest(&r, any_count(&r, i));
        if (!f.ne.velocities) continue;
        Probe p = derive_as(&f, style);
        for (int k = 0; k < 2; k++) {
            any_state(&r, &f);
            check_state(&f, style, &p);
        }
        probe_free(&p);
    }
    way = CHEAPER;
}

static void test_articulated_inertias(void **state)
{
    (void)state;
    check_way(ARTICULATED, &plain, 1, FORESTS);
}

static void test_mass_matrix(void **state)
{
    (void)state;
    check_way(MASS_MATRIX, &(Style){.prefix = "b", .parameters = true}, 2, FORESTS);
}

static void test_along_hinges(void **state)
{
    (void)state;
    for (int i = ALONG_ARTICULATED; i < WAYS; i++)
        check_way((Way)i, &plain, 4 + (uint64_t)i, FORESTS / 2);
    check_way(ALONG_ARTICULATED, &(Style){.prefix = "b", .parameters = true}, 6, FORESTS);
}

// Instructions from the state to accelerations, with parameters fixed
static size_t cost_of(const Probe *p)
{
    const tr_compile_options options = {.size = sizeof options};
    tr_error err = {0};
    tr_program *program = tr_compile(p->system, "vdot", &options, &err);
    assert_non_null(program);
    const size_t count = tr_program_sizes(program).instructions;
    tr_program_free(program);
    return count;
}

// What tr_derive really uses: one of them, and the cheapest.
static void test_the_cheaper_is_kept(void **state)
{
    (void)state;
    Random r = {12};
    int kept[TRIED] = {0};
    for (int i = 0; i < 60; i++) { // of thirty, none is best by its own mass matrix
        const RandomForest f = any_forest(&r, 1 + (int)random_below(&r, 8));
        size_t cost[TRIED], least = SIZE_MAX;
        for (way = CHEAPER; way < TRIED; way++) {
            Probe p = derive_as(&f, &plain);
            cost[way] = cost_of(&p);
            probe_free(&p);
        }
        way = CHEAPER;
        // but for a few operations: what a graph holds already has a say in how more is written
        int best = 0;
        for (int k = ARTICULATED; k < TRIED; k++)
            if (cost[k] < least) least = cost[k], best = k;
        assert_true(cost[0] <= least + least / 50 && least <= cost[0] + least / 50);
        kept[best]++;
    }
    // none is idle, but those without loads seldom are the best
    for (int k = ARTICULATED; k < UNLOADED_ARTICULATED; k++) assert_true(kept[k] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_articulated_inertias),
        cmocka_unit_test(test_mass_matrix),
        cmocka_unit_test(test_along_hinges),
        cmocka_unit_test(test_the_cheaper_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
