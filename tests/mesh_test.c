// SPDX-License-Identifier: Apache-2.0
// Triangles from files, however they are written, cut or wrong; fewer of them, where they still
// are; and shapes of a model that are such files.
#include "base/mesh.h"

#include "expr/system.h"
#include "folder.h"
#include "models.h"

typedef bool Read(const char *text, size_t length, Mesh *mesh, tr_error *err);

static Mesh good(Read *read, const char *text, size_t length)
{
    Mesh mesh;
    tr_error err = {0};
    if (!read(text, length, &mesh, &err)) fail_msg("%d: %s", err.line, err.text);
    return mesh;
}

static void assert_refused(Read *read, const char *text, size_t length, int line, const char *words)
{
    Mesh mesh;
    tr_error err = {0};
    assert_false(read(text, length, &mesh, &err));
    if (strcmp(err.text, words) != 0 || err.line != line)
        fail_msg("%s\nsays %d: %s", text, err.line, err.text);
    assert_int_equal(err.status, TR_INVALID);
    assert_true(!mesh.points && !mesh.corners);
}

// ---- .stl ----------------------------------------------------------------------------------

#define FACET(a, b, c)                                                                       \
    " facet normal 0 0 0\n  outer loop\n   vertex " a "\n   vertex " b "\n   vertex " c "\n" \
    "  endloop\n endfacet\n"
#define CORNER FACET("0 0 0", "1 0 0", "0 2e0 0") FACET("0 0 0", "+0 2 0.", "0 0 -3")

static void test_stl_text(void **state)
{
    (void)state;
    static const char *const same[] = {"solid a name with facet in it\n" CORNER "endsolid\n",
                                       "\r\nSOLID\r\n" CORNER, "solid\n" CORNER "endsolid x"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        Mesh m = good(tr_mesh_stl, same[i], strlen(same[i]));
        assert_int_equal(m.triangle_count, 2);
        assert_int_equal(m.point_count, 6);
        assert_true(m.points[3] == 1 && m.points[7] == 2 && m.points[17] == -3);
        assert_true(m.corners[0] == 0 && m.corners[5] == 5);
        tr_mesh_free(&m);
    }
}

// Triangle i has its corners at (i, 0, 0), (i + 1, 0, 0) and (i, 1, 0).
static size_t binary(char *out, const char *head, uint32_t count)
{
    memset(out, 0, 84 + 50 * (size_t)count);
    memcpy(out, head, strlen(head));
    memcpy(out + 80, &count, sizeof count); // tests run on little-endian machines
    for (uint32_t i = 0; i < count; i++) {
        const float x = (float)i;
        const float points[] = {x, 0, 0, x + 1, 0, 0, x, 1, 0};
        memcpy(out + 84 + 50 * (size_t)i + 12, points, sizeof points);
    }
    return 84 + 50 * (size_t)count;
}

static void test_stl_binary(void **state)
{
    (void)state;
    char file[84 + 50 * 3 + 10] = {0};
    static const char *const heads[] = {"made by a test", "solid, it says, and is binary"};
    for (size_t i = 0; i < 2; i++) {
        const size_t length = binary(file, heads[i], 3);
        Mesh m = good(tr_mesh_stl, file, length);
        assert_int_equal(m.triangle_count, 3);
        assert_true(m.points[9] == 1 && m.points[12] == 2 && m.points[25] == 1);
        tr_mesh_free(&m);
    }
    static const char *const padded[] = {"bytes behind it", "solid bytes behind it"};
    for (size_t i = 0; i < 2; i++) {
        Mesh m = good(tr_mesh_stl, file, binary(file, padded[i], 3) + 10);
        assert_int_equal(m.triangle_count, 3);
        tr_mesh_free(&m);
    }
}

