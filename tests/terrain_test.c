// SPDX-License-Identifier: Apache-2.0
// Wheels and balls on ground that is not flat, against formulations that share nothing with them
// (tests/reference/README.md), and against planes where it is flat after all.
#include "runs.h"

// ---- against other formulations ------------------------------------------------------------

typedef struct Ride {
    const char *model, *case_name, *reference, *body, *contacts[2];
    const char *prefixes[2]; // of the contacts' columns in the reference
    size_t operations;       // at most
} Ride;

static const Ride rides[] = {
    {"disc_on_waves", "roll", "disc_wave", "disc", {"rim"}, {"contact_"}, 635},
    {"tyre_on_bump", "roll", "tyre_bump", "wheel", {"tyre"}, {"contact_"}, 652},
    {"ball_in_bowl", "roll", "ball_bowl", "ball", {"foot"}, {"contact_"}, 298},
    {"ball_on_saddle", "roll", "ball_saddle", "ball", {"foot"}, {"contact_"}, 298},
    {"bicycle_on_bump", "bump", "bike_bump", "frame", {"rear", "front"}, {"rear_", "front_"}, 1700},
};
enum { RIDES = sizeof rides / sizeof *rides };

// Of columns "x" of both, as a part of the largest value of the reference, or of 1
static double off(const Sheet *reference, const char *theirs, const Sheet *run, const char *ours)
{
    return difference(reference, theirs, run, ours) / fmax(1, largest(reference, theirs));
}

