// SPDX-License-Identifier: Apache-2.0
// What `trundle check` says of FMUs: of good ones nothing, of each mistake its words and its line.
#include "fmus.h"

#include "base/xml.h"
#include "fmu/fmu.h"

typedef struct Heard {
    char words[20000];
    size_t mistakes, remarks;
} Heard;

static void hear(void *owner, bool is_mistake, const char *words)
{
    Heard *heard = owner;
    const size_t length = strlen(heard->words);
    if (is_mistake)
        heard->mistakes++;
    else
        heard->remarks++;
    snprintf(heard->words + length, sizeof heard->words - length, "%s%s\n",
             is_mistake ? "" : "remark: ", words);
}

// What is found; nothing may be left in the folder for temporary files.
static Heard checked(const char *path, bool runs)
{
    Heard heard = {0};
    tr_fmu_options o = tr_fmu_defaults();
    tr_error err = {0};
    size_t mistakes = 0;
    o.found = hear, o.owner = &heard, o.no_run = !runs;
    char *text = tr_fmu_check(path, &o, false, &mistakes, &err);
    if (!text) fail_msg("%s", err.text);
    assert_int_equal(mistakes, heard.mistakes);
    tr_text_free(text);
    char *json = tr_fmu_check(path, &o, true, &mistakes, &err);
    assert_true(json && json[0] == '{');
    tr_text_free(json);
    heard.mistakes /= 2, heard.remarks /= 2;
    heard.words[strlen(heard.words) / 2] = 0; // it was told twice
    return heard;
}

static void assert_found(const char *path, bool runs, const char *words)
{
    const Heard heard = checked(path, runs);
    if (!heard.mistakes || !strstr(heard.words, words))
        fail_msg("wanted: %s\nfound: %s", words, heard.words);
}

static void test_good(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        const Heard heard = checked(good_ball(version), true);
        if (heard.mistakes || heard.remarks) fail_msg("%s", heard.words);
    }
}

// ---- modelDescription.xml ------------------------------------------------------------------

