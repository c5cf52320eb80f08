// SPDX-License-Identifier: Apache-2.0
// Python with NumPy, and Octave or Matlab: functions of the same names and order as in C, each one
// piece. They give values instead of filling arrays, and choose the last bits themselves.
#include "export/embedded.h"
#include "export/identifier.h"
#include "export/target.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CALL1(op, f)    [op] = {f "(%a)", LEVEL_ATOM, {0}}
#define CALL2(op, f)    [op] = {f "(%a, %b)", LEVEL_ATOM, {0}}
#define RELATION(op, s) [op] = {"%a " s " %b", LEVEL_RELATION, {LEVEL_SUM, LEVEL_SUM}}
#define ARITHMETIC                                                                        \
    [OP_ADD] = {"%a + %b", LEVEL_SUM, {LEVEL_SUM, LEVEL_PRODUCT}},                        \
    [OP_SUB] = {"%a - %b", LEVEL_SUM, {LEVEL_SUM, LEVEL_PRODUCT}},                        \
    [OP_MUL] = {"%a * %b", LEVEL_PRODUCT, {LEVEL_PRODUCT, LEVEL_SIGN}},                   \
    [OP_DIV] = {"%a / %b", LEVEL_PRODUCT, {LEVEL_PRODUCT, LEVEL_SIGN}},                   \
    [OP_NEG] = {"-%a", LEVEL_SIGN, {LEVEL_ATOM}},                                         \
    [CODE_FMA] = {"%a * %b + %c", LEVEL_SUM, {LEVEL_PRODUCT, LEVEL_SIGN, LEVEL_PRODUCT}}, \
    [CODE_FMS] = {"%a * %b - %c", LEVEL_SUM, {LEVEL_PRODUCT, LEVEL_SIGN, LEVEL_PRODUCT}}, \
    [CODE_FNMA] = {"%c - %a * %b", LEVEL_SUM, {LEVEL_PRODUCT, LEVEL_SIGN, LEVEL_SUM}},    \
    RELATION(OP_LESS, "<"), RELATION(OP_LESS_EQUAL, "<="), RELATION(OP_EQUAL, "==")

static const Phrase python_phrases[FLAT_CODES] = {
    ARITHMETIC,
    RELATION(OP_NOT_EQUAL, "!="),
    CALL2(OP_RAISE, "np.power"),
    CALL1(OP_SQRT, "np.sqrt"),
    CALL1(OP_SIN, "np.sin"),
    CALL1(OP_COS, "np.cos"),
    CALL1(OP_TAN, "np.tan"),
    CALL1(OP_ASIN, "np.arcsin"),
    CALL1(OP_ACOS, "np.arccos"),
    CALL1(OP_ATAN, "np.arctan"),
    CALL2(OP_ATAN2, "np.arctan2"),
    CALL1(OP_EXP, "np.exp"),
    CALL2(OP_HYPOT, "np.hypot"),
    CALL1(OP_LOG, "np.log"),
    CALL1(OP_ABS, "np.abs"),
    CALL1(OP_FLOOR, "np.floor"),
    CALL2(OP_MIN, "np.minimum"),
    CALL2(OP_MAX, "np.maximum"),
    [OP_SELECT] = {"np.where(%?, %b, %c)", LEVEL_ATOM, {0}},
};

static const Phrase octave_phrases[FLAT_CODES] = {
    ARITHMETIC,
    RELATION(OP_NOT_EQUAL, "~="),
    CALL2(OP_RAISE, "power"),
    CALL1(OP_SQRT, "sqrt"),
    CALL1(OP_SIN, "sin"),
    CALL1(OP_COS, "cos"),
    CALL1(OP_TAN, "tan"),
    CALL1(OP_ASIN, "asin"),
    CALL1(OP_ACOS, "acos"),
    CALL1(OP_ATAN, "atan"),
    CALL2(OP_ATAN2, "atan2"),
    CALL1(OP_EXP, "exp"),
    CALL2(OP_HYPOT, "hypot"),
    CALL1(OP_LOG, "log"),
    CALL1(OP_ABS, "abs"),
    CALL1(OP_FLOOR, "floor"),
    CALL2(OP_MIN, "min"),
    CALL2(OP_MAX, "max"),
    [OP_SELECT] = {"choose(%?, %b, %c)", LEVEL_ATOM, {0}},
};

