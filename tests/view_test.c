// SPDX-License-Identifier: Apache-2.0
// What a report holds, against numbers that were found in another way: poses from the recorded
// coordinates by hand, forces from the recorded ones; and what names and files may do to it.
#include "view/page.h"

#include "base/json.h"
#include "base/sha256.h"
#include "runs.h"
#include "scene.h"
#include "view/terrain.h"

#define PAGE "<html><body>before<!--data-->after</body></html>"

// ---- help ----------------------------------------------------------------------------------

static Sheet *run_for(tr_system *system, double end, double every)
{
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = end, o.every = every;
    return simulated(system, o, NULL);
}

static Sheet *sheet_of(const char *text)
{
    tr_error err = {0};
    Sheet *sheet = tr_sheet_parse(text, strlen(text), &err);
    if (!sheet) fail_msg("%s", err.text);
    return sheet;
}

// q v q*
static void rotate(const double q[4], const double v[3], double out[3])
{
    double c[3], d[3]; // v + 2 w (u x v) + 2 u x (u x v)
    const double *u = q + 1;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = u[j] * v[k] - u[k] * v[j];
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        d[i] = u[j] * c[k] - u[k] * c[j];
    }
    for (int i = 0; i < 3; i++) out[i] = v[i] + 2 * q[0] * c[i] + 2 * d[i];
}

// ---- poses ---------------------------------------------------------------------------------

static void assert_near(const double *a, const double *b)
{
    for (int k = 0; k < 3; k++) assert_close(a[k], b[k], 1e-13);
}

// P = O + R d with d down in the plane of the wheel, for the wheel that is drawn
static void check_contact(const double *wheel, const double *contact, double radius)
{
    const double y[3] = {0, 1, 0};
    double a[3], P[3];
    rotate(wheel + 3, y, a);
    const double size = sqrt(1 - a[2] * a[2]);
    for (int k = 0; k < 3; k++) P[k] = wheel[k] + radius * (a[2] * a[k] - (k == 2)) / size;
    assert_near(P, contact);
    assert_close(contact[2], 0, 1e-12);
}

static void check_bicycle_row(const tr_system *system, const Sheet *run, size_t row,
                              const double *frame)
{
    static const char *const names[] = {"frame.x",  "frame.y",  "frame.z", "frame.qw",
                                        "frame.qx", "frame.qy", "frame.qz"};
    uint32_t front, rear, fork;
    body_called(system, "front_wheel", &front);
    body_called(system, "rear_wheel", &rear);
    body_called(system, "fork_body", &fork);
    const double sign = frame[3] * at(run, row, "frame.qw") < 0 ? -1 : 1; // q and -q are the same
    for (int k = 0; k < 7; k++)
        assert_close(frame[k], (k < 3 ? 1 : sign) * at(run, row, names[k]), 1e-12);

    // The rear hub is the frame's origin; the wheel has turned about y by its angle.
    const double *wheel = frame + BODY_NUMBERS * rear, x[3] = {1, 0, 0};
    const double angle = at(run, row, "rear"), spoke[3] = {cos(angle), 0, -sin(angle)};
    double one[3], other[3];
    assert_near(wheel, frame);
    rotate(wheel + 3, x, one);
    rotate(frame + 3, spoke, other);
    assert_near(one, other);
    check_contact(wheel, frame + (size_t)BODY_NUMBERS * system->scene.body_count + CONTACT_NUMBERS,
                  0.3);

    // The fork turns about an axis that is tilted backwards, on which its origin is.
    const double theta = acos(-1) / 10, hinge = 1.02 + 0.08 - 0.35 * tan(theta);
    const double tilted[3] = {-sin(theta), 0, cos(theta)}, up[3] = {0, 0, 1};
    const double head[3] = {hinge, 0, 0.05}, steer = at(run, row, "steer");
    const double across[3] = {-sin(steer) * cos(theta), cos(steer), -sin(steer) * sin(theta)};
    const double y[3] = {0, 1, 0};
    rotate(frame + 3, tilted, one);
    rotate(frame + (size_t)BODY_NUMBERS * fork + 3, up, other);
    assert_near(one, other);
    rotate(frame + 3, head, one);
    for (int k = 0; k < 3; k++) one[k] += frame[k];
    assert_near(one, frame + (size_t)BODY_NUMBERS * fork);
    rotate(frame + 3, across, one);
    rotate(frame + (size_t)BODY_NUMBERS * fork + 3, y, other);
    assert_near(one, other);
    check_contact(frame + (size_t)BODY_NUMBERS * front,
                  frame + (size_t)BODY_NUMBERS * system->scene.body_count, 0.35);
}

// How many there were
static int check_forces(const tr_system *system, const Sheet *run, size_t row, const double *frame)
{
    int count = 0;
    static const char *const parts[] = {"x", "y", "z", "Fx", "Fy", "Fz"};
    const Scene *s = &system->scene;
    const double *from = frame + (size_t)BODY_NUMBERS * s->body_count;
    for (uint32_t i = 0; i < s->contact_count; from += tr_contact_numbers(&s->contacts[i++]))
        for (int k = 0; k < CONTACT_NUMBERS; k++) {
            char name[100];
            snprintf(name, sizeof name, "contact.%s.%s", s->contacts[i].name, parts[k]);
            if (!tr_sheet_column(run, name)) continue;
            assert_close(from[k], at(run, row, name), 1e-11);
            count++;
        }
    return count;
}

