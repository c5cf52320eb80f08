// SPDX-License-Identifier: Apache-2.0
// What the standard says beyond the schema, rule by rule: FMI 2.0, sections 2.2.1 and 2.2.7 to
// 2.2.8; FMI 3.0, sections 2.4.1 to 2.4.8.
#include "fmu/description.h"
#include "fmu/schema.h"

#include <math.h>

typedef struct Rules {
    const Description *d;
    Findings *findings;
} Rules;

static const char *const causality_words[] = {
    "parameter",   "calculatedParameter", "input", "output", "local",
    "independent", "structuralParameter"};
static const char *const variability_words[] = {"constant", "fixed", "tunable", "discrete",
                                                "continuous"};
static const char *const initial_words[] = {"none", "exact", "approx", "calculated"};

#define WRONG(where, ...) tr_found(r->findings, MISTAKE, (where)->at, __VA_ARGS__)

// ---- names ---------------------------------------------------------------------------------

static bool is_identifier(const char *text)
{
    if (!text || !begins_name(*text)) return false;
    for (; *text; text++)
        if (!begins_name(*text) && !is_digit(*text)) return false;
    return true;
}

static void check_interface(const Rules *r, const Interface *i)
{
    if (i->xml && !is_identifier(i->identifier))
        WRONG(i->xml, "modelIdentifier '%.60s' is no identifier of C: it names files and functions",
              i->identifier ? i->identifier : "");
}

static void check_facts(const Rules *r)
{
    const Description *d = r->d;
    check_interface(r, &d->me), check_interface(r, &d->cs), check_interface(r, &d->se);
    if (!d->me.xml && !d->cs.xml && !d->se.xml)
        WRONG(d->root, "there is no interface: neither <ModelExchange> nor <CoSimulation>%s",
              d->version == 3 ? " nor <ScheduledExecution>" : "");
    if (d->me.xml && d->version == 2 && !tr_xml_value(d->root, "numberOfEventIndicators"))
        WRONG(d->root, "<fmiModelDescription> needs 'numberOfEventIndicators' for model exchange");
    if (!d->token || !d->token[0])
        WRONG(d->root, "'%s' is empty", d->version == 2 ? "guid" : "instantiationToken");
    const Xml *e = tr_xml_child(d->root, "DefaultExperiment");
    if (d->stop_time <= (isnan(d->start_time) ? 0 : d->start_time))
        WRONG(e, "'stopTime' is not after 'startTime'");
    if (d->tolerance <= 0) WRONG(e, "'tolerance' must be positive");
    if (d->step <= 0) WRONG(e, "'stepSize' must be positive");
    if (!tr_xml_child(d->root, "ModelVariables")) WRONG(d->root, "<ModelVariables> is missing");
    if (!tr_xml_child(d->root, "ModelStructure")) WRONG(d->root, "<ModelStructure> is missing");
}

// `at` behind a word of a structured name, b_1 or 'any text', and its indices, [1,2]
static bool next_part(const char **at)
{
    const char *c = *at;
    if (*c == '\'') {
        for (c++; *c && *c != '\''; c++)
            if (*c == '\\' && c[1]) c++;
        if (c - *at < 2 || *c++ != '\'') return false;
    } else {
        if (!begins_name(*c)) return false;
        while (begins_name(*c) || is_digit(*c)) c++;
    }
    if (*c == '[') {
        do {
            const size_t digits = strspn(c + 1, "0123456789");
            if (!digits) return false;
            c += 1 + digits;
        } while (*c == ',');
        if (*c++ != ']') return false;
    }
    *at = c;
    return true;
}

// a.b[2].c, der(a.b) or der(a.b,2)
static bool is_structured(const char *name)
{
    const bool is_rate = begins_with(name, "der(");
    if (is_rate) name += 4;
    for (;; name++) {
        if (!next_part(&name)) return false;
        if (*name != '.') break;
    }
    if (is_rate && *name == ',') {
        const size_t digits = strspn(name + 1, "0123456789");
        name += digits ? 1 + digits : 0;
    }
    return is_rate ? strcmp(name, ")") == 0 : !*name;
}

