// SPDX-License-Identifier: Apache-2.0
// A ball that bounces, as an FMU that is written by hand: FMI 2.0, or 3.0 with -DFMI_3. Model
// exchange has its states and an event where it hits the ground; co-simulation moves along the
// parabolas, which are exact. A clock ticks every tenth of a second, by time events; every step is
// counted.
//
//   -DTOKEN="..."   what it is instantiated by      -DLACKS   without one of the functions
//   -DDIES, -DHANGS, -DCRASHES      it does in the middle      -DANY_TOKEN   takes any
//   -DLOSES_SPEED   where a state is restored         -DLOSES_BYTES  where it is read from bytes
//   -DBAD_SLOPES, -DNO_SLOPES       derivatives       -DKEEPS_G      where it is reset
//   -DWANTS_FOLDER  for resources: of 2.0 always, of 3.0 where there is one
//   -DIS_STRICT     in step mode of 3.0 the force is not set
//   -DSTAYS         as it says of a step of 3.0       -DIS_NO_NUMBER after a step
#include "fmu/fmi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef TOKEN
#define TOKEN "ball-1"
#endif

enum { T, H, V, DER_H, DER_V, G, E, FORCE, BOUNCES, TICKS, STEPS, Z, NAME, REALS };

typedef struct Ball {
    double t, h, v, g, e, force, next_tick;
    int bounces, ticks, steps;
    char name[40];
    bool is_cs, uses_events, has_hit, is_stepping;
    const fmi2CallbackFunctions *callbacks;
    fmi3LogMessageCallback log;
    void *owner;
} Ball;

static void start(Ball *b)
{
    b->t = 0, b->h = 1, b->v = 0, b->e = 0.7, b->force = 0, b->next_tick = 0.1;
#ifdef KEEPS_G
    if (b->g == 0)
#endif
        b->g = 9.81;
    b->bounces = b->ticks = b->steps = 0, b->has_hit = false;
    strcpy(b->name, "ball");
}

static void say(const Ball *b, int status, const char *words)
{
#ifdef FMI_3
    if (b->log) b->log(b->owner, (fmi3Status)status, "ball", words);
#else
    b->callbacks->logger(b->callbacks->componentEnvironment, b->name, (fmi2Status)status, "ball",
                         "%s #r1# ##", words);
#endif
}

static double rate(const Ball *b) { return -b->g + b->force; }

static bool get(const Ball *b, unsigned vr, double *value)
{
    switch (vr) {
    case T: *value = b->t; break;
    case H: *value = b->h; break;
    case V: *value = b->v; break;
    case DER_H: *value = b->v; break;
    case DER_V: *value = rate(b); break;
    case G: *value = b->g; break;
    case E: *value = b->e; break;
    case FORCE: *value = b->force; break;
    case BOUNCES: *value = b->bounces; break;
    case TICKS: *value = b->ticks; break;
    case STEPS: *value = b->steps; break;
    case Z: *value = b->h; break;
    default: return false;
    }
    return true;
}

static bool set(Ball *b, unsigned vr, double value)
{
    switch (vr) {
    case H: b->h = value; break;
    case V: b->v = value; break;
    case G: b->g = value; break;
    case E: b->e = value; break;
    case FORCE:
#ifdef IS_STRICT
        if (b->is_stepping) return false;
#endif
        b->force = value;
        break;
    default: return false;
    }
    return true;
}

// What an event does; whether a state changed
static bool happen(Ball *b)
{
    bool changed = false;
    if ((b->h <= 0 || b->has_hit) && b->v < 0) b->v = -b->e * b->v, b->bounces++, changed = true;
    if (b->has_hit) b->h = 0;
    b->has_hit = false;
    if (b->t >= b->next_tick - 1e-12) b->ticks++, b->next_tick = (b->ticks + 1) * 0.1;
    return changed;
}

// ---- co-simulation -------------------------------------------------------------------------

static void fly(Ball *b, double dt)
{
    b->h += b->v * dt + rate(b) * dt * dt / 2;
    b->v += rate(b) * dt;
    b->t += dt;
}

