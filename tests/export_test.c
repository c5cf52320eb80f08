// SPDX-License-Identifier: Apache-2.0
// Generated C: that it compiles without a word by whatever compiler, and what it computes. The bits
// of every model are in export_models_test.c.
#include "exports.h"

#include "export/identifier.h"

#define QUICK "cc -std=c99 -O0 -ffp-contract=off " STRICT

// ---- compilers -----------------------------------------------------------------------------

static void test_compilers_are_silent(void **state)
{
    (void)state;
    static const char *const models[] = {"rolling_disc", "tyre_on_bump"};
    for (size_t i = 0; i < 2; i++) {
        tr_system *system = system_called(models[i], NULL);
        export_to(system, NULL, in_folder("."));
        compile_by_all();
        tr_system_free(system);
    }
    tr_system *system = system_called("bicycle", NULL);
    tr_export_options how = tr_export_defaults();
    how.single = true;
    export_to(system, &how, in_folder("."));
    compile_only("gcc -std=c99 -O0 -Wdouble-promotion " STRICT);
    compile_only("clang++-14 -x c++ -O0 " STRICT);
    tr_system_free(system);
}

// Of the C library no more than it says
static void test_symbols(void **state)
{
    (void)state;
    tr_system *model = system_called("tyre_on_bump", NULL);
    export_to(model, NULL, in_folder("."));
    compile_only("cc -std=c99 -O0 -fno-pic -fno-stack-protector");
    char command[600];
    snprintf(command, sizeof command,
             "nm -u %s | grep -vE ' (fma|sqrt|fabs|floor)$' > %s; ! test -s %s", in_folder("m.o"),
             in_folder("nm.txt"), in_folder("nm.txt"));
    if (system(command) != 0) fail_msg("%s", command);
    tr_export_options how = tr_export_defaults();
    how.single = true;
    export_to(model, &how, in_folder("."));
    compile_only("cc -std=c99 -O0 -fno-pic -fno-stack-protector");
    snprintf(command, sizeof command,
             "nm -u %s > %s; grep -q ' fmaf$' %s && ! grep -vE ' (fmaf|sqrtf|fabsf|floorf)$' %s",
             in_folder("m.o"), in_folder("nm.txt"), in_folder("nm.txt"), in_folder("nm.txt"));
    if (system(command) != 0) fail_msg("%s", command);
    tr_system_free(model);
}

// ---- numbers -------------------------------------------------------------------------------

static double largest_difference(const double *a, const double *b, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, relative(a[i], b[i]));
    return most;
}

static void test_jacobian(void **state)
{
    (void)state;
    static const char *const models[] = {"rolling_disc", "cart_pole", "tyre"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        tr_system *system = system_called(models[m], NULL);
        export_to(system, NULL, in_folder("."));
        Exported e = load_exported(in_folder("."), QUICK);
        const size_t n = e.nx + e.nu;
        double *dense = room_for(n * e.nx), *up = room_for(e.nx), largest = 1;
        e.jacobian(0.1, e.x, e.u, e.p, e.mode, e.J, e.w);
        for (size_t k = 0; k < e.nj; k++) {
            assert_true(e.row[k] < (int)e.nx && e.column[k] < (int)n);
            dense[(size_t)e.row[k] * n + (size_t)e.column[k]] = e.J[k];
            largest = fmax(largest, fabs(e.J[k]));
        }
        for (size_t k = 0; k < n; k++) {
            double *at = k < e.nx ? &e.x[k] : &e.u[k - e.nx];
            const double was = *at, h = 1e-6 * fmax(1, fabs(was));
            if (isnan(was)) continue;
            *at = was + h;
            e.rates(0.1, e.x, e.u, e.p, e.mode, up, e.w);
            *at = was - h;
            e.rates(0.1, e.x, e.u, e.p, e.mode, e.dx, e.w);
            *at = was;
            for (size_t i = 0; i < e.nx; i++)
                assert_close((up[i] - e.dx[i]) / (2 * h) / largest, dense[i * n + k] / largest,
                             1e-7);
        }
        free(dense);
        free(up);
        unload_exported(&e);
        tr_system_free(system);
    }
}