static const struct {
    int version;
    const char *old, *new, *words;
} changes[] = {
    {2, "derivative=\"1\"", "derivative=\"99\"",
     "modelDescription.xml:19: 'der(h)' has derivative=\"99\", but there are variables 1 to 11 "
     "alone"},
    {2, "derivative=\"1\"", "derivative=\"3\"", "cannot be its own derivative"},
    {2, "derivative=\"1\"", "derivative=\"8\"", "only what is real and continuous has one"},
    {2, "<Real derivative=\"1\"/>", "<Real/>",
     "<Derivatives>: 'der(h)' has no attribute 'derivative'"},
    {3, "derivative=\"1\"", "derivative=\"99\"", "no variable has this value reference"},
    {2, "name=\"v\" v", "name=\"h\" v", "'h' is the name of another variable, too"},
    {2, "valueReference=\"9\"", "valueReference=\"8\"",
     "'ticks' and its alias 'bounces' (line 33) have 'start' both"},
    {3, "valueReference=\"9\"", "valueReference=\"8\"",
     "value reference 8 of 'ticks' is that of 'bounces', too (line 25)"},
    {2, "causality=\"parameter\" variability=\"fixed\"",
     "causality=\"parameter\" variability=\"continuous\"",
     "'g': causality parameter does not go with variability continuous"},
    {2, "causality=\"parameter\" variability=\"fixed\" initial=\"exact\"",
     "causality=\"parameter\" variability=\"fixed\" initial=\"calculated\"",
     "'g': causality parameter and variability fixed do not go with initial calculated"},
    {2, "<Real start=\"9.81\" min", "<Real min", "'g' needs 'start'"},
    {2, "<Real derivative=\"1\"", "<Real start=\"1\" derivative=\"1\"",
     "'der(h)' may not have 'start': it is calculated"},
    {2, "start=\"0.7\"", "start=\"1.7\"", "'e': start 1.7 is not between 0 and 1"},
    {2, "min=\"0\" max=\"1\"", "min=\"1\" max=\"0\"", "'e': min 1 is above max 0"},
    {2, "start=\"0.7\"", "start=\"seven\"", "<Real>: 'start' must be a number, not 'seven'"},
    {2, "causality=\"input\"", "causality=\"inptu\"", "'causality' is 'inptu', which is none of"},
    {2, "variability=\"discrete\"", "variabillity=\"discrete\"",
     "<ScalarVariable> has no attribute 'variabillity'; did you mean 'variability'?"},
    {2, "<Integer start", "<Real variability=\"discrete\"/><Integer start",
     "<Real> has no attribute 'variability'"},
    {2, "unit=\"m\" ", "unit=\"km\" ", "'h': there is no unit 'km'"},
    {2, "displayUnit=\"mm\"", "displayUnit=\"km\"", "unit 'm' has no <DisplayUnit> 'km'"},
    {2, "declaredType=\"Speed\"", "declaredType=\"Sped\"", "'v': there is no type 'Sped'"},
    {2, "<Unit name=\"m/s\">", "<Unit name=\"m\">", "<Unit> 'm' is there twice (line 6)"},
    {2, "<Unknown index=\"8\"/></Outputs>", "</Outputs>", "'bounces' is missing in <Outputs>"},
    {2, "<Unknown index=\"8\"/></Outputs>", "<Unknown index=\"9\"/></Outputs>",
     "<Outputs>: 'ticks' does not belong here"},
    {2, "<Unknown index=\"8\"/></Outputs>",
     "<Unknown index=\"8\"/><Unknown index=\"8\"/></Outputs>", "<Outputs> has 'bounces' twice"},
    {2, "<Unknown index=\"8\"/></Outputs>", "<Unknown index=\"80\"/></Outputs>",
     "<Outputs> speaks of a variable 80 that there is not"},
    {2, "<InitialUnknowns><Unknown index=\"3\"/>", "<InitialUnknowns>",
     "'der(h)' is missing in <InitialUnknowns>"},
    {3, "<Output valueReference=\"8\"/>", "", "'bounces' is missing in <Output>"},
    {3, "<InitialUnknown valueReference=\"3\"/>", "", "'der(h)' is missing in <InitialUnknown>"},
    {2, "dependencies=\"7\"", "dependencies=\"77\"", "dependencies: there is no variable 77"},
    {2, "dependencies=\"7\"", "dependencies=\"5 7\"",
     "dependencies: 'g' is no input, no state and no independent variable"},
    {2, "<Unknown index=\"4\"/></InitialUnknowns>",
     "<Unknown index=\"4\" dependencies=\"3 5 7\"/></InitialUnknowns>",
     "dependencies: 'der(h)' is no input, no variable with initial exact"},
    {2, "dependencies=\"2\" dependenciesKind=\"constant\"",
     "dependencies=\"2\" dependenciesKind=\"constant fixed\"",
     "there are 1 dependencies, but 2 kinds of them"},
    {3, "causality=\"independent\"", "causality=\"local\"",
     "there is no variable with causality \"independent\""},
    {2, " numberOfEventIndicators=\"1\"", "", "needs 'numberOfEventIndicators'"},
    {2, "modelIdentifier=\"ball\"/>", "modelIdentifier=\"a ball\"/>",
     "modelIdentifier 'a ball' is no identifier of C"},
    {2, "stopTime=\"2\"", "stopTime=\"-2\"", "'stopTime' is not after 'startTime'"},
    {2, "fmiVersion=\"2.0\"", "fmiVersion=\"1.0\"", "FMI '1.0' is not read"},
    {2, "<ModelVariables>", "<ModelVariables><Nothing/>",
     "<Nothing> may not stand in <ModelVariables>"},
    {2, "<ModelVariables>", "<LogCategories/><ModelVariables>",
     "<LogCategories> must stand before <DefaultExperiment>"},
    {3, "<ModelStructure>", "<ModelVariables/><ModelStructure>", "<ModelVariables> is there twice"},
    {2, "<CoSimulation ", "<ModelExchange modelIdentifier=\"ball\"/><CoSimulation ",
     "<ModelExchange> is there twice"},
    {3, "<InitialUnknown ", "<Output valueReference=\"1\"/><InitialUnknown ",
     "<Output> must stand before <ContinuousStateDerivative>"},
    {2, "</ModelStructure>", "", "this is not XML that can be read: mismatched tag"},
    {2, " name=\"h\"", "", "<ScalarVariable> needs the attribute 'name'"},
    {3, "reinit=\"true\"/>", "/><Float64 name=\"a\" valueReference=\"77\"><Dimension/></Float64>",
     "'a': this dimension has no size"},
    {3, "reinit=\"true\"/>",
     "/><Float64 name=\"a\" valueReference=\"77\"><Dimension valueReference=\"8\"/></Float64>",
     "'a': the size of this dimension is 'bounces', which is no structural parameter"},
    {3, "dependencies=\"7\"", "dependencies=\"3\"",
     "dependencies: 'der(h)' is no input, no state, no parameter and no independent variable"},
    {3, "dependencies=\"7\"", "dependencies=\"7 5 7\"", "dependencies: 'force' is there twice"},
    {3, "<InitialUnknown valueReference=\"4\"/>",
     "<InitialUnknown valueReference=\"4\" dependencies=\"3\"/>",
     "dependencies: 'der(h)' is no input, no variable with initial exact"},
    {3, "<InitialUnknown valueReference=\"3\"/>",
     "<InitialUnknown valueReference=\"3\"/><InitialUnknown valueReference=\"5\"/>",
     "<InitialUnknown>: 'g' does not belong here: it is parameter, initial exact"},
    {3, "<InitialUnknown valueReference=\"3\"/>",
     "<InitialUnknown valueReference=\"3\"/><InitialUnknown valueReference=\"0\"/>",
     "<InitialUnknown>: 'time' does not belong here: it is independent"},
    {3, "<EventIndicator valueReference=\"11\"/>", "<EventIndicator valueReference=\"5\"/>",
     "<EventIndicator>: 'g' is not real and continuous"},
    {3, "<Int32 name=\"ticks\"", "<Int32 clocks=\"77\" name=\"ticks\"",
     "'ticks': clocks: there is no clock 77"},
    {3, "<Int32 name=\"ticks\"", "<Int32 clocks=\"1\" name=\"ticks\"",
     "'ticks': clocks: there is no clock 1"},
    {3, "<Float64 name=\"z\"", "<Float64 clocks=\"1\" name=\"z\"",
     "'z' has 'clocks', but is neither discrete nor tunable"},
    {3, "<Int32 name=\"ticks\"", "<Int32 previous=\"77\" name=\"ticks\"",
     "'ticks' has previous=\"77\", but no variable has this value reference"},
    {3, "<Int32 name=\"ticks\"", "<Int32 previous=\"9\" name=\"ticks\"",
     "'ticks' cannot be its own previous value"},
    {3, "<Int32 name=\"ticks\"", "<Int32 previous=\"1\" name=\"ticks\"",
     "'h' cannot be the previous value of 'ticks'"},
    {3, "<Int32 name=\"ticks\"", "<Int32 previous=\"8\" name=\"ticks\"",
     "'ticks' has 'previous', but is not discrete with 'clocks'"},
    {3, "<Alias name=\"height\"/>", "<Alias name=\"height\" displayUnit=\"km\"/>",
     "'h': there is no <DisplayUnit> 'km' of its unit"},
    {2, "name=\"ticks\"", "name=\"ticks\" canHandleMultipleSetPerTimeInstant=\"true\"",
     "'ticks' has 'canHandleMultipleSetPerTimeInstant', but is no input"},
    {3, "name=\"ticks\"", "name=\"ticks\" canHandleMultipleSetPerTimeInstant=\"true\"",
     "'ticks' has 'canHandleMultipleSetPerTimeInstant', but is no input"},
    {3, "<Float64 name=\"g\"", "<Float64 intermediateUpdate=\"1\" name=\"g\"",
     "'g' has 'intermediateUpdate', but is a parameter"},
};