static void test_bicycle(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = derive_file("bicycle.yaml", NULL, true);
    Sheet *run = run_for(system, 2, 0.1);
    Frames *frames = tr_frames_new(system, run, &err);
    if (!frames) fail_msg("%s", err.text);
    assert_int_equal(tr_frames_stride(frames), 4 * BODY_NUMBERS + 2 * CONTACT_NUMBERS);
    double frame[4 * BODY_NUMBERS + 2 * CONTACT_NUMBERS];
    for (size_t row = 0; row < run->rows; row++) {
        tr_frames_get(frames, row, frame);
        check_bicycle_row(system, run, row, frame);
        assert_int_equal(check_forces(system, run, row, frame), 2 * CONTACT_NUMBERS);
    }
    assert_true(fabs(at(run, 5, "steer")) > 0.01);       // it was not upright all the time
    assert_close(tr_frames_extent(frames), 1.74, 1e-12); // from the ground to the rider's head
    tr_frames_free(frames);
    tr_sheet_free(run);
    tr_system_free(system);
}

static int forces_of_models;

// In the plane and on rails rows are left out: what is left is still the force.
static void check_forces_of(const char *name)
{
    tr_error err = {0};
    tr_system *system = derive_file(name, NULL, true);
    Sheet *run = run_for(system, 0.2, 0.1);
    Frames *frames = tr_frames_new(system, run, &err);
    if (!frames) fail_msg("%s: %s", name, err.text);
    double *frame = calloc(tr_frames_stride(frames), sizeof *frame);
    assert_non_null(frame);
    for (size_t row = 0; row < run->rows; row++) {
        tr_frames_get(frames, row, frame);
        for (uint32_t i = 0; i < tr_frames_stride(frames); i++) assert_true(isfinite(frame[i]));
        for (uint32_t i = 0; i < system->scene.body_count; i++) {
            const double *q = frame + (size_t)BODY_NUMBERS * i + 3;
            assert_close(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-14);
        }
        forces_of_models += check_forces(system, run, row, frame);
    }
    free(frame);
    tr_frames_free(frames);
    tr_sheet_free(run);
    tr_system_free(system);
}

static void test_forces(void **state)
{
    (void)state;
    for_all_models(check_forces_of);
    assert_true(forces_of_models > 1000);
}

// ---- terrains ------------------------------------------------------------------------------

#define BODY          "joint: {type: free}, mass: 1, inertia: {xx: 0.02, yy: 0.03, zz: 0.02}"
#define UPRIGHT(body) body ".qw: 1, " body ".qx: 0, " body ".qy: 0, " body ".qz: 0"

// A wheel, a ball on a plate that turns, and a foot: on heights, the ground askew
static const char waves[] =
    "trundle: 1\n"
    "parameters: {A: 0.05}\n"
    "ground: {height: A*sin(2*x)*cos(y), at: \"0.1, 0, 0.2\", turn: \"0.1, -0.05, 0.3\"}\n"
    "bodies:\n"
    "  disc: {" BODY "}\n"
    "  ball: {" BODY "}\n"
    "  puck: {" BODY "}\n"
    "  plate: {joint: {type: revolute, axis: \"0, 0, 1\", at: \"5, 0, 1\", turn: \"0.1, 0, 0\",\n"
    "    coordinate: turn}, mass: 5, inertia: {xx: 1, yy: 1, zz: 1}}\n"
    "contacts:\n"
    "  rim: {kind: rolling, body: disc, radius: 0.3, tube: 0.05, axis: \"0, 1, 0\"}\n"
    "  touch: {kind: rolling, shape: ball, body: ball, radius: 0.1, on: plate, to: \"0, 0, 0.1\",\n"
    "    surface: {height: 0.2*(x^2 + 2*y^2)}}\n"
    "  foot: {kind: slide, body: puck, at: \"0, 0, -0.1\"}\n"
    "initial: {contact.rim.x: 0, contact.rim.y: 0, " UPRIGHT(
        "disc") ", disc.wx: 0.1, disc.wy: 3,\n"
                "  disc.wz: 0.2, turn: 0.3, d(turn): 1, ball.x: 5.2, ball.y: 0.1, " UPRIGHT(
                    "ball") ",\n"
                            "  ball.wx: 0, ball.wy: 1, ball.wz: 0, puck.x: 0.2, puck.y: "
                            "1, " UPRIGHT(
                                "puck") ",\n"
                                        "  puck.wx: 0, puck.wy: 0, puck.wz: 0, puck.vx: 1, "
                                        "puck.vy: 0.3}\n"
                                        "guess: {disc.z: 0.5, ball.z: 1.3, puck.z: 0.4}\n";

// Where a contact is on its terrain is as high as the terrain is there.
static void check_touch(const tr_system *system, const Frames *frames, uint32_t i, Height *height,
                        const double *P, const double *pose)
{
    const SceneTerrain *t = &system->scene.terrains[system->scene.contacts[i].terrain];
    double on[3], at[2];
    tr_frames_touch(frames, i, at);
    const double own[3] = {at[0], at[1], tr_height_at(height, at[0], at[1])};
    for (int k = 0; k < 3; k++) {
        const double *R = t->rotation + (size_t)3 * (size_t)k;
        on[k] = t->at[k] + R[0] * own[0] + R[1] * own[1] + R[2] * own[2];
    }
    double world[3] = {on[0], on[1], on[2]};
    if (pose) rotate(pose + 3, on, world);
    for (int k = 0; k < 3; k++) assert_close(world[k] + (pose ? pose[k] : 0), P[k], 1e-9);
}

static void test_terrains(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(waves);
    const Scene *s = &system->scene;
    Sheet *run = run_for(system, 1, 0.05);
    Frames *frames = tr_frames_new(system, run, &err);
    if (!frames) fail_msg("%s", err.text);
    assert_int_equal(s->terrain_count, 2);
    Height height[2];
    for (uint32_t i = 0; i < 2; i++)
        if (!tr_height_make(&height[i], system, i, &err)) fail_msg("%s", err.text);
    double frame[4 * BODY_NUMBERS + 3 * CONTACT_NUMBERS];
    assert_int_equal(tr_frames_stride(frames), sizeof frame / sizeof *frame);
    uint32_t plate;
    body_called(system, "plate", &plate);
    for (size_t row = 0; row < run->rows; row++) {
        tr_frames_get(frames, row, frame);
        assert_int_equal(check_forces(system, run, row, frame), 3 * CONTACT_NUMBERS);
        for (uint32_t i = 0; i < 3; i++) {
            const uint32_t terrain = s->contacts[i].terrain;
            check_touch(system, frames, i, &height[terrain],
                        frame + 4 * BODY_NUMBERS + (size_t)CONTACT_NUMBERS * i,
                        terrain ? frame + (size_t)BODY_NUMBERS * plate : NULL);
        }
    }
    assert_true(at(run, 12, "contact.rim.x") > 0.3); // it went somewhere
    for (int i = 0; i < 2; i++) tr_height_free(&height[i]);
    tr_frames_free(frames);
    tr_sheet_free(run);
    tr_system_free(system);
}

