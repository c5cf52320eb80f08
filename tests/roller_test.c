// SPDX-License-Identifier: Apache-2.0
// Wheels with rollers round their rims: against the textbook's kinematics and the dynamics that
// follow from it in the plane, against the same rows written as formulas over ground that is not
// flat, and with laws of slip; rollers that cannot be.
#include "base/random.h"
#include "rolling.h"

// ---- mecanum wheels in the plane -----------------------------------------------------------

static const double r = 0.0475, a = 0.235, b = 0.15; // of models/rover_mecanum.yaml
static const char *const wheels[] = {"front_left", "front_right", "rear_left", "rear_right"};
enum { WHEELS = 4 };

// Rates of the wheels for a velocity (vx, vy, wz) of the body
static void textbook(const double u[3], double rates[WHEELS])
{
    rates[0] = (u[0] - u[1] - (a + b) * u[2]) / r;
    rates[1] = (u[0] + u[1] + (a + b) * u[2]) / r;
    rates[2] = (u[0] + u[1] - (a + b) * u[2]) / r;
    rates[3] = (u[0] - u[1] + (a + b) * u[2]) / r;
}

static double rate_of(const Sheet *run, size_t row, const char *wheel)
{
    char name[60];
    snprintf(name, sizeof name, "%s_spin_rate", wheel);
    return at(run, row, name);
}

static void test_textbook(void **state)
{
    (void)state;
    uint32_t random = 1;
    double worst = 0;
    for (int i = 0; i < 20; i++) {
        double u[3], rates[WHEELS];
        for (int k = 0; k < 3; k++) u[k] = 2 * next_random(&random);
        const Number asked[] = {{"vx", u[0]}, {"vy", u[1]}, {"wz", u[2]}};
        tr_summary s = {0};
        Sheet *run = run_with(system_with("rover_mecanum", "drive", asked, 3), 0.5, 0.1, &s);
        textbook(u, rates);
        double most_rate = 1;
        for (int k = 0; k < WHEELS; k++) most_rate = fmax(most_rate, fabs(rates[k]));
        for (size_t row = 0; row < run->rows; row++)
            for (int k = 0; k < WHEELS; k++) {
                const double off = fabs(rate_of(run, row, wheels[k]) - rates[k]);
                worst = fmax(worst, off / most_rate);
            }
        assert_below(s.command_error, 1e-13);
        tr_sheet_free(run);
    }
    print_worst("mecanum, rates of wheels", worst);
    assert_below(worst, 2e-14);
}

// A body of the mass m and the moment I about its middle, with wheels that have the moment J about
// their axles: with B the textbook's matrix, (M + J B^T B) u' = B^T tau + (m vy wz, -m vx wz, 0)
static void accelerations(double m, double I, double J, const double u[3], const double tau[WHEELS],
                          double out[3])
{
    double B[WHEELS][3], A[3][4] = {{0}};
    for (int k = 0; k < 3; k++) {
        double unit[3] = {0}, column[WHEELS];
        unit[k] = 1;
        textbook(unit, column);
        for (int i = 0; i < WHEELS; i++) B[i][k] = column[i];
    }
    for (int i = 0; i < 3; i++) {
        A[i][i] = i == 2 ? I : m;
        for (int k = 0; k < 3; k++)
            for (int w = 0; w < WHEELS; w++) A[i][k] += J * B[w][i] * B[w][k];
        for (int w = 0; w < WHEELS; w++) A[i][3] += B[w][i] * tau[w];
    }
    A[0][3] += m * u[1] * u[2], A[1][3] -= m * u[0] * u[2];
    for (int i = 0; i < 3; i++) // B^T B is diagonal
        for (int k = 0; k < 3; k++)
            if (i != k) assert_close(A[i][k], 0, 1e-12);
    for (int i = 0; i < 3; i++) out[i] = A[i][3] / A[i][i];
}

