// SPDX-License-Identifier: Apache-2.0
// Pages of several runs, of many rows, of meshes, and of what is below the floor.
#include "base/json.h"
#include "runs.h"
#include "scene.h"
#include "view/page.h"

#define PAGE "<p><!--data--></p>"

static char *page_of(const Report *reports, size_t count)
{
    tr_error err = {0};
    char *page = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&page, &size);
    if (!tr_page_write(text_of(PAGE), reports, count, NULL, to, &err)) fail_msg("%s", err.text);
    fclose(to);
    return page;
}

// Of no length when there is none
static Text element(const char *page, const char *id)
{
    char open[100];
    snprintf(open, sizeof open, "id=\"%s\">", id);
    const char *from = strstr(page, open);
    if (!from) return (Text){0};
    from += strlen(open);
    return (Text){from, (size_t)(strstr(from, "</script>") - from)};
}

static double number_in(Text object, const char *key)
{
    const Text value = tr_json_member(object, key);
    if (!value.at) fail_msg("there is no %s", key);
    return strtod(value.at, NULL);
}

// Bytes that so many letters of base64 stand for
static size_t bytes_of(Text text)
{
    size_t padding = 0;
    while (padding < 2 && text.at[text.length - 1 - padding] == '=') padding++;
    return text.length / 4 * 3 - padding;
}

static Sheet *rows_of(const char *header, size_t rows, double (*value)(size_t row, size_t column))
{
    Buffer text = {0};
    tr_error err = {0};
    tr_buffer_print(&text, "%s\n", header);
    size_t columns = 1;
    for (const char *c = header; *c; c++) columns += *c == ',';
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++) {
            tr_buffer_number(&text, value(i, k));
            tr_buffer_print(&text, k + 1 < columns ? "," : "\n");
        }
    Sheet *sheet = tr_sheet_parse(text.at, text.length, &err);
    if (!sheet) fail_msg("%s", err.text);
    tr_buffer_free(&text);
    return sheet;
}

// ---- many rows -----------------------------------------------------------------------------

static const char wheel[] =
    "trundle: 1\n"
    "bodies: {wheel: {joint: {type: revolute, axis: \"0, 1, 0\", coordinate: a}, mass: 1,\n"
    "  com: \"1, 0, 0\"}}\n";

static double slow(size_t row, size_t column)
{
    return column ? 0.001 * (double)row : 0.01 * (double)row;
}
// 0.4 radians a row in the second half
static double fast(size_t row, size_t column)
{
    const double turned = row > 10000 ? 0.4 * (double)(row - 10000) : 0;
    return column ? turned : 0.01 * (double)row;
}

static void check_sampled(double (*value)(size_t, size_t), size_t rows, size_t least, size_t most)
{
    tr_error err = {0};
    tr_system *system = system_from(wheel);
    Sheet *run = rows_of("t,a", rows, value);
    Frames *frames = tr_frames_new(system, run, &err);
    size_t count = 0;
    uint32_t *kept = tr_frames_sampled(frames, rows, &count, &err);
    assert_non_null(kept);
    assert_true(count >= least && count <= most);
    assert_int_equal(kept[0], 0);
    assert_int_equal(kept[count - 1], rows - 1);
    for (size_t i = 1; i < count; i++) {
        assert_true(kept[i] > kept[i - 1]);
        const double turned = value(kept[i], 1) - value(kept[i - 1], 1);
        assert_true(turned <= 1.0 + 1e-9 || kept[i] == kept[i - 1] + 1);
    }
    const Report report = {.system = system, .run = run};
    char *page = page_of(&report, 1);
    const Text json = element(page, "report");
    assert_int_equal(number_in(json, "rows"), rows);
    assert_int_equal(number_in(json, "frames"), count);
    assert_int_equal(bytes_of(element(page, "columns")), 8 * 2 * rows); // all of them
    assert_int_equal(bytes_of(element(page, "frames")), 4 * BODY_NUMBERS * count);
    const Text list = element(page, "rows");
    assert_int_equal(list.length ? bytes_of(list) : 0, count < rows ? 4 * count : 0);
    free(page);
    free(kept);
    tr_frames_free(frames);
    tr_sheet_free(run);
    tr_system_free(system);
}