static const Tongue python = {.phrases = python_phrases,
                              .truth = "np.where(%s, 1.0, 0.0)",
                              .is_true = "%s != 0",
                              .keep = "    %s = %s",
                              .set = "    %s = %s",
                              .note = "  # %s",
                              .entry = "%s[%u]",
                              .number_end = "",
                              .infinity = "np.inf",
                              .nan = "np.nan",
                              .table = "table_value(TABLES[%t], %a, %b, %n)",
                              .most = UINT32_MAX / 2,
                              .is_whole_real = true};

static const Tongue octave = {.phrases = octave_phrases,
                              .truth = "double(%s)",
                              .is_true = "%s ~= 0",
                              .keep = "  %s = %s;",
                              .set = "  %s = %s;",
                              .note = " % %s",
                              .entry = "%s(%u)",
                              .first = 1,
                              .number_end = "",
                              .infinity = "Inf",
                              .nan = "NaN",
                              .table = "table_value(sizes.tables{%t}, %a, %b, %n)",
                              .most = UINT32_MAX / 2};

// What is printed, by name; the parameters in the brackets
typedef struct ScriptPart {
    CodePart part;
    const char *name, *array, *given;
} ScriptPart;

#define USUAL "t, x, u, p, mode"
static const ScriptPart parts[] = {{PART_RATES, "rates", "dx", USUAL},
                                   {PART_OUTPUTS, "outputs", "y", USUAL},
                                   {PART_JACOBIAN, "jacobian", "J", USUAL},
                                   {PART_FOLLOW, "follow", "f", USUAL},
                                   {PART_SPEEDS, "speed_entries", "f", USUAL},
                                   {PART_PHI, "phi", "f", USUAL},
                                   {PART_PROJECTION, "projection", "f", USUAL},
                                   {PART_QUALITY, "quality", "f", USUAL},
                                   {PART_GIVEN_POSITIONS, "given_positions", "f", USUAL},
                                   {PART_GIVEN_RATES, "given_rates", "f", USUAL},
                                   {PART_METRIC, "metric", "f", USUAL},
                                   {PART_INPUTS, "inputs", "values", "p"},
                                   {PART_START, "guess", "values", "p"}};
// Of models with controllers or sensors
static const ScriptPart sampled_parts[] = {
    {PART_CLOCKS, "clocks", "f", USUAL},
    {PART_SENSE, "sensors", "f", "t, x, u, p, due, noise"},
    {PART_CONTROL, "controllers", "f", "t, s, c, u, p, due"}};

typedef struct Script {
    const Export *code;
    const Tongue *tongue;
    bool is_octave;
    const ScriptPart *part; // that is being written
} Script;

static const CodeNames *names_of(const Export *code, CodePart part)
{
    switch (part) {
    case PART_OUTPUTS: return &code->y;
    case PART_INPUTS: return &code->u;
    case PART_RATES:
    case PART_FOLLOW:
    case PART_SPEEDS:
    case PART_START: return &code->x;
    default: return NULL;
    }
}

// Entries of what a function gives
static uint32_t length_of(const Export *code, CodePart part)
{
    assert(code);
    const CodeNames *names = names_of(code, part);
    return names ? names->count : code->part[part].count;
}

// ---- functions -----------------------------------------------------------------------------

