// SPDX-License-Identifier: Apache-2.0
// Formulas: what right ones are worth, what wrong ones say and where, and that neither deep nor
// explosive ones do harm. Values are compared with C's own arithmetic and libm.
#include "expr/system.h"
#include "test.h"

#include <float.h>
#include <time.h>

#define INF          ((double)INFINITY)
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

static System *workshop(void)
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

typedef struct Case {
    const char *formula;
    double value;
} Case;

static double evaluate(System *s, Expr x)
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

// The value when all inputs are replaced by numbers and everything folds.
static double fold(System *s, Expr x)
{
    Expr symbols[INPUTS], numbers[INPUTS];
    double value = NOT_A_NUMBER;
    for (uint32_t i = 0; i < INPUTS; i++) {
        symbols[i] = s->inputs[i].symbol;
        numbers[i] = tr_constant(s, at[i]);
    }
    assert_true(tr_is_constant(tr_replace(x, symbols, numbers, INPUTS), &value));
    return value;
}

static bool is_near(double a, double b, double ulps)
{
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= ulps * DBL_EPSILON * fabs(b);
}

static void check_cases(const Case *cases, size_t count, double ulps)
{
    System *s = workshop();
    for (size_t i = 0; i < count; i++) {
        tr_error err = {0};
        double constant;
        const char *formula = cases[i].formula;
        const Expr x = tr_formula(s, formula, &err);
        if (err.status) fail_msg("%s: column %d: %s", formula, err.column, err.text);
        assert_int_not_equal(x.id, 0);
        const double value = evaluate(s, x), folded = fold(s, x);
        if (tr_is_constant(x, &constant) && !same_bits(value, constant))
            fail_msg("%s: %a compiled, %a folded", formula, value, constant);
        if (!is_near(value, cases[i].value, ulps) || !is_near(folded, cases[i].value, 2 * ulps))
            fail_msg("%s = %.17g compiled, %.17g folded, not %.17g", formula, value, folded,
                     cases[i].value);
    }
    tr_system_free(s);
}

static const Case numbers[] = {
    {"1", 1},
    {"1.", 1},
    {".5", .5},
    {"0", 0},
    {"00012", 12},
    {"1e3", 1e3},
    {"1E-3", 1E-3},
    {"1e+3", 1e+3},
    {"1.e2", 1.e2},
    {".5e1", .5e1},
    {"1e0", 1},
    {"1e-400", 0},
    {"0e999", 0},
    {"4.9e-324", 4.9e-324},
    {"2.2250738585072011e-308", 2.2250738585072011e-308},
    {"1.7976931348623157e308", DBL_MAX},
    {"123456789012345678901234567890", 123456789012345678901234567890.},
    {"0.1000000000000000055511151231257827021181583404541015625", 0.1},
    {"9007199254740993", 9007199254740992},
    {"3.14159265358979323846264338327950288419716939937510582097494459", M_PI},
    {"0.00000000000000000000000000000000000000000000000000000000001", 1e-59},
    {"1000000000000000000000000000000000000000000000000000000000000", 1e60},
    {"pi", M_PI},
};

static void test_numbers(void **state)
{
    (void)state;
    check_cases(numbers, sizeof numbers / sizeof *numbers, 0);
}