static void test_sampled(void **state)
{
    (void)state;
    check_sampled(slow, 1, 1, 1);
    check_sampled(slow, 6000 - 1, 5999, 5999);
    check_sampled(slow, 24000, 4800, 6002);
    check_sampled(fast, 20000, 2500 + 5000, 2500 + 5100);
}

// ---- several runs --------------------------------------------------------------------------

static void test_several(void **state)
{
    (void)state;
    tr_system *system = system_from(wheel);
    Sheet *first = rows_of("t,a", 3, slow), *second = rows_of("t,a", 5, slow);
    const Report reports[] = {{.system = system, .run = first, .label = "one"},
                              {.system = system, .run = second, .label = "two </script>"}};
    char *page = page_of(reports, 2);
    assert_int_equal(number_in(element(page, "report"), "rows"), 3);
    assert_int_equal(number_in(element(page, "report-1"), "rows"), 5);
    assert_int_equal(bytes_of(element(page, "columns-1")), 8 * 2 * 5);
    assert_int_equal(bytes_of(element(page, "frames-1")), 4 * BODY_NUMBERS * 5);
    assert_null(element(page, "report-2").at);
    Buffer label = {0};
    assert_true(tr_json_string(tr_json_member(element(page, "report-1"), "label"), &label));
    assert_string_equal(label.at, "two </script>");
    tr_buffer_free(&label);
    free(page);
    tr_sheet_free(first);
    tr_sheet_free(second);
    tr_system_free(system);
}

// Each with a model of its own; of what is wrong with one it is said of which.
static void test_view_several(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(wheel);
    tr_view_summary summary;
    assert_true(tr_write_text("page", PAGE, &err));
    assert_true(tr_write_text("one.csv", "t,a\n0,0\n1,1\n", &err));
    assert_true(tr_write_text("two.csv", "t,a\n0,0\n", &err));
    assert_true(tr_write_text("one.json", "{\"case\": \"straight\"}", &err));
    assert_true(tr_write_text("two.json", "{\"case\": \"turn\"}", &err));
    const tr_view_run others[] = {{system, "two.csv"}, {NULL, "two.csv"}};
    tr_view_options view = {sizeof view, "one.csv",        "both.html",
                            "page",      .others = others, .other_count = 1};
    if (!tr_view(system, &view, &summary, &err)) fail_msg("%s", err.text);
    assert_int_equal(summary.rows, 2);
    assert_true(summary.has_certificate);
    char *page = read_text("both.html");
    assert_non_null(strstr(page, "\"label\": \"one (straight)\""));
    assert_non_null(strstr(page, "\"label\": \"two (turn)\""));
    free(page);

    assert_int_equal(remove("two.json"), 0);
    assert_true(tr_view(system, &view, &summary, &err));
    assert_false(summary.has_certificate); // not both of them
    assert_true(tr_write_text("two.csv", "t,b\n0,0\n", &err));
    assert_false(tr_view(system, &view, &summary, &err));
    assert_string_equal(err.text, "two: the run has no column 'a': it is not one of this model");
    err = (tr_error){0};
    assert_true(tr_write_text("two.csv", "t,a\n0,zero\n", &err));
    assert_false(tr_view(system, &view, &summary, &err));
    if (!strstr(err.text, "'two.csv', line 2: ")) fail_msg("%s", err.text);
    err = (tr_error){0};
    view.other_count = 2;
    assert_true(tr_write_text("two.csv", "t,a\n0,0\n", &err));
    assert_false(tr_view(system, &view, &summary, &err));
    assert_string_equal(err.text, "each run has a file and a model");
    tr_system_free(system);
}

// ---- below the floor -----------------------------------------------------------------------

