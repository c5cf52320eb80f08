// SPDX-License-Identifier: Apache-2.0
// C99 that is C++, too: a header, the functions, a demo. Nothing is allocated, nothing is kept: all
// room is the caller's. Of the C library it takes fma, sqrt, fabs and floor, or their single forms.
#include "export/c_printer.h"
#include "export/embedded.h"
#include "export/identifier.h"
#include "export/paste.h"
#include "export/unreduced.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERATIONS_OF_A_PART = 500 };

#define CALL1(op, f)    [op] = {f "(%a)", LEVEL_ATOM, {0}}
#define CALL2(op, f)    [op] = {f "(%a, %b)", LEVEL_ATOM, {0}}
#define RELATION(op, s) [op] = {"%a " s " %b", LEVEL_RELATION, {LEVEL_SUM, LEVEL_SUM}}

#define C_PHRASES(sqrt_, fabs_, floor_)                                                    \
    {                                                                                      \
        [OP_ADD] = {"%a + %b", LEVEL_SUM, {LEVEL_SUM, LEVEL_PRODUCT}},                     \
        [OP_SUB] = {"%a - %b", LEVEL_SUM, {LEVEL_SUM, LEVEL_PRODUCT}},                     \
        [OP_MUL] = {"%a * %b", LEVEL_PRODUCT, {LEVEL_PRODUCT, LEVEL_SIGN}},                \
        [OP_DIV] = {"%a / %b", LEVEL_PRODUCT, {LEVEL_PRODUCT, LEVEL_SIGN}},                \
        [OP_NEG] = {"-%a", LEVEL_SIGN, {LEVEL_ATOM}}, CALL2(OP_RAISE, "el_raise"),         \
        CALL1(OP_SQRT, sqrt_), CALL1(OP_SIN, "el_sin"), CALL1(OP_COS, "el_cos"),           \
        CALL1(OP_TAN, "el_tan"), CALL1(OP_ASIN, "el_asin"), CALL1(OP_ACOS, "el_acos"),     \
        CALL1(OP_ATAN, "el_atan"), CALL1(OP_EXP, "el_exp"),                                \
        [OP_ATAN2] = {"el_atan2(%a + 0, %b + 0)", LEVEL_ATOM, {LEVEL_SUM, LEVEL_SUM}},     \
        CALL2(OP_HYPOT, "el_hypot"), CALL1(OP_LOG, "el_log"), CALL1(OP_ABS, fabs_),        \
        CALL1(OP_FLOOR, floor_), CALL2(OP_MIN, "smaller_of"), CALL2(OP_MAX, "larger_of"),  \
        RELATION(OP_LESS, "<"), RELATION(OP_LESS_EQUAL, "<="), RELATION(OP_EQUAL, "=="),   \
        RELATION(OP_NOT_EQUAL, "!="),                                                      \
        [OP_SELECT] = {"%? ? %b : %c", LEVEL_CHOICE, {0, LEVEL_RELATION, LEVEL_RELATION}}, \
        [CODE_FMA] = {"FMA(%a, %b, %c)", LEVEL_ATOM, {0}},                                 \
        [CODE_FMS] = {"FMA(%a, %b, -%c)", LEVEL_ATOM, {0, 0, LEVEL_ATOM}},                 \
        [CODE_FNMA] = {"FMA(-%a, %b, %c)", LEVEL_ATOM, {LEVEL_ATOM}},                      \
    }

static const Phrase double_phrases[FLAT_CODES] = C_PHRASES("sqrt", "fabs", "floor");
static const Phrase single_phrases[FLAT_CODES] = C_PHRASES("sqrtf", "fabsf", "floorf");

static Tongue tongue_of(const Export *code)
{
    const bool single = code->options.is_single;
    return (Tongue){.phrases = single ? single_phrases : double_phrases,
                    .truth = single ? "(%s ? 1.0f : 0.0f)" : "(%s ? 1.0 : 0.0)",
                    .is_true = "%s != 0",
                    .keep = single ? "    const float %s = %s;" : "    const double %s = %s;",
                    .set = "    %s = %s;",
                    .note = " /* %s */",
                    .entry = "%s[%u]",
                    .number_end = single ? "f" : "",
                    .infinity = single ? "HUGE_VALF" : "HUGE_VAL",
                    .nan = single ? "NAN" : "(double)NAN",
                    .table = "table_value(&tables[%t], %a, %b, %n)",
                    .most = OPERATIONS_OF_A_PART,
                    .is_whole_real = true};
}

// ---- functions -----------------------------------------------------------------------------

static void name_parameters(const Printer *p, Buffer *out, uint32_t uses, const char *array)
{
    const char *comma = "";
    for (uint32_t k = 0; k < ARGUMENT_COUNT; k++)
        if (uses >> k & 1) {
            tr_buffer_print(out, k == ARGUMENT_T ? "%s%s %s" : "%sconst %s *%s", comma, p->real,
                            tr_argument_name((Argument)k));
            comma = ", ";
        }
    if (uses & SETS_ENTRIES) tr_buffer_print(out, "%s%s *%s", comma, p->real, array), comma = ", ";
    if (uses & USES_ROOM) tr_buffer_print(out, "%s%s *w", comma, p->real);
}