// Values that are exact whichever way they are computed.
static const Case exact[] = {
    // inputs
    {"x", 0.5},
    {"y", -2},
    {"frame.R32", 0.1},
    {"wheel_2.x", -0.3},
    {"u*t", 1},
    // precedence and associativity
    {"1 + 2*3", 7},
    {"(1 + 2)*3", 9},
    {"2*3 + 4*5", 26},
    {"1 - 2 - 3", -4},
    {"1 - (2 - 3)", 2},
    {"1 - 2 + 3", 2},
    {"1 - (2 + 3)", -4},
    {"x - y - z", -0.5},
    {"x - y + z", 5.5},
    {"x - (y - z)", 5.5},
    {"8/4/2", 1},
    {"8/(4/2)", 4},
    {"8/4*2", 4},
    {"8*4/2", 16},
    {"u/x/y", -4},
    {"u/(x/y)", -16},
    {"u/x*y", -16},
    {"1 + 8/2/2 - 3*2", -3},
    {"-x^2", -0.25},
    {"(-x)^2", 0.25},
    {"-2^2", -4},
    {"(-2)^2", 4},
    {"2^-3", 0.125},
    {"2^3^2", 512},
    {"(2^3)^2", 64},
    {"2^-1^2", 0.5},
    {"2^-2^2", 0.0625},
    {"-2^-2", -0.25},
    {"2*-3", -6},
    {"2*-x", -1},
    {"2 - -3", 5},
    {"2 + -3", -1},
    {"2--3", 5},
    {"2---3", -1},
    {"--x", 0.5},
    {"---x", -0.5},
    {"-+x", -0.5},
    {"+-x", -0.5},
    {"+x", 0.5},
    {"++x", 0.5},
    {"-(-(x))", 0.5},
    {"2*3^2", 18},
    {"-3*x^2*4", -3},
    {"6/3^2*3", 2},
    {"((((((x))))))", 0.5},
    {"x*y*z", -3},
    {"x + y*z", -5.5},
    {"z*z*z", 27},
    {"2*(x + y)*(z - 1)", -6},
    // comparisons
    {"1 < 2", 1},
    {"2 < 1", 0},
    {"1 < 1", 0},
    {"1 <= 1", 1},
    {"2 <= 1", 0},
    {"2 > 1", 1},
    {"1 > 1", 0},
    {"1 >= 1", 1},
    {"1 >= 2", 0},
    {"1 == 1", 1},
    {"1 == 2", 0},
    {"1 != 2", 1},
    {"1 != 1", 0},
    {"x < z", 1},
    {"x > z", 0},
    {"x >= 0.5", 1},
    {"x <= y", 0},
    {"x == 0.5", 1},
    {"x != 0.5", 0},
    {"y<x", 1},
    {"x + 1 < y + 4", 1},
    {"1 + (2 < 3)", 2},
    {"(1 < 2) == (3 < 4)", 1},
    {"(x < y) < z", 1},
    {"2*(x < z)*(y < z)", 2},
    {"x<-y", 1},
    {"x>-y", 0},
    {"x==-y", 0},
    {"x!=-y", 1},
    // logic
    {"1 && 1", 1},
    {"1 && 0", 0},
    {"0 && 1", 0},
    {"0 && 0", 0},
    {"1 || 1", 1},
    {"1 || 0", 1},
    {"0 || 1", 1},
    {"0 || 0", 0},
    {"5 && -7", 1},
    {"0 || -7", 1},
    {"x && y", 1},
    {"x && 0", 0},
    {"y || 0", 1},
    {"!0", 1},
    {"!1", 0},
    {"!5", 0},
    {"!x", 0},
    {"!!x", 1},
    {"!!!x", 0},
    {"!-x", 0},
    {"-!0", -1},
    {"!0 + 1", 2},
    {"!(x < y)", 1},
    {"!x < y", 0},
    {"!x^2", 0},
    {"2^!0", 2},
    {"1 || 0 && 0", 1},
    {"(1 || 0) && 0", 0},
    {"0 && 0 || 1", 1},
    {"x < y || y < z", 1},
    {"x < y && y < z", 0},
    {"y < x && x < z && z < u", 1},
    {"x < y || z < y || u < y", 0},
    {"1 && 2 && 3", 1},
    {"0.1 && 1e-300", 1},
    {"x > 0 && y > 0 || z > 0", 1},
    {"1 + 1 && 1 - 1", 0},
    // choices
    {"1 ? 2 : 3", 2},
    {"0 ? 2 : 3", 3},
    {"x < y ? 2 : 3", 3},
    {"x > y ? 2 : 3", 2},
    {"x ? y : z", -2},
    {"0 ? 1 : 0 ? 2 : 3", 3},
    {"0 ? 1 : 1 ? 2 : 3", 2},
    {"1 ? 0 ? 4 : 5 : 6", 5},
    {"1 ? 1 ? 4 : 5 : 6", 4},
    {"x < 0 ? -1 : x > 0 ? 1 : 0", 1},
    {"y < 0 ? -1 : y > 0 ? 1 : 0", -1},
    {"x || y ? 7 : 8", 7},
    {"(x ? 1 : 2) + 3", 4},
    {"x ? 1 : 2 + 3", 1},
    {"2*(0 ? 1 : 4)", 8},
    {"if(1, 2, 3)", 2},
    {"if(0, 2, 3)", 3},
    {"if(x < y, x, y)", -2},
    {"if(x > y, x, y)", 0.5},
    {"if(x, if(0, 1, 2), 3)", 2},
    {"if(x < y ? 1 : 0, 2, 3)", 3},
    {"if(1, 2, 3) ? if(0, 4, 5) : 6", 5},
    {"x > 0 ? if(y > 0, 1, 2) : 3", 2},
    {"if(y, 10, 20) + if(!y, 1, 2)", 12},
    {"if(x > 0, sqrt(u), sqrt(y))", 2},
    // functions with exact values
    {"sqrt(4)", 2},
    {"sqrt(0)", 0},
    {"sqrt(u)", 2},
    {"sqrt(0.25)", 0.5},
    {"sin(0)", 0},
    {"cos(0)", 1},
    {"tan(0)", 0},
    {"asin(0)", 0},
    {"acos(1)", 0},
    {"atan(0)", 0},
    {"atan2(0, 1)", 0},
    {"exp(0)", 1},
    {"log(1)", 0},
    {"exp(-1000)", 0},
    {"exp(1000)", INF},
    {"log(0)", -INF},
    {"log(-1)", NOT_A_NUMBER},
    {"log(y)", NOT_A_NUMBER},
    {"sqrt(-1)", NOT_A_NUMBER},
    {"sqrt(y)", NOT_A_NUMBER},
    {"asin(2)", NOT_A_NUMBER},
    {"acos(z)", NOT_A_NUMBER},
    {"sin(1/0)", NOT_A_NUMBER},
    {"1/0", INF},
    {"-1/0", -INF},
    {"abs(-3)", 3},
    {"abs(3)", 3},
    {"abs(y)", 2},
    {"abs(0)", 0},
    {"abs(y - z)", 5},
    {"floor(2.7)", 2},
    {"floor(-2.7)", -3},
    {"floor(3)", 3},
    {"floor(x)", 0},
    {"floor(-x)", -1},
    {"floor(y + t)", -2},
    {"floor(1e300)", 1e300},
    {"min(1, 2)", 1},
    {"min(2, 1)", 1},
    {"min(1, 1)", 1},
    {"min(3, 1, 2)", 1},
    {"min(4, 3, 2, 1)", 1},
    {"min(5, 4, 1, 2, 3)", 1},
    {"max(1, 2)", 2},
    {"max(2, 1)", 2},
    {"max(1, 3, 2)", 3},
    {"max(1, 2, 4, 3)", 4},
    {"max(1, 2, 5, 4, 3)", 5},
    {"min(x, y)", -2},
    {"max(x, y)", 0.5},
    {"min(x, y, z)", -2},
    {"max(x, y, z)", 3},
    {"min(x, y, z, t, u)", -2},
    {"max(x, y, z, t, u)", 4},
    {"max(min(x, y), min(z, t))", 0.25},
    {"min(-1, -2)", -2},
    {"max(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16)", 16},
    // powers
    {"x^0", 1},
    {"x^1", 0.5},
    {"x^2", 0.25},
    {"x^3", 0.125},
    {"x^-1", 2},
    {"x^-2", 4},
    {"x^-3", 8},
    {"y^3", -8},
    {"y^-3", -0.125},
    {"y^4", 16},
    {"y^2.", 4},
    {"y^(1 + 1)", 4},
    {"y^(2*turn/turn)", 4},
    {"2^10", 1024},
    {"2^1000", 0x1p1000},
    {"2^-1000", 0x1p-1000},
    {"x^1001", 0x1p-1001},
    {"y^1001", -0x1p1001},
    {"0.5^1074", 0x1p-1074},
    {"u^0.5", 2},
    {"u^-0.5", 0.5},
    {"u^1.5", 8},
    {"u^-1.5", 0.125},
    {"u^2.5", 32},
    {"4^0.5", 2},
    {"y^0.5", NOT_A_NUMBER},
    {"0^0", 1},
    {"0^2", 0},
    {"0^-1", INF},
    {"(x^2)^3", 0x1p-6},
    {"(x^-2)^-3", 0x1p-6},
    {"x^2^3", 0x1p-8},
    {"-y^2", -4},
    {"1 - x^2/2", 0.875},
    // functions and definitions of the user
    {"sq(3)", 9},
    {"sq(y)", 4},
    {"sq(sq(y))", 16},
    {"sq(sq(sq(y)))", 256},
    {"sq(x + y)", 2.25},
    {"-sq(-y)", -4},
    {"sq(y)^2", 16},
    {"hyp(3, 4)", 5},
    {"hyp(z, u)", 5},
    {"hyp(hyp(3, 4), 12)", 13},
    {"first(1, 2)", 1},
    {"first(x, y)", 0.5},
    {"first(x, 1/0)", 0.5},
    {"one_of(1/0)", 1},
    {"one_of(x)", 1},
    {"shift(10)", 13},
    {"shift(x)", 3.5},
    {"shift(shift(y))", 4},
    {"x + shift(1)", 4.5},
    {"turned(1, 2)", -3},
    {"turned(x, y)", 4.5},
    {"turned(y, x)", -3},
    {"ramp(0, 1, 2)", 0},
    {"ramp(3, 1, 2)", 1},
    {"ramp(1.5, 1, 2)", 0.5},
    {"ramp(t, 0, 1)", 0.25},
    {"ramp(x, t, 1 - t)", 0.5},
    {"ramp(ramp(t, 0, 1), 0, 1)", 0.25},
    {"often(2)", 5},
    {"often(y)", 3},
    {"late(2)", 7},
    {"late(early(x))", 5.5},
    {"plus_one(2)", 3},
    {"plus_one(sin(0))", 1},
    {"plus_pi(2)", 3},
    {"body.f(4)", 8},
    {"body.f(body.f(x))", 2},
    {"three(1, 2, 3)", 123},
    {"three(z, y, x)", 280.5},
    {"all(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16)", 136},
    {"energy", 1.5},
    {"energy*2", 3},
    {"sq(energy)", 2.25},
    {"turn/turn", 1},
    {"turn - 2*pi", 0},
    // tables
    {"road(0)", 1},
    {"road(1)", 3},
    {"road(1.5)", 2.5},
    {"road(4)", 0},
    {"road(5)", -1},
    {"road(-1)", -1},
    {"road(x)", 2},
    {"road(y)", -3},
    {"held(x)", 2},
    {"held(-7)", 1},
    {"held(7)", 0},
    {"held(y)", 1},
    {"cube(2)", 8},
    {"map.height(0, 0)", 1},
    {"map.height(1, 2)", 9},
    {"map.height(x, z)", 11},
    {"map.height(y, z)", 6},
    {"road(road(x))", 2},
    {"sq(road(x)) + 1", 5},
    // d along the motion: d(x) = v, d(v) = -z x, d(y) = w, d(t) = 1
    {"d(x)", 1.5},
    {"d(y)", 0.7},
    {"d(t)", 1},
    {"d(z)", 0},
    {"d(u)", 0},
    {"d(frame.R32)", 0},
    {"d(pi)", 0},
    {"d(5)", 0},
    {"d(0*angle)", 0},
    {"d(t^2)", 0.5},
    {"d(x^2)", 1.5},
    {"d(x*t)", 0.875},
    {"d(3*x + z)", 4.5},
    {"d(x + t)*2", 5},
    {"d(v)", -1.5},
    {"d(d(x))", -1.5},
    {"d(d(x^2))", 3},
    {"d(d(d(x)))", -4.5},
    {"d(d(d(d(x))))", 4.5},
    {"d(energy)", 0},
    {"d(x < y)", 0},
    {"d(floor(x))", 0},
    {"d(abs(y*0 - x))", 1.5},
    {"d(min(x, t))", 1},
    {"d(max(x, t))", 1.5},
    {"d(if(x > t, x, t))", 1.5},
    {"d(x > t ? t : x)", 1},
    {"d(road(x))", 3},
    {"d(road(t))", 2},
    {"d(held(-t))", 0},
    {"d(map.height(x, t))", 6},
    {"speed(x)", 1.5},
    {"speed(x^2)", 1.5},
    {"speed(speed(x))", -1.5},
    {"d(speed(x))", -1.5},
    {"d(sq(x))", 1.5},
    {"speed(sq(t) + x)", 2},
    {"power_of(x)", 2.25},
    {"power_of(t)", 1.75},
    // white space
    {" x ", 0.5},
    {"\tx\n", 0.5},
    {"\n\r\n x\r\n+\ty\n", -1.5},
    {"x+y", -1.5},
    {" - x ^ - 2 ", -4},
    {"min ( x\t,\ny )", -2},
    {"sin\n(0)", 0},
    {"sq ( 3 )", 9},
    {"x<y||y<z", 1},
    {"x < y\n|| y < z", 1},
    {"x ?\n y\n:\n z", -2},
    {"( ( x ) )", 0.5},
    {"!\t0", 1},
    {"d ( t )", 1},
    {"if\n(\n1\n,\n2\n,\n3\n)\n", 2},
};

