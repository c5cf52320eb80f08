// SPDX-License-Identifier: Apache-2.0
// Exported CUDA C++ as a compiler of the host takes it, and as the text that devices get, with
// operations of the host in place of theirs: the bits of exported C, which are those of runs. And
// what nvcc says of it, where it is installed.
#include "exports.h"

#include <sys/stat.h>

#define QUICK        "-O1 -ffp-contract=off"
#define PLAIN        "g++ -x c++ -std=c++11 " QUICK " " STRICT " -I" REFERENCE_DIR "/../cuda"
#define AS_ON_DEVICE PLAIN " -include device.h"

static void write_file(const char *where, const char *name, const char *text)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", where, name);
    write_bytes(path, text, strlen(text));
}

// A folder below that of the test; what is in it goes with it.
static const char *folder_called(const char *name)
{
    const char *path = in_folder(name);
    mkdir(path, 0777);
    return path;
}

static void remove_folder_called(const char *name)
{
    char command[600];
    snprintf(command, sizeof command, "rm -r %s", in_folder(name));
    if (system_call(command) != 0) fail_msg("%s", command);
}

static Exported load_cuda(const tr_system *model, const char *where, const char *compile,
                          bool has_samples)
{
    tr_export_options o = tr_export_defaults();
    o.language = "cuda", o.form = "reduced";
    export_to(model, &o, where);
    write_file(where, "m.h",
               "#include \"m.cuh\"\ntypedef double number;\nusing namespace trundle_m;\n");
    write_file(where, "m.c",
               has_samples ? "#define SAMPLES\n#include \"m.h\"\n#include \"around.h\"\n"
                           : "#include \"m.h\"\n#include \"around.h\"\n");
    return load_exported(where, compile);
}

static void compare(const char *what, const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(&a[i], &b[i], sizeof a[i]) != 0 && !(isnan(a[i]) && isnan(b[i])))
            fail_msg("%s: entry %zu is %.17g, not %.17g", what, i, b[i], a[i]);
}

static void compare_names(const Exported *c, const Exported *cuda)
{
    assert_int_equal(c->nx, cuda->nx);
    assert_int_equal(c->ny, cuda->ny);
    assert_int_equal(c->nj, cuda->nj);
    for (size_t i = 0; i < c->nx; i++) assert_string_equal(c->x_name[i].name, cuda->x_name[i].name);
    for (size_t i = 0; i < c->ny; i++) assert_string_equal(c->y_name[i].name, cuda->y_name[i].name);
    assert_memory_equal(c->row, cuda->row, c->nj * sizeof *c->row);
    assert_memory_equal(c->column, cuda->column, c->nj * sizeof *c->column);
}

// At states near the start
static void compare_functions(const Exported *c, const Exported *cuda)
{
    uint32_t random = 7;
    double *x = room_for(c->nx);
    for (int i = 0; i < 5; i++) {
        const double t = 0.1 * i;
        for (size_t k = 0; k < c->nx; k++) x[k] = c->x[k] + 0.1 * i * next_random(&random);
        c->rates(t, x, c->u, c->p, c->mode, c->dx, c->w);
        cuda->rates(t, x, c->u, c->p, c->mode, cuda->dx, cuda->w);
        compare("rates", c->dx, cuda->dx, c->nx);
        c->outputs(t, x, c->u, c->p, c->mode, c->y, c->w);
        cuda->outputs(t, x, c->u, c->p, c->mode, cuda->y, cuda->w);
        compare("outputs", c->y, cuda->y, c->ny);
        c->jacobian(t, x, c->u, c->p, c->mode, c->J, c->w);
        cuda->jacobian(t, x, c->u, c->p, c->mode, cuda->J, cuda->w);
        compare("the Jacobian", c->J, cuda->J, c->nj);
    }
    free(x);
}

enum { RUNS = 3, STRIDE = 5, STEPS = 40 };
#define STEP 0x1p-10

typedef void (*AllRuns)(size_t runs, size_t stride, int64_t first, int steps, double h, double *x,
                        double *u, const double *p, int *fate);

