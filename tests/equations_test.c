// SPDX-License-Identifier: Apache-2.0
// Equations as textbooks and the papers have them.
#include "expr/walk.h"
#include "models.h"
#include "plan/flow.h"
#include "plan/plan.h"
#include "print/closed.h"

#include <stdlib.h>

static char *equations_of(const char *model, const char *show, const char *language, tr_error *err)
{
    char path[300];
    snprintf(path, sizeof path, MODELS_DIR "/%s.yaml", model);
    tr_derive_options how = tr_derive_defaults();
    tr_equations_options o = tr_equations_defaults();
    how.name_gravity = 1;
    o.show = show, o.language = language, o.title = model;
    tr_model *m = tr_model_read(path, err);
    tr_system *system = tr_derive(m, &how, err);
    char *text = tr_equations_text(system, &o, err);
    tr_system_free(system);
    tr_model_free(m);
    return text;
}

typedef struct Known {
    const char *model, *show, *line;
} Known;

static const Known known[] = {
    {"cart_pole", "M", "M[1,1] = M + m"},
    {"cart_pole", "M", "M[1,2] = l*m*cos(angle)"},
    {"cart_pole", "M", "M[2,2] = 4*l^2*m/3"},
    {"cart_pole", "c", "c[1] = -l*m*angle'^2*sin(angle)"},
    {"cart_pole", "c", "c[2] = -g*l*m*sin(angle)"},
    {"cart_pole", "energy", "U = g*l*m*cos(angle)"},
    {"double_pendulum", "M", "M[1,1] = l^2*m*(3*cos(lower) + 5)/3"},
    {"double_pendulum", "M", "M[1,2] = l^2*m*(3*cos(lower) + 2)/6"},
    {"double_pendulum", "M", "M[2,2] = l^2*m/3"},
    {"double_pendulum", "c",
     "c[1] = l*m*(g*(sin(upper + lower) + 3*sin(upper)) - l*lower'*sin(lower)*(2*upper' + "
     "lower'))/2"},
    {"double_pendulum", "c", "c[2] = l*m*(l*upper'^2*sin(lower) + g*sin(upper + lower))/2"},
    {"sleigh", "reduced", "A[2,2] = a^2*m + I"},
    {"sleigh", "reduced", "b[1] = a*m*sleigh.wz^2"},
    {"sleigh", "reduced", "b[2] = -a*m*sleigh.vx*sleigh.wz"},
    {"sleigh", "lambda", "lambda = I*m*sleigh.vx*sleigh.wz/(a^2*m + I)"},
    {"rolling_disc", "c", "c[4] = disc.wy*disc.wz*(Ir - Ia)"},
    {"rolling_disc", "c", "c[6] = disc.wx*disc.wy*(Ia - Ir)"},
    // the mobile pendulum: its free dynamics, and what the rail leaves
    {"mobile_pendulum", "M", "M[1,4] = l*m*cos(r3)"},
    {"mobile_pendulum", "M", "M[4,4] = l^2*m"},
    {"mobile_pendulum", "c", "c[1] = -l*m*r3'^2*sin(r3)"},
    {"mobile_pendulum", "c", "c[4] = g*l*m*sin(r3)"},
    {"mobile_pendulum", "G", "G[1,2] = -R"},
    {"mobile_pendulum", "J", "J[1,1] = R"},
    {"mobile_pendulum", "reduced", "A = l^2*m"},
    {"mobile_pendulum", "reduced", "b = -l*m*(R*r1''*cos(r3) + g*sin(r3))"},
    {"rolling_disc", "G", "G[3,2] = sqrt(1 - disc.R32^2)"},
    {"rolling_disc", "c", "c[1] = m*(g*disc.R31 - disc.vy*disc.wz + disc.vz*disc.wy)"},
    // the snake-board: wheels, and what they leave
    {"snakeboard", "G", "G[1,3] = -l*cos(r1)"},
    {"snakeboard", "H", "H[1] = -2*l*cos(r1)^2"},
    {"snakeboard", "H", "H[2] = -l*cos(r1)*sin(r1 + r2)/cos(r2)"},
    {"snakeboard", "H", "H[3] = cos(r1)*sin(r1 - r2)/cos(r2)"},
};

static void test_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        tr_error err = {0};
        char line[300];
        char *text = equations_of(known[i].model, known[i].show, "text", &err);
        if (!text) fail_msg("%s: %s", known[i].model, err.text);
        snprintf(line, sizeof line, "\n  %s\n", known[i].line);
        if (!strstr(text, line)) fail_msg("%s is not in\n%s", known[i].line, text);
        tr_text_free(text);
    }
}

// ---- the papers, entry by entry -------------------------------------------------------------

// An entry of a matrix of a model, with other formulas in place of some inputs, is that formula.
typedef struct Entry {
    const char *model, *case_name, *output;
    uint32_t row, column; // from 1
    const char *formula;
    const char *replaced[2], *by[2];
} Entry;

