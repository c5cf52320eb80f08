// SPDX-License-Identifier: Apache-2.0
// What FMUs that are exported do when they are called, at the right time and at the wrong one.
#include "fmu_solver.h"

#include <pthread.h>

// ---- derivatives ---------------------------------------------------------------------------

static size_t list_references(const Unit *unit, const char *element, unsigned *out)
{
    size_t count = 0;
    const char *at = strstr(unit->description, "<ModelStructure>");
    for (at = strstr(at, element); at; at = strstr(at + 1, element)) {
        char *number = attribute_at(at, "valueReference");
        out[count++] = (unsigned)strtoul(number, NULL, 10);
        free(number);
    }
    return count;
}

static size_t list_dependencies(const Unit *unit, const char *element, unsigned of, unsigned *out)
{
    char start[100];
    size_t count = 0;
    snprintf(start, sizeof start, "<%s valueReference=\"%u\"", element, of);
    const char *at = strstr(unit->description, start);
    assert_non_null(at);
    char *list = attribute_at(at, "dependencies"), *save = NULL;
    for (char *word = strtok_r(list, " ", &save); word; word = strtok_r(NULL, " ", &save))
        out[count++] = (unsigned)strtoul(word, NULL, 10);
    free(list);
    return count;
}

// Sets a state, the time or an input, in model exchange
static void move(Unit *unit, unsigned known, size_t n, double by)
{
    double x[400], value;
    GOOD(try_get(unit, known, &value));
    if (known == 0) {
        GOOD(CALL(unit, SetTime, SetTime, value + by));
    } else if (known <= n) {
        GOOD(CALL(unit, GetContinuousStates, GetContinuousStates, x, n));
        x[known - 1] += by;
        GOOD(CALL(unit, SetContinuousStates, SetContinuousStates, x, n));
    } else
        GOOD(try_set(unit, known, value + by));
}

static bool is_listed(const unsigned *list, size_t count, unsigned wanted)
{
    while (count > 0 && list[count - 1] != wanted) count--;
    return count;
}

// All derivatives by one known, beside differences
static void check_column(Unit *unit, unsigned known, size_t n, const unsigned *unknown,
                         const bool *depends, size_t unknowns, double adjoint[])
{
    double exact[1000], up[1000], down[1000];
    const double d = 1e-5, one = 1;
    GOOD(directional(unit, unknown, unknowns, &known, 1, &one, exact));
    move(unit, known, n, d);
    for (size_t k = 0; k < unknowns; k++) GOOD(try_get(unit, unknown[k], &up[k]));
    move(unit, known, n, -2 * d);
    for (size_t k = 0; k < unknowns; k++) GOOD(try_get(unit, unknown[k], &down[k]));
    move(unit, known, n, d);
    double sum = 0;
    for (size_t k = 0; k < unknowns; k++) {
        const double difference = (up[k] - down[k]) / (2 * d);
        const double size = 1 + fabs(exact[k]) + (fabs(up[k]) + fabs(down[k])) * 1e-5;
        if (!(fabs(exact[k] - difference) < 1e-4 * size))
            fail_msg("of %u by %u: %.12g, not %.12g", unknown[k], known, exact[k], difference);
        if (exact[k] != 0 && !depends[k]) fail_msg("%u depends on %u", unknown[k], known);
        sum += (double)(k % 7 + 1) * exact[k];
    }
    adjoint[0] = sum;
}

static void check_derivatives(Unit *unit)
{
    unsigned unknown[1000], known[1000], of[1000];
    double sums[1000], seeds[1000], adjoint[1000];
    static bool depends[1000][1000];
    const size_t n = state_count(unit);
    size_t unknowns = list_references(unit, "<ContinuousStateDerivative", unknown);
    assert_int_equal(unknowns, n);
    unknowns += list_references(unit, "<Output", unknown + unknowns);
    size_t knowns = 0;
    for (unsigned vr = 0; vr <= n; vr++) known[knowns++] = vr;
    const unsigned first = (unsigned)(2 * n + 1);
    const size_t inputs = count_of(unit, "causality=\"input\"");
    for (unsigned k = 0; k < inputs; k++) known[knowns++] = first + k;
    for (size_t k = 0; k < unknowns; k++) {
        const char *element = k < n ? "ContinuousStateDerivative" : "Output";
        const size_t count = list_dependencies(unit, element, unknown[k], of);
        for (size_t j = 0; j < knowns; j++) depends[j][k] = is_listed(of, count, known[j]);
        seeds[k] = (double)(k % 7 + 1);
    }
    for (size_t j = 0; j < knowns; j++)
        check_column(unit, known[j], n, unknown, depends[j], unknowns, &sums[j]);
    GOOD(unit->three.GetAdjointDerivative(unit->c, unknown, unknowns, known, knowns, seeds,
                                          unknowns, adjoint, knowns));
    for (size_t j = 0; j < knowns; j++)
        assert_close(adjoint[j] / (1 + fabs(sums[j])), sums[j] / (1 + fabs(sums[j])), 1e-9);
}

// While it runs, a little off the constraints, with what contacts do then
static void check_on_the_way(const char *name, const double *times, size_t count)
{
    Unit unit = unit_called(name, 3);
    Solver solver;
    begin(&unit, false);
    open_solver(&solver, &unit, CV_BDF, 1e-6);
    for (size_t k = 0; k < count; k++) {
        go_to(&solver, times[k]);
        check_derivatives(&unit);
    }
    close_solver(&solver);
    free_instance(&unit);
    unload_fmu(&unit);
}

