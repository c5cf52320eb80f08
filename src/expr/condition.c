// SPDX-License-Identifier: Apache-2.0
// Conditions: the rules that decisions are made by, and whether they still come out the same (T11).
#include "expr/condition.h"

#include "expr/elementary.h"

#include "expr/system.h"
#include "expr/walk.h"

#include <math.h>

// ---- rules ---------------------------------------------------------------------------------

// The axis that a vector is nearest to: 1, 2 or 3, and less than 0 where it points the other way
static double next_axis(const double *x)
{
    int along = 2;
    double most = 0;
    for (int i = 0; i < 3; i++)
        if (fabs(x[i]) > most) most = fabs(x[i]), along = i;
    return x[along] < 0 ? -(along + 1) : along + 1;
}

// Eigenvalues of a symmetric 3x3 matrix, by Jacobi rotations.
static void principal(double a[3][3], double moments[3])
{
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (a[p][q] == 0) continue;
                const double angle = 0.5 * el_atan2(2 * a[p][q], a[q][q] - a[p][p]);
                const double c = el_cos(angle), s = el_sin(angle);
                for (int k = 0; k < 3; k++) {
                    const double kp = a[k][p], kq = a[k][q];
                    a[k][p] = c * kp - s * kq, a[k][q] = s * kp + c * kq;
                }
                for (int k = 0; k < 3; k++) {
                    const double pk = a[p][k], qk = a[q][k];
                    a[p][k] = c * pk - s * qk, a[q][k] = s * pk + c * qk;
                }
            }
    for (int i = 0; i < 3; i++) moments[i] = a[i][i];
}

// Principal moments are not negative, and I1 <= I2 + I3.                                 (T11)
int tr_inertia_fault(const double *v)
{
    double a[3][3] = {{v[0], v[3], v[4]}, {v[3], v[1], v[5]}, {v[4], v[5], v[2]}}, moment[3];
    principal(a, moment);
    const double size = fabs(moment[0]) + fabs(moment[1]) + fabs(moment[2]), slack = 1e-12 * size;
    if (!isfinite(size)) return INERTIA_NOT_FINITE;
    for (int i = 0; i < 3; i++) {
        if (moment[i] < -slack) return INERTIA_NEGATIVE;
        if (2 * moment[i] > moment[0] + moment[1] + moment[2] + slack) return INERTIA_LOPSIDED;
    }
    return INERTIA_POSSIBLE;
}

// But for the rounding of a formula; an open side is infinite                             (T317)
static bool is_within(const double *x)
{
    return x[0] >= x[1] - 4e-16 * fabs(x[1]) && x[0] <= x[2] + 4e-16 * fabs(x[2]);
}

uint32_t tr_rule_count(Rule rule)
{
    static const uint8_t counts[] = {
#define RULE(name, count, given) [RULE_##name] = (count),
#include "expr/condition.def"
#undef RULE
    };
    return counts[rule];
}

double tr_rule_gives(Rule rule, const double *x)
{
    switch (rule) {
#define RULE(name, count, given) \
    case RULE_##name:            \
        return given;
#include "expr/condition.def"
#undef RULE
    }
    return (double)NAN;
}

// ---- conditions ----------------------------------------------------------------------------

static uint32_t hash_of(const Condition *c)
{
    uint32_t key[MOST_RULE_VALUES + 1] = {(uint32_t)c->rule};
    const uint32_t count = tr_rule_count(c->rule);
    for (uint32_t k = 0; k < count; k++) key[k + 1] = c->values[k].id;
    return tr_hash_bytes(key, (count + 1) * sizeof *key);
}

static bool is_same(const void *owner, uint32_t index, const void *key)
{
    const Condition *a = &((const System *)owner)->conditions[index], *b = key;
    if (a->rule != b->rule) return false;
    for (uint32_t k = 0; k < tr_rule_count(a->rule); k++)
        if (a->values[k].id != b->values[k].id) return false;
    return true;
}

bool tr_system_keep(System *s, const Condition *condition)
{
    if (!hash_reserve(&s->condition_hash, 1) ||
        !tr_grow((void **)&s->conditions, &s->condition_capacity, s->condition_count + 1,
                 sizeof *s->conditions))
        return false;
    const uint32_t slot = hash_slot(&s->condition_hash, hash_of(condition), is_same, s, condition);
    if (s->condition_hash.slots[slot].index) return true;
    hash_insert(&s->condition_hash, slot, s->condition_count, hash_of(condition));
    s->conditions[s->condition_count++] = *condition;
    return true;
}