#define BIKE "bicycle_boyer", "", "M"
#define HUB \
    {"hub"}, { "0" }
#define XX "sin(alpha)^2*(I_w*cos(r1)^2 + J_w*sin(r1)^2) + I_w*cos(alpha)^2"
#define XY "sin(alpha)*cos(alpha)*(I_w*cos(r1)^2 + J_w*sin(r1)^2 - I_w)"
#define XZ "(I_w - J_w)*sin(alpha)*sin(r1)*cos(r1)"
#define YZ "(I_w - J_w)*cos(alpha)*sin(r1)*cos(r1)"
#define YY "cos(alpha)^2*(I_w*cos(r1)^2 + J_w*sin(r1)^2) + I_w*sin(alpha)^2"
#define ZZ "I_w*sin(r1)^2 + J_w*cos(r1)^2"
// r3'' from (40), with r1'' of its motion
#define R1 "(-A*W^2*sin(W*t))"
#define R3 "(-(g*sin(r3) + R*cos(r3)*" R1 ")/l)"

static const Entry entries[] = {
    // the mobile pendulum [B 39]: M, and with signs of the left side what it has on the right
    {"mobile_pendulum", "free", "M", 1, 1, "M", {0}, {0}},
    {"mobile_pendulum", "free", "M", 1, 4, "m*l*cos(r3)", {0}, {0}},
    {"mobile_pendulum", "free", "M", 4, 4, "m*l^2", {0}, {0}},
    {"mobile_pendulum", "free", "M", 2, 2, "Jw", {0}, {0}},
    {"mobile_pendulum", "free", "c", 1, 1, "-m*l*sin(r3)*r3_rate^2", {0}, {0}},
    {"mobile_pendulum", "free", "c", 4, 1, "m*l*sin(r3)*g", {0}, {0}},
    // [B 44], with r3'' of [B 40]
    {"mobile_pendulum",
     "tense",
     "tau",
     1,
     1,
     "(Jw + M*R^2)*" R1 " + m*R*l*(cos(r3)*" R3 " - sin(r3)*r3_rate^2) + R*T",
     {0},
     {0}},
    {"mobile_pendulum", "tense", "tau", 2, 1, "Jw*" R1 " - R*T", {0}, {0}},
    // the snake-board [B 60], where the axles turn against each other; by its own speed eta_r
    {"snakeboard", "", "H", 1, 1, "-2*l*cos(r1)^2", {"r2"}, {"-r1"}},
    {"snakeboard", "", "H", 2, 1, "0", {"r2"}, {"-r1"}},
    {"snakeboard", "", "H", 3, 1, "sin(2*r1)", {"r2"}, {"-r1"}},
    // the bicycle [B 73-76]: X, Y and Z of the paper are z, x and y here
    {BIKE, 1, 1, "m0 + 2*m_w", HUB},
    {BIKE, 1, 5, "mX0", HUB},
    {BIKE, 2, 4, "-mX0", HUB},
    {BIKE, 2, 6, "mY0 + m_w*(l2 - l3)", HUB},
    {BIKE, 3, 5, "-(mY0 + m_w*(l2 - l3))", HUB},
    {BIKE, 6, 6, "XX0 + m_w*(l2^2 + l3^2) + I_w + " XX, HUB},
    {BIKE, 4, 6, "XY0 + " XY, HUB},
    {BIKE, 5, 6, "XZ0 + " XZ, HUB},
    {BIKE, 4, 4, "YY0 + I_w + " YY, HUB},
    {BIKE, 4, 5, "YZ0 + " YZ, HUB},
    {BIKE, 5, 5, ZZ " + J_w + ZZ0 + m_w*(l2^2 + l3^2)", HUB},
    // the blocks of (76) that (77) divides: M_lin is nothing, M_ang has the axles of three joints
    {BIKE, 1, 7, "0", HUB},
    {BIKE, 1, 8, "0", HUB},
    {BIKE, 1, 9, "0", HUB},
    {BIKE, 2, 7, "0", HUB},
    {BIKE, 2, 8, "0", HUB},
    {BIKE, 2, 9, "0", HUB},
    {BIKE, 3, 7, "0", HUB},
    {BIKE, 3, 8, "0", HUB},
    {BIKE, 3, 9, "0", HUB},
    {BIKE, 6, 8, "-sin(alpha)*sin(r1)*J_w", HUB},
    {BIKE, 4, 8, "-cos(alpha)*sin(r1)*J_w", HUB},
    {BIKE, 5, 8, "J_w*cos(r1)", HUB},
    {BIKE, 6, 7, "cos(alpha)*I_w", HUB},
    {BIKE, 4, 7, "-sin(alpha)*I_w", HUB},
    {BIKE, 5, 7, "0", HUB},
    {BIKE, 6, 9, "0", HUB},
    {BIKE, 4, 9, "0", HUB},
    {BIKE, 5, 9, "J_w", HUB},
    {BIKE, 7, 8, "0", HUB},
    {BIKE, 7, 9, "0", HUB},
    {BIKE, 8, 9, "0", HUB},
    {BIKE, 7, 7, "I_w", HUB},
    {BIKE, 8, 8, "J_w", HUB},
    {BIKE, 9, 9, "J_w", HUB},
};