static void test_derivatives(void **state)
{
    (void)state;
    static const char *const names[] = {"bicycle", "four_bar", "cart_pole", "tyre_on_bump",
                                        "knee_stops"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        check_on_the_way(names[k], (const double[]){0.1}, 1);
    check_on_the_way("hopping_wheel", (const double[]){0.03, 0.1, 0.3}, 3); // rolls, slips, flies
    check_on_the_way("stick_slip", (const double[]){0.2, 1}, 2);
}

// ---- models of some words -------------------------------------------------------------------

static const char pendulum[] =
    "trundle: 1\n"
    "name: 'a <pendulum> & \"more\"'\n"
    "parameters: {l: {value: 0.5, min: 0.1, max: 2, unit: m, doc: 'a < b & \"c\"'},\n"
    "  m: 1.5, start: 0.3, k: 1}\n"
    "inputs: {torque: {value: 0, min: -3, max: 3}, push: sin(t)}\n"
    "bodies:\n"
    "  rod:\n"
    "    joint: {type: revolute, axis: '0, 1, 0', coordinate: a}\n"
    "    mass: m\n"
    "    com: 0, 0, -l\n"
    "roles: {a: {torque: k*torque + push}}\n"
    "initial: {a: start}\n";

// A crane whose trolley goes as `drive` says
#define CRANE(inputs)                                                                          \
    "trundle: 1\n"                                                                             \
    "inputs: {" inputs "}\n"                                                                   \
    "bodies:\n"                                                                                \
    "  trolley: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x}, mass: 5}\n"         \
    "  load: {parent: trolley, joint: {type: revolute, axis: '0, 1, 0', coordinate: swing},\n" \
    "    mass: 3, com: '0, 0, -0.8'}\n"                                                        \
    "roles: {x: {motion: drive}}\n"                                                            \
    "initial: {swing: 0.2}\n"

// A four-bar linkage whose crank is turned from outside
static const char driven_bars[] =
    "trundle: 1\n"
    "parameters: {a: 0.4, b: 0.9}\n"
    "inputs: {angle: {value: -0.6, rate: speed}, speed: {value: 0.5, rate: more}, more: 0.3}\n"
    "bodies:\n"
    "  crank: {joint: {type: revolute, axis: '0, 0, 1', coordinate: th1}, mass: 0.6}\n"
    "  coupler: {parent: crank, joint: {type: revolute, axis: '0, 0, 1', at: 'a, 0, 0',\n"
    "    coordinate: th2}, mass: 1.1, com: 'b/2, 0, 0', inertia: {zz: 0.07}}\n"
    "  rocker: {joint: {type: revolute, axis: '0, 0, 1', at: '1.1, 0, 0', coordinate: th3},\n"
    "    mass: 0.8, com: '0.35, 0, 0', inertia: {zz: 0.03}}\n"
    "loops: {closing: {kind: point, body: coupler, at: 'b, 0, 0', against: rocker, to: '0.7, 0, "
    "0'}}\n"
    "roles: {th1: {motion: angle}}\n"
    "guess: {th2: 1.8, th3: 2.1}\n";

// ---- derivatives of the start --------------------------------------------------------------

// What unknowns are where one known is off
static void get_beside(const Unit *of, unsigned known, double by, const unsigned *unknown,
                       size_t unknowns, double *out)
{
    Unit unit = *of;
    double value;
    instantiate(&unit, false);
    enter_initialization(&unit, 0);
    GOOD(try_get(&unit, known, &value));
    if (by != 0) GOOD(try_set(&unit, known, value + by));
    for (size_t k = 0; k < unknowns; k++) GOOD(try_get(&unit, unknown[k], &out[k]));
    free_instance(&unit);
}

static double check_start_column(Unit *unit, unsigned known, const unsigned *unknown,
                                 size_t unknowns, double *sum)
{
    double exact[1000], up[1000], down[1000], value, most = 0;
    const double one = 1;
    GOOD(try_get(unit, known, &value));
    const double d = 1e-5 * fmax(fabs(value), 0.1);
    GOOD(directional(unit, unknown, unknowns, &known, 1, &one, exact));
    get_beside(unit, known, d, unknown, unknowns, up);
    get_beside(unit, known, -d, unknown, unknowns, down);
    *sum = 0;
    for (size_t k = 0; k < unknowns; k++) {
        const double difference = (up[k] - down[k]) / (2 * d);
        const double size = 1 + fabs(exact[k]) + (fabs(up[k]) + fabs(down[k])) * 1e-4;
        if (!(fabs(exact[k] - difference) < 1e-4 * size))
            fail_msg("at the start, of %u by %u: %.12g, not %.12g", unknown[k], known, exact[k],
                     difference);
        most = fmax(most, fabs(exact[k]));
        *sum += (double)(k % 7 + 1) * exact[k];
    }
    return most;
}

// While the start is sought it moves with parameters and inputs, and what follows from it, too:
// beside instances where these are a little off.
static void check_start_slopes(Unit *unit, size_t least)
{
    unsigned unknown[1000], known[100];
    double sums[100], seeds[1000], adjoint[100], first[1000], last[1000];
    const size_t n = state_count(unit), inputs = count_of(unit, "causality=\"input\""),
                 knowns = inputs + count_of(unit, "causality=\"parameter\"");
    size_t unknowns = 0, moved = 0;
    for (unsigned vr = 1; vr <= 2 * n; vr++) unknown[unknowns++] = vr; // states and their rates
    if (unit->version == 3) unknowns += list_references(unit, "<Output", unknown + unknowns);
    instantiate(unit, false);
    enter_initialization(unit, 0);
    for (size_t k = 0; k < unknowns; k++) {
        GOOD(try_get(unit, unknown[k], &first[k]));
        seeds[k] = (double)(k % 7 + 1);
    }
    for (size_t j = 0; j < knowns; j++) {
        known[j] = (unsigned)(2 * n + 1 + j);
        moved += check_start_column(unit, known[j], unknown, unknowns, &sums[j]) > 0;
    }
    if (moved < least) fail_msg("the start moves with %zu of %zu knowns", moved, knowns);
    for (size_t k = 0; k < unknowns; k++) { // nothing of it is left
        GOOD(try_get(unit, unknown[k], &last[k]));
        assert_true(same_bits(first[k], last[k]));
    }
    if (unit->version == 3)
        GOOD(unit->three.GetAdjointDerivative(unit->c, unknown, unknowns, known, knowns, seeds,
                                              unknowns, adjoint, knowns));
    for (size_t j = 0; j < knowns && unit->version == 3; j++)
        assert_close(adjoint[j] / (1 + fabs(sums[j])), sums[j] / (1 + fabs(sums[j])), 1e-9);
    free_instance(unit);
    unload_fmu(unit);
}

static void test_start_slopes(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        static const char *const names[] = {"four_bar", "bicycle", "hopping_wheel"};
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            Unit unit = unit_called(names[k], version);
            check_start_slopes(&unit, 3);
        }
        const char *const texts[] = {pendulum, driven_bars};
        for (size_t k = 0; k < 2; k++) {
            tr_system *system = system_from(texts[k]);
            Unit unit = unit_of(system, version);
            check_start_slopes(&unit, 2);
            tr_system_free(system);
        }
    }
}