// What is allowed beside it
static void test_rare(void **state)
{
    (void)state;
    static const struct {
        const char *old, *new, *remark;
    } good[] = {
        {"dependencies=\"7\"", "dependencies=\"7 5 0 8\"", NULL},
        {"<Alias name=\"height\"/>", "<Alias name=\"height\" displayUnit=\"mm\"/>", NULL},
        {"name=\"force\"", "name=\"force\" canHandleMultipleSetPerTimeInstant=\"true\"", NULL},
        {"<Float64 name=\"g\"", "<Float64 intermediateUpdate=\"0\" name=\"g\"", NULL},
        {"<Int32 name=\"ticks\"",
         "<Clock name=\"c\" valueReference=\"70\" causality=\"input\" "
         "intervalVariability=\"constant\" intervalDecimal=\"1\"/>\n"
         "<Int32 clocks=\"70\" name=\"ticks\"",
         NULL},
        {"reinit=\"true\"/>",
         "reinit=\"true\"/><UInt64 name=\"n\" valueReference=\"71\" start=\"2\"\n"
         "causality=\"structuralParameter\" variability=\"fixed\"/>\n"
         "<Float64 name=\"a\" valueReference=\"77\"><Dimension valueReference=\"71\"/></Float64>",
         NULL},
        {"<ModelExchange modelIdentifier=\"ball\" needsCompletedIntegratorStep=\"true\"/>", "",
         "'h' has 'reinit', which is of model exchange alone"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char *xml = ball_xml(3, good[i].old, good[i].new);
        const char *path = write_ball(3, xml, FMU_DIR "/ball.c"), *remark = good[i].remark;
        const Heard heard = checked(path, false);
        if (heard.mistakes || heard.remarks != (remark != NULL)) fail_msg("%s", heard.words);
        if (remark) assert_non_null(strstr(heard.words, remark));
        free(xml);
    }
}

static void test_description(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const int version = changes[i].version;
        char *xml = ball_xml(version, changes[i].old, changes[i].new);
        assert_found(write_ball(version, xml, FMU_DIR "/ball.c"), false, changes[i].words);
        free(xml);
    }
}