// The whole, with the arguments that it has but does not use
static void open_whole(const Printer *p, Buffer *out, const char *array, uint32_t uses)
{
    tr_buffer_print(out, "%s\n{\n", p->head);
    for (uint32_t k = 0; k < ARGUMENT_COUNT; k++)
        if (p->arguments & ~uses & 1u << k)
            tr_buffer_print(out, "    (void)%s;\n", tr_argument_name((Argument)k));
    if (p->has_mode) tr_buffer_print(out, "    (void)mode;\n");
    if (!(uses & SETS_ENTRIES)) tr_buffer_print(out, "    (void)%s;\n", array);
    if (!(uses & USES_ROOM)) tr_buffer_print(out, "    (void)w;\n");
}

static void open_part(Walk *walk, uint32_t part, uint32_t uses)
{
    Printer *p = walk->owner;
    if (part == WHOLE) {
        open_whole(p, walk->out, walk->array, uses);
        return;
    }
    if (!tr_grow((void **)&p->masks, &p->part_capacity, part + 1, sizeof *p->masks)) {
        walk->out->failed = true;
        return;
    }
    p->masks[part] = uses, p->part_count = part + 1;
    tr_buffer_print(walk->out, "static PART void %s_%u(", walk->name, part + 1);
    name_parameters(p, walk->out, uses, walk->array);
    tr_buffer_print(walk->out, ")\n{\n");
}

static void close_part(Walk *walk, uint32_t part)
{
    (void)part;
    tr_buffer_print(walk->out, "}\n\n");
}

// The whole calls its parts.
static void call_parts(Printer *p, const Walk *walk, uint32_t uses)
{
    Buffer *out = &p->body;
    open_whole(p, out, walk->array, uses);
    for (uint32_t part = 0; part < p->part_count; part++) {
        const char *comma = "";
        tr_buffer_print(out, "    %s_%u(", walk->name, part + 1);
        for (uint32_t k = 0; k < ARGUMENT_COUNT; k++)
            if (p->masks[part] >> k & 1)
                tr_buffer_print(out, "%s%s", comma, tr_argument_name((Argument)k)), comma = ", ";
        if (p->masks[part] & SETS_ENTRIES)
            tr_buffer_print(out, "%s%s", comma, walk->array), comma = ", ";
        tr_buffer_print(out, "%s);\n", p->masks[part] & USES_ROOM ? comma[0] ? ", w" : "w" : "");
    }
    tr_buffer_print(out, "}\n\n");
}

// Those of the unreduced form that need more than the state
static bool takes_what_is_found(const Export *code, CodePart part)
{
    const bool is_of_state = part == PART_RATES || part == PART_OUTPUTS || part == PART_WATCHED;
    return (is_of_state && code->options.is_unreduced) || part == PART_ROWS || part == PART_TERMS ||
           part == PART_MARGINS;
}

// Which arguments a function has
static uint32_t arguments_of(const Export *code, CodePart part)
{
    enum { T = 1 << ARGUMENT_T, X = 1 << ARGUMENT_X, U = 1 << ARGUMENT_U, P = 1 << ARGUMENT_P };
    enum { WEIGHT = 1 << ARGUMENT_WEIGHT, CHANGE = 1 << ARGUMENT_CHANGE, DUE = 1 << ARGUMENT_DUE };
    if (takes_what_is_found(code, part)) return T | X | U | P | 1 << ARGUMENT_FOUND;
    if (part >= PART_FOLLOW_CHANGE) return T | X | U | P | CHANGE | 1 << ARGUMENT_FOUND;
    switch (part) {
    case PART_GRADIENT: return T | X | U | P | WEIGHT;
    case PART_HESSIAN: return T | X | U | P | WEIGHT | CHANGE;
    case PART_TANGENT: return T | X | U | P | CHANGE;
    case PART_SENSE:
        return T | X | U | P | DUE | 1 << ARGUMENT_NOISE |
               (code->options.is_unreduced ? 1 << ARGUMENT_FOUND : 0);
    case PART_CONTROL: return T | U | P | 1 << ARGUMENT_S | 1 << ARGUMENT_C | DUE;
    default: return T | X | U | P;
    }
}

