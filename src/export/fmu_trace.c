// SPDX-License-Identifier: Apache-2.0
// What depends on what: bits of arguments that an operation reaches.
#include "export/fmu.h"

#include "export/unreduced.h"

#include <stdlib.h>
#include <string.h>

// In the unreduced form: accelerations and reactions, which take all terms
static uint32_t found_bit(const Export *code)
{
    return code->x.count + code->u.count + 1 + code->p.count;
}

static uint32_t argument_bit(const Export *code, const FlatNode *node)
{
    const uint32_t u = code->x.count, t = u + code->u.count;
    switch ((Argument)node->a) {
    case ARGUMENT_X: return node->b;
    case ARGUMENT_U: return u + node->b;
    case ARGUMENT_T: return t;
    case ARGUMENT_P: return t + 1 + node->b;
    case ARGUMENT_FOUND: return node->b < tr_code_found(code).closed ? found_bit(code) : UINT32_MAX;
    default: return UINT32_MAX;
    }
}

static void set_bit(uint64_t *bits, uint32_t bit) { bits[bit / 64] |= (uint64_t)1 << (bit % 64); }
static bool has_bit(const uint64_t *bits, uint32_t bit) { return bits[bit / 64] >> (bit % 64) & 1; }

static uint64_t *bits_of(const Fmu *fmu, uint32_t node)
{
    return fmu->bits + (size_t)node * fmu->words;
}

static void add_node(const Fmu *fmu, uint32_t node, uint64_t *out)
{
    for (uint32_t k = 0; k < fmu->words; k++) out[k] |= bits_of(fmu, node)[k];
}

// What a function's value at an entry depends on; nothing where it sets none
static void add_entry(const Fmu *fmu, CodePart part, uint32_t entry, uint64_t *out)
{
    const CodeFunction *f = &fmu->code->part[part];
    for (uint32_t k = 0; k < f->count; k++)
        if (f->entry[k] == entry) add_node(fmu, f->value[k], out);
}

static bool is_zero_node(const Flat *flat, uint32_t node)
{
    return flat_is_number(flat, node) && flat_number_of(flat, node) == 0;
}

static uint32_t find_root(const uint32_t *of, uint32_t k)
{
    while (of[k] != k) k = of[k];
    return k;
}

// Constraints on positions that share a coordinate move each other's.
static void join_groups(Fmu *fmu, uint32_t *row)
{
    const Export *code = fmu->code;
    const uint32_t n = code->projected_count;
    const uint32_t *slopes = code->part[PART_PROJECTION].value + code->phi_count;
    for (uint32_t a = 0; a < code->phi_count; a++) row[a] = a;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t first = NO_GROUP;
        for (uint32_t a = 0; a < code->phi_count; a++) {
            if (is_zero_node(&code->flat, slopes[a * n + k])) continue;
            if (first == NO_GROUP) first = a;
            row[find_root(row, a)] = find_root(row, first);
        }
    }
    // and so do those that move parts of one quaternion
    for (uint32_t i = 0; i < code->quaternion_count; i++) {
        uint32_t first = NO_GROUP;
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t a = 0; a < code->phi_count; a++) {
                const uint32_t of = code->projected[k] - code->quaternion[i];
                if (of >= 4 || is_zero_node(&code->flat, slopes[a * n + k])) continue;
                if (first == NO_GROUP) first = a;
                row[find_root(row, a)] = find_root(row, first);
            }
    }
    for (uint32_t a = 0; a < code->phi_count; a++)
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t root = find_root(row, a);
            uint64_t *used = fmu->used + (size_t)root * fmu->words;
            const uint32_t slope = slopes[a * n + k];
            add_node(fmu, slope, used);
            if (is_zero_node(&code->flat, slope)) continue;
            set_bit(used, code->projected[k]);
            fmu->group[code->projected[k]] = root;
        }
    for (uint32_t a = 0; a < code->phi_count; a++)
        add_node(fmu, code->part[PART_PROJECTION].value[a],
                 fmu->used + (size_t)find_root(row, a) * fmu->words);
}

// Parts of a unit quaternion go with each other.
static void join_units(Fmu *fmu)
{
    const Export *code = fmu->code;
    for (uint32_t i = 0; i < code->quaternion_count; i++) {
        uint32_t group = NO_GROUP;
        const uint32_t first = code->quaternion[i];
        for (uint32_t k = 0; k < 4; k++)
            if (fmu->group[first + k] != NO_GROUP) group = fmu->group[first + k];
        if (group == NO_GROUP) group = code->phi_count + i;
        for (uint32_t k = 0; k < 4; k++) {
            fmu->group[first + k] = group;
            set_bit(fmu->used + (size_t)group * fmu->words, first + k);
        }
    }
}