// The straight line between nodes is near the height, on a grid that is no finer than need be.
static double worst_between(const HeightMap *map, double (*f)(double x, double y))
{
    double worst = 0;
    for (uint32_t k = 0; k + 1 < map->count[1]; k++)
        for (uint32_t i = 0; i + 1 < map->count[0]; i++) {
            const double *h = map->heights + (size_t)k * map->count[0] + i;
            const double middle = (h[0] + h[1] + h[map->count[0]] + h[map->count[0] + 1]) / 4;
            const double wanted =
                f(map->corner[0] + map->step * (i + 0.5), map->corner[1] + map->step * (k + 0.5));
            worst = fmax(worst, fabs(middle - wanted));
        }
    return worst;
}

static double bowl(double x, double y) { return (x * x + y * y) / 4; }
static double kerb(double x, double y) { return 0.1 * exp(-9 * (x - 1) * (x - 1)) + 0 * y; }
static double gap(double x, double y) { return 0.1 * y + 1e-9 * sqrt(1 - x * x); }
static double slope(double x, double y) { return 0.1 * x - 0.3 * y; }

static void check_map(const char *formula, double (*f)(double x, double y), uint32_t wide,
                      uint32_t high, double error)
{
    tr_error err = {0};
    char text[300];
    snprintf(text, sizeof text,
             "trundle: 1\nground: {height: \"%s\"}\nbodies: {ball: {" BODY "}}\n"
             "contacts: {touch: {kind: slide, body: ball}}\n",
             formula);
    tr_system *system = system_from(text);
    Height height;
    HeightMap map;
    assert_true(tr_height_make(&height, system, 0, &err));
    const double low[2] = {-2, -1}, high_end[2] = {6, 1};
    assert_true(tr_height_map_make(&map, &height, low, high_end, 0.01, &err));
    assert_int_equal(map.count[0], wide);
    assert_int_equal(map.count[1], high);
    for (int k = 0; k < 2; k++) {
        assert_true(map.corner[k] <= low[k] + 1e-12);
        assert_true(map.corner[k] + map.step * (map.count[k] - 1) >= high_end[k] - 1e-12);
    }
    assert_true(worst_between(&map, f) <= error); // not a margin: of what is drawn
    tr_height_map_free(&map);
    tr_height_free(&height);
    tr_system_free(system);
}

static void test_height_maps(void **state)
{
    (void)state;
    check_map("0.1*x - 0.3*y", slope, 25, 7, 1e-12); // one line is enough for all of it
    check_map("(x^2 + y^2)/4", bowl, 25, 7, 0.01 * 9.25);
    check_map("0.1*y + 1e-9*sqrt(1 - x^2)", gap, 193, 49, 1e-8); // the edge of a hole is as it is
    check_map("0.1*exp(-9*(x - 1)^2)", kerb, 193, 49, 0.01 * 0.1);
}

// ---- loops and beams -----------------------------------------------------------------------

// A pendulum that turns about x, with a plate that is welded to it by a loop, and an arm that bends
static const char tied[] =
    "trundle: 1\n"
    "bodies:\n"
    "  swing: {joint: {type: revolute, axis: \"1, 0, 0\"}, mass: 1, com: \"0, 0, -1\"}\n"
    "  plate: {joint: {type: free}, mass: 2, com: \"0.1, 0.2, -0.1\",\n"
    "    inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}\n"
    "  arm: {parent: swing, joint: {type: fixed, at: \"0, 0, -1\"},\n"
    "    beam: {length: 0.5, density: 1, stiffness: 2, planes: yz, modes: 2}}\n"
    "loops:\n"
    "  weld: {kind: pose, body: plate, on: swing, to: \"0.3, 0, -1\"}\n"
    "outputs: {x: arm.tip.x, y: arm.tip.y, z: arm.tip.z}\n"
    "initial: {swing: 0.5}\n";

// The force and the moment on the plate: as recorded in the swing's axes, turned with it
static void check_weld(const Sheet *run, size_t row, const double *contact)
{
    static const char *const rows[] = {"x", "y", "z", "mx", "my", "mz"};
    const double angle = at(run, row, "swing"), c = cos(angle), s = sin(angle);
    double own[6];
    for (int k = 0; k < 6; k++) {
        char name[50];
        snprintf(name, sizeof name, "lambda.weld.%s", rows[k]);
        own[k] = at(run, row, name);
    }
    const double place[3] = {0.3, s, -c};
    assert_near(contact, place);
    for (int k = 0; k < 6; k += 3) {
        const double world[3] = {own[k], c * own[k + 1] - s * own[k + 2],
                                 s * own[k + 1] + c * own[k + 2]};
        for (int j = 0; j < 3; j++) assert_close(contact[3 + k + j], world[j], 1e-11);
    }
    assert_true(fabs(own[2]) > 1 && fabs(own[4]) > 0.1);
}