// A function with the usual arguments, of everybody or of this file
void tr_c_function(Printer *p, CodePart part, const char *name, const char *array, bool is_public,
                   const CodeNames *entries)
{
    char head[400], full[160];
    const char *real = p->real, *comma = "";
    Buffer given = {0};
    snprintf(full, sizeof full, "%s%s%s", is_public ? p->code->options.name : "",
             is_public ? "_" : "", name);
    p->arguments = arguments_of(p->code, part);
    for (uint32_t k = 0; k < ARGUMENT_COUNT; k++) {
        if (!(p->arguments >> k & 1)) continue;
        tr_buffer_print(&given, k == ARGUMENT_T ? "%s%s %s" : "%sconst %s *%s", comma, real,
                        tr_argument_name((Argument)k));
        if (k == ARGUMENT_P && is_public) tr_buffer_print(&given, ", const int *mode");
        comma = ", ";
    }
    snprintf(head, sizeof head, "%svoid %s(%s, %s *%s, %s *w)", is_public ? "" : "static ", full,
             given.at ? given.at : "", real, array, real);
    p->body.failed = p->body.failed || given.failed;
    tr_buffer_free(&given);
    p->head = head, p->has_mode = is_public, p->part_count = 0;
    Walk walk = {.code = p->code,
                 .tongue = &p->tongue,
                 .out = &p->body,
                 .open_part = open_part,
                 .close_part = close_part,
                 .name = name,
                 .array = array,
                 .entries = entries,
                 .prime = part == PART_RATES || part == PART_FIRST ? "'" : NULL,
                 .owner = p};
    const Written written = tr_walk(&walk, &p->code->part[part]);
    if (written.parts > 1) call_parts(p, &walk, written.uses);
    p->rooms[part] = written.room;
    if (written.room > p->room) p->room = written.room;
}

// ---- pieces of text ------------------------------------------------------------------------

void tr_c_fill_in(const Printer *p, Buffer *out, Text text, const Mark *more)
{
    char upper[64];
    const bool single = p->code->options.is_single;
    tr_upper_name(p->code->options.name, upper, sizeof upper);
    Mark marks[60] = {
        {"name", p->code->options.name},
        {"NAME", upper},
        {"real", p->real},
        {"f", single ? "f" : ""},
        {"huge", single ? "HUGE_VALF" : "HUGE_VAL"},
        {"sqrt", single ? "sqrtf" : "sqrt"},
        {"fabs", single ? "fabsf" : "fabs"},
        {"floor", single ? "floorf" : "floor"},
        {"fma", single ? "fmaf" : "fma"},
        {"tiny", single ? "1e-7f" : "1e-15"},
        {"digits", single ? "9" : "17"},
        {"near", single ? "1e-7f" : "1e-14"},    // times that are one, by their size
        {"hair", single ? "1e-6f" : "1e-12"},    // and by steps
        {"nothing", single ? "1e-6f" : "1e-12"}, // left where numbers cancel
        {"nearly", single ? "1e-3f" : "1e-3"},   // the square of what is left of a row
        {"light", single ? "1e2f" : "1e5"},      // unknowns whose way does not count
        {"alone", single ? "1e-4f" : "1e-9"},
        {"acts", single ? "0.01f" : "0.01"}, // the square of a tenth
        {"little", single ? "1e-5f" : "1e-6"},
        {"drop", single ? "41" : "12"}, // bits of a random number, and the rest's size
        // of the unreduced form
        {"enough",
         single ? "1e-4f" : "1e-9"}, // of a slope, or that something is not as it should be
        {"together", single ? "1e-4f" : "1e-7"}, // as near to a limit
        {"least", single ? "1e-30f" : "1e-300"},
        {"soft", single ? "1e-5f" : "1e-10"},
        {"short", single ? "1e-10f" : "1e-18"}, // the square of a length that is none
        {"agrees", single ? "1e-3f" : "1e-6"},
        {"tie", single ? "1e-5f" : "1e-9"},
        {"slow", single ? "1e-4f" : "1e-6"}, // [m/s]
        {"moment", single ? "1e-6f" : "1e-9"},
        {"instant", single ? "1e-7f" : "1e-13"},
        {"soon", single ? "1e-5f" : "1e-7"},
        {"part", single ? "1.1920928955078125e-7f" : "2.220446049250313e-16"}};
    size_t count = 0;
    while (marks[count].mark) count++;
    for (; more && more->mark; more++) marks[count++] = *more;
    tr_fill_in(out, text, marks);
}

void tr_c_integers(Buffer *out, const char *head, const uint32_t *at, uint32_t count)
{
    tr_buffer_print(out, "%s = {", head);
    for (uint32_t k = 0; k < count; k++)
        tr_buffer_print(out, "%s%s%u", k ? "," : "", k % 16 ? " " : "\n    ", at[k]);
    tr_buffer_print(out, "%s};\n", count ? "\n" : "0");
}

void tr_c_reals(const Printer *p, Buffer *out, const char *head, const double *at, size_t count)
{
    tr_buffer_print(out, "static const %s %s[] = {", p->real, head);
    for (size_t k = 0; k < count; k++) {
        tr_buffer_print(out, "%s%s", k ? "," : "", k % 6 ? " " : "\n    ");
        tr_walk_number(out, &p->tongue, at[k], p->code->options.is_single);
    }
    tr_buffer_print(out, "\n};\n");
}