// Beside this start there is one for each length; where a rod is too long there is none, which is
// no reason not to say what was set.
static void test_no_start(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        Unit unit = unit_called("four_bar", version);
        const unsigned state_of = reference_of(&unit, "th1");
        double value, there;
        instantiate(&unit, true);
        enter_initialization(&unit, 0);
        const double a = get(&unit, "a"), b = get(&unit, "b"), first = get(&unit, "th1");
        set(&unit, "a", 100);
        assert_int_not_equal(try_get(&unit, state_of, &value), 0);
        assert_true(same_bits(get(&unit, "a"), 100));
        assert_true(same_bits(get(&unit, "b"), b));
        assert_true(same_bits(get(&unit, "time"), 0));
        assert_int_not_equal(CALL_PLAIN(&unit, ExitInitializationMode), 0);
        set(&unit, "a", a);
        there = get(&unit, "th1");
        assert_true(same_bits(there, first));
        GOOD(CALL_PLAIN(&unit, ExitInitializationMode));
        free_instance(&unit);
        unload_fmu(&unit);
    }
}

// No time is beyond the end that was told.
static void test_stop_time(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        Unit unit = unit_called("double_pendulum", version);
        instantiate(&unit, false);
        if (version == 3) {
            GOOD(unit.three.EnterInitializationMode(unit.c, false, 0, 0, true, 0.3));
        } else {
            GOOD(unit.two.SetupExperiment(unit.c, 0, 0, 0, 1, 0.3));
            GOOD(unit.two.EnterInitializationMode(unit.c));
        }
        GOOD(CALL_PLAIN(&unit, ExitInitializationMode));
        update(&unit);
        GOOD(CALL(&unit, SetTime, SetTime, 0.1));
        GOOD(CALL(&unit, SetTime, SetTime, 0.1 + 0.1 + 0.1)); // a little beyond, by rounding
        GOOD(CALL(&unit, SetTime, SetTime, 0.2));
        assert_int_equal(CALL(&unit, SetTime, SetTime, 0.31), fmi2Error);
        assert_int_equal(CALL(&unit, SetTime, SetTime, (double)NAN), fmi2Error);
        assert_true(same_bits(get(&unit, "time"), 0.2));
        free_instance(&unit);
        unload_fmu(&unit);
    }
}

// ---- saved states --------------------------------------------------------------------------

static void check_saved(int version)
{
    Unit unit = unit_called("bicycle", version);
    const unsigned vr = reference_of(&unit, "steer");
    void *saved = NULL, *read = NULL;
    size_t size;
    double there, again;
    begin(&unit, true);
    for (int k = 0; k < 20; k++) GOOD(step(&unit, k * 0.01, 0.01));
    GOOD(CALL(&unit, GetFMUstate, GetFMUState, &saved));
    GOOD(CALL(&unit, SerializedFMUstateSize, SerializedFMUStateSize, saved, &size));
    void *bytes = malloc(size);
    GOOD(version == 3 ? (int)unit.three.SerializeFMUState(unit.c, saved, bytes, size)
                      : (int)unit.two.SerializeFMUstate(unit.c, saved, bytes, size));
    for (int k = 20; k < 40; k++) GOOD(step(&unit, k * 0.01, 0.01));
    GOOD(try_get(&unit, vr, &there));
    free_instance(&unit);
    begin(&unit, true); // another instance goes on from there
    GOOD(version == 3 ? (int)unit.three.DeserializeFMUState(unit.c, bytes, size, &read)
                      : (int)unit.two.DeSerializeFMUstate(unit.c, bytes, size, &read));
    GOOD(CALL(&unit, SetFMUstate, SetFMUState, read));
    for (int k = 20; k < 40; k++) GOOD(step(&unit, k * 0.01, 0.01));
    GOOD(try_get(&unit, vr, &again));
    assert_true(same_bits(there, again));
    ((char *)bytes)[0] ^= 1;
    void *none = NULL;
    assert_int_not_equal(version == 3
                             ? (int)unit.three.DeserializeFMUState(unit.c, bytes, size, &none)
                             : (int)unit.two.DeSerializeFMUstate(unit.c, bytes, size, &none),
                         0);
    GOOD(CALL(&unit, FreeFMUstate, FreeFMUState, &saved));
    GOOD(CALL(&unit, FreeFMUstate, FreeFMUState, &read));
    free(bytes);
    free_instance(&unit);
    unload_fmu(&unit);
}

static void test_saved_states(void **state)
{
    (void)state;
    check_saved(2);
    check_saved(3);
}

// ---- once more -----------------------------------------------------------------------------

static double ride_of_wheel(Unit *unit)
{
    enter_initialization(unit, 0);
    GOOD(CALL_PLAIN(unit, ExitInitializationMode));
    for (int k = 0; k < 30; k++) GOOD(step(unit, k * 0.02, 0.02));
    return get(unit, "x");
}

// After a reset all is as it was at first: parameters, contacts, the grid of steps; also where a
// step failed before.
static void test_reset(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        Unit unit = unit_called("hopping_wheel", version);
        instantiate(&unit, true);
        const double once = ride_of_wheel(&unit);
        GOOD(CALL_PLAIN(&unit, Terminate));
        assert_int_not_equal(step(&unit, 0.6, 0.02), 0);
        GOOD(CALL_PLAIN(&unit, Reset));
        set(&unit, "m_weight", 3);
        set(&unit, "x", 1);
        const double other = ride_of_wheel(&unit);
        assert_false(same_bits(other, once));
        assert_int_not_equal(step(&unit, 7, 0.02), 0); // begins elsewhere, and so fails
        GOOD(CALL_PLAIN(&unit, Reset));
        assert_true(same_bits(ride_of_wheel(&unit), once));
        free_instance(&unit);
        unload_fmu(&unit);
    }
}

// ---- threads -------------------------------------------------------------------------------

static void *ride(void *owner)
{
    Unit *unit = owner;
    for (int k = 0; k < 100; k++)
        if (step(unit, k * 0.01, 0.01)) return NULL;
    return unit;
}

static void test_threads(void **state)
{
    (void)state;
    Unit one = unit_called("bicycle", 3), two = one;
    begin(&one, true);
    begin(&two, true);
    pthread_t thread;
    void *done = NULL;
    assert_int_equal(pthread_create(&thread, NULL, ride, &one), 0);
    assert_non_null(ride(&two));
    pthread_join(thread, &done);
    assert_non_null(done);
    assert_true(same_bits(get(&one, "steer"), get(&two, "steer")));
    free_instance(&one);
    free_instance(&two);
    unload_fmu(&one);
}

// ---- parameters, inputs, guesses -----------------------------------------------------------