// With other parameters, against a run that starts so
static void check_start(const char *model, const char *name, double value)
{
    tr_error err = {0};
    tr_system *system = system_called(model, NULL);
    export_to(system, NULL, in_folder("."));
    Exported e = load_exported(in_folder("."), QUICK);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run *run = tr_run_new(plan, NULL, &err);
    tr_run_set(run, name, value, &err);
    if (!tr_run_reset(run, &err)) fail_msg("%s", err.text);
    for (size_t k = 0; k < e.np; k++)
        if (strcmp(e.p_name[k].name, name) == 0) e.p[k] = value;
    assert_int_equal(e.initial(e.p, e.x, e.mode, e.w), 0);
    const double *row = tr_run_row(run);
    size_t compared = 0;
    for (size_t k = 0; k < e.nx; k++)
        for (size_t i = 0; i < tr_plan_column_count(plan); i++)
            if (strcmp(tr_plan_column_name(plan, i), e.x_name[k].name) == 0) {
                if (relative(e.x[k], row[i]) > 1e-9)
                    fail_msg("%s: %s is %.12g, not %.12g", model, e.x_name[k].name, e.x[k], row[i]);
                compared++;
            }
    assert_true(compared > 0);
    tr_run_free(run);
    tr_plan_free(plan);
    unload_exported(&e);
    tr_system_free(system);
}

static void test_start(void **state)
{
    (void)state;
    check_start("bicycle", "speed0", 4.5);
    check_start("bicycle", "roll_rate0", 0.2);
    check_start("cart_pole", "tilt", 0.3);
    check_start("four_bar", "a", 0.11);
}

// a b + c in place of fma, single precision, parameters as numbers: about the same numbers
static void compare_variant(const char *flags, const tr_export_options *how, double bound)
{
    tr_system *system = system_called("rolling_disc", NULL);
    export_to(system, NULL, in_folder("."));
    Exported e = load_exported(in_folder("."), QUICK);
    for (int k = 0; k < 100; k++) e.step(k * 0.01, 0.01, e.x, e.u, e.p, e.mode, e.w);
    double *x = room_for(e.nx);
    memcpy(x, e.x, e.nx * sizeof *x);
    unload_exported(&e);
    export_to(system, how, in_folder("."));
    e = load_exported(in_folder("."), flags);
    for (int k = 0; k < 100; k++) e.step(k * 0.01, 0.01, e.x, e.u, e.p, e.mode, e.w);
    const double off = largest_difference(x, e.x, e.nx);
    if (bound > 0)
        assert_below(off, bound);
    else
        assert_true(off == 0);
    if (how && how->fix) assert_int_equal(e.np, 0);
    free(x);
    unload_exported(&e);
    tr_system_free(system);
}

// Where fma is slow: no call of it, and rates but for their last bits
static void test_no_fma(void **state)
{
    (void)state;
    static const char *const models[] = {"bicycle", "rolling_disc", "cart_pole"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        tr_system *model = system_called(models[m], NULL);
        export_to(model, NULL, in_folder("."));
        Exported e = load_exported(in_folder("."), QUICK);
        e.rates(0.1, e.x, e.u, e.p, e.mode, e.dx, e.w);
        Exported plain = load_exported(in_folder("."), QUICK " -DM_NO_FMA");
        plain.rates(0.1, e.x, e.u, e.p, e.mode, plain.dx, plain.w);
        assert_below(largest_difference(e.dx, plain.dx, e.nx), 2e-12);
        compile_only("cc -std=c99 -O0 -DM_NO_FMA");
        char command[600];
        snprintf(command, sizeof command, "! nm -u %s | grep -q fma", in_folder("m.o"));
        if (system(command) != 0) fail_msg("%s: %s", models[m], command);
        unload_exported(&plain);
        unload_exported(&e);
        tr_system_free(model);
    }
}

static void test_variants(void **state)
{
    (void)state;
    tr_export_options how = tr_export_defaults();
    compare_variant(QUICK " -DM_NO_FMA", NULL, 1e-9);
    compare_variant("clang-14 -std=c99 -O1", NULL, 0);
    compare_variant("cc -std=c99 -O1 -fsanitize=undefined -fno-sanitize-recover=all", NULL, 0);
    how.fix = "all"; // the same operations on the same numbers
    compare_variant(QUICK, &how, 0);
    how = tr_export_defaults();
    how.open = true;
    compare_variant(QUICK, &how, 1e-9);
}

