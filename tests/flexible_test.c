// SPDX-License-Identifier: Apache-2.0
// Models with bodies that bend, and joints with springs in them: what they promise, the rigid ones
// that they tend to, closed forms, and everything that works with rigid bodies on them, too.
#include "bending.h"
#include "runs.h"

static tr_system *derived_with(const char *format, ...)
{
    char text[2000];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return system_from(text);
}

// Not recorded; the system is freed.
static tr_summary ran(tr_system *system, const char *method, double end, double rtol)
{
    tr_error err = {0};
    tr_summary s = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    o.method = method, o.end = end, o.rtol = rtol, o.atol = rtol / 100;
    if (!tr_simulate(system, &o, &s, &err)) fail_msg("%s", err.text);
    tr_system_free(system);
    return s;
}

// Recorded, ten rows of it; the system is freed.
static Sheet *recorded(tr_system *system, double end, double rtol, const char *sensitivity)
{
    tr_error err = {0};
    tr_summary s = {0};
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = end, o.every = end / 10, o.rtol = rtol, o.atol = rtol / 100;
    o.output = in_folder("run.csv"), o.sensitivity = sensitivity;
    if (!tr_simulate(system, &o, &s, &err)) fail_msg("%s", err.text);
    assert_below(s.energy_error, 1e-8);
    tr_system_free(system);
    return read_sheet(o.output);
}

// ---- the mast ------------------------------------------------------------------------------

static void test_mast_is_stiff(void **state)
{
    (void)state;
    static const double rtol[] = {1e-6, 1e-10};
    for (int i = 0; i < 2; i++) {
        const tr_summary erk = ran(system_called("flexible_mast", "drive"), "erk", 2, rtol[i]);
        const tr_summary bdf = ran(system_called("flexible_mast", "drive"), "bdf", 2, rtol[i]);
        print_message("rtol %.0e: %zu evaluations of erk, %zu of bdf\n", rtol[i], erk.evaluations,
                      bdf.evaluations);
        assert_true(bdf.evaluations > 0 && erk.evaluations >= 10 * bdf.evaluations);
        assert_non_null(strstr(erk.advice, "--method bdf would need far fewer"));
        assert_string_equal(bdf.advice, "");
        assert_below(bdf.energy_error, 1e-8);
    }
}

static void test_mast_either_way(void **state)
{
    (void)state;
    tr_summary s = {0};
    Sheet *erk = run_with(system_called("flexible_mast", "explicit"), 1, 0.05, &s);
    Sheet *bdf = run_with(system_called("flexible_mast", "drive"), 1, 0.05, &s);
    assert_true(largest(erk, "sway") > 0.02);
    assert_below(difference(erk, "sway", bdf, "sway"), 1e-9);
    assert_below(difference(erk, "mast.z6", bdf, "mast.z6"), 1e-9);
    tr_sheet_free(erk);
    tr_sheet_free(bdf);
}

// ---- linear models and the like ------------------------------------------------------------

// The mast alone, upright on a cart that stands: its first two frequencies without load, gravity or
// stiffening would be those of a cantilever; here the cart's large mass moves them a little.
static void test_linearise(void **state)
{
    (void)state;
    static const Number values[] = {{"m_cart", 1e9}, {"m_head", 1e-9}, {"m_lamp", 1e-9},
                                    {"tau", 1e-6},   {"track", 1e9},   {"drag", 0}};
    const double b[] = {1.8751040687119611664, 4.6940911329741745764};
    tr_error err = {0};
    tr_system *system = system_with("flexible_mast", "still", values, 6);
    tr_linear *linear = tr_linearise(system, NULL, &err);
    if (!linear) fail_msg("%s", err.text);
    double(*poles)[2] = calloc(linear->states, sizeof *poles);
    assert_true(tr_linear_eigenvalues(linear, poles, &err));
    for (int k = 0; k < 2; k++) {
        const double w = b[k] * b[k] * sqrt(150 / 1.5) / 4;
        double nearest = 1;
        for (uint32_t i = 0; i < linear->states; i++)
            nearest = fmin(nearest, fabs(fabs(poles[i][1]) / w - 1));
        print_message("%g rad/s to %.1e\n", w, nearest);
        assert_true(nearest <= (k ? 0.01 : 0.1)); // it bears its own weight
    }
    free(poles);
    tr_linear_free(linear);
    tr_system_free(system);
}