static void test_values(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    for (int version = 2; version <= 3; version++) {
        Unit unit = unit_of(system, version);
        check_description(&unit);
        assert_non_null(strstr(unit.description, "a &lt; b &amp; &quot;c&quot;"));
        assert_non_null(strstr(unit.description, "variableNamingConvention=\"structured\""));
        instantiate(&unit, true);
        set(&unit, "start", 0.7); // the start follows
        set(&unit, "torque", 2);
        assert_int_not_equal(try_set(&unit, reference_of(&unit, "l"), 3), 0); // out of range
        assert_int_not_equal(try_set(&unit, reference_of(&unit, "torque"), 3.1), 0);
        GOOD(try_set(&unit, reference_of(&unit, "torque"), 3));
        set(&unit, "torque", 2);
        enter_initialization(&unit, 0);
        assert_true(same_bits(get(&unit, "a"), 0.7));
        set(&unit, "a", 0.9); // a guess wins
        assert_true(same_bits(get(&unit, "a"), 0.9));
        GOOD(CALL_PLAIN(&unit, ExitInitializationMode));
        assert_true(same_bits(get(&unit, "push"), 0));
        GOOD(step(&unit, 0, 0.5));
        assert_close(get(&unit, "push"), sin(0.5), 1e-12);
        set(&unit, "push", 1); // no formula any more
        set(&unit, "m", 2);
        assert_int_not_equal(try_set(&unit, reference_of(&unit, "start"), 1), 0); // fixed
        assert_int_not_equal(try_set(&unit, reference_of(&unit, "a"), 1), 0);
        GOOD(step(&unit, 0.5, 0.5));
        assert_true(same_bits(get(&unit, "push"), 1));
        assert_true(same_bits(get(&unit, "time"), 1));
        free_instance(&unit);
        unload_fmu(&unit);
    }
    tr_system_free(system);
}

// An input that follows its formula may be changed besides, as whoever linearises does.
static void test_formula_slopes(void **state)
{
    (void)state;
    tr_system *system = system_from(pendulum);
    for (int version = 2; version <= 3; version++) {
        Unit unit = unit_of(system, version);
        begin(&unit, true);
        GOOD(step(&unit, 0, 0.4));
        const unsigned unknown[] = {reference_of(&unit, "der(a_rate)"), reference_of(&unit, "a")},
                       known[] = {reference_of(&unit, "push"), 0, reference_of(&unit, "a")};
        double by_push[2], by_time[2], by_all[2], by_number[2];
        const double one = 1, seeds[] = {3, 2, 0.5};
        GOOD(directional(&unit, unknown, 2, known, 1, &one, by_push));
        GOOD(directional(&unit, unknown, 2, known + 1, 1, &one, by_time));
        GOOD(directional(&unit, unknown, 2, known, 3, seeds, by_all));
        assert_close(by_push[0], 1 / (1.5 * 0.25), 1e-12);
        assert_close(by_time[0], cos(0.4) * by_push[0], 1e-12);
        set(&unit, "push", sin(0.4)); // no formula any more
        GOOD(directional(&unit, unknown, 2, known, 3, seeds, by_number));
        assert_close(by_all[0], by_number[0] + 2 * by_time[0], 1e-12);
        assert_close(by_all[1], 0.5, 0);
        free_instance(&unit);
        unload_fmu(&unit);
    }
    tr_system_free(system);
}

// ---- motions from outside ------------------------------------------------------------------

// Told from outside with its rate and acceleration, it is the same motion as by a formula.
static void test_motion(void **state)
{
    (void)state;
    static const char *const same[] = {"x", "x_rate", "tau.x", "der(swing)", "der(swing_rate)"};
    tr_system *formula = system_from(CRANE("drive: sin(2*t)"));
    tr_system *told = system_from(CRANE("drive: {value: 0, rate: speed}, speed: {value: 0, rate: "
                                        "acceleration}, acceleration: 0"));
    for (int version = 2; version <= 3; version++) {
        const double t = 0.3, x[] = {0.1, 0.7};
        Unit one = unit_of(formula, version), two = unit_of(told, version), *both[] = {&one, &two};
        for (int k = 0; k < 2; k++) {
            begin(both[k], false);
            GOOD(CALL(both[k], SetTime, SetTime, t));
            GOOD(CALL(both[k], SetContinuousStates, SetContinuousStates, x, 2));
        }
        set(&two, "drive", sin(2 * t));
        set(&two, "speed", 2 * cos(2 * t));
        set(&two, "acceleration", -4 * sin(2 * t));
        for (size_t k = 0; k < sizeof same / sizeof *same; k++)
            assert_close(get(&two, same[k]), get(&one, same[k]), 1e-12);
        const unsigned known = reference_of(&two, "acceleration"),
                       unknown = reference_of(&two, "der(swing_rate)");
        double slope, before = get(&two, "der(swing_rate)");
        GOOD(directional(&two, &unknown, 1, &known, 1, (double[]){1}, &slope));
        set(&two, "acceleration", 1 - 4 * sin(2 * t));
        assert_close(get(&two, "der(swing_rate)") - before, slope, 1e-12);
        for (int k = 0; k < 2; k++) free_instance(both[k]), unload_fmu(both[k]);
    }
    tr_system_free(formula), tr_system_free(told);
}

// ---- jumps ---------------------------------------------------------------------------------

// What jumps by formulas of t has the values behind the jump as soon as there is an event, without
// another word of the time.
static void test_jumps(void **state)
{
    (void)state;
    tr_system *system = system_from(
        "trundle: 1\n"
        "inputs: {u: '0.1*floor(2.5*t)'}\n"
        "bodies: {cart: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x}, mass: 2}}\n"
        "roles: {x: {torque: 'u + 3*floor(2.5*t)'}}\n"
        "outputs: {a: 'u + floor(2.5*t)'}\n");
    for (int version = 2; version <= 3; version++) {
        Unit unit = unit_of(system, version);
        begin(&unit, false);
        assert_close(unit.next, 0.4, 1e-15);
        GOOD(CALL(&unit, SetTime, SetTime, unit.next));
        for (int is_behind = 0; is_behind < 4; is_behind++) {
            const double jumped = is_behind > 0;
            assert_close(get(&unit, "a"), 1.1 * jumped, 1e-12);
            assert_close(get(&unit, "der(x_rate)"), 1.55 * jumped, 1e-12);
            if (is_behind == 0) GOOD(CALL_PLAIN(&unit, EnterEventMode));
            if (is_behind == 1) update(&unit);
            if (is_behind == 2) GOOD(CALL(&unit, SetTime, SetTime, 0.4));
        }
        free_instance(&unit);
        unload_fmu(&unit);
    }
    tr_system_free(system);
}

// ---- what ends a run -----------------------------------------------------------------------

