// SPDX-License-Identifier: Apache-2.0
// What `make bench` prints, and the counts that a test compares. Times are the best of several
// repetitions: the machine may be shared.
#include "bench/bench.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "expr/derivative.h"
#include "expr/system.h"
#include "program/evaluate.h"
#include "program/interpret.h"

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile double sink;

// Seconds that one addition takes when each waits for the one before: a yardstick that follows the
// clock of a shared machine.
static double addition(void)
{
    enum { COUNT = 100000 };
    double sum = sink;
    const volatile double half = 0.5; // read anew each time, so the additions stay apart
    const double start = bench_now();
    for (int i = 0; i < COUNT; i++) sum += half;
    sink = sum;
    return (bench_now() - start) / COUNT;
}

// ---- a workload that looks like mechanics ---------------------------------------------------

typedef struct Vec {
    Expr x, y, z;
} Vec;

static Vec plus(Vec a, Vec b) { return (Vec){add(a.x, b.x), add(a.y, b.y), add(a.z, b.z)}; }
static Vec scaled(Expr s, Vec a) { return (Vec){mul(s, a.x), mul(s, a.y), mul(s, a.z)}; }
static Vec cross(Vec a, Vec b)
{
    return (Vec){sub(mul(a.y, b.z), mul(a.z, b.y)), sub(mul(a.z, b.x), mul(a.x, b.z)),
                 sub(mul(a.x, b.y), mul(a.y, b.x))};
}

typedef struct Link {
    Expr c, s;          // of its joint angle, about its own z
    Vec tilt[3];        // the constant rotation before it, by columns
    Vec offset, com, J; // to the next joint, centre of mass, principal inertias
    Expr m, rate, acceleration;
    Vec force, moment;
} Link;

static Vec into(const Link *k, Vec a) // parent's axes -> link's axes
{
    const Vec *t = k->tilt;
    const Vec b = {add(add(mul(t[0].x, a.x), mul(t[0].y, a.y)), mul(t[0].z, a.z)),
                   add(add(mul(t[1].x, a.x), mul(t[1].y, a.y)), mul(t[1].z, a.z)),
                   add(add(mul(t[2].x, a.x), mul(t[2].y, a.y)), mul(t[2].z, a.z))};
    return (Vec){add(mul(k->c, b.x), mul(k->s, b.y)), sub(mul(k->c, b.y), mul(k->s, b.x)), b.z};
}

static Vec out_of(const Link *k, Vec a)
{
    const Vec b = {sub(mul(k->c, a.x), mul(k->s, a.y)), add(mul(k->s, a.x), mul(k->c, a.y)), a.z};
    return plus(plus(scaled(b.x, k->tilt[0]), scaled(b.y, k->tilt[1])), scaled(b.z, k->tilt[2]));
}

static Expr input(System *s, const char *name, int i, tr_kind kind)
{
    char full[48];
    snprintf(full, sizeof full, "%s%d", name, i);
    return tr_input(s, full, kind, 0.1 * i + 0.3, NULL);
}

static Vec vector_input(System *s, const char *name, int i)
{
    char part[24];
    Expr e[3];
    for (int k = 0; k < 3; k++) {
        snprintf(part, sizeof part, "%s%c", name, "xyz"[k]);
        e[k] = input(s, part, i, TR_PARAMETER);
    }
    return (Vec){e[0], e[1], e[2]};
}

static void make_link(System *s, Link *k, int i)
{
    const Expr angle = input(s, "q", i, TR_POSITION);
    *k = (Link){.c = e_cos(angle), .s = e_sin(angle)};
    k->rate = input(s, "v", i, TR_VELOCITY);
    k->acceleration = input(s, "a", i, TR_INPUT);
    k->m = input(s, "m", i, TR_PARAMETER);
    k->tilt[0] = vector_input(s, "tx", i);
    k->tilt[1] = vector_input(s, "ty", i);
    k->tilt[2] = vector_input(s, "tz", i);
    k->offset = vector_input(s, "o", i);
    k->com = vector_input(s, "c", i);
    k->J = vector_input(s, "J", i);
}