// Until it is down again
static double to_ground(const Ball *b)
{
    const double a = -rate(b);
    return a > 0 ? (b->v + sqrt(b->v * b->v + 2 * a * fmax(b->h, 0))) / a : INFINITY;
}

static bool step(Ball *b, double end, bool stops)
{
    b->steps++;
#ifdef IS_NO_NUMBER
    b->v = NAN;
    return b->t = end, false;
#endif
    while (b->t < end) {
        const double dt = to_ground(b);
        if (b->t + dt > end) return fly(b, end - b->t), b->t = end, false;
        fly(b, dt);
        b->has_hit = true;
        if (stops) return true;
        happen(b);
    }
    return false;
}

// ---- FMI -----------------------------------------------------------------------------------

#ifndef FMI_3
#define NAME(name)   fmi2##name
#define OK           fmi2OK
#define WRONG        fmi2Error
#define INSTANCE     fmi2Component
#define STATUS       fmi2Status
#define VALUES(type) fmi2Component c, const fmi2ValueReference vr[], size_t count, type value[]
#else
#define NAME(name) fmi3##name
#define OK         fmi3OK
#define WRONG      fmi3Error
#define INSTANCE   fmi3Instance
#define STATUS     fmi3Status
#define VALUES(type) \
    fmi3Instance c, const fmi3ValueReference vr[], size_t count, type value[], size_t size
#endif

static Ball *make(const char *token, bool is_cs)
{
    Ball *b = calloc(1, sizeof *b);
    start(b);
    b->is_cs = is_cs;
#ifdef ANY_TOKEN
    (void)token;
#else
    if (strcmp(token, TOKEN) != 0) return free(b), NULL;
#endif
    return b;
}

void NAME(FreeInstance)(INSTANCE c) { free(c); }
STATUS NAME(ExitInitializationMode)(INSTANCE c) { return (void)c, OK; }
STATUS NAME(Terminate)(INSTANCE c) { return (void)c, OK; }
STATUS NAME(EnterEventMode)(INSTANCE c) { return ((Ball *)c)->is_stepping = false, OK; }
STATUS NAME(EnterContinuousTimeMode)(INSTANCE c) { return (void)c, OK; }
STATUS NAME(Reset)(INSTANCE c) { return start(c), OK; }
STATUS NAME(SetTime)(INSTANCE c, double t) { return ((Ball *)c)->t = t, OK; }