static void test_loops_and_beams(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(tied);
    Sheet *run = run_for(system, 1, 0.1);
    Frames *frames = tr_frames_new(system, run, &err);
    if (!frames) fail_msg("%s", err.text);
    const SceneBeam *beam = &system->scene.beams[0];
    const uint32_t stride = tr_frames_stride(frames), bodies = system->scene.body_count;
    assert_int_equal(bodies, 4 + 2 + 2 * 2 + 1); // with the tip
    assert_int_equal(stride, BODY_NUMBERS * bodies + CONTACT_NUMBERS + 3);
    double frame[200];
    for (size_t row = 0; row < run->rows; row++) {
        tr_frames_get(frames, row, frame);
        check_weld(run, row, frame + (size_t)BODY_NUMBERS * bodies);
        const double tip[3] = {at(run, row, "x"), at(run, row, "y"), at(run, row, "z")};
        assert_near(frame + (size_t)BODY_NUMBERS * (beam->first + beam->count - 1), tip);
    }
    assert_true(fabs(at(run, run->rows - 1, "arm.z1")) > 1e-3); // it was not straight
    tr_frames_free(frames);
    tr_sheet_free(run);
    tr_system_free(system);
}

// A beam is as long as it is, and round at its ends.
static void test_extent_of_a_beam(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from("trundle: 1\n"
                                    "bodies: {rod: {joint: {type: fixed, at: \"0, 0, 5\"},\n"
                                    "  beam: {length: 3, density: 1, stiffness: 1}}}\n");
    Sheet *run = sheet_of("t,rod.y1\n0,0\n");
    Frames *frames = tr_frames_new(system, run, &err);
    if (!frames) fail_msg("%s", err.text);
    assert_close(tr_frames_extent(frames), 3 + 2 * system->scene.beams[0].radius, 1e-13);
    tr_frames_free(frames);
    tr_sheet_free(run);
    tr_system_free(system);
}

// ---- pages ---------------------------------------------------------------------------------

typedef struct Written {
    char *page; // the whole file
    Text report, columns, frames;
} Written;

static Text element(const char *page, const char *id)
{
    char open[100];
    snprintf(open, sizeof open, "id=\"%s\">", id);
    const char *from = strstr(page, open);
    assert_non_null(from);
    from += strlen(open);
    const char *to = strstr(from, "</script>");
    assert_non_null(to);
    return (Text){from, (size_t)(to - from)};
}

static Written write_page(const Report *report)
{
    tr_error err = {0};
    Written w = {0};
    size_t size = 0;
    FILE *to = open_memstream(&w.page, &size);
    if (!tr_page_write(text_of(PAGE), report, 1, NULL, to, &err)) fail_msg("%s", err.text);
    fclose(to);
    w.report = element(w.page, "report");
    w.columns = element(w.page, "columns");
    w.frames = element(w.page, "frames");
    assert_memory_equal(w.page, "<html><body>before<script ", 26);
    const char *end = "</script>after</body></html>";
    assert_string_equal(w.page + size - strlen(end), end);
    return w;
}

static unsigned char *decode(Text text, size_t *length)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char *bytes = calloc(text.length + 1, 1);
    assert_non_null(bytes);
    assert_int_equal(text.length % 4, 0);
    *length = 0;
    for (size_t i = 0; i < text.length; i += 4) {
        unsigned bits = 0;
        for (size_t k = 0; k < 4; k++) {
            const char *letter = strchr(letters, text.at[i + k]);
            assert_true(letter || text.at[i + k] == '=');
            bits = 64 * bits + (letter ? (unsigned)(letter - letters) : 0);
        }
        bytes[*length] = (unsigned char)(bits >> 16);
        bytes[*length + 1] = (unsigned char)(bits >> 8);
        bytes[*length + 2] = (unsigned char)bits;
        *length += 3u - (text.at[i + 2] == '=') - (text.at[i + 3] == '=');
    }
    return bytes;
}

static void assert_json_string(Text value, const char *meaning)
{
    Buffer text = {0};
    assert_true(tr_json_string(value, &text));
    assert_string_equal(text.at, meaning);
    tr_buffer_free(&text);
}

static double json_number(Text value)
{
    char digits[50];
    double number = 0;
    assert_true(value.at && value.length < sizeof digits);
    memcpy(digits, value.at, value.length);
    digits[value.length] = 0;
    assert_true(tr_read_number(digits, &number));
    return number;
}

// Nothing in the JSON can end its element or begin another.
static void check_safe(Text json)
{
    assert_true(tr_json_is_valid(json));
    for (size_t i = 0; i < json.length; i++) assert_null(strchr("<>&", json.at[i]));
}

static void test_numbers_of_a_page(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = derive_file("bicycle.yaml", NULL, true);
    Sheet *run = run_for(system, 1, 0.1);
    const Written w = write_page(&(Report){.system = system, .run = run});
    check_safe(w.report);
    size_t length;
    unsigned char *bytes = decode(w.columns, &length); // this machine is little-endian, too
    assert_int_equal(length, run->rows * run->columns * sizeof(double));
    assert_memory_equal(bytes, run->values, length);
    free(bytes);
    bytes = decode(w.frames, &length);
    Frames *frames = tr_frames_new(system, run, &err);
    const uint32_t stride = tr_frames_stride(frames);
    assert_int_equal(length, run->rows * stride * sizeof(float));
    double frame[100];
    for (size_t row = 0; row < run->rows; row++) {
        tr_frames_get(frames, row, frame);
        for (uint32_t i = 0; i < stride; i++) {
            float number;
            memcpy(&number, bytes + (row * stride + i) * sizeof number, sizeof number);
            const bool turns = i < BODY_NUMBERS * system->scene.body_count && i % BODY_NUMBERS > 2;
            assert_true(number == (float)frame[i] || (turns && number == -(float)frame[i]));
        }
    }
    free(bytes);
    const Text scene = tr_json_member(w.report, "scene");
    assert_true(json_number(tr_json_member(scene, "stride")) == stride);
    assert_true(json_number(tr_json_member(w.report, "rows")) == (double)run->rows);
    assert_true(text_is(tr_json_member(w.report, "certificate"), "null"));
    assert_json_string(tr_json_member(w.report, "case"), "free");
    assert_json_string(tr_json_member(tr_json_member(w.report, "model"), "file"), "bicycle.yaml");
    assert_json_string(tr_json_member(tr_json_member(w.report, "model"), "text"),
                       system->source.text);
    char hash[TR_SHA256_SIZE];
    tr_sha256(system->source.text, strlen(system->source.text), hash);
    assert_json_string(tr_json_member(tr_json_member(w.report, "model"), "sha256"), hash);
    tr_frames_free(frames);
    free(w.page);
    tr_sheet_free(run);
    tr_system_free(system);
}