static void check_names(const Rules *r)
{
    const Description *d = r->d;
    const char *convention = tr_xml_value(d->root, "variableNamingConvention");
    const bool structured = convention && strcmp(convention, "structured") == 0;
    for (uint32_t k = 0; k < d->count; k++) {
        const Variable *v = &d->variables[d->by_name[k]];
        if (!v->name[0])
            WRONG(v->xml, "a variable's name is empty");
        else if (strpbrk(v->name, "\r\n\t"))
            WRONG(v->xml, "'%.60s': names have no tabs and ends of lines", v->name);
        else if (structured && !is_structured(v->name))
            WRONG(v->xml, "'%.60s' is no name as \"structured\" has it, such as a.b[2] or der(a.b)",
                  v->name);
        if (k && strcmp(v->name, d->variables[d->by_name[k - 1]].name) == 0)
            WRONG(v->xml, "'%.60s' is the name of another variable, too (line %d)", v->name,
                  d->variables[d->by_name[k - 1]].xml->at.line);
    }
}

// Those of one list, of which each has its own
static void check_own_names(const Rules *r, const Xml *list)
{
    for (const Xml *a = list ? list->first : NULL; a; a = a->next) {
        const char *name = tr_xml_value(a, "name");
        for (const Xml *b = list->first; b != a; b = b->next) {
            const char *other = tr_xml_value(b, "name");
            if (name && other && strcmp(name, other) == 0 && strcmp(a->name, b->name) == 0)
                WRONG(a, "<%s> '%.60s' is there twice (line %d)", a->name, name, b->at.line);
        }
    }
}

static void check_lists_of_names(const Rules *r)
{
    static const char *const lists[] = {"UnitDefinitions", "TypeDefinitions", "LogCategories"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const Xml *list = tr_xml_child(r->d->root, lists[i]);
        check_own_names(r, list);
        for (const Xml *in = list ? list->first : NULL; in; in = in->next)
            check_own_names(r, r->d->version == 2 && i == 1 ? in->first : in);
    }
}

// ---- references ----------------------------------------------------------------------------

// What one reference of 2.0 may be shared by: variables of one type that are one number
static void check_shared(const Rules *r, const Variable *a, const Variable *b)
{
    if (a->type != b->type) return;
    if (a->causality == INPUT && b->causality == INPUT)
        WRONG(b->xml, "'%.60s' has the value reference of another input, '%.60s' (line %d)",
              b->name, a->name, a->xml->at.line);
    if (a->start && b->start && a->variability != CONSTANT && b->variability != CONSTANT)
        WRONG(b->xml, "'%.60s' and its alias '%.60s' (line %d) have 'start' both: one may", b->name,
              a->name, a->xml->at.line);
    if (a->unit && b->unit && strcmp(a->unit, b->unit) != 0)
        WRONG(b->xml, "'%.60s' and its alias '%.60s' (line %d) have different units", b->name,
              a->name, a->xml->at.line);
}

static void check_references(const Rules *r)
{
    const Description *d = r->d;
    for (uint32_t k = 1; k < d->reference_count; k++) {
        const Variable *a = &d->variables[d->by_reference[k - 1]],
                       *b = &d->variables[d->by_reference[k]];
        if (a->reference != b->reference) continue;
        if (d->version == 2)
            check_shared(r, a, b);
        else
            WRONG(b->xml,
                  "value reference %u of '%.60s' is that of '%.60s', too (line %d): use <Alias>",
                  b->reference, b->name, a->name, a->xml->at.line);
    }
}

static bool is_unit_known(const Description *d, const char *unit, const char *display)
{
    const Xml *list = tr_xml_child(d->root, "UnitDefinitions"), *at = list ? list->first : NULL;
    const char *name;
    while (at && !((name = tr_xml_value(at, "name")) && strcmp(name, unit) == 0)) at = at->next;
    if (!at || !display) return at != NULL;
    for (at = at->first; at; at = at->next)
        if (strcmp(at->name, "DisplayUnit") == 0 && (name = tr_xml_value(at, "name")) &&
            strcmp(name, display) == 0)
            return true;
    return false;
}

