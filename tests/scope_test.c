// SPDX-License-Identifier: Apache-2.0
// Names of a model in its formulas: every B.x, B.Rij, B.vx of every body, rates by d(), and what
// eval says of them.
#include "equations.h"

// ---- names ---------------------------------------------------------------------------------

// A chain with every way to place a joint; the same in numbers.
static const char chain[] =
    "trundle: 1\n"
    "parameters: {tilt: 0.4, far: 0.7}\n"
    "bodies:\n"
    "  base: {joint: {type: free}, mass: 1, " ROUND "}\n"
    "  arm:\n"
    "    parent: base\n"
    "    joint: {type: revolute, axis: \"sin(tilt), 0, cos(tilt)\", at: \"far, 2*far, 0\", turn: "
    "\"0.1, 0.2, 0.3\"}\n"
    "    mass: 1\n"
    "    com: 0.3, 0, 0\n"
    "  hand:\n"
    "    parent: arm\n"
    "    joint: {type: prismatic, axis: \"1, -2, 2\", at: \"0, 0, far\", turn: \"-1, 2, 0.5\"}\n"
    "    mass: 1\n"
    "  wheel:\n"
    "    parent: hand\n"
    "    joint: {type: revolute, axis: \"0, -3, 0\", at: \"far, 0, 0\"}\n"
    "    mass: 1\n"
    "    inertia: {axial: 1, radial: 0.6}\n"
    "  tail:\n"
    "    parent: base\n"
    "    joint: {type: fixed, at: \"0, 1, 0\", turn: \"0, 0.5, 0\"}\n";

static NeForest chain_in_numbers(double tilt, double far)
{
    NeForest f = {.count = 5};
    f.body[0] = (NeBody){.parent = -1, .type = NE_FREE, .axis = {1, 0, 0}};
    f.body[1] = (NeBody){.parent = 0,
                         .type = NE_REVOLUTE,
                         .axis = {sin(tilt), 0, cos(tilt)},
                         .at = {far, 2 * far, 0},
                         .turn = {0.1, 0.2, 0.3}};
    f.body[2] = (NeBody){.parent = 1,
                         .type = NE_PRISMATIC,
                         .axis = {1, -2, 2},
                         .at = {0, 0, far},
                         .turn = {-1, 2, 0.5}};
    f.body[3] = (NeBody){.parent = 2, .type = NE_REVOLUTE, .axis = {0, -3, 0}, .at = {far, 0, 0}};
    f.body[4] = (NeBody){
        .parent = 0, .type = NE_FIXED, .axis = {1, 0, 0}, .at = {0, 1, 0}, .turn = {0, 0.5, 0}};
    ne_number(&f);
    return f;
}

