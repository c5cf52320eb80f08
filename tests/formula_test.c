// SPDX-License-Identifier: Apache-2.0
// Formulas that are right: what they are worth, compared with C's own arithmetic and libm, and
// which are the same expression.
#include "formulas.h"

#define INF ((double)INFINITY)

// ---- right formulas ------------------------------------------------------------------------

typedef struct Case {
    const char *formula;
    double value;
} Case;

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

#define CHECK_ROUNDED(cases) check_cases(cases, sizeof(cases) / sizeof *(cases), 6)

// Values that come from rounding operations: arithmetic, roots, sines
static void test_rounded_arithmetic(void **state)
{
    (void)state;
    const double x = at[X], y = at[Y], z = at[Z];
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
    };
    CHECK_ROUNDED(rounded);
}

// inverse functions, exponentials, and all of them together
static void test_rounded_inverses(void **state)
{
    (void)state;
    const double x = at[X], y = at[Y], z = at[Z];
    const Case rounded[] = {
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
    };
    CHECK_ROUNDED(rounded);
}

// powers, constants, functions and tables
static void test_rounded_powers(void **state)
{
    (void)state;
    const double x = at[X], y = at[Y], z = at[Z], t = at[T];
    const double tau = 2 * M_PI;
    const Case rounded[] = {
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
    };
    CHECK_ROUNDED(rounded);
}

// and rates
static void test_rounded_derivatives(void **state)
{
    (void)state;
    const double x = at[X], y = at[Y], z = at[Z], v = at[V], w = at[W];
    const double tau = 2 * M_PI;
    const Case rounded[] = {
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
    CHECK_ROUNDED(rounded);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_exact_values),
        cmocka_unit_test(test_rounded_arithmetic),
        cmocka_unit_test(test_rounded_inverses),
        cmocka_unit_test(test_rounded_powers),
        cmocka_unit_test(test_rounded_derivatives),
        cmocka_unit_test(test_same_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