// Torques of a chain of n links by recursive Newton-Euler; every parameter is an input. `seconds`
// is what the equations took, the inputs' names aside.
static System *chain(int n, double *seconds)
{
    System *s = tr_system_new(NULL);
    Link *links = calloc((size_t)n, sizeof *links);
    Expr *torques = calloc((size_t)n, sizeof *torques);
    for (int i = 0; i < n; i++) make_link(s, &links[i], i);
    const double start = bench_now();
    const Expr nothing = tr_constant(s, 0);
    Vec w = {nothing, nothing, nothing}, dw = w, a = {nothing, nothing, tr_constant(s, 9.81)};
    for (int i = 0; i < n; i++) {
        Link *k = &links[i];
        const Vec spin = {nothing, nothing, k->rate}, push = {nothing, nothing, k->acceleration};
        const Vec carried = into(k, w);
        dw = plus(plus(into(k, dw), push), cross(carried, spin));
        w = plus(carried, spin);
        a = into(k, a);
        const Vec at_com = plus(a, plus(cross(dw, k->com), cross(w, cross(w, k->com))));
        k->force = scaled(k->m, at_com);
        const Vec momentum = {mul(k->J.x, w.x), mul(k->J.y, w.y), mul(k->J.z, w.z)};
        const Vec change = {mul(k->J.x, dw.x), mul(k->J.y, dw.y), mul(k->J.z, dw.z)};
        k->moment = plus(plus(change, cross(w, momentum)), cross(k->com, k->force));
        a = plus(a, plus(cross(dw, k->offset), cross(w, cross(w, k->offset))));
    }
    for (int i = n; i-- > 0;) {
        torques[i] = links[i].moment.z;
        if (i == 0) break;
        const Vec f = out_of(&links[i], links[i].force);
        links[i - 1].moment = plus(links[i - 1].moment, plus(out_of(&links[i], links[i].moment),
                                                             cross(links[i - 1].offset, f)));
        links[i - 1].force = plus(links[i - 1].force, f);
    }
    if (seconds) *seconds = bench_now() - start;
    tr_output(s, "torque", torques, (size_t)n, 1, NULL);
    free(links);
    free(torques);
    return s;
}

// ---- lines ---------------------------------------------------------------------------------

static void bench_graph(void)
{
    double best = 1e9;
    size_t nodes = 0, bytes = 0, built = 0;
    for (int round = 0; round < 5; round++) {
        double took;
        System *s = chain(1200, &took);
        if (took < best) best = took;
        nodes = s->graph->count;
        bytes = tr_graph_bytes(s->graph);
        built = nodes - s->input_count;
        tr_system_free(s);
    }
    printf("graph: %zu nodes, %.1f million/s (aim 5), %.1f bytes a node (aim 32)\n", nodes,
           1e-6 * (double)built / best, (double)bytes / (double)nodes);
}

static void bench_derivative(void)
{
    System *s = chain(100, NULL);
    const Output *torque = tr_system_output(s, text_of("torque"));
    Expr angles[100];
    for (int i = 0; i < 100; i++) {
        char name[8];
        snprintf(name, sizeof name, "q%d", i);
        angles[i] = tr_formula(s, name, NULL);
    }
    const uint32_t before = s->graph->count;
    const double start = bench_now();
    size_t entries;
    tr_jacobian(s, torque->values, torque->rows, angles, 100, &entries);
    const double took = bench_now() - start;
    printf("jacobian: 100 x 100 of a %u-node chain, %zu entries, %u nodes, %.0f ms\n", before,
           entries, s->graph->count - before, 1e3 * took);
    tr_system_free(s);
}

static void bench_program(int n)
{
    System *s = chain(n, NULL);
    const double start = bench_now();
    tr_program *p = tr_compile(s, "torque", NULL, NULL);
    const double compile = bench_now() - start;
    Executable *interpreted = tr_interpret_new(p, 1);
    tr_workspace *w = tr_workspace_on(p, interpreted, 1, NULL);
    const tr_program_size size = tr_program_sizes(p);
    double *in = calloc(size.inputs, sizeof *in), *out = calloc(size.outputs, sizeof *out);
    for (size_t i = 0; i < size.inputs; i++) in[i] = 0.3 + 0.01 * (double)i;
    double best = 1e9, yardstick = 1;
    const int repeats = (int)(2000000 / (size.operations + 1)) + 1;
    for (int round = 0; round < 20; round++) {
        const double begin = bench_now();
        for (int i = 0; i < repeats; i++) tr_evaluate(p, w, in, out);
        const double took = (bench_now() - begin) / repeats, one_addition = addition();
        if (took / one_addition < best / yardstick) best = took, yardstick = one_addition;
    }
    uint32_t runs = 0;
    for (int part = 0; part < PART_COUNT; part++)
        for (const uint32_t *at = ((const Interpreted *)interpreted)->runs[part];
             at[0] != OP_FAILED; runs++)
            at += 2 + at[1] * (at[0] < OP_COUNT ? (uint32_t)code_operands(at[0])
                                                : 2); // no tables, not wide
    printf("interpreter: %6zu operations in %6zu instructions, %4u runs: %9.0f ns, %.3f ns an "
           "operation (aim 0.7), "
           "%.2f of an addition's latency; compiled in %.2f ms\n",
           size.operations, size.instructions, runs, 1e9 * best,
           1e9 * best / (double)size.operations, best / (double)size.operations / yardstick,
           1e3 * compile);
    free(in);
    free(out);
    tr_workspace_free(w);
    interpreted->free(interpreted);
    tr_program_free(p);
    tr_system_free(s);
}

