// SPDX-License-Identifier: Apache-2.0
// What modelDescription.xml says of an FMU, as plain data.
#ifndef TR_FMU_DESCRIPTION_H
#define TR_FMU_DESCRIPTION_H

#include "base/xml.h"
#include "fmu/finding.h"
#include "fmu/fmi.h"

typedef enum {
#define TYPE(id, ...) TYPE_##id,
#include "fmu/type.def"
    TYPES
} VariableType;

typedef enum {
    PARAMETER,
    CALCULATED_PARAMETER,
    INPUT,
    OUTPUT,
    LOCAL,
    INDEPENDENT,
    STRUCTURAL_PARAMETER
} Causality;

typedef enum { CONSTANT, FIXED, TUNABLE, DISCRETE, CONTINUOUS } Variability;

typedef enum { NO_INITIAL, EXACT, APPROX, CALCULATED } Initial;

#define NO_VARIABLE UINT32_MAX

typedef struct Variable {
    const char *name, *unit, *declared;
    const char *start; // as it is written, or NULL; of String and Binary in 3.0 the first <Start>
    const Xml *xml;    // of 2.0 <ScalarVariable>
    const Xml *values; // of 2.0 what is in it, <Real>; of 3.0 the same
    VariableType type;
    uint32_t reference;
    Causality causality;
    Variability variability;
    Initial initial;       // NO_INITIAL of inputs in 2.0 and of the independent variable
    bool says_initial;     // and not by default
    double least, most;    // without: what the type has
    double nominal;        // 1 without
    bool reinit, is_alias; // of <Alias> in 3.0
    bool has_derivative;   // says that it is one,
    uint32_t state;        // of this variable; NO_VARIABLE where there is none such
    uint32_t size;         // of an array with the sizes that it starts with; 1 of a scalar
    bool is_array;
} Variable;

// An element of <ModelStructure>
typedef struct Unknown {
    const Xml *xml;
    uint32_t variable; // NO_VARIABLE where there is none such
} Unknown;

typedef enum {
    OUTPUTS,
    DERIVATIVES,
    INITIAL_UNKNOWNS,
    EVENT_INDICATORS,
    CLOCKED_STATES,
    LISTS
} ListKind;

typedef struct Interface {
    const Xml *xml; // NULL: there is none
    const char *identifier;
} Interface;

typedef struct Description {
    const Xml *root;
    int version; // 2 or 3
    const char *model_name, *token, *tool;
    Interface me, cs, se;
    bool needs_completed_step;                             // ME
    bool varies_step, has_event_mode, runs_asynchronously; // CS
    double start_time, stop_time, tolerance, step;         // NaN where it is not said
    uint32_t event_indicators;                             // of 3.0 those at the start
    Variable *variables;
    uint32_t count;
    uint32_t *by_name, *by_reference; // in these orders, of 3.0 without aliases
    uint32_t reference_count;
    struct {
        Unknown *at;
        uint32_t count;
    } list[LISTS];
} Description;

extern const char *const tr_variable_types[TYPES];

// Reads it, in an arena, and tells what is wrong with elements, attributes and values. False, with
// a wreck among the findings, where nothing can be done with it; with an error where there is
// nothing that reads XML.
bool tr_description_read(Description *d, const char *text, size_t length, Arena *arena,
                         Findings *findings, tr_error *err);

// What the standard says beyond the schema: of names, references, causality, initial values, units,
// types and <ModelStructure>. (rules.c)
void tr_description_check(const Description *d, Findings *findings);

// The variable of a name, or of a reference in 3.0; NO_VARIABLE where there is none
uint32_t tr_variable_named(const Description *d, const char *name);
uint32_t tr_variable_at(const Description *d, uint64_t reference);
// As <ModelStructure> speaks of variables: in 2.0 by place, from 1, in 3.0 by reference
uint32_t tr_variable_spoken_of(const Description *d, uint64_t number);

// The i-th of its values as written in `start`; false where it is none. A single one is for all.
bool tr_start_value(const Variable *v, uint32_t i, double *value);

static inline bool is_real(const Variable *v)
{
    return v->type == TYPE_FLOAT64 || v->type == TYPE_FLOAT32;
}
// Whether it can be shown as a number
static inline bool is_number(const Variable *v)
{
    return v->type != TYPE_STRING && v->type != TYPE_BINARY && v->type != TYPE_CLOCK;
}

#endif
