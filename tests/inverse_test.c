// SPDX-License-Identifier: Apache-2.0
// Inertias from recorded motions and torques: against the numbers of the models, taken from their
// files by hand, and against Newton's and Euler's laws on plain numbers.
#include "fit/inverse.h"

#include "folder.h"
#include "models.h"
#include "newton_euler.h"

// ---- the ten numbers -------------------------------------------------------------------------

typedef struct Ten {
    double at[TEN];
} Ten;

// About the origin from what a model says about the centre of mass
static Ten ten_of(double m, V3 c, const double I[6])
{
    Ten t = {{m, m * c.x, m * c.y, m * c.z}};
    t.at[4] = I[0] + m * (c.y * c.y + c.z * c.z);
    t.at[5] = I[1] + m * (c.x * c.x + c.z * c.z);
    t.at[6] = I[2] + m * (c.x * c.x + c.y * c.y);
    t.at[7] = I[3] - m * c.x * c.y;
    t.at[8] = I[4] - m * c.x * c.z;
    t.at[9] = I[5] - m * c.y * c.z;
    return t;
}

static double combination(const Base *base, uint32_t i, const double *phi)
{
    const size_t d = base->p - base->rank;
    double sum = phi[base->own[i]];
    for (size_t k = 0; k < d; k++) sum += base->K[i * d + k] * phi[base->other[k]];
    return sum;
}

// What was found of combinations is what the numbers are, to this.
static void assert_base(const tr_inverse *x, const double *truth, double tolerance)
{
    for (uint32_t i = 0; i < x->base.rank; i++) {
        assert_close(x->base.value[i], combination(&x->base, i, truth), tolerance);
        assert_close(combination(&x->base, i, x->phi), x->base.value[i], tolerance);
    }
}

// No combination changes along such a transfer, which nothing recorded could see.
static void assert_unseen(const Base *base, const double *transfer)
{
    for (uint32_t i = 0; i < base->rank; i++)
        assert_below(fabs(combination(base, i, transfer)), 1e-9);
}

// A body can have it: all leading minors of its pseudo-inertia are positive.
static bool can_be(const double *phi)
{
    const double half = (phi[4] + phi[5] + phi[6]) / 2;
    double P[16] = {half - phi[4], -phi[7], -phi[8], phi[1],  -phi[7],       half - phi[5],
                    -phi[9],       phi[2],  -phi[8], -phi[9], half - phi[6], phi[3],
                    phi[1],        phi[2],  phi[3],  phi[0]};
    return ne_is_positive(4, P);
}

static void assert_possible(const tr_inverse *x)
{
    const char *name = NULL;
    for (uint32_t b = 0; b < x->bodies; b++) {
        const double *phi = tr_inverse_body(x, b, &name);
        if (!can_be(phi)) fail_msg("no body can have what was found of %s", name);
    }
    assert_null(tr_inverse_body(x, x->bodies, NULL));
}

// ---- recording and finding -------------------------------------------------------------------

// Simulates the model, with accelerations among its outputs where that is wanted.
static const char *record(tr_model *model, const char *case_name, const char *settings,
                          const char *const *velocities, const char *file)
{
    for (int k = 0; velocities && velocities[k]; k++) {
        char path[100], formula[100];
        snprintf(path, sizeof path, "outputs/acceleration_%d", k);
        snprintf(formula, sizeof formula, "d(%s)", velocities[k]);
        change(model, path, formula);
    }
    char words[200];
    tr_setting list[MOST_SETTINGS];
    snprintf(words, sizeof words, "%s", settings);
    const tr_derive_options how = {.size = sizeof how,
                                   .case_name = case_name,
                                   .settings = list,
                                   .setting_count = settings_in(words, list)};
    tr_system *system = derived_from(model, &how);
    tr_error err = {0};
    tr_simulate_options run = tr_simulate_defaults(system);
    run.output = in_folder(file);
    if (!tr_simulate(system, &run, NULL, &err)) fail_msg("%s", err.text);
    tr_system_free(system);
    return run.output;
}

static tr_system *opened(const tr_model *model, const char *case_name, const char *bodies)
{
    const tr_derive_options how = {.size = sizeof how, .case_name = case_name, .inertias = bodies};
    return derived_from(model, &how);
}

static tr_inverse *find(const tr_system *system, const char *log, double weight)
{
    tr_error err = {0};
    tr_inverse_options how = tr_inverse_defaults();
    how.logs = &log, how.log_count = 1, how.prior_weight = weight;
    tr_inverse *found = tr_inverse_find(system, &how, &err);
    if (!found) fail_msg("%s", err.text);
    return found;
}

