// SPDX-License-Identifier: Apache-2.0
// Poses of a six-wheeled rocker-bogie on a grid of heights, one after the other along a path.
#include "bench/bench.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POSES = 2000, ROUNDS = 5, POINTS = 160 };
#define STEP 0.01 // from one pose to the next [m]

static void write_side(Buffer *b, const char *side, int sign)
{
    static const struct {
        const char *name, *on;
        double x, z;
    } wheels[] = {{"front", "bogie", 0.25, -0.15},
                  {"middle", "bogie", -0.25, -0.15},
                  {"rear", "rocker", -0.5, -0.25}};
    tr_buffer_print(b,
                    "  %s_rocker: {parent: rover, joint: {type: revolute, axis: \"0, 1, 0\", at: "
                    "\"0, %d*0.35, 0\"}, mass: 2, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
                    "  %s_bogie: {parent: %s_rocker, joint: {type: revolute, axis: \"0, 1, 0\", "
                    "at: \"0.3, 0, -0.1\"}, mass: 2, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n",
                    side, sign, side, side);
    for (int k = 0; k < 3; k++)
        tr_buffer_print(b,
                        "  %s_%s: {parent: %s_%s, joint: {type: revolute, axis: \"0, 1, 0\", at: "
                        "\"%g, 0, %g\"}, mass: 1, inertia: {axial: 0.01, radial: 0.01}}\n",
                        side, wheels[k].name, side, wheels[k].on, wheels[k].x, wheels[k].z);
}

static void write_model(Buffer *b)
{
    static const char *const sides[] = {"left", "right"}, *const wheels[] = {"front", "middle",
                                                                             "rear"};
    tr_buffer_print(b, "trundle: 1\ntables: {hills: {file: hills.csv, degree: 3}}\n"
                       "ground: {height: \"hills(x, y)\"}\nbodies:\n"
                       "  rover: {joint: {type: free}, mass: 30, com: \"-0.05, 0, 0.15\", inertia: "
                       "{xx: 1, yy: 1, zz: 1}}\n");
    for (int k = 0; k < 2; k++) write_side(b, sides[k], k ? -1 : 1);
    tr_buffer_print(
        b, "couplings: {differential: {coordinate: left_rocker, equals: {right_rocker: -1}}}\n"
           "contacts:\n");
    for (int k = 0; k < 6; k++)
        tr_buffer_print(b, "  %s_%s: {kind: rolling, body: %s_%s, radius: 0.12, tube: 0.02}\n",
                        sides[k / 3], wheels[k % 3], sides[k / 3], wheels[k % 3]);
    tr_buffer_print(b, "guess: {rover.z: 0.4}\n");
}

// Heights every 0.1 m from -3 m on
static void write_grid(Buffer *b)
{
    tr_buffer_print(b, "x/y");
    for (int j = 0; j < POINTS; j++) {
        tr_buffer_print(b, ",");
        tr_buffer_number(b, 0.1 * (j - 30));
    }
    for (int i = 0; i < POINTS; i++) {
        const double x = 0.1 * (i - 30);
        tr_buffer_print(b, "\n");
        tr_buffer_number(b, x);
        for (int j = 0; j < POINTS; j++) {
            const double y = 0.1 * (j - 30);
            tr_buffer_print(b, ",");
            tr_buffer_number(b, 0.05 * sin(2.1 * x + 0.4 * y) * cos(1.3 * y - 0.2 * x) +
                                    0.02 * sin(4.3 * x) * sin(3.7 * y + 1));
        }
    }
    tr_buffer_print(b, "\n");
}

// Seconds of a pose; `steps` are those of Newton's method
static double time_poses(tr_settle *settle, bool told, tr_error *err)
{
    double columns[400], best = (double)INFINITY;
    if (tr_settle_column_count(settle) > sizeof columns / sizeof *columns) return best;
    for (int round = 0; round < ROUNDS && !err->status; round++) {
        tr_settle_restart(settle);
        tr_settle_pose(settle, (const double[]){0, 0, 0}, NULL, err);
        const double start = bench_now();
        for (int i = 0; i < POSES && !err->status; i++) {
            const double s = STEP * i; // around a circle of 2 m, once and a half
            const double held[] = {2 * sin(s / 2), 2 - 2 * cos(s / 2), s / 2};
            tr_settle_pose(settle, held, told ? columns : NULL, err);
        }
        best = fmin(best, (bench_now() - start) / POSES);
    }
    return best;
}

static void settle_by(tr_plan *plan, const char *way, const char *evaluated, tr_error *err)
{
    static const char *const holds[] = {"rover.x", "rover.y", "rover.yaw"};
    tr_settle_options o = tr_settle_defaults();
    o.by = way, o.holds = holds, o.hold_count = 3;
    tr_settle *settle = tr_settle_new(plan, &o, err);
    const double pose = settle ? time_poses(settle, false, err) : 0,
                 told = settle ? time_poses(settle, true, err) : 0;
    if (err->status)
        printf("settle: by %s: %s\n", way, err->text);
    else
        printf("settle: rocker-bogie with six wheels on a grid, by %-8s (%s): %.0f poses a "
               "second%s, with all columns %.0f\n",
               way, evaluated, 1 / pose, strcmp(evaluated, "native") == 0 ? " (aim 20000)" : "",
               1 / told);
    tr_settle_free(settle);
}

static void settle_model(const char *path)
{
    static const char *const evaluations[] = {"native", "interpreter"};
    for (int k = 0; k < 2; k++) {
        tr_error err = {0};
        tr_derive_options how = tr_derive_defaults();
        how.evaluate = evaluations[k];
        tr_model *model = tr_model_read(path, &err);
        tr_system *system = tr_derive(model, &how, &err);
        tr_plan *plan = tr_plan_new(system, &err);
        settle_by(plan, "contact", evaluations[k], &err);
        settle_by(plan, "energy", evaluations[k], &err);
        tr_plan_free(plan);
        tr_system_free(system);
        tr_model_free(model);
    }
}

void bench_settle(void)
{
    char folder[] = "/tmp/trundle_bench_XXXXXX", model[60], grid[60];
    Buffer text = {0}, heights = {0};
    tr_error err = {0};
    write_model(&text);
    write_grid(&heights);
    if (!mkdtemp(folder)) return;
    snprintf(model, sizeof model, "%s/rover.yaml", folder);
    snprintf(grid, sizeof grid, "%s/hills.csv", folder);
    if (tr_write_text(model, text.at, &err) && tr_write_text(grid, heights.at, &err))
        settle_model(model);
    if (err.status) printf("settle: %s\n", err.text);
    unlink(model);
    unlink(grid);
    rmdir(folder);
    tr_buffer_free(&text);
    tr_buffer_free(&heights);
}
