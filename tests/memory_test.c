// SPDX-License-Identifier: Apache-2.0
// Memory that runs out (failing.h) in formulas, files, models, runs and what is found of them.
#include "base/database.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/xml.h"
#include "expr/matrix.h"
#include "expr/system.h"
#include "failing.h"
#include "fmus.h"
#include "models.h"
#include "plans.h"

#include <sys/stat.h>

// ---- jobs: each does something whole and cleans up; true when it worked --------------------

static bool evaluate(tr_program *program, const double *in, double expected, tr_error *err)
{
    tr_workspace *workspace = tr_workspace_new(program, err);
    bool good = workspace != NULL;
    if (good) {
        double out[8];
        const long before = calls;
        tr_evaluate(program, workspace, in, out);
        assert_int_equal(calls, before); // evaluation never allocates
        good = is_close(out[0], expected, 1e-14);
        double rows[3 * 8]; // one by one where there is no room for several
        tr_evaluate_many(program, workspace, 3, in, 0, rows, 8);
        for (int i = 0; i < 3; i++) assert_true(rows[8 * i] == out[0]);
    }
    tr_workspace_free(workspace);
    return good;
}

static bool formulas_job(tr_error *err)
{
    System *s = tr_system_new(err);
    const Expr x = tr_input(s, "x", TR_POSITION, 0, err);
    const Expr v = tr_input(s, "v", TR_VELOCITY, 0, err);
    tr_input(s, "k", TR_PARAMETER, 2, err);
    tr_rate_set(s, x, v, err);
    const double px[] = {0, 1, 2, 3}, py[] = {0, 1, 4, 9};
    tr_define_table(s, "square", px, 4, NULL, 1, py, 3, true, err);
    tr_define(s, "ramp(a, b)", "if(a < b, a^3, k*b)", err);
    tr_define(s, "work", "ramp(x, v) + d(square(x)*k)", err);
    const Expr y[] = {tr_formula(s, "work + sin(x)^2", err), tr_formula(s, "x*v", err)};
    size_t count = 0;
    const Expr inputs[] = {x, v};
    const tr_entry *entries = s ? tr_jacobian(s, y, 2, inputs, 2, &count) : NULL;
    const char *text = s && y[0].id ? tr_text(s, y[0]) : NULL;
    tr_output(s, "y", y, 2, 1, err);
    const tr_compile_options options = {.size = sizeof options, .fix_parameters = true};
    tr_program *program = tr_compile(s, "y", &options, err);
    const double in[] = {1, 2, 2};
    bool good = evaluate(program, in, 1 + 2 * 2 * 2 + sin(1) * sin(1), err);
    good = good && entries && count == 4 && text;
    if (s && (!entries || !text))
        tr_fail_memory(err); // they return NULL, and leave the words to us
    tr_program_free(program);
    tr_system_free(s);
    return good;
}

static bool matrix_job(tr_error *err)
{
    System *s = tr_system_new(err);
    const Expr x = tr_input(s, "x", TR_POSITION, 0, err);
    if (!s || !x.id) {
        tr_system_free(s);
        return false;
    }
    const uint32_t order[] = {2, 0, 1};
    Matrix a = tr_matrix_identity(s->graph, 3);
    set(a, 0, 1, x);
    set(a, 1, 0, x);
    Matrix b = tr_matrix_product(tr_matrix_transpose(a), a);
    const Matrix solved = tr_ldlt_solve(tr_ldlt(b), a);
    const Matrix again = tr_lu_solve(tr_lu(b, order, order), a);
    const Expr corner = get(tr_matrix_sub(again, tr_matrix_sub(solved, again)), 0, 0);
    tr_output(s, "corner", &corner, 1, 1, err);
    tr_program *program = tr_compile(s, "corner", NULL, err);
    const double in[] = {0.5};
    const bool good = evaluate(program, in, 1 / 0.75, err); // ((A^T A)^-1 A)_00 = 1 / (1 - x^2)
    tr_program_free(program);
    tr_system_free(s);
    return good;
}

static bool text_job(tr_error *err)
{
    Buffer buffer = {0};
    for (int i = 0; i < 50; i++) tr_buffer_print(&buffer, "line %d of a growing text, ", i);
    tr_buffer_number(&buffer, 0.1);
    const bool good = !buffer.failed;
    if (!good) tr_fail_memory(err);
    tr_buffer_free(&buffer);
    return good;
}

static bool file_job(tr_error *err)
{
    const char *path = "memory_test.out";
    OutFile *file = tr_file_create(path, err);
    if (file) fprintf(tr_file_stream(file), "hello\n");
    bool good = tr_file_commit(file, err);
    size_t length = 0;
    char *back = tr_file_read(path, 100, &length, err);
    good = good && back && length == 6;
    free(back);
    remove(path);
    return good;
}

static bool schema_job(tr_error *err)
{
    char *text = tr_model_schema(err);
    assert_true(!text || text[strlen(text) - 1] == '\n');
    tr_text_free(text);
    return text != NULL;
}

// A file with a bit of everything, a case and settings; the numbers of the variant are used.
static bool model_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "parameters: {m: 2, half: m/2}\n"
        "inputs: {push: 1}\n"
        "functions: {twice(a): 2*a}\n"
        "bodies:\n"
        "  base: {joint: {type: free}, mass: m, inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "  arm:\n"
        "    parent: base\n"
        "    joint: {type: revolute, axis: \"0, 1, 0\", potential: sin(arm), dissipation: "
        "d(arm)^2}\n"
        "    mass: half\n"
        "    com: 0, 0, twice(0.1)\n"
        "forces: {wind: {body: arm, force: \"push, 0, t\"}, rain: {body: base}}\n"
        "roles: {arm: {torque: -arm}, base: {torque: {vx: 1}}}\n"
        "outputs: {tip: arm.x, rate: d(tip)}\n"
        "initial: {arm: 0.1}\n"
        "cases:\n"
        "  one: {end: 1}\n"
        "  two: {set: {m: 3}, initial: {d(arm): 1}, without: [rain], roles: {base: passive}}\n";
    const tr_setting settings[] = {{"half", "m/4"}, {"push", "2"}};
    const tr_derive_options options = {
        .size = sizeof options, .case_name = "two", .settings = settings, .setting_count = 2};
    tr_model *model = tr_model_parse(text, err);
    tr_model_set(model, "bodies/hat/joint/type", "fixed", err);
    tr_model_set(model, "bodies/hat/mass", "0.1", err);
    tr_system *system = tr_derive(model, &options, err);
    tr_model_free(model); // the system needs it no more
    const bool good = system && tr_input_count(system) > 10;
    tr_system_free(system);
    return good;
}