// Where the mast buckles under its head, all stiffness is gone: the sweep finds it
static void test_sweep(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("flexible_mast", "still");
    static const double ranges[][3] = {{40, 52, 2}, {46, 47, 0.1}, {46.2, 46.4, 0.02}};
    for (int i = 0; i < 3; i++) { // also where it is nearly gone all along
        tr_locus *sweep =
            tr_locus_new(system, "EI", ranges[i][0], ranges[i][1], ranges[i][2], &err);
        if (!sweep) fail_msg("%s", err.text);
        assert_int_equal(sweep->critical_count, 1);
        print_message("buckles at EI = %.9g\n", sweep->critical[0].value);
        assert_close(sweep->critical[0].value, 46.247487, 1e-6);
        assert_true(sweep->critical[0].frequency == 0);
        tr_locus_free(sweep);
    }
    tr_system_free(system);
}

static void test_lqr(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_called("flexible_mast", "still");
    const tr_lqr_options o = {.size = sizeof o, .inputs = "push", .q = "sway=1e5"};
    const tr_lqr *lqr = tr_lqr_design(system, &o, &err);
    if (!lqr) fail_msg("%s", err.text);
    double before = -1e9, after = -1e9; // of the sway, about 6 rad/s
    for (size_t i = 0; i < lqr->states; i++) {
        if (fabs(lqr->before[2 * i + 1]) > 4 && fabs(lqr->before[2 * i + 1]) < 8)
            before = fmax(before, lqr->before[2 * i]);
        if (fabs(lqr->after[2 * i + 1]) > 4 && fabs(lqr->after[2 * i + 1]) < 8)
            after = fmax(after, lqr->after[2 * i]);
        assert_true(lqr->after[2 * i] < 0);
    }
    print_message("the sway decays by %.3f 1/s, with feedback by %.3f\n", -before, -after);
    assert_true(before > -0.5 && before < 0 && after < 3 * before);
    assert_below(lqr->residual, 1e-9);
    tr_lqr_free(lqr);
    tr_system_free(system);
}

static Sheet *mast_run(double EI, const char *sensitivity)
{
    const Number value = {"EI", EI};
    return recorded(system_with("flexible_mast", "drive", &value, 1), 1, 1e-11, sensitivity);
}

static void test_sensitivity(void **state)
{
    (void)state;
    const double h = 0.01;
    Sheet *run = mast_run(150, "EI"), *up = mast_run(150 + h, NULL),
          *down = mast_run(150 - h, NULL);
    const double size = largest(run, "d(sway)/d(EI)");
    assert_true(size > 1e-5);
    for (size_t i = 0; i < run->rows; i++) {
        const double slope = (at(up, i, "sway") - at(down, i, "sway")) / (2 * h);
        assert_below(fabs(slope - at(run, i, "d(sway)/d(EI)")), 1e-4 * size);
    }
    tr_sheet_free(run);
    tr_sheet_free(up);
    tr_sheet_free(down);
}

// ---- the slider-crank ----------------------------------------------------------------------

static void test_slider_crank(void **state)
{
    (void)state;
    Sheet *run = run_to(system_called("slider_crank_flexible", "coast"), 0.15, 0.002);
    const double start = at(run, 0, "energy.kinetic") + at(run, 0, "energy.potential");
    assert_true(largest(run, "sag") > 5e-4);
    for (size_t i = 0; i < run->rows; i++) {
        assert_below(at(run, i, "residual.position"), 1e-14);
        // the pin does no work
        assert_close(at(run, i, "energy.kinetic") + at(run, i, "energy.potential"), start, 1e-10);
    }
    tr_sheet_free(run);
}