// The elementary functions in single precision, against the C library's in double
static void test_single(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *model = system_from(
        "trundle: 1\nname: all\nbodies: {b: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: "
        "q}, mass: 1}}\ninputs: {a: 0.3, b: 0.4}\noutputs: {y1: sin(a), y2: cos(a), y3: tan(a), "
        "y4: asin(sin(a)), y5: acos(cos(a)), y6: atan(a), y7: 'atan2(a, b)', y8: exp(a), "
        "y9: log(abs(a)), y10: 'hypot(a, b)', y11: 'min(a, b)', y12: 'max(a, b)', y13: floor(a), "
        "y14: 'if(a < b, a, b)', y15: sqrt(abs(a))}\n");
    tr_export_options how = tr_export_defaults();
    how.single = true, how.name = "m", how.folder = in_folder(".");
    if (!tr_export(model, &how, &err)) fail_msg("%s", err.text);
    FILE *file = fopen(in_folder("try.c"), "w");
    fputs(
        "#include \"m.h\"\n#include <math.h>\n#include <stdio.h>\n"
        "int main(void) { float x[9] = {0}, u[9], p[9] = {0}, y[60], w[999]; double worst = 0;\n"
        "for (int i = -4000; i <= 4000; i++) { double a = u[0] = 0.0101f * (float)i;\n"
        "double b = u[1] = 1.7f - 0.013f * (float)i; if (i == 0) continue;\n"
        "m_outputs(0, x, u, p, 0, y, w);\n"
        "double f[] = {sin(a), cos(a), tan(a), asin(sin(a)), acos(cos(a)), atan(a), atan2(a, b),\n"
        "exp(a), log(fabs(a)), hypot(a, b), fmin(a, b), fmax(a, b), floor(a), a < b ? a : b,\n"
        "sqrt(fabs(a))};\n"
        "for (int k = 0; k < 15; k++) { double size = fabs(f[k]) + (k < 5 ? 1 : 1e-2);\n"
        "if (k == 3 || k == 4) size *= 3000; /* a sine near 1 has lost its digits */\n"
        "if (k == 2) size = 1 + f[k] * f[k] + fabs(f[k]);\n"
        "double off = fabs(y[k] - f[k]) / size; if (off > worst) worst = off;\n"
        "if (off > 4e-7) { printf(\"y%d(%g) = %g, not %g\\n\", k + 1, a, y[k], f[k]); return 1; } "
        "}\n"
        "} printf(\"single: worst %.2g\\n\", worst); return 0; }\n",
        file);
    fclose(file);
    char command[900];
    snprintf(command, sizeof command, "cd %s && cc -std=c99 -O1 -o try try.c m.c -lm && ./try",
             in_folder("."));
    if (system(command) != 0) fail_msg("%s", command);
    tr_system_free(model);
}

// Ranges that are wider than single precision are infinite there; a value is refused.
static void test_beyond_single(void **state)
{
    (void)state;
    static const char *const languages[] = {"c", "cuda"};
    static const char text[] =
        "trundle: 1\nname: wide\nparameters: {m: {value: 2, min: -1.0e+39, max: 1.0e+100}, k: %s}\n"
        "bodies: {b: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: q}, mass: m}}\n"
        "roles: {q: {torque: -k*q}}\n";
    for (size_t i = 0; i < 2; i++) {
        char model[400];
        tr_error err = {0};
        tr_export_options how = tr_export_defaults();
        how.single = true, how.language = languages[i];
        snprintf(model, sizeof model, text, "3");
        tr_system *system = system_from(model);
        export_to(system, &how, in_folder("."));
        if (i)
            write_bytes(in_folder("m.c"), "#include \"m.cuh\"\n", 17);
        else
            compile_by_all();
        compile_only("g++ -x c++ -std=c++11 -fsyntax-only -Wall -Wextra -Werror");
        char *code = read_text(in_folder(i ? "m.cuh" : "m.c"));
        assert_non_null(strstr(code, "{\"m\", \"\", 2.0f, -HUGE_VALF, HUGE_VALF}"));
        free(code);
        tr_system_free(system);
        snprintf(model, sizeof model, text, "1.0e+39");
        system = system_from(model);
        how.name = "m", how.folder = in_folder(".");
        assert_false(tr_export(system, &how, &err));
        assert_string_equal(err.text, "'k' is 1e+39, which single precision cannot hold: its "
                                      "numbers end at 3.4e+38");
        tr_system_free(system);
    }
}

