// SPDX-License-Identifier: Apache-2.0
// Feedback by `trundle lqr`: what it writes is put into model files and simulated.
#include "base/json.h"
#include "plans.h"
#include "runs.h"
#include "sim/method.h"

// ---- models --------------------------------------------------------------------------------

static char *text_of_model(const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s.yaml", MODELS_DIR, name);
    return read_text(path);
}

static tr_system *tried(const char *text, const char *case_name, const tr_setting *settings,
                        size_t setting_count, const char *const *controls, size_t control_count,
                        tr_error *err)
{
    tr_model *model = tr_model_parse(text, err);
    const tr_derive_options options = {.size = sizeof options,
                                       .case_name = case_name,
                                       .settings = settings,
                                       .setting_count = setting_count,
                                       .controls = controls,
                                       .control_count = control_count};
    tr_system *system = tr_derive(model, &options, err);
    tr_model_free(model);
    return system;
}

static tr_system *must_derive(const char *text, const char *case_name, const tr_setting *settings,
                              size_t count, const char *control, const char *other)
{
    tr_error err = {0};
    const char *const controls[] = {control, other};
    tr_system *system = tried(text, case_name, settings, count, controls,
                              !control ? 0
                              : other  ? 2
                                       : 1,
                              &err);
    if (!system) fail_msg("%d:%d: %s", err.line, err.column, err.text);
    return system;
}

// Of a model in the folder; `words` are settings "a=1 b=2"
static tr_system *of_model(const char *name, const char *case_name, const char *words,
                           const char *control, const char *other)
{
    char cut[100];
    tr_setting settings[MOST_SETTINGS];
    snprintf(cut, sizeof cut, "%s", words);
    const size_t count = settings_in(cut, settings);
    char *text = text_of_model(name);
    tr_system *system = must_derive(text, case_name, settings, count, control, other);
    free(text);
    return system;
}

static const tr_lqr *must_design(tr_system *system, const tr_lqr_options *o)
{
    tr_error err = {0};
    const tr_lqr *lqr = tr_lqr_design(system, o, &err);
    if (!lqr) fail_msg("%s", err.text);
    return lqr;
}

static double worst_after(const tr_lqr *lqr)
{
    double worst = -(double)INFINITY;
    for (size_t i = 0; i < lqr->states; i++)
        worst = fmax(worst, lqr->step > 0 ? hypot(lqr->after[2 * i], lqr->after[2 * i + 1])
                                          : lqr->after[2 * i]);
    return worst;
}

static double gain_of(const tr_lqr *lqr, size_t input, const char *state)
{
    for (size_t i = 0; i < lqr->states; i++)
        if (strcmp(lqr->state[i], state) == 0) return lqr->K[input * lqr->states + i];
    fail_msg("there is no state '%s'", state);
    return 0;
}

// The text with the lines from `first` up to `next` replaced
static char *with_block(const char *text, const char *first, const char *next, const char *block)
{
    const char *from = strstr(text, first), *to = from ? strstr(from, next) : NULL;
    assert_non_null(to);
    const size_t size = strlen(text) + strlen(block) + 1;
    char *out = malloc(size);
    assert_non_null(out);
    snprintf(out, size, "%.*s%s%s", (int)(from - text), text, block, to);
    return out;
}

// The text and a case at its end, with these lines moved to the right
static char *with_case(const char *text, const char *head, const char *lines)
{
    char *out = calloc(1, strlen(text) + strlen(head) + 6 * strlen(lines) + 1);
    assert_non_null(out);
    strcat(strcpy(out, text), head);
    for (const char *at = lines; *at;) {
        const size_t length = strcspn(at, "\n") + 1;
        strncat(strcat(out, "    "), at, length);
        at += length;
    }
    return out;
}

// An output when t seconds have passed
static double output_at(tr_system *system, const char *label, double t)
{
    tr_error err = {0};
    Flow *flow = open_flow(system, &err);
    Mover *mover = flow ? tr_mover_new(tr_method("erk", &err), flow, flow->start, &err) : NULL;
    if (!mover) fail_msg("%s", err.text);
    mover->rtol = 1e-8, mover->atol = 1e-10, mover->end = mover->limit = t;
    if (!mover->method->advance(mover, t, &err)) fail_msg("%s", err.text);
    tr_flow_columns(flow, t, mover->y, flow->column);
    double value = (double)NAN;
    for (uint32_t i = 0; i < flow->column_count; i++)
        if (strcmp(flow->labels[i], label) == 0) value = flow->column[i];
    tr_mover_free(mover);
    close_flow(flow);
    return value;
}