static Sheet *bending_crank(double EI)
{
    return run_to(system_with("slider_crank_flexible", "coast", &(Number){"EI", EI}, 1), 0.03,
                  0.0005);
}

static void test_stiff_slider_crank(void **state)
{
    (void)state;
    static const char *const names[] = {"crank", "way", "swing", NULL};
    const double l = 0.14;
    const Number rod[] = {{"I_rod", 0.45 * l * l * (0.7 / 3 - 0.35 * 0.35)}};
    Sheet *rigid = run_to(system_with("slider_crank", "coast", rod, 1), 0.03, 0.0005);
    check_tends(rigid, bending_crank, 10, 3, names, 3.5, 4.5);
    tr_sheet_free(rigid);
}

// ---- the bicycle ---------------------------------------------------------------------------

// Weave and capsize at 5 m/s: the modes up to 30 rad/s, by frequency and then by decay
static void slow_modes(tr_system *system, double out[4])
{
    static const char *const holds[] = {"speed=5"};
    tr_error err = {0};
    double modes[20][2];
    tr_steady_options o = tr_steady_defaults();
    o.holds = holds, o.hold_count = 1;
    tr_steady *steady = tr_steady_find(system, &o, &err);
    if (!steady) fail_msg("%s", err.text);
    assert_true(tr_steady_modes(steady, NULL) <= 20);
    const size_t count = tr_steady_modes(steady, modes);
    double weave[2] = {0}, real[2] = {0};
    for (size_t i = 0; i < count; i++) {
        if (modes[i][1] > 1 && modes[i][1] < 30) memcpy(weave, modes[i], sizeof weave);
        if (modes[i][1] == 0 && modes[i][0] < -0.01) real[modes[i][0] < -5] = modes[i][0];
    }
    memcpy(out, weave, sizeof weave);
    memcpy(out + 2, real, sizeof real);
    tr_steady_free(steady);
    tr_system_free(system);
}

static void test_stiff_bicycle_modes(void **state)
{
    (void)state;
    static const char *const names[] = {"weave", "its frequency", "capsize", "castor"};
    double rigid[4], now[4], before[4] = {0};
    slow_modes(system_called("bicycle", "straight"), rigid);
    assert_close(rigid[0], -0.77534, 1e-4);
    for (int step = 0; step < 3; step++) {
        const double EI = 2000 * pow(4, step);
        const Number values[] = {{"EI", EI}, {"EI_x", EI}};
        slow_modes(system_with("bicycle_flexible", "straight", values, 2), now);
        for (int k = 0; k < 4; k++) {
            const double off = fabs(now[k] - rigid[k]);
            print_message("EI = %-6g %-13s off by %.3e\n", EI, names[k], off);
            if (step) assert_true(before[k] / off > 3.7 && before[k] / off < 4.3);
            before[k] = off;
        }
    }
}

static Sheet *bending_bicycle(double EI)
{
    const Number values[] = {{"EI", EI}, {"EI_x", EI}};
    return run_to(system_with("bicycle_flexible", "free", values, 2), 0.2, 0.01);
}

static void test_stiff_bicycle_ride(void **state)
{
    (void)state;
    static const char *const names[] = {"roll", "steer", "frame.y", NULL};
    Sheet *rigid = run_to(system_called("bicycle", "free"), 0.2, 0.01);
    check_tends(rigid, bending_bicycle, 2e4, 2, names, 3, 5.5);
    tr_sheet_free(rigid);
}

// What the header says: ideal wheels let it wobble, tyres do not
static void test_wobble(void **state)
{
    (void)state;
    static const char *const holds[] = {"speed=5"}, *const cases[] = {"straight", "tyres"};
    for (int k = 0; k < 2; k++) {
        tr_error err = {0};
        double modes[30][2], wobble = -1e9;
        const Number still[] = {{"roll_rate0", 0}};
        tr_steady_options o = tr_steady_defaults();
        o.holds = holds, o.hold_count = 1;
        tr_system *system = system_with("bicycle_flexible", cases[k], still, 1);
        tr_steady *steady = tr_steady_find(system, &o, &err);
        if (!steady) fail_msg("%s", err.text);
        const size_t count = tr_steady_modes(steady, modes);
        for (size_t i = 0; i < count; i++)
            if (modes[i][1] > 30) wobble = fmax(wobble, modes[i][0]);
        print_message("%s: what shakes grows by %.2f 1/s\n", cases[k], wobble);
        assert_true(k ? wobble < -0.1 : wobble > 3);
        tr_steady_free(steady);
        tr_system_free(system);
    }
}