static void open_part(Walk *walk, uint32_t number, uint32_t uses)
{
    (void)number, (void)uses;
    const Script *s = walk->owner;
    const ScriptPart *part = s->part;
    const uint32_t length = length_of(s->code, part->part);
    const bool is_guess = part->part == PART_START;
    const char *name = s->code->options.name;
    Buffer *out = walk->out;
    if (s->is_octave) {
        tr_buffer_print(out, "function %s = %s_%s(%s)\n", part->array, name, part->name,
                        part->given);
        if (s->code->flat.table_count || is_guess)
            tr_buffer_print(out, "  sizes = %s_sizes();\n", name);
        if (is_guess)
            tr_buffer_print(out, "  %s = sizes.first_guess;\n", part->array);
        else
            tr_buffer_print(out, "  %s = zeros(%u, 1);\n", part->array, length);
        return;
    }
    tr_buffer_print(out, "def %s_%s(%s%s):\n", name, part->name, part->given,
                    part->given[1] ? "=None" : "");
    if (is_guess)
        tr_buffer_print(out, "    %s = np.array(FIRST_GUESS)\n", part->array);
    else
        tr_buffer_print(out, "    %s = np.zeros(%u)\n", part->array, length);
}

static void close_part(Walk *walk, uint32_t number)
{
    (void)number;
    const Script *s = walk->owner;
    if (s->is_octave)
        tr_buffer_print(walk->out,
                        "end\n\nfunction y = choose(c, a, b)\n  if c\n    y = a;\n  else\n    y = "
                        "b;\n  end\nend\n");
    else
        tr_buffer_print(walk->out, "    return %s\n\n\n", s->part->array);
}

static void write_part(Script *s, const ScriptPart *part, Buffer *out)
{
    s->part = part;
    Walk walk = {.code = s->code,
                 .tongue = s->tongue,
                 .out = out,
                 .open_part = open_part,
                 .close_part = close_part,
                 .name = part->name,
                 .array = part->array,
                 .entries = names_of(s->code, part->part),
                 .prime = part->part == PART_RATES ? "'" : NULL,
                 .owner = s};
    tr_walk(&walk, &s->code->part[part->part]);
}

// ---- lists ---------------------------------------------------------------------------------

static void list_numbers(const Script *s, Buffer *out, const double *at, size_t count)
{
    tr_buffer_print(out, "[");
    for (size_t k = 0; k < count; k++) {
        tr_buffer_print(out, "%s", k ? ", " : "");
        tr_walk_number(out, s->tongue, at[k], false);
        if (k % 8 == 7 && k + 1 < count)
            tr_buffer_print(out, s->is_octave ? " ...\n    " : "\n    ");
    }
    tr_buffer_print(out, "]");
}

static void list_entries(const Script *s, Buffer *out, const uint32_t *at, uint32_t count,
                         uint32_t first)
{
    tr_buffer_print(out, "%s[", s->is_octave ? "" : "np.array(");
    for (uint32_t k = 0; k < count; k++) tr_buffer_print(out, "%s%u", k ? ", " : "", at[k] + first);
    tr_buffer_print(out, "]%s", s->is_octave ? "" : ", int)");
}

void tr_script_names(Buffer *out, const Tongue *tongue, const CodeNames *names)
{
    const bool is_octave = tongue->first == 1; // entries are counted from 1 there alone
    tr_buffer_print(out, is_octave ? "{" : "[");
    for (uint32_t k = 0; k < names->count; k++) {
        const CodeName *at = &names->at[k];
        const double numbers[] = {at->value, at->least, at->most};
        const char quote = is_octave ? '\'' : '"';
        tr_buffer_print(out, "%s%c", is_octave ? "" : k ? ",\n    (" : "\n    (", quote);
        tr_buffer_quoted(out, at->name, !is_octave);
        tr_buffer_print(out, "%c, %c", quote, quote);
        tr_buffer_quoted(out, at->unit, !is_octave);
        tr_buffer_print(out, "%c", quote);
        for (int i = 0; i < 3; i++) {
            tr_buffer_print(out, ", ");
            tr_walk_number(out, tongue, numbers[i], false);
        }
        tr_buffer_print(out, is_octave ? "; " : ")");
    }
    tr_buffer_print(out, is_octave ? "}" : "]");
}