// Which operations its functions take
static void find_used(const Export *code, bool *used, Buffer *out)
{
    const Flat *flat = &code->flat;
    bool *needed = calloc(flat->count + 1u, sizeof *needed);
    if (!needed) out->failed = true;
    for (int part = 0; needed && part < CODE_PARTS; part++)
        for (uint32_t k = 0; k < code->part[part].count; k++)
            needed[code->part[part].value[k]] = true;
    for (uint32_t i = flat->count; needed && i-- > 0;) {
        if (!needed[i]) continue;
        used[flat->nodes[i].code] = true;
        for (int k = 0; k < flat_operands(&flat->nodes[i]); k++)
            needed[flat_operand(&flat->nodes[i], k)] = true;
    }
    free(needed);
}

// The functions of op.def that generated code has for itself
static void write_elementary(const Printer *p, Buffer *out)
{
    bool used[FLAT_CODES] = {0};
    Buffer wanted = {0};
    const bool single = p->code->options.is_single;
    find_used(p->code, used, out);
    for (unsigned op = OP_SQRT + 1; op <= OP_LOG; op++)
        if (used[op]) tr_buffer_print(&wanted, " el_%s", tr_op[op].name);
    if (p->code->samples.has_noise) tr_buffer_print(&wanted, " el_log");
    tr_buffer_print(&wanted, used[OP_RAISE] ? " el_exp el_log" : " ");
    if (wanted.failed) out->failed = true;
    if (wanted.at)
        tr_paste(out, single ? tr_embedded_single() : tr_embedded_elementary(), wanted.at, "FMA");
    tr_buffer_free(&wanted);
    static const char *const extremes[] = {"smaller_of", "<", "larger_of", ">"};
    for (unsigned op = OP_MIN; op <= OP_MAX; op++)
        if (used[op])
            tr_buffer_print(out,
                            "static inline %s %s(%s a, %s b)\n{\n"
                            "    return a %s b || a != a ? a : b;\n}\n\n",
                            p->real, extremes[2 * (op - OP_MIN)], p->real, p->real,
                            extremes[2 * (op - OP_MIN) + 1]);
    if (used[OP_RAISE]) tr_c_fill_in(p, out, tr_embedded_c_raise(), NULL);
}

// ---- names ---------------------------------------------------------------------------------

static void write_names(const Printer *p, Buffer *out, const char *list, const CodeNames *names)
{
    tr_buffer_print(out, "const %s_name %s_%s_name[] = {\n", p->code->options.name,
                    p->code->options.name, list);
    for (uint32_t k = 0; k < names->count; k++) {
        tr_buffer_print(out, "    {\"");
        tr_buffer_quoted(out, names->at[k].name, true);
        tr_buffer_print(out, "\", \"");
        tr_buffer_quoted(out, names->at[k].unit, true);
        tr_buffer_print(out, "\", ");
        tr_walk_number(out, &p->tongue, names->at[k].value, p->code->options.is_single);
        tr_buffer_print(out, ", ");
        tr_walk_number(out, &p->tongue, names->at[k].least, p->code->options.is_single);
        tr_buffer_print(out, ", ");
        tr_walk_number(out, &p->tongue, names->at[k].most, p->code->options.is_single);
        tr_buffer_print(out, "},\n");
    }
    tr_buffer_print(out, "    {0, 0, 0, 0, 0}\n};\n");
}

static void write_indices(const Printer *p, Buffer *out, const CodeNames *names, const char *words)
{
    if (!names->count) return;
    tr_buffer_print(out, "/* %s */\nenum {\n", words);
    for (uint32_t k = 0; k < names->count; k++) {
        tr_buffer_print(out, "    %s_%s = %u%s", p->code->options.name, names->at[k].id, k,
                        k + 1 < names->count ? "," : "");
        tr_buffer_print(out, " /* ");
        tr_buffer_comment(out, names->at[k].name);
        if (names->at[k].unit[0]) {
            tr_buffer_print(out, " [");
            tr_buffer_comment(out, names->at[k].unit);
            tr_buffer_print(out, "]");
        }
        if (names->at[k].doc[0]) {
            tr_buffer_print(out, ": ");
            tr_buffer_comment(out, names->at[k].doc);
        }
        tr_buffer_print(out, "%s */\n",
                        names == &p->code->x && !names->at[k].is_integrated ? ", follows" : "");
    }
    tr_buffer_print(out, "};\n\n");
}

// ---- files ---------------------------------------------------------------------------------

static void write_title(const Printer *p, Buffer *out)
{
    const System *s = p->code->system;
    tr_buffer_print(out, "/* %s: ", p->code->options.name);
    tr_buffer_comment(out, s->title && s->title[0] ? s->title : p->code->options.name);
    tr_buffer_print(out, "\n   Written by trundle " TR_VERSION);
    if (s->source.sha256[0])
        tr_buffer_print(out, " from a model with the SHA-256\n   %s", s->source.sha256);
    tr_buffer_print(out, ". */\n");
}

static uint32_t projection_room(const Printer *p)
{
    const Export *code = p->code;
    const uint32_t m = code->phi_count + code->quaternion_count, n = code->projected_count;
    uint32_t last = m * m;
    if (p->rooms[PART_PROJECTION] > last) last = p->rooms[PART_PROJECTION];
    const uint32_t phi = code->phi_count + p->rooms[PART_PHI];
    return m + m * n + last > phi ? m + m * n + last : phi;
}

