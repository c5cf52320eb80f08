// SPDX-License-Identifier: Apache-2.0
// Recursive descent, one function per rule of the grammar in formula.h; expressions are built as
// they are read. Binary operators climb by their strength.
#include "expr/formula.h"

#include "base/number.h"
#include "expr/walk.h"

#include <stdarg.h>
#include <stdio.h>

// A call of a user's function that is being expanded.
typedef struct Call {
    const Function *function;
    const Expr *arguments;
    const struct Parser *in; // where it is called
    size_t at;
    const struct Call *caller;
} Call;

typedef struct Parser {
    Graph *graph;
    const Scope *scope;
    Text text;
    Place place; // of text's first character
    size_t at;
    Budget *budget;
    const Call *call; // NULL outside functions
    tr_error *err;
} Parser;

static Expr parse_choice(Parser *p);
static Expr parse_sign(Parser *p);

// ---- characters ----------------------------------------------------------------------------

static char peek_at(const Parser *p, size_t at) { return at < p->text.length ? p->text.at[at] : 0; }

// The next character that is not a space; 0 at the end.
static char peek(Parser *p)
{
    while (is_space(peek_at(p, p->at))) p->at++;
    return peek_at(p, p->at);
}

static bool accept(Parser *p, const char *token)
{
    const size_t length = strlen(token);
    peek(p);
    if (p->text.length - p->at < length || memcmp(p->text.at + p->at, token, length) != 0)
        return false;
    p->at += length;
    return true;
}

static bool at_end(Parser *p)
{
    peek(p);
    return p->at >= p->text.length;
}

// Length of word { "." word } at the start of a text, or 0.
static size_t name_length(Text text)
{
    size_t at = 0;
    do {
        const size_t start = at;
        while (at < text.length &&
               (begins_name(text.at[at]) || (at > start && is_digit(text.at[at]))))
            at++;
        if (at == start) return start ? start - 1 : 0;
    } while (at < text.length && text.at[at] == '.' && ++at);
    return at;
}

// ---- errors --------------------------------------------------------------------------------

static Expr failed(Parser *p) { return expr_at(p->graph, 0); }

static Place place_of(const Parser *p, size_t at)
{
    Place place = p->place;
    place.column += tr_utf8_columns(p->text.at, at);
    return place;
}

