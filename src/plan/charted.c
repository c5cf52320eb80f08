// SPDX-License-Identifier: Apache-2.0
#include "plan/charted.h"

#include "plan/flow.h"
#include "plan/jacobian.h"
#include "plan/kkt.h"

#include <stdlib.h>

void tr_charted_free(Charted *c)
{
    if (!c) return;
    Evaluator *const all[] = {&c->rates, &c->columns, &c->residuals,      &c->projection,
                              &c->watch, &c->tangent, &c->column_tangent, &c->projection_tangent,
                              &c->sides, &c->phi};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tr_evaluator_free(all[i]);
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

static void open_evaluators(Charted *c, tr_error *err)
{
    const ChartPrograms *p = c->programs;
    c->rates = tr_evaluator_with(p->rates, err);
    c->columns = tr_evaluator_with(p->columns, err);
    c->residuals = tr_evaluator_with(p->residuals, err);
    c->phi = tr_evaluator_with(p->phi, err);
    c->projection = tr_evaluator_with(p->projection, err);
    c->watch = tr_evaluator_with(p->watch, err);
    c->sides = tr_evaluator_with(p->sides, err);
    c->tangent = tr_evaluator_with(p->tangent, err);
    c->column_tangent = tr_evaluator_with(p->column_tangent, err);
    c->projection_tangent = tr_evaluator_with(p->projection_tangent, err);
}

// Parameters stay what they are as long as the flow lasts.
static void prepare_evaluators(Charted *c, const double *inputs)
{
    Evaluator *const all[] = {&c->rates, &c->columns, &c->residuals,      &c->projection,
                              &c->watch, &c->tangent, &c->column_tangent, &c->projection_tangent,
                              &c->sides, &c->phi};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tr_evaluator_prepare(all[i], inputs);
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
        open_evaluators(c, err);
        if (!has_failed(err)) prepare_evaluators(c, flow->inputs);
        if (chart) c->kkt = tr_kkt_new(flow, chart, c->programs->kkt, err);
    }
    if (!has_failed(err)) return c;
    tr_charted_free(c);
    return NULL;
}