// ---- the arm -------------------------------------------------------------------------------

static void test_arm(void **state)
{
    (void)state;
    Sheet *swing = run_to(system_called("flexible_arm", "swing"), 0.8, 0.02);
    assert_true(largest(swing, "above") > 5e-4 && largest(swing, "energy.kinetic") > 10);
    for (size_t i = 0; i < swing->rows; i++)
        assert_below(fabs(at(swing, i, "energy.kinetic") + at(swing, i, "energy.potential")), 1e-9);
    tr_sheet_free(swing);
    // what two motors put in is what the run accounts for: by Simpson, from what is recorded
    const Number free_swing = {"zeta", 0};
    Sheet *reach = run_to(system_with("flexible_arm", "reach", &free_swing, 1), 1, 0.001);
    double work = 0;
    for (size_t i = 1; i + 1 < reach->rows; i += 2)
        for (int k = 0; k < 2; k++) {
            const double *tau = column(reach, k ? "tau.b" : "tau.a") + i;
            const double *rate = column(reach, k ? "b_rate" : "a_rate") + i;
            work += 0.002 / 6 * (tau[-1] * rate[-1] + 4 * tau[0] * rate[0] + tau[1] * rate[1]);
        }
    const double taken = at(reach, reach->rows - 1, "energy.work");
    print_message("work of the motors %.6f J, of the run %.6f J\n", work, taken);
    assert_close(work / taken, 1, 1e-6);
    tr_sheet_free(reach);
}

// At rest under its servos: the tip of a cantilever under a force and a moment, and along it its
// own weight, with as many modes as it has
static void test_arm_sags(void **state)
{
    (void)state;
    tr_error err = {0};
    static const Number there[] = {{"a0", 0}, {"b0", 0}, {"T", 1e9}, {"kp1", 1e9}, {"kp2", 1e9}};
    tr_system *system = system_with("flexible_arm", "servo", there, 5);
    tr_steady *steady = tr_steady_find(system, NULL, &err);
    if (!steady) fail_msg("%s", err.text);
    const double L = 0.8, L2 = 0.6, EI = 300, g = 9.81, rho = 1.2;
    const double F = (0.5 + 0.8 + 1) * g, N = (0.8 / 2 + 1) * L2 * g;
    const double tip =
        F * L * L * L / (3 * EI) + N * L * L / (2 * EI) + rho * g * pow(L, 4) / (8 * EI);
    double found = 0;
    for (size_t i = 0; i < tr_input_count(system); i++) {
        const double value = tr_steady_state(steady)[i];
        if (strcmp(tr_input_name(system, i), "upper.z1") == 0) found -= 2 * value;
        if (strcmp(tr_input_name(system, i), "upper.z2") == 0) found += 2 * value;
    }
    print_message("sags by %.5f m, a cantilever by %.5f m\n", found, tip);
    assert_close(found / tip, 1, 0.02); // not a margin: two modes are no cantilever
    tr_steady_free(steady);
    tr_system_free(system);
}

// ---- what swims, flies and spins -----------------------------------------------------------

static double reached(const char *model, const char *case_name, double end, const char *name)
{
    Sheet *sheet = recorded(system_called(model, case_name), end, 1e-7, NULL);
    const double value = at(sheet, sheet->rows - 1, name);
    print_message("%s %s: %s reaches %.3f\n", model, case_name, name, value);
    tr_sheet_free(sheet);
    return value;
}