static void test_exact_values(void **state)
{
    (void)state;
    check_cases(exact, sizeof exact / sizeof *exact, 0);
}

// Values that come from rounding operations.
static void test_rounded_values(void **state)
{
    (void)state;
    const double x = at[X], y = at[Y], z = at[Z], t = at[T], v = at[V], w = at[W];
    const double tau = 2 * M_PI;
    const Case rounded[] = {
        {"0.1 + 0.2", 0.1 + 0.2},
        {"1/3", 1. / 3},
        {"x/z", x / z},
        {"z/0.7", z / 0.7},
        {"x/z/0.7", x / z / 0.7},
        {"frame.R32*wheel_2.x", 0.1 * -0.3},
        {"frame.R32 + wheel_2.x", 0.1 - 0.3},
        {"sqrt(2)", sqrt(2)},
        {"sqrt(z)", sqrt(z)},
        {"sqrt(1e300)", sqrt(1e300)},
        {"sin(1)", sin(1)},
        {"sin(x)", sin(x)},
        {"sin(y)", sin(y)},
        {"sin(pi)", sin(M_PI)},
        {"sin(pi/6)", sin(M_PI / 6)},
        {"sin(1e22)", sin(1e22)},
        {"sin(1e-300)", 1e-300},
        {"cos(1)", cos(1)},
        {"cos(x)", cos(x)},
        {"cos(y)", cos(y)},
        {"cos(pi)", cos(M_PI)},
        {"cos(pi/2)", cos(M_PI / 2)},
        {"cos(1e22)", cos(1e22)},
        {"tan(1)", tan(1)},
        {"tan(x)", tan(x)},
        {"tan(y)", tan(y)},
        {"tan(pi/2)", tan(M_PI / 2)},
        {"asin(1)", asin(1)},
        {"asin(x)", asin(x)},
        {"asin(-x)", asin(-x)},
        {"asin(0.999999)", asin(0.999999)},
        {"acos(-1)", acos(-1)},
        {"acos(0)", acos(0)},
        {"acos(x)", acos(x)},
        {"acos(-x)", acos(-x)},
        {"atan(1)", atan(1)},
        {"atan(x)", atan(x)},
        {"atan(y)", atan(y)},
        {"atan(1e300)", atan(1e300)},
        {"atan2(1, 0)", atan2(1, 0)},
        {"atan2(0, -1)", atan2(0, -1)},
        {"atan2(x, y)", atan2(x, y)},
        {"hypot(x, y)", hypot(x, y)},
        {"atan2(y, x)", atan2(y, x)},
        {"atan2(-1, -1)", atan2(-1, -1)},
        {"atan2(y, -z)", atan2(y, -z)},
        {"exp(1)", exp(1)},
        {"exp(x)", exp(x)},
        {"exp(y)", exp(y)},
        {"exp(-700)", exp(-700)},
        {"exp(709)", exp(709)},
        {"log(2)", log(2)},
        {"log(x)", log(x)},
        {"log(z)", log(z)},
        {"log(1e300)", log(1e300)},
        {"log(4.9e-324)", log(4.9e-324)},
        {"exp(log(z))", exp(log(z))},
        {"abs(sin(y))", fabs(sin(y))},
        {"floor(10*sin(y))", floor(10 * sin(y))},
        {"min(sin(x), cos(x))", sin(x)},
        {"max(sin(x), cos(x))", cos(x)},
        {"sin(cos(tan(x)))", sin(cos(tan(x)))},
        {"sin(x)*cos(y) - cos(x)*sin(y)", sin(x) * cos(y) - cos(x) * sin(y)},
        {"sin(x)^2", sin(x) * sin(x)},
        {"sin(x)^-2", 1 / (sin(x) * sin(x))},
        {"-sin(x)^3", -pow(sin(x), 3)},
        {"z^0.5", sqrt(z)},
        {"z^1.5", pow(z, 1.5)},
        {"z^-2.5", pow(z, -2.5)},
        {"z^0.3", pow(z, 0.3)},
        {"z^-0.3", pow(z, -0.3)},
        {"z^x", pow(z, x)},
        {"z^y", pow(z, y)},
        {"x^z", pow(x, z)},
        {"z^(1/3)", cbrt(z)},
        {"z^frame.R32", pow(z, 0.1)},
        {"2^0.7", pow(2, 0.7)},
        {"1.1^7", pow(1.1, 7)},
        {"x^2^y", pow(x, pow(2, y))},
        {"(1 + x)^17", pow(1 + x, 17)},
        {"2*pi*x", tau * x},
        {"pi^2", M_PI * M_PI},
        {"turn", tau},
        {"body.energy", 1.5 + tau},
        {"sin(turn*t)", sin(tau * t)},
        {"hyp(x, y)", hypot(x, y)},
        {"hyp(sin(x), cos(x))", 1},
        {"cube(x)", x * x * x},
        {"cube(z)", z * z * z},
        {"cube(5)", 125},
        {"cube(y)", y * y * y},
        {"d(x^2*y)", 2 * x * v * y + x * x * w},
        {"d(sin(x))", cos(x) * v},
        {"d(cos(x))", -sin(x) * v},
        {"d(tan(x))", v / (cos(x) * cos(x))},
        {"d(asin(x))", v / sqrt(1 - x * x)},
        {"d(acos(x))", -v / sqrt(1 - x * x)},
        {"d(atan(x))", v / (1 + x * x)},
        {"d(atan2(x, y))", (v * y - x * w) / (x * x + y * y)},
        {"d(exp(x*y))", exp(x * y) * (v * y + x * w)},
        {"d(log(x))", v / x},
        {"d(sqrt(x))", v / (2 * sqrt(x))},
        {"d(x/y)", v / y - x * w / (y * y)},
        {"d(x^7)", 7 * pow(x, 6) * v},
        {"d(x^-3)", -3 * pow(x, -4) * v},
        {"d(x^1.5)", 1.5 * sqrt(x) * v},
        {"d(x^0.3)", 0.3 * pow(x, -0.7) * v},
        {"d(2^x)", pow(2, x) * log(2) * v},
        {"d(abs(y))", -w},
        {"d(hyp(x, y))", (x * v + y * w) / hypot(x, y)},
        {"d(cube(x))", 3 * x * x * v},
        {"d(d(cube(x)))", 6 * x * v * v - 3 * x * x * z * x},
        {"d(d(sin(x)))", -sin(x) * v * v - cos(x) * z * x},
        {"speed(x*y)", v * y + x * w},
        {"power_of(x*y)", x * y * (v * y + x * w) + v},
        {"sin(1) < cos(1) ? exp(1) : log(3)", log(3)},
        {"if(y < 0, sin(y), sqrt(y))", sin(y)},
        {"1/(1 + exp(-x))", 1 / (1 + exp(-x))},
        {"exp(-x^2/2)/sqrt(2*pi)", exp(-x * x / 2) / sqrt(tau)},
    };
    check_cases(rounded, sizeof rounded / sizeof *rounded, 6);
}