static void list_axis(const Script *s, Buffer *out, const TableAxis *axis, bool plane)
{
    const char *open = s->is_octave ? "struct('knot', " : "{\"knot\": np.array(";
    const char *next = s->is_octave ? ", 'bases', " : "), \"bases\": np.array(";
    const uint32_t d = axis->degree + 1;
    tr_buffer_print(out, "%s", open);
    list_numbers(s, out, axis->knot, axis->count);
    tr_buffer_print(out, "%s", next);
    list_numbers(s, out, axis->bases, plane ? (size_t)axis->pieces * d * d : 0);
    if (s->is_octave)
        tr_buffer_print(out, ", 'count', %u, 'pieces', %u, 'degree', %u)", axis->count,
                        axis->pieces, axis->degree);
    else
        tr_buffer_print(out, "), \"count\": %u, \"pieces\": %u, \"degree\": %u}", axis->count,
                        axis->pieces, axis->degree);
}

static void list_tables(const Script *s, Buffer *out)
{
    const Flat *flat = &s->code->flat;
    tr_buffer_print(out, s->is_octave ? "{" : "[");
    for (uint32_t k = 0; k < flat->table_count; k++) {
        const Table *table = flat->tables[k];
        const bool plane = table_is_plane(table);
        const TableAxis *ax = &table->axis[0], *ay = &table->axis[1];
        tr_buffer_print(out, s->is_octave ? "struct('axes', {{" : "%s{\"axes\": [",
                        k ? ",\n    " : "");
        list_axis(s, out, ax, plane);
        if (plane) tr_buffer_print(out, ", "), list_axis(s, out, ay, plane);
        tr_buffer_print(out, s->is_octave ? "}}, 'numbers', " : "], \"numbers\": np.array(");
        list_numbers(s, out, table->coefficient,
                     plane ? (size_t)ax->count * ay->count : (size_t)ax->pieces * (ax->degree + 1));
        tr_buffer_print(out, s->is_octave ? ", 'hold', %d), " : "), \"hold\": %d}", table->hold);
    }
    tr_buffer_print(out, s->is_octave ? "}" : "]");
}

static double *first_guesses(const Export *code)
{
    double *guess = calloc(code->x.count + 1u, sizeof *guess);
    for (uint32_t k = 0; guess && k < code->x.count; k++)
        guess[k] = code->system->inputs[code->x.at[k].input].value;
    return guess;
}

// Constants of a script: each a name and a list
static void write_list(const Script *s, Buffer *out, const char *name)
{
    tr_buffer_print(out, s->is_octave ? "  s.%s = " : "%s = ", name);
}
static void end_list(const Script *s, Buffer *out, bool stands)
{
    tr_buffer_print(out, s->is_octave ? stands ? "';\n" : ";\n" : "\n");
}

typedef struct ListRow {
    const char *python, *octave;
} ListRow;

static const char *called(const Script *s, ListRow row)
{
    return s->is_octave ? row.octave : row.python;
}

// What acts at samples
static void write_held(const Script *s, Buffer *out)
{
    const CodeSamples *of = &s->code->samples;
    const uint32_t reads = of->s.count - of->sensors;
    const struct {
        ListRow row;
        uint32_t value;
    } numbers[] = {{{"NS", "ns"}, of->s.count},
                   {{"NC", "nc"}, of->c.count},
                   {{"NK", "nk"}, of->clock.count},
                   {{"SENSORS", "sensors"}, of->sensors},
                   {{"SENSED", "sensed"}, of->sensed},
                   {{"HELD", "held"}, of->held},
                   {{"COUNTS", "counts"}, of->held + of->sensed + of->c.count}};
    const struct {
        ListRow row;
        const uint32_t *at;
        uint32_t count;
    } lists[] = {{{"WHAT_IS_SAID", "what_is_said"}, of->said, of->sensors},
                 {{"WHAT_IS_READ", "what_is_read"}, of->read, reads},
                 {{"WHAT_IS_SET", "what_is_set"}, of->set, of->set_count}};
    const CodeNames *names[] = {&of->s, &of->c, &of->clock};
    static const ListRow name_rows[] = {
        {"S_NAMES", "s_names"}, {"C_NAMES", "c_names"}, {"K_NAMES", "k_names"}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        write_list(s, out, called(s, numbers[i].row));
        tr_buffer_print(out, "%u", numbers[i].value);
        end_list(s, out, false);
    }
    for (size_t i = 0; i < 3; i++) {
        write_list(s, out, called(s, lists[i].row));
        list_entries(s, out, lists[i].at, lists[i].count, s->tongue->first);
        end_list(s, out, false);
        write_list(s, out, called(s, name_rows[i]));
        tr_script_names(out, s->tongue, names[i]);
        end_list(s, out, false);
    }
}