// With all definitions, and forces of motors as they follow from the reduction
static System *reduced_system(tr_system *derived, tr_error *err)
{
    Plan *plan = tr_plan_new(derived, err);
    Flow *flow = plan ? tr_flow_new(plan, NULL, err) : NULL;
    System *reduced = flow ? tr_flow_system(flow, err) : NULL;
    tr_flow_free(flow);
    tr_plan_free(plan);
    return reduced;
}

// A model in one of its cases, derived and reduced
typedef struct Opened {
    tr_model *model;
    tr_system *derived;
    System *system;
} Opened;

static Opened open_model(const char *name, const char *case_name)
{
    // moments of the frame are symbols, whatever the model makes of other parameters
    static const tr_setting moments[] = {{"mX0", "49"}, {"mY0", "-10"}, {"mZ0", "0.5"},
                                         {"XX0", "14"}, {"YY0", "40"},  {"ZZ0", "50"},
                                         {"XY0", "2"},  {"XZ0", "0.1"}, {"YZ0", "0.2"}};
    char path[300];
    tr_error err = {0};
    Opened o;
    snprintf(path, sizeof path, MODELS_DIR "/%s.yaml", name);
    tr_derive_options how = tr_derive_defaults();
    if (case_name[0]) how.case_name = case_name;
    if (strcmp(name, "bicycle_boyer") == 0)
        how.settings = moments, how.setting_count = sizeof moments / sizeof *moments;
    o.model = tr_model_read(path, &err);
    o.derived = tr_derive(o.model, &how, &err);
    o.system = reduced_system(o.derived, &err);
    if (!o.system) fail_msg("%s: %s", name, err.text);
    return o;
}

static void close_model(Opened o)
{
    tr_system_free(o.system);
    tr_system_free(o.derived);
    tr_model_free(o.model);
}

// Rows and columns count from 1.
static Expr entry_of(System *s, const char *name, uint32_t row, uint32_t column)
{
    const Output *output = tr_system_output(s, text_of(name));
    assert_non_null(output);
    assert_true(row <= output->rows && column <= output->columns);
    return output->values[(row - 1) * output->columns + column - 1];
}

static void check_entry(System *s, const Entry *e)
{
    tr_error err = {0};
    Expr x[2] = {entry_of(s, e->output, e->row, e->column), tr_formula(s, e->formula, &err)};
    if (strcmp(e->output, "tau") == 0) tr_system_resolve(s, x, 2); // motions, reactions
    for (int i = 0; i < 2 && e->replaced[i]; i++) {
        const Expr from = tr_formula(s, e->replaced[i], &err), to = tr_formula(s, e->by[i], &err);
        tr_substitute(s->graph, x, 2, &from, &to, 1, x);
    }
    if (err.status) fail_msg("%s: %s: %s", e->model, e->formula, err.text);
    const Sameness found = tr_closed_compare(s->graph, x[0], x[1], NULL, &err);
    if (found != IS_SAME)
        fail_msg("%s: %s[%u,%u] is not %s", e->model, e->output, e->row, e->column, e->formula);
}

static void test_papers(void **state)
{
    (void)state;
    Opened o = {0};
    const Entry *last = NULL;
    for (const Entry *e = entries; e < entries + sizeof entries / sizeof *entries; e++) {
        if (!last || strcmp(e->model, last->model) != 0 ||
            strcmp(e->case_name, last->case_name) != 0) {
            if (last) close_model(o);
            o = open_model(e->model, e->case_name);
        }
        check_entry(o.system, e);
        last = e;
    }
    close_model(o);
}

// ---- the forces of the bicycle [B 77-82] -----------------------------------------------------

// In the paper's axes X, Y, Z
typedef struct Vector {
    Expr x, y, z;
} Vector;

static Vector vector_of(System *s, const char *x, const char *y, const char *z)
{
    tr_error err = {0};
    const Vector v = {tr_formula(s, x, &err), tr_formula(s, y, &err), tr_formula(s, z, &err)};
    if (err.status) fail_msg("(%s, %s, %s): %s", x, y, z, err.text);
    return v;
}

static Vector plus(Vector a, Vector b)
{
    return (Vector){add(a.x, b.x), add(a.y, b.y), add(a.z, b.z)};
}

static Vector times(Vector a, Expr f) { return (Vector){mul(a.x, f), mul(a.y, f), mul(a.z, f)}; }