// Runs with parameters and states of their own; run k begins k ten-thousandths apart, and the last
// one stopped before.
static void compare_runs(const Exported *c, const Exported *cuda)
{
    double *x = room_for(c->nx * STRIDE), *u = room_for(c->nu * STRIDE);
    double *p = room_for(c->np * STRIDE), *state = room_for(c->nx), *in = room_for(c->nu);
    int fate[STRIDE] = {0, 0, 4, 9, 9};
    const AllRuns all = (AllRuns)(uintptr_t)symbol_of(cuda->library, "all");
    for (size_t i = 0; i < STRIDE; i++) {
        for (size_t k = 0; k < c->nx; k++) x[k * STRIDE + i] = c->x[k] * (1 + 1e-4 * (double)i);
        for (size_t k = 0; k < c->nu; k++) u[k * STRIDE + i] = c->u[k];
        for (size_t k = 0; k < c->np; k++) p[k * STRIDE + i] = c->p[k];
    }
    all(RUNS, STRIDE, 0, STEPS / 2, STEP, x, u, p, fate);
    all(RUNS, STRIDE, STEPS / 2, STEPS - STEPS / 2, STEP, x, u, p, fate);
    for (size_t i = 0; i < STRIDE; i++) {
        int said = i == 2 ? 4 : i > 2 ? 9 : 0;
        for (size_t k = 0; k < c->nx; k++) state[k] = c->x[k] * (1 + 1e-4 * (double)i);
        memcpy(in, c->u, c->nu * sizeof *in);
        for (int k = 0; k < STEPS && !said; k++)
            said = c->step(k * STEP, STEP, state, in, c->p, c->mode, c->w);
        assert_int_equal(fate[i], said);
        for (size_t k = 0; k < c->nx; k++) compare("a run", &state[k], &x[k * STRIDE + i], 1);
        for (size_t k = 0; k < c->nu; k++) compare("an input", &in[k], &u[k * STRIDE + i], 1);
    }
    free(x), free(u), free(p), free(state), free(in);
}

// With other parameters than the model's
static void compare_starts(const Exported *c, const Exported *cuda)
{
    for (size_t k = 0; k < c->np; k++) c->p[k] *= 1.003;
    const int said = c->initial(c->p, c->x, c->mode, c->w);
    assert_int_equal(cuda->initial(c->p, cuda->x, cuda->mode, cuda->w), said);
    compare("the start", c->x, cuda->x, c->nx);
}

static void check_system(const tr_system *model)
{
    static const char *const compilers[] = {PLAIN, AS_ON_DEVICE};
    for (int i = 0; i < 2; i++) {
        tr_export_options o = tr_export_defaults();
        o.form = "reduced";
        export_to(model, &o, folder_called("c"));
        Exported c = load_exported(in_folder("c"), "cc -std=c99 " QUICK);
        Exported cuda = load_cuda(model, folder_called("cuda"), compilers[i], c.nk > 0);
        compare_names(&c, &cuda);
        compare("parameters", c.p, cuda.p, c.np);
        compare("the start", c.x, cuda.x, c.nx);
        compare_functions(&c, &cuda);
        compare_runs(&c, &cuda);
        compare_starts(&c, &cuda);
        unload_exported(&c);
        unload_exported(&cuda);
        remove_folder_called("c");
        remove_folder_called("cuda");
    }
}

static void check_model(const char *name)
{
    tr_system *model = system_called(name, NULL);
    check_system(model);
    tr_system_free(model);
}

static void test_models(void **state)
{
    (void)state;
    check_model("cart_pole");
    check_model("snakeboard");
    check_model("bicycle");      // a start that is searched, projection, a chart
    check_model("tyre_on_bump"); // tables
    check_model("turntable");    // motions
}