// Different ways to write one expression.
static void test_same_expressions(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"x > y", "y < x"},
        {"x >= y", "y <= x"},
        {"x ? y : z", "if(x, y, z)"},
        {"x < y ? y < z ? 1 : 2 : 3", "if(x < y, if(y < z, 1, 2), 3)"},
        {"x < y ? 1 : y < z ? 2 : 3", "if(x < y, 1, if(y < z, 2, 3))"},
        {"min(x, y, z)", "min(min(x, y), z)"},
        {"max(x, y, z, t)", "max(max(max(x, y), z), t)"},
        {"x^y^z", "x^(y^z)"},
        {"-x^y", "-(x^y)"},
        {"x^1.5", "sqrt(x)^3"},
        {"sqrt(x)^4", "x^2"},
        {"x^2.5", "sqrt(x)^5"},
        {"sq(x + y)", "(x + y)*(x + y)"},
        {"hyp(x, y)", "sqrt(x*x + y*y)"},
        {"ramp(x, y, z)", "x < y ? 0 : x > z ? 1 : (x - y)/(z - y)"},
        {"energy", "v^2/2 + z*x^2/2"},
        {"d(x*y)", "v*y + x*w"},
        {"d(d(x))", "-z*x"},
        {"speed(x*y)", "d(x*y)"},
        {"x && y || z", "(x && y) || z"},
        {"x || y && z", "x || (y && z)"},
        {"x < y && y < z", "(x < y) && (y < z)"},
        {"x + y < z*t", "(x + y) < (z*t)"},
        {"x ? y : z + 1", "x ? y : (z + 1)"},
        {"x || y ? z : t", "(x || y) ? z : t"},
        {"!x == y", "(!x) == y"},
        {" x\n+\ty ", "x+y"},
    };
    System *s = workshop();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        tr_error err = {0};
        const Expr a = tr_formula(s, pairs[i][0], &err), b = tr_formula(s, pairs[i][1], &err);
        if (err.status) fail_msg("%s: %s", pairs[i][0], err.text);
        if (a.id != b.id) fail_msg("%s is not %s", pairs[i][0], pairs[i][1]);
    }
    tr_system_free(s);
}

// ---- wrong formulas ------------------------------------------------------------------------

#define VALUE "a number, a name or '('"