// On level ground the wheels bear loads alone, so the model is the plane's.
static void test_dynamics(void **state)
{
    (void)state;
    const double m = 18, m_a = 1, m_w = 0.8, J = 0.001;
    const double I = 0.8 + 0.02 + 4 * J / 2 + m_a * a * a + 4 * m_w * (a * a + b * b);
    uint32_t random = 7;
    double worst = 0;
    for (int i = 0; i < 10; i++) {
        double u[3], tau[WHEELS], wanted[3];
        tr_model *model = model_called("rover_mecanum");
        static const char *const rates[] = {"robot.vx", "robot.vy", "robot.wz"};
        static const char *const outputs[] = {"outputs/ax", "outputs/ay", "outputs/az"};
        for (int k = 0; k < 3; k++) {
            char path[60], formula[60];
            u[k] = next_random(&random);
            snprintf(path, sizeof path, "cases/bumps/initial/%s", rates[k]);
            change_number(model, path, u[k]);
            snprintf(formula, sizeof formula, "d(%s)", rates[k]);
            change(model, outputs[k], formula);
        }
        for (int k = 0; k < WHEELS; k++) {
            char path[90];
            tau[k] = next_random(&random);
            snprintf(path, sizeof path, "cases/bumps/roles/%s_spin/torque", wheels[k]);
            change_number(model, path, tau[k]);
        }
        // the mass that swings is ahead: the middle of all is that of the body where it counts
        // twice
        change(model, "bodies/robot/com", "-m_a*a/m, 0, 0.04");
        change(model, "parameters/A", "0");
        change(model, "parameters/drag", "0");
        Sheet *run = run_with(system_of(model, "bumps"), 1e-3, 1e-3, NULL);
        accelerations(m + m_a + 4 * m_w, I + m_a * m_a * a * a / m, J, u, tau, wanted);
        static const char *const got[] = {"ax", "ay", "az"};
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs(at(run, 0, got[k]) - wanted[k]) / fmax(1, fabs(wanted[k])));
        tr_sheet_free(run);
    }
    print_worst("mecanum, accelerations", worst);
    assert_below(worst, 1e-12);
}

// ---- a square ------------------------------------------------------------------------------

static void test_square(void **state)
{
    (void)state;
    tr_summary s = {0};
    Sheet *run = run_with(system_called("rover_omni", "square"), 0, 0, &s);
    const double off = hypot(last(run, "robot.x"), last(run, "robot.y"));
    print_worst("omni, back from the square [m]", off);
    assert_below(off, 1e-9);
    assert_close(last(run, "yaw"), 0.6 * 4, 1e-9);
    assert_close(most(run, "robot.x"), 1, 1e-9); // it was there
    assert_close(most(run, "robot.y"), 1, 1e-9);
    assert_close(at(run, 50, "robot.x"), 1, 1e-9);
    assert_close(at(run, 150, "robot.y"), 1, 1e-9);
    tr_sheet_free(run);
}

// The same by servos, in second order: velocities that jump at the corners take blows.
static void test_square_with_masses(void **state)
{
    (void)state;
    tr_model *model = model_called("rover_omni");
    change(model, "cases/square/order", "2");
    // corners that are rounded in time: each side begins and ends at rest
    change(model, "functions/pace(t)", "1 - cos(2*pi*t)");
    static const char *const names[] = {"first", "second", "third"};
    static const char *const angles[] = {"0", "2*pi/3", "-2*pi/3"};
    for (int k = 0; k < 3; k++) {
        char path[90], formula[200];
        snprintf(path, sizeof path, "cases/square/roles/%s_spin/rate", names[k]);
        snprintf(formula, sizeof formula,
                 "rate(%s, turning*t, side*pace(t)*east(t), side*pace(t)*north(t))", angles[k]);
        change(model, path, formula);
    }
    tr_summary s = {0};
    Sheet *run = run_with(system_of(model, "square"), 0, 0, &s);
    const double off = hypot(last(run, "robot.x"), last(run, "robot.y"));
    print_worst("omni, with masses [m]", off);
    assert_below(off, 1e-9);
    assert_below(s.energy_error, 1e-8);
    tr_sheet_free(run);
}