static uint32_t start_room(const Printer *p)
{
    uint32_t most = p->rooms[PART_START];
    for (int k = 0; k < 2; k++) {
        const CodeConditions *given = &p->code->given[k];
        const uint32_t n = given->count, rows = given->rows;
        const uint32_t room = (rows + n) * (1 + n) + n + rows * (1 + n) +
                              p->rooms[k ? PART_GIVEN_RATES : PART_GIVEN_POSITIONS];
        const uint32_t easy = given->easy, all = rows + n;
        const uint32_t used = n * (1 + easy) + p->rooms[PART_METRIC];
        const uint32_t weighs = n * (1 + easy) + all * (2 * easy + n + 1) + 2 * easy * easy + easy;
        const uint32_t metric =
            code_has(p->code, PART_METRIC) ? n * (1 + easy) + (used > weighs ? used : weighs) : 0;
        if (room + metric > most) most = room + metric;
    }
    return most + p->code->u.count + 2 * p->code->x.count + 3;
}

static const char reduced_failures[] =
    "2: other velocities\n   should be independent here, which this code cannot change: its "
    "numbers "
    "lose digits from here on\n   (not looked at in single precision).";

static const char unreduced_modes[] =
    ", 3 only just began to slip.\n   Behind them, for each constraint, the velocity that follows "
    "from it, counted from 1, or 0";
static const char unreduced_failures[] =
    "2: nothing agrees\n   with what contacts do there; 3: velocities of motions, or places, jump, "
    "and others would have to\n   follow with an impact; 4: modes change without end.";

// Numbers that the longest of the functions needs to work with, beside the stages of a step
static uint32_t working_room(const Printer *p)
{
    const Export *code = p->code;
    uint32_t room = p->room;
    const uint32_t quality = 2 * code->pivot_count + 1 + p->rooms[PART_QUALITY];
    if (code->phi_count && projection_room(p) > room) room = projection_room(p);
    if (code->pivot_count && quality > room) room = quality;
    if (start_room(p) > room + 5 * code->x.count) room = start_room(p) - 5 * code->x.count;
    if (code->options.is_unreduced) room += tr_c_unreduced_room(p);
    if (code->options.is_unreduced && code->samples.clock.count) room += tr_c_step_room(p);
    if (tr_c_step_room(p) > room + 5 * code->x.count) room = tr_c_step_room(p) - 5 * code->x.count;
    return room + code->u.count + 2 * code->x.count + 3; // what the start keeps while others go on
}

static void write_fixed(const Printer *p, Buffer *out)
{
    const Export *code = p->code;
    for (uint32_t k = 0; k < code->fixed.count; k++) {
        tr_buffer_print(out, k ? ", " : "/* Parameters that are numbers here: ");
        tr_buffer_comment(out, code->fixed.at[k].name);
        tr_buffer_print(out, " = ");
        tr_walk_number(out, &p->tongue, code->fixed.at[k].value, code->options.is_single);
        if (k + 1 == code->fixed.count) tr_buffer_print(out, " */\n\n");
    }
}

static void write_header(const Printer *p, Buffer *out)
{
    const Export *code = p->code;
    char sizes[400];
    const uint32_t room = working_room(p);
    const bool unreduced = code->options.is_unreduced;
    write_title(p, out);
    snprintf(sizes, sizeof sizes,
             "    @NAME@_NX = %u, @NAME@_NU = %u, @NAME@_NP = %u, @NAME@_NY = %u, @NAME@_NM = %u,\n"
             "    @NAME@_NZ = %u, @NAME@_NJ = %u, @NAME@_NS = %u, @NAME@_NC = %u, @NAME@_NK = %u,\n"
             "    @NAME@_NWORK = %u",
             code->x.count, code->u.count, code->p.count, code->y.count, code->latches.count,
             tr_code_indicators(code), code->jacobian_count, code->samples.s.count,
             code->samples.c.count, code->samples.clock.count, room + 5 * code->x.count);
    Buffer indices = {0}, filled = {0};
    write_indices(p, &indices, &code->x, "the state");
    write_indices(p, &indices, &code->u, "inputs");
    write_indices(p, &indices, &code->p, "parameters");
    write_indices(p, &indices, &code->y, "outputs");
    write_indices(p, &indices, &code->latches, "contacts, by what they do");
    write_indices(p, &indices, &code->samples.s, "what controllers read");
    write_indices(p, &indices, &code->samples.c, "states of controllers");
    write_indices(p, &indices, &code->samples.clock, "what acts at samples");
    write_fixed(p, &indices);
    tr_c_fill_in(p, &filled, text_of(sizes), NULL);
    Buffer second = {0};
    if (code->options.differentiates) tr_c_fill_in(p, &second, tr_embedded_c_second(), NULL);
    Buffer samples = {0}, slopes = {0};
    tr_c_samples_header(p, &samples);
    tr_c_fill_in(p, &slopes,
                 code->options.is_fmu ? tr_embedded_c_tangent() : tr_embedded_c_jacobian(), NULL);
    const bool acts = code->samples.clock.count;
    const Mark marks[] = {{"sizes", filled.at ? filled.at : ""},
                          {"samples", samples.at ? samples.at : ""},
                          {"slopes", slopes.at ? slopes.at : ""},
                          {"and_samples", acts ? ", and at samples" : ""},
                          {"own_u", acts ? "" : "const "},
                          {"second", second.at ? second.at : ""},
                          {"indices", indices.at ? indices.at : ""},
                          {"modes", unreduced ? unreduced_modes : ""},
                          {"failures", unreduced ? unreduced_failures : reduced_failures},
                          {NULL, NULL}};
    tr_c_fill_in(p, out, tr_embedded_c_header(), marks);
    out->failed = out->failed || indices.failed || filled.failed;
    tr_buffer_free(&indices);
    tr_buffer_free(&filled);
    tr_buffer_free(&second);
    tr_buffer_free(&samples);
    tr_buffer_free(&slopes);
}