enum { ARGUMENTS = 1000, A_LOT = 10000000 };

// A program that applies one function to every input.
static double function_ns(Op op, const double *x, double *y)
{
    System *s = tr_system_new(NULL);
    Expr results[ARGUMENTS];
    for (int i = 0; i < ARGUMENTS; i++) {
        const Expr in = input(s, "x", i, TR_POSITION);
        results[i] = tr_build(op, in, tr_op[op].operands > 1 ? tr_constant(s, 0.7) : in, in);
    }
    tr_output(s, "y", results, ARGUMENTS, 1, NULL);
    tr_program *p = tr_compile(s, "y", NULL, NULL);
    tr_workspace *w = tr_workspace_new(p, NULL);
    double best = 1e9;
    for (int round = 0; round < 200; round++) {
        const double start = bench_now();
        tr_evaluate(p, w, x, y);
        if (bench_now() - start < best) best = bench_now() - start;
    }
    tr_workspace_free(w);
    tr_program_free(p);
    tr_system_free(s);
    return 1e9 * best / ARGUMENTS;
}

static double atan2_to(double y) { return atan2(y, 0.7); }

static void bench_functions(void)
{
    static const struct {
        Op op;
        double (*libm)(double);
        double low, high;
    } rows[] = {{OP_SIN, sin, -10, 10}, {OP_COS, cos, -10, 10},      {OP_TAN, tan, -10, 10},
                {OP_ASIN, asin, -1, 1}, {OP_ATAN2, atan2_to, -3, 3}, {OP_EXP, exp, -5, 5},
                {OP_LOG, log, 0.1, 9}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double x[ARGUMENTS], y[ARGUMENTS], libm = 1e9;
        for (unsigned i = 0; i < ARGUMENTS; i++) {
            const double unit = (double)(i * 2654435761u & 0xffff) / 65536;
            x[i] = rows[r].low + (rows[r].high - rows[r].low) * unit;
        }
        for (int round = 0; round < 200; round++) {
            const double start = bench_now();
            for (int i = 0; i < ARGUMENTS; i++) y[i] = rows[r].libm(x[i]);
            if (bench_now() - start < libm) libm = bench_now() - start;
        }
        const double ours = function_ns(rows[r].op, x, y);
        printf("function: %-6s %5.1f ns, libm %5.1f ns\n", tr_op[rows[r].op].name, ours,
               1e9 * libm / ARGUMENTS);
    }
}

static double table_ns(const Table *f, uint32_t n, int order)
{
    enum { POINTS = 1000 };
    double best = 1e9;
    for (int round = 0; round < 20; round++) {
        const double start = bench_now();
        for (uint32_t i = 0; i < POINTS; i++) { // along a way, as wheels go
            const double x = (n - 1) * (0.5 + 0.4 * i / POINTS),
                         y = (n - 1) * (0.6 - 0.3 * i / POINTS);
            sink = tr_table_value(f, x, y, order);
        }
        best = fmin(best, bench_now() - start);
    }
    return 1e9 * best / POINTS;
}