static void test_fish(void **state)
{
    (void)state;
    const double soft = reached("fish", "swim", 4, "trunk.x");
    assert_true(soft > 0.3);
    assert_true(reached("fish", "stiff", 4, "trunk.x") < 0.05 * soft);
    assert_true(reached("fish", "turn", 4, "trunk.theta") < -0.1);
}

static void test_flapper(void **state)
{
    (void)state;
    assert_true(reached("flapper", "fly", 3, "height") > 9);
    assert_true(reached("flapper", "rigid", 3, "height") < 6);
    assert_true(reached("flapper", "glide", 3, "height") < 6);
}

// Straight again once it turns evenly; a tip that lags by what the moment of acceleration makes it
static void test_spin_up(void **state)
{
    (void)state;
    Sheet *run = run_to(system_called("spinning_beam", "spin_up"), 6, 0.02);
    assert_true(least(run, "lag") < -0.1);
    assert_close(at(run, run->rows - 1, "spin"), 8, 1e-12);
    for (size_t i = 0; i < run->rows; i++)
        if (at(run, i, "t") > 4) assert_true(fabs(at(run, i, "lag")) < 0.005);
    tr_sheet_free(run);
}

// ---- loops and tips ------------------------------------------------------------------------

// Rods from tips of random trees to the world, as long as they are at the start
static void print_rods(Buffer *t, const Grove *g, Random *r, const double *ends)
{
    int rods = 0;
    tr_buffer_print(t, "loops:\n");
    for (int i = 0, k = 0; i < g->count; i++) {
        if (!g->body[i].bends) continue;
        const double *p = ends + 3 * k++;
        const V3 to = v3_times(2, grove_vector(r));
        if (rods == 2 || grove_modes(&g->body[i]) < 2) continue;
        const double length = sqrt(pow(p[0] - to.x, 2) + pow(p[1] - to.y, 2) + pow(p[2] - to.z, 2));
        tr_buffer_print(t, "  rod%d: {body: b%d.end, to: \"%.17g, %.17g, %.17g\", length: %.17g}\n",
                        i, i, to.x, to.y, to.z, length);
        rods++;
    }
    tr_buffer_print(t, "roles: {b0: {torque: 1}}\n");
}

static int print_ends(Buffer *t, Buffer *names, const Grove *g)
{
    int count = 0;
    tr_buffer_print(t, "outputs:\n");
    for (int i = 0; i < g->count; i++)
        for (int k = 0; g->body[i].bends && k < 3; k++, count++) {
            tr_buffer_print(t, "  end%d%c: b%d.end.%c\n", i, 'x' + k, i, 'x' + k);
            tr_buffer_print(names, " outputs.end%d%c", i, 'x' + k);
        }
    return count;
}

static bool has_tip(const Grove *g)
{
    for (int i = 0; i < g->count; i++)
        if (grove_modes(&g->body[i]) >= 2) return true;
    return false;
}

static void test_random_rods(void **state)
{
    (void)state;
    Random r = {1931};
    for (int trial = 0; trial < (BRIEF ? 4 : 12); trial++) {
        Grove g = any_grove(&r);
        while (g.count < 2 || g.n < 5 || g.n > 20 || !has_tip(&g)) g = any_grove(&r);
        Buffer open = {0}, text = {0}, names = {0};
        double ends[3 * GROVE_BODIES];
        print_grove(&open, &g);
        print_grove(&text, &g);
        const int count = print_ends(&open, &names, &g);
        tr_system *system = system_from(open.at);
        evaluate_start(system, names.at, ends, (size_t)count);
        tr_system_free(system);
        print_rods(&text, &g, &r, ends);
        tr_summary s = {0};
        Sheet *run = run_with(system_from(text.at), 0.1, 0.05, &s);
        if (!(is_below(s.energy_error, 1e-10) && is_below(s.kkt_error, 1e-9) &&
              is_below(s.velocity_error, 1e-11) && is_below(s.position_error, 1e-13)))
            fail_msg("energy %.1e, kkt %.1e, velocity %.1e, position %.1e:\n%s", s.energy_error,
                     s.kkt_error, s.velocity_error, s.position_error, text.at);
        tr_sheet_free(run);
        tr_buffer_free(&open);
        tr_buffer_free(&names);
        tr_buffer_free(&text);
    }
}

