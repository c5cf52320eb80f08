// SPDX-License-Identifier: Apache-2.0
// One body that rolls: discs, tyres and balls against closed forms and laws of their own; and
// contacts that cannot be.
#include "rolling.h"

// ---- vectors and angles --------------------------------------------------------------------

// Of angles, by any number of turns
static double angle_difference(const Sheet *a, const Sheet *b, const char *name)
{
    double worst = 0;
    assert_int_equal(a->rows, b->rows);
    for (size_t i = 0; i < a->rows; i++) {
        const double off = remainder(at(a, i, name) - at(b, i, name), 2 * M_PI);
        worst = fmax(worst, fabs(off));
    }
    return worst;
}

// ---- one body that rolls -------------------------------------------------------------------

// A x = b, by Cramer
static V3 solve3(M3 A, V3 b)
{
    const V3 x = A.column[0], y = A.column[1], z = A.column[2];
    const double D = v3_dot(x, v3_cross(y, z));
    return v3(v3_dot(b, v3_cross(y, z)) / D, v3_dot(x, v3_cross(b, z)) / D,
              v3_dot(x, v3_cross(y, b)) / D);
}

// The point r of the body does not move: V = -W x r, so V' = -W' x r - W x r'. With the force F
// there, m V' = m G + F and J W' + W x J W = r x F, so
//   (J + m (r^2 - r r^T)) W' = -W x J W - m r x (W x r') - m r x G
static void roll_on(const Roller *w, V3 a, V3 W, V3 *dW, V3 *F)
{
    const V3 r = to_contact(w, a), dr = contact_rate(w, a, W), G = v3(0, 0, -g);
    const V3 JW = v3_plus(v3_times(w->Ir, W), v3_times((w->Ia - w->Ir) * v3_dot(a, W), a));
    M3 A;
    for (int k = 0; k < 3; k++) {
        const V3 e = v3_axis(k);
        A.column[k] = v3_plus(v3_times(w->Ir, e), v3_times((w->Ia - w->Ir) * v3_at(a, k), a));
        const V3 arm = v3_minus(v3_times(v3_dot(r, r), e), v3_times(v3_at(r, k), r));
        A.column[k] = v3_plus(A.column[k], v3_times(w->m, arm));
    }
    const V3 bias = v3_plus(v3_cross(r, v3_cross(W, dr)), v3_cross(r, G));
    *dW = solve3(A, v3_times(-1, v3_plus(v3_cross(W, JW), v3_times(w->m, bias))));
    const V3 dV = v3_times(-1, v3_plus(v3_cross(*dW, r), v3_cross(W, dr)));
    *F = v3_times(w->m, v3_minus(dV, G));
}

static V3 part_of(const Sheet *run, size_t row, const char *thing, const char *const *parts)
{
    char name[60];
    double x[3];
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "%s%s", thing, parts[k]);
        x[k] = at(run, row, name);
    }
    return v3(x[0], x[1], x[2]);
}

static double apart(V3 a, V3 b)
{
    const V3 off = v3_minus(a, b);
    return sqrt(v3_dot(off, off)) / fmax(1, sqrt(v3_dot(b, b)));
}

static M3 rotation_at(const Sheet *run, size_t row, const char *body)
{
    static const char *const parts[] = {"qw", "qx", "qy", "qz"};
    char name[60];
    double q[4];
    for (int k = 0; k < 4; k++) {
        snprintf(name, sizeof name, "%s.%s", body, parts[k]);
        q[k] = at(run, row, name);
    }
    return m3_quaternion(q);
}

// Place and velocity of the contact, acceleration and force at a row, whatever is worst
static double roller_off(const Sheet *run, size_t row, const Roller *w)
{
    static const char *const places[] = {".x", ".y", ".z"},
                             *const V_parts[] = {".vx", ".vy", ".vz"},
                             *const W_parts[] = {".wx", ".wy", ".wz"},
                             *const forces[] = {".Fx", ".Fy", ".Fz"},
                             *const accelerations[] = {"wx_acc", "wy_acc", "wz_acc"};
    const M3 R = rotation_at(run, row, w->body);
    const V3 a = R.column[1], W = m3_times(R, part_of(run, row, w->body, W_parts));
    const V3 O = part_of(run, row, w->body, places), r = to_contact(w, a);
    const V3 V = m3_times(R, part_of(run, row, w->body, V_parts));
    V3 dW, F;
    roll_on(w, a, W, &dW, &F);
    double worst = apart(part_of(run, row, w->contact, places), v3_plus(O, r));
    worst = fmax(worst, fabs(v3_dot(w->n, v3_plus(O, r)))); // it touches
    worst = fmax(worst, apart(V, v3_times(-1, v3_cross(W, r))));
    worst = fmax(worst, apart(m3_times(R, part_of(run, row, "", accelerations)), dW));
    return fmax(worst, apart(part_of(run, row, w->contact, forces), F));
}

