// SPDX-License-Identifier: Apache-2.0
// A model as a Functional Mock-up Unit: its variables with what they depend on, the description in
// XML, sources, and a binary that the compiler of this machine makes of them.
#ifndef TR_EXPORT_FMU_H
#define TR_EXPORT_FMU_H

#include "export/target.h"

// In the order of value references, without gaps
typedef enum FmuKind {
    FMU_TIME,
    FMU_STATE, // entries of x that no motion drives
    FMU_RATE,  // of these
    FMU_INPUT,
    FMU_PARAMETER,
    FMU_OUTPUT,    // y
    FMU_DRIVEN,    // entries of x that a motion drives
    FMU_CONSTANT,  // parameters that are numbers in the code
    FMU_INDICATOR, // of events
    FMU_MODE,      // what contacts do, whole numbers
    FMU_KINDS
} FmuKind;

typedef struct FmuVariable {
    char *name, *words;
    const char *unit;
    FmuKind kind;
    uint32_t which; // of its kind
    uint32_t index; // in the description, from 1; 0: it is not there
    double start, least, most;
    bool is_output, is_fixed; // parameters: the start depends on it; inputs: a controller sets it
} FmuVariable;

typedef struct Fmu {
    Export *code;
    uint32_t *state, *driven; // entries of x
    uint32_t count_of[FMU_KINDS];
    FmuVariable *variables; // by value reference
    uint32_t variable_count;
    bool is_structured; // all names are as the standard has them
    // What each node of the code depends on, as bits: x, u, t, p
    uint64_t *bits;
    uint32_t words;
    uint32_t *group; // of each entry of x: which constraints move it together; NO_GROUP: none
    uint64_t *used;  // bits of groups, `words` for each
    char token[60];
} Fmu;
#define NO_GROUP UINT32_MAX

// Whether a controller of the model sets an input
bool tr_fmu_is_controlled(const Export *code, uint32_t input);
// With the token still empty
bool tr_fmu_describe(Fmu *fmu, tr_error *err);
void tr_fmu_free(Fmu *fmu);
static inline uint32_t fmu_first(const Fmu *fmu, FmuKind kind)
{
    uint32_t vr = 0;
    for (int k = 0; k < (int)kind; k++) vr += fmu->count_of[k];
    return vr;
}

// What a rate or an output depends on of what there is: bits, `words` of them, ored to `out`.
// Dependence on states, inputs and time counts.
bool tr_fmu_trace(Fmu *fmu, tr_error *err);
void tr_fmu_dependencies(const Fmu *fmu, const FmuVariable *of, uint64_t *out);
// Whether the start depends on a parameter
bool tr_fmu_starts_by(const Fmu *fmu, uint32_t parameter);
// The bit of a variable that others may depend on; UINT32_MAX: none does
uint32_t tr_fmu_bit(const Fmu *fmu, const FmuVariable *of);

void tr_fmu_xml(const Fmu *fmu, Buffer *out);
void tr_fmu_build_xml(const Fmu *fmu, Buffer *out); // buildDescription.xml, of 3.0
// The shared library that the compiler makes of the sources: its bytes, to be freed
char *tr_fmu_compile(const Folder *sources, const char *main, size_t *length, tr_error *err);
// "x86_64-linux", as either version calls it; NULL where it has no name
const char *tr_fmu_platform(int version);

#endif