// The numbers of a fragment into a model, as they are written
static void apply(tr_model *model, const char *fragment)
{
    char path[200], body[100] = "", value[200];
    for (const char *at = strstr(fragment, "bodies:\n") + 8; *at; at = strchr(at, '\n') + 1) {
        static const char *const moments[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
        const char *com = strstr(at, "    com: ");
        if (at[2] != ' ') {
            assert_int_equal(sscanf(at, "  %99[a-z_0-9]:", body), 1);
            continue;
        }
        if (sscanf(at, "    mass: %199s", value) == 1) {
            snprintf(path, sizeof path, "bodies/%s/mass", body);
            change(model, path, value);
        } else if (com == at) {
            snprintf(path, sizeof path, "bodies/%s/com", body);
            snprintf(value, sizeof value, "%.*s", (int)strcspn(com + 9, "\n"), com + 9);
            change(model, path, value);
        } else {
            for (int k = 0; k < 6; k++) {
                char mark[8];
                snprintf(mark, sizeof mark, "%s: ", moments[k]);
                const char *found = strstr(at, mark) + 4;
                snprintf(path, sizeof path, "bodies/%s/inertia/%s", body, moments[k]);
                snprintf(value, sizeof value, "%.*s", (int)strcspn(found, ",}"), found);
                change(model, path, value);
            }
        }
    }
}

// A model with what was found in it takes the same torques on another motion.
static void assert_predicts(const tr_inverse *x, tr_model *model, const char *case_name,
                            const char *settings, const char *const *torques, double tolerance)
{
    tr_error err = {0};
    const char *truth = record(model, case_name, settings, NULL, "truth.csv");
    char *fragment = tr_inverse_fragment(x, &err);
    assert_non_null(fragment);
    apply(model, fragment);
    const char *again = record(model, case_name, settings, NULL, "again.csv");
    Sheet *a = tr_sheet_read(truth, &err), *b = tr_sheet_read(again, &err);
    assert_true(a && b && a->rows == b->rows && a->rows > 100);
    for (int k = 0; torques[k]; k++) {
        const double *from = tr_sheet_column(a, torques[k]), *to = tr_sheet_column(b, torques[k]);
        double most = 0;
        for (size_t i = 0; i < a->rows; i++) most = fmax(most, fabs(from[i]));
        for (size_t i = 0; i < a->rows; i++) assert_below(fabs(from[i] - to[i]), tolerance * most);
    }
    tr_sheet_free(a);
    tr_sheet_free(b);
    tr_text_free(fragment);
}

// ---- the floating arm ------------------------------------------------------------------------

static const char *const arm_velocities[] = {"base.vx", "base.vy", "base.vz", "base.wx", "base.wy",
                                             "base.wz", "q1_rate", "q2_rate", "q3_rate", NULL};
static const char *const arm_torques[] = {"tau.q1", "tau.q2", "tau.q3", NULL};

// models/floating_arm.yaml
static void arm_truth(double phi[4 * TEN])
{
    const double m[] = {100, 4, 3, 2}, l[] = {0, 0.8, 0.7, 0.4}, thin[] = {0, 0.005, 0.004, 0.002};
    for (int i = 0; i < 4; i++) {
        const double rod = m[i] * l[i] * l[i] / 12;
        const double I[] = {thin[i], rod, rod, 0, 0, 0}, base[] = {8, 10, 9, 0.3, 0, 0};
        const Ten t = ten_of(m[i], v3(l[i] / 2, 0, 0), i ? I : base);
        memcpy(phi + i * TEN, t.at, sizeof t.at);
    }
}

// From a body to the one that it hangs from by a hinge at r, along axis k (y or z, parallel axes):
// a point on the hinge's axis, at its origin or beside it, and a thin rod along it
static void assert_arm_transfers(const Base *base, int child, V3 r, int k)
{
    const double none[6] = {0};
    for (int what = 0; what < 3; what++) {
        double phi[4 * TEN] = {0};
        double rod[6] = {1, 1, 1, 0, 0, 0};
        rod[k] = 0;
        const V3 off = what == 1 ? v3_axis(k) : v3(0, 0, 0);
        const double m = what < 2 ? 1 : 0;
        const Ten in = ten_of(m, off, what < 2 ? none : rod);
        const Ten out = ten_of(m, v3_plus(r, off), what < 2 ? none : rod);
        for (int j = 0; j < TEN; j++) {
            phi[child * TEN + j] += in.at[j];
            phi[(child - 1) * TEN + j] -= out.at[j];
        }
        assert_unseen(base, phi);
    }
}

static void test_floating_arm(void **state)
{
    (void)state;
    double truth[4 * TEN];
    arm_truth(truth);
    static const char *const cases[] = {"driven", "torques"};
    for (int i = 0; i < 2; i++) {
        tr_model *model = model_called("floating_arm");
        const char *log = record(model, cases[i], "", arm_velocities, "arm.csv");
        tr_system *system = opened(model, cases[i], "*");
        tr_inverse *x = find(system, log, 0);
        assert_int_equal(x->bodies, 4); // the hand has no mass
        assert_int_equal(x->base.rank, 40 - 3 * 3);
        assert_false(x->is_bounded || x->made_accelerations || x->made_velocities);
        assert_base(x, truth, 1e-9);
        assert_arm_transfers(&x->base, 1, v3(0.4, 0, 0.35), 2);
        assert_arm_transfers(&x->base, 2, v3(0.8, 0, 0), 1);
        assert_arm_transfers(&x->base, 3, v3(0.7, 0, 0), 1);
        assert_possible(x);
        for (int j = 0; j < 4 * TEN; j++) // nearest to the model, which is the truth
            assert_close(x->phi[j], truth[j], 1e-9);
        tr_inverse_free(x);
        tr_system_free(system);
        tr_model_free(model);
    }
}

// The model knows nothing of the arm's inertias: what can be told is found all the same, and is
// enough for other motions.
static void test_wrong_model(void **state)
{
    (void)state;
    double truth[4 * TEN];
    arm_truth(truth);
    tr_model *model = model_called("floating_arm"), *wrong = model_called("floating_arm");
    const char *log = record(model, "driven", "", arm_velocities, "arm.csv");
    for (int k = 0; arm_velocities[k]; k++) { // so that the columns are known as accelerations
        char path[100], formula[100];
        snprintf(path, sizeof path, "outputs/acceleration_%d", k);
        snprintf(formula, sizeof formula, "d(%s)", arm_velocities[k]);
        change(wrong, path, formula);
    }
    change(wrong, "bodies/base/mass", "70");
    change(wrong, "bodies/shoulder/mass", "9");
    change(wrong, "bodies/elbow/com", "0.1, 0.2, 0.1");
    change(wrong, "bodies/wrist/inertia/zz", "0.0275");
    tr_system *system = opened(wrong, "driven", "*");
    tr_inverse *x = find(system, log, 0);
    assert_int_equal(x->base.rank, 31);
    assert_base(x, truth, 1e-9);
    assert_possible(x);
    assert_false(x->is_bounded);
    assert_true(x->misfit_model > 1e6 * x->misfit);
    change(model, "cases/driven/roles/q1/motion", "0.7*sin(1.3*t)^2");
    change(model, "cases/driven/roles/q3/motion", "0.4*t^2/(1 + t)");
    assert_predicts(x, model, "driven", "", arm_torques, 1e-9);
    tr_inverse_free(x);
    tr_system_free(system);
    tr_model_free(model);
    tr_model_free(wrong);
}

// ---- the five-bar ----------------------------------------------------------------------------

static const char *const bar_velocities[] = {"left_rate", "left_elbow_rate", "right_rate",
                                             "right_elbow_rate", NULL};
static const char *const bar_torques[] = {"tau.left", "tau.right", NULL};

// models/five_bar.yaml: upper left, fore left, upper right, fore right
static void bar_truth(double phi[4 * TEN])
{
    const double a = 0.3, b = 0.45, ma = 0.8, mb = 0.5, tool = 0.6, rotor = 0.004;
    const double Ia = ma * a * a / 12, Ib = mb * b * b / 12, both = mb + tool;
    const double more = mb * tool / both * b * b / 4;
    const double upper[] = {0, Ia + rotor, Ia, 0, 0, 0}, fore[] = {0, Ib, Ib, 0, 0, 0};
    const double loaded[] = {0, Ib + more, Ib + more, 0, 0, 0};
    const Ten t[] = {ten_of(ma, v3(a / 2, 0, 0), upper),
                     ten_of(both, v3(b * (mb / 2 + tool) / both, 0, 0), loaded),
                     ten_of(ma, v3(a / 2, 0, 0), upper), ten_of(mb, v3(b / 2, 0, 0), fore)};
    for (int i = 0; i < 4; i++) memcpy(phi + i * TEN, t[i].at, sizeof t[i].at);
}

// A point of mass where two bodies meet belongs to either.
static void assert_bar_transfer(const Base *base, int from, double x, int to, double y)
{
    const double none[6] = {0};
    double phi[4 * TEN] = {0};
    const Ten out = ten_of(1, v3(x, 0, 0), none), in = ten_of(1, v3(y, 0, 0), none);
    for (int j = 0; j < TEN; j++) phi[from * TEN + j] -= out.at[j], phi[to * TEN + j] += in.at[j];
    assert_unseen(base, phi);
}

static void test_five_bar(void **state)
{
    (void)state;
    double truth[4 * TEN];
    bar_truth(truth);
    static const char *const cases[] = {"circle", "servo"};
    for (int i = 0; i < 2; i++) {
        tr_model *model = model_called("five_bar");
        const char *log = record(model, cases[i], "", bar_velocities, "bar.csv");
        tr_system *system = opened(model, cases[i], "*");
        tr_inverse *x = find(system, log, 0);
        // mx mz Iyy of each, m of the forearms; less three transfers
        assert_int_equal(x->base.rank, 14 - 3);
        assert_base(x, truth, 1e-9);
        assert_bar_transfer(&x->base, 0, 0.3, 1, 0);
        assert_bar_transfer(&x->base, 2, 0.3, 3, 0);
        assert_bar_transfer(&x->base, 1, 0.45, 3, 0.45);
        // the model has no Ixx: no body of three dimensions could be so, and it is moved
        assert_possible(x);
        assert_false(x->is_bounded);
        assert_predicts(x, model, "circle", "radius=0.05 rate=1.4 x0=-0.03 z0=0.46", bar_torques,
                        1e-9);
        tr_inverse_free(x);
        tr_system_free(system);
        tr_model_free(model);
    }
}

// ---- what is not recorded --------------------------------------------------------------------

// Without these columns
static const char *without(const char *log, const char *const *columns, const char *file)
{
    tr_error err = {0};
    Sheet *sheet = tr_sheet_read(log, &err);
    FILE *out = fopen(in_folder(file), "w");
    assert_true(sheet && out);
    for (size_t row = 0; row <= sheet->rows; row++) {
        bool any_yet = false;
        for (size_t k = 0; k < sheet->columns; k++) {
            bool is_left = true;
            for (int c = 0; columns[c]; c++)
                is_left = is_left && strcmp(sheet->names[k], columns[c]) != 0;
            if (!is_left) continue;
            if (any_yet) fputc(',', out);
            if (row)
                fprintf(out, "%.17g", sheet->values[k * sheet->rows + row - 1]);
            else
                fputs(sheet->names[k], out);
            any_yet = true;
        }
        fputc('\n', out);
    }
    assert_int_equal(fclose(out), 0);
    tr_sheet_free(sheet);
    return in_folder(file);
}

// Slopes of splines: of the fourth order in the distance of rows, and less at the ends
static void test_splines(void **state)
{
    (void)state;
    double truth[4 * TEN];
    bar_truth(truth);
    tr_model *model = model_called("five_bar");
    tr_system *system = opened(model, "circle", "*");
    const char *log = record(model, "circle", "", NULL, "bar.csv");
    tr_inverse *x = find(system, log, 0);
    assert_true(x->made_accelerations && !x->made_velocities);
    assert_int_equal(x->base.rank, 11);
    assert_base(x, truth, 1e-4);
    tr_inverse_free(x);
    x = find(system, without(log, bar_velocities, "less.csv"), 0);
    assert_true(x->made_accelerations && x->made_velocities);
    assert_base(x, truth, 1e-3);
    tr_inverse_free(x);
    tr_system_free(system);
    tr_model_free(model);
    // a base that turns: quaternions
    model = model_called("floating_arm");
    arm_truth(truth);
    system = opened(model, "driven", "*");
    log = record(model, "driven", "", NULL, "arm.csv");
    x = find(system, without(log, arm_velocities, "less.csv"), 0);
    assert_true(x->made_velocities);
    assert_int_equal(x->base.rank, 31);
    assert_base(x, truth, 0.02);
    char *text = tr_inverse_text(x, false, NULL);
    assert_says(text, "velocities are slopes of splines through coordinates");
    assert_says(text, "together m(base), mx(base)");
    tr_text_free(text);
    tr_inverse_free(x);
    tr_system_free(system);
    tr_model_free(model);
}

// Coordinates that do not quite close the loop are moved so that they do: what cannot be told is
// not told by noise either.
static void test_noisy_loop(void **state)
{
    (void)state;
    Random r = {31};
    tr_error err = {0};
    double truth[4 * TEN];
    bar_truth(truth);
    tr_model *model = model_called("five_bar");
    tr_system *system = opened(model, "circle", "*");
    Sheet *sheet = tr_sheet_read(record(model, "circle", "", bar_velocities, "bar.csv"), &err);
    FILE *out = fopen(in_folder("noisy.csv"), "w");
    assert_true(sheet && out);
    for (size_t k = 0; k < sheet->columns; k++)
        fprintf(out, "%s%s", sheet->names[k], k + 1 < sheet->columns ? "," : "\n");
    for (size_t row = 0; row < sheet->rows; row++)
        for (size_t k = 0; k < sheet->columns; k++)
            fprintf(out, "%.17g%s", sheet->values[k * sheet->rows + row] + (k ? 1e-4 * any(&r) : 0),
                    k + 1 < sheet->columns ? "," : "\n");
    assert_int_equal(fclose(out), 0);
    tr_inverse *x = find(system, in_folder("noisy.csv"), 0);
    assert_int_equal(x->base.rank, 11);
    assert_true(x->moved > 1e-5 && x->moved < 1e-3);
    assert_bar_transfer(&x->base, 1, 0.45, 3, 0.45);
    for (uint32_t i = 0; i < x->base.rank; i++)
        assert_close(x->base.value[i], combination(&x->base, i, truth), 1e-3);
    assert_possible(x);
    tr_inverse_free(x);
    tr_sheet_free(sheet);
    tr_system_free(system);
    tr_model_free(model);
}

// Inputs are what was recorded of them, or else as the model has them.
static void test_inputs(void **state)
{
    (void)state;
    tr_model *model = model_from(
        "trundle: 1\ngravity: 0, 0, 0\ninputs: {push: 6*t}\nbodies:\n"
        "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x, damping: 1}, "
        "mass: 2, inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "forces: {hand: {body: cart, force: \"push, 0, 0\"}}\n");
    tr_system *system = opened(model, NULL, "cart");
    write_text(in_folder("with.csv"), "t,x,x_rate,d(x_rate),push\n0,0,1,1,4\n1,0,2,2,8\n"
                                      "2,0,0,3,9\n3,0,0,-1,-3\n"); // push = 3 a + v
    write_text(in_folder("bare.csv"), "t,x,x_rate,d(x_rate)\n0,0,0,0\n1,0,0,1.5\n2,0,2,2.5\n"
                                      "3,0,1,4.25\n"); // 6 t = 4 a + v
    tr_inverse *x = find(system, in_folder("with.csv"), 0);
    assert_close(x->phi[0], 3, 1e-12);
    tr_inverse_free(x);
    x = find(system, in_folder("bare.csv"), 0);
    assert_close(x->phi[0], 4, 1e-12);
    tr_inverse_free(x);
    tr_system_free(system);
    tr_model_free(model);
}

// ---- random trees ----------------------------------------------------------------------------

// Hinges and slides, some of them wheels
static NeForest any_tree(Random *r, int count, Buffer *text)
{
    NeForest f = {.count = count, .gravity = v3(any(r), any(r), -9.81)};
    tr_buffer_print(text, "trundle: 1\ngravity: %.17g, %.17g, %.17g\nbodies:\n", f.gravity.x,
                    f.gravity.y, f.gravity.z);
    for (int i = 0; i < count; i++) {
        NeBody *b = &f.body[i];
        *b = (NeBody){.parent = i ? (int)random_below(r, (uint32_t)i) : -1,
                      .type = chance(r, 0.8) ? NE_REVOLUTE : NE_PRISMATIC,
                      .at = any_vector(r),
                      .axis = chance(r, 0.5) ? v3_axis((int)random_below(r, 3)) : any_vector(r),
                      .mass = random_between(r, 0.5, 2),
                      .com = v3_times(0.3, any_vector(r)),
                      .inertia = any_inertia(r, 0.01, 0.1)};
        const bool is_wheel = chance(r, 0.3);
        if (is_wheel) b->com = v3(0, 0, 0), b->axis = v3_axis(1);
        if (is_wheel) b->inertia = (M3){{v3(0.1, 0, 0), v3(0, 0.15, 0), v3(0, 0, 0.1)}};
        const M3 I = b->inertia;
        tr_buffer_print(text, "  b%d: {", i);
        if (i) tr_buffer_print(text, "parent: b%d, ", b->parent);
        tr_buffer_print(text, "joint: {type: %s", ne_type_names[b->type]);
        add_vector(text, "at", b->at);
        add_vector(text, "axis", b->axis);
        tr_buffer_print(text, "}, mass: %.17g", b->mass);
        add_vector(text, "com", b->com);
        if (is_wheel)
            tr_buffer_print(text, ", inertia: {axial: 0.15, radial: 0.1, axis: \"0, 1, 0\"}}\n");
        else
            tr_buffer_print(text,
                            ", inertia: {xx: %.17g, yy: %.17g, zz: %.17g, xy: %.17g, xz: %.17g, "
                            "yz: %.17g}}\n",
                            I.column[0].x, I.column[1].y, I.column[2].z, I.column[0].y,
                            I.column[0].z, I.column[1].z);
    }
    tr_buffer_print(text, "roles:\n");
    for (int i = 0; i < count; i++) tr_buffer_print(text, "  b%d: {torque: sin(t)}\n", i);
    ne_number(&f);
    return f;
}

static void any_state(NeForest *f, Random *r)
{
    for (int i = 0; i < f->count; i++) f->body[i].q[0] = 3 * any(r), f->body[i].v[0] = 2 * any(r);
}

// tau = M v' + c, by the oracle
static void torques(NeForest *f, const double *a, double *tau)
{
    static NeDynamics d;
    ne_dynamics(f, &d);
    for (int i = 0; i < d.n; i++) {
        tau[i] = d.c[i];
        for (int k = 0; k < d.n; k++) tau[i] += d.M[i][k] * a[k];
    }
}

// States that have nothing to do with each other, as rows
static const char *write_states(NeForest *f, Random *r, int rows, double noise)
{
    const char *path = in_folder("states.csv");
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "t");
    for (int i = 0; i < f->count; i++)
        fprintf(out, ",b%d,b%d_rate,d(b%d_rate),tau.b%d", i, i, i, i);
    fprintf(out, "\n");
    for (int row = 0; row < rows; row++) {
        double a[NE_MAX_BODIES], tau[NE_MAX_BODIES];
        any_state(f, r);
        for (int i = 0; i < f->count; i++) a[i] = 3 * any(r);
        torques(f, a, tau);
        fprintf(out, "%d", row);
        for (int i = 0; i < f->count; i++)
            fprintf(out, ",%.17g,%.17g,%.17g,%.17g", f->body[i].q[0], f->body[i].v[0], a[i],
                    tau[i] + noise * any(r));
        fprintf(out, "\n");
    }
    assert_int_equal(fclose(out), 0);
    return path;
}

static void tree_truth(const NeForest *f, double *phi)
{
    for (int i = 0; i < f->count; i++) {
        const NeBody *b = &f->body[i];
        const M3 I = b->inertia;
        const double moments[] = {I.column[0].x, I.column[1].y, I.column[2].z,
                                  I.column[0].y, I.column[0].z, I.column[1].z};
        const Ten t = ten_of(b->mass, b->com, moments);
        memcpy(phi + i * TEN, t.at, sizeof t.at);
    }
}

// What was found, in place of what the bodies are
static void take(NeForest *f, const tr_inverse *x)
{
    for (int i = 0; i < f->count; i++) {
        double com[3], I[6];
        NeBody *b = &f->body[i];
        tr_inertia_written(x->phi + i * TEN, com, I);
        b->mass = x->phi[i * TEN], b->com = v3(com[0], com[1], com[2]);
        b->inertia = (M3){{v3(I[0], I[3], I[4]), v3(I[3], I[1], I[5]), v3(I[4], I[5], I[2])}};
    }
}

static void test_random_trees(void **state)
{
    (void)state;
    Random r = {271};
    for (int trial = 0; trial < 12; trial++) {
        Buffer text = {0};
        NeForest f = any_tree(&r, 2 + (int)random_below(&r, 4), &text);
        double truth[NE_MAX_BODIES * TEN];
        tree_truth(&f, truth);
        const char *log = write_states(&f, &r, 80, 0);
        tr_model *model = model_from(text.at);
        change(model, "bodies/b0/mass", "1.7"); // which the model has wrong
        change(model, "bodies/b1/mass", "2.9");
        tr_system *system = opened(model, NULL, "*");
        tr_inverse *x = find(system, log, 0);
        assert_int_equal(x->bodies, f.count);
        assert_base(x, truth, 1e-9);
        assert_possible(x);
        assert_false(x->is_bounded);
        NeForest found = f;
        take(&found, x);
        for (int k = 0; k < 20; k++) {
            double a[NE_MAX_BODIES], tau[NE_MAX_BODIES], again[NE_MAX_BODIES];
            any_state(&f, &r);
            for (int i = 0; i < f.count; i++) {
                a[i] = 3 * any(&r);
                found.body[i].q[0] = f.body[i].q[0], found.body[i].v[0] = f.body[i].v[0];
            }
            torques(&f, a, tau);
            torques(&found, a, again);
            for (int i = 0; i < f.count; i++) assert_close(again[i], tau[i], 1e-9);
        }
        tr_inverse_free(x);
        tr_system_free(system);
        tr_model_free(model);
        tr_buffer_free(&text);
    }
}

// Of some bodies alone: the others are as the model has them, gyrostats too.
static void test_some_bodies(void **state)
{
    (void)state;
    Random r = {99};
    for (int trial = 0; trial < 6; trial++) {
        Buffer text = {0};
        NeForest f = any_tree(&r, 4, &text);
        double truth[NE_MAX_BODIES * TEN];
        tree_truth(&f, truth);
        const char *log = write_states(&f, &r, 60, 0);
        tr_model *model = model_from(text.at);
        change(model, "bodies/b2/mass", "4");
        tr_system *system = opened(model, NULL, "b2");
        tr_inverse *x = find(system, log, 0);
        const char *name = "";
        assert_non_null(tr_inverse_body(x, 0, &name));
        assert_string_equal(name, "b2");
        assert_int_equal(x->bodies, 1);
        assert_base(x, truth + 2 * TEN, 1e-9);
        tr_inverse_free(x);
        tr_system_free(system);
        tr_model_free(model);
        tr_buffer_free(&text);
    }
}

// M v' + c is linear in the ten numbers, whatever they are.
static void test_linear(void **state)
{
    (void)state;
    Random r = {7};
    static const char *const models[] = {"floating_arm", "five_bar", "bicycle", "segway",
                                         "andrews"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        tr_model *model = model_called(models[i]);
        tr_system *system = opened(model, NULL, "*");
        tr_error err = {0};
        tr_program *program = tr_compile(system, "M c", NULL, &err);
        tr_workspace *work = tr_workspace_new(program, &err);
        if (err.status) fail_msg("%s: %s", models[i], err.text);
        const size_t n = tr_program_sizes(program).outputs;
        assert_true(system->opened_count > 0);
        double *in = calloc(system->input_count, sizeof *in), *out = calloc(4 * n, sizeof *out);
        for (uint32_t k = 0; k < system->input_count; k++) {
            const Input *input = &system->inputs[k];
            const bool moves = input->kind == TR_POSITION || input->kind == TR_VELOCITY;
            in[k] = moves ? 0.5 * any(&r) : input->value;
        }
        double size = 0, phi[3][400] = {{0}};
        const uint32_t p = TEN * system->opened_count;
        for (uint32_t j = 0; j < p; j++) {
            phi[1][j] = any(&r), phi[2][j] = any(&r);
            phi[0][j] = 2 * phi[1][j] - 3 * phi[2][j];
        }
        for (int k = 0; k < 4; k++) { // the last: none
            for (uint32_t j = 0; j < p; j++)
                in[system->opened[j / TEN].input + j % TEN] = k < 3 ? phi[k][j] : 0;
            tr_evaluate(program, work, in, out + (size_t)k * n);
        }
        for (size_t k = 0; k < n; k++) size = fmax(size, fabs(out[k]));
        for (size_t k = 0; k < n; k++) {
            const double sum = 2 * out[n + k] - 3 * out[2 * n + k] + 2 * out[3 * n + k];
            assert_below(fabs(out[k] - sum), 1e-12 * size);
        }
        free(in);
        free(out);
        tr_workspace_free(work);
        tr_program_free(program);
        tr_system_free(system);
        tr_model_free(model);
    }
}

// ---- noise and bounds ------------------------------------------------------------------------

// Errors of combinations are as large as their deviations say.
static void test_deviations(void **state)
{
    (void)state;
    Random r = {2024};
    double squares = 0, count = 0;
    for (int trial = 0; trial < 30; trial++) {
        Buffer text = {0};
        NeForest f = any_tree(&r, 2, &text);
        double truth[NE_MAX_BODIES * TEN];
        tree_truth(&f, truth);
        const char *log = write_states(&f, &r, 60, 0.1);
        tr_model *model = model_from(text.at);
        tr_system *system = opened(model, NULL, "*");
        tr_inverse *x = find(system, log, 0);
        for (uint32_t i = 0; i < x->base.rank; i++) {
            const double z = (x->base.value[i] - combination(&x->base, i, truth)) / x->base.sd[i];
            squares += z * z, count++;
        }
        assert_possible(x);
        tr_inverse_free(x);
        tr_system_free(system);
        tr_model_free(model);
        tr_buffer_free(&text);
    }
    assert_true(squares / count > 0.8 && squares / count < 1.2);
}

static const char slider[] = "trundle: 1\n"
                             "gravity: 0, 0, 0\n"
                             "bodies:\n"
                             "  cart: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, "
                             "mass: 2, inertia: {xx: 1, yy: 1, zz: 1}}\n"
                             "roles: {x: {torque: 1}}\n";
#define SLIDES "t,x,x_rate,d(x_rate),tau.x\n"

// A mass that would be negative
static void test_negative_mass(void **state)
{
    (void)state;
    write_text(in_folder("bad.csv"), SLIDES "0,0,0,1,-3\n1,0,1,2,-6\n2,0,2,-1,3\n3,0,2,4,-12.5\n");
    tr_model *model = model_from(slider);
    tr_system *system = opened(model, NULL, "*");
    tr_inverse *x = find(system, in_folder("bad.csv"), 0);
    assert_int_equal(x->base.rank, 1);
    assert_true(x->base.value[0] < -2.9);
    assert_true(x->is_bounded);
    assert_possible(x);
    assert_true(x->phi[0] > 0 && x->phi[0] < 1e-2);
    assert_true(x->misfit > x->misfit_data);
    char *text = tr_inverse_text(x, false, NULL), *json = tr_inverse_text(x, true, NULL);
    assert_says(text, "bounds   'cart' is as far as it can be");
    assert_says(json, "\"bounds_active\": true");
    tr_text_free(text);
    tr_text_free(json);
    tr_inverse_free(x);
    tr_system_free(system);
    tr_model_free(model);
}

// A hinge about z tells Izz. A model of the plane has no other moments, which no body can have: the
// nearest that one can have are Ixx = Iyy = Izz/2, a disc.
static void test_nearest(void **state)
{
    (void)state;
    tr_model *model = model_from("trundle: 1\ngravity: 0, 0, 0\nbodies:\n"
                                 "  disc: {joint: {type: revolute, axis: \"0, 0, 1\", coordinate: "
                                 "x}, mass: 2, inertia: {zz: "
                                 "0.4}}\nroles: {x: {torque: 1}}\n");
    tr_system *system = opened(model, NULL, "disc");
    write_text(in_folder("hinge.csv"),
               SLIDES "0,0,0,1,0.6\n1,0,1,2,1.2\n2,0,2,-1,-0.6\n3,0,2,4,2.4\n");
    tr_inverse *x = find(system, in_folder("hinge.csv"), 0);
    assert_int_equal(x->base.rank, 1);
    assert_false(x->is_bounded);
    assert_close(x->phi[6], 0.6, 1e-12);
    assert_close(x->phi[4], 0.3, 1e-6);
    assert_close(x->phi[5], 0.3, 1e-6);
    assert_close(x->phi[0], 2, 1e-6);
    for (int k = 1; k < TEN; k++)
        if (k < 4 || k > 6) assert_close(x->phi[k], 0, 1e-6);
    assert_possible(x);
    tr_inverse_free(x);
    tr_system_free(system);
    tr_model_free(model);
}

// Torques that are mostly noise, of a model that bodies can have and of one that they cannot
static void test_bounds(void **state)
{
    (void)state;
    Random r = {5};
    int active = 0;
    for (int trial = 0; trial < 12; trial++) {
        Buffer text = {0};
        NeForest f = any_tree(&r, 3, &text);
        const char *log = write_states(&f, &r, 12, 20);
        tr_model *model = model_from(text.at);
        tr_system *system = opened(model, NULL, "*");
        tr_inverse *x = find(system, log, 0);
        assert_possible(x);
        active += x->is_bounded;
        if (x->is_bounded) {
            assert_true(x->misfit >= x->misfit_data);
            assert_true(x->misfit < 1.0001 * x->misfit_model); // the model is possible, too
        }
        tr_inverse_free(x);
        x = find(system, log, 1e6); // by the model alone
        assert_false(x->is_bounded);
        for (uint32_t j = 0; j < x->p; j++) assert_close(x->phi[j], x->prior[j], 1e-6);
        tr_inverse_free(x);
        x = find(system, log, 1e-3);
        assert_possible(x);
        tr_inverse_free(x);
        tr_system_free(system);
        tr_model_free(model);
        tr_buffer_free(&text);
    }
    assert_true(active > 6);
}

// A pendulum whose torques ask for a negative moment and a centre: without end, its mass would make
// room for it. It stays about what the model says, and the model takes what is written.
static void test_untold_at_bounds(void **state)
{
    (void)state;
    tr_model *model = model_from("trundle: 1\ngravity: 0, 0, -9.81\nbodies:\n"
                                 "  arm: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: "
                                 "x}, mass: 2, com: \"0, 0, -1\", inertia: {xx: 0.1, yy: 0.1, "
                                 "zz: 0.05}}\nroles: {x: {torque: 1}}\n");
    tr_system *system = opened(model, NULL, "arm");
    Random r = {11};
    Buffer log = {0};
    tr_buffer_print(&log, SLIDES);
    for (int i = 0; i < 100; i++) {
        const double x = random_between(&r, -1, 1), a = random_between(&r, -3, 3);
        tr_buffer_print(&log, "%d,%.17g,0,%.17g,%.17g\n", i, x, a,
                        -1.65 * a - 3 * sin(x) + random_between(&r, -1, 1));
    }
    write_text(in_folder("pendulum.csv"), log.at);
    tr_inverse *x = find(system, in_folder("pendulum.csv"), 0);
    assert_true(x->is_bounded);
    assert_possible(x);
    assert_true(x->phi[0] > 1 && x->phi[0] < 20);
    char *fragment = tr_inverse_fragment(x, NULL);
    apply(model, fragment);
    tr_system *again = opened(model, NULL, "arm"); // it is not refused
    for (int k = 0; k < TEN; k++)
        assert_close(again->inputs[again->opened[0].input + (uint32_t)k].value, x->phi[k], 1e-9);
    tr_system_free(again);
    tr_text_free(fragment);
    tr_inverse_free(x);
    tr_system_free(system);
    tr_model_free(model);
    tr_buffer_free(&log);
}

// Moments that are missing by rounding are written as none.
static void test_written(void **state)
{
    (void)state;
    const double phi[TEN] = {3, 0, 0, 0.3, 0.03 - 1e-17, 0.03 - 1e-17, 0};
    double com[3], I[6];
    tr_inertia_written(phi, com, I);
    for (int k = 0; k < 3; k++) assert_true(I[k] >= 0 && I[k] < 1e-15);
}

// ---- what is told ----------------------------------------------------------------------------

// Two hinges in a plane: what every book has
static void test_names(void **state)
{
    (void)state;
    static const char *const velocities[] = {"q1_rate", "q2_rate", NULL};
    tr_model *model = model_from(
        "trundle: 1\n"
        "bodies:\n"
        "  link1: {joint: {type: revolute, axis: \"0, 0, 1\", coordinate: q1}, mass: 3, com: "
        "\"0.2, 0, 0\", inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
        "  link2: {parent: link1, joint: {type: revolute, axis: \"0, 0, 1\", at: \"0.5, 0, 0\", "
        "coordinate: q2}, mass: 2, com: \"0.3, 0.1, 0\", inertia: {xx: 0.1, yy: 0.1, zz: 0.15}}\n"
        "gravity: 0, -9.81, 0\n"
        "roles: {q1: {motion: sin(3*t)}, q2: {motion: cos(4*t)}}\n"
        "cases: {run: {end: 3, every: 0.02}}\n");
    const char *log = record(model, "run", "", velocities, "two.csv");
    tr_system *system = opened(model, "run", "*");
    tr_inverse *x = find(system, log, 0);
    assert_int_equal(x->base.rank, 6);
    char *text = tr_inverse_text(x, false, NULL), *json = tr_inverse_text(x, true, NULL);
    assert_says(text, "I_zz(link1) + 0.25 m(link2) = ");
    assert_close(number_behind(text, "I_zz(link1) + 0.25 m(link2) = "), 0.1 + 3 * 0.04 + 0.5, 1e-9);
    assert_close(number_behind(text, "mx(link1) + 0.5 m(link2) = "), 0.6 + 1, 1e-9);
    assert_close(number_behind(text, "my(link1) = "), 0, 1e-9);
    assert_close(number_behind(text, "base     I_zz(link2) = "), 0.15 + 2 * 0.1, 1e-9);
    assert_close(number_behind(text, "mx(link2) = "), 0.6, 1e-9);
    assert_close(number_behind(text, "my(link2) = "), 0.2, 1e-9);
    assert_says(text, "untold   m(link1), mz(link1)");
    assert_says(json, "\"name\": \"I_zz(link1) + 0.25 m(link2)\"");
    assert_says(json, "\"parameter\": \"m(link2)\"");
    tr_text_free(text);
    tr_text_free(json);
    // numbers of the fragment are those that were found
    char *fragment = tr_inverse_fragment(x, NULL);
    assert_says(fragment, "#   I_zz(link1) + 0.25 m(link2) = ");
    apply(model, fragment);
    tr_system *again = opened(model, "run", "*");
    for (uint32_t j = 0; j < x->p; j++)
        assert_close(again->inputs[again->opened[j / TEN].input + j % TEN].value, x->phi[j], 1e-14);
    tr_text_free(fragment);
    tr_system_free(again);
    tr_inverse_free(x);
    tr_system_free(system);
    tr_model_free(model);
}

// ---- bad input -------------------------------------------------------------------------------

static void assert_refused(const tr_system *system, const char *log, tr_status status,
                           const char *words)
{
    tr_error err = {0};
    const char *path = in_folder("refused.csv");
    tr_inverse_options how = tr_inverse_defaults();
    write_text(path, log);
    how.logs = &path, how.log_count = 1;
    assert_null(tr_inverse_find(system, &how, &err));
    assert_int_equal(err.status, status);
    assert_says(err.text, words);
}

static void test_bad_logs(void **state)
{
    (void)state;
    tr_model *model = model_from(slider);
    tr_system *system = opened(model, NULL, "*");
    assert_refused(system, "t,x,x_rate\n0,0,0\n1,0,0\n2,0,0\n3,0,0\n", TR_INVALID,
                   "has no column 'tau.x', the torque of what is driven");
    assert_refused(system, "t,y,tau.x\n0,0,0\n1,0,0\n2,0,0\n3,0,0\n", TR_INVALID,
                   "has no column 'x'");
    assert_refused(system, "x,tau.x\n0,0\n", TR_INVALID, "has no column 't', the time");
    assert_refused(system, SLIDES "0,0,0,1,2\n1,0,nan,2,4\n2,0,0,1,1\n3,0,0,1,1\n", TR_INVALID,
                   "refused.csv:3: 'x_rate' is not a finite number");
    assert_refused(system, SLIDES "0,0,0,1,2\n1,0,0,2,\n2,0,0,1,1\n3,0,0,1,1\n", TR_INVALID,
                   "refused.csv:3: 'tau.x' is not a finite number");
    assert_refused(system, SLIDES "0,0,0,1,2\n1,0,0,two,4\n", TR_INVALID,
                   "refused.csv:3: 'two' in column 'd(x_rate)' is no number");
    assert_refused(system, SLIDES "0,0,0,1,2\n2,0,0,2,4\n1,0,0,1,1\n3,0,0,1,1\n", TR_INVALID,
                   "refused.csv:4: times must ascend");
    assert_refused(system, SLIDES "0,0,0,1,2\n1,0,0,2,4\n", TR_INVALID,
                   "has 2 rows: at least 4 are needed");
    assert_refused(system, SLIDES "0,0,0,0,0\n1,0,0,0,0\n2,0,0,0,0\n3,0,0,0,0\n", TR_FAILED,
                   "nothing that was recorded depends on the inertias");
    tr_system_free(system);
    tr_model_free(model);
}

static void assert_not_opened(const char *text, const char *bodies, const char *words)
{
    tr_error err = {0};
    tr_model *model = model_from(text);
    const tr_derive_options how = {.size = sizeof how, .inertias = bodies};
    assert_null(tr_derive(model, &how, &err));
    assert_int_equal(err.status, TR_USAGE);
    assert_says(err.text, words);
    tr_model_free(model);
}

static void test_bad_models(void **state)
{
    (void)state;
    tr_error err = {0};
    const char *path = in_folder("none.csv");
    tr_inverse_options how = tr_inverse_defaults();
    assert_not_opened(slider, "cat", "there is no body 'cat'; did you mean 'cart'?");
    static const char hand[] = "trundle: 1\nbodies:\n  a: {joint: {type: free}, mass: 1}\n"
                               "  mark: {parent: a, joint: {type: fixed}}\n";
    assert_not_opened(hand, "a, mark", "'mark' has neither mass nor inertia");
    tr_system *system = system_from(slider);
    how.logs = &path, how.log_count = 1;
    assert_null(tr_inverse_find(system, &how, &err));
    assert_says(err.text, "derive the model with `inertias`");
    tr_system_free(system);
    tr_model *model = model_from(slider);
    system = opened(model, NULL, "cart");
    err = (tr_error){0};
    assert_null(tr_inverse_find(system, &how, &err));
    assert_int_equal(err.status, TR_IO);
    err = (tr_error){0};
    how.prior_weight = -1;
    assert_null(tr_inverse_find(system, &how, &err));
    assert_says(err.text, "must not be negative");
    err = (tr_error){0};
    how.log_count = 0;
    assert_null(tr_inverse_find(system, &how, &err));
    assert_says(err.text, "which recordings?");
    assert_null(tr_inverse_find(NULL, NULL, NULL));
    assert_null(tr_inverse_text(NULL, false, NULL));
    assert_null(tr_inverse_fragment(NULL, NULL));
    assert_null(tr_inverse_body(NULL, 0, NULL));
    tr_inverse_free(NULL);
    tr_system_free(system);
    tr_model_free(model);
}

// What equations need beyond recordings
static void test_refused_models(void **state)
{
    (void)state;
    static const struct {
        const char *model, *words;
    } refused[] = {
        {"hopping_wheel", "contact 'rim' may open or slip, and recordings do not say when"},
        {"disc_on_waves", "where 'rim' touches its surface is not recorded"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        tr_model *model = model_called(refused[i].model);
        tr_system *system = opened(model, NULL, "*");
        assert_refused(system, "t\n0\n", TR_USAGE, refused[i].words);
        tr_system_free(system);
        tr_model_free(model);
    }
    tr_model *model = model_called("flexible_mast");
    const tr_derive_options how = {.size = sizeof how, .inertias = "mast"};
    tr_error err = {0};
    assert_null(tr_derive(model, &how, &err));
    assert_says(err.text, "'mast' bends: only inertias of rigid bodies can be found");
    tr_model_free(model);
    // nothing but weights: all could be lighter
    model = model_called("double_pendulum");
    const char *log = record(model, NULL, "", NULL, "swings.csv");
    char *rows = read_text(log);
    tr_system *system = opened(model, NULL, "*");
    assert_refused(system, rows, TR_FAILED, "nothing says how large inertias are");
    free(rows);
    tr_system_free(system);
    tr_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floating_arm),   cmocka_unit_test(test_wrong_model),
        cmocka_unit_test(test_five_bar),       cmocka_unit_test(test_splines),
        cmocka_unit_test(test_noisy_loop),     cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_random_trees),   cmocka_unit_test(test_some_bodies),
        cmocka_unit_test(test_linear),         cmocka_unit_test(test_deviations),
        cmocka_unit_test(test_negative_mass),  cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_bounds),         cmocka_unit_test(test_names),
        cmocka_unit_test(test_bad_logs),       cmocka_unit_test(test_bad_models),
        cmocka_unit_test(test_refused_models), cmocka_unit_test(test_untold_at_bounds),
        cmocka_unit_test(test_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