static void write_defaults(Printer *p)
{
    const Export *code = p->code;
    Buffer *out = &p->body;
    const char *name = code->options.name, *real = p->real;
    tr_buffer_print(out, "void %s_parameters(%s *p)\n{\n", name, real);
    if (!code->p.count) tr_buffer_print(out, "    (void)p;\n");
    for (uint32_t k = 0; k < code->p.count; k++) {
        tr_buffer_print(out, "    p[%u] = ", k);
        tr_walk_number(out, &p->tongue, code->p.at[k].value, code->options.is_single);
        tr_buffer_print(out, "; /* %s */\n", code->p.at[k].id);
    }
    tr_buffer_print(out, "}\n\n");
    tr_c_function(p, PART_INPUTS, "input_formulas", "u_of", false, &code->u);
    tr_buffer_print(
        out, "void %s_inputs(const %s *p, %s *u)\n{\n    input_formulas(0, p, p, p, u, u);\n}\n\n",
        name, real, real);
}

// What a guess is with the model's own parameters: where it has a formula, what that gives
static void write_guesses(Printer *p)
{
    const Export *code = p->code;
    double *guess = calloc(code->x.count + 1u, sizeof *guess);
    if (!guess) {
        p->body.failed = true;
        return;
    }
    for (uint32_t k = 0; k < code->x.count; k++)
        if (code->x.at[k].input != NO_INPUT)
            guess[k] = code->system->inputs[code->x.at[k].input].value;
    tr_c_reals(p, &p->body, "first_guess", guess, code->x.count);
    tr_c_reals(p, &p->body, "first_state", code->start, code->x.count);
    free(guess);
    tr_buffer_print(&p->body, "\n");
    tr_c_function(p, PART_START, "start_guess", "guess", false, &code->x);
}

// Positions are known by then.
static const char take_metric[] =
    "    @real@ *root = w, *Q = root + n;\n"
    "    w = Q + easy * n;\n"
    "    if (weigh) {\n"
    "        weigh(0, x, u, p, w, w + n * (1 + easy));\n"
    "        for (int k = 0; k < n; k++) root[k] = w[k] > 0 ? @sqrt@(w[k]) : 1;\n"
    "        take_easy(n, easy, w + n, root, Q);\n"
    "    }\n";

static const char start_known[] = "return begin(0, x, u, p, mode, 0, w);";
static const char start_decided[] = "return begin(0, x, u, p, mode, 1, w);";

// The conditions of the start, positions first, and the calls that meet them
static void write_searches(Printer *p, Buffer *solve)
{
    static const char *const names[] = {"position_conditions", "rate_conditions"};
    const Export *code = p->code;
    Buffer *out = &p->body;
    const bool has_metric = code_has(code, PART_METRIC);
    char weigh[60] = "";
    for (int k = 0; k < 2; k++) {
        char head[80];
        const CodePart part = k ? PART_GIVEN_RATES : PART_GIVEN_POSITIONS;
        if (!code_has(code, part)) continue;
        tr_c_function(p, part, names[k], "f", false, NULL);
        snprintf(head, sizeof head, "static const int %s_place[]", names[k]);
        tr_c_integers(out, head, code->given[k].place, code->given[k].count);
        const bool weighs = k && code_has(code, PART_METRIC);
        if (has_metric)
            snprintf(weigh, sizeof weigh, "%s, %u, ", weighs ? "evaluate_metric" : "0",
                     code->given[k].easy);
        tr_buffer_print(solve,
                        "    if (find_nearest(%s, %s%u, %u, %u, %s_place, %s, near, x, u, p, w)) "
                        "return 1;\n",
                        names[k], weigh, code->given[k].rows, code->given[k].count,
                        code->given[k].loose, names[k],
                        code->given[k].has_wishes ? "near" : "guess");
    }
}

