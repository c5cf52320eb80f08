// SPDX-License-Identifier: Apache-2.0
#include "plan/charted.h"

#include "plan/flow.h"
#include "plan/jacobian.h"
#include "plan/kkt.h"

#include <stdlib.h>

void tr_charted_free(Charted *c)
{
    if (!c) return;
    for (int i = 0; i < CHART_PROGRAMS; i++) tr_evaluator_free(&c->of[i]);
    tr_kkt_free(c->kkt);
    tr_jacobian_free(c->jacobian);
    tr_chart_free(c->own_chart);
    free(c);
}

void tr_charted_renew(Charted *c, Chart *own)
{
    tr_chart_free(c->own_chart);
    c->chart = c->own_chart = own;
    if (c->kkt) tr_kkt_renew(c->kkt, own);
}

// Parameters stay what they are as long as the flow lasts.
static void open_program(Flow *flow, Charted *c, ChartProgram which, tr_error *err)
{
    const tr_program *program = tr_chart_program(flow->plan, c->programs, which, err);
    if (which == CHART_KKT) {
        if (c->chart) c->kkt = tr_kkt_new(flow, c->chart, program, err);
    } else {
        c->of[which] = tr_evaluator_with(program, err);
        if (!has_failed(err)) tr_evaluator_prepare(&c->of[which], flow->inputs);
    }
    if (!has_failed(err)) c->ready |= 1u << which;
}

bool tr_charted_ready(Flow *flow, Charted *c, uint32_t programs, tr_error *err)
{
    for (int which = 0; which < CHART_PROGRAMS && !has_failed(err); which++)
        if ((programs & ~c->ready) >> which & 1) open_program(flow, c, (ChartProgram)which, err);
    return !has_failed(err);
}

Charted *tr_charted_new(Flow *flow, const Chart *chart, Chart *own, tr_error *err)
{
    static const Partition none;
    Charted *c = calloc(1, sizeof *c);
    if (!c) {
        tr_chart_free(own);
        tr_fail_memory(err);
        return NULL;
    }
    *c = (Charted){.chart = chart, .own_chart = own};
    c->programs = tr_plan_chart(flow->plan, flow->footing, chart ? &chart->partition : &none,
                                chart ? chart->surplus_count : 0, err);
    if (c->programs) {
        c->place = c->programs->place, c->projected = c->programs->projected;
        if (chart) c->preferred = tr_chart_preferred(chart);
        tr_charted_ready(flow, c, flow->needs, err);
    }
    if (!has_failed(err)) return c;
    tr_charted_free(c);
    return NULL;
}
