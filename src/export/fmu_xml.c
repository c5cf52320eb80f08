// SPDX-License-Identifier: Apache-2.0
// modelDescription.xml, as FMI 2.0 and 3.0 have it, and buildDescription.xml.
#include "export/fmu.h"

#include "base/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- text ----------------------------------------------------------------------------------

// As the value of an attribute, ends of lines included. What XML cannot hold becomes '?'.
static void add_text(Buffer *out, const char *text)
{
    for (size_t length; *text; text += length) {
        length = tr_utf8_length(text, strlen(text));
        const unsigned code = length ? tr_utf8_code(text, length) : 0;
        const bool is_bad = code < ' ' || code == 127 || (code >= 0xd800 && code < 0xe000) ||
                            code == 0xfffe || code == 0xffff;
        if (!length) length = 1;
        if (code == '\n' || code == '\t')
            tr_buffer_print(out, "&#%u;", code);
        else if (is_bad)
            tr_buffer_add(out, "?", 1);
        else if (code == '&')
            tr_buffer_print(out, "&amp;");
        else if (code == '<')
            tr_buffer_print(out, "&lt;");
        else if (code == '>')
            tr_buffer_print(out, "&gt;");
        else if (code == '"')
            tr_buffer_print(out, "&quot;");
        else
            tr_buffer_add(out, text, length);
    }
}

static void add_attribute(Buffer *out, const char *name, const char *value)
{
    tr_buffer_print(out, " %s=\"", name);
    add_text(out, value);
    tr_buffer_print(out, "\"");
}

static void add_number(Buffer *out, const char *name, double value)
{
    tr_buffer_print(out, " %s=\"", name);
    tr_buffer_number(out, value);
    tr_buffer_print(out, "\"");
}

// ---- units ---------------------------------------------------------------------------------

static int read_power(const char *at) { return at[0] == '^' ? atoi(at + 1) : 1; }

// How often an angle stands in a unit; behind a / stands one factor.
static int count_radians(const char *unit)
{
    int count = 0;
    for (const char *at = strstr(unit, "rad"); at; at = strstr(at + 3, "rad")) {
        const bool begins = at == unit || at[-1] == ' ' || at[-1] == '*' || at[-1] == '/';
        const bool ends = !at[3] || strchr(" */^", at[3]);
        if (begins && ends) count += (at > unit && at[-1] == '/' ? -1 : 1) * read_power(at + 3);
    }
    return count;
}

static void add_unit(Buffer *out, const char *name)
{
    static const char *const base[BASE_UNITS] = {"kg", "m", "s", "A", "K", "mol"};
    Unit unit;
    char why[200];
    bool is_whole = tr_unit_read(text_of(name), &unit, why, sizeof why);
    tr_buffer_print(out, "    <Unit");
    add_attribute(out, "name", name);
    for (int k = 0; is_whole && k < BASE_UNITS; k++) is_whole = unit.of[k] % 2 == 0;
    if (!is_whole) {
        tr_buffer_print(out, "/>\n");
        return;
    }
    tr_buffer_print(out, ">\n      <BaseUnit");
    for (int k = 0; k < BASE_UNITS; k++)
        if (unit.of[k]) tr_buffer_print(out, " %s=\"%d\"", base[k], unit.of[k] / 2);
    const int radians = count_radians(name);
    if (radians) tr_buffer_print(out, " rad=\"%d\"", radians);
    tr_buffer_print(out, "/>\n    </Unit>\n");
}

static bool is_first_of_unit(const Fmu *fmu, uint32_t k)
{
    const char *unit = fmu->variables[k].unit;
    for (uint32_t i = 0; i < k; i++)
        if (strcmp(fmu->variables[i].unit, unit) == 0) return false;
    return unit[0];
}

static void add_units(const Fmu *fmu, Buffer *out)
{
    tr_buffer_print(out, "  <UnitDefinitions>\n"); // of time, at least
    for (uint32_t k = 0; k < fmu->variable_count; k++)
        if (is_first_of_unit(fmu, k)) add_unit(out, fmu->variables[k].unit);
    tr_buffer_print(out, "  </UnitDefinitions>\n");
}

// ---- head ----------------------------------------------------------------------------------