// ---- series elasticity ---------------------------------------------------------------------

// The spring starts relaxed, moving or not, unless something is said of the motor.
static void test_relaxed_start(void **state)
{
    (void)state;
    static const char *const starts[] = {"q: 0.4, d(q): 2", "q: 0.4, d(q): 2, q.motor: 0.1"};
    for (size_t k = 0; k < 2; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "trundle: 1\nbodies:\n"
                 "  arm: {mass: 1, inertia: {yy: 0.1}, joint: {type: revolute, axis: \"0, 1, 0\", "
                 "coordinate: q, elastic: {stiffness: 200, inertia: 0.02}}}\n"
                 "roles: {q: {torque: 0}}\ninitial: {%s}\n",
                 starts[k]);
        Sheet *run = run_to(system_from(text), 1, 0.05);
        assert_close(at(run, 0, "q.motor"), k ? 0.1 : 0.4, 1e-14);
        assert_close(at(run, 0, "q.motor_rate"), 2, 1e-14);
        for (size_t i = 0; i < run->rows && !k; i++)
            assert_close(at(run, i, "q"), 0.4 + 2 * at(run, i, "t"), 1e-11);
        tr_sheet_free(run);
    }
}

// Two masses on a spring: angle = c + A cos(w t), motor = c - B cos(w t)
static void test_two_masses(void **state)
{
    (void)state;
    const double link = 2 * 0.3 * 0.3 * 4 / 3, motor = 0.4, k = 120, start = 0.1;
    const double w = sqrt(k * (1 / link + 1 / motor)), middle = start * link / (link + motor);
    Sheet *run = run_to(system_called("elastic_joint", "gravity_off"), 2, 0.02);
    for (size_t i = 0; i < run->rows; i++) {
        const double swing = start * cos(w * at(run, i, "t"));
        assert_close(at(run, i, "angle"), middle + swing * motor / (link + motor), 1e-10);
        assert_close(at(run, i, "angle.motor"), middle - swing * link / (link + motor), 1e-10);
    }
    tr_sheet_free(run);
}

// A motor that follows a motion: its torque is that of its own inertia, and what the spring and the
// damper take
static void test_motor_torque(void **state)
{
    (void)state;
    const double w = 18, swing = 0.1, inertia = 0.4;
    Sheet *run = run_to(system_called("elastic_joint", "shake"), 1, 0.01);
    for (size_t i = 0; i < run->rows; i++) {
        const double acceleration = -swing * w * w * sin(w * at(run, i, "t"));
        assert_close(at(run, i, "tau.angle"), inertia * acceleration + at(run, i, "torque"), 1e-9);
        assert_close(at(run, i, "angle.motor"), swing * sin(w * at(run, i, "t")), 1e-12);
    }
    assert_true(largest(run, "twist") > 0.1);
    tr_sheet_free(run);
}

#define PENDULUM                                                                       \
    "trundle: 1\nbodies:\n"                                                            \
    "  base: {joint: {type: revolute, axis: \"0, -1, 0\", coordinate: p}, mass: 3, "   \
    "com: \"0, 0, -0.2\", inertia: {yy: 0.2}}\n"                                       \
    "  link: {parent: base, joint: {type: revolute, axis: \"0, -1, 0\", coordinate: q" \
    ", at: \"0, 0, -0.5\"%s}, mass: 2, com: \"0, 0, -0.3\", inertia: {yy: %s}}\n"      \
    "%sinitial: {p: 0.3}\ncases: {all: {roles: {q: {%s}}}}\n"

