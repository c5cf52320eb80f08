// SPDX-License-Identifier: Apache-2.0
// Runs of FMUs that are written by hand, against what a ball does exactly.
#include "fmus.h"

#include "base/xml.h"

// ---- oracle --------------------------------------------------------------------------------

// A ball that falls from h = 1 and bounces: parabola by parabola
static int exact(double t, double g, double e, double *h, double *v)
{
    const double speed = sqrt(2 * g);
    double at = speed / g, up = e * speed;
    int bounces = 0;
    if (t < at) return *h = 1 - g * t * t / 2, *v = -g * t, 0;
    for (bounces = 1; t >= at + 2 * up / g; bounces++) at += 2 * up / g, up *= e;
    t -= at;
    *h = up * t - g * t * t / 2, *v = up - g * t;
    return bounces;
}

// ---- rows ----------------------------------------------------------------------------------

typedef struct Rows {
    char names[20][40], units[20][40];
    size_t columns, count;
    double *values;
} Rows;

static bool begin(void *owner, const char *const *names, const char *const *units, size_t count,
                  tr_error *err)
{
    Rows *rows = owner;
    (void)err;
    assert_true(count < 20);
    rows->columns = count;
    for (size_t i = 0; i < count; i++) {
        snprintf(rows->names[i], sizeof rows->names[i], "%s", names[i]);
        snprintf(rows->units[i], sizeof rows->units[i], "%s", units[i]);
    }
    return true;
}

static bool take(void *owner, const double *row, tr_error *err)
{
    Rows *rows = owner;
    (void)err;
    rows->values = realloc(rows->values, (rows->count + 1) * rows->columns * sizeof(double));
    memcpy(rows->values + rows->count++ * rows->columns, row, rows->columns * sizeof(double));
    return true;
}

static double at(const Rows *rows, size_t row, const char *name)
{
    for (size_t i = 0; i < rows->columns; i++)
        if (strcmp(rows->names[i], name) == 0) return rows->values[row * rows->columns + i];
    fail_msg("there is no column %s", name);
    return 0;
}

static Rows simulated(const char *path, tr_fmu_options *o, tr_error *err)
{
    Rows rows = {0};
    tr_error own = {0};
    tr_summary summary = {0};
    const tr_sink sink = {begin, take, NULL, &rows};
    o->sinks = &sink, o->sink_count = 1;
    const bool good = tr_fmu_simulate(path, o, &summary, err ? err : &own);
    if (!good && !err) fail_msg("%s", own.text);
    assert_int_equal(summary.rows, rows.count);
    return rows;
}

static void test_ball(void **state)
{
    (void)state;
    static const char *const ways[][2] = {{"me", "bdf"}, {"me", "erk"}, {"cs", "bdf"}};
    for (int k = 0; k < 6; k++) {
        const int version = 2 + k % 2;
        tr_fmu_options o = tr_fmu_defaults();
        o.kind = ways[k / 2][0], o.method = ways[k / 2][1], o.every = 0.05, o.rtol = 1e-8;
        Rows rows = simulated(good_ball(version), &o, NULL);
        assert_int_equal(rows.count, 41); // to 2 s, as <DefaultExperiment> says
        for (size_t r = 0; r < rows.count; r++) {
            double h, v;
            const double t = at(&rows, r, "t");
            assert_close(t, 0.05 * (double)r, 1e-12);
            const int bounces = exact(t, 9.81, 0.7, &h, &v);
            assert_close(at(&rows, r, "h"), h, 1e-6);
            assert_close(at(&rows, r, "v"), v, 1e-6);
            assert_true(at(&rows, r, "bounces") == bounces);
            // time events come before the row at their time
            if (k < 4) assert_true(at(&rows, r, "ticks") == (double)(r / 2));
        }
        assert_string_equal(rows.names[1], "h"), assert_string_equal(rows.units[1], "m");
        assert_string_equal(rows.names[2], "v"),
            assert_string_equal(rows.units[2], "m/s"); // of its type
        free(rows.values);
    }
}