static Expr dot(Vector a, Vector b)
{
    return add(add(mul(a.x, b.x), mul(a.y, b.y)), mul(a.z, b.z));
}

static Vector cross(Vector a, Vector b)
{
    return (Vector){sub(mul(a.y, b.z), mul(a.z, b.y)), sub(mul(a.z, b.x), mul(a.x, b.z)),
                    sub(mul(a.x, b.y), mul(a.y, b.x))};
}

static Vector apply(const Vector rows[3], Vector v)
{
    return (Vector){dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)};
}

// What stands on the left side of (1) beside the accelerations: -(f_inert + f_ext) and -Q
typedef struct Forces {
    Vector linear, angular;
    Expr steering, front, rear; // r1, r2, r3
} Forces;

// As printed but for what the derivation has otherwise:
// - (79) stands on the left side of (1), where it has this sign; (80) and (81) are of the right
// side.
// - The second term of (80) has r2', not r1': it is the derivative by r1 of Omega . M_p^T r2'.
// - (82) has weight along -X, which is up, and not along Z.
static Forces forces_of_boyer(System *s)
{
    const Vector V = vector_of(s, "frame.vz", "frame.vx", "frame.vy"),
                 W = vector_of(s, "frame.wz", "frame.wx", "frame.wy"),
                 ms = vector_of(s, "mX0", "mY0 + m_w*(l2 - l3)", "mZ0"),
                 rate = vector_of(s, "r1_rate", "r2_rate", "r3_rate"),
                 mass = vector_of(s, "m0 + 2*m_w", "0", "0");
    const Vector I[3] = {
        vector_of(s, "XX0 + m_w*(l2^2 + l3^2) + I_w + " XX, "XY0 + " XY, "XZ0 + " XZ),
        vector_of(s, "XY0 + " XY, "YY0 + I_w + " YY, "YZ0 + " YZ),
        vector_of(s, "XZ0 + " XZ, "YZ0 + " YZ, ZZ " + J_w + ZZ0 + m_w*(l2^2 + l3^2)")};
#define TURNED  "2*(J_w - I_w)*sin(r1)*cos(r1)"
#define DOUBLED "(I_w - J_w)*(cos(r1)^2 - sin(r1)^2)"
    const Vector dI[3] = {
        vector_of(s, "sin(alpha)^2*" TURNED, "sin(alpha)*cos(alpha)*" TURNED,
                  "sin(alpha)*" DOUBLED),
        vector_of(s, "sin(alpha)*cos(alpha)*" TURNED, "cos(alpha)^2*" TURNED,
                  "cos(alpha)*" DOUBLED),
        vector_of(s, "sin(alpha)*" DOUBLED, "cos(alpha)*" DOUBLED, "-(" TURNED ")")};
    // M_ang r'
    const Vector spin = plus(
        times(vector_of(s, "-sin(alpha)*sin(r1)*J_w", "-cos(alpha)*sin(r1)*J_w", "J_w*cos(r1)"),
              rate.y),
        plus(times(vector_of(s, "cos(alpha)*I_w", "-sin(alpha)*I_w", "0"), rate.x),
             times(vector_of(s, "0", "0", "J_w"), rate.z)));
    const Vector lever = vector_of(s, "-J_w*sin(alpha)*cos(r1)", "-J_w*cos(alpha)*cos(r1)",
                                   "-J_w*sin(r1)"),
                 lifted = times(vector_of(s, "1 - 2*(frame.qx^2 + frame.qy^2)",
                                          "2*(frame.qx*frame.qz - frame.qw*frame.qy)",
                                          "2*(frame.qy*frame.qz + frame.qw*frame.qx)"),
                                tr_formula(s, "gamma", &(tr_error){0})); // -R^T Upsilon
    return (Forces){
        // [B 79], and less [B 82]
        plus(plus(cross(W, times(V, mass.x)), cross(W, cross(W, ms))), times(lifted, mass.x)),
        plus(plus(plus(cross(ms, cross(W, V)), cross(W, plus(apply(I, W), spin))),
                  plus(times(apply(dI, W), rate.x), times(lever, mul(rate.x, rate.y)))),
             cross(ms, lifted)),
        // less [B 80], [B 81]; of weight there is nothing
        sub(neg(mul(number(s->graph, 0.5), dot(W, apply(dI, W)))), mul(dot(lever, W), rate.y)),
        mul(dot(lever, W), rate.x),
        zero(s->graph),
    };
}