// Numbers and flags may have blanks around them, as XML schemas have it.
static void test_blanks(void **state)
{
    (void)state;
    static const struct {
        int version;
        const char *old, *new;
    } good[] = {{2, "start=\"0.7\"", "start=\" +.7E+0&#10;\""},
                {2, "reinit=\"true\"", "reinit=\" 1 \""},
                {3, "reinit=\"true\"", "reinit=\"&#9;true \""},
                {2, "valueReference=\"2\"", "valueReference=\" 02 \""},
                {3, "valueReference=\"2\"", "valueReference=\" 2\""},
                {2, "derivative=\"1\"", "derivative=\" 1 \""},
                {2, "<Unit name=\"m\"><BaseUnit m=\"1\"", "<Unit name=\"m\"><BaseUnit m=\" 1 \""}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char *xml = ball_xml(good[i].version, good[i].old, good[i].new);
        const Heard heard = checked(write_ball(good[i].version, xml, FMU_DIR "/ball.c"), false);
        if (heard.mistakes) fail_msg("%s: %s", good[i].new, heard.words);
        free(xml);
    }
    static const char *const bad[] = {"reinit=\"\"", "reinit=\" \"", "reinit=\"1 0\""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *xml = ball_xml(2, "reinit=\"true\"", bad[i]);
        assert_found(write_ball(2, xml, FMU_DIR "/ball.c"), false,
                     "'reinit' must be true or false");
        free(xml);
    }
}

// FMI 2.0 leaves open which kind is told first.
static void test_kinds_the_other_way_round(void **state)
{
    (void)state;
    const char *kind = "<ModelExchange modelIdentifier=\"ball\"/>";
    char *xml = replaced(ball_xml(2, kind, ""), "<UnitDefinitions>",
                         "<ModelExchange modelIdentifier=\"ball\"/><UnitDefinitions>");
    const char *path = write_ball(2, xml, FMU_DIR "/ball.c");
    if (checked(path, false).mistakes) fail_msg("%s", checked(path, false).words);
    free(xml);
}