// A height grid: making it, and its value and slopes
static void bench_table(uint32_t n)
{
    double *x = malloc(n * sizeof *x), *z = malloc((size_t)n * n * sizeof *z);
    for (uint32_t i = 0; x && i < n; i++) x[i] = i;
    for (size_t k = 0; z && k < (size_t)n * n; k++)
        z[k] = sin(0.1 * (double)(k % n) + 3e-4 * (double)k);
    const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    const double start = bench_now();
    Table *f = x && z ? tr_table_take(x, n, x, n, z, 3, false, NULL) : NULL;
    const double took = bench_now() - start;
    const size_t more = mallinfo2().uordblks + mallinfo2().hblkhd - before;
    if (f)
        printf("table of %u x %u points, degree 3: %.2f s to make (aim 2), %.1f MB with its values "
               "(aim 33); value %.0f ns, slope %.0f ns, second derivative %.0f ns\n",
               n, n, took, 1e-6 * ((double)n * n * sizeof *z + (double)more), table_ns(f, n, 0),
               table_ns(f, n, table_order(1, 0)), table_ns(f, n, table_order(1, 1)));
    tr_table_free(f);
    free(x);
}

static void bench_numbers(void)
{
    enum { N = 100000 };
    double best = 1e9, reading = 1e9;
    static char text[N][TR_NUMBER_SIZE];
    static size_t length[N];
    for (int round = 0; round < 5; round++) {
        double start = bench_now();
        for (int i = 0; i < N; i++) length[i] = tr_number_print(sin((double)i), text[i]);
        if (bench_now() - start < best) best = bench_now() - start;
        start = bench_now();
        for (int i = 0; i < N; i++) {
            size_t used;
            double value = 0;
            tr_number_read(text[i], length[i], &used, &value);
            sink = value;
        }
        if (bench_now() - start < reading) reading = bench_now() - start;
    }
    printf("numbers: %.0f ns to print shortest (with a sine), %.0f ns to read\n", 1e9 * best / N,
           1e9 * reading / N);
}

// ---- models --------------------------------------------------------------------------------

// The text of a model: a chain of n bodies on a free base, joint axes in turn along y, x, z.
void bench_write_chain(Buffer *b, int n)
{
    static const char *const axes[] = {"0, 0, 1", "0, 1, 0", "1, 0, 0"};
    tr_buffer_print(b, "trundle: 1\nparameters: {l: 0.5, m: 1, J: 0.02}\nbodies:\n");
    for (int i = 0; i < n; i++) {
        tr_buffer_print(b, "  b%d:\n", i);
        if (i)
            tr_buffer_print(
                b, "    parent: b%d\n    joint: {type: revolute, axis: \"%s\", at: \"0, 0, -l\"}\n",
                i - 1, axes[i % 3]);
        else
            tr_buffer_print(b, "    joint: {type: free}\n");
        tr_buffer_print(
            b, "    mass: m\n    com: 0, 0, -l/2\n    inertia: {xx: J, yy: J, zz: J/10}\n");
    }
}

static size_t operations_of(System *s)
{
    Expr *rates = calloc(s->input_count, sizeof *rates);
    size_t count = 0;
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_VELOCITY) rates[count++] = s->inputs[i].rate;
    tr_output(s, "accelerations", rates, count, 1, NULL);
    const tr_compile_options fixed = {.size = sizeof fixed, .fix_parameters = true};
    tr_program *p = tr_compile(s, "accelerations", &fixed, NULL);
    const size_t operations = tr_program_sizes(p).operations;
    tr_program_free(p);
    free(rates);
    return operations;
}

static void bench_chain(int n)
{
    Buffer text = {0};
    bench_write_chain(&text, n);
    tr_model *model = tr_model_parse(text.at, NULL);
    double best = 1e9;
    size_t operations = 0, nodes = 0;
    for (int round = 0; round < (n > 200 ? 2 : 5); round++) {
        const double start = bench_now();
        System *s = tr_derive(model, NULL, NULL);
        if (bench_now() - start < best) best = bench_now() - start;
        nodes = s->graph->count;
        if (!round) operations = operations_of(s);
        tr_system_free(s);
    }
    printf("chain: %4d bodies on a free base derived in %7.2f ms (aim 100 for 100), %6zu "
           "operations, %.0f a body, "
           "%zu nodes\n",
           n, 1e3 * best, operations, (double)operations / n, nodes);
    tr_model_free(model);
    tr_buffer_free(&text);
}

// ---- runs ----------------------------------------------------------------------------------