// ---- the same rows as formulas -------------------------------------------------------------

// Three wheels, none of which stands upright or is in line with another
static const char cart[] =
    "trundle: 1\n"
    "bodies:\n"
    "  cart: {joint: {type: free}, mass: 9, com: \"0.02, 0, 0.05\", inertia: {xx: 0.3, yy: 0.2, "
    "zz: "
    "0.4}}\n"
    "  w1: {parent: cart, joint: {type: revolute, axis: \"0.1, 1, 0.2\", at: \"0.3, 0.05, 0\"}, "
    "mass: 1, inertia: {axial: 0.02, radial: 0.01}}\n"
    "  w2: {parent: cart, joint: {type: revolute, axis: \"0, 1, -0.1\", at: \"-0.2, 0.25, 0\"}, "
    "mass: 1, inertia: {axial: 0.02, radial: 0.01}}\n"
    "  w3: {parent: cart, joint: {type: revolute, axis: \"0.3, 1, 0\", at: \"-0.2, -0.25, 0\"}, "
    "mass: 1, inertia: {axial: 0.02, radial: 0.01}}\n"
    "contacts:\n"
    "  c1: {kind: rolling, body: w1, radius: 0.15}\n"
    "  c2: {kind: rolling, body: w2, radius: 0.15, tube: 0.03}\n"
    "  c3: {kind: rolling, body: w3, radius: 0.15}\n"
    "initial: {cart.x: 0, cart.y: 0, cart.yaw: 0, cart.vx: 1, cart.vy: 0.4, cart.wz: 0.5, w1: 0, "
    "w2: 0, "
    "w3: 0}\n"
    "guess: {cart.z: 0.15}\n"
    "cases: {roll: {end: 1, every: 0.05}}\n";
enum { CART_WHEELS = 3 };
static const double angles[] = {0.6, -0.8, 0.3};
static const V3 axles[] = {{0.1, 1, 0.2}, {0, 1, -0.1}, {0.3, 1, 0}};

static tr_model *cart_on(const char *height)
{
    tr_model *model = model_from(cart);
    if (height) change(model, "ground/height", height);
    return model;
}

static void change_contact(tr_model *model, int wheel, const char *key, const char *value)
{
    char path[60];
    snprintf(path, sizeof path, "contacts/c%d/%s", wheel + 1, key);
    change(model, path, value);
}

static tr_model *cart_on_rollers(const char *height)
{
    tr_model *model = cart_on(height);
    for (int k = 0; k < CART_WHEELS; k++) {
        char angle[40];
        snprintf(angle, sizeof angle, "%.17g", angles[k]);
        change_contact(model, k, "roller", angle);
    }
    return model;
}

// "#" stands for the number of the wheel.
static void change_for(tr_model *model, int wheel, const char *path, const char *value)
{
    const char *const texts[] = {path, value};
    char out[2][400];
    for (int k = 0; k < 2; k++) {
        size_t n = 0;
        for (const char *c = texts[k]; *c && n < sizeof out[k] - 1; c++)
            out[k][n++] = *c == '#' ? (char)('1' + wheel) : *c;
        out[k][n] = 0;
    }
    change(model, out[0], out[1]);
}

