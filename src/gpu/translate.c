// SPDX-License-Identifier: Apache-2.0
#include "gpu/translate.h"

#include "base/arena.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 40, MOST_ARGUMENTS = 12 };

static Thing expression(Translation *t);
static Thing tight(Translation *t, int level);
static void statement(Translation *t);
static Thing call(Translation *t, const Definition *d, const Thing *arguments, uint32_t count);

void tr_translate_fail(Translation *t, const char *words, Text about)
{
    if (t->failure[0]) return;
    snprintf(t->failure, sizeof t->failure, "%s, at '%.*s'", words,
             (int)(about.length < 60 ? about.length : 60), about.at);
    t->at = t->words->count - 1;
}

// ---- words ---------------------------------------------------------------------------------

static const Word *here(const Translation *t)
{
    static const Word end = {WORD_END, {"", 0}, 0};
    return t->at < t->words->count ? &t->words->at[t->at] : &end;
}

void tr_translate_no_memory(Translation *t)
{
    t->no_memory = true;
    tr_translate_fail(t, "out of memory", text_of("")); // ends what goes on
}

static bool sees(const Translation *t, const char *text) { return tr_word_is(here(t), text); }

static bool takes(Translation *t, const char *text)
{
    if (!sees(t, text)) return false;
    t->at++;
    return true;
}

static void expect(Translation *t, const char *text)
{
    if (!takes(t, text)) tr_translate_fail(t, text, here(t)->text);
}

// ---- what things are -----------------------------------------------------------------------

uint32_t tr_translate_cells(Translation *t, Kind kind, uint32_t count)
{
    const uint32_t first = t->cell_count;
    if (!tr_grow((void **)&t->cells, &t->cell_capacity, first + count + 1, sizeof *t->cells)) {
        tr_translate_no_memory(t);
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        t->cells[first + i] = tr_ptx_register(t->ptx, kind);
        t->cells[first + i].is_fresh = false;
    }
    t->cell_count += count;
    return first;
}

static uint32_t cell_for(Translation *t, Value value)
{
    const uint32_t cell = tr_translate_cells(t, KIND_NONE, 0);
    if (t->no_memory) return cell; // there is no room for one more
    value.is_fresh = false;
    t->cells[t->cell_count++] = value;
    return cell;
}

static Thing place_at(const Translation *t, uint32_t cell)
{
    return (Thing){.form = THING_VALUE, .value = t->cells[cell], .is_place = true, .cell = cell};
}

static Value value_of(Translation *t, Thing thing)
{
    if (thing.form == THING_VALUE) return thing.value;
    const uint32_t before = t->at > 12 ? t->at - 12 : 0;
    const char *from = t->words->at[before].text.at;
    tr_translate_fail(t, "a number is needed", (Text){from, 60});
    return tr_ptx_number(0);
}

static void name_thing(Translation *t, Text name, Thing thing)
{
    if (!tr_grow((void **)&t->variables, &t->variable_capacity, t->variable_count + 1,
                 sizeof *t->variables)) {
        tr_translate_no_memory(t);
        return;
    }
    t->variables[t->variable_count++] = (Variable){name, thing};
}

static const Thing *find_variable(const Translation *t, Text name)
{
    for (uint32_t i = t->variable_count; i-- > t->frame.first;) {
        const Variable *v = &t->variables[i];
        if (v->name.length == name.length && memcmp(v->name.at, name.at, name.length) == 0)
            return &v->thing;
    }
    return NULL;
}

static void set_cell(Translation *t, uint32_t cell, Value value)
{
    Value *to = &t->cells[cell];
    if (to->is_known)
        *to = tr_ptx_convert(t->ptx, value, to->kind);
    else
        tr_ptx_move(t->ptx, *to, value);
    if (to->is_known && !value.is_known)
        tr_translate_fail(t, "what counts a loop that is unrolled is not known", here(t)->text);
}

