// SPDX-License-Identifier: Apache-2.0
// FMUs that are exported, loaded and called, one way for both versions.
#ifndef TR_TESTS_FMU_CALLS_H
#define TR_TESTS_FMU_CALLS_H

#include "folder.h"
#include "models.h"

#include "base/zip.h"
#include "fmu/fmi.h"

#include <dlfcn.h>
#include <sys/stat.h>

typedef struct Unit {
    int version;
    void *library;
    Fmi2 two;
    Fmi3 three;
    char *description, *token;
    const char *resources; // as instances are told; NULL: there are none
    void *c;               // the instance
    double next;           // its next time event; HUGE_VAL: it knows none
    bool is_quiet;         // instances are not asked for messages
} Unit;

// ---- making and loading --------------------------------------------------------------------

static inline void export_fmu(const tr_system *system, const tr_export_options *how,
                              const char *path)
{
    tr_error err = {0};
    tr_export_options o = how ? *how : tr_export_defaults();
    o.language = "fmu", o.folder = path;
    if (!o.name) o.name = "m";
    if (!tr_export(system, &o, &err)) fail_msg("%s", err.text);
}

// The text of a file in the archive, to be freed; NULL where it has none of this name
static inline char *text_in_fmu(const char *path, const char *name, size_t *length)
{
    tr_error err = {0};
    size_t size;
    Zip zip;
    Arena arena = {0};
    char *bytes = tr_file_read(path, 1u << 30, &size, &err);
    assert_non_null(bytes);
    if (!tr_zip_open(&zip, bytes, size, &arena, &err)) fail_msg("%s", err.text);
    const ZipItem *item = tr_zip_find(&zip, name);
    char *text = item ? tr_zip_read(&zip, item, &err) : NULL;
    if (item && length) *length = item->length;
    free(bytes);
    tr_arena_free(&arena);
    return text;
}

// The value of an attribute behind a place of the description, to be freed
static inline char *attribute_at(const char *at, const char *name)
{
    char start[60];
    snprintf(start, sizeof start, " %s=\"", name);
    const char *from = strstr(at, start);
    assert_non_null(from);
    from += strlen(start);
    return strndup(from, (size_t)(strchr(from, '"') - from));
}

static inline void take_functions(Unit *unit)
{
    void **to = (void **)(unit->version == 3 ? (void *)&unit->three : (void *)&unit->two);
    const int count = unit->version == 3 ? (int)FMI3_FUNCTIONS : (int)FMI2_FUNCTIONS;
    for (int k = 0; k < count; k++) {
        const char *name = (unit->version == 3 ? tr_fmi3_functions : tr_fmi2_functions)[k].name;
        to[k] = dlsym(unit->library, name);
        if (!to[k]) fail_msg("there is no %s", name);
    }
}

static inline Unit load_fmu(const char *path, int version)
{
    Unit unit = {.version = version};
    size_t length = 0;
    char *library = text_in_fmu(
        path, version == 3 ? "binaries/x86_64-linux/m.so" : "binaries/linux64/m.so", &length);
    assert_non_null(library);
    static int count; // no two libraries have one name
    char name[40];
    snprintf(name, sizeof name, "m%d.so", count++);
    const char *file = in_folder(name);
    write_bytes(file, library, length);
    free(library);
    unit.library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!unit.library) fail_msg("%s", dlerror());
    unit.description = text_in_fmu(path, "modelDescription.xml", NULL);
    unit.token = attribute_at(unit.description, version == 3 ? "instantiationToken" : "guid");
    take_functions(&unit);
    return unit;
}

static inline void unload_fmu(Unit *unit)
{
    dlclose(unit->library);
    free(unit->description);
    free(unit->token);
}

// ---- calls ---------------------------------------------------------------------------------

#define CALL(unit, function2, function3, ...)                                    \
    ((unit)->version == 3 ? (int)(unit)->three.function3((unit)->c, __VA_ARGS__) \
                          : (int)(unit)->two.function2((unit)->c, __VA_ARGS__))
#define CALL_PLAIN(unit, function)                                 \
    ((unit)->version == 3 ? (int)(unit)->three.function((unit)->c) \
                          : (int)(unit)->two.function((unit)->c))
#define GOOD(call) assert_int_equal(call, 0)

static char last_words[400];

static inline void log_two(void *environment, const char *name, fmi2Status status,
                           const char *category, const char *message, ...)
{
    (void)environment, (void)name, (void)status, (void)category;
    va_list arguments;
    va_start(arguments, message);
    vsnprintf(last_words, sizeof last_words, message, arguments);
    va_end(arguments);
}

static inline void log_three(void *environment, fmi3Status status, const char *category,
                             const char *message)
{
    (void)environment, (void)status, (void)category;
    snprintf(last_words, sizeof last_words, "%s", message);
}

static inline void *instance_of(Unit *unit, bool simulates)
{
    static const fmi2CallbackFunctions callbacks = {.logger = log_two};
    if (unit->version == 2)
        return unit->two.Instantiate("one", simulates ? fmi2CoSimulation : fmi2ModelExchange,
                                     unit->token, unit->resources, &callbacks, 0, !unit->is_quiet);
    if (!simulates)
        return unit->three.InstantiateModelExchange("one", unit->token, unit->resources, false,
                                                    !unit->is_quiet, NULL, log_three);
    return unit->three.InstantiateCoSimulation("one", unit->token, unit->resources, false,
                                               !unit->is_quiet, false, false, NULL, 0, NULL,
                                               log_three, NULL);
}