// Where names are said to be structured, they are.
static void test_structured_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool is_good;
    } names[] = {{"a", true},
                 {"_a.b2[3].c[1,22]", true},
                 {"der(a.b[2])", true},
                 {"der(a,2)", true},
                 {"'x \\' (m)'.b", true},
                 {"'ä'", true},
                 {"a b", false},
                 {"2a", false},
                 {"a.", false},
                 {".a", false},
                 {"a..b", false},
                 {"a[]", false},
                 {"a[1,]", false},
                 {"a[i]", false},
                 {"a[1", false},
                 {"der(a", false},
                 {"der()", false},
                 {"der(a,)", false},
                 {"der(der(a))", false},
                 {"d(a)", false},
                 {"''", false},
                 {"'a", false},
                 {"a-b", false},
                 {"ä", false}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[100];
        snprintf(name, sizeof name, "name=\"%s\"", names[i].name);
        char *xml = ball_xml(2, "guid=", "variableNamingConvention=\"structured\" guid=");
        xml = replaced(xml, "name=\"ticks\"", name);
        const char *path = write_ball(2, xml, FMU_DIR "/ball.c");
        if (!names[i].is_good)
            assert_found(path, false, "is no name as \"structured\" has it");
        else if (checked(path, false).mistakes)
            fail_msg("%s", checked(path, false).words);
        free(xml);
    }
}

// Entities that grow, elements in elements
static void test_bombs(void **state)
{
    (void)state;
    char *xml = ball_xml(2, "<fmiModelDescription",
                         "<!DOCTYPE a [<!ENTITY a \"ha\"><!ENTITY b "
                         "\"&a;&a;&a;&a;&a;&a;&a;&a;\">]>\n<fmiModelDescription");
    assert_found(write_ball(2, xml, FMU_DIR "/ball.c"), true,
                 "a document type (DOCTYPE) is refused");
    free(xml);
    Buffer deep = {0};
    for (int i = 0; i < 100000; i++) tr_buffer_add(&deep, "<a>", 3);
    assert_found(write_ball(2, deep.at, FMU_DIR "/ball.c"), true,
                 "elements are in each other more than 60 times");
    tr_buffer_free(&deep);
}

// ---- the archive ---------------------------------------------------------------------------

static void test_archive(void **state)
{
    (void)state;
    char *xml = ball_xml(2, NULL, NULL);
    const size_t length = strlen(xml);
    const char *path = in_folder("ball.fmu");
    write_zip(path,
              (ZipFile[]){{"ball/modelDescription.xml", xml, length},
                          {"ball/binaries/linux64/ball.so", "", 0}},
              2);
    assert_found(path, true, "the archive has a folder 'ball' around its contents");
    write_zip(path, (ZipFile[]){{"ModelDescription.xml", xml, length}}, 1);
    assert_found(path, true, "'ModelDescription.xml' must be called modelDescription.xml");
    write_zip(path, (ZipFile[]){{"readme.txt", xml, length}}, 1);
    assert_found(path, true, "there is no modelDescription.xml");
    write_zip(path, (ZipFile[]){{"modelDescription.xml", xml, length}}, 1);
    assert_found(path, true, "there are neither binaries nor sources");
    write_text(path, xml);
    assert_found(path, true, "the archive is none, or its end is missing");
    free(xml);
}

// Names that lead out of the folder: nothing is written, there or anywhere.
static void test_outside(void **state)
{
    (void)state;
    static const char *const names[] = {"resources/../../trundle_was_here",
                                        "/tmp/trundle_was_here_________"};
    char *xml = ball_xml(2, NULL, NULL);
    for (size_t i = 0; i < 2; i++) {
        char inside[64] = "resources/";
        memset(inside + 10, 'x', strlen(names[i]) - 10);
        inside[strlen(names[i])] = 0;
        size_t length = 0;
        tr_error err = {0};
        char *code = tr_file_read(ball_binary(2, "ball2.so", ""), 1 << 28, &length, &err);
        Buffer out = {0};
        tr_zip_pack(&out,
                    (ZipFile[]){{"modelDescription.xml", xml, strlen(xml)},
                                {"binaries/linux64/ball.so", code, length},
                                {inside, "here", 4}},
                    3, &err);
        for (size_t at = 0; at + strlen(inside) <= out.length; at++)
            if (memcmp(out.at + at, inside, strlen(inside)) == 0)
                memcpy(out.at + at, names[i], strlen(inside));
        const char *path = in_folder("ball.fmu");
        write_bytes(path, out.at, out.length);
        tr_buffer_free(&out);
        free(code);
        assert_found(path, true, i == 0 ? "it leads out of the archive" : "it is absolute");
        tr_fmu_options o = tr_fmu_defaults();
        assert_false(tr_fmu_simulate(path, &o, NULL, &err));
        assert_int_equal(err.status, TR_INVALID);
        assert_int_not_equal(access("/tmp/trundle_was_here", F_OK), 0);
        assert_int_not_equal(access("/tmp/trundle_was_here_________", F_OK), 0);
    }
    free(xml);
}