// The row along the roller's axis by names of formulas, in world axes: e.(V_O + W x (P - O)) = 0
static tr_model *cart_on_formulas(const char *height)
{
    static const char *const functions[][2] = {
        {"functions/ax#(s)", "s*(w#.R11*p# + w#.R12*q# + w#.R13*s#)"},
        {"functions/ay#(s)", "s*(w#.R21*p# + w#.R22*q# + w#.R23*s#)"},
        {"functions/az#(s)", "s*(w#.R31*p# + w#.R32*q# + w#.R33*s#)"},
        {"functions/size#(s)",
         "sqrt(1 - (ax#(1)*contact.c#.nx + ay#(1)*contact.c#.ny + az#(1)*contact.c#.nz)^2)"},
        {"functions/lx#(s)", "(ay#(1)*contact.c#.nz - az#(1)*contact.c#.ny)/size#(1)"},
        {"functions/ly#(s)", "(az#(1)*contact.c#.nx - ax#(1)*contact.c#.nz)/size#(1)"},
        {"functions/lz#(s)", "(ax#(1)*contact.c#.ny - ay#(1)*contact.c#.nx)/size#(1)"},
        {"functions/ex#(s)",
         "cos(g#)*lx#(1) + sin(g#)*(contact.c#.ny*lz#(1) - contact.c#.nz*ly#(1))"},
        {"functions/ey#(s)",
         "cos(g#)*ly#(1) + sin(g#)*(contact.c#.nz*lx#(1) - contact.c#.nx*lz#(1))"},
        {"functions/ez#(s)",
         "cos(g#)*lz#(1) + sin(g#)*(contact.c#.nx*ly#(1) - contact.c#.ny*lx#(1))"},
        {"functions/wx#(s)", "w#.R11*w#.wx + w#.R12*w#.wy + w#.R13*w#.wz"},
        {"functions/wy#(s)", "w#.R21*w#.wx + w#.R22*w#.wy + w#.R23*w#.wz"},
        {"functions/wz#(s)", "w#.R31*w#.wx + w#.R32*w#.wy + w#.R33*w#.wz"},
        {"functions/rx#(s)", "contact.c#.x - w#.x"},
        {"functions/ry#(s)", "contact.c#.y - w#.y"},
        {"functions/rz#(s)", "contact.c#.z - w#.z"},
        {"constraints/roll#/rate",
         "ex#(1)*(d(w#.x) + wy#(1)*rz#(1) - wz#(1)*ry#(1)) + ey#(1)*(d(w#.y) + wz#(1)*rx#(1) - "
         "wx#(1)*rz#(1)) + ez#(1)*(d(w#.z) + wx#(1)*ry#(1) - wy#(1)*rx#(1))"},
    };
    tr_model *model = cart_on(height);
    for (int k = 0; k < CART_WHEELS; k++) {
        const V3 axle = v3_unit(axles[k]);
        const double numbers[] = {axle.x, axle.y, axle.z, angles[k]};
        static const char *const names[] = {"parameters/p#", "parameters/q#", "parameters/s#",
                                            "parameters/g#"};
        for (int i = 0; i < 4; i++) {
            char number[40];
            snprintf(number, sizeof number, "%.17g", numbers[i]);
            change_for(model, k, names[i], number);
        }
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
            change_for(model, k, functions[i][0], functions[i][1]);
        change_contact(model, k, "longitudinal", "free");
        change_contact(model, k, "lateral", "free");
    }
    return model;
}

static const char *const places[] = {"cart.x",  "cart.y",  "cart.z",       "cart.qx",     "cart.qy",
                                     "cart.qz", "cart.vx", "cart.wx",      "cart.wz",     "w1_rate",
                                     "w2_rate", "w3_rate", "contact.c1.x", "contact.c2.y"};

static double furthest(const Sheet *one, const Sheet *other)
{
    double worst = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        worst = fmax(worst, difference(one, places[i], other, places[i]));
    return worst;
}

static const char *const grounds[] = {NULL, "0.03*sin(2*x)*cos(1.7*y + 0.4) + 0.1*x*y"};