static const struct {
    const char *formula;
    int column;
    const char *text;
} wrong[] = {
    // nothing
    {"", 1, "the formula is empty"},
    {" ", 1, "the formula is empty"},
    {" \t\r\n ", 1, "the formula is empty"},
    // missing operands
    {"+", 2, "the formula ends where " VALUE " is expected"},
    {"x +", 4, "the formula ends where " VALUE " is expected"},
    {"x + ", 5, "the formula ends where " VALUE " is expected"},
    {"x*", 3, "the formula ends where " VALUE " is expected"},
    {"x^", 3, "the formula ends where " VALUE " is expected"},
    {"x <", 4, "the formula ends where " VALUE " is expected"},
    {"x &&", 5, "the formula ends where " VALUE " is expected"},
    {"!", 2, "the formula ends where " VALUE " is expected"},
    {"-", 2, "the formula ends where " VALUE " is expected"},
    {"x++", 4, "the formula ends where " VALUE " is expected"},
    {"*x", 1, "expected " VALUE ", not '*'"},
    {"/x", 1, "expected " VALUE ", not '/'"},
    {"^2", 1, "expected " VALUE ", not '^'"},
    {"< 2", 1, "expected " VALUE ", not '<'"},
    {"== 2", 1, "expected " VALUE ", not '='"},
    {"x + * y", 5, "expected " VALUE ", not '*'"},
    {"x */ y", 4, "expected " VALUE ", not '/'"},
    {"x <> y", 4, "expected " VALUE ", not '>'"},
    {"x < = y", 5, "expected " VALUE ", not '='"},
    {"x && || y", 6, "expected " VALUE ", not '|'"},
    {"x += 2", 4, "expected " VALUE ", not '='"},
    {"x ^^ 2", 4, "expected " VALUE ", not '^'"},
    {"x // 2", 4, "expected " VALUE ", not '/'"},
    // parentheses
    {"(", 2, "the formula ends where " VALUE " is expected"},
    {")", 1, "expected " VALUE ", not ')'"},
    {"()", 2, "expected " VALUE ", not ')'"},
    {"(x", 3, "the formula ends where ')' is expected"},
    {"((x)", 5, "the formula ends where ')' is expected"},
    {"(x + (y*z)", 11, "the formula ends where ')' is expected"},
    {"x)", 2, "expected an operator, not ')'"},
    {"(x))", 4, "expected an operator, not ')'"},
    {"(x, y)", 3, "expected ')', not ','"},
    {"(x]", 3, "expected ')', not ']'"},
    {"[x]", 1, "expected " VALUE ", not '['"},
    {"(x y)", 4, "expected ')', not 'y'"},
    {"sin(x", 6, "the formula ends where ',' or ')' is expected"},
    {"sin(", 5, "the formula ends where " VALUE " is expected"},
    {"min(x y)", 7, "expected ',' or ')', not 'y'"},
    {"min(x; y)", 6, "expected ',' or ')', not ';'"},
    {"min(x,, y)", 7, "expected " VALUE ", not ','"},
    {"min(, y)", 5, "expected " VALUE ", not ','"},
    {"min(x,)", 7, "expected " VALUE ", not ')'"},
    {"x, y", 2, "expected an operator, not ','"},
    // names
    {"velocity", 1, "unknown name 'velocity'"},
    {"X", 1, "unknown name 'X'; did you mean 'x'?"},
    {"x + enrgy", 5, "unknown name 'enrgy'; did you mean 'energy'?"},
    {"x + Energy", 5, "unknown name 'Energy'; did you mean 'energy'?"},
    {"2*frame.R23", 3, "unknown name 'frame.R23'; did you mean 'frame.R32'?"},
    {"frame.r32", 1, "unknown name 'frame.r32'; did you mean 'frame.R32'?"},
    {"frame", 1, "unknown name 'frame'"},
    {"wheel_2", 1, "unknown name 'wheel_2'; did you mean 'wheel_2.x'?"},
    {"PI", 1, "unknown name 'PI'; did you mean 'pi'?"},
    {"_", 1, "unknown name '_'"},
    {"e", 1, "unknown name 'e'"},
    {"inf", 1, "unknown name 'inf'; did you mean 'if'?"},
    {"nan", 1, "unknown name 'nan'; did you mean 'tan'?"},
    {"world", 1, "unknown name 'world'"},
    {"x.", 2, "expected an operator, not '.'"},
    {"x..y", 2, "expected an operator, not '.'"},
    {"x.5", 2, "expected an operator, not '.'"},
    {"x. y", 2, "expected an operator, not '.'"},
    {".x", 1, "expected " VALUE ", not '.'"},
    {"x y", 3, "expected an operator, not 'y'"},
    {"x 2", 3, "expected an operator, not '2'"},
    {"x and y", 3, "expected an operator, not 'a'"},
    {"not x", 1, "unknown name 'not'"},
    {"a_name_that_is_much_longer_than_anybody_would_ever_want_to_write_in_a_formula", 1,
     "unknown name 'a_name_that_is_much_longer_than_anybody_would_ever_want_to_w'"},
    // functions
    {"foo(x)", 1, "unknown function 'foo'"},
    {"sinn(x)", 1, "unknown function 'sinn'; did you mean 'sin'?"},
    {"1 + Sin(x)", 5, "unknown function 'Sin'; did you mean 'sin'?"},
    {"arctan(x)", 1, "unknown function 'arctan'; did you mean 'atan'?"},
    {"hpy(x, y)", 1, "unknown function 'hpy'; did you mean 'hyp'?"},
    {"D(x)", 1, "unknown function 'D'; did you mean 'd'?"},
    {"enrgy(x)", 1, "unknown function 'enrgy'"},
    {"pow(x, 2)", 1, "unknown function 'pow'; write a^b"},
    {"2*pow (x, 2)", 3, "unknown function 'pow'; write a^b"},
    {"table1(x)", 1, "unknown function 'table1'"},
    {"sin", 1, "'sin' is a function: write sin(...)"},
    {"sin x", 1, "'sin' is a function: write sin(...)"},
    {"2*sin*x", 3, "'sin' is a function: write sin(...)"},
    {"if x", 1, "'if' is a function: write if(...)"},
    {"d + 1", 1, "'d' is a function: write d(...)"},
    {"hyp", 1, "'hyp' is a function: write hyp(...)"},
    {"road", 1, "'road' is a function: write road(...)"},
    {"x(2)", 1, "'x' is not a function; write * to multiply"},
    {"1 + energy (2)", 5, "'energy' is not a function; write * to multiply"},
    {"pi(2)", 1, "'pi' is not a function; write * to multiply"},
    {"2(x)", 2, "expected an operator, not '('"},
    {"(x)(y)", 4, "expected an operator, not '('"},
    // arguments
    {"sin()", 1, "sin takes 1 argument, not 0"},
    {"1 + sin(x, y)", 5, "sin takes 1 argument, not 2"},
    {"atan2(x)", 1, "atan2 takes 2 arguments, not 1"},
    {"atan2(x, y, z)", 1, "atan2 takes 2 arguments, not 3"},
    {"if(x, y)", 1, "if takes 3 arguments, not 2"},
    {"if(x, y, z, t)", 1, "if takes 3 arguments, not 4"},
    {"min()", 1, "min takes two or more arguments"},
    {"min(x)", 1, "min takes two or more arguments"},
    {"max(x)", 1, "max takes two or more arguments"},
    {"d()", 1, "d takes 1 argument, not 0"},
    {"d(x, y)", 1, "d takes 1 argument, not 2"},
    {"hyp(x)", 1, "hyp takes 2 arguments, not 1"},
    {"hyp(x, y, z)", 1, "hyp takes 2 arguments, not 3"},
    {"sq()", 1, "sq takes 1 argument, not 0"},
    {"road(x, y)", 1, "road takes 1 argument, not 2"},
    {"map.height(x)", 1, "map.height takes 2 arguments, not 1"},
    {"min(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)", 44, "more than 16 arguments"},
    {"all(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16, 17)", 44, "more than 16 arguments"},
    {"all(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15)", 1, "all takes 16 arguments, not 15"},
    // operators that are not
    {"x**2", 2, "'**' is not an operator; write a^b"},
    {"x ** 2", 3, "'**' is not an operator; write a^b"},
    {"x = 2", 3, "'=' does not compare; write =="},
    {"(x = 2)", 4, "'=' does not compare; write =="},
    {"if(x = 2, 1, 0)", 6, "'=' does not compare; write =="},
    {"x =< 2", 3, "'=' does not compare; write =="},
    {"x & y", 3, "'&' is not an operator; write &&"},
    {"min(x | y, 2)", 7, "'|' is not an operator; write ||"},
    {"x < y < z", 7, "comparisons do not chain: write a < b && b < c"},
    {"x == y == z", 8, "comparisons do not chain: write a < b && b < c"},
    {"1 + x <= y + 1 >= z", 16, "comparisons do not chain: write a < b && b < c"},
    {"x && y < z < t", 12, "comparisons do not chain: write a < b && b < c"},
    {"x % 2", 3, "expected an operator, not '%'"},
    {"x ! y", 3, "expected an operator, not '!'"},
    {"x; y", 2, "expected an operator, not ';'"},
    {"x'", 2, "expected an operator, not '''"},
    {"\"x\"", 1, "expected " VALUE ", not '\"'"},
    {"x # comment", 3, "expected an operator, not '#'"},
    // choices
    {"x ?", 4, "the formula ends where " VALUE " is expected"},
    {"x ? 1", 6, "the formula ends where ':' is expected"},
    {"x ? 1 :", 8, "the formula ends where " VALUE " is expected"},
    {"x ? : 2", 5, "expected " VALUE ", not ':'"},
    {"x ? 1, 2", 6, "expected ':', not ','"},
    {"x : 2", 3, "expected an operator, not ':'"},
    {"? 1 : 2", 1, "expected " VALUE ", not '?'"},
    {"(x ? 1) : 2", 7, "expected ':', not ')'"},
    // numbers
    {"2x", 2, "a name right after a number: write * to multiply (numbers carry no units)"},
    {"2 x", 3, "a name right after a number: write * to multiply (numbers carry no units)"},
    {"5 mm", 3, "a name right after a number: write * to multiply (numbers carry no units)"},
    {"9.81m/2", 5, "a name right after a number: write * to multiply (numbers carry no units)"},
    {"0x10", 2, "a name right after a number: write * to multiply (numbers carry no units)"},
    {"1_000", 2, "a name right after a number: write * to multiply (numbers carry no units)"},
    {"1e", 2, "a name right after a number: write * to multiply (numbers carry no units)"},
    {"1e+", 2, "a name right after a number: write * to multiply (numbers carry no units)"},
    {"2 sin(x)", 3, "a name right after a number: write * to multiply (numbers carry no units)"},
    {"1.2.3", 4, "a second point in a number"},
    {"1..2", 3, "a second point in a number"},
    {"1e3.5", 4, "a second point in a number"},
    {"1 .5", 3, "expected an operator, not '.'"},
    {"1 2", 3, "expected an operator, not '2'"},
    {"1,5", 2, "expected an operator, not ','"},
    {".", 1, "expected " VALUE ", not '.'"},
    {".e5", 1, "expected " VALUE ", not '.'"},
    {"1e309", 1, "this number is too large"},
    {"x + 1e99999999999999999999", 5, "this number is too large"},
    // characters: columns count characters, not bytes
    {"\xcf\x89", 1, "expected " VALUE ", not '\xcf\x89': formulas are written in plain ASCII"},
    {"x\xc2\xb2", 2, "expected an operator, not '\xc2\xb2': formulas are written in plain ASCII"},
    {"x \xe2\x88\x92 y", 3,
     "expected an operator, not '\xe2\x88\x92': formulas are written in plain ASCII"},
    {"2*\xf0\x9d\x9c\x8b", 3,
     "expected " VALUE ", not '\xf0\x9d\x9c\x8b': formulas are written in plain ASCII"},
    {"min(x\xc2\xa0, y)", 6,
     "expected ',' or ')', not '\xc2\xa0': formulas are written in plain ASCII"},
    {"x \x80", 3, "expected an operator, not the byte 128"},
    {"\xff", 1, "expected " VALUE ", not the byte 255"},
    {"x + \xe2\x88", 5, "expected " VALUE ", not the byte 226"},
    {"x\x01", 2, "expected an operator, not the byte 1"},
    {"\x1b[1m", 1, "expected " VALUE ", not the byte 27"},
    {"x\x7f", 2, "expected an operator, not the byte 127"},
    {"x +\vy", 4, "expected " VALUE ", not the byte 11"},
    // rates
    {"d(angle)", 1, "the rate of 'angle' is not known here"},
    {"1 + d(x*angle)", 5, "the rate of 'angle' is not known here"},
    {"d(w)", 1, "the rate of 'w' is not known here"},
    {"d(d(y))", 1, "the rate of 'w' is not known here"},
    // inside functions of the user: the column is in the body
    {"1 + broken(x)", 9, "in function 'broken': the formula ends where ')' is expected"},
    {"outer(x)", 9, "in function 'broken': the formula ends where ')' is expected"},
    {"empty(x)", 1, "in function 'empty': the formula ends where " VALUE " is expected"},
    {"stranger(x)", 12, "in function 'stranger': unknown name 'velocty'; did you mean 'velocity'?"},
    {"too_few(x)", 1, "in function 'too_few': hyp takes 2 arguments, not 1"},
    {"calls(x)", 2, "in function 'calls': expected an operator, not '('"},
    {"assigns(x)", 3, "in function 'assigns': '=' does not compare; write =="},
    {"1 + lost(angle)", 1, "in function 'lost': the rate of 'angle' is not known here"},
    {"broken(velocity)", 8, "unknown name 'velocity'"}, // arguments are the caller's
    {"itself(1)", 5, "in function 'itself': function 'itself' calls itself"},
    {"ping(1)", 3, "in function 'pong': function 'ping' calls itself"},
    {"pong(1)", 1, "in function 'ping': function 'pong' calls itself"},
};