static void set(Translation *t, Thing place, Thing from)
{
    if (place.form == THING_STRUCTURE && from.form == THING_STRUCTURE) {
        for (uint32_t i = 0; i < place.definition->count; i++)
            set_cell(t, place.cell + i, t->cells[from.cell + i]);
        return;
    }
    if (!place.is_place)
        tr_translate_fail(t, "this cannot be set", here(t)->text);
    else
        set_cell(t, place.cell, value_of(t, from));
}

// A value of its own, which may change without others
static Value own_value(Translation *t, Value value, Kind kind)
{
    if (kind == KIND_INT && value.kind == KIND_TRUTH) kind = KIND_TRUTH;
    if (kind != KIND_NONE) value = tr_ptx_convert(t->ptx, value, kind);
    return tr_ptx_settle(t->ptx, value);
}

static Thing own_structure(Translation *t, Thing from)
{
    const Definition *d = from.definition;
    Value values[MOST_FIELDS];
    for (uint32_t i = 0; i < d->count; i++)
        values[i] = own_value(t, t->cells[from.cell + i], (Kind)d->kind[i]);
    const uint32_t first = t->cell_count;
    for (uint32_t i = 0; i < d->count; i++) cell_for(t, values[i]);
    return (Thing){.form = THING_STRUCTURE, .definition = d, .cell = first};
}

// ---- arrays --------------------------------------------------------------------------------

enum { LONG_LIST = 512, MOST_CONSTANTS = 48 << 10 }; // [bytes] of 64 kB that a kernel has

static const char *space_of(const Definition *d) { return d->is_global ? "global" : "const"; }

static const char *type_of(const Definition *d)
{
    const Kind kind = (Kind)d->list[0].kind;
    return kind == KIND_REAL ? "f64" : kind == KIND_SINGLE ? "f32" : "u32";
}

// A list whose entries are not all known where they are used is in memory.
static void print_list(Translation *t, Definition *d)
{
    if (d->is_printed) return;
    d->is_printed = true;
    const size_t bytes = (size_t)d->count * sizeof(double);
    d->is_global = d->count > LONG_LIST || t->constants + bytes > MOST_CONSTANTS;
    if (!d->is_global) t->constants += bytes;
    tr_buffer_print(t->lists, ".%s .align 8 .%s %.*s[%u] = {", space_of(d), type_of(d),
                    (int)d->name.length, d->name.at, d->count);
    for (uint32_t i = 0; i < d->count; i++) {
        tr_buffer_print(t->lists, "%s", i ? ", " : "");
        tr_ptx_write(t->lists, d->list[i]);
    }
    tr_buffer_print(t->lists, "};\n");
}

static Value load_entry(Translation *t, Definition *d, Value index)
{
    Ptx *p = t->ptx;
    const Kind kind = (Kind)d->list[0].kind;
    print_list(t, d);
    Value at = tr_ptx_register(p, KIND_U64), entry = tr_ptx_register(p, d->list[0].kind);
    tr_buffer_print(&p->text, "\tmov.u64 %%l%u, %.*s;\n", at.number, (int)d->name.length,
                    d->name.at);
    const uint64_t size = kind == KIND_REAL ? 8 : 4;
    const Value far =
        tr_ptx_binary(p, "*", tr_ptx_convert(p, index, KIND_U64), tr_ptx_whole(KIND_U64, size));
    at = tr_ptx_binary(p, "+", at, far);
    tr_buffer_print(&p->text, "\tld.%s.%s ", space_of(d), type_of(d));
    tr_ptx_write(&p->text, entry);
    tr_buffer_print(&p->text, ", [%%l%u];\n", at.number);
    return entry;
}

static Thing entry_of(Translation *t, Thing array, Value index)
{
    if (array.form != THING_ARRAY) {
        tr_translate_fail(t, "this is no array", here(t)->text);
        return thing_of(tr_ptx_number(0));
    }
    if (!array.definition) {
        if (!index.is_known) tr_translate_fail(t, "an entry is not known", here(t)->text);
        return place_at(t, array.cell + (uint32_t)index.n);
    }
    const Value at = tr_ptx_binary(t->ptx, "+", array.offset, index);
    if (at.is_known && at.n < array.definition->count)
        return thing_of(array.definition->list[at.n]);
    return thing_of(load_entry(t, (Definition *)array.definition, at));
}