static void test_formulas(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        Sheet *rollers = run_of(system_of(cart_on_rollers(grounds[i]), NULL));
        Sheet *formulas = run_of(system_of(cart_on_formulas(grounds[i]), NULL));
        double force = 0;
        for (int k = 0; k < CART_WHEELS; k++) {
            char one[40], other[40];
            snprintf(one, sizeof one, "lambda.c%d.roller", k + 1);
            snprintf(other, sizeof other, "lambda.roll%d.rate", k + 1);
            force = fmax(force, difference(rollers, one, formulas, other));
            snprintf(one, sizeof one, "lambda.c%d.normal", k + 1);
            force = fmax(force, difference(rollers, one, formulas, one));
        }
        const double worst = furthest(rollers, formulas);
        print_message("%-32s %.1e, forces %.1e N\n", i ? "formulas, hills" : "formulas, flat",
                      worst, force);
        assert_below(worst, 1e-10);
        assert_below(force, 1e-8);
        assert_true(largest(rollers, "lambda.c1.roller") > 0.1);
        tr_sheet_free(rollers);
        tr_sheet_free(formulas);
    }
}

// At the angle 0 nothing but `lateral: free` is left.
static void test_omni_is_free_aside(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        tr_model *omni = cart_on(grounds[i]), *free_aside = cart_on(grounds[i]);
        for (int k = 0; k < CART_WHEELS; k++) {
            change_contact(omni, k, "roller", "0");
            change_contact(free_aside, k, "lateral", "free");
        }
        Sheet *one = run_of(system_of(omni, NULL)), *other = run_of(system_of(free_aside, NULL));
        const double worst = furthest(one, other);
        print_worst("omni and free aside", worst);
        assert_below(worst, 1e-13);
        tr_sheet_free(one);
        tr_sheet_free(other);
    }
}

// Of the force on a wheel nothing is across the roller's axis.
static void test_forces(void **state)
{
    (void)state;
    Sheet *run = run_of(system_of(cart_on_rollers(grounds[1]), NULL));
    double worst = 0;
    for (size_t row = 0; row < run->rows; row++) {
        const double F2 = pow(at(run, row, "contact.c1.Fx"), 2) +
                          pow(at(run, row, "contact.c1.Fy"), 2) +
                          pow(at(run, row, "contact.c1.Fz"), 2);
        const double l2 =
            pow(at(run, row, "lambda.c1.normal"), 2) + pow(at(run, row, "lambda.c1.roller"), 2);
        worst = fmax(worst, fabs(F2 - l2) / F2);
    }
    print_worst("force and its two parts", worst);
    assert_below(worst, 1e-13);
    tr_sheet_free(run);
}

// ---- laws along the axis -------------------------------------------------------------------

typedef struct RollerLaw {
    const char *name, *fields[3][2];
    double (*force)(double slip, double ahead, double N);
} RollerLaw;

static double viscous(double slip, double ahead, double N)
{
    (void)ahead, (void)N;
    return -40 * slip;
}

static double coulomb(double slip, double ahead, double N)
{
    (void)ahead;
    return -0.3 * N * slip / sqrt(slip * slip + 1e-4);
}

static double tyre(double slip, double ahead, double N)
{
    (void)N;
    return -70 * slip / sqrt(ahead * ahead + 1e-4);
}

static double formula(double slip, double ahead, double N) { return -0.2 * N * slip - ahead; }

static const RollerLaw laws[] = {
    {"viscous", {{"viscosity", "40"}}, viscous},
    {"coulomb", {{"friction", "0.3"}, {"creep", "0.01"}}, coulomb},
    {"tyre", {{"traction", "70"}, {"creep", "0.01"}}, tyre},
    {"-0.2*normal*slip - ahead", {{"creep", "0.01"}}, formula},
};

static void change_wheel(tr_model *model, int wheel, const char *key, const char *value)
{
    char path[90];
    snprintf(path, sizeof path, "contacts/%s/%s", wheels[wheel], key);
    change(model, path, value);
}

static tr_model *mecanum_with(const RollerLaw *law, const char *height)
{
    tr_model *model = model_called("rover_mecanum");
    for (int k = 0; k < WHEELS; k++) {
        char path[60], name[60];
        change_wheel(model, k, "longitudinal", law->name);
        for (int i = 0; i < 3 && law->fields[i][0]; i++)
            change_wheel(model, k, law->fields[i][0], law->fields[i][1]);
        snprintf(path, sizeof path, "outputs/pull%d", k);
        snprintf(name, sizeof name, "lambda.%s.roller", wheels[k]);
        change(model, path, name);
    }
    if (height) change(model, "parameters/A", height);
    return model;
}