// With a spring to infinity: the joint follows its motor; driven by a torque, they are one body
static void check_stiff_joint(const char *role, const char *inertia, const char *rigid_text)
{
    Sheet *rigid = run_to(system_from(rigid_text), 0.5, 0.02);
    double before = 0;
    for (int step = 0; step < 3; step++) {
        char elastic[100];
        snprintf(elastic, sizeof elastic, ", elastic: {stiffness: %g, inertia: %s}",
                 2e3 * pow(4, step), inertia);
        Sheet *run = run_to(derived_with(PENDULUM, elastic, "0.1", "", role), 0.5, 0.02);
        const double off = difference(run, "q", rigid, "q"),
                     other = difference(run, "p", rigid, "p");
        print_message("k = %-6g off by %.3e, %.3e\n", 2e3 * pow(4, step), off, other);
        if (step) assert_true(before / off > 3.5 && before / off < 4.5);
        before = off;
        tr_sheet_free(run);
    }
    assert_true(before > 1e-9);
    tr_sheet_free(rigid);
}

static void test_stiff_joint(void **state)
{
    (void)state;
    char text[1000];
    const char *motion = "motion: \"0.2*(1 - cos(5*t))\"", *torque = "torque: 2*sin(4*t)";
    snprintf(text, sizeof text, PENDULUM, "", "0.1", "", motion);
    check_stiff_joint(motion, "0.05", text);
    // of a motor's inertia only that about its axis counts, and only against the joint: what a
    // kinetic energy of the joint's rate is
    snprintf(text, sizeof text, PENDULUM, "", "0.1",
             "  rotor: {joint: {type: revolute, axis: \"1, 0, 0\"}, inertia: {xx: 0.05, yy: 0.05, "
             "zz: 0.05}}\ncouplings: {gear: {coordinate: rotor, equals: {q: 1}}}\n",
             torque);
    check_stiff_joint(torque, "0.05", text);
}

// Both sides of the spring stay where they are; or the motor alone
static void test_hold_elastic(void **state)
{
    (void)state;
    static const char model[] =
        "trundle: 1\nbodies:\n  link: {joint: {type: revolute, axis: \"0, -1, 0\", coordinate: q, "
        "elastic: {stiffness: 50, damping: 1, inertia: 0.1}}, mass: 1, com: \"0.4, 0, 0\"}\n"
        "roles: {%s: {torque: 1}}\ninitial: {%s}\ncases: {one: {hold: [%s]}}\n";
    static const char *const names[] = {"q", "link"};
    for (int i = 0; i < 2; i++) { // by the coordinate, and by the body
        Sheet *run =
            run_to(derived_with(model, names[i], "q: 0.1, q.motor: 0.3", names[i]), 0.2, 0.1);
        assert_close(at(run, 2, "q"), 0.1, 1e-15);
        assert_close(at(run, 2, "q.motor"), 0.3, 1e-15);
        assert_close(at(run, 2, "tau.q"), 9.81 * 0.4 * cos(0.1) - 50 * 0.2, 1e-12);
        assert_close(at(run, 2, "tau.q.motor"), 50 * 0.2, 1e-12);
        tr_sheet_free(run);
    }
    Sheet *run = run_to(derived_with(model, "q", "q: 0.1, q.motor: 0.3", "q.motor"), 0.2, 0.1);
    assert_close(at(run, 2, "q.motor"), 0.3, 1e-15);
    assert_true(fabs(at(run, 2, "q") - 0.1) > 0.01);
    assert_close(at(run, 2, "tau.q"), 50 * (0.3 - at(run, 2, "q")) - at(run, 2, "q_rate"), 1e-12);
    tr_sheet_free(run);
}

// ---- bad input -----------------------------------------------------------------------------