static bool beam_job(tr_error *err)
{
    static const char text[] = "trundle: 1\n"
                               "parameters: {L: 1}\n"
                               "bodies:\n"
                               "  mast: {beam: {length: L, density: 1 + s, stiffness: 2, planes: "
                               "yz, torsion: 1, rotary: 1,"
                               " torsion_modes: 1, stiffening: true, points: {middle: L/2}}}\n"
                               "  weight: {parent: mast.middle, mass: 1}\n"
                               "outputs: {tip: mast.tip.y}\n";
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, NULL, err);
    tr_model_free(model);
    const bool good = system && tr_input_count(system) == 8;
    tr_system_free(system);
    return good;
}

static bool modal_job(tr_error *err)
{
    tr_model *model =
        tr_model_parse("trundle: 1\nbodies:\n  mast: {modal: {nodes: memory_nodes.csv,"
                       " modes: memory_modes.csv, points: {tip: 1}}}\n"
                       "  weight: {parent: mast.tip, mass: 1}\n",
                       err);
    tr_system *system = tr_derive(model, NULL, err);
    tr_model_free(model);
    const bool good = system && tr_input_count(system) == 3;
    tr_system_free(system);
    return good;
}

// Tables from lists and files, with knots that a run passes, and an end where it stops
static bool tables_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "gravity: 0, 0, 0\n"
        "tables:\n"
        "  f: {x: \"0, 1, 2\", value: \"1, 2, 1\"}\n"
        "  g: {file: memory_grid.csv, degree: 0, outside: hold}\n"
        "  h: {file: memory_hill.asc, degree: 3, outside: extend}\n"
        "  s: {file: memory_log.csv, x: t, value: v}\n"
        "parameters: {k: s(0.1)}\n"
        "bodies:\n"
        "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1 + 0*k}\n"
        "roles: {cart: {torque: \"f(cart) + g(cart, t) + h(t, cart) + s(t)\"}}\n"
        "initial: {cart: 0.9, d(cart): 1}\n";
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, NULL, err);
    tr_model_free(model);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.method = "rk4", o.step = 0.05, o.end = 2, o.every = 0.1;
    const bool good = system && !tr_simulate(system, &o, NULL, err) && err->status == TR_FAILED &&
                      strstr(err->text, "the table 'f' is left at 2 at t = ");
    if (good) *err = (tr_error){0};
    tr_system_free(system);
    return good;
}

// Columns of a log, an input that follows one, and a number in its place
static bool signals_job(tr_error *err)
{
    static const char text[] = "trundle: 1\n"
                               "gravity: 0, 0, 0\n"
                               "signals: {file: memory_log.csv, columns: {f: v, g: v}, scale: {f: "
                               "pi/180}, offset: {g: 1}}\n"
                               "inputs: {u: f(t), w: g(t)}\n"
                               "bodies:\n"
                               "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}\n"
                               "roles: {cart: {torque: \"u + w*d(u)\"}}\n";
    const tr_setting setting = {"w", "2"};
    const tr_derive_options options = {
        .size = sizeof options, .settings = &setting, .setting_count = 1};
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, &options, err);
    tr_model_free(model);
    tr_plan *plan = tr_plan_new(system, err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = 0.05;
    tr_run *run = tr_run_new(plan, &o, err);
    tr_run_advance(run, 0.25, err);
    tr_run_set(run, "u", 1, err);
    const bool good = tr_run_advance(run, 0.5, err);
    tr_run_free(run);
    tr_plan_free(plan);
    tr_system_free(system);
    return good;
}

// Constraints of several kinds, one too many, with friction: assembled and reduced.
static bool constraints_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "bodies:\n"
        "  sleigh: {joint: {type: planar}, mass: 2, com: \"0.2, 0, 0\", inertia: {zz: 1}}\n"
        "  arm: {parent: sleigh, joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1,"
        " com: \"0.3, 0, 0\"}\n"
        "  crank: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: \"0.3, 0, 0\"}\n"
        "contacts:\n"
        "  blade: {kind: skate, body: sleigh}\n"
        "  again: {kind: skate, body: sleigh}\n"
        "couplings: {gear: {coordinate: arm, equals: {crank: 2}}}\n"
        "roles: {crank: {motion: sin(t)}}\n"
        "forces: {drag: {body: sleigh, force: \"-0.1*lambda.blade.lateral, 0, 0\"}}\n"
        "outputs: {ahead: 2*sleigh.vx + t}\n"
        "independent: [ahead]\n"
        "initial: {sleigh.vx: 1}\n";
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, NULL, err);
    tr_model_free(model);
    tr_program *program = compile_reduced(system, "vdot lambda tau H", NULL, err);
    const bool good = program != NULL;
    tr_program_free(program);
    tr_system_free(system);
    return good;
}