// Every B.x, B.Rij, B.vx, B.yaw and so on of every body
static void test_names_of_bodies(void **state)
{
    (void)state;
    static const char *const bodies[] = {"base", "arm", "hand", "wheel", "tail"};
    static const char *const words[] = {
        "x",   "y",   "z",   "vx",  "vy",  "vz",  "wx",  "wy",    "wz",   "R11",   "R12",    "R13",
        "R21", "R22", "R23", "R31", "R32", "R33", "yaw", "pitch", "roll", "speed", "heading"};
    enum { WORDS = sizeof words / sizeof *words };
    char text[6000];
    size_t length = (size_t)snprintf(text, sizeof text, "%soutputs:\n", chain);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < WORDS; k++)
            length += (size_t)snprintf(text + length, sizeof text - length, "  o%d_%d: %s.%s\n", i,
                                       k, bodies[i], words[k]);
    Probe p = probe_of(text);
    Random r = {20};
    for (int n = 0; n < STATES; n++) {
        next_state(&p, &r);
        NeForest f = chain_in_numbers(probe_at(&p, "tilt"), probe_at(&p, "far"));
        memcpy(f.body[0].q, probe_input(&p, "base.x"), 7 * sizeof(double));
        memcpy(f.body[0].v, probe_input(&p, "base.vx"), 6 * sizeof(double));
        for (int i = 1; i < 4; i++) {
            char rate[20];
            snprintf(rate, sizeof rate, "%s_rate", bodies[i]);
            f.body[i].q[0] = probe_at(&p, bodies[i]), f.body[i].v[0] = probe_at(&p, rate);
        }
        ne_move(&f);
        for (int i = 0; i < 5; i++) {
            const NeBody *b = &f.body[i];
            const V3 V = m3_across(b->R, b->velocity), W = m3_across(b->R, b->spin);
            double wanted[WORDS];
            for (int k = 0; k < 3; k++) {
                wanted[k] = v3_at(b->p, k);
                wanted[3 + k] = v3_at(V, k), wanted[6 + k] = v3_at(W, k);
                for (int l = 0; l < 3; l++) wanted[9 + 3 * k + l] = v3_at(b->R.column[l], k);
            }
            const V3 x = b->R.column[0];
            wanted[18] = atan2(x.y, x.x), wanted[19] = -asin(x.z);
            wanted[20] = atan2(b->R.column[1].z, b->R.column[2].z);
            wanted[21] = sqrt(v3_dot(b->velocity, b->velocity));
            wanted[22] = atan2(b->velocity.y, b->velocity.x);
            for (int k = 0; k < WORDS; k++) {
                char name[30];
                snprintf(name, sizeof name, "outputs.o%d_%d", i, k);
                assert_close(probe_get(&p, name), wanted[k], 1e-13);
            }
        }
    }
    probe_free(&p);
}

// d() of outputs, twice, and of rates
static void test_rates_of_outputs(void **state)
{
    (void)state;
    Random r = {21};
    Probe p = probe_of(PENDULUM "functions:\n"
                                "  twice(x): 2*x\n"
                                "outputs:\n"
                                "  ax: d(vx)\n" // before what it uses
                                "  vx: d(lower.x)\n"
                                "  turn: d(a_rate) + twice(d(d(b)))\n"
                                "  energy: upper.wy^2\n"
                                "  slope: d(energy)\n"
                                "  late: d(t*a)\n");
    for (int i = 0; i < STATES; i++) {
        next_state(&p, &r);
        const double l = probe_at(&p, "l1"), a = probe_at(&p, "a"), v = probe_at(&p, "a_rate"),
                     a_rate = probe_vdot(&p, "a_rate");
        assert_close(probe_get(&p, "outputs.vx"), -l * cos(a) * v, 1e-13);
        assert_close(probe_get(&p, "outputs.ax"), -l * cos(a) * a_rate + l * sin(a) * v * v, 1e-13);
        assert_close(probe_get(&p, "outputs.turn"), a_rate + 2 * probe_vdot(&p, "b_rate"), 1e-13);
        assert_close(probe_get(&p, "outputs.slope"), 2 * v * a_rate, 1e-13);
        assert_close(probe_get(&p, "outputs.late"), a + probe_at(&p, "t") * v, 1e-13);
    }
    probe_free(&p);
}

// What the eval command prints agrees with the programs.
static void test_eval_text(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_model *model = tr_model_parse(PENDULUM "initial: {a: pi/2, d(b): 0}\n", &err);
    tr_system *system = tr_derive(model, NULL, &err);
    char *text = tr_eval_text(system, true, &err);
    if (err.status) fail_msg("%s", err.text);
    const char *vdot = strstr(text, "\"vdot\"");
    assert_non_null(vdot);
    const char *rate = strstr(vdot, "\"a_rate\"");
    assert_non_null(rate);
    // level: the upper mass falls freely, and the lower one with it
    assert_close(strtod(rate + strlen("\"a_rate\":"), NULL), -9.81, 1e-13);
    tr_text_free(text);
    tr_system_free(system);
    tr_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_bodies),
        cmocka_unit_test(test_rates_of_outputs),
        cmocka_unit_test(test_eval_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