static void test_bad_elastic(void **state)
{
    (void)state;
    static const struct {
        const char *joint, *role, *words;
    } bad[] = {
        {"{type: revolute, axis: \"0, 1, 0\", elastic: {stiffness: 5}}", "passive",
         "nothing drives the motor of 'link': give it a torque or a motion"},
        {"{type: revolute, axis: \"0, 1, 0\", elastic: {stiffness: 5}}", "{torque: 1}",
         "the motor of 'link' is driven by a torque: it needs an inertia"},
        {"{type: revolute, axis: \"0, 1, 0\", elastic: {stiffness: -5, inertia: 1}}", "{torque: 1}",
         "this stiffness is a positive constant"},
        {"{type: revolute, axis: \"0, 1, 0\", elastic: {stiffness: 0, inertia: 1}}", "{torque: 1}",
         "this stiffness is a positive constant"},
        {"{type: revolute, axis: \"0, 1, 0\", elastic: {stiffness: 5, damping: -1, inertia: 1}}",
         "{torque: 1}", "this damping is a finite constant"},
        {"{type: revolute, axis: \"0, 1, 0\", elastic: {stiffness: 5, inertia: -1}}", "{torque: 1}",
         "this inertia is a finite constant"},
        {"{type: revolute, axis: \"0, 1, 0\", elastic: {stiffness: t, inertia: 1}}", "{torque: 1}",
         "this stiffness is a positive constant"},
        {"{type: revolute, axis: \"0, 1, 0\", elastic: {damping: 5, inertia: 1}}", "{torque: 1}",
         "what is elastic needs a stiffness"},
        {"{type: ball, elastic: {stiffness: 5}}", "{torque: {wx: 1, wy: 1, wz: 1}}",
         "a ball joint cannot be elastic: only joints with one coordinate can"},
        {"{type: fixed, elastic: {stiffness: 5}}", "passive",
         "a fixed joint cannot be elastic: only joints with one coordinate can"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "trundle: 1\nbodies:\n  link:\n    joint: %s\n    mass: 1\n    inertia: {xx: 1, "
                 "yy: 1, zz: 1}\nroles: {link: %s}\n",
                 bad[i].joint, bad[i].role);
        check_refused(text, 4, bad[i].words);
    }
}

static void test_modes_have_no_motor(void **state)
{
    (void)state;
    static const char words[] =
        "'mast.y1' is how 'mast' bends, which no joint drives or holds; a constraint can";
#define MAST "  mast: {beam: {length: 1, density: 1, stiffness: 5, modes: 2}}\n"
    check_refused("trundle: 1\nbodies:\n" MAST "roles: {mast.y1: {torque: 1}}\n", 4, words);
    check_refused("trundle: 1\nbodies:\n" MAST "roles: {mast.y1: {motion: sin(t)}}\n", 4, words);
    check_refused("trundle: 1\nbodies:\n" MAST "cases: {one: {hold: [mast.y1]}}\n", 4, words);
    // and a constraint does
    Sheet *run = run_to(system_from("trundle: 1\nbodies:\n" MAST
                                    "constraints: {shaken: {position: mast.y1 - 0.01*sin(3*t)}}\n"),
                        1, 0.1);
    for (size_t i = 0; i < run->rows; i++)
        assert_close(at(run, i, "mast.y1"), 0.01 * sin(3 * at(run, i, "t")), 1e-14);
    assert_true(largest(run, "lambda.shaken.position") > 0);
    tr_sheet_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mast_is_stiff),
        cmocka_unit_test(test_mast_either_way),
        cmocka_unit_test(test_linearise),
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_lqr),
        cmocka_unit_test(test_sensitivity),
        cmocka_unit_test(test_slider_crank),
        cmocka_unit_test(test_stiff_slider_crank),
        cmocka_unit_test(test_stiff_bicycle_modes),
        cmocka_unit_test(test_stiff_bicycle_ride),
        cmocka_unit_test(test_wobble),
        cmocka_unit_test(test_arm),
        cmocka_unit_test(test_arm_sags),
        cmocka_unit_test(test_fish),
        cmocka_unit_test(test_flapper),
        cmocka_unit_test(test_spin_up),
        cmocka_unit_test(test_random_rods),
        cmocka_unit_test(test_two_masses),
        cmocka_unit_test(test_relaxed_start),
        cmocka_unit_test(test_motor_torque),
        cmocka_unit_test(test_stiff_joint),
        cmocka_unit_test(test_hold_elastic),
        cmocka_unit_test(test_bad_elastic),
        cmocka_unit_test(test_modes_have_no_motor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