// Where binaries are, and what they are called
static void test_platforms(void **state)
{
    (void)state;
    static const struct {
        int version;
        const char *name, *words; // NULL: all is well
    } binaries[] = {
        {2, "binaries/win64/ball.dll", NULL},
        {2, "binaries/aarch64-linux/ball.so", NULL},
        {2, "binaries/linux32/gcc3.1/ball.a", NULL},
        {3, "binaries/aarch64-darwin/ball.dylib", NULL},
        {3, "binaries/x86_64-windows-msvc140mt/ball.lib", NULL},
        {2, "binaries/x86_64-linux/ball.so",
         "'binaries/x86_64-linux' is called 'linux64' in FMI 2"},
        {3, "binaries/win32/ball.dll", "'binaries/win32' is called 'x86-windows' in FMI 3"},
        {2, "binaries/linux64/bell.so", "there is no 'binaries/linux64/ball.so' in the archive"},
        {2, "binaries/linux64/ball.dll", "there is no 'binaries/linux64/ball.so' in the archive"},
        {3, "binaries/x86_64-windows/deep/ball.dll",
         "there is no 'binaries/x86_64-windows/ball.dll' in the archive"},
        {3, "binaries/x86_64-linux/balls.so", "which is what <CoSimulation> is called"},
        {3, "binaries/elsewhere/ball.so", "remark: 'binaries/elsewhere' is no platform"}};
    const char *path = in_folder("ball.fmu");
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
        char *xml = ball_xml(binaries[i].version, NULL, NULL);
        write_zip(
            path,
            (ZipFile[]){{"modelDescription.xml", xml, strlen(xml)}, {binaries[i].name, "", 0}}, 2);
        const Heard heard = checked(path, false);
        const char *words = binaries[i].words;
        const bool is_right = words ? strstr(heard.words, words) != NULL : !heard.words[0];
        if (!is_right) fail_msg("%s: %s", binaries[i].name, heard.words);
        if (words) assert_int_equal(heard.mistakes == 0, strncmp(words, "remark", 6) == 0);
        free(xml);
    }
}

#define BUILD_FILE "sources/buildDescription.xml"
static const char build[] = "<?xml version=\"1.0\"?>\n"
                            "<fmiBuildDescription fmiVersion=\"3.0\">\n"
                            "  <BuildConfiguration modelIdentifier=\"ball\">\n"
                            "    <SourceFileSet language=\"C11\">\n"
                            "      <SourceFile name=\"ball.c\"/>\n"
                            "    </SourceFileSet>\n"
                            "  </BuildConfiguration>\n"
                            "</fmiBuildDescription>\n";

static const struct {
    const char *old, *new, *words; // NULL: all is well
} builds[] = {
    {"C11", "C99", NULL},
    {"<SourceFileSet", "<SourceFileSet name=\"a\"", NULL},
    {"</SourceFileSet>", "<IncludeDirectory name=\"a/b\"/></SourceFileSet>", NULL},
    {"<?xml version=\"1.0\"?>", "nonsense", BUILD_FILE ":1: this is not XML"},
    {"ball.c", "none.c", BUILD_FILE ":5: there is no 'sources/none.c' in the archive"},
    {"ball.c", "../ball.c", "<SourceFile>: '../ball.c' leads out of sources/"},
    {"</SourceFileSet>", "<IncludeDirectory name=\"a/../..\"/></SourceFileSet>",
     "<IncludeDirectory>: 'a/../..' leads out of sources/"},
    {"</SourceFileSet>", "<IncludeDirectory name=\"/usr\"/></SourceFileSet>",
     "'/usr' leads out of sources/"},
    {"\"ball\"", "\"bell\"", "'bell' is the modelIdentifier of no interface"},
    {"\"ball\"", "\"bell\"", ":2: there is no <BuildConfiguration> of 'ball' for <CoSimulation>"},
    {"\"3.0\"", "\"2.0\"", ":2: FMI '2.0' is not that of modelDescription.xml"},
    {"language", "langauge", "<SourceFileSet> has no attribute 'langauge'; did you mean"},
    {" modelIdentifier=\"ball\"", "", "<BuildConfiguration> needs the attribute 'modelIdentifier'"},
    {"<SourceFile name=\"ball.c\"/>", "", ":4: <SourceFileSet> has no <SourceFile>"},
    {"<SourceFile name", "<Sauce name", "<Sauce> may not stand in <SourceFileSet>"},
    {"</fmiBuild", "<BuildConfiguration modelIdentifier=\"ball\"/></fmiBuild",
     ":8: <BuildConfiguration> has no <SourceFileSet>"},
    {"</fmiBuild", "<BuildConfiguration modelIdentifier=\"ball\"/></fmiBuild",
     ":8: <BuildConfiguration> of 'ball' is there twice for one platform (line 3)"},
};