// The 2017 paper's method, 5 s of the bicycle in steps of 5 ms (Matlab took 2.6 s), without
// projection and with it
static void bench_bicycle(void)
{
    for (int projected = 0; projected < 2; projected++) {
        tr_error err = {0};
        tr_model *model = tr_model_read("models/bicycle.yaml", &err);
        System *s = tr_derive(model, NULL, &err);
        tr_simulate_options o = tr_simulate_defaults(s);
        o.end = 5, o.every = 0.005, o.method = "pece", o.step = 0.005, o.no_project = !projected;
        tr_summary summary = {0};
        const double start = bench_now();
        if (!tr_simulate(s, &o, &summary, &err)) printf("bicycle: %s\n", err.text);
        const double took = bench_now() - start;
        printf("bicycle: 5 s by pece at 5 ms %s projection in %.1f ms, wheels off the ground by "
               "%.1e m, energy to %.1e\n",
               projected ? "with" : "without", 1e3 * took, summary.position_error,
               summary.energy_error);
        tr_system_free(s);
        tr_model_free(model);
    }
}

// The same with the plan made, a row every step to memory
static void bench_bicycle_again(void)
{
    enum { STEPS = 1000 };
    tr_error err = {0};
    tr_model *model = tr_model_read("models/bicycle.yaml", &err);
    System *s = tr_derive(model, NULL, &err);
    tr_plan *plan = tr_plan_new(s, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "pece", o.step = 0.005, o.no_project = true;
    tr_run *run = tr_run_new(plan, &o, &err);
    const size_t columns = tr_plan_column_count(plan);
    double *rows = calloc((STEPS + 1) * columns, sizeof *rows), best = (double)INFINITY;
    for (int round = 0; round < 30 && !err.status; round++) {
        const double start = bench_now();
        tr_run_reset(run, &err);
        for (size_t k = 0; k <= STEPS && tr_run_advance(run, o.step * (double)k, &err); k++)
            memcpy(rows + k * columns, tr_run_row(run), columns * sizeof *rows);
        best = fmin(best, bench_now() - start);
    }
    if (err.status) printf("bicycle: %s\n", err.text);
    printf("bicycle: the same without projection, with the plan made, %d rows to memory: %.2f ms "
           "(aim 1.2)\n",
           STEPS + 1, 1e3 * best);
    free(rows);
    tr_run_free(run);
    tr_plan_free(plan);
    tr_system_free(s);
    tr_model_free(model);
}

// Accelerations alone, and with their derivatives by positions and velocities: operations and time
static void bench_jacobian(const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "models/%s.yaml", name);
    tr_error err = {0};
    tr_model *model = tr_model_read(path, &err);
    System *s = tr_derive(model, NULL, &err);
    tr_plan *plan = tr_plan_new(s, &err);
    static const char *const outputs[] = {"wdot", "wdot wdot_q wdot_w"};
    size_t operations[2] = {0};
    double seconds[2] = {(double)INFINITY, (double)INFINITY};
    double *in = calloc(tr_input_count(s), sizeof *in), *out = calloc(100000, sizeof *out);
    tr_initial(plan, in, tr_input_count(s), &err);
    for (int i = 0; i < 2 && !err.status; i++) {
        const tr_compile_options fixed = {.size = sizeof fixed, .fix_parameters = true};
        tr_program *program = tr_compile_in(plan, outputs[i], &fixed, &err);
        tr_workspace *work = tr_workspace_new(program, &err);
        operations[i] = tr_program_sizes(program).operations;
        for (int repeat = 0; repeat < 20; repeat++) {
            const double start = bench_now();
            for (int k = 0; k < 100; k++) tr_evaluate(program, work, in, out);
            seconds[i] = fmin(seconds[i], (bench_now() - start) / 100);
        }
        tr_workspace_free(work);
        tr_program_free(program);
    }
    if (err.status) printf("linear %s: %s\n", name, err.text);
    printf("linear %s: accelerations in %zu operations, %.2f us; with their derivatives %zu, %.2f "
           "us; the derivatives cost %.1f times the accelerations\n",
           name, operations[0], 1e6 * seconds[0], operations[1], 1e6 * seconds[1],
           (double)(operations[1] - operations[0]) / (double)operations[0]);
    free(in);
    free(out);
    tr_plan_free(plan);
    tr_system_free(s);
    tr_model_free(model);
}

