// SPDX-License-Identifier: Apache-2.0
// What `settle` says of a pose.
#include "settle/settle.h"
#include "tell/eval.h"

#include <math.h>

#define NOISE   1e-13 // in texts for people
#define TOUCHES 1e-9  // a gap that is none [m]
enum {
    GAP = 3,
    NEEDED = 6,
    FRICTION = 7,
    BEHIND = 2
}; // columns of a contact, and those behind them

static uint32_t first_contact(const Settle *p)
{
    return p->column_count - BEHIND - OF_CONTACT * p->contact_count;
}

static void write_plain(const Settle *p, Group *g)
{
    const uint32_t angles = p->vehicle != SCENE_WORLD ? 3 : 0, count = first_contact(p) - angles;
    tr_group_open(g, "q");
    for (uint32_t i = 0; i < count; i++) tr_group_number(g, p->labels[i], p->columns[i]);
    tr_group_close(g);
    tr_group_open(g, "attitude");
    for (uint32_t i = count; i < count + angles; i++)
        tr_group_number(g, p->labels[i], p->columns[i]);
    tr_group_close(g);
}

// One contact on a line, what is not known left out
static void write_contact(const Settle *p, Group *g, uint32_t i)
{
    static const char *const keys[OF_CONTACT] = {
        "x", "y", "z", "gap", "normal", "load", "friction_needed", "friction"};
    static const char *const words[OF_CONTACT] = {
        "at ", " ", " ", ", gap ", ", normal force ", ", bears ", ", needs friction ", " of "};
    const char *name = p->system->scene.contacts[p->contacts[i].scene].name;
    const double *own = p->columns + first_contact(p) + (size_t)OF_CONTACT * i;
    Buffer *b = &g->j->text;
    if (g->json) tr_json_open(g->j, name, '{');
    if (!g->json) tr_buffer_print(b, "%-8s %s: ", "contact", name);
    for (int k = 0; k < OF_CONTACT; k++) {
        if (g->json) tr_json_number(g->j, keys[k], own[k]);
        if (g->json || isnan(own[k]) || (k == FRICTION && isnan(own[NEEDED]))) continue;
        tr_buffer_print(b, "%s", words[k]);
        tr_buffer_number(b, b->digits && fabs(own[k]) < NOISE ? 0 : own[k]);
    }
    if (g->json) tr_json_flag(g->j, "touches", fabs(own[GAP]) < TOUCHES);
    if (g->json) tr_json_close(g->j, '}');
    if (!g->json) tr_buffer_add(b, "\n", 1);
}

static void write_lifted(const Settle *p, Group *g)
{
    if (g->json) tr_json_open(g->j, "lifted", '[');
    for (uint32_t i = 0; i < p->contact_count; i++) {
        const char *name = p->system->scene.contacts[p->contacts[i].scene].name;
        if (p->is_closed[i]) continue;
        if (g->json)
            tr_json_text(g->j, NULL, name);
        else
            tr_buffer_print(&g->j->text, "%-8s %s\n", "lifted", name);
    }
    if (g->json) tr_json_close(g->j, ']');
}

char *tr_settle_text(Settle *p, bool json, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!p || has_failed(err)) return NULL;
    Json j = {0};
    Group g = {.j = &j, .json = json};
    j.text.digits = json ? 0 : p->system->digits;
    if (!p->has_pose) {
        tr_fail(err, TR_USAGE, (Place){0}, "there is no pose yet");
        return NULL;
    }
    tr_measure_take(p, p->columns);
    if (json) tr_json_open(&j, NULL, '{');
    if (json) tr_json_text(&j, "by", p->way->name);
    write_plain(p, &g);
    if (json) tr_json_open(&j, "contacts", '{');
    for (uint32_t i = 0; i < p->contact_count; i++) write_contact(p, &g, i);
    if (json) tr_json_close(&j, '}');
    write_lifted(p, &g);
    tr_group_alone(&g, "found", "tip_margin", p->columns[p->column_count - 2]);
    tr_group_alone(&g, "found", "potential", p->columns[p->column_count - 1]);
    tr_group_alone(&g, "found", "iterations", p->iterations);
    if (json) tr_json_close(&j, '}');
    return tr_text_finish(&j.text, err);
}
