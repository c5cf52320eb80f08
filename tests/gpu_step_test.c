// SPDX-License-Identifier: Apache-2.0
// Kernels of bundled models, executed by an interpreter of PTX, against blocks of lanes: every
// number of a record, to the bit, until each run has arrived or is not plain.
#include "models.h"
#include "ptx.h"
#include "sim/on_gpu.h"
#include "sim/run.h"

#include <dirent.h>
#include <unistd.h>

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

static LaneFate step_by_ptx(const Lanes *l, const char *text, uint32_t shared, const double *from,
                            double *to, double step, double until, size_t *executed)
{
    enum { STRIDE = 3, AT = 1 };
    double *block = calloc(gpu_record(l) * STRIDE + 1, sizeof *block), made = 0;
    PtxModule *m = ptx_read(text);
    m->shared_size = shared;
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

static void check_kernel(Run *run, const char *name, const char *text, uint32_t shared, Lanes *l,
                         double step)
{
    size_t executed = 0;
    double *record = calloc(3 * (size_t)l->at.count, sizeof *record), *lanes = record + l->at.count,
           *ptx = lanes + l->at.count;
    tr_lanes_take(l, run, record);
    const double until = run->mover->t + 45.3 * step;
    const LaneFate a = step_in_lanes(l, record, lanes, step, until);
    const LaneFate b = step_by_ptx(l, text, shared, record, ptx, step, until, &executed);
    if (a != b) fail_msg("%s: fate %d in lanes, %d by PTX; t %g, %g", name, a, b, lanes[0], ptx[0]);
    compare(l, lanes, ptx, name);
    assert_true(executed > 0);
    free(record);
}

// What the real assembler says of it, where it is installed
static void assemble(const char *name, const Buffer *text)
{
#ifdef PTXAS
    char path[200], command[900];
    snprintf(path, sizeof path, "gpu_step_%ld.ptx", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fwrite(text->at, 1, text->length, file);
    fclose(file);
    snprintf(command, sizeof command, "'%s' -O0 -arch sm_80 '%s' -o /dev/null", PTXAS, path);
    const int rc = system(command);
    remove(path);
    if (rc != 0) fail_msg("ptxas refuses the kernel of %s", name);
#else
    (void)name, (void)text;
#endif
}

typedef struct Ready {
    tr_system *system;
    tr_plan *plan;
    Run *run;
    Lanes *lanes; // NULL where a run has no plain steps there
} Ready;

static Ready ready(const char *name, const char *method, double step)
{
    tr_error err = {0};
    tr_run_options o = tr_run_defaults(NULL);
    Ready r = {.system = system_called(name, NULL)};
    o.method = method, o.step = step;
    r.plan = tr_plan_new(r.system, &err);
    r.run = tr_run_new(r.plan, &o, &err);
    insist(&err);
    tr_run_advance(r.run, 3 * step, &err);
    if (!err.status && tr_watch_is_calm(&r.run->mover->watch)) {
        r.lanes = tr_lanes_new(r.run, &err);
        insist(&err);
    }
    return r;
}

static void put_away(Ready *r)
{
    tr_lanes_free(r->lanes);
    tr_run_free(r->run);
    tr_plan_free(r->plan);
    tr_system_free(r->system);
}

static bool check_terms(const Ready *r, GpuTerms terms, const char *name, double step,
                        bool assembles)
{
    tr_error err = {0};
    Buffer text = {0};
    uint32_t shared = 0;
    const bool is_there = r->lanes && tr_gpu_kernel(r->lanes, terms, &text, &shared, &err);
    assert_true(shared <= terms.room);
    if (is_there) {
        check_kernel(r->run, name, text.at, shared, r->lanes, step);
        Buffer single = {0};
        r->lanes->is_single = true;
        if (!tr_gpu_kernel(r->lanes, terms, &single, &shared, &err))
            fail_msg("%s: %s", name, err.text);
        r->lanes->is_single = false;
        tr_buffer_free(&single);
        if (assembles) assemble(name, &text);
    } else if (err.status)
        assert_string_equal(err.text,
                            "no GPU looks for a second touch on a surface that is not flat");
    tr_buffer_free(&text);
    return is_there;
}

// Whether there is a kernel; it must be right then: with inputs that may be any and all numbers in
// registers, and with inputs that are known, few registers, and no room for all others.
static bool check_model(const char *name, const char *method, double step, bool assembles)
{
    Ready r = ready(name, method, step);
    const bool is_there = check_terms(&r, (GpuTerms){0}, name, step, assembles);
    if (is_there) {
        double *record = calloc(r.lanes->at.count, sizeof *record);
        tr_lanes_take(r.lanes, r.run, record);
        const GpuTerms narrow = {record + r.lanes->at.inputs, 20 << 10, 24};
        assert_true(check_terms(&r, narrow, name, step, assembles));
        free(record);
    }
    put_away(&r);
    return is_there;
}

static void test_models(void **state)
{
    (void)state;
#ifndef PTXAS
    printf("ptxas is missing: kernels are executed, but not assembled\n");
#endif
    assert_true(check_model("chain", "rk4", 1e-3, true));
    assert_true(check_model("snakeboard", "rk4", 1e-3, false));
    assert_true(check_model("bicycle", "rk4", 1e-3, true));
    assert_true(check_model("rolling_disc", "lie", 1e-3, true));
    assert_true(check_model("stiff_train", "rk4", 1e-3, false)); // far off: angles of 1e34
}

// ---- in single precision --------------------------------------------------------------------

enum { MANY = 1000 };

// Steps as lanes make them, whatever happens
static void many_in_lanes(Lanes *l, const double *from, double *to, double step)
{
    LaneFate fate[MOST_LANES];
    tr_lane_enter(l, 0, from, 1e300);
    for (int i = 0; i < MANY; i++)
        if (!tr_lanes_step(l, step, fate)) fail_msg("a step is not plain");
    tr_lane_leave(l, 0, to);
}

// How far the state is off, by its largest entry; as many steps must have been made.
static double off_in_single(Ready *r, const char *name, double step)
{
    tr_error err = {0};
    Buffer text = {0};
    Lanes *l = r->lanes;
    double *record = calloc(2 * (size_t)l->at.count + gpu_record(l) + 1, sizeof *record);
    double *lanes = record + l->at.count, *block = lanes + l->at.count, off = 0, largest = 1;
    tr_lanes_take(l, r->run, record);
    many_in_lanes(l, record, lanes, step);
    l->is_single = true;
    uint32_t shared = 0;
    assert_true(tr_gpu_kernel(l, (GpuTerms){0}, &text, &shared, &err));
    assert_non_null(strstr(text.at, "fma.rn.f32"));
    assemble(name, &text);
    PtxModule *m = ptx_read(text.at);
    tr_gpu_enter(l, record, 1e300, block, 1, 0);
    const uint64_t base = (uint64_t)(uintptr_t)block;
    m->parameters[0] = whole(base), m->parameters[1] = whole(base + 8 * (uint64_t)l->at.y);
    m->parameters[2] = whole(base + 8 * (uint64_t)l->at.inputs);
    m->parameters[3] = m->parameters[4] = whole(1), m->parameters[5] = whole(MANY);
    m->parameters[6] = word(step);
    ptx_launch(m, 1, 1);
    assert_true(block[l->at.count + GPU_MADE] == MANY);
    assert_true(block[AT_TIME] == lanes[AT_TIME]); // times stay double
    for (uint32_t i = 0; i < l->known; i++) largest = fmax(largest, fabs(lanes[l->at.y + i]));
    for (uint32_t i = 0; i < l->known; i++)
        off = fmax(off, fabs(lanes[l->at.y + i] - block[l->at.y + i]));
    printf("%s in single precision: %.2g off after %d steps, %zu doubles a step\n", name,
           off / largest, MANY, m->issues / MANY);
    ptx_free(m);
    tr_buffer_free(&text);
    free(record);
    return off / largest;
}

static void test_single(void **state)
{
    (void)state;
    static const struct {
        const char *model, *method;
        double bound;
    } tried[] = {{"snakeboard", "rk4", 2e-6},   {"bicycle", "rk4", 2e-6},
                 {"rolling_disc", "lie", 1e-5}, {"cart_pole", "rk4", 5e-6},
                 {"chain", "rk4", 2e-5},        {"segway", "rk4", 1e-5},
                 {"sk8o_open", "rk4", 2e-4}}; // it falls, so what is off grows
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        Ready r = ready(tried[i].model, tried[i].method, 1e-3);
        const double off = off_in_single(&r, tried[i].model, 1e-3);
        assert_true(off > 0); // it is not double
        assert_below(off, tried[i].bound);
        put_away(&r);
    }
}

// Every operation is rounded to nearest, and none is flushed.
static void check_rounding(bool single)
{
    Ready r = ready("bicycle", "rk4", 1e-3);
    tr_error err = {0};
    Buffer text = {0};
    const char *rounds = single ? "rn.f32" : "rn.f64";
    r.lanes->is_single = single;
    uint32_t shared = 0;
    assert_true(tr_gpu_kernel(r.lanes, (GpuTerms){0}, &text, &shared, &err));
    assert_null(strstr(text.at, ".ftz"));
    static const char *const names[] = {"\tadd.", "\tsub.", "\tmul.",
                                        "\tfma.", "\tdiv.", "\tsqrt."};
    size_t seen = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (const char *at = text.at; (at = strstr(at, names[i])); at++) {
            const char *kind = at + strlen(names[i]);
            const bool whole = strncmp(kind, "u32", 3) == 0 || strncmp(kind, "u64", 3) == 0 ||
                               strncmp(kind, "lo.", 3) == 0 || strncmp(kind, "wide", 4) == 0;
            const bool rounded = strncmp(kind, "rn.f64", 6) == 0 || strncmp(kind, rounds, 6) == 0;
            if (!whole && !rounded) fail_msg("%.40s", at);
            seen += strncmp(kind, rounds, 6) == 0;
        }
    assert_true(seen > 500);
    tr_buffer_free(&text);
    put_away(&r);
}

static void test_rounding(void **state)
{
    (void)state;
    check_rounding(false);
    check_rounding(true);
}

#ifdef TR_FULL
// Every bundled model, by both methods
static void test_every_model(void **state)
{
    (void)state;
    DIR *folder = opendir(MODELS_DIR);
    assert_non_null(folder);
    size_t models = 0, kernels = 0;
    for (struct dirent *e; (e = readdir(folder));) {
        char name[260], *end;
        snprintf(name, sizeof name, "%s", e->d_name);
        if (!(end = strstr(name, ".yaml"))) continue;
        *end = 0;
        models++;
        kernels += check_model(name, "rk4", 1e-3, false);
        check_model(name, "lie", 1e-3, false);
    }
    closedir(folder);
    printf("%zu models, %zu with kernels\n", models, kernels);
    assert_true(kernels * 4 > models * 3);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models),
                                       cmocka_unit_test(test_rounding),
                                       cmocka_unit_test(test_single),
#ifdef TR_FULL
                                       cmocka_unit_test(test_every_model)
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