static void put_spins(tr_model *model, const char *body)
{
    static const char *const parts[] = {"wx", "wy", "wz"};
    char path[60], formula[60];
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "outputs/%s_acc", parts[k]);
        snprintf(formula, sizeof formula, "d(%s.%s)", body, parts[k]);
        change(model, path, formula);
    }
}

static void check_roller(const char *name, const char *case_name, double end, const Roller *w)
{
    double worst = 0;
    tr_model *model = model_called(name);
    put_spins(model, w->body);
    Sheet *run = run_to(system_of(model, case_name), end, end / 100);
    for (size_t i = 0; i < run->rows; i++) worst = fmax(worst, roller_off(run, i, w));
    print_message("%s %s: %.1e\n", name, case_name, worst);
    assert_int_equal(run->rows, 101);
    assert_below(worst, 1e-10);
    tr_sheet_free(run);
}

static void test_newton_and_euler(void **state)
{
    (void)state;
    const V3 up = v3(0, 0, 1);
    const double coin = 0.44 * 0.0376 * 0.0376;
    const Roller disc = {"disc", "contact.rim", 2, 0.09, 0.045, 0.3, 0, false, up};
    const Roller tyre = {"wheel", "contact.tyre", 2, 0.09, 0.045, 0.3, 0.05, false, up};
    const Roller thin = {"wheel", "contact.tyre", 2, 0.09, 0.045, 0.3, 1e-6, false, up};
    const Roller euler = {"disc", "contact.rim", 0.44, coin / 2, coin / 4, 0.0376, 0, false, up};
    const Roller ball = {"ball", "contact.foot",           1, 0.004, 0.004, 0.1, 0,
                         true,   v3(sin(0.3), 0, cos(0.3))};
    check_roller("rolling_disc", "steady", 5, &disc);
    check_roller("rolling_disc", "wobble", 5, &disc);
    check_roller("tyre", "lean", 5, &tyre);
    check_roller("tyre", "thin", 5, &thin);
    check_roller("euler_disc", "spin", 0.5, &euler);
    check_roller("ball_on_slope", "roll", 3, &ball);
}

static void test_steady_disc(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"Yc", "contact.rim.x"},  {"Zc", "contact.rim.y"},    {"roll", "roll"},
        {"yaw_rate", "yaw_rate"}, {"roll_rate", "roll_rate"}, {"w_axial", "disc.wy"},
        {"w_inplane", "across"},  {"Fx", "contact.rim.Fz"},   {"Fy", "contact.rim.Fx"},
        {"Fz", "contact.rim.Fy"}, {"energy", "energy"}};
    tr_model *model = model_called("rolling_disc");
    change(model, "outputs/yaw_rate", "d(yaw)");
    change(model, "outputs/roll_rate", "d(roll)");
    change(model, "outputs/across", "sqrt(disc.wx^2 + disc.wz^2)");
    // The potential is 0 at the contact in the reference as well.
    change(model, "outputs/energy",
           "0.5*m*(disc.vx^2 + disc.vy^2 + disc.vz^2) + m*g*disc.z + "
           "0.5*(Ir*(disc.wx^2 + disc.wz^2) + Ia*disc.wy^2)");
    Sheet *reference = read_sheet(REFERENCE_DIR "/disc_steady.csv");
    Sheet *run = run_to(system_of(model, "steady"), 5, 0.1);
    assert_int_equal(reference->rows, 51);
    assert_below(angle_difference(reference, run, "yaw"), 1e-9);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const double off = difference(reference, names[k][0], run, names[k][1]);
        print_message("%-10s %.1e\n", names[k][0], off);
        assert_below(off, 1e-9);
    }
    tr_sheet_free(reference);
    tr_sheet_free(run);
}

static void test_ball_on_slope(void **state)
{
    (void)state;
    static const double slopes[] = {0.3, -0.7, 1.2};
    for (int k = 0; k < 3; k++) {
        tr_model *model = model_called("ball_on_slope");
        change(model, "outputs/acceleration", "d(d(down))");
        const double wanted = 5. / 7 * g * sin(slopes[k]);
        Sheet *run =
            run_to(system_valued(model, "roll", &(Number){"slope", slopes[k]}, 1), 3, 0.05);
        assert_close(at(run, 0, "acceleration"), wanted, 1e-12);
        for (size_t i = 0; i < run->rows; i++) {
            const double t = at(run, i, "t");
            assert_close(at(run, i, "down"), wanted * t * t / 2, 1e-9);
            assert_close(at(run, i, "lambda.foot.normal"), g * cos(slopes[k]), 1e-12);
        }
        tr_sheet_free(run);
    }
}