static Thing further(Translation *t, Thing array, const char *sign, Value by)
{
    if (array.definition)
        array.offset = tr_ptx_binary(t->ptx, sign, array.offset, by);
    else if (by.is_known)
        array.cell += sign[0] == '+' ? (uint32_t)by.n : 0 - (uint32_t)by.n;
    else
        tr_translate_fail(t, "an entry is not known", here(t)->text);
    return array;
}

// ---- calls ---------------------------------------------------------------------------------

static bool call_operation(Translation *t, const Word *name, const Thing *a, Thing *result)
{
    Ptx *p = t->ptx;
    Value v = {0};
#define X(i) value_of(t, a[i])
    if (tr_word_is(name, "fma"))
        v = tr_ptx_fma(p, X(0), X(1), X(2));
    else if (tr_word_is(name, "sqrt") || tr_word_is(name, "sqrtf"))
        v = tr_ptx_root(p, X(0));
    else if (tr_word_is(name, "fabs") || tr_word_is(name, "fabsf") || tr_word_is(name, "el_abs"))
        v = X(0).is_known ? tr_ptx_number(fabs(X(0).x)) : tr_ptx_size(p, X(0));
    else if (tr_word_is(name, "floor") || tr_word_is(name, "floorf"))
        v = tr_ptx_floor(p, X(0));
    else if (p->is_single && tr_word_is(name, "el_bits")) {
        const Value x = tr_ptx_convert(p, X(0), KIND_SINGLE);
        v = tr_ptx_make(p, KIND_U32, "mov.b32", &x, 1);
    } else if (tr_word_is(name, "el_float")) {
        const Value x = tr_ptx_convert(p, X(0), KIND_U32);
        v = tr_ptx_make(p, KIND_SINGLE, "mov.b32", &x, 1);
    } else if (tr_word_is(name, "el_bits")) {
        const Value x = X(0);
        if (x.is_known) {
            uint64_t bits;
            memcpy(&bits, &x.x, sizeof bits);
            v = tr_ptx_whole(KIND_U64, bits);
        } else
            v = tr_ptx_make(p, KIND_U64, "mov.b64", &x, 1);
    } else if (tr_word_is(name, "el_double")) {
        const Value x = tr_ptx_convert(p, X(0), KIND_U64);
        v = tr_ptx_make(p, KIND_REAL, "mov.b64", &x, 1);
    } else
        return false;
#undef X
    *result = thing_of(v);
    return true;
}

static Thing call_named(Translation *t, const Word *name, const Thing *arguments, uint32_t count)
{
    Thing result = thing_of(tr_ptx_number(0));
    if (t->failure[0]) return result; // arguments are not what they should be
    for (uint32_t i = 0; i < t->builtin_count; i++)
        if (tr_word_is(name, t->builtins[i].name))
            return t->builtins[i].function(t, t->builtins[i].owner, arguments, count);
    if (call_operation(t, name, arguments, &result)) return result;
    const Definition *d = tr_words_find(t->words, name->text);
    if (d && (d->what == DEFINES_FUNCTION || (d->what == DEFINES_MACRO && d->has_parameters)))
        return call(t, d, arguments, count);
    tr_translate_fail(t, "there is no function", name->text);
    return thing_of(tr_ptx_number(0));
}