#ifdef TR_FULL
// Every bundled model, as the text that a device gets: no warning
static void test_every_model(void **state)
{
    (void)state;
    char *names[200];
    const int count = list_models(names);
    assert_true(count > 80);
    for (int i = 0; i < count; i++) {
        tr_system *model = system_called(names[i], NULL);
        tr_export_options o = tr_export_defaults();
        o.language = "cuda", o.form = "reduced";
        export_to(model, &o, folder_called("cuda"));
        write_file(in_folder("cuda"), "m.c", "#include \"m.cuh\"\n");
        char command[900];
        snprintf(command, sizeof command, AS_ON_DEVICE " -fsyntax-only %s/m.c", in_folder("cuda"));
        if (system_call(command) != 0) fail_msg("%s: %s", names[i], command);
        remove_folder_called("cuda");
        tr_system_free(model);
        free(names[i]);
    }
}
#endif

// ---- what acts at samples -------------------------------------------------------------------

// Delay, noise, periods that are no multiples of a step
static const char loop[] =
    "trundle: 1\n"
    "initial: {tilt: 0.1}\n"
    "parameters: {k: 8, l: 0.4, T: 0.0037, shaky: {value: 0.01}, seed: 7, from: 0.3}\n"
    "bodies:\n"
    "  cart: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x}, mass: 2}\n"
    "  pole: {parent: cart, joint: {type: revolute, axis: '0, 1, 0', coordinate: tilt}, mass: 0.3,"
    " com: '0, 0, l', inertia: {yy: 0.01}}\n"
    "sensors:\n"
    "  rate: {of: d(tilt), period: 0.0037/2}\n"
    "  lean: {of: tilt, period: T, sd: shaky, seed: seed, delay: 2}\n"
    "inputs: {push: 0, wanted: 0.1, wind: 0.2*sin(3*t)}\n"
    "roles: {x: {torque: 'push + wind + 0.1*lean'}}\n"
    "controllers:\n"
    "  balance: {period: T, states: {sum: from}, update: {sum: 'sum + T*(lean - wanted)'},"
    " outputs: {push: 'k*(lean - wanted) + 2*sum + 0.5*rate'}}\n";

static void test_controllers(void **state)
{
    (void)state;
    tr_system *model = system_from(loop);
    check_system(model);
    tr_system_free(model);
}

// ---- names ----------------------------------------------------------------------------------

static const char hostile[] =
    "trundle: 1\n"
    "name: \"*/ int main(void){system('rm');} /* \\\"; import os #\\\\ \\n ?"
    "?/ ${x} `id` \\u00e9 @name@\"\n"
    "parameters: {int: 0.5, class: 2, real: 1.5, fma: 1.5, FMA: 3, __global__: 1.25, double: 1.5}\n"
    "inputs: {threadIdx: 0, namespace: 1.5}\n"
    "bodies:\n"
    "  double:\n"
    "    joint: {type: revolute, axis: '0, 1, 0', coordinate: return}\n"
    "    mass: class * FMA * real\n"
    "    com: 0, 0, -int\n"
    "  static:\n"
    "    parent: double\n"
    "    joint: {type: revolute, axis: '0, 1, 0', at: '0, 0, -int * fma', coordinate: "
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    "}\n"
    "    mass: class * __global__ / double\n"
    "    com: 0, 0, -int\n"
    "roles: {return: {torque: threadIdx * namespace}}\n"
    "initial: {return: 1}\n"
    "outputs: {while: return * int, trundle: double, trundle_m: sin(return), w: 2, x: 3}\n";

static void test_hostile_names(void **state)
{
    (void)state;
    tr_system *model = system_from(hostile);
    check_system(model);
    tr_system_free(model);
}

static void test_refusals(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *model = system_called("hopping_wheel", NULL);
    tr_export_options o = tr_export_defaults();
    o.language = "cuda", o.folder = in_folder(".");
    assert_false(tr_export(model, &o, &err));
    assert_non_null(strstr(err.text, "may open, close or slip"));
    tr_system_free(model);
}

// ---- single precision -----------------------------------------------------------------------