static void test_bicycle_forces(void **state)
{
    (void)state;
    const Opened o = open_model("bicycle_boyer", "");
    System *s = o.system;
    const Forces f = forces_of_boyer(s);
    // in the order of velocities, by axes of the model: Y, Z, X
    const Expr forces[] = {f.linear.y,  f.linear.z, f.linear.x, f.angular.y, f.angular.z,
                           f.angular.x, f.steering, f.front,    f.rear};
    tr_error err = {0};
    const Expr hub = tr_formula(s, "hub", &err), level = zero(s->graph);
    const Expr units[1][4] = {{tr_formula(s, "frame.qw", &err), tr_formula(s, "frame.qx", &err),
                               tr_formula(s, "frame.qy", &err), tr_formula(s, "frame.qz", &err)}};
    const Rules rules = {.units = units, .unit_count = 1};
    for (uint32_t i = 0; i < sizeof forces / sizeof *forces; i++) {
        Expr x[2] = {entry_of(s, "c", i + 1, 1), forces[i]};
        tr_substitute(s->graph, x, 2, &hub, &level, 1, x);
        assert_int_equal(err.status, 0);
        if (tr_closed_compare(s->graph, x[0], x[1], &rules, &err) != IS_SAME)
            fail_msg("c[%u] is not what it is in the paper", i + 1);
    }
    close_model(o);
}

// ---- wheels of Kelly ------------------------------------------------------------------------

// His vehicle velocity is in axes of the world in (4.87): so it is for a chain of two slides and a
// turn.
#define KELLY_CHAIN                                                                                \
    "  east: {mass: 1, joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n"              \
    "  north: {parent: east, mass: 1, joint: {type: prismatic, axis: \"0, 1, 0\", coordinate: "    \
    "y}}\n"                                                                                        \
    "  vehicle: {parent: north, mass: 1, inertia: {zz: 1}, joint: {type: revolute, axis: \"0, 0, " \
    "1\", coordinate: psi}}\n"
// and in axes of the vehicle for a planar joint
#define KELLY_PLANAR "  vehicle: {mass: 1, inertia: {zz: 1}, joint: {type: planar}}\n"
#define KELLY_FORK(AT)                                                                            \
    "  fork: {parent: vehicle, mass: 1, inertia: {zz: 1}, joint: {type: revolute, axis: \"0, 0, " \
    "1\", at: \"" AT "\", coordinate: gamma}}\n"
#define KELLY_HEAD  "trundle: 1\nparameters: {L: 1, xi: 1, yi: 0.3}\nbodies:\n"
#define KELLY_FEET  "roles: {gamma: {motion: 0.1*t}}\n"
#define KELLY_WHEEL "contacts: {wheel: {kind: skate, body: fork}}\n"