// ---- cart and pole -------------------------------------------------------------------------

// The gain on the place of a cart is sqrt(q / r), whatever the pole does: the law's sign is that of
// the push that brings it back at last.
static void test_cart(void **state)
{
    (void)state;
    tr_system *system = of_model("cart_pole", "free", "tilt=0", "x", NULL);
    for (int i = 0; i < 2; i++) {
        const tr_lqr_options o = {.size = sizeof o,
                                  .inputs = i ? "push" : "x",
                                  .q = "x=9,angle=2",
                                  .r = i ? "push=4" : "x=4"};
        const tr_lqr *lqr = must_design(system, &o);
        assert_int_equal(lqr->states, 4);
        assert_int_equal(lqr->inputs, 1);
        assert_close(gain_of(lqr, 0, "x"), -1.5, 1e-9);
        assert_below(lqr->residual, 1e-12);
        assert_true(worst_after(lqr) < -0.1);
        assert_below(lqr->unsteadiness, 1e-12);
        assert_int_equal(lqr->neutral, 0);
        tr_lqr_free(lqr);
    }
    // without a weight the place changes nothing
    const tr_lqr_options o = {.size = sizeof o, .inputs = "x"};
    const tr_lqr *lqr = must_design(system, &o);
    assert_int_equal(lqr->states, 3);
    assert_null(strstr(lqr->law[0], "*x"));
    tr_lqr_free(lqr);
    tr_system_free(system);
}

// In steps that are short the gains are those of continuous feedback; what is weighed is the sum
// over steps.
static void test_steps(void **state)
{
    (void)state;
    tr_system *system = of_model("cart_pole", "free", "tilt=0", "push", NULL);
    const tr_lqr_options all = {.size = sizeof all, .inputs = "push", .q = "x=1"},
                         some = {.size = sizeof some, .inputs = "push", .q = "x=1", .step = 1e-4},
                         few = {.size = sizeof few, .inputs = "push", .q = "x=1", .step = 0.1};
    const tr_lqr *a = must_design(system, &all), *b = must_design(system, &some),
                 *c = must_design(system, &few);
    for (size_t i = 0; i < a->states; i++) assert_close(a->K[i] / b->K[i], 1, 3e-3);
    assert_true(worst_after(b) < 1 && worst_after(c) < 0.99);
    assert_below(c->residual, 1e-12);
    tr_lqr_free(a);
    tr_lqr_free(b);
    tr_lqr_free(c);
    tr_system_free(system);
}

// ---- bases and balls -----------------------------------------------------------------------

static bool has_value(double (*values)[2], size_t count, const double *wanted)
{
    for (size_t i = 0; i < count; i++)
        if (hypot(values[i][0] - wanted[0], values[i][1] - wanted[1]) <= 1e-6) return true;
    return false;
}

// A law is written by places, rotations and quaternions; about the same state the model with it has
// the eigenvalues that were promised.
static void check_law(const char *text, const char *body, const char *inputs, const char *q,
                      const char *const *axes)
{
    tr_error err = {0};
    char path[60];
    double values[12][2];
    const tr_lqr_options o = {.size = sizeof o, .inputs = inputs, .q = q};
    tr_system *system = system_from(text);
    const tr_lqr *lqr = must_design(system, &o);
    tr_model *model = model_from(text);
    for (size_t i = 0; i < lqr->inputs; i++) {
        snprintf(path, sizeof path, "roles/%s/torque/%s", body, axes[i]);
        change(model, path, lqr->law[i]);
    }
    tr_system *held = system_of(model, NULL);
    tr_linear *linear = tr_linearise(held, NULL, &err);
    if (!linear) fail_msg("%s", err.text);
    assert_int_equal(linear->states, lqr->states);
    assert_true(tr_linear_eigenvalues(linear, values, &err));
    for (size_t i = 0; i < lqr->states; i++)
        assert_true(has_value(values, lqr->states, lqr->after + 2 * i));
    tr_linear_free(linear);
    tr_lqr_free(lqr);
    tr_system_free(held);
    tr_system_free(system);
}