static void write_start(Printer *p)
{
    const Export *code = p->code;
    const bool single = code->options.is_single;
    Buffer *out = &p->body, modes = {0}, solve = {0};
    const bool solves = code_has(code, PART_GIVEN_POSITIONS) || code_has(code, PART_GIVEN_RATES);
    const bool has_metric = code_has(code, PART_METRIC);
    Buffer metric = {0}, take = {0};
    if (has_metric) tr_c_function(p, PART_METRIC, "evaluate_metric", "f", false, NULL);
    if (has_metric) tr_c_fill_in(p, &metric, tr_embedded_c_metric(), NULL);
    if (has_metric) tr_c_fill_in(p, &take, text_of(take_metric), NULL);
    if (solves) tr_buffer_print(out, "#define QUATERNION_COUNT %u\n", code->quaternion_count);
    if (solves && code->quaternion_count)
        tr_c_integers(out, "static const int start_quaternion[]", code->quaternion,
                      code->quaternion_count);
    write_guesses(p);
    write_searches(p, &solve);
    for (uint32_t k = 0; k < code->latches.count; k++)
        tr_buffer_print(&modes, "    mode[%u] = %u; /* %s */\n", k, code->mode[k],
                        code->latches.at[k].id);
    const Mark marks[] = {
        {"metric", metric.at ? metric.at : ""},
        {"weighed", has_metric ? "weigh, easy, " : ""},
        {"units", code->quaternion_count
                      ? "    for (int i = 0; i < QUATERNION_COUNT; i++) make_unit(guess + "
                        "start_quaternion[i]);\n"
                      : ""},
        {"weigh", has_metric ? "conditions *weigh, int easy, " : ""},
        {"take_metric", take.at ? take.at : ""},
        {"least_move", has_metric
                           ? "if (weigh) weighed_move(all, n, J, r, d, easy, root, Q, same, w);\n"
                             "        if (!weigh) least_move(all, n, J, r, d, same);"
                           : "least_move(all, n, J, r, d, same);"},
        {"modes", modes.at ? modes.at : ""},
        {"solve", solve.at ? solve.at : ""},
        {"same", single ? "1e-10f" : "1e-20"},
        {"converged", single ? "1e-13f" : "1e-28"},
        {"wrong", single ? "1e-8f" : "1e-20"},
        {"known", code->options.is_unreduced ? start_known : "return 0;"},
        {"decide", code->options.is_unreduced ? start_decided : "return 0;"},
        {NULL, NULL}};
    tr_c_fill_in(p, out, solves ? tr_embedded_c_start() : tr_embedded_c_plain_start(), marks);
    out->failed = out->failed || modes.failed || solve.failed;
    tr_buffer_free(&modes);
    tr_buffer_free(&metric);
    tr_buffer_free(&take);
    tr_buffer_free(&solve);
}

void tr_c_projection(Printer *p)
{
    const Export *code = p->code;
    Buffer *out = &p->body;
    const bool unreduced = code->options.is_unreduced;
    if (!code->phi_count && !code->quaternion_count) return;
    tr_buffer_print(out, "enum { CONDITIONS = %u, PROJECTED = %u, QUATERNIONS = %u };\n",
                    code->phi_count, code->projected_count, code->quaternion_count);
    tr_c_integers(out, "static const int quaternion[QUATERNIONS + 1]", code->quaternion,
                  code->quaternion_count);
    tr_c_fill_in(p, out, tr_embedded_c_units(), NULL);
    if (!code->phi_count) return;
    tr_c_integers(out, "static const int projected[PROJECTED]", code->projected,
                  code->projected_count);
    tr_buffer_print(out, "\n");
    tr_c_function(p, PART_PHI, unreduced ? "all_phi" : "evaluate_phi", "f", false, NULL);
    tr_c_function(p, PART_PROJECTION, unreduced ? "all_slopes" : "evaluate_projection", "f", false,
                  NULL);
    const Mark marks[] = {{"conditions", unreduced ? "count_conditions(mode)" : "CONDITIONS"},
                          {"with_mode", unreduced ? ", const int *mode" : ""},
                          {"mode", unreduced ? ", mode" : ""},
                          {NULL, NULL}};
    if (unreduced) tr_c_fill_in(p, out, tr_embedded_c_all_phi(), NULL);
    tr_c_fill_in(p, out, tr_embedded_c_project(), marks);
}

// Where velocities depend on each other: whether they may, here
static void write_quality(Printer *p)
{
    Buffer *out = &p->body;
    if (!p->code->pivot_count) return;
    tr_c_function(p, PART_QUALITY, "evaluate_quality", "f", false, NULL);
    tr_buffer_print(out, "enum { PIVOTS = %u };\n", p->code->pivot_count);
    tr_c_fill_in(p, out, tr_embedded_c_quality(), NULL);
}