static double falling(size_t row, size_t column)
{
    return column ? 1 - 0.11 * (double)row : (double)row;
}

static void test_sunk(void **state)
{
    (void)state;
    tr_error err = {0};
    static const char ball[] =
        "trundle: 1\n%s"
        "bodies: {ball: {joint: {type: prismatic, axis: \"0, 0, 1\", coordinate: h}, mass: 1,\n"
        "  shapes: {own: {type: sphere, radius: 0.5}}}}\n";
    char text[400];
    for (int has_ground = 0; has_ground < 2; has_ground++) {
        snprintf(text, sizeof text, ball, has_ground ? "ground: {at: \"0, 0, 0.2\"}\n" : "");
        tr_system *system = system_from(text);
        Sheet *run = rows_of("t,h", 9, falling); // down to 0.12: the lowest point is at -0.38
        Frames *frames = tr_frames_new(system, run, &err);
        Sunk sunk;
        tr_frames_sunk(frames, run->rows, &sunk);
        assert_close(sunk.depth, has_ground ? 0.58 : 0, 1e-12);
        assert_int_equal(sunk.row, has_ground ? 4 : 0); // 0.14 below; 0.1 does not count
        const Report report = {.system = system, .run = run};
        char *page = page_of(&report, 1);
        const Text scene = tr_json_member(element(page, "report"), "scene");
        const Text first = tr_json_item(tr_json_member(scene, "sunk"), 0);
        assert_int_equal(first.at != NULL, has_ground);
        if (first.at) assert_int_equal(number_in(first, "t"), 4);
        free(page);
        tr_frames_free(frames);
        tr_sheet_free(run);
        tr_system_free(system);
    }
}

// ---- meshes --------------------------------------------------------------------------------

static void test_mesh(void **state)
{
    (void)state;
    tr_error err = {0};
    write_text("flag.obj", "v 0 0 0\nv 4 0 0\nv 4 0 2\nv 0 0 2\nf 1 2 3 4\n");
    write_text(
        "flag.yaml",
        "trundle: 1\n"
        "bodies: {pole: {joint: {type: revolute, axis: \"0, 0, 1\", coordinate: a}, mass: 1,\n"
        "  inertia: {zz: 1}, shapes: {one: {type: mesh, file: flag.obj, scale: 0.5},\n"
        "    two: {type: mesh, file: flag.obj, at: \"0, 0, 3\"}}}}\n");
    tr_model *model = tr_model_read("flag.yaml", &err);
    tr_system *system = tr_derive(model, NULL, &err);
    if (!system) fail_msg("%s", err.text);
    tr_model_free(model);
    Sheet *run = rows_of("t,a", 2, slow);
    const Report report = {.system = system, .run = run};
    char *page = page_of(&report, 1);
    const Text scene = tr_json_member(element(page, "report"), "scene");
    const Text mesh = tr_json_item(tr_json_member(scene, "meshes"), 0);
    assert_int_equal(number_in(mesh, "points"), 4);
    assert_int_equal(number_in(mesh, "triangles"), 2);
    assert_null(tr_json_item(tr_json_member(scene, "meshes"), 1).at); // one file is there once
    assert_int_equal(bytes_of(element(page, "meshes")), 4 * 3 * (4 + 2));
    assert_close(number_in(scene, "length"), 5, 1e-12); // upright, from 0 to 5
    const Text body = tr_json_item(tr_json_member(scene, "bodies"), 0);
    const Text two = tr_json_item(tr_json_member(body, "shapes"), 1);
    assert_int_equal(number_in(two, "mesh"), 0);
    assert_int_equal(number_in(two, "scale"), 1);
    free(page);
    tr_sheet_free(run);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sampled),      cmocka_unit_test(test_several),
        cmocka_unit_test(test_view_several), cmocka_unit_test(test_sunk),
        cmocka_unit_test(test_mesh),
    };
    return cmocka_run_group_tests(tests, enter_folder, NULL);
}