#define BODY ", mass: 2, com: '0.02, 0, 0.1', inertia: {xx: 0.5, yy: 0.3, zz: 0.4}}\n"

static const char puck[] =
    "trundle: 1\ngravity: 0, 0, 0\ninputs: {fx: 0, fy: 0, n: 0}\n"
    "bodies:\n  puck: {joint: {type: planar}" BODY "roles: {puck: {torque: {vx: fx, vy: fy, wz: "
    "n}}}\ninitial: {puck.x: 0.3, puck.y: -0.2, puck.theta: 0.7}\n";

static const char top[] =
    "trundle: 1\ngravity: 0, 0, 0\ninputs: {nx: 0, ny: 0, nz: 0}\n"
    "bodies:\n  top: {joint: {type: ball}" BODY "roles: {top: {torque: {wx: nx, wy: ny, wz: "
    "nz}}}\nguess: {top.qw: 0.9, top.qx: 0.3, top.qy: -0.2, top.qz: 0.25}\n";

static const char satellite[] =
    "trundle: 1\ngravity: 0, 0, 0\ninputs: {fx: 0, fy: 0, fz: 0, nx: 0, ny: 0, nz: 0}\n"
    "bodies:\n  sat: {joint: {type: free}" BODY "roles: {sat: {torque: {vx: fx, vy: fy, vz: fz, "
    "wx: nx, wy: ny, wz: nz}}}\n"
    "guess: {sat.x: 0.4, sat.y: 1, sat.qw: 0.9, sat.qx: 0.3, sat.qy: -0.2, sat.qz: 0.25}\n";