static void write_functions(Printer *p)
{
    const Export *code = p->code;
    write_defaults(p);
    if (code->options.is_fmu && code->u.count)
        tr_c_function(p, PART_SIGNALS, "signals", "f", false, NULL);
    if (code->options.is_unreduced) {
        tr_c_unreduced(p);
        write_start(p);
        return;
    }
    tr_c_function(p, PART_RATES, "rates", "dx", true, &code->x);
    tr_c_function(p, PART_OUTPUTS, "outputs", "y", true, &code->y);
    if (code->options.is_fmu)
        tr_c_function(p, PART_TANGENT, "tangent", "d", true, NULL);
    else
        tr_c_function(p, PART_JACOBIAN, "jacobian", "J", true, NULL);
    if (code->options.differentiates) {
        tr_c_function(p, PART_TANGENT, "tangent", "d", true, NULL);
        tr_c_function(p, PART_GRADIENT, "gradient", "g", true, NULL);
        tr_c_function(p, PART_HESSIAN, "hessian", "g", true, NULL);
    }
    tr_c_function(p, PART_FOLLOW, "follow", "f", false, &code->x);
    tr_c_function(p, PART_SPEEDS, "speed_entries", "f", false, &code->x);
    if (code_has(code, PART_SIDES))
        tr_c_function(p, PART_SIDES, "evaluate_sides", "f", false, NULL);
    if (code_has(code, PART_WATCHED))
        tr_c_function(p, PART_WATCHED, "evaluate_watched", "f", false, NULL);
    tr_buffer_print(&p->body,
                    "void %s_speeds(%s t, %s *x, const %s *u, const %s *p, %s *w)\n{\n"
                    "    speed_entries(t, x, u, p, x, w);\n}\n\n",
                    code->options.name, p->real, p->real, p->real, p->real, p->real);
    tr_c_projection(p);
    write_quality(p);
    tr_c_samples(p);
    tr_c_step(p);
    write_start(p);
}

static void write_source(const Printer *p, Buffer *out)
{
    const Export *code = p->code;
    write_title(p, out);
    tr_c_fill_in(p, out, tr_embedded_c_source(), NULL);
    tr_buffer_print(out, "/* ---- names ---- */\n\n");
    write_names(p, out, "x", &code->x);
    write_names(p, out, "u", &code->u);
    write_names(p, out, "p", &code->p);
    write_names(p, out, "y", &code->y);
    write_names(p, out, "mode", &code->latches);
    write_names(p, out, "s", &code->samples.s);
    write_names(p, out, "c", &code->samples.c);
    write_names(p, out, "k", &code->samples.clock);
    char head[120];
    if (!code->options.is_fmu) {
        snprintf(head, sizeof head, "const int %s_jacobian_row[]", code->options.name);
        tr_c_integers(out, head, code->jacobian_row, code->jacobian_count);
        snprintf(head, sizeof head, "const int %s_jacobian_column[]", code->options.name);
        tr_c_integers(out, head, code->jacobian_column, code->jacobian_count);
    }
    tr_buffer_print(out, "\n/* ---- elementary functions ---- */\n\n");
    write_elementary(p, out);
    tr_c_tables(p, out);
    tr_buffer_print(out, "/* ---- the model ---- */\n\n");
    tr_buffer_add(out, p->body.at ? p->body.at : "", p->body.length);
    out->failed = out->failed || p->body.failed;
}

bool tr_write_c(Export *code, Buffer *header, Buffer *source, tr_error *err)
{
    Printer p = {.code = code,
                 .tongue = tongue_of(code),
                 .real = code->options.is_single ? "float" : "double"};
    if (!tr_tables_are_apart(code) && !tr_tables_are_small(code, err)) return false;
    write_functions(&p);
    write_header(&p, header);
    write_source(&p, source);
    tr_buffer_free(&p.body);
    free(p.masks);
    if (header->failed || source->failed) tr_fail_memory(err);
    return !has_failed(err);
}

bool tr_print_c(Export *code, Folder *folder, tr_error *err)
{
    const char *name = code->options.name;
    const Printer p = {.code = code, .real = code->options.is_single ? "float" : "double"};
    Buffer *header = tr_folder_add(folder, "%s.h", name);
    Buffer *source = tr_folder_add(folder, "%s.c", name);
    if (header && source && !tr_write_c(code, header, source, err)) return false;
    Buffer *demo = tr_folder_add(folder, "%s_demo.c", name), title = {0};
    tr_buffer_comment(&title, code->system->title ? code->system->title : name);
    char sample[120] = "";
    if (code->samples.clock.count)
        snprintf(sample, sizeof sample, "    failed = failed || %s_sample(0, x, u, p, mode, w);\n",
                 name);
    const Mark marks[] = {
        {"title", title.at ? title.at : name}, {"first_sample", sample}, {NULL, NULL}};
    if (demo) tr_c_fill_in(&p, demo, tr_embedded_c_demo(), marks);
    Buffer *makefile = tr_folder_add(folder, "Makefile");
    if (makefile) tr_c_fill_in(&p, makefile, tr_embedded_c_makefile(), NULL);
    tr_buffer_free(&title);
    if (!source || !makefile) tr_fail_memory(err);
    return !has_failed(err);
}