static double lean_with_tube(double tube)
{
    Sheet *run = run_to(system_with("tyre", "lean", &(Number){"tube", tube}, 1), 1, 0.1);
    const double roll = at(run, run->rows - 1, "roll");
    tr_sheet_free(run);
    return roll;
}

// A tyre comes to the sharp edge as its tube does to nothing, linearly.
static void test_thin_tyres(void **state)
{
    (void)state;
    const double sharp = lean_with_tube(0);
    double before = fabs(lean_with_tube(2e-3) - sharp);
    assert_true(before > 1e-5);
    for (double tube = 1e-3; tube > 5e-5; tube /= 2) {
        const double off = fabs(lean_with_tube(tube) - sharp);
        print_message("tube %.2g: %.2e, %.3f times less\n", tube, off, before / off);
        assert_true(fabs(before / off - 2) < 0.03);
        before = off;
    }
}

// ---- contacts that cannot be ---------------------------------------------------------------

// With words that begin so
static void assert_refused(const char *contact, const char *words)
{
    char text[1500], told[600];
    tr_error err = {0};
    snprintf(text, sizeof text,
             "trundle: 1\n"
             "bodies:\n"
             "  ball: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
             "contacts:\n"
             "  c: {body: ball, %s}\n",
             contact);
    tr_model *model = tr_model_parse(text, &err);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_model_free(model);
    tr_system_free(system);
    snprintf(told, sizeof told, "%d:%d: %s", err.line, err.column, err.text);
    if (strncmp(told, words, strlen(words)) != 0) fail_msg("%s\n  says %s", contact, told);
    assert_int_equal(err.status, TR_INVALID);
}

static void test_bad_wheels(void **state)
{
    (void)state;
    assert_refused("axis: \"0, 1, 0\"", "5:3: the wheel 'c' needs a positive radius");
    assert_refused("radius: 0, axis: \"0, 1, 0\"", "5:27: the wheel 'c' needs a positive radius");
    assert_refused("radius: -0.3, axis: \"0, 1, 0\"",
                   "5:27: the wheel 'c' needs a positive radius");
    assert_refused("axis: \"0, 1, 0\", radius: 0.3, tube: 0.3",
                   "5:55: the tube of a tyre is thinner than the wheel's radius");
    assert_refused("axis: \"0, 1, 0\", radius: 0.3, tube: 0.4",
                   "5:55: the tube of a tyre is thinner than the wheel's radius");
    assert_refused("axis: \"0, 1, 0\", radius: 0.3, tube: -0.1", "5:55: the tube of a tyre ");
    assert_refused("radius: 0.3", "5:3: the joint of 'ball' has no axis: 'c' needs one");
    assert_refused("radius: 0.3, axis: \"0, 0, 0\"", "5:39: the axis is zero: it has no direction");
}

static void test_bad_balls(void **state)
{
    (void)state;
    assert_refused("shape: ball", "5:3: the ball 'c' needs a positive radius");
    assert_refused("shape: ball, radius: 0", "5:40: the ball 'c' needs a positive radius");
    assert_refused("shape: ball, radius: 0.1, axis: \"0, 1, 0\"", "5:52: a ball has no axle");
    assert_refused("shape: ball, radius: 0.1, tube: 0.05", "5:51: a ball has no tube");
    assert_refused("shape: bal, radius: 0.1", "5:26: what rolls is a wheel or a ball, not a 'bal'");
}

static void test_bad_friction(void **state)
{
    (void)state;
    assert_refused("kind: pin, friction: 0.5", "5:40: a pin contact has no use for 'friction'");
    assert_refused("kind: skate, friction: 0.5", "5:42: a skate contact has no use for 'friction'");
    assert_refused("kind: slide, radius: 0.5", "5:40: a slide contact has no use for 'radius'");
    assert_refused("shape: ball, radius: 0.1, friction: nothing", "5:55: unknown name 'nothing'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newton_and_euler), cmocka_unit_test(test_steady_disc),
        cmocka_unit_test(test_ball_on_slope),    cmocka_unit_test(test_thin_tyres),
        cmocka_unit_test(test_bad_wheels),       cmocka_unit_test(test_bad_balls),
        cmocka_unit_test(test_bad_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
