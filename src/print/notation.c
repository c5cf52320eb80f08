// SPDX-License-Identifier: Apache-2.0
#include "print/notation.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the walk ------------------------------------------------------------------------------

enum { LOOSE, IN_SUM, IN_PRODUCT, IN_POWER };

typedef struct Writer {
    const Notation *by;
    const System *system;
    Buffer *text;
} Writer;

static void write(const Writer *w, const Term *term, int around);

static void put(const Writer *w, const char *words) { tr_buffer_print(w->text, "%s", words); }

static void write_symbol(const Writer *w, Expr symbol)
{
    const uint32_t index = node_of(symbol)->a;
    if (w->system)
        w->by->symbol(w->system, index, w->text);
    else
        put(w, graph_of(symbol)->symbols[index]);
}

static void write_digits(const Writer *w, double value)
{
    char digits[TR_NUMBER_SIZE];
    tr_number_print(value, digits);
    w->by->number(digits, w->text);
}

static void write_decimal(const Writer *w, double value)
{
    if (value == M_PI)
        w->by->word(text_of("pi"), w->text);
    else
        write_digits(w, value);
}

static void write_whole(const Writer *w, int64_t value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%lld", (long long)value);
    w->by->number(digits, w->text);
}

// 981/100, but not 1/8
static bool has_decimals(int64_t bottom)
{
    if (bottom <= 16) return false;
    while (bottom % 2 == 0) bottom /= 2;
    while (bottom % 5 == 0) bottom /= 5;
    return bottom == 1;
}

static void write_fraction(const Writer *w, int64_t top, int64_t bottom, bool alone)
{
    if (bottom == 1) {
        write_whole(w, top);
    } else if (has_decimals(bottom)) {
        write_digits(w, (double)top / (double)bottom);
    } else {
        const bool flat = !w->by->fraction[0];
        if (flat && !alone) put(w, w->by->bracket[0]);
        put(w, flat ? "" : w->by->fraction[0]);
        write_whole(w, top);
        put(w, flat ? "/" : w->by->fraction[1]);
        write_whole(w, bottom);
        put(w, flat ? "" : w->by->fraction[2]);
        if (flat && !alone) put(w, w->by->bracket[1]);
    }
}

// In a sum signs are written between its parts.
static void write_number(const Writer *w, const Term *number, int around)
{
    const bool negative = number->top < 0;
    if (negative && around != IN_SUM) put(w, w->by->sign);
    write_fraction(w, negative ? -number->top : number->top, number->bottom, around <= IN_SUM);
}

static void write_sum(const Writer *w, const Term *sum)
{
    for (uint32_t i = 0; i < sum->count; i++) {
        if (i) put(w, tr_term_is_negative(sum->parts[i]) ? w->by->minus : w->by->plus);
        write(w, sum->parts[i], i ? IN_SUM : LOOSE);
    }
}

static void write_power(const Writer *w, const Term *base, int power)
{
    if (power == 1) {
        write(w, base, IN_PRODUCT);
        return;
    }
    put(w, w->by->power[0]);
    write(w, base, IN_POWER);
    put(w, w->by->power[1]);
    write_whole(w, power);
    put(w, w->by->power[2]);
}

static void write_base(const Writer *w, const Term *part)
{
    const bool is_power = part->kind == TERM_POWER;
    write_power(w, is_power ? part->parts[0] : part, is_power ? abs(part->power) : 1);
}

// What stands above or below the line of a product: its parts, behind a number if that is not 1
static uint32_t count_side(const Term *product, bool below)
{
    uint32_t count = 0;
    for (uint32_t i = product->parts[0]->kind == TERM_NUMBER; i < product->count; i++)
        count += tr_term_is_quotient(product->parts[i]) == below;
    return count;
}

static void write_side(const Writer *w, const Term *product, double number, bool below)
{
    bool any = number != 1;
    if (any) write_digits(w, number);
    for (uint32_t i = product->parts[0]->kind == TERM_NUMBER; i < product->count; i++) {
        if (tr_term_is_quotient(product->parts[i]) != below) continue;
        if (any) put(w, w->by->times);
        write_base(w, product->parts[i]);
        any = true;
    }
    if (!any) write_whole(w, 1);
}