// A second of both
static void check_single(const char *name, double bound)
{
    tr_system *model = system_called(name, NULL);
    tr_export_options o = tr_export_defaults();
    o.form = "reduced";
    export_to(model, &o, folder_called("c"));
    Exported c = load_exported(in_folder("c"), "cc -std=c99 " QUICK);
    o.language = "cuda", o.single = true;
    export_to(model, &o, folder_called("cuda"));
    const char *where = in_folder("cuda");
    write_file(where, "m.h",
               "#include \"m.cuh\"\ntypedef float number;\nusing namespace trundle_m;\n");
    write_file(
        where, "m.c",
        "#include \"m.h\"\n#include \"around.h\"\nextern \"C\" void second(double *to);\nvoid "
        "second(double *to)\n"
        "{\n    static float x[M_NX + 1], u[M_NU + 1], p[M_NP + 1], w[M_NWORK + 1];\n"
        "    int fate = 0, mode[M_NM + 1];\n    ::m_parameters(p);\n    ::m_inputs(p, u);\n"
        "    ::m_initial(p, x, mode, w);\n    m_all(1, 1, 0, 1024, 1.0f / 1024, x, u, p, &fate);\n"
        "    for (int i = 0; i < M_NX; i++) to[i] = (double)x[i];\n}\n");
    write_file(where, "sizes.c", "");
    char command[900];
    snprintf(command, sizeof command, PLAIN " -shared -fPIC -o %s/m.so %s/m.c -lm", where, where);
    if (system_call(command) != 0) fail_msg("%s", command);
    void *library = dlopen(in_folder("cuda/m.so"), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    double *x = room_for(c.nx), off = 0, largest = 1;
    ((void (*)(double *))(uintptr_t)dlsym(library, "second"))(x);
    for (int k = 0; k < 1024; k++) c.step(k * STEP, STEP, c.x, c.u, c.p, c.mode, c.w);
    for (size_t k = 0; k < c.nx; k++) largest = fmax(largest, fabs(c.x[k]));
    for (size_t k = 0; k < c.nx; k++) off = fmax(off, fabs(x[k] - c.x[k]));
    printf("%s in single precision: %.2g off after a second\n", name, off / largest);
    assert_below(off / largest, bound);
    assert_true(off > 0);
    free(x);
    dlclose(library);
    unload_exported(&c);
    remove_folder_called("c");
    remove_folder_called("cuda");
    tr_system_free(model);
}

static void test_single(void **state)
{
    (void)state;
    check_single("cart_pole", 1e-4);
    check_single("snakeboard", 1e-4);
    check_single("bicycle", 1e-4);
}

// ---- NVIDIA's compiler ----------------------------------------------------------------------

#ifdef NVCC
static void compile(const char *name, bool single, const char *architecture)
{
    tr_system *model = strcmp(name, "hostile") == 0 ? system_from(hostile)
                       : strcmp(name, "loop") == 0  ? system_from(loop)
                                                    : system_called(name, NULL);
    tr_export_options o = tr_export_defaults();
    o.language = "cuda", o.single = single;
    export_to(model, &o, folder_called("cuda"));
    char command[900];
    snprintf(command, sizeof command,
             "cd %s && " NVCC
             " -c -Werror all-warnings -Xcompiler -Wall,-Wextra %s -o m.o m_demo.cu",
             in_folder("cuda"), architecture);
    if (system_call(command) != 0) fail_msg("%s: %s", name, command);
    remove_folder_called("cuda");
    tr_system_free(model);
}

// The newest and the oldest that it has
static void test_nvcc(void **state)
{
    (void)state;
    const char *oldest = "-arch=$(" NVCC " --list-gpu-arch | head -1)";
    compile("cart_pole", false, "-arch=sm_90");
    compile("cart_pole", true, oldest);
    compile("loop", false, "-arch=sm_90");
    compile("hostile", false, oldest);
    compile("tyre_on_bump", false, oldest);
#ifdef TR_FULL
    compile("bicycle", false, "-arch=sm_90");
    compile("bicycle", true, oldest);
#endif
}
#else
static void test_nvcc(void **state)
{
    (void)state;
    printf("nvcc is missing: exported CUDA C++ is compiled for the host alone\n");
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef TR_FULL
        cmocka_unit_test(test_every_model),
#endif
        cmocka_unit_test(test_models),        cmocka_unit_test(test_controllers),
        cmocka_unit_test(test_hostile_names), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_single),        cmocka_unit_test(test_nvcc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
