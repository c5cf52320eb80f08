// SPDX-License-Identifier: Apache-2.0
// A run that is stepped: a bicycle too slow to stay up by itself, and a rider who looks at it a
// thousand times a second and steers into the fall.    stepping [MODEL]
//
// On the way it is saved; then the rider lets go, to see what would become of it; and it goes on
// from where it was saved.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trundle/trundle.h>

static const double sample = 1e-3; // [s]

// What the rider sees, as places in a row, and the input that is set
typedef struct Rider {
    size_t roll, roll_rate, steer, steer_rate, torque;
    double gain; // 0: hands off
} Rider;

static size_t column_called(const tr_plan *plan, const char *name, tr_error *err)
{
    const size_t count = tr_plan_column_count(plan);
    size_t i = 0;
    while (i < count && strcmp(tr_plan_column_name(plan, i), name) != 0) i++;
    if (i == count && !err->status) {
        err->status = TR_USAGE;
        snprintf(err->text, sizeof err->text, "there is no column '%s'", name);
    }
    return i;
}

static size_t input_called(const tr_system *system, const char *name)
{
    size_t i = 0; // tr_run_set_at refuses one that is not there
    while (i < tr_input_count(system) && strcmp(tr_input_name(system, i), name) != 0) i++;
    return i;
}

static Rider find_rider(const tr_system *system, const tr_plan *plan, tr_error *err)
{
    return (Rider){.roll = column_called(plan, "roll", err),
                   .roll_rate = column_called(plan, "omega_x", err),
                   .steer = column_called(plan, "steer", err),
                   .steer_rate = column_called(plan, "steer_rate", err),
                   .torque = input_called(system, "steer_torque"),
                   .gain = 1};
}

// Rolling to the right is positive, and so is steering to the left.
static double steering(const Rider *rider, const double *row)
{
    const double torque = -20 * row[rider->roll] - 15 * row[rider->roll_rate] -
                          10 * row[rider->steer] - 5 * row[rider->steer_rate];
    return rider->gain * torque; // [N m]
}

// Until a time, or until it lies down; says how far it leans then [rad].
static double ride(tr_run *run, const Rider *rider, double until, tr_error *err)
{
    const double *row = tr_run_row(run);
    while (row && !err->status && tr_run_time(run) < until && fabs(row[rider->roll]) < 1) {
        tr_run_set_at(run, rider->torque, steering(rider, row), err);
        // Times are counted from 0: many additions of 1 ms would end beside them.
        tr_run_advance(run, sample * (floor(tr_run_time(run) / sample + 0.5) + 1), err);
        row = tr_run_row(run);
    }
    const double roll = row ? row[rider->roll] : (double)NAN;
    if (!err->status) printf("t = %5.3f s: it leans by %8.5f rad\n", tr_run_time(run), roll);
    return roll;
}

// True when the rider keeps it up, and it would have fallen without.
static bool try_riding(tr_run *run, Rider rider, tr_error *err)
{
    const size_t bytes = tr_run_save(run, NULL, 0, err);
    void *snapshot = malloc(bytes + 1);
    if (!snapshot) return false;
    ride(run, &rider, 0.3, err);
    tr_run_save(run, snapshot, bytes, err);
    const double kept = ride(run, &rider, 5, err);
    tr_run_restore(run, snapshot, bytes, err);
    if (!err->status) printf("back at t = %g s, and hands off:\n", tr_run_time(run));
    rider.gain = 0;
    const double fallen = ride(run, &rider, 5, err);
    tr_run_restore(run, snapshot, bytes, err);
    if (!err->status) printf("back again, hands on:\n");
    rider.gain = 1;
    const double again = ride(run, &rider, 5, err);
    free(snapshot);
    return !err->status && fabs(kept) < 0.1 && fabs(fallen) > 0.5 && kept == again;
}

int main(int count, char **arguments)
{
    const char *path = count > 1 ? arguments[1] : "models/bicycle.yaml";
    const tr_setting slow = {"speed0", "3"};
    tr_derive_options options = tr_derive_defaults();
    options.case_name = "free", options.settings = &slow, options.setting_count = 1;
    tr_error err = {0};
    tr_model *model = tr_model_read(path, &err);
    tr_system *system = tr_derive(model, &options, &err);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run *run = tr_run_new(plan, NULL, &err);
    const Rider rider = find_rider(system, plan, &err);
    const bool good = !err.status && try_riding(run, rider, &err);
    if (err.status)
        fprintf(stderr, "%s:%d:%d: %s\n", path, err.line, err.column, err.text);
    else if (!good)
        fprintf(stderr, "the rider did not keep it up, or would not have been needed\n");
    tr_run_free(run);
    tr_plan_free(plan);
    tr_system_free(system);
    tr_model_free(model);
    return good ? 0 : err.status ? (int)err.status : 1;
}