static void test_bad_stl(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *words;
    } bad[] = {
        {"", 0, "has no triangles"},
        {"solid\nendsolid\n", 0, "has no triangles"},
        {"solid\nouter loop\nvertex 0 0\n", 3, "a point is three numbers"},
        {"solid\nouter loop\nvertex 0 0 1x\n", 3, "a point is three numbers"},
        {"solid\nouter loop\nvertex 0 0 1e60\n", 3, "a point is not finite"},
        {"solid\nouter loop\nvertex 0 0 1\nendloop\n", 4, "a triangle has three points"},
        {"solid\nouter loop\nvertex 0 0 1\n", 3, "the last triangle does not end"},
        {"solid\nsecret words\n", 2, "this is no line of an .stl file"},
        {"secret words\n", 1, "this is no line of an .stl file"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(tr_mesh_stl, bad[i].text, strlen(bad[i].text), bad[i].line, bad[i].words);
    char file[84 + 50 * 3];
    const size_t length = binary(file, "cut", 3);
    assert_refused(tr_mesh_stl, file, length - 1, 0,
                   "is cut short: it is to have more triangles than there is room for");
    memset(file + 80, 0xff, 4);
    assert_refused(tr_mesh_stl, file, length, 0,
                   "is cut short: it is to have more triangles than there is room for");
    binary(file, "not a number", 3);
    memset(file + 84 + 50 + 12, 0xff, 4);
    assert_refused(tr_mesh_stl, file, length, 0, "a point is not finite");
}

// ---- .obj ----------------------------------------------------------------------------------

static void test_obj(void **state)
{
    (void)state;
    static const char square[] = "# a square\r\no it\nv 0 0 0\nv 1 0 0 1\nv 1 1 0 0.5 0.5 0.5\n"
                                 "v 0 1 0\nvn 0 0 1\nvt 0 0\nusemtl x\nf 1/1/1 2//1 3/1 -1\n";
    Mesh m = good(tr_mesh_obj, square, strlen(square));
    assert_true(m.point_count == 4 && m.triangle_count == 2);
    static const uint32_t corners[] = {0, 1, 2, 0, 2, 3};
    assert_memory_equal(m.corners, corners, sizeof corners);
    tr_mesh_free(&m);
}

// Comments behind values, and lines that go on in the next one
static void test_obj_lines(void **state)
{
    (void)state;
    static const char *const same[] = {
        "v 0 0 0 # a\nv 1 0 0\nv 0 1 0\nf 1 2 3 # c\n",
        "v 0 0 0\nv 1 \\\n 0 0\nv 0 1 0 #\nf 1 \\\r\n2\\\n\\\n3",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 \\",
    };
    static const uint32_t corners[] = {0, 1, 2};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        Mesh m = good(tr_mesh_obj, same[i], strlen(same[i]));
        assert_true(m.point_count == 3 && m.triangle_count == 1);
        assert_memory_equal(m.corners, corners, sizeof corners);
        tr_mesh_free(&m);
    }
}

