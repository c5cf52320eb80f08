// SPDX-License-Identifier: Apache-2.0
// What must not change the motion of random forests: where the world frame stands, names, the order
// of the file, units.
#include "forests.h"

// ---- what must not matter ------------------------------------------------------------------

static double energy_of(const Probe *p, int which)
{
    static const char *const names[] = {"kinetic", "potential", "power"};
    return probe_get(p, names[which]);
}

// The accelerations of f at its state, in its own order; and its energies.
static void motion_of(const RandomForest *f, const Style *style, double *a, double energies[3])
{
    uint32_t place[NE_MAX];
    Probe p = derive_as(f, style);
    run_at(f, style, &p, place);
    for (int k = 0; k < f->ne.velocities; k++) a[k] = probe_output(&p, "vdot")[place[k]];
    for (int k = 0; k < 3; k++) energies[k] = energy_of(&p, k);
    probe_free(&p);
}

static RandomForest moved(const RandomForest *f, M3 R, V3 p)
{
    RandomForest g = *f;
    g.ne.gravity = m3_times(R, f->ne.gravity);
    for (int i = 0; i < g.ne.count; i++) {
        NeBody *b = &g.ne.body[i];
        if (b->parent >= 0) continue;
        b->at = v3_plus(p, m3_times(R, b->at));
        b->second = m3_times(R, ne_second(b));
        b->axis = m3_times(R, b->axis);
        b->turn = m3_angles(m3_product(R, m3_turn(b->turn)));
    }
    for (int i = 0; i < g.pulls; i++) {
        if (g.pull[i].in_body) continue;
        g.pull[i].force = m3_times(R, g.pull[i].force);
        g.pull[i].torque = m3_times(R, g.pull[i].torque);
    }
    return g;
}

static void test_moving_the_world(void **state)
{
    (void)state;
    Random r = {4};
    for (int i = 0; i < 60; i++) {
        RandomForest f = any_forest(&r, 1 + (int)random_below(&r, 8));
        any_state(&r, &f);
        const V3 p = v3_times(5, any_vector(&r));
        const RandomForest g = moved(&f, any_rotation(&r), p);
        double a[2][NE_MAX], E[2][3];
        motion_of(&f, &plain, a[0], E[0]);
        motion_of(&g, &plain, a[1], E[1]);
        check_vector("vdot", a[1], a[0], f.ne.velocities, 1e-10);
        assert_close(E[1][0], E[0][0], 1e-12);
        double height = 0; // the potential is counted from another point
        for (int k = 0; k < f.ne.count; k++) height -= f.ne.body[k].mass * v3_dot(g.ne.gravity, p);
        assert_close(E[1][1], E[0][1] + height, 1e-11);
        assert_close(E[1][2], E[0][2], 1e-10);
    }
}

static void test_renaming(void **state)
{
    (void)state;
    static const Style other = {.prefix = "Zebra_"}, named = {.prefix = "b", .parameters = true},
                       other_named = {.prefix = "Zebra_", .parameters = true};
    Random r = {5};
    for (int i = 0; i < 60; i++) {
        RandomForest f = any_forest(&r, 1 + (int)random_below(&r, 8));
        any_state(&r, &f);
        RandomForest g = f;
        for (int k = 0; k < g.ne.count; k++) g.part[k].label = 100 - k;
        double a[2][NE_MAX], E[2][3];
        motion_of(&f, i % 2 ? &named : &plain, a[0], E[0]);
        motion_of(&g, i % 2 ? &other_named : &other, a[1], E[1]);
        for (int k = 0; k < f.ne.velocities; k++) assert_true(same_bits(a[0][k], a[1][k]));
        for (int k = 0; k < 3; k++) assert_true(same_bits(E[0][k], E[1][k]));
    }
}

static void test_order_of_the_file(void **state)
{
    (void)state;
    static const Style backwards = {.prefix = "b", .backwards = true};
    Random r = {6};
    for (int i = 0; i < 60; i++) {
        RandomForest f = any_forest(&r, 1 + (int)random_below(&r, 8));
        any_state(&r, &f);
        double a[2][NE_MAX], E[2][3];
        motion_of(&f, &plain, a[0], E[0]);
        motion_of(&f, &backwards, a[1], E[1]);
        check_vector("vdot", a[1], a[0], f.ne.velocities, 1e-10);
        for (int k = 0; k < 3; k++) assert_close(E[0][k], E[1][k], 1e-11);
    }
}

// ---- units ---------------------------------------------------------------------------------

typedef struct Units { // powers of two
    int length, mass, time;
} Units;

static double in_units(Units u, int length, int mass, int time, double x)
{
    return ldexp(x, u.length * length + u.mass * mass + u.time * time);
}
static V3 vector_in_units(Units u, int length, int mass, int time, V3 x)
{
    return v3_times(in_units(u, length, mass, time, 1), x);
}