static double body_off(const Ride *ride, const Sheet *reference, const Sheet *run)
{
    static const char *const parts[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
    const size_t count = ride->contacts[1] ? 3 : 7; // the bicycle's frame has angles
    double worst = 0;
    for (size_t k = 0; k < count; k++) {
        char ours[60];
        snprintf(ours, sizeof ours, "%s.%s", ride->body, parts[k]);
        worst = fmax(worst, off(reference, parts[k], run, ours));
    }
    if (ride->contacts[1]) {
        static const char *const angles[] = {"yaw", "roll", "pitch", "steer", "rear", "front"};
        for (size_t k = 0; k < 6; k++)
            worst = fmax(worst, off(reference, angles[k], run, angles[k]));
    }
    return worst;
}

static double rates_off(const Ride *ride, const Sheet *reference, const Sheet *run)
{
    static const char *const parts[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
    double worst = 0;
    for (size_t k = 0; k < 6; k++) {
        char ours[60];
        snprintf(ours, sizeof ours, "%s.%s", ride->body, parts[k]);
        worst = fmax(worst, off(reference, parts[k], run, ours));
    }
    return worst;
}

static double places_off(const Ride *ride, const Sheet *reference, const Sheet *run)
{
    double worst = 0;
    for (int c = 0; c < 2 && ride->contacts[c]; c++)
        for (int k = 0; k < 3; k++) {
            char theirs[60], ours[60];
            snprintf(theirs, sizeof theirs, "%s%c", ride->prefixes[c], "xyz"[k]);
            snprintf(ours, sizeof ours, "contact.%s.%c", ride->contacts[c], "xyz"[k]);
            worst = fmax(worst, off(reference, theirs, run, ours));
        }
    return worst;
}

static double forces_off(const Ride *ride, const Sheet *reference, const Sheet *run)
{
    double worst = 0;
    for (int c = 0; c < 2 && ride->contacts[c]; c++) {
        const char *prefix = ride->contacts[1] ? ride->prefixes[c] : "";
        char theirs[60], ours[60];
        for (int k = 0; k < 3; k++) {
            snprintf(theirs, sizeof theirs, "%sF%c", prefix, "xyz"[k]);
            snprintf(ours, sizeof ours, "contact.%s.F%c", ride->contacts[c], "xyz"[k]);
            worst = fmax(worst, off(reference, theirs, run, ours));
        }
        snprintf(theirs, sizeof theirs, "%snormal", prefix);
        snprintf(ours, sizeof ours, "lambda.%s.normal", ride->contacts[c]);
        worst = fmax(worst, off(reference, theirs, run, ours));
    }
    return worst;
}

static Sheet *reference_of(const Ride *ride)
{
    char path[600];
    snprintf(path, sizeof path, REFERENCE_DIR "/terrain/%s.csv", ride->reference);
    return read_sheet(path);
}

static void check_ride(const Ride *ride, bool is_strict, double places, double forces)
{
    tr_summary s = {0};
    Sheet *reference = reference_of(ride);
    tr_system *system = system_called(ride->model, ride->case_name);
    Sheet *run = simulated(system, is_strict ? strictly(system) : tr_simulate_defaults(system), &s);
    const double body = body_off(ride, reference, run), rates = rates_off(ride, reference, run),
                 touch = places_off(ride, reference, run), force = forces_off(ride, reference, run);
    print_message("%-16s places %.1e, %.1e, rates %.1e, forces %.1e; energy %.1e, kept to %.1e, "
                  "%zu steps\n",
                  ride->model, body, touch, rates, force, s.energy_error, s.position_error,
                  s.steps);
    assert_below(fmax(body, touch), places);
    assert_below(rates, 10 * places);
    assert_below(force, forces);
    assert_below(s.energy_error, is_strict ? 1e-11 : 1e-9);
    assert_below(s.position_error, 1e-12);
    assert_below(s.kkt_error, 1e-11);
    tr_sheet_free(reference);
    tr_sheet_free(run);
    tr_system_free(system);
}

static void test_references(void **state)
{
    (void)state;
    for (int i = 0; i < RIDES; i++) check_ride(&rides[i], false, 1e-8, 1e-6);
}

static void test_references_strictly(void **state)
{
    (void)state;
    for (int i = 0; i < RIDES; i++) check_ride(&rides[i], true, 1e-10, 1e-9);
}

static void test_operations(void **state)
{
    (void)state;
    for (int i = 0; i < RIDES; i++) {
        tr_error err = {0};
        tr_system *s = system_called(rides[i].model, rides[i].case_name);
        const tr_compile_options fixed = {.size = sizeof fixed, .fix_parameters = true};
        tr_program *p = compile_reduced(s, "wdot", &fixed, &err);
        if (err.status) fail_msg("%s", err.text);
        const size_t count = tr_program_sizes(p).operations;
        print_message("%s: %zu operations\n", rides[i].model, count);
        assert_true(count > 100 && count <= rides[i].operations);
        tr_program_free(p);
        tr_system_free(s);
    }
}

// ---- on other bases ------------------------------------------------------------------------

// A wheel on two slides is the same wheel on a free base where that runs straight across the waves.
static Sheet *run_on_slides(void)
{
    static const char *const text =
        "trundle: 1\n"
        "ground: {height: 0.1*sin(1.2*x)*cos(0.9*y)}\n"
        "bodies:\n"
        "  rail: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n"
        "  lift: {parent: rail, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}}\n"
        "  disc: {parent: lift, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: spin}, "
        "mass: 2, inertia: {axial: 0.09, radial: 0.045}}\n"
        "contacts: {rim: {kind: rolling, body: disc, radius: 0.3, lateral: free}}\n"
        "initial: {contact.rim.x: 0, spin: 0, d(spin): 6}\n"
        "guess: {z: 0.3}\n";
    return run_to(system_from(text), 3, 0.1);
}

static void test_bases(void **state)
{
    (void)state;
    tr_model *model = model_called("disc_on_waves");
    static const char *const zeros[] = {"x0", "y0", "yaw0", "fall0", "turn0"};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        char path[40];
        snprintf(path, sizeof path, "parameters/%s", zeros[i]);
        change(model, path, "0");
    }
    change(model, "parameters/spin0", "6");
    Sheet *freely = run_to(system_of(model, NULL), 3, 0.1);
    Sheet *bound = run_on_slides();
    static const char *const names[][2] = {{"disc.x", "x"},
                                           {"disc.z", "z"},
                                           {"disc.wy", "spin_rate"},
                                           {"lambda.rim.normal", "lambda.rim.normal"},
                                           {"lambda.rim.longitudinal", "lambda.rim.longitudinal"},
                                           {"contact.rim.x", "contact.rim.x"},
                                           {"contact.rim.Fx", "contact.rim.Fx"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_below(difference(freely, names[i][0], bound, names[i][1]), 1e-10);
    assert_true(last(bound, "x") > 4);
    tr_sheet_free(freely);
    tr_sheet_free(bound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_references_strictly),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_bases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