// ---- names ---------------------------------------------------------------------------------

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *of, *file, *title;
    } names[] = {{"here/a.v1.yaml", "a_v1", "a_v1_yaml"},
                 {"a.v2.yaml", "a_v2", "a_v2_yaml"},
                 {"v1.2-beta", "v1", "v1_2_beta"},
                 {"../up", "up", "up"},
                 {".yaml", "model", "model_yaml"},
                 {"7.yaml", "model_7", "model_7_yaml"},
                 {"7", "model_7", "model_7"},
                 {"..", "model", "model"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[IDENTIFIER_LONGEST];
        tr_identifier_of_file(names[i].of, name, sizeof name);
        assert_string_equal(name, names[i].file);
        tr_identifier_of_title(names[i].of, name, sizeof name);
        assert_string_equal(name, names[i].title);
    }
}

static const char hostile[] =
    "trundle: 1\n"
    "name: \"*/ int main(void){system('rm');} /* \\\"; import os #\\\\ \\n ?"
    "?/ ${x} `id` \\u00e9 @name@\"\n"
    "parameters: {int: 0.5, class: 2, a.b: 1.5, a_b: 1.5, lambda: 3, FMA: 1.25, el_sin: 1.5}\n"
    "inputs: {for: 0, end: 1.5}\n"
    "bodies:\n"
    "  double:\n"
    "    joint: {type: revolute, axis: '0, 1, 0', coordinate: return}\n"
    "    mass: class * FMA\n"
    "    com: 0, 0, -int\n"
    "  static:\n"
    "    parent: double\n"
    "    joint: {type: revolute, axis: '0, 1, 0', at: '0, 0, -int * el_sin', coordinate: "
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    "}\n"
    "    mass: class * a.b / a_b\n"
    "    com: 0, 0, -int\n"
    "roles: {return: {torque: for * end + lambda}}\n"
    "initial: {return: 1}\n"
    "outputs: {while: return * int, do: a.b, t1: sin(return), w: 2, x: 3}\n";

static void test_hostile_names(void **state)
{
    (void)state;
    tr_system *system = system_from(hostile);
    export_to(system, NULL, in_folder("."));
    compile_by_all();
    Exported e = load_exported(in_folder("."), QUICK);
    for (size_t k = 0; k < e.np; k++) assert_true(isfinite(e.p_name[k].value));
    assert_string_equal(e.p_name[0].name, "int");
    assert_string_equal(e.y_name[0].name, "while");
    unload_exported(&e);
    tr_system_free(system);
}

static void check_refused(const tr_export_options *how, const char *words)
{
    tr_error err = {0};
    tr_system *system = system_called("cart_pole", NULL);
    assert_false(tr_export(system, how, &err));
    assert_string_equal(err.text, words);
    tr_system_free(system);
}

// More than a megabyte of tables
static void test_large_tables(void **state)
{
    (void)state;
    tr_error err = {0};
    FILE *file = fopen(in_folder("large.csv"), "w");
    fprintf(file, "t,v\n");
    for (int k = 0; k < 50000; k++) fprintf(file, "%d,%d\n", k, k % 7);
    fclose(file);
    static const char text[] =
        "trundle: 1\nname: large\ntables: {v: {file: large.csv, x: t, value: v, degree: "
        "1}}\nbodies: {b: "
        "{joint: {type: prismatic, axis: '1, 0, 0', coordinate: q}, mass: 1}}\nroles: {q: {torque: "
        "v(t)}}\n";
    write_bytes(in_folder("large.yaml"), text, strlen(text));
    tr_model *model = tr_model_read(in_folder("large.yaml"), &err);
    tr_system *system = tr_derive(model, NULL, &err);
    if (!system) fail_msg("%s", err.text);
    static const char *const languages[] = {"c", "octave", "python", "casadi"};
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        tr_export_options how = tr_export_defaults();
        how.language = languages[i], how.folder = in_folder(".");
        err = (tr_error){0};
        assert_false(tr_export(system, &how, &err));
        assert_string_equal(
            err.text, "tables of this model take 1.2 MB: generated code has at most 1 MB of them");
    }
    tr_system_free(system);
    tr_model_free(model);
}

