// SPDX-License-Identifier: Apache-2.0
// What an FMU watches: what ends a run, or makes it warn. Of the margins of alarms it tells which
// became negative, and goes on. And where formulas of the state switch, at which its steps stop.
#include "export/code.h"

#include "export/unreduced.h"
#include "plan/latch.h"

#include <stdlib.h>

// In the unreduced form contacts do what these are about, and it is no news.
static bool is_watched(const Export *code, uint32_t k)
{
    const Alarm *alarm = &code->system->alarms[k];
    if (alarm->kind == ALARM_SATURATES) return false;
    if (alarm->kind <= ALARM_STOPS) return true;
    if (code->options.is_unreduced) return alarm->kind == ALARM_HOLLOW;
    return alarm->kind <= ALARM_SLIPS && tr_alarm_matters(code->system, code->flow->modes, k);
}

uint32_t tr_code_list_watched(const Export *code, uint32_t *list)
{
    uint32_t count = 0;
    if (!code->options.is_fmu) return 0;
    for (uint32_t k = 0; k < code->system->alarm_count; k++) {
        if (!is_watched(code, k)) continue;
        if (list) list[count] = k;
        count++;
    }
    return count;
}

void tr_code_watched(Export *code, tr_error *err)
{
    const ChartPrograms *c = code->flow->now->programs;
    const tr_program *watch = tr_chart_program(code->plan, c, CHART_WATCH, err);
    uint32_t *list = calloc(code->system->alarm_count + 1u, sizeof *list);
    const uint32_t count = list ? tr_code_list_watched(code, list) : 0;
    if (!list) code->failed = true;
    if (watch && count) {
        for (uint32_t k = 0; k < count; k++) list[k] += c->watched.alarms;
        tr_code_program(code, PART_WATCHED, watch, list, count);
    }
    free(list);
}

void tr_code_open_watched(Export *code, const CodeChanges *open, tr_error *err)
{
    const System *s = open->system;
    Exprs margins = {0};
    uint32_t *list = calloc(s->alarm_count + 1u, sizeof *list);
    const uint32_t count = list ? tr_code_list_watched(code, list) : 0;
    if (!list) code->failed = true;
    for (uint32_t k = 0; k < count; k++) exprs_add(&margins, s->alarms[list[k]].margin);
    if (count) tr_code_rows(code, PART_WATCHED, open, &margins, err);
    tr_exprs_free(&margins);
    free(list);
}

void tr_code_sides(Export *code, tr_error *err)
{
    const ChartPrograms *c = code->flow->now->programs;
    const tr_program *sides = tr_chart_program(code->plan, c, CHART_SIDES, err);
    CodeFunction *f = &code->part[PART_SIDES];
    uint32_t kept = 0;
    if (!sides) return;
    tr_code_program(code, PART_SIDES, sides, NULL, code->flow->switch_count);
    for (uint32_t k = 0; k < f->count; k++)
        if (!flat_is_number(&code->flat, f->value[k])) f->value[kept++] = f->value[k];
    f->count = kept; // entries are in order
}
