// SPDX-License-Identifier: Apache-2.0
// A bicycle made by calls, and a controller written in C that keeps it upright.
//
// The bicycle is the benchmark of Meijaard, Papadopoulos, Ruina and Schwab (2007), as in
// models/bicycle.yaml; at 4 m/s it falls by itself. The controller acts a hundred times a second:
// it measures how fast the bicycle leans, turns the handlebar into the fall, and keeps an eye on
// what the wheels press on the ground with.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <trundle/trundle.h>

// What stands in a model file, path by path. World x is forward, y left, z up; the frame's origin
// is the rear hub. Numbers are formulas.
static const tr_setting bicycle[] = {
    {"name", "Whipple-Carvallo bicycle"},
    {"parameters/w", "1.02"},            // wheelbase [m]
    {"parameters/c", "0.08"},            // trail [m]
    {"parameters/theta", "pi/10"},       // tilt of the steering axis [rad]
    {"parameters/front_radius", "0.35"}, // [m]
    {"parameters/rear_radius", "0.3"},
    {"parameters/hinge", "w + c - front_radius*tan(theta)"}, // where the steering axis passes
    {"parameters/speed0", "4"},                              // at the start [m/s]
    {"parameters/roll_rate0", "0"},                          // [rad/s]
    {"inputs/steer_torque", "0"},                            // [N m]
    {"gravity", "0, 0, -9.81"},

    {"bodies/frame/joint/type", "free"}, // with the rider
    {"bodies/frame/mass", "85"},
    {"bodies/frame/com", "0.3, 0, 0.6"},
    {"bodies/frame/inertia/xx", "9.2"},
    {"bodies/frame/inertia/yy", "11"},
    {"bodies/frame/inertia/zz", "2.8"},
    {"bodies/frame/inertia/xz", "-2.4"},

    {"bodies/fork/parent", "frame"},
    {"bodies/fork/joint/type", "revolute"},
    {"bodies/fork/joint/axis", "-sin(theta), 0, cos(theta)"},
    {"bodies/fork/joint/at", "hinge, 0, front_radius - rear_radius"},
    {"bodies/fork/joint/coordinate", "steer"},
    {"bodies/fork/mass", "4"},
    {"bodies/fork/com", "0.9 - hinge, 0, 0.35"},
    {"bodies/fork/inertia/xx", "0.05892"},
    {"bodies/fork/inertia/yy", "0.06"},
    {"bodies/fork/inertia/zz", "0.00708"},
    {"bodies/fork/inertia/xz", "0.00756"},

    {"bodies/front_wheel/parent", "fork"},
    {"bodies/front_wheel/joint/type", "revolute"},
    {"bodies/front_wheel/joint/axis", "0, 1, 0"},
    {"bodies/front_wheel/joint/at", "w - hinge, 0, 0"},
    {"bodies/front_wheel/joint/coordinate", "front"},
    {"bodies/front_wheel/mass", "3"},
    {"bodies/front_wheel/inertia/axial", "0.28"},
    {"bodies/front_wheel/inertia/radial", "0.1405"},

    {"bodies/rear_wheel/parent", "frame"},
    {"bodies/rear_wheel/joint/type", "revolute"},
    {"bodies/rear_wheel/joint/axis", "0, 1, 0"},
    {"bodies/rear_wheel/joint/coordinate", "rear"},
    {"bodies/rear_wheel/mass", "2"},
    {"bodies/rear_wheel/inertia/axial", "0.12"},
    {"bodies/rear_wheel/inertia/radial", "0.0603"},

    {"contacts/front/kind", "rolling"},
    {"contacts/front/body", "front_wheel"},
    {"contacts/front/radius", "front_radius"},
    {"contacts/rear/kind", "rolling"},
    {"contacts/rear/body", "rear_wheel"},
    {"contacts/rear/radius", "rear_radius"},

    {"roles/steer/torque", "steer_torque"},
    {"outputs/roll", "asin(frame.R32)"}, // to the right
    {"outputs/roll_rate", "d(roll)"},
    {"outputs/front_height", "contact.front.Fz"}, // what the ground bears, upwards [N]
    {"initial/frame.x", "0"},
    {"initial/frame.y", "0"},
    {"initial/roll", "0"},
    {"initial/steer", "0"},
    {"initial/front", "0"},
    {"initial/rear", "0"},
    {"initial/d(roll)", "roll_rate0"},
    {"initial/d(steer)", "0"},
    {"initial/d(rear)", "speed0/rear_radius"},
};

static tr_model *make_model(tr_error *err)
{
    tr_model *model = tr_model_new(err);
    for (size_t i = 0; i < sizeof bicycle / sizeof *bicycle; i++)
        tr_model_set(model, bicycle[i].name, bicycle[i].formula, err);
    return model;
}