// Parameters become variables; a value that may change becomes the function's own.
static void take_arguments(Translation *t, const Definition *d, const Thing *arguments,
                           uint32_t count)
{
    uint32_t i = d->parameters;
    for (uint32_t k = 0; k < count; k++) {
        Kind kind = KIND_NONE;
        bool is_array = false;
        Text name = {0};
        for (; !tr_word_is(&t->words->at[i], ",") && !tr_word_is(&t->words->at[i], ")"); i++) {
            const Word *word = &t->words->at[i];
            if (tr_word_is(word, "[")) {
                is_array = true;
                i = tr_words_behind(t->words, i) - 1;
            } else if (tr_word_type(t->words, word) != KIND_NONE)
                kind = tr_word_type(t->words, word);
            else if (word->kind == WORD_NAME)
                name = word->text;
        }
        i++;
        Thing thing = arguments[k];
        if (thing.form == THING_STRUCTURE)
            thing = own_structure(t, thing);
        else if (thing.form == THING_VALUE && !is_array && d->what == DEFINES_FUNCTION) {
            const Value v = thing.value.is_known ? tr_ptx_convert(t->ptx, thing.value,
                                                                  kind ? kind : thing.value.kind)
                                                 : own_value(t, thing.value, kind);
            thing = place_at(t, cell_for(t, v));
            thing.value.is_fresh = false;
        }
        name_thing(t, name, thing);
    }
}

static Thing call(Translation *t, const Definition *d, const Thing *arguments, uint32_t count)
{
    const uint32_t back = t->at, variables = t->variable_count;
    const uint32_t leave = t->leave, again = t->again;
    const Frame caller = t->frame;
    const uint32_t first = t->variable_count;
    if (++t->nested > MOST_CALLS) tr_translate_fail(t, "calls are nested too deep", d->name);
    take_arguments(t, d, arguments, count);
    t->frame = (Frame){.first = first};
    Thing result = {0};
    if (!t->failure[0]) {
        t->at = d->body;
        if (d->what == DEFINES_FUNCTION) {
            statement(t);
            if (t->frame.end) tr_ptx_here(t->ptx, t->frame.end);
            result = t->frame.result;
        } else
            result = expression(t);
        t->at = t->failure[0] ? t->at : back;
    }
    result.is_place = false;
    t->nested--;
    t->frame = caller, t->variable_count = variables;
    t->leave = leave, t->again = again;
    return result;
}

Thing tr_translate_call(Translation *t, const char *name, const Thing *arguments, uint32_t count)
{
    const Word word = {WORD_NAME, text_of(name), 0};
    return call_named(t, &word, arguments, count);
}

void tr_translate_builtin(Translation *t, const char *name, Builtin *function, void *owner)
{
    if (t->builtin_count == sizeof t->builtins / sizeof *t->builtins) {
        tr_translate_fail(t, "too many functions", text_of(name));
        return;
    }
    t->builtins[t->builtin_count].name = name;
    t->builtins[t->builtin_count].function = function;
    t->builtins[t->builtin_count++].owner = owner;
}

bool tr_translation_open(Translation *t)
{
    enum { FEW = 64 };
    if (!tr_grow((void **)&t->cells, &t->cell_capacity, FEW, sizeof *t->cells)) return false;
    for (int i = 0; i < FEW; i++) t->cells[i] = tr_ptx_number(0);
    return true;
}

void tr_translation_free(Translation *t)
{
    free(t->cells);
    free(t->variables);
    t->cells = NULL, t->variables = NULL;
}

// ---- expressions ---------------------------------------------------------------------------

static uint32_t arguments_of(Translation *t, Thing *arguments)
{
    uint32_t count = 0;
    expect(t, "(");
    while (!sees(t, ")") && count < MOST_ARGUMENTS && !t->failure[0]) {
        arguments[count++] = expression(t);
        if (!takes(t, ",")) break;
    }
    expect(t, ")");
    return count;
}