static void numbers_of(Text list, double *out, size_t count)
{
    for (size_t i = 0; i < count; i++) out[i] = json_number(tr_json_item(list, i));
    assert_null(tr_json_item(list, count).at);
}

// The first terrain of a page against its formula, in rings around the origin; nan where there is
// none. Its margins are more than the track needs.
static void check_heights(const Written *w, double (*f)(double x, double y), double reach)
{
    const Text terrains = tr_json_member(tr_json_member(w->report, "scene"), "terrains");
    const Text first = tr_json_item(terrains, 0);
    double corner[2], count[2];
    size_t length;
    numbers_of(tr_json_member(first, "corner"), corner, 2);
    numbers_of(tr_json_member(first, "count"), count, 2);
    const double step = json_number(tr_json_member(first, "step"));
    assert_true(json_number(tr_json_member(first, "on")) == -1);
    unsigned char *bytes = decode(element(w->page, "heights"), &length);
    assert_int_equal(length, count[0] * count[1] * sizeof(float));
    assert_true(count[0] <= 200 && count[1] <= 200);
    size_t holes = 0;
    for (size_t i = 0; i < length / sizeof(float); i++) {
        const size_t wide = (size_t)count[0];
        const double x = corner[0] + step * (double)(i % wide),
                     y = corner[1] + step * (double)(i / wide), wanted = f(x, y);
        float number;
        memcpy(&number, bytes + i * sizeof number, sizeof number);
        if (fabs(x * x + y * y - 1) > 1e-9) assert_close((double)number, wanted, 2e-7);
        if (isnan(number)) holes++;
    }
    assert_true(holes > 0 && corner[1] < -0.2 && corner[0] + step * (count[0] - 1) > reach);
    free(bytes);
}

static double dome(double x, double y) { return -sqrt(1 - x * x - y * y); }

static const char pit[] =
    "trundle: 1\n"
    "ground: {height: -sqrt(1 - x^2 - y^2)}\n"
    "bodies: {ball: {" BODY "}}\n"
    "contacts: {touch: {kind: rolling, shape: ball, body: ball, radius: 0.2}}\n"
    "initial: {" UPRIGHT("ball") ", ball.wx: 0, ball.wy: 0, ball.wz: 1,\n"
                                 "  contact.touch.x: 0.5, contact.touch.y: 0}\n"
                                 "guess: {ball.x: 0.4, ball.z: -0.6}\n";

// Half of a sphere is a hole outside of it. Flat ground has no heights.
static void test_terrain_of_a_page(void **state)
{
    (void)state;
    tr_system *system = system_from(pit);
    Sheet *run = run_for(system, 0.5, 0.1);
    const Written w = write_page(&(Report){.system = system, .run = run});
    check_safe(w.report);
    check_heights(&w, dome, 0.5 + 0.2);
    free(w.page);
    tr_sheet_free(run);
    tr_system_free(system);
    system = derive_file("rolling_disc.yaml", NULL, true);
    run = run_for(system, 0.1, 0.1);
    const Written flat = write_page(&(Report){.system = system, .run = run});
    assert_null(strstr(flat.page, "id=\"heights\""));
    assert_null(
        tr_json_item(tr_json_member(tr_json_member(flat.report, "scene"), "terrains"), 0).at);
    free(flat.page);
    tr_sheet_free(run);
    tr_system_free(system);
}

typedef struct Column {
    const char *name, *unit, *group;
} Column;

static void check_column(Text report, const Column *wanted)
{
    const Text columns = tr_json_member(report, "columns");
    for (size_t i = 0; tr_json_item(columns, i).at; i++) {
        const Text column = tr_json_item(columns, i);
        Buffer text = {0};
        tr_json_string(tr_json_member(column, "name"), &text);
        const bool found = strcmp(text.at, wanted->name) == 0;
        tr_buffer_free(&text);
        if (!found) continue;
        assert_json_string(tr_json_member(column, "unit"), wanted->unit);
        assert_json_string(tr_json_member(column, "group"), wanted->group);
        return;
    }
    fail_msg("no column %s", wanted->name);
}

// The page of a run, which is freed with its system, has these columns.
static void check_columns(tr_system *system, Sheet *run, const Column *wanted, size_t count)
{
    const Written w = write_page(&(Report){.system = system, .run = run});
    check_safe(w.report);
    for (size_t i = 0; i < count; i++) check_column(w.report, &wanted[i]);
    free(w.page);
    tr_sheet_free(run);
    tr_system_free(system);
}