static void check_unit(const Rules *r, const Xml *xml, const char *unit, const char *who)
{
    const char *display = tr_xml_value(xml, "displayUnit");
    if (unit && !is_unit_known(r->d, unit, NULL))
        WRONG(xml, "'%.60s': there is no unit '%.60s' in <UnitDefinitions>", who, unit);
    else if (display && !unit)
        WRONG(xml, "'%.60s' has 'displayUnit' without 'unit'", who);
    else if (display && !is_unit_known(r->d, unit, display))
        WRONG(xml, "'%.60s': unit '%.60s' has no <DisplayUnit> '%.60s'", who, unit, display);
}

static void check_declared(const Rules *r, const Variable *v)
{
    const Xml *list = tr_xml_child(r->d->root, "TypeDefinitions");
    if (!v->declared) {
        if (v->type == TYPE_ENUMERATION)
            WRONG(v->values, "'%.60s': an enumeration needs 'declaredType'", v->name);
        return;
    }
    const Xml *at = list ? list->first : NULL;
    const char *name;
    while (at && !((name = tr_xml_value(at, "name")) && strcmp(name, v->declared) == 0))
        at = at->next;
    if (!at) {
        WRONG(v->values, "'%.60s': there is no type '%.60s' in <TypeDefinitions>", v->name,
              v->declared);
        return;
    }
    const char *kind = r->d->version == 2 ? at->first ? at->first->name : "" : at->name;
    if (!begins_with(kind, v->values->name))
        WRONG(v->values, "'%.60s' is %s, but its type '%.60s' is %s", v->name, v->values->name,
              v->declared, kind);
}

// ---- causality, variability, initial values ------------------------------------------------

// (A) to (E) of the table: what goes with what
static bool go_together(const Variable *v)
{
    switch (v->causality) {
    case PARAMETER:
    case CALCULATED_PARAMETER:
    case STRUCTURAL_PARAMETER: return v->variability == FIXED || v->variability == TUNABLE;
    case INPUT: return v->variability == DISCRETE || v->variability == CONTINUOUS;
    case OUTPUT: return v->variability != FIXED && v->variability != TUNABLE;
    case INDEPENDENT: return v->variability == CONTINUOUS;
    default: return true;
    }
}

static bool may_begin(const Variable *v, int version)
{
    const bool is_state_like = v->variability == DISCRETE || v->variability == CONTINUOUS;
    if (v->causality == INPUT) return version == 3 && v->initial == EXACT;
    if (v->causality == INDEPENDENT) return false;
    if (v->variability == CONSTANT || v->causality == PARAMETER ||
        v->causality == STRUCTURAL_PARAMETER)
        return v->initial == EXACT;
    return is_state_like || v->initial != EXACT;
}

static void check_causality(const Rules *r, const Variable *v)
{
    if (!go_together(v))
        WRONG(v->xml, "'%.60s': causality %s does not go with variability %s", v->name,
              causality_words[v->causality], variability_words[v->variability]);
    else if (v->says_initial && !may_begin(v, r->d->version))
        WRONG(v->xml, "'%.60s': causality %s and variability %s do not go with initial %s", v->name,
              causality_words[v->causality], variability_words[v->variability],
              initial_words[v->initial]);
    if (v->variability == CONTINUOUS && !is_real(v))
        WRONG(v->xml, "'%.60s' is %s and cannot be continuous", v->name, v->values->name);
}

static void check_start_number(const Rules *r, const Variable *v)
{
    enum { LOOKED_AT = 1000 };
    double value;
    const uint32_t count = v->size < LOOKED_AT ? v->size : LOOKED_AT;
    for (uint32_t i = 0; i < count; i++) {
        if (!tr_start_value(v, i, &value)) {
            WRONG(v->values, "'%.60s' has %u elements, but 'start' has no value for number %u",
                  v->name, v->size, i + 1);
            return;
        }
        if (value < v->least || value > v->most) {
            WRONG(v->values, "'%.60s': start %.9g is not between %.9g and %.9g", v->name, value,
                  v->least, v->most);
            return;
        }
    }
}

