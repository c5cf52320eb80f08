// SPDX-License-Identifier: Apache-2.0
// The Functional Mock-up Interface, 2.0 and 3.0: its types, and its functions as fmi2.def and
// fmi3.def list them. Names are the standard's; whoever loads an FMU has a pointer for each row.
#ifndef TR_FMU_FMI_H
#define TR_FMU_FMI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- 2.0 -----------------------------------------------------------------------------------

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum {
    fmi2DoStepStatus,
    fmi2PendingStatus,
    fmi2LastSuccessfulTime,
    fmi2Terminated
} fmi2StatusKind;

typedef struct {
    void (*logger)(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status,
                   fmi2String category, fmi2String message, ...);
    void *(*allocateMemory)(size_t count, size_t size);
    void (*freeMemory)(void *at);
    void (*stepFinished)(fmi2ComponentEnvironment environment, fmi2Status status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
    fmi2Boolean newDiscreteStatesNeeded;
    fmi2Boolean terminateSimulation;
    fmi2Boolean nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged;
    fmi2Boolean nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

// ---- 3.0 -----------------------------------------------------------------------------------

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef const char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Clock;

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum {
    fmi3Independent,
    fmi3Constant,
    fmi3Fixed,
    fmi3Tunable,
    fmi3Discrete,
    fmi3Dependent
} fmi3DependencyKind;
typedef enum {
    fmi3IntervalNotYetKnown,
    fmi3IntervalUnchanged,
    fmi3IntervalChanged
} fmi3IntervalQualifier;

typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment environment, fmi3Status status,
                                       fmi3String category, fmi3String message);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment environment, fmi3Float64 t,
                                               fmi3Boolean set_requested, fmi3Boolean get_allowed,
                                               fmi3Boolean step_finished,
                                               fmi3Boolean can_return_early,
                                               fmi3Boolean *return_early, fmi3Float64 *until);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment environment);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

// ---- functions -----------------------------------------------------------------------------

typedef struct Fmi2 {
#define FMI2(kind, result, name, arguments) result(*name) arguments;
#include "fmu/fmi2.def"
} Fmi2;

typedef struct Fmi3 {
#define FMI3(kind, result, name, arguments) result(*name) arguments;
#include "fmu/fmi3.def"
} Fmi3;

enum {
    FMI2_FUNCTIONS = sizeof(Fmi2) / sizeof(void (*)(void)),
    FMI3_FUNCTIONS = sizeof(Fmi3) / sizeof(void (*)(void))
};
_Static_assert(FMI2_FUNCTIONS == 44 && FMI3_FUNCTIONS == 75, "as many as the standard has");

// Which interfaces of an FMU a function is for
typedef enum { FMI_COMMON = 1, FMI_ME = 2, FMI_CS = 4, FMI_SE = 8 } FmiKind;

typedef struct FmiFunction {
    const char *name; // "fmi2Instantiate"
    FmiKind kind;
} FmiFunction;

// All of them, in the order of the structures above
extern const FmiFunction tr_fmi2_functions[FMI2_FUNCTIONS];
extern const FmiFunction tr_fmi3_functions[FMI3_FUNCTIONS];

#endif
