// SPDX-License-Identifier: Apache-2.0
// Kernels of bundled models, executed by an interpreter of PTX, against blocks of lanes: every
// number of a record, to the bit, until each run has arrived or is not plain.
#include "models.h"
#include "ptx.h"
#include "sim/on_gpu.h"
#include "sim/run.h"

#include <time.h>

enum { LAUNCH = 37, STEPS = 60 };

static void insist(const tr_error *err)
{
    if (err->status) fail_msg("%s", err->text);
}

// Records of lanes after so many steps at most; their fate
static LaneFate step_in_lanes(Lanes *l, const double *from, double *to, double step, double until)
{
    LaneFate fate[MOST_LANES];
    tr_lane_enter(l, 0, from, until);
    for (int i = 0; i < STEPS; i++)
        if (!tr_lanes_step(l, step, fate)) {
            tr_lane_leave(l, 0, to);
            return fate[0];
        }
    tr_lane_leave(l, 0, to);
    return LANE_STEPPED;
}

static PtxWord word(double x) { return (PtxWord){.d = x}; }
static PtxWord whole(uint64_t u) { return (PtxWord){.u = u}; }

static LaneFate step_by_ptx(const Lanes *l, const char *text, const double *from, double *to,
                            double step, double until, size_t *executed)
{
    enum { STRIDE = 3, AT = 1 };
    double *block = calloc(gpu_record(l) * STRIDE + 1, sizeof *block), made = 0;
    PtxModule *m = ptx_read(text);
    tr_gpu_enter(l, from, until, block, STRIDE, AT);
    const uint64_t base = (uint64_t)(uintptr_t)(block + AT);
    m->parameters[0] = whole(base);
    m->parameters[1] = whole(base + (uint64_t)l->at.y * STRIDE * sizeof(double));
    m->parameters[2] = whole(base + (uint64_t)l->at.inputs * STRIDE * sizeof(double));
    m->parameters[3] = whole(STRIDE), m->parameters[4] = whole(1);
    m->parameters[6] = word(step);
    LaneFate fate = LANE_STEPPED;
    for (int left = STEPS; left > 0 && fate == LANE_STEPPED; left -= LAUNCH) {
        m->parameters[5] = whole((uint64_t)(left < LAUNCH ? left : LAUNCH));
        ptx_launch(m, 1, 2); // the second thread is beyond the last run
        fate = tr_gpu_leave(l, block, STRIDE, AT, to, &made);
    }
    *executed += m->executed;
    ptx_free(m);
    free(block);
    return fate;
}

static void compare(const Lanes *l, const double *lanes, const double *ptx, const char *name)
{
    for (uint32_t i = 0; i < l->at.count; i++)
        if (memcmp(&lanes[i], &ptx[i], sizeof *ptx) != 0 && !(isnan(lanes[i]) && isnan(ptx[i])))
            fail_msg("%s: number %u of the record is %.17g in lanes, %.17g by PTX (y at %u of %u)",
                     name, i, lanes[i], ptx[i], l->at.y, l->size);
}

static void check_run(Run *run, const char *name, const char *text, Lanes *l, double step)
{
    size_t executed = 0;
    double *record = calloc(3 * (size_t)l->at.count, sizeof *record), *lanes = record + l->at.count,
           *ptx = lanes + l->at.count;
    tr_lanes_take(l, run, record);
    const double until = run->mover->t + 45.3 * step;
    const LaneFate a = step_in_lanes(l, record, lanes, step, until);
    if (getenv("TR_VERBOSE"))
        printf("%s: watch %d watches %d rates %u lie %d projected %u quaternions %u alarms %u "
               "switches %u pivots %u surplus %u steps in lanes %g, evaluations %g\n",
               name, l->watch != NULL, l->watches, l->size, l->is_lie, l->projected, l->quaternions,
               l->alarms, l->switches, l->pivots, l->surplus, lanes[AT_STEPS],
               lanes[AT_ALL_EVALUATIONS]);
    const LaneFate b = step_by_ptx(l, text, record, ptx, step, until, &executed);
    if (a != b) fail_msg("%s: fate %d in lanes, %d by PTX; t %g, %g", name, a, b, lanes[0], ptx[0]);
    compare(l, lanes, ptx, name);
    if (getenv("TR_VERBOSE"))
        printf("%-24s %zu characters, %zu instructions, fate %d, %g steps\n", name, strlen(text),
               executed, a, ptx[AT_STEPS] - record[AT_STEPS]);
    free(record);
}

static void check_model(const char *name, const char *method, double step)
{
    tr_error err = {0};
    tr_system *system = system_called(name, NULL);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(NULL);
    o.method = method, o.step = step;
    Run *run = tr_run_new(plan, &o, &err);
    insist(&err);
    tr_run_advance(run, 3 * step, &err);
    insist(&err);
    if (tr_watch_is_calm(&run->mover->watch)) {
        Lanes *l = tr_lanes_new(run, &err);
        Buffer text = {0};
        if (tr_gpu_kernel(l, false, &text, &err)) {
            check_run(run, name, text.at, l, step);
            const char *folder = getenv("TR_PTX");
            if (folder) {
                char path[400];
                snprintf(path, sizeof path, "%s/%s_%s.ptx", folder, name, method);
                FILE *f = fopen(path, "w");
                fwrite(text.at, 1, text.length, f);
                fclose(f);
            }
        } else
            printf("%s: %s\n", name, err.text);
        tr_buffer_free(&text);
        tr_lanes_free(l);
    } else
        printf("%s is not calm\n", name);
    tr_run_free(run);
    tr_plan_free(plan);
    tr_system_free(system);
}

static void test_models(void **state)
{
    (void)state;
    check_model("chain", "rk4", 1e-3);
    check_model("snakeboard", "rk4", 1e-3);
    check_model("bicycle", "rk4", 1e-3);
    check_model("rolling_disc", "lie", 1e-3);
}

static void test_one(void **state)
{
    (void)state;
    check_model(getenv("TR_MODEL"), getenv("TR_METHOD") ? getenv("TR_METHOD") : "rk4", 1e-3);
}

int main(void)
{
    const struct CMUnitTest one[] = {cmocka_unit_test(test_one)};
    if (getenv("TR_MODEL")) return cmocka_run_group_tests(one, NULL, NULL);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