static void check_start(const Rules *r, const Variable *v)
{
    const bool must = v->initial == EXACT || v->initial == APPROX || v->causality == INPUT ||
                      v->causality == PARAMETER || v->variability == CONSTANT;
    if (v->type == TYPE_CLOCK || v->is_alias) return;
    if (must && !v->start)
        WRONG(v->values, "'%.60s' needs 'start': it is %s, initial %s", v->name,
              causality_words[v->causality], initial_words[v->initial]);
    if (v->start && (v->initial == CALCULATED || v->causality == INDEPENDENT))
        WRONG(v->values, "'%.60s' may not have 'start': it is %s", v->name,
              v->causality == INDEPENDENT ? "the independent variable" : "calculated");
    if (v->least > v->most)
        WRONG(v->values, "'%.60s': min %.9g is above max %.9g", v->name, v->least, v->most);
    else if (v->start && is_number(v))
        check_start_number(r, v);
    if (!(v->nominal > 0))
        WRONG(v->values, "'%.60s': nominal %.9g is not positive", v->name, v->nominal);
}

// ---- states --------------------------------------------------------------------------------

static void check_derivative(const Rules *r, const Variable *v)
{
    const char *said = tr_xml_value(v->values, "derivative");
    if (!v->has_derivative || v->is_alias) return;
    if (v->state == NO_VARIABLE) {
        if (r->d->version == 2)
            WRONG(v->values, "'%.60s' has derivative=\"%s\", but there are variables 1 to %u alone",
                  v->name, said, r->d->count);
        else
            WRONG(v->values,
                  "'%.60s' has derivative=\"%s\", but no variable has this value reference",
                  v->name, said);
        return;
    }
    const Variable *state = &r->d->variables[v->state];
    if (state == v) WRONG(v->values, "'%.60s' cannot be its own derivative", v->name);
    if (!is_real(v) || !is_real(state) || state->variability != CONTINUOUS)
        WRONG(v->values,
              "'%.60s' has derivative=\"%s\", which is '%.60s': only what is real and continuous "
              "has one",
              v->name, said, state->name);
    if (state->size != v->size)
        WRONG(v->values, "'%.60s' and what it is the derivative of, '%.60s', differ in size",
              v->name, state->name);
}

static void check_independent(const Rules *r)
{
    const Variable *first = NULL;
    for (uint32_t i = 0; i < r->d->count; i++) {
        const Variable *v = &r->d->variables[i];
        if (v->causality != INDEPENDENT || v->is_alias) continue;
        if (first)
            WRONG(v->xml, "'%.60s' is a second independent variable, after '%.60s' (line %d)",
                  v->name, first->name, first->xml->at.line);
        if (!is_real(v)) WRONG(v->xml, "the independent variable '%.60s' is not real", v->name);
        first = v;
    }
    if (!first && r->d->version == 3)
        WRONG(r->d->root,
              "there is no variable with causality \"independent\": 3.0 asks for exactly one");
}

// ---- attributes that few variables may have ------------------------------------------------

// Of 3.0: what it is the next value of, when a clock ticks
static void check_previous(const Rules *r, const Variable *v)
{
    const char *said = tr_xml_value(v->values, "previous");
    uint64_t number;
    if (!said || !tr_read_natural(said, &number)) return;
    const uint32_t of = tr_variable_at(r->d, number);
    if (of == NO_VARIABLE)
        WRONG(v->values, "'%.60s' has previous=\"%s\", but no variable has this value reference",
              v->name, said);
    else if (&r->d->variables[of] == v)
        WRONG(v->values, "'%.60s' cannot be its own previous value", v->name);
    else if (r->d->variables[of].type != v->type || r->d->variables[of].variability != DISCRETE ||
             r->d->variables[of].causality == INPUT)
        WRONG(v->values,
              "'%.60s' cannot be the previous value of '%.60s': it is of another type, "
              "an input or not discrete",
              r->d->variables[of].name, v->name);
    if (!tr_xml_value(v->values, "clocks") || v->variability != DISCRETE)
        WRONG(v->values, "'%.60s' has 'previous', but is not discrete with 'clocks'", v->name);
}

static void check_clocks(const Rules *r, const Variable *v)
{
    const char *list = tr_xml_value(v->values, "clocks");
    char word[64];
    uint64_t number;
    if (list && v->variability != DISCRETE && v->variability != TUNABLE)
        WRONG(v->values, "'%.60s' has 'clocks', but is neither discrete nor tunable", v->name);
    for (const char *at = list ? list : ""; tr_next_word(&at, word);) {
        const uint32_t k =
            tr_read_natural(word, &number) ? tr_variable_at(r->d, number) : NO_VARIABLE;
        if (k == NO_VARIABLE || r->d->variables[k].type != TYPE_CLOCK)
            WRONG(v->values, "'%.60s': clocks: there is no clock %s", v->name, word);
    }
}