static void test_build_description(void **state)
{
    (void)state;
    char *xml = ball_xml(3, NULL, NULL);
    const char *path = in_folder("ball.fmu");
    for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
        char *text = replaced(strdup(build), builds[i].old, builds[i].new);
        write_zip(path,
                  (ZipFile[]){{"modelDescription.xml", xml, strlen(xml)},
                              {BUILD_FILE, text, strlen(text)},
                              {"sources/ball.c", "", 0}},
                  3);
        if (builds[i].words)
            assert_found(path, false, builds[i].words);
        else if (checked(path, false).words[0])
            fail_msg("%s", checked(path, false).words);
        free(text);
    }
    write_zip(path,
              (ZipFile[]){{"modelDescription.xml", xml, strlen(xml)},
                          {BUILD_FILE, "<fmiModelDescription/>", 22},
                          {"sources/ball.c", "", 0}},
              3);
    assert_found(path, false, BUILD_FILE ":1: it begins with <fmiBuildDescription>");
    free(xml);
}

// ---- the binary ----------------------------------------------------------------------------

static void test_binary(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        const char *good = ball_binary(version, version == 3 ? "ball3.so" : "ball2.so", "");
        char *xml = ball_xml(version, "\"ball-1\"", "\"ball-2\"");
        assert_found(write_ball(version, xml, good), true,
                     "the token 'ball-2' of modelDescription.xml may not be that of the binary");
        free(xml);
        xml = ball_xml(version, NULL, NULL);
        const char *lacking =
            ball_binary(version, version == 3 ? "lacks3.so" : "lacks2.so", "-DLACKS");
        assert_found(
            write_ball(version, xml, lacking), true,
            version == 3
                ? "the binary lacks 1 of the functions of its interface: "
                  "'fmi3GetContinuousStateDerivatives'"
                : "the binary lacks 1 of the functions of its interface: 'fmi2GetDerivatives'");
        const char *any = ball_binary(version, version == 3 ? "any3.so" : "any2.so", "-DANY_TOKEN");
        const Heard heard = checked(write_ball(version, xml, any), true);
        assert_int_equal(heard.mistakes, 0);
        assert_non_null(strstr(heard.words, "the binary takes any token"));
        assert_found(write_ball(version, xml, FMU_DIR "/ball.c"), true,
                     "the binary cannot be loaded");
        assert_found(
            write_ball(version, xml,
                       ball_binary(5 - version, version == 3 ? "ball2.so" : "ball3.so", "")),
            true, "the binary lacks");
        free(xml);
        xml = ball_xml(version, "start=\"9.81\"", "start=\"9.8\"");
        assert_found(write_ball(version, xml, good), true, "'g' starts with 9.8");
        free(xml);
    }
    char *xml = ball_xml(2, "numberOfEventIndicators=\"1\"", "numberOfEventIndicators=\"2\"");
    assert_found(write_ball(2, xml, ball_binary(2, "ball2.so", "")), true,
                 "fmi2GetEventIndicators fails");
    free(xml);
    xml = ball_xml(2, "valueReference=\"9\"", "valueReference=\"90\"");
    assert_found(write_ball(2, xml, ball_binary(2, "ball2.so", "")), true,
                 "'ticks' cannot be read");
    free(xml);
}

