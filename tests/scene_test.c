// SPDX-License-Identifier: Apache-2.0
// What systems look like: shapes where the model gives none, and the directions of forces, through
// the power that they have.
#include "folder.h"
#include "scene.h"

// ---- drawings ------------------------------------------------------------------------------

static void check_drawing(const Drawing *d)
{
    static const char *const types[] = {"box", "cylinder", "sphere", "capsule", "disc", "torus"};
    bool is_known = false;
    for (int i = 0; i < 6; i++) is_known = is_known || strcmp(d->type, types[i]) == 0;
    assert_true(is_known);
    double square = 0;
    for (int k = 0; k < 3; k++) {
        assert_true(isfinite(d->at[k]) && isfinite(d->size[k]) && d->size[k] > 0);
        square += d->axis[k] * d->axis[k];
    }
    assert_close(square, 1, 1e-12);
    assert_true(d->radius > 0 && d->length > 0 && d->tube > 0);
    assert_true(isfinite(d->radius) && isfinite(d->length) && isfinite(d->tube));
    assert_non_null(d->colour);
}

// Itself or, where it bends, its parts
static bool is_drawn(const Scene *s, uint32_t body)
{
    for (uint32_t k = 0; k < s->drawing_count; k++) {
        const SceneBody *owner = &s->bodies[s->drawings[k].body];
        if (s->drawings[k].body == body || (owner->is_part && owner->parent == body)) return true;
    }
    for (uint32_t k = 0; k < s->beam_count; k++)
        if (s->beams[k].body == body) return true;
    return false;
}

static void check_beams(const Scene *s)
{
    for (uint32_t k = 0; k < s->beam_count; k++) {
        const SceneBeam *beam = &s->beams[k];
        assert_true(beam->count >= 5 && beam->first + beam->count <= s->body_count);
        assert_true(beam->radius > 0);
        for (uint32_t i = beam->first; i < beam->first + beam->count; i++)
            assert_true(s->bodies[i].is_part && s->bodies[i].parent == beam->body);
    }
}

static void check_drawings(const tr_system *system, bool are_guessed)
{
    const Scene *s = &system->scene;
    uint32_t bodies = 0;
    for (uint32_t i = 0; i < s->body_count; i++) {
        const bool is_part = s->bodies[i].is_part;
        bodies += !is_part;
        if (!is_part && !is_drawn(s, i))
            fail_msg("'%s' of '%s' is not drawn", s->bodies[i].name, system->title);
        assert_true(s->bodies[i].parent == SCENE_WORLD || s->bodies[i].parent < i);
    }
    assert_int_equal(bodies, system->body_count);
    for (uint32_t k = 0; k < s->drawing_count; k++) {
        check_drawing(&s->drawings[k]);
        if (!s->bodies[s->drawings[k].body].is_part)
            assert_int_equal(s->drawings[k].is_guessed, are_guessed);
    }
    check_beams(s);
    assert_true(s->length > 0);
}

static void check_model(const char *name)
{
    for (int has_shapes = 0; has_shapes < 2; has_shapes++) {
        tr_system *system = derive_file(name, NULL, has_shapes);
        check_drawings(system, !has_shapes);
        tr_system_free(system);
    }
}

static void test_every_body_is_drawn(void **state)
{
    (void)state;
    for_all_models(check_model);
}

// The only drawing of a body, or one of several
static const Drawing *drawing_of(const tr_system *system, const char *body, uint32_t which)
{
    uint32_t i;
    body_called(system, body, &i);
    for (uint32_t k = 0; k < system->scene.drawing_count; k++)
        if (system->scene.drawings[k].body == i && which-- == 0) return &system->scene.drawings[k];
    fail_msg("'%s' has fewer drawings", body);
    return NULL;
}

static uint32_t count_of(const tr_system *system, const char *body)
{
    uint32_t i, count = 0;
    body_called(system, body, &i);
    for (uint32_t k = 0; k < system->scene.drawing_count; k++)
        count += system->scene.drawings[k].body == i;
    return count;
}

