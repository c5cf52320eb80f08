// SPDX-License-Identifier: Apache-2.0
// Formulas that are wrong: what they say and where; and that neither deep, long nor explosive ones
// do harm.
#include "formulas.h"

#include <time.h>

// ---- wrong formulas ------------------------------------------------------------------------

#define KNOWN                                                                            \
    "; there are 'x', 'y', 'z', 't', 'v', 'w', 'u', 'frame.R32', 'wheel_2.x', 'angle', " \
    "'energy', 'turn', 'body.energy'"
#define FUNCTIONS                                                                                \
    "; there are 'sqrt', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'atan2', 'exp', 'hypot', " \
    "'log', 'abs', 'floor', 'min', 'max', 'if', 'd'"
#define OWN_FUNCTIONS                                                                             \
    "; there are 'road', 'held', 'cube', 'map.height', 'sq', 'hyp', 'first', 'one_of', 'shift', " \
    "'turned', 'ramp', 'speed', 'power_of', 'often', 'late', 'early', 'plus_one', ..."
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
    {"velocity", 1, "unknown name 'velocity'" KNOWN},
    {"X", 1, "unknown name 'X'; did you mean 'x'?"},
    {"x + enrgy", 5, "unknown name 'enrgy'; did you mean 'energy'?"},
    {"x + Energy", 5, "unknown name 'Energy'; did you mean 'energy'?"},
    {"2*frame.R23", 3, "unknown name 'frame.R23'; did you mean 'frame.R32'?"},
    {"frame.r32", 1, "unknown name 'frame.r32'; did you mean 'frame.R32'?"},
    {"frame", 1, "unknown name 'frame'" KNOWN},
    {"wheel_2", 1, "unknown name 'wheel_2'; did you mean 'wheel_2.x'?"},
    {"PI", 1, "unknown name 'PI'; did you mean 'pi'?"},
    {"_", 1, "unknown name '_'" KNOWN},
    {"e", 1, "unknown name 'e'" KNOWN},
    {"inf", 1, "unknown name 'inf'; did you mean 'if'?"},
    {"nan", 1, "unknown name 'nan'; did you mean 'tan'?"},
    {"world", 1, "unknown name 'world'" KNOWN},
    {"x.", 2, "expected an operator, not '.'"},
    {"x..y", 2, "expected an operator, not '.'"},
    {"x.5", 2, "expected an operator, not '.'"},
    {"x. y", 2, "expected an operator, not '.'"},
    {".x", 1, "expected " VALUE ", not '.'"},
    {"x y", 3, "expected an operator, not 'y'"},
    {"x 2", 3, "expected an operator, not '2'"},
    {"x and y", 3, "expected an operator, not 'a'"},
    {"not x", 1, "unknown name 'not'" KNOWN},
    {"a_name_that_is_much_longer_than_anybody_would_ever_want_to_write_in_a_formula", 1,
     "unknown name 'a_name_that_is_much_longer_than_anybody_would_ever_want_to_w'" KNOWN},
    // functions
    {"foo(x)", 1, "unknown function 'foo'" OWN_FUNCTIONS},
    {"sinn(x)", 1, "unknown function 'sinn'; did you mean 'sin'?"},
    {"1 + Sin(x)", 5, "unknown function 'Sin'; did you mean 'sin'?"},
    {"arctan(x)", 1, "unknown function 'arctan'; did you mean 'atan'?"},
    {"hpy(x, y)", 1, "unknown function 'hpy'; did you mean 'hyp'?"},
    {"D(x)", 1, "unknown function 'D'; did you mean 'd'?"},
    {"enrgy(x)", 1, "unknown function 'enrgy'" OWN_FUNCTIONS},
    {"pow(x, 2)", 1, "unknown function 'pow'; write a^b"},
    {"2*pow (x, 2)", 3, "unknown function 'pow'; write a^b"},
    {"table1(x)", 1, "unknown function 'table1'" OWN_FUNCTIONS},
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
    {"broken(velocity)", 8, "unknown name 'velocity'" KNOWN}, // arguments are the caller's
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
        {"a b", "1", 0, "'a b' is not a name: ASCII letters, digits, _ and single points"},
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
        assert_int_equal(tr_formula_parse(s->graph, &scope, bad[i].text, place_at(1, 1), &err).id,
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
    if (text_is(name, "sulky")) tr_fail(err, TR_INVALID, place_at(2, 3), "not today");
    if (!text_is(name, "known")) return false;
    *meaning = number(owner, 5);
    return true;
}

static const Function *own_function(void *owner, Text name)
{
    static Function function;
    (void)owner;
    tr_formula_head(text_of("wide(a)"), text_of("a +  b"), place_at(3, 20), &function, NULL);
    return text_is(name, "wide") ? &function : NULL;
}

static void check_place(const Scope *scope, const char *formula, Place place, int line, int column,
                        const char *text)
{
    Graph *graph = tr_graph_new();
    const Scope own = {graph, scope->name, scope->function, scope->rate, scope->offer, NULL};
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
    const Place here = place_at(7, 12);
    check_place(&scope, "nobody", here, 7, 12, "unknown name 'nobody'");
    check_place(&scope, "known + nobody", here, 7, 20, "unknown name 'nobody'");
    check_place(&scope, "", here, 7, 12, "the formula is empty");
    check_place(&scope, "known +", here, 7, 19, "the formula ends where " VALUE " is expected");
    check_place(&scope, "known = 2", here, 7, 18, "'=' does not compare; write ==");
    check_place(&scope, "known\xc2\xb5", here, 7, 17,
                "expected an operator, not '\xc2\xb5': formulas are written in plain ASCII");
    check_place(&scope, "1 + wide(known)", here, 3, 25,
                "in function 'wide': unknown name 'b'; there is 'a'");
    check_place(&scope, "wide(nobody)", here, 7, 17, "unknown name 'nobody'");
    check_place(&scope, "1 + sulky", here, 2, 3, "not today");
    check_place(&scope, "1 + sulky(2)", here, 2, 3, "not today");
    check_place(&scope, "known(2)", here, 7, 12, "'known' is not a function; write * to multiply");
    check_place(&scope, "1 + nobody", (Place){0}, 0, 5, "unknown name 'nobody'");
    // who knows nothing
    check_place(&nothing, "known", here, 7, 12, "unknown name 'known'");
    check_place(&nothing, "wide(2)", here, 7, 12, "unknown function 'wide'" FUNCTIONS);
    check_place(&nothing, "1 + d(2)", here, 7, 16, "there is no motion to take d(...) along here");
}

static void test_scope_without_system(void **state)
{
    (void)state;
    Graph *graph = tr_graph_new();
    const Scope scope = {graph, own_name, own_function, NULL, NULL, NULL}, nothing = {0};
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
        assert_true(tr_formula_head(text_of(heads[i].head), body, place_at(4, 9), &f, &err));
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
            tr_formula_head(text_of(heads[i].head), text_of("a"), place_at(4, 9), &f, &err));
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
