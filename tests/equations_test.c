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
    {BIKE, 5, 6, "XZ0 + (I_w - J_w)*sin(alpha)*sin(r1)*cos(r1)", HUB},
    {BIKE, 4, 4, "YY0 + I_w + " YY, HUB},
    {BIKE, 4, 5, "YZ0 + (I_w - J_w)*cos(alpha)*sin(r1)*cos(r1)", HUB},
    {BIKE, 5, 5, ZZ " + J_w + ZZ0 + m_w*(l2^2 + l3^2)", HUB},
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

static void check_entry(const Entry *e)
{
    char path[300];
    tr_error err = {0};
    snprintf(path, sizeof path, MODELS_DIR "/%s.yaml", e->model);
    tr_derive_options how = tr_derive_defaults();
    if (e->case_name[0]) how.case_name = e->case_name;
    // moments of the frame are symbols, whatever the model makes of other parameters
    static const tr_setting moments[] = {{"mX0", "49"}, {"mY0", "-10"}, {"mZ0", "0.5"},
                                         {"XX0", "14"}, {"YY0", "40"},  {"ZZ0", "50"},
                                         {"XY0", "2"},  {"XZ0", "0.1"}, {"YZ0", "0.2"}};
    if (strcmp(e->model, "bicycle_boyer") == 0)
        how.settings = moments, how.setting_count = sizeof moments / sizeof *moments;
    tr_model *m = tr_model_read(path, &err);
    tr_system *derived_system = tr_derive(m, &how, &err);
    System *s = reduced_system(derived_system, &err);
    if (!s) fail_msg("%s: %s", e->model, err.text);
    const Output *output = tr_system_output(s, text_of(e->output));
    assert_non_null(output);
    assert_true(e->row <= output->rows && e->column <= output->columns);
    Expr x[2] = {output->values[(e->row - 1) * output->columns + e->column - 1],
                 tr_formula(s, e->formula, &err)};
    if (strcmp(e->output, "tau") == 0) tr_system_resolve(s, x, 2); // motions, reactions
    for (int i = 0; i < 2 && e->replaced[i]; i++) {
        const Expr from = tr_formula(s, e->replaced[i], &err), to = tr_formula(s, e->by[i], &err);
        tr_substitute(s->graph, x, 2, &from, &to, 1, x);
    }
    if (err.status) fail_msg("%s: %s: %s", e->model, e->formula, err.text);
    const Sameness found = tr_closed_compare(s->graph, x[0], x[1], NULL, &err);
    if (found != IS_SAME)
        fail_msg("%s: %s[%u,%u] is not %s", e->model, e->output, e->row, e->column, e->formula);
    tr_system_free(s);
    tr_system_free(derived_system);
    tr_model_free(m);
}

static void test_papers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) check_entry(&entries[i]);
}

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
        "c[1] = g*cos(q1)*(m2*(l1 + r2*cos(q2)) + m1*r1) - m2*r2*sin(q2)*(l1*q2'*(2*q1' + q2') + "
        "g*sin(q1))",
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

static char *bicycle_by(const char *style, double effort, const char *language, tr_error *err)
{
    tr_derive_options how = tr_derive_defaults();
    tr_equations_options o = tr_equations_defaults();
    how.name_gravity = 1;
    o.style = style, o.effort = effort, o.language = language;
    tr_model *m = tr_model_read(MODELS_DIR "/bicycle.yaml", err);
    tr_system *system = tr_derive(m, &how, err);
    char *text = tr_equations_text(system, &o, err);
    tr_system_free(system);
    tr_model_free(m);
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
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tr_error err = {0};
        char *text = bicycle_by(rows[i][0], 1, rows[i][1], &err);
        char *again = bicycle_by(rows[i][0], 1, rows[i][1], &err);
        if (!text) fail_msg("%s", err.text);
        if (!strstr(text, rows[i][2])) fail_msg("%s is not in\n%s", rows[i][2], text);
        assert_string_equal(text, again);
        tr_text_free(text);
        tr_text_free(again);
    }
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
        cmocka_unit_test(test_known),     cmocka_unit_test(test_papers),
        cmocka_unit_test(test_two_links), cmocka_unit_test(test_languages),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_alike),
        cmocka_unit_test(test_letters),   cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_staged),    cmocka_unit_test(test_budget),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
