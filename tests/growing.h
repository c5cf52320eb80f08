// SPDX-License-Identifier: Apache-2.0
// Models of any length: snakes on skates, ladders of four-bars, trains.
#ifndef TR_TESTS_GROWING_H
#define TR_TESTS_GROWING_H

#include "models.h"

typedef struct Growing {
    char *at;
    size_t length, room;
} Growing;

__attribute__((format(printf, 2, 3))) static inline void grow(Growing *g, const char *format, ...)
{
    va_list list;
    if (g->room < g->length + 1000) {
        g->room = 2 * g->room + 4000;
        g->at = realloc(g->at, g->room);
        assert_non_null(g->at);
    }
    va_start(list, format);
    const int more = vsnprintf(g->at + g->length, g->room - g->length, format, list);
    va_end(list);
    assert_true(more >= 0 && (size_t)more < g->room - g->length);
    g->length += (size_t)more;
}

static inline tr_system *grown(Growing *g)
{
    tr_system *system = system_from(g->at);
    free(g->at);
    return system;
}

// Links on skates, of which the first two hinges are driven
static inline tr_system *snake_of(int count)
{
    Growing g = {0};
    grow(&g, "trundle: 1\nparameters: {m: 1, L: 0.3, I: m*L^2/12}\nbodies:\n"
             "  link1: {joint: {type: planar}, mass: m, inertia: {zz: I}}\n");
    for (int i = 2; i <= count; i++)
        grow(&g,
             "  link%d: {parent: link%d, mass: m, com: \"-L/2, 0, 0\", inertia: {zz: I},\n"
             "    joint: {type: revolute, axis: \"0, 0, 1\", at: \"%s, 0, 0\", coordinate: r%d}}\n",
             i, i - 1, i == 2 ? "-L/2" : "-L", i - 1);
    grow(&g, "contacts:\n");
    for (int i = 1; i <= count; i++)
        grow(&g, "  skate%d: {kind: skate, body: link%d, at: \"%s, 0, 0\"}\n", i, i,
             i == 1 ? "0" : "-L/2");
    grow(&g,
         "roles:\n  r1: {motion: 0.7 + 0.25*sin(2*t)}\n  r2: {motion: 0.7 + 0.25*sin(2*t - 1)}\n");
    grow(&g, "guess: {");
    for (int i = 3; i < count; i++) grow(&g, "%sr%d: 0.%d", i > 3 ? ", " : "", i, 1 + i % 3);
    grow(&g, "}\n");
    return grown(&g);
}

// Each four-bar stands on the coupler of the one before
static inline tr_system *ladder_of(int count)
{
    Growing g = {0};
    grow(&g, "trundle: 1\ngravity: 0, -9.81, 0\nbodies:\n");
    for (int i = 1; i <= count; i++) {
        char parent[40] = "";
        if (i > 1) snprintf(parent, sizeof parent, "parent: plate%d, ", i - 1);
        grow(
            &g,
            "  crank%d: {%smass: 0.3, com: \"0.2, 0, 0\", inertia: {zz: 0.004},\n"
            "    joint: {type: revolute, axis: \"0, 0, 1\", coordinate: p%d}}\n"
            "  rocker%d: {%smass: 0.3, com: \"0.225, 0, 0\", inertia: {zz: 0.004},\n"
            "    joint: {type: revolute, axis: \"0, 0, 1\", at: \"0.35, 0, 0\", coordinate: r%d}}\n"
            "  plate%d: {parent: crank%d, mass: 0.5, com: \"0.15, 0, 0\", inertia: {zz: 0.006},\n"
            "    joint: {type: revolute, axis: \"0, 0, 1\", at: \"0.4, 0, 0\", coordinate: f%d}}\n",
            i, parent, i, i, parent, i, i, i, i);
    }
    grow(&g, "loops:\n");
    for (int i = 1; i <= count; i++)
        grow(&g,
             "  close%d: {kind: point, body: plate%d, at: \"0.3, 0, 0\", on: rocker%d, "
             "to: \"0.45, 0, 0\"}\n",
             i, i, i);
    grow(&g, "initial: {");
    for (int i = 1; i <= count; i++) grow(&g, "%sp%d: 1.2, d(p%d): 0.1", i > 1 ? ", " : "", i, i);
    grow(&g, "}\nguess: {");
    for (int i = 1; i <= count; i++) grow(&g, "%sf%d: -0.97, r%d: 1.38", i > 1 ? ", " : "", i, i);
    grow(&g, "}\n");
    return grown(&g);
}