// a*b/(c*d), or above each other; in a sum its sign is written already
static void write_product(const Writer *w, const Term *product, int around)
{
    const Term *first = product->parts[0];
    const bool has_number = first->kind == TERM_NUMBER, flat = !w->by->fraction[0];
    double top = has_number ? fabs((double)first->top) : 1,
           bottom = has_number ? (double)first->bottom : 1;
    if (has_number && has_decimals(first->bottom)) top /= bottom, bottom = 1;
    const uint32_t below = count_side(product, true) + (bottom != 1);
    if (tr_term_is_negative(product) && around != IN_SUM) put(w, w->by->sign);
    if (below && !flat) put(w, w->by->fraction[0]);
    write_side(w, product, top, false);
    if (below && flat) put(w, below > 1 ? "/(" : "/");
    if (below && !flat) put(w, w->by->fraction[1]);
    if (below) write_side(w, product, bottom, true);
    if (below > 1 && flat) put(w, ")");
    if (below && !flat) put(w, w->by->fraction[2]);
}

static void write_parts(const Writer *w, const Term *call, const char *between, int around)
{
    for (uint32_t i = 0; i < call->count; i++) {
        if (i) put(w, between);
        write(w, call->parts[i], around);
    }
}

static void write_table(const Writer *w, const Term *call)
{
    Buffer name = {0};
    if (w->system) tr_table_called(w->system, node_of(call->node), &name);
    w->by->word(text_of(name.at ? name.at : "table"), w->text);
    free(name.at);
}

static void write_call(const Writer *w, const Term *call)
{
    const OpInfo *op = &tr_op[call->op];
    if (call->op == OP_SQRT && w->by->root[0]) {
        put(w, w->by->root[0]);
        write(w, call->parts[0], LOOSE);
        put(w, w->by->root[1]);
        return;
    }
    if (op->form == FORM_CALL || op->form == FORM_TABLE) {
        put(w, w->by->call[0]);
        if (op->form == FORM_TABLE)
            write_table(w, call);
        else
            w->by->word(text_of(op->name), w->text);
        put(w, w->by->call[1]);
        write_parts(w, call, w->by->comma, LOOSE);
        put(w, w->by->call[2]);
        return;
    }
    put(w, w->by->bracket[0]);
    for (uint32_t i = 0; i < call->count; i++) {
        if (i) w->by->word(text_of(op->name), w->text);
        write(w, call->parts[i], IN_POWER);
    }
    put(w, w->by->bracket[1]);
}

static bool needs_brackets(const Term *term, int around)
{
    switch (term->kind) {
    case TERM_SUM: return around > LOOSE;
    case TERM_PRODUCT: return around > IN_SUM;
    case TERM_NUMBER: return around > IN_SUM && term->top < 0;
    case TERM_POWER: return around == IN_POWER || (around > IN_SUM && term->power < 0);
    default: return false;
    }
}

// What is one thing in every notation
static bool is_atom(const Term *term)
{
    return term->kind == TERM_SYMBOL || term->kind == TERM_DECIMAL ||
           (term->kind == TERM_NUMBER && term->top >= 0);
}

static void write(const Writer *w, const Term *term, int around)
{
    const bool in_brackets = needs_brackets(term, around), is_group = !is_atom(term);
    if (in_brackets) put(w, w->by->bracket[0]), around = LOOSE;
    if (is_group) put(w, w->by->group[0]);
    switch (term->kind) {
    case TERM_NUMBER: write_number(w, term, around); break;
    case TERM_DECIMAL: write_decimal(w, term->value); break;
    case TERM_SYMBOL: write_symbol(w, term->node); break;
    case TERM_SUM: write_sum(w, term); break;
    case TERM_PRODUCT: write_product(w, term, around); break;
    case TERM_CALL: write_call(w, term); break;
    case TERM_POWER:
        if (term->power > 0)
            write_base(w, term);
        else
            write_product(w, &(Term){.kind = TERM_PRODUCT, .count = 1, .parts = &term}, LOOSE);
        break;
    }
    if (is_group) put(w, w->by->group[1]);
    if (in_brackets) put(w, w->by->bracket[1]);
}