// Eigenvalues of the bicycle at 201 speeds, critical ones found, from the derived model on
static void bench_sweep(void)
{
    tr_error err = {0};
    tr_model *model = tr_model_read("models/bicycle.yaml", &err);
    const tr_derive_options options = {.size = sizeof options, .case_name = "straight"};
    double best = (double)INFINITY;
    for (int repeat = 0; repeat < 5; repeat++) {
        System *s = tr_derive(model, &options, &err);
        const double start = bench_now();
        tr_locus *sweep = tr_locus_new(s, "speed0", 0.05, 10, 0.05, &err);
        best = fmin(best, bench_now() - start);
        if (sweep && repeat == 0)
            for (size_t i = 0; i < sweep->critical_count; i++)
                printf("linear bicycle: %s at %.15g m/s\n",
                       sweep->critical[i].frequency > 0 ? "weave" : "capsize",
                       sweep->critical[i].value);
        tr_locus_free(sweep);
        tr_system_free(s);
    }
    if (err.status) printf("linear bicycle: %s\n", err.text);
    printf("linear bicycle: eigenvalues at 201 speeds in %.3f s\n", best);
    tr_model_free(model);
}

// Runs of length zero of one plan: as the model is, and after a parameter was set, with the first
// row
typedef struct Again {
    tr_plan *plan;
    tr_run *run;
    const char *parameter;
    double value;
    tr_error err;
} Again;

static void run_again(Again *a)
{
    tr_run *run = tr_run_new(a->plan, NULL, &a->err);
    sink = run ? tr_run_row(run)[0] : 0;
    tr_run_free(run);
}

static void run_changed(Again *a)
{
    a->value *= 1 + 1e-6; // it must not be the same twice
    tr_run_set(a->run, a->parameter, a->value, &a->err);
    if (tr_run_reset(a->run, &a->err)) sink = tr_run_row(a->run)[0];
}

// The least time [s]
static double best_of(void (*call)(Again *), Again *a)
{
    double best = (double)INFINITY;
    for (int round = 0; round < 300; round++) {
        const double start = bench_now();
        call(a);
        best = fmin(best, bench_now() - start);
    }
    return best;
}

static void bench_second_run(const char *name, const char *parameter, double value)
{
    char path[200];
    snprintf(path, sizeof path, "models/%s.yaml", name);
    Again a = {.parameter = parameter, .value = value};
    tr_model *model = tr_model_read(path, &a.err);
    System *s = tr_derive(model, NULL, &a.err);
    a.plan = tr_plan_new(s, &a.err);
    a.run = tr_run_new(a.plan, NULL, &a.err);
    best_of(run_again, &a), best_of(run_changed, &a);
    const size_t before = mallinfo2().uordblks;
    const double same = best_of(run_again, &a), changed = best_of(run_changed, &a);
    const size_t after = mallinfo2().uordblks;
    if (a.err.status) printf("second run of %s: %s\n", name, a.err.text);
    printf(
        "second run of %s, of length zero: %.1f us (aim 100), with another %s %.1f us (aim 300); "
        "%td bytes stay (aim 0)\n",
        name, 1e6 * same, parameter, 1e6 * changed, (ptrdiff_t)after - (ptrdiff_t)before);
    tr_run_free(a.run);
    tr_plan_free(a.plan);
    tr_system_free(s);
    tr_model_free(model);
}

// A cart that leaves a shaken plate, and lands again, wheel by wheel
static void bench_switches(double end)
{
    tr_error err = {0};
    tr_model *model = tr_model_read("models/shaker.yaml", &err);
    System *s = tr_derive(model, NULL, &err);
    tr_simulate_options o = tr_simulate_defaults(s);
    o.end = end;
    tr_summary summary = {0};
    const double start = bench_now();
    if (!tr_simulate(s, &o, &summary, &err)) printf("switches: %s\n", err.text);
    const double took = bench_now() - start;
    printf("switches: shaker to %g s in %.2f s, %zu steps, %zu switches, %.0f evaluations of any "
           "program for each (aim 300), steps included\n",
           end, took, summary.steps, summary.switches,
           (double)summary.all_evaluations / (double)summary.switches);
    tr_system_free(s);
    tr_model_free(model);
}