static void test_bad_obj(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *words;
    } bad[] = {
        {"", 0, "has no triangles"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\n", 0, "has no triangles"},
        {"v 0 0\n", 1, "a point is three numbers"},
        {"v 0 0 nan\n", 1, "a point is three numbers"},
        {"v 0 0 0\nf 1 1\n", 2, "a face has three corners or more"},
        {"v 0 0 0\nf 1 2 1\n", 2, "a face has a point that is not there so far"},
        {"v 0 0 0\nf 1 0 1\n", 2, "a face has a point that is not there so far"},
        {"v 0 0 0\nf 1 -2 1\n", 2, "a face has a point that is not there so far"},
        {"v 0 0 0\nf 1 1.5 1\n", 2, "a face has a point that is not there so far"},
        {"v 0 0 0\nf 1 1e300 1\n", 2, "a face has a point that is not there so far"},
        {"v 0 0 0\nf 1 /2 1\n", 2, "a face is made of numbers of points"},
        {"v 0 0 0\nf 1 # 1 1\n", 2, "a face has three corners or more"},
        {"v 0 0 0\nf 1 \\\n1\n", 3, "a face has three corners or more"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(tr_mesh_obj, bad[i].text, strlen(bad[i].text), bad[i].line, bad[i].words);
}

// ---- fewer ---------------------------------------------------------------------------------

// A ball of radius 2 about (5, 0, 0) as an .stl file has it: each triangle has points of its own.
static Buffer ball(int rings)
{
    Buffer text = {0};
    const double pi = acos(-1);
    tr_buffer_print(&text, "solid\n");
    for (int i = 0; i < rings; i++)
        for (int k = 0; k < 4 * rings; k++) {
            const int corners[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};
            for (int n = 0; n < 2; n++) {
                tr_buffer_print(&text, "outer loop\n");
                for (int c = 0; c < 3; c++) {
                    const int *at = corners[n][c];
                    const double u = pi * (i + at[0]) / rings;
                    const double v = pi / 2 * ((k + at[1]) % (4 * rings)) / rings;
                    tr_buffer_print(&text, "vertex %.9g %.9g %.9g\n", 5 + 2 * sin(u) * cos(v),
                                    2 * sin(u) * sin(v), 2 * cos(u));
                }
                tr_buffer_print(&text, "endloop\n");
            }
        }
    return text;
}

static void test_thin(void **state)
{
    (void)state;
    tr_error err = {0};
    Buffer text = ball(60);
    Mesh m = good(tr_mesh_stl, text.at, text.length);
    tr_buffer_free(&text);
    assert_int_equal(m.triangle_count, 2 * 60 * 240);
    assert_true(tr_mesh_thin(&m, 1000000, &err)); // one point at each place, no lines at the poles
    assert_int_equal(m.point_count, 59 * 240 + 2);
    assert_int_equal(m.triangle_count, 2 * 59 * 240);
    assert_true(tr_mesh_thin(&m, 3000, &err));
    assert_true(m.triangle_count <= 3000 && m.triangle_count > 1000);
    double low[3], high[3];
    tr_mesh_box(&m, low, high);
    for (int k = 0; k < 3; k++) {
        assert_true(fabs((low[k] + high[k]) / 2 - (k == 0 ? 5 : 0)) < 0.1);
        assert_true(fabs(high[k] - low[k] - 4) < 0.2);
    }
    for (uint32_t i = 0; i < m.point_count; i++) {
        const float *p = m.points + 3 * (size_t)i;
        const double r =
            sqrt(pow((double)p[0] - 5, 2) + pow((double)p[1], 2) + pow((double)p[2], 2));
        assert_true(fabs(r - 2) < 0.1);
    }
    for (size_t i = 0; i < 3 * (size_t)m.triangle_count; i++)
        assert_true(m.corners[i] < m.point_count);
    tr_mesh_free(&m);
}

// Triangles that are one again and again are one; those that are lines are none.
static void test_thin_twins(void **state)
{
    (void)state;
    Buffer text = {0};
    tr_error err = {0};
    tr_buffer_print(&text, "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    for (int i = 0; i < 1000; i++)
        tr_buffer_print(&text, "f %d %d %d\n", i % 3 + 1, (i + 1) % 3 + 1, (i + 2) % 3 + 1);
    Mesh m = good(tr_mesh_obj, text.at, text.length);
    assert_int_equal(m.triangle_count, 1000);
    assert_true(tr_mesh_thin(&m, 200, &err));
    assert_int_equal(m.triangle_count, 1);
    tr_mesh_free(&m);
    tr_buffer_free(&text);
    static const char line[] = "v 0 0 0\nv 1 0 0\nf 1 2 1\n";
    m = good(tr_mesh_obj, line, strlen(line));
    assert_false(tr_mesh_thin(&m, 200, &err));
    assert_string_equal(err.text, "has no triangle that is more than a line");
    tr_mesh_free(&m);
}

// ---- shapes --------------------------------------------------------------------------------

static void write_file(const char *name, const char *text, size_t length)
{
    write_bytes(in_folder(name), text, length);
}

static tr_system *model_with(const char *shape, tr_error *err)
{
    char text[600];
    snprintf(
        text, sizeof text,
        "trundle: 1\nbodies:\n  a:\n    mass: 1\n    joint: {type: prismatic, axis: \"1,0,0\"}\n"
        "    shapes:\n      hull: {%s}\n",
        shape);
    write_file("model.yaml", text, strlen(text));
    tr_model *model = tr_model_read(in_folder("model.yaml"), err);
    tr_system *system = tr_derive(model, NULL, err);
    tr_model_free(model);
    return system;
}

static void test_shape(void **state)
{
    (void)state;
    tr_error err = {0};
    static const char box[] = "v 1000 0 0\nv 3000 0 0\nv 1000 500 0\nv 1000 0 100\n"
                              "f 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n";
    write_file("hull.obj", box, strlen(box));
    tr_system *system =
        model_with("type: mesh, file: hull.obj, scale: 0.001, at: \"0, 0, 7\"", &err);
    if (!system) fail_msg("%d:%d: %s", err.line, err.column, err.text);
    const Scene *s = &system->scene;
    assert_int_equal(s->mesh_count, 1);
    assert_int_equal(s->meshes[0].triangle_count, 4);
    assert_true(s->meshes[0].points[0] == -1000.f || s->meshes[0].points[0] == 1000.f);
    assert_int_equal(s->drawing_count, 1);
    assert_string_equal(s->drawings[0].type, "mesh");
    static const double at[] = {2, 0.25, 7.05}, size[] = {2, 0.5, 0.1};
    for (int k = 0; k < 3; k++) {
        assert_close(s->drawings[0].at[k], at[k], 1e-12);
        assert_close(s->drawings[0].size[k], size[k], 1e-12);
    }
    assert_null(system->missing);
    char before[sizeof system->source.sha256];
    memcpy(before, system->source.sha256, sizeof before);
    assert_int_equal(system->source.file_count, 1);
    tr_system_free(system);
    write_file("hull.obj", box, strlen(box) - 8); // what the file holds is part of the model
    system = model_with("type: mesh, file: hull.obj, scale: 0.001, at: \"0, 0, 7\"", &err);
    assert_string_not_equal(system->source.sha256, before);
    tr_system_free(system);
}

static void test_missing(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = model_with("type: mesh, file: gone.stl, size: \"1, 2, 3\"", &err);
    if (!system) fail_msg("%s", err.text);
    assert_string_equal(system->missing, "'gone.stl'");
    assert_string_equal(system->scene.drawings[0].type, "box");
    assert_true(system->scene.drawings[0].size[2] == 3);
    tr_system_free(system);
}

// One that is wrong is drawn like one that is missing, and what is wrong with it is told.
static void test_malformed(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *words;
    } bad[] = {
        {"bad.obj", "v 0 0 0\nf 1 1\n", "'bad.obj' (line 2: a face has three corners or more)"},
        {"bad.StL", "garbage", "'bad.StL' (line 1: this is no line of an .stl file)"},
        {"bad.stl", "", "'bad.stl' (has no triangles)"},
        {"bad.obj", "v 0 0 0\nv 1 0 0\nf 1 2 1\n",
         "'bad.obj' (has no triangle that is more than a line)"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tr_error err = {0};
        char shape[100];
        write_file(bad[i].name, bad[i].text, strlen(bad[i].text));
        snprintf(shape, sizeof shape, "type: mesh, file: %s", bad[i].name);
        tr_system *system = model_with(shape, &err);
        if (!system) fail_msg("%s", err.text);
        assert_string_equal(system->missing, bad[i].words);
        assert_string_equal(system->scene.drawings[0].type, "box");
        char told[200], *text = tr_check_text(system, false, &err);
        snprintf(told, sizeof told, "%s cannot be read: drawn as a box\n", bad[i].words);
        assert_non_null(strstr(text, told));
        free(text);
        text = tr_check_text(system, true, &err);
        assert_non_null(strstr(text, "\"missing\": \"'bad."));
        free(text);
        tr_system_free(system);
    }
}

static void test_bad_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *words;
        int column;
    } bad[] = {
        {"type: mesh", "the mesh 'hull' needs a 'file', .stl or .obj", 7},
        {"type: mesh, file: hull.ply", "'hull.ply' is neither an .stl nor an .obj file", 32},
        {"file: hull.stl", "only a shape of type mesh has a file, not a box", 20},
        {"type: mesh, file: hull.stl, scale: 0", "the scale of a shape must be positive", 49},
        {"type: mesh, file: ../up.stl",
         "'../up.stl' is not in the folder of the model: --allow-files DIR allows another", 32},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tr_error err = {0};
        assert_null(model_with(bad[i].shape, &err));
        if (strcmp(err.text, bad[i].words) != 0 || err.line != 7 || err.column != bad[i].column)
            fail_msg("%s\nsays %d:%d: %s", bad[i].shape, err.line, err.column, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stl_text),   cmocka_unit_test(test_stl_binary),
        cmocka_unit_test(test_bad_stl),    cmocka_unit_test(test_obj),
        cmocka_unit_test(test_bad_obj),    cmocka_unit_test(test_thin),
        cmocka_unit_test(test_thin_twins), cmocka_unit_test(test_shape),
        cmocka_unit_test(test_missing),    cmocka_unit_test(test_bad_shapes),
        cmocka_unit_test(test_malformed),  cmocka_unit_test(test_obj_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