// On level ground, where e.V_P and e.V_O are written down in the body's axes
static void test_laws(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        tr_summary s = {0};
        Sheet *run = run_with(system_of(mecanum_with(&laws[i], "0"), "bumps"), 1, 0.02, &s);
        double worst = 0, most_force = 0;
        for (size_t row = 0; row < run->rows; row++)
            for (int k = 0; k < WHEELS; k++) {
                char name[60];
                const double angle = k == 0 || k == 3 ? -acos(-1) / 4 : acos(-1) / 4,
                             x = k < 2 ? a : -a, y = k % 2 ? -b : b, wz = at(run, row, "robot.wz");
                const double ahead = cos(angle) * (at(run, row, "robot.vx") - wz * y) +
                                     sin(angle) * (at(run, row, "robot.vy") + wz * x);
                const double slip = ahead - cos(angle) * r * rate_of(run, row, wheels[k]);
                snprintf(name, sizeof name, "lambda.%s.normal", wheels[k]);
                const double F = laws[i].force(slip, ahead, at(run, row, name));
                snprintf(name, sizeof name, "pull%d", k);
                worst = fmax(worst, fabs(at(run, row, name) - F));
                most_force = fmax(most_force, fabs(F));
            }
        print_message("%-32s %.1e of %.1f N, energy %.1e\n", laws[i].name, worst, most_force,
                      s.energy_error);
        assert_below(worst, 1e-9);
        assert_true(most_force > 1);
        assert_below(s.energy_error, 1e-8);
        assert_below(s.kkt_error, 1e-10);
        tr_sheet_free(run);
    }
}

// Four wheels hold and slip along their rollers, over bumps.
static void test_sticking(void **state)
{
    (void)state;
    static const RollerLaw law = {
        "coulomb", {{"friction", "0.15"}, {"creep", "0.002"}, {"stick", "true"}}, NULL};
    tr_model *model = mecanum_with(&law, NULL);
    for (int k = 0; k < WHEELS; k++) { // a pull that comes and goes
        char path[90];
        snprintf(path, sizeof path, "cases/bumps/roles/%s_spin/torque", wheels[k]);
        change(model, path, k % 3 ? "0.9*sin(4*t)" : "0.5*sin(3*t)");
    }
    tr_summary s = {0};
    Sheet *run = run_with(system_of(model, "bumps"), 0, 0, &s);
    double beyond = -1, held = 0;
    for (size_t row = 0; row < run->rows; row++)
        for (int k = 0; k < WHEELS; k++) {
            char name[60];
            snprintf(name, sizeof name, "lambda.%s.normal", wheels[k]);
            const double N = at(run, row, name);
            snprintf(name, sizeof name, "pull%d", k);
            beyond = fmax(beyond, fabs(at(run, row, name)) / (0.15 * N) - 1);
            held = fmax(held, fabs(at(run, row, name)));
        }
    print_message("%-32s %zu switches, energy %.1e, beyond friction by %.1e\n", "sticking",
                  s.switches, s.energy_error, beyond);
    assert_true(s.switches > 8 && held > 1);
    assert_below(beyond, 1e-9);
    assert_below(s.energy_error, 1e-8);
    assert_below(s.position_error, 1e-10);
    tr_sheet_free(run);
}

// What it takes is compared with the friction there is.
static void test_friction(void **state)
{
    (void)state;
    for (int enough = 0; enough < 2; enough++) {
        tr_model *model = model_called("rover_mecanum");
        for (int k = 0; k < WHEELS; k++)
            change_wheel(model, k, "friction", enough ? "0.8" : "0.01");
        tr_summary s = {0};
        Sheet *run = run_with(system_of(model, "bumps"), 0.2, 0.02, &s);
        assert_int_equal(s.warnings > 0, !enough);
        if (!enough) assert_says(s.warning, "exceeds the available friction");
        tr_sheet_free(run);
    }
}

