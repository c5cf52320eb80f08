// SPDX-License-Identifier: Apache-2.0
// Wheels whose middle stands beside the axle, or beside the origin of their body: cams, eccentric
// discs. Against Lagrange's equation of the plane, against points of the body by hand, and against
// the same mechanism with its axes elsewhere.
#include "rolling.h"

static const double m = 2, I = 0.07, e = 0.1, radius = 0.3;

#define DISC                                                                                    \
    "trundle: 1\n"                                                                              \
    "bodies: {disc: {joint: {type: free}, mass: 2, inertia: {xx: 0.05, yy: 0.07, zz: 0.06}}}\n" \
    "contacts: {c: {body: disc, at: \"0.1, 0, 0\", radius: 0.3, axis: \"0, 1, 0\"%s}}\n"        \
    "%s\n"

static tr_system *disc_with(const char *contact, const char *rest)
{
    char text[900];
    snprintf(text, sizeof text, DISC, contact, rest);
    return system_from(text);
}

// ---- in the plane --------------------------------------------------------------------------

// T = A theta'^2 / 2,   A = I + m (R^2 + 2 R e sin theta + e^2),   U = m g (R + e sin theta)
static double inertia(double theta)
{
    return I + m * (radius * radius + 2 * radius * e * sin(theta) + e * e);
}

static double energy(double theta, double rate)
{
    return inertia(theta) * rate * rate / 2 + m * g * (radius + e * sin(theta));
}

static tr_system *upright_disc(double theta, double rate)
{
    char start[400];
    snprintf(start, sizeof start,
             "initial: {disc.x: 0, disc.y: 0, disc.qx: 0, disc.qz: 0, disc.qy: sin(%.17g/2), "
             "disc.wx: 0, disc.wz: 0, disc.wy: %.17g}\n"
             "guess: {disc.qw: cos(%.17g/2), disc.z: 0.3}\n"
             "outputs: {pitching: d(disc.wy)}\n"
             "cases: {go: {end: 2, every: 0.02}}\n",
             theta, rate, theta);
    return disc_with("", start);
}

// A theta'' = -m e cos(theta) (R theta'^2 + g)
static void test_accelerations(void **state)
{
    (void)state;
    static const double thetas[] = {0, 0.3, -0.8, 1.5, 2.6, -1.5}, rates[] = {0, 2, -5};
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 3; k++) {
            tr_system *system = upright_disc(thetas[i], rates[k]);
            double found;
            evaluate_start(system, "outputs.pitching", &found, 1);
            const double wanted =
                -m * e * cos(thetas[i]) * (radius * rates[k] * rates[k] + g) / inertia(thetas[i]);
            assert_close(found, wanted, 1e-11);
            tr_system_free(system);
        }
}

// The middle goes straight on: x + e cos(theta) = R theta, and more.
static void test_run_in_the_plane(void **state)
{
    (void)state;
    Sheet *run = run_of(upright_disc(0.3, 4));
    double turns = 0, last = 0.3;
    for (size_t i = 0; i < run->rows; i++) {
        const double half = atan2(at(run, i, "disc.qy"), at(run, i, "disc.qw"));
        const double theta = last + remainder(2 * half - last, 2 * M_PI);
        assert_close(at(run, i, "disc.z"), radius + e * sin(theta), 1e-11);
        assert_close(at(run, i, "disc.x"), radius * (theta - 0.3) - e * (cos(theta) - cos(0.3)),
                     1e-9);
        assert_close(energy(theta, at(run, i, "disc.wy")), energy(0.3, 4), 1e-9);
        turns = fmax(turns, fabs(theta - 0.3)), last = theta;
    }
    assert_true(turns > 4); // or nothing was tried
    tr_sheet_free(run);
}

// ---- in space ------------------------------------------------------------------------------