void tr_term_write(const Term *term, const Notation *notation, const System *system, Buffer *text)
{
    const Writer w = {notation, system, text};
    write(&w, term, LOOSE);
}

// ---- text ----------------------------------------------------------------------------------

static void plain_number(const char *digits, Buffer *text) { tr_buffer_print(text, "%s", digits); }
static void plain_word(Text word, Buffer *text)
{
    const bool is_operator = word.length && !strchr("abcdefghijklmnopqrstuvwxyz", word.at[0]);
    if (is_operator) tr_buffer_add(text, " ", 1);
    tr_buffer_add(text, word.at, word.length);
    if (is_operator) tr_buffer_add(text, " ", 1);
}

static void plain_prose(const char *words, Buffer *text) { tr_buffer_print(text, "%s", words); }
static void plain_entry(const char *letter, const char *place, Buffer *text)
{
    tr_buffer_print(text, place[0] ? "%s[%s]" : "%s%s", letter, place);
}

const Notation tr_notation_text = {
    .name = "text",
    .group = {"", ""},
    .plus = " + ",
    .minus = " - ",
    .sign = "-",
    .times = "*",
    .comma = ", ",
    .bracket = {"(", ")"},
    .power = {"", "^", ""},
    .call = {"", "(", ")"},
    .symbol = tr_name_text,
    .number = plain_number,
    .word = plain_word,
    .prose = plain_prose,
    .entry = plain_entry,
};

// ---- LaTeX ---------------------------------------------------------------------------------

// Whatever a name holds, it is letters to LaTeX
static void latex_letters(Text name, Buffer *text)
{
    for (size_t i = 0; i < name.length; i++) {
        const char c = name.at[i];
        if (strchr("{}$&#%_", c))
            tr_buffer_print(text, "\\%c", c);
        else if (strchr("^~\\", c))
            tr_buffer_print(text, "\\char%d{}", (unsigned char)c);
        else
            tr_buffer_add(text, &c, 1);
    }
}

// Letters with accents that all fonts of LaTeX have or make
static bool has_accent(unsigned code)
{
    return code >= 0xc0 && code <= 0xff && !strchr("\xd0\xd7\xde\xf0\xf7\xfe", (int)code);
}

// Words as they are, whatever they hold: what the fonts may not have, by its number
static void latex_prose(const char *words, Buffer *text)
{
    static const char *const special[][2] = {{"{", "\\{"},
                                             {"}", "\\}"},
                                             {"$", "\\$"},
                                             {"&", "\\&"},
                                             {"#", "\\#"},
                                             {"_", "\\_"},
                                             {"%", "\\%"},
                                             {"<", "\\textless{}"},
                                             {"^", "\\^{}"},
                                             {"~", "\\~{}"},
                                             {"\\", "\\textbackslash{}"},
                                             {">", "\\textgreater{}"},
                                             {"|", "\\textbar{}"}};
    enum { SPECIAL = sizeof special / sizeof *special };
    for (const char *at = words; *at;) {
        const size_t length = tr_utf8_length(at, strlen(at));
        const unsigned code = length ? tr_utf8_code(at, length) : 0;
        size_t i = 0;
        while (i < SPECIAL && special[i][0][0] != *at) i++;
        if (i < SPECIAL)
            tr_buffer_print(text, "%s", special[i][1]);
        else if (length && (code < 0x7f ? code >= ' ' : has_accent(code)))
            tr_buffer_add(text, at, length);
        else
            tr_buffer_print(text, length ? "[U+%04X]" : "[?]", code);
        at += length ? length : 1;
    }
}

