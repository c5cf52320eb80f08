// SPDX-License-Identifier: Apache-2.0
// States that move by a method, and the models that they are of.
#ifndef TR_TESTS_MOTION_H
#define TR_TESTS_MOTION_H

#include "plans.h"
#include "runs.h"
#include "sim/method.h"

#define assert_error(err, wanted_status, words)        \
    do {                                               \
        assert_string_equal((err).text, words);        \
        assert_int_equal((err).status, wanted_status); \
        (err) = (tr_error){0};                         \
    } while (0)

// ---- a state that moves --------------------------------------------------------------------

typedef struct Motion {
    Flow *flow;
    Mover *mover;
    double *y0;
} Motion;

static inline Motion start(tr_system *system, const char *method, double step)
{
    tr_error err = {0};
    Motion m = {.flow = open_flow(system, &err)};
    if (!m.flow) fail_msg("%s", err.text);
    m.y0 = m.flow->start;
    m.mover = tr_mover_new(tr_method(method, &err), m.flow, m.y0, &err);
    if (!m.mover) fail_msg("%s", err.text);
    m.mover->step = step;
    return m;
}

static inline void move(Motion *m, double until)
{
    tr_error err = {0};
    if (!m->mover->method->advance(m->mover, until, &err)) fail_msg("%s", err.text);
    assert_true(m->mover->t == until);
}

static inline void stop(Motion *m)
{
    tr_mover_free(m->mover);
    close_flow(m->flow);
}

static inline double off_by(Flow *flow, const double *y)
{
    double position, velocity;
    tr_flow_residual(flow, 0, y, &position, &velocity);
    assert_true(velocity == 0);
    return position;
}

// ---- models --------------------------------------------------------------------------------

static const char tumbling[] =
    "trundle: 1\n"
    "gravity: 0, 0, 0\n"
    "bodies:\n"
    "  b: {joint: {type: free}, mass: 2, inertia: {xx: 1, yy: 2, zz: 2.8}}\n"
    "outputs:\n"
    "  Lx: b.R11*b.wx + 2*b.R12*b.wy + 2.8*b.R13*b.wz\n"
    "  Ly: b.R21*b.wx + 2*b.R22*b.wy + 2.8*b.R23*b.wz\n"
    "  Lz: b.R31*b.wx + 2*b.R32*b.wy + 2.8*b.R33*b.wz\n"
    "initial: {b.wx: 0.01, b.wy: 3, b.wz: 0.02, b.vx: 0.3, b.x: 1}\n";

// A heavy lopsided top with a driven spring arm on it: smooth, fast, turning in space.
static const char top[] =
    "trundle: 1\n"
    "bodies:\n"
    "  top: {joint: {type: ball}, mass: 1, com: \"0.1, 0, 0.3\","
    " inertia: {xx: 0.2, yy: 0.3, zz: 0.15, xy: 0.02}}\n"
    "  arm: {parent: top, joint: {type: revolute, axis: \"1, 1, 0\", at: \"0.1, 0.2, 0\","
    " stiffness: 5, damping: 0.1}, mass: 0.3, com: \"0, 0, 0.2\","
    " inertia: {xx: 0.01, yy: 0.01, zz: 0.004}}\n"
    "roles: {arm: {torque: 0.5*sin(3*t)}}\n"
    "initial: {top.wx: 1, top.wy: -0.5, top.wz: 4, top.R13: 0.5, d(arm): 1}\n";

static const char pendulum[] =
    "trundle: 1\n"
    "name: a pendulum\n"
    "parameters: {l: 0.7, k: l/7}\n"
    "bodies:\n"
    "  rod: {joint: {type: revolute, axis: \"0, -1, 0\", coordinate: phi, damping: 0.1*k},"
    " mass: 1, com: \"0, 0, -l\"}\n"
    "outputs: {height: -l*cos(phi)}\n"
    "initial: {phi: 1}\n";

// ---- files ---------------------------------------------------------------------------------

// The text of a file, and whether it holds some words.
static inline bool file_holds(const char *path, const char *words)
{
    char *text = read_text(path);
    const bool found = strstr(text, words) != NULL;
    if (!found) print_error("not there: %s\nin %s\n", words, text);
    free(text);
    return found;
}

#endif