#define GET(Type, c_type, VALUE)                    \
    STATUS NAME(Get##Type)(VALUES(c_type))          \
    {                                               \
        double one;                                 \
        VALUE;                                      \
        for (size_t k = 0; k < count; k++) {        \
            if (!get(c, vr[k], &one)) return WRONG; \
            value[k] = (c_type)one;                 \
        }                                           \
        return OK;                                  \
    }
#define SET(Type, c_type, VALUE)                                \
    STATUS NAME(Set##Type)(VALUES(const c_type))                \
    {                                                           \
        VALUE;                                                  \
        for (size_t k = 0; k < count; k++)                      \
            if (!set(c, vr[k], (double)value[k])) return WRONG; \
        return OK;                                              \
    }

STATUS NAME(SetContinuousStates)(INSTANCE c, const double x[], size_t count)
{
    Ball *b = c;
    if (count != 2) return WRONG;
    b->h = x[0], b->v = x[1];
#ifdef HANGS
    while (b->t > 0.3) {
    }
#endif
#ifdef CRASHES
    if (b->t > 0.3) abort();
#endif
#ifdef DIES
    if (b->t > 0.3) return say(b, 3, "the ball is gone"), WRONG;
#endif
    return OK;
}

STATUS NAME(GetContinuousStates)(INSTANCE c, double x[], size_t count)
{
    const Ball *b = c;
    if (count != 2) return WRONG;
    return x[0] = b->h, x[1] = b->v, OK;
}

STATUS NAME(GetNominalsOfContinuousStates)(INSTANCE c, double x[], size_t count)
{
    (void)c;
    return count == 2 ? (x[0] = x[1] = 1, OK) : WRONG;
}

STATUS NAME(GetEventIndicators)(INSTANCE c, double z[], size_t count)
{
    return count == 1 ? (z[0] = ((const Ball *)c)->h, OK) : WRONG;
}

// ---- states that are saved, and derivatives ------------------------------------------------

#ifndef FMI_3
#define STATE(before, after) fmi2##before##FMUstate##after
#define DESERIALIZE          fmi2DeSerializeFMUstate
#define BYTES                fmi2Byte
#else
#define STATE(before, after) fmi3##before##FMUState##after
#define DESERIALIZE          fmi3DeserializeFMUState
#define BYTES                fmi3Byte
#endif

STATUS STATE(Get, )(INSTANCE c, void **s)
{
    if (!*s) *s = malloc(sizeof(Ball));
    return *(Ball *)*s = *(const Ball *)c, OK;
}

STATUS STATE(Set, )(INSTANCE c, void *s)
{
    *(Ball *)c = *(const Ball *)s;
#ifdef LOSES_SPEED
    ((Ball *)c)->v = 7;
#endif
    return OK;
}

STATUS STATE(Free, )(INSTANCE c, void **s) { return (void)c, free(*s), *s = NULL, OK; }
STATUS STATE(Serialized, Size)(INSTANCE c, void *s, size_t *n)
{
    return (void)c, (void)s, *n = sizeof(Ball), OK;
}

STATUS STATE(Serialize, )(INSTANCE c, void *s, BYTES bytes[], size_t n)
{
    return (void)c, n == sizeof(Ball) ? (memcpy(bytes, s, n), OK) : WRONG;
}

STATUS DESERIALIZE(INSTANCE c, const BYTES bytes[], size_t n, void **s)
{
    (void)c;
    if (n != sizeof(Ball)) return WRONG;
    *s = malloc(n);
    memcpy(*s, bytes, n);
#ifdef LOSES_BYTES
    ((Ball *)*s)->h += 1;
#endif
    return OK;
}

static double slope(unsigned of, unsigned by)
{
    return of == by || (of == DER_H && by == V) || (of == DER_V && by == FORCE);
}

static STATUS slopes(const unsigned *of, size_t n, const unsigned *by, size_t m, const double *seed,
                     double *out)
{
#ifdef NO_SLOPES
    return WRONG;
#endif
    for (size_t i = 0; i < n; i++) {
        out[i] = 0;
        for (size_t k = 0; k < m; k++) out[i] += slope(of[i], by[k]) * (seed ? seed[k] : 1);
    }
    return OK;
}

// ---- each version --------------------------------------------------------------------------

#ifndef FMI_3

const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String l[])
{
    return (void)c, (void)on, (void)n, (void)l, OK;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String token,
                              fmi2String resources, const fmi2CallbackFunctions *callbacks,
                              fmi2Boolean visible, fmi2Boolean logging)
{
    (void)name, (void)visible;
#ifdef WANTS_FOLDER
    if (strncmp(resources, "file:///", 8) != 0 || access(resources + 7, X_OK) != 0 ||
        strcmp(strrchr(resources, '/'), "/resources") != 0)
        return NULL;
#endif
    Ball *b = make(token, type == fmi2CoSimulation);
    if (!b) {
        callbacks->logger(callbacks->componentEnvironment, "ball", fmi2Error, "ball",
                          "the token is %s", TOKEN);
        return NULL;
    }
    b->callbacks = callbacks;
    if (logging) say(b, fmi2OK, "there is a ball:");
    return b;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean ht, double tol, double t0,
                               fmi2Boolean hs, double stop)
{
    (void)ht, (void)tol, (void)hs, (void)stop;
    return ((Ball *)c)->t = t0, OK;
}
fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return (void)c, OK; }
GET(Real, double, (void)0)
GET(Integer, int, (void)0)
GET(Boolean, int, (void)0)
SET(Real, double, (void)0)
SET(Integer, int, (void)0)
SET(Boolean, int, (void)0)
fmi2Status fmi2GetString(VALUES(fmi2String))
{
    (void)vr;
    for (size_t k = 0; k < count; k++) value[k] = ((Ball *)c)->name;
    return OK;
}
fmi2Status fmi2SetString(VALUES(const fmi2String))
{
    Ball *b = c;
    (void)vr;
    if (count) snprintf(b->name, sizeof b->name, "%s", value[0]);
    return OK;
}