static void add_kind(const Fmu *fmu, Buffer *out, bool simulates)
{
    const bool three = fmu->code->options.fmi == 3;
    tr_buffer_print(out, "  <%s", simulates ? "CoSimulation" : "ModelExchange");
    add_attribute(out, "modelIdentifier", fmu->code->options.name);
    if (!three) add_attribute(out, "canNotUseMemoryManagementFunctions", "true");
    add_attribute(out, three ? "canGetAndSetFMUState" : "canGetAndSetFMUstate", "true");
    add_attribute(out, three ? "canSerializeFMUState" : "canSerializeFMUstate", "true");
    add_attribute(out, three ? "providesDirectionalDerivatives" : "providesDirectionalDerivative",
                  "true");
    if (three) add_attribute(out, "providesAdjointDerivatives", "true");
    if (simulates) add_attribute(out, "canHandleVariableCommunicationStepSize", "true");
    if (simulates && three) add_number(out, "fixedInternalStepSize", fmu->code->options.step);
    if (!simulates && three) add_attribute(out, "needsCompletedIntegratorStep", "true");
    if (three)
        tr_buffer_print(out, "/>\n");
    else
        tr_buffer_print(out,
                        ">\n    <SourceFiles>\n      <File name=\"fmu.c\"/>\n"
                        "    </SourceFiles>\n  </%s>\n",
                        simulates ? "CoSimulation" : "ModelExchange");
}