static void test_columns(void **state)
{
    (void)state;
    static const Column of_bicycle[] = {
        {"t", "s", "time"},
        {"frame.x", "m", "coordinates"},
        {"frame.qw", "", "coordinates"},
        {"steer", "rad", "coordinates"},
        {"steer_rate", "rad/s", "velocities"},
        {"frame.vz", "m/s", "velocities"},
        {"frame.wx", "rad/s", "velocities"},
        {"roll", "", "outputs"},
        {"lambda.front.lateral", "N", "forces"},
        {"contact.rear.Fx", "N", "forces"},
        {"contact.rear.x", "m", "contacts"},
        {"tau.steer", "N m", "torques"},
        {"energy.work", "J", "energy"},
        {"residual.position", "", "residuals"},
    };
    static const Column of_cart[] = {
        {"x", "m", "coordinates"}, {"x_rate", "m/s", "velocities"}, {"tau.x", "N", "torques"}};
    static const Column of_energy[] = {{"energy.theta", "rad", "coordinates"},
                                       {"energy.vx", "m/s", "velocities"}};
    static const Column of_crank[] = {{"swing", "rad", "coordinates"},
                                      {"swing_rate", "rad/s", "velocities"},
                                      {"way", "m", "coordinates"}};
    tr_system *system = derive_file("bicycle.yaml", NULL, true);
    check_columns(system, run_for(system, 0.1, 0.1), of_bicycle,
                  sizeof of_bicycle / sizeof *of_bicycle);
    system = system_from("trundle: 1\n"
                         "bodies: {cart: {joint: {type: prismatic, axis: \"1, 0, 0\", "
                         "coordinate: x},\n"
                         "  mass: 1}}\n"
                         "roles: {x: {torque: -x}}\n");
    check_columns(system, sheet_of("t,x,x_rate,tau.x\n0,1,2,3\n"), of_cart, 3);
    system = system_from("trundle: 1\nbodies: {energy: {joint: {type: planar}, mass: 1, "
                         "inertia: {zz: 1}}}\n");
    check_columns(system, sheet_of("t,energy.x,energy.y,energy.theta,energy.vx\n0,1,2,3,4\n"),
                  of_energy, 2);
    system = derive_file("slider_crank.yaml", NULL, true); // whose joint `swing` is cut
    check_columns(system, run_for(system, 0.01, 0.01), of_crank, 3);
}

// Contact modes are no parameters.
static void test_parameters(void **state)
{
    (void)state;
    tr_system *system = derive_file("hopping_wheel.yaml", NULL, true);
    Sheet *run = run_for(system, 0.01, 0.01);
    const Written w = write_page(&(Report){.system = system, .run = run});
    const Text parameters = tr_json_member(w.report, "parameters");
    size_t count = 0;
    for (; tr_json_item(parameters, count).at; count++) {
        Buffer name = {0};
        assert_true(tr_json_string(tr_json_member(tr_json_item(parameters, count), "name"), &name));
        assert_null(strstr(name.at, "contact."));
        tr_buffer_free(&name);
    }
    assert_true(count > 5);
    free(w.page);
    tr_sheet_free(run);
    tr_system_free(system);
}

static void assert_json_vector(Text list, double x, double y, double z)
{
    const double wanted[] = {x, y, z};
    for (size_t k = 0; k < 3; k++)
        assert_close(json_number(tr_json_item(list, k)), wanted[k], 1e-12);
}

static void test_loops_of_a_page(void **state)
{
    (void)state;
    tr_system *system = system_from(tied);
    Sheet *run = run_for(system, 0.1, 0.1);
    const Written w = write_page(&(Report){.system = system, .run = run});
    check_safe(w.report);
    check_column(w.report, &(Column){"lambda.weld.x", "N", "forces"});
    check_column(w.report, &(Column){"lambda.weld.mx", "N m", "forces"});
    const Text scene = tr_json_member(w.report, "scene");
    const Text weld = tr_json_item(tr_json_member(scene, "contacts"), 0);
    assert_json_string(tr_json_member(weld, "name"), "weld");
    assert_json_string(tr_json_member(weld, "kind"), "pose");
    assert_true(json_number(tr_json_member(weld, "body")) == 1);
    assert_true(json_number(tr_json_member(weld, "on")) == 0);
    assert_true(text_is(tr_json_member(weld, "has_moment"), "true"));
    assert_json_string(tr_json_item(tr_json_member(weld, "rows"), 5), "weld.mz");
    assert_json_vector(tr_json_member(tr_json_member(weld, "loop"), "at"), 0, 0, 0);
    assert_json_vector(tr_json_member(tr_json_member(weld, "loop"), "to"), 0.3, 0, -1);
    const Text beam = tr_json_item(tr_json_member(scene, "beams"), 0);
    assert_true(json_number(tr_json_member(beam, "body")) == system->scene.beams[0].body);
    assert_true(json_number(tr_json_member(beam, "first")) == system->scene.beams[0].first);
    assert_true(json_number(tr_json_member(beam, "count")) == 7);
    free(w.page);
    tr_sheet_free(run);
    tr_system_free(system);
}

// Names of things are names or files or whatever the user wrote.
static void test_hostile_names(void **state)
{
    (void)state;
    static const char hostile[] =
        "</script><script>alert(1)</script> <!-- & \" ' \\ \xf0\x9f\x9a\xb2";
    tr_system *system =
        system_from("trundle: 1\n"
                    "name: '</script><script>alert(1)</script> <!-- & \" '' \\ \xf0\x9f\x9a\xb2'\n"
                    "bodies:\n"
                    "  b:\n"
                    "    joint: {type: revolute, axis: \"0, 1, 0\"} # <!--data--> </script>\n"
                    "    mass: 1\n"
                    "    com: 1, 0, 0\n"
                    "    shapes: {s: {colour: '\"</style></script>'}}\n");
    Buffer csv = {0};
    tr_buffer_print(&csv, "t,b,\"");
    for (const char *c = hostile; *c; c++) tr_buffer_print(&csv, *c == '"' ? "\"\"" : "%c", *c);
    tr_buffer_print(&csv, "\",bad\xff\xfe utf\n0,0.5,1,2\n1,nan,inf,-0\n");
    Sheet *run = sheet_of(csv.at);
    const Text certificate = text_of("{\"failure\": \"</script>\\u003c\", \"x\": [1]}");
    const Written w =
        write_page(&(Report){.system = system, .run = run, .certificate = certificate});
    check_safe(w.report);
    assert_json_string(tr_json_member(w.report, "title"), hostile);
    const Text columns = tr_json_member(w.report, "columns");
    assert_json_string(tr_json_member(tr_json_item(columns, 2), "name"), hostile);
    assert_json_string(tr_json_member(tr_json_item(columns, 3), "name"), "bad\\xff\\xfe utf");
    assert_json_string(tr_json_member(tr_json_member(w.report, "certificate"), "failure"),
                       "</script><");
    const Text body = tr_json_item(tr_json_member(tr_json_member(w.report, "scene"), "bodies"), 0);
    assert_json_string(tr_json_member(tr_json_item(tr_json_member(body, "shapes"), 0), "colour"),
                       "\"</style></script>");
    assert_json_string(tr_json_member(tr_json_member(w.report, "model"), "text"),
                       system->source.text);
    int scripts = 0; // in the whole file: ours alone
    for (const char *c = w.page; (c = strstr(c, "<script")); c++) scripts++;
    assert_int_equal(scripts, 3);
    free(w.page);
    tr_buffer_free(&csv);
    tr_sheet_free(run);
    tr_system_free(system);
}