// Names of up to 100 letters fit into a line because they are smaller.
static const char *latex_size(Text name)
{
    return name.length > 60 ? "\\scriptscriptstyle" : name.length > 40 ? "\\scriptstyle" : "";
}

static void latex_base(Text base, Buffer *text)
{
    if (base.length > 1) tr_buffer_print(text, "%s\\mathit{", latex_size(base));
    latex_letters(base, text);
    if (base.length > 1) tr_buffer_print(text, "}");
}

static void latex_symbol(const System *system, uint32_t input, Buffer *text)
{
    const NameParts n = tr_name_parts(system, input);
    const bool is_group = n.dots || n.base.length > 1;
    tr_buffer_print(text, n.dots == 1 ? "\\dot{" : n.dots == 2 ? "\\ddot{" : is_group ? "{" : "");
    if (n.greek)
        tr_buffer_print(text, "\\%s", n.greek);
    else
        latex_base(n.base, text);
    tr_buffer_print(text, is_group ? "}" : "");
    if (!n.below.length && !n.owner.length) return;
    tr_buffer_print(text, "_{%s\\mathrm{", latex_size(n.below));
    latex_letters(n.below, text);
    if (n.below.length && n.owner.length) tr_buffer_print(text, ",");
    latex_letters(n.owner, text);
    tr_buffer_print(text, "}}");
}