static void test_kelly_prints(void **state)
{
    (void)state;
    static const struct {
        const char *text, *lines;
    } rows[] = {
        // (4.87): [-s(psi gamma), c(psi gamma), r_i . x_i], where a product of angles is their sum
        {KELLY_HEAD KELLY_CHAIN KELLY_FORK("xi, yi, 0") KELLY_WHEEL KELLY_FEET,
         "  G[1,1] = -sin(psi + gamma)\n"
         "  G[1,2] = cos(psi + gamma)\n"
         "  G[1,3] = xi*cos(gamma) + yi*sin(gamma)\n\n"},
        // the wheels of the velocity-driven bicycle that follow from it: c_r and c_f
        {KELLY_HEAD KELLY_CHAIN KELLY_FORK(
             "L, 0, 0") "contacts:\n"
                        "  rear: {kind: skate, body: vehicle, at: \"-L, 0, 0\"}\n"
                        "  front: {kind: skate, body: fork}\n" KELLY_FEET,
         "  G[1,1] = -sin(psi)\n"
         "  G[1,2] = cos(psi)\n"
         "  G[1,3] = -L\n"
         "  G[2,1] = -sin(psi + gamma)\n"
         "  G[2,2] = cos(psi + gamma)\n"
         "  G[2,3] = L*cos(gamma)\n\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tr_error err = {0};
        tr_equations_options o = tr_equations_defaults();
        o.show = "G";
        tr_system *system = system_from(rows[i].text);
        char *found = tr_equations_text(system, &o, &err);
        if (!found) fail_msg("%s", err.text);
        if (!strstr(found, rows[i].lines)) fail_msg("%s is not in\n%s", rows[i].lines, found);
        tr_text_free(found);
        tr_system_free(system);
    }
}

// The row in axes of the vehicle, before (4.87), and rotated: with v = R^T x', G v is (G R^T) x'.
static void test_kelly_rotated(void **state)
{
    (void)state;
    static const char *const of_vehicle[] = {"-sin(gamma)", "cos(gamma)",
                                             "xi*cos(gamma) + yi*sin(gamma)"},
                             *const of_world[] = {"-sin(vehicle.theta + gamma)",
                                                  "cos(vehicle.theta + gamma)",
                                                  "xi*cos(gamma) + yi*sin(gamma)"};
    tr_error err = {0};
    tr_system *derived =
        system_from(KELLY_HEAD KELLY_PLANAR KELLY_FORK("xi, yi, 0") KELLY_WHEEL KELLY_FEET);
    System *s = reduced_system(derived, &err);
    if (!s) fail_msg("%s", err.text);
    const Expr c = tr_formula(s, "cos(vehicle.theta)", &err),
               d = tr_formula(s, "sin(vehicle.theta)", &err);
    const Expr row[3] = {entry_of(s, "G", 1, 1), entry_of(s, "G", 1, 2), entry_of(s, "G", 1, 3)},
               turned[3] = {sub(mul(row[0], c), mul(row[1], d)),
                            add(mul(row[0], d), mul(row[1], c)), row[2]};
    for (int i = 0; i < 3; i++) {
        const Expr vehicle = tr_formula(s, of_vehicle[i], &err),
                   world = tr_formula(s, of_world[i], &err);
        assert_int_equal(err.status, 0);
        assert_int_equal(tr_closed_compare(s->graph, row[i], vehicle, NULL, &err), IS_SAME);
        assert_int_equal(tr_closed_compare(s->graph, turned[i], world, NULL, &err), IS_SAME);
        assert_true(i == 2 || tr_closed_compare(s->graph, row[i], world, NULL, &err) == IS_OTHER);
    }
    tr_system_free(s);
    tr_system_free(derived);
}

// ---- others ---------------------------------------------------------------------------------

// Two links in a plane, their masses at the middle: as in textbooks on robots
static void test_two_links(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\nparameters: {m1: 2, m2: 1, l1: 1, r1: 0.5, r2: 0.4, I1: 0.1, I2: 0.1, g: "
        "9.81}\n"
        "gravity: 0, -g, 0\nbodies:\n"
        "  upper: {mass: m1, com: \"r1, 0, 0\", inertia: {xx: I1/2, yy: I1/2, zz: I1}, joint: "
        "{type: "
        "revolute, axis: \"0, 0, 1\", coordinate: q1}}\n"
        "  lower: {parent: upper, mass: m2, com: \"r2, 0, 0\", inertia: {xx: I2/2, yy: I2/2, zz: "
        "I2}, joint: {type: revolute, axis: \"0, 0, 1\", at: \"l1, 0, 0\", coordinate: q2}}\n"
        "roles: {q1: {torque: 0}, q2: {torque: 0}}\n";
    static const char *const lines[] = {
        "M[1,1] = m2*(l1*(l1 + 2*r2*cos(q2)) + r2^2) + m1*r1^2 + I1 + I2",
        "M[1,2] = m2*r2*(l1*cos(q2) + r2) + I2",
        "M[2,2] = m2*r2^2 + I2",
        ("c[1] = g*cos(q1)*(m2*(l1 + r2*cos(q2)) + m1*r1) - m2*r2*sin(q2)*(l1*q2'*(2*q1' + q2') + "
         "g*sin(q1))"),
        "c[2] = m2*r2*(l1*q1'^2*sin(q2) + g*cos(q1 + q2))",
    };
    tr_error err = {0};
    tr_equations_options o = tr_equations_defaults();
    tr_system *system = system_from(text);
    char *found = tr_equations_text(system, &o, &err);
    if (!found) fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(found, lines[i])) fail_msg("%s is not in\n%s", lines[i], found);
    tr_text_free(found);
    tr_system_free(system);
}

static void test_languages(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"latex", "\\[ c_{2} = -g\\, l\\, m\\, \\sin \\left({\\mathit{angle}}\\right) \\]\n"},
        {"markdown", "## M, the mass matrix\n"},
        {"html", "<msup><mi>l</mi><mn>2</mn></msup>"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tr_error err = {0};
        char *text = equations_of("cart_pole", "M,c", rows[i][0], &err);
        if (!text) fail_msg("%s", err.text);
        if (!strstr(text, rows[i][1])) fail_msg("%s is not in\n%s", rows[i][1], text);
        tr_text_free(text);
    }
}

// Tables have the names of the model, a mass stays one where a motion is as large, and titles are
// words in every language.
static void test_names(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\nparameters: {m: 2}\n"
        "bodies:\n"
        "  cart: {mass: m, joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n"
        "  arm: {mass: 1, parent: cart, joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: "
        "y}}\n"
        "tables: {push: {x: \"0, 1, 2\", value: \"0, 2, 3\", degree: 1}}\n"
        "forces: {f: {body: cart, force: \"push(x), 0, 0\"}}\n"
        "roles: {y: {motion: m*t^2/2}}\n";
    tr_error err = {0};
    tr_equations_options o = tr_equations_defaults();
    tr_system *system = system_from(text);
    o.title = "<b>&_$";
    char *plain = tr_equations_text(system, &o, &err);
    if (!plain) fail_msg("%s", err.text);
    assert_non_null(strstr(plain, "M[1,1] = m + 1\n"));
    assert_non_null(strstr(plain, "Q[1] = push(x)\n"));
    assert_non_null(strstr(plain, "M v' + c = Q + tau, with v = (x', y')"));
    tr_text_free(plain);
    o.language = "html";
    char *html = tr_equations_text(system, &o, &err);
    assert_non_null(strstr(html, "<h1>&#60;b&#62;&#38;_$</h1>"));
    tr_text_free(html);
    o.language = "markdown";
    char *markdown = tr_equations_text(system, &o, &err);
    assert_non_null(strstr(markdown, "# \\<b\\>&\\_\\$\n"));
    tr_text_free(markdown);
    o.language = "latex";
    char *latex = tr_equations_text(system, &o, &err);
    assert_non_null(strstr(latex, "\\section*{\\textless{}b\\textgreater{}\\&\\_\\$}"));
    tr_text_free(latex);
    tr_system_free(system);
}