static void assert_refused(tr_system *system, const char *csv, const char *page, const char *words)
{
    tr_error err = {0};
    Sheet *run = sheet_of(csv);
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    const Report report = {.system = system, .run = run};
    assert_false(tr_page_write(text_of(page), &report, 1, NULL, to, &err));
    fclose(to);
    free(text);
    assert_int_equal(err.status, TR_INVALID);
    assert_string_equal(err.text, words);
    tr_sheet_free(run);
}

static void test_refused(void **state)
{
    (void)state;
    tr_system *system = system_from("trundle: 1\n"
                                    "bodies:\n"
                                    "  a: {joint: {type: planar}, mass: 1, inertia: {zz: 1}}\n"
                                    "  b: {parent: a, joint: {type: revolute, axis: \"0, 1, 0\"},\n"
                                    "    mass: 1, com: \"1, 0, 0\"}\n"
                                    "roles: {b: {motion: 2*t}}\n");
    assert_refused(system, "t,a.x,a.theta\n0,0,0\n", PAGE,
                   "the run has no column 'a.y': it is not one of this model");
    assert_refused(system, "t,a.x,a.y,a.theta\n", PAGE, "the run has no rows");
    assert_refused(system, "a.x,t,a.y,a.theta\n0,0,0,0\n", PAGE,
                   "the first column of a run is 't'");
    assert_refused(system, "t,a.x,a.y,a.theta\n0,0,0,0\n", "<html></html>",
                   "the page has no mark <!--data-->");
    tr_error err = {0}; // what is driven needs no column
    Sheet *run = sheet_of("t,a.x,a.y,a.theta\n0.5,1,2,0\n");
    Frames *frames = tr_frames_new(system, run, &err);
    double frame[2 * BODY_NUMBERS], x[3] = {1, 0, 0}, tip[3];
    tr_frames_get(frames, 0, frame);
    rotate(frame + BODY_NUMBERS + 3, x, tip);
    assert_close(tip[0], cos(1), 1e-15);
    assert_close(tip[2], -sin(1), 1e-15);
    tr_frames_free(frames);
    tr_sheet_free(run);
    tr_system_free(system);
}

// A quaternion from any rotation, also by half a turn about anything
static void test_rotations(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from("trundle: 1\n"
                                    "bodies: {a: {joint: {type: ball}, mass: 1,\n"
                                    "  inertia: {xx: 1, yy: 1, zz: 1}}}\n");
    static const double q[][4] = {{1, 0, 0, 0},           {0, 1, 0, 0},          {0, 0, 1, 0},
                                  {0, 0, 0, 1},           {0.5, 0.5, 0.5, 0.5},  {0, 0.6, 0, -0.8},
                                  {-0.5, 0.5, 0.5, -0.5}, {0.1, -0.7, 0.1, 0.7}, {0, 0.6, 0.8, 0}};
    for (size_t i = 0; i < sizeof q / sizeof *q; i++) {
        char csv[200];
        snprintf(csv, sizeof csv, "t,a.qw,a.qx,a.qy,a.qz\n0,%g,%g,%g,%g\n", q[i][0], q[i][1],
                 q[i][2], q[i][3]);
        Sheet *run = sheet_of(csv);
        Frames *frames = tr_frames_new(system, run, &err);
        double frame[BODY_NUMBERS], along = 0;
        tr_frames_get(frames, 0, frame);
        for (int k = 0; k < 4; k++) along += q[i][k] * frame[3 + k];
        for (int k = 0; k < 4; k++)
            assert_close(frame[3 + k] * (along < 0 ? -1 : 1), q[i][k], 1e-15);
        tr_frames_free(frames);
        tr_sheet_free(run);
    }
    tr_system_free(system);
}

// ---- files ---------------------------------------------------------------------------------

static bool has_no_settings(const tr_origin *origin)
{
    tr_derive_options was = tr_derive_defaults();
    tr_origin_options(origin, &was);
    return !was.case_name && !was.setting_count;
}