// Joints that close a loop, one of them cut, with motors that work against each other; and a loop
// that cannot be closed.
static bool loops_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "bodies:\n"
        "  left: {mass: 1, com: \"0.2, 0, 0\"}\n"
        "  seat: {mass: 2, com: \"0.3, 0, 0\"}\n"
        "  right: {mass: 1, com: \"0.2, 0, 0\"}\n"
        "joints:\n"
        "  C: {type: revolute, axis: \"0, 0, 1\", parent: seat, body: right, at: \"0.8, 0, 0\","
        " to: \"0.5, 0, 0\", stiffness: 2, potential: cos(C), cut: true}\n"
        "  D: {type: revolute, axis: \"0, 0, 1\", parent: right, body: world, to: \"0.8, 0, 0\"}\n"
        "  A: {type: revolute, axis: \"0, 0, 1\", body: left}\n"
        "  B: {type: revolute, axis: \"0, 0, 1\", parent: left, body: seat, at: \"0.5, 0, 0\"}\n"
        "frames: {tip: {body: seat, at: \"0.4, 0, 0\", turn: \"0, 0, 1\"}}\n"
        "forces: {push: {body: tip, force: \"1, 0, 0\"}}\n"
        "roles: {A: {motion: 1 + t}, D: {motion: -1 - t}}\n"
        "reactions: {minimise: torques}\n"
        "outputs: {height: tip.y}\n"
        "guess: {B: -1, C: 0.1}\n";
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, NULL, err);
    char *words = tr_check_text(system, false, err);
    bool good =
        words && strstr(words, "choice): C\n") && strstr(words, "the least torques are taken");
    tr_text_free(words);
    tr_system_free(system);
    tr_model_set(model, "joints/D/to", "1.9, 0, 0", err);
    tr_model_set(model, "roles/D/motion", "-2", err);
    system = tr_derive(model, NULL, err);
    tr_model_free(model);
    double x[60];
    assert_true(!system || tr_input_count(system) <= 60);
    initial_of(system, x, err);
    tr_system_free(system);
    good = good && err->status == TR_INVALID && strstr(err->text, "cannot all hold");
    if (good) *err = (tr_error){0};
    return good;
}

// A steady motion, and a family of them: a wheel that carries a weight round in a circle.
static bool steady_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "parameters: {r: 0.3, k: 3}\n"
        "bodies:\n"
        "  frame: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n"
        "  wheel: {parent: frame, joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, 0, r\"},"
        " mass: 1, inertia: {axial: 1, radial: 1}}\n"
        "  weight: {parent: frame, joint: {type: prismatic, axis: \"1, 0, 0\", stiffness: k},"
        " mass: 0.1}\n"
        "contacts: {tyre: {kind: rolling, body: wheel, radius: r}}\n"
        "initial: {d(wheel): 4, weight: 0.1, frame.wz: 0}\n";
    static const char *const holds[] = {"frame.wz", "wheel_rate=4"};
    tr_steady_options o = tr_steady_defaults();
    o.holds = holds, o.hold_count = 2;
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, NULL, err);
    tr_model_free(model);
    tr_steady *steady = tr_steady_find(system, &o, err);
    char *words = tr_steady_text(steady, true, err), *fragment = tr_steady_fragment(steady, err);
    bool good = words && fragment;
    tr_text_free(words);
    tr_text_free(fragment);
    tr_steady_free(steady);
    o.sweep = "k=3:4:0.5", o.output = "memory_steady.json";
    tr_family_summary summary;
    good = good && tr_steady_sweep(system, &o, &summary, err);
    assert_true(!good || summary.rows == 3);
    tr_system_free(system);
    remove(o.output);
    return good;
}

// Inertias from a recording that asks for what cannot be, and then by the model as well
static bool inverse_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "gravity: 0, 0, 0\n"
        "bodies:\n"
        "  a: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}\n"
        "  b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: y}, mass: 1}\n"
        "constraints: {tie: {position: x - y}}\n"
        "roles: {x: {torque: 1}}\n";
    static const char *const log = "memory_motion.csv";
    tr_inverse_options o = tr_inverse_defaults();
    tr_derive_options how = tr_derive_defaults();
    o.logs = &log, o.log_count = 1, how.inertias = "a, b";
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, &how, err);
    tr_model_free(model);
    tr_inverse *inverse = tr_inverse_find(system, &o, err);
    char *words = tr_inverse_text(inverse, false, err);
    char *fragment = tr_inverse_fragment(inverse, err);
    const bool good = words && fragment;
    assert_true(!good || strstr(words, "cannot have"));
    tr_text_free(words);
    tr_text_free(fragment);
    tr_inverse_free(inverse);
    o.prior_weight = 1;
    inverse = tr_inverse_find(system, &o, err);
    words = tr_inverse_text(inverse, true, err);
    const bool again = words != NULL;
    tr_text_free(words);
    tr_inverse_free(inverse);
    tr_system_free(system);
    return good && again;
}

// A linear model in all its forms, a sweep with its picture, and derivatives
static bool linear_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "parameters: {c: 0.1}\n"
        "inputs: {push: 0}\n"
        "bodies:\n"
        "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}\n"
        "  pole: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\", damping: c}, mass: 1,"
        " com: \"0, 0, -1\"}\n"
        "roles: {cart: {torque: push}}\n"
        "outputs: {tip: pole}\n";
    static const char *const files[] = {"memory_linear.csv", "memory_linear.mat",
                                        "memory_linear.svg"};
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, NULL, err);
    tr_model_free(model);
    bool good = system != NULL;
    for (int i = 0; i < 2; i++) {
        const tr_linearise_options o = {.size = sizeof o, .reduce = i, .step = 0.1, .json = i};
        char *words = tr_linearise_text(system, &o, err);
        good = good && words && tr_linearise_write(system, &o, files[i], err);
        tr_text_free(words);
    }
    tr_locus *sweep = tr_locus_new(system, "c", -0.1, 0.2, 0.1, err);
    assert_true(!sweep || sweep->critical_count == 1);
    good = good && tr_locus_plot(sweep, NULL, files[2], err);
    for (int i = 0; i < 2; i++) {
        char *words = tr_locus_text(sweep, i, err);
        good = good && words;
        tr_text_free(words);
    }
    tr_locus_free(sweep);
    const tr_compile_options options = {.size = sizeof options, .parameters = "c"};
    tr_program *slopes = good ? compile_reduced(system, "wdot wdot_p", &options, err) : NULL;
    good = slopes != NULL;
    tr_program_free(slopes);
    tr_system_free(system);
    for (int i = 0; i < 3; i++) remove(files[i]);
    return good;
}