static Thing named(Translation *t)
{
    const Word *word = here(t);
    t->at++;
    if (sees(t, "(")) {
        Thing arguments[MOST_ARGUMENTS] = {{0}};
        const uint32_t count = arguments_of(t, arguments);
        return call_named(t, word, arguments, count);
    }
    const Thing *variable = find_variable(t, word->text);
    if (variable) {
        Thing thing = *variable;
        if (thing.form == THING_VALUE && thing.is_place) thing.value = t->cells[thing.cell];
        return thing;
    }
    const Definition *d = tr_words_find(t->words, word->text);
    if (d && d->what == DEFINES_NUMBER) return thing_of(d->value);
    if (d && d->what == DEFINES_MACRO && !d->has_parameters) return call(t, d, NULL, 0);
    if (d && d->what == DEFINES_LIST)
        return (Thing){.form = THING_ARRAY, .definition = d, .offset = tr_ptx_whole(KIND_INT, 0)};
    if (tr_word_is(word, "NAN")) return thing_of(tr_ptx_number((double)NAN));
    if (tr_word_is(word, "HUGE_VAL") || tr_word_is(word, "HUGE_VALF") ||
        tr_word_is(word, "INFINITY"))
        return thing_of(tr_ptx_number((double)INFINITY));
    if (tr_word_is(word, "DBL_MAX"))
        return thing_of(tr_ptx_number(t->ptx->is_single ? (double)FLT_MAX : DBL_MAX));
    if (tr_word_is(word, "true")) return thing_of(tr_ptx_whole(KIND_TRUTH, 1));
    if (tr_word_is(word, "false")) return thing_of(tr_ptx_whole(KIND_TRUTH, 0));
    tr_translate_fail(t, "there is no", word->text);
    return thing_of(tr_ptx_number(0));
}

static Thing field_of(Translation *t, Thing structure)
{
    const Text name = here(t)->text;
    t->at++;
    for (uint32_t i = 0; structure.form == THING_STRUCTURE && i < structure.definition->count;
         i++) {
        const Text field = structure.definition->field[i];
        if (field.length == name.length && memcmp(field.at, name.at, name.length) == 0)
            return place_at(t, structure.cell + i);
    }
    tr_translate_fail(t, "there is no field", name);
    return structure;
}

static Thing atom(Translation *t)
{
    Thing thing = {0};
    if (here(t)->kind == WORD_NUMBER) {
        thing = thing_of(tr_word_number(here(t)));
        t->at++;
    } else if (here(t)->kind == WORD_NAME)
        thing = named(t);
    else {
        expect(t, "(");
        thing = expression(t);
        expect(t, ")");
    }
    while (!t->failure[0]) {
        if (takes(t, "[")) {
            thing = entry_of(t, thing, value_of(t, expression(t)));
            expect(t, "]");
        } else if (takes(t, "."))
            thing = field_of(t, thing);
        else if (sees(t, "++") || sees(t, "--")) {
            const Value one = tr_ptx_whole(KIND_INT, 1);
            set(t, thing,
                thing_of(
                    tr_ptx_binary(t->ptx, sees(t, "++") ? "+" : "-", value_of(t, thing), one)));
            t->at++;
        } else
            break;
    }
    return thing;
}

static Thing unary(Translation *t)
{
    Ptx *p = t->ptx;
    if (t->failure[0]) return thing_of(tr_ptx_number(0));
    if (takes(t, "-")) return thing_of(tr_ptx_negative(p, value_of(t, unary(t))));
    if (takes(t, "!")) return thing_of(tr_ptx_not(p, value_of(t, unary(t))));
    const Kind cast = sees(t, "(") ? tr_word_type(t->words, &t->words->at[t->at + 1]) : KIND_NONE;
    if (cast == KIND_NONE || !tr_word_is(&t->words->at[t->at + 2], ")")) return atom(t);
    t->at += 3;
    return thing_of(tr_ptx_convert(p, value_of(t, unary(t)), cast));
}

// From loose to tight
static const char *const levels[][5] = {
    {"||"},       {"&&"},     {"|"},     {"^"}, {"&"}, {"==", "!="}, {"<", "<=", ">", ">="},
    {"<<", ">>"}, {"+", "-"}, {"*", "/"}};
enum { LEVELS = sizeof levels / sizeof *levels };

static const char *operator_at(const Translation *t, int level)
{
    for (int i = 0; i < 5 && levels[level][i]; i++)
        if (sees(t, levels[level][i])) return levels[level][i];
    return NULL;
}