static void test_refusals(void **state)
{
    (void)state;
    tr_export_options how;
    tr_export_fill(&how, sizeof how);
    check_refused(&how, "the folder that code is to be written into is missing");
    how.folder = in_folder("."), how.language = "cobol";
    check_refused(&how,
                  "there is no language 'cobol'; there are 'c', 'octave', 'matlab', 'python', "
                  "'casadi', 'fmu', 'sympy', 'ptx', 'cuda'");
    how = tr_export_defaults();
    how.folder = in_folder("."), how.fix = "m,tillt";
    check_refused(&how, "there is no parameter 'tillt'; did you mean 'tilt'?");
    how.fix = NULL, how.outputs = "tipp";
    check_refused(&how, "there is no output 'tipp'; did you mean 'tip'?");
    how.outputs = "tip,angle_rate";
    check_refused(&how, "'angle_rate' is no output but part of the state, which is all in x");
    how.outputs = NULL, how.form = "short";
    check_refused(&how, "there is no form 'short': it is auto, reduced or unreduced");
    how.form = "auto", how.language = "python", how.single = true;
    check_refused(&how, "only C, CUDA and PTX have numbers of single precision");
    how.language = "c", how.single = false, how.step = 0.01;
    check_refused(&how, "--fmi, --kind, --step and --sources-only are of FMUs, and 'c' is none");
    how.step = 0, how.folder = in_folder("m.c");
    char words[600];
    snprintf(words, sizeof words, "'%s' is no folder", how.folder);
    write_bytes(how.folder, "", 0);
    check_refused(&how, words);
    how.folder = in_folder(".");
    tr_error err = {0};
    tr_system *system = system_called("hopping_wheel", NULL);
    how.form = "auto", how.language = "python";
    assert_false(tr_export(system, &how, &err));
    assert_non_null(strstr(err.text, "may open, close or slip"));
    err = (tr_error){0};
    how.form = "unreduced";
    assert_false(tr_export(system, &how, &err));
    assert_string_equal(err.text, "the unreduced form is C, or an FMU");
    tr_system_free(system);
}

// ---- the demo ------------------------------------------------------------------------------

static void test_demo(void **state)
{
    (void)state;
    tr_system *model = system_called("cart_pole", NULL);
    tr_export_options how = tr_export_defaults();
    how.outputs = "tip";
    export_to(model, &how, in_folder("."));
    char command[600];
    snprintf(command, sizeof command,
             "cd %s && make -s && ./m_demo > demo.csv && test $(wc -l < demo.csv) = 1002",
             in_folder("."));
    if (system(command) != 0) fail_msg("%s", command);
    char *rows = read_text(in_folder("demo.csv"));
    assert_non_null(strstr(rows, "t,x,angle,x_rate,angle_rate,tip\n"));
    free(rows);
    tr_system_free(model);
}

// Two models in one folder, and C over what CasADi needs
static void keep_words(void *owner, const char *words) { snprintf(owner, 300, "%s", words); }

static void test_one_folder(void **state)
{
    (void)state;
    char words[300] = "", command[600];
    tr_system *model = system_called("cart_pole", NULL);
    tr_export_options how = tr_export_defaults();
    how.warn = keep_words, how.owner = words, how.outputs = "";
    how.name = "v1.2-beta";
    export_to(model, &how, in_folder("."));
    how.name = "v1.3", how.language = "casadi";
    export_to(model, &how, in_folder("."));
    snprintf(command, sizeof command,
             "cd %s && rm -f m* && make -s && ./v1_2_beta_demo > 2.csv && ./v1_3_demo > 3.csv && "
             "cmp 2.csv "
             "3.csv && make -s && make -s clean && ! ls *.o *_demo 2> no.txt",
             in_folder("."));
    if (system(command) != 0) fail_msg("%s", command);
    assert_string_equal(words, "");
    how.language = "c";
    export_to(model, &how, in_folder("."));
    assert_string_equal(words, "v1_3_casadi.c of this folder needs functions that the new v1_3.c "
                               "has not: export to casadi again, or C into another folder or by "
                               "another name");
    tr_system_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compilers_are_silent),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_jacobian),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_single),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_large_tables),
        cmocka_unit_test(test_demo),
        cmocka_unit_test(test_no_fma),
        cmocka_unit_test(test_beyond_single),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_one_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