static bool pictures_job(tr_error *err)
{
    static const char *const runs[] = {"memory_test.csv"};
    static const char *const panels[] = {"a,b", "a"};
    static long whole[3]; // [bytes], as they are when nothing fails
    tr_plot_options o = tr_plot_defaults();
    o.runs = runs;
    o.run_count = 1;
    o.output = "memory_test.svg";
    bool good = tr_write_text(runs[0], "t,a,b,w_x,w_y\n0,1,2,3,4\n1,2,3,4,5\n2,0,1,2,3\n", err);
    for (int i = 0; i < 3; i++) {
        o.panels = panels;
        o.panel_count = i == 0 ? 2 : 0;
        o.track = i == 2;
        good = good && tr_plot(&o, err);
        struct stat file;
        if (!good || stat(o.output, &file) != 0) continue;
        if (!whole[i]) whole[i] = file.st_size;
        assert_int_equal(file.st_size, whole[i]); // a picture is whole or an error
    }
    remove(runs[0]);
    remove(o.output);
    return good;
}

// A report of two runs, with a certificate that says how their model was derived, and a mesh.
static bool view_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "name: rod and wheel\n"
        "parameters: {r: 0.3}\n"
        "bodies:\n"
        "  frame: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n"
        "  wheel: {parent: frame, joint: {type: revolute, axis: \"0, 1, 0\"}, mass: 1,"
        " inertia: {axial: 1, radial: 1}}\n"
        "  arm: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: \"1, 0, 0\",\n"
        "    shapes: {own: {type: mesh, file: memory_view.obj},"
        " lost: {type: mesh, file: memory_lost.stl}}}\n"
        "contacts: {tyre: {kind: rolling, body: wheel, radius: r}}\n"
        "loops: {rod: {body: arm, at: \"1, 0, 0\", on: frame, length: 2}}\n"
        "cases: {one: {end: 1}, two: {end: 2}}\n";
    tr_view_options view = {.size = sizeof view,
                            .run = "memory_view.csv",
                            .output = "memory_view.html",
                            .page = "memory_view.page"};
    tr_write_text("memory_view.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", err);
    tr_write_text(view.page, "<html><!--data--></html>", err);
    tr_write_text(view.run, "t,frame.x,frame.y,frame.theta,wheel,arm\n0,0,0,0,1,2\n", err);
    tr_write_text(
        "memory_view.json",
        "{\"case\": \"two\", \"settings\": [{\"name\": \"r\", \"formula\": \"0.4\"}],"
        " \"model_sha256\": \"0\", \"model_file\": \"memory_view.obj\"}", // a file that is there
        err);
    tr_origin *origin = tr_origin_read(view.run, err);
    tr_derive_options options = tr_derive_defaults();
    tr_origin_options(origin, &options);
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, &options, err);
    tr_model_free(model);
    tr_origin_free(origin);
    tr_view_summary summary;
    const tr_view_run other = {system, view.run};
    view.others = &other, view.other_count = 1;
    const bool good = tr_view_check(&view, err) && tr_view(system, &view, &summary, err);
    assert_true(!good || (summary.rows == 1 && summary.is_other_model));
    tr_system_free(system);
    remove("memory_view.obj");
    remove(view.run), remove(view.output), remove(view.page), remove("memory_view.json");
    return good;
}

// A track over hills and a report of it: as a height map, and as lines of equal height
static bool hills_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "ground: {height: 0.1*x^2}\n"
        "bodies: {a: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
        "contacts: {rim: {kind: rolling, shape: ball, body: a, radius: 0.1}}\n";
    static const char *const runs[] = {"memory_hill.csv"};
    static long whole[2]; // [bytes], as they are when nothing fails
    char hash[TR_SHA256_SIZE], certificate[200];
    tr_sha256(text, strlen(text), hash);
    snprintf(certificate, sizeof certificate,
             "{\"model_file\": \"memory_hill.yaml\", \"model_sha256\": \"%s\"}", hash);
    const tr_view_options view = {.size = sizeof view,
                                  .run = runs[0],
                                  .output = "memory_hill.html",
                                  .page = "memory_hill.page"};
    tr_plot_options plot = tr_plot_defaults();
    plot.runs = runs, plot.run_count = 1, plot.output = "memory_hill.svg", plot.track = true;
    plot.width = 240, plot.height = 160;
    tr_write_text(view.page, "<html><!--data--></html>", err);
    tr_write_text("memory_hill.yaml", text, err);
    tr_write_text("memory_hill.json", certificate, err);
    tr_write_text(runs[0],
                  "t,a.x,a.y,a.z,a.qw,a.qx,a.qy,a.qz,contact.rim.x,contact.rim.y,contact.rim.z\n"
                  "0,0,0,0.1,1,0,0,0,0,0,0\n1,1,1,0.2,1,0,0,0,1,1,0.1\n",
                  err);
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, NULL, err);
    tr_model_free(model);
    const bool good = system && tr_view(system, &view, NULL, err) && tr_plot(&plot, err);
    const char *const files[] = {view.output, plot.output};
    for (int i = 0; i < 2 && good; i++) {
        struct stat file;
        assert_int_equal(stat(files[i], &file), 0);
        if (!whole[i]) whole[i] = file.st_size;
        assert_int_equal(file.st_size, whole[i]); // whole or an error
    }
    tr_system_free(system);
    remove(runs[0]), remove(view.output), remove(view.page), remove(plot.output);
    remove("memory_hill.yaml"), remove("memory_hill.json");
    return good;
}