static bool is_angular(NeType type, int k)
{
    return type == NE_REVOLUTE || type == NE_BALL || type == NE_UNIVERSAL ||
           (type == NE_PLANAR && k == 2) || (type == NE_FREE && k >= 3) ||
           (type == NE_CYLINDRICAL && k == 1);
}

static void scale_part(Units u, NeType type, Part *p)
{
    for (int k = 0; k < ne_velocities[type]; k++)
        p->torque[k] = in_units(u, is_angular(type, k) ? 2 : 1, 1, -2, p->torque[k]);
    for (int k = 0; k < 3; k++) {
        const bool angle = type == NE_REVOLUTE || type == NE_UNIVERSAL ||
                           (type == NE_PLANAR && k == 2) || (type == NE_CYLINDRICAL && k == 1);
        p->swing[k] = in_units(u, angle ? 0 : 1, 0, 0, p->swing[k]);
    }
    p->frequency = in_units(u, 0, 0, -1, p->frequency);
    const int length = type == NE_REVOLUTE ? 2 : 0;
    p->stiffness = in_units(u, length, 1, -2, p->stiffness);
    p->damping = in_units(u, length, 1, -1, p->damping);
    p->rest = in_units(u, type == NE_REVOLUTE ? 0 : 1, 0, 0, p->rest);
    p->axial = in_units(u, 2, 1, 0, p->axial);
    p->radial = in_units(u, 2, 1, 0, p->radial);
}

static RandomForest scaled(const RandomForest *f, Units u)
{
    RandomForest g = *f;
    g.t = in_units(u, 0, 0, 1, f->t);
    g.ne.gravity = vector_in_units(u, 1, 0, -2, f->ne.gravity);
    for (int i = 0; i < g.ne.count; i++) {
        NeBody *b = &g.ne.body[i];
        b->at = vector_in_units(u, 1, 0, 0, b->at);
        b->com = vector_in_units(u, 1, 0, 0, b->com);
        b->mass = in_units(u, 0, 1, 0, b->mass);
        for (int k = 0; k < 3; k++)
            b->inertia.column[k] = vector_in_units(u, 2, 1, 0, b->inertia.column[k]);
        for (int k = 0; k < ne_velocities[b->type]; k++)
            b->v[k] = in_units(u, is_angular(b->type, k) ? 0 : 1, 0, -1, b->v[k]);
        const bool slides = b->type == NE_PRISMATIC || b->type == NE_CYLINDRICAL;
        const int lengths = slides ? 1 : b->type == NE_PLANAR ? 2 : 3;
        const bool turns_only =
            b->type == NE_REVOLUTE || b->type == NE_BALL || b->type == NE_UNIVERSAL;
        for (int k = 0; !turns_only && k < lengths; k++) b->q[k] = in_units(u, 1, 0, 0, b->q[k]);
        scale_part(u, b->type, &g.part[i]);
    }
    for (int i = 0; i < g.pulls; i++) {
        g.pull[i].at = vector_in_units(u, 1, 0, 0, g.pull[i].at);
        g.pull[i].force = vector_in_units(u, 1, 1, -2, g.pull[i].force);
        g.pull[i].torque = vector_in_units(u, 2, 1, -2, g.pull[i].torque);
    }
    return g;
}

static void test_units(void **state)
{
    (void)state;
    static const Style styles[] = {{.prefix = "b"},
                                   {.prefix = "b", .parameters = true},
                                   {.prefix = "b", .parameters = true, .fixed = true}};
    Random r = {7};
    for (int i = 0; i < 90; i++) {
        RandomForest f = any_forest(&r, 1 + (int)random_below(&r, 8));
        any_state(&r, &f);
        const Units u = {(int)random_below(&r, 21) - 10, (int)random_below(&r, 21) - 10,
                         (int)random_below(&r, 21) - 10};
        const RandomForest g = scaled(&f, u);
        double a[2][NE_MAX], E[2][3];
        way = i % 2 ? ARTICULATED : MASS_MATRIX;
        motion_of(&f, &styles[i % 3], a[0], E[0]);
        motion_of(&g, &styles[i % 3], a[1], E[1]);
        way = CHEAPER;
        for (int b = 0; b < f.ne.count; b++)
            for (int k = 0; k < ne_velocities[f.ne.body[b].type]; k++) {
                const int at = f.ne.body[b].first + k, angular = is_angular(f.ne.body[b].type, k);
                assert_true(same_bits(in_units(u, !angular, 0, -2, a[0][at]), a[1][at]));
            }
        assert_true(same_bits(in_units(u, 2, 1, -2, E[0][0]), E[1][0]));
        assert_true(same_bits(in_units(u, 2, 1, -2, E[0][1]), E[1][1]));
        assert_true(same_bits(in_units(u, 2, 1, -3, E[0][2]), E[1][2]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moving_the_world),
        cmocka_unit_test(test_renaming),
        cmocka_unit_test(test_order_of_the_file),
        cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