// The words, after the name of the function they are about, if any.
__attribute__((format(printf, 3, 4))) static Expr wrong(Parser *p, size_t at, const char *format,
                                                        ...)
{
    char words[sizeof p->err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (p->call)
        tr_fail(p->err, TR_INVALID, place_of(p, at), "in function '%.*s': %s",
                TEXT(p->call->function->name), words);
    else
        tr_fail(p->err, TR_INVALID, place_of(p, at), "%s", words);
    return failed(p);
}

static Expr wrong_character(Parser *p, const char *wanted)
{
    if (at_end(p)) return wrong(p, p->at, "the formula ends where %s is expected", wanted);
    const char *at = p->text.at + p->at;
    const size_t length = tr_utf8_length(at, p->text.length - p->at);
    if (length == 1 && *at > ' ' && *at < 127)
        return wrong(p, p->at, "expected %s, not '%c'", wanted, *at);
    if (length > 1)
        return wrong(p, p->at, "expected %s, not '%.*s': formulas are written in plain ASCII",
                     wanted, (int)length, at);
    return wrong(p, p->at, "expected %s, not the byte %d", wanted, (unsigned char)*at);
}

static bool is_function(const Parser *p, Text name)
{
    return tr_op_called(name) != OP_FAILED || text_is(name, "d") ||
           (p->scope->function && p->scope->function(p->scope->owner, name));
}

static Expr unknown(Parser *p, size_t at, const char *what, Text name)
{
    const bool calls = text_is(text_of(what), "function");
    void (*const offer)(Suggestion *, Text) = calls ? tr_suggest : tr_suggest_unlisted;
    Suggestion nearest = {.wanted = name, .of_functions = calls};
    for (uint32_t i = 0; !calls && p->call && i < p->call->function->argument_count; i++)
        tr_suggest(&nearest, p->call->function->arguments[i]);
    char prefix[TR_PREFIX_SHOWN];
    tr_origin_prefix(p->place.in, prefix);
    if (prefix[0] && !text_begins_with(name, prefix)) nearest.prefix = prefix;
    if (p->scope->offer) p->scope->offer(p->scope->owner, &nearest);
    nearest.prefix = NULL; // what follows is known to all files
    for (Op op = OP_SYMBOL + 1; op < OP_COUNT; op++)
        if (tr_op[op].form == FORM_CALL) offer(&nearest, text_of(tr_op[op].name));
    offer(&nearest, text_of(calls ? "d" : "pi"));
    char hint[TR_HINT_SIZE];
    return wrong(p, at, "unknown %s '%.*s'%s", what, TEXT(name), tr_hint(&nearest, hint));
}

static bool enter(Parser *p)
{
    if (++p->budget->depth <= FORMULA_MAX_DEPTH) return true;
    peek(p); // to what is one too deep
    wrong(p, p->at, "the formula is nested more than %d deep%s", FORMULA_MAX_DEPTH,
          p->scope->budget ? ", counted with those that use it" : "");
    return false;
}

static void leave(Parser *p) { p->budget->depth--; }

// Takes so many of the parts that formulas may have. What is shown is the formula, and not the
// function in it that happens to have one too many.
static bool spend(Parser *p, size_t at, size_t parts)
{
    const long most = p->scope->budget ? MODEL_MAX_PARTS : FORMULA_MAX_PARTS;
    p->budget->parts += (long)parts;
    if (p->budget->parts <= most) return true;
    const Call *call = p->call;
    while (call && call->caller) call = call->caller;
    const Place place = call ? place_of(call->in, call->at) : place_of(p, at);
    if (p->scope->budget)
        tr_fail(p->err, TR_INVALID, place,
                "up to here the formulas of the model have more than %ld parts, with functions "
                "expanded and d(...) taken",
                most);
    else
        tr_fail(p->err, TR_INVALID, place, "the formula has more than %ld parts", most);
    return false;
}

// ---- functions -----------------------------------------------------------------------------

// Arguments after "name(", with the closing parenthesis; returns their number, -1 after an error.
static int parse_arguments(Parser *p, Expr *arguments)
{
    int count = 0;
    if (accept(p, ")")) return 0;
    do {
        if (count == FORMULA_MAX_ARGUMENTS)
            return wrong(p, p->at, "more than %d arguments", FORMULA_MAX_ARGUMENTS), -1;
        arguments[count++] = parse_choice(p);
        if (has_failed(p->err)) return -1;
    } while (accept(p, ","));
    if (!accept(p, ")")) return wrong_character(p, "',' or ')'"), -1;
    return count;
}

static bool check_count(Parser *p, size_t at, Text name, int wanted, int given)
{
    if (given == wanted) return true;
    wrong(p, at, "%.*s takes %d argument%s, not %d", TEXT(name), wanted, wanted == 1 ? "" : "s",
          given);
    return false;
}

static Expr call_operation(Parser *p, size_t at, Text name, Op op, const Expr *x, int count)
{
    Expr y;
    if (count > 0 && tr_build_call(op, x, (size_t)count, &y)) return y;
    if (op == OP_MIN || op == OP_MAX)
        return wrong(p, at, "%.*s takes two or more arguments", TEXT(name));
    check_count(p, at, name, tr_op[op].operands, count);
    return failed(p);
}

// What a walk over an expression costs, in values read.
static size_t work_on(Expr x)
{
    Reach reach;
    tr_reach(graph_of(x), &x, 1, &reach);
    const size_t work = reach.count / 2 + x.id / 4096;
    tr_reach_free(&reach);
    return work;
}

// Not a part of parse_call, of which there is one on the stack for each level.
__attribute__((noinline)) static Expr call_rate(Parser *p, size_t at, Text name, const Expr *x,
                                                int count)
{
    if (!check_count(p, at, name, 1, count)) return failed(p);
    Expr rate = failed(p);
    tr_error why = {0};
    const uint32_t before = p->graph->count;
    if (p->scope->rate && p->scope->rate(p->scope->owner, x[0], &rate, &why))
        return spend(p, at, p->graph->count - before + work_on(x[0])) ? rate : failed(p);
    if (p->graph->failed || why.status == TR_NO_MEMORY)
        return tr_graph_refuse(p->graph, p->err), failed(p);
    return wrong(p, at, "%s",
                 why.status ? why.text : "there is no motion to take d(...) along here");
}

// A table that holds its ends is not left: what it is asked for stays within them. It goes on
// beyond them itself, as a step does that keeps to the side on which it began.
static Expr clamped(Expr x, const TableAxis *axis)
{
    Graph *g = graph_of(x);
    const Expr first = number(g, axis->knot[0]), last = number(g, axis->knot[axis->count - 1]);
    if (op_of(x) == OP_MIN && same(operand(x, 1), last) && op_of(operand(x, 0)) == OP_MAX &&
        same(operand(operand(x, 0), 1), first))
        return x; // as it was printed
    if (op_of(x) == OP_MIN && same(operand(x, 0), last) && op_of(operand(x, 1)) == OP_MAX &&
        same(operand(operand(x, 1), 0), first))
        return x;
    const Expr above = tr_build(OP_MAX, x, first, x);
    return tr_build(OP_MIN, above, last, above);
}

static Expr call_table(Parser *p, size_t at, const Function *function, const Expr *x)
{
    const Table *table = p->graph->tables[function->table];
    Expr y[2] = {x[0], x[function->argument_count - 1]};
    for (uint32_t k = 0; k < function->argument_count; k++) {
        const TableAxis *axis = &table->axis[k];
        const double first = axis->knot[0], last = axis->knot[axis->count - 1];
        if (function->holds && axis->degree) y[k] = clamped(y[k], axis);
        if (table->stops && is_number(y[k]) && !(value_of(y[k]) >= first && value_of(y[k]) <= last))
            return wrong(p, at, "%.9g is outside of the table '%.*s', which goes from %.9g to %.9g",
                         value_of(y[k]), TEXT(function->name), first, last);
    }
    if (function->argument_count == 1) y[1] = y[0];
    return tr_build_table(function->table, y[0], y[1], 0);
}

// The body of a user's function, read with its arguments standing for the given expressions.
static Expr expand(Parser *p, size_t at, const Function *function, const Expr *x, int count)
{
    if (!check_count(p, at, function->name, (int)function->argument_count, count)) return failed(p);
    if (!function->body.at) return call_table(p, at, function, x);
    for (const Call *call = p->call; call; call = call->caller)
        if (call->function == function)
            return wrong(p, at, "function '%.*s' calls itself", TEXT(function->name));
    const Call call = {function, x, p, at, p->call};
    Parser body = *p;
    body.text = function->body;
    body.place = function->place;
    body.at = 0;
    body.call = &call;
    const Expr y = parse_choice(&body);
    if (!has_failed(p->err) && !at_end(&body)) return wrong_character(&body, "an operator");
    return y;
}

// The meaning of a name that is not a function's; it may fail with words of its own.
static bool has_meaning(Parser *p, Text name, Expr *meaning)
{
    if (text_is(name, "pi")) return *meaning = number(p->graph, 3.14159265358979323846), true;
    tr_error why = {0}; // words without a place get the name's
    if (p->scope->name && p->scope->name(p->scope->owner, name, meaning, &why)) return true;
    if (why.line)
        tr_fail_again(p->err, &why, "%s", why.text);
    else if (why.status)
        tr_fail(p->err, why.status, place_of(p, (size_t)(name.at - p->text.at)), "%s", why.text);
    return false;
}

static Expr parse_call(Parser *p, size_t at, Text name)
{
    Expr x[FORMULA_MAX_ARGUMENTS] = {{0}};
    const Function *function =
        p->scope->function ? p->scope->function(p->scope->owner, name) : NULL;
    const Op op = tr_op_called(name);
    const bool is_rate = text_is(name, "d");
    if (!function && op == OP_FAILED && !is_rate) {
        if (text_is(name, "pow")) return wrong(p, at, "unknown function 'pow'; write a^b");
        if (has_meaning(p, name, &x[0]))
            return wrong(p, at, "'%.*s' is not a function; write * to multiply", TEXT(name));
        if (has_failed(p->err)) return failed(p);
        return unknown(p, at, "function", name);
    }
    const int count = parse_arguments(p, x);
    if (count < 0) return failed(p);
    if (is_rate) return call_rate(p, at, name, x, count);
    if (op != OP_FAILED) return call_operation(p, at, name, op, x, count);
    return expand(p, at, function, x, count);
}

// ---- values --------------------------------------------------------------------------------

static Expr parse_name(Parser *p)
{
    const size_t at = p->at;
    const Text name = {p->text.at + at, name_length((Text){p->text.at + at, p->text.length - at})};
    p->at += name.length;
    for (uint32_t i = 0; p->call && i < p->call->function->argument_count; i++)
        if (text_equal(name, p->call->function->arguments[i])) return p->call->arguments[i];
    if (accept(p, "(")) return parse_call(p, at, name);
    Expr meaning;
    if (has_meaning(p, name, &meaning)) return meaning;
    if (has_failed(p->err)) return failed(p);
    if (is_function(p, name))
        return wrong(p, at, "'%.*s' is a function: write %.*s(...)", TEXT(name), TEXT(name));
    return unknown(p, at, "name", name);
}

static Expr parse_number(Parser *p)
{
    const size_t at = p->at;
    size_t used;
    double value;
    if (!tr_number_read(p->text.at + at, p->text.length - at, &used, &value))
        return wrong_character(p, "a number, a name or '('");
    p->at += used;
    if (isinf(value)) return wrong(p, at, "this number is too large");
    if (peek_at(p, p->at) == '.') return wrong(p, p->at, "a second point in a number");
    if (begins_name(peek(p)))
        return wrong(p, p->at,
                     "a name right after a number: write * to multiply (numbers carry no units)");
    return number(p->graph, value);
}

static Expr parse_value(Parser *p)
{
    const char c = peek(p);
    if (p->call && !spend(p, p->at, 1)) return failed(p); // else the text's own length bounds it
    if (is_digit(c) || c == '.') return parse_number(p);
    if (begins_name(c)) return parse_name(p);
    if (!accept(p, "(")) return wrong_character(p, "a number, a name or '('");
    const Expr x = parse_choice(p);
    if (has_failed(p->err)) return failed(p);
    if (!accept(p, ")")) return wrong_character(p, "')'");
    return x;
}

// ---- operators -----------------------------------------------------------------------------

// Whole powers of any size; tr_build knows the others.
static Expr raised(Expr a, Expr b)
{
    const double n = is_number(b) ? value_of(b) : 0.5;
    return fabs(n) <= INT16_MAX && n == floor(n) ? power(a, (int)n) : raise_to(a, b);
}

static Expr parse_power(Parser *p)
{
    const Expr a = parse_value(p);
    if (has_failed(p->err)) return failed(p);
    if (peek(p) == '*' && peek_at(p, p->at + 1) == '*')
        return wrong(p, p->at, "'**' is not an operator; write a^b");
    if (!accept(p, "^")) return a;
    const Expr b = enter(p) ? parse_sign(p) : failed(p);
    leave(p);
    return has_failed(p->err) ? failed(p) : raised(a, b);
}

static Expr is_true(Expr x) { return tr_build(OP_NOT_EQUAL, x, zero(graph_of(x)), x); }
static Expr is_false(Expr x) { return tr_build(OP_EQUAL, x, zero(graph_of(x)), x); }

static Expr parse_sign(Parser *p)
{
    const char c = peek(p);
    if (c != '-' && c != '+' && c != '!') return parse_power(p);
    p->at++;
    const Expr x = enter(p) ? parse_sign(p) : failed(p);
    leave(p);
    if (has_failed(p->err)) return failed(p);
    return c == '-' ? neg(x) : c == '!' ? is_false(x) : x;
}

typedef struct Operator {
    const char *token; // longer tokens first
    int strength;
    Op op;
    bool swapped; // a > b is b < a
} Operator;

enum { OR = 1, AND, RELATION, SUM, PRODUCT };

static const Operator operators[] = {
    {"||", OR, OP_MAX, false},
    {"&&", AND, OP_MIN, false},
    {"<=", RELATION, OP_LESS_EQUAL, false},
    {">=", RELATION, OP_LESS_EQUAL, true},
    {"==", RELATION, OP_EQUAL, false},
    {"!=", RELATION, OP_NOT_EQUAL, false},
    {"<", RELATION, OP_LESS, false},
    {">", RELATION, OP_LESS, true},
    {"+", SUM, OP_ADD, false},
    {"-", SUM, OP_SUB, false},
    {"*", PRODUCT, OP_MUL, false},
    {"/", PRODUCT, OP_DIV, false},
};

// The operator that stands next and binds at least this strongly; it is not consumed.
static const Operator *next_operator(Parser *p, int strength)
{
    const size_t count = sizeof operators / sizeof *operators, before = (peek(p), p->at);
    for (size_t i = 0; i < count; i++) {
        const bool stands = accept(p, operators[i].token);
        p->at = before;
        if (stands) return operators[i].strength >= strength ? &operators[i] : NULL;
    }
    return NULL;
}

static Expr apply(const Operator *o, Expr a, Expr b)
{
    if (o->strength <= AND) return tr_build(o->op, is_true(a), is_true(b), a);
    return o->swapped ? tr_build(o->op, b, a, a) : tr_build(o->op, a, b, a);
}

// Operators that bind at least this strongly, from the left.
static Expr parse_binary(Parser *p, int strength)
{
    Expr a = parse_sign(p);
    const Operator *o;
    while (!has_failed(p->err) && (o = next_operator(p, strength))) {
        p->at += strlen(o->token);
        const Expr b = parse_binary(p, o->strength + 1);
        if (has_failed(p->err)) break;
        a = apply(o, a, b);
        const Operator *again = next_operator(p, RELATION);
        if (o->strength == RELATION && again && again->strength == RELATION)
            return wrong(p, p->at, "comparisons do not chain: write a < b && b < c");
    }
    return has_failed(p->err) ? failed(p) : a;
}

// After the last operator: what was perhaps meant to be one.
static void check_operator(Parser *p)
{
    const char c = peek(p);
    if (has_failed(p->err)) return;
    if (c == '=') wrong(p, p->at, "'=' does not compare; write ==");
    if (c == '&' || c == '|') wrong(p, p->at, "'%c' is not an operator; write %c%c", c, c, c);
}

static Expr parse_choice(Parser *p)
{
    Expr x = failed(p);
    if (enter(p)) x = parse_binary(p, OR);
    check_operator(p);
    if (!has_failed(p->err) && accept(p, "?")) {
        const Expr yes = parse_choice(p);
        if (!has_failed(p->err) && !accept(p, ":")) wrong_character(p, "':'");
        const Expr no = has_failed(p->err) ? failed(p) : parse_choice(p);
        if (!has_failed(p->err)) x = choose(x, yes, no);
    }
    leave(p);
    return has_failed(p->err) ? failed(p) : x;
}

// ---- whole formulas ------------------------------------------------------------------------

Expr tr_formula_parse(Graph *graph, const Scope *scope, Text text, Place place, tr_error *err)
{
    tr_error local = {0}; // the parser asks err whether to go on, so there must be one
    Budget alone = {0};
    Parser p = {.graph = graph,
                .scope = scope,
                .text = text,
                .budget = scope->budget ? scope->budget : &alone,
                .place = {place.line, place.column ? place.column : 1, place.in},
                .err = err ? err : &local};
    if (has_failed(p.err)) return failed(&p);
    if (at_end(&p)) return wrong(&p, 0, "the formula is empty");
    const Expr x = parse_choice(&p);
    if (has_failed(p.err)) return failed(&p);
    if (!at_end(&p)) return wrong_character(&p, "an operator");
    if (graph->failed) return tr_graph_refuse(graph, p.err), failed(&p);
    return x;
}

bool tr_formula_is_name(Text name) { return name.length && name_length(name) == name.length; }

bool tr_formula_reserved(Text name)
{
    static const char *const words[] = {"t", "pi", "d", "if", "world", "ground"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (text_is(name, words[i])) return true;
    return tr_op_called(name) != OP_FAILED;
}

bool tr_formula_head(Text head, Text body, Place place, Function *function, tr_error *err)
{
    Parser p = {
        .text = head, .place = {place.line, place.column ? place.column : 1, place.in}, .err = err};
    peek(&p);
    const size_t start = p.at;
    *function = (Function){.body = body, .place = p.place};
    function->name =
        (Text){head.at + start, name_length((Text){head.at + start, head.length - start})};
    p.at += function->name.length;
    bool good = function->name.length && accept(&p, "(");
    while (good) {
        peek(&p);
        const Text argument = {head.at + p.at,
                               name_length((Text){head.at + p.at, head.length - p.at})};
        good = argument.length && function->argument_count < FORMULA_MAX_ARGUMENTS;
        for (uint32_t i = 0; i < function->argument_count; i++)
            good = good && !text_equal(argument, function->arguments[i]);
        if (!good) break;
        function->arguments[function->argument_count++] = argument;
        p.at += argument.length;
        if (accept(&p, ")")) {
            if (at_end(&p)) return true;
            break;
        }
        good = accept(&p, ",");
    }
    tr_fail(err, TR_INVALID, place_of(&p, p.at),
            "a function is written name(a, b), with up to %d different arguments",
            FORMULA_MAX_ARGUMENTS);
    return false;
}