// What stands in a variable of 3.0: sizes by structural parameters, other names
static void check_children(const Rules *r, const Variable *v)
{
    uint64_t number;
    for (const Xml *child = v->values->first; child; child = child->next) {
        const char *by = tr_xml_value(child, "valueReference"),
                   *display = tr_xml_value(child, "displayUnit");
        if (strcmp(child->name, "Dimension") == 0 && by && tr_read_natural(by, &number)) {
            const uint32_t k = tr_variable_at(r->d, number);
            if (k != NO_VARIABLE && r->d->variables[k].causality != STRUCTURAL_PARAMETER)
                WRONG(child,
                      "'%.60s': the size of this dimension is '%.60s', which is no "
                      "structural parameter",
                      v->name, r->d->variables[k].name);
        }
        if (strcmp(child->name, "Alias") != 0 || !display) continue;
        if (!v->unit || !is_unit_known(r->d, v->unit, display))
            WRONG(child, "'%.60s': there is no <DisplayUnit> '%.60s' of its unit", v->name,
                  display);
    }
}

static void check_special(const Rules *r, const Variable *v)
{
    const char *updated = tr_xml_value(v->values, "intermediateUpdate");
    bool is_updated;
    if (v->causality != INPUT && tr_xml_value(v->xml, "canHandleMultipleSetPerTimeInstant"))
        WRONG(v->xml, "'%.60s' has 'canHandleMultipleSetPerTimeInstant', but is no input", v->name);
    if (v->causality == PARAMETER && updated && tr_read_flag(updated, &is_updated) && is_updated)
        WRONG(v->xml, "'%.60s' has 'intermediateUpdate', but is a parameter", v->name);
    if (r->d->version == 2) return;
    check_previous(r, v);
    check_clocks(r, v);
    check_children(r, v);
}

// ---- the structure of the model ------------------------------------------------------------

static const char *const list_words[] = {"Outputs", "Derivatives", "InitialUnknowns",
                                         "EventIndicator", "ClockedState"};
static const char *const list_words3[] = {"Output", "ContinuousStateDerivative", "InitialUnknown",
                                          "EventIndicator", "ClockedState"};

static const char *list_word(const Description *d, ListKind kind)
{
    return d->version == 2 ? list_words[kind] : list_words3[kind];
}

// By variable, what unknowns may depend on: those of other lists, and the initial ones. Variables
// with one reference, of 2.0, may be named for each other. What is discrete may be a state in 3.0.
enum { KNOWN = 1, KNOWN_AT_FIRST = 2 };

typedef struct Knowns {
    uint8_t *is;
    uint32_t *listed_by; // the last unknown that depends on it
    uint32_t unknown;    // that is looked at, from 1
} Knowns;

static bool is_known(const Description *d, const Variable *v)
{
    const bool is_always = v->causality == INPUT || v->causality == INDEPENDENT;
    if (d->version == 2 || is_always) return is_always;
    return v->causality == PARAMETER || v->causality == STRUCTURAL_PARAMETER ||
           v->variability == DISCRETE || v->type == TYPE_CLOCK;
}

static bool is_known_at_first(const Variable *v)
{
    return v->causality == INPUT || v->causality == INDEPENDENT || v->initial == EXACT ||
           v->type == TYPE_CLOCK;
}

static bool find_knowns(const Description *d, const uint32_t *states, Knowns *knowns, Arena *arena)
{
    uint8_t *known = knowns->is = tr_arena_alloc(arena, (size_t)d->count + 1, sizeof *known);
    knowns->listed_by = tr_arena_alloc(arena, (size_t)d->count + 1, sizeof *knowns->listed_by);
    if (!known || !knowns->listed_by) return false;
    for (uint32_t from = 0, to = 0; from < d->reference_count; from = to) {
        const uint32_t reference = d->variables[d->by_reference[from]].reference;
        uint8_t is = 0;
        for (; to < d->reference_count; to++) {
            const Variable *v = &d->variables[d->by_reference[to]];
            if (v->reference != reference) break;
            if (is_known(d, v) || states[d->by_reference[to]]) is |= KNOWN;
            if (is_known_at_first(v)) is |= KNOWN_AT_FIRST;
        }
        for (uint32_t k = from; k < to; k++) known[d->by_reference[k]] = is;
    }
    return true;
}