// ---- the controller ------------------------------------------------------------------------

typedef struct Rider {
    double gain;                           // [N m s/rad]
    size_t roll_rate, front, rear, torque; // where these stand
    size_t calls;
    double last_front, last_rear, lightest; // forces between wheels and ground [N]
} Rider;

static bool find_places(Rider *rider, const tr_instant *now)
{
    rider->roll_rate = tr_find_name(now->column, now->columns, "roll_rate");
    rider->front = tr_find_name(now->column, now->columns, "lambda.front.normal");
    rider->rear = tr_find_name(now->column, now->columns, "lambda.rear.normal");
    rider->torque = tr_find_name(now->input, now->inputs, "steer_torque");
    return rider->roll_rate < now->columns && rider->front < now->columns &&
           rider->rear < now->columns && rider->torque < now->inputs;
}

// Leaning to the right it steers to the right, which is negative. False ends the run.
static bool ride(void *owner, const tr_instant *now)
{
    Rider *rider = owner;
    if (!rider->calls++ && !find_places(rider, now)) return false;
    rider->last_front = now->value[rider->front];
    rider->last_rear = now->value[rider->rear];
    rider->lightest = fmin(rider->lightest, fmin(rider->last_front, rider->last_rear));
    now->setting[rider->torque] = -rider->gain * now->value[rider->roll_rate];
    return true;
}

// ---- checks --------------------------------------------------------------------------------

static bool check(const char *what, double value, double expected, double tolerance)
{
    const bool good = fabs(value - expected) <= tolerance;
    printf("%-34s %17.12g   %17.12g%s\n", what, value, expected, good ? "" : "   NOT EQUAL");
    return good;
}

// At 5 m/s, against the published eigenvalues: this is the benchmark bicycle.
static bool check_eigenvalues(const tr_model *model, tr_error *err)
{
    const tr_setting faster = {"speed0", "5"};
    tr_derive_options options = tr_derive_defaults();
    options.settings = &faster, options.setting_count = 1;
    tr_linearise_options shape = tr_linearise_defaults();
    shape.reduce = true;
    tr_system *system = tr_derive(model, &options, err);
    tr_linear *linear = tr_linearise(system, &shape, err);
    double values[16][2] = {{0}};
    bool good = linear && linear->states == 5 && tr_linear_eigenvalues(linear, values, err);
    if (good) {
        good = check("eigenvalues at 5 m/s: capsize", values[1][0], -0.322866429004087, 1e-10);
        good &= check("  weave", values[2][0], -0.775341882195845, 1e-10);
        good &= check("  castering", values[4][0], -14.0783896927982, 1e-10);
    }
    tr_linear_free(linear);
    tr_system_free(system);
    return good;
}

// For half a minute, with a push at the start; the file gets a row ten times a second.
static bool check_ride(const tr_model *model, const char *file, tr_error *err)
{
    const tr_setting push = {"roll_rate0", "0.1"};
    tr_derive_options options = tr_derive_defaults();
    options.settings = &push, options.setting_count = 1;
    tr_system *system = tr_derive(model, &options, err);
    tr_simulate_options how = tr_simulate_defaults(system);
    Rider rider = {.gain = 10, .lightest = (double)INFINITY};
    tr_summary summary = {0};
    how.end = 30, how.every = 0.1, how.output = file;
    how.control = ride, how.sample = 0.01, how.owner = &rider;
    bool good = tr_simulate(system, &how, &summary, err);
    if (good) { // upright again, where each wheel bears its part of 94 kg
        const double front = 32.16 * 9.81 / 1.02;
        good = check("calls of the controller", (double)rider.calls, 3001, 0);
        good &= check("front wheel bears [N]", rider.last_front, front, 1e-4);
        good &= check("rear wheel bears [N]", rider.last_rear, 94 * 9.81 - front, 1e-4);
        good &= rider.lightest > 250 && summary.energy_error < 1e-8;
        printf("never less than %.5g N, energy accounted for to %.1e, %zu steps in %.2g s\n",
               rider.lightest, summary.energy_error, summary.steps, summary.seconds);
    }
    tr_system_free(system);
    return good;
}

int main(int count, char **arguments)
{
    tr_error err = {0};
    tr_model *model = make_model(&err);
    const bool good =
        check_eigenvalues(model, &err) && check_ride(model, count > 1 ? arguments[1] : NULL, &err);
    tr_model_free(model);
    if (err.status) fprintf(stderr, "bicycle_by_calls: %s\n", err.text);
    return good ? 0 : 1;
}