// Names that only a bar tells apart are told apart in print, and quantities look like none of them.
static void test_alike(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\nparameters: {g: 2, k1: 3, k_1: 4, alpha_2: 5, l: 1}\n"
        "bodies:\n"
        "  a: {mass: g, com: \"0, 0, -l\", joint: {type: revolute, axis: \"0, 1, 0\", "
        "coordinate: "
        "q, damping: k_1, stiffness: k1}}\n"
        "  b: {mass: alpha_2, com: \"0, l, -l\", parent: a, joint: {type: revolute, axis: \"1, 0, "
        "0\", "
        "coordinate: p}}\n";
    static const char *const rows[][3] = {
        {"latex", "{\\mathit{k\\_1}}", "{\\mathit{k1}}"},
        {"html", "<mi>k_1</mi>", "<mi>k1</mi>"},
        {"latex", "{\\alpha}_{\\mathrm{2}}", "{\\mathit{g\\_}}"},
        {"html", "<mi>&alpha;</mi><mtext>2</mtext>", "<mi>g_</mi>"},
        {"text", "\n  k_2 = ", "*k_2"}};
    tr_derive_options how = tr_derive_defaults();
    how.name_gravity = 1;
    tr_error err = {0};
    tr_model *m = tr_model_parse(text, &err);
    tr_system *system = tr_derive(m, &how, &err);
    tr_equations_options o = tr_equations_defaults();
    o.style = "staged";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        o.language = rows[i][0];
        char *printed = tr_equations_text(system, &o, &err);
        if (!printed) fail_msg("%s", err.text);
        for (int k = 1; k < 3; k++)
            if (!strstr(printed, rows[i][k])) fail_msg("%s is not in\n%s", rows[i][k], printed);
        assert_null(strstr(printed, "\n  k_1 = "));
        tr_text_free(printed);
    }
    tr_system_free(system);
    tr_model_free(m);
}

// A mass M is not the matrix M: that is said where both stand, and nowhere else.
static void test_letters(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"M,c", "the model's own: M\n"}, {"c", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tr_error err = {0};
        char *text = equations_of("cart_pole", rows[i][0], "text", &err);
        if (!text) fail_msg("%s", err.text);
        const char *at = strstr(text, "the model's own");
        if (rows[i][1] ? !at || strncmp(at, rows[i][1], strlen(rows[i][1])) : at != NULL)
            fail_msg("%s:\n%s", rows[i][0], text);
        tr_text_free(text);
    }
}

// What is longer than what is wanted is counted, and what comes behind enough of them.
static void test_left_out(void **state)
{
    (void)state;
    static const struct {
        size_t operations, entries;
        const char *words, *left_out;
    } rows[] = {{1, 0, "left out: 2 entries with ", "c[2] = "},
                {0, 1, "left out: 2 entries with ", "M[2,2] = "},
                {0, 4, "left out: 1 entry with ", "c[2] = "}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tr_error err = {0};
        tr_model *m = tr_model_read(MODELS_DIR "/cart_pole.yaml", &err);
        tr_system *system = tr_derive(m, NULL, &err);
        tr_equations_options o = tr_equations_defaults();
        o.show = "M,c", o.most_operations = rows[i].operations, o.most_entries = rows[i].entries;
        char *text = tr_equations_text(system, &o, &err);
        if (!text) fail_msg("%s", err.text);
        if (!strstr(text, rows[i].words)) fail_msg("%s is not in\n%s", rows[i].words, text);
        assert_non_null(strstr(text, "M[1,1] = M + m\n"));
        assert_null(strstr(text, rows[i].left_out));
        tr_text_free(text);
        tr_system_free(system);
        tr_model_free(m);
    }
}

// Texts that are NULL are those of the defaults
static void test_missing_texts(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_model *m = tr_model_read(MODELS_DIR "/cart_pole.yaml", &err);
    tr_system *system = tr_derive(m, NULL, &err);
    tr_equations_options none = tr_equations_defaults(), o = none;
    none.show = none.language = none.title = none.style = NULL;
    char *wanted = tr_equations_text(system, &o, &err),
         *got = tr_equations_text(system, &none, &err);
    assert_string_equal(got, wanted);
    tr_text_free(wanted);
    tr_text_free(got);
    o.show = "";
    wanted = tr_explain(system, &o, &err), got = tr_explain(system, &none, &err);
    assert_string_equal(got, wanted);
    tr_text_free(wanted);
    tr_text_free(got);
    tr_system_free(system);
    tr_model_free(m);
}