// In co-simulation of 3.0 the ball returns early where it bounces: steps may be any.
static void test_long_steps(void **state)
{
    (void)state;
    tr_fmu_options o = tr_fmu_defaults();
    double h, v;
    o.kind = "cs", o.every = o.step = 2;
    Rows rows = simulated(good_ball(3), &o, NULL);
    assert_int_equal(rows.count, 2);
    exact(2, 9.81, 0.7, &h, &v);
    assert_close(at(&rows, 1, "h"), h, 1e-12);
    assert_true(at(&rows, 1, "steps") == 5); // four bounces between
    free(rows.values);
}

static void test_settings(void **state)
{
    (void)state;
    const tr_setting settings[] = {{"g", "1.62"}, {"e", "0.8"}, {"name", "moon"}};
    for (int k = 0; k < 4; k++) {
        tr_fmu_options o = tr_fmu_defaults();
        double h, v;
        o.kind = k < 2 ? "me" : "cs", o.every = 0.5, o.end = 4, o.rtol = 1e-8;
        o.settings = settings, o.setting_count = 3;
        Rows rows = simulated(good_ball(2 + k % 2), &o, NULL);
        for (size_t r = 0; r < rows.count; r++) {
            exact(at(&rows, r, "t"), 1.62, 0.8, &h, &v);
            assert_close(at(&rows, r, "h"), h, 1e-6);
        }
        free(rows.values);
    }
    static const char *const wrong[][3] = {
        {"gg", "1", "--set: the FMU has no variable 'gg'"},
        {"bounces", "0.5", "'bounces' is Int32, and cannot be '0.5'"},
        {"g", "many", "'g' is Float64, and cannot be 'many'"},
        {"e", "1.5", "'e' = 1.5 is not between 0 and 1"},
        {"der(h)", "1", "'der(h)' cannot be set: it is calculated"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const tr_setting one = {wrong[i][0], wrong[i][1]};
        tr_fmu_options o = tr_fmu_defaults();
        tr_error err = {0};
        o.settings = &one, o.setting_count = 1;
        assert_false(tr_fmu_simulate(good_ball(2), &o, NULL, &err));
        if (!strstr(err.text, wrong[i][2])) fail_msg("%s", err.text);
    }
}

// A force over time, by lines between rows: without weight, v = t^2/2 and then 1/2 + t - 1
static void test_inputs(void **state)
{
    (void)state;
    const tr_setting weightless = {"g", "0"};
    const char *path = in_folder("force.csv");
    for (int k = 0; k < 2; k++) {
        tr_fmu_options o = tr_fmu_defaults();
        write_text(path, "t,force\n0,0\n1,1\n3,1\n");
        o.kind = "me", o.every = 0.25, o.end = 2, o.rtol = 1e-8, o.inputs = path;
        o.settings = &weightless, o.setting_count = 1;
        Rows rows = simulated(good_ball(2 + k), &o, NULL);
        for (size_t r = 0; r < rows.count; r++) {
            const double t = at(&rows, r, "t");
            assert_close(at(&rows, r, "v"), t < 1 ? t * t / 2 : t - 0.5, 1e-6);
            assert_close(at(&rows, r, "force"), t < 1 ? t : 1, 1e-12);
        }
        free(rows.values);
        tr_error err = {0};
        write_text(path, "t,forse\n0,0\n");
        assert_false(tr_fmu_simulate(good_ball(2 + k), &o, NULL, &err));
        assert_non_null(strstr(err.text, "'forse' is no input"));
    }
}

// A force that jumps, for an FMU that knows events: it is set in event mode alone, when it is
// another.
static void test_jumping_input(void **state)
{
    (void)state;
    static const char *const flags[] = {"", "-DIS_STRICT"};
    const tr_setting weightless = {"g", "0"};
    const char *path = in_folder("force.csv");
    char *xml = ball_xml(3, "name=\"force\"", "name=\"force\" variability=\"discrete\"");
    write_text(path, "t,force\n0,0\n1,1\n1.5,1\n2,0\n3,0\n");
    for (int k = 0; k < 2; k++) {
        tr_fmu_options o = tr_fmu_defaults();
        tr_summary summary;
        tr_error err = {0};
        o.kind = "cs", o.step = o.every = 0.25, o.end = 3, o.inputs = path;
        o.settings = &weightless, o.setting_count = 1;
        const char *ball =
            write_ball(3, xml, ball_binary(3, k ? "strict3.so" : "ball3.so", flags[k]));
        Rows rows = simulated(ball, &o, NULL);
        for (size_t r = 0; r < rows.count; r++) {
            const double t = at(&rows, r, "t");
            assert_close(at(&rows, r, "v"), fmin(fmax(t - 1, 0), 1), 1e-12);
        }
        free(rows.values);
        o.sinks = NULL, o.sink_count = 0;
        assert_true(tr_fmu_simulate(ball, &o, &summary, &err));
        assert_int_equal(summary.switches, 2);
    }
    free(xml);
}

// ---- what goes wrong -----------------------------------------------------------------------

static char said[1000];
static void say(void *owner, const char *words)
{
    (void)owner;
    snprintf(said, sizeof said, "%s", words);
}

static bool stop(void *owner, double t, double end)
{
    (void)owner, (void)end;
    return t < 0.5;
}

static void test_trouble(void **state)
{
    (void)state;
    tr_fmu_options o = tr_fmu_defaults();
    tr_error err = {0};
    tr_summary summary;
    char *xml = ball_xml(2, NULL, NULL);
    const char *path = write_ball(2, xml, ball_binary(2, "dies2.so", "-DDIES"));
    o.say = say, o.every = 0.1;
    Rows rows = simulated(path, &o, &err);
    assert_int_equal(err.status, TR_FAILED); // with a name for #r1#, and what there was till then
    assert_string_equal(err.text, "fmi2SetContinuousStates fails: the ball is gone h #");
    assert_string_equal(said, "error: the ball is gone h #");
    assert_true(rows.count >= 3);
    free(rows.values);
    free(xml);

    // One of 3.0 tells what is wrong only if it may tell all; what is not wrong is not shown.
    xml = ball_xml(3, NULL, NULL);
    o = tr_fmu_defaults(), err = (tr_error){0};
    o.say = say, o.every = 0.1;
    rows = simulated(write_ball(3, xml, ball_binary(3, "dies3.so", "-DDIES")), &o, &err);
    assert_string_equal(err.text, "fmi3SetContinuousStates fails: the ball is gone");
    free(rows.values);
    free(xml);
    for (int all = 0; all < 2; all++) {
        said[0] = 0, o.all_messages = all;
        rows = simulated(good_ball(3), &o, NULL);
        assert_string_equal(said, all ? "there is a ball:" : "");
        free(rows.values);
    }

    o = tr_fmu_defaults(), err = (tr_error){0};
    o.progress = stop;
    assert_true(tr_fmu_simulate(good_ball(2), &o, &summary, &err));
    assert_true(summary.interrupted && summary.t >= 0.5 && summary.t < 0.6);

    const struct {
        const char *old, *new, *words;
    } wrong[] = {
        {"<ModelExchange modelIdentifier=\"ball\"/>", "", "this FMU is not for model exchange"},
        {"modelIdentifier=\"ball\"", "modelIdentifier=\"bell\"",
         "there is no binary of 'bell' for this machine, but for linux64"},
        {"ball-1", "ball-2", "the FMU cannot be instantiated: the token is ball-1"},
        {"fmiVersion=\"2.0\"", "fmiVersion=\"1.0\"", "FMI '1.0' is not read"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        o = tr_fmu_defaults(), err = (tr_error){0};
        xml = ball_xml(2, wrong[i].old, wrong[i].new);
        o.kind = "me";
        assert_false(
            tr_fmu_simulate(write_ball(2, xml, ball_binary(2, "ball2.so", "")), &o, NULL, &err));
        if (!strstr(err.text, wrong[i].words)) fail_msg("%s", err.text);
        free(xml);
    }
}

// ---- sources -------------------------------------------------------------------------------

// Names begin with that of the model, but where it becomes a library of its own. Headers of the
// standard are not in the archive, for whoever compiles has them.
static char *source_of_ball(int version)
{
    static const char own[] = "#include \"fmu/fmi.h\"";
    char *ball = read_text(FMU_DIR "/ball.c"), *at = strstr(ball, own), *code = NULL;
    assert_non_null(at);
    assert_true(asprintf(&code,
                         "#ifndef FMI%d_OVERRIDE_FUNCTION_PREFIX\n"
                         "#define fmi%dGetVersion ball_fmi%dGetVersion\n"
                         "#endif\n%.*s#include \"fmi%dFunctions.h\"\n"
                         "fmi%dGetVersionTYPE *version = fmi%dFullName(fmi%dGetVersion);\n%s",
                         version, version, version, (int)(at - ball), ball, version, version,
                         version, version, at + strlen(own)) > 0);
    free(ball);
    return code;
}

static const char *sources_only(int version)
{
    static const char build[] =
        "<fmiBuildDescription fmiVersion=\"3.0\"><BuildConfiguration modelIdentifier=\"ball\">"
        "<SourceFileSet language=\"C11\"><SourceFile name=\"ball.c\"/>"
        "<PreprocessorDefinition name=\"FMI_3\"/><PreprocessorDefinition name=\"_GNU_SOURCE\"/>"
        "</SourceFileSet></BuildConfiguration></fmiBuildDescription>";
    const char *path = in_folder("ball.fmu");
    char *code = source_of_ball(version);
    char *xml = version == 3
                    ? ball_xml(3, NULL, NULL)
                    : ball_xml(2, "<ModelExchange modelIdentifier=\"ball\"/>",
                               "<ModelExchange modelIdentifier=\"ball\"><SourceFiles><File "
                               "name=\"ball.c\"/></SourceFiles></ModelExchange>");
    ZipFile files[] = {{"modelDescription.xml", xml, strlen(xml)},
                       {"sources/ball.c", code, strlen(code)},
                       {"sources/buildDescription.xml", build, strlen(build)}};
    write_zip(path, files, version == 3 ? 3 : 2);
    free(xml), free(code);
    return path;
}

static void test_sources(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        tr_fmu_options o = tr_fmu_defaults();
        tr_error err = {0};
        double h, v;
        o.kind = "me", o.every = 0.5, o.rtol = 1e-8;
        assert_false(
            tr_fmu_simulate(sources_only(version), &o, NULL, &err)); // not without being asked
        assert_string_equal(
            err.text,
            "there are no binaries in this FMU; --build compiles its sources by cc, and runs them");
        o.build = true;
        // by another program, with options
        setenv("CC", version == 3 ? " env cc  -O0 -g " : "cc", 1);
        Rows rows = simulated(sources_only(version), &o, NULL);
        exact(2, 9.81, 0.7, &h, &v);
        assert_close(at(&rows, rows.count - 1, "h"), h, 1e-6);
        free(rows.values);
    }
}

// Whatever was done above, no folder of an FMU is left.
static int leave_nothing(void **state)
{
    (void)state;
    DIR *listing = opendir(getenv("TMPDIR"));
    const struct dirent *entry;
    while ((entry = readdir(listing)))
        if (strncmp(entry->d_name, "trundle_fmu", 11) == 0)
            return print_error("%s is left\n", entry->d_name), 1;
    closedir(listing);
    return 0;
}

int main(void)
{
    tr_error err = {0};
    Arena arena = {0};
    if (!tr_xml_read("<a/>", 4, &arena, &err)) {
        fprintf(stderr, "left out: %s\n", err.text);
        return 77;
    }
    tr_arena_free(&arena);
    setenv("TMPDIR", in_folder(""), 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ball),          cmocka_unit_test(test_long_steps),
        cmocka_unit_test(test_settings),      cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_jumping_input), cmocka_unit_test(test_trouble),
        cmocka_unit_test(test_sources),
    };
    return cmocka_run_group_tests(tests, NULL, leave_nothing);
}
