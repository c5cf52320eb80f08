// SPDX-License-Identifier: Apache-2.0
// Times at which formulas of t jump: the same however far a run looks at once.
#include "motion.h"
#include "sim/event.h"

static const char jumps[] =
    "trundle: 1\n"
    "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}}\n"
    "roles: {x: {torque: 'if(t > 0.7 && t < 0.70001, 1000, 0) + abs(t - 1.25)"
    " + if(floor(4*t) - 2*floor(2*t) == 0, 1, 0) + if(sin(7*t) > 0.3, x, 0) + max(t, 5)'}}\n";

static Events begun(const Flow *flow, double end)
{
    tr_error err = {0};
    Events events;
    if (!tr_events_begin(&events, flow, 0, end, &err)) fail_msg("%s", err.text);
    assert_true(events.count == 0 && events.until == 0);
    return events;
}

static void look_on(Events *events, Flow *flow, double until)
{
    tr_error err = {0};
    if (!tr_events_extend(events, flow, until, &err)) fail_msg("%s", err.text);
    assert_true(events->until >= until);
}

static void check_times(const Events *events, double until)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < events->count; i++) {
        const double t = events->at[i];
        assert_true(t > 0 && (!i || t > events->at[i - 1]));
        const double wave = fabs(sin(7 * t) - 0.3), quarter = fabs(4 * t - round(4 * t));
        const double pulse = fmin(fabs(t - 0.7), fabs(t - 0.70001));
        if (!(wave < 1e-13 * (1 + t) || quarter < 1e-13 || pulse < 1e-15))
            fail_msg("nothing is at %.17g", t);
        found += t <= until;
    }
    uint32_t wanted = (uint32_t)floor(4 * until) + 2; // every quarter, and the pulse
    for (int k = 0; k < 200; k++) {
        const double rises = (asin(0.3) + 2 * M_PI * k) / 7, falls = (M_PI * (2 * k + 1)) / 7;
        wanted += rises <= until ? 1 : 0;
        wanted += falls - asin(0.3) / 7 <= until ? 1 : 0;
    }
    assert_int_equal(found, wanted);
}

// All at once, bit by bit, and without an end
static void test_windows(void **state)
{
    (void)state;
    tr_system *system = system_from(jumps);
    Flow *flow = flow_of(system);
    Events whole = begun(flow, 10), parts = begun(flow, 10),
           endless = begun(flow, (double)INFINITY);
    look_on(&whole, flow, 10);
    assert_true(whole.until == 10);
    check_times(&whole, 10);
    for (int i = 1; i <= 1000; i++) {
        look_on(&parts, flow, 0.01 * i);
        look_on(&endless, flow, 0.01 * i);
        assert_true(parts.until < 0.01 * i + 0.6 && endless.until < 0.01 * i + 0.6);
    }
    assert_int_equal(parts.count, whole.count);
    assert_memory_equal(parts.at, whole.at, whole.count * sizeof *whole.at);
    check_times(&endless, 10);
    look_on(&endless, flow, 100);
    check_times(&endless, 100);
    tr_events_free(&whole), tr_events_free(&parts), tr_events_free(&endless);
    close_flow(flow);
    tr_system_free(system);
}

// Where rounding beside a change leads to and fro, too: the first of these is t^3 but for rounding.
static const char rounding[] =
    "trundle: 1\n"
    "bodies: {b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: x}, mass: 1}}\n"
    "roles: {x: {torque: 'if(t/2 - sin(pi*t)/(2*pi) > 0, 1, 0) + if(sin(7*t) > 0.3, x, 0)"
    " + if((t - 1.1)^3 - 3.3*(t - 1.1)^2 + 3.63*(t - 1.1) > 1.331, x, 0)'}}\n";

// Whatever end a run is known to have, to the bit
static void test_ends(void **state)
{
    (void)state;
    static const double ends[] = {5, 6, 7, 9.9, 10.1, 12, 123};
    tr_system *system = system_from(rounding);
    Flow *flow = flow_of(system);
    Events endless = begun(flow, (double)INFINITY);
    look_on(&endless, flow, 5);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        Events events = begun(flow, ends[i]);
        look_on(&events, flow, 5);
        assert_true(events.count > 8 && events.at[0] < 1e-7);
        for (uint32_t k = 0; k < events.count && events.at[k] < 5; k++)
            if (k >= endless.count || events.at[k] != endless.at[k])
                fail_msg("with an end at %g something is at %.17g", ends[i], events.at[k]);
        tr_events_free(&events);
    }
    tr_events_free(&endless);
    close_flow(flow);
    tr_system_free(system);
}

// A run without an end keeps what lies ahead only.
static void test_drop(void **state)
{
    (void)state;
    tr_system *system = system_from(jumps);
    Flow *flow = flow_of(system);
    Events whole = begun(flow, (double)INFINITY), ahead = begun(flow, (double)INFINITY);
    look_on(&whole, flow, 60);
    uint32_t passed = 0, most = 0;
    for (int i = 1; i <= 120; i++) {
        look_on(&ahead, flow, 0.5 * i);
        most = ahead.count > most ? ahead.count : most;
        uint32_t count = 0;
        for (; count < ahead.count && ahead.at[count] <= 0.5 * i; count++)
            assert_true(ahead.at[count] == whole.at[passed++]);
        tr_events_drop(&ahead, count);
    }
    assert_true(passed > 300 && most < 20);
    tr_events_free(&whole), tr_events_free(&ahead);
    close_flow(flow);
    tr_system_free(system);
}

// Where nothing jumps there is nothing to look for.
static void test_no_events(void **state)
{
    (void)state;
    tr_error err = {0};
    tr_system *system = system_from(pendulum);
    Flow *flow = flow_of(system);
    Events events;
    assert_true(tr_events_begin(&events, flow, 0, (double)INFINITY, &err));
    assert_true(tr_events_extend(&events, flow, 1e6, &err));
    assert_true(events.count == 0 && events.until == (double)INFINITY);
    tr_events_free(&events);
    close_flow(flow);
    tr_system_free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_drop),
        cmocka_unit_test(test_no_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