static tr_system *bicycle(tr_error *err)
{
    tr_derive_options how = tr_derive_defaults();
    how.name_gravity = 1;
    tr_model *m = tr_model_read(MODELS_DIR "/bicycle.yaml", err);
    tr_system *system = tr_derive(m, &how, err);
    tr_model_free(m);
    return system;
}

static char *bicycle_by(const char *style, double effort, const char *language, tr_error *err)
{
    tr_equations_options o = tr_equations_defaults();
    o.style = style, o.effort = effort, o.language = language;
    tr_system *system = bicycle(err);
    char *text = tr_equations_text(system, &o, err);
    tr_system_free(system);
    return text;
}

// Names of bodies and of the model's formulas in all languages; the same text every time
static void test_staged(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        {"", "text", "\n  w_fork_body_y = frame.wy*c_steer - s_steer*z_fork_body_1\n"},
        {"", "text", "\n  frame.R31 = 2*(frame.qx*frame.qz - frame.qw*frame.qy)\n"},
        {"", "text", "\n  fork_body, velocities (13 operations):\n"},
        {"", "text", "\n  c[4] = N_frame_x\n"},
        {"", "text", "\n  G[5,1] = frame.R33/sqrt(1 - frame.R32^2)\n"},
        {"staged", "text", "\n  M[9,9] = I3zz\n"},
        {"closed", "text", "\n  M[4,7] = "},
        {"", "latex",
         "\\subsubsection*{fork\\_body, velocities (13 operations)}\n\\[ "
         "z_{\\mathrm{fork\\_body\\_1}} = "},
        {"", "html", "<h3>fork_body, velocities (13 operations)</h3>\n"},
        {"", "markdown", "### fork\\_body, velocities (13 operations)\n\n$$"},
    };
    char *text = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tr_error err = {0};
        const bool is_new = i == 0 || strcmp(rows[i][0], rows[i - 1][0]) != 0 ||
                            strcmp(rows[i][1], rows[i - 1][1]) != 0;
        if (is_new) tr_text_free(text), text = bicycle_by(rows[i][0], 1, rows[i][1], &err);
        if (!text) fail_msg("%s", err.text);
        if (!strstr(text, rows[i][2])) fail_msg("%s is not in\n%s", rows[i][2], text);
        if (i > 0) continue;
        char *again = bicycle_by(rows[i][0], 1, rows[i][1], &err);
        assert_string_equal(text, again);
        tr_text_free(again);
    }
    tr_text_free(text);
}

// With less work less is found, and that is said.
static void test_budget(void **state)
{
    (void)state;
    tr_error err = {0};
    char *poor = bicycle_by("closed", 0.001, "text", &err),
         *rich = bicycle_by("closed", 2, "text", &err);
    assert_non_null(poor);
    assert_non_null(rich);
    int refused[2] = {0};
    for (const char *at = poor; (at = strstr(at, "is not simplified")); at++) refused[0]++;
    for (const char *at = rich; (at = strstr(at, "is not simplified")); at++) refused[1]++;
    assert_true(refused[0] > refused[1]);
    tr_text_free(poor);
    tr_text_free(rich);
    assert_null(bicycle_by("short", 1, "text", &err));
    assert_string_equal(err.text, "equations are closed or staged, not 'short'");
    err = (tr_error){0};
    assert_null(bicycle_by("", 0, "text", &err));
    assert_string_equal(err.text, "a budget is a number above 0, as 2 for twice the work");
}

static void test_refusals(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_equations_options o;
    tr_equations_fill(&o, sizeof o);
    assert_string_equal(o.show, "M,c,Q,G");
    assert_null(equations_of("cart_pole", "M,N", "text", &err));
    assert_string_equal(err.text,
                        "there are no equations 'N'; there are M, c, Q, G, H, J, reduced, "
                        "lambda, tau, energy");
    err = (tr_error){0};
    assert_null(equations_of("cart_pole", "M", "word", &err));
    assert_string_equal(err.text,
                        "equations are not written in 'word', but in text, markdown, latex, html");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),          cmocka_unit_test(test_papers),
        cmocka_unit_test(test_bicycle_forces), cmocka_unit_test(test_kelly_prints),
        cmocka_unit_test(test_kelly_rotated),  cmocka_unit_test(test_two_links),
        cmocka_unit_test(test_languages),      cmocka_unit_test(test_names),
        cmocka_unit_test(test_alike),          cmocka_unit_test(test_letters),
        cmocka_unit_test(test_left_out),       cmocka_unit_test(test_missing_texts),
        cmocka_unit_test(test_staged),         cmocka_unit_test(test_budget),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