static Thing combine(Translation *t, const char *sign, Thing a, Thing b)
{
    if (a.form == THING_ARRAY && strchr("+-", sign[0])) return further(t, a, sign, value_of(t, b));
    Value x = value_of(t, a), y = value_of(t, b);
    if (t->failure[0]) return thing_of(x); // which may be of kinds that no operator takes
    if (sign[0] == sign[1] && strchr("&|", sign[0])) {
        x = tr_ptx_truth(t->ptx, x), y = tr_ptx_truth(t->ptx, y);
        return thing_of(tr_ptx_binary(t->ptx, sign[0] == '&' ? "&" : "|", x, y));
    }
    return thing_of(tr_ptx_binary(t->ptx, sign, x, y));
}

static Thing tight(Translation *t, int level)
{
    if (level == LEVELS) return unary(t);
    Thing a = tight(t, level + 1);
    const char *sign;
    while (!t->failure[0] && (sign = operator_at(t, level))) {
        t->at++;
        a = combine(t, sign, a, tight(t, level + 1));
    }
    return a;
}

// Behind what is not looked at: up to the mark, outside of brackets
static void skip_to(Translation *t, const char *mark)
{
    uint32_t choices = 0;
    while (here(t)->kind != WORD_END && !t->failure[0]) {
        if (choices == 0 && (sees(t, mark) || sees(t, ",") || sees(t, ")") || sees(t, ";") ||
                             sees(t, "}") || sees(t, "]")))
            return;
        if (sees(t, "?"))
            choices++;
        else if (sees(t, ":"))
            choices--;
        t->at = sees(t, "(") || sees(t, "[") || sees(t, "{") ? tr_words_behind(t->words, t->at)
                                                             : t->at + 1;
    }
}

static Thing choose(Translation *t, Value which, Thing a, Thing b)
{
    if (a.form != THING_STRUCTURE)
        return thing_of(tr_ptx_choose(t->ptx, which, value_of(t, a), value_of(t, b)));
    Value values[MOST_FIELDS];
    for (uint32_t i = 0; i < a.definition->count; i++)
        values[i] = tr_ptx_choose(t->ptx, which, t->cells[a.cell + i], t->cells[b.cell + i]);
    const uint32_t first = t->cell_count;
    for (uint32_t i = 0; i < a.definition->count; i++) cell_for(t, values[i]);
    return (Thing){.form = THING_STRUCTURE, .definition = a.definition, .cell = first};
}

static Thing expression(Translation *t)
{
    Thing first = tight(t, 0);
    if (!takes(t, "?")) return first;
    const Value which = tr_ptx_truth(t->ptx, value_of(t, first));
    if (which.is_known) {
        if (!which.n) skip_to(t, ":");
        Thing chosen = which.n ? expression(t) : (Thing){0};
        expect(t, ":");
        if (which.n)
            skip_to(t, ":");
        else
            chosen = expression(t);
        chosen.is_place = false;
        return chosen;
    }
    const Thing a = expression(t);
    expect(t, ":");
    return choose(t, which, a, expression(t));
}

// ---- statements ----------------------------------------------------------------------------

static void skip_statement(Translation *t)
{
    if (sees(t, "{")) {
        t->at = tr_words_behind(t->words, t->at);
        return;
    }
    if (takes(t, "if") || takes(t, "for") || takes(t, "while")) {
        t->at = tr_words_behind(t->words, t->at);
        skip_statement(t);
        if (takes(t, "else")) skip_statement(t);
        return;
    }
    while (!sees(t, ";") && here(t)->kind != WORD_END)
        t->at = sees(t, "(") || sees(t, "{") ? tr_words_behind(t->words, t->at) : t->at + 1;
    expect(t, ";");
}

static const Definition *structure_here(const Translation *t)
{
    const Definition *d =
        here(t)->kind == WORD_NAME ? tr_words_find(t->words, here(t)->text) : NULL;
    return d && d->what == DEFINES_STRUCTURE ? d : NULL;
}

// = {a, b};
static void set_all(Translation *t, uint32_t cell, uint32_t count)
{
    expect(t, "{");
    for (uint32_t i = 0; i < count && !sees(t, "}"); i++) {
        set_cell(t, cell + i, value_of(t, expression(t)));
        if (!takes(t, ",")) break;
    }
    expect(t, "}");
}