static inline void instantiate(Unit *unit, bool simulates)
{
    unit->c = instance_of(unit, simulates);
    if (!unit->c) fail_msg("%s", last_words);
}

static inline void free_instance(Unit *unit)
{
    if (unit->version == 3)
        unit->three.FreeInstance(unit->c);
    else
        unit->two.FreeInstance(unit->c);
}

static inline void enter_initialization(Unit *unit, double start)
{
    if (unit->version == 3) {
        GOOD(unit->three.EnterInitializationMode(unit->c, false, 0, start, false, 0));
    } else {
        GOOD(unit->two.SetupExperiment(unit->c, 0, 0, start, 0, 0));
        GOOD(unit->two.EnterInitializationMode(unit->c));
    }
}

// Events until there are no more
static inline bool update(Unit *unit)
{
    bool again = true, changed = false;
    for (int k = 0; k < 10 && again; k++) {
        if (unit->version == 3) {
            bool terminate, nominals, states, defined;
            double next;
            GOOD(unit->three.UpdateDiscreteStates(unit->c, &again, &terminate, &nominals, &states,
                                                  &defined, &next));
            changed = changed || states;
            unit->next = defined ? next : HUGE_VAL;
        } else {
            fmi2EventInfo info;
            GOOD(unit->two.NewDiscreteStates(unit->c, &info));
            again = info.newDiscreteStatesNeeded;
            changed = changed || info.valuesOfContinuousStatesChanged;
            unit->next = info.nextEventTimeDefined ? info.nextEventTime : HUGE_VAL;
        }
    }
    assert_false(again);
    GOOD(CALL_PLAIN(unit, EnterContinuousTimeMode));
    return changed;
}

// From new to where it runs
static inline void begin(Unit *unit, bool simulates)
{
    instantiate(unit, simulates);
    enter_initialization(unit, 0);
    GOOD(CALL_PLAIN(unit, ExitInitializationMode));
    if (!simulates) update(unit);
}

// The value reference of a variable
static inline unsigned reference_of(const Unit *unit, const char *name)
{
    char start[300];
    snprintf(start, sizeof start, " name=\"%s\" ", name);
    const char *at = strstr(unit->description, start);
    if (!at) fail_msg("there is no variable '%s'", name);
    char *number = attribute_at(at, "valueReference");
    const unsigned vr = (unsigned)strtoul(number, NULL, 10);
    free(number);
    return vr;
}

static inline int try_get(Unit *unit, unsigned vr, double *value)
{
    return unit->version == 3 ? (int)unit->three.GetFloat64(unit->c, &vr, 1, value, 1)
                              : (int)unit->two.GetReal(unit->c, &vr, 1, value);
}

static inline int try_set(Unit *unit, unsigned vr, double value)
{
    return unit->version == 3 ? (int)unit->three.SetFloat64(unit->c, &vr, 1, &value, 1)
                              : (int)unit->two.SetReal(unit->c, &vr, 1, &value);
}

static inline double get(Unit *unit, const char *name)
{
    double value = (double)NAN;
    if (try_get(unit, reference_of(unit, name), &value)) fail_msg("%s: %s", name, last_words);
    return value;
}

static inline void set(Unit *unit, const char *name, double value)
{
    if (try_set(unit, reference_of(unit, name), value)) fail_msg("%s: %s", name, last_words);
}

static inline int step(Unit *unit, double t, double h)
{
    bool event, terminate, early;
    double reached;
    if (unit->version == 2) return (int)unit->two.DoStep(unit->c, t, h, 1);
    return (int)unit->three.DoStep(unit->c, t, h, true, &event, &terminate, &early, &reached);
}

// All is well, or what would end or disturb a run is told
static inline void assert_goes_on(int status)
{
    if (status != fmi2Warning) GOOD(status);
    if (status == fmi2Warning && !strstr(last_words, " by t = "))
        fail_msg("a warning of '%s'", last_words);
    last_words[0] = 0;
}

static inline int directional(Unit *unit, const unsigned *unknown, size_t unknowns,
                              const unsigned *known, size_t knowns, const double *seed, double *out)
{
    if (unit->version == 2)
        return (int)unit->two.GetDirectionalDerivative(unit->c, unknown, unknowns, known, knowns,
                                                       seed, out);
    return (int)unit->three.GetDirectionalDerivative(unit->c, unknown, unknowns, known, knowns,
                                                     seed, knowns, out, unknowns);
}

// How many times a text stands in the description
static inline size_t count_of(const Unit *unit, const char *text)
{
    size_t count = 0;
    for (const char *at = strstr(unit->description, text); at; at = strstr(at + 1, text)) count++;
    return count;
}

static inline size_t state_count(const Unit *unit) { return count_of(unit, " derivative=\""); }

static inline size_t indicator_count(const Unit *unit)
{
    if (unit->version == 3) return count_of(unit, "<EventIndicator ");
    char *count = attribute_at(unit->description, "numberOfEventIndicators");
    const size_t n = strtoul(count, NULL, 10);
    free(count);
    return n;
}

#endif