// What holds `b` down would have to pull from 20 t = m g on.
#define LIFTED(more_inputs, more_bodies, contact, more_contacts, more_roles)                  \
    "trundle: 1\n"                                                                            \
    "inputs: {up: {value: 20*t, unit: N}" more_inputs "}\n"                                   \
    "bodies:\n"                                                                               \
    "  slider: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x}, mass: 1}\n"         \
    "  b: {parent: slider, joint: {type: prismatic, axis: '0, 0, 1', coordinate: z}, mass: "  \
    "1}\n" more_bodies "contacts:\n"                                                          \
    "  s: {kind: rolling, shape: ball, radius: 0.1, at: '0, 0, 0.1', body: b, longitudinal: " \
    "free, "                                                                                  \
    "lateral: free" contact "}\n" more_contacts "roles: {z: {torque: up}" more_roles "}\n"    \
    "initial: {d(x): 1}\n"

static void check_told(Unit *unit, double t, const char *words)
{
    last_words[0] = 0;
    assert_int_equal(step(unit, t, 0.01), fmi2Warning);
    assert_string_equal(last_words, words);
    last_words[0] = 0;
    GOOD(step(unit, t + 0.01, 0.01)); // once
    assert_string_equal(last_words, "");
}

// It is told when it comes, once, and again from a state before.
static void check_lifted(Unit *unit, const char *words)
{
    void *saved = NULL;
    for (int again = 0; again < 2; again++) {
        if (again)
            GOOD(CALL_PLAIN(unit, Reset));
        else
            instantiate(unit, true);
        enter_initialization(unit, 0);
        GOOD(CALL_PLAIN(unit, ExitInitializationMode));
        for (int k = 0; k < 49; k++) GOOD(step(unit, k * 0.01, 0.01));
        if (!saved) GOOD(CALL(unit, GetFMUstate, GetFMUState, &saved));
        check_told(unit, 0.49, words);
    }
    GOOD(CALL(unit, SetFMUstate, SetFMUState, saved));
    check_told(unit, 0.49, words);
    GOOD(CALL(unit, FreeFMUstate, FreeFMUState, &saved));
    free_instance(unit);
}

// By an importer that integrates: where it says that a step is complete
static void check_lifted_outside(Unit *unit, const char *words)
{
    begin(unit, false);
    for (int k = 1; k < 6; k++) {
        const double t = 0.1 * k + 0.05;
        fmi2Boolean two[2];
        bool three[2];
        last_words[0] = 0;
        GOOD(CALL(unit, SetTime, SetTime, t));
        const int status =
            unit->version == 3
                ? (int)unit->three.CompletedIntegratorStep(unit->c, true, three, three + 1)
                : (int)unit->two.CompletedIntegratorStep(unit->c, 1, two, two + 1);
        assert_int_equal(status, k == 5 ? fmi2Warning : fmi2OK);
        assert_int_equal(strncmp(last_words, words, k == 5 ? strcspn(words, "=") : 0), 0);
        assert_int_equal(last_words[0] != 0, k == 5);
    }
    free_instance(unit);
}

static void check_watched(const char *text, const char *form, bool has_indicators,
                          const char *words)
{
    tr_system *system = system_from(text);
    tr_export_options how = tr_export_defaults();
    how.form = form;
    for (how.fmi = 2; how.fmi <= 3; how.fmi++) {
        export_fmu(system, &how, in_folder("m.fmu"));
        Unit unit = load_fmu(in_folder("m.fmu"), how.fmi);
        assert_int_equal(indicator_count(&unit) > 0, has_indicators);
        check_lifted(&unit, words);
        check_lifted_outside(&unit, words);
        unload_fmu(&unit);
    }
    tr_system_free(system);
}

static void test_watched(void **state)
{
    (void)state;
    static const char ends[] = "'s' lifts off (see unilateral) by t = 0.491: a run would end there";
    check_watched(LIFTED("", "", "", "", ""), NULL, false, ends);
    check_watched(LIFTED("", "", ", unilateral: false", "", ""), NULL, false,
                  "the normal force of 's' turns negative: it would lift off by t = 0.491");
    check_watched(LIFTED("", "", ", unilateral: true", "", ""), "reduced", false,
                  "'s' lifts off by t = 0.491: but what contacts do stays as it was at the start");
    // beside one that may open, and does
    check_watched(
        LIFTED(", more: 30*t",
               "  c: {parent: slider, joint: {type: prismatic, axis: '0, 0, 1', coordinate: y}, "
               "mass: 1}\n",
               "",
               "  r: {kind: rolling, shape: ball, radius: 0.1, at: '0, 0, 0.1', body: c, "
               "longitudinal: free, lateral: free, unilateral: true}\n",
               ", y: {torque: more}"),
        NULL, true, ends);
}

// ---- references of nothing -----------------------------------------------------------------

// Before the start, while it is found, and afterwards
static void check_no_variable(Unit *unit, unsigned vr)
{
    const double one = 1;
    double value;
    instantiate(unit, true);
    for (int state = 0; state < 3; state++) {
        assert_int_not_equal(try_get(unit, vr, &value), 0);
        assert_int_not_equal(try_set(unit, vr, 0.5), 0);
        assert_int_not_equal(directional(unit, &vr, 1, &vr, 1, &one, &value), 0);
        if (state == 0) enter_initialization(unit, 0);
        if (state == 1) GOOD(CALL_PLAIN(unit, ExitInitializationMode));
    }
    assert_true(same_bits(get(unit, "upper"), 0.1)); // nothing was written
    free_instance(unit);
}

static void test_no_variables(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        Unit unit = unit_called("double_pendulum", version);
        const unsigned count = (unsigned)count_of(&unit, " causality=\"");
        const unsigned none[] = {count, 0x7fffffff, 0x80000000, 0xfffffff0, 0xfffffffe, 0xffffffff};
        for (size_t k = 0; k < sizeof none / sizeof *none; k++) check_no_variable(&unit, none[k]);
        unload_fmu(&unit);
    }
}

// ---- calls at the wrong time ---------------------------------------------------------------