static void latex_word(Text word, Buffer *text)
{
    static const char *const signs[][2] = {{"<=", "\\le "}, {">=", "\\ge "},   {"!=", "\\ne "},
                                           {"==", "="},     {"&&", "\\land "}, {"||", "\\lor "}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (text_is(word, signs[i][0])) {
            tr_buffer_print(text, "%s", signs[i][1]);
            return;
        }
    static const char *const known[] = {"sin", "cos", "tan", "exp", "log", "min", "max", "pi"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (text_is(word, known[i])) {
            tr_buffer_print(text, "\\%s ", known[i]);
            return;
        }
    tr_buffer_print(text, "\\operatorname{");
    latex_letters(word, text);
    tr_buffer_print(text, "}");
}

static void latex_entry(const char *letter, const char *place, Buffer *text)
{
    tr_buffer_print(text, place[0] ? "%s%s_{%s}" : "%s%s%s", strlen(letter) > 1 ? "\\" : "", letter,
                    place);
}

// 1.25 10^-5, as one thing
static void latex_number(const char *digits, Buffer *text)
{
    const char *power = strchr(digits, 'e');
    if (power)
        tr_buffer_print(text, "{%.*s\\cdot 10^{%s}}", (int)(power - digits), digits, power + 1);
    else
        tr_buffer_print(text, "%s", digits);
}

// In a paragraph lines break behind signs and factors that stand in no group.
static const Notation latex_in_lines = {
    .name = "latex in lines",
    .group = {"", ""},
    .plus = " + ",
    .minus = " - ",
    .sign = "-",
    .times = "\\,\\allowbreak ",
    .comma = ", \\allowbreak ",
    .bracket = {"(", ")"},
    .power = {"", "^{", "}"},
    .call = {"", "(", ")"},
    .symbol = latex_symbol,
    .number = latex_number,
    .word = latex_word,
    .prose = latex_prose,
};

#define LATEX                                                                                      \
    .group = {"", ""}, .plus = " + ", .minus = " - ", .sign = "-", .times = "\\, ", .comma = ", ", \
    .bracket = {"\\left(", "\\right)"}, .fraction = {"\\frac{", "}{", "}"},                        \
    .power = {"{", "}^{", "}"}, .root = {"\\sqrt{", "}"}, .call = {"", "\\left(", "\\right)"},     \
    .symbol = latex_symbol, .number = latex_number, .word = latex_word, .entry = latex_entry

const Notation tr_notation_latex = {LATEX, .name = "latex", .in_lines = &latex_in_lines,
                                    .prose = latex_prose};

// ---- Markdown, with formulas as LaTeX has them ---------------------------------------------

static void markdown_prose(const char *words, Buffer *text)
{
    for (const char *at = words; *at; at++) {
        if (strchr("\\`*_<>[]|#$~", *at)) tr_buffer_add(text, "\\", 1);
        tr_buffer_add(text, at, 1);
    }
}

const Notation tr_notation_markdown = {LATEX, .name = "markdown", .prose = markdown_prose};

// ---- MathML --------------------------------------------------------------------------------

static void html_letters(Text name, Buffer *text)
{
    for (size_t i = 0; i < name.length; i++) {
        const char c = name.at[i];
        if (strchr("<>&\"'", c))
            tr_buffer_print(text, "&#%d;", (unsigned char)c);
        else
            tr_buffer_add(text, &c, 1);
    }
}

static void html_prose(const char *words, Buffer *text) { html_letters(text_of(words), text); }

static void mathml_number(const char *digits, Buffer *text)
{
    const char *power = strchr(digits, 'e');
    if (power)
        tr_buffer_print(
            text, "<mrow><mn>%.*s</mn><mo>&#183;</mo><msup><mn>10</mn><mn>%s</mn></msup></mrow>",
            (int)(power - digits), digits, power + 1);
    else
        tr_buffer_print(text, "<mn>%s</mn>", digits);
}

static void mathml_symbol(const System *system, uint32_t input, Buffer *text)
{
    const NameParts n = tr_name_parts(system, input);
    const bool has_below = n.below.length || n.owner.length;
    if (has_below) tr_buffer_print(text, "<msub>");
    if (n.dots) tr_buffer_print(text, "<mover accent='true'>");
    tr_buffer_print(text, "<mi>");
    if (n.greek)
        tr_buffer_print(text, "&%s;", n.greek);
    else
        html_letters(n.base, text);
    tr_buffer_print(text, "</mi>");
    if (n.dots) tr_buffer_print(text, "<mo>%s</mo></mover>", n.dots > 1 ? "&#168;" : "&#729;");
    if (!has_below) return;
    tr_buffer_print(text, "<mtext>");
    html_letters(n.below, text);
    if (n.below.length && n.owner.length) tr_buffer_print(text, ",");
    html_letters(n.owner, text);
    tr_buffer_print(text, "</mtext></msub>");
}

static void mathml_word(Text word, Buffer *text)
{
    const bool is_pi = text_is(word, "pi"), is_name = word.length && !strchr("<>=!&|", word.at[0]);
    tr_buffer_print(text, is_pi || is_name ? "<mi>" : "<mo>");
    if (is_pi)
        tr_buffer_print(text, "&pi;");
    else
        html_letters(word, text);
    tr_buffer_print(text, is_pi || is_name ? "</mi>" : "</mo>");
}

static void mathml_entry(const char *letter, const char *place, Buffer *text)
{
    const bool is_greek = strlen(letter) > 1;
    tr_buffer_print(text,
                    place[0] ? "<msub><mi>%s%s%s</mi><mn>%s</mn></msub>" : "<mi>%s%s%s%s</mi>",
                    is_greek ? "&" : "", letter, is_greek ? ";" : "", place);
}

const Notation tr_notation_mathml = {
    .name = "mathml",
    .group = {"<mrow>", "</mrow>"},
    .plus = "<mo>+</mo>",
    .minus = "<mo>&minus;</mo>",
    .sign = "<mo>&minus;</mo>",
    .times = "<mtext>&#8201;</mtext>", // thin, for 2ma may be 2 m a
    .comma = "<mo>,</mo>",
    .bracket = {"<mrow><mo>(</mo>", "<mo>)</mo></mrow>"},
    .fraction = {"<mfrac><mrow>", "</mrow><mrow>", "</mrow></mfrac>"},
    .power = {"<msup>", "", "</msup>"},
    .root = {"<msqrt>", "</msqrt>"},
    .call = {"<mrow>", "<mo>&#8289;</mo><mrow><mo>(</mo>", "<mo>)</mo></mrow></mrow>"},
    .symbol = mathml_symbol,
    .number = mathml_number,
    .word = mathml_word,
    .prose = html_prose,
    .entry = mathml_entry,
};