static void declare_structure(Translation *t, const Definition *d)
{
    const Text name = here(t)->text;
    t->at++;
    expect(t, "=");
    Thing thing = {.form = THING_STRUCTURE, .definition = d};
    if (sees(t, "{")) {
        thing.cell = t->cell_count;
        for (uint32_t i = 0; i < d->count; i++) tr_translate_cells(t, (Kind)d->kind[i], 1);
        set_all(t, thing.cell, d->count);
    } else {
        const Thing from = expression(t);
        if (from.form != THING_STRUCTURE)
            tr_translate_fail(t, "a structure is needed", name);
        else
            thing = own_structure(t, from);
    }
    name_thing(t, name, thing);
}

static void declare_array(Translation *t, Kind kind, Text name)
{
    expect(t, "[");
    const Value count = value_of(t, expression(t));
    expect(t, "]");
    if (!count.is_known) tr_translate_fail(t, "how long an array is must be known", name);
    const uint32_t cell = tr_translate_cells(t, kind, (uint32_t)count.n);
    name_thing(t, name, thing_array(cell));
    if (takes(t, "=")) set_all(t, cell, (uint32_t)count.n);
}

// double a = 1, b, c[3]; and pointers, const double *at = x + 2;
static void declare(Translation *t, bool counts)
{
    takes(t, "static");
    takes(t, "const");
    const Definition *structure = structure_here(t);
    if (structure) {
        t->at++;
        do declare_structure(t, structure);
        while (takes(t, ","));
        expect(t, ";");
        return;
    }
    const Kind kind = tr_word_type(t->words, here(t));
    t->at++;
    do {
        const bool points = takes(t, "*");
        const Text name = here(t)->text;
        t->at++;
        if (sees(t, "["))
            declare_array(t, kind, name);
        else if (points) {
            expect(t, "=");
            name_thing(t, name, expression(t));
        } else {
            Value value = {0};
            if (takes(t, "=")) {
                value = value_of(t, expression(t));
                if (counts)
                    value = tr_ptx_convert(t->ptx, value, kind);
                else
                    value = own_value(t, value, kind);
                value.is_fresh = false;
            } else {
                value = tr_ptx_register(t->ptx, kind);
                value.is_fresh = false;
            }
            name_thing(t, name, place_at(t, cell_for(t, value)));
        }
    } while (takes(t, ","));
    if (!counts) expect(t, ";");
}

static void set_or_call(Translation *t)
{
    static const char *const with[] = {"+=", "-=", "*=", "/=", "|=", "&=", "^=", "<<=", ">>="};
    do {
        const Thing place = atom(t);
        if (takes(t, "=")) {
            set(t, place, expression(t));
            continue;
        }
        for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
            if (!takes(t, with[i])) continue;
            char sign[3] = {with[i][0], with[i][1] == '=' ? 0 : with[i][1], 0};
            set(t, place, combine(t, sign, place, expression(t)));
            break;
        }
    } while (takes(t, ",") && !t->failure[0]);
}

// What is known has no size.
static Kind kind_of(const Translation *t, Value value)
{
    return value.is_known && value.kind == KIND_REAL ? ptx_number_kind(t->ptx) : (Kind)value.kind;
}

static void give_back(Translation *t)
{
    Frame *f = &t->frame;
    Thing thing = {0};
    if (!sees(t, ";")) thing = expression(t);
    expect(t, ";");
    if (f->depth == 0 && f->result.form == THING_NONE) { // the only one, and always reached
        f->result = thing;
        f->has_returned = true;
        return;
    }
    if (f->result.form == THING_NONE && thing.form == THING_VALUE)
        f->result = place_at(t, tr_translate_cells(t, kind_of(t, thing.value), 1));
    else if (f->result.form == THING_NONE && thing.form == THING_STRUCTURE)
        tr_translate_fail(t, "a structure from within a condition", here(t)->text);
    if (thing.form == THING_VALUE) set_cell(t, f->result.cell, thing.value);
    if (f->depth == 0)
        f->has_returned = true;
    else {
        if (!f->end) f->end = tr_ptx_label(t->ptx);
        tr_ptx_go(t->ptx, f->end);
    }
}

