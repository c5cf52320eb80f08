// SPDX-License-Identifier: Apache-2.0
// A system to write formulas in, and what they are worth in it.
#ifndef TR_TESTS_FORMULAS_H
#define TR_TESTS_FORMULAS_H

#include "expr/system.h"
#include "test.h"

#include <float.h>

#define NOT_A_NUMBER ((double)NAN)

// ---- a system to write formulas in ---------------------------------------------------------

enum { X, Y, Z, T, V, W, U, R32, WHEEL, Q, INPUTS };

static const double at[INPUTS] = {0.5, -2, 3, 0.25, 1.5, 0.7, 4, 0.1, -0.3, 11};

static const struct {
    const char *name;
    tr_kind kind;
} inputs[INPUTS] = {
    [X] = {"x", TR_POSITION},
    [Y] = {"y", TR_POSITION},
    [Z] = {"z", TR_PARAMETER},
    [T] = {"t", TR_TIME},
    [V] = {"v", TR_VELOCITY}, // d(x) = v, d(v) = -z x
    [W] = {"w", TR_VELOCITY}, // d(y) = w, d(w) is not known
    [U] = {"u", TR_INPUT},
    [R32] = {"frame.R32", TR_PARAMETER},
    [WHEEL] = {"wheel_2.x", TR_PARAMETER},
    [Q] = {"angle", TR_POSITION}, // its rate is not known
};

static const char *const definitions[][2] = {
    {"energy", "v^2/2 + z*x^2/2"},
    {"turn", "2*pi"},
    {"body.energy", "energy + turn"},
    {"sq(a)", "a*a"},
    {"hyp(a, b)", "sqrt(sq(a) + sq(b))"},
    {"first(a, b)", "a"},
    {"one_of(a)", "1"},
    {"shift(x)", "x + z"}, // hides the input x, not z
    {"turned(y, x)", "y - 2*x"},
    {"ramp(t, a, b)", "t < a ? 0 : t > b ? 1 : (t - a)/(b - a)"},
    {"speed(s)", "d(s)"},
    {"power_of(s)", "s*d(s) + d(x)"},
    {"often(a)", "a + a*a - a/2"},
    {"late(a)", "early(a) + 1"}, // defined before what it calls
    {"early(a)", "3*a"},
    {"plus_one(sin)", "sin + 1"},
    {"plus_pi(pi)", "pi + 1"},
    {"body.f(p.q)", "\t2\n*p.q "},
    {"three(a, b, c)", "a*100 + b*10 + c"},
    {"all(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p)", "a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p"},
    {"itself(a)", "1 + itself(a)"},
    {"ping(a)", "pong(a)"},
    {"pong(a)", "2*ping(a)"},
    {"broken(a)", "a + (2*a"},
    {"empty(a)", ""},
    {"stranger(velocity)", "velocity + velocty"},
    {"outer(a)", "1 + broken(a)"},
    {"too_few(a)", "hyp(a)"},
    {"calls(a)", "a(2)"},
    {"lost(a)", "d(a)"},
    {"assigns(a)", "a = 2"},
};

static inline System *workshop(void)
{
    static const double knot[] = {0, 1, 2, 4}, level[] = {1, 3, 2, 0}, cubes[] = {0, 1, 8, 64};
    double plane[16]; // 1 + 2 a + 3 b
    for (int i = 0; i < 16; i++) plane[i] = 1 + 2 * knot[i / 4] + 3 * knot[i % 4];
    tr_error err = {0};
    System *s = tr_system_new(&err);
    Expr symbol[INPUTS];
    for (int i = 0; i < INPUTS; i++)
        symbol[i] = tr_input(s, inputs[i].name, inputs[i].kind, at[i], &err);
    tr_rate_set(s, symbol[X], symbol[V], &err);
    tr_rate_set(s, symbol[Y], symbol[W], &err);
    tr_rate_set(s, symbol[V], tr_formula(s, "-z*x", &err), &err);
    tr_define_table(s, "road", knot, 4, NULL, 1, level, 1, false, &err);
    tr_define_table(s, "held", knot, 4, NULL, 1, level, 1, true, &err);
    tr_define_table(s, "cube", knot, 4, NULL, 1, cubes, 3, false, &err);
    tr_define_table(s, "map.height", knot, 4, knot, 4, plane, 1, false, &err);
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
        tr_define(s, definitions[i][0], definitions[i][1], &err);
    if (err.status) fail_msg("%s", err.text);
    return s;
}

// ---- right formulas ------------------------------------------------------------------------

static inline double evaluate(System *s, Expr x)
{
    static unsigned count = 0;
    tr_error err = {0};
    char name[20];
    double value = NOT_A_NUMBER;
    snprintf(name, sizeof name, "output_%u", count++);
    tr_output(s, name, &x, 1, 1, &err);
    tr_program *program = tr_compile(s, name, NULL, &err);
    tr_workspace *workspace = tr_workspace_new(program, &err);
    if (err.status) fail_msg("%s", err.text);
    tr_evaluate(program, workspace, at, &value);
    tr_workspace_free(workspace);
    tr_program_free(program);
    return value;
}

#endif