// A wheel that flies, lands and touches a second time, which is put up with and then ends the run;
// and what the doctor says of feet that stand in one plane
static bool terrain_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "ground: {height: 0.3*cos(4*x)}\n"
        "bodies:\n"
        "  rail: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n"
        "  lift: {parent: rail, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}}\n"
        "  disc: {parent: lift, joint: {type: revolute, axis: \"0, 1, 0\", coordinate: spin}, "
        "mass: 2, inertia: {axial: 0.09, radial: 0.045}}\n"
        "contacts: {rim: {kind: rolling, body: disc, radius: 0.3, lateral: free, unilateral: true, "
        "open: true}}\n"
        "initial: {x: 0.3, z: 0.6, d(x): 0, d(z): 0, spin: 0, d(spin): 6}\n"
        "cases: {a: {allow: [second_touch]}}\n";
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, NULL, err);
    tr_model_free(model);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.method = "rk4", o.step = 0.005, o.end = 2, o.every = 0.1;
    const bool good = system && !tr_simulate(system, &o, NULL, err) && err->status == TR_FAILED &&
                      strstr(err->text, "the ground curves more than the wheel 'rim' at (");
    if (good) *err = (tr_error){0};
    tr_system_free(system);
    return good;
}

static bool uneven_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "bodies: {tray: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
        "contacts:\n"
        "  a: {kind: slide, body: tray, at: \"1, 0, 0\"}\n"
        "  b: {kind: slide, body: tray, at: \"-1, 0, 0\"}\n"
        "  c: {kind: slide, body: tray, at: \"0, 1, 0\"}\n"
        "  d: {kind: slide, body: tray, at: \"0, -1, 0\"}\n";
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, NULL, err);
    tr_model_free(model);
    char *told = tr_check_text(system, false, err);
    const bool good = told && strstr(told, "locked on uneven ground: a.normal");
    tr_text_free(told);
    tr_system_free(system);
    return good;
}

// A ball with friction that falls, bounces, slides, and comes to rest.
static bool bounce_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "bodies:\n"
        "  rail: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n"
        "  ball: {parent: rail, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}, mass: "
        "1}\n"
        "contacts: {foot: {kind: rolling, shape: ball, radius: 0.1, body: ball, unilateral: true,"
        " open: true, restitution: \"if(speed > 0.3, 0.2, 0)\", longitudinal: coulomb, lateral: "
        "coulomb,"
        " friction: 0.5, stick: true}}\n"
        "roles: {x: {torque: \"if(t < 0.15, 0, 20*(t - 0.15))\"}}\n"
        "initial: {z: 0.11, d(x): 0.6}\n";
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, NULL, err);
    tr_model_free(model);
    tr_simulate_options o = tr_simulate_defaults(system);
    tr_summary s = {0};
    o.end = 0.5, o.every = 0.1, o.output = "memory_bounce.csv";
    const bool good = tr_simulate(system, &o, &s, err);
    assert_true(!good || s.switches == 4); // touches, touches, holds, begins to slip
    tr_system_free(system);
    remove(o.output), remove("memory_bounce.json");
    return good;
}

// Implicit steps, with their slopes, projection and sensitivities
static bool implicit_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "parameters: {l: 1}\n"
        "bodies:\n"
        "  rail: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n"
        "  bob: {parent: rail, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z, damping: "
        "1e3}, mass: 1}\n"
        "constraints: {rod: {position: x^2 + z^2 - l^2}}\n"
        "initial: {x: 0.6, z: -0.8}\n";
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, NULL, err);
    tr_model_free(model);
    tr_simulate_options o = tr_simulate_defaults(system);
    tr_summary s = {0};
    o.end = 0.1, o.every = 0.1, o.method = "bdf", o.sensitivity = "l";
    const bool good = tr_simulate(system, &o, &s, err);
    assert_true(!good || (s.jacobians > 0 && s.rows == 2));
    tr_system_free(system);
    return good;
}

// Noise, deviations, fixes that correct, and an outlier
static bool filter_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "inputs: {u: 1}\n"
        "noise: {u: 0.1}\n"
        "bodies:\n"
        "  rail: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}}\n"
        "  bob: {parent: rail, joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: z}, mass: "
        "1}\n"
        "constraints: {rod: {position: x^2 + z^2 - 1}}\n"
        "forces: {push: {body: bob, force: \"u, 0, 0\", noise: \"0.1, 0, 0\"}}\n"
        "deviations: {x: 0.1, d(x): 0.1}\n"
        "fixes: {eye: {file: memory_log.csv, of: {x: v}, sd: {x: 0.1}}}\n"
        "initial: {x: 0.6, z: -0.8}\n";
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, NULL, err);
    tr_model_free(model);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 0.2, o.every = 0.1, o.method = "rk4", o.step = 0.05, o.filter = true;
    o.output = "memory_filter.csv";
    const bool good = tr_simulate(system, &o, NULL, err);
    tr_system_free(system);
    remove("memory_filter.csv");
    remove("memory_filter.json");
    return good;
}

// Jumps in t and of the state, blows of motions and constraints, and a switch to and fro
static bool jumps_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "bodies:\n"
        "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}\n"
        "  arm: {parent: cart, joint: {type: revolute, axis: \"0, 1, 0\"}, mass: 1,"
        " com: \"0, 0, -1\"}\n"
        "  brick: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: y}, mass: 1}\n"
        "  bolt: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: z}, mass: 1}\n"
        "constraints: {slot: {position: z - abs(y - 0.001)}}\n"
        "roles: {x: {motion: abs(t - 0.01)}, y: {torque: 'if(sin(t) < 0.01, 1, -if(d(y) > 0, 1, "
        "0))'}}\n"
        "initial: {d(y): 1}\n";
    tr_model *model = tr_model_parse(text, err);
    tr_system *system = tr_derive(model, NULL, err);
    tr_model_free(model);
    tr_simulate_options o = tr_simulate_defaults(system);
    tr_summary s = {0};
    o.end = 0.02, o.every = 0.02, o.method = "rk4", o.step = 0.01;
    const bool good = tr_simulate(system, &o, &s, err);
    tr_system_free(system);
    return good;
}

typedef struct Side {
    tr_system *system;
    tr_plan *plan;
    tr_batch *batch;
} Side;