static void test_wrong_calls(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        Unit unit = unit_called("double_pendulum", version);
        char *token = unit.token;
        unit.token = (char *)"another";
        assert_null(instance_of(&unit, true));
        unit.token = token;
        double x[20];
        instantiate(&unit, false);
        const size_t n = state_count(&unit);
        assert_int_not_equal(CALL(&unit, GetContinuousStates, GetContinuousStates, x, n), 0);
        assert_int_not_equal(CALL_PLAIN(&unit, ExitInitializationMode), 0);
        assert_int_not_equal(CALL_PLAIN(&unit, EnterContinuousTimeMode), 0);
        assert_int_not_equal(CALL_PLAIN(&unit, Terminate), 0);
        assert_int_not_equal(step(&unit, 0, 0.1), 0);
        enter_initialization(&unit, 0);
        assert_int_not_equal(CALL(&unit, SetTime, SetTime, 1.0), 0);
        GOOD(CALL_PLAIN(&unit, ExitInitializationMode));
        assert_int_not_equal(CALL(&unit, SetContinuousStates, SetContinuousStates, x, n), 0);
        update(&unit);
        GOOD(CALL(&unit, GetContinuousStates, GetContinuousStates, x, n));
        assert_int_not_equal(CALL(&unit, GetContinuousStates, GetContinuousStates, x, n + 1), 0);
        double value;
        assert_int_not_equal(try_get(&unit, 12345, &value), 0);
        GOOD(CALL_PLAIN(&unit, Terminate));
        assert_int_not_equal(CALL(&unit, SetTime, SetTime, 1.0), 0);
        GOOD(CALL_PLAIN(&unit, Reset));
        free_instance(&unit);
        begin(&unit, true);
        assert_int_not_equal(step(&unit, 1, 0.1), 0); // begins elsewhere
        assert_int_not_equal(step(&unit, 0, -1), 0);
        assert_int_not_equal(CALL(&unit, GetDerivatives, GetContinuousStateDerivatives, x, n), 0);
        free_instance(&unit);
        unload_fmu(&unit);
    }
}

// ---- what is given and told ----------------------------------------------------------------

static int choose_logs(Unit *unit, bool on, size_t count, const char *const names[])
{
    return unit->version == 3 ? (int)unit->three.SetDebugLogging(unit->c, on, count, names)
                              : (int)unit->two.SetDebugLogging(unit->c, on, count, names);
}

// Whether an error comes to the ear of whoever asked for an instance
static bool is_told(Unit *unit)
{
    double value;
    last_words[0] = 0;
    assert_int_not_equal(try_get(unit, 12345, &value), 0);
    return last_words[0];
}

// Without the flag 3.0 tells nothing, 2.0 what is wrong; both tell why there is no instance.
static void check_quiet(Unit *unit)
{
    char *token = unit->token;
    unit->is_quiet = true;
    begin(unit, true);
    assert_int_equal(is_told(unit), unit->version == 2);
    GOOD(choose_logs(unit, true, 0, NULL));
    assert_true(is_told(unit));
    free_instance(unit);
    unit->token = (char *)"another";
    last_words[0] = 0;
    assert_null(instance_of(unit, true));
    assert_true(last_words[0]);
    unit->token = token;
}

static void test_logs(void **state)
{
    (void)state;
    static const char *const warnings[] = {"logStatusWarning"}, *const unknown[] = {"logNothing"},
                             *const both[] = {"logStatusWarning", "logStatusError"};
    for (int version = 2; version <= 3; version++) {
        Unit unit = unit_called("double_pendulum", version);
        begin(&unit, true);
        assert_true(is_told(&unit));
        GOOD(choose_logs(&unit, false, 0, NULL));
        assert_false(is_told(&unit));
        GOOD(choose_logs(&unit, true, 1, warnings));
        assert_false(is_told(&unit));
        GOOD(choose_logs(&unit, true, 2, both));
        assert_true(is_told(&unit));
        GOOD(choose_logs(&unit, true, 0, NULL));
        assert_true(is_told(&unit));
        assert_int_not_equal(choose_logs(&unit, true, 1, unknown), 0);
        assert_int_not_equal(choose_logs(&unit, true, 1, NULL), 0);
        assert_int_equal(count_of(&unit, "<Category "), 3);
        free_instance(&unit);
        check_quiet(&unit);
        unload_fmu(&unit);
    }
}

// No pointer is followed that is none.
static void check_nothing_given(Unit *unit, size_t n)
{
    const unsigned vr = reference_of(unit, "time");
    const size_t z = indicator_count(unit);
    void *none = NULL;
    assert_int_not_equal(try_get(unit, vr, NULL), 0);
    assert_int_not_equal(CALL(unit, GetContinuousStates, GetContinuousStates, NULL, n), 0);
    assert_int_not_equal(CALL(unit, SetContinuousStates, SetContinuousStates, NULL, n), 0);
    assert_int_not_equal(CALL(unit, GetDerivatives, GetContinuousStateDerivatives, NULL, n), 0);
    assert_int_not_equal(CALL(unit, GetEventIndicators, GetEventIndicators, NULL, z), 0);
    assert_int_not_equal(
        CALL(unit, GetNominalsOfContinuousStates, GetNominalsOfContinuousStates, NULL, n), 0);
    assert_int_not_equal(directional(unit, &vr, 1, &vr, 1, NULL, NULL), 0);
    assert_int_not_equal(CALL(unit, SetFMUstate, SetFMUState, NULL), 0);
    assert_int_not_equal(CALL(unit, GetFMUstate, GetFMUState, NULL), 0);
    GOOD(CALL(unit, FreeFMUstate, FreeFMUState, NULL)); // as free does
    GOOD(CALL(unit, FreeFMUstate, FreeFMUState, &none));
}

static void test_nothing_given(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        Unit unit = unit_called("hopping_wheel", version);
        begin(&unit, false);
        check_nothing_given(&unit, state_count(&unit));
        void *saved = NULL, *c = unit.c; // and no state of one kind goes into the other
        GOOD(CALL(&unit, GetFMUstate, GetFMUState, &saved));
        begin(&unit, true);
        assert_int_not_equal(CALL(&unit, SetFMUstate, SetFMUState, saved), 0);
        GOOD(step(&unit, 0, 0.01));
        GOOD(CALL(&unit, FreeFMUstate, FreeFMUState, &saved));
        free_instance(&unit);
        unit.c = c;
        free_instance(&unit);
        unit.c = NULL;
        assert_int_not_equal(CALL_PLAIN(&unit, Terminate), 0);
        free_instance(&unit); // of nothing
        unload_fmu(&unit);
    }
}