static void test_wrong_formulas(void **state)
{
    (void)state;
    System *s = workshop();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tr_error err = {0};
        const Expr x = tr_formula(s, wrong[i].formula, &err);
        if (err.column != wrong[i].column || strcmp(err.text, wrong[i].text) != 0)
            fail_msg("[%s] says, at %d: %s\nnot, at %d: %s", wrong[i].formula, err.column, err.text,
                     wrong[i].column, wrong[i].text);
        assert_int_equal(err.status, TR_INVALID);
        assert_int_equal(err.line, 1);
        assert_int_equal(x.id, 0);
        assert_ptr_equal(x.graph, s->graph);
        assert_int_equal(tr_formula(s, wrong[i].formula, NULL).id, 0); // nobody has to listen
    }
    assert_int_not_equal(tr_formula(s, "x + y", NULL).id, 0); // the system is as good as before
    tr_system_free(s);
}

static void test_wrong_definitions(void **state)
{
    (void)state;
    static const struct {
        const char *head, *formula;
        int column;
        const char *text;
    } bad[] = {
        {"new", "x + ", 5, "the formula ends where " VALUE " is expected"},
        {"new(a", "a", 6, "a function is written name(a, b), with up to 16 different arguments"},
        {"x", "1", 0, "the name 'x' is taken"},
        {"hyp(a)", "a", 0, "the name 'hyp' is taken"},
        {"sin(a)", "a", 0, "'sin' is a reserved name"},
        {"d", "1", 0, "'d' is a reserved name"},
        {"a b", "1", 0, "'a b' is not a name: letters, digits, _ and single points"},
    };
    System *s = workshop();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tr_error err = {0};
        tr_define(s, bad[i].head, bad[i].formula, &err);
        assert_string_equal(err.text, bad[i].text);
        assert_int_equal(err.column, bad[i].column);
    }
    assert_int_equal(tr_formula(s, "new", NULL).id, 0); // nothing was defined
    tr_system_free(s);
}