static void check_known(const Rules *r, const Unknown *u, ListKind kind, uint32_t variable,
                        Knowns *knowns)
{
    const bool at_first = kind == INITIAL_UNKNOWNS;
    const char *name = r->d->variables[variable].name;
    if (r->d->version == 3 && knowns->listed_by[variable] == knowns->unknown)
        WRONG(u->xml, "dependencies: '%.60s' is there twice", name);
    knowns->listed_by[variable] = knowns->unknown;
    if (knowns->is[variable] & (at_first ? KNOWN_AT_FIRST : KNOWN)) return;
    WRONG(u->xml, "dependencies: '%.60s' is no input, no %s and no independent variable", name,
          at_first             ? "variable with initial exact"
          : r->d->version == 2 ? "state"
                               : "state, no parameter");
}

static void check_dependencies(const Rules *r, const Unknown *u, ListKind kind, Knowns *knowns)
{
    const char *list = tr_xml_value(u->xml, "dependencies"),
               *kinds = tr_xml_value(u->xml, "dependenciesKind");
    char word[64];
    uint64_t number, before = 0;
    uint32_t count = 0, kind_count = 0;
    knowns->unknown++;
    if (!list && kinds) WRONG(u->xml, "'dependenciesKind' without 'dependencies'");
    for (const char *at = list ? list : ""; tr_next_word(&at, word); count++) {
        const uint32_t variable =
            tr_read_natural(word, &number) ? tr_variable_spoken_of(r->d, number) : NO_VARIABLE;
        if (variable == NO_VARIABLE)
            WRONG(u->xml, "dependencies: there is no variable %s", word);
        else
            check_known(r, u, kind, variable, knowns);
        if (r->d->version == 2 && count && number <= before)
            WRONG(u->xml, "dependencies: %s does not come after a smaller one", word);
        before = number;
    }
    for (const char *at = kinds ? kinds : ""; tr_next_word(&at, word); kind_count++) {
        const bool is_initial = kind == INITIAL_UNKNOWNS;
        if (!tr_is_listed(is_initial ? "dependent constant"
                                     : "dependent constant fixed tunable discrete",
                          word))
            WRONG(u->xml, "dependenciesKind: '%s' cannot stand here", word);
    }
    if (kinds && list && count != kind_count)
        WRONG(u->xml, "there are %u dependencies, but %u kinds of them", count, kind_count);
}

// Whether a variable belongs into a list, as the standard defines it
static bool belongs(const Description *d, const Variable *v, ListKind kind, const uint32_t *states)
{
    const bool is_state = states[v - d->variables];
    const bool is_rate = v->has_derivative && v->state != NO_VARIABLE && states[v->state];
    const bool is_open = v->initial == APPROX || v->initial == CALCULATED;
    switch (kind) {
    case OUTPUTS: return v->causality == OUTPUT;
    case INITIAL_UNKNOWNS:
        return v->causality == CALCULATED_PARAMETER ||
               (is_open && (v->causality == OUTPUT || is_state || is_rate));
    default: return false;
    }
}

static bool is_clocked(const Variable *v)
{
    return v->type == TYPE_CLOCK || tr_xml_value(v->values, "clocks") != NULL;
}

// Whether what a list has may stand there. In 3.0 more than must be may be an initial unknown, but
// nothing that is known.
static void check_listed(const Rules *r, const Unknown *u, ListKind kind, const uint32_t *states)
{
    const Description *d = r->d;
    const Variable *v = &d->variables[u->variable];
    const char *name = list_word(d, kind);
    const bool is_open = v->initial == APPROX || v->initial == CALCULATED || is_clocked(v);
    const bool may_be = kind == INITIAL_UNKNOWNS && d->version == 3 && is_open;
    if ((kind == OUTPUTS || kind == INITIAL_UNKNOWNS) && !may_be && !belongs(d, v, kind, states))
        WRONG(u->xml, "<%s>: '%.60s' does not belong here: it is %s, initial %s", name, v->name,
              causality_words[v->causality], initial_words[v->initial]);
    else if (kind == DERIVATIVES && !v->has_derivative)
        WRONG(u->xml, "<%s>: '%.60s' has no attribute 'derivative'", name, v->name);
    else if (kind == EVENT_INDICATORS && (!is_real(v) || v->variability != CONTINUOUS))
        WRONG(u->xml, "<%s>: '%.60s' is not real and continuous", name, v->name);
}