static void assert_vector(const double a[3], double x, double y, double z)
{
    assert_close(a[0], x, 1e-12);
    assert_close(a[1], y, 1e-12);
    assert_close(a[2], z, 1e-12);
}

static void test_wheels(void **state)
{
    (void)state;
    tr_system *system = system_from(
        "trundle: 1\n"
        "parameters: {r: 0.4}\n"
        "bodies:\n"
        "  frame: {joint: {type: free}, mass: 5, inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "  fork: {parent: frame, joint: {type: revolute, axis: \"0, 0, 1\", at: \"1, 0, 0.5\"},\n"
        "    mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "  wheel: {parent: fork, joint: {type: revolute, axis: \"0, 2, 0\", at: \"0.1, 0, "
        "-0.5\"},\n"
        "    mass: 1, inertia: {axial: 1, radial: 0.5}}\n"
        "  tyre: {parent: frame, joint: {type: revolute, axis: \"0, 1, 0\", turn: \"0, 0, "
        "pi/2\"},\n"
        "    mass: 1, inertia: {axial: 1, radial: 0.5}}\n"
        "  ball: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "contacts:\n"
        "  front: {kind: rolling, body: wheel, radius: r}\n"
        "  rear: {kind: rolling, body: tyre, radius: r, tube: r/8}\n"
        "  foot: {kind: rolling, shape: ball, body: ball, radius: 0.2, at: \"0, 0, 0.1\"}\n");
    check_drawings(system, true);
    const Drawing *d = drawing_of(system, "wheel", 0);
    assert_string_equal(d->type, "disc");
    assert_close(d->radius, 0.4, 1e-15);
    assert_vector(d->axis, 0, 1, 0);
    d = drawing_of(system, "tyre", 0);
    assert_string_equal(d->type, "torus");
    assert_close(d->radius, 0.4, 1e-15);
    assert_close(d->tube, 0.05, 1e-15);
    assert_vector(d->axis, 1, 0, 0); // the joint's, in the body's own axes
    d = drawing_of(system, "ball", 0);
    assert_string_equal(d->type, "sphere");
    assert_close(d->radius, 0.2, 1e-15);
    assert_vector(d->at, 0, 0, 0.1);
    d = drawing_of(system, "frame", 0); // an arm to the fork; the tyre is at its origin
    assert_int_equal(count_of(system, "frame"), 1);
    assert_string_equal(d->type, "capsule");
    assert_close(d->length, sqrt(1.25), 1e-15);
    assert_vector(d->at, 0.5, 0, 0.25);
    assert_vector(d->axis, 1 / sqrt(1.25), 0, 0.5 / sqrt(1.25));
    assert_true(system->scene.has_ground && !system->scene.ground_is_free);
    for (uint32_t i = 0; i < 3; i++) assert_true(system->scene.contacts[i].leaves_track);
    tr_system_free(system);
}

static void test_masses(void **state)
{
    (void)state;
    tr_system *system = system_from(
        "trundle: 1\n"
        "bodies:\n"
        "  bob: {joint: {type: revolute, axis: \"0, 1, 0\"}, mass: 1, com: \"0, 0, -2\"}\n"
        "  brick: {joint: {type: free}, mass: 3, inertia: {xx: 13, yy: 10, zz: 5}}\n"
        "  drum: {joint: {type: free}, mass: 4,\n"
        "    inertia: {axial: 2, radial: 1 + 4*9/12, axis: \"1, 0, 0\"}}\n"
        "  plate: {joint: {type: planar}, mass: 6, inertia: {zz: 4}}\n"
        "  rod: {joint: {type: revolute, axis: \"0, 1, 0\"}, mass: 3, com: \"0, 0, -1\",\n"
        "    inertia: {xx: 1, yy: 1}}\n"
        "  nothing: {parent: brick, joint: {type: fixed}}\n");
    check_drawings(system, true);
    assert_int_equal(count_of(system, "bob"), 2);
    assert_close(drawing_of(system, "bob", 0)->length, 2, 1e-15);
    assert_string_equal(drawing_of(system, "bob", 1)->type, "sphere");
    assert_vector(drawing_of(system, "bob", 1)->at, 0, 0, -2);
    const Drawing *d = drawing_of(system, "brick", 0); // m (b^2 + c^2) / 12 = 13 and so on
    assert_string_equal(d->type, "box");
    assert_vector(d->size, 2, 4, 6);
    d = drawing_of(system, "drum", 0);
    assert_string_equal(d->type, "cylinder");
    assert_close(d->radius, 1, 1e-15);
    assert_close(d->length, 3, 1e-12);
    assert_vector(d->axis, 1, 0, 0);
    d = drawing_of(system, "plate", 0);
    assert_close(d->size[0], 2, 1e-12);
    assert_close(d->size[1], 2, 1e-12);
    assert_true(d->size[2] < 0.1);
    const Drawing *link = drawing_of(system, "rod", 0); // half of the rod, and as thick
    d = drawing_of(system, "rod", 1);
    assert_string_equal(d->type, "capsule");
    assert_close(d->length + 2 * d->radius, 2, 1e-15);
    assert_true(d->radius > 0 && d->radius == link->radius);
    assert_vector(d->axis, 0, 0, 1);
    assert_vector(d->at, 0, 0, -1);
    assert_string_equal(drawing_of(system, "nothing", 0)->type, "sphere");
    assert_false(system->scene.has_ground);
    tr_system_free(system);
}

static void test_given_shapes(void **state)
{
    (void)state;
    tr_system *system = system_from(
        "trundle: 1\n"
        "parameters: {r: 0.3}\n"
        "bodies:\n"
        "  b:\n"
        "    joint: {type: free}\n"
        "    mass: 1\n"
        "    inertia: {xx: 1, yy: 1, zz: 1}\n"
        "    shapes:\n"
        "      tyre: {type: torus, radius: 2*r, tube: r/3, axis: \"0, 3, 4\", colour: red}\n"
        "      block: {size: \"r, 2*r, 3*r\", at: \"0, 0, r\"}\n");
    check_drawings(system, false);
    const Drawing *d = drawing_of(system, "b", 0);
    assert_string_equal(d->type, "torus");
    assert_string_equal(d->colour, "red");
    assert_close(d->radius, 0.6, 1e-15);
    assert_close(d->tube, 0.1, 1e-15);
    assert_vector(d->axis, 0, 0.6, 0.8);
    d = drawing_of(system, "b", 1);
    assert_string_equal(d->type, "box");
    assert_vector(d->size, 0.3, 0.6, 0.9);
    assert_vector(d->at, 0, 0, 0.3);
    tr_system_free(system);
}

// ---- directions ----------------------------------------------------------------------------

static Expr rate(tr_system *system, Expr x)
{
    tr_error err = {0};
    const Expr v = tr_time_derivative(system, x, &err);
    assert_int_equal(err.status, TR_OK);
    return v;
}

// An entry of R' R^T
static Expr turning(tr_system *system, uint32_t body, int i, int j)
{
    Expr sum = tr_constant(system, 0);
    if (body == SCENE_WORLD) return sum;
    const Expr *R = system->scene.bodies[body].rotation;
    for (int n = 0; n < 3; n++) sum = tr_add(sum, tr_mul(rate(system, R[3 * i + n]), R[3 * j + n]));
    return sum;
}

// The velocity of a point that a body carries along: o' + R' R^T (P - o)
static Expr carried_rate(tr_system *system, uint32_t body, const Expr P[3], int i)
{
    if (body == SCENE_WORLD) return tr_constant(system, 0);
    const Expr *o = system->scene.bodies[body].origin;
    Expr sum = rate(system, o[i]);
    for (int j = 0; j < 3; j++)
        sum = tr_add(sum, tr_mul(turning(system, body, i, j), tr_sub(P[j], o[j])));
    return sum;
}

// How a contact's point moves along one of its directions, or its body turns about it, as seen from
// the other body
static Expr rate_along(tr_system *system, const SceneContact *c, uint32_t k)
{
    Expr sum = tr_constant(system, 0);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, n = (i + 2) % 3;
        const Expr v =
            c->rows[k].is_moment
                ? tr_sub(turning(system, c->body, n, j), turning(system, c->on, n, j))
                : tr_sub(rate(system, c->point[i]), carried_rate(system, c->on, c->point, i));
        sum = tr_add(sum, tr_mul(c->rows[k].direction[i], v));
    }
    return sum;
}

static Expr rate_of_row(const tr_system *system, const char *name)
{
    for (uint32_t r = 0; r < system->row_count; r++)
        if (strcmp(system->rows[r].name, name) == 0) return system->rows[r].rate;
    fail_msg("no row %s", name);
    return (Expr){0};
}

// Pairs that are equal, whatever the state
static void check_pairs(tr_system *system, const Expr *pairs, uint32_t count)
{
    tr_error err = {0};
    tr_output(system, "check", pairs, count, 2, &err);
    tr_program *program = tr_compile(system, "check", NULL, &err);
    tr_workspace *workspace = tr_workspace_new(program, &err);
    if (!workspace) fail_msg("%s", err.text);
    double in[100], out[20];
    assert_true(system->input_count <= 100 && count <= 10);
    for (int trial = 0; trial < 20; trial++) {
        for (uint32_t i = 0; i < system->input_count; i++) in[i] = sin(1 + 7 * trial + 13. * i);
        for (uint32_t i = 0; i < system->quaternion_count; i++) { // units
            double *q = in + system->quaternions[i].position, size = 0;
            for (int k = 0; k < 4; k++) size += q[k] * q[k];
            for (int k = 0; k < 4; k++) q[k] /= sqrt(size);
        }
        tr_evaluate(program, workspace, in, out);
        for (uint32_t i = 0; i < count; i++) {
            assert_close(out[2 * i], out[2 * i + 1], 1e-13);
            assert_true(fabs(out[2 * i]) > 1e-6); // and not nothing
        }
    }
    tr_workspace_free(workspace);
    tr_program_free(program);
}

// The rates of all rows of all contacts, each with that from its direction
static uint32_t row_pairs(tr_system *system, Expr *pairs)
{
    const Scene *s = &system->scene;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->contact_count; i++)
        for (uint32_t k = 0; k < s->contacts[i].row_count; k++, count++) {
            assert_true(count < 10);
            pairs[2 * count] = rate_along(system, &s->contacts[i], k);
            pairs[2 * count + 1] = rate_of_row(system, s->contacts[i].rows[k].name);
        }
    return count;
}

// A row says that the velocity of its point, seen from the other body, vanishes along its
// direction: so its rate is that velocity along the direction. Contacts on the world, and rods.
static void test_directions(void **state)
{
    (void)state;
    tr_system *system = system_from(
        "trundle: 1\n"
        "ground: {turn: \"0.2, -0.1, 0\"}\n"
        "bodies:\n"
        "  a: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "  b: {parent: a, joint: {type: revolute, axis: \"1, 2, 3\", at: \"0.3, 0, 0\"}, mass: 1,\n"
        "    inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "  c: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
        "contacts:\n"
        "  blade: {kind: skate, body: b, at: \"0.1, 0.2, 0.3\", direction: \"1, 1, 0\"}\n"
        "  foot: {kind: slide, body: a, at: \"0, 0.1, -0.2\"}\n"
        "  nail: {kind: pin, body: c, at: \"0.1, 0, 0.4\", to: \"1, 0, 0\"}\n"
        "loops:\n"
        "  rod: {kind: distance, body: b, at: \"0, 0.5, 0\", on: c, to: \"0, 0, 0.7\", length: "
        "2}\n");
    const Scene *s = &system->scene;
    assert_int_equal(s->contact_count, 4);
    assert_int_equal(s->rod_count, 1);
    Expr pairs[2 * 10];
    const uint32_t count = row_pairs(system, pairs);
    assert_int_equal(count, 1 + 1 + 3 + 1);
    assert_int_equal(system->row_count, count);
    check_pairs(system, pairs, count);
    tr_system_free(system);
}

// ---- loops ---------------------------------------------------------------------------------

typedef struct LoopCase {
    const char *name, *fields;
    uint32_t forces, moments;
    bool has_axis;
} LoopCase;

static tr_system *derive_loop(const LoopCase *loop)
{
    char text[1000];
    snprintf(text, sizeof text,
             "trundle: 1\n"
             "bodies:\n"
             "  a: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
             "  b: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
             "frames:\n"
             "  corner: {body: b, at: \"0.1, 0.2, 0.3\", turn: \"0, 0, pi/2\"}\n"
             "loops:\n"
             "  l: {kind: %s, body: a, at: \"0.4, 0.5, 0.6\", on: corner, to: \"1, 2, 3\"%s}\n",
             loop->name, loop->fields);
    return system_from(text);
}

static void check_kind(const LoopCase *loop)
{
    tr_system *system = derive_loop(loop);
    const Scene *s = &system->scene;
    assert_int_equal(s->contact_count, 1);
    const SceneContact *c = &s->contacts[0];
    assert_string_equal(c->kind, loop->name);
    assert_true(c->is_loop && !c->leaves_track);
    assert_string_equal(s->bodies[c->body].name, "a");
    assert_string_equal(s->bodies[c->on].name, "b");
    assert_vector(c->at, 0.4, 0.5, 0.6);
    assert_vector(c->to, 0.1 - 2, 0.2 + 1, 0.3 + 3); // the frame's x is y of its body
    assert_int_equal(c->row_count, loop->forces + loop->moments);
    assert_int_equal(c->has_moment, loop->moments > 0);
    for (uint32_t k = 0; k < c->row_count; k++)
        assert_int_equal(c->rows[k].is_moment, k >= loop->forces);
    const double one = loop->has_axis;
    assert_vector(c->guide, 0, 0.6 * one, 0.8 * one);
    if (strcmp(loop->name, "slider") == 0)
        assert_vector(c->axis, 0, 0.6, 0.8); // as it stands turned
    else if (!loop->has_axis || strcmp(loop->name, "plane") == 0)
        assert_vector(c->axis, 0, 0, one);
    else
        assert_vector(c->axis, one, 0, 0);
    Expr pairs[2 * 10];
    const uint32_t count = row_pairs(system, pairs);
    assert_int_equal(count, system->row_count);
    check_pairs(system, pairs, count);
    tr_system_free(system);
}

// Where either body holds it, by frames; forces and moments along its rows. An axis (0.6, 0, 0.8)
// of the frame is (0, 0.6, 0.8) of its body.
static void test_loops(void **state)
{
    (void)state;
#define AXIS ", axis: \"3, 0, 4\""
    static const LoopCase kinds[] = {
        {"point", "", 3, 0, false},
        {"axis", AXIS ", own_axis: \"1, 0, 0\"", 3, 2, true},
        {"pose", ", turn: \"0.1, 0.2, 0\"", 3, 3, false},
        {"slider", AXIS ", turn: \"0, 0, -pi/2\"", 2, 3, true},
        {"cylinder", AXIS ", own_axis: \"1, 0, 0\"", 2, 2, true},
        {"plane", AXIS ", own_axis: \"0, 0, 1\"", 1, 2, true},
        {"universal", AXIS ", own_axis: \"1, 0, 0\"", 3, 1, true},
        {"distance", ", length: 2", 1, 0, false},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) check_kind(&kinds[i]);
}

// A joint too many is a loop; what it leaves free keeps its name.
static void test_cut_joints(void **state)
{
    (void)state;
    tr_system *system = derive_file("slider_crank.yaml", NULL, true);
    const Scene *s = &system->scene;
    assert_int_equal(s->contact_count, 1);
    const SceneContact *c = &s->contacts[0];
    assert_true(c->is_loop);
    assert_string_equal(c->name, "big_end");
    assert_string_equal(c->kind, "axis");
    assert_string_equal(c->coordinate, "swing");
    assert_vector(c->at, 0, 0, 0);
    assert_vector(c->to, 0.04, 0, 0);
    assert_vector(c->axis, 0, -1, 0);
    tr_system_free(system);
}

// A body that is held at a point of its own has its joint there.
static void test_joint_places(void **state)
{
    (void)state;
    tr_system *system = system_from("trundle: 1\n"
                                    "bodies: {bar: {mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
                                    "joints:\n"
                                    "  hinge: {type: revolute, body: bar, axis: \"0, 1, 0\",\n"
                                    "    to: \"0.5, 0, -2\"}\n");
    uint32_t bar;
    assert_vector(body_called(system, "bar", &bar)->joint_at, 0.5, 0, -2);
    const Drawing *d = drawing_of(system, "bar", 0); // and reaches there
    assert_string_equal(d->type, "capsule");
    assert_vector(d->at, 0.25, 0, -1);
    tr_system_free(system);
}

// ---- parts ---------------------------------------------------------------------------------

// Motors are not drawn; in words they move as their joint does.
static void test_motors(void **state)
{
    (void)state;
    tr_system *system = system_from(
        "trundle: 1\n"
        "bodies:\n"
        "  arm: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: lift,\n"
        "    elastic: {stiffness: 10, inertia: 0.1}}, mass: 1, com: \"1, 0, 0\"}\n"
        "  hand: {parent: arm, joint: {type: prismatic, axis: \"1, 0, 0\", at: \"1, 0, 0\",\n"
        "    coordinate: grip, elastic: {stiffness: 10, inertia: 2}}, mass: 1}\n"
        "roles: {lift: {torque: 1}, grip: {torque: 1}}\n");
    check_drawings(system, true);
    uint32_t i;
    const SceneBody *lift = body_called(system, "lift.motor", &i);
    const SceneBody *grip = body_called(system, "grip.motor", &i);
    assert_true(lift->is_part && grip->is_part);
    assert_int_equal(count_of(system, "lift.motor"), 0);
    assert_int_equal(count_of(system, "grip.motor"), 0);
    assert_string_equal(lift->joint, "revolute");
    assert_string_equal(grip->joint, "prismatic");
    tr_system_free(system);
}

// What is between the steps of a joint is listed nowhere; it knows its axis.
static void test_steps(void **state)
{
    (void)state;
    tr_system *system = system_from(
        "trundle: 1\n"
        "bodies:\n"
        "  mast: {joint: {type: universal, axis: \"1, 0, 0\", second: \"0, 1, 0\"}, mass: 1, com: "
        "\"0, 0, 1\"}\n"
        "  ring: {parent: mast, joint: {type: cylindrical, axis: \"0, 0, 1\", at: \"0, 0, 1\"}, "
        "mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n");
    check_drawings(system, true);
    static const char *const bodies[] = {"mast.a.between", "mast", "ring.travel.between", "ring"};
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t i;
        const SceneBody *body = body_called(system, bodies[k], &i);
        assert_int_equal(body->is_part, k % 2 == 0);
        assert_string_equal(body->joint, k < 2 ? "universal" : "cylindrical");
        assert_vector(body->axis, k == 0, k == 1, k > 1);
        if (body->is_part) assert_int_equal(count_of(system, bodies[k]), 0);
    }
    tr_system_free(system);
}

// Of a beam that gets thinner: 2 parts, and 2 for each mode, with its mass among them; then its
// end.
static void test_beams(void **state)
{
    (void)state;
    tr_system *system =
        system_from("trundle: 1\n"
                    "bodies:\n"
                    "  mast: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1},\n"
                    "    beam: {length: 2, density: 3 - s, stiffness: 5, planes: yz, modes: 3,\n"
                    "      stiffening: true}}\n");
    check_drawings(system, true);
    const Scene *s = &system->scene;
    assert_int_equal(s->beam_count, 1);
    assert_int_equal(s->beams[0].count, 2 + 2 * 3 + 1);
    double mass = 0;
    for (uint32_t i = 0; i < s->beams[0].count; i++) mass += s->bodies[s->beams[0].first + i].mass;
    assert_close(mass, 4, 1e-14); // the rule of middles is exact for straight lines
    uint32_t tip;
    const SceneBody *point = body_called(system, "mast.tip", &tip);
    const SceneBody *end = &s->bodies[s->beams[0].first + s->beams[0].count - 1];
    Expr pairs[2 * 12];
    for (int k = 0; k < 3; k++) pairs[2 * k] = point->origin[k], pairs[2 * k + 1] = end->origin[k];
    for (int k = 0; k < 6; k++)
        pairs[6 + 2 * k] = point->rotation[k], pairs[7 + 2 * k] = end->rotation[k];
    check_pairs(system, pairs, 9);
    tr_system_free(system);
}

// A body with modes from a table is drawn by its nodes.
static void test_nodes(void **state)
{
    (void)state;
    write_text("scene_nodes.csv", "x,y,z,m,ux1,uy1,uz1\n1,0,0,2,0,1,0\n2,0,0,3,0,2,0\n");
    write_text("scene_modes.csv", "k1\n10\n");
    tr_system *system = system_from("trundle: 1\n"
                                    "bodies: {mast: {modal: {nodes: scene_nodes.csv,\n"
                                    "  modes: scene_modes.csv}}}\n");
    check_drawings(system, true);
    assert_int_equal(system->scene.beam_count, 0);
    assert_int_equal(count_of(system, "mast.1"), 1);
    assert_string_equal(drawing_of(system, "mast.2", 0)->type, "sphere");
    assert_vector(drawing_of(system, "mast.2", 0)->at, 0, 0, 0);
    uint32_t i;
    assert_close(body_called(system, "mast.2", &i)->mass, 3, 1e-15);
    tr_system_free(system);
}

static void test_ground(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool has_ground, is_free;
    } known[] = {{"bicycle.yaml", true, false},         {"ball_on_slope.yaml", true, false},
                 {"snakeboard.yaml", true, true},       {"rail_cart.yaml", true, true},
                 {"double_pendulum.yaml", false, true}, {"four_bar.yaml", false, true}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        tr_system *system = derive_file(known[i].name, NULL, true);
        assert_int_equal(system->scene.has_ground, known[i].has_ground);
        assert_int_equal(system->scene.ground_is_free, known[i].is_free);
        tr_system_free(system);
    }
}

// ---- surfaces ------------------------------------------------------------------------------

#define FREE "joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}"

// Contacts on one height share a terrain; each has inputs that say where it touches, but for feet.
static void test_terrains(void **state)
{
    (void)state;
    tr_system *system = system_from(
        "trundle: 1\n"
        "ground: {height: 0.1*x*y, at: \"1, 2, 3\", turn: \"0, 0, pi/2\"}\n"
        "bodies: {a: {" FREE "}, b: {" FREE "}, c: {" FREE "}, plate: {" FREE "}}\n"
        "contacts:\n"
        "  one: {kind: rolling, shape: ball, body: a, radius: 0.2}\n"
        "  two: {kind: slide, body: a, at: \"0, 1, 0\"}\n"
        "  three: {kind: rolling, shape: ball, body: b, radius: 0.2, on: plate, to: \"0, 0, 1\",\n"
        "    surface: {height: x^2}}\n"
        "  four: {kind: rolling, shape: ball, body: c, radius: 0.3, on: plate, to: \"0, 0, 1\",\n"
        "    surface: {height: x^2}}\n"
        "  five: {kind: slide, body: c, at: \"0, 1, 0\", on: plate, to: \"0, 0, 2\",\n"
        "    surface: {height: x^2}}\n");
    const Scene *s = &system->scene;
    static const struct {
        uint32_t terrain;
        bool has_inputs;
    } known[] = {{0, true}, {0, false}, {1, true}, {1, true}, {2, false}};
    assert_int_equal(s->contact_count, 5);
    assert_int_equal(s->terrain_count, 3);
    for (uint32_t i = 0; i < 5; i++) {
        const SceneContact *c = &s->contacts[i];
        char name[50];
        snprintf(name, sizeof name, "contact.%s.touch_x", c->name);
        assert_int_equal(c->terrain, known[i].terrain);
        assert_int_equal(c->touch != NO_TOUCH, known[i].has_inputs);
        if (known[i].has_inputs) assert_string_equal(system->inputs[c->touch].name, name);
    }
    assert_int_equal(s->terrains[0].on, SCENE_WORLD);
    assert_vector(s->terrains[0].at, 1, 2, 3);
    assert_vector(s->terrains[0].rotation, 0, -1, 0); // x of the ground along y
    uint32_t plate;
    body_called(system, "plate", &plate);
    for (uint32_t i = 1; i < 3; i++) {
        assert_int_equal(s->terrains[i].on, plate);
        assert_vector(s->terrains[i].at, 0, 0, i);
        assert_vector(s->terrains[i].rotation, 1, 0, 0);
    }
    assert_int_equal(count_of(system, "plate"), 0); // what is on it shows it
    assert_true(s->has_ground);
    tr_system_free(system);
}

static void test_spheres(void **state)
{
    (void)state;
    tr_system *system = system_from(
        "trundle: 1\n"
        "bodies: {shell: {" FREE "}, pea: {" FREE "}, globe: {" FREE "}, bead: {" FREE "},\n"
        "  box: {" FREE ", shapes: {own: {type: box}}}}\n"
        "contacts:\n"
        "  roll: {kind: rolling, shape: ball, body: shell, radius: 1.1, on: box}\n"
        "  inside: {kind: rolling, shape: ball, body: pea, radius: 0.1, on: shell,\n"
        "    surface: {kind: sphere, radius: -1}}\n"
        "  outside: {kind: rolling, shape: ball, body: bead, radius: 0.1, on: globe,\n"
        "    to: \"0, 0, 0.3\", surface: {kind: sphere, radius: 0.5}}\n"
        "  bowl: {kind: slide, body: bead, at: \"0, 0, -1\", on: world, to: \"0, 0, 4\",\n"
        "    surface: {kind: sphere, radius: -2}}\n"
        "  edge: {kind: slide, body: pea, at: \"0, 0, -1\", on: box,\n"
        "    surface: {kind: sphere, radius: 2}}\n");
    const Scene *s = &system->scene;
    assert_int_equal(s->terrain_count, 0);
    assert_int_equal(count_of(system, "shell"), 1); // the larger sphere stands for both
    assert_close(drawing_of(system, "shell", 0)->radius, 1.1, 1e-15);
    assert_true(drawing_of(system, "shell", 0)->is_shell);
    assert_int_equal(count_of(system, "globe"), 1);
    const Drawing *globe = drawing_of(system, "globe", 0);
    assert_string_equal(globe->type, "sphere");
    assert_close(globe->radius, 0.5, 1e-15);
    assert_vector(globe->at, 0, 0, 0.3);
    assert_false(globe->is_shell || drawing_of(system, "pea", 0)->is_shell);
    assert_int_equal(count_of(system, "box"), 1); // a body with shapes has them alone
    const Drawing *bowl = &s->drawings[s->drawing_count - 1];
    assert_int_equal(bowl->body, SCENE_WORLD);
    assert_true(bowl->is_shell);
    assert_close(bowl->radius, 2, 1e-15);
    assert_vector(bowl->at, 0, 0, 4);
    assert_false(s->has_ground);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_body_is_drawn),
        cmocka_unit_test(test_wheels),
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_given_shapes),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_cut_joints),
        cmocka_unit_test(test_joint_places),
        cmocka_unit_test(test_motors),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_beams),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_ground),
        cmocka_unit_test(test_terrains),
        cmocka_unit_test(test_spheres),
    };
    return cmocka_run_group_tests(tests, enter_folder, NULL);
}