static void condition(Translation *t)
{
    expect(t, "(");
    const Value which = tr_ptx_truth(t->ptx, value_of(t, expression(t)));
    expect(t, ")");
    if (which.is_known) {
        if (which.n)
            statement(t);
        else
            skip_statement(t);
        if (!takes(t, "else")) return;
        if (which.n)
            skip_statement(t);
        else
            statement(t);
        return;
    }
    const uint32_t otherwise = tr_ptx_label(t->ptx);
    tr_ptx_go_unless(t->ptx, which, otherwise);
    t->frame.depth++;
    statement(t);
    if (takes(t, "else")) {
        const uint32_t end = tr_ptx_label(t->ptx);
        tr_ptx_go(t->ptx, end);
        tr_ptx_here(t->ptx, otherwise);
        statement(t);
        tr_ptx_here(t->ptx, end);
    } else
        tr_ptx_here(t->ptx, otherwise);
    t->frame.depth--;
}

// for (int i = 0; i < 6; i++): once for each i
static void unrolled(Translation *t)
{
    const uint32_t variables = t->variable_count;
    expect(t, "(");
    declare(t, true);
    expect(t, ";");
    const uint32_t test = t->at;
    skip_to(t, ";");
    if (t->failure[0]) return; // there are no words behind
    const uint32_t step = t->at + 1;
    uint32_t close = step;
    while (!tr_word_is(&t->words->at[close], ")"))
        close =
            tr_word_is(&t->words->at[close], "(") ? tr_words_behind(t->words, close) : close + 1;
    const uint32_t what = close + 1;
    for (;;) {
        t->at = test;
        const Value goes_on = tr_ptx_truth(t->ptx, value_of(t, expression(t)));
        if (!goes_on.is_known)
            tr_translate_fail(t, "how often a loop runs is not known", here(t)->text);
        if (t->failure[0]) return;
        if (!goes_on.n) break;
        const uint32_t inner = t->variable_count;
        t->at = what;
        statement(t);
        t->variable_count = inner;
        if (t->failure[0]) return;
        t->at = step;
        if (!sees(t, ")")) set_or_call(t);
    }
    t->at = what;
    skip_statement(t);
    t->variable_count = variables;
}

static void loop(Translation *t)
{
    const uint32_t leave = t->leave, again = t->again, variables = t->variable_count;
    t->leave = tr_ptx_label(t->ptx), t->again = tr_ptx_label(t->ptx);
    tr_ptx_here(t->ptx, t->again);
    expect(t, "(");
    tr_ptx_go_unless(t->ptx, value_of(t, expression(t)), t->leave);
    expect(t, ")");
    t->frame.depth++;
    statement(t);
    t->frame.depth--;
    tr_ptx_go(t->ptx, t->again);
    tr_ptx_here(t->ptx, t->leave);
    t->leave = leave, t->again = again, t->variable_count = variables;
}

static void block(Translation *t)
{
    const uint32_t variables = t->variable_count;
    const uint32_t behind = tr_words_behind(t->words, t->at);
    expect(t, "{");
    while (!sees(t, "}") && !t->failure[0] && !t->frame.has_returned) statement(t);
    if (!t->failure[0]) t->at = behind;
    t->variable_count = variables;
}

static void statement(Translation *t)
{
    if (t->failure[0]) return;
    if (sees(t, "{"))
        block(t);
    else if (takes(t, "if"))
        condition(t);
    else if (takes(t, "for"))
        unrolled(t);
    else if (takes(t, "while"))
        loop(t);
    else if (takes(t, "return"))
        give_back(t);
    else if (sees(t, "break") || sees(t, "continue")) {
        tr_ptx_go(t->ptx, sees(t, "break") ? t->leave : t->again);
        t->at++;
        expect(t, ";");
    } else if (takes(t, ";"))
        return;
    else if (sees(t, "static") || sees(t, "const") ||
             tr_word_type(t->words, here(t)) != KIND_NONE || structure_here(t))
        declare(t, false);
    else {
        set_or_call(t);
        expect(t, ";");
    }
}