static void write_lists(const Script *s, Buffer *out)
{
    const Export *code = s->code;
    const uint32_t first = s->tongue->first;
    static const ListRow name_rows[] = {{"X_NAMES", "x_names"},
                                        {"U_NAMES", "u_names"},
                                        {"P_NAMES", "p_names"},
                                        {"Y_NAMES", "y_names"},
                                        {"MODE_NAMES", "mode_names"}};
    const CodeNames *names[] = {&code->x, &code->u, &code->p, &code->y, &code->latches};
    const struct {
        ListRow row;
        const uint32_t *at;
        uint32_t count;
    } lists[] = {
        {{"QUATERNION", "quaternion"}, code->quaternion, code->quaternion_count},
        {{"PROJECTED", "projected"}, code->projected, code->projected_count},
        {{"FOLLOWS", "follows"}, code->part[PART_FOLLOW].entry, code->part[PART_FOLLOW].count},
        {{"SPEEDS", "speeds"}, code->part[PART_SPEEDS].entry, code->part[PART_SPEEDS].count},
        {{"POSITIONS_PLACE", "positions_place"}, code->given[0].place, code->given[0].count},
        {{"RATES_PLACE", "rates_place"}, code->given[1].place, code->given[1].count}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_list(s, out, called(s, name_rows[i]));
        tr_script_names(out, s->tongue, names[i]);
        end_list(s, out, false);
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        write_list(s, out, called(s, lists[i].row));
        list_entries(s, out, lists[i].at, lists[i].count, first);
        end_list(s, out, false);
    }
    if (code->samples.clock.count) write_held(s, out);
    double *guess = first_guesses(code);
    const double *numbers[] = {code->start, guess};
    static const ListRow number_rows[] = {{"FIRST_STATE", "first_state"},
                                          {"FIRST_GUESS", "first_guess"}};
    for (size_t i = 0; guess && i < 2; i++) {
        write_list(s, out, called(s, number_rows[i]));
        list_numbers(s, out, numbers[i], code->x.count);
        end_list(s, out, true);
    }
    out->failed = out->failed || !guess;
    free(guess);
    write_list(s, out, called(s, (ListRow){"CONDITIONS", "conditions"}));
    tr_buffer_print(out, "%u", code->phi_count);
    end_list(s, out, false);
    if (!code->flat.table_count) return;
    write_list(s, out, called(s, (ListRow){"TABLES", "tables"}));
    list_tables(s, out);
    end_list(s, out, false);
}

// ---- what is made of them ------------------------------------------------------------------

static void write_solving(const Script *s, Buffer *out)
{
    static const char *const names[] = {"positions", "rates"};
    const char *name = s->code->options.name;
    for (int k = 0; k < 2; k++) {
        if (!code_has(s->code, k ? PART_GIVEN_RATES : PART_GIVEN_POSITIONS)) continue;
        const CodeConditions *given = &s->code->given[k];
        const char *guess = given->has_wishes ? "near" : "guess";
        if (s->is_octave)
            tr_buffer_print(
                out, "  x = find_start(@%s_given_%s, %u, s.%s_place, %u, %s, near, x, u, p, ", name,
                names[k], given->rows, names[k], given->loose, guess);
        else
            tr_buffer_print(
                out, "    x = find_start(%s_given_%s, %u, %s_PLACE, %u, %s, near, x, u, p, ", name,
                names[k], given->rows, k ? "RATES" : "POSITIONS", given->loose, guess);
        if (k && code_has(s->code, PART_METRIC))
            tr_buffer_print(out, s->is_octave ? "@%s_metric);\n" : "%s_metric)\n", name);
        else
            tr_buffer_print(out, s->is_octave ? "[]);\n" : "None)\n");
    }
}