// States that an event may set say so: what impacts and projections change, and no others.
static void test_reinit(void **state)
{
    (void)state;
    static const char *const names[] = {"hopping_wheel", "bicycle", "double_pendulum"};
    for (int k = 0; k < 6; k++) {
        Unit unit = unit_called(names[k / 2], 2 + k % 2);
        assert_int_equal(count_of(&unit, " reinit=\"true\""), k < 4 ? state_count(&unit) : 0);
        unload_fmu(&unit);
    }
    tr_system *wheel = system_called("hopping_wheel", NULL);
    tr_export_options how = tr_export_defaults();
    how.kind = "cs"; // where there are no events from outside
    export_fmu(wheel, &how, in_folder("m.fmu"));
    Unit unit = load_fmu(in_folder("m.fmu"), 3);
    assert_int_equal(count_of(&unit, " reinit="), 0);
    unload_fmu(&unit);
    tr_system_free(wheel);
}

// A controller against dry friction and stops: steps of the FMU are those of a run.
static void test_controlled_contacts(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(
        "trundle: 1\nname: pushed\nparameters: {k: 30}\ninputs: {F: 0}\n"
        "bodies: {cart: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: x, friction: 2,"
        " stiction: 3, limits: '-0.1, 0.1'}, mass: 1}}\n"
        "roles: {x: {torque: F}}\n"
        "sensors: {seen: {of: x, period: 0.05, delay: 1}}\n"
        "controllers: {c: {period: 0.05, states: {sum: 0}, update: {sum: sum + 0.4},"
        " outputs: {F: 'sum + if(sum > 6, -12, 0) - k*seen'}}}\n");
    tr_export_options how = tr_export_defaults();
    how.step = 1.0 / 1024;
    export_fmu(system, &how, in_folder("m.fmu"));
    Unit unit = load_fmu(in_folder("m.fmu"), 3);
    begin(&unit, true);
    tr_plan *plan = tr_plan_new(system, &err);
    tr_run_options o = tr_run_defaults(plan);
    o.method = "rk4", o.step = how.step, o.end = 2;
    tr_run *run = tr_run_new(plan, &o, &err);
    if (!run) fail_msg("%s", err.text);
    double moved = 0;
    for (int k = 0; k < 100; k++) {
        assert_int_equal(step(&unit, k / 64.0, 1 / 64.0), 0);
        if (!tr_run_advance(run, (k + 1) / 64.0, &err)) fail_msg("%s", err.text);
        const double x = get(&unit, "x"), wanted = tr_run_row(run)[1]; // behind t
        assert_close(x, wanted, 1e-9);
        moved = fmax(moved, fabs(x));
    }
    assert_close(moved, 0.1, 1e-9);
    tr_run_free(run);
    tr_plan_free(plan);
    free_instance(&unit);
    unload_fmu(&unit);
    tr_system_free(system);
}

// ---- archives ------------------------------------------------------------------------------

// Where nobody says a step, rk4 is stable with the fastest motion.
static void test_step(void **state)
{
    (void)state;
    tr_system *mast = system_called("flexible_mast", NULL);
    tr_export_options how = tr_export_defaults();
    for (int said = 0; said < 2; said++) {
        how.step = said ? 1e-3 : 0;
        export_fmu(mast, &how, in_folder("m.fmu"));
        Unit unit = load_fmu(in_folder("m.fmu"), 3);
        char *words = attribute_at(unit.description, "fixedInternalStepSize");
        const double inside = strtod(words, NULL);
        assert_true(said ? inside == 1e-3 : inside < 1e-3 && inside > 1e-5);
        free(words);
        begin(&unit, true);
        assert_int_equal(step(&unit, 0, 0.1) == 0, !said);
        free_instance(&unit);
        unload_fmu(&unit);
    }
    tr_system_free(mast);
}

static void test_archives(void **state)
{
    (void)state;
    tr_system *system = system_called("bicycle", NULL);
    tr_export_options how = tr_export_defaults();
    size_t one_size, two_size;
    tr_error err = {0};
    export_fmu(system, &how, in_folder("m.fmu"));
    char *one = tr_file_read(in_folder("m.fmu"), 1u << 30, &one_size, &err);
    char *full = text_in_fmu(in_folder("m.fmu"), "modelDescription.xml", NULL);
    char *cc = strdup(getenv("CC")), launched[200];
    snprintf(launched, sizeof launched, "env %s", cc); // by another program
    setenv("CC", launched, 1);
    export_fmu(system, &how, in_folder("m.fmu"));
    setenv("CC", cc, 1);
    free(cc);
    char *two = tr_file_read(in_folder("m.fmu"), 1u << 30, &two_size, &err);
    assert_int_equal(one_size, two_size); // the same bytes
    assert_memory_equal(one, two, one_size);
    assert_null(memmem(one, one_size, folder, strlen(folder)));
    how.sources_only = 1;
    export_fmu(system, &how, in_folder("m.fmu"));
    char *sources = text_in_fmu(in_folder("m.fmu"), "modelDescription.xml", NULL);
    assert_string_equal(full, sources); // with the same token
    assert_null(text_in_fmu(in_folder("m.fmu"), "binaries/x86_64-linux/m.so", NULL));
    how.kind = "ms";
    how.language = "fmu", how.folder = in_folder("m.fmu");
    assert_false(tr_export(system, &how, &err));
    assert_int_equal(err.status, TR_USAGE);
    free(one), free(two), free(full), free(sources);
    tr_system_free(system);
}

// ---- large tables --------------------------------------------------------------------------

enum { POINTS = 50000 };

static tr_system *system_with_table(void)
{
    static const char text[] =
        "trundle: 1\n"
        "tables: {v: {file: table.csv, x: t, value: v, degree: 1}}\n"
        "bodies: {b: {joint: {type: prismatic, axis: '1, 0, 0', coordinate: q}, mass: 1}}\n"
        "roles: {q: {torque: v(t)}}\n";
    FILE *file = fopen(in_folder("table.csv"), "w");
    fprintf(file, "t,v\n");
    for (int k = 0; k < POINTS; k++) fprintf(file, "%g,%d\n", k / 8.0, k % 7);
    fclose(file);
    write_text(in_folder("table.yaml"), text);
    tr_error err = {0};
    tr_model *model = tr_model_read(in_folder("table.yaml"), &err);
    tr_system *system = tr_derive(model, NULL, &err);
    if (!system) fail_msg("%s", err.text);
    tr_model_free(model);
    return system;
}

// The folder of resources as an importer tells it: a URI or a path
static const char *told_folder(int version, const char *host)
{
    static char text[700];
    char *at = text;
    if (version == 3) return snprintf(text, sizeof text, "%s/", folder), text;
    at += sprintf(at, "%s:%s", host[0] ? "file" : "FILE", host);
    for (const char *c = folder; *c; c++) // all may be written as a number
        at += *c == '_' ? sprintf(at, "%%5%c", at - text > 40 ? 'f' : 'F') : sprintf(at, "%c", *c);
    return text;
}