static void test_view(void **state)
{
    (void)state;
    tr_error err = {0};
    const tr_setting settings[] = {{"speed0", "if(1 < 2, 5, 6)"}, {"w", "1.05"}};
    const tr_derive_options options = {
        .size = sizeof options, .case_name = "turn", .settings = settings, .setting_count = 2};
    tr_system *system = derive_file("bicycle.yaml", &options, true);
    tr_sheet_free(run_for(system, 0.5, 0.1));
    assert_true(tr_write_text("file.page", PAGE, &err));

    tr_origin *origin = tr_origin_read("run.csv", &err);
    assert_non_null(origin);
    tr_derive_options was = tr_derive_defaults();
    tr_origin_options(origin, &was);
    assert_string_equal(was.case_name, "turn");
    assert_int_equal(was.setting_count, 2);
    assert_string_equal(was.settings[0].name, "speed0");
    assert_string_equal(was.settings[0].formula, "if(1 < 2, 5, 6)");
    assert_string_equal(was.settings[1].formula, "1.05");
    assert_null(tr_origin_model(origin)); // it is in another folder
    tr_origin_free(origin);
    assert_true(tr_write_text("bicycle.yaml", "trundle: 1\n", &err));
    origin = tr_origin_read("run.csv", &err);
    assert_string_equal(tr_origin_model(origin), "bicycle.yaml");
    tr_origin_free(origin);
    assert_int_equal(remove("bicycle.yaml"), 0);

    tr_view_options view = {
        .size = sizeof view, .run = "run.csv", .output = "file.html", .page = "file.page"};
    tr_view_summary summary;
    assert_true(tr_view_check(&view, &err));
    assert_int_not_equal(access("file.html", F_OK), 0); // it was only asked
    assert_true(tr_view(system, &view, &summary, &err));
    assert_int_equal(summary.rows, 6);
    assert_true(summary.has_certificate && !summary.is_other_model);
    FILE *file = fopen("file.html", "r");
    fseek(file, 0, SEEK_END);
    assert_int_equal(ftell(file), summary.bytes);
    fclose(file);
    tr_system_free(system);

    system = derive_file("rolling_disc.yaml", NULL, true); // not its model at all
    assert_false(tr_view(system, &view, &summary, &err));
    assert_int_equal(err.status, TR_INVALID);
    assert_non_null(strstr(err.text, "no column 'disc.x'"));
    tr_system_free(system);
}

static void test_certificates(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system =
        system_from("trundle: 1\n"
                    "bodies: {a: {joint: {type: planar}, mass: 1, inertia: {zz: 1}}}\n");
    const tr_view_options view = {
        .size = sizeof view, .run = "cert.csv", .output = "cert.html", .page = "cert.page"};
    tr_view_summary summary;
    assert_true(tr_write_text("cert.page", PAGE, &err));
    assert_true(tr_write_text("cert.csv", "t,a.x,a.y,a.theta\n0,0,0,0\n", &err));
    assert_true(tr_view(system, &view, &summary, &err));
    assert_false(summary.has_certificate || summary.is_other_model);
    tr_origin *origin = tr_origin_read("cert.csv", &err); // nothing is known of it
    assert_non_null(origin);
    assert_true(has_no_settings(origin));
    tr_origin_free(origin);

    assert_true(tr_write_text("cert.json", "{\"model_sha256\": \"00\", \"case\": 5}", &err));
    assert_true(tr_view(system, &view, &summary, &err));
    assert_true(summary.has_certificate && summary.is_other_model);
    origin = tr_origin_read("cert.csv", &err);
    assert_non_null(origin);
    assert_true(has_no_settings(origin));
    tr_origin_free(origin);

    assert_true(tr_write_text("cert.json", "{\"settings\": [{\"name\": \"a\"}]}", &err));
    assert_null(tr_origin_read("cert.csv", &err));
    assert_string_equal(err.text, "the certificate's settings have a name and a formula each");
    err = (tr_error){0};
    assert_true(tr_write_text("cert.json", "{\"case\": ", &err));
    assert_false(tr_view(system, &view, &summary, &err));
    assert_int_equal(err.status, TR_INVALID);
    assert_string_equal(err.text, "'cert.json' is not a certificate: it is not JSON");
    err = (tr_error){0};
    assert_null(tr_origin_read("cert.csv", &err));
    assert_int_equal(err.status, TR_INVALID);
    tr_system_free(system);
}

// A report of rows that were kept in memory is the one of the file that they went to as well.
static void test_report_from_memory(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_view_summary summary, again;
    tr_system *system = derive_file("bicycle.yaml", NULL, true);
    assert_true(tr_write_text("file.page", PAGE, &err));
    tr_report *report = tr_report_new(&err);
    tr_simulate_options o = tr_simulate_defaults(system);
    o.end = 0.2, o.output = "kept.csv";
    o.sinks = tr_report_sink(report), o.sink_count = 1;
    assert_true(tr_simulate(system, &o, NULL, &err));
    const tr_view_options memory = {
        .size = sizeof memory, .run = NULL, .output = "memory.html", .page = "file.page"};
    const tr_view_options file = {
        .size = sizeof file, .run = "kept.csv", .output = "file.html", .page = "file.page"};
    assert_true(tr_report_write(report, system, &memory, &summary, &err));
    assert_true(tr_view(system, &file, &again, &err));
    assert_true(summary.has_certificate && again.has_certificate);
    assert_int_equal(summary.rows, again.rows);
    assert_int_equal(summary.bytes, again.bytes);
    char *one = read_text("memory.html"), *other = read_text("file.html");
    assert_string_equal(one, other);
    free(one), free(other);
    tr_report_free(report);
    tr_report_free(NULL);
    tr_system_free(system);
}

// Where something touches is part of the state: without its columns there is nothing to draw from.
static void test_refused_terrain(void **state)
{
    (void)state;
    tr_system *system = system_from(pit);
    assert_refused(system,
                   "t,ball.x,ball.y,ball.z,ball.qw,ball.qx,ball.qy,ball.qz,contact.touch.x,"
                   "contact.touch.z\n0,0.4,0,-0.6,1,0,0,0,0.5,-0.8\n",
                   PAGE, "the run has no column 'contact.touch.y': it is not one of this model");
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bicycle),           cmocka_unit_test(test_forces),
        cmocka_unit_test(test_loops_and_beams),   cmocka_unit_test(test_loops_of_a_page),
        cmocka_unit_test(test_extent_of_a_beam),  cmocka_unit_test(test_numbers_of_a_page),
        cmocka_unit_test(test_columns),           cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_hostile_names),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_rotations),         cmocka_unit_test(test_view),
        cmocka_unit_test(test_certificates),      cmocka_unit_test(test_report_from_memory),
        cmocka_unit_test(test_terrains),          cmocka_unit_test(test_height_maps),
        cmocka_unit_test(test_terrain_of_a_page), cmocka_unit_test(test_refused_terrain),
    };
    return cmocka_run_group_tests(tests, enter_folder, NULL);
}