static void add_head(const Fmu *fmu, Buffer *out)
{
    const System *s = fmu->code->system;
    const bool three = fmu->code->options.fmi == 3;
    const char *title = s->title && s->title[0] ? s->title : fmu->code->options.name;
    tr_buffer_print(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription");
    add_attribute(out, "fmiVersion", three ? "3.0" : "2.0");
    add_attribute(out, "modelName", title);
    add_attribute(out, three ? "instantiationToken" : "guid", fmu->token);
    add_attribute(out, "generationTool", "trundle " TR_VERSION);
    add_attribute(out, "variableNamingConvention", fmu->is_structured ? "structured" : "flat");
    if (!three)
        tr_buffer_print(out, " numberOfEventIndicators=\"%u\"", fmu->count_of[FMU_INDICATOR]);
    tr_buffer_print(out, ">\n");
    if (fmu->code->options.exchanges) add_kind(fmu, out, false);
    if (fmu->code->options.simulates) add_kind(fmu, out, true);
    add_units(fmu, out);
    tr_buffer_print(out, "  <LogCategories>\n    <Category name=\"logStatusWarning\"/>\n"
                         "    <Category name=\"logStatusDiscard\"/>\n"
                         "    <Category name=\"logStatusError\"/>\n  </LogCategories>\n");
    tr_buffer_print(out, "  <DefaultExperiment startTime=\"0\"");
    if (s->plan.end > 0) add_number(out, "stopTime", s->plan.end);
    add_number(out, "tolerance", 1e-6);
    add_number(out, "stepSize", s->plan.every > 0 ? s->plan.every : 0.01);
    tr_buffer_print(out, "/>\n");
}

// ---- variables -----------------------------------------------------------------------------

typedef struct KindRow {
    const char *causality, *variability, *initial; // NULL: not said
    bool has_start;
} KindRow;

static KindRow row_of(const FmuVariable *v)
{
    const char *shown = v->is_output ? "output" : "local";
    switch (v->kind) {
    case FMU_TIME: return (KindRow){"independent", "continuous", NULL, false};
    case FMU_STATE: return (KindRow){shown, "continuous", "approx", true};
    case FMU_INPUT:
        return v->is_fixed ? (KindRow){"local", "discrete", "calculated", false}
                           : (KindRow){"input", "continuous", NULL, true};
    case FMU_PARAMETER:
        return (KindRow){"parameter", v->is_fixed ? "fixed" : "tunable", "exact", true};
    case FMU_CONSTANT: return (KindRow){"local", "constant", "exact", true};
    case FMU_MODE: return (KindRow){"local", "discrete", "calculated", false};
    default: return (KindRow){shown, "continuous", "calculated", false};
    }
}

static void add_common(Buffer *out, const FmuVariable *v, uint32_t vr)
{
    const KindRow row = row_of(v);
    add_attribute(out, "name", v->name);
    tr_buffer_print(out, " valueReference=\"%u\"", vr);
    if (v->words && v->words[0]) add_attribute(out, "description", v->words);
    add_attribute(out, "causality", row.causality);
    add_attribute(out, "variability", row.variability);
    if (row.initial) add_attribute(out, "initial", row.initial);
}

// Whether events may set states: impacts, and projections of what drifted
static bool has_jumps(const Fmu *fmu)
{
    return fmu->code->options.exchanges &&
           (fmu->code->phi_count > 0 || fmu->count_of[FMU_INDICATOR] > 0);
}

static void add_numbers(const Fmu *fmu, Buffer *out, const FmuVariable *v)
{
    if (v->kind != FMU_MODE && v->unit[0]) add_attribute(out, "unit", v->unit);
    if (isfinite(v->least) && v->least <= v->start) add_number(out, "min", v->least);
    if (isfinite(v->most) && v->most >= v->start) add_number(out, "max", v->most);
    if (row_of(v).has_start) add_number(out, "start", v->start);
    if (v->kind == FMU_STATE && has_jumps(fmu)) add_attribute(out, "reinit", "true");
    if (v->kind != FMU_RATE) return;
    const uint32_t state = fmu_first(fmu, FMU_STATE) + v->which;
    tr_buffer_print(out, " derivative=\"%u\"",
                    fmu->code->options.fmi == 3 ? state : fmu->variables[state].index);
}

static void add_variables(const Fmu *fmu, Buffer *out)
{
    tr_buffer_print(out, "  <ModelVariables>\n");
    for (uint32_t k = 0; k < fmu->variable_count; k++) {
        const FmuVariable *v = &fmu->variables[k];
        const bool three = fmu->code->options.fmi == 3, mode = v->kind == FMU_MODE;
        if (!v->index) continue;
        if (!three) tr_buffer_print(out, "    <!-- %u -->\n", v->index);
        tr_buffer_print(out, "    <%s", !three ? "ScalarVariable" : mode ? "Int32" : "Float64");
        add_common(out, v, k);
        if (!three) tr_buffer_print(out, ">\n      <%s", mode ? "Integer" : "Real");
        add_numbers(fmu, out, v);
        tr_buffer_print(out, three ? "/>\n" : "/>\n    </ScalarVariable>\n");
    }
    tr_buffer_print(out, "  </ModelVariables>\n");
}

// ---- structure -----------------------------------------------------------------------------

static void add_dependencies(const Fmu *fmu, Buffer *out, const FmuVariable *of)
{
    uint64_t *bits = calloc(fmu->words + 1u, sizeof *bits);
    if (!bits) {
        out->failed = true;
        return;
    }
    tr_fmu_dependencies(fmu, of, bits);
    tr_buffer_print(out, " dependencies=\"");
    const char *blank = "";
    for (uint32_t k = 0; k < fmu->variable_count; k++) {
        const uint32_t bit = tr_fmu_bit(fmu, &fmu->variables[k]);
        if (bit == UINT32_MAX || !(bits[bit / 64] >> (bit % 64) & 1)) continue;
        tr_buffer_print(out, "%s%u", blank,
                        fmu->code->options.fmi == 3 ? k : fmu->variables[k].index);
        blank = " ";
    }
    tr_buffer_print(out, "\"");
    free(bits);
}

static void add_unknown(const Fmu *fmu, Buffer *out, uint32_t k, const char *element, bool depends)
{
    const FmuVariable *v = &fmu->variables[k];
    if (fmu->code->options.fmi == 3)
        tr_buffer_print(out, "    <%s valueReference=\"%u\"", element, k);
    else
        tr_buffer_print(out, "      <Unknown index=\"%u\"", v->index);
    if (depends) add_dependencies(fmu, out, v);
    tr_buffer_print(out, "/>\n");
}

static bool is_wanted(const FmuVariable *v, int list)
{
    if (list == 0) return v->is_output;
    if (list == 1) return v->kind == FMU_RATE;
    if (list == 3) return v->kind == FMU_INDICATOR;
    return v->kind == FMU_STATE || v->kind == FMU_RATE || v->is_output;
}

static void add_structure(const Fmu *fmu, Buffer *out)
{
    static const char *const two[] = {"Outputs", "Derivatives", "InitialUnknowns"};
    static const char *const three[] = {"Output", "ContinuousStateDerivative", "InitialUnknown",
                                        "EventIndicator"};
    tr_buffer_print(out, "  <ModelStructure>\n");
    for (int list = 0; list < (fmu->code->options.fmi == 3 ? 4 : 3); list++) {
        bool is_open = false;
        for (uint32_t k = 0; k < fmu->variable_count; k++) {
            if (!is_wanted(&fmu->variables[k], list)) continue;
            if (fmu->code->options.fmi == 2 && !is_open)
                tr_buffer_print(out, "    <%s>\n", two[list]);
            is_open = true;
            add_unknown(fmu, out, k, three[list], list < 2);
        }
        if (fmu->code->options.fmi == 2 && is_open) tr_buffer_print(out, "    </%s>\n", two[list]);
    }
    tr_buffer_print(out, "  </ModelStructure>\n");
}

void tr_fmu_xml(const Fmu *fmu, Buffer *out)
{
    add_head(fmu, out);
    add_variables(fmu, out);
    add_structure(fmu, out);
    tr_buffer_print(out, "</fmiModelDescription>\n");
}

void tr_fmu_build_xml(const Fmu *fmu, Buffer *out)
{
    tr_buffer_print(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                         "<fmiBuildDescription fmiVersion=\"3.0\">\n  <BuildConfiguration");
    add_attribute(out, "modelIdentifier", fmu->code->options.name);
    tr_buffer_print(out, ">\n    <SourceFileSet language=\"C99\">\n"
                         "      <SourceFile name=\"fmu.c\"/>\n"
                         "    </SourceFileSet>\n  </BuildConfiguration>\n"
                         "</fmiBuildDescription>\n");
}
