// SPDX-License-Identifier: Apache-2.0
#include "sim/control.h"

#include <math.h>
#include <stdlib.h>

static bool may_be_set(const Input *input) { return is_setting(input) && input->kind == TR_INPUT; }

bool tr_control_begin(Control *c, const System *s, const tr_simulate_options *o, tr_error *err)
{
    *c = (Control){.call = o->control, .owner = o->owner};
    if (!c->call) return true;
    c->place = calloc(s->input_count + 1u, sizeof *c->place);
    c->names = calloc(s->input_count + 1u, sizeof *c->names);
    c->setting = calloc(s->input_count + 1u, sizeof *c->setting);
    if (!c->place || !c->names || !c->setting) return tr_fail_memory(err), false;
    for (uint32_t i = 0; i < s->input_count; i++) {
        if (!may_be_set(&s->inputs[i])) continue;
        c->place[c->count] = i;
        c->names[c->count++] = s->inputs[i].name;
    }
    return true;
}

void tr_control_end(Control *c)
{
    free(c->place);
    free(c->names);
    free(c->setting);
}

// Whether it is what its formula of t says
static bool follows(const Flow *flow, uint32_t input)
{
    const uint32_t follower = tr_system_follower(flow->system, input);
    return follower != NO_INPUT && flow->inputs[follower] != 0;
}

bool tr_control_within(const Flow *flow, uint32_t input, double t, tr_error *err)
{
    tr_error own = {0};
    if (tr_plan_takes(flow->plan, input, flow->inputs, &own)) return true;
    tr_fail(err, TR_FAILED, place_at(own.line, own.column),
            "what the controller sets at t = %.6g is out of a range: %.400s", t, own.text);
    return false;
}

bool tr_control_call(Control *c, Flow *flow, tr_instant now, bool *changed, tr_error *err)
{
    *changed = false;
    for (uint32_t i = 0; i < c->count; i++)
        c->setting[i] = follows(flow, c->place[i]) ? (double)NAN : flow->inputs[c->place[i]];
    now.inputs = c->count, now.input = c->names, now.setting = c->setting;
    if (!c->call(c->owner, &now)) return false;
    for (uint32_t i = 0; i < c->count; i++) {
        const bool followed = follows(flow, c->place[i]);
        if (followed && isnan(c->setting[i])) continue; // and goes on
        if (!isfinite(c->setting[i]))
            tr_fail(err, TR_FAILED, (Place){0},
                    "the controller set '%.80s' to something that is not finite at t = %.6g",
                    c->names[i], now.t);
        if (has_failed(err)) return false;
        if (!followed && c->setting[i] == flow->inputs[c->place[i]]) continue;
        flow->inputs[c->place[i]] = c->setting[i];
        if (followed) flow->inputs[tr_system_follower(flow->system, c->place[i])] = 0;
        if (!tr_control_within(flow, c->place[i], now.t, err)) return false;
        *changed = true;
    }
    return true;
}