void tr_condition_list(const System *s, Exprs *list)
{
    for (uint32_t i = 0; i < s->condition_count; i++)
        tr_exprs_add(list, s->conditions[i].values, tr_rule_count(s->conditions[i].rule));
}

// ---- what breaks one -----------------------------------------------------------------------

// "'m' = -1" of what differs; names of all that it depends on where no values are known
static void name_culprits(const System *s, const Condition *c, const double *inputs, Buffer *text)
{
    Reach reach;
    const char *between = "";
    const bool reached = tr_reach_in(s->graph, c->values, tr_rule_count(c->rule), &reach);
    for (uint32_t k = 0; reached && k < reach.count; k++) {
        const Input *input = tr_system_input(s, expr_at(s->graph, reach.ids[k]));
        if (!input || (inputs && inputs[input - s->inputs] == input->value)) continue;
        tr_buffer_print(text, "%s'%s'", between, input->name);
        if (inputs) tr_buffer_print(text, " = ");
        if (inputs) tr_buffer_number(text, inputs[input - s->inputs]);
        between = ", ";
    }
    if (!reached) text->failed = true;
    tr_reach_free(&reach);
}

static void write_number(double value, const char *unit, Buffer *text)
{
    tr_buffer_number(text, value);
    if (unit[0] && strcmp(unit, "1") != 0) tr_buffer_print(text, " %.60s", unit);
}

void tr_range_words(const char *of, const double *x, const char *unit, Buffer *text)
{
    tr_buffer_print(text, "%.120s is ", of);
    write_number(x[0], unit, text);
    tr_buffer_print(text, ", and its range is ");
    if (isfinite(x[1]) && isfinite(x[2])) {
        tr_buffer_number(text, x[1]);
        tr_buffer_print(text, " to ");
    } else
        tr_buffer_print(text, isfinite(x[1]) ? "from " : "up to ");
    write_number(isfinite(x[2]) ? x[2] : x[1], unit, text);
    if (!isfinite(x[2])) tr_buffer_print(text, " on");
}

// With what was set, where the value or its range follow from something else
static void refuse_range(const System *s, const Condition *c, const double *x, const double *inputs,
                         tr_error *err)
{
    Buffer text = {0};
    tr_range_words(c->words, x, c->unit, &text);
    if (inputs &&
        !(tr_system_input(s, c->values[0]) && is_number(c->values[1]) && is_number(c->values[2]))) {
        tr_buffer_print(&text, ", with ");
        name_culprits(s, c, inputs, &text);
    }
    if (text.failed)
        tr_fail_memory(err);
    else
        tr_fail(err, TR_INVALID, c->place, "%s", text.at);
    tr_buffer_free(&text);
}

static void refuse(const System *s, const Condition *c, const double *inputs, tr_error *err)
{
    Buffer text = {0};
    name_culprits(s, c, inputs, &text);
    if (text.failed)
        tr_fail_memory(err);
    else
        tr_fail(
            err, TR_INVALID, c->place,
            "%.200s cannot be set while it runs: the model was derived where %s; derive it anew",
            text.length ? text.at : "this", c->words);
    tr_buffer_free(&text);
}

static bool allows(const System *s, const double *values, const double *inputs, bool ranges_alone,
                   tr_error *err)
{
    for (uint32_t i = 0; i < s->condition_count && !has_failed(err); i++) {
        const Condition *c = &s->conditions[i];
        // What is no number is decided on like anything else; a number that stays is none
        const bool is_range = c->rule == RULE_WITHIN, matters = is_range || !ranges_alone;
        if (matters && !(tr_rule_gives(c->rule, values) == c->decided)) {
            if (is_range)
                refuse_range(s, c, values, inputs, err);
            else
                refuse(s, c, inputs, err);
            return false;
        }
        values += tr_rule_count(c->rule);
    }
    return !has_failed(err);
}

bool tr_system_allows(const System *s, const double *values, const double *inputs, tr_error *err)
{
    return allows(s, values, inputs, false, err);
}

bool tr_system_within(const System *s, const double *values, const double *inputs, tr_error *err)
{
    return allows(s, values, inputs, true, err);
}

void tr_system_blame(const System *s, const double *values, const double *inputs, Buffer *names)
{
    for (uint32_t i = 0; i < s->condition_count; i++) {
        const Condition *c = &s->conditions[i];
        if (tr_rule_gives(c->rule, values) != c->decided) {
            name_culprits(s, c, inputs, names);
            return;
        }
        values += tr_rule_count(c->rule);
    }
}