#define NONE(name, ...) \
    fmi2Status fmi2##name(__VA_ARGS__) { return fmi2Error; }
#pragma GCC diagnostic ignored "-Wunused-parameter"
fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference of[], size_t n,
                                        const fmi2ValueReference by[], size_t m,
                                        const double seed[], double out[])
{
    return slopes(of, n, by, m, seed, out);
}

NONE(SetRealInputDerivatives, fmi2Component c, const fmi2ValueReference v[], size_t n,
     const int o[], const double x[])
NONE(GetRealOutputDerivatives, fmi2Component c, const fmi2ValueReference v[], size_t n,
     const int o[], double x[])
NONE(CancelStep, fmi2Component c)
NONE(GetStatus, fmi2Component c, fmi2StatusKind k, fmi2Status *s)
NONE(GetRealStatus, fmi2Component c, fmi2StatusKind k, double *x)
NONE(GetIntegerStatus, fmi2Component c, fmi2StatusKind k, int *x)
NONE(GetBooleanStatus, fmi2Component c, fmi2StatusKind k, int *x)
#ifndef LACKS
NONE(GetStringStatus, fmi2Component c, fmi2StatusKind k, fmi2String *x)

fmi2Status fmi2GetDerivatives(fmi2Component c, double r[], size_t count)
{
    const Ball *b = c;
    return count == 2 ? (r[0] = b->v, r[1] = rate(b), OK) : WRONG;
}
#endif

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    Ball *b = c;
    *info = (fmi2EventInfo){0};
    info->valuesOfContinuousStatesChanged = happen(b);
    info->nextEventTimeDefined = 1, info->nextEventTime = b->next_tick;
    return OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean b, fmi2Boolean *enters,
                                       fmi2Boolean *ends)
{
    ((Ball *)c)->steps++;
    return *enters = 0, *ends = 0, OK;
}

fmi2Status fmi2DoStep(fmi2Component c, double t, double h, fmi2Boolean b)
{
    step(c, t + h, false);
    return OK;
}

#else

#pragma GCC diagnostic ignored "-Wunused-parameter"
const char *fmi3GetVersion(void) { return "3.0"; }
fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String l[])
{
    return OK;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                          fmi3Boolean visible, fmi3Boolean logging, void *owner,
                                          fmi3LogMessageCallback log)
{
#ifdef WANTS_FOLDER
    if (resources) return NULL;
#endif
    Ball *b = make(token, false);
    if (b && logging) b->log = log, b->owner = owner; // else it tells nothing
    if (b) say(b, fmi3OK, "there is a ball:");
    return b;
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                         fmi3Boolean visible, fmi3Boolean logging,
                                         fmi3Boolean event_mode, fmi3Boolean early,
                                         const fmi3ValueReference vr[], size_t count, void *owner,
                                         fmi3LogMessageCallback log,
                                         fmi3IntermediateUpdateCallback update)
{
    Ball *b = make(token, true);
    if (b) b->uses_events = event_mode && early;
    if (b && logging) b->log = log, b->owner = owner;
    return b;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, bool ht, double tol, double t0, bool hs,
                                       double stop)
{
    return ((Ball *)c)->t = t0, OK;
}

GET(Float64, double, (void)size)
SET(Float64, double, (void)size)
GET(Int32, int32_t, (void)size)
#define NONE(name, ...) \
    fmi3Status fmi3##name(__VA_ARGS__) { return fmi3Error; }
#define TYPE_OF(type)                                                                              \
    NONE(Get##type, fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3##type v[],       \
         size_t m)                                                                                 \
    NONE(Set##type, fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3##type v[], \
         size_t m)
TYPE_OF(Float32)
TYPE_OF(Int8)
TYPE_OF(UInt8)
TYPE_OF(Int16)
TYPE_OF(UInt16)
TYPE_OF(UInt32)
TYPE_OF(Int64)
TYPE_OF(UInt64)
TYPE_OF(Boolean)
NONE(SetInt32, fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Int32 v[],
     size_t m)