// In 2.0 there is a folder for resources, and a URI of it, whatever is in it.
static void test_resources(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        char *xml = ball_xml(version, NULL, NULL);
        const char *binary =
            ball_binary(version, version == 2 ? "folder2.so" : "folder3.so", "-DWANTS_FOLDER");
        const Heard heard = checked(write_ball(version, xml, binary), true);
        if (heard.mistakes) fail_msg("%s", heard.words);
        free(xml);
    }
}

// ---- what is promised ----------------------------------------------------------------------

static const struct {
    const char *flags, *words2, *words3; // NULL: all is well
} promises[] = {
    {"", NULL, NULL},
    {"-DLOSES_SPEED", "'v' is 7 after its state was restored, not",
     "'v' is 7 after its state was restored, not"},
    {"-DLOSES_BYTES", "'h' is 2 after its state was restored from bytes, not 1",
     "after its state was restored from bytes"},
    {"-DNO_SLOPES", "fmi2GetDirectionalDerivative fails", "fmi3GetDirectionalDerivative fails"},
    {"-DBAD_SLOPES", NULL, "directional and adjoint derivatives do not agree"},
    {"-DKEEPS_G", "'der(v)' is -9.79919", "after a reset, not -9.81"},
    {"-DSTAYS", NULL, "after a step from t = 0 to 0.01 lastSuccessfulTime is 0"},
    {"-DIS_NO_NUMBER", "'v' is not finite after a step", "'v' is not finite after a step"},
};

// What an FMU says that it can do is tried.
static void test_promises(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        char *xml = promising_xml(version);
        for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
            char name[40];
            const char *words = version == 2 ? promises[i].words2 : promises[i].words3;
            snprintf(name, sizeof name, "promise%d_%zu.so", version, i);
            const char *path =
                write_ball(version, xml, ball_binary(version, name, promises[i].flags));
            if (words)
                assert_found(path, true, words);
            else if (checked(path, true).words[0])
                fail_msg("%s: %s", promises[i].flags, checked(path, true).words);
        }
        free(xml);
    }
}

// ---- anything ------------------------------------------------------------------------------

// Cut anywhere, or with wrong bytes: found, and nothing else. None of it is run.
static void test_damage(void **state)
{
    (void)state;
    enum { CUTS = 150, CHANGES = 1500 };
    char *xml = ball_xml(3, NULL, NULL);
    Buffer out = {0};
    tr_error err = {0};
    tr_zip_pack(&out,
                (ZipFile[]){{"modelDescription.xml", xml, strlen(xml)},
                            {"binaries/linux64/ball.so", "x", 1}},
                2, &err);
    Random random = {11};
    for (int k = 0; k < CUTS + CHANGES; k++) {
        const size_t length = k < CUTS ? out.length * (size_t)k / CUTS : out.length;
        char *copy = malloc(length + 1);
        memcpy(copy, out.at, length);
        for (int i = 0; k >= CUTS && i < 1 + k % 4; i++)
            copy[random_below(&random, (uint32_t)length)] = (char)random_below(&random, 256);
        Fmu fmu = {0};
        err = (tr_error){0};
        assert_true(tr_fmu_take(&fmu, copy, length, &err));
        assert_true(k >= CUTS || fmu.findings.of[WRECK]);
        tr_fmu_close(&fmu);
        free(copy);
    }
    // and past the checksum: the description itself
    for (int k = 0; k < CHANGES; k++) {
        char *copy = strdup(xml);
        for (int i = 0; i < 1 + k % 4; i++)
            copy[random_below(&random, (uint32_t)strlen(xml))] =
                (char)(32 + random_below(&random, 96));
        Arena arena = {0};
        Findings findings = {0};
        Description d;
        if (tr_description_read(&d, copy, strlen(xml), &arena, &findings, &err))
            tr_description_check(&d, &findings);
        tr_fmu_findings_free(&findings);
        tr_arena_free(&arena);
        free(copy);
    }
    tr_buffer_free(&out);
    free(xml);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_description),
        cmocka_unit_test(test_kinds_the_other_way_round),
        cmocka_unit_test(test_blanks),
        cmocka_unit_test(test_rare),
        cmocka_unit_test(test_structured_names),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_archive),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_platforms),
        cmocka_unit_test(test_build_description),
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_promises),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