static void test_laws_of_bases(void **state)
{
    (void)state;
    static const char *const plane[] = {"vx", "vy", "wz"}, *const turn[] = {"wx", "wy", "wz"},
                             *const all[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
    check_law(puck, "puck", "fx, fy, n", "puck.dx=4, puck.dy=3, puck.rz=2", plane);
    check_law(top, "top", "nx, ny, nz", "top.rx=4, top.ry=3, top.rz=2", turn);
    check_law(satellite, "sat", "fx, fy, fz, nx, ny, nz",
              "sat.dx=4, sat.dy=4, sat.dz=2, sat.rx=1, sat.ry=2, sat.rz=3", all);
}

// What goes round comes back to no place and no attitude that a formula could hold.
static void test_turning_bases(void **state)
{
    (void)state;
    static const struct {
        const char *text, *rate, *inputs, *q, *words;
    } turning[] = {
        {satellite, "initial/sat.wx", "fx,fy,fz,nx,ny,nz", "sat.dx=1", "the place of 'sat'"},
        {satellite, "initial/sat.wx", "fx,fy,fz,nx,ny,nz", "sat.rx=1,sat.ry=1,sat.rz=1",
         "the heading of 'sat'"},
        {top, "initial/top.wx", "nx,ny,nz", "top.rx=1,top.ry=1,top.rz=1", "the attitude of 'top'"}};
    for (size_t i = 0; i < sizeof turning / sizeof *turning; i++) {
        tr_error err = {0};
        tr_model *model = model_from(turning[i].text);
        change(model, turning[i].rate, "0.5");
        tr_system *system = system_of(model, NULL);
        const tr_lqr_options o = {.size = sizeof o, .inputs = turning[i].inputs, .q = turning[i].q};
        assert_null(tr_lqr_design(system, &o, &err));
        if (!strstr(err.text, turning[i].words)) fail_msg("%s", err.text);
        assert_non_null(strstr(err.text, "cannot be held by a formula while it turns"));
        assert_int_equal(err.status, TR_FAILED);
        tr_system_free(system);
    }
}

// ---- the transporter -----------------------------------------------------------------------

static void test_segway(void **state)
{
    (void)state;
    char *text = text_of_model("segway");
    const tr_setting upright[] = {{"pitch0", "0"}}, leaning[] = {{"pitch0", "0.2"}};
    tr_system *system = must_derive(text, "fall", upright, 1, "left", "right");
    const tr_lqr_options o = {.size = sizeof o, .inputs = "left, right", .q = "way=20, yaw=3"};
    const tr_lqr *lqr = must_design(system, &o);
    assert_true(worst_after(lqr) < -0.3);
    assert_below(lqr->residual, 1e-12);
    tr_error err = {0};
    char *roles = tr_lqr_roles(lqr, &err);
    assert_non_null(roles);
    char *own = with_block(text, "roles:\n", "outputs:\n", roles);
    tr_system *held = must_derive(own, "fall", leaning, 1, NULL, NULL);
    assert_close(output_at(held, "pitch", 0), 0.2, 1e-12);
    assert_true(fabs(output_at(held, "pitch", 0.2)) > 0.05);
    assert_below(fabs(output_at(held, "pitch", 15)), 1e-3);
    assert_below(fabs(output_at(held, "way", 15)), 1e-2);
    tr_text_free(roles);
    tr_lqr_free(lqr);
    tr_system_free(system);
    tr_system_free(held);
    free(own);
    free(text);
}

// The feedback that the model has is not part of what is controlled: the gains are the same.
static void test_law_is_replaced(void **state)
{
    (void)state;
    tr_system *bare = of_model("segway", "fall", "pitch0=0", "left", "right"),
              *held = of_model("segway", "balance", "pitch0=0", "left", "right");
    const tr_lqr_options o = {.size = sizeof o, .inputs = "left,right"};
    const tr_lqr *a = must_design(bare, &o), *b = must_design(held, &o);
    for (size_t i = 0; i < a->states * a->inputs; i++) assert_close(a->K[i], b->K[i], 1e-9);
    tr_lqr_free(a);
    tr_lqr_free(b);
    tr_system_free(bare);
    tr_system_free(held);
}

// A motor stays as strong as it is: its limit stands beside the law that takes its torque's place.
static void test_limit_stays(void **state)
{
    (void)state;
    static const char text[] = "trundle: 1\nparameters: {most: 2}\ninputs: {push: 0}\nbodies:\n"
                               "  x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}\n"
                               "roles: {x: {torque: 2*push, limit: \"most/(1 + abs(x_rate))\"}}\n";
    for (int i = 0; i < 4; i++) {
        tr_error err = {0};
        tr_system *system = must_derive(text, NULL, NULL, 0, i % 2 ? "x" : "push", NULL);
        const tr_lqr_options o = {
            .size = sizeof o, .inputs = i % 2 ? "x" : "push", .step = i / 2 ? 0.01 : 0};
        const tr_lqr *lqr = must_design(system, &o);
        char *file = tr_lqr_fragment(lqr, &err);
        if (i != 2 && !strstr(file, "    limit: most/(1 + abs(x_rate))\n")) fail_msg("%s", file);
        if (i == 2) assert_null(strstr(file, "roles:")); // the role is the model's
        tr_text_free(file);
        tr_lqr_free(lqr);
        tr_system_free(system);
    }
}

// A controller of the model that sets the same input is named, with what to do.
static void test_two_controllers(void **state)
{
    (void)state;
    static const char text[] =
        "trundle: 1\ninputs: {push: 0}\n"
        "bodies: {x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1}}\n"
        "roles: {x: {torque: push}}\n"
        "controllers: {pd: {period: 0.01, outputs: {push: -x - x_rate}}}\n"
        "cases: {own: {end: 1}, bare: {without: [pd]}}\n";
    for (int i = 0; i < 2; i++) {
        tr_error err = {0};
        tr_system *system = must_derive(text, i ? "bare" : "own", NULL, 0, NULL, NULL);
        const tr_lqr_options o = {.size = sizeof o, .inputs = "push", .step = 0.01};
        const tr_lqr *lqr = must_design(system, &o);
        char *file = tr_lqr_fragment(lqr, &err);
        assert_int_equal(err.status, i ? TR_OK : TR_USAGE);
        if (i) assert_non_null(strstr(file, "      push: "));
        if (!i) assert_non_null(strstr(err.text, "leave it out, as by 'without: pd' in a case"));
        tr_text_free(file);
        tr_lqr_free(lqr);
        tr_system_free(system);
    }
}

// ---- the bicycle ---------------------------------------------------------------------------

static void test_bicycle(void **state)
{
    (void)state;
    char *text = text_of_model("bicycle");
    const tr_setting slow[] = {{"speed0", "3"}};
    tr_system *system = must_derive(text, "state", slow, 1, "steer_torque", NULL);
    const tr_lqr_options o = {.size = sizeof o, .inputs = "steer_torque"};
    const tr_lqr *lqr = must_design(system, &o);
    double worst = 0;
    for (size_t i = 0; i < lqr->states; i++) worst = fmax(worst, lqr->before[2 * i]);
    assert_close(worst, 1.7067560566397, 1e-10); // published for 3 m/s: it falls
    assert_int_equal(lqr->neutral, 1);           // its speed
    assert_below(worst_after(lqr), 1e-9);
    tr_error err = {0};
    char *roles = tr_lqr_roles(lqr, &err);
    assert_non_null(strstr(roles, "# steer_torque = "));
    char *words = tr_lqr_text(lqr, false, &err);
    assert_non_null(strstr(words, "left alone"));
    char *own =
        with_case(text,
                  "  pushed:\n    set: {speed0: 3, roll0: 0.05, roll_rate0: 0.1, yaw0: 0.7}\n"
                  "    end: 10\n",
                  roles);
    tr_system *held = must_derive(own, "pushed", NULL, 0, NULL, NULL);
    assert_close(output_at(held, "roll", 0), 0.05, 1e-12);
    assert_below(fabs(output_at(held, "roll", 15)), 1e-6);
    assert_below(fabs(output_at(held, "steer", 15)), 1e-6);
    assert_true(fabs(output_at(held, "yaw", 15) - 0.7) > 1e-2); // it goes where it happens to
    tr_text_free(roles);
    tr_text_free(words);
    tr_lqr_free(lqr);
    tr_system_free(system);
    tr_system_free(held);
    free(own);
    free(text);
}

// With a weight on place and heading it comes back to its line, whichever way that goes.
static void test_bicycle_line(void **state)
{
    (void)state;
    char *text = text_of_model("bicycle");
    const tr_setting slow[] = {{"speed0", "3"}, {"yaw0", "0.4"}};
    tr_system *system = must_derive(text, "state", slow, 2, "steer", NULL);
    const tr_lqr_options o = {.size = sizeof o, .inputs = "steer", .q = "frame.dy=0.5,yaw=1"};
    const tr_lqr *lqr = must_design(system, &o);
    tr_error err = {0};
    char *roles = tr_lqr_roles(lqr, &err);
    char *own =
        with_case(text,
                  "  beside:\n    set: {speed0: 3, yaw0: 0.4, roll_rate0: 0.05}\n"
                  "    initial: {frame.x: -0.2*sin(0.4), frame.y: 0.2*cos(0.4)}\n    end: 10\n",
                  roles);
    tr_system *held = must_derive(own, "beside", NULL, 0, NULL, NULL);
    const double x = output_at(held, "frame.x", 40), y = output_at(held, "frame.y", 40);
    assert_below(fabs(-x * sin(0.4) + y * cos(0.4)), 1e-3);
    assert_true(x * cos(0.4) + y * sin(0.4) > 100);
    assert_close(output_at(held, "yaw", 40), 0.4, 1e-3);
    tr_text_free(roles);
    tr_lqr_free(lqr);
    tr_system_free(system);
    tr_system_free(held);
    free(own);
    free(text);
}

// ---- what cannot be ------------------------------------------------------------------------

static const char two_poles[] = "trundle: 1\n"
                                "inputs: {push: 0}\n"
                                "bodies:\n"
                                "  one: {joint: {type: revolute, axis: '0, 1, 0', coordinate: a}, "
                                "mass: 1, com: '0, 0, 0.5'}\n"
                                "  two: {joint: {type: revolute, axis: '0, 1, 0', coordinate: b}, "
                                "mass: 1, com: '0, 0, 2'}\n"
                                "roles: {a: {torque: push}}\n"
                                "outputs: {lean: a + b}\n";

#define LQR(...) (&(tr_lqr_options){sizeof(tr_lqr_options), __VA_ARGS__})

static void refused(const char *text, const tr_lqr_options *o, tr_status status, const char *words)
{
    tr_error err = {0};
    tr_system *system = must_derive(text, NULL, NULL, 0, NULL, NULL);
    assert_null(tr_lqr_design(system, o, &err));
    assert_int_equal(err.status, status);
    if (!strstr(err.text, words)) fail_msg("'%s' does not say '%s'", err.text, words);
    tr_system_free(system);
}

// A mass on a spring beside the one that is pushed
static const char oscillator[] =
    "trundle: 1\n"
    "inputs: {push: 0}\n"
    "bodies:\n"
    "  a: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}\n"
    "  b: {joint: {type: prismatic, axis: \"0, 1, 0\", coordinate: y, stiffness: 4}, mass: 1}\n"
    "roles: {x: {torque: push}}\n";

static void test_refused(void **state)
{
    (void)state;
    refused(oscillator, LQR(.inputs = "push"), TR_FAILED, "eigenvalue 0 +- 2i");
    // the second pole: sqrt(g / l) = 2.2147...
    refused(two_poles, LQR(.inputs = "push"), TR_FAILED, "eigenvalue 2.2147");
    refused(two_poles, LQR(.inputs = "push"), TR_FAILED, "'b'");
    refused(two_poles, LQR(.inputs = "pus"), TR_USAGE, "did you mean 'push'?");
    refused(two_poles, LQR(.inputs = ""), TR_USAGE, "which inputs");
    refused(two_poles, LQR(.inputs = "push,push"), TR_USAGE, "twice");
    refused(two_poles, LQR(.inputs = "push", .q = "lena=1"), TR_USAGE, "did you mean 'lean'?");
    refused(two_poles, LQR(.inputs = "push", .q = "lean"), TR_USAGE, "name=number");
    refused(two_poles, LQR(.inputs = "push", .q = "lean=-1"), TR_USAGE, "negative");
    refused(two_poles, LQR(.inputs = "push", .r = "push=0"), TR_USAGE, "positive");
    refused(two_poles, LQR(.inputs = "push", .r = "a=1"), TR_USAGE, "none of");
    refused(two_poles, LQR(.inputs = "push", .step = -1), TR_USAGE, "step");
    // a speed that is wanted, but that steering cannot give
    tr_system *system = of_model("bicycle", "state", "speed0=3", "steer", NULL);
    const tr_lqr_options o = {.size = sizeof o, .inputs = "steer", .q = "speed=1"};
    tr_error err = {0};
    assert_null(tr_lqr_design(system, &o, &err));
    assert_int_equal(err.status, TR_FAILED);
    assert_non_null(strstr(err.text, "eigenvalue 0"));
    tr_system_free(system);
}

static void test_controls_refused(void **state)
{
    (void)state;
    const struct {
        const char *control, *words;
    } wrong[] = {{"stear", "did you mean 'steer'?"},
                 {"frame", "is not a joint with one coordinate"}};
    char *text = text_of_model("bicycle");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tr_error err = {0};
        assert_null(tried(text, NULL, NULL, 0, &wrong[i].control, 1, &err));
        assert_int_equal(err.status, TR_USAGE);
        if (!strstr(err.text, wrong[i].words)) fail_msg("%s", err.text);
    }
    free(text);
}