// Soft rows of rollers, in first order: rates of four wheels that contradict each other
static void test_commands(void **state)
{
    (void)state;
    tr_model *model = model_called("rover_mecanum");
    const double told[] = {3, 5, 4.5, 5.5};
    for (int k = 0; k < WHEELS; k++) {
        char path[90];
        snprintf(path, sizeof path, "commands/%s.roller/weight", wheels[k]);
        change(model, path, "1");
        snprintf(path, sizeof path, "cases/drive/roles/%s_spin/rate", wheels[k]);
        change_number(model, path, told[k]);
    }
    change(model, "cases/drive/without", "along, beside, heading, robot.vx, robot.vy, robot.wz");
    Sheet *run = run_with(system_of(model, "drive"), 0.1, 0.1, NULL);
    // least squares: B^T B is diagonal
    const double u[] = {r * (told[0] + told[1] + told[2] + told[3]) / 4,
                        r * (-told[0] + told[1] + told[2] - told[3]) / 4,
                        r * (-told[0] + told[1] - told[2] + told[3]) / (4 * (a + b))};
    assert_close(at(run, 0, "robot.vx"), u[0], 1e-14);
    assert_close(at(run, 0, "robot.vy"), u[1], 1e-14);
    assert_close(at(run, 0, "robot.wz"), u[2], 1e-14);
    assert_true(at(run, 0, "residual.commands") > 0.01);
    tr_sheet_free(run);
}

// ---- what cannot be ------------------------------------------------------------------------

#define WHEEL_WITH(words)                                                           \
    "trundle: 1\n"                                                                  \
    "bodies: {w: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n" \
    "contacts: {c: {body: w, radius: 0.1, axis: \"0, 1, 0\", " words "}}\n"

static void test_refusals(void **state)
{
    (void)state;
    assert_invalid(WHEEL_WITH("roller: pi/4, lateral: free"),
                   "3:78: 'c' has a 'roller', across whose axis it goes freely: it has no use for "
                   "'lateral'; 'longitudinal' is the law along the axis");
    assert_invalid(WHEEL_WITH("roller: pi/4, lateral: ideal"),
                   "3:78: 'c' has a 'roller', across whose axis it goes freely: it has no use for "
                   "'lateral'; 'longitudinal' is the law along the axis");
    assert_invalid(WHEEL_WITH("roller: pi/4, cornering: 3"),
                   "3:80: no law of 'c' has a use for 'cornering'");
    assert_invalid(WHEEL_WITH("roller: t"), "3:63: 't' is not a parameter: this must be constant");
    assert_invalid(WHEEL_WITH("roller: 1/0"), "3:63: 'roller' is not finite here");
    assert_invalid(WHEEL_WITH("roler: 1"),
                   "3:55: unknown key 'roler' in 'c'; did you mean 'roller'?");
    assert_invalid("trundle: 1\n"
                   "bodies: {w: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
                   "contacts: {c: {body: w, radius: 0.1, shape: ball, roller: 0}}\n",
                   "3:59: a ball has no rollers");
    assert_invalid("trundle: 1\n"
                   "bodies: {w: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
                   "contacts: {c: {kind: skate, body: w, roller: 0}}\n",
                   "3:46: a skate contact has no use for 'roller'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_textbook), cmocka_unit_test(test_dynamics),
        cmocka_unit_test(test_square),   cmocka_unit_test(test_square_with_masses),
        cmocka_unit_test(test_formulas), cmocka_unit_test(test_omni_is_free_aside),
        cmocka_unit_test(test_forces),   cmocka_unit_test(test_laws),
        cmocka_unit_test(test_sticking), cmocka_unit_test(test_friction),
        cmocka_unit_test(test_commands), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