bool tr_fmu_trace(Fmu *fmu, tr_error *err)
{
    const Export *code = fmu->code;
    const Flat *flat = &code->flat;
    fmu->words = (found_bit(code) + 64) / 64;
    fmu->bits = calloc((size_t)flat->count * fmu->words + 1, sizeof *fmu->bits);
    fmu->group = calloc(code->x.count + 1u, sizeof *fmu->group);
    fmu->used = calloc((size_t)(code->phi_count + code->quaternion_count + 1) * fmu->words,
                       sizeof *fmu->used);
    uint32_t *row = calloc(code->phi_count + 1u, sizeof *row);
    if (!fmu->bits || !fmu->group || !fmu->used || !row) {
        free(row);
        return tr_fail_memory(err), false;
    }
    for (uint32_t i = 0; i < flat->count; i++) {
        const FlatNode *node = &flat->nodes[i];
        const uint32_t bit = node->code == FLAT_ARGUMENT ? argument_bit(code, node) : UINT32_MAX;
        if (bit != UINT32_MAX) set_bit(bits_of(fmu, i), bit);
        const bool table = node->code < OP_COUNT && tr_op[node->code].form == FORM_TABLE;
        for (int k = 0; k < flat_operands(node); k++)
            if (!table || k < 2) add_node(fmu, flat_operand(node, k), bits_of(fmu, i));
    }
    for (uint32_t k = 0; k < code->x.count; k++) fmu->group[k] = NO_GROUP;
    if (code->phi_count) join_groups(fmu, row);
    join_units(fmu);
    free(row);
    return true;
}

static void add_part(const Fmu *fmu, CodePart part, uint64_t *out)
{
    const CodeFunction *f = &fmu->code->part[part];
    for (uint32_t k = 0; k < f->count; k++) add_node(fmu, f->value[k], out);
}

// What moves as motions do depends on what these do.
static void follow_motions(const Fmu *fmu, uint64_t *out)
{
    const Export *code = fmu->code;
    for (uint32_t k = 0; k < code->rated; k++)
        if (!code->x.at[k].is_integrated && has_bit(out, k)) add_entry(fmu, PART_FOLLOW, k, out);
}

// Whether a velocity may follow from others, in some chart
static bool may_follow(const Export *code, uint32_t velocity)
{
    const Terms t = tr_code_terms(code);
    const CodeFunction *rows = &code->part[PART_ROWS];
    for (uint32_t k = 0; k < rows->count; k++)
        if (rows->entry[k] < t.rest && (rows->entry[k] - t.G) % t.n == velocity) return true;
    return false;
}

// In the unreduced form one velocity may follow from all that are in rows, and what is found takes
// all terms.
static void add_what_follows(const Fmu *fmu, uint64_t *out)
{
    const Export *code = fmu->code;
    const uint32_t first = code->positions;
    bool follows = false;
    if (has_bit(out, found_bit(code))) {
        add_part(fmu, PART_ROWS, out);
        add_part(fmu, PART_TERMS, out);
    }
    for (uint32_t k = 0; k < code->velocities; k++)
        follows = follows || (has_bit(out, first + k) && may_follow(code, k));
    if (follows) add_part(fmu, PART_ROWS, out);
    for (uint32_t k = 0; k < code->velocities && follows; k++)
        if (may_follow(code, k)) set_bit(out, first + k);
    follow_motions(fmu, out);
}

static void add_own_dependencies(const Fmu *fmu, const FmuVariable *of, uint64_t *out)
{
    const Export *code = fmu->code;
    if (of->kind == FMU_OUTPUT) add_entry(fmu, PART_OUTPUTS, of->which, out);
    if (of->kind == FMU_DRIVEN) add_entry(fmu, PART_FOLLOW, fmu->driven[of->which], out);
    if (of->kind == FMU_STATE) set_bit(out, fmu->state[of->which]);
    if (of->kind != FMU_RATE) return;
    const uint32_t entry = fmu->state[of->which], group = fmu->group[entry];
    const bool is_velocity = entry >= code->positions && entry < code->positions + code->velocities;
    add_entry(fmu, PART_RATES, entry, out);
    if (!code->x.at[entry].is_integrated) {
        add_entry(fmu, PART_FOLLOW, entry, out);
        set_bit(out, entry);
    }
    if (code->options.is_unreduced && is_velocity)
        set_bit(out, entry), set_bit(out, found_bit(code));
    for (uint32_t k = 0; k < fmu->words && group != NO_GROUP; k++)
        out[k] |= fmu->used[(size_t)group * fmu->words + k];
}

void tr_fmu_dependencies(const Fmu *fmu, const FmuVariable *of, uint64_t *out)
{
    add_own_dependencies(fmu, of, out);
    if (fmu->code->options.is_unreduced) add_what_follows(fmu, out);
}

bool tr_fmu_starts_by(const Fmu *fmu, uint32_t parameter)
{
    static const CodePart parts[] = {PART_FOLLOW,          PART_SPEEDS,      PART_PHI,
                                     PART_PROJECTION,      PART_INPUTS,      PART_START,
                                     PART_GIVEN_POSITIONS, PART_GIVEN_RATES, PART_ROWS};
    const Export *code = fmu->code;
    const uint32_t bit = code->x.count + code->u.count + 1 + parameter;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (uint32_t k = 0; k < code->part[parts[i]].count; k++)
            if (has_bit(bits_of(fmu, code->part[parts[i]].value[k]), bit)) return true;
    return false;
}

uint32_t tr_fmu_bit(const Fmu *fmu, const FmuVariable *of)
{
    const Export *code = fmu->code;
    if (of->kind == FMU_STATE) return fmu->state[of->which];
    if (of->kind == FMU_INPUT && !of->is_fixed) return code->x.count + of->which;
    if (of->kind == FMU_TIME) return code->x.count + code->u.count;
    return UINT32_MAX;
}
