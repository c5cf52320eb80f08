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
    {"ball_on_saddle", "roll", "ball_saddle", "ball", {"foot"}, {"contact_"}, 310},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_references_strictly),
        cmocka_unit_test(test_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