// Bytes after a zero are part of the formula.
static void test_embedded_zero(void **state)
{
    (void)state;
    System *s = workshop();
    const Scope scope = tr_system_scope(s);
    static const struct {
        Text text;
        int column;
        const char *words;
    } bad[] = {
        {{"x\0+ y", 5}, 2, "expected an operator, not the byte 0"},
        {{"\0", 1}, 1, "expected " VALUE ", not the byte 0"},
        {{"x + \0", 5}, 5, "expected " VALUE ", not the byte 0"},
        {{"min(x\0, y)", 10}, 6, "expected ',' or ')', not the byte 0"},
        {{NULL, 0}, 1, "the formula is empty"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tr_error err = {0};
        assert_int_equal(tr_formula_parse(s->graph, &scope, bad[i].text, (Place){1, 1}, &err).id,
                         0);
        assert_string_equal(err.text, bad[i].words);
        assert_int_equal(err.column, bad[i].column);
    }
    const Text longer = {"x + y + z", 5}; // the rest belongs to somebody else
    assert_int_equal(tr_formula_parse(s->graph, &scope, longer, (Place){0}, NULL).id,
                     tr_formula(s, "x + y", NULL).id);
    tr_system_free(s);
}

static void test_first_error_wins(void **state)
{
    (void)state;
    System *s = workshop();
    tr_error err = {0};
    tr_formula(s, "x +", &err);
    assert_int_equal(tr_formula(s, "x", &err).id, 0); // does nothing any more
    assert_int_equal(tr_formula(s, "unknown", &err).id, 0);
    assert_int_equal(err.column, 4);
    assert_int_equal(tr_formula(NULL, "x", &err).id, 0);
    tr_system_free(s);
}

// ---- places and scopes ---------------------------------------------------------------------

// A scope of its own: `known` means 5, `sulky` fails with its own words, one() is a function.
static bool own_name(void *owner, Text name, Expr *meaning, tr_error *err)
{
    if (text_is(name, "sulky")) tr_fail(err, TR_INVALID, (Place){2, 3}, "not today");
    if (!text_is(name, "known")) return false;
    *meaning = number(owner, 5);
    return true;
}

static const Function *own_function(void *owner, Text name)
{
    static Function function;
    (void)owner;
    tr_formula_head(text_of("wide(a)"), text_of("a +  b"), (Place){3, 20}, &function, NULL);
    return text_is(name, "wide") ? &function : NULL;
}

static void check_place(const Scope *scope, const char *formula, Place place, int line, int column,
                        const char *text)
{
    Graph *graph = tr_graph_new();
    const Scope own = {graph, scope->name, scope->function, scope->rate, scope->offer};
    tr_error err = {0};
    assert_int_equal(tr_formula_parse(graph, &own, text_of(formula), place, &err).id, 0);
    assert_string_equal(err.text, text);
    assert_int_equal(err.line, line);
    assert_int_equal(err.column, column);
    tr_graph_free(graph);
}

static void test_places(void **state)
{
    (void)state;
    const Scope scope = {.name = own_name, .function = own_function}, nothing = {0};
    const Place here = {7, 12};
    check_place(&scope, "nobody", here, 7, 12, "unknown name 'nobody'");
    check_place(&scope, "known + nobody", here, 7, 20, "unknown name 'nobody'");
    check_place(&scope, "", here, 7, 12, "the formula is empty");
    check_place(&scope, "known +", here, 7, 19, "the formula ends where " VALUE " is expected");
    check_place(&scope, "known = 2", here, 7, 18, "'=' does not compare; write ==");
    check_place(&scope, "known\xc2\xb5", here, 7, 17,
                "expected an operator, not '\xc2\xb5': formulas are written in plain ASCII");
    check_place(&scope, "1 + wide(known)", here, 3, 25, "in function 'wide': unknown name 'b'");
    check_place(&scope, "wide(nobody)", here, 7, 17, "unknown name 'nobody'");
    check_place(&scope, "1 + sulky", here, 2, 3, "not today");
    check_place(&scope, "1 + sulky(2)", here, 2, 3, "not today");
    check_place(&scope, "known(2)", here, 7, 12, "'known' is not a function; write * to multiply");
    check_place(&scope, "1 + nobody", (Place){0}, 0, 5, "unknown name 'nobody'");
    // who knows nothing
    check_place(&nothing, "known", here, 7, 12, "unknown name 'known'");
    check_place(&nothing, "wide(2)", here, 7, 12, "unknown function 'wide'");
    check_place(&nothing, "1 + d(2)", here, 7, 16, "there is no motion to take d(...) along here");
}

static void test_scope_without_system(void **state)
{
    (void)state;
    Graph *graph = tr_graph_new();
    const Scope scope = {graph, own_name, own_function, NULL, NULL}, nothing = {0};
    double value;
    tr_error err = {0};
    assert_true(tr_is_constant(
        tr_formula_parse(graph, &scope, text_of("known*2 + 1"), (Place){0}, &err), &value));
    assert_true(value == 11);
    assert_true(tr_is_constant(
        tr_formula_parse(graph, &nothing, text_of("max(2, 3)*pi"), (Place){0}, &err), &value));
    assert_true(value == 3 * M_PI);
    assert_int_equal(err.status, TR_OK);
    tr_graph_free(graph);
}

// ---- size ----------------------------------------------------------------------------------

// count times `before`, then `middle`, then count times `after`
static char *nested(const char *before, const char *middle, const char *after, int count)
{
    Buffer buffer = {0};
    for (int i = 0; i < count; i++) tr_buffer_print(&buffer, "%s", before);
    tr_buffer_print(&buffer, "%s", middle);
    for (int i = 0; i < count; i++) tr_buffer_print(&buffer, "%s", after);
    assert_false(buffer.failed);
    return buffer.at;
}

static void test_nesting(void **state)
{
    (void)state;
    static const struct {
        const char *before, *middle, *after;
        int most;   // times that are allowed
        int column; // of the complaint about one more
    } nests[] = {
        {"(", "x", ")", 199, 201},        {"-", "x", "", 199, 201},
        {"!", "x", "", 199, 201},         {"-(", "x", ")", 99, 201},
        {"x^", "x", "", 199, 401},        {"2^-", "x", "", 99, 301},
        {"x ? y : ", "z", "", 199, 1597}, {"x ? ", "y", " : z", 199, 801},
        {"sin(", "x", ")", 199, 801},     {"min(1, ", "x", ")", 199, 1398},
        {"sq(", "x", ")", 199, 601},      {"if(x, y, ", "z", ")", 199, 1795},
    };
    System *s = workshop();
    for (size_t i = 0; i < sizeof nests / sizeof *nests; i++)
        for (int more = 0; more < 2; more++) {
            const int count = more ? nests[i].most + 1 : nests[i].most;
            char *formula = nested(nests[i].before, nests[i].middle, nests[i].after, count);
            tr_error err = {0};
            const Expr x = tr_formula(s, formula, &err);
            if (!more != !err.status || !more != !!x.id)
                fail_msg("%s... %d times: %s", nests[i].before, count, err.text);
            if (more) assert_non_null(strstr(err.text, "the formula is nested more than 200 deep"));
            if (more && err.column != nests[i].column)
                fail_msg("%s...: column %d", nests[i].before, err.column);
            free(formula);
            formula = nested(nests[i].before, nests[i].middle, nests[i].after, 20000);
            assert_int_equal(tr_formula(s, formula, NULL).id, 0); // and the stack survives
            free(formula);
        }
    tr_system_free(s);
}

// Functions that call functions that call functions ...
static void test_nested_calls(void **state)
{
    (void)state;
    System *s = workshop();
    tr_error err = {0};
    tr_define(s, "g0(a)", "a", &err);
    for (int k = 1; k <= 250; k++) {
        char head[20], body[20];
        snprintf(head, sizeof head, "g%d(a)", k);
        snprintf(body, sizeof body, "g%d(a) + 1", k - 1);
        tr_define(s, head, body, &err);
    }
    const Expr deepest = tr_formula(s, "g198(0)", &err);
    assert_int_equal(err.status, TR_OK);
    assert_true(evaluate(s, deepest) == 198);
    assert_int_equal(tr_formula(s, "g250(0)", &err).id, 0);
    assert_string_equal(err.text, "in function 'g52': the formula is nested more than 200 deep");
    assert_int_equal(err.column, 5); // the argument of g51(a)
    tr_system_free(s);
}

enum { PATIENCE = SLOW_BUILD ? 20 : 2, STEP = SLOW_BUILD ? 4 : 1 }; // [s]; every fourth bomb

static double seconds_since(clock_t start) { return (double)(clock() - start) / CLOCKS_PER_SEC; }

// f30 calls f29 twice, which calls f28 twice, ... f0
static void test_expansion_bombs(void **state)
{
    (void)state;
    static const struct {
        const char *last, *twice, *formula;
    } bombs[] = {
        {"a + a", "f%d(a) + f%d(a)", "f30(x)"},
        {"sin(a)*x", "f%d(f%d(a))", "f30(x)"},
        {"a", "max(f%d(a), f%d(1 - a))", "f30(x)"},
        {"d(a)", "f%d(a) + f%d(a)", "f30(sin(x*v)^3)"},
        {"d(d(d(d(d(d(d(a)))))))", "f%d(a) + f%d(a)", "f30(sin(x*v)^3)"},
        {"d(sin(a))*v", "f%d(f%d(a))", "f30(x)"},
        {"sin(a)*v", "f%d(f%d(a))", "d(f17(x)) + d(f17(x)) + d(f17(x))"},
    };
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i += STEP) {
        System *s = workshop();
        tr_error err = {0};
        tr_define(s, "f0(a)", bombs[i].last, &err);
        for (int k = 1; k <= 30; k++) {
            char head[20], body[80];
            snprintf(head, sizeof head, "f%d(a)", k);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(body, sizeof body, bombs[i].twice, k - 1, k - 1);
#pragma GCC diagnostic pop
            tr_define(s, head, body, &err);
        }
        assert_int_equal(err.status, TR_OK);
        const clock_t start = clock();
        assert_int_equal(tr_formula(s, bombs[i].formula, &err).id, 0);
        if (!strstr(err.text, "the formula has more than 1000000 parts"))
            fail_msg("%s: %s", bombs[i].last, err.text);
        if (seconds_since(start) > PATIENCE)
            fail_msg("%s took %g s", bombs[i].last, seconds_since(start));
        tr_system_free(s);
    }
}