// All that belong, none twice, no others. `times` and `states` have a number for each variable.
static void check_list(const Rules *r, ListKind kind, uint32_t *times, const uint32_t *states,
                       Knowns *knowns)
{
    const Description *d = r->d;
    const char *name = list_word(d, kind);
    memset(times, 0, d->count * sizeof *times);
    for (uint32_t i = 0; i < d->list[kind].count; i++) {
        const Unknown *u = &d->list[kind].at[i];
        check_dependencies(r, u, kind, knowns);
        if (u->variable == NO_VARIABLE) {
            WRONG(u->xml, "<%s> speaks of a variable %s that there is not", name,
                  tr_xml_value(u->xml, d->version == 2 ? "index" : "valueReference"));
            continue;
        }
        const Variable *v = &d->variables[u->variable];
        if (times[u->variable]++) WRONG(u->xml, "<%s> has '%.60s' twice", name, v->name);
        check_listed(r, u, kind, states);
    }
    for (uint32_t i = 0; i < d->count; i++) {
        const Variable *v = &d->variables[i];
        if (!v->is_alias && !is_clocked(v) && !times[i] && belongs(d, v, kind, states))
            WRONG(v->xml, "'%.60s' is missing in <%s>: it is %s, initial %s", v->name, name,
                  causality_words[v->causality], initial_words[v->initial]);
    }
}

static void check_reinit(const Rules *r, const uint32_t *states)
{
    const Variable *ignored = NULL;
    for (uint32_t i = 0; i < r->d->count; i++) {
        const Variable *v = &r->d->variables[i];
        if (!v->reinit || v->is_alias) continue;
        if (!states[i]) WRONG(v->values, "'%.60s' has 'reinit', but is no state", v->name);
        if (!r->d->me.xml && !ignored) ignored = v;
    }
    if (ignored)
        tr_found(r->findings, REMARK, ignored->values->at,
                 "'%.60s' has 'reinit', which is of model exchange alone", ignored->name);
}

static void check_structure(const Rules *r, Arena *arena)
{
    const Description *d = r->d;
    uint32_t *times = tr_arena_alloc(arena, (size_t)d->count + 1, sizeof *times);
    uint32_t *states = tr_arena_alloc(arena, (size_t)d->count + 1, sizeof *states);
    if (!times || !states) {
        r->findings->failed = true;
        return;
    }
    for (uint32_t i = 0; i < d->list[DERIVATIVES].count; i++) {
        const Unknown *u = &d->list[DERIVATIVES].at[i];
        const uint32_t state =
            u->variable == NO_VARIABLE ? NO_VARIABLE : d->variables[u->variable].state;
        if (state != NO_VARIABLE && states[state]++)
            WRONG(u->xml, "'%.60s' has a second derivative in <%s>", d->variables[state].name,
                  list_word(d, DERIVATIVES));
    }
    Knowns knowns = {0};
    if (!find_knowns(d, states, &knowns, arena)) {
        r->findings->failed = true;
        return;
    }
    for (ListKind kind = 0; kind < (d->version == 2 ? EVENT_INDICATORS : LISTS); kind++)
        check_list(r, kind, times, states, &knowns);
    check_reinit(r, states);
}

void tr_description_check(const Description *d, Findings *findings)
{
    const Rules rules = {d, findings}, *r = &rules;
    Arena arena = {0};
    check_facts(r);
    check_names(r);
    check_lists_of_names(r);
    check_references(r);
    for (uint32_t i = 0; i < d->count; i++) {
        const Variable *v = &d->variables[i];
        if (v->is_alias) continue;
        check_unit(r, v->values, v->unit, v->name);
        check_declared(r, v);
        check_causality(r, v);
        check_start(r, v);
        check_derivative(r, v);
        check_special(r, v);
    }
    check_independent(r);
    check_structure(r, &arena);
    tr_arena_free(&arena);
}