static M3 rotation_at(const Sheet *run, size_t i)
{
    const double w = at(run, i, "disc.qw"), x = at(run, i, "disc.qx"), y = at(run, i, "disc.qy"),
                 z = at(run, i, "disc.qz");
    return (M3){{v3(1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
                 v3(2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
                 v3(2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))}};
}

static V3 turned(M3 R, V3 a)
{
    return v3_plus(v3_plus(v3_times(a.x, R.column[0]), v3_times(a.y, R.column[1])),
                   v3_times(a.z, R.column[2]));
}

// The lowest point of the circle about the middle is where it touches, and stands still.
static void check_touching(const Sheet *run, double tube)
{
    for (size_t i = 0; i < run->rows; i++) {
        const M3 R = rotation_at(run, i);
        const V3 O = vector_at(run, i, "disc.x", "disc.y", "disc.z"), a = R.column[1];
        const V3 across = v3_minus(v3_times(a.z, a), v3(0, 0, 1)); // down, across the axle
        const double ring = (radius - tube) / sqrt(v3_dot(across, across));
        const V3 rim = v3_plus(v3_times(ring, across), v3(0, 0, -tube));
        const V3 r = v3_plus(turned(R, v3(e, 0, 0)), rim), P = v3_plus(O, r);
        const V3 W = turned(R, vector_at(run, i, "disc.wx", "disc.wy", "disc.wz"));
        const V3 V =
            v3_plus(turned(R, vector_at(run, i, "disc.vx", "disc.vy", "disc.vz")), v3_cross(W, r));
        assert_close(P.z, 0, 1e-11);
        assert_close(v3_dot(V, V), 0, 1e-20);
        const V3 told = vector_at(run, i, "contact.c.x", "contact.c.y", "contact.c.z");
        const V3 off = v3_minus(told, P);
        assert_close(v3_dot(off, off), 0, 1e-20);
    }
}

static void test_run_in_space(void **state)
{
    (void)state;
    static const char start[] =
        "initial: {disc.x: 0, disc.y: 0, disc.qx: 0.1, disc.qz: 0, disc.qy: 0.2, disc.wx: 0.4, "
        "disc.wz: 1.5, disc.wy: 9}\n"
        "guess: {disc.z: 0.3}\n"
        "cases: {go: {end: 1, every: 0.02}}\n";
    Sheet *thin = run_of(disc_with(", unilateral: false", start));
    check_touching(thin, 0);
    assert_true(largest(thin, "disc.qx") > 0.11); // it leans on its way
    tr_sheet_free(thin);
    Sheet *thick = run_of(disc_with(", unilateral: false, tube: 0.04", start));
    check_touching(thick, 0.04);
    tr_sheet_free(thick);
}

// ---- on a joint ----------------------------------------------------------------------------

// A cart and a lift above its wheel
static Sheet *cart_on(const char *wheel, const char *contact)
{
    char text[1500];
    snprintf(text, sizeof text,
             "trundle: 1\n"
             "bodies:\n"
             "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 3}\n"
             "  lift: {parent: cart, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}, "
             "mass: 1}\n"
             "  wheel: {parent: lift, mass: 2, inertia: {axial: 0.05, radial: 0.03}, %s}\n"
             "contacts: {c: {body: wheel, radius: 0.3, unilateral: false, %s}}\n"
             "initial: {x: 0, q: 0.4, d(q): 3}\n"
             "guess: {z: 0.3}\n"
             "cases: {go: {end: 2, every: 0.02}}\n",
             wheel, contact);
    return run_of(system_from(text));
}

static double largest_difference(const Sheet *a, const Sheet *b)
{
    static const char *const names[] = {"x",      "z",      "q",           "x_rate",
                                        "z_rate", "q_rate", "contact.c.Fz"};
    double worst = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        worst = fmax(worst, difference(a, names[i], b, names[i]));
    return worst;
}

static const char hinge[] = "joint: {type: revolute, axis: \"0, 1, 0\", coordinate: q}";

// The same cam, described from its axle and from its middle
static void test_cam(void **state)
{
    (void)state;
    Sheet *from_axle = cart_on(hinge, "at: \"0.1, 0, 0\"");
    Sheet *from_middle = cart_on("com: \"-0.1, 0, 0\", joint: {type: revolute, axis: \"0, 1, 0\", "
                                 "to: \"-0.1, 0, 0\", coordinate: q}",
                                 "at: \"0, 0, 0\"");
    Sheet *with_axis = cart_on(hinge, "at: \"0.1, 0, 0\", axis: \"0, 1, 0\"");
    assert_below(largest_difference(from_axle, from_middle), 1e-8);
    assert_below(largest_difference(from_axle, with_axis), 1e-8);
    for (size_t i = 0; i < from_axle->rows; i++) { // rises and falls by its excentricity
        const double q = at(from_axle, i, "q");
        assert_close(at(from_axle, i, "z"), radius + e * sin(q), 1e-11);
        assert_close(at(from_axle, i, "x"), radius * (q - 0.4) - e * (cos(q) - cos(0.4)), 1e-9);
    }
    tr_sheet_free(from_axle);
    tr_sheet_free(from_middle);
    tr_sheet_free(with_axis);
}

// One that hardly is one is the wheel that it nearly is; along the axle nothing changes at all.
static void test_limits(void **state)
{
    (void)state;
    Sheet *wheel = cart_on(hinge, "tube: 0"), *none = cart_on(hinge, "at: \"0, 0, 0\"");
    Sheet *along = cart_on(hinge, "at: \"0, 0.2, 0\"");
    Sheet *nearly = cart_on(hinge, "at: \"1e-9, 0, 0\"");
    assert_below(largest_difference(wheel, none), 1e-10);
    assert_below(largest_difference(wheel, along), 1e-10);
    const double off = largest_difference(wheel, nearly);
    assert_true(off > 1e-10); // it is not taken for one
    assert_below(off, 1e-6);
    tr_sheet_free(wheel);
    tr_sheet_free(none);
    tr_sheet_free(along);
    tr_sheet_free(nearly);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accelerations), cmocka_unit_test(test_run_in_the_plane),
        cmocka_unit_test(test_run_in_space),  cmocka_unit_test(test_cam),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