// Every d may double the expression.
static void test_many_derivatives(void **state)
{
    (void)state;
    System *s = workshop();
    tr_error err = {0};
    tr_rate_set(s, s->inputs[V].symbol, tr_formula(s, "-z*sin(x)/(1 + v^2)", &err), &err);
    char *formula = nested("d(", "x", ")", 150);
    const clock_t start = clock();
    assert_int_equal(err.status, TR_OK);
    assert_int_equal(tr_formula(s, formula, &err).id, 0);
    assert_string_equal(err.text, "the formula has more than 1000000 parts");
    assert_true(seconds_since(start) < PATIENCE);
    assert_false(s->graph->failed);
    free(formula);
    tr_system_free(s);
}

static void test_long_formulas(void **state)
{
    (void)state;
    enum { TERMS = 100000 };
    System *s = workshop();
    tr_error err = {0};
    Buffer sum = {0}, waves = {0}, spaces = {0};
    double expected = 0;
    for (int i = 0; i < TERMS; i++) {
        tr_buffer_print(&sum, i ? " + x" : "x");
        tr_buffer_print(&waves, "%ssin(x + %d)", i ? " - " : "", i);
        tr_buffer_print(&spaces, " \n");
        expected += i ? -sin(at[X] + i) : sin(at[X]);
    }
    tr_buffer_print(&spaces, "x");
    const clock_t start = clock();
    const Expr same_terms = tr_formula(s, sum.at, &err);
    const Expr all_waves = tr_formula(s, waves.at, &err);
    const Expr alone = tr_formula(s, spaces.at, &err);
    assert_true(seconds_since(start) < PATIENCE);
    assert_int_equal(err.status, TR_OK);
    assert_true(evaluate(s, same_terms) == TERMS * at[X]);
    assert_close(evaluate(s, all_waves), expected, 1e-9);
    assert_int_equal(alone.id, tr_formula(s, "x", NULL).id);

    tr_buffer_print(&waves, " + nobody_at_all");
    assert_int_equal(tr_formula(s, waves.at, &err).id, 0);
    assert_int_equal(err.column, (int)waves.length - 12);
    tr_buffer_free(&sum);
    tr_buffer_free(&waves);
    tr_buffer_free(&spaces);
    tr_system_free(s);
}

// ---- heads and names -----------------------------------------------------------------------

static void test_good_heads(void **state)
{
    (void)state;
    static const struct {
        const char *head, *name;
        uint32_t count;
        const char *last;
    } heads[] = {
        {"f(a)", "f", 1, "a"},
        {"f(a, b)", "f", 2, "b"},
        {" f\t( a ,\nb ) ", "f", 2, "b"},
        {"body.f(p.q, r)", "body.f", 2, "r"},
        {"_f9(_1)", "_f9", 1, "_1"},
        {"f(f)", "f", 1, "f"},
        {"f(sin, t, pi)", "f", 3, "pi"},
        {"f(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p)", "f", 16, "p"},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        Function f;
        tr_error err = {0};
        const Text body = text_of("a + 1");
        assert_true(tr_formula_head(text_of(heads[i].head), body, (Place){4, 9}, &f, &err));
        assert_int_equal(err.status, TR_OK);
        assert_true(text_is(f.name, heads[i].name));
        assert_int_equal(f.argument_count, heads[i].count);
        assert_true(text_is(f.arguments[f.argument_count - 1], heads[i].last));
        assert_ptr_equal(f.body.at, body.at);
        assert_int_equal(f.place.line, 4);
        assert_int_equal(f.place.column, 9);
    }
}

static void test_bad_heads(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        int column;
    } heads[] = {
        {"", 1},
        {" ", 2},
        {"f", 2},
        {"f(", 3},
        {"f()", 3},
        {"f(a", 4},
        {"f(a,", 5},
        {"f(a,)", 5},
        {"f(a b)", 5},
        {"f(a, a)", 6},
        {"f(a, b, a)", 9},
        {"f(a) x", 6},
        {"f(a))", 5},
        {"f((a))", 3},
        {"(a)", 1},
        {"1f(a)", 1},
        {"f(1)", 3},
        {"f(a.)", 4},
        {"f.(a)", 2},
        {"f g(a)", 3},
        {"f(a + b)", 5},
        {"f(a; b)", 4},
        {"f[a]", 2},
        {"f(\xc3\xa9)", 3},
        {"\xc3\xa9(a)", 1},
        {"f(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q)", 35},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        Function f;
        tr_error err = {0};
        assert_false(
            tr_formula_head(text_of(heads[i].head), text_of("a"), (Place){4, 9}, &f, &err));
        assert_string_equal(err.text,
                            "a function is written name(a, b), with up to 16 different arguments");
        assert_int_equal(err.status, TR_INVALID);
        assert_int_equal(err.line, 4);
        if (err.column != 8 + heads[i].column)
            fail_msg("[%s]: column %d", heads[i].head, err.column - 8);
        assert_false(tr_formula_head(text_of(heads[i].head), text_of("a"), (Place){0}, &f, NULL));
    }
}

static void test_names(void **state)
{
    (void)state;
    static const char *const good[] = {"a", "_", "a1", "A_b", "a.b", "a.b.c", "_1._2", "frame.R32"};
    static const char *const bad[] = {"",         " ",         "1",   "1a",   "a b", "a.",  ".a",
                                      "a..b",     "a.1",       "a-b", " a",   "a ",  "a\n", "a(",
                                      "\xc3\xa9", "a\xc3\xa9", "+",   "a.b.", "a/b", "a,b"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(tr_formula_is_name(text_of(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (tr_formula_is_name(text_of(bad[i]))) fail_msg("'%s' passes as a name", bad[i]);
    assert_false(tr_formula_is_name((Text){NULL, 0}));
    assert_false(tr_formula_is_name((Text){"a\0b", 3}));
    assert_true(tr_formula_is_name((Text){"ab cd", 2}));
}

static void test_reserved(void **state)
{
    (void)state;
    static const char *const yes[] = {"t",   "pi",   "d",    "if",    "world", "ground", "sin",
                                      "cos", "tan",  "asin", "acos",  "atan",  "atan2",  "exp",
                                      "log", "sqrt", "abs",  "floor", "min",   "max"};
    static const char *const no[] = {"",       "x",      "T", "Sin", "tt",      "dd", "pow",
                                     "table1", "table2", "e", "+",   "world.x", "<",  "symbol"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!tr_formula_reserved(text_of(yes[i]))) fail_msg("'%s' is free", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (tr_formula_reserved(text_of(no[i]))) fail_msg("'%s' is reserved", no[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),         cmocka_unit_test(test_exact_values),
        cmocka_unit_test(test_rounded_values),  cmocka_unit_test(test_same_expressions),
        cmocka_unit_test(test_wrong_formulas),  cmocka_unit_test(test_wrong_definitions),
        cmocka_unit_test(test_embedded_zero),   cmocka_unit_test(test_first_error_wins),
        cmocka_unit_test(test_places),          cmocka_unit_test(test_scope_without_system),
        cmocka_unit_test(test_nesting),         cmocka_unit_test(test_nested_calls),
        cmocka_unit_test(test_expansion_bombs), cmocka_unit_test(test_many_derivatives),
        cmocka_unit_test(test_long_formulas),   cmocka_unit_test(test_good_heads),
        cmocka_unit_test(test_bad_heads),       cmocka_unit_test(test_names),
        cmocka_unit_test(test_reserved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