fmi3Status fmi3GetString(VALUES(fmi3String))
{
    for (size_t k = 0; k < count; k++) value[k] = ((Ball *)c)->name;
    return OK;
}
fmi3Status fmi3SetString(VALUES(const fmi3String))
{
    Ball *b = c;
    if (count) snprintf(b->name, sizeof b->name, "%s", value[0]);
    return OK;
}
#define VRS const fmi3ValueReference vr[], size_t n
NONE(GetBinary, fmi3Instance c, VRS, size_t s[], fmi3Binary v[], size_t m)
NONE(SetBinary, fmi3Instance c, VRS, const size_t s[], const fmi3Binary v[], size_t m)
NONE(GetClock, fmi3Instance c, VRS, fmi3Clock v[])
NONE(SetClock, fmi3Instance c, VRS, const fmi3Clock v[])
NONE(GetNumberOfVariableDependencies, fmi3Instance c, fmi3ValueReference v, size_t *n)
NONE(GetVariableDependencies, fmi3Instance c, fmi3ValueReference v, size_t a[],
     fmi3ValueReference i[], size_t b[], fmi3DependencyKind k[], size_t n)
fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, VRS, const fmi3ValueReference by[],
                                        size_t m, const double seed[], size_t i, double out[],
                                        size_t j)
{
    return slopes(vr, n, by, m, seed, out);
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, VRS, const fmi3ValueReference by[], size_t m,
                                    const double seed[], size_t i, double out[], size_t j)
{
    for (size_t k = 0; k < m; k++) {
        out[k] = 0;
        for (size_t of = 0; of < n; of++) out[k] += slope(vr[of], by[k]) * seed[of];
#ifdef BAD_SLOPES
        out[k] = -out[k];
#endif
    }
    return OK;
}

NONE(EnterConfigurationMode, fmi3Instance c)
NONE(ExitConfigurationMode, fmi3Instance c)
NONE(GetIntervalDecimal, fmi3Instance c, VRS, double v[], fmi3IntervalQualifier q[])
NONE(GetIntervalFraction, fmi3Instance c, VRS, uint64_t a[], uint64_t b[],
     fmi3IntervalQualifier q[])
NONE(GetShiftDecimal, fmi3Instance c, VRS, double v[])
NONE(GetShiftFraction, fmi3Instance c, VRS, uint64_t a[], uint64_t b[])
NONE(SetIntervalDecimal, fmi3Instance c, VRS, const double v[])
NONE(SetIntervalFraction, fmi3Instance c, VRS, const uint64_t a[], const uint64_t b[])
NONE(SetShiftDecimal, fmi3Instance c, VRS, const double v[])
NONE(SetShiftFraction, fmi3Instance c, VRS, const uint64_t a[], const uint64_t b[])
NONE(EvaluateDiscreteStates, fmi3Instance c)
NONE(GetOutputDerivatives, fmi3Instance c, VRS, const fmi3Int32 o[], double v[], size_t m)
fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *n) { return *n = 1, OK; }
fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *n) { return *n = 2, OK; }
fmi3Status fmi3EnterStepMode(fmi3Instance c) { return ((Ball *)c)->is_stepping = true, OK; }

#ifndef LACKS
fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, double r[], size_t count)
{
    const Ball *b = c;
    return count == 2 ? (r[0] = b->v, r[1] = rate(b), OK) : WRONG;
}
#endif

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, bool *again, bool *ends, bool *nominals,
                                    bool *states, bool *has, double *next)
{
    Ball *b = c;
    *again = *ends = *nominals = false;
    *states = happen(b);
    *has = !b->is_cs, *next = b->next_tick;
    return OK;
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, bool b, bool *enters, bool *ends)
{
    ((Ball *)c)->steps++;
    return *enters = *ends = false, OK;
}

fmi3Status fmi3DoStep(fmi3Instance c, double t, double h, bool back, bool *event, bool *ends,
                      bool *early, double *last)
{
    Ball *b = c;
    *ends = false;
    *event = *early = step(b, t + h, b->uses_events);
#ifdef STAYS
    return *last = t, OK;
#endif
    return *last = b->t, OK;
}

#endif