static void *make_one(void *owner) { return instance_of(owner, true); }

// Two threads that make the first instances: one of them has the tables for both.
static void check_together(Unit *unit)
{
    Unit other = *unit;
    pthread_t thread;
    void *made = NULL;
    assert_int_equal(pthread_create(&thread, NULL, make_one, &other), 0);
    unit->c = make_one(unit);
    pthread_join(thread, &made);
    assert_non_null(made);
    assert_non_null(unit->c);
    other.c = made;
    free_instance(&other);
    free_instance(unit);
}

// Tables above 1 MB are a file beside the code: the numbers are those of a run.
static void check_tables(const tr_system *system, int version)
{
    Unit unit = unit_of(system, version);
    size_t length = 0;
    char *bytes = text_in_fmu(in_folder("m.fmu"), "resources/tables.bin", &length);
    assert_non_null(bytes);
    assert_int_equal(length, (POINTS + 2 * (POINTS - 1)) * sizeof(double));
    assert_null(instance_of(&unit, true)); // nobody says where they are
    assert_non_null(strstr(last_words, "resources/tables.bin"));
    unit.resources = told_folder(version, "//");
    assert_null(instance_of(&unit, true)); // they are not there
    bytes[length / 2] ^= 1;
    write_bytes(in_folder("tables.bin"), bytes, length);
    assert_null(instance_of(&unit, true)); // others
    bytes[length / 2] ^= 1;
    write_bytes(in_folder("tables.bin"), bytes, length - 8);
    assert_null(instance_of(&unit, true)); // too few
    write_bytes(in_folder("tables.bin"), bytes, length);
    unit.resources = told_folder(version, version == 2 ? "//localhost" : "");
    check_together(&unit);
    unit.resources = told_folder(version, "");
    begin(&unit, true);
    Unit other = unit;
    other.resources = NULL; // the library has them now
    begin(&other, true);
    for (int k = 0; k < 80; k++) {
        const double t = (k + 1) / 10.0, at = 8 * t - floor(8 * t), piece = floor(8 * t);
        GOOD(step(&unit, k / 10.0, 0.1));
        assert_close(get(&unit, "tau.q"), (1 - at) * fmod(piece, 7) + at * fmod(piece + 1, 7),
                     1e-9);
    }
    GOOD(step(&other, 0, 8));
    assert_close(get(&other, "q"), get(&unit, "q"), 1e-9);
    free_instance(&unit), free_instance(&other);
    unlink(in_folder("tables.bin"));
    free(bytes);
    unload_fmu(&unit);
}

static void test_tables(void **state)
{
    (void)state;
    tr_system *system = system_with_table();
    for (int version = 2; version <= 3; version++) check_tables(system, version);
    tr_system_free(system);
}

// ---- sources -------------------------------------------------------------------------------

// The sources of an FMU in the test's folder
static void write_sources_of(const tr_system *system, int version)
{
    static const char *const names[] = {"m.c", "m.h", "fmu.c", "fmi.h"};
    tr_export_options how = tr_export_defaults();
    how.fmi = version, how.sources_only = 1;
    export_fmu(system, &how, in_folder("m.fmu"));
    for (int k = 0; k < 5; k++) {
        char file[20], name[60];
        size_t length = 0;
        snprintf(file, sizeof file, k < 4 ? names[k] : "fmi%d.def", version);
        snprintf(name, sizeof name, "sources/%s", file);
        char *text = text_in_fmu(in_folder("m.fmu"), name, &length);
        write_bytes(in_folder(file), text, length);
        free(text);
    }
}

static void write_sources(const char *model, int version)
{
    tr_system *system = system_called(model, NULL);
    write_sources_of(system, version);
    tr_system_free(system);
}

static void run_in_folder(const char *what)
{
    char command[3000];
    snprintf(command, sizeof command, "cd %s && %s", folder, what);
    if (system(command) != 0) fail_msg("%s", command);
}

// Built by an importer without a warning, whatever there is none of: constraints, inputs, contacts
static void test_sources(void **state)
{
    (void)state;
    static const char *const models[] = {"bicycle", "double_pendulum", "hopping_wheel"};
    tr_system *table = system_with_table(); // without inputs and parameters, with a file of numbers
    for (int k = 0; k < 8; k++) {
        if (k < 6)
            write_sources(models[k / 2], 2 + k % 2);
        else
            write_sources_of(table, 2 + k % 2);
        char command[400]; // an optimiser sees more
        snprintf(command, sizeof command,
                 "for c in cc clang clang-14; do command -v $c >/dev/null || continue; $c -std=c99 "
                 "-O%d -Wall -Wextra -Wno-unused-parameter -pedantic -Werror -c fmu.c -o fmu.o || "
                 "exit 1; done",
                 k / 2 == 1 ? 2 : 0);
        run_in_folder(command);
    }
    tr_system_free(table);
}

static void test_prefixes(void **state)
{
    (void)state;
    static const struct {
        const char *options, *prefix;
    } prefixes[] = {
        {"", "m_"},
        {"-DFMI%d_FUNCTION_PREFIX=other_", "other_"},
        {"-DFMI%d_OVERRIDE_FUNCTION_PREFIX", ""},
        {"-DFMI%d_OVERRIDE_FUNCTION_PREFIX -DFMI%d_ACTUAL_FUNCTION_PREFIX=own_", "own_"},
        {"-DFMI3_OVERRIDE_FUNCTION_PREFIX", ""}};
    for (int version = 2; version <= 3; version++) {
        write_sources("bicycle", version);
        for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++) {
            char options[200], command[1000];
            snprintf(options, sizeof options, prefixes[k].options, version, version);
            snprintf(command, sizeof command,
                     "cc -w -O0 %s -c fmu.c -o fmu.o && nm fmu.o | grep -q ' T %sfmi%dGetVersion$'",
                     options, prefixes[k].prefix, version);
            run_in_folder(command);
        }
    }
}

int main(void)
{
    setenv("CC", "cc -O0", 0); // which takes a tenth of the time
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_start_slopes),
        cmocka_unit_test(test_no_start),
        cmocka_unit_test(test_stop_time),
        cmocka_unit_test(test_saved_states),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_archives),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_motion),
        cmocka_unit_test(test_jumps),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_reinit),
        cmocka_unit_test(test_logs),
        cmocka_unit_test(test_nothing_given),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_controlled_contacts),
        cmocka_unit_test(test_no_variables),
        cmocka_unit_test(test_formula_slopes),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
