// SPDX-License-Identifier: Apache-2.0
#include "fmu/description.h"

#include "fmu/schema.h"

#include <math.h>
#include <stdlib.h>

const char *const tr_variable_types[TYPES] = {
#define TYPE(id, name, ...) name,
#include "fmu/type.def"
};

static const struct {
    const char *name3, *name2;
    double least, most;
} types[TYPES] = {
#define TYPE(id, name3, name2, c, least, most) {name3, name2, (double)(least), (double)(most)},
#include "fmu/type.def"
};

static const char *const causalities[] = {
    "parameter",   "calculatedParameter", "input", "output", "local",
    "independent", "structuralParameter"};
static const char *const variabilities[] = {"constant", "fixed", "tunable", "discrete",
                                            "continuous"};
static const char *const initials[] = {"", "exact", "approx", "calculated"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static double real_of(const Xml *xml, const char *name, double without)
{
    const char *text = tr_xml_value(xml, name);
    double value;
    return text && tr_read_real(text, &value) ? value : without;
}

static bool flag_of(const Xml *xml, const char *name)
{
    const char *text = tr_xml_value(xml, name);
    bool value;
    return text && tr_read_flag(text, &value) && value;
}

// UINT64_MAX where there is none
static uint64_t natural_of(const Xml *xml, const char *name)
{
    const char *text = tr_xml_value(xml, name);
    uint64_t value;
    return text && tr_read_natural(text, &value) ? value : UINT64_MAX;
}

// ---- variables -----------------------------------------------------------------------------

static VariableType type_of(const char *element, int version)
{
    VariableType type = 0;
    while (type < TYPES) {
        const char *name = version == 2 ? types[type].name2 : types[type].name3;
        if (name && strcmp(name, element) == 0) break;
        type++;
    }
    return type;
}

static Variability usual_variability(const Variable *v, int version)
{
    const bool is_parameter = v->causality == PARAMETER || v->causality == CALCULATED_PARAMETER ||
                              v->causality == STRUCTURAL_PARAMETER;
    if (version == 3 && is_parameter) return FIXED;
    return is_real(v) ? CONTINUOUS : DISCRETE;
}

// As the tables of both versions underline it
static Initial usual_initial(const Variable *v, int version)
{
    if (v->causality == INDEPENDENT || v->type == TYPE_CLOCK) return NO_INITIAL;
    if (v->causality == INPUT) return version == 3 ? EXACT : NO_INITIAL;
    if (v->variability == CONSTANT || v->causality == PARAMETER ||
        v->causality == STRUCTURAL_PARAMETER)
        return EXACT;
    return CALCULATED;
}

// Bounds and the like may stand with the type that it declares.
static const Xml *declared_type(const Description *d, const char *name)
{
    const Xml *of = tr_xml_child(d->root, "TypeDefinitions"), *at = of && name ? of->first : NULL;
    for (; at; at = at->next) {
        const char *own = tr_xml_value(at, "name");
        if (own && strcmp(own, name) == 0) return d->version == 2 ? at->first : at;
    }
    return NULL;
}

static void read_values(const Description *d, Variable *v)
{
    const Xml *type = declared_type(d, v->declared);
    v->unit = tr_xml_value(v->values, "unit");
    if (!v->unit) v->unit = tr_xml_value(type, "unit");
    v->least = real_of(v->values, "min", real_of(type, "min", types[v->type].least));
    v->most = real_of(v->values, "max", real_of(type, "max", types[v->type].most));
    v->nominal = real_of(v->values, "nominal", real_of(type, "nominal", 1));
    v->reinit = flag_of(v->values, "reinit");
    v->has_derivative = tr_xml_value(v->values, "derivative") != NULL;
    v->start = tr_xml_value(v->values, "start");
    if (d->version == 3 && (v->type == TYPE_STRING || v->type == TYPE_BINARY))
        v->start = tr_xml_value(tr_xml_child(v->values, "Start"), "value");
}

static void read_variable(const Description *d, Variable *v, const Xml *xml, const Xml *values)
{
    const char *name = tr_xml_value(xml, "name"), *word;
    *v = (Variable){.name = name ? name : "",
                    .declared = tr_xml_value(values, "declaredType"),
                    .xml = xml,
                    .values = values,
                    .type = type_of(values->name, d->version),
                    .reference = (uint32_t)natural_of(xml, "valueReference"),
                    .causality = LOCAL,
                    .state = NO_VARIABLE,
                    .size = 1};
    if ((word = tr_xml_value(xml, "causality")))
        v->causality = (Causality)tr_find_name(causalities, COUNT(causalities), word);
    word = tr_xml_value(xml, "variability");
    v->variability = word ? (Variability)tr_find_name(variabilities, COUNT(variabilities), word)
                          : usual_variability(v, d->version);
    word = tr_xml_value(d->version == 3 ? values : xml, "initial");
    v->says_initial = word != NULL;
    v->initial = word ? (Initial)tr_find_name(initials, COUNT(initials), word)
                      : usual_initial(v, d->version);
    read_values(d, v);
}

static const Xml *values_of(const Description *d, const Xml *xml)
{
    if (d->version == 3) return xml;
    const Xml *child = xml->first;
    while (child && type_of(child->name, 2) == TYPES) child = child->next;
    return child;
}

static void add_aliases(Description *d, uint32_t own)
{
    for (uint32_t i = 0; d->version == 3 && i < own; i++)
        for (const Xml *child = d->variables[i].xml->first; child; child = child->next) {
            if (strcmp(child->name, "Alias") != 0) continue;
            const char *name = tr_xml_value(child, "name");
            Variable *alias = &d->variables[d->count++];
            *alias = d->variables[i];
            alias->name = name ? name : "", alias->xml = child, alias->is_alias = true;
        }
}

static bool read_variables(Description *d, Arena *arena, Findings *findings)
{
    const Xml *all = tr_xml_child(d->root, "ModelVariables");
    uint32_t count = 0;
    for (const Xml *xml = all ? all->first : NULL; xml; xml = xml->next) {
        count++;
        for (const Xml *child = xml->first; child; child = child->next)
            count += strcmp(child->name, "Alias") == 0;
    }
    d->variables = tr_arena_alloc(arena, (size_t)count + 1, sizeof *d->variables);
    if (!d->variables) return findings->failed = true, false;
    for (const Xml *xml = all ? all->first : NULL; xml; xml = xml->next) {
        const Xml *values = values_of(d, xml);
        if (values && type_of(values->name, d->version) < TYPES)
            read_variable(d, &d->variables[d->count++], xml, values);
        else
            tr_found(findings, WRECK, xml->at, "this variable has no type");
    }
    add_aliases(d, d->count);
    return true;
}

// ---- orders, by which variables are found --------------------------------------------------

static int compare_by_name(const void *a, const void *b, void *owner)
{
    const Variable *v = owner;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const int order = strcmp(v[i].name, v[k].name);
    return order ? order : (i > k) - (i < k);
}

static int compare_by_reference(const void *a, const void *b, void *owner)
{
    const Variable *v = owner;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (v[i].reference != v[k].reference) return v[i].reference < v[k].reference ? -1 : 1;
    return (i > k) - (i < k);
}

static bool order_variables(Description *d, Arena *arena)
{
    d->by_name = tr_arena_alloc(arena, (size_t)d->count + 1, sizeof *d->by_name);
    d->by_reference = tr_arena_alloc(arena, (size_t)d->count + 1, sizeof *d->by_reference);
    if (!d->by_name || !d->by_reference) return false;
    for (uint32_t i = 0; i < d->count; i++) {
        d->by_name[i] = i;
        if (!d->variables[i].is_alias) d->by_reference[d->reference_count++] = i;
    }
    qsort_r(d->by_name, d->count, sizeof *d->by_name, compare_by_name, d->variables);
    qsort_r(d->by_reference, d->reference_count, sizeof *d->by_reference, compare_by_reference,
            d->variables);
    return true;
}

uint32_t tr_variable_named(const Description *d, const char *name)
{
    uint32_t low = 0, high = d->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (strcmp(d->variables[d->by_name[middle]].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const bool is_there = low < d->count && strcmp(d->variables[d->by_name[low]].name, name) == 0;
    return is_there ? d->by_name[low] : NO_VARIABLE;
}

uint32_t tr_variable_at(const Description *d, uint64_t reference)
{
    uint32_t low = 0, high = d->reference_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (d->variables[d->by_reference[middle]].reference < reference)
            low = middle + 1;
        else
            high = middle;
    }
    const bool is_there =
        low < d->reference_count && d->variables[d->by_reference[low]].reference == reference;
    return is_there ? d->by_reference[low] : NO_VARIABLE;
}

uint32_t tr_variable_spoken_of(const Description *d, uint64_t number)
{
    if (d->version == 3) return tr_variable_at(d, number);
    return number >= 1 && number <= d->count ? (uint32_t)(number - 1) : NO_VARIABLE;
}

// ---- arrays --------------------------------------------------------------------------------

enum { MOST_ELEMENTS = 10000000 };

// <Dimension start="3"/>, or one that a structural parameter gives
static void read_size(const Description *d, Variable *v, Findings *findings)
{
    uint64_t size = 1;
    for (const Xml *child = v->values->first; child; child = child->next) {
        if (strcmp(child->name, "Dimension") != 0) continue;
        const uint64_t given = natural_of(child, "start"), by = natural_of(child, "valueReference");
        const uint32_t parameter = by <= UINT32_MAX ? tr_variable_at(d, by) : NO_VARIABLE;
        double start = given <= UINT32_MAX ? (double)given : -1;
        if (parameter != NO_VARIABLE && !tr_start_value(&d->variables[parameter], 0, &start))
            start = -1;
        v->is_array = true;
        if (!(start >= 0)) {
            tr_found(findings, WRECK, child->at,
                     "'%s': this dimension has no size: it needs 'start', or "
                     "'valueReference' of a structural parameter",
                     v->name);
            start = 1;
        }
        size = (double)size * start <= MOST_ELEMENTS ? size * (uint64_t)start : MOST_ELEMENTS + 1;
    }
    if (size > MOST_ELEMENTS) {
        tr_found(findings, WRECK, v->xml->at, "'%s' has more than ten million elements", v->name);
        size = 1;
    }
    v->size = (uint32_t)size;
}

bool tr_start_value(const Variable *v, uint32_t i, double *value)
{
    char word[64];
    const char *list = v->start;
    if (!list || !is_number(v)) return false;
    uint32_t count = 0;
    bool any = false;
    while ((count <= i || !any) && tr_next_word(&list, word)) count++, any = true;
    if (count <= i) { // a single one is for all
        list = v->start;
        if (count != 1 || !tr_next_word(&list, word)) return false;
    }
    bool flag;
    if (v->type != TYPE_BOOLEAN) return tr_read_real(word, value);
    if (!tr_read_flag(word, &flag)) return false;
    *value = flag;
    return true;
}

// ---- the rest ------------------------------------------------------------------------------

static bool read_list(Description *d, ListKind kind, const Xml *of, const char *name, Arena *arena)
{
    uint32_t count = 0;
    for (const Xml *at = of ? of->first : NULL; at; at = at->next)
        count += strcmp(at->name, name) == 0;
    Unknown *list = d->list[kind].at = tr_arena_alloc(arena, (size_t)count + 1, sizeof *list);
    if (!list) return false;
    for (const Xml *at = of ? of->first : NULL; at; at = at->next)
        if (strcmp(at->name, name) == 0)
            list[d->list[kind].count++] =
                (Unknown){at, tr_variable_spoken_of(
                                  d, natural_of(at, d->version == 2 ? "index" : "valueReference"))};
    return true;
}

static bool read_structure(Description *d, Arena *arena)
{
    const Xml *s = tr_xml_child(d->root, "ModelStructure");
    if (d->version == 2)
        return read_list(d, OUTPUTS, tr_xml_child(s, "Outputs"), "Unknown", arena) &&
               read_list(d, DERIVATIVES, tr_xml_child(s, "Derivatives"), "Unknown", arena) &&
               read_list(d, INITIAL_UNKNOWNS, tr_xml_child(s, "InitialUnknowns"), "Unknown", arena);
    return read_list(d, OUTPUTS, s, "Output", arena) &&
           read_list(d, DERIVATIVES, s, "ContinuousStateDerivative", arena) &&
           read_list(d, INITIAL_UNKNOWNS, s, "InitialUnknown", arena) &&
           read_list(d, EVENT_INDICATORS, s, "EventIndicator", arena) &&
           read_list(d, CLOCKED_STATES, s, "ClockedState", arena);
}

static Interface interface_of(const Description *d, const char *name)
{
    const Xml *xml = tr_xml_child(d->root, name);
    return (Interface){xml, xml ? tr_xml_value(xml, "modelIdentifier") : NULL};
}

static void read_facts(Description *d)
{
    const Xml *experiment = tr_xml_child(d->root, "DefaultExperiment");
    d->model_name = tr_xml_value(d->root, "modelName");
    d->token = tr_xml_value(d->root, d->version == 2 ? "guid" : "instantiationToken");
    d->tool = tr_xml_value(d->root, "generationTool");
    d->me = interface_of(d, "ModelExchange"), d->cs = interface_of(d, "CoSimulation");
    d->se = interface_of(d, "ScheduledExecution");
    d->needs_completed_step = d->version == 2
                                  ? !flag_of(d->me.xml, "completedIntegratorStepNotNeeded")
                                  : flag_of(d->me.xml, "needsCompletedIntegratorStep");
    d->varies_step = flag_of(d->cs.xml, "canHandleVariableCommunicationStepSize");
    d->has_event_mode = flag_of(d->cs.xml, "hasEventMode");
    d->runs_asynchronously = flag_of(d->cs.xml, "canRunAsynchronuously");
    d->start_time = real_of(experiment, "startTime", (double)NAN);
    d->stop_time = real_of(experiment, "stopTime", (double)NAN);
    d->tolerance = real_of(experiment, "tolerance", (double)NAN);
    d->step = real_of(experiment, "stepSize", (double)NAN);
}

static bool read_version(Description *d, Findings *findings)
{
    const char *version = tr_xml_value(d->root, "fmiVersion");
    if (strcmp(d->root->name, "fmiModelDescription") != 0)
        return tr_found(findings, WRECK, d->root->at,
                        "modelDescription.xml begins with <fmiModelDescription>, not with <%.60s>",
                        d->root->name),
               false;
    if (!version)
        return tr_found(findings, WRECK, d->root->at,
                        "<fmiModelDescription> needs the attribute 'fmiVersion'"),
               false;
    // 3.1 and the like are read as 3.0, as the standard has it
    d->version = strcmp(version, "2.0") == 0 ? 2 : begins_with(version, "3.") ? 3 : 0;
    if (!d->version)
        tr_found(findings, WRECK, d->root->at, "FMI '%.20s' is not read: only 2.0 and 3", version);
    return d->version != 0;
}

bool tr_description_read(Description *d, const char *text, size_t length, Arena *arena,
                         Findings *findings, tr_error *err)
{
    *d = (Description){.root = tr_xml_read(text, length, arena, err)};
    tr_found_error(findings, err);
    if (!d->root || !read_version(d, findings)) return false;
    tr_schema_check(d->root, d->version, findings);
    if (findings->of[WRECK] || findings->failed) return false;
    read_facts(d);
    if (!read_variables(d, arena, findings) || !order_variables(d, arena) ||
        !read_structure(d, arena))
        return findings->failed = true, false;
    for (uint32_t i = 0; i < d->count; i++) {
        Variable *v = &d->variables[i];
        if (d->version == 3) read_size(d, v, findings);
        if (v->has_derivative)
            v->state = tr_variable_spoken_of(d, natural_of(v->values, "derivative"));
    }
    const uint64_t indicators = natural_of(d->root, "numberOfEventIndicators");
    d->event_indicators = indicators <= UINT32_MAX ? (uint32_t)indicators : 0;
    for (uint32_t i = 0; i < d->list[EVENT_INDICATORS].count; i++) {
        const uint32_t variable = d->list[EVENT_INDICATORS].at[i].variable;
        if (variable != NO_VARIABLE) d->event_indicators += d->variables[variable].size;
    }
    return !findings->of[WRECK];
}