static void test_json(void **state)
{
    (void)state;
    tr_system *system = of_model("cart_pole", "free", "", "push", NULL);
    char inputs[] = "push", q[] = "x=1"; // which need not outlive the design
    const tr_lqr_options o = {.size = sizeof o, .inputs = inputs, .q = q};
    const tr_lqr *lqr = must_design(system, &o);
    inputs[0] = q[0] = '?';
    tr_error err = {0};
    char *roles = tr_lqr_roles(lqr, &err);
    assert_non_null(strstr(roles, "# push = "));
    tr_text_free(roles);
    char *file = tr_lqr_fragment(lqr, &err);
    assert_non_null(strstr(file, "# push = "));
    tr_text_free(file);
    char *json = tr_lqr_text(lqr, true, &err), *words = tr_lqr_text(lqr, false, &err);
    assert_true(tr_json_is_valid(text_of(json)));
    static const char *const keys[] = {"states", "inputs", "A",           "B",        "Q",
                                       "R",      "K",      "eigenvalues", "residual", "laws"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_non_null(tr_json_member(text_of(json), keys[i]).at);
    assert_non_null(strstr(words, "is not steady")); // it starts tilted
    tr_text_free(json);
    tr_text_free(words);
    tr_lqr_free(lqr);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cart),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_laws_of_bases),
        cmocka_unit_test(test_turning_bases),
        cmocka_unit_test(test_segway),
        cmocka_unit_test(test_law_is_replaced),
        cmocka_unit_test(test_bicycle),
        cmocka_unit_test(test_bicycle_line),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_controls_refused),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_limit_stays),
        cmocka_unit_test(test_two_controllers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