// Three runs of a model, side by side
static Side side_by_side(const char *text, tr_error *err)
{
    Side side = {0};
    tr_model *model = tr_model_parse(text, err);
    side.system = tr_derive(model, NULL, err);
    tr_model_free(model);
    side.plan = tr_plan_new(side.system, err);
    tr_run_options o = tr_run_defaults(side.plan);
    o.method = "rk4", o.step = 0.01;
    side.batch = tr_batch_new(side.plan, 3, &o, err);
    return side;
}

static void side_free(const Side *side)
{
    tr_batch_free(side->batch);
    tr_plan_free(side->plan);
    tr_system_free(side->system);
}

// Where one of them has its jumps at other times
static bool batch_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "parameters: {when: 0.02}\n"
        "inputs: {push: 1}\n"
        "bodies:\n"
        "  brick: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: y}, mass: 1}\n"
        "  bolt: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: z}, mass: 1}\n"
        "constraints: {slot: {position: z - 2*y}}\n"
        "roles: {y: {torque: 'if(t < when, push, -if(d(y) > 0, 1, 0))'}}\n"
        "initial: {d(y): 1}\n";
    const Side side = side_by_side(text, err);
    tr_batch_set(side.batch, 1, "when", 0.035, err);
    tr_batch_reset(side.batch, 1, err);
    tr_batch_set(side.batch, 2, "push", 2, err);
    const bool good = tr_batch_advance(side.batch, 0.08, err);
    tr_batch_row(side.batch, 1);
    side_free(&side);
    return good;
}

// Numbers into many at once: into their bytes, and by runs
static bool write_job(tr_error *err)
{
    static const char text[] =
        "trundle: 1\n"
        "parameters: {c: 1}\n"
        "inputs: {push: 1, rest: 0}\n"
        "bodies:\n"
        "  brick:\n"
        "    joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: y, stiffness: c, rest: rest}\n"
        "    mass: 1\n"
        "roles: {y: {torque: push}}\n"
        "initial: {y: 1}\n";
    const Side side = side_by_side(text, err);
    bool good = true;
    static const char *const names[] = {"push", "rest", "c"};
    for (size_t i = 0; i < 3; i++)
        good = tr_batch_write(side.batch, names[i], (double[]){1, 2, 3}, 1, NULL, err) && good;
    good = tr_batch_reset(side.batch, 2, err) && tr_batch_advance(side.batch, 0.05, err) && good;
    side_free(&side);
    return good;
}

// ---- many runs -----------------------------------------------------------------------------

static const char swept_text[] =
    "trundle: 1\n"
    "parameters: {l: 0.5, c: 0.1}\n"
    "bodies:\n"
    "  bob: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a, damping: c}, mass: 1, "
    "com: \"0, 0, -l\"}\n"
    "initial: {a: 1}\n";

static tr_sweep_options small_sweep(const char *output)
{
    static const char *const vary[] = {"l=0.4:0.6:0.1", "c~normal(0.1, 0.01)", "initial.a=1, 2"};
    tr_sweep_options o = tr_sweep_defaults();
    o.vary = vary, o.vary_count = 3, o.samples = 2, o.seed = 3, o.jobs = 1;
    o.end = 0.2, o.every = 0.1, o.step = 0.05, o.output = output;
    o.keep = "final(a), low=time(a < 0), at(0.15, l*a)", o.stop = "a > 1.9";
    return o;
}

static bool table_of_runs_job(tr_error *err)
{
    static const char *const tasks[] = {"simulate", "steady", "linearise"};
    bool good = true;
    tr_model *model = tr_model_parse(swept_text, err);
    for (int i = 0; i < 3; i++) {
        tr_sweep_options o = small_sweep("memory_sweep.csv");
        o.what = tasks[i];
        if (i) o.keep = NULL, o.stop = NULL, o.vary_count = 1, o.samples = 0;
        if (i) o.end = o.every = o.step = (double)NAN;
        good = tr_sweep(model, NULL, &o, NULL, err) && good;
    }
    tr_model_free(model);
    return good;
}

// Two halves, which become one, which is drawn
static bool databases_job(tr_error *err)
{
    static const char *const parts[] = {"memory_half_1.db", "memory_half_2.db"};
    static const char *const all = "memory_all.db";
    bool good = true;
    tr_model *model = tr_model_parse(swept_text, err);
    for (size_t i = 0; i < 2; i++) {
        tr_sweep_options o = small_sweep(parts[i]);
        remove(parts[i]);
        o.method = "rk4", o.shard = i, o.shards = 2, o.record = 2;
        good = tr_sweep(model, NULL, &o, NULL, err) && good;
        good = tr_sweep(model, NULL, &o, NULL, err) && good; // there is nothing more to do
    }
    tr_model_free(model);
    remove(all);
    good = good && tr_sweep_merge(parts, 2, all, NULL, err);
    tr_plot_options o = tr_plot_defaults();
    o.runs = &all, o.run_count = 1, o.output = "memory_all.svg";
    return good && tr_plot(&o, err);
}

// ---- bundled models, from the file to the rows ---------------------------------------------

typedef struct Run {
    const char *model, *case_name, *method;
    const char *sensitivity; // or NULL; with one it is linearised, too
    bool is_controlled, is_mat;
} Run;

static const Run runs[] = {
    {"double_pendulum", "wild", "rk4", NULL, false, true}, // a tree
    {"double_pendulum", "small", "lie", NULL, true, false},
    {"double_pendulum", "small", "erk", "l", false, false},
    {"spinning_top", "steady", "pece", NULL, false, false},
    {"floating_arm", NULL, "bdf", NULL, false, false},
    {"bicycle", "turn", "erk", NULL, true, true}, // constrained
    {"bicycle", "free", "bdf", "m0", false, false},
    {"snakeboard", NULL, "euler", NULL, false, false},
    {"four_bar", "swing", "erk", "a", false, false}, // loops
    {"bricard", "hinge", "erk", NULL, false, false},
    {"spinning_beam", "spin", "erk", "EI", false, true}, // beams
    {"flexible_mast", "drive", "bdf", NULL, false, false},
    {"hopping_wheel", NULL, "erk", NULL, false, false}, // contacts that come and go
};
static const Run *run; // the one that is done now