static void bench_steps(void)
{
    static const char *const names[][2] = {{"bicycle", "free"}, {"sk8o", "balance"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[200];
        snprintf(path, sizeof path, "models/%s.yaml", names[i][0]);
        tr_model *model = tr_model_read(path, NULL);
        bench_step(model, names[i][0], names[i][1]);
        tr_model_free(model);
    }
    Buffer text = {0};
    bench_write_chain(&text, 30);
    tr_model *model = tr_model_parse(text.at, NULL);
    bench_step(model, "chain 30", NULL);
    tr_model_free(model);
    tr_buffer_free(&text);
}

// What the same code always gives, for tests/operations.txt
static bool print_counts(void)
{
    const bool good = bench_model_counts();
    Buffer text = {0};
    bench_write_chain(&text, 100);
    tr_model *model = tr_model_parse(text.at, NULL);
    System *s = tr_derive(model, NULL, NULL);
    printf("\n100 bodies in a chain on a free base: %zu operations\n", operations_of(s));
    tr_system_free(s);
    tr_model_free(model);
    tr_buffer_free(&text);
    return good;
}

static void compare(void)
{
    bench_native();
#ifdef TR_MUJOCO
    bench_mujoco();
#else
    printf("mujoco: no comparison, for it is not installed (tools/setup check)\n");
#endif
}

static void slopes(void)
{
    static const size_t of[][2] = {{4, 6500}, {10, 26000}, {30, 240000}, {100, 0}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) bench_slopes((int)of[i][0], of[i][1]);
}

static void print_times(void)
{
    bench_start();
    bench_graph();
    bench_derivative();
    static const int links[] = {2, 6, 18, 90, 700};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) bench_program(links[i]);
    bench_functions();
    bench_table(100);
    bench_table(2000);
    bench_numbers();
    static const int bodies[] = {4, 10, 30, 100, 1000};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) bench_chain(bodies[i]);
    bench_bicycle();
    bench_bicycle_again();
    static const char *const differentiated[] = {"bicycle", "kick_scooter", "rolling_disc",
                                                 "mobile_pendulum", "sk8o_open"};
    for (size_t i = 0; i < sizeof differentiated / sizeof *differentiated; i++)
        bench_jacobian(differentiated[i]);
    slopes();
    bench_sweep();
    bench_second_run("bicycle", "m0", 85);
    bench_second_run("bicycle", "theta", 0.3);
    bench_second_run("sk8o", "m_base", 4.5);
    bench_steps();
    bench_batch();
    bench_runs(NULL);
    bench_settle();
    bench_equations(false);
    bench_switches(5);
    bench_switches(97);
    compare();
    printf("\n");
    bench_model_times();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "times";
    bool good = true;
    if (strcmp(what, "counts") == 0)
        good = print_counts();
    else if (strcmp(what, "times") == 0)
        print_times();
    else if (strcmp(what, "compare") == 0)
        compare();
    else if (strcmp(what, "steps") == 0)
        bench_steps();
    else if (strcmp(what, "slopes") == 0)
        slopes();
    else if (strcmp(what, "batch") == 0)
        bench_batch();
    else if (strcmp(what, "runs") == 0)
        bench_runs(argc > 2 ? argv[2] : NULL); // against that program
    else if (strcmp(what, "settle") == 0)
        bench_settle();
    else if (strcmp(what, "gpu") == 0)
        bench_gpu(argv + 2, argc - 2);
    else if (strcmp(what, "gpu-sweep") == 0)
        bench_runs_there(argc > 2 ? strtoul(argv[2], NULL, 10) : A_LOT);
    else if (strcmp(what, "bits") == 0)
        good = bench_bits(argv + 2, argc - 2);
    else if (strcmp(what, "equations") == 0)
        bench_equations(true);
    else if (strcmp(what, "page") == 0) {
        printf(
            "# Speed\n\n<!-- Written by `make table`; do not edit. -->\n\n"
            "Times of one core of one machine that does other things as well; the best of several "
            "rounds. What does not\ndepend on a machine, the lengths of all equations, is in "
            "[tests/operations.txt](../tests/operations.txt), which\na test compares. In the "
            "table: operations from the state to the accelerations of what is free, with\n"
            "parameters fixed; the same with reactions and motor torques; microseconds of one "
            "evaluation by machine code;\nnanoseconds an operation; milliseconds to read, "
            "derive "
            "and reduce a model, and to the first number of `eval`. Batches on GPUs are in "
            "[gpu.md](gpu.md).\n\n```\n");
        print_times();
        printf("```\n");
    } else {
        fprintf(stderr, "usage: trundle_bench [times | counts | compare | page | steps | batch | "
                        "runs [PROGRAM] | settle | gpu [NAME...] | gpu-sweep [RUNS] | bits "
                        "MODEL.yaml... | equations | slopes]\n"
                        "runs PROGRAM: sweeps against that trundle, as an older one\n");
        return 2;
    }
    return !good || ferror(stdout) || fflush(stdout) != 0;
}