typedef struct Pieces {
    Buffer sizes, lists, rows, columns, modes, solve, title;
    char step[80];
    Mark marks[12];
} Pieces;

// One that nothing interrupts has another name where samples do.
static const char *step_name(const Script *s, Pieces *pieces)
{
    const bool samples = s->code->samples.clock.count;
    if (s->is_octave) return samples ? "one_step" : "step";
    snprintf(pieces->step, sizeof pieces->step, "%s_step", s->code->options.name);
    return samples ? "runge_kutta" : pieces->step;
}

static void make_pieces(const Script *s, Pieces *pieces)
{
    const Export *code = s->code;
    const uint32_t entries = code->part[PART_JACOBIAN].count;
    tr_buffer_print(&pieces->sizes, "%u, %u, %u, %u, %u, %u", code->x.count, code->u.count,
                    code->p.count, code->y.count, code->latches.count, entries);
    write_lists(s, &pieces->lists);
    list_entries(s, &pieces->rows, code->jacobian_row, entries, s->tongue->first);
    list_entries(s, &pieces->columns, code->jacobian_column, entries, s->tongue->first);
    list_entries(s, &pieces->modes, code->mode, code->latches.count, 0);
    write_solving(s, &pieces->solve);
    tr_buffer_comment(&pieces->title, code->system->title ? code->system->title : "");
    const Mark marks[] = {{"name", code->options.name},
                          {"sizes", pieces->sizes.at},
                          {"lists", pieces->lists.at},
                          {"jacobian_row", pieces->rows.at},
                          {"jacobian_column", pieces->columns.at},
                          {"modes", pieces->modes.at},
                          {"solve", pieces->solve.at ? pieces->solve.at : ""},
                          {"title", pieces->title.at ? pieces->title.at : ""},
                          {"step", step_name(s, pieces)},
                          {"imports", code->samples.clock.count
                                          ? "import fractions\nimport struct\nimport warnings\n"
                                            "from statistics import NormalDist\n\n"
                                          : "import warnings\n\n"},
                          {NULL, NULL}};
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) pieces->marks[k] = marks[k];
}

static void free_pieces(Pieces *pieces)
{
    Buffer *const all[] = {&pieces->sizes, &pieces->lists, &pieces->rows, &pieces->columns,
                           &pieces->modes, &pieces->solve, &pieces->title};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) tr_buffer_free(all[k]);
}

bool tr_print_python(Export *code, Folder *folder, tr_error *err)
{
    if (!tr_tables_are_small(code, err)) return false;
    Script s = {.code = code, .tongue = &python};
    const bool samples = code->samples.clock.count;
    Pieces pieces = {0};
    make_pieces(&s, &pieces);
    Buffer *out = tr_folder_add(folder, "%s.py", code->options.name);
    Buffer *demo = tr_folder_add(folder, "%s_demo.py", code->options.name);
    if (!pieces.lists.at || !out || !demo)
        tr_fail_memory(err);
    else {
        tr_fill_in(out, tr_embedded_python_head(), pieces.marks);
        if (code->flat.table_count) tr_fill_in(out, tr_embedded_python_table(), pieces.marks);
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) write_part(&s, &parts[k], out);
        for (size_t k = 0; samples && k < sizeof sampled_parts / sizeof *sampled_parts; k++)
            write_part(&s, &sampled_parts[k], out);
        tr_fill_in(out, tr_embedded_python_tail(), pieces.marks);
        tr_buffer_print(out, samples ? "\n\n" : "");
        if (samples) tr_fill_in(out, tr_embedded_python_samples(), pieces.marks);
        tr_fill_in(demo, samples ? tr_embedded_python_sampled_demo() : tr_embedded_python_demo(),
                   pieces.marks);
    }
    free_pieces(&pieces);
    return !has_failed(err);
}