static bool push_a_little(void *owner, const tr_instant *now)
{
    (void)owner;
    for (size_t i = 0; i < now->inputs; i++) now->setting[i] += 0.01;
    return true;
}

// What is there of a recorded file ends with a whole row.
static void assert_whole_rows(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) return;
    if (fseek(file, -1, SEEK_END) == 0) assert_int_equal(fgetc(file), '\n');
    fclose(file);
}

static bool run_job(tr_error *err)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s.yaml", MODELS_DIR, run->model);
    const tr_derive_options options = {.size = sizeof options, .case_name = run->case_name};
    tr_model *model = tr_model_read(path, err);
    tr_system *system = tr_derive(model, &options, err);
    tr_model_free(model);
    char *(*const reports[])(const tr_system *, bool, tr_error *) = {tr_check_text, tr_derive_text,
                                                                     tr_eval_text};
    for (int i = 0; i < 3; i++) tr_text_free(reports[i](system, i != 1, err));
    if (run->sensitivity) tr_text_free(tr_linearise_text(system, NULL, err));
    tr_simulate_options o = tr_simulate_defaults(system);
    tr_summary s = {0};
    o.end = 0.02, o.every = 0.01, o.step = 0.005, o.method = run->method;
    o.sensitivity = run->sensitivity;
    o.output = run->is_mat ? "memory_run.mat" : "memory_run.csv";
    if (run->is_controlled) o.control = push_a_little;
    const bool good = tr_simulate(system, &o, &s, err);
    tr_system_free(system);
    assert_true(!good || (s.rows == 3 && s.t == 0.02));
    const double energy = strcmp(run->method, "euler") == 0 ? 0.1 : 1e-6;
    assert_true(!good || (s.energy_error <= energy && s.kkt_error <= 1e-8));
    if (!run->is_mat) assert_whole_rows(o.output);
    remove(o.output), remove("memory_run.json");
    return good;
}

static bool circle_job(tr_error *err)
{
    static const char *const roll[] = {"roll=-0.2"};
    const tr_derive_options options = {.size = sizeof options, .case_name = "circle"};
    tr_steady_options o = tr_steady_defaults();
    o.holds = roll, o.hold_count = 1;
    tr_model *model = tr_model_read(MODELS_DIR "/bicycle.yaml", err);
    tr_system *system = tr_derive(model, &options, err);
    tr_model_free(model);
    tr_steady *steady = tr_steady_find(system, &o, err);
    char *text = tr_steady_text(steady, false, err);
    const bool good = text != NULL;
    assert_true(!good || strstr(text, "roll"));
    tr_text_free(text);
    tr_steady_free(steady);
    tr_system_free(system);
    return good;
}

static bool lqr_job(tr_error *err)
{
    static const char *const controls[] = {"left", "right"};
    const tr_setting upright = {"pitch0", "0"};
    const tr_derive_options options = {.size = sizeof options,
                                       .case_name = "fall",
                                       .settings = &upright,
                                       .setting_count = 1,
                                       .controls = controls,
                                       .control_count = 2};
    tr_model *model = tr_model_read(MODELS_DIR "/segway.yaml", err);
    tr_system *system = tr_derive(model, &options, err);
    tr_model_free(model);
    bool good = system != NULL;
    for (int i = 0; i < 2; i++) {
        const tr_lqr_options o = {
            .size = sizeof o, .inputs = "left,right", .q = "way=10", .step = 0.01 * i};
        const tr_lqr *lqr = tr_lqr_design(system, &o, err);
        char *text = tr_lqr_text(lqr, i, err), *roles = tr_lqr_roles(lqr, err);
        good = good && text && roles && lqr->residual < 1e-10;
        tr_text_free(text);
        tr_text_free(roles);
        tr_lqr_free(lqr);
    }
    tr_system_free(system);
    return good;
}

// ---- fits ----------------------------------------------------------------------------------

static bool fit_job(tr_error *err)
{
    const char *data = MODELS_DIR "/robot_differential_seen.csv";
    const char *const matches[] = {"body.y=body.y + 0"}, *const priors[] = {"b=0.15~0.01"};
    const tr_derive_options how = {.size = sizeof how, .case_name = "log"};
    tr_fit_options o = tr_fit_defaults();
    o.data = &data, o.data_count = 1, o.free = "R,b,body.x", o.method = "rk4", o.step = 0.1;
    o.to = 1, o.matches = matches, o.match_count = 1, o.priors = priors, o.prior_count = 1;
    tr_model *model = tr_model_read(MODELS_DIR "/robot_differential.yaml", err);
    const tr_fit *fit = tr_fit_find(model, &how, &o, err);
    tr_model_free(model);
    char *text = tr_fit_text(fit, false, err), *json = tr_fit_text(fit, true, err);
    char *fragment = tr_fit_fragment(fit, err);
    const bool good = text && json && fragment && tr_fit_plot(fit, NULL, "/dev/null", err);
    tr_text_free(text);
    tr_text_free(json);
    tr_text_free(fragment);
    tr_fit_free(fit);
    return good;
}

// ---- the sweep -----------------------------------------------------------------------------

static const char *ball; // an FMU

static bool fmu_check_job(tr_error *err)
{
    size_t mistakes = 0;
    tr_fmu_options o = tr_fmu_defaults();
    char *text = tr_fmu_check(ball, &o, true, &mistakes, err);
    const bool good = text && mistakes == 0;
    tr_text_free(text);
    return good;
}