// Cars on two wheels each, which the nose keeps upright
static inline tr_system *train_of(int count)
{
    Growing g = {0};
    grow(&g, "trundle: 1\nparameters: {b: 0.5, r: 0.3, L: 2}\nbodies:\n");
    for (int i = 0; i < count; i++) {
        grow(&g, "  car%d: {mass: 100, com: \"-0.8, 0, 0.3\", inertia: {xx: 10, yy: 20, zz: 25},\n",
             i);
        if (i)
            grow(&g,
                 "    parent: car%d, joint: {type: revolute, axis: \"0, 0, 1\", at: \"-L, 0, 0\", "
                 "coordinate: "
                 "h%d}}\n",
                 i - 1, i);
        else
            grow(&g, "    joint: {type: free}}\n");
        for (int side = 0; side < 2; side++)
            grow(&g,
                 "  w%c%d: {parent: car%d, mass: 5, inertia: {axial: 0.2, radial: 0.12},\n"
                 "    joint: {type: revolute, axis: \"0, 1, 0\", at: \"-1, %sb, 0\", coordinate: "
                 "a%c%d}}\n",
                 side ? 'r' : 'l', i, i, side ? "-" : "", side ? 'r' : 'l', i);
    }
    grow(&g, "contacts:\n");
    for (int i = 0; i < 2 * count; i++)
        grow(&g, "  c%d: {kind: rolling, body: w%c%d, radius: r, unilateral: false}\n", i,
             i % 2 ? 'r' : 'l', i / 2);
    grow(&g, "  nose: {kind: slide, body: car0, at: \"0, 0, -r\", unilateral: false}\n");
    grow(&g, "initial: {car0.x: 0, car0.y: 0, car0.R21: 0, d(al0): 5");
    for (int i = 0; i < count; i++) {
        if (i) grow(&g, ", h%d: 0.1", i);
        grow(&g, ", al%d: 0, ar%d: 0", i, i);
    }
    grow(&g, "}\n");
    return grown(&g);
}

// Three driven wheels on one axle, one more than it takes, and links on skates that they pull
static inline tr_system *hauled_of(int count, const char *more)
{
    Growing g = {0};
    grow(&g,
         "trundle: 1\nbodies:\n  body: {joint: {type: planar}, mass: 8, inertia: {zz: 0.25}}\n");
    for (int i = 0; i < 3; i++)
        grow(&g,
             "  w%d: {parent: body, mass: 1, inertia: {axial: 0.01, radial: 0.005},\n"
             "    joint: {type: revolute, axis: \"0, 1, 0\", at: \"0, %g, 0.1\"}}\n",
             i, 0.05 + 0.1 * (i % 2) - 0.2 * (i / 2));
    for (int i = 1; i <= count; i++) {
        char parent[40] = "body";
        if (i > 1) snprintf(parent, sizeof parent, "link%d", i - 1);
        grow(&g,
             "  link%d: {parent: %s, mass: 1, com: \"-0.1, 0, 0\", inertia: {zz: 0.01},\n"
             "    joint: {type: revolute, axis: \"0, 0, 1\", at: \"-0.3, 0, 0\"}}\n",
             i, parent);
    }
    grow(&g, "contacts:\n");
    for (int i = 0; i < 3; i++) grow(&g, "  c%d: {kind: rolling, body: w%d, radius: 0.1}\n", i, i);
    for (int i = 1; i <= count; i++)
        grow(&g, "  skate%d: {kind: skate, body: link%d, at: \"-0.2, 0, 0\"}\n", i, i);
    grow(&g, "roles: {w0: {motion: t^2}, w1: {motion: t^2}, w2: {motion: t^2}}\n%s", more);
    return grown(&g);
}

#endif