static void write_octave_sizes(const Script *s, const Pieces *pieces, Buffer *out)
{
    const Export *code = s->code;
    const char *name = code->options.name;
    tr_buffer_print(
        out,
        "%% Numbers, names with units, defaults, least and most,\n%% and which entries are what.\n"
        "function s = %s_sizes()\n",
        name);
    tr_buffer_print(out, "  s.nx = %u;\n  s.nu = %u;\n  s.np = %u;\n  s.ny = %u;\n  s.nm = %u;\n",
                    code->x.count, code->u.count, code->p.count, code->y.count,
                    code->latches.count);
    tr_buffer_print(out, "  s.jacobian_row = %s;\n  s.jacobian_column = %s;\n%send\n",
                    pieces->rows.at, pieces->columns.at, pieces->lists.at);
}

static void write_octave_parameters(const Script *s, Buffer *out)
{
    const Export *code = s->code;
    tr_buffer_print(out, "function p = %s_parameters()\n  p = zeros(%u, 1);\n", code->options.name,
                    code->p.count);
    for (uint32_t k = 0; k < code->p.count; k++) {
        tr_buffer_print(out, "  p(%u) = ", k + 1);
        tr_walk_number(out, s->tongue, code->p.at[k].value, false);
        tr_buffer_print(out, "; %% %s\n", code->p.at[k].id);
    }
    tr_buffer_print(out, "end\n");
}

static void write_octave_file(const Script *s, const ScriptPart *part, Folder *folder)
{
    Buffer *out = tr_folder_add(folder, "%s_%s.m", s->code->options.name, part->name);
    Script own = *s;
    if (out) write_part(&own, part, out);
}

bool tr_print_octave(Export *code, Folder *folder, tr_error *err)
{
    const bool samples = code->samples.clock.count, tables = code->flat.table_count;
    const struct {
        const char *name;
        Text text;
        bool is_there;
    } texts[] = {
        {"initial", tr_embedded_octave_initial(), true},
        {"least_step", tr_embedded_octave_least_step(), true},
        {"project", tr_embedded_octave_project(), true},
        {"fits", tr_embedded_octave_fits(), true},
        {"speeds", tr_embedded_octave_speeds(), true},
        {samples ? "one_step" : "step", tr_embedded_octave_step(), true},
        {"demo", samples ? tr_embedded_octave_sampled_demo() : tr_embedded_octave_demo(), true},
        {"picture", tr_embedded_octave_picture(), true},
        {"table", tr_embedded_octave_table(), tables},
        {"step", tr_embedded_octave_sampled_step(), samples},
        {"sample", tr_embedded_octave_samples(), samples},
        {"control", tr_embedded_octave_control(), samples}};
    const char *name = code->options.name;
    char table[120];
    if (!tr_tables_are_small(code, err)) return false;
    Tongue tongue = octave;
    Script s = {.code = code, .tongue = &tongue, .is_octave = true};
    Pieces pieces = {0};
    snprintf(table, sizeof table, "%s_table(sizes.tables{%%t}, %%a, %%b, %%n)", name);
    tongue.table = table;
    make_pieces(&s, &pieces);
    Buffer *sizes = tr_folder_add(folder, "%s_sizes.m", name);
    Buffer *parameters = tr_folder_add(folder, "%s_parameters.m", name);
    if (!pieces.lists.at || !sizes || !parameters)
        tr_fail_memory(err);
    else {
        write_octave_sizes(&s, &pieces, sizes);
        write_octave_parameters(&s, parameters);
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            write_octave_file(&s, &parts[k], folder);
        for (size_t k = 0; samples && k < sizeof sampled_parts / sizeof *sampled_parts; k++)
            write_octave_file(&s, &sampled_parts[k], folder);
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            if (!texts[k].is_there) continue;
            Buffer *out = tr_folder_add(folder, "%s_%s.m", name, texts[k].name);
            if (out) tr_fill_in(out, texts[k].text, pieces.marks);
        }
    }
    free_pieces(&pieces);
    return !has_failed(err);
}