static bool fmu_run_job(tr_error *err)
{
    const tr_setting setting = {"e", "0.5"};
    tr_fmu_options o = tr_fmu_defaults();
    o.settings = &setting, o.setting_count = 1, o.end = 0.5, o.every = 0.1;
    o.inputs = "memory_force.csv", o.output = "memory_ball.csv";
    o.kind = "me";
    const bool good = tr_fmu_simulate(ball, &o, NULL, err);
    o.kind = "cs";
    return tr_fmu_simulate(ball, &o, NULL, err) && good;
}

static const char *no_xml(void)
{
    static tr_error err;
    Arena arena = {0};
    const bool is_there = tr_xml_read("<a/>", 4, &arena, &err);
    tr_arena_free(&arena);
    return is_there ? NULL : err.text;
}

static void test_formulas(void **state) { (void)state, sweep(formulas_job); }
static void test_matrices(void **state) { (void)state, sweep(matrix_job); }
static void test_text(void **state) { (void)state, sweep(text_job); }
static void test_files(void **state) { (void)state, sweep(file_job); }
static void test_models(void **state)
{
    (void)state;
    sweep(model_job);
    sweep(schema_job);
}
static void test_beams(void **state) { (void)state, sweep(beam_job); }
static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void test_modal(void **state)
{
    (void)state;
    write_file("memory_nodes.csv", "x,y,z,m,jx,jy,jz,ux1,uy1,uz1,rx1,ry1,rz1\n"
                                   "1,0,0,1,1,1,1,0,1,0,0,0,1\n");
    write_file("memory_modes.csv", "k1,m1\n1,3\n");
    sweep(modal_job);
    remove("memory_nodes.csv");
    remove("memory_modes.csv");
}
static void test_tables(void **state)
{
    (void)state;
    write_file("memory_grid.csv", ",0,0.2,9\n0,1,2,3\n1.5,3,2,1\n");
    write_file("memory_hill.asc", "ncols 3\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n"
                                  "1 2 3\n4 5 7\n");
    write_file("memory_log.csv", "t,v\n0,1\n0.15,2\n9,3\n");
    write_file("memory_motion.csv", "t,x,y,x_rate,tau.x\n0,0,0.01,0,-2\n1,1,1,2,-2\n2,4,4,4,-2\n"
                                    "3,9,9,6,-2\n4,16,16,8,-2\n");
    sweep(tables_job);
    sweep(signals_job);
    sweep(filter_job);
    sweep(inverse_job);
    remove("memory_grid.csv");
    remove("memory_hill.asc");
    remove("memory_log.csv");
    remove("memory_motion.csv");
}
static void test_fmus(void **state)
{
    (void)state;
    if (no_xml()) { // aloud
        print_message("left out: %s\n", no_xml());
        return;
    }
    write_file("memory_force.csv", "t,force\n0,0\n0.3,1\n");
    for (int version = 2; version <= 3; version++) {
        ball = good_ball(version);
        sweep(fmu_run_job);
        char *xml = promising_xml(version); // which more is tried of
        ball = write_ball(version, xml,
                          ball_binary(version, version == 3 ? "ball3.so" : "ball2.so", ""));
        sweep(fmu_check_job);
        free(xml);
    }
    remove("memory_force.csv");
    remove("memory_ball.csv");
}
static void test_constraints(void **state) { (void)state, sweep(constraints_job); }
static void test_loops(void **state) { (void)state, sweep(loops_job); }
static void test_steady(void **state) { (void)state, sweep(steady_job); }
static void test_linear(void **state) { (void)state, sweep(linear_job); }
static void test_pictures(void **state) { (void)state, sweep(pictures_job); }
static void test_view(void **state) { (void)state, sweep(view_job); }
static void test_hills(void **state) { (void)state, sweep(hills_job); }
static void test_terrain(void **state) { (void)state, sweep(terrain_job); }
static void test_uneven(void **state) { (void)state, sweep(uneven_job); }
static void test_bounces(void **state) { (void)state, sweep(bounce_job); }
static void test_implicit_steps(void **state) { (void)state, sweep(implicit_job); }
static void test_jumps(void **state) { (void)state, sweep(jumps_job); }
static void test_batch(void **state) { (void)state, sweep(batch_job), sweep(write_job); }
static void test_sweeps(void **state)
{
    (void)state;
    sweep(table_of_runs_job);
    remove("memory_sweep.csv");
    tr_error err = {0};
    if (!tr_database_is_there(&err)) { // aloud
        print_message("left out: %s\n", err.text);
        return;
    }
    sweep(databases_job);
    static const char *const files[] = {"memory_half_1.db", "memory_half_2.db", "memory_all.db",
                                        "memory_all.svg"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) remove(files[i]);
}
static void test_lqr(void **state) { (void)state, sweep_some(lqr_job, BRIEF ? 15 : 50); }

static void test_fit(void **state) { (void)state, sweep_some(fit_job, BRIEF ? 15 : 50); }

static void test_circle(void **state) { (void)state, sweep_some(circle_job, BRIEF ? 12 : 40); }

static void test_runs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        run = &runs[i];
        print_message("%s %s: ", run->model, run->method);
        sweep_some(run_job, BRIEF ? 12 : 40);
    }
}

// The argument is how many calls of a job that allocates much fail, one at a time: 20000 are all.
int main(int count, char **arguments)
{
    wanted = count > 1 ? atol(arguments[1]) : 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas), cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_text),     cmocka_unit_test(test_files),
        cmocka_unit_test(test_models),   cmocka_unit_test(test_beams),
        cmocka_unit_test(test_modal),    cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_tables),   cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_view),     cmocka_unit_test(test_hills),
        cmocka_unit_test(test_terrain),  cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_steady),   cmocka_unit_test(test_linear),
        cmocka_unit_test(test_bounces),  cmocka_unit_test(test_implicit_steps),
        cmocka_unit_test(test_jumps),    cmocka_unit_test(test_batch),
        cmocka_unit_test(test_loops),    cmocka_unit_test(test_lqr),
        cmocka_unit_test(test_fit),      cmocka_unit_test(test_circle),
        cmocka_unit_test(test_runs),     cmocka_unit_test(test_fmus),
        cmocka_unit_test(test_sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
